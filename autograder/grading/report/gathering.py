"""Everything that the report on an assignment tells, from the gradebook and the folders of the class."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from autograder.folder import Course
from autograder.grading import gradebook
from autograder.grading.lateness import Late, lateness
from autograder.grading.noting import Said
from autograder.grading.report.lines import Line, by_student, cells, is_decided, lines, total
from autograder.grading.snapshot import read_snapshot
from autograder.grading.store import code_digest
from autograder.plugins.bounds import Beyond, content
from autograder.plugins.handing_in import only_copy
from autograder.plugins.structure import NOBODY

CORRECT = re.compile(rb'"text/plain": ?\[?\s*"(\w+): correct on (?:all \d+ public cases|the public case)\.')
"""How a file tells that `check` found an answer right when it was saved. In a text or in code, its quotes would be escaped."""

GUESS = re.compile(r"(guess\w*+) *+= *+([^#\n]{1,60}?) *+(?:#++ *+(.*))?$", re.MULTILINE)
"""How a cell in which a reader guesses begins."""


@dataclass(frozen=True)
class Guesses:
    """What the class wrote down before it looked.

    Attributes:
        name: the variable.
        asked: what the notebook says of it.
        told: what stands in its place in source/.
        counted: how many wrote what, the most frequent first.
    """

    name: str
    asked: str
    told: str
    counted: Mapping[str, int]


@dataclass(frozen=True)
class Gathered:
    """What is known of a class and an assignment.

    Attributes:
        made: when this was gathered.
        version: of the course, or "".
        code: a digest of the code that marks.
        columns: what each exercise is worth, in order.
        late: by student, when it was handed in and what being late cost.
        names: by student whom the gradebook knows, their name or "".
        said: what the last run said.
        lessons: by exercise and mistake, what its student reads.
        checked: by student, the exercises that `check` had passed in the notebook that was handed in.
        pages: by student, where the feedback page is, seen from the report.
    """

    assignment: str
    made: datetime
    lines: list[Line]
    columns: Mapping[str, float]
    version: str = ""
    code: str = ""
    late: Mapping[str, Late] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    said: Said = field(default_factory=Said)
    lessons: Mapping[tuple[str, str], str] = field(default_factory=dict)
    checked: Mapping[str, frozenset[str]] = field(default_factory=dict)
    guesses: tuple[Guesses, ...] = ()
    pages: Mapping[str, str] = field(default_factory=dict)

    @property
    def students(self) -> list[str]:
        return list(by_student(self.lines))

    @property
    def handed_in(self) -> list[str]:
        return [student for student, own in by_student(self.lines).items() if any(line.handed_in for line in own)]

    @property
    def totals(self) -> dict[str, float]:
        """What each student has altogether for whom anything is decided."""
        found = {
            who: total(own, self.late.get(who, Late()))
            for who, own in by_student(self.lines).items()
            if is_decided(own)
        }
        return {who: points for who, points in found.items() if points is not None}

    @property
    def waiting(self) -> list[str]:
        """Whose work waits for a person altogether."""
        return [who for who, own in by_student(self.lines).items() if own[0].graded and not is_decided(own)]

    def shown(self, student: str) -> str:
        """How a list calls a student: by the name, with the id where several have that, and by the id where there is none."""
        name = self.names.get(student, "")
        return f"{name} ({student})" if self._alike[name.casefold()] > 1 and name else name or student

    @cached_property
    def _alike(self) -> Counter[str]:
        return Counter(name.casefold() for name in self.names.values())

    @property
    def papers(self) -> Counter[int]:
        """How many were marked on which paper."""
        return Counter(filter(None, self.said.papers.values()))


def gather(course: Course, assignment: str, said: Said | None = None) -> Gathered:
    """Read what is graded; nothing is run, and nothing is written.

    Args:
        said: what the run said that has just ended; if None, what the last one kept.

    Raises:
        Problem: there is no such assignment.
    """
    snapshot = read_snapshot(course, assignment)
    found = lines(course, assignment)
    ours = snapshot.ours
    handed_in = [student for student, own in by_student(found).items() if any(line.handed_in for line in own)]
    return Gathered(
        assignment,
        datetime.now().astimezone(),
        found,
        dict(cells(course, assignment).values()),
        course.judge.version if ours else "",
        code_digest(course.judge, assignment)[:8] if ours else "",
        lateness(snapshot, gradebook.deadlines(course, assignment)),
        gradebook.students(course),
        Said.kept(course.class_folder / "graded" / assignment) if said is None else said,
        course.judge.lessons(assignment),
        {student: _checked(course, student, assignment) for student in handed_in} if ours else {},
        _guesses(course, assignment, handed_in) if ours else (),
        _pages(course, assignment, handed_in),
    )


def _pages(course: Course, assignment: str, students: Iterable[str]) -> dict[str, str]:
    """Where a student has several pages, the first."""
    report = course.class_folder / "report"
    found = {student: course.pages(student, assignment) for student in students}
    return {student: quote(os.path.relpath(pages[0], report)) for student, pages in found.items() if pages}


def _checked(course: Course, student: str, assignment: str) -> frozenset[str]:
    """The exercises under which `check` had passed when the notebook was saved."""
    folder = course.folder("submitted", student, assignment)
    with suppress(OSError, Beyond):
        data = content(only_copy(folder, assignment) or folder / f"{assignment}.ipynb")
        return frozenset(name.decode() for name in CORRECT.findall(data))
    return frozenset()


def _guesses(course: Course, assignment: str, students: Iterable[str]) -> tuple[Guesses, ...]:
    """What was guessed in each cell for that; a notebook without one has none."""
    asked = _guessed_in(course.folder("source", NOBODY, assignment) / f"{assignment}.ipynb")
    counted: dict[str, Counter[str]] = {name: Counter() for name in asked}
    for student in students if asked else ():
        path = course.folder("autograded", student, assignment) / f"{assignment}.ipynb"
        for name, (value, _) in _guessed_in(path).items():
            if name in counted and value != "None":
                counted[name][value] += 1
    return tuple(
        Guesses(name, hint, value, dict(counted[name].most_common()))
        for name, (value, hint) in asked.items()
        if counted[name]
    )


def _guessed_in(path: Path) -> dict[str, tuple[str, str]]:
    """By variable, what a notebook's cells for guesses hold, and what is said of it there."""
    found: dict[str, tuple[str, str]] = {}
    if path.is_file():
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code" and (guess := GUESS.match("".join(cell["source"]))):
                found.setdefault(guess[1], (guess[2].strip().replace("'", '"'), (guess[3] or "").strip()))
    return found
