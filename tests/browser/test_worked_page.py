"""The worked copy of a notebook that is handed out when it is closed, as a browser shows it: without a network, by day and by night, on a
phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from autograder.authoring.solutions import make_solutions
from tests.browser.offline import LOOKS, OpenFile, opened_offline
from tests.support.axe import faults


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its mistakes are shown in tables, and its formulas are wide."""
    return make_solutions("03_causal_mask", tmp_path_factory.mktemp("solutions"))[1]


@pytest.fixture(scope="module")
def open_file(browser: Browser) -> Iterator[OpenFile]:
    with opened_offline(browser) as opening:
        yield opening


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_everybody_can_read_it(open_file: OpenFile, page: Path, scheme: str, width: int) -> None:
    opened, asked = open_file(page, scheme, width)
    assert [url for url in asked if not url.startswith("data:")] == []
    assert faults(opened) == []
    assert opened.evaluate("document.documentElement.scrollWidth") <= width


def test_day_and_night_look_different(open_file: OpenFile, page: Path) -> None:
    grounds = {
        scheme: open_file(page, scheme, 1280)[0].evaluate("getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    }
    assert grounds["light"] != grounds["dark"]
