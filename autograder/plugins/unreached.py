"""Cells that asked for the network where there is none, by what they show of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nbformat import NotebookNode

from autograder.plugins.printable import without_colours

CUT = r"Temporary failure in name resolution|\[Errno 101\] Network is unreachable|[Cc]ould not resolve host|unable to resolve host"
"""What Python, curl, git and wget say of a network that is cut."""
SAID = re.compile(CUT)
RAISED = re.compile(rf"^[\w.]+: .*(?:{CUT})", re.MULTILINE)
"""The line of an exception that names it, and no line of code."""


def first_unreached(notebook: NotebookNode) -> int | None:
    """The first cell that asked for the network in vain, counted from 0."""
    return next((index for index, cell in enumerate(notebook.cells) if any(_asked_in_vain(cell))), None)


def _asked_in_vain(cell: NotebookNode) -> Iterator[bool]:
    for output in cell.get("outputs", ()):
        if output.output_type == "stream":
            yield SAID.search(output.text) is not None
        elif output.output_type == "error":
            told = "\n".join([f"{output.ename}: {output.evalue}", *output.traceback])
            yield RAISED.search(without_colours(told)) is not None
