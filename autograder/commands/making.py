"""Commands for this course: to make and prove it, and to ask what its judge knows."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from autograder.commands.app import CourseOption, app, in_a_sentence, say
from autograder.exercises import NOTEBOOKS, notebook_called
from autograder.settings import course_folder


@app.command()
def outputs(
    notebooks: Annotated[list[str] | None, typer.Argument(help="such as 00_shapes; all if none is named")] = None,
) -> None:
    """Re-execute source notebooks and store their outputs."""
    from autograder.authoring.outputs import store_outputs
    from autograder.settings import ROOT

    for name in map(_known, notebooks or NOTEBOOKS):
        with in_a_sentence():
            store_outputs(ROOT / "source" / name / f"{name}.ipynb")
        say(f"{name}: outputs stored")


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
    from autograder.authoring.release import (
        contradictions,
        graded_otherwise,
        make_release,
        newly_stale,
        state,
        take_away,
    )

    named: dict[str, Any] = {"notebooks": [*map(_meant, notebooks)]} if notebooks else {}
    if found := undeclared(**named):
        sys.exit("\n".join(found))
    if not check:
        with in_a_sentence():
            closed = graded_otherwise(**named)
        if closed:
            sys.exit("\n".join(closed))
        for path in state(**named):
            say(f"{path}: states what the exercises declare")
    if found := contradictions(**named):
        sys.exit("\n".join(found))
    if not check:
        with in_a_sentence():
            make_release(**named)
        for line in take_away():
            say(line)
        say(", ".join(["release: made", *named.get("notebooks", ())]))
        return
    with in_a_sentence():
        changed = newly_stale(**named)
    for name in changed:
        say(f"{name} is not what source/ and autograder/exercises give: run `make release`", err=True)
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
    with in_a_sentence():
        archive = make_kit(meant, folder)
    say(f"{archive}, {archive.stat().st_size / 1e6:.1f} MB: the notebooks up to {meant}")


@app.command()
def site(
    upto: Annotated[
        str, typer.Option(help="the last notebook in it, such as 03_causal_mask or 03; all, if not given")
    ] = NOTEBOOKS[-1],
    to: Annotated[Path, typer.Option(help="the folder that becomes the site")] = Path("build/site"),
    students: Annotated[
        bool, typer.Option("--students", help="leave out the pages on giving the course and on working on it")
    ] = False,
) -> None:
    """Make a static site of the course: the notebooks up to one, with their pictures and without solutions, and the pages about it.

    Publish it when the notebook before the last one is closed: what builds on a notebook holds its solutions.
    """
    from autograder.authoring.site import make_site

    meant = _meant(upto)
    with in_a_sentence():
        make_site(meant, to, students)
    say(f"{to / 'index.html'}: the notebooks up to {meant}")


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

    with in_a_sentence():
        for path in make_solutions(_meant(notebook), folder or FOLDER):
            say(f"{path}, {path.stat().st_size / 1e6:.1f} MB")


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
    digits: Annotated[
        bool, typer.Option("--digits", help="only right answers, and the mistakes of which last digits decide")
    ] = False,
) -> None:
    """Prove that every known mistake loses marks and is named, and that right answers keep theirs.

    What was proved here before, and rests on nothing that has changed since, is taken from `.proofs`.
    """
    from autograder.authoring.mutants import SEEDS, Unknown, Unreleased, chosen, main

    try:
        sys.exit(main(chosen(names or ()), range(1, seeds + 1) if seeds else SEEDS, explain, digits))
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
    from autograder.settings import ROOT

    with in_a_sentence():
        for path in add(_meant(notebook), name):
            say(path.relative_to(ROOT))
    say(f"Change what stands there, and try it: python -m autograder try {name}")


@app.command("try")
def try_(name: Annotated[str, typer.Argument(help="an exercise or a notebook, such as ffn or 05_block")]) -> None:
    """Make one exercise's notebook and prove it: its release, its outputs, its mutants, and the tests of what stands in it."""
    from autograder.authoring.mutants import Unknown
    from autograder.authoring.trying import attempt

    try:
        with in_a_sentence():
            code = attempt(name)
    except Unknown as error:
        raise typer.BadParameter(str(error)) from None
    sys.exit(code)


