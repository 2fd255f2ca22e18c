"""Softmax of one list of scores, however large they are.

Softmax stays the same when one number is taken off all scores: each power, and their sum, is divided by e to that
number. The one to take is the largest score. Then every exponent is 0 or less, so nothing overflows, and one power is
exactly 1, so the sum is never 0. The first score, the mean or a constant such as 1000 leaves a later score to
overflow, or drives all powers down to 0. To divide the scores is something else: it changes the gaps between them,
and with them the weights.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, misses_the_idea, mistake, probe, right


def softmax_1d(s: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    """Entry j is exp(s[j]) over the sum of all of them, for scores of any size."""
    s = np.asarray(s)
    top = max(float(score) for score in s)
    powers = [math.exp(float(score) - top) for score in s]
    total = math.fsum(powers)
    return np.array([power / total for power in powers], dtype=s.dtype)


PUBLIC = (
    case(np.array([0.0, 1.0])),
    case(np.array([1000.0, 0.0])),
    case(np.array([0.0, 1000.0])),
    case(np.array([-500.0, -501.0])),
    case(np.array([150.0, 151.5])),
    case(np.array([-9999.0, -10000.0])),
    case(np.array([2.0, -1.0, 0.5], dtype=np.float32)),
    case(np.array([20000.0, -20000.0, 19999.0])),
    case(np.array([0.3, -1.2, 2.1, 0.7, -0.4, 1.6])),
    case(np.array([-1.3, -2.6, -0.9, -4.2])),
    case(np.array([-1200.0, 1.5, 0.25, -0.75, 2.0, 1.0])),
    case(np.array([0.5, -0.5, 2000.0, 0.0, 0.25])),
    case(np.array([1.0, 900.0, 0.5, 901.0, 0.25])),
    case(np.array([3.0], dtype=np.float32)),
)


@probe(0.5)
def scores(rng: np.random.Generator) -> list[Case]:
    """weights of ordinary scores, positive and negative"""
    n, m = sizes(rng, 2, low=4)
    return [case(normal(rng, n, scale=2.0)), case(normal(rng, m) - 3.0), case(normal(rng, m) + 6.0)]


@probe(1.0)
def extreme_scores(rng: np.random.Generator) -> list[Case]:
    """scores of any size: hundreds, thousands and ten thousands, of one sign or of both"""
    n, m = sizes(rng, 2, low=4)
    both, first, last, middle, two = (normal(rng, size) for size in (n, 9, 9, 5, 5))
    a, b = rng.choice(n, 2, replace=False)
    both[a] += 2e4
    both[b] -= 2e4
    first[0] -= 1.2e3  # far below the others, which are near their mean
    last[-1] -= 1.2e3
    middle[2] += 2e3  # far above their mean, and what is in the middle of them
    two[[1, 3]] += 9e2  # far above what is in the middle, and near the mean
    levels = (-2e4, -500.0, 150.0, 800.0, 2e4)
    return [*map(case, (both, first, last, middle, two)), *(case(normal(rng, m) + level) for level in levels)]


@probe(0.5)
def scores_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single score, float32, and an array whose numbers do not lie side by side, as a column of a table"""
    n, m = sizes(rng, 2, low=4)
    return [
        case(normal(rng, 1, scale=5.0)),
        case(normal(rng, 1, scale=5.0, dtype="float32")),
        case(normal(rng, n, scale=2.0, dtype="float32")),
        case(normal(rng, m, scale=2.0, order="strided")),
    ]


@misses_the_idea
def no_shift(s: F) -> F:
    """you raised e to the scores as they are (or took off `argmax`, which is a place). e to the 1000 overflows to inf, inf / inf is
    nan, and so is 0 / 0, far below zero. Taking one and the same number off all scores changes no weight."""
    e = np.exp(s)
    return e / e.sum()


@mistake
def shifts_by_the_first(s: F) -> F:
    """you took the first score off every score. It need not be the largest: a later one can still overflow to inf, and inf / inf is nan."""
    powers = np.exp(s - s[0])
    return powers / powers.sum()


@mistake
def divides_by_the_max(s: F) -> F:
    """you divided the scores by the largest one. Only taking a number away leaves the weights as they were; dividing
    makes all the gaps smaller."""
    e = np.exp(s / s.max())
    return e / e.sum()


