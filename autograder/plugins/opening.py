"""The exporters that nbgrader makes once it has found the submissions, and before it begins the first.

They say whose turn it is, and how each is read.
"""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import ExecutePreprocessor
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, BaseConverter, GenerateAssignment
from nbgrader.converters.base import NbGraderException

from autograder.plugins.agreeing import outdated_in
from autograder.plugins.bookkeeping import trouble_with, wait_for_a_person
from autograder.plugins.bounds import Refused, content
from autograder.plugins.executing import unusable
from autograder.plugins.files_beside import GIVEN, beside
from autograder.plugins.handing_in import TIMESTAMP, misnamed, only_copy, restate, says_a_time
from autograder.plugins.judges import Judge, judge_of
from autograder.plugins.printable import printable
from autograder.plugins.reading import (
    LEFT_OUT,
    UNREAD,
    clear,
    files_in,
    lying_beside,
    notebook_in,
    refused,
    unwanted,
    why_not_read,
)
from autograder.plugins.repairing import (
    RELEASED,
    OfficialCell,
    Released,
    answers_in,
    as_released,
    official_cells,
    released_in,
)
from autograder.plugins.structure import NOBODY, QUARANTINE, Structure
from autograder.plugins.submitted import file_of, notebook_of

TRUSTED = ("nbconvert.preprocessors.", "nbgrader.preprocessors.", "autograder.plugins.")


class TolerantExporter(NotebookExporter):
    """nbconvert's exporter of notebooks, which reads submissions whatever state they are in.

    nbgrader has one of them read each notebook twice, as it was handed in and then as it was sanitised. What the first reading
    refuses is not run: the resources have the reason in `resources["nbgrader"]["refused"]`.

    Raises:
        NbGraderException: the gradebook cannot be used, or gives other points than the exercises; the log says what to do.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._refused: dict[tuple[str, str], Exception] = {}
        if isinstance(self.parent, Autograde):
            _refuse(self.parent, unusable(self.parent.config))
            take_up(self.parent, "submitted", self._judged)
            _refuse_outdated(self.parent)
            self._take_only_copies(self.parent)
            self._clear_all(self.parent)

    @property
    def _judge(self) -> Judge:
        return judge_of(self.config)

    @property
    def _judged(self) -> tuple[str, ...]:
        return self._judge.notebooks

    @cached_property
    def _released(self) -> Released:
        course = self.parent.coursedir
        source = Structure.of(course).folder("source", NOBODY, course.assignment_id)
        return released_in(source / f"{course.assignment_id}.ipynb")

    @cached_property
    def _official(self) -> list[OfficialCell]:
        """The cells of the judge's notebook that is graded."""
        course = self.parent.coursedir
        with Gradebook(course.db_url, course.course_id) as gradebook:
            return official_cells(gradebook, course.assignment_id, course.assignment_id)

    @cached_property
    def _given(self) -> dict[str, Path]:
        """The instructor's files as they are in this run, which has this exporter to itself."""
        converter = self.parent
        return beside(converter.coursedir, converter.coursedir.assignment_id, converter.config)

    def from_filename(self, filename: str, resources: Any = None, **keywords: Any) -> tuple[str, dict[str, Any]]:
        if resources is None or "nbgrader" not in resources:
            return super().from_filename(filename, resources, **keywords)
        path, info = Path(filename), resources["nbgrader"]
        ours = info["notebook"] in self._judged
        place = (info["student"], info["notebook"])
        resources["metadata"] = ResourcesDict(name=path.stem, path=str(path.parent))
        if isinstance(self.parent, Autograde):
            without_copy(self.parent, info, path)
            if info["assignment"] not in self._judged:
                info[GIVEN] = self._given
            elif ours:
                info[RELEASED] = self._released
                structure, whose = Structure.of(self.parent.coursedir), (info["student"], info["assignment"])
                folder, kept = (structure.folder(step, *whose) for step in ("submitted", QUARANTINE))
                info[LEFT_OUT] = lying_beside(folder, kept, info["assignment"])
        try:
            found = path if path.exists() or not ours else only_copy(path.parent, info["assignment"]) or path
            data = content(found)
            notebook = notebook_of(data, info["notebook"], self._judge) if ours else notebook_in(data, False)
        except (Refused, OSError) as error:
            self._refused[place] = error
            self.log.warning("%s of %s waits for a person: %s", info["notebook"], info["student"], why_not_read(error))
            notebook = refused(error)
        info["refused"] = place in self._refused
        return self.from_notebook_node(notebook, resources, **keywords)

    def _validate_preprocessor(self, notebook: NotebookNode, preprocessor: Any) -> None:
        """nbconvert looks at the whole notebook after each. Its own, nbgrader's and these plug-ins leave a valid one valid, but for what cells
        show when they run."""
        ran = isinstance(preprocessor, ExecutePreprocessor) and preprocessor.enabled
        if ran or not type(preprocessor).__module__.startswith(TRUSTED):
            super()._validate_preprocessor(notebook, preprocessor)

    def _take_only_copies(self, converter: Autograde) -> None:
        """Have nbgrader look for the one notebook of a submission under the assignment's name, whatever name it has."""
        assignment = converter.coursedir.assignment_id
        for name in converter.assignments if assignment in self._judged else ():
            if only_copy(Path(name), assignment):
                converter.assignments[name] = [os.path.join(name, f"{assignment}.ipynb")]

    def _clear_all(self, converter: Autograde) -> None:
        """Look through the submissions: one that is too much to be copied, or none, is left as it is, for a person.

        A `timestamp.txt` is restated, or moved away, at once, since nbgrader reads it before its pre-convert hook.
        """
        course = converter.coursedir
        for name in sorted(converter.assignments):
            folder, student = Path(name), _student(converter, "submitted", name)
            judged = course.assignment_id if course.assignment_id in self._judged else ""
            restate(folder)
            try:
                if TIMESTAMP in unwanted(folder, judged):
                    clear(folder, _quarantine(converter, student), judged, TIMESTAMP.__eq__)
                if judged:
                    file_of(folder, judged, self._judge, lambda: answers_in(self._official))
                else:
                    files_in(folder, course.ignore, self._given)
            except (Refused, OSError) as error:
                notebooks = [judged] if judged else [Path(path).stem for path in converter.assignments[name]]
                del converter.assignments[name]
                if converter.init_destination(course.assignment_id, student):
                    cells = as_released(self._official) if judged else []
                    _set_aside(converter, student, notebooks, error, cells)


