"""One mistake costs once: whatever became of an exercise, those that build on it are judged as if it were right."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import nbformat
import pytest

from autograder.exercises import NOTEBOOKS, exercises_in
from autograder.exercises.model import ANSWER
from autograder.judging import Verdict
from autograder.judging.hearing import hear
from autograder.judging.paper import paper_of
from autograder.settings import ROOT
from course.client import answer
from course.trial.link import SocketLink

BUILT_ON = [
    (notebook, used)
    for notebook in NOTEBOOKS
    for used in dict.fromkeys(name for exercise in exercises_in(notebook) for name in exercise.uses)
]
BROKEN = {
    "its cell defined nothing": "del {0}",
    "it is a number": "{0} = 3",
    "it is not written": "def {0}(*a, **k):\n    raise NotImplementedError()",
    "it is wrong": "def {0}(*a, **k):\n    return None",
}


def solved(notebook: str) -> dict[str, Any]:
    """The names of a notebook whose answers are all right."""
    names: dict[str, Any] = {}
    for cell in nbformat.read(str(ROOT / "source" / notebook / f"{notebook}.ipynb"), as_version=4).cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if cell.id in ("setup", "carried-over") or (cell.cell_type == "code" and grade_id.endswith(ANSWER)):
            exec(compile(cell.source, f"<ipython-input-{cell.id}>", "exec"), names)
    return names


def judged(notebook: str, name: str, names: dict[str, Any], passed: frozenset[str]) -> Verdict:
    near, far = socket.socketpair()
    with near, far, ThreadPoolExecutor(1) as seat:
        heard = seat.submit(hear, paper_of(notebook, name, 1), near, None, passed)
        answer(names[name], SocketLink(far), names)
        examined = heard.result()
    assert examined is not None
    return examined.verdict


def outcomes(notebook: str, names: dict[str, Any], spoilt: str, code: str, after: bool) -> dict[str, str]:
    """What comes of the notebook's exercises but one, which some code spoils: before its test, or after it."""
    passed: frozenset[str] = frozenset()
    found = {}
    for exercise in exercises_in(notebook):
        if exercise.name == spoilt and not after:
            exec(code, names)
            continue
        verdict = judged(notebook, exercise.name, names, passed)
        if exercise.name == spoilt:
            exec(code, names)
        found[exercise.name] = verdict.outcome
        passed |= {exercise.name} if verdict.outcome == "passed" else frozenset()
    return found


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize(("notebook", "spoilt"), BUILT_ON, ids=lambda one: one)
def test_what_is_built_on_costs_its_own_points_alone(notebook: str, spoilt: str, broken: str) -> None:
    found = outcomes(notebook, solved(notebook), spoilt, BROKEN[broken].format(spoilt), after=False)
    assert set(found.values()) == {"passed"}, found


@pytest.mark.parametrize(("notebook", "spoilt"), BUILT_ON, ids=lambda one: one)
def test_what_is_bound_again_after_its_test_costs_nothing(notebook: str, spoilt: str) -> None:
    found = outcomes(notebook, solved(notebook), spoilt, f"{spoilt} = 3", after=True)
    assert set(found.values()) == {"passed"}, found
