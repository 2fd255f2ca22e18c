"""A clock for tests of what takes time."""

from __future__ import annotations


class Hands:
    """A clock that goes on when somebody looks at it, by a microsecond, or sleeps by it: no other program holds it up."""

    def __init__(self) -> None:
        self._now = 0.0

    def perf_counter(self) -> float:
        self._now += 1e-6
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += seconds
