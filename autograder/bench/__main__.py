"""`python -m autograder.bench`: stock nbgrader and this repository's engine in turn, on the same class.

`python -m autograder.bench students` is another: how long a student's first minute is; and `scale`: what grows with a class;
and `courses`: courses that nobody here wrote.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from nbgrader.api import Gradebook
from rich.console import Console
from rich.table import Table

from autograder.authoring.measured import Row, table
from autograder.authoring.measured import keep as keep_rows
from autograder.bench import scale
from autograder.bench import students as first_minute
from autograder.bench.breakdown import CONVERSATION, OWN_CELLS, Breakdown, breakdown
from autograder.bench.classes import make_course
from autograder.bench.courses import command as courses
from autograder.bench.measuring import Taken, take
from autograder.bench.pages import WARMING, page_cost
from autograder.engine.doctor import MEANING
from autograder.engine.outer import best_walls
from autograder.exercises import NOTEBOOKS
from autograder.folder import Course
from autograder.grading.crew import cores

GRADED = ("autograded", "graded", "papers", "report")

Scores = dict[tuple[str, str], float | None]


@dataclass(frozen=True)
class Arm:
    """One way to grade the class, at one width."""

    name: str
    width: int
    students: int
    taken: list[Taken]
    scores: Scores

    @property
    def each(self) -> float:
        """Milliseconds for each submission, the median of the repeats."""
        return statistics.median(one.wall for one in self.taken) / self.students * 1000

    @property
    def cpu(self) -> float:
        """Seconds of processor time, the median of the repeats."""
        return statistics.median(one.cpu for one in self.taken)


def stock(course: Course, notebook: str, width: int) -> Taken:
    """One `nbgrader autograde` for the class, or one for each half of it."""
    command = [sys.executable, "-m", "nbgrader", "autograde", notebook]
    return take([[*command, f"--student={half}*"] for half in "ab"] if width == 2 else [command], course.root)


def engine(course: Course, notebook: str, width: int) -> Taken:
    options = ["--course", str(course.root), "--jobs", str(width), "--yes", "--no-feedback", "--json"]
    return take([[sys.executable, "-m", "autograder", "grade", notebook, *options]], course.root)


STOCK, ENGINE = "stock nbgrader", "engine"
WAYS = {STOCK: stock, ENGINE: engine}


def scores(course: Course, notebook: str) -> Scores:
    with Gradebook(course.database) as gradebook:
        return {
            (submission.student.id, grade.name): grade.auto_score
            for submission in gradebook.notebook_submissions(notebook, notebook)
            for grade in submission.grades
        }


def fresh(course: Course) -> None:
    """Forget every grade."""
    shutil.copy(course.root / "released.db", course.root / "class" / "gradebook.db")
    for name in GRADED:
        shutil.rmtree(course.root / "class" / name, ignore_errors=True)


def grade_in_turn(folder: Path, notebook: str, students: dict[str, int], widths: list[int], repeats: int) -> list[Arm]:
    """Grade the class by each way at each width, one after another, and that again.

    Args:
        students: how many of the class each way grades.
    """
    arms = []
    courses = {}
    for name in WAYS:
        courses[name] = make_course(folder / name.split()[0], notebook, students[name], stock=name != ENGINE)
        shutil.copy(courses[name].root / "class" / "gradebook.db", courses[name].root / "released.db")
        arms += [Arm(name, width, students[name], [], {}) for width in widths]
    for _ in range(repeats):
        for arm in arms:
            course = courses[arm.name]
            fresh(course)
            arm.taken.append(WAYS[arm.name](course, notebook, arm.width))
            arm.scores.update(scores(course, notebook))
    return arms


def floor(folder: Path, notebook: str) -> float:
    """Seconds of processor time that the cells of the class cost in one warm process."""
    command = [sys.executable, "-m", "autograder.bench.floor", str(folder / "stock"), notebook]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return sum(json.loads(done.stdout.splitlines()[-1]))


def start_up(folder: Path, notebook: str) -> Taken:
    """What the engine takes for a class of two."""
    course = make_course(folder / "two", notebook, 2, stock=False)
    return engine(course, notebook, 1)


def main(
    notebooks: Annotated[list[str] | None, typer.Argument(help="such as 00_shapes; all if none is named")] = None,
    students: Annotated[int, typer.Option(help="submissions in the class")] = 96,
    of_stock: Annotated[
        int | None, typer.Option(help="how many of these stock nbgrader grades; all, if not given")
    ] = None,
    repeats: Annotated[int, typer.Option(help="how often each is measured")] = 2,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="in five minutes: twelve submissions, of which stock grades three, one wide, once"
        ),
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="keep the rows in docs/speed.json, for the page on speed")
    ] = False,
) -> None:
    """Measure, and print a table for each notebook, and one of all."""
    console = Console(width=None if sys.stdout.isatty() else 150)
    console.print(f"walls: {MEANING[best_walls()]}; cores: {cores()}")
    if quick:
        students, of_stock, repeats = 12, 3, 1
    widths = [1, 2] if cores() > 1 and not quick else [1]
    counts = {STOCK: of_stock or students, ENGINE: students}
    rows = []
    for notebook in notebooks or NOTEBOOKS:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            arms = grade_in_turn(Path(folder), notebook, counts, widths, repeats)
            lowest = floor(Path(folder), notebook) / counts[STOCK] * students
            two = start_up(Path(folder), notebook)
            graded = Course(Path(folder) / ENGINE)
            parts = breakdown(graded, notebook, min(24, students))
            page = page_cost(graded, notebook, min(24, students - WARMING))
        rows.append(row(notebook, arms, lowest, two, parts, page))
        if not quick:
            tell(console, notebook, arms, lowest, two)
        spent = "; ".join(f"{part} {milliseconds:.0f}" for part, milliseconds in parts.parts.items())
        console.print(f"{notebook}, where a submission's time goes, in ms: {spent}")
        console.print(f"processor time {parts.processor:.0f}, of which the process that marks {parts.marking:.0f}")
        kinds = "; ".join(
            f"{kind} {milliseconds:.0f}, of which own cells {parts.own[kind]:.0f}"
            for kind, milliseconds in parts.kinds.items()
        )
        console.print(f"one submission, by what its answers are: {kinds}\n")
    print(table(rows))
    if different := [one.notebook for one in rows if not one.same]:
        sys.exit(f"NOT the same scores: {', '.join(different)}")
    if keep:
        keep_rows(rows)


def row(notebook: str, arms: list[Arm], lowest: float, two: Taken, parts: Breakdown, page: float) -> Row:
    by_stock, by_engine = ([arm for arm in arms if arm.name == name] for name in WAYS)
    return Row(
        notebook,
        by_engine[0].students,
        by_stock[0].students,
        {str(arm.width): arm.each for arm in by_stock},
        {str(arm.width): arm.each for arm in by_engine},
        two.wall,
        by_engine[0].cpu / lowest,
        parts.parts[OWN_CELLS],
        parts.parts[CONVERSATION],
        parts.processor,
        parts.marking,
        page,
        not any(different_scores(arm, by_engine[0]) for arm in arms),
    )


def different_scores(arm: Arm, whole: Arm) -> list[tuple[str, str]]:
    """Who got another score for what, or none, of those whom an arm was to grade: the first so many of the whole class."""
    first = sorted({who for who, _ in whole.scores}, key=lambda who: (who[1:], who[0]))[: arm.students]
    wanted = {key: score for key, score in whole.scores.items() if key[0] in first}
    return [key for key in wanted.keys() | arm.scores.keys() if arm.scores.get(key, -1.0) != wanted.get(key, -1.0)]


def by_width(arms: list[Arm], name: str, width: int) -> Arm:
    return next(arm for arm in arms if (arm.name, arm.width) == (name, width))


def tell(console: Console, notebook: str, arms: list[Arm], lowest: float, two: Taken) -> None:
    shown = Table(title=f"{notebook}, {arms[-1].students} submissions", title_justify="left")
    for title in ("", "wide", "seconds", "from", "to", "ms each", "times stock", "CPU s", "times the floor", "MiB"):
        shown.add_column(title, justify="left" if title in ("", "MiB") else "right")
    for arm in arms:
        walls = [one.wall for one in arm.taken]
        memory = {kind: max(one.memory.get(kind, 0.0) for one in arm.taken) for kind in arm.taken[0].memory}
        shown.add_row(
            arm.name,
            str(arm.width),
            f"{statistics.median(walls):.1f}",
            f"{min(walls):.1f}",
            f"{max(walls):.1f}",
            f"{arm.each:.0f}",
            f"{by_width(arms, STOCK, arm.width).each / arm.each:.1f}",
            f"{arm.cpu:.1f}",
            f"{arm.cpu / lowest:.2f}",
            ", ".join(f"{kind} {size:.0f}" for kind, size in sorted(memory.items())),
        )
    shown.add_row("engine, two submissions", "1", f"{two.wall:.1f}", "", "", "", "", f"{two.cpu:.1f}", "", "")
    shown.add_row("the cells alone", "1", "", "", "", "", "", f"{lowest:.1f}", "1.00", "")
    console.print(shown)
    last = by_width(arms, ENGINE, 1)
    further = (last.cpu - two.cpu) / (last.students - 2)
    console.print(f"each further submission: {further * last.students / lowest:.2f} times the floor's processor time")
    wrong = {f"{arm.name}, {arm.width} wide": different_scores(arm, last) for arm in arms}
    same = not any(wrong.values())
    console.print(f"{len(last.scores)} scores, {'the same in all' if same else 'NOT the same in all'}\n")
    for name, keys in wrong.items():
        if keys:
            console.print(f"{name}: {len(keys)} differ, such as {keys[:3]}")


OTHERS: dict[str, Callable[..., None]] = {"students": first_minute.main, "scale": scale.main, "courses": courses.main}

if __name__ == "__main__":
    other = OTHERS.get(sys.argv[1]) if len(sys.argv) > 1 else None
    if other:
        sys.argv[:2] = [f"{sys.argv[0]} {sys.argv[1]}"]
    typer.run(other or main)
