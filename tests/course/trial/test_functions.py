"""The make-believe GPU, functions that remember their calls, and those of several devices."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from course.trial.functions import Function, public_function
from course.trial.observing import observe


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


# ---------------------------------------------------------------------------------------------- several devices


PARTS = [np.array([[1.0, 2.0]]), np.array([[10.0, 20.0]])]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("together", [list, tuple, np.stack])
def test_an_all_reduce_adds_up_and_its_mark_shows_who_has_asked(
    dtype: str, together: Callable[[list[np.ndarray]], object]
) -> None:
    parts = together([part.astype(dtype) for part in PARTS])
    for mark, total in ((0.0, [[11.0, 22.0]]), (5.0, [[16.0, 27.0]])):
        found = public_function("all_reduce", p=2, mark=mark).run(parts)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, total)


def test_a_call_of_all_reduce_is_one_collective_whatever_its_size() -> None:
    def reduces_twice(all_reduce: Callable[[list[np.ndarray]], np.ndarray]) -> np.ndarray:
        return all_reduce([all_reduce(PARTS), PARTS[0]])

    observed = observe(reduces_twice, (public_function("all_reduce", p=2),))
    assert observed.counts == {"all_reduce": 2}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([PARTS[0]], "a list of parts, and was given one array of shape [1, 2]"),
        ([PARTS[:1]], "one part from each of 2 devices, and was given 1"),
        ([[*PARTS, PARTS[0]]], "one part from each of 2 devices, and was given 3"),
        ([[PARTS[0], PARTS[0].T]], "parts of one shape, and was given the shapes [[1, 2], [2, 1]]"),
        (PARTS, "one list of parts, and was given 2 arguments"),
        ([iter(PARTS)], "a list of parts, and was given a list_iterator"),
    ],
)
def test_an_all_reduce_says_what_it_takes(arguments: list[object], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"all_reduce takes {said}")):
        public_function("all_reduce", p=2).run(*arguments)


def test_an_all_reduce_of_distinct_parts_refuses_two_that_are_the_same() -> None:
    run = public_function("all_reduce", p=3, distinct=True).run
    third = np.array([[0.0, 1.0]])
    np.testing.assert_array_equal(run([*PARTS, third]), [[11.0, 23.0]])
    with pytest.raises(ValueError, match="was given 3 parts, and some are the same"):
        run([PARTS[0], third, PARTS[0]])


@pytest.mark.parametrize("name", ["relu", "tanh"])
def test_a_device_bends_as_many_features_as_it_has_room_for(name: str) -> None:
    act, anywhere = public_function(name, room=2).run, public_function(name).run
    np.testing.assert_array_equal(act(np.ones((5, 2))), anywhere(np.ones((5, 2))))
    with pytest.raises(ValueError, match="act was given 3 hidden features, and a device has room for 2 here"):
        act(np.ones((5, 3)))


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (public_function("all_reduce", p=2), "all_reduce"),
        (public_function("all_reduce", p=2, mark=100.0), "a function that gives the sum of the parts, plus 100"),
        (
            public_function("all_reduce", p=2, distinct=True),
            "a function that gives the sum of the parts; it refuses parts that are the same",
        ),
        (
            public_function("all_reduce", p=2, mark=100.0, distinct=True),
            "a function that gives the sum of the parts, plus 100; it refuses parts that are the same",
        ),
        (public_function("relu", room=3), "relu, on devices with room for 3 hidden features each"),
    ],
)
def test_a_reader_is_told_what_is_not_plain_about_a_function(function: Function, told: str) -> None:
    assert str(function) == told


def test_a_projection_may_be_bent() -> None:
    X, W = np.array([[1.0, 2.0]]), np.array([[0.5], [0.25]])
    bent = public_function("project", bent=True)
    assert bent.run(X, W) == np.tanh(X @ W)
    assert str(bent) == "a function that gives the tanh of x @ W"
    assert str(public_function("project")) == "project"
