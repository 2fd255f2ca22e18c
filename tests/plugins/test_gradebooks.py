"""A run of nbgrader's with the plug-ins opens the gradebook once, and still reads what is in it now."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.plugins.gradebooks import kept, reusing


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
