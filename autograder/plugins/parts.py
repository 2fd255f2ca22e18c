"""The parts that a page is laid out in, each with its share of processor time."""

from __future__ import annotations

import time
from collections.abc import Callable
from html import escape
from multiprocessing.sharedctypes import RawValue

from autograder.plugins.confining import OutOfTime, processor_time

PART_SECONDS = 5.0
ALL_PARTS_SECONDS = 20.0
MOST_DEATHS = 4


class Parts:
    """The parts of one page, numbered as they come: those that cannot be laid out are shown as they were typed.

    Args:
        confined: whether this is a process of its own, whose processor time is watched; of a part that it dies of, this one hears.
    """

    def __init__(self, confined: bool = False) -> None:
        self._confined = confined
        self._seconds = ALL_PARTS_SECONDS
        self._number = 0
        self._begun = RawValue("i", 0)  # the number of the part that is being laid out, or 0; shared with forks
        self._left_out: dict[int, str] = {}

    def shown(self, text: str, convert: Callable[[], str], instead: Callable[[str], str] | None = None) -> str:
        """What a converter makes of a part, or else what is to stand there for a reason: a sentence and the text."""
        if not self._confined:
            return convert()
        self._number += 1
        reason = self._left_out.get(self._number, "")
        if not reason:
            began = time.process_time()
            self._begun.value = self._number
            try:
                with processor_time(max(min(PART_SECONDS, self._seconds), 0.01)):
                    return convert()
            except OutOfTime:
                reason = "it takes too much time"
            except MemoryError:
                reason = "it takes too much memory"
            except RecursionError:
                reason = "it is nested too deeply"
            except Exception as error:
                reason = f"{type(error).__name__}: {error!s:.200}"
            finally:
                self._begun.value = 0
                self._seconds -= time.process_time() - began
        return instead(reason) if instead else typed(text, reason)

    def leave_out(self, reason: str) -> bool:
        """Where a fork died of a part, have the next one leave it out; give back whether that is worth a try."""
        number = self._begun.value
        if not number or len(self._left_out) == MOST_DEATHS:
            return False
        self._begun.value = 0
        self._left_out[number] = reason
        return True


def typed(text: str, reason: str) -> str:
    sentence = f"This part of your notebook could not be shown: {reason}. As it was typed:"
    return f"<p><b>{escape(sentence)}</b></p><pre>{escape(text)}</pre>"
