"""What can stop a run as a whole, each with the exit code of the command line."""

from __future__ import annotations

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
