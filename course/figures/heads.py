"""Pictures of notebook 04: many heads, and who owns which number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from course.blas import one_blas_thread
from course.clock import quietest
from course.figures import COLOURS, FRAME, MARKERS, PAPER, RUST, CannotDraw, canvas, forms, picture
from course.figures.causal import influence_cells, influence_map
from course.figures.grids import grid
from course.figures.verdicts import CHANGED, between, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "blind_map",
    "column_blocks",
    "influence_map",
    "loop_against_stack",
    "shares",
    "theatre_attention",
    "theatre_merge",
    "theatre_split",
    "two_questions",
    "wrong_deal",
]

TOKENS = ("tea", "is", "hot")
HEADS = "LR"  # the columns of head 0 stand to the left, those of head 1 to the right
PALES = ("#DCEBF5", "#FBE6D6", "#D9F0E6")  # one for each token; its word stands in every cell
TALL = 0.86  # the height of a cell that is one wide

Split = Callable[[np.ndarray, int], np.ndarray]
Merge = Callable[[np.ndarray], np.ndarray]
Cell = tuple[int, int, int]  # token, head, feature


@picture
def two_questions(
    guess: str | None,
    mha_loop: Callable[..., np.ndarray],
    masked_softmax: Callable[[np.ndarray, np.ndarray], np.ndarray],
    scaled_scores: Callable[[np.ndarray, np.ndarray], np.ndarray],
    X: Float[np.ndarray, "n d"],
    weights: Sequence[np.ndarray],
    keep: np.ndarray,
) -> tuple[Figure, str]:
    """Two heads that look at two places, and what the output weight makes of both."""
    Wq, Wk, Wv, Wo = weights
    n = len(X)
    weighed = [masked_softmax(scaled_scores(X @ q, X @ k), keep) for q, k in zip(Wq, Wk, strict=True)]
    mixed = [A @ (X @ v) for A, v in zip(weighed, Wv, strict=True)]
    output = mha_loop(X, Wq, Wk, Wv, Wo, keep)[:, :1]
    tables, found, change = (np.round(some, 6) + 0.0 for some in (weighed, mixed, output))
    readings = (float(min(X[:, 0].min(), change.min())), float(max(X[:, 0].max(), change.max())))
    figure, panels = canvas(1, 6, width=10.2, height=3.8, width_ratios=(1.6, n, 1.6, n, 1.6, 1.6))
    grid(panels[0], X[:, :1], "reading", f"tokens: n = {n}", digits=3, limits=readings)
    grid(panels[1], tables[0], "head 0: weights", "", f"keys: {n}", limits=(0.0, 1.0))
    grid(panels[2], found[0], "finds", digits=3, limits=readings)
    grid(panels[3], tables[1], "head 1: weights", "", f"keys: {n}", limits=(0.0, 1.0))
    grid(panels[4], found[1], "finds", digits=3, limits=readings)
    grid(panels[5], change, "output", digits=3, limits=readings)
    verdict = told(guess, "c")
    figure.supxlabel(f"\nOne head instead of two? {verdict}", fontsize=12)
    return figure, (
        f"Six tables for {n} readings, {_plain(X[:, 0])}. Head 0 has its weight on the diagonal and finds the readings themselves, "
        f"{_plain(found[0][:, 0])}. Head 1 has its weight one place to the left of the diagonal, in row 0 on it, and finds "
        f"{_plain(found[1][:, 0])}. The output is what head 0 finds less what head 1 finds: {_plain(change[:, 0])}. {verdict}"
    )


def _plain(numbers: np.ndarray) -> str:
    return ", ".join(f"{number + 0.0:.3g}" for number in np.ravel(numbers))


# ------------------------------------------------------------------------------------------ the shape theatre


def _payload(n: int, h: int, k: int) -> np.ndarray:
    """[n, h*k], every number another one; `_cell` tells whose it is."""
    return np.arange(n * h * k, dtype=np.float64).reshape(n, h * k)


def _cell(number: float, h: int, k: int) -> Cell:
    token, rest = divmod(int(number), h * k)
    return token, *divmod(rest, k)


def _word(cell: Cell, loud: bool = False) -> str:
    token, head, feature = cell
    word = TOKENS[token]
    return f"{word.upper() if loud else word}\n{HEADS[head]}{feature}"


def _table(
    axes: Axes,
    x: float,
    y: float,
    cells: Sequence[Sequence[Cell]],
    title: str = "",
    loud: bool = False,
    framed: Sequence[bool] = (),
    misplaced: np.ndarray | None = None,
) -> None:
    """A table of owners; (x, y) is its upper left corner, and y grows downwards. Misplaced cells are framed, with a cross."""
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            corner = (x + j, y + i * TALL)
            axes.add_patch(forms.rectangle(corner, 1, TALL, facecolor=PALES[cell[0]], edgecolor="0.45", linewidth=1))
            axes.text(
                corner[0] + 0.5,
                corner[1] + TALL / 2,
                _word(cell, loud),
                ha="center",
                va="center",
                fontsize=10.5,
                linespacing=1.0,
            )
    for i, j in np.argwhere(misplaced) if misplaced is not None else ():
        left, top = x + j, y + i * TALL
        axes.text(left + 0.87, top + 0.15, "×", ha="center", va="center", fontsize=13, weight="bold", color=RUST)
        axes.add_patch(forms.rectangle((left, top), 1, TALL, fill=False, edgecolor=FRAME, linewidth=2.5, zorder=3))
    for i in np.flatnonzero(framed).tolist():
        frame = forms.rectangle(
            (x, y + i * TALL), len(cells[i]), TALL, fill=False, edgecolor=FRAME, linewidth=3, zorder=3
        )
        axes.add_patch(frame)
    axes.text(x + len(cells[0]) / 2, y - 0.12, title, ha="center", va="bottom", fontsize=11)


def _arrow(axes: Axes, start: float, end: float, y: float, above: str, below: str = "") -> None:
    axes.annotate("", (end, y), (start, y), arrowprops={"arrowstyle": "->", "linewidth": 1.5})
    axes.text((start + end) / 2, y - 0.12, above, ha="center", va="bottom", fontsize=10.5, linespacing=1.1)
    axes.text((start + end) / 2, y + 0.12, below, ha="center", va="top", fontsize=10.5, linespacing=1.1)


def _stage(width: float, height: float, *, inches: float = 10.0) -> tuple[Figure, Axes]:
    """An empty stage of that many cells, with y growing downwards."""
    figure, axes = canvas(width=inches, height=inches * height / width)
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    return figure, axes


def _by_the_reader(name: str, call: Callable[[], object], right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the reader's function made of the numbers in `right`, and where others should stand.

    Raises:
        CannotDraw: it made something else than a table of these numbers.
    """
    try:
        given = np.asarray(call())
    except Exception as error:  # whatever it is: the check under the exercise explains it
        raise CannotDraw(f"Your {name} stops with a {type(error).__name__}. Its check says more.") from error
    if given.shape != right.shape:
        had, wanted = list(given.shape), list(right.shape)
        raise CannotDraw(f"Your {name} returns the shape {had} here, and the picture has room for {wanted}.")
    if not np.isin(given, right).all():
        raise CannotDraw(f"Your {name} returns numbers that were not in its table, so they have no owners to show.")
    return given, given != right


