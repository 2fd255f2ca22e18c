"""Numbers, points, counts and ids that an exercise declares are written wherever they are said."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.authoring.release import stated
from autograder.authoring.stating import state_in_source, state_in_text
from autograder.exercises import NOTEBOOKS
from autograder.plugins.agreeing import in_source
from autograder.settings import ROOT
from autograder.this_course import JUDGE

README = (ROOT / "README.md").read_text(encoding="utf-8")


def cells_of(notebook: str) -> list[NotebookNode]:
    cells: list[NotebookNode] = nbformat.read(ROOT / "source" / notebook / f"{notebook}.ipynb", as_version=4).cells
    return cells


def reworded(pattern: str, replacement: str) -> Callable[[list[NotebookNode]], Any]:
    """Spoil every text of a notebook."""

    def spoil(cells: list[NotebookNode]) -> None:
        for cell in cells:
            if cell.cell_type == "markdown":
                cell.source = re.sub(pattern, replacement, cell.source, flags=re.MULTILINE)

    return spoil


def other_metadata(cells: list[NotebookNode]) -> None:
    for cell in cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.metadata.nbgrader.points = 77
            cell.id = f"{cell.id}-1"


def asked_of_another(cells: list[NotebookNode]) -> None:
    (asking,) = (cell for cell in cells if cell.source.startswith("progress("))
    asking.source = 'progress("77_other")'


SPOILED = {
    "whose progress is shown": asked_of_another,
    "the notebook's number": reworded(r"^# \d+ ·", "# 77 ·"),
    "how many exercises": reworded(r"^\w+ exercises?", "Twelve exercises"),
    "the points of all": reworded(r"[\d.]+ points?, about", "77 points, about"),
    "an exercise's number": reworded(r"^### Exercise \d+", "### Exercise 9"),
    "an exercise's points": reworded(r"· [\d.]+ points?\*$", "· 77 points*"),
    "points and ids of graded cells": other_metadata,
    "where it leads": reworded(
        r"^\[Home\].*", "[Home](../index.ipynb) · next: [77 · Nowhere](../77_nowhere/77_nowhere.ipynb)"
    ),
    "that it leads anywhere": reworded(r"\n+\[Home\].*", ""),
}


@pytest.mark.parametrize("notebook", ["00_shapes", "10_capstone"])
@pytest.mark.parametrize("spoiled", SPOILED)
def test_what_a_notebook_says_of_its_exercises_is_written(notebook: str, spoiled: str) -> None:
    right = cells_of(notebook)
    cells = copy.deepcopy(right)
    SPOILED[spoiled](cells)
    assert cells != right
    state_in_source(notebook, cells)
    assert cells == right
    assert list(in_source(JUDGE, notebook, cells)) == []


def test_what_the_pages_say_is_written() -> None:
    spoiled = re.sub(r"^(\| `\d\d_\w+` \|.*\| *)\d+", r"\g<1>77", README, flags=re.MULTILINE)
    assert spoiled != README
    assert state_in_text(spoiled) == README
    proved = "They prove: 1 exercises, 2 mistakes that lose marks, 3 equivalent, 4 right answers in other styles."
    assert re.fullmatch(
        r"They prove: 4\d exercises, 2\d{3} mistakes that lose marks, 5 equivalent, 2\d\d right answers in other styles\.",
        state_in_text(proved),
    )


def test_what_is_committed_states_what_the_exercises_declare() -> None:
    assert stated(NOTEBOOKS) == {}
