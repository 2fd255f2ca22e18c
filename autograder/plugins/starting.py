"""`nbgrader autograde`, killed and started again: what it had begun is told from what it had finished.

nbgrader passes over every submission that has an autograded folder, and a run that is killed leaves folders of work without
scores. So a mark lies beside a submission for as long as it is being graded, and its process holds a lock on it.
"""

from __future__ import annotations

import fcntl
import json
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from nbgrader.converters import Autograde
from nbgrader.utils import rmtree

from autograder.engine import Given, TooMuchToSend, best_walls
from autograder.plugins import returning
from autograder.plugins.executing import JudgedExecute
from autograder.plugins.extending import extend
from autograder.plugins.gradebooks import kept, reusing
from autograder.plugins.judges import judge_of
from autograder.plugins.opening import TolerantExporter
from autograder.plugins.preloading import prepare
from autograder.plugins.reading import quarantine
from autograder.plugins.sandbox import Sandbox
from autograder.plugins.structure import Structure, beside

NO_WALLS = (
    "There are no walls here: what students handed in runs with your rights, and can read and change all that you can. "
    "`python -m autograder doctor` says what is missing."
)
MOST_NAMES = 10

_held: dict[Path, IO[str]] = {}
"""The marks that this process has made, open, since a lock ends when its file is closed."""

_autograded: dict[Path, Path] = {}
"""For each submission that nbgrader is to grade in this process, where it puts what it makes of it."""


# ------------------------------------------------------------------------------------------------------------- the marks


def begin(folder: Path, notebooks: set[str]) -> None:
    """Mark these notebooks of a submission as begun by this process, beside those that an earlier run did not finish."""
    _write_mark(folder, unfinished(folder) | notebooks)


