"""Words that students chose, as they may stand in a log and on a terminal."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Iterable

MOST_SAID = 10
"""Of one notebook, how many things are said."""
LONGEST = 4_000
"""Characters of one message; the rest is cut."""
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def printable(text: str) -> str:
    """A text in one line in which nothing moves the cursor, changes a colour, turns the direction or is half a character.

    What does is written as Python would write it: an escape is "\\x1b", a new line "\\n".
    """
    shown = "".join(_shown(character) for character in text[:LONGEST])
    return shown if len(text) <= LONGEST else f"{shown} ... ({len(text) - LONGEST} characters more)"


def lines(text: str) -> str:
    """The same, of a text that may have several lines, such as a traceback."""
    return "\n".join(map(printable, text.split("\n")))


def few(said: Iterable[str], most: int = MOST_SAID) -> list[str]:
    """The first of what is said of one student, each thing once, and how many more there are."""
    every = [*dict.fromkeys(said)]
    more = len(every) - most
    return every if more <= 0 else [*every[:most], f"and {more:,} more"]


def without_colours(text: str) -> str:
    """A text without what changes the colour of a terminal's letters."""
    return COLOUR.sub("", text)


def _shown(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return character.encode("unicode_escape").decode()


class Printable(logging.Filter):
    """Has every record that passes printable; nbgrader's formatter indents each line but the first, so none can be forged."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = lines(record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        record.exc_text = record.exc_text and lines(record.exc_text)
        return True
