"""What is kept between runs, and when it counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from quick_class import NAME, QuickClass

from autograder.course import ROOT
from autograder.exercises import NOTEBOOKS
from autograder.grading import store
from autograder.grading.result import Marked, Result
from autograder.grading.run import grade
from autograder.grading.snapshot import File
from autograder.grading.store import code_digest, exercise_modules

MARKED = Marked("{}", {"test": None, "other": 1.5}, ("test",), {"answer": None}, {"test": {"outcome": "passed"}})
RESULT = Result({"one": MARKED}, {"made.txt": File(b"\xff", True)}, ("a warning",), "", False, 1.25)


def test_a_result_is_read_back_as_it_was_written() -> None:
    assert Result.from_json(RESULT.to_json()) == RESULT


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"notebooks": []}', RESULT.to_json().replace('"fault"', '"gold"')])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  json's own is one too
        Result.from_json(text)


def test_a_judge_that_failed_is_not_final() -> None:
    fault = Marked("{}", {"test": None}, ("test",), {}, {"test": {"outcome": "grader fault"}})
    assert RESULT.final
    assert not Result({"one": fault}).final


def test_a_damaged_result_is_made_again(quick_class: QuickClass) -> None:
    course = quick_class(ada="2")
    grade(course, NAME, jobs=1, feedback=False)
    (kept,) = (path for path in (course.root / "class" / "graded" / NAME).glob("*.json") if len(path.stem) == 64)
    kept.write_text(kept.read_text()[:100])
    assert list(grade(course, NAME, jobs=1, feedback=False).marked) == ["ada"]
    assert Result.from_json(kept.read_text()).final


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_exercises_of_a_notebook_are_in_the_module_of_its_name(notebook: str) -> None:
    (module,) = exercise_modules(notebook)
    assert f'"{notebook}"' in (ROOT / f"{module.replace('.', '/')}.py").read_text()


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course whose code may be changed."""
    for name in ("course/client.py", "autograder/judging/examine.py", "autograder/exercises/shapes.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(store, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "matters"),
    [
        ("autograder/exercises/shapes.py", True),
        ("autograder/judging/examine.py", True),
        ("course/client.py", True),
        ("course/new.py", True),
        ("autograder/exercises/heads.py", False),
        ("autograder/report.py", False),
    ],
)
def test_a_change_of_code_matters_to_the_notebooks_that_it_marks(copied: Path, changed: str, matters: bool) -> None:
    before = code_digest("00_shapes")
    (copied / changed).write_text("2")
    assert (code_digest("00_shapes") != before) == matters
