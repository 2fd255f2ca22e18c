"""What submissions may use: the settings of a course, such as `c.Sandbox.memory = 8192`."""

from __future__ import annotations

from pathlib import Path

from traitlets import Bunch, Integer, List, TraitError, Unicode, validate
from traitlets.config import Configurable

from autograder.engine import Limits
from autograder.engine.proxy import places
from autograder.plugins.judges import Judge, judge_of

MIB = 1 << 20


class Sandbox(Configurable):
    """What stands around each submission of a course, and what it may use."""

    memory = Integer(4096, min=256, help="MiB of memory that all processes of a submission may take together").tag(
        config=True
    )
    processes = Integer(96, min=8, help="how many processes and threads a submission may have at once").tag(config=True)
    disk = Integer(
        256, min=16, help="MiB that may lie in each folder that a submission can write in: its home, /tmp and /dev/shm"
    ).tag(config=True)
    output = Integer(11, min=1, help="MiB that all outputs of a notebook may have").tag(config=True)
    preload = List(
        Unicode(),
        help="modules to import before submissions come, where a notebook imports them, besides the well-known ones; nothing that "
        "they do at import may depend on a submission",
    ).tag(config=True)

    network = List(
        Unicode(),
        help="hosts that submissions may reach, as 'data.example.org' (ports 80 and 443) or 'data.example.org:8443', through a "
        "proxy that the usual environment variables name; none by default. Whoever can write to such a host can answer a submission",
    ).tag(config=True)

    @validate("network")
    def _hosts(self, proposal: Bunch) -> list[str]:
        for entry in proposal["value"]:
            try:
                places(entry)
            except ValueError as error:
                raise TraitError(str(error)) from None
        return list(proposal["value"])

    @property
    def judge(self) -> Judge:
        """Who judges the course's own notebooks."""
        return judge_of(self.config)

    @property
    def library(self) -> Path | None:
        """The course's own package, which submissions find."""
        return self.judge.library

    @property
    def libraries(self) -> list[Path]:
        """What submissions find beside what is installed."""
        return [self.library] if self.library else []

    @property
    def limits(self) -> Limits:
        least = Limits()
        return Limits(
            memory=max(least.memory, self.memory * MIB * 3 // 2),  # what is only reserved is counted here
            together=self.memory * MIB,
            processes=self.processes,
            file=self.disk * MIB,
            disk=self.disk * MIB,
            cpu=max(least.cpu, int(self.config.JudgedExecute.get("notebook_timeout", 0))),
            output=self.output * MIB,
            network=tuple(self.network),
        )
