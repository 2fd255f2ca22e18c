"""Who is in the class, from a file that a spreadsheet wrote, or that Canvas, Moodle or Brightspace exported."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.folder import Course
from autograder.grading.database import only_writer, opened
from autograder.grading.store import only_run
from autograder.lms.canvas import POINTS
from autograder.plugins.handing_in import misnamed
from autograder.plugins.printable import printable
from autograder.plugins.roster import Person, Roster, divided
from autograder.problems import Problem

SEPARATORS = ",;\t|"
OF_WINDOWS = ("cp1252", "latin-1")
"""How a spreadsheet writes letters that are not English, where it does not write Unicode."""
LONGEST = 128
"""Characters that nbgrader's gradebook keeps of a name, an id or an address."""
CANVAS = {"student", "id", "section"}
BRIGHTSPACE = "orgdefinedid"
TEST_STUDENT = "Test Student"
OURS = ("id", "studentid")
"""The columns of ids that nbgrader knows students by."""
IDS = ("username", "sisloginid", "idnumber", "sisuserid", "email", "lmsuserid")
"""Where there is none, those of which ids are made, the likeliest first."""
COLUMNS = {
    "emailaddress": "email",
    "mail": "email",
    "surname": "lastname",
    "familyname": "lastname",
    "givenname": "firstname",
    "name": "fullname",
    "student": "fullname",
    BRIGHTSPACE: "lmsuserid",
}
"""Other names of columns, in small letters and without anything else."""
FIELDS = {"firstname": "first_name", "lastname": "last_name", "email": "email", "lmsuserid": "lms_user_id"}
KEYS = {
    "lmsuserid": ("lms_user_id", "id"),
    "id": ("id",),
    "studentid": ("id",),
    "sisuserid": ("id",),
    "idnumber": ("id", "lms_user_id"),
    "username": ("id", "email"),
    "sisloginid": ("id", "email"),
    "email": ("email", "id"),
}
"""By which columns somebody is found who is in the gradebook already, and in which of its fields that may stand."""


@dataclass(frozen=True)
class Listed:
    """One row.

    Attributes:
        line: of the file.
        person: the row as a student; the id is "" where the row has none.
        keys: what is known of the student besides the name, with the fields of the gradebook in which that may stand.
        split: whether first and last name stand in columns of their own, and are not guessed from a full name.
    """

    line: int
    person: Person
    keys: tuple[tuple[str, tuple[str, ...]], ...]
    split: bool


@dataclass
class Enrolment:
    """What a file would change in the gradebook.

    Attributes:
        ids: the title of the column that new students' ids are from.
        new: who would be entered.
        changed: who would be changed: as they are, and as they would be.
        by_name: who was found by the name alone.
        same: how many are as they are in the file.
        unused: the lines that cannot be used, and why.
        others: who is in the gradebook and not in the file.
        passed_over: titles of columns that mean nothing here, of a file of one's own.
    """

    ids: str
    new: list[Person] = field(default_factory=list)
    changed: list[tuple[Person, Person]] = field(default_factory=list)
    by_name: list[str] = field(default_factory=list)
    same: int = 0
    unused: list[tuple[int, str]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)


def read(path: Path, roster: Roster) -> Enrolment:
    """Compare a file with the gradebook. Nothing is written.

    Raises:
        Problem: the file cannot be read, or has no column of ids.
    """
    header, rows = _table(path)
    titles = [_plain(title) for title in header]
    canvas = set(titles) >= CANVAS
    columns = ["lmsuserid" if canvas and title == "id" else COLUMNS.get(title, title) for title in titles]
    listed = [(line, dict(zip(columns, row, strict=False))) for line, row in rows]
    if canvas:
        listed = [(line, row) for line, row in listed if row.get("lmsuserid") and POINTS not in row.get("fullname", "")]
    if BRIGHTSPACE in titles:  # which keeps spreadsheets from taking ids for numbers
        listed = [(line, {name: value.removeprefix("#") for name, value in row.items()}) for line, row in listed]
    ours = next((name for name in OURS if name in columns), "")
    ids = ours or next((name for name in IDS if any(row.get(name) for _, row in listed)), "")
    if not ids:
        raise Problem(
            f"{path} has no column of ids. The first line names the columns: id,first_name,last_name,email,lms_user_id. Canvas's "
            "gradebook and Moodle's worksheet and list of participants do as they were downloaded, in English."
        )
    enrolment = Enrolment(header[columns.index(ids)])
    if ours:
        known = {*KEYS, *FIELDS, "fullname"}
        pairs = zip(header, columns, strict=True)
        enrolment.passed_over = [title for title, column in pairs if title and column not in known]
    _compare([_listed(line, row, ids) for line, row in listed], roster, enrolment, canvas, bool(ours))
    enrolment.unused.sort()
    return enrolment


def write(course: Course, enrolment: Enrolment) -> None:
    """Enter what a file would change. Nobody is removed, and nothing emptied.

    Raises:
        Problem: somebody is grading, or the gradebook cannot be used.
    """
    people = [*enrolment.new, *(after for _, after in enrolment.changed)]
    with only_run(course.class_folder / "graded"), only_writer(course), opened(course) as gradebook:
        for person in people:
            known = {name: getattr(person, name) for name in FIELDS.values() if getattr(person, name)}
            gradebook.update_or_create_student(person.id, **known)


# -------------------------------------------------------------------------------------------------------- reading a file


