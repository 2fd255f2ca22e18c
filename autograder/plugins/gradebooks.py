"""One connection to the gradebook for a run of nbgrader's, in place of nine for each submission, and fewer transactions.

nbgrader opens a gradebook wherever it needs one, and each has to find out anew what its tables and queries look like: most of
what `nbgrader autograde` takes where cells are light. No setting says otherwise. So its own functions are run here as they
are, except that the name `Gradebook` means, in them alone, one that is still at hand. Nothing of nbgrader is changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    SourceCell,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from nbgrader.preprocessors import AssignLatePenalties, NbGraderPreprocessor, OverwriteCells, OverwriteKernelspec
from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from autograder.plugins.repairing import was_released

Key = tuple[Any, ...]


class _AtHand:
    """Opens gradebooks; while they are kept, each only once, as long as its file is the same."""

    def __init__(self) -> None:
        self._keeps = False
        self._open: dict[Key, Gradebook] = {}

    def __call__(self, db_url: str, *arguments: Any) -> Gradebook:
        if not self._keeps:
            return Gradebook(db_url, *arguments)
        found = self._open.get((db_url, _file(db_url), *arguments))
        if found is None:
            found = Gradebook(db_url, *arguments)
            found.close = found.db.remove  # what is read next is read anew; the connection stays
            self._open[db_url, _file(db_url), *arguments] = found
        return found

    @contextmanager
    def kept(self) -> Iterator[None]:
        self._keeps = True
        try:
            yield
        finally:
            self._keeps = False
            while self._open:
                self._open.popitem()[1].engine.dispose()


_at_hand = _AtHand()
kept = _at_hand.kept
"""While this context lasts, what `reusing` made does not open a gradebook twice."""


def reusing(function: Any) -> Any:
    """A function of nbgrader's, which opens a gradebook, with one that is at hand."""
    names = {**function.__globals__, "Gradebook": _at_hand}
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)


class AtOnce(NbGraderPreprocessor):
    """Second base of nbgrader's `SaveAutoGrades`: the marks of a notebook are read by one query each for grades and comments, and
    written in one transaction.

    nbgrader asks for each cell's by itself, writes it by itself, and reads again what it knew. What was written before a cell
    failed stays, as there.
    """

    gradebook: Gradebook
    notebook_id: str
    assignment_id: str
    student_id: str

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        place = self.notebook_id, self.assignment_id, self.student_id
        tables = {
            "find_grade": _marks(self.gradebook, Grade, *place),
            "find_comment": _marks(self.gradebook, Comment, *place),
        }
        with _one_transaction(self.gradebook.db), _looked_up(self.gradebook, place, tables):
            return super().preprocess(nb, resources)


class CellsAtOnce(NbGraderPreprocessor):
    """Second base of nbgrader's `OverwriteCells`: the released cells of a notebook are read at once, and not each by itself."""

    gradebook: Gradebook
    notebook_id: str
    assignment_id: str

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        place = self.notebook_id, self.assignment_id
        tables = {
            "find_source_cell": _released(self.gradebook, SourceCell, *place),
            "find_graded_cell": _released(self.gradebook, TaskCell, *place)
            | _released(self.gradebook, GradeCell, *place),
        }
        with _looked_up(self.gradebook, place, tables):
            return super().preprocess(nb, resources)


def _marks(gradebook: Gradebook, kind: Any, notebook: str, assignment: str, student: str) -> dict[str, Any]:
    """The grades, or the comments, of a submitted notebook by the names of their cells."""
    rows = (
        gradebook.db.query(BaseCell.name, BaseCell.type, kind)
        .join(BaseCell, BaseCell.id == kind.cell_id)
        .join(SubmittedNotebook, SubmittedNotebook.id == kind.notebook_id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .filter(Notebook.name == notebook, Assignment.name == assignment, SubmittedAssignment.student_id == student)
    )
    # nbgrader looks for a task last
    return {name: mark for name, _, mark in sorted(rows, key=lambda row: row[1] != TaskCell.__name__)}


def _released(gradebook: Gradebook, kind: Any, notebook: str, assignment: str) -> dict[str, Any]:
    """The cells of one kind that a notebook was released with, by their names."""
    rows = (
        gradebook.db.query(kind)
        .join(Notebook, Notebook.id == kind.notebook_id)
        .join(Assignment, Assignment.id == Notebook.assignment_id)
        .filter(Notebook.name == notebook, Assignment.name == assignment)
    )
    return {cell.name: cell for cell in rows}


@contextmanager
def _looked_up(gradebook: Gradebook, place: tuple[str, ...], tables: dict[str, dict[str, Any]]) -> Iterator[None]:
    """While this lasts, these methods of a gradebook's look in a table first.

    Args:
        place: what the methods are asked besides a cell's name.
        tables: for each method, what it finds there, by the names of cells.
    """

    def first(table: dict[str, Any], find: Any) -> Any:
        return lambda name, *where: table[name] if where == place and name in table else find(name, *where)

    for method, table in tables.items():
        setattr(gradebook, method, first(table, getattr(gradebook, method)))
    try:
        yield
    finally:
        for method in tables:
            delattr(gradebook, method)


@contextmanager
def _one_transaction(db: Any) -> Iterator[None]:
    db.commit = db.flush
    broken = False
    try:
        yield
    except SQLAlchemyError:
        broken = True
        raise
    finally:
        del db.commit
        if not broken:
            db.commit()


def _file(db_url: str) -> tuple[int, int] | None:
    """Which file it is, if it is one: somebody may put another in its place."""
    try:
        found = os.stat(make_url(db_url).database or "")
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Kernelspec(OverwriteKernelspec):
    """nbgrader's own."""

    preprocess = reusing(OverwriteKernelspec.preprocess)


class Cells(OverwriteCells, CellsAtOnce):
    """nbgrader's own, which warns neither of each test cell in which a release has no hidden tests, nor of what a later release changed."""

    preprocess = reusing(OverwriteCells.preprocess)
    _was_released_so = False

    def preprocess_cell(self, cell: NotebookNode, resources: dict[str, Any], cell_index: int) -> Any:
        self._was_released_so = was_released(cell, cell.metadata.get("nbgrader", {}))
        return super().preprocess_cell(cell, resources, cell_index)

    def report_change(self, name: str, attr: str, old: Any, new: Any) -> None:
        if attr in ("checksum", "points") or self._was_released_so:
            self.log.debug("%s is put back as it is in the gradebook", name)
        else:
            super().report_change(name, attr, old, new)


class Penalties(AssignLatePenalties):
    """nbgrader's own."""

    preprocess = reusing(AssignLatePenalties.preprocess)
