"""Waiting for a condition."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS = 60  # until it counts as hanging; on a quiet machine everything is over in a fraction of one


def until(holds: Callable[[], object]) -> bool:
    """Whether it holds before long."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.01)
    return bool(holds())
