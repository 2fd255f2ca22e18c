"""Softmax over what is kept, also where nothing is.

Hidden scores become −∞ before anything is compared, so they leave no trace, be they 10000 or NaN. An empty row fails
at two places: −∞ − (−∞) is NaN, so 0 is taken off there, and 0/0 is NaN, so its sum of 0 is replaced by 1. A row that
keeps a NaN has neither a maximum of −∞ nor a sum of 0, and stays as loud as it should be. Mending every NaN
afterwards would silence that alarm, and a large negative number in place of −∞ gives an empty row even weights.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.inputs import causal, normal, random_keep, sizes
from autograder.exercises.model import B, Case, F, case, misses_the_idea, mistake, probe, right

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
        np.array([[[0.0, 1.0, 4.0], [2.0, 0.0, 0.5]], [[1.0, 1.0, -1.0], [0.0, 3.0, 2.0]]], np.float32),
        np.array([[True, False, True], [True, True, False]]),
    ),
    # all that is kept lies below what an exponential can be, or so far from 0 that no sign may be lost
    case(
        np.array([[-1000.0, -1001.0, 5.0], [-400.0, -401.0, 5.0]]),
        np.array([[True, True, False], [True, True, False]]),
    ),
    # one row far above the other
    case(np.array([[1000.0, 999.0], [1.0, 2.0]]), np.array([[True, True], [True, True]])),
    # kept scores far apart
    case(np.array([[2000.0, 0.0, 1.0]]), np.array([[True, True, True]])),
    # masked scores whose exponential is infinite beside the kept ones, which are not lost yet
    case(np.array([[0.0, 720.0, -1.0], [1.0, 0.5, 719.0]]), np.array([[True, False, True], [True, True, False]])),
    # kept scores far below 0
    case(
        np.array([[-2e9, -2e9 - 1, 3.0], [-10_000.0, -10_001.0, 0.0]]),
        np.array([[True, True, False], [True, True, False]]),
    ),
    # so far that no finite score but the lowest is below them
    case(np.array([[-1e35, 3.0, -1e35], [1.0, 0.5, -2.0]]), np.array([[True, False, True], [True, True, False]])),
    # nobody sees anybody
    case(np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([[False, False], [False, False]])),
    # a mask for each of two heads, and two items that share them
    case(
        np.array([[[[1.0, 2.0, 0.0]], [[0.0, 1.0, 3.0]]], [[[2.0, 2.0, 1.0]], [[-1.0, 0.0, 1.0]]]]),
        np.array([[[True, False, True]], [[False, True, True]]]),
    ),
    # a mask for each of two items, for both of its heads
    case(
        np.array([[[[1.0, 2.0, 0.0]], [[0.0, 1.0, 3.0]]], [[[2.0, 2.0, 1.0]], [[-1.0, 0.0, 1.0]]]]),
        np.array([[[[True, False, True]]], [[[False, True, True]]]]),
    ),
    # nothing is as large as anything else; rows without their first place, and one without any
    case(
        np.array(
            [
                [[0.13, -1.7, 0.92], [2.4, -0.31, 0.58], [-0.77, 1.9, -2.2], [0.41, 0.66, -1.3]],
                [[-0.85, 0.27, 1.1], [0.36, -2.6, 0.74], [1.6, -0.19, 0.83], [-1.4, 0.52, 2.1]],
            ]
        ),
        np.array([[True, False, True], [False, True, True], [False, False, False], [False, False, True]]),
    ),
    # a kept score of 0
    case(np.array([[0.0, 1.5, -0.5], [0.7, 0.0, 0.0]]), np.array([[True, True, False], [False, True, True]])),
    # a mask for each table of a batch, and in one of them an empty row beside one that is not
    case(
        np.array([[[0.4, -1.2, 0.9], [1.1, 0.3, -0.6]], [[-0.5, 0.8, 1.3], [0.2, -0.9, 1.7]]]),
        np.array([[[True, False, True], [False, False, False]], [[True, True, False], [False, True, True]]]),
    ),
)


def _lowered(S: F, keep: B) -> F:
    """These scores, with the kept ones of row 1 of each table lower by 40."""
    S[..., 1, :] -= 40.0 * np.broadcast_to(keep, S.shape)[..., 1, :]
    return S


def _lowered_case(rng: np.random.Generator, keep: B, *front: int) -> Case:
    return case(_lowered(normal(rng, *front, *keep.shape, scale=2.0), keep), keep)


def _beginning_late(rng: np.random.Generator, *shape: int) -> B:
    """A random mask in which row 1 of each table begins with a masked place, and is not empty."""
    keep = random_keep(rng, *shape)
    keep[..., 1, 0], keep[..., 1, 1] = False, True
    return keep


@probe(0.5)
def scores_to_weigh(rng: np.random.Generator) -> list[Case]:
    """each row shares its weight out among what it may see"""
    b, n, m = sizes(rng, 3, 3)
    with_zeros, keep = normal(rng, n, m, scale=2.0), random_keep(rng, n, m)
    with_zeros[np.arange(n), keep.argmax(axis=1)] = 0.0
    return [
        _lowered_case(rng, _beginning_late(rng, n, m)),
        case(with_zeros, keep),
        case(normal(rng, m, m, scale=2.0), causal(m, m)),
        _lowered_case(rng, _beginning_late(rng, b, n, m)),
    ]


def _with_an_empty_row(rng: np.random.Generator, *shape: int) -> B:
    """A random mask in which one row of each table is empty, and another begins with a masked place."""
    keep = _beginning_late(rng, *shape)
    keep[..., 0, :] = False
    return keep


@probe(0.5)
def one_mask_to_weigh(rng: np.random.Generator) -> list[Case]:
    """one mask for all tables, one for each table, and masks whose axes in front are missing or of length 1, with empty rows"""
    b, h, n, m = sizes(rng, 4, 2, 6)
    return [
        _lowered_case(rng, _with_an_empty_row(rng, n, m), b),
        case(normal(rng, b, h, n, m, scale=2.0), _with_an_empty_row(rng, b, 1, n, m)),
        case(normal(rng, b, h, n, m, scale=2.0), _with_an_empty_row(rng, h, n, m)),
        case(normal(rng, n, n, n, scale=2.0), _with_an_empty_row(rng, n, n)),
        case(normal(rng, n, n, n, n, scale=2.0), _with_an_empty_row(rng, n, n, n)),
    ]


@probe(1.0)
def empty_rows(rng: np.random.Generator) -> list[Case]:
    """a row with nothing to attend to is all zeros"""
    b, n, m = sizes(rng, 3, 3)
    crossed = np.ones((n, m), bool)
    crossed[0] = crossed[:, 1] = False
    return [
        _lowered_case(rng, _with_an_empty_row(rng, n, m)),
        case(normal(rng, b, n, m, scale=2.0), _with_an_empty_row(rng, b, n, m)),
        case(normal(rng, n, m, scale=2.0), np.zeros((n, m), bool)),
        case(normal(rng, n, m, scale=2.0), crossed),
    ]


@probe(0.5)
def far_apart(rng: np.random.Generator) -> list[Case]:
    """masked scores far above the kept ones, and scores of 10000, -10000 and far less than -1000000000"""
    # Masked scores far above the kept ones, kept ones far below the others', all of them far below 0, and large ones
    # that are kept.
    n, m = sizes(rng, 2, 4)
    above, keep = normal(rng, n, m, scale=2.0), _beginning_late(rng, n, m)
    above[~keep] += 1e4
    above[0], keep[0] = np.arange(m), np.arange(m) < m - 1
    above[0, -1] = m + 720.0
    below, some = normal(rng, n, m, scale=2.0), random_keep(rng, n, m)
    below[0] -= 1e4
    below[1] = np.where(some[1], -2e9 - np.arange(m), below[1])
    alone, kept = normal(rng, n, m, scale=2.0), random_keep(rng, n, m)
    alone[kept] -= np.repeat([1000.0, 400.0], [1, n - 1])[:, None].repeat(m, axis=1)[kept]
    large = normal(rng, m, m, scale=2.0)
    large[1, 0], large[2, 1] = 1e4, -1e4
    lowest, seen = normal(rng, n, m, scale=2.0), _beginning_late(rng, n, m)
    lowest[1, seen[1]] = -1e35
    return [case(above, keep), case(below, some), case(alone, kept), case(large, causal(m, m)), case(lowest, seen)]


@probe(1.0)
def not_numbers(rng: np.random.Generator) -> list[Case]:
    """a NaN that is kept stays visible, one that is masked does not show"""
    # NaN at a masked place of one row, and in another row, which hides nothing, at a kept one.
    n, m = sizes(rng, 2, 4)
    keep = _beginning_late(rng, n, m)
    keep[0] = True
    S = _lowered(normal(rng, n, m, scale=2.0), keep)
    S[0, rng.integers(m)] = np.nan
    S[1, np.argmin(keep[1])] = np.nan
    other = normal(rng, m, m, scale=2.0)
    other[0, m - 1] = np.nan
    return [case(S, keep), case(other, causal(m, m))]


@probe(0.5)
def weighed_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, float32, arrays that lie otherwise in memory, as a transpose does, and an empty row in each"""
    n, m = sizes(rng, 2, 3)
    return [
        case(normal(rng, 1, 1), np.array([[True]])),
        case(normal(rng, 1, m), random_keep(rng, 1, m)),
        case(normal(rng, n, m, scale=2.0, dtype="float32"), _with_an_empty_row(rng, n, m)),
        case(normal(rng, n, m, scale=2.0, order="strided"), np.asfortranarray(_with_an_empty_row(rng, n, m))),
        _lowered_case(rng, _with_an_empty_row(rng, n, m)),
    ]


