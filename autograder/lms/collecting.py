"""Submissions from a zip as Canvas or Moodle makes it; nbgrader's `zip_collect` puts them in place."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from nbgrader.apps import ZipCollectApp
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import FileNameCollectorPlugin
from traitlets.config import Config

from autograder.folder import Course
from autograder.grading import gradebook
from autograder.grading.logs import collected_warnings
from autograder.grading.snapshot import Snapshot, read_snapshot, registered
from autograder.grading.store import only_run
from autograder.grading.submission import read_submission, why_it_waits
from autograder.lms.collected import Origin, keep, origins
from autograder.lms.marks import read_roster
from autograder.lms.uploads import APART, Chosen, File, Own, Said, choose, only, owned, participants_in, shown
from autograder.plugins import archive
from autograder.plugins.bounds import Refused, below
from autograder.plugins.collecting import NOTEBOOK, told
from autograder.plugins.handing_in import TIMESTAMP
from autograder.plugins.reading import LISTED
from autograder.problems import FAILED, OF_PEOPLE, Problem, nearest

REPLACED = "replaced"
"""The folder beside `submitted` to which goes what something else took the place of. Nothing there is graded."""
STANDINGS = SAME, NEWER, OLDER, OTHER = "same", "newer", "older", "other"
"""How what is in a zip stands to what is there: nothing new; newer, as far as anybody knows; older; nobody knows."""


@dataclass
class Collected(Said):
    """What became of a zip.

    Attributes:
        placed: who has a submission now and had none.
        replaced: who has another one now, and where the one that was there is.
        waiting: of all whose work is in the zip, whose submission waits for a person as it lies there, and why.
        same: who has the very same, or had it when it was collected before.
        kept: who has another one, which was left as it was.
        newer: of these, whose in the zip is newer, and what it is called there.
        aside: whose in the zip is newer, and none that can be graded, as the one is that was left as it was; what it is called there.
        behind: whose in the zip is older than the one that was collected before, which was left as it was.
        late: whom the LMS calls late.
    """

    placed: list[str] = field(default_factory=list)
    replaced: dict[str, Path] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    same: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    newer: dict[str, str] = field(default_factory=dict)
    aside: dict[str, str] = field(default_factory=dict)
    behind: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether everybody whose work is in the zip has that, or what is newer, in its place, and it can be graded."""
        left = self.unplaced or self.kept or self.aside or self.waiting
        return not left and all(with_notebook for _, with_notebook in self.texts.values())


def collect(
    course: Course,
    assignment: str,
    path: Path,
    worksheet: Path | None = None,
    newer: bool = False,
    students: Collection[str] = (),
) -> Collected:
    """Put the submissions of a zip where nbgrader expects them. What is there stays, unless something else is asked for.

    Args:
        worksheet: Moodle's grading worksheet of the assignment, which says whose number is whose where names do not.
        newer: put what is newer in the place of what is there, which goes to the folder `replaced`. What can be graded stays where
            what is newer cannot be.
        students: of whom alone anything is taken; unless it has to be newer, whatever is there.

    Raises:
        Problem: there is no such assignment or student, the zip cannot be used, or somebody is grading; nothing was put anywhere.
    """
    registered(course, assignment)
    snapshot = read_snapshot(course, assignment)
    roster = read_roster(course)
    for student in students:
        if student not in roster.people:
            raise Problem(f"The gradebook has no student {student!r}.{nearest(student, roster.people, OF_PEOPLE)}")
    collected = Collected()
    try:
        with archive.opened(path) as members:
            uploads = owned(members, roster, participants_in(worksheet, assignment, roster), collected)
            if students:
                uploads = only(students, uploads, collected)
            chosen = {student: choose(student, own, snapshot, collected) for student, own in uploads.items()}
            records = _records(chosen, collected)
            standing = _standing(course, assignment, chosen, records)
            aside = [
                one
                for one, how in standing.items()
                if how == NEWER and not chosen[one].is_clear and _is_gradable(course, one, snapshot)
            ]
            placeable = {one for one in records if chosen[one].is_clear or snapshot.ours}
            instead = [
                one
                for one in _wanted(course, assignment, chosen, records, standing, newer, students)
                if one in placeable and not (newer and one in aside)
            ]
            fresh = [one for one in records if one in placeable and one not in standing]
            _put(
                course,
                assignment,
                {one: chosen[one].files for one in fresh},
                {one: chosen[one].files for one in instead},
                collected,
            )
    except archive.Refused as error:
        raise Problem(str(error)) from None
    named = {one: ", ".join(sorted({shown(name) for name in record.files.values()})) for one, record in records.items()}
    collected.aside = {one: named[one] for one in sorted(aside) if one not in instead}
    left = {
        how: sorted(one for one in standing.keys() - {*instead, *aside} if standing[one] == how and one in placeable)
        for how in STANDINGS
    }
    collected.unplaced.sort()
    collected.placed, collected.same, collected.behind = sorted(fresh), left[SAME], left[OLDER]
    collected.kept = sorted(left[NEWER] + left[OTHER])
    collected.newer = {one: named[one] for one in left[NEWER]}
    here = sorted([*fresh, *instead, *collected.same])
    collected.late = [one for one in here if records[one].late]
    keep(course, assignment, {one: records[one] for one in here})
    if snapshot.ours:
        _say_who_waits(course, snapshot, chosen, here, collected)
    return collected


