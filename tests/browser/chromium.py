"""The browser that the machine has."""

from __future__ import annotations

import os
import shutil

import pytest

NO_BROWSER = "there is no Chromium here"
REMEDY = "`apt-get install chromium`"
NAMES = ("chromium", "chromium-browser", "google-chrome")
REQUIRED = "REQUIRE_BROWSER"  # set in the environment where a test that is left out is a failure
HERE_ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-quic",
    "--no-first-run",
    HERE_ALONE,  # a page that is asked by Playwright for each request would fetch everything anew
)


def chromium() -> str:
    """Where Chromium is. A test that asks for it is left out where there is none, or fails where it is required."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None and os.environ.get(REQUIRED):
        pytest.fail(f"{NO_BROWSER}, and {REQUIRED} is set: {REMEDY}", pytrace=False)
    return found or pytest.skip(NO_BROWSER)
