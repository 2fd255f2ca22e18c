"""How Canvas and Moodle name the files in a zip of submissions, and whose they are; with this, `nbgrader zip_collect` knows both."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from nbgrader.api import Gradebook
from nbgrader.plugins import FileNameCollectorPlugin

from autograder.plugins.printable import printable
from autograder.plugins.roster import Roster

CANVAS = re.compile(r"(?P<name>[^/]*?)_(?P<late>LATE_)?(?P<user>\d+)_(?P<order>\d+)_(?P<file>[^/]+)")
"""The student's name in lower case, `LATE` where Canvas counts it as late, the ids of user and file, and the file's own name."""
ANONYMOUS = re.compile(r"(?:LATE_)?anon_")
MOODLE = re.compile(r"(?P<name>[^/_]+)_(?P<participant>\d+)_assignsubmission_file(?:_?/|_)(?P<file>.+)")
"""A folder for each student, since Moodle 4.1 without the last `_`; before 3.1 the file followed at once."""
FILE = re.compile(r"(?P<stem>.+?)(?P<made>-\d{4}-\d\d-\d\d-\d{6})?(?:-(?P<copy>\d+))?")
"""A notebook's own name; the time that `hand_in` puts behind it; the number that Canvas gives to another file of that name."""


@dataclass(frozen=True)
class Told:
    """What the name of a file in a zip tells.

    Attributes:
        system: "canvas" or "moodle".
        user: the system's number for the student; in Moodle, for the student in this assignment.
        name: the student's, as the system writes it there.
        file_id: the name that the student gave to the notebook.
        late: whether the system says that it was late; by how much, no name tells.
        order: greater for what was handed in later.
    """

    system: str
    user: str
    name: str
    file_id: str
    late: bool
    order: tuple[int, str, int]


def told(path: str) -> Told | None:
    """What the name of a file tells; None where neither system names files like this, or hides whose it is."""
    base = path.rpartition("/")[2]
    if base.startswith("."):  # what macOS puts beside a file, under a name like the file's own
        return None
    if found := MOODLE.search(path):
        order, late, user = 0, False, found["participant"]
        system = "moodle"
    elif (found := CANVAS.fullmatch(base)) and not ANONYMOUS.match(base):
        order, late, user = int(found["order"]), bool(found["late"]), found["user"]
        system = "canvas"
    else:
        return None
    stem = os.path.splitext(found["file"].rpartition("/")[2])[0]
    parts = FILE.fullmatch(stem)
    if parts is None:
        return None
    rank = (order, parts["made"] or "", int(parts["copy"] or 0))
    return Told(system, user, found["name"], parts["stem"], late, rank)


def whose(file: Told, roster: Roster, participants: Mapping[str, str] | None = None) -> set[str]:
    """Whose file this may be: nobody, one student, or several between whom a name does not decide.

    Args:
        participants: Moodle's numbers, by which it knows students in this assignment, with the students. Names count where
            there is no such list.
    """
    if file.system == "canvas":
        return roster.known_by(file.user, ("lms_user_id", "id"))
    if participants is not None:
        return {participants[file.user]} if file.user in participants else set()
    return roster.named(file.name)


def unknown(file: Told, roster: Roster, found: set[str]) -> str:
    """Why a file has no owner."""
    if found:
        return f"{' and '.join(sorted(found))} are both called {printable(file.name)}"
    if file.system == "moodle":
        return f"nobody in the gradebook is called {printable(file.name)}"
    alike = " or ".join(sorted(roster.spelled(file.name)))
    perhaps = f"; by the name it may be {alike}" if alike else ""
    return f"nobody in the gradebook has the Canvas user {file.user} as lms_user_id{perhaps}"


class Collector(FileNameCollectorPlugin):
    """Finds the student and the notebook in what Canvas or Moodle calls a file. `named_regexp`, where it is set, goes before."""

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Whose file this is, and its name; None where that is not known."""
        if self.named_regexp or os.path.splitext(submitted_file)[1] not in self.valid_ext:
            return super().collect(submitted_file)
        file = told(submitted_file.replace(os.sep, "/"))
        if file is None:
            self.log.warning("Neither Canvas nor Moodle names files like this: %s", submitted_file)
            return None
        found = whose(file, self._roster)
        if len(found) != 1:
            self.log.warning("%s: %s", submitted_file, unknown(file, self._roster, found))
            return None
        return {"student_id": found.pop(), "file_id": file.file_id}

    @cached_property
    def _roster(self) -> Roster:
        directory = self.parent.coursedir
        with Gradebook(directory.db_url, directory.course_id) as gradebook:
            return Roster.of(gradebook)