def _weighed(M: F, top: F, guarded: bool = True) -> F:
    """Exponentials of M less `top`, over their sums; where a sum is 0 the row is zeros, or NaN if there is no guard."""
    with np.errstate(all="ignore"):
        E = np.exp(M - top)
        total = E.sum(axis=-1, keepdims=True)
        return np.asarray(E / np.where(guarded & (total == 0), 1, total))


def _tops(M: F) -> F:
    """The largest of each row, and 0 in rows that are -inf throughout."""
    top = M.max(axis=-1, keepdims=True)
    return np.asarray(np.where(np.isneginf(top), 0, top))


def _hidden(S: F, keep: B, fill: float = -np.inf) -> F:
    return np.where(keep, S, fill)


@misses_the_idea
def nan_in_empty_rows(S: F, keep: B) -> F:
    """a row that may attend to nothing came out as NaN, and should come out as zeros. Two steps can make it so: all its
    scores are -inf, and -inf minus -inf is NaN; and where that is mended, its exponentials are 0, and 0 / 0 is NaN."""
    M = _hidden(S, keep)
    with np.errstate(invalid="ignore"):
        return _weighed(M, M.max(axis=-1, keepdims=True), guarded=False)


@mistake
def empty_rows_along_axis_one(S: F, keep: B) -> F:
    """you ask along axis 1 whether a row keeps anything, so that an empty row can stay NaN. In one table [n, m] axis 1 holds the
    keys; with an axis in front, [b, n, m], it holds the queries. Which number says "the last axis"?"""
    P = nan_in_empty_rows(S, keep)
    return np.where(keep.any(axis=1, keepdims=True), P, 0.0).astype(S.dtype)


