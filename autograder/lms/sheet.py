"""A file of grades as a system exported it, and filling it in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from autograder.grading.report.lines import NOTHING
from autograder.lms.marks import Mark
from autograder.lms.table import Table
from autograder.plugins.roster import Roster
from autograder.problems import Problem

Key = tuple[str, tuple[str, ...]]
"""What a system knows somebody by, and in which fields of the roster that may stand, the likeliest first."""


@dataclass(frozen=True)
class Row:
    """One student's row.

    Attributes:
        at: which row of the table.
        keys: what is known of the student besides the name.
        name: in any order, or "".
        kept: why the grade stays as it is; "" where it may change.
        most: the largest grade that the system takes; None where it takes any.
        number: the system's number for the student in this assignment, or "".
    """

    at: int
    keys: tuple[Key, ...]
    name: str
    kept: str = ""
    most: float | None = None
    number: str = ""


@dataclass(frozen=True)
class Sheet:
    """What a system exported.

    Attributes:
        system: what people call it.
        grade: the column of the grades.
        comments: the column of comments, which are HTML; None where there is none.
        points: by the row that says it, what the assignment is worth there; None where no number stands there.
    """

    system: str
    table: Table
    rows: list[Row]
    grade: int
    points: dict[int, float | None]
    decimal: str = "."
    comments: int | None = None

    def shown(self, row: Row) -> str:
        """How a reader of the file finds a row: by the name, and by more where others have that too."""
        alike = sum(other.name == row.name for other in self.rows)
        known = next((value for value, _ in row.keys if value), f"row {row.at + 1}")
        return f"{row.name} ({known})" if row.name and alike > 1 else row.name or known


Reader = Callable[[Path, str, str | None], Sheet]
"""Reads a file for an assignment, in a column that was named."""


@dataclass
class Matched:
    """Whose the rows of a file are.

    Attributes:
        whose: by student, the row that is theirs.
        strangers: rows of nobody on the roster.
        open: rows that may be several students', or that share one, and why.
        undecided: the students whom these may be.
        by_name: who was found by the name alone.
    """

    whose: dict[str, Row] = field(default_factory=dict)
    strangers: list[Row] = field(default_factory=list)
    open: list[tuple[Row, str]] = field(default_factory=list)
    undecided: set[str] = field(default_factory=set)
    by_name: list[str] = field(default_factory=list)

    def leave_open(self, row: Row, why: str, students: Iterable[str]) -> None:
        self.open.append((row, why))
        self.undecided.update(students)


@dataclass
class Filled:
    """What became of a sheet; people are named as a reader of the file, or of the class table, will find them.

    Attributes:
        whose: by student, the row that is theirs.
        entered: who got a grade that was not there.
        same: how many had the same grade already.
        changed: old and new grade.
        kept: whose grade could not be entered, and why.
        waiting: who has no mark yet, and why.
        strangers: rows of nobody on the roster.
        open: rows that may be several students', or that share one.
        absent: who has a mark, no row, and no part in one that is open.
        by_name: who was found by the name alone.
        remarks: whose comment was left as somebody wrote it.
    """

    whose: dict[str, Row] = field(default_factory=dict)
    entered: list[str] = field(default_factory=list)
    same: int = 0
    changed: list[tuple[str, str, str]] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)
    waiting: list[tuple[str, str]] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    open: list[tuple[str, str]] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    by_name: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every mark that there is stands in the file."""
        return not (self.kept or self.open or self.absent or any(why for _, why in self.waiting if why != NOTHING))


def match(rows: Sequence[Row], roster: Roster) -> Matched:
    """Say whose each row is; where that is open, the row is nobody's."""
    matched = Matched()
    found: dict[str, list[Row]] = {}
    for row in rows:
        students = set().union(*(roster.known_by(value, fields) for value, fields in row.keys))
        by_name = not students
        students = students or roster.named(row.name)
        if not students:
            matched.strangers.append(row)
        elif by_name and (other := _contradicted(row, students, roster)):
            matched.open.append((row, other))
        elif len(students) > 1:
            matched.leave_open(row, f"may be {' or '.join(map(roster.shown, sorted(students)))}", students)
        else:
            (student,) = students
            found.setdefault(student, []).append(row)
            if by_name:
                matched.by_name.append(student)
    for student, own in found.items():
        if len(own) > 1:
            for row in own:
                matched.leave_open(row, f"shares {roster.shown(student)} with another row", [student])
        else:
            matched.whose[student] = own[0]
    matched.by_name = [student for student in matched.by_name if student in matched.whose]
    return matched


