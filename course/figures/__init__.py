"""Pictures for the notebooks. Each one is a function that draws, and says in words what it has drawn.

    @picture
    def entropy_by_width(guess: str | None) -> tuple[Figure, str]:
        fig, axes = canvas()
        ...
        return fig, "Line chart. The entropy of ..."

In a notebook the call is the last expression of its cell. A picture that has a parameter `guess` stays covered until
the reader has written one down; one that is given the reader's own functions waits until their checks pass, or, with
`@picture(waits=False)`, until they are written. Nothing is drawn while nbgrader validates or grades.
"""

from __future__ import annotations

import base64
import inspect
import os
from collections.abc import Callable
from functools import partial, wraps
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

import numpy as np

from course.checking import examine
from course.figures import forms
from course.figures.pixels import png
from course.trial import ranks
from course.trial.silence import silently

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")
T = TypeVar("T")

STYLE = Path(__file__).parent / "course.mplstyle"

# Okabe and Ito's colours, in the order in which they are used; every series also has a marker or a dash of its own.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
FRAME, PALE = COLOURS[1], "#DCEBF5"
RUST = "#A34700"  # FRAME, dark enough to write in
PAPER = "#F4F4F1"  # behind every picture: quiet on a dark page, and all that is written on it stands out
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


class Picture:
    """A drawn figure with its alternative text, which is also what it prints as.

    Attributes:
        png: finer than it is shown.
        width: in pixels of the page, where there is room.
    """

    def __init__(self, figure: Figure, alt: str) -> None:
        self.png = png(figure)
        self.width = round(figure.get_figwidth() * figure.dpi)
        self.alt = " ".join(alt.split())

    def __repr__(self) -> str:
        return f"[Picture] {self.alt}"

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.png).decode()
        look = f'width="{self.width}" style="max-width:100%;border-radius:8px"'
        return f'<img {look} src="data:image/png;base64,{data}" alt="{escape(self.alt)}">'


class Covered:
    """What stands where a picture cannot be drawn yet."""

    def __init__(self, why: str) -> None:
        self.why = why

    def __repr__(self) -> str:
        return self.why


GUESS_FIRST = "Make your guess first: write it where the cell says None, then run that cell and this one again."


class CannotDraw(Exception):
    """What a reader's function returned cannot be drawn; the message says why."""


def from_processes(function: Callable[..., Any], p: int, *arguments: Any) -> list[Any]:
    """What `ranks.run` returns; where the processes do not get through there is nothing to draw, and it says why."""
    try:
        return ranks.run(function, p, *arguments)
    except (OSError, RuntimeError) as trouble:
        raise CannotDraw(f"There is nothing to draw: {trouble}.") from trouble


Draw = Callable[..., "tuple[Figure, str]"]
Show = Callable[..., Picture | Covered | None]


@overload
def picture(draw: Draw) -> Show: ...
@overload
def picture(*, waits: bool) -> Callable[[Draw], Show]: ...
def picture(draw: Draw | None = None, *, waits: bool = True) -> Show | Callable[[Draw], Show]:
    """Turn a function that returns a figure and its alternative text into one that a notebook cell ends with.

    Args:
        draw: the function.
        waits: whether to wait until the reader's functions are right. A picture that shows what a wrong one does is
            drawn as soon as they are written; where it cannot be, it raises `CannotDraw`.
    """
    return partial(_shown, waits=waits) if draw is None else _shown(draw, waits)


def _shown(draw: Draw, waits: bool) -> Show:
    @wraps(draw)
    def drawn(*arguments: Any, **keywords: Any) -> Picture | Covered:
        from matplotlib import style

        with style.context([STYLE, {"figure.facecolor": PAPER, "axes.facecolor": PAPER}]):
            try:
                return Picture(*draw(*arguments, **keywords))
            except CannotDraw as why:
                return Covered(str(why))

    return uncovered(drawn, waits=waits)


def uncovered(
    show: Callable[P, T], *, waits: bool = True, what: str = "This picture is drawn"
) -> Callable[P, T | Covered | None]:
    """Let a function that shows something wait for what it needs, as `picture` does.

    Args:
        show: waits for its parameter `guess`, where it has one, and for the reader's functions that it is given.
        waits: whether it waits until these are right, or only until they are written.
        what: begins the sentence that says which of the reader's functions it waits for.
    """
    guesses = "guess" in inspect.signature(show).parameters

    @wraps(show)
    def shown(*arguments: P.args, **keywords: P.kwargs) -> T | Covered | None:
        if os.environ.get("NBGRADER_EXECUTION"):
            return None
        bound = inspect.signature(show).bind(*arguments, **keywords).arguments
        if guesses and bound.get("guess") is None:
            return Covered(GUESS_FIRST)
        with silently():
            states = {f.__name__: examine(f).state for f in bound.values() if inspect.isfunction(f)}
        for name, state in states.items():
            if state == "not written":
                return Covered(f"{what} with your own {name}, which is not written yet.")
            if waits and state == "not yet":
                return Covered(f"{what} with your own {name}, whose check does not pass yet.")
        return show(*arguments, **keywords)

    return shown


def canvas(
    rows: int = 1, columns: int = 1, *, width: float = 8.0, height: float = 3.6, **options: Any
) -> tuple[Figure, Any]:
    """A figure and its axes, outside pyplot, so that nothing is drawn twice or left open. Sizes are in inches."""
    figure = forms.figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, **options)


def powers_of_ten(axes: Axes, values: np.ndarray) -> None:
    """Ticks at 0.1, 1, 10, in these words, on a logarithmic vertical axis, far enough to hold all values."""
    low = np.floor(np.log10(values.min()))
    high = max(low + 1, np.ceil(np.log10(values.max())))
    ticks = [float(f"1e{power:.0f}") for power in np.arange(low, high + 1)]
    axes.set_ylim(ticks[0], ticks[-1])
    axes.set_yticks(ticks, [np.format_float_positional(tick, trim="-") for tick in ticks])
