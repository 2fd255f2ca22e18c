"""What is kept of what was said before: nobody's verdict depends on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autograder.exercises import exercise_named
from autograder.judging import heard as remembering
from autograder.judging import judge_here, reference
from autograder.judging.heard import Replies, Said
from autograder.judging.paper import Paper
from autograder.judging.reference import lend
from course.client import answer
from course.trial.values import MAX_TEXT, Malformed, Value, pack

DOTS = exercise_named("00_shapes", "pairwise_dots")


def right(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return X @ Y.T


def wrong(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return 2 * X @ Y.T


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The frames that were read, one after another."""
    frames: list[bytes] = []

    def unpacked(frame: bytes) -> Value:
        frames.append(frame)
        return unpack(frame)

    unpack = remembering.unpack
    monkeypatch.setattr(remembering, "unpack", unpacked)
    return frames


def test_the_same_bytes_are_read_once_and_earn_the_same(read: list[bytes]) -> None:
    paper = Paper(DOTS, 1)
    first = judge_here(right, paper, answer)
    cases = len(read)
    assert judge_here(right, paper, answer) == first == judge_here(right, Paper(DOTS, 1), answer)
    assert len(read) == 2 * cases
    assert first.outcome == "passed"


def test_the_same_bytes_are_another_answer_to_another_paper_and_to_another_case() -> None:
    """A function that always says what was right in the first case has no more points for it the second time."""
    shared = Paper(DOTS, 1)
    kept = right(*shared.sheets[0].cases[0].arguments)

    def stuck(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return kept

    alone = judge_here(stuck, Paper(DOTS, 1), answer)
    judge_here(right, shared, answer)
    assert judge_here(stuck, shared, answer) == judge_here(stuck, shared, answer) == alone
    assert alone.score == 0
    assert judge_here(wrong, shared, answer) == judge_here(wrong, Paper(DOTS, 1), answer)


def test_what_was_read_before_is_not_told_from_what_is_read_anew() -> None:
    replies = Replies()
    value = {"say": "observed", "result": np.arange(3.0), "warned": ["a", None, 1.5]}
    once, again = replies.read(pack(value)), replies.read(pack(value))
    assert isinstance(once, Said)
    assert once is again
    assert repr(dict(once)) == repr(value)
    assert replies.read(pack([1, 2])) == [1, 2]
    for _ in range(2):
        with pytest.raises(Malformed):
            replies.read(pack({"a": MAX_TEXT * "a"})[:-1])


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch, read: list[bytes]) -> None:
    frames = [pack({"number": np.full(100, number)}) for number in range(5)]
    monkeypatch.setattr(remembering, "ROOM", 3 * len(frames[0]))
    replies = Replies()
    for frame in (*frames, frames[4], frames[3], frames[2], frames[0]):
        replies.read(frame)
    assert read == [*frames, frames[0]]
    monkeypatch.setattr(remembering, "LONGEST", len(frames[0]) - 1)
    for _ in range(2):
        replies.read(frames[1])
    assert read[-2:] == [frames[1], frames[1]]


def test_a_question_that_was_asked_before_costs_as_much_as_if_it_had_not_been() -> None:
    softmax = exercise_named("02_matrices", "softmax")
    row = np.array([[1.0, 2.0, 7.25]])
    first, at_first = lend(softmax, (row,), {})
    second, spared = lend(softmax, (row.copy(),), {})
    other, of_other = lend(softmax, (row + 1e-9,), {})
    assert (at_first, of_other) == (0.0, 0.0)
    assert spared > 0
    assert second is first
    assert other is not first
    turned, anew = lend(softmax, (np.asfortranarray(np.vstack([row, row])),), {})
    assert anew == 0.0
    assert turned.shape == (2, 3)


def test_a_function_that_is_handed_on_is_asked_anew() -> None:
    """It may count how often it is called."""
    replaced = reference._asked.copy()
    exercise = exercise_named("00_shapes", "pairwise_dots")
    called: list[int] = []

    def handed(x: np.ndarray) -> np.ndarray:
        called.append(1)
        return x

    uses = replace(exercise, oracle=lambda f, x: f(x))
    for _ in range(2):
        lend(uses, (handed, np.ones(2)), {})
    assert len(called) == 2
    assert reference._asked.keys() == replaced.keys()
