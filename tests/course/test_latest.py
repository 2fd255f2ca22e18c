"""A student's newest cell stops with an error: `check` then says that it speaks of an older version."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from course import answers
from tests.support.kernels import run_in_kernel

RIGHT = "def pairwise_dots(A, B):\n    return A @ B.T\n"
NOTE = (
    "You have run a newer pairwise_dots since, and its cell stopped with an error before it was defined: look under that cell. "
    "What is said here is of the version before it.\n"
)
CORRECT = (
    f"pairwise_dots: correct on all {len(answers.find('pairwise_dots').cases)} public cases. The hidden tests try more."
)


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


def said(*cells: str) -> list[str]:
    """What `check(pairwise_dots)` says when it is run after each of these cells, in one kernel."""
    sources = ["from course import check", *(part for cell in cells for part in (cell, "check(pairwise_dots)"))]
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    run_in_kernel(notebook, timeout=60, allow_errors=True)
    return [cell.outputs[-1].data["text/plain"] for cell in notebook.cells[2::2]]


def test_of_a_version_that_did_not_come_to_be_it_is_said_that_it_is_not_the_one_checked() -> None:
    indented = "class Draft:\n    def pairwise_dots(self):\n        return 1 / 0"
    spaced = f"\n\n# mine\n{RIGHT}\n"
    assert said(
        RIGHT,
        RIGHT.replace("B.T", "B.T)"),
        RIGHT.replace("(A, B)", "(A: Flaot, B)"),
        spaced,
        indented,
        "pairwise_dots(",
        RIGHT,
    ) == [CORRECT, NOTE + CORRECT, NOTE + CORRECT, CORRECT, CORRECT, CORRECT, CORRECT]


def test_a_wrapped_answer_is_no_older_version() -> None:
    wrapped = f"from functools import wraps\ndef same(f):\n    return wraps(f)(lambda *a: f(*a))\n\n@same\n{RIGHT}"
    assert said(RIGHT, wrapped) == [CORRECT, CORRECT]
