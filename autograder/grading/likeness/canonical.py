"""What is left of an answer when names of its own, comments, docstrings, annotations and layout are taken away."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

PIECE = 6
"""How many words of code make a piece."""

WORD = re.compile(r"\w+|[^\w\s]")
MOST_READ = 20_000
"""Characters of an answer; where it is longer, its beginning is compared."""
DEEPEST = 20_000
"""Calls in one another, which an answer of that length stays below: a sum of a thousand terms takes some three thousand."""

Pieces = frozenset[tuple[str, ...]]


def pieces(source: str) -> Pieces:
    """All runs of `PIECE` words in an answer as it reads once it is canonical; of a shorter one, the whole."""
    return _runs(canonical(source))


def handed_out(source: str) -> Pieces:
    """The same of a cell that was handed out, also as it reads to who cannot make it canonical."""
    return pieces(source) | _runs(_without_comments(source))


def _runs(text: str) -> Pieces:
    words = WORD.findall(text)
    return frozenset(tuple(words[start : start + PIECE]) for start in range(max(1, len(words) - PIECE + 1)) if words)


def canonical(source: str) -> str:
    """An answer with names of its own numbered in the order in which they turn up.

    What is no Python stays as it is, without its comments.
    """
    source = source[:MOST_READ]
    try:
        with _deep():
            tree = ast.parse(source)
            own = {name: f"_{number}" for number, name in enumerate(dict.fromkeys(_bound(tree)))}
            return ast.unparse(_Plain(own).visit(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _without_comments(source)


def _without_comments(source: str) -> str:
    return re.sub(r"#.*", "", source)


@contextmanager
def _deep() -> Iterator[None]:
    """What is nested in one another in an answer is walked by as many calls in one another."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _bound(tree: ast.AST) -> Iterator[str]:
    """The names that an answer gives to things, in order, but for those of its outermost functions, which the exercise gives."""
    given = {node.name for node in ast.iter_child_nodes(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef) and node.name not in given:
            yield node.name


class _Plain(ast.NodeTransformer):
    def __init__(self, own: dict[str, str]) -> None:
        self._own = own

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._own.get(node.id, node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(self._own[node.arg])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.name, node.returns = self._own.get(node.name, node.name), None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value, lineno=0) if node.value else None

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        """A text that stands alone says nothing to the machine."""
        self.generic_visit(node)
        alone = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if alone else node
