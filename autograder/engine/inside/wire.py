"""JSON messages over a stream socket: how the grader talks to the process that runs a submission."""

from __future__ import annotations

import json
import os
import re
import socket
import struct
import time
from typing import Any

INTERRUPT, WAITED = b"i", b"w"  # said on a lease; the second is answered
MAX_MESSAGE = 24 << 20
MAX_PARTS = 200_000
MAX_DESCRIPTORS = 2
MAX_DECISIVE = 100_000
_LENGTH = struct.Struct("!I")
SECONDS_FOR_THE_REST = 30.0
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')


class Flooded(ValueError):
    """The other side announced a message that is larger than any may be."""


def send(connection: socket.socket, message: dict[str, Any], *descriptors: int) -> None:
    """Send a message, and with it file descriptors.

    Raises:
        OSError: the other side is gone.
    """
    data = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
    frame = _LENGTH.pack(len(data)) + data
    sent = socket.send_fds(connection, [frame], descriptors) if descriptors else 0
    connection.sendall(frame[sent:])


def receive(connection: socket.socket, deadline: float | None = None, most: int = MAX_MESSAGE) -> Any:
    """The next message. Descriptors that come along are not taken.

    Args:
        connection: where from.
        deadline: on the monotonic clock, for the message to begin; None waits for ever. What has begun may finish.
        most: bytes of the longest message that is read.

    Raises:
        TimeoutError: nothing came in time, or not all of it.
        EOFError: the other side is gone.
        Flooded: the message is too large.
        ValueError: what arrived is no JSON.
    """
    return _rest(connection, _read(connection, 1, deadline), most)


def receive_with_descriptors(
    connection: socket.socket, deadline: float | None = None, most: int = MAX_MESSAGE
) -> tuple[Any, list[int]]:
    """The next message, and the file descriptors that came with it, if any; for the one side that trusts the other.

    Raises:
        TimeoutError, EOFError, ValueError: as `receive`; no descriptor stays open then.
    """
    _hurry(connection, deadline)
    head, descriptors, _, _ = socket.recv_fds(connection, 1, MAX_DESCRIPTORS)
    try:
        if not head:
            raise EOFError("the other side is gone")
        return _rest(connection, head, most), descriptors
    except BaseException:
        for descriptor in descriptors:
            os.close(descriptor)
        raise


def _rest(connection: socket.socket, head: bytes, most: int) -> Any:
    """The message whose first byte has come: nobody could read on from its middle, so it has a time of its own."""
    soon = time.monotonic() + SECONDS_FOR_THE_REST
    (length,) = _LENGTH.unpack(head + _read(connection, _LENGTH.size - 1, soon))
    if length > most:
        raise Flooded(f"a message of {length >> 20} MiB")
    data = _read(connection, length, soon)
    if length > MAX_PARTS and parts(data) > MAX_PARTS:
        raise Flooded("a message of more parts than any has")
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None


def decides(kind: str, content: Any) -> bool:
    """Whether a test cell may be scored by this message, which is kept where a cell says too much."""
    return kind in ("error", "execute_result") and len(json.dumps(content)) < MAX_DECISIVE


def parts(data: bytes) -> int:
    """How many lists, objects and entries JSON would make, as far as bytes can tell."""
    outside = _STRING.sub(b"", data)
    return sum(map(outside.count, (b"[", b"{", b",")))


def _read(connection: socket.socket, length: int, deadline: float | None) -> bytes:
    arrived = bytearray()
    while len(arrived) < length:
        _hurry(connection, deadline)
        piece = connection.recv(min(length - len(arrived), 1 << 20))
        if not piece:
            raise EOFError("the other side is gone")
        arrived += piece
    return bytes(arrived)


def _hurry(connection: socket.socket, deadline: float | None) -> None:
    if deadline is None:
        connection.settimeout(None)
        return
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("nothing whole arrived in time")
    connection.settimeout(left)
