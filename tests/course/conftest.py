"""Code as a notebook's cell would hold it."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from course import clock
from tests.support.hands import Hands

Cell = Callable[..., dict[str, Any]]


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    """The clock of make-believe devices."""
    made = Hands()
    monkeypatch.setattr(clock, "time", made)
    return made


@pytest.fixture
def cell() -> Iterator[Cell]:
    """Run source as IPython runs a cell, under a file name of its kind, and hand back the names it defined."""
    numbers = count(1)
    files: list[str] = []

    def run(source: str, **scope: Any) -> dict[str, Any]:
        name = f"/tmp/ipykernel_7/{next(numbers)}.py"
        files.append(name)
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec"), scope)
        return scope

    yield run
    for name in files:
        linecache.cache.pop(name, None)
