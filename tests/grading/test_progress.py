"""What a person who waits for a run reads, where there is no terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from autograder.grading import progress
from autograder.grading.progress import Bar


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


def test_the_time_left_is_told_now_and_then_and_not_when_all_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    out = io.StringIO()
    with Bar(Console(file=out, width=140), "Marking 00_shapes", 6).shown() as bar:
        for now in (10, 100, 140, 150, 185, 220):
            clock.now = now
            bar.step()
    assert out.getvalue().splitlines() == [
        "Marking 00_shapes: 6",
        "Marking 00_shapes: 2 of 6, about 3 min left",
        "Marking 00_shapes: 3 of 6, about 2 min left",
        "Marking 00_shapes: 5 of 6, a minute or so left",
    ]


@pytest.mark.parametrize(("step", "said"), [(31, "a minute or so left"), (12, "less than a minute left")])
def test_no_run_that_goes_on_has_nothing_left_to_do(monkeypatch: pytest.MonkeyPatch, step: float, said: str) -> None:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    out = io.StringIO()
    with Bar(Console(file=out, width=140), "Marking", 4).shown() as bar:
        for _ in range(3):
            clock.now += step
            bar.step()
    assert out.getvalue().splitlines()[-1].endswith(said)


def test_who_takes_long_is_named_after_some_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    terminal = io.StringIO()
    with Bar(Console(file=terminal, width=140, force_terminal=True), "Marking", 3).shown() as bar:
        clock.now = 4
        bar.wait_for({"ada": 0.0, "[ben]": 3.0})
        assert bar._live is not None
        assert bar._live.tasks[0].description == "Marking"
        clock.now = 9
        bar.wait_for({"ada": 0.0, "[ben]": 3.0})
        assert bar._live.tasks[0].description == r"Marking, waiting for ada, \[ben]"
        bar.step(failed=True)
        bar.wait_for({"[ben]": 8.0})
        assert bar._live.tasks[0].description == "Marking, [red]1 failed[/]"


def test_without_a_terminal_it_is_said_now_and_then_for_whom_one_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    out = io.StringIO()
    with Bar(Console(file=out, width=140), "Marking", 3).shown() as bar:
        bar.step()
        for now in range(0, 75, 5):
            clock.now = now
            bar.wait_for({"ada": 0.0})
    assert out.getvalue().splitlines() == ["Marking: 3", *2 * ["Marking: 1 of 3, waiting for ada"]]
