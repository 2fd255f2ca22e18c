"""Make the release: the answers that `check` compares with, and the notebooks that students get."""

from __future__ import annotations

import filecmp
import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.answers import write_answers
from autograder.course import ROOT, Course
from autograder.exercises import NOTEBOOKS
from autograder.grading.problems import FAILED, Problem
from autograder.plugins.agreeing import in_readme, in_source
from autograder.plugins.gradebook import trouble_with

ANSWERS = ROOT / "course" / "answers"
RELEASE = ROOT / "release"


def contradictions() -> list[str]:
    """Where notebooks or the README give other points than the exercises: then nothing is made."""
    found = [line for notebook in NOTEBOOKS for line in in_source(notebook, _source(notebook))]
    return [*found, *in_readme((ROOT / "README.md").read_text(encoding="utf-8"))]


def _source(notebook: str) -> list[NotebookNode]:
    cells: list[NotebookNode] = nbformat.read(ROOT / "source" / notebook / f"{notebook}.ipynb", as_version=4).cells
    return cells


def make_release() -> None:
    """Write `course/answers` and `release` from `autograder/exercises` and `source`.

    Raises:
        Problem: the gradebook cannot be used; nothing is written.
    """
    course = Course()
    if trouble := trouble_with(course.database):
        raise Problem(trouble, FAILED)
    write_answers(ANSWERS, ANSWERS)
    for notebook in NOTEBOOKS:
        course.generate_assignment(notebook)


def stale() -> list[str]:
    """The files that `make release` would change."""
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers"
        answers.mkdir()
        write_answers(answers, ANSWERS)
        course = Course.copied(Path(folder) / "course")
        for notebook in NOTEBOOKS:
            course.generate_assignment(notebook)
        made = {f"course/answers/{path.name}": path for path in answers.iterdir()}
        made |= {f"release/{n}/{n}.ipynb": course.root / "release" / n / f"{n}.ipynb" for n in NOTEBOOKS}
        committed = [*ANSWERS.glob("*.json"), *RELEASE.rglob("*.ipynb")]
        names = sorted(
            made.keys() | {str(path.relative_to(ROOT)) for path in committed if "checkpoint" not in str(path)}
        )
        return [name for name in names if name not in made or not _same(made[name], ROOT / name)]


def _same(made: Path, committed: Path) -> bool:
    return committed.is_file() and filecmp.cmp(made, committed, shallow=False)
