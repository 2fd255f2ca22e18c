"""Submissions from a zip as Canvas or Moodle makes it; nbgrader's `zip_collect` puts them in place."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile, ZipInfo

from nbgrader.apps import ZipCollectApp
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import FileNameCollectorPlugin

from autograder.folder import Course
from autograder.grading.logs import collected_warnings
from autograder.grading.snapshot import read_snapshot, registered
from autograder.lms import archive, moodle
from autograder.lms.collected import Origin, keep
from autograder.lms.marks import read_roster
from autograder.lms.sheet import match
from autograder.plugins.collecting import Told, told, unknown, whose
from autograder.plugins.printable import printable
from autograder.plugins.roster import Roster
from autograder.problems import FAILED, Problem

NOTEBOOK = ".ipynb"


@dataclass
class Collected:
    """What became of a zip.

    Attributes:
        placed: who has a submission now that was not there.
        same: who had the very same already.
        kept: who has another one, which was left as it was.
        late: whom the LMS calls late.
        older: files that a newer one of the same student took the place of, each with that.
        unplaced: files that are nobody's submission, and why.
    """

    placed: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    older: list[tuple[str, str]] = field(default_factory=list)
    unplaced: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class _File:
    entry: ZipInfo
    told: Told

    @property
    def name(self) -> str:
        return printable(self.entry.filename)


def collect(course: Course, assignment: str, path: Path, worksheet: Path | None = None) -> Collected:
    """Put the submissions of a zip where nbgrader expects them. Nothing that is there already is changed.

    Args:
        worksheet: Moodle's grading worksheet of the assignment, which says whose number is whose where names do not.

    Raises:
        Problem: there is no such assignment, or the zip cannot be used; nothing was put anywhere.
    """
    registered(course, assignment)
    read_snapshot(course, assignment)
    roster = read_roster(course)
    collected = Collected()
    with archive.opened(path) as zipped:
        found = _owned(zipped, roster, _participants(worksheet, assignment, roster), collected)
        chosen = {student: _newest(files, collected) for student, files in found.items()}
        fresh = {
            student: own
            for student, own in chosen.items()
            if _is_new(course, assignment, student, own, zipped, collected)
        }
        with TemporaryDirectory() as folder:
            _place(course, assignment, zipped, fresh, Path(folder))
    collected.placed = sorted(fresh)
    taken = {student: own for student, own in chosen.items() if student not in collected.kept}
    collected.late = sorted(student for student, own in taken.items() if _late(own))
    keep(course, assignment, {student: _origin(own) for student, own in taken.items()})
    return collected


def _participants(worksheet: Path | None, assignment: str, roster: Roster) -> dict[str, str] | None:
    if worksheet is None:
        return None
    whose_rows = match(moodle.read(worksheet, assignment), roster).whose
    return {row.number: student for student, row in whose_rows.items() if row.number}


def _owned(
    zipped: ZipFile, roster: Roster, participants: dict[str, str] | None, collected: Collected
) -> dict[str, list[_File]]:
    """By student, the notebooks that are theirs."""
    found: dict[str, list[_File]] = {}
    for entry in archive.files(zipped):
        name, file = printable(entry.filename), told(entry.filename)
        if file is None:
            collected.unplaced.append((name, "neither Canvas nor Moodle names a student's file like this"))
        elif os.path.splitext(entry.filename)[1] != NOTEBOOK:
            collected.unplaced.append((name, "it is no notebook"))
        elif len(students := whose(file, roster, participants)) != 1:
            by_number = file.system == "moodle" and participants is not None
            why = (
                f"the worksheet does not say who number {file.user} is"
                if by_number
                else unknown(file, roster, students)
            )
            collected.unplaced.append((name, why))
        else:
            found.setdefault(students.pop(), []).append(_File(entry, file))
    for student, files in list(found.items()):
        if len({(file.told.system, file.told.user) for file in files}) > 1:
            why = f"it is one of several people's there who would all be {student} here"
            collected.unplaced += [(file.name, why) for file in found.pop(student)]
    return found


def _newest(files: list[_File], collected: Collected) -> dict[str, _File]:
    """By notebook, the file that was handed in last."""
    newest: dict[str, _File] = {}
    for file in sorted(files, key=lambda file: file.told.order):
        newest[file.told.file_id] = file
    for file in files:
        if newest[file.told.file_id] is not file:
            collected.older.append((file.name, newest[file.told.file_id].name))
    return newest


def _is_new(
    course: Course, assignment: str, student: str, own: dict[str, _File], zipped: ZipFile, collected: Collected
) -> bool:
    """Whether there is nothing of this student yet; where there is, it is said what."""
    folder = course.folder("submitted", student, assignment)
    if not os.path.lexists(folder) or (folder.is_dir() and not any(folder.iterdir())):
        return True
    alike = all(archive.same(zipped, file.entry, folder / f"{name}{NOTEBOOK}") for name, file in own.items())
    (collected.same if alike else collected.kept).append(student)
    return False


def _late(own: dict[str, _File]) -> bool:
    return any(file.told.late for file in own.values())


def _origin(own: dict[str, _File]) -> Origin:
    system = next(iter(own.values())).told.system
    return Origin(system, {name: file.entry.filename for name, file in own.items()}, _late(own))


class _Placed(FileNameCollectorPlugin):
    """nbgrader's collector for files whose owners are known: STUDENT/NOTEBOOK.ipynb."""

    def collect(self, submitted_file: str) -> dict[str, str]:
        path = Path(submitted_file)
        return {"student_id": path.parent.name, "file_id": path.stem}


def _place(course: Course, assignment: str, zipped: ZipFile, chosen: dict[str, dict[str, _File]], folder: Path) -> None:
    """Have nbgrader put files where it expects them."""
    extracted = folder / "extracted"
    for student, own in chosen.items():
        for name, file in own.items():
            archive.unpack(zipped, file.entry, extracted / student / f"{name}{NOTEBOOK}")
    if not chosen:
        return
    app = ZipCollectApp(config=course.config)
    app.log_level = logging.ERROR
    app.coursedir = CourseDirectory(parent=app, assignment_id=assignment)
    app.collect_directory_structure = f"{folder}/{{collect_step}}"
    app.collector_plugin = _Placed
    app.init_plugins()
    with collected_warnings() as log:
        try:
            app.process_extracted_files()
        except SystemExit:
            raise Problem(f"nbgrader could not collect: {' '.join(log)}", FAILED) from None
