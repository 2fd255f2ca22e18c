"""The files beside a notebook: which there are, and what running it has changed."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

MAX_FILES = 500
MAX_FILE_BYTES = 16 << 20


def stamps(home: Path) -> dict[str, tuple[int, int]]:
    """When each file, or link, was changed, and its length."""
    found = {}
    for path in home.rglob("*"):
        status = path.lstat()
        if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
            found[str(path.relative_to(home))] = (status.st_mtime_ns, status.st_size)
    return found


def _content(path: Path) -> bytes:
    """What a plain file holds; a link is not followed."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        return file.read(MAX_FILE_BYTES)


def changes(home: Path, before: dict[str, tuple[int, int]]) -> tuple[dict[str, bytes], list[str]]:
    """What a notebook wrote, as far as it is not too much, and which files it removed."""
    now = stamps(home)
    written: dict[str, bytes] = {}
    left = MAX_FILE_BYTES
    for name in sorted(name for name, stamp in now.items() if before.get(name) != stamp)[:MAX_FILES]:
        if now[name][1] <= left:
            with suppress(OSError):  # it may have gone, or be kept from being read
                written[name] = _content(home / name)
                left -= len(written[name])
    return written, sorted(before.keys() - now.keys())
