"""A sketch spares comparing two answers in full; it never says of two that are the same that they are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autograder.exercises import every_exercise
from autograder.exercises.model import Exercise
from autograder.judging.paper import Paper
from autograder.judging.sketch import sketch
from course.trial.comparing import TOLERANCE, coarsest, same_answers
from course.trial.form import SEVEN_DIGITS, in_form
from course.trial.observing import Observation, Raised
from course.trial.values import Tensor, Value

DTYPES = tuple(TOLERANCE)
A_FEW = [
    exercise
    for exercise in every_exercise()
    if exercise.name in ("mix_rows", "softmax", "causal_keep", "layer_norm", "repair_claims")
]


def may_be(want: Observation, one: Observation, other: Observation, least: float = 0.0) -> bool:
    return sketch(one).may_be(sketch(other), max(least, coarsest(want.result)))


@pytest.mark.parametrize("exercise", A_FEW, ids=lambda exercise: exercise.name)
def test_answers_that_are_the_same_have_sketches_that_may_be(exercise: Exercise) -> None:
    """Of every two mistakes in every case, as they are and in the form that was asked for."""
    paper = Paper(exercise, 3)
    same = apart = 0
    for sheet in paper.sheets:
        for case in sheet.cases:
            want = paper.expected(case)
            answers = [paper.given(mistake, case, False) for mistake in exercise.mistakes[:12]]
            for least, given in ((0.0, answers), (SEVEN_DIGITS, [in_form(want, answer) for answer in answers])):
                for one in given:
                    for other in given:
                        alike = same_answers([want], [one], [other], least)
                        assert may_be(want, one, other, least) or not alike
                        same, apart = same + alike, apart + (not may_be(want, one, other, least))
    assert same
    assert apart > same / 10  # else a sketch would spare nothing


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(1,), (3, 4), (2, 3, 50)])
def test_what_differs_by_as_much_as_may_be_is_not_told_apart(name: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 1e3):
        numbers = (scale * rng.normal(size=shape)).astype(name)
        room = TOLERANCE[name] * (np.abs(numbers) + np.abs(numbers).max())
        moved = (numbers + 0.99 * room).astype(name)
        one, other = Observation(numbers), Observation(moved)
        assert may_be(one, one, other) or not same_answers([one], [one], [other])
        assert not may_be(one, one, Observation((numbers + 50 * room).astype(name)))


VALUES: list[Value] = [
    np.array([1.0, np.nan]),
    np.array([1.0, np.inf]),
    np.array([1.0, 2.0]),
    np.array([1e308, 1e308]),
    np.array([1.0, 2.0], np.float32),
    np.array([1, 2]),
    np.array([True, False]),
    np.array(2.0),
    Tensor(np.array([1.0, 2.0])),
    np.array([[1.0, 2.0]]),
    np.zeros((0, 2)),
    [1.0, 2.0],
    (1.0, 2.0),
    {"a": np.array([1.0, 2.0]), "b": 1},
    {"b": 1, "a": np.array([1.0, 2.0])},
    2.0,
    2,
    True,
    None,
    "None",
    "a",
]


def test_every_form_is_itself_and_what_is_the_same_may_be() -> None:
    answers = [Observation(value) for value in VALUES]
    answers += [replace(answers[2], changed={0: np.ones(2)}), replace(answers[2], changed={0: np.zeros(2)})]
    answers += [Observation(raised=Raised("ValueError", "a")), Observation(raised=Raised("TypeError", "a"))]
    for one in answers:
        assert may_be(one, one, one)
        for other in answers:
            assert may_be(one, one, other) or not same_answers([one], [one], [other])
