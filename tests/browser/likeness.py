"""Kept screenshots, and whether something still looks like them."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

KEPT = Path(__file__).parent / "pictures"
RENEW = "RENEW_PICTURES"
COMMAND = f"{RENEW}=1 pytest tests/browser/test_looks.py"
SIZES = 0.12  # a line that breaks elsewhere in another font is no difference
COARSE = 24  # pixels of one that is compared, on its longer side
COLOURS = 0.02  # of the whole range, on the mean of all of these; another typeface makes 0.013


@dataclass(frozen=True)
class Difference:
    """How far two pictures are from each other: their sizes, and their colours when both are seen from far away."""

    sizes: float
    colours: float

    def __bool__(self) -> bool:
        return self.sizes > SIZES or self.colours > COLOURS


def difference(one: Image.Image, other: Image.Image) -> Difference:
    sizes = max(abs(a / b - 1) for a, b in zip(one.size, other.size, strict=True))
    shrunk = COARSE / max(other.size)
    coarse = tuple(max(1, round(side * shrunk)) for side in other.size)
    tables = [
        np.asarray(picture.convert("RGB").resize(coarse, Image.Resampling.BOX), float) for picture in (one, other)
    ]
    return Difference(sizes, float(np.abs(tables[0] - tables[1]).mean()) / 255)


def assert_looks_like(name: str, screenshot: bytes, beside: Path) -> None:
    """Compare with the kept picture of that name, or keep this one where pictures are made anew."""
    kept = KEPT / f"{name}.png"
    if os.environ.get(RENEW):
        kept.write_bytes(screenshot)
        return
    now = beside / f"{name}.png"
    now.write_bytes(screenshot)
    found = difference(Image.open(io.BytesIO(screenshot)), Image.open(kept))
    assert not found, (
        f"{now} does not look like {kept}: sizes differ by {found.sizes:.0%}, colours by {found.colours:.1%}. "
        f"If it is meant to look like this: `{COMMAND}`"
    )
