"""Pictures of notebook 06: shapes lined up, texts filled up, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from course.clock import race, threads
from course.figures import (
    COLOURS,
    MARKERS,
    PALE,
    PAPER,
    RUST,
    Covered,
    Picture,
    canvas,
    forms,
    picture,
    powers_of_ten,
)
from course.figures.verdicts import CHANGED, between, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Shape = tuple[int, ...]


def broadcast(first: Shape, second: Shape, names: tuple[str, str] = ("", "")) -> Picture | Covered | None:
    """What becomes of two shapes in a sum, a product, or any other operation entry by entry.

    Args:
        first, second: two shapes, such as (2, 1, 3) and (4, 3), with up to six axes each.
        names: the names of their axes, such as "b h n" and "n m"; they may be left out.
    """
    if len(names) != 2 or not all(isinstance(named, str) for named in names):
        return Covered('The names are two texts, one for each shape, such as ("b h n n", "n n").')
    for shape, named in zip((first, second), names, strict=True):
        whole = isinstance(shape, tuple) and all(type(size) is int and 0 < size < 1000 for size in shape)
        if not whole or len(shape) > 6:
            return Covered("A shape is a tuple of whole numbers from 1 to 999, six at most. One axis alone is (3,).")
        if named and len(named.split()) != len(shape):
            return Covered(
                f"The names {named!r} are {len(named.split())}, and the shape {shape} has {len(shape)} axes."
            )
    return _broadcast(first, second, names)


@picture
def _broadcast(first: Shape, second: Shape, names: tuple[str, str]) -> tuple[Figure, str]:
    pairs = list(zip_longest(first[::-1], second[::-1]))[::-1]
    named = list(zip_longest(*(reversed(text.split()) for text in names)))[::-1] if any(names) else []
    named = [(None, None)] * (len(pairs) - len(named)) + named
    outcomes = [_meeting(*pair, *called) for pair, called in zip(pairs, named, strict=True)]
    refused = any(size is None for size, _, _ in outcomes)
    figure, axes = canvas(width=max(5.6, 2.0 + 1.75 * len(pairs)), height=3.5)
    for column, ((a, b), called, (size, how, _)) in enumerate(zip(pairs, named, outcomes, strict=True)):
        for line, (mine, other, name) in enumerate(((a, b, called[0]), (b, a, called[1]))):
            _axis(axes, column, line, mine, name, stretched=mine in (None, 1) and other not in (None, 1))
        trouble = size is None or "against" in how
        axes.text(column + 0.5, 2.12, how, ha="center", va="top", fontsize=11, weight="bold" if trouble else "normal")
        if not refused:
            _axis(axes, column, 3.05, size, None, stretched=False)
    for row, label in ((0, "first"), (1, "second"), (3.05, "result")):
        axes.text(-0.12, row + 0.42, label, ha="right", va="center")
    if refused:
        axes.text(
            len(pairs) / 2, 3.45, "refused: there is no result", ha="center", va="center", weight="bold", color=RUST
        )
    axes.set(xlim=(-0.75, len(pairs) + 0.1), ylim=(4.0, -0.1))
    axes.set_axis_off()
    axis = "; ".join(
        f"axis {place - len(pairs)}, {a or 'none'} and {b or 'none'}: {said}"
        for place, ((a, b), (_, _, said)) in enumerate(zip(pairs, outcomes, strict=True))
    )
    result = "There is no result" if refused else f"The result has the shape {tuple(size for size, _, _ in outcomes)}"
    return figure, f"The shapes {first} and {second}, lined up from the right. {axis}. {result}."


def _meeting(a: int | None, b: int | None, name: str | None, other: str | None) -> tuple[int | None, str, str]:
    """The size of two axes together, or None where they do not fit, and what is to be said of them, short and long."""
    size = max(a or 1, b or 1)
    if a != b and a not in (None, 1) and b not in (None, 1):
        return None, f"{a} against {b}\nno", "they differ and neither is 1, which is refused"
    if a == b:
        if name and other and name != other and a != 1:
            return size, f"{name} against {other}\n(both {a})", f"equal, though one is {name} and the other {other}"
        return size, "equal", "equal"
    if a is None or b is None:
        return size, f"missing → {size}", f"the missing one is taken as 1 and stretched to {size}"
    return size, f"1 → {size}", f"the 1 is stretched to {size}"


def _axis(axes: Axes, column: int, row: float, size: int | None, name: str | None, stretched: bool) -> None:
    face, hatch = (PAPER, "////") if stretched else (PALE, None)
    box = forms.rectangle(
        (column + 0.06, row), 0.88, 0.84, facecolor=face, edgecolor="0.45", hatch=hatch, linewidth=1.2
    )
    axes.add_patch(box)
    text = "–" if size is None else f"{name} = {size}" if name else str(size)
    white = {"facecolor": PAPER, "edgecolor": "none", "pad": 2} if stretched else None
    axes.text(column + 0.5, row + 0.42, text, ha="center", va="center", fontsize=13, bbox=white)


TEXTS = (("rain", "falls"), ("rain", "falls", "on", "the", "roof"), ("it", "stops", "."))


@picture
def padded_texts() -> tuple[Figure, str]:
    """Three texts of different lengths, filled up behind and in front."""
    n = max(map(len, TEXTS))
    figure, panels = canvas(1, 2, width=9.4, height=2.9)
    for axes, left, title in zip(panels, (False, True), ("padding behind", "padding in front"), strict=True):
        for item, words in enumerate(TEXTS):
            gap = n - len(words) if left else 0
            for place in range(n):
                real = gap <= place < gap + len(words)
                style: dict[str, Any] = {"facecolor": PALE} if real else {"facecolor": PAPER, "hatch": "////"}
                axes.add_patch(forms.rectangle((place, item), 1, 1, edgecolor="0.45", **style))
                if real:
                    axes.text(place + 0.5, item + 0.5, words[place - gap], ha="center", va="center", fontsize=11)
            axes.text(-0.12, item + 0.5, f"item {item}, length {len(words)}", ha="right", va="center", fontsize=11)
        for place in range(n):
            axes.text(place + 0.5, -0.12, str(place), ha="center", va="bottom", color="0.3")
        axes.set(xlim=(-2.2, n + 0.05), ylim=(len(TEXTS) + 0.05, -0.6), title=title)
        axes.set_axis_off()
    lengths = ", ".join(str(len(words)) for words in TEXTS)
    return figure, (
        f"The same {len(TEXTS)} texts, of lengths {lengths}, in two tables of {len(TEXTS)} rows and {n} places. On the left each text "
        "begins at place 0 and the places behind it are hatched: padding. On the right each text ends at the last place, and the "
        "hatched places stand in front."
    )


@picture
def padding_masks(combine_keep: Callable[..., object]) -> tuple[Figure, str]:
    """What the tokens of a short and of a long text may see, with padding behind and in front."""
    import torch

    lengths, n = torch.tensor([2, 4]), 4
    behind, front = (np.asarray(combine_keep(lengths, n, True, left)) for left in (False, True))
    short = int(lengths[0])
    views = (
        ("2 tokens, padding behind", behind[0, 0], range(short)),
        ("2 tokens, padding in front", front[0, 0], range(n - short, n)),
        ("4 tokens, no padding", behind[1, 0], range(n)),
    )
    figure, panels = canvas(1, 3, width=9.8, height=3.7)
    for axes, (title, keep, real) in zip(panels, views, strict=True):
        _mask_panel(axes, keep, real)
        axes.set_title(title, fontsize=13)
    panels[0].set_ylabel("token i looks")
    sentences = [
        f"{title}: " + ", ".join(f"row {i} sees {_listed(np.flatnonzero(row))}" for i, row in enumerate(keep))
        for title, keep, _ in views
    ]
    return figure, (
        "Three masks of 4 by 4, with a dot where a token may attend; rows and columns of padding are hatched. "
        + "; ".join(sentences)
        + "."
    )


def _listed(places: np.ndarray) -> str:
    return " ".join(map(str, places)) if len(places) else "nothing"


def _mask_panel(axes: Axes, keep: np.ndarray, real: range) -> None:
    n = len(keep)
    for (i, j), sees in np.ndenumerate(keep):
        style: dict[str, Any] = (
            {"facecolor": PALE} if i in real and j in real else {"facecolor": PAPER, "hatch": "////"}
        )
        axes.add_patch(forms.rectangle((j, i), 1, 1, edgecolor="0.6", **style))
        if sees:
            axes.plot(j + 0.5, i + 0.5, "o", color=COLOURS[0], markersize=11, markeredgecolor=PAPER)
    for i in np.flatnonzero(~keep.any(axis=1)):
        box = {"facecolor": PAPER, "edgecolor": "none", "pad": 2}
        axes.text(n / 2, i + 0.5, "sees nothing", ha="center", va="center", fontsize=11, bbox=box)
    axes.set(xlim=(-0.03, n + 0.03), ylim=(n + 0.03, -0.03), aspect="equal", xlabel="at token j")
    labels = [str(place) if place in real else "pad" for place in range(n)]
    axes.set_xticks(np.arange(n) + 0.5, labels, fontsize=11)
    axes.set_yticks(np.arange(n) + 0.5, labels, fontsize=11)
    axes.tick_params(length=0)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


@picture
def batch_against_loop(guess: str | None, mha_batched: Callable[..., object]) -> tuple[Figure, str]:
    """The time of one call for a whole batch and of one call for each item, on the machine of the reader."""
    import torch

    draw = torch.Generator().manual_seed(4)
    n, d, h = 16, 32, 4
    params = {name: torch.randn(d, width, generator=draw) / d**0.5 for name, width in (("Wqkv", 3 * d), ("Wo", d))}
    keep = torch.ones(n, n, dtype=torch.bool).tril()
    counts = (1, 4, 16, 64)
    batches = [torch.randn(b, n, d, generator=draw) for b in counts]

    def one_by_one(X: torch.Tensor) -> None:
        for item in X:
            mha_batched(item[None], params, h, keep)

    together = [partial(mha_batched, X, params, h, keep) for X in batches]
    with threads(1):  # so that whatever else runs on this machine disturbs little
        batch, loop = np.split(np.array(race(*together, *(partial(one_by_one, X) for X in batches), rounds=5)), 2)
    figure, (left, right) = canvas(1, 2, width=9.4, height=3.9)
    left.loglog(counts, loop * 1e3, "--", marker=MARKERS[1], color=COLOURS[1], label="one call for each item")
    left.loglog(counts, batch * 1e3, "-", marker=MARKERS[0], color=COLOURS[0], label="one call for all items")
    left.set(xlabel="items b", title="milliseconds for the whole batch")
    left.legend()
    right.semilogx(counts, loop / counts * 1e6, "--", marker=MARKERS[1], color=COLOURS[1])
    right.semilogx(counts, batch / counts * 1e6, "-", marker=MARKERS[0], color=COLOURS[0])
    right.set(xlabel="items b", title="microseconds for each item")
    right.set_ylim(0, 1.15e6 * max((loop / counts).max(), (batch / counts).max()))
    powers_of_ten(left, np.concatenate([batch, loop]) * 1e3)
    for axes in (left, right):
        axes.set_xticks(counts, [str(b) for b in counts])
        axes.minorticks_off()
    most = counts[-1]
    times = batch[-1] / batch[0]
    verdict = told(guess, between(times, (CHANGED, most / CHANGED), "abc"))
    figure.supxlabel(f"{most} items in one call: {times:.1f} times as long as 1.\n{verdict}", fontsize=12)
    each = [f"{1e6 * took[i] / counts[i]:.2g}" for took in (loop, batch) for i in (0, -1)]
    return figure, (
        f"Two charts against the number of items, 1 to 64, each of {n} tokens of width {d}. Left, the time for the whole batch on "
        "logarithmic axes: one call for each item, dashed with squares, and one call for all, solid with circles. Right, the same for "
        f"each item, in microseconds: the dashed line goes from {each[0]} to {each[1]}, the solid one from {each[2]} to {each[3]}. "
        f"{most} items in one call take {times:.1f} times as long as 1. {verdict}"
    )


@picture
def slopes(softmax_backward: Callable[..., object]) -> tuple[Figure, str]:
    """How far a weight moves when its own score moves a little, for weights from 0 to 1."""
    import torch

    p = torch.linspace(0.0, 1.0, 101, dtype=torch.float64)
    P = torch.stack([p, 1 - p], dim=1)
    own = np.asarray(softmax_backward(P, torch.tensor([1.0, 0.0], dtype=torch.float64).expand_as(P)))
    figure, axes = canvas(width=7.4, height=3.7)
    axes.plot(p, own[:, 0], "-", color=COLOURS[0])
    axes.plot(p, own[:, 1], "--", color=COLOURS[1])
    axes.text(0.5, 0.19, "its own score rises", ha="center", va="center")
    axes.text(0.5, -0.19, "the other score rises", ha="center", va="center")
    axes.axhline(0.0, color="black", linewidth=1, linestyle=":")
    for place, marker in ((50, MARKERS[0]), (90, MARKERS[1]), (99, MARKERS[2])):
        axes.plot(p[place], own[place, 0], marker, color="black", markersize=8)
        axes.annotate(
            f"p = {p[place]:.2g}: {own[place, 0]:.2g}",
            (float(p[place]), own[place, 0]),
            xytext=(8, 6),
            textcoords="offset points",
        )
    axes.set(
        xlabel="weight p of one of two keys",
        ylabel="change of p, per unit of score",
        ylim=(-0.32, 0.34),
        xlim=(0, 1),
    )
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1.0])
    marked = "; ".join(f"{own[place, 0]:.2g} at p = {p[place]:.2g}" for place in (50, 90, 99))
    return figure, (
        "Line chart of the slope of a weight p, for two keys. When its own score rises, solid, the slope is p times 1 minus p: an "
        f"arch over the weights from 0 to 1, {marked}. When the other score rises, dashed, it is the same with a minus sign."
    )


@picture
def there_and_back() -> tuple[Figure, str]:
    """The steps of attention with their shapes, what is kept of them, and the way back."""
    figure, axes = canvas(width=10.4, height=5.6)
    stations = (
        (0.9, "Q", "[n, k]", "dQ", "dS · K / √k", "K"),
        (2.6, "K", "[m, k]", "dK", "dSᵀ · Q / √k", "Q"),
        (4.7, "S", "[n, m]", "dS", "A ∗ (dA − sum\nof dA ∗ A)", "A"),
        (6.8, "A", "[n, m]", "dA", "dO · Vᵀ", "V"),
        (8.4, "V", "[m, v]", "dV", "Aᵀ · dO", "A"),
        (10.1, "O", "[n, v]", "dO", "handed in", ""),
    )
    kept = {needed for *_, needed in stations if needed}
    axes.add_patch(forms.rectangle((0.2, 2.06), 8.9, 0.66, facecolor="0.93", edgecolor="none"))
    axes.text(9.2, 2.39, "kept for\nthe way back", ha="left", va="center", fontsize=12, color="0.3")
    for x, name, shape, gradient, formula, needed in stations:
        for y, text, face in ((1.0, name, PALE), (3.7, gradient, PAPER)):
            box = forms.rectangle((x - 0.45, y - 0.42), 0.9, 0.84, facecolor=face, edgecolor="0.35", linewidth=1.4)
            axes.add_patch(box)
            axes.text(x, y - 0.13, text, ha="center", va="center", fontsize=15, weight="bold")
            axes.text(x, y + 0.22, shape, ha="center", va="center", fontsize=11.5)
        if name in kept:
            axes.add_patch(forms.rectangle((x - 0.3, 2.14), 0.6, 0.5, facecolor=PALE, edgecolor="0.35", linewidth=1.2))
            axes.text(x, 2.39, name, ha="center", va="center", fontsize=14, weight="bold")
        axes.text(x, 4.26, formula, ha="center", va="top", fontsize=13)
        if needed:
            axes.text(x, 5.0, f"needs {needed}", ha="center", va="center", fontsize=12.5, style="italic")
    forward = ((0.9, 4.7, -0.28), (2.6, 4.7, 0.0), (4.7, 6.8, 0.0), (6.8, 10.1, -0.26), (8.4, 10.1, 0.0))
    for start, end, bend in forward:
        _arrow(axes, start, end, 1.0, bend)
        _arrow(axes, end, start, 3.7, bend)
    for x, text in ((3.65, "Q · Kᵀ / √k"), (5.75, "softmax"), (9.25, "A · V")):
        axes.text(x, 1.68, text, ha="center", va="center", fontsize=13)
    axes.text(0.0, 0.0, "there", fontsize=13, color="0.3")
    axes.text(0.0, 3.08, "and back", fontsize=13, color="0.3")
    axes.set(xlim=(-0.1, 10.9), ylim=(5.2, -0.25))
    axes.set_axis_off()
    back = "; ".join(
        f"{gradient} is {' '.join(formula.split())} with the kept {needed}"
        for _, _, _, gradient, formula, needed in reversed(stations[:-1])
    )
    return figure, (
        "Two rows of boxes, and a shelf between them. Above, forward: Q and K make S by Q K transposed over root k, S makes A by softmax, "
        "A and V make O by the product A V. On the shelf lie Q, K, A and V, kept for the way back. Below, backward, each box of the same "
        f"shape as the one above it, with arrows the other way: dO is handed in; {back}."
    )


def _arrow(axes: Axes, start: float, end: float, y: float, bend: float) -> None:
    side = 0.47 if end > start else -0.47
    curve = bend if end > start else -bend
    lift = -0.42 if bend else 0.0
    ends = ((start, y + lift), (end, y + lift)) if bend else ((start + side, y), (end - side, y))
    axes.add_patch(
        forms.arrow(
            *ends, connectionstyle=f"arc3,rad={curve}", arrowstyle="-|>", mutation_scale=14, color="0.25", linewidth=1.4
        )
    )
