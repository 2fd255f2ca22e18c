"""Pictures of notebook 08: what a block costs, on the machine of the reader."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from course import racers, races, recording
from course.clock import Device, seconds, synchronize
from course.figures import COLOURS, MARKERS, PAPER, canvas, forms, picture, powers_of_ten, uncovered
from course.figures.verdicts import between, least, told
from course.racers import BY_TOKEN, COMPILED, NAMES
from course.races import COUNTED_AT, FORWARD, Curve, Race
from course.recording import Run
from course.roofline import Roofs, score_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Bench = Callable[..., dict[str, object]]
BlockFlops = Callable[[int, int, int, int, int], dict[str, int]]
AttendCached = Callable[..., tuple[Tensor, dict[str, Tensor]]]

DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
RECORDED = {"linestyle": "--", "markerfacecolor": PAPER}
QUICKLY = partial(seconds, at_most=0.1)
LINE = 42  # letters of a row's title, so that it ends before the panel at the right
LETTERS = {"matrices": "a", "batched": "b", COMPILED: "b", "fused attention": "c"}
GIB = 2**30


# --------------------------------------------------------------------------------------------------- who does the work


@picture
def share_of_the_square(guess: str | None, block_flops: BlockFlops) -> tuple[Figure, str]:
    """How the work of a block of GPT-2's size is shared out, by the length of the text."""
    d, h = 768, 12
    lengths = 2 ** np.arange(6, 18)
    counted = [block_flops(1, int(n), d, h, 4 * d) for n in lengths]
    groups = {"ffn": ("ffn",), "qkv and output": ("qkv", "output"), "scores and mix": ("scores", "mix")}
    work = {name: np.array([sum(one[part] for part in parts) for one in counted]) for name, parts in groups.items()}
    whole = np.sum(list(work.values()), axis=0)
    figure, (left, right) = canvas(1, 2, width=9.6, height=4.1)
    floor = np.zeros(len(lengths))
    looks = zip(COLOURS, MARKERS, DASHES, ("", "..", "//"), strict=False)
    for (name, flops), (colour, marker, dashes, hatch) in zip(work.items(), looks, strict=False):
        left.loglog(lengths, flops, color=colour, marker=marker, linestyle=dashes, label=name)
        roof = floor + flops / whole
        right.fill_between(lengths, floor, roof, color=colour, alpha=0.8, hatch=hatch, edgecolor=PAPER)
        at = -4 if name == "scores and mix" else 1
        right.text(
            lengths[at],
            (floor[at] + roof[at]) / 2,
            name,
            ha="center" if at < 0 else "left",
            va="center",
            backgroundcolor=PAPER,
            fontsize=11,
        )
        floor = roof
    rest = whole - work["scores and mix"]
    left.loglog(lengths, rest, color="black", linestyle=":", label="all but scores and mix")
    left.set(xlabel="tokens n", ylabel="FLOPs of one block", title="work by part")
    left.legend()
    right.set(xscale="log", xlabel="tokens n", title="share of the work", ylim=(0, 1), xlim=(lengths[0], lengths[-1]))
    right.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "¼", "½", "¾", "1"])
    for n in (1024, 6 * d):
        right.axvline(n, color="black", linestyle="--", linewidth=1.6)
        right.text(n, 0.02, f" {n}", ha="left", va="bottom", fontsize=10.5, backgroundcolor=PAPER)
    shares = (work["scores and mix"] / whole)[[4, -1]]
    verdict = told(guess, "a")
    figure.supxlabel(f"d = {d}, {h} heads, f = {4 * d}. {verdict}", fontsize=12)
    return figure, (
        f"Two charts against the number of tokens, 64 to 131072, for a block of width {d}. Left, FLOPs by part on logarithmic axes: ffn, and qkv "
        f"with output, rise in proportion to n; scores and mix rise with its square. Right, the shares: scores and mix have {shares[0]:.0%} at 1024 "
        f"tokens, half at 6 d = {6 * d}, and {shares[1]:.0%} at 131072. {verdict}"
    )


# --------------------------------------------------------------------------------------------- timing, and its pitfalls


