"""What a feedback page shows of a wrong answer: a public case. It is worked out after the grade, in a process that has heard nothing
hidden, so that nothing hidden can stand in it.
"""

from __future__ import annotations

from collections.abc import Callable

from course import answers
from course.checking import FailingCase, Tried, only_a_loop, plainest, tried_again, try_publicly
from course.trial.message import Message
from course.trial.ranks import staying
from course.trial.silence import silently
from course.trial.text import folded

PAGE_WIDTH = 64
"""Characters that stand beside each other in the table of a feedback page, on a laptop."""

INTRODUCTION = "What your answer gives in a public case:"
ALL_PASS = "All public cases pass; it goes wrong in hidden ones only."
OF_ALL = "In the public cases:"


def in_lines(introduction: str, case: FailingCase) -> str:
    """A public case that does not stand, as the table shows it."""
    message = Message("not yet", (introduction,), reasons=case.reasons, comparison=case.comparison)
    return folded(message.text(), PAGE_WIDTH)


def tell(function: Callable[..., object], name: str) -> None:
    """Print the plainest public case in which a wrong answer to the exercise of this name goes wrong, in lines and without a hint; a
    sentence where all of them pass; nothing where there is nothing to try. What the function prints is left out.
    """
    exercise = answers.find(name, mistakes=False)
    with staying(), silently():
        tried = try_publicly(exercise, function) if exercise else None
        told = _told(tried, function) if tried else ""
    if told:
        print(told)


def _told(tried: Tried, function: Callable[..., object]) -> str:
    if any(tried.differences):
        return in_lines(INTRODUCTION, plainest(tried.exercise, tried.observed, tried.differences))
    if tried.loops:
        said: tuple[str, ...] = (OF_ALL, only_a_loop(function))
    elif again := tried_again(tried.exercise, function, tried.observed):
        said = (OF_ALL, *again)
    else:
        said = (ALL_PASS,)
    return folded("\n".join(said), PAGE_WIDTH)
