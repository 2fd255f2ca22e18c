"""A notebook run in a kernel of its own, met at sockets in a folder: of two kernels that begin at once, neither takes the other's port."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode


def run_in_kernel(notebook: NotebookNode, **settings: Any) -> None:
    """Run all cells of a notebook; the settings are those of a `NotebookClient`."""
    with TemporaryDirectory(prefix="k-") as folder:

        class AtSockets(AsyncKernelManager):
            def __init__(self, **keywords: Any) -> None:
                super().__init__(**keywords)
                self.transport, self.connection_file = "ipc", f"{folder}/k.json"

        NotebookClient(notebook, kernel_manager_class=AtSockets, **settings).execute()


def run_in_stock_kernel(notebook: NotebookNode, **settings: Any) -> None:
    """The same in a kernel that is met at ports, as nbgrader's are, which imports more; once more where another one took its ports."""
    try:
        NotebookClient(notebook, **settings).execute()
    except RuntimeError as error:
        if "Kernel didn't respond" not in str(error):
            raise
        NotebookClient(notebook, **settings).execute()
