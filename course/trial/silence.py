"""Nothing is printed meanwhile: for calls of a student's function that the student did not ask for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast


class _Mute:
    """A stream that is as another one, except that nothing comes of what is written to it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return len(text)

    def writelines(self, lines: object) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def silently() -> Iterator[None]:
    """Drop what is printed, to either stream."""
    out, error = (cast(TextIO, _Mute(stream)) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(error):
        yield
