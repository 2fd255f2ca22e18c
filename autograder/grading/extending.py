"""Give one student more time for one assignment; nbgrader's gradebook has a place for it, and no command."""

from __future__ import annotations

from datetime import timedelta

from autograder.folder import Course
from autograder.grading.database import only_writer, opened
from autograder.grading.store import only_run
from autograder.problems import Problem, nearest


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
            raise Problem(f"The gradebook has no student {student!r}.{nearest(student, students)}")
        if due[assignment] is None:
            raise Problem(
                f"{assignment} has no due date, so nobody is late: give it one with "
                f'`nbgrader db assignment add {assignment} --duedate="2026-01-31 23:59:00 UTC"`.'
            )
        gradebook.update_or_create_submission(assignment, student, extension=timedelta(days=days) if days else None)
        until = due[assignment] + timedelta(days=days)
    return f"{student} may hand in {assignment} until {until:%Y-%m-%d %H:%M} UTC. Grade it again to have that count."
