"""Where fewer walls can be built, marks are the same, and it is said."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from submissions import NOTEBOOK, RIGHT, filled, hand_in, scores

from autograder.course import Course
from autograder.engine import keeping
from autograder.engine.outer import WALLS_VARIABLE, best_walls


@pytest.fixture(params=["outer", "none"])
def walls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv(WALLS_VARIABLE, request.param)
    best_walls.cache_clear()
    keeping.discard()
    yield request.param
    best_walls.cache_clear()
    keeping.discard()


def test_honest_work_keeps_its_marks(walls: str, new_course) -> None:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    for student in ("ada", "bea"):
        hand_in(course, student, filled(course, RIGHT))
        course.autograde(NOTEBOOK, student)
        assert scores(course, student) == (2.0, 2.0, 3.0)


def test_an_unknown_kind_of_walls_is_an_error_that_names_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WALLS_VARIABLE, "thick")
    best_walls.cache_clear()
    with pytest.raises(ValueError, match="AUTOGRADER_WALLS is 'thick'; it can be both, outer, none"):
        best_walls()


def test_a_zygote_that_dies_between_two_submissions_is_replaced(new_course) -> None:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    for student in ("ada", "bea"):
        hand_in(course, student, filled(course, RIGHT))
        course.autograde(NOTEBOOK, student)
        assert scores(course, student) == (2.0, 2.0, 3.0)
        assert keeping._kept.own is not None
        keeping._kept.own._process.kill()
