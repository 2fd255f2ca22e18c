"""A course's directory structure: where each of nbgrader's steps keeps a student's assignment, and whose a folder is.

`c.CourseDirectory.directory_structure` says it, with `nbgrader_step`, `student_id` and `assignment_id` in any order. nbgrader itself takes
`[`, `?` and `*` in the path of a course for patterns; here they are letters like any other.
"""

from __future__ import annotations

import glob
import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

STEPS = ("source", "release", "submitted", "autograded", "feedback")
USUAL = os.path.join("{nbgrader_step}", "{student_id}", "{assignment_id}")
NOBODY = "."
"""Who stands for the student in steps that have none."""
QUARANTINE = "quarantine"
"""A step of ours, beside that of submissions."""
IN_VAIN = re.compile(r"No notebooks were matched by '(.*)'")
DRAFT = re.compile(r"\..+\.(begun|new|old)", re.DOTALL)


class Place(NamedTuple):
    """A folder in which a step keeps a student's assignment."""

    student: str
    assignment: str
    folder: Path


@dataclass(frozen=True)
class Structure:
    """The folders of a course.

    Args:
        root: its own.
        template: `directory_structure`.
        directories: by the names of nbgrader's steps, what these are called in this course.
    """

    root: str
    template: str
    directories: Mapping[str, str]

    @classmethod
    def of(cls, course: CourseDirectory) -> Structure:
        directories = {step: getattr(course, f"{step}_directory") for step in STEPS}
        return cls(course.root, os.path.normpath(course.directory_structure), directories)

    def folder(self, step: str, student: str, assignment: str) -> Path:
        """Where a step keeps a student's assignment, as nbgrader's `format_path` has it."""
        filled = self.template.format(nbgrader_step=self._named(step), student_id=student, assignment_id=assignment)
        return Path(self.root, filled)

    def find(self, step: str, assignment: str, student: str = "*") -> list[Place]:
        """The folders of an assignment in a step that are there, in order; links that lead nowhere are among them.

        Args:
            student: a pattern, as `c.CourseDirectory.student_id` is.
        """
        pattern = self._filled(glob.escape, step, student, glob.escape(assignment))
        found = (self.whose(step, assignment, path) for path in glob.glob(pattern, include_hidden=True))
        return sorted(place for place in found if place and not _is_file_or_draft(place.folder))

    def whose(self, step: str, assignment: str, path: str) -> Place | None:
        """Whose folder of an assignment this is in a step, by its path; None where it is none of these."""
        pattern = self._filled(re.escape, step, "(?P<student>[^/]+)", re.escape(assignment))
        found = re.fullmatch(pattern, path) or re.fullmatch(pattern, os.path.normpath(path))
        return Place(found["student"], assignment, Path(path)) if found else None

    def assignments(self) -> list[str]:
        """All that have a folder among the sources, in order."""
        folders = glob.glob(os.path.join(self._filled(glob.escape, "source", NOBODY, "*"), ""))
        pattern = self._filled(re.escape, "source", re.escape(NOBODY), "(?P<assignment>[^/]+)")
        return sorted(found[1] for path in folders if (found := re.fullmatch(pattern, path.rstrip(os.sep))))

    def _named(self, step: str) -> str:
        if step == QUARANTINE:
            return str(Path(self.directories["submitted"]).with_name(QUARANTINE))
        return self.directories[step]

    def _filled(self, escaped: Callable[[str], str], step: str, student: str, assignment: str) -> str:
        """A pattern for paths: what stands in them as it is, escaped, and patterns for the student and the assignment."""
        fields = {"nbgrader_step": escaped(self._named(step)), "student_id": student, "assignment_id": assignment}
        parts = Formatter().parse(self.template)
        filled = "".join(escaped(text) + fields.get(field or "", "") for text, field, _, _ in parts)
        return filled if os.path.isabs(self.template) else escaped(os.path.join(self.root, "")) + filled


@contextmanager
def plainly_named(folder: Path) -> Iterator[Path]:
    """A folder by a path that nbgrader does not take for a pattern: a link to it, where its own is one."""
    if not glob.has_magic(str(folder)):
        yield folder
        return
    with TemporaryDirectory() as elsewhere:
        link = Path(elsewhere, "course")
        link.symlink_to(folder)
        yield link


def beside(folder: Path, what: str) -> Path:
    """Where something lies beside a folder while it is worked on: a draft ("new"), what it replaces ("old"), a mark ("begun")."""
    return folder.with_name(f".{folder.name}.{what}")


def _is_file_or_draft(path: Path) -> bool:
    return path.is_file() or DRAFT.fullmatch(path.name) is not None


class Patterns(logging.Filter):
    """Has nbgrader say what to do where it finds nothing because it takes part of a course's own path for a pattern."""

    def filter(self, record: logging.LogRecord) -> bool:
        found = IN_VAIN.match(record.getMessage())
        sought = Path(found[1]) if found else Path()
        if any(glob.has_magic(path.name) and path.exists() for path in (sought, *sought.parents)):
            record.msg, record.args = f"{record.getMessage()}. {TAKEN_FOR_A_PATTERN}", ()
        return True


TAKEN_FOR_A_PATTERN = (
    "nbgrader takes [, ? and * in this path for a pattern: rename the folder, or make a link to the course whose path has none, "
    "and set c.CourseDirectory.root to that."
)
