"""The judge at one end of a connection: it judges what the grader names, once, and nothing else."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autograder.exercises import exercises_in
from autograder.exercises.model import Case, Exercise, Probe
from autograder.judging.hearing import hear
from autograder.judging.paper import Paper
from autograder.verdicts.verdict import Verdict
from course.client import ENDED, Report, answer
from course.trial.link import Left, SocketLink

AGES = 300.0  # seconds; only what hangs takes so long, however busy the machine is
PAIRWISE_DOTS, MIX_ROWS = exercises_in("00_shapes")[:2]


def right(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A @ B.T


def wrong(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A @ B


def heard(
    exercise: Exercise,
    student: Callable[[socket.socket], Any],
    seconds: float = 30,
    passed: frozenset[str] = frozenset(),
) -> tuple[Verdict | None, Any]:
    """What the judge makes of a student at the other end, and what the student was told."""
    near, far = socket.socketpair()

    def come() -> Any:
        with far:
            return student(far)

    with ThreadPoolExecutor(1) as other, near:
        told = other.submit(come)
        try:
            examined = hear(Paper(exercise, secrets.randbits(53)), near, seconds, passed)
        finally:
            near.close()
        return examined and examined.verdict, told.result()


def answering(function: Callable[..., Any]) -> Callable[[socket.socket], Report]:
    """A student who comes to be judged, as `course.judge` does."""
    return lambda connection: answer(function, SocketLink(connection))


def test_a_student_is_judged_and_told() -> None:
    verdict, report = heard(PAIRWISE_DOTS, answering(right))
    assert verdict is not None
    assert (verdict.exercise, verdict.outcome, verdict.score) == ("pairwise_dots", "passed", 2.0)
    assert repr(report) == repr(verdict)


def test_the_grader_chooses_the_exercise_and_not_the_functions_name() -> None:
    def mix_rows(W: np.ndarray, V: np.ndarray) -> np.ndarray:
        return W @ V

    verdict, _ = heard(PAIRWISE_DOTS, answering(mix_rows))
    assert verdict is not None
    assert (verdict.exercise, verdict.outcome, verdict.mistakes) == ("pairwise_dots", "wrong", ("no_transpose",))


def test_where_nobody_says_a_word_there_is_no_verdict() -> None:
    assert heard(PAIRWISE_DOTS, lambda connection: None) == (None, None)


def test_a_student_who_hangs_up_has_crashed() -> None:
    def begins(connection: socket.socket) -> None:
        SocketLink(connection).receive()
        connection.sendall(b"\x00")

    verdict, _ = heard(PAIRWISE_DOTS, begins)
    assert verdict is not None
    assert (verdict.outcome, verdict.score, verdict.points) == ("crashed", 0.0, 2.0)


def test_a_student_who_falls_silent_has_run_out_of_time_and_keeps_what_was_earned() -> None:
    calls: list[None] = []
    over = threading.Event()

    def slow(connection: socket.socket) -> Any:
        def stops(A: np.ndarray, B: np.ndarray) -> np.ndarray:
            calls.append(None)
            if len(calls) > 3:  # the one case of the first probe, again, and one like it
                over.wait(AGES)
            return A @ B.T

        return answer(stops, SocketLink(connection))

    def allow(seconds: float) -> Left:
        """As much time as anybody wants, until the fourth call."""
        return lambda: 0.05 if len(calls) < 4 else 0.0

    probes = PAIRWISE_DOTS.probes
    alone = replace(PAIRWISE_DOTS, probes=(replace(probes[0], draw=lambda rng: probes[0].draw(rng)[:1]), *probes[1:]))
    near, far = socket.socketpair()
    with ThreadPoolExecutor(1) as other, near, far:
        other.submit(slow, far)
        examined = hear(Paper(alone, 1), near, 0.0, allow=allow)  # by the clock there would be no time at all
        over.set()
    assert examined is not None
    assert examined.verdict.outcome == "timed out"
    assert 0 < examined.verdict.score < examined.verdict.points


def test_what_goes_wrong_in_the_judge_is_raised_and_ends_the_conversation() -> None:
    def draw(rng: np.random.Generator) -> list[Case]:
        raise ZeroDivisionError("in the exercise")

    ours = Exercise(right, "77_ours", (), (Probe("never", 1.0, draw),), (), ())
    told: list[Report] = []
    with pytest.raises(ZeroDivisionError, match="in the exercise"):
        heard(ours, lambda connection: told.append(answer(right, SocketLink(connection))))
    assert repr(told[0]) == ENDED


def test_what_a_student_has_right_is_not_lent_again_and_what_is_wrong_is() -> None:
    builds = replace(MIX_ROWS, uses=("pairwise_dots",))

    def lent(connection: socket.socket) -> object:
        request: dict[str, Any] = SocketLink(connection).receive()
        return request["lend"]

    assert heard(builds, lent)[1] == ["pairwise_dots"]
    assert heard(builds, lent, passed=frozenset({"pairwise_dots"}))[1] == []


def test_every_run_draws_cases_of_its_own() -> None:
    seen: list[bytes] = []

    def remembers(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        seen.append(A.tobytes())
        return A @ B.T

    runs = []
    for _ in range(2):
        seen.clear()
        heard(PAIRWISE_DOTS, answering(remembers))
        runs.append(set(seen))
    assert runs[0].isdisjoint(runs[1])


def test_whoever_says_no_word_in_the_time_of_a_call_has_run_out_of_time() -> None:
    """A loop without end in the first call: nobody has to wait for the rest of its cell's time to know."""
    near, far = socket.socketpair()
    with near, far:
        examined = hear(Paper(PAIRWISE_DOTS, 1), near, 0.05)
    assert examined is not None
    assert (examined.verdict.outcome, examined.verdict.score, examined.verdict.points) == ("timed out", 0.0, 2.0)
