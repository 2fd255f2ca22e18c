"""Grade an assignment with nbgrader, student by student, and report on the class."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.progress import track

from autograder.course import Course, NbgraderFailed
from autograder.report import html, lines, table


def grade(course: Course, assignment: str, force: bool = False) -> tuple[Path, list[str]]:
    """Autograde every submission of an assignment, write feedback and the class report, print the table.

    One submission that nbgrader cannot grade is named at the end and stops no other.

    Args:
        course: where the submissions are.
        assignment: the name of a notebook, "03_causal_mask".
        force: grade again what has been graded.

    Returns:
        The report's path, and the students who could not be graded.
    """
    console = Console(width=None if sys.stdout.isatty() else 140)
    failed: dict[str, str] = {}
    for student in track(course.submitters(assignment), description=f"Grading {assignment}", console=console):
        try:
            course.autograde(assignment, student, force)
            course.generate_feedback(assignment, student)
        except NbgraderFailed as error:
            failed[student] = str(error)
    found = lines(course, assignment)
    console.print(table(assignment, found))
    for student, reason in failed.items():
        console.print(f"{student} could not be graded:\n{reason}", style="bold", markup=False)
    report = course.root / "class" / "report" / f"{assignment}.html"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(html(assignment, found))
    return report, list(failed)
