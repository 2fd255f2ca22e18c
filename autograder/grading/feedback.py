"""Feedback pages by nbgrader's own converter, several students at a time."""

from __future__ import annotations

from pathlib import Path

from nbconvert.writers import FilesWriter
from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.utils import chdir

from autograder.course import Course
from autograder.grading.logs import collected_warnings


class Pages:
    """nbgrader's converter, set up once: compiling its templates takes longer than filling them in."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.converter = GenerateFeedback(coursedir=course.directory, config=course.config, force=True)
        self.converter.writer = FilesWriter(parent=self.converter, config=self.converter.config)
        self.converter.exporter = self.converter.exporter_class(parent=self.converter, config=self.converter.config)
        for preprocessor in self.converter.preprocessors:
            self.converter.exporter.register_preprocessor(preprocessor)

    def make(self, assignment: str, student: str) -> str:
        """Write one student's pages; return the reason if that fails, else ""."""
        folder = self.course.folder("autograded", student, assignment)
        self.converter.assignments = {str(folder): sorted(map(str, folder.glob("*.ipynb")))}
        with collected_warnings() as log, chdir(str(self.course.root)):
            try:
                self.converter.convert_notebooks()
            except NbGraderException:
                return "\n".join(log)
        return ""


_pages: Pages


def open_course(root: Path) -> None:
    """Have this process make feedback for the course in a folder."""
    global _pages
    _pages = Pages(Course(root))


def feed_back(assignment: str, student: str) -> str:
    """Write one student's pages in the course that was opened; return the reason if that fails, else ""."""
    return _pages.make(assignment, student)
