"""Seconds of processor time that commands take, whoever else is busy: counted by a control group where one can be made."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from autograder.bench.measuring import busy

HOMES = (Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup"))
"""Of version 1, then of version 2."""
OLD, NEW = "cpuacct.usage", "cpu.stat"


@dataclass(frozen=True)
class Spent:
    """What a command took and said.

    Attributes:
        cpu: seconds of processor time, of all that it started.
        wall: seconds that somebody waited for it.
        code: its exit code.
        said: what it printed.
    """

    cpu: float
    wall: float
    code: int
    said: str


def spend(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Spent:
    """Run a command in a folder until it and all that it started have ended, or been left behind."""
    group = _group()
    before, begun = busy(), time.perf_counter()
    entered = command if group is None else ["sh", "-c", 'echo 0 > "$0"; exec "$@"', f"{group}/cgroup.procs", *command]
    done = subprocess.run(
        entered,
        cwd=folder,
        env=environment,
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    wall = time.perf_counter() - begun
    if group is None:
        return Spent(busy() - before, wall, done.returncode, done.stdout)
    used = _used(group)
    with suppress(OSError):  # somebody is still in it
        group.rmdir()
    return Spent(used, wall, done.returncode, done.stdout)


def _group() -> Path | None:
    for home in HOMES:
        with suppress(OSError):
            made = Path(tempfile.mkdtemp(prefix="bench-", dir=home))
            try:
                _used(made)
            except OSError:
                made.rmdir()
                continue
            if os.access(made / "cgroup.procs", os.W_OK):
                return made
            made.rmdir()
    return None


def _used(group: Path) -> float:
    if (group / OLD).exists():
        return int((group / OLD).read_text()) / 1e9
    return int((group / NEW).read_text().split()[1]) / 1e6
