"""Pictures of notebook 10: one block in several processes, and the bug museum."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from course import museum
from course.figures import COLOURS, MARKERS, PALE, PAPER, CannotDraw, canvas, forms, from_processes, picture
from course.figures.verdicts import told
from course.parameters import random_parameters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

ParallelBlock = Callable[..., Float[np.ndarray, "n d"]]

EPS = 1e-5
N, D, HEADS, F = 64, 32, 4, 128
STEP, LATE_BY = 0.002, 0.003  # seconds
MEETING = 0.7  # how wide an all-reduce is drawn
ARROW = {"arrowstyle": "-|>", "color": "black", "shrinkA": 0, "shrinkB": 0}


def _relu(x: np.ndarray) -> np.ndarray:
    return np.clip(x, 0, None)


# -------------------------------------------------------------------------------------------------- apart


@picture
def own_copies(guess: str | None) -> tuple[Figure, str]:
    """Three memories, one of the notebook and one of each rank, and the list `notes` in each."""
    figure, axes = canvas(width=8.4, height=2.6)
    for left, name, notes in ((0.0, "rank 0", "[0]"), (3.4, "this notebook", "[]"), (6.8, "rank 1", "[1]")):
        axes.add_patch(forms.rectangle((left, 0), 2.4, 1.5, facecolor=PALE, edgecolor="black", linewidth=1.5))
        axes.text(left + 1.2, 1.62, name, ha="center", va="bottom", weight="bold")
        axes.text(left + 1.2, 0.75, f"notes = {notes}", ha="center", va="center", family="monospace")
    for start, end in ((3.35, 2.45), (5.85, 6.75)):
        axes.annotate("", (end, 0.75), (start, 0.75), arrowprops=ARROW)
        axes.text((start + end) / 2, 0.85, "copied", ha="center", va="bottom", fontsize=11)
    axes.set(xlim=(-0.1, 9.3), ylim=(-0.1, 2.0))
    axes.set_axis_off()
    verdict = told(guess, "b")
    figure.supxlabel(verdict, fontsize=12)
    return figure, (
        "Three boxes, one for the memory of each process. In the middle this notebook, with an empty list. An arrow to the left, copied: rank 0, whose "
        f"list holds 0. An arrow to the right, copied: rank 1, whose list holds 1. No arrow leads back. {verdict}"
    )


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
            (2.35, half, "columns of W1,\nact, rows of W2", True),
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
                    forms.rectangle((left, 0.35), width, 4.4, facecolor=COLOURS[4], edgecolor="black", linewidth=1.5)
                )
                axes.text(left + width / 2, 2.55, "all-reduce", ha="center", va="center", rotation=90, weight="bold")
                axes.text(left + width / 2, 4.9, what, ha="center", va="bottom", weight="bold")
            left += width
    key = (
        forms.patch(facecolor=PAPER, edgecolor="black", linestyle="--", label="the same on every rank"),
        forms.patch(facecolor=PALE, edgecolor="black", label="this rank's share"),
        forms.patch(facecolor=COLOURS[4], edgecolor="black", label="they meet, and add"),
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
        forms.box(
            (left + 0.06, bottom + 0.08),
            width - 0.12,
            1.34,
            boxstyle="round,pad=0.06",
            facecolor=PALE if own else PAPER,
            edgecolor="black",
            linestyle="-" if own else "--",
        )
    )
    axes.text(left + width / 2, bottom + 1.1, name, ha="center", va="center", fontsize=11, weight="bold")
    axes.text(left + width / 2, bottom + 0.48, what, ha="center", va="center", fontsize=11)


# ------------------------------------------------------------------------------------------ real processes, watched


@dataclass(frozen=True)
class Lane:
    """What a rank did, and when; times in seconds on the clock that all processes share.

    Attributes:
        result: what it returned.
        began, ended: when it was called, and when it returned.
        meetings: for each all-reduce, when it came, when it could go on, and how many bytes it handed in.
    """

    result: Any
    began: float
    ended: float
    meetings: list[tuple[float, float, int]]


def _arguments() -> tuple[Any, ...]:
    """A block and its tokens, small enough for numpy to work in one thread."""
    rng = np.random.default_rng(10)
    params = random_parameters(rng, D, HEADS, D // HEADS, D // HEADS, F)
    params |= {name: rng.standard_normal(params[name].shape) for name in ("b1", "b2", "bias1", "bias2")}
    return rng.standard_normal((N, D)), params, HEADS, np.tri(N, dtype=bool), EPS


def _lanes(function: Callable[[int, int], Any], p: int, rounds: int = 20) -> list[Lane]:
    """Call `function(rank, p)` in p processes, a few times over, and write down who met whom when, in the quickest round."""

    def watched(rank: int, p: int) -> list[dict[str, Any]]:
        from torch import distributed

        plain, laps = distributed.all_reduce, []

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
            result = function(rank, p)
            laps.append({"result": result, "began": began, "ended": time.monotonic(), "meetings": meetings})
        return laps

    laps = [[Lane(**lane) for lane in lap] for lap in zip(*from_processes(watched, p), strict=True)]
    if p > 1 and not all(lane.meetings for lane in laps[0]):
        raise CannotDraw("No meeting was seen: the time line watches `dist.all_reduce`, under this name.")
    return min(laps, key=_seconds)


def _seconds(lanes: list[Lane]) -> float:
    return max(lane.ended for lane in lanes) - min(lane.began for lane in lanes)


def _in_meetings(lanes: list[Lane]) -> float:
    """How much of the ranks' time is spent in all-reduces, from 0 to 1."""
    met = sum(gone - came for lane in lanes for came, gone, _ in lane.meetings)
    return met / sum(lane.ended - lane.began for lane in lanes)