@app.command()
def explain(
    student: Annotated[str, typer.Argument(help="whose submission")],
    exercise: Annotated[str, typer.Argument(help="such as mask_scores")],
    course: CourseOption = None,
) -> None:
    """Run one exercise of a submission again on the hidden cases that it was marked on, and say how its points came about.

    For each property that was missed: the smallest case in which it fails, as a cell to paste, what came back, what was expected, and
    which known mistakes answer alike. Nothing is written. What is printed holds hidden cases: mind whom you show it.
    """
    from autograder.authoring.mutants import Unknown, chosen
    from autograder.exercises import exercise_called
    from autograder.folder import Course
    from autograder.grading.explaining import explain as explained

    if (meant := exercise_called(exercise)) is None:
        try:
            chosen([exercise])
        except Unknown as error:
            raise typer.BadParameter(str(error)) from None
        raise typer.BadParameter(f"{exercise!r} is a notebook: name one of its exercises")
    with in_a_sentence():
        say(explained(Course(course_folder(course)), meant.notebook, student, exercise))


@app.command()
def harvest(
    name: Annotated[str, typer.Argument(help="a graded notebook, or one of its exercises")],
    course: CourseOption = None,
) -> None:
    """Print wrong answers of a class that no known mistake gives, as a beginning for the catalogue: one stub for all that are alike.

    Name each, say in its docstring what the function did, and put it into the file that the line above it names.
    """
    from autograder.exercises import declared, meant
    from autograder.folder import Course
    from autograder.grading.harvesting import harvest as harvested

    if (found := meant(name)) is None:
        raise typer.BadParameter(f"{name!r} is neither a notebook of this course nor one of its exercises")
    with in_a_sentence():
        for stub in harvested(Course(course_folder(course)), *found, declared):
            say(f"{stub}\n")


@app.command()
def sample(
    notebook: Annotated[
        str | None, typer.Argument(help="of a large class, such as 03_causal_mask or 03, which it is if none is named")
    ] = None,
    students: Annotated[int | None, typer.Option(min=1, help="make a class of so many, and do not grade it")] = None,
) -> None:
    """Make a sample class of eight in build/sample and grade all of it; or a large one for one notebook, to rehearse an evening."""
    from autograder.authoring.crowd import make_crowd
    from autograder.authoring.sample import FOLDER, NO_NOTEBOOK, make_sample
    from autograder.grading.command import grade_all
    from autograder.settings import ROOT

    if students is None and notebook is not None:
        raise typer.BadParameter("the class of eight hands in all notebooks; say how many --students there are to be")
    with in_a_sentence():
        if students is None:
            sys.exit(grade_all(make_sample(), NOTEBOOKS, {NO_NOTEBOOK}))
        meant = _meant(notebook or "03")
        make_crowd(FOLDER, meant, students)
    folder = FOLDER.relative_to(ROOT).as_posix()
    say(f"{folder}: {students} students. Now: python -m autograder grade {meant} --course {folder}")


def _meant(notebook: str) -> str:
    """The notebook that goes by this name, or by its number."""
    if name := notebook_called(notebook):
        return name
    near = get_close_matches(notebook, NOTEBOOKS, n=1)
    instead = f"did you mean {near[0]}?" if near else f"there are {', '.join(NOTEBOOKS)}"
    raise typer.BadParameter(f"there is no notebook {notebook!r}; {instead}")


def _known(notebook: str) -> str:
    if notebook not in NOTEBOOKS:
        raise typer.BadParameter(f"there is no notebook {notebook!r}; there are {', '.join(NOTEBOOKS)}")
    return notebook