def _verdict(axes: Axes, x: float, y: float, name: str, wrong: np.ndarray) -> str:
    """How many numbers stand in the wrong place: under the table, if any, and for the alternative text."""
    if not wrong.any():
        return ""
    verdict = (
        f"In what your {name} returns, {int(wrong.sum())} of {wrong.size} numbers stand in the wrong place (marked ×)."
    )
    axes.text(x, y, verdict, ha="center", va="bottom", fontsize=11.5, weight="bold")
    return verdict


@picture(waits=False)
def theatre_split(split_heads: Split) -> tuple[Figure, str]:
    """Act one: from [n, h*k] over [n, h, k] to [h, n, k], by the reader's own function, right or wrong."""
    n, h, k = 3, 2, 2
    Z = _payload(n, h, k)
    right = Z.reshape(n, h, k).swapaxes(0, 1)
    heads, wrong = _by_the_reader("split_heads", lambda: split_heads(Z.copy(), h), right)
    figure, axes = _stage(13.2, 7.7 if wrong.any() else 7.3)
    verdict = _verdict(axes, 6.6, 7.62, "split_heads", wrong)
    middle = 3.65
    whole = [[_cell(number, h, k) for number in row] for row in Z]
    _table(axes, 0.2, middle - n * TALL / 2, whole, "Z   [n, h*k] = [3, 4]")
    axes.text(1.2, middle + n * TALL / 2 + 0.12, "head L", ha="center", va="top", fontsize=10.5)
    axes.text(3.2, middle + n * TALL / 2 + 0.12, "head R", ha="center", va="top", fontsize=10.5)
    axes.plot([2.2, 2.2], [middle - n * TALL / 2, middle + n * TALL / 2], color="black", linewidth=2.5, zorder=4)
    _arrow(axes, 4.45, 6.25, middle, "cut every row\ninto h pieces", "nothing\nmoves")
    for t in range(n):
        slab = [[_cell(number, h, k) for number in piece] for piece in Z[t].reshape(h, k)]
        _table(axes, 6.5, 0.75 + t * 2.15, slab, "[n, h, k] = [3, 2, 2]" if t == 0 else "")
        axes.text(8.62, 0.75 + t * 2.15 + TALL, f"token {t}", va="center", fontsize=10.5, rotation=270, ha="center")
    _arrow(axes, 8.95, 10.7, middle, "exchange\ntoken, head", "axes 0, 1")
    for i in range(h):
        own = [[_cell(number, h, k) for number in row] for row in heads[i]]
        _table(axes, 10.95, 0.95 + i * 3.3, own, "[h, n, k] = [2, 3, 2]" if i == 0 else "", misplaced=wrong[i])
        axes.text(
            13.07,
            0.95 + i * 3.3 + 1.5 * TALL,
            f"head {HEADS[i]}",
            va="center",
            fontsize=10.5,
            rotation=270,
            ha="center",
        )
    rows = "; ".join(
        f"head {HEADS[i]}: "
        + ", ".join(" and ".join(_word(_cell(x, h, k)).replace("\n", " ") for x in row) for row in head)
        for i, head in enumerate(heads)
    )
    return figure, (
        "Three stages of a table whose cells carry the names of their owners: a token (tea, is, hot), a head (L, R) and a feature (0, 1). "
        "First one table, a row for each token, the columns of head L to the left of those of head R. Then three tables, one for "
        f"each token, with a row for each head. Then two tables, one for each head, with a row for each token. {rows}. {verdict}"
    )


