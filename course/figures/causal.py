"""Pictures of notebook 03: what a mask hides, and what it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float

from course.figures import COLOURS, FRAME, MARKERS, PALE, PAPER, RUST, Covered, Picture, canvas, forms, picture
from course.figures.grids import COLOUR_REPEATS, grid, numbered_places
from course.figures.verdicts import told

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Scores = Float[np.ndarray, "n m"]
Mask = Bool[np.ndarray, "n m"]
Masking = Callable[[np.ndarray, np.ndarray], np.ndarray]
Model = Callable[[np.ndarray], np.ndarray]

SENTENCE = ("rain", "falls", "on", "the", "roof")


@picture
def n_problems() -> tuple[Figure, str]:
    """One sentence as a staircase of prediction problems."""
    n = len(SENTENCE)
    answers = (*SENTENCE[1:], "(end)")
    figure, axes = canvas(width=8.6, height=3.6)
    for i in range(n):
        for j in range(n):
            if j <= i:
                axes.add_patch(forms.rectangle((j, i), 1, 1, facecolor=PALE, edgecolor="0.4"))
                axes.text(j + 0.5, i + 0.5, SENTENCE[j], ha="center", va="center", fontsize=13)
            else:
                axes.add_patch(forms.rectangle((j, i), 1, 1, facecolor=PAPER, edgecolor="0.6", hatch="////"))
        axes.text(-0.15, i + 0.5, f"problem {i}", ha="right", va="center")
        axes.annotate("", (n + 0.7, i + 0.5), (n + 0.1, i + 0.5), arrowprops={"arrowstyle": "->"})
        axes.text(n + 0.85, i + 0.5, answers[i], va="center", fontsize=13, weight="bold")
    for j in range(n):
        axes.text(j + 0.5, -0.12, f"token {j}", ha="center", va="bottom", color="0.3")
    axes.text(n + 0.85, -0.12, "answer", va="bottom", color="0.3")
    axes.set(xlim=(-1.2, n + 2), ylim=(n + 0.05, -0.5))
    axes.set_axis_off()
    return figure, (
        "A staircase of five prediction problems, a row for each. Problem 0 shows the word rain and asks for falls; problem 1 shows "
        "rain falls and asks for on; and so on to problem 4, which shows the whole sentence, rain falls on the roof, and asks for the "
        "end. What lies to the right of the staircase is hatched: it is to be masked."
    )


@picture
def steps(S: Scores, hidden: Scores, weights: Scores) -> tuple[Figure, str]:
    """Scores, masked scores and weights, side by side."""
    figure, panels = canvas(1, 3, width=9.2, height=3.6)
    n, m = S.shape
    above = np.isneginf(hidden)
    limits = (float(S.min()), float(S.max()))
    grid(panels[0], S, "scaled scores", f"n = {n}", f"m = {m}", limits=limits)
    grid(panels[1], hidden, "after mask_scores", f"n = {n}", f"m = {m}", marked=above, limits=limits)
    _hatch_infinities(panels[1], hidden)
    grid(panels[2], weights, "after softmax", f"n = {n}", f"m = {m}", marked=above, limits=(0.0, 1.0))
    for panel in panels:
        _numbered(panel, n, m)
    figure.supxlabel(COLOUR_REPEATS, fontsize=11)
    rows = [_plain(row) for row in weights]
    return figure, (
        f"Three grids of {n} by {m}. On the left the scaled scores. In the middle {int(above.sum())} of them, framed, are minus "
        f"infinity. On the right the weights; the framed places hold {_plain(weights[above])}. The rows of weights are: {'; '.join(rows)}."
    )


def _numbered(axes: Axes, n: int, m: int) -> None:
    """Write the numbers of rows and columns beside a grid."""
    axes.set_xticks(range(m), map(str, range(m)))
    axes.set_yticks(range(n), map(str, range(n)))
    axes.tick_params(length=0)


@picture
def empty_row(softmax: Model, mask_scores: Masking, masked_softmax: Masking) -> tuple[Figure, str]:
    """What becomes of a row that masks everything, in three ways."""
    S = np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 2.0]])
    keep = np.array([[True, True, False], [False, False, False]])
    with np.errstate(all="ignore"):
        ways = [
            ("mask with -1e9, softmax", softmax(np.where(keep, S, -1e9))),
            ("mask with -∞, softmax", softmax(mask_scores(S, keep))),
            ("masked_softmax", masked_softmax(S, keep)),
        ]
    figure, panels = canvas(1, 3, width=9.2, height=2.9)
    for panel, (name, weights) in zip(panels, ways, strict=True):
        grid(panel, weights, name, marked=~keep, limits=(0.0, 1.0))
        _numbered(panel, *keep.shape)
        for i, j in np.argwhere(np.isnan(weights)):
            panel.text(j, i, "NaN", ha="center", va="center", weight="bold")
    panels[0].set_yticks([0, 1], ["row 0 masks\none token", "row 1 masks\nall three"])
    told_rows = "; ".join(f"{name}: {_plain(weights[0])}, and {_plain(weights[1])}" for name, weights in ways)
    return figure, (
        "Three grids of weights, with the same scores and the same mask. Row 0 masks its last token, row 1 masks all three; masked "
        f"places are framed. Row 0 and row 1 in turn: {told_rows}."
    )


def _plain(row: np.ndarray) -> str:
    return " ".join(f"{x:.2g}" for x in row)


@picture
def influence_map(
    model: Model,
    X: Float[np.ndarray, "n d"],
    influence: Callable[[Model, np.ndarray], np.ndarray],
    causal_keep: Callable[[int], np.ndarray],
    title: str = "",
) -> tuple[Figure, str]:
    """Which token reaches which output of a model, and whether it may."""
    moved, keep = influence(model, X), causal_keep(len(X))
    figure, axes = canvas(width=5.4, height=4.2)
    influence_cells(axes, moved, keep)
    axes.set_title(title)
    figure.supxlabel("pale blue: the causal mask permits it", fontsize=11)
    leaks = [f"from token {j} to output {i}" for i, j in np.argwhere(moved & ~keep)]
    leaking = f"{len(leaks)} places show a leak: {', '.join(leaks)}" if leaks else "no place shows a leak"
    return figure, (
        f"Map of influence{', ' + title if title else ''}: a row for each output, a column for each token. "
        f"{int((moved & keep).sum())} of {int(keep.sum())} permitted places show influence, and {leaking}."
    )


def influence_cells(axes: Axes, moved: Mask, keep: Mask) -> None:
    n, m = moved.shape
    for (i, j), moves in np.ndenumerate(moved):
        leak = moves and not keep[i, j]
        face = PALE if keep[i, j] else PAPER
        axes.add_patch(forms.rectangle((j, i), 1, 1, facecolor=face, edgecolor="0.7"))
        if leak:
            inside = forms.rectangle((j + 0.04, i + 0.04), 0.92, 0.92, fill=False, edgecolor=FRAME, linewidth=2.5)
            axes.add_patch(inside)
            axes.text(j + 0.5, i + 0.5, "leak", ha="center", va="center", color=RUST, weight="bold", fontsize=11)
        elif moves:
            axes.plot(j + 0.5, i + 0.5, "o", color=COLOURS[0], markersize=9)
    numbered_places(axes, n, m)
    axes.set_xlabel("token j is moved")
    axes.set_ylabel("output i is watched")


def cliff(guess: object, softmax: Model, mask_scores: Masking, zero_renorm: Masking) -> Picture | Covered | None:
    """How wrong zero-and-renormalise gets when a masked score lies far above the kept ones."""
    number = _a_number(guess)
    if guess is not None and number is None:
        return Covered("Your guess is not a number. Write one between 0 and 120, without quotation marks.")
    return _cliff(number, softmax, mask_scores, zero_renorm)


@picture
def _cliff(guess: float | None, softmax: Model, mask_scores: Masking, zero_renorm: Masking) -> tuple[Figure, str]:
    kept = np.array([0.0, -1.0, -2.0])
    truth = softmax(kept[None])[0]
    figure, panels = canvas(2, 2, width=10.2, height=7.4, sharey=True)
    sentences, verdict = [], ""
    ends = {"float16": 24, "bfloat16": 120, "float32": 120, "float64": 800}
    for panel, (dtype, last) in zip(np.ravel(np.asarray(panels)), ends.items(), strict=True):
        gaps = np.arange(last + 1)
        S = np.hstack([np.tile(kept, (len(gaps), 1)), gaps[:, None]])
        keep = np.tile([True, True, True, False], (len(gaps), 1))
        with np.errstate(all="ignore"):
            if dtype == "bfloat16":
                late, early = _in_bfloat16(S, keep)
            else:
                late = zero_renorm(softmax(S.astype(dtype)), keep)
                early = softmax(mask_scores(S.astype(dtype), keep))
            after, before = _error(late, truth), _error(early, truth)
        floor = 1e-17
        panel.plot(gaps, np.maximum(after, floor), color=COLOURS[1], label="0 after softmax, renormalised")
        panel.plot(gaps, np.maximum(before, floor), color=COLOURS[0], dashes=(4, 2), label="-∞ before softmax")
        wrong, nan = _first(after > 0.01), _first(np.isnan(after))
        sentence = f"{dtype}: "
        lines = []
        if wrong is not None:
            panel.plot(wrong, after[wrong], MARKERS[1], color="black", markersize=7)
            lines.append(f"■ 1% wrong from {wrong}")
            sentence += f"wrong by a hundredth from a gap of {wrong}, "
        if nan is not None:
            panel.axvspan(nan, last, facecolor="0.93", hatch="////", edgecolor="0.6")
            lines.append(f"▨ NaN from {nan}")
            sentence += f"NaN from {nan}"
        else:
            sentence += "never NaN"
        box = {"facecolor": PAPER, "edgecolor": "none", "pad": 2}
        panel.text(0.05, 0.97, "\n".join(lines), transform=panel.transAxes, va="top", bbox=box)
        if dtype == "float32" and guess is not None:
            shown = min(max(guess, 0), last)
            panel.axvline(shown, color="black", linestyle=":", linewidth=1.5)
            side = "right" if shown > last / 2 else "left"
            panel.text(shown, 1e-12, f" your guess: {guess:g} ", ha=side, bbox=box)
            there = "at no gap that is drawn" if wrong is None else f"from a gap of {wrong} on"
            verdict = f"You guessed {guess:g}. In float32 a weight is wrong by a hundredth {there}."
            figure.supxlabel(verdict, fontsize=12)
        panel.set(title=dtype, xlabel="gap of the masked score", yscale="log", ylim=(floor / 3, 1e4), xlim=(0, last))
        sentences.append(sentence)
    for left in panels[:, 0]:
        left.set_ylabel("largest relative error of a weight")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure, (
        "Four charts of the largest relative error of a kept weight against the gap between a masked score and the kept ones. With "
        "minus infinity before softmax the error stays flat, at the size of a rounding error. With zeros after softmax it climbs at the "
        f"end like a cliff. {'; '.join(sentences)}. {verdict}"
    )


def _rounded_to_bfloat16(x: np.ndarray) -> np.ndarray:
    """The nearest numbers of which the first 16 bits of float32 are all there is, as float32; NumPy has no such type."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(np.isfinite(x), rounded.astype(np.uint32).view(np.float32), np.float32(np.nan))


