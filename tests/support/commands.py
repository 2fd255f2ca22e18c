"""Commands as somebody types them, run in forks of a process that has imported what they need: to import it takes most of them longer
than what they do.

What becomes of a command before its first line of code runs, or when a signal or a kill meets it, this does not show. Tests of
these start real processes, as do tests in which something else than a test types it.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal, cast

from autograder.folder import Course
from autograder.settings import CONFIG, ROOT

Has = Literal["nbgrader", "autograder"]
"""What a command's process has imported: nbgrader alone, or this package too."""

MODULES: dict[Has, tuple[str, ...]] = {
    "nbgrader": ("nbgrader.apps.nbgraderapp", "IPython", "sqlalchemy.dialects.sqlite"),
    "autograder": ("autograder.__main__", "autograder.grading.run", "autograder.lms", "autograder.this_course"),
}


def run(
    command: Sequence[str], cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `nbgrader ...` or `autograder ...` to its end. What it prints to either stream is its output, in the order in which it came.

    Args:
        command: the command and its words.
        cwd: where it is typed; the checkout if None.
        env: its environment; this process's if None.
    """
    folder = cwd or ROOT
    is_plugged = command[0] == "autograder" or "plug_in" in _settings(folder)
    asked = {"command": [*command], "folder": str(folder), "environment": dict(os.environ if env is None else env)}
    with TemporaryFile() as output:
        code = _server("autograder" if is_plugged else "nbgrader").ask(asked, output.fileno())
        output.seek(0)
        return subprocess.CompletedProcess([*command], code, output.read().decode(), "")


def nbgrader(course: Course, *words: str) -> subprocess.CompletedProcess[str]:
    """nbgrader's command, typed in a course's folder by somebody who has activated its environment."""
    return run(["nbgrader", *words], course.root)


def grade(course: Course, assignment: str, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The class command, typed somewhere else; where an environment has more variables, with these."""
    return run(["autograder", "grade", assignment, "--course", str(course.root), *words], env=os.environ | variables)


def _settings(folder: Path) -> str:
    """The text of the settings that nbgrader finds in a folder; "" where there are none."""
    return (folder / CONFIG).read_text() if (folder / CONFIG).is_file() else ""


@cache
def _server(has: Has) -> _Server:
    return _Server(has)


class _Server:
    """A process that runs commands, each in a fork of its own, until nobody can ask it any more."""

    def __init__(self, has: Has) -> None:
        self._asks, answers = socket.socketpair()
        with answers:
            code = f"from tests.support.commands import serve\nserve({has!r}, {answers.fileno()})()"
            kept = [answers.fileno()]
            path = os.pathsep.join(
                [str(Path(sys.executable).parent), os.environ["PATH"]]
            )  # nbgrader looks for alembic there
            subprocess.Popen(
                [sys.executable, "-c", code],
                cwd=ROOT,
                env={**os.environ, "PATH": path},
                pass_fds=kept,
                stdin=subprocess.DEVNULL,
            )
        self._turn = threading.Lock()

    def ask(self, request: object, output: int) -> int:
        """The exit code of a command; minus the number of the signal that ended it."""
        told, tells = socket.socketpair()
        with told, told.makefile() as answer:
            line = json.dumps(request).encode()
            with tells, self._turn:
                socket.send_fds(self._asks, [len(line).to_bytes(4)], [output, tells.fileno()])
                self._asks.sendall(line)
            return int(answer.read())


# ------------------------------------------------------------------------------------------------------- the server's side


def serve(has: Has, connection: int) -> Callable[[], object]:
    """Import what commands need, and wait for them. Each is given back in a fork, where it is to be called.

    Args:
        has: what is imported.
        connection: the descriptor of the socket at which commands arrive.
    """
    before = {*os.environ}
    for name in (*MODULES["nbgrader"], *(MODULES["autograder"] if has == "autograder" else ())):
        import_module(name)
    added = {name: value for name, value in os.environ.items() if name not in before}
    nbgrader = import_module("nbgrader.api")
    nbgrader.get_alembic_version = cache(
        nbgrader.get_alembic_version
    )  # it starts a process, to be told the same word each time
    nbgrader.get_alembic_version()
    gc.freeze()
    with socket.socket(fileno=connection) as asked:
        while True:
            length, descriptors, _, _ = socket.recv_fds(asked, 4, 2)
            if not length:
                return sys.exit
            request = json.loads(_exactly(asked, int.from_bytes(length)))
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
    main = import_module(
        {"nbgrader": "nbgrader.apps.nbgraderapp", "autograder": "autograder.__main__"}[sys.argv[0]]
    ).main
    return cast(Callable[[], object], main)


def _exactly(asked: socket.socket, length: int) -> bytes:
    line = b""
    while len(line) < length:
        line += asked.recv(length - len(line))
    return line


def _reap() -> None:
    """Let go of forks that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
