"""Cells that no graded cell needs: experiments. They are not worked out again while a notebook is graded.

At a release each gets a mark, a digest of what stands in it. Where a submission's cell still agrees with its mark, it does what it did
at the release, and can be left out; one that a student has changed is run.
"""

from __future__ import annotations

import ast
import hashlib
import re
import symtable
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

MARK = "experiment"
NO_SUCH_NAME = re.compile(r"name '(\w{1,200})' is not defined")
WORD = re.compile(r"\w++")
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Names:
    """What a cell has to do with its notebook's variables.

    Attributes:
        read: those that it, or a function in it, reads.
        written: those that it binds, or changes in place where an assignment says so.
        acts: whether it does more than to import and to define functions.
    """

    read: frozenset[str]
    written: frozenset[str]
    acts: bool


def mark(cells: Sequence[NotebookNode]) -> None:
    """Mark the experiments among the cells of a notebook in which the answers still are."""
    for cell in experiments(cells):
        cell.metadata[MARK] = _digest(cell.source)


def is_untouched(cell: NotebookNode) -> bool:
    """Whether a cell was released as an experiment, and is as it was; how front ends end lines and indent makes no difference."""
    return cell.cell_type == "code" and cell.metadata.get(MARK) == _digest(cell.source)


def unknown(kind: str, message: str) -> set[str]:
    """The variable that an error says there is not; none where it says something else."""
    found = NO_SUCH_NAME.match(message) if kind == "NameError" else None
    return {found[1]} if found else set()


def words_in(sources: Iterable[str]) -> set[str]:
    """Every word of some cells, so every variable that they may write. Students' code is not parsed in the grader's process."""
    return {word for source in sources for word in WORD.findall(source)}


def experiments(cells: Sequence[NotebookNode]) -> list[NotebookNode]:
    """The code cells whose only effect is what they show.

    Nothing that an answer, a test, or another cell that these need reads was written there, nor any variable that such a cell writes. Cells
    that only import or define are no experiments: what they define, an answer may call.
    """
    wanted: set[str] = set()
    rest: list[tuple[NotebookNode, Names]] = []
    for cell in cells:
        if cell.cell_type == "code":
            names = names_in(cell.source)
            if names.acts and "nbgrader" not in cell.metadata:
                rest.append((cell, names))
            else:
                wanted |= names.read | names.written
    while needed := [names for _, names in rest if names.written & wanted]:
        wanted = wanted.union(*(names.read | names.written for names in needed))
        rest = [(cell, names) for cell, names in rest if names not in needed]
    return [cell for cell, _ in rest]


def names_in(source: str) -> Names:
    """What a cell reads and writes. One that is no plain Python is taken to do nothing that can be left out."""
    try:
        tree, table = ast.parse(source), symtable.symtable(source, "cell", "exec")
    except SyntaxError:
        return Names(frozenset(), frozenset(), acts=False)
    read, written = set(), set(_changed(tree))
    for scope in _scopes(table):
        for symbol in scope.get_symbols():
            if scope is table or symbol.is_global():
                if symbol.is_referenced():
                    read.add(symbol.get_name())
                if symbol.is_assigned() or symbol.is_imported():
                    written.add(symbol.get_name())
    return Names(frozenset(read), frozenset(written), any(not isinstance(one, DEFINITIONS) for one in tree.body))


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _scopes(child)


def _changed(tree: ast.AST) -> Iterator[str]:
    """The variables at the beginning of what is assigned to: `a` in `a[0] = 1`, in `a.b = 1` and in `a[0].b += 1`."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            base: ast.expr = node
            while isinstance(base, (ast.Subscript, ast.Attribute)):
                base = base.value
            if isinstance(base, ast.Name):
                yield base.id


def _digest(source: str) -> str:
    return hashlib.sha256("".join(source.split()).encode()).hexdigest()[:16]
