"""A whole block on several processes, with two all-reduces.

A rank with whole heads and whole hidden features can go through attention, and through the FFN, alone; only what
leaves `Wo` and `W2` are terms of a sum, so there are two meetings. They cannot be one, because the second LayerNorm
needs all of T3. What each rank has already, `X`, T3 and `b2`, is added after the sum, or it would count p times.
`all_reduce` works in place and returns None; `torch.from_numpy` shares memory, so the array itself becomes the sum,
where `torch.tensor` would sum a copy. A rank refuses before it sends anything, or the others would wait for it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float

from autograder.exercises.inputs import causal, normal, sizes
from autograder.exercises.model import B, Case, F, case, equivalent, misses_the_idea, mistake, probe, right
from autograder.exercises.parts import (
    Act,
    attention_of_heads,
    head_for_token,
    norm1,
    norm2,
    normalised_rows,
    normed_token,
    outputs_of_heads,
    queries_keys_values,
    who_sees_whom,
    widths,
)
from course import ranks
from course.parameters import Params
from course.trial.tellings import BENT, SENT
from course.trial.values import with_layout


def parallel_block(
    rank: int,
    p: int,
    X: Float[np.ndarray, "n d"],
    params: dict[str, Float[np.ndarray, "..."]],
    h: int,
    keep: Bool[np.ndarray, "n n"],
    eps: float,
    act: Callable[[np.ndarray], np.ndarray],
) -> Float[np.ndarray, "n d"]:
    """Each rank adds up what its heads, and then its hidden features, give; twice the sums of all ranks are added up."""
    f = len(params["b1"])
    if h % p or f % p:
        raise ValueError(f"{p} ranks, {h} heads, {f} hidden features")
    T1 = np.array([normed_token(x, params["gain1"], params["bias1"], eps) for x in X])
    T2 = np.zeros(X.shape)
    for a in range(rank * h // p, (rank + 1) * h // p):
        for i in range(len(X)):
            T2[i] += head_for_token(i, a, T1, params["Wqkv"], params["Wo"], h, keep)
    ranks.all_reduce(torch.from_numpy(T2))
    T3 = T2 + X
    T4 = np.array([normed_token(t, params["gain2"], params["bias2"], eps) for t in T3])
    T5 = np.zeros(X.shape)
    for u in range(rank * f // p, (rank + 1) * f // p):
        for i, t in enumerate(T4):
            hidden = sum(x * w for x, w in zip(t, params["W1"][:, u], strict=True)) + params["b1"][u]
            T5[i] += act(np.array([hidden]))[0] * params["W2"][u]
    ranks.all_reduce(torch.from_numpy(T5))
    return T5 + params["b2"] + T3


def _parameters(
    rng: np.random.Generator, d: int, h: int, k: int, v: int, f: int, dtype: str = "float64", order: str = "C"
) -> Params:
    """A block's parameters: scores with a spread of about 2, biases that are not 0, and two norms that differ."""
    Wqkv = np.hstack([normal(rng, d, 2 * h * k, scale=math.sqrt(2 / d)), normal(rng, d, h * v, scale=1 / math.sqrt(d))])
    drawn = {
        "Wqkv": Wqkv,
        "Wo": normal(rng, h * v, d, scale=1.5 / math.sqrt(h * v)),
        "W1": normal(rng, d, f, scale=1.5 / math.sqrt(d)),
        "b1": normal(rng, f),
        "W2": normal(rng, f, d, scale=1 / math.sqrt(f)),
        "b2": normal(rng, d),
        "gain1": 1 + normal(rng, d, scale=0.3),
        "bias1": normal(rng, d),
        "gain2": 1 + normal(rng, d, scale=0.3),
        "bias2": normal(rng, d),
    }
    return {name: with_layout(array.astype(dtype), order) for name, array in drawn.items()}


