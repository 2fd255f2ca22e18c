"""What everybody has for an assignment: the same points as in the class table and in `nbgrader export`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from autograder.folder import Course
from autograder.grading import gradebook
from autograder.grading.database import opened
from autograder.grading.lateness import Late, lateness
from autograder.grading.report.lines import NOT_GRADED, NOTHING, Line, lines, total
from autograder.grading.snapshot import read_snapshot
from autograder.plugins.roster import Person, Roster


@dataclass(frozen=True)
class Mark:
    """What one student has.

    Attributes:
        lines: by exercise, in the order of the notebook.
        comment: the mistakes that were named, a paragraph each, and what being late cost; "" if there is nothing to say.
    """

    person: Person
    lines: list[Line]
    late: Late
    comment: str

    @property
    def total(self) -> float:
        return total(self.lines, self.late) or 0.0

    @property
    def out_of(self) -> float:
        return sum(line.points for line in self.lines)

    @property
    def why_not(self) -> str:
        """Why there is no mark to hand on yet; "" where there is one."""
        outcomes = {line.outcome for line in self.lines}
        if NOTHING in outcomes:
            return NOTHING
        if NOT_GRADED in outcomes:
            return NOT_GRADED
        if why := next((line.why for line in self.lines if line.why), ""):
            return f"waits for a person: {why}"
        waiting = [line.exercise for line in self.lines if line.score is None]
        return f"waits for a person: {', '.join(waiting)}" if waiting else ""


def read_roster(course: Course) -> Roster:
    """Everybody whom the gradebook knows."""
    with opened(course) as found:
        return Roster.of(found)


def read_marks(course: Course, assignment: str, roster: Roster) -> dict[str, Mark]:
    """By student, what everybody on the roster, and everybody else who handed in, has.

    Raises:
        Problem: there is no such assignment, or the gradebook cannot be read.
    """
    late = lateness(read_snapshot(course, assignment), gradebook.deadlines(course, assignment))
    own: dict[str, list[Line]] = {}
    for line in lines(course, assignment):
        own.setdefault(line.student, []).append(line)
    known = course.judge.lessons(assignment)
    return {
        student: Mark(
            roster.people.get(student, Person(student)),
            rows,
            late.get(student, Late()),
            _comment(rows, late.get(student, Late()), known),
        )
        for student, rows in own.items()
    }


def _comment(rows: list[Line], late: Late, known: Mapping[tuple[str, str], str]) -> str:
    said = [
        f"{line.exercise}, {line.score or 0.0:g} of {line.points:g}: {known.get((line.exercise, mistake), mistake)}"
        for line in rows
        for mistake in line.mistakes
    ]
    return "\n".join([*said, *([f"handed in {late}"] if late.seconds else [])])