def _say_who_waits(
    course: Course, snapshot: Snapshot, chosen: dict[str, Chosen], here: Collection[str], collected: Collected
) -> None:
    """Say whose submission waits for a person as it lies there. Whom a person has marked since waits no longer."""
    marks: dict[str, list[bool]] = {}
    for grade in gradebook.grades(course, snapshot.assignment):
        marks.setdefault(grade.student, []).append(grade.manual is not None)
    for student in sorted(chosen):
        if not course.folder("submitted", student, snapshot.assignment).is_dir():
            continue
        is_marked = student in collected.same and all(marks.get(student, [False]))
        why = "" if is_marked else why_it_waits(read_submission(course, student, snapshot), snapshot)
        if why:
            notes = chosen[student].notes if student in here else ()
            collected.waiting[student] = f"{why} ({'; '.join(notes)})" if notes else why


# ---------------------------------------------------------------------------------------- what is there, and what is new


def _records(chosen: dict[str, Chosen], collected: Collected) -> dict[str, Origin]:
    """What is to be kept of each student's files.

    Raises:
        Refused: one is damaged. In a zip in the zip it is named, and is nobody's submission.
    """
    found: dict[str, Origin] = {}
    for student in [one for one in chosen if chosen[one].files]:
        own = {path.removesuffix(NOTEBOOK): file for path, file in chosen[student].files.items()}
        files = {name: file.told.upload for name, file in own.items()}
        late = any(file.told.late for file in own.values())
        try:
            contents = {name: file.member.sha256 for name, file in own.items()}
        except archive.Refused as error:
            if all(file.told.upload == file.member.name for file in own.values()):
                raise
            collected.unplaced += [(shown(name), str(error)) for name in files.values()]
            continue
        times = [
            datetime(*file.member.entry.date_time) for file in own.values() if file.member.entry.date_time[0] > 1980
        ]
        packed = max(times).isoformat() if times else ""
        found[student] = Origin(next(iter(own.values())).told.system, files, late, contents, packed)
    return found


def _standing(course: Course, assignment: str, chosen: dict[str, Chosen], records: dict[str, Origin]) -> dict[str, str]:
    """How the files of everybody of whom something is there stand to that."""
    before = origins(course, assignment)
    found: dict[str, str] = {}
    for student, record in records.items():
        folder = course.folder("submitted", student, assignment)
        if not os.path.lexists(folder) or (folder.is_dir() and not any(folder.iterdir())):
            continue
        last = before.get(student)
        if (last and last.contents == record.contents) or _is_there(folder, chosen[student], record):
            found[student] = SAME
        elif last:
            found[student] = OLDER if _came_before(record, last) else NEWER
        else:
            found[student] = OTHER if os.path.lexists(folder / TIMESTAMP) else NEWER
    return found


def _wanted(
    course: Course,
    assignment: str,
    chosen: dict[str, Chosen],
    records: dict[str, Origin],
    standing: dict[str, str],
    newer: bool,
    students: Collection[str],
) -> list[str]:
    """Whose files are to take the place of what is there."""
    if newer:
        return [one for one, how in standing.items() if how == NEWER]
    where = {one: course.folder("submitted", one, assignment) for one in standing if one in students}
    return [one for one, folder in where.items() if not _is_there(folder, chosen[one], records[one])]