class ReleasingExporter(NotebookExporter):
    """The exporter of releases: nothing is removed or written before it is known that the gradebook can be.

    Raises:
        NbGraderException: it cannot; the log says what to do.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        if isinstance(self.parent, GenerateAssignment) and not self.parent.no_database:
            _refuse_unusable(self.parent)


def without_copy(converter: BaseConverter, info: dict[str, str], path: Path) -> None:
    """Remove the copy that nbgrader has made of a notebook where it takes the student's name for a pattern; it ignores others."""
    copied = Path(converter._format_dest(info["assignment"], info["student"])) / path.name
    if glob.has_magic(info["student"]) and copied != path:
        copied.unlink(missing_ok=True)


def take_up(converter: BaseConverter, step: str, ours: Sequence[str] = ()) -> None:
    """Find the notebooks again that nbgrader found: it takes a student called `[a]` for a pattern.

    Args:
        step: of which folder they are.
        ours: the assignments of which a folder without a notebook counts too: a person looks at it.

    Raises:
        NbGraderException: the gradebook cannot be used; the log says what to do.
    """
    course = converter.coursedir
    _refuse_unusable(converter)
    if not converter.assignments:  # the class command has its own
        return
    converter.assignments = {}
    for place in Structure.of(course).find(step, course.assignment_id, course.student_id):
        folder = converter._format_source(place.assignment, place.student)
        found = glob.glob(os.path.join(glob.escape(folder), f"{course.notebook_id}.ipynb"))
        if trouble := misnamed(place.student):
            converter.log.error(trouble)
        elif found or course.assignment_id in ours:
            converter.assignments[folder] = found


def _refuse_unusable(converter: BaseConverter) -> None:
    """Do nothing at all where the gradebook cannot be used.

    Raises:
        NbGraderException: it cannot; the log says what to do.
    """
    _refuse(converter, trouble_with(converter.coursedir.db_url))


def _refuse(converter: BaseConverter, trouble: str) -> None:
    """End what has begun, and say why, where there is trouble.

    Raises:
        NbGraderException: there is.
    """
    if trouble:
        converter.log.error(trouble)
        raise NbGraderException(trouble)


def _refuse_outdated(converter: Autograde) -> None:
    """Grade nobody where the gradebook gives other points than the exercises.

    Raises:
        NbGraderException: it does; the log says what to do.
    """
    course = converter.coursedir
    judge = judge_of(converter.config)
    _refuse(converter, outdated_in(judge, course.db_url, course.course_id, course.assignment_id))


def _set_aside(
    converter: Autograde, student: str, notebooks: list[str], reason: Exception, cells: list[NotebookNode]
) -> None:
    """Have a person give all marks, in notebooks that say why, with these cells."""
    course = converter.coursedir
    converter.log.warning("%s of %s waits for a person: %s", course.assignment_id, student, why_not_read(reason))
    folder = Path(course.format_path(course.autograded_directory, student, course.assignment_id))
    with Gradebook(course.db_url, course.course_id) as gradebook:
        if not converter.create_student and student not in {known.id for known in gradebook.students}:
            converter.log.error("No student with ID '%s' exists in the database", student)
            return
        gradebook.update_or_create_student(student)
        submission = gradebook.update_or_create_submission(course.assignment_id, student, **_when(converter, student))
        for notebook in submission.notebooks:
            if notebook.name in notebooks:
                folder.mkdir(parents=True, exist_ok=True)
                made = refused(reason)
                del made.metadata[UNREAD]
                made.cells += cells
                nbformat.write(made, str(folder / f"{notebook.name}.ipynb"))
                _keep_time(converter, student, folder)
            wait_for_a_person(gradebook, notebook.grades)
    if folder.is_dir():
        converter.set_permissions(course.assignment_id, student)


def _keep_time(converter: Autograde, student: str, folder: Path) -> None:
    """Copy the file that says when a submission was handed in, by which nbgrader finds a newer one."""
    course = converter.coursedir
    stamp = Path(course.format_path(course.submitted_directory, student, course.assignment_id)) / TIMESTAMP
    with suppress(OSError):
        if not stamp.parent.is_symlink() and says_a_time(stamp):
            shutil.copy(stamp, folder)


def _when(converter: Autograde, student: str) -> dict[str, Any]:
    """When a submission was handed in, where that is known."""
    course = converter.coursedir
    found = None
    with suppress(OSError, ValueError):
        found = course.get_existing_timestamp(
            course.format_path(course.submitted_directory, student, course.assignment_id)
        )
    return {"timestamp": found} if found else {}


def _student(converter: BaseConverter, step: str, folder: str) -> str:
    place = Structure.of(converter.coursedir).whose(step, converter.coursedir.assignment_id, folder)
    return place.student if place else printable(folder)


def _quarantine(converter: BaseConverter, student: str) -> Path:
    course = converter.coursedir
    return Structure.of(course).folder(QUARANTINE, student, course.assignment_id)
