"""Run a command, and say what it took: time, the machine's processor time, and memory of each process at its height."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from autograder.engine.inside import linux

SAMPLING_SECONDS = 0.5


@dataclass(frozen=True)
class Taken:
    """What a command took.

    Attributes:
        wall: seconds.
        cpu: seconds of processor time, of the whole machine: what a process took that ended with its namespace is counted nowhere else.
        memory: for each kind of process, the MiB that one of them had to itself (its share of shared pages), at its height.
    """

    wall: float
    cpu: float
    memory: dict[str, float]


class CommandFailed(RuntimeError):
    """A command of the bench did not succeed; the message is what it printed last."""


def take(commands: Sequence[Sequence[str]], folder: Path) -> Taken:
    """Run commands side by side in a folder, until all have ended.

    Raises:
        CommandFailed: one of them did not exit with 0.
    """
    linux.adopt_orphans()  # what outlives its parent is waited for here
    log = folder / "bench.log"
    with log.open("wb") as out:
        others = _children(os.getpid())  # of whoever measures: nobody waits for these
        before, begun = busy(), time.perf_counter()
        running = [subprocess.Popen(command, cwd=folder, stdout=out, stderr=out) for command in commands]
        sampler = _Sampler(os.getpid())
        for process in running:
            process.wait()
        wall = time.perf_counter() - begun
        memory = sampler.stop()
        with suppress(ChildProcessError):
            while late := _children(os.getpid()) - others:
                os.waitpid(late.pop(), 0)
        cpu = busy() - before
    if any(process.returncode for process in running):
        raise CommandFailed(log.read_text(errors="replace")[-3000:])
    return Taken(wall, cpu, memory)


def busy() -> float:
    """Seconds for which this machine's processors have not been idle, whoever used them; it should be nobody else now."""
    user, nice, system, _, _, *interrupts = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:8])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


class _Sampler:
    """Looks at the memory of every descendant, twice a second, in a thread."""

    def __init__(self, ancestor: int) -> None:
        self._ancestor = ancestor
        self._most: dict[str, float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> dict[str, float]:
        self._over.set()
        self._thread.join()
        return self._most

    def _watch(self) -> None:
        while not self._over.wait(SAMPLING_SECONDS):
            for pid in descendants(self._ancestor):
                try:
                    kind, size = _kind(pid), _mebibytes(pid)
                except (OSError, ValueError, StopIteration):
                    continue  # it has ended
                self._most[kind] = max(size, self._most.get(kind, 0.0))


def descendants(pid: int) -> list[int]:
    children = _children(pid)
    return [*children, *(pid for child in children for pid in descendants(child))]


def _children(pid: int) -> set[int]:
    try:
        return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
    except OSError:
        return set()


def _kind(pid: int) -> str:
    """What a process is: a worker is forked from the main one, a submission from the zygote."""
    command, parents = _command(pid), _command(_parent(pid))
    known = {"inside.zygote": "zygote", "ipykernel": "kernel", "forkserver": "worker", "nbgrader autograde": "nbgrader"}
    found = next((kind for part, kind in known.items() if part in command), "main")
    if command == parents:
        return {"zygote": "submission", "main": "worker"}.get(found, found)
    return found


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")


def _mebibytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
