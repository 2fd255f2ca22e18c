"""A mark hangs on nobody else: not on what the instructor's solution imports, nor on what those graded before have imported."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.folder import Course
from autograder.grading.run import grade
from tests.support.stock import PLUGGED, cell, grades, nbgrader, stock_course

NAME, NOTEBOOK = "ps1", "plots"
CAREFUL = "import matplotlib.pyplot as plt\nfigure = plt.figure()\nimport numpy as np\nmean = np.mean([1, 2])"
FORGETFUL = "figure = matplotlib.pyplot.figure()\nimport sys\nmean = sys.modules['numpy'].mean([1, 2])"
WORTH = {"drawn": 1.0, "counted": 2.0}


def made(root: Path, settings: str, **students: str) -> Course:
    """A course with one assignment, whose solution imports what the forgetful do not, and these students' answers."""
    course = stock_course(root, settings)
    solution = f"### BEGIN SOLUTION\n{CAREFUL}\n### END SOLUTION"
    cells = [
        cell(new_code_cell("import matplotlib"), "first", locked=True),
        cell(new_code_cell(solution), "answer", solution=True),
        cell(new_code_cell("assert figure is not None"), "drawn", WORTH["drawn"]),
        cell(new_code_cell("assert mean == 1.5"), "counted", WORTH["counted"]),
    ]
    source = root / "source" / NAME / f"{NOTEBOOK}.ipynb"
    source.parent.mkdir(parents=True)
    kernel = {"name": "python3", "display_name": "p", "language": "python"}
    notebook = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    notebook.nbformat_minor = 4
    nbformat.write(notebook, str(source))
    course.generate_assignment(NAME)
    for student, answer in students.items():
        handed_in = course.folder("submitted", student, NAME)
        handed_in.mkdir(parents=True)
        submission = nbformat.read(str(root / "release" / NAME / source.name), as_version=4)
        submission.cells[1].source = answer
        nbformat.write(submission, str(handed_in / source.name))
    return course


def scores(course: Course, student: str) -> list[float | None]:
    stored = grades(course.database, NAME, NOTEBOOK, student)
    return [stored[name].score for name in WORTH]


def test_stock_nbgrader_gives_nothing_for_what_was_not_imported(tmp_path: Path) -> None:
    course = made(tmp_path, "", ada=CAREFUL, bob=FORGETFUL)
    nbgrader(course.root, "autograde", NAME)
    assert [scores(course, student) for student in ("ada", "bob")] == [[1, 2], [0, 0]]


@pytest.mark.parametrize("order", [("ada", "bob"), ("bob", "ada")])
def test_nor_do_the_plugins_whoever_was_graded_first(tmp_path: Path, order: tuple[str, str]) -> None:
    first, second = order
    answers = {"ada": CAREFUL, "bob": FORGETFUL}
    course = made(tmp_path, PLUGGED, **{"1": answers[first], "2": answers[second]})
    log = nbgrader(course.root, "autograde", NAME)
    marks = {"ada": [1, 2], "bob": [0, 0]}
    assert [scores(course, student) for student in ("1", "2")] == [marks[first], marks[second]], log


def test_nor_does_the_class_command(tmp_path: Path) -> None:
    course = made(tmp_path, PLUGGED, ada=CAREFUL, bob=FORGETFUL)
    grade(course, NAME, feedback=False)
    assert [scores(course, student) for student in ("ada", "bob")] == [[1, 2], [0, 0]]
