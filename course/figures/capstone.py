"""Pictures of notebook 10: one block in several processes, and the bug museum."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Patch, Rectangle

from course import museum
from course.figures import COLOURS, MARKERS, PALE, CannotDraw, canvas, from_processes, picture, told
from course.parameters import random_parameters

ParallelBlock = Callable[..., Float[np.ndarray, "n d"]]

EPS = 1e-5
N, D, HEADS, F = 64, 32, 4, 128
LATE_BY = 0.003  # seconds
MEETING = 0.7  # how wide an all-reduce is drawn
ARROW = {"arrowstyle": "-|>", "color": "black", "shrinkA": 0, "shrinkB": 0}


def _relu(x: np.ndarray) -> np.ndarray:
    return np.clip(x, 0, None)


# -------------------------------------------------------------------------------------------------- the plan


@picture
def two_lanes() -> tuple[Figure, str]:
    """A block in two processes: what each does alone, what both do alike, and where they meet."""
    figure, axes = canvas(width=10.4, height=4.1)
    for y, name, heads, half in (
        (3.0, "rank 0", "heads 0 and 1", "first half"),
        (0.6, "rank 1", "heads 2 and 3", "second half"),
    ):
        axes.text(0.0, y + 0.75, name, ha="left", va="center", fontsize=13, weight="bold")
        axes.text(1.45, y + 0.75, "X", ha="center", va="center", fontsize=13, weight="bold")
        steps = (
            (1.6, "LayerNorm", "T1", False),
            (2.35, heads, "Q, K, V, weights,\nrows of Wo", True),
            (MEETING, "", "T2", False),
            (0.95, "+ X", "T3", False),
            (1.6, "LayerNorm", "T4", False),
            (2.35, half, "columns of W1, act,\nrows of W2", True),
            (MEETING, "", "sum of the FFN", False),
            (1.5, "+ b2 + T3", "H", False),
        )
        left = 1.65
        for width, title, what, own in steps:
            axes.annotate("", (left + 0.3, y + 0.75), (left, y + 0.75), arrowprops=ARROW)
            left += 0.3
            if width != MEETING:
                _step(axes, left, y, width, title, what, own)
            elif y < 1:  # one bar for both lanes
                axes.add_patch(
                    Rectangle((left, 0.35), width, 4.4, facecolor=COLOURS[4], edgecolor="black", linewidth=1.5)
                )
                axes.text(left + width / 2, 2.55, "all-reduce", ha="center", va="center", rotation=90, weight="bold")
                axes.text(left + width / 2, 4.9, what, ha="center", va="bottom", weight="bold")
            left += width
    key = (
        Patch(facecolor="white", edgecolor="black", linestyle="--", label="the same on every rank"),
        Patch(facecolor=PALE, edgecolor="black", label="this rank's share"),
        Patch(facecolor=COLOURS[4], edgecolor="black", label="they meet, and add"),
    )
    axes.legend(handles=key, loc="lower center", bbox_to_anchor=(0.5, -0.14), ncols=3, fontsize=12)
    axes.set(xlim=(-0.1, 15.9), ylim=(-0.1, 5.5))
    axes.set_axis_off()
    return figure, (
        "Two lanes from left to right, one for each of two processes. Each begins with the whole X and with LayerNorm, the same on both. Then "
        "rank 0 works on heads 0 and 1 and rank 1 on heads 2 and 3: queries, keys, values, weights, and their rows of Wo. A bar across both lanes: "
        "an all-reduce, which makes T2. Both add X, which makes T3, and both do the second LayerNorm. Then rank 0 takes the first half of the columns "
        "of W1 and of the rows of W2, rank 1 the second half. A second bar across both lanes: an all-reduce, which makes the sum of the "
        "FFN. Both add b2 and T3, and both have H."
    )


def _step(axes: Axes, left: float, bottom: float, width: float, name: str, what: str, own: bool) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (left + 0.06, bottom + 0.08),
            width - 0.12,
            1.34,
            boxstyle="round,pad=0.06",
            facecolor=PALE if own else "white",
            edgecolor="black",
            linestyle="-" if own else "--",
        )
    )
    axes.text(left + width / 2, bottom + 1.1, name, ha="center", va="center", fontsize=11, weight="bold")
    axes.text(left + width / 2, bottom + 0.48, what, ha="center", va="center", fontsize=10)


# ------------------------------------------------------------------------------------------ real processes, watched


@dataclass(frozen=True)
class Lane:
    """What a rank did, and when; times in seconds on the clock that all processes share.

    Attributes:
        H: what it returned.
        began, ended: when it was called, and when it returned.
        meetings: for each all-reduce, when it came, when it could go on, and how many bytes it handed in.
    """

    H: np.ndarray
    began: float
    ended: float
    meetings: list[tuple[float, float, int]]


def _arguments() -> tuple[Any, ...]:
    """A block and its tokens, small enough for numpy to work in one thread."""
    rng = np.random.default_rng(10)
    params = random_parameters(rng, D, HEADS, D // HEADS, D // HEADS, F)
    params |= {name: rng.standard_normal(params[name].shape) for name in ("b1", "b2", "bias1", "bias2")}
    return rng.standard_normal((N, D)), params, HEADS, np.tri(N, dtype=bool), EPS


def _numbers_held(p: int) -> int:
    """How many numbers of weights and biases one of p ranks needs."""
    return (4 * D * D + 2 * D * F + F) // p + 5 * D


def _lanes(parallel_block: ParallelBlock, p: int, late: float = 0.0, rounds: int = 20) -> list[Lane]:
    """Run a block in p processes, a few times over, and write down who met whom when, in the quickest round.

    The last rank's activation takes `late` seconds longer than the others'.
    """

    def watched(rank: int, p: int) -> list[dict[str, Any]]:
        from torch import distributed

        plain, arguments, laps = distributed.all_reduce, _arguments(), []

        def act(x: np.ndarray) -> np.ndarray:
            time.sleep(late if rank == p - 1 else 0.0)
            return _relu(x)

        def all_reduce(part: Any, *rest: Any, **more: Any) -> Any:
            came = time.monotonic()
            answer = plain(part, *rest, **more)
            meetings.append((came, time.monotonic(), part.numel() * part.element_size()))
            return answer

        distributed.all_reduce = all_reduce  # type: ignore[assignment]  # in this process, which ends here
        for _ in range(rounds):
            meetings: list[tuple[float, float, int]] = []
            distributed.barrier()
            began = time.monotonic()
            H = parallel_block(rank, p, *arguments, act)
            laps.append({"H": H, "began": began, "ended": time.monotonic(), "meetings": meetings})
        return laps

    laps = [[Lane(**lane) for lane in lap] for lap in zip(*from_processes(watched, p), strict=True)]
    if p > 1 and not all(lane.meetings for lane in laps[0]):
        raise CannotDraw("No meeting was seen: the time line watches `dist.all_reduce`, under this name.")
    return min(laps, key=_seconds)


def _seconds(lanes: list[Lane]) -> float:
    return max(lane.ended for lane in lanes) - min(lane.began for lane in lanes)


def _time_line(axes: Axes, lanes: list[Lane]) -> None:
    """Work and meetings of each rank, rank 0 on top, in milliseconds since the first began."""
    zero = min(lane.began for lane in lanes)
    for rank, lane in enumerate(lanes):
        edges = [lane.began, *(t for came, gone, _ in lane.meetings for t in (came, gone)), lane.ended]
        for i, (start, end) in enumerate(pairwise(edges)):
            met = i % 2 == 1
            axes.add_patch(
                Rectangle(
                    (1e3 * (start - zero), rank - 0.32),
                    1e3 * (end - start),
                    0.64,
                    facecolor=COLOURS[4] if met else PALE,
                    edgecolor="black",
                    hatch="///" if met else None,
                )
            )
    axes.set_yticks(range(len(lanes)), [f"rank {rank}" for rank in range(len(lanes))])
    longest = 1e3 * _seconds(lanes)
    axes.set(xlim=(-0.01 * longest, 1.02 * longest), ylim=(len(lanes) - 0.4, -0.6), xlabel="milliseconds")
    axes.grid(False)
    key = (
        Patch(facecolor=PALE, edgecolor="black", label="works"),
        Patch(facecolor=COLOURS[4], edgecolor="black", hatch="///", label="in an all-reduce: waits, and exchanges"),
    )
    axes.legend(handles=key, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)


@picture
def together(parallel_block: ParallelBlock, block: Callable[..., dict[str, np.ndarray]]) -> tuple[Figure, str]:
    """The student's block in 1, 2 and 4 processes: how far from `block`, how many meetings, how many bytes; and a time line."""
    H = block(*_arguments(), _relu)["H"]
    figure, (table, line) = canvas(2, 1, width=9.6, height=5.4, height_ratios=(5, 4))
    rows = [
        (
            "processes",
            "weights and biases\nof each",
            "largest difference\nfrom block",
            "meetings",
            "sent by each\n(in a ring)",
        )
    ]
    sentences = []
    for p in (1, 2, 4):
        lanes = _lanes(parallel_block, p)
        apart = f"{max(np.abs(lane.H - H).max() for lane in lanes):.0e}".replace("0e+00", "0")
        meetings = max(len(lane.meetings) for lane in lanes)
        sent = max(sum(size for _, _, size in lane.meetings) for lane in lanes) * 2 * (p - 1) / p / 1024
        rows.append((str(p), f"{_numbers_held(p):,}", apart, str(meetings), f"{sent:.0f} KiB"))
        sentences.append(
            f"{p} process{'es' * (p > 1)}: {_numbers_held(p)} numbers of weights and biases on each, largest difference {apart}, {meetings} meetings, "
            f"{sent:.0f} KiB sent by each"
        )
        if p == 2:
            _time_line(line, lanes)
            spent = 1e3 * _seconds(lanes)
    for y, row in enumerate(rows):
        for x, text in zip((0.06, 0.27, 0.52, 0.72, 0.9), row, strict=True):
            table.text(x, y, text, ha="center", va="center", weight="bold" if y == 0 else "normal")
    table.plot([0, 1], [0.52, 0.52], color="black", linewidth=1)
    table.set(xlim=(0, 1), ylim=(3.6, -0.6))
    table.set_axis_off()
    return figure, (
        f"A table, and under it the time line of two processes. {'; '.join(sentences)}. The two processes take {spent:.1f} milliseconds; in each lane "
        "work and all-reduces take turns: work, all-reduce, work, all-reduce, and a little work at the end."
    )


