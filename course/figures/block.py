"""Pictures of notebook 05: a transformer block, and what stands before and after a stack of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int

from course.figures import COLOURS, FRAME, MARKERS, PALE, PAPER, canvas, forms, picture
from course.figures.causal import influence_map
from course.figures.grids import grid
from course.figures.verdicts import told
from course.parameters import random_parameters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "block_diagram",
    "centring",
    "depth",
    "influence_map",
    "microscope",
    "probe",
    "right_row",
    "shuffled",
]

Norm = Callable[[np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]
Block = Callable[..., dict[str, np.ndarray]]

EPS = 1e-5


def _relu(x: np.ndarray) -> np.ndarray:
    return np.clip(x, 0, None)


@picture
def block_diagram() -> tuple[Figure, str]:
    """The way through one block: the tokens go straight on, and two branches add to them."""
    figure, axes = canvas(width=9.6, height=2.75)
    axes.plot([0.35, 13.1], [0, 0], color="black", linewidth=4, solid_capstyle="butt", zorder=1)
    axes.annotate("", (13.75, 0), (13.0, 0), arrowprops={"arrowstyle": "-|>", "linewidth": 4, "color": "black"})
    axes.text(0.2, 0, "X", ha="right", va="center", fontsize=15, weight="bold")
    axes.text(13.85, 0, "H", ha="left", va="center", fontsize=15, weight="bold")
    axes.text(6.85, -0.28, "T3", ha="center", va="top", fontsize=13, weight="bold")
    branches = ((1.0, ("T1", "T2"), "attention", "tokens meet"), (7.4, ("T4", "T5"), "FFN", "each token\nby itself"))
    for start, (normed, update), name, what in branches:
        _path(axes, [(start, 0), (start, 1.9), (start + 0.35, 1.9)])
        _box(axes, start + 0.35, "LayerNorm", "each token\nby itself")
        _path(axes, [(start + 2.25, 1.9), (start + 2.95, 1.9)])
        axes.text(start + 2.55, 2.1, normed, ha="center", va="bottom", fontsize=13, weight="bold")
        _box(axes, start + 2.95, name, what)
        _path(axes, [(start + 4.85, 1.9), (start + 5.25, 1.9), (start + 5.25, 0.27)])
        axes.text(start + 5.4, 1.15, update, ha="left", va="center", fontsize=13, weight="bold")
        axes.add_patch(forms.circle((start + 5.25, 0), 0.25, facecolor=PAPER, edgecolor="black", linewidth=2, zorder=3))
        axes.text(start + 5.25, -0.01, "+", ha="center", va="center", fontsize=16, zorder=4)
    axes.text(3.3, -0.28, "the residual stream: straight on", ha="center", va="top", color="0.3")
    axes.text(10.0, -0.28, "straight on, unchanged", ha="center", va="top", color="0.3")
    axes.set(xlim=(-0.4, 14.4), ylim=(-0.8, 2.8), aspect="equal")
    axes.set_axis_off()
    return figure, (
        "The way through a block, from left to right. A thick line, the residual stream, leads from X straight on to H. A first branch leaves it: LayerNorm, "
        "which makes T1, each token by itself, then attention, where tokens meet, which makes T2; T2 is added to the line, which is T3 from there "
        "on. A second branch leaves it: LayerNorm, which makes T4, then the FFN, each token by itself, which makes T5; T5 is added to the "
        "line, which is then H."
    )


def _path(axes: Axes, points: list[tuple[float, float]]) -> None:
    """A line through some points, with an arrow's head at the end."""
    for (x, y), (to_x, to_y) in pairwise(points[:-1]):
        axes.plot([x, to_x], [y, to_y], color="black", linewidth=1.8, zorder=1)
    axes.annotate(
        "",
        points[-1],
        points[-2],
        arrowprops={"arrowstyle": "-|>", "linewidth": 1.8, "color": "black", "shrinkA": 0, "shrinkB": 0},
    )


def _box(axes: Axes, left: float, name: str, what: str) -> None:
    axes.add_patch(
        forms.box((left + 0.08, 1.2), 1.74, 1.4, boxstyle="round,pad=0.08", facecolor=PALE, edgecolor="black")
    )
    axes.text(left + 0.95, 2.3, name, ha="center", va="center", fontsize=12, weight="bold")
    axes.text(left + 0.95, 1.6, what, ha="center", va="center", fontsize=10.5)


