"""Courses that nobody here wrote: the settings, cells and grades of stock nbgrader."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_notebook
from nbgrader.api import Gradebook

from autograder.folder import Course
from autograder.settings import CONFIG
from tests.support import commands

DOCUMENTATION = files("nbgrader") / "docs" / "source"
SETTINGS = """
import os
import sys
from pathlib import Path
c = get_config()
root = Path(__file__).resolve().parent
(root / "class").mkdir(exist_ok=True)
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
c.CourseDirectory.course_id = "attention"
c.CourseDirectory.root = str(root)
c.CourseDirectory.db_url = f"sqlite:///{root / 'class' / 'gradebook.db'}"
c.CourseDirectory.submitted_directory = "class/submitted"
c.CourseDirectory.autograded_directory = "class/autograded"
c.CourseDirectory.feedback_directory = "class/feedback"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError()"}
"""


PLUGGED = """
from autograder.plugins.config import plug_in
plug_in(c)
"""


def stock_course(root: Path, settings: str = "") -> Course:
    """A course in which nothing is plugged in, with this repository's folders.

    Args:
        root: an empty folder.
        settings: more lines for its nbgrader_config.py, `PLUGGED` for the plug-ins.
    """
    (root / CONFIG).write_text(SETTINGS + settings)
    return Course(root)


def cell(made: NotebookNode, name: str, points: float | None = None, **others: Any) -> NotebookNode:
    """A cell with nbgrader's metadata, and without the id that older notebooks do not have.

    Args:
        made: the cell.
        name: its grade_id.
        points: what it is worth; a cell with points is a locked test, one without is read-only in nothing.
        others: more of nbgrader's settings, `solution`, `locked` or `task`.
    """
    made.pop("id", None)
    graded = points is not None
    stated = {
        "grade_id": name,
        "schema_version": 3,
        "grade": graded,
        "locked": graded,
        "solution": False,
        "task": False,
    }
    made.metadata["nbgrader"] = nbformat.from_dict({**stated, **others})
    if graded:
        made.metadata.nbgrader.points = points
    return made


def write(path: Path, cells: Sequence[NotebookNode]) -> None:
    """Write a notebook of these cells, in the format of before cells had ids, in a folder that is made where there is none."""
    for one in cells:
        one.pop("id", None)
    notebook = new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.nbformat_minor = 4
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook))


@dataclass(frozen=True)
class Grade:
    """What the gradebook has for one cell."""

    score: float | None
    by_hand: bool
    comment: str | None = None


def grades(database: str, assignment: str, notebook: str, student: str) -> dict[str, Grade]:
    """Cell by cell: the automatic score, whether a person has to look, and nbgrader's own comment."""
    with Gradebook(database) as gradebook:
        stored = gradebook.find_submission_notebook(notebook, assignment, student)
        comments = {comment.name: comment.auto_comment for comment in stored.comments}
        return {
            grade.name: Grade(grade.auto_score, bool(grade.needs_manual_grade), comments.get(grade.name))
            for grade in stored.grades
        }


def nbgrader(folder: Path, *arguments: str) -> str:
    """Run nbgrader in a folder, as someone does who has activated its environment. Gives what it printed; failing is no error."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return commands.run(["nbgrader", *arguments], folder, {**os.environ, "PATH": path}).stdout
