"""Judge whoever is at the other end of a connection."""

from __future__ import annotations

import socket

from autograder.judging.interview import SECONDS_PER_CALL, Examined, examine
from autograder.judging.paper import Paper
from course.trial.link import Allow, SocketLink, by_the_clock


def hear(
    paper: Paper,
    connection: socket.socket,
    seconds: float | None,
    passed: frozenset[str] = frozenset(),
    allow: Allow = by_the_clock,
) -> Examined | None:
    """What comes of whoever answers, or None where the connection was closed before anybody said a word.

    Whoever says no word in the time of a call has run out of time with its first one.

    Nothing that is said there chooses the exercise, and each connection is heard once.

    Args:
        paper: what is being judged, and the cases that it is tried on. What a function is asked it can remember, and a later cell of
            its notebook can print it: once feedback is out, a paper is known, and nobody new is to be heard on it.
        connection: to the student's process.
        seconds: how long the whole conversation may take, or None for as long as its calls may take.
        passed: exercises that this student has right, which are not lent.
        allow: how the student's seconds pass.

    Raises:
        Exception: whatever goes wrong in the judge itself, which is the grader's fault.
    """
    link = SocketLink(connection, SECONDS_PER_CALL, seconds, allow, paper.replies.read)
    examined = examine(paper, link, passed, allow)
    return examined if link.heard or examined.verdict.outcome == "timed out" else None
