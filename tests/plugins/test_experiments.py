"""What nothing graded needs is not worked out while nbgrader grades, and no score says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.exercises import NOTEBOOKS
from autograder.folder import Course
from autograder.grading.run import grade
from autograder.plugins.experiments import experiments, is_untouched
from autograder.settings import ROOT
from tests.support.submissions import NOTEBOOK, Attempt, Graded, answer_cell, grade_class, hand_in, scores

ALL = (2.0, 2.0, 3.0)
SKETCH = "what each token becomes"
READS_A_SKETCH = "def to_columns(X, W):\n    S.shape  # of a cell above\n    return W.T, X.T"
READS_NOTHING_THERE_IS = "def to_columns(X, W):\n    nothing_of_this_name.shape\n    return W.T, X.T"


def sketch(notebook: NotebookNode) -> NotebookNode:
    return next(cell for cell in notebook.cells if cell.cell_type == "code" and SKETCH in cell.source)


def as_released(notebook: NotebookNode, _: Path) -> NotebookNode:
    return notebook


def saved_elsewhere(notebook: NotebookNode, _: Path) -> NotebookNode:
    sketch(notebook).source = sketch(notebook).source.replace("\n", "\r\n") + "\n"
    return notebook


def edited(notebook: NotebookNode, _: Path) -> NotebookNode:
    sketch(notebook).source += "\nprint('and more')"
    return notebook


def answering(answer: str) -> Callable[[NotebookNode, Path], NotebookNode]:
    def make(notebook: NotebookNode, _: Path) -> NotebookNode:
        answer_cell(notebook, "to_columns").source = answer
        return notebook

    return make


ATTEMPTS = {
    "as-released": Attempt(as_released, ALL),
    "saved-elsewhere": Attempt(saved_elsewhere, ALL),
    "edited": Attempt(edited, ALL),
    "reads-a-sketch": Attempt(answering(READS_A_SKETCH), ALL),
    "reads-nothing-there-is": Attempt(answering(READS_NOTHING_THERE_IS), (2.0, 2.0, 0.0)),
}
RUN = {"edited", "reads-a-sketch"}


@pytest.fixture(scope="module")
def graded(new_course: Callable[[], Course]) -> Graded:
    return grade_class(new_course(), ATTEMPTS)


@pytest.fixture(scope="module")
def by_class(new_course: Callable[[], Course], graded: Graded) -> Course:
    course = new_course()
    for student in ATTEMPTS:
        path = graded.course.folder("submitted", student, NOTEBOOK) / f"{NOTEBOOK}.ipynb"
        hand_in(course, student, nbformat.read(str(path), as_version=4))
    assert grade(course, NOTEBOOK, feedback=False).failed == {}
    return course


@pytest.mark.parametrize("student", ATTEMPTS)
def test_the_score_is_the_one_that_all_cells_together_give(graded: Graded, by_class: Course, student: str) -> None:
    assert scores(graded.course, student) == scores(by_class, student) == ATTEMPTS[student].earns


@pytest.mark.parametrize("student", ATTEMPTS)
def test_only_what_was_changed_or_is_needed_is_worked_out(graded: Graded, student: str) -> None:
    path = graded.course.folder("autograded", student, NOTEBOOK) / f"{NOTEBOOK}.ipynb"
    printed = bool(sketch(nbformat.read(str(path), as_version=4)).outputs)
    assert printed == (student in RUN)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_every_notebook_has_experiments_and_none_is_graded(notebook: str) -> None:
    cells = nbformat.read(str(ROOT / "release" / notebook / f"{notebook}.ipynb"), as_version=4).cells
    left_out = [cell for cell in cells if is_untouched(cell)]
    assert len(left_out) >= 5
    assert not any("nbgrader" in cell.metadata for cell in left_out)


def cells_of(*sources: str) -> list[NotebookNode]:
    """Code cells, of which the last is graded."""
    cells = [new_code_cell(source) for source in sources]
    cells[-1].metadata["nbgrader"] = {"grade": True}
    return cells


@pytest.mark.parametrize(
    "sources",
    [
        ("n = 3\nprint(n)", "def f():\n    return n"),
        ("m = 3\nprint(m)", "n = m + 1\nprint(n)", "f(n)"),
        ("table = {}", "table['n'] = 3\nprint(table)", "f(table)"),
        ("table = {}", "table.n[0] += 3\nprint(table)", "f(table)"),
        ("def g():\n    global n\n    n = 3\ng()", "f(n)"),
        ("n = 3\nprint(n)", "n = 4\nf()"),
        ("import numpy as np", "f()"),
        ("def g():\n    return 3", "f()"),
        ("%%no_python\nprint(3)", "f()"),
    ],
)
def test_what_a_graded_cell_may_need_is_no_experiment(sources: tuple[str, ...]) -> None:
    assert experiments(cells_of(*sources)) == []


def test_what_only_shows_something_is_one() -> None:
    cells = cells_of("import numpy as np", "n = np.ones(3)\nprint(f(n))", "def f(n):\n    return np.sum(n)")
    assert experiments(cells) == cells[1:2]
