"""Pictures of notebook 02: attention in five products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from course.blas import one_blas_thread
from course.clock import quietest
from course.figures import COLOURS, MARKERS, canvas, picture
from course.figures.grids import COLOUR_REPEATS, frame_row, grid
from course.figures.verdicts import CHANGED, between, told

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOKENS = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0], [2.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
WEIGHT = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])

Scores = Callable[[np.ndarray, np.ndarray], np.ndarray]
Softmax = Callable[[np.ndarray], np.ndarray]
Attention = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
NormalizedEntropy = Callable[[np.ndarray, np.ndarray], tuple[float, float]]


@picture
def row_by_row() -> tuple[Figure, str]:
    """K = XW, filled one token at a time."""
    product = TOKENS @ WEIGHT
    figure, panels = canvas(2, 3, width=8.2, height=6.4, width_ratios=(3, 2, 2))
    for i, (left, middle, right) in zip((0, 2), panels, strict=True):
        grid(left, TOKENS, "X: one token a row" if i == 0 else "", "n = 4", "d = 3", plain=True)
        frame_row(left, i, 3)
        grid(middle, WEIGHT, "W: the same for all" if i == 0 else "", "d = 3", "k = 2", plain=True)
        for x, amount in enumerate(TOKENS[i]):
            middle.text(-0.62, x, f"{amount:g} ×", ha="right", va="center")
        middle.set_ylabel("d = 3", labelpad=34)
        done = np.where(np.arange(4)[:, None] <= i, product, np.nan)
        grid(right, done, f"XW, row {i}: {product[i, 0]:g}, {product[i, 1]:g}", "n = 4", "k = 2", plain=True)
        frame_row(right, i, 2)
    return figure, (
        "Two steps of the product X W, a row of pictures for each. In the first, row 0 of X, the numbers 1, 2, 0, is framed; they "
        "stand as factors beside the three rows of W, and the sum, 1 4, is row 0 of the result. In the second, row 2 of X, the "
        "numbers 2, 0, 1, stands beside the same W and gives row 2 of the result, 5 1. No other row of X is used."
    )


@picture
def spread_of_dots(guess: str | None) -> tuple[Figure, str]:
    """Dot products of random vectors, by their width."""
    rng = np.random.default_rng(2)
    widths = (4, 16, 64, 256)
    figure, (left, right) = canvas(1, 2, width=9.2, height=3.8, width_ratios=(3, 2))
    edges = np.linspace(-50, 50, 51)
    spreads = []
    for row, (k, colour) in enumerate(zip(widths, COLOURS, strict=False)):
        dots = (rng.standard_normal((20_000, k)) * rng.standard_normal((20_000, k))).sum(axis=1)
        spreads.append(dots.std())
        heights = np.histogram(dots, edges)[0] / 20_000
        base = len(widths) - 1 - row
        left.stairs(base + 0.85 * heights / heights.max(), edges, baseline=base, fill=True, color=colour, alpha=0.85)
        left.text(-49, base + 0.35, f"k = {k}", va="center")
    left.set(xlabel="dot product of two random vectors", title="how often it comes out so large", ylim=(-0.05, 4))
    left.set_yticks([])
    right.loglog(widths, spreads, marker="o", linestyle="none", markersize=9, label="measured")
    right.loglog(widths, np.sqrt(widths), color="black", linestyle="--", linewidth=1.5, label="√k")
    right.set(xlabel="width k", title="standard deviation", ylim=(1.2, 32))
    right.set_xticks(widths, [str(k) for k in widths])
    right.set_yticks([2, 4, 8, 16], ["2", "4", "8", "16"])
    right.minorticks_off()
    right.legend()
    verdict = told(guess, "c")
    figure.supxlabel(f"Four times the width, twice the spread. {verdict}", fontsize=12)
    return figure, (
        "Left, four histograms of dot products of random vectors, one below the other, for widths 4, 16, 64 and 256: each is "
        "about twice as wide as the one above it. Right, their standard deviation against the width, on logarithmic axes: 2, 4, 8 "
        f"and 16, on the dashed line square root of k. {verdict}"
    )


@picture
def same_scores_stretched(softmax: Softmax) -> tuple[Figure, str]:
    """What softmax makes of four scores that are stretched."""
    scores = np.array([0.5, 1.0, -0.5, 0.0])
    factors = (0.0, 1.0, 4.0, 16.0)
    figure, panels = canvas(1, 4, width=9.2, height=2.9, sharey=True)
    for panel, factor in zip(panels, factors, strict=True):
        stretched = factor * scores + 0.0
        weights = softmax(stretched)
        bars = panel.bar(range(4), weights, color=COLOURS[0], edgecolor="black")
        panel.bar_label(bars, [f"{weight:.2g}" if weight >= 0.005 else "≈ 0" for weight in weights], fontsize=11)
        panel.set_xticks(range(4), [f"{score:g}".replace("-", "−") for score in stretched])
        panel.set(title=f"scores × {factor:g}", ylim=(0, 1.15), xlabel="score")
        panel.grid(False, axis="x")
    panels[0].set_ylabel("weight")
    return figure, (
        "Four bar charts of the weights that softmax makes of the scores 0.5, 1, -0.5 and 0, stretched by a factor. Factor 0: "
        "all four weights are 0.25. Factor 1: 0.28, 0.46, 0.1, 0.17. Factor 4: 0.12, 0.86 and two close to 0. Factor 16: one weight is 1, "
        "the others are 0 to the eye."
    )


def _around_zero(matrix: np.ndarray) -> tuple[float, float]:
    """The ends of a colour scale with 0 in its middle."""
    top = float(np.abs(matrix).max())
    return -top, top


@picture
def scores_weights_output(
    scaled_scores: Scores,
    attention: Attention,
    Q: Float[np.ndarray, "n k"],
    K: Float[np.ndarray, "n k"],
    V: Float[np.ndarray, "n v"],
    tokens: Sequence[str],
    framed: int,
) -> tuple[Figure, str]:
    """The four tables of one attention, side by side."""
    n, k, v = len(Q), Q.shape[1], V.shape[1]
    scores = scaled_scores(Q, K)
    output, weights = attention(Q, K, V)
    figure, panels = canvas(1, 4, width=10.0, height=4.2, width_ratios=(n, n, v, v))
    grid(panels[0], scores, f"scores\nQ @ K.T / √{k}", "", f"keys: m = {n}", limits=_around_zero(scores))
    grid(panels[1], weights, "weights A: softmax\nof each row", "", f"keys: m = {n}", limits=(0.0, 1.0))
    grid(panels[2], V, "values\nV", "", f"v = {v}", limits=_around_zero(V))
    grid(panels[3], output, "output\nA @ V", "", f"v = {v}", limits=_around_zero(V))
    for panel in panels[:2]:
        panel.set_xticks(range(n), tokens, rotation=30)
    for panel in panels:
        panel.set_yticks(range(n), tokens)
        panel.tick_params(length=0)
    panels[0].set_ylabel(f"queries: n = {n}")
    frame_row(panels[0], framed, n)
    frame_row(panels[1], framed, n)
    frame_row(panels[3], framed, v)
    figure.supxlabel(COLOUR_REPEATS, fontsize=11)
    given = ", ".join(f"{weight:.2g} to {token}" for weight, token in zip(weights[framed], tokens, strict=True))
    made = " and ".join(f"{value:.2g}" for value in output[framed])
    return figure, (
        f"Four tables for the tokens {', '.join(tokens)}: scores, weights, values, output. The row of the query {tokens[framed]} is "
        f"framed in the scores, the weights and the output. It gives the weights {given}; mixed in these amounts, the rows of the "
        f"values give {made}."
    )


@picture
def entropy_by_width(guess: str | None, normalized_entropy: NormalizedEntropy) -> tuple[Figure, str]:
    """How even the weights are, scaled and not, against the width of queries and keys."""
    rng = np.random.default_rng(7)
    widths = 2 ** np.arange(0, 11)
    found = np.array([normalized_entropy(rng.standard_normal((64, k)), rng.standard_normal((64, k))) for k in widths])
    figure, axes = canvas(width=8.2, height=4.2)
    for column, (label, dash) in enumerate((("unscaled", "--"), ("divided by √k", "-"))):
        axes.plot(widths, found[:, column], dash, marker=MARKERS[1 - column], color=COLOURS[1 - column], label=label)
    axes.axhline(1.0, color="black", linewidth=1, linestyle=":")
    axes.text(1.0, 1.02, "even weights: every key the same", va="bottom")
    axes.text(1.0, 0.02, "saturated: one key takes it all", va="bottom")
    axes.set_xscale("log", base=2)
    axes.set_xticks(widths, [str(k) for k in widths])
    axes.set(xlabel="width k of queries and keys", ylabel="mean entropy / log m", ylim=(0, 1.15))
    axes.legend(loc="center left", bbox_to_anchor=(0.0, 0.35))
    verdict = told(guess, "a")
    figure.suptitle(f"64 random queries, 64 random keys. The scaled line: {verdict}", fontsize=12)
    return figure, (
        "Line chart. Mean entropy of the weights over log m, against the width k from 1 to 1024, for 64 random queries and keys. The "
        "unscaled line, dashed with squares, falls from about 0.9 at k = 1 to below 0.1 at k = 1024. The line scaled by root k, solid "
        f"with circles, stays near 0.9 from end to end. {verdict}"
    )


@picture
def loop_against_matrix(
    guess: str | None, attend_loop: Callable[..., Any], qkv: Callable[..., Any], attention: Attention
) -> tuple[Figure, str]:
    """The time of both, for more and more tokens, on the machine of the reader."""
    rng = np.random.default_rng(3)
    d, k, v = 64, 16, 32
    Wq, Wk, Wv = (rng.standard_normal((d, width)) / 8 for width in (k, k, v))
    lengths = 2 ** np.arange(1, 13)
    texts = [rng.standard_normal((n, d)) for n in lengths]
    loops = [partial(attend_loop, X, Wq, Wk, Wv, np.matmul) for X in texts]
    products = [partial(_at_once, qkv, attention, X, Wq, Wk, Wv) for X in texts]
    with one_blas_thread() as alone:
        took = np.array(quietest(*chain(*zip(loops, products, strict=True)), alone=alone, rounds=3))
    loop, matrix = took[::2], took[1::2]
    figure, (left, right) = canvas(1, 2, width=9.4, height=4.0)
    left.loglog(lengths, np.multiply(loop, 1e3), "--", marker=MARKERS[1], color=COLOURS[1], label="loop over tokens")
    left.loglog(lengths, np.multiply(matrix, 1e3), "-", marker=MARKERS[0], color=COLOURS[0], label="matrices")
    left.set(xlabel="tokens n", ylabel="milliseconds", title="time of one call")
    left.legend()
    ratio = np.divide(loop, matrix)
    right.semilogx(lengths, ratio, "-", marker=MARKERS[2], color=COLOURS[2])
    right.axhline(1.0, color="black", linewidth=1.5, linestyle=":", label="both the same")
    right.set(xlabel="tokens n", title="how many times longer the loop takes", ylim=(0, 1.15 * ratio.max()))
    right.legend(loc="upper right")
    for axes in (left, right):
        axes.set_xticks(lengths[1::2], [str(n) for n in lengths[1::2]])
        axes.minorticks_off()
    threads = "one thread" if alone else "as many threads as it likes"
    verdict = told(guess, _hill(ratio))
    figure.supxlabel(f"d = {d}, k = {k}, v = {v}, NumPy on this machine, {threads}.\n{verdict}", fontsize=12)
    return figure, (
        "Two charts against the number of tokens, 2 to 4096. Left, the time of one call on logarithmic axes: the loop, dashed "
        "with squares, and the matrices, solid with circles; both rise. Right, how many times longer the loop takes, with a "
        f"dotted line where both are equal: {ratio[0]:.2g} times at 2 tokens, {ratio.max():.2g} times at the most, "
        f"{ratio[-1]:.2g} times at 4096. {verdict}"
    )


def _hill(ratio: Float[np.ndarray, "lengths"]) -> str | None:
    """Whether a quotient grows all the way (a), grows and shrinks again (b) or does neither (c); None if it is close."""
    grown = (between(ratio.max() / ratio[0], [CHANGED], "ny"), between(ratio.max() / ratio[-1], [CHANGED], "ny"))
    return {("y", "n"): "a", ("y", "y"): "b", ("n", "n"): "c"}.get(grown)  # type: ignore[arg-type]


def _at_once(qkv: Callable[..., Any], attention: Callable[..., Any], *arguments: np.ndarray) -> Any:
    return attention(*qkv(*arguments))
