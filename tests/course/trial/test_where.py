"""The picture of where two arrays differ."""

from __future__ import annotations

import numpy as np
import pytest

from course.trial.message import Comparison
from course.trial.values import Tensor, Value
from course.trial.where import MOST_ROWS, WIDTH, where

RIGHT = np.arange(24.0).reshape(2, 2, 2, 3)


def spoilt(*places: tuple[int, ...]) -> np.ndarray:
    array = RIGHT.copy()
    for place in places:
        array[place] += 100
    return array


def test_each_head_of_each_item_has_a_table_of_its_own() -> None:
    picture = where(RIGHT, spoilt((0, 1, 1, 2), (1, 0, 0, 0)), "[b, h, n, m]")
    assert picture.splitlines() == [
        "Where they differ (×), for each [b, h]:",
        "[0, 0]   [0, 1]   [1, 0]   [1, 1]",
        "· · ·    · · ·    × · ·    · · ·",
        "· · ·    · · ×    · · ·    · · ·",
    ]


def test_a_table_has_one_picture_and_no_labels() -> None:
    above = np.triu(np.ones((3, 3)), 1)
    assert where(np.zeros((3, 3)), above, "[n, m]") == "Where they differ (×):\n· × ×\n· · ×\n· · ·"
    assert where(Tensor(np.zeros((3, 3))), Tensor(above)) == where(np.zeros((3, 3)), above)


@pytest.mark.parametrize("axes", ["", "[b, 1, n, m]", "[n, m]"])
def test_axes_without_names_that_fit_are_not_named(axes: str) -> None:
    assert where(RIGHT, spoilt((0, 0, 0, 0)), axes).startswith("Where they differ (×):\n")


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        (np.zeros(3), np.array([0.0, 1, 0])),
        (np.zeros((3, 3)), np.zeros((3, 3))),
        (np.zeros((3, 3)), np.ones((3, 3))),
        (np.zeros((3, 3)), np.zeros((3, 4))),
        (np.zeros((3, 3)), np.eye(3, dtype=np.float32)),
        (np.zeros((0, 2)), np.zeros((0, 2))),
        (np.zeros((3, 3)), Tensor(np.eye(3))),
        (np.zeros((2, 4)), np.eye(2, 4)),
        (np.zeros((2 * MOST_ROWS, 2)), np.eye(2 * MOST_ROWS, 2)),
        (np.zeros((2, WIDTH)), np.eye(2, WIDTH)),
        ((1, 2), (1, 3)),
    ],
)
def test_where_a_picture_would_say_nothing_or_too_much_there_is_none(expected: Value, given: Value) -> None:
    assert where(expected, given) == ""


def test_nothing_that_is_no_number_hides_a_difference() -> None:
    expected, given = np.zeros((3, 3)), np.diag([0.0, np.nan, np.inf])
    assert where(expected, given).endswith("\n· · ·\n· × ·\n· · ×")


def test_in_a_notebook_a_small_table_marks_its_entries_itself() -> None:
    small, large = (
        Comparison(np.zeros((3, 3)), np.eye(3), "a picture"),
        Comparison(RIGHT, spoilt((0, 0, 0, 0)), "a picture"),
    )
    assert "a picture" in small.text()
    assert "a picture" not in small.html()
    assert "a picture" in large.text()
    assert "a picture" in large.html()
