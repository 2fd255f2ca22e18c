"""The grades that Brightspace exports with points, and imports (its documentation calls the columns as here)."""

from __future__ import annotations

import re
from pathlib import Path

from autograder.lms.sheet import Key, Row, Sheet, chosen, decimal_in, number
from autograder.lms.table import Table
from autograder.problems import Problem

SYSTEM = "Brightspace"
END = "End-of-Line Indicator"
KEYS = {"OrgDefinedId": ("lms_user_id", "id"), "Username": ("id", "email"), "Email": ("email", "id")}
TITLE = re.compile(r"(?P<title>.+) Points Grade(?: <Numeric MaxPoints:(?P<points>[\d.,]++)[^<>]*+>)?")


def read(path: Path, assignment: str, column: str | None) -> Sheet:
    """The export, and the column of an assignment in it.

    Raises:
        Problem: it is none, or has no such column.
    """
    table = Table.read(path, {END})
    header = table.row(0)
    if not {"OrgDefinedId", "Username"} & set(header):
        raise Problem(f"{path} has neither OrgDefinedId nor Username, without which Brightspace takes no grades.")
    titles = {found["title"]: at for at, name in enumerate(header) if (found := TITLE.fullmatch(name))}
    grade = chosen({header[at]: at for at in titles.values()} | titles, assignment, column, SYSTEM)
    found = TITLE.fullmatch(header[grade])
    points = found["points"] if found else None
    rows = [row for row in table.rows[1:] if _keys(table, row)]
    return Sheet(
        SYSTEM,
        table,
        [Row(row, _keys(table, row), _name(table, row)) for row in rows],
        grade,
        {0: number(points)} if points else {},
        decimal_in([table.get(row, grade) for row in rows]),
    )


def _keys(table: Table, row: int) -> tuple[Key, ...]:
    """Ids and names of users begin with a # in an export, which keeps spreadsheets from taking them for numbers."""
    found = ((table.get(row, table.column(name)).removeprefix("#"), fields) for name, fields in KEYS.items())
    return tuple((value, fields) for value, fields in found if value.strip())


def _name(table: Table, row: int) -> str:
    return " ".join(filter(None, (table.get(row, table.column(name)) for name in ("First Name", "Last Name"))))