@mistake
def empty_by_its_column(S: F, keep: B) -> F:
    """you ask of each column whether it keeps anything, or of each key whether anybody sees it. It is a row that may be empty: a query that sees nobody. Its NaN is
    still there."""
    M = _hidden(S, keep)
    with np.errstate(invalid="ignore"):
        P = _weighed(M, M.max(axis=-1, keepdims=True), guarded=False)
    return np.where(keep.any(axis=-2, keepdims=True), P, 0.0).astype(S.dtype)


@mistake
def axis_put_in_where_one_is_missing(S: F, keep: B) -> F:
    """where the mask has an axis less than the scores, you put one in behind its first. Axes that are missing in front take care of
    themselves, and each axis of the mask meets its own."""
    wide = keep[:, None] if keep.ndim == S.ndim - 1 else keep
    M = _hidden(S, wide)
    return _weighed(M, _tops(M))


@mistake
def exponentials_of_bare_scores(S: F, keep: B) -> F:
    """you took the exponentials of the scores as they are. A large one overflows to inf, and inf / inf, or inf times 0, is NaN; a
    row far below zero leaves 0 / 0. Take the largest kept score of each row off first."""
    with np.errstate(over="ignore", invalid="ignore"):
        E = np.exp(S) * keep
        total = E.sum(axis=-1, keepdims=True)
        return np.asarray(E / np.where(total == 0, 1, total), S.dtype)


@mistake
def only_empty_tables(S: F, keep: B) -> F:
    """you ask whether a whole mask is empty. A single row can be empty, too, and is NaN still: ask of each
    row."""
    M = _hidden(S, keep)
    if not keep.any():
        return np.zeros_like(S)
    with np.errstate(invalid="ignore"):
        return _weighed(M, M.max(axis=-1, keepdims=True), guarded=False)


@mistake
def uniform_in_empty_rows(S: F, keep: B) -> F:
    """a row that may attend to nothing came out uniform: all its scores were the same large negative number, and softmax shares the
    weight out evenly. It should get no weight at all. And a kept score can lie lower still."""
    M = _hidden(S, keep, -1e9)
    return _weighed(M, _tops(M))


@mistake
def uniform_by_the_lowest_number(S: F, keep: B) -> F:
    """a row that may attend to nothing came out uniform. Either all its scores were the same finite number, of which softmax makes equal
    shares, or you put equal shares there. It should get no weight at all."""
    M = _hidden(S, keep, np.finfo(S.dtype).min)
    return _weighed(M, _tops(M))


@mistake
def adds_minus_a_billion(S: F, keep: B) -> F:
    """a row that may attend to nothing still has weights. You added one large number to all of its scores, and
    softmax ignores a shift."""
    M = S + np.where(keep, 0.0, -1e9).astype(S.dtype)
    return _weighed(M, _tops(M))


@mistake
def fills_with_some_lower_number(S: F, keep: B) -> F:
    """you hid with a finite score, lower than -1000000000. However low it is, a kept score may lie lower, and then the hidden ones get
    the weight. Only one number is below every score."""
    M = _hidden(S, keep, -1e20)
    return _weighed(M, _tops(M)) * keep


@mistake
def fills_twenty_below(S: F, keep: B) -> F:
    """you hid with a score of -20. Beside kept scores as low as that, or lower, the masked ones get weight,
    even all of it. Only one number is below every score."""
    M = _hidden(S, keep, -20.0)
    return _weighed(M, _tops(M)) * keep.any(axis=-1, keepdims=True)


@mistake
def fills_twenty_below_and_no_more(S: F, keep: B) -> F:
    """you hid with a score of -20. Beside kept scores as low as that, or lower, the masked ones get weight,
    even all of it. Only one number is below every score. And a row that keeps nothing should get zeros."""
    M = _hidden(S, keep, -20.0)
    return _weighed(M, _tops(M))


@mistake
def fills_a_hundred_below(S: F, keep: B) -> F:
    """you hid with a score of -100. Beside kept scores as low as that, or lower, the masked ones get weight,
    even all of it. Only one number is below every score."""
    M = _hidden(S, keep, -100.0)
    return _weighed(M, _tops(M)) * keep.any(axis=-1, keepdims=True)


@mistake
def fills_a_hundred_below_and_no_more(S: F, keep: B) -> F:
    """you hid with a score of -100. Beside kept scores as low as that, or lower, the masked ones get weight,
    even all of it. Only one number is below every score. And a row that keeps nothing should get zeros."""
    M = _hidden(S, keep, -100.0)
    return _weighed(M, _tops(M))


@mistake
def fills_a_thousand_below(S: F, keep: B) -> F:
    """you hid with a score of -1000. Beside kept scores as low as that, or lower, the masked ones get weight,
    even all of it. Only one number is below every score."""
    M = _hidden(S, keep, -1000.0)
    return _weighed(M, _tops(M)) * keep.any(axis=-1, keepdims=True)


