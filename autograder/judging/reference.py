"""What the oracle, or a mistake, says to a case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograder.exercises.model import Exercise
from course.trial import ranks
from course.trial.cases import Case
from course.trial.observing import Observation
from course.trial.values import Tensor, Value, bare, map_leaves, native, plain
from course.trial.views import seen

REFUSAL = "ValueError"
"""What an oracle raises where a right answer refuses its arguments."""


class OracleFailed(RuntimeError):
    """The reference itself went wrong: a fault of ours, and no answer."""


_remembered: dict[tuple[Any, ...], tuple[Case, Observation]] | None = None


@contextmanager
def remembered() -> Iterator[None]:
    """While this lasts, an oracle or a mistake is asked once about one and the same case, whoever wants to know."""
    global _remembered
    _remembered = {}
    try:
        yield
    finally:
        _remembered = None


def _once(case: Case, asked: tuple[Any, ...], answer: Callable[[], Observation]) -> Observation:
    if _remembered is None:
        return answer()
    key = (id(case), *asked)
    if key not in _remembered:
        _remembered[key] = case, answer()  # with the case, or another one could have its identity
    return _remembered[key][1]


def expected(exercise: Exercise, case: Case) -> Observation:
    """The observation that a right answer gives: computed in float64, then rounded to the dtype of the arguments.

    Raises:
        OracleFailed: the oracle raised something that is no refusal.
    """
    return _once(case, (exercise.name,), lambda: _expected(exercise, case))


def _expected(exercise: Exercise, case: Case) -> Observation:
    widened = Case(tuple(map_leaves(_widened, a) for a in case.arguments), case.harness)
    with ranks.simulated():  # no process is started where the judge is
        observed = widened.run(exercise.oracle)
    if observed.raised is not None and observed.raised.kind != REFUSAL:
        raise OracleFailed(f"{exercise.name}: {observed.raised.kind}: {observed.raised.message}")
    rounded = _rounded(observed.result, _float_type(case.arguments))
    return seen(exercise.view, Observation(rounded, observed.raised, {}, observed.counts))


def given(exercise: Exercise, implementation: Callable[..., Any], case: Case, count_lines: bool) -> Observation:
    """The observation that some other implementation gives, seen as the exercise sees answers."""

    def answer() -> Observation:
        with ranks.simulated():
            return seen(exercise.view, case.run(implementation, count_lines))

    return _once(case, (exercise.name, implementation, count_lines), answer)


def lend(exercise: Exercise, arguments: tuple[Value, ...], keywords: dict[str, Value]) -> Value:
    """What the oracle of an exercise returns to a student's function that builds on it."""
    result = exercise.oracle(*map_leaves(_handed, arguments), **map_leaves(_handed, keywords))
    return _rounded(plain(result), _float_type((*arguments, *keywords.values())))


def _float_type(arguments: tuple[Any, ...]) -> np.dtype | None:
    found: list[np.dtype] = []

    def note(leaf: Any) -> None:
        array = bare(leaf)
        if isinstance(array, np.ndarray) and array.dtype.kind == "f":
            found.append(array.dtype)

    map_leaves(note, arguments)
    return np.result_type(*found) if found else None


def _handed(leaf: Any) -> Any:
    return native(_widened(leaf))


def _widened(leaf: Any) -> Any:
    if isinstance(leaf, Tensor):
        return Tensor(_widened(leaf.array))
    return leaf.astype(np.float64) if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f" else leaf


def _rounded(result: Value, dtype: np.dtype | None) -> Value:
    def rounded(leaf: Value) -> Value:
        if isinstance(leaf, Tensor):
            return Tensor(rounded(leaf.array))
        floats = dtype is not None and isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f"
        return leaf.astype(dtype) if floats else leaf

    return map_leaves(rounded, result)
