"""What comes back after the grade, as a browser shows it: without a network, by day and by night, on a phone and on paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook
from playwright.sync_api import Browser, Page

from autograder.folder import Course
from tests.browser.offline import LOOKS, opened_offline
from tests.support.axe import faults
from tests.support.classes import TURNED, duplicated
from tests.support.submissions import NOTEBOOK, RIGHT, filled, hand_in

UNLISTED = {**RIGHT, "mix_rows": "def mix_rows(W, V):\n    return 1.5 * (W @ V)"}
WIDE = "$$" + " + ".join(f"x_{{{n}}}" for n in range(60)) + "$$\n\n|a|b|\n|-|-|\n|$" + "y" * 90 + "$|" + "z" * 200 + "|"
STUDENTS = ("ada", "dan", "una", "rea")
FULL = ("dan", "rea")
"""Whose two pages hold between them everything that those of the others hold."""
CLASSES = "Array.from(document.querySelectorAll('[class]')).flatMap(one => Array.from(one.classList))"
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def course(new_course) -> Course:  # type: ignore[no-untyped-def]
    """Right, a known mistake, an unknown one; and work that was repaired, late, commented, and is wider than a phone."""
    made: Course = new_course()
    hand_in(made, "ada", filled(made, RIGHT))
    hand_in(made, "dan", filled(made, {**RIGHT, "pairwise_dots": TURNED}))
    hand_in(made, "una", filled(made, UNLISTED))
    repaired = duplicated(filled(made, UNLISTED))
    repaired.cells.append(new_markdown_cell(WIDE))
    hand_in(made, "rea", repaired)
    for student in STUDENTS:
        made.autograde(NOTEBOOK, student)
    with Gradebook(made.database, made.directory.course_id) as gradebook:
        gradebook.find_submission_notebook(NOTEBOOK, NOTEBOOK, "rea").late_submission_penalty = 1.0
        gradebook.find_comment("mix_rows_solution", NOTEBOOK, NOTEBOOK, "rea").manual_comment = "The *idea* is right."
        gradebook.db.commit()
    for student in STUDENTS:
        made.generate_feedback(NOTEBOOK, student)
    return made


@pytest.fixture
def shown(browser: Browser, course: Course) -> Iterator[Open]:
    """Open somebody's page without a network; everything that unfolds is open. What it asked for is an error."""
    with opened_offline(browser) as open_file:

        def open_page(student: str, scheme: str = "light", width: int = 1280) -> Page:
            place = course.folder("feedback", student, NOTEBOOK) / f"{NOTEBOOK}.html"
            page, asked = open_file(place, scheme, width)
            assert [url for url in asked if not url.startswith("data:")] == []
            return page

        yield open_page


@pytest.mark.parametrize("student", STUDENTS)
@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_everybody_can_read_it(shown: Open, student: str, scheme: str, width: int) -> None:
    page = shown(student, scheme, width)
    assert student not in FULL or faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_what_is_on_anybodys_page_is_on_those_that_are_looked_at_closely(shown: Open) -> None:
    held = {student: set(shown(student).evaluate(CLASSES)) for student in STUDENTS}
    assert set().union(*held.values()) == set().union(*(held[student] for student in FULL))


def test_formulas_are_drawn_and_no_dollar_is_left(shown: Open) -> None:
    page = shown("ada")
    assert page.evaluate("document.querySelectorAll('math').length") > 5
    sizes = page.evaluate(
        "Array.from(document.querySelectorAll('math')).map(one => one.getBoundingClientRect().height)"
    )
    assert min(sizes) > 5
    assert "$" not in page.inner_text("main")


def test_day_and_night_look_different(shown: Open) -> None:
    colours = [
        shown("ada", scheme).evaluate("getComputedStyle(document.body).backgroundColor") for scheme in ("light", "dark")
    ]
    assert colours == ["rgb(255, 255, 255)", "rgb(13, 17, 23)"]


def test_on_paper_nothing_is_cut(shown: Open) -> None:
    page = shown("dan", "dark", 700)
    page.emulate_media(media="print")
    cut = "Array.from(document.querySelectorAll('pre')).filter(one => one.scrollWidth > one.clientWidth + 1).length"
    assert page.evaluate(cut) == 0
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
