"""The class report: who earned what in which exercise, and which mistakes the class makes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import MappingProxyType

from nbformat import from_dict
from rich.table import Table
from rich.text import Text

from autograder.exercises import NOTEBOOKS, exercises_in, tasks_in
from autograder.exercises.model import lesson
from autograder.folder import Course
from autograder.grading import gradebook
from autograder.grading.lateness import Late
from autograder.judging.verdict import Verdict
from autograder.plugins.verdicts import verdicts_in

NOTHING = "nothing handed in"
NOT_GRADED = "not graded"
GRADED = "graded"
FOR_A_PERSON = "to be graded by hand"
LOOK_AGAIN = "to be looked at again"


@dataclass(frozen=True)
class Line:
    """One student's exercise, or question; in an assignment that is not this course's, one student's grade cell.

    Attributes:
        score: what counts, a person's before the judge's; None while a person has yet to look.
        points: what it is worth.
        by_hand: whether a person has to look.
        extra: the extra credit in the score.
    """

    student: str
    exercise: str
    score: float | None
    outcome: str
    mistakes: tuple[str, ...]
    points: float = 0.0
    by_hand: bool = False
    extra: float = 0.0


def lines(course: Course, assignment: str) -> list[Line]:
    """What the gradebook and the graded notebooks say of every student that the course knows."""
    found: list[Line] = []
    grades = {(grade.student, grade.notebook, grade.cell): grade for grade in gradebook.grades(course, assignment)}
    cells = _cells(course, assignment)
    submitters = set(course.submitters(assignment))
    for student in sorted(gradebook.students(course).keys() | submitters):
        folder = course.folder("autograded", student, assignment)
        absent = NOT_GRADED if student in submitters else NOTHING
        verdicts = _verdicts(folder / f"{assignment}.ipynb") if assignment in NOTEBOOKS else {}
        for (notebook, cell), (label, points) in cells.items():
            grade = grades.get((student, notebook, cell)) if folder.is_dir() else None
            verdict = verdicts.get(cell)
            outcome = _outcome(verdict) if verdict else _without_verdict(assignment, cell, grade)
            score, by_hand, extra = (grade.score, grade.by_hand, grade.extra or 0.0) if grade else (None, False, 0.0)
            mistakes = verdict.mistakes if verdict else ()
            said = outcome if folder.is_dir() else absent
            found.append(Line(student, label, score, said, mistakes, points, by_hand, extra))
    return found


def _outcome(verdict: Verdict) -> str:
    """What a verdict says in a word; of a cell that did not run, also why."""
    if verdict.outcome == "did not run":
        return f"{verdict.outcome}: {verdict.note.partition(': ')[0]}"
    return verdict.outcome


def _without_verdict(assignment: str, cell: str, grade: gradebook.Grade | None) -> str:
    """What became of a cell of a graded notebook that no judge has spoken of."""
    if grade is not None and grade.by_hand:
        return FOR_A_PERSON if grade.manual is None else LOOK_AGAIN
    if assignment not in NOTEBOOKS:
        return NOT_GRADED if grade is None else GRADED
    if grade is None or cell not in {task.name for task in tasks_in(assignment)}:
        return "not judged"
    if grade.manual is not None:
        return GRADED
    return FOR_A_PERSON if grade.auto is None else "not attempted"


def _cells(course: Course, assignment: str) -> dict[tuple[str, str], tuple[str, float]]:
    """By notebook and cell, what the columns are called and what they are worth."""
    if assignment in NOTEBOOKS:
        return {(assignment, name): (name, points) for name, points in _own(assignment).items()}
    worth = gradebook.worth(course, assignment)
    alone = len({notebook for notebook, _ in worth}) == 1
    return {place: (place[1] if alone else "/".join(place), points) for place, points in worth.items()}


def _verdicts(path: Path) -> dict[str, Verdict]:
    """By exercise, the verdicts in a graded notebook, if it is there."""
    return verdicts_in(from_dict(json.loads(path.read_text(encoding="utf-8"))).cells) if path.is_file() else {}


def _columns(assignment: str, found: list[Line]) -> dict[str, float]:
    """What each exercise is worth, in order."""
    if assignment in NOTEBOOKS:
        return _own(assignment)
    return {line.exercise: line.points for line in found}


def _own(notebook: str) -> dict[str, float]:
    """What the exercises and then the questions of one of this course's notebooks are worth."""
    exercises = {exercise.name: exercise.points for exercise in exercises_in(notebook)}
    return exercises | {task.name: task.points for task in tasks_in(notebook)}


