"""A zip of submissions, which students had a hand in: what is refused before anything of it is unpacked."""

from __future__ import annotations

import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from autograder.plugins.printable import printable
from autograder.problems import Problem

MOST_FILES = 20_000
MOST_BYTES = 4 << 30
"""Of all files together, unpacked."""

ENCRYPTED = 0x1
COPY = 1 << 20


@contextmanager
def opened(path: Path) -> Iterator[ZipFile]:
    """A zip of which every file may be unpacked.

    Raises:
        Problem: it is none, is damaged, or holds what no LMS puts there.
    """
    try:
        with ZipFile(path) as archive:
            if trouble := _trouble(archive.infolist()):
                raise Problem(f"{path} was not unpacked: {trouble}. No LMS makes such a zip.")
            yield archive
    except OSError as error:
        raise Problem(f"{error.filename or path} could not be used: {error.strerror or error}.") from None
    except (BadZipFile, EOFError, NotImplementedError, UnicodeDecodeError, zlib.error) as error:
        raise Problem(f"{path} is no zip, or is damaged: {printable(str(error))}. Download it again.") from None


def files(archive: ZipFile) -> list[ZipInfo]:
    return [entry for entry in archive.infolist() if not entry.is_dir()]


def unpack(archive: ZipFile, entry: ZipInfo, to: Path) -> None:
    """Write one file; no more of it than was announced."""
    to.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as source, to.open("xb") as target:
        while piece := source.read(COPY):
            target.write(piece)


def same(archive: ZipFile, entry: ZipInfo, path: Path) -> bool:
    """Whether a file on the disk has the same bytes."""
    if not path.is_file() or path.is_symlink() or path.stat().st_size != entry.file_size:
        return False
    with archive.open(entry) as one, path.open("rb") as other:
        while piece := one.read(COPY):
            if piece != other.read(len(piece)):
                return False
    return True


def _trouble(entries: list[ZipInfo]) -> str:
    if len(entries) > MOST_FILES:
        return f"it holds {len(entries)} files, and more than {MOST_FILES} are not looked at"
    together = sum(entry.file_size for entry in entries)
    if together > MOST_BYTES:
        return f"unpacked it would have {together >> 20} MiB, and more than {MOST_BYTES >> 20} MiB are not"
    seen = set[str]()
    for entry in entries:
        name, kind = entry.orig_filename, stat.S_IFMT(entry.external_attr >> 16)
        if why := _refused(name, kind, entry.flag_bits) or ("is there twice" if name in seen else ""):
            return f"{printable(name)} {why}"
        seen.add(name)
    return ""


def _refused(name: str, kind: int, flags: int) -> str:
    if name.startswith("/") or re.match(r"[A-Za-z]:", name) or {"..", "."} & set(re.split(r"[/\\]", name)):
        return "leads out of the folder that it is unpacked in"
    if "\\" in name or "\0" in name or not name:
        return "has a name that is read differently by different programs"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link, or no file"
    return "is encrypted" if flags & ENCRYPTED else ""