def _time_line(axes: Axes, lanes: list[Lane]) -> None:
    """Work and meetings of each rank, rank 0 on top, in milliseconds since the first began."""
    zero = min(lane.began for lane in lanes)
    for rank, lane in enumerate(lanes):
        edges = [lane.began, *(t for came, gone, _ in lane.meetings for t in (came, gone)), lane.ended]
        for i, (start, end) in enumerate(pairwise(edges)):
            met = i % 2 == 1
            axes.add_patch(
                forms.rectangle(
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


def _key() -> list[Patch]:
    return [
        forms.patch(facecolor=PALE, edgecolor="black", label="works"),
        forms.patch(
            facecolor=COLOURS[4], edgecolor="black", hatch="///", label="in an all-reduce: waits, and exchanges"
        ),
    ]


@picture
def together(parallel_block: ParallelBlock, block: Callable[..., dict[str, np.ndarray]]) -> tuple[Figure, str]:
    """The student's block in 1, 2 and 4 processes: what is measured of each, and a time line of two."""
    arguments = _arguments()
    H = block(*arguments, _relu)["H"]

    def counting(rank: int, p: int) -> dict[str, Any]:
        activated = []

        def act(x: np.ndarray) -> np.ndarray:
            activated.append(np.size(x))
            return _relu(x)

        return {"H": parallel_block(rank, p, *arguments, act), "features": sum(activated) // N}

    figure, (table, line) = canvas(2, 1, width=10.0, height=5.6, height_ratios=(5, 4))
    rows = [
        (
            "processes",
            "hidden features\nthat each computed",
            "largest difference\nfrom block",
            "meetings",
            "sent by each\n(in a ring)",
            "milliseconds",
        )
    ]
    sentences = []
    for p in (1, 2, 4):
        lanes = _lanes(counting, p)
        features = max(lane.result["features"] for lane in lanes)
        apart = f"{max(np.abs(lane.result['H'] - H).max() for lane in lanes):.0e}".replace("0e+00", "0")
        meetings = max(len(lane.meetings) for lane in lanes)
        sent = max(sum(size for _, _, size in lane.meetings) for lane in lanes) * 2 * (p - 1) / p / 1024
        spent = f"{1e3 * _seconds(lanes):.1f}"
        rows.append((str(p), f"{features}", apart, str(meetings), f"{sent:.0f} KiB", spent))
        sentences.append(
            f"{p} process{'es' * (p > 1)}: {features} hidden features computed by each, largest difference {apart}, {meetings} meetings, {sent:.0f} KiB "
            f"sent by each, {spent} milliseconds"
        )
        if p == 2:
            _time_line(line, lanes)
            share = 100 * _in_meetings(lanes)
    for y, row in enumerate(rows):
        for x, text in zip((0.05, 0.23, 0.45, 0.61, 0.76, 0.92), row, strict=True):
            table.text(x, y, text, ha="center", va="center", weight="bold" if y == 0 else "normal")
    table.plot([0, 1], [0.52, 0.52], color="black", linewidth=1)
    table.set(xlim=(0, 1), ylim=(3.6, -0.6))
    table.set_axis_off()
    line.set_title(f"Two processes: {share:.0f} % of their time is spent in all-reduces", fontsize=12)
    line.legend(handles=_key(), loc="upper center", bbox_to_anchor=(0.5, -0.35), ncols=2)
    return figure, (
        f"A table, and under it the time line of two processes. {'; '.join(sentences)}. In each lane of the time line work and all-reduces take turns: "
        f"work, all-reduce, work, all-reduce, and a little work at the end. Two processes spend {share:.0f} % of their time in all-reduces."
    )


@picture
def late(guess: str | None) -> tuple[Figure, str]:
    """The time line of two stand-ins for ranks, which sleep where they would work: both in time, and one of them late."""

    def stand_in(late_by: float) -> Callable[[int, int], None]:
        def sleeps(rank: int, p: int) -> None:
            import torch
            from torch import distributed

            part = torch.ones(N, D)
            time.sleep(STEP)
            distributed.all_reduce(part)
            time.sleep(STEP + (late_by if rank == 1 else 0.0))
            distributed.all_reduce(part)

        return sleeps

    figure, axes = canvas(2, 1, width=9.4, height=5.2, sharex=True)
    in_time, delayed = (_lanes(stand_in(late_by), 2) for late_by in (0.0, LATE_BY))
    for one, lanes, title in zip(
        axes, (in_time, delayed), ("Nobody is late", f"Rank 1 needs {1e3 * LATE_BY:.0f} ms longer"), strict=True
    ):
        _time_line(one, lanes)
        one.axvline(1e3 * _seconds(in_time), color="black", linestyle="--")
        one.set_title(title, fontsize=12, loc="left")
    before, after = (1e3 * _seconds(lanes) for lanes in (in_time, delayed))
    axes[0].set(xlabel="", xlim=(-0.1, 1.03 * after))
    axes[0].text(before + 0.1, 0.5, "the end, with nobody late", va="center", fontsize=11)
    axes[0].legend(handles=_key(), loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=1)
    waited = [1e3 * (lane.meetings[-1][1] - lane.meetings[-1][0]) for lane in delayed]
    measured = f"Rank 0 was in its second meeting for {waited[0]:.1f} ms."
    if waited[0] < 500 * LATE_BY:
        measured += " Your machine let it begin late, too: run this cell again."
    verdict = told(guess, "b")
    figure.supxlabel(f"{verdict} There is no sum before the last part has come.\n{measured}", fontsize=12)
    return figure, (
        f"Two time lines of two lanes each. In the upper one both ranks work, meet, work, meet, and are through after {before:.1f} milliseconds; a dashed line "
        f"in both time lines marks this end. In the lower one rank 1 works for {1e3 * LATE_BY:.0f} milliseconds longer in the second part. Rank 0 comes to "
        f"the second all-reduce early and is in it for {waited[0]:.1f} milliseconds, rank 1 for {waited[1]:.1f}. Both are through after {after:.1f}."
        f" {verdict}"
    )


# ----------------------------------------------------------------------------------------------------- the museum

SIZES = (64, 128, 256, 512, 1024, 2048)


@picture
def stopwatch(exhibit: Callable[[museum.Multiplier, int], tuple[float, float]]) -> tuple[Figure, str]:
    """What an exhibit says that a product takes, and that reading one number of it takes, by the size of the matrices."""
    device = museum.device()
    exhibit(device, SIZES[0])  # the first call is slow in other ways
    measured = np.array([np.min([exhibit(device, n) for _ in range(5)], axis=0) for n in SIZES])
    figure, axes = canvas(width=8.6, height=4.0)
    series = (("the product", "-"), ("reading one number of it", "--"))
    for i, (label, dash) in enumerate(series):
        axes.loglog(SIZES, 1e6 * measured[:, i], dash, marker=MARKERS[i], color=COLOURS[i], label=label)
    (product, reading), speed = measured[-1], 2 * SIZES[-1] ** 3 / measured[-1, 0] / 1e12
    waited = product > reading
    told_speed = f"{speed:,.0f} TFLOP/s" if speed >= 10 else f"{speed:.2f} TFLOP/s"
    axes.annotate(
        told_speed if waited else f"{told_speed}?",
        (SIZES[-1], 1e6 * product),
        (-16, 2) if waited else (0, 12),
        textcoords="offset points",
        ha="right",
        va="center" if waited else "bottom",
    )
    axes.set_xticks(SIZES, map(str, SIZES))
    axes.minorticks_off()
    axes.set(
        xlabel="n, for two matrices [n, n]",
        ylabel="microseconds",
        title=f"As the exhibit measures it, on {device.name}",
    )
    axes.legend(loc="upper left")
    times = "; ".join(
        f"n = {n}: {1e6 * product:.0f} and {1e6 * reading:.0f}"
        for n, (product, reading) in zip(SIZES, measured, strict=True)
    )
    return figure, (
        f"Two curves on logarithmic axes, measured on {device.name}: microseconds against the size n of two square matrices. For the product, and for "
        f"reading one number of it: {times}. By the first curve the product of the largest matrices runs at {told_speed}."
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