@mistake
def fills_a_thousand_below_and_no_more(S: F, keep: B) -> F:
    """you hid with a score of -1000. Beside kept scores as low as that, or lower, the masked ones get weight,
    even all of it. Only one number is below every score. And a row that keeps nothing should get zeros."""
    M = _hidden(S, keep, -1000.0)
    return _weighed(M, _tops(M))


@mistake
def fills_ten_thousand_below(S: F, keep: B) -> F:
    """you hid with a score of -10000. Beside kept scores as low as that, or lower, the masked ones get weight,
    even all of it. Only one number is below every score."""
    M = _hidden(S, keep, -1e4)
    return _weighed(M, _tops(M)) * keep.any(axis=-1, keepdims=True)


@mistake
def fills_ten_thousand_below_and_no_more(S: F, keep: B) -> F:
    """you hid with a score of -10000. Beside kept scores as low as that, or lower, the masked ones get weight,
    even all of it. Only one number is below every score. And a row that keeps nothing should get zeros."""
    M = _hidden(S, keep, -1e4)
    return _weighed(M, _tops(M))


@mistake
def fills_a_billion_below(S: F, keep: B) -> F:
    """you hid with a score of -1e9. Beside kept scores as low as that, or lower, the masked ones get weight,
    even all of it. Only one number is below every score."""
    M = _hidden(S, keep, -1e9)
    return _weighed(M, _tops(M)) * keep.any(axis=-1, keepdims=True)


@mistake
def fills_a_billion_below_and_zeroes(S: F, keep: B) -> F:
    """you hid with a score of -1e9, and made the masked weights 0 afterwards. Beside kept scores as low as that, or lower, the masked
    ones have taken the weight of their row, even all of it, and then it is gone. Only one number is below every score."""
    M = _hidden(S, keep, -1e9)
    return np.where(keep, _weighed(M, _tops(M)), 0)


@mistake
def fills_ten_thousand_below_and_zeroes(S: F, keep: B) -> F:
    """you hid with a score of -1e4, and made the masked weights 0 afterwards. Beside kept scores as low as that, or lower, the masked
    ones have taken the weight of their row, even all of it, and then it is gone. Only one number is below every score."""
    M = _hidden(S, keep, -1e4)
    return np.where(keep, _weighed(M, _tops(M)), 0)


@mistake
def fills_a_thousand_below_and_zeroes(S: F, keep: B) -> F:
    """you hid with a score of -1000, and made the masked weights 0 afterwards. Beside kept scores as low as that, or lower, the
    masked ones have taken the weight of their row, even all of it, and then it is gone. Only one number is below every score."""
    M = _hidden(S, keep, -1000.0)
    return np.where(keep, _weighed(M, _tops(M)), 0)


@mistake
def fills_a_hundred_below_and_zeroes(S: F, keep: B) -> F:
    """you hid with a score of -100, and made the masked weights 0 afterwards. Beside kept scores as low as that, or lower, the
    masked ones have taken the weight of their row, even all of it, and then it is gone. Only one number is below every score."""
    M = _hidden(S, keep, -100.0)
    return np.where(keep, _weighed(M, _tops(M)), 0)


@mistake
def adds_a_billion_below(S: F, keep: B) -> F:
    """you hid by adding -1e9. Beside kept scores that are lower still, the masked ones get all the weight; and
    a NaN at a masked place stays one. Replace what is masked by the one number that is below every score."""
    M = S + np.where(keep, 0.0, -1e9).astype(S.dtype)
    return _weighed(M, _tops(M)) * keep.any(axis=-1, keepdims=True)


@mistake
def hides_nan(S: F, keep: B) -> F:
    """a NaN among the kept scores came out as a harmless number: what you do about empty rows has caught its row too. This NaN would have
    told of a bug elsewhere. Treat the rows that keep nothing, and only those."""
    M = _hidden(S, keep)
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(_weighed(M, M.max(axis=-1, keepdims=True), guarded=False))


@mistake
def zeros_before_softmax(S: F, keep: B) -> F:
    """you set masked scores to 0 before softmax. exp(0) = 1, so masked tokens still get weight, in rows of low
    scores even most of it."""
    M = np.where(keep, S, 0)
    return _weighed(M, _tops(M)) * keep.any(axis=-1, keepdims=True)


@mistake
def zeros_before_softmax_and_no_more(S: F, keep: B) -> F:
    """you set masked scores to 0 before softmax. exp(0) = 1, so masked tokens still get weight, in rows of low
    scores even most of it; and in a row where all are masked, an equal share each."""
    M = np.where(keep, S, 0)
    return _weighed(M, _tops(M))


@mistake
def mask_times_scores(S: F, keep: B) -> F:
    """you multiplied the scores by the mask, which makes masked ones 0 (and leaves a NaN a NaN). exp(0) = 1, so
    masked tokens still get weight."""
    M = S * keep
    return _weighed(M, _tops(M))


@mistake
def zeroes_after_softmax(S: F, keep: B) -> F:
    """masked scores took part in your softmax, or in the maximum that you subtract, and became 0 afterwards. Where one is far above
    the kept ones, or a row keeps nothing, only zeros are left, and 0 / 0 is NaN. Mask before anything is compared."""
    Z = _weighed(S, _tops(S)) * keep
    with np.errstate(invalid="ignore"):
        return Z / Z.sum(axis=-1, keepdims=True)


@mistake
def zeroes_after_with_a_guard(S: F, keep: B) -> F:
    """masked scores took part in your softmax, or in the maximum that you subtract. Where one is far above the kept ones, their
    weights are rounded to 0, and the guard for empty rows hides that. Mask before anything is compared."""
    Z = _weighed(S, _tops(S)) * keep
    total = Z.sum(axis=-1, keepdims=True)
    return Z / np.where(total == 0, 1, total)


