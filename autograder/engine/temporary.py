"""Temporary folders that do not outlive who made them for long, even if that process was killed."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "autograder-"
USUAL = "/tmp"

_own: dict[Path, int] = {}


def make() -> Path:
    """A new folder, locked for as long as this process lives. Those of processes that were killed are removed first."""
    if not _own:
        reclaim()
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=_place()))
        with suppress(
            FileNotFoundError
        ):  # until it is locked, another process may take it for one of a process that is no more
            _own[folder] = os.open(folder, os.O_RDONLY)
            fcntl.flock(_own[folder], fcntl.LOCK_SH)
            if folder.is_dir():
                return folder
            remove(folder)


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
    for left in Path(_place()).glob(f"{PREFIX}[0-9]*-*"):
        with suppress(OSError):
            if left.stat().st_uid == os.getuid() and left not in _own:
                _remove_abandoned(left)


def _remove_abandoned(left: Path) -> None:
    """Remove a folder whose lock nobody holds; meanwhile nobody can take it."""
    descriptor = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(left, ignore_errors=True)
    finally:
        os.close(descriptor)


def _place() -> str:
    """Where temporary folders are made; for all of this process.

    `tempfile` itself would try that out with a file, which stays where the process is killed at that very moment.
    """
    if tempfile.tempdir is None:
        named = [os.environ[name] for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)]
        usable = (os.path.abspath(name) for name in (*named, USUAL) if os.access(name, os.W_OK | os.X_OK))
        tempfile.tempdir = next(filter(os.path.isdir, usable), None)
    return tempfile.gettempdir()
