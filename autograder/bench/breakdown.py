"""Where the engine's time goes: a class marked in this very process, with a clock around each part."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from autograder.bench.classes import KINDS, kind_of
from autograder.bench.measuring import busy
from autograder.engine import session
from autograder.folder import Course
from autograder.grading import marking, worker
from autograder.grading.snapshot import read_snapshot
from autograder.grading.submission import read_submission
from autograder.judging import hearing
from autograder.plugins.papers import new_paper
from autograder.plugins.preloading import shared_zygote
from autograder.plugins.sandbox import Sandbox

OWN_CELLS, CONVERSATION = "the submission's own cells", "judge and student in conversation"
PARTS: dict[str, tuple[Any, str]] = {
    "fork and inner wall": (session.Session, "__init__"),
    OWN_CELLS: (session.Session, "finish"),
    CONVERSATION: (hearing, "hear"),
    "reading and repairing": (marking.Marker, "_prepared"),
    "writing the notebook's text": (marking, "text_of"),
    "all of it": (marking.Marker, "mark"),
}
WARMING = 3


@dataclass(frozen=True)
class Breakdown:
    """Milliseconds for each submission.

    Attributes:
        parts: of wall time, part by part; what is left over counts as "the rest".
        processor: of processor time, of the whole machine.
        marking: of this, what the process takes that marks: the rest is the submission's, and the kernel's for its walls.
        kinds: of wall time, for one that is right, one that is wrong as listed, and one that is wrong as nobody listed.
        own: of this, its own cells.
    """

    parts: dict[str, float]
    processor: float
    marking: float
    kinds: dict[str, float]
    own: dict[str, float]


def breakdown(course: Course, notebook: str, students: int) -> Breakdown:
    """Mark so many submissions of a class."""
    snapshot = read_snapshot(course, notebook)
    named = course.submitters(notebook)[: students + WARMING]
    submissions = [read_submission(course, who, snapshot) for who in named]
    spent: dict[str, float] = defaultdict(float)
    taken: dict[str, list[float]] = {kind: [] for kind in KINDS}
    in_cells: dict[str, list[float]] = {kind: [] for kind in KINDS}
    paper = new_paper()
    with shared_zygote((course.root / "source" / notebook).glob("*.ipynb"), Sandbox(config=course.config)) as place:
        worker.open_assignment(snapshot, place)
        for submission in submissions[:WARMING]:
            worker.mark_opened(submission, paper)
        before, own = busy(), time.process_time()
        with _timed(spent):
            for submission in submissions[WARMING:]:
                kind, begun, before_cells = kind_of(submission.student), time.perf_counter(), spent[OWN_CELLS]
                worker.mark_opened(submission, paper)
                taken[kind].append(time.perf_counter() - begun)
                in_cells[kind].append(spent[OWN_CELLS] - before_cells)
        processor, marking = busy() - before, time.process_time() - own
    each = 1000 / (len(submissions) - WARMING)
    parts = {part: seconds * each for part, seconds in spent.items()}
    whole = parts.pop("all of it")
    parts |= {"the rest": whole - sum(parts.values()), "all of it": whole}
    return Breakdown(parts, processor * each, marking * each, _mean(taken), _mean(in_cells))


def _mean(taken: dict[str, list[float]]) -> dict[str, float]:
    return {kind: statistics.mean(seconds) * 1000 for kind, seconds in taken.items() if seconds}


@contextmanager
def _timed(spent: dict[str, float]) -> Iterator[None]:
    patches = [
        patch.object(owner, name, _clocked(getattr(owner, name), part, spent)) for part, (owner, name) in PARTS.items()
    ]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


def _clocked(function: Callable[..., Any], part: str, spent: dict[str, float]) -> Callable[..., Any]:
    def clocked(*arguments: Any, **keywords: Any) -> Any:
        begun = time.perf_counter()
        try:
            return function(*arguments, **keywords)
        finally:
            spent[part] += time.perf_counter() - begun

    return clocked