@mistake
def zeroes_after_where_the_sum_is_positive(S: F, keep: B) -> F:
    """two things. The maximum that you subtract counts the masked scores in: the kept ones are lost beside a far larger one, or beside a
    NaN. And a sum of NaN is not > 0, so a NaN at a kept place came out as 0."""
    with np.errstate(invalid="ignore"):
        E = np.exp(S - S.max(axis=-1, keepdims=True)) * keep
        total = E.sum(axis=-1, keepdims=True)
        return np.where(total > 0, E / np.where(total > 0, total, 1), 0)


@mistake
def zeroes_and_leaves_it(S: F, keep: B) -> F:
    """you took softmax over all scores and set the masked weights to 0. The rows no longer add up to 1, and
    each weight that is left has been divided by a sum in which the future takes part. Mask before softmax."""
    return _weighed(S, _tops(S)) * keep


@mistake
def zeroes_by_choosing_and_leaves_it(S: F, keep: B) -> F:
    """you took softmax over all scores and chose 0 for the masked weights. The rows no longer add up to 1, and
    each weight that is left has been divided by a sum in which the future takes part. Mask before softmax."""
    return np.where(keep, _weighed(S, _tops(S)), 0)


@mistake
def renormalises_by_zero_renorm(S: F, keep: B) -> F:
    """you took softmax over all scores and handed it to zero_renorm. That is equal on paper only: far below a masked score the kept
    weights are rounded to 0, and an empty row becomes 0 / 0, NaN. And zero_renorm knows two axes only. Mask first."""
    Z = np.where(keep, _weighed(S, _tops(S)), 0)
    with np.errstate(invalid="ignore"):
        return Z / Z.sum(axis=1, keepdims=True)


@mistake
def axis_one_for_the_last(S: F, keep: B) -> F:
    """you take the maximum and the sum along axis 1. In one table that is the last axis, and with axes in front it is not. Count from the
    end: the last axis is -1, however many there are."""
    M = _hidden(S, keep)
    top = M.max(axis=1, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=1, keepdims=True)
    return E / np.where(total == 0, 1, total)


@mistake
def softmax_down_columns(S: F, keep: B) -> F:
    """your columns add up to 1. The weights of token i lie in row i: softmax runs over the last axis."""
    M = _hidden(S, keep)
    top = M.max(axis=-2, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=-2, keepdims=True)
    return E / np.where(total == 0, 1, total)


@mistake
def softmax_along_the_first_axis(S: F, keep: B) -> F:
    """your weights add up to 1 along axis 0. The weights of token i lie in row i: softmax runs over the last
    axis, -1, however many there are."""
    M = _hidden(S, keep)
    top = M.max(axis=0, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=0, keepdims=True)
    return E / np.where(total == 0, 1, total)


@mistake
def one_distribution_for_all(S: F, keep: B) -> F:
    """all your weights together add up to 1. Each row is a distribution of its own: sum along the last axis,
    and keep it."""
    M = _hidden(S, keep)
    E = np.exp(M - M[~np.isneginf(M)].max(initial=-1e300))
    return E / max(E.sum(), 5e-324)


@mistake
def sums_lie_flat(S: F, keep: B) -> F:
    """your sums have lost their axis, so NumPy lines up the sum of row i with column i. Each row must be
    divided by its own sum: keep the axis."""
    M = _hidden(S, keep)
    E = np.exp(M - _tops(M))
    total = E.sum(axis=-1)
    return E / np.where(total == 0, 1, total)


@mistake
def tops_lie_flat(S: F, keep: B) -> F:
    """your maxima have lost their axis, so NumPy lines up the maximum of row i with column i. Each row must be
    shifted by its own: keep the axis."""
    M = _hidden(S, keep)
    top = M.max(axis=-1)
    return _weighed(M, np.where(np.isneginf(top), 0, top))


@mistake
def tops_and_sums_lie_flat(S: F, keep: B) -> F:
    """your maxima and sums have lost their axis, so NumPy lines up those of row i with column i. Each row has
    its own: keep the axis."""
    M = _hidden(S, keep)
    top = M.max(axis=-1)
    with np.errstate(all="ignore"):
        E = np.exp(M - np.where(np.isneginf(top), 0, top))
        total = E.sum(axis=-1)
        return E / np.where(total == 0, 1, total)


@mistake
def empty_rows_lie_flat(S: F, keep: B) -> F:
    """keep.any(axis=-1) has one answer for each row, in the shape [n], and NumPy lines that up with the
    columns. Each answer belongs to a whole row: keep the axis."""
    M = _hidden(S, keep)
    with np.errstate(invalid="ignore"):
        W = _weighed(M, M.max(axis=-1, keepdims=True), guarded=False)
    return np.where(keep.any(axis=-1), W, 0)


@mistake
def empties_by_index(S: F, keep: B) -> F:
    """you pick the empty rows by an index, and NumPy matches it with the first axes. One mask for many tables says nothing of the
    first axis. Choose between two values instead, with a function that broadcasts."""
    M = _hidden(S, keep)
    with np.errstate(invalid="ignore"):
        W = _weighed(M, M.max(axis=-1, keepdims=True), guarded=False)
    W[~keep.any(axis=-1)] = 0
    return W


