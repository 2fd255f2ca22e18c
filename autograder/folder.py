"""A course folder as nbgrader sees it, and nbgrader's own commands on it."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import temp_attrs

from autograder.plugins.handing_in import misnamed
from autograder.plugins.judges import Judge, judge_of
from autograder.plugins.printable import printable
from autograder.plugins.structure import Structure, plainly_named
from autograder.problems import Problem
from autograder.settings import CONFIG, ROOT, assignment_meant, course_folder, settings_in


class NbgraderFailed(RuntimeError):
    """An nbgrader command did not succeed; the message is its log."""


class Course:
    """nbgrader on one course folder.

    Args:
        root: a folder with `nbgrader_config.py` and `source`.

    Raises:
        Problem: it is no such folder, or its settings cannot be read.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root = course_folder(root).resolve()
        with _in(root):
            self.config = settings_in(root)
            self.directory = CourseDirectory(config=self.config)
            self.database: str = self.directory.db_url
            self._api = NbGraderAPI(self.directory, config=self.config)
        try:
            self.judge: Judge = judge_of(self.config)
        except ImportError as error:
            raise Problem(f"{root / CONFIG} names a judge that cannot be imported: {error}") from None
        for logger in (self._api.log, logging.getLogger("traitlets")):
            logger.setLevel(logging.WARNING)

    @classmethod
    def copied(cls, to: Path) -> Course:
        """A course of its own in the folder `to`, with this checkout's settings and sources."""
        to.mkdir(parents=True)
        shutil.copy(ROOT / CONFIG, to)
        shutil.copytree(ROOT / "source", to / "source", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
        return cls(to)

    def meant(self, word: str) -> str:
        """The assignment that a word names, by its name or its number; the word itself, where there is none."""
        return assignment_meant(self.structure, word)

    def folder(self, step: str, student: str, assignment: str) -> Path:
        """Where nbgrader keeps a student's assignment in a step: "submitted", "autograded" or "feedback"."""
        return self.structure.folder(step, student, assignment)

    @property
    def structure(self) -> Structure:
        """The course's folders."""
        return Structure.of(self.directory)

    def pages(self, student: str, assignment: str) -> list[Path]:
        """A student's feedback pages, one for each notebook that was graded."""
        graded = self.folder("autograded", student, assignment)
        found = sorted(self.folder("feedback", student, assignment).glob("*.html"))
        return [page for page in found if not graded.exists() or (graded / f"{page.stem}.ipynb").exists()]

    @property
    def class_folder(self) -> Path:
        """The folder that holds the collected work, and what is made of it."""
        return Path(self.root, self.directory.submitted_directory).parent

    def submitters(self, assignment: str) -> list[str]:
        """The students who handed something in."""
        return [name for name in self._all_submitters(assignment) if not misnamed(name)]

    def misnamed(self, assignment: str) -> dict[str, str]:
        """Folders of submissions whose names no student can have, as they can be printed, with what to do about each."""
        return {printable(name): trouble for name in self._all_submitters(assignment) if (trouble := misnamed(name))}

    def _all_submitters(self, assignment: str) -> list[str]:
        return [place.student for place in self.structure.find("submitted", assignment)]

    @contextmanager
    def under_a_plain_name(self) -> Iterator[None]:
        """Meanwhile nbgrader, and `folder`, find the course by a path that is no pattern."""
        with plainly_named(Path(self.directory.root)) as root, temp_attrs(self.directory, root=str(root)):
            yield

    def generate_assignment(self, assignment: str) -> None:
        with self.under_a_plain_name():
            self._done(self._api.generate_assignment(assignment, force=True))

    def release_to(self, folder: str, assignment: str) -> None:
        """Make the release of an assignment in another folder, and enter it into the gradebook; what was released stays as it is."""
        with temp_attrs(self.directory, release_directory=folder):
            self.generate_assignment(assignment)

    def register(self, assignment: str) -> None:
        """Enter an assignment into the gradebook as it is in the source folder; what was released stays as it is."""
        with TemporaryDirectory() as elsewhere:
            self.release_to(elsewhere, assignment)

    def autograde(self, assignment: str, student: str, force: bool = False) -> None:
        with self.under_a_plain_name():
            self._done(self._api.autograde(assignment, student, force=force))

    def generate_feedback(self, assignment: str, student: str) -> None:
        with self.under_a_plain_name():
            self._done(self._api.generate_feedback(assignment, student, force=True))

    def _done(self, answer: dict[str, Any]) -> None:
        if not answer["success"]:
            raise NbgraderFailed(answer.get("log") or answer.get("error") or "nbgrader gave no reason")


@contextmanager
def _in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
