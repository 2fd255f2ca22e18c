"""Pictures of notebook 09: the map refuses what cannot be dealt, the ring ends with sums, and faults show in processes."""

from __future__ import annotations

import re

import numpy as np
import pytest

from course.figures import Covered, Picture, devices
from course.figures.devices import MODELS, _across, _in_processes


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


def alt(picture: object) -> str:
    assert isinstance(picture, Picture)
    return picture.alt


@pytest.mark.parametrize("p", [2, 4, 8])
def test_25_heads_are_not_put_on_a_map_of_2_4_or_8_devices(p: int) -> None:
    shown = devices.shard_map("GPT-2 XL", p=p)
    assert isinstance(shown, Covered)
    assert "25 heads cannot be dealt evenly" in repr(shown)
    assert isinstance(devices.shard_map("GPT-2 XL", p=5), Picture)


@pytest.mark.parametrize("model", MODELS)
def test_the_map_counts_what_the_formulas_of_the_text_say(model: str) -> None:
    d, h, f, _ = MODELS[model]
    p, n = (5, 100) if h == 25 else (4, 100)
    words = alt(devices.shard_map(model, p=p, n=n))
    assert f"sends {4 * (p - 1) * d / p:,.0f} numbers a block for each token" in words
    assert f"{h // p} for each device" in words
    assert f"{f // p} for each" in words


def test_one_device_sends_nothing() -> None:
    words = alt(devices.shard_map("GPT-3", p=1, n=1))
    assert "on 1 device, " in words
    assert "One device sends nothing." in words
    assert "all-reduce" not in words


@pytest.mark.parametrize("p", [2, 3, 4])
def test_in_a_ring_every_device_ends_with_every_chunk_complete(p: int) -> None:
    words = alt(devices.ring(p))
    letters = "+".join("ABCD"[:p])
    complete = set(re.findall(rf"device (\d) gets chunk (\d) as {re.escape(letters)}(?![+\w])", words))
    assert len(complete) == p * p
    assert f"step {2 * (p - 1)}:" in words
    assert f"step {2 * (p - 1) + 1}:" not in words


def test_an_exchange_across_processes_takes_only_a_rank_s_own_part() -> None:
    parts = [np.array([1.0, 2.0]), np.array([10.0, 20.0])]

    def own_only(rank: int, all_reduce: devices.AllReduce) -> np.ndarray:
        return all_reduce([part if r == rank else np.full(2, np.nan) for r, part in enumerate(parts)])

    (outcome,) = _in_processes([own_only], 2)
    for result in outcome.results:
        np.testing.assert_array_equal(result, [11.0, 22.0])
    assert (outcome.collectives, outcome.numbers) == (1, 2)


def test_processes_that_fail_are_told_of_where_the_picture_would_be() -> None:
    def fails(rank: int, all_reduce: devices.AllReduce) -> np.ndarray:
        raise ZeroDivisionError("as planned")

    with pytest.raises(devices.CannotDraw, match="rank 0 raised ZeroDivisionError: as planned"):
        _in_processes([fails], 2)


def test_what_is_exchanged_is_counted_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices.ranks, "all_reduce", lambda part: part.mul_(2.0))
    counted: list[int] = []
    np.testing.assert_array_equal(_across(1, counted)([np.zeros(3), np.ones(3)]), [2.0, 2.0, 2.0])
    assert counted == [3]
