"""The table of a class, as a terminal shows it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rich.table import Table
from rich.text import Text

from autograder.grading.lateness import Late
from autograder.grading.report.lines import NOT_GRADED, NOTHING, Line, by_student, columns, total


def table(notebook: str, found: list[Line], late: Mapping[str, Late] = MappingProxyType({})) -> Table:
    """One row a student, one column an exercise; the names of recognised mistakes under the points; who was late, if anybody was."""
    made = Table(title=notebook, title_justify="left", show_lines=True)
    made.add_column("student")
    for exercise, points in columns(notebook, found).items():
        made.add_column(f"{exercise}\nof {points:g}", overflow="fold")
    shown = any(map(str, late.values()))
    for heading in (*(["late"] if shown else []), "total"):
        made.add_column(heading)
    for student, own in by_student(found).items():
        when = late.get(student, Late())
        made.add_row(*map(Text, (student, *map(_cell, own), *([str(when)] if shown else []), f"{total(own, when):g}")))
    return made


def _cell(line: Line) -> str:
    if line.score is None:
        return line.outcome if line.outcome in (NOTHING, NOT_GRADED) else f"? {line.outcome}"
    return "\n".join([f"{line.score:g}", *line.remarks])