@picture
def wrong_deal(guess: int | None) -> tuple[Figure, str]:
    """What reshape(h, n, k) deals to whom."""
    n, h, k = 3, 2, 2
    Z = _payload(n, h, k)
    dealt, right = Z.reshape(h, n, k), Z.reshape(n, h, k).swapaxes(0, 1)
    fits = (dealt == right).all(axis=2)
    figure, axes = _stage(12.6, 6.6)
    _table(
        axes,
        0.3,
        0.75,
        [[_cell(number, h, k) for number in Z.ravel()]],
        "Z as it lies in memory, one row after another",
    )
    axes.plot([6.3, 6.3], [0.75, 1.15 + TALL], color="black", linewidth=2.5, zorder=4)
    axes.text(3.3, 0.87 + TALL, "first half: head L", ha="center", va="top", fontsize=10.5)
    axes.text(9.3, 0.87 + TALL, "second half: head R", ha="center", va="top", fontsize=10.5)
    for i in range(h):
        x, y = 2.0 + i * 6.0, 3.05
        cells = [[_cell(number, h, k) for number in row] for row in dealt[i]]
        _table(axes, x, y, cells, f"head {HEADS[i]}: Z.reshape(h, n, k)[{i}]", framed=list(~fits[i]))
        for t, word in enumerate(TOKENS):
            axes.text(x - 0.12, y + (t + 0.5) * TALL, f"row of “{word}”", ha="right", va="center", fontsize=10.5)
            verdict = "right" if fits[i, t] else f"wanted: {word} {HEADS[i]}"
            axes.text(x + k + 0.14, y + (t + 0.5) * TALL, verdict, va="center", fontsize=10.5)
    verdict = told(guess, int(fits.sum()))
    axes.text(6.3, 6.2, f"How many rows hold what they should? {verdict}", ha="center", fontsize=12)
    rows = "; ".join(
        f"head {HEADS[i]}, row of {word}: {_word(_cell(dealt[i, t, 0], h, k))[:-1]}".replace("\n", " ")
        + (", right" if fits[i, t] else ", wrong")
        for i in range(h)
        for t, word in enumerate(TOKENS)
    )
    return figure, (
        "Above, the twelve numbers of Z in one long row, cut in the middle. Below, the two tables that reshape(h, n, k) makes of the "
        f"halves; rows that hold something else than they should are framed. {rows}. {int(fits.sum())} of {fits.size} rows are right."
        f" {verdict}"
    )


