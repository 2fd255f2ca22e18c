"""`python -m autograder.bench scale`: what grows with a class, and how fast. The same notebook is graded for a quarter of it, a half, and all."""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from autograder.bench.classes import make_course
from autograder.bench.measuring import take
from autograder.folder import Course
from autograder.grading.crew import cores

PARTS = (4, 2, 1)
COLUMNS = ("students", "grade, s", "ms each", "again, s", "export, s", "main, MiB", "gradebook, MiB", "report, KiB")
KIBI, MEBI = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Size:
    """What a class of one size takes.

    Attributes:
        grade, again, export: seconds: to grade it, to find that nothing has changed, and to write all grades to a file.
        main: MiB of the main process at its height.
        gradebook: MiB of the file.
        report: KiB of the page.
    """

    students: int
    grade: float
    again: float
    export: float
    main: float
    gradebook: float
    report: float


def measure(course: Course, notebook: str, students: int) -> Size:
    command = [sys.executable, "-m", "autograder", "grade", notebook, "--course", str(course.root), "--yes"]
    quietly = [*command, "--no-feedback", "--json", "--jobs", str(cores())]
    first = take([quietly], course.root)
    again = take([quietly], course.root)
    export = take([[sys.executable, "-m", "nbgrader", "export"]], course.root)
    report = sum(path.stat().st_size for path in (course.root / "class" / "report").rglob("*.html"))
    gradebook = (course.root / "class" / "gradebook.db").stat().st_size
    return Size(
        students, first.wall, again.wall, export.wall, first.memory.get("main", 0.0), gradebook / MEBI, report / KIBI
    )


def three_sizes(notebook: str, students: int) -> list[Size]:
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        whole = make_course(Path(folder) / "whole", notebook, students, stock=False)
        sizes = []
        for part in PARTS:
            course = smaller(whole, notebook, students // part, Path(folder) / f"one-of-{part}")
            sizes.append(measure(course, notebook, students // part))
            shutil.rmtree(course.root)
        return sizes


def smaller(course: Course, notebook: str, students: int, folder: Path) -> Course:
    """A copy of a course in which no more than so many have handed in."""
    shutil.copytree(course.root, folder, symlinks=True)
    copied = Course(folder)
    for student in copied.submitters(notebook)[students:]:
        shutil.rmtree(folder / "class" / "submitted" / student)
    return copied


def shown(notebook: str, sizes: list[Size]) -> Table:
    table = Table(title=f"{notebook}, {cores()} wide", title_justify="left")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for one in sizes:
        times = f"{one.grade:.1f}", f"{one.grade / one.students * 1000:.0f}", f"{one.again:.1f}", f"{one.export:.1f}"
        table.add_row(str(one.students), *times, f"{one.main:.0f}", f"{one.gradebook:.1f}", f"{one.report:.0f}")
    return table


def main(
    notebooks: Annotated[
        list[str] | None, typer.Argument(help="such as 00_shapes, which it is if none is named")
    ] = None,
    students: Annotated[int, typer.Option(min=max(PARTS), help="submissions in the whole class")] = 1000,
) -> None:
    """Grade a made-up class in three sizes, and print a table."""
    for notebook in notebooks or ["00_shapes"]:
        Console(width=None if sys.stdout.isatty() else 120).print(shown(notebook, three_sizes(notebook, students)))
