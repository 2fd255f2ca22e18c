"""A made-up course: what each further submission costs through each door, of a light notebook, of one with widgets, and of one that
needs a kernel."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from rich.console import Console
from rich.table import Table

from autograder.authoring.made_up import FEW, HEAD, MANY, Cost, Seconds, by_rows
from autograder.bench.courses.comparing import differences, rows
from autograder.bench.courses.doors import DOORS, STOCK, copied, nbgrader
from autograder.bench.courses.submitting import half, hand_in, solved, unanswered
from autograder.bench.courses.taking import CONFIG, SETTINGS
from autograder.bench.processor import Spent

REPEATS = 3
LIGHT, WIDGETS, KERNEL = "light", "widgets", "kernel"
DRAWS = "import numpy as np\nimport matplotlib.pyplot as plt"
IMPORTS = {
    LIGHT: DRAWS,
    WIDGETS: "import ipywidgets\nslider = ipywidgets.IntSlider(value=2)\nslider",
    KERNEL: f"import ipykernel\n{DRAWS}",
}
ANSWERED = "def power(x):\n    ### BEGIN SOLUTION\n    return x**{}\n    ### END SOLUTION"
TEST = "assert power(2) == 2**{0}\n### BEGIN HIDDEN TESTS\nassert power(3) == 3**{0}\n### END HIDDEN TESTS"
EXERCISES = 4


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
    """Grade a class of each size through each door, in turn, so that a slow quarter of an hour falls on all of them. Both sizes of a door
    follow one another, and the quickest such pair counts: what one more submission takes is a difference within a minute."""
    courses = {students: _course(kind, students, folder) for students in (FEW, MANY)}
    spent: dict[str, list[tuple[Spent, Spent]]] = {door: [] for door in DOORS}
    differing = dict.fromkeys(DOORS, 0)
    for _ in range(REPEATS):
        copies = {(door, students): copied(course, door) for door in DOORS for students, course in courses.items()}
        for door, grade in DOORS.items():
            spent[door].append((grade(copies[door, FEW], kind), grade(copies[door, MANY], kind)))
        found = {which: rows(copy) for which, copy in copies.items()}
        for (door, students), copy in copies.items():
            differing[door] += len(differences(found[STOCK, students], found[door, students]))
            shutil.rmtree(copy)
    return [_cost(kind, door, spent[door], differing[door]) for door in DOORS]


def _cost(kind: str, door: str, pairs: list[tuple[Spent, Spent]], differing: int) -> Cost:
    few, many = min(pairs, key=lambda pair: pair[0].cpu + pair[1].cpu)
    return Cost(kind, door, Seconds(few.cpu, few.wall), Seconds(many.cpu, many.wall), differing)


def _course(kind: str, students: int, folder: Path) -> Path:
    """A course in which so many have handed in."""
    course = folder / f"{kind}-{students}"
    (course / "source" / kind).mkdir(parents=True)
    (course / CONFIG).write_text(SETTINGS)
    nbformat.write(source(kind), str(course / "source" / kind / "notebook.ipynb"))
    nbgrader(course, "generate_assignment", kind)
    for number in range(students):
        hand_in(course, kind, (solved, unanswered, half)[number % 3], f"student{number:02}")
    return course


def tell(console: Console) -> list[Cost]:
    """Measure, and print a table."""
    title = f"A class of {FEW} and of {MANY}; in brackets how many times less that is than stock's"
    shown = Table(title=title, title_justify="left")
    for heading in (*HEAD, "rows differing"):
        shown.add_column(heading, justify="left" if heading in HEAD[:2] else "right")
    found = []
    with TemporaryDirectory(prefix="courses-") as folder:
        for kind in IMPORTS:
            costs = measure(kind, Path(folder))
            for cost, row in zip(costs, by_rows(costs), strict=True):
                shown.add_row(*row, str(cost.differing))
            shown.add_section()
            found += costs
    console.print(shown)
    return found
