"""Pictures of notebook 07: what gives a leak away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course import markov
from course.clock import threads
from course.figures import COLOURS, FRAME, MARKERS, PALE, PAPER, canvas, forms, picture
from course.figures.grids import grid, numbered_places
from course.figures.verdicts import told
from course.markov import STRATEGIES, OneLayer, Strategy, causal, on_rows, train, zero_after, zero_before

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LossByPosition = Callable[[nn.Module, Tensor], Tensor]
Verdict = Callable[[float, float, float], str]
Model = Callable[[np.ndarray], np.ndarray]
Influence = Callable[[Model, np.ndarray], np.ndarray]

SOURCE = markov.transitions()
ENTROPY = markov.entropy_rate(SOURCE)
SYMBOLS = "abcdefgh"
LENGTH = 8  # symbols that a model is shown
NAMES = {
    "causal": "causal",
    "no_mask": "no mask",
    "one_future_token": "one future token",
    "transposed": "transposed",
    "zero_before": "zero before softmax",
    "zero_after": "zero after softmax",
}
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
SIGNS = {"leak": ("X", COLOURS[1]), "honest": ("o", COLOURS[0]), "underfit": ("^", COLOURS[2])}


# ------------------------------------------------------------------------------------------- models, made once


@dataclass(frozen=True)
class Trained:
    """A model, and the loss on each batch that it met."""

    model: OneLayer
    losses: list[float]

    def smooth(self, steps: int = 10) -> Float[np.ndarray, "blocks"]:
        """The mean loss of every so many batches."""
        return np.array(self.losses).reshape(-1, steps).mean(axis=1)


def _fresh(strategy: Strategy) -> OneLayer:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return OneLayer(strategy, n=LENGTH)


@cache
def _trained(strategy: Strategy) -> Trained:
    model = _fresh(strategy)
    return Trained(model, train(model, SOURCE, n=LENGTH))


@cache
def _validation() -> Int[Tensor, "b n+1"]:
    return markov.texts(SOURCE, 5000, LENGTH + 1, seed=99)


def _entropy_line(axes: Axes, label: str, place: float, above: bool) -> None:
    axes.axhline(ENTROPY, color="black", linewidth=1.2, linestyle="--")
    y, va = (ENTROPY + 0.06, "bottom") if above else (ENTROPY - 0.06, "top")
    axes.text(place, y, label, va=va, transform=axes.get_yaxis_transform(), fontsize=11)


# -------------------------------------------------------------------------------------------------- the source


@picture
@threads(1)
def record() -> tuple[Figure, str]:
    """The loss of two models while they learn, without a word on what is possible."""
    before, now = _trained(causal).smooth(), _trained(zero_before).smooth()
    steps = 10 * np.arange(len(now)) + 5
    figure, axes = canvas(width=7.6, height=3.6)
    axes.plot(steps, before, DASHES[1], color=COLOURS[0], label="the model so far")
    axes.plot(steps, now, color=COLOURS[1], label="the colleague's model")
    axes.set(xlabel="steps of training", ylabel="loss on fresh texts, in nats", ylim=(0, 2.5), xlim=(0, 10 * len(now)))
    axes.legend(loc="upper right")
    return figure, (
        f"Two curves of the loss on fresh texts against the steps of training. The model so far, dashed, falls to {before[-1]:.2f} nats; "
        f"the colleague's model, solid, falls to {now[-1]:.2f}."
    )


@picture
def source() -> tuple[Figure, str]:
    """The matrix of the source, and how often and how surprising each symbol is."""
    shares = markov.stationary(SOURCE)
    entropies = -(SOURCE * np.log(SOURCE)).sum(axis=1)
    figure, (left, middle, right) = canvas(1, 3, width=9.6, height=4.4, width_ratios=(6, 2, 2))
    grid(left, np.round(100 * SOURCE), "what follows what, in %", "symbol now", "symbol next", limits=(0.0, 80.0))
    left.set_xticks(range(8), SYMBOLS)
    left.set_yticks(range(8), SYMBOLS)
    left.tick_params(length=0)
    for axes, numbers, title in (
        (middle, shares, "share of\nthe text"),
        (right, entropies, "entropy of what\nfollows, in nats"),
    ):
        axes.barh(range(8), numbers, color=COLOURS[0], height=0.6)
        for row, number in enumerate(numbers):
            axes.text(number, row, f" {number:.2f}", va="center", fontsize=11)
        axes.set(title=title, ylim=(7.5, -0.5), xlim=(0, 1.35 * numbers.max()), xticks=[])
        axes.set_yticks(range(8), SYMBOLS)
        axes.grid(False)
    told_rows = "; ".join(
        f"{symbol}: share {share:.2f}, most often followed by {SYMBOLS[int(row.argmax())]} ({row.max():.2f}), entropy {entropy:.2f}"
        for symbol, share, row, entropy in zip(SYMBOLS, shares, SOURCE, entropies, strict=True)
    )
    return (
        figure,
        f"A grid of eight rows and eight columns, the symbols a to h, each row adding up to 1. Beside it two bar charts. {told_rows}.",
    )


@picture
def predictors() -> tuple[Figure, str]:
    """The mean loss of three predictors over ever more symbols, and how far luck carries the best one."""
    shares = markov.stationary(SOURCE)
    even = np.full_like(SOURCE, 1 / len(SOURCE))
    counts = np.unique(np.geomspace(30, 30_000, 80).astype(int))
    figure, axes = canvas(width=8.6, height=4.4)
    finals = []
    known = (
        ("knows nothing", even),
        ("knows the shares", np.tile(shares, (len(SOURCE), 1))),
        ("knows the matrix", SOURCE),
    )
    stream = markov.texts(SOURCE, 12, int(counts[-1]) + 1, seed=3).numpy()
    for row, (name, guess) in enumerate(known):
        loss = -np.log(guess[stream[:, :-1], stream[:, 1:]])
        running = loss.cumsum(axis=1)[:, counts - 1] / counts
        axes.plot(counts, running[0], DASHES[row], color=COLOURS[row], label=name, zorder=3)
        finals.append(f"{name}: {running[0, -1]:.2f}")
    axes.plot(counts, running[1], color="0.6", linewidth=0.8, label=f"{name}, eleven other texts")
    axes.plot(counts, running[2:].T, color="0.6", linewidth=0.8)
    surprise = -np.log(SOURCE[stream[:, :-1], stream[:, 1:]])
    wide = 2 * surprise.std() / np.sqrt(counts)
    axes.fill_between(
        counts, ENTROPY - wide, ENTROPY + wide, facecolor=PALE, edgecolor="0.5", label="entropy, and luck: ± 2σ/√N"
    )
    axes.axhline(ENTROPY, color="black", linewidth=1.2)
    axes.set(
        xscale="log",
        xlabel="number N of symbols guessed",
        ylabel="mean loss, in nats",
        ylim=(1.2, 2.5),
        xlim=(30, 30_000),
    )
    axes.set_xticks([100, 1000, 10_000], ["100", "1000", "10000"])
    axes.minorticks_off()
    axes.legend(ncols=2, loc="upper right")
    inside = np.abs(running[:, -1] - ENTROPY).max()
    return figure, (
        f"Mean loss of three predictors against the number of symbols guessed, 30 to 30000. At the end, {'; '.join(finals)}. A horizontal line marks "
        f"the entropy of the source, {ENTROPY:.2f} nats. A pale band around it gets narrower from left to right; twelve runs of the predictor that "
        f"knows the matrix wander about the line, above and below, nearly always inside the band, and end within {inside:.3f} of it."
    )


# ---------------------------------------------------------------------------------------------- the six suspects


@picture
@threads(1)
def six_curves(guess: str | None) -> tuple[Figure, str]:
    """The loss of six models while they learn, and the entropy."""
    figure, axes = canvas(width=9.0, height=4.6)
    ends = []
    for row, strategy in enumerate(STRATEGIES):
        losses, name = _trained(strategy).smooth(), NAMES[strategy.__name__]
        steps = 10 * np.arange(len(losses)) + 5
        axes.plot(
            steps,
            losses,
            linestyle=DASHES[row],
            color=COLOURS[row],
            marker=MARKERS[row],
            markevery=(2 + row, 6),
            label=name,
        )
        ends.append(f"{name} {losses[-1]:.2f}")
    axes.set(xlabel="steps of training", ylabel="loss on fresh texts, in nats", ylim=(0, 3), xlim=(0, len(steps) * 10))
    _entropy_line(axes, f"entropy of the source: {ENTROPY:.2f}", 0.6, above=False)
    axes.text(195, 0.31, "three curves, one on the other", fontsize=11)
    axes.legend(ncols=2, loc="upper right")
    verdict = told(guess, "c")
    figure.supxlabel(verdict, fontsize=12)
    return figure, (
        f"Six curves of the loss against the steps of training, with a dashed line at the entropy, {ENTROPY:.2f} nats. All begin above it. At the end: "
        f"{', '.join(ends)}. Those of no mask, one future token and transposed lie on each other. {verdict}"
    )


@picture
@threads(1)
def by_position(guess: str | None, loss_by_position: LossByPosition) -> tuple[Figure, str]:
    """Loss at each position, a panel for each of the six."""
    ids = _validation()
    figure, panels = canvas(2, 3, width=9.6, height=5.6, sharex=True, sharey=True)
    floor = _floor()
    sentences = []
    for axes, strategy in zip(panels.flat, STRATEGIES, strict=True):
        loss, name = loss_by_position(_trained(strategy).model, ids).numpy(), NAMES[strategy.__name__]
        axes.plot(range(LENGTH), loss, marker="o", color=COLOURS[0])
        axes.plot(
            LENGTH - 1, loss[-1], marker="s", markersize=10, markerfacecolor="none", color=FRAME, markeredgewidth=2
        )
        if strategy is zero_before:
            axes.plot(range(LENGTH), floor, ":", color="black", linewidth=2.5)
            axes.text(0.0, -0.02, "dotted: sees which\nsymbols lie ahead,\nnot in which order", fontsize=10.5)
        axes.set(title=name, ylim=(-0.1, 2.3))
        axes.set_xticks(range(LENGTH))
        _entropy_line(axes, "entropy", 0.02, above=True)
        sentences.append(f"{name}: {' '.join(f'{x:.2f}' for x in loss)}")
    for axes in panels[1]:
        axes.set_xlabel("position")
    for axes in panels[:, 0]:
        axes.set_ylabel("loss, in nats")
    verdict = told(guess, "c")
    figure.supxlabel(f"The last position is framed. {verdict}", fontsize=12)
    return figure, (
        f"Six panels of the loss at positions 0 to {LENGTH - 1}, each with a dashed line at the entropy, {ENTROPY:.2f} nats. {'; '.join(sentences)}. In the "
        f"panel of zero before softmax a dotted line shows the least loss of one who sees which symbols lie ahead, but not in which "
        f"order: {' '.join(f'{x:.2f}' for x in floor)}. {verdict}"
    )


@cache
def _floor() -> Float[np.ndarray, "n"]:
    """At each position the least loss of one who sees the past, and what lies ahead without its order."""
    ids = markov.texts(SOURCE, 2000, LENGTH, seed=5).numpy()
    return np.array([*(_unordered(ids[:, i:]) for i in range(LENGTH - 1)), ENTROPY]).clip(0)


def _unordered(ids: Int[np.ndarray, "b k+1"]) -> float:
    """The least loss in guessing the symbol after the first, knowing the first, and the rest as an unordered collection."""
    now, rest = ids[:, 0], ids[:, 1:]
    b, k = rest.shape
    steps = SOURCE[rest[:, :, None], rest[:, None, :]]
    paths = np.zeros(
        (1 << k, b, k)
    )  # of a set of places and one place in it: the probability of all orders that begin there
    for places in range(1, 1 << k):
        for first in range(k):
            others = places & ~(1 << first)
            if others != places:
                paths[places, :, first] = (steps[:, first] * paths[others]).sum(axis=1) if others else 1.0
    weights = SOURCE[now[:, None], rest] * paths[-1]
    right = rest == rest[:, :1]
    return float(-np.log((weights * right).sum(axis=1) / weights.sum(axis=1)).mean())


# ------------------------------------------------------------------------------------------ where, not only whether


def _map(axes: Axes, moved: Bool[np.ndarray, "n n"], keep: Bool[np.ndarray, "n n"]) -> None:
    for (i, j), moves in np.ndenumerate(moved):
        leak = moves and not keep[i, j]
        axes.add_patch(forms.rectangle((j, i), 1, 1, facecolor=PALE if keep[i, j] else PAPER, edgecolor="0.75"))
        if leak:
            axes.add_patch(
                forms.rectangle((j + 0.08, i + 0.08), 0.84, 0.84, fill=False, edgecolor=FRAME, linewidth=1.5)
            )
        if moves:
            axes.plot(j + 0.5, i + 0.5, "X" if leak else "o", color=FRAME if leak else COLOURS[0], markersize=6)
    numbered_places(axes, *moved.shape)


def _leaks(model: OneLayer, influence: Influence) -> Bool[np.ndarray, "n n"]:
    """The map of influence on random tokens, which leave no weight so close to 0 that a way through could be missed."""
    return influence(on_rows(model), np.random.default_rng(0).standard_normal((LENGTH, model.E.shape[1])))


@picture
@threads(1)
def maps(influence: Influence) -> tuple[Figure, str]:
    """What the leak test finds in the six models, before they have learnt anything."""
    keep = np.tri(LENGTH, dtype=bool)
    figure, panels = canvas(2, 3, width=9.6, height=7.5)
    figure.get_layout_engine().set(h_pad=0.1)  # type: ignore[union-attr, call-arg]
    sentences = []
    for axes, strategy in zip(panels.flat, STRATEGIES, strict=True):
        moved, name = _leaks(_fresh(strategy), influence), NAMES[strategy.__name__]
        _map(axes, moved, keep)
        count = int((moved & ~keep).sum())
        axes.set(title=f"{name}: {count} leak{'s' * (count != 1)}", xlabel="", ylabel="")
        sentences.append(f"{name}: {count}")
    for axes in panels[1]:
        axes.set_xlabel("token j is moved")
    for axes in panels[:, 0]:
        axes.set_ylabel("output i is watched")
    key = (
        forms.line([], [], linestyle="", marker="o", color=COLOURS[0], markersize=6, label="influence, allowed"),
        forms.line([], [], linestyle="", marker="X", color=FRAME, markersize=6, label="leak (framed)"),
        forms.patch(facecolor=PALE, edgecolor="0.75", label="may be seen"),
    )
    figure.legend(handles=key, loc="outside lower center", ncols=3)
    return figure, (
        f"Six maps of influence, {LENGTH} by {LENGTH}, a dot for influence that is allowed and a framed cross for a leak. Leaks, out of "
        f"{int((~keep).sum())} places above the diagonal: {'; '.join(sentences)}."
    )


@dataclass(frozen=True)
class Suspect:
    """A row of a line-up."""

    name: str
    loss: float
    leaks: int


def _line_up(suspects: list[Suspect], verdict: Verdict, tol: float) -> tuple[Figure, str]:
    figure, (axes, table) = canvas(1, 2, width=9.6, height=1.7 + 0.45 * len(suspects), width_ratios=(3, 2), sharey=True)
    axes.axvspan(ENTROPY - tol, ENTROPY + tol, facecolor=PALE, edgecolor="0.5")
    axes.axvline(ENTROPY, color="black", linewidth=1.2, linestyle="--")
    places = LENGTH * (LENGTH - 1) // 2
    columns = [("loss", "verdict", "leaks of " + str(places))]
    for row, suspect in enumerate(suspects):
        word = verdict(suspect.loss, ENTROPY, tol)
        sign, colour = SIGNS[word]
        axes.plot(suspect.loss, row, sign, color=colour, markersize=9)
        columns.append((f"{suspect.loss:.2f}", word, str(suspect.leaks)))
    for row, texts in enumerate(columns, -1):
        for x, text in zip((0.12, 0.45, 0.85), texts, strict=True):
            table.text(x, row, text, ha="center", va="center", weight="bold" if row < 0 else "normal")
    table.set_axis_off()
    table.set_xlim(0, 1)
    axes.set_yticks(range(len(suspects)), [suspect.name for suspect in suspects])
    axes.set(
        ylim=(len(suspects) - 0.4, -1.4),
        xlim=(-0.05, 2.2),
        xlabel=f"mean loss, in nats (dashed: the entropy; pale: up to {tol:g} from it)",
    )
    sentences = [
        f"{suspect.name}: loss {loss}, verdict {word}, {leaks} leaks"
        for suspect, (loss, word, leaks) in zip(suspects, columns[1:], strict=True)
    ]
    return figure, f"A table with a chart of the mean loss; the entropy is {ENTROPY:.2f} nats. {'; '.join(sentences)}."


@picture
@threads(1)
def line_up(loss_by_position: LossByPosition, verdict: Verdict, influence: Influence, tol: float) -> tuple[Figure, str]:
    """What the loss says of each of the six, and what the leak test says."""
    ids = _validation()
    keep = np.tri(LENGTH, dtype=bool)
    suspects = []
    for strategy in STRATEGIES:
        model = _trained(strategy).model
        leaks = int((_leaks(model, influence) & ~keep).sum())
        suspects.append(Suspect(NAMES[strategy.__name__], float(loss_by_position(model, ids).mean()), leaks))
    return _line_up(suspects, verdict, tol)


@picture
@threads(1)
def hard_cases(
    loss_by_position: LossByPosition, verdict: Verdict, influence: Influence, tol: float
) -> tuple[Figure, str]:
    """Four cases in which one of the two tests alone would lead astray."""
    ids, keep = _validation(), np.tri(LENGTH, dtype=bool)
    early, crossing, echo, parrot = (_fresh(s) for s in (causal, zero_after, causal, causal))
    train(early, SOURCE, steps=10)
    train(crossing, SOURCE, rate=0.002, stop=lambda losses: sum(losses[-10:]) < 10 * ENTROPY and len(losses) >= 10)
    echoed = train(echo, SOURCE, steps=100, ahead=0)[-1]
    train(parrot, SOURCE, steps=400, batches=1, seed=2)
    again = markov.texts(SOURCE, 64, LENGTH + 1, seed=2)
    cases = (
        ("causal, after 10 steps", early, float(loss_by_position(early, ids).mean())),
        ("zero after softmax, stopped early", crossing, float(loss_by_position(crossing, ids).mean())),
        ("causal, asked for the symbol it sees", echo, echoed),
        ("causal, on the texts it learnt from", parrot, float(loss_by_position(parrot, again).mean())),
    )
    suspects = [Suspect(name, loss, int((_leaks(model, influence) & ~keep).sum())) for name, model, loss in cases]
    figure, alt = _line_up(suspects, verdict, tol)
    real = [float(loss_by_position(model, ids).mean()) for model in (echo, parrot)]
    figure.supxlabel(
        f"On fresh texts, asked for the next symbol, the last two have losses of {real[0]:.1f} and {real[1]:.1f}.",
        fontsize=12,
    )
    return (
        figure,
        f"{alt} On fresh texts, asked for the next symbol, the last two have losses of {real[0]:.1f} and {real[1]:.1f}.",
    )


@picture
@threads(1)
def in_use(guess: str | None, loss_by_position: LossByPosition) -> tuple[Figure, str]:
    """Validation loss, and the loss of the same model where nothing stands to its right."""
    ids = _validation()
    figure, axes = canvas(width=9.2, height=4.4)
    sentences = []
    for row, strategy in enumerate(STRATEGIES):
        model = _trained(strategy).model
        measured = float(loss_by_position(model, ids).mean())
        ends = [loss_by_position(model, ids[:, : i + 2])[-1] for i in range(LENGTH)]  # guess i, with nothing after it
        used = float(torch.stack(ends).mean())
        axes.plot([measured, used], [row, row], color="0.6", linewidth=1.2)
        axes.plot(measured, row, "o", color=COLOURS[0], markersize=9, label="validation" * (row == 0))
        axes.plot(
            used,
            row,
            "s",
            color=COLOURS[1],
            markersize=8,
            markerfacecolor="none",
            markeredgewidth=2,
            label="in use" * (row == 0),
        )
        box = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
        beside = max(used, float(np.log(8)))  # right of the dotted line, or at least not on it
        axes.text(measured / 1.12, row, f"{measured:.2f}", ha="right", va="center", bbox=box)
        axes.text(beside * 1.12, row, f"{used:.2f}", va="center", bbox=box)
        sentences.append(f"{NAMES[strategy.__name__]} {measured:.2f} and {used:.2f}")
    for x, text, dash in ((ENTROPY, "entropy ", "--"), (np.log(8), " log 8: knows nothing", ":")):
        axes.axvline(x, color="black", linewidth=1.2, linestyle=dash)
        axes.text(x, -0.75, text, ha="right" if x == ENTROPY else "left", va="center")
    axes.set_yticks(range(6), [NAMES[strategy.__name__] for strategy in STRATEGIES])
    axes.set(xscale="log", ylim=(5.6, -1.1), xlim=(0.12, 60), xlabel="mean loss in nats, on a logarithmic axis")
    axes.set_xticks([0.2, 0.5, 1, 2, 5, 10, 20, 50], ["0.2", "0.5", "1", "2", "5", "10", "20", "50"])
    axes.minorticks_off()
    axes.legend(loc="upper right")
    verdict = told(guess, "c")
    figure.supxlabel(verdict, fontsize=12)
    return figure, (
        f"For each of the six models two losses on a logarithmic axis, in validation and in use, with lines at the entropy, {ENTROPY:.2f}, and at log 8, "
        f"{np.log(8):.2f}, the loss of one who knows nothing. {'; '.join(sentences)}. {verdict}"
    )
