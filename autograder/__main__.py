"""The instructor's command line: `python -m autograder COMMAND`."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, NoReturn, cast

import typer

from autograder.exercises import NOTEBOOKS

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

SERVER_EXTENSIONS = ("assignment_list", "course_list", "formgrader", "validate_assignment")
USAGE_ERROR = cast(type[Any], typer.BadParameter.__base__)
"""What typer raises of a command line that it cannot read: click's class, or a copy of its own."""


@app.callback()
def main() -> None:
    """Build, prove and grade the course."""


@app.command()
def outputs(
    notebooks: Annotated[list[str] | None, typer.Argument(help="such as 00_shapes; all if none is named")] = None,
) -> None:
    """Re-execute source notebooks and store their outputs."""
    from autograder.authoring.outputs import store_outputs
    from autograder.folder import ROOT

    for name in map(_known, notebooks or NOTEBOOKS):
        with _in_a_sentence():
            store_outputs(ROOT / "source" / name / f"{name}.ipynb")
        typer.echo(f"{name}: outputs stored")


@app.command()
def release(
    notebooks: Annotated[
        list[str] | None, typer.Argument(help="such as 03_causal_mask or 03; all if none is named")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="change nothing; exit 1 if a file would change")] = False,
) -> None:
    """Make release/ and the answers that check compares with.

    First numbers, points, counts and cell ids are written into source/ and the pages, as the exercises declare them; where something
    that cannot be written still contradicts them, nothing is made.
    """
    from autograder.authoring.declared import undeclared
    from autograder.authoring.release import contradictions, make_release, newly_stale, state, take_away

    named: dict[str, Any] = {"notebooks": [*map(_meant, notebooks)]} if notebooks else {}
    if found := undeclared(**named):
        sys.exit("\n".join(found))
    if not check:
        for path in state(**named):
            typer.echo(f"{path}: states what the exercises declare")
    if found := contradictions(**named):
        sys.exit("\n".join(found))
    if not check:
        with _in_a_sentence():
            make_release(**named)
        for line in take_away():
            typer.echo(line)
        typer.echo(", ".join(["release: made", *named.get("notebooks", ())]))
        return
    with _in_a_sentence():
        changed = newly_stale(**named)
    for name in changed:
        typer.echo(f"{name} is not what source/ and autograder/exercises give: run `make release`", err=True)
    sys.exit(1 if changed else 0)


@app.command()
def kit(
    last: Annotated[str, typer.Argument(help="the last notebook in it, such as 03_causal_mask or 03")],
    folder: Annotated[Path, typer.Option(help="where the zip is written")] = Path("build/kit"),
) -> None:
    """Make the zip that students unpack and start: the notebooks up to one, and what they need.

    Give it out when the notebook before the last one is closed: what builds on a notebook holds its solutions.
    """
    from autograder.authoring.kit import make_kit

    meant = _meant(last)
    with _in_a_sentence():
        archive = make_kit(meant, folder)
    typer.echo(f"{archive}, {archive.stat().st_size / 1e6:.1f} MB: the notebooks up to {meant}")


@app.command()
def site(
    upto: Annotated[
        str, typer.Option(help="the last notebook in it, such as 03_causal_mask or 03; all, if not given")
    ] = NOTEBOOKS[-1],
    to: Annotated[Path, typer.Option(help="the folder that becomes the site")] = Path("build/site"),
) -> None:
    """Make a static site of the course: the notebooks up to one, with their pictures and without solutions, and the pages about it.

    Publish it when the notebook before the last one is closed: what builds on a notebook holds its solutions.
    """
    from autograder.authoring.site import make_site

    meant = _meant(upto)
    with _in_a_sentence():
        make_site(meant, to)
    typer.echo(f"{to / 'index.html'}: the notebooks up to {meant}")


