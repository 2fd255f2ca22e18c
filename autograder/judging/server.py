"""A judge that a kernel reaches over a Unix socket. It judges what the grader has opened, and nothing else."""

from __future__ import annotations

import errno
import logging
import secrets
import socket
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from autograder.exercises.model import Exercise
from autograder.judging.examine import SECONDS_PER_CALL, examine
from autograder.judging.verdict import Verdict
from course.link import SocketLink

log = logging.getLogger(__name__)

SECONDS_TO_CONCLUDE = 30.0


@dataclass
class Sitting:
    """One exercise that was opened for judging, the conversation about it, and what came of that."""

    exercise: Exercise
    link: SocketLink | None = None
    verdict: Verdict | None = None
    fault: Exception | None = None
    finished: threading.Event = field(default_factory=threading.Event)

    def end(self) -> None:
        """Wait for the conversation to finish, and break it off where it does not."""
        if not self.finished.wait(SECONDS_TO_CONCLUDE) and self.link is not None:
            with suppress(OSError):
                self.link.connection.shutdown(socket.SHUT_RDWR)
            if not self.finished.wait(SECONDS_TO_CONCLUDE):
                self.fault = TimeoutError("the judge did not come to an end")


class JudgeServer:
    """A listening socket, and at most one exercise that is open for judging.

    The grader calls `expect` before it runs a grade cell and `conclude` after. The first conversation in between makes
    the verdict; any other is turned away. Nothing that a student's process says chooses the exercise. One server serves
    one submission: what has passed is not lent to later exercises, which then run on the student's own.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="judge-")
        self.address = str(Path(self._folder.name) / "socket")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.address)
        self._listener.listen(16)
        self._lock = threading.Lock()
        self._sitting: Sitting | None = None
        self._passed: frozenset[str] = frozenset()
        self._doorkeeper = threading.Thread(target=self._accept, daemon=True)
        self._doorkeeper.start()

    def __enter__(self) -> JudgeServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # closing alone would leave `accept` waiting
        self._listener.close()
        self._doorkeeper.join(SECONDS_TO_CONCLUDE)
        self._folder.cleanup()

    def expect(self, exercise: Exercise) -> None:
        """Open `exercise` for one conversation."""
        with self._lock:
            self._sitting = Sitting(exercise)

    def conclude(self) -> Verdict | None:
        """Close the exercise and return its verdict, or None where nobody came to be judged.

        Raises:
            Exception: whatever went wrong in the judge itself.
        """
        with self._lock:
            sitting, self._sitting = self._sitting, None
        if sitting is None or sitting.link is None:
            return None
        sitting.end()
        if sitting.fault:
            raise sitting.fault
        if sitting.verdict and sitting.verdict.outcome == "passed":
            self._passed |= {sitting.exercise.name}
        return sitting.verdict

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError as error:
                if self._listener.fileno() < 0 or error.errno in (errno.EINVAL, errno.EBADF):
                    return  # closed
                log.warning("a conversation could not begin: %s", error)
                time.sleep(0.1)
                continue
            threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, connection: socket.socket) -> None:
        link = SocketLink(connection, SECONDS_PER_CALL)
        with self._lock:
            sitting = self._sitting
            if sitting is not None and sitting.link is None:
                sitting.link = link
            else:
                sitting = None
        try:
            if sitting is None:
                text = "Nothing is being judged now."
                link.send({"do": "done", "text": text, "html": f"<p>{text}</p>"})
                return
            try:
                sitting.verdict = examine(sitting.exercise, link, secrets.randbits(63), self._passed)
            except Exception as error:
                log.exception("the judge failed on %s", sitting.exercise.name)
                sitting.fault = error
            finally:
                sitting.finished.set()
        except OSError:
            pass
        finally:
            link.close()
