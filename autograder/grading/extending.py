"""Until when an assignment may be handed in: by everybody, and by one student who gets more time."""

from __future__ import annotations

from datetime import datetime, timedelta

from autograder.folder import Course
from autograder.grading.database import only_writer, opened
from autograder.grading.store import only_run
from autograder.plugins.handing_in import FORM, moment
from autograder.plugins.roster import Roster
from autograder.problems import OF_PEOPLE, Problem, nearest

LONGEST = timedelta(days=366)


def extend(course: Course, assignment: str, student: str, days: float | None = None, until: str | None = None) -> str:
    """Have a student's lateness count from some time after the due date.

    What is stored is the difference to the due date: where that is moved, this time moves with it. What being late costs is reckoned
    anew by the next run, which runs nothing again for it.

    Args:
        days: how long after the due date, in days of 24 hours; 0 takes back what was given before.
        until: or up to when, as due dates are written.

    Returns:
        A sentence on what is so now.

    Raises:
        Problem: there is no such student or assignment, it has no due date, there is no such time, or it is none after the due date, or
            the gradebook is in use.
    """
    if (days is None) == (until is None):
        raise Problem(f'Say either how many days of 24 hours, or until when: --days 2, or --until "{FORM}".')
    if days is not None and not 0 <= days <= LONGEST.days:
        raise Problem(f"{days:g} days are no extension: give a number from 0 to {LONGEST.days}.")
    end = None if until is None else _moment(until)
    with only_run(course.class_folder / "graded"), only_writer(course), opened(course) as gradebook:
        known = {one.name: one.duedate for one in gradebook.assignments}
        if assignment not in known:
            raise Problem(f"The gradebook has no assignment {assignment!r}.{nearest(assignment, known)}")
        students = [one.id for one in gradebook.students]
        if student not in students:
            raise Problem(f"The gradebook has no student {student!r}.{nearest(student, students, OF_PEOPLE)}")
        due = known[assignment]
        if due is None:
            raise Problem(
                f"{assignment} has no due date, so nobody is late: give it one with "
                f'`python -m autograder due {assignment} "{FORM}"`.'
            )
        more = timedelta(days=days or 0) if end is None else end - due
        if end is not None and not timedelta(0) <= more <= LONGEST:
            raise Problem(
                f"{_shown(end)} is no extension of what is due {_shown(due)}: give a time in the {LONGEST.days} days after that."
            )
        gradebook.update_or_create_submission(assignment, student, extension=more or None)
        shown = Roster.of(gradebook).shown(student)
    counted = ", a day being 24 hours" if days else ""
    return f"{shown} may hand in {assignment} until {_shown(due + more)}{counted}. Grade it again to have that count."


def set_due(course: Course, assignment: str, when: str) -> str:
    """Give an assignment a due date. `nbgrader db assignment add --duedate` reads some times as others.

    Returns:
        A sentence on what is so now, in UTC.

    Raises:
        Problem: the time may mean several, there is no such assignment, or the gradebook is in use.
    """
    due = _moment(when)
    with only_run(course.class_folder / "graded"), only_writer(course), opened(course) as gradebook:
        known = [one.name for one in gradebook.assignments]
        if assignment not in known and not course.folder("source", ".", assignment).is_dir():
            raise Problem(f"There is no assignment {assignment!r}.{nearest(assignment, known)}")
        gradebook.update_or_create_assignment(assignment, duedate=due)
    return f"{assignment} is due {due:%Y-%m-%d %H:%M:%S} UTC. What is graded has to be graded again to have that count."


def _moment(when: str) -> datetime:
    """The time that somebody wrote, in UTC.

    Raises:
        Problem: it may mean several.
    """
    try:
        return moment(when.encode())
    except ValueError:
        raise Problem(f'"{when}" is no time that can be read for certain. Write it like this: "{FORM}".') from None


def _shown(time: datetime) -> str:
    return f"{f'{time:%Y-%m-%d %H:%M:%S}'.removesuffix(':00')} UTC"
