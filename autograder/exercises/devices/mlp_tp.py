"""An FFN on several devices, which add up their parts once.

With `W1` cut by columns a device has whole hidden features and can bend them by itself; cut by rows it would have
terms of a sum, and to bend the terms is not to bend the sum. The same features meet the same rows of `W2`, so each
device ends with one term of the output, and one all-reduce adds up p of them. `b1` belongs to hidden features and is
dealt out with them. `b2` belongs to the output: added on every device it would count p times, so it is added once, to
the sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from autograder.exercises.devices.parts import AllReduce, even_share, exchange_between
from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, misses_the_idea, mistake, probe, right
from autograder.exercises.parts import RELU, TANH, Act, leaky_relu, pattern, silu, softplus
from course.trial.functions import Function, in_room, public_function
from course.trial.values import with_layout

USES = ("column_shards", "row_shards")
Device = tuple[F, F, F]
"""What one device has of W1, b1 and W2."""


def mlp_tp(
    X: Float[np.ndarray, "n d"],
    W1: Float[np.ndarray, "d f"],
    b1: Float[np.ndarray, "f"],
    W2: Float[np.ndarray, "f d"],
    b2: Float[np.ndarray, "d"],
    p: int,
    act: Callable[[np.ndarray], np.ndarray],
    all_reduce: Callable[[list[np.ndarray]], np.ndarray],
) -> Float[np.ndarray, "n d"]:
    """Device r makes hidden features r * f/p to (r + 1) * f/p - 1, and of these its part of the output."""
    (n, d), f = X.shape, len(b1)
    if f % p != 0:
        raise ValueError(f"{f} hidden features")
    width = f // p
    parts = []
    for r in range(p):
        hidden, part = np.zeros((n, width)), np.zeros((n, d))
        for t in range(n):
            for u in range(width):
                hidden[t, u] = sum(X[t, i] * W1[i, r * width + u] for i in range(d)) + b1[r * width + u]
        bent = act(hidden)
        for t in range(n):
            for i in range(d):
                part[t, i] = sum(bent[t, u] * W2[r * width + u, i] for u in range(width))
        parts.append(part)
    total = all_reduce(parts)
    return np.array([[total[t, i] + b2[i] for i in range(d)] for t in range(n)])


def _public_network(
    n: int, d: int, f: int, p: int, act: Function, mark: float = 0.0, dtype: str = "float64", distinct: bool = False
) -> Case:
    return case(
        pattern(n, d, step=3, dtype=dtype) / 2,
        pattern(d, f, step=5, dtype=dtype) / 4,
        pattern(f, step=4, dtype=dtype) / 2 + 0.25,
        pattern(f, d, step=2, dtype=dtype) / 2,
        pattern(d, step=3, dtype=dtype) + 0.5,
        p,
        act,
        exchange_between(p, mark, distinct),
    )


def _generic(n: int, d: int, f: int, p: int, order: str = "C") -> Case:
    """Numbers of two decimals that look like nothing in particular, no two alike in a weight."""

    def uneven(*shape: int, step: int) -> np.ndarray:
        numbers = np.arange(math.prod(shape)) * step % 97 / 24.0 - 2.0
        return with_layout(numbers.round(2).reshape(shape), order)

    arrays = (
        uneven(n, d, step=41),
        uneven(d, f, step=29),
        uneven(f, step=37),
        uneven(f, d, step=59),
        uneven(d, step=31),
    )
    return case(*arrays, p, TANH, exchange_between(p))


PUBLIC = (
    # the example by hand
    case(
        np.array([[1.0, 2.0]]),
        np.array([[1.0, 0.0, 2.0, -1.0], [0.0, 1.0, -1.0, 1.0]]),
        np.array([1.0, -4.0, 3.0, 1.0]),
        np.array([[1.0, 2.0], [3.0, 4.0], [1.0, -1.0], [2.0, 0.0]]),
        np.array([10.0, -20.0]),
        2,
        RELU,
        exchange_between(2),
    ),
    _public_network(3, 5, 6, 2, TANH),
    _public_network(2, 4, 6, 3, TANH, mark=100.0),
    _public_network(3, 2, 6, 2, TANH, mark=100.0),
    _public_network(2, 6, 4, 2, TANH, distinct=True),
    _public_network(4, 8, 6, 2, TANH, dtype="float32"),
    _public_network(3, 4, 6, 2, public_function("tanh", room=3)),
    _public_network(3, 3, 6, 2, TANH),
    *(replace(_public_network(n, d, 5, 2, TANH), harness="refusing") for n, d in ((2, 4), (3, 4), (2, 3))),
    replace(_public_network(3, 5, 6, 2, TANH), harness="accepting"),  # nothing to refuse
    _public_network(2, 3, 4, 1, TANH, mark=100.0),
    _generic(5, 6, 9, 3),
    _generic(4, 7, 10, 2, "F"),
)


def _activation(rng: np.random.Generator, room: int | None = None) -> Function:
    """One of three that bend in different ways, none of them relu; it keeps the dtype."""
    act = (silu, leaky_relu, softplus)[int(rng.integers(3))]
    return Function("act", act if room is None else in_room(act, room), lambda *arguments, **keywords: 0)


def _layers(rng: np.random.Generator, d: int, f: int, dtype: str = "float64", order: str = "C") -> tuple[F, ...]:
    """W1, b1, W2, b2: hidden features around 0 with a spread of about 2, on both sides of a bend."""
    return (
        normal(rng, d, f, scale=1.5 / math.sqrt(d), dtype=dtype, order=order),
        normal(rng, f, dtype=dtype),
        normal(rng, f, d, dtype=dtype, order=order),
        normal(rng, d, dtype=dtype),
    )


def _network(
    rng: np.random.Generator,
    n: int,
    d: int,
    share: int,
    p: int,
    *,
    b2: bool = False,
    watched: bool = True,
    room: bool = False,
    distinct: bool = False,
    dtype: str = "float64",
    orders: tuple[str, str] = ("C", "C"),
) -> Case:
    """A network of p * share hidden features.

    Args:
        b2: whether the second bias is another than 0.
        watched: whether all_reduce adds something of its own; and, if there is no more `room`, act takes no more hidden features than a
            device has.
        distinct: whether all_reduce refuses parts that are the same.
    """
    W1, b1, W2, drawn = _layers(rng, d, p * share, dtype, orders[1])
    mark, act = -float(rng.uniform(10, 20)) * watched, _activation(rng, None if room or not watched else share)
    X = normal(rng, n, d, dtype=dtype, order=orders[0])
    return case(X, W1, b1, W2, drawn if b2 else np.zeros_like(drawn), p, act, exchange_between(p, mark, distinct))


def _unlike(rng: np.random.Generator, p: int, even: bool = False) -> tuple[int, int, int]:
    """Sizes n, d and f/p, so that with p and f no two are alike; p divides n and d if they are to be even, and never f/p."""
    while True:
        n, d, share = sizes(rng, 3, 2, 12)
        fitting = all((size % p == 0) is even for size in (n, d))
        if len({n, d, share, p, p * share}) == 5 and share % p and fitting:
            return n, d, share


def _on_two_and_three(rng: np.random.Generator, b2: bool = False, watched: bool = True) -> list[Case]:
    return [_network(rng, *_unlike(rng, p, even=True), p, b2=b2, watched=watched) for p in (2, 3)]


@probe(0.75)
def networks_without_an_output_bias(rng: np.random.Generator) -> list[Case]:
    """what the devices add up to where b2 is zero, all sizes different"""
    return _on_two_and_three(rng, watched=False)


@probe(1.0)
def networks(rng: np.random.Generator) -> list[Case]:
    """b2 is in the output once"""
    return _on_two_and_three(rng, watched=False, b2=True)


@probe(0.75)
def networks_where_more_can_be_cut(rng: np.random.Generator) -> list[Case]:
    """own shards and one exchange, where other axes can be cut too"""
    p, n, share = 2, int(rng.choice([3, 5])), int(rng.choice([3, 5]))
    d = int(rng.choice([4, 8]))
    return [
        _network(rng, n, d, share, p),  # p divides d: W1 can be cut by rows, W2 by columns, b2 into pieces
        _network(rng, 2 * n, d, share, p),  # and the tokens can be dealt
    ]


@probe(1.25)
def networks_watched(rng: np.random.Generator) -> list[Case]:
    """no device works on more hidden features than its share, and what is added up goes through all_reduce, once"""
    return [
        *_on_two_and_three(rng),
        _network(rng, 4, 8, 3, 2, room=True, distinct=True),
        _network(rng, 4, 8, 5, 2, room=True),
    ]


@probe(0.5)
def networks_of_any_width(rng: np.random.Generator) -> list[Case]:
    """the same where p divides neither n nor d, and where f/p is d"""
    share = int(rng.choice([3, 5]))
    cases = [*(_network(rng, *_unlike(rng, p), p, b2=True) for p in (2, 3)), _network(rng, share - 1, share, share, 2)]
    return [*cases, replace(cases[0], harness="accepting")]  # nothing to refuse


@probe(0.25)
def networks_refused(rng: np.random.Generator) -> list[Case]:
    """refuses a hidden width that cannot be dealt evenly"""
    cases = []
    for p in (2, 3):
        n, d, share = _unlike(rng, p)
        f = p * share + 1
        act, exchange = _activation(rng), exchange_between(p)
        for tokens, width in ((n * p, d * p), (n, d * p), (n * p, d)):
            X, layers = normal(rng, tokens, width), _layers(rng, width, f)
            cases.append(case(X, *layers, p, act, exchange, harness="refusing"))
    return cases


@probe(0.5)
def networks_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """one token, one device, float32, arrays that are not contiguous"""
    n, d, share = _unlike(rng, 2, even=True)
    return [
        _network(rng, 1, d, share, 2),
        _network(rng, n, d, share, 1),
        _network(rng, n, d, share, 2, dtype="float32"),
        _network(rng, n, d, share, 2, orders=("strided", "F")),
    ]


def _devices(W1: F, b1: F, W2: F, p: int) -> list[Device]:
    return list(zip(np.split(W1, p, axis=1), np.split(b1, p), np.split(W2, p), strict=True))


def _parts(X: F, W1: F, b1: F, W2: F, p: int, act: Act) -> list[F]:
    """What each device adds to the output, [n, d] each."""
    return [act(X @ w1 + c1) @ w2 for w1, c1, w2 in _devices(W1, b1, W2, p)]


@mistake
def bias_on_every_device(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """b2 is in your output once for each device: every one adds it to its part, and the sum of the parts has it p times.
    So you are off by exactly (p - 1)·b2. It is to be added once."""
    return all_reduce([part + b2 for part in _parts(X, W1, b1, W2, p, act)])


@mistake
def second_bias_shared_out_after_the_sum(
    X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce
) -> F:
    """you added a p-th of b2 to the sum. A p-th would be right in each part, before they are added up; after the sum the whole of b2 is
    missing still."""
    return all_reduce(_parts(X, W1, b1, W2, p, act)) + b2 / p


@mistake
def first_bias_divided(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you divided b1 by p. Each hidden feature is made on one device alone, so its entry of b1 is added once as it is."""
    return all_reduce(_parts(X, W1, b1 / p, W2, p, act)) + b2


