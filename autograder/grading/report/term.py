"""What a term comes to: every assignment that somebody has marks for, from the gradebook alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from autograder.folder import Course
from autograder.grading import gradebook
from autograder.grading.database import opened
from autograder.grading.report.counting import Spread
from autograder.problems import Problem


@dataclass(frozen=True)
class Assignment:
    """One assignment.

    Attributes:
        solved: of all exercises of all of whom anything is decided, the part that has all points.
        spread: of what these have altogether.
        totals: by student of whom anything is decided.
        page: its own report, seen from this one; "" where none was made.
    """

    name: str
    solved: float
    spread: Spread
    totals: Mapping[str, float]
    page: str = ""


@dataclass(frozen=True)
class Term:
    """All assignments that are graded, in the order of their names, and everybody whom the gradebook knows."""

    made: datetime
    version: str
    names: Mapping[str, str]
    assignments: tuple[Assignment, ...]

    def total(self, student: str) -> float:
        return sum(one.totals.get(student, 0.0) for one in self.assignments)

    @property
    def points(self) -> float:
        return sum(one.spread.of for one in self.assignments)

    @property
    def spread(self) -> Spread:
        """Of what everybody has of whom anything is decided."""
        some = {student for one in self.assignments for student in one.totals}
        return Spread(self.points, tuple(self.total(student) for student in sorted(some)))


def gather_term(course: Course) -> Term:
    """Read the gradebook; nothing is run, and nothing is written.

    Raises:
        Problem: nothing is graded.
    """
    with opened(course) as book:
        names = sorted(assignment.name for assignment in book.assignments)
    found = [one for name in names if (one := _assignment(course, name)).totals]
    if not found:
        raise Problem("Nothing is graded yet: run `python -m autograder grade ASSIGNMENT` first.")
    students = gradebook.students(course)
    return Term(datetime.now().astimezone(), course.judge.version, dict(sorted(students.items())), tuple(found))


def _assignment(course: Course, name: str) -> Assignment:
    worth = gradebook.worth(course, name)
    earned: dict[str, dict[tuple[str, str], float]] = {}
    decided: set[str] = set()
    for grade in gradebook.grades(course, name):
        if course.folder("autograded", grade.student, name).is_dir():
            earned.setdefault(grade.student, {})[grade.notebook, grade.cell] = grade.score or 0.0
            decided |= {grade.student} if grade.score is not None else set()
    earned = {student: own for student, own in earned.items() if student in decided}
    late: dict[str, float] = {}
    for row in gradebook.deadlines(course, name):
        late[row.student] = late.get(row.student, 0.0) + (row.penalty or 0.0)
    totals = {student: max(0.0, sum(own.values()) - late.get(student, 0.0)) for student, own in earned.items()}
    solved = sum(own.get(place, 0.0) >= points for own in earned.values() for place, points in worth.items())
    every = len(earned) * len(worth) or 1
    page = f"{name}.html" if (course.class_folder / "report" / f"{name}.html").is_file() else ""
    return Assignment(name, solved / every, Spread(sum(worth.values()), tuple(totals.values())), totals, page)
