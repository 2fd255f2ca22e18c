"""The one writer of grades: a whole batch of students in one transaction, as `nbgrader autograde` would leave them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from nbgrader import api
from sqlalchemy import Connection, bindparam, insert, or_, select, update

from autograder.folder import Course
from autograder.grading.database import opened
from autograder.grading.result import MarkedSubmission
from autograder.grading.snapshot import Snapshot

STUDENT, SUBMISSION, WORK = api.Student.__table__, api.SubmittedAssignment.__table__, api.SubmittedNotebook.__table__
GRADE, COMMENT = api.Grade.__table__, api.Comment.__table__
ASSIGNMENT, NOTEBOOK, CELL = api.Assignment.__table__, api.Notebook.__table__, api.BaseCell.__table__
GRADED, COMMENTED = ("GradeCell", "TaskCell"), ("SolutionCell", "TaskCell")


@dataclass(frozen=True)
class Grade:
    """One row: what a student has for one cell."""

    student: str
    notebook: str
    cell: str
    auto: float | None
    manual: float | None
    by_hand: bool
    extra: float | None

    @property
    def score(self) -> float | None:
        """What counts; None where nobody has decided."""
        counts = self.auto if self.manual is None else self.manual
        return None if counts is None else counts + (self.extra or 0.0)


@dataclass(frozen=True)
class Entry:
    """What is to be written about one student.

    Attributes:
        timestamp: when it was handed in, in UTC, or None where nobody wrote it down.
        handed_in: the notebooks that were there; the others are worth zero.
        penalties: by notebook that was marked, what being late costs; None where it was in time.
    """

    student: str
    timestamp: datetime | None
    handed_in: frozenset[str]
    result: MarkedSubmission
    penalties: dict[str, float | None] = field(default_factory=dict)

    def scores(self, snapshot: Snapshot) -> dict[tuple[str, str], tuple[float | None, bool]]:
        """By notebook and cell, the automatic score, and whether a person has to look; cells that keep what they have are not there."""
        found: dict[tuple[str, str], tuple[float | None, bool]] = {}
        for notebook in snapshot.notebooks:
            marked = self.result.notebooks.get(notebook.name)
            if marked is not None:
                found |= {
                    (notebook.name, cell): (score, cell in marked.by_hand) for cell, score in marked.scores.items()
                }
            elif self.result.fault or notebook.name not in self.handed_in:
                empty = (None, True) if self.result.fault else (0.0, False)
                cells = (*notebook.grade_cells, *notebook.task_cells)
                found |= {(notebook.name, cell.name): empty for cell in cells}
        return found


@dataclass(frozen=True)
class Deadline:
    """What the gradebook has about when a student's notebook was handed in.

    Attributes:
        timestamp: in UTC, or None where nobody wrote it down.
        extension: how much later than others this student may hand in.
        penalty: what being late cost, in points.
    """

    student: str
    notebook: str
    timestamp: datetime | None
    extension: timedelta | None
    penalty: float | None


def deadlines(course: Course, assignment: str) -> list[Deadline]:
    """When everybody handed in each notebook of an assignment."""
    wanted = (
        select(
            SUBMISSION.c.student_id,
            NOTEBOOK.c.name,
            SUBMISSION.c.timestamp,
            SUBMISSION.c.extension,
            WORK.c.late_submission_penalty,
        )
        .join_from(WORK, SUBMISSION, SUBMISSION.c.id == WORK.c.assignment_id)
        .join(ASSIGNMENT, ASSIGNMENT.c.id == SUBMISSION.c.assignment_id)
        .join(NOTEBOOK, NOTEBOOK.c.id == WORK.c.notebook_id)
        .where(ASSIGNMENT.c.name == assignment)
    )
    with _connected(course) as connection:
        return [Deadline(*row) for row in connection.execute(wanted)]


def grades(course: Course, assignment: str) -> list[Grade]:
    """Every grade of an assignment."""
    with _connected(course) as connection:
        return [Grade(*row) for row in connection.execute(_grades(assignment))]


def students(course: Course) -> dict[str, str]:
    """Everybody whom the gradebook knows, with the name that it has for them, or ""."""
    with _connected(course) as connection:
        rows = connection.execute(select(STUDENT.c.id, STUDENT.c.first_name, STUDENT.c.last_name))
        return {student: " ".join(filter(None, names)) for student, *names in rows}


def worth(course: Course, assignment: str) -> dict[tuple[str, str], float]:
    """By notebook and cell, what the graded cells of an assignment are worth."""
    with opened(course) as gradebook:
        return {
            (notebook.name, cell.name): cell.max_score
            for notebook in gradebook.find_assignment(assignment).notebooks
            for cell in (*notebook.grade_cells, *notebook.task_cells)
        }


def write(course: Course, snapshot: Snapshot, entries: Iterable[Entry]) -> None:
    """Write a batch; after any interruption it is either all there or not at all. Manual scores stay.

    Raises:
        Problem: the gradebook is locked, or cannot be written to.
    """
    batch = list(entries)
    with _connected(course) as connection:
        rows = _Rows(connection, snapshot.assignment)
        rows.add_missing([entry.student for entry in batch])
        for entry in batch:
            _write_grades(rows, snapshot, entry)
        rows.flush()
        for entry in batch:
            _write_submission(connection, rows, entry)


@contextmanager
def _connected(course: Course) -> Iterator[Connection]:
    with opened(course) as gradebook, gradebook.engine.begin() as connection:
        yield connection


def _grades(assignment: str) -> Any:
    return (
        select(
            SUBMISSION.c.student_id,
            NOTEBOOK.c.name,
            CELL.c.name,
            GRADE.c.auto_score,
            GRADE.c.manual_score,
            GRADE.c.needs_manual_grade,
            GRADE.c.extra_credit,
        )
        .join_from(GRADE, WORK, WORK.c.id == GRADE.c.notebook_id)
        .join(SUBMISSION, SUBMISSION.c.id == WORK.c.assignment_id)
        .join(ASSIGNMENT, ASSIGNMENT.c.id == SUBMISSION.c.assignment_id)
        .join(NOTEBOOK, NOTEBOOK.c.id == WORK.c.notebook_id)
        .join(CELL, CELL.c.id == GRADE.c.cell_id)
        .where(ASSIGNMENT.c.name == assignment)
    )


class _Rows:
    """The rows of an assignment that grades go into, by name."""

    def __init__(self, connection: Connection, assignment: str) -> None:
        self.connection = connection
        self.assignment = connection.scalars(select(ASSIGNMENT.c.id).where(ASSIGNMENT.c.name == assignment)).one()
        self.submissions: dict[str, str] = {}
        self.work: dict[tuple[str, str], str] = {}
        self.notebooks: dict[str, str] = {}
        self.cells: dict[Any, dict[tuple[str, str], str]] = {GRADE: {}, COMMENT: {}}
        for name, notebook, cell, cell_name, kind in connection.execute(
            select(NOTEBOOK.c.name, NOTEBOOK.c.id, CELL.c.id, CELL.c.name, CELL.c.type)
            .outerjoin_from(NOTEBOOK, CELL, CELL.c.notebook_id == NOTEBOOK.c.id)
            .where(NOTEBOOK.c.assignment_id == self.assignment)
        ):
            self.notebooks[name] = notebook
            for table, kinds in ((GRADE, GRADED), (COMMENT, COMMENTED)):
                if kind in kinds:
                    self.cells[table][name, cell_name] = cell
        self._updates: dict[Any, list[dict[str, Any]]] = {GRADE: [], COMMENT: []}

    def add_missing(self, batch: list[str]) -> None:
        """Add what the gradebook does not have: students, submissions, and an empty row for every cell."""
        known = set(self.connection.scalars(select(STUDENT.c.id).where(STUDENT.c.id.in_(batch))))
        self._insert(STUDENT, [{"id": student} for student in batch if student not in known])
        self.submissions = dict(self._found(SUBMISSION.c.student_id, SUBMISSION.c.id, batch))
        new = {student: api.new_uuid() for student in batch if student not in self.submissions}
        self._insert(
            SUBMISSION, [_row(id=own, assignment_id=self.assignment, student_id=who) for who, own in new.items()]
        )
        self.submissions |= new
        work = select(SUBMISSION.c.student_id, NOTEBOOK.c.name, WORK.c.id).join_from(WORK, SUBMISSION).join(NOTEBOOK)
        own = SUBMISSION.c.id.in_(self.submissions.values())
        self.work = {(student, name): id for student, name, id in self.connection.execute(work.where(own))}
        wanted = {(student, name): api.new_uuid() for student in batch for name in self.notebooks}
        missing = {place: id for place, id in wanted.items() if place not in self.work}
        self._insert(
            WORK,
            [
                _row(id=id, assignment_id=self.submissions[student], notebook_id=self.notebooks[name])
                for (student, name), id in missing.items()
            ],
        )
        self.work |= missing
        for table, cells in self.cells.items():
            there = select(table.c.notebook_id, table.c.cell_id).where(table.c.notebook_id.in_(self.work.values()))
            existing = set(map(tuple, self.connection.execute(there)))
            pairs = [(id, cell) for (_, name), id in self.work.items() for (of, _), cell in cells.items() if of == name]
            self._insert(
                table, [_row(notebook_id=id, cell_id=cell) for id, cell in pairs if (id, cell) not in existing]
            )

    def update(self, table: Any, student: str, notebook: str, cell: str, **values: Any) -> None:
        """Have `flush` change the row of one cell."""
        place = _row(work=self.work[student, notebook], cell=self.cells[table][notebook, cell])
        self._updates[table].append({**place, **values})

    def flush(self) -> None:
        """Make the changes, each kind in one statement."""
        judged = or_(
            GRADE.c.manual_score.is_not(None), bindparam("by_hand")
        )  # whom a person marked, a person looks at again
        self._update(GRADE, auto_score=bindparam("score"), needs_manual_grade=judged)
        self._update(COMMENT, auto_comment=bindparam("text"))

    def _update(self, table: Any, **values: Any) -> None:
        place = (table.c.notebook_id == bindparam("work"), table.c.cell_id == bindparam("cell"))
        if self._updates[table]:
            self.connection.execute(update(table).where(*place).values(**values), self._updates[table])

    def _insert(self, table: Any, rows: list[dict[str, Any]]) -> None:
        if rows:
            self.connection.execute(insert(table), rows)

    def _found(self, name: Any, value: Any, batch: list[str]) -> Any:
        own = (SUBMISSION.c.assignment_id == self.assignment, SUBMISSION.c.student_id.in_(batch))
        return self.connection.execute(select(name, value).where(*own)).all()


def _row(**values: Any) -> dict[str, Any]:
    return values


def _write_grades(rows: _Rows, snapshot: Snapshot, entry: Entry) -> None:
    for (notebook, cell), (score, by_hand) in entry.scores(snapshot).items():
        rows.update(GRADE, entry.student, notebook, cell, score=score, by_hand=by_hand)
    for notebook, marked in entry.result.notebooks.items():
        for cell, text in marked.comments.items():
            rows.update(COMMENT, entry.student, notebook, cell, text=text)


def _write_submission(connection: Connection, rows: _Rows, entry: Entry) -> None:
    """When it was handed in, and what that costs."""
    own = SUBMISSION.c.id == rows.submissions[entry.student]
    if entry.timestamp is not None:
        connection.execute(update(SUBMISSION).where(own).values(timestamp=entry.timestamp))
    for name, penalty in entry.penalties.items():
        own = WORK.c.id == rows.work[entry.student, name]
        connection.execute(update(WORK).where(own).values(late_submission_penalty=penalty))
