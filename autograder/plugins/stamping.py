"""What a feedback page was made of, written on the page, so that it is known when it has to be made again."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)

from autograder.plugins.regrade_requests import Request

FORM = 3
"""Which form pages have; those of an older one are made again."""


@dataclass
class Told:
    """All that the gradebook says of one notebook of a student and a page shows.

    Attributes:
        grades, comments, requests: by cell.
        penalty: what being late costs; None where it costs nothing.
    """

    grades: dict[str, Mark] = field(default_factory=dict)
    comments: dict[str, str | None] = field(default_factory=dict)
    penalty: float | None = None
    requests: dict[str, tuple[Asked, ...]] = field(default_factory=dict)


class Asked(NamedTuple):
    """A regrade request of a student's, and what was decided.

    Attributes:
        decision: "yes" or "no"; "" where nobody has decided.
    """

    says: str
    decision: str
    reason: str


class Mark(NamedTuple):
    """What a cell has earned.

    Attributes:
        auto, manual: the grader's score and a person's; None where there is none.
        extra: extra credit.
        points: what it is worth.
        asked: whether a person is asked to look.
    """

    auto: float | None
    manual: float | None
    extra: float | None
    points: float
    asked: bool

    @property
    def score(self) -> float:
        """What counts, as nbgrader has it."""
        counts = self.auto if self.manual is None else self.manual
        return 0.0 if counts is None else counts + (self.extra or 0.0)

    @property
    def waits(self) -> bool:
        """Whether a person has yet to decide."""
        return self.manual is None and (self.auto is None or self.asked)


Marks = Mapping[tuple[str, str], Told]
"""By student and notebook."""


def marks(gradebook: Gradebook, assignment: str, requests: Iterable[Request] = ()) -> Marks:
    """Everybody's marks: scores, points, comments, what being late costs, and what came of requests for another one."""
    found: defaultdict[tuple[str, str], Told] = defaultdict(Told)
    grades = (Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.max_score, Grade.needs_manual_grade)
    whose = gradebook.db.query(SubmittedAssignment.student_id, Notebook.name).select_from(SubmittedNotebook)
    whose = whose.join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    whose = whose.join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
    whose = whose.join(Assignment, Notebook.assignment_id == Assignment.id).filter(Assignment.name == assignment)
    for who, notebook, penalty in whose.add_columns(SubmittedNotebook.late_submission_penalty):
        found[who, notebook].penalty = penalty
    of_grades = whose.join(Grade, Grade.notebook_id == SubmittedNotebook.id).join(
        BaseCell, Grade.cell_id == BaseCell.id
    )
    for who, notebook, cell, *row in of_grades.add_columns(BaseCell.name, *grades):
        found[who, notebook].grades[cell] = Mark(*row)
    told = whose.join(Comment, Comment.notebook_id == SubmittedNotebook.id).join(
        BaseCell, Comment.cell_id == BaseCell.id
    )
    for who, notebook, cell, comment in told.add_columns(BaseCell.name, Comment.comment):
        found[who, notebook].comments[cell] = comment
    for one in requests:
        asked = Asked(one.says, one.decision, one.reason) if one.is_decided else Asked(one.says, "", "")
        told_of = found[one.student, one.notebook].requests
        told_of[one.cell] = (*told_of.get(one.cell, ()), asked)
    return found


def made_of(notebook: Path, student: str, marks: Marks) -> str:
    """What a page depends on, in a word: the graded notebook as it was last written, and its marks.

    Raises:
        OSError: there is no such notebook.
    """
    written = notebook.stat()
    told = marks.get((student, notebook.stem), Told())
    rows = (sorted(told.grades.items()), sorted(told.comments.items()), told.penalty, sorted(told.requests.items()))
    return hashlib.sha256(repr((FORM, written.st_mtime_ns, written.st_size, rows)).encode()).hexdigest()


def stamped(page: str, word: str) -> str:
    """The page with what it was made of at its end, where readers do not see it."""
    return f"{page}{_stamp(word)}"


def is_made_of(page: Path, word: str) -> bool:
    """Whether a page is there, and was made of this."""
    stamp = _stamp(word).encode()
    with suppress(OSError), page.open("rb") as file:
        file.seek(-len(stamp), 2)
        return file.read() == stamp
    return False


def _stamp(word: str) -> str:
    return f"<!-- made of {word} -->\n"
