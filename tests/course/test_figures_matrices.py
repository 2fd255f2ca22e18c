"""Pictures of notebook 02."""

from __future__ import annotations

import pytest

from course.figures.grids import _readable_on


@pytest.mark.parametrize(("colour", "ink"), [((0.0, 0.1, 0.3, 1.0), "white"), ((0.5, 0.5, 0.5, 1.0), "black")])
def test_numbers_are_written_in_the_ink_with_more_contrast(colour: tuple[float, float, float, float], ink: str) -> None:
    assert _readable_on(colour) == ink
