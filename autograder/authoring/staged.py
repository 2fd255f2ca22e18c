"""Pages of `docs/` as far as a reader has come: nothing in them of a later notebook.

A row of a table goes by its column of notebooks, "00", "02, 08" or "01 to 05"; an entry under a heading goes by the notebook to which it
leads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

COLUMNS = ("in", "notebooks", "where", "from")
"""What a table calls its column of notebooks."""

NUMBERS = re.compile(r"\d\d(?: to \d\d)?(?:, \d\d(?: to \d\d)?)*")
TO_A_NOTEBOOK = re.compile(r"\]\(\.\./release/((\d\d)_\w+/[^)]*)\)")
FEW = 2  # notebooks in a row that are named one by one


def staged(page: str, last: str) -> str:
    """A page's text up to a notebook, with links as they are beside the notebooks."""
    return TO_A_NOTEBOOK.sub(r"](\1)", "".join(_entries("\n".join(_rows(page.split("\n"), last)), last)))


def _rows(lines: list[str], last: str) -> Iterator[str]:
    """The lines without those of tables that belong to later notebooks."""
    column: int | None = None
    for before, line in zip(["", *lines], lines, strict=False):
        if not line.startswith("|"):
            yield line
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not before.startswith("|"):
            column = next((place for place, cell in enumerate(cells) if cell in COLUMNS), None)
        if column is None or not NUMBERS.fullmatch(cells[column]):
            yield line
        elif here := _up_to(cells[column], last):
            cells[column] = here
            yield f"| {' | '.join(cells)} |"


def _up_to(numbers: str, last: str) -> str:
    """The notebooks up to one, as they were told: "01 to 05" is "01 to 03" up to 03."""
    meant: list[str] = []
    for part in numbers.split(", "):
        first, _, end = part.partition(" to ")
        meant += [f"{one:02}" for one in range(int(first), int(end or first) + 1) if one <= int(last[:2])]
    runs: list[list[str]] = []
    for one in meant:
        if runs and int(one) == int(runs[-1][-1]) + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > FEW else ", ".join(run) for run in runs)


def _entries(page: str, last: str) -> Iterator[str]:
    """The parts of a page, each with its heading, without those that lead to a later notebook or have nothing left in them."""
    parts = re.split(r"^(?=#+ )", page, flags=re.MULTILINE)
    kept = [part for part in parts if all(number <= last[:2] for _, number in TO_A_NOTEBOOK.findall(part))]
    for place, part in enumerate(kept):
        heading, _, body = part.partition("\n")
        behind = kept[place + 1] if place + 1 < len(kept) else ""
        if body.strip() or not heading or _depth(behind) > _depth(part):
            yield part


def _depth(part: str) -> int:
    return len(part) - len(part.lstrip("#"))
