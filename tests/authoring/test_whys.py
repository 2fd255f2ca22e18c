"""Every exercise says why its answer is right, in a few sentences that a student can read."""

from __future__ import annotations

import pytest

from autograder.exercises import every_exercise
from autograder.exercises.model import Exercise
from tests.support.whys import faults

FINE = "The axis d has to go, so the product is `X @ W`, of shape `[n, k]`, and n rows stay as they are. " * 3


@pytest.mark.parametrize("exercise", list(every_exercise()), ids=lambda exercise: exercise.name)
def test_an_exercise_says_why(exercise: Exercise) -> None:
    assert faults(exercise.why) == []


def test_no_two_exercises_say_the_same() -> None:
    whys = [exercise.why for exercise in every_exercise()]
    assert len(set(whys)) == len(whys)


def test_a_good_reason_has_no_fault() -> None:
    assert faults(FINE) == []


@pytest.mark.parametrize(
    ("why", "fault"),
    [
        ("", "0 words; 40 to 120 are asked for"),
        (FINE * 3, "9 sentences; two to five are asked for"),
        (FINE.replace("so the", "so obviously the"), "says 'obviously'"),
        (FINE.replace("`X @ W`", "X @ W"), "code without backticks: @"),
        (FINE.replace("`[n, k]`", "np.ones"), "code without backticks: p.o"),
    ],
)
def test_what_is_amiss_is_told(why: str, fault: str) -> None:
    assert fault in faults(why)
