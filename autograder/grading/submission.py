"""What a student handed in, as values that can travel."""

from __future__ import annotations

import glob
import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from autograder.folder import Course
from autograder.grading.snapshot import File, Snapshot
from autograder.plugins.bounds import LARGEST_FILE, MOST_BYTES, Refused, content
from autograder.plugins.handing_in import TIMESTAMP
from autograder.plugins.printable import printable
from autograder.plugins.reading import (
    LISTED,
    MOST_TOLD,
    UNREADABLE,
    files_in,
    lying_beside,
    unwanted,
    why_not_read,
)
from autograder.plugins.repairing import answers_in
from autograder.plugins.structure import QUARANTINE
from autograder.plugins.submitted import file_of, why_none


@dataclass(frozen=True)
class Submission:
    """One student's work on one assignment.

    Attributes:
        notebooks: by name, those that the assignment has; None for one that is a link, or not a file, or was not read.
        files: everything else that is kept, by relative path.
        unknown: file names of notebooks that the assignment does not have; where they are many, some of them.
        left_out: what does not belong, by relative path, with the reason; the writer moves it to quarantine.
        beside: what lies beside the notebook, or lay there before it was left out, if the course's judge knows it.
        refused: why a person has to look at it, where it was not read; nothing of it is moved.
    """

    student: str
    notebooks: dict[str, bytes | None]
    files: dict[str, File] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    beside: tuple[str, ...] = ()
    refused: Refused | None = None

    @property
    def digest(self) -> str:
        """What changes with anything that a result depends on; what is left out is not there any more the next time."""
        files = (sorted(self.notebooks.items()), sorted(self.files.items()), self.beside)
        parts = (self.student, *files, str(self.refused or ""))
        return hashlib.sha256(repr(parts).encode()).hexdigest()


def read_submission(course: Course, student: str, snapshot: Snapshot) -> Submission:
    """Read a submission's folder; nothing in it is changed. What cannot be read, or is too much, is refused.

    Args:
        course: in which it was handed in.
        student: whose it is.
        snapshot: the assignment.

    Raises:
        OSError: there is no such folder.
    """
    folder, kept = (course.folder(step, student, snapshot.assignment) for step in ("submitted", QUARANTINE))
    paths = [Path(name) for name in sorted(glob.glob(f"{glob.escape(str(folder))}/*.ipynb"))]
    known = {notebook.name for notebook in snapshot.notebooks}
    asked = {path.stem: path for path in paths if path.stem in known}
    files: dict[str, File] = {}
    left_out: dict[str, str] = {}
    try:
        left_out = unwanted(folder, snapshot.assignment if snapshot.ours else "")
        if snapshot.ours:
            asked = {snapshot.assignment: _file_of(folder, snapshot)}
        for name in _extra(folder, snapshot, course.directory.ignore):
            if "." not in left_out and name not in left_out:
                files[name] = _file(folder / name, LARGEST_FILE if snapshot.ours else MOST_BYTES)
        notebooks = {name: _read(path, left_out) for name, path in asked.items()}
    except (Refused, OSError) as error:
        reason = error if isinstance(error, Refused) else Refused(why_not_read(error), UNREADABLE)
        names = known if snapshot.ours else asked
        return Submission(student, dict.fromkeys(names), _when(folder, left_out), (), left_out, refused=reason)
    unknown = tuple(printable(path.name) for path in paths if path not in asked.values())
    return Submission(
        student,
        notebooks,
        files,
        _some(unknown),
        left_out,
        lying_beside(folder, kept, snapshot.assignment) if snapshot.ours else (),
    )


def why_it_waits(submission: Submission, snapshot: Snapshot) -> str:
    """Why a person will have to look at a submission, in a sentence, as far as it can be told without grading it; "" where nothing is."""
    if submission.refused:
        return str(submission.refused)
    found = (why_none(data or b"", name, snapshot.judge) for name, data in submission.notebooks.items())
    return next(filter(None, found), "")


def _file_of(folder: Path, snapshot: Snapshot) -> Path:
    (notebook,) = snapshot.notebooks
    return file_of(folder, snapshot.assignment, snapshot.judge, lambda: answers_in(notebook.source_cells))


def _file(path: Path, most: int) -> File:
    return File(content(path, most), os.access(path, os.X_OK))


def _when(folder: Path, left_out: dict[str, str]) -> dict[str, File]:
    """The file that says when a submission was handed in, where it can be read: one that is refused is as late as any."""
    with suppress(Refused, OSError):
        if os.path.lexists(folder / TIMESTAMP) and not left_out.keys() & {".", TIMESTAMP}:
            return {TIMESTAMP: _file(folder / TIMESTAMP, LARGEST_FILE)}
    return {}


def _read(path: Path, left_out: dict[str, str]) -> bytes | None:
    if not path.is_file() or "." in left_out or path.name in left_out:
        return None
    return content(path)


def _extra(folder: Path, snapshot: Snapshot, ignore: list[str]) -> list[str]:
    if snapshot.ours:
        return [name for name in LISTED if os.path.lexists(folder / name) and name not in snapshot.given]
    return files_in(folder, ignore, snapshot.given)


def _some(names: tuple[str, ...]) -> tuple[str, ...]:
    more = len(names) - MOST_TOLD
    return names if more <= 0 else (*names[:MOST_TOLD], f"and {more:,} more")
