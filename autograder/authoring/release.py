"""Make the release: the answers that `check` compares with, and the notebooks that students get."""

from __future__ import annotations

import filecmp
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.utils import is_grade, is_locked, is_solution, is_task

from autograder.authoring.answers import write_answers
from autograder.authoring.declared import in_cells
from autograder.authoring.proofs import Checkout, keep, recall
from autograder.authoring.sheet import SHEET, with_results
from autograder.authoring.stating import state_in_source, state_in_text
from autograder.exercises import NOTEBOOKS, folder_of, names_in
from autograder.folder import Course
from autograder.plugins.agreeing import in_readme, in_source
from autograder.plugins.bookkeeping import trouble_with
from autograder.problems import FAILED, Problem
from autograder.settings import ROOT
from autograder.this_course import JUDGE

ANSWERS = ROOT / "course" / "answers"
RELEASE = ROOT / "release"
MAKING = (
    "autograder/authoring/release.py",
    "autograder/exercises/*/__init__.py",
    "autograder/plugins",
    "nbgrader_config.py",
)
"""What the release of every notebook rests on."""
KINDS: dict[str, Callable[[NotebookNode], bool]] = {
    "grade": is_grade,
    "solution": is_solution,
    "task": is_task,
    "source": lambda cell: is_grade(cell) or is_solution(cell) or is_task(cell) or is_locked(cell),
}
"""The cells that a gradebook keeps of a notebook, as nbgrader calls them."""


def contradictions(notebooks: Collection[str] = ()) -> list[str]:
    """Where these notebooks, or all if none is named, or the README say something else than the exercises declare: nothing is made then."""
    sources = {notebook: _source(notebook) for notebook in notebooks or NOTEBOOKS}
    found = [line for notebook, cells in sources.items() for line in in_cells(notebook, cells)]
    found += [line for notebook, cells in sources.items() for line in in_source(JUDGE, notebook, cells)]
    return [*found, *in_readme(JUDGE, (ROOT / "README.md").read_text(encoding="utf-8"))]


def _source(notebook: str) -> list[NotebookNode]:
    cells: list[NotebookNode] = nbformat.read(ROOT / "source" / notebook / f"{notebook}.ipynb", as_version=4).cells
    return cells


def _graded(cell: NotebookNode) -> Iterator[tuple[str, str]]:
    """As what the gradebook keeps a cell, each with its name."""
    for kind, is_one in KINDS.items():
        if is_one(cell):
            yield kind, cell.metadata.nbgrader.grade_id


def graded_otherwise(notebooks: Collection[str] = NOTEBOOKS) -> list[str]:
    """Of which of these notebooks work was graded here with other graded cells than they have now, and what to do: nbgrader releases
    none of them.

    Raises:
        Problem: the gradebook cannot be used.
    """
    course = Course()
    if trouble := trouble_with(course.database):
        raise Problem(trouble, FAILED)
    found = []
    with Gradebook(course.database, course.directory.course_id) as gradebook:
        for notebook in notebooks:
            try:
                kept = gradebook.find_notebook(notebook, notebook)
            except MissingEntry:
                continue
            before = {(kind, cell.name) for kind in KINDS for cell in getattr(kept, f"{kind}_cells")}
            now = {(kind, name) for cell in _source(notebook) for kind, name in _graded(cell)}
            if kept.submissions and before != now:
                others = ", ".join(sorted({name for _, name in before ^ now}))
                found.append(
                    f"{notebook} was graded in this folder, and its graded cells were others then ({others}): "
                    f"the marks would fit no more. Nothing was made. Change it in another clone; or move "
                    f"{course.class_folder.relative_to(ROOT)}/ away, and back when you grade."
                )
    return found


def make_release(notebooks: Collection[str] = NOTEBOOKS) -> None:
    """Write `course/answers` and `release` from `autograder/exercises` and `source`, for these notebooks: all of it, or nothing where
    something fails."""
    course = Course()
    with tempfile.TemporaryDirectory() as folder:
        answers, released = Path(folder, "answers"), Path(folder, "release")
        for notebook in notebooks:
            course.release_to(str(released), notebook)
        answers.mkdir()
        write_answers(answers, ANSWERS, notebooks)
        for notebook in notebooks:
            shutil.rmtree(RELEASE / notebook, ignore_errors=True)
            shutil.copytree(released / notebook, RELEASE / notebook)
        shutil.copytree(answers, ANSWERS, dirs_exist_ok=True)


