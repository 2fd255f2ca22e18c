"""The few Linux calls that Python has no name for."""

from __future__ import annotations

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 22, 24, 36, 38

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
MNT_DETACH = 2

_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63


def check(result: int, what: str) -> None:
    """Raise OSError where a call has failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    check(LIBC.unshare(flags), "unshare")


def mount(kind: str, target: str, flags: int, options: str = "") -> None:
    """Mount a fresh file system of this kind, such as "tmpfs"."""
    flags_, options_ = ctypes.c_ulong(flags), options.encode()
    check(LIBC.mount(kind.encode(), target.encode(), kind.encode(), flags_, options_), f"mount {kind} on {target}")


def bind(source: str, target: str, flags: int = 0) -> None:
    """Have a file or a folder appear in another place as well; flags such as MS_REMOUNT change one that does."""
    bound = ctypes.c_ulong(MS_BIND | flags)
    check(LIBC.mount(source.encode(), target.encode(), None, bound, None), f"bind {target}")


def leave_mount(target: str) -> None:
    """Take a mount out of sight; what is made of it stays."""
    check(LIBC.umount2(target.encode(), MNT_DETACH), f"leave {target}")


def die_with_parent(signal: int) -> None:
    check(LIBC.prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0), "die with parent")


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    check(LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "subreaper")


def drop_capabilities() -> None:
    """Give up every privilege, also what a namespace of one's own had given."""
    for capability in range(_LAST_CAPABILITY):
        if LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break  # past the last one that this kernel knows
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    check(LIBC.capset(header, (ctypes.c_uint32 * 6)()), "capset")
