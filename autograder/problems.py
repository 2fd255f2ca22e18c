"""What can stop a run as a whole, each with the exit code of the command line."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from autograder.plugins.printable import lines

FAILED = 1
USAGE = 2
UNCONFIRMED = 3
OTHER_RUN = 4
INTERRUPTED = 130


class Problem(RuntimeError):
    """Grading cannot begin, or cannot go on; the message says what to do.

    Attributes:
        code: the exit code.
    """

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(lines(message))
        self.code = code


OF_PEOPLE = 0.65
"""How much alike two ids of students have to be for one to be meant by the other: a slip of the finger in three letters."""


def nearest(word: str, known: Iterable[str], alike: float = 0.6) -> str:
    """A question that ends a message on a word that nobody knows: whether a similar one was meant; nothing where there is none."""
    near = get_close_matches(word, list(known), n=3, cutoff=alike)
    return f" Did you mean {' or '.join(near)}?" if near else ""
