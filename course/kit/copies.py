"""A student's own copies of the notebooks of a kit, which a newer kit brings up to date."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from course.cells import Notebook, read
from course.folders import RECORD
from course.kit.merging import merged

LANGUAGE = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
    "version": sys.version.split()[0],
}
"""What the kernel of this Python says of its language. JupyterLab writes it into a notebook that says anything else, which then
counts as changed as soon as it is open."""

KIT = "kit.json"
"""What a kit says of itself: its version, and when it was made."""


class NoKit(Exception):
    """A folder is not what a kit unpacks to; the message says what to do."""


def bring(notebooks: Path, work: Path) -> Iterator[str]:
    """Copy the course's notebooks, or put a newer version of them into copies that are there. Nothing a student wrote is lost.

    Args:
        notebooks: a kit's folder of notebooks, "NAME/NAME.ipynb", and the pages beside them, "index.ipynb". What the kit says of
            itself lies beside that folder.
        work: where a student's copies are, or will be, in the same places.

    Yields:
        A sentence for each notebook that is new or has changed.

    Raises:
        NoKit: there are no notebooks in that folder.
    """
    given = sorted(notebooks.glob("*/*.ipynb"))
    if not given:
        raise NoKit(
            f"There are no notebooks in {notebooks.resolve()}. Run this in the folder to which the kit was unpacked."
        )
    record = work / RECORD
    record.mkdir(parents=True, exist_ok=True)
    made, before = _made(notebooks.parent), _made(record)
    if made and made < before:
        yield f"A newer kit was here before, made {before}; this one was made {made}. Your notebooks stay as they are."
        return
    if made:
        shutil.copy2(notebooks.parent / KIT, record / KIT)
    for path in (*sorted(notebooks.glob("*.ipynb")), *given):
        if said := _bring(path, work / path.relative_to(notebooks), record):
            yield said


def _bring(given: Path, own: Path, record: Path) -> str:
    """Bring one notebook up to date; what there is to say of it."""
    base = record / given.name
    if not own.exists():
        _write(own, _settled(read(given.read_bytes())))
        _write(base, given.read_bytes())
        return f"{given.stem}: new."
    if base.exists() and base.read_bytes() == given.read_bytes():
        return ""
    new = read(given.read_bytes())
    try:
        theirs = read(own.read_bytes())
        made, clashes = merged(read(base.read_bytes()) if base.exists() else new, theirs, new)
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"{given.stem}: yours cannot be read as a notebook. It was left as it is; rename it, and the next start brings a fresh one."
    kept = record / "before" / f"{given.stem}-{time.strftime('%Y-%m-%d-%H%M%S')}.ipynb"
    kept.parent.mkdir(exist_ok=True)
    shutil.copy2(own, kept)
    _write(own, _settled(made))
    _write(base, given.read_bytes())
    both = f" You and the course have both changed {', '.join(clashes)}: both versions are there." if clashes else ""
    return f"{given.stem}: brought up to date, with what you wrote.{both} As it was before: {kept}"


def _made(folder: Path) -> str:
    """When the kit in a folder, or the last one that was there, was made; "" where nobody knows, as in a checkout."""
    path = folder / KIT
    return str(json.loads(path.read_text(encoding="utf-8"))["made"]) if path.exists() else ""


def _settled(notebook: Notebook) -> bytes:
    """A notebook as it is written, so that JupyterLab opens it without changing it."""
    settled = {**notebook, "metadata": {**notebook["metadata"], "language_info": LANGUAGE}}
    return (json.dumps(settled, indent=1, ensure_ascii=False) + "\n").encode()


def _write(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.part")
    beside.write_bytes(content)
    os.replace(beside, path)