def unfinished(folder: Path) -> set[str]:
    """The notebooks of a submission's folder that a run which has ended began, and did not finish."""
    try:
        with _mark(folder).open() as mark:
            fcntl.flock(mark, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:  # there is none, or its run is alive
        return set()
    return _begun(folder)


def finish(folder: Path, notebooks: set[str] | None = None) -> None:
    """These notebooks of a submission are finished, or all; where others are not, a mark stays."""
    others = _begun(folder) - notebooks if notebooks is not None else set()
    if others:
        _write_mark(folder, others)
    else:
        _mark(folder).unlink(missing_ok=True)
    if mark := _held.pop(folder, None):
        mark.close()


def forget_failed() -> None:
    """Remove the marks of what was begun and has failed: nbgrader removed all that it had made, and so grades it again by itself."""
    for folder in list(_held):
        if folder in _autograded and not _autograded[folder].exists():
            finish(folder)


def _begun(folder: Path) -> set[str]:
    with suppress(OSError, ValueError):
        return set(json.loads(_mark(folder).read_text()))
    return set()


def _write_mark(folder: Path, notebooks: set[str]) -> None:
    """Make the mark anew, whoever may still hold an old one."""
    draft = beside(folder, "new")
    draft.unlink(missing_ok=True)
    mark = draft.open("x")
    fcntl.flock(mark, fcntl.LOCK_EX)
    json.dump(sorted(notebooks), mark)
    mark.flush()
    draft.replace(_mark(folder))
    if previous := _held.pop(folder, None):
        previous.close()
    _held[folder] = mark


def _mark(folder: Path) -> Path:
    return beside(folder, "begun")


def _by_folder(notebooks: list[str]) -> dict[Path, set[str]]:
    folders = {Path(notebook).parent for notebook in notebooks}
    return {folder: {Path(name).stem for name in notebooks if Path(name).parent == folder} for folder in folders}


def _stems(notebooks: list[str]) -> set[str]:
    return {Path(notebook).stem for notebook in notebooks}


# ------------------------------------------------------------------------------------------------------ when it starts


class StartingExporter(TolerantExporter):
    """The exporter, which nbgrader makes when it has found the submissions and begun none."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        if isinstance(self.parent, Autograde):
            if self.parent.assignments and JudgedExecute(parent=self.parent).enabled:
                self._prepare(self.parent)
            start(self.parent)
            extend(self.parent, Marking)

    def _prepare(self, converter: Autograde) -> None:
        """Start what is going to run submissions."""
        course, assignment = converter.coursedir, converter.coursedir.assignment_id
        source = Path(course.root, course.format_path(course.source_directory, ".", assignment))
        with suppress(OSError, TooMuchToSend):  # whoever needs these files will say so
            given = Given({} if assignment in self._judged else self._given)
            prepare(source, Sandbox(config=converter.config), given, alone=len(converter.assignments) == 1)


class Marking(Autograde):
    """nbgrader's converter, which marks what it begins, and leaves no marks of what it finished and of what failed."""

    init_assignment = reusing(Autograde.init_assignment)

    def convert_notebooks(self) -> None:
        try:
            with kept():
                super().convert_notebooks()
        finally:
            forget_failed()

    def run_pre_convert_hook(self) -> None:
        forget_failed()
        self.log.info("Looking for what does not belong in %s", ", ".join(map(str, _by_folder(self.notebooks))))
        quarantine(self.coursedir, self.coursedir.assignment_id, self.notebooks, judge_of(self.config).notebooks)
        super().run_pre_convert_hook()
        self._found = _by_folder(self.notebooks)  # those that the gradebook does not know nbgrader then leaves out
        for folder, notebooks in self._found.items():
            try:
                begin(folder, notebooks)
            except OSError as error:
                self.log.info("%s could not be marked as begun: %s", folder, error)

    def run_post_convert_hook(self) -> None:
        super().run_post_convert_hook()
        for folder, notebooks in self._found.items():
            finish(folder, notebooks)


def start(converter: Autograde) -> None:
    """Take up what an earlier run left, and say so; say it too where there are no walls."""
    if best_walls() == "none":
        converter.log.warning(NO_WALLS)
    course = converter.coursedir
    structure, excluded = Structure.of(course), course.student_id_exclude.split(",")
    again, given_back = [], []
    for name, notebooks in sorted(converter.assignments.items()):
        place = structure.whose("submitted", course.assignment_id, name)
        if place is None or place.student in excluded:
            continue
        autograded = structure.folder("autograded", place.student, place.assignment)
        _autograded[Path(name)] = autograded
        if returning.put_back(course, place.student, place.assignment):
            given_back.append(place.student)
        if _take_up(Path(name), autograded, _stems(notebooks), converter.permissions):
            again.append(place.student)
    if given_back:
        converter.log.warning("%s: %s", named(given_back), RETURNED)
    if again:
        converter.log.warning("%s: an earlier run was stopped while it graded this; it is graded again", named(again))


RETURNED = (
    f"{returning.SECRET}, which nbgrader's release_feedback needs, was moved to quarantine by an earlier version, "
    "and has been put back"
)


def _take_up(folder: Path, autograded: Path, notebooks: set[str], permissions: int = 444) -> bool:
    """Remove what was made of a submission that was not finished, so that nbgrader does not pass over it."""
    begun = unfinished(folder)
    if not autograded.is_dir():
        return False
    if (begun and begun <= notebooks) or not (_mark(folder).exists() or _was_finished(autograded, permissions)):
        rmtree(str(autograded))
        return True
    for name in begun & notebooks:
        (autograded / f"{name}.ipynb").unlink(missing_ok=True)
    return bool(begun & notebooks)


def _was_finished(autograded: Path, permissions: int) -> bool:
    """Whether nbgrader had come to the end of a folder that has no mark.

    Where no notebook is left there, somebody may have removed it. nbgrader sets the permissions of all files last.
    """
    if any(autograded.glob("*.ipynb")):
        return True
    files = [path for path in autograded.rglob("*") if path.is_file() and not path.is_symlink()]
    return bool(files) and all(path.stat().st_mode & 0o777 == int(str(permissions), 8) & 0o777 for path in files)


def named(students: list[str]) -> str:
    """Students in a sentence, as many as one still reads."""
    listed = ", ".join(students[:MOST_NAMES])
    return listed if len(students) <= MOST_NAMES else f"{listed} and {len(students) - MOST_NAMES} more"
