"""Submissions from a zip as Canvas or Moodle makes it; nbgrader's `zip_collect` puts them in place."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Collection, Iterable
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
from autograder.grading.logs import collected_warnings
from autograder.grading.snapshot import read_snapshot, registered
from autograder.grading.store import only_run
from autograder.grading.submission import read_submission, why_it_waits
from autograder.lms import moodle
from autograder.lms.collected import Origin, keep, origins
from autograder.lms.marks import read_roster
from autograder.lms.sheet import match
from autograder.plugins import archive
from autograder.plugins.archive import Member
from autograder.plugins.bounds import LARGEST_FILE, size
from autograder.plugins.collecting import NOTEBOOK, TEXT, Told, taken, told, unknown, whose
from autograder.plugins.handing_in import TIMESTAMP
from autograder.plugins.printable import printable
from autograder.plugins.roster import Roster
from autograder.problems import FAILED, OF_PEOPLE, Problem, nearest

REPLACED = "replaced"
"""The folder beside `submitted` to which goes what something else took the place of. Nothing there is graded."""
MOST_OTHERS = 20
"""Files of a student without a notebook that are put where a person looks for them."""
STANDINGS = SAME, NEWER, OLDER, OTHER = "same", "newer", "older", "other"
"""How what is in a zip stands to what is there: nothing new; newer, as far as anybody knows; older; nobody knows."""


@dataclass
class Collected:
    """What became of a zip.

    Attributes:
        placed: who has a submission now and had none.
        replaced: who has another one now, and where the one that was there is.
        waiting: of these, and of those who handed in no notebook, who waits for a person, and why.
        same: who has the very same, or had it when it was collected before.
        kept: who has another one, which was left as it was.
        newer: of these, whose in the zip is newer, and what it is called there.
        behind: whose in the zip is older than the one that was collected before, which was left as it was.
        late: whom the LMS calls late.
        older: files that a newer one of the same student took the place of, each with that.
        texts: who typed something into Moodle's page, and whether a notebook came with it.
        unplaced: files that are nobody's submission, and why.
        owners: by file, whose it is, where that is known.
    """

    placed: list[str] = field(default_factory=list)
    replaced: dict[str, Path] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    same: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    newer: dict[str, str] = field(default_factory=dict)
    behind: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    older: list[tuple[str, str]] = field(default_factory=list)
    texts: dict[str, bool] = field(default_factory=dict)
    unplaced: list[tuple[str, str]] = field(default_factory=list)
    owners: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def complete(self) -> bool:
        """Whether everybody whose work is in the zip has that, or what is newer, in its place, and it can be graded."""
        return not (self.unplaced or self.kept or self.waiting) and all(self.texts.values())


@dataclass(frozen=True)
class _File:
    member: Member
    told: Told

    @property
    def name(self) -> str:
        return printable(self.member.name)


_Own = dict[str, _File]
"""A student's files by the notebook's own name."""


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
        newer: put what is newer in the place of what is there, which goes to the folder `replaced`.
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
            others: dict[str, list[Member]] = {}
            found = _owned(members, roster, _participants(worksheet, assignment, roster), collected, others)
            if students:
                found = _only(students, found, collected)
                others = {student: own for student, own in others.items() if student in students}
            chosen = {student: own for student, files in found.items() if (own := _newest(files, collected))}
            records = _records(chosen, collected)
            collected.texts = {one: one in records for one in collected.texts}
            standing = _standing(course, assignment, records)
            instead = _wanted(course, assignment, records, standing, newer, students)
            fresh = [one for one in records if one not in standing]
            _put(
                course,
                assignment,
                {one: chosen[one] for one in fresh},
                {one: chosen[one] for one in instead},
                collected,
            )
            others = {one: own for one, own in others.items() if snapshot.ours and one not in chosen}
            _place_others(course, assignment, others)
    except archive.Refused as error:
        raise Problem(str(error)) from None
    for student in sorted({*fresh, *instead, *others} if snapshot.ours else ()):
        submission = read_submission(course, student, snapshot)
        if why := why_it_waits(submission, snapshot):
            collected.waiting[student] = why
    left = {how: sorted(one for one in standing.keys() - instead if standing[one] == how) for how in STANDINGS}
    collected.placed, collected.same, collected.behind = sorted(fresh), left[SAME], left[OLDER]
    collected.kept = sorted(left[NEWER] + left[OTHER])
    collected.newer = {one: ", ".join(file.name for file in chosen[one].values()) for one in left[NEWER]}
    here = sorted([*fresh, *instead, *collected.same])
    collected.late = [one for one in here if records[one].late]
    keep(course, assignment, {one: records[one] for one in here})
    return collected


# ------------------------------------------------------------------------------------------------ whose files these are


def _participants(worksheet: Path | None, assignment: str, roster: Roster) -> dict[str, str] | None:
    if worksheet is None:
        return None
    whose_rows = match(moodle.read(worksheet, assignment).rows, roster).whose
    return {row.number: student for student, row in whose_rows.items() if row.number}


def _owned(
    members: Iterable[Member],
    roster: Roster,
    participants: dict[str, str] | None,
    collected: Collected,
    others: dict[str, list[Member]],
) -> dict[str, list[_File]]:
    """By student, the notebooks that are theirs; what else is theirs goes into `others`."""
    found: dict[str, list[_File]] = {}
    for upload, together in _uploads(members).items():
        name, first = printable(upload), told(together[0].name)
        if first is None:
            collected.unplaced.append((name, "neither Canvas nor Moodle names a student's file like this"))
            continue
        students = whose(first, roster, participants)
        student = next(iter(students)) if len(students) == 1 else ""
        if student:
            collected.owners[name] = student
        if first.kind == TEXT:
            collected.texts[student or first.name] = False
        elif (file := _notebook(upload, together, collected)) is None:
            if student:
                others.setdefault(student, []).extend(together)
        elif not student:
            by_number = first.system == "moodle" and participants is not None
            why = (
                f"the worksheet does not say who number {first.user} is"
                if by_number
                else unknown(first, roster, students)
            )
            collected.unplaced.append((name, why))
        else:
            collected.owners[file.name] = student
            found.setdefault(student, []).append(file)
    for student, files in list(found.items()):
        if len({(file.told.system, file.told.user) for file in files}) > 1:
            why = f"it is one of several people's there who would all be {student} here"
            collected.unplaced += [(file.name, why) for file in found.pop(student)]
    return found


def _uploads(members: Iterable[Member]) -> dict[str, list[Member]]:
    """What was handed in, each file for itself, a folder or a zip as one thing."""
    found: dict[str, list[Member]] = {}
    for member in members:
        file = told(member.name)
        found.setdefault(file.upload if file else member.name, []).append(member)
    return found


def _notebook(upload: str, together: list[Member], collected: Collected) -> _File | None:
    """The one notebook in what was handed in as one thing; where there is none to take, it is said why."""
    by_name = {member.name: member for member in together}
    name, why = upload, next((member.refused for member in together if member.refused), "")
    if not why and set(by_name) != {upload}:
        try:
            name = taken(sorted(by_name), upload)
        except ValueError as error:
            why = str(error)
    elif not why and os.path.splitext(upload)[1] != NOTEBOOK:
        why = "it is no notebook"
    if not why and name != upload and by_name[name].entry.file_size > LARGEST_FILE:
        why = f"the notebook in it is larger than {size(LARGEST_FILE)}"
    if why:
        collected.unplaced.append((printable(upload), why))
        return None
    file = told(name)
    return _File(by_name[name], file) if file else None


def _only(students: Collection[str], found: dict[str, list[_File]], collected: Collected) -> dict[str, list[_File]]:
    """What is these students'; of others nothing is said."""
    collected.unplaced = [one for one in collected.unplaced if collected.owners.get(one[0]) in students]
    collected.texts = {one: False for one in collected.texts if one in students}
    named = {collected.owners.get(file) for file, _ in collected.unplaced} | collected.texts.keys()
    missing = [one for one in students if one not in found and one not in named]
    collected.unplaced += [(one, "the zip has nothing of theirs") for one in missing]
    return {student: files for student, files in found.items() if student in students}


