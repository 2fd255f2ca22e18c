"""Temporary folders that do not outlive who made them for long, even if that process was killed."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "autograder-"
SECONDS_TO_LOCK = 60.0  # longer than it takes from making a folder to locking it

_own: dict[Path, int] = {}


def make() -> Path:
    """A new folder, locked for as long as this process lives. Those of processes that were killed are removed first."""
    if not _own:
        reclaim()
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    _own[folder] = descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return folder


def remove(folder: Path) -> None:
    """Remove a folder that `make` made."""
    shutil.rmtree(folder, ignore_errors=True)
    descriptor = _own.pop(folder, None)
    if descriptor is not None:
        os.close(descriptor)


@atexit.register
def remove_all() -> None:
    """Remove every folder that this process made and has not removed."""
    for folder in list(_own):
        remove(folder)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder for as long as the context lasts."""
    made = make()
    try:
        yield made
    finally:
        remove(made)


def reclaim() -> None:
    """Remove the folders of processes that are no more."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        with suppress(OSError, ValueError):
            if left.stat().st_uid == os.getuid() and left not in _own and _abandoned(left):
                shutil.rmtree(left, ignore_errors=True)


def _abandoned(left: Path) -> bool:
    """Whether nobody holds a folder's lock, nor is about to take it."""
    descriptor = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return not _lives(int(left.name.split("-")[1])) or time.time() - left.stat().st_ctime > SECONDS_TO_LOCK


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
