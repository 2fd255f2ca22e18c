"""What nbgrader's exchange needs to return feedback: each submission's secret, which `nbgrader submit` wrote and the student has too."""

from __future__ import annotations

import re
import secrets
import shutil
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from autograder.plugins.handing_in import TIMESTAMP, only_copy
from autograder.plugins.structure import QUARANTINE, Structure

SECRET = "submission_secret.txt"
FORM = re.compile(rb"[!-~]{1,1024}\s*")
LONGEST = 2048


def is_secret(path: Path) -> bool:
    """Whether a file holds what could be a secret: one short word. `nbgrader release_feedback` reads it for everybody, or for nobody."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LONGEST:
        return False
    return FORM.fullmatch(path.read_bytes()) is not None


def put_back(course: CourseDirectory, student: str, assignment: str) -> bool:
    """Put the secret that an earlier version moved to quarantine back into a submission; say whether there was one.

    The folders that were made from that submission get a copy.
    """
    structure = Structure.of(course)
    folder, *made = (structure.folder(step, student, assignment) for step in ("submitted", "autograded", "feedback"))
    moved = _in_quarantine(folder, structure.folder(QUARANTINE, student, assignment))
    if moved is None or not (folder / TIMESTAMP).is_file():
        return False
    for other in made:
        if other.is_dir() and not (other / SECRET).exists():
            shutil.copy(moved, other / SECRET)
    shutil.move(moved, folder / SECRET)
    return True


def under_its_own_name(pages: Path, submitted: Path, assignment: str) -> None:
    """Put a second copy of a page among these, where the exchange brought the notebook under another name than the assignment's.

    `nbgrader fetch_feedback` asks for a page by the name that the file has on the student's disk.

    Args:
        pages: a student's new pages, with what else the exchange needs.
        submitted: what they were made of.
        assignment: its name.
    """
    page, copy = pages / f"{assignment}.html", only_copy(submitted, assignment)
    if copy and copy.name.isprintable() and page.exists() and (pages / SECRET).exists():
        shutil.copy(page, pages / f"{copy.stem}.html")


def complete(course: CourseDirectory, assignment: str) -> None:
    """Before pages are made of graded notebooks: where others came through the exchange, nobody lacks what it reads of everybody.

    Work that was collected in another way has no secret, and its student no way to ask for feedback; without one, nobody's
    would be released. That includes those whose pages were made by an earlier run, before anybody came through the exchange.
    """
    folders = [place.folder for place in Structure.of(course).find("autograded", assignment)]
    without = [folder for folder in folders if folder.is_dir() and not (folder / SECRET).exists()]
    for folder in without if len(without) < len(folders) else ():
        (folder / SECRET).write_text(secrets.token_hex(64))
        (folder / TIMESTAMP).touch()


def _in_quarantine(folder: Path, kept: Path) -> Path | None:
    """The secret that was moved last: each one that found its name taken, or its folder's, got one "~" more."""
    if (folder / SECRET).exists() or not kept.parent.is_dir():
        return None
    folders = [path for path in kept.parent.iterdir() if path.name.rstrip("~") == kept.name and path.is_dir()]
    found = [path for one in folders for path in one.iterdir() if path.name.rstrip("~") == SECRET and is_secret(path)]
    return max(found, key=lambda path: (len(path.parent.name), len(path.name)), default=None)
