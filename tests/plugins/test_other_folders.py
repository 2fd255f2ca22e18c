"""Another course's submissions that hold too much, or what nbgrader cannot copy or read, through both doors."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook

from autograder.folder import Course
from autograder.plugins.bounds import DEEPEST, LARGEST_FILE, MOST_BYTES, MOST_CELLS, MOST_FILES, MOST_OUTPUTS
from tests.support import commands
from tests.support.stock import PLUGGED, cell, grades, nbgrader, stock_course

NAME = "sums"
Made = Callable[[NotebookNode, Path], Any]


def odd_metadata(notebook: NotebookNode, folder: Path) -> None:
    notebook.metadata.update(authors="me", title=4, language_info=[])
    for number, one in enumerate(notebook.cells):
        one.metadata.update(tags=["a", "a"], collapsed="yes", name="")
        one.update(id="a b" * 50 if number else "x", execution_count="x")


def odd_files(notebook: NotebookNode, folder: Path) -> None:
    (folder / "timestamp.txt").write_bytes(b"\xff")
    os.mkfifo(folder / "pipe")
    Path(os.fsdecode(bytes(folder) + b"/caf\xe9.txt")).touch()
    (folder / "here").symlink_to(".")
    (folder / "helper.py").write_text("two = 2")
    notebook.cells[0].source = "from helper import two\nanswer = two"


LATE = datetime(2030, 1, 2, 3, 4, 5)


def many_files(notebook: NotebookNode, folder: Path) -> None:
    (folder / "timestamp.txt").write_text(f"{LATE} UTC")
    for number in range(MOST_FILES + 1):
        (folder / f"{number}.txt").touch()


def deep(notebook: NotebookNode, folder: Path) -> None:
    (folder / "/".join("d" * (DEEPEST + 2))).mkdir(parents=True)


def holding(*sizes: int) -> Made:
    """Files of so many bytes."""

    def make(notebook: NotebookNode, folder: Path) -> None:
        for number, size in enumerate(sizes):
            with (folder / f"{number}.bin").open("wb") as file:
                file.truncate(size)

    return make


def full(notebook: NotebookNode, folder: Path) -> None:
    """As much as may be; the notebook grows when nbgrader writes it, a line for each value."""
    holding(MOST_BYTES - len(json.dumps(notebook)))(notebook, folder)


def many_cells(notebook: NotebookNode, folder: Path) -> None:
    notebook.cells += [{"cell_type": "markdown", "source": "", "metadata": {}}] * MOST_CELLS


def many_outputs(notebook: NotebookNode, folder: Path) -> None:
    notebook.cells[0].outputs = [{"output_type": "stream", "name": "stdout", "text": ""}] * (MOST_OUTPUTS + 1)


def huge(notebook: NotebookNode, folder: Path) -> None:
    with (folder / f"{NAME}.ipynb").open("wb") as file:
        file.truncate(500_000_000)


TOGETHER = "its files are larger than 48 MiB together"
HELD: dict[str, tuple[Made, float | None, str]] = {
    "honest": (lambda notebook, folder: None, 3.0, ""),
    "[a]": (lambda notebook, folder: None, 3.0, ""),
    "odd-metadata": (odd_metadata, 3.0, ""),
    "odd-files": (odd_files, 3.0, "it says no time"),
    "many-files": (many_files, None, f"more than {MOST_FILES:,} files and folders"),
    "deep": (deep, None, f"more than {DEEPEST} folders in one another"),
    "one-large": (holding(LARGEST_FILE + 1), 3.0, ""),
    "heavy": (holding(1 << 40), None, TOGETHER),
    "heavy-together": (holding(*[MOST_BYTES // 3 + 1] * 3), None, TOGETHER),
    "full": (full, None, TOGETHER),
    "many-cells": (many_cells, None, f"more than {MOST_CELLS:,} cells"),
    "many-outputs": (many_outputs, None, f"more than {MOST_OUTPUTS:,} stored outputs"),
    "huge": (huge, None, f"{NAME}.ipynb is larger than 20 MiB"),
}


def by_nbgrader(course: Course) -> str:
    return nbgrader(course.root, "autograde", NAME) + nbgrader(course.root, "generate_feedback", NAME)


def by_command(course: Course) -> str:
    return commands.grade(course, NAME, "--jobs", "2").stdout


@pytest.fixture(scope="module", params=[pytest.param(by_nbgrader, marks=pytest.mark.thorough), by_command])
def graded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Course, str]:
    course = stock_course(tmp_path_factory.mktemp("others"), PLUGGED)
    answer = cell(new_code_cell("### BEGIN SOLUTION\nanswer = 2\n### END SOLUTION"), "answer", solution=True)
    notebook = new_notebook(cells=[answer, cell(new_code_cell("assert answer == 2"), "test", 3)])
    (course.root / "source" / NAME).mkdir(parents=True)
    (course.root / "source" / NAME / f"{NAME}.ipynb").write_text(json.dumps(notebook))
    course.generate_assignment(NAME)
    for student, (make, _, _) in HELD.items():
        folder = course.folder("submitted", student, NAME)
        folder.mkdir(parents=True)
        made = json.loads((course.root / "release" / NAME / f"{NAME}.ipynb").read_text(), object_hook=NotebookNode)
        made.cells[0].source = "answer = 2"
        make(made, folder)
        if not (folder / f"{NAME}.ipynb").exists():
            (folder / f"{NAME}.ipynb").write_text(json.dumps(made))
    return course, request.param(course)


@pytest.mark.parametrize("student", HELD)
def test_it_is_graded_or_waits_for_a_person(graded: tuple[Course, str], student: str) -> None:
    course, said = graded
    _, score, why = HELD[student]
    grade = grades(course.database, NAME, NAME, student)["test"]
    assert (grade.score, grade.by_hand) == (score, score is None)
    messages = [" ".join(part.split()) for part in re.split(rf"\n(?=\[|(?:{'|'.join(map(re.escape, HELD))}))", said)]
    assert any(
        why in message and re.search(rf"(?<![\w-]){re.escape(student)}(?![\w-])", message) for message in messages
    )
    page = course.folder("feedback", student, NAME) / f"{NAME}.html"
    assert ("could not be graded automatically" in page.read_text()) == (score is None)


def test_what_waits_is_as_late_as_it_was_handed_in(graded: tuple[Course, str]) -> None:
    course, _ = graded
    with Gradebook(course.database) as gradebook:
        found = {student: gradebook.find_submission(NAME, student).timestamp for student in ("many-files", "honest")}
    assert found == {"many-files": LATE, "honest": None}


def test_nothing_breaks(graded: tuple[Course, str]) -> None:
    assert "Traceback" not in graded[1]
    assert "\x1b" not in graded[1]
