"""`python -m autograder requests` and `decide`: what students ask to have looked at again, with what there is to know of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from autograder.folder import Course
from autograder.grading import gradebook
from autograder.grading.database import opened
from autograder.grading.explaining import explain
from autograder.grading.gradebook import Grade
from autograder.grading.store import write_atomically
from autograder.plugins import regrade_requests
from autograder.plugins.printable import lines, printable
from autograder.plugins.regrade_requests import FORM, Inbox, Request, decoded, lacks, with_decision
from autograder.problems import FAILED, Problem, nearest

NONE = "There are no regrade requests. Write each into {}, one a line:\n\n    {}"
NO_REASON = "say why behind `{}:`; until then this request counts as not decided"
NO_POINTS = "nobody has given other points yet: give them in formgrader"
HOW = "Decide by `yes: REASON` or `no: REASON` in a line below, or by `python -m autograder decide STUDENT EXERCISE no REASON`."


def inbox(course: Course) -> Inbox:
    """What the course's file of requests says.

    Raises:
        Problem: it cannot be read.
    """
    with opened(course) as book:
        try:
            return regrade_requests.inbox(course.directory, book)
        except OSError as error:
            where = regrade_requests.place(course.directory)
            raise Problem(f"{where} cannot be read: {error.strerror or error}", FAILED) from None


def listed(course: Course, assignment: str | None = None) -> Iterator[str]:
    """Every request in a paragraph: those that nobody has decided, as a judge explains them; those decided; what is none.

    Args:
        assignment: whose requests; those of all, if None.
    """
    found = inbox(course)
    if assignment not in (None, *found.cells):
        raise Problem(f"The gradebook has no assignment {assignment!r}.{nearest(str(assignment), found.cells)}")
    where = regrade_requests.place(course.directory)
    if not found.requests and not found.unread:
        yield NONE.format(where, FORM)
        return
    wanted = [one for one in found.requests if assignment in (None, one.assignment) and not one.unknown]
    waiting = [one for one in wanted if not one.is_decided]
    names = dict.fromkeys(one.assignment for one in wanted)
    grades = {
        (name, grade.student, grade.notebook, grade.cell): grade
        for name in names
        for grade in gradebook.grades(course, name)
    }
    worth = {name: gradebook.worth(course, name) for name in names}
    yield f"{where}: {len(waiting)} of {len(wanted)} regrade requests wait for a decision. {HOW if waiting else ''}".strip()
    for one in sorted(wanted, key=lambda request: request.is_decided):
        grade = grades.get((one.assignment, one.student, one.notebook, one.cell))
        has = f"{_points(grade)} of {worth[one.assignment][one.notebook, one.cell]:g}"
        head = f"line {one.line}: {one.student}, {one.assignment}, {one.exercise}, has {has}"
        if one.is_decided:
            is_open = one.decision == "yes" and (grade is None or grade.manual is None)
            yield printable(f"{head}; {one.decision}: {one.reason}") + (f" ({NO_POINTS})" if is_open else "")
        else:
            yield "\n".join([printable(head), _indented(f"says: {one.says}"), *_explained(course, one)])
    yield from troubles(found, where)


def troubles(found: Inbox, where: Path) -> Iterator[str]:
    """What in the file is no request, names nobody or nothing, or is decided without a reason; each with its line."""
    for number, line in found.unread.items():
        yield printable(f"{where}, line {number} is no request ({FORM}), for {lacks(line)}: {line}")
    for one in found.requests:
        if one.unknown:
            cells = found.cells.get(one.assignment, {})
            known = {"student": found.students, "assignment": found.cells, "exercise": cells}[one.unknown]
            typed = getattr(one, one.unknown)
            of = f" of {one.assignment}" if one.unknown == "exercise" else ""
            yield printable(
                f"{where}, line {one.line}: there is no {one.unknown} {typed!r}{of}.{nearest(typed, known)}"
            )
        elif one.decision and not one.reason:
            yield f"{where}, line {one.end}: {NO_REASON.format(one.decision)}"


def decide(course: Course, student: str, exercise: str, decision: str, reason: str) -> str:
    """Write a decision under the request that a student has made, and say what is next.

    Args:
        exercise: its name; where a student has asked for one of that name in several assignments, ASSIGNMENT/EXERCISE.
        decision: "yes" or "no".

    Raises:
        Problem: there is no such request that waits for a decision, or there are several; or there is no reason.
    """
    if not reason.strip():
        raise Problem("Say why: the student reads it.")
    waiting = [one for one in inbox(course).requests if not one.is_decided and not one.unknown]
    own = [one for one in waiting if one.student == student]
    meant = [one for one in own if exercise in (one.exercise, f"{one.assignment}/{one.exercise}")]
    where = regrade_requests.place(course.directory)
    if len(meant) != 1:
        there = ", ".join(
            f"{one.student} {one.assignment}/{one.exercise} (line {one.line})" for one in meant or waiting
        )
        how_many = "more than one regrade request" if meant else "no regrade request"
        raise Problem(
            f"{where} has {how_many} of {student} for {exercise} that waits for a decision. There are: {there or 'none'}."
        )
    (one,) = meant
    text, encoding = decoded(where.read_bytes())
    changed = with_decision(text, one, decision, reason)
    try:
        write_atomically(where, changed, encoding)
    except UnicodeEncodeError:
        write_atomically(where, changed)
    points = f"Give {student} the points in formgrader. " if decision == "yes" else ""
    return f"{where}, line {one.end + 1}: {decision}. {points}`python -m autograder grade {one.assignment}` puts it on the page."


def _points(grade: Grade | None) -> str:
    if grade is None or grade.score is None:
        return "no points yet"
    return f"{grade.score:g}{' by a person' if grade.manual is not None else ''}"


def _explained(course: Course, request: Request) -> Iterator[str]:
    """How the points came about, where a judge gave them."""
    judge = course.judge
    if request.assignment not in judge.notebooks or request.cell not in judge.exercises(request.assignment):
        return
    try:
        yield _indented(explain(course, request.assignment, request.student, request.cell))
    except Problem as problem:
        yield _indented(str(problem))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in lines(text).split("\n"))
