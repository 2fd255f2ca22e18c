"""What exercises on several devices share: even shares, slices, and the sum across devices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.exercises.inputs import normal
from autograder.exercises.model import Case, F, case
from autograder.exercises.parts import counting
from course.trial.functions import Function, public_function

AllReduce = Callable[..., np.ndarray]


def even_share(size: int, p: int) -> int:
    """What each of p devices gets of something that can be dealt evenly."""
    if size % p:
        raise ValueError("this cannot be dealt evenly")
    return size // p


def column_slices(W: F, p: int, width: int) -> list[F]:
    """Each device's columns of W."""
    return [W[:, r * width : (r + 1) * width] for r in range(p)]


def row_slices(W: F, p: int, height: int) -> list[F]:
    """Each device's rows of W."""
    return [W[r * height : (r + 1) * height] for r in range(p)]


def _share(rng: np.random.Generator, p: int) -> int:
    """A number of columns or rows for each of p devices, other than p."""
    return int(rng.choice([share for share in range(2, 6) if share != p]))


def _devices_and_share(rng: np.random.Generator) -> tuple[int, int]:
    """A number of devices, 2 to 4, and another number of columns or rows for each."""
    p = int(rng.integers(2, 5))
    return p, _share(rng, p)


def _other_axis(rng: np.random.Generator, p: int, share: int) -> int:
    """A length of the axis that stays whole. Whoever asks it refuses, since p does not divide it; whoever rounds, down or up, gets another
    share."""
    return int(rng.choice([d for d in range(2, 12) if d % p and share not in (d, d // p, -(-d // p))]))


def wide_cases(rng: np.random.Generator) -> list[Case]:
    """Weights whose columns p divides, p another one each time, some with numbers that count on."""
    cases = []
    for p in map(int, rng.permutation([2, 3, 4])[:2]):
        share = _share(rng, p)
        d = _other_axis(rng, p, share)
        cases += [case(counting(d, p * share), p), case(normal(rng, d, p * share), p)]
    return [*cases, case(counting(d, p * share), p, harness="accepting")]  # nothing to refuse


def wide_cases_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """The same where rows can be cut too, on one device, on one for each column, float32, and other layouts."""
    p, share = _devices_and_share(rng)
    d, size = _other_axis(rng, p, share), p * share
    return [
        case(normal(rng, size, size), p),  # rows can be cut as well
        case(normal(rng, d, size), 1),
        case(normal(rng, d, size), 1, harness="accepting"),  # nothing to refuse
        case(normal(rng, d, size), size),
        case(normal(rng, d, size, dtype="float32"), p),
        case(normal(rng, d, size, order="F"), p),
        case(normal(rng, d, size, order="strided"), p),
    ]


def too_wide_cases(rng: np.random.Generator) -> list[Case]:
    """Weights whose columns p does not divide."""
    p, share = _devices_and_share(rng)
    rest = int(rng.integers(1, p))
    refused = [
        (normal(rng, 2 * p, p * share + rest), p),
        (normal(rng, p, p - 1), p),  # more devices than columns
        (normal(rng, 5, 2), 4),  # and twice as many
        (normal(rng, 6, 3 * share + 1), 3),
        (normal(rng, 7, 3 * share + 2), 3),  # not even the number of entries can be dealt evenly
    ]
    return [case(*one, harness="refusing") for one in refused]


def exchange_between(p: int, mark: float = 0.0, distinct: bool = False) -> Function:
    """The all_reduce of p devices; mark and distinct as in `public_function`."""
    return public_function("all_reduce", p=p, mark=mark, distinct=distinct)
