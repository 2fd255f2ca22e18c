"""Commands as somebody types them, run in forks of a process that has imported what they need: to import it takes most of them longer
than what they do.

What becomes of a command before its first line of code runs, or when a signal or a kill meets it, this does not show. Tests of
these start real processes, as do tests in which something else than a test types it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

from autograder.folder import Course
from autograder.settings import CONFIG, ROOT
from tests.support import command_server
from tests.support.command_server import SIZE, Has

MODULE = (sys.executable, "-m")


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


def grade_command(course: Course, assignment: str, *words: str) -> list[str]:
    """The class command, typed somewhere else; behind `MODULE`, what a process of its own runs."""
    return ["autograder", "grade", assignment, "--course", str(course.root), *words]


def grade(course: Course, assignment: str, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the class command in this process's environment with these variables."""
    return run(grade_command(course, assignment, *words), env=os.environ | variables)


def _settings(folder: Path) -> str:
    """The text of the settings that nbgrader finds in a folder; "" where there are none."""
    return (folder / CONFIG).read_text() if (folder / CONFIG).is_file() else ""


@cache
def _server(has: Has) -> _Server:
    return _Server(has)


class _Server:
    """A server of commands, which ends with this process."""

    def __init__(self, has: Has) -> None:
        self._asks, answers = socket.socketpair()
        self._turn = threading.Lock()
        with answers:
            code = f"from {command_server.__name__} import serve\nserve({has!r}, {answers.fileno()})()"
            path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # nbgrader looks there
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                cwd=ROOT,
                env={**os.environ, "PATH": path},
                pass_fds=[answers.fileno()],
                stdin=subprocess.DEVNULL,
            )

    def ask(self, request: object, output: int) -> int:
        """The exit code of a command; minus the number of the signal that ended it.

        Raises:
            RuntimeError: the server is gone.
        """
        told, tells = socket.socketpair()
        with told, told.makefile() as answer:
            line = json.dumps(request).encode()
            with tells, self._turn:
                socket.send_fds(self._asks, [len(line).to_bytes(SIZE)], [output, tells.fileno()])
                self._asks.sendall(line)
            code = answer.read()
        if not code:
            raise RuntimeError(f"what runs commands has ended with {self._process.poll()}; above stands why")
        return int(code)
