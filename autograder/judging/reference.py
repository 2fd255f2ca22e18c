"""What the oracle, or a mistake, says to a case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.exercises.model import Case, Exercise
from course.observing import Observation, observe
from course.values import Tensor, Value
from course.views import seen


def expected(exercise: Exercise, case: Case) -> Observation:
    """The observation that a right answer gives: computed in float64, then rounded to the dtype of the arguments."""
    observed = observe(exercise.oracle, tuple(_widened(a) for a in case.arguments))
    rounded = _rounded(observed.result, _float_type(case.arguments))
    return seen(exercise.view, Observation(rounded, observed.raised, {}, observed.counts))


def given(exercise: Exercise, implementation: Callable[..., Any], case: Case, count_lines: bool) -> Observation:
    """The observation that some other implementation gives, seen as the exercise sees answers."""
    return seen(exercise.view, observe(implementation, case.arguments, count_lines))


def lend(exercise: Exercise, arguments: tuple[Value, ...], keywords: dict[str, Value]) -> Value:
    """What the oracle of an exercise returns to a student's function that builds on it."""
    result = exercise.oracle(*map(_widened, arguments), **{key: _widened(value) for key, value in keywords.items()})
    return _rounded(result, _float_type((*arguments, *keywords.values())))


def _float_type(arguments: tuple[Any, ...]) -> np.dtype | None:
    arrays = [a.array if isinstance(a, Tensor) else a for a in arguments]
    floats = [a.dtype for a in arrays if isinstance(a, np.ndarray) and a.dtype.kind == "f"]
    return np.result_type(*floats) if floats else None


def _widened(argument: Any) -> Any:
    if isinstance(argument, np.ndarray) and argument.dtype.kind == "f":
        return argument.astype(np.float64)
    return argument


def _rounded(result: Value, dtype: np.dtype | None) -> Value:
    if dtype is not None and isinstance(result, np.ndarray) and result.dtype.kind == "f":
        return result.astype(dtype)
    if isinstance(result, (list, tuple)):
        return type(result)(_rounded(part, dtype) for part in result)
    if isinstance(result, dict):
        return {key: _rounded(part, dtype) for key, part in result.items()}
    return result
