"""Every figure that a source notebook draws, without the cells that none of them needs, and without long measurements."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import nbformat
import pytest
import torch
from matplotlib.figure import Figure
from nbformat import NotebookNode

from autograder.plugins.experiments import names_in
from autograder.settings import ROOT
from course import figures, markov, races, recording
from course.blas import one_blas_thread
from course.figures import batching, cheating, clocks, heads, matrices
from tests.support import recorded

ROOM = 828  # pixels for an output where JupyterLab's window is 1280 wide and its file browser is open
STEPS = 4  # of a training


def measured(*runs: Callable[[], object], **settings: object) -> list[float]:
    """Seconds that each might have taken, the first the longest."""
    for run in runs[:1]:
        run()
    return [1e-3 / (1 + place) for place in range(len(runs))]


def trained(*arguments: Any, steps: int = 300, **settings: Any) -> list[float]:
    return [*markov.train(*arguments, steps=min(steps, STEPS), **settings)] * (steps // STEPS or 1)


def hurry(patch: pytest.MonkeyPatch) -> None:
    """Let pictures be drawn from short trainings and made-up measurements; what is given to them passes its checks."""
    patch.delenv("NBGRADER_EXECUTION", raising=False)
    passed = types.SimpleNamespace(state="correct")
    patch.setattr(figures, "examine", lambda f: passed)
    patch.setattr(batching, "race", measured)
    patch.setattr(heads, "quietest", measured)
    patch.setattr(matrices, "quietest", measured)
    patch.setattr(cheating, "train", trained)
    patch.setattr(races, "six_ways", lambda timed: recorded.race(0.01))
    patch.setattr(races, "recurrent", lambda timed: recorded.run().recurrent["float32"])
    patch.setattr(races, "decoding", lambda step, timed, longest: recorded.run().decoding)
    patch.setattr(recording, "read", lambda: [recorded.run()])
    patch.setattr(torch.cuda, "is_available", lambda: False)
    for kept in (clocks._race, clocks._recurrent, cheating._trained):
        patch.setattr(f"{kept.__module__}.{kept.__name__}", cache(kept.__wrapped__))


def calls_a_picture(cell: NotebookNode) -> bool:
    statements = ast.parse(cell.source).body
    return bool(statements) and ast.unparse(statements[-1]).startswith("figures.")


def needed(notebook: str) -> list[NotebookNode]:
    """The cells that call for a picture, and those that write what these read."""
    cells = nbformat.read(ROOT / "source" / notebook / f"{notebook}.ipynb", 4).cells
    wanted: set[str] = set()
    found = []
    for cell in reversed([cell for cell in cells if cell.cell_type == "code"]):
        names = names_in(cell.source)
        if calls_a_picture(cell) or names.written & wanted:
            wanted |= names.read
            found.append(cell)
    return found[::-1]


def drawn(notebook: str, patch: pytest.MonkeyPatch) -> Iterator[tuple[str, Figure]]:
    """The id of each cell that calls for a picture, and the figure."""
    hurry(patch)
    kept: list[Figure] = []
    patch.setattr(figures, "Picture", lambda figure, alt: kept.append(figure))
    patch.chdir(ROOT / "source" / notebook)
    room: dict[str, Any] = {"__name__": "__main__"}
    for cell in needed(notebook):
        with one_blas_thread():
            exec(compile(cell.source, cell.id, "exec"), room)
        yield from ((cell.id, figure) for figure in kept)
        kept.clear()
