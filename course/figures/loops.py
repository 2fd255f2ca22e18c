"""Pictures of notebook 01: one query at a time, and what its loop costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from course.figures import COLOURS, MARKERS, PALE, PAPER, RUST, canvas, picture
from course.figures.grids import grid
from course.figures.verdicts import told

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOKENS = ("tea", "is", "hot")
QUERY = np.array([[2.0, 0.0, 0.0, 2.0]])
KEYS = np.array([[1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, -1.0], [1.0, 2.0, 1.0, 0.0]])
SCORES = np.array([2.0, -1.0, 1.0])
WEIGHTS = np.array([0.705384, 0.035119, 0.259497])
VALUES = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 4.0], [1.0, 1.0, 6.0]])


@picture
def one_query() -> tuple[Figure, str]:
    """What one token does: scores, then weights, then a mix."""
    figure, panels = canvas(3, 5, width=10.8, height=4.9, width_ratios=(4, 4.2, 3, 3.2, 4.7), height_ratios=(1, 3, 1))
    for panel in (*panels[0, 1:], *panels[2, :4]):
        panel.set_axis_off()
    weights = WEIGHTS.round(4)
    products = weights[:, None] * VALUES  # as shown, the numbers are the products and sums of those before them
    grid(panels[0, 0], QUERY, "query of “hot”", plain=True)
    grid(panels[1, 0], KEYS, "keys", plain=True)
    _bars(panels[1, 1], SCORES, "1. scores", ["4 / √4 = 2", "−2 / √4 = −1", "2 / √4 = 1"], (-2.6, 6.6))
    _bars(panels[1, 2], weights, "2. weights", [f"{weight:.4f}" for weight in weights], (0, 1.4))
    grid(panels[1, 3], VALUES, "values", plain=True)
    grid(panels[1, 4], products, "3. weight × value", digits=5, plain=True)
    grid(panels[2, 4], np.round(products.sum(axis=0), 3), "sum: the output", digits=4, plain=True)
    for panel in panels.flat:
        panel.set_aspect("auto")
    panels[1, 0].set_yticks(range(len(TOKENS)), TOKENS)
    panels[1, 0].tick_params(length=0)
    panels[1, 1].set_xlabel("query · key / √k")
    panels[1, 2].set_xlabel("softmax")
    style = {"ha": "center", "va": "center", "color": RUST}
    panels[0, 0].text(0.5, -0.32, "·", transform=panels[0, 0].transAxes, fontsize=34, **style)
    signs = ((panels[1, 1], "→"), (panels[1, 2], "→"), (panels[1, 3], "×"), (panels[1, 4], "="), (panels[2, 4], "Σ"))
    for panel, sign in signs:
        panel.text(-0.13, 0.5, sign, transform=panel.transAxes, fontsize=22, **style)
    return figure, (
        "From left to right, a row for each of the tokens tea, is and hot. The query of hot, 2 0 0 2, meets the three keys. "
        "The dot products 4, −2 and 2, halved, are the scores 2, −1 and 1. Softmax makes them the weights 0.7054, 0.0351 and 0.2595. "
        "Each value is multiplied by its weight, and the sum of the three is the output 0.965 0.295 3.108."
    )


def _bars(axes: Axes, lengths: np.ndarray, title: str, labels: list[str], limits: tuple[float, float]) -> None:
    """Horizontal bars in the rows of the grids beside them."""
    rows = np.arange(len(lengths))
    axes.barh(rows, lengths, height=0.55, color=COLOURS[0])
    for row, (length, label) in enumerate(zip(lengths, labels, strict=True)):
        axes.text(max(length, 0) + 0.03 * (limits[1] - limits[0]), row, label, va="center")
    axes.axvline(0, color="black", linewidth=1)
    axes.set(xlim=limits, ylim=(len(lengths) - 0.5, -0.5), title=title)
    axes.set_yticks([])
    axes.set_xticks([])
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.grid(False)


@picture
def room_for_powers() -> tuple[Figure, str]:
    """For which scores e to the score can be written down at all."""
    figure, axes = canvas(width=8.6, height=2.5)
    rooms = {"float32": (-103.97, 88.72), "float64": (-745.13, 709.78)}
    edge = 1150
    for row, (low, high) in enumerate(rooms.values()):
        axes.barh(row, high - low, left=low, height=0.5, color=PALE, edgecolor="black")
        axes.barh(row, low + edge, left=-edge, height=0.5, color=PAPER, edgecolor="0.4", hatch="\\\\")
        axes.barh(row, edge - high, left=high, height=0.5, color=PAPER, edgecolor="0.4", hatch="//")
        wide = high - low > edge / 2
        place = {"y": row, "va": "center"} if wide else {"y": row - 0.28, "va": "bottom"}
        axes.text(x=(low + high) / 2, s="a number", ha="center", fontsize=10, **place)
        axes.text((low - edge) / 2, row, "0", ha="center", va="center", backgroundcolor=PAPER, weight="bold")
        axes.text((high + edge) / 2, row, "inf", ha="center", va="center", backgroundcolor=PAPER, weight="bold")
        axes.text(low, row + 0.31, f"{np.ceil(low):g}".replace("-", "−"), ha="center", va="top")
        axes.text(high, row + 0.31, f"{np.floor(high):g}", ha="center", va="top")
    axes.set_yticks(range(len(rooms)), rooms)
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=(-edge, edge), ylim=(1.75, -0.62), xlabel="score s", title="what the computer makes of e to the s")
    axes.grid(False)
    return figure, (
        "Two bars on a line of scores from −1150 to 1150. In float32, e to the score is a number for scores from −103 to 88; in float64 "
        "from −745 to 709. To the left of the bar it comes out as 0, to the right as inf."
    )


@picture
def shifted_and_stretched(softmax_1d: Callable[[np.ndarray], np.ndarray], guess: str | None) -> tuple[Figure, str]:
    """The weights of three scores, of the same scores moved up, and of the same scores multiplied.

    Args:
        softmax_1d: the reader's.
        guess: what becomes of the largest weight where the scores are multiplied.
    """
    scores = np.array([1.0, 2.0, 3.0])
    settings = {"as they are": scores, "1000 added": scores + 1000, "times 4": 4 * scores}
    figure, panels = canvas(1, 3, width=8.6, height=3.2, sharey=True)
    shown = []
    for panel, (title, changed) in zip(panels, settings.items(), strict=True):
        weights = softmax_1d(changed)
        shown.append(", ".join(f"{weight:.3f}" for weight in weights))
        panel.bar(range(3), weights, width=0.6, color=COLOURS[0])
        for j, weight in enumerate(weights):
            panel.text(j, np.nan_to_num(weight) + 0.02, f"{weight:.3f}", ha="center", va="bottom")
        panel.set_xticks(range(3), [f"{score:g}" for score in changed])
        panel.set(ylim=(0, 1.12), title=title, xlabel="score")
        panel.grid(False, axis="x")
    panels[0].set_ylabel("weight")
    verdict = told(guess, "c")
    figure.supxlabel(f"The largest weight, with scores times 4: {verdict}", fontsize=12)
    return figure, (
        f"Three bar charts of the weights that your softmax gives. For the scores 1, 2, 3 they are {shown[0]}. "
        f"With 1000 added to each score they are {shown[1]}. With each score multiplied by 4 they are {shown[2]}. {verdict}"
    )


@picture
def work_per_step(guess: int | None) -> tuple[Figure, str]:
    """Rows projected in each turn of the loop over queries, literal and hoisted, for six tokens."""
    n = 6
    literal = {"query": [0] + [1] * n, "keys": [0] + [n] * n, "values": [0] + [n] * n}
    hoisted = {"query": [0] + [1] * n, "keys": [n] + [0] * n, "values": [n] + [0] * n}
    figure, panels = canvas(1, 2, width=9.0, height=3.7, sharey=True)
    hatches = {"query": "", "keys": "///", "values": "..."}
    for panel, (title, work) in zip(panels, {"literal loop": literal, "hoisted loop": hoisted}.items(), strict=True):
        floor = np.zeros(n + 1)
        for colour, (name, rows) in zip(COLOURS, work.items(), strict=False):
            panel.bar(
                range(n + 1),
                rows,
                bottom=floor,
                label=name,
                color=colour,
                hatch=hatches[name],
                edgecolor=PAPER,
                width=0.75,
            )
            floor += rows
        for step, height in enumerate(floor):
            panel.text(step, height + 0.3, f"{height:g}", ha="center", va="bottom")
        panel.set_xticks(range(n + 1), ["before", *map(str, range(n))])
        panel.set(xlabel="turn of the loop: query i =", title=f"{title}: {floor.sum():g} rows in all", ylim=(0, 16.5))
        panel.grid(False, axis="x")
    panels[0].set_ylabel("rows projected")
    panels[0].set_yticks([0, 5, 10, 15])
    panels[1].legend(loc="upper right")
    verdict = told(guess, 78)
    figure.supxlabel(f"Rows of the literal loop: {verdict}", fontsize=12)
    return figure, (
        "Two bar charts of the rows projected, for six tokens. The literal loop projects 13 rows in every turn, one query, six keys and "
        "six values: 78 in all. The hoisted loop projects six keys and six values before it starts and then one query a turn: 18 in all."
        f" {verdict}"
    )


@picture
def work_by_length(loop_flops: Callable[..., int], guess: str | None) -> tuple[Figure, str]:
    """FLOPs of both loops against the number of tokens, and how many times more the literal loop does.

    Args:
        loop_flops: the reader's.
        guess: how the ratio goes on.
    """
    d, k, v = 64, 16, 24
    lengths = 4 ** np.arange(10)
    literal, hoisted = (np.array([loop_flops(int(n), d, k, v, how) for n in lengths], float) for how in (False, True))
    figure, (left, right) = canvas(1, 2, width=9.0, height=3.9)
    for work, name, colour, marker, dashes in (
        (literal, "literal", COLOURS[1], MARKERS[1], "--"),
        (hoisted, "hoisted", COLOURS[0], MARKERS[0], "-"),
    ):
        left.loglog(lengths, work, dashes, marker=marker, color=colour, label=name)
    left.set(xlabel="tokens n", ylabel="FLOPs", title="work of the whole loop")
    left.legend()
    ratio = literal / hoisted
    right.semilogx(lengths, ratio, color=COLOURS[2], marker=MARKERS[2])
    right.axhline(d + 1, color="black", linestyle=":", linewidth=1.5)
    right.text(lengths[0], d + 2, f"d + 1 = {d + 1}", va="bottom")
    right.set(xlabel="tokens n", title="literal divided by hoisted", ylim=(0, 75))
    verdict = told(guess, "b")
    figure.supxlabel(f"d = {d}, k = {k}, v = {v}. {verdict}", fontsize=12)
    return figure, (
        f"Two line charts against the number of tokens, from 1 to {lengths[-1]}, with d = {d}, k = {k} and v = {v}, made with your "
        f"counts. On the left the FLOPs of both loops on logarithmic axes: at one token {literal[0]:.0f} for the literal loop and "
        f"{hoisted[0]:.0f} for the hoisted one, at the longest {literal[-1]:.1e} and {hoisted[-1]:.1e}. On the right the first divided "
        f"by the second: {ratio[0]:.0f} at one token, {ratio[3]:.0f} at {lengths[3]}, {ratio[5]:.0f} at {lengths[5]}, {ratio[-1]:.0f} at the "
        f"longest, and a dotted line at d + 1 = {d + 1}. {verdict}"
    )
