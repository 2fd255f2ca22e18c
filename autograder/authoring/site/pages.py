"""All pages of the site as Sphinx reads them: notebooks, the pages about the course, and the first page."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from posixpath import normpath

import nbformat
from nbformat import NotebookNode

from autograder.authoring.site.charts import as_tables
from autograder.authoring.site.notebooks import page
from autograder.authoring.staged import staged
from autograder.settings import ROOT

FOR_STUDENTS = "Taking the course"
ABOUT = {
    FOR_STUDENTS: (
        "docs/students.md",
        "docs/stuck.md",
        "docs/shapes.md",
        "docs/glossary.md",
        "docs/sources.md",
    ),
    "Giving the course": (
        "docs/instructors.md",
        "docs/how-a-point-is-made.md",
        "docs/hub.md",
        "docs/operators.md",
        "docs/another-course.md",
        "docs/speed.md",
    ),
    "Working on the course": ("CONTRIBUTING.md", "docs/architecture.md"),
}
"""The pages about the course, in their order, under what they are for. A new page needs its place here, and nothing else."""
STAGED = ("docs/stuck.md", "docs/shapes.md", "docs/glossary.md", "docs/sources.md")
"""Those that tell of the notebooks, up to the last one of the site."""
FIRST = Path(__file__).parent / "first.md"
PICTURES = "docs/pictures"

LINK = re.compile(r"^```.*?^```$|`[^`\n]*`|(?P<text>!?\[[^\]]*\])\((?P<target>[^)\s]+)\)", re.MULTILINE | re.DOTALL)
TO_A_NOTEBOOK = re.compile(r"\]\((?P<notebook>\d\d_\w+)/(?P=notebook)\.ipynb(?P<heading>#[^)]*)?\)")
TITLE = re.compile(r"\A# (.+)$", re.MULTILINE)
WORTH = re.compile(r"([\d.]+) points?, about (\d+) minutes")
MESSAGE = re.compile(r"!\[[^\]]*\]\(docs/pictures/message\.svg\)")
"""The picture of what `check` says, with its alternative text, as it stands in the README."""


def assemble(to: Path, notebooks: Iterable[str], students: bool = False) -> None:
    """Write the pages of the site with these notebooks into a new folder; they lie to each other as in the checkout.

    Args:
        to: the folder.
        notebooks: their names.
        students: whether only the pages are wanted that students read.
    """
    sides = {FOR_STUDENTS: ABOUT[FOR_STUDENTS]} if students else ABOUT
    about = [name for names in sides.values() for name in names]
    read = {notebook: page(notebook) for notebook in notebooks}
    there = {*about, "README.md", *(f"notebooks/{notebook}.ipynb" for notebook in read)}
    for name in about:
        _write(to / name, _about(name, there, list(read)[-1]))
    shutil.copytree(ROOT / PICTURES, to / PICTURES, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for notebook, cells in read.items():
        _write(to / "notebooks" / f"{notebook}.ipynb", nbformat.writes(cells))
    _write(to / "index.md", _first(read, sides))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _about(name: str, there: set[str], last: str) -> str:
    text = (ROOT / name).read_text(encoding="utf-8")
    if name in STAGED:
        text = TO_A_NOTEBOOK.sub(_to_a_notebook, staged(text, last))
    return as_tables(LINK.sub(_leading(PurePosixPath(name).parent, there), text))


def _to_a_notebook(link: re.Match[str]) -> str:
    """A link to a heading of a notebook, by the name that Sphinx gives the heading."""
    heading = re.sub(r"[^\w#-]", "", (link["heading"] or "").lower())
    return f"](../notebooks/{link['notebook']}.ipynb{heading})"


def _leading(folder: PurePosixPath, there: set[str]) -> Callable[[re.Match[str]], str]:
    """Links keep leading to what is in the site; of others, to files of the checkout, the text stays."""

    def link(found: re.Match[str]) -> str:
        text, target = found["text"], found["target"]
        if text is None or target.startswith(("https://", "#")):
            return found[0]
        path = target.partition("#")[0]
        place = normpath((folder / path).as_posix())
        if place == "README.md":
            return f"{text}({path.replace('README.md', 'index.md')})"
        return found[0] if place in there or place.startswith(f"{PICTURES}/") else text.lstrip("!")[1:-1]

    return link


def _first(read: dict[str, NotebookNode], about: Mapping[str, Iterable[str]]) -> str:
    """The first page: what the course is, its notebooks, and what stands at the side of every page."""
    rows = ["| notebook | points | minutes |", "|-|-:|-:|"]
    for notebook, cells in read.items():
        begins = cells.cells[0].source
        (title,), ((points, minutes),) = TITLE.findall(begins), WORTH.findall(begins)
        rows.append(f"| [{title}](notebooks/{notebook}.ipynb) | {points} | {minutes} |")
    sides = [_side("Notebooks", (f"notebooks/{notebook}" for notebook in read))]
    sides += [_side(caption, (name.removesuffix(".md") for name in names)) for caption, names in about.items()]
    (message,) = MESSAGE.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    text = FIRST.read_text(encoding="utf-8")
    for mark, put in (("MESSAGE", message), ("NOTEBOOKS", "\n".join(rows)), ("SIDES", "\n\n".join(sides))):
        text = text.replace(f"{mark}\n", f"{put}\n")
    return text


def _side(caption: str, names: Iterable[str]) -> str:
    return "\n".join(["```{toctree}", f":caption: {caption}", ":hidden:", "", *names, "```"])
