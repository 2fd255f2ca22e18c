"""An exercise as CONTRIBUTING.md has it added: a draft that holds, changed into the guide's example, in a checkout of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.authoring.adding import add
from autograder.problems import Problem
from autograder.settings import ROOT
from tests.test_contributing import ANSWERED, DECLARED

NOT_COPIED = shutil.ignore_patterns(".git", ".venv", ".proofs", "build", "class", "work", "__pycache__", ".*_cache")
SOURCE = Path("source", "00_shapes", "00_shapes.ipynb")
MODULE = Path("autograder", "exercises", "shapes", "row_sums.py")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    shutil.copytree(ROOT, tmp_path / "checkout", ignore=NOT_COPIED)
    return tmp_path / "checkout"


def tried(checkout: Path) -> subprocess.CompletedProcess[str]:
    """`python -m autograder try row_sums`, in a checkout."""
    return subprocess.run(
        [sys.executable, "-m", "autograder", "try", "row_sums"],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
    )


def paste(checkout: Path) -> None:
    """Put the guide's code over that of the draft, as it stands there."""
    (checkout / MODULE).write_text(DECLARED)
    notebook = nbformat.read(str(checkout / SOURCE), as_version=4)
    (answer,) = (cell for cell in notebook.cells if cell.id == "row-sums-solution")
    answer.source = ANSWERED.rstrip()
    nbformat.write(notebook, str(checkout / SOURCE))


@pytest.mark.thorough
def test_a_draft_says_what_it_lacks_and_becomes_the_guides_exercise_of_which_all_holds(checkout: Path) -> None:
    add("00_shapes", "row_sums", checkout)
    draft = tried(checkout)
    assert draft.returncode == 1, draft.stdout + draft.stderr
    assert "1 exercise, 1 mistakes that lose marks and are named" in draft.stdout
    assert [line for line in draft.stdout.splitlines() if line.startswith(("row_sums", "docs", "E "))] == [
        "row_sums has 1 mistake; it needs 3, one for each of three students of the sample class. What is @equivalent does not count.",
        "row_sums, why in the docstring of its file: 21 words; 40 to 120 are asked for.",
        "row_sums, why in the docstring of its file: 1 sentence; two to five are asked for.",
    ]

    paste(checkout)
    done = tried(checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("row_sums: all of it holds.")
    released = (checkout / "release" / SOURCE.relative_to("source")).read_text()
    assert "### Exercise 4 · `row_sums`" in released
    assert "easy · 5 minutes · 1.5 points" in released
    assert "X.sum(axis=1)" not in released


def test_a_draft_stands_after_the_last_exercise(checkout: Path) -> None:
    add("00_shapes", "row_sums", checkout)
    ids = [cell.id for cell in nbformat.read(str(checkout / SOURCE), as_version=4).cells]
    place = ids.index("to-columns-hints")
    assert ids[place + 1 : place + 4] == ["row-sums-task", "row-sums-solution", "row-sums"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("RowSums", "is no name for an exercise"),
        ("row__sums", "is no name for an exercise"),
        ("lambda", "is no name for an exercise"),
        ("softmax", "softmax is an exercise of 02_matrices already"),
        ("parts", "parts.py is there already"),
    ],
)
def test_a_name_that_cannot_be_is_refused_and_nothing_is_written(checkout: Path, name: str, said: str) -> None:
    before = (checkout / SOURCE).read_bytes()
    with pytest.raises(Problem, match=said):
        add("00_shapes", name, checkout)
    assert (checkout / SOURCE).read_bytes() == before
