"""Timing: threads, waiting for a GPU, and the make-believe device."""

from __future__ import annotations

import time

import pytest
import torch

from course import clock


def test_a_job_on_the_device_is_done_long_after_it_was_launched() -> None:
    device = clock.Device()
    start = time.perf_counter()
    device.launch(0.5)
    launched = time.perf_counter() - start
    device.synchronize()
    waited = time.perf_counter() - start
    assert launched >= clock.LAUNCH
    assert launched < 0.4
    assert waited >= 0.5


def test_jobs_on_the_device_wait_for_each_other_and_a_second_wait_is_short() -> None:
    device = clock.Device()
    start = time.perf_counter()
    for _ in range(3):
        device.launch(0.1)
    device.synchronize()
    assert time.perf_counter() - start >= 0.3
    again = time.perf_counter()
    device.synchronize()
    assert time.perf_counter() - again < 0.1


def test_an_idle_device_begins_when_it_is_asked() -> None:
    device = clock.Device()
    device.launch(0.001)
    time.sleep(0.01)
    start = time.perf_counter()
    device.launch(0.02)
    device.synchronize()
    assert time.perf_counter() - start >= 0.02


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
