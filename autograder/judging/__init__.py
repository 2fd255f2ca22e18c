"""The judge: it knows the exercises, talks to a student's process in values, and makes every score."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from autograder.exercises import exercise_called
from autograder.judging.interview import SECONDS_PER_CALL, judge
from autograder.judging.paper import Paper
from autograder.verdicts.verdict import Finding, Outcome, Verdict
from course.trial.link import Allow, Link, SocketLink, by_the_clock

__all__ = ["Finding", "Outcome", "Paper", "Verdict", "judge", "judge_here", "local_judge"]


Client = Callable[[Callable[..., Any], Link], Any]
"""`course.client.answer`, given by the caller, who is on the student's side of the wall."""


def judge_here(function: Callable[..., Any], paper: Paper, client: Client, allow: Allow = by_the_clock) -> Verdict:
    """Judge a function of this very process over a socket pair, in the wire format of the real thing.

    Args:
        function: the implementation.
        paper: what to judge it as, and on which cases.
        client: the student's end of the conversation.
        allow: how the function's seconds pass.
    """
    return _converse(function, paper, client, allow)[0]


def local_judge(name: str, function: Callable[..., Any], client: Client) -> Any:
    """What `course.judge` returns where the instructor's package can be imported: the client's own report.

    Raises:
        KeyError: no exercise has that name.
    """
    exercise = exercise_called(name)
    if exercise is None:
        raise KeyError(name)
    return _converse(function, Paper(exercise, secrets.randbits(63)), client, by_the_clock)[1]


def _converse(function: Callable[..., Any], paper: Paper, client: Client, allow: Allow) -> tuple[Verdict, Any]:
    near, far = socket.socketpair()

    def sit() -> Verdict:
        with far:
            link = SocketLink(far, SECONDS_PER_CALL, allow=allow, read=paper.replies.read)
            return judge(paper, link, allow=allow)

    with ThreadPoolExecutor(1) as seat:
        verdict = seat.submit(sit)
        try:
            with near:
                report = client(function, SocketLink(near))
        except EOFError:
            verdict.result()  # the judge has hung up: its own error says why
            raise
        return verdict.result(), report
