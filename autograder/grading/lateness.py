"""What handing in late costs: nbgrader's plug-in says so, with the settings as they are now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from types import SimpleNamespace

from nbgrader.preprocessors import AssignLatePenalties
from traitlets import TraitError
from traitlets.utils.importstring import import_item

from autograder.folder import Course
from autograder.grading.gradebook import Deadline, Entry, Grade
from autograder.grading.snapshot import Snapshot
from autograder.problems import Problem


@dataclass(frozen=True)
class Late:
    """When a student handed in, by how much that was late, and what it cost.

    Attributes:
        timestamp: in UTC; None where nobody wrote it down.
        seconds: 0.0 where it was in time.
        penalty: in points.
    """

    timestamp: datetime | None = None
    seconds: float = 0.0
    penalty: float = 0.0

    def __str__(self) -> str:
        when = f"{_span(self.seconds)} late" if self.seconds else ""
        return ", ".join(filter(None, (when, f"{-self.penalty:g}" if self.penalty else "")))


def _span(seconds: float) -> str:
    for length, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def lateness(snapshot: Snapshot, deadlines: list[Deadline]) -> dict[str, Late]:
    """By student, what the gradebook says."""
    found: dict[str, Late] = {}
    for row in deadlines:
        so_far = found.get(row.student, Late()).penalty
        seconds = _seconds(snapshot, row.timestamp, row.extension)
        found[row.student] = Late(row.timestamp, seconds, so_far + (row.penalty or 0.0))
    return found


class Policy:
    """What nbgrader's late submission plug-in takes off, with the course's settings of today.

    Raises:
        Problem: the settings name a plug-in that cannot be imported, or a method that there is not.
    """

    def __init__(self, course: Course, snapshot: Snapshot, stored: list[Grade], deadlines: list[Deadline]) -> None:
        kinds = map(import_item, snapshot.autograde)
        kind = next((kind for kind in kinds if issubclass(kind, AssignLatePenalties)), None)
        try:
            self._assigning = kind(config=course.config) if kind and snapshot.duedate else None
            if self._assigning:
                self._assigning.init_plugin()
        except TraitError as error:
            raise Problem(
                f"nbgrader_config.py has a setting of late penalties that cannot be used: {error}. Mend it; where it names a module "
                f"beside nbgrader_config.py, run the command in {course.root}."
            ) from None
        self._snapshot = snapshot
        self._deadlines = {row.student: row for row in deadlines}
        self._grades: dict[str, list[Grade]] = {}
        for grade in stored:
            self._grades.setdefault(grade.student, []).append(grade)

    def penalties(self, entry: Entry) -> dict[str, float | None]:
        """By notebook that was marked, what is taken off once an entry is written; None where it came in time."""
        row = self._deadlines.get(entry.student)
        timestamp = entry.timestamp or (row.timestamp if row else None)
        late = _seconds(self._snapshot, timestamp, row.extension if row else None)
        if self._assigning is None or late <= 0:
            return dict.fromkeys(entry.result.notebooks)
        return {name: self._penalty(entry.student, self._score(entry, name), late) for name in entry.result.notebooks}

    def _penalty(self, student: str, score: float, late: float) -> float | None:
        assert self._assigning is not None
        penalty = self._assigning.plugin_inst.late_submission_penalty(student, score, late)
        if penalty is None:
            return None
        return float(self._assigning._check_late_penalty(SimpleNamespace(score=score), penalty))

    def _score(self, entry: Entry, notebook: str) -> float:
        """What a notebook earns once an entry is written; what a person gave stays."""
        earned = {cell: auto or 0.0 for (of, cell), (auto, _) in entry.scores(self._snapshot).items() if of == notebook}
        for grade in self._grades.get(entry.student, ()):
            if grade.notebook == notebook:
                auto = earned.get(grade.cell, grade.auto)
                counts = auto if grade.manual is None else grade.manual
                earned[grade.cell] = 0.0 if counts is None else counts + (grade.extra or 0.0)
        return sum(earned.values())


def _seconds(snapshot: Snapshot, timestamp: datetime | None, extension: timedelta | None) -> float:
    if timestamp is None or snapshot.duedate is None:
        return 0.0
    return max(0.0, (timestamp - snapshot.duedate - (extension or timedelta())).total_seconds())
