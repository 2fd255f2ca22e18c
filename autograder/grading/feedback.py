"""Feedback pages by nbgrader's own converter, several students at a time."""

from __future__ import annotations

from glob import escape
from pathlib import Path

from nbconvert.writers import FilesWriter
from nbgrader.converters.base import NbGraderException
from nbgrader.utils import chdir, temp_attrs
from traitlets.config import Config

from autograder.folder import Course
from autograder.grading.logs import collected_warnings
from autograder.plugins.pages import PageExporter
from autograder.plugins.renewing import Renewal


class Pages:
    """nbgrader's converter, set up once: compiling its templates takes longer than filling them in."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.ignore = list(course.directory.ignore)
        config = Config({"GenerateFeedback": {"exporter_class": PageExporter}})
        config.merge(course.config)
        self.converter = Renewal(coursedir=course.directory, config=config, force=True)
        self.converter.writer = FilesWriter(parent=self.converter, config=self.converter.config)
        self.converter.exporter = self.converter.exporter_class(parent=self.converter, config=self.converter.config)
        for preprocessor in self.converter.preprocessors:
            self.converter.exporter.register_preprocessor(preprocessor)

    def make(self, assignment: str, student: str) -> tuple[str, list[str]]:
        """Write one student's pages; return the reason if that fails, else "", and what there is to be said of them."""
        with self.course.under_a_plain_name():
            return self._made(assignment, student)

    def _made(self, assignment: str, student: str) -> tuple[str, list[str]]:
        folder = self.course.folder("autograded", student, assignment)
        links = [escape(path.name) for path in folder.rglob("*") if path.is_symlink()]
        # nbgrader would copy what they lead to
        self.converter.coursedir.ignore = [*self.ignore, *links]
        path = self.converter._format_source(assignment, student)
        self.converter.assignments = {path: [f"{path}/{one.name}" for one in sorted(folder.glob("*.ipynb"))]}
        asked = temp_attrs(self.converter.coursedir, assignment_id=assignment, student_id=student)
        with collected_warnings() as log, chdir(self.course.directory.root), asked:
            try:
                self.converter.convert_notebooks()
            except NbGraderException:
                return _reason(log), []
        return "", log


def _reason(log: list[str]) -> str:
    """The last line of the traceback that nbgrader has logged; all that it logged, where there is none."""
    tracebacks = [message.strip() for message in log if message.startswith("Traceback")]
    return tracebacks[-1].splitlines()[-1] if tracebacks else "\n".join(log)


_pages: Pages


def open_course(root: Path) -> None:
    """Have this process make feedback for the course in a folder."""
    global _pages
    _pages = Pages(Course(root))


def feed_back(assignment: str, student: str) -> tuple[str, list[str]]:
    """Write one student's pages in the course that was opened: what `Pages.make` says."""
    return _pages.make(assignment, student)
