"""How the arrays of a hidden case lie in memory, `check` has tried: whoever passes it is not surprised."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from autograder.authoring.completeness import SEEDS, arrays
from autograder.exercises import every_exercise
from autograder.exercises.model import Case, Exercise
from course.checking import LAYOUTS
from course.trial.values import layout


def laid(cases: Iterable[Case]) -> set[str]:
    """How the arrays in the arguments lie in memory."""
    return {layout(array) for one in cases for value in one.arguments for _, array in arrays("", value)}


@pytest.mark.parametrize("exercise", list(every_exercise()), ids=lambda exercise: exercise.name)
def test_no_array_of_a_hidden_case_lies_in_memory_as_none_does_that_check_tries(exercise: Exercise) -> None:
    """A right answer is tried once more, with the arrays of a public case laid otherwise."""
    rngs = [np.random.default_rng(seed) for seed in SEEDS]
    hidden = (one for rng in rngs for each in exercise.probes for one in each.draw(rng))
    again = [one.laid(order) for order in LAYOUTS for one in exercise.public]
    assert laid(hidden) <= laid([*exercise.public, *again])