@picture
def late(guess: str | None, parallel_block: ParallelBlock) -> tuple[Figure, str]:
    """The time line of two processes, of which one is slow in its half of the FFN."""
    lanes = _lanes(parallel_block, 2, LATE_BY)
    figure, axes = canvas(width=9.4, height=3.0)
    _time_line(axes, lanes)
    waited = [1e3 * (lane.meetings[-1][1] - lane.meetings[-1][0]) for lane in lanes]
    spent = [1e3 * (lane.ended - lane.began) for lane in lanes]
    figure.supxlabel(told(guess, "b"), fontsize=12)
    return figure, (
        f"A time line of two lanes. Rank 1 works for {1e3 * LATE_BY:.0f} milliseconds longer in the second part. Rank 0 comes to the second all-reduce early and "
        f"waits there for {waited[0]:.1f} milliseconds; rank 1 is in it for {waited[1]:.1f}. Both return after about {spent[0]:.1f} milliseconds."
    )


# ----------------------------------------------------------------------------------------------------- the museum

SIZES = (64, 128, 256, 512, 1024, 2048)


@picture
def stopwatch(exhibit: Callable[[museum.Device, int], tuple[float, float]]) -> tuple[Figure, str]:
    """What an exhibit says that a product takes, and that reading one number of it takes, by the size of the matrices."""
    with museum.device() as device:
        exhibit(device, SIZES[0])  # the first call is slow in other ways
        measured = np.array([np.min([exhibit(device, n) for _ in range(5)], axis=0) for n in SIZES])
        name = device.name
    figure, axes = canvas(width=8.6, height=4.0)
    series = (("the product", "-"), ("reading one number of it", "--"))
    for i, (label, dash) in enumerate(series):
        axes.loglog(SIZES, 1e6 * measured[:, i], dash, marker=MARKERS[i], color=COLOURS[i], label=label)
    speed = 2 * SIZES[-1] ** 3 / measured[-1, 0] / 1e12
    axes.annotate(
        f"{speed:,.0f} TFLOP/s?",
        (SIZES[-1], 1e6 * measured[-1, 0]),
        (0, 12),
        textcoords="offset points",
        ha="right",
        va="bottom",
    )
    axes.set_xticks(SIZES, map(str, SIZES))
    axes.minorticks_off()
    axes.set(xlabel="n, for two matrices [n, n]", ylabel="microseconds", title=f"As the exhibit measures it, on {name}")
    axes.legend(loc="upper left")
    times = "; ".join(
        f"n = {n}: {1e6 * product:.0f} and {1e6 * reading:.0f}"
        for n, (product, reading) in zip(SIZES, measured, strict=True)
    )
    return figure, (
        f"Two curves on logarithmic axes, measured on {name}: microseconds against the size n of two square matrices. For the product, and for "
        f"reading one number of it: {times}. By the first curve the product of the largest matrices runs at {speed:,.0f} TFLOP/s."
    )


