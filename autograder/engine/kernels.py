"""A real kernel behind the outer wall, for the few notebooks that need one: widgets, or another language."""

from __future__ import annotations

import copy
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

from autograder.engine import groups
from autograder.engine.given import NOTHING, Given
from autograder.engine.inside.walls import Limits
from autograder.engine.network import WayOut
from autograder.engine.outer import TETHERS, best_walls, command, interpreter, tethered

MEETING = "k"
SAID = "said"
"""What a kernel prints itself, which no notebook shows: a file in its place."""
LONGEST = 300
USUAL = Limits()
WITHOUT_INPUT = ("sh", "-c", 'exec "$@" </dev/null', "sh")


@contextmanager
def walled_kernels(
    place: Path, folder: Path, libraries: Sequence[Path] = (), given: Given = NOTHING, limits: Limits = USUAL
) -> Iterator[type[AsyncKernelManager]]:
    """A kernel manager whose kernels see no more of this machine than a submission in the engine, and may write in one folder.

    They talk over sockets in a folder of their own: there is no network, but for the hosts of the course's list. Where no wall can be built, they are like any other kernel. On
    Linux they end when the context ends, or this process does, however that comes about.

    Args:
        place: a temporary folder of the caller's, which is removed where this process is killed. Sockets lie in it, whose paths may have
            107 bytes.
        folder: where the notebook is run; it may lie in that place.
        libraries: packages, as folders, that can be imported within besides what is installed.
        given: the instructor's files, for `lay_out`.
        limits: what a kernel may use.
    """
    walls = best_walls()
    proxied = bool(limits.network) and walls != "none"
    if not TETHERS:
        yield AsyncKernelManager
        return
    meeting = place / MEETING
    meeting.mkdir()
    with _bounded(limits) as entered, ExitStack() as ends:
        channel = ends.enter_context(closing(WayOut(limits.network))).channel if proxied else None

        class TetheredKernelManager(AsyncKernelManager):
            def __init__(self, **keywords: Any) -> None:
                super().__init__(**keywords)
                self.connection_file = str(meeting / f"{MEETING}.json")

            def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
                within = self.walled_cmd(super().format_kernel_cmd(extra_arguments))
                return tethered([*WITHOUT_INPUT, *within], place, walls)

            def walled_cmd(self, within: list[str]) -> list[str]:
                return within

            async def _async_launch_kernel(self, kernel_cmd: list[str], **keywords: Any) -> None:
                reading, writing = os.pipe()
                ends.callback(os.close, writing)
                with (place / SAID).open("wb") as said:
                    streams = {"stdin": reading, "stdout": said, "stderr": said}
                    passed = {"pass_fds": [channel.fileno()]} if channel else {}
                    try:
                        await super()._async_launch_kernel(kernel_cmd, **{**keywords, **streams, **passed})
                    finally:
                        os.close(reading)

        class WalledKernelManager(TetheredKernelManager):
            def __init__(self, **keywords: Any) -> None:
                super().__init__(**keywords)
                self.transport = "ipc"

            @property
            def kernel_spec(self) -> KernelSpec | None:
                spec = copy.copy(super().kernel_spec)
                if spec is not None:
                    spec.interrupt_mode = "message"  # a signal would end at the wall
                return spec

            def walled_cmd(self, within: list[str]) -> list[str]:
                if within[0] == sys.executable:
                    within[0] = interpreter()
                writable = [str(meeting), str(folder)]
                way_out = str(channel.fileno()) if channel else ""
                launched = ["-S", "-m", "inside.launch", json.dumps(asdict(limits)), way_out, *within]
                wall, _ = command(walls, launched, libraries, writable, given, limits.disk, proxied)
                return entered(wall)

        try:
            yield TetheredKernelManager if walls == "none" else WalledKernelManager
        except RuntimeError as error:
            if last := _last_line(place / SAID):
                raise RuntimeError(f"{error}; it printed: {last}") from error
            raise


def _last_line(path: Path) -> str:
    lines = path.read_text(errors="replace").split("\n") if path.is_file() else []
    return next((line for line in reversed(lines) if line.strip()), "")[:LONGEST]


@contextmanager
def _bounded(limits: Limits) -> Iterator[Callable[[list[str]], list[str]]]:
    """How to start a command so that the kernel bounds its memory, where it can; it ends with the context, with all that it started."""
    group = groups.take(groups.allowing(limits.together))
    if group is None:
        yield lambda command: command
        return
    try:
        yield group.entered
    finally:
        group.close()


def lay_out(folder: Path, given: Given) -> None:
    """Put the instructor's files into a folder: copies of those that are sent, links to where the others are behind the wall."""
    walled = best_walls() != "none"
    for name, source in {**given.sent, **({} if walled else given.let_in)}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, folder / name)
    for name, _, within in given.places() if walled else ():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(within)