@picture
def centring(layer_norm: Norm) -> tuple[Figure, str]:
    """LayerNorm of three tokens: a product from the right, and a scale for each row."""
    X = np.array([[2.0, 4.0, 4.0, 6.0], [20.0, 40.0, 40.0, 60.0], [1.0, 5.0, 5.0, 5.0]])
    d = X.shape[1]
    matrix = np.eye(d) - 1 / d
    centred = X @ matrix
    deviations = np.sqrt(np.square(centred).mean(axis=1))
    normed = layer_norm(X, np.ones(d), np.zeros(d), 0.0)
    figure, panels = canvas(1, 4, width=10.2, height=3.3)
    for panel, table, (title, rows, columns) in zip(
        panels,
        (X, matrix, centred, normed),
        (
            ("X", "n = 3 tokens", "d = 4"),
            ("I − 11ᵀ/d", "", "d = 4"),
            ("X (I − 11ᵀ/d)", "", "mean 0 in each row"),
            ("each row / its deviation", "", "size 1 in each row"),
        ),
        strict=True,
    ):
        far = float(np.abs(table).max())
        grid(panel, table, title, rows, columns, limits=(-far, far))  # colours of one table, each by itself
    for i, deviation in enumerate(deviations):
        panels[3].text(-0.65, i, f"÷ {deviation:.3g}", ha="right", va="center")
    for panel, sign in zip(panels[1:3], ("@", "="), strict=True):
        panel.text(-0.1, 0.5, sign, transform=panel.transAxes, ha="center", va="center", fontsize=15)
    told_rows = "; ".join(" ".join(f"{x:.2f}" for x in row) for row in normed)
    return figure, (
        "Four grids in a row. Three tokens of width 4, 2 4 4 6 and 20 40 40 60 and 1 5 5 5. The centring matrix, 0.75 on its diagonal and -0.25 "
        "elsewhere. Their product, in which each row has mean 0. And each row divided by its own deviation, "
        f"{', '.join(f'{x:.3g}' for x in deviations)}: the rows are {told_rows}. The first two tokens have become equal."
    )


@picture
def microscope(guess: str | None, layer_norm: Norm) -> tuple[Figure, str]:
    """How wrong two slips in a LayerNorm are: by the width of a token, and by its variance."""
    rng = np.random.default_rng(5)
    figure, (left, right) = canvas(1, 2, width=9.8, height=4.1)

    widths = np.array([2, 3, 4, 6, 8, 16, 32, 64, 128, 256, 512, 768, 1024])
    short = []
    for d in widths:
        X = rng.standard_normal((8, d))
        right_one = layer_norm(X, np.ones(d), np.zeros(d), 0.0)
        spread = X.std(axis=1, ddof=1, keepdims=True)
        slip = (X - X.mean(axis=1, keepdims=True)) / spread
        short.append(100 * (1 - np.abs(slip).sum() / np.abs(right_one).sum()))
    left.loglog(widths, short, marker=MARKERS[0], color=COLOURS[0])
    for d in (4, 768):
        percent = short[int(np.flatnonzero(widths == d)[0])]
        left.annotate(
            f"{percent:.3g} % at d = {d}",
            (d, percent),
            (1.25 * d if d == 4 else 0.035 * d, percent * (1.5 if d == 4 else 0.5)),
            fontsize=11,
        )
    left.set(
        xlabel="width d of a token",
        ylabel="output too small by, in %",
        title="sum of squares over d − 1",
        ylim=(0.02, 60),
    )
    left.set_xticks([2, 4, 16, 64, 256, 1024], ["2", "4", "16", "64", "256", "1024"])
    left.set_yticks([0.1, 1, 10], ["0.1", "1", "10"])

    variances = 10.0 ** np.arange(-10, 1)
    token = np.tile([1.0, -1.0], 4)
    sizes = [np.abs(layer_norm(np.sqrt(v) * token, np.ones(8), np.zeros(8), EPS)).max() for v in variances]
    outside = np.sqrt(variances) / (np.sqrt(variances) + EPS)
    right.semilogx(
        variances, outside, "--", marker=MARKERS[1], color=COLOURS[1], label=r"$\sqrt{\mathrm{variance}}$ + eps (slip)"
    )
    right.semilogx(
        variances, sizes, "-", marker=MARKERS[0], color=COLOURS[0], label=r"$\sqrt{\mathrm{variance + eps}}$"
    )
    at = int(np.argmin(np.abs(variances - 1e-6)))
    ratio = outside[at] / sizes[at]
    right.plot([1e-6, 1e-6], [sizes[at], outside[at]], color="black", linewidth=1.2, linestyle=":")
    right.text(7e-7, 0.62, f"{ratio:.2g} times", ha="right", va="center", fontsize=11)
    right.set(
        xlabel="variance of a token",
        ylabel="size of the output",
        title=f"eps = {EPS:.5f}, added where?",
        ylim=(-0.03, 1.1),
    )
    right.set_xticks([1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1])
    right.legend(loc="lower right", bbox_to_anchor=(1.02, 0.04), fontsize=11)
    for axes in (left, right):
        axes.minorticks_off()
    verdict = told(guess, "b")
    figure.supxlabel(f"At a variance of 0.000001, what does eps outside the root do? {verdict}", fontsize=12)
    return figure, (
        f"Two charts. Left, by how many percent the output is too small if the sum of squares is divided by d minus 1: it falls from "
        f"{short[0]:.3g} at d = 2 to {short[2]:.3g} at d = 4 and {short[-2]:.2g} at d = 768, on logarithmic axes. Right, the size of the output against the "
        f"variance of a token, for eps = 0.00001. With eps under the root, solid with circles, it is {sizes[at]:.2f} at a variance of 0.000001 and 1.00 at "
        f"variance 1. With eps outside, dashed with squares, it is {outside[at]:.2f} at a variance of 0.000001, {ratio:.2g} times as large, and 1.00 at variance 1."
        f" {verdict}"
    )


