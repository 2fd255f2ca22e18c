"""What an instructor brings about is said in a sentence with what to do, and never as a traceback."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from typer.testing import CliRunner

from autograder.__main__ import app
from autograder.authoring import release, trying
from autograder.commands.app import say
from autograder.engine.outer import WALLS_VARIABLE
from autograder.exercises import notebook_called
from autograder.folder import NbgraderFailed
from autograder.plugins.structure import USUAL, Structure
from autograder.problems import Problem, nearest
from autograder.settings import ROOT, assignment_meant
from tests.conftest import NewCourse
from tests.support.submissions import NOTEBOOK


def said(*words: str) -> str:
    """What a command that fails ends with."""
    done = CliRunner().invoke(app, words)
    assert done.exit_code
    return done.output.strip()


def test_doctor_names_the_walls_that_there_are(no_such_walls: None) -> None:
    assert said("doctor") == f"{WALLS_VARIABLE} is 'thick'; it can be both, outer, none. Change it, or unset it."


def test_a_shell_can_complete_the_command() -> None:
    asked = {"_AUTOGRADER_COMPLETE": "complete_bash", "COMP_WORDS": "autograder gra", "COMP_CWORD": "1"}
    command = Path(sys.executable).with_name("autograder")
    ended = subprocess.run([command], env={"PATH": "/usr/bin:/bin", **asked}, capture_output=True, text=True)
    assert ended.stdout.split() == ["grade"]


def test_outputs_of_a_cell_that_raises_are_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "source" / "00_shapes" / "00_shapes.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(new_notebook(cells=[new_code_cell("1 / 0")]), str(path))
    before = path.read_bytes()
    monkeypatch.setattr("autograder.settings.ROOT", tmp_path)
    told = said("outputs", "00_shapes")
    assert "its outputs were not stored; mend it in source/" in told
    assert "ZeroDivisionError" in told
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (NbgraderFailed("Duplicate grade id"), "nbgrader could not make the release; mend source/ where it says so:"),
        (Problem("The gradebook is locked."), "The gradebook is locked."),
    ],
)
@pytest.mark.parametrize("words", [("release",), ("release", "--check"), ("try", "00_shapes")], ids=" ".join)
def test_a_release_that_cannot_be_made(
    words: tuple[str, ...], error: Exception, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise error

    for module, name in ((release, "make_release"), (release, "newly_stale"), (trying, "make_release")):
        monkeypatch.setattr(module, name, fails)
    for module in (release, trying):
        monkeypatch.setattr(module, "state", lambda *_: [])
        monkeypatch.setattr(module, "contradictions", lambda: [])
    assert said(*words).startswith(sentence)


@pytest.mark.parametrize("word", ["00_shapes", "00", "0"])
def test_an_assignment_goes_by_its_name_and_its_number(word: str, new_course: NewCourse) -> None:
    assert new_course().meant(word) == notebook_called(word) == "00_shapes"


@pytest.mark.parametrize(("word", "meant"), [("03", "03_a"), ("3", "3_b"), ("003", "003"), ("4", "4"), ("²", "²")])
def test_a_number_that_two_assignments_have_is_the_one_that_is_written_so(
    word: str, meant: str, tmp_path: Path
) -> None:
    for name in ("03_a", "3_b"):
        (tmp_path / "source" / name).mkdir(parents=True)
    assert assignment_meant(Structure(str(tmp_path), USUAL, {"source": "source"}), word) == meant


def test_only_a_word_that_is_like_another_is_taken_for_it() -> None:
    assert nearest("nobody", ["nora", "bob"]) == ""
    assert nearest("norah", ["nora", "bob"]) == " Did you mean nora?"


NOBODY, NOTHING = "nobody", "no_such_thing"
WRONG: dict[str, tuple[tuple[str, ...], ...]] = {
    "grade": ((NOTHING,), (NOTEBOOK, "--student", NOBODY)),
    "due": ((NOTHING, "2026-07-01 12:30 +0200"), (NOTEBOOK, "tomorrow")),
    "extend": ((NOTHING, NOBODY, "--days", "2"), (NOTEBOOK, NOBODY, "--days", "2")),
    "report": ((NOTHING,),),
    "likeness": ((NOTHING,),),
    "requests": ((NOTHING,),),
    "decide": ((NOBODY, NOTHING, "no", "because"), (NOBODY, NOTHING, "perhaps", "because")),
    "export": ((NOTHING,),),
    "collect": ((NOTHING, "no_such.zip"), (NOTEBOOK, "no_such.zip"), (NOTEBOOK, "no_such.zip", "--student", NOBODY)),
    "roster": (("no_such.csv",),),
    "explain": ((NOBODY, NOTHING), (NOBODY, "pairwise_dots")),
    "harvest": ((NOTHING,),),
    "doctor": (("--require", NOTHING),),
    "new": ((NOTHING, "row_sums"), (NOTEBOOK, "pairwise_dots")),
    "site": (("--upto", NOTHING),),
    "sample": ((NOTHING, "--students", "2"), (NOTEBOOK,)),
    **dict.fromkeys(("outputs", "release", "kit", "solutions", "mutants", "replay", "try"), ((NOTHING,),)),
}
"""Of every command, words that it cannot use."""
WHATEVER = {"notebooks"}
"""Commands that can use any word."""
OF_A_CLASS = (
    "grade",
    "due",
    "extend",
    "requests",
    "decide",
    "report",
    "likeness",
    "export",
    "collect",
    "roster",
    "explain",
    "harvest",
)


def test_what_a_command_prints_moves_no_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    say("one \x1b]0;title\x07\x1b[2J\ntwo \u202e")
    assert capsys.readouterr().out == "one \\x1b]0;title\\x07\\x1b[2J\ntwo \\u202e\n"
    for path in (ROOT / "autograder" / "commands").glob("*.py"):
        printed = [line for line in path.read_text().splitlines() if re.search(r"typer\.echo|\bprint\(", line)]
        assert all("lines(" in line or "json.dumps" in line for line in printed), path


def test_every_command_is_tried_with_words_that_it_cannot_use() -> None:
    names = {one.name or one.callback.__name__ for one in app.registered_commands if one.callback}
    assert names == WRONG.keys() | WHATEVER


@pytest.mark.parametrize(("command", "words"), [(name, words) for name, each in WRONG.items() for words in each])
def test_what_a_command_cannot_use_ends_it_with_2(new_course: NewCourse, command: str, words: tuple[str, ...]) -> None:
    course = ["--course", str(new_course().root)] if command in OF_A_CLASS else []
    done = CliRunner().invoke(app, [command, *words, *course])
    assert done.exit_code == 2, done.output
    assert done.output


def test_commands_are_at_hand_before_numpy_and_the_exercises_are() -> None:
    code = "import sys, autograder.__main__\nprint({'course', 'nbgrader', 'numpy', 'torch'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
