"""Run a command that ends when whoever wanted it is gone, with all that it ever started, at whatever moment that happens.

`main` is given a folder, whether there is to be a process namespace, and the command. Standard input, which the command
inherits, is a pipe whose other end the caller holds: when it is closed, by the caller or by its death, the command is
killed and the folder is removed. The command is the first process of a namespace of its own, so that its death, whoever
brings it about, is that of everything below it. Where there is no such namespace, what it leaves behind falls to this
process, which kills it.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from . import linux

STANDARD_INPUT = 0


def main() -> NoReturn:
    folder, walled, *command = sys.argv[1:]
    with suppress(PermissionError):  # the caller may have done so
        os.setsid()  # what is typed at a terminal is for the caller
    if walled == "walled":
        _own_processes()
    linux.adopt_orphans()
    alive, living = os.pipe()
    child = os.fork()
    if not child:
        os.close(living)
        linux.die_with_parent(signal.SIGKILL)
        if _hung_up(alive):  # it had died before it could have been noticed
            os._exit(1)
        os.execvp(command[0], command)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt of the process group is for the command
    os.closerange(3, living)
    os.closerange(living + 1, 4096)  # above all the listening socket, at which nobody would answer
    ended = os.pidfd_open(child)
    waiting = select.poll()
    waiting.register(STANDARD_INPUT, 0)
    waiting.register(ended, select.POLLIN)
    waiting.poll()
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    _end_orphans()
    if _hung_up(STANDARD_INPUT):
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _own_processes() -> None:
    """The next process is the first of a new namespace; where the kernel refuses, it is one like any other."""
    user, group = os.getuid(), os.getgid()
    try:
        linux.unshare(linux.CLONE_NEWPID | (linux.CLONE_NEWUSER if user else 0))
        if user:
            for name, text in (
                ("setgroups", "deny"),
                ("uid_map", f"{user} {user} 1"),
                ("gid_map", f"{group} {group} 1"),
            ):
                with open(f"/proc/self/{name}", "w") as file:
                    file.write(text)
    except OSError:
        return


def _end_orphans() -> None:
    """Kill what the command left behind, and what that leaves, until nothing is left: no child to wait for."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    with suppress(OSError):
        while True:
            for orphan in children.read_text().split():
                os.kill(int(orphan), signal.SIGKILL)
            os.waitpid(-1, 0)


def _hung_up(pipe: int) -> bool:
    """Whether nobody holds the writing end of a pipe."""
    waiting = select.poll()
    waiting.register(pipe, 0)
    return any(event & select.POLLHUP for _, event in waiting.poll(0))