@mistake
def no_second_bias(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """b2 is missing."""
    return all_reduce(_parts(X, W1, b1, W2, p, act))


@mistake
def no_first_bias(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """b1 is missing."""
    return all_reduce(_parts(X, W1, np.zeros_like(b1), W2, p, act)) + b2


@mistake
def no_bias_at_all(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """both biases are missing."""
    return all_reduce(_parts(X, W1, np.zeros_like(b1), W2, p, act))


@mistake
def first_bias_on_device_0_only(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """b1 is added on the first device only, and the hidden features of the others are without it. Each hidden feature has
    its own number in b1, so b1 is dealt like the columns of W1."""
    c1 = np.where(np.arange(len(b1)) < len(b1) // p, b1, b1 * 0)
    return all_reduce(_parts(X, W1, c1, W2, p, act)) + b2


@mistake
def first_bias_whole(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you add all of b1 on every device: whole, or cut into pieces of which none was picked. A device has f/p hidden
    features, and each of them has one number in b1: it needs its own f/p numbers.
    """
    return all_reduce([act(X @ w1 + b1) @ w2 for w1, _, w2 in _devices(W1, b1, W2, p)]) + b2


@mistake
def first_numbers_of_the_bias(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """each of your devices adds the first f/p numbers of b1. They belong to the hidden features of device 0."""
    return all_reduce([act(X @ w1 + b1[: len(b1) // p]) @ w2 for w1, _, w2 in _devices(W1, b1, W2, p)]) + b2


@mistake
def second_bias_cut_by_the_hidden_width(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you cut b2 as you cut b1, f/p numbers for each device. b2 is as wide as a token: it is not cut, and is added once, to the sum."""
    share = len(b1) // p
    parts = _parts(X, W1, b1, W2, p, act)
    return all_reduce([part + b2[r * share : (r + 1) * share] for r, part in enumerate(parts)])


@mistake
def bias_behind_the_activation(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you added b1 after the activation. It has to be there when the activation bends."""
    return all_reduce([(act(X @ w1) + c1) @ w2 for w1, c1, w2 in _devices(W1, b1, W2, p)]) + b2


@mistake
def never_activated(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """there is no activation. Each device applies it to its own hidden features, between its two products."""
    return all_reduce([(X @ w1 + c1) @ w2 for w1, c1, w2 in _devices(W1, b1, W2, p)]) + b2


@mistake
def parts_activated(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you applied the activation to the parts, after the second product. It belongs between the two. And a part is not
    a feature: it is one of p terms of a sum, and act(a) + act(b) is not act(a + b).
    """
    return all_reduce([act((X @ w1 + c1) @ w2) for w1, c1, w2 in _devices(W1, b1, W2, p)]) + b2


@mistake
def parts_activated_too(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you applied the activation twice: between the products, where it belongs, and to the parts as well."""
    return all_reduce([act(part) for part in _parts(X, W1, b1, W2, p, act)]) + b2


@mistake
def output_activated(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you applied the activation to the result. It belongs between the two products, and nowhere else."""
    return act(all_reduce([(X @ w1 + c1) @ w2 for w1, c1, w2 in _devices(W1, b1, W2, p)]) + b2)


@mistake
def always_relu(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you used relu, whatever activation you were given. The caller decides which: call act."""
    return all_reduce(_parts(X, W1, b1, W2, p, lambda x: np.maximum(x, 0))) + b2


@mistake
def partial_sums_activated(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you cut W1 by rows, and X by columns. Each device then has one of p terms of each hidden feature, and you
    activated terms. act(a) + act(b) is not act(a + b). Which cut of W1 gives whole hidden features?"""
    even_share(len(b1), p)
    parts = []
    for x, w1 in zip(np.split(X, p, axis=1), np.split(W1, p), strict=True):
        parts.append(act(x @ w1 + b1) @ W2)
    return all_reduce(parts) + b2


@mistake
def partial_sums_activated_with_one_bias(
    X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce
) -> F:
    """you cut W1 by rows and X by columns, with b1 on the first device. Each device then has one of p terms of each
    hidden feature, and you activated terms. act(a) + act(b) is not act(a + b). Which cut of W1 gives whole hidden
    features?"""
    even_share(len(b1), p)
    parts = []
    for r, (x, w1) in enumerate(zip(np.split(X, p, axis=1), np.split(W1, p), strict=True)):
        parts.append(act(x @ w1 + (b1 if r == 0 else 0)) @ W2)
    return all_reduce(parts) + b2


def _terms(X: F, W1: F, p: int) -> list[F]:
    """With W1 cut by rows, what each device has of every hidden feature: one term of a sum."""
    return [x @ w1 for x, w1 in zip(np.split(X, p, axis=1), np.split(W1, p), strict=True)]


@mistake
def terms_activated_any_width(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you cut W1 by rows, and X by columns. Each device then has one of p terms of each hidden feature, and you
    activated terms. act(a) + act(b) is not act(a + b). Which cut of W1 gives whole hidden features?"""
    return all_reduce([act(term + b1) @ W2 for term in _terms(X, W1, p)]) + b2


@mistake
def terms_activated_with_a_share_of_the_bias(
    X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce
) -> F:
    """you cut W1 by rows and X by columns, with a p-th of b1 each. Each device then has one of p terms of each hidden
    feature, and you activated terms. act(a) + act(b) is not act(a + b). Which cut of W1 gives whole hidden features?"""
    return all_reduce([act(term + b1 / p) @ W2 for term in _terms(X, W1, p)]) + b2


@mistake
def terms_activated_and_cut(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you cut W1 by rows, and X by columns. Each device then has one of p terms of each hidden feature, and you
    activated terms. act(a) + act(b) is not act(a + b). Which cut of W1 gives whole hidden features?"""
    shards = zip(_terms(X, W1, p), np.split(W2, p), strict=True)
    return all_reduce([np.split(act(term + b1), p, axis=1)[r] @ w2 for r, (term, w2) in enumerate(shards)]) + b2


@mistake
def terms_with_a_share_of_the_bias_activated_and_cut(
    X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce
) -> F:
    """you cut W1 by rows and X by columns, with a p-th of b1 each. Each device then has one of p terms of each hidden
    feature, and you activated terms. act(a) + act(b) is not act(a + b). Which cut of W1 gives whole hidden features?"""
    shards = zip(_terms(X, W1, p), np.split(W2, p), strict=True)
    return all_reduce([np.split(act(term + b1 / p), p, axis=1)[r] @ w2 for r, (term, w2) in enumerate(shards)]) + b2


@mistake
def rows_first_in_two_exchanges(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """the numbers are right, and it takes two collectives. The first is f wide, comes before the activation, and can be saved. Behind a
    column cut of W1 each device has whole hidden features of its own: it can bend them and go on."""
    summed = all_reduce([x @ w1 for x, w1 in zip(np.array_split(X, p, axis=1), np.array_split(W1, p), strict=True)])
    hidden = act(summed + b1)
    return all_reduce([own @ w2 for own, w2 in zip(np.split(hidden, p, axis=1), np.split(W2, p), strict=True)]) + b2


@mistake
def rows_first_and_back_to_columns(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """the sum is right where it runs, and it takes two collectives. The first, before the activation, can be saved: behind a
    column cut of W1 each device has whole hidden features of its own, and can bend what it has."""
    hidden = act(all_reduce(_terms(X, W1, p)) + b1)
    return all_reduce([own @ w2 for own, w2 in zip(np.split(hidden, p, axis=1), np.split(W2, p), strict=True)]) + b2


def _bent_by_shares(summed: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """Hidden features that everybody has: each device bends a share of them, and goes on with it."""
    own = zip(np.split(summed, p, axis=1), np.split(b1, p), np.split(W2, p), strict=True)
    return all_reduce([act(hidden + bias) @ w2 for hidden, bias, w2 in own]) + b2


@mistake
def rows_first_done_properly(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """the numbers are right, and it takes two collectives: way (c), rows first. With W1 cut by rows, no device has a
    whole hidden feature before the terms are added. That exchange can be saved: by columns, each device can bend what
    it has."""
    terms = [x @ w1 for x, w1 in zip(np.array_split(X, p, axis=1), np.array_split(W1, p), strict=True)]
    return _bent_by_shares(all_reduce(terms), b1, W2, b2, p, act, all_reduce)


@mistake
def rows_first_done_properly_where_they_can_be_cut(
    X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce
) -> F:
    """the numbers are right where it runs, and it takes two collectives: way (c), rows first. With W1 cut by rows, no
    device has a whole hidden feature before the terms are added. That exchange can be saved: by columns, each device
    can bend what it has."""
    return _bent_by_shares(all_reduce(_terms(X, W1, p)), b1, W2, b2, p, act, all_reduce)


@mistake
def reduced_before_the_activation(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you spend the one exchange before the activation, on what is f wide. From there on every device needs all of W2. Behind a column
    cut of W1 there is nothing to add up before the activation, and the exchange comes at the end."""
    return np.asarray(act(all_reduce(_terms(X, W1, p)) + b1) @ W2 + b2)


@misses_the_idea
def summed_by_hand(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you did not call all_reduce. (With one that adds 100 it shows; else your numbers are right.) You brought together
    what lies on different devices, as parts or as hidden features, and that takes an exchange: have all_reduce add what
    the rows of W2 make.
    """
    return np.asarray(sum(_parts(X, W1, b1, W2, p, act)) + b2)


@misses_the_idea
def gathered_by_hand(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you did not call all_reduce, and act was given more hidden features than one device has room for. (The numbers
    would be right.) act works on each number alone: let each device bend what its shard of W1 makes, and go on with its
    rows of W2."""
    hidden = np.concatenate([X @ w1 + c1 for w1, c1, _ in _devices(W1, b1, W2, p)], axis=1)
    return np.asarray(act(hidden) @ W2 + b2)


@mistake
def tokens_cut_as_well(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you cut W1 by columns, and X by columns as well. It is a row cut of the weight that has the tokens cut to go with it. Behind a column
    cut a device needs whole tokens."""
    tokens = np.split(X, p, axis=1)
    devices = _devices(W1, b1, W2, p)
    return all_reduce([act(x @ w1 + c1) @ w2 for x, (w1, c1, w2) in zip(tokens, devices, strict=True)]) + b2


@mistake
def tokens_activated(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you applied the activation to the tokens, before the first product. It belongs between the two."""
    return all_reduce([(act(X) @ w1 + c1) @ w2 for w1, c1, w2 in _devices(W1, b1, W2, p)]) + b2


@mistake
def part_of_device_0(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you returned what device 0 has, one part of the sum. Either all_reduce was not asked, or what it *returns* was thrown away: here it gives you
    the sum, and leaves your list of parts as it is."""
    return _parts(X, W1, b1, W2, p, act)[0] + b2


@mistake
def part_of_the_last_device(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you returned what the last device has, one part of the sum: what the loop left behind. Collect the parts, and have
    them added up."""
    return _parts(X, W1, b1, W2, p, act)[-1] + b2


@mistake
def reduced_twice(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you reduced twice. After the first all-reduce every device has the sum; the second one adds these p equal sums, and
    the result is p times too large."""
    total = all_reduce(_parts(X, W1, b1, W2, p, act))
    return all_reduce([total] * p) + b2


@mistake
def mean_of_parts(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you took the mean of the parts. Each part is what some of the hidden features add to the output: their sum is
    wanted. (A mean is for gradients, where devices have seen different texts.)"""
    return all_reduce(_parts(X, W1, b1, W2, p, act)) / p + b2


@mistake
def parts_side_by_side(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you laid the parts side by side, [n, p·d]. Behind a column cut pieces lie side by side; behind a row cut each device
    has a part of *every* number, and they are added up."""
    return np.concatenate(_parts(X, W1, b1, W2, p, act), axis=1) + np.tile(b2, p)


@mistake
def parts_beside_each_other_then_bias(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """b2 does not fit what you add it to. If that is p·d wide: you laid the parts side by side, as one does behind a column
    cut. Behind a row cut each device has a part of *every* number, and they are added up."""
    return np.concatenate(_parts(X, W1, b1, W2, p, act), axis=1) + b2


@mistake
def parts_below_each_other(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you put the parts one below the other. Each device has a part of every token's output, and these are added up."""
    return np.concatenate(_parts(X, W1, b1, W2, p, act)) + b2


@mistake
def a_copy_for_each_device(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> list[F]:
    """you returned the output once for each device. They all have the same after the all-reduce; return it once."""
    return [all_reduce(_parts(X, W1, b1, W2, p, act)) + b2] * p


@mistake
def reduced_part_by_part(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """all_reduce takes one list, of all parts, and you gave it something else: one part at a time, several arguments, or what you had
    added up before. All devices take part in one and the same call, and adding up is what it is for."""
    total = np.zeros_like(X)
    for part in _parts(X, W1, b1, W2, p, act):
        total = total + all_reduce(part)
    return total + b2


@mistake
def reduced_while_collecting(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """all_reduce takes p parts, one from each device, all at once, and yours gets fewer. Either it is one part that holds everything
    already; or you call it before all parts are there, inside the loop over devices perhaps."""
    parts: list[F] = []
    total = np.zeros_like(X)
    for part in _parts(X, W1, b1, W2, p, act):
        parts.append(part)
        total = all_reduce(parts)
    return total + b2


@mistake
def hidden_in_one_part(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you brought the hidden features of all devices together before the second product. Laid side by side, they have been exchanged
    already; added up, different features are mixed. Let each device send its own through its own rows of W2: what comes out can be
    added."""
    hidden = np.concatenate([act(X @ w1 + c1) for w1, c1, _ in _devices(W1, b1, W2, p)], axis=1)
    return np.asarray(all_reduce([hidden]) @ W2 + b2)


@mistake
def tokens_added_together(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you added up once more what all_reduce had added up. It returns one array, the sum of the parts, and Python's sum over that runs along its
    first axis: it adds the tokens together."""
    return np.asarray(sum(all_reduce(_parts(X, W1, b1, W2, p, act))) + b2)


@mistake
def one_device_by_itself(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """where there is one device only, you do not ask all_reduce. The sum of one part is that part; but the code now has
    two ways, of which the second is seldom tried. One device takes part in an all-reduce as well.
    """
    parts = _parts(X, W1, b1, W2, p, act)
    return (parts[0] if p == 1 else all_reduce(parts)) + b2


@mistake
def hidden_reduced_too(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you added up the hidden features of the devices. They are different features, and device 0's first has nothing to do
    with device 1's first. After a column cut nothing has to be exchanged: each device goes on with what it has."""
    summed = all_reduce([act(X @ w1 + c1) for w1, c1, _ in _devices(W1, b1, W2, p)])
    return all_reduce([summed @ w2 for w2 in np.split(W2, p)]) + b2


@mistake
def rows_of_the_first_weight(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you multiply whole tokens by a row shard of W1. It has d/p rows, and a token has d numbers. Which cut of W1 leaves
    every device with something that a whole token can meet?"""
    pairs = zip(np.split(W1, p), np.split(W2, p, axis=1), strict=True)
    return all_reduce([act(X @ w1 + b1) @ w2 for w1, w2 in pairs]) + b2


@mistake
def second_weight_whole(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """what you multiply by has f rows, and a device has f/p hidden features to meet them. Either W2 is whole, or you cut it by columns,
    as W1. Which rows of W2 do the hidden features of a device meet?"""
    return all_reduce([act(X @ w1 + c1) @ W2 for w1, c1, _ in _devices(W1, b1, W2, p)]) + b2


@mistake
def first_weight_whole(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """W1 is not cut: every device makes all f hidden features, and then they do not fit its f/p rows of W2. Each makes its
    own f/p of them."""
    return all_reduce([act(X @ W1 + b1) @ w2 for w2 in np.split(W2, p)]) + b2


@mistake
def second_bias_cut(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you cut b2 into pieces. b1 goes with the columns of W1, one number for each hidden feature. b2 has one number for each
    of the d features of the output, and the output is not cut: every part is d wide."""
    parts = [part + c2 for part, c2 in zip(_parts(X, W1, b1, W2, p, act), np.split(b2, p), strict=True)]
    return all_reduce(parts)


@mistake
def device_0_for_all(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """all your devices do the work of device 0. Is the shard's number left out, or stuck at 0?"""
    return all_reduce([_parts(X, W1, b1, W2, p, act)[0]] * p) + b2


@mistake
def first_columns_everywhere(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """all your devices make the hidden features of device 0, and send them through rows of W2 that belong to others."""
    devices = _devices(W1, b1, W2, p)
    w1, c1, _ = devices[0]
    return all_reduce([act(X @ w1 + c1) @ w2 for _, _, w2 in devices]) + b2


@mistake
def first_rows_everywhere(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """all your devices use the first rows of W2, those of device 0. Device r's hidden features meet rows of their own."""
    devices = _devices(W1, b1, W2, p)
    w2 = devices[0][2]
    return all_reduce([act(X @ w1 + c1) @ w2 for w1, c1, _ in devices]) + b2


@mistake
def first_weight_of_device_0(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """all your devices multiply by the first shard of W1. The biases and the rows of W2 are their own, so it looks nearly
    right: each device has columns of its own."""
    devices = _devices(W1, b1, W2, p)
    w1 = devices[0][0]
    return all_reduce([act(X @ w1 + c1) @ w2 for _, c1, w2 in devices]) + b2


@mistake
def rows_from_last_to_first(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """the shards of W1 and of W2 do not belong together: the order of one of them is reversed. Hidden feature j meets row j
    of W2, so shard r of both lies on device r."""
    flipped = np.concatenate(np.split(W2, p)[::-1])
    return all_reduce(_parts(X, W1, b1, flipped, p, act)) + b2


@mistake
def columns_dealt_like_cards(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you dealt the columns of W1 (and b1) like cards, and cut W2 into blocks. Either will do, but both in the same way:
    hidden feature j meets row j of W2."""
    even_share(len(b1), p)
    parts = [act(X @ W1[:, r::p] + b1[r::p]) @ w2 for r, w2 in enumerate(np.split(W2, p))]
    return all_reduce(parts) + b2


@mistake
def rows_dealt_like_cards(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you dealt the rows of W2 like cards, and cut W1 into blocks. Either will do, but both in the same way: hidden feature j
    meets row j of W2."""
    even_share(len(b1), p)
    parts = [act(X @ w1 + c1) @ W2[r::p] for r, (w1, c1, _) in enumerate(_devices(W1, b1, W2, p))]
    return all_reduce(parts) + b2


@mistake
def bias_dealt_in_blocks(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you dealt the columns of W1 and the rows of W2 like cards, which goes together, and cut b1 into blocks, which does
    not: it has to be dealt as the columns are."""
    even_share(len(b1), p)
    parts = [act(X @ W1[:, r::p] + c1) @ W2[r::p] for r, c1 in enumerate(np.split(b1, p))]
    return all_reduce(parts) + b2


@mistake
def hidden_remainder_dropped(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """where p does not divide f, you rounded down, and the last hidden features are on no device. Such a width is to be
    refused with a ValueError."""
    f = len(b1) // p * p
    return all_reduce(_parts(X, W1[:, :f], b1[:f], W2[:f], p, act)) + b2


@mistake
def uneven_shares(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """where p does not divide f, you gave some devices more than others. That would compute, and the others would wait for
    the slowest. Here such a width is refused with a ValueError."""
    devices = zip(np.array_split(W1, p, axis=1), np.array_split(b1, p), np.array_split(W2, p), strict=True)
    return all_reduce([act(X @ w1 + c1) @ w2 for w1, c1, w2 in devices]) + b2


@mistake
def asked_the_width_of_a_token(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you asked whether p divides d, the width of a token. d is not cut at all: it is the hidden width f that is dealt."""
    even_share(X.shape[1], p)
    return hidden_remainder_dropped(X, W1, b1, W2, b2, p, act, all_reduce)


@mistake
def asked_the_number_of_tokens(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you asked whether p divides the number of tokens. Tokens are not dealt: every device sees all of them. It is the hidden
    width f that is dealt."""
    even_share(len(X), p)
    return hidden_remainder_dropped(X, W1, b1, W2, b2, p, act, all_reduce)


@misses_the_idea
def tokens_dealt(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you dealt the tokens to the devices, and each has both weights whole. That is another way of sharing the work: it needs
    no exchange here, and it saves no memory for weights, which is what this is about."""
    return np.concatenate([act(x @ W1 + b1) @ W2 + b2 for x in np.split(X, p)])


@misses_the_idea
def tokens_dealt_unevenly(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you dealt the tokens to the devices, as evenly as they go, and each has both weights whole. That is another way of sharing the work: it
    needs no exchange here, and it saves no memory for weights, which is what this is about."""
    return np.concatenate([act(x @ W1 + b1) @ W2 + b2 for x in np.array_split(X, p)])


@misses_the_idea
def hidden_layer_whole(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """the sum is right, but act was given more hidden features than one device holds. A device has f/p columns of W1, and act works on
    each number by itself: let each device bend what its own columns make."""
    hidden = act(X @ W1 + b1)
    return all_reduce([own @ w2 for own, w2 in zip(np.split(hidden, p, axis=1), np.split(W2, p), strict=True)]) + b2


@mistake
def everybody_does_everything(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """each of your devices computes the whole output, and then they are added up: p times too much, and nothing was
    shared. Each is to have a shard of the weights, and to make one part of the sum.
    """
    even_share(len(b1), p)
    return all_reduce([act(X @ W1 + b1) @ W2] * p) + b2


@mistake
def everybody_does_everything_any_width(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """each of your devices computes the whole output, so the sum is p times too much, and nothing was shared. Each is
    to have a shard of the weights, and make one part. Besides, a p that does not divide f is not refused: raise a
    ValueError."""
    return all_reduce([act(X @ W1 + b1) @ W2] * p) + b2


@misses_the_idea
def a_share_of_the_whole_output(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """each of your devices computes the whole output, and hands in a p-th of it. The number is right, and nothing was
    shared: each device needs all the weights. Each is to have a shard of them, and to make one part of the sum.
    """
    even_share(len(b1), p)
    return all_reduce([(act(X @ W1 + b1) @ W2 + b2) / p] * p)


@misses_the_idea
def a_share_of_the_whole_output_any_width(
    X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce
) -> F:
    """each of your devices computes the whole output, and hands in a p-th of it. The number is right, and nothing was
    shared. Each is to have a shard of the weights. Besides, a p that does not divide f is not refused: raise a
    ValueError.
    """
    return all_reduce([(act(X @ W1 + b1) @ W2 + b2) / p] * p)


@misses_the_idea
def everybody_does_everything_and_the_mean(
    X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce
) -> F:
    """each of your devices computes the whole output, and their mean is taken. So nothing was shared, though the mean
    of equal numbers is right: each device needs all the weights. Each is to have a shard of them, and to make one part
    of the sum.
    """
    even_share(len(b1), p)
    return all_reduce([act(X @ W1 + b1) @ W2] * p) / p + b2


@mistake
def tokens_added(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you added the tokens to the result. That is the residual, and it is the block that adds it, once, later on."""
    return X + all_reduce(_parts(X, W1, b1, W2, p, act)) + b2


@mistake
def sum_in_float64(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part: np.zeros makes
    one, unless you tell it the type, and so does astype(float)."""
    room = np.zeros((p, *X.shape))
    room[:] = _parts(X, W1, b1, W2, p, act)
    return all_reduce(list(room)) + b2


@mistake
def bias_in_place(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """the output is right, and b2 is another one now: you divided it, or added to it, in place. The next call would find it
    changed."""
    b2 /= p
    return all_reduce([part + b2 for part in _parts(X, W1, b1, W2, p, act)])


@mistake
def bias_on_every_device_any_width(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """two things. b2 is in your output once for each device: every one adds it to its part, and it is to be added once. And where p does not
    divide f, that is not refused with a ValueError."""
    devices = zip(np.array_split(W1, p, axis=1), np.array_split(b1, p), np.array_split(W2, p), strict=True)
    return all_reduce([act(X @ w1 + c1) @ w2 + b2 for w1, c1, w2 in devices])


@mistake
def bias_on_every_device_and_the_rest_dropped(
    X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce
) -> F:
    """two things. b2 is in your output once for each device: every one adds it to its part, and it is to be added once. And where p does not
    divide f, you rounded down, where a ValueError is due."""
    f = len(b1) // p * p
    return all_reduce([part + b2 for part in _parts(X, W1[:, :f], b1[:f], W2[:f], p, act)])


@mistake
def second_bias_twice(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """b2 is in your output once too often: it was in the parts, or was added to one of them, and you add it again in the end."""
    first, *others = _parts(X, W1, b1, W2, p, act)
    return all_reduce([first + b2, *others]) + b2


@mistake
def second_bias_dealt_by_columns(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """each of your devices adds its own piece of b2, and where p does not divide d some of it may be lost. b2 belongs to the output,
    which is not cut: add it once, to the sum."""
    width = len(b2) // p
    pieces = [np.where(np.arange(len(b2)) // max(width, 1) == r, b2, b2 * 0) for r in range(p)]
    return all_reduce([part + piece for part, piece in zip(_parts(X, W1, b1, W2, p, act), pieces, strict=True)])


@mistake
def first_bias_dealt_like_cards(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you cut W1 into blocks of columns, and dealt b1 like cards. Either will do, but both in the same way: each hidden feature has one number in b1."""
    even_share(len(b1), p)
    parts = [act(X @ w1 + b1[r::p]) @ w2 for r, (w1, _, w2) in enumerate(_devices(W1, b1, W2, p))]
    return all_reduce(parts) + b2


@mistake
def first_bias_on_every_term(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """your hidden features hold b1 once for each device, as when every device adds it to terms that are added up. It
    belongs to each hidden feature once, before the activation.
    """
    return all_reduce([act(X @ w1 + p * c1) @ w2 for w1, c1, w2 in _devices(W1, b1, W2, p)]) + b2


@mistake
def output_activated_too(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you applied the activation twice: between the products, where it belongs, and to the output as well."""
    return act(all_reduce(_parts(X, W1, b1, W2, p, act)) + b2)


@mistake
def sum_activated_too(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you applied the activation twice: between the products, where it belongs, and to the sum of the parts as well."""
    return act(all_reduce(_parts(X, W1, b1, W2, p, act))) + b2


@mistake
def activated_twice(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you applied the activation twice to the hidden features. Once is enough."""
    return all_reduce([act(act(X @ w1 + c1)) @ w2 for w1, c1, w2 in _devices(W1, b1, W2, p)]) + b2


@mistake
def width_of_a_token_refused_too(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you refuse where p does not divide d, besides f. d is not cut: every device sees whole tokens, and adds to whole tokens. It may be anything."""
    even_share(X.shape[1], p)
    return all_reduce(_parts(X, W1, b1, W2, p, act)) + b2


@mistake
def number_of_tokens_refused_too(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you refuse where p does not divide the number of tokens, besides f. Tokens are not dealt: there may be any number of them."""
    even_share(len(X), p)
    return all_reduce(_parts(X, W1, b1, W2, p, act)) + b2


@mistake
def hidden_width_asserted(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you refuse with an assertion. Python leaves these out when it is asked to hurry (`python -O`), and whoever calls expects a ValueError."""
    assert len(b1) % p == 0
    return all_reduce(_parts(X, W1, b1, W2, p, act)) + b2


@mistake
def nothing_where_it_should_refuse(
    X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce
) -> F | None:
    """where p does not divide f you return None. Whoever called goes on with that, and stumbles later: raise a ValueError."""
    return all_reduce(_parts(X, W1, b1, W2, p, act)) + b2 if len(b1) % p == 0 else None


@mistake
def hidden_width_error_returned(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> object:
    """where p does not divide f you *return* a ValueError. An error stops whoever called only if it is raised."""
    return all_reduce(_parts(X, W1, b1, W2, p, act)) + b2 if len(b1) % p == 0 else ValueError("not evenly")


@mistake
def a_call_for_each_device(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you call all_reduce once for each device, with all parts each time. One call stands for the exchange in which all devices take part, and returns what each of
    them has afterwards."""
    parts = _parts(X, W1, b1, W2, p, act)
    return [all_reduce(parts) for _ in range(p)].pop() + b2


@mistake
def two_halves(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you made two parts, whatever p is. There are p devices, and each has f/p hidden features."""
    even_share(len(b1), p)
    half = len(b1) // 2
    return all_reduce([act(X @ W1[:, own] + b1[own]) @ W2[own] for own in (slice(half), slice(half, None))]) + b2


@misses_the_idea
def hidden_features_exchanged(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you spend the one exchange before the activation, on hidden features with zeros for those of others. From there on every device
    needs all of W2. Let each device bend its own, and use its own rows of W2: the exchange comes at the end."""
    width, hidden = even_share(len(b1), p), []
    for r, (w1, c1, _) in enumerate(_devices(W1, b1, W2, p)):
        own = np.zeros((len(X), len(b1)), X.dtype)
        own[:, r * width : (r + 1) * width] = X @ w1 + c1
        hidden.append(own)
    return np.asarray(act(all_reduce(hidden)) @ W2 + b2)


@misses_the_idea
def bent_features_exchanged(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you spend the one exchange on bent hidden features with zeros for those of others, and multiply by all of W2 afterwards. Let each
    device use its own rows of W2: what is exchanged is then d wide, and no device needs all of W2."""
    width, hidden = even_share(len(b1), p), []
    for r, (w1, c1, _) in enumerate(_devices(W1, b1, W2, p)):
        own = np.zeros((len(X), len(b1)), X.dtype)
        own[:, r * width : (r + 1) * width] = act(X @ w1 + c1)
        hidden.append(own)
    return np.asarray(all_reduce(hidden) @ W2 + b2)


@mistake
def sum_activated(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you applied the activation to the sum of the parts. It belongs between the two products, where each device bends its own hidden features."""
    return act(all_reduce([(X @ w1 + c1) @ w2 for w1, c1, w2 in _devices(W1, b1, W2, p)])) + b2


@right
def mlp_by_slices(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    if W1.shape[1] % p:
        raise ValueError("the hidden features cannot be dealt evenly")
    width = W1.shape[1] // p
    parts = []
    for r in range(p):
        own = slice(r * width, (r + 1) * width)
        parts.append(act(X @ W1[:, own] + b1[own]) @ W2[own])
    return all_reduce(parts) + b2


@right
def mlp_by_shards(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    biases = np.split(b1, p)
    hidden = [act(X @ w1 + c1) for w1, c1 in zip(np.split(W1, p, axis=1), biases, strict=True)]
    return all_reduce([own @ w2 for own, w2 in zip(hidden, np.split(W2, p), strict=True)]) + b2


@right
def mlp_with_the_bias_on_device_0(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    first, *others = _parts(X, W1, b1, W2, p, act)
    return all_reduce([first + b2, *others])


@right
def mlp_with_a_share_of_the_bias(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    return all_reduce([part + b2 / p for part in _parts(X, W1, b1, W2, p, act)])


@right
def mlp_dealt_like_cards(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    if len(b1) % p:
        raise ValueError("the hidden features cannot be dealt evenly")
    return all_reduce([act(X @ W1[:, r::p] + b1[r::p]) @ W2[r::p] for r in range(p)]) + b2


@right
def mlp_in_one_stack(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    d = X.shape[1]
    first = W1.reshape(d, p, -1).swapaxes(0, 1)
    return all_reduce(act(X @ first + b1.reshape(p, 1, -1)) @ W2.reshape(p, -1, d)) + b2


@right
def mlp_by_torch(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    import torch

    if len(b1) % p:
        raise ValueError("the hidden features cannot be dealt evenly")
    x, w1, c1, w2, c2 = (torch.from_numpy(a.copy()) for a in (X, W1, b1, W2, b2))
    parts = []
    for u, a, v in zip(w1.chunk(p, dim=1), c1.chunk(p), w2.chunk(p), strict=True):
        parts.append((torch.from_numpy(np.asarray(act((x @ u + a).numpy()))) @ v).numpy())
    return (torch.from_numpy(np.asarray(all_reduce(parts))) + c2).numpy()
