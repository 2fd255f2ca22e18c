"""One connection to the gradebook for a run of nbgrader's, in place of nine for each submission, and fewer transactions.

nbgrader opens a gradebook wherever it needs one, and each has to find out anew what its tables and queries look like: most of
what `nbgrader autograde` takes where cells are light. No setting says otherwise. So its own functions are run here as they
are, except that the name `Gradebook` means, in them alone, one that is still at hand. Nothing of nbgrader is changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FunctionType
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
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
from nbgrader.preprocessors import (
    AssignLatePenalties,
    ClearHiddenTests,
    ClearMarkScheme,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
)
from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from autograder.plugins.reading import SKIPPED, UNREAD, as_read
from autograder.plugins.repairing import was_released

Key = tuple[Any, ...]
WRITTEN = "written into locked cells"
"""Among what nbgrader tells of a notebook, the cells that were changed and what was written into each, as a cell."""
CHANGED = "the locked cell %s was changed; it is as it was released again"
KEPT = ", and what was written into it stands in a cell below"
ABOVE = "Written into the locked cell above."
GONE = (
    "the cell %s is missing, and nobody can mark it in formgrader: set c.OverwriteCells.add_missing_cells = True in nbgrader_config.py "
    "and grade again"
)


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
            return self.completed(*super().preprocess(nb, resources))

    def completed(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """What is done while the gradebook is open, once each cell has been looked at."""
        return nb, resources


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


_overwrite = reusing(OverwriteCells.preprocess)


class Cells(OverwriteCells, CellsAtOnce):
    """nbgrader's own, which keeps what a student wrote into a locked cell, and says what a person cannot mark because its cell is gone.

    Nothing is said of what a release changes by itself: by hidden tests, by mark schemes, by coming later.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        nb, resources = _overwrite(self, nb, resources)
        return as_read(nb), resources  # what nbgrader adds has no ids

    def preprocess_cell(self, cell: NotebookNode, resources: dict[str, Any], cell_index: int) -> Any:
        self._handed_in = NotebookNode(cell)
        self._whose = _whose(resources)
        self._was_released_so = was_released(cell, cell.metadata.get("nbgrader", {}))
        self._written = ""
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        if self._written:
            resources["nbgrader"].setdefault(WRITTEN, []).append((cell, _aside(self._handed_in, self._written)))
        return cell, resources

    def report_change(self, name: str, attr: str, old: Any, new: Any) -> None:
        if attr == "points" or self._was_released_so:
            self.log.debug("%s is put back as it is in the gradebook", name)
        elif attr != "checksum":
            super().report_change(name, attr, old, new)
        elif (written := _beyond(self._handed_in.source, self._as_released(name))) is not None:
            self._written = written
            self.log.warning(f"%s: {CHANGED}{KEPT if written else ''}", self._whose, name)

    def _as_released(self, name: str) -> str:
        """What stands in a cell as students get it."""
        official = self.gradebook.find_source_cell(name, self.notebook_id, self.assignment_id)
        cell = NotebookNode(self._handed_in, source=official.source)
        with suppress(RuntimeError):  # a mark without its other half
            ClearHiddenTests(config=self.config)._remove_hidden_test_region(cell)
            ClearMarkScheme(config=self.config)._remove_mark_scheme_region(cell)
        return str(cell.source)

    def completed(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Put what was written into locked cells below them, and say which cells a person cannot mark."""
        for cell, written in resources["nbgrader"].pop(WRITTEN, ()):
            nb.cells.insert(next(i for i, one in enumerate(nb.cells, 1) if one is cell), written)
        if not (self.add_missing_cells or nb.metadata.get(UNREAD)):
            released = self.gradebook.find_notebook(self.notebook_id, self.assignment_id)
            there = {_name(cell) for cell in nb.cells}
            for cell in (*released.grade_cells, *released.task_cells):
                if cell.name not in there:
                    self.log.warning(f"%s: {GONE}", _whose(resources), cell.name)
        return nb, resources

    def add_missing_grade_cells(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Add each behind the released cell before it. nbgrader's own fails where that is gone too, a task, or graded by nothing."""
        released = self.gradebook.find_notebook(self.notebook_id, self.assignment_id)
        worth = {cell.name: cell.max_score for cell in released.grade_cells}
        answers = {cell.name for cell in released.solution_cells}
        at = 0
        for cell in released.source_cells:
            there = [place for place, one in enumerate(nb.cells, 1) if _name(one) == cell.name]
            if there:
                at = there[-1]
            elif cell.name in worth:
                self.log.warning("Missing grade cell %s encountered, adding to notebook", cell.name)
                nb.cells.insert(at, self.missing_cell_transform(cell, worth[cell.name], cell.name in answers))
                at += 1
        return nb, resources


def _whose(resources: dict[str, Any]) -> str:
    return f"{resources['nbgrader']['notebook']} of {resources['nbgrader']['student']}"


def _name(cell: NotebookNode) -> str | None:
    name: str | None = cell.metadata.get("nbgrader", {}).get("grade_id")
    return name


def _beyond(source: str, released: str) -> str | None:
    """The lines of a text between those that begin and end it as released; None where but white space is other."""
    here, there = ([line.rstrip() for line in text.strip().splitlines()] for text in (source, released))
    if here == there:
        return None
    first = _alike(here, there)
    here, there = here[first:], there[first:]
    last = _alike(here[::-1], there[::-1])
    return "\n".join(here[: len(here) - last]).strip("\n")


def _alike(some: list[str], others: list[str]) -> int:
    """How many of them begin alike."""
    return next((i for i, (one, other) in enumerate(zip(some, others)) if one != other), min(len(some), len(others)))  # noqa: B905


def _aside(cell: NotebookNode, written: str) -> NotebookNode:
    """A cell, which is not run, with what stood in a locked one and with the pictures that it shows."""
    if cell.cell_type == "code":
        return new_code_cell(f"# {ABOVE}\n{written}", metadata={"tags": [SKIPPED]})
    made = new_markdown_cell(f"*{ABOVE}*\n\n{written}")
    if pictures := {name: bundle for name, bundle in cell.get("attachments", {}).items() if f":{name}" in written}:
        made["attachments"] = pictures
    return made


class Penalties(AssignLatePenalties):
    """nbgrader's own."""

    preprocess = reusing(AssignLatePenalties.preprocess)
