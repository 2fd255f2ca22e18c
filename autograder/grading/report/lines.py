"""Line by line, what the gradebook and the graded notebooks say of a class."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from nbformat import NotebookNode, from_dict
from nbgrader.utils import compute_checksum, is_solution, is_task

from autograder.folder import Course
from autograder.grading import gradebook
from autograder.grading.lateness import Late
from autograder.grading.report import outcomes
from autograder.plugins.bounds import Refused
from autograder.plugins.gradebooks import GONE
from autograder.plugins.judges import Judge, worth
from autograder.plugins.printable import printable, without_colours
from autograder.plugins.reading import reason_in
from autograder.plugins.verdicts import verdicts_in
from autograder.verdicts.cells import ANSWER

NOTHING = "nothing handed in"
NOT_GRADED = "not graded"
GRADED = "graded"
FOR_A_PERSON = "to be graded by hand"
LOOK_AGAIN = "to be looked at again"
NOT_RECOGNISED = "not recognised"
NOT_ATTEMPTED = "not attempted"
GONE_FROM_COPY = "its cell is missing"
SILENT = ("passed", "partly", "wrong", GRADED)
"""The outcomes that points say as well."""
ARROW = re.compile(r"^-++> *+\d++ ++(\S.*)", re.MULTILINE)
"""Before the line of a cell at which a traceback begins."""
LONGEST_MESSAGE = 200


@dataclass(frozen=True)
class Line:
    """One student's exercise, or question; in an assignment that is not this course's, one student's grade cell.

    Attributes:
        score: what counts, a person's before the judge's; None while a person has yet to look.
        points: what it is worth.
        by_hand: whether a person has to look.
        extra: the extra credit in the score.
        missed: the properties that lost marks.
        note: what the judge says beside the mistakes.
        alike: by what a wrong answer without a known mistake is known to be like another; "" for any other.
        code: such an answer, as it was handed in.
        is_marked: whether a person has marked it.
        error: how a test without a judge ended: the kind of the error, and the line of the test; "" where it did not end so.
        message: what that error says.
        state, why: of what was not graded by itself, and that nobody has marked yet: what it is in a few words, if there are some, and
            in a sentence.
    """

    student: str
    exercise: str
    score: float | None
    outcome: str
    mistakes: tuple[str, ...]
    points: float = 0.0
    by_hand: bool = False
    extra: float = 0.0
    missed: tuple[str, ...] = ()
    note: str = ""
    alike: str = ""
    code: str = ""
    is_marked: bool = False
    error: str = ""
    message: str = ""
    state: str = ""
    why: str = ""

    @property
    def handed_in(self) -> bool:
        return self.outcome != NOTHING

    @property
    def graded(self) -> bool:
        return self.outcome not in (NOTHING, NOT_GRADED)

    @property
    def solved(self) -> bool:
        return self.score is not None and self.score >= self.points

    @property
    def waits(self) -> bool:
        """Whether a person has to decide before there is a score."""
        return self.by_hand and not self.is_marked

    @property
    def is_blank(self) -> bool:
        """Whether nothing was answered: a cell is as it was released, or raises what the release raises in place of an answer."""
        return self.outcome == NOT_ATTEMPTED or self.error.startswith(NotImplementedError.__name__)

    @property
    def unrecognised(self) -> bool:
        """Whether it is wrong in a way that no known mistake is."""
        return self.outcome in outcomes.UNRECOGNISED and not self.mistakes and not self.solved

    @property
    def remarks(self) -> tuple[str, ...]:
        """What points alone do not say: the mistakes, or that none was recognised, or what became of it."""
        if self.unrecognised:
            return (f"{'raised, ' if self.outcome == 'raised' else ''}{NOT_RECOGNISED}",)
        return self.mistakes or (() if self.outcome in SILENT else (self.state or self.outcome,))


def lines(course: Course, assignment: str) -> list[Line]:
    """What the gradebook and the graded notebooks say of every student that the course knows."""
    found: list[Line] = []
    grades = {(grade.student, grade.notebook, grade.cell): grade for grade in gradebook.grades(course, assignment)}
    places = cells(course, assignment)
    submitters = set(course.submitters(assignment))
    ours = assignment in course.judge.notebooks
    for student in sorted(gradebook.students(course).keys() | submitters):
        folder = course.folder("autograded", student, assignment)
        absent = None if folder.is_dir() else NOT_GRADED if student in submitters else NOTHING
        stored = _cells(folder / f"{assignment}.ipynb") if ours else []
        reasons = {assignment: reason_in(stored[:1])}
        graded = _graded_cells(stored)
        verdicts, sources = verdicts_in(graded), _sources(graded)
        others: dict[tuple[str, str], tuple[NotebookNode | None, bool]] = {}
        if not (ours or absent):
            others, reasons = _unmarked(folder, places, student, grades)
        for (notebook, cell), (label, points) in places.items():
            if absent:
                found.append(Line(student, label, None, absent, (), points))
                continue
            grade, verdict = grades.get((student, notebook, cell)), verdicts.get(cell)
            score, by_hand, extra = (grade.score, grade.by_hand, grade.extra or 0.0) if grade else (None, False, 0.0)
            if verdict is None:
                said = _without_verdict(course.judge, assignment, cell, grade)
                is_marked = grade is not None and grade.manual is not None
                at, is_released = others.get((notebook, cell), (None, False))
                state, sentence = "", ""
                if said == FOR_A_PERSON and (why := reasons.get(notebook)):
                    state, sentence = why.state, str(why)
                elif said == FOR_A_PERSON and not ours and at is None:
                    state, sentence = GONE_FROM_COPY, GONE % cell
                line = Line(
                    student,
                    label,
                    score,
                    said,
                    (),
                    points,
                    by_hand,
                    extra,
                    is_marked=is_marked,
                    state=state,
                    why=sentence,
                )
                found.append(line if by_hand else _told(line, at, is_released))
                continue
            line = Line(
                student,
                label,
                score,
                outcomes.outcome(verdict),
                verdict.mistakes,
                points,
                by_hand,
                extra,
                outcomes.missed(verdict),
                verdict.note,
                verdict.alike,
                sources.get(f"{cell}{ANSWER}", "") if verdict.alike else "",
                grade is not None and grade.manual is not None,
            )
            found.append(line)
    return found


def cells(course: Course, assignment: str) -> dict[tuple[str, str], tuple[str, float]]:
    """By notebook and cell, what the columns are called and what they are worth."""
    if assignment in course.judge.notebooks:
        return {(assignment, name): (name, points) for name, points in worth(course.judge, assignment).items()}
    in_gradebook = gradebook.worth(course, assignment)
    alone = len({notebook for notebook, _ in in_gradebook}) == 1
    return {place: (place[1] if alone else "/".join(place), points) for place, points in in_gradebook.items()}


def columns(found: list[Line]) -> dict[str, float]:
    """What each exercise is worth, in order."""
    return {line.exercise: line.points for line in found}


def by_student(found: list[Line]) -> dict[str, list[Line]]:
    own: dict[str, list[Line]] = {}
    for line in found:
        own.setdefault(line.student, []).append(line)
    return own


def is_decided(own: list[Line]) -> bool:
    """Whether a student has points for anything: nobody has who handed in what is not graded, or waits for a person altogether."""
    return any(line.score is not None for line in own)


def total(own: list[Line], late: Late) -> float | None:
    """What a student has altogether, as `nbgrader export` has it; None where something was handed in, and nothing of it is decided."""
    if any(line.handed_in for line in own) and not is_decided(own):
        return None
    return max(0.0, sum(line.score or 0.0 for line in own) - late.penalty)


def sentences(notes: list[str]) -> list[str]:
    """The notes that a person reads: tracebacks end in what is said of the failure anyway."""
    return [note for note in notes if not note.startswith("Traceback ")]


def _without_verdict(judge: Judge, assignment: str, cell: str, grade: gradebook.Grade | None) -> str:
    """What became of a cell of a graded notebook that no judge has spoken of."""
    if grade is not None and grade.by_hand:
        return FOR_A_PERSON if grade.manual is None else LOOK_AGAIN
    if assignment not in judge.notebooks:
        return NOT_GRADED if grade is None else GRADED
    if grade is None or cell not in judge.questions(assignment):
        return "not judged"
    if grade.manual is not None:
        return GRADED
    return FOR_A_PERSON if grade.auto is None else NOT_ATTEMPTED


def _unmarked(
    folder: Path,
    places: Iterable[tuple[str, str]],
    student: str,
    grades: Mapping[tuple[str, str, str], gradebook.Grade],
) -> tuple[dict[tuple[str, str], tuple[NotebookNode | None, bool]], dict[str, Refused | None]]:
    """By notebook and cell, the graded cells that no person has marked, and whether the answer before a test is as it was released; and
    by notebook why all of it waits for a person."""
    wanted = {place for place in places if (grade := grades.get((student, *place))) and grade.manual is None}
    found: dict[tuple[str, str], tuple[NotebookNode | None, bool]] = {}
    reasons = {}
    for notebook in dict.fromkeys(notebook for notebook, _ in wanted):
        stored = _cells(folder / f"{notebook}.ipynb")
        reasons[notebook] = reason_in(stored[:1])
        is_released = False
        for cell in _graded_cells(stored):
            if _is_answer(cell):
                is_released = compute_checksum(cell) == cell.metadata.nbgrader.get("checksum")
            if (place := (notebook, cell.metadata.nbgrader.grade_id)) in wanted:
                found[place] = cell, is_released
    return found, reasons


def _told(line: Line, cell: NotebookNode | None, is_released: bool) -> Line:
    """A line with what its graded cell says of points that were lost: that nothing was answered, or how the test ended."""
    if cell is None or line.solved:
        return line
    error = next((one for one in cell.get("outputs", ()) if one.get("output_type") == "error"), None)
    if is_released and not line.score and (error or _is_answer(cell)):
        return replace(line, outcome=NOT_ATTEMPTED)
    if error is None:
        return line
    at = ARROW.search(without_colours("\n".join(map(str, error.get("traceback", ())))))
    where = f" at `{printable(at[1].rstrip())[:LONGEST_MESSAGE]}`" if at else ""
    message = next((text for text in str(error.get("evalue", "")).splitlines() if text.strip()), "").strip()
    return replace(
        line, error=f"{printable(str(error.get('ename')))}{where}", message=printable(message)[:LONGEST_MESSAGE]
    )


def _is_answer(cell: NotebookNode) -> bool:
    """Whether a student answers in a cell."""
    return is_solution(cell) or is_task(cell)


def _cells(path: Path) -> list[NotebookNode]:
    """The first cell of a graded notebook and those that nbgrader knows; none where it is not there, or somebody has damaged it since."""
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        read = json.loads(path.read_text(encoding="utf-8"))["cells"]
        known = [cell for cell in read if "grade_id" in cell["metadata"].get("nbgrader", {})]
        first = [cell for cell in read[:1] if cell not in known]
        return [from_dict({**cell, "source": "".join(cell["source"])}) for cell in (*first, *known)]
    return []


def _graded_cells(cells: Iterable[NotebookNode]) -> list[NotebookNode]:
    """Of these cells, those that nbgrader knows."""
    return [cell for cell in cells if "nbgrader" in cell.metadata]


def _sources(graded: list[NotebookNode]) -> dict[str, str]:
    """By the name of its cell, what stands in it."""
    return {cell.metadata.nbgrader.grade_id: cell.source for cell in graded}
