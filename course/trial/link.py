"""Values over a socket, one frame after another."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Protocol

from course.trial.values import PREFIX, Value, frame_lengths, pack, unpack

Left = Callable[[], float]
Allow = Callable[[float], Left]
"""From a number of seconds to what says, whenever it is asked, how many of them are left."""


def by_the_clock(seconds: float) -> Left:
    """What is left of so many seconds, from now on."""
    end = time.monotonic() + seconds
    return lambda: end - time.monotonic()


def unhurried(seconds: float) -> Left:
    """All of so many seconds, always: what is tried depends on the answers alone, however busy the machine is."""
    return lambda: seconds


class Link(Protocol):
    """Where one side of the conversation between judge and student sends to and hears from."""

    def send(self, value: Value) -> None: ...

    def receive(self) -> Value: ...


def send_fitting(link: Link, values: Iterable[Value]) -> None:
    """Send the first of these values that fits in a frame.

    Raises:
        ValueError: none does.
    """
    for value in values:
        with suppress(ValueError):
            link.send(value)
            return
    raise ValueError("nothing of it fits in a frame")


class SocketLink:
    """A link over a stream socket.

    Args:
        connection: a connected socket; the link owns it.
        timeout: seconds that one whole frame may take to arrive or leave, or None to wait for ever.
        altogether: seconds that the whole conversation may take, or None for no such limit.
        allow: how these seconds pass.
        read: makes a value of a frame.

    Attributes:
        heard: whether the other side ever said anything.
    """

    def __init__(
        self,
        connection: socket.socket,
        timeout: float | None = None,
        altogether: float | None = None,
        allow: Allow = by_the_clock,
        read: Callable[[bytes], Value] = unpack,
    ) -> None:
        self.connection = connection
        self.timeout = timeout
        self.heard = False
        self._allow = allow
        self._unpack = read
        self._altogether = None if altogether is None else allow(altogether)

    def send(self, value: Value) -> None:
        limits = self._limits()
        self.connection.settimeout(max(_least(limits), 0.001) if limits else None)
        self.connection.sendall(pack(value))

    def receive(self) -> Value:
        """The next value.

        Raises:
            TimeoutError: it did not arrive in time.
            EOFError: the other side is gone.
            Malformed: what arrived is not a value.
        """
        limits = self._limits()
        prefix = self._read(PREFIX, limits)
        return self._unpack(prefix + self._read(sum(frame_lengths(prefix)), limits))

    def _read(self, length: int, limits: list[Left]) -> bytes:
        arrived = bytearray()
        while len(arrived) < length:
            if limits:
                left = _least(limits)
                if left <= 0:
                    raise TimeoutError("no whole frame in time")
                self.connection.settimeout(left)
            try:
                piece = self.connection.recv(min(length - len(arrived), 1 << 20))
            except TimeoutError:
                continue  # there may be more time than there was
            if not piece:
                raise EOFError("the other side is gone")
            self.heard = True
            arrived += piece
        return bytes(arrived)

    def _limits(self) -> list[Left]:
        """What limits the time of a frame that begins now."""
        own = None if self.timeout is None else self._allow(self.timeout)
        return [limit for limit in (own, self._altogether) if limit is not None]

    def close(self) -> None:
        self.connection.close()


def _least(limits: list[Left]) -> float:
    return min(left() for left in limits)
