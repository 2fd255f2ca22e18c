"""Notebooks as the many front ends write them: how a file is read, and what a cell says."""

from __future__ import annotations

import json
import linecache
import re
import sys
from typing import Any

from course.trial.reaching import innermost

Notebook = dict[str, Any]
Cell = dict[str, Any]

AROUND = "\ufeff \t\r\n"
"""What may stand before and behind a notebook's JSON: some editors write a byte-order mark."""


def read(content: bytes) -> Notebook:
    """The notebook that a file holds.

    Raises:
        ValueError: it holds none, or is just being written.
    """
    notebook = json.loads(content.decode(json.detect_encoding(content)).strip(AROUND))
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError("not a notebook")
    return notebook


def text(cell: Cell) -> str:
    """What a cell says, whether it is stored in lines or as one string, and however these end."""
    return same_ends("".join(cell["source"])).rstrip()


def same_ends(source: str) -> str:
    """A text whose lines end as Python's do."""
    return source.replace("\r\n", "\n").replace("\r", "\n")


STUB = "raise NotImplementedError()"
"""How the code of an answer cell ends as it is released."""


def is_stub(source: str) -> bool:
    """Whether code ends as an answer cell does in which nothing is written yet."""
    lines = [line.strip() for line in source.splitlines()]
    code = [line for line in lines if line and not line.startswith("#")]
    return bool(code) and code[-1] == STUB


def defines(source: str, name: str) -> bool:
    """Whether code gives something this name, as far as a line tells. `autograder.plugins.repairing` goes by the same lines."""
    binds = rf"^{name} *(?::[^=\n]*)?=(?!=)|^[ \t]*(?:from +\S+ +)?import\b.*\b{name}\b"
    return re.search(binds, source, re.MULTILINE) is not None or "" in around_definitions(source, name)


def around_definitions(source: str, name: str) -> list[str]:
    """Of each function of this name, what it is defined in, such as "class Mask" or "def main"; "" where it stands by itself."""
    lines = source.expandtabs().split("\n")
    places = [i for i, line in enumerate(lines) if re.match(rf" *(?:async +)?def +{name}\b", line)]
    return [_around(lines[place::-1]) for place in places]


def _around(upwards: list[str]) -> str:
    """What the first of some lines is in: those that follow stand above it."""
    depth = _depth(upwards[0])
    for line in upwards[1:]:
        if line.strip() and line.strip()[0] not in "#)]}" and _depth(line) < depth:
            depth = _depth(line)
            if around := re.match(r" *(?:async +)?((?:class|def) +\w+)", line):
                return around[1]
    return ""


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def as_run(cell: Cell) -> str:
    """What a kernel makes of a cell before it runs it: Python, also where IPython's own commands stand in it."""
    source = text(cell)
    shell = running_shell()
    if shell is not None:
        try:
            source = shell.transform_cell(source)
        except SyntaxError:
            return source.strip()
    return source.strip()


def run_from(function: Any) -> str:
    """The cell that defined a function, as the kernel ran it; "" where no cell did."""
    code = getattr(innermost(function), "__code__", None)
    return same_ends("".join(linecache.getlines(code.co_filename))).strip() if code else ""


def cells_run() -> list[str]:
    """The cells that were run since this kernel started, in order, whatever came of them; none outside a notebook."""
    shell = running_shell()
    return [same_ends(str(ran)).strip() for ran in shell.user_ns.get("In", ())] if shell is not None else []


def running_shell() -> Any:
    """IPython's shell, where this runs in one; None elsewhere."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None
