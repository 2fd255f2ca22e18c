"""What an instructor pastes is what the student's function was called with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises import every_exercise
from autograder.exercises.model import Exercise
from autograder.judging import Paper
from autograder.judging.explaining import as_cell
from autograder.judging.paper import paper_of
from course.trial import ranks
from course.trial.comparing import difference
from course.trial.observing import Observation
from course.trial.values import Tensor, Value, layout, map_leaves, pack, plain

SEED = 5


def as_it_lies(value: Value) -> list[str]:
    """How the arrays of a value lie in memory, where that can be told."""
    found: list[str] = []

    def note(leaf: Value) -> None:
        array = leaf.array if isinstance(leaf, Tensor) else leaf
        if isinstance(array, np.ndarray):
            found.append(layout(array))

    map_leaves(note, value)
    return found


@pytest.mark.parametrize("exercise", list(every_exercise()), ids=lambda exercise: exercise.name)
def test_a_cell_calls_the_function_as_the_judge_did(exercise: Exercise) -> None:
    paper: Paper = paper_of(exercise.notebook, exercise.name, SEED)
    for place, sheet in enumerate(paper.sheets):
        for number, case in enumerate((*sheet.cases, *sheet.again)):
            called: list[tuple[Any, ...]] = []

            def noting(*arguments: Any, called: list[tuple[Any, ...]] = called) -> Any:
                called.append(arguments)
                return exercise.oracle(*arguments)

            lines = as_cell(exercise, case, place, number, SEED)
            scope: dict[str, Any] = {exercise.name: noting}
            with ranks.simulated():
                exec("\n".join([*lines[:-1], f"noted = {lines[-1]}"]), scope)
                itself = case.run(exercise.oracle) if "paper_of" in lines[0] else None
            if itself:
                assert isinstance(scope["noted"], Observation)
                assert difference(itself, scope["noted"]) is None
            else:
                (arguments,) = called
                given = tuple(map(plain, arguments))
                assert pack(given) == pack(case.arguments)
                assert as_it_lies(given) == as_it_lies(case.arguments)
