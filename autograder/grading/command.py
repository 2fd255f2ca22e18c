"""`python -m autograder grade` and `sample`: grading, as the person or the script that asked for it sees it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from autograder.engine import best_walls
from autograder.folder import Course
from autograder.grading.diary import FILE_WIDTH, logged
from autograder.grading.lateness import Late
from autograder.grading.preview import Change
from autograder.grading.preview import table as preview
from autograder.grading.report.lines import (
    FOR_A_PERSON,
    GONE_FROM_COPY,
    LOOK_AGAIN,
    NOTHING,
    by_student,
    sentences,
    total,
)
from autograder.grading.run import Graded, grade
from autograder.grading.table import summary, table
from autograder.plugins.saving import of_tests
from autograder.plugins.starting import NO_WALLS, named
from autograder.problems import FAILED, INTERRUPTED, UNCONFIRMED, Problem
from autograder.settings import course_folder

LARGEST_TABLE = 19
"""Students of whom the table is shown unasked."""
WIDEST = 10_000


def run(
    root: Path | None,
    assignment: str,
    jobs: int | None = None,
    scheduler: str | None = None,
    force: bool = False,
    yes: bool = False,
    as_json: bool = False,
    feedback: bool = True,
    no_walls: bool = False,
    paper: int | None = None,
    students: Collection[str] = (),
    whole: bool = False,
    wide: bool = False,
) -> int:
    """Grade an assignment of the course in the folder `root`, or the one that one stands in, print, keep a log, and return the exit code.

    Args:
        students: who is graded, and of whom it is told; everybody, if empty.
        whole: show the table of students however many they are.
        wide: show all its columns, however narrow the terminal is.
    """
    console = Console(width=None if sys.stdout.isatty() else FILE_WIDTH, stderr=as_json)

    def stopped(message: str, code: int) -> int:
        console.print(message, style="bold", markup=False)
        if as_json:
            print(json.dumps({"assignment": assignment, "error": message, "code": code}))
        return code

    try:
        course = Course(course_folder(root))
    except Problem as problem:
        return stopped(str(problem), problem.code)
    assignment = course.meant(assignment)
    with logged(course, assignment) as log:
        log.print(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC, {' '.join(sys.argv[1:])}", markup=False, highlight=False)

        def confirm(changes: list[Change]) -> bool:
            console.print(preview(changes))
            log.print(preview(changes))
            if assignment in course.judge.notebooks:
                unchanged = "What is unchanged was marked on its old paper."
                console.print(unchanged if paper is None else f"Marked on paper {paper}.", highlight=False)
            return yes or (sys.stdin.isatty() and _agrees(console, "Write these?"))

        def unwalled() -> bool:
            console.print(NO_WALLS, style="bold", markup=False)
            return no_walls or not sys.stdin.isatty() or _agrees(console, "Run them all the same?")

        try:
            graded = grade(
                course,
                assignment,
                jobs=jobs,
                scheduler=scheduler,
                force=force,
                feedback=feedback,
                paper=paper,
                students=students,
                confirm=confirm,
                unwalled=unwalled,
                console=console,
            )
        except Problem as problem:
            log.print(problem, markup=False)
            return stopped(str(problem), problem.code)
        except KeyboardInterrupt:
            log.print("stopped")
            return stopped("Stopped. What was finished is kept: run the same command again to go on.", INTERRUPTED)
        code = UNCONFIRMED if not graded.written else FAILED if graded.failed else 0
        error = "" if graded.written else "Nothing was written. Say yes, or use --yes: what was marked is kept."
        tell(log, assignment, graded, whole=True, tracebacks=True)
        log.print(error or f"exit code {code}", highlight=False)
    if as_json:
        print(json.dumps(as_tree(assignment, graded, students) | {"error": error or None, "code": code}))
    else:
        tell(console, assignment, graded, students, whole, wide=wide)
    if error:
        console.print(error, style="bold")
    return code


def _agrees(console: Console, question: str) -> bool:
    """Whether the person at the terminal says yes; no is what an end of input says."""
    try:
        return console.input(f"{question} [y/N] ", markup=False).strip().lower() in ("y", "yes")
    except EOFError:
        return False


def grade_all(course: Course, assignments: Iterable[str], waiting: Collection[str] = ()) -> int:
    """Grade several assignments of a course, print what came of each, and return the exit code.

    Args:
        waiting: students whose work nobody expects to be graded by itself.
    """
    console = Console(width=None if sys.stdout.isatty() else FILE_WIDTH)
    failed = False
    if best_walls() == "none":
        console.print(NO_WALLS, style="bold", markup=False)
    for assignment in assignments:
        graded = grade(course, assignment, console=console)
        tell(console, assignment, graded)
        failed |= bool(graded.failed.keys() - set(waiting))
    console.print(f"feedback: {course.root / course.directory.feedback_directory}", soft_wrap=True, markup=False)
    return FAILED if failed else 0


def tell(
    console: Console,
    assignment: str,
    graded: Graded,
    students: Collection[str] = (),
    whole: bool = False,
    tracebacks: bool = False,
    wide: bool = False,
) -> None:
    """Print what a run did: the table, then what was repaired, then who could not be graded, then where the report is.

    Where nothing was written, there is no table: what it would show has been shown, as changes.

    Args:
        students: whose rows the table has; everybody's, if empty.
        whole: show it however many they are; else what it comes to.
        tracebacks: print these too, and every name.
        wide: show all its columns.
    """
    lines = [line for line in graded.lines if not students or line.student in students]
    if graded.written and (whole or wide or len(by_student(lines)) <= LARGEST_TABLE):
        shown = table(console, assignment, lines, graded.late, wide)
        (Console(file=console.file, width=WIDEST) if wide else console).print(shown)
    elif graded.written:
        console.print(summary(assignment, lines, graded.late))
        console.print("Everybody's row: --table, or the class report.", highlight=False)
    for outcome, why in ((FOR_A_PERSON, ""), (LOOK_AGAIN, " (run again since somebody marked it)")):
        waiting = Counter(
            line.student for line in graded.lines if line.outcome == outcome and line.state != GONE_FROM_COPY
        )
        if waiting:
            still = "" if graded.written else "In the gradebook as it still is, "
            cells = f"{still}{_counted(waiting.total(), 'cell')} of {_counted(len(waiting), 'student')}"
            console.print(f"{cells} {outcome}{why}: formgrader lists them under Manual Grading", highlight=False)
    if graded.requests:
        are = "request waits" if graded.requests == 1 else "requests wait"
        console.print(
            f"{graded.requests} regrade {are} for a decision: `python -m autograder requests`", highlight=False
        )
    for trouble in graded.unread:
        console.print(trouble, markup=False, highlight=False)
    said = [(who, note) for who, notes in graded.notes.items() for note in (notes if tracebacks else sentences(notes))]
    for note in of_tests(note for _, note in said):
        console.print(note, markup=False, highlight=False)
    noted = [(who, note) for who, note in said if not of_tests([note])]
    for note, whose in _alike(noted, tracebacks):
        console.print(f"{whose}: {note}", markup=False, highlight=False)
    for reason, whose in _alike(graded.failed.items(), tracebacks):
        console.print(f"{whose} could not be graded: {reason}", style="bold", markup=False)
    for number, students_on_it in Counter(filter(None, graded.papers.values())).most_common():
        console.print(f"{students_on_it} marked on paper {number}", markup=False, highlight=False)
    if graded.report:
        console.print(f"class report: {graded.report}", soft_wrap=True, markup=False, highlight=False)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _alike(said: Iterable[tuple[str, str]], everybody: bool) -> Iterator[tuple[str, str]]:
    """What is said of students, each thing once, with those of whom it is said, or as many of them as one still reads."""
    alike: dict[str, list[str]] = {}
    for student, text in sorted(said, key=lambda one: one[0]):
        alike.setdefault(text, []).append(student)
    for text, students in alike.items():
        whose = ", ".join(students) if everybody else named(students)
        yield text, f"{whose}{f' ({len(students)} students)' if len(students) > 1 else ''}"


def as_tree(assignment: str, graded: Graded, students: Collection[str] = ()) -> dict[str, Any]:
    """What `--json` prints, but for `error`, a sentence or null, and `code`, which is the exit code.

    Where nothing was graded, there are only `assignment` (null where the command line could not be read, or grading broke),
    `error` and `code`. Else:

    - `assignment`;
    - `written`: false where scores would change and nobody said yes;
    - `report`: a path or null;
    - `failed`: by student the reason;
    - `requests`: how many regrade requests nobody has decided;
    - `changes`: a list of `student`, `notebook`, `exercise` (or "late penalty", whose scores are negative), `old`, `new` (null: a
      person decides);
    - `students`: a list of `student`, `name`, `handed_in`, `timestamp` (UTC, or null), `seconds_late`, `late_penalty`, `seconds`
      (null: not marked by this run), `paper` (null: an assignment that is not this course's, or nothing handed in), `raw_score`, `score` (after the penalty; both null
      where nothing of what was handed in is decided), `max_score`, `notes` and `exercises`;
    - `exercises`, of a student: a list of `exercise`, `points`, `score` (null: nobody has decided), `extra_credit`, `outcome`,
      `mistakes`, `not_recognised` (wrong, and in no way that is known), `missed` (the properties), `needs_manual`.

    Args:
        students: who stands there; everybody, if empty.
    """
    told = []
    lines = by_student(graded.lines)
    for student in students or lines:
        own = lines.get(student, [])
        is_open = own and total(own, Late()) is None
        late = graded.late.get(student, Late())
        exercises = [
            {
                "exercise": line.exercise,
                "points": line.points,
                "score": line.score,
                "extra_credit": line.extra,
                "outcome": line.outcome,
                "mistakes": list(line.mistakes),
                "not_recognised": line.unrecognised,
                "missed": list(line.missed),
                "needs_manual": line.by_hand,
            }
            for line in own
        ]
        told.append(
            {
                "student": student,
                "name": graded.names.get(student, ""),
                "handed_in": any(line.outcome != NOTHING for line in own),
                "timestamp": late.timestamp.isoformat() if late.timestamp else None,
                "seconds_late": late.seconds,
                "late_penalty": late.penalty,
                "seconds": graded.marked.get(student),
                "paper": graded.papers.get(student) or None,
                "raw_score": None if is_open else sum(line.score or 0.0 for line in own),
                "score": total(own, late),
                "max_score": sum(line.points for line in own),
                "notes": graded.notes.get(student, []),
                "exercises": exercises,
            }
        )
    return {
        "assignment": assignment,
        "written": graded.written,
        "report": str(graded.report) if graded.report else None,
        "failed": graded.failed,
        "requests": graded.requests,
        "changes": [vars(change) for change in graded.changes],
        "students": told,
    }
