"""Right answers in other styles, as they would stand in the notebook."""

from __future__ import annotations

import ast

import nbformat

from autograder.authoring.notebook_code import as_notebook_code
from autograder.exercises.model import ANSWER, Exercise
from autograder.settings import ROOT

LONG = 16  # lines of code; a style that takes more is shown where there are not two shorter ones
CALLED = {"softmax_of_kept": "masked_softmax", "attention_of_heads": "mha", "normalised_rows": "layer_norm"}
"""What exercises share with each other, and the same in notebooks."""


def other_styles(exercise: Exercise, solution: str) -> list[str]:
    """Two or three right answers as students would write them, none of them the solution's own; short ones, without imports, if possible.

    Args:
        exercise: whose right answers they are.
        solution: the cell of the answer, as the source has it.
    """
    own = _body(solution, exercise.name)
    there = defined_before(exercise)
    codes = [with_what_is_there(as_notebook_code(exercise, one), exercise.name, there) for one in exercise.variants]
    others = [code for code in codes if _body(code, exercise.name) != own]
    others.sort(key=lambda code: (max(code.count("\n"), LONG), "import " in code))
    return others[:2] + [code for code in others[2:3] if code.count("\n") <= LONG]


def defined_before(exercise: Exercise) -> set[str]:
    """The functions that its notebook has defined where an exercise is answered."""
    path = ROOT / "source" / exercise.notebook / f"{exercise.notebook}.ipynb"
    found: set[str] = set()
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == f"{exercise.name}{ANSWER}":
            break
        if cell.cell_type == "code":
            found |= {node.name for node in ast.parse(cell.source).body if isinstance(node, ast.FunctionDef)}
    return found


def with_what_is_there(code: str, name: str, there: set[str]) -> str:
    """The code of a function, which calls what its notebook has defined in place of the exercises' own.

    Args:
        code: statements that define it and all that it needs.
        name: of the function.
        there: what the notebook has defined.
    """
    known = {helper: own for helper, own in CALLED.items() if own in there}
    statements = [_Renamer(known).visit(node) for node in ast.parse(code).body if _defined(node) not in known]
    by_name = {_defined(node): node for node in statements}
    needed: set[str] = set()
    waiting = [name]
    while waiting:
        one = waiting.pop()
        needed.add(one)
        waiting += (_used(by_name[one]) & by_name.keys()) - needed
    return "\n\n".join(ast.unparse(node) for node in statements if _defined(node) in needed)


def _body(code: str, name: str) -> str:
    """What a function does, without its docstring and its annotations, to be compared."""
    (function,) = (node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef) and node.name == name)
    statements = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return "\n".join(map(ast.unparse, statements))


def _defined(statement: ast.stmt) -> str:
    """What a statement of a module defines, imports or assigns."""
    match statement:
        case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case ast.Import(names=[one]) | ast.ImportFrom(names=[one]):
            return one.asname or one.name
    raise ValueError(f"this defines nothing, or several things: {ast.unparse(statement)}")


def _used(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


class _Renamer(ast.NodeTransformer):
    def __init__(self, renamed: dict[str, str]) -> None:
        self.renamed = renamed

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.renamed.get(node.id, node.id), node.ctx), node)