@picture
def theatre_attention() -> tuple[Figure, str]:
    """Act two: in each head, rows meet rows of the same head."""
    weights = np.array(
        [[[1.0, 0.0, 0.0], [0.3, 0.7, 0.0], [0.2, 0.5, 0.3]], [[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.6, 0.0, 0.4]]]
    )
    h, n, v = len(weights), len(TOKENS), 2
    figure, axes = _stage(12.4, 7.2, inches=9.0)
    for i in range(h):
        y = 0.85 + i * 3.4
        axes.text(0.1, y + 1.5 * TALL, f"head {HEADS[i]}", va="center", fontsize=11)
        for t in range(n):
            for j in range(n):
                corner = (1.5 + j, y + t * TALL)
                masked = j > t
                axes.add_patch(
                    forms.rectangle(
                        corner,
                        1,
                        TALL,
                        facecolor=PAPER,
                        edgecolor="0.45",
                        hatch="////" if masked else "",
                        linewidth=1,
                    )
                )
                if not masked:
                    number = f"{weights[i, t, j]:g}"
                    axes.text(corner[0] + 0.5, corner[1] + TALL / 2, number, ha="center", va="center", fontsize=12)
        titles = ("weights  [n, n]", "values  [n, v]", "outputs  [n, v]") if i == 0 else ("", "", "")
        axes.text(3.0, y - 0.12, titles[0], ha="center", va="bottom", fontsize=11)
        axes.text(5.1, y + 1.5 * TALL, "@", ha="center", va="center", fontsize=14)
        cells = [[(t, i, x) for x in range(v)] for t in range(n)]
        _table(axes, 5.7, y, cells, titles[1])
        axes.text(8.4, y + 1.5 * TALL, "=", ha="center", va="center", fontsize=14)
        _table(axes, 9.1, y, cells, titles[2], loud=True, framed=(False, False, True))
        axes.add_patch(
            forms.rectangle((1.5, y + (n - 1) * TALL), n, TALL, fill=False, edgecolor=FRAME, linewidth=3, zorder=3)
        )
    last = " and ".join(f"{_plain(weights[i, -1])} in head {HEADS[i]}" for i in range(h))
    return figure, (
        "Two rows of pictures, one for each head. In each: a table of weights, three by three, its upper triangle hatched, times a table "
        "of values whose cells are named tea, is and hot, with the letter of the head, gives a table of outputs named TEA, IS and HOT, with the same "
        f"letter. The last row of weights, {last}, and the last row of outputs are framed. No cell of head L meets a cell of head R."
    )