def take_away() -> list[str]:
    """Remove what the release made of exercises and notebooks that the course has no more, or has under another name.

    What another assignment with a source of its own was released to stays.

    Returns:
        A line for each file, and for each notebook that has got another number.
    """
    declared = {f"{notebook}/{name}.json" for notebook in NOTEBOOKS for name in names_in(notebook)}
    gone = [path for path in ANSWERS.glob("*/*.json") if path.relative_to(ANSWERS).as_posix() not in declared]
    without_source = [path for path in RELEASE.glob("*/*.ipynb") if not (ROOT / "source" / path.parent.name).exists()]
    lines = []
    for path in sorted([*gone, *without_source]):
        path.unlink()
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
        lines.append(f"{path.relative_to(ROOT).as_posix()}: removed, since nothing gives it any more")
    for old in sorted(path.stem for path in without_source):
        number, _, title = old.partition("_")
        for new in NOTEBOOKS:
            if new.partition("_")[2] == title:
                search = f"git grep -nE '[Nn]otebooks? .*{number}'"
                lines.append(f"{old} is {new} now: see whether texts mean it where they say {number}: {search}")
    return lines


def stated(notebooks: Collection[str] = NOTEBOOKS) -> dict[Path, str]:
    """The sources and pages in which something else stands than the exercises declare, with what has to stand in them."""
    texts: dict[Path, str] = {}
    for notebook in notebooks:
        path = ROOT / "source" / notebook / f"{notebook}.ipynb"
        source = nbformat.read(path, as_version=4)
        state_in_source(notebook, source.cells)
        texts[path] = f"{nbformat.writes(source)}\n"
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = state_in_text(path.read_text(encoding="utf-8"))
        texts[path] = with_results(text) if path.name == SHEET.name else text
    return {path: text for path, text in texts.items() if path.read_text(encoding="utf-8") != text}


def state(notebooks: Collection[str] = NOTEBOOKS) -> list[str]:
    """Write what exercises declare into sources and pages; those that changed, relative to the checkout."""
    texts = stated(notebooks)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return [path.relative_to(ROOT).as_posix() for path in texts]


def stale(notebooks: Collection[str] = NOTEBOOKS) -> list[str]:
    """The files that `make release` would change: those of these notebooks, and those of none of this course."""
    if changed := stated():
        return sorted(path.relative_to(ROOT).as_posix() for path in changed)
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers"
        answers.mkdir()
        write_answers(answers, ANSWERS, notebooks)
        course = Course.copied(Path(folder) / "course")
        for notebook in notebooks:
            course.generate_assignment(notebook)
        made = {f"course/answers/{path.relative_to(answers)}": path for path in answers.rglob("*.json")}
        made |= {f"release/{n}/{n}.ipynb": course.root / "release" / n / f"{n}.ipynb" for n in notebooks}
        others = set(NOTEBOOKS) - set(notebooks)
        committed = {
            path.relative_to(ROOT).as_posix()
            for path in (*ANSWERS.rglob("*.json"), *RELEASE.rglob("*.ipynb"))
            if path.parent.name not in others and "checkpoint" not in str(path)
        }
        return [
            name for name in sorted(made.keys() | committed) if name not in made or not _same(made[name], ROOT / name)
        ]


def newly_stale(notebooks: Collection[str] = ()) -> list[str]:
    """The same of these notebooks, or of all if none is named, but those that were up to date here before, and rest on nothing that has changed since."""
    checkout = Checkout()
    proofs = {notebook: checkout.digest(rests_on(notebook)) for notebook in notebooks or NOTEBOOKS}
    new = [notebook for notebook in proofs if not recall(f"release/{notebook}", proofs[notebook])]
    found = stale(new)
    if not found:
        for notebook in new:
            keep(f"release/{notebook}", proofs[notebook])
    return found


def rests_on(notebook: str) -> list[str]:
    """What the release of a notebook rests on, and its being the one that is committed."""
    of_it = [f"source/{notebook}", f"release/{notebook}", f"course/answers/{notebook}"]
    return [*of_it, folder_of(notebook).replace(".", "/"), *MAKING]


def _same(made: Path, committed: Path) -> bool:
    return committed.is_file() and filecmp.cmp(made, committed, shallow=False)
