"""What is on disk between runs: results by content, and whose result has been written."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from uuid import uuid4

import autograder
from autograder.dependencies import with_imports
from autograder.grading.result import MarkedSubmission
from autograder.grading.snapshot import Snapshot
from autograder.plugins.judges import Judge
from autograder.problems import OTHER_RUN, Problem

PACKAGE = Path(autograder.__file__).parent

MARKING = [f"{PACKAGE.name}/{name}" for name in ("engine", "plugins", "grading/marking.py")]
"""What marks every notebook. What these import marks too."""


def write_atomically(path: Path, text: str, encoding: str = "utf-8") -> None:
    """Write a file of which a reader sees either all or nothing, whenever this process dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, encoding=encoding)
    draft.replace(path)


def code_digest(judge: Judge, assignment: str) -> str:
    """What changes with the code that marks an assignment: the judge's own, the engine, the plug-ins, and whatever of this package
    these import."""
    digest = hashlib.sha256(f"{version('nbgrader')} {judge.digest(assignment)}".encode())
    for path in sorted(with_imports(PACKAGE.parent, MARKING, only=PACKAGE.name)):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Keep every other run out of a course for as long as this one lasts; the system lifts the bar when a process dies.

    Raises:
        Problem: there is another run, or the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
    except OSError as error:
        sentence = (
            f"Results are kept in {folder}, which cannot be written to: {error.strerror}. Make it a folder that can be."
        )
        raise Problem(sentence) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Problem("This course is being graded by another run; wait for it, or stop it.", OTHER_RUN) from None
        yield


class Store:
    """The results of one assignment, each in a file that is named after everything it depends on.

    Args:
        folder: where they lie.
        snapshot: the assignment.
    """

    def __init__(self, folder: Path, snapshot: Snapshot) -> None:
        self._folder = folder
        self._state = folder / "written.json"
        self._base = f"{snapshot.digest} {code_digest(snapshot.judge, snapshot.assignment)}"
        self._written: dict[str, str] = {}
        with suppress(OSError, ValueError):  # then everything is written again, from the results
            self._written = json.loads(self._state.read_text())[0]

    def key(self, digest: str, paper: int) -> str:
        """The key of the result of a submission with this digest, marked on this paper."""
        return hashlib.sha256(f"{self._base} {digest} {paper}".encode()).hexdigest()

    def get(self, key: str) -> MarkedSubmission | None:
        """The result that is kept, if there is one that can be read."""
        try:
            return MarkedSubmission.from_json((self._folder / f"{key}.json").read_text())
        except (OSError, ValueError):
            return None

    def put(self, key: str, result: MarkedSubmission) -> None:
        write_atomically(self._folder / f"{key}.json", result.to_json())

    def prune(self, keys: Collection[str]) -> None:
        """Remove what was kept of submissions, exercises and code that are no more."""
        for path in self._folder.glob("*.json"):
            if path != self._state and path.stem not in keys:
                path.unlink()
        for draft in self._folder.glob(".*"):
            draft.unlink()

    def is_written(self, student: str, state: str) -> bool:
        """Whether the gradebook and the folders hold this."""
        return self._written.get(student) == state

    def wrote(self, states: dict[str, str | None]) -> None:
        """Remember, by student, what was written, or None for what is not final."""
        self._written |= {student: state or f"{uuid4()}" for student, state in states.items()}
        self._save()

    def _save(self) -> None:
        write_atomically(self._state, json.dumps([self._written]))