@picture
def queue() -> tuple[Figure, str]:
    """Host and device beside each other, and what three ways to read the clock take for the time of three jobs."""
    figure, panels = canvas(3, 1, width=9.4, height=6.6, sharex=True)
    cases = (
        ("no synchronise: only the launches are timed (each is 0.02 ms, and is drawn wider)", 0.0, 1.5, "0.06 ms"),
        ("synchronise before the stop: earlier work is timed too", 0.0, 23.0, "23 ms"),
        ("synchronise before the start and before the stop", 8.0, 23.0, "15 ms"),
    )
    for axes, (title, start, stop, reading) in zip(panels, cases, strict=True):
        axes.barh(0, 8, height=0.62, color=PAPER, edgecolor="0.4", hatch="///")
        axes.text(4, 0, "work queued earlier", ha="center", va="center", fontsize=10.5, backgroundcolor=PAPER)
        for job in range(3):
            axes.barh(0, 5, left=8 + 5 * job, height=0.62, color=COLOURS[0], edgecolor="black")
            axes.text(10.5 + 5 * job, 0, f"job {job}: 5 ms", ha="center", va="center", color="white", fontsize=10.5)
            axes.barh(1, 0.4, left=start + 0.15 + 0.45 * job, height=0.62, color=COLOURS[1], edgecolor="black")
        for moment, word, side in ((start, "start", "right"), (stop, "stop", "left")):
            axes.plot([moment, moment], [-0.45, 2.1], color="black", linewidth=1.4)
            gap = -0.15 if side == "right" else 0.15
            axes.text(moment + gap, 2.0, word, ha=side, va="top", fontsize=11)
        axes.annotate("", (stop, 1.62), (start, 1.62), arrowprops={"arrowstyle": "<->", "linewidth": 1.6})
        place, align = ((start + stop) / 2, "center") if stop - start > 5 else (stop + 0.2, "left")
        axes.text(place, 1.47, f"the clock says {reading}", ha=align, va="top", weight="bold", fontsize=11)
        axes.set_title(title, loc="left", fontsize=12)
        axes.set_yticks([0, 1], ["device", "host"])
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(-1.5, 26), ylim=(-0.5, 2.15))
        axes.grid(False)
    panels[2].set_xlabel("milliseconds")
    return figure, (
        "Three pairs of time lines, host above device. On the device some work queued earlier runs for 8 ms, then three jobs of 5 ms "
        "each. On the host three short launches. First: the clock is started before the launches and stopped after them, without "
        "waiting; it says 0.06 ms. Second: it is stopped when the device is done; it says 23 ms, with the earlier work in it. Third: "
        "it is started when the earlier work is done and stopped when the three jobs are done; it says 15 ms, which is right."
    )


@picture
def unsynchronised(bench: Bench) -> tuple[Figure, str]:
    """What the reader's stopwatch says of a job on a device, with and without waiting for it."""
    launch, wait, job = _a_job()
    without = _median(bench(launch, lambda: None, time.perf_counter, 1, 5))
    wait()
    waited = _median(bench(launch, wait, time.perf_counter, 1, 5))
    figure, axes = canvas(width=8.4, height=2.7)
    names = ("sync does nothing", "sync waits")
    axes.barh(names, [1e3 * without, 1e3 * waited], color=COLOURS[0], height=0.5)
    for row, took in enumerate((without, waited)):
        axes.text(1e3 * took, row, f" {_duration(took)}", va="center")
    axes.set(
        xlim=(0, 1.25e3 * max(waited, without)), ylim=(1.5, -0.5), xlabel="median that bench gives, in milliseconds"
    )
    axes.set_title(job)
    axes.grid(False, axis="y")
    return figure, (
        f"Two bars, the median that bench gives for {job}. With a sync that does nothing: {_duration(without)}. With one that waits: "
        f"{_duration(waited)}."
    )


def _a_job() -> tuple[Callable[[], object], Callable[[], None], str]:
    """Something to launch, how to wait for it, and what it is: on the GPU where there is one."""
    if torch.cuda.is_available():
        A = torch.randn(8192, 8192, device="cuda")
        return (lambda: A @ A), synchronize, "a product of two 8192 × 8192 matrices on the GPU"
    device = Device()
    return partial(device.launch, 0.005), device.synchronize, "a job of 5 ms on a make-believe device"


def _median(report: dict[str, object]) -> float:
    return float(report["median"])  # type: ignore[arg-type]


def _duration(took: float) -> str:
    """Seconds in words that are easy to read."""
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if took >= unit:
            return f"{took / unit:.3g} {name}"
    return f"{took / 1e-9:.3g} ns"


# ------------------------------------------------------------------------------------------------------------- six ways


