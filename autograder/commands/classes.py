"""Commands for whoever grades a class, in any course of nbgrader's."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.app import CourseOption, app, exit_with, in_a_sentence, say
from autograder.problems import Problem
from autograder.settings import CONFIG, assignment_meant, course_folder, settings_in, structure_in

if TYPE_CHECKING:
    from autograder.folder import Course

SERVER_EXTENSIONS = ("assignment_list", "course_list", "formgrader", "validate_assignment")


@app.command(
    epilog="Examples: `grade 03_causal_mask`; `grade 03_causal_mask --student ada --student ben`; "
    "`grade 03_causal_mask --force --paper new --yes`; `grade hw1 --course ~/my-course --json > marks.json`"
)
def grade(
    assignment: Annotated[
        str, typer.Argument(help="such as 03_causal_mask or 03, or any other that nbgrader released")
    ],
    jobs: Annotated[int | None, typer.Option(min=1, help="processes; as many as there are cores, if not given")] = None,
    scheduler: Annotated[str | None, typer.Option(help="a Dask scheduler's address: its workers mark instead")] = None,
    force: Annotated[bool, typer.Option("--force", help="mark again what has been marked")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="write without asking, also where scores change")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object and nothing else")] = False,
    feedback: Annotated[bool, typer.Option(help="write feedback pages")] = True,
    no_walls: Annotated[bool, typer.Option("--no-walls", help="run submissions without walls, unasked")] = False,
    paper: Annotated[
        str | None, typer.Option(help="mark everybody on this paper, by the number that a run told, or on a `new` one")
    ] = None,
    student: Annotated[
        list[str] | None, typer.Option(help="grade this one alone; may stand several times; everybody, if not given")
    ] = None,
    whole: Annotated[
        bool, typer.Option("--table", help="show everybody's row; unasked, where there are fewer than 20")
    ] = False,
    wide: Annotated[
        bool, typer.Option("--wide", help="show every column of that table, however narrow the terminal is")
    ] = False,
    course: CourseOption = None,
) -> None:
    """Grade an assignment's submissions, write feedback and the class report.

    Every result is kept as soon as it is there: a run that was stopped, however rudely, goes on where it was, and work that is
    unchanged is not run again. Where scores that are in the gradebook would change, this shows who gains and who loses, and
    asks before it writes anything.

    Exit codes: 0 everybody is graded; 1 some could not be, and are named; 2 nothing to grade as things are; 3 scores
    would change, or there are no walls, and nobody said yes, so nothing was written; 4 another run is grading this
    course; 130 stopped.
    """
    if scheduler is None:
        with suppress(Problem, ImportError):  # it is told below
            _begin(course_folder(course), assignment)
    _import_nbgrader()
    from autograder.grading.command import run

    options = (jobs, scheduler, force, yes, as_json, feedback, no_walls, _paper(paper), student or (), whole, wide)
    sys.exit(run(course, assignment, *options))


@app.command()
def due(
    assignment: Annotated[str, typer.Argument(help="such as 03_causal_mask or 03")],
    when: Annotated[str, typer.Argument(help='such as "2026-01-31 23:59:00 +0100"; in UTC where no zone stands there')],
    course: CourseOption = None,
) -> None:
    """Set an assignment's due date, and say in UTC which time that is."""
    from autograder.grading.extending import set_due

    with in_a_sentence():
        say(set_due(*_meant(course, assignment), when))


@app.command()
def extend(
    assignment: Annotated[str, typer.Argument(help="such as 03_causal_mask or 03")],
    student: Annotated[str, typer.Argument(help="who may hand in later")],
    days: Annotated[
        float | None, typer.Option(help="of 24 hours, after the due date; 0 takes back what was given")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help='or up to when, such as "2026-02-02 23:59:00 +0100", read as `due` reads it')
    ] = None,
    course: CourseOption = None,
) -> None:
    """Give one student more time: lateness is counted from so many days of 24 hours after the due date, or from a time.

    Where clocks change in between, a day of 24 hours ends an hour earlier or later by the clock: give the time with --until.
    """
    from autograder.grading.extending import extend as extended

    with in_a_sentence():
        say(extended(*_meant(course, assignment), student, days, until))


@app.command()
def requests(
    assignment: Annotated[
        str | None, typer.Argument(help="such as 03_causal_mask or 03; of all assignments, if not given")
    ] = None,
    course: CourseOption = None,
) -> None:
    """List regrade requests, those that nobody has decided first: who asks, what for, in which words, and why the points are as they are.

    They stand in requests.txt beside the submissions, one a line: STUDENT, ASSIGNMENT, EXERCISE: what the student says. A line
    below one decides it, `yes: REASON` or `no: REASON`. What names nobody or nothing is listed with its line.
    """
    _import_nbgrader()
    from autograder.folder import Course
    from autograder.grading.requests import listed

    with in_a_sentence():
        meant = (Course(course_folder(course)), None) if assignment is None else _meant(course, assignment)
        for paragraph in listed(*meant):
            say(f"{paragraph}\n")


