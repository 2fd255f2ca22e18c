"""A Jupyter server as a student starts it, with a home of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
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
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server = Server(work, free.getsockname()[1])
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
    command += ["--ServerApp.ip=127.0.0.1", f"--ServerApp.port={server.port}", "--ServerApp.port_retries=0"]
    command += [f"--IdentityProvider.token={TOKEN}"]
    log = home / "server.log"
    with log.open("wb") as said:
        environment = os.environ | {name: str(place) for name, place in own.items()}
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, env=environment, cwd=work)
    try:
        if not until(lambda: process.poll() is not None or _answers(server)) or process.poll() is not None:
            raise RuntimeError(f"the server did not start:\n{log.read_text()}")
        yield server
    finally:
        end(process)


def _answers(server: Server) -> bool:
    try:
        with urlopen(f"{server.origin}/api/status?token={TOKEN}") as answer:
            return answer.status == 200
    except (URLError, ConnectionError):
        return False