@dataclass(frozen=True)
class Row:
    """One machine and number type in a picture: measured now, or recorded at another time."""

    where: str
    race: Race
    recorded: bool

    def style(self, name: str) -> dict[str, Any]:
        row = NAMES.index(name)
        style = {"color": COLOURS[row], "marker": MARKERS[row], "linestyle": DASHES[row]}
        return style | RECORDED if self.recorded else style


@cache
def _race(bench: Bench) -> Race:
    """One measurement for all pictures that are given the same stopwatch."""
    return races.six_ways(timed=partial(_stopped, bench))


def _stopped(bench: Bench, run: Callable[[], object]) -> float:
    """Seconds that the reader's stopwatch gives: a short run is repeated often, a long one two or three times."""
    start = time.perf_counter()
    run()
    synchronize()
    once = time.perf_counter() - start
    fewest = 3 if once < races.LONGEST else 2
    return _median(bench(run, synchronize, time.perf_counter, 0, max(fewest, min(50, int(0.02 / once)))))


def _gpu_run() -> Run | None:
    """The latest recorded run on a GPU, where this machine has none."""
    runs = [] if torch.cuda.is_available() else [run for run in recording.read() if run.gpu]
    return max(runs, key=lambda run: run.date, default=None)


def _rows(bench: Bench) -> list[Row]:
    """What is measured here, then what is recorded of a GPU, a row for each number type."""
    here = _race(bench)
    threads = "" if torch.cuda.is_available() else f", {here.threads} thread{'s' * (here.threads > 1)}"
    rows = [Row(f"this machine ({_this_machine()}{threads}), float32", here, recorded=False)]
    gpu = _gpu_run()
    if gpu:
        rows += [Row(f"recorded: {gpu}, {dtype}", ways[FORWARD], recorded=True) for dtype, ways in gpu.block.items()]
    return rows


def _this_machine() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"


def _beside(recorded: object) -> str:
    """What stands beside the measurements of this machine."""
    return "" if recorded or torch.cuda.is_available() else "Beside it: no GPU run recorded."


@partial(uncovered, what="The compiler is called for a race that is timed")
def compiled(guess: str | None, bench: Bench, block_flops: BlockFlops) -> racers.Compiled:
    """Call the compiler, which takes its time, once there is all that the race needs."""
    return racers.compiled()


@picture
def six_ways(guess: str | None, bench: Bench, block_flops: BlockFlops) -> tuple[Figure, str]:
    """Time and useful FLOPs per second against n, for the six, on the reader's machine and on a recorded GPU."""
    rows = _rows(bench)
    figure, panels = canvas(len(rows), 2, width=9.9, height=1.7 + 3.9 * len(rows), squeeze=False)
    for (left, right), row in zip(panels, rows, strict=True):
        reached = 1e-9 * row.race.roofs.flops
        for name, curve in row.race.curves.items():
            left.loglog(curve.lengths, 1e3 * np.array(curve.seconds), **row.style(name))
            right.loglog(curve.lengths, 1e-9 * _rates(block_flops, row.race, name), **row.style(name))
        right.axhline(reached, color="black", linewidth=1.2, linestyle="--")
        beside = {"va": "bottom", "ha": "right", "fontsize": 10.5, "transform": right.get_yaxis_transform()}
        right.text(0.99, 1.1 * reached, f"one large product: {_rate(row.race.roofs.flops)}", **beside)
        left.set(ylabel="milliseconds", xlabel="tokens n", title="time of one call")
        right.set(ylabel="GFLOP/s", xlabel="tokens n", title="useful work per second")
        left.set_title(f"{fill(row.where, LINE)}\n", loc="left", fontsize=12, weight="bold")
        _round_numbers(left)
        _round_numbers(right, 2 * reached)
    here = rows[0].race
    b, d, h, f = here.sizes
    notes = (
        f"b = {b}, d = {d}, h = {h}, f = {f}. A curve ends where the next point would probably take over {races.LONGEST:g} s.",
        "A recorded one is longer: it ends where patience or memory did." if rows[1:] else "",
        _gain(here),
        " ".join((_absent(here), _beside(rows[1:]))).strip(),
        _verdict(guess, here),
    )
    figure.legend(handles=_key(rows), loc="outside upper center", ncols=3, fontsize=10.5, handlelength=3.2)
    figure.supxlabel("\n".join(note for note in notes if note), fontsize=11.5)
    return figure, (
        f"Two charts for each machine against the number of tokens n, on logarithmic axes: the time of one call, and the useful FLOPs per second "
        f"with a dashed line at what one large product reaches. {' '.join(_told_row(row, block_flops) for row in rows)} {notes[2]} {notes[3]} {notes[4]}"
    )


