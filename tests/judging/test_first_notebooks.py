"""Answers to exercises of the first three notebooks that once earned what they should not, or were refused what they should have."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.authoring.mutants import as_student
from autograder.exercises import exercise_named
from autograder.judging import Paper, Verdict, judge_here
from course import answers
from course.checking import known
from course.client import answer

SEEDS = (1, 2, 3)


def judged(notebook: str, name: str, implementation: Callable[..., Any]) -> list[Verdict]:
    exercise = exercise_named(notebook, name)
    return [judge_here(as_student(exercise, implementation), Paper(exercise, seed), answer) for seed in SEEDS]


def softmax(s: np.ndarray) -> np.ndarray:
    e = np.exp(s - s.max())
    return np.asarray(e / e.sum())


def mixes_first(X: Any, Wq: Any, Wk: Any, Wv: Any, project: Any) -> Any:
    keys = project(X, Wk)
    return np.stack([project(softmax(keys @ project(x, Wq) / Wq.shape[1] ** 0.5) @ X, Wv) for x in X])


def test_a_mixture_that_is_projected_is_no_mixture_of_what_was_projected() -> None:
    for verdict in judged("01_token_loops", "attend_loop", mixes_first):
        assert verdict.score <= verdict.points / 2
        assert verdict.mistakes == ("mixes_before_projecting",)


def rising_by_chance(seed: int, times: int) -> Callable[[Any, Any], Any]:
    def influence(f: Any, X: Any) -> Any:
        rng, before = np.random.default_rng(seed), f(X)
        moved = np.zeros((len(X), len(X)), bool)
        for j in [*range(len(X))] * times:
            Y = X.copy()
            Y[j] += rng.standard_normal(X.shape[1])
            moved[:, j] |= (f(Y) - before > 1e-9).any(axis=1)
        return moved

    return influence


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_outputs_that_are_seen_only_when_they_rise_are_known_whatever_moves_them(seed: int, times: int) -> None:
    exercise = answers.find("influence")
    assert exercise
    found, certainty = known(exercise, [case.run(rising_by_chance(seed, times)) for case in exercise.cases])
    assert certainty == "exactly"
    assert [mistake.name for mistake in found] == ["counts_only_increases"]


def by_keyword(X: Any, Wq: Any, Wk: Any, Wv: Any, project: Any) -> Any:
    keys, values = project(X, W=Wk), project(x=X, W=Wv)
    return np.stack([softmax(keys @ project(x, W=Wq) / Wq.shape[1] ** 0.5) @ values for x in X])


def test_project_is_called_as_one_likes() -> None:
    assert all(verdict.outcome == "passed" for verdict in judged("01_token_loops", "attend_loop", by_keyword))


def keys_by_hand(X: Any, Wq: Any, Wk: Any, Wv: Any, project: Any) -> Any:
    queries, values = project(X, Wq), project(X, Wv)
    return np.stack([softmax(X @ Wk @ query / Wq.shape[1] ** 0.5) @ values for query in queries])


def test_keys_that_were_not_projected_are_not_taken_for_queries() -> None:
    for verdict in judged("01_token_loops", "attend_loop", keys_by_hand):
        assert verdict.mistakes == ("query_past_project",)
        assert "either the queries or the keys" in str(verdict)


def the_notebooks_loop(X: Any, Wq: Any, Wk: Any, Wv: Any, project: Any) -> Any:
    rows = []
    for x in X:
        q, K, V = project(x, Wq), project(X, Wk), project(X, Wv)
        rows.append(softmax(K @ q / Wq.shape[1] ** 0.5) @ V)
    return np.array(rows)


def test_the_literal_loop_is_known_and_keeps_half() -> None:
    for verdict in judged("01_token_loops", "attend_loop", the_notebooks_loop):
        assert verdict.mistakes == ("the_literal_loop",)
        assert verdict.score <= verdict.points / 2


def packs_rows(X: Any, Wq: Any, Wk: Any, Wv: Any, project: Any) -> Any:
    n, d = X.shape

    def at_once(W: Any) -> Any:
        k = W.shape[1]
        packed = np.zeros((n * d, n * k), X.dtype)
        for i in range(n):
            packed[i * d : (i + 1) * d, i * k : (i + 1) * k] = W
        return project(X.reshape(1, -1), packed).reshape(n, k)

    scores = [at_once(Wk) @ at_once(Wq)[i] / Wq.shape[1] ** 0.5 for i in range(n)]
    return np.stack([softmax(row) @ at_once(Wv) for row in scores])


def test_many_rows_in_a_wide_one_are_many() -> None:
    for verdict in judged("01_token_loops", "attend_loop", packs_rows):
        (budget,) = [finding for finding in verdict.findings if finding.shows.startswith("at most 3n rows")]
        assert (budget.earned, budget.reason) == (0.0, "It hands more rows to project than it needs to.")


Pair = namedtuple("Pair", ["left", "right"])


def as_a_pair(X: Any, W: Any) -> Any:
    return Pair(W.T, X.T)


def test_a_named_tuple_is_a_tuple() -> None:
    assert all(verdict.outcome == "passed" for verdict in judged("00_shapes", "to_columns", as_a_pair))


KEPT: dict[Any, Any] = {}


def into_a_kept_array(A: Any, V: Any) -> Any:
    shape = len(A), V.shape[1]
    kept = KEPT.setdefault(shape, np.zeros(shape, A.dtype))
    kept += A @ V
    return kept.copy()


def test_a_sum_that_goes_on_from_call_to_call_is_found() -> None:
    KEPT.clear()
    for verdict in judged("00_shapes", "mix_rows", into_a_kept_array):
        assert verdict.score < verdict.points


def overflows(Q: Any, K: Any) -> Any:
    found = []
    for S in (Q @ K.T, Q @ K.T / Q.shape[1] ** 0.5):
        E = np.exp(S)
        A = E / E.sum(axis=1, keepdims=True)
        found.append(float(-(A * np.log(np.where(A > 0, A, 1.0))).sum(axis=1).mean() / np.log(A.shape[1])))
    return tuple(found)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_overflow_is_not_taken_for_zero_times_log_zero() -> None:
    for verdict in judged("02_matrices", "normalized_entropy", overflows):
        assert "zero_times_log_zero" not in verdict.mistakes
