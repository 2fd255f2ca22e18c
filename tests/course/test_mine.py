"""`mine` brings a student's own function from an earlier notebook, and never stops the notebook that asks."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from course import mine

SOURCE = Path(__file__).parents[2] / "source"
NOTEBOOK = "03_causal_mask"
RIGHT = "return np.tril(np.ones((n, n), dtype=bool))"


def causal_keep(n: int) -> np.ndarray:
    """What the later notebook brings along."""
    return np.tril(np.ones((n, n), dtype=bool))


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    (tmp_path / "07_caught_cheating").mkdir()
    monkeypatch.chdir(tmp_path / "07_caught_cheating")


def put(text: str, folder: Path = Path("..") / NOTEBOOK) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{NOTEBOOK}.ipynb").write_text(text)


def solved(body: str = RIGHT) -> str:
    text = (SOURCE / NOTEBOOK / f"{NOTEBOOK}.ipynb").read_text()
    assert RIGHT in text
    return text.replace(RIGHT, json.dumps(body)[1:-1])


@pytest.mark.parametrize("folder", [Path("..") / NOTEBOOK, Path()])
def test_ones_own_function_is_found_beside_and_in_the_same_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(solved(), folder)
    own = mine(causal_keep)
    assert own is not causal_keep
    assert own(2).tolist() == [[True, False], [True, True]]
    assert capsys.readouterr().out == f"causal_keep: your own, from {NOTEBOOK}.\n"


def test_it_is_found_in_a_notebook_whose_cells_have_lost_their_ids(capsys: pytest.CaptureFixture[str]) -> None:
    def influence() -> None: ...

    tree = json.loads(solved())
    for each in tree["cells"]:
        del each["id"]
    put(json.dumps({**tree, "nbformat_minor": 0}))
    assert mine(influence) is not influence
    assert capsys.readouterr().out == f"influence: your own, from {NOTEBOOK}.\n"


def test_it_may_build_on_what_its_own_notebook_brought_along(capsys: pytest.CaptureFixture[str]) -> None:
    def influence() -> None: ...

    put(solved())
    np.testing.assert_array_equal(mine(influence)(lambda X: np.cumsum(X, axis=0), np.eye(3, 2)), np.tri(3, dtype=bool))
    assert capsys.readouterr().out == f"influence: your own, from {NOTEBOOK}.\n"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("return np.triu(np.ones((n, n), dtype=bool))", "yours does not pass its check"),
        ("raise NotImplementedError()", "yours is not written yet"),
        ("return helper_of_another_cell(n)", "yours uses a name that no answer cell"),
        ("raise ValueError('what I called raises NameError')", "yours does not pass its check"),
        ("return np.tril(np.ones((n n)))", "none could be read in the answer cells"),
        ("return 1\n\nimport sys\nsys.exit()", "yours does not pass its check"),
    ],
)
def test_what_is_wrong_unwritten_or_broken_is_not_taken(
    body: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    put(solved(body))
    assert mine(causal_keep) is causal_keep
    assert f"causal_keep: the one brought along; {why}" in capsys.readouterr().out


def test_cells_that_answer_nothing_are_not_run_and_nothing_is_printed_by_those_that_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    mark = "from pathlib import Path\nPath('ran').touch()"
    loud = new_code_cell("print('here I am')", id="setup")
    put(nbformat.writes(new_notebook(cells=[loud, new_code_cell(mark)])))
    assert mine(causal_keep) is causal_keep
    assert not Path("ran").exists()
    assert "here I am" not in capsys.readouterr().out


def test_where_there_is_no_such_notebook_it_says_so_and_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert mine(causal_keep) is causal_keep
    assert capsys.readouterr().out == (f"causal_keep: the one brought along; there is no {NOTEBOOK}.ipynb here.\n")


def test_a_function_of_no_exercise_stays(capsys: pytest.CaptureFixture[str]) -> None:
    assert mine(put) is put
    assert capsys.readouterr().out == "put: there is no exercise of this name, so this one it is.\n"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 1}', '{"cells": [1]}', '{"cells": [{}]}'])
def test_a_file_that_is_no_notebook_has_nothing_in_it(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    put(text)
    assert mine(causal_keep) is causal_keep
    assert "none could be read" in capsys.readouterr().out


@pytest.mark.parametrize("execution", ["autograde", "validate"])
def test_a_grade_never_depends_on_another_notebook(
    execution: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(solved())
    monkeypatch.setenv("NBGRADER_EXECUTION", execution)
    assert mine(causal_keep) is causal_keep
    assert capsys.readouterr().out == ""
