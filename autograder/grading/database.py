"""The gradebook, opened, and kept for one run; what goes wrong with it is said in a sentence."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from nbgrader.api import Gradebook
from sqlalchemy import Connection, create_engine, func, make_url, select
from sqlalchemy.exc import SQLAlchemyError

from autograder.folder import Course
from autograder.plugins.bookkeeping import sentence, trouble_with
from autograder.problems import FAILED, OTHER_RUN, Problem

LOCK = 5_200_105
"""The number of the lock that a run holds in a database, where every run looks for it."""
NOTICED_WITHIN = 2.0
"""Seconds in which a server that has something else to do notices that a run was killed."""


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


@contextmanager
def only_writer(course: Course) -> Iterator[None]:
    """A gradebook that can be used, and that on PostgreSQL no run from another checkout uses for as long as this one lasts.

    The server lifts the bar soon after the process that holds it died. A gradebook in a file lies in one checkout, and is kept with that.

    Raises:
        Problem: it cannot be used, or another run uses it; the message says what to do.
    """
    if trouble := trouble_with(course.database):
        raise Problem(trouble, FAILED)
    if make_url(course.database).get_backend_name() != "postgresql":
        yield
        return
    engine = create_engine(course.database, isolation_level="AUTOCOMMIT")  # no transaction stays open all the while
    try:
        with engine.connect() as connection:
            if not _locked(connection):
                raise Problem(
                    "This gradebook is being used by another run, from another checkout; wait for it, or stop it.",
                    OTHER_RUN,
                )
            yield
    except SQLAlchemyError as error:
        raise Problem(sentence(course.database, error), FAILED) from None
    finally:
        engine.dispose()


def _locked(connection: Connection) -> bool:
    """Whether the lock is now this connection's."""
    until = time.monotonic() + NOTICED_WITHIN
    while not connection.scalar(select(func.pg_try_advisory_lock(LOCK))):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