@mistake
def empty_by_the_first_place(S: F, keep: B) -> F:
    """you take a row for empty if its first place is masked. It may have others. Ask whether there is any True
    in it."""
    M = _hidden(S, keep)
    return _weighed(M, _tops(M)) * keep[..., :1]


@mistake
def full_rows_only(S: F, keep: B) -> F:
    """a row that hides anything came out as zeros. A row is empty if it keeps nothing: ask whether there is any
    True in it, not whether all are."""
    M = _hidden(S, keep)
    return _weighed(M, _tops(M)) * keep.all(axis=-1, keepdims=True)


@mistake
def loops_over_one_table(S: F, keep: B) -> F:
    """your loop goes over the first axis, as if it were always the rows. In [b, n, m] the first axis counts the tables. Work along the
    last axis without a loop, and every shape is served."""
    out = np.zeros_like(S)
    for i in range(len(S)):
        if keep[i].any():
            kept = S[i][keep[i]]
            E = np.exp(kept - kept.max())
            out[i][keep[i]] = E / E.sum()
    return out


@mistake
def softmax_without_shift(S: F, keep: B) -> F:
    """you took exp of the scores as they are. exp(1000) is infinite, and inf / inf is NaN; exp(-1000) is 0. Subtract the largest
    score of the row first, the largest among the kept."""
    M = _hidden(S, keep)
    with np.errstate(over="ignore"):
        return _weighed(M, np.zeros((), S.dtype))


@mistake
def softmax_without_shift_or_guard(S: F, keep: B) -> F:
    """you took exp of the scores as they are. exp(1000) is infinite, and inf / inf is NaN; exp(-1000) is 0. Subtract the largest
    score of the row first, the largest among the kept. And a row that keeps nothing becomes 0 / 0."""
    M = _hidden(S, keep)
    return _weighed(M, np.zeros((), S.dtype), guarded=False)


@mistake
def shifts_by_one_maximum(S: F, keep: B) -> F:
    """you subtracted the largest kept score of the whole array. A row whose own scores are far below it is
    rounded to nothing: each row needs its own maximum."""
    M = _hidden(S, keep)
    return _weighed(M, M[~np.isneginf(M)].max(initial=np.finfo(S.dtype).min))


@mistake
def shifts_by_one_maximum_without_guard(S: F, keep: B) -> F:
    """you subtracted the largest kept score of the whole array. A row whose own scores are far below it is rounded to nothing, and
    becomes 0 / 0, NaN: each row needs its own maximum. And a row that keeps nothing should get zeros."""
    M = _hidden(S, keep)
    with np.errstate(invalid="ignore"):
        return _weighed(M, M.max(), guarded=False)


@mistake
def shifts_by_the_maximum_of_all(S: F, keep: B) -> F:
    """you subtracted the largest score of the whole array, the masked ones counted in. A row whose kept scores
    are far below it is rounded to nothing: each row needs its own maximum, of what it keeps."""
    return _weighed(_hidden(S, keep), S.max())


@mistake
def shifts_by_no_less_than_0(S: F, keep: B) -> F:
    """where all kept scores are far below 0, their exponentials are 0: the maximum that you subtract begins at
    0 and never falls below it. A largest score may be negative. Only a row that keeps nothing needs another
    number."""
    M = _hidden(S, keep)
    return _weighed(M, np.maximum(M.max(axis=-1, keepdims=True), 0))


@mistake
def shifts_by_no_less_than_0_without_guard(S: F, keep: B) -> F:
    """where all kept scores are far below 0, their exponentials are 0, and 0/0 is NaN: the maximum that you
    subtract begins at 0 and never falls below it. A largest score may be negative. And a row that keeps nothing
    should get zeros."""
    M = _hidden(S, keep)
    return _weighed(M, np.maximum(M.max(axis=-1, keepdims=True), 0), guarded=False)


@mistake
def shifts_by_the_largest_size(S: F, keep: B) -> F:
    """you subtracted the largest absolute value of a row. Of -1000 that is 1000, which pushes it further down,
    until its exponential is 0. It is the largest score that becomes 0."""
    M = _hidden(S, keep)
    return _weighed(M, np.where(keep, np.abs(S), 0).max(axis=-1, keepdims=True))


@mistake
def shifts_by_the_mean(S: F, keep: B) -> F:
    """you subtracted the mean of the kept scores, or the smallest. The largest can still be thousands above it, and its
    exponential is infinite. Subtract the largest, and no exponential is above 1."""
    M = _hidden(S, keep)
    count = np.maximum(np.where(keep, np.ones_like(S), 0).sum(axis=-1, keepdims=True), 1)
    return _weighed(M, np.where(keep, S, 0).sum(axis=-1, keepdims=True) / count)


@mistake
def clips_the_scores(S: F, keep: B) -> F:
    """you cut the scores off at a bound. Then two scores beyond it, of 1000 and 900, get the same weight. Subtract the largest
    instead: that changes no weight."""
    M = _hidden(np.clip(S, -50, 50), keep)
    return _weighed(M, _tops(M))


@mistake
def infinity_times_zero(S: F, keep: B) -> F:
    """you took exp of masked scores too and multiplied them by 0 afterwards. Far above the kept ones such an
    exponential is infinite, and infinity times 0 is NaN; and so is NaN times 0. Mask before exp."""
    M = _hidden(S, keep)
    with np.errstate(all="ignore"):
        E = np.exp(S - _tops(M)) * keep
        total = E.sum(axis=-1, keepdims=True)
        return E / np.where(total == 0, 1, total)


