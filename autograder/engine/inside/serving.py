"""One submission's process: it waits until there is a submission, and does what the grader asks for, cell by cell, until it hangs up.

Opening: {"environment": {...}, "files": {path: base64}, "folder": ..., "removed": [path, ...]}, answered by {"ready": true}.
Requests: {"do": "run", "source": ..., "parent": ..., "comms": [...], "socket": a variable's name or None}, {"do": "files"}.
Replies: {"messages": [[type, content], ...], "reply": {...}}, {"written": {path: base64}, "removed": [path, ...]}.
"""

from __future__ import annotations

import base64
import os
import signal
import socket
import sys
import sysconfig
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from . import wire
from .files import changes, stamps
from .shell import Notebook

MAX_OPENING = 96 << 20


def serve(connection: socket.socket, notebook: Notebook, modules: Mapping[str, ModuleType]) -> None:
    """Run a notebook's cells beside the files that come with it.

    Args:
        connection: to the grader.
        notebook: a warm shell.
        modules: what was imported beforehand.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        opening = wire.receive(connection, most=MAX_OPENING)
    except EOFError:
        return
    os.environ.clear()
    os.environ.update(opening["environment"])
    os.makedirs(opening["folder"], exist_ok=True)
    os.chdir(opening["folder"])
    home = Path.cwd()
    for name in opening["removed"]:
        (home / name).unlink(missing_ok=True)
    _unpack(home, opening["files"])
    before = stamps(home)
    sys.path[:] = _path()
    notebook.begin(modules)
    wire.send(connection, {"ready": True})
    while True:
        try:
            request, descriptors = wire.receive_with_descriptors(connection)
        except EOFError:
            return
        if request["do"] == "files":
            written, removed = changes(home, before)
            texts = {name: base64.b64encode(content).decode() for name, content in written.items()}
            answer: dict[str, Any] = {"written": texts, "removed": removed}
        else:
            answer = _run(notebook, request, next(iter(descriptors), None))
        try:
            wire.send(connection, answer)
        except (TypeError, ValueError):  # what a submission displayed is no JSON
            wire.send(connection, {"messages": [], "reply": answer["reply"]})


def _run(notebook: Notebook, request: dict[str, Any], descriptor: int | None) -> dict[str, Any]:
    variable = request["socket"]
    if variable and descriptor is not None:
        os.environ[variable] = str(descriptor)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        notebook.hear(request["comms"])
        messages, reply = notebook.run(request["source"], request["parent"])
    except KeyboardInterrupt:  # it came after the cell's own last line
        messages, reply = notebook.collector.take(), {"status": "ok", "execution_count": None}
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if variable:
            os.environ.pop(variable, None)
        if descriptor is not None:
            with suppress(OSError):  # a submission may have closed it
                os.close(descriptor)
    return {"messages": messages, "reply": reply}


def _path() -> list[str]:
    """Where modules are looked for: as in a kernel, beside the notebook after the standard library and before what is installed."""
    standard = sysconfig.get_path("stdlib")
    library = [entry for entry in sys.path if entry in (standard, f"{standard}/lib-dynload") or entry.endswith(".zip")]
    engine = str(Path(__file__).parents[1])
    return list(dict.fromkeys([*library, "", *(entry for entry in sys.path if entry != engine)]))


def _unpack(home: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # it may be a link to what was given
        path.write_bytes(base64.b64decode(content))
