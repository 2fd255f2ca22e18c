"""`python -m autograder report`: pages about what is graded, without grading."""

from __future__ import annotations

from pathlib import Path

from autograder.folder import Course
from autograder.grading.report.gathering import gather
from autograder.grading.report.page import html, term_html
from autograder.grading.report.term import gather_term
from autograder.grading.store import write_atomically
from autograder.problems import Problem

TERM = "term"


def report(course: Course, assignment: str | None, anonymous: bool = False) -> Path:
    """Write the report on an assignment, or on the term, and say where it is.

    Raises:
        Problem: nothing is graded, or there is no such assignment.
    """
    if assignment is None:
        return _written(course, TERM, term_html(gather_term(course), anonymous), anonymous)
    gathered = gather(course, assignment)
    if not gathered.handed_in:
        raise Problem(f"Nobody handed in {assignment}.")
    if not any(course.folder("autograded", student, assignment).is_dir() for student in gathered.handed_in):
        raise Problem(f"Nothing of {assignment} is graded yet: run `python -m autograder grade {assignment}` first.")
    return _written(course, assignment, html(gathered, anonymous), anonymous)


def _written(course: Course, name: str, page: str, anonymous: bool) -> Path:
    path = course.class_folder / "report" / f"{name}{'-anonymous' if anonymous else ''}.html"
    write_atomically(path, page)
    return path
