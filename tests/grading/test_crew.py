"""Processes that mark, and what becomes of work when they die."""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing

from autograder.grading.crew import Local


def nothing() -> None:
    pass


def test_a_process_that_dies_with_nothing_to_do_is_replaced() -> None:
    with closing(Local(1, [], nothing)) as crew:
        first = crew.submit(os.getpid).result(60)
        os.kill(first, signal.SIGKILL)
        while not crew._lanes[0].executor._broken:
            time.sleep(0.01)
        assert crew.submit(os.getpid).result(60) != first
