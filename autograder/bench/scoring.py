"""What a hidden test calls where stock nbgrader grades: the judge in the student's own process, which is all that stock has."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from autograder.exercises import exercise_called
from autograder.exercises.model import Exercise
from autograder.judging import Paper, judge_here
from autograder.judging.paper import paper_of
from course.client import answer


def score(function: Callable[..., Any]) -> float:
    """The points of a function, which nbgrader reads from the cell's output."""
    return judge_here(function, Paper(_exercise(function), secrets.randbits(63)), answer).score


def score_on_one_paper(function: Callable[..., Any]) -> float:
    """The points of a function on the paper of all who are scored in this process."""
    exercise = _exercise(function)
    return judge_here(function, paper_of(exercise.notebook, exercise.name, 0), answer).score


def _exercise(function: Callable[..., Any]) -> Exercise:
    exercise = exercise_called(function.__name__)
    assert exercise is not None, f"there is no exercise {function.__name__}"
    return exercise
