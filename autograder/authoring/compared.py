"""What grading other people's courses came to: kept as JSON, of which the page on differences has its table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder.authoring import tables
from autograder.settings import ROOT

KEPT = ROOT / "docs" / "courses.json"
HEAD = (
    "repository",
    "commit",
    "field",
    "notebooks",
    "graded cells",
    "rows",
    "equal by the plug-ins",
    "by the class command",
    "CPU s, stock / plug-ins / class",
    "times stock",
)


@dataclass(frozen=True)
class Compared:
    """One course.

    Attributes:
        rows: of the gradebook, by stock.
        plugged, whole_class: how many of them are others with the plug-ins, and by the class command.
        cpu: seconds of processor time, by stock, with the plug-ins and by the class command.
    """

    repository: str
    commit: str
    field: str
    notebooks: int
    cells: int
    rows: int
    plugged: int
    whole_class: int
    cpu: list[float]

    def row(self) -> tuple[str, ...]:
        """What stands in a table under `HEAD`."""
        stock, *others = self.cpu
        return (
            self.repository,
            self.commit[:7],
            self.field,
            str(self.notebooks),
            str(self.cells),
            str(self.rows),
            *("all" if not other else str(self.rows - other) for other in (self.plugged, self.whole_class)),
            " / ".join(f"{seconds:.0f}" for seconds in self.cpu),
            " / ".join(f"{stock / max(other, 0.01):.1f}" for other in others),
        )


def kept(path: Path = KEPT) -> list[Compared]:
    """The rows of the last measuring."""
    return [Compared(**row) for row in json.loads(path.read_text(encoding="utf-8"))] if path.is_file() else []


def keep(rows: Iterable[Compared], path: Path = KEPT) -> None:
    """Put these in the place of the rows of the same courses."""
    after = {row.repository: asdict(row) for row in (*kept(path), *rows)}
    path.write_text(json.dumps(list(after.values()), indent=1) + "\n", encoding="utf-8")


def table(rows: Iterable[Compared]) -> str:
    """The rows in Markdown."""
    return tables.table(HEAD, (row.row() for row in rows))
