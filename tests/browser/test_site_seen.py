"""The site as a reader sees it: light and dark, on a large screen and on a phone, from files and from a server, without a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from autograder.exercises import NOTEBOOKS
from tests.support.axe import faults
from tests.support.whole_site import whole_site

pytestmark = pytest.mark.thorough  # every page, on two screens, in two lights

KINDS = (
    "index",
    "notebooks/00_shapes",
    "notebooks/05_block",
    "notebooks/10_capstone",
    "docs/instructors",
    "docs/glossary",
    "docs/architecture",
    "search",
)
"""A page of each kind: the longest formulas, the longest code and the widest tables are among them."""
Scheme = Literal["light", "dark"]
LARGE, PHONE = 1280, 390
HEIGHT = 900
UNSEEN = "() => [...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src)"
UNFOLD = "() => document.querySelectorAll('details').forEach(fold => { fold.open = true })"
TOO_WIDE = "() => [...document.querySelectorAll('.cell_input pre')].filter(one => one.scrollWidth > one.clientWidth).map(one => one.innerText)"
BEYOND = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whole_site(tmp_path_factory)


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Requests are no news."""


@pytest.fixture(scope="module")
def origin(site: Path) -> Iterator[str]:
    """Where a server on this machine serves the site."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def reading(browser: Browser, address: str, scheme: Scheme = "light", width: int = LARGE) -> Iterator[Page]:
    """A page that is open. In the end, it has asked for nothing of elsewhere, and its console has no complaints."""
    with browser.new_context(color_scheme=scheme, viewport={"width": width, "height": HEIGHT}) as context:
        page = context.new_page()
        asked: list[str] = []
        complaints: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        yield page
        assert [url for url in asked if not url.startswith(("file:", "data:", "http://127.0.0.1:"))] == []
        assert complaints == []


@pytest.mark.parametrize(("scheme", "width"), [("light", LARGE), ("dark", PHONE)])
@pytest.mark.parametrize("name", KINDS)
def test_a_page_fits_and_asks_for_nothing_of_elsewhere(
    browser: Browser, site: Path, name: str, scheme: Scheme, width: int
) -> None:
    with reading(browser, (site / f"{name}.html").as_uri(), scheme, width) as page:
        assert page.evaluate("() => document.documentElement.dataset.theme") == scheme
        page.evaluate(UNFOLD)
        assert page.evaluate(BEYOND) == 0
        assert page.evaluate(UNSEEN) == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_code_is_scrolled_on_a_large_screen(browser: Browser, site: Path, name: str) -> None:
    with reading(browser, (site / "notebooks" / f"{name}.html").as_uri()) as page:
        page.evaluate(UNFOLD)
        assert page.locator(".cell_input pre").count() > 10
        assert page.evaluate(TOO_WIDE) == []


@pytest.mark.parametrize(("scheme", "width"), [("light", PHONE), ("dark", LARGE)])
@pytest.mark.parametrize("name", KINDS)
def test_a_page_can_be_read_by_everybody(browser: Browser, site: Path, name: str, scheme: Scheme, width: int) -> None:
    with browser.new_context(color_scheme=scheme, viewport={"width": width, "height": HEIGHT}) as context:
        page = context.new_page()
        page.goto((site / f"{name}.html").as_uri())
        page.evaluate(UNFOLD)
        assert page.evaluate(BEYOND) == 0
        assert faults(page) == []


def test_a_covered_picture_is_seen_when_it_is_unfolded(browser: Browser, site: Path) -> None:
    with reading(browser, (site / "notebooks/03_causal_mask.html").as_uri()) as page:
        covered = page.locator("details.below-input", has_text="Make your guess first")
        picture = covered.first.locator("img")
        expect(picture).not_to_be_visible()
        covered.first.locator("summary").click()
        expect(picture).to_be_visible()


def test_a_reader_goes_on_and_back_and_chooses_dark(browser: Browser, site: Path) -> None:
    with reading(browser, (site / "index.html").as_uri()) as page:
        page.get_by_role("link", name=re.compile("Hiding the future")).last.click()
        expect(page).to_have_title(re.compile("03 · Hiding the future"))
        page.locator(".prev-next-area .right-next").click()
        expect(page).to_have_title(re.compile("04 · "))
        page.locator(".prev-next-area .left-prev").click()
        expect(page).to_have_title(re.compile("03 · "))
        page.get_by_role("button", name="Color mode").click()
        page.get_by_role("button", name="Dark").click()
        page.reload()
        assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("width", [LARGE, PHONE])
def test_a_word_is_found(browser: Browser, origin: str, width: int) -> None:
    with reading(browser, f"{origin}/index.html", width=width) as page:
        page.locator("button.search-button-field:visible, button.search-button:visible").first.click()
        page.keyboard.type("renormalise")
        page.keyboard.press("Enter")
        results = page.locator("#search-results li")
        expect(results.first).to_be_visible()
        expect(results.locator(".context").first).to_contain_text("renormalise", ignore_case=True)
        results.locator("a", has_text="Hiding the future").first.click()
        expect(page).to_have_title(re.compile("03 · Hiding the future"))


def test_from_files_a_word_is_found_without_its_sentence(browser: Browser, site: Path) -> None:
    """A browser lets no page read another file: then the pages alone are listed, and its console says so."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{(site / 'search.html').as_uri()}?q=renormalise")
        expect(page.locator("#search-results li a", has_text="Hiding the future")).to_be_visible()


def test_a_formula_that_is_too_wide_can_be_scrolled_by_the_keyboard(browser: Browser, site: Path) -> None:
    with reading(browser, (site / "notebooks/05_block.html").as_uri(), width=PHONE) as page:
        reached = page.locator(".formula[tabindex='0']")
        expect(reached.first).to_be_attached()
        assert page.evaluate(
            "() => [...document.querySelectorAll('.formula')].every(one => (one.scrollWidth > one.clientWidth) === (one.tabIndex === 0))"
        )
        page.set_viewport_size({"width": 2000, "height": HEIGHT})
        expect(reached).to_have_count(0)
