"""What a feedback page may show in full: a public case in which a known mistake goes wrong. No student's code is run for it: one that
has seen hidden cases could put them into its answers to public ones.
"""

from __future__ import annotations

from functools import cache

from autograder.verdicts.verdict import Verdict
from course import answers
from course.answers import StoredExercise, StoredMistake
from course.checking import plainest
from course.trial.comparing import difference
from course.trial.message import Message
from course.trial.text import EXACTLY

INTRODUCTION = "What this mistake gives in a public case:"


def public_case(verdict: Verdict) -> str:
    """The plainest public case in which the recognised mistake goes wrong, in lines; "" where there is none to show.

    It is shown of a mistake that gives exactly the student's answers. Hidden cases are not looked at: what is shown here
    is in the students' package.
    """
    certain = verdict.mistakes and "".join(verdict.lessons).startswith(f"A {EXACTLY}")
    return _cases(verdict.exercise).get(verdict.mistakes[0], "") if certain else ""


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