@picture(waits=False)
def theatre_merge(merge_heads: Merge) -> tuple[Figure, str]:
    """Act three: from [h, n, v] over [n, h, v] to [n, h*v], by the reader's own function, right or wrong."""
    n, h, v = 3, 2, 2
    Z = _payload(n, h, v)
    heads = np.ascontiguousarray(Z.reshape(n, h, v).swapaxes(0, 1))
    merged, wrong = _by_the_reader("merge_heads", lambda: merge_heads(heads.copy()), Z)
    figure, axes = _stage(13.2, 7.7 if wrong.any() else 7.3)
    verdict = _verdict(axes, 6.6, 7.62, "merge_heads", wrong)
    middle = 3.65
    for i in range(h):
        own = [[_cell(number, h, v) for number in row] for row in heads[i]]
        _table(axes, 0.5, 0.95 + i * 3.3, own, "[h, n, v] = [2, 3, 2]" if i == 0 else "", loud=True)
        axes.text(
            0.28, 0.95 + i * 3.3 + 1.5 * TALL, f"head {HEADS[i]}", va="center", fontsize=10.5, rotation=90, ha="center"
        )
    _arrow(axes, 2.75, 4.5, middle, "exchange\nhead, token", "axes 0, 1")
    for t in range(n):
        slab = [[_cell(number, h, v) for number in piece] for piece in heads[:, t]]
        _table(axes, 4.95, 0.75 + t * 2.15, slab, "[n, h, v] = [3, 2, 2]" if t == 0 else "", loud=True)
        axes.text(4.75, 0.75 + t * 2.15 + TALL, f"token {t}", va="center", fontsize=10.5, rotation=90, ha="center")
    _arrow(axes, 7.15, 8.75, middle, "join the last\ntwo axes")
    whole = [[_cell(number, h, v) for number in row] for row in merged]
    _table(axes, 9.0, middle - n * TALL / 2, whole, "[n, h*v] = [3, 4]", loud=True, misplaced=wrong)
    axes.plot([11.0, 11.0], [middle - n * TALL / 2, middle + n * TALL / 2], color="black", linewidth=2.5, zorder=4)
    axes.text(10.0, middle + n * TALL / 2 + 0.12, "from head L", ha="center", va="top", fontsize=10.5)
    axes.text(12.0, middle + n * TALL / 2 + 0.12, "from head R", ha="center", va="top", fontsize=10.5)
    rows = "; ".join(", ".join(_word(_cell(x, h, v), loud=True).replace("\n", " ") for x in row) for row in merged)
    return figure, (
        "Three stages, the first act backwards. First two tables, one for each head, with a row for each token. Then three tables, one for each "
        f"token, with a row for each head. Then one table with a row for each token. Its rows are: {rows}. {verdict}"
    )


# -------------------------------------------------------------------------------------- weights, sums and time


@picture
def column_blocks(pack: Merge) -> tuple[Figure, str]:
    """One product with the packed weight makes the queries of every head."""
    X = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])
    Wq = np.array([[[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]], [[2.0, -1.0], [1.0, 1.0], [0.0, 4.0]]])
    h, d, k = Wq.shape
    packed = pack(Wq)
    product = X @ packed
    figure, panels = canvas(1, 5, width=10.2, height=2.9, width_ratios=(2, 2, 3, 4, 4))
    grid(panels[0], Wq[0], "Wq[0]", f"d = {d}", f"k = {k}", plain=True)
    grid(panels[1], Wq[1], "Wq[1]", "", f"k = {k}", plain=True)
    grid(panels[2], X, "X", f"n = {len(X)}", f"d = {d}", plain=True)
    grid(panels[3], packed, "pack(Wq)", f"d = {d}", f"h*k = {h * k}", plain=True)
    grid(panels[4], product, "X @ pack(Wq)", f"n = {len(X)}", f"h*k = {h * k}", plain=True)
    for panel, heads, height in (
        (panels[0], [0], d),
        (panels[1], [1], d),
        (panels[3], [0, 1], d),
        (panels[4], [0, 1], 2),
    ):
        for place, head in enumerate(heads):
            corner = (place * k - 0.46, -0.46)
            dash = ("-", (0, (3, 1.5)))[head]
            panel.add_patch(
                forms.rectangle(
                    corner, k - 0.08, height - 0.08, fill=False, edgecolor=FRAME, linewidth=3, linestyle=dash
                )
            )
            if panel in (panels[3], panels[4]):
                panel.text(place * k + 0.5, -0.58, f"head {head}", ha="center", va="bottom", fontsize=11)
                panel.title.set_position((0.5, 1.0))
    for panel in (panels[3], panels[4]):
        panel.set_title(panel.get_title(), pad=20)
    return figure, (
        f"Five tables. The weights of head 0 (solid frame) and of head 1 (dashed frame), {d} by {k} each; the tokens X, {len(X)} by {d}; the packed "
        f"weight, {d} by {h * k}, in which both stand side by side; and the product, {len(X)} by {h * k}, whose first {k} columns, {_plain(product[:, :k])}, are "
        f"the queries of head 0 and whose last {k}, {_plain(product[:, k:])}, those of head 1."
    )


