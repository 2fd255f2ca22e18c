"""How far all notebooks are, from what their checks last said and what stands in them now."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from course import answers
from course.cells import Notebook, as_run, read, text
from course.folders import copy_of
from course.handed_in import handed_in
from course.remembered import Remembered, digest, recalled
from course.trial.message import MARKS

LAST = "when last checked"
CHANGED = f"{LAST}; the saved notebook has another answer"
UNCHECKED = "not checked"
NOTHING_YET = "Nothing was checked yet."
ALL_DONE = "All checks of these notebooks pass. The hidden tests try more."


@dataclass(frozen=True)
class Standing:
    """What is known of an exercise without running anything.

    Attributes:
        said: what its check last said; "" where it was never run.
        since: "" where that holds of what the notebook has; else in words what it was said of.
    """

    name: str
    said: str = ""
    since: str = ""

    @property
    def open(self) -> bool:
        return self.said != "correct" or bool(self.since)

    def __str__(self) -> str:
        return f"{self.name}: {' '.join(filter(None, (self.said or UNCHECKED, self.since)))}"


@dataclass(frozen=True)
class Row:
    """A notebook.

    Attributes:
        link: where it lies, seen from the notebook that runs; "" where it does not.
        handed_in: when it was last, "2026-10-05 14:30"; "" where it was not.
    """

    title: str
    link: str
    exercises: tuple[Standing, ...]
    handed_in: str = ""

    @property
    def open(self) -> tuple[Standing, ...]:
        """What is to be looked at: what does not pass, or passed as another answer."""
        return tuple(one for one in self.exercises if one.open)

    @property
    def mark(self) -> str:
        if not self.open:
            return MARKS["correct"]
        return MARKS["not yet" if any(one.said == "not yet" for one in self.exercises) else "not written"]

    @property
    def checks(self) -> str:
        return f"{len(self.exercises) - len(self.open)} of {len(self.exercises)} checks passed"

    @property
    def begun(self) -> bool:
        """Whether there is anything to tell of it."""
        return bool(self.handed_in) or any(one.said for one in self.exercises)

    def html(self, exercise: str = "") -> str:
        """Its title, as a link where that leads somewhere: to its top, or to the answer of an exercise."""
        place = f"#cell-id={exercise.replace('_', '-')}-solution" if exercise else ""
        return f"<a href='{quote(self.link)}{place}'>{escape(self.title)}</a>" if self.link else escape(self.title)


@dataclass(frozen=True)
class Overview:
    """All notebooks, of which those are shown that were begun: a table in a notebook, lines elsewhere."""

    rows: Sequence[Row]

    @property
    def begun(self) -> list[Row]:
        return [row for row in self.rows if row.begun]

    def __repr__(self) -> str:
        lines = []
        for row in self.begun:
            handed_in = f", handed in {row.handed_in}" if row.handed_in else ""
            lines.append(f"{row.mark} {row.title}: {row.checks}{handed_in}")
            lines += [f"      {one}" for one in row.open]
        return "\n".join([*(lines or [NOTHING_YET]), self._next(as_html=False)])

    def _repr_html_(self) -> str:
        if not self.begun:
            return f"<p>{NOTHING_YET}</p><p>{self._next(as_html=True)}</p>"
        left = "style='text-align:left; vertical-align:top'"
        head = "".join(f"<th scope='col' {left}>{said}</th>" for said in ("notebook", "checks", "handed in", "open"))
        rows = []
        for row in self.begun:
            is_open = "<br>".join(escape(str(one)) for one in row.open)
            mark = f"<b aria-hidden='true'>{row.mark}</b>"
            said = (f"{mark} {row.html()}", row.checks, row.handed_in)
            whole = (f"<span style='white-space:nowrap'>{one}</span>" for one in said)
            cells = (*whole, is_open)
            rows.append(f"<tr>{''.join(f'<td {left}>{cell}</td>' for cell in cells)}</tr>")
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        return f"<div style='overflow-x:auto'>{table}</div><p>{self._next(as_html=True)}</p>"

    def _next(self, as_html: bool) -> str:
        """What to do next: the first exercise that is open."""
        row = next((row for row in self.rows if row.open), None)
        if row is None:
            return ALL_DONE
        name = row.open[0].name
        where, what = (row.html(name), f"<code>{escape(name)}</code>") if as_html else (row.title, name)
        return f"Next: {what} in {where}."


def overview(folder: Path) -> Overview:
    """How far the notebooks are that lie in a folder, each in a folder of its own, or lay there when they were checked."""
    kept = recalled(folder)
    here = [name for name in answers.notebooks() if name in kept or copy_of(name, folder).is_file()]
    return Overview([_row(notebook, folder, kept.get(notebook, {})) for notebook in here])


def _row(notebook: str, folder: Path, kept: dict[str, Remembered]) -> Row:
    path = copy_of(notebook, folder)
    up = "../" if folder != Path.cwd() else ""
    link = f"{up}{notebook}/{path.name}" if path.is_file() else ""
    try:
        found: Notebook = read(path.read_bytes())
        now: set[str] | None = {digest(as_run(cell)) for cell in found["cells"] if cell["cell_type"] == "code"}
        title = _title(found) or notebook
    except (OSError, ValueError, KeyError, TypeError):
        title, now = notebook, None
    standings = tuple(_standing(name, kept, now) for name in answers.names(notebook))
    return Row(title, link, standings, handed_in(notebook, folder))


def _standing(name: str, kept: dict[str, Remembered], now: set[str] | None) -> Standing:
    """An exercise, where the digests of the notebook's cells are known, or not."""
    if name not in kept:
        return Standing(name)
    since = LAST if now is None else "" if kept[name].cell in now else CHANGED
    return Standing(name, kept[name].state, since)


def _title(notebook: Notebook) -> str:
    """The first heading of the first order, without what would be markup."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown" and (found := re.match(r"# +(.+)", text(cell))):
            return re.sub(r"[`*]", "", found[1]).strip()
    return ""
