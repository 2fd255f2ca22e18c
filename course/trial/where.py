"""A small picture of where two arrays differ, in characters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course.trial.comparing import agrees
from course.trial.values import Tensor, Value, bare

RIGHT, WRONG = "·", "×"
WIDTH = 72
FEWEST = 9  # entries; fewer are seen at once
MOST_ROWS = 16  # of the whole picture; a larger one is no help
GAP = "   "


def where(expected: Value, given: Value, axes: str = "") -> str:
    """Rows of dots and crosses, one block for each pair of the last two axes; "" where a picture would say nothing.

    Args:
        expected, given: what is compared; only arrays of one shape and dtype, of two axes and more, some of whose entries are
            right and some wrong, have a picture.
        axes: the names of the result's axes: "[b, h, n, m]".
    """
    if not isinstance(expected, (np.ndarray, Tensor)) or type(expected) is not type(given):
        return ""
    one, other = bare(expected), bare(given)
    if one.ndim < 2 or one.size < FEWEST or (one.shape, one.dtype) != (other.shape, other.dtype):
        return ""
    right = agrees(one, other)
    if right.all() or not right.any():
        return ""
    lines = [line for row in _rows_of_blocks(right) for line in row]
    if len(lines) > MOST_ROWS or max(map(len, lines)) > WIDTH:
        return ""
    names = axes.strip("[]").split(", ")
    leading = names[:-2] if len(names) == one.ndim and all(map(str.isalpha, names)) else []
    each = f", for each [{', '.join(leading)}]" if leading else ""
    return "\n".join([f"Where they differ ({WRONG}){each}:", *lines])


def _rows_of_blocks(right: np.ndarray) -> Iterator[list[str]]:
    """The blocks as lines, as many beside each other as there is room for."""
    blocks = [_block(right[place], place) for place in np.ndindex(right.shape[:-2])]
    across = max(1, (WIDTH + len(GAP)) // (len(blocks[0][0]) + len(GAP)))
    for start in range(0, len(blocks), across):
        yield [GAP.join(parts).rstrip() for parts in zip(*blocks[start : start + across], strict=True)]


def _block(right: np.ndarray, place: tuple[int, ...]) -> list[str]:
    """One table, under the place where it stands; all lines are as long as the longest."""
    lines = [" ".join(RIGHT if entry else WRONG for entry in row) for row in right]
    lines = [f"[{', '.join(map(str, place))}]", *lines] if place else lines
    width = max(map(len, lines))
    return [line.ljust(width) for line in lines]
