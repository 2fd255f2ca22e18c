"""Take a submission in: keep out what does not belong, and make a notebook of whatever was handed in.

A submission that cannot be read becomes an empty notebook with a note on top. `Repair` then fills in the released
cells, so that the student gets a feedback page that says what happened, and nobody else's grading stops.
"""

from __future__ import annotations

import io
import json
import logging
import shutil
from html import escape
from pathlib import Path
from typing import Any, TypeGuard
from uuid import uuid4

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.exercises import NOTEBOOKS
from autograder.plugins.releasing import PYTHON

log = logging.getLogger(__name__)

LARGEST_FILE = 20 << 20
LISTED = ("timestamp.txt",)
QUARANTINE = "quarantine"
ENCODING, ERRORS = "utf-8-sig", "replace"
NOT_ASKED_FOR = "this assignment asks for no such file"
NO_FILE = f"it is missing, or a link, or larger than {LARGEST_FILE >> 20} MiB"


def quarantine(assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's pre-convert hook: move links, large files and unlisted files out of a submission before it is copied.

    Of other courses' assignments only links are moved: nbgrader would copy what they lead to, for the submission to read. All go to a folder `quarantine` beside `submitted`, where nothing is lost. nbgrader passes "*" for the student, and swallows
    what this raises, so everything is read from the paths and nothing is raised.
    """
    for folder in {Path(notebook).parent for notebook in notebooks}:
        try:
            if folder.name in NOTEBOOKS:
                _rename_only_copy(folder, notebooks)
            _quarantine(folder)
        except OSError as error:
            log.error("could not clear %s of files that do not belong: %s", folder, error)


def _rename_only_copy(folder: Path, notebooks: list[str]) -> None:
    """A browser calls a second download "00_shapes (1).ipynb"; where it is the only notebook, it is the submission."""
    asked, found = folder / f"{folder.name}.ipynb", only_copy(folder)
    if found is not None:
        found.rename(asked)
        notebooks[:] = [str(asked) if Path(name) == found else name for name in notebooks]
        log.warning("%s was renamed to %s", found, asked.name)


def only_copy(folder: Path) -> Path | None:
    """The one notebook of a submission's folder, where it has another name than the assignment's."""
    found = sorted(folder.glob("*.ipynb"))
    alone = len(found) == 1 and found[0].stem != folder.name
    return found[0] if alone and found[0].is_file() and not found[0].is_symlink() else None


def _quarantine(folder: Path) -> None:
    kept = folder.parents[2] / QUARANTINE / folder.parent.name / folder.name
    if folder.is_symlink():
        _move(folder, kept.with_name(f"{folder.name}.link"), "it is a link")
        return
    for path in sorted(folder.rglob("*")):
        reason = unwanted(path, folder)
        if reason:
            _move(path, kept / path.relative_to(folder), reason)


def unwanted(path: Path, folder: Path) -> str:
    """Why a file does not belong into a submission's folder; "" where it does."""
    if path.is_symlink():
        return "it is a link"
    if path.is_dir() or folder.name not in NOTEBOOKS:
        return ""
    if not path.is_file():
        return "it is not a plain file"
    if path.stat().st_size > LARGEST_FILE:
        return f"it is larger than {LARGEST_FILE >> 20} MiB"
    belongs = path.parent == folder and (path.name == f"{folder.name}.ipynb" or path.name in LISTED)
    return "" if belongs else NOT_ASKED_FOR


def _move(path: Path, to: Path, reason: str) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    while to.exists() or to.is_symlink():
        to = to.with_name(to.name + "~")
    shutil.move(path, to)
    log.warning("%s was moved to %s: %s", path, to, reason)


class TolerantExporter(NotebookExporter):
    """nbconvert's exporter of notebooks, which reads this course's submissions whatever state they are in."""

    def from_filename(self, filename: str, resources: Any = None, **keywords: Any) -> tuple[str, dict[str, Any]]:
        ours = resources is not None and resources.get("nbgrader", {}).get("notebook") in NOTEBOOKS
        if ours and not (Path(filename).is_file() and not Path(filename).is_symlink()):
            return super().from_file(io.StringIO(nbformat.writes(unreadable(NO_FILE))), resources)
        return super().from_filename(filename, resources, **keywords)

    def from_file(self, file_stream: Any, resources: Any = None, **keywords: Any) -> tuple[str, dict[str, Any]]:
        if resources is None or resources.get("nbgrader", {}).get("notebook") not in NOTEBOOKS:
            return super().from_file(file_stream, resources, **keywords)
        if isinstance(file_stream, io.TextIOWrapper):
            file_stream.reconfigure(encoding=ENCODING, errors=ERRORS)
        whose = f"{resources['nbgrader']['notebook']} of {resources['nbgrader'].get('student')}"
        return self.from_notebook_node(salvage(file_stream.read(), whose), resources, **keywords)


def salvage(text: str, whose: str = "a notebook") -> NotebookNode:
    """A valid notebook with every cell of `text` that is one: its source, type, tags and nbgrader's metadata.

    Outputs are left behind: what was printed elsewhere is not graded here.

    Args:
        text: what was handed in.
        whose: how the log calls it.
    """
    try:
        tree = json.loads(text)
        if not isinstance(tree, dict) or tree.get("nbformat") != 4:
            tree = nbformat.reads(text, as_version=4)  # an older format, or none
        tree = json.loads(json.dumps(tree, ensure_ascii=False).encode(errors="replace"))  # no half characters
        cells = [_salvage_cell(cell) for cell in tree["cells"]]
        rebuilt = new_notebook(cells=[cell for cell in cells if cell], metadata=PYTHON)
        nbformat.validate(rebuilt)
    except Exception as error:  # nbformat raises a dozen kinds, some from libraries of its own
        log.warning("%s could not be read: %s: %.200s", whose, type(error).__name__, error)
        return unreadable(f"{type(error).__name__}: {error!s:.200}".encode(errors="replace").decode())
    return rebuilt


def _salvage_cell(cell: Any) -> NotebookNode | None:
    if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown", "raw"):
        return None
    lines = cell.get("source")
    source = lines if isinstance(lines, str) else "".join(lines) if _texts(lines) else None
    if source is None:
        return None
    new = _new_cell("code" if cell["cell_type"] == "code" else "markdown", source)
    metadata = cell.get("metadata")
    if isinstance(metadata, dict):
        if isinstance(metadata.get("nbgrader"), dict):
            new.metadata["nbgrader"] = nbformat.from_dict(metadata["nbgrader"])
        if _texts(metadata.get("tags")):
            new.metadata["tags"] = metadata["tags"]
    attached = cell.get("attachments")
    if new.cell_type == "markdown" and isinstance(attached, dict):
        images = {name: _images(bundle) for name, bundle in attached.items() if isinstance(bundle, dict)}
        new["attachments"] = nbformat.from_dict(images)
    return new


def _new_cell(cell_type: str, source: str) -> NotebookNode:
    """What nbformat's `new_code_cell` and `new_markdown_cell` make, without their check of each cell: 0.3 ms."""
    made = NotebookNode(cell_type=cell_type, id=uuid4().hex[:8], metadata=NotebookNode(), source=source)
    if cell_type == "code":
        made |= {"outputs": [], "execution_count": None}
    return made


def _images(bundle: dict[str, Any]) -> dict[str, str]:
    """The pictures among what is pasted into a cell."""
    return {kind: data for kind, data in bundle.items() if kind.startswith("image/") and isinstance(data, str)}


def _texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def unreadable(reason: str) -> NotebookNode:
    """A notebook that says why there is no other."""
    note = new_markdown_cell(
        f"**This submission could not be read** ({escape(reason)}). What follows is the empty assignment."
    )
    return new_notebook(cells=[note])
