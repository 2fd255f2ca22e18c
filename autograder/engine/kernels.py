"""A real kernel behind the outer wall, for the few notebooks that need one: widgets, or another language."""

from __future__ import annotations

import copy
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

from autograder.engine import groups, temporary
from autograder.engine.given import NOTHING, Given
from autograder.engine.inside.walls import Limits
from autograder.engine.outer import best_walls, command, interpreter


@contextmanager
def walled_kernels(
    folder: Path, libraries: Sequence[Path] = (), given: Given = NOTHING
) -> Iterator[type[AsyncKernelManager]]:
    """A kernel manager whose kernels see no more of this machine than a submission in the engine, and may write in one folder.

    They talk over sockets in a folder of their own: there is no network. Where no wall can be built, it is Jupyter's own manager.

    Args:
        folder: where the notebook is run.
        libraries: packages, as folders, that can be imported within besides what is installed.
        given: the instructor's files, for `lay_out`.
    """
    if best_walls() == "none":
        yield AsyncKernelManager
        return
    with temporary.folder() as meeting, _bounded() as entered:

        class WalledKernelManager(AsyncKernelManager):
            def __init__(self, **keywords: Any) -> None:
                super().__init__(**keywords)
                self.transport = "ipc"
                self.connection_file = str(meeting / "kernel.json")

            @property
            def kernel_spec(self) -> KernelSpec | None:
                spec = copy.copy(super().kernel_spec)
                if spec is not None:
                    spec.interrupt_mode = "message"  # a signal would end at the wall
                return spec

            def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
                within = super().format_kernel_cmd(extra_arguments)
                if within[0] == sys.executable:
                    within[0] = interpreter()
                wall, _ = command(
                    best_walls(), ["-m", "inside.launch", *within], libraries, [str(meeting), str(folder)], given
                )
                return entered(wall)

        yield WalledKernelManager


@contextmanager
def _bounded() -> Iterator[Callable[[list[str]], list[str]]]:
    """How to start a command so that the kernel bounds its memory, where it can; it ends with the context, with all that it started."""
    group = groups.take(groups.allowing(Limits().together))
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
