"""One browser for all tests, and a server and a page for those of a file: to load JupyterLab costs more than most of what is then done
in it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import FLAGS, chromium
from tests.browser.front_end import Opened
from tests.browser.server import Server, serving
from tests.browser.visit import Visit, visiting

Open = Callable[[str, str], Opened]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = chromium()
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, headless=True, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("home")) as started:
        yield started


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Page]:
    """The page that a student has before them, from one test of a file to the next."""
    with browser.new_context() as context:
        yield context.new_page()


@pytest.fixture
def visit(window: Page, server: Server) -> Iterator[Visit]:
    with visiting(window, server) as begun:
        yield begun


@pytest.fixture
def student(visit: Visit) -> Open:
    """Open a copy of a released notebook that nobody has touched: `student("00_shapes", LAB)`."""
    return visit.open


@pytest.fixture(autouse=True)
def screenshot(tmp_path: Path) -> Path:
    """Where a test that fails leaves what it saw."""
    return tmp_path / "page.png"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that fails says where a screenshot of what it saw lies."""
    report = yield
    given = getattr(item, "funcargs", {})
    seen = next((one.page for one in given.values() if isinstance(one, (Visit, Opened))), None)
    if report.when == "call" and report.failed and seen is not None:
        seen.screenshot(path=given["screenshot"])
        report.sections.append(("browser", f"what stood there: {given['screenshot']}"))
    return report