def _told_row(row: Row, block_flops: BlockFlops) -> str:
    said = [
        f"{name} ends at n = {curve.lengths[-1]} with {_duration(curve.seconds[-1])} and {_rate(_rates(block_flops, row.race, name)[-1])}"
        for name, curve in row.race.curves.items()
        if curve.lengths
    ]
    return f"On {row.where}: {'; '.join(said)}; one large product reaches {_rate(row.race.roofs.flops)}."


def _rates(block_flops: BlockFlops, race: Race, name: str) -> Float[np.ndarray, "lengths"]:
    curve = race.curves[name]
    return np.array([_work(block_flops, race, n) for n in curve.lengths]) / np.array(curve.seconds)


def _work(block_flops: BlockFlops, race: Race, n: int) -> int:
    b, d, h, f = race.sizes
    return sum(block_flops(b, n, d, h, f).values())


def _rate(amount: float, unit: str = "FLOP/s") -> str:
    size, letter = next(
        (size, letter) for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (0.0, "")) if amount >= size
    )
    return f"{amount / (size or 1.0):.3g} {letter}{unit}"


def _absent(race: Race) -> str:
    """Why a curve is missing, if one is."""
    return " ".join(f"{name} is absent: {c.ended}." for name, c in race.curves.items() if not c.lengths)


def _verdict(guess: object, race: Race) -> str:
    """On the guess which is fastest of those without a loop over tokens, at the largest n that all of them reached."""
    rivals = {name: curve for name, curve in race.curves.items() if curve.lengths and name not in BY_TOKEN}
    n = min(curve.lengths[-1] for curve in rivals.values())
    took = {name: curve.seconds[curve.lengths.index(n)] for name, curve in rivals.items()}
    return f"At n = {n}: {told(guess, least({x: min(took[y] for y in took if LETTERS[y] == x) for x in 'abc'}))}"


def _gain(race: Race) -> str:
    """How many times as fast the batch is as the literal loop, at a length that both reached."""
    loop, batch = race.curves["literal loop"], race.curves["batched"]
    n = max(set(loop.lengths) & set(batch.lengths) & set(range(COUNTED_AT + 1)), default=0)
    if not n:
        return ""
    times = loop.seconds[loop.lengths.index(n)] / batch.seconds[batch.lengths.index(n)]
    return f"At n = {n} batched is {times:.0f} times as fast as the literal loop."


def _key(rows: list[Row]) -> list[Line2D]:
    present = [name for name in NAMES if any(row.race.curves[name].lengths for row in rows)]
    return [forms.line([], [], label=name, **rows[0].style(name)) for name in present]


def _round_numbers(axes: Axes, *others: float) -> None:
    """Logarithmic axes with ticks at every second power of two, or every fourth where they are many, and at powers of ten, to hold all lines and others."""
    lines = [line for line in axes.get_lines() if line.get_transform() == axes.transData]
    points = np.concatenate([np.column_stack(line.get_data()) for line in lines])
    ticks = 4 ** np.arange(2, 11)
    ticks = ticks[(ticks >= points[:, 0].min()) & (ticks <= points[:, 0].max())]
    ticks = ticks if len(ticks) < 6 else ticks[1::2]
    axes.set_xticks(ticks, [str(n) for n in ticks], fontsize=10.5)
    powers_of_ten(axes, np.array([*points[:, 1], *others]))
    axes.minorticks_off()


# ------------------------------------------------------------------------------------------------------- the roofline


