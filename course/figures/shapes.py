"""Pictures of notebook 00: what a matrix product does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from course.figures import PALE, PAPER, canvas, forms, picture
from course.figures.grids import frame_column, frame_row, grid
from course.figures.verdicts import told

if TYPE_CHECKING:
    from matplotlib.figure import Figure

X = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]])
Y = np.array([[2.0, 1.0, 1.0], [0.0, 3.0, -1.0], [1.0, 0.0, 2.0], [-2.0, 1.0, 1.0]])
WEIGHTS = np.array([[0.0, 1.0, 2.0], [-1.0, 0.5, 0.0]])
ROWS = np.array([[1.0, 0.0, 3.0, 1.0], [2.0, 4.0, 0.0, -2.0], [0.0, 1.0, 1.0, 5.0]])


@picture
def every_pair() -> tuple[Figure, str]:
    """The first reading, in three steps: each entry is one row against one row."""
    product = X @ Y.T
    figure, panels = canvas(3, 3, width=8.4, height=7.6, width_ratios=(3, 4, 4))
    for (i, j), (left, middle, right) in zip(((0, 0), (0, 1), (1, 2)), panels, strict=True):
        grid(left, X, "X" if i == j == 0 else "", "n = 2", "d = 3", plain=True)
        grid(middle, Y.T, "Yᵀ: the rows of Y, stood up" if i == j == 0 else "", "d = 3", "m = 4", plain=True)
        frame_row(left, i, 3)
        frame_column(middle, j, 3)
        done = np.full(product.shape, np.nan)
        filled = np.arange(product.size).reshape(product.shape) <= i * product.shape[1] + j
        done[filled] = product[filled]
        here = np.zeros(product.shape, bool)
        here[i, j] = True
        sums = " + ".join(f"{a:g}·{b:g}".replace("-", "−") for a, b in zip(X[i], Y[j], strict=True))
        title = f"entry ({i}, {j}) = {sums} = {product[i, j]:g}"
        grid(right, done, title, "n = 2", "m = 4", marked=here, plain=True)
        right.title.set_fontsize(10)
    return figure, (
        "Three steps of one matrix product, a row of pictures for each. On the left X with one row framed, in the middle "
        "Y transposed with one column framed, on the right the result, filled up to the framed entry, with the sum that "
        "makes it: row 0 with row 0 gives 1·2 + 2·1 + 0·1 = 4, row 0 with row 1 gives 6, row 1 with row 2 gives 6."
    )


@picture
def mixing() -> tuple[Figure, str]:
    """The second reading: an output row is a sum of whole rows."""
    figure, panels = canvas(1, 4, width=9.2, height=2.9, width_ratios=(3, 4, 4, 4))
    weights = WEIGHTS[0]
    grid(panels[0], WEIGHTS, "A", "n = 2", "m = 3", plain=True)
    frame_row(panels[0], 0, 3)
    grid(panels[1], ROWS, "V", "m = 3", "v = 4", plain=True)
    grid(panels[2], weights[:, None] * ROWS, "rows of V, weighted", "m = 3", "v = 4", plain=True)
    for j, weight in enumerate(weights):
        panels[2].text(-0.7, j, f"{weight:g} ×", ha="right", va="center")
    panels[2].set_ylabel("")
    first = np.vstack([WEIGHTS[0] @ ROWS, np.full(4, np.nan)])
    grid(panels[3], first, "their sum is row 0", "n = 2", "v = 4", plain=True)
    frame_row(panels[3], 0, 4)
    return figure, (
        "Row 0 of A holds the weights 0, 1 and 2. Each row of V is multiplied by its weight: the first vanishes, the second stays, "
        "the third doubles. Their sum, 2 6 2 8, is row 0 of the output. Row 0 of A and row 0 of the output are framed."
    )


PRODUCTS = {
    "X @ Y": lambda X, Y: X @ Y,
    "X @ Y.T": lambda X, Y: X @ Y.T,
    "X.T @ Y": lambda X, Y: X.T @ Y,
    "Y @ X.T": lambda X, Y: Y @ X.T,
    "X * Y": lambda X, Y: X * Y,
}


@picture
def which_products_run(guess: int | None) -> tuple[Figure, str]:
    """Five ways to multiply [n, d] with [m, d], at distinct sizes and where some, or all, are equal.

    Args:
        guess: how many of them run where n = m.
    """
    settings = {
        "n = 2, m = 3, d = 4": (2, 3, 4),
        "n = 2, m = 4, d = 4": (2, 4, 4),
        "n = m = 3, d = 4": (3, 3, 4),
        "n = m = d = 4": (4, 4, 4),
    }
    shapes = [[_shape(product, *size) for product in PRODUCTS.values()] for size in settings.values()]
    figure, axes = canvas(width=8.6, height=3.4)
    for i, row in enumerate(shapes):
        for j, shape in enumerate(row):
            face = PALE if shape else PAPER
            hatch = "" if shape else "///"
            axes.add_patch(forms.rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=face, edgecolor="0.6", hatch=hatch))
            axes.text(
                j, i, f"runs: {list(shape)}" if shape else "error", ha="center", va="center", backgroundcolor=face
            )
    axes.set(xlim=(-0.5, len(PRODUCTS) - 0.5), ylim=(len(settings) - 0.5, -0.5))
    axes.set_xticks(range(len(PRODUCTS)), PRODUCTS, family="monospace")
    axes.set_yticks(range(len(settings)), settings)
    axes.xaxis.tick_top()
    axes.grid(False)
    axes.tick_params(length=0)
    verdict = told(guess, 4)
    axes.set_xlabel(f"All sizes different: 2 of 5 run. n = m: how many? {verdict}")
    return figure, (
        "Table of five products at four choices of sizes. With all sizes different only X @ Y.T and Y @ X.T run, with results of "
        "different shapes. With m = d also X @ Y runs. With n = m all but X @ Y run, and X @ Y.T and Y @ X.T give the same shape. "
        f"With all sizes equal all five run and give the same shape. {verdict}"
    )


def _shape(product: object, n: int, m: int, d: int) -> tuple[int, ...] | None:
    try:
        return tuple(product(np.ones((n, d)), np.ones((m, d))).shape)  # type: ignore[operator]
    except ValueError:
        return None


@picture
def two_conventions() -> tuple[Figure, str]:
    """The same product with tokens as rows and with tokens as columns."""
    figure, axes = canvas(width=8.6, height=4.2)
    n, d, k = 1.2, 2.0, 1.5
    blocks = [
        (0.0, 3.2, d, n, "X", "n", "d", "rows"),
        (3.0, 3.2, k, d, "W", "d", "k", ""),
        (6.0, 3.2, k, n, "XW", "n", "k", "rows"),
        (0.0, 0.0, d, k, "Wᵀ", "k", "d", ""),
        (3.0, 0.0, n, d, "Xᵀ", "d", "n", "columns"),
        (6.0, 0.0, n, k, "(XW)ᵀ", "k", "n", "columns"),
    ]
    for x, y, width, height, name, rows, columns, tokens in blocks:
        bottom = y + (2.0 - height) / 2
        axes.add_patch(forms.rectangle((x, bottom), width, height, facecolor=PALE, edgecolor="black"))
        lines = np.linspace(0, 1, 5)[1:-1]
        for part in lines if tokens else ():
            if tokens == "rows":
                axes.plot([x, x + width], [bottom + part * height] * 2, color="0.55", linewidth=1)
            else:
                axes.plot([x + part * width] * 2, [bottom, bottom + height], color="0.55", linewidth=1)
        axes.text(x + width / 2, bottom + height / 2, name, ha="center", va="center", fontsize=15, backgroundcolor=PALE)
        axes.text(x - 0.08, bottom + height / 2, rows, ha="right", va="center", style="italic")
        axes.text(x + width / 2, bottom - 0.06, columns, ha="center", va="top", style="italic")
    for y in (4.2, 1.0):
        axes.text(2.5, y, "@", ha="center", va="center", fontsize=15)
        axes.text(5.2, y, "=", ha="center", va="center", fontsize=15)
    axes.text(8.0, 4.2, "here:\na token is a row", va="center")
    axes.text(8.0, 1.0, "elsewhere:\na token is a column", va="center")
    axes.set(xlim=(-0.4, 10.2), ylim=(-0.4, 5.4))
    axes.set_axis_off()
    return figure, (
        "Two equations in blocks. Above, tokens as rows: X of n by d times W of d by k gives XW of n by k. Below, tokens as columns: "
        "W transposed, k by d, times X transposed, d by n, gives XW transposed, k by n. The order of the factors is reversed."
    )
