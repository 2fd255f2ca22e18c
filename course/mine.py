"""`mine`: a student's own function from an earlier notebook, for experiments that nobody grades."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any

from course import answers
from course.cells import is_stub, read, text
from course.checking import examine
from course.trial.silence import silently

Function = Callable[..., Any]

DEFINING = ("setup", "carried-over")
"""The ids of the cells that define what answers build on. Some front ends write no ids: there every cell counts that begins like one."""


def mine(function: Function) -> Function:
    """Your own version of a function that this notebook brings along, from the notebook in which you wrote it.

    That notebook is looked for where JupyterLab shows it: in its folder beside this notebook's folder, or beside this
    notebook. Of its cells only those that import, bring along and answer are run.

    Args:
        function: the function that is brought along.

    Returns:
        Yours, if there is one and its check passes; else `function`. Says which. While nbgrader runs it is always
        `function`: a grade never depends on another notebook.
    """
    if os.environ.get("NBGRADER_EXECUTION"):
        return function
    name = function.__name__
    exercise = answers.find(name)
    if exercise is None:
        print(f"{name}: there is no exercise of this name, so this one it is.")
        return function
    here = Path.cwd()
    notebook = exercise.notebook
    path = next(filter(Path.is_file, (here.parent / notebook / f"{notebook}.ipynb", here / f"{notebook}.ipynb")), None)
    own = _defined(path, name) if path else None
    with silently():
        result = examine(own, name) if own is not None else None
    if own is not None and result:
        print(f"{name}: your own, from {notebook}.")
        return own
    if path is None:
        why = f"there is no {notebook}.ipynb here"
    elif result is None:
        why = f"none could be read in the answer cells of your {notebook}"
    elif result.state == "not written":
        why = f"yours is not written yet in {notebook}"
    elif result.raised == "NameError":
        why = f"yours uses a name that no answer cell of your {notebook} defines; only imports and answers are read from there"
    else:
        why = f"yours does not pass its check in {notebook}"
    print(f"{name}: the one brought along; {why}.")
    return function


def _defined(path: Path, name: str) -> Function | None:
    """What a notebook's cells define under a name; None where that is no function."""
    scope: dict[str, Any] = {"__name__": path.stem}
    for source in _definitions(path):
        before = scope.get(name)
        with (
            suppress(Exception, SystemExit),
            redirect_stdout(io.StringIO()),
        ):  # an unfinished cell defines what it got to
            exec(compile(source, f"<{path.stem}>", "exec"), scope)
        if before is not None and is_stub(source):  # which hides no answer in a cell of one's own
            scope[name] = before
    found = scope.get(name)
    return found if callable(found) else None


def _definitions(path: Path) -> Iterator[str]:
    """The cells of a notebook that define what its exercises need, in order."""
    exercises = re.compile(rf"^def ({'|'.join(answers.names(path.stem))})\b", re.MULTILINE)
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):  # not a notebook, or a broken one
        for cell in read(path.read_bytes())["cells"]:
            said = text(cell)
            lines = said.splitlines()
            answer = cell["metadata"].get("nbgrader", {}).get("solution", False) or exercises.search(said)
            defining = cell["id"] in DEFINING if "id" in cell else _defines(lines)
            if cell["cell_type"] == "code" and (answer or defining):
                yield "\n".join(line for line in lines if not line.startswith(("%", "!")))  # these are Jupyter's own


def _defines(lines: list[str]) -> bool:
    """Whether a cell begins as those do that define something for the cells behind it: with imports or a function."""
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return first.startswith(("import ", "from ", "def ", "@"))
