"""What is kept between runs, and when it counts."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import this_course
from autograder.dependencies import with_imports
from autograder.exercises import NOTEBOOKS, exercises_in
from autograder.grading import store
from autograder.grading.result import MarkedNotebook, MarkedSubmission
from autograder.grading.run import grade
from autograder.grading.snapshot import File
from autograder.grading.store import code_digest
from autograder.judging import Finding, Verdict
from autograder.settings import ROOT
from autograder.this_course import JUDGE
from tests.support.quick_class import NAME, QuickClass

PASSED = Verdict("test", "passed", (Finding("every size", 1.5, 1.5),), note="A note.")
MARKED = MarkedNotebook("{}", {"test": None, "other": 1.5}, ("test",), {"answer": None}, {"test": PASSED})
RESULT = MarkedSubmission({"one": MARKED}, {"made.txt": File(b"\xff", True)}, ("a warning",), "", False, 1.25)


def test_a_result_is_read_back_as_it_was_written() -> None:
    assert MarkedSubmission.from_json(RESULT.to_json()) == RESULT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"notebooks": []}',
        RESULT.to_json().replace('"fault"', '"gold"'),
        RESULT.to_json().replace('"passed"', '"gold"'),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  json's own is one too
        MarkedSubmission.from_json(text)


def test_a_judge_that_failed_is_not_final() -> None:
    fault = MarkedNotebook("{}", {"test": None}, ("test",), {}, {"test": Verdict("test", "grader fault")})
    assert RESULT.final
    assert not MarkedSubmission({"one": fault}).final


def test_a_damaged_result_is_made_again(quick_class: QuickClass) -> None:
    course = quick_class(ada="2")
    grade(course, NAME, jobs=1, feedback=False)
    (kept,) = (path for path in (course.root / "class" / "graded" / NAME).glob("*.json") if len(path.stem) == 64)
    kept.write_text(kept.read_text()[:100])
    assert list(grade(course, NAME, jobs=1, feedback=False).marked) == ["ada"]
    assert MarkedSubmission.from_json(kept.read_text()).final


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_each_exercise_of_a_notebook_is_in_the_module_of_its_name(notebook: str) -> None:
    modules = JUDGE.modules(notebook)[1:]
    for exercise, module in zip(exercises_in(notebook), modules, strict=True):
        assert f"\ndef {exercise.name}(" in (ROOT / f"{module.replace('.', '/')}.py").read_text()


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course whose code may be changed."""
    for room in ("course", "autograder"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__", "*.json"))
    monkeypatch.setattr(store, "PACKAGE", tmp_path / "autograder")
    monkeypatch.setattr(this_course, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("notebook", "changed", "matters"),
    [
        ("00_shapes", "autograder/exercises/shapes/mix_rows.py", True),
        ("00_shapes", "autograder/exercises/shapes/__init__.py", True),
        ("00_shapes", "autograder/exercises/model.py", True),
        ("00_shapes", "autograder/exercises/inputs.py", True),
        ("00_shapes", "autograder/exercises/__init__.py", True),
        ("00_shapes", "autograder/judging/interview.py", True),
        ("00_shapes", "autograder/grading/marking.py", True),
        ("00_shapes", "autograder/grading/executor.py", True),
        ("00_shapes", "autograder/grading/submission.py", True),
        ("00_shapes", "course/client.py", True),
        ("00_shapes", "course/new.py", True),
        ("00_shapes", "autograder/exercises/block/block.py", False),
        ("00_shapes", "autograder/exercises/heads/parts.py", False),
        ("00_shapes", "autograder/grading/report/page.py", False),
        ("00_shapes", "autograder/authoring/mutants.py", False),
        ("00_shapes", "autograder/grading/run.py", False),
        ("05_block", "autograder/exercises/block/block.py", True),
        ("05_block", "autograder/exercises/block/parts.py", True),
        ("10_capstone", "autograder/exercises/capstone/parallel_block.py", True),
        ("10_capstone", "autograder/exercises/parts.py", True),
        ("10_capstone", "autograder/exercises/block/layer_norm.py", False),
        ("10_capstone", "autograder/exercises/inputs.py", True),
        ("10_capstone", "autograder/exercises/heads/mha.py", False),
        ("10_capstone", "autograder/grading/report/page.py", False),
        ("77_elsewhere", "autograder/plugins/reading.py", True),
        ("77_elsewhere", "autograder/exercises/block/block.py", False),
    ],
)
def test_a_change_of_code_matters_to_the_notebooks_that_it_marks(
    copied: Path, notebook: str, changed: str, matters: bool
) -> None:
    before = code_digest(JUDGE, notebook)
    with (copied / changed).open("a") as file:
        file.write("\n# changed\n")
    assert (code_digest(JUDGE, notebook) != before) == matters


def test_a_message_in_other_words_marks_nobody_again(copied: Path) -> None:
    before = code_digest(JUDGE, "00_shapes")
    path = copied / "autograder/exercises/shapes/mix_rows.py"
    code = path.read_text()
    reworded = code.replace('"""you took the weights of output i', '"""the weights of output i were taken')
    assert reworded != code
    path.write_text(reworded)
    assert code_digest(JUDGE, "00_shapes") == before
    path.write_text(reworded.replace("return A.T @ V", "return V.T @ A"))
    assert code_digest(JUDGE, "00_shapes") != before


def test_every_module_of_this_repository_that_an_exercise_has_loaded_is_in_its_digest() -> None:
    """What Python itself loads is the measure: a form of import that is not followed would show here."""
    code = (
        "import sys; from autograder.exercises import exercises_in; exercises_in('10_capstone');"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.split('.')[0] in ('course', 'autograder')))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {Path(name) for name in run.stdout.split()}
    assert ROOT / "autograder" / "exercises" / "parts.py" in loaded
    assert loaded <= with_imports(ROOT, ["autograder/exercises/capstone"])


@pytest.mark.parametrize(
    ("line", "also"),
    [
        ("import room.other", ["room/__init__.py", "room/other.py"]),
        ("import room.other as o, json", ["room/__init__.py", "room/other.py"]),
        ("from room import other", ["room/__init__.py", "room/other.py"]),
        ("from room.other import name", ["room/__init__.py", "room/other.py"]),
        ("from . import other", ["room/__init__.py", "room/other.py"]),
        ("from .other import name", ["room/__init__.py", "room/other.py"]),
        ("from .inner.deep import name", ["room/__init__.py", "room/inner/__init__.py", "room/inner/deep.py", "room/other.py"]),
        ("def f():\n    if 1:\n        import room", ["room/__init__.py"]),
        ("from room import (\n    other,  # why, and (how)\n    alone as a,\n)", ["room/__init__.py", "room/other.py", "room/alone.py"]),
        ("from room import \\\n    other", ["room/__init__.py", "room/other.py"]),
        ("a = 1; import room.alone", ["room/__init__.py", "room/alone.py"]),
        ("if 1: from .alone import name", ["room/__init__.py", "room/alone.py"]),
        ("import numpy, elsewhere", []),
        ("'import room.other'", []),
        ("this is no Python", []),
    ],
)  # fmt: skip
def test_imports_are_followed_in_every_form(tmp_path: Path, line: str, also: list[str]) -> None:
    files = {
        "room/__init__.py": "",
        "room/other.py": "import room.start",
        "room/inner/__init__.py": "",
        "room/inner/deep.py": "from ..other import name",
        "room/alone.py": "",
        "room/start.py": line,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = {path.relative_to(tmp_path).as_posix() for path in with_imports(tmp_path, ["room/start.py", "gone.py"])}
    assert found == {"room/start.py", *also}
