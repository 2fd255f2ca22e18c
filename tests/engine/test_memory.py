"""Memory of every kind counts, wherever a submission keeps it: whoever takes more than there is for one is ended."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.engine import Session, Zygote
from autograder.engine.inside.walls import Limits

ROOM = 300 << 20

FILL = """
import os, socket, time
def fill(one, data):
    one.setblocking(False)
    try:
        while True:
            one.send(data)
    except BlockingIOError:
        pass
"""
SOCKETS = f"""{FILL}
for _ in range(4):
    if not os.fork():
        held = []
        try:
            while True:
                held += socket.socketpair()
                for one in held[-2:]:
                    fill(one, bytes(1 << 16))
        except OSError:
            time.sleep(120)
time.sleep(120)
"""
SENDERS_GONE = f"""{FILL}
for _ in range(7):
    if not os.fork():
        held = []
        try:
            while True:
                one, other = socket.socketpair()
                held.append(one)
                fill(other, b"x")
                other.close()
        except OSError:
            time.sleep(120)
time.sleep(120)
"""
LOOPBACK = f"""{FILL}
for _ in range(4):
    if not os.fork():
        server, held = socket.create_server(("127.0.0.1", 0), backlog=200), []
        try:
            while True:
                held.append(socket.create_connection(server.getsockname()))
                held.append(server.accept()[0])
                for one in held[-2:]:
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
                    fill(one, bytes(1 << 16))
        except OSError:
            time.sleep(120)
time.sleep(120)
"""
UNDUMPABLE = """
import ctypes, os, time
for _ in range(4):
    if not os.fork():
        assert ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0
        kept = bytearray(b"1") * (100 << 20)
        time.sleep(120)
time.sleep(120)
"""
FILES = """
import time
for place in ("/dev/shm", "/tmp", "."):
    with open(f"{place}/kept", "wb") as file:
        for _ in range(50):
            file.write(bytes(4 << 20))
time.sleep(120)
"""
REMOVED_FILES = """
import os, time
held = [open(f"{place}/kept", "wb") for place in ("/dev/shm", "/tmp")]
for file in held:
    os.remove(file.name)
    for _ in range(50):
        file.write(bytes(4 << 20))
time.sleep(120)
"""
SHARED = """
import mmap, time
held = [mmap.mmap(-1, 100 << 20) for _ in range(4)]
for one in held:
    one[:] = bytes(100 << 20)
time.sleep(120)
"""
HOARDS = {
    "sockets": SOCKETS,
    "sockets whose senders are gone": SENDERS_GONE,
    "connections": LOOPBACK,
    "undumpable processes": UNDUMPABLE,
    "files": FILES,
    "removed files": REMOVED_FILES,
    "shared memory": SHARED,
}


@pytest.fixture(scope="module")
def small() -> Iterator[Zygote]:
    with Zygote(walls="both", limits=Limits(together=ROOM)) as zygote:
        yield zygote


@pytest.mark.parametrize("what", HOARDS)
def test_what_is_hoarded_counts(small: Zygote, what: str) -> None:
    with Session(small.place) as session:
        assert session.run(HOARDS[what], 60).end == "died"


HONEST = """
import mmap, os, socket
files = [open(f"{place}/kept", "wb") for place in ("/dev/shm", "/tmp", ".")]
for file in files:
    file.write(bytes(20 << 20))
shared = mmap.mmap(-1, 20 << 20)
shared[:] = bytes(20 << 20)
pairs = [socket.socketpair() for _ in range(40)]
kept = bytearray(b"1") * (40 << 20)
"""


def test_what_honest_work_takes_is_there_and_comes_back(small: Zygote) -> None:
    with Session(small.place) as session:
        assert session.run(HONEST + "import time\ntime.sleep(2)", 60).reply["status"] == "ok"
        again = "for file in files:\n    file.close()\n    os.remove(file.name)\nfor pair in pairs:\n    pair[0].close(), pair[1].close()\n"
        assert (
            session.run(again + "shared.close()\nkept = None\n" + HONEST + "time.sleep(2)", 60).reply["status"] == "ok"
        )


def descriptors(pid: int) -> int:
    """How many descriptors a process and all below it hold; one that ends meanwhile holds none."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        own = len(os.listdir(f"/proc/{pid}/fd"))
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return own + sum(map(descriptors, map(int, children)))


def test_nothing_is_held_of_those_who_have_ended(small: Zygote) -> None:
    """A descriptor of a file system in memory keeps it, and all that is in it."""
    with Session(small.place):
        pass
    end = time.monotonic() + 60
    before = descriptors(small.pid)
    for _ in range(4):
        with Session(small.place) as session:
            assert session.run("open('kept', 'wb').write(bytes(1 << 20))", 60).reply["status"] == "ok"
    while descriptors(small.pid) > before and time.monotonic() < end:
        time.sleep(0.05)
    assert descriptors(small.pid) <= before
