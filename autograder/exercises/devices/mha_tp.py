"""Attention on several devices, each with heads of its own.

Heads know nothing of each other until `Wo` adds them up, so a device takes h/p whole heads with the rows of `Wo` that
they meet, and one all-reduce makes the output. `Wqkv` holds all queries, then all keys, then all values. Each of the
three is cut by itself, and the pieces of a device are put side by side again; cut as it stands into p blocks, it
would give the first device mostly queries and no values. It is h that p has to divide: 25 heads of 64 make 1600
columns, and 4 devices could share the columns, but not the heads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations, product

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.devices.parts import AllReduce, even_share, exchange_between
from autograder.exercises.inputs import causal, normal, random_keep
from autograder.exercises.model import B, Case, F, case, equivalent, misses_the_idea, mistake, probe, right
from autograder.exercises.parts import (
    attention_of_heads,
    head_for_token,
    outputs_of_heads,
    pattern,
    queries_keys_values,
    softmax_of_kept,
    widths,
    with_empty_row,
)
from course.parameters import Params, shapes
from course.trial.values import with_layout

USES = ("column_shards", "row_shards")
Heads = tuple[F, F, F, F]
"""What one device has of Wq, Wk, Wv and Wo."""


def mha_tp(
    X: Float[np.ndarray, "n d"],
    params: dict[str, Float[np.ndarray, "..."]],
    h: int,
    keep: Bool[np.ndarray, "n n"],
    p: int,
    all_reduce: Callable[[list[np.ndarray]], np.ndarray],
) -> Float[np.ndarray, "n d"]:
    """Device r has heads r * h/p to (r + 1) * h/p - 1, and its part of the output is what these heads add to it."""
    if h % p != 0:
        raise ValueError(f"{h} heads")
    parts = []
    for r in range(p):
        part = np.zeros(X.shape)
        for i in range(r * (h // p), (r + 1) * (h // p)):
            for t in range(len(X)):
                part[t] += head_for_token(t, i, X, params["Wqkv"], params["Wo"], h, keep)
        parts.append(part)
    return all_reduce(parts)


def _public_block(
    n: int,
    d: int,
    h: int,
    k: int,
    v: int,
    p: int,
    keep: B | None = None,
    mark: float = 0.0,
    dtype: str = "float64",
    distinct: bool = False,
) -> Case:
    params = {
        name: pattern(*shape, step=5 + 3 * place % 11, dtype=dtype) / 2 + (0.25 if len(shape) == 1 else 0)
        for place, (name, shape) in enumerate(shapes(d, h, k, v, d + 1).items())
    }
    X = pattern(n, d, step=3, dtype=dtype) / 4
    return case(X, params, h, causal(n) if keep is None else keep, p, exchange_between(p, mark, distinct))


def _by_hand() -> Case:
    """Two tokens, two heads of width 1 on two devices; queries are 0, so that tokens share their weight evenly."""
    params = {name: np.zeros(shape) for name, shape in shapes(2, 2, 1, 1, 2).items()}
    params["Wqkv"] = np.array([[0.0, 0.0, 1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]])
    params["Wo"] = np.array([[1.0, 0.0], [5.0, 1.0]])
    return case(np.array([[2.0, 0.0], [0.0, 4.0]]), params, 2, causal(2), 2, exchange_between(2))


def _generic(n: int, d: int, h: int, k: int, v: int, p: int, order: str = "C") -> Case:
    """Numbers of two decimals that look like nothing in particular, no two alike in a weight."""

    def uneven(*shape: int, step: int) -> np.ndarray:
        numbers = np.arange(math.prod(shape)) * step % 211 / 53.0 - 2.0
        return with_layout(numbers.round(2).reshape(shape), order)

    params = {name: uneven(*shape, step=41 + 12 * i) for i, (name, shape) in enumerate(shapes(d, h, k, v, d).items())}
    return case(uneven(n, d, step=59), params, h, causal(n), p, exchange_between(p))


REFUSED = (
    (2, 4, 3, 2, 2, 2),  # p divides n, d, k and v, and not h
    (3, 4, 3, 1, 2, 2),
    (2, 3, 3, 1, 2, 2),
    (3, 4, 3, 3, 3, 2),  # nor the columns of all heads
    (3, 3, 5, 2, 4, 2),
    (1, 2, 25, 4, 4, 4),
    (2, 3, 2, 2, 2, 4),  # more devices than heads
)

WITH_GAPS = np.array([[True, False, True], [False, False, False], [True, True, False]])


PUBLIC = (
    _by_hand(),
    _public_block(3, 5, 4, 3, 1, 2),
    _public_block(4, 8, 4, 2, 2, 2),  # k = v = d/h, all even
    _public_block(3, 7, 6, 1, 2, 3, mark=100.0),
    _public_block(2, 4, 2, 1, 3, 2, distinct=True),
    _public_block(3, 5, 4, 3, 1, 2, keep=WITH_GAPS),
    _public_block(3, 12, 6, 2, 5, 2, dtype="float32"),  # h*k = d
    _public_block(3, 5, 4, 1, 4, 2),  # three equal parts of 8
    *(replace(_public_block(*size), harness="refusing") for size in REFUSED),
    replace(_public_block(3, 5, 4, 3, 1, 2), harness="accepting"),  # nothing to refuse
    _generic(5, 6, 6, 4, 5, 3),
    _generic(4, 7, 4, 5, 3, 2, "F"),
    _public_block(2, 3, 4, 2, 3, 4),  # a device for each head
    _public_block(1, 3, 2, 2, 3, 2),  # one token
    _public_block(2, 3, 2, 1, 2, 1, mark=100.0),
)


def _drawn(
    rng: np.random.Generator, d: int, h: int, k: int, v: int, dtype: str = "float64", order: str = "C"
) -> dict[str, F]:
    """A block's parameters, all of them random; with tokens of size 1 scores have a standard deviation of about 2."""
    params = {name: normal(rng, *shape, dtype=dtype) for name, shape in shapes(d, h, k, v, 2).items()}
    params["Wqkv"][:, : 2 * h * k] *= math.sqrt(2 / d)
    return {name: with_layout(W, order) for name, W in params.items()}


