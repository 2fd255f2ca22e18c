"""What is said of the case in which an answer is wrong: what is done there, and with which arguments."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import numpy as np

from course.trial.cases import Case
from course.trial.functions import Function
from course.trial.harnesses import HARNESSES
from course.trial.text import indented, show
from course.trial.values import Tensor, Value, bare

SMALL = 24  # arguments of up to so many numbers are shown in numbers
MANY_LINES = 20  # of arguments in numbers are more than a reader wants before the one sentence
ROWS_LEFT = 4  # lines that are left of one that is folded
ORDINARY = 1000.0  # what is larger is there to be large; labels such as 213 are not
TINY = 1e-7


def situation(case: Case, parameters: Sequence[tuple[str, str]]) -> list[str]:
    """A case in words and, where it is small, in numbers; nothing where there are no arguments.

    Args:
        parameters: of each of the function's parameters the name, and the names of its axes: ("Q", "n k").
    """
    axes = dict(parameters)
    names = case.names(list(axes))
    told = (
        _argument(name, axes.get(name, ""), argument) for name, argument in zip(names, case.arguments, strict=False)
    )
    parts = _folded([part for part in told if part])
    done = [inspect.getdoc(HARNESSES[case.harness]) or ""] if case.harness else []
    return [*(" ".join(text.split()) for text in done), *(["With " + "\n".join(parts)] if parts else [])]


def _folded(parts: list[str]) -> list[str]:
    """The arguments, those of several lines by their first rows where all of them together would be too many."""
    while sum(part.count("\n") + 1 for part in parts) > MANY_LINES:
        longest = max(range(len(parts)), key=lambda i: parts[i].count("\n"))
        lines = parts[longest].split("\n")
        if len(lines) <= ROWS_LEFT:
            break
        parts[longest] = "\n".join([*lines[: ROWS_LEFT - 1], f"    and {len(lines) - ROWS_LEFT + 1} more lines"])
    return parts


def _argument(name: str, axes: str, argument: Value | Function) -> str:
    """One argument as a reader wants it: in numbers where it is small, else by its shape; nothing for a plain function."""
    if isinstance(argument, Function):
        return f"{name} = {argument}" if str(argument) != name else ""
    value = bare(argument)
    shown = show(value) if leaves(value) <= SMALL else _shapes(value)
    if isinstance(value, float):
        shown = f"{value:.12g}"  # rounded, it could lie on the other side of an edge
    called = name
    if isinstance(value, np.ndarray):
        if value.size > SMALL:
            named = f"[{', '.join(axes.split())}] = " if axes else ""
            return f"{name} of shape {named}{shown}"
        called = name if value.dtype in ("float64", "bool") else f"{name} ({value.dtype.name})"
    return f"{called} =\n{indented(shown)}" if "\n" in shown else f"{called} = {shown}"


def _shapes(value: Value) -> str:
    """A structure of many arrays, by their shapes."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shapes(part)}" for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return "; ".join(map(_shapes, value))
    array = bare(value)
    return str(list(array.shape)) if isinstance(array, np.ndarray) else show(array)


def leaves(value: Value) -> int:
    """How many numbers there are in a value."""
    if isinstance(value, (list, tuple, dict)):
        return sum(map(leaves, value.values() if isinstance(value, dict) else value))
    array = bare(value)
    return int(array.size) if isinstance(array, np.ndarray) else 1


def out_of_the_ordinary(argument: Value | Function) -> bool:
    """Whether an argument is there for more than its place in the task: a function that does more than its name says, numbers in another
    type than Python's own, and numbers that are huge, tiny, infinite or none."""
    if isinstance(argument, Function):
        return str(argument) != argument.name
    if isinstance(argument, (list, tuple, dict)):
        return any(map(out_of_the_ordinary, argument.values() if isinstance(argument, dict) else argument))
    array = np.asarray(bare(argument)) if isinstance(argument, (np.ndarray, Tensor, float)) else np.zeros(0)
    if array.dtype.kind != "f":
        return False
    size = np.abs(array[array != 0])
    return array.dtype != np.float64 or not bool(np.all((size > TINY) & (size <= ORDINARY)))
