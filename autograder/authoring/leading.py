"""What leads from one notebook to another: their titles, and the line at the foot of each with the ways home, back and on."""

from __future__ import annotations

import json
import re
from functools import cache

from autograder.exercises import NOTEBOOKS
from autograder.settings import ROOT

FOOT_OF = "closing"
"""The id of the cell of text that ends with the line."""

HOME = "[Home](../index.ipynb)"
LINE = re.compile(rf"\n+{re.escape(HOME)}.*\Z")


def number(notebook: str) -> str:
    return notebook.partition("_")[0]


@cache
def opening(notebook: str) -> str:
    """The text of a source notebook's first cell."""
    path = ROOT / "source" / notebook / f"{notebook}.ipynb"
    return "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])


def title(notebook: str) -> str:
    """A notebook's title with its number: "00 · Reading a matrix product"."""
    return re.sub(r"\A# (?:\d+ · )?(.*)[\s\S]*", rf"{number(notebook)} · \1", opening(notebook))


def with_foot(text: str, notebook: str, last: str = NOTEBOOKS[-1]) -> str:
    """The text that ends a notebook, with the line under it, and no other one.

    Args:
        last: the last notebook that the reader has.
    """
    place = NOTEBOOKS.index(notebook)
    ways = [HOME]
    if place:
        ways.append(f"before: {_link(NOTEBOOKS[place - 1])}")
    if notebook == NOTEBOOKS[-1]:
        ways.append("this is the last notebook")
    elif notebook == last:
        ways.append(f"next: notebook {number(NOTEBOOKS[place + 1])}, which a newer kit brings")
    else:
        ways.append(f"next: {_link(NOTEBOOKS[place + 1])}")
    return f"{LINE.sub('', text)}\n\n{' · '.join(ways)}"


def _link(notebook: str) -> str:
    return f"[{title(notebook)}](../{notebook}/{notebook}.ipynb)"
