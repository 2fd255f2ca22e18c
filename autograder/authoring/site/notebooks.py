"""A notebook as a page: the released text, and what its experiments gave when the source was last run."""

from __future__ import annotations

import ast
import re
from html import unescape

import nbformat
from nbformat import NotebookNode

from autograder.authoring.leading import FOOT_OF, LINE
from autograder.mathematics import mathml
from autograder.settings import ROOT

PICTURE = re.compile(
    r'<img width="(?P<width>\d+)" [^>]*src="data:image/png;base64,(?P<png>[^"]+)" alt="(?P<alt>[^"]*)">'
)
"""What `course.figures.Picture` shows itself as."""
FOLD = re.compile(r"<details>.*</details>")
"""A fold in one line, which Markdown leaves as it is, with the formulas in it."""
FORMULA = re.compile(r"\$([^$]+)\$")
CARRIED_OVER = "carried-over"
"""The cell that holds solutions of earlier notebooks."""
GUESS = "prediction"
"""The tag of a source cell in which the reader writes a guess down."""
AUTHORS_OWN = "progress"
"""The function that says how many checks pass: of the author's answers, where outputs are stored."""

FOLDED_CODE = ("hide-input", "Unfold the code that you bring along", "Fold the code that you bring along")
COVERED = ("hide-output", "Make your guess first, then unfold what comes out", "Fold what comes out")


def page(notebook: str) -> NotebookNode:
    """A notebook without solutions, with the outputs of the cells that are the same in source and release.

    What waits for a guess is folded, and so is the code that is carried over. The line at the foot is left out: each page of the site has
    ways on and back of its own.
    """
    released, stored = _read("release", notebook), {cell.id: cell for cell in _read("source", notebook).cells}
    guesses = {
        name for cell in stored.values() if GUESS in cell.metadata.get("tags", ()) for name in _names(cell.source)
    }
    for cell in released.cells:
        cell.metadata = NotebookNode()
        if cell.cell_type != "code":
            cell.source = FOLD.sub(_typeset, LINE.sub("", cell.source) if cell.id == FOOT_OF else cell.source)
            continue
        used, kept = _names(cell.source), stored.get(cell.id)
        if kept and cell.source == kept.source and AUTHORS_OWN not in used:
            cell.outputs = [_shown(output, cell) for output in kept.outputs]
        if cell.id == CARRIED_OVER:
            _fold(cell, *FOLDED_CODE)
        elif cell.outputs and used & guesses:
            _fold(cell, *COVERED)
    return released


def _read(folder: str, notebook: str) -> NotebookNode:
    return nbformat.read(ROOT / folder / notebook / f"{notebook}.ipynb", as_version=4)


def _typeset(fold: re.Match[str]) -> str:
    return FORMULA.sub(lambda found: mathml(found[1]), fold[0])


def _names(code: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}


def _shown(output: NotebookNode, cell: NotebookNode) -> NotebookNode:
    """An output; a picture in it becomes a file of its own, and the cell has its alternative text."""
    found = PICTURE.fullmatch(output.get("data", {}).get("text/html", ""))
    if found is None:
        return output
    _settings(cell)["image"] = {"alt": unescape(found["alt"]), "width": f"{found['width']}px"}
    return nbformat.v4.new_output(output.output_type, {"image/png": found["png"]})


def _fold(cell: NotebookNode, tag: str, unfold: str, fold: str) -> None:
    cell.metadata["tags"] = [tag]
    _settings(cell).update(code_prompt_show=unfold, code_prompt_hide=fold)


def _settings(cell: NotebookNode) -> NotebookNode:
    """What myst-nb reads of a cell."""
    return cell.metadata.setdefault("mystnb", NotebookNode())
