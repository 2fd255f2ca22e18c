"""Every text in every picture of the notebooks can be read, on a laptop beside JupyterLab's file browser, in either theme."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from autograder.exercises import NOTEBOOKS
from course.figures import PAPER, canvas, picture
from tests.support.drawn import ROOM, drawn

LEAST = 12  # pixels that 9 points take
CONTRAST = 4.5  # the least contrast that the guidelines for accessible pages ask of text
BEHIND = 0.25  # of what is behind a text may have less: lines and hatches that cross it


def faults(figure: Figure) -> list[str]:
    """Of every text that is drawn, whether it is small, faint or cut off."""
    texts = drawn_texts(figure)
    places = [text.get_window_extent() for text in texts]
    for text in texts:
        text.set_alpha(0)
    behind = painted(figure)
    shown = min(ROOM, figure.bbox.width) / figure.get_figwidth() / 72
    found = []
    for text, box in zip(texts, places, strict=True):
        (x0, y0), (x1, y1) = np.floor(box.min).astype(int), np.ceil(box.max).astype(int)
        if x0 < 0 or y0 < 0 or x1 > figure.bbox.width or y1 > figure.bbox.height:
            found.append(f"{text.get_text()!r} is cut off")
            continue
        contrast = np.quantile(contrasts(np.array(to_rgb(text.get_color())), behind[y0:y1, x0:x1]), BEHIND)
        if contrast < CONTRAST:
            found.append(f"{text.get_text()!r} has a contrast of {contrast:.1f}")
        if (size := text.get_fontsize() * shown) < LEAST:
            found.append(f"{text.get_text()!r} is {size:.1f} pixels high")
    return found


def drawn_texts(figure: Figure) -> list[Text]:
    """The texts that are there when it is painted; matplotlib has others, of ticks beyond the end of an axis."""
    found = []

    def draw(text: Text, *arguments: Any, **keywords: Any) -> None:
        if text.get_visible() and text.get_text().strip():
            found.append(text)
        paint(text, *arguments, **keywords)

    paint = Text.draw
    with patch.object(Text, "draw", draw):
        painted(figure)
    return found


def painted(figure: Figure) -> np.ndarray:
    """[height, width, 3], from 0 to 1, from below."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[::-1, :, :3] / 255


def contrasts(ink: np.ndarray, behind: np.ndarray) -> np.ndarray:
    """As WCAG 2 measures them, of one colour [3] against others [..., 3] from 0 to 1."""

    def light(colour: np.ndarray) -> np.ndarray:
        linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
        return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]) + 0.05)

    one, others = light(ink), light(behind)
    return np.asarray(np.maximum(one, others) / np.minimum(one, others))


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_every_text_in_a_picture_is_large_enough_dark_enough_and_whole(
    notebook: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, found = 0, []
    for cell, figure in drawn(notebook, monkeypatch):
        seen += 1
        found += [f"{cell}: {fault}" for fault in faults(figure)]
    assert seen >= 4
    assert found == [], "\n".join(found)


def test_what_is_small_faint_or_cut_off_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Figure] = []
    monkeypatch.setattr("course.figures.Picture", lambda figure, alt: kept.append(figure))

    @picture
    def hardly_legible() -> tuple[Figure, str]:
        figure, axes = canvas(width=11.5)
        axes.text(0.5, 0.2, "small", fontsize=11.9)
        axes.text(0.5, 0.5, "faint", color="0.6")
        figure.text(0.99, 0.5, "cut")
        return figure, "Hardly legible."

    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    hardly_legible()
    (figure,) = kept
    assert figure.get_facecolor()[:3] == pytest.approx(to_rgb(PAPER))
    assert [said.split()[0] for said in faults(figure)] == ["'small'", "'faint'", "'cut'"]