def _table(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The titles of the columns, and each row that is not empty with the line on which it begins.

    Raises:
        Problem: the file cannot be read.
    """
    try:
        text = _decoded(path.read_bytes())
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror or error}.") from None
    found = [rows for separator in SEPARATORS if (rows := list(_rows(text, separator)))]
    rows = max(found, key=lambda rows: len(set(map(_plain, rows[0][1])) & {*OURS, *IDS, *COLUMNS, *FIELDS}), default=[])
    if len(rows) < 2:
        raise Problem(f"{path} has no line of a student below one that names the columns.")
    (_, header), *others = rows
    return header, others


def _decoded(data: bytes) -> str:
    """The text of a file, in Unicode with or without a mark in front, or as Windows writes it."""
    for encoding in (json.detect_encoding(data), *OF_WINDOWS):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        return re.sub(r"\Asep=.\r?\n", "", text.removeprefix("\ufeff"))  # a line for Excel alone
    raise AssertionError("every byte is a letter of latin-1")


def _rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that hold anything; none from where the file is no such table on."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    line = 1
    try:
        for row in rows:
            if any(value.strip() for value in row):
                yield line, [value.strip() for value in row]
            line = rows.line_num + 1
    except csv.Error:
        return


def _plain(title: str) -> str:
    return re.sub(r"[^a-z]", "", title.casefold())


def _listed(line: int, row: dict[str, str], ids: str) -> Listed:
    split = bool(row.get("firstname") or row.get("lastname"))
    first, last = row.get("firstname", ""), row.get("lastname", "")
    if not split and (full := row.get("fullname", "")):
        first, last = divided(full)
    email = row.get("email", "") or next(
        (row[name] for name in ("username", "sisloginid") if "@" in row.get(name, "")), ""
    )
    keys = tuple((value, fields) for name, fields in KEYS.items() if (value := row.get(name, "")))
    person = Person(row.get(ids, ""), first, last, email, row.get("lmsuserid", ""))
    return Listed(line, person, keys, split)


# ---------------------------------------------------------------------------------------------------- who these people are


def _compare(listed: list[Listed], roster: Roster, enrolment: Enrolment, canvas: bool, ours: bool) -> None:
    """Say of each row whose it is, and what it would change.

    Args:
        ours: whether there is a column of nbgrader's own ids, which then say who somebody is.
    """
    rows: list[Listed] = []
    for row in listed:
        if why := _unusable(row, canvas):
            enrolment.unused.append((row.line, why))
        else:
            rows.append(row)
    found = {row.line: set().union(*(roster.known_by(value, fields) for value, fields in row.keys)) for row in rows}
    by_key = set().union(*found.values())
    unknown = Counter(row.person.name for row in rows if not found[row.line])
    for row in rows if not ours else ():
        named = roster.named(row.person.name) - by_key
        if not found[row.line] and unknown[row.person.name] == 1 and not _contradicted(row, named, roster):
            found[row.line] = named
            enrolment.by_name += named if len(named) == 1 else ()
    for row in list(rows):
        if ours and found[row.line] and not roster.known_by(row.person.id, ("id",)):
            whose = " and ".join(map(roster.shown, sorted(found[row.line])))
            enrolment.unused.append((row.line, f"{row.person.id} is new, and has an address or number of {whose}"))
            rows.remove(row)
    own: dict[str, list[Listed]] = {}
    for row in rows:
        if len(found[row.line]) > 1:
            may_be = " or ".join(map(roster.shown, sorted(found[row.line])))
            enrolment.unused.append((row.line, f"{_shown(row)} may be {may_be}"))
        else:
            own.setdefault(next(iter(found[row.line]), f"{row.person.id.casefold()} is new"), []).append(row)
    for together in own.values():
        if len({replace(row, line=0) for row in together}) > 1:
            lines = " and ".join(str(row.line) for row in together)
            enrolment.unused += [(row.line, f"lines {lines} have {_shown(row)} in different ways") for row in together]
            continue
        row = together[0]
        known = roster.people.get(next(iter(found[row.line]), ""))
        after = _after(row, known)
        if known is None:
            enrolment.new.append(after)
        elif known != after:
            enrolment.changed.append((known, after))
        else:
            enrolment.same += 1
    enrolment.others = sorted(roster.people.keys() - set().union(*found.values()) if found else roster.people)


def _unusable(row: Listed, canvas: bool) -> str:
    """Why a row is nobody who can be entered; "" where it is somebody."""
    person = row.person
    values = (person.id, person.first_name, person.last_name, person.email, person.lms_user_id)
    if canvas and person.name == TEST_STUDENT:
        return "Canvas's test student"
    if not person.id:
        return f"{_shown(row)} has no id"
    if any(printable(value) != value for value in values) or any(len(value) > LONGEST for value in values):
        return f"{_shown(row)} has something that cannot be printed, or is longer than {LONGEST} characters"
    if misnamed(person.id) or re.search(r"[/+*]", person.id):
        return (
            f"no student can have the id {person.id}: it names a folder, and / + * or a dot in front are not for that"
        )
    return ""


def _contradicted(row: Listed, students: Iterable[str], roster: Roster) -> bool:
    """Whether what is known of somebody says that a row of that name is not theirs."""
    pairs = [(row.person.email, "email"), (row.person.lms_user_id, "lms_user_id")]
    known = [(value, getattr(roster.people[student], name)) for student in students for value, name in pairs]
    return any(value and other and value.casefold() != other.casefold() for value, other in known)


def _after(row: Listed, known: Person | None) -> Person:
    """A student with what a row says; what it does not say stays."""
    if known is None:
        return row.person
    said = {name: value for name in FIELDS.values() if (value := getattr(row.person, name))}
    alike = Roster([known]).named(row.person.name)
    if not row.split and alike:  # where a full name is to be divided, the gradebook knows better
        said = {name: value for name, value in said.items() if not name.endswith("_name")}
    return replace(known, **said)


def _shown(row: Listed) -> str:
    person = row.person
    return printable(person.name or person.id or person.email or "somebody")
