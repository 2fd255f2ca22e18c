"""Values over a socket, one frame after another."""

from __future__ import annotations

import socket
import time
from typing import Protocol

from course.values import PREFIX, Value, frame_lengths, pack, unpack


class Link(Protocol):
    """Where one side of the conversation between judge and student sends to and hears from."""

    def send(self, value: Value) -> None: ...

    def receive(self) -> Value: ...


class SocketLink:
    """A link over a stream socket.

    Args:
        connection: a connected socket; the link owns it.
        timeout: seconds that one whole frame may take to arrive or leave, or None to wait for ever.
        altogether: seconds that the whole conversation may take, or None for no such limit.

    Attributes:
        heard: whether the other side ever said anything.
    """

    def __init__(
        self, connection: socket.socket, timeout: float | None = None, altogether: float | None = None
    ) -> None:
        self.connection = connection
        self.timeout = timeout
        self.heard = False
        self._end = None if altogether is None else time.monotonic() + altogether

    def send(self, value: Value) -> None:
        deadline = self._deadline()
        self.connection.settimeout(None if deadline is None else max(deadline - time.monotonic(), 0.001))
        self.connection.sendall(pack(value))

    def receive(self) -> Value:
        """The next value.

        Raises:
            TimeoutError: it did not arrive in time.
            EOFError: the other side is gone.
            Malformed: what arrived is not a value.
        """
        deadline = self._deadline()
        prefix = self._read(PREFIX, deadline)
        return unpack(prefix + self._read(sum(frame_lengths(prefix)), deadline))

    def _read(self, length: int, deadline: float | None) -> bytes:
        arrived = bytearray()
        while len(arrived) < length:
            if deadline is not None:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError("no whole frame in time")
                self.connection.settimeout(left)
            piece = self.connection.recv(min(length - len(arrived), 1 << 20))
            if not piece:
                raise EOFError("the other side is gone")
            self.heard = True
            arrived += piece
        return bytes(arrived)

    def _deadline(self) -> float | None:
        """When this frame has to be through, on the monotonic clock."""
        ends = [] if self.timeout is None else [time.monotonic() + self.timeout]
        if self._end is not None:
            ends.append(self._end)
        return min(ends, default=None)

    def close(self) -> None:
        self.connection.close()
