"""In a notebook, a cell that needs an exercise which is not written yet says so in one line, without a traceback; one that needs an
exercise whose cell was not run says which cell to run."""

from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType
from typing import Any

from course import answers
from course.cells import running_shell
from course.latest import defining


def be_calm() -> None:
    """Let IPython, where there is one, tell of a NotImplementedError in one line, and which cell to run where an exercise has no name
    yet; not while nbgrader runs cells."""
    shell = running_shell()
    if shell is not None and not os.environ.get("NBGRADER_EXECUTION"):
        shell.set_custom_exc((NotImplementedError,), _tell)
        shell.events.register(
            "post_run_cell", _tell_which_to_run
        )  # behind the traceback: who runs all cells is stopped, as ever


def _tell(shell: Any, kind: type, error: BaseException, trace: TracebackType, tb_offset: int | None = None) -> None:
    graded = bool(os.environ.get("NBGRADER_EXECUTION"))  # known only now, in a fork of a process that imported this
    if error.args or graded:  # a library's own has a message
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        return
    print(f"{traceback.extract_tb(trace)[-1].name} is not written yet; this cell waits for it.")


def _tell_which_to_run(result: Any) -> None:
    error, shell = result.error_in_exec, running_shell()
    name = getattr(error, "name", None) if isinstance(error, NameError) else None
    asked = "course" in sys.modules and not os.environ.get("NBGRADER_EXECUTION")  # a process may have it only at hand
    if shell is None or not name or not asked or answers.find(name) is None:
        return
    if defining(name):
        print(
            f"{name} is not defined: the cell that begins to define it stopped with an error. Look under that cell, and run it again first."
        )
    else:
        print(
            f"{name} is not defined yet. Run the cell with `def {name}` first, most often the one above; then this one again."
        )
