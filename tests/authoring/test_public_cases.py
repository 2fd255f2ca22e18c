"""What a hidden case may bring, a public case has brought: whoever passes `check` is not surprised by a number type or an axis more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from autograder.exercises import every_exercise
from autograder.exercises.model import Case, Exercise, case, probe
from course.checking import LAYOUTS
from course.trial.functions import Function
from course.trial.values import Value, bare, layout

SEEDS = (1, 20, 300)


def arrays(name: str, value: Value | Function) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays in an argument, by its name; in a dictionary, each by the name of its key."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from arrays(key, part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from arrays(name, part)
    elif isinstance(array := bare(value), np.ndarray):
        yield name, array


def shown(exercise: Exercise, cases: Iterable[Case]) -> set[str]:
    """What is to be seen of the arguments in these cases, each as it ends a sentence on a case: "has X in float32"."""
    parameters = tuple(exercise.signature.parameters)
    named = [pair for one in cases for pair in zip(one.names(parameters), one.arguments, strict=False)]
    found: set[str] = set()
    for name, array in (leaf for pair in named for leaf in arrays(*pair)):
        found |= {f"{name} in {array.dtype}", f"{name} with {array.ndim} axes"}
        found |= {f"{name} with an axis of length 0"} if 0 in array.shape else set()
    return found


def laid(cases: Iterable[Case]) -> set[str]:
    """How the arrays in the arguments lie in memory."""
    return {layout(array) for one in cases for value in one.arguments for _, array in arrays("", value)}


def missing(exercise: Exercise) -> list[str]:
    """What a hidden case shows and no public one does, and what to do."""
    rngs = [np.random.default_rng(seed) for seed in SEEDS]
    hidden = shown(exercise, (one for rng in rngs for each in exercise.probes for one in each.draw(rng)))
    return [
        f"{exercise.name}: hidden cases have {what}, and no public case has: add a public case"
        for what in sorted(hidden - shown(exercise, exercise.public))
    ]


@pytest.mark.parametrize("exercise", list(every_exercise()), ids=lambda exercise: exercise.name)
def test_every_type_and_number_of_axes_of_a_hidden_case_stands_in_a_public_one(exercise: Exercise) -> None:
    assert missing(exercise) == []


@pytest.mark.parametrize("exercise", list(every_exercise()), ids=lambda exercise: exercise.name)
def test_no_array_of_a_hidden_case_lies_in_memory_as_none_does_that_check_tries(exercise: Exercise) -> None:
    """A right answer is tried once more, with the arrays of a public case laid otherwise."""
    rngs = [np.random.default_rng(seed) for seed in SEEDS]
    hidden = (one for rng in rngs for each in exercise.probes for one in each.draw(rng))
    again = [one.laid(order) for order in LAYOUTS for one in exercise.public]
    assert laid(hidden) <= laid([*exercise.public, *again])


def test_what_no_public_case_shows_is_named() -> None:
    @probe(1.0)
    def surprising(rng: np.random.Generator) -> list[Case]:
        """something new"""
        return [case({"W": np.zeros((2, 0), np.float32)}), case({"W": np.zeros(3)})]

    def rows(params: dict[str, np.ndarray]) -> None: ...

    public = (case({"W": np.zeros((2, 2))}),)
    exercise = Exercise(rows, "00_shapes", public, surprising.probes, (), ())  # type: ignore[attr-defined]
    assert missing(exercise) == [
        "rows: hidden cases have W in float32, and no public case has: add a public case",
        "rows: hidden cases have W with 1 axes, and no public case has: add a public case",
        "rows: hidden cases have W with an axis of length 0, and no public case has: add a public case",
    ]
