"""When an answer goes wrong: what the cases in which it does have in common, and those in which it does not have not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations

import numpy as np

from course.trial.cases import Case, sizes
from course.trial.values import Value, bare, map_leaves

SEVERAL = 2  # cases on either side, for what may well be chance

Holds = Callable[["Circumstances"], bool]


class Circumstances:
    """What can be said of a case at a glance: sizes, and the arrays among its arguments.

    Attributes:
        sizes: how large n, k, h and so on are.
        arrays: the arrays that were given, by name; those of a dictionary or a list all under its name.
        flags: the truth values among the arguments.
        asked: the sizes that are arguments themselves.
    """

    def __init__(self, case: Case, parameters: Sequence[tuple[str, str]]) -> None:
        axes = dict(parameters)
        handed = case.handed(list(axes))
        named = {name: value for name, value in handed.items() if name in axes}  # a harness has arguments of its own
        self.sizes = sizes(named, axes)
        self.asked = {name for name, value in named.items() if type(value) is int}
        self.flags = {name: value for name, value in named.items() if type(value) is bool}
        self.arrays: dict[str, list[np.ndarray]] = {}
        for name, value in named.items():
            self._note(name, value)

    def _note(self, name: str, value: Value) -> None:
        def note(leaf: Value) -> None:
            array = bare(leaf)
            if isinstance(array, np.ndarray):
                self.arrays.setdefault(name, []).append(array)

        map_leaves(note, value)

    def any(self, name: str, holds: Callable[[np.ndarray], bool]) -> bool:
        """Whether something holds of an array of that name; of none, where there is none."""
        return any(holds(array) for array in self.arrays.get(name, ()))


def circumstances(cases: Sequence[Case], wrong: Sequence[bool], parameters: Sequence[tuple[str, str]]) -> str:
    """What holds in exactly those cases in which an answer is wrong, as in "n is 1"; "" where nothing simple does.

    Args:
        cases: what the answer was tried on.
        wrong: in which of them it went wrong.
        parameters: of each of the function's parameters the name, and the names of its axes: ("Q", "n k").
    """
    if all(wrong) or not any(wrong):
        return ""
    each = [Circumstances(case, parameters) for case in cases]

    def tells(holds: Holds) -> bool:
        return all(holds(one) == bad for one, bad in zip(each, wrong, strict=True))

    found = next((said for said, holds in _special(each) if tells(holds)), "")
    if found.endswith(IN_MEMORY):
        return next(_largest(each, wrong), found)  # of two reasons the likelier
    if found or min(sum(wrong), len(wrong) - sum(wrong)) < SEVERAL:
        return found
    return next((said for said, holds in _ordinary(each) if tells(holds)), "")


def _special(each: Sequence[Circumstances]) -> Iterator[tuple[str, Holds]]:
    """What an answer may not be ready for, the rarest first."""
    names = {name: None for one in each for name in one.arrays}
    sizes = {name: None for one in each for name in one.sizes}
    for name in names:
        for said, holds in SPECIAL.items():
            yield said.format(name=name), _has(name, holds)
    for name in sizes:
        for size in (0, 1):
            yield f"{name} is {size}", lambda one, n=name, s=size: one.sizes.get(n) == s  # type: ignore[misc]
    for name in {name: None for one in each for name in one.flags}:
        for value in (True, False):
            yield f"{name} is {value}", lambda one, n=name, v=value: one.flags.get(n) is v  # type: ignore[misc]


def _largest(each: Sequence[Circumstances], wrong: Sequence[bool]) -> Iterator[str]:
    """Of which sizes all wrong cases have more than every other."""
    for name in each[0].sizes:
        counts = [one.sizes.get(name, 0) for one in each]
        most = max(count for count, bad in zip(counts, wrong, strict=True) if not bad)
        if all(count > most for count, bad in zip(counts, wrong, strict=True) if bad):
            yield f"{name} is more than {most}"


IN_MEMORY = "lies otherwise in memory than its rows one after the other"

SPECIAL: dict[str, Callable[[np.ndarray], bool]] = {
    "{name} is empty": lambda a: a.size == 0,
    "there is nan in {name}": lambda a: a.dtype.kind == "f" and bool(np.isnan(a).any()),
    "there are infinite numbers in {name}": lambda a: a.dtype.kind == "f" and bool(np.isinf(a).any()),
    "a row of {name} is False throughout": lambda a: a.dtype.kind == "b" and a.ndim > 0 and bool((~a).all(-1).any()),
    "{name} is True throughout": lambda a: a.dtype.kind == "b" and bool(a.all()),
    "{name} is float32": lambda a: a.dtype == np.float32,
    "there are numbers larger than 100 in {name}": lambda a: a.dtype.kind == "f" and bool((np.abs(a) > 100).any()),
    f"{{name}} {IN_MEMORY}": lambda a: not a.flags.c_contiguous,
}


def _ordinary(each: Sequence[Circumstances]) -> Iterator[tuple[str, Holds]]:
    """What is nothing special, and yet may be the point."""
    sizes = {name: None for one in each for name in one.sizes}
    for name in {name: None for one in each for name in one.arrays}:
        for axes in (3, 2):
            yield f"{name} has more than {axes} axes", _has(name, lambda array, axes=axes: array.ndim > axes)  # type: ignore[misc]
        yield (
            f"there are zeros in {name}",
            _has(name, lambda array: array.dtype.kind != "b" and bool((array == 0).any())),
        )
    for name in sizes:
        yield f"{name} is more than 1", lambda one, n=name: one.sizes.get(n, 0) > 1  # type: ignore[misc]
    for one, other in permutations(sizes, 2):
        if one in each[0].asked and other not in each[0].asked:
            yield f"{one} does not divide {other}", _compared(one, other, lambda a, b: a > 0 and b % a > 0)
    for one, other in combinations(sizes, 2):
        yield f"{one} and {other} are not the same", _compared(one, other, lambda a, b: a != b)
        yield f"{one} and {other} are the same", _compared(one, other, lambda a, b: a == b)


def _has(name: str, holds: Callable[[np.ndarray], bool]) -> Holds:
    return lambda one: one.any(name, holds)


def _compared(one: str, other: str, holds: Callable[[int, int], bool]) -> Holds:
    return lambda c: one in c.sizes and other in c.sizes and holds(c.sizes[one], c.sizes[other])
