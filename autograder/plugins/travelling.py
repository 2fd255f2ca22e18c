"""The files beside a notebook: sent in before it runs, brought back after. The notebook itself stays outside."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

MAX_BYTES = 48 << 20


class TooMuchToSend(ValueError):
    """The files beside a notebook are more than fits into the folder that it runs in."""


def gather(folder: Path) -> dict[str, bytes]:
    """The plain files below a folder, but for notebooks, by relative path.

    Raises:
        TooMuchToSend: they are larger than `MAX_BYTES` together.
    """
    found: dict[str, bytes] = {}
    size = 0
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file() or path.suffix == ".ipynb":
            continue
        size += path.stat().st_size
        if size > MAX_BYTES:
            raise TooMuchToSend(f"the files in {folder} are more than {MAX_BYTES >> 20} MiB")
        found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def settle(folder: Path, changed: Mapping[str, bytes | None]) -> None:
    """Write what a notebook changed; nothing is followed, and notebooks are left alone.

    Args:
        folder: where the notebook is.
        changed: contents by relative path, None for what was removed.
    """
    for name, content in sorted(changed.items(), key=lambda one: one[1] is not None):  # what was removed comes first
        path = folder / name
        if path.suffix == ".ipynb" or not _inside(path, folder):
            continue
        with suppress(OSError):  # a file and a folder of the same name, or one that is too long for this disk
            if path.is_symlink() or path.is_file():
                path.unlink()
            if content is not None and not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
                with open(descriptor, "wb") as file:
                    file.write(content)


def _inside(path: Path, folder: Path) -> bool:
    """Whether the folders on the way to a file lie below this one, links and all."""
    return path.parent.resolve().is_relative_to(folder.resolve())
