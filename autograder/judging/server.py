"""A judge that a kernel reaches over a Unix socket. It judges what the grader has opened, and nothing else."""

from __future__ import annotations

import logging
import secrets
import socket
import tempfile
import threading
from pathlib import Path
from types import TracebackType

from autograder.exercises.model import Exercise
from autograder.judging.examine import SECONDS_PER_CALL, examine
from autograder.judging.verdict import Verdict
from course.link import SocketLink

log = logging.getLogger(__name__)

SECONDS_TO_CONCLUDE = 30.0


class JudgeServer:
    """A listening socket, and at most one exercise that is open for judging.

    The grader calls `expect` before it runs a grade cell and `conclude` after. The first conversation in between makes
    the verdict; any other is turned away. Nothing that a student's process says chooses the exercise.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="judge-")
        self.address = str(Path(self._folder.name) / "socket")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.address)
        self._listener.listen(16)
        self._lock = threading.Lock()
        self._expected: Exercise | None = None
        self._verdict: Verdict | None = None
        self._fault: Exception | None = None
        self._finished = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> JudgeServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        self._folder.cleanup()

    def expect(self, exercise: Exercise) -> None:
        """Open `exercise` for one conversation."""
        with self._lock:
            self._expected, self._verdict, self._fault = exercise, None, None
            self._finished = threading.Event()
            self._finished.set()

    def conclude(self) -> Verdict | None:
        """Close the exercise and return its verdict, or None where nobody came to be judged.

        Raises:
            Exception: whatever went wrong in the judge itself.
        """
        with self._lock:
            self._expected = None
            finished = self._finished
        finished.wait(SECONDS_TO_CONCLUDE)
        if self._fault:
            raise self._fault
        return self._verdict

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, connection: socket.socket) -> None:
        link = SocketLink(connection, SECONDS_PER_CALL)
        with self._lock:
            exercise, self._expected = self._expected, None
            if exercise is not None:
                self._finished.clear()
                finished = self._finished
        try:
            if exercise is None:
                text = "Nothing is being judged now."
                link.send({"do": "done", "text": text, "html": f"<p>{text}</p>"})
                return
            try:
                self._verdict = examine(exercise, link, secrets.randbits(63))
            except Exception as error:
                log.exception("the judge failed on %s", exercise.name)
                self._fault = error
            finally:
                finished.set()
        except OSError:
            pass
        finally:
            link.close()
