"""Processes that mark, and what becomes of work when they die."""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing

from autograder.grading.crew import Local, in_parallel


def nothing() -> None:
    pass


def test_a_process_that_dies_with_nothing_to_do_is_replaced() -> None:
    with closing(Local(1, [], nothing)) as crew:
        first = crew.submit(os.getpid).result(60)
        os.kill(first, signal.SIGKILL)
        while not crew._lanes[0].executor._broken:
            time.sleep(0.01)
        assert crew.submit(os.getpid).result(60) != first


def test_who_is_at_work_is_told_and_holds_up_nobody_for_whom_there_is_a_process() -> None:
    """One of two processes sleeps until all the others' work is done by the other one."""
    seen: dict[str, float] = {}
    ended = []
    with closing(Local(2, [], nothing)) as crew:
        tasks = ["slow", *(f"quick{number}" for number in range(6))]
        begin = {"slow": (time.sleep, 3.0)}
        for task, _, error in in_parallel(crew, tasks, lambda task: begin.get(task, (os.getpid,)), seen.update):
            assert error is None
            ended.append(task)
    assert ended == [*tasks[1:], "slow"]
    assert seen.keys() == {*tasks}
