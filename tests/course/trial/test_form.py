"""What counts as a matter of form: the right thing in another type, container or precision, or an argument written into."""

from __future__ import annotations

import numpy as np
import pytest

from course.trial.form import only_form
from course.trial.observing import Observation, Raised
from course.trial.values import Opaque, Tensor, Value

TABLE = np.array([[0.5, -2.0, 3.0], [1.0, 0.0, 4.0]])
MAP = np.array([[True, False], [True, True]])


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        (TABLE, TABLE.tolist()),
        (TABLE, TABLE.astype("f4")),
        (TABLE, Tensor(TABLE)),
        (TABLE, TABLE[None]),
        (TABLE[:1], TABLE[0]),
        (TABLE[0], TABLE[:1]),
        (TABLE, TABLE * (1 + 1e-7)),
        (TABLE.astype("f4"), TABLE),
        (Tensor(TABLE), TABLE),
        (MAP, MAP.astype(float)),
        (MAP, MAP.astype(np.uint8).tolist()),
        ((TABLE, MAP), [TABLE, MAP]),
        ((0.25, 0.5), np.array([0.25, 0.5])),
        ({"H": TABLE}, {"H": TABLE, "T1": MAP}),
        (12, 12.0),
        (0.5, np.array([0.5])),
        (True, 1),
        ("leak", " Leak"),
    ],
    ids=repr,
)
def test_the_right_thing_in_another_form(wanted: Value, given: Value) -> None:
    assert only_form(Observation(wanted), Observation(given))


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        (TABLE, TABLE),  # nothing is wrong at all
        (TABLE, TABLE.T),
        (TABLE, TABLE + 1e-3),
        (TABLE, np.round(TABLE + 0.01, 1)),
        (TABLE, None),
        (TABLE, Opaque("a generator")),
        (TABLE, [[0.5], [1.0, 2.0]]),
        (MAP, MAP * 0.5),
        (MAP, ~MAP),
        ((TABLE, MAP), (MAP, TABLE)),
        ((TABLE, MAP), (TABLE,)),
        ({"H": TABLE}, {"h": TABLE}),
        (12, 12.5),
        (12, float("nan")),
        (12, "12"),
        ("leak", "underfit"),
    ],
    ids=repr,
)
def test_another_thing_in_whatever_form(wanted: Value, given: Value) -> None:
    assert not only_form(Observation(wanted), Observation(given))


def test_an_argument_written_into_is_a_matter_of_form_where_the_result_is_right() -> None:
    assert only_form(Observation(TABLE), Observation(TABLE, changed={0: MAP}))
    assert not only_form(Observation(TABLE), Observation(-TABLE, changed={0: MAP}))


def test_what_is_spent_and_what_is_raised_are_none() -> None:
    assert not only_form(Observation(TABLE, counts={"project": 3}), Observation(TABLE, counts={"project": 4}))
    assert not only_form(Observation(raised=Raised("ValueError")), Observation(TABLE))
    assert not only_form(Observation(TABLE), Observation(raised=Raised("ValueError")))
