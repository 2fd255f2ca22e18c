"""What students hand in for 00_shapes, and what nbgrader's own commands make of it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from autograder.folder import Course
from tests.support.commands import nbgrader

NOTEBOOK = "00_shapes"
EXERCISES = ("pairwise_dots", "mix_rows", "to_columns")
RIGHT = {
    "pairwise_dots": "def pairwise_dots(A, B):\n    return A @ B.T",
    "mix_rows": "def mix_rows(W, V):\n    return W @ V",
    "to_columns": "def to_columns(X, W):\n    return W.T, X.T",
}
WRONG = {
    "pairwise_dots": "def pairwise_dots(A, B):\n    return 2.0",
    "mix_rows": "def mix_rows(W, V):\n    return 2.0",
    "to_columns": "def to_columns(X, W):\n    return 3.0",
}


def filled(course: Course, answers: dict[str, str]) -> NotebookNode:
    """The release with answers filled in."""
    notebook = nbformat.read(str(course.root / "release" / NOTEBOOK / f"{NOTEBOOK}.ipynb"), as_version=4)
    for exercise, source in answers.items():
        answer_cell(notebook, exercise).source = source
    return notebook


def grade_cell(notebook: NotebookNode, exercise: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if cell.id == exercise.replace("_", "-"))


def answer_cell(notebook: NotebookNode, exercise: str) -> NotebookNode:
    return grade_cell(notebook, f"{exercise}_solution")


def place(course: Course, student: str) -> Path:
    """Where a student's notebook goes."""
    path = course.folder("submitted", student, NOTEBOOK) / f"{NOTEBOOK}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def hand_in(course: Course, student: str, notebook: NotebookNode) -> Path:
    path = place(course, student)
    path.write_text(json.dumps(notebook))  # as it is: nbformat would refuse some of what students hand in
    return path


def scores(course: Course, student: str) -> tuple[float | None, ...]:
    """What the gradebook has as automatic scores, exercise by exercise."""
    with Gradebook(course.database) as gradebook:
        grades = [gradebook.find_grade(exercise, NOTEBOOK, NOTEBOOK, student) for exercise in EXERCISES]
        return tuple(grade.auto_score for grade in grades)


def page(course: Course, student: str) -> str:
    """A student's feedback page as it is stored."""
    return (course.folder("feedback", student, NOTEBOOK) / f"{NOTEBOOK}.html").read_text()


def words(stored: str) -> str:
    """What a reader sees of a page, in one line."""
    body = re.sub(r"(?s)<(script|style)\b.*?</\1>", "", stored[stored.index("<body") :])
    inline = re.sub(r"</?(strong|b|em|i|code|span|a)\b[^>]*>", "", body)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", inline)).split())


@dataclass(frozen=True)
class Attempt:
    """Something handed in, what it may earn, and what is said of it.

    Attributes:
        make: given the honest notebook and the path where one is handed in, what to write there, or None where it has done so.
        earns: the points for each exercise.
        log, page: what the log and the feedback page say; "" where there is nothing to say.
    """

    make: Callable[[NotebookNode, Path], NotebookNode | str | None]
    earns: tuple[float | None, ...]
    log: str = ""
    page: str = ""


@dataclass(frozen=True)
class Graded:
    """A class that one `nbgrader autograde` and one `nbgrader generate_feedback` have been through."""

    course: Course
    returncode: int
    log: str

    def log_of(self, student: str) -> str:
        """The part of the log that is about one student."""
        lines = self.log.splitlines()
        starts = [i for i, line in enumerate(lines) if "Looking for what does not belong" in line]
        parts = ["\n".join(lines[a:b]) for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)]
        return next(part for part in parts if f"/{student}/" in part)


def grade_class(course: Course, attempts: dict[str, Attempt], *options: str) -> Graded:
    """Hand in every attempt beside an honest student's work, and have nbgrader grade them all in one run."""
    hand_in(course, "honest", filled(course, RIGHT))
    for student, attempt in attempts.items():
        path = place(course, student)
        made = attempt.make(filled(course, RIGHT), path)
        if made is not None:
            path.write_text(made if isinstance(made, str) else json.dumps(made))
    graded = nbgrader(course, "autograde", NOTEBOOK, "--Execute.shutdown_kernel=immediate", *options)
    feedback = nbgrader(course, "generate_feedback", NOTEBOOK)
    return Graded(course, graded.returncode + feedback.returncode, graded.stdout)