@app.command()
def notebooks(
    folder: Annotated[Path, typer.Argument(help="where they are written")] = Path("build/notebooks"),
) -> None:
    """Write all notebooks as students get them, with the pages beside them; `make lab` opens copies of these."""
    from autograder.authoring.kit.notebooks import write_notebooks

    write_notebooks(NOTEBOOKS[-1], folder)


@app.command()
def solutions(
    notebook: Annotated[str, typer.Argument(help="such as 03_causal_mask or 03")],
    folder: Annotated[
        Path | None, typer.Option(help="where the copies are written; build/solutions, if not given")
    ] = None,
) -> None:
    """Make the worked copy of a notebook, as a notebook and as a page: answers, reasons, and what each known mistake gives.

    It holds every answer. Give it out when the notebook is closed for everybody, whoever is late included.
    """
    from autograder.authoring.solutions import FOLDER, make_solutions

    with _in_a_sentence():
        for path in make_solutions(_meant(notebook), folder or FOLDER):
            typer.echo(f"{path}, {path.stat().st_size / 1e6:.1f} MB")


@app.command()
def mutants(
    names: Annotated[
        list[str] | None, typer.Argument(help="exercises and notebooks, such as ffn or 05_block; all if none is named")
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="say which probe kills which mistake, and which case tells it from which other"),
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="how often hidden cases are drawn; 3 times, if not given")
    ] = None,
) -> None:
    """Prove that every known mistake loses marks and is named, and that right answers keep theirs.

    What was proved here before, and rests on nothing that has changed since, is taken from `.proofs`.
    """
    from autograder.authoring.mutants import SEEDS, Unknown, Unreleased, chosen, main

    try:
        sys.exit(main(chosen(names or ()), range(1, seeds + 1) if seeds else SEEDS, explain))
    except Unknown as error:
        raise typer.BadParameter(str(error)) from None
    except Unreleased as error:
        sys.exit(str(error))


@app.command()
def replay(
    notebooks: Annotated[list[str] | None, typer.Argument(help="such as 00_shapes; all if none is named")] = None,
) -> None:
    """Run source notebooks and compare what they show with what is stored (nbval).

    What was proved here before, and rests on nothing that has changed since, is left out.
    """
    from autograder.authoring.replay import replay

    sys.exit(replay([*map(_known, notebooks or NOTEBOOKS)]))


@app.command()
def new(
    notebook: Annotated[str, typer.Argument(help="such as 03_causal_mask or 03")],
    name: Annotated[str, typer.Argument(help="what the exercise is to be called, such as row_sums")],
) -> None:
    """Write the first draft of an exercise: its module, its name in the list, and its cells. It works, and waits to be changed."""
    from autograder.authoring.adding import add
    from autograder.folder import ROOT

    with _in_a_sentence():
        for path in add(_meant(notebook), name):
            typer.echo(path.relative_to(ROOT))
    typer.echo(f"Change what stands there, and try it: python -m autograder try {name}")


@app.command("try")
def try_(name: Annotated[str, typer.Argument(help="an exercise or a notebook, such as ffn or 05_block")]) -> None:
    """Make one exercise's notebook and prove it: its release, its outputs, its mutants, and the tests of what stands in it."""
    from autograder.authoring.mutants import Unknown
    from autograder.authoring.trying import attempt

    try:
        with _in_a_sentence():
            code = attempt(name)
    except Unknown as error:
        raise typer.BadParameter(str(error)) from None
    sys.exit(code)


