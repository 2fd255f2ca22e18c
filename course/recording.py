"""What notebook 08 measures, measured at length on some machine and kept: `python -m course.recording [FILE]`.

The file holds one run for each machine; a new run takes the place of the one on the same machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import torch

from course import racers, races
from course.clock import seconds
from course.racers import Sizes
from course.races import BOTH, FORWARD, Curve, Race, Timed
from course.roofline import Roofs

LONGEST = 1.0
"""Seconds; where a recorded curve ends. See `races.follow`."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Run:
    """One machine's measurements.

    Attributes:
        hardware: its GPU, or its CPU where it has none.
        gpu: whether it was measured on a GPU.
        cores, threads: of the CPU, and how many of them PyTorch used.
        memory: of the GPU or of the machine, in bytes; None if it could not be told.
        versions: of python, torch and, on a GPU, cuda.
        date: on which it was measured, as 2026-11-22.
        block: number type, then direction, then the race of the six.
        recurrent: number type, then what `races.recurrent` gives.
        decoding: what `races.decoding` gives; in "with cache" the keeping of keys and values is left out.
    """

    hardware: str
    gpu: bool
    cores: int
    threads: int
    memory: int | None
    versions: dict[str, str]
    date: str
    block: dict[str, dict[str, Race]]
    recurrent: dict[str, dict[str, Curve]]
    decoding: dict[str, Curve]

    @property
    def machine(self) -> tuple[str, int]:
        """What a later run must share to replace this one."""
        return self.hardware, self.threads

    def __str__(self) -> str:
        cuda = f", CUDA {self.versions['cuda']}" if "cuda" in self.versions else f", {self.threads} threads"
        return f"{self.hardware}{cuda}, torch {self.versions['torch']}, {self.date}"


# ------------------------------------------------------------------------------------------------------------ measuring


def measure(say: Say, longest: float = LONGEST, timed: Timed = seconds) -> Run:
    """Measure everything on this machine: on its GPU, if it has one, else on its CPU."""
    gpu = torch.cuda.is_available()
    types = (torch.float32, torch.bfloat16) if gpu else (torch.float32,)
    say(racers.compiled().told)
    block: dict[str, dict[str, Race]] = {}
    recurrent: dict[str, dict[str, Curve]] = {}
    for dtype in types:
        name = str(dtype).removeprefix("torch.")
        block[name] = {}
        for direction in (FORWARD, BOTH):
            told = partial(_tell, say, f"{name}, {direction}, ")
            block[name][direction] = races.six_ways(
                timed, dtype=dtype, direction=direction, longest=longest, progress=told
            )
        recurrent[name] = races.recurrent(timed, dtype=dtype, longest=longest)
        say(f"{name}, RNN against block: done")
    decoding = races.decoding(timed=timed, longest=longest)
    say("decoding: done")
    return Run(
        hardware=torch.cuda.get_device_name() if gpu else _cpu(),
        gpu=gpu,
        cores=os.cpu_count() or 1,
        threads=torch.get_num_threads(),
        memory=torch.cuda.get_device_properties(0).total_memory if gpu else _memory(),
        versions=_versions(gpu),
        date=datetime.now(UTC).date().isoformat(),
        block=block,
        recurrent=recurrent,
        decoding=decoding,
    )


def _tell(say: Say, what: str, line: str) -> None:
    say(what + line)


def _cpu() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text(encoding="utf-8") if cpuinfo.exists() else ""
    names = re.findall(r"^model name\s*: (.+)$", text, re.MULTILINE)
    return names[0].strip() if names else platform.processor() or platform.machine() or "unknown CPU"


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return None


def _versions(gpu: bool) -> dict[str, str]:
    versions = {"python": platform.python_version(), "torch": torch.__version__.partition("+")[0]}
    return versions | ({"cuda": torch.version.cuda} if gpu and torch.version.cuda else {})


# ------------------------------------------------------------------------------------------------------------- the file


def place() -> Path:
    """The record that comes with the course."""
    return Path(str(files("course") / "records.json"))


def read(path: Path | None = None) -> list[Run]:
    """The runs in a record; none where there is no file.

    Raises:
        ValueError: the file is not a record.
    """
    path = path or place()
    if not path.exists():
        return []
    try:
        return [_run(tree) for tree in json.loads(path.read_text(encoding="utf-8"))["runs"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is not a record of this course: {type(error).__name__}: {error}") from error


def write(runs: Iterable[Run], path: Path) -> None:
    """Write a record, machines in alphabetical order, each list of numbers on a line, six digits of each."""
    tree = {"runs": [_rounded(asdict(run)) for run in sorted(runs, key=lambda run: run.machine)]}
    text = json.dumps(tree, indent=1, ensure_ascii=False)
    flat = re.sub(r"\[[^\[\]{}]*\]", lambda found: " ".join(found.group().split()), text)
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(flat + "\n", encoding="utf-8")
    fresh.replace(path)


def _rounded(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: _rounded(part) for name, part in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [_rounded(part) for part in tree]
    return float(f"{tree:.6g}") if isinstance(tree, float) else tree


def _run(tree: dict[str, Any]) -> Run:
    block = {
        dtype: {direction: _race(race) for direction, race in ways.items()} for dtype, ways in tree["block"].items()
    }
    recurrent = {dtype: _curves(curves) for dtype, curves in tree["recurrent"].items()}
    return Run(**{**tree, "block": block, "recurrent": recurrent, "decoding": _curves(tree["decoding"])})


def _race(tree: dict[str, Any]) -> Race:
    return Race(Sizes(*tree["sizes"]), tree["threads"], _curves(tree["curves"]), Roofs(**tree["roofs"]))


def _curves(tree: dict[str, Any]) -> dict[str, Curve]:
    return {
        name: Curve(
            tuple(curve["lengths"]),
            tuple(curve["seconds"]),
            curve["ended"],
            {int(n): moved for n, moved in curve["moved"].items()},
        )
        for name, curve in tree.items()
    }


# ------------------------------------------------------------------------------------------------------ the command line


def main(arguments: list[str] | None = None) -> int:
    """`python -m course.recording`; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m course.recording", description="Measure what notebook 08 shows, on this machine, and keep it."
    )
    parser.add_argument(
        "record",
        metavar="FILE",
        nargs="?",
        type=Path,
        default=place(),
        help="the record to which this machine's run is added (%(default)s)",
    )
    parser.add_argument(
        "--longest",
        metavar="SECONDS",
        type=_positive,
        default=LONGEST,
        help="end a curve where one call would take longer (%(default)s)",
    )
    options = parser.parse_args(arguments)
    path = cast(Path, options.record)
    try:
        others = read(path)
        write(others, path)  # before minutes of measuring rather than after
    except (OSError, ValueError) as error:
        print(f"course.recording: cannot keep a record in {path}: {error}", file=sys.stderr)
        return 1
    run = measure(partial(print, flush=True), options.longest)
    write([*(other for other in others if other.machine != run.machine), run], path)
    print(f"Recorded in {path}: {run}")
    return 0


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


if __name__ == "__main__":
    raise SystemExit(main())
