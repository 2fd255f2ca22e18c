"""A process that has imported everything, and forks into each submission's process.

`python -m inside.zygote` reads its settings, one line of JSON, from its standard input, and takes connections at the listening
socket whose descriptor they name, until its standard input ends. A connection is a lease on one forked process: an opening message comes with the descriptor of that
process's own connection to the grader; after it, each byte "i" interrupts the process. When the lease is closed, it is killed, with all that it
started.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

from . import linux, seccomp, walls, watching, wire
from .shell import Notebook
from .submission import serve

STANDARD_INPUT = 0
MAX_OPENING = 96 << 20
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SECONDS_TO_OPEN = 1.0
SECONDS_BETWEEN_LOOKS = 0.25


class Zygote:
    """The leases that are held, and the processes behind them.

    Args:
        listener: where leases are asked for.
        notebook: the warm shell.
        walled: whether each process is put behind an inner wall of its own.
        confined: whether limits and the filter of system calls are put over it.
        limits: what each may use.
    """

    def __init__(
        self, listener: socket.socket, notebook: Notebook, walled: bool, confined: bool, limits: walls.Limits
    ) -> None:
        self._listener = listener
        self._notebook = notebook
        self._walled = walled
        self._confined = confined
        self._limits = limits
        self._filter = seccomp.program() if confined else b""
        self._leases: dict[int, tuple[socket.socket, int | None]] = {}
        self._next_look = 0.0

    def run(self) -> NoReturn:
        """Take leases until standard input ends: then whoever started this is gone."""
        wake, poke = os.pipe()
        os.set_blocking(poke, False)
        signal.set_wakeup_fd(poke, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            watched = SECONDS_BETWEEN_LOOKS if self._confined and self._leases else None
            ready, _, _ = select.select([STANDARD_INPUT, self._listener.fileno(), wake, *self._leases], [], [], watched)
            self._look()
            for source in ready:
                if source == STANDARD_INPUT:
                    self._end()
                if source == self._listener.fileno():
                    self._take(self._listener.accept()[0])
                elif source == wake:
                    os.read(wake, 4096)
                elif source in self._leases:
                    self._hear(source)
            self._reap()

    def _look(self) -> None:
        """Kill who has taken more memory than there is for one submission."""
        if not self._confined or time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + SECONDS_BETWEEN_LOOKS
        for _, child in self._leases.values():
            if child is not None and watching.memory(child) > self._limits.together:
                _kill(child)

    def _end(self) -> NoReturn:
        for _, child in self._leases.values():
            _kill(child)
        os._exit(0)

    def _take(self, lease: socket.socket) -> None:
        try:
            opening, descriptor = wire.receive_with_descriptor(lease, time.monotonic() + SECONDS_TO_OPEN, MAX_OPENING)
            if descriptor is None:
                raise EOFError("no connection came with the opening")
        except (OSError, ValueError, EOFError):
            lease.close()
            return
        lease.settimeout(None)
        try:
            child = self._fork(opening, descriptor)
        except OSError as error:
            with suppress(OSError):
                wire.send(lease, {"error": f"{type(error).__name__}: {error}"})
            lease.close()
        else:
            with suppress(OSError):
                wire.send(lease, {"error": None})
            self._leases[lease.fileno()] = (lease, child)
        finally:
            os.close(descriptor)

    def _hear(self, source: int) -> None:
        lease, child = self._leases[source]
        try:
            said = lease.recv(16)
        except OSError:
            said = b""
        if said and not said.strip(wire.INTERRUPT):
            _signal(child, signal.SIGINT)
            return
        _kill(child)
        del self._leases[source]
        lease.close()

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                child, _ = os.waitpid(-1, os.WNOHANG)
                if not child:
                    return
                for source, (lease, known) in self._leases.items():
                    if known == child:  # the grader knows by now: its connection to it is closed
                        self._leases[source] = lease, None

    def _fork(self, opening: dict[str, Any], descriptor: int) -> int:
        """The process that serves a submission; behind an inner wall it is the grandchild, and first in its own world."""
        if not self._walled:
            child = os.fork()
            if not child:
                self._become(opening, descriptor)
            return child
        told, tell = os.pipe()
        middle = os.fork()
        if not middle:
            self._pass_through(opening, descriptor, tell)
        os.close(tell)
        os.waitpid(middle, 0)
        with open(told) as answer:
            text = answer.read()
        if not text.isdecimal():
            raise OSError(text or "the process between zygote and submission died")
        return int(text)

    def _pass_through(self, opening: dict[str, Any], descriptor: int, tell: int) -> NoReturn:
        try:
            walls.separate()
            child = os.fork()
            if not child:
                os.close(tell)
                self._become(opening, descriptor)
            os.write(tell, str(child).encode())
        except BaseException as error:
            os.write(tell, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)

    def _become(self, opening: dict[str, Any], descriptor: int) -> NoReturn:
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            connection = socket.socket(fileno=os.dup(descriptor))
            _close_others(connection.fileno())
            os.setsid()
            os.environ.clear()
            os.environ.update(opening["environment"])
            if self._walled:
                walls.furnish(self._limits)
            elif sys.platform == "linux":
                linux.die_with_parent(signal.SIGKILL)
            if self._confined:
                walls.confine(self._limits, self._filter)
            os.chdir(opening["folder"])
            serve(connection, self._notebook, opening["files"])
            code = 0
        except BaseException as error:
            os.write(2, f"a submission's process: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(code)


def _close_others(kept: int) -> None:
    """Close every descriptor but the standard ones and this."""
    os.closerange(3, kept)
    os.closerange(kept + 1, 4096)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def _signal(child: int | None, number: int) -> None:
    if child is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(child, number)


def _kill(child: int | None) -> None:
    """Kill a submission's process: behind an inner wall, its whole world ends with it; elsewhere, its process group."""
    if child is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        _signal(child, signal.SIGKILL)


def main() -> NoReturn:
    settings = json.loads(sys.stdin.buffer.readline())
    for name in THREADS:
        os.environ[name] = "1"
    notebook = Notebook()
    for name in settings["modules"]:
        try:
            import_module(name)
        except (
            Exception
        ):  # it may be no module, but a name in one; if it should be one, the notebook will say so itself
            continue
    notebook.rehearse(settings["rehearsal"])
    if settings["walls"] == "both":
        linux.adopt_orphans()
    assert threading.active_count() == 1, "threads do not survive a fork"
    gc.collect()
    gc.freeze()
    listener = socket.socket(fileno=settings["listener"])
    zygote = Zygote(
        listener,
        notebook,
        settings["walls"] == "both",
        settings["walls"] != "none",
        walls.Limits(**settings["limits"]),
    )
    zygote.run()


if __name__ == "__main__":
    main()
