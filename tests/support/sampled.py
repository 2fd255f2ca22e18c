"""Of many parameters, some: `make test` proves those, and `make test-all` all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

from autograder.exercises import exercises_in
from autograder.exercises.model import Exercise

T = TypeVar("T")


def sampled(values: Iterable[T], some: Callable[[T], bool], name: Callable[[T], str] = str) -> list[object]:
    """Parameters of a test; what is not among the `some` is thorough."""
    return [pytest.param(value, id=name(value), marks=() if some(value) else pytest.mark.thorough) for value in values]


def is_first(exercise: Exercise) -> bool:
    """Whether an exercise is the first of its notebook."""
    return exercise.name == exercises_in(exercise.notebook)[0].name
