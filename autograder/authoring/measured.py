"""What the last measuring of every notebook came to: kept as JSON, of which the page on speed has its table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder.authoring import tables
from autograder.settings import ROOT

KEPT = ROOT / "docs" / "speed.json"
HEAD = (
    "notebook",
    "submissions, by stock",
    "stock, ms each",
    "engine, ms each",
    "times stock",
    "two wide",
    "class of two, s",
    "processor, times the floor",
    "own cells, ms",
    "conversation, ms",
    "processor, ms",
    "of that, marking",
    "a feedback page, processor ms",
)


@dataclass(frozen=True)
class Row:
    """One notebook.

    Attributes:
        students: submissions that the engine graded.
        of_stock: how many of them stock nbgrader graded.
        stock, engine: milliseconds for each submission, by how many processes graded side by side.
        start: seconds that the engine takes for a class of two.
        floor: how many times the processor time of the cells alone the engine takes.
        own, conversation: milliseconds of a submission that its own cells take, and that judge and student do.
        processor, marking: milliseconds of processor time of a submission, and of the process that marks in it.
        page: milliseconds of processor time that a feedback page takes.
        same: whether both gave the same scores.
    """

    notebook: str
    students: int
    of_stock: int
    stock: dict[str, float]
    engine: dict[str, float]
    start: float
    floor: float
    own: float
    conversation: float
    processor: float
    marking: float
    page: float
    same: bool

    def times(self, wide: str) -> float:
        return self.stock[wide] / self.engine[wide]

    def cells(self) -> tuple[str, ...]:
        """What stands in a table under `HEAD`."""
        return (
            self.notebook,
            f"{self.students}, {self.of_stock}",
            f"{self.stock['1']:.0f}",
            f"{self.engine['1']:.0f}",
            f"{self.times('1'):.1f}",
            f"{self.times('2'):.1f}" if "2" in self.engine else "",
            f"{self.start:.1f}",
            f"{self.floor:.2f}",
            f"{self.own:.0f}",
            f"{self.conversation:.0f}",
            f"{self.processor:.0f}",
            f"{self.marking:.0f}",
            f"{self.page:.0f}",
        )


def kept() -> list[Row]:
    """The rows of the last measuring, in the notebooks' order."""
    return [Row(**row) for row in json.loads(KEPT.read_text(encoding="utf-8"))]


def keep(rows: Iterable[Row], path: Path = KEPT) -> None:
    """Put these in the place of the rows of the same notebooks."""
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    after = {row["notebook"]: row for row in before} | {row.notebook: asdict(row) for row in rows}
    path.write_text(json.dumps([after[name] for name in sorted(after)], indent=1) + "\n", encoding="utf-8")


def table(rows: Iterable[Row]) -> str:
    """The rows in Markdown."""
    return tables.table(HEAD, (row.cells() for row in rows))
