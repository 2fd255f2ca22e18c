"""What a list of points comes to."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean, median

MOST_BARS = 10
STEPS = (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Bar:
    """How many have so many points.

    Attributes:
        share: of all, from 0 to 1.
        width: beside the longest bar, from 0 to 1.
    """

    label: str
    count: int
    share: float
    width: float


@dataclass(frozen=True)
class Spread:
    """Some students' points.

    Attributes:
        of: what there was to earn.
    """

    of: float
    scores: tuple[float, ...]

    @property
    def count(self) -> int:
        return len(self.scores)

    @property
    def mean(self) -> float:
        return mean(self.scores) if self.scores else 0.0

    @property
    def median(self) -> float:
        return median(self.scores) if self.scores else 0.0

    @property
    def solved(self) -> int:
        """How many have all points."""
        return sum(score >= self.of for score in self.scores)

    @property
    def bars(self) -> list[Bar]:
        """How often each number of points was earned; where there are many numbers, each span of them. All points have their own."""
        earned = sorted({*self.scores, 0.0, self.of})
        if len(earned) <= MOST_BARS:
            return bars({f"{points:g}": self.scores.count(points) for points in earned})
        step = next((step for step in STEPS if self.of / step <= MOST_BARS), self.of / MOST_BARS)
        counted: dict[str, int] = {}
        low = 0.0
        while low < self.of:
            high = min(low + step, self.of)
            counted[f"{low:g} to <{high:g}"] = sum(low <= score < high for score in self.scores)
            low += step
        return bars({**counted, f"{self.of:g}": self.solved})


def bars(counted: dict[str, int]) -> list[Bar]:
    """Counts as bars, in their order."""
    every, most = sum(counted.values()), max(counted.values(), default=0)
    return [Bar(label, count, count / (every or 1), count / (most or 1)) for label, count in counted.items()]
