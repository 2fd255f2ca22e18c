"""Every exercise of the course: a folder for each notebook, a file for each exercise, imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from inspect import get_annotations
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it brings NumPy and the students' library, and commands ask for the notebooks' names alone
    from autograder.exercises.model import Exercise, Task

NOTEBOOKS = (
    "00_shapes",
    "01_token_loops",
    "02_matrices",
    "03_causal_mask",
    "04_heads",
    "05_block",
    "06_batching",
    "07_caught_cheating",
    "08_clocks",
    "09_devices",
    "10_capstone",
)
"""The notebooks in their order. Nothing else states it: a number here and that of a notebook's folder in source/ are all that moves it."""


def folder_of(notebook: str) -> str:
    """The package that holds a notebook's exercises; it has the notebook's name without its number."""
    return f"{__name__}.{notebook.partition('_')[2]}"


def names_in(notebook: str) -> tuple[str, ...]:
    """The names of a notebook's exercises, in order; none where the course has no such notebook."""
    names: tuple[str, ...] = import_module(folder_of(notebook)).EXERCISES if notebook in NOTEBOOKS else ()
    return names


def exercises_in(notebook: str) -> tuple[Exercise, ...]:
    """The exercises of a notebook, in order; none where the course has no such notebook."""
    return tuple(exercise_named(notebook, name) for name in names_in(notebook))


def tasks_in(notebook: str) -> tuple[Task, ...]:
    """The questions of a notebook that a person marks, in order; most have none."""
    if notebook not in NOTEBOOKS:
        return ()
    from autograder.exercises.model import Task

    points: dict[str, float] = getattr(import_module(folder_of(notebook)), "TASKS", {})
    return tuple(Task(name, notebook, worth) for name, worth in points.items())


def exercise_named(notebook: str, name: str) -> Exercise:
    """The exercise of that name in a notebook. Only its own module is imported, and what that imports.

    Raises:
        KeyError: the notebook has none.
    """
    if name not in names_in(notebook):
        raise KeyError(name)
    return _exercise(notebook, name)


@cache
def _exercise(notebook: str, name: str) -> Exercise:
    from autograder.exercises.model import exercise_in

    return exercise_in(import_module(f"{folder_of(notebook)}.{name}"), notebook)


def exercise_called(name: str) -> Exercise | None:
    """The exercise of that name, whichever notebook it is in; None where there is none."""
    return next((_exercise(notebook, name) for notebook in NOTEBOOKS if name in names_in(notebook)), None)


def notebook_called(name: str) -> str | None:
    """The notebook of that name, or of that number, "03" or "3"; None where there is none."""
    number = int(name) if name.isdecimal() else None
    return next((each for each in NOTEBOOKS if each == name or int(each.partition("_")[0]) == number), None)


def meant(name: str) -> tuple[str, str] | None:
    """The notebook, and the exercise in it or "" for all, that a name or a notebook's number stands for; None where it is neither."""
    if notebook := notebook_called(name):
        return notebook, ""
    exercise = exercise_called(name)
    return None if exercise is None else (exercise.notebook, name)


def declared(notebook: str, exercise: str) -> tuple[str, dict[str, str]]:
    """The file that declares an exercise, and how its mistakes annotate parameters; "return" is the result."""
    annotated = max(map(get_annotations, exercise_named(notebook, exercise).mistakes), key=len)
    return f"{folder_of(notebook).replace('.', '/')}/{exercise}.py", annotated


def every_exercise() -> Iterator[Exercise]:
    """All exercises in the order of the notebooks, which are imported on the way: one that is found early costs little."""
    for notebook in NOTEBOOKS:
        yield from exercises_in(notebook)
