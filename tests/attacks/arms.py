"""A class of attacks, graded by one door in one run."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from attack import POINTS, Attack, Outcome
from honest import Honest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook, MissingEntry
from reaching import VICTIM
from world import TOKEN_VARIABLE, World

from autograder.folder import Course
from autograder.settings import CONFIG, ROOT
from autograder.verdicts.cells import verdict_in
from tests.support.submissions import EXERCISES, NOTEBOOK, RIGHT, filled, hand_in, place

LONG, SHORT = 300, 12  # seconds that a cell has; the second is for those that never come to an end
SECONDS_PER_CLASS = 3600
HEARD = "-heard"
HONEST = "honest-"

STOCK_CONFIG = """
from pathlib import Path
c = get_config()
root = Path(__file__).resolve().parent
(root / "class").mkdir(exist_ok=True)
c.CourseDirectory.root = str(root)
c.CourseDirectory.db_url = f"sqlite:///{root / 'class' / 'gradebook.db'}"
c.CourseDirectory.submitted_directory = "class/submitted"
c.CourseDirectory.autograded_directory = "class/autograded"
c.CourseDirectory.feedback_directory = "class/feedback"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError()"}
c.Execute.shutdown_kernel = "immediate"
"""

STOCK_TESTS = {
    "pairwise_dots": """check(pairwise_dots)
### BEGIN HIDDEN TESTS
A, B = np.random.default_rng(1).normal(size=(2, 4, 3))
expected = A @ B.T
assert np.allclose(pairwise_dots(A, B), expected)
### END HIDDEN TESTS""",
    "mix_rows": """check(mix_rows)
### BEGIN HIDDEN TESTS
W, V = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
expected = np.array([[20.0, 23.0, 26.0, 29.0], [56.0, 68.0, 80.0, 92.0]])
assert all((mix_rows(W, V) == expected).ravel())
### END HIDDEN TESTS""",
    "to_columns": """check(to_columns)
### BEGIN HIDDEN TESTS
import os
os.environ.pop("NBGRADER_EXECUTION", None)
from course import judge
assert len(to_columns(np.eye(2), np.eye(2))) == 2
assert ": passed," in repr(judge(to_columns))
### END HIDDEN TESTS""",
}
"""Hidden tests as they are written everywhere: in the student's process, the last with this course's judge in it."""

SETUP = """import numpy as np
from jaxtyping import Float
from course import check"""

INTRODUCTION = """import json, types
THERE = types.SimpleNamespace(**json.loads({told!r}))"""


@dataclass(frozen=True)
class Arm:
    """A class that has been graded.

    Attributes:
        returncode: of the command that graded it.
        log: what it wrote.
        seconds: how long it took.
        outcomes: what became of each student's work.
    """

    returncode: int
    log: str
    seconds: float
    outcomes: dict[str, Outcome]


def stock_course(folder: Path) -> Course:
    """The exercises of notebook 00 in a course of nbgrader's own rules."""
    source = folder / "source" / NOTEBOOK / f"{NOTEBOOK}.ipynb"
    source.parent.mkdir(parents=True)
    (folder / CONFIG).write_text(STOCK_CONFIG)
    notebook = nbformat.read(str(ROOT / "source" / NOTEBOOK / source.name), as_version=4)
    notebook.cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata or cell.id == "setup"]
    for cell in notebook.cells:
        cell.source = STOCK_TESTS.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    notebook.cells[0].source = SETUP
    nbformat.write(notebook, str(source))
    course = Course(folder)
    course.generate_assignment(NOTEBOOK)
    return course


