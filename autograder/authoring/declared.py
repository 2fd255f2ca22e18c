"""What is forgotten when an exercise or a notebook is added, moved or taken out, each in a sentence that says what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from nbformat import NotebookNode

from autograder.exercises import NOTEBOOKS, folder_of, names_in
from autograder.exercises.model import exercise_in
from autograder.plugins.judges import worth
from autograder.settings import ROOT
from autograder.this_course import JUDGE

SHARED = {"__init__", "parts"}
"""The files in a notebook's folder of exercises that declare none."""


def undeclared(root: Path = ROOT, notebooks: Sequence[str] = NOTEBOOKS) -> list[str]:
    """Why nothing can be made of exercises and sources as they lie there; nothing where all have what they need.

    Raises:
        Exception: whatever a module of exercises raises when it is imported.
    """
    found = [line for notebook in notebooks for line in _source(root / "source", notebook)]
    for notebook in notebooks:
        folder = folder_of(notebook).replace(".", "/")
        if not (root / folder / "__init__.py").is_file():
            found.append(
                f"{folder}/__init__.py is missing: NOTEBOOKS names {notebook}, and its exercises are declared there."
            )
            continue
        files = {path.stem for path in (root / folder).glob("*.py")} - SHARED
        named = names_in(notebook)
        found += [
            f"{folder}/{name}.py is not in EXERCISES: put {name!r} there, in {folder}/__init__.py, at its place in the notebook."
            for name in sorted(files - set(named))
        ]
        for name in named:
            if name in files:
                module = import_module(f"{folder_of(notebook)}.{name}")
                found += [f"{folder}/{name}.py: {line}" for line in incomplete(module, notebook)]
            else:
                found.append(f"{folder}/{name}.py is missing: EXERCISES in {folder}/__init__.py names {name!r}.")
    return found


def _source(folder: Path, notebook: str) -> Iterator[str]:
    """Whether a notebook lies where its name says; if it was moved in the order, the commands that move it."""
    wanted = Path(notebook, f"{notebook}.ipynb")
    if (folder / wanted).is_file():
        return
    yield f"source/{wanted.as_posix()} is missing: NOTEBOOKS in autograder/exercises/__init__.py names {notebook}."
    title = notebook.partition("_")[2]
    for other in sorted(folder.glob(f"*/[0-9][0-9]_{title}.ipynb")):
        if other.parent.name != notebook:
            yield f"  git mv source/{other.parent.name} source/{notebook}"
        yield f"  git mv source/{notebook}/{other.name} source/{wanted.as_posix()}"


def incomplete(module: ModuleType, notebook: str) -> Iterator[str]:
    """What a module lacks to declare an exercise."""
    name = module.__name__.rpartition(".")[2]
    if not callable(getattr(module, name, None)):
        yield f"there is no function {name}; the oracle has the name of its file."
    elif not getattr(module, "PUBLIC", ()):
        yield "there is no PUBLIC; `check` tries these cases, so there has to be one."
    else:
        exercise = exercise_in(module, notebook)
        if not exercise.probes:
            yield "there is no @probe; the hidden test gives the points of its probes."
        for probe in exercise.probes:
            if not probe.shows:
                yield f"the probe {getattr(probe.draw, '__name__', '')} has no docstring, which is its line in the feedback."
        for mistake in exercise.mistakes:
            if not mistake.__doc__:
                yield f"the mistake {mistake.__name__} has no docstring, which is all that its student reads."


def in_cells(notebook: str, cells: Sequence[NotebookNode]) -> Iterator[str]:
    """Where the graded cells of a source notebook are not those of its exercises, in their order, each once."""
    ids = [cell.metadata.nbgrader.grade_id for cell in cells if "nbgrader" in cell.metadata]
    for grade_id, count in Counter(ids).items():
        if count > 1:
            yield f"{notebook}: {count} cells have the grade_id {grade_id!r}; give each its own."
    graded = [cell.metadata.nbgrader for cell in cells if cell.metadata.get("nbgrader", {}).get("grade")]
    tests = [graded_cell.grade_id for graded_cell in graded if not graded_cell.get("solution")]
    named = list(names_in(notebook))
    for grade_id in tests:
        if grade_id not in worth(JUDGE, notebook):
            yield f"{notebook}: no exercise belongs to the test cell {grade_id!r}: declare one in EXERCISES, or take out its cells."
    declared = [grade_id for grade_id in tests if grade_id in named]
    if sorted(declared) == sorted(named) and declared != named:
        yield f"{notebook}: EXERCISES has the order {', '.join(named)}; the cells come in the order {', '.join(declared)}."
