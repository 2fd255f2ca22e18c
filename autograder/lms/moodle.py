"""The grading worksheet of a Moodle assignment (its `mod/assign/feedback/offline` writes and reads it)."""

from __future__ import annotations

import re
from pathlib import Path

from autograder.lms.sheet import Row, Sheet, decimal_in, number
from autograder.lms.table import Table
from autograder.problems import Problem

SYSTEM = "Moodle"
NEEDED = {"Identifier", "Grade", "Last modified (grade)"}
"""Moodle does not take a worksheet without these."""
KEYS = {"Email address": ("email", "id"), "ID number": ("id", "lms_user_id"), "Username": ("id", "email")}


def read(path: Path, assignment: str, column: str | None = None) -> Sheet:
    """The worksheet; it is one assignment's, and has one column of grades.

    Raises:
        Problem: it is none, or its grades are no points.
    """
    if column is not None:
        raise Problem("A worksheet of Moodle has one column of grades: leave --column away.")
    table = Table.read(path, NEEDED)
    grade, most = table.column("Grade"), table.column("Maximum Grade")
    assert grade is not None
    rows = [row for row in table.rows[1:] if table.get(row, table.column("Identifier"))]
    points = {row: number(table.get(row, most)) for row in rows} if most is not None else {}
    if rows and points and set(points.values()) == {None}:
        raise Problem("The assignment is not graded in points in Moodle. Set it to points there.")
    texts = [table.get(row, at) for row in rows for at in (grade, most)]
    return Sheet(
        SYSTEM,
        table,
        [_row(table, row, points.get(row)) for row in rows],
        grade,
        points,
        decimal_in(texts),
        table.column("Feedback comments"),
    )


def _row(table: Table, at: int, most: float | None) -> Row:
    keys = ((table.get(at, table.column(name)), fields) for name, fields in KEYS.items())
    fixed = table.get(at, table.column("Grade can be changed")).strip().casefold() == "no"
    digits = re.search(r"(?<!\d)\d++$", table.get(at, table.column("Identifier")).strip())
    return Row(
        at,
        tuple((value, fields) for value, fields in keys if value.strip()),
        table.get(at, table.column("Full name")),
        "the worksheet says that the grade cannot be changed" if fixed else "",
        most,
        digits[0] if digits else "",
    )


def folder(row: Row) -> str:
    """The name of a student's folder in Moodle's zips of submissions; feedback goes back in folders of that name."""
    return f"{re.sub(r'[_/]', ' ', row.name) or 'Participant'}_{row.number}_assignsubmission_file_"
