"""A zip of submissions, which students had a hand in: what is refused before anything of it is unpacked, and what zips in it hold."""

from __future__ import annotations

import hashlib
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO
from zipfile import BadZipFile, ZipFile, ZipInfo

from autograder.plugins.bounds import size
from autograder.plugins.printable import printable

ZIP = ".zip"
MOST_FILES = 20_000
MOST_BYTES = 4 << 30
"""Of all files together, unpacked; of all zips in a zip once more."""
MOST_BYTES_INSIDE = 512 << 20
"""Of all files in one zip in a zip."""
LONGEST_NAME = 240
"""Bytes of the name of a file or folder; systems allow 255, and a program may put something before it or behind."""
DEEPEST = 3
"""Zips in one another, within the zip of a class."""

ENCRYPTED = 0x1
COPY = 1 << 20


class Refused(ValueError):
    """A zip is not unpacked; the message is a sentence on why."""


@dataclass(frozen=True)
class Member:
    """A file in a zip, or in a zip in that.

    Attributes:
        name: where it is; a zip on the way to it is a folder there, called as the zip is.
        archive: the zip that it is in at once.
        refused: why a zip was not looked into, or a name cannot be a file's; "" for any other file.
    """

    name: str
    archive: ZipFile
    entry: ZipInfo
    refused: str = ""

    @property
    def sha256(self) -> str:
        """A digest of its bytes.

        Raises:
            Refused: it is damaged.
        """
        digest = hashlib.sha256()
        with _errors_of(printable(self.name)), self.archive.open(self.entry) as source:
            while piece := source.read(COPY):
                digest.update(piece)
        return digest.hexdigest()

    @property
    def content(self) -> bytes:
        """Its bytes.

        Raises:
            Refused: it is damaged.
        """
        with _errors_of(printable(self.name)), self.archive.open(self.entry) as source:
            return source.read()

    def unpack(self, to: Path) -> None:
        """Write it; no more of it than was announced."""
        to.parent.mkdir(parents=True, exist_ok=True)
        with self.archive.open(self.entry) as source, to.open("xb") as target:
            _copy(source, target)


@contextmanager
def opened(path: Path) -> Iterator[list[Member]]:
    """All files in a zip of which every file may be unpacked; also those in zips in it, which are refused one by one.

    Raises:
        Refused: it is none, is damaged, or holds what no learning management system puts there.
    """
    with ExitStack() as stack, _errors_of(str(path), ". Download it again."):
        archive = stack.enter_context(ZipFile(path))
        if trouble := _trouble(archive.infolist(), MOST_BYTES):
            raise Refused(f"{path} was not unpacked: {trouble}. No LMS makes such a zip.")
        yield list(_Inside(stack).members(archive))


class _Inside:
    """What zips in a zip may hold all together."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._files, self._bytes = MOST_FILES, MOST_BYTES

    def members(self, archive: ZipFile, folder: str = "", depth: int = 0) -> Iterator[Member]:
        for entry in archive.infolist():
            name = folder + entry.filename
            if entry.is_dir():
                continue
            if not name.casefold().endswith(ZIP):
                yield Member(name, archive, entry, _odd(entry.orig_filename))
                continue
            try:
                inner = self._inner(archive, entry, depth)
            except Refused as error:
                yield Member(name, archive, entry, str(error))
            else:
                yield from self.members(inner, f"{name}/", depth + 1)

    def _inner(self, archive: ZipFile, entry: ZipInfo, depth: int) -> ZipFile:
        """A zip in a zip, of which every file may be unpacked.

        Raises:
            Refused: it is none, is damaged, or holds more than is looked through.
        """
        if depth == DEEPEST:
            raise Refused(f"it is in more than {DEEPEST} zips in one another")
        if entry.file_size > MOST_BYTES_INSIDE:
            raise Refused(f"it is larger than {size(MOST_BYTES_INSIDE)}")
        copy = self._stack.enter_context(TemporaryFile())  # noqa: SIM115  the stack closes it
        with _errors_of(printable(entry.filename.rpartition("/")[2])):
            with archive.open(entry) as source:
                _copy(source, copy)
            inner = self._stack.enter_context(ZipFile(copy))
        entries = inner.infolist()
        if trouble := _trouble(entries, MOST_BYTES_INSIDE):
            raise Refused(trouble)
        files, together = len(entries), sum(one.file_size for one in entries)
        if files > self._files or together > self._bytes:
            raise Refused("the zips in this zip hold too much together")
        self._files, self._bytes = self._files - files, self._bytes - together
        return inner


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    while piece := source.read(COPY):
        target.write(piece)


@contextmanager
def _errors_of(name: str, advice: str = "") -> Iterator[None]:
    """Have what a zip raises say so in a sentence."""
    try:
        yield
    except OSError as error:
        raise Refused(f"{error.filename or name} could not be used: {error.strerror or error}.") from None
    except (BadZipFile, EOFError, NotImplementedError, UnicodeDecodeError, zlib.error) as error:
        raise Refused(f"{name} is no zip, or is damaged: {printable(str(error))}{advice}") from None


def _trouble(entries: list[ZipInfo], most: int) -> str:
    if len(entries) > MOST_FILES:
        return f"it holds {len(entries)} files, and more than {MOST_FILES} are not looked at"
    together = sum(entry.file_size for entry in entries)
    if together > most:
        return f"unpacked it would have {size(together)}, and more than {size(most)} are not"
    seen = set[str]()
    for entry in entries:
        name, kind = entry.orig_filename, stat.S_IFMT(entry.external_attr >> 16)
        if why := _refused(name, kind, entry.flag_bits) or ("is there twice" if name in seen else ""):
            return f"{printable(name)} {why}"
        seen.add(name)
    return ""


def _odd(name: str) -> str:
    """Why a name cannot be a file's everywhere; "" where it can."""
    if "\\" in name or "\0" in name:
        return "its name is read differently by different programs; it has to be handed in under another"
    if any(len(part.encode(errors="replace")) > LONGEST_NAME for part in name.split("/")):
        return "its name is longer than a file's can be; it has to be handed in under a shorter one"
    return ""


def _refused(name: str, kind: int, flags: int) -> str:
    if name.startswith("/") or re.match(r"[A-Za-z]:", name) or {"..", "."} & set(re.split(r"[/\\]", name)):
        return "leads out of the folder that it is unpacked in"
    if not name:
        return "has a file without a name"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link, or no file"
    return "is encrypted" if flags & ENCRYPTED else ""
