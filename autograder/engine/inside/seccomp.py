"""The system calls that no submission needs: a seccomp filter for x86-64 and arm64 (Linux, seccomp(2), bpf(2))."""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
from dataclasses import dataclass

from .linux import LIBC, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, check

LOAD_WORD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # bpf(2): instruction codes
ALLOW, KILL_PROCESS, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
CALL_NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT, THIRD_ARGUMENT = (
    0,
    4,
    16,
    24,
    32,
)  # offsets in struct seccomp_data
FILTER_MODE = 2

NAMESPACE_FLAGS = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
X32 = 0x40000000  # x86-64 only: the same calls under other numbers
FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16)  # 16: AF_NETLINK, for the list of interfaces
SIZES = (7, 8, 32, 33, 60)  # SO_SNDBUF, SO_RCVBUF, both by force, SO_ZEROCOPY: a socket holds what it holds by default
FIRST_UNKNOWN = 463  # calls that did not exist when this list was made

# name: number on x86-64, number on arm64 (None where there is none)
REFUSED: dict[str, tuple[int | None, int | None]] = {
    # file systems and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # the kernel itself
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "personality": (135, 92),
    "vhangup": (153, 58),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "adjtimex": (159, 171),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    # keys, and memory that no limit counts
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "vmsplice": (278, 75),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
}


@dataclass(frozen=True)
class Machine:
    """What differs between architectures: its name in an audit record, and the numbers of five calls."""

    audit: int
    column: int
    clone: int
    socket: int
    set_option: int


MACHINES = {"x86_64": Machine(0xC000003E, 0, 56, 41, 54), "aarch64": Machine(0xC00000B7, 1, 220, 198, 208)}
CLONE3 = 435


def program(machine: str = os.uname().machine) -> bytes:
    """The filter, as BPF instructions.

    Args:
        machine: the architecture as `os.uname()` calls it.

    Raises:
        NotImplementedError: no filter was written for this architecture.
    """
    if machine not in MACHINES:
        raise NotImplementedError(f"no seccomp filter for {machine}; there is one for {', '.join(MACHINES)}")
    this = MACHINES[machine]
    refuse = [_step(RETURN, FAIL | errno.EPERM)]
    steps = [
        _step(LOAD_WORD, ARCHITECTURE),
        _step(JUMP_EQUAL, this.audit, 1, 0),
        _step(RETURN, KILL_PROCESS),
        _step(LOAD_WORD, CALL_NUMBER),
        *(_when(JUMP_AT_LEAST, X32, refuse) if machine == "x86_64" else []),
        *_when(JUMP_AT_LEAST, FIRST_UNKNOWN, [_step(RETURN, FAIL | errno.ENOSYS)]),
        *_when(JUMP_EQUAL, CLONE3, [_step(RETURN, FAIL | errno.ENOSYS)]),  # its flags lie in memory; libc takes clone
    ]
    for numbers in REFUSED.values():
        number = numbers[this.column]
        if number is not None:
            steps += _when(JUMP_EQUAL, number, refuse)
    allow = [_step(RETURN, ALLOW)]
    flags = [_step(LOAD_WORD, FIRST_ARGUMENT), *_when(JUMP_ANY_BIT, NAMESPACE_FLAGS, refuse), *allow]
    family = [_step(LOAD_WORD, FIRST_ARGUMENT)]
    for number in FAMILIES[:3]:
        family += _when(JUMP_EQUAL, number, allow)
    route = [_step(LOAD_WORD, THIRD_ARGUMENT), *_when(JUMP_EQUAL, 0, allow), *refuse]  # NETLINK_ROUTE alone
    family += [*_when(JUMP_EQUAL, FAMILIES[3], route), *refuse]
    ignore = [_step(RETURN, FAIL | 0)]  # done, as far as the program knows: the kernel takes a size for a wish, too
    sizes = [_step(LOAD_WORD, THIRD_ARGUMENT)]
    for option in SIZES:
        sizes += _when(JUMP_EQUAL, option, ignore)
    level = [_step(LOAD_WORD, SECOND_ARGUMENT), *_when(JUMP_EQUAL, socket.SOL_SOCKET, [*sizes, *allow]), *allow]
    steps += [
        *_when(JUMP_EQUAL, this.set_option, level),
        *_when(JUMP_EQUAL, this.clone, flags),
        *_when(JUMP_EQUAL, this.socket, family),
        *allow,
    ]
    return b"".join(steps)


def _step(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, operand)


def _when(code: int, operand: int, steps: list[bytes]) -> list[bytes]:
    """Take these steps if the comparison holds, else jump over them."""
    return [_step(code, operand, 0, len(steps)), *steps]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def install(steps: bytes) -> None:
    """Put the filter over this process and all that it starts, for good.

    Raises:
        OSError: the kernel has no seccomp filters.
    """
    memory = ctypes.create_string_buffer(steps)
    built = _Program(len(steps) // 8, ctypes.addressof(memory))
    check(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    check(LIBC.prctl(PR_SET_SECCOMP, FILTER_MODE, ctypes.byref(built), 0, 0), "seccomp")
