"""What grading a made-up course takes: kept as JSON, of which the page for other courses has its table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from autograder.authoring import tables
from autograder.settings import ROOT

KEPT = ROOT / "docs" / "made-up-course.json"
FEW, MANY = 3, 16
HEAD = (
    "notebook",
    "door",
    *(f"{what} s at {size}" for size in (FEW, MANY) for what in ("processor", "wall")),
    "processor s, each further",
)


class Seconds(NamedTuple):
    """The least of some repeats: whatever else is busy only adds to it."""

    processor: float
    wall: float


@dataclass(frozen=True)
class Cost:
    """What classes of two sizes take through one door.

    Attributes:
        differing: rows that are not stock's.
    """

    kind: str
    door: str
    few: Seconds
    many: Seconds
    differing: int

    @property
    def further(self) -> float:
        """Seconds of processor time of each further submission."""
        return (self.many.processor - self.few.processor) / (MANY - FEW)

    def row(self, stock: Cost) -> tuple[str, ...]:
        """What stands in a table under `HEAD`: seconds, and how many times less that is than stock's."""
        taken = zip((*self.few, *self.many), (*stock.few, *stock.many), strict=True)
        seconds = [f"{mine:.1f}" if self is stock else f"{mine:.1f} ({its / mine:.1f})" for mine, its in taken]
        return (self.kind, self.door, *seconds, f"{self.further:.2f}")


def by_rows(costs: Iterable[Cost]) -> list[tuple[str, ...]]:
    """The rows of a table; of each notebook, stock comes first."""
    first: dict[str, Cost] = {}
    return [cost.row(first.setdefault(cost.kind, cost)) for cost in costs]


def kept(path: Path = KEPT) -> list[Cost]:
    """The costs of the last measuring."""
    rows = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return [Cost(**{**row, "few": Seconds(*row["few"]), "many": Seconds(*row["many"])}) for row in rows]


def keep(costs: Iterable[Cost], path: Path = KEPT) -> None:
    """Put these in the place of the last measuring's."""
    path.write_text(json.dumps([asdict(cost) for cost in costs], indent=1) + "\n", encoding="utf-8")


def table(costs: Iterable[Cost]) -> str:
    """The costs in Markdown."""
    return tables.table(HEAD, by_rows(costs))
