"""What is said of an answer, in parts; as text, as HTML, and as a tree that a program reads."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal

from course.trial.text import in_columns, indented, marked_up, marks_entries, show, side_by_side, side_by_side_html
from course.trial.values import Value

State = Literal["correct", "not yet", "not written", "not run", "unknown"]

MARKS: dict[State, str] = {"correct": "✓", "not yet": "✗", "not written": "·", "not run": "·", "unknown": "?"}
"""By what a state is told at a glance, beside its words; in shape, so that no colour is needed."""


class Comparison:
    """The wanted result, or the part of it that differs, beside the student's; it stays as it was when it was made.

    Args:
        expected, yours: the two.
        picture: of where they differ, in lines; "" where there is none.
    """

    def __init__(self, expected: Value, yours: Value, picture: str = "") -> None:
        self._expected, self._yours = deepcopy((expected, yours))
        self._picture = picture

    def text(self) -> str:
        table = indented(side_by_side(self._expected, self._yours))
        return f"{table}\n{self._picture}" if self._picture else table

    def html(self) -> str:
        """The two as a table. Where it marks the entries that differ itself, a picture would say it twice."""
        picture = "" if marks_entries(self._expected, self._yours) else self._picture
        return side_by_side_html(self._expected, self._yours) + (in_columns(picture) if picture else "")

    def to_json(self) -> dict[str, str]:
        return {"expected": show(self._expected), "yours": show(self._yours)}


@dataclass(frozen=True)
class Message:
    """What `check` says of one exercise, in the order in which it is read.

    Attributes:
        state: in a word.
        caution: what is to be known before all else; "" where nothing is.
        sentences: how it stands, and where to begin.
        lessons: what is said of each known mistake that it may be.
        reasons: the case that shows it, and what is wrong there.
        comparison: the results of that case.
        notes: what else was seen.
    """

    state: State
    sentences: tuple[str, ...]
    caution: str = ""
    lessons: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    comparison: Comparison | None = field(default=None, compare=False)
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """What is printed."""
        table = [self.comparison.text()] if self.comparison else []
        before = [self.caution] if self.caution else []
        return "\n".join([*before, *self.sentences, *self.lessons, *self.reasons, *table, *self.notes])

    def html(self) -> str:
        """What a notebook shows."""
        before = f"<p><b>{marked_up(self.caution)}</b></p>" if self.caution else ""
        mark = f"<b aria-hidden='true'>{MARKS[self.state]}</b> "
        if not (self.lessons or self.reasons):
            return before + _marked(mark, paragraphs([*self.sentences, *self.notes]))
        lessons = "".join(f"<p><b>{marked_up(lesson)}</b></p>" for lesson in self.lessons)
        table = self.comparison.html() if self.comparison else ""
        said = (
            f"{_marked(mark, _blocks(self.sentences))}{lessons}{_blocks(self.reasons)}{table}{paragraphs(self.notes)}"
        )
        return f"{before}<div>{said}</div>"

    def to_json(self) -> dict[str, Any]:
        """The attributes, under their names: texts and lists of texts; `comparison` is null, or {"expected", "yours"} as shown."""
        return {
            "state": self.state,
            "caution": self.caution,
            "sentences": list(self.sentences),
            "lessons": list(self.lessons),
            "reasons": list(self.reasons),
            "comparison": self.comparison.to_json() if self.comparison else None,
            "notes": list(self.notes),
        }


def _marked(mark: str, blocks: str) -> str:
    """HTML with a mark before its first word."""
    return blocks.replace("<p>", f"<p>{mark}", 1)


def paragraphs(texts: Iterable[str]) -> str:
    """Texts as HTML, each a paragraph."""
    return "".join(f"<p>{marked_up(text)}</p>" for text in texts)


def _blocks(texts: Iterable[str]) -> str:
    """Texts as HTML; those of several lines keep their columns."""
    return "".join(in_columns(text, "margin-bottom:1em; ") if "\n" in text else paragraphs([text]) for text in texts)
