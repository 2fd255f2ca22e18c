"""Pictures of notebook 02."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat

import pytest

from course.figures import matrices
from course.figures.grids import _readable_on


def test_a_clock_that_stands_still_for_a_call_times_none(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks: Iterator[float] = chain([0.0, 1.0, 1.0, 1.0, 3.0], repeat(3.0))
    monkeypatch.setattr(matrices, "process_time", lambda: next(ticks))
    assert matrices._quietest(lambda: None, alone=True, rounds=1, visit=3.0) == [2.0]


@pytest.mark.parametrize(("colour", "ink"), [((0.0, 0.1, 0.3, 1.0), "white"), ((0.5, 0.5, 0.5, 1.0), "black")])
def test_numbers_are_written_in_the_ink_with_more_contrast(colour: tuple[float, float, float, float], ink: str) -> None:
    assert _readable_on(colour) == ink
