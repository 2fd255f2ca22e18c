"""A student's own copies of the notebooks of a kit, which a newer kit brings up to date."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from course.cells import Notebook, read, text
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

MADE_FROM = "attention-in-matrices"
"""Under this name the metadata of a copy say from which of the course's versions it was made."""
EARLIER = "earlier"

BROUGHT = "brought up to date, with what you wrote."
UNDONE = (
    "the course's last correction did not arrive, since a tab that was open before has saved over it. It is there now, with what you "
    "wrote. Close such a tab, or reload it, before you go on."
)

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
    base, new = record / given.name, given.read_bytes()
    versions = [path.read_bytes() for path in (base, *_earlier(base)) if path.exists()]
    if not own.exists():
        _put(own, read(new), new, base)
        return f"{given.stem}: new."
    is_last = versions[:1] == [new]
    try:
        theirs = read(own.read_bytes())
        made_from = _made_from(theirs, versions) if versions else new
        if is_last and made_from == new:
            return ""
        made, clashes = merged(read(made_from), theirs, read(new))
    except (ValueError, KeyError, TypeError, AttributeError):
        unread = f"{given.stem}: yours cannot be read as a notebook. It was left as it is; rename it, and the next start brings a fresh one."
        return "" if is_last else unread
    kept = record / "before" / f"{given.stem}-{time.strftime('%Y-%m-%d-%H%M%S')}.ipynb"
    kept.parent.mkdir(exist_ok=True)
    shutil.copy2(own, kept)
    _put(own, made, new, base)
    both = f" You and the course have both changed {', '.join(clashes)}: both versions are there." if clashes else ""
    return f"{given.stem}: {UNDONE if is_last else BROUGHT}{both} As it was before: {kept}"


def _put(own: Path, notebook: Notebook, version: bytes, base: Path) -> None:
    """Write a copy, which names the course's version that it was made from, and keep that version, and the one before it."""
    metadata = {**notebook["metadata"], "language_info": LANGUAGE, MADE_FROM: _name(version)}
    if base.exists() and (before := base.read_bytes()) != version:
        _write(base.parent / EARLIER / f"{base.stem}-{_name(before)}.ipynb", before)
    _write(own, (json.dumps({**notebook, "metadata": metadata}, indent=1, ensure_ascii=False) + "\n").encode())
    _write(base, version)


def _earlier(base: Path) -> list[Path]:
    """The versions that came before the last one, the latest of them first."""
    return sorted((base.parent / EARLIER).glob(f"{base.stem}-*.ipynb"), key=lambda path: -path.stat().st_mtime_ns)


def _made_from(theirs: Notebook, versions: list[bytes]) -> bytes:
    """Which of the course's versions, the last one first, a copy was made from: a tab that was open before a newer one came saves over it
    what it holds. Some programs save a notebook without what it says of itself; then the version counts that most cells are from."""
    named = theirs.get("metadata", {}).get(MADE_FROM)
    cells = {text(cell) for cell in theirs["cells"]}
    by_name = (version for version in versions if _name(version) == named)
    return next(by_name, None) or max(
        versions, key=lambda version: len(cells & {text(cell) for cell in read(version)["cells"]})
    )


def _name(version: bytes) -> str:
    return hashlib.sha256(version).hexdigest()[:16]


def _made(folder: Path) -> str:
    """When the kit in a folder, or the last one that was there, was made; "" where nobody knows, as in a checkout."""
    path = folder / KIT
    return str(json.loads(path.read_text(encoding="utf-8"))["made"]) if path.exists() else ""


def _write(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.part")
    beside.write_bytes(content)
    os.replace(beside, path)
