"""JupyterLab as students need it: *Validate* in the toolbar, nothing of the instructor's, no news, and saving every ten seconds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

SETTINGS = Path(__file__).parent / "settings"
HOME = "index.ipynb"
"""What is opened first, where it is among the copies."""


def start(work: Path, options: Sequence[str] = ()) -> None:
    """Run JupyterLab on a student's copies, until it is stopped.

    Args:
        work: the folder that it shows.
        options: more of JupyterLab's own.

    Raises:
        ImportError: JupyterLab is not installed.
    """
    from jupyterlab.labapp import main

    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(
        [str(SETTINGS), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    )
    as_root = ["--allow-root"] if getattr(os, "geteuid", lambda: 1)() == 0 else []  # as in a container
    calm = [
        "--log-level=ERROR",
        "--LabApp.log_level=ERROR",
        "--ServerApp.answer_yes=True",
    ]  # it tells its address, and Ctrl+C stops it without a question
    home = [f"--LabApp.default_url=/lab/tree/{HOME}"] if (work / HOME).is_file() else []
    main([f"--ServerApp.root_dir={work}", *calm, *private(), *home, *as_root, *options])


def private() -> list[str]:
    """The option that has kernels spoken to in cipher, where the library for it is there; a kernel that is not warns at each start."""
    import zmq

    return ["--KernelManager.transport_encryption=auto"] if zmq.has("curve") else []
