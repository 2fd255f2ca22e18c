"""How far a notebook is: what `check` finds of each of its exercises now; and how far all of them are, as their checks last said."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from course import answers
from course.cells import running_shell
from course.checking import Result, examine
from course.folders import together
from course.latest import defining
from course.overview import Overview, overview
from course.remembered import remember
from course.trial.message import MARKS, Message
from course.trial.silence import silently

NOT_RUN = (
    "Not run: its cell was not run since this kernel started, whatever stands in it. Kernel > Restart Kernel and Run All Cells "
    "runs them all."
)


def progress(notebook: str | None = None) -> None:
    """Say how far a notebook is, by the check of each of its exercises, run now; or how far all are, by what their checks last said.

    Args:
        notebook: "00_shapes", or "00"; None is all of them. Where they do not lie beside each other, as in Colab, None is the last
            of which an exercise is defined.
    """
    if os.environ.get("NBGRADER_EXECUTION"):
        return
    folder = together()
    table = overview(folder) if notebook is None and folder is not None else None
    if table is not None and table.rows:
        _show(table)
        return
    every = answers.notebooks()
    if notebook is None:
        begun = [each for each in every if defined(each)]
        if not begun:
            print(f"No exercise is defined here yet. Run the cells above first, or name one of {', '.join(every)}.")
            return
        notebook = begun[-1]
    meant = named(notebook)
    if meant is not None:
        results = standing(meant)
        remember(meant, {name: result.state for name, result in results.items()}, defined(meant))
        tell(meant, results)


def _show(table: Overview) -> None:
    if running_shell() is None:
        print(table)
        return
    from IPython.display import display

    display(table)


def named(notebook: str) -> str | None:
    """The one notebook whose name begins so, or that has this number, "03" or "3"; where there is none, that is printed."""
    every, asked = answers.notebooks(), str(notebook)
    by_number = [each for each in every if asked.isdecimal() and int(each.partition("_")[0]) == int(asked)]
    meant = by_number or [each for each in every if asked and each.startswith(asked)]
    if len(meant) != 1:
        print(f"There is no notebook {notebook}; there are {', '.join(every)}.")
        return None
    return meant[0]


def defined(notebook: str) -> dict[str, Callable[..., Any]]:
    """The exercises of a notebook that are defined, by name."""
    scope = vars(sys.modules["__main__"])
    return {name: scope[name] for name in answers.names(notebook) if callable(scope.get(name))}


def standing(notebook: str) -> dict[str, Result]:
    """What `check` finds of each exercise of a notebook; what these print is not heard."""
    scope, here = vars(sys.modules["__main__"]), defined(notebook)
    with silently():
        return {
            name: examine(scope[name], name) if name in here or (name in scope and defining(name)) else _not_run(name)
            for name in answers.names(notebook)
        }


def tell(notebook: str, results: Mapping[str, Result]) -> None:
    """Print how many checks pass, and each exercise with its state."""
    print(f"{notebook}: {sum(map(bool, results.values()))} of {len(results)} checks pass.")
    for name, result in results.items():
        print(f"{MARKS[result.state]} {result.state:<12} {name}")
    if any(result.state == "not run" for result in results.values()):
        print(NOT_RUN)


def _not_run(name: str) -> Result:
    return Result(name, Message("not run", (f"{name}: {NOT_RUN}",)))
