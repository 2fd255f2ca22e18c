"""What each student uploaded, in a zip as Canvas or Moodle makes it, and which of it is taken."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from autograder.grading.snapshot import Snapshot
from autograder.lms import moodle
from autograder.lms.sheet import match
from autograder.plugins import archive
from autograder.plugins.archive import Member
from autograder.plugins.bounds import LARGEST_FILE, size
from autograder.plugins.collecting import (
    FILED,
    LINK,
    NOTEBOOK,
    TEXT,
    Told,
    put_beside,
    taken,
    told,
    unknown,
    whose,
)
from autograder.plugins.printable import printable
from autograder.plugins.reading import LISTED
from autograder.plugins.roster import Roster
from autograder.plugins.submitted import may_be

MOST_OTHERS = 20
"""Files of a student among which no notebook is to be graded, that are put where a person looks for them."""
APART = "uploaded"
"""The folder in a submission for what would count under its own name, and must not."""
PAGES = {TEXT: "text typed into the page.html", LINK: "link.html"}
"""What is handed in and is no file lies in a submission under these names, which `grade` tells."""


LONGEST_SHOWN = 120
"""Letters of a name that are told."""


@dataclass
class Said:
    """What is to be said of the files in a zip.

    Attributes:
        older: files that a newer one of the same student took the place of, each with that.
        picked: folders and zips with several notebooks, of which one alone can be meant, each with that one.
        texts: who typed something into the LMS's page, or handed in a link: which of the two, and whether a notebook came with it.
        unplaced: files that are nobody's submission, and why.
        owners: by file, whose it is, where that is known.
    """

    older: list[tuple[str, str]] = field(default_factory=list)
    picked: list[tuple[str, str]] = field(default_factory=list)
    texts: dict[str, tuple[str, bool]] = field(default_factory=dict)
    unplaced: list[tuple[str, str]] = field(default_factory=list)
    owners: dict[str, str] = field(default_factory=dict, compare=False)


def shown(name: str) -> str:
    """A name from a zip as it is told: what is very long is cut."""
    whole = printable(name)
    return whole if len(whole) <= LONGEST_SHOWN else f"{whole[:LONGEST_SHOWN]}... ({len(name):,} letters)"


@dataclass(frozen=True)
class File:
    """One file in the zip, and what its name tells."""

    member: Member
    told: Told

    @property
    def name(self) -> str:
        return shown(self.member.name)

    @property
    def is_notebook(self) -> bool:
        return os.path.splitext(self.member.name)[1] == NOTEBOOK


@dataclass(frozen=True)
class Upload:
    """What was handed in as one thing: a file, or a folder or zip with all that is in it."""

    path: str
    told: Told
    members: list[Member]

    @property
    def name(self) -> str:
        return shown(self.path)

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, or a zip that was opened."""
        return self.members[0].name != self.path

    @property
    def files(self) -> list[File]:
        """What the student put there, without what programs put beside it."""
        every = [(member, told(member.name)) for member in self.members if not put_beside(member.name)]
        return [File(member, file) for member, file in every if file]


Own = dict[str, File]
"""A student's files by where they go in the submission's folder."""


@dataclass(frozen=True)
class Chosen:
    """What of a student's is to lie in the submission's folder.

    Attributes:
        files: which files.
        is_clear: whether these are notebooks to be graded; else a person looks what is there, or which one counts.
        notes: what a person is to know of them beside that.
    """

    files: Own
    is_clear: bool
    notes: tuple[str, ...] = ()


# ------------------------------------------------------------------------------------------------ whose files these are


def participants_in(worksheet: Path | None, assignment: str, roster: Roster) -> dict[str, str] | None:
    """By Moodle's numbers for them in this assignment, who the students are; None where there is no worksheet that says so.

    Raises:
        Problem: it cannot be read.
    """
    if worksheet is None:
        return None
    whose_rows = match(moodle.read(worksheet, assignment).rows, roster).whose
    return {row.number: student for student, row in whose_rows.items() if row.number}


def owned(
    members: Iterable[Member], roster: Roster, participants: dict[str, str] | None, said: Said
) -> dict[str, list[Upload]]:
    """By student, what is theirs. What is nobody's for certain is named."""
    found: dict[str, list[Upload]] = {}
    for path, together in _together(members).items():
        name, file = shown(path), told(path)
        if file is None:
            said.unplaced.append((name, "neither Canvas nor Moodle names a student's file like this"))
            continue
        students = whose(file, roster, participants)
        if len(students) == 1:
            (student,) = students
            found.setdefault(student, []).append(Upload(path, file, together))
            said.owners |= dict.fromkeys([name, *(shown(member.name) for member in together)], student)
            continue
        by_number = file.system == "moodle" and participants is not None
        why = f"the worksheet does not say who number {file.user} is" if by_number else unknown(file, roster, students)
        said.unplaced.append((name, why))
    for student, uploads in list(found.items()):
        if len({(upload.told.system, upload.told.user) for upload in uploads}) > 1:
            why = f"it is one of several people's there who would all be {student} here"
            said.unplaced += [(upload.name, why) for upload in found.pop(student)]
    return found


def _together(members: Iterable[Member]) -> dict[str, list[Member]]:
    """What was handed in, each file for itself, a folder or a zip as one thing."""
    found: dict[str, list[Member]] = {}
    for member in members:
        file = told(member.name)
        found.setdefault(file.upload if file else member.name, []).append(member)
    return found


