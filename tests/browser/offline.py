"""Pages that lie on the disk, as a browser without a network shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page

OpenFile = Callable[[Path, str, int], tuple[Page, list[str]]]
LOOKS = [("light", 390), ("dark", 1280)]
"""Each color scheme and each width, a phone's and a laptop's: colors do not depend on a width, nor places on colors."""


@contextmanager
def opened_offline(browser: Browser) -> Iterator[OpenFile]:
    """Open a file in a color scheme and a width; everything that unfolds is open.

    With the page comes what it asked for beside itself, and what its scripts stumbled over.
    """
    contexts = []

    def open_file(path: Path, scheme: str, width: int) -> tuple[Page, list[str]]:
        settings = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
        contexts.append(browser.new_context(offline=True, **settings))  # type: ignore[arg-type]
        page, place, asked = contexts[-1].new_page(), path.as_uri(), list[str]()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: asked.append(str(error)))
        page.goto(place)
        assert asked[:1] == [place]
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        return page, asked[1:]

    yield open_file
    for context in contexts:
        context.close()
