"""A student runs a check before the cell that defines its function: the error is told with what to do."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.support.kernels import run_in_kernel

NOT_YET = "pairwise_dots is not defined yet. Run the cell with `def pairwise_dots` first, most often the one above; then this one again.\n"
STOPPED = (
    "pairwise_dots is not defined: the cell that begins to define it stopped with an error. Look under that cell, "
    "and run it again first.\n"
)
BROKEN = "def pairwise_dots(A: Flaot, B):\n    return A @ B.T\n"


def printed(*cells: str) -> list[str]:
    """What each of these cells prints, run in one kernel whatever they raise."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in ("from course import check", *cells)])
    run_in_kernel(notebook, timeout=60, allow_errors=True)
    return ["".join(o.text for o in cell.outputs if o.output_type == "stream") for cell in notebook.cells[1:]]


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


def test_which_cell_to_run_is_said_where_an_exercise_is_not_defined() -> None:
    assert printed("check(pairwise_dots)", "pairwise_dto", BROKEN, "check(pairwise_dots)") == [NOT_YET, "", "", STOPPED]


def test_nothing_is_said_while_nbgrader_runs_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert printed("check(pairwise_dots)") == [""]
