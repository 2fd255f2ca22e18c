"""A course of light notebooks, made up: what each further submission costs through each door, and what a notebook with widgets does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from rich.console import Console
from rich.table import Table

from autograder.bench.courses.comparing import differences, rows
from autograder.bench.courses.doors import DOORS, STOCK, copied, nbgrader
from autograder.bench.courses.submitting import half, hand_in, solved, unanswered
from autograder.bench.courses.taking import CONFIG, SETTINGS

FEW, MANY = 3, 16
LIGHT, WIDGETS = "light", "widgets"
IMPORTS = {
    LIGHT: "import numpy as np\nimport matplotlib.pyplot as plt",
    WIDGETS: "import ipywidgets\nslider = ipywidgets.IntSlider(value=2)\nslider",
}
ANSWERED = "def power(x):\n    ### BEGIN SOLUTION\n    return x**{}\n    ### END SOLUTION"
TEST = "assert power(2) == 2**{0}\n### BEGIN HIDDEN TESTS\nassert power(3) == 3**{0}\n### END HIDDEN TESTS"
EXERCISES = 4


@dataclass(frozen=True)
class Cost:
    """What classes of two sizes take through one door, in seconds of processor time.

    Attributes:
        differing: rows that are not stock's.
    """

    kind: str
    door: str
    few: float
    many: float
    differing: int

    @property
    def further(self) -> float:
        """Of each further submission."""
        return (self.many - self.few) / (MANY - FEW)


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
    taken: dict[str, list[float]] = {door: [] for door in DOORS}
    differing = dict.fromkeys(DOORS, 0)
    for students in (FEW, MANY):
        course = folder / f"{kind}-{students}"
        (course / "source" / kind).mkdir(parents=True)
        (course / CONFIG).write_text(SETTINGS)
        nbformat.write(source(kind), str(course / "source" / kind / "notebook.ipynb"))
        nbgrader(course, "generate_assignment", kind)
        for number in range(students):
            hand_in(course, kind, (solved, unanswered, half)[number % 3], f"student{number:02}")
        found = {}
        for door, grade in DOORS.items():
            copy = copied(course, door)
            taken[door].append(grade(copy, kind).cpu)
            found[door] = rows(copy)
            differing[door] += len(differences(found[STOCK], found[door]))
    return [Cost(kind, door, few, many, differing[door]) for door, (few, many) in taken.items()]


def tell(console: Console) -> None:
    """Measure, and print a table."""
    shown = Table(title=f"CPU s of a class of {FEW} and of {MANY}", title_justify="left")
    for heading in (
        "notebook",
        "door",
        str(FEW),
        str(MANY),
        "each further",
        f"times stock at {FEW}",
        f"at {MANY}",
        "rows differing",
    ):
        shown.add_column(heading, justify="left" if heading in ("notebook", "door") else "right")
    with TemporaryDirectory(prefix="courses-") as folder:
        for kind in IMPORTS:
            costs = measure(kind, Path(folder))
            for cost in costs:
                times = (f"{costs[0].few / cost.few:.1f}", f"{costs[0].many / cost.many:.1f}")
                seconds = (f"{cost.few:.1f}", f"{cost.many:.1f}", f"{cost.further:.2f}")
                shown.add_row(kind, cost.door, *seconds, *times, str(cost.differing))
            shown.add_section()
    console.print(shown)
