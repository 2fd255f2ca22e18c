"""Inputs for hidden probes: what makes a wrong answer show."""

from __future__ import annotations

import numpy as np

from course.trial.values import with_layout


def sizes(rng: np.random.Generator, how_many: int, low: int = 2, high: int = 9) -> list[int]:
    """Sizes that are pairwise distinct, so that no axis passes for another."""
    return [int(size) for size in rng.choice(np.arange(low, high + 1), how_many, replace=False)]


def normal(
    rng: np.random.Generator, *shape: int, scale: float = 1.0, dtype: str = "float64", order: str = "C"
) -> np.ndarray:
    """Normal numbers of the given standard deviation, dtype and memory layout ("C", "F" or "strided")."""
    return with_layout((scale * rng.standard_normal(shape)).astype(dtype), order)


def random_keep(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """A random mask with at least one kept and, if there is room, one hidden place in every row."""
    keep = rng.random(shape) < 0.6
    rows = keep.reshape(-1, shape[-1])
    kept = rng.integers(shape[-1], size=len(rows))
    rows[np.arange(len(rows)), (kept + 1) % shape[-1]] = False
    rows[np.arange(len(rows)), kept] = True
    return rows.reshape(shape)


def causal(n: int, m: int | None = None) -> np.ndarray:
    """The causal mask of n tokens; of m > n tokens its last n rows."""
    m = n if m is None else m
    return np.arange(m)[None, :] <= np.arange(n)[:, None] + max(m - n, 0)
