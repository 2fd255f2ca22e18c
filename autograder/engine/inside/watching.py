"""How much memory a submission takes altogether, and how long it has waited for a processor.

Both are seen from the zygote, where it cannot hide them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

FAIR = ("Pss_Anon:", "Pss_Shmem:")
WHOLE = ("RssAnon:", "RssShmem:")


def memory(pid: int, rooms: Sequence[int], socket: int) -> int:
    """Bytes of memory that a process and all below it take: their own, their files in memory, and what their sockets may hold.

    Args:
        pid: of the first process of a namespace.
        rooms: descriptors, one for each file system in memory that they can write in. What is mapped of a file counts twice.
        socket: bytes that one socket may hold. Each counts as full: what lies in one that was closed, or is under way to another
            process, is nowhere to be seen, but the socket is counted until it is read.
    """
    files = sum((at.f_blocks - at.f_bfree) * at.f_frsize for at in map(os.fstatvfs, rooms))
    return files + _sockets(pid) * socket + _processes(pid)


def _processes(pid: int) -> int:
    """What several processes share is counted once among them.

    One that cannot be looked into, as it chose, counts as the owner of all it has.
    """
    total = 0
    for process in {thread.parent.parent for thread in _threads(pid)}:
        with suppress(OSError, ValueError):
            try:
                total += _lines(process / "smaps_rollup", FAIR)
            except PermissionError:
                total += _lines(process / "status", WHOLE)
    return total


def _lines(path: Path, names: tuple[str, ...]) -> int:
    return sum(int(line.split()[1]) << 10 for line in path.read_text().splitlines() if line.startswith(names))


def _sockets(pid: int) -> int:
    """How many sockets there are in the network namespace of a process."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/net/sockstat").read_text().split()[2])  # "sockets: used 3"
    return 0


def waited(pid: int) -> float:
    """Seconds that the threads of a process and its descendants have stood in line for a processor, while others had it.

    A kernel that does not tell counts as one on which nobody waits.
    """
    nanoseconds = 0
    for thread in _threads(pid):
        with suppress(OSError, ValueError, IndexError):
            nanoseconds += int((thread / "schedstat").read_text().split()[1])
    return nanoseconds / 1e9


def _threads(pid: int) -> Iterator[Path]:
    """The folders under /proc of the threads of a process and its descendants."""
    waiting = [pid]
    while waiting:
        with suppress(OSError, ValueError):
            for thread in Path(f"/proc/{waiting.pop()}/task").iterdir():
                waiting += map(int, (thread / "children").read_text().split())
                yield thread
