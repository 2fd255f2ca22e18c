"""What nbgrader's exchange needs to return feedback: each submission's secret, which `nbgrader submit` wrote and the student has too."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

from autograder.plugins.handing_in import TIMESTAMP, only_copy

SECRET = "submission_secret.txt"
QUARANTINE = "quarantine"
FORM = re.compile(rb"[!-~]{1,1024}\s*")
LONGEST = 2048


def is_secret(path: Path) -> bool:
    """Whether a file holds what could be a secret: one short word. `nbgrader release_feedback` reads it for everybody, or for nobody."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LONGEST:
        return False
    return FORM.fullmatch(path.read_bytes()) is not None


def put_back(folder: Path, made: Iterable[Path] = ()) -> bool:
    """Put the secret that an earlier version moved to quarantine back into a submission; say whether there was one.

    Args:
        folder: where the submission is, or should be.
        made: the folders that were made from it; those that are there get a copy.
    """
    moved = _in_quarantine(folder)
    if moved is None or not (folder / TIMESTAMP).is_file():
        return False
    for other in made:
        if other.is_dir() and not (other / SECRET).exists():
            shutil.copy(moved, other / SECRET)
    shutil.move(moved, folder / SECRET)
    return True


def under_its_own_name(pages: Path, submitted: Path) -> None:
    """Put a second copy of a page among these, where the exchange brought the notebook under another name than the assignment's.

    `nbgrader fetch_feedback` asks for a page by the name that the file has on the student's disk.

    Args:
        pages: a student's new pages, with what else the exchange needs.
        submitted: what they were made of.
    """
    page, copy = pages / f"{submitted.name}.html", only_copy(submitted)
    if copy and copy.name.isprintable() and page.exists() and (pages / SECRET).exists():
        shutil.copy(page, pages / f"{copy.stem}.html")


def complete(notebooks: Iterable[str]) -> None:
    """Before pages are made of graded notebooks: where others came through the exchange, nobody lacks what it reads of everybody.

    Work that was collected in another way has no secret, and its student no way to ask for feedback; without one, nobody's
    would be released. That includes those whose pages were made by an earlier run, before anybody came through the exchange.
    """
    for graded, name in {(Path(notebook).parents[2], Path(notebook).parent.name) for notebook in notebooks}:
        folders = [one / name for one in graded.iterdir() if (one / name).is_dir()]
        without = [folder for folder in folders if not (folder / SECRET).exists()]
        for folder in without if len(without) < len(folders) else ():
            (folder / SECRET).write_text(secrets.token_hex(64))
            (folder / TIMESTAMP).touch()


def _in_quarantine(folder: Path) -> Path | None:
    """The secret that was moved last: each one that found its name taken, or its folder's, got one "~" more."""
    kept = folder.parents[2] / QUARANTINE / folder.parent.name
    if (folder / SECRET).exists() or not kept.is_dir():
        return None
    folders = [path for path in kept.iterdir() if path.name.rstrip("~") == folder.name and path.is_dir()]
    found = [path for one in folders for path in one.iterdir() if path.name.rstrip("~") == SECRET and is_secret(path)]
    return max(found, key=lambda path: (len(path.parent.name), len(path.name)), default=None)
