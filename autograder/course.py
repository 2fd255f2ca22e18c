"""A course folder as nbgrader sees it, and nbgrader's own commands on it."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import PyFileConfigLoader

ROOT = Path(__file__).resolve().parents[1]
CONFIG = "nbgrader_config.py"


class NbgraderFailed(RuntimeError):
    """An nbgrader command did not succeed; the message is its log."""


class Course:
    """nbgrader on one course folder.

    Args:
        root: a folder with `nbgrader_config.py` and `source`.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.config = PyFileConfigLoader(CONFIG, str(root)).load_config()
        self.directory = CourseDirectory(config=self.config)
        self.database: str = self.directory.db_url
        with _in(root):
            self._api = NbGraderAPI(self.directory, config=self.config)
        for logger in (self._api.log, logging.getLogger("traitlets")):
            logger.setLevel(logging.WARNING)

    @classmethod
    def copied(cls, to: Path) -> Course:
        """A course of its own in the folder `to`, with this checkout's settings and sources."""
        to.mkdir(parents=True)
        shutil.copy(ROOT / CONFIG, to)
        shutil.copytree(ROOT / "source", to / "source", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
        return cls(to)

    def folder(self, step: str, student: str, assignment: str) -> Path:
        """Where nbgrader keeps a student's assignment in a step: "submitted", "autograded" or "feedback"."""
        return Path(self.directory.format_path(getattr(self.directory, f"{step}_directory"), student, assignment))

    @property
    def class_folder(self) -> Path:
        """The folder that holds the collected work, and what is made of it."""
        return Path(self.root, self.directory.submitted_directory).parent

    def submitters(self, assignment: str) -> list[str]:
        """The students who handed something in."""
        handed_in = Path(self.root, self.directory.submitted_directory)
        return sorted(path.name for path in handed_in.glob("*") if (path / assignment).exists())

    def generate_assignment(self, assignment: str) -> None:
        self._done(self._api.generate_assignment(assignment, force=True))

    def autograde(self, assignment: str, student: str, force: bool = False) -> None:
        self._done(self._api.autograde(assignment, student, force=force))

    def generate_feedback(self, assignment: str, student: str) -> None:
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
