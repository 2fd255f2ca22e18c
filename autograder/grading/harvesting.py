"""`python -m autograder harvest`: what a class got wrong in its own ways, as a beginning for the catalogue of mistakes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest

from autograder.folder import Course
from autograder.grading.report.grouping import Group, groups
from autograder.grading.report.lines import lines
from autograder.grading.report.quoting import quoted
from autograder.plugins.confining import confined
from autograder.problems import FAILED, Problem

TO_DO = 'TODO: what the function did ("you ..."), and what that means or what to look at.'


def harvest(
    course: Course, notebook: str, exercise: str, declared: Callable[[str, str], tuple[str, Mapping[str, str]]]
) -> Iterator[str]:
    """For each group of like wrong answers that no mistake is known for, a stub; the largest groups of each exercise first.

    Args:
        exercise: one of the notebook's, or "" for all.
        declared: says of a notebook and an exercise which file declares it, and how its mistakes annotate parameters.

    Raises:
        Problem: nothing was found.
    """
    found = [group for group in groups(lines(course, notebook)) if exercise in ("", group.exercise)]
    if not found:
        raise Problem(f"No graded answer to {exercise or notebook} is wrong in a way that was not recognised.", FAILED)
    for number, group in enumerate(found, 1):
        file, annotations = declared(notebook, group.exercise)
        yield f"{_about(group, file)}\n{stub(group.example.code, group.exercise, f'unnamed_{number}', annotations)}\n"


def _about(group: Group, file: str) -> str:
    """Comments: for which file, how many gave this, what it earned and missed, and what the judge says."""
    line = group.example
    count = f"{len(group.lines)} {'student' if len(group.lines) == 1 else 'students'}"
    earned = "" if line.score is None else f", {line.score:g} of {line.points:g} points"
    told = [f"{file}: {count}{earned}", f"missed: {'; '.join(line.missed)}", line.note]
    return "\n".join(f"# {one}" for one in told if one)


def stub(code: str, exercise: str, name: str, annotations: Mapping[str, str]) -> str:
    """A student's answer as a mistake of the exercise's module; as comments, where it cannot be made one.

    Args:
        code: the answer cell.
        exercise: the function in it.
        name: what the mistake is called.
        annotations: of parameters, in order, and of the result under "return".
    """
    try:  # what a student wrote is parsed in a process that may end
        return confined(lambda: _stub(code, exercise, name, annotations))
    except Exception as error:
        lines = "\n".join(f"# {line}" for line in quoted(code).splitlines())
        return f"# {type(error).__name__}: make a function of this by hand\n{lines}"


def _stub(code: str, exercise: str, name: str, annotations: Mapping[str, str]) -> str:
    tree = ast.parse(code)
    defined = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == exercise]
    if not defined:
        raise ValueError(f"no {exercise} is defined")
    function = defined[-1]
    before = [node for node in tree.body[: tree.body.index(function)] if not isinstance(node, ast.Expr)]
    after = tree.body[tree.body.index(function) + 1 :]
    for node in ast.walk(ast.Module([*before, function], [])):
        if isinstance(node, ast.Name) and node.id == exercise:
            node.id = name
        if isinstance(node, ast.FunctionDef) and node.name == exercise:
            node.name = name
    if ast.get_docstring(function) is not None:
        del function.body[0]
    function.body.insert(0, ast.Expr(ast.Constant(TO_DO)))
    kinds = [text for parameter, text in annotations.items() if parameter != "return"]
    parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    for parameter, kind in zip_longest(parameters, kinds[: len(parameters)]):
        parameter.annotation = _annotation(kind)
    function.returns = _annotation(annotations.get("return"))
    function.decorator_list.insert(0, ast.Name("mistake"))
    parts = [ast.unparse(ast.fix_missing_locations(node)) for node in (*before, function)]
    rest = "\n\n\n# after it: ".join(["", *(ast.unparse(node).replace("\n", "\n# ") for node in after)])
    return "\n\n\n".join(parts) + rest


def _annotation(text: str | None) -> ast.expr | None:
    return None if text is None else ast.parse(text, mode="eval").body
