"""Code that keeps more memory than a submission may have, each in a way of its own, and code that keeps what is honest."""

from __future__ import annotations

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
LOCKS = """
import fcntl, time
held = [open(f"locked-{number}", "wb") for number in range(200)]
for file in held:
    for start in range(2_000, 0, -2):
        fcntl.lockf(file, fcntl.LOCK_EX, 1, start)
time.sleep(120)
"""
MAPPINGS = """
import mmap, os, time
for _ in range(12):
    if not os.fork():
        kept = mmap.mmap(-1, 60_000 * mmap.PAGESIZE, prot=mmap.PROT_READ)
        for page in range(0, 60_000, 2):
            kept.madvise(mmap.MADV_DONTFORK, page * mmap.PAGESIZE, mmap.PAGESIZE)
        time.sleep(120)
time.sleep(120)
"""
WATCHERS = """
import ctypes, time
kept = [ctypes.CDLL(None).inotify_init() for _ in range(100)]
assert min(kept) >= 0
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
    "locks": LOCKS,
    "mappings": MAPPINGS,
    "watchers": WATCHERS,
}

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
