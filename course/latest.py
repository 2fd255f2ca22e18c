"""What a notebook last tried to have stand under a name: whether a function is that, or what was left over because a newer cell failed, and
which line has bound a name to something else."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

from course import answers
from course.cells import cells_run, run_from
from course.trial.reaching import innermost

LONGEST_LINE = 100
"""Characters that are shown of a line."""

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
SCOPES = (*DEFINITIONS, ast.Lambda, ast.comprehension)
"""What has names of its own."""


def exercise_of(thing: object, asking: FrameType) -> tuple[str, tuple[str, ...]]:
    """The name of the exercise that something stands for: the one under whose name the notebook has it, as the judge finds it. Where it
    has none, its own.

    Args:
        asking: the code that hands it over.

    Returns:
        The name, and those of other exercises that it may stand for as well: most often none.
    """
    every = (name for notebook in answers.notebooks() for name in answers.names(notebook))
    names = [name for name in every if name in asking.f_globals and asking.f_globals[name] is thing]
    line = linecache.getline(asking.f_code.co_filename, asking.f_lineno)
    written = [name for name in names if re.search(rf"\b{name}\b", line)]
    if len(written) == 1:
        return written[0], ()
    own = str(getattr(thing, "__name__", type(thing).__name__))
    meant = own if own in names or not names else names[0]
    return meant, tuple(name for name in names if name != meant)


def defining(name: str) -> list[str]:
    """The cells run since this kernel started that define a function of this name, whether or not they came to it."""
    defines = re.compile(rf"^def {re.escape(name)}\b", re.MULTILINE)
    return [cell for cell in cells_run() if defines.search(cell)]


def left_over(function: Any) -> bool:
    """Whether a cell that defines this function's name has run since, without coming to define it."""
    own = run_from(function)
    cells = defining(innermost(function).__code__.co_name) if own else []
    return own in cells and cells[-1] != own


def bound_by(name: str) -> str:
    """The last line run that binds a name, such as "mix_rows = mix_rows(A, V)"; "" where none is found, or it is a `def`."""
    for cell in reversed(cells_run()):
        with suppress(SyntaxError, ValueError, RecursionError):
            lines = [line for line in _at_top(ast.parse(cell)) if line[0] == name]
            if lines:
                line = cell.splitlines()[lines[-1][1] - 1].strip()[:LONGEST_LINE]
                return "" if line.startswith(("def ", "async ")) else line
    return ""


def _at_top(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The names that code binds where it stands by itself, and not within a function, and in which lines."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, DEFINITIONS):
            yield node.name, node.lineno
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (((alias.asname or alias.name).partition(".")[0], node.lineno) for alias in node.names)
        if not isinstance(node, SCOPES):
            yield from _at_top(node)