def _owners(p: int, h: int, params: Params) -> dict[str, np.ndarray]:
    """For each weight that is shared out, the rank that holds a column or, standing upright, a row."""
    k, v = widths(params["Wqkv"], params["Wo"], h)
    f = len(params["b1"])
    queries, values, hidden = (np.arange(width) * p // width for width in (h * k, h * v, f))
    return {
        "Wqkv": np.concatenate([queries, queries, values]),
        "Wo": values[:, None],
        "W1": hidden,
        "b1": hidden,
        "W2": hidden[:, None],
    }


def _sizes(rng: np.random.Generator, p: int, even: bool = True) -> tuple[int, ...]:
    """n, d, h, k, v, f: pairwise distinct, two heads a rank; d is a multiple of p if it is to be even."""
    h, f = 2 * p, 5 * p
    d = int(rng.choice([size for size in range(5, 13) if size not in (h, f) and (p == 1 or (size % p == 0) is even)]))
    others = [size for size in range(2, 9) if size not in (h, f, d) and h * size != d]
    n, k, v = (int(size) for size in rng.permutation(others)[:3])
    return n, d, h, k, v, f


def _case(
    rng: np.random.Generator,
    p: int,
    act: str,
    keep: B | None = None,
    size: tuple[int, ...] | None = None,
    harness: str = "processes",
    owned: tuple[str, ...] = (),
    dtype: str = "float64",
    order: str = "C",
    b2: bool = False,
) -> Case:
    """A block for p processes; causal, if no mask is given, and with a b2 of zeros, if no other is asked for."""
    n, d, h, k, v, f = size or _sizes(rng, p)
    X, params = normal(rng, n, d, scale=2.0, dtype=dtype, order=order), _parameters(rng, d, h, k, v, f, dtype, order)
    if not b2:
        params["b2"] = np.zeros_like(params["b2"])
    owners = _owners(p, h, params)
    more = [{name: owners[name] for name in owned}] if owned else []
    return case(p, X, params, h, causal(n) if keep is None else keep, 0.1, act, *more, harness=harness)


OF_ATTENTION, OF_FFN = ("Wqkv", "Wo"), ("W1", "b1", "W2")


def _rounded(argument: Any) -> Any:
    """Numbers of two decimals, for those who read them."""
    if isinstance(argument, dict):
        return {name: _rounded(array) for name, array in argument.items()}
    return argument.round(2) if isinstance(argument, np.ndarray) and argument.dtype.kind == "f" else argument


def _public() -> tuple[Case, ...]:
    rng = np.random.default_rng(10)
    cases = [
        _case(rng, 1, "relu", size=(2, 3, 1, 1, 2, 2), b2=True),
        _case(rng, 2, "relu", size=(2, 3, 2, 1, 2, 4), b2=True),
        _case(rng, 2, "tanh", who_sees_whom(rng, 3), (3, 5, 4, 2, 6, 10), b2=True),
        _case(rng, 2, "tanh", size=(4, 4, 4, 2, 2, 12), b2=True),
        *(
            _case(rng, 2, "tanh", size=(2, 3, 4, 1, 2, 6), harness="shards", owned=names, b2=True)
            for names in (OF_ATTENTION, OF_FFN)
        ),
        _case(rng, 2, "relu", size=(2, 3, 3, 1, 2, 4), harness="refusals", b2=True),
        _case(rng, 2, "relu", size=(2, 3, 2, 1, 2, 3), harness="refusals", b2=True),
        _case(rng, 3, "tanh", size=(2, 5, 3, 1, 4, 9), b2=True),
        _case(rng, 2, "tanh", size=(2, 3, 2, 1, 2, 6), dtype="float32", b2=True),
        _case(rng, 2, "tanh", size=(2, 4, 2, 1, 3, 6), harness="twice", b2=True),
        _case(
            rng,
            3,
            "tanh",
            size=(5, 6, 6, 4, 2, 12),
            harness="shards",
            owned=OF_ATTENTION + OF_FFN,
            order="strided",
            b2=True,
        ),
    ]
    return tuple(Case(tuple(map(_rounded, one.arguments)), one.harness) for one in cases)


PUBLIC = _public()


ALL = OF_ATTENTION + OF_FFN
_shared = partial(_case, harness="shards", owned=ALL)


@probe(0.25, part="H")
def blocks(rng: np.random.Generator) -> list[Case]:
    """two processes return the H of the whole block, all sizes different"""
    size = _sizes(rng, 2)
    return [_case(rng, 2, "tanh"), _case(rng, 2, "relu", np.ones((size[0], size[0]), bool), size)]


@probe(0.5, part="H")
def one_output_bias(rng: np.random.Generator) -> list[Case]:
    """b2 is in H once"""
    return [_case(rng, 2, "tanh", b2=True), _case(rng, 3, "relu", b2=True)]


@probe(1.0, part="H")
def shards_alone(rng: np.random.Generator) -> list[Case]:
    """each rank needs its own shards and no others, and works on no more hidden features than its share"""
    each = [_case(rng, 2, "tanh", harness="shards", owned=names) for names in (OF_ATTENTION, OF_FFN)]
    return [*each, _shared(rng, 3, "relu")]


@probe(0.25, part="H")
def more_and_fewer(rng: np.random.Generator) -> list[Case]:
    """one process, three, and as many as there are heads; and a second call with other weights"""
    n, k, v = sizes(rng, 3, 2, 5)
    many = _shared(rng, 4, "tanh", size=(n, 12, 4, k, v, 4))  # a head, and a hidden feature, each
    return [_case(rng, 1, "tanh"), _shared(rng, 3, "relu"), many, _case(rng, 2, "tanh", harness="twice")]


@probe(0.25, part="H")
def sizes_that_coincide(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide, and where p does not divide d"""
    # Heads that could be cut further, and n = d = h * k = h * v.
    return [
        _shared(rng, 2, "tanh", size=(3, 5, 4, 2, 6, 10)),
        _shared(rng, 2, "relu", size=(8, 8, 4, 2, 2, 12)),
        _shared(rng, 2, "tanh", size=_sizes(rng, 2, even=False)),
        _shared(rng, 2, "tanh", size=(2, 3, 4, 1, 2, 6)),  # cut by columns, Wo fits one of the ranks and not the other
    ]


@probe(0.5, part="H")
def masks_and_number_types(rng: np.random.Generator) -> list[Case]:
    """a mask with gaps, one token alone, float32, arrays that are not contiguous"""
    size = _sizes(rng, 2)
    return [
        _shared(rng, 2, "tanh", who_sees_whom(rng, size[0]), size),
        _shared(rng, 2, "relu", size=(1, *size[1:])),
        _shared(rng, 2, "tanh", dtype="float32"),
        _shared(rng, 2, "tanh", order="strided"),
        _shared(rng, 2, "relu", order="F"),
    ]


@probe(0.25)
def not_evenly(rng: np.random.Generator) -> list[Case]:
    """refuses, on every rank and before anything is sent, what cannot be shared out evenly"""
    n, d, h, k, v, f = _sizes(rng, 2)
    return [
        _case(rng, 2, "tanh", size=(n, d, 3, k, v, f), harness="refusals"),
        _case(rng, 2, "tanh", size=(n, d, h, k, v, f + 1), harness="refusals"),
        _case(rng, 4, "relu", size=(n, d, 25, 1, 2, 8), harness="refusals"),
    ]


@probe(0.75, part=SENT)
def one_block(rng: np.random.Generator) -> list[Case]:
    """two all-reduces, and no other collective"""
    return [_case(rng, 2, "tanh", size=(2, 6, 4, 3, 5, 10))]


@probe(0.25, part=BENT)
def rooms_of_one_block(rng: np.random.Generator) -> list[Case]:
    """no rank works on more hidden features than its share"""
    return one_block(rng)


def _refuse(p: int, params: Params, h: int) -> None:
    if h % p or len(params["b1"]) % p:
        raise ValueError("not evenly")


def _share(rank: int, p: int, width: int) -> slice:
    return slice(rank * width // p, (rank + 1) * width // p)


def _columns(rank: int, p: int, params: Params, h: int) -> F:
    """The rank's queries, keys and values in Wqkv."""
    return np.hstack([W[:, _share(rank, p, W.shape[1])] for W in queries_keys_values(params["Wqkv"], params["Wo"], h)])


def _rows(rank: int, p: int, W: F) -> F:
    return W[_share(rank, p, len(W))]


def _attended(rank: int, p: int, T1: F, params: Params, h: int, keep: B) -> F:
    """The rank's part of T2."""
    Wqkv, Wo = _columns(rank, p, params, h), _rows(rank, p, params["Wo"])
    return attention_of_heads(T1, Wqkv, Wo, h // p, keep)


def _bent(rank: int, p: int, T4: F, params: Params, act: Act) -> F:
    """The rank's hidden features, after the activation."""
    own = _share(rank, p, len(params["b1"]))
    return np.asarray(act(T4 @ params["W1"][:, own] + params["b1"][own]))


def _fed(rank: int, p: int, T4: F, params: Params, act: Act) -> F:
    """The rank's part of T5, without b2."""
    return np.asarray(_bent(rank, p, T4, params, act) @ _rows(rank, p, params["W2"]))


def _summed(part: F) -> F:
    total = np.ascontiguousarray(part)
    ranks.all_reduce(torch.from_numpy(total))
    return total


def _second_half(rank: int, p: int, T3: F, params: Params, eps: float, act: Act) -> F:
    """H, as it should be."""
    return np.asarray(_summed(_fed(rank, p, norm2(T3, params, eps), params, act)) + params["b2"] + T3)


@mistake
def uses_what_all_reduce_returns(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you went on with what all_reduce returns. It returns None: the sum lies in the tensor that you handed over,
    and so in the array that shares its memory."""
    _refuse(p, params, h)
    T2: Any = _attended(rank, p, norm1(X, params, eps), params, h, keep)
    T2 = ranks.all_reduce(torch.from_numpy(T2))  # type: ignore[func-returns-value]
    return _second_half(rank, p, T2 + X, params, eps, act)


@mistake
def adds_what_all_reduce_returns_to_X(
    rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act
) -> F:
    """you added what all_reduce returns to X. It returns None: the sum lies in the tensor that you handed over, and
    so in the array that shares its memory."""
    _refuse(p, params, h)
    T2: Any = _attended(rank, p, norm1(X, params, eps), params, h, keep)
    T2 = ranks.all_reduce(torch.from_numpy(T2))  # type: ignore[func-returns-value]
    return _second_half(rank, p, X + T2, params, eps, act)


def _first_half(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float) -> F:
    """T3, as it should be."""
    _refuse(p, params, h)
    return np.asarray(_summed(_attended(rank, p, norm1(X, params, eps), params, h, keep)) + X)


@mistake
def returns_what_all_reduce_returns(
    rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act
) -> F:
    """you returned what all_reduce returns, and it returns None: the sum lies in the tensor that you handed over.
    b2 and the residual come after it."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    T5 = _fed(rank, p, norm2(T3, params, eps), params, act) + params["b2"] + T3
    return ranks.all_reduce(torch.from_numpy(T5))  # type: ignore[func-returns-value, return-value]


@mistake
def adds_up_copies(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the sums are made, and you do not use them. torch.tensor makes a copy, and the copy holds the sum; your own
    array is still this rank's part. torch.from_numpy shares the memory."""
    _refuse(p, params, h)
    T2 = _attended(rank, p, norm1(X, params, eps), params, h, keep)
    ranks.all_reduce(torch.tensor(T2))
    T3 = T2 + X
    T5 = _fed(rank, p, norm2(T3, params, eps), params, act)
    ranks.all_reduce(torch.tensor(T5))
    return np.asarray(T5 + params["b2"] + T3)


@mistake
def no_sums(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """no part is ever added to the others: each rank ends with another H, made of its own heads and its own hidden
    features. The ranks have to meet twice.
    """
    _refuse(p, params, h)
    T3 = _attended(rank, p, norm1(X, params, eps), params, h, keep) + X
    return np.asarray(_fed(rank, p, norm2(T3, params, eps), params, act) + params["b2"] + T3)


@mistake
def no_first_sum(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """what the heads of the other ranks have found is missing from T3. A rank's part of T2 is of the right shape,
    and it is only a part: the ranks have to meet before the residual is added."""
    _refuse(p, params, h)
    T3 = _attended(rank, p, norm1(X, params, eps), params, h, keep) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def no_second_sum(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """T5 is only this rank's part: what the hidden features of the other ranks give is missing. After W2 the ranks
    have to meet a second time."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    return np.asarray(_fed(rank, p, norm2(T3, params, eps), params, act) + params["b2"] + T3)


@mistake
def one_sum_at_the_end(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """your FFN reads what attention found on its own rank alone, and the parts are added up only at the end. The second
    LayerNorm reads the sum T3, whole: the first all-reduce has to come before it.
    """
    _refuse(p, params, h)
    T2 = _attended(rank, p, norm1(X, params, eps), params, h, keep)
    T5 = _fed(rank, p, norm2(T2 + X, params, eps), params, act)
    return np.asarray(_summed(T2 + T5) + params["b2"] + X)


@mistake
def sums_H(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you added T3 and b2 to the part before the second all-reduce. T3 is whole on every rank already, so it is
    added up p times, and b2 too. Only parts are summed."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    return _summed(_fed(rank, p, norm2(T3, params, eps), params, act) + params["b2"] + T3)


@mistake
def second_residual_on_every_rank(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you added T3 to the part before the second all-reduce. T3 is whole on every rank already, so it is added up p
    times."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    return np.asarray(_summed(_fed(rank, p, norm2(T3, params, eps), params, act) + T3) + params["b2"])


@mistake
def first_residual_on_every_rank(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you added X to the part before the first all-reduce. Every rank has all of X, so it is added up p times."""
    _refuse(p, params, h)
    T3 = _summed(_attended(rank, p, norm1(X, params, eps), params, h, keep) + X)
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def both_residuals_on_every_rank(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you added the residual to the part before each of the two all-reduces. X and T3 are whole on every rank, so
    they are added up p times. Only parts are summed."""
    _refuse(p, params, h)
    T3 = _summed(_attended(rank, p, norm1(X, params, eps), params, h, keep) + X)
    return np.asarray(_summed(_fed(rank, p, norm2(T3, params, eps), params, act) + T3) + params["b2"])


@mistake
def residuals_and_b2_on_every_rank(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you added X to the first part, and T3 and b2 to the second, before the all-reduces. All of them are whole on
    every rank, so they are added up p times. Only parts are summed."""
    _refuse(p, params, h)
    T3 = _summed(_attended(rank, p, norm1(X, params, eps), params, h, keep) + X)
    return _summed(_fed(rank, p, norm2(T3, params, eps), params, act) + params["b2"] + T3)


@mistake
def b2_on_every_rank(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """b2 is in the sum p times, once for each rank: you added it to the part before the all-reduce. It belongs to the
    block, not to a rank.
    """
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    return np.asarray(_summed(_fed(rank, p, norm2(T3, params, eps), params, act) + params["b2"]) + T3)


@mistake
def b2_left_out(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """b2 is missing. It is not shared out: it is added once, to the sum."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    return np.asarray(_summed(_fed(rank, p, norm2(T3, params, eps), params, act)) + T3)


@mistake
def sums_T5_twice(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """T5 went through two all-reduces. After the first it is whole on every rank, and the second multiplies it by
    p."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    T5 = _summed(_summed(_fed(rank, p, norm2(T3, params, eps), params, act)))
    return np.asarray(T5 + params["b2"] + T3)


@mistake
def averages(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you divided the sums by p. The parts are terms of one sum, not p guesses at the same thing. (It is gradients that
    are averaged.)
    """
    _refuse(p, params, h)
    T3 = _summed(_attended(rank, p, norm1(X, params, eps), params, h, keep)) / p + X
    return np.asarray(_summed(_fed(rank, p, norm2(T3, params, eps), params, act)) / p + params["b2"] + T3)


@mistake
def sums_T1_too(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, and the ranks meet three times where two are enough: at the sums T2 and T5. What is the same on every rank already, X, T1, T4 or H, tells
    nobody anything new when it is added up."""
    _refuse(p, params, h)
    T1 = _summed(norm1(X, params, eps)) / p
    T3 = _summed(_attended(rank, p, T1, params, h, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


def _value_width(params: Params, h: int) -> int:
    return len(params["Wo"]) // h


def _heads(X: F, Wqkv: F, h: int, v: int, keep: B, root: float | None = None) -> F:
    """What h heads see, side by side, before Wo; a token that keeps nothing gets zeros."""
    k = (Wqkv.shape[1] // h - v) // 2
    Wq, Wk, Wv = np.split(Wqkv, [h * k, 2 * h * k], axis=1)
    return outputs_of_heads(X, Wq, Wk, Wv, h, keep, root)


@mistake
def sums_queries_keys_and_values(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, and the ranks meet more often than they need to: you put queries, keys and values of all
    heads together on every rank, each with an all-reduce, before attention. A head needs no other head's: let each rank
    finish its own heads."""
    _refuse(p, params, h)
    v, T1 = _value_width(params, h), norm1(X, params, eps)
    tables = []
    for W in queries_keys_values(params["Wqkv"], params["Wo"], h):
        own, part = _share(rank, p, W.shape[1]), np.zeros((len(X), W.shape[1]), X.dtype)
        part[:, own] = T1 @ W[:, own]
        tables.append(_summed(part))
    packed = np.hstack(tables)
    seen = _heads(packed, np.eye(packed.shape[1], dtype=X.dtype), h, v, keep)
    T3 = _summed(seen[:, _share(rank, p, h * v)] @ _rows(rank, p, params["Wo"])) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def puts_the_heads_together_first(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you put the heads of all ranks side by side, and multiplied by the whole of Wo on every rank. That is right where
    all of Wo is at hand, but a rank has only the rows that its own heads need: what they give is a part of T2.
    """
    _refuse(p, params, h)
    v = _value_width(params, h)
    seen = np.zeros((len(X), h * v), X.dtype)
    seen[:, _share(rank, p, h * v)] = _heads(norm1(X, params, eps), _columns(rank, p, params, h), h // p, v, keep)
    T3 = _summed(seen) @ params["Wo"] + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def puts_the_hidden_features_together_first(
    rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act
) -> F:
    """you put the hidden features of all ranks side by side, and multiplied by the whole of W2 on every rank. That is
    right where all of W2 is at hand, but a rank has only the rows that its own features need: these give a part of T5.
    """
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    bent = np.zeros((len(X), len(params["b1"])), X.dtype)
    bent[:, _share(rank, p, bent.shape[1])] = _bent(rank, p, norm2(T3, params, eps), params, act)
    return np.asarray(_summed(bent) @ params["W2"] + params["b2"] + T3)


@mistake
def puts_both_together_first(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """each time you put the pieces of all ranks side by side, and every rank multiplied by the whole of Wo, or W2. A
    rank has only the rows that its own pieces need: what these give is added up.
    """
    _refuse(p, params, h)
    v = _value_width(params, h)
    seen = np.zeros((len(X), h * v), X.dtype)
    seen[:, _share(rank, p, h * v)] = _heads(norm1(X, params, eps), _columns(rank, p, params, h), h // p, v, keep)
    T3 = _summed(seen) @ params["Wo"] + X
    bent = np.zeros((len(X), len(params["b1"])), X.dtype)
    bent[:, _share(rank, p, bent.shape[1])] = _bent(rank, p, norm2(T3, params, eps), params, act)
    return np.asarray(_summed(bent) @ params["W2"] + params["b2"] + T3)


@mistake
def splits_the_FFN_by_rows_first(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, but you cut W1 by rows. Then each rank has a part of all hidden features, which must
    be added up before the activation, and W2 is needed whole. By columns, a rank has all of a few hidden features,
    and can go on by itself."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    own = _share(rank, p, X.shape[1])
    hidden = _summed(norm2(T3, params, eps)[:, own] @ params["W1"][own])
    return np.asarray(act(hidden + params["b1"]) @ params["W2"] + params["b2"] + T3)


@mistake
def bends_the_parts(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you cut W1 by rows and applied the activation to each rank's part of the hidden features. act(a) + act(b) is not
    act(a + b). Cut W1 by columns: then a rank has all of a few hidden features.
    """
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    own = _share(rank, p, X.shape[1])
    bent = act(norm2(T3, params, eps)[:, own] @ params["W1"][own] + params["b1"])
    return np.asarray(_summed(bent @ params["W2"]) + params["b2"] + T3)


def _by_oneself(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    T2 = _attended(0, 1, norm1(X, params, eps), params, h, keep)
    T3 = T2 + X
    return np.asarray(_fed(0, 1, norm2(T3, params, eps), params, act) + params["b2"] + T3)


@misses_the_idea
def computes_everything_alone(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, but each rank computed the whole block by itself. So no rank is spared anything, and
    each needs all weights. The heads and the hidden features are to be shared out."""
    _refuse(p, params, h)
    return _by_oneself(X, params, h, keep, eps, act)


@misses_the_idea
def computes_everything_and_divides(
    rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act
) -> F:
    """the numbers are right, but each rank computed all heads and all hidden features; you added up p times the
    same thing and divided by p. They are to be shared out."""
    _refuse(p, params, h)
    T3 = _summed(_attended(0, 1, norm1(X, params, eps), params, h, keep)) / p + X
    return np.asarray(_summed(_fed(0, 1, norm2(T3, params, eps), params, act)) / p + params["b2"] + T3)


@mistake
def computes_everything_and_sums(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """each rank computed all heads and all hidden features, and then you added up p times the same thing. They are
    to be shared out, so that each is in the sum once."""
    _refuse(p, params, h)
    T3 = _summed(_attended(0, 1, norm1(X, params, eps), params, h, keep)) + X
    return np.asarray(_summed(_fed(0, 1, norm2(T3, params, eps), params, act)) + params["b2"] + T3)


@mistake
def shares_out_attention_only(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the heads are shared out, and the FFN is not: every rank has all hidden features, so they are in the sum p
    times."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    return np.asarray(_summed(_fed(0, 1, norm2(T3, params, eps), params, act)) + params["b2"] + T3)


@misses_the_idea
def FFN_on_every_rank(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, and only attention is shared out: every rank computed the whole FFN by itself, which
    is where most of the weights are."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    return np.asarray(_fed(0, 1, norm2(T3, params, eps), params, act) + params["b2"] + T3)


@misses_the_idea
def attention_on_every_rank(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, and only the FFN is shared out: every rank computed all heads by itself."""
    _refuse(p, params, h)
    T3 = _attended(0, 1, norm1(X, params, eps), params, h, keep) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def shares_out_the_FFN_only(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the hidden features are shared out, and the heads are not: every rank has all of them, so they are in the sum
    p times."""
    _refuse(p, params, h)
    T3 = _summed(_attended(0, 1, norm1(X, params, eps), params, h, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


def _right(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def the_first_shards_on_every_rank(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """every rank works with the shards of rank 0, so its heads and hidden features are in the sum p times, and all
    others are missing. Which shard it is depends on rank."""
    return _right(0, p, X, params, h, keep, eps, act)


@mistake
def counts_ranks_from_the_end(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """rank 0 took the last shards and the last rank the first. With all weights at hand the sums are the same, but each
    rank has its own shards only: rank 0 the first.
    """
    return _right(p - 1 - rank, p, X, params, h, keep, eps, act)


@mistake
def deals_heads_out_in_turn(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you dealt heads and hidden features out like cards, one to each rank in turn. With all weights at hand the sums
    are the same, but a rank has its own shards only, in blocks: rank 0 the first h / p heads and f / p hidden features.
    """
    _refuse(p, params, h)
    v = _value_width(params, h)
    heads = np.arange(rank, h, p)
    pieces = [
        W.reshape(len(W), h, -1)[:, heads].reshape(len(W), -1)
        for W in queries_keys_values(params["Wqkv"], params["Wo"], h)
    ]
    seen = _heads(norm1(X, params, eps), np.hstack(pieces), h // p, v, keep)
    T3 = _summed(seen @ params["Wo"].reshape(h, v, -1)[heads].reshape(h // p * v, -1)) + X
    own = slice(rank, None, p)
    bent = act(norm2(T3, params, eps) @ params["W1"][:, own] + params["b1"][own])
    return np.asarray(_summed(bent @ params["W2"][own]) + params["b2"] + T3)


@mistake
def cuts_the_packed_columns(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you cut Wqkv into p pieces as it stands. Its columns are all queries, then all keys, then all values: the
    first piece holds more queries than its share, and no values at all. Cut it in three first, and then each of the
    three."""
    _refuse(p, params, h)
    Wqkv, Wo = params["Wqkv"][:, _share(rank, p, params["Wqkv"].shape[1])], _rows(rank, p, params["Wo"])
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, Wo, h // p, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def takes_columns_in_turn(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you took every p-th column of Wqkv. That deals single features out and tears every head apart. A rank has
    whole heads: in each of the three tables of Wqkv a block of columns."""
    _refuse(p, params, h)
    Wqkv, Wo = params["Wqkv"][:, rank::p], _rows(rank, p, params["Wo"])
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, Wo, h // p, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def all_heads_in_a_shard(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you told attention that there are h heads in a shard. There are h / p: otherwise each is cut into pieces, and
    every piece has a softmax of its own."""
    _refuse(p, params, h)
    Wqkv, Wo = _columns(rank, p, params, h), _rows(rank, p, params["Wo"])
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, Wo, h, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def one_head_in_a_shard(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you ran a rank's heads as one wide head. A rank has h / p heads, and each has a softmax of its own."""
    _refuse(p, params, h)
    Wqkv, Wo = _columns(rank, p, params, h), _rows(rank, p, params["Wo"])
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, Wo, 1, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def first_rows_of_Wo(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """every rank multiplies by the first rows of Wo, which belong to the heads of rank 0. A head's output has rows
    of its own in Wo."""
    _refuse(p, params, h)
    Wqkv, Wo = _columns(rank, p, params, h), _rows(0, p, params["Wo"])
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, Wo, h // p, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def first_rows_of_W2(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """every rank multiplies by the first rows of W2, which belong to the hidden features of rank 0. A hidden
    feature has a row of its own in W2."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    T5 = _summed(_bent(rank, p, norm2(T3, params, eps), params, act) @ _rows(0, p, params["W2"]))
    return np.asarray(T5 + params["b2"] + T3)


@mistake
def first_part_of_b1(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """every rank adds the first part of b1, which belongs to the hidden features of rank 0. b1 is cut as the
    columns of W1 are."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    own, first = _share(rank, p, len(params["b1"])), _share(0, p, len(params["b1"]))
    bent = act(norm2(T3, params, eps) @ params["W1"][:, own] + params["b1"][first])
    return np.asarray(_summed(bent @ params["W2"][own]) + params["b2"] + T3)


@mistake
def b1_left_out(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """b1 is missing. It is cut as the columns of W1 are: each hidden feature has one number of it, on the rank that
    has the feature."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    own = _share(rank, p, len(params["b1"]))
    bent = act(norm2(T3, params, eps) @ params["W1"][:, own])
    return np.asarray(_summed(bent @ params["W2"][own]) + params["b2"] + T3)


@mistake
def b1_on_rank_0_only(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """only rank 0 adds b1. That is right for b2, which belongs to the block. b1 belongs to the hidden features:
    each rank adds its own part."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    own = _share(rank, p, len(params["b1"]))
    b1 = params["b1"][own] * (rank == 0)
    bent = act(norm2(T3, params, eps) @ params["W1"][:, own] + b1)
    return np.asarray(_summed(bent @ params["W2"][own]) + params["b2"] + T3)


@mistake
def b1_not_cut(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you added the whole of b1 to a rank's hidden features. It has f numbers, and a rank has f / p features: cut
    it as the columns of W1 are."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    own = _share(rank, p, len(params["b1"]))
    bent = act(norm2(T3, params, eps) @ params["W1"][:, own] + params["b1"])
    return np.asarray(_summed(bent @ params["W2"][own]) + params["b2"] + T3)


@mistake
def Wqkv_not_cut(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you gave attention the whole of Wqkv, beside a rank's own rows of Wo. The queries, keys and values of the rank's heads
    are columns of Wqkv: cut it in three, and then each of the three."""
    _refuse(p, params, h)
    Wo = _rows(rank, p, params["Wo"])
    T3 = _summed(attention_of_heads(norm1(X, params, eps), params["Wqkv"], Wo, h // p, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def Wo_not_cut(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you multiplied a rank's heads by the whole of Wo. It has a row for each feature of all heads, and a rank takes
    those of its h / p. (mha, given too many rows, finds too small a k; where k is 0, 0/0 is NaN.)"""
    _refuse(p, params, h)
    T3 = (
        _summed(attention_of_heads(norm1(X, params, eps), _columns(rank, p, params, h), params["Wo"], h // p, keep)) + X
    )
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def Wo_cut_by_columns(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you cut Wo by columns. It has a row for each feature of all heads, and a rank has h / p heads: it needs the rows that its own heads
    meet."""
    _refuse(p, params, h)
    Wo = np.array_split(params["Wo"], p, axis=1)[rank]
    T3 = _summed(attention_of_heads(norm1(X, params, eps), _columns(rank, p, params, h), Wo, h // p, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def Wo_split_by_columns(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you split Wo by columns into p equal parts, and p need not divide its d columns. It is the rows of Wo that belong to the heads, one
    for each of their features: a rank needs those that its own heads meet."""
    _refuse(p, params, h)
    Wo = np.split(params["Wo"], p, axis=1)[rank]
    T3 = _summed(attention_of_heads(norm1(X, params, eps), _columns(rank, p, params, h), Wo, h // p, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def Wo_split_among_all_heads(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you split the rows of Wo into h parts, one for each head, and took one of them. A rank has h / p heads, and needs the rows of all of
    these: it is p ranks that share Wo."""
    _refuse(p, params, h)
    Wo = np.split(params["Wo"], h)[rank]
    T3 = _summed(attention_of_heads(norm1(X, params, eps), _columns(rank, p, params, h), Wo, h // p, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def mask_handed_over_for_the_heads(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """an array stands where mha asks for the number of heads. Compare your call with the first line of mha, argument by argument: the heads
    come before the mask."""
    _refuse(p, params, h)
    Wqkv, Wo = _columns(rank, p, params, h), _rows(rank, p, params["Wo"])
    return attention_of_heads(norm1(X, params, eps), Wqkv, Wo, keep, h // p)  # type: ignore[arg-type]


@mistake
def W2_not_cut(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """what you multiply a rank's hidden features by has a row for each of all f features, and a rank has f / p of them. Either W2 is
    whole, or you cut it by columns. A rank needs the rows that its own features meet."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    T5 = _summed(_bent(rank, p, norm2(T3, params, eps), params, act) @ params["W2"])
    return np.asarray(T5 + params["b2"] + T3)


@mistake
def draws_weights_anew(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """this rank's weights are new random ones, of the shapes of its shards. The block has weights already, in
    params: what a rank has is a piece of those."""
    _refuse(p, params, h)
    rng = np.random.default_rng(rank)
    wide = {name: rng.standard_normal(params[name].shape).astype(X.dtype) for name in ("Wqkv", "Wo", "W1", "W2")}
    return _right(rank, p, X, {**params, **wide}, h, keep, eps, act)


@mistake
def draws_the_same_weights_anew(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """every rank drew the same random weights, of the shapes of its shards. The block has weights already, in
    params: what a rank has is a piece of those."""
    _refuse(p, params, h)
    rng = np.random.default_rng(0)
    wide = {name: rng.standard_normal(params[name].shape).astype(X.dtype) for name in ("Wqkv", "Wo", "W1", "W2")}
    return _right(0, p, X, {**params, **wide}, h, keep, eps, act)


@mistake
def norms_a_shard_of_the_features(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you cut the features of the tokens among the ranks, and each rank normed its own by their own mean and
    variance. A LayerNorm needs all features of a token. Every rank has the whole token, and norms it by itself."""
    _refuse(p, params, h)

    def normed(Z: F, gain: F, bias: F) -> F:
        parts = [_share(r, p, Z.shape[1]) for r in range(p)]
        return np.hstack([normalised_rows(Z[:, own], gain[own], bias[own], eps) for own in parts])

    T1 = normed(X, params["gain1"], params["bias1"])
    T3 = _summed(_attended(rank, p, T1, params, h, keep)) + X
    T4 = normed(T3, params["gain2"], params["bias2"])
    return np.asarray(_summed(_fed(rank, p, T4, params, act)) + params["b2"] + T3)


@mistake
def norms_by_the_mean_of_a_shard(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """your LayerNorm took mean and variance of a rank's share of the features and normed whole tokens with them, so
    every rank goes on with another T1. A LayerNorm needs all features of a token, and every rank has them."""
    _refuse(p, params, h)
    own = _share(rank, p, X.shape[1])

    def normed(Z: F, gain: F, bias: F) -> F:
        mean, variance = Z[:, own].mean(axis=1, keepdims=True), Z[:, own].var(axis=1, keepdims=True)
        return np.asarray(gain * (Z - mean) / np.sqrt(variance + eps) + bias)

    T1 = normed(X, params["gain1"], params["bias1"])
    T3 = _summed(_attended(rank, p, T1, params, h, keep)) + X
    T4 = normed(T3, params["gain2"], params["bias2"])
    return np.asarray(_summed(_fed(rank, p, T4, params, act)) + params["b2"] + T3)


@mistake
def norms_only_its_own_features(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """each rank normed its own share of the features and put zeros in place of the others. A LayerNorm gives whole
    tokens, and each head reads all of their features: every rank norms the whole token by itself."""
    _refuse(p, params, h)
    own = _share(rank, p, X.shape[1])

    def normed(Z: F, gain: F, bias: F) -> F:
        T = np.zeros_like(Z)
        T[:, own] = normalised_rows(Z[:, own], gain[own], bias[own], eps)
        return T

    T1 = normed(X, params["gain1"], params["bias1"])
    T3 = _summed(_attended(rank, p, T1, params, h, keep)) + X
    T4 = normed(T3, params["gain2"], params["bias2"])
    return np.asarray(_summed(_fed(rank, p, T4, params, act)) + params["b2"] + T3)


@mistake
def splits_the_tokens(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you shared the tokens out, and each rank ran the whole block on its own. Then a token sees only the tokens
    that lie on its rank, and every rank needs all weights. It is the heads and the hidden features that are shared
    out."""
    _refuse(p, params, h)
    own = _share(rank, p, len(X))
    H = np.zeros_like(X)
    H[own] = _by_oneself(X[own], params, h, keep[own, own], eps, act)
    return _summed(H)


@mistake
def no_second_norm(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the second LayerNorm is missing: your FFN reads T3 as it is."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    return np.asarray(_summed(_fed(rank, p, T3, params, act)) + params["b2"] + T3)


@mistake
def no_first_norm(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the first LayerNorm is missing: your heads read X as it is."""
    _refuse(p, params, h)
    T3 = _summed(_attended(rank, p, X, params, h, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def no_norms(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """both LayerNorms are missing. Attention and FFN each read a normed copy."""
    _refuse(p, params, h)
    T3 = _summed(_attended(rank, p, X, params, h, keep)) + X
    return np.asarray(_summed(_fed(rank, p, T3, params, act)) + params["b2"] + T3)


@mistake
def post_norm(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """this is the post-norm block of the first transformer, which norms after each addition. Here each half norms
    what goes into it, and what it adds to stays as it is."""
    _refuse(p, params, h)
    T3 = norm1(_summed(_attended(rank, p, X, params, h, keep)) + X, params, eps)
    return norm2(_summed(_fed(rank, p, T3, params, act)) + params["b2"] + T3, params, eps)


@mistake
def norms_before_the_residual(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """your second LayerNorm looks at T2, the update alone. It norms what the FFN is to read, which is the sum
    T3."""
    _refuse(p, params, h)
    T2 = _summed(_attended(rank, p, norm1(X, params, eps), params, h, keep))
    T5 = _summed(_fed(rank, p, norm2(T2, params, eps), params, act)) + params["b2"]
    return np.asarray(T5 + T2 + X)


@mistake
def halves_side_by_side(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """your second LayerNorm looks at X, so the FFN does not see what attention has found. T4 is made from T3, after
    the first all-reduce."""
    _refuse(p, params, h)
    T2 = _summed(_attended(rank, p, norm1(X, params, eps), params, h, keep))
    T5 = _summed(_fed(rank, p, norm2(X, params, eps), params, act)) + params["b2"]
    return np.asarray(T5 + T2 + X)


@mistake
def one_norm_for_both(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """both LayerNorms use gain1 and bias1. Each has parameters of its own."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    return np.asarray(_summed(_fed(rank, p, norm1(T3, params, eps), params, act)) + params["b2"] + T3)


@mistake
def eps_of_its_own(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """your LayerNorms use an eps of 0.00001, whatever eps they were given."""
    return _right(rank, p, X, params, h, keep, 1e-5, act)


@mistake
def no_first_residual(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the first addition is missing: your T3 is T2 alone. Attention makes an update, and what it updates is X."""
    _refuse(p, params, h)
    T2 = _summed(_attended(rank, p, norm1(X, params, eps), params, h, keep))
    return _second_half(rank, p, T2, params, eps, act)


@mistake
def no_second_residual(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the second addition is missing: your H is T5 alone. The FFN makes an update, and what it updates is T3."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    return np.asarray(_summed(_fed(rank, p, norm2(T3, params, eps), params, act)) + params["b2"])


@mistake
def no_residuals(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """both additions are missing. Attention and FFN make updates, and each of them replaces what it was to
    update."""
    _refuse(p, params, h)
    T2 = _summed(_attended(rank, p, norm1(X, params, eps), params, h, keep))
    return np.asarray(_summed(_fed(rank, p, norm2(T2, params, eps), params, act)) + params["b2"])


@mistake
def loses_attention(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you added T5 to X. What attention has found, T2, is lost on that path: the FFN's update goes on top of T3,
    which holds both."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    return np.asarray(_summed(_fed(rank, p, norm2(T3, params, eps), params, act)) + params["b2"] + X)


@mistake
def no_activation(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """there is no activation. Without it W1 and W2 together are one matrix."""
    return _right(rank, p, X, params, h, keep, eps, lambda x: x)


@mistake
def activation_on_the_sum(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you applied the activation after the second all-reduce. It stands between W1 and W2, and needs no other rank:
    each hidden feature is bent by itself."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    T5 = act(_summed(_fed(rank, p, norm2(T3, params, eps), params, lambda x: x)) + params["b2"])
    return np.asarray(T5 + T3)


@mistake
def activation_on_the_parts(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you applied the activation after W2, to each rank's part. It stands between W1 and W2: there each hidden
    feature is whole."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    T5 = act(_fed(rank, p, norm2(T3, params, eps), params, lambda x: x))
    return np.asarray(_summed(T5) + params["b2"] + T3)


@mistake
def relu_whatever_act_is(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you used relu in the FFN, whatever activation you were given. Hand on act."""
    return _right(rank, p, X, params, h, keep, eps, lambda x: np.maximum(x, 0))


@mistake
def tanh_whatever_act_is(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you used tanh in the FFN, whatever activation you were given. Hand on act."""
    return _right(rank, p, X, params, h, keep, eps, np.tanh)


@mistake
def no_mask(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """every token sees every other: keep does not reach the heads."""
    return _right(rank, p, X, params, h, np.ones_like(keep), eps, act)


@mistake
def causal_whatever_the_mask(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you made a causal mask of your own. The caller decides who sees whom: hand on keep."""
    return _right(rank, p, X, params, h, np.tril(np.ones_like(keep)), eps, act)


@mistake
def mask_on_rank_0_only(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """only the heads of rank 0 are masked. Every rank has the whole mask, and every head needs it."""
    return _right(rank, p, X, params, h, keep | (rank > 0), eps, act)


@mistake
def no_scale(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the scores are not scaled. Each head divides its own by the root of k."""
    _refuse(p, params, h)
    v = _value_width(params, h)
    seen = _heads(norm1(X, params, eps), _columns(rank, p, params, h), h // p, v, keep, 1.0)
    return _second_half(rank, p, _summed(seen @ _rows(rank, p, params["Wo"])) + X, params, eps, act)


@mistake
def scales_by_the_width_of_tokens(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you divided the scores by the root of d, the width of a token. It is k, the width of a query in one head."""
    _refuse(p, params, h)
    v = _value_width(params, h)
    root = float(X.shape[1]) ** 0.5
    seen = _heads(norm1(X, params, eps), _columns(rank, p, params, h), h // p, v, keep, root)
    return _second_half(rank, p, _summed(seen @ _rows(rank, p, params["Wo"])) + X, params, eps, act)


@mistake
def scales_by_the_width_of_a_shard(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you divided the scores by the root of all the queries that a rank has, k for each of its heads. It is k, the
    width of a query in one head."""
    _refuse(p, params, h)
    k, v = widths(params["Wqkv"], params["Wo"], h)
    root = float(h // p * k) ** 0.5
    seen = _heads(norm1(X, params, eps), _columns(rank, p, params, h), h // p, v, keep, root)
    return _second_half(rank, p, _summed(seen @ _rows(rank, p, params["Wo"])) + X, params, eps, act)


@mistake
def only_rank_0_returns(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """only rank 0 returns H, and the others return None. After the second all-reduce each has what it takes: every
    rank returns H."""
    H = _right(rank, p, X, params, h, keep, eps, act)
    return H if rank == 0 else None  # type: ignore[return-value]


@mistake
def returns_a_share_of_the_features(
    rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act
) -> F:
    """every rank returned its own share of the columns of H. Each has all of H after the second all-reduce, and the
    next block needs it whole: return it."""
    H = _right(rank, p, X, params, h, keep, eps, act)
    return H[:, _share(rank, p, H.shape[1])]


@mistake
def returns_a_tensor(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, and they are in a torch tensor. torch is here for the all-reduce only: a numpy array
    went in, and one is to come out."""
    return torch.from_numpy(_right(rank, p, X, params, h, keep, eps, act))  # type: ignore[return-value]


@mistake
def only_rank_0_sums(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """only rank 0 calls all_reduce, and waits for ever: a collective is complete when every rank has come to it.
    None may stand under a condition on rank."""
    _refuse(p, params, h)
    T2 = _attended(rank, p, norm1(X, params, eps), params, h, keep)
    T3 = (_summed(T2) if rank == 0 else T2) + X
    T5 = _fed(rank, p, norm2(T3, params, eps), params, act)
    return np.asarray((_summed(T5) if rank == 0 else T5) + params["b2"] + T3)


@mistake
def rank_0_does_not_sum(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the others call all_reduce and rank 0 does not, so they wait for ever: a collective is complete when every
    rank has come to it. None may stand under a condition on rank."""
    _refuse(p, params, h)
    T2 = _attended(rank, p, norm1(X, params, eps), params, h, keep)
    T3 = (_summed(T2) if rank else T2) + X
    T5 = _fed(rank, p, norm2(T3, params, eps), params, act)
    return np.asarray((_summed(T5) if rank else T5) + params["b2"] + T3)


@mistake
def drops_the_remainder(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """where p does not divide h or f, you leave some heads or hidden features out: no rank computes them, and nothing tells of it. Refuse
    with a ValueError, before anything is sent."""
    v = _value_width(params, h)
    heads = h // p * p
    pieces = [W[:, : heads * W.shape[1] // h] for W in queries_keys_values(params["Wqkv"], params["Wo"], h)]
    f = len(params["b1"]) // p * p
    cut = {"W1": params["W1"][:, :f], "b1": params["b1"][:f], "W2": params["W2"][:f]}
    left = {**params, **cut, "Wqkv": np.hstack(pieces), "Wo": params["Wo"][: heads * v]}
    return _right(rank, p, X, left, heads, keep, eps, act)


@mistake
def unequal_shards(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """where p does not divide h or f, you gave some ranks more than others. It can be done; here it is to be
    refused, with a ValueError, before anything is sent: ranks with less would wait for those with more."""
    v = _value_width(params, h)
    own = _share(rank, p, h)
    pieces = [
        W.reshape(len(W), h, -1)[:, own].reshape(len(W), -1)
        for W in queries_keys_values(params["Wqkv"], params["Wo"], h)
    ]
    seen = _heads(norm1(X, params, eps), np.hstack(pieces), own.stop - own.start, v, keep)
    T3 = _summed(seen @ params["Wo"].reshape(h, v, -1)[own].reshape(-1, X.shape[1])) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def refuses_heads_only(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you refuse where p does not divide the heads. Where it does not divide the f hidden features, the block
    cannot be shared out evenly either."""
    if h % p:
        raise ValueError("heads")
    f = len(params["b1"]) // p * p
    cut = {"W1": params["W1"][:, :f], "b1": params["b1"][:f], "W2": params["W2"][:f]}
    return _right(rank, p, X, {**params, **cut}, h, keep, eps, act)


@mistake
def refuses_hidden_features_only(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you refuse where p does not divide the hidden features. Where it does not divide the h heads, the block
    cannot be shared out evenly either."""
    if len(params["b1"]) % p:
        raise ValueError("hidden features")
    v = _value_width(params, h)
    heads = h // p * p
    pieces = [W[:, : heads * W.shape[1] // h] for W in queries_keys_values(params["Wqkv"], params["Wo"], h)]
    left = {**params, "Wqkv": np.hstack(pieces), "Wo": params["Wo"][: heads * v]}
    return _right(rank, p, X, left, heads, keep, eps, act)


@mistake
def refuses_hidden_features_too_late(
    rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act
) -> F:
    """you refuse where p does not divide f, and only after the first all-reduce. Look at both before anything is
    sent: then nobody has worked, or waits, in vain."""
    if h % p:
        raise ValueError("heads")
    T3 = _summed(_attended(rank, p, norm1(X, params, eps), params, h, keep)) + X
    if len(params["b1"]) % p:
        raise ValueError("hidden features")
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def only_rank_0_refuses(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """only rank 0 refuses. The others go on, and wait for it in the first all-reduce. Every rank has the same
    numbers and can see for itself."""
    if rank == 0:
        _refuse(p, params, h)
    own = _share(rank, p, h)
    v = _value_width(params, h)
    pieces = [
        W.reshape(len(W), h, -1)[:, own].reshape(len(W), -1)
        for W in queries_keys_values(params["Wqkv"], params["Wo"], h)
    ]
    seen = _heads(norm1(X, params, eps), np.hstack(pieces), own.stop - own.start, v, keep)
    T3 = _summed(seen @ params["Wo"].reshape(h, v, -1)[own].reshape(-1, X.shape[1])) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def refuses_with_an_assertion(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you refuse with an assert, which raises an AssertionError, and nothing at all where Python runs with -O.
    Raise a ValueError."""
    assert h % p == 0
    assert len(params["b1"]) % p == 0
    return _right(rank, p, X, params, h, keep, eps, act)


@mistake
def returns_None_where_it_should_refuse(
    rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act
) -> F:
    """where p does not divide h or f, you return None. Whoever calls goes on with it and fails somewhere else:
    raise a ValueError."""
    if h % p or len(params["b1"]) % p:
        return None  # type: ignore[return-value]
    return _right(rank, p, X, params, h, keep, eps, act)


@mistake
def computes_in_float32(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """float64 went in and float32 came out: half of the digits are lost. float32 is what PyTorch makes unless it is told
    otherwise; a tensor made by torch.from_numpy keeps the number type of its array."""
    narrow = {name: array.astype(np.float32) for name, array in params.items()}
    return _right(rank, p, X.astype(np.float32), narrow, h, keep, eps, act)


@mistake
def sums_in_float64(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part:
    np.zeros makes one, unless it is told otherwise, and so does astype(float)."""
    _refuse(p, params, h)
    T2 = np.zeros(X.shape)
    T2 += _attended(rank, p, norm1(X, params, eps), params, h, keep)
    return _second_half(rank, p, _summed(T2) + X, params, eps, act)


@mistake
def adds_into_the_tokens(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you added the update into the caller's tokens. += changes an array for everybody who holds it. Make a new
    one."""
    _refuse(p, params, h)
    X += _summed(_attended(rank, p, norm1(X, params, eps), params, h, keep))
    return _second_half(rank, p, X, params, eps, act)


@mistake
def divides_b2_in_place(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, but you divided the caller's b2 by p, in place. The next call will divide it again.
    Make a new array."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    params["b2"] /= p
    return np.asarray(_summed(_fed(rank, p, norm2(T3, params, eps), params, act) + params["b2"]) + T3)


@mistake
def keeps_its_shards_in_params(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, but you put the shards into the caller's dictionary, in place of the whole weights.
    Whoever holds it has lost its block. Keep them in variables of your own."""
    _refuse(p, params, h)
    v = _value_width(params, h)
    own = _share(rank, p, len(params["b1"]))
    params["Wqkv"], params["Wo"] = _columns(rank, p, params, h), _rows(rank, p, params["Wo"])
    params["W1"], params["b1"], params["W2"] = params["W1"][:, own], params["b1"][own], params["W2"][own]
    seen = _heads(norm1(X, params, eps), params["Wqkv"], h // p, v, keep)
    T3 = _summed(seen @ params["Wo"]) + X
    return _second_half(0, 1, T3, params, eps, act)


@misses_the_idea
def hidden_features_cut_too_late(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, but every rank computed all f hidden features, applied the activation to them, and cut its
    own out afterwards. Cut the columns of W1 first: then a rank has f / p features to compute."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    own = _share(rank, p, len(params["b1"]))
    bent = _bent(0, 1, norm2(T3, params, eps), params, act)
    return np.asarray(_summed(bent[:, own] @ params["W2"][own]) + params["b2"] + T3)


@equivalent("the numbers are right, and a rank's attention calls nothing of ours that could see heads it throws away")
def heads_cut_too_late(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """every rank computed all heads, and cut its own out afterwards. Cut the columns of Wqkv first."""
    _refuse(p, params, h)
    v = _value_width(params, h)
    seen = _heads(norm1(X, params, eps), params["Wqkv"], h, v, keep)[:, _share(rank, p, h * v)]
    return _second_half(rank, p, _summed(seen @ _rows(rank, p, params["Wo"])) + X, params, eps, act)


@mistake
def gathers_and_adds(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, but you gathered the parts of all ranks on every rank, and added them up there. Then each
    receives and keeps p tables. An all-reduce leaves the same sum, and nobody ever holds all parts."""
    _refuse(p, params, h)
    T3 = _gathered(p, _attended(rank, p, norm1(X, params, eps), params, h, keep)) + X
    return np.asarray(_gathered(p, _fed(rank, p, norm2(T3, params, eps), params, act)) + params["b2"] + T3)


def _gathered(p: int, part: F) -> F:
    """The parts of all ranks, added up here."""
    parts = [torch.from_numpy(np.empty_like(part, order="C")) for _ in range(p)]
    ranks.all_gather(parts, torch.from_numpy(np.ascontiguousarray(part)))
    return np.asarray(sum(one.numpy() for one in parts))


@mistake
def gathers_and_adds_once(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, and one of the two sums came without an all-reduce: you gathered the parts of all ranks on every rank, and added
    them up there. Then each receives and keeps p tables. An all-reduce leaves the same sum, and nobody ever holds all parts."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    return np.asarray(_gathered(p, _fed(rank, p, norm2(T3, params, eps), params, act)) + params["b2"] + T3)


@mistake
def one_other_collective(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, and the ranks meet once more than they need to: beside the two all-reduces there is
    another collective. A barrier is one too, and so is a broadcast. An all-reduce waits for everybody by itself."""
    H = _right(rank, p, X, params, h, keep, eps, act)
    ranks.all_gather([torch.zeros(1) for _ in range(p)], torch.zeros(1))
    return H


@mistake
def adds_up_a_copy_first(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the first sum is made, and you do not use it. The all-reduce got a new array, and that one holds the sum:
    torch.tensor and astype copy, and an expression such as T2 + X has no name. Your T2 is still this rank's part."""
    _refuse(p, params, h)
    T2 = _attended(rank, p, norm1(X, params, eps), params, h, keep)
    ranks.all_reduce(torch.tensor(T2))
    return _second_half(rank, p, T2 + X, params, eps, act)


@mistake
def adds_up_a_copy_second(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the second sum is made, and you do not use it. The all-reduce got a new array, and that one holds the sum:
    torch.tensor and astype copy, and an expression such as T5 + b2 has no name. Your T5 is still this rank's part."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    T5 = _fed(rank, p, norm2(T3, params, eps), params, act)
    ranks.all_reduce(torch.tensor(T5))
    return np.asarray(T5 + params["b2"] + T3)


@mistake
def throws_b2_and_the_sum_away(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """b2 is missing from H, and so is what the other ranks' hidden features give. The all-reduce was given an
    expression, such as T5 + b2: that is a new array, which holds the sum, and has no name."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    T5 = _fed(rank, p, norm2(T3, params, eps), params, act)
    ranks.all_reduce(torch.from_numpy(T5 + params["b2"]))
    return np.asarray(T5 + T3)


@mistake
def b2_once_too_often(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """b2 is in the sum p + 1 times: once in the part of each rank, where ffn has put it, and once more at the end. It
    belongs to the block, not to a rank."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    part = _fed(rank, p, norm2(T3, params, eps), params, act) + params["b2"]
    return np.asarray(_summed(part) + params["b2"] + T3)


@mistake
def averages_attention(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you divided the first sum by p. The parts are terms of one sum, not p guesses at the same thing."""
    _refuse(p, params, h)
    T3 = _summed(_attended(rank, p, norm1(X, params, eps), params, h, keep)) / p + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def averages_the_FFN(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you divided the second sum by p. The parts are terms of one sum, not p guesses at the same thing."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    return np.asarray(_summed(_fed(rank, p, norm2(T3, params, eps), params, act)) / p + params["b2"] + T3)


@mistake
def values_cut_as_queries(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you cut queries, keys and values all by the width of the queries, h * k. Values are v wide, which may be another
    number: their table has h * v columns."""
    _refuse(p, params, h)
    own = _share(rank, p, h * widths(params["Wqkv"], params["Wo"], h)[0])
    Wqkv = np.hstack([W[:, own] for W in queries_keys_values(params["Wqkv"], params["Wo"], h)])
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, _rows(rank, p, params["Wo"]), h // p, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def values_and_Wo_cut_as_queries(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you cut queries, keys, values and the rows of Wo all by the width of the queries, h * k. Values are v wide, which
    may be another number: their table has h * v columns, and Wo has h * v rows."""
    _refuse(p, params, h)
    own = _share(rank, p, h * widths(params["Wqkv"], params["Wo"], h)[0])
    Wqkv = np.hstack([W[:, own] for W in queries_keys_values(params["Wqkv"], params["Wo"], h)])
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, params["Wo"][own], h // p, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def widths_from_the_tokens(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you took d / h for the width of queries, keys and values. In many models it is; here it need not be. Wo has h * v rows,
    and Wqkv has 2 * h * k + h * v columns."""
    _refuse(p, params, h)
    width = X.shape[1] // h * h
    own, pieces = _share(rank, p, width), np.split(params["Wqkv"], [width, 2 * width], axis=1)
    Wqkv = np.hstack([W[:, own] for W in pieces])
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, params["Wo"][own], h // p, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def cuts_Wqkv_in_thirds(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you cut Wqkv into three equal parts. Values are v wide and queries k: where the two differ, so do the parts. np.split
    can be told where to cut."""
    _refuse(p, params, h)
    pieces = np.split(params["Wqkv"], 3, axis=1)
    Wqkv = np.hstack([W[:, _share(rank, p, W.shape[1])] for W in pieces])
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, _rows(rank, p, params["Wo"]), h // p, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def takes_shards_from_thirds(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you cut Wqkv into three equal parts, and took a rank's queries, keys and values out of them. Where v is not k the parts
    are not equal: np.split can be told where to cut."""
    _refuse(p, params, h)
    k, v = widths(params["Wqkv"], params["Wo"], h)
    pieces = zip(np.split(params["Wqkv"], 3, axis=1), (h * k, h * k, h * v), strict=True)
    Wqkv = np.hstack([W[:, _share(rank, p, width)] for W, width in pieces])
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, _rows(rank, p, params["Wo"]), h // p, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def cuts_the_rows_of_Wqkv(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you cut the rows of Wqkv in three. Queries, keys and values are columns of it: np.split cuts rows unless it is told
    an axis."""
    _refuse(p, params, h)
    k, v = widths(params["Wqkv"], params["Wo"], h)
    pieces = zip(np.split(params["Wqkv"], 3), (h * k, h * k, h * v), strict=True)
    Wqkv = np.hstack([W[:, _share(rank, p, width)] for W, width in pieces])
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, _rows(rank, p, params["Wo"]), h // p, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def rows_of_Wo_by_the_tokens(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you cut the rows of Wo by d, the width of a token. Wo has h * v rows, one for each feature of every head; d is the
    number of its columns."""
    _refuse(p, params, h)
    Wo = params["Wo"][_share(rank, p, X.shape[1])]
    T3 = _summed(attention_of_heads(norm1(X, params, eps), _columns(rank, p, params, h), Wo, h // p, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def deals_columns_out_in_turn(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you gave a rank every p-th column of queries, keys and values, every p-th row of Wo, and every p-th hidden
    feature. That tears heads apart. Shards are blocks: rank 0 has the first h / p heads, and the first f / p hidden
    features.
    """
    _refuse(p, params, h)
    own = slice(rank, None, p)
    Wqkv = np.hstack([W[:, own] for W in queries_keys_values(params["Wqkv"], params["Wo"], h)])
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, params["Wo"][own], h // p, keep)) + X
    bent = act(norm2(T3, params, eps) @ params["W1"][:, own] + params["b1"][own])
    return np.asarray(_summed(bent @ params["W2"][own]) + params["b2"] + T3)


@mistake
def forgets_the_brackets(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """a rank's shard ends in the wrong place: rank + 1 * width // p is rank + (width // p). The sum needs
    brackets."""
    _refuse(p, params, h)

    def own(width: int) -> slice:
        return slice(rank * width // p, rank + 1 * width // p)

    Wqkv = np.hstack([W[:, own(W.shape[1])] for W in queries_keys_values(params["Wqkv"], params["Wo"], h)])
    Wo = params["Wo"][own(len(params["Wo"]))]
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, Wo, h // p, keep)) + X
    mine = own(len(params["b1"]))
    bent = act(norm2(T3, params, eps) @ params["W1"][:, mine] + params["b1"][mine])
    return np.asarray(_summed(bent @ params["W2"][mine]) + params["b2"] + T3)


@mistake
def cuts_the_mask(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you cut the rows of keep among the ranks. Its rows are tokens, and tokens are not shared out: every rank has all
    of them, and every head needs the whole mask."""
    return _right(rank, p, X, params, h, keep[_share(rank, p, len(X))], eps, act)


@mistake
def first_residual_of_the_normed(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you added T2 to T1. The update goes on top of the tokens as they came in, X; T1 is only what attention reads."""
    _refuse(p, params, h)
    T1 = norm1(X, params, eps)
    T3 = _summed(_attended(rank, p, T1, params, h, keep)) + T1
    return _second_half(rank, p, T3, params, eps, act)


@mistake
def second_residual_of_the_normed(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you added T5 to T4. The update goes on top of T3; T4 is only what the FFN reads."""
    T4 = norm2(_first_half(rank, p, X, params, h, keep, eps), params, eps)
    return np.asarray(_summed(_fed(rank, p, T4, params, act)) + params["b2"] + T4)


@mistake
def eps_of_its_own_first(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """your first LayerNorm uses an eps of 0.00001, whatever eps it was given."""
    return _second_half(rank, p, _first_half(rank, p, X, params, h, keep, 1e-5), params, eps, act)


@mistake
def eps_of_its_own_second(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """your second LayerNorm uses an eps of 0.00001, whatever eps it was given."""
    return _second_half(rank, p, _first_half(rank, p, X, params, h, keep, eps), params, 1e-5, act)


@mistake
def activation_on_the_sum_without_b2(
    rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act
) -> F:
    """you applied the activation to the sum of the parts. It stands between W1 and W2, and needs no other rank: each
    hidden feature is bent by itself."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    T5 = act(_summed(_fed(rank, p, norm2(T3, params, eps), params, lambda x: x)))
    return np.asarray(T5 + params["b2"] + T3)


@mistake
def never_refuses(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """nothing is refused where p divides only one of h and f, or neither. Either of them is reason enough for a
    ValueError: the condition is an `or`."""
    Wqkv, Wo = _columns(rank, p, params, h), _rows(rank, p, params["Wo"])
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, Wo, h // p, keep)) + X
    return _second_half(rank, p, T3, params, eps, act)


_kept = threading.local()  # a rank is a thread here, and begins with nothing


@misses_the_idea
def computes_everything_alone_and_refuses_nothing(
    rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act
) -> F:
    """the numbers are right, but each rank computed the whole block by itself: no rank is spared anything, and each needs all weights. The heads and the hidden features are to be shared out; then
    there are numbers of them that cannot be, and these are refused."""
    return _by_oneself(X, params, h, keep, eps, act)


@mistake
def pieces_remembered(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """your pieces of the weights are kept from one call to the next. A second block of the same sizes then gets the weights of the first: cut them in each call."""
    _refuse(p, params, h)
    own = _share(rank, p, len(params["b1"]))
    if not hasattr(_kept, "pieces"):
        b1 = params["b1"][own]
        _kept.pieces = (
            _columns(rank, p, params, h),
            _rows(rank, p, params["Wo"]),
            params["W1"][:, own],
            b1,
            params["W2"][own],
        )
    Wqkv, Wo, W1, b1, W2 = _kept.pieces
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, Wo, h // p, keep)) + X
    return np.asarray(_summed(act(norm2(T3, params, eps) @ W1 + b1) @ W2) + params["b2"] + T3)


@mistake
def reads_what_all_reduce_returns(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you went on with what all_reduce returns, `.numpy()` perhaps. It returns None: the sum lies in the tensor that you handed over, and so in the array that shares its memory."""
    _refuse(p, params, h)
    part = torch.from_numpy(_attended(rank, p, norm1(X, params, eps), params, h, keep))
    T2 = ranks.all_reduce(part).numpy()  # type: ignore[func-returns-value, attr-defined]
    return _second_half(rank, p, T2 + X, params, eps, act)


@mistake
def sums_through_torch_Tensor(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """each sum has gone through float32, and half of the digits are lost: `torch.Tensor(part)` makes that, whatever the array is. `torch.from_numpy` keeps the number type."""
    _refuse(p, params, h)

    def narrow(part: F) -> F:
        tensor = torch.Tensor(np.ascontiguousarray(part))
        ranks.all_reduce(tensor)
        return np.asarray(tensor.numpy())

    T3 = narrow(_attended(rank, p, norm1(X, params, eps), params, h, keep)) + X
    return np.asarray(narrow(_fed(rank, p, norm2(T3, params, eps), params, act)) + params["b2"] + T3)


@mistake
def first_through_torch_Tensor(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the first sum has gone through float32, and half of the digits are lost: `torch.Tensor(part)` makes that, whatever the array is. `torch.from_numpy` keeps the number type."""
    _refuse(p, params, h)

    def narrow(part: F) -> F:
        tensor = torch.Tensor(np.ascontiguousarray(part))
        ranks.all_reduce(tensor)
        return np.asarray(tensor.numpy())

    T3 = narrow(_attended(rank, p, norm1(X, params, eps), params, h, keep)) + X
    return np.asarray(_summed(_fed(rank, p, norm2(T3, params, eps), params, act)) + params["b2"] + T3)


@mistake
def second_through_torch_Tensor(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the second sum has gone through float32, and half of the digits are lost: `torch.Tensor(part)` makes that, whatever the array is. `torch.from_numpy` keeps the number type."""
    _refuse(p, params, h)

    def narrow(part: F) -> F:
        tensor = torch.Tensor(np.ascontiguousarray(part))
        ranks.all_reduce(tensor)
        return np.asarray(tensor.numpy())

    T3 = _summed(_attended(rank, p, norm1(X, params, eps), params, h, keep)) + X
    return np.asarray(narrow(_fed(rank, p, norm2(T3, params, eps), params, act)) + params["b2"] + T3)


@mistake
def two_other_collectives(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, and the ranks meet twice more than they need to: beside the two all-reduces there are two other collectives. A barrier is one too, and so is a broadcast. An all-reduce
    waits for everybody by itself."""
    H = _right(rank, p, X, params, h, keep, eps, act)
    for _ in range(2):
        ranks.all_gather([torch.zeros(1) for _ in range(p)], torch.zeros(1))
    return H


@mistake
def reduces_and_broadcasts(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """the numbers are right, and each sum takes two collectives, such as a reduce to one rank and a broadcast back. An all-reduce is both in one, and nobody stands in the middle."""
    _refuse(p, params, h)

    def gathered(part: F) -> F:
        parts = [torch.from_numpy(np.empty_like(part, order="C")) for _ in range(p)]
        ranks.all_gather(parts, torch.from_numpy(np.ascontiguousarray(part)))
        ranks.all_gather([torch.zeros(1) for _ in range(p)], torch.zeros(1))
        return np.asarray(sum(one.numpy() for one in parts))

    T3 = gathered(_attended(rank, p, norm1(X, params, eps), params, h, keep)) + X
    return np.asarray(gathered(_fed(rank, p, norm2(T3, params, eps), params, act)) + params["b2"] + T3)


@mistake
def refuses_the_width_of_a_token_too(
    rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act
) -> F:
    """you refuse where p does not divide d, besides h and f. d is not shared out: every rank has whole tokens. It need not be divisible."""
    _refuse(p, params, h)
    if X.shape[1] % p:
        raise ValueError("tokens")
    return _right(rank, p, X, params, h, keep, eps, act)


@misses_the_idea
def attention_of_all_and_divided(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """only the FFN is shared out: every rank computed all heads and brought a p-th of the result to the first meeting.
    That needs all of Wqkv and Wo on each rank, which has the heads of its own only.
    """
    _refuse(p, params, h)
    T3 = _summed(_attended(0, 1, norm1(X, params, eps), params, h, keep) / p) + X
    return _second_half(rank, p, T3, params, eps, act)


@misses_the_idea
def FFN_of_all_and_divided(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """only attention is shared out: every rank computed all hidden features and brought a p-th of the result to the second meeting. The numbers are right, and each rank needs all of W1 and W2."""
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    return np.asarray(_summed(_fed(0, 1, norm2(T3, params, eps), params, act) / p) + params["b2"] + T3)


@misses_the_idea
def FFN_by_tokens(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """in the FFN you dealt the tokens, and every rank needs all of W1 and W2. What is to be shared out are the hidden
    features: then a rank has f / p columns of W1, and the rows of W2 that meet them.
    """
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    part, own = np.zeros(X.shape, X.dtype), _share(rank, p, len(X))
    part[own] = _fed(0, 1, norm2(T3, params, eps)[own], params, act)
    return np.asarray(_summed(part) + params["b2"] + T3)


@mistake
def two_halves(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """rank 0 takes the first half, and every other rank the second, whatever p is. There are p shares."""
    _refuse(p, params, h)

    def own(width: int) -> slice:
        return slice(0, width // 2) if rank == 0 and p > 1 else slice(width // 2 if p > 1 else 0, width)

    Wqkv = np.hstack([W[:, own(W.shape[1])] for W in queries_keys_values(params["Wqkv"], params["Wo"], h)])
    T3 = (
        _summed(
            attention_of_heads(norm1(X, params, eps), Wqkv, params["Wo"][own(len(params["Wo"]))], h // min(p, 2), keep)
        )
        + X
    )
    mine = own(len(params["b1"]))
    bent = act(norm2(T3, params, eps) @ params["W1"][:, mine] + params["b1"][mine])
    return np.asarray(_summed(bent @ params["W2"][mine]) + params["b2"] + T3)


@mistake
def deals_hidden_features_out_in_turn(
    rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act
) -> F:
    """you dealt the hidden features out like cards, one to each rank in turn. With all weights at hand the sums are the
    same, but each rank has its own shards only, in blocks: rank 0 the first f / p hidden features.
    """
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    own = slice(rank, None, p)
    bent = act(norm2(T3, params, eps) @ params["W1"][:, own] + params["b1"][own])
    return np.asarray(_summed(bent @ params["W2"][own]) + params["b2"] + T3)


@mistake
def norms_before_the_sum(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """your second LayerNorm, and so the FFN, reads what attention found on its own rank alone: T4 is made before the first meeting. It is made of the sum T3, whole."""
    _refuse(p, params, h)
    T2 = _attended(rank, p, norm1(X, params, eps), params, h, keep)
    T5 = _fed(rank, p, norm2(T2 + X, params, eps), params, act)
    return np.asarray(_summed(T5) + params["b2"] + _summed(T2) + X)


@mistake
def one_meeting(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """your attention and your FFN both read X, and meet once, as in models that let the two halves run side by side.
    Here the FFN reads T4, which is made of T3, after a meeting of its own.
    """
    _refuse(p, params, h)
    T2 = _attended(rank, p, norm1(X, params, eps), params, h, keep)
    return np.asarray(_summed(T2 + _fed(rank, p, norm2(X, params, eps), params, act)) + params["b2"] + X)


@mistake
def b2_on_every_rank_and_too_late(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """two things. b2 is in the sum p times, once for each rank: it belongs to the block. And you refuse where p does not divide f only after the first all-reduce: look at both before anything is sent."""
    if h % p:
        raise ValueError("heads")
    T3 = _summed(_attended(rank, p, norm1(X, params, eps), params, h, keep)) + X
    if len(params["b1"]) % p:
        raise ValueError("hidden features")
    return np.asarray(_summed(_fed(rank, p, norm2(T3, params, eps), params, act) + params["b2"]) + T3)


@mistake
def b2_on_every_rank_and_refuses_heads_only(
    rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act
) -> F:
    """two things. b2 is in the sum p times, once for each rank: it belongs to the block. And you refuse where p does not divide the heads; where it does not divide the f hidden features, the block cannot be
    shared out evenly either."""
    if h % p:
        raise ValueError("heads")
    f = len(params["b1"]) // p * p
    cut = {"W1": params["W1"][:, :f], "b1": params["b1"][:f], "W2": params["W2"][:f]}
    return b2_on_every_rank(rank, p, X, {**params, **cut}, h, keep, eps, act)


@mistake
def averages_the_packed_columns(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """two things. You cut Wqkv into p pieces as it stands: its columns are all queries, then all keys, then all values, so cut it in three first. And you divided the sums by p: the parts are terms of one sum."""
    _refuse(p, params, h)
    Wqkv, Wo = params["Wqkv"][:, _share(rank, p, params["Wqkv"].shape[1])], _rows(rank, p, params["Wo"])
    T3 = _summed(attention_of_heads(norm1(X, params, eps), Wqkv, Wo, h // p, keep)) / p + X
    return np.asarray(_summed(_fed(rank, p, norm2(T3, params, eps), params, act)) / p + params["b2"] + T3)


@mistake
def slices_as_wide_as_a_token(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you took d / h for the width of queries, keys and values. In many models it is; here it need not be. Wo has h * v rows, and Wqkv has 2 * h * k + h * v columns."""
    _refuse(p, params, h)
    k, few = X.shape[1] // h, h // p
    pieces = [params["Wqkv"][:, (i * h + rank * few) * k : (i * h + (rank + 1) * few) * k] for i in range(3)]
    T2 = attention_of_heads(norm1(X, params, eps), np.hstack(pieces), _rows(rank, p, params["Wo"]), few, keep)
    return _second_half(rank, p, _summed(T2) + X, params, eps, act)


@right
def with_helpers(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    return _right(rank, p, X, params, h, keep, eps, act)


@right
def b2_from_rank_0(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    T3 = _first_half(rank, p, X, params, h, keep, eps)
    T5 = _fed(rank, p, norm2(T3, params, eps), params, act)
    return _summed(T5 + params["b2"] if rank == 0 else T5) + T3


@right
def equal_shares_of_everything(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    _refuse(p, params, h)
    T3 = _summed(_attended(rank, p, norm1(X, params, eps), params, h, keep) + X / p)
    return _summed(_fed(rank, p, norm2(T3, params, eps), params, act) + params["b2"] / p + T3 / p)


@right
def head_by_head(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    _refuse(p, params, h)
    (k, v), (Wq, Wk, Wv) = widths(params["Wqkv"], params["Wo"], h), queries_keys_values(params["Wqkv"], params["Wo"], h)
    T1, T2 = norm1(X, params, eps), np.zeros_like(X, order="C")
    for a in range(rank * (h // p), (rank + 1) * (h // p)):
        at, of = slice(a * k, (a + 1) * k), slice(a * v, (a + 1) * v)
        T2 += _heads(T1, np.hstack([Wq[:, at], Wk[:, at], Wv[:, of]]), 1, v, keep) @ params["Wo"][of]
    ranks.all_reduce(torch.from_numpy(T2))
    return _second_half(rank, p, T2 + X, params, eps, act)


@right
def cut_by_numpy(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """np.split refuses hidden features that cannot be shared out by itself."""
    v = _value_width(params, h)
    if h % p:
        raise ValueError("heads")
    Wqkv = np.hstack([np.split(W, p, axis=1)[rank] for W in queries_keys_values(params["Wqkv"], params["Wo"], h)])
    W1, b1, W2 = (np.split(params[name], p, axis=-1 if name != "W2" else 0)[rank] for name in ("W1", "b1", "W2"))
    T2 = _heads(norm1(X, params, eps), Wqkv, h // p, v, keep) @ np.split(params["Wo"], p)[rank]
    T3 = _summed(T2) + X
    return _summed(act(norm2(T3, params, eps) @ W1 + b1) @ W2) + params["b2"] + T3


@right
def in_torch(rank: int, p: int, X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """Tensors from end to end, and one way out for a single rank."""
    _refuse(p, params, h)
    if p == 1:
        return _by_oneself(X, params, h, keep, eps, act)
    x, w = torch.from_numpy(np.array(X)), {name: torch.from_numpy(np.array(W)) for name, W in params.items()}
    (k, v), mine = widths(params["Wqkv"], params["Wo"], h), h // p
    normed = torch.nn.functional.layer_norm(x, x.shape[-1:], w["gain1"], w["bias1"], eps)
    rows = [
        part.view(len(part), h, -1)[:, rank * mine : (rank + 1) * mine]
        for part in torch.tensor_split(w["Wqkv"], (h * k, 2 * h * k), dim=1)
    ]
    q, key, value = (torch.einsum("nd,dhk->hnk", normed, part) for part in rows)
    hidden = torch.from_numpy(~keep)
    scores = (q @ key.transpose(1, 2) / k**0.5).masked_fill(hidden, -torch.inf)
    seen = torch.nan_to_num(scores.softmax(-1), nan=0.0) if hidden.all(1).any() else scores.softmax(-1)
    part = torch.einsum("hnv,hvd->nd", seen @ value, w["Wo"].view(h, v, -1)[rank * mine : (rank + 1) * mine])
    part = part.contiguous()
    ranks.all_reduce(part)
    x = x + part
    normed = torch.nn.functional.layer_norm(x, x.shape[-1:], w["gain2"], w["bias2"], eps)
    own = slice(rank * len(w["b1"]) // p, (rank + 1) * len(w["b1"]) // p)
    bent = torch.from_numpy(np.asarray(act((normed @ w["W1"][:, own] + w["b1"][own]).numpy())))
    part = bent @ w["W2"][own]
    ranks.all_reduce(part)
    return (x + part + w["b2"]).numpy()
