"""The make-believe GPU, and functions that remember their calls."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from course.functions import Function, public_function
from course.observing import observe


def told(device: Callable[[str], float | None], *events: str) -> list[float | None]:
    """What a device says to these events; times are counted from the first reading of its clock."""
    start = device("clock")
    assert start is not None
    answers = [device(event) for event in events]
    return [None if answer is None else answer - start for answer in answers]


def run(*events: str, **parameters: object) -> list[float | None]:
    return told(public_function("device", **parameters).begin(), *events)


def test_a_call_returns_when_it_is_launched_and_a_sync_when_all_is_done() -> None:
    assert run("fn", "clock", "sync", "clock", work=[3.0], launch=0.25) == [None, 0.25, None, 3.0]
    assert run("fn", "fn", "clock", "sync", "clock", work=[3.0], launch=0.25) == [None, None, 0.5, None, 6.0]


def test_what_is_in_the_queue_is_done_first() -> None:
    assert run("fn", "sync", "clock", work=[3.0], queued=2.0) == [None, None, 5.0]
    assert run("sync", "clock", "fn", "sync", "clock", work=[3.0], queued=2.0) == [None, 2.0, None, None, 5.0]


def test_a_launch_that_takes_longer_than_the_work_is_what_counts() -> None:
    assert run("fn", "sync", "clock", work=[0.5], launch=2.0) == [None, None, 2.0]


def test_each_call_has_its_own_work_and_the_last_entry_stands_for_the_rest() -> None:
    events = ["fn", "sync", "clock"] * 4
    assert run(*events, work=[8.0, 1.0, 2.0])[2::3] == [8.0, 9.0, 11.0, 13.0]


def test_a_full_queue_lets_the_host_wait() -> None:
    events = ["fn", "clock"] * 4
    assert run(*events, work=[4.0], launch=0.5, room=2)[1::2] == [0.5, 1.0, 4.5, 8.5]


def test_waiting_for_nothing_and_reading_the_clock_take_no_time() -> None:
    assert run("sync", "clock", "clock", work=[4.0]) == [None, 0.0, 0.0]


def test_a_device_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ValueError, match=r"^this device knows nothing of 'wait'$"):
        run("wait", work=[1.0])


def test_a_trial_knows_nothing_of_the_one_before() -> None:
    device = public_function("device", work=[8.0, 1.0])
    observed = [observe(lambda device: told(device, "fn", "sync", "clock"), (device,)) for _ in range(2)]
    assert observed[0].result == observed[1].result == [None, None, 8.0]


def test_a_function_without_a_maker_is_the_same_in_every_trial() -> None:
    assert Function("size", abs).begin() is abs


def test_the_device_is_told_in_words() -> None:
    assert str(public_function("device", work=[3.0])) == "a GPU that works 3 s for each call of fn"
    assert str(public_function("device", work=[1.5, 9.015625], launch=0.25, queued=2.0, room=3)) == (
        "a GPU whose work per call is 1.5 s, 9.015625 s; handing a call over takes the host 0.25 s; "
        "work for 2 s is in its queue at the start; its queue has room for 3 calls"
    )
