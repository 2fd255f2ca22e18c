"""Judge whoever is at the other end of a connection."""

from __future__ import annotations

import secrets
import socket

from autograder.exercises.model import Exercise
from autograder.judging.examine import SECONDS_PER_CALL, examine
from autograder.judging.verdict import Verdict
from course.link import SocketLink


def hear(
    exercise: Exercise, connection: socket.socket, seconds: float | None, passed: frozenset[str] = frozenset()
) -> Verdict | None:
    """The verdict on whoever answers, or None where nobody said a word before the connection was closed.

    Nothing that is said there chooses the exercise, and each connection is heard once.

    Args:
        exercise: what is being judged.
        connection: to the student's process.
        seconds: how long the whole conversation may take, or None for as long as its calls may take.
        passed: exercises that this student has right, which are not lent.

    Raises:
        Exception: whatever goes wrong in the judge itself, which is the grader's fault.
    """
    link = SocketLink(connection, SECONDS_PER_CALL, seconds)
    verdict = examine(exercise, link, secrets.randbits(63), passed)
    return verdict if link.heard else None
