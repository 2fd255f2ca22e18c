"""The gradebook that Canvas exports (its `gradebook_exporter.rb` writes it, and its `gradebook_importer.rb` reads it)."""

from __future__ import annotations

import re
from pathlib import Path

from autograder.lms.sheet import Key, Row, Sheet, chosen, decimal_in, number
from autograder.lms.table import Table
from autograder.problems import Problem

SYSTEM = "Canvas"
KEYS = {
    "ID": ("lms_user_id", "id"),
    "SIS User ID": ("id",),
    "SIS Login ID": ("id", "email"),
    "Integration ID": ("id",),
}
POINTS = "Points Possible"
TITLE = re.compile(r"(?P<title>.+?) \(\d+\)")
KEPT = {"EX": "is excused", "N/A": "does not have this assignment"}


def read(path: Path, assignment: str, column: str | None) -> Sheet:
    """The export, and the column of an assignment in it.

    Raises:
        Problem: it is none, has no such column, or one that Canvas does not read.
    """
    table = Table.read(path, {"ID", "Section"})
    header = table.row(0)
    worth = next((row for row in table.rows if POINTS in table.get(row, 0)), None)
    grade = chosen(_titles(header), assignment, column, SYSTEM)
    points = table.get(worth, grade) if worth is not None else ""
    if points.strip() and number(points) is None:
        raise Problem(f'Canvas does not read the column "{header[grade]}": it says "{points}". Choose another.')
    rows = [row for row in table.rows if row not in (0, worth) and any(_keys(table, row))]
    texts = [table.get(row, grade) for row in rows]
    return Sheet(
        SYSTEM,
        table,
        [Row(at, _keys(table, at), _name(table, at), _kept(table.get(at, grade))) for at in rows],
        grade,
        {} if worth is None else {worth: number(points)},
        decimal_in([points, *texts]),
    )


def _titles(header: list[str]) -> dict[str, int]:
    """The assignments: with their numbers, and without where no two are called the same."""
    full = {title: at for at, title in enumerate(header) if at > header.index("Section") and TITLE.fullmatch(title)}
    short = [found["title"] for title in full if (found := TITLE.fullmatch(title))]
    alone = {title: at for title, at in zip(short, full.values(), strict=True) if short.count(title) == 1}
    return full | alone


def _keys(table: Table, row: int) -> tuple[Key, ...]:
    found = ((table.get(row, table.column(name)), fields) for name, fields in KEYS.items())
    return tuple((value, fields) for value, fields in found if value.strip())


def _name(table: Table, row: int) -> str:
    whole = table.get(row, table.column("Student"))
    first, last = (table.get(row, table.column(name)) for name in ("FirstName", "LastName"))
    return whole or " ".join(filter(None, (first, last)))


def _kept(grade: str) -> str:
    return KEPT.get(grade.strip().upper(), "")
