"""Judge whoever is at the other end of a connection."""

from __future__ import annotations

import secrets
import socket

from autograder.exercises.model import Exercise
from autograder.judging.interview import SECONDS_PER_CALL, judge
from autograder.judging.verdict import Verdict
from course.trial.link import Allow, SocketLink, by_the_clock


def hear(
    exercise: Exercise,
    connection: socket.socket,
    seconds: float | None,
    passed: frozenset[str] = frozenset(),
    allow: Allow = by_the_clock,
) -> Verdict | None:
    """The verdict on whoever answers, or None where nobody said a word before the connection was closed.

    Nothing that is said there chooses the exercise, and each connection is heard once.

    The hidden cases are drawn here, from a seed of the system's own randomness that is used once, kept nowhere and shared by
    no two processes. What a function is asked it can remember, and a later cell of its notebook can print it: a student reads
    it on the feedback page, and the next submission may answer from it. So a case that was asked is known once feedback is
    out. Whoever draws cases for more than one hearing, a paper for a whole run, retires them as soon as feedback on any
    of these hearings was returned; that holds for marking again as well.

    Args:
        exercise: what is being judged.
        connection: to the student's process.
        seconds: how long the whole conversation may take, or None for as long as its calls may take.
        passed: exercises that this student has right, which are not lent.
        allow: how the student's seconds pass.

    Raises:
        Exception: whatever goes wrong in the judge itself, which is the grader's fault.
    """
    link = SocketLink(connection, SECONDS_PER_CALL, seconds, allow)
    verdict = judge(exercise, link, secrets.randbits(63), passed, allow)
    return verdict if link.heard else None
