"""Softmax along any axis of any array.

A number taken off a whole slice changes none of its weights, so each slice loses its own largest entry, and no
exponent is above 0. One maximum for the whole table is not enough: a row far below it becomes all zeros, and 0/0 is
not a number. `keepdims=True` leaves the axis there with length 1, so that maxima and sums line up with the slices
they came from, whichever `axis` was asked for. Without it `[n, m]` becomes `[n]` and lines up with the columns, and
where n = m nobody complains.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.matrices.parts import some_numbers
from autograder.exercises.model import Case, F, case, mistake, probe, right, right_to_seven_digits


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
    case(np.array([[-2000.0, -2001.0, -2000.5], [3.0, 1.0, 0.0]])),
    case(np.array([[0.0, 1.0, 2.0], [-1.0, -1.0, 3.0]])),
    case(np.array([[1.0, 4.0, 0.0], [3.0, 2.0, 0.5]]), 0),
    case(np.array([[1.0, 0.0, 3.0], [2.0, -2.0, 0.0]], np.float32)),
    case(np.array([[[1.0, 0.0], [2.0, 1.0], [0.0, -3.0]], [[0.0, 1.0], [0.0, 2.0], [4.0, 0.0]]]), 1),
    case(some_numbers(1, 3, 4, 2), 0),
    case(some_numbers(2, 2, 3, 4), -3),
    case(some_numbers(3, 5)),
    case(some_numbers(4, 2, 3, 4, 2)),
    case(some_numbers(5, 4, 6)),
    case(np.array([[150.0, 151.5], [-150.0, -151.0]])),
    case(np.array([[600.0, 601.5], [-600.0, -601.0]])),
    case(np.array([[1.0, -1200.0, 2.0], [0.5, 1.0, -1300.0]])),
    case(np.array([[0.5, -0.5, 900.0, 901.0, 0.25], [0.0, 2000.0, 0.5, 0.25, -0.5]])),
    case(np.array([[1.0, 20000.0, 19999.0], [-20000.0, -20001.0, 0.5]])),
    case(some_numbers(6, 9, 1)),
    case(some_numbers(7, 3, 3), 0),
)


@probe(0.5)
def tables(rng: np.random.Generator) -> list[Case]:
    """along the last axis of arrays with one to four axes"""
    n, m, b = sizes(rng, 3, low=3)
    return [
        case(normal(rng, n, m, scale=2.0)),
        case(normal(rng, m, scale=2.0)),
        case(normal(rng, b, n, m, scale=2.0)),
        case(normal(rng, 2, b, n, m, scale=2.0)),
    ]


@probe(0.5)
def other_axes(rng: np.random.Generator) -> list[Case]:
    """along another axis when one is asked for, counted from either end"""
    n, m, b = sizes(rng, 3, low=3)
    return [
        case(normal(rng, n, m, scale=2.0), 0),
        case(normal(rng, b, n, m, scale=2.0), 0),
        case(normal(rng, b, n, m, scale=2.0), 1),
        case(normal(rng, b, n, m, scale=2.0), -2),
        case(normal(rng, b, n, m, scale=2.0), -3),
        case(normal(rng, n, m, scale=2.0), 1),
        case(normal(rng, n, n, scale=2.0), 0),
    ]


@probe(0.5)
def square_tables(rng: np.random.Generator) -> list[Case]:
    """square tables, where a lost axis goes unnoticed"""
    n, b = sizes(rng, 2, low=3)
    return [case(normal(rng, n, n, scale=2.0)), case(normal(rng, b, n, n, scale=2.0))]


@probe(1.0)
def huge_scores(rng: np.random.Generator) -> list[Case]:
    """scores of any size, in one row or in all: hundreds, thousands and ten thousands, of one sign or of both"""
    n, m = sizes(rng, 2, low=4)
    S, T, U = normal(rng, n, m), normal(rng, n, n), normal(rng, n, 5)
    S[1] += 2e4
    T[1] += 2e4
    T[2] -= 2e4
    U[0, [1, 3]] += 9e2  # far above what is in the middle, and near the mean
    U[1, 2] += 2e3  # far above their mean
    U[2, 0] -= 1.2e3  # far below the others, which are near their mean
    U[3, -1] -= 1.2e3
    spread = np.array([[2e4, -2e4, 0.0], [-2e4, -2e4, -2e4]])
    levels = (-2e4, -600.0, 150.0, 600.0, 800.0)
    return [*map(case, (S, T, U, spread)), *(case(normal(rng, n, m) + level) for level in levels)]


@probe(0.5)
def tables_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single row, a single column, float32, and arrays that lie otherwise in memory, as a transpose does"""
    n, m = sizes(rng, 2, low=3)
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
    """you work along the last axis even where another one is asked for. Use the argument `axis`."""
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


