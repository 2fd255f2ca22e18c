"""Make the release: the answers that `check` compares with, and the notebooks that students get."""

from __future__ import annotations

import filecmp
import tempfile
from collections.abc import Collection
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.authoring.answers import write_answers
from autograder.authoring.stating import state_in_source, state_in_text
from autograder.exercises import NOTEBOOKS
from autograder.folder import ROOT, Course
from autograder.plugins.agreeing import in_readme, in_source
from autograder.plugins.gradebook import trouble_with
from autograder.problems import FAILED, Problem

ANSWERS = ROOT / "course" / "answers"
RELEASE = ROOT / "release"


def contradictions() -> list[str]:
    """Where notebooks or the README give other points than the exercises: then nothing is made."""
    found = [line for notebook in NOTEBOOKS for line in in_source(notebook, _source(notebook))]
    return [*found, *in_readme((ROOT / "README.md").read_text(encoding="utf-8"))]


def _source(notebook: str) -> list[NotebookNode]:
    cells: list[NotebookNode] = nbformat.read(ROOT / "source" / notebook / f"{notebook}.ipynb", as_version=4).cells
    return cells


def make_release(notebooks: Collection[str] = NOTEBOOKS) -> None:
    """Write `course/answers` and `release` from `autograder/exercises` and `source`, for these notebooks.

    Raises:
        Problem: the gradebook cannot be used; nothing is written.
    """
    course = Course()
    if trouble := trouble_with(course.database):
        raise Problem(trouble, FAILED)
    write_answers(ANSWERS, ANSWERS, notebooks)
    for notebook in notebooks:
        course.generate_assignment(notebook)


def stated(notebooks: Collection[str] = NOTEBOOKS) -> dict[Path, str]:
    """The sources and pages in which something else stands than the exercises declare, with what has to stand in them."""
    texts: dict[Path, str] = {}
    for notebook in notebooks:
        path = ROOT / "source" / notebook / f"{notebook}.ipynb"
        source = nbformat.read(path, as_version=4)
        state_in_source(notebook, source.cells)
        texts[path] = f"{nbformat.writes(source)}\n"
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        texts[path] = state_in_text(path.read_text(encoding="utf-8"))
    return {path: text for path, text in texts.items() if path.read_text(encoding="utf-8") != text}


def state(notebooks: Collection[str] = NOTEBOOKS) -> list[str]:
    """Write what exercises declare into sources and pages; those that changed, relative to the checkout."""
    texts = stated(notebooks)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return [path.relative_to(ROOT).as_posix() for path in texts]


def stale() -> list[str]:
    """The files that `make release` would change."""
    if changed := stated():
        return sorted(path.relative_to(ROOT).as_posix() for path in changed)
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers"
        answers.mkdir()
        write_answers(answers, ANSWERS)
        course = Course.copied(Path(folder) / "course")
        for notebook in NOTEBOOKS:
            course.generate_assignment(notebook)
        made = {f"course/answers/{path.relative_to(answers)}": path for path in answers.rglob("*.json")}
        made |= {f"release/{n}/{n}.ipynb": course.root / "release" / n / f"{n}.ipynb" for n in NOTEBOOKS}
        committed = [*ANSWERS.rglob("*.json"), *RELEASE.rglob("*.ipynb")]
        names = sorted(
            made.keys() | {str(path.relative_to(ROOT)) for path in committed if "checkpoint" not in str(path)}
        )
        return [name for name in names if name not in made or not _same(made[name], ROOT / name)]


def _same(made: Path, committed: Path) -> bool:
    return committed.is_file() and filecmp.cmp(made, committed, shallow=False)
