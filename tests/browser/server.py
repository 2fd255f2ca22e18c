"""A Jupyter server as a student starts it, with a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from autograder.settings import ROOT
from tests.support.waiting import end, until

TOKEN = "a-students-own"


@dataclass(frozen=True)
class Server:
    """A running server, and the folder that it serves."""

    work: Path
    port: int

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def url(self, page: str) -> str:
        """The address of one of its pages, such as "lab", or of "", at which a browser is opened; with no tabs of an earlier visit."""
        return f"{self.origin}/{page}?reset&token={TOKEN}"


def serving(work: Path, home: Path, notebooks: Path = ROOT / "release") -> AbstractContextManager[Server]:
    """A server on a student's own copies of some notebooks, for as long as it is needed; all that it keeps for itself lies in `home`.

    Raises:
        RuntimeError: it did not start; the message says what it printed.
    """
    return _running(["course", "--notebooks", str(notebooks), "--work", str(work), "--no-browser"], work, home)


def lab(course: Path, home: Path) -> AbstractContextManager[Server]:
    """JupyterLab as an instructor starts it in the folder of a course, with nbgrader's menu and formgrader."""
    command = ["jupyterlab", "--no-browser"]
    return _running([*command, *(["--allow-root"] if os.geteuid() == 0 else [])], course, home)


@contextmanager
def _running(module: list[str], work: Path, home: Path) -> Iterator[Server]:
    own = {
        "HOME": home,
        "IPYTHONDIR": home / "ipython",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
    }
    command = [sys.executable, "-m", *module]
    command += ["--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", f"--IdentityProvider.token={TOKEN}"]
    command += ["--LabApp.expose_app_in_browser=True"]
    log = home / "server.log"
    with log.open("wb") as said:
        environment = os.environ | {name: str(place) for name, place in own.items()}
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, env=environment, cwd=work)
    try:
        until(lambda: process.poll() is not None or _answering(work, home))
        server = _answering(work, home)
        if server is None:
            raise RuntimeError(f"the server did not start:\n{log.read_text()}")
        yield server
    finally:
        end(process)


def _answering(work: Path, home: Path) -> Server | None:
    """The server, once it answers, at the port that it took for itself: one found for it another program might take before it does."""
    try:
        (written,) = (home / "runtime").glob("jpserver-*.json")
        server = Server(work, json.loads(written.read_text())["port"])
        with urlopen(f"{server.origin}/api/status?token={TOKEN}") as answer:
            return server if answer.status == 200 else None
    except (OSError, ValueError):  # it has not come so far
        return None
