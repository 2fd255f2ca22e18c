"""What every known mistake of an exercise gives, on the smallest public case that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from autograder.authoring.mutants import stored_answers
from autograder.exercises.model import Exercise, Implementation, equivalence, lesson
from course.answers import StoredExercise, StoredMistake
from course.checking import ONLY_A_LOOP, VISIBLE, told_of
from course.trial.comparing import Difference, difference, faintness
from course.trial.message import Message
from course.trial.situation import leaves

MANY = 25
"""Of more mistakes than these, those that go wrong in most cases come first."""
NEVER_SEEN = "Nothing that is tried tells it from a right answer, and it keeps its points: "
SEVEN_DIGITS = "Its numbers are right to some seven digits. What stands behind them differs from one processor to the next, so there is no table."


@dataclass(frozen=True)
class Group:
    """Mistakes that give the same on the case that shows them.

    Attributes:
        lessons: what the students of each read.
        shown: the case, what was expected and what came back, as `check` shows them, in HTML.
    """

    lessons: tuple[str, ...]
    shown: str


def groups(exercise: Exercise) -> list[Group]:
    """All known mistakes of an exercise, in the order in which they are declared; where there are many, the plainest first.

    Raises:
        Unreleased: `check` does not know them as they are declared now.
    """
    stored = stored_answers(exercise)
    by_name = {mistake.name: mistake for mistake in stored.mistakes}
    mistakes = list(exercise.mistakes)
    if len(mistakes) > MANY:
        mistakes.sort(key=lambda mistake: -_wrong_cases(stored, by_name.get(mistake.__name__)))
    found: dict[str, list[str]] = {}
    for mistake in mistakes:
        found.setdefault(_shown(stored, mistake, by_name.get(mistake.__name__)), []).append(lesson(mistake))
    return [Group(tuple(dict.fromkeys(lessons)), shown) for shown, lessons in found.items()]


def _wrong_cases(exercise: StoredExercise, mistake: StoredMistake | None) -> int:
    pairs = zip(exercise.expected, mistake.answers, strict=True) if mistake else ()
    return sum(difference(expected, answer) is not None for expected, answer in pairs)


def _shown(exercise: StoredExercise, mistake: Implementation, stored: StoredMistake | None) -> str:
    if stored is None:
        because = equivalence(mistake)
        return _said(f"{NEVER_SEEN}{because}" if because else SEVEN_DIGITS)
    differences = [difference(*pair) for pair in zip(exercise.expected, stored.answers, strict=True)]
    if not any(differences):
        return _said(ONLY_A_LOOP)
    i, found = min(((i, found) for i, found in enumerate(differences) if found), key=partial(_to_be_read, exercise))
    reasons, comparison = told_of(exercise, i, stored.answers[i], found, digits=False)
    return Message("not yet", (), reasons=tuple(reasons), comparison=comparison).html()


def _to_be_read(exercise: StoredExercise, failing: tuple[int, Difference]) -> tuple[bool, int]:
    """How much there is to read in a case; one whose numbers do not show the difference comes last."""
    i, found = failing
    return found.kind == "dtype" or faintness(found) > VISIBLE, leaves(exercise.cases[i].arguments)


def _said(sentence: str) -> str:
    return Message("not yet", (), reasons=(sentence,)).html()
