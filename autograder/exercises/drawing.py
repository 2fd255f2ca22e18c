"""Inputs for hidden probes: what makes a wrong answer show."""

from __future__ import annotations

import numpy as np

from course.values import with_layout


def sizes(rng: np.random.Generator, how_many: int, low: int = 2, high: int = 9) -> list[int]:
    """Sizes that are pairwise distinct, so that no axis passes for another."""
    return [int(size) for size in rng.choice(np.arange(low, high + 1), how_many, replace=False)]


def normal(
    rng: np.random.Generator, *shape: int, scale: float = 1.0, dtype: str = "float64", order: str = "C"
) -> np.ndarray:
    """Normal numbers of the given standard deviation, dtype and memory layout ("C", "F" or "strided")."""
    return with_layout((scale * rng.standard_normal(shape)).astype(dtype), order)
