"""The public case that comes with a verdict on an answer that is no known mistake's."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.exercises import exercise_named
from autograder.judging import Paper, Verdict, judge_here
from autograder.judging.publicly import LONGEST, OWN
from course.client import answer

DOTS = exercise_named("00_shapes", "pairwise_dots")
SMALLEST = DOTS.public[0].arguments


def judged(function: Callable[..., Any]) -> Verdict:
    return judge_here(function, Paper(DOTS, 1), answer)


def is_public(X: np.ndarray) -> bool:
    return any(X.shape == one.arguments[0].shape and np.array_equal(X, one.arguments[0]) for one in DOTS.public)


def odd(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return X @ Y.T * 1.25 - 3


def test_the_smallest_case_in_which_it_fails_is_shown_with_both_answers() -> None:
    verdict = judged(odd)
    assert verdict.mistakes == ()
    assert verdict.case.startswith(f"{OWN}\nWith X =\n    [[ 1.  2.]")
    for answered in (SMALLEST[0] @ SMALLEST[1].T, odd(*SMALLEST)):
        assert f"{answered[0, 0]:g}" in verdict.case


def test_what_is_shown_is_kept_with_the_verdict_and_is_not_printed_by_the_judge() -> None:
    verdict = judged(odd)
    assert Verdict.from_json(verdict.to_json()) == verdict
    assert OWN not in repr(verdict)


def test_a_verdict_that_was_kept_before_there_were_cases_is_read() -> None:
    tree = judged(lambda X, Y: X @ Y.T).to_json()
    del tree["case"]
    assert Verdict.from_json(tree).outcome == "passed"


@pytest.mark.parametrize("function", [lambda X, Y: X @ Y.T, DOTS.mistakes[0]])
def test_a_right_answer_and_a_known_mistake_are_asked_no_more(function: Callable[..., Any]) -> None:
    assert judged(function).case == ""


def test_where_only_hidden_cases_fail_none_is_shown() -> None:
    verdict = judged(lambda X, Y: X @ Y.T + (not is_public(X)))
    assert verdict.outcome == "wrong"
    assert verdict.case == ""


def test_an_answer_that_takes_its_time_is_asked_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.judging.interview.PATIENCE", 0.2)
    asked = []

    def slow(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        if not is_public(X):
            return odd(X, Y)
        asked.append(X)
        time.sleep(0.4)
        return X @ Y.T

    assert judged(slow).case == ""
    assert len(asked) == 1


def test_a_text_without_end_is_cut() -> None:
    def loud(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        raise ValueError("odd " * 100_000)

    assert 0 < len(judged(loud).case) <= LONGEST
