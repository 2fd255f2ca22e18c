"""Pictures of notebook 09: what lies on which device, what crosses between them, and what happens when it goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from course.figures import COLOURS, FRAME, MARKERS, PALE, PAPER, CannotDraw, canvas, forms, from_processes, picture
from course.figures.grids import grid
from course.figures.verdicts import told
from course.parameters import Params, shapes
from course.trial import ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = np.ndarray
Shards = Callable[[Array, int], list[Array]]
AllReduce = Callable[[list[Array]], Array]
Split = Callable[..., Array]  # mlp_tp or mha_tp

WASH = ("#DCEBF5", "#FBE6D6", "#D9F0E6", "#F5E3EE")  # one for each device; its number stands there as well


# ------------------------------------------------------------------------------------------------- one product


@picture
def two_cuts(
    column_shards: Shards, row_shards: Shards, X: Float[Array, "n d"], W: Float[Array, "d f"]
) -> tuple[Figure, str]:
    """One product on two devices, its weight cut by columns and cut by rows."""
    p = 2
    columns, rows, tokens = column_shards(W, p), row_shards(W, p), column_shards(X, p)
    (n, d), f = X.shape, W.shape[1]
    pieces = [X @ own for own in columns]
    parts = [x @ own for x, own in zip(tokens, rows, strict=True)]
    Y = np.asarray(sum(parts))
    every = np.concatenate([table.ravel() for table in (X, W, Y, *parts)])
    limits = float(every.min()), float(every.max())
    figure, panels = canvas(6, 4, width=9.4, height=8.4, width_ratios=(d, f, f, f), height_ratios=(1, d, d, 1, d, d))
    for axes in panels.flat:
        axes.set_axis_off()
    for line, heading in ((0, "W cut by columns"), (3, "W cut by rows, and X by columns to go with it")):
        first = panels[line, 0]
        first.text(-0.2, 0.2, heading, fontsize=14, weight="bold", transform=first.transAxes, in_layout=False)

    def draw(
        line: int, column: int, table: Array, title: str, kept: tuple[slice, slice] = (slice(None), slice(None))
    ) -> None:
        seen = np.full_like(table, np.nan)
        seen[kept] = table[kept]
        axes = panels[line, column]
        grid(axes, seen, title, limits=limits, digits=3)
        height, width = table.shape
        axes.add_patch(
            forms.rectangle((-0.5, -0.5), width, height, fill=False, linestyle=":", edgecolor="0.4", clip_on=False)
        )
        if column:
            axes.text(-0.16, 0.5, "@="[column - 1], fontsize=15, transform=axes.transAxes, va="center", ha="center")

    whole = slice(None)
    for r in range(p):
        own, left = slice(r * f // p, (r + 1) * f // p), slice(r * d // p, (r + 1) * d // p)
        draw(1 + r, 0, X, "X, all")
        draw(1 + r, 1, W, f"W: columns {_range(r, f // p)}", (whole, own))
        draw(1 + r, 2, Y, f"piece: [{n}, {f // p}]", (whole, own))
        draw(4 + r, 0, X, f"X: columns {_range(r, d // p)}", (whole, left))
        draw(4 + r, 1, W, f"W: rows {_range(r, d // p)}", (left, whole))
        draw(4 + r, 2, parts[r], f"part: [{n}, {f}]")
        panels[1 + r, 3].remove()
        panels[4 + r, 3].remove()
        for line in (1 + r, 4 + r):
            axes = panels[line, 0]
            axes.text(-0.2, 0.5, f"device {r}", transform=axes.transAxes, rotation=90, va="center", ha="center")
    places = panels[0, 3].get_gridspec()
    for line, title in ((1, "side by side: Y"), (4, "added up: Y")):
        between = figure.add_subplot(places[line : line + p, 3])
        between.set_axis_off()
        grid(between, Y, title, limits=limits, digits=3)
    return figure, (
        f"Four rows of grids, two devices in two ways. By columns: device 0 multiplies all of X with columns {_range(0, f // p)} of W and gets "
        f"{_plain(pieces[0])}, device 1 with the others and gets {_plain(pieces[1])}; side by side they are Y, {_plain(Y)}. By rows: "
        f"device 0 multiplies the left half of X with the upper half of W and gets {_plain(parts[0])}, device 1 the other halves and gets "
        f"{_plain(parts[1])}; their sum is the same Y."
    )


def _range(r: int, width: int) -> str:
    first, last = r * width, (r + 1) * width - 1
    return str(first) if first == last else f"{first} to {last}" if last - first > 1 else f"{first}, {last}"


def _plain(numbers: Array) -> str:
    return "; ".join(", ".join(f"{number + 0.0:.3g}" for number in row) for row in np.atleast_2d(numbers))


# ------------------------------------------------------------------------------------------------ two products


@dataclass(frozen=True)
class Way:
    """A way to cut the two products of an FFN, told step by step."""

    first: str
    has: str
    before_act: str
    second: str
    after: str
    collectives: int


WAYS = (
    Way("columns", "whole hidden features,\n[n, f/p]", "nothing", "rows", "add up [n, d]", 1),
    Way(
        "columns",
        "whole hidden features,\n[n, f/p]",
        "nothing",
        "columns",
        "gather [n, f] before it,\nand [n, d] after it",
        2,
    ),
    Way("rows", "a part of every\nhidden feature, [n, f]", "add up [n, f]", "rows", "add up [n, d]", 2),
    Way("rows", "a part of every\nhidden feature, [n, f]", "add up [n, f]", "columns", "gather [n, d]", 2),
)


@picture
def four_ways(guess: str | None) -> tuple[Figure, str]:
    """What has to be exchanged when the two products of an FFN are cut in each of four ways."""
    headings = (
        "",
        "W1 by",
        "a device then has",
        "to exchange\nbefore act",
        "W2 by",
        "to exchange\nfor W2",
        "collectives",
    )
    lefts = (0.0, 0.5, 1.7, 4.3, 6.2, 7.5, 10.2)
    figure, axes = canvas(width=10.4, height=4.2)
    axes.set(xlim=(-0.2, 11.5), ylim=(len(WAYS) + 0.1, -0.9))
    axes.set_axis_off()
    for left, heading in zip(lefts, headings, strict=True):
        axes.text(left, -0.35, heading, va="center", fontsize=11.5, weight="bold")
    for row, way in enumerate(WAYS):
        y = row + 0.45
        if way.collectives == 1:
            axes.add_patch(forms.rectangle((-0.1, row), 11.4, 0.9, facecolor=PALE, edgecolor=FRAME, linewidth=3))
        cells = ("abcd"[row], way.first, way.has, way.before_act, way.second, way.after, str(way.collectives))
        for left, cell in zip(lefts, cells, strict=True):
            axes.text(left + (0.1 if left == 0 else 0), y, cell, va="center", fontsize=11.5)
    sizes = "In GPT-2 medium d = 1024 and f = 4096: [n, f] is four times as large as [n, d]."
    verdict = told(guess, "a")
    figure.supxlabel(f"{sizes}\n{verdict}", fontsize=12)
    lines = "; ".join(
        f"{'abcd'[row]}, W1 by {way.first} and W2 by {way.second}: before the activation {way.before_act}, for W2 {way.after}, "
        f"{way.collectives} in all".replace("\n", " ")
        for row, way in enumerate(WAYS)
    )
    return (
        figure,
        f"Table of four ways to cut two products, with what has to be exchanged. {lines}. Way a is framed. {sizes} {verdict}",
    )


@picture
def exhibit(guess: str | None, column_shards: Shards, row_shards: Shards) -> tuple[Figure, str]:
    """The error of a model with a fault in it, on more and more devices, and how large what it should give is."""
    rng = np.random.default_rng(9)
    n, d, f = 5, 6, 24
    X, (W1, b1, W2, b2) = rng.standard_normal((n, d)), _layers(rng, d, f)
    counts = (1, 2, 3, 4, 6, 8)

    def shipped(p: int) -> Array:
        layers = zip(column_shards(W1, p), np.split(b1, p), row_shards(W2, p), strict=True)
        return np.asarray(sum(_relu(X @ first + bias) @ second + b2 for first, bias, second in layers))

    wanted = _relu(X @ W1 + b1) @ W2 + b2
    largest = [float(np.abs(shipped(p) - wanted).max()) for p in counts]
    size = float((wanted**2).mean() ** 0.5)
    figure, axes = canvas(width=7.6, height=3.8)
    axes.plot(counts, largest, marker=MARKERS[1], color=COLOURS[1], label="largest error of the model")
    axes.axhline(size, linestyle="--", color=COLOURS[0], label="root mean square of the right output")
    axes.set(xlabel="devices", ylabel="size", xticks=counts, ylim=(-0.3, max(size, largest[-1]) * 1.4))
    axes.legend(loc="upper left")
    verdict = told(guess, "b")
    figure.supxlabel(verdict, fontsize=12)
    points = "; ".join(f"{p}: {error:.3g}" for p, error in zip(counts, largest, strict=True))
    return figure, (
        f"Line chart of the largest error of a model against the number of devices. {points}. The points lie on a straight line. "
        f"A dashed line marks the root mean square of the right output, {size:.3g}. {verdict}"
    )


def _layers(rng: np.random.Generator, d: int, f: int) -> tuple[Array, Array, Array, Array]:
    return (
        rng.standard_normal((d, f)),
        rng.standard_normal(f),
        rng.standard_normal((f, d)),
        rng.standard_normal(d),
    )


def _relu(x: Array) -> Array:
    return np.asarray(np.maximum(x, 0))


# ------------------------------------------------------------------------------------------------------ the wire


@picture
def ring(p: int = 3) -> tuple[Figure, str]:
    """An all-reduce in a ring, step by step: who has added up what of which chunk."""
    letters = "ABCDEF"
    if not 2 <= p <= 4:
        raise CannotDraw("This picture has room for 2 to 4 devices.")
    has = [[letters[r] for _ in range(p)] for r in range(p)]  # has[r][c]: whose numbers are in chunk c on device r
    stages: list[tuple[str, list[list[str]], set[tuple[int, int]]]] = [("start", [row[:] for row in has], set())]
    for step in range(2 * (p - 1)):
        moved = set()
        before = [row[:] for row in has]
        for r in range(p):
            chunk, to = (r - step) % p, (r + 1) % p
            if step < p - 1:
                has[to][chunk] = "".join(sorted(before[to][chunk] + before[r][chunk]))
            else:
                chunk = (r + 1 - (step - (p - 1))) % p
                has[to][chunk] = before[r][chunk]
            moved.add((to, chunk))
        stages.append((f"step {step + 1}: {'add' if step < p - 1 else 'hand on'}", [row[:] for row in has], moved))
    rows = 1 if p < 3 else 2
    columns = -(-len(stages) // rows)
    figure, grid = canvas(
        rows,
        columns,
        width=2.3 * columns,
        height=rows * (1.0 + 0.55 * p) if rows > 1 else 1.2 + 0.62 * p,
        squeeze=False,
    )
    panels = list(grid.flat)
    for empty in panels[len(stages) :]:
        empty.set_axis_off()
    for axes, (title, table, arrived) in zip(panels, stages, strict=False):
        axes.set(xlim=(-0.03, p + 0.03), ylim=(p + 0.03, -0.35), aspect="equal", title=title)
        axes.set_xticks(np.arange(p) + 0.5, map(str, range(p)))
        axes.set_yticks(np.arange(p) + 0.5, [f"{r} ({letters[r]})" if axes is panels[0] else str(r) for r in range(p)])
        axes.tick_params(length=0)
        axes.grid(False)
        axes.spines[:].set_visible(False)
        axes.set_xlabel("chunk")
        for r in range(p):
            for c in range(p):
                done = len(table[r][c]) == p
                axes.add_patch(
                    forms.rectangle((c, r), 1, 1, facecolor=PALE if done else PAPER, edgecolor="0.5", linewidth=1)
                )
                text = "+".join(table[r][c]) if p < 4 else table[r][c]
                axes.text(c + 0.5, r + 0.5, text, ha="center", va="center", fontsize=9 if p == 3 else 11)
        for r, c in arrived:
            axes.add_patch(forms.rectangle((c, r), 1, 1, fill=False, edgecolor=FRAME, linewidth=2.5, zorder=3))
            way = {"arrowstyle": "-|>", "color": "black", "linewidth": 1.5, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", (c + 0.5, r + 0.28), (c + 0.5, r - 0.28), arrowprops=way, zorder=4)
    panels[0].set_ylabel("device")
    ends = "; ".join(
        f"{title}: " + ", ".join(f"device {r} gets chunk {c} as {'+'.join(table[r][c])}" for r, c in sorted(arrived))
        for title, table, arrived in stages[1:]
    )
    return figure, (
        f"{len(stages)} small tables, one for each stage, with a row for each of {p} devices and a column for each of {p} chunks; the letters in a cell say "
        f"whose numbers are added up there, A those of device 0, and so on. What has just arrived is framed, and an arrow points to it from the device above, "
        f"or, in the first row, from the last device. {ends}."
    )


# ----------------------------------------------------------------------------------------------------- attention


@picture
def packings(guess: int | None) -> tuple[Figure, str]:
    """The columns of Wqkv in two orders, cut in the middle."""
    h, p = 4, 2
    heads = range(h)
    ours = [(letter, i) for letter in "QKV" for i in heads]
    by_head = [(letter, i) for i in heads for letter in "QKV"]
    figure, axes = canvas(width=9.6, height=4.9)
    axes.set(xlim=(-0.1, 12.1), ylim=(7.25, -0.75))
    axes.set_axis_off()
    whole = {}
    for row, (title, order, cut) in enumerate(
        (
            ("here: all queries, all keys, all values; a plain cut in the middle", ours, True),
            ("head by head: a plain cut in the middle", by_head, True),
            ("here again: for each device the columns of its heads, out of each of the three", ours, False),
        )
    ):
        y = row * 2.5
        axes.text(0, y - 0.12, title, va="bottom", fontsize=12)
        owners = {}
        for place, (letter, i) in enumerate(order):
            r = place // (len(order) // p) if cut else i // (h // p)
            owners[letter, i] = r
            axes.add_patch(forms.rectangle((place, y), 1, 0.9, facecolor=WASH[r], edgecolor="0.4", linewidth=1))
            axes.text(place + 0.5, y + 0.45, f"{letter}{i}", ha="center", va="center", fontsize=12)
            if not cut:
                axes.text(place + 0.5, y + 1.15, str(r), ha="center", va="center", fontsize=11)
        if cut:
            axes.plot([6, 6], [y - 0.08, y + 1.0], color="black", linewidth=3)
            for r in range(p):
                axes.text(3 + 6 * r, y + 1.15, f"device {r}", ha="center", va="center", fontsize=11)
        whole[title] = [
            sum(len({owners[letter, i] for letter in "QKV"}) == 1 and owners["Q", i] == r for i in heads)
            for r in range(p)
        ]
    axes.text(0, 6.6, "(under each block: the device that it goes to)", fontsize=11, va="center")
    verdict = told(guess, whole[next(iter(whole))][0])
    figure.supxlabel(verdict, fontsize=12)
    counts = "; ".join(f"{title}: device 0 has {a} heads whole, device 1 has {b}" for title, (a, b) in whole.items())
    return figure, (
        "Three strips of twelve blocks of columns: Q0 to Q3, K0 to K3 and V0 to V3 in two of them, and Q0, K0, V0, Q1 and so on in the middle one. The first two are cut in "
        f"the middle; in the third a number under each block says whose it is. {counts}. {verdict}"
    )


# ---------------------------------------------------------------------------------------------------- shard map


MODELS = {  # d, h, f, number of blocks; heads of width d / h (Radford et al., 2019; Brown et al., 2020)
    "GPT-2 medium": (1024, 16, 4096, 24),
    "GPT-2 XL": (1600, 25, 6400, 48),
    "GPT-3": (12288, 96, 49152, 96),
}
SHOWN = 4
WIDE = 2.1  # a device in the map


@dataclass(frozen=True)
class Piece:
    """What one device has of something.

    Attributes:
        name: what it is a piece of.
        shape: of the piece.
        of: what is dealt ("heads"), or "" where every device has it whole.
        share: how many of them each device has.
    """

    name: str
    shape: str
    of: str = ""
    share: int = 0

    def on(self, r: int) -> str:
        """What the piece of rank r is."""
        own = _range(r, self.share).replace(" to ", "–")
        return f"{self.shape}\n{f'{self.of} {own}' if self.of else 'whole'}"


@picture
def shard_map(model: str, p: int, n: int = 1024, bytes_each: int = 2) -> tuple[Figure, str]:
    """Which piece of a block lies on which device, and what crosses between them.

    Args:
        model: one of `MODELS`.
        p: devices.
        n: tokens that pass through together.
        bytes_each: the size of a number.
    """
    if model not in MODELS or p < 1:
        raise CannotDraw(f"There are {', '.join(MODELS)}, and at least one device is needed.")
    d, h, f, blocks = MODELS[model]
    if h % p or f % p:
        what = f"{h} heads" if h % p else f"{f} hidden features"
        raise CannotDraw(f"{model} on {_many(p, 'device')}: {what} cannot be dealt evenly, so this is refused.")
    few, thin, devices = h // p, f // p, _many(p, "device")
    sent = 2 * (p - 1) * d / p  # in one all-reduce, for each token
    exchange = (
        f"all-reduce of [{n}, {d}]: each device sends {sent * n:,.0f} numbers" if p > 1 else "nothing to exchange"
    )
    rows: tuple[Piece | str, ...] = (
        Piece("tokens (and mask)", f"[{n}, {d}]"),
        Piece("gain1, bias1", f"[{d}] each"),
        Piece("Wqkv", f"[{d}, {few * 3 * (d // h)}]", "heads", few),
        Piece("Wo", f"[{few * (d // h)}, {d}]", "heads", few),
        exchange,
        Piece("gain2, bias2", f"[{d}] each"),
        Piece("W1, b1", f"[{d}, {thin}], [{thin}]", "columns", thin),
        Piece("W2", f"[{thin}, {d}]", "rows", thin),
        exchange,
        Piece("b2", f"[{d}]"),
    )
    shown = range(p) if p <= SHOWN else (0, 1, None, p - 1)
    figure, axes = canvas(width=10.2, height=8.8)
    axes.set(xlim=(0, 1.75 + WIDE * len(shown)), ylim=(len(rows) + 0.1, -0.6))
    axes.set_axis_off()
    for place, r in enumerate(shown):
        name = "..." if r is None else f"device {r}"
        axes.text(1.65 + WIDE * (place + 0.5), -0.3, name, ha="center", fontsize=12.5, weight="bold")
    for y, row in enumerate(rows):
        if isinstance(row, str):
            middle = 1.65 + WIDE * len(shown) / 2
            paint, ink = ("black", "white") if p > 1 else (PAPER, "black")
            axes.add_patch(forms.rectangle((1.65, y + 0.2), WIDE * len(shown), 0.5, facecolor=paint))
            axes.text(middle, y + 0.45, row, ha="center", va="center", color=ink, fontsize=12)
            continue
        axes.text(1.5, y + 0.45, row.name, ha="right", va="center", fontsize=12)
        for place, r in enumerate(shown):
            _lay(axes, 1.75 + WIDE * place, y, row, r, WASH[place])
    dealt, copied = 4 * d * d + 2 * d * f + f, 5 * d
    whole, here = (blocks * bytes_each * count for count in (dealt + copied, dealt / p + copied))
    stay, fetched = n * 2 * sent, dealt * (p - 1) / p
    crossing = (
        f"In a ring each device sends {2 * sent:,.0f} numbers a block for each token; for {_many(n, 'token')} {_large(stay)}, {_bytes(stay * bytes_each)}.",
        f"To fetch the other devices' weights instead, it would send {_large(fetched)} numbers a block, {_bytes(fetched * bytes_each)}, however many tokens.",
    )
    sentences = (
        f"A block has {_large(dealt + copied)} weights, of which a device has {_large(dealt / p + copied)}.",
        f"All {blocks} blocks, {_many(bytes_each, 'byte')} a number: {_bytes(whole)}, on each device {_bytes(here)}.",
        *(crossing if p > 1 else ("One device sends nothing.",)),
    )
    figure.supxlabel("\n".join(sentences), fontsize=11)
    return figure, (
        f"Map of one block of {model} on {devices}, a column for each device. Whole on every device, hatched: tokens, mask, the gains and biases of the LayerNorms, and b2. "
        f"Dealt: Wqkv and Wo by heads, {few} for each device; W1 and b1 by columns and W2 by rows, {thin} for each. "
        f"{'Two black bars across all devices, after Wo and after W2, are the all-reduces.' if p > 1 else 'After Wo and after W2 there is nothing to exchange.'} "
        f"{' '.join(sentences)}"
    )


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _lay(axes: Axes, left: float, y: float, piece: Piece, r: int | None, wash: str) -> None:
    """Put a device's piece into the map; dots, where the device is not drawn."""
    middle = left + (WIDE - 0.2) / 2
    if r is None:
        axes.text(middle, y + 0.45, "...", ha="center", va="center", fontsize=14)
        return
    box = forms.rectangle((left, y + 0.05), WIDE - 0.2, 0.8, facecolor=wash, edgecolor="0.3", linewidth=1)
    backing = None
    if not piece.of:
        box.set(facecolor=PAPER, edgecolor="0.6", hatch="///")
        backing = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.5}
    axes.add_patch(box)
    axes.text(middle, y + 0.45, piece.on(r), ha="center", va="center", fontsize=10.7, bbox=backing)


