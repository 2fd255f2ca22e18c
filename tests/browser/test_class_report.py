"""The class report as a browser shows it: readable by everybody, without a network, sorted and searched, and on paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from autograder.grading.report.counting import Spread
from autograder.grading.report.gathering import Gathered
from autograder.grading.report.page import html, term_html
from autograder.grading.report.term import Assignment, Term
from tests.browser.offline import LOOKS, opened_offline
from tests.support.axe import faults
from tests.support.report_class import a_class

Open = Callable[..., Page]
PAGES = ("report", "anonymous", "term")
OF_FEWER = "-of-40"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of a class of 300; and of one of 40 in which everything happens, too, for whoever looks at each element."""
    made = tmp_path_factory.mktemp("report")
    for students, end in ((300, ""), (40, OF_FEWER)):
        write(made, a_class(students), end)
    return made


def write(made: Path, gathered: Gathered, end: str) -> None:
    totals = gathered.totals
    shapes = Assignment("00_shapes", 0.5, Spread(7, tuple(7.0 for _ in totals)), dict.fromkeys(totals, 7.0))
    masks = Assignment(gathered.assignment, 0.4, Spread(17, tuple(totals.values())), totals)
    term = Term(datetime(2026, 3, 1, tzinfo=UTC), "1.2.3", gathered.names, (shapes, masks))
    for name, page in zip(PAGES, (html(gathered), html(gathered, anonymous=True), term_html(term)), strict=True):
        (made / f"{name}{end}.html").write_text(page)


@pytest.fixture
def shown(browser: Browser, folder: Path) -> Iterator[Open]:
    """Open a report without a network; everything that unfolds is open. What it asked for is an error, and so is what its script says."""
    with opened_offline(browser) as open_file:

        def open_page(name: str = "report", scheme: str = "light", width: int = 1280) -> Page:
            page, asked = open_file(folder / f"{name}.html", scheme, width)
            assert asked == []
            return page

        yield open_page


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_everybody_can_read_it(shown: Open, name: str, scheme: str, width: int) -> None:
    page = shown(f"{name}{OF_FEWER}", scheme, width)
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("Array.from(document.body.children).map(one => one.tagName).slice(0, 2)") == ["HEADER", "MAIN"]


def column(page: Page, number: int) -> list[str]:
    """What stands in a column of the students' table, row by row; from 1."""
    return page.locator(f"#table tbody tr:not([hidden]) > :nth-child({number})").all_inner_texts()


def points(texts: list[str]) -> list[float]:
    return [float(text.split()[0]) for text in texts if text and text[0].isdecimal()]


@pytest.mark.parametrize("name", ["report", "term"])
def test_a_click_on_a_heading_sorts_and_another_turns_it_round(shown: Open, name: str) -> None:
    page = shown(name)
    headings = page.locator("#table thead th")
    last = headings.count()
    headings.nth(last - 1).get_by_role("button").click()
    assert headings.nth(last - 1).get_attribute("aria-sort") == "ascending"
    up = column(page, last)
    assert points(up) == sorted(points(up))
    assert len(set(points(up))) > 5
    headings.nth(last - 1).get_by_role("button").press("Enter")
    assert headings.nth(last - 1).get_attribute("aria-sort") == "descending"
    down = column(page, last)
    assert points(down) == sorted(points(up), reverse=True)
    headings.nth(0).get_by_role("button").click()
    assert page.locator("#table th[aria-sort]").count() == 1
    names = column(page, 1)
    assert names[1].startswith("First2 ")  # numbers in names count as numbers; whoever has no name is called by an id
    assert len(names) == 300


def test_who_has_no_points_comes_last_whichever_way(shown: Open) -> None:
    page = shown()
    total = page.locator("#table thead th").last
    for _ in range(2):
        total.get_by_role("button").click()
        assert column(page, page.locator("#table thead th").count())[-6:] == [""] * 6


def test_lateness_is_sorted_by_how_late(shown: Open) -> None:
    page = shown()
    place = page.locator("#table thead th").all_inner_texts().index("late") + 1
    page.locator("#table thead th").nth(place - 1).get_by_role("button").click()
    late = [text for text in column(page, place) if text.endswith("-1")]
    assert late[:3] == ["1 h late, -1", "2 h late, -1", "3 h late, -1"]
    assert column(page, place)[: len(late)] == late


def test_a_search_shows_the_rows_with_a_name_an_id_or_a_mistake(shown: Open) -> None:
    page = shown()
    find = page.get_by_label("Show only rows with")
    for wanted, status in (("s0012", "1 of 300"), ("LAST-77", "1 of 300"), ("nobody", "0 of 300"), ("", "300 of 300")):
        find.fill(wanted)
        assert page.get_by_role("status").inner_text() == status
    find.fill("true_means_hidden")
    assert column(page, 2) == [text for text in column(page, 2) if "true_means_hidden" in text.replace("\n", "")]


def test_a_link_to_somebody_whom_the_search_hides_shows_them(shown: Open) -> None:
    page = shown()
    page.get_by_label("Show only rows with").fill("s0012")
    link = page.locator("#unusual a").first
    link.click()
    row = page.locator(str(link.get_attribute("href")))
    assert row.is_visible()
    assert page.get_by_label("Show only rows with").input_value() == ""


def test_without_scripts_all_rows_are_there_and_nothing_is_offered_that_does_nothing(
    browser: Browser, folder: Path
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "report.html").as_uri())
    assert page.locator("#table tbody tr").count() == 300
    assert not page.get_by_label("Show only rows with").is_visible()
    assert page.locator("#table button").count() == 0
    context.close()


def test_on_paper_headings_are_repeated_and_nothing_is_cut(shown: Open) -> None:
    page = shown("report", "dark", 700)
    page.emulate_media(media="print")
    heads = "Array.from(document.querySelectorAll('table')).map(t => getComputedStyle(t.tHead).display)"
    assert set(page.evaluate(heads)) == {"table-header-group"}
    cut = "Array.from(document.querySelectorAll('.scroll, pre')).filter(one => one.scrollHeight > one.clientHeight + 1).length"
    assert page.evaluate(cut) == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_bars_are_as_long_as_the_numbers_beside_them(shown: Open) -> None:
    page = shown()
    rows = page.evaluate(
        "Array.from(document.querySelector('#e-mask_scores .bars').tBodies[0].rows).map(r => "
        "[Number(r.cells[1].textContent), r.querySelector('rect')?.getBoundingClientRect().width ?? 0])"
    )
    most, longest = max(rows)
    assert longest > 100
    assert [width / longest for _, width in rows] == pytest.approx([count / most for count, _ in rows], abs=0.01)
