"""The instructor's files beside a notebook: every submission finds them in its folder, and none is sent a copy of its own.

The smaller ones are sent to the zygote once, and lie in memory below each submission's folder, which may change them for itself. The larger
ones are let in through the outer wall as they are, to be read, and stand in the folder as links.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

IN_MEMORY = 64 << 20
MOST_IN_MEMORY = 1 << 30
MOST_LET_IN = 100  # each makes every wall a little slower to build
LET_IN = "/opt/beside"


class TooMuchToSend(ValueError):
    """The files beside a notebook are more than fits into the folder that it runs in."""


class Given:
    """The instructor's files, and how they come to a submission.

    Args:
        files: where they are, by the relative path that they have beside the notebook.

    Attributes:
        files: all of them.
        sent: those that are sent.
        let_in: those that are let in.

    Raises:
        OSError: one is not there.
        TooMuchToSend: they cannot be let in, and are too large to be sent.
    """

    def __init__(self, files: Mapping[str, Path]) -> None:
        self.files = dict(files)
        found = {name: path.stat() for name, path in files.items()}
        self.key = tuple((name, one.st_dev, one.st_ino, one.st_size, one.st_mtime_ns) for name, one in found.items())
        self.sent: dict[str, Path] = {}
        self.let_in: dict[str, Path] = {}
        size = 0
        for number, name in enumerate(sorted(files, key=lambda name: found[name].st_size)):
            small = size + found[name].st_size <= IN_MEMORY or len(files) - number > MOST_LET_IN
            if small or not _anybody_may_read(files[name]):
                size += found[name].st_size
                self.sent[name] = files[name]
            else:
                self.let_in[name] = files[name].resolve()
        if size > MOST_IN_MEMORY:
            raise TooMuchToSend(
                f"the files beside the notebook that have to be held in memory are {size >> 20} MiB: pack them into at most "
                f"{MOST_LET_IN} larger ones, and let everybody read these (chmod a+r)"
            )

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.files)

    def places(self) -> Iterator[tuple[str, Path, str]]:
        """Of each file that is let in: its name, where it is, and where it is within."""
        for number, (name, path) in enumerate(self.let_in.items()):
            yield name, path, f"{LET_IN}/{number}"


NOTHING = Given({})


def _anybody_may_read(path: Path) -> bool:
    """Whether the unprivileged user within may; for a grader who is not root, that is the grader."""
    return os.access(path, os.R_OK) if os.getuid() else bool(path.stat().st_mode & 0o004)
