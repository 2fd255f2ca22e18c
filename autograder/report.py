"""The class report: who earned what in which exercise, and which mistakes the class makes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.utils import is_grade
from rich.table import Table
from rich.text import Text

from autograder.course import Course
from autograder.exercises import exercise_named, exercises_in
from autograder.exercises.model import lesson
from autograder.plugins.executing import verdict_in

NOTHING = "nothing handed in"


@dataclass(frozen=True)
class Line:
    """One student's exercise."""

    student: str
    exercise: str
    score: float | None
    outcome: str
    mistakes: tuple[str, ...]


def lines(course: Course, notebook: str) -> list[Line]:
    """What the gradebook and the graded notebooks say of every student that the course knows."""
    found: list[Line] = []
    with Gradebook(course.database) as gradebook:
        students = sorted({student.id for student in gradebook.students} | set(course.submitters(notebook)))
        for student in students:
            path = course.folder("autograded", student, notebook) / f"{notebook}.ipynb"
            verdicts = _verdicts(path) if path.is_file() else {}
            for exercise in exercises_in(notebook):
                verdict = verdicts.get(exercise.name, {})
                outcome = verdict.get("outcome", "not judged" if path.is_file() else NOTHING)
                score = _score(gradebook, notebook, student, exercise.name) if path.is_file() else None
                found.append(Line(student, exercise.name, score, outcome, tuple(verdict.get("mistakes", ()))))
    return found


def _verdicts(path: Path) -> dict[str, dict[str, Any]]:
    """By exercise, the verdicts in the grade cells; other cells may hold anything."""
    cells = [cell for cell in nbformat.read(str(path), as_version=4).cells if is_grade(cell)]
    return {cell.metadata.nbgrader.grade_id: verdict for cell in cells if (verdict := verdict_in(cell))}


def _score(gradebook: Gradebook, notebook: str, student: str, exercise: str) -> float | None:
    """The score that counts, a person's before the judge's; None while a person has yet to look."""
    try:
        grade = gradebook.find_grade(exercise, notebook, notebook, student)
    except MissingEntry:
        return None
    return None if grade.manual_score is None and grade.auto_score is None else float(grade.score)


def table(notebook: str, found: list[Line]) -> Table:
    """One row a student, one column an exercise; the names of recognised mistakes under the points."""
    exercises = exercises_in(notebook)
    made = Table(title=notebook, title_justify="left", show_lines=True)
    made.add_column("student")
    for exercise in exercises:
        made.add_column(f"{exercise.name}\nof {exercise.points:g}", overflow="fold")
    made.add_column("total")
    for student in dict.fromkeys(line.student for line in found):
        own = [line for line in found if line.student == student]
        total = sum(line.score or 0.0 for line in own)
        made.add_row(*map(Text, (student, *map(_cell, own), f"{total:g}")))
    return made


def _cell(line: Line) -> str:
    if line.score is None:
        return line.outcome if line.outcome == NOTHING else f"? {line.outcome}"
    remarks = line.mistakes or ((line.outcome,) if line.outcome not in ("passed", "partly", "wrong") else ())
    return "\n".join([f"{line.score:g}", *remarks])


def html(notebook: str, found: list[Line]) -> str:
    """The report as a page: the table, then the mistakes by how many made them."""
    exercises = exercises_in(notebook)
    head = "".join(f"<th>{escape(e.name)}<br>of {e.points:g}</th>" for e in exercises)
    rows = []
    for student in dict.fromkeys(line.student for line in found):
        own = [line for line in found if line.student == student]
        cells = "".join(f"<td>{escape(_cell(line)).replace(chr(10), '<br>')}</td>" for line in own)
        rows.append(f"<tr><th>{escape(student)}</th>{cells}<td>{sum(line.score or 0.0 for line in own):g}</td></tr>")
    return (
        f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{notebook}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{notebook}</h1><table><tr><th>student</th>{head}<th>total</th></tr>{''.join(rows)}</table>"
        f"<h2>Mistakes, by how many made them</h2>{_mistakes(notebook, found)}</body></html>\n"
    )


def _mistakes(notebook: str, found: list[Line]) -> str:
    counted = Counter((line.exercise, mistake) for line in found for mistake in line.mistakes)
    if not counted:
        return "<p>No known mistake was recognised.</p>"
    items = []
    for (exercise, mistake), count in counted.most_common():
        text = next(lesson(m) for m in exercise_named(notebook, exercise).mistakes if m.__name__ == mistake)
        items.append(
            f"<tr><td>{count}</td><td>{escape(exercise)}</td><td>{escape(mistake)}</td><td>{escape(text)}</td></tr>"
        )
    return f"<table><tr><th>students</th><th>exercise</th><th>mistake</th><th>what they read</th></tr>{''.join(items)}</table>"


_STYLE = (
    "body{font-family:sans-serif;margin:2em;max-width:80em} table{border-collapse:collapse} "
    "th,td{border:1px solid #999;padding:.3em .6em;text-align:left;vertical-align:top}"
)
