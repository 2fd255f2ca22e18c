"""What a run told, kept in a file: the terminal may have been closed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import StringIO

from rich.console import Console

from autograder.folder import Course
from autograder.grading.store import write_atomically

FILE_WIDTH = 400
"""Columns where no terminal says how many it has: a file, or another program."""


@contextmanager
def logged(course: Course, assignment: str) -> Iterator[Console]:
    """A console whose text becomes a file in `class/logs/`, named by assignment and time, however the run ends but by being killed.

    Where it cannot be written, that stops nothing.
    """
    said, began = StringIO(), datetime.now(UTC)
    try:
        yield Console(file=said, width=FILE_WIDTH)
    finally:
        plain = re.sub(r"[^\w.-]", "_", assignment)
        name = f"{plain}-{began:%Y-%m-%d-%H%M%S-%f}.log"
        with suppress(OSError):
            write_atomically(course.class_folder / "logs" / name, said.getvalue())
