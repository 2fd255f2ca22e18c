"""What was handed in: copies in a folder beside the notebooks, each with its time in its name."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

FOLDER = "hand_in"
STAMP = "%Y-%m-%d-%H%M%S"


def place_of(notebook: str, folder: Path, now: datetime) -> Path:
    """Where a notebook that is handed in now is kept.

    Args:
        folder: the one in which all notebooks lie.
    """
    return folder / FOLDER / f"{notebook}-{now.strftime(STAMP)}.ipynb"


def last_of(notebook: str, folder: Path) -> tuple[Path, datetime] | None:
    """The copy that was handed in last, and when; None where there is none."""
    found = []
    for path in (folder / FOLDER).glob(f"{notebook}-*.ipynb"):
        try:
            found.append((path, datetime.strptime(path.stem.removeprefix(f"{notebook}-"), STAMP)))
        except ValueError:  # a copy that somebody made by hand
            continue
    return max(found, key=lambda one: one[1], default=None)


def handed_in(notebook: str, folder: Path) -> str:
    """When a notebook was last handed in, by this machine's clock: "2026-10-05 14:30"; "" where it was not."""
    last = last_of(notebook, folder)
    return f"{last[1]:%Y-%m-%d %H:%M}" if last else ""
