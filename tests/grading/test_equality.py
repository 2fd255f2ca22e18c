"""The same class, graded by `nbgrader autograde` and by this package: the same gradebook, the same folders."""

from __future__ import annotations

import pytest

from autograder.folder import Course
from autograder.grading.run import Graded, grade
from tests.support.classes import (
    STOCK,
    files_in,
    gradebook_rows,
    hand_in_shapes,
    hand_in_stock,
    penalise,
    release_stock,
)
from tests.support.commands import nbgrader
from tests.support.submissions import NOTEBOOK

TABLES = [
    "assignment",
    "base_cell",
    "comment",
    "course",
    "grade",
    "grade_cells",
    "notebook",
    "solution_cells",
    "source_cell",
    "student",
    "submitted_assignment",
    "submitted_notebook",
    "task_cells",
]


def made(new_course) -> Course:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    release_stock(course)
    hand_in_shapes(course)
    hand_in_stock(course)
    return penalise(course)


@pytest.fixture(scope="module")
def by_nbgrader(new_course) -> Course:  # type: ignore[no-untyped-def]
    course = made(new_course)
    shapes = nbgrader(course, "autograde", NOTEBOOK)
    assert shapes.returncode == 0, shapes.stdout
    stock = nbgrader(course, "autograde", STOCK)
    assert "There was an error processing assignment 'ps1' for student 'cleo'" in stock.stdout
    return course


@pytest.fixture(scope="module")
def ours(new_course) -> tuple[Course, Graded, Graded]:  # type: ignore[no-untyped-def]
    course = made(new_course)
    return course, grade(course, NOTEBOOK, feedback=False), grade(course, STOCK, feedback=False)


@pytest.mark.parametrize("table", TABLES)
def test_the_gradebook_holds_the_same_rows(
    by_nbgrader: Course, ours: tuple[Course, Graded, Graded], table: str
) -> None:
    assert gradebook_rows(ours[0])[table] == gradebook_rows(by_nbgrader)[table]


@pytest.mark.parametrize("folder", ["autograded", "quarantine", "submitted"])
def test_the_folders_hold_the_same_files(by_nbgrader: Course, ours: tuple[Course, Graded, Graded], folder: str) -> None:
    mine, theirs = (files_in(course.root / "class" / folder) for course in (ours[0], by_nbgrader))
    assert list(mine) == list(theirs)
    for name in mine:
        assert mine[name] == theirs[name], name


def test_only_what_nbgrader_cannot_grade_has_failed(ours: tuple[Course, Graded, Graded]) -> None:
    _, shapes, stock = ours
    assert set(shapes.failed) == {"gus", "linked"}, "what waits for a person is named"
    assert list(stock.failed) == ["cleo"]
    assert "JSON" in stock.failed["cleo"]
