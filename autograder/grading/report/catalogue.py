"""What this course knows of its own notebooks. Of any other assignment there is nothing to know, and none of it is needed."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from inspect import get_annotations

from autograder.exercises import NOTEBOOKS, exercise_called, exercises_in, folder_of, tasks_in
from autograder.exercises.model import ANSWER, lesson
from autograder.judging.verdict import Verdict

UNRECOGNISED = ("partly", "wrong", "raised")
"""The outcomes of an answer that was tried to its end and lost marks."""


EVERYTHING = "everything that was tried"


def is_ours(assignment: str) -> bool:
    return assignment in NOTEBOOKS


def worth(assignment: str) -> dict[str, float]:
    """What the exercises and then the questions of one of this course's notebooks are worth."""
    exercises = {exercise.name: exercise.points for exercise in exercises_in(assignment)}
    return exercises | {task.name: task.points for task in tasks_in(assignment)}


def questions(assignment: str) -> set[str]:
    """The questions that are answered in words."""
    return {task.name for task in tasks_in(assignment)}


def answer_cell(exercise: str) -> str:
    """What the cell of an answer is called."""
    return f"{exercise}{ANSWER}"


def outcome(verdict: Verdict) -> str:
    """What a verdict says in a word; of a cell that did not run, also why."""
    if verdict.outcome == "did not run":
        return f"{verdict.outcome}: {verdict.note.partition(': ')[0]}"
    return verdict.outcome


def missed(verdict: Verdict) -> tuple[str, ...]:
    """The properties that lost marks; where these are all there are, that they are."""
    lost = tuple(finding.shows for finding in verdict.findings if finding.earned < finding.points)
    return (EVERYTHING,) if len(lost) == len(verdict.findings) > 1 else lost


def lessons(assignment: str) -> dict[tuple[str, str], str]:
    """By exercise and mistake, what its student reads."""
    return {(e.name, m.__name__): lesson(m) for e in exercises_in(assignment) for m in e.mistakes}


def meant(name: str) -> tuple[str, str] | None:
    """The notebook, and the exercise in it or "" for all, that a name or a notebook's number stands for; None where it is neither."""
    for notebook in NOTEBOOKS:
        if name in (notebook, notebook.partition("_")[0]):
            return notebook, ""
    exercise = exercise_called(name)
    return None if exercise is None else (exercise.notebook, name)


def declared(notebook: str, exercise: str) -> tuple[str, dict[str, str]]:
    """The file that declares an exercise, and how its mistakes annotate parameters; "return" is the result."""
    mistakes = next(each.mistakes for each in exercises_in(notebook) if each.name == exercise)
    annotated = max(map(get_annotations, mistakes), key=len)
    return f"{folder_of(notebook).replace('.', '/')}/{exercise}.py", annotated


def course_version() -> str:
    """The version of this course; "" where it is not installed."""
    with suppress(PackageNotFoundError):
        return version("attention-in-matrices")
    return ""
