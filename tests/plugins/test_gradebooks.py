"""A run of nbgrader's with the plug-ins opens the gradebook once, still reads what is in it now, and writes a notebook's scores at once."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import NbGraderPreprocessor, OverwriteCells, SaveAutoGrades
from nbgrader.utils import compute_checksum
from sqlalchemy import Engine, event
from sqlalchemy.exc import OperationalError

from autograder.plugins.gradebooks import AtOnce, Cells, kept, reusing


def students(url: str) -> list[str]:
    with Gradebook(url) as gradebook:
        return [student.id for student in gradebook.students]


read = reusing(students)


@pytest.fixture
def url(tmp_path: Path) -> str:
    found = f"sqlite:///{tmp_path / 'gradebook.db'}"
    with Gradebook(found) as gradebook:
        gradebook.add_student("ada")
    return found


def test_a_gradebook_is_opened_once_while_it_is_kept(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    open_ = Gradebook.__init__

    def noting(self: Gradebook, db_url: str, *arguments: object) -> None:
        opened.append(db_url)
        open_(self, db_url, *arguments)

    monkeypatch.setattr(Gradebook, "__init__", noting)
    with kept():
        assert [read(url) for _ in range(3)] == [["ada"]] * 3
        assert opened == [url]
    assert [read(url), students(url)] == [["ada"]] * 2
    assert opened == [url] * 3


def test_what_others_write_meanwhile_is_read(url: str) -> None:
    with kept():
        assert read(url) == ["ada"]
        with Gradebook(url) as other:
            other.add_student("ben")
        assert read(url) == ["ada", "ben"]


def test_a_file_that_is_put_in_its_place_is_read(url: str, tmp_path: Path) -> None:
    path = tmp_path / "gradebook.db"
    backup = shutil.copy(path, tmp_path / "backup.db")
    with Gradebook(f"sqlite:///{backup}") as other:
        other.add_student("cy")
    with kept():
        assert read(url) == ["ada"]
        Path(backup).replace(path)
        assert read(url) == ["ada", "cy"]


def test_nothing_of_nbgraders_is_changed() -> None:
    assert students.__globals__["Gradebook"] is Gradebook


class Naming(SaveAutoGrades, AtOnce):
    """Writes a student for each cell, as its source names them, and commits each, as nbgrader does."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        if cell.source == "nobody":
            raise ValueError("nobody")
        if cell.source == "locked":
            raise OperationalError("INSERT", {}, Exception("database is locked"))
        self.gradebook.add_student(cell.source)
        return cell, resources


def save(url: str, *names: str) -> None:
    resources = {"nbgrader": {"notebook": "", "assignment": "", "student": "", "db_url": url}}
    Naming().preprocess(new_notebook(cells=[new_code_cell(name) for name in names]), resources)


