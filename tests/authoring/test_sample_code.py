"""What the sample class hands in: mistakes and right answers as a student would have written them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from autograder.authoring.notebook_code import as_notebook_code
from autograder.authoring.sample import answers_in
from autograder.exercises import NOTEBOOKS, every_exercise, exercises_in, tasks_in
from autograder.exercises.model import Exercise, Implementation, lesson
from autograder.settings import ROOT

each_exercise = pytest.mark.parametrize("exercise", list(every_exercise()), ids=lambda exercise: exercise.name)


@contextmanager
def named(implementation: Implementation) -> Iterator[None]:
    """Whatever fails here says of which implementation."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"This is {implementation.__module__}.{implementation.__name__}.")
        raise


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


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_answers_of_a_notebook_are_found_by_exercise(notebook: str) -> None:
    found = answers_in(ROOT / "source" / notebook / f"{notebook}.ipynb")
    exercises, tasks = ([graded.name for graded in some] for some in (exercises_in(notebook), tasks_in(notebook)))
    assert list(found) == exercises + tasks
    assert all(f"def {name}(" in found[name] for name in exercises)