@mistake
def over_everything(S: F, axis: int = -1) -> F:
    """your whole table adds up to 1. Each row should do so by itself: every query has its own weights to give away."""
    E = np.exp(S - S.max())
    return E / E.sum()


@mistake
def one_sum_for_all(S: F, axis: int = -1) -> F:
    """each row has its own maximum, and all rows have been divided by one and the same sum, that of the whole table. Every row should add
    up to 1 by itself."""
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return E / E.sum()


@mistake
def axis_put_back_at_the_end(S: F, axis: int = -1) -> F:
    """you put the lost axis back at the end, as `[..., None]` does. It has to come back where it was taken away, and that is the end only if the
    last axis was asked for."""
    E = np.exp(S - S.max(axis=axis)[..., None])
    return E / E.sum(axis=axis)[..., None]


@mistake
def axis_of_sums_put_back_at_the_end(S: F, axis: int = -1) -> F:
    """you put the lost axis of the sums back at the end, as `[..., None]` does. It has to come back where it was taken away, and that is the end
    only if the last axis was asked for."""
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis)[..., None]


@mistake
def axis_of_maxima_put_back_at_the_end(S: F, axis: int = -1) -> F:
    """you put the lost axis of the largest entries back at the end, as `[..., None]` does. It has to come back where it was taken away, and that
    is the end only if the last axis was asked for."""
    E = np.exp(S - S.max(axis=axis)[..., None])
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def axis_put_back_as_the_second(S: F, axis: int = -1) -> F:
    """you put the lost axis back as the second one, as `[:, None]` does. It has to come back where it was taken away, and that is the second
    one only in a table, along its rows."""
    E = np.exp(S - S.max(axis=axis)[:, None])
    return E / E.sum(axis=axis)[:, None]


@mistake
def no_keepdims(S: F, axis: int = -1) -> F:
    """the largest entries and the sums have lost their axis: [n, m] became [n], which NumPy lines up with the columns. Where n = m
    that runs, and is wrong; keep the axis, with size 1."""
    E = np.exp(S - S.max(axis=axis))
    return E / E.sum(axis=axis)


@mistake
def sum_without_keepdims(S: F, axis: int = -1) -> F:
    """the sums have lost their axis: [n, m] became [n], which NumPy lines up with the columns. Where n = m that runs, and is wrong;
    keep the axis, with size 1."""
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis)


@mistake
def max_without_keepdims(S: F, axis: int = -1) -> F:
    """the largest entries have lost their axis: [n, m] became [n], which NumPy subtracts from the columns. Where n = m that runs,
    and is wrong; keep the axis, with size 1."""
    E = np.exp(S - S.max(axis=axis))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def global_max(S: F, axis: int = -1) -> F:
    """you subtracted the largest entry of the whole table. A row that lies far below it turns into zeros, and 0 / 0 is nan: each
    row needs a maximum of its own."""
    E = np.exp(S - S.max())
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def global_max_without_keepdims(S: F, axis: int = -1) -> F:
    """two things at once. You subtracted the largest entry of the whole table, where each row needs a maximum of its own.
    And the sums have lost their axis: [n, m] became [n], which NumPy lines up with the columns."""
    E = np.exp(S - S.max())
    return E / E.sum(axis=axis)