def _newest(files: list[_File], collected: Collected) -> _Own:
    """By notebook, the file that was handed in last."""
    newest: _Own = {}
    for file in sorted(files, key=lambda file: file.told.order):
        newest[file.told.file_id] = file
    for file in files:
        if newest[file.told.file_id] is not file:
            collected.older.append((file.name, newest[file.told.file_id].name))
    return newest


# ---------------------------------------------------------------------------------------- what is there, and what is new


def _records(chosen: dict[str, _Own], collected: Collected) -> dict[str, Origin]:
    """What is to be kept of each student's files.

    Raises:
        Refused: one is damaged. In a zip in the zip it is named, and is nobody's submission.
    """
    found: dict[str, Origin] = {}
    for student, own in chosen.items():
        files = {name: file.told.upload for name, file in own.items()}
        late = any(file.told.late for file in own.values())
        try:
            contents = {name: file.member.sha256 for name, file in own.items()}
        except archive.Refused as error:
            if all(file.told.upload == file.member.name for file in own.values()):
                raise
            collected.unplaced += [(printable(name), str(error)) for name in files.values()]
            continue
        times = [
            datetime(*file.member.entry.date_time) for file in own.values() if file.member.entry.date_time[0] > 1980
        ]
        packed = max(times).isoformat() if times else ""
        found[student] = Origin(next(iter(own.values())).told.system, files, late, contents, packed)
    return found


