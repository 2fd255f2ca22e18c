"""Until when an assignment may be handed in: by everybody, and by one student who gets more time."""

from __future__ import annotations

from datetime import timedelta

from autograder.folder import Course
from autograder.grading.database import only_writer, opened
from autograder.grading.store import only_run
from autograder.plugins.handing_in import FORM, moment
from autograder.plugins.roster import Roster
from autograder.problems import OF_PEOPLE, Problem, nearest


def extend(course: Course, assignment: str, student: str, days: float) -> str:
    """Have a student's lateness count from so many days after the due date.

    What being late costs is reckoned anew by the next run, which runs nothing again for it.

    Args:
        days: 0 takes back what was given before.

    Returns:
        A sentence on what is so now.

    Raises:
        Problem: there is no such student or assignment, it has no due date, the days are no number of days, or the gradebook is in use.
    """
    if not 0 <= days <= 366:
        raise Problem(f"{days:g} days are no extension: give a number from 0 to 366.")
    with only_run(course.class_folder / "graded"), only_writer(course), opened(course) as gradebook:
        due = {one.name: one.duedate for one in gradebook.assignments}
        if assignment not in due:
            raise Problem(f"The gradebook has no assignment {assignment!r}.{nearest(assignment, due)}")
        students = [one.id for one in gradebook.students]
        if student not in students:
            raise Problem(f"The gradebook has no student {student!r}.{nearest(student, students, OF_PEOPLE)}")
        if due[assignment] is None:
            raise Problem(
                f"{assignment} has no due date, so nobody is late: give it one with "
                f'`python -m autograder due {assignment} "{FORM}"`.'
            )
        gradebook.update_or_create_submission(assignment, student, extension=timedelta(days=days) if days else None)
        until = due[assignment] + timedelta(days=days)
        shown = Roster.of(gradebook).shown(student)
    return f"{shown} may hand in {assignment} until {until:%Y-%m-%d %H:%M} UTC. Grade it again to have that count."


def set_due(course: Course, assignment: str, when: str) -> str:
    """Give an assignment a due date. `nbgrader db assignment add --duedate` reads some times as others.

    Returns:
        A sentence on what is so now, in UTC.

    Raises:
        Problem: the time may mean several, there is no such assignment, or the gradebook is in use.
    """
    try:
        due = moment(when.encode())
    except ValueError:
        raise Problem(f'"{when}" is no time that can be read for certain. Write it like this: "{FORM}".') from None
    with only_run(course.class_folder / "graded"), only_writer(course), opened(course) as gradebook:
        known = [one.name for one in gradebook.assignments]
        if assignment not in known and not course.folder("source", ".", assignment).is_dir():
            raise Problem(f"There is no assignment {assignment!r}.{nearest(assignment, known)}")
        gradebook.update_or_create_assignment(assignment, duedate=due)
    return f"{assignment} is due {due:%Y-%m-%d %H:%M:%S} UTC. What is graded has to be graded again to have that count."
