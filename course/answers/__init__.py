"""The answers that `check` compares with: one JSON file an exercise, made by `make release`, never by hand.

They hold, for every public case, what a right answer gives and what each known mistake gives. They hold no code.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from course.trial.cases import Case
from course.trial.functions import Function, function_from_json
from course.trial.observing import Observation
from course.trial.text import Axes
from course.trial.values import Value, from_json

INDEX = "index.json"


@dataclass(frozen=True)
class StoredMistake:
    """A known mistake: its answers to the public cases, whether it loops, and what its student reads."""

    name: str
    lesson: str
    answers: tuple[Observation, ...]
    loops: bool


@dataclass(frozen=True)
class StoredExercise:
    """What `check` knows of an exercise; the attributes are those of `autograder.exercises.model.Exercise`.

    Attributes:
        turned: a case of the shapes of another and with its rows in another order, and what a right answer gives; most often one,
            none where no case has rows to turn.
    """

    name: str
    notebook: str
    points: float
    axes: Axes
    parameters: tuple[tuple[str, str], ...]
    uses: tuple[str, ...]
    vectorised: bool
    view: str | None
    cases: tuple[Case, ...]
    expected: tuple[Observation, ...]
    turned: tuple[tuple[Case, Observation], ...]
    mistakes: tuple[StoredMistake, ...]


def find(name: str, mistakes: bool = True) -> StoredExercise | None:
    """The exercise called `name`, or None.

    Args:
        mistakes: whether its known mistakes are wanted too: most of the time to read it is theirs.
    """
    notebook = next((notebook for notebook, names in _index().items() if name in names), None)
    return _read(notebook, name, mistakes) if notebook else None


def at_hand(notebook: str) -> None:
    """Read a notebook's exercises, without their known mistakes, so that `find` need not; nothing, where it has no answers."""
    for name in _index().get(notebook, ()):
        find(name, mistakes=False)


def notebooks() -> tuple[str, ...]:
    """The notebooks that have answers, in order."""
    return tuple(_index())


def names(notebook: str) -> tuple[str, ...]:
    """The exercises of a notebook, in order."""
    return tuple(_index()[notebook])


@cache
def _index() -> dict[str, list[str]]:
    """The exercises, notebook by notebook."""
    text = files(__package__).joinpath(INDEX).read_text(encoding="utf-8")
    return {notebook: names for entry in json.loads(text)["notebooks"] for notebook, names in entry.items()}


@cache
def _read(notebook: str, name: str, mistakes: bool) -> StoredExercise:
    tree = json.loads(files(__package__).joinpath(notebook, f"{name}.json").read_text(encoding="utf-8"))
    return StoredExercise(
        name=name,
        notebook=notebook,
        points=tree["points"],
        axes=tree["axes"],
        parameters=tuple((parameter, axes) for parameter, axes in tree["parameters"]),
        uses=tuple(tree["uses"]),
        vectorised=tree["vectorised"],
        view=tree["view"],
        cases=tuple(map(_case, tree["cases"])),
        expected=tuple(map(_observation, tree["expected"])),
        turned=tuple(zip(map(_case, tree["turned"]), map(_observation, tree["turned_expected"]), strict=True)),
        mistakes=tuple(
            StoredMistake(m["name"], m["lesson"], tuple(_observation(o) for o in m["answers"]), m["loops"])
            for m in (tree["mistakes"] if mistakes else ())
        ),
    )


def _case(tree: Any) -> Case:
    return Case(tuple(map(_argument, tree["arguments"])), tree["harness"])


def _argument(tree: Any) -> Value | Function:
    if isinstance(tree, dict) and "function" in tree:
        return function_from_json(tree["function"])
    return from_json(tree)


def _observation(tree: Any) -> Observation:
    return Observation.from_value(from_json(tree))
