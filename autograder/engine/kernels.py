"""A real kernel behind the outer wall, for the few notebooks that need one: widgets, or another language."""

from __future__ import annotations

import copy
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

from autograder.engine.outer import best_walls, command, interpreter


@contextmanager
def walled_kernels(folder: Path, libraries: Sequence[Path] = ()) -> Iterator[type[AsyncKernelManager]]:
    """A kernel manager whose kernels see no more of this machine than a submission in the engine, and may write in one folder.

    They talk over sockets in a folder of their own: there is no network. Where no wall can be built, it is Jupyter's own manager.

    Args:
        folder: where the notebook is run.
        libraries: packages, as folders, that can be imported within besides what is installed.
    """
    if best_walls() == "none":
        yield AsyncKernelManager
        return
    with tempfile.TemporaryDirectory(prefix="kernel-", ignore_cleanup_errors=True) as meeting:

        class WalledKernelManager(AsyncKernelManager):
            def __init__(self, **keywords: Any) -> None:
                super().__init__(**keywords)
                self.transport = "ipc"
                self.connection_file = str(Path(meeting) / "kernel.json")

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
                wall, _ = command(best_walls(), ["-m", "inside.launch", *within], libraries, [meeting, str(folder)])
                return wall

        yield WalledKernelManager
