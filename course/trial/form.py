"""Matters of form: an answer that says the right thing, in another type, container or precision than was asked for, or that
writes into what it was given. It is a slip, and not the same as a wrong answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from course.trial.comparing import compare, difference
from course.trial.observing import Observation
from course.trial.values import Tensor, Value, bare

SEVEN_DIGITS = 1e-6
"""How far a result may lie from the expected one that was worked out, somewhere on the way, in float32."""


def only_form(expected: Observation, given: Observation) -> bool:
    """Whether an answer that differs from the expected one differs in nothing but its form."""
    return difference(expected, given) is not None and difference(expected, in_form(expected, given)) is None


def in_form(expected: Observation, given: Observation) -> Observation:
    """An answer in the form of the expected one, as far as nothing has to be made up for it; right, where it is right to float32."""
    if expected.raised or given.raised:
        return given
    recast = _recast(expected.result, given.result)
    right = compare(expected.result, recast, least=SEVEN_DIGITS) is None
    return replace(given, result=expected.result if right else recast, changed=expected.changed)


def _recast(wanted: Value, given: Value) -> Value:
    """What was given in the form that was wanted, as far as nothing has to be made up for it."""
    if isinstance(wanted, Tensor):
        return Tensor(_array(wanted.array, given)) if _numbers(given) is not None else given
    if isinstance(wanted, np.ndarray):
        return _array(wanted, given) if _numbers(given) is not None else given
    if isinstance(wanted, (list, tuple)):
        array = bare(given)
        parts = [array[i] if array.ndim > 1 else array[i].item() for i in range(len(array))] if _rows(array) else given
        if not isinstance(parts, (list, tuple)) or len(parts) != len(wanted):
            return given
        return type(wanted)(_recast(*pair) for pair in zip(wanted, parts, strict=True))
    if isinstance(wanted, dict):
        if not isinstance(given, dict) or not set(wanted) <= set(given):
            return given
        return {key: _recast(value, given[key]) for key, value in wanted.items()}
    if type(wanted) in (bool, int, float):
        return _array(np.asarray(wanted), given).item() if _size(given) == 1 else given
    if isinstance(wanted, str) and isinstance(given, str) and given.strip().casefold() == wanted.casefold():
        return wanted
    return given


def _rows(given: Value) -> bool:
    return isinstance(given, np.ndarray) and given.ndim > 0


def _numbers(given: Value) -> np.ndarray | None:
    """What was given as one array of numbers; None where it is none."""
    given = bare(given)
    if isinstance(given, (list, tuple)):
        try:
            given = np.array([_numbers(part) for part in given])
        except ValueError:  # parts of different shapes
            return None
    if type(given) in (bool, int, float):
        given = np.asarray(given)
    return given if isinstance(given, np.ndarray) and given.dtype.kind in "biuf" else None


def _size(given: Value) -> int:
    numbers = _numbers(given)
    return -1 if numbers is None else numbers.size


def _array(wanted: np.ndarray, given: Value) -> np.ndarray:
    """Numbers in the shape and dtype of `wanted`, where they differ in axes of length 1 and in no value."""
    numbers = _numbers(given)
    assert numbers is not None
    if numbers.size == wanted.size and np.squeeze(numbers).shape == np.squeeze(wanted).shape:
        numbers = numbers.reshape(wanted.shape)
    if numbers.dtype == wanted.dtype:
        return numbers
    with np.errstate(all="ignore"):
        cast = numbers.astype(wanted.dtype)
    return cast if wanted.dtype.kind == "f" or np.array_equal(cast, numbers) else numbers
