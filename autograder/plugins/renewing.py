"""Which feedback pages are made again, and how they take the place of those that are there."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback

from autograder.plugins.marked import TOLD
from autograder.plugins.regrade_requests import Request, inbox, place
from autograder.plugins.returning import complete, under_its_own_name
from autograder.plugins.stamping import Marks, Told, is_made_of, made_of, marks
from autograder.plugins.structure import beside

MADE_OF = "made_of"
"""Among what nbgrader tells of a notebook, what its page is made of."""


class Renewal(GenerateFeedback):
    """nbgrader's converter, which also makes pages again where a person has marked since, or work was graded again.

    Pages are made in a folder beside their place. Those that are there stay until the new ones are whole.
    """

    def convert_notebooks(self) -> None:
        try:
            super().convert_notebooks()
        finally:
            for draft in self._drafts:
                shutil.rmtree(draft, ignore_errors=True)

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        draft, place = self._draft(assignment_id, student_id), self._place(assignment_id, student_id)
        shutil.rmtree(draft, ignore_errors=True)
        if not super().init_destination(assignment_id, student_id):
            return False
        if not self.force and self._may_stay(assignment_id, student_id):
            self.log.info("Skipping existing assignment: %s", place)
            return False
        self._drafts.append(draft)
        draft.mkdir(parents=True)
        return True

    def _may_stay(self, assignment_id: str, student_id: str) -> bool:
        """Whether a student's pages are left as they are: nbgrader's rule, and no page shows other marks than there are now.

        Where all notebooks are asked for, a page that somebody has removed is not missed; that is nbgrader's rule too.
        """
        place, source = self._place(assignment_id, student_id), self._format_source(assignment_id, student_id)
        notebooks = [Path(name) for name in self.notebooks]
        there = [path for path in notebooks if (place / f"{path.stem}{self.exporter.file_extension}").exists()]
        if not place.exists() or (self.coursedir.notebook_id != "*" and there != notebooks):
            return False
        new, old = (self.coursedir.get_existing_timestamp(str(folder)) for folder in (source, place))
        if new is not None and old is not None and new > old:
            return False
        if not getattr(self.exporter, "renew", True):
            return True
        return are_current(place, there, student_id, self._marks(assignment_id))

    def set_permissions(self, assignment_id: str, student_id: str) -> None:
        """The last step but for hooks: the pages are ready, and go where they belong."""
        draft, place = self._draft(assignment_id, student_id), self._place(assignment_id, student_id)
        course = self.coursedir
        submitted = Path(course.format_path(course.submitted_directory, student_id, assignment_id))
        under_its_own_name(draft, submitted, assignment_id)
        super().set_permissions(assignment_id, student_id)
        if self.coursedir.notebook_id != "*" and place.exists():
            for path in [path for path in draft.rglob("*") if path.is_file()]:
                target = place / path.relative_to(draft)
                target.parent.mkdir(parents=True, exist_ok=True)
                path.replace(target)
            return
        old = beside(place, "old")
        shutil.rmtree(old, ignore_errors=True)
        if place.exists():
            place.rename(old)
        draft.rename(place)
        shutil.rmtree(old, ignore_errors=True)

    def init_single_notebook_resources(self, notebook_filename: str) -> dict[str, Any]:
        resources: dict[str, Any] = super().init_single_notebook_resources(notebook_filename)
        info = resources["nbgrader"]
        marks = self._marks(info["assignment"])
        info[MADE_OF] = made_of(Path(notebook_filename), info["student"], marks)
        info[TOLD] = marks.get((info["student"], info["notebook"]), Told())
        return resources

    def run_pre_convert_hook(self) -> None:
        complete(self.coursedir, self.coursedir.assignment_id)
        super().run_pre_convert_hook()

    def _marks(self, assignment_id: str) -> Marks:
        if assignment_id not in self._known_marks:
            with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
                self._known_marks[assignment_id] = marks(
                    gradebook, assignment_id, self._asked(assignment_id, gradebook)
                )
        return self._known_marks[assignment_id]

    def _asked(self, assignment_id: str, gradebook: Gradebook) -> tuple[Request, ...]:
        try:
            return inbox(self.coursedir, gradebook).of(assignment_id)
        except OSError as error:  # pages are made all the same
            self.log.warning("Regrade requests are on no page: %s cannot be read: %s", place(self.coursedir), error)
            return ()

    @cached_property
    def _known_marks(self) -> dict[str, Marks]:
        return {}

    @cached_property
    def _drafts(self) -> list[Path]:
        return []

    def _format_dest(self, assignment_id: str, student_id: str, escape: bool = False) -> str:
        return str(self._draft(assignment_id, student_id))  # wherever nbgrader writes, it writes there

    def _draft(self, assignment_id: str, student_id: str) -> Path:
        return beside(self._place(assignment_id, student_id), "new")

    def _place(self, assignment_id: str, student_id: str) -> Path:
        return Path(super()._format_dest(assignment_id, student_id))


def are_current(pages: Path, notebooks: Iterable[Path], student: str, marks: Marks) -> bool:
    """Whether the pages in a folder were made of these graded notebooks, and of the marks as they are.

    Raises:
        OSError: a notebook is not there.
    """
    return all(is_made_of(pages / f"{path.stem}.html", made_of(path, student, marks)) for path in notebooks)
