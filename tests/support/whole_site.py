"""The site with all notebooks, made once for all files of tests that look at it; none of them writes into it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from autograder.authoring.site import make_site
from autograder.exercises import NOTEBOOKS


def whole_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it lies."""
    return _made_in(tmp_path_factory.getbasetemp())


@cache
def _made_in(folder: Path) -> Path:
    site = folder / "whole-site" / "site"
    site.parent.mkdir()
    make_site(NOTEBOOKS[-1], site)
    return site
