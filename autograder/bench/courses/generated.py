"""A course of light notebooks, made up: what each further submission costs through each door, and what a notebook with widgets does."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from rich.console import Console
from rich.table import Table

from autograder.bench.courses.comparing import differences, rows
from autograder.bench.courses.doors import DOORS, STOCK, copied, nbgrader
from autograder.bench.courses.submitting import half, hand_in, solved, unanswered
from autograder.bench.courses.taking import CONFIG, SETTINGS
from autograder.bench.processor import Spent

FEW, MANY = 3, 16
REPEATS = 3
LIGHT, WIDGETS = "light", "widgets"
IMPORTS = {
    LIGHT: "import numpy as np\nimport matplotlib.pyplot as plt",
    WIDGETS: "import ipywidgets\nslider = ipywidgets.IntSlider(value=2)\nslider",
}
ANSWERED = "def power(x):\n    ### BEGIN SOLUTION\n    return x**{}\n    ### END SOLUTION"
TEST = "assert power(2) == 2**{0}\n### BEGIN HIDDEN TESTS\nassert power(3) == 3**{0}\n### END HIDDEN TESTS"
EXERCISES = 4


class Seconds(NamedTuple):
    """The least of some repeats: whatever else is busy only adds to it."""

    processor: float
    wall: float


@dataclass(frozen=True)
class Cost:
    """What classes of two sizes take through one door.

    Attributes:
        differing: rows that are not stock's.
    """

    kind: str
    door: str
    few: Seconds
    many: Seconds
    differing: int

    @property
    def further(self) -> float:
        """Seconds of processor time of each further submission."""
        return (self.many.processor - self.few.processor) / (MANY - FEW)


def source(kind: str) -> NotebookNode:
    """A few cells of imports, answers and tests."""
    cells = [new_code_cell(IMPORTS[kind])]
    for number in range(1, EXERCISES + 1):
        cells += [
            _about(new_code_cell(ANSWERED.format(number)), f"power{number}", solution=True),
            _about(new_code_cell(TEST.format(number)), f"test{number}", grade=True, locked=True, points=1),
        ]
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


def _about(cell: NotebookNode, name: str, **others: object) -> NotebookNode:
    stated = {"grade_id": name, "schema_version": 3, "grade": False, "locked": False, "solution": False, "task": False}
    cell.metadata["nbgrader"] = nbformat.from_dict({**stated, **others})
    return cell


def measure(kind: str, folder: Path) -> list[Cost]:
    """Grade a class of each size through each door."""
    taken: dict[str, list[Seconds]] = {door: [] for door in DOORS}
    differing = dict.fromkeys(DOORS, 0)
    for students in (FEW, MANY):
        course = folder / f"{kind}-{students}"
        (course / "source" / kind).mkdir(parents=True)
        (course / CONFIG).write_text(SETTINGS)
        nbformat.write(source(kind), str(course / "source" / kind / "notebook.ipynb"))
        nbgrader(course, "generate_assignment", kind)
        for number in range(students):
            hand_in(course, kind, (solved, unanswered, half)[number % 3], f"student{number:02}")
        spent: dict[str, list[Spent]] = {door: [] for door in DOORS}
        for _ in range(REPEATS):
            copies = {door: copied(course, door) for door in DOORS}
            for door, grade in DOORS.items():
                spent[door].append(grade(copies[door], kind))
            found = {door: rows(copy) for door, copy in copies.items()}
            for door, copy in copies.items():
                differing[door] += len(differences(found[STOCK], found[door]))
                shutil.rmtree(copy)
        for door, each in spent.items():
            taken[door].append(Seconds(min(one.cpu for one in each), min(one.wall for one in each)))
    return [Cost(kind, door, few, many, differing[door]) for door, (few, many) in taken.items()]


def tell(console: Console) -> None:
    """Measure, and print a table."""
    title = f"A class of {FEW} and of {MANY}: processor seconds, and seconds on the wall, with how many times less that is than stock's"
    shown = Table(title=title, title_justify="left")
    sizes = [f"{what} at {size}" for size in (FEW, MANY) for what in ("processor", "wall")]
    for heading in ("notebook", "door", *sizes, "processor, each further", "rows differing"):
        shown.add_column(heading, justify="left" if heading in ("notebook", "door") else "right")
    with TemporaryDirectory(prefix="courses-") as folder:
        for kind in IMPORTS:
            costs = measure(kind, Path(folder))
            for cost in costs:
                seconds = [
                    f"{mine:.1f} ({stock / mine:.1f})"
                    for spent, by_stock in ((cost.few, costs[0].few), (cost.many, costs[0].many))
                    for mine, stock in zip(spent, by_stock, strict=True)
                ]
                shown.add_row(kind, cost.door, *seconds, f"{cost.further:.2f}", str(cost.differing))
            shown.add_section()
    console.print(shown)
