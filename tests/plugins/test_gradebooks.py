"""A run of nbgrader's with the plug-ins opens the gradebook once, still reads what is in it now, and writes a notebook's scores at once."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook
from nbgrader.preprocessors import SaveAutoGrades
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from autograder.plugins.gradebooks import AtOnce, kept, reusing


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
