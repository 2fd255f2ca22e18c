"""A pytest plug-in for nbgrader's own tests: it notes what nbgrader ran, and changes nothing that they check."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import nbgrader.api
from nbconvert.exporters import Exporter
from nbconvert.preprocessors import Preprocessor

# nbgrader starts alembic for each new database, to be told the same word each time: 1.5 s in each of 300 tests
nbgrader.api.get_alembic_version = functools.cache(nbgrader.api.get_alembic_version)

REPORT = Path(os.environ["WITNESS_REPORT"])
ran: set[str] = set()


def note(name: str) -> None:
    """Write it down at once: what runs in a fork is known to no other process, and a fork may end without a word."""
    if name not in ran:
        ran.add(name)
        with REPORT.open("a") as report:
            report.write(f"{name}\n")


def noted(method: Any) -> Any:
    """The method, which also notes of what class the object is that it was called on, unless that is switched off."""

    @functools.wraps(method)
    def noting(self: Any, *arguments: Any, **keywords: Any) -> Any:
        if getattr(self, "enabled", True):
            note(f"{type(self).__module__}.{type(self).__qualname__}")
        return method(self, *arguments, **keywords)

    return noting


Preprocessor.__call__ = noted(Preprocessor.__call__)
Exporter.from_notebook_node = noted(Exporter.from_notebook_node)  # all come to this, however they read a notebook