def total(own: list[Line], late: Late) -> float:
    """What a student has altogether, as `nbgrader export` has it."""
    return max(0.0, sum(line.score or 0.0 for line in own) - late.penalty)


def table(notebook: str, found: list[Line], late: Mapping[str, Late] = MappingProxyType({})) -> Table:
    """One row a student, one column an exercise; the names of recognised mistakes under the points; who was late, if anybody was."""
    made = Table(title=notebook, title_justify="left", show_lines=True)
    made.add_column("student")
    for exercise, points in _columns(notebook, found).items():
        made.add_column(f"{exercise}\nof {points:g}", overflow="fold")
    shown = any(map(str, late.values()))
    for heading in (*(["late"] if shown else []), "total"):
        made.add_column(heading)
    for student, own in _by_student(found).items():
        when = late.get(student, Late())
        made.add_row(*map(Text, (student, *map(_cell, own), *([str(when)] if shown else []), f"{total(own, when):g}")))
    return made


def _by_student(found: list[Line]) -> dict[str, list[Line]]:
    own: dict[str, list[Line]] = {}
    for line in found:
        own.setdefault(line.student, []).append(line)
    return own


def _cell(line: Line) -> str:
    if line.score is None:
        return line.outcome if line.outcome in (NOTHING, NOT_GRADED) else f"? {line.outcome}"
    remarks = line.mistakes or ((line.outcome,) if line.outcome not in ("passed", "partly", "wrong", GRADED) else ())
    return "\n".join([f"{line.score:g}", *remarks])


def html(
    notebook: str,
    found: list[Line],
    late: Mapping[str, Late] = MappingProxyType({}),
    notes: Mapping[str, list[str]] = MappingProxyType({}),
) -> str:
    """The report as a page: the table, then the mistakes by how many made them, then what was said of submissions."""
    columns = _columns(notebook, found)
    shown = any(map(str, late.values()))
    head = "".join(f"<th>{escape(name)}<br>of {points:g}</th>" for name, points in columns.items())
    head += "<th>late</th>" if shown else ""
    rows = []
    for student, own in _by_student(found).items():
        when = late.get(student, Late())
        cells = "".join(f"<td>{escape(_cell(line)).replace(chr(10), '<br>')}</td>" for line in own)
        cells += f"<td>{escape(str(when))}</td>" if shown else ""
        rows.append(f"<tr><th>{escape(student)}</th>{cells}<td>{total(own, when):g}</td></tr>")
    return (
        f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{notebook}</title><style>{_STYLE}</style></head>"
        f"<body><main><h1>{notebook}</h1><table><tr><th>student</th>{head}<th>total</th></tr>{''.join(rows)}</table>"
        f"<h2>Mistakes, by how many made them</h2>{_mistakes(notebook, found)}{_notes(notes)}</main></body></html>\n"
    )


def _notes(notes: Mapping[str, list[str]]) -> str:
    """What was repaired, renamed, moved away, or could not be read."""
    rows = [
        f"<tr><th>{escape(student)}</th><td>{'<br>'.join(map(escape, told))}</td></tr>"
        for student, own in sorted(notes.items())
        if (told := sentences(own))
    ]
    return f"<h2>What was said of submissions</h2><table>{''.join(rows)}</table>" if rows else ""


def sentences(notes: list[str]) -> list[str]:
    """The notes that a person reads: tracebacks end in what is said of the failure anyway."""
    return [note for note in notes if not note.startswith("Traceback ")]


def lessons(assignment: str) -> dict[tuple[str, str], str]:
    """By exercise and mistake, what students read of it; nothing of an assignment that is not this course's."""
    own = exercises_in(assignment) if assignment in NOTEBOOKS else ()
    return {(exercise.name, mistake.__name__): lesson(mistake) for exercise in own for mistake in exercise.mistakes}


def _mistakes(notebook: str, found: list[Line]) -> str:
    counted = Counter((line.exercise, mistake) for line in found for mistake in line.mistakes)
    if not counted:
        return "<p>No known mistake was recognised.</p>"
    known = lessons(notebook)
    items = []
    for (exercise, mistake), count in counted.most_common():
        text = known[exercise, mistake]
        items.append(
            f"<tr><td>{count}</td><td>{escape(exercise)}</td><td>{escape(mistake)}</td><td>{escape(text)}</td></tr>"
        )
    return f"<table><tr><th>students</th><th>exercise</th><th>mistake</th><th>what they read</th></tr>{''.join(items)}</table>"


_STYLE = (
    "body{font-family:sans-serif;margin:2em;max-width:80em} table{border-collapse:collapse} "
    "th,td{border:1px solid #999;padding:.3em .6em;text-align:left;vertical-align:top}"
)
