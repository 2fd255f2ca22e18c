"""Whether a guess was right, and what the answer is where it was measured on the reader's own machine.

A measurement that is repeated comes out differently, by a tenth or so where a machine has other things to do. So what
is measured decides about a guess only where it is further from the next answer than that.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence

from course.figures import CannotDraw

CLOSE = 1.15  # times as much or less: on another day it may be the other way round
CHANGED = 1.5  # times as much: what grows or shrinks by less is said to stay about the same
TOO_CLOSE = "Too close to call on this machine; your guess is neither right nor wrong."


def told(guess: object, answer: object) -> str:
    """The verdict on a guess, for the picture that shows the answer; "C", "(c)" and "2" are as good as "c" and 2.

    Args:
        answer: a letter, a word or a number; None where a measurement was to choose between letters, and could not.

    Raises:
        CannotDraw: the answer is a letter or a number, and the guess is none.
    """
    said = str(guess).strip().strip("()").lower()
    a_letter = answer is None or (isinstance(answer, str) and len(answer) == 1)
    if a_letter and not (len(said) == 1 and said.isalpha()):
        raise CannotDraw(
            f'Your guess is to be one of the letters, in quotation marks: "a" or "b", say. It is {guess!r}.'
        )
    if isinstance(answer, int) and not said.isdecimal():
        raise CannotDraw(f"Your guess is to be a number, such as 3. It is {guess!r}.")
    if answer is None:
        return TOO_CLOSE
    return (
        f"You guessed {answer}, and so it is."
        if said == str(answer).lower()
        else f"You guessed {said}; it is {answer}."
    )


def least(measured: Mapping[str, float]) -> str | None:
    """The name of the smallest of two or more measurements; None where another one is close to it."""
    first, second = sorted(measured, key=lambda name: measured[name])[:2]
    return first if measured[second] > CLOSE * measured[first] else None


def between(measured: float, edges: Sequence[float], answers: str) -> str | None:
    """Which answer a measurement speaks for; None where it is close to an edge.

    Args:
        edges: rising, greater than 0; the first answer holds below the first, the last above the last.
        answers: their letters, one more than there are edges.
    """
    if any(edge / CLOSE <= measured <= edge * CLOSE for edge in edges):
        return None
    return answers[bisect(edges, measured)]
