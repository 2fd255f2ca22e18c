"""Two slips at once, where the second one is a matter of number types: a mistake made in float64 is known as well as the mistake."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from autograder.exercises.model import Implementation, about_the_idea, misses_the_idea, mistake
from course.trial.values import map_leaves


def in_float64(wrong: Implementation) -> Implementation:
    """The same mistake by somebody whose arrays are float64 whatever comes in, made by `np.zeros` or divided by a root of numpy's."""

    def twin(*arguments: Any, of: Implementation = wrong) -> Any:
        return map_leaves(_widened, of(*arguments))

    twin.__name__ = twin.__qualname__ = f"{wrong.__name__}_in_float64"
    twin.__module__ = wrong.__module__
    twin.twin_of = wrong  # type: ignore[attr-defined]
    lesson = " ".join((inspect.getdoc(wrong) or "").split())
    twin.__doc__ = f"{lesson} (And float32 went in and float64 came out: of np.zeros, or of np.sqrt of a whole number.)"
    return misses_the_idea(twin) if about_the_idea(wrong) else mistake(twin)


def _widened(leaf: Any) -> Any:
    return leaf.astype(np.float64) if isinstance(leaf, np.ndarray) and leaf.dtype == np.float32 else leaf


def twin_of(implementation: Implementation) -> Implementation | None:
    """The mistake that this one is in float64, or None where it is none in two."""
    return getattr(implementation, "twin_of", None)