def only(students: Collection[str], uploads: dict[str, list[Upload]], said: Said) -> dict[str, list[Upload]]:
    """What is these students'; of others nothing is said."""
    said.unplaced = [one for one in said.unplaced if said.owners.get(one[0]) in students]
    named = {said.owners[file] for file, _ in said.unplaced} | uploads.keys()
    said.unplaced += [(one, "the zip has nothing of theirs") for one in students if one not in named]
    return {student: own for student, own in uploads.items() if student in students}


# ------------------------------------------------------------------------------------------------------- which of them


def choose(student: str, uploads: list[Upload], snapshot: Snapshot, said: Said) -> Chosen:
    """Which of a student's files are taken, and whether a person has to look at them. What is left is named."""
    single: list[File] = []
    several: list[File] = []
    others: list[File] = []
    left: list[tuple[str, str]] = []
    for upload in uploads:
        try:
            found, why = _notebooks(upload, snapshot)
        except archive.Refused as error:
            said.unplaced.append((upload.name, str(error)))
            continue
        if len(found) == 1:
            single += found
            if why:
                said.picked.append((upload.name, found[0].name))
        elif found:
            several += found
        else:
            others += upload.files
            if why:
                left.append((upload.name, why))
    newest, tied = _newest(single, said)
    if tied and not snapshot.ours:
        left += [(file.name, "there are several of this name, and nothing says which is newer") for file in tied]
    for kind in {upload.told.kind for upload in uploads} - {FILED}:
        said.texts[student] = kind, bool(single or several)
    if snapshot.ours and (several or tied):
        said.unplaced += left
        return Chosen(_apart([*several, *tied, *newest.values()]), False)
    if newest or not snapshot.ours:
        said.unplaced += left
    if newest:
        return Chosen({f"{name}{NOTEBOOK}": file for name, file in newest.items()}, True)
    others.sort(key=lambda file: not file.is_notebook)
    notes = [f"{upload.name}: {why}" for upload in uploads if (why := _why_not(upload))]
    if len(others) > MOST_OTHERS:
        notes.append(f"{len(others) - MOST_OTHERS:,} files more are in the zip alone")
    return Chosen(_apart(others[:MOST_OTHERS]), False, tuple(notes))


def _notebooks(upload: Upload, snapshot: Snapshot) -> tuple[list[File], str]:
    """The notebooks in what was handed in as one thing that can be meant, and why these are not simply all of its files.

    Raises:
        Refused: a notebook of several is damaged.
    """
    if upload.told.kind != FILED:
        return [], ""
    if why := _why_not(upload):
        return [], why
    found = [file for file in upload.files if file.is_notebook]
    if not upload.is_folder:
        return found, "" if found else "it is no notebook"
    try:
        taken([file.member.name for file in upload.files], upload.path)
    except ValueError as error:
        return _meant(found, snapshot) if snapshot.ours and len(found) <= MOST_OTHERS else [], str(error)
    return found, ""


def _why_not(upload: Upload) -> str:
    """Why nothing is taken of what was handed in as one thing; "" where it is looked into."""
    if why := next((member.refused for member in upload.members if member.refused), ""):
        return why
    large = [file for file in upload.files if file.is_notebook and file.member.entry.file_size > LARGEST_FILE]
    return f"the notebook in it is larger than {size(LARGEST_FILE)}" if upload.is_folder and large else ""


def _meant(found: list[File], snapshot: Snapshot) -> list[File]:
    """Those of several notebooks that are of this assignment, as far as one can read them; of equal ones, that of the right name.

    Raises:
        Refused: one is damaged.
    """
    contents: dict[bytes, File] = {}
    for file in sorted(
        found, key=lambda file: (file.told.file_id != snapshot.assignment, file.name.count("/"), file.name)
    ):
        if may_be(data := file.member.content, snapshot.assignment, snapshot.judge):
            contents.setdefault(data, file)
    return list(contents.values())


def _newest(files: list[File], said: Said) -> tuple[Own, list[File]]:
    """By notebook, the file that was handed in last; and those of which nothing says which was."""
    newest: Own = {}
    tied: list[File] = []
    named: dict[str, list[File]] = {}
    for file in files:
        named.setdefault(file.told.file_id, []).append(file)
    for name, own in named.items():
        last = [file for file in own if file.told.order == max(other.told.order for other in own)]
        if len(last) > 1 and len(set(map(_digest, last))) > 1:
            tied += last
        else:
            newest[name] = last[-1]
            last = last[-1:]
        said.older += [(file.name, last[-1].name) for file in own if file not in last]
    return newest, tied


def _digest(file: File) -> str:
    """What files with the same bytes have in common; a damaged one has nothing in common with any."""
    with suppress(archive.Refused):
        return file.member.sha256
    return file.name


def _apart(files: list[File]) -> Own:
    """Where files go of which a person says what counts: none of them lies where it would count by itself."""
    found: Own = {}
    for file in files:
        path = PAGES.get(file.told.kind, "") if file.told.path.endswith(".html") else ""
        path = path or file.told.path
        first = path.partition("/")[0]
        if first in LISTED or first.endswith(NOTEBOOK):  # a zip may be called like a notebook
            path = f"{APART}/{path}"
        while path in found:
            path = f"{APART}/{path}"
        found[path] = file
    return found