@app.command(
    epilog="Examples: `grade 03_causal_mask`; `grade 03_causal_mask --student ada --student ben`; "
    "`grade 03_causal_mask --force --paper new --yes`; `grade hw1 --course ~/my-course --json > marks.json`"
)
def grade(
    assignment: Annotated[str, typer.Argument(help="such as 03_causal_mask, or any other that nbgrader released")],
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
        bool, typer.Option("--table", help="show everybody's row; unasked, where there are 40 at most")
    ] = False,
    course: Annotated[
        Path | None, typer.Option(help="a folder with nbgrader_config.py; this one, if not given")
    ] = None,
) -> None:
    """Grade an assignment's submissions in class/, write feedback and the class report.

    Every result is kept as soon as it is there: a run that was stopped, however rudely, goes on where it was, and work that is
    unchanged is not run again. Where scores that are in the gradebook would change, this shows who gains and who loses, and
    asks before it writes anything.

    Exit codes: 0 everybody is graded; 1 some could not be, and are named; 2 nothing to grade as things are; 3 scores
    would change, or there are no walls, and nobody said yes, so nothing was written; 4 another run is grading this
    course; 130 stopped.
    """
    from autograder.plugins.preloading import LIBRARY, begin

    if scheduler is None:
        begin(((course or LIBRARY.parent) / "source" / assignment).glob("*.ipynb"))
    _import_nbgrader()
    from autograder.folder import ROOT
    from autograder.grading.command import run

    options = (jobs, scheduler, force, yes, as_json, feedback, no_walls, _paper(paper), student or (), whole)
    sys.exit(run(course or ROOT, assignment, *options))


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


@app.command()
def extend(
    assignment: Annotated[str, typer.Argument(help="such as 03_causal_mask")],
    student: Annotated[str, typer.Argument(help="who may hand in later")],
    days: Annotated[float, typer.Option(help="after the due date; 0 takes back what was given")],
    course: Annotated[
        Path | None, typer.Option(help="a folder with nbgrader_config.py; this one, if not given")
    ] = None,
) -> None:
    """Give one student more time: lateness is counted from so many days after the due date."""
    from autograder.folder import ROOT, Course
    from autograder.grading.extending import extend as extended

    with _in_a_sentence():
        typer.echo(extended(Course(course or ROOT), assignment, student, days))


@app.command()
def explain(
    student: Annotated[str, typer.Argument(help="whose submission")],
    exercise: Annotated[str, typer.Argument(help="such as mask_scores")],
    course: Annotated[
        Path | None, typer.Option(help="a folder with nbgrader_config.py; this one, if not given")
    ] = None,
) -> None:
    """Run one exercise of a submission again on the hidden cases that it was marked on, and say how its points came about.

    For each property that was missed: the smallest case in which it fails, as a cell to paste, what came back, what was expected, and
    which known mistakes answer alike. Nothing is written. What is printed holds hidden cases: mind whom you show it.
    """
    from autograder.authoring.mutants import Unknown, chosen
    from autograder.exercises import exercise_called
    from autograder.folder import ROOT, Course
    from autograder.grading.explaining import explain as explained

    if (meant := exercise_called(exercise)) is None:
        try:
            chosen([exercise])
        except Unknown as error:
            raise typer.BadParameter(str(error)) from None
        raise typer.BadParameter(f"{exercise!r} is a notebook: name one of its exercises")
    with _in_a_sentence():
        typer.echo(explained(Course(course or ROOT), meant.notebook, student, exercise))


@app.command()
def report(
    assignment: Annotated[
        str | None, typer.Argument(help="such as 03_causal_mask; a report on the term, if not given")
    ] = None,
    anonymous: Annotated[bool, typer.Option("--anonymous", help="without names and ids, to show in a lecture")] = False,
    course: Annotated[
        Path | None, typer.Option(help="a folder with nbgrader_config.py; this one, if not given")
    ] = None,
) -> None:
    """Make the class report of what is graded, without grading: one page that needs nothing else.

    What went wrong in which exercise, which wrong answers that nobody has a name for are alike, who passed `check` and lost marks, who
    is an exception, and everybody's points.
    """
    from autograder.folder import ROOT, Course
    from autograder.grading.reporting import report as made

    with _in_a_sentence():
        typer.echo(made(Course(course or ROOT), assignment, anonymous))


