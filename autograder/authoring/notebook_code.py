"""An exercise's implementations as a student's notebook has them: code without annotations, docstrings and marks."""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import sys
from functools import cache
from types import ModuleType
from typing import Any, cast

import nbformat

from autograder.exercises import exercises_in
from autograder.exercises.model import Exercise, Implementation
from autograder.settings import ROOT

MARKS = ("mistake", "misses_the_idea", "right", "equivalent(", "right_to_seven_digits")
"""How the decorators begin by which an exercise says what a function of its is."""


def as_notebook_code(exercise: Exercise, implementation: Implementation) -> str:
    """An implementation as a student would have written it: the exercise's name, no annotations, no docstring.

    What it needs of its module, and of the parts that this shares with others, comes before it: imports, constants, helpers, and,
    where it is built on the right answer, that answer under another name. Other exercises do not, since the notebook defines them, as
    it defines `np`.
    """
    definitions = _within_reach(sys.modules[implementation.__module__])
    renamed = {exercise.name: f"right_{exercise.name}", implementation.__name__: exercise.name}
    needed: set[str] = set()
    waiting = [implementation.__name__]
    while waiting:
        name = waiting.pop()
        needed.add(name)
        waiting += (definitions[name].uses & definitions.keys()) - {"np"} - needed
    return "\n\n".join(one.text(renamed) for name, one in definitions.items() if name in needed)


def as_written(exercise: Exercise, implementation: Implementation) -> Implementation:
    """An implementation as a cell with its code defines it, in a notebook whose other answers are right."""
    names = _set_up(exercise.notebook) | {other.name: other.oracle for other in exercises_in(exercise.notebook)}
    code = as_notebook_code(exercise, implementation)
    cell = f"<ipython-input-{exercise.name}-{implementation.__name__}>"  # a harness looks at the line that raised something
    linecache.cache[cell] = len(code), None, code.splitlines(keepends=True), cell
    exec(compile(code, cell, "exec"), names)
    return cast(Implementation, names[exercise.name])


@cache
def _set_up(notebook: str) -> dict[str, Any]:
    """What the cells of a source notebook define that stand before its first answer."""
    names: dict[str, Any] = {}
    for cell in nbformat.read(str(ROOT / "source" / notebook / f"{notebook}.ipynb"), as_version=4).cells:
        if cell.id in ("setup", "carried-over"):
            exec(cell.source, names)
    return names


class _Definition:
    """A statement of a module without annotations, docstrings and marks.

    Attributes:
        uses: the names that it reads or assigns to.
    """

    def __init__(self, statement: ast.stmt) -> None:
        self._plain: ast.stmt = _Plainer().visit(copy.deepcopy(statement))
        self._text = ast.unparse(self._plain)
        nodes = list(ast.walk(self._plain))
        self.uses = {node.id for node in nodes if isinstance(node, ast.Name)}
        self._names = self.uses | {node.name for node in nodes if isinstance(node, ast.FunctionDef)}

    def text(self, renamed: dict[str, str]) -> str:
        """The code, some of its names exchanged for others."""
        if not self._names & renamed.keys():
            return self._text
        return ast.unparse(_Renamer(renamed).visit(copy.deepcopy(self._plain)))


@cache
def _within_reach(module: ModuleType) -> dict[str, _Definition]:
    """What a module imports, assigns and defines, name by name, in order; before it, the same of every `parts` that it imports from.

    Functions of other exercises are not among them.
    """
    found: dict[str, _Definition] = {}
    tree = ast.parse(inspect.getsource(module))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and str(node.module).endswith(".parts"):
            found |= _within_reach(sys.modules[str(node.module)])
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = _Definition(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = _Definition(node)
        elif isinstance(node, ast.Import):
            found |= {alias.asname or alias.name: _Definition(ast.Import([alias])) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not str(node.module).startswith("autograder"):
            found |= {
                alias.asname or alias.name: _Definition(ast.ImportFrom(node.module, [alias], 0)) for alias in node.names
            }
    return found


class _Plainer(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if ast.get_docstring(node) is not None:
            del node.body[0]
        node.decorator_list = [d for d in node.decorator_list if not ast.unparse(d).startswith(MARKS)]
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        self.generic_visit(node)
        plain = ast.Assign([node.target], node.value) if node.value else ast.Pass()
        return ast.copy_location(plain, node)


class _Renamer(ast.NodeTransformer):
    def __init__(self, renamed: dict[str, str]) -> None:
        self.renamed = renamed

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.name = self.renamed.get(node.name, node.name)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.renamed.get(node.id, node.id)
        return node
