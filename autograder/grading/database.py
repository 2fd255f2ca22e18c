"""The gradebook, opened; what goes wrong with it is said in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nbgrader.api import Gradebook
from sqlalchemy.exc import SQLAlchemyError

from autograder.folder import Course
from autograder.plugins.bookkeeping import sentence
from autograder.problems import FAILED, Problem


@contextmanager
def opened(course: Course) -> Iterator[Gradebook]:
    """A course's gradebook.

    Raises:
        Problem: it is locked, damaged, cannot be written to, or is of another nbgrader's making.
    """
    try:
        with Gradebook(course.database, course.directory.course_id) as gradebook:
            yield gradebook
    except SQLAlchemyError as error:
        raise Problem(sentence(course.database, error), FAILED) from None
