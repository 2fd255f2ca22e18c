"""When a picture is drawn, and what stands in its place until then."""

from __future__ import annotations

import inspect
import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from course.figures import GUESS_FIRST, CannotDraw, Covered, Picture, canvas, picture
from course.figures.loops import one_query


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


@picture
def guessed(guess: object) -> tuple[Figure, str]:
    figure, _ = canvas()
    return figure, "An   empty\nfigure & no more."


@picture
def waiting(causal_keep: object) -> tuple[Figure, str]:
    return canvas()[0], "Drawn."


@picture(waits=False)
def trying(causal_keep: object) -> tuple[Figure, str]:
    keep = causal_keep(2)  # type: ignore[operator]
    if keep.shape != (2, 2):
        raise CannotDraw("It should be 2 by 2.")
    return canvas()[0], "Drawn."


def right(n: int) -> np.ndarray:
    return np.tril(np.ones((n, n), bool))


def wrong(n: int) -> np.ndarray:
    return np.triu(np.ones((n, n), bool))


def of_another_shape(n: int) -> np.ndarray:
    return np.ones(n, bool)


def unwritten(n: int) -> np.ndarray:
    raise NotImplementedError()


for function in (right, wrong, of_another_shape, unwritten):
    function.__name__ = "causal_keep"

NOT_RIGHT = "This picture is drawn with your own causal_keep, whose check does not pass yet."
NOT_WRITTEN = "This picture is drawn with your own causal_keep, which is not written yet."


def test_a_picture_is_its_pixels_and_its_words() -> None:
    drawn = guessed("a")
    assert isinstance(drawn, Picture)
    assert repr(drawn) == "[Picture] An empty figure & no more."
    assert 'alt="An empty figure &amp; no more."' in drawn._repr_html_()
    assert drawn.png.startswith(b"\x89PNG")


def test_a_picture_has_twice_the_dots_that_it_is_wide() -> None:
    drawn = guessed("a")
    assert isinstance(drawn, Picture)
    assert f'width="{drawn.width}"' in drawn._repr_html_()
    assert Image.open(io.BytesIO(drawn.png)).width == 2 * drawn.width == 1760


def test_a_picture_with_an_answer_waits_for_a_guess() -> None:
    covered = guessed(None)
    assert isinstance(covered, Covered)
    assert repr(covered) == GUESS_FIRST


@pytest.mark.parametrize("execution", ["autograde", "validate"])
def test_nothing_is_drawn_while_nbgrader_runs(execution: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", execution)
    assert guessed("a") is None


def test_a_picture_of_ones_own_function_waits_until_its_check_passes() -> None:
    assert isinstance(waiting(right), Picture)
    assert repr(waiting(wrong)) == NOT_RIGHT
    assert repr(waiting(unwritten)) == NOT_WRITTEN


def test_a_picture_of_a_try_waits_until_there_is_one_that_can_be_drawn() -> None:
    assert isinstance(trying(right), Picture)
    assert isinstance(trying(wrong), Picture)
    assert repr(trying(of_another_shape)) == "It should be 2 by 2."
    assert repr(trying(unwritten)) == NOT_WRITTEN


def test_numbers_as_a_picture_shows_them_add_up() -> None:
    figure, _ = inspect.unwrap(one_query)()
    shown = {
        panel.get_title(): [float(t.get_text()) for t in panel.texts if t.get_text()[:1].isdigit()]
        for panel in figure.axes
        if "score" not in panel.get_title()
    }
    terms, weights = np.reshape(shown["3. weight × value"], (3, 3)), np.array(shown["2. weights"])
    assert weights.sum().round(4) == 1
    assert np.allclose(terms, weights[:, None] * np.reshape(shown["values"], (3, 3)), rtol=0, atol=1e-9)
    assert terms.sum(axis=0).round(3).tolist() == shown["sum: the output"]
