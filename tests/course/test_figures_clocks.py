"""The pictures of notebook 08, from made-up measurements: what stands in them, and what they say is missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
import torch
from matplotlib.figure import Figure

from course import figures, racers, races, recording
from course.figures import Covered, Picture, clocks
from course.figures.verdicts import TOO_CLOSE
from course.roofline import Roofs
from tests.support import recorded


def stopwatch(
    fn: Callable[[], object], sync: Callable[[], None], clock: Callable[[], float], warmup: int, reps: int
) -> dict[str, object]:
    start = clock()
    fn()
    sync()
    return {"median": clock() - start}


def work(b: int, n: int, d: int, h: int, f: int) -> dict[str, int]:
    return {"all": b * n * d * f}


def decoder(x: torch.Tensor, cache: dict[str, torch.Tensor], *weights: torch.Tensor) -> object:
    return x @ weights[0], cache


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(figures, "png", lambda figure: b"")  # what is looked at here is what a picture says
    monkeypatch.setattr(races, "six_ways", lambda timed: recorded.race(0.01))
    monkeypatch.setattr(races, "recurrent", lambda timed: recorded.run().recurrent["float32"])
    monkeypatch.setattr(races, "decoding", lambda step, timed, longest: recorded.run().decoding)
    monkeypatch.setattr(recording, "read", list)
    yield
    clocks._race.cache_clear()
    clocks._recurrent.cache_clear()


MEASURED: dict[str, Callable[[], object]] = {
    "six_ways": lambda: clocks.six_ways("c", stopwatch, work),
    "roofline": lambda: clocks.roofline(stopwatch, work),
    "recurrent": lambda: clocks.recurrent("c"),
    "decoding": lambda: clocks.decoding("c", decoder),
}
OTHERS: dict[str, Callable[[], object]] = {
    "queue": clocks.queue,
    "unsynchronised": lambda: clocks.unsynchronised(stopwatch),
    "roof_explained": clocks.roof_explained,
    "wall": lambda: clocks.wall(b=1, h=32, k=128, itemsize=2),
}


@pytest.mark.parametrize("draw", (MEASURED | OTHERS).values(), ids=MEASURED | OTHERS)
def test_none_is_drawn_while_nbgrader_runs(draw: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert draw() is None


def test_without_a_recorded_gpu_the_first_picture_says_so_and_no_other() -> None:
    said = {name: "no GPU run recorded" in repr(draw()) for name, draw in MEASURED.items()}
    assert said == {name: name == "six_ways" for name in MEASURED}


@pytest.mark.parametrize("draw", MEASURED.values(), ids=MEASURED)
def test_the_latest_recorded_gpu_stands_beside_with_its_name_and_date(
    draw: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [
        recorded.run("Old GPU", date="2025-01-01"),
        recorded.run(),
        recorded.run("A CPU", gpu=False, date="2026-09-09"),
    ]
    monkeypatch.setattr(recording, "read", lambda: runs)
    text = repr(draw())
    assert "Example GPU, CUDA 13.0, torch 2.13.0, 2026-01-02" in text
    assert "Old GPU" not in text
    assert "A CPU" not in text
    assert "no GPU run recorded" not in text


@pytest.mark.parametrize("name", MEASURED)
def test_a_recorded_gpu_leaves_room_for_every_panel_and_every_note(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "read", lambda: [recorded.run("NVIDIA GeForce RTX 4090 Laptop GPU of a long name")])
    drawn: list[Figure] = []
    monkeypatch.setattr(figures, "Picture", lambda figure, alt: drawn.append(figure) or figure.draw_without_rendering())
    MEASURED[name]()
    (figure,) = drawn
    assert all(axes.get_position().width > 0.3 for axes in figure.axes)
    notes = figure._supxlabel.get_window_extent()
    assert notes.x0 > 0
    assert notes.x1 < figure.bbox.width


def test_all_number_types_of_a_recorded_gpu_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "read", lambda: [recorded.run()])
    for draw in (MEASURED["six_ways"], MEASURED["roofline"], MEASURED["recurrent"]):
        assert "bfloat16" in repr(draw())


@pytest.mark.parametrize("name", ["six_ways", "roofline"])
def test_a_curve_that_is_absent_says_why(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(races, "six_ways", lambda timed: recorded.without_compiler(recorded.race(0.01)))
    text = repr(MEASURED[name]())
    assert "torch.compile is absent: torch.compile needs a C++ compiler." in text
    assert "torch.compile ends" not in text


def test_the_race_is_measured_once_for_each_stopwatch(monkeypatch: pytest.MonkeyPatch) -> None:
    count: list[None] = []

    def six_ways(timed: races.Timed) -> races.Race:
        count.append(None)
        return recorded.race(0.01)

    monkeypatch.setattr(races, "six_ways", six_ways)
    clocks.six_ways("c", stopwatch, work)
    clocks.roofline(stopwatch, work)
    assert len(count) == 1
    clocks.roofline(lambda *arguments: stopwatch(*arguments), work)
    assert len(count) == 2


def test_useful_work_is_counted_by_the_reader() -> None:
    once, twice = (
        repr(clocks.six_ways("c", stopwatch, lambda *sizes, times=times: {"all": times * work(*sizes)["all"]}))
        for times in (1, 2)
    )
    took = recorded.race(0.01).curves["batched"].seconds[-1]
    rate = work(4, 2048, 256, 4, 1024)["all"] / took
    assert f"batched ends at n = 2048 with {clocks._duration(took)} and {clocks._rate(rate)}" in once
    assert f"batched ends at n = 2048 with {clocks._duration(took)} and {clocks._rate(2 * rate)}" in twice


@pytest.mark.parametrize(("once", "repeated"), [(1e-6, 50), (0.001, 20), (0.02, 3), (2 * races.LONGEST, 2)])
def test_the_stopwatch_of_the_reader_is_what_times(once: float, repeated: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    clock = iter((0.0, once)).__next__
    monkeypatch.setattr(clocks, "time", SimpleNamespace(perf_counter=clock))

    def spy(fn: object, sync: object, clock: object, warmup: int, reps: int) -> dict[str, object]:
        asked.append((warmup, reps))
        return {"median": 0.25}

    assert clocks._stopped(spy, lambda: None) == 0.25
    assert asked == [(0, repeated)]


def test_a_guess_comes_first() -> None:
    for covered in (
        clocks.six_ways(None, stopwatch, work),
        clocks.recurrent(None),
        clocks.decoding(None, decoder),
    ):
        assert isinstance(covered, Covered)


@pytest.mark.parametrize(
    ("ratio", "answer"),
    [(0.5, "d"), (0.9, None), (1.1, None), (20.0, "c"), (31.0, None), (90.0, "b"), (1000.0, "a")],
)
def test_the_claims_are_held_against_what_was_measured(
    ratio: float, answer: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = (8, 16)
    curves = {"RNN": races.Curve(lengths, (ratio, ratio), ""), "block": races.Curve(lengths, (1.0, 1.0), "")}
    monkeypatch.setattr(races, "recurrent", lambda timed: curves)
    told: list[object] = []
    monkeypatch.setattr(clocks, "told", lambda guess, right: told.append(right) or "")
    assert f"{ratio:.2g} at n = 16" in repr(clocks.recurrent("c"))
    assert told == [answer]


def test_without_waiting_a_job_on_a_device_seems_to_take_no_time() -> None:
    text = repr(clocks.unsynchronised(stopwatch))
    assert "a job of 5 ms" in text
    waited = re.search(r"With one that waits: ([\d.]+) ms", text)
    assert waited
    assert float(waited[1]) >= 5


def test_the_wall_is_where_the_scores_fill_a_gpu() -> None:
    text = repr(clocks.wall(b=1, h=32, k=128, itemsize=2))
    assert "cross 16 GiB at n = 16384" in text
    assert "at n = 32768 they take 64 GiB" in text


def test_tokens_in_all_are_the_sum_of_the_tokens() -> None:
    lengths = torch.tensor([4, 8, 16]).numpy()
    assert clocks._summed(lengths, torch.tensor([0.5, 0.5, 0.5]).numpy()) == pytest.approx([2.0, 4.0, 8.0])


@pytest.mark.parametrize(
    ("seconds", "words"), [(2.5, "2.5 s"), (0.0125, "12.5 ms"), (2e-5, "20 µs"), (5.5e-7, "550 ns")]
)
def test_durations_in_words(seconds: float, words: str) -> None:
    assert clocks._duration(seconds) == words


def test_every_picture_is_one() -> None:
    assert all(isinstance(draw(), Picture) for draw in (MEASURED | OTHERS).values())


@pytest.mark.parametrize(
    ("fused", "said"),
    [
        ((1.0, 1.0), "At n = 16: You guessed c, and so it is."),
        ((1.0, 2.25), f"At n = 16: {TOO_CLOSE}"),
        ((1.0, 9.0), "At n = 16: You guessed c; it is b."),
    ],
)
def test_a_winner_is_called_only_where_one_is_clearly_ahead(fused: tuple[float, ...], said: str) -> None:
    took = {"literal loop": (0.1,), "matrices": (4.0, 4.0, 5.0), "batched": (2.0, 2.0, 1.0), "fused attention": fused}
    curves = {name: races.Curve((8, 16, 32)[: len(times)], times, "") for name, times in took.items()}
    race = races.Race(racers.SIZES, 1, {**curves, racers.COMPILED: races.Curve((), (), "none")}, Roofs(1.0, 1.0))
    assert clocks._verdict("c", race) == said


@pytest.mark.parametrize(
    ("cached", "said"), [(1.0, TOO_CLOSE), (1.1, TOO_CLOSE), (2.0, "You guessed c, and so it is.")]
)
def test_the_cache_and_all_at_once_are_told_apart_where_they_clearly_differ(
    cached: float, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = (8, 16)
    curves = {"with cache": (1.0, cached), "all at once": (16.0, 16.0)}  # at the longest text: 1 s for each token
    made = {name: races.Curve(lengths, took, "") for name, took in curves.items()}
    monkeypatch.setattr(races, "decoding", lambda step, timed, longest: made)
    assert repr(clocks.decoding("c", decoder)).endswith(said)


def test_the_compiler_is_called_when_the_guess_and_the_stopwatch_of_the_race_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = racers.Compiled(None, "made")
    monkeypatch.setattr(racers, "compiled", lambda: made)

    def bench(*arguments: object) -> dict[str, object]:
        raise NotImplementedError

    assert repr(clocks.compiled(None, stopwatch, work)) == figures.GUESS_FIRST
    unwritten = "The compiler is called for a race that is timed with your own bench, which is not written yet."
    assert repr(clocks.compiled("c", bench, work)) == unwritten
    assert clocks.compiled("c", stopwatch, work) is made
