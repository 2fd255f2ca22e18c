"""How a run looks to the person who waits for it: a moving bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from autograder.plugins.starting import named

SECONDS_BETWEEN_LINES = 30
SECONDS_UNTIL_NAMED = 5
"""After which it is said for whom one waits."""


class Bar:
    """One piece of work of known length."""

    def __init__(self, console: Console, title: str, total: int) -> None:
        self._console, self._title, self._total = console, title, total
        self._done = self._failed = 0
        self._started = self._told = time.monotonic()
        self._waited_for = ""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._live = Progress(*columns, console=console) if console.is_terminal else None

    @contextmanager
    def shown(self) -> Iterator[Bar]:
        if self._live is None:
            self._console.print(f"{self._title}: {self._total}", markup=False)
            yield self
            return
        with self._live:
            self._task = self._live.add_task(self._title, total=self._total)
            yield self

    def step(self, failed: bool = False) -> None:
        """One more is done, or has failed."""
        self._done += 1
        self._failed += failed
        if self._live is not None:
            self._live.update(self._task, advance=1, description=self._description())
        elif self._done < self._total and (now := time.monotonic()) - self._told > SECONDS_BETWEEN_LINES:
            self._told = now
            left = (now - self._started) / self._done * (self._total - self._done)
            failures = f", {self._failed} failed" if self._failed else ""
            said = f"{self._title}: {self._done} of {self._total}{failures}, {_about(left)} left"
            self._console.print(said, markup=False)

    def wait_for(self, begun: Mapping[str, float]) -> None:
        """Say who takes long, if anybody does.

        Args:
            begun: by student who is at work, when that began.
        """
        now = time.monotonic()
        long = [who for who, since in begun.items() if now - since >= SECONDS_UNTIL_NAMED]
        waited_for = f"waiting for {named(long)}" if long else ""
        if self._live is not None:
            if waited_for != self._waited_for:
                self._waited_for = waited_for
                self._live.update(self._task, description=self._description())
        elif waited_for and now - self._told > SECONDS_BETWEEN_LINES:
            self._told = now
            self._console.print(f"{self._title}: {self._done} of {self._total}, {waited_for}", markup=False)

    def _description(self) -> str:
        failed = f", [red]{self._failed} failed[/]" if self._failed else ""
        waited_for = f", {escape(self._waited_for)}" if self._waited_for else ""
        return f"{escape(self._title)}{failed}{waited_for}"


def _about(seconds: float) -> str:
    if seconds >= 90:
        return f"about {seconds / 60:.0f} min"
    return "a minute or so" if seconds >= 30 else "less than a minute"
