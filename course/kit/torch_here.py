"""PyTorch is fetched by the first notebook that needs it: most of the course does without, and it is large."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from course.folders import RECORD
from course.kit.copies import KIT

MISSING = """This notebook computes with PyTorch, which is not installed here yet. To get it, change this cell to

    pytorch(get=True)

and run it. That downloads about 200 MB on Windows and macOS. On Linux it may be 2.6 GB, and 5 GB on disk, since what
NVIDIA's cards need comes with it. The command for a smaller one, without that, is on PyTorch's page "Get Started": choose
Linux, Pip and CPU there, and type the command in a terminal, with {python} -m pip for pip."""
FAILED = "PyTorch could not be installed; the lines above say why. What has been downloaded is not downloaded twice."


class Waiting(Exception):
    """A notebook cannot go on before something was done; the message says what."""

    def _render_traceback_(self) -> list[str]:
        return str(self).split("\n")


def pytorch(get: bool = False) -> None:
    """Say how to get PyTorch where it is missing, and stop the notebook there; nothing where it is installed.

    Args:
        get: install it, into the environment that runs this notebook.

    Raises:
        Waiting: it is missing.
    """
    if find_spec("torch") is not None:
        return
    if not get or os.environ.get("NBGRADER_EXECUTION"):
        raise Waiting(MISSING.format(python=sys.executable))
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", _pinned()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        for line in pip.stdout or ():
            print(line, end="", flush=True)
    if pip.returncode != 0:
        raise Waiting(FAILED)
    print("PyTorch is here.")


def _pinned() -> str:
    """PyTorch in the version that the course was proved with, as the kit tells it; any, where no kit was."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        kit = folder / RECORD / KIT
        if kit.is_file():
            return str(json.loads(kit.read_text(encoding="utf-8"))["torch"])
    return "torch"