def _large(count: float) -> str:
    if count < 1e5:
        return f"{count:,.0f}"
    return f"{count / 1e9:.2f} billion" if count >= 1e9 else f"{count / 1e6:.1f} million"


def _bytes(count: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


# ------------------------------------------------------------------------------------------- two real processes


@dataclass(frozen=True)
class Trial:
    """Something that p processes are made to compute.

    Attributes:
        name: what is told of it.
        call: what one rank computes, given its rank and an all-reduce of its own.
        wanted: what should come out.
        signs: what the error may turn out to be, and how to see it in the results of all ranks.
    """

    name: str
    call: Callable[[int, AllReduce], Array]
    wanted: Array
    signs: dict[str, Callable[[list[Array]], bool]]
    right: bool = False


@dataclass(frozen=True)
class Outcome:
    """What became of a trial: the result of every rank, and what was added up across them."""

    results: list[Array]
    collectives: int
    numbers: int


def _across(rank: int, counted: list[int]) -> AllReduce:
    """The all-reduce of one real rank: it brings the part that is its own, and gets the sum."""

    def all_reduce(parts: list[Array]) -> Array:
        import torch

        part = torch.tensor(np.asarray(parts[rank]))
        ranks.all_reduce(part)
        counted.append(part.numel())
        return part.numpy()

    return all_reduce


def _in_processes(trials: Sequence[Callable[[int, AllReduce], Any]], p: int) -> list[Outcome]:
    """Every trial in the same p processes, one after the other."""

    def life(rank: int, p: int) -> list[dict[str, Any]]:
        told = []
        for call in trials:
            counted: list[int] = []
            result = call(rank, _across(rank, counted))
            told.append({"result": result, "collectives": len(counted), "numbers": sum(counted)})
        return told

    by_rank = from_processes(life, p)
    return [
        Outcome([one["result"] for one in together], together[0]["collectives"], together[0]["numbers"])
        for together in zip(*by_rank, strict=True)
    ]


@picture
def truth_table(guess: str | None, mlp_tp: Split, mha_tp: Split, ffn: Split, mha: Split) -> tuple[Figure, str]:
    """The reader's functions in two real processes, with and without something wrong."""
    trials = [*_ffn_trials(mlp_tp, ffn), *_attention_trials(mha_tp, mha)]
    outcomes = _in_processes([trial.call for trial in trials], 2)
    missing = _nobody_came(mlp_tp)
    figure, axes = canvas(width=10.8, height=0.46 * (len(trials) + 1) + 1.5)
    axes.set_axis_off()
    lefts = (0.0, 5.45, 6.6, 7.5, 8.75, 11.8, 13.1)
    axes.set(xlim=(0, 14.4), ylim=(len(trials) + 0.6, -1.6))
    for left, heading in zip(
        lefts,
        (
            "two processes, ...",
            "largest\nerror",
            "collec-\ntives",
            "numbers\nadded up",
            "the error is",
            "by token,\nrank 0",
            "by token,\nrank 1",
        ),
        strict=True,
    ):
        axes.text(left, -1.0, heading, va="center", fontsize=11.5, weight="bold")
    told_rows = []
    for row, (trial, outcome) in enumerate(zip(trials, outcomes, strict=True)):
        error = max(float(np.abs(result - trial.wanted).max()) for result in outcome.results)
        sign = next((name for name, holds in trial.signs.items() if holds(outcome.results)), "of no simple form")
        if trial.right:
            axes.add_patch(forms.rectangle((-0.1, row - 0.45), 14.5, 0.9, facecolor=PALE, edgecolor="none", zorder=0))
            sign = "rounding" if error < 1e-12 else sign
        cells = (
            trial.name,
            f"{error:.0e}" if error < 1e-9 else f"{error:.2f}",
            str(outcome.collectives),
            str(outcome.numbers),
            sign,
        )
        for left, cell in zip(lefts[: len(cells)], cells, strict=True):
            axes.text(left, row, cell, va="center", fontsize=11.5)
        for rank, result in enumerate(outcome.results):
            by_token = np.abs(result - trial.wanted).max(axis=1)
            heights = np.zeros_like(by_token) if error < 1e-9 else 0.75 * by_token / error
            places = lefts[len(cells) + rank] + 0.22 * np.arange(len(heights))
            axes.bar(places, -heights, width=0.17, bottom=row + 0.38, align="edge", color=COLOURS[rank])
            axes.plot([places[0], places[-1] + 0.17], [row + 0.38] * 2, color="black", linewidth=0.8)
        shown = "at rounding error" if error < 1e-9 else f"{error:.2f}"
        told_rows.append(f"{trial.name}: {shown}, collectives: {outcome.collectives}, {sign}")
    axes.text(0, len(trials), "rank 1 does not come to the exchange", va="center", fontsize=11.5)
    axes.text(lefts[1], len(trials), missing, va="center", fontsize=11.5)
    verdict = told(guess, "b")
    figure.supxlabel(verdict, fontsize=12)
    return (
        figure,
        "Table of what two processes compute, with the largest error, and small bars for the error of each token on each rank. "
        f"{'; '.join(told_rows)}; rank 1 does not come to the exchange: {missing}. {verdict}",
    )


def _nobody_came(mlp_tp: Split) -> str:
    """What is told of two ranks of which one leaves before the exchange."""
    layers = _layers(np.random.default_rng(1), 2, 2)

    def life(rank: int, p: int) -> Array | None:
        if rank == 1:
            return None
        return mlp_tp(np.ones((1, 2)), *layers, p, _relu, _across(rank, []))

    trouble = ranks.trials(life, 2, ())[0].trouble
    return "no result: rank 0 waits for it, until it is stopped" if "waited" in trouble else trouble or "a result"


def _ffn_trials(mlp_tp: Split, ffn: Split) -> list[Trial]:
    rng = np.random.default_rng(2)
    p, n, d, f = 2, 5, 6, 8
    X, (W1, b1, W2, b2) = rng.standard_normal((n, d)), _layers(rng, d, f)
    others = _layers(np.random.default_rng(3), d, f)
    wanted = ffn(X, W1, b1, W2, b2, _relu)
    product = wanted - b2

    def mine(change: Callable[[int, list[Array]], list[Array]], bias: Array = b2) -> Callable[[int, AllReduce], Array]:
        """The reader's function, with the parts changed on their way into the exchange."""
        return lambda rank, reduce: mlp_tp(X, W1, b1, W2, bias, p, _relu, lambda parts: reduce(change(rank, parts)))

    def untouched(rank: int, parts: list[Array]) -> list[Array]:
        return parts

    def rows_first(rank: int, reduce: AllReduce, exchange: bool) -> Array:
        own = slice(rank * d // p, (rank + 1) * d // p)
        term = X[:, own] @ W1[own]
        if exchange:
            hidden = _relu(reduce([term] * p) + b1)
            return mlp_tp(hidden, np.eye(f), np.zeros(f), W2, b2, p, np.asarray, reduce)
        return reduce([_relu(term + b1 / p) @ W2] * p) + b2

    def minus_the_other(results: list[Array]) -> bool:
        return bool(np.allclose(sum(result - b2 for result in results), product))

    def times(factor: float) -> Callable[[list[Array]], bool]:
        return lambda results: all(np.allclose(result - wanted, factor * product) for result in results)

    return [
        Trial("FFN: columns, then rows", mine(untouched), wanted, {}, right=True),
        Trial(
            "rows first, with an exchange before the activation",
            lambda r, reduce: rows_first(r, reduce, True),
            wanted,
            {},
            right=True,
        ),
        Trial("rows first, activation on terms of a sum", lambda r, reduce: rows_first(r, reduce, False), wanted, {}),
        Trial(
            "b2 added on each rank, before the exchange",
            mine(lambda rank, parts: [part + b2 for part in parts], np.zeros(d)),
            wanted,
            {"(p − 1)·b2": lambda results: all(np.allclose(result - wanted, (p - 1) * b2) for result in results)},
        ),
        Trial(
            "no exchange",
            lambda rank, reduce: mlp_tp(X, W1, b1, W2, b2, p, _relu, lambda parts: parts[rank]),
            wanted,
            {"minus the other's part": minus_the_other},
        ),
        Trial(
            "the exchange twice",
            lambda rank, reduce: mlp_tp(X, W1, b1, W2, b2, p, _relu, lambda parts: reduce([reduce(parts)] * p)),
            wanted,
            {"(p − 1)·(FFN − b2)": times(p - 1)},
        ),
        Trial(
            "the mean for the sum",
            lambda rank, reduce: mlp_tp(X, W1, b1, W2, b2, p, _relu, lambda parts: reduce(parts) / p),
            wanted,
            {"−(p − 1)/p·(FFN − b2)": times(1 / p - 1)},
        ),
        Trial(
            "rank 1 has made its shards anew",
            lambda rank, reduce: mlp_tp(X, *((W1, b1, W2) if rank == 0 else others[:3]), b2, p, _relu, reduce),
            wanted,
            {},
        ),
        Trial(
            "rank 1 has a b2 of its own",
            lambda rank, reduce: mlp_tp(X, W1, b1, W2, b2 if rank == 0 else others[3], p, _relu, reduce),
            wanted,
            {
                "on rank 1 only": lambda results: bool(
                    np.allclose(results[0], wanted) and not np.allclose(results[1], wanted)
                )
            },
        ),
    ]


def _attention_trials(mha_tp: Split, mha: Split) -> list[Trial]:
    rng = np.random.default_rng(4)
    p, n, d, h, k, v = 2, 5, 6, 4, 2, 2
    params: Params = {name: rng.standard_normal(shape) for name, shape in shapes(d, h, k, v, 8).items()}
    X, keep = rng.standard_normal((n, d)), np.tri(n, dtype=bool)
    everything = np.ones_like(keep)
    wanted = mha(X, params["Wqkv"], params["Wo"], h, keep)
    blocks = [np.split(block, [h // p * k, 2 * (h // p) * k], axis=1) for block in np.split(params["Wqkv"], p, axis=1)]
    in_blocks = params | {"Wqkv": np.concatenate([block[part] for part in range(3) for block in blocks], axis=1)}

    def all_but_the_last_token(results: list[Array]) -> bool:
        wrong = np.abs(results[0] - wanted).max(axis=1) > 1e-9
        return bool(wrong[:-1].all() and not wrong[-1])

    return [
        Trial(
            "attention: heads, then rows of Wo",
            lambda r, reduce: mha_tp(X, params, h, keep, p, reduce),
            wanted,
            {},
            right=True,
        ),
        Trial(
            "Wqkv cut into two blocks as it stands",
            lambda r, reduce: mha_tp(X, in_blocks, h, keep, p, reduce),
            wanted,
            {},
        ),
        Trial(
            "the mask on rank 0 only",
            lambda rank, reduce: mha_tp(X, params, h, keep if rank == 0 else everything, p, reduce),
            wanted,
            {"in every token but the last": all_but_the_last_token},
        ),
    ]


# ------------------------------------------------------------------------------------------------ PyTorch's own


@picture
def against_pytorch(
    mlp_by_pytorch: Callable[..., Any], mha_by_pytorch: Callable[..., Any], mlp_tp: Split, mha_tp: Split
) -> tuple[Figure, str]:
    """PyTorch's tensor parallelism and the reader's functions, side by side in the same two processes."""
    import torch

    rng = np.random.default_rng(6)
    p, n, d, h, k, v, f = 2, 5, 6, 4, 3, 2, 8
    X, layers, keep = rng.standard_normal((n, d)), _layers(rng, d, f), np.tri(n, dtype=bool)
    params: Params = {name: rng.standard_normal(shape) for name, shape in shapes(d, h, k, v, f).items()}
    tokens = torch.from_numpy(X)[None]

    def life(rank: int, p: int) -> list[dict[str, Any]]:
        def compared(
            module: Callable[..., torch.Tensor], inputs: Sequence[torch.Tensor], ours: Callable[[AllReduce], Array]
        ) -> dict[str, Any]:
            before = ranks.collectives()
            with torch.no_grad():
                theirs = module(*inputs).clone().numpy()[0]
            counted: list[int] = []
            return {
                "theirs": ranks.collectives() - before,
                "apart": float(np.abs(theirs - ours(_across(rank, counted))).max()),
                "ours": len(counted),
                "pieces": _pieces(module),
            }

        return [
            compared(mlp_by_pytorch(p, *layers), [tokens], lambda reduce: mlp_tp(X, *layers, p, _relu, reduce)),
            compared(
                mha_by_pytorch(p, params, h),
                [tokens, torch.from_numpy(keep)],
                lambda reduce: mha_tp(X, params, h, keep, p, reduce),
            ),
        ]

    first, second = from_processes(life, p)
    figure, axes = canvas(width=10.2, height=5.4)
    axes.set_axis_off()
    axes.set(xlim=(0, 12), ylim=(12.2, -0.8))
    lines: list[tuple[str, ...]] = []
    summaries: list[str] = []
    apart_by: list[str] = []
    for name, zero, one in zip(("FFN", "attention"), first, second, strict=True):
        apart = max(zero["apart"], one["apart"])
        close = "equal to rounding" if apart < 1e-12 else f"{apart:.2g} apart"
        apart_by.append(f"{apart:.0e}")
        summaries.append(
            f"{name}: PyTorch's and yours are {close}; collectives: PyTorch's {zero['theirs']}, yours {zero['ours']}."
        )
        lines += [
            (f"{name}: {weight}", str(whole), placed, str(here))
            for weight, (whole, placed, here) in zero["pieces"].items()
        ]
    lefts = (0.0, 3.6, 6.0, 9.6)
    for left, heading in zip(lefts, ("PyTorch's weight", "whole [out, in]", "placed", "on one rank"), strict=True):
        axes.text(left, -0.3, heading, fontsize=11.5, weight="bold", va="center")
    for row, line in enumerate(lines, 1):
        for left, cell in zip(lefts, line, strict=True):
            axes.text(left, row - 0.2, cell, fontsize=11, va="center")
    for row, (summary, apart) in enumerate(zip(summaries, apart_by, strict=True), len(lines) + 2):
        axes.text(0, row - 0.2, f"{summary} Largest difference: {apart}.", fontsize=12, va="center")
    axes.set_ylim(len(lines) + 3.4, -0.8)
    told_lines = "; ".join(f"{name} {whole}, {placed}, {here} on one rank" for name, whole, placed, here in lines)
    return figure, f"Table of PyTorch's weights, whole and on one of two ranks. {told_lines}. {' '.join(summaries)}"


def _pieces(module: Any) -> dict[str, tuple[list[int], str, list[int]]]:
    """For each weight that was placed: its shape, how it was cut, and the shape of what this rank has."""
    placed = {name: weight for name, weight in module.named_parameters() if hasattr(weight, "placements")}
    return {
        name: (list(weight.shape), repr(weight.placements[0]), list(weight.to_local().shape))
        for name, weight in placed.items()
    }