def _standing(course: Course, assignment: str, records: dict[str, Origin]) -> dict[str, str]:
    """How the files of everybody of whom something is there stand to that."""
    before = origins(course, assignment)
    found: dict[str, str] = {}
    for student, record in records.items():
        folder = course.folder("submitted", student, assignment)
        if not os.path.lexists(folder) or (folder.is_dir() and not any(folder.iterdir())):
            continue
        last = before.get(student)
        if (last and last.contents == record.contents) or _is_there(course, assignment, student, record):
            found[student] = SAME
        elif last:
            found[student] = OLDER if _came_before(record, last) else NEWER
        else:
            found[student] = OTHER if os.path.lexists(folder / TIMESTAMP) else NEWER
    return found


def _wanted(
    course: Course,
    assignment: str,
    records: dict[str, Origin],
    standing: dict[str, str],
    newer: bool,
    students: Collection[str],
) -> list[str]:
    """Whose files are to take the place of what is there."""
    if newer:
        return [one for one, how in standing.items() if how == NEWER]
    return [one for one in standing if one in students and not _is_there(course, assignment, one, records[one])]


def _is_there(course: Course, assignment: str, student: str, record: Origin) -> bool:
    """Whether a student's folder has notebooks with the same bytes, whatever they are called."""
    there = set()
    for path in course.folder("submitted", student, assignment).glob(f"*{NOTEBOOK}"):
        with suppress(OSError):
            if path.is_file() and not path.is_symlink():
                with path.open("rb") as file:
                    there.add(hashlib.file_digest(file, "sha256").hexdigest())
    return set(record.contents.values()) <= there


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


def _put(
    course: Course, assignment: str, fresh: dict[str, _Own], instead: dict[str, _Own], collected: Collected
) -> None:
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


def _place_others(course: Course, assignment: str, others: dict[str, list[Member]]) -> None:
    """Put what somebody handed in who handed in no notebook where their submission would be, so that a person looks at it."""
    for student, own in others.items():
        folder = course.folder("submitted", student, assignment)
        for member in own[:MOST_OTHERS] if not os.path.lexists(folder) else ():
            file = told(member.name)
            with suppress(FileExistsError, archive.Refused):  # under one name the first will do
                if file:
                    member.unpack(folder / f"{file.file_id}{os.path.splitext(member.name)[1]}")


class _Placed(FileNameCollectorPlugin):
    """nbgrader's collector for files whose owners are known: STUDENT/NOTEBOOK.ipynb."""

    def collect(self, submitted_file: str) -> dict[str, str]:
        path = Path(submitted_file)
        return {"student_id": path.parent.name, "file_id": path.stem}


def _place(course: Course, assignment: str, chosen: dict[str, _Own]) -> None:
    """Have nbgrader put files where it expects them."""
    if not chosen:
        return
    with TemporaryDirectory() as folder:
        for student, own in chosen.items():
            for name, file in own.items():
                file.member.unpack(Path(folder, "extracted", student, f"{name}{NOTEBOOK}"))
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
