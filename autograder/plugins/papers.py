"""Which paper a submission is marked on. A paper is a number, from which the judge draws the hidden cases of every exercise.

Everybody is marked on the same paper, until feedback on it was made: a function can remember what it was asked, and a later cell can
print it, so that a page of feedback may show it. Whoever hands in after that is marked on a new paper. What was marked before, and is
marked again as it was handed in, stays on its own: where a hidden test has changed, nobody's score changes by the draw.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from autograder.plugins.bounds import Beyond, content
from autograder.plugins.structure import Structure

PAPER = "paper"
"""Among what nbgrader tells of a notebook, the paper, where whoever began this run has chosen it."""
FOLDER = "papers"


def new_paper() -> int:
    """A number that nobody can guess, from the system's own randomness; as large as every reader of JSON can tell from its neighbours."""
    return secrets.randbits(53)


class Papers:
    """The papers of an assignment, which are kept in the folder of the class, as `papers/ASSIGNMENT.json`.

    Args:
        directory: the course.
        assignment: its name.
    """

    def __init__(self, directory: CourseDirectory, assignment: str) -> None:
        self._directory, self._assignment = directory, assignment
        self._path = Path(directory.root, directory.submitted_directory).parent / FOLDER / f"{assignment}.json"
        self._last, self._known, self._of = _read(self._path)
        if self._last is not None and self._is_out():
            self._last = None

    def of(self, student: str) -> int:
        """The paper that a student's submission, as it is now, is marked on."""
        digest = self._digest(student)
        before = self._of.get(student)
        if before is None or before[0] != digest:
            before = self._of[student] = digest, self._current()
        return before[1]

    def marked_on(self, student: str) -> tuple[int, bool] | None:
        """The paper that a student was last marked on, and whether what they have handed in is still the same; None where nobody marked it."""
        if student not in self._of:
            return None
        digest, paper = self._of[student]
        return paper, digest == self._digest(student)

    def use(self, paper: int, students: Collection[str] = ()) -> None:
        """Have these students marked on this paper; everybody, if nobody is named."""
        if students:
            self._of.update({student: (self._digest(student), paper) for student in students})
        else:
            self._last, self._known, self._of = paper, self._pages(), {}

    def save(self) -> None:
        """Write down who is marked on which, whole or not at all."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        kept = {"paper": self._last, "pages": self._known, "of": self._of}
        beside.write_text(json.dumps(kept, indent=0), encoding="utf-8")
        beside.replace(self._path)

    def _current(self) -> int:
        if self._last is None:
            self._last, self._known = new_paper(), self._pages()
        return self._last

    def _is_out(self) -> bool:
        """Whether there is a page of feedback that was not there when the last paper was drawn."""
        return any(self._known.get(page) != file for page, file in self._pages().items())

    def _pages(self) -> dict[str, str]:
        """The pages of feedback that there are, each with what changes when it is written. No clock is read: a file server may have its own."""
        made = Structure.of(self._directory).find("feedback", self._assignment)
        found = {}
        for page in (page for place in made for page in place.folder.glob("*.html")):
            with suppress(OSError):  # it has gone meanwhile
                stated = page.stat()
                found[os.path.relpath(page, self._directory.root)] = f"{stated.st_mtime_ns} {stated.st_size}"
        return found

    def _digest(self, student: str) -> str:
        """What changes with a submission's notebooks."""
        found = hashlib.sha256()
        folder = Structure.of(self._directory).folder("submitted", student, self._assignment)
        for path in sorted(folder.glob("*.ipynb")):
            with suppress(OSError, Beyond):  # what is not read has no marks
                found.update(content(path))
        return found.hexdigest()


def _read(path: Path) -> tuple[int | None, dict[str, str], dict[str, tuple[str, int]]]:
    """The last paper, the pages that were there when it was drawn, and whose submission is marked on which; nothing where that cannot be
    read. An older version kept no pages: all that there are have come since."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        of = {str(student): (str(digest), int(paper)) for student, (digest, paper) in kept["of"].items()}
        pages = {str(page): str(file) for page, file in kept.get("pages", {}).items()}
        return None if kept["paper"] is None else int(kept["paper"]), pages, of
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None, {}, {}
