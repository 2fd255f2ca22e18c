"""A process that has imported everything, and forks into each submission's process.

`python -m inside.zygote` reads its settings, one line of JSON, from its standard input, after them the instructor's
files that are sent, and takes connections at the listening socket whose descriptor they name, until its standard input
ends. A connection is a lease on one forked process: an opening message comes with the descriptor of that process's own
connection to the grader and, where there is a control group for it, that of the group's door; after it, each byte "i"
interrupts the process, and each byte "w" asks how long it has waited for a processor. When the lease is closed, it is
killed, with all that it started. What it is to run it hears on its own connection, when its walls stand.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import site
import socket
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from . import linux, seccomp, walls, watching, wire
from .imports import Hidden
from .serving import serve
from .shell import Notebook

STANDARD_INPUT = 0
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
MOST_ROOMS = 8
KERNEL = (
    "ipykernel.kernelapp",
    "ipykernel.debugger",
    "IPython.core.debugger",
    "IPython.core.logger",
    "IPython.extensions.storemagic",
    "faulthandler",
    "psutil",
    "pwd",
    "sqlite3",
    "tornado.platform.asyncio",
)
"""What a kernel has imported before its first cell, besides what the shell needs: notebooks find it there."""
SECONDS_TO_OPEN = 30.0
SECONDS_BETWEEN_LOOKS = 0.25


@dataclass
class Lease:
    """A submission's process, for as long as somebody wants it.

    Attributes:
        child: None when it has ended.
        rooms: descriptors of the file systems in memory that it can write in; they last as long as these are open.
        life: a pipe that tells the proxy, if there is one, when this ends.
        greedy: whether it was killed for the memory that it took.
        shot: whether it was killed by neither itself nor the grader. It is the first process of its world, which nothing in there can
            kill.
    """

    connection: socket.socket
    child: int | None
    rooms: list[int]
    life: list[int]
    greedy: bool = False
    shot: bool = False


class Leases:
    """The leases that are held, and the processes behind them.

    Args:
        listener: where leases are asked for.
        notebook: the warm shell.
        hidden: what was imported beforehand.
        walled: whether each process is put behind an inner wall of its own.
        confined: whether limits and the filter of system calls are put over it.
        limits: what each may use.
        socket_room: bytes that one socket may hold.
        given: where the instructor's files lie; "" where there are none.
        proxy: the channel to the proxy, where there is one.
    """

    def __init__(
        self,
        listener: socket.socket,
        notebook: Notebook,
        hidden: Hidden,
        walled: bool,
        confined: bool,
        limits: walls.Limits,
        socket_room: int,
        given: str,
        proxy: socket.socket | None,
    ) -> None:
        self._listener = listener
        self._notebook = notebook
        self._hidden = hidden
        self._walled = walled
        self._confined = confined
        self._limits = limits
        self._given = given
        self._proxy = proxy
        if proxy is not None and not walled:
            self._have_served(walls.open_way_out())
        self._own = os.getpid()
        self._socket_room = socket_room
        self._filter = seccomp.program() if confined else b""
        self._leases: dict[int, Lease] = {}
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
        for lease in self._leases.values():
            child = lease.child
            if child is not None and watching.memory(child, lease.rooms, self._socket_room) > self._limits.together:
                lease.greedy = True
                _kill(child)

    def _end(self) -> NoReturn:
        for lease in self._leases.values():
            _kill(lease.child)
        os._exit(0)

    def _take(self, lease: socket.socket) -> None:
        try:
            opening, descriptors = wire.receive_with_descriptors(lease, time.monotonic() + SECONDS_TO_OPEN)
            if not descriptors:
                raise EOFError("no connection came with the opening")
        except (OSError, ValueError, EOFError):
            lease.close()
            return
        lease.settimeout(None)
        try:
            child, rooms, life = self._fork(opening["folder"], *descriptors)
        except OSError as error:
            with suppress(OSError):
                wire.send(lease, {"error": f"{type(error).__name__}: {error}"})
            lease.close()
        else:
            with suppress(OSError):
                wire.send(lease, {"error": None})
            self._leases[lease.fileno()] = Lease(lease, child, rooms, life)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _hear(self, source: int) -> None:
        lease = self._leases[source]
        self._reap()
        try:
            said = lease.connection.recv(16)
        except OSError:
            said = b""
        if said and not said.strip(wire.INTERRUPT + wire.WAITED):
            if wire.INTERRUPT in said:
                _signal(lease.child, signal.SIGINT)
            for _ in range(said.count(wire.WAITED)):
                waited = watching.waited(lease.child) if lease.child else 0.0
                with suppress(OSError):
                    wire.send(
                        lease.connection,
                        {"waited": waited, "greedy": lease.greedy, "ended": lease.child is None, "shot": lease.shot},
                    )
            return
        _kill(lease.child)
        del self._leases[source]
        lease.connection.close()
        for held in (*lease.rooms, *lease.life):
            os.close(held)

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                child, status = os.waitpid(-1, os.WNOHANG)
                if not child:
                    return
                for lease in self._leases.values():
                    if lease.child == child:  # the grader knows by now: its connection to it is closed
                        lease.child = None
                        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
                        lease.shot = killed and self._walled and not lease.greedy

    def _fork(self, folder: str, descriptor: int, door: int | None = None) -> tuple[int, list[int], list[int]]:
        """The process that serves a submission, its rooms, and what is held for its way out; behind an inner wall it is the grandchild, and first in its own world.

        Args:
            folder: where the instructor's files are to lie.
            descriptor: of its connection to the grader.
            door: of its control group.
        """
        if not self._walled:
            child = os.fork()
            if not child:
                _enter(door)
                self._become(folder, descriptor)
            return child, [], []
        told, tell = socket.socketpair()
        with told:
            with tell:
                middle = os.fork()
                if not middle:
                    _enter(door)
                    self._pass_through(folder, descriptor, tell)
            os.waitpid(middle, 0)
            said, rooms, _, _ = socket.recv_fds(told, 4096, MOST_ROOMS)
        text = said.decode(errors="replace")
        if not text.isdecimal():
            raise OSError(text or "the process between zygote and submission died")
        child, life = int(text), list[int]()
        if self._proxy is not None:
            listener = socket.socket(fileno=rooms.pop())
            ended, living = os.pipe()
            life = [living]
            try:
                self._have_served(listener, ended)
            except OSError:
                _kill(child)
                os.close(living)
                raise
        return child, rooms, life

    def _have_served(self, listener: socket.socket, *ended: int) -> None:
        """Hand a listening socket to the proxy, and the pipe whose end is the end of it."""
        assert self._proxy is not None
        try:
            with listener:
                socket.send_fds(self._proxy, [b"x"], [listener.fileno(), *ended])
        finally:
            for descriptor in ended:
                os.close(descriptor)

    def _pass_through(self, folder: str, descriptor: int, tell: socket.socket) -> NoReturn:
        try:
            walls.separate()
            rooms = walls.furnish(self._limits, folder, bool(self._given))
            if self._proxy is not None:
                rooms.append(walls.open_way_out().detach())
            child = os.fork()
            if not child:
                self._become(folder, descriptor)
            socket.send_fds(tell, [str(child).encode()], rooms)
        except BaseException as error:
            tell.send(f"{type(error).__name__}: {error}".encode()[:4096])
        finally:
            os._exit(0)

    def _become(self, folder: str, descriptor: int) -> NoReturn:
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            connection = socket.socket(fileno=os.dup(descriptor))
            _close_others(connection.fileno())
            os.setsid()
            if self._walled:
                walls.show_processes()
            else:
                if sys.platform == "linux":
                    linux.die_with_parent(signal.SIGKILL)
                    if os.getppid() != self._own:  # it had died before
                        os._exit(1)
                os.makedirs(folder, exist_ok=True)
                if self._given:
                    shutil.copytree(self._given, folder, symlinks=self._confined, dirs_exist_ok=True)
            if self._confined:
                walls.confine(self._limits, self._filter)
            serve(connection, self._notebook, self._hidden.modules)
            code = 0
        except BaseException as error:
            os.write(2, f"a submission's process: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(code)


def _enter(door: int | None) -> None:
    """Go into a control group; where the kernel refuses, what is counted from here is all there is."""
    if door is not None:
        with suppress(OSError):
            os.write(door, b"0")


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


def _unpack(given: dict[str, Any]) -> str:
    """Lay out the instructor's files, whose contents follow the settings on standard input; return where, "" if there are none."""
    for name, size, executable in given["sent"]:
        path = Path(given["folder"], name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sys.stdin.buffer.read(size))
        path.chmod(0o755 if executable else 0o644)
    for name, target in given["let_in"]:
        path = Path(given["folder"], name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
    return str(given["folder"]) if given["sent"] or given["let_in"] else ""


def main() -> NoReturn:
    settings = json.loads(sys.stdin.buffer.readline())
    given = _unpack(settings["given"])
    del sys.path[0]  # the folder this was started in
    for name in THREADS:
        os.environ[name] = "1"
    for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        site.addsitedir(folder)  # with its .pth files, as where it is installed
    for name in KERNEL:
        with suppress(ImportError):
            import_module(name)
    notebook = Notebook()
    hidden = Hidden()
    for name in settings["modules"]:
        # it may be no module, but a name in one; if it should be one, the notebook will say so
        with suppress(Exception), hidden.recording():
            import_module(name)
    with hidden.recording():
        import gc  # a kernel has not

        notebook.rehearse(settings["rehearsal"])
    for name in settings["modules"]:
        hidden.brought(name)
    if settings["walls"] == "both":
        linux.adopt_orphans()
    assert threading.active_count() == 1, "threads do not survive a fork"
    gc.collect()
    gc.freeze()
    listener = socket.socket(fileno=settings["listener"])
    leases = Leases(
        listener,
        notebook,
        hidden,
        settings["walls"] == "both",
        settings["walls"] != "none",
        walls.Limits(**settings["limits"]),
        settings["socket_room"],
        given,
        None if settings["proxy"] is None else socket.socket(fileno=settings["proxy"]),
    )
    leases.run()


if __name__ == "__main__":
    main()