@picture
def shares(
    head_outputs: Callable[[np.ndarray, np.ndarray], np.ndarray],
    O: Float[np.ndarray, "h n v"],  # noqa: E741
    Wo: Float[np.ndarray, "e d"],
) -> tuple[Figure, str]:
    """What each head adds to the output, and the sum of all."""
    each = np.round(head_outputs(O, Wo), 6) + 0.0
    total = each.sum(axis=0)
    h, n, d = each.shape
    figure, panels = canvas(1, h + 1, width=10.2, height=3.1)
    top = float(np.abs(np.concatenate([each, total[None]])).max())
    for i in range(h):
        grid(panels[i], each[i], f"share of head {i}", f"n = {n}" if i == 0 else "", f"d = {d}", limits=(-top, top))
    grid(panels[h], total, "output", "", f"d = {d}", limits=(-top, top))
    for i in range(1, h + 1):
        panels[i].text(-0.78, (n - 1) / 2, "=" if i == h else "+", ha="center", va="center", fontsize=18)
    first = "; ".join(f"head {i}: {_plain(each[i, 0])}" for i in range(h))
    return figure, (
        f"{h + 1} tables, {n} by {d} each: the shares of {h} heads, with plus signs between them, and the output, their sum. Row 0 of each: "
        f"{first}; output: {_plain(total[0])}."
    )


