"""The judge: it knows the exercises, talks to a student's process in values, and makes every score."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable
from typing import Any

from autograder.judging.examine import SECONDS_PER_CALL, examine
from autograder.judging.verdict import Finding, Outcome, Verdict
from course.link import Link, SocketLink

__all__ = ["Finding", "Outcome", "Verdict", "examine", "judge_here", "local_judge"]


def judge_here(function: Callable[..., Any], exercise_name: str, client: Callable[..., Any], seed: int) -> Verdict:
    """Judge a function of this very process over a socket pair, in the wire format of the real thing.

    Args:
        function: the implementation.
        exercise_name: the exercise to judge it as.
        client: `course.client.answer`, given by the caller, who is on the student's side of the wall.
        seed: what the hidden cases are drawn from.
    """
    from autograder.exercises import EXERCISES

    near, far = socket.socketpair()
    verdicts: list[Verdict] = []

    def run() -> None:
        verdicts.append(examine(EXERCISES[exercise_name], SocketLink(far, SECONDS_PER_CALL), seed))
        far.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    with near:
        client(function, SocketLink(near))
    thread.join()
    return verdicts[0]


def local_judge(function: Callable[..., Any], client: Callable[[Callable[..., Any], Link], Any]) -> Verdict:
    """What `course.judge` shows where the instructor's package can be imported."""
    return judge_here(function, function.__name__, client, secrets.randbits(63))
