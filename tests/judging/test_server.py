"""The judge behind a socket: it judges what the grader has opened, once, and nothing else."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autograder.exercises import EXERCISES
from autograder.exercises.model import Case, Exercise, Probe
from autograder.judging.server import JudgeServer
from course.client import ENDED, Report, answer
from course.link import SocketLink
from course.values import Value

PAIRWISE_DOTS = EXERCISES["pairwise_dots"]
MIX_ROWS = EXERCISES["mix_rows"]


def right(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A @ B.T


def wrong(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A @ B


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as running:
        yield running


def connected(server: JudgeServer) -> SocketLink:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(server.address)
    return SocketLink(connection, 20)


def come(server: JudgeServer, function: Callable[..., Any] = right) -> Report:
    """Come to be judged, as `course.judge` does in the student's process."""
    link = connected(server)
    try:
        return answer(function, link)
    finally:
        link.close()


def test_where_nothing_is_open_a_student_is_turned_away(server: JudgeServer) -> None:
    report = come(server)
    assert repr(report) == "Nothing is being judged now."
    assert report._repr_html_() == "<p>Nothing is being judged now.</p>"
    assert server.conclude() is None


def test_an_open_exercise_is_judged(server: JudgeServer) -> None:
    server.expect(PAIRWISE_DOTS)
    report = come(server)
    verdict = server.conclude()
    assert verdict is not None
    assert (verdict.exercise, verdict.outcome, verdict.score) == ("pairwise_dots", "passed", 2.0)
    assert repr(report) == repr(verdict)


def test_the_grader_chooses_the_exercise_and_not_the_functions_name(server: JudgeServer) -> None:
    def mix_rows(W: np.ndarray, V: np.ndarray) -> np.ndarray:
        return W @ V

    server.expect(PAIRWISE_DOTS)
    come(server, mix_rows)
    verdict = server.conclude()
    assert verdict is not None
    assert (verdict.exercise, verdict.outcome, verdict.mistakes) == ("pairwise_dots", "wrong", ("no_transpose",))


def test_where_nobody_comes_there_is_no_verdict(server: JudgeServer) -> None:
    server.expect(PAIRWISE_DOTS)
    assert server.conclude() is None


def test_the_first_conversation_counts_and_the_second_is_turned_away(server: JudgeServer) -> None:
    server.expect(PAIRWISE_DOTS)
    come(server, wrong)
    assert repr(come(server, right)) == "Nothing is being judged now."
    verdict = server.conclude()
    assert verdict is not None
    assert verdict.outcome == "wrong"


def test_while_one_is_judged_another_is_turned_away(server: JudgeServer) -> None:
    turned_away = []

    def brings_a_friend(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        turned_away.append(repr(come(server, right)))
        return A @ B

    server.expect(PAIRWISE_DOTS)
    come(server, brings_a_friend)
    assert set(turned_away) == {"Nothing is being judged now."}
    verdict = server.conclude()
    assert verdict is not None
    assert verdict.outcome == "wrong"


def test_whoever_comes_after_the_end_is_turned_away(server: JudgeServer) -> None:
    server.expect(PAIRWISE_DOTS)
    assert server.conclude() is None
    assert repr(come(server)) == "Nothing is being judged now."


def test_a_verdict_is_of_its_own_exercise(server: JudgeServer) -> None:
    server.expect(PAIRWISE_DOTS)
    come(server)
    assert server.conclude() is not None
    server.expect(MIX_ROWS)
    assert server.conclude() is None


def test_a_conversation_that_outlives_its_cell_is_ended_and_counts_for_no_other(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.judging.server.SECONDS_TO_CONCLUDE", 0.1)
    server.expect(PAIRWISE_DOTS)
    link = connected(server)
    request: dict[str, Any] = link.receive()
    assert request["do"] == "call"
    verdict = server.conclude()  # the cell is over, and its student has not answered yet
    assert verdict is not None
    assert (verdict.exercise, verdict.outcome, verdict.score) == ("pairwise_dots", "crashed", 0.0)
    server.expect(MIX_ROWS)
    assert repr(answer(right, Again(link, request))) == ENDED
    assert server.conclude() is None


class Again:
    """A link whose first message has been read already."""

    def __init__(self, link: SocketLink, first: Value) -> None:
        self.link, self.first = link, [first]

    def send(self, value: Value) -> None:
        self.link.send(value)

    def receive(self) -> Value:
        return self.first.pop() if self.first else self.link.receive()


def test_a_student_who_hangs_up_has_crashed(server: JudgeServer) -> None:
    server.expect(PAIRWISE_DOTS)
    link = connected(server)
    link.receive()
    link.close()
    verdict = server.conclude()
    assert verdict is not None
    assert (verdict.outcome, verdict.score, verdict.points) == ("crashed", 0.0, 2.0)


def test_a_student_who_is_silent_has_run_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.judging.server.SECONDS_PER_CALL", 0.1)
    with JudgeServer() as server:
        server.expect(PAIRWISE_DOTS)
        link = connected(server)
        link.receive()
        done: dict[str, Any] = link.receive()
        verdict = server.conclude()
        link.close()
    assert verdict is not None
    assert verdict.outcome == "timed out"
    assert done["text"] == repr(verdict)


def test_what_goes_wrong_in_the_judge_is_the_graders_fault(server: JudgeServer) -> None:
    def draw(rng: np.random.Generator) -> list[Case]:
        raise ZeroDivisionError("in the exercise")

    server.expect(Exercise(right, "77_ours", (), (Probe("never", 1.0, draw),), (), ()))
    assert repr(come(server)) == ENDED
    with pytest.raises(ZeroDivisionError, match="in the exercise"):
        server.conclude()
    server.expect(PAIRWISE_DOTS)
    come(server)
    verdict = server.conclude()
    assert verdict is not None
    assert verdict.outcome == "passed"


def test_what_a_student_has_right_is_not_lent_again_and_what_is_wrong_is(server: JudgeServer) -> None:
    lent: list[object] = []
    builds = replace(MIX_ROWS, uses=("pairwise_dots",))
    for answer_to_first in (wrong, right):
        server.expect(PAIRWISE_DOTS)
        come(server, answer_to_first)
        server.conclude()
        server.expect(builds)
        link = connected(server)
        request: dict[str, Any] = link.receive()
        lent.append(request["lend"])
        link.close()
        server.conclude()
    assert lent == [["pairwise_dots"], []]


def test_every_run_draws_cases_of_its_own(server: JudgeServer) -> None:
    seen: list[bytes] = []

    def remembers(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        seen.append(A.tobytes())
        return A @ B.T

    for _ in range(2):
        server.expect(PAIRWISE_DOTS)
        come(server, remembers)
        server.conclude()
    assert len(set(seen)) == len(seen)


def test_a_server_that_is_closed_leaves_no_socket_and_no_thread() -> None:
    before = set(threading.enumerate())
    with JudgeServer() as server:
        assert set(threading.enumerate()) - before
        come(server)
    with pytest.raises(FileNotFoundError):
        connected(server)
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()