def _contradicted(row: Row, students: set[str], roster: Roster) -> str:
    """What says that a row is not these students', though it has their name; "" where nothing does."""
    for student in sorted(students):
        for value, (first, *_) in row.keys:
            known = getattr(roster.people[student], first)
            if first != "id" and known:  # everybody has an id, and an LMS may have names of its own
                return f"is called like {roster.shown(student)}, who has {known} as {first}, and not {value}"
    return ""


def fill(sheet: Sheet, marks: Mapping[str, Mark], roster: Roster) -> Filled:
    """Write the marks into a sheet's table.

    Raises:
        Problem: the assignment is worth something else there.
    """
    _compare(sheet, marks)
    matched = match(sheet.rows, roster)
    filled = Filled(
        matched.whose,
        strangers=[sheet.shown(row) for row in matched.strangers],
        open=[(sheet.shown(row), why) for row, why in matched.open],
        by_name=matched.by_name,
    )
    for student, mark in marks.items():
        row = filled.whose.get(student)
        if mark.why_not:
            filled.waiting.append((student, mark.why_not))
        elif row is None:
            if student not in matched.undecided:
                filled.absent.append(student)
        else:
            _enter(sheet, row, mark, filled)
    return filled


def _enter(sheet: Sheet, row: Row, mark: Mark, filled: Filled) -> None:
    student = mark.person.id
    old, new = sheet.table.get(row.at, sheet.grade), f"{mark.total:.2f}".replace(".", sheet.decimal)
    before = number(old)
    if row.kept:
        filled.kept.append((student, row.kept))
    elif not sheet.table.has(row.at, sheet.grade):
        filled.kept.append((student, "the row has no field for it"))
    elif row.most is not None and mark.total > row.most:
        filled.kept.append((student, f"{sheet.system} takes at most {row.most:g}, and the mark is {mark.total:g}"))
    elif old.strip() not in ("", "-") and before is None:
        filled.kept.append((student, f"{old!r} stands there"))
    else:
        if before is None:
            filled.entered.append(student)
        elif abs(before - mark.total) < 0.005:
            filled.same += 1
            new = old
        else:
            filled.changed.append((student, old, new))
        if new != old:
            sheet.table.put(row.at, sheet.grade, new)
        _remark(sheet, row, mark, filled)


def _remark(sheet: Sheet, row: Row, mark: Mark, filled: Filled) -> None:
    if sheet.comments is None or not mark.comment:
        return
    old, new = sheet.table.get(row.at, sheet.comments), "<br>".join(map(escape, mark.comment.split("\n")))
    if old.strip() and old != new:
        filled.remarks.append(mark.person.id)
    elif not old.strip() and sheet.table.has(row.at, sheet.comments):
        sheet.table.put(row.at, sheet.comments, new)


def _compare(sheet: Sheet, marks: Mapping[str, Mark]) -> None:
    worth = next((mark.out_of for mark in marks.values()), None)
    for points in dict.fromkeys(sheet.points.values()):
        if worth is not None and points is not None and abs(points - worth) > 0.005:
            raise Problem(
                f"The assignment is worth {worth:g} points, and {points:g} in {sheet.system}. Set it to {worth:g} there, download "
                "the file again, and run the same command. Nothing was written."
            )


def number(text: str) -> float | None:
    """What a grade says, with a comma or a period; None where it is none."""
    plain = text.strip().replace(",", ".")
    return float(plain) if re.fullmatch(r"-?\d+(\.\d*)?", plain) else None


def decimal_in(texts: list[str]) -> str:
    """What stands between digits in these numbers: a comma, or else a period."""
    return "," if any(re.fullmatch(r"\s*-?\d+,\d+\s*", text) for text in texts) else "."


def chosen(titles: Mapping[str, int], assignment: str, wanted: str | None, system: str) -> int:
    """The column with this title, or with the assignment's name.

    Args:
        titles: by the title with and without what the system adds to it, the columns that can be filled in.

    Raises:
        Problem: there is none.
    """
    name = wanted or assignment
    if name in titles:
        return titles[name]
    there = ", ".join(f'"{title}"' for title in titles) or "none"
    raise Problem(f'No column of grades is called "{name}" in {system}. Name it with --column; there are: {there}.')
