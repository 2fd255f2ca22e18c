"""What the checks of all notebooks last said: one small file beside the notebooks, for `progress()`, which nobody else reads."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.cells import run_from
from course.folders import together

FILE = ".attention-progress.json"
TOLD = ("correct", "not yet", "not written")
"""The states that a check of an answer can have."""

PATIENCE = 1.0
"""Seconds to wait for another kernel that is writing. It needs a few milliseconds; a lock that is older was left behind."""


@dataclass(frozen=True)
class Remembered:
    """What a check said.

    Attributes:
        state: in a word, such as "correct".
        cell: the digest of the cell that it tried, as it was run.
    """

    state: str
    cell: str


def remember(notebook: str, states: Mapping[str, str], functions: Mapping[str, Callable[..., Any]]) -> None:
    """Keep what checks said, for another day. Nothing while nbgrader runs cells, in another notebook, or where nothing can be written.

    Args:
        notebook: whose exercises these are.
        states: what was said, by the name of the exercise.
        functions: what was checked, by the same names; of what is not here nothing is kept.
    """
    folder = together()
    if os.environ.get("NBGRADER_EXECUTION") or folder is None or Path.cwd().name != notebook:
        return  # in another notebook, a function of this one was carried over, and nobody wrote it there
    cells = {name: run_from(function) for name, function in functions.items()}
    new = {name: {"state": state, "cell": digest(cells[name])} for name, state in states.items() if cells.get(name)}
    with suppress(OSError), _alone(folder / f"{FILE}.lock"):
        kept = _read(folder)
        of_it = kept.get(notebook)
        now = {**(of_it if isinstance(of_it, dict) else {}), **new}
        if now != of_it:
            _write(folder / FILE, json.dumps({**kept, notebook: now}, indent=1))


def recalled(folder: Path) -> dict[str, dict[str, Remembered]]:
    """What is kept, by notebook and exercise; what is not of the right form is as if it were not there."""
    return {
        notebook: {
            name: Remembered(one["state"], one["cell"])
            for name, one in said.items()
            if isinstance(one, dict) and one.get("state") in TOLD and isinstance(one.get("cell"), str)
        }
        for notebook, said in _read(folder).items()
        if isinstance(said, dict)
    }


def digest(cell: str) -> str:
    """By what a cell is known, so that no answer is kept."""
    return hashlib.sha256(cell.encode()).hexdigest()[:16]


def _read(folder: Path) -> dict[str, Any]:
    try:
        kept = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _write(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    beside = path.with_name(f"{path.name}.part")
    beside.write_text(text + "\n", encoding="utf-8")
    os.replace(beside, path)


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Nobody else is in here at the same time, in whatever process.

    Raises:
        OSError: the lock cannot be had.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            lock.touch(exist_ok=False)
            break
        except FileExistsError:
            if time.monotonic() > until:
                lock.unlink(missing_ok=True)  # whoever had it was killed
                until += PATIENCE
            time.sleep(0.01)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
