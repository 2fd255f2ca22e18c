"""`python docs/pictures/message.py` draws `message.svg`: a wrong answer of a student, and what `check` says of it."""

from __future__ import annotations

import inspect
from pathlib import Path
from textwrap import wrap
from xml.sax.saxutils import escape

import numpy as np

from course.checking import examine

PICTURE = Path(__file__).with_name("message.svg")
COLUMNS = 84
LETTER, LINE, MARGIN = 14, 20, 20  # pixels


def pairwise_dots(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return Y @ X.T


def picture() -> str:
    """The cells and the message, as SVG."""
    cells = f"{inspect.getsource(pairwise_dots).replace(': np.ndarray', '').replace(' -> np.ndarray', '')}\ncheck(pairwise_dots)"
    state, lesson, *rest = examine(pairwise_dots).text.split("\n")
    typed = [(line, "code") for line in cells.split("\n")]
    said = [(state, ""), *((line, "lesson") for line in wrap(lesson, COLUMNS)), *((line, "") for line in rest)]
    width, height = COLUMNS * LETTER * 0.61 + 2 * MARGIN, (len(typed) + len(said)) * LINE + 4 * MARGIN
    box = len(typed) * LINE + 1.2 * MARGIN
    rows = [
        f'<text class="{kind}" x="{MARGIN}" y="{MARGIN * 1.4 + LETTER + place * LINE + (0 if kind == "code" else MARGIN):g}">{escape(line)}</text>'
        for place, (line, kind) in enumerate([*typed, *said])
        if line
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img">',
            "<title>What check says of pairwise_dots with its table turned</title>",
            f"<style>text {{ font: {LETTER}px 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre; fill: #1f2328 }}"
            " .lesson { font-weight: bold; fill: #9a3412 }</style>",
            f'<rect width="{width:g}" height="{height:g}" rx="8" fill="#ffffff" stroke="#d0d7de"/>',
            f'<rect x="{MARGIN / 2:g}" y="{MARGIN / 2:g}" width="{width - MARGIN:g}" height="{box:g}" rx="4" fill="#f3f4f6"/>',
            *rows,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
