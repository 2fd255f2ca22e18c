"""What a worked copy says of one exercise, under its answer: why, what else is right, and what every known mistake gives."""

from __future__ import annotations

import re

from autograder.authoring.solutions.mistakes import Group, groups
from autograder.authoring.solutions.styles import other_styles
from autograder.exercises.model import Exercise
from course.trial.text import marked_up

EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n)+")


def told(exercise: Exercise, solution: str) -> str:
    """The Markdown cell that follows an answer.

    Args:
        exercise: whose answer it is.
        solution: the cell of the answer, as the source has it.
    """
    return f"**Why.** {exercise.why}\n\n{_also_right(exercise, solution)}\n\n{_known_mistakes(exercise)}"


def _also_right(exercise: Exercise, solution: str) -> str:
    codes = other_styles(exercise, solution)
    blocks = "\n\n".join(f"```python\n{code}\n```" for code in codes)
    return f"<details><summary><b>Also right:</b> {len(codes)} other ways</summary>\n\n{blocks}\n\n</details>"


def _known_mistakes(exercise: Exercise) -> str:
    count = len(exercise.mistakes)
    head = f"**Known mistakes: {count}.** Each with what its student reads; unfolded, the smallest public case that shows it."
    return "\n".join([head, "", *map(_folded, groups(exercise))])


def _folded(group: Group) -> str:
    """Mistakes that give the same on their case, as HTML without an empty line, at which Markdown would begin anew."""
    lessons = "<br>".join(f"✗ {marked_up(lesson)}" for lesson in group.lessons)
    shown = EMPTY_LINES.sub(lambda found: "\n" + "&#10;" * (found[0].count("\n") - 1), group.shown)
    return f"<details><summary>{lessons}</summary>{shown}</details>"
