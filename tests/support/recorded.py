"""A run as a GPU might have left it, made up."""

from __future__ import annotations

from dataclasses import replace

from course.racers import COMPILED, NAMES, SIZES
from course.races import BOTH, FORWARD, MEMORY, TIME, Curve, Race
from course.recording import Run
from course.roofline import Roofs


def curve(last: int, each: float, ended: str = TIME) -> Curve:
    lengths = tuple(2**i for i in range(3, 20) if 2**i <= last)
    return Curve(
        lengths, tuple(float(f"{1e-4 + each * n:.6g}") for n in lengths), ended, {64: 10**7, last: 10**6 * last}
    )


def race(speed: float) -> Race:
    curves = {name: curve(2048, 1e-5 / speed / (row + 1), MEMORY) for row, name in enumerate(NAMES)}
    return Race(SIZES, 16, curves, Roofs(5e13 * speed, 2e12))


def without_compiler(race: Race) -> Race:
    return replace(race, curves=race.curves | {COMPILED: Curve((), (), "torch.compile needs a C++ compiler")})


def run(hardware: str = "Example GPU", gpu: bool = True, threads: int = 16, date: str = "2026-01-02") -> Run:
    types = ("float32", "bfloat16") if gpu else ("float32",)
    return Run(
        hardware=hardware,
        gpu=gpu,
        cores=16,
        threads=threads,
        memory=80 * 2**30,
        versions={"python": "3.11.7", "torch": "2.13.0"} | ({"cuda": "13.0"} if gpu else {}),
        date=date,
        block={dtype: {FORWARD: race(row + 1), BOTH: race(row + 0.5)} for row, dtype in enumerate(types)},
        recurrent={dtype: {"RNN": curve(4096, 3e-6), "block": curve(4096, 2e-8)} for dtype in types},
        decoding={"with cache": curve(1024, 1e-9, ""), "all at once": curve(512, 1e-7)},
    )
