"""The site with all notebooks, made once for all files of tests that look at it; none of them writes into it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from autograder.authoring.site import make_site
from autograder.exercises import NOTEBOOKS


@cache
def whole_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "site"
    make_site(NOTEBOOKS[-1], folder)
    return folder