def test_a_notebook_is_written_in_one_transaction(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[None] = []
    open_ = Gradebook.__init__

    def noting(self: Gradebook, *arguments: object) -> None:
        open_(self, *arguments)
        event.listen(self.engine, "commit", lambda connection: written.append(None))

    monkeypatch.setattr(Gradebook, "__init__", noting)
    save(url, "ben", "cy", "dee")
    assert len(written) == 1
    assert students(url) == ["ada", "ben", "cy", "dee"]


@pytest.mark.parametrize(
    ("last", "error", "stays"), [("nobody", ValueError, ["ada", "ben"]), ("locked", OperationalError, ["ada"])]
)
def test_what_was_written_before_a_cell_failed_stays_unless_the_gradebook_failed(
    last: str, error: type[Exception], stays: list[str], url: str
) -> None:
    with pytest.raises(error):
        save(url, "ben", last)
    assert students(url) == stays


# ------------------------------------------------------------------------------------------------- read at once


class Marks(SaveAutoGrades, AtOnce): ...


def graded_cells(count: int) -> NotebookNode:
    """So many answers and as many tests of them; then a question with the same name in both, and a task."""
    notebook = new_notebook()
    for number in range(count):
        notebook.cells += [
            about(f"answer{number}", solution=True),
            about(f"test{number}", "0.5", grade=True, points=1, locked=True),
        ]
    notebook.cells += [
        about("why", grade=True, solution=True, points=3),
        about("draw", task=True, points=2),
    ]
    return notebook


def about(name: str, source: str = "", **others: Any) -> NotebookNode:
    stated = {"grade_id": name, "schema_version": 3, "grade": False, "locked": False, "solution": False, "task": False}
    return new_code_cell(source, metadata={"nbgrader": {**stated, "cell_type": "code", **others}})


def released(url: str, notebook: NotebookNode) -> str:
    """Have the cells in the gradebook, and a submission of them."""
    place = "first", "homework"
    with Gradebook(url) as gradebook:
        gradebook.add_assignment("homework")
        for name in ("first", "second"):  # the same cells are in another notebook too
            gradebook.add_notebook(name, "homework")
            for cell in notebook.cells:
                stated = cell.metadata.nbgrader
                where = stated.grade_id, name, "homework"
                given = about(**{**stated, "name": stated.grade_id, "source": "1.0", "points": 4})
                said = {"source": given.source, "checksum": compute_checksum(given), "locked": stated.locked}
                gradebook.add_source_cell(*where, cell_type="code", **said)
                if stated.task:
                    gradebook.add_task_cell(*where, cell_type="code", max_score=stated.points)
                if stated.grade:
                    gradebook.add_grade_cell(*where, cell_type="code", max_score=4)
                if stated.solution:
                    gradebook.add_solution_cell(*where)
        gradebook.add_submission("homework", "ada")
        gradebook.find_grade("test0", *place, "ada").manual_score = 1.0
        gradebook.db.commit()
    return url


def processed(preprocessor: type[NbGraderPreprocessor], url: str, notebook: NotebookNode) -> int:
    """Have a preprocessor look at the notebook; how often it asked the database."""
    asked: list[str] = []

    def note(connection: object, cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    place = {"notebook": "first", "assignment": "homework", "student": "ada", "db_url": url}
    event.listen(Engine, "before_cursor_execute", note)
    try:
        preprocessor().preprocess(notebook, {"nbgrader": place})
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    return sum(statement.startswith("SELECT") for statement in asked)


def marks(url: str) -> dict[str, tuple[object, ...]]:
    """What is in the gradebook of the submission, by notebook and cell."""
    with Gradebook(url) as gradebook:
        found: dict[str, tuple[object, ...]] = {}
        for work in gradebook.find_submission("homework", "ada").notebooks:
            for grade in work.grades:
                found[f"{work.name} {grade.name}"] = grade.auto_score, grade.manual_score, grade.needs_manual_grade
            for comment in work.comments:
                found[f"{work.name} on {comment.name}"] = (comment.auto_comment,)
    return found


def test_the_marks_are_those_that_nbgrader_saves(tmp_path: Path) -> None:
    found = []
    for preprocessor in (SaveAutoGrades, Marks):
        url = f"sqlite:///{tmp_path / preprocessor.__name__}.db"
        with Gradebook(url) as gradebook:
            gradebook.add_student("ada")
        processed(preprocessor, released(url, graded_cells(2)), graded_cells(2))
        found.append(marks(url))
    assert found[0] == found[1]
    assert found[0]["first test0"] == (1.0, 1.0, True)
    assert found[0]["second test0"][:2] == (None, None)


def test_the_cells_are_those_that_nbgrader_puts_back(url: str) -> None:
    found = []
    released(url, graded_cells(2))
    for preprocessor in (OverwriteCells, Cells):
        notebook = graded_cells(2)
        notebook.cells.insert(0, about("nobody's", grade=True, points=1))
        processed(preprocessor, url, notebook)
        found.append([(cell.source, cell.metadata) for cell in notebook.cells if "nbgrader" in cell.metadata])
    assert found[0] == found[1]
    assert "grade_id" not in found[0][0][1].nbgrader
    assert (found[0][2][0], found[0][2][1].nbgrader.points) == ("1.0", 4.0)


@pytest.mark.parametrize("preprocessor", [Marks, Cells])
def test_a_long_notebook_is_asked_about_as_often_as_a_short_one(
    preprocessor: type[NbGraderPreprocessor], tmp_path: Path
) -> None:
    asked = []
    for count in (1, 20):
        url = f"sqlite:///{tmp_path / str(count)}.db"
        with Gradebook(url) as gradebook:
            gradebook.add_student("ada")
        asked.append(processed(preprocessor, released(url, graded_cells(count)), graded_cells(count)))
    assert asked[0] == asked[1]


def test_a_cell_that_was_not_released_is_missing(url: str) -> None:
    released(url, graded_cells(1))
    notebook = graded_cells(1)
    notebook.cells.append(about("later", grade=True, points=1))
    with pytest.raises(MissingEntry):
        processed(Marks, url, notebook)
