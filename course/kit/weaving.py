"""What a student has written in a cell, and what the course has reworded in it since, in one text.

Only words can be woven in: comments, docstrings, empty lines. Where the course's code has changed, a student has to look.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True, order=True)
class _Change:
    """Lines [start, end) of a text that others have come in the place of."""

    start: int
    end: int
    lines: tuple[str, ...]


def woven(base: str, theirs: str, new: str) -> str | None:
    """The student's text with the course's new words in it.

    Args:
        base: the text that the student began with.
        theirs: what the student has made of it.
        new: the course's new text.

    Returns:
        None where more than words is new, or where both have changed the same lines.
    """
    if _code(base) is None or _code(base) != _code(new):
        return None
    lines = base.split("\n")
    reworded, written = _changes(lines, new.split("\n")), _changes(lines, theirs.split("\n"))
    if any(_meet(one, other) for one in reworded for other in written):
        return None
    for change in sorted(reworded + written, reverse=True):
        lines[change.start : change.end] = change.lines
    made = "\n".join(lines)
    return made if _code(made) == _code(theirs) else None


def _changes(old: list[str], new: list[str]) -> list[_Change]:
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [_Change(i, j, tuple(new[k:end])) for kind, i, j, k, end in blocks if kind != "equal"]


def _meet(one: _Change, other: _Change) -> bool:
    """Whether two changes are of the same lines, or of the same place between two."""
    return (one.start, one.end) == (other.start, other.end) or max(one.start, other.start) < min(one.end, other.end)


def _code(source: str) -> str | None:
    """What a text does, without its comments and docstrings; None where it is not Python yet."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # ValueError: a null byte
        return None
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)
