"""When something was handed in, and by whom: `timestamp.txt`, and the name of a student's folder."""

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


def misnamed(student: str) -> str:
    """What to do about a folder's name that no student can have in a gradebook or a log; "" where there is nothing to do."""
    if printable(student) != student:
        what = "its name holds characters that cannot be printed"
    elif student.startswith("."):
        what = "its name begins with a dot, so that nbgrader and most other programs do not see it"
    else:
        return ""
    return f"the folder {printable(student)} in the submissions was not graded: {what}; rename it"
