"""Every exercise of the course, notebook by notebook. A notebook's module is imported when it is first asked for."""

from collections.abc import Iterator
from importlib import import_module

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


def exercises_in(notebook: str) -> tuple[Exercise, ...]:
    """The exercises of a notebook, in order; none where the course has no such notebook."""
    if notebook not in NOTEBOOKS:
        return ()
    exercises: tuple[Exercise, ...] = import_module(f"{__name__}.{notebook[3:]}").EXERCISES
    return exercises


def tasks_in(notebook: str) -> tuple[Task, ...]:
    """The questions of a notebook that a person marks, in order; most have none."""
    if notebook not in NOTEBOOKS:
        return ()
    tasks: tuple[Task, ...] = getattr(import_module(f"{__name__}.{notebook[3:]}"), "TASKS", ())
    return tasks


def exercise_named(notebook: str, name: str) -> Exercise:
    """The exercise of that name in a notebook.

    Raises:
        KeyError: the notebook has none.
    """
    return {exercise.name: exercise for exercise in exercises_in(notebook)}[name]


def every_exercise() -> Iterator[Exercise]:
    """All exercises in the order of the notebooks, which are imported on the way: one that is found early costs little."""
    for notebook in NOTEBOOKS:
        yield from exercises_in(notebook)
