"""A figure as the bytes of a picture."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARPNESS = 2  # dots of a fine screen for each pixel that a page counts
SHADES = 256  # as many as a PNG can list; so listed, twice as fine a picture takes fewer bytes than a plain one


def png(figure: Figure) -> bytes:
    """A PNG for a screen with `SHARPNESS` dots for each pixel; `figure.dpi` are the pixels for an inch."""
    from PIL import Image

    plain, listed = io.BytesIO(), io.BytesIO()
    figure.savefig(plain, format="png", dpi=SHARPNESS * figure.dpi, pil_kwargs={"compress_level": 0})
    shades = Image.open(plain).convert("RGB").quantize(SHADES, dither=Image.Dither.NONE)
    shades.save(listed, "png", optimize=True)
    return listed.getvalue()
