"""Everything about everybody's marks in one CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Container, Iterable

from autograder.grading.report.lines import GRADED
from autograder.lms.marks import Mark

BEFORE = (
    "student_id",
    "last_name",
    "first_name",
    "email",
    "lms_user_id",
    "status",
    "timestamp",
    "seconds_late",
    "late_in_lms",
)
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How what a spreadsheet computes begins."""
AFTER = ("extra_credit", "raw_score", "late_penalty", "score", "max_score", "comment")


def text(marks: Iterable[Mark], late_in_lms: Container[str] = ()) -> str:
    """A row for each student, with a column for each exercise: empty where nobody has decided, and no `score` where there is no mark yet.

    `late_in_lms` is yes where the LMS said so; `status` says why, `timestamp` is in UTC, and scores are in points. `raw_score` has extra credit in it, `score` has the
    penalty taken off too.
    """
    marks = list(marks)
    exercises = [line.exercise for line in marks[0].lines] if marks else []
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow([*BEFORE, *exercises, *AFTER])
    for mark in marks:
        one, late = mark.person, mark.late
        scores = ["" if line.score is None else f"{line.score:g}" for line in mark.lines]
        raw, extra = sum(line.score or 0.0 for line in mark.lines), sum(line.extra for line in mark.lines)
        rows.writerow(
            [
                *map(_no_formula, (one.id, one.last_name, one.first_name, one.email, one.lms_user_id)),
                *(
                    _no_formula(mark.why_not) or GRADED,
                    late.timestamp.isoformat() if late.timestamp else "",
                    f"{late.seconds:g}",
                ),
                "yes" if one.id in late_in_lms else "",
                *scores,
                *(f"{extra:g}", f"{raw:g}", f"{late.penalty:g}", "" if mark.why_not else f"{mark.total:g}"),
                *(f"{mark.out_of:g}", _no_formula(mark.comment)),
            ]
        )
    return written.getvalue()


def _no_formula(text: str) -> str:
    """A text that a spreadsheet does not take for a formula: an apostrophe stands before what would begin one."""
    return f"'{text}" if text.startswith(FORMULA) else text
