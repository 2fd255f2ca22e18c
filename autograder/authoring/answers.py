"""Make `course/answers`: what `check` compares with, and no implementation.

Processors differ in the last digits of the same sum. What is stored stays as it is where it is what this machine finds too,
but for such digits, so that every machine makes the same files.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from autograder.exercises import NOTEBOOKS, exercises_in, names_in
from autograder.exercises.model import (
    Exercise,
    Implementation,
    known_by_its_answers,
    lesson,
    parameter_axes,
    result_axes,
)
from autograder.judging.again import again
from autograder.judging.reference import expected, given
from course.answers import INDEX
from course.trial.cases import Case
from course.trial.comparing import coarsest, compare, difference, lines_grow
from course.trial.functions import Function
from course.trial.observing import Observation, Raised
from course.trial.values import Value, from_json, to_json

Entry = dict[str, Any]
Place = tuple[str | int, ...]


def write_answers(folder: Path, stored: Path, notebooks: Collection[str] = NOTEBOOKS) -> None:
    """Write the index, and for each of these notebooks a folder with one JSON file an exercise.

    Args:
        folder: where they are written.
        stored: where there may be some already; the digits of these stay wherever they will do.
        notebooks: whose answers are written. The index lists those of every notebook.
    """
    for notebook in notebooks:
        (folder / notebook).mkdir(parents=True, exist_ok=True)
        for exercise in exercises_in(notebook):
            entry, file = describe(exercise), f"{notebook}/{exercise.name}.json"
            settle(entry, _read(stored / file))
            (folder / file).write_text(in_lines(entry), encoding="utf-8")
    index = {notebook: list(names_in(notebook)) for notebook in NOTEBOOKS}
    (folder / INDEX).write_text(in_lines({"notebooks": [{notebook: names} for notebook, names in index.items()]}))


def in_lines(entry: Entry) -> str:
    """JSON with a line for each fact, each case, each right answer and each mistake, so that a change can be read."""
    lines = []
    for key, value in entry.items():
        whole = isinstance(value, list) and any(isinstance(one, dict) for one in value)
        rows = ",\n".join(json.dumps(one, ensure_ascii=False) for one in value) if whole else ""
        lines.append(f"{json.dumps(key)}: " + (f"[\n{rows}\n]" if whole else json.dumps(value, ensure_ascii=False)))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _read(path: Path) -> dict[Place, Any]:
    """By place, the numbers in a file; nothing where it is not one that `write_answers` wrote."""
    try:
        return {place: some[i] for place, some, i in _places(json.loads(path.read_text(encoding="utf-8")))}
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def _places(entry: Entry) -> Iterator[tuple[Place, list[Any], int]]:
    """Where the numbers of an exercise stand: what to call each place, the list that it is in, and the position there."""
    lists: dict[Place, list[Any]] = {("arguments", i): case["arguments"] for i, case in enumerate(entry["cases"])}
    lists |= {("turned", i): case["arguments"] for i, case in enumerate(entry["turned"])}
    lists |= {(key,): entry[key] for key in ("expected", "turned_expected")}
    lists |= {("mistakes", mistake["name"]): mistake["answers"] for mistake in entry["mistakes"]}
    for place, some in lists.items():
        for i in range(len(some)):
            yield (*place, i), some, i


def settle(entry: Entry, stored: dict[Place, Any]) -> None:
    """Put what is stored into an exercise's entry wherever that is alike: a wrong answer to the digits of a right one."""
    rounding = [coarsest(from_json(expected)) for expected in entry["expected"]]
    for place, some, i in _places(entry):
        if place in stored and alike(some[i], stored[place], rounding[i] if place[0] == "mistakes" else 0.0):
            some[i] = stored[place]


def alike(made: Any, stored: Any, least: float = 0.0) -> bool:
    """Whether two trees of `to_json` are the same but for digits that depend on the processor.

    Args:
        made, stored: the trees.
        least: a tolerance below which that of no number goes.
    """
    if json.dumps(_form(made)) != json.dumps(_form(stored)):
        return False
    return made == stored or compare(_value(made), _value(stored), least=least) is None


def _value(tree: Any) -> Value:
    """What is compared of an argument or an observation; of a function, what it was made with."""
    if isinstance(tree, dict) and "function" in tree:
        return {name: from_json(part) for name, part in tree["function"]["parameters"].items()}
    return from_json(tree)


def _form(tree: Any) -> Any:
    """A tree without the digits of its floats."""
    if isinstance(tree, float):
        return 0.0
    if isinstance(tree, list):
        return [_form(part) for part in tree]
    return {key: _form(part) for key, part in tree.items()} if isinstance(tree, dict) else tree


def describe(exercise: Exercise) -> dict[str, Any]:
    """One exercise as `course.answers` reads it."""
    turned = _turned(exercise)
    return {
        "name": exercise.name,
        "points": exercise.points,
        "axes": result_axes(exercise),
        "parameters": [list(pair) for pair in parameter_axes(exercise)],
        "uses": list(exercise.uses),
        "vectorised": exercise.vectorised,
        "view": exercise.view,
        "cases": [_case(case) for case in exercise.public],
        "expected": [_observation(expected(exercise, case)) for case in exercise.public],
        "turned": [_case(case) for case, _ in turned],
        "turned_expected": [_observation(want) for _, want in turned],
        "mistakes": [_mistake(exercise, m) for m in exercise.mistakes if known_by_its_answers(m)],
    }


def _turned(exercise: Exercise) -> list[tuple[Case, Observation]]:
    """The first public case that has another answer with its rows in another order, in that order, and that answer."""
    for one in exercise.public:
        for other in again([one])[1:]:
            want = expected(exercise, other)
            if difference(expected(exercise, one), want):
                return [(other, want)]
    return []


def _mistake(exercise: Exercise, mistake: Implementation) -> dict[str, Any]:
    answers = [given(exercise, mistake, case, exercise.vectorised) for case in exercise.public]
    return {
        "name": mistake.__name__,
        "lesson": lesson(mistake),
        "answers": [_observation(answer) for answer in answers],
        "loops": exercise.vectorised and lines_grow(answers),
    }


def _case(case: Case) -> dict[str, Any]:
    return {"arguments": [_argument(a) for a in case.arguments], "harness": case.harness}


def _argument(argument: Any) -> Any:
    return {"function": argument.to_json()} if isinstance(argument, Function) else to_json(argument, layouts=True)


def _observation(observed: Observation) -> Any:
    """What can be compared: not the line of an exception, nor how many lines ran."""
    raised = observed.raised and Raised(observed.raised.kind, observed.raised.message)
    counts = {name: count for name, count in observed.counts.items() if name != "lines"}
    return to_json(Observation(observed.result, raised, observed.changed, counts).to_value())