@mistake
def attends_to_the_hidden(S: F, keep: B) -> F:
    """the weights lie on the masked places. True means: may attend."""
    M = _hidden(S, ~keep)
    return _weighed(M, _tops(M))


@mistake
def ignores_the_mask(S: F, keep: B) -> F:
    """you do not use keep: this is softmax over all scores. What is masked has to be out before softmax."""
    return _weighed(S, _tops(S))


@mistake
def own_triangle(S: F, keep: B) -> F:
    """you made a causal mask of your own. Which mask it is comes as an argument, keep, and it may be another
    one."""
    M = _hidden(S, np.tril(np.ones_like(S, bool)))
    return _weighed(M, _tops(M))


@mistake
def mask_turned(S: F, keep: B) -> F:
    """you transposed the mask, so that columns stand for rows. Row i of the mask belongs to row i of the scores."""
    M = _hidden(S, keep.swapaxes(-1, -2))
    return _weighed(M, _tops(M))


@mistake
def mask_of_the_first_item(S: F, keep: B) -> F:
    """you used the first table of the mask for all. Where the mask has axes in front, each table of scores may have one of its own."""
    M = _hidden(S, keep.reshape(-1, *keep.shape[-2:])[0])
    return _weighed(M, _tops(M))


@mistake
def axis_for_heads_put_in(S: F, keep: B) -> F:
    """you put a new axis into the mask, behind its first one, where it has three axes and the scores have four. Its shape does not say
    which axis is missing. The rule is that of any broadcast: what is missing is missing in front."""
    M = _hidden(S, keep[:, None] if keep.ndim == 3 and S.ndim == 4 else keep)
    return _weighed(M, _tops(M))


@mistake
def hides_zeros_too(S: F, keep: B) -> F:
    """you hid every score that is 0, having made masked ones 0. A kept score may be 0 as well; it is a score
    like any other. Let the mask say what is masked."""
    Z = np.where(keep, S, 0)
    M = np.where(Z == 0, -np.inf, Z)
    return _weighed(M, _tops(M))


@mistake
def adds_to_a_nan(S: F, keep: B) -> F:
    """a NaN at a masked place got into the answer. You add -inf to what stands there, and NaN plus -inf is NaN.
    Replace what is masked: then it cannot matter what it was."""
    with np.errstate(invalid="ignore"):
        M = S + np.where(keep, 0.0, -np.inf).astype(S.dtype)
    return _weighed(M, _tops(M))


@mistake
def nan_next_to_the_kept(S: F, keep: B) -> F:
    """two things. A NaN at a masked place has spoilt its row, since NaN plus -inf is NaN: replace what is masked. And a NaN at a kept
    place came out as a harmless number: treat the rows that keep nothing, and only those."""
    with np.errstate(invalid="ignore"):
        M = S + np.where(keep, 0.0, -np.inf).astype(S.dtype)
        return np.nan_to_num(_weighed(M, M.max(axis=-1, keepdims=True), guarded=False))


@mistake
def adds_a_hundred_millionth(S: F, keep: B) -> F:
    """you added 1e-8 to every sum, so no row adds up to 1. Only an empty row needs something else to be divided
    by."""
    M = _hidden(S, keep)
    E = np.exp(M - _tops(M))
    return E / (E.sum(axis=-1, keepdims=True) + 1e-8)


@mistake
def adds_a_millionth(S: F, keep: B) -> F:
    """you added 1e-6 to every sum, so no row adds up to 1. Only an empty row needs something else to be divided
    by."""
    M = _hidden(S, keep)
    E = np.exp(M - _tops(M))
    return E / (E.sum(axis=-1, keepdims=True) + 1e-6)


@mistake
def adds_a_hundred_thousandth(S: F, keep: B) -> F:
    """you added 1e-5 to every sum, so no row adds up to 1. Only an empty row needs something else to be divided
    by."""
    M = _hidden(S, keep)
    E = np.exp(M - _tops(M))
    return E / (E.sum(axis=-1, keepdims=True) + 1e-5)


@mistake
def adds_a_thousandth(S: F, keep: B) -> F:
    """you added 1e-3 to every sum, so no row adds up to 1. Only an empty row needs something else to be divided
    by."""
    M = _hidden(S, keep)
    E = np.exp(M - _tops(M))
    return E / (E.sum(axis=-1, keepdims=True) + 1e-3)


@mistake
def weights_in_float64(S: F, keep: B) -> F:
    """the weights are right, but float32 went in and float64 came out. np.zeros and np.ones make float64
    unless you tell them the type, and astype(float) always does."""
    M = _hidden(S.astype(np.float64), keep)
    return _weighed(M, _tops(M))


@mistake
def weights_in_float32(S: F, keep: B) -> F:
    """float64 scores gave float32 weights, with seven digits. The dtype of the answer is that of S."""
    M = _hidden(S, keep)
    return _weighed(M, _tops(M)).astype(np.float32)


@mistake
def softmax_in_place(S: F, keep: B) -> F:
    """you wrote into the caller's scores. They are still needed: make a new array."""
    np.copyto(S, -np.inf, where=~keep)
    return _weighed(S, _tops(S))


@mistake
def indexes_the_callers_scores(S: F, keep: B) -> F:
    """two things at once. You wrote into the caller's scores, which are still needed: make a new array. And a mask as an index has
    to be as large as S, or is matched with its first axes: a function that broadcasts serves every mask."""
    S[~keep] = -np.inf
    return _weighed(S, _tops(S))


