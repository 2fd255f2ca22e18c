"""Softmax over what is kept, also where nothing is."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.inputs import causal, normal, random_keep, sizes
from autograder.exercises.model import B, Case, F, case, mistake, probe, right

USES = ("mask_scores",)


def masked_softmax(S: Float[np.ndarray, "*b n m"], keep: Bool[np.ndarray, "*#b n m"]) -> Float[np.ndarray, "*b n m"]:
    """Softmax of each row over the places that are kept, 0 at the others; a row that keeps nothing is all 0."""
    wide = np.broadcast_to(keep, S.shape)
    out = np.zeros(S.shape)
    for row in np.ndindex(S.shape[:-1]):
        kept = [j for j in range(S.shape[-1]) if wide[row][j]]
        if kept:
            top = np.max(S[row][kept])  # NaN where one of them is
            total = sum(math.exp(S[row][j] - top) for j in kept)
            for j in kept:
                out[row][j] = math.exp(S[row][j] - top) / total
    return out


PUBLIC = (
    case(np.array([[1.0, 3.0], [2.0, 2.0]]), np.array([[True, False], [True, True]])),
    case(
        np.array([[0.0, 1.0, -1.0], [2.0, 0.0, 1.0]]),
        np.array([[True, True, False], [False, False, False]]),
    ),
    case(
        np.array([[-100.0, 10_000.0, -101.0], [10_000.0, 9_999.0, 0.0]]),
        np.array([[True, False, True], [True, True, False]]),
    ),
    case(
        np.array([[1.0, np.nan, 0.0], [2.0, 1.0, np.nan]]),
        np.array([[True, False, True], [True, True, True]]),
    ),
    case(
        np.array([[[0.0, 1.0], [2.0, 0.0]], [[1.0, 1.0], [0.0, 3.0]], [[-1.0, 5.0], [1.0, -1.0]]], np.float32),
        np.array([[True, False], [True, True]]),
    ),
)


@probe(1.0)
def scores_to_weigh(rng: np.random.Generator) -> list[Case]:
    """each row shares its weight out among what it may see"""
    b, n, m = sizes(rng, 3, 3)
    return [
        case(normal(rng, n, m, scale=2.0), random_keep(rng, n, m)),
        case(normal(rng, m, m, scale=2.0), causal(m, m)),
        case(normal(rng, b, n, m, scale=2.0), random_keep(rng, b, n, m)),
    ]


@probe(0.5)
def one_mask_to_weigh(rng: np.random.Generator) -> list[Case]:
    """one mask for a whole batch"""
    b, h, n, m = sizes(rng, 4)
    return [
        case(normal(rng, b, n, m, scale=2.0), random_keep(rng, n, m)),
        case(normal(rng, b, h, n, m, scale=2.0), random_keep(rng, b, 1, n, m)),
        case(normal(rng, n, n, n, scale=2.0), causal(n, n)),
    ]


@probe(1.0)
def empty_rows(rng: np.random.Generator) -> list[Case]:
    """a row with nothing to attend to is all zeros"""
    b, n, m = sizes(rng, 3, 3)
    some, batch = random_keep(rng, n, m), random_keep(rng, b, n, m)
    some[rng.integers(n)] = False
    batch[rng.integers(b), rng.integers(n)] = False
    return [
        case(normal(rng, n, m, scale=2.0), some),
        case(normal(rng, b, n, m, scale=2.0), batch),
        case(normal(rng, n, m, scale=2.0), np.zeros((n, m), bool)),
    ]


@probe(0.5)
def far_apart(rng: np.random.Generator) -> list[Case]:
    """hidden scores far above the kept ones, and scores of 10000 and -10000"""
    # Hidden scores far above the kept ones, kept ones far below the others', and large ones that are kept.
    n, m = sizes(rng, 2, 4)
    above, keep = normal(rng, n, m, scale=2.0), random_keep(rng, n, m)
    above[~keep] += 1e4
    below = normal(rng, n, m, scale=2.0)
    below[0] -= 1e4
    large = normal(rng, m, m, scale=2.0)
    large[1, 0], large[2, 1] = 1e4, -1e4
    return [case(above, keep), case(below, random_keep(rng, n, m)), case(large, causal(m, m))]


@probe(0.5)
def not_numbers(rng: np.random.Generator) -> list[Case]:
    """a NaN that is kept stays visible, one that is hidden does not show"""
    # NaN at a hidden place of one row, and in another row, which hides nothing, at a kept one.
    n, m = sizes(rng, 2, 4)
    S, keep = normal(rng, n, m, scale=2.0), random_keep(rng, n, m)
    keep[0] = True
    S[0, rng.integers(m)] = np.nan
    S[1, np.argmin(keep[1])] = np.nan
    other = normal(rng, m, m, scale=2.0)
    other[0, m - 1] = np.nan
    return [case(S, keep), case(other, causal(m, m))]


@probe(0.5)
def weighed_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, float32, and arrays that are not contiguous"""
    n, m = sizes(rng, 2, 3)
    return [
        case(normal(rng, 1, 1), np.array([[True]])),
        case(normal(rng, 1, m), random_keep(rng, 1, m)),
        case(normal(rng, n, m, scale=2.0, dtype="float32"), random_keep(rng, n, m)),
        case(normal(rng, n, m, scale=2.0, order="strided"), np.asfortranarray(random_keep(rng, n, m))),
    ]


