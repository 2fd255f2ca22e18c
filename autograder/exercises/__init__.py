"""Every exercise of the course, by name. The order is that of the notebooks."""

from autograder.exercises import batching, block, caught_cheating, causal_mask, heads, matrices, shapes, token_loops
from autograder.exercises.model import Exercise

_MODULES = (shapes, token_loops, matrices, causal_mask, heads, block, batching, caught_cheating)

NOTEBOOKS: tuple[str, ...] = tuple(module.NOTEBOOK for module in _MODULES)
EXERCISES: dict[str, Exercise] = {exercise.name: exercise for module in _MODULES for exercise in module.EXERCISES}


def exercises_in(notebook: str) -> list[Exercise]:
    """The exercises of a notebook, in order."""
    return [exercise for exercise in EXERCISES.values() if exercise.notebook == notebook]


assert len(EXERCISES) == sum(len(module.EXERCISES) for module in _MODULES), "two exercises have the same name"
