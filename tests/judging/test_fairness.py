"""What an answer is worth: a slip of form a quarter, and nothing that is remembered from call to call."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from jaxtyping import Float

from autograder.exercises.model import Case, Exercise, Probe, case
from autograder.judging import Paper, Verdict, interview, judge_here
from autograder.judging.again import again
from autograder.judging.interview import BESIDE_A_RIGHT_ONE, LIKE_BEFORE, REMEMBERS
from course.client import answer
from course.trial.functions import Function

F = np.ndarray


def halves(x: Float[F, "n d"]) -> tuple[Float[F, "n d"], Float[F, "n d"]]:
    """x in two equal parts."""
    return x / 2, x / 2


def _tables(rng: np.random.Generator) -> list[Case]:
    return [case(rng.normal(size=(n, 2))) for n in (3, 4)]


def _narrow(rng: np.random.Generator) -> list[Case]:
    return [case(rng.normal(size=(3, 2)).astype("f4"))]


HALVES = Exercise(
    halves,
    "77_ours",
    (),
    (Probe("two halves", 3.0, _tables), Probe("keeps float32", 1.0, _narrow, strict=True)),
    (),
    (),
)


def judged(function: Callable[..., Any], exercise: Exercise = HALVES) -> Verdict:
    return judge_here(function, Paper(exercise, 1), answer)


def earned(function: Callable[..., Any], exercise: Exercise = HALVES) -> list[float]:
    return [finding.earned for finding in judged(function, exercise).findings]


class Halves(NamedTuple):
    left: F
    right: F


def test_a_named_tuple_is_a_tuple() -> None:
    assert earned(lambda x: Halves(x / 2, x / 2)) == [3, 1]


def test_a_slip_of_form_costs_a_quarter_wherever_it_shows() -> None:
    assert earned(lambda x: [x / 2, x / 2]) == [2.25, 0.75]
    assert earned(lambda x: np.stack([x / 2, x / 2])) == [2.25, 0.75]


def test_where_a_strict_probe_alone_shows_it_it_costs_that_one() -> None:
    assert earned(lambda x: (x / np.sqrt(np.array([4.0])), x / np.sqrt(np.array([4.0])))) == [3, 0]


def test_what_is_wrong_costs_everything_whatever_its_form() -> None:
    assert earned(lambda x: [x, x]) == [0, 0]


def doubled(x: Float[F, "n d"]) -> Float[F, "n d"]:
    """Twice x."""
    return np.array([[2 * number for number in row] for row in x])


def _sizes(rng: np.random.Generator) -> list[Case]:
    return [case(rng.normal(size=(n, 3))) for n in (2, 40)]


DOUBLED = Exercise(
    doubled, "77_ours", (), (Probe("twice", 3.0, _tables), Probe("no loop", 1.0, _sizes, measures="lines")), (), ()
)


class Frame:
    """What a data frame has for numpy."""

    def __init__(self, values: F) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> F:
        return self.values


class Later(Frame):
    """One that puts its work off until somebody looks."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> F:
        return np.array([[2 * number for number in row] for row in self.values])


class Own(np.ndarray):
    """A subclass."""


TYPES: dict[str, Callable[[F], Any]] = {
    "list": lambda y: y.tolist(),
    "tuple": lambda y: tuple(map(tuple, y.tolist())),
    "tensor": torch.from_numpy,
    "matrix": lambda y: y.view(np.matrix),
    "masked array": np.ma.array,
    "subclass": lambda y: y.view(Own),
    "longdouble": lambda y: y.astype(np.longdouble),
    "complex": lambda y: y + 0j,
    "object": lambda y: y.astype(object),
    "memoryview": lambda y: memoryview(np.ascontiguousarray(y)),
    "data frame": Frame,
    "deque": lambda y: deque(y.tolist()),
}


@pytest.mark.parametrize("kind", TYPES)
def test_right_numbers_of_whatever_type_cost_a_quarter(kind: str) -> None:
    assert earned(lambda x: TYPES[kind](2 * x), DOUBLED) == [2.25, 0.75]
    assert earned(lambda x: TYPES[kind](3 * x), DOUBLED) == [0, 0]


NOT_NUMBERS: dict[str, Callable[[F], Any]] = {
    "an imaginary part": lambda y: y + 1j,
    "a mask": lambda y: np.ma.array(y, mask=y == y.max()),
    "text": lambda y: y.astype(str),
    "text in objects": lambda y: y.astype(str).astype(object),
    "a generator": lambda y: (row for row in y),
}


@pytest.mark.parametrize("kind", NOT_NUMBERS)
def test_what_is_no_number_is_wrong(kind: str) -> None:
    assert earned(lambda x: NOT_NUMBERS[kind](2 * x), DOUBLED) == [0, 0]


def test_a_loop_that_runs_when_somebody_looks_is_a_loop() -> None:
    assert earned(Later, DOUBLED) == [2.25, 0]


