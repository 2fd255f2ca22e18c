"""Start a zygote, and know whether it lives."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from autograder.engine.inside.walls import Limits
from autograder.engine.outer import Walls, best_walls, command

ALWAYS = ("IPython.core.magics", "IPython.core.pylabtools")
REHEARSAL = ("1 + 1", "def f():\n    raise NotImplementedError()\nf()")
REHEARSAL_WITH_PICTURES = (
    "import matplotlib.pyplot as plt\nplt.figure()\nplt.plot([1, 2])\nplt.title('title')\nplt.show()\nplt.close('all')"
)


class Place(NamedTuple):
    """Where a zygote is found, and what stands around it."""

    address: str
    walls: Walls


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
    ) -> None:
        kind = walls or best_walls()
        self._folder = Path(tempfile.mkdtemp(prefix="zygote-"))
        self.place = Place(str(self._folder / "socket"), kind)
        self._log = self._folder / "log"
        pictures = [REHEARSAL_WITH_PICTURES] if "matplotlib.pyplot" in modules else []
        with socket.socket(socket.AF_UNIX) as listener, self._log.open("wb") as log:
            listener.bind(self.place.address)
            listener.listen(128)
            argv, environment = command(self.place.walls, ["-m", "inside.zygote"], libraries)
            self._process = subprocess.Popen(
                argv,
                env=dict(environment) or None,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=(listener.fileno(),),
            )
            settings = {
                "listener": listener.fileno(),
                "walls": self.place.walls,
                "modules": [*ALWAYS, *modules],
                "rehearsal": [*REHEARSAL, *pictures, *rehearsal],
                "limits": asdict(limits or Limits()),
            }
            assert self._process.stdin is not None
            try:  # and leave it open: when it ends, with this process or before, so does the zygote
                self._process.stdin.write(json.dumps(settings).encode() + b"\n")
                self._process.stdin.flush()
            except BrokenPipeError:
                self._process.wait()
                raise ZygoteFailed(f"the zygote did not start:\n{self.said}") from None

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Of the process that stands for all of it: bubblewrap, or the zygote itself where there are no walls."""
        return self._process.pid

    @property
    def said(self) -> str:
        """The last of what the zygote printed."""
        return self._log.read_text(errors="replace")[-2000:] if self._log.exists() else ""

    def close(self) -> None:
        """End it, and every process that it forked; one that is still importing ends as soon as it has."""
        self._process.kill()
        with suppress(BrokenPipeError):
            self._process.communicate()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Zygote:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
