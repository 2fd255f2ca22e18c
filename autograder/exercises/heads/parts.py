"""What several of these exercises share. Many heads, side by side."""

from __future__ import annotations

import math

import numpy as np

from autograder.exercises.inputs import normal, random_keep, sizes
from autograder.exercises.model import B, Case, F, case


# The mistakes and variants below stand on these, not on the oracles, whose loops would be counted as theirs.
def masked_softmax(S: F, keep: B) -> F:
    """Softmax of each row over what it may see; a row that sees nothing is all 0."""
    M = np.where(keep, S, -np.inf)
    top = M.max(axis=-1, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


def apart(rng: np.random.Generator) -> tuple[int, int, int, int, int]:
    """Sizes n, d, h, k, v, no two alike, nor any of them the width of all queries or of all values."""
    while True:
        n, d, k, v = sizes(rng, 4)
        h = int(rng.integers(2, 5))
        if len({n, d, h, k, v, h * k, h * v, n * h}) == 8:
            return n, d, h, k, v


def weights_of_heads(
    rng: np.random.Generator, d: int, h: int, k: int, v: int, dtype: str = "float64", order: str = "C"
) -> tuple[F, F, F, F]:
    """Weights of heads; with tokens of size 1 their scores have a standard deviation of about 2."""
    return (
        normal(rng, h, d, k, scale=2 / math.sqrt(d), dtype=dtype),
        normal(rng, h, d, k, scale=1 / math.sqrt(d), dtype=dtype, order=order),
        normal(rng, h, d, v, dtype=dtype),
        normal(rng, h * v, d, dtype=dtype, order=order),
    )


def with_empty_row(rng: np.random.Generator, n: int) -> B:
    keep = random_keep(rng, n, n)
    keep[rng.integers(n)] = False
    return keep


def pattern(*shape: int, step: int, dtype: str = "float64") -> F:
    """Small whole numbers, from -3 to 3, that look like nothing in particular."""
    return (np.arange(math.prod(shape)) * step % 7 - 3.0).reshape(shape).astype(dtype)


def public_heads(n: int, d: int, h: int, k: int, v: int, keep: B, dtype: str = "float64") -> Case:
    return case(
        pattern(n, d, step=3, dtype=dtype) / 4,
        pattern(h, d, k, step=5, dtype=dtype) / 2,
        pattern(h, d, k, step=4, dtype=dtype) / 2,
        pattern(h, d, v, step=2, dtype=dtype),
        pattern(h * v, d, step=9, dtype=dtype),
        keep,
    )


def payload(*shape: int, dtype: str = "float64") -> F:
    """Every number another one, so that each can be told where it came from."""
    return np.arange(math.prod(shape), dtype=dtype).reshape(shape)


def cases_counted(rng: np.random.Generator) -> list[Case]:
    h, n, v = sizes(rng, 3, 2, 6)
    return [case(payload(h, n, v)), case(payload(v, h, n))]


def cases_to_merge(rng: np.random.Generator) -> list[Case]:
    h, n, v = sizes(rng, 3, 2, 6)
    return [
        case(normal(rng, n, n, v)),  # h = n: without the exchange the shape is right
        case(normal(rng, h, v, v)),
        case(normal(rng, h, n, h)),
        case(normal(rng, h, h, h)),
        case(normal(rng, h, h * v, v)),  # n = h*v: a turned table has the right shape
    ]


def cases_to_merge_at_the_edge(rng: np.random.Generator) -> list[Case]:
    h, n, v = sizes(rng, 3, 2, 6)
    return [
        case(normal(rng, h, 1, v)),
        case(normal(rng, 1, n, v)),
        case(normal(rng, h, n, 1)),
        case(normal(rng, h, n, v, dtype="float32")),
        case(normal(rng, h, n, v, order="F")),
        case(normal(rng, h, n, v, order="strided")),
    ]


def merged(T: F) -> F:
    return T.swapaxes(0, 1).reshape(T.shape[1], -1)
