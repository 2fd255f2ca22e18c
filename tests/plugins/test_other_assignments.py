"""An assignment that this course does not know, in its course folder: nbgrader's own rules, as if nothing were plugged in."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.folder import Course
from tests.support.stock import Grade, cell, grades, stock_course

NAME = "ps1"
WORTH = {"hidden": 2, "partial": 3, "noisy": 1, "skipped": 4, "pairwise_dots": 5, "essay": 6}


def source() -> NotebookNode:
    """What anybody may have written before cell ids existed: format 4.4, tags, a grade_id that this course has too."""
    double = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
    hidden = "assert double(1) == 2\n### BEGIN HIDDEN TESTS\nassert double(3) == 6\n### END HIDDEN TESTS"
    cells = [
        new_code_cell("import sys", metadata={"tags": ["hide-input"], "collapsed": True}),
        cell(new_code_cell(double), "double", solution=True),
        cell(new_code_cell(hidden), "hidden", WORTH["hidden"]),
        cell(new_code_cell("1.5"), "partial", WORTH["partial"]),
        cell(new_code_cell("print('warned', file=sys.stderr)"), "noisy", WORTH["noisy"]),
        cell(new_code_cell("assert double(2) == 4"), "skipped", WORTH["skipped"]),
        cell(new_code_cell("assert double(5) == 10"), "pairwise_dots", WORTH["pairwise_dots"]),
        cell(new_markdown_cell("Why?"), "essay", WORTH["essay"], solution=True, locked=False),
    ]
    del cells[0]["id"]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "mine"}})
    notebook.nbformat_minor = 4
    return notebook


def graded(course: Course) -> Course:
    """The same assignment, the same submission, whatever the course's settings are."""
    folder = course.root / "source" / NAME
    folder.mkdir(parents=True)
    (folder / "problem.ipynb").write_text(json.dumps(source()))
    (folder / "data.csv").write_text("1,2\n")
    course.generate_assignment(NAME)
    submission = nbformat.read(str(course.root / "release" / NAME / "problem.ipynb"), as_version=4)
    submission.cells[1].source = "from helper import twice as double"
    submission.cells[5].metadata["tags"] = ["skip-execution"]
    handed_in = course.folder("submitted", "ada", NAME)
    handed_in.mkdir(parents=True)
    nbformat.write(submission, str(handed_in / "problem.ipynb"))
    (handed_in / "helper.py").write_text("def twice(x):\n    return 2 * x if x < 5 else 0\n")
    course.autograde(NAME, "ada")
    course.generate_feedback(NAME, "ada")
    return course


@pytest.fixture(scope="module")
def ours(new_course) -> Course:
    return graded(new_course())


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return graded(stock_course(tmp_path_factory.mktemp("stock")))


def stored(course: Course) -> dict[str, Grade]:
    return grades(course.database, NAME, "problem", "ada")


def test_it_is_graded_by_nbgraders_rules(ours: Course, stock: Course) -> None:
    assert stored(ours) == stored(stock)
    assert {name: grade.score for name, grade in stored(ours).items()} == {
        "hidden": 2.0,
        "partial": 1.5,
        "noisy": 0.0,
        "skipped": 4.0,
        "pairwise_dots": 0.0,
        "essay": 0.0,
    }


def test_it_is_released_as_nbgrader_releases_it(ours: Course, stock: Course) -> None:
    path = Path("release", NAME, "problem.ipynb")
    released = [json.loads((course.root / path).read_text()) for course in (ours, stock)]
    for notebook in released:
        for one in notebook["cells"]:
            one.pop("id", None)  # nbformat draws them at random where there are none
    assert released[0] == released[1]
    assert released[0]["cells"][0]["metadata"]["tags"] == ["hide-input"]


def test_extra_files_of_students_and_of_the_source_stay_where_nbgrader_puts_them(ours: Course, stock: Course) -> None:
    names = [
        sorted(path.name for path in course.folder("autograded", "ada", NAME).iterdir() if path.name != "__pycache__")
        for course in (ours, stock)
    ]
    assert names[0] == names[1]
    assert {"helper.py", "data.csv", "problem.ipynb"} <= set(names[0])


def test_its_feedback_is_nbgraders(ours: Course, stock: Course) -> None:
    pages = [(course.folder("feedback", "ada", NAME) / "problem.html").read_text() for course in (ours, stock)]
    assert "BEGIN HIDDEN TESTS" in pages[1]
    assert pages[0].count("HIDDEN TESTS") == pages[1].count("HIDDEN TESTS")
