"""How much memory a submission's processes take together, seen from the zygote."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

FAIR = ("Pss_Anon:", "Pss_Shmem:")


def memory(pid: int) -> int:
    """Bytes that a process and its descendants take in memory, files apart; what several share is counted once among them.

    A process that cannot be looked at counts as nothing.
    """
    total = 0
    waiting = [pid]
    while waiting:
        process = waiting.pop()
        with suppress(OSError, ValueError):
            for thread in os.listdir(f"/proc/{process}/task"):
                children = Path(f"/proc/{process}/task/{thread}/children").read_text()
                waiting += map(int, children.split())
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith(FAIR))
    return total
