"""What exercises on matrix products share: numbers to try them on."""

from __future__ import annotations

import numpy as np

from autograder.exercises.inputs import normal
from autograder.exercises.model import F


def some_numbers(seed: int, *shape: int, dtype: str = "float64") -> F:
    """Numbers of three decimals that look like nothing in particular, the same every time."""
    return normal(np.random.default_rng(seed), *shape).round(3).astype(dtype)
