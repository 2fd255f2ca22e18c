"""What a class has, as a terminal shows it: everybody's row, or what it comes to where there are many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from autograder.grading.lateness import Late
from autograder.grading.report.counting import Spread
from autograder.grading.report.lines import NOT_GRADED, NOTHING, Line, by_student, columns, total

NO_NAMES = "Too narrow for what went wrong: that is in the class report, in the log, and here in {} columns."
NO_EXERCISES = "Too narrow for {} exercises: they are in the class report, in the log, and here in {} columns."


def table(
    console: Console, assignment: str, found: list[Line], late: Mapping[str, Late] = MappingProxyType({})
) -> Table:
    """One row a student, one column an exercise, with what went wrong under the points as far as that fits; who was late, if anybody was."""
    whole = _table(assignment, found, late, _cell)
    needed = _width(console, whole)
    if needed <= console.width:
        return whole
    points = _table(assignment, found, late, _points)
    if _width(console, points) <= console.width:
        points.caption = NO_NAMES.format(needed)
        return points
    totals = _table(assignment, [], late, _points, by_student(found))
    totals.caption = NO_EXERCISES.format(len(columns(found)), needed)
    return totals


def summary(assignment: str, found: list[Line], late: Mapping[str, Late] = MappingProxyType({})) -> Table:
    """One row an exercise: the mean, how many solved it, and the mistake that most made."""
    own = {who: rows for who, rows in by_student(found).items() if any(line.graded for line in rows)}
    worth = columns(found)
    totals = Spread(sum(worth.values()), tuple(total(rows, late.get(who, Late())) for who, rows in own.items()))
    made = Table(
        title=f"{assignment}: {totals.count} graded, mean {totals.mean:.3g} of {totals.of:g}, median {totals.median:.3g}",
        title_justify="left",
    )
    for heading in ("exercise", "of", "mean", "solved", "most frequent mistake"):
        made.add_column(heading, justify="right" if heading in ("of", "mean", "solved") else "left", overflow="fold")
    for exercise, points in worth.items():
        rows = [line for line in found if line.exercise == exercise and line.graded]
        spread = Spread(points, tuple(line.score for line in rows if line.score is not None))
        made_most = Counter(mistake for line in rows for mistake in line.mistakes).most_common(1)
        often = "".join(f"{mistake}, {count}" for mistake, count in made_most)
        solved = f"{spread.solved / spread.count:.0%}" if spread.count else ""
        made.add_row(*map(Text, (exercise, f"{points:g}", f"{spread.mean:.3g}", solved, often)))
    return made


def _table(
    assignment: str,
    found: list[Line],
    late: Mapping[str, Late],
    cell: Callable[[Line], str],
    whole: Mapping[str, list[Line]] | None = None,
) -> Table:
    """The table of these lines.

    Args:
        whole: by student, the lines of which totals are made, where they are others.
    """
    made = Table(title=assignment, title_justify="left", caption_justify="left", show_lines=True)
    made.add_column("student")
    for exercise, points in columns(found).items() if found else ():
        made.add_column(f"{exercise}\nof {points:g}", overflow="fold")
    shown = any(map(str, late.values()))
    for heading in (*(["late"] if shown else []), "total"):
        made.add_column(heading)
    own = by_student(found)
    for student, rows in (whole or own).items():
        when = late.get(student, Late())
        cells = map(cell, own.get(student, []))
        made.add_row(*map(Text, (student, *cells, *([str(when)] if shown else []), f"{total(rows, when):g}")))
    return made


def _width(console: Console, made: Table) -> int:
    """How many columns of a terminal a table takes where nothing is folded."""
    return Measurement.get(console, console.options.update(max_width=10_000), made).maximum


def _points(line: Line) -> str:
    """As `_cell` begins."""
    return _cell(line).partition("\n")[0]


def _cell(line: Line) -> str:
    if line.score is None:
        return line.outcome if line.outcome in (NOTHING, NOT_GRADED) else f"? {line.outcome}"
    return "\n".join([f"{line.score:g}", *line.remarks])