def _is_there(folder: Path, chosen: Chosen, record: Origin) -> bool:
    """Whether a student's folder holds what was chosen and no more of its kind. What is alone there may have any name."""
    there = {}
    with suppress(OSError, Refused):
        paths = folder.glob(f"*{NOTEBOOK}") if chosen.is_clear else (Path(entry.path) for entry in below(folder))
        for path in paths:
            if path.is_file() and not path.is_symlink() and path.name not in LISTED:
                with path.open("rb") as file:
                    name = str(path.relative_to(folder)).removesuffix(NOTEBOOK)
                    there[name] = hashlib.file_digest(file, "sha256").hexdigest()
    alone = chosen.is_clear and len(there) == len(record.contents) == 1
    return there == record.contents or (alone and set(there.values()) == set(record.contents.values()))


def _is_gradable(course: Course, student: str, snapshot: Snapshot) -> bool:
    """Whether what is there can be graded without a person."""
    if snapshot.ours:
        return not why_it_waits(read_submission(course, student, snapshot), snapshot)
    return any(course.folder("submitted", student, snapshot.assignment).glob(f"*{NOTEBOOK}"))


def _came_before(record: Origin, last: Origin) -> bool:
    """Whether something says that files were handed in before those that were taken last: Canvas's numbers, `hand_in`, or the zip."""
    ranks = [_ranks(origin) for origin in (record, last)]
    for mine, other in zip(*ranks, strict=True):
        if mine and other and mine != other:
            return mine < other
    return False


def _ranks(origin: Origin) -> tuple[int, str, str]:
    """What grows with each submission; nothing where nothing is known."""
    orders = [file.order for name in origin.files.values() if (file := told(name))]
    return (
        max((order for order, _, _ in orders), default=0),
        max((made for _, made, _ in orders), default=""),
        origin.packed,
    )


# ------------------------------------------------------------------------------------------------------------ in place


def _put(course: Course, assignment: str, fresh: dict[str, Own], instead: dict[str, Own], collected: Collected) -> None:
    """Put files in place, and before that away what is there of those who get others; all of it, or nothing.

    Raises:
        Problem: somebody is grading, or nbgrader cannot place a file.
    """
    if not instead:
        _place(course, assignment, fresh)
        return
    now = f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}"
    moved: dict[Path, Path] = {}
    with only_run(course.class_folder / "graded"):
        try:
            for student in sorted(instead):
                there = course.folder("submitted", student, assignment)
                away = course.class_folder / REPLACED / student / assignment / now
                while os.path.lexists(away):
                    away = away.with_name(f"{away.name}~")
                away.parent.mkdir(parents=True, exist_ok=True)
                there.rename(away)
                moved[there] = collected.replaced[student] = away
            _place(course, assignment, fresh | instead)
        except BaseException:
            for there, away in moved.items():
                if not os.path.lexists(there):
                    away.rename(there)
            raise


class _Placed(FileNameCollectorPlugin):
    """nbgrader's collector for files whose owners are known: STUDENT/NOTEBOOK.ipynb."""

    def collect(self, submitted_file: str) -> dict[str, str]:
        path = Path(submitted_file)
        return {"student_id": path.parent.name, "file_id": path.stem}


def _place(course: Course, assignment: str, chosen: dict[str, Own]) -> None:
    """Have nbgrader put files where it expects them."""
    if not chosen:
        return
    with TemporaryDirectory() as folder:
        for student, own in chosen.items():
            for number, (path, file) in enumerate(own.items()):
                if "/" not in path and file.is_notebook:
                    file.member.unpack(Path(folder, "extracted", student, path))
                else:
                    _unpack(file, Path(folder, "others", student), path, number)
        _collected_by_nbgrader(course, assignment, folder)
        for others in Path(folder, "others").glob("*"):
            shutil.copytree(others, course.folder("submitted", others.name, assignment), dirs_exist_ok=True)


def _unpack(file: File, folder: Path, path: str, number: int) -> None:
    """Write what a person looks at, under a number where its own name, which a student chose, cannot be used."""
    try:
        file.member.unpack(folder / path)
    except OSError:
        file.member.unpack(folder / APART / f"{number}{os.path.splitext(path)[1][:20]}")


def _collected_by_nbgrader(course: Course, assignment: str, folder: str) -> None:
    if not Path(folder, "extracted").exists():
        return
    settings = {name: section for name, section in course.config.items() if name != "Application"}
    app = ZipCollectApp(config=Config(settings))  # which would set up logging for all that this process does
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
