"""Take a submission in: keep out what does not belong, and make a notebook of whatever was handed in.

A submission that cannot be read becomes an empty notebook with a note on top. `Repair` then fills in the released
cells, so that the student gets a feedback page that says what happened, and nobody else's grading stops.
"""

from __future__ import annotations

import io
import logging
import shutil
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.exercises import NOTEBOOKS

log = logging.getLogger(__name__)

LARGEST_FILE = 20 << 20
LISTED = ("timestamp.txt",)
QUARANTINE = "quarantine"
NO_FILE = f"it is missing, or a link, or larger than {LARGEST_FILE >> 20} MiB"


def quarantine(assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's pre-convert hook: move links, large files and unlisted files out of a submission before it is copied.

    They go to a folder `quarantine` beside `submitted`, where nothing is lost. nbgrader passes "*" for the student, and swallows
    what this raises, so everything is read from the paths and nothing is raised.
    """
    for folder in {Path(notebook).parent for notebook in notebooks}:
        if folder.name in NOTEBOOKS:
            try:
                _quarantine(folder)
            except OSError as error:
                log.error("could not clear %s of files that do not belong: %s", folder, error)


def _quarantine(folder: Path) -> None:
    kept = folder.parents[2] / QUARANTINE / folder.parent.name / folder.name
    if folder.is_symlink():
        _move(folder, kept.with_name(f"{folder.name}.link"), "it is a link")
        return
    for path in sorted(folder.rglob("*")):
        reason = _unwanted(path, folder)
        if reason:
            _move(path, kept / path.relative_to(folder), reason)


def _unwanted(path: Path, folder: Path) -> str:
    if path.is_symlink():
        return "it is a link"
    if path.is_dir():
        return ""
    if not path.is_file():
        return "it is not a plain file"
    if path.stat().st_size > LARGEST_FILE:
        return f"it is larger than {LARGEST_FILE >> 20} MiB"
    belongs = path.parent == folder and (path.name == f"{folder.name}.ipynb" or path.name in LISTED)
    return "" if belongs else "this assignment asks for no such file"


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
            return super().from_file(io.StringIO(nbformat.writes(_unreadable(NO_FILE))), resources)
        return super().from_filename(filename, resources, **keywords)

    def from_file(self, file_stream: Any, resources: Any = None, **keywords: Any) -> tuple[str, dict[str, Any]]:
        if resources is None or resources.get("nbgrader", {}).get("notebook") not in NOTEBOOKS:
            return super().from_file(file_stream, resources, **keywords)
        whose = f"{resources['nbgrader']['notebook']} of {resources['nbgrader'].get('student')}"
        return self.from_notebook_node(salvage(file_stream.read(), whose), resources, **keywords)


def salvage(text: str, whose: str = "a notebook") -> NotebookNode:
    """A valid notebook with every cell of `text` that is one: its source, type, outputs, tags and nbgrader's metadata.

    Args:
        text: what was handed in.
        whose: how the log calls it.
    """
    try:
        notebook = nbformat.reads(text, as_version=4)
        cells = [_salvage_cell(cell) for cell in notebook.cells]
        rebuilt = new_notebook(cells=[cell for cell in cells if cell], metadata=_kernel(notebook.metadata))
        nbformat.validate(rebuilt)
    except Exception as error:  # nbformat raises a dozen kinds, some from libraries of its own
        log.warning("%s could not be read: %s: %.200s", whose, type(error).__name__, error)
        return _unreadable(f"{type(error).__name__}: {error!s:.200}")
    return rebuilt


def _salvage_cell(cell: Any) -> NotebookNode | None:
    source = cell.get("source")
    if not isinstance(source, str) or cell.get("cell_type") not in ("code", "markdown", "raw"):
        return None
    new = new_code_cell(source) if cell.cell_type == "code" else new_markdown_cell(source)
    metadata = cell.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("nbgrader"), dict):
        new.metadata["nbgrader"] = metadata["nbgrader"]
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    if isinstance(tags, list) and all(isinstance(tag, str) for tag in tags):
        new.metadata["tags"] = tags
    if isinstance(cell.get("outputs"), list) and new.cell_type == "code":
        new.outputs = cell["outputs"]
        try:
            nbformat.validate(new, ref="code_cell", version=4)
        except nbformat.ValidationError:
            new.outputs = []
    return new


def _kernel(metadata: Any) -> dict[str, Any]:
    kept = {"kernelspec": metadata.get("kernelspec"), "language_info": metadata.get("language_info")}
    return {key: value for key, value in kept.items() if isinstance(value, dict) and isinstance(value.get("name"), str)}


def _unreadable(reason: str) -> NotebookNode:
    note = new_markdown_cell(f"**This submission could not be read** ({reason}). What follows is the empty assignment.")
    return new_notebook(cells=[note])