@picture
def depth(
    guess: str | None, block: Block, layer_norm: Norm, ffn: Callable[..., np.ndarray], mha: Callable[..., np.ndarray]
) -> tuple[Figure, str]:
    """The length of the tokens, and what is left of the first ones, through 64 random blocks of two kinds."""
    n, d, h, k, v, f, blocks = 32, 64, 4, 16, 16, 256, 64
    rng = np.random.default_rng(6)
    X = rng.standard_normal((n, d))
    keep = np.arange(n)[None, :] <= np.arange(n)[:, None]
    pre, post = X, X
    lengths, likeness = [[1.0, 1.0]], [[1.0, 1.0]]
    for _ in range(blocks):
        p = random_parameters(rng, d, h, k, v, f)
        pre = block(pre, p, h, keep, EPS, _relu)["H"]
        half = layer_norm(post + mha(post, p["Wqkv"], p["Wo"], h, keep), p["gain1"], p["bias1"], EPS)
        post = layer_norm(half + ffn(half, p["W1"], p["b1"], p["W2"], p["b2"], _relu), p["gain2"], p["bias2"], EPS)
        lengths.append([_length(pre) / _length(X), _length(post) / _length(X)])
        likeness.append([_cosine(pre, X), _cosine(post, X)])
    long, like = np.array(lengths), np.array(likeness)
    at = np.arange(blocks + 1)
    shown = [0, 1, 2, 4, 8, 16, 32, 64]
    figure, (left, right) = canvas(1, 2, width=9.6, height=4.0)
    for column, (label, dash) in enumerate((("pre-norm", "-"), ("post-norm", "--"))):
        style: dict[str, Any] = {"marker": MARKERS[column], "color": COLOURS[column], "markevery": 8, "label": label}
        left.plot(at, long[:, column], dash, **style)
        right.plot(at, like[:, column], dash, **style)
    left.set(
        xlabel="after so many blocks", title="length of a token, in lengths at the start", ylim=(0, 1.12 * long.max())
    )
    right.set(xlabel="after so many blocks", title="cosine with the token at the start", ylim=(-0.2, 1.05))
    right.axhline(0, color="black", linewidth=1, linestyle=":")
    right.text(64, -0.08, "no trace left", ha="right", va="top", fontsize=11)
    left.legend(loc="upper left")
    for axes in (left, right):
        axes.set_xticks([0, 8, 16, 32, 48, 64])
    verdict = told(guess, "b")
    figure.supxlabel(
        f"{n} tokens of width {d}, a causal mask, random blocks. How long is a pre-norm token? {verdict}",
        fontsize=12,
    )

    def listed(values: np.ndarray, digits: int) -> str:
        return ", ".join(f"{values[i]:.{digits}f}" for i in shown)

    return figure, (
        f"Two line charts through {blocks} random blocks; the numbers are those after {', '.join(map(str, shown))} blocks. Left, the length of a token, in lengths at the start: "
        f"pre-norm, solid with circles, {listed(long[:, 0], 1)}; post-norm, dashed with squares, {listed(long[:, 1], 1)}. Right, the cosine with the token at "
        f"the start: pre-norm {listed(like[:, 0], 2)}; post-norm {listed(like[:, 1], 2)}. {verdict}"
    )


def _length(X: np.ndarray) -> float:
    return float(np.linalg.norm(X, axis=1).mean())


def _cosine(X: np.ndarray, Y: np.ndarray) -> float:
    dots = (X * Y).sum(axis=1)
    return float((dots / np.linalg.norm(X, axis=1) / np.linalg.norm(Y, axis=1)).mean())


