"""Regrade requests: what students ask to have looked at again, and what was decided, in a text file that people write.

    ada, 00_shapes, mix_rows: My answer is right for one row too.
        no: With one row it returns a vector, and the text asks for a matrix.

A request begins with who, which assignment and which exercise. What the student says goes on until an empty line, and after it in
lines that are indented, but never in a line that begins as a request does. A line that begins with `yes:` or `no:` decides, and
gives the reason. Lines that begin with `#` are remarks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from nbgrader.api import Assignment, Gradebook
from nbgrader.coursedir import CourseDirectory

FILE = "requests.txt"
FORM = "STUDENT, ASSIGNMENT, EXERCISE: what the student says"
DECISION = re.compile(r"\s*+(yes|no)\s*+(?::(.*))?", re.IGNORECASE)
LEADING = re.compile(r"^[\s>*•\"'(@-]*(?:\d+[.)]\s+)?")
"""What may stand before a name: a mail's signs for what it quotes, and those of lists."""
BEHIND = re.compile(r"\s*([,;:|\t]|\s[-–—])|\s+")
"""What may follow a student's name at the head of a request."""
ALMOST = 0.8
"""How like a name is to one that is meant."""

Cells = Mapping[str, Mapping[str, tuple[str, str]]]
"""By assignment its exercises, as requests and reports call them, each with its notebook and its cell."""


@dataclass(frozen=True)
class Request:
    """What one student says of one exercise.

    Attributes:
        line, end: where it begins and ends in the file, counted from 1.
        student, assignment, exercise: as the gradebook has them; as they were typed, where it has none of that name.
        decision: "yes" or "no"; "" where nobody has decided.
        reason: why; without one nothing is decided.
        unknown: which of the three the gradebook does not have; "" where it has all.
        notebook, cell: where the exercise's points are; "" where something is unknown.
    """

    line: int
    end: int
    student: str
    assignment: str
    exercise: str
    says: str
    decision: str = ""
    reason: str = ""
    unknown: str = ""
    notebook: str = ""
    cell: str = ""

    @property
    def is_decided(self) -> bool:
        return bool(self.decision and self.reason)


@dataclass(frozen=True)
class Inbox:
    """What the file says.

    Attributes:
        unread: by line, what is no request.
        students, cells: whom and what the gradebook has.
    """

    requests: tuple[Request, ...] = ()
    unread: Mapping[int, str] = field(default_factory=dict)
    students: Collection[str] = ()
    cells: Cells = field(default_factory=dict)

    def of(self, assignment: str) -> tuple[Request, ...]:
        """Those that an assignment's pages answer."""
        return tuple(one for one in self.requests if one.assignment == assignment and not one.unknown)


def place(course: CourseDirectory) -> Path:
    """Where a course's requests lie: beside its submissions."""
    return Path(course.root, course.submitted_directory).parent / FILE


def inbox(course: CourseDirectory, gradebook: Gradebook) -> Inbox:
    """The requests of a course; none where there is no file.

    Raises:
        OSError: it cannot be read.
    """
    path = place(course)
    text = decoded(path.read_bytes())[0] if os.path.lexists(path) else ""
    students = {student.id for student in gradebook.students}
    cells = {assignment.name: _cells(assignment) for assignment in gradebook.assignments}
    return read(text, students, cells)


def read(text: str, students: Collection[str], cells: Cells) -> Inbox:
    """What a text says, where these students and assignments are known."""
    found: list[Request] = []
    unread: dict[int, str] = {}
    begins, goes_on = True, False  # a paragraph; the request before it
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            begins = True
        elif line.startswith("#"):
            continue
        elif (new := _begun(line, number, students, cells)) and (begins or _names_somebody(line, students, cells)):
            found.append(new)
            begins, goes_on = False, True
        elif _names_somebody(line, students, cells):  # nobody's words may come to stand on another's page
            unread[number] = line.strip()
            begins = goes_on = False
        elif goes_on and (not begins or line[0].isspace() or DECISION.fullmatch(line.rstrip())):
            found[-1] = _longer(found[-1], line, number)
            begins = False
        elif begins:
            unread[number] = line.strip()
            begins = goes_on = False
    return Inbox(tuple(found), unread, students, cells)


