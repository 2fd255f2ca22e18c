"""The way out: a proxy in front of the walls, through which submissions reach the hosts on a course's list, and nothing else.

`python -I -S proxy.py CHANNEL USER HOST...` takes, from a socket whose descriptor is CHANNEL, listening sockets that were made on the
loopback within the walls. Where it is root, it becomes USER. It answers at each for as long as a pipe lasts that comes with it, or the channel does. What is asked for there
is compared with the list by its exact name, which is resolved once; the address that was checked is the one that is connected to.
"""

from __future__ import annotations

import encodings.idna  # noqa: F401  # what names are looked up with; once it is not root, it may not find it
import ipaddress
import os
import select
import signal
import socket
import sys
from collections.abc import Collection
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from threading import BoundedSemaphore, Lock, Thread
from typing import Any, NoReturn
from urllib.parse import SplitResult, urlsplit

SETTING = "c.Sandbox.network"
USUAL_PORTS = (80, 443)
MOST_AT_ONCE = 32  # connections of one submission; the next one waits
SECONDS_TO_CONNECT = 20.0
PIECE = 1 << 16
ONE_HOP = {"connection", "host", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade"}
WITH_IPV4 = ipaddress.ip_network("64:ff9b::/96")  # RFC 6052: how a network without IPv4 calls the rest

Place = tuple[str, int]
"""A host, by its name or address, and a port."""


class Refused(Exception):
    """What was asked for is not to be reached; the message says why."""


def places(entry: str) -> list[Place]:
    """What an entry of the list stands for: "data.example.org", at the usual ports, or "data.example.org:8443".

    Raises:
        ValueError: it is of another form.
    """
    try:
        parts = urlsplit(f"//{entry}")
        if parts.netloc != entry or "@" in entry or "*" in entry or not parts.hostname:
            raise ValueError(entry)
        host = _plain_name(parts.hostname)
        return [(host, port) for port in ([parts.port] if parts.port else USUAL_PORTS)]
    except ValueError:
        raise ValueError(f"{entry!r} is no host and no host:port ({SETTING})") from None


def addresses(host: str, port: int, listed: Collection[Place]) -> list[str]:
    """Where a host of the list is found. Within the private networks that is nowhere, unless the list has that very address.

    Raises:
        Refused: it is not on the list, or only in such a network.
        OSError: nobody knows it.
    """
    if (host, port) not in listed:
        raise Refused(f"{host}:{port} is not among the hosts that submissions may reach ({SETTING})")
    found = dict.fromkeys(str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    open_to_all = [address for address in found if (address, port) in listed or _is_public(address)]
    if not open_to_all:
        raise Refused(f"{host} is in a private network, at an address that the list does not have ({SETTING})")
    return open_to_all


def _is_public(address: str) -> bool:
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        within = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF) if parsed in WITH_IPV4 else None
        parsed = parsed.ipv4_mapped or parsed.sixtofour or within or parsed
    return parsed.is_global and not parsed.is_multicast


def _plain_name(host: str) -> str:
    """A host's name as the list is compared by; an address as a resolver writes it.

    Raises:
        ValueError: no host can have it.
    """
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host.removesuffix(".").encode("idna").decode().lower()


class Submission:
    """The connections of one submission, which all end with it."""

    def __init__(self, listed: Collection[Place]) -> None:
        self.listed = listed
        self._room = BoundedSemaphore(MOST_AT_ONCE)
        self._lock = Lock()
        self._open: set[socket.socket] | None = set()

    def serve(self, listener: socket.socket, life: int | None) -> None:
        """Answer until the pipe is closed, if there is one."""
        with listener:
            watched = [listener.fileno()] if life is None else [listener.fileno(), life]
            while life not in select.select(watched, [], [])[0]:
                connection, _ = listener.accept()
                self._room.acquire()
                Thread(target=self._answer, args=(connection,), daemon=True).start()
        with self._lock:
            left, self._open = self._open or set(), None
        for connection in left:
            _shut(connection)
        if life is not None:
            os.close(life)

    def hold(self, connection: socket.socket) -> None:
        """Have a connection end with the submission.

        Raises:
            OSError: that has ended.
        """
        with self._lock:
            if self._open is not None:
                self._open.add(connection)
                return
        connection.close()
        raise OSError("the submission is gone")

    def let_go(self, connection: socket.socket) -> None:
        with self._lock:
            (self._open or set()).discard(connection)
        connection.close()

    def _answer(self, connection: socket.socket) -> None:
        try:
            with suppress(OSError):
                self.hold(connection)
                Request(connection, self)
        finally:
            self.let_go(connection)
            self._room.release()


class Request(BaseHTTPRequestHandler):
    """One request, for a tunnel or for one thing; the connection ends with it."""

    rbufsize = 0  # what follows the head is not the head's to read

    def __init__(self, connection: socket.socket, submission: Submission) -> None:
        self._submission = submission
        super().__init__(connection, ("", 0), submission)  # type: ignore[arg-type]  # for what a handler of one's own asks it

    def do_CONNECT(self) -> None:
        asked = self._connected(f"//{self.path}", None)
        if asked is None:
            return
        _, upstream = asked
        try:
            self.send_response_only(200, "Connection established")
            self.end_headers()
            self._pass_both_ways(upstream)
        finally:
            self._submission.let_go(upstream)

    def _forward(self) -> None:
        if not self.path.startswith("http://"):
            self.send_error(400, "A proxy is asked for a whole http:// address, or for a tunnel")
            return
        if "Transfer-Encoding" in self.headers:
            self.send_error(411)
            return
        asked = self._connected(self.path, 80)
        if asked is None:
            return
        parts, upstream = asked
        try:
            passed_on = [
                f"{name}: {' '.join(text.split())}"
                for name, text in self.headers.items()
                if name.lower() not in ONE_HOP
            ]
            host = parts.netloc.rpartition("@")[2]
            target = parts._replace(scheme="", netloc="", path=parts.path or "/", fragment="").geturl()
            head = [f"{self.command} {target} HTTP/1.1", f"Host: {host}", "Connection: close", *passed_on, "", ""]
            upstream.sendall("\r\n".join(head).encode("latin-1"))
            self._pass_both_ways(upstream, b"Connection: close\r\n")
        finally:
            self._submission.let_go(upstream)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _forward

    def _connected(self, asked: str, usual_port: int | None) -> tuple[SplitResult, socket.socket] | None:
        """What was asked for, and a connection to that host; None where there is none, and that was said."""
        try:
            parts = urlsplit(asked)
            host, port = _plain_name(parts.hostname or ""), parts.port or usual_port
            if not host or port is None:
                raise ValueError("no host and port")
        except ValueError:
            self.send_error(400)
            return None
        try:
            return parts, self._connect(host, port)
        except Refused as refused:
            self.send_error(403, str(refused))
        except OSError as failed:
            self.send_error(502, f"{host}:{port}: {failed}")
        return None

    def _connect(self, host: str, port: int) -> socket.socket:
        """Connect to one of a host's addresses.

        Raises:
            Refused, OSError: as `addresses`, or none answers.
        """
        failed = OSError("it has no address")
        for address in addresses(host, port, self._submission.listed):
            try:
                upstream = socket.create_connection((address, port), SECONDS_TO_CONNECT)
            except OSError as error:
                failed = error
                continue
            upstream.settimeout(None)
            self._submission.hold(upstream)
            return upstream
        raise failed

    def _pass_both_ways(self, upstream: socket.socket, added: bytes = b"") -> None:
        """Pass on what either says.

        Args:
            added: a line for the head of the answer. Without it, who asked may ask again on a connection that is about to end: not every
                server says that it ends.
        """
        there = Thread(target=_pass_on, args=(self.connection, upstream), daemon=True)
        there.start()
        _pass_on(upstream, self.connection, added)
        there.join()

    def log_message(self, *_: Any) -> None:
        """What submissions ask for is nobody's to read."""


def _pass_on(source: socket.socket, target: socket.socket, added: bytes = b"") -> None:
    """Pass bytes on, with a line added after the first, until there are no more, or nobody takes them; then both end."""
    with suppress(OSError):
        while piece := source.recv(PIECE):
            if added and b"\n" in piece:
                first, end, rest = piece.partition(b"\n")
                piece, added = first + end + added + rest, b""
            target.sendall(piece)
    _shut(source)
    _shut(target)


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def main() -> NoReturn:
    channel = socket.socket(fileno=int(sys.argv[1]))
    user, *entries = sys.argv[2:]
    listed = frozenset(place for entry in entries for place in places(entry))
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(int(user))
        os.setuid(int(user))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        said, descriptors, _, _ = socket.recv_fds(channel, 1, 2)
        if not said:
            os._exit(0)
        listener, *life = descriptors
        came = socket.socket(fileno=listener), next(iter(life), None)
        Thread(target=Submission(listed).serve, args=came, daemon=True).start()


if __name__ == "__main__":
    main()