@picture
def shuffled(guess: str | None, block: Block) -> tuple[Figure, str]:
    """Whether the last output notices that the words before it were shuffled."""
    n, d, h, k, v, f = 6, 16, 2, 8, 8, 32
    rng = np.random.default_rng(8)
    words, places = rng.standard_normal((n, d)), rng.standard_normal((n, d))
    layers = [random_parameters(rng, d, h, k, v, f) for _ in range(3)]
    order = np.array([3, 1, 4, 0, 2, 5])
    everyone, causal = np.ones((n, n), bool), np.arange(n)[None, :] <= np.arange(n)[:, None]

    def last(X: np.ndarray, keep: np.ndarray, blocks: int) -> np.ndarray:
        for params in layers[:blocks]:
            X = block(X, params, h, keep, EPS, _relu)["H"]
        return np.asarray(X[-1])

    ways = [
        ("no mask, no positions", everyone, 0 * places),
        ("causal mask, no positions", causal, 0 * places),
        ("no mask, positions", everyone, places),
        ("causal mask, positions", causal, places),
    ]
    figure, axes = canvas(width=8.4, height=3.9)
    sentences = []
    for row, (name, keep, P) in enumerate(ways):
        changes = [
            np.abs(last(words[order] + P, keep, blocks) - last(words + P, keep, blocks)).max() for blocks in (1, 2, 3)
        ]
        for column, change in enumerate(changes):
            same = change < 1e-12
            axes.add_patch(forms.rectangle((column, row), 1, 1, facecolor=PAPER if same else PALE, edgecolor="0.5"))
            text = "the same" if same else f"changes\nby {change:.2f}"
            axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", weight="normal" if same else "bold")
        axes.text(-0.06, row + 0.5, name, ha="right", va="center")
        told_changes = ["the same" if change < 1e-12 else f"{change:.2f}" for change in changes]
        sentences.append(f"{name}: {', '.join(told_changes)}")
    for column, blocks in enumerate(("1 block", "2 blocks", "3 blocks")):
        axes.text(column + 0.5, -0.1, blocks, ha="center", va="bottom")
    axes.add_patch(forms.rectangle((0.0, 1.0), 3, 1, fill=False, edgecolor=FRAME, linewidth=3))
    axes.set(xlim=(-1.75, 3.05), ylim=(4.05, -0.45))
    axes.set_axis_off()
    verdict = told(guess, "c")
    figure.supxlabel(
        f"The last output, when the words before it are shuffled: the largest change in one of its {d} numbers.\n"
        f"What does the framed row do? {verdict}",
        fontsize=12,
    )
    return figure, (
        "A table of four rows and three columns, for 1, 2 and 3 blocks: by how much the last output changes when the words before it are shuffled, which is "
        f"the largest change in one of its {d} numbers. "
        + "; ".join(sentences)
        + f". The second row is framed. {verdict}"
    )


@picture
def probe(
    guess: str | None, embed: Callable[[Int[np.ndarray, "b n"], np.ndarray, np.ndarray], np.ndarray]
) -> tuple[Figure, str]:
    """What a linear probe reads back from the sum of word and position, on pairs that it has not seen."""
    c, places = 50, 20
    widths = (1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 72, 96)
    found = np.array([np.mean([_read_back(embed, c, places, d, seed) for seed in range(5)], axis=0) for d in widths])
    figure, axes = canvas(width=8.4, height=4.2)
    for column, (label, dash, chance) in enumerate((("word", "-", 1 / c), ("place", "--", 1 / places))):
        axes.plot(widths, 100 * found[:, column], dash, marker=MARKERS[column], color=COLOURS[column], label=label)
        axes.axhline(100 * chance, color=COLOURS[column], linewidth=1.2, linestyle=":")
        beside = {"va": "top"} if column == 0 else {"va": "bottom"}
        axes.text(
            99.5,
            100 * chance + (0.4, -1.0)[column == 0],
            f"{label}, by chance: {100 * chance:.0f} %",
            ha="right",
            fontsize=10,
            **beside,
        )
    axes.axvline(c + places - 2, color="black", linewidth=1.2, linestyle="-.")
    axes.text(c + places - 1.2, 42, f"c + l − 2 = {c + places - 2}", va="center")
    axes.set(xlabel="width d of a token", ylabel="read back rightly, in %", ylim=(-5, 105), xlim=(0, 100))
    axes.legend(loc="center left", bbox_to_anchor=(0.42, 0.62))
    verdict = told(guess, "b")
    figure.suptitle(f"{c} words, {places} places, random vectors. {verdict}", fontsize=12)

    def listed(column: int) -> str:
        return ", ".join(f"{100 * share:.0f}" for share in found[:, column])

    return figure, (
        f"Line chart. Percent of unseen pairs of word and place that a linear probe reads back from their sum, for {c} words and {places} places, against the "
        f"width d = {', '.join(map(str, widths))}. Word, solid with circles: {listed(0)}. Place, dashed with squares: {listed(1)}. Dotted lines show chance, "
        f"{100 / c:.0f} and {100 / places:.0f} percent. A vertical line stands at {c + places - 2}. {verdict}"
    )