@picture
def roof_explained() -> tuple[Figure, str]:
    """A first roofline, of a machine with round numbers, and one computation under it."""
    roofs = Roofs(flops=100e9, bytes=10e9)
    figure, axes = canvas(width=9.0, height=4.4)
    _draw_roofs(axes, roofs, 0.03, 600)
    for x, marker, colour, words, place in (
        (1 / 12, MARKERS[1], COLOURS[1], "the sum: 1/12 FLOP for a byte,\nat most 0.83 GFLOP/s", (0.11, 0.75)),
        (500 / 3, MARKERS[0], COLOURS[0], "the product:\n167 FLOPs for a byte", (167, 60)),
    ):
        axes.plot([x, x], [0.1, 1e-9 * roofs.over(x)], ":", color=colour, linewidth=1.6)
        axes.plot(x, 1e-9 * roofs.over(x), marker, color=colour, markersize=9)
        axes.text(*place, words, va="top", ha="left" if x < 1 else "center", backgroundcolor=PAPER)
    axes.plot([10, 10], [0.1, 100], "--", color="black", linewidth=1)
    axes.text(9, 0.13, "ridge: 100 / 10 =\n10 FLOPs for a byte", va="bottom", ha="right")
    axes.text(90, 120, "compute roof: 100 GFLOP/s", ha="center", va="bottom")
    axes.text(2.0, 30, "memory roof: 10 GB/s  ", ha="right", va="bottom")
    axes.text(1.2, 1.6, "waits for memory", fontsize=11, style="italic")
    axes.text(70, 3, "waits for\narithmetic", fontsize=11, style="italic", ha="center")
    axes.set(xlim=(0.03, 600), ylim=(0.1, 300), xlabel="FLOPs for each byte moved", ylabel="GFLOP/s")
    axes.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    axes.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    axes.minorticks_off()
    return figure, (
        "A roofline on logarithmic axes: FLOP/s against FLOPs for each byte moved. From the left a sloping line, the memory roof of 10 GB/s, "
        "rises to the ridge at 10 FLOPs for each byte; from there a level line goes on, the compute roof at 100 GFLOP/s. The sum of two matrices, at "
        "1/12 FLOP for each byte, stands under the slope, at most at 0.83 GFLOP/s; the product, at 167, under the level line. Left of the ridge a "
        "computation waits for memory, right of it for arithmetic."
    )


def _draw_roofs(axes: Axes, roofs: Roofs, low: float, high: float) -> None:
    ends = np.array([low, roofs.ridge, high])
    axes.loglog(ends, [1e-9 * roofs.over(end) for end in ends], "-", color="black", linewidth=2.4)


ABOVE: dict[str, Any] = {"xytext": (-4, 5), "va": "bottom", "ha": "right"}
BELOW: dict[str, Any] = {"xytext": (6, -4), "va": "top", "ha": "left"}


@picture
def roofline(bench: Bench, block_flops: BlockFlops) -> tuple[Figure, str]:
    """Where the six stand under the roofs of the reader's machine, and of a recorded GPU; at the right, closer."""
    rows = _rows(bench)
    figure, panels = canvas(len(rows), 2, width=9.9, height=1.9 + 3.9 * len(rows), squeeze=False)
    sentences = []
    above = False
    for (whole, close), row in zip(panels, rows, strict=True):
        roofs, points = row.race.roofs, _under_the_roof(row.race, block_flops)
        near = {name: places for name, places in points.items() if name not in BY_TOKEN}
        for axes, shown in ((whole, points), (close, near)):
            xs, ys = np.array([place[:2] for places in shown.values() for place in places]).T
            above |= any(y > roofs.over(x) for x, y in zip(xs, ys, strict=True))
            low, high = min(*xs, roofs.ridge) / 2, max(*xs, roofs.ridge) * 2
            _draw_roofs(axes, roofs, low, high)
            for name, places in shown.items():
                _draw_places(axes, places, row.style(name))
            lowest = min(*ys, roofs.over(low))
            axes.set(xlim=(low, high), ylim=(1e-9 * lowest / 1.5, 2e-9 * max(*ys, roofs.flops)))
            _few_ticks(axes)
            axes.set(xlabel="useful FLOPs for each byte moved", ylabel="useful GFLOP/s")
        ends = {name: places[-1] for name, places in near.items()}
        for x, y, n in ends.values():
            under = any(0.6 < x / other < 1.6 and y < above for other, above, _ in ends.values())
            beside = {"textcoords": "offset points", "fontsize": 10.5} | (BELOW if under else ABOVE)
            close.annotate(f"n = {n}", (x, 1e-9 * y), **beside)
        measured = f"{_rate(roofs.flops)} in a large product\n{_rate(roofs.bytes, 'B/s')} in a large copy"
        whole.text(0.02, 0.97, measured, transform=whole.transAxes, va="top", fontsize=10.5)
        whole.set_title(f"{fill(row.where, LINE)}\n", loc="left", fontsize=12, weight="bold")
        close.set_title("closer, without the loops", fontsize=12)
        stands = [
            f"{name} at " + " and ".join(f"{x:.2g} FLOPs for each byte and {_rate(y)} at n = {n}" for x, y, n in places)
            for name, places in points.items()
        ]
        sentences.append(f"On {row.where}: {'; '.join(stands)}; the ridge at {roofs.ridge:.3g} FLOPs for each byte.")
    here = rows[0].race
    notes = (
        f"Small markers: n = {races.COUNTED_AT}; large ones, at the right with their n: the largest. (Loops are counted at n = {races.COUNTED_AT} alone.)",
        "Bytes as if there were no cache. Inside what is compiled nothing can be counted: it stands where batched does."
        if here.curves[COMPILED].lengths
        else "Bytes as if there were no cache.",
        "Above a roof: its numbers were in a cache, or the machine was busier when the roof was measured."
        if above
        else "",
        _absent(here),
    )
    figure.legend(handles=_key(rows), loc="outside upper center", ncols=3, fontsize=10.5, handlelength=3.2)
    figure.supxlabel("\n".join(note for note in notes if note), fontsize=11)
    return figure, (
        f"A roofline for each machine, on logarithmic axes, and a closer view of it without the loops: useful FLOP/s against useful FLOPs for each "
        f"byte moved. For each way a point or two. {' '.join(sentences)} {' '.join(note for note in notes if note)}"
    )


