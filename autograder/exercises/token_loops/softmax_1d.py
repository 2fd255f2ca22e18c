"""Softmax of one list of scores, however large they are."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right


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
    case(np.array([-9999.0, -10000.0])),
    case(np.array([2.0, -1.0, 0.5], dtype=np.float32)),
    case(np.array([10000.0, -10000.0, 9999.0])),
)


@probe(0.5)
def scores(rng: np.random.Generator) -> list[Case]:
    """weights of ordinary scores, positive and negative"""
    n, m = sizes(rng, 2)
    return [case(normal(rng, n, scale=2.0)), case(normal(rng, m, scale=2.0) - 3.0)]


@probe(1.0)
def extreme_scores(rng: np.random.Generator) -> list[Case]:
    """scores of 10000 and of -10000"""
    n, m = sizes(rng, 2, low=3)
    both, low = normal(rng, n), normal(rng, m)
    a, b = rng.choice(n, 2, replace=False)
    both[a] += 1e4
    both[b] -= 1e4
    late = normal(rng, 9)
    late[0] -= 1e3  # far below the others, which are near their mean
    return [case(both), case(low - 1e4), case(normal(rng, n) + 1e4), case(late)]


@probe(0.5)
def scores_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single score, float32, and an array that is not contiguous"""
    n, m = sizes(rng, 2)
    return [
        case(normal(rng, 1, scale=5.0)),
        case(normal(rng, n, scale=2.0, dtype="float32")),
        case(normal(rng, m, scale=2.0, order="strided")),
    ]


@mistake
def no_shift(s: F) -> F:
    """you raised e to the scores as they are. A score of 10000 overflows to inf, and one of -10000 leaves 0 divided
    by 0; the weights do not change if you take the same number off every score first."""
    e = np.exp(s)
    return e / e.sum()


@mistake
def shifts_by_the_first(s: F) -> F:
    """you took the first score off every score. The first one need not be the largest, and a later one can still overflow."""
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
    """you turned the scores into float32, which keeps 7 digits of the caller's 16."""
    e = np.exp((s - s.max()).astype(np.float32))
    return e / e.sum()


@mistake
def forced_to_float64(s: F) -> F:
    """your answer is float64 where the scores were float32. Something on the way is float64 whatever comes in: a list
    of Python floats made into an array, or np.zeros with no dtype."""
    e = [math.exp(x - s.max()) for x in s]
    return np.array([x / sum(e) for x in e])


@mistake
def never_divided(s: F) -> F:
    """you did not divide by the sum, so the weights do not add up to 1."""
    return np.exp(s - s.max())


@mistake
def shifts_by_the_min(s: F) -> F:
    """you took off the smallest score. The rest then lie above zero, and the largest still overflow: they must lie
    below."""
    e = np.exp(s - s.min())
    return e / e.sum()


@mistake
def shifts_by_the_largest_size(s: F) -> F:
    """you took off the largest absolute value. Where all scores are far below zero this pushes them further down,
    until every power is 0."""
    e = np.exp(s - np.abs(s).max())
    return e / e.sum()


@mistake
def shifts_by_the_mean(s: F) -> F:
    """you took off the mean. That is allowed, and it does not save you: with far-apart scores the largest still
    overflows."""
    e = np.exp(s - s.mean())
    return e / e.sum()


@mistake
def clipped(s: F) -> F:
    """you clipped the scores so that nothing overflows. Two different scores beyond the limit then get the same
    weight."""
    e = np.exp(np.clip(s, -700, 700))
    return e / e.sum()


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
def softmax_by_torch(s: F) -> F:
    import torch

    return torch.softmax(torch.from_numpy(s.copy()), dim=0).numpy()
