"""What is handed in of a course that nobody here wrote: made of the released notebooks, and of their sources' solutions."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

STUB = "raise NotImplementedError"
RAISES = {"python3": "raise ValueError('in the middle')", "ir": "stop('in the middle')"}
NO_CODE = "\ndef ("

Edit = Callable[[NotebookNode, NotebookNode], None]
"""Makes a submission of a released notebook, which it changes, and of the source notebook."""


def solved(released: NotebookNode, source: NotebookNode) -> None:
    """Every answer of the source; where that has none of its own, something that runs."""
    answers = {grade_id(cell): cell.source for cell in source.cells if grade_id(cell)}
    for cell in _solutions(released):
        answer = answers.get(grade_id(cell), cell.source)
        cell.source = answer if answer != cell.source else _filled(answer)


def unanswered(released: NotebookNode, source: NotebookNode) -> None:
    """As it was released."""


def half(released: NotebookNode, source: NotebookNode) -> None:
    """The first half of the answers."""
    before = {grade_id(cell): cell.source for cell in _solutions(released)}
    solved(released, source)
    cells = _solutions(released)
    for cell in cells[(len(cells) + 1) // 2 :]:
        cell.source = before[grade_id(cell)]


def broken(released: NotebookNode, source: NotebookNode) -> None:
    """A cell of the student's own that raises, and an answer that is no code."""
    solved(released, source)
    cells = [cell for cell in _solutions(released) if cell.cell_type == "code"]
    if cells:
        cells[len(cells) // 2].source += NO_CODE
    raises = new_code_cell(RAISES[released.metadata.kernelspec.name])
    if released.nbformat_minor < 5:
        del raises["id"]
    released.cells.insert(1, raises)


def without_a_test(released: NotebookNode, source: NotebookNode) -> None:
    """A test cell deleted."""
    solved(released, source)
    tests = [cell for cell in released.cells if _about(cell).get("grade") and not _about(cell).get("solution")]
    if tests:
        released.cells.remove(tests[len(tests) // 2])


EDITS: tuple[Edit, ...] = (solved, unanswered, half, broken, without_a_test)


def hand_in(course: Path, assignment: str, edit: Edit, student: str = "") -> None:
    """Put a submission where nbgrader expects it, by a student who is called as the edit is if nothing else is said."""
    folder = course / "submitted" / (student or edit.__name__) / assignment
    released = course / "release" / assignment
    shutil.copytree(released, folder)
    for path in released.glob("*.ipynb"):
        notebook, source = (
            nbformat.read(str(one), as_version=4) for one in (path, course / "source" / assignment / path.name)
        )
        edit(notebook, source)
        nbformat.write(notebook, str(folder / path.name))


def grade_id(cell: NotebookNode) -> str:
    return str(_about(cell).get("grade_id", ""))


def _solutions(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if _about(cell).get("solution")]


def _about(cell: NotebookNode) -> NotebookNode:
    return cell.metadata.get("nbgrader", NotebookNode())


def _filled(answer: str) -> str:
    lines = answer.splitlines()
    return "\n".join(line.partition(STUB)[0] + "pass" if STUB in line else line for line in lines)
