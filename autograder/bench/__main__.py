"""`python -m autograder.bench`: stock nbgrader and this repository's engine in turn, on the same class.

`python -m autograder.bench students` is another: how long a student's first minute is.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from nbgrader.api import Gradebook
from rich.console import Console
from rich.table import Table

from autograder.bench import students as first_minute
from autograder.bench.breakdown import breakdown
from autograder.bench.classes import make_course
from autograder.bench.measuring import Taken, take
from autograder.engine.doctor import MEANING
from autograder.engine.outer import best_walls
from autograder.folder import Course
from autograder.grading.crew import cores

GRADED = ("autograded", "graded", "papers", "report")

Scores = dict[tuple[str, str], float | None]


@dataclass(frozen=True)
class Arm:
    """One way to grade the class, at one width."""

    name: str
    width: int
    taken: list[Taken]
    scores: Scores

    def rate(self, students: int) -> float:
        """Submissions a second, the median of the repeats."""
        return students / statistics.median(one.wall for one in self.taken)


def stock(course: Course, notebook: str, width: int) -> Taken:
    """One `nbgrader autograde` for the class, or one for each half of it."""
    command = [sys.executable, "-m", "nbgrader", "autograde", notebook]
    return take([[*command, f"--student={half}*"] for half in "ab"] if width == 2 else [command], course.root)


def engine(course: Course, notebook: str, width: int) -> Taken:
    options = ["--course", str(course.root), "--jobs", str(width), "--yes", "--no-feedback", "--json"]
    return take([[sys.executable, "-m", "autograder", "grade", notebook, *options]], course.root)


STOCK = "stock nbgrader"
WAYS = {STOCK: stock, "engine": engine}


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


def grade_in_turn(folder: Path, notebook: str, students: int, widths: list[int], repeats: int) -> list[Arm]:
    """Grade the class by each way at each width, one after another, and that again."""
    arms = []
    courses = {}
    for name in WAYS:
        courses[name] = make_course(folder / name.split()[0], notebook, students, stock=name != "engine")
        shutil.copy(courses[name].root / "class" / "gradebook.db", courses[name].root / "released.db")
        arms += [Arm(name, width, [], {}) for width in widths]
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
    notebooks: Annotated[list[str] | None, typer.Argument(help="such as 00_shapes")] = None,
    students: Annotated[int, typer.Option(help="submissions in the class, an even number")] = 96,
    repeats: Annotated[int, typer.Option(help="how often each is measured")] = 2,
) -> None:
    """Measure, and print a table for each notebook."""
    console = Console(width=None if sys.stdout.isatty() else 150)
    console.print(f"walls: {MEANING[best_walls()]}; cores: {cores()}")
    widths = [1, 2] if cores() > 1 else [1]
    for notebook in notebooks or ["00_shapes", "02_matrices", "05_block"]:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            arms = grade_in_turn(Path(folder), notebook, students, widths, repeats)
            lowest = floor(Path(folder), notebook)
            two = start_up(Path(folder), notebook)
            parts = breakdown(Course(Path(folder) / "engine"), notebook, 24)
        tell(console, notebook, students, arms, lowest, two)
        spent = "; ".join(f"{part} {milliseconds:.0f}" for part, milliseconds in parts.items())
        console.print(f"where a submission's time goes, in ms: {spent}\n")


def by_width(arms: list[Arm], name: str, width: int) -> Arm:
    return next(arm for arm in arms if (arm.name, arm.width) == (name, width))


def tell(console: Console, notebook: str, students: int, arms: list[Arm], lowest: float, two: Taken) -> None:
    table = Table(title=f"{notebook}, {students} submissions", title_justify="left")
    for title in ("", "wide", "seconds", "from", "to", "ms each", "times stock", "CPU s", "times the floor", "MiB"):
        table.add_column(title, justify="left" if title in ("", "MiB") else "right")
    for arm in arms:
        walls = [one.wall for one in arm.taken]
        cpu = statistics.median(one.cpu for one in arm.taken)
        memory = {kind: max(one.memory.get(kind, 0.0) for one in arm.taken) for kind in arm.taken[0].memory}
        table.add_row(
            arm.name,
            str(arm.width),
            f"{statistics.median(walls):.1f}",
            f"{min(walls):.1f}",
            f"{max(walls):.1f}",
            f"{statistics.median(walls) / students * 1000:.0f}",
            f"{arm.rate(students) / by_width(arms, STOCK, arm.width).rate(students):.1f}",
            f"{cpu:.1f}",
            f"{cpu / lowest:.2f}",
            ", ".join(f"{kind} {size:.0f}" for kind, size in sorted(memory.items())),
        )
    table.add_row("engine, two submissions", "1", f"{two.wall:.1f}", "", "", "", "", f"{two.cpu:.1f}", "", "")
    table.add_row("the cells alone", "1", "", "", "", "", "", f"{lowest:.1f}", "1.00", "")
    console.print(table)
    last = by_width(arms, "engine", 1)
    further = (statistics.median(one.cpu for one in last.taken) - two.cpu) / (students - 2)
    console.print(f"each further submission: {further * students / lowest:.2f} times the floor's processor time")
    same = all(arm.scores == arms[0].scores for arm in arms)
    console.print(f"{len(arms[0].scores)} scores, {'the same in all' if same else 'NOT the same in all'}\n")
    for arm in arms if not same else []:
        wrong = [key for key in arms[0].scores if arm.scores.get(key) != arms[0].scores[key]]
        console.print(f"{arm.name}, {arm.width} wide: {len(wrong)} differ, such as {wrong[:3]}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["students"]:
        sys.argv[:2] = [f"{sys.argv[0]} students"]
        typer.run(first_minute.main)
    else:
        typer.run(main)
