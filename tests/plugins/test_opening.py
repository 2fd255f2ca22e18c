"""The exporter that reads submissions looks at a notebook again where it may have become invalid, as nbconvert's own does."""

from __future__ import annotations

from typing import Any

import pytest
from nbconvert.exporters.exporter import Exporter
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode, ValidationError
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.preprocessors import ClearOutput, Execute

from autograder.plugins.opening import TolerantExporter


class Breaks(Preprocessor):
    """A course's own, which makes of a notebook what is none."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        nb.cells[0]["source"] = 5
        return nb, resources


class Shows(Execute):
    """One of the plug-ins, as it were: a cell shows what no notebook can hold."""

    __module__ = "autograder.plugins.executing"
    preprocess = Breaks.preprocess


class Keeps(Preprocessor):
    """One that keeps count of what comes after it."""

    came = 0

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        type(self).came += 1
        return nb, resources


@pytest.mark.parametrize("first", [Breaks, Shows])
def test_what_comes_after_a_notebook_has_become_invalid_is_not_begun(
    first: type[Preprocessor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Keeps, "came", 0)
    exporter = TolerantExporter()
    for each in (ClearOutput, first, Keeps):
        exporter.register_preprocessor(each, enabled=True)
    with pytest.raises(ValidationError):
        exporter.from_notebook_node(new_notebook(cells=[new_code_cell("1 + 1")]))
    assert Keeps.came == 0


def test_a_notebook_is_not_looked_at_after_what_leaves_it_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []
    monkeypatch.setattr(Exporter, "_validate_preprocessor", lambda self, notebook, after: looked.append(type(after)))
    exporter = TolerantExporter()
    for each in (ClearOutput, ClearOutput, Keeps):
        exporter.register_preprocessor(each, enabled=True)
    exporter.from_notebook_node(new_notebook(cells=[new_code_cell("1 + 1")]))
    assert looked == [Keeps]
