"""`mine`: a student's own functions from an earlier notebook, for experiments that nobody grades."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from course import answers
from course.checking import examine


def mine(notebook: str) -> dict[str, Callable[..., Any]]:
    """The functions of an earlier notebook, "03_causal_mask", as you wrote them, and says which were found.

    Of that notebook only the cells that import, bring along and answer are run. It is looked for where JupyterLab shows
    it: in the folder of its own beside this notebook's folder, or beside this notebook.

    Returns:
        Name to function, of the exercises whose check passes. Empty where there is no such notebook, or where it cannot
        be read, and always while nbgrader runs: a grade never depends on another notebook.
    """
    if os.environ.get("NBGRADER_EXECUTION"):
        return {}
    here = Path.cwd()
    places = (here.parent / notebook / f"{notebook}.ipynb", here / f"{notebook}.ipynb")
    path = next(filter(Path.is_file, places), None)
    if path is None:
        print(f"There is no {notebook}.ipynb here; the functions that this notebook brings along are used.")
        return {}
    scope: dict[str, Any] = {"__name__": notebook}
    for source in _definitions(path):
        try:
            exec(compile(source, f"<{notebook}>", "exec"), scope)
        except Exception:  # an unfinished cell; what it would have defined is missing, and said to be
            continue
    names = answers.names(notebook)
    found = {name: scope[name] for name in names if callable(scope.get(name)) and examine(scope[name])}
    missing = [name for name in names if name not in found]
    print(f"From your {notebook}: {', '.join(found) or 'nothing yet'}." + _unfinished(missing))
    return found


def _unfinished(names: list[str]) -> str:
    return f" (Not written, or not right yet: {', '.join(names)}.)" if names else ""


def _definitions(path: Path) -> Iterator[str]:
    """The cells of a notebook that define what its exercises need, in order."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for cell in cells:
            answer = cell["metadata"].get("nbgrader", {}).get("solution", False)
            if cell["cell_type"] == "code" and (answer or cell.get("id") in ("setup", "carried-over")):
                yield "".join(cell["source"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
