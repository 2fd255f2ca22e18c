"""How much memory a submission takes altogether, and how long it has waited for a processor.

Both are seen from the zygote, where it cannot hide them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

FAIR = ("Pss_Anon:", "Pss_Shmem:")
WHOLE = ("RssAnon:", "RssShmem:")
FEW_LOCKS = 1_000
LOCK, MAPPING, WATCHER = 4 << 10, 512, 4 << 20
"""Bytes that count for a lock on a part of a file, for an area of addresses, and for an inotify instance, which may hold that much of
what it has to tell. The kernel takes less for most, and tells of none; control groups count what it takes."""


def memory(pid: int, rooms: Sequence[int], socket: int) -> int:
    """Bytes of memory that a process and all below it take: their own, their files in memory, what their sockets may hold, and what the
    kernel keeps for them.

    Args:
        pid: of the first process of a namespace.
        rooms: descriptors, one for each file system in memory that they can write in. What is mapped of a file counts twice.
        socket: bytes that one socket may hold. Each counts as full: what lies in one that was closed, or is under way to another
            process, is nowhere to be seen, but the socket is counted until it is read.
    """
    files = sum((at.f_blocks - at.f_bfree) * at.f_frsize for at in map(os.fstatvfs, rooms))
    processes = {thread.parent.parent for thread in _threads(pid)}
    kept = _locks(processes) * LOCK
    return files + _sockets(pid) * socket + kept + sum(map(_process, processes))


def _process(process: Path) -> int:
    """What several processes share is counted once among them.

    One that cannot be looked into, as it chose, counts as the owner of all it has.
    """
    with suppress(OSError, ValueError):
        try:
            return _lines(process / "smaps_rollup", FAIR) + _mappings(process) * MAPPING + _watchers(process) * WATCHER
        except PermissionError:
            return _lines(process / "status", WHOLE)
    return 0


def _mappings(process: Path) -> int:
    return (process / "maps").read_bytes().count(b"\n")


def _watchers(process: Path) -> int:
    found = 0
    for descriptor in os.scandir(process / "fd"):
        with suppress(OSError):  # it was closed meanwhile
            found += os.readlink(descriptor.path) == "anon_inode:inotify"
    return found


def _locks(processes: Iterable[Path]) -> int:
    """How many locks on files these processes hold; where there are few on the whole machine, nobody is asked for them."""
    lines = 0
    with suppress(OSError), open("/proc/locks", "rb", buffering=0) as told:
        while lines <= FEW_LOCKS and (some := told.read(1 << 16)):  # all of many take the kernel seconds to list
            lines += some.count(b"\n")
    return sum(_lines_of_locks(process / "fdinfo") for process in processes) if lines > FEW_LOCKS else 0


def _lines_of_locks(descriptors: Path) -> int:
    found = 0
    with suppress(OSError):  # the process has ended, or may not be looked into
        for descriptor in descriptors.iterdir():
            with suppress(OSError):
                found += descriptor.read_bytes().count(b"\nlock:")
    return found


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
