"""`mine` brings a student's own functions from an earlier notebook, and never stops the notebook that asks."""

from __future__ import annotations

from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from course import mine

SOURCE = Path(__file__).parents[2] / "source"
NOTEBOOK = "03_causal_mask"
NAMES = ["causal_keep", "mask_scores", "zero_renorm", "masked_softmax", "influence"]


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    (tmp_path / "07_caught_cheating").mkdir()
    monkeypatch.chdir(tmp_path / "07_caught_cheating")


def put(text: str, folder: Path = Path("..") / NOTEBOOK) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{NOTEBOOK}.ipynb").write_text(text)


def solved() -> str:
    return (SOURCE / NOTEBOOK / f"{NOTEBOOK}.ipynb").read_text()


def test_what_passes_its_check_is_found_in_the_folder_beside(capsys: pytest.CaptureFixture[str]) -> None:
    put(solved())
    found = mine(NOTEBOOK)
    assert list(found) == NAMES
    assert found["causal_keep"](2).tolist() == [[True, False], [True, True]]
    assert capsys.readouterr().out == f"From your {NOTEBOOK}: {', '.join(NAMES)}.\n"


def test_a_notebook_in_the_same_folder_is_found_too() -> None:
    put(solved(), Path())
    assert list(mine(NOTEBOOK)) == NAMES


def test_what_is_wrong_unwritten_or_broken_is_left_out_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    put(
        solved()
        .replace("return np.tril(np.ones((n, n), dtype=bool))", "return np.triu(np.ones((n, n), dtype=bool))")
        .replace("return np.where(keep, S, -np.inf)", "raise NotImplementedError()")
        .replace("Z = np.where(keep, P, 0)", "Z = np.where(keep P 0)")
    )
    assert set(mine(NOTEBOOK)).isdisjoint({"causal_keep", "mask_scores", "zero_renorm"})
    assert "(Not written, or not right yet: causal_keep, mask_scores, zero_renorm" in capsys.readouterr().out


def test_cells_that_define_nothing_graded_are_not_run() -> None:
    mark = "from pathlib import Path\nPath('ran').touch()"
    put(nbformat.writes(new_notebook(cells=[new_code_cell(mark)])))
    assert mine(NOTEBOOK) == {}
    assert not Path("ran").exists()


def test_where_there_is_none_the_notebook_says_so_and_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert mine(NOTEBOOK) == {}
    assert capsys.readouterr().out == (
        f"There is no {NOTEBOOK}.ipynb here; the functions that this notebook brings along are used.\n"
    )


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 1}', '{"cells": [1]}', '{"cells": [{}]}'])
def test_a_file_that_is_no_notebook_has_nothing_in_it(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    put(text)
    assert mine(NOTEBOOK) == {}
    assert capsys.readouterr().out.startswith(f"From your {NOTEBOOK}: nothing yet. (Not written")


@pytest.mark.parametrize("execution", ["autograde", "validate"])
def test_a_grade_never_depends_on_another_notebook(
    execution: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(solved())
    monkeypatch.setenv("NBGRADER_EXECUTION", execution)
    assert mine(NOTEBOOK) == {}
    assert capsys.readouterr().out == ""


def test_what_is_found_works_on_its_own() -> None:
    put(solved())
    X = np.random.default_rng(0).standard_normal((3, 2))
    np.testing.assert_array_equal(mine(NOTEBOOK)["influence"](lambda X: np.cumsum(X, axis=0), X), np.tri(3, dtype=bool))
