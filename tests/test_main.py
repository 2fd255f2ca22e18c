"""What an instructor brings about is said in a sentence with what to do, and never as a traceback."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.__main__ import run
from autograder.authoring import release, trying
from autograder.engine.outer import WALLS_VARIABLE, best_walls
from autograder.folder import NbgraderFailed
from autograder.problems import Problem


def said(*words: str) -> str:
    """What a command that fails ends with."""
    with pytest.raises(SystemExit) as ended:
        run([*words])
    assert isinstance(ended.value.code, str)
    return ended.value.code


@pytest.fixture
def no_such_walls(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(WALLS_VARIABLE, "thick")
    best_walls.cache_clear()
    yield
    best_walls.cache_clear()


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
