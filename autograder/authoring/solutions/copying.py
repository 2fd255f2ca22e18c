"""A source notebook as a reader of answers wants it: solved, told about, and without what only somebody who solves it needs."""

from __future__ import annotations

import re

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from autograder.authoring.solutions.telling import told
from autograder.exercises import exercise_named, names_in
from autograder.exercises.model import ANSWER
from autograder.settings import ROOT

NOTE = (
    "> **Worked copy.** Every exercise is solved here. Under each answer stand the reason for it, other answers that are as right, and "
    "the mistakes that the course knows, each with the smallest case that shows it. Unfold what you like. Checks, `progress` and "
    "`hand_in` have been taken out, though the text still speaks of them."
)
FOR_SOLVERS = {"progress", "hand-in"}
"""Cells that have nothing to say where all is solved."""
TOLD = "worked"
"""The tag of the cells that tell of an answer."""
MARK = re.compile(r"^[ \t]*(?:### (?:BEGIN|END) SOLUTION|<!-- (?:BEGIN|END) SOLUTION -->)[ \t]*\n?", re.MULTILINE)
FOR_MARKERS = re.compile(r"\n*^\(For the marker: .*?\)$", re.MULTILINE)
GUESS = re.compile(r"^\w+ = (\S+)  #", re.MULTILINE)


def worked(notebook: str) -> NotebookNode:
    """The worked copy of a notebook, with the outputs that its source has stored."""
    source = nbformat.read(ROOT / "source" / notebook / f"{notebook}.ipynb", as_version=4)
    names, cells = names_in(notebook), []
    for place, cell in enumerate(source.cells):
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if grade_id in names or cell.id in FOR_SOLVERS:
            continue
        cells.append(_without_marks(cell))
        if place == 0:
            cells.append(new_markdown_cell(NOTE, id="worked-copy"))
        name = grade_id.removesuffix(ANSWER)
        if name in names:
            exercise = exercise_named(notebook, name)
            text, number = told(exercise, cell.source), f"{name.replace('_', '-')}-worked"
            cells.append(new_markdown_cell(text, id=number, metadata={"tags": [TOLD]}))
        elif "prediction" in cell.metadata.get("tags", ()):
            cells.append(new_markdown_cell(_right_choice(cell, source.cells[:place]), id=f"{cell.id}-right"))
    source.cells = cells
    return source


def _without_marks(cell: NotebookNode) -> NotebookNode:
    """A cell without what nbgrader and the course's own machinery read in it."""
    plain = NotebookNode(cell)
    plain.source = FOR_MARKERS.sub("", MARK.sub("", cell.source)).rstrip()
    plain.metadata = {key: value for key, value in cell.metadata.items() if key not in ("nbgrader", "tags")}
    return plain


def _right_choice(cell: NotebookNode, before: list[NotebookNode]) -> str:
    """What was to be guessed: the letter with what it stands for in the text above, or the number."""
    (guess,) = GUESS.findall(cell.source)
    letter = guess.strip('"')
    if letter == guess:
        return f"**What is right: {guess}.**"
    text = next(above.source for above in reversed(before) if above.cell_type == "markdown")
    lines = re.findall(rf'^- (?:\({letter}\)|"{letter}":) (.*)$', text, re.MULTILINE)
    (choice,) = lines or re.findall(rf"\({letter}\) ([^,?]*)", text)
    return f"**What is right: ({letter})** {choice}"
