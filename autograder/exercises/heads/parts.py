"""What exercises on many heads share: sizes, weights, stacks of tables."""

from __future__ import annotations

import math

import numpy as np

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import B, Case, F, case
from autograder.exercises.parts import counting, pattern


def apart(rng: np.random.Generator) -> tuple[int, int, int, int, int]:
    """Sizes n, d, h, k, v, no two alike, nor any of them the width of all queries or of all values."""
    while True:
        n, d, k, v = sizes(rng, 4)
        h = int(rng.integers(2, 5))
        if len({n, d, h, k, v, h * k, h * v, n * h}) == 8:
            return n, d, h, k, v


def drawn_heads(
    rng: np.random.Generator, d: int, h: int, k: int, v: int, dtype: str = "float64", order: str = "C"
) -> tuple[F, F, F, F]:
    """Weights of heads; with tokens of size 1 their scores have a standard deviation of about 2."""
    return (
        normal(rng, h, d, k, scale=2 / math.sqrt(d), dtype=dtype),
        normal(rng, h, d, k, scale=1 / math.sqrt(d), dtype=dtype, order=order),
        normal(rng, h, d, v, dtype=dtype),
        normal(rng, h * v, d, dtype=dtype, order=order),
    )


def public_heads(n: int, d: int, h: int, k: int, v: int, keep: B, dtype: str = "float64") -> Case:
    """A public case for weights head by head: X, Wq, Wk, Wv, Wo, keep."""
    return case(
        pattern(n, d, step=3, dtype=dtype) / 4,
        pattern(h, d, k, step=5, dtype=dtype) / 2,
        pattern(h, d, k, step=4, dtype=dtype) / 2,
        pattern(h, d, v, step=2, dtype=dtype),
        pattern(h * v, d, step=9, dtype=dtype),
        keep,
    )


def counted_stacks(rng: np.random.Generator) -> list[Case]:
    """Stacks of tables whose numbers count on, to be traced."""
    h, n, v = sizes(rng, 3, 2, 6)
    return [case(counting(h, n, v)), case(counting(v, h, n))]


def stacks_of_equal_sizes(rng: np.random.Generator) -> list[Case]:
    """Stacks in which sizes coincide, so that a wrong order keeps the shape."""
    h, n, v = sizes(rng, 3, 2, 6)
    return [
        case(normal(rng, n, n, v)),  # h = n: without the exchange the shape is right
        case(normal(rng, h, v, v)),
        case(normal(rng, h, n, h)),
        case(normal(rng, h, h, h)),
        case(normal(rng, h, h * v, v)),  # n = h*v: a turned table has the right shape
    ]


def stacks_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """Stacks of one row, one table or width 1; float32, and layouts that are not contiguous."""
    h, n, v = sizes(rng, 3, 2, 6)
    return [
        case(normal(rng, h, 1, v)),
        case(normal(rng, 1, n, v)),
        case(normal(rng, h, n, 1)),
        case(normal(rng, h, n, v, dtype="float32")),
        case(normal(rng, h, n, v, order="F")),
        case(normal(rng, h, n, v, order="strided")),
    ]
