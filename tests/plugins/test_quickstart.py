"""The course that `nbgrader quickstart` makes, graded with the plug-ins and without: the same grades, the same release."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from autograder.settings import CONFIG
from tests.support.stock import DOCUMENTATION, PLUGGED, Grade, grades, nbgrader

pytestmark = pytest.mark.thorough  # nbgrader's own example, graded twice

NAME = "ps1"
NOTEBOOKS = ("problem1", "problem2")
HANDED_IN = ("bitdiddle", "hacker")  # by the students of nbgrader's own user guide
BLANK = "reasoner"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quickstart")
    nbgrader(folder, "quickstart", "course")
    return folder / "course"


@pytest.fixture(scope="module")
def stock(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return graded(made, tmp_path_factory.mktemp("stock") / "course", "")


@pytest.fixture(scope="module")
def ours(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return graded(made, tmp_path_factory.mktemp("ours") / "course", PLUGGED)


def graded(made: Path, course: Path, settings: str) -> Path:
    shutil.copytree(made, course)
    with (course / CONFIG).open("a") as config:
        config.write(settings)
    nbgrader(course, "generate_assignment", NAME)
    for student in HANDED_IN:
        shutil.copytree(str(DOCUMENTATION / "user_guide" / "submitted" / student), course / "submitted" / student)
    shutil.copytree(course / "release" / NAME, course / "submitted" / BLANK / NAME)
    (course / "autograde.log").write_text(nbgrader(course, "autograde", NAME))
    return course


def stored(course: Path, student: str) -> dict[str, dict[str, Grade]]:
    return {name: grades(f"sqlite:///{course / 'gradebook.db'}", NAME, name, student) for name in NOTEBOOKS}


def points(course: Path, student: str) -> float:
    return sum(grade.score or 0.0 for cells in stored(course, student).values() for grade in cells.values())


def released(course: Path, notebook: str) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads((course / "release" / NAME / f"{notebook}.ipynb").read_text())
    for cell in tree["cells"]:
        cell.pop("id", None)  # the notebooks have none, and nbformat draws them at random
    return tree


def test_one_of_the_two_has_the_plugins(stock: Path, ours: Path) -> None:
    assert "Looking for what does not belong" in (ours / "autograde.log").read_text()
    assert "Looking for what does not belong" not in (stock / "autograde.log").read_text()


@pytest.mark.parametrize("student", [*HANDED_IN, BLANK])
def test_the_grades_are_those_of_stock(stock: Path, ours: Path, student: str) -> None:
    assert stored(ours, student) == stored(stock, student)


def test_some_earn_points_and_some_wait_for_a_person(stock: Path) -> None:
    assert {student: points(stock, student) for student in (*HANDED_IN, BLANK)} == {
        "bitdiddle": 1.5,
        "hacker": 3.0,
        "reasoner": 0.0,
    }
    assert any(grade.by_hand for cells in stored(stock, "hacker").values() for grade in cells.values())


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_release_is_that_of_stock(stock: Path, ours: Path, notebook: str) -> None:
    assert released(ours, notebook) == released(stock, notebook)