@mistake
def global_max_along_the_last_axis(S: F, axis: int = -1) -> F:
    """two things at once. You subtracted the largest entry of the whole table, where each row needs a maximum of its own.
    And you sum along the last axis, whatever axis is asked for."""
    E = np.exp(S - S.max())
    return E / E.sum(axis=-1, keepdims=True)


@mistake
def global_max_along_the_last_axis_without_keepdims(S: F, axis: int = -1) -> F:
    """you subtracted the largest entry of the whole table, where each row needs a maximum of its own. And the sums are
    taken along the last axis, whatever axis is asked for, and have lost it: [n, m] became [n], which NumPy lines up with
    the columns."""
    E = np.exp(S - S.max())
    return E / E.sum(axis=-1)


@mistake
def last_axis_without_keepdims(S: F, axis: int = -1) -> F:
    """the largest entries and the sums have lost their axis: [n, m] became [n], which NumPy then lines up with the
    columns. Where n = m it says nothing; keep the axis, with size 1. And it is the last axis, whatever axis is asked for."""
    E = np.exp(S - S.max(axis=-1))
    return E / E.sum(axis=-1)


@mistake
def max_along_the_last_axis_without_keepdims(S: F, axis: int = -1) -> F:
    """the largest entries have lost their axis: [n, m] became [n], which NumPy then subtracts from the columns. Where
    n = m it says nothing; keep the axis, with size 1. And it is the last axis, whatever axis is asked for."""
    E = np.exp(S - S.max(axis=-1))
    return E / E.sum(axis=-1, keepdims=True)


@mistake
def only_max_along_the_last_axis_without_keepdims(S: F, axis: int = -1) -> F:
    """the largest entries have lost their axis: [n, m] became [n], which NumPy then subtracts from the columns. Where n
    = m it says nothing; keep the axis, with size 1. And they are taken along the last axis, while you sum along the one
    asked for."""
    E = np.exp(S - S.max(axis=-1))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def sum_along_the_last_axis_without_keepdims(S: F, axis: int = -1) -> F:
    """the sums have lost their axis: [n, m] became [n], which NumPy then lines up with the columns. Where n = m it says
    nothing; keep the axis, with size 1. And it is the last axis, whatever axis is asked for."""
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1)


@mistake
def no_shift_along_the_last_axis(S: F, axis: int = -1) -> F:
    """two things at once. exp overflows: e to the 1000 is too large for a float64, so subtract something first that
    changes no weight. And you work along the last axis, whatever axis is asked for."""
    E = np.exp(S)
    return E / E.sum(axis=-1, keepdims=True)


@mistake
def no_shift(S: F, axis: int = -1) -> F:
    """you raised e to the scores as they are: e to the 1000 overflows to inf, and inf / inf is nan. A constant subtracted from a
    whole row changes no weight; subtract one that makes every exponent at most 0."""
    E = np.exp(S)
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def neither_shift_nor_keepdims(S: F, axis: int = -1) -> F:
    """two things at once. The sums have lost their axis: [n, m] became [n], which NumPy lines up with the columns. And e to the
    1000 overflows to inf: first subtract something that changes no weight."""
    E = np.exp(S)
    return E / E.sum(axis=axis)


@mistake
def over_everything_unshifted(S: F, axis: int = -1) -> F:
    """two things at once. Your whole table adds up to 1, where each row should do so by itself. And e to the 1000 overflows to inf:
    first subtract something that changes no weight."""
    E = np.exp(S)
    return E / E.sum()


@mistake
def no_exponential(S: F, axis: int = -1) -> F:
    """you divided the scores themselves by their sum. Scores may be negative, and weights may not: first make every
    entry positive."""
    return S / S.sum(axis=axis, keepdims=True)


