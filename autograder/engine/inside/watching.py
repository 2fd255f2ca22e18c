"""How much memory a submission's processes take together, seen from the zygote."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

COUNTED = ("RssAnon:", "RssShmem:")


def memory(pid: int, shared: int = 0) -> int:
    """Bytes that a process and its descendants have in memory, files apart.

    Args:
        pid: the process.
        shared: bytes that each process has from the one it was forked from, and does not take again.
    """
    total = 0
    waiting = [pid]
    while waiting:
        process = waiting.pop()
        with suppress(OSError, ValueError):
            total += max(_own(process) - shared, 0)
            for thread in os.listdir(f"/proc/{process}/task"):
                children = Path(f"/proc/{process}/task/{thread}/children").read_text()
                waiting += map(int, children.split())
    return total


def _own(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(COUNTED))
