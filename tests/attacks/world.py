"""What lies outside the walls: secrets to read, files to change, processes to kill, sockets to call."""

from __future__ import annotations

import os
import secrets
import selectors
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

TOKEN_VARIABLE = "GRADERS_SECRET"


@dataclass
class World:
    """A folder outside, with canaries in it.

    Attributes:
        folder: where a secret, and for each attack a file of its own, lie.
        home: the home folder of whoever grades.
        token: what no submission may ever come to know.
        callers: the names that were heard on a socket.
        canaries: for each attack, a process that has the token in its arguments, its environment and an open file.
    """

    folder: Path
    token: str = field(default_factory=lambda: f"loot{secrets.token_hex(12)}")
    callers: set[str] = field(default_factory=set)
    canaries: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    port: int = 0

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def secret(self) -> Path:
        return self.folder / f"{self.token[:12]}-secret.txt"

    @property
    def call(self) -> Path:
        return self.folder / "socket"

    def file(self, name: str) -> Path:
        """An attack's own file outside: to be changed, if it can."""
        return self.folder / "files" / name

    def known_to(self, name: str) -> dict[str, str | int]:
        """What the author of an attack is told: everything but the token."""
        return {
            "name": name,
            "folder": str(self.folder),
            "home": str(self.home),
            "secret": str(self.secret),
            "file": str(self.file(name)),
            "call": str(self.call),
            "port": self.port,
            "address": _address(),
            "canary": self.canaries[name].pid,
        }

    def killed(self, name: str) -> bool:
        """Whether a canary is dead, or stopped."""
        canary = self.canaries[name]
        return (
            canary.poll() is not None or Path(f"/proc/{canary.pid}/stat").read_text().rsplit(")")[-1].split()[0] in "Tt"
        )

    def survivors(self, name: str) -> list[int]:
        """The processes, wherever they are, that an attack has named `survivor-NAME-PORT.` in their arguments."""
        return [pid for pid, command in _commands() if f"survivor-{name}-{self.port}.".encode() in command]


@contextmanager
def world(folder: Path, names: list[str]) -> Iterator[World]:
    """A world for the attacks of these names; what they leave running in it is ended with it."""
    made = World(folder)
    for place in (made.home, folder / "files"):
        place.mkdir(parents=True)
    made.secret.write_text(made.token)
    folder.chmod(0o755)
    for name in names:
        made.file(name).write_text("intact")
        made.canaries[name] = _canary(made)
    with _listening(made):
        yield made
    for name in names:
        made.canaries[name].kill()
        made.canaries[name].wait()
        for pid in made.survivors(name):
            os.kill(pid, signal.SIGKILL)


def _address() -> str:
    """The machine's own, where it has one besides loopback's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as caller:
        try:
            caller.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(caller.getsockname()[0])


def _canary(made: World) -> subprocess.Popen[bytes]:
    script = f"exec 9<{made.secret}; exec -a {made.token} sleep 900"
    return subprocess.Popen(["bash", "-c", script], env={"PATH": os.environ["PATH"], TOKEN_VARIABLE: made.token})


def _commands() -> Iterator[tuple[int, bytes]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                yield int(folder.name), (folder / "cmdline").read_bytes()
            except OSError:
                continue  # it has ended meanwhile


@contextmanager
def _listening(made: World) -> Iterator[None]:
    """Whoever says its name on one of these sockets has called."""
    tcp, udp = socket.create_server(("", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.port = tcp.getsockname()[1]
    udp.bind(("", made.port))
    local, abstract = (socket.socket(socket.AF_UNIX) for _ in range(2))
    local.bind(str(made.call))
    made.call.chmod(0o777)
    abstract.bind(f"\0attacks-{made.port}")
    ears = selectors.DefaultSelector()
    stop, stopped = os.pipe()
    for ear in (tcp, local, abstract):
        ear.listen()
        ear.settimeout(60)
        ears.register(ear, selectors.EVENT_READ)
    ears.register(udp, selectors.EVENT_READ)
    ears.register(stop, selectors.EVENT_READ)

    def listen() -> None:
        while True:
            for key, _ in ears.select():
                if key.fileobj == stop:
                    return
                try:
                    if key.fileobj is udp:
                        heard = udp.recv(100)
                    else:
                        connection, _ = key.fileobj.accept()  # type: ignore[union-attr]
                        with connection:
                            connection.settimeout(60)
                            heard = connection.recv(100)
                except OSError:
                    continue
                made.callers.add(heard.decode(errors="replace"))

    thread = threading.Thread(target=listen)
    thread.start()
    try:
        yield
    finally:
        os.write(stopped, b"x")
        thread.join()
        for ear in (tcp, udp, local, abstract):
            ear.close()
        os.close(stop)
        os.close(stopped)
