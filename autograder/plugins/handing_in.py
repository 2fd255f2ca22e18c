"""When something was handed in, by whom, and under which name: `timestamp.txt`, and the names of a student's folder and notebook."""

from __future__ import annotations

import logging
import re
import warnings
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from dateutil import parser
from nbgrader.utils import parse_utc

from autograder.plugins.bounds import LARGEST_TIMESTAMP, Beyond, content
from autograder.plugins.printable import printable

log = logging.getLogger(__name__)

TIMESTAMP = "timestamp.txt"
YEARS = range(1970, 9000)
FORM = "2026-01-31 23:59:00 +0100"
NO_TIME = f"it says no time that can be read for certain, such as {FORM}, so the work counts as handed in on time"
FARTHEST = timedelta(hours=14)
"""From UTC, of any place."""
ORDERS: tuple[dict[str, bool], ...] = ({}, {"dayfirst": True}, {"yearfirst": True})
"""How day, month and year may be meant, where all are numbers."""
DEFAULTS = (datetime(2001, 1, 1), datetime(2004, 2, 2))
"""Where what is read differs between these, a part of the date is missing."""


def time_in(path: Path) -> datetime:
    """What a `timestamp.txt` says, in UTC.

    Raises:
        ValueError: it says no time, or may mean several.
        OSError: it cannot be read, or is no plain file.
    """
    return moment(content(path, LARGEST_TIMESTAMP))


def moment(data: bytes) -> datetime:
    """The time that some bytes say, in UTC; that is also meant where no zone stands there.

    nbgrader reads `+0200` behind a blank as 200 seconds, and `+02:00` and most names of zones as UTC.

    Raises:
        ValueError: they say none, or may mean several.
    """
    text = data.decode("ascii").strip()
    if not text or len(data) > LARGEST_TIMESTAMP or not text.isprintable():
        raise ValueError("no time is written like this")
    try:
        found = _moment(text)
    except Exception as error:  # dateutil raises a dozen kinds
        raise ValueError(f"no time: {error}") from None
    if found.year not in YEARS:
        raise ValueError("no time that anybody lives at")
    return found


def _moment(text: str) -> datetime:
    words = text.split()
    place = words.pop() if "/" in words[-1] and words[-1] in available_timezones() else ""
    plain = re.sub(r"\b(?:UTC|GMT) ?(?=[+-]\d)", "", " ".join(words).upper())  # dateutil turns the sign behind these
    zones: list[tuple[str | None, int | None]] = []

    def zone(name: str | None, seconds: int | None) -> None:
        zones.append((name, seconds))

    year_first = re.match(r"\d{4}", plain)
    found = {
        parser.parse(plain, default=default, tzinfos=zone, **order)
        for default in DEFAULTS
        for order in (ORDERS[:1] if year_first else ORDERS)
    }
    if len(found) > 1:
        raise ValueError("the date may mean several days")
    (local,) = found
    if re.match(r"\d{4}-\d\d-\d\d", plain) and f"{local:%Y-%m-%d}" != plain[:10]:
        raise ValueError("there is no such day")
    return local - _offset(local, place, *zones[-1])


def _offset(local: datetime, place: str, name: str | None, seconds: int | None) -> timedelta:
    """How far a zone is ahead of UTC.

    Raises:
        ValueError: nothing says so, or it may be one of several.
    """
    if place and not (name or seconds is not None):
        offsets = {offset for _, offset in _at(place, local)}
    elif place:
        raise ValueError("two zones stand there")
    elif seconds is not None:
        offsets = {timedelta(seconds=seconds)}
    elif name:
        everywhere = (at for zone in available_timezones() for at in _at(zone, local))
        offsets = {offset for called, offset in everywhere if called == name}
    else:
        offsets = {timedelta()}
    if len(offsets) != 1 or abs(min(offsets)) > FARTHEST:
        raise ValueError("the zone may mean several, or none")
    return offsets.pop()


def _at(zone: str, local: datetime) -> list[tuple[str | None, timedelta]]:
    """What a zone's clocks that show this call their time, and how far they are ahead; twice where they are put back."""
    times = [local.replace(tzinfo=_zone(zone), fold=fold) for fold in (0, 1)]
    return [(time.tzname(), time.utcoffset() or timedelta()) for time in times]


@cache
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def restate(folder: Path) -> None:
    """Have the `timestamp.txt` in a folder say the same in a form that nbgrader reads so; the log says what it said.

    One that says no time, or may mean several, is left as it is.
    """
    path = folder / TIMESTAMP
    if folder.is_symlink():
        return
    with suppress(OSError, ValueError):
        said = content(path, LARGEST_TIMESTAMP)
        found = moment(said)
        if _as_nbgrader_reads(said) != found:
            plain = f"{found.replace(tzinfo=UTC):%Y-%m-%d %H:%M:%S.%f %Z}"
            draft = path.with_name(f".{path.name}")
            draft.unlink(missing_ok=True)
            draft.write_text(plain)
            draft.replace(path)
            text = printable(said.decode("ascii").strip())
            log.warning("%s: %s said %s; it now says %s", printable(folder.parent.name), TIMESTAMP, text, plain)


def is_in_doubt(path: Path) -> bool:
    """Whether nbgrader reads a time from a file that may mean several, or another."""
    try:
        said = content(path, LARGEST_TIMESTAMP)
        moment(said)
    except OSError:
        return False
    except ValueError:
        return _as_nbgrader_reads(said) is not None
    return False


def _as_nbgrader_reads(data: bytes) -> datetime | None:
    """The time that nbgrader reads, or None."""
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = parse_utc(data.decode("ascii").strip())
        return found if found is not None and data.strip() else None
    return None


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


def only_copy(folder: Path, assignment: str) -> Path | None:
    """The one notebook of a submission's folder, where it has another name than the assignment's: it is the submission.

    A browser calls a second download "00_shapes (1).ipynb". It is read as what it is, and keeps its name: by that the student asks
    nbgrader's exchange for feedback, and a learning management system knows the file.
    """
    found = sorted(folder.glob("*.ipynb"))
    alone = len(found) == 1 and found[0].stem != assignment
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
