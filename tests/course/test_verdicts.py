"""What is said about a guess, and where a measurement says nothing about it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from matplotlib.figure import Figure

from course import figures
from course.figures import CannotDraw, batching, heads, matrices
from course.figures.verdicts import TOO_CLOSE, between, least, told


@pytest.mark.parametrize(
    ("guess", "answer", "said"),
    [
        ("c", "c", "You guessed c, and so it is."),
        (" C", "c", "You guessed c, and so it is."),
        ("2", 2, "You guessed 2, and so it is."),
        ("a", "c", "You guessed a; it is c."),
        ("(c)", "c", "You guessed c, and so it is."),
        ("(a) ", "c", "You guessed a; it is c."),
        (3, 2, "You guessed 3; it is 2."),
        ("a", None, TOO_CLOSE),
    ],
)
def test_a_guess_is_told_whether_it_was_right(guess: object, answer: object, said: str) -> None:
    assert told(guess, answer) == said


@pytest.mark.parametrize(
    ("guess", "answer", "asked"),
    [("one", 2, "a number"), (7, "c", "letters"), ("ab", "c", "letters"), (7, None, "letters")],
)
def test_what_is_no_guess_is_asked_for_again(guess: object, answer: object, asked: str) -> None:
    with pytest.raises(CannotDraw, match=asked):
        told(guess, answer)


@pytest.mark.parametrize(("second", "answer"), [(2.0, "b"), (1.2, "b"), (1.14, None), (0.9, None), (0.5, "a")])
def test_of_two_measurements_that_are_close_none_is_the_least(second: float, answer: str | None) -> None:
    assert least({"a": second, "b": 1.0, "c": 3.0}) == answer


@pytest.mark.parametrize(
    ("measured", "answer"),
    [(0.5, "a"), (0.9, None), (1.1, None), (1.2, "b"), (25.0, "b"), (27.0, None), (34.0, None), (35.0, "c")],
)
def test_what_is_close_to_an_edge_speaks_for_no_side_of_it(measured: float, answer: str | None) -> None:
    assert between(measured, (1, 30), "abc") == answer


@pytest.mark.parametrize(
    ("ratio", "answer"),
    [
        ((2.0, 9.0, 20.0), "a"),
        ((2.0, 20.0, 3.0), "b"),
        ((2.0, 2.1, 1.9), "c"),
        ((2.0, 20.0, 14.0), None),
        ((2.0, 3.2, 0.5), None),
    ],
)
def test_a_hill_is_one_where_it_is_clearly_higher_than_its_ends(ratio: tuple[float, ...], answer: str | None) -> None:
    assert matrices._hill(np.array(ratio)) == answer


@pytest.mark.parametrize(
    ("short", "long", "answer"),
    [(9.0, 0.6, "b"), (9.0, 4.0, "a"), (1.1, 0.8, "c"), (9.0, 1.6, None), (1.4, 1.0, None), (1.0, 9.0, None)],
)
def test_more_heads_are_said_to_matter_where_they_clearly_do(short: float, long: float, answer: str | None) -> None:
    assert heads._grows(short, long) == answer


def unread(*arguments: object) -> None:
    raise AssertionError("times are made up here")


COMPARED: dict[str, tuple[ModuleType, Callable[[], object]]] = {
    "loop and matrices": (matrices, lambda: matrices.loop_against_matrix("a", unread, unread, unread)),
    "loop and stack": (heads, lambda: heads.loop_against_stack("a", unread, unread)),
    "loop and batch": (batching, lambda: batching.batch_against_loop("a", unread)),
}


@pytest.mark.parametrize(("room", "draw"), COMPARED.values(), ids=COMPARED)
def test_where_it_is_too_close_the_picture_has_room_to_say_so(
    room: ModuleType, draw: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    clock = "race" if room is batching else "quietest"
    monkeypatch.setattr(room, clock, lambda *runs, **options: [1.0 + 0.5 * (i % 5) for i in range(len(runs))])
    monkeypatch.setattr(room, "told", lambda guess, answer: TOO_CLOSE)
    drawn: list[Figure] = []
    monkeypatch.setattr(figures, "Picture", lambda figure, alt: drawn.append(figure) or figure.draw_without_rendering())
    draw()
    (figure,) = drawn
    notes = figure._supxlabel.get_window_extent()
    assert TOO_CLOSE in figure._supxlabel.get_text()
    assert notes.x0 > 0
    assert notes.x1 < figure.bbox.width
