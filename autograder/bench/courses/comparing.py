"""What a gradebook says, row by row, and in which cells of graded notebooks something went wrong."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import nbformat
from nbgrader.api import Grade as Stored
from nbgrader.api import Gradebook


class Place(NamedTuple):
    """Which row of a gradebook it is."""

    assignment: str
    student: str
    notebook: str
    cell: str


class Row(NamedTuple):
    """What a gradebook says of one cell."""

    auto_score: float | None
    manual_score: float | None
    extra_credit: float | None
    max_score: float
    needs_manual_grade: bool

    def __str__(self) -> str:
        return f"{self.auto_score} of {self.max_score:g}{', for a person' if self.needs_manual_grade else ''}"


def rows(course: Path) -> dict[Place, Row]:
    """All grades."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {
            Place(one.assignment.name, one.student.id, one.notebook.name, one.name): Row(
                one.auto_score,
                one.manual_score,
                one.extra_credit,
                one.max_score,
                bool(one.needs_manual_grade),
            )
            for one in gradebook.db.query(Stored)
        }


def differences(wanted: dict[Place, Row], found: dict[Place, Row]) -> list[str]:
    """Every row that one of them has otherwise, or alone."""
    return [
        f"{' / '.join(place)}: {wanted.get(place, 'no row')}; here {found.get(place, 'no row')}"
        for place in sorted(wanted.keys() | found.keys())
        if wanted.get(place) != found.get(place)
    ]


def failures(course: Path) -> dict[tuple[str, int], str]:
    """By the path of a graded notebook and the number of a code cell that stopped, the error's name; "" of those that did not."""
    found = {}
    for path in sorted((course / "autograded").rglob("*.ipynb")):
        for number, cell in enumerate(nbformat.read(str(path), as_version=4).cells):
            if cell.cell_type == "code":
                errors = [output.ename for output in cell.outputs if output.output_type == "error"]
                found[str(path.relative_to(course)), number] = " ".join(errors)
    return found


def failing_otherwise(wanted: dict[tuple[str, int], str], found: dict[tuple[str, int], str]) -> list[str]:
    """The cells of notebooks which both have that stop with another error, or in one alone."""
    return [
        f"{path}, cell {number + 1}: {wanted[path, number] or 'runs'}; here {found[path, number] or 'runs'}"
        for path, number in sorted(wanted.keys() & found.keys())
        if wanted[path, number] != found[path, number]
    ]
