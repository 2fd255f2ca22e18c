"""What a feedback page shows of a wrong answer: a public case. It is worked out after the grade, in a process that has heard nothing
hidden, so that nothing hidden can stand in it.
"""

from __future__ import annotations

from collections.abc import Callable

from course import answers
from course.checking import only_a_loop, plainest, tried_again, try_publicly
from course.trial.message import Message
from course.trial.text import folded

PAGE_WIDTH = 64
"""Characters that stand beside each other in the table of a feedback page, on a laptop."""

INTRODUCTION = "What your answer gives in a public case:"
ALL_PASS = "All public cases pass; it goes wrong in hidden ones only."
OF_ALL = "In the public cases:"


def tell(function: Callable[..., object], name: str) -> None:
    """Print the plainest public case in which a wrong answer to the exercise of this name goes wrong, in lines and without a hint; a
    sentence where all of them pass; nothing where there is nothing to try.
    """
    exercise = answers.find(name, mistakes=False)
    tried = try_publicly(exercise, function) if exercise else None
    if tried is None:
        return
    exercise = tried.exercise
    if any(tried.differences):
        case = plainest(exercise, tried.observed, tried.differences)
        message = Message("not yet", (INTRODUCTION,), reasons=case.reasons, comparison=case.comparison)
    elif tried.loops:
        message = Message("not yet", (OF_ALL, only_a_loop(function)))
    elif again := tried_again(exercise, function, tried.observed):
        message = Message("not yet", (OF_ALL, *again))
    else:
        message = Message("not yet", (ALL_PASS,))
    print(folded(message.text(), PAGE_WIDTH))
