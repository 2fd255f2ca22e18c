"""Timing: threads, waiting for a GPU, and the make-believe device."""

from __future__ import annotations

import time
from itertools import chain, repeat

import pytest
import torch

from course import clock
from tests.support.hands import Hands


def test_a_job_on_the_device_is_done_long_after_it_was_launched(hands: Hands) -> None:
    device = clock.Device()
    start = hands.perf_counter()
    device.launch(0.5)
    launched = hands.perf_counter() - start
    device.synchronize()
    waited = hands.perf_counter() - start
    assert clock.LAUNCH <= launched < 2 * clock.LAUNCH
    assert 0.5 <= waited < 0.501


def test_jobs_on_the_device_wait_for_each_other_and_a_second_wait_is_short(hands: Hands) -> None:
    device = clock.Device()
    start = hands.perf_counter()
    for _ in range(3):
        device.launch(0.1)
    device.synchronize()
    assert 0.3 <= hands.perf_counter() - start < 0.301
    again = hands.perf_counter()
    device.synchronize()
    assert hands.perf_counter() - again < clock.LAUNCH


def test_an_idle_device_begins_when_it_is_asked(hands: Hands) -> None:
    device = clock.Device()
    device.launch(0.001)
    hands.sleep(0.01)
    start = hands.perf_counter()
    device.launch(0.02)
    device.synchronize()
    assert 0.02 <= hands.perf_counter() - start < 0.021


def test_of_the_calls_of_each_the_quietest_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    hands = Hands()
    monkeypatch.setattr(clock, "time", hands)
    slow = iter([0.5, 0.02, *[0.3] * 100])
    assert clock.quietest(lambda: hands.sleep(next(slow)), lambda: hands.sleep(0.01), alone=False) == pytest.approx(
        [0.02, 0.01], rel=1e-3
    )


def test_a_clock_that_stands_still_for_a_call_times_none(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = chain([0.0, 1.0, 1.0, 1.0, 5.0], repeat(5.0))  # one call in no time, then two calls in 4 s
    monkeypatch.setattr(clock.time, "process_time", lambda: next(ticks))
    assert clock.quietest(lambda: None, alone=True, rounds=1, visit=3.0) == [2.0]


def test_threads_are_as_before_also_after_an_error() -> None:
    before = torch.get_num_threads()
    with clock.threads(1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
    with pytest.raises(ZeroDivisionError), clock.threads(1):
        raise ZeroDivisionError
    assert torch.get_num_threads() == before


def test_the_threads_that_help_are_all_or_one() -> None:
    before = torch.get_num_threads()
    assert clock.helpful_threads() in (1, before)
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("gpu", [True, False])
def test_to_synchronise_is_to_wait_for_a_gpu_that_is_there(gpu: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[None] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: waited.append(None))
    clock.synchronize()
    assert len(waited) == gpu


def test_the_devices_clock_is_the_one_that_everybody_reads() -> None:
    device = clock.Device()
    start = time.perf_counter()
    device.launch(0.02)
    device.synchronize()
    assert time.perf_counter() - start >= 0.02
