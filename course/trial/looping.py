"""Where a loop is, in a function whose lines grow with what it is given: in itself, in one it calls, or in numpy's name."""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any

from course.trial.reaching import looked_up, reached

ONE_BY_ONE = {
    "apply_along_axis": "`np.apply_along_axis` calls your function once for each row",
    "vectorize": "`np.vectorize` calls your function once for each entry",
    "frompyfunc": "`np.frompyfunc` calls your function once for each entry",
    "map": "`map` calls your function once for each part",
}
"""What calls a function again and again, by its name in the code."""


def where_it_loops(function: Any) -> list[str]:
    """Sentences on where loops stand, of what can be seen without running anything; none where nothing is seen."""
    told = []
    for place, (name, codes) in enumerate(reached(function)):
        at = f"in `{name}`, which it calls" if place else f"in `{name}`"
        told += [f"{ONE_BY_ONE[one]}: that is a loop, {at}." for one in ONE_BY_ONE if _names(codes, one)]
        told += [f"A loop stands {at}."] if any(map(_jumps_back, codes)) else []
    return told


def _names(codes: list[CodeType], name: str) -> bool:
    """Whether it is called, in code that may have numpy under any name; Python's own is called by its name alone."""
    return any(name in (looked_up(code) if name == "map" else code.co_names) for code in codes)


def _jumps_back(code: CodeType) -> bool:
    """Whether there is a `for`, a `while` or a comprehension: what they are made of jumps back."""
    return any("JUMP_BACKWARD" in step.opname for step in dis.get_instructions(code))
