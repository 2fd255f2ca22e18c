"""Cases for answers that remember: what a function keeps from call to call shows in no single call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from course.trial.cases import Case
from course.trial.values import Tensor, Value, bare, map_leaves


def again(cases: Sequence[Case]) -> list[Case]:
    """The smallest of these cases once more, and one of the same shapes with its rows in another order.

    Nothing where no case is a plain call with rows of finite numbers.
    """
    found = [[one, *_turned(one)] for one in cases if one.harness is None]
    return min((pair for pair in found if len(pair) == 2), key=lambda pair: _size(pair[0]), default=[])


def _turned(case: Case) -> list[Case]:
    """The case with the rows of every array of numbers moved on by one; none where that is the same case, or not to be trusted."""
    arrays: list[np.ndarray] = []

    def turned(leaf: Value) -> Value:
        array = bare(leaf)
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf" or not array.ndim:
            return leaf
        arrays.append(array)
        rolled = np.roll(array, 1, axis=0)
        return Tensor(rolled) if isinstance(leaf, Tensor) else rolled

    other = replace(case, arguments=tuple(map_leaves(turned, argument) for argument in case.arguments))
    moved = any(not np.array_equal(array, np.roll(array, 1, axis=0)) for array in arrays)
    return [other] if moved and all(np.isfinite(array).all() for array in arrays) else []


def _size(case: Case) -> int:
    sizes = [0]

    def note(leaf: Value) -> None:
        array = bare(leaf)
        sizes[0] += math.prod(array.shape) if isinstance(array, np.ndarray) else 1

    for argument in case.arguments:
        map_leaves(note, argument)
    return sizes[0]
