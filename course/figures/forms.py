"""matplotlib's forms. It is imported with the first that is drawn: a notebook that nbgrader runs draws none, and does not wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Patch, Rectangle


def figure(**settings: Any) -> Figure:
    """`matplotlib.figure.Figure`."""
    from matplotlib.figure import Figure

    return Figure(**settings)


def rectangle(*place: Any, **settings: Any) -> Rectangle:
    """`matplotlib.patches.Rectangle`."""
    from matplotlib.patches import Rectangle

    return Rectangle(*place, **settings)


def circle(*place: Any, **settings: Any) -> Circle:
    """`matplotlib.patches.Circle`."""
    from matplotlib.patches import Circle

    return Circle(*place, **settings)


def box(*place: Any, **settings: Any) -> FancyBboxPatch:
    """`matplotlib.patches.FancyBboxPatch`."""
    from matplotlib.patches import FancyBboxPatch

    return FancyBboxPatch(*place, **settings)


def arrow(*place: Any, **settings: Any) -> FancyArrowPatch:
    """`matplotlib.patches.FancyArrowPatch`."""
    from matplotlib.patches import FancyArrowPatch

    return FancyArrowPatch(*place, **settings)


def patch(**settings: Any) -> Patch:
    """`matplotlib.patches.Patch`, for keys."""
    from matplotlib.patches import Patch

    return Patch(**settings)


def line(*place: Any, **settings: Any) -> Line2D:
    """`matplotlib.lines.Line2D`, for keys."""
    from matplotlib.lines import Line2D

    return Line2D(*place, **settings)


def colours(only: str | None = None) -> Colormap:
    """A scale of colours that also reads in grey, or one colour for every value."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap([only]) if only else colormaps["cividis"]