@app.command()
def harvest(
    name: Annotated[str, typer.Argument(help="a graded notebook, or one of its exercises")],
    course: Annotated[
        Path | None, typer.Option(help="a folder with nbgrader_config.py; this one, if not given")
    ] = None,
) -> None:
    """Print wrong answers of a class that no known mistake gives, as a beginning for the catalogue: one stub for all that are alike.

    Name each, say in its docstring what the function did, and put it into the file that the line above it names.
    """
    from autograder.folder import ROOT, Course
    from autograder.grading.harvesting import harvest as harvested

    with _in_a_sentence():
        for stub in harvested(Course(course or ROOT), name):
            typer.echo(f"{stub}\n")


@app.command()
def likeness(
    assignment: Annotated[str, typer.Argument(help="such as 03_causal_mask, or any other that was graded")],
    course: Annotated[
        Path | None, typer.Option(help="a folder with nbgrader_config.py; this one, if not given")
    ] = None,
) -> None:
    """Write a page of answers that are alike beyond what a class shares anyway, whatever their names and layout. For you alone."""
    from autograder.folder import ROOT, Course
    from autograder.grading.likeness.page import make_page

    with _in_a_sentence():
        path, pairs = make_page(Course(course or ROOT), assignment)
    typer.echo(f"{path}: {pairs} {'pair' if pairs == 1 else 'pairs'}")


@app.command()
def export(
    assignment: Annotated[str, typer.Argument(help="such as 03_causal_mask")],
    template: Annotated[Path | None, typer.Argument(help="the file that the LMS exported; none for csv")] = None,
    to: Annotated[str, typer.Option(help="canvas, moodle, brightspace, or csv")] = "csv",
    column: Annotated[
        str | None, typer.Option(help="the title of the column of grades, if it is not the assignment's name")
    ] = None,
    feedback: Annotated[
        bool, typer.Option("--feedback", help="make a zip of feedback pages too, under the names that the LMS knows")
    ] = False,
    course: Annotated[
        Path | None, typer.Option(help="a folder with nbgrader_config.py; this one, if not given")
    ] = None,
) -> None:
    """Fill in the file of grades that a learning management system exported, in a copy beside it, to be imported there.

    Whoever cannot be found for certain, on either side, is named and left as they were; so is what would change.

    Exit codes: 0 every mark is in the file; 1 some are not, and are named; 2 nothing was written.
    """
    _import_nbgrader()
    from autograder.folder import ROOT, Course
    from autograder.lms.command import SYSTEMS, run_export

    if to not in SYSTEMS:
        raise typer.BadParameter(f"{to!r} is not known; there are {', '.join(SYSTEMS)}")
    _exit_with(lambda: run_export(Course(course or ROOT), assignment, to, template, column, feedback, typer.echo))


@app.command()
def collect(
    assignment: Annotated[str, typer.Argument(help="such as 03_causal_mask")],
    archive: Annotated[Path, typer.Argument(help="the zip of submissions, as Canvas or Moodle made it")],
    worksheet: Annotated[
        Path | None, typer.Option(help="Moodle's grading worksheet, where names do not say who is who")
    ] = None,
    course: Annotated[
        Path | None, typer.Option(help="a folder with nbgrader_config.py; this one, if not given")
    ] = None,
) -> None:
    """Put the submissions of a learning management system's zip where nbgrader expects them.

    Of several files of one student the newest is taken. Nothing that is there already is changed, and every file that is nobody's
    is named.

    Exit codes: 0 every file is placed; 1 some are not, and are named; 2 the zip was not unpacked.
    """
    _import_nbgrader()
    from autograder.folder import ROOT, Course
    from autograder.lms.command import run_collect

    _exit_with(lambda: run_collect(Course(course or ROOT), assignment, archive, worksheet, typer.echo))


@app.command()
def doctor(
    require: Annotated[str | None, typer.Option(help="`walls`: exit 1 unless both walls stand and hold")] = None,
) -> None:
    """Say what this machine can do, above all which walls it can put around submissions."""
    from autograder.engine import NoSuchWalls
    from autograder.engine.doctor import diagnose

    if require not in (None, "walls"):
        raise typer.BadParameter(f"{require!r} cannot be required; `walls` can")
    try:
        found = diagnose()
    except NoSuchWalls as error:
        sys.exit(str(error))
    for finding in found:
        typer.echo(f"{'ok' if finding.holds else 'NO':<3} {finding.what}: {finding.seen}")
        if not finding.holds and finding.remedy:
            typer.echo(f"      {finding.remedy}")
    sys.exit(1 if require and not all(finding.holds for finding in found if finding.wall) else 0)


