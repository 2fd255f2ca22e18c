"""`python -m autograder grade` and `sample`: grading, as the person or the script that asked for it sees it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from autograder.course import Course
from autograder.exercises import NOTEBOOKS
from autograder.grading.preview import Change
from autograder.grading.preview import table as preview
from autograder.grading.problems import FAILED, INTERRUPTED, UNCONFIRMED, Problem
from autograder.grading.run import Graded, grade
from autograder.report import FOR_A_PERSON, NOTHING, table
from autograder.sample import make_sample


def run(
    root: Path,
    assignment: str,
    jobs: int | None = None,
    scheduler: str | None = None,
    force: bool = False,
    yes: bool = False,
    as_json: bool = False,
    feedback: bool = True,
) -> int:
    """Grade an assignment of the course in the folder `root`, print, and return the exit code."""
    console = Console(width=None if sys.stdout.isatty() else 140, stderr=as_json)

    def confirm(changes: list[Change]) -> bool:
        console.print(preview(changes))
        return yes or (sys.stdin.isatty() and console.input("Write these? [y/N] ").strip().lower() in ("y", "yes"))

    try:
        graded = grade(
            Course(root),
            assignment,
            jobs=jobs,
            scheduler=scheduler,
            force=force,
            feedback=feedback,
            confirm=confirm,
            console=console,
        )
    except Problem as problem:
        console.print(str(problem), style="bold", markup=False)
        return problem.code
    except KeyboardInterrupt:
        console.print("Stopped. What was finished is kept: run the same command again to go on.", style="bold")
        return INTERRUPTED
    if as_json:
        print(json.dumps(as_tree(assignment, graded)))
    else:
        tell(console, assignment, graded)
    if not graded.written:
        console.print("Nothing was written. Say yes, or use --yes: what was marked is kept.", style="bold")
        return UNCONFIRMED
    return FAILED if graded.failed else 0


def grade_sample() -> int:
    """Make the sample class, grade all of it, and return the exit code."""
    course = make_sample()
    console = Console(width=None if sys.stdout.isatty() else 140)
    failed = False
    for notebook in NOTEBOOKS:
        graded = grade(course, notebook, console=console)
        tell(console, notebook, graded)
        failed |= bool(graded.failed)
    console.print(f"feedback: {course.root / course.directory.feedback_directory}", soft_wrap=True, markup=False)
    return FAILED if failed else 0


def tell(console: Console, assignment: str, graded: Graded) -> None:
    """Print what a run did: the table, then what was repaired, then who could not be graded, then where the report is."""
    console.print(table(assignment, graded.lines))
    waiting = sum(line.outcome == FOR_A_PERSON for line in graded.lines)
    if waiting:
        console.print(f"{waiting} to be graded by hand: formgrader lists them under Manual Grading", highlight=False)
    for student, notes in sorted(graded.notes.items()):
        for note in notes:
            console.print(f"{student}: {note}", markup=False, highlight=False)
    for student, reason in graded.failed.items():
        console.print(f"{student} could not be graded: {reason}", style="bold", markup=False)
    if graded.report:
        console.print(f"class report: {graded.report}", soft_wrap=True, markup=False, highlight=False)


def as_tree(assignment: str, graded: Graded) -> dict[str, Any]:
    """What `--json` prints.

    `assignment`; `written`, false where scores would change and nobody said yes; `report`, a path or null; `failed`, by student
    the reason; `changes`, a list of `student`, `notebook`, `exercise`, `old`, `new` (null: a person decides); and
    `students`, a list of `student`, `handed_in`, `seconds` (null: not marked by this run), `score`, `notes` and `exercises`, a
    list of `exercise`, `points`, `score` (null: nobody has decided), `outcome`, `mistakes`, `needs_manual`.
    """
    students = []
    for student in dict.fromkeys(line.student for line in graded.lines):
        own = [line for line in graded.lines if line.student == student]
        exercises = [
            {
                "exercise": line.exercise,
                "points": line.points,
                "score": line.score,
                "outcome": line.outcome,
                "mistakes": list(line.mistakes),
                "needs_manual": line.by_hand,
            }
            for line in own
        ]
        students.append(
            {
                "student": student,
                "handed_in": any(line.outcome != NOTHING for line in own),
                "seconds": graded.marked.get(student),
                "score": sum(line.score or 0.0 for line in own),
                "notes": graded.notes.get(student, []),
                "exercises": exercises,
            }
        )
    return {
        "assignment": assignment,
        "written": graded.written,
        "report": str(graded.report) if graded.report else None,
        "failed": graded.failed,
        "changes": [vars(change) for change in graded.changes],
        "students": students,
    }