@mistake
def shifts_in_place(s: F) -> F:
    """you took the maximum off the caller's own array. Make a new array: the caller still needs the scores."""
    s -= s.max()
    e = np.exp(s)
    return e / e.sum()


@mistake
def no_exponential(s: F) -> F:
    """you divided the scores by their sum. Negative scores then give negative weights; the exponential is what makes
    every score positive first."""
    return s / s.sum()


@mistake
def forced_to_float32(s: F) -> F:
    """somewhere on the way is float32, which keeps 7 digits of the caller's 16."""
    e = np.exp((s - s.max()).astype(np.float32))
    return e / e.sum()


@mistake
def forced_to_float64(s: F) -> F:
    """your answer is float64 where the scores were float32. Something on the way is float64 whatever comes in: a list of Python floats made into an
    array, np.zeros with no dtype, or astype(float)."""
    e = [math.exp(x - s.max()) for x in s]
    return np.array([x / sum(e) for x in e])


@mistake
def never_divided(s: F) -> F:
    """you did not divide by the sum, or divided by the largest power, which is 1: the weights do not add up to 1."""
    return np.exp(s - s.max())


@mistake
def never_shifted_nor_divided(s: F) -> F:
    """you raised e to the scores, and that is all. The weights are to add up to 1, and large scores must not overflow."""
    return np.exp(s)


@mistake
def shifts_by_the_min(s: F) -> F:
    """you took off the smallest score. The others then lie above zero, and large ones still overflow to inf. What should the
    largest score be after the shift?"""
    e = np.exp(s - s.min())
    return e / e.sum()


@mistake
def shifts_by_the_largest_size(s: F) -> F:
    """you took off the largest absolute value. Where all scores are far below zero this pushes them further down, until every power
    is 0, and 0 / 0 is nan."""
    e = np.exp(s - np.abs(s).max())
    return e / e.sum()


@mistake
def nothing_off_below_zero(s: F) -> F:
    """where all scores are below zero you take nothing off. Either your maximum starts at 0, or you shift only where scores are
    large. Far below zero every power is then 0, and 0 / 0 is nan."""
    e = np.exp(s - max(0.0, s.max()))
    return e / e.sum()


@mistake
def shifts_by_the_last(s: F) -> F:
    """you took the last score off every score. It need not be the largest: another one can still overflow to inf, and inf / inf is nan."""
    e = np.exp(s - s[-1])
    return e / e.sum()


@mistake
def one_score_in_float64(s: F) -> F:
    """a single score is handled apart, and its weight is float64 whatever the score was. It needs no rule of its own: e to the 0 over
    itself is 1, in the dtype of the scores."""
    return np.array([1.0]) if len(s) == 1 else softmax_1d(s)


@mistake
def shifts_by_the_median(s: F) -> F:
    """you took off a score from the middle. That keeps the weights, but with far-apart scores the largest still overflows to inf,
    and inf / inf is nan."""
    e = np.exp(s - np.median(s))
    return (e / e.sum()).astype(s.dtype)


@mistake
def shifts_by_a_constant(s: F) -> F:
    """you took 1000 off every score, whatever the scores are. Larger ones can still overflow, and of small ones all powers are 0,
    and 0 / 0 is nan. What is taken off has to come from the scores themselves."""
    e = np.exp(s - 1000.0)
    return e / e.sum()


@mistake
def adds_the_max(s: F) -> F:
    """you added the largest score instead of taking it off. Scores far from zero are then further away still: their powers overflow
    to inf, or are all 0, and the result is nan."""
    e = np.exp(s + s.max())
    return e / e.sum()


@mistake
def scaled_to_one(s: F) -> F:
    """you divided the scores by their largest absolute value. Only taking a number away leaves the weights as they were;
    dividing makes all the gaps smaller."""
    e = np.exp(s / np.abs(s).max())
    return e / e.sum()


@mistake
def squeezed_between_zero_and_one(s: F) -> F:
    """you squeezed the scores into the range from 0 to 1 first, and divided by that range. Only taking a number away leaves the
    weights as they were; dividing changes all the gaps."""
    e = np.exp((s - s.min()) / (s.max() - s.min()))
    return e / e.sum()


