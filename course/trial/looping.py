"""Where a loop is, in a function whose lines grow with what it is given: in itself, in one it calls, or in numpy's name."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

ONE_BY_ONE = {
    "apply_along_axis": "`np.apply_along_axis` calls your function once for each row",
    "vectorize": "`np.vectorize` calls your function once for each entry",
    "frompyfunc": "`np.frompyfunc` calls your function once for each entry",
    "map": "`map` calls your function once for each part",
}
"""What calls a function again and again, by its name in the code."""


def where_it_loops(function: Any) -> list[str]:
    """Sentences on where loops stand, of what can be seen without running anything; none where nothing is seen."""
    inner = inspect.unwrap(function) if callable(function) else function
    if not isinstance(inner, FunctionType):
        return []
    told = []
    for name, codes in _reached(inner):
        at = f"in `{name}`" if name == inner.__name__ else f"in `{name}`, which it calls"
        told += [f"{ONE_BY_ONE[one]}: that is a loop, {at}." for one in ONE_BY_ONE if _names(codes, one)]
        told += [f"A loop stands {at}."] if any(map(_jumps_back, codes)) else []
    return told


def _reached(function: FunctionType) -> Iterator[tuple[str, list[CodeType]]]:
    """A function and those of the same notebook that it names, and so on: each with all the code in it."""
    waiting, seen = [function], {function.__code__}
    while waiting:
        one = waiting.pop(0)
        codes = list(_with_inner(one.__code__))
        yield one.__name__, codes
        for name in (name for code in codes for name in code.co_names):
            other = function.__globals__.get(name)
            if not isinstance(other, FunctionType) or other.__globals__ is not function.__globals__:
                continue
            if other.__code__ not in seen:
                seen.add(other.__code__)
                waiting.append(other)


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_inner(constant)


def _names(codes: list[CodeType], name: str) -> bool:
    return any(name in code.co_names for code in codes)


def _jumps_back(code: CodeType) -> bool:
    """Whether there is a `for`, a `while` or a comprehension: what they are made of jumps back."""
    return any("JUMP_BACKWARD" in step.opname for step in dis.get_instructions(code))