def _read_back(embed: Callable[..., np.ndarray], c: int, places: int, d: int, seed: int) -> tuple[float, float]:
    """The share of words, and of places, that least squares reads back from half of all pairs, having seen the other half."""
    rng = np.random.default_rng([seed, d])
    E, Pos = rng.standard_normal((c, d)), rng.standard_normal((places, d))
    ids = np.repeat(np.arange(c)[:, None], places, axis=1)
    tokens = embed(ids, E, Pos).reshape(c * places, d)
    tokens = np.hstack([tokens, np.ones((c * places, 1))])
    order = rng.permutation(c * places)
    seen, new = np.split(order, 2)
    words, spots = ids.ravel(), np.tile(np.arange(places), c)
    wanted = np.hstack([np.eye(c)[words], np.eye(places)[spots]])
    read = tokens[new] @ np.linalg.lstsq(tokens[seen], wanted[seen], rcond=None)[0]
    found = read[:, :c].argmax(axis=1) == words[new], read[:, c:].argmax(axis=1) == spots[new]
    return float(found[0].mean()), float(found[1].mean())


@picture
def right_row() -> tuple[Figure, str]:
    """Which row of the logits is held against which word."""
    words = ("rain", "falls", "on", "the", "roof", "<eos>")
    figure, axes = canvas(width=9.4, height=4.2)
    axes.add_patch(
        forms.rectangle((0.06, 1.15), len(words) - 0.12, 0.6, facecolor=PAPER, edgecolor="black", linewidth=1.5)
    )
    axes.text(
        len(words) / 2, 1.45, "the model, under a causal mask: row i is made of words 0 to i", ha="center", va="center"
    )
    for i, word in enumerate(words):
        last = i == len(words) - 1
        axes.add_patch(forms.rectangle((i + 0.06, 0), 0.88, 0.7, facecolor=PALE, edgecolor="0.4"))
        axes.text(i + 0.5, 0.35, word, ha="center", va="center", fontsize=13)
        axes.add_patch(forms.rectangle((i + 0.06, 2.2), 0.88, 0.7, facecolor=PAPER, edgecolor="0.4"))
        axes.text(i + 0.5, 2.55, f"logits, row {i}", ha="center", va="center", fontsize=11)
        for low, high in ((0.72, 1.13), (1.77, 2.18)):
            axes.annotate("", (i + 0.5, high), (i + 0.5, low), arrowprops={"arrowstyle": "-|>", "color": "0.4"})
        axes.plot([i + 0.5, i + 0.5], [2.92, 3.33], color="0.4", linestyle=":", linewidth=2)
        style = (
            {"facecolor": PAPER, "edgecolor": "0.6", "hatch": "////"}
            if last
            else {"facecolor": PALE, "edgecolor": FRAME, "linewidth": 2}
        )
        axes.add_patch(forms.rectangle((i + 0.06, 3.35), 0.88, 0.7, **style))
        box = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.5} if last else None
        axes.text(
            i + 0.5,
            3.7,
            "nothing" if last else words[i + 1],
            ha="center",
            va="center",
            fontsize=13,
            weight="normal" if last else "bold",
            bbox=box,
        )
        axes.text(i + 0.5, -0.1, f"word {i}", ha="center", va="top", color="0.3")
    labels = (
        (0.35, "the model reads\nids"),
        (2.55, "and guesses"),
        (3.12, "held against"),
        (3.7, "the answers\nids, shifted"),
    )
    for height, label in labels:
        axes.text(-0.1, height, label, ha="right", va="center")
    axes.set(xlim=(-1.45, 6.05), ylim=(-0.45, 4.15))
    axes.set_axis_off()
    return figure, (
        "Six columns, one for each word of the text rain falls on the roof and its end mark. All words go into one box, the model under a causal mask: row "
        "i of the logits is made of words 0 to i. Row i is held against word i plus 1: row 0 against falls, row 1 against on, row 2 against the, row 3 "
        "against roof, row 4 against the end mark. For row 5 nothing follows; it is hatched and left out."
    )