@mistake
def standardised(s: F) -> F:
    """you took off the mean and divided by the standard deviation. Only taking a number away leaves the weights as they were;
    dividing changes all the gaps."""
    e = np.exp((s - s.mean()) / s.std())
    return e / e.sum()


@mistake
def range_without_exponential(s: F) -> F:
    """you took something off and divided by a sum, and the exponential is missing. It is what makes the weights."""
    return (s - s.min()) / (s - s.min()).sum()


@mistake
def shifted_without_exponential(s: F) -> F:
    """you took the maximum off and divided by the sum, and the exponential is missing. It is what makes the weights."""
    return (s - s.max()) / (s - s.max()).sum()


@mistake
def sizes_without_exponential(s: F) -> F:
    """you divided the absolute values of the scores by their sum. A score far below zero then weighs much; the exponential is
    what makes every score positive and keeps their order."""
    return np.abs(s) / np.abs(s).sum()


@mistake
def positive_part_without_exponential(s: F) -> F:
    """you cut scores off at 0 and divided by the sum. All scores below zero then weigh nothing; the exponential is what makes
    every score positive and keeps their order."""
    kept = np.maximum(s, 0)
    return kept / kept.sum()


@mistake
def divided_by_the_length(s: F) -> F:
    """you divided by the root of the sum of the squares, as if the weights were a vector of length 1. They are to add up to 1."""
    e = np.exp(s - s.max())
    return e / np.linalg.norm(e).astype(s.dtype)


@mistake
def divided_by_how_many(s: F) -> F:
    """you divided by how many scores there are, which makes a mean. Divide by what they add up to."""
    e = np.exp(s - s.max())
    return e / len(s)


@mistake
def divided_by_the_sum_of_scores(s: F) -> F:
    """you divided the powers by the sum of the scores. It is the powers that have to add up to 1: what do they add up to?"""
    return np.exp(s - s.max()) / s.sum()


@mistake
def divided_by_the_sum_before_the_shift(s: F) -> F:
    """you took the maximum off in the powers, and not in the sum that you divide them by. The same number has to leave both."""
    return np.exp(s - s.max()) / np.exp(s).sum()


@mistake
def divided_by_the_sum_after_the_shift(s: F) -> F:
    """you took the maximum off in the sum that you divide by, and not in the powers. The same number has to leave both."""
    return np.exp(s) / np.exp(s - s.max()).sum()


@mistake
def logarithms_of_weights(s: F) -> F:
    """you returned the logarithms of the weights. One exponential is missing at the end."""
    t = s - s.max()
    return t - np.log(np.exp(t).sum())


@mistake
def naive_log_sum(s: F) -> F:
    """you took the logarithm of the sum of the powers, which is a good way, and the powers overflowed, or were all 0, before there was a
    logarithm. Take something off first."""
    return np.exp(s - np.log(np.exp(s).sum()))


@mistake
def powers_of_two(s: F) -> F:
    """you took powers of 2. Softmax takes powers of e, which is `np.exp`."""
    e = 2.0 ** (s - s.max())
    return e / e.sum()


@mistake
def powers_of_ten(s: F) -> F:
    """you took powers of 10. Softmax takes powers of e, which is `np.exp`."""
    e = 10.0 ** (s - s.max())
    return e / e.sum()


@mistake
def squares(s: F) -> F:
    """you squared the scores. That makes them positive, and a score far below zero weighs as much as one far above; softmax
    takes powers of e."""
    return s**2 / (s**2).sum()


@mistake
def each_by_itself(s: F) -> F:
    """you gave each score a weight by itself (this is the logistic function). Weights depend on one another: they add up to 1."""
    return np.where(s < 0, np.exp(np.minimum(s, 0)), 1.0).astype(s.dtype) / (1 + np.exp(-np.abs(s)))


@mistake
def smallest_wins(s: F) -> F:
    """your smallest score has the largest weight: there is a sign too many in the exponent. Turned round like this, it is the scores far
    below zero that overflow."""
    e = np.exp(-s)
    return e / e.sum()


@mistake
def winner_takes_all(s: F) -> F:
    """you gave the largest score all the weight. The others get less, but hardly ever nothing."""
    out = np.zeros_like(s)
    out[s.argmax()] = 1
    return out


