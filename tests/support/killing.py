"""Work in a process that is killed after so many steps."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from multiprocessing import forkserver


def _forget_the_fork_server() -> None:
    """A fork starts a server of its own: that of the process that it was forked from is no child of its."""
    server = forkserver._forkserver  # type: ignore[attr-defined]
    server._forkserver_address = server._forkserver_alive_fd = server._forkserver_pid = None


def killing_after(steps: int, work: Callable[[], object]) -> bool:
    """Do something in a process that is killed after so many steps; whether it came to that."""
    child = os.fork()
    if child == 0:
        _forget_the_fork_server()
        left = [steps]

        def count(event: str, arguments: tuple[object, ...]) -> None:
            writes = event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "sqlite3.connect") or (
                event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
            )
            if writes:
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, -signal.SIGKILL), "the work itself failed; it is told above"
    return ended == -signal.SIGKILL
