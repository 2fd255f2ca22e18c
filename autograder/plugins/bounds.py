"""How much of a submission is read. What holds more is looked at by a person, and stops nobody else."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

LARGEST_FILE = 20 << 20
"""Bytes of a notebook, and of any other file of this course's submissions."""
LARGEST_TIMESTAMP = 100
"""Bytes of a timestamp.txt."""
MOST_BYTES = 48 << 20
"""Bytes of all the files together that another course's submission brings, or that lie beside its notebook when that is run; the
instructor's own are not counted."""
MOST_FILES = 1_000
"""Files and folders of another course's submission: nbgrader looks through each folder several times for each file."""
MOST_NAMES = 100_000
"""Files and folders beside this course's notebooks, of which only the names are read."""
DEEPEST = 20
"""Folders in one another."""
MOST_CELLS = 2_000
MOST_OUTPUTS = 10_000
"""Outputs that another course's notebook has stored in all its cells."""
MOST_VALUES = 2_000_000
"""Commas in a notebook's JSON: it has one value more, or fewer."""
MOST_CODE = 1 << 20
"""Characters in the code cells of a notebook."""

FEWER_OUTPUTS = "stored outputs count: clear all outputs, save, and hand in again"


class Refused(ValueError):
    """A submission that is not graded by itself, and waits for a person; the message is a sentence that says why.

    Attributes:
        state: the same in a few words, where there are some.
    """

    def __init__(self, sentence: str, state: str = "") -> None:
        super().__init__(sentence)
        self.state = state


class Beyond(Refused):
    """A submission holds more than is read; the message is a sentence that names the bound."""


def content(path: Path, most: int = LARGEST_FILE) -> bytes:
    """What a plain file holds. A link is not followed, and nothing is waited for.

    Raises:
        Beyond: it holds more than `most` bytes.
        OSError: it cannot be read, or is no plain file.
    """
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OSError(f"{path} is not a plain file")
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise too_large(path.name, most)
    return data


def too_large(name: str, most: int) -> Beyond:
    """What is raised of a file that holds more than `most` bytes."""
    helps = f"; {FEWER_OUTPUTS}" if name.endswith(".ipynb") else ""
    return Beyond(f"{name} is larger than {size(most)}{helps}")


def together(sizes: Iterable[int]) -> None:
    """See to it that files are not too much together.

    Raises:
        Beyond: they are.
    """
    if sum(sizes) > MOST_BYTES:
        raise Beyond(f"its files are larger than {size(MOST_BYTES)} together")


def size(count: int) -> str:
    """A number of bytes, as it is said."""
    return f"{count >> 20} MiB" if count >> 20 else f"{count} bytes"


def entries(folder: Path, most: int) -> Iterator[os.DirEntry[str]]:
    """What is in a folder, in the order of names.

    Raises:
        Beyond: there is more than `most`.
        OSError: it cannot be read.
    """
    found: list[os.DirEntry[str]] = []
    with os.scandir(folder) as listed:
        for entry in listed:
            found.append(entry)
            if len(found) > most:
                raise Beyond(f"it holds more than {most:,} files and folders")
    yield from sorted(found, key=lambda entry: entry.name)


def below(folder: Path, skipped: Callable[[str], bool] = lambda name: False) -> Iterator[os.DirEntry[str]]:
    """What is in a folder and in those folders below it that can be read; no link is followed.

    Args:
        folder: where.
        skipped: whether to pass over what has this name, with all that is in it.

    Raises:
        Beyond: it is too much, or too deep.
        OSError: the folder cannot be read.
    """
    left, waiting = MOST_FILES, [(folder, 0)]
    while waiting:
        here, depth = waiting.pop()
        if depth > DEEPEST:
            raise Beyond(f"it has more than {DEEPEST} folders in one another")
        for entry in entries(here, MOST_FILES):
            if left == 0:
                raise Beyond(f"it holds more than {MOST_FILES:,} files and folders")
            left -= 1
            if skipped(entry.name):
                continue
            yield entry
            if entry.is_dir(follow_symlinks=False) and os.access(entry.path, os.R_OK | os.X_OK):
                waiting.append((Path(entry.path), depth + 1))