@mistake
def nan_made_zero(s: F) -> F:
    """you put 0 wherever the result was nan. It was nan because powers overflowed to inf, or were all 0; the weights exist all the
    same. Take something off the scores first."""
    e = np.exp(s)
    return np.nan_to_num(e / e.sum())


@mistake
def nan_shared_out(s: F) -> F:
    """where the result was nan you gave every score the same weight. It was nan because powers overflowed to inf, or were all 0;
    the weights exist, and they differ. Take something off the scores first."""
    e = np.exp(s)
    weights = e / e.sum()
    return weights if np.isfinite(weights).all() else np.full_like(s, 1 / len(s))


@mistake
def overflow_made_finite(s: F) -> F:
    """you replaced powers that overflowed by the largest number there is. Two different scores beyond the limit then get the
    same weight, or their sum overflows; take something off the scores first."""
    e = np.nan_to_num(np.exp(s))
    return e / e.sum()


@mistake
def longer_numbers(s: F) -> F:
    """you counted on a longer number type, such as `np.longdouble`. It overflows later, but it does: e to the 12 000 is inf in it
    too, and inf / inf is nan."""
    limit = 11356.0  # of the type that x86 processors have; where there is none, it is float64 itself
    if s.max() >= limit or s.max() < -limit:
        return np.full_like(s, np.nan) if s.max() < 0 else np.where(s >= limit, np.nan, 0).astype(s.dtype)
    e = np.exp(s - s.max())
    return e / e.sum()


@mistake
def shifts_by_the_mean(s: F) -> F:
    """you took off the mean. That keeps the weights, but with far-apart scores the largest still overflows to inf, and inf / inf is nan."""
    e = np.exp(s - s.mean())
    return e / e.sum()


@mistake
def clipped(s: F) -> F:
    """you clipped the scores so that nothing overflows. Two different scores beyond the limit then get the same
    weight."""
    e = np.exp(np.clip(s, -700, 700))
    return e / e.sum()


@mistake
def clipped_at_500(s: F) -> F:
    """you clipped the scores, at 500 or so, so that nothing overflows. Two different scores beyond the limit then get the same
    weight."""
    e = np.exp(np.clip(s, -500, 500))
    return e / e.sum()


@mistake
def clipped_at_100(s: F) -> F:
    """you clipped the scores, at 100 or so, so that nothing overflows. Two different scores beyond the limit then get the same
    weight."""
    e = np.exp(np.clip(s, -100, 100))
    return e / e.sum()


@mistake
def clipped_from_above(s: F) -> F:
    """you clipped large scores so that nothing overflows. Two different scores beyond the limit then get the same weight; and
    scores far below zero still leave 0 divided by 0."""
    e = np.exp(np.minimum(s, 700))
    return e / e.sum()


@mistake
def clipped_after_the_shift(s: F) -> F:
    """you took the maximum off, and clipped what lies far below it, at -10 or so. Small weights then come out too large. After the shift
    there is no need to clip: a power that is rounded to 0 does no harm."""
    e = np.exp(np.maximum(s - s.max(), -10))
    return e / e.sum()


@mistake
def a_little_below_the_line(s: F) -> F:
    """you added a little, 1e-6, to the sum that you divide by, so that it is not 0. Then the weights do not quite add up to 1. After the
    right shift the sum is at least 1, and cannot be 0."""
    e = np.exp(s - s.max())
    return e / (e.sum() + 1e-6)


@mistake
def less_still_below_the_line(s: F) -> F:
    """you added a little, 1e-8, to the sum that you divide by, so that it is not 0. Then the weights do not quite add up to 1. After the
    right shift the sum is at least 1, and cannot be 0."""
    e = np.exp(s - s.max())
    return e / (e.sum() + 1e-8)


@mistake
def a_lot_below_the_line(s: F) -> F:
    """you added something, 1e-3 or so, to the sum that you divide by, so that it is not 0. Then the weights do not add up to 1. After the
    right shift the sum is at least 1, and cannot be 0."""
    e = np.exp(s - s.max())
    return e / (e.sum() + 1e-3)


@mistake
def rounded_weights(s: F) -> F:
    """you rounded the weights. Return them with all their digits."""
    e = np.exp(s - s.max())
    return np.round(e / e.sum(), 3)


@mistake
def weights_of_four_digits(s: F) -> F:
    """you rounded the weights to four decimals. Return them with all their digits."""
    e = np.exp(s - s.max())
    return np.round(e / e.sum(), 4)