@app.command()
def decide(
    student: Annotated[str, typer.Argument(help="who has asked")],
    exercise: Annotated[str, typer.Argument(help="what for, as `requests` lists it; or ASSIGNMENT/EXERCISE")],
    decision: Annotated[str, typer.Argument(help="yes or no")],
    reason: Annotated[str, typer.Argument(help="why, in words that the student reads")],
    course: CourseOption = None,
) -> None:
    """Write a decision on a regrade request into requests.txt. It stands on the student's next feedback page, with the reason."""
    if decision not in ("yes", "no"):
        raise typer.BadParameter(f"{decision!r} decides nothing: say yes or no")
    _import_nbgrader()
    from autograder.folder import Course
    from autograder.grading.requests import decide as decided

    with in_a_sentence():
        say(decided(Course(course_folder(course)), student, exercise, decision, reason))


@app.command()
def report(
    assignment: Annotated[
        str | None, typer.Argument(help="such as 03_causal_mask or 03; a report on the term, if not given")
    ] = None,
    anonymous: Annotated[bool, typer.Option("--anonymous", help="without names and ids, to show in a lecture")] = False,
    course: CourseOption = None,
) -> None:
    """Make the class report of what is graded, without grading: one page that needs nothing else.

    What went wrong in which exercise, which wrong answers that nobody has a name for are alike, who passed `check` and lost marks, who
    is an exception, and everybody's points.
    """
    from autograder.folder import Course
    from autograder.grading.reporting import report as made

    with in_a_sentence():
        if assignment is None:
            say(made(Course(course_folder(course)), None, anonymous))
        else:
            say(made(*_meant(course, assignment), anonymous))


@app.command()
def likeness(
    assignment: Annotated[str, typer.Argument(help="such as 03_causal_mask or 03, or any other that was graded")],
    course: CourseOption = None,
) -> None:
    """Write a page of answers that are alike beyond what a class shares anyway, whatever their names and layout. For you alone."""
    from autograder.grading.likeness.page import make_page

    with in_a_sentence():
        path, pairs = make_page(*_meant(course, assignment))
    say(f"{path}: {pairs} {'pair' if pairs == 1 else 'pairs'}")


@app.command()
def export(
    assignment: Annotated[str, typer.Argument(help="such as 03_causal_mask or 03")],
    template: Annotated[Path | None, typer.Argument(help="the file that the LMS exported; none for csv")] = None,
    to: Annotated[str, typer.Option(help="canvas, moodle, brightspace, or csv")] = "csv",
    column: Annotated[
        str | None, typer.Option(help="the title of the column of grades, if it is not the assignment's name")
    ] = None,
    feedback: Annotated[
        bool, typer.Option("--feedback", help="make a zip of feedback pages too, under the names that the LMS knows")
    ] = False,
    course: CourseOption = None,
) -> None:
    """Fill in the file of grades that a learning management system exported, in a copy beside it, to be imported there.

    Whoever cannot be found for certain, on either side, is named and left as they were; so is what would change.

    Exit codes: 0 every mark is in the file; 1 some are not, and are named; 2 nothing was written.
    """
    _import_nbgrader()
    from autograder.lms.command import SYSTEMS, run_export

    if to not in SYSTEMS:
        raise typer.BadParameter(f"{to!r} is not known; there are {', '.join(SYSTEMS)}")
    exit_with(lambda: run_export(*_meant(course, assignment), to, template, column, feedback, say))


@app.command()
def collect(
    assignment: Annotated[str, typer.Argument(help="such as 03_causal_mask or 03")],
    archive: Annotated[Path, typer.Argument(help="the zip of submissions, as Canvas or Moodle made it")],
    worksheet: Annotated[
        Path | None, typer.Option(help="Moodle's grading worksheet, where names do not say who is who")
    ] = None,
    newer: Annotated[
        bool, typer.Option("--newer", help="take what is newer than what is there, which goes to class/replaced/")
    ] = False,
    student: Annotated[
        list[str] | None,
        typer.Option(help="take this one's alone, also in place of what is there; may stand several times"),
    ] = None,
    course: CourseOption = None,
) -> None:
    """Put the submissions of a learning management system's zip where nbgrader expects them.

    Of several files of one student the newest is taken. What is there already stays, unless --newer or --student asks for another;
    then it goes to class/replaced/, where nothing is graded. Every file that is nobody's is named.

    Exit codes: 0 every file is placed; 1 some are not, and are named; 2 the zip was not unpacked.
    """
    _import_nbgrader()
    from autograder.lms.command import run_collect

    exit_with(lambda: run_collect(*_meant(course, assignment), archive, worksheet, newer, student or (), say))