@picture
def ladder(
    rungs: dict[str, np.ndarray], parallel_block: ParallelBlock, X: np.ndarray, params: dict[str, np.ndarray], h: int
) -> tuple[Figure, str]:
    """How far the outputs of all the ways to compute one block are from those of the first."""
    keep = np.ones((len(X), len(X)), dtype=bool)
    for p, word in ((2, "two"), (4, "four")):
        rungs = rungs | {
            f"10  {word} processes": from_processes(parallel_block, p, X, params, h, keep, EPS, np.tanh)[-1]
        }
    first, *others = rungs.values()
    apart = [float(np.abs(H - first).max()) for H in others]
    figure, axes = canvas(width=9.0, height=0.5 + 0.5 * len(rungs))
    for y, (name, difference) in enumerate(zip(rungs, ("the measure", *apart), strict=True)):
        text = difference if isinstance(difference, str) else f"{difference:.0e}".replace("0e+00", "0")
        axes.plot([0.02, 0.98], [y, y], color="0.6", linewidth=4, solid_capstyle="round")
        axes.text(0.05, y + 0.1, name, va="bottom", weight="bold")
        axes.text(0.95, y + 0.1, text, ha="right", va="bottom")
    axes.plot([0.02, 0.02], [-0.5, len(rungs) - 0.2], color="0.6", linewidth=6, solid_capstyle="round")
    axes.plot([0.98, 0.98], [-0.5, len(rungs) - 0.2], color="0.6", linewidth=6, solid_capstyle="round")
    axes.text(0.95, len(rungs) + 0.1, "largest difference of H from that of the loop", ha="right", va="bottom")
    axes.set(xlim=(0, 1), ylim=(-0.6, len(rungs) + 0.6))
    axes.set_axis_off()
    steps = "; ".join(f"{name}: {difference:.0e}" for name, difference in zip(list(rungs)[1:], apart, strict=True))
    return figure, (
        f"A ladder of {len(rungs)} rungs, the loop over tokens at the bottom, four processes at the top. On each rung the largest difference of its H "
        f"from that of the loop: {steps}."
    )
