"""The inner wall: what a submission's process gives up before it runs a line of the submission."""

from __future__ import annotations

import array
import fcntl
import os
import resource
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

from . import linux, seccomp

HOME = "/home/student"
STUDENT = 1000
WRITABLE = {HOME: "mode=755", "/tmp": "mode=1777", "/dev/shm": "mode=1777"}

FACTS = ("cpuinfo", "meminfo", "stat")  # of the machine; what libraries read under /proc besides themselves

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
    """

    memory: int = 6 << 30
    together: int = 4 << 30
    processes: int = 96
    file: int = 256 << 20
    disk: int = 256 << 20
    open_files: int = 256
    cpu: int = 900


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


def furnish(limits: Limits) -> None:
    """Folders of one's own to write in, terminals and a loopback of one's own, and no view of other processes."""
    flags = linux.MS_NOSUID | linux.MS_NODEV
    for folder, mode in WRITABLE.items():
        linux.mount("tmpfs", folder, flags, f"size={limits.disk},nr_inodes=20000,{mode}")
    linux.mount("devpts", "/dev/pts", linux.MS_NOSUID | linux.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    facts = {name: Path("/proc", name).read_bytes() for name in FACTS}
    linux.mount("tmpfs", "/proc", flags | linux.MS_NOEXEC, "size=4m,mode=555")
    for name, content in facts.items():
        Path("/proc", name).write_bytes(content)
    linux.mount("tmpfs", "/proc", flags | linux.MS_NOEXEC | linux.MS_RDONLY | linux.MS_REMOUNT)
    _loopback_up()


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
