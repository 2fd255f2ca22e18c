"""Where fewer walls can be built, marks are the same, and it is said."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from autograder.engine import pool
from autograder.engine.outer import WALLS_VARIABLE, best_walls
from autograder.folder import Course, NbgraderFailed
from autograder.grading.run import grade
from autograder.plugins.starting import NO_WALLS
from autograder.problems import Problem
from tests.support.stock import nbgrader
from tests.support.submissions import NOTEBOOK, RIGHT, filled, hand_in, scores


@pytest.fixture(params=["outer", "none"])
def fewer_walls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "outer":
        request.getfixturevalue("walls")
    monkeypatch.setenv(WALLS_VARIABLE, request.param)
    best_walls.cache_clear()
    pool.discard()
    yield request.param
    best_walls.cache_clear()
    pool.discard()


def test_honest_work_keeps_its_marks(fewer_walls: str, new_course) -> None:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    for student in ("ada", "bea"):
        hand_in(course, student, filled(course, RIGHT))
        course.autograde(NOTEBOOK, student)
        assert scores(course, student) == (2.0, 2.0, 3.0)


def test_no_walls_are_said_once_and_before_anything_runs(new_course, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    for student in ("ada", "bea"):
        hand_in(course, student, filled(course, RIGHT))
    monkeypatch.setenv(WALLS_VARIABLE, "none")
    said = nbgrader(course.root, "autograde", NOTEBOOK)
    assert said.count(NO_WALLS) == said.count("no walls") == 1
    assert said.index(NO_WALLS) < said.index("Autograding ")
    assert scores(course, "ada") == scores(course, "bea") == (2.0, 2.0, 3.0)


def test_the_class_command_asks_where_the_engine_has_no_walls(fewer_walls: str, new_course) -> None:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    hand_in(course, "ada", filled(course, RIGHT))
    asked: list[str] = []
    with contextlib.suppress(Problem):
        grade(course, NOTEBOOK, unwalled=lambda: bool(asked.append(fewer_walls)), feedback=False)
    assert asked == (["none"] if fewer_walls == "none" else [])
    assert course.folder("autograded", "ada", NOTEBOOK).is_dir() is (fewer_walls == "outer")


def test_an_unknown_kind_of_walls_is_a_sentence_that_names_the_known_ones_and_nobody_is_graded(
    no_such_walls: None,
    new_course,  # type: ignore[no-untyped-def]
) -> None:
    course: Course = new_course()
    hand_in(course, "ada", filled(course, RIGHT))
    told = "AUTOGRADER_WALLS is 'thick'; it can be both, outer, none. Change it, or unset it."
    with pytest.raises(ValueError, match=told):
        best_walls()
    with pytest.raises(Problem, match=told):
        grade(course, NOTEBOOK)
    with pytest.raises(NbgraderFailed, match=told) as refused:
        course.autograde(NOTEBOOK, "ada")
    assert "Traceback" not in str(refused.value)
    assert not course.folder("autograded", "ada", NOTEBOOK).exists()


def test_a_zygote_that_dies_between_two_submissions_is_replaced(new_course) -> None:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    for student in ("ada", "bea"):
        hand_in(course, student, filled(course, RIGHT))
        course.autograde(NOTEBOOK, student)
        assert scores(course, student) == (2.0, 2.0, 3.0)
        assert pool._kept.own is not None
        pool._kept.own._process.kill()
