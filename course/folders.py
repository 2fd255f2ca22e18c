"""Where a student's notebooks lie: each in a folder of its own name, and these in one folder."""

from __future__ import annotations

from pathlib import Path

from course import answers

RECORD = ".kit"
"""The folder, beside a student's copies, that keeps what they were made from."""

CONFIG = "nbgrader_config.py"


def together() -> Path | None:
    """The folder in which the notebooks lie, seen from the notebook that runs; None where they lie otherwise, as in Colab.

    A course folder of nbgrader's is none: what lies there is an instructor's, or was handed in.
    """
    here = Path.cwd()
    if (here / RECORD).is_dir():
        return here
    if here.name not in answers.notebooks():
        return None
    return here.parent if (here.parent / RECORD).is_dir() or not _is_an_instructors(here.parent) else None


def _is_an_instructors(folder: Path) -> bool:
    return any((place / CONFIG).is_file() and (place / "source").is_dir() for place in (folder, *folder.parents))


def copy_of(notebook: str, folder: Path) -> Path:
    """Where a notebook lies in the folder in which all of them do."""
    return folder / notebook / f"{notebook}.ipynb"
