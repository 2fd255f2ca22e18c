"""What each student's file was called in the LMS, kept beside the class: feedback goes back under that name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from autograder.folder import Course
from autograder.grading.store import write_atomically


@dataclass(frozen=True)
class Origin:
    """Where a student's submission came from.

    Attributes:
        system: "canvas" or "moodle".
        files: by the notebook's own name, or by where another file lies in the submission, the name in the zip, by which the LMS
            knows what was handed in.
        late: whether the LMS called it late.
        contents: by the same names, the SHA-256 of what was taken.
        packed: the newest time that the zip gave to a file, as ISO writes it; "" where it gave none.
    """

    system: str
    files: dict[str, str] = field(default_factory=dict)
    late: bool = False
    contents: dict[str, str] = field(default_factory=dict)
    packed: str = ""

    def name_of(self, notebook: str) -> str:
        """What the LMS calls the file that a notebook was handed in as: that of its name, or else the first, which may have any."""
        return self.files.get(notebook, next(iter(self.files.values()), ""))


def origins(course: Course, assignment: str) -> dict[str, Origin]:
    """By student, what `collect` has kept; nothing where it has not been used."""
    with suppress(OSError, ValueError, TypeError, AttributeError):
        stored = json.loads(_path(course, assignment).read_text())
        return {student: Origin(**tree) for student, tree in stored.items()}
    return {}


def keep(course: Course, assignment: str, found: Mapping[str, Origin]) -> None:
    """Add to what is kept; what is known of others stays."""
    kept = {student: asdict(origin) for student, origin in (origins(course, assignment) | dict(found)).items()}
    write_atomically(_path(course, assignment), json.dumps(kept, indent=1, sort_keys=True))


def _path(course: Course, assignment: str) -> Path:
    return course.class_folder / "downloaded" / assignment / "collected.json"