def _draw_places(axes: Axes, places: list[tuple[float, float, int]], style: dict[str, Any]) -> None:
    """Where one of the six stands at its lengths, the last of them large."""
    xs, ys = [x for x, _, _ in places], [1e-9 * y for _, y, _ in places]
    axes.plot(xs, ys, **style, markersize=5, linewidth=1)
    axes.plot(xs[-1], ys[-1], **style, markersize=11)


def _few_ticks(axes: Axes) -> None:
    """1, 2, 5, 10, ... within the limits of logarithmic axes; only the powers of ten where these would be many."""
    for limits, put in ((axes.get_xlim(), axes.set_xticks), (axes.get_ylim(), axes.set_yticks)):
        low, high = limits
        steps = (1, 2, 5) if high / low < 100 else (1,)
        ticks = [tick for power in range(-3, 7) for step in steps if low <= (tick := step * 10.0**power) <= high]
        put(ticks, [np.format_float_positional(tick, trim="-") for tick in ticks])
    axes.minorticks_off()


def _under_the_roof(race: Race, block_flops: BlockFlops) -> dict[str, list[tuple[float, float, int]]]:
    """FLOPs for each byte, FLOP/s and n, of each of the six, where bytes were counted."""
    points = {}
    for name, curve in race.curves.items():
        took = dict(zip(curve.lengths, curve.seconds, strict=True))
        work = {n: _work(block_flops, race, n) for n in curve.moved}
        places = [(work[n] / moved, work[n] / took[n], n) for n, moved in sorted(curve.moved.items())]
        if places:
            points[name] = places
    return points


# ------------------------------------------------------------------------------------------ recurrent against parallel

LOOKS: dict[str, dict[str, Any]] = {
    "RNN": {"color": COLOURS[1], "marker": MARKERS[1]},
    "block": {"color": COLOURS[0], "marker": MARKERS[0]},
}
CLAIMS = {"a billion words for a million": 1000, "a factor of 100": 100}


@cache
def _recurrent() -> dict[str, Curve]:
    return races.recurrent(timed=QUICKLY)


