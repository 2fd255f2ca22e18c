"""A new version of a notebook and a student's work in an old one, put together: nothing that a student wrote is lost.

Cells are known by their ids. What the student changed is the student's, what the course changed is the course's. Where both changed
one cell, both versions stand in the notebook, one after the other; but for a cell of code in which only words of the course are new:
these are put into the student's version.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable

from course.cells import Cell, Notebook, text
from course.kit.weaving import woven

NEW = "-new"
NEW_TEXT = "**The course has changed the cell above since you wrote in it.** What you wrote was kept. The course's new version:"
OLD_TEXT = "**The course has changed the cell above since you wrote in it.** What you wrote there is in the next cell."


def merged(base: Notebook, theirs: Notebook, new: Notebook) -> tuple[Notebook, list[str]]:
    """A new version of a notebook with a student's work in it.

    Args:
        base: the version that the student began with.
        theirs: what the student has made of it. A front end may have taken its cells' ids away.
        new: the version to come.

    Returns:
        The notebook, and the ids of the cells that both sides changed.
    """
    old = {cell["id"]: cell for cell in base["cells"]}
    known, following = _known(theirs["cells"], old)
    cells, clashes = following.pop("", []), []
    for cell in new["cells"]:
        name = cell["id"]
        mine = known.pop(name, None)
        if mine is None or text(mine) == text(cell):
            cells.append(_with(cell, mine))
        elif name in old and text(mine) == text(old[name]):
            cells.append(cell)
        elif name in old and text(cell) == text(old[name]):
            cells.append(_with(cell, mine))
        elif (together := _together(old.get(name), mine, cell)) is not None:
            cells.append(together)
        else:
            clashes.append(name)
            cells += _both(cell, mine)
        cells += following.pop(name, [])
    for name, mine in known.items():  # what the course has no more
        cells += [_own(mine)] if text(mine) != text(old[name]) else []
        cells += following.pop(name, [])
    return {**new, "cells": _with_ids(cells)}, clashes


def _known(cells: Iterable[Cell], old: dict[str, Cell]) -> tuple[dict[str, Cell], dict[str, list[Cell]]]:
    """The course's cells in a student's notebook, by id; and the student's own cells, by the id before them, "" at the top."""
    known: dict[str, Cell] = {}
    following: dict[str, list[Cell]] = defaultdict(list)
    last = ""
    for cell, name in _named(list(cells), old):
        if name:
            known[name], last = cell, name
        elif not cell.get("id", "").endswith(NEW):
            following[last].append(_own(cell))
    return known, following


def _named(cells: list[Cell], old: dict[str, Cell]) -> list[tuple[Cell, str | None]]:
    """A student's cells, each with the id of the course's cell that it is, or was; None for the student's own."""
    names: list[str | None] = []
    for cell in cells:
        names.append(_name(cell, {name: one for name, one in old.items() if name not in names}))
    order = list(old)
    for place, cell in enumerate(cells):
        if names[place] is None and "id" not in cell:  # a front end took it away, and the student wrote in the cell
            names[place] = _between(place, cell, names, order, old)
    return list(zip(cells, names, strict=True))


def _between(place: int, cell: Cell, names: list[str | None], order: list[str], old: dict[str, Cell]) -> str | None:
    """The one cell of the course, if it is one, that stood between the same two cells, and that no other cell is."""
    before = next((order.index(name) + 1 for name in reversed(names[:place]) if name), 0)
    behind = next((order.index(name) for name in names[place + 1 :] if name), len(order))
    missing = [
        name for name in order[before:behind] if name not in names and old[name]["cell_type"] == cell["cell_type"]
    ]
    return missing[0] if len(missing) == 1 else None


def _name(cell: Cell, old: dict[str, Cell]) -> str | None:
    """The id of the course's cell that this one is, or was."""
    if cell.get("id") in old:
        return str(cell["id"])
    same_name = (name for name, one in old.items() if _grade_id(one) and _grade_id(one) == _grade_id(cell))
    same_text = (name for name, one in old.items() if text(one) == text(cell))
    return next(same_name, None) or next(same_text, None)


def _grade_id(cell: Cell) -> str | None:
    return cell["metadata"].get("nbgrader", {}).get("grade_id")


def _with(cell: Cell, mine: Cell | None) -> Cell:
    """The course's cell with what the student's one says and shows."""
    if mine is None or mine["cell_type"] != cell["cell_type"]:
        return cell
    return cell | {key: mine[key] for key in ("source", "outputs", "execution_count") if key in mine}


def _own(cell: Cell) -> Cell:
    """A cell as one of the student's own, which nobody grades."""
    return {**cell, "metadata": {key: value for key, value in cell["metadata"].items() if key != "nbgrader"}}


def _is_theirs(cell: Cell, mine: Cell) -> bool:
    """Whether a cell of the course is one that students write in."""
    described = cell["metadata"].get("nbgrader", {})
    theirs = described.get("solution", cell["cell_type"] == "code" and not described.get("locked"))
    return bool(theirs) and mine["cell_type"] == cell["cell_type"]


def _together(old: Cell | None, mine: Cell, cell: Cell) -> Cell | None:
    """A cell of code that both sides changed, as one, where only words of the course's are new; else None."""
    if old is None or cell["cell_type"] != "code" or not _is_theirs(cell, mine):
        return None
    made = woven(text(old), text(mine), text(cell))
    return None if made is None else _with(cell, {**mine, "source": made})


def _both(cell: Cell, mine: Cell) -> list[Cell]:
    """A cell that both sides changed: the student's stands where it counts if that is theirs to write, else the course's does."""
    if _is_theirs(cell, mine):
        fence = "```python" if cell["cell_type"] == "code" else "```"
        return [_with(cell, mine), _note(f"{cell['id']}{NEW}", f"{NEW_TEXT}\n\n{fence}\n{text(cell)}\n```")]
    return [cell, _note(f"{cell['id']}-changed", OLD_TEXT), _own(mine)]


def _note(name: str, says: str) -> Cell:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": says}


def _with_ids(cells: list[Cell]) -> list[Cell]:
    """The cells, each with an id that no other has."""
    found: dict[str, Cell] = {}
    for place, cell in enumerate(cells):
        name = cell.get("id", "")
        if not name or name in found:
            name = hashlib.sha256(f"{place} {text(cell)}".encode()).hexdigest()[:12]
        found[name] = {**cell, "id": name}
    return list(found.values())