@mistake
def nan_in_empty_rows(S: F, keep: B) -> F:
    """in a row that may attend to nothing every score is -inf, and -inf minus -inf is NaN. Such a row should come out
    as zeros."""
    M = np.where(keep, S, -np.inf)
    with np.errstate(invalid="ignore"):
        E = np.exp(M - M.max(axis=-1, keepdims=True))
        return E / E.sum(axis=-1, keepdims=True)


@mistake
def uniform_in_empty_rows(S: F, keep: B) -> F:
    """a row that may attend to nothing came out uniform: all its scores were the same finite number, be it a large
    negative one that hides, or a 0 put there against the NaN. None is lower than the others then, and softmax shares
    the weight out evenly. It should get no weight at all."""
    M = np.where(keep, S, -1e9)
    E = np.exp(M - M.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


@mistake
def adds_minus_a_billion(S: F, keep: B) -> F:
    """a row that may attend to nothing still has weights. You added one large number to all of its scores, and softmax
    ignores a shift."""
    M = S + np.where(keep, 0.0, -1e9).astype(S.dtype)
    E = np.exp(M - M.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


@mistake
def fills_twenty_below(S: F, keep: B) -> F:
    """you hid with a score of -20. Beside kept scores that are lower still, the hidden ones get all the weight."""
    M = np.where(keep, S, -20.0)
    E = np.exp(M - M.max(axis=-1, keepdims=True)) * keep.any(axis=-1, keepdims=True)
    return E / np.where(E.sum(axis=-1, keepdims=True) == 0, 1, E.sum(axis=-1, keepdims=True))


@mistake
def hides_nan(S: F, keep: B) -> F:
    """a NaN among the kept scores came out as a harmless number. What you do about empty rows has caught that row too:
    nan_to_num mends every NaN, and a question like total > 0 is answered no by a NaN. But this one would have told of
    a bug elsewhere. Treat the rows that keep nothing, and only those."""
    M = np.where(keep, S, -np.inf)
    with np.errstate(invalid="ignore"):
        E = np.exp(M - M.max(axis=-1, keepdims=True))
        return np.nan_to_num(E / E.sum(axis=-1, keepdims=True))


@mistake
def zeros_before_softmax(S: F, keep: B) -> F:
    """you set hidden scores to 0 before softmax. exp(0) = 1, so hidden tokens still get weight, in rows of low scores
    even most of it."""
    M = np.where(keep, S, 0)
    E = np.exp(M - M.max(axis=-1, keepdims=True)) * keep.any(axis=-1, keepdims=True)
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


@mistake
def zeroes_after_softmax(S: F, keep: B) -> F:
    """you took softmax over all scores and zeroed afterwards. That is equal on paper; but where a hidden score is far
    above the kept ones, their weights have already been rounded to 0. Hide first."""
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    Z = E / E.sum(axis=-1, keepdims=True) * keep
    with np.errstate(invalid="ignore"):
        return Z / Z.sum(axis=-1, keepdims=True)


@mistake
def zeroes_after_with_a_guard(S: F, keep: B) -> F:
    """you took softmax over all scores and zeroed afterwards. Where a hidden score is far above the kept ones, their
    weights have been rounded to 0 by then, and the guard you put in for empty rows hides that. Hide first."""
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    Z = E / E.sum(axis=-1, keepdims=True) * keep
    total = Z.sum(axis=-1, keepdims=True)
    return Z / np.where(total == 0, 1, total)


@mistake
def zeroes_and_leaves_it(S: F, keep: B) -> F:
    """you took softmax over all scores and set the hidden weights to 0. The rows no longer add up to 1, and each
    weight that is left has been divided by a sum in which the future takes part. Hide before softmax."""
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True) * keep


@mistake
def renormalises_by_zero_renorm(S: F, keep: B) -> F:
    """you took softmax over all scores and handed it to zero_renorm. That is equal on paper only: far below a hidden
    score the kept weights are rounded to 0, and an empty row becomes 0/0. And zero_renorm knows tables of two axes,
    not batches. Hide first."""
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    Z = np.where(keep, E / E.sum(axis=-1, keepdims=True), 0)
    with np.errstate(invalid="ignore"):
        return Z / Z.sum(axis=1, keepdims=True)


@mistake
def axis_one_for_the_last(S: F, keep: B) -> F:
    """you take the maximum and the sum along axis 1. In a table that is the last axis, and in a batch of tables it is
    not. Count from the end: the last axis is -1, however many there are."""
    M = np.where(keep, S, -np.inf)
    top = M.max(axis=1, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=1, keepdims=True)
    return E / np.where(total == 0, 1, total)


@mistake
def empty_rows_lie_flat(S: F, keep: B) -> F:
    """keep.any(axis=-1) has one answer for each row, in the shape [n], and NumPy lines that up with the columns. Each
    answer belongs to a whole row: keep the axis."""
    M = np.where(keep, S, -np.inf)
    with np.errstate(invalid="ignore"):
        E = np.exp(M - M.max(axis=-1, keepdims=True))
        W = E / E.sum(axis=-1, keepdims=True)
    return np.where(keep.any(axis=-1), W, 0)


@mistake
def empties_by_index(S: F, keep: B) -> F:
    """you pick the empty rows by an index, and NumPy matches it with the first axes. One mask for a whole batch says
    nothing of the first axis. Choose between two values instead, with something that broadcasts."""
    M = np.where(keep, S, -np.inf)
    with np.errstate(invalid="ignore"):
        E = np.exp(M - M.max(axis=-1, keepdims=True))
        W = E / E.sum(axis=-1, keepdims=True)
    W[~keep.any(axis=-1)] = 0
    return W


@mistake
def loops_over_one_table(S: F, keep: B) -> F:
    """your loop goes over the first axis, as if it were always the rows. Of a batch [b, n, m] the first axis are its
    tables. Work along the last axis without a loop, and every shape is served."""
    out = np.zeros_like(S)
    for i in range(len(S)):
        if keep[i].any():
            kept = S[i][keep[i]]
            E = np.exp(kept - kept.max())
            out[i][keep[i]] = E / E.sum()
    return out


@mistake
def softmax_without_shift(S: F, keep: B) -> F:
    """you took exp of the scores as they are. exp(10000) is infinite: subtract the largest score of the row first, the
    largest among the kept."""
    with np.errstate(over="ignore", invalid="ignore"):
        E = np.where(keep, np.exp(S), 0)
        total = E.sum(axis=-1, keepdims=True)
        return E / np.where(total == 0, 1, total)


@mistake
def shifts_by_one_maximum(S: F, keep: B) -> F:
    """you subtracted the largest score of the whole array. A row whose own scores are far below it is rounded to
    nothing: each row needs its own maximum."""
    M = np.where(keep, S, -np.inf)
    E = np.exp(M - M[np.isfinite(M)].max(initial=-1e300))
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


@mistake
def softmax_down_columns(S: F, keep: B) -> F:
    """your columns add up to 1. The weights of token i lie in row i: softmax runs over the last axis."""
    M = np.where(keep, S, -np.inf)
    top = M.max(axis=-2, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=-2, keepdims=True)
    return E / np.where(total == 0, 1, total)


@mistake
def attends_to_the_hidden(S: F, keep: B) -> F:
    """the weights lie on the hidden places. True means: may attend."""
    M = np.where(keep, -np.inf, S)
    top = M.max(axis=-1, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


@mistake
def adds_to_a_nan(S: F, keep: B) -> F:
    """a NaN at a hidden place got into the answer. You add -inf to what stands there, and NaN plus -inf is NaN.
    Replace what is hidden: then it cannot matter what it was."""
    with np.errstate(invalid="ignore"):
        M = S + np.where(keep, 0.0, -np.inf).astype(S.dtype)
    top = M.max(axis=-1, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


@mistake
def softmax_in_place(S: F, keep: B) -> F:
    """you wrote into the caller's scores. They are still needed: make a new array."""
    np.copyto(S, -np.inf, where=~keep)
    top = S.max(axis=-1, keepdims=True)
    E = np.exp(S - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


@right
def softmax_by_hiding(S: F, keep: B) -> F:
    M = np.where(keep, S, -np.inf)
    top = M.max(axis=-1, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


@right
def softmax_emptied_afterwards(S: F, keep: B) -> F:
    M = np.where(keep, S, -np.inf)
    with np.errstate(invalid="ignore"):
        E = np.exp(M - M.max(axis=-1, keepdims=True))
        W = E / E.sum(axis=-1, keepdims=True)
    return np.where(keep.any(axis=-1, keepdims=True), W, 0)


@right
def softmax_by_loops(S: F, keep: B) -> F:
    keep = np.broadcast_to(keep, S.shape)
    out = np.zeros_like(S)
    for row in np.ndindex(S.shape[:-1]):
        kept = S[row][keep[row]]
        if len(kept):
            E = np.exp(kept - kept.max())
            out[row][keep[row]] = E / E.sum()
    return out


@right
def softmax_by_torch(S: F, keep: B) -> F:
    import torch

    kept = torch.from_numpy(np.array(keep))
    W = torch.from_numpy(S.copy()).masked_fill(~kept, -torch.inf).softmax(dim=-1)
    return torch.where(kept.any(dim=-1, keepdim=True), W, 0).numpy()


@right
def softmax_by_where_twice(S: F, keep: B) -> F:
    top = np.max(S, axis=-1, keepdims=True, initial=-np.finfo(S.dtype).max, where=keep)
    E = np.where(keep, np.exp(np.where(keep, S - top, 0)), 0)
    return E / np.where(keep.any(axis=-1, keepdims=True), E.sum(axis=-1, keepdims=True), 1)
