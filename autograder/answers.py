"""Make `course/answers`: what `check` compares with, and no implementation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from autograder.exercises import NOTEBOOKS, exercises_in
from autograder.exercises.model import Exercise, Implementation, equivalence, lesson, result_axes
from autograder.judging.reference import expected, given
from course.comparing import lines_grow
from course.functions import Function
from course.observing import Observation, Raised
from course.values import to_json


def write_answers(folder: Path) -> None:
    """Write one JSON file a notebook into `folder`."""
    for notebook in NOTEBOOKS:
        entries = [describe(exercise) for exercise in exercises_in(notebook)]
        lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
        (folder / f"{notebook}.json").write_text(f"[\n{lines}\n]\n")


def describe(exercise: Exercise) -> dict[str, Any]:
    """One exercise as `course.answers` reads it."""
    parameters = exercise.signature.parameters.values()
    return {
        "name": exercise.name,
        "points": exercise.points,
        "axes": result_axes(exercise),
        "parameters": [[p.name, getattr(p.annotation, "dim_str", "")] for p in parameters],
        "uses": list(exercise.uses),
        "vectorised": exercise.vectorised,
        "view": exercise.view,
        "cases": [
            {"arguments": [_argument(a) for a in case.arguments], "harness": case.harness} for case in exercise.public
        ],
        "expected": [_observation(expected(exercise, case)) for case in exercise.public],
        "mistakes": [_mistake(exercise, m) for m in exercise.mistakes if equivalence(m) is None],
    }


def _mistake(exercise: Exercise, mistake: Implementation) -> dict[str, Any]:
    answers = [given(exercise, mistake, case, exercise.vectorised) for case in exercise.public]
    return {
        "name": mistake.__name__,
        "lesson": lesson(mistake),
        "answers": [_observation(answer) for answer in answers],
        "loops": exercise.vectorised and lines_grow(answers),
    }


def _argument(argument: Any) -> Any:
    return {"function": argument.to_json()} if isinstance(argument, Function) else to_json(argument)


def _observation(observed: Observation) -> Any:
    """What can be compared: not the line of an exception, nor how many lines ran."""
    raised = observed.raised and Raised(observed.raised.kind, observed.raised.message)
    counts = {name: count for name, count in observed.counts.items() if name != "lines"}
    return to_json(Observation(observed.result, raised, observed.changed, counts).to_value())