@picture
def recurrent(guess: str | None) -> tuple[Figure, str]:
    """An RNN and a transformer block of the same width: time, time per token, their ratio, and steps in a row."""
    series = [("this machine", _recurrent(), False)]
    gpu = _gpu_run()
    if gpu:
        series += [(f"recorded, {dtype}", curves, True) for dtype, curves in gpu.recurrent.items()]
    figure, ((time_of, each), (ratio, steps)) = canvas(2, 2, width=9.9, height=8.4)
    sentences, found = [], []
    for dashes, (where, curves, recorded) in zip(DASHES, series, strict=False):
        drawn: dict[str, Any] = {"linestyle": dashes} | ({"markerfacecolor": PAPER} if recorded else {})
        for name, curve in curves.items():
            took = np.array(curve.seconds)
            time_of.loglog(curve.lengths, 1e3 * took, **LOOKS[name], **drawn, label=f"{name}, {where}")
            each.loglog(curve.lengths, 1e6 * took / curve.lengths, **LOOKS[name], **drawn)
        shared = min(len(curve.lengths) for curve in curves.values())
        lengths = curves["RNN"].lengths[:shared]
        times = np.divide(curves["RNN"].seconds[:shared], curves["block"].seconds[:shared])
        ratio.loglog(lengths, times, color=COLOURS[2], marker=MARKERS[2], **drawn)
        found.append(float(times[-1]))
        sentences.append(f"{where}: {', '.join(f'{x:.2g} at n = {n}' for n, x in zip(lengths, times, strict=True))}")
    lengths = _recurrent()["RNN"].lengths
    steps.loglog(lengths, lengths, **LOOKS["RNN"])
    steps.loglog(lengths, [1] * len(lengths), **LOOKS["block"])
    for axes in (time_of, each, ratio, steps):
        _round_numbers(axes)
        axes.set_xlabel("tokens n")
    steps.set_ylim(bottom=0.5)
    steps.text(0.6, 0.8, "RNN: n", ha="right", transform=steps.transAxes)
    steps.text(0.98, 0.14, "block: 1", ha="right", transform=steps.transAxes)
    ratio.set_ylim(0.1, 5000)
    ratio.set_yticks([0.1, 1, 10, 100, 1000], ["0.1", "1", "10", "100", "1000"])
    beside: dict[str, Any] = {"ha": "right", "va": "bottom", "fontsize": 10.5, "transform": ratio.get_yaxis_transform()}
    for claim, factor in {**CLAIMS, "equal": 1}.items():
        ratio.axhline(factor, color="black", linestyle="--" if claim in CLAIMS else ":", linewidth=1.2)
        ratio.text(0.99, 1.12 * factor, claim, **beside)
    time_of.set(title="time of one call", ylabel="milliseconds")
    each.set(title="time divided by n", ylabel="microseconds for each token")
    ratio.set(title="how many times as long the RNN takes")
    steps.set(title="steps that must wait for each other")
    b, d, _, f = racers.SIZES
    verdict = told(guess, between(found[0], (1, 30, 300), "dcba"))
    notes = (
        f"b = {b}, d = {d}, f = {f}, forward and backward; this machine: {_this_machine()}, float32.",
        f"Recorded: {gpu}." if gpu else "",
        verdict,
    )
    figure.legend(
        *time_of.get_legend_handles_labels(),
        loc="outside upper center",
        ncols=max(2, len(series)),
        fontsize=10.5,
        handlelength=3.2,
    )
    figure.supxlabel("\n".join(note for note in notes if note), fontsize=11.5)
    return figure, (
        f"Four charts against the number of tokens, on logarithmic axes: the time of one call of an RNN and of a transformer block, the time for each "
        f"token, how many times as long the RNN takes, and the steps that must wait for each other, n for the RNN and 1 for the block. Dashed lines mark "
        f"the claims of 1000 and of 100 times. Measured: {'; '.join(sentences)}. {notes[0]} {notes[1]} {verdict}"
    )


# ------------------------------------------------------------------------------------------------------------- decoding


@picture
def decoding(guess: str | None, attend_cached: AttendCached) -> tuple[Figure, str]:
    """One more token without a cache and with the reader's, and all tokens at once; then what n tokens cost in all."""
    series = [("", races.decoding(attend_cached, timed=QUICKLY, longest=0.1), False)]
    gpu = _gpu_run()
    if gpu:
        series.append((", recorded", gpu.decoding, True))
    figure, (left, right) = canvas(1, 2, width=9.9, height=5.2)
    sentences = []
    for where, curves, recorded in series:
        lengths, whole, step = _decoding(curves)
        each = {"without cache": whole, "with cache": step, "all at once, for each token": whole / lengths}
        total = {
            "without cache": _summed(lengths, whole),
            "with cache": _summed(lengths, step),
            "all at once, for each token": whole,
        }
        for row, name in enumerate(each):
            style: dict[str, Any] = {"color": COLOURS[row], "marker": MARKERS[row], "linestyle": DASHES[row]}
            style |= RECORDED if recorded else {}
            left.loglog(lengths, 1e6 * each[name], **style, label=name + where)
            right.loglog(lengths, 1e3 * total[name], **style)
            sentences.append(
                f"{name}{where} {_duration(each[name][-1])}, {_duration(total[name][-1])} in all, at n = {lengths[-1]}"
            )
        if not recorded:
            verdict = told(
                guess, least({letter: times[-1] for letter, times in zip("abc", each.values(), strict=True)})
            )
    left.set(title="time for one token, at length n", xlabel="tokens n", ylabel="microseconds")
    right.set(title="for n tokens in all, added up", xlabel="tokens n", ylabel="milliseconds")
    _round_numbers(left)
    _round_numbers(right)
    notes = (
        f"One head, d = {racers.SIZES.d}, k = v = {racers.SIZES.d // racers.SIZES.h}; {_this_machine()}.\n{verdict}",
        f"Recorded: {gpu}.\nThere the keeping of keys and values is not counted." if gpu else "",
    )
    figure.legend(
        *left.get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=10.5, handlelength=3.2
    )
    figure.supxlabel("\n".join(note for note in notes if note), fontsize=11.5)
    return figure, (
        f"Two charts against the number of tokens n, on logarithmic axes: the time for one token at length n, and for n tokens in all, without a cache, "
        f"with a cache, and all at once. {'; '.join(sentences)}. {notes[1]} {verdict}"
    )


