"""A case is run as it says: plainly, or through a harness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from course.trial.cases import Case, case
from course.trial.harnesses import HARNESSES


def twice(function: Callable[..., Any], start: float, step: float) -> dict[str, float]:
    """Called twice, the second time on what it gave."""
    first = function(start, step)
    return {"first": first, "second": function(first, step)}


def as_it_is(function: Callable[..., Any], *arguments: Any) -> Any:
    """Called as it is."""
    return function(*arguments)


@pytest.fixture(autouse=True)
def harnesses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HARNESSES, "forth_and_back", twice)
    monkeypatch.setitem(HARNESSES, "as_it_is", as_it_is)


def test_a_plain_case_calls_the_function() -> None:
    assert case(2.0, 3.0).run(lambda x, y: x * y).result == 6.0


def test_a_harness_is_run_around_the_function() -> None:
    observed = case(2.0, 3.0, harness="forth_and_back").run(lambda x, y: x * y)
    assert observed.result == {"first": 6.0, "second": 18.0}


def test_what_the_function_raises_inside_a_harness_is_observed() -> None:
    raised = case(2.0, 0.0, harness="forth_and_back").run(lambda x, y: x / y).raised
    assert raised is not None
    assert raised.kind == "ZeroDivisionError"


def test_arguments_changed_inside_a_harness_are_seen() -> None:
    def writes(x: np.ndarray) -> None:
        x[0] = 7.0

    changed = case(np.zeros(2), harness="as_it_is").run(writes).changed
    assert changed[0].tolist() == [7.0, 0.0]


def test_arguments_are_called_as_the_harness_calls_them_else_as_the_function_does() -> None:
    assert Case((1.0, 2.0), "forth_and_back").names(["x", "y"]) == ("start", "step")
    assert Case((1.0, 2.0), "as_it_is").names(["x", "y"]) == ("x", "y")
    assert Case((1.0, 2.0)).names(["x", "y"]) == ("x", "y")


def test_every_harness_says_in_a_sentence_what_it_does() -> None:
    for name, harness in HARNESSES.items():
        assert (harness.__doc__ or "").strip().endswith("."), name
