"""What the oracle, or a mistake, says to a case."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autograder.exercises.model import Exercise
from course.trial import ranks
from course.trial.cases import Case
from course.trial.observing import Observation
from course.trial.values import ArrayLike, Tensor, Value, bare, map_leaves, native, pack, plain
from course.trial.views import seen

REFUSAL = "ValueError"
"""What an oracle raises where a right answer refuses its arguments."""

AT_HAND, LONGEST = 1000, 32 << 10
"""Answers to students' questions that are kept, and the bytes that a question may have together with its answer."""


class OracleFailed(RuntimeError):
    """The reference itself went wrong: a fault of ours, and no answer."""


def expected(exercise: Exercise, case: Case) -> Observation:
    """The observation that a right answer gives: computed in float64, then rounded to the dtype of the arguments.

    Raises:
        OracleFailed: the oracle raised something that is no refusal.
    """
    widened = Case(tuple(map_leaves(_widened, a) for a in case.arguments), case.harness)
    with ranks.simulated():  # no process is started where the judge is
        observed = widened.run(exercise.oracle)
    if observed.raised is not None and observed.raised.kind != REFUSAL:
        raise OracleFailed(f"{exercise.name}: {observed.raised.kind}: {observed.raised.message}")
    rounded = _rounded(observed.result, _float_type(case.arguments))
    return seen(exercise.view, Observation(rounded, observed.raised, {}, observed.counts))


def given(exercise: Exercise, implementation: Callable[..., Any], case: Case, count_lines: bool) -> Observation:
    """The observation that some other implementation gives, seen as the exercise sees answers."""
    with ranks.simulated():
        return seen(exercise.view, case.run(implementation, count_lines))


def lend(exercise: Exercise, arguments: tuple[Value, ...], keywords: dict[str, Value]) -> tuple[Value, float]:
    """What the oracle of an exercise returns to a student's function that builds on it.

    Most of a class asks the same questions: the answers to the last ones are kept, but where a function is handed on, which may count.

    Returns:
        The answer, and the seconds of processor time that it spared to know it already: they are to count as if they had been spent,
        so that nobody gains or loses by what others asked before.
    """
    began = time.thread_time()
    try:
        question = pack((exercise.notebook, exercise.name, arguments, keywords))
    except (TypeError, ValueError):
        return _lent(exercise, arguments, keywords), 0.0
    if exercise is _asked.get(question, _NEW).exercise:
        _asked.move_to_end(question)
        return _asked[question].answer, _asked[question].seconds
    answer = _lent(exercise, arguments, keywords)
    took = time.thread_time() - began
    if len(question) + _length(answer) <= LONGEST:
        _asked[question] = _Asked(exercise, answer, took)
        if len(_asked) > AT_HAND:
            _asked.popitem(last=False)
    return answer, 0.0


def _length(value: Value) -> float:
    """How many bytes it travels in; infinitely many, if it does not."""
    try:
        return len(pack(value))
    except ValueError:
        return math.inf


class _Asked(NamedTuple):
    exercise: Exercise | None
    answer: Value
    seconds: float


_NEW = _Asked(None, None, 0.0)
_asked: OrderedDict[bytes, _Asked] = OrderedDict()


def _lent(exercise: Exercise, arguments: tuple[Value, ...], keywords: dict[str, Value]) -> Value:
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
    return native(_widened(leaf.array if isinstance(leaf, ArrayLike) else leaf))


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
