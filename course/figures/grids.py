"""Matrices drawn as grids of numbers, and the products between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from course.figures import FRAME, PALE, PAPER, forms

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOUR_REPEATS = "The colours repeat the numbers: the darker, the lower."
"""What is written under grids whose colours have no scale beside them."""


def grid(
    axes: Axes,
    matrix: np.ndarray,
    title: str = "",
    rows: str = "",
    columns: str = "",
    digits: int = 2,
    marked: np.ndarray | None = None,
    limits: tuple[float, float] | None = None,
    plain: bool = False,
) -> None:
    """Draw a matrix with its numbers in it.

    Args:
        axes: where to draw.
        matrix: [n, m]; NaN entries stay empty, infinities are written as such.
        title: above the grid.
        rows, columns: names of the two axes, with their size: "n = 4".
        digits: significant digits.
        marked: [n, m] bool; these cells get a thick frame, so that no colour is needed to find them.
        limits: the values at the two ends of the colour scale, where several grids share one.
        plain: all cells have one colour, where it is the numbers that matter and nothing is compared.
    """
    matrix = np.atleast_2d(np.asarray(matrix, float))
    finite = matrix[np.isfinite(matrix)]
    low, high = limits or (finite.min(initial=0.0), finite.max(initial=1e-9))
    shades = np.nan_to_num(matrix, nan=low, posinf=high, neginf=low)
    colours = forms.colours(PALE) if plain else forms.colours()
    axes.imshow(shades, cmap=colours, vmin=low, vmax=high, aspect="equal")
    for (i, j), value in np.ndenumerate(matrix):
        if np.isnan(value):
            axes.add_patch(forms.rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=PAPER))
            continue
        shade = colours((shades[i, j] - low) / (high - low + 1e-12))
        axes.text(j, i, _number(value, digits), ha="center", va="center", color=_readable_on(shade))
    for line in np.arange(1, matrix.shape[1]) - 0.5 if plain else ():
        axes.axvline(line, color=PAPER, linewidth=1, zorder=0.5)
    for line in np.arange(1, matrix.shape[0]) - 0.5 if plain else ():
        axes.axhline(line, color=PAPER, linewidth=1, zorder=0.5)
    for i, j in np.argwhere(marked) if marked is not None else ():
        axes.add_patch(forms.rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, linewidth=3, edgecolor=FRAME))
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    axes.set_title(title)
    axes.set_ylabel(rows)
    axes.set_xlabel(columns)


def _readable_on(colour: tuple[float, float, float, float]) -> str:
    """White or black, whichever has more contrast, as WCAG 2 measures it."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "white" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "black"


def _number(value: float, digits: int) -> str:
    if np.isposinf(value):
        return "∞"
    return "-∞" if np.isneginf(value) else f"{value:.{digits}g}"


def frame_row(axes: Axes, row: int, width: int, **style: Any) -> None:
    """A thick frame around one row of a grid that is `width` columns wide."""
    style = {"linewidth": 3, "edgecolor": FRAME, **style}
    axes.add_patch(forms.rectangle((-0.5, row - 0.5), width, 1, fill=False, **style))


def frame_column(axes: Axes, column: int, height: int, **style: Any) -> None:
    """A thick frame around one column of a grid that is `height` rows high."""
    style = {"linewidth": 3, "edgecolor": FRAME, **style}
    axes.add_patch(forms.rectangle((column - 0.5, -0.5), 1, height, fill=False, **style))


def numbered_places(axes: Axes, n: int, m: int) -> None:
    """Make room for n rows of m squares of size 1, row 0 on top, and number them along both sides."""
    axes.set(xlim=(-0.02, m + 0.02), ylim=(n + 0.02, -0.02), aspect="equal")
    axes.set_xticks(np.arange(m) + 0.5, map(str, range(m)))
    axes.set_yticks(np.arange(n) + 0.5, map(str, range(n)))
    axes.tick_params(length=0)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)