def test_what_a_student_hands_to_a_lent_function_may_be_of_such_a_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interview, "exercise_named", lambda notebook, name: DOUBLED)
    scope: dict[str, Any] = {}
    exec("def quadruple(x):\n    return doubled(doubled(x.view(Own)).view(Own) + 0j)\n", {"Own": Own}, scope)
    quadruple = Exercise(
        lambda x: 4 * x, "77_ours", (), (Probe("four times", 1.0, _tables),), (), (), uses=("doubled",)
    )
    assert judged(scope["quadruple"], quadruple).score == 1


def test_what_is_kept_between_calls_shows_in_the_call_that_comes_again() -> None:
    kept: dict[tuple[int, ...], F] = {}

    def adds_up(x: F) -> tuple[F, F]:
        buffer = kept.setdefault(x.shape, np.zeros(x.shape))
        buffer += x / 2
        return buffer.copy(), buffer.copy()

    verdict = judged(adds_up)
    assert verdict.findings[0].earned == 0
    assert verdict.findings[0].reason == REMEMBERS


def test_an_answer_that_is_kept_for_a_shape_shows_with_other_numbers_in_it() -> None:
    kept: dict[tuple[int, ...], F] = {}

    def first_of_a_shape(x: F) -> tuple[F, F]:
        y = kept.setdefault(x.shape, x.copy())
        return y / 2, y / 2

    verdict = judged(first_of_a_shape)
    assert verdict.findings[0].earned == 0
    assert verdict.findings[0].reason.startswith(LIKE_BEFORE)


def applied(x: Float[F, "n"], act: Callable[..., Any]) -> Float[F, "n"]:
    """act of x."""
    return act(x)


def _activated(rng: np.random.Generator) -> list[Case]:
    return [case(rng.normal(size=3), Function("act", act)) for act in (np.tanh, np.tanh)]


def test_a_function_is_good_for_the_call_that_it_was_given_to_and_no_other() -> None:
    exercise = Exercise(applied, "77_ours", (), (Probe("act", 1.0, _activated),), (), ())
    first: list[Any] = []

    def keeps_the_first(x: F, act: Callable[..., Any]) -> Any:
        first.append(act)
        return first[0](x)

    assert earned(lambda x, act: act(x), exercise) == [1]
    verdict = judged(keeps_the_first, exercise)
    assert (verdict.score, verdict.findings[0].reason) == (0, "Your code raises ValueError.")


def test_the_smallest_plain_case_comes_again_and_one_like_it() -> None:
    large, small = case(np.arange(8.0).reshape(4, 2), 3), case(np.arange(4.0).reshape(2, 2), 3)
    same, other = again([large, small])
    assert same is small
    assert np.array_equal(other.arguments[0], [[2, 3], [0, 1]])
    assert other.arguments[1] == 3


@pytest.mark.parametrize("argument", [3, np.ones((2, 2)), np.array([np.nan, 1.0]), np.array([True, False])], ids=repr)
def test_where_no_other_rows_are_to_be_had_nothing_comes_again(argument: Any) -> None:
    assert again([case(argument)]) == []
    assert again([case(np.arange(3.0), harness="timing")]) == []


def thirds(x: Float[F, "n d"]) -> list[Float[F, "n d"]]:
    """x in three parts of the same height.

    Raises:
        ValueError: it has no such parts.
    """
    if len(x) % 3:
        raise ValueError(f"{len(x)} rows are not three equal parts")
    return np.split(x, 3)


def _dealt(rng: np.random.Generator) -> list[Case]:
    return [case(rng.normal(size=(n, 2))) for n in (3, 6)]


def _uneven(rng: np.random.Generator) -> list[Case]:
    return [case(rng.normal(size=(n, 2))) for n in (4, 5)]


THIRDS = Exercise(
    thirds, "77_ours", (), (Probe("parts", 2.0, _dealt), Probe("refuses uneven ones", 1.0, _uneven)), (), ()
)


def refuses(x: F) -> list[F]:
    raise ValueError("no")


def upside_down(x: F) -> list[F]:
    return thirds(x)[::-1]


def refuses_nothing(x: F) -> list[F]:
    return np.array_split(x, 3)


@pytest.mark.parametrize(
    "function", [refuses, upside_down, lambda x: None, lambda x: x], ids=["refuses", "wrong", "nothing", "handed back"]
)
def test_what_doing_nothing_passes_counts_beside_a_right_result_alone(function: Callable[..., Any]) -> None:
    assert earned(function, THIRDS) == [0.0, 0.0]


def test_a_refusal_without_a_right_result_is_told_so() -> None:
    assert judged(upside_down, THIRDS).findings[1].reason == BESIDE_A_RIGHT_ONE


def test_beside_a_right_result_each_probe_counts_by_itself() -> None:
    assert earned(thirds, THIRDS) == [2.0, 1.0]
    assert earned(refuses_nothing, THIRDS) == [2.0, 0.0]
    assert earned(lambda x: [part.tolist() for part in thirds(x)], THIRDS) == [1.5, 1.0]