def _decoding(curves: dict[str, Curve]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lengths that both reached, the time of a whole pass, the time of one step with a cache."""
    whole, step = curves["all at once"], curves["with cache"]
    count = min(len(whole.lengths), len(step.lengths))
    return np.array(whole.lengths[:count]), np.array(whole.seconds[:count]), np.array(step.seconds[:count])


def _summed(lengths: np.ndarray, each: np.ndarray) -> np.ndarray:
    """What the tokens 1 to n cost together: the costs between measured lengths lie on straight lines."""
    before = np.concatenate([[0.0], np.cumsum((each[1:] + each[:-1]) / 2 * np.diff(lengths))])
    return before + each[0] * lengths[0]


# ---------------------------------------------------------------------------------------------------------- the n² wall


@picture
def wall(b: int, h: int, k: int, itemsize: int, room: int = 80) -> tuple[Figure, str]:
    """The memory of one layer's scores against n, and what attention needs that does not keep them.

    Args:
        b: sequences in a batch.
        h: heads.
        k: width of a head.
        itemsize: bytes of one number.
        room: GiB of a GPU's memory, drawn as a line beside that of a small one.
    """
    lengths = 2 ** np.arange(8, 21)
    scores = np.array([score_bytes(b, h, int(n), itemsize) for n in lengths]) / GIB
    fused = 4 * b * h * lengths * k * itemsize / GIB
    figure, axes = canvas(width=9.0, height=4.8)
    axes.loglog(
        lengths, scores, "-", marker=MARKERS[0], color=COLOURS[0], label="scores of one layer: n² numbers for each head"
    )
    axes.loglog(lengths, fused, "--", marker=MARKERS[1], color=COLOURS[1], label="fused: queries, keys, values, output")
    fits = {}
    for size, dash in {16: ":", room: "-."}.items():
        axes.axhline(size, color="black", linewidth=1.3, linestyle=dash)
        axes.text(lengths[0], 1.1 * size, f"a GPU with {size} GiB", va="bottom", fontsize=11)
        fits[size] = int((size * GIB / score_bytes(b, h, 1, itemsize)) ** 0.5)
    there = score_bytes(b, h, 32768, itemsize) / GIB
    axes.annotate(f"n = 32768: {there:g} GiB", (32768, there), (12, -4), textcoords="offset points", va="top")
    ticks = 4 ** np.arange(4, 11)
    axes.set_xticks(ticks, [str(n) for n in ticks])
    memory = 32.0 ** np.arange(-3, 6)
    names = ("32 KiB", "1 MiB", "32 MiB", "1 GiB", "32 GiB", "1 TiB", "32 TiB", "1 PiB", "32 PiB")
    axes.set_yticks(memory, names)
    low = min(scores[0], fused[0])
    axes.set(ylim=(low / 2, 4 * scores[-1]), xlabel="tokens n", ylabel="memory")
    axes.minorticks_off()
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, 0.98))
    figure.supxlabel(
        f"b = {b}, h = {h}, k = {k}, {itemsize} bytes a number. The scores alone fill {' and '.join(f'{size} GiB at n = {n}' for size, n in fits.items())}.",
        fontsize=11.5,
    )
    return figure, (
        f"Memory against the number of tokens, 256 to 1048576, on logarithmic axes, for b = {b}, h = {h}, k = {k} and {itemsize} bytes a number. The "
        f"scores of one layer rise with the square of n and cross {' and '.join(f'{size} GiB at n = {n}' for size, n in fits.items())}; at n = 32768 they take "
        f"{there:g} GiB. Fused attention, which does not keep them, rises with n and takes "
        f"{4 * b * h * 32768 * k * itemsize / GIB:g} GiB there."
    )
