"""What a hidden test calls where stock nbgrader grades: the judge in the student's own process, which is all that stock has."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from autograder.exercises import exercise_called
from autograder.judging import Paper, judge_here
from course.client import answer


def score(function: Callable[..., Any]) -> float:
    """The points of a function, which nbgrader reads from the cell's output."""
    exercise = exercise_called(function.__name__)
    assert exercise is not None, f"there is no exercise {function.__name__}"
    return judge_here(function, Paper(exercise, secrets.randbits(63)), answer).score
