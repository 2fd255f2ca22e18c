"""A sample class: what real submissions look like, made from the exercises themselves."""

from __future__ import annotations

import ast
import inspect
import shutil
import textwrap
from pathlib import Path

import nbformat

from autograder.course import ROOT, Course
from autograder.exercises import EXERCISES, NOTEBOOKS
from autograder.exercises.model import Exercise, Implementation, equivalence

FOLDER = ROOT / "build" / "sample"


def make_sample() -> Course:
    """A course folder of its own with seven students' submissions for every notebook, ready to be graded.

    Ada has everything right, Ben hands in the empty release, Cleo stops half-way. Dan, Eve and Fay each hold one known mistake in
    every exercise. Gus hands in one file that is not a notebook, and nothing else.
    """
    if FOLDER.exists():
        shutil.rmtree(FOLDER)
    course = Course.copied(FOLDER)
    for notebook in NOTEBOOKS:
        course.generate_assignment(notebook)
        exercises = [exercise for exercise in EXERCISES.values() if exercise.notebook == notebook]
        solutions = answers_in(ROOT / "source" / notebook / f"{notebook}.ipynb")
        half = {exercise.name: solutions[exercise.name] for exercise in exercises[: len(exercises) // 2]}
        _submit(course, "ada", notebook, solutions)
        _submit(course, "ben", notebook, {})
        _submit(course, "cleo", notebook, half)
        for place, student in enumerate(("dan", "eve", "fay")):
            mistakes = {exercise.name: as_notebook_code(exercise, _mistake(exercise, place)) for exercise in exercises}
            _submit(course, student, notebook, mistakes)
    broken = course.folder("submitted", "gus", NOTEBOOKS[0]) / f"{NOTEBOOKS[0]}.ipynb"
    broken.parent.mkdir(parents=True)
    broken.write_text("this is not a notebook")
    return course


def _mistake(exercise: Exercise, place: int) -> Implementation:
    told_apart = [mistake for mistake in exercise.mistakes if equivalence(mistake) is None]
    return told_apart[place % len(told_apart)]


def answers_in(path: Path) -> dict[str, str]:
    """The source of every answer cell of a notebook, by exercise."""
    cells = nbformat.read(str(path), as_version=4).cells
    return {name.removesuffix("_solution"): cell.source for cell in cells if (name := _answer_name(cell))}


def _answer_name(cell: nbformat.NotebookNode) -> str | None:
    metadata = cell.metadata.get("nbgrader", {})
    return metadata.get("grade_id") if metadata.get("solution") and not metadata.get("grade") else None


def as_notebook_code(exercise: Exercise, implementation: Implementation) -> str:
    """An implementation as a student would have written it: the exercise's name, no annotations, no docstring.

    Helpers of its module that it calls come before it; other exercises do not, since the notebook defines them.
    """
    helpers = _helpers(implementation, {})
    return "\n\n".join(
        [*(_plain(helper, name) for name, helper in helpers.items()), _plain(implementation, exercise.name)]
    )


def _helpers(function: Implementation, found: dict[str, Implementation]) -> dict[str, Implementation]:
    """The functions of a module that one of its functions needs, each after those it needs itself."""
    for name in inspect.getclosurevars(function).globals:
        helper = function.__globals__[name]
        if inspect.isfunction(helper) and helper.__module__ == function.__module__ and name not in EXERCISES:
            if name not in found:
                _helpers(helper, found)
            found[name] = helper
    return found


def _plain(implementation: Implementation, name: str) -> str:
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(implementation))).body
    assert isinstance(function, ast.FunctionDef)
    function.name = name
    function.decorator_list, function.returns = [], None
    for argument in (*function.args.args, *function.args.kwonlyargs):
        argument.annotation = None
    if ast.get_docstring(function) is not None:
        del function.body[0]
    return ast.unparse(function)


def _submit(course: Course, student: str, notebook: str, answers: dict[str, str]) -> None:
    """Hand in the release with some answers filled in."""
    filled = nbformat.read(str(course.root / "release" / notebook / f"{notebook}.ipynb"), as_version=4)
    for cell in filled.cells:
        name = _answer_name(cell)
        if name and name.removesuffix("_solution") in answers:
            cell.source = answers[name.removesuffix("_solution")]
    target = course.folder("submitted", student, notebook) / f"{notebook}.ipynb"
    target.parent.mkdir(parents=True)
    nbformat.write(filled, str(target))
