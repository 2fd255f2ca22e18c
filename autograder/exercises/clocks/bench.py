"""A stopwatch for work that runs behind a queue.

`fn` hands work over and returns, so the clock is stopped only after `sync`, or it has timed the queueing. It is
started only after another `sync`, or the first repetition pays for the warm-up and for somebody else's work; and it
is started before `fn`, since the device begins at that moment. One clock around all repetitions would give a mean, in
which a slow call hides. The median of single times hardly moves with it, and the spread tells of it. The warm-up is
called and not looked at.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from autograder.exercises.model import Case, case, mistake, probe, right
from course.trial.functions import public_function

Call = Callable[[], object]
Clock = Callable[[], float]
Report = dict[str, Any]


def bench(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> dict[str, list[float] | float]:
    """Each repetition by itself: nothing is waiting when the clock is started, nothing when it is stopped."""
    for _ in range(warmup):
        fn()
    times = []
    for _ in range(reps):
        sync()
        start = clock()
        fn()
        sync()
        times.append(clock() - start)
    ordered = sorted(times)
    middle = (ordered[(reps - 1) // 2] + ordered[reps // 2]) / 2
    return {"times": times, "median": middle, "spread": ordered[-1] - ordered[0]}


def _timing(
    warmup: int, reps: int, work: list[float], launch: float = 0.0, queued: float = 0.0, *, room: int = 1000
) -> Case:
    device = public_function("device", work=work, launch=launch, queued=queued, room=room)
    return case(device, warmup, reps, harness="timing")


EIGHTHS = 8

PUBLIC = (
    _timing(0, 1, [3.0], launch=0.25),
    _timing(0, 1, [1.0], launch=0.25, queued=2.0),
    # a slow first call
    _timing(1, 1, [8.0, 2.0, 3.0], launch=0.5),
    # a spike
    _timing(1, 5, [8.0, 2.0, 1.5, 9.015625, 1.75, 1.25, 2.5], launch=0.25),
    # an even number; queue soon full
    _timing(3, 4, [6.0, 4.0, 7.0, 1.25, 2.0, 1.5, 3.0078125, 1.0], launch=0.125, queued=5.0, room=3),
    # longer to launch than to run
    _timing(0, 2, [0.5, 0.25, 2.0], launch=1.0, queued=3.0),
    # some take exactly as long as others
    _timing(0, 5, [2.0, 3.0, 2.0, 5.0, 2.0], launch=0.25),
    # times that look like nothing in particular, the fastest further from the median than the slowest
    _timing(1, 7, [7.3, 2.81, 0.94, 3.07, 2.63, 3.11, 2.29, 2.97], launch=0.12, queued=1.7),
    _timing(2, 6, [9.0, 8.0, 3.5, 2.5, 2.75, 4.0, 3.0, 3.25, 2.25], launch=0.25, room=2),
)


def _ticks(rng: np.random.Generator, how_many: int, low: float, high: float, fine: int = 512) -> list[float]:
    """Different times between two bounds, in whole parts of a second, of which there are a power of 2: they add without rounding.

    Eighths have three decimals, and so stay what they are where somebody rounds to milliseconds.
    """
    ticks = rng.choice(np.arange(int(fine * low), int(fine * high)), how_many, replace=False)
    return [float(tick) / fine for tick in ticks]


@probe(0.75, part="times")
def work_already_queued(rng: np.random.Generator) -> list[Case]:
    """times where work is already in the queue, also of one repetition"""
    queued, again = _ticks(rng, 2, 1.0, 4.0, EIGHTHS)
    (work,) = _ticks(rng, 1, 0.5, 1.0, EIGHTHS)
    return [
        _timing(0, 1, [work], 0.125, queued),
        _timing(0, 1, [0.25], 0.5 + work, again),  # it takes longer to launch than to run
        _timing(0, 3, sorted(_ticks(rng, 3, 1.0, 2.0, EIGHTHS)), 0.125, queued),
    ]


@probe(0.75, part="times")
def slow_warm_up(rng: np.random.Generator) -> list[Case]:
    """times that hold nothing of a slow warm-up"""
    cases = []
    for warmup, reps in ((1, 1), (2, 5), (3, 4)):
        slow, usual = _ticks(rng, warmup, 4.0, 8.0, EIGHTHS), sorted(_ticks(rng, reps + 1, 1.0, 2.0, EIGHTHS))
        cases.append(_timing(warmup, reps, [*slow, *usual], 0.125))
    return cases


def _spikes(rng: np.random.Generator) -> list[Case]:
    cases = []
    for reps in (5, 6, 2):
        usual, spike = _ticks(rng, reps, 1.0, 2.0, EIGHTHS), _ticks(rng, 1, 8.0, 16.0, EIGHTHS)
        cases.append(_timing(0, reps, [*usual[:1], *spike, *usual[1:-1], 0.75], 0.125))  # one call more is told
    # One far too fast, and then in an order in which what was measured half-way through is not the median, and no single step is the
    # spread. Nor is the mean of the three around the median, the fastest of which lies far from the others.
    least, (middle, more, most) = _ticks(rng, 1, 4.0, 4.25, EIGHTHS), sorted(_ticks(rng, 3, 5.0, 6.0, EIGHTHS))
    alike = _timing(0, 6, [more, *least, more, most, *least, *least], 0.125)
    return [*cases, _timing(0, 5, [0.25, middle, most, more, *least], 0.125), alike]


@probe(1.0, part="median")
def a_spike(rng: np.random.Generator) -> list[Case]:
    """the median of odd and even numbers of times, one of them far off, or some of them the same"""
    return _spikes(rng)


@probe(0.5, part="spread")
def a_spike_in_the_spread(rng: np.random.Generator) -> list[Case]:
    """the spread, where one time is far off"""
    return _spikes(rng)


@probe(0.5, part="times")
def a_queue_that_fills(rng: np.random.Generator) -> list[Case]:
    """times where the queue is full, or a call takes longer to hand over than to run"""
    short, long = _ticks(rng, 8, 0.25, 0.75), _ticks(rng, 8, 1.25, 2.0)
    mixed = [seconds for pair in zip(short, long, strict=True) for seconds in pair]
    return [
        _timing(2, 6, long, 0.125, room=3),  # the host soon has to wait for room
        _timing(4, 3, long, 0.125, 0.25, room=2),
        _timing(1, 5, short, 1.0),  # the GPU waits for the host
        _timing(2, 7, mixed, 1.0),  # now one, now the other
    ]


@probe(0.5)
def a_long_series(rng: np.random.Generator) -> list[Case]:
    """the whole report, of one repetition and of many"""
    cases = []
    for reps in (1, 40, 41):
        work = _ticks(rng, reps + 10, 0.25, 2.0)
        work[10 + reps // 2] = 16.0
        cases.append(_timing(10, reps, work, 0.25))
    return cases


def _report(times: list[float]) -> Report:
    return {"times": times, "median": statistics.median(times), "spread": max(times) - min(times)}


def _warm(fn: Call, warmup: int) -> None:
    for _ in range(warmup):
        fn()


@mistake
def no_wait_before_the_clock_stops(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you stop the clock as soon as fn returns, and fn only hands the work over. What you measured is how long that takes.
    Wait until the work is done."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = clock()
        fn()
        times.append(clock() - start)
    return _report(times)


@mistake
def waits_after_the_clock_has_stopped(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you wait for the work, but only when the clock has already been stopped. Waiting is what has to be measured."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        start = clock()
        fn()
        times.append(clock() - start)
        sync()
    return _report(times)


@mistake
def waits_for_nothing(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """nothing waits for the work of fn, neither between the two readings of your clock nor before them. So you measured how long it takes
    to hand work over. What waits for it is the sync that you are given, and it has to be called."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        start = clock()
        fn()
        times.append(clock() - start)
    return _report(times)


