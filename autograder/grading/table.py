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
from autograder.grading.report.lines import (
    FOR_A_PERSON,
    LOOK_AGAIN,
    NOT_GRADED,
    NOTHING,
    Line,
    by_student,
    columns,
    total,
)

NO_NAMES = "Too narrow for what went wrong: that is in the class report, in the log, and here in {} columns."
NO_CELLS = (
    "Too narrow for {} cells: these are notebooks. The cells are in the class report, in the log, and with --wide."
)
NO_EXERCISES = "Too narrow for {} exercises: they are in the class report, in the log, and here in {} columns."


def table(
    console: Console,
    assignment: str,
    found: list[Line],
    late: Mapping[str, Late] = MappingProxyType({}),
    wide: bool = False,
) -> Table:
    """One row a student, one column an exercise, with what went wrong under the points as far as that fits; who was late, if anybody was.

    Where not even the points fit, there is one column for each notebook, if there are several, or none.

    Args:
        wide: whole, whatever fits.
    """
    whole = _table(assignment, found, late, _cell)
    needed = _width(console, whole)
    if wide or needed <= console.width:
        return whole
    points = _table(assignment, found, late, _points)
    if _width(console, points) <= console.width:
        points.caption = NO_NAMES.format(needed)
        return points
    summed = _table(assignment, _by_notebook(found), late, _points, by_student(found))
    if _has_several_notebooks(found) and _width(console, summed) <= console.width:
        summed.caption = NO_CELLS.format(len(columns(found)))
        return summed
    totals = _table(assignment, [], late, _points, by_student(found))
    totals.caption = NO_EXERCISES.format(len(columns(found)), needed)
    return totals


def summary(assignment: str, found: list[Line], late: Mapping[str, Late] = MappingProxyType({})) -> Table:
    """One row an exercise: the mean, how many solved it, how many left it blank, and the mistake that most made."""
    own = {who: rows for who, rows in by_student(found).items() if any(line.graded for line in rows)}
    worth = columns(found)
    earned = [points for who, rows in own.items() if (points := total(rows, late.get(who, Late()))) is not None]
    totals = Spread(sum(worth.values()), tuple(earned))
    waiting = len(own) - totals.count
    wait = f", {waiting} {'waits' if waiting == 1 else 'wait'} for a person" if waiting else ""
    made = Table(
        title=f"{assignment}: {totals.count} graded{wait}, mean {totals.mean:.3g} of {totals.of:g}, median {totals.median:.3g}",
        title_justify="left",
    )
    for heading in ("exercise", "of", "mean", "solved", "blank", "most frequent mistake"):
        is_text = heading in ("exercise", "most frequent mistake")
        made.add_column(heading, justify="left" if is_text else "right", overflow="fold")
    for exercise, points in worth.items():
        rows = [line for line in found if line.exercise == exercise and line.graded]
        spread = Spread(points, tuple(line.score for line in rows if line.score is not None))
        blank = sum(line.is_blank for line in rows)
        wrong = (line for line in rows if not line.is_blank)
        made_most = Counter(one for line in wrong for one in (line.mistakes or filter(None, [line.error]))).most_common(
            1
        )
        often = "".join(f"{mistake}, {count}" for mistake, count in made_most)
        solved = f"{spread.solved / spread.count:.0%}" if spread.count else ""
        mean = f"{spread.mean:.3g}" if spread.count else ""
        made.add_row(*map(Text, (exercise, f"{points:g}", mean, solved, f"{blank}", often)))
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
        altogether = total(rows, when)
        has = "?" if altogether is None else f"{altogether:g}"
        made.add_row(*map(Text, (student, *cells, *([str(when)] if shown else []), has)))
    return made


def _has_several_notebooks(found: list[Line]) -> bool:
    return len({_notebook(line) for line in found}) > 1 and all("/" in line.exercise for line in found)


def _notebook(line: Line) -> str:
    return line.exercise.partition("/")[0]


def _by_notebook(found: list[Line]) -> list[Line]:
    """What each student has in each notebook, and how many of its cells wait for a person."""
    own: dict[tuple[str, str], list[Line]] = {}
    for line in found:
        own.setdefault((line.student, _notebook(line)), []).append(line)
    return [_sum(notebook, lines) for (_, notebook), lines in own.items()]


def _sum(notebook: str, lines: list[Line]) -> Line:
    points, score = sum(line.points for line in lines), sum(line.score or 0.0 for line in lines)
    waiting = sum(line.outcome in (FOR_A_PERSON, LOOK_AGAIN) for line in lines)
    absent = lines[0].outcome in (NOTHING, NOT_GRADED)
    outcome = f"{score:g}, {waiting} by hand" if waiting else lines[0].outcome
    return Line(lines[0].student, notebook, None if absent or waiting else score, outcome, (), points)


def _width(console: Console, made: Table) -> int:
    """How many columns of a terminal a table takes where nothing is folded."""
    return Measurement.get(console, console.options.update(max_width=10_000), made).maximum


def _points(line: Line) -> str:
    """As `_cell` begins."""
    return _cell(line).partition("\n")[0]


def _cell(line: Line) -> str:
    if line.score is None:
        return line.outcome if line.outcome in (NOTHING, NOT_GRADED) else f"? {line.state or line.outcome}"
    return "\n".join([f"{line.score:g}", *line.remarks])