@app.command()
def sample(
    notebook: Annotated[
        str | None, typer.Argument(help="of a large class, such as 03_causal_mask or 03, which it is if none is named")
    ] = None,
    students: Annotated[int | None, typer.Option(min=1, help="make a class of so many, and do not grade it")] = None,
) -> None:
    """Make a sample class of seven in build/sample and grade all of it; or a large one for one notebook, to rehearse an evening."""
    from autograder.authoring.crowd import make_crowd
    from autograder.authoring.sample import FOLDER
    from autograder.folder import ROOT
    from autograder.grading.command import grade_sample

    if students is None and notebook is not None:
        raise typer.BadParameter("the class of seven hands in all notebooks; say how many --students there are to be")
    with _in_a_sentence():
        if students is None:
            sys.exit(grade_sample())
        meant = _meant(notebook or "03")
        make_crowd(FOLDER, meant, students)
    folder = FOLDER.relative_to(ROOT).as_posix()
    typer.echo(f"{folder}: {students} students. Now: python -m autograder grade {meant} --course {folder}")


def _exit_with(work: Callable[[], int]) -> NoReturn:
    """End with the exit code of some work, and with a sentence where it could not be done."""
    from autograder.problems import Problem

    try:
        code = work()
    except Problem as problem:
        typer.echo(str(problem), err=True)
        code = problem.code
    sys.exit(code)


@contextmanager
def _in_a_sentence() -> Iterator[None]:
    """End with what is amiss and what to do, and without a traceback, where it is something that a user can bring about."""
    from nbclient.exceptions import CellExecutionError

    from autograder.engine import NoSuchWalls
    from autograder.folder import NbgraderFailed
    from autograder.problems import Problem

    try:
        yield
    except (NoSuchWalls, Problem) as error:
        sys.exit(str(error))
    except NbgraderFailed as error:
        sys.exit(f"nbgrader could not make the release; mend source/ where it says so:\n{error}")
    except CellExecutionError as error:
        sys.exit(f"A cell of the notebook raised, and its outputs were not stored; mend it in source/:\n{error}")


def _meant(notebook: str) -> str:
    """The notebook that goes by this name, or by its number."""
    for name in NOTEBOOKS:
        if notebook in (name, name.partition("_")[0]):
            return name
    near = get_close_matches(notebook, NOTEBOOKS, n=1)
    instead = f"did you mean {near[0]}?" if near else f"there are {', '.join(NOTEBOOKS)}"
    raise typer.BadParameter(f"there is no notebook {notebook!r}; {instead}")


def _known(notebook: str) -> str:
    if notebook not in NOTEBOOKS:
        raise typer.BadParameter(f"there is no notebook {notebook!r}; there are {', '.join(NOTEBOOKS)}")
    return notebook


def run(words: list[str]) -> None:
    """Do what a command line asks for, and exit.

    Where that has `--json`, there is an object also where a command does not begin, or breaks.
    """
    if "--json" not in words:
        app(words)
    try:
        code = app(words, standalone_mode=False) or 0
        error = "Stopped before anything was done." if code else ""
    except USAGE_ERROR as found:
        code, error = found.exit_code, found.format_message()
    except Exception as found:
        traceback.print_exc()
        code, error = 1, f"The grader has a fault: {type(found).__name__}: {found}. What was finished is kept."
    if error:
        typer.echo(error, err=True)
        typer.echo(json.dumps({"assignment": None, "error": error, "code": code}))
    sys.exit(code)


if __name__ == "__main__":
    run(sys.argv[1:])
