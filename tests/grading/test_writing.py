"""A notebook's text."""

from __future__ import annotations

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.exercises import NOTEBOOKS
from autograder.grading.writing import LONGEST, text_of
from autograder.settings import ROOT

PICTURE = {"text/plain": "<Figure>\nof 2 lines", "image/png": "aGVsbG8=", "application/json": {"b": [1, {"a": None}]}}
CELLS = {
    "none": [],
    "text in other scripts": [new_markdown_cell('ünï"code"\n\n ],\n "metadata": {\u2028')],
    "an output": [
        new_code_cell("1\n2", outputs=[new_output("display_data", PICTURE), new_output("stream", text="a\nb")])
    ],
    "the same twice": [new_code_cell("pass", id="a"), new_code_cell("pass", id="b")],
    "an order of its own": [NotebookNode(source="", metadata=NotebookNode(b=1, a=2), id="x", cell_type="markdown")],
    "a long one": [new_code_cell("x = 1\n" * LONGEST)],
    "trusted": [new_code_cell("1", metadata=NotebookNode(trusted=True))],
}


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_text_of_a_notebook_is_what_nbformat_writes(notebook: str) -> None:
    read = nbformat.read(ROOT / "source" / notebook / f"{notebook}.ipynb", as_version=4)
    for _ in range(2):
        assert text_of(read) == f"{nbformat.writes(read)}\n"


@pytest.mark.parametrize("cells", CELLS.values(), ids=CELLS)
def test_odd_cells_are_written_as_nbformat_writes_them(cells: list[NotebookNode]) -> None:
    notebook = new_notebook(cells=cells, metadata=NotebookNode(signature="x", orig_nbformat=3, name="ä"))
    assert text_of(notebook) == f"{nbformat.writes(notebook)}\n"


def test_a_cell_that_has_changed_is_written_as_it_is_now() -> None:
    cell = new_code_cell("1", id="a")
    notebook = new_notebook(cells=[cell])
    text_of(notebook)
    cell.outputs = [new_output("stream", text="told")]
    assert text_of(notebook) == f"{nbformat.writes(notebook)}\n"
