"""What can be said of an answer in a few numbers: enough to see of most others that they are not the same.

Whoever gave a wrong answer is compared with every known mistake, and agrees with few.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from course.trial.comparing import TOLERANCE
from course.trial.observing import Observation
from course.trial.values import Value, bare

DUST = 1e-12
"""What adding up may cost, relative to all that is added up."""


@dataclass(frozen=True)
class Sketch:
    """An answer in short.

    Attributes:
        form: all that has to be the same.
        sums: of each array of floating-point numbers, a weighted sum of its entries.
        rooms: by how much this may differ, for each 1 of tolerance.
        tolerances: of their dtypes.
    """

    form: Hashable
    sums: tuple[float, ...]
    rooms: tuple[float, ...]
    tolerances: tuple[float, ...]

    def may_be(self, other: Sketch, least: float) -> bool:
        """Whether `same_answers` may say of two answers that they are the same; never False where it says so.

        Args:
            other: the other answer's.
            least: a tolerance below which none goes.
        """
        if self.form != other.form:
            return False
        for one, another, room, more, own in zip(
            self.sums, other.sums, self.rooms, other.rooms, self.tolerances, strict=True
        ):
            if abs(one - another) > max(own, least) * room + DUST * (room + more):  # False, where they are not finite
                return False
        return True


def sketch(observed: Observation) -> Sketch:
    """An answer in short, as far as another that is the same has to agree with it."""
    if observed.raised is not None:
        return Sketch((observed.raised.kind, frozenset(observed.changed)), (), (), ())
    drawing = _Drawing()
    with np.errstate(all="ignore"):  # numbers near the largest there are
        form = drawing.form(observed.result), drawing.form({str(key): value for key, value in observed.changed.items()})
    return Sketch(form, tuple(drawing.sums), tuple(drawing.rooms), tuple(drawing.tolerances))


class _Drawing:
    def __init__(self) -> None:
        self.sums: list[float] = []
        self.rooms: list[float] = []
        self.tolerances: list[float] = []

    def form(self, value: Value) -> Hashable:
        """What of a value has to be the same; an array's numbers are added up on the way."""
        array = bare(value)
        if isinstance(array, np.ndarray) and array.ndim:
            kind = type(value).__name__, array.dtype.str, array.shape
            return (*kind, self._numbers(array) if array.dtype.kind == "f" else array.tobytes())
        if isinstance(value, dict):
            return tuple((key, self.form(value[key])) for key in sorted(value))
        if isinstance(value, (list, tuple)):
            return (type(value).__name__, *map(self.form, value))
        return value if isinstance(value, str) else value is None

    def _numbers(self, array: np.ndarray) -> bytes:
        """Where in it no number stands."""
        flat = array.astype(np.float64).ravel()
        finite = np.isfinite(flat)
        where = b""
        if not finite.all():
            where = finite.tobytes()
            flat = np.where(finite, flat, 0.0)
        size, weights = np.abs(flat), _weights(flat.size)
        self.sums.append(float(flat @ weights))
        self.rooms.append(float(size @ weights) + float(size.max(initial=0.0)) * 2 * flat.size)
        self.tolerances.append(TOLERANCE[array.dtype.name])
        return where


@lru_cache(4096)
def _weights(size: int) -> np.ndarray:
    """Between 1 and 2, so that numbers in other places have another sum."""
    return 1.0 + np.mod(np.arange(1, size + 1) * ((math.sqrt(5) - 1) / 2), 1.0)
