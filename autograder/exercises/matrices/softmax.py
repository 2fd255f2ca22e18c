"""Softmax along any axis of any array."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right


def softmax(S: Float[np.ndarray, "*s"], axis: int = -1) -> Float[np.ndarray, "*s"]:
    """Along `axis`, entries become positive, keep their order, and add up to 1."""
    lines = np.moveaxis(np.asarray(S, np.float64), axis, -1)
    out = np.empty(lines.shape)
    for where in np.ndindex(lines.shape[:-1]):
        largest = max(lines[where])
        powers = [math.exp(s - largest) for s in lines[where]]
        total = math.fsum(powers)
        out[where] = [power / total for power in powers]
    return np.ascontiguousarray(np.moveaxis(out, -1, axis))


PUBLIC = (
    case(np.array([[1.0, 2.0], [3.0, 3.0]])),
    case(np.array([[1000.0, 1001.0], [0.0, 1.0]])),
    case(np.array([[0.0, 1.0, 2.0], [-1.0, -1.0, 3.0]])),
    case(np.array([[1.0, 4.0, 0.0], [3.0, 2.0, 0.5]]), 0),
    case(np.array([[1.0, 0.0, 3.0], [2.0, -2.0, 0.0]], np.float32)),
    case(np.array([[[1.0, 0.0], [2.0, 1.0], [0.0, -3.0]], [[0.0, 1.0], [0.0, 2.0], [4.0, 0.0]]]), 1),
)


@probe(0.5)
def tables(rng: np.random.Generator) -> list[Case]:
    """along the last axis of arrays with one, two and three axes"""
    n, m, b = sizes(rng, 3)
    return [
        case(normal(rng, n, m, scale=2.0)),
        case(normal(rng, m, scale=2.0)),
        case(normal(rng, b, n, m, scale=2.0)),
    ]


@probe(0.5)
def other_axes(rng: np.random.Generator) -> list[Case]:
    """along another axis when one is asked for"""
    n, m, b = sizes(rng, 3)
    return [
        case(normal(rng, n, m, scale=2.0), 0),
        case(normal(rng, b, n, m, scale=2.0), 1),
        case(normal(rng, b, n, m, scale=2.0), -2),
        case(normal(rng, n, m, scale=2.0), 1),
    ]


@probe(0.5)
def square_tables(rng: np.random.Generator) -> list[Case]:
    """square tables, where a lost axis goes unnoticed"""
    n, b = sizes(rng, 2)
    return [case(normal(rng, n, n, scale=2.0)), case(normal(rng, b, n, n, scale=2.0))]


@probe(1.0)
def huge_scores(rng: np.random.Generator) -> list[Case]:
    """scores of ±10 000, in one row or in all"""
    n, m = sizes(rng, 2, low=3)
    S, T = normal(rng, n, m, scale=2.0), normal(rng, n, n, scale=2.0)
    S[0] += 1e4
    T[1] += 1e4
    T[2] -= 1e4
    low = normal(rng, n, m, scale=2.0) - 1e4
    spread = np.array([[1e4, -1e4, 0.0], [-1e4, -1e4, -1e4]])
    return [case(S), case(T), case(low), case(spread)]


@probe(0.5)
def tables_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single row, a single column, float32, and arrays that are not contiguous"""
    n, m = sizes(rng, 2)
    return [
        case(normal(rng, 1, m, scale=2.0)),
        case(normal(rng, n, 1, scale=2.0)),
        case(normal(rng, n, m, scale=2.0, dtype="float32")),
        case(normal(rng, n, m, scale=2.0, order="strided")),
        case(normal(rng, n, m, scale=2.0, order="F"), 0),
    ]


@mistake
def columns_sum_to_one(S: F, axis: int = -1) -> F:
    """your columns add up to 1, whatever axis is asked for. Unless another axis is asked for it should be the last
    one: in a table of scores, each row."""
    E = np.exp(S - S.max(axis=0, keepdims=True))
    return E / E.sum(axis=0, keepdims=True)