@app.command()
def roster(
    file: Annotated[
        Path, typer.Argument(help="a CSV file: your own, or one that Canvas, Moodle or Brightspace exported")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="write without asking")] = False,
    course: CourseOption = None,
) -> None:
    """Enter who is in the class into the gradebook: ids, names, e-mail addresses, and the numbers that the LMS knows them by.

    It shows what would change, and asks before it writes. Nobody is removed. A field that the file lacks stays as it is.

    Exit codes: 0 everybody in the file is in the gradebook; 1 some lines cannot be used, and are named; 2 the file cannot be;
    3 nobody said yes, so nothing was written.
    """
    _import_nbgrader()
    from autograder.folder import Course
    from autograder.lms.command import run_roster

    def agrees() -> bool:
        return yes or (sys.stdin.isatty() and typer.confirm("Write these?"))

    exit_with(lambda: run_roster(Course(course_folder(course)), file, agrees, say))


@app.command()
def doctor(
    require: Annotated[str | None, typer.Option(help="`walls`: exit 1 unless both walls stand and hold")] = None,
    course: CourseOption = None,
) -> None:
    """Say what this machine can do, above all which walls it can put around submissions, and what a course's will get."""
    from autograder.engine.doctor import diagnose

    if require not in (None, "walls"):
        raise typer.BadParameter(f"{require!r} cannot be required; `walls` can")
    _import_nbgrader()
    with in_a_sentence():
        found = diagnose()
        expected = _expected(course)
    for finding in found:
        say(f"{'ok' if finding.holds else 'NO':<3} {finding.what}: {finding.seen}")
        if not finding.holds and finding.remedy:
            say(f"      {finding.remedy}")
    for what, seen in expected:
        say(f"    {what}: {seen}")
    sys.exit(1 if require and not all(finding.holds for finding in found if finding.wall) else 0)


def _expected(course: Path | None) -> list[tuple[str, str]]:
    """What the submissions of a course will get; nothing where none is named and one stands in none.

    Raises:
        Problem: there is no course where one was named, or its settings cannot be used.
    """
    from traitlets import TraitError

    from autograder.plugins.expecting import expectations

    try:
        root = course_folder(course).resolve()
    except Problem:
        if course:
            raise
        return []
    settings = settings_in(root)
    try:
        return [("course", str(root)), *expectations(settings, structure_in(settings))]
    except (ImportError, TraitError) as error:
        raise Problem(f"{root / CONFIG} has a setting that cannot be used; mend it: {error}") from None


def _meant(course: Path | None, assignment: str) -> tuple[Course, str]:
    """The course in a folder, and the assignment in it that a name or a number stands for."""
    from autograder.folder import Course

    found = Course(course_folder(course))
    return found, found.meant(assignment)


def _begin(root: Path, assignment: str) -> None:
    """Start what is going to run submissions, while this process is still busy with imports of its own."""
    from traitlets import TraitError

    from autograder.plugins.preloading import begin
    from autograder.plugins.sandbox import Sandbox
    from autograder.plugins.structure import NOBODY

    settings = settings_in(root)
    structure = structure_in(settings)
    meant = assignment_meant(structure, assignment)
    alone = len(structure.find("submitted", meant)) == 1
    with suppress(TraitError, ValueError):  # a setting that cannot be used; it is told below, too
        begin(structure.folder("source", NOBODY, meant), Sandbox(config=settings), alone)


def _import_nbgrader() -> None:
    """Import nbgrader without what it imports for Jupyter's server alone, which takes as long as a submission or three."""
    parts = [f"nbgrader.server_extensions.{name}" for name in SERVER_EXTENSIONS]
    for part in parts:
        sys.modules[part] = ModuleType(part)
        vars(sys.modules[part])["load_jupyter_server_extension"] = None
    import_module("nbgrader")
    for part in parts:
        del sys.modules[part]


def _paper(given: str | None) -> int | None:
    from autograder.plugins.papers import new_paper

    if given == "new":
        return new_paper()
    if given is not None and not (given.isdecimal() and given.isascii() and int(given) < 2**53):
        raise typer.BadParameter(f"{given!r} is no paper: give the number that a run told, or `new`")
    return None if given is None else int(given)
