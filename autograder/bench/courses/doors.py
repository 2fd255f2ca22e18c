"""Three ways to grade the same course, each in a copy of it."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from autograder.bench.courses.submitting import EDITS, Edit, hand_in
from autograder.bench.courses.taking import CONFIG
from autograder.bench.processor import Spent, spend

PLUG_INS = "from autograder.plugins.config import plug_in\nplug_in(c)\n"
ERROR = re.compile(r"\s+(?:\w+\.)*\w+: .")
"""How a traceback ends in a log."""
STOCK, PLUGGED, CLASS = "stock", "plug-ins", "class command"


def _autograde(course: Path, assignment: str) -> Spent:
    return nbgrader(course, "autograde", assignment)


def _class_command(course: Path, assignment: str) -> Spent:
    options = ["--course", str(course), "--yes", "--no-feedback", "--jobs", "1"]
    return _spend(course, "autograder", "grade", assignment, *options)


DOORS: dict[str, Callable[[Path, str], Spent]] = {STOCK: _autograde, PLUGGED: _autograde, CLASS: _class_command}


def nbgrader(course: Path, *arguments: str) -> Spent:
    """Run an nbgrader command in a course, as somebody does who has activated its environment."""
    return _spend(course, "nbgrader", *arguments)


def _spend(course: Path, module: str, *arguments: str) -> Spent:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("NBGRADER_")}
    variables["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return spend([sys.executable, "-m", module, *arguments], course, variables)


def release(course: Path, assignment: str, edits: tuple[Edit, ...] = EDITS) -> str:
    """Have stock nbgrader release an assignment, and hand in.

    Returns:
        Why it cannot be released, "" where it can.
    """
    nbgrader(course, "update", str(Path("source", assignment)))
    made = nbgrader(course, "generate_assignment", assignment, "--force", "--create")
    if made.code:
        return next(filter(ERROR.match, reversed(made.said.splitlines())), "no reason").strip()
    for edit in edits:
        hand_in(course, assignment, edit)
    return ""


def copied(course: Path, door: str) -> Path:
    """A copy of a course, to be graded through one door."""
    copy = course.with_name(f"{course.name}-{door.replace(' ', '-')}")
    shutil.copytree(course, copy, symlinks=True)
    if door != STOCK:
        with (copy / CONFIG).open("a") as config:
            config.write(PLUG_INS)
    return copy
