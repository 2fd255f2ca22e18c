"""Start a zygote, and know whether it lives."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from autograder.engine import groups, temporary
from autograder.engine.given import NOTHING, Given
from autograder.engine.groups import Bound
from autograder.engine.inside.walls import GIVEN, SOCKET_BUFFER, Limits
from autograder.engine.network import WayOut
from autograder.engine.outer import Walls, best_walls, command, tethered

SECONDS_TO_END = 10.0
ALWAYS = ("IPython.core.magics", "IPython.core.pylabtools")
REHEARSAL = ("1 + 1", "def f():\n    raise NotImplementedError()\nf()")
REHEARSAL_WITH_PICTURES = (  # without `pyplot`, which would remember its backend, and the shell its hooks
    "from io import BytesIO\nfrom matplotlib.figure import Figure\nfigure = Figure()\naxes = figure.subplots()\n"
    "axes.plot([1, 2])\naxes.set_title('title')\nfigure.savefig(BytesIO(), format='png', bbox_inches='tight')"
)


class Place(NamedTuple):
    """Where a zygote is found, what stands around it, which of the instructor's files its submissions find, and what bounds their memory.

    Attributes:
        bound: None where there are no control groups.
        output: bytes that all outputs of a notebook may have.
        proxied: whether there is a proxy, through which they reach some hosts.
    """

    address: str
    walls: Walls
    given: frozenset[str] = frozenset()
    bound: Bound | None = None
    output: int = Limits().output
    proxied: bool = False


class KilledByMachine(RuntimeError):
    """A submission's process was killed by neither itself nor the grader: by a machine without memory left, or by somebody."""


class ZygoteFailed(RuntimeError):
    """A zygote could not start, or is gone."""


class Zygote:
    """A running zygote.

    Args:
        modules: what to import beforehand, besides what every notebook needs.
        libraries: packages, as folders, that can be imported within besides what is installed.
        rehearsal: cells to run beforehand, to fill caches; nothing stays of what they define.
        walls: the best that this machine has if None.
        limits: what each submission may use.
        given: what every submission finds in its folder.

    Attributes:
        place: where `Session` finds it.
    """

    def __init__(
        self,
        modules: Sequence[str] = (),
        libraries: Sequence[Path] = (),
        rehearsal: Sequence[str] = (),
        walls: Walls | None = None,
        limits: Limits | None = None,
        given: Given = NOTHING,
    ) -> None:
        kind = walls or best_walls()
        limits = limits or Limits()
        bound = groups.allowing(limits.together) if kind != "none" else None
        self._folder = temporary.make()
        self._way_out = WayOut(limits.network) if limits.network and kind != "none" else None
        proxied = self._way_out is not None
        self.place = Place(str(self._folder / "socket"), kind, given.names, bound, limits.output, proxied)
        self._log = self._folder / "log"
        pictures = [REHEARSAL_WITH_PICTURES] if "matplotlib.pyplot" in modules else []
        with socket.socket(socket.AF_UNIX) as listener, self._log.open("wb") as log:
            listener.bind(self.place.address)
            listener.listen(128)
            argv, environment = command(
                self.place.walls, ["-m", "inside.zygote"], libraries, given=given, disk=limits.disk
            )
            passed = [listener.fileno()]
            if self._way_out is not None:
                passed.append(self._way_out.channel.fileno())
            self._process = subprocess.Popen(
                tethered(argv, self._folder, kind),
                env=dict(environment) or None,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=passed,
            )
            contents = {name: path.read_bytes() for name, path in given.sent.items()}
            settings = {
                "listener": listener.fileno(),
                "proxy": next(iter(passed[1:]), None),
                "walls": self.place.walls,
                "modules": [*ALWAYS, *modules],
                "rehearsal": [*REHEARSAL, *pictures, *rehearsal],
                "limits": asdict(limits),
                "socket_room": sum(map(_buffer, ("wmem_default", "rmem_default"))),
                "given": {
                    "folder": str(self._folder / "given") if kind == "none" else GIVEN,
                    "sent": [
                        (name, len(data), os.access(given.sent[name], os.X_OK)) for name, data in contents.items()
                    ],
                    "let_in": [
                        (name, str(path) if kind == "none" else within) for name, path, within in given.places()
                    ],
                },
            }
            if self._way_out is not None:
                self._way_out.channel.close()  # it ends with the zygote
            assert self._process.stdin is not None
            try:  # and leave it open: when it ends, with this process or before, so does the zygote
                self._process.stdin.write(json.dumps(settings).encode() + b"\n")
                for data in contents.values():
                    self._process.stdin.write(data)
                self._process.stdin.flush()
            except BrokenPipeError:
                self._process.wait()
                raise ZygoteFailed(f"the zygote did not start:\n{self.said}") from None

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Of the process that stands for all of it, and ends it when this one is gone."""
        return self._process.pid

    @property
    def said(self) -> str:
        """The last of what the zygote printed."""
        return self._log.read_text(errors="replace")[-2000:] if self._log.exists() else ""

    def close(self) -> None:
        """End it, and every process that it forked."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:  # such as one that is stopped
            self._process.kill()
            self._process.wait()
        if self._way_out is not None:
            self._way_out.close()
        temporary.remove(self._folder)

    def __enter__(self) -> Zygote:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _buffer(name: str) -> int:
    """Bytes that a socket of this machine holds in one direction; only the machine itself says, no namespace within it."""
    try:
        return max(int(Path("/proc/sys/net/core", name).read_text()), SOCKET_BUFFER)
    except (OSError, ValueError):
        return SOCKET_BUFFER