@mistake
def ignores_axis(S: F, axis: int = -1) -> F:
    """you work along the last axis even where another one is asked for. Hand the argument on."""
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


@mistake
def over_everything(S: F, axis: int = -1) -> F:
    """your whole table adds up to 1. Each row should do so by itself: every query has its own weights to give away."""
    E = np.exp(S - S.max())
    return E / E.sum()


@mistake
def no_keepdims(S: F, axis: int = -1) -> F:
    """the largest entries and the sums have lost their axis: [n, m] became [n], which numpy then lines up with the
    columns. Where n = m it says nothing; keep the axis, with size 1."""
    E = np.exp(S - S.max(axis=axis))
    return E / E.sum(axis=axis)


@mistake
def sum_without_keepdims(S: F, axis: int = -1) -> F:
    """the sums have lost their axis: [n, m] became [n], which numpy then lines up with the columns. Where n = m it
    says nothing; keep the axis, with size 1."""
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis)


@mistake
def max_without_keepdims(S: F, axis: int = -1) -> F:
    """the largest entries have lost their axis: [n, m] became [n], which numpy then subtracts from the columns.
    Where n = m it says nothing; keep the axis, with size 1."""
    E = np.exp(S - S.max(axis=axis))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def global_max(S: F, axis: int = -1) -> F:
    """you subtracted the largest entry of the whole table. A row that lies far below it turns into zeros, and 0/0
    is not a number: each row needs a maximum of its own."""
    E = np.exp(S - S.max())
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def no_shift(S: F, axis: int = -1) -> F:
    """exp overflows: e to the 1000 is no float64. A constant subtracted from a whole row changes no weight;
    subtract one that makes every exponent at most 0."""
    E = np.exp(S)
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def neither_shift_nor_keepdims(S: F, axis: int = -1) -> F:
    """two things at once. The sums have lost their axis: [n, m] became [n], which numpy lines up with the columns. And
    exp overflows for scores of 1000: subtract something first that changes no weight."""
    E = np.exp(S)
    return E / E.sum(axis=axis)


@mistake
def over_everything_unshifted(S: F, axis: int = -1) -> F:
    """two things at once. Your whole table adds up to 1, where each row should do so by itself. And exp overflows for
    scores of 1000: subtract something first that changes no weight."""
    E = np.exp(S)
    return E / E.sum()


@mistake
def no_exponential(S: F, axis: int = -1) -> F:
    """you divided the scores themselves by their sum. Scores may be negative, and weights may not: first make every
    entry positive."""
    return S / S.sum(axis=axis, keepdims=True)


@mistake
def shifts_in_place(S: F, axis: int = -1) -> F:
    """the weights are right, but the caller's table was changed on the way: `-=` and `out=` write into the array
    you were given."""
    S -= S.max(axis=axis, keepdims=True)
    E = np.exp(S)
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def casts_to_float64(S: F, axis: int = -1) -> F:
    """the numbers are right, but float32 went in and float64 came out. Leave the type as it is: a model in float32
    is half as large."""
    S = np.array(S, dtype=np.float64)
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True)


@right
def softmax_by_logs(S: F, axis: int = -1) -> F:
    return np.exp(S - np.logaddexp.reduce(S, axis=axis, keepdims=True))


@right
def softmax_slice_by_slice(S: F, axis: int = -1) -> F:
    def one(s: F) -> F:
        powers = np.exp(s - s.max())
        return powers / powers.sum()

    return np.apply_along_axis(one, axis, S)


@right
def softmax_of_moved_axis(S: F, axis: int = -1) -> F:
    lines = np.moveaxis(S, axis, 0)
    powers = np.exp(lines - lines.max(0))
    return np.moveaxis(powers / powers.sum(0), 0, axis)


@right
def softmax_by_torch(S: F, axis: int = -1) -> F:
    import torch

    return torch.softmax(torch.from_numpy(S.copy()), dim=axis).numpy()
