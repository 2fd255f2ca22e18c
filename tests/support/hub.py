"""The hub that the instructors' pages offer, on a machine with system users."""

from __future__ import annotations

import os
import random
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from autograder.settings import ROOT
from tests.support.needed import HUB
from tests.support.users import Machine, obstacle
from tests.support.waiting import end, until

PROXY = "configurable-http-proxy"
PASSWORD = "known to all of them"


@dataclass(frozen=True)
class Hub:
    """A running hub, in which everybody has the same password."""

    origin: str

    def server(self, user: str) -> str:
        """The address of a user's own server."""
        return f"{self.origin}/user/{user}"


def proxy() -> str:
    """Where the proxy's program is. A test that asks for a hub is left out where there can be none, or fails where it is required."""
    found = shutil.which(PROXY, path=os.pathsep.join([f"{sys.prefix}/bin", os.environ["PATH"]]))
    if found is None or obstacle():
        HUB.leave_out(obstacle() or f"there is no {PROXY}")
    return found


@contextmanager
def running(machine: Machine, folder: Path) -> Iterator[Hub]:
    """A hub with the settings of `docs/hub/`, but that anybody who knows the password is whoever they say, and ports of its own.

    Args:
        folder: where it lies, an empty one that everybody can read.

    Raises:
        RuntimeError: it did not start; the message says what it printed.
    """
    public, private, api = (f"http://127.0.0.1:{port}" for port in _free(3))
    own = {
        "JupyterHub.bind_url": public,
        "JupyterHub.hub_bind_url": private,
        "ConfigurableHTTPProxy.api_url": api,
        "ConfigurableHTTPProxy.command": proxy(),
        "JupyterHub.authenticator_class": "shared-password",
        "SharedPasswordAuthenticator.user_password": PASSWORD,
    }
    kept = ("PYTHONDONTWRITEBYTECODE", "LD_LIBRARY_PATH")  # of this machine's Python
    options = [f"--{name}={value}" for name, value in own.items()] + [f"--Spawner.env_keep={name}" for name in kept]
    packages = folder / "packages"  # the students' package, as it is where it was installed
    shutil.copytree(ROOT / "docs" / "hub", folder, dirs_exist_ok=True)
    shutil.copytree(ROOT / "course", packages / "course", ignore=shutil.ignore_patterns("__pycache__"))
    state = folder / "state"
    state.mkdir(mode=0o700)
    path = f"{machine.place}/env/bin:{os.environ['PATH']}"
    told = [f"{name}={value}" for name, value in (machine.variables | {"PATH": path, "PYTHONPATH": packages}).items()]
    log = state / "hub.log"
    with log.open("wb") as said:
        command = ["env", *told, "python", "-m", "jupyterhub", "-f", str(folder / "jupyterhub_config.py"), *options]
        process = machine.enter(state, *command, stdout=said)
    try:
        if not until(lambda: process.poll() is not None or _answers(public)) or process.poll() is not None:
            raise RuntimeError(f"the hub did not start:\n{log.read_text()}")
        yield Hub(public)
    finally:
        end(process)


def _free(count: int) -> list[int]:
    """Ports that nobody uses, and that no program gets that takes any: Linux gives those above 32767."""
    with ExitStack() as open_ones:
        found: list[int] = []
        for port in random.sample(range(20000, 32768), 1000):
            one = open_ones.enter_context(socket.socket())
            with suppress(OSError):
                one.bind(("127.0.0.1", port))
                found.append(port)
            if len(found) == count:
                return found
    raise RuntimeError("of a thousand ports, nearly all are in use")


def _answers(origin: str) -> bool:
    try:
        with urlopen(f"{origin}/hub/api") as answer:
            return answer.status == 200
    except (URLError, ConnectionError):
        return False