def decoded(data: bytes) -> tuple[str, str]:
    """The text of a file that was edited in whatever editor, and its encoding."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace"), "utf-16"
    try:
        return data.decode("utf-8-sig"), "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def with_decision(text: str, request: Request, decision: str, reason: str) -> str:
    """The text with a decision under a request; every other character stays."""
    lines = text.split("\n")
    ending = "\r" if lines[request.line - 1].endswith("\r") else ""
    if request.end == len(lines):
        lines[-1] += ending
        lines.append("")
    lines.insert(request.end, f"    {decision}: {' '.join(reason.split())}{ending}")
    return "\n".join(lines)


def _begun(line: str, number: int, students: Collection[str], cells: Cells) -> Request | None:
    """The request that a line begins; None where it has not the form of one."""
    head, colon, says = line.partition(":")
    named = [part.strip() for part in head.rsplit(",", 2)]
    if not (colon and len(named) == 3 and all(named)):
        return None
    student, typed, exercise = named
    meant = [name for name in cells if typed in (name, name.partition("_")[0])]
    assignment = typed if typed in cells or len(meant) != 1 else meant[0]
    there = cells.get(assignment, {})
    known = {"student": student in students, "assignment": assignment in cells, "exercise": exercise in there}
    unknown = next((what for what, is_known in known.items() if not is_known), "")
    at = ("", "") if unknown else there[exercise]
    return Request(number, number, student, assignment, exercise, says.strip(), "", "", unknown, *at)


def _names_somebody(line: str, students: Collection[str], cells: Cells) -> bool:
    """Whether a line begins as a request does, in its form or not: with a student, or with somebody and an assignment."""
    if DECISION.fullmatch(line.rstrip()):
        return False
    words = LEADING.sub("", line).casefold()
    known = {part.casefold() for name in cells for part in (name, name.partition("_")[0])}
    for student in map(str.casefold, students):
        if words.startswith(student) and (ends := BEHIND.match(words, len(student))):
            rest = words[ends.end() :].split(maxsplit=1)
            if ends[1] or (rest and rest[0].strip(",;:|") in known):
                return True
    who, *what = (part.strip() for part in re.split(r"[,;|\t]", words, maxsplit=2))
    if not (who and what):
        return False
    return what[0].split(":")[0].strip() in known or bool(
        get_close_matches(who, map(str.casefold, students), 1, ALMOST) and get_close_matches(what[0], known, 1, ALMOST)
    )


def lacks(line: str) -> str:
    """What a line would need to be a request."""
    if ":" not in line:
        return "there is no colon before what the student says"
    return "before the colon there have to be three names, with commas between them"


def _longer(request: Request, line: str, number: int) -> Request:
    """A request with its next line."""
    if decides := DECISION.fullmatch(line.rstrip()):
        return replace(request, decision=decides[1].lower(), reason=(decides[2] or "").strip(), end=number)
    if request.decision:
        return replace(request, reason=f"{request.reason} {line.strip()}".strip(), end=number)
    return replace(request, says=f"{request.says} {line.strip()}".strip(), end=number)


def _cells(assignment: Assignment) -> dict[str, tuple[str, str]]:
    """The cells of an assignment that have points."""
    places = [
        (notebook.name, cell.name)
        for notebook in assignment.notebooks
        for cell in (*notebook.grade_cells, *notebook.task_cells)
    ]
    is_alone = len({notebook for notebook, _ in places}) == 1
    return {cell if is_alone else f"{notebook}/{cell}": (notebook, cell) for notebook, cell in places}
