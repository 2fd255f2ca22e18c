"""Start the proxy, which is the way out for the submissions of a zygote, or of a kernel."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from autograder.engine import proxy
from autograder.engine.inside.walls import STUDENT

SECONDS_TO_END = 10.0


class WayOut:
    """A running proxy.

    Args:
        hosts: what it lets through, as `proxy.places` reads it.

    Attributes:
        channel: for whoever makes listening sockets; the proxy ends when nobody has it any more.
    """

    def __init__(self, hosts: Sequence[str]) -> None:
        self.channel, theirs = socket.socketpair()
        with theirs:
            argv = [sys.executable, "-I", "-S", str(Path(proxy.__file__)), str(theirs.fileno()), str(STUDENT), *hosts]
            descriptors = (theirs.fileno(),)
            self._process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=descriptors, start_new_session=True
            )

    def close(self) -> None:
        """End it."""
        self.channel.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(SECONDS_TO_END)
            return
        self._process.kill()
        self._process.wait()
