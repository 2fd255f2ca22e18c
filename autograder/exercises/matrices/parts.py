"""What exercises on attention in matrices share: numbers to try them on, and widths that tell roots apart."""

from __future__ import annotations

import numpy as np

from autograder.exercises.inputs import normal
from autograder.exercises.model import F

KEY_WIDTHS = ((3,), (5, 6, 7, 8), (10, 11, 12))
"""Bands of k in which its root, the whole part of that, and half of k are three different numbers, and differently so."""


def some_numbers(seed: int, *shape: int, dtype: str = "float64") -> F:
    """Numbers of three decimals that look like nothing in particular, the same every time."""
    return normal(np.random.default_rng(seed), *shape).round(3).astype(dtype)


def sizes_in_band(rng: np.random.Generator, band: int) -> tuple[int, int, int, int]:
    """n, m, k and v, pairwise distinct, with k from one of `KEY_WIDTHS`."""
    k = int(rng.choice(KEY_WIDTHS[band]))
    n, m, v = (int(size) for size in rng.choice([size for size in range(3, 10) if size != k], 3, replace=False))
    return n, m, k, v


def raised(Q: F, K: F, level: float) -> tuple[F, F]:
    """The same, except that every scaled score lies higher by `level`, which the first number of queries and keys takes care of."""
    Q, K = Q.copy(), K.copy()
    Q[:, 0] = 1.0
    K[:, 0] += level * K.shape[1] ** 0.5
    return Q, K


def one_row_far_below(Q: F, K: F) -> tuple[F, F]:
    """The same, except that all scores of query 0 lie lower by thousands than those of the others."""
    Q, K = raised(Q, K, 3e3)
    Q[0, 0] = -1.0
    return Q, K
