"""A student may work in VS Code, in Colab, on Windows, or with an old tool: checking, a newer kit and handing in work there too."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.settings import ROOT
from course import hand_in, mine
from course.cells import text
from course.kit import handing_in
from course.kit.copies import bring
from tests.support.front_ends import CELL_NAMES, FRONT_ENDS, OWN, REARRANGED, jupyterlab, worked_on
from tests.support.kernels import run_in_kernel
from tests.support.submissions import NOTEBOOK, RIGHT

RELEASED = (ROOT / "release" / NOTEBOOK / f"{NOTEBOOK}.ipynb").read_bytes()
SAVED = FRONT_ENDS | REARRANGED

every_file = pytest.mark.parametrize("front_end", SAVED)


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


# ---------------------------------------------------------------------------------------------------- check and progress

CELL = "def pairwise_dots(X, Y):\n    return X @ Y.T\n"
WITH_COMMANDS = f"%matplotlib inline\n{CELL}"
BROKEN = CELL.replace("Y.T", "Y.T)")
RAISES = CELL.replace("X @ Y.T", "X @ Y.Tr")
RENAMED = """\
from IPython import get_ipython
numbers = iter(range(1000))
def code_name(raw_code, transformed_code, number):
    return name(transformed_code, next(numbers))
get_ipython().compile.get_code_name = code_name
"""


def kernel(*sources: str, name: str, folder: Path) -> list[str]:
    """What each of these cells says, the last line of code run under names of this kind."""
    function = CELL_NAMES[name]
    begin = ["from course import check, hand_in, progress"]
    if function is not None:
        begin += [f"from tests.support.front_ends import {function.__name__} as name\n{RENAMED}"]
    cells = [new_code_cell(source) for source in (*begin, *sources)]
    notebook = new_notebook(cells=cells)
    run_in_kernel(notebook, timeout=60, allow_errors=True, resources={"metadata": {"path": str(folder)}})
    return ["".join(map(said, cell.outputs)) for cell in cells[len(begin) :]]


def said(output: Any) -> str:
    return str(output["text"] if output.output_type == "stream" else output.get("data", {}).get("text/plain", ""))


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("name", CELL_NAMES)
def test_check_and_progress_know_a_function_and_its_lines_however_its_cell_is_called(
    name: str, ends: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    sources = [CELL, BROKEN, WITH_COMMANDS, RAISES]
    cells = [part for source in sources for part in (source.replace("\n", ends), "check(pairwise_dots)")]
    _, right, _, older, _, again, _, raised, progressed = kernel(
        *cells, "progress('00_shapes')", name=name, folder=tmp_path
    )
    assert right.startswith("pairwise_dots: correct")
    assert older.startswith("You have run a newer pairwise_dots since")
    assert again.startswith("pairwise_dots: correct")
    assert "at line 2 of pairwise_dots, `return X @ Y.Tr`" in raised
    assert "00_shapes: 0 of 3 checks pass." in progressed


# ------------------------------------------------------------------------------------------------------------ a newer kit

LATER = "# A page on shapes, mended\n"


def mended() -> bytes:
    """The notebook as a later kit brings it: other words on top, and a cell that was not there."""
    notebook = json.loads(RELEASED)
    notebook["cells"][0]["source"] = [LATER]
    added = {"cell_type": "markdown", "id": "added", "metadata": {}, "source": ["Mind the shapes."]}
    return json.dumps({**notebook, "cells": [*notebook["cells"][:3], added, *notebook["cells"][3:]]}).encode()


def in_kit(folder: Path, content: bytes) -> Path:
    path = folder / "notebooks" / NOTEBOOK / f"{NOTEBOOK}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return folder / "notebooks"


@every_file
def test_a_newer_kit_is_merged_into_what_was_written(front_end: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    own = work / NOTEBOOK / f"{NOTEBOOK}.ipynb"
    list(bring(in_kit(tmp_path, RELEASED), work))
    own.write_bytes(SAVED[front_end](worked_on(RELEASED, RIGHT)))
    (told,) = bring(in_kit(tmp_path, mended()), work)
    assert told.startswith(f"{NOTEBOOK}: brought up to date, with what you wrote. As it was before:")
    made = json.loads(own.read_bytes())
    nbformat.validate(nbformat.from_dict(made))
    new = json.loads(mended())
    assert [cell for cell in ids(made) if cell in ids(new)] == ids(new)
    assert [text(cell) for cell in made["cells"]].count(LATER.strip()) == 1
    whole = "\n".join(text(cell) for cell in made["cells"])
    for answer in (*RIGHT.values(), OWN.rstrip(), "guess = 3"):
        assert whole.count(answer) == 1, answer
    assert "guess = None" not in whole
    graded = [cell["metadata"]["nbgrader"]["grade_id"] for cell in made["cells"] if "nbgrader" in cell["metadata"]]
    assert graded == [part for name in RIGHT for part in (f"{name}_solution", name)]
    assert whole.index("guess = 3") < whole.index(OWN.rstrip()) < whole.index("figures.which_products_run(guess)")


def ids(notebook: dict[str, Any]) -> list[str]:
    return [cell["id"] for cell in notebook["cells"]]


# ---------------------------------------------------------------------------------------------- one's own, and handing in


def saved(folder: Path, content: bytes) -> Path:
    path = folder / NOTEBOOK / f"{NOTEBOOK}.ipynb"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


@every_file
def test_ones_own_function_is_found_in_it(
    front_end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def mix_rows() -> None: ...

    saved(tmp_path, SAVED[front_end](worked_on(RELEASED, RIGHT)))
    monkeypatch.chdir(tmp_path / NOTEBOOK)
    mine(mix_rows)
    assert capsys.readouterr().out == f"mix_rows: your own, from {NOTEBOOK}.\n"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: Callable[..., dict[str, Any]]) -> Path:
    """A folder in which all of 00_shapes was answered, and run cell by cell."""
    monkeypatch.setattr(handing_in, "PATIENCE", 0.0)
    monkeypatch.setattr(handing_in, "_has_exchange", lambda work: False)
    (tmp_path / NOTEBOOK).mkdir()
    monkeypatch.chdir(tmp_path / NOTEBOOK)
    for name, source in RIGHT.items():
        monkeypatch.setattr(sys.modules["__main__"], name, cell(source)[name], raising=False)
    return tmp_path


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_it_is_handed_in_as_it_was_saved(front_end: str, desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved(desk, FRONT_ENDS[front_end](worked_on(RELEASED, RIGHT)))
    hand_in(NOTEBOOK)
    assert f"{NOTEBOOK}: 3 of 3 checks pass." in capsys.readouterr().out
    (kept,) = (desk / "hand_in").iterdir()
    assert kept.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("front_end", REARRANGED)
def test_split_and_merged_cells_are_handed_in_once_they_were_run(
    front_end: str,
    desk: Path,
    cell: Callable[..., dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = saved(desk, REARRANGED[front_end](worked_on(RELEASED, RIGHT)))
    hand_in(NOTEBOOK)
    if "merged" in front_end:
        assert "split or merged cells since you ran them, run those first" in capsys.readouterr().out
        assert not (desk / "hand_in").exists()
    for source in (text(one) for one in json.loads(path.read_bytes())["cells"] if one["cell_type"] == "code"):
        if "def " in source:
            defined = cell(source, check=lambda function: None)
            for name in RIGHT.keys() & defined.keys():
                monkeypatch.setattr(sys.modules["__main__"], name, defined[name], raising=False)
    hand_in(NOTEBOOK)
    assert f"{NOTEBOOK}: 3 of 3 checks pass." in capsys.readouterr().out
    kept, *_ = (desk / "hand_in").iterdir()
    assert kept.read_bytes() == path.read_bytes()


def test_an_answer_with_commands_of_jupyter_in_its_cell_is_handed_in(tmp_path: Path) -> None:
    path = saved(tmp_path, json.dumps({"cells": [new_code_cell(WITH_COMMANDS)]}).encode())
    *_, told = kernel(WITH_COMMANDS, f"hand_in('{NOTEBOOK}')", name="ipykernel", folder=path.parent)
    assert "The file to hand in is" in told


@pytest.mark.parametrize(
    ("saved_as", "told"),
    [
        ("# hand_in('{}')", "If this is another notebook, a copy of it, open"),
        ("hand_in('{}')", "The file to hand in is your notebook"),
    ],
)
def test_where_nothing_was_run_the_cell_that_hands_in_has_to_be_in_the_file(
    tmp_path: Path, saved_as: str, told: str
) -> None:
    """The original beside a copy, in which the kernel is that hands in; no front end says which is which."""
    made = worked_on(RELEASED, {})
    made["cells"][-1]["source"] = [saved_as.format(NOTEBOOK)]
    path = saved(tmp_path, jupyterlab(made))
    impatient = "from course.kit import handing_in\nhanding_in.PATIENCE = 0.0\n__import__('os').environ.pop('JPY_SESSION_NAME', None);"
    *_, said_then = kernel(impatient, f"hand_in('{NOTEBOOK}')", name="ipykernel", folder=path.parent)
    assert told in said_then
    assert (tmp_path / "hand_in").exists() is saved_as.startswith("hand_in")


def test_in_colab_it_says_how_one_gets_the_file(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    hand_in(NOTEBOOK)
    out = capsys.readouterr().out
    assert f"{NOTEBOOK}: 3 of 3 checks pass." in out
    assert "choose File, Download, Download .ipynb" in out
