"""Who would gain and who would lose, before anything is written."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from autograder.grading.gradebook import Deadline, Entry, Grade
from autograder.grading.snapshot import Snapshot

LATE = "late penalty"


@dataclass(frozen=True)
class Change:
    """An automatic score in the gradebook that would become another; None stands for a person's decision.

    What being late costs is the negative score of an exercise called `LATE`.
    """

    student: str
    notebook: str
    exercise: str
    old: float
    new: float | None


def changes(
    snapshot: Snapshot, stored: Iterable[Grade], deadlines: Iterable[Deadline], entries: Collection[Entry]
) -> list[Change]:
    """Every score and penalty that would change; where a person has given a score, that one stays, and there is no change."""
    new = {entry.student: entry.scores(snapshot) for entry in entries}
    penalties = {
        (entry.student, name): penalty or 0.0 for entry in entries for name, penalty in entry.penalties.items()
    }
    found = []
    for row in deadlines:
        old, after = row.penalty or 0.0, penalties.get((row.student, row.notebook))
        if after is not None and after != old:
            found.append(Change(row.student, row.notebook, LATE, -old or 0.0, -after or 0.0))
    for grade in stored:
        place = (grade.notebook, grade.cell)
        if grade.auto is None or grade.manual is not None or place not in new.get(grade.student, {}):
            continue
        score = new[grade.student][place][0]
        if score != grade.auto:
            found.append(Change(grade.student, *place, grade.auto, score))
    return sorted(found, key=lambda change: (change.student, change.notebook, change.exercise))


def table(found: list[Change]) -> Table:
    """The changes, gains and losses apart."""
    made = Table(title="Scores in the gradebook that would change", title_justify="left")
    for heading in ("student", "exercise", "old", "new", ""):
        made.add_column(heading, justify="right" if heading in ("old", "new") else "left")
    for change in found:
        new = "?" if change.new is None else f"{change.new:g}"
        made.add_row(*map(Text, (change.student, change.exercise, f"{change.old:g}", new, _verb(change))))
    return made


def _verb(change: Change) -> str:
    if change.new is None:
        return "a person decides"
    return "gains" if change.new > change.old else "loses"
