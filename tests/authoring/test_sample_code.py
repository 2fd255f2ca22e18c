"""What the sample class hands in: mistakes and right answers as a student would have written them."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import nbformat
import pytest

from autograder.authoring.mutants import as_student
from autograder.authoring.sample import answers_in, as_notebook_code
from autograder.exercises import NOTEBOOKS, every_exercise, exercises_in, tasks_in
from autograder.exercises.model import Exercise, Implementation, equivalence, lesson
from autograder.judging.reference import given
from autograder.settings import ROOT
from course.trial.comparing import same_answers
from course.trial.observing import Observation
from tests.support.sampled import sampled

each_exercise = pytest.mark.parametrize("exercise", list(every_exercise()), ids=lambda exercise: exercise.name)


def is_soon_answered(exercise: Exercise) -> bool:
    """Whether its cases start no processes and build no model of PyTorch's."""
    return exercise.name not in ("parallel_block", "load_numpy")


def notebook_names(exercise: Exercise) -> dict[str, Any]:
    """What a student's notebook has defined before an answer runs: its setup, what is carried over, right neighbours."""
    return set_up(exercise.notebook) | {other.name: other.oracle for other in exercises_in(exercise.notebook)}


@cache
def set_up(notebook: str) -> dict[str, Any]:
    """What the cells define that stand before the first answer."""
    names: dict[str, Any] = {}
    for cell in nbformat.read(str(ROOT / "source" / notebook / f"{notebook}.ipynb"), as_version=4).cells:
        if cell.id in ("setup", "carried-over"):
            exec(cell.source, names)
    return names


def observed(exercise: Exercise, function: Implementation) -> list[Observation]:
    return [given(exercise, function, case, False) for case in exercise.public]


def as_written(exercise: Exercise, implementation: Implementation) -> Implementation:
    """An implementation as it is defined by a cell with its code."""
    names = notebook_names(exercise)
    code = as_notebook_code(exercise, implementation)
    cell = f"<ipython-input-{exercise.name}-{implementation.__name__}>"  # a harness looks at the line that raised something
    linecache.cache[cell] = len(code), None, code.splitlines(keepends=True), cell
    exec(compile(code, cell, "exec"), names)
    return names[exercise.name]


@contextmanager
def named(implementation: Implementation) -> Iterator[None]:
    """Whatever fails here says of which implementation."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"This is {implementation.__module__}.{implementation.__name__}.")
        raise


@pytest.mark.parametrize("exercise", sampled(every_exercise(), is_soon_answered, lambda exercise: exercise.name))
def test_as_notebook_code_every_implementation_answers_every_public_case_as_it_does_itself(exercise: Exercise) -> None:
    wanted = observed(exercise, exercise.oracle)
    for implementation in (*exercise.mistakes, *exercise.variants):
        with named(implementation):
            itself = observed(exercise, as_student(exercise, implementation))
            assert same_answers(wanted, itself, observed(exercise, as_written(exercise, implementation)))


@each_exercise
def test_student_code_does_not_explain_its_own_mistake(exercise: Exercise) -> None:
    for mistake in exercise.mistakes:
        with named(mistake):
            code = as_notebook_code(exercise, mistake)
            assert f"def {exercise.name}(" in code
            assert not re.search(rf"\b{mistake.__name__}\b", code)
            assert ") ->" not in code
            assert lesson(mistake) not in " ".join(code.split())


@each_exercise
def test_student_code_defines_no_function_that_another_answer_defines(exercise: Exercise) -> None:
    others = {other.name for other in every_exercise()} - {exercise.name}
    for implementation in (*exercise.mistakes, *exercise.variants):
        with named(implementation):
            code = ast.parse(as_notebook_code(exercise, implementation))
            assert not others & {node.name for node in code.body if isinstance(node, ast.FunctionDef)}


@each_exercise
def test_every_exercise_has_a_mistake_for_each_of_three_students(exercise: Exercise) -> None:
    assert sum(equivalence(mistake) is None for mistake in exercise.mistakes) >= 3


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_answers_of_a_notebook_are_found_by_exercise(notebook: str) -> None:
    found = answers_in(ROOT / "source" / notebook / f"{notebook}.ipynb")
    exercises, tasks = ([graded.name for graded in some] for some in (exercises_in(notebook), tasks_in(notebook)))
    assert list(found) == exercises + tasks
    assert all(f"def {name}(" in found[name] for name in exercises)
