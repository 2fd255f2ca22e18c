"""How long something takes, measured so that it can be believed. (Notebook 08 says what can go wrong.)"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def seconds(run: Callable[[], object], at_most: float = 0.5) -> float:
    """The median time of one call, in seconds.

    PyTorch's benchmark timer does the work: it calls `run` before it measures, times as many calls together as the
    clock needs to see them, and repeats that until the repetitions agree. Where there is a GPU it waits for it.

    Args:
        run: what to time.
        at_most: about how many seconds to go on repeating where they do not agree.
    """
    import torch
    from torch.utils.benchmark import Timer

    timer = Timer("run()", globals={"run": run}, num_threads=torch.get_num_threads())
    return float(timer.adaptive_autorange(min_run_time=0.01, max_run_time=at_most).median)


def race(*runs: Callable[[], object], rounds: int = 3) -> list[float]:
    """Seconds that one call of each takes, in rounds, so that a busy moment does not fall on one of them alone.

    Of its rounds each keeps the quietest: other work on the machine can make a round slower, and never faster.
    """
    laps = [[seconds(run, 0.1) for run in runs] for _ in range(rounds)]
    return [min(lap) for lap in zip(*laps, strict=True)]


FINE = 1e-6  # seconds; a clock that is coarser cannot time a few calls
ENOUGH = 1e-3  # seconds; in what is shorter the clock's own steps would be seen


def quietest(*runs: Callable[[], object], alone: bool, rounds: int = 5, visit: float = 0.03) -> list[float]:
    """Seconds that a call of each takes, by the quietest handful of calls of so many rounds, each of at least `visit` seconds.

    What is to be compared takes turns, so that a busy moment of the machine falls on all of them. Of one thread `alone` it is the
    processor's time that is told, where the clock for it is fine enough: what other programs take is none of it.
    """
    fine = alone and time.get_clock_info("process_time").resolution < FINE
    clock = time.process_time if fine else time.perf_counter
    best = [float("inf")] * len(runs)
    handful = [1] * len(runs)
    for _ in range(rounds):
        for i, run in enumerate(runs):
            begun = done = clock()
            while done - begun < visit:
                called = clock()
                for _ in range(handful[i]):
                    run()
                done = clock()
                if done - called < ENOUGH:
                    handful[i] *= 2
                else:
                    best[i] = min(best[i], (done - called) / handful[i])
    return best


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let PyTorch use so many threads of the CPU, and then as many as before."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def helpful_threads() -> int:
    """All threads that PyTorch has here, if a short test is quicker with them than with one; else 1.

    Where other programs keep the cores busy, threads spend most of their time waiting for each other.
    """
    import torch

    A, B = torch.ones(256, 256), torch.ones(256, 1024)
    took = {torch.get_num_threads(): 0.0, 1: 0.0}
    for _ in range(4):
        for count in took:
            with threads(count):
                start = time.perf_counter()
                for _ in range(20):
                    (A @ B).relu_()
                took[count] += time.perf_counter() - start
    return min(took, key=lambda count: took[count])


def synchronize() -> None:
    """Wait until the GPU has done all that it was asked to do. A CPU has done it when the call returns."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


LAUNCH = 20e-6
"""Seconds that it takes to ask a make-believe device for something."""


class Device:
    """A make-believe device that works beside the program, as a GPU does: one job after another, on real time.

    `launch` returns long before the job is done. `synchronize` returns when all jobs launched so far are done.
    """

    def __init__(self) -> None:
        self._done_at = 0.0

    def launch(self, seconds: float) -> None:
        """Ask for a job that takes so many seconds; it begins when those before it are done."""
        asked = time.perf_counter() + LAUNCH
        while time.perf_counter() < asked:
            pass
        self._done_at = max(self._done_at, asked) + seconds

    def synchronize(self) -> None:
        """Wait for the last job."""
        time.sleep(max(0.0, self._done_at - time.perf_counter()))
