"""Waiting for a condition, and for a process to end."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import Any

SECONDS = 60  # until it counts as hanging; on a quiet machine everything is over in a fraction of one


def until(holds: Callable[[], object]) -> bool:
    """Whether it holds before long."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.01)
    return bool(holds())


def end(process: subprocess.Popen[Any]) -> None:
    """Tell a server to end, which ends its own first; one that a thread of its own keeps from it is killed."""
    process.terminate()
    try:
        process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