@mistake
def indexes_from_the_left(S: F, keep: B) -> F:
    """you used the mask as an index. NumPy then matches the mask's axes with the first axes of S, so a mask of
    [n, m] does not fit scores of [b, n, m] (or fits the wrong axes in silence). Your mask_scores knows how to
    do it."""
    M = S.copy()
    M[~keep] = -np.inf
    return _weighed(M, _tops(M))


@mistake
def list_of_weights(S: F, keep: B) -> list[F]:
    """the weights are right, and they come in a list. Return an array, of the type of S."""
    M = _hidden(S, keep)
    return _weighed(M, _tops(M)).tolist()


@mistake
def logarithms_of_weights(S: F, keep: B) -> F:
    """you returned the logarithms of the weights. One exponential is missing at the end."""
    M = _hidden(S, keep)
    with np.errstate(all="ignore"):
        return np.log(_weighed(M, _tops(M)))


@mistake
def exponentials_alone(S: F, keep: B) -> F:
    """these are exponentials; each row is yet to be divided by its sum."""
    M = _hidden(S, keep)
    return np.exp(M - _tops(M))


@mistake
def adds_minus_a_billion_in_float64(S: F, keep: B) -> F:
    """a row that may attend to nothing still has weights. You added one large number to all of its scores, and
    softmax ignores a shift. (And -1e9 times a mask is a float64 array, which makes float64 of float32.)"""
    M = S + (1 - keep) * -1e9
    return _weighed(M, _tops(M))


@mistake
def logarithm_of_the_mask_and_a_little(S: F, keep: B) -> F:
    """you added the logarithm of the mask, to which a little, 1e-9, was added first. log(1e-9) is only -20.7: a masked score that
    is higher still gets weight, and a row that may attend to nothing has weights."""
    M = S + np.log(keep + 1e-9)
    return _weighed(M, _tops(M))


@mistake
def mends_nan_first(S: F, keep: B) -> F:
    """a NaN among the kept scores came out as a harmless number: you mended all scores before you began. It
    would have told of a bug elsewhere. A NaN at a masked place is out of the way when that place is masked."""
    M = _hidden(np.nan_to_num(S), keep)
    return _weighed(M, _tops(M))


@mistake
def empty_rows_see_all(S: F, keep: B) -> F:
    """a row that may attend to nothing got the softmax of all its scores, as if nothing were masked. It should
    come out as zeros."""
    wide = np.broadcast_to(keep, S.shape)
    M = _hidden(S, np.where(wide.any(axis=-1, keepdims=True), wide, True))
    return _weighed(M, _tops(M))


@mistake
def empty_rows_see_the_first(S: F, keep: B) -> F:
    """a row that may attend to nothing gave all its weight to the first place. It should come out as zeros."""
    wide = np.broadcast_to(keep, S.shape).copy()
    wide[..., 0] |= ~wide.any(axis=-1)
    M = _hidden(S, wide)
    return _weighed(M, _tops(M))


@mistake
def empty_rows_are_ones(S: F, keep: B) -> F:
    """a row that may attend to nothing came out as ones. It should come out as zeros."""
    M = _hidden(S, keep)
    return np.where(keep.any(axis=-1, keepdims=True), _weighed(M, _tops(M)), np.ones_like(S))


@mistake
def sums_along_axis_one(S: F, keep: B) -> F:
    """your sums run along axis 1. In one table that is the last axis, and with axes in front it is not. Count from the end: the last axis
    is -1, however many there are."""
    M = _hidden(S, keep)
    E = np.exp(M - _tops(M))
    total = E.sum(axis=1, keepdims=True)
    return E / np.where(total == 0, 1, total)


@mistake
def one_long_table(S: F, keep: B) -> F:
    """the weights are right, and they come as one long table. The result has the shape of S."""
    M = _hidden(S, keep).reshape(-1, S.shape[-1])
    return _weighed(M, _tops(M))


@mistake
def turned_over(S: F, keep: B) -> F:
    """your largest scores get the smallest weights: somewhere a sign is the wrong way round. A row's own
    maximum is subtracted from its scores, and not the other way."""
    M = _hidden(-S, keep)
    return _weighed(M, _tops(M))


@mistake
def powers_of_two(S: F, keep: B) -> F:
    """you took powers of 2. Softmax takes powers of e, with np.exp."""
    M = _hidden(S, keep)
    E = 2 ** (M - _tops(M))
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


@mistake
def mask_times_scores_and_weights(S: F, keep: B) -> F:
    """you made masked scores 0, and their exponentials 0 afterwards. Kept scores far below 0 are lost beside that 0; and a masked
    NaN stays, since 0 times NaN is NaN. What is masked must be out before anything is compared with it."""
    E = np.exp(S * keep - (S * keep).max(axis=-1, keepdims=True)) * keep
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


@right
def softmax_by_the_lowest_number(S: F, keep: B) -> F:
    M = np.where(keep, S, np.finfo(S.dtype).min)
    E = np.exp(M - M.max(axis=-1, keepdims=True)) * keep
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(keep.any(axis=-1, keepdims=True), total, 1)


@right
def softmax_along_rows(S: F, keep: B) -> F:
    def of_row(row: F, kept: B) -> F:
        out = np.zeros_like(row)
        if kept.any():
            E = np.exp(row[kept] - row[kept].max())
            out[kept] = E / E.sum()
        return out

    wide = np.broadcast_to(keep, S.shape).reshape(-1, S.shape[-1])
    return np.array([of_row(*pair) for pair in zip(S.reshape(-1, S.shape[-1]), wide, strict=True)]).reshape(S.shape)
