"""`python -m autograder.bench courses CLONES`: the same grades as stock, on courses that nobody here wrote, and what they cost."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from autograder.authoring.compared import Compared, table
from autograder.authoring.compared import keep as keep_rows
from autograder.authoring.made_up import keep as keep_costs
from autograder.bench.courses import generated as generated_course
from autograder.bench.courses.comparing import differences, failing_otherwise, failures, rows
from autograder.bench.courses.doors import CLASS, DOORS, PLUGGED, STOCK, copied, release
from autograder.bench.courses.known import KNOWN, Known
from autograder.bench.courses.taking import NoClone, clone_of, take


def compare(known: Known, clone: Path, folder: Path, console: Console) -> Compared:
    """Grade a course through the three doors."""
    course = folder / "course"
    left_out = []
    assignments = []
    for assignment in take(known, clone, course):
        if reason := release(course, assignment):
            left_out.append(assignment)
            console.print(f"{known.repository}: stock cannot release {assignment}: {reason}", markup=False)
        else:
            assignments.append(assignment)
    doors = {door: copied(course, door) for door in DOORS}
    cpu = dict.fromkeys(DOORS, 0.0)
    for assignment in assignments:
        for door, grade in DOORS.items():
            spent = grade(doors[door], assignment)
            cpu[door] += spent.cpu
            (doors[door] / f"{assignment}.log").write_text(spent.said)
    stock, stopped = rows(doors[STOCK]), failures(doors[STOCK])
    told = {}
    for door in (PLUGGED, CLASS):
        told[door] = differences(stock, rows(doors[door]))
        otherwise = failing_otherwise(stopped, failures(doors[door]))
        for line in (*told[door], *otherwise):
            console.print(f"{known.repository}, {door}: {line}", markup=False, highlight=False, soft_wrap=True)
    return Compared(
        repository=known.repository,
        commit=known.commit,
        field=known.field,
        notebooks=len({(place.assignment, place.notebook) for place in stock}),
        cells=len({(place.assignment, place.notebook, place.cell) for place in stock}),
        rows=len(stock),
        plugged=len(told[PLUGGED]),
        whole_class=len(told[CLASS]),
        cpu=[cpu[STOCK], cpu[PLUGGED], cpu[CLASS]],
    )


def main(
    clones: Annotated[
        Path | None, typer.Argument(help="a folder of git clones, called OWNER+NAME or NAME", exists=True)
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="a repository, such as jupyter/nbgrader; all, if none")] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="keep what was measured under docs/, where tables are made of it")
    ] = False,
    generated: Annotated[bool, typer.Option("--generated", help="measure a made-up course, and no clones")] = False,
    work: Annotated[Path | None, typer.Option(help="leave the courses in this folder, to be looked at")] = None,
) -> None:
    """Take the sources of public courses out of clones, grade them by stock and by both doors, and print a table."""
    console = Console(width=None if sys.stdout.isatty() else 150)
    if generated:
        costs = generated_course.tell(console)
        if keep:
            keep_costs(costs)
        return
    if clones is None:
        raise typer.BadParameter("name a folder of clones, or --generated")
    found = []
    for known in KNOWN:
        if only and known.repository not in only:
            continue
        try:
            clone = clone_of(known, clones)
        except NoClone as error:
            console.print(str(error))
            continue
        with tempfile.TemporaryDirectory(prefix="courses-") as folder:
            found.append(compare(known, clone, work / known.folder if work else Path(folder), console))
        console.print(" | ".join(found[-1].row()), highlight=False, soft_wrap=True)
        if keep:
            keep_rows(found[-1:])
    print(table(found))
