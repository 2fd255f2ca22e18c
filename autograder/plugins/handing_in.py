"""When something was handed in, by whom, and under which name: `timestamp.txt`, and the names of a student's folder and notebook."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from nbgrader.utils import parse_utc

from autograder.plugins.bounds import LARGEST_TIMESTAMP, Beyond, content
from autograder.plugins.printable import printable

TIMESTAMP = "timestamp.txt"
YEARS = range(1970, 9000)
NO_TIME = "it says no time that can be read, so the work counts as handed in on time"


def time_in(path: Path) -> datetime:
    """What a `timestamp.txt` says, in UTC, as nbgrader will read it.

    Raises:
        ValueError: it says no time.
        OSError: it cannot be read, or is no plain file.
    """
    return moment(content(path, LARGEST_TIMESTAMP))


def moment(data: bytes) -> datetime:
    """The time that some bytes say, in UTC.

    Raises:
        ValueError: they say none.
    """
    text = data.decode("ascii").strip()
    if len(data) > LARGEST_TIMESTAMP or not text.isprintable():
        raise ValueError("no time is written like this")
    try:
        found = parse_utc(text) if text else None
    except Exception as error:  # dateutil raises a dozen kinds
        raise ValueError(f"no time: {error}") from None
    if found is None or found.year not in YEARS:
        raise ValueError("no time that anybody lives at")
    return found


def says_a_time(path: Path) -> bool:
    """Whether nbgrader can read when something was handed in from this file."""
    try:
        time_in(path)
    except (OSError, ValueError):
        return False
    return True


def is_short_text(path: Path) -> bool:
    """Whether nbgrader can read this file at all, and soon."""
    try:
        return content(path, LARGEST_TIMESTAMP).isascii()
    except (OSError, Beyond):
        return False


def only_copy(folder: Path) -> Path | None:
    """The one notebook of a submission's folder, where it has another name than the assignment's: it is the submission.

    A browser calls a second download "00_shapes (1).ipynb". It is read as what it is, and keeps its name: by that the student asks
    nbgrader's exchange for feedback, and a learning management system knows the file.
    """
    found = sorted(folder.glob("*.ipynb"))
    alone = len(found) == 1 and found[0].stem != folder.name
    return found[0] if alone and found[0].is_file() and not found[0].is_symlink() else None


def misnamed(student: str) -> str:
    """What to do about a folder's name that no student can have in a gradebook or a log; "" where there is nothing to do."""
    if printable(student) != student:
        what = "its name holds characters that cannot be printed"
    elif student.startswith("."):
        what = "its name begins with a dot, so that nbgrader and most other programs do not see it"
    else:
        return ""
    return f"the folder {printable(student)} in the submissions was not graded: {what}; rename it"
