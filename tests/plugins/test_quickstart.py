"""The course that `nbgrader quickstart` makes, graded with the plug-ins and without: the same grades, the same release.

What it is without them is stored: it depends on nbgrader alone.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from autograder.settings import CONFIG
from tests.support.stock import DOCUMENTATION, PLUGGED, grades, nbgrader
from tests.support.stored import stored

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
def stock(made: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    def find() -> dict[str, Any]:
        return left(graded(made, tmp_path_factory.mktemp("stock") / "course", ""))

    found: dict[str, Any] = stored("quickstart", ("tests/plugins/test_quickstart.py", "tests/support/stock.py"), find)
    return found


@pytest.fixture(scope="module")
def ours(made: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return left(graded(made, tmp_path_factory.mktemp("ours") / "course", PLUGGED))


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


def left(course: Path) -> dict[str, Any]:
    """What a graded course holds: each student's grades, the release, and whether the plug-ins were there."""
    database = f"sqlite:///{course / 'gradebook.db'}"
    return {
        "plugged": "Looking for what does not belong" in (course / "autograde.log").read_text(),
        "grades": {
            student: {
                notebook: {cell: asdict(grade) for cell, grade in grades(database, NAME, notebook, student).items()}
                for notebook in NOTEBOOKS
            }
            for student in (*HANDED_IN, BLANK)
        },
        "release": {notebook: released(course, notebook) for notebook in NOTEBOOKS},
    }


def cells(found: dict[str, Any], student: str) -> list[dict[str, Any]]:
    return [grade for notebook in found["grades"][student].values() for grade in notebook.values()]


def released(course: Path, notebook: str) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads((course / "release" / NAME / f"{notebook}.ipynb").read_text())
    for cell in tree["cells"]:
        cell.pop("id", None)  # the notebooks have none, and nbformat draws them at random
    return tree


def test_one_of_the_two_has_the_plugins(stock: dict[str, Any], ours: dict[str, Any]) -> None:
    assert ours["plugged"]
    assert not stock["plugged"]


@pytest.mark.parametrize("student", [*HANDED_IN, BLANK])
def test_the_grades_are_those_of_stock(stock: dict[str, Any], ours: dict[str, Any], student: str) -> None:
    assert ours["grades"][student] == stock["grades"][student]


def test_some_earn_points_and_some_wait_for_a_person(stock: dict[str, Any]) -> None:
    earned = {who: sum(grade["score"] or 0.0 for grade in cells(stock, who)) for who in (*HANDED_IN, BLANK)}
    assert earned == {"bitdiddle": 1.5, "hacker": 3.0, "reasoner": 0.0}
    assert any(grade["by_hand"] for grade in cells(stock, "hacker"))


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_release_is_that_of_stock(stock: dict[str, Any], ours: dict[str, Any], notebook: str) -> None:
    assert ours["release"][notebook] == stock["release"][notebook]