@mistake
def waits_once_before_all(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you wait once, before the first repetition, and then never again. Each time, when the clock is stopped, the work has
    only been handed over, until the queue is full."""
    _warm(fn, warmup)
    sync()
    times = []
    for _ in range(reps):
        start = clock()
        fn()
        times.append(clock() - start)
    return _report(times)


@mistake
def waits_at_the_last_stop_only(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you wait when all repetitions have been queued, so the last of them pays for those before it. Each repetition has to wait
    for its own work."""
    _warm(fn, warmup)
    sync()
    times = []
    for repetition in range(reps):
        start = clock()
        fn()
        if repetition == reps - 1:
            sync()
        times.append(clock() - start)
    return _report(times)


@mistake
def no_wait_before_the_clock_starts(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """when you start the clock for the first repetition, older work is still in the queue, the warm-up's among it. It is done
    first, and your time pays for it. Wait before you start the clock."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        start = clock()
        fn()
        sync()
        times.append(clock() - start)
    return _report(times)


@mistake
def waits_before_the_warm_up_only(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you wait before the warm-up, and not after it. The warm-up puts work into the queue itself, and your first repetition
    pays for it."""
    sync()
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        start = clock()
        fn()
        sync()
        times.append(clock() - start)
    return _report(times)


@mistake
def starts_the_clock_before_it_waits(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you start the clock, and only then wait for the older work, so this waiting is measured too. First wait, then
    start the clock.
    """
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        start = clock()
        sync()
        fn()
        sync()
        times.append(clock() - start)
    return _report(times)


@mistake
def starts_the_clock_after_the_call(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your times leave out what passes while fn is called: the clock is started after the call, or the handing over is
    taken off again. The work begins with the call, and so does the time.
    """
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        fn()
        start = clock()
        sync()
        times.append(clock() - start)
    return _report(times)


@mistake
def starts_the_clock_after_the_call_and_waits_too_late(
    fn: Call, sync: Call, clock: Clock, warmup: int, reps: int
) -> Report:
    """two things. Your times leave out what passes while fn is called: the clock is started after the call, or the
    handing over is taken off again. And nothing waits for older work before the call, so the first of them pays for
    that.
    """
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        fn()
        start = clock()
        sync()
        times.append(clock() - start)
    return _report(times)


def _timed(fn: Call, sync: Call, clock: Clock, reps: int) -> list[float]:
    """The right times of repetitions, after whatever warm-up there was."""
    return [_once(fn, sync, clock) for _ in range(reps)]


def _once(fn: Call, sync: Call, clock: Clock) -> float:
    sync()
    start = clock()
    fn()
    sync()
    return clock() - start


@mistake
def warm_up_timed_too(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you measured the warm-up and reported it with the rest. It is there so that the slow first calls, which compile and fill
    caches, are *not* in the report."""
    return _report(_timed(fn, sync, clock, warmup + reps))


@mistake
def warm_up_in_the_statistics(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your times are right, and the warm-up got into median and spread. Those belong to the times that are reported."""
    times = _timed(fn, sync, clock, warmup + reps)
    return _report(times) | {"times": times[warmup:]}


@mistake
def warm_up_skipped(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you do not call fn before you measure. The first calls of a function are often slow for reasons of their own: call it
    warmup times without looking at the clock."""
    return _report(_timed(fn, sync, clock, reps))


def _right_times(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> list[float]:
    _warm(fn, warmup)
    return _timed(fn, sync, clock, reps)


@mistake
def one_call_to_warm_up(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you warm up with one call, whatever is asked for. warmup says how many."""
    return _report(_right_times(fn, sync, clock, 1, reps))


@mistake
def one_call_to_warm_up_or_none(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """where a warm-up is asked for, yours is one call. warmup is a number of calls."""
    return _report(_right_times(fn, sync, clock, int(warmup > 0), reps))


@mistake
def warm_up_counts_as_repetitions(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you took the warm-up out of the repetitions. Of those, reps are to be measured, after the warm-up."""
    return _report(_timed(fn, sync, clock, reps)[warmup:])


@mistake
def warms_up_every_time(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you warm up anew before every repetition. Once, before the first, is enough, and fn is called warmup + reps times in
    all."""
    times = []
    for _ in range(reps):
        _warm(fn, warmup)
        times.append(_once(fn, sync, clock))
    return _report(times)


@mistake
def counts_exchanged(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you exchanged warmup and reps."""
    return _report(_right_times(fn, sync, clock, reps, warmup))


@mistake
def one_repetition_too_few(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you measured one repetition fewer than reps."""
    return _report(_right_times(fn, sync, clock, warmup, reps - 1))


@mistake
def one_repetition_too_many(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you measured one repetition more than reps."""
    return _report(_right_times(fn, sync, clock, warmup, reps + 1))


@mistake
def first_repetition_dropped(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you call fn once more than asked: before all else, without looking at the clock, or in a repetition whose time you drop. The
    calls that do not count are the warm-up, and warmup says how many there are."""
    return _report(_right_times(fn, sync, clock, warmup, reps + 1)[1:])


@mistake
def one_call_for_all_repetitions(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you called fn once and repeated its time. Then the spread is 0 and says nothing. Call fn in each repetition."""
    return _report(_right_times(fn, sync, clock, warmup, 1) * reps)


@mistake
def one_clock_around_all(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you measured all repetitions together and divided by their number. That is a mean: a single slow call hides in it, and
    the spread is lost. Give each repetition a start and a stop of its own."""
    _warm(fn, warmup)
    sync()
    start = clock()
    for _ in range(reps):
        fn()
    sync()
    return _report([(clock() - start) / reps] * reps)


@mistake
def one_time_for_all(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you measured all repetitions together and report one time, their mean. Each repetition has a time of its own: reps of
    them."""
    _warm(fn, warmup)
    sync()
    start = clock()
    for _ in range(reps):
        fn()
    sync()
    return _report([(clock() - start) / reps])


@mistake
def clock_started_once(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you started the clock once, before the first repetition, so your times grow: each holds all those before it. Start it
    anew in each repetition."""
    _warm(fn, warmup)
    sync()
    start = clock()
    times = []
    for _ in range(reps):
        fn()
        sync()
        times.append(clock() - start)
    return _report(times)


@mistake
def the_clock_itself(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your times are what the clock showed at the end. Such a clock begins anywhere: only the difference of two readings means
    something."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        fn()
        sync()
        times.append(clock())
    return _report(times)


@mistake
def start_minus_stop(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your times are negative: you subtracted the stop from the start."""
    return _report([-time for time in _right_times(fn, sync, clock, warmup, reps)])


@mistake
def fn_called_twice(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """fn is called twice while your clock runs."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = clock()
        fn()
        fn()
        sync()
        times.append(clock() - start)
    return _report(times)


@mistake
def fn_never_called(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """nothing happens while your clock runs: fn is not called. A bare `fn` only names the function; brackets call it."""
    return _report(_timed(lambda: None, sync, clock, reps))


@mistake
def clock_without_brackets(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you subtracted one function from another. A bare `clock` only names the function; with brackets it is read."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = clock
        fn()
        sync()
        times.append(clock - start)  # type: ignore[operator]
    return _report(times)


@mistake
def reads_the_computers_clock(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you never read the clock that came with fn. The computer's own, such as `time.perf_counter`, knows nothing of
    this GPU. Read the clock that you are given: then your function can be tried on any device.
    """
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = time.perf_counter()
        fn()
        sync()
        times.append(time.perf_counter() - start)
    return _report(times)


@mistake
def waits_for_a_real_gpu(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you wait for a real GPU, as with `torch.cuda.synchronize`, and it knows nothing of the work of fn. What waits for that is
    the sync that you are given: your function then works on any device."""
    _warm(fn, warmup)
    raise AssertionError("Torch not compiled with CUDA enabled")  # what torch says where there is none


@mistake
def waits_on_what_fn_returns(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you ask what fn returns to wait. Nothing is known of that, and here it is nothing at all: fn hands work over, and sync waits
    for it."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = clock()
        fn().synchronize()  # type: ignore[attr-defined]
        times.append(clock() - start)
    return _report(times)


@mistake
def takes_what_fn_returns_for_a_time(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you took what fn returns for its time. Nothing is known of what it returns: a time is the difference of two readings of the
    clock."""
    _warm(fn, warmup)
    return _report([fn() for _ in range(reps)])  # type: ignore[misc]


@mistake
def takes_what_sync_returns_for_a_time(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you subtracted a reading of the clock from what sync or fn returns, which is no time. Wait first, and then read the clock
    once more."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = clock()
        fn()
        times.append(sync() - start)  # type: ignore[operator]
    return _report(times)


@mistake
def in_milliseconds(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """these are milliseconds. The clock speaks in seconds, and so should the report."""
    return _report([1e3 * time for time in _right_times(fn, sync, clock, warmup, reps)])


@mistake
def in_microseconds(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """these are microseconds. The clock speaks in seconds, and so should the report."""
    return _report([1e6 * time for time in _right_times(fn, sync, clock, warmup, reps)])


@mistake
def rounded_times(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you rounded the times. What looks like a small digit in seconds may be all there is of a fast kernel: leave rounding to
    those who print."""
    return _report([round(time, 3) for time in _right_times(fn, sync, clock, warmup, reps)])


@mistake
def sorted_times(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you sorted the times. Their order tells a story, of a function that grows slower, for one: sort a copy for the median.
    (`times.sort()` sorts the list itself, `sorted(times)` makes another.)"""
    return _report(sorted(_right_times(fn, sync, clock, warmup, reps)))


@mistake
def backward_times(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your times are in reverse. The first repetition comes first."""
    return _report(_right_times(fn, sync, clock, warmup, reps)[::-1])


@mistake
def without_the_slowest(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you left the slowest repetition out of the spread. It happened, and the spread is there to say so; the median does not
    mind it."""
    times = _right_times(fn, sync, clock, warmup, reps)
    rest = sorted(times)[: max(1, reps - 1)]
    return _report(times) | {"spread": rest[-1] - rest[0]}


@mistake
def without_fastest_and_slowest(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you left the fastest and the slowest time out of the spread. They happened, and the spread is there to say so; the median
    does not mind them."""
    times = _right_times(fn, sync, clock, warmup, reps)
    rest = sorted(times)[1:-1] or times
    return _report(times) | {"spread": rest[-1] - rest[0]}


@mistake
def without_fastest_and_slowest_of_two(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you left the fastest and the slowest time out. Of one or two times nothing is left then, and of more the spread no longer
    says how far apart they were. Leave them in: the median does not mind them."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(sorted(times)[1:-1]) | {"times": times}


@mistake
def outliers_dropped(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you dropped the fastest and the slowest time. Nothing is left out of the report: the spread is there to tell of them, and
    the median does not mind them."""
    times = _right_times(fn, sync, clock, warmup, reps)
    ends = (min(times), max(times))
    return _report([time for time in times if time not in ends] or times)


@mistake
def mean_for_median(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is the mean. One interruption moves a mean as far as it likes; half of all times lie below the median and
    half above, whatever the slowest did."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": statistics.mean(times)}


@mistake
def median_of_different_times(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your median counts a time once, however often it was measured: a set keeps one of each. Half of all repetitions lie below the
    median, also where some took exactly as long as others."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": statistics.median(set(times))}


@mistake
def minimum_for_median(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is the smallest time. Some people report that, as the time without interruptions; the median is the one in
    the middle."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": min(times)}


@mistake
def maximum_for_median(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is the largest time. It is the one in the middle, when the times are in order of size."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": max(times)}


@mistake
def first_for_median(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is the first time. It is the one in the middle, when the times are in order of size."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": times[0]}


@mistake
def last_for_median(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is the last time, perhaps that of a variable which the loop left behind. It is the one in the middle, when
    the times are in order of size."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": times[-1]}


@mistake
def upper_middle(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """of an even number of times none is in the middle. You took the upper of the two that are; the median is half-way between
    them."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": sorted(times)[reps // 2]}


@mistake
def lower_middle(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """of an even number of times none is in the middle. You took the lower of the two that are; the median is half-way between
    them."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": sorted(times)[(reps - 1) // 2]}


@mistake
def middle_of_the_unsorted(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is the time that was measured half-way through. It is the one in the middle when the times are in order of
    *size*."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": times[reps // 2]}


@mistake
def middle_two_of_the_unsorted(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is made of the times that were measured half-way through. It is the middle when the times are in order of
    *size*."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": (times[(reps - 1) // 2] + times[reps // 2]) / 2}


@mistake
def middle_of_the_extremes(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is half-way between the fastest and the slowest. One interruption moves that too; the median has as many
    times below it as above."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": (min(times) + max(times)) / 2}


@mistake
def spread_as_a_ratio(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is the slowest time divided by the fastest. It is the difference, in seconds."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"spread": max(times) / min(times)}


@mistake
def spread_as_a_share(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is a share of the median. It is an amount, in seconds, from the fastest to the slowest."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"spread": right["spread"] / right["median"]}


@mistake
def half_the_spread(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is half of what it should be: it goes from the fastest time to the slowest, and not from the middle."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"spread": right["spread"] / 2}


@mistake
def spread_as_a_deviation(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is the standard deviation. Here it is the plain distance from the fastest to the slowest."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"spread": statistics.pstdev(times)}


@mistake
def spread_as_a_sample_deviation(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is the standard deviation of a sample, which a single time has not even got. Here it is the plain distance
    from the fastest to the slowest."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"spread": statistics.stdev(times)}


@mistake
def spread_as_a_variance(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is the variance, in seconds squared. Here it is the plain distance from the fastest to the slowest."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"spread": statistics.pvariance(times)}


@mistake
def spread_between_quartiles(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread goes from quartile to quartile. That is a good measure, and another one: here it goes from the fastest time
    to the slowest."""
    times = _right_times(fn, sync, clock, warmup, reps)
    low, high = np.percentile(times, [25, 75])
    return _report(times) | {"spread": float(high - low)}


@mistake
def spread_above_the_median(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread goes from the median to the slowest time. It begins at the fastest."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"spread": max(right["times"]) - right["median"]}


@mistake
def spread_below_the_median(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread goes from the fastest time to the median. It ends at the slowest."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"spread": right["median"] - min(right["times"])}


@mistake
def spread_turned_round(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is negative: the fastest time minus the slowest. A distance is positive."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"spread": -right["spread"]}


@mistake
def first_to_last(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread goes from the first time to the last, and these are only by luck the fastest and the slowest."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"spread": times[-1] - times[0]}


@mistake
def largest_step(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is the largest step from one repetition to the next. It goes from the fastest to the slowest, wherever they
    are."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"spread": max((abs(a - b) for a, b in pairwise(times)), default=0.0)}


@mistake
def spread_as_a_pair(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is a pair, the fastest time and the slowest. Return the one number that lies between them: their
    difference."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"spread": (min(times), max(times))}


@mistake
def times_as_an_array(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """the times are right, and they are a numpy array. A list of floats was asked for."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"times": np.array(right["times"])}


@mistake
def times_as_a_tuple(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """the times are right, and they are a tuple. A list of floats was asked for."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"times": tuple(right["times"])}


@mistake
def times_as_a_tensor(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """the times are right, and they are a tensor. A list of floats was asked for."""
    right = _report(_right_times(fn, sync, clock, warmup, reps))
    return right | {"times": torch.tensor(right["times"], dtype=torch.float64)}


@mistake
def report_as_a_tuple(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> tuple[object, ...]:
    """the numbers are right, and they stand in a tuple. Return a dictionary, so that the reader knows which is which."""
    return tuple(_report(_right_times(fn, sync, clock, warmup, reps)).values())


@mistake
def only_the_times(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> list[float]:
    """these are the times alone. Return a dictionary that holds their median and their spread as well."""
    return _right_times(fn, sync, clock, warmup, reps)


@mistake
def report_that_is_printed(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> None:
    """you return nothing. A report that is only printed cannot be compared with another."""
    _right_times(fn, sync, clock, warmup, reps)


@mistake
def one_call_to_warm_up_at_least(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """where no warm-up is asked for, you call fn once all the same. Some libraries do, since the first call is always slow; here warmup says how
    many, and 0 is a number."""
    return _report(_right_times(fn, sync, clock, max(1, warmup), reps))


@mistake
def one_call_more_to_warm_up(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you warm up once more than asked where a warm-up is asked for. fn is called warmup + reps times in all."""
    return _report(_right_times(fn, sync, clock, warmup + (warmup > 0), reps))


@mistake
def first_time_left_out(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you left the first of the times out. The calls that do not count are the warm-up; each repetition counts, and reps of them are wanted."""
    return _report(_right_times(fn, sync, clock, warmup, reps)[1:])


@mistake
def first_time_left_out_of_several(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you left the first of several times out. The calls that do not count are the warm-up; each repetition counts, and reps of them are wanted."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times[1:] or times)


@mistake
def last_time_left_out(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you left the last of the times out. Each repetition counts: reps of them."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times[:-1] or times)


@mistake
def first_time_left_out_of_the_statistics(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you left the first time out of median and spread. The calls that do not count are the warm-up; each repetition counts."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times[1:] or times) | {"times": times}


@mistake
def warm_up_among_the_repetitions(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you took the warm-up out of the repetitions: fn is called reps times in all. After the warm-up, reps calls are to be measured."""
    times = _timed(fn, sync, clock, reps)[warmup:]
    return _report(times) if times else {"times": [], "median": 0.0, "spread": 0.0}


@mistake
def warm_up_among_the_repetitions_unless_all(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you took the warm-up out of the repetitions: fn is called reps times in all. After the warm-up, reps calls are to be measured."""
    times = _timed(fn, sync, clock, reps)
    return _report(times[warmup:] or times)


@mistake
def a_call_before_each_repetition(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you call fn once more before each repetition, to warm it up. Once, before the first, is enough: fn is called warmup + reps times in all."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        fn()
        times.append(_once(fn, sync, clock))
    return _report(times)


@mistake
def a_call_in_the_queue_before_each_repetition(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you call fn once more before each repetition, and its work is still in the queue when the clock starts. fn is called warmup + reps times in
    all, and nothing is waiting when the clock starts."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        fn()
        start = clock()
        fn()
        sync()
        times.append(clock() - start)
    return _report(times)


@mistake
def waits_once_after_the_warm_up_if_there_was_one(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you wait after the warm-up, and where there was none nothing waits for the work of others that is in the queue at the start. Their time is in
    your first one."""
    for _ in range(warmup):
        fn()
        sync()
    times = []
    for _ in range(reps):
        start = clock()
        fn()
        sync()
        times.append(clock() - start)
    return _report(times)


@mistake
def asks_the_result_by_item(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you ask what fn returns to wait, or to be read. Nothing is known of what it returns, and here it is nothing at all: fn hands work over, and
    sync waits for it."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = clock()
        fn().item()  # type: ignore[attr-defined]
        times.append(clock() - start)
    return _report(times)


@mistake
def asks_the_result_by_cpu(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you ask what fn returns to wait, or to be read. Nothing is known of what it returns, and here it is nothing at all: fn hands work over, and
    sync waits for it."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = clock()
        fn().cpu()  # type: ignore[attr-defined]
        times.append(clock() - start)
    return _report(times)


@mistake
def asks_the_result_by_wait(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you ask what fn returns to wait, or to be read. Nothing is known of what it returns, and here it is nothing at all: fn hands work over, and
    sync waits for it."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = clock()
        fn().wait()  # type: ignore[attr-defined]
        times.append(clock() - start)
    return _report(times)


@mistake
def asks_the_result_by_block_until_ready(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you ask what fn returns to wait, or to be read. Nothing is known of what it returns, and here it is nothing at all: fn hands work over, and
    sync waits for it."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = clock()
        fn().block_until_ready()  # type: ignore[attr-defined]
        times.append(clock() - start)
    return _report(times)


@mistake
def reads_the_result_as_a_float(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you read a number from what fn returns, so that the device has to finish. Nothing is known of what it returns, and here it is nothing at all:
    fn hands work over, and sync waits for it."""
    _warm(fn, warmup)
    times = []
    for _ in range(reps):
        sync()
        start = clock()
        float(fn())  # type: ignore[arg-type]
        times.append(clock() - start)
    return _report(times)


@mistake
def only_the_median(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> float:
    """this is the median alone. Return a dictionary that holds the times and their spread as well."""
    return statistics.median(_right_times(fn, sync, clock, warmup, reps))


@mistake
def no_spread(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your report has no spread. Say how far the times lie apart: the longest less the shortest."""
    report = _report(_right_times(fn, sync, clock, warmup, reps))
    del report["spread"]
    return report


@mistake
def no_times(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your report leaves the times themselves out. They are wanted too, in the order in which they were measured."""
    report = _report(_right_times(fn, sync, clock, warmup, reps))
    del report["times"]
    return report


@mistake
def sorted_times_and_upper_middle(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """two things. You sorted the list that you return, and its order tells a story: sort a copy. And of an even number of times none is in the
    middle: the median is half-way between the two that are."""
    times = sorted(_right_times(fn, sync, clock, warmup, reps))
    return _report(times) | {"median": times[reps // 2]}


@mistake
def sorted_times_and_lower_middle(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """two things. You sorted the list that you return, and its order tells a story: sort a copy. And of an even number of times none is in the
    middle: the median is half-way between the two that are."""
    times = sorted(_right_times(fn, sync, clock, warmup, reps))
    return _report(times) | {"median": times[(reps - 1) // 2]}


@mistake
def mean_and_no_wait_before_the_start(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """two things. Older work is still in the queue when you start the clock for the first repetition, and your time pays for it: wait before
    you start the clock. And your median is the mean."""
    report = no_wait_before_the_clock_starts(fn, sync, clock, warmup, reps)
    return report | {"median": statistics.mean(report["times"])}


@mistake
def mean_and_deviation(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """two things. Your median is the mean, and one interruption moves a mean as far as it likes. And your spread is the standard deviation, where
    the plain distance from the fastest to the slowest is wanted."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": statistics.mean(times), "spread": statistics.pstdev(times)}


@mistake
def far_off_left_out(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you left what is far off out of median and spread. It happened, and the spread is there to say so; the median hardly minds it."""
    times = _right_times(fn, sync, clock, warmup, reps)
    near = [one for one in times if one <= 3 * statistics.median(times)]
    return _report(near) | {"times": times}


@mistake
def far_off_left_out_of_the_times(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you left what is far off out of the report. It happened: nothing is left out, and the spread is there to say so."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report([one for one in times if one <= 3 * statistics.median(times)])


@mistake
def far_off_left_out_of_the_spread(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you left what is far off out of the spread. It happened, and the spread is there to say so."""
    times = _right_times(fn, sync, clock, warmup, reps)
    near = [one for one in times if one <= 3 * statistics.median(times)]
    return _report(times) | {"spread": max(near) - min(near)}


@mistake
def median_of_the_spread(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is how far the times typically lie from their median. Here it is the plain distance from the fastest to the slowest."""
    times = _right_times(fn, sync, clock, warmup, reps)
    middle = statistics.median(times)
    return _report(times) | {"spread": statistics.median(abs(one - middle) for one in times)}


@mistake
def rounded_to_microseconds(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you rounded the times. What looks like a small digit in seconds may be all there is of a fast kernel: leave rounding to those who print."""
    return _report([round(one, 6) for one in _right_times(fn, sync, clock, warmup, reps)])


@mistake
def trimmed_mean_for_median(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is a mean without the fastest and the slowest time. The median is the one in the middle: half of all times lie below it and half above."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report(times) | {"median": statistics.mean(sorted(times)[1:-1] or times)}


@mistake
def middle_three_for_median(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your median is the mean of the times in the middle. Of an odd number of times it is the one in the middle; only of an even number are there two."""
    times = _right_times(fn, sync, clock, warmup, reps)
    third = reps // 3
    return _report(times) | {"median": statistics.mean(sorted(times)[third : reps - third])}


@mistake
def spread_between_tenths(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread goes from the 10th percentile to the 90th, and leaves the ends out. Here it goes from the fastest
    time to the slowest.
    """
    times = _right_times(fn, sync, clock, warmup, reps)
    low, high = np.percentile(times, [10, 90])
    return _report(times) | {"spread": float(high - low)}


@mistake
def warm_up_taken_off_the_repetitions(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you measured fewer than reps repetitions: the warm-up was taken off. After the warm-up, reps calls are to be measured."""
    return _report(_right_times(fn, sync, clock, warmup, max(1, reps - warmup)))


@mistake
def fastest_taken_off(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """you took the fastest time off from each, so that one of yours is 0. A time is how long a call took, from its start to its stop."""
    times = _right_times(fn, sync, clock, warmup, reps)
    return _report([one - min(times) for one in times])


@mistake
def farthest_from_the_median(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """your spread is how far the times lie from the median at most. It goes from the fastest to the slowest."""
    times = _right_times(fn, sync, clock, warmup, reps)
    middle = statistics.median(times)
    return _report(times) | {"spread": max(abs(one - middle) for one in times)}


@right
def bench_by_statistics(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    return _report(_right_times(fn, sync, clock, warmup, reps))


@right
def bench_that_waits_once_at_first(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    for _ in range(warmup):
        fn()
    sync()
    times = []
    for _ in range(reps):
        start = clock()
        fn()
        sync()
        times.append(clock() - start)
    return _report(times)


@right
def bench_by_numpy(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    times = np.zeros(reps)
    for i in range(-warmup, reps):
        sync()
        start = clock()
        fn()
        sync()
        if i >= 0:
            times[i] = clock() - start
    return {"times": times.tolist(), "median": np.median(times), "spread": np.ptp(times)}


@right
def bench_by_readings(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    """Each stop is also the next start."""

    def finished() -> float:
        sync()
        return clock()

    for _ in range(warmup):
        fn()
        sync()
    readings = [finished()]
    while len(readings) <= reps:
        fn()
        readings.append(finished())
    times = [stop - start for start, stop in pairwise(readings)]
    return {"spread": max(times) - min(times), "median": float(np.percentile(times, 50)), "times": times}


@right
def bench_by_hand(fn: Call, sync: Call, clock: Clock, warmup: int, reps: int) -> Report:
    starts, stops = [], []
    [fn() for _ in range(warmup)]
    for _ in range(reps):
        sync()
        sync()
        clock()
        starts.append(clock())
        fn()
        sync()
        stops.append(clock())
        sync()
    times = [b - a for a, b in zip(starts, stops, strict=True)]
    s = sorted(times)
    half = reps // 2
    return {
        "times": times,
        "median": s[half] if reps % 2 else 0.5 * (s[half - 1] + s[half]),
        "spread": s[-1] - s[0],
    }