@picture
def loop_against_stack(
    guess: str | None,
    scaled_scores: Callable[[np.ndarray, np.ndarray], np.ndarray],
    masked_softmax: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> tuple[Figure, str]:
    """The time of attention in more and more heads, one by one and all at once, on the machine of the reader."""
    rng = np.random.default_rng(4)
    k, counts, lengths = 16, (1, 4, 16, 64), (8, 128)

    def one_by_one(Q: np.ndarray, K: np.ndarray, V: np.ndarray, keep: np.ndarray) -> np.ndarray:
        heads = []
        for queries, keys, values in zip(Q, K, V, strict=True):
            heads.append(masked_softmax(scaled_scores(queries, keys), keep) @ values)
        return np.stack(heads)

    def at_once(Q: np.ndarray, K: np.ndarray, V: np.ndarray, keep: np.ndarray) -> np.ndarray:
        return masked_softmax(Q @ K.swapaxes(1, 2) / k**0.5, keep) @ V

    runs: list[Callable[[], object]] = []
    for n in lengths:
        for h in counts:
            Q, K, V = rng.standard_normal((3, h, n, k))
            runs += [partial(way, Q, K, V, np.tril(np.ones((n, n), bool))) for way in (one_by_one, at_once)]
    with one_blas_thread() as alone:
        laps = np.array(quietest(*runs, alone=alone)).reshape(len(lengths), len(counts), 2)
    figure, panels = canvas(1, 3, width=10.4, height=4.0)
    for panel, n, lap in zip(panels, lengths, laps, strict=False):
        panel.loglog(counts, 1e3 * lap[:, 0], "--", marker=MARKERS[1], color=COLOURS[1], label="head by head")
        panel.loglog(counts, 1e3 * lap[:, 1], "-", marker=MARKERS[0], color=COLOURS[0], label="all at once")
        panel.set(title=f"{n} tokens", ylabel="milliseconds" if n == lengths[0] else "", xlabel="heads h")
        panel.legend(loc="upper left")
    for n, lap, dash, marker, colour in zip(lengths, laps, ("-", ":"), MARKERS[2:], COLOURS[2:], strict=False):
        panels[2].semilogx(counts, lap[:, 0] / lap[:, 1], dash, marker=marker, color=colour, label=f"{n} tokens")
    panels[2].axhline(1.0, color="black", linewidth=1, label="equally long")
    panels[2].set(title="how many times longer\nhead by head takes", xlabel="heads h")
    panels[2].set_ylim(0, 1.4 * (laps[..., 0] / laps[..., 1]).max())  # room for the legend
    panels[2].legend(loc="upper left")
    for panel in panels:
        panel.set_xticks(counts, [str(h) for h in counts])
        panel.minorticks_off()
    threads = "one thread" if alone else "as many threads as it likes"
    verdict = told(guess, _grows(*(lap[-1, 0] / lap[-1, 1] / (lap[0, 0] / lap[0, 1]) for lap in laps)))
    figure.supxlabel(
        f"k = v = {k}, NumPy on this machine, {threads}. (Where a machine is busy with other work, points jump.)\n{verdict}",
        fontsize=12,
    )
    ratios = "; ".join(f"{n} tokens: {_plain(lap[:, 0] / lap[:, 1])}" for n, lap in zip(lengths, laps, strict=True))
    return figure, (
        "Three charts against the number of heads, 1, 4, 16 and 64. First and second: the time of the attention of all heads, for 8 and for 128 "
        "tokens, head by head, dashed with squares, and all heads at once, solid with circles. Third: how many times longer head by head "
        f"takes, with a line where both are equal. {ratios}. {verdict}"
    )


def _grows(short: float, long: float) -> str | None:
    """For which text the loop falls behind as heads are added: both (a), the short one (b) or neither (c); None if it is close."""
    grown = (between(short, [CHANGED], "ny"), between(long, [CHANGED], "ny"))
    return {("y", "y"): "a", ("y", "n"): "b", ("n", "n"): "c"}.get(grown)  # type: ignore[arg-type]


@picture
def blind_map(
    guess: str | None,
    model: Callable[[np.ndarray], np.ndarray],
    X: Float[np.ndarray, "n d"],
    influence: Callable[[Callable[[np.ndarray], np.ndarray], np.ndarray], np.ndarray],
    causal_keep: Callable[[int], np.ndarray],
    title: str = "",
) -> tuple[Figure, str]:
    """A map of influence that is compared with the mask in both directions."""
    moved, keep = influence(model, X), causal_keep(len(X))
    figure, axes = canvas(width=5.8, height=4.6)
    influence_cells(axes, moved, keep)
    blind = [(int(i), int(j)) for i, j in np.argwhere(keep & ~moved)]
    for i, j in blind:
        axes.add_patch(
            forms.rectangle(
                (j + 0.04, i + 0.04), 0.92, 0.92, fill=False, edgecolor="black", linewidth=2, linestyle="--"
            )
        )
        axes.text(j + 0.5, i + 0.5, "blind", ha="center", va="center", fontsize=11, weight="bold")
    axes.set_title(title)
    verdict = told(guess, "c")
    figure.supxlabel(verdict, fontsize=12)
    missing = ", ".join(f"output {i} to token {j}" for i, j in blind)
    return figure, (
        f"Map of influence{', ' + title if title else ''}: a row for each output, a column for each token. "
        f"{int((moved & ~keep).sum())} places show a leak. {int((moved & keep).sum())} of {int(keep.sum())} permitted places show influence. "
        f"{len(blind)} are marked as blind: {missing}. {verdict}"
    )
