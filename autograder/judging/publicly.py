"""What a feedback page may show in full: a public case in which a wrong answer goes wrong.

No student's code that has seen hidden cases is run for it, since it could put them into its answers to public ones: a mistake that is
known for certain answers in place of the student, and any other answer is tried in a process that has heard nothing hidden.
"""

from __future__ import annotations

from functools import cache

from autograder.verdicts.verdict import Verdict
from course import answers
from course.afterwards import in_lines
from course.answers import StoredExercise, StoredMistake
from course.checking import plainest
from course.trial.comparing import difference
from course.trial.text import EXACTLY

WITH_VALUES = ("partly", "wrong")
"""Outcomes of answers that came to their end in hidden cases, and so in public ones in all likelihood."""

INTRODUCTION = "What this mistake gives in a public case:"


def public_case(verdict: Verdict) -> str:
    """The plainest public case in which the recognised mistake goes wrong, in lines; "" where there is none to show.

    It is shown of a mistake that gives exactly the student's answers. Hidden cases are not looked at: what is shown here
    is in the students' package.
    """
    return _cases(verdict.exercise).get(verdict.mistakes[0], "") if _certain(verdict) else ""


def trying(verdict: Verdict) -> str:
    """The code that prints such a case of the student's own, or that there is none; "" where none is asked for."""
    if verdict.outcome not in WITH_VALUES or _certain(verdict):
        return ""
    return f"import course\ncourse.afterwards.tell({verdict.exercise}, {verdict.exercise!r})"


def _certain(verdict: Verdict) -> bool:
    """Whether a mistake gives exactly the student's answers."""
    return bool(verdict.mistakes) and "".join(verdict.lessons).startswith(f"A {EXACTLY}")


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
    return in_lines(INTRODUCTION, plainest(exercise, mistake.answers, differences, digits=False))
