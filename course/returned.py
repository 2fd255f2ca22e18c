"""`feedback`: the table that a feedback page begins with, in the notebook."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from course.trial.text import in_columns, indented, marked_up

NAME = "course-feedback"  # of the element in which a page says the same for programs
FORM = 1
BESIDE = ("*.html", "feedback/*.html", "feedback/*/*.html")  # the last is where `nbgrader fetch_feedback` puts pages
LONGEST_HEAD = 8 << 20  # characters
NONE_HERE = (
    "There is no feedback page in {}. Fetch yours, by `nbgrader fetch_feedback` or from where your instructor puts it, and give "
    'feedback its place: feedback("00_shapes.html").'
)
NOT_OURS = (
    "{} is no feedback page of this course, or an older one that says nothing for programs: open it in a browser."
)
NEWER = "{} was made for a newer kit than yours: open it in a browser, or start the newer kit."


class Unreadable(Exception):
    """Why a page cannot be shown here, in a sentence."""


@dataclass(frozen=True)
class Feedback:
    """What a feedback page says of a notebook's exercises. Print it, or let the notebook show it."""

    page: Path
    told: dict[str, Any]

    def __repr__(self) -> str:
        lines = [self._head(), *self._notes()]
        for row in self.told["rows"]:
            lines.append(f"{row['mark']} {row['name']}: {row['outcome']}, {_earned(row)} points")
            lines += [f"    {remark}" for remark in row["remarks"]]
            lines += [f"    {_missed(one)}" for one in row["missed"]]
            lines += [indented(row["case"])] if row["case"] else []
            lines += [f"    {row['advice']}"] if row["advice"] else []
            lines += [f"    Comment: {row['comment']}"] if row["comment"] else []
            lines += [f"    {text}" for text in _asked(row)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        rows = "".join(map(_row, self.told["rows"]))
        head = "<tr><th scope='col'>exercise</th><th scope='col'>points</th><th scope='col'>what came of it</th></tr>"
        return f"<div><p><b>{escape(self._head())}</b></p>{notes}<table><thead>{head}</thead><tbody>{rows}</tbody></table></div>"

    def _notes(self) -> list[str]:
        """What is said of the whole notebook."""
        by_hand = self.told.get("by_hand", "")  # pages that are older say nothing of it
        return [
            *([by_hand] if by_hand else []),
            *(f"Repaired before grading: {note}" for note in self.told["repaired"]),
        ]

    def _head(self) -> str:
        late = f", late: −{self.told['late']:g}" if self.told["late"] else ""
        waiting = self.told.get("waiting", 0)
        points = f"{_points(self.told['score'], self.told['points'] - waiting)} points"
        so_far = f" so far; {waiting:g} wait for a person" if waiting else ""
        return f"{self.told['notebook']}: {points}{so_far}{late} ({self.page.name})"


def feedback(path: str | os.PathLike[str] | None = None) -> Feedback | None:
    """Show what came back after the grade: the table that your feedback page begins with.

    Args:
        path: the page, or a folder with pages, of which the newest is shown; None is the folder of the notebook.

    Returns:
        The table, or None where there is none to show; then a sentence says why.
    """
    if os.environ.get("NBGRADER_EXECUTION"):
        return None
    try:
        return _read(_found(Path(path or ".")))
    except Unreadable as reason:
        print(reason)
        return None


def _found(path: Path) -> Path:
    """The page meant: the one named, or the newest of a folder.

    Raises:
        Unreadable: there is none.
    """
    if path.is_file():
        return path
    pages = sorted(_pages(path), key=lambda page: page.stat().st_mtime, reverse=True)
    ours = next((page for page in pages if _carried(page) is not None), None)
    if ours is None:
        raise Unreadable(NONE_HERE.format(f"the folder {path.resolve()}" if path.is_dir() else path))
    return ours


def _pages(folder: Path) -> Iterator[Path]:
    for pattern in BESIDE:
        yield from (page for page in folder.glob(pattern) if page.is_file())


def _read(page: Path) -> Feedback:
    """What a page says for programs.

    Raises:
        Unreadable: it says nothing, or in another form.
    """
    carried = _carried(page)
    if carried is None:
        raise Unreadable(NOT_OURS.format(page))
    try:
        told = json.loads(carried)
        if told["form"] != FORM:
            raise Unreadable(NEWER.format(page))
        shown = Feedback(page, told)
        repr(shown), shown._repr_html_()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Unreadable(NOT_OURS.format(page)) from None
    return shown


def _carried(page: Path) -> str | None:
    """The text in a page's head that is for programs; None where there is none. Nothing in the page is run."""
    try:
        with page.open(encoding="utf-8", errors="replace") as file:
            head = file.read(LONGEST_HEAD).partition("</head>")[0]
    except OSError:
        return None
    reader = _Head()
    reader.feed(head)
    return reader.carried


class _Head(HTMLParser):
    carried: str | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        stated = dict(attributes)
        if tag == "meta" and stated.get("name") == NAME and self.carried is None:
            self.carried = stated.get("content")


def _points(score: float, of: float) -> str:
    return f"{score:g} of {of:g}"


def _earned(row: dict[str, Any]) -> str:
    return f"? of {row['points']:g}" if row.get("waits") else _points(row["score"], row["points"])


def _asked(row: dict[str, Any]) -> Iterator[str]:
    """Regrade requests, and what was decided."""
    for one in row.get("requests", ()):
        decided = f"{one['decision'].capitalize()}: {one['reason']}" if one["decision"] else "Not decided yet."
        yield f"Your regrade request: {one['says']} {decided}"


def _missed(one: dict[str, Any]) -> str:
    return (
        f"{_points(one['earned'], one['points'])}: {one['shows']}{f' ({reason})' if (reason := one['reason']) else ''}"
    )


def _row(row: dict[str, Any]) -> str:
    """An exercise as a row of a table."""
    said = [f"<p><span aria-hidden='true'>{escape(row['mark'])}</span> {escape(row['outcome'])}</p>"]
    said += [f"<p><b>{marked_up(remark)}</b></p>" for remark in row["remarks"]]
    missed = "".join(f"<li>{marked_up(_missed(one))}</li>" for one in row["missed"])
    said += [f"<ul>{missed}</ul>"] if missed else []
    said += [in_columns(row["case"])] if row["case"] else []
    said += [
        f"<p>{escape(text)}</p>"
        for text in (row["advice"], row["comment"] and f"Comment: {row['comment']}", *_asked(row))
        if text
    ]
    left = "<td style='text-align:left; vertical-align:top'>"
    name = f"<th scope='row' style='text-align:left; vertical-align:top'>{escape(row['name'])}</th>"
    return f"<tr>{name}{left}{_earned(row)}</td>{left}{''.join(said)}</td></tr>"
