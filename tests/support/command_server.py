"""A process that has imported what commands need, and runs each in a fork of its own. It imports nothing else: a command must not find
there what its own process would not have."""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any, Literal, cast

Has = Literal["nbgrader", "autograder"]
"""What is imported: nbgrader alone, or this package too."""

MODULES: dict[Has, tuple[str, ...]] = {
    "nbgrader": ("nbgrader.apps.nbgraderapp", "IPython", "sqlalchemy.dialects.sqlite"),
    "autograder": ("autograder.__main__", "autograder.grading.run", "autograder.lms", "autograder.this_course"),
}
MAINS = {"nbgrader": "nbgrader.apps.nbgraderapp", "autograder": "autograder.__main__"}
SIZE = 4
"""Bytes in which the length of a request is told."""


def serve(has: Has, connection: int) -> Callable[[], object]:
    """Import what commands need, and wait for them, until nobody can ask for one any more.

    Args:
        has: what is imported.
        connection: the descriptor of a socket. At it arrive the length of a request, with the descriptors at which the command prints
            and at which its exit code is told, and the request: the command's words, its folder and its environment, as JSON.

    Returns:
        In each fork the command, which is to be called there; in the end, here, what ends this process.
    """
    before = {*os.environ}
    for name in (*MODULES["nbgrader"], *(MODULES["autograder"] if has == "autograder" else ())):
        import_module(name)
    added = {name: value for name, value in os.environ.items() if name not in before}
    api = import_module("nbgrader.api")
    api.get_alembic_version = cache(api.get_alembic_version)  # it starts a process, to be told the same word each time
    api.get_alembic_version()
    gc.freeze()
    with socket.socket(fileno=connection) as asked:
        while True:
            length, descriptors, _, _ = socket.recv_fds(asked, SIZE, 2)
            if not length:
                return sys.exit
            request = json.loads(asked.recv(int.from_bytes(length), socket.MSG_WAITALL))
            if os.fork() == 0:
                child = os.fork()
                if child == 0:
                    break
                code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                os.write(descriptors[1], str(code).encode())
                os._exit(0)
            for descriptor in descriptors:
                os.close(descriptor)
            _reap()
    return _begun(request, descriptors, added)


def _begun(request: dict[str, Any], descriptors: list[int], added: dict[str, str]) -> Callable[[], object]:
    """A command, in a process that looks as if it had been started for it."""
    output, tells = descriptors
    for stream in (1, 2):
        os.dup2(output, stream)
    os.close(output)
    os.close(tells)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(added | request["environment"])
    sys.argv = request["command"]
    return cast(Callable[[], object], import_module(MAINS[sys.argv[0]]).main)


def _reap() -> None:
    """Let go of forks that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
