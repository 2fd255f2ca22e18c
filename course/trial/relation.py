"""In what a wrong result is like the right one, where no known mistake gives it: turned, twice as large, wrong in its last row alone.

What is said here is seen in the numbers, whatever the code may be, and only where it holds in every case that went wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course.trial.cases import Case, sizes
from course.trial.comparing import compare
from course.trial.observing import Observation
from course.trial.rules import RULES, Wrong
from course.trial.values import Value, bare


def relation(
    expected: Sequence[Observation],
    given: Sequence[Observation],
    tried: Sequence[Case],
    parameters: Sequence[tuple[str, str]],
) -> tuple[tuple[int | str, ...], str] | None:
    """In what wrong results are like the right ones.

    Args:
        expected, given: right answers and the student's, case by case, these in the form that was asked for (`in_form`); what raises is
            no result, and where one of the student's does, nothing holds in all cases.
        tried: the cases.
        parameters: of each of the function's parameters the name, and the names of its axes: ("Q", "n k").

    Returns:
        The part of the result that differs, and what holds there in all cases that went wrong, as a sentence goes on that begins
        "The result": "is the right one times 2"; None where nothing is seen.
    """
    axes = dict(parameters)
    cases: list[Wrong] = []
    paths: set[tuple[int | str, ...]] = set()
    for want, got, case in zip(expected, given, tried, strict=False):
        if got.raised and not want.raised:
            return None
        if want.raised or got.raised:
            continue
        found = compare(want.result, got.result)
        if found is None:
            continue
        one, other = (_numbers(_part(some.result, found.path)) for some in (want, got))
        if one is None or other is None:
            return None
        paths.add(found.path)
        handed = case.handed(list(axes))
        arrays = {name: value for name, value in handed.items() if isinstance(value, np.ndarray)}
        cases.append(Wrong(one, other, {name: size for name, size in sizes(handed, axes).items() if size > 0}, arrays))
    if len(paths) != 1:
        return None
    with np.errstate(all="ignore"):
        said = next((said for rule in RULES if (said := rule(cases))), "")
    return (paths.pop(), said) if said else None


def _part(result: Value, path: tuple[int | str, ...]) -> Value:
    for step in path:
        result = result[step]
    return result


def _numbers(value: Value) -> np.ndarray | None:
    array = bare(value)
    if type(array) in (bool, int, float):
        return np.asarray(array)
    return array if isinstance(array, np.ndarray) and array.size else None