def _in_bfloat16(S: np.ndarray, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Zero and renormalise, and softmax of what is kept, every step rounded to bfloat16."""

    def divided(E: np.ndarray) -> np.ndarray:
        return _rounded_to_bfloat16(E / _rounded_to_bfloat16(E.sum(axis=1, keepdims=True)))

    def powers(X: np.ndarray) -> np.ndarray:
        shifted = _rounded_to_bfloat16(_rounded_to_bfloat16(X) - _rounded_to_bfloat16(X.max(axis=1, keepdims=True)))
        return _rounded_to_bfloat16(np.exp(shifted))

    return divided(np.where(keep, divided(powers(S)), 0)), divided(powers(S[:, :3]))


def _a_number(guess: object) -> float | None:
    """The number that a reader wrote down, or None where it is none."""
    try:
        number = float(guess)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return None if np.isnan(number) else number


def _error(weights: np.ndarray, truth: np.ndarray) -> np.ndarray:
    kept = weights[:, :3].astype(np.float64)
    return np.asarray(np.abs(kept / truth - 1).max(axis=1))


def _first(there: np.ndarray) -> int | None:
    return int(np.argmax(there)) if there.any() else None


def _hatch_infinities(axes: Axes, matrix: np.ndarray) -> None:
    """An infinity is no shade of a number: its cell is white and hatched."""
    for i, j in np.argwhere(np.isneginf(matrix)):
        place = forms.rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=PAPER, hatch="////", edgecolor="0.7", zorder=0.5)
        axes.add_patch(place)
    for text in axes.texts:
        if text.get_text() == "-∞":
            text.set(color="black", bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1})


def _mixing(weigh: Model) -> Model:
    """A model that weighs its tokens and mixes them: they are their own values."""
    return lambda Y: np.asarray(weigh(Y) @ Y)


@picture
def masks_and_places(
    guess: str | None,
    X: Float[np.ndarray, "n d"],
    scaled_scores: Masking,
    softmax: Model,
    causal_keep: Callable[[int], np.ndarray],
    mask_scores: Masking,
    zero_renorm: Masking,
    influence: Callable[[Model, np.ndarray], np.ndarray],
) -> tuple[Figure, str]:
    """Every mask at every place: the weights it gives, and the influence that is left."""
    keep = causal_keep(len(X))

    def scores(Y: np.ndarray) -> np.ndarray:
        return scaled_scores(Y, Y)

    def zeroed(A: np.ndarray) -> np.ndarray:
        return np.where(keep, A, 0.0)

    ways: list[tuple[str, Model | str]] = [
        ("-∞ before softmax", lambda Y: softmax(mask_scores(scores(Y), keep))),
        ("-∞ after softmax", lambda Y: mask_scores(softmax(scores(Y)), keep)),
        ("0 before softmax", lambda Y: softmax(zeroed(scores(Y)))),
        ("0 after softmax", lambda Y: zeroed(softmax(scores(Y)))),
        (
            "0 before softmax, renormalised",
            "nothing to renormalise:\nsoftmax does that itself.\nThis is the cell above.",
        ),
        ("0 after softmax, renormalised", lambda Y: zero_renorm(softmax(scores(Y)), keep)),
    ]
    figure = forms.figure(figsize=(10.2, 9.6), layout="constrained")
    verdict = told(guess, "c")
    figure.supxlabel(f"Pale blue: the causal mask permits it. {verdict}", fontsize=12)
    cells = np.ravel(np.asarray(figure.subfigures(3, 2)))
    sentences = []
    for cell, (name, weigh) in zip(cells, ways, strict=True):
        cell.suptitle(name, weight="bold", fontsize=13)
        if isinstance(weigh, str):
            cell.text(0.5, 0.5, weigh, ha="center", va="center")
            continue
        left, right = cell.subplots(1, 2)
        weights = weigh(X)
        grid(left, weights, columns="weights", limits=(0.0, 1.0))
        _hatch_infinities(left, weights)
        _numbered(left, *weights.shape)
        if not np.isfinite(weights).all():
            influence_cells(right, np.zeros_like(keep), np.zeros_like(keep))
            outputs = "a weight of -∞\nmixes nothing:\noutputs are\n±∞ or NaN"
            right.text(len(X) / 2, len(X) / 2, outputs, ha="center", va="center", backgroundcolor=PAPER)
            right.set(xlabel="token moved; no map", ylabel="output watched")
            sentences.append(f"{name}: weights that are not finite")
            continue
        moved = influence(_mixing(weigh), X)
        influence_cells(right, moved, keep)
        leaks = int((moved & ~keep).sum())
        right.set(xlabel=f"token moved; {leaks} leak{'s' * (leaks != 1)}", ylabel="output watched")
        sentences.append(f"{name}: {leaks} leaks, row sums {_plain(weights.sum(axis=1))}")
    return figure, (
        "Six cells, three masks at two places, each with a grid of weights and a map of influence. "
        + "; ".join(sentences)
        + f". {verdict}"
    )
