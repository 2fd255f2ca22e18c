"""What a feedback page was made of, written on the page, so that it is known when it has to be made again."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)

Marks = Mapping[tuple[str, str], list[tuple[Any, ...]]]
"""By student and notebook, all that the gradebook says of it and a page shows."""


def marks(gradebook: Gradebook, assignment: str) -> Marks:
    """Everybody's marks: scores, points, comments and what being late costs."""
    found: defaultdict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
    grades = (Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.max_score)
    comments = (Comment.auto_comment, Comment.manual_comment)
    whose = gradebook.db.query(SubmittedAssignment.student_id, Notebook.name).select_from(SubmittedNotebook)
    whose = whose.join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    whose = whose.join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
    whose = whose.join(Assignment, Notebook.assignment_id == Assignment.id).filter(Assignment.name == assignment)
    queries = [whose.add_columns(SubmittedNotebook.late_submission_penalty)]
    for table, values in ((Grade, grades), (Comment, comments)):
        of_cells = whose.join(table, table.notebook_id == SubmittedNotebook.id)
        queries.append(of_cells.join(BaseCell, table.cell_id == BaseCell.id).add_columns(BaseCell.name, *values))
    for query in queries:
        for who, notebook, *row in query:
            found[who, notebook].append(tuple(row))
    return found


def made_of(notebook: Path, student: str, marks: Marks) -> str:
    """What a page depends on, in a word: the graded notebook as it was last written, and its marks.

    Raises:
        OSError: there is no such notebook.
    """
    written = notebook.stat()
    rows = sorted(map(repr, marks.get((student, notebook.stem), [])))
    return hashlib.sha256(repr((written.st_mtime_ns, written.st_size, rows)).encode()).hexdigest()


def stamped(page: str, word: str) -> str:
    """The page with what it was made of at its end, where readers do not see it."""
    return f"{page}{_stamp(word)}"


def is_made_of(page: Path, word: str) -> bool:
    """Whether a page is there, and was made of this."""
    stamp = _stamp(word).encode()
    with suppress(OSError), page.open("rb") as file:
        file.seek(-len(stamp), 2)
        return file.read() == stamp
    return False


def _stamp(word: str) -> str:
    return f"<!-- made of {word} -->\n"
