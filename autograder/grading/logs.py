"""What nbgrader, nbconvert and the plug-ins warn about while they work."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import dedent

from autograder.plugins.printable import lines

INVALID = "Notebook JSON is invalid: "


class _Collecting(logging.Handler):
    def __init__(self, messages: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if message.startswith(INVALID):  # then come the schema and all that is there
            message = message.splitlines()[0]
        self.messages.append(lines(dedent(message)))


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """The warnings that are logged meanwhile, anywhere in this process, printable."""
    messages: list[str] = []
    handler = _Collecting(messages)
    logging.getLogger().addHandler(handler)
    try:
        yield messages
    finally:
        logging.getLogger().removeHandler(handler)