@mistake
def axis_one_by_habit(S: F, axis: int = -1) -> F:
    """you work along axis 1, whatever is asked for, or where nothing is asked for. In a table that is the last one, and in arrays with one,
    three or more axes it is not."""
    along = 1 if S.ndim > 1 else 0
    E = np.exp(S - S.max(axis=along, keepdims=True))
    return E / E.sum(axis=along, keepdims=True)


@mistake
def default_is_one(S: F, axis: int = -1) -> F:
    """where no axis is asked for you work along axis 1. In a table that is the last one, and in arrays with one, three or more axes it is
    not: -1 always is."""
    along = axis if axis != -1 or S.ndim < 2 else 1
    E = np.exp(S - S.max(axis=along, keepdims=True))
    return E / E.sum(axis=along, keepdims=True)


@mistake
def first_axis_of_more_than_two(S: F, axis: int = -1) -> F:
    """you brought the axis that is asked for to the end in one way and back in another, such as `moveaxis` and `swapaxes`. With two
    axes that is the same; with three, the others change places."""
    lines = np.moveaxis(S, axis, -1)
    E = np.exp(lines - lines.max(axis=-1, keepdims=True))
    return np.swapaxes(E / E.sum(axis=-1, keepdims=True), axis, -1)


@mistake
def axis_not_moved_back(S: F, axis: int = -1) -> F:
    """you moved the axis that is asked for to the end, and left it there. The shape stays: move it back."""
    lines = np.moveaxis(S, axis, -1)
    E = np.exp(lines - lines.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


@mistake
def max_along_the_last_axis(S: F, axis: int = -1) -> F:
    """you took the largest entries along the last axis, whatever axis is asked for. What is taken off has to be the same along the
    axis in which the weights add up to 1: use the argument `axis` for both."""
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def sum_along_the_last_axis(S: F, axis: int = -1) -> F:
    """you divided by sums along the last axis, whatever axis is asked for. Use the argument `axis` for both, the maximum and the sum."""
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


@mistake
def only_tables(S: F, axis: int = -1) -> F:
    """you go through the rows of a table. There may be one axis, or three and more, and another axis than the last may be asked for."""
    E = np.array([np.exp(row - row.max()) for row in S])
    return np.array([e / e.sum() for e in E])


@mistake
def shifts_by_the_first(S: F, axis: int = -1) -> F:
    """you took the first score of a row off all of them. It need not be the largest: a later one can still overflow to inf, and inf
    / inf is nan."""
    E = np.exp(S - np.take(S, [0], axis=axis))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def shifts_by_the_min(S: F, axis: int = -1) -> F:
    """you took off the smallest score of each row. The others then lie above zero, and large ones still overflow to inf. What
    should the largest score be after the shift?"""
    E = np.exp(S - S.min(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def shifts_by_the_mean(S: F, axis: int = -1) -> F:
    """you took off the mean of each row. That keeps the weights, but with far-apart scores the largest still overflows to inf, and
    inf / inf is nan."""
    E = np.exp(S - S.mean(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def shifts_by_the_global_mean(S: F, axis: int = -1) -> F:
    """you took off the mean of the whole table. A row far above it overflows to inf, one far below turns into zeros, and both end
    in nan: each row needs its own largest score taken off."""
    E = np.exp(S - S.mean())
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def shifts_by_the_largest_size(S: F, axis: int = -1) -> F:
    """you took off the largest absolute value of each row. Where all its scores are far below zero this pushes them further down,
    until every power is 0, and 0 / 0 is nan."""
    E = np.exp(S - np.abs(S).max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def nothing_off_below_zero(S: F, axis: int = -1) -> F:
    """in a row whose scores are all below zero you take nothing off. Either your maximum starts at 0 (`initial=0`), or you shift
    only where scores are large. Far below zero every power is then 0, and 0 / 0 is nan."""
    E = np.exp(S - S.max(axis=axis, keepdims=True, initial=0))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def clipped(S: F, axis: int = -1) -> F:
    """you clipped the scores, at 700 or so, so that nothing overflows. Two different scores beyond the limit then get the same weight."""
    E = np.exp(np.clip(S, -700, 700))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def clipped_at_500(S: F, axis: int = -1) -> F:
    """you clipped the scores, at 500 or so, so that nothing overflows. Two different scores beyond the limit then get the same weight."""
    E = np.exp(np.clip(S, -500, 500))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def clipped_at_100(S: F, axis: int = -1) -> F:
    """you clipped the scores, at 100 or so, so that nothing overflows. Two different scores beyond the limit then get the same weight."""
    E = np.exp(np.clip(S, -100, 100))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def clipped_from_above(S: F, axis: int = -1) -> F:
    """you clipped large scores so that nothing overflows. Two different scores beyond the limit then get the same weight; and a row far below
    zero still leaves 0 divided by 0."""
    E = np.exp(np.minimum(S, 700))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def nan_made_zero(S: F, axis: int = -1) -> F:
    """you put 0 wherever the result was nan. It was nan because powers overflowed to inf, or were all 0; the weights exist all the
    same. Take something off the scores first."""
    E = np.exp(S)
    return np.nan_to_num(E / E.sum(axis=axis, keepdims=True))


@mistake
def nan_made_zero_after_the_global_max(S: F, axis: int = -1) -> F:
    """you took off the largest entry of the whole table, and put 0 where 0/0 came out. A row that lies far below the rest has weights as
    well: each row needs a maximum of its own."""
    E = np.exp(S - S.max())
    return np.nan_to_num(E / E.sum(axis=axis, keepdims=True))


@mistake
def little_below_the_line(S: F, axis: int = -1) -> F:
    """you added a little, 1e-8, to each sum that you divide by, so that it is not 0. Then the weights do not quite add up to 1. After the
    right shift each sum is at least 1, and cannot be 0."""
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return E / (E.sum(axis=axis, keepdims=True) + 1e-8)


@mistake
def more_below_the_line(S: F, axis: int = -1) -> F:
    """you added a little, 1e-6, to each sum that you divide by, so that it is not 0. Then the weights do not quite add up to 1. After the
    right shift each sum is at least 1, and cannot be 0."""
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return E / (E.sum(axis=axis, keepdims=True) + 1e-6)


@mistake
def a_lot_below_the_line(S: F, axis: int = -1) -> F:
    """you added something, 1e-3 or so, to each sum that you divide by, so that it is not 0. Then the weights do not add up to 1. After
    the right shift each sum is at least 1, and cannot be 0."""
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return E / (E.sum(axis=axis, keepdims=True) + 1e-3)


@mistake
def logarithms_of_weights(S: F, axis: int = -1) -> F:
    """you returned the logarithms of the weights. One exponential is missing at the end."""
    T = S - S.max(axis=axis, keepdims=True)
    return T - np.log(np.exp(T).sum(axis=axis, keepdims=True))


@mistake
def never_divided(S: F, axis: int = -1) -> F:
    """you did not divide by the sums, or divided by the largest power, which is 1: the weights do not add up to 1."""
    return np.exp(S - S.max(axis=axis, keepdims=True))


@mistake
def divided_by_the_sum_of_scores(S: F, axis: int = -1) -> F:
    """you divided the powers by the sums of the scores. It is the powers that have to add up to 1: what do those of a row add up to?"""
    return np.exp(S - S.max(axis=axis, keepdims=True)) / S.sum(axis=axis, keepdims=True)


@mistake
def divides_by_the_max(S: F, axis: int = -1) -> F:
    """you divided the scores by the largest of their row. Only taking a number away leaves the weights as they were; dividing changes all
    the gaps."""
    E = np.exp(S / S.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def standardised(S: F, axis: int = -1) -> F:
    """you took off the mean and divided by the standard deviation. Dividing changes all the gaps, and for a row of equal scores it
    is 0 / 0, nan; only taking a number away leaves the weights as they were."""
    E = np.exp((S - S.mean(axis=axis, keepdims=True)) / S.std(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def powers_of_two(S: F, axis: int = -1) -> F:
    """you took powers of 2. Softmax takes powers of e, which is `np.exp`."""
    E = np.exp2(S - S.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def powers_of_ten(S: F, axis: int = -1) -> F:
    """you took powers of 10. Softmax takes powers of e, which is `np.exp`."""
    E = 10 ** (S - S.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def smallest_wins(S: F, axis: int = -1) -> F:
    """the smallest score of a row has the largest weight: there is a sign too many in the exponent."""
    E = np.exp(S.min(axis=axis, keepdims=True) - S)
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def winner_takes_all(S: F, axis: int = -1) -> F:
    """you gave the largest score of a row all the weight. The others get less, but hardly ever nothing."""
    return (S.max(axis=axis, keepdims=True) == S).astype(S.dtype)


@mistake
def rounded_weights(S: F, axis: int = -1) -> F:
    """you rounded the weights to three decimals. Return them with all their digits."""
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return np.round(E / E.sum(axis=axis, keepdims=True), 3)


@mistake
def forced_to_float32(S: F, axis: int = -1) -> F:
    """somewhere on the way is float32, which keeps about seven digits of the sixteen of float64."""
    E = np.exp((S - S.max(axis=axis, keepdims=True)).astype(np.float32))
    return E / E.sum(axis=axis, keepdims=True)


@right_to_seven_digits
def forced_to_float32_and_back(S: F, axis: int = -1) -> F:
    """somewhere on the way is float32, which keeps about seven digits of the sixteen of float64."""
    E = np.exp((S - S.max(axis=axis, keepdims=True)).astype(np.float32))
    return (E / E.sum(axis=axis, keepdims=True)).astype(S.dtype)


@mistake
def longer_numbers(S: F, axis: int = -1) -> F:
    """you counted on a longer number type, such as `np.longdouble`. It overflows later, but it does: e to the 12 000 is inf in it
    too, and inf / inf is nan."""
    limit = 11356.0  # of the type that x86 processors have; where there is none, it is float64 itself
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    weights = E / E.sum(axis=axis, keepdims=True)
    too_large = S.max(axis=axis, keepdims=True) > limit
    nothing_left = S.max(axis=axis, keepdims=True) < -limit
    return np.where(nothing_left | (too_large & (limit < S)), np.nan, np.where(too_large, 0, weights)).astype(S.dtype)


@mistake
def lists_of_weights(S: F, axis: int = -1) -> list[float]:
    """all weights are right, and they stand in lists. An array is asked for, of the type of the scores."""
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return (E / E.sum(axis=axis, keepdims=True)).tolist()


@mistake
def shifts_in_place(S: F, axis: int = -1) -> F:
    """the weights are right, but the caller's table was changed on the way: `-=` and `out=` write into the array
    you were given."""
    S -= S.max(axis=axis, keepdims=True)
    E = np.exp(S)
    return E / E.sum(axis=axis, keepdims=True)


@mistake
def casts_to_float64(S: F, axis: int = -1) -> F:
    """the numbers are right, but float32 went in and float64 came out: through astype(float), np.zeros with no dtype, or a list of Python's floats, perhaps.
    Leave the type as it is: a model in float32 is half as large."""
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
def softmax_of_a_swapped_axis(S: F, axis: int = -1) -> F:
    lines = np.swapaxes(S, axis, -1)
    powers = np.exp(lines - lines.max(-1, keepdims=True))
    return np.swapaxes(powers / powers.sum(-1, keepdims=True), axis, -1)


@right
def softmax_by_torch(S: F, axis: int = -1) -> F:
    import torch

    return torch.softmax(torch.from_numpy(S.copy()), dim=axis).numpy()
