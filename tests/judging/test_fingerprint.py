"""The digest by which wrong answers are put together: the same for like ones, whatever their last digits, and seen by no student."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.exercises import exercise_named
from autograder.judging import Paper, Verdict, judge_here
from autograder.judging.fingerprint import fingerprint
from autograder.judging.showing import html
from course.client import answer
from course.trial.observing import Observation, Raised
from course.trial.values import Value

RIGHT = Observation(np.ones((2, 3)))
rng = np.random.default_rng(5)


def of(*results: Value, **others: Any) -> str:
    return fingerprint([(RIGHT, Observation(result, **others)) for result in results])


@pytest.mark.parametrize(("dtype", "dust"), [("float64", 1e-13), ("float32", 1e-6), ("float16", 1e-3)])
def test_dust_makes_no_difference(dtype: str, dust: float) -> None:
    """Drawn numbers, and numbers that lie on the halves at which one rounds."""
    split = 0
    for number in range(400):
        plain = rng.normal(size=(5, 7)) if number % 2 else rng.integers(-40, 40, (5, 7)) / 64
        plain[0, 0] = 0.0
        shaken = plain * (1 + dust * rng.uniform(-1, 1, plain.shape)) + dust * 1e-3 * rng.uniform(-1, 1, plain.shape)
        split += of(plain.astype(dtype)) != of(shaken.astype(dtype))
    assert split <= 4


A = rng.normal(size=(4, 5))
HOLED = np.where(np.eye(4, 5) > 0, np.nan, A)
DIFFERENT: list[Value] = [
    A,
    -A,
    1.02 * A,
    1.03 * A,
    A.T,
    A.T.reshape(4, 5),
    A[::-1],
    A + 1e-3,
    A.astype("float32"),
    A.tolist(),
    HOLED,
    np.where(np.eye(4, 5) > 0, np.inf, A),
    np.where(np.eye(4, 5) > 0, -np.inf, A),
    HOLED[::-1],
    1e6 * A,
    A > 0,
    A < 0,
    (A, A),
    (A, -A),
    {"a": A},
    {"b": A},
    np.zeros((4, 5)),
    np.zeros((0, 5)),
    3,
    3.0,
    "3",
    None,
    np.full((4, 5), 1e308),
]


def test_what_anybody_would_tell_apart_has_another_digest() -> None:
    assert len({of(value) for value in DIFFERENT}) == len(DIFFERENT)


def test_what_was_raised_changed_or_spent_counts_too() -> None:
    raised = [Raised("ValueError", "a"), Raised("ValueError", "b"), Raised("TypeError", "a")]
    at = [of(None, raised=Raised("TypeError", f"<object at {place}>")) for place in ("0x7f01", "0xab9f")]
    assert at[0] == at[1]
    found = [of(None, raised=one) for one in raised] + [of(None), of(None, changed={0: A}), of(None, changed={1: A})]
    asked = Observation(None, counts={"f": 2, "lines": 9})
    found += [fingerprint([(asked, Observation(None, counts={"f": spent, "lines": 3}))]) for spent in (2, 3)]
    found.append(fingerprint([(RIGHT, Observation(None))], loops=True))
    assert found.pop(-3) == of(None)
    assert len(set(found)) == len(found)


def verdict(function: Callable[..., Any], seed: int = 3) -> Verdict:
    function.__name__ = "mix_rows"
    return judge_here(function, Paper(exercise_named("00_shapes", "mix_rows"), seed), answer)


def test_two_ways_to_write_the_same_slip_are_alike_and_another_slip_is_not() -> None:
    def in_one_product(W: Any, V: Any) -> Any:
        return 1.5 * (W @ V)

    def row_by_row(W: Any, V: Any) -> Any:
        return np.array([sum(3 * w * v for w, v in zip(row, V, strict=True)) / 2 for row in W]).astype(V.dtype)

    def larger(W: Any, V: Any) -> Any:
        return 1.51 * (W @ V)

    first, second, other = map(verdict, (in_one_product, row_by_row, larger))
    assert first.mistakes == ()
    assert first.alike == second.alike != other.alike
    assert len(first.alike) == 16


def test_what_is_right_or_known_needs_no_digest() -> None:
    exercise = exercise_named("00_shapes", "mix_rows")
    assert verdict(lambda W, V: W @ V).alike == ""
    named = judge_here(exercise.mistakes[0], Paper(exercise, 3), answer)
    assert (named.mistakes, named.alike) == ((exercise.mistakes[0].__name__,), "")


def test_the_student_is_not_shown_it() -> None:
    found = verdict(lambda W, V: 1.5 * (W @ V))
    assert found.alike
    assert found.alike not in repr(found) + html(found)
    assert Verdict.from_json(found.to_json()) == found
