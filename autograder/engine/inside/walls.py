"""The inner wall: what a submission's process gives up before it runs a line of the submission."""

from __future__ import annotations

import array
import fcntl
import os
import resource
import shutil
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from . import linux, seccomp

HOME = "/home/student"
SOCKET_BUFFER = 212_992  # bytes, Linux's own default
GIVEN, LAYERS = "/opt/given", "/opt/layers"
STUDENT = 61_183  # a user that nobody is, by its number in `etc/passwd`; below the range that systemd gives away
WRITABLE = {HOME: "mode=755", "/tmp": "mode=1777", "/dev/shm": "mode=1777"}

FACTS = ("cpuinfo", "meminfo", "stat")  # of the machine; what libraries read under /proc besides themselves
SHOWN = {
    *FACTS,
    "cgroups",
    "filesystems",
    "loadavg",
    "mounts",
    "net",
    "self",
    "sys",
    "thread-self",
    "uptime",
    "version",
    "vmstat",
}

WAY_OUT = ("127.0.0.1", 3128)
"""Where on its own loopback a submission finds the proxy, if there is one."""

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Attributes:
        memory: bytes of address space for each process.
        together: bytes of memory for all its processes; who takes more is killed.
        processes: how many processes and threads there may be at once.
        file: bytes of the longest file.
        disk: bytes in each of the three folders that can be written: the home, /tmp, /dev/shm.
        open_files: how many files a process may have open.
        cpu: seconds of processor time for each process.
        output: bytes that all outputs of its notebook may have, as they are written; the grader counts them.
        network: the hosts that it may reach, through the proxy.
    """

    memory: int = 6 << 30
    together: int = 4 << 30
    processes: int = 96
    file: int = 256 << 20
    disk: int = 256 << 20
    open_files: int = 256
    cpu: int = 900
    output: int = 11 << 20
    network: Sequence[str] = ()


def separate() -> None:
    """Leave every namespace of the zygote; the next process that is forked lives in the new ones.

    Raises:
        OSError: the kernel gives unprivileged users no namespaces.
    """
    _write("/proc/self/oom_score_adj", "1000")  # when memory runs out, this goes first
    user, group = os.getuid(), os.getgid()
    linux.unshare(
        linux.CLONE_NEWUSER
        | linux.CLONE_NEWNS
        | linux.CLONE_NEWPID
        | linux.CLONE_NEWNET
        | linux.CLONE_NEWIPC
        | linux.CLONE_NEWUTS
        | linux.CLONE_NEWCGROUP
    )
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{STUDENT} {user} 1")
    _write("/proc/self/gid_map", f"{STUDENT} {group} 1")


def furnish(limits: Limits, folder: str, given: bool) -> list[int]:
    """Folders of one's own to write in, and terminals and a loopback of one's own.

    Args:
        limits: what one submission may use.
        folder: below the home, where the notebook runs.
        given: whether the instructor's files lie in `GIVEN`; they appear in that folder, where each submission may change them for
            itself.

    Returns:
        A descriptor of each file system in memory that can be written in.
    """
    flags = linux.MS_NOSUID | linux.MS_NODEV
    for place, mode in WRITABLE.items():
        linux.mount("tmpfs", place, flags, f"size={limits.disk},nr_inodes=20000,{mode}")
    rooms = [os.open(place, os.O_PATH) for place in WRITABLE]
    os.makedirs(folder, exist_ok=True)
    if given:
        linux.bind(GIVEN, GIVEN)
        linux.bind(GIVEN, GIVEN, flags | linux.MS_REMOUNT | linux.MS_RDONLY)
        rooms.append(_lay_over(folder, flags, f"size={limits.disk},nr_inodes=20000"))
    linux.mount("devpts", "/dev/pts", linux.MS_NOSUID | linux.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    _loopback_up()
    with suppress(OSError):  # where /proc is covered
        for name in ("tcp_rmem", "tcp_wmem"):
            _write(f"/proc/sys/net/ipv4/{name}", f"4096 65536 {SOCKET_BUFFER}")
    return rooms


def open_way_out() -> socket.socket:
    """A listening socket on one's own loopback, for the proxy: it belongs to this network wherever it is taken to."""
    return socket.create_server(WAY_OUT)


def _lay_over(folder: str, flags: int, size: str) -> int:
    """Have the given files appear in a folder, and what is changed there lie above them, out of sight; a copy where the kernel cannot."""
    linux.mount("tmpfs", LAYERS, flags, size)
    room = os.open(LAYERS, os.O_PATH)
    try:
        for layer in ("upper", "work"):
            os.mkdir(f"{LAYERS}/{layer}")
        layers = f"lowerdir={GIVEN},upperdir={LAYERS}/upper,workdir={LAYERS}/work,userxattr"
        linux.mount("overlay", folder, flags, layers)
    except OSError:
        shutil.copytree(GIVEN, folder, symlinks=True, dirs_exist_ok=True)
    finally:
        linux.leave_mount(LAYERS)
    return room


def show_processes() -> None:
    """A /proc, to be read, of this namespace's processes, and of the machine what libraries ask for.

    A kernel gives a namespace a /proc of its own where it has seen another one whole; a container may cover parts of it. Then
    there are the facts about the machine, and no processes at all.
    """
    flags = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
    try:
        linux.mount("proc", "/proc", flags | linux.MS_RDONLY)
    except PermissionError:
        facts = {name: Path("/proc", name).read_bytes() for name in FACTS}
        linux.mount("tmpfs", "/proc", flags, "size=4m,mode=555")
        for name, content in facts.items():
            Path("/proc", name).write_bytes(content)
        linux.mount("tmpfs", "/proc", flags | linux.MS_RDONLY | linux.MS_REMOUNT)
        return
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal() or entry.name in SHOWN:
            continue
        if entry.is_dir(follow_symlinks=False):
            linux.mount("tmpfs", entry.path, flags | linux.MS_RDONLY, "size=0,mode=555")
        elif entry.is_file(follow_symlinks=False):
            linux.bind("/dev/null", entry.path)


def confine(limits: Limits, filter_program: bytes) -> None:
    """Limits, no privileges, and no system call that a submission has no use for."""
    for what, most in (
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_FSIZE, limits.file),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_CPU, limits.cpu),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))
    linux.drop_capabilities()
    seccomp.install(filter_program)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = array.array("b", struct.pack("16sH22x", b"lo", 0))
        fcntl.ioctl(any_socket, SIOCGIFFLAGS, request, True)
        (flags,) = struct.unpack_from("H", request, 16)
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags | IFF_UP))
