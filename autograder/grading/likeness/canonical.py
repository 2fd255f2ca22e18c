"""What is left of an answer when names of its own, comments, docstrings, annotations and layout are taken away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

PIECE = 6
"""How many words of code make a piece."""

WORD = re.compile(r"\w+|[^\w\s]")


def pieces(source: str) -> frozenset[tuple[str, ...]]:
    """All runs of `PIECE` words in an answer as it reads once it is canonical; of a shorter one, the whole."""
    words = WORD.findall(canonical(source))
    return frozenset(tuple(words[start : start + PIECE]) for start in range(max(1, len(words) - PIECE + 1)) if words)


def canonical(source: str) -> str:
    """An answer with names of its own numbered in the order in which they turn up.

    What is no Python stays as it is, without its comments.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return re.sub(r"#.*", "", source)
    own = {name: f"_{number}" for number, name in enumerate(dict.fromkeys(_bound(tree)))}
    return ast.unparse(_Plain(own).visit(tree))


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
