"""Execute the source notebooks and store what they print, for readers and for nbval."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient


def store_outputs(path: Path) -> None:
    """Run a notebook from top to bottom and save it with its outputs, without times or execution records.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell raised; nothing is saved.
    """
    notebook = nbformat.read(str(path), as_version=4)
    place = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=600, iopub_timeout=60, record_timing=False, resources=place).execute()
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    nbformat.write(notebook, str(path))
