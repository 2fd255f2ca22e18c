"""The notebooks as students get them, and beside them the pages that lead through them: a home, a reference and a sheet to print."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from autograder.authoring.leading import FOOT_OF, opening, title, with_foot
from autograder.authoring.staged import staged
from autograder.exercises import NOTEBOOKS, names_in
from autograder.problems import FAILED, Problem
from autograder.settings import ROOT
from course.kit.lab import HOME

REFERENCE, SHEET = "reference.ipynb", "shapes.ipynb"
"""What the pages in `docs/` are, beside the notebooks."""

PLACES = {
    "stuck.md": REFERENCE,
    "glossary.md#letters": f"{REFERENCE}#cell-id=glossary",
    "glossary.md": REFERENCE,
    "sources.md": REFERENCE,
    "shapes.md": SHEET,
}
TO_A_HEADING = re.compile(r"\]\((\w+)/\1\.ipynb#([^)]+)\)")
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
ABOUT = """# Attention in matrices

Attention is how a language model lets words look at each other. Here you write it yourself: first as a loop, one word
after the other, then as products of matrices, in which no word waits.

Each notebook explains a step, asks you to write it, and checks what you wrote. Where your answer is a known mistake, it
says which. Nothing is counted while you try."""
STATES = """## How far you are

Click into the next cell and press Shift+Enter. It tells what each check last said, and which exercise comes next."""
NEXT = """## What to do next

- **Begin** with [{first}]({link}), and take the notebooks in their order. Each builds on those before.
- **Stuck?** [Reference]({reference}) says what the messages mean that you may get, and has the words, the letters and the
  sources.
- **Lost among shapes?** All of them stand on [one sheet]({sheet}), which can be printed.
- **Done with a notebook?** Its last cell makes the file to hand in."""
LATER = "- **More** comes with a newer kit. Start that one in the same way; what you wrote stays."
REFERENCE_ABOUT = """# Reference

To look things up, not to read through: [where you are stuck](#Where-you-are-stuck), the [words](#Words), the
[letters](#Letters) and the [sources](#Sources). All arrays stand on the [sheet of shapes]({sheet}).

Where a link opens a notebook at its top, it was closed before: click once more, and you are at the place.

[Home]({home})"""

Cell = dict[str, Any]


def write_notebooks(last: str, folder: Path) -> None:
    """Write the notebooks up to one, "NAME/NAME.ipynb", and the pages beside them.

    Args:
        last: "03_causal_mask". From its end nothing leads on.
    """
    notebooks = NOTEBOOKS[: NOTEBOOKS.index(last) + 1]
    for name in notebooks:
        made = _released(name)
        for cell in made["cells"]:
            if cell["id"] == FOOT_OF:
                cell["source"] = with_foot("".join(cell["source"]), name, last).splitlines(keepends=True)
        _write(folder / _place(name), made)
    for page, cells in ((HOME, _home(notebooks)), (REFERENCE, _reference(last)), (SHEET, _sheet(last))):
        _write(folder / page, {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5})


def _home(notebooks: tuple[str, ...]) -> list[Cell]:
    first, last = notebooks[0], notebooks[-1]
    rows = [f"| [{title(name)}]({_place(name)}) | {len(names_in(name))} | {_minutes(name)} |" for name in notebooks]
    what_next = NEXT.format(first=title(first), link=_place(first), reference=REFERENCE, sheet=SHEET)
    return [
        _text("about", ABOUT),
        _text("map", "\n".join(["## The notebooks", "", "| notebook | exercises | minutes |", "|-|-|-|", *rows])),
        _text("states", STATES),
        _code("progress", "from course import progress\n\nprogress()"),
        _text("next", what_next if last == NOTEBOOKS[-1] else f"{what_next}\n{LATER}"),
    ]


def _reference(last: str) -> list[Cell]:
    about = _text("about", REFERENCE_ABOUT.format(sheet=SHEET, home=HOME))
    return [about, *(_text(name, _deeper(_page(name, last))) for name in ("stuck", "glossary", "sources"))]


def _sheet(last: str) -> list[Cell]:
    """The sheet, on which no array is broken in two, with the way back: not under it, since all of it is one page to print."""
    unbroken = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", "\N{NO-BREAK SPACE}"), _page("shapes", last))
    return [_text("shapes", unbroken.replace("\n\n|", f" [Home]({HOME})\n\n|", 1))]


def _page(name: str, last: str) -> str:
    """A page of `docs/` up to a notebook, with links as they are here."""
    text = staged((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"), last).strip()
    text = TO_A_HEADING.sub(lambda link: f"]({_place(link[1])}#cell-id={_cell(link[1], link[2])})", text)
    return re.sub(r"\]\(([\w.]+\.md(?:#\w+)?)\)", lambda link: f"]({PLACES[link[1]]})", text)


def _cell(notebook: str, anchor: str) -> str:
    """The id of the cell under whose heading something stands. JupyterLab finds it also in a notebook that it opens first."""
    if anchor not in _headings(notebook):
        raise Problem(f"docs/ leads to the heading {anchor} of {notebook}, and there is none.", FAILED)
    return _headings(notebook)[anchor]


@cache
def _headings(notebook: str) -> dict[str, str]:
    """By the anchors of a released notebook's headings, the cells that they first stand in."""
    found: dict[str, str] = {}
    for cell in _released(notebook)["cells"]:
        if cell["cell_type"] == "markdown":
            for heading in re.findall(r"^#+ (.*)$", "".join(cell["source"]), re.MULTILINE):
                found.setdefault(heading.replace(" ", "-"), str(cell["id"]))
    return found


def _released(notebook: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((ROOT / "release" / _place(notebook)).read_text(encoding="utf-8"))
    return made


def _deeper(page: str) -> str:
    """A page as a part of another: its headings one level down."""
    return re.sub(r"^#", "##", page, flags=re.MULTILINE)


def _place(notebook: str) -> str:
    return f"{notebook}/{notebook}.ipynb"


def _minutes(notebook: str) -> str:
    said = re.search(r"about (\d+) minutes", opening(notebook))
    return said[1] if said else ""


def _text(name: str, source: str) -> Cell:
    return {
        "cell_type": "markdown",
        "id": name,
        "metadata": {"editable": False},
        "source": source.splitlines(keepends=True),
    }


def _code(name: str, source: str) -> Cell:
    text = {"cell_type": "code", "id": name, "metadata": {}, "source": source.splitlines(keepends=True)}
    return text | {"execution_count": None, "outputs": []}


def _write(path: Path, notebook: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
