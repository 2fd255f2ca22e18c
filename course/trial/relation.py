"""In what a wrong result is like the right one, where no known mistake gives it: turned, twice as large, wrong in its last row alone,
under another part's name.

What is said here is seen in the numbers, whatever the code may be, and only where it holds in every case that went wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from course.trial.cases import Case, sizes
from course.trial.comparing import compare
from course.trial.observing import Observation
from course.trial.rules import RULES, Wrong
from course.trial.text import part_of_result
from course.trial.values import Value, bare

Path = tuple[int | str, ...]
TELLING = 4
"""So many numbers are no coincidence."""


def relation(
    expected: Sequence[Observation],
    given: Sequence[Observation],
    tried: Sequence[Case],
    parameters: Sequence[tuple[str, str]],
) -> tuple[Path, str] | None:
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
    paths: set[Path] = set()
    pairs: list[tuple[Value, Value]] = []
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
        pairs.append((want.result, got.result))
        handed = case.handed(list(axes))
        measured = {name: size for name, size in sizes(handed, axes).items() if size > 0}
        cases.append(Wrong(one, other, measured, _arrays(handed), _other_parts(want.result, found.path)))
    if len(paths) != 1:
        return None
    path = paths.pop()
    with np.errstate(all="ignore"):
        said = _another_part(path, pairs) or next((said for rule in RULES if (said := rule(cases))), "")
    return (path, said) if said else None


def _arrays(handed: Mapping[str, Value]) -> dict[str, np.ndarray]:
    """The arrays among the arguments, and those in dictionaries among them, by name."""
    found: dict[str, np.ndarray] = {}
    for name, value in handed.items():
        inside = {f"{name}[{key!r}]": bare(entry) for key, entry in value.items()} if isinstance(value, dict) else {}
        found |= {name: one for name, one in {name: value, **inside}.items() if isinstance(one, np.ndarray)}
    return found


def _other_parts(expected: Value, path: Path) -> dict[str, np.ndarray]:
    """The other arrays of a right result that is a tuple or a dictionary, by what they are called."""
    if not path:
        return {}
    around = _part(expected, path[:-1])
    names = around if isinstance(around, dict) else range(len(around))
    found = {(*path[:-1], name): bare(around[name]) for name in names if name != path[-1]}
    return {part_of_result(place): one for place, one in found.items() if isinstance(one, np.ndarray)}


def _another_part(path: Path, pairs: Sequence[tuple[Value, Value]]) -> str:
    """Of which other part of the result the numbers of this one are; "" where they are of none."""
    if not path:
        return ""
    around = [_part(expected, path[:-1]) for expected, _ in pairs]
    given = [_part(result, path) for _, result in pairs]
    if sum(np.size(bare(numbers)) for numbers in given) < TELLING:
        return ""
    names = around[0] if isinstance(around[0], dict) else range(len(around[0]))
    for name in names:
        if all(
            _holds(parts, name) and compare(parts[name], own) is None for parts, own in zip(around, given, strict=True)
        ):
            return f"is what {part_of_result((*path[:-1], name))} should be"
    return ""


def _holds(parts: Value, name: int | str) -> bool:
    return name in parts if isinstance(parts, dict) else isinstance(name, int) and name < len(parts)


def _part(result: Value, path: Path) -> Value:
    for step in path:
        result = result[step]
    return result


def _numbers(value: Value) -> np.ndarray | None:
    array = bare(value)
    if type(array) in (bool, int, float):
        return np.asarray(array)
    return array if isinstance(array, np.ndarray) and array.size else None
