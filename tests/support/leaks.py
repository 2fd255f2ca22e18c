"""Find an answer in code that should not hold it, also when its names, docstring and annotations were changed."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.exercises import NOTEBOOKS, every_exercise
from autograder.settings import ROOT


@dataclass(frozen=True)
class Secret:
    """A function that no student may find."""

    notebook: str
    role: str
    name: str


def cells_of(path: Path) -> list[NotebookNode]:
    return list(nbformat.read(str(path), as_version=4).cells)


def source_cells(notebook: str) -> list[NotebookNode]:
    return cells_of(ROOT / "source" / notebook / f"{notebook}.ipynb")


def functions(code: str) -> Iterator[tuple[str, str]]:
    """The name and the normal form of every function and lambda in some code."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield getattr(node, "name", "lambda"), normal_form(node)


def normal_form(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> str:
    """What a function does, whatever it is called, and whatever it calls its arguments and variables."""
    arguments = function.args
    if isinstance(function, ast.Lambda):
        body: list[ast.stmt] = [ast.Return(function.body)]
    else:
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    names: dict[str, str] = {}
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        names.setdefault(argument.arg, f"v{len(names)}")
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.setdefault(node.id, f"v{len(names)}")
    copied = ast.parse("\n".join(ast.unparse(ast.fix_missing_locations(statement)) for statement in body))
    for node in ast.walk(copied):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return ast.unparse(copied)


@cache
def secrets() -> dict[str, list[Secret]]:
    """Every solution, oracle and mistake of the course, by normal form."""
    found: dict[str, list[Secret]] = defaultdict(list)
    for exercise in every_exercise():
        for role, implementations in (("oracle", (exercise.oracle,)), ("mistake", exercise.mistakes)):
            for implementation in implementations:
                _, form = next(functions(textwrap.dedent(inspect.getsource(implementation))))
                found[form].append(Secret(exercise.notebook, role, implementation.__name__))
    for notebook in NOTEBOOKS:
        for cell in source_cells(notebook):
            if cell.metadata.get("nbgrader", {}).get("solution") and cell.cell_type == "code":
                for name, form in functions(cell.source):
                    found[form].append(Secret(notebook, "solution", name))
    return dict(found)


def leaked(code: str, before: str = "") -> list[tuple[str, Secret]]:
    """The secrets in some code. An answer of a notebook that comes before `before` may stand there under its own name."""
    found = []
    for name, form in functions(code):
        owners = secrets().get(form, [])
        if not any(o.role == "solution" and o.notebook < before and o.name == name for o in owners):
            found += [(name, owner) for owner in owners]
    return found


@cache
def solution_texts(notebook: str) -> list[str]:
    """What stands between the solution markers of a notebook, region by region."""
    regions = []
    for cell in source_cells(notebook):
        inside: list[str] | None = None
        for line in cell.source.split("\n"):
            if "BEGIN SOLUTION" in line:
                inside = []
            elif "END SOLUTION" in line and inside is not None:
                regions.append(flat("\n".join(inside)))
                inside = None
            elif inside is not None:
                inside.append(line)
    return regions


def flat(text: str) -> str:
    """A text without indentation and blank lines, so that a moved one is found too."""
    return "\n".join(line.strip() for line in text.split("\n") if line.strip())
