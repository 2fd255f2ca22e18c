"""What to do about an exception that comes of what was run, or of what was handed over, and of no line that is wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from course.trial.observing import Raised

IMPORTED = ("np", "torch", "math", "Callable", "Bool", "Float", "Int")
"""What the first cell of code in a notebook imports."""

AGAIN = "was not run since this kernel started"


def missing_name(raised: Raised) -> str:
    """The name that Python does not know; "" where something else was raised."""
    found = re.fullmatch(r"name '(\w+)' is not defined.*", raised.message) if raised.kind == "NameError" else None
    return found[1] if found else ""


def which_cell_to_run(
    name: str, here: tuple[str, ...], notebook_of_it: str, parameters: Sequence[tuple[str, str]], begun: bool
) -> str:
    """What to do where a name is not defined.

    Args:
        name: the name.
        here: the exercises of the notebook, in order.
        notebook_of_it: the notebook whose exercise it is, "02_matrices"; "" where it is none.
        parameters: of each of the function's parameters the name, and the names of its axes: ("Q", "n k").
        begun: whether a cell was run that defines the name, or would have.
    """
    twin = next((one for one, _ in parameters if one.casefold() == name.casefold()), "")
    if name in here and begun:
        return (
            f"`{name}` is exercise {here.index(name) + 1} of this notebook, and is not defined now: its cell stopped with an error, or its "
            "name was deleted since. Begin there: look under that cell, run it again, then this one's two cells."
        )
    if name in here:
        return (
            f"`{name}` is exercise {here.index(name) + 1} of this notebook, and its cell {AGAIN}: run the cell with "
            f"`def {name}`, then this one's two cells again."
        )
    if notebook_of_it:
        return (
            f"`{name}` is of notebook {notebook_of_it[:2]}. The cell that carries it over, near the top, {AGAIN}: run that one, "
            "then this one's two cells again."
        )
    if name in IMPORTED:
        return f"The cell near the top that imports `{name}` {AGAIN}: run that one, then this one's two cells again."
    if twin:
        return f"The argument is called `{twin}`; Python takes `{name}` for another name."
    if any(name in axes.split() for _, axes in parameters):
        return f"In the task, {name} is a size and no variable: read it off a shape."
    return f"No cell that was run since this kernel started defines `{name}`. If one of yours does, run it."


def no_function(name: str, now: str, by: str) -> str:
    """What to say of an exercise under whose name no function stands.

    Args:
        now: what does, "a numpy array of float64".
        by: the line that has bound it; "" where that is not known.
    """
    how = f"`{by}` has bound it to {now}. Give that another name, and run" if by else f"it is {now}. Run"
    return f"{name} is no function any more: {how} the cell with `def {name}` again."


def not_an_array(raised: Raised) -> tuple[str, str]:
    """What stands where an array should, such as "list", and what was asked of it, such as "max"; two times "" for other exceptions."""
    pattern = r"'(list|tuple|int|float|bool|NoneType)' object has no attribute '(\w+)'.*"
    found = re.fullmatch(pattern, raised.message) if raised.kind == "AttributeError" else None
    return (found[1], found[2]) if found and hasattr(np.ndarray, found[2]) else ("", "")