@cache
def _fitting(p: int, even: bool) -> list[tuple[int, int, int, int, int]]:
    """All sizes that `_apart` draws from."""
    found = []
    for (n, d, k, v), h in product(permutations(range(3, 13), 4), (2 * p, 3 * p, 4 * p)):
        distinct = len({n, d, h, k, v, p, h // p, h * k, h * v, n * h}) == 10
        fitting = all((size % p == 0) is even for size in (n, d)) and k % p and v % p
        if distinct and fitting and n <= 8 and (2 * k + v) // 3 != k and d % h and d // h not in (k, v):
            found.append((n, d, h, k, v))
    return found


def _apart(rng: np.random.Generator, p: int, even: bool = True) -> tuple[int, int, int, int, int]:
    """Sizes n, d, h, k, v, no two alike, of which p divides h, n and d too if they are to be even, and no other; nor is d/h the width
    of anything."""
    fitting = _fitting(p, even)
    return fitting[rng.integers(len(fitting))]


def _dealt_out(
    rng: np.random.Generator, n: int, d: int, h: int, k: int, v: int, p: int, keep: B | None = None, scale: float = 1.0
) -> Case:
    """The heads dealt to p devices, by an all_reduce that adds something of its own and refuses parts that are the same."""
    exchange = exchange_between(p, -float(rng.uniform(10, 20)), p > 1)
    return case(
        normal(rng, n, d, scale=scale), _drawn(rng, d, h, k, v), h, causal(n) if keep is None else keep, p, exchange
    )


@probe(0.5)
def dealt_without_a_mask(rng: np.random.Generator) -> list[Case]:
    """the output without a mask, all sizes different"""
    n, d, h, k, v = _apart(rng, 2)
    return [case(normal(rng, n, d), _drawn(rng, d, h, k, v), h, np.ones((n, n), bool), 2, exchange_between(2))]


@probe(0.5)
def dealt_heads(rng: np.random.Generator) -> list[Case]:
    """the output under the causal mask, on two and on three devices"""
    cases = []
    for p in (2, 3):
        n, d, h, k, v = _apart(rng, p)
        cases.append(case(normal(rng, n, d), _drawn(rng, d, h, k, v), h, causal(n), p, exchange_between(p)))
    return cases


@probe(0.5)
def dealt_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    """own heads and one exchange, where sizes coincide and other cuts would run too"""
    k = int(rng.choice([3, 5]))
    return [
        _dealt_out(rng, 5, 4 * k, 4, k, k, 2),  # k = v = d/h
        _dealt_out(rng, 6, 5, 4, 4, 4, 2),  # heads can be cut through
        _dealt_out(rng, 6, 7, 4, 2, 4, 2),
        _dealt_out(rng, 5, 6 * k, 6, k, 1, 3),  # h*k = d
        _dealt_out(rng, 5, 7, 2, 1, 4, 2),  # a head each, three equal parts
        _dealt_out(rng, 4, 6, 4, 2, 3, 2),  # tokens can be dealt
    ]


@probe(1.0)
def dealt_and_marked(rng: np.random.Generator) -> list[Case]:
    """no two devices do the same work, and everything that is added up across devices goes through all_reduce, once"""
    plain = [_apart(rng, 2), _apart(rng, 3)]
    marked = [case(normal(rng, n, d), _drawn(rng, d, h, k, v), h, causal(n), p, exchange_between(p, -12.5))
              for p, (n, d, h, k, v) in zip((2, 3), plain, strict=True)]  # fmt: skip
    return [*marked, *(_dealt_out(rng, *_apart(rng, p), p) for p in (2, 3))]


@probe(0.5)
def dealt_under_masks(rng: np.random.Generator) -> list[Case]:
    """other masks than the causal one, and a token that may look at nothing"""
    size = _apart(rng, 2)
    return [
        _dealt_out(rng, *size, 2, keep) for keep in (random_keep(rng, size[0], size[0]), with_empty_row(rng, size[0]))
    ]


@probe(0.25)
def dealt_to_any_width(rng: np.random.Generator) -> list[Case]:
    """the same where p divides neither n nor d"""
    cases = [_dealt_out(rng, *_apart(rng, p, even=False), p) for p in (2, 3)]
    return [*cases, replace(cases[0], harness="accepting")]  # nothing to refuse


@probe(0.25)
def heads_refused(rng: np.random.Generator) -> list[Case]:
    """refuses heads that cannot be dealt evenly, such as 25 over 4"""
    n, d, *_ = _apart(rng, 2)
    few = int(rng.choice([3, 5]))

    def one(n: int, d: int, h: int, k: int, v: int, p: int) -> Case:
        params = _drawn(rng, d, h, k, v)
        return case(normal(rng, n, d), params, h, causal(n), p, exchange_between(p), harness="refusing")

    return [
        one(2, 4, 25, 4, 4, 4),
        one(n, d, few, 2, 2, 2),
        one(n, d, few, 3, 3, 2),  # columns cannot be dealt either
        one(4, d, few, 3, 4, 2),
        one(n, 6, few, 3, 4, 2),
        one(n, d, 6, 4, 4, 4),
        one(n, d, 2, 4, 4, 4),  # more devices than heads
    ]


@probe(0.5)
def dealt_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """one token, one device, a device for each head, scores in the thousands, float32, arrays that are not contiguous"""
    n, d, h, k, v = _apart(rng, 2)
    single, strange = _drawn(rng, d, h, k, v, dtype="float32"), _drawn(rng, d, h, k, v, order="F")
    exchange, strided = exchange_between(2, -12.5), with_layout(random_keep(rng, n, n), "strided")
    return [
        _dealt_out(rng, 1, d, h, k, v, 2),
        _dealt_out(rng, n, d, h, k, v, 1),
        _dealt_out(rng, 3, 8, 4, 5, 7, 4),
        _dealt_out(rng, n, d, h, k, v, 2, scale=30.0),
        case(normal(rng, n, d, dtype="float32"), single, h, causal(n), 2, exchange),
        case(normal(rng, n, d, order="strided"), strange, h, strided, 2, exchange),
    ]


@mistake
def packed_weight_in_blocks(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you cut Wqkv into p equal blocks of columns. It holds all queries, then all keys, then all values, so the first block is mostly
    queries and has no values. Each device needs the columns of its heads out of each of the three."""
    even_share(h, p)
    shards = zip(np.split(params["Wqkv"], p, axis=1), np.split(params["Wo"], p), strict=True)
    return all_reduce([attention_of_heads(X, Wqkv, Wo, h // p, keep) for Wqkv, Wo in shards])


@mistake
def packed_weight_in_blocks_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you cut Wqkv into p equal blocks of columns. It holds all queries, then all keys, then all values: each device
    needs the columns of its heads out of each of the three. Besides, a p that does not divide h is not refused: raise a
    ValueError.
    """
    shards = zip(np.split(params["Wqkv"], p, axis=1), np.split(params["Wo"], p), strict=True)
    return all_reduce([attention_of_heads(X, Wqkv, Wo, h // p, keep) for Wqkv, Wo in shards])


@mistake
def packed_weight_in_blocks_for_all_heads(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """two things. You cut Wqkv into p equal blocks, but it holds all queries, then all keys, then all values: each device needs the
    columns of its heads out of each. And you told each device that it has all h heads; it has h/p."""
    even_share(h, p)
    shards = zip(np.split(params["Wqkv"], p, axis=1), np.split(params["Wo"], p), strict=True)
    return all_reduce([attention_of_heads(X, Wqkv, Wo, h, keep) for Wqkv, Wo in shards])


@mistake
def packed_weight_in_blocks_for_all_heads_not_asked(
    X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce
) -> F:
    """three things. You cut Wqkv into p equal blocks, but it holds all queries, then all keys, then all values. You
    told each device that it has h heads; it has h/p. And a p that does not divide h is not refused with a ValueError.
    """
    shards = zip(np.split(params["Wqkv"], p, axis=1), np.split(params["Wo"], p), strict=True)
    return all_reduce([attention_of_heads(X, Wqkv, Wo, h, keep) for Wqkv, Wo in shards])


def _dealt(params: Params, h: int, p: int) -> list[Heads]:
    even_share(h, p)
    columns = [np.split(W, p, axis=1) for W in queries_keys_values(params["Wqkv"], params["Wo"], h)]
    return list(zip(*columns, np.split(params["Wo"], p), strict=True))


@mistake
def heads_not_counted_anew(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """each of your heads has been cut: its columns make p narrow heads, each with a softmax of its own. A score needs
    all k columns of its head, so heads stay whole: each device has h/p of them.
    """
    own = [(np.concatenate(columns, axis=1), Wo) for *columns, Wo in _dealt(params, h, p)]
    return all_reduce([attention_of_heads(X, Wqkv, Wo, h, keep) for Wqkv, Wo in own])


def _not_asked(
    X: F,
    params: Params,
    h: int,
    keep: B,
    p: int,
    all_reduce: AllReduce,
    three: Sequence[F] | None = None,
    outputs: list[F] | None = None,
    heads: int = 0,
) -> F:
    """Attention as most will write it, without a look at h: from what they take to be the weights of queries, keys and values, the shards of
    Wo, and how many heads each device has."""
    columns = [np.split(W, p, axis=1) for W in three or queries_keys_values(params["Wqkv"], params["Wo"], h)]
    own = zip(*columns, outputs or np.split(params["Wo"], p), strict=True)
    return all_reduce([attention_of_heads(X, np.concatenate(W, axis=1), Wo, heads or h // p, keep) for *W, Wo in own])


@mistake
def heads_not_counted_anew_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """each of your heads has been cut: you told each device that it has all h heads, and it has h/p of them. Besides, a
    p that does not divide h is not refused: raise a ValueError.
    """
    return _not_asked(X, params, h, keep, p, all_reduce, heads=h)


@mistake
def as_many_heads_as_devices(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you told each device that it has p heads. There are p devices, and each of them has h/p heads."""
    own = [(np.concatenate(columns, axis=1), Wo) for *columns, Wo in _dealt(params, h, p)]
    return all_reduce([attention_of_heads(X, Wqkv, Wo, p, keep) for Wqkv, Wo in own])


@mistake
def heads_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you asked about the columns, or did not ask at all. 25 heads of 64 make 1600 columns, 400 for each of 4 devices: that is 6 heads
    and a quarter. Whole heads are dealt: where that does not come out even, refuse with a ValueError."""
    return _not_asked(X, params, h, keep, p, all_reduce)


@mistake
def heads_not_asked_and_one_at_least(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you asked about the columns, or did not ask at all, and gave every device one head at least. With more devices than heads, a piece
    of a head passes for a head. Whole heads are dealt: where that does not come out even, refuse with a ValueError."""
    return _not_asked(X, params, h, keep, p, all_reduce, heads=max(h // p, 1))


@mistake
def all_heads_at_once_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """each of your devices works out all the heads, and what they found is cut, through a head if need be. A device is
    to have the weights of its own heads only. Besides, a p that does not divide h is not refused: raise a ValueError.
    """
    Wq, Wk, Wv = queries_keys_values(params["Wqkv"], params["Wo"], h)
    found = outputs_of_heads(X, Wq, Wk, Wv, h, keep)
    shards = zip(np.split(found, p, axis=1), np.split(params["Wo"], p), strict=True)
    return all_reduce([own @ Wo for own, Wo in shards])


def _added(X: F, own: Heads, heads: int, keep: B, root: float | None = None) -> F:
    """What one device adds to the output."""
    Wq, Wk, Wv, Wo = own
    return np.asarray(outputs_of_heads(X, Wq, Wk, Wv, heads, keep, root) @ Wo)


def _attention_parts(X: F, params: Params, h: int, keep: B, p: int, root: float | None = None) -> list[F]:
    return [_added(X, own, h // p, keep, root) for own in _dealt(params, h, p)]


@mistake
def last_heads_dropped(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """where p does not divide the number of heads, you rounded down, and the last heads are on no device. Refuse with a
    ValueError."""
    k, v = widths(params["Wqkv"], params["Wo"], h)
    dealt = h // p * p
    columns = [
        W[:, : dealt * width]
        for W, width in zip(queries_keys_values(params["Wqkv"], params["Wo"], h), (k, k, v), strict=True)
    ]
    params = {"Wqkv": np.concatenate(columns, axis=1), "Wo": params["Wo"][: dealt * v]}
    return all_reduce(_attention_parts(X, params, dealt, keep, p))


@mistake
def uneven_heads(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """where p does not divide the number of heads, you gave some devices one more than others. That would compute, and the
    others would wait for the slowest. Here it is refused with a ValueError."""
    k, v = widths(params["Wqkv"], params["Wo"], h)
    parts = []
    Wq, Wk, Wv = queries_keys_values(params["Wqkv"], params["Wo"], h)
    for own in np.array_split(np.arange(h), p):
        if not len(own):
            parts.append(np.zeros_like(X))
            continue
        wide, deep = slice(own[0] * k, (own[-1] + 1) * k), slice(own[0] * v, (own[-1] + 1) * v)
        parts.append(_added(X, (Wq[:, wide], Wk[:, wide], Wv[:, deep], params["Wo"][deep]), len(own), keep))
    return all_reduce(parts)


@mistake
def asked_the_width_d(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you asked whether p divides d, the width of a token. d is not cut: every device sees whole tokens, and adds to whole tokens.
    Heads are dealt, so it is h that counts."""
    even_share(X.shape[1], p)
    return last_heads_dropped(X, params, h, keep, p, all_reduce)


@mistake
def asked_how_many_tokens(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you asked whether p divides the number of tokens. Tokens are not dealt: heads are."""
    even_share(len(X), p)
    return last_heads_dropped(X, params, h, keep, p, all_reduce)


@mistake
def asked_the_width_of_a_head(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you asked whether p divides the width of a head. A head stays whole, so its width does not matter: heads are dealt, and it is
    h that counts."""
    even_share(widths(params["Wqkv"], params["Wo"], h)[0], p)
    return last_heads_dropped(X, params, h, keep, p, all_reduce)


def _found(X: F, own: Heads, heads: int, keep: B) -> F:
    """The outputs of one device's heads side by side."""
    Wq, Wk, Wv, _ = own
    return outputs_of_heads(X, Wq, Wk, Wv, heads, keep)


@mistake
def output_weight_whole(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """what you multiply by has rows for the values of all heads, and a device has the values of its own. Either Wo is whole, or you cut
    it by columns. A device needs the rows that its own values meet."""
    return all_reduce([_found(X, own, h // p, keep) @ params["Wo"] for own in _dealt(params, h, p)])


@mistake
def whole_output_weight_for_mha(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you gave each device all of Wo. What it computes for itself from the rows of Wo, the width of a value, comes out
    p times too large, and its columns are cut in the wrong places. A device needs the rows that its own values meet."""
    own = [np.concatenate(columns, axis=1) for *columns, _ in _dealt(params, h, p)]
    return all_reduce([attention_of_heads(X, Wqkv, params["Wo"], h // p, keep) for Wqkv in own])


@mistake
def whole_output_weight_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you gave each device all of Wo. It needs the rows that its own values meet. Besides, a p that does not divide h
    is not refused: raise a ValueError.
    """
    return _not_asked(X, params, h, keep, p, all_reduce, outputs=[params["Wo"]] * p)


@mistake
def columns_of_wo_for_mha(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you gave each device columns of Wo. What it computes for itself from the rows of Wo, the width of a value, comes out p times too
    large then. A device needs the rows that its own values meet."""
    own = [np.concatenate(columns, axis=1) for *columns, _ in _dealt(params, h, p)]
    shards = zip(own, np.split(params["Wo"], p, axis=1), strict=True)
    return all_reduce([attention_of_heads(X, Wqkv, Wo, h // p, keep) for Wqkv, Wo in shards])


@mistake
def packed_below_each_other(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you put the queries, keys and values of a device below each other. A packed weight has them side by side: np.concatenate joins along
    axis 0 unless you tell it the axis."""
    own = [(np.concatenate(columns), Wo) for *columns, Wo in _dealt(params, h, p)]
    return all_reduce([attention_of_heads(X, Wqkv, Wo, h // p, keep) for Wqkv, Wo in own])


def _from_three(X: F, three: list[F], params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """The same, where h has been looked at."""
    even_share(h, p)
    return _not_asked(X, params, h, keep, p, all_reduce, three)


@mistake
def sizes_for_borders(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you told np.split how wide the pieces of Wqkv are. It wants the borders between them: after the queries, and after the keys. As it is,
    your keys are empty, and your values begin where keys should."""
    k, _ = widths(params["Wqkv"], params["Wo"], h)
    return _from_three(X, np.split(params["Wqkv"], [h * k, h * k], axis=1), params, h, keep, p, all_reduce)


@mistake
def sizes_for_borders_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you told np.split how wide the pieces of Wqkv are. It wants the borders between them: after the queries, and
    after the keys. Besides, a p that does not divide h is not refused: raise a ValueError.
    """
    k, _ = widths(params["Wqkv"], params["Wo"], h)
    three = np.split(params["Wqkv"], [h * k, h * k], axis=1)
    return _not_asked(X, params, h, keep, p, all_reduce, three)


@mistake
def three_sizes_for_borders(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you told np.split how wide the three pieces of Wqkv are. It wants the borders between them, of which three pieces have two: after the queries,
    and after the keys. Three borders make four pieces."""
    even_share(h, p)
    k, v = widths(params["Wqkv"], params["Wo"], h)
    Wq, Wk, Wv = np.split(params["Wqkv"], [h * k, h * k, h * v], axis=1)
    return _from_three(X, [Wq, Wk, Wv], params, h, keep, p, all_reduce)


@mistake
def rows_split_for_columns(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you split Wqkv along axis 0, which is what np.split does unless you tell it the axis. Its rows are the features of a token; queries, keys
    and values stand side by side."""
    k, _ = widths(params["Wqkv"], params["Wo"], h)
    return _from_three(X, np.split(params["Wqkv"], [h * k, 2 * h * k]), params, h, keep, p, all_reduce)


@mistake
def values_before_keys(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you took the columns after the queries for values, and the last ones for keys. The order is queries, keys, values."""
    k, v = widths(params["Wqkv"], params["Wo"], h)
    Wq, Wv, Wk = np.split(params["Wqkv"], [h * k, h * (k + v)], axis=1)
    return _from_three(X, [Wq, Wk, Wv], params, h, keep, p, all_reduce)


@mistake
def outputs_added_up(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you added up what the heads found, before Wo. Head 0 of one device and head 0 of another have found different things,
    and Wo has other rows for each. Each device first sends its own through its own rows of Wo; what comes out can be
    added."""
    devices = _dealt(params, h, p)
    summed = all_reduce([_found(X, own, h // p, keep) for own in devices])
    return all_reduce([summed @ own[3] for own in devices])


@mistake
def no_output_weight(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """these are the heads side by side, and Wo has not been applied. Each device has rows of it."""
    return np.concatenate([_found(X, own, h // p, keep) for own in _dealt(params, h, p)], axis=1)


@mistake
def first_rows_of_wo(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """all your devices use the first rows of Wo, those of device 0's heads. Each has rows of its own."""
    devices = _dealt(params, h, p)
    return all_reduce([_added(X, (*own[:3], devices[0][3]), h // p, keep) for own in devices])


@mistake
def shards_of_wo_reversed(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """the heads and the rows of Wo do not belong together: the order of the devices is reversed in one of them."""
    devices = _dealt(params, h, p)
    return all_reduce([_added(X, (*a[:3], b[3]), h // p, keep) for a, b in zip(devices, devices[::-1], strict=True)])


@mistake
def rows_of_wo_like_cards(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you dealt single rows of Wo like cards, one to each device and round again. The values of a head lie next to each other,
    and so do the rows that they meet."""
    devices = _dealt(params, h, p)
    return all_reduce([_added(X, (*own[:3], params["Wo"][r::p]), h // p, keep) for r, own in enumerate(devices)])


def _like_cards(params: Params, h: int, p: int) -> list[Heads]:
    """Device r has heads r, r + p, r + 2p, ..., whole ones."""
    even_share(h, p)
    d = len(params["Wqkv"])
    by_head = [W.reshape(d, h, -1) for W in queries_keys_values(params["Wqkv"], params["Wo"], h)]
    rows = params["Wo"].reshape(h, -1, d)
    columns = [[W[:, r::p].reshape(d, -1) for r in range(p)] for W in by_head]
    return list(zip(*columns, [rows[r::p].reshape(-1, d) for r in range(p)], strict=True))


@mistake
def heads_dealt_like_cards(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you dealt the heads like cards, device 0 the heads 0, p, 2p and so on, and cut Wo into blocks. Either will do, but both
    in the same way: a head meets rows of its own."""
    dealt = zip(_like_cards(params, h, p), np.split(params["Wo"], p), strict=True)
    return all_reduce([_added(X, (*own[:3], Wo), h // p, keep) for own, Wo in dealt])


@mistake
def columns_like_cards(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you dealt single columns like cards, one to each device and round again. The columns of one head lie next to each other:
    dealt like this, every head is torn apart."""
    even_share(h, p)
    columns = [[W[:, r::p] for r in range(p)] for W in queries_keys_values(params["Wqkv"], params["Wo"], h)]
    return all_reduce([_added(X, own, h // p, keep) for own in zip(*columns, np.split(params["Wo"], p), strict=True)])


@mistake
def columns_like_cards_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you dealt single columns like cards, one to each device and round again. The columns of one head lie next to each
    other: dealt like this, every head is torn apart. Besides, a p that does not divide h is not refused: raise a
    ValueError.
    """
    columns = [[W[:, r::p] for r in range(p)] for W in queries_keys_values(params["Wqkv"], params["Wo"], h)]
    own = zip(*columns, np.split(params["Wo"], p), strict=True)
    return all_reduce([attention_of_heads(X, np.concatenate(W, axis=1), Wo, h // p, keep) for *W, Wo in own])


@mistake
def head_after_head(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you read the columns of Wqkv head by head: query, key and value of head 0, then those of head 1. Some models are packed
    like that, so that a plain cut gives each device whole heads. Here all queries come first, then all keys, then all
    values."""
    k, _ = widths(params["Wqkv"], params["Wo"], h)
    d = len(params["Wqkv"])
    by_head = params["Wqkv"].reshape(d, h, -1)
    parts = (by_head[..., :k], by_head[..., k : 2 * k], by_head[..., 2 * k :])
    Wqkv = np.concatenate([part.reshape(d, -1) for part in parts], axis=1)
    return all_reduce(_attention_parts(X, {"Wqkv": Wqkv, "Wo": params["Wo"]}, h, keep, p))


@mistake
def cut_into_thirds(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you cut Wqkv into three equal parts. That fits only where a value is as wide as a key. How wide a value is can be read off
    Wo; what remains of a head's columns is shared by query and key."""
    return _from_three(X, np.split(params["Wqkv"], 3, axis=1), params, h, keep, p, all_reduce)


@mistake
def packed_weight_in_thirds_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you cut Wqkv into three equal parts. That fits only where a value is as wide as a key: Wo tells how wide a value
    is. Besides, a p that does not divide h is not refused: raise a ValueError."""
    return _not_asked(X, params, h, keep, p, all_reduce, np.split(params["Wqkv"], 3, axis=1))


@mistake
def a_third_of_a_head_each(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you gave query, key and value a third each of a head's columns. That fits only where a value is as wide as a key. How wide a value is can be
    read off Wo; what remains of a head's columns is shared by query and key."""
    k = params["Wqkv"].shape[1] // (3 * h)
    return _from_three(X, np.split(params["Wqkv"], [h * k, 2 * h * k], axis=1), params, h, keep, p, all_reduce)


@mistake
def a_third_of_a_head_each_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you gave query, key and value a third each of a head's columns. That fits only where a value is as wide as a key:
    Wo tells how wide a value is. Besides, a p that does not divide h is not refused: raise a ValueError."""
    k = params["Wqkv"].shape[1] // (3 * h)
    three = np.split(params["Wqkv"], [h * k, 2 * h * k], axis=1)
    return _not_asked(X, params, h, keep, p, all_reduce, three)


@mistake
def value_width_from_the_token(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you took the width of a value to be d/h, and gave query and key what remains. Most models are built so, and nothing forces them to. How wide
    a value is can be read off Wo, which has h*v rows."""
    v = X.shape[1] // h
    k = (params["Wqkv"].shape[1] // h - v) // 2
    return _from_three(X, np.split(params["Wqkv"], [h * k, 2 * h * k], axis=1), params, h, keep, p, all_reduce)


@mistake
def borders_of_one_head(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you set the borders in Wqkv for one head, k and 2k. It holds the queries of all h heads before the first key: where do the keys begin, and
    where the values?"""
    k, _ = widths(params["Wqkv"], params["Wo"], h)
    return _from_three(X, np.split(params["Wqkv"], [k, 2 * k], axis=1), params, h, keep, p, all_reduce)


@mistake
def borders_of_one_head_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you set the borders in Wqkv for one head, k and 2k. It holds the queries of all h heads before the first key.
    Besides, a p that does not divide h is not refused: raise a ValueError.
    """
    k, _ = widths(params["Wqkv"], params["Wo"], h)
    three = np.split(params["Wqkv"], [k, 2 * k], axis=1)
    return _not_asked(X, params, h, keep, p, all_reduce, three)


@mistake
def width_of_a_head_from_the_token(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you took the width of a head to be d/h. Most models are built so, and nothing forces them to. The widths are in the
    weights: Wo has h*v rows, Wqkv has h*(2k + v) columns."""
    k = X.shape[1] // h
    return _from_three(X, np.split(params["Wqkv"], [h * k, 2 * h * k], axis=1), params, h, keep, p, all_reduce)


@mistake
def keys_as_wide_as_values(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """your queries and keys are as wide as values. The rows of Wo tell you v, and only v. Of a head's 2k + v columns of Wqkv,
    query and key share what remains when v is taken away."""
    k = len(params["Wo"]) // h
    return _from_three(X, np.split(params["Wqkv"], [h * k, 2 * h * k], axis=1), params, h, keep, p, all_reduce)


@mistake
def keys_as_wide_as_values_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """your queries and keys are as wide as values. Of a head's 2k + v columns of Wqkv, query and key share what remains
    when v is taken away. Besides, a p that does not divide h is not refused: raise a ValueError.
    """
    k = len(params["Wo"]) // h
    three = np.split(params["Wqkv"], [h * k, 2 * h * k], axis=1)
    return _not_asked(X, params, h, keep, p, all_reduce, three)


@mistake
def queries_and_keys_exchanged(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """your queries and keys are exchanged, so every table of scores is turned. The order in Wqkv is queries, keys, values."""
    return all_reduce([_added(X, (k, q, v, o), h // p, keep) for q, k, v, o in _dealt(params, h, p)])


@mistake
def keys_of_device_0(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """all your devices use the keys of device 0. Queries, keys and values, each device has its own of all three."""
    devices = _dealt(params, h, p)
    return all_reduce([_added(X, (q, devices[0][1], v, o), h // p, keep) for q, _, v, o in devices])


@mistake
def values_of_device_0(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """all your devices hand over the values of device 0. Queries, keys and values, each device has its own of all three."""
    devices = _dealt(params, h, p)
    return all_reduce([_added(X, (q, k, devices[0][2], o), h // p, keep) for q, k, _, o in devices])


@mistake
def heads_of_device_0_for_all(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """all your devices do the work of device 0. Is the shard's number left out, or stuck at 0?"""
    return all_reduce([_attention_parts(X, params, h, keep, p)[0]] * p)


@mistake
def heads_of_device_0_alone(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you returned what device 0 has: what its heads add. Either all_reduce was not asked, or what it *returns* was thrown away: here it gives you the sum,
    and leaves your list of parts as it is."""
    return _attention_parts(X, params, h, keep, p)[0]


@mistake
def heads_of_the_last_device_alone(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you returned what the last device has: what the loop left behind. Collect the parts, and have them added up."""
    return _attention_parts(X, params, h, keep, p)[-1]


@misses_the_idea
def added_up_by_hand(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you did not call all_reduce. (With one that adds 100 it shows; else your numbers are right.) You brought together
    what lies on different devices, as parts or as outputs of heads, and that takes an exchange: have all_reduce add
    what the rows of Wo make.
    """
    return np.asarray(sum(_attention_parts(X, params, h, keep, p)))


@mistake
def attention_reduced_twice(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you reduced twice. After the first all-reduce every device has the sum; the second one adds these p equal sums, and the
    result is p times too large."""
    return all_reduce([all_reduce(_attention_parts(X, params, h, keep, p))] * p)


def _single_heads(own: Heads, heads: int) -> list[Heads]:
    *columns, Wo = own
    return list(zip(*(np.split(W, heads, axis=1) for W in columns), np.split(Wo, heads), strict=True))


@mistake
def reduced_head_by_head(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """the number is right, and you exchange once for each head that a device has. A device can add up what its own heads make
    before anybody is asked: one exchange is enough."""
    by_device = [_single_heads(own, h // p) for own in _dealt(params, h, p)]
    total: F = np.zeros_like(X)
    for heads in zip(*by_device, strict=True):
        total = total + all_reduce([_added(X, own, 1, keep) for own in heads])
    return total


@mistake
def a_part_for_each_head(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you gave all_reduce one part for each head. It wants one from each device: a device adds up what its own heads make
    before anybody is asked."""
    heads = [one for own in _dealt(params, h, p) for one in _single_heads(own, h // p)]
    return all_reduce([_added(X, own, 1, keep) for own in heads])


@mistake
def attention_reduced_part_by_part(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """all_reduce takes one list, of all parts, and you gave it something else: one part at a time, several arguments, or what you had
    added up before. All devices take part in one and the same call, and adding up is what it is for."""
    total: F = np.zeros_like(X)
    for part in _attention_parts(X, params, h, keep, p):
        total = total + all_reduce(part)
    return total


@mistake
def attention_reduced_while_collecting(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """all_reduce takes p parts, one from each device, all at once, and yours gets fewer. Either it is one part that holds everything
    already; or you call it before all parts are there, inside the loop over devices perhaps."""
    parts: list[F] = []
    total: F = np.zeros_like(X)
    for part in _attention_parts(X, params, h, keep, p):
        parts.append(part)
        total = all_reduce(parts)
    return total


@mistake
def heads_in_one_part(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you brought the outputs of all heads together before Wo. Laid side by side, they have been exchanged already; added up, different
    heads are mixed. Let each device send its own through its own rows of Wo: what comes out can be added."""
    found = [_found(X, own, h // p, keep) for own in _dealt(params, h, p)]
    return np.asarray(all_reduce([np.concatenate(found, axis=1)]) @ params["Wo"])


@mistake
def outputs_of_tokens_added_together(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you added up once more what all_reduce had added up. It returns one array, the sum of the parts, and Python's sum over that runs along its
    first axis: it adds the tokens together."""
    return np.asarray(sum(all_reduce(_attention_parts(X, params, h, keep, p))))


@mistake
def attention_of_one_device_by_itself(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """where there is one device only, you do not ask all_reduce. The sum of one part is that part; but the code now has
    two ways, of which the second is seldom tried. One device takes part in an all-reduce as well.
    """
    parts = _attention_parts(X, params, h, keep, p)
    return parts[0] if p == 1 else all_reduce(parts)


@mistake
def mean_over_devices(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you took the mean over the devices. Each part is what some heads add to the output: their sum is wanted."""
    return all_reduce(_attention_parts(X, params, h, keep, p)) / p


@mistake
def attention_parts_side_by_side(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you laid the parts side by side, [n, p·d]. Behind Wo, each device has a part of *every* number of the output, and parts
    are added up. (The outputs of heads lie side by side, before Wo.)"""
    return np.concatenate(_attention_parts(X, params, h, keep, p), axis=1)


@mistake
def attention_copy_for_each_device(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> list[F]:
    """you returned the output once for each device. They all have the same after the all-reduce; return it once."""
    return [all_reduce(_attention_parts(X, params, h, keep, p))] * p


@mistake
def mask_forgotten(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you do not use keep: every token sees every other, also where it may not."""
    return all_reduce(_attention_parts(X, params, h, np.ones_like(keep), p))


@mistake
def mask_on_the_first_device(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """only device 0 uses the mask. The heads of all others see everything, and the sum lets it into every output. A mask lies
    whole on every device."""
    first, *others = _dealt(params, h, p)
    everything = np.ones_like(keep)
    return all_reduce([_added(X, first, h // p, keep), *(_added(X, own, h // p, everything) for own in others)])


@mistake
def mask_upside_down(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """your heads attend where keep is False. True means: may attend."""
    return all_reduce(_attention_parts(X, params, h, ~keep, p))


@mistake
def triangle_of_its_own(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you made a causal mask of your own. Which mask it is comes as an argument, keep, and it may be another one."""
    return all_reduce(_attention_parts(X, params, h, np.tril(np.ones_like(keep)), p))


@mistake
def hidden_after_softmax(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you made hidden weights 0 after softmax. The others then no longer add up to 1: what is hidden has to be out before softmax
    divides. The masked_softmax that was carried over does that."""
    parts = []
    for q, k, v, o in _dealt(params, h, p):
        Q, K, V = ((X @ W).reshape(len(X), h // p, -1).swapaxes(0, 1) for W in (q, k, v))
        A = softmax_of_kept(Q @ K.swapaxes(1, 2) / math.sqrt(Q.shape[2]), np.ones_like(keep)) * keep
        parts.append((A @ V).swapaxes(0, 1).reshape(len(X), -1) @ o)
    return all_reduce(parts)


@mistake
def nan_where_nothing_is_seen(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """a token that may look at nothing came out as NaN, and one NaN on one device is NaN on all of them after the sum. The
    masked_softmax that was carried over gives such a row zeros."""
    out = all_reduce(_attention_parts(X, params, h, keep, p))
    return np.where(keep.any(axis=1, keepdims=True), out, np.asarray(np.nan, X.dtype))


@mistake
def scaled_by_root_d(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you divided the scores by √d, the width of a token. A dot product runs over the k numbers of one head's query."""
    return all_reduce(_attention_parts(X, params, h, keep, p, root=math.sqrt(X.shape[1])))


@mistake
def scaled_by_the_share(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you divided the scores by the root of all the columns of queries that a device has. A dot product runs over the k
    numbers of *one* head's query, however many heads lie beside it."""
    k, _ = widths(params["Wqkv"], params["Wo"], h)
    return all_reduce(_attention_parts(X, params, h, keep, p, root=math.sqrt(h // p * k)))


@mistake
def not_scaled(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """your scores are not divided by the root of the width of one head's query."""
    return all_reduce(_attention_parts(X, params, h, keep, p, root=1.0))


@mistake
def one_wide_head_each(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """each of your devices works as one wide head: it makes one table of scores from all its columns. It has h/p heads,
    and each of them needs a table, and a softmax, of its own.
    """
    return all_reduce([_added(X, own, 1, keep) for own in _dealt(params, h, p)])


@mistake
def one_wide_head_each_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """where several heads lie on a device, yours works as one wide head: each head needs a table, and a softmax, of its
    own. Besides, a p that does not divide h is not refused: raise a ValueError.
    """
    return _not_asked(X, params, h, keep, p, all_reduce, heads=1)


@mistake
def tokens_in_pieces(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you dealt the tokens to the devices. No token then sees one on another device, and every device needs all weights. Deal
    the heads: each device sees all tokens."""
    even_share(h, p)
    pieces = np.split(np.arange(len(X)), p)
    parts = [attention_of_heads(X[own], params["Wqkv"], params["Wo"], h, keep[np.ix_(own, own)]) for own in pieces]
    return np.concatenate(parts)


@mistake
def all_heads_everywhere(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """each of your devices works through all the heads, and then they are added up: p times too much, and nothing was
    shared. Each is to have some of the heads.
    """
    even_share(h, p)
    return all_reduce([attention_of_heads(X, params["Wqkv"], params["Wo"], h, keep)] * p)


@misses_the_idea
def all_heads_everywhere_and_the_mean(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """each of your devices works through all the heads, and their mean is taken. The number is right, and nothing was
    shared: each device needs all the weights. Each is to have some of the heads.
    """
    even_share(h, p)
    return all_reduce([attention_of_heads(X, params["Wqkv"], params["Wo"], h, keep)] * p) / p


@misses_the_idea
def a_share_of_all_heads(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """each of your devices works through all the heads, and hands in a p-th of the result. The number is right, and
    nothing was shared: each device needs all the weights. Each is to have some of the heads, and what it hands in is
    what they add.
    """
    even_share(h, p)
    return all_reduce([attention_of_heads(X, params["Wqkv"], params["Wo"], h, keep) / p] * p)


@misses_the_idea
def a_share_of_all_heads_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """each of your devices works through all the heads, and hands in a p-th of the result. The number is right, and
    nothing was shared. Each is to have some of the heads. Besides, a p that does not divide h is not refused: raise a
    ValueError.
    """
    return all_reduce([attention_of_heads(X, params["Wqkv"], params["Wo"], h, keep) / p] * p)


@mistake
def biased_attention(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you added b2. It belongs to the FFN; attention has no bias here, and needs nothing of params but Wqkv and Wo."""
    return all_reduce(_attention_parts(X, params, h, keep, p)) + params["b2"]


@mistake
def normed_attention(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you normed the tokens first. The block does that before it calls; here X is attended to as it comes, and nothing of
    params is needed but Wqkv and Wo."""
    centred = X - X.mean(axis=1, keepdims=True)
    T1 = params["gain1"] * centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) + params["bias1"]
    return all_reduce(_attention_parts(T1.astype(X.dtype), params, h, keep, p))


@mistake
def residual_added(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you added the tokens to the result. That is the residual, and it is the block that adds it, once, later on."""
    return X + all_reduce(_attention_parts(X, params, h, keep, p))


@mistake
def attention_in_float64(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part: np.zeros makes
    one, and so do astype(float) and numpy's root of a whole number."""
    room = np.zeros((p, *X.shape))
    room[:] = _attention_parts(X, params, h, keep, p)
    return all_reduce(list(room))


@mistake
def shards_put_into_params(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """the output is right, and params is not what it was: you put shards into it. The caller still needs the whole weights.
    Give the shards names of their own, or put them into a new dictionary."""
    own = [(np.concatenate(columns, axis=1), Wo) for *columns, Wo in _dealt(params, h, p)]
    parts = []
    for params["Wqkv"], params["Wo"] in own:
        parts.append(attention_of_heads(X, params["Wqkv"], params["Wo"], h // p, keep))
    return all_reduce(parts)


@mistake
def columns_of_all_three_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you asked whether the columns of Wqkv can be dealt evenly, and they may be where h is not a multiple of p. It is whole heads that are dealt: ask h."""
    even_share(params["Wqkv"].shape[1], p)
    return last_heads_dropped(X, params, h, keep, p, all_reduce)


@mistake
def only_more_devices_than_heads_refused(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you refuse where there are more devices than heads, and there alone. What is asked is whether p divides h."""
    if p > h:
        raise ValueError("too few heads")
    return uneven_heads(X, params, h, keep, p, all_reduce)


@mistake
def more_devices_than_heads_refused_and_the_rest_dropped(
    X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce
) -> F:
    """you refuse where there are more devices than heads, and there alone; elsewhere you rounded down, and the last heads are on no device. What is asked is whether p divides
    h."""
    if p > h:
        raise ValueError("too few heads")
    return last_heads_dropped(X, params, h, keep, p, all_reduce)


@mistake
def width_of_a_token_refused_as_well(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you refuse where p does not divide d, besides h. d is not cut: every device sees whole tokens, and adds to whole tokens. It may be anything."""
    even_share(X.shape[1], p)
    return all_reduce(_attention_parts(X, params, h, keep, p))


@mistake
def number_of_tokens_refused_as_well(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you refuse where p does not divide the number of tokens, besides h. Tokens are not dealt: there may be any number of them."""
    even_share(len(X), p)
    return all_reduce(_attention_parts(X, params, h, keep, p))


@mistake
def heads_asserted(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you refuse with an assertion. Python leaves these out when it is asked to hurry (`python -O`), and whoever calls expects a ValueError."""
    assert h % p == 0
    return all_reduce(_attention_parts(X, params, h, keep, p))


@mistake
def no_output_where_it_should_refuse(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F | None:
    """where p does not divide h you return None. Whoever called goes on with that, and stumbles later: raise a ValueError."""
    return all_reduce(_attention_parts(X, params, h, keep, p)) if h % p == 0 else None


@mistake
def heads_error_returned(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> object:
    """where p does not divide h you *return* a ValueError. An error stops whoever called only if it is raised."""
    return all_reduce(_attention_parts(X, params, h, keep, p)) if h % p == 0 else ValueError("not evenly")


def _in_slices(
    X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce, starts: tuple[int, int, int], k: int, v: int
) -> F:
    """Each device's columns of Wqkv by three slices, which begin at these columns and go on by k, k and v for each head."""
    even_share(h, p)
    Wqkv, few = params["Wqkv"], h // p
    parts = []
    for r, Wo in enumerate(np.split(params["Wo"], p)):
        pieces = [Wqkv[:, at + r * few * w : at + (r + 1) * few * w] for at, w in zip(starts, (k, k, v), strict=True)]
        parts.append(attention_of_heads(X, np.concatenate(pieces, axis=1), Wo, few, keep))
    return all_reduce(parts)


@mistake
def slices_as_wide_as_a_token(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you took the width of a query, a key and a value to be d/h. Most models are built so, but need not be: Wo has h*v
    rows, Wqkv has h*(2k + v) columns. (mha, given too few columns, finds k = 0, and 0/0 is NaN.)"""
    k = X.shape[1] // h
    return _in_slices(X, params, h, keep, p, all_reduce, (0, h * k, 2 * h * k), k, k)


@mistake
def values_cut_where_keys_are(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you cut the values at the borders of the keys, k columns for each head. A value is v wide, and v need not be k."""
    k, _ = widths(params["Wqkv"], params["Wo"], h)
    return _in_slices(X, params, h, keep, p, all_reduce, (0, h * k, 2 * h * k), k, k)


@mistake
def values_begin_where_keys_should_end_by_v(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """your keys or values begin in the wrong place: before the values stand the queries and the keys of all heads, h*k columns each."""
    k, v = widths(params["Wqkv"], params["Wo"], h)
    return _in_slices(X, params, h, keep, p, all_reduce, (0, h * k, h * (k + v)), k, v)


@mistake
def queries_values_keys_packed(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you packed queries, values, keys for each device. mha takes what comes second for keys: the order is queries, keys, values."""
    return all_reduce(
        [
            attention_of_heads(X, np.concatenate([q, v, k], axis=1), o, h // p, keep)
            for q, k, v, o in _dealt(params, h, p)
        ]
    )


@mistake
def packed_columns_like_cards(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you took every p-th column of Wqkv as it stands, and every p-th row of Wo perhaps. That deals single features out, and tears every head apart: a head's columns lie next to each
    other, in each of the three."""
    even_share(h, p)
    Wqkv, Wo = params["Wqkv"], params["Wo"]
    return all_reduce([attention_of_heads(X, Wqkv[:, r::p], Wo[r::p], h // p, keep) for r in range(p)])


@misses_the_idea
def outputs_exchanged_before_wo(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you exchanged what the heads found, and multiplied by all of Wo afterwards. A device has only the rows of Wo that
    its own heads meet; what comes out behind them is added up. (One all_reduce here adds 100, and that must not go
    through Wo.)
    """
    _, v = widths(params["Wqkv"], params["Wo"], h)
    parts = []
    for r, own in enumerate(_dealt(params, h, p)):
        part = np.zeros((len(X), h * v), X.dtype)
        part[:, r * (h // p) * v : (r + 1) * (h // p) * v] = _found(X, own, h // p, keep)
        parts.append(part)
    return np.asarray(all_reduce(parts) @ params["Wo"])


@mistake
def two_halves_of_the_heads(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you made two parts, whatever p is. There are p devices, and each has h/p heads."""
    even_share(h, p)
    half = h // 2
    if h % 2:
        return uneven_heads(X, params, h, keep, 2, all_reduce)
    return all_reduce([_added(X, own, half, keep) for own in _dealt(params, h, 2)])


@mistake
def packed_anew_in_params(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """the output is right, and params is not what it was: you put its columns in another order, in place. The caller still needs them as they were: make a new array."""
    own = [np.concatenate(columns, axis=1) for *columns, _ in _dealt(params, h, p)]
    result = all_reduce(_attention_parts(X, params, h, keep, p))
    params["Wqkv"] = np.concatenate(own, axis=1)
    return result


@mistake
def queries_scaled_in_params(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """the output is right, and you divided the caller's columns of queries by √k, in place. At the next call they are divided again: scale the scores."""
    result = all_reduce(_attention_parts(X, params, h, keep, p))
    k, _ = widths(params["Wqkv"], params["Wo"], h)
    params["Wqkv"][:, : h * k] /= math.sqrt(k)
    return result


@mistake
def packed_weight_in_blocks_and_the_mean(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """two things. You cut Wqkv into p equal blocks of columns: it holds all queries, then all keys, then all values, and each device needs columns out of each of the three. And you
    took the mean over the devices: each part is a term of the sum."""
    even_share(h, p)
    shards = zip(np.split(params["Wqkv"], p, axis=1), np.split(params["Wo"], p), strict=True)
    return all_reduce([attention_of_heads(X, Wqkv, Wo, h // p, keep) for Wqkv, Wo in shards]) / p


@mistake
def added_up_by_hand_without_the_mask(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """two things. You do not use keep: every token sees every other, also where it may not. And you added the parts up yourself: they lie
    on different devices, and only all_reduce brings them together."""
    return np.asarray(sum(_attention_parts(X, params, h, np.ones_like(keep), p)))


@mistake
def added_up_by_hand_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """two things. You added the parts up yourself, or worked out all heads at once: what lies on different devices is brought together by
    all_reduce alone. And heads that cannot be dealt evenly are not refused with a ValueError."""
    return np.asarray(attention_of_heads(X, params["Wqkv"], params["Wo"], h, keep))


@mistake
def mean_over_devices_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """two things. You took the mean over the devices: each part is what some heads add, and their sum is wanted. And heads that cannot be dealt evenly are not refused with a ValueError."""
    return uneven_heads(X, params, h, keep, p, all_reduce) / p


@mistake
def softmax_over_queries(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """your softmax runs over the queries. It runs over the keys, the last axis of a table of scores; the masked_softmax that was carried over does that."""
    parts = []
    for q, k, v, o in _dealt(params, h, p):
        Q, K, V = ((X @ W).reshape(len(X), h // p, -1).swapaxes(0, 1) for W in (q, k, v))
        A = softmax_of_kept((Q @ K.swapaxes(1, 2) / math.sqrt(Q.shape[2])).swapaxes(1, 2), keep.T).swapaxes(1, 2)
        parts.append((A @ V).swapaxes(0, 1).reshape(len(X), -1) @ o)
    return all_reduce(parts)


@equivalent(
    "only parts and their sum cross between devices, and these parts are the same: who worked out which heads cannot be seen"
)
def heads_worked_out_by_everybody(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """each of your devices works out all the heads, and takes what it needs of them. It is to have the weights of its
    own heads only.
    """
    even_share(h, p)
    Wq, Wk, Wv = queries_keys_values(params["Wqkv"], params["Wo"], h)
    found = outputs_of_heads(X, Wq, Wk, Wv, h, keep)
    shards = zip(np.split(found, p, axis=1), np.split(params["Wo"], p), strict=True)
    return all_reduce([own @ Wo for own, Wo in shards])


@right
def mha_tp_with_mha(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    own = [(np.hstack(columns), Wo) for *columns, Wo in _dealt(params, h, p)]
    return all_reduce([attention_of_heads(X, Wqkv, Wo, h // p, keep) for Wqkv, Wo in own])


@right
def mha_tp_by_slices(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    if h % p:
        raise ValueError("heads cannot be dealt evenly")
    Wqkv, Wo = params["Wqkv"], params["Wo"]
    k, v = widths(params["Wqkv"], params["Wo"], h)
    few = h // p
    parts = []
    for r in range(p):
        queries = Wqkv[:, r * few * k : (r + 1) * few * k]
        keys = Wqkv[:, h * k + r * few * k : h * k + (r + 1) * few * k]
        values = Wqkv[:, 2 * h * k + r * few * v : 2 * h * k + (r + 1) * few * v]
        parts.append(_added(X, (queries, keys, values, Wo[r * few * v : (r + 1) * few * v]), few, keep))
    return all_reduce(parts)


@right
def mha_tp_head_by_head(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    parts = []
    for own in _dealt(params, h, p):
        part = np.zeros_like(X)
        for q, k, v, o in _single_heads(own, h // p):
            part += softmax_of_kept(X @ q @ (X @ k).T / q.shape[1] ** 0.5, keep) @ (X @ v) @ o
        parts.append(part)
    return all_reduce(parts)


@right
def mha_tp_dealt_like_cards(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    return all_reduce([_added(X, own, h // p, keep) for own in _like_cards(params, h, p)])


@right
def mha_tp_by_einsum(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    if h % p:
        raise ValueError("heads cannot be dealt evenly")
    d = X.shape[1]
    Q, K, V = (
        np.einsum("nd,dpix->pinx", X, W.reshape(d, p, h // p, -1))
        for W in queries_keys_values(params["Wqkv"], params["Wo"], h)
    )
    A = softmax_of_kept(np.einsum("pinx,pimx->pinm", Q, K) / math.sqrt(Q.shape[-1]), keep)
    parts = np.einsum("pinm,pimx,pixd->pnd", A, V, params["Wo"].reshape(p, h // p, -1, d))
    return all_reduce(list(parts))


@right
def mha_tp_by_torch(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    import torch

    x, hidden = torch.from_numpy(X.copy()), ~torch.from_numpy(keep.copy())
    parts = []
    for own in _dealt(params, h, p):
        q, k, v, o = (torch.from_numpy(W.copy()) for W in own)
        queries, keys, values = ((x @ W).reshape(len(X), h // p, -1).transpose(0, 1) for W in (q, k, v))
        A = torch.softmax((queries @ keys.mT / queries.shape[2] ** 0.5).masked_fill(hidden, -torch.inf), dim=-1)
        A = A.masked_fill(hidden.all(dim=1, keepdim=True), 0.0)
        parts.append(((A @ values).transpose(0, 1).flatten(1) @ o).numpy())
    return all_reduce(parts)
