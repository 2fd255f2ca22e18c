"""The gradebook, opened; what goes wrong with it is said in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nbgrader.api import Gradebook
from sqlalchemy.exc import OperationalError

from autograder.course import Course
from autograder.grading.problems import FAILED, Problem


@contextmanager
def opened(course: Course) -> Iterator[Gradebook]:
    """A course's gradebook.

    Raises:
        Problem: it is locked, cannot be written to, or is of another nbgrader's making.
    """
    try:
        with Gradebook(course.database, course.directory.course_id) as gradebook:
            yield gradebook
    except OperationalError as error:
        raise Problem(
            f"The gradebook {course.database} could not be used: {error.orig}. What was finished is kept. Close what else "
            "uses it, make it writable, or run `nbgrader db upgrade` if nbgrader is newer than it; then run the same "
            "command again.",
            FAILED,
        ) from None
