"""What a feedback page may show in full: a public case in which an answer goes wrong, a known mistake's or the student's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from autograder.judging.verdict import Verdict
from course import answers
from course.answers import StoredExercise, StoredMistake
from course.checking import plainest, told_of
from course.trial.cases import Case
from course.trial.comparing import difference
from course.trial.message import Message
from course.trial.observing import Observation
from course.trial.text import EXACTLY

INTRODUCTION = "What this mistake gives in a public case:"
OWN = "What this answer gives in a public case:"
LONGEST = 4_000
"""Characters of a student's own case."""


def public_case(verdict: Verdict) -> str:
    """The plainest public case in which the recognised mistake goes wrong, in lines; "" where there is none to show.

    It is shown of a mistake that gives exactly the student's answers. Hidden cases are not looked at: what is shown here
    is in the students' package.
    """
    return _cases(verdict.exercise).get(verdict.mistakes[0], "") if is_certain(verdict) else ""


def is_certain(verdict: Verdict) -> bool:
    """Whether a known mistake gives exactly the student's answers."""
    return bool(verdict.mistakes) and verdict.lessons[0].startswith(f"A {EXACTLY}")


def failing_case(name: str, ask: Callable[[Case], Observation | None]) -> str:
    """The smallest public case of an exercise in which a student's answer goes wrong, in lines; "" where none does.

    Args:
        name: of the exercise.
        ask: what the answer gives in a case; None where nothing can be asked any more.
    """
    exercise = answers.find(name)
    for place, case in enumerate(exercise.cases if exercise else ()):
        assert exercise is not None
        if (got := ask(case)) is None:
            return ""
        if found := difference(exercise.expected[place], got):
            reasons, comparison = told_of(exercise, place, got, found, digits=False)
            return Message("not yet", (OWN,), reasons=tuple(reasons), comparison=comparison).text()[:LONGEST]
    return ""


def at_hand(notebook: str) -> None:
    """Work out what `public_case` shows of a notebook's exercises, once for all pages that are made after that."""
    for name in answers.names(notebook) if notebook in answers.notebooks() else ():
        _cases(name)


@cache
def _cases(name: str) -> dict[str, str]:
    """By mistake, the case that shows it."""
    exercise = answers.find(name)
    return {mistake.name: _case(exercise, mistake) for mistake in exercise.mistakes} if exercise else {}


def _case(exercise: StoredExercise, mistake: StoredMistake) -> str:
    differences = [difference(*pair) for pair in zip(exercise.expected, mistake.answers, strict=True)]
    if not any(differences):
        return ""
    case = plainest(exercise, mistake.answers, differences, digits=False)
    return Message("not yet", (INTRODUCTION,), reasons=case.reasons, comparison=case.comparison).text()
