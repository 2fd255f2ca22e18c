"""How Canvas and Moodle name the files in a zip of submissions, and whose they are; with this, `nbgrader zip_collect` knows both."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin

from autograder.plugins import archive
from autograder.plugins.archive import ZIP
from autograder.plugins.printable import printable
from autograder.plugins.roster import Roster

CANVAS = re.compile(r"(?P<name>[^/]*?)_(?P<late>LATE_)?(?P<user>\d+)_(?P<order>\d+)_(?P<file>[^/]+)")
"""The student's name in lower case, `LATE` where Canvas counts it as late, the ids of user and file, and the file's own name."""
PAGE = re.compile(r"(?P<name>[^/]*?)_(?P<late>LATE_)?(?P<user>\d+)_(?P<file>(?P<kind>text|link)\.html)")
"""What Canvas makes of a text that was typed into its page, and of a link: no file was handed in, so none has a number."""
ANONYMOUS = re.compile(r"(?:LATE_)?anon_")
MOODLE = re.compile(
    r"(?:^|/)(?P<name>[^/_]+)_(?P<participant>\d+)_assignsubmission_(?P<kind>file|onlinetext)(?:_?/|_)(?P<file>.+)"
)
"""A folder for each student, since Moodle 4.1 without the last `_`; before 3.1 the file followed at once."""
FILE = re.compile(r"(?P<stem>.+?)(?P<made>-\d{4}-\d\d-\d\d-\d{6})?(?:-(?P<copy>\d+))?")
"""A notebook's own name; the time that `hand_in` puts behind it; the number that Canvas gives to another file of that name."""
NOTEBOOK = ".ipynb"
FILED = "file"
TEXT = "onlinetext"
LINK = "link"
PAGES = {"text": TEXT, "link": LINK}
MOST_TOLD = 5
MACOS = "__MACOSX"


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
        upload: what was handed in as one thing: the file itself, or the folder or zip that it lies in.
        kind: `FILED`, `TEXT` where it was typed into the system's page, or `LINK`.
        path: where the student had it, below the folder or zip that was handed in, which is a folder of its name.
    """

    system: str
    user: str
    name: str
    file_id: str
    late: bool
    order: tuple[int, str, int]
    upload: str = field(default="", compare=False)
    kind: str = FILED
    path: str = field(default="", compare=False)


def told(path: str) -> Told | None:
    """What the name of a file tells; None where neither system names files like this, or hides whose it is.

    A zip on the way to the file is a folder in its path. What lies in one was named by the student, who says nothing about whose it is.
    """
    in_zip = re.match(rf".*?{re.escape(ZIP)}(?=/)", path, re.IGNORECASE | re.DOTALL)
    upload = in_zip[0] if in_zip else path
    late, kind, order = False, FILED, 0
    if found := MOODLE.search(upload):
        system, user, kind = "moodle", found["participant"], found["kind"]
    elif canvas := _by_canvas(upload):
        found, upload = canvas
        system, user, late = "canvas", found["user"], bool(found["late"])
        if found.re is PAGE:
            kind = PAGES[found["kind"]]
        else:
            order = int(found["order"])
    else:
        return None
    if put_beside(upload):
        return None
    own = path if path != upload else found["file"]
    parts = FILE.fullmatch(os.path.splitext(own.rpartition("/")[2])[0])
    if parts is None:
        return None
    rank = (order, parts["made"] or "", int(parts["copy"] or 0))
    within = found["file"] if path == upload else f"{os.path.splitext(found['file'])[0]}/{path.removeprefix(upload)}"
    own_path = "/".join(filter(None, within.split("/")))
    return Told(system, user, found["name"], parts["stem"], late, rank, upload, kind, own_path)


def put_beside(path: str) -> bool:
    """Whether this is what a program puts beside files, under names like theirs."""
    return any(part.startswith(".") or part == MACOS for part in path.split("/"))


def _by_canvas(path: str) -> tuple[re.Match[str], str] | None:
    """What Canvas calls a file, or the folder that one is in, and the path up to there; None where it names nobody, or two people."""
    parts = path.split("/")
    named = [(found, "/".join(parts[: at + 1])) for at, part in enumerate(parts) if (found := CANVAS.fullmatch(part))]
    if not named and (page := PAGE.fullmatch(parts[-1])):
        named = [(page, path)]
    hidden = any(ANONYMOUS.match(part) for part in parts)
    return named[-1] if len({found["user"] for found, _ in named}) == 1 and not hidden else None


def taken(names: Sequence[str], upload: str) -> str:
    """Which of the files that were handed in as one thing is the submission: the only notebook.

    Raises:
        ValueError: there is none, or there are several; the message says so.
    """
    found = [name for name in names if os.path.splitext(name)[1] == NOTEBOOK and not put_beside(name)]
    if len(found) == 1:
        return found[0]
    within = [printable(name.removeprefix(f"{upload}/")) for name in found[:MOST_TOLD]]
    if not found:
        raise ValueError("it holds no notebook")
    raise ValueError(f"it holds {len(found)} notebooks, and one alone would be taken: {', '.join(within)}")


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
        below, name = self._within_archive(Path(submitted_file))
        file = told(name)
        if file is None:
            self.log.warning("Neither Canvas nor Moodle names files like this: %s", submitted_file)
            return None
        found = whose(file, self._roster)
        if len(found) != 1:
            self.log.warning("%s: %s", submitted_file, unknown(file, self._roster, found))
            return None
        (student,) = found
        if file.upload != name:
            there = [path.relative_to(below).as_posix() for path in sorted((below / file.upload).rglob("*"))]
            try:
                taken(there, file.upload)
            except ValueError as error:
                self.log.warning("%s: %s: %s", self._roster.shown(student), below / file.upload, error)
                return None
        return {"student_id": student, "file_id": file.file_id}

    def _within_archive(self, path: Path) -> tuple[Path, str]:
        """The folder that an archive was extracted to, and what a file was called in it."""
        extracted = Path(self.parent._format_collect_path(self.parent.extracted_directory))
        if not path.is_relative_to(extracted):
            return path.parent, path.name
        first, *others = path.relative_to(extracted).parts
        return (extracted / first, "/".join(others)) if others else (extracted, first)

    @cached_property
    def _roster(self) -> Roster:
        directory = self.parent.coursedir
        with Gradebook(directory.db_url, directory.course_id) as gradebook:
            return Roster.of(gradebook)


class Extractor(ExtractorPlugin):
    """Unpacks zips, and zips in them, into folders called as they are, within bounds; each zip that is refused is named, and stops no other."""

    def extract(self, archive_path: str, extracted_path: str) -> None:
        endings = self.trait_values()["zip_ext"]
        self.set_trait("zip_ext", [ending for ending in endings if ending != ZIP])
        super().extract(archive_path, extracted_path)
        for path in sorted(Path(extracted_path).rglob(f"*{ZIP}")):
            try:
                with archive.opened(path) as members:
                    for member in members:
                        if member.refused:
                            self.log.error("%s was not unpacked: %s", printable(member.name), member.refused)
                        else:
                            member.unpack(path.with_suffix("") / member.name)
            except archive.Refused as error:
                self.log.error("%s", error)
            else:
                path.unlink()
