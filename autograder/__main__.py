"""The instructor's command line: `python -m autograder COMMAND`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from autograder.exercises import NOTEBOOKS

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def main() -> None:
    """Build, prove and grade the course."""


@app.command()
def outputs(
    notebooks: Annotated[list[str] | None, typer.Argument(help="such as 00_shapes; all if none is named")] = None,
) -> None:
    """Re-execute source notebooks and store their outputs."""
    from autograder.course import ROOT
    from autograder.outputs import store_outputs

    for name in map(_known, notebooks or NOTEBOOKS):
        store_outputs(ROOT / "source" / name / f"{name}.ipynb")
        typer.echo(f"{name}: outputs stored")


@app.command()
def release(
    check: Annotated[bool, typer.Option("--check", help="change nothing; exit 1 if a file would change")] = False,
) -> None:
    """Make release/ and the answers that check compares with."""
    from autograder.release import make_release, stale

    if not check:
        make_release()
        typer.echo("release: made")
        return
    changed = stale()
    for name in changed:
        typer.echo(f"{name} is not what source/ and autograder/exercises give: run `make release`", err=True)
    sys.exit(1 if changed else 0)


@app.command()
def mutants() -> None:
    """Prove that every known mistake loses marks and is named, and that right answers keep theirs."""
    from autograder.mutants import main

    sys.exit(main())


@app.command()
def grade(
    assignment: Annotated[str, typer.Argument(help="such as 03_causal_mask")],
    force: Annotated[bool, typer.Option("--force", help="grade again what has been graded")] = False,
) -> None:
    """Grade an assignment's submissions in class/, write feedback and the class report."""
    from autograder.course import Course
    from autograder.grading import grade as run

    report, failed = run(Course(), _known(assignment), force)
    typer.echo(f"class report: {report}")
    sys.exit(1 if failed else 0)


@app.command()
def doctor(
    require: Annotated[str | None, typer.Option(help="`walls`: exit 1 unless both walls stand and hold")] = None,
) -> None:
    """Say what this machine can do, above all which walls it can put around submissions."""
    from autograder.engine.doctor import examine

    if require not in (None, "walls"):
        raise typer.BadParameter(f"{require!r} cannot be required; `walls` can")
    found = examine()
    for finding in found:
        typer.echo(f"{'ok' if finding.holds else 'NO':<3} {finding.what}: {finding.seen}")
        if not finding.holds and finding.remedy:
            typer.echo(f"      {finding.remedy}")
    sys.exit(1 if require and not all(finding.holds for finding in found) else 0)


@app.command()
def sample() -> None:
    """Make a sample class in build/sample and grade all of it."""
    from autograder.grading import grade as run
    from autograder.sample import make_sample

    course = make_sample()
    graded = [run(course, notebook) for notebook in NOTEBOOKS]
    typer.echo(f"feedback: {course.root / course.directory.feedback_directory}")
    for report, _ in graded:
        typer.echo(f"class report: {report}")
    sys.exit(1 if any(failed for _, failed in graded) else 0)


def _known(notebook: str) -> str:
    if notebook not in NOTEBOOKS:
        raise typer.BadParameter(f"there is no notebook {notebook!r}; there are {', '.join(NOTEBOOKS)}")
    return notebook


if __name__ == "__main__":
    app()