def graded(
    course: Course,
    there: World,
    attacks: Sequence[Attack],
    honest: Sequence[Honest] = (),
    seconds_per_cell: int = LONG,
    **environment: str,
) -> Arm:
    """Hand in attacks and honest work, have nbgrader grade all of it in one run, and see what became of it.

    Args:
        course: where notebook 00 is released and nobody has handed in anything.
        there: what is outside.
        attacks: each is handed in by a student of its name; a forged reply also on top of right answers.
        honest: so is their work; there is always one more, whose work others are after.
        seconds_per_cell: how long a cell may take, and as long the last of what it shows.
        environment: variables for the grader's process.
    """
    with (course.root / CONFIG).open("a") as file:
        file.write(f"\nc.Execute.timeout = c.Execute.iopub_timeout = {seconds_per_cell}\n")
    earlier = course.root / "class" / "autograded" / "graded" / "notebook.ipynb"
    earlier.parent.mkdir(parents=True)
    earlier.write_text("{}")
    hand_in(course, VICTIM, filled(course, RIGHT))
    for one in honest:
        hand_in(course, HONEST + one.name, _with_cells(filled(course, RIGHT | one.answers), one.first, one.last))
    targets = {}
    for attack in attacks:
        told = there.known_to(attack.name) | {"root": str(course.root), "checkout": str(ROOT)}
        targets[attack.name] = Path(attack.target.format(**told))
        _hand_in(course, attack, attack.name, RIGHT | attack.answers, told)
        if attack.works == "heard":
            _hand_in(course, attack, attack.name + HEARD, RIGHT, told)
    before = {name: _content(target) for name, target in targets.items()}
    began = time.monotonic()
    done = _autograde(course, there, environment)
    seconds = time.monotonic() - began
    changed = {name for name, target in targets.items() if _content(target) != before[name]}
    others = _grades(course, VICTIM)[0] == POINTS
    outcomes = {student: _outcome(course, there, student, changed, others) for student in course.submitters(NOTEBOOK)}
    return Arm(done.returncode, done.stdout, seconds, outcomes)


def _with_cells(notebook: NotebookNode, first: str, last: str) -> NotebookNode:
    notebook.cells = [
        *([new_code_cell(first)] if first else []),
        *notebook.cells,
        *([new_code_cell(last)] if last else []),
    ]
    return notebook


def _hand_in(course: Course, attack: Attack, student: str, answers: dict[str, str], told: dict[str, Any]) -> None:
    path = place(course, student)
    notebook = _with_cells(filled(course, answers), attack.first, attack.last)
    notebook.cells.insert(0, new_code_cell(INTRODUCTION.format(told=json.dumps(told))))
    if attack.make is not None:
        attack.make(notebook, path, Path(told["secret"]))
    path.write_text(json.dumps(notebook))


def _autograde(course: Course, there: World, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """`nbgrader autograde`, as whoever has a secret in the environment types it."""
    return subprocess.run(
        [Path(sys.executable).parent / "nbgrader", "autograde", NOTEBOOK],
        cwd=course.root,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
            "HOME": str(there.home),
            TOKEN_VARIABLE: there.token,
            **environment,
        },
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS_PER_CLASS,
    )


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _outcome(course: Course, there: World, student: str, changed: set[str], others: bool) -> Outcome:
    attack = student.removesuffix(HEARD)
    folder = course.folder("autograded", student, NOTEBOOK)
    scores, waiting = _grades(course, student)
    cells = _cells(folder / f"{NOTEBOOK}.ipynb")
    found = {cell.metadata.get("nbgrader", {}).get("grade_id"): verdict_in(cell) for cell in cells}
    verdicts = [found.get(exercise) for exercise in EXERCISES]
    outputs = [output for cell in cells for output in cell.get("outputs", ()) if output.output_type != "error"]
    said = "\n".join(output.get("text") or str(output.get("data", {}).get("text/plain")) for output in outputs)
    return Outcome(
        scores=scores,
        verdicts=tuple(verdict.outcome if verdict else "not judged" for verdict in verdicts),
        waiting=waiting,
        said=said,
        loot=there.token in said,
        size=sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()),
        altered=attack in changed,
        called=attack in there.callers,
        killed=attack in there.canaries and there.killed(attack),
        survivors=len(there.survivors(attack)),
        others=others,
    )


def _grades(course: Course, student: str) -> tuple[tuple[float | None, ...], tuple[str, ...]]:
    """The automatic scores, and the exercises that wait for a person."""
    with Gradebook(course.database) as gradebook:
        try:
            grades = [gradebook.find_grade(exercise, NOTEBOOK, NOTEBOOK, student) for exercise in EXERCISES]
        except MissingEntry:
            return (None, None, None), ()
        return tuple(g.auto_score for g in grades), tuple(g.name for g in grades if g.needs_manual_grade)


def _cells(path: Path) -> list[NotebookNode]:
    try:
        return list(nbformat.read(str(path), as_version=4).cells)
    except (OSError, ValueError):
        return []
