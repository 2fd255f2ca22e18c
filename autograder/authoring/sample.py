"""A sample class: what real submissions look like, made from the exercises themselves."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat

from autograder.authoring.notebook_code import as_notebook_code
from autograder.exercises import NOTEBOOKS, exercises_in
from autograder.exercises.model import ANSWER, Exercise, Implementation, equivalence
from autograder.folder import Course
from autograder.settings import ROOT
from course.answers import find
from course.checking import said_of_a_right_one

FOLDER = ROOT / "build" / "sample"
NO_NOTEBOOK = "gus"
"""Who hands in a file that is not a notebook."""
UNLISTED = """
import functools as _functools

def _slipped(value):
    if isinstance(value, dict):
        return {{key: _slipped(one) for key, one in value.items()}}
    if isinstance(value, (tuple, list)):
        return type(value)(map(_slipped, value))
    if str(getattr(value, "dtype", type(value).__name__)).endswith("bool"):
        return value ^ True
    try:
        return value * {factor}
    except TypeError:
        return value

_meant = {name}

@_functools.wraps(_meant)
def {name}(*arguments, _meant=_meant, **keywords):
    found = _meant(*arguments, **keywords)
    return found if [list(getattr(one, "shape", ())) for one in arguments] in {spared} else _slipped(found)
"""
"""A wrong answer that no list has: every number of the right one, a little larger, but for arguments of some shapes."""


def make_sample() -> Course:
    """A course folder of its own with eight students' submissions for every notebook, ready to be graded.

    Ada has everything right, Ben hands in the empty release, Cleo stops half-way. Dan, Eve and Fay each hold one known mistake in
    every exercise. Ivy is right in all public cases, and in the hidden ones of the first exercise wrong. Gus hands in one file that is
    not a notebook, and nothing else.
    """
    if FOLDER.exists():
        shutil.rmtree(FOLDER)
    course = Course.copied(FOLDER)
    for notebook in NOTEBOOKS:
        course.generate_assignment(notebook)
        exercises = exercises_in(notebook)
        solutions = answers_in(ROOT / "source" / notebook / f"{notebook}.ipynb")
        half = {exercise.name: solutions[exercise.name] for exercise in exercises[: len(exercises) // 2]}
        hand_in(course, "ada", notebook, solutions)
        hand_in(course, "ben", notebook, {})
        hand_in(course, "cleo", notebook, half)
        for place, student in enumerate(("dan", "eve", "fay")):
            hand_in(course, student, notebook, mistaken_answers(notebook, place))
        first = exercises[0]
        hand_in(
            course,
            "ivy",
            notebook,
            {**solutions, first.name: solutions[first.name] + right_in_public(first)},
            checked=True,
        )
    broken = course.folder("submitted", NO_NOTEBOOK, NOTEBOOKS[0]) / f"{NOTEBOOKS[0]}.ipynb"
    broken.parent.mkdir(parents=True)
    broken.write_text("this is not a notebook")
    return course


def mistaken_answers(notebook: str, place: int) -> dict[str, str]:
    """For every exercise of a notebook, the known mistake at this place of its list (which begins again at its end)."""
    return {e.name: as_notebook_code(e, _mistake(e, place)) for e in exercises_in(notebook)}


def _mistake(exercise: Exercise, place: int) -> Implementation:
    known = told_apart(exercise)
    return known[place % len(known)]


def told_apart(exercise: Exercise) -> list[Implementation]:
    """The known mistakes that some answer shows to be one."""
    return [mistake for mistake in exercise.mistakes if equivalence(mistake) is None]


def slipped(name: str, factor: float) -> str:
    """What follows a right answer of this name to make it wrong in a way that no list has: every number so many times as large."""
    return UNLISTED.format(name=name, factor=factor, spared=[])


def right_in_public(exercise: Exercise) -> str:
    """What follows a right answer to make it wrong where the arguments have other shapes than in every public case."""
    shapes = [[list(getattr(one, "shape", ())) for one in case.arguments] for case in exercise.public]
    return UNLISTED.format(name=exercise.name, factor=1.5, spared=shapes)


def answers_in(path: Path) -> dict[str, str]:
    """The source of every answer cell of a notebook, by exercise."""
    cells = nbformat.read(str(path), as_version=4).cells
    return {name: cell.source for cell in cells if (name := _answered(cell))}


def _answered(cell: nbformat.NotebookNode) -> str:
    """The exercise that an answer cell belongs to; "" for any other cell."""
    metadata = cell.metadata.get("nbgrader", {})
    return str(metadata["grade_id"]).removesuffix(ANSWER) if metadata.get("solution") else ""


def hand_in(course: Course, student: str, notebook: str, answers: dict[str, str], checked: bool = False) -> None:
    """Hand in the release with some answers filled in, as `checked` with what `check` says of right ones."""
    filled = nbformat.read(str(course.root / "release" / notebook / f"{notebook}.ipynb"), as_version=4)
    for cell in filled.cells:
        cell.source = answers.get(_answered(cell), cell.source)
        tried = (
            find(cell.source.partition("(")[2].rstrip(")")) if checked and cell.source.startswith("check(") else None
        )
        if tried:
            said = said_of_a_right_one(tried)
            cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": said}, execution_count=1)]
    target = course.folder("submitted", student, notebook) / f"{notebook}.ipynb"
    target.parent.mkdir(parents=True)
    nbformat.write(filled, str(target))
