"""nbgrader's preprocessors on a snapshot: the same classes, with the gradebook's answers but without a gradebook."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import SimpleNamespace, TracebackType
from typing import Any

from nbconvert.preprocessors import ExecutePreprocessor
from nbformat import NotebookNode
from nbgrader.api import MissingEntry
from nbgrader.preprocessors import (
    AssignLatePenalties,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)
from traitlets.utils.importstring import import_item

from autograder.grading.snapshot import GradedCell, OfficialNotebook, Snapshot, SourceCell
from autograder.plugins.gradebooks import Cells
from autograder.plugins.reading import as_read
from autograder.plugins.repairing import Repair

Step = Any
"""What turns a notebook into another: called with it and with nbconvert's resources, returns both."""


@dataclass
class Desk:
    """What nbgrader's preprocessors ask of a gradebook, answered for one notebook; what they save is collected.

    The names of the methods are those of `nbgrader.api.Gradebook`.
    """

    notebook: OfficialNotebook
    grades: dict[str, SimpleNamespace] = field(default_factory=dict)
    comments: dict[str, SimpleNamespace] = field(default_factory=dict)

    def __enter__(self) -> Desk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    @property
    def db(self) -> Desk:
        return self

    def commit(self) -> None:
        pass

    def find_notebook(self, *_: str) -> OfficialNotebook:
        return self.notebook

    def find_source_cell(self, name: str, *_: str) -> SourceCell:
        return _named(name, self.notebook.source_cells)

    def find_graded_cell(self, name: str, *_: str) -> GradedCell:
        return _named(name, (*self.notebook.grade_cells, *self.notebook.task_cells))

    def find_grade(self, name: str, *_: str) -> SimpleNamespace:
        self.find_graded_cell(name)
        return self.grades.setdefault(
            name, SimpleNamespace(auto_score=None, manual_score=None, needs_manual_grade=True)
        )

    def find_comment(self, name: str, *_: str) -> SimpleNamespace:
        _named(name, (*self.notebook.solution_cells, *self.notebook.task_cells))
        return self.comments.setdefault(name, SimpleNamespace(auto_comment=None))


def _named(name: str, cells: tuple[Any, ...]) -> Any:
    found = next((cell for cell in cells if cell.name == name), None)
    if found is None:
        raise MissingEntry(f"No such cell: {name}")
    return found


class _AtDesk(NbGraderPreprocessor):
    """Before one of nbgrader's classes: its work on the cells, at the desk in the resources."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        info = resources["nbgrader"]
        self.gradebook = info["desk"]
        self.notebook_id, self.assignment_id, self.student_id = info["notebook"], info["assignment"], info["student"]
        nb, resources = NbGraderPreprocessor.preprocess(self, nb, resources)
        if isinstance(self, Cells):
            nb, resources = self.completed(nb, resources)
        if isinstance(self, OverwriteCells) and self.add_missing_cells:
            nb, resources = self.add_missing_grade_cells(nb, resources)
            nb, resources = self.add_missing_task_cells(nb, resources)
        return nb, resources


class _KernelspecAtDesk(OverwriteKernelspec):
    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        kernelspec = resources["nbgrader"]["desk"].notebook.kernelspec
        if kernelspec and json.loads(kernelspec):
            nb.metadata["kernelspec"] = json.loads(kernelspec)
        return nb, resources


class _RepairAtDesk(Repair):
    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        self._desk = resources["nbgrader"]["desk"]
        return super().preprocess(nb, resources)

    def _gradebook(self, url: str) -> Any:
        return self._desk


@dataclass(frozen=True)
class Rules:
    """The steps before, and after, a notebook is executed."""

    before: tuple[Step, ...]
    after: tuple[Step, ...]


def rules(snapshot: Snapshot) -> Rules:
    """The preprocessors of an assignment, each made once.

    The one that executes notebooks is left out, and what comes before it in its pass comes before; so is the one that assigns
    penalties, which is the writer's to do.
    """
    sanitize, autograde = (
        [kind for kind in map(import_item, names) if not issubclass(kind, AssignLatePenalties)]
        for names in (snapshot.sanitize, snapshot.autograde)
    )
    at = next((place for place, kind in enumerate(autograde) if issubclass(kind, ExecutePreprocessor)), None)
    first, after = ([], autograde) if at is None else (autograde[:at], autograde[at + 1 :])
    sanitized, prepared, done = ([_made(kind, snapshot) for kind in kinds] for kinds in (sanitize, first, after))
    between = [_read_again] if sanitized and prepared else []
    return Rules((*sanitized, *between, *prepared, _read_again), tuple(done))


def _read_again(notebook: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
    """Between its passes nbgrader writes a notebook and reads it."""
    return as_read(notebook), resources


def _made(kind: type, snapshot: Snapshot) -> Step:
    if issubclass(kind, (OverwriteCells, SaveAutoGrades)):
        kind = type(kind.__name__, (_AtDesk, kind), {})
    elif issubclass(kind, OverwriteKernelspec):
        kind = _KernelspecAtDesk
    elif issubclass(kind, Repair):
        kind = _RepairAtDesk
    return kind(config=snapshot.settings)