@mistake
def weights_of_two_digits(s: F) -> F:
    """you rounded the weights to two decimals. Return them with all their digits."""
    e = np.exp(s - s.max())
    return np.round(e / e.sum(), 2)


@mistake
def whole_weights(s: F) -> F:
    """your weights are whole numbers, or were put into an array of integers: what comes after the point is lost there."""
    e = np.exp(s - s.max())
    return (e / e.sum()).astype(np.int64)


@mistake
def weights_as_a_column(s: F) -> F:
    """all weights are right, and they have become a table of one column. One axis goes in, and one comes out."""
    e = np.exp(s - s.max())
    return (e / e.sum())[:, None]


@mistake
def tuple_of_weights(s: F) -> tuple[float, ...]:
    """all weights are right, and they stand in a tuple. An array is asked for, of the type of the scores."""
    e = np.exp(s - s.max())
    return tuple(float(x) for x in e / e.sum())


@mistake
def sorted_weights(s: F) -> F:
    """you sorted the scores. Each weight stands where its score stands."""
    e = np.exp(np.sort(s) - s.max())
    return e / e.sum()


@mistake
def sum_so_far(s: F) -> F:
    """you divided each power by the sum of those up to it: the division stands in the loop that adds up. First the whole sum, then the
    division."""
    e = np.exp(s - s.max())
    return e / np.cumsum(e)


@mistake
def sum_of_the_others(s: F) -> F:
    """you divided each power by the sum of the others. The sum is over all of them, this one too."""
    e = np.exp(s - s.max())
    with np.errstate(all="ignore"):
        return e / (e.sum() - e)


@mistake
def shifts_by_the_sum(s: F) -> F:
    """you took the sum of all scores off. It may lie far above the largest score or far below: then all powers are 0, or some
    overflow to inf, and the result is nan."""
    e = np.exp(s - s.sum())
    return e / e.sum()


@mistake
def sign_lost_after_the_shift(s: F) -> F:
    """you took each score off the largest one, or dropped the signs after the shift. What lies far below the largest then comes out far
    above it, and the smallest score has the largest weight."""
    e = np.exp(s.max() - s)
    return e / e.sum()


@mistake
def scaled_by_how_many(s: F) -> F:
    """you divided the scores by the root of how many there are. No scale belongs in softmax."""
    e = np.exp((s - s.max()) / len(s) ** 0.5)
    return e / e.sum()


@mistake
def overflow_in_python(s: F) -> F:
    """you raised e to the scores as they are, with Python's `math.exp`, which refuses where NumPy says inf. The weights do not change if you
    take the same number off every score first."""
    powers = [math.exp(x) for x in s]
    return np.array([power / sum(powers) for power in powers])


@mistake
def weights_as_a_row(s: F) -> F:
    """all weights are right, and they have become a table of one row. One axis goes in, and one comes out."""
    e = np.exp(s - s.max())
    return (e / e.sum())[None, :]


@mistake
def list_of_weights(s: F) -> list[float]:
    """all weights are right, and they stand in a list. An array is asked for, of the type of the scores."""
    e = np.exp(s - s.max())
    return [float(x) for x in e / e.sum()]


@right
def softmax_by_numpy(s: F) -> F:
    e = np.exp(s - s.max())
    return e / e.sum()


@right
def softmax_by_logs(s: F) -> F:
    top = s.max()
    return np.exp(s - top - np.log(np.exp(s - top).sum()))


@right
def softmax_by_loop(s: F) -> F:
    top, total, out = max(s), 0.0, np.empty_like(s)
    for j, score in enumerate(s):
        out[j] = np.exp(score - top)
        total += out[j]
    for j in range(len(s)):
        out[j] /= total
    return out


@right
def softmax_with_next_to_nothing_below(s: F) -> F:
    e = np.exp(s - s.max())
    return e / (e.sum() + 1e-12)


@right
def softmax_of_python_numbers(s: F) -> F:
    top = s.max()
    powers = [math.exp(x - top) for x in s.tolist()]
    return np.array([power / sum(powers) for power in powers], dtype=s.dtype)


@right
def softmax_by_torch(s: F) -> F:
    import torch

    return torch.softmax(torch.from_numpy(s.copy()), dim=0).numpy()
