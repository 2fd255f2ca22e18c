"""One connection to the gradebook for a run of nbgrader's, in place of nine for each submission, and fewer transactions.

nbgrader opens a gradebook wherever it needs one, and each has to find out anew what its tables and queries look like: most of
what `nbgrader autograde` takes where cells are light. No setting says otherwise. So its own functions are run here as they
are, except that the name `Gradebook` means, in them alone, one that is still at hand. Nothing of nbgrader is changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import AssignLatePenalties, NbGraderPreprocessor, OverwriteCells, OverwriteKernelspec
from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

Key = tuple[Any, ...]


class _AtHand:
    """Opens gradebooks; while they are kept, each only once, as long as its file is the same."""

    def __init__(self) -> None:
        self._keeps = False
        self._open: dict[Key, Gradebook] = {}

    def __call__(self, db_url: str, *arguments: Any) -> Gradebook:
        if not self._keeps:
            return Gradebook(db_url, *arguments)
        found = self._open.get((db_url, _file(db_url), *arguments))
        if found is None:
            found = Gradebook(db_url, *arguments)
            self._open[db_url, _file(db_url), *arguments] = found
        return found

    @contextmanager
    def kept(self) -> Iterator[None]:
        self._keeps = True
        try:
            yield
        finally:
            self._keeps = False
            while self._open:
                self._open.popitem()[1].engine.dispose()


_at_hand = _AtHand()
kept = _at_hand.kept
"""While this context lasts, what `reusing` made does not open a gradebook twice."""


def reusing(function: Any) -> Any:
    """A function of nbgrader's, which opens a gradebook, with one that is at hand."""
    names = {**function.__globals__, "Gradebook": _at_hand}
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)


class AtOnce(NbGraderPreprocessor):
    """Second base of a preprocessor of nbgrader's that opens `gradebook`: what it writes of a notebook is written in one transaction.

    nbgrader writes each cell's by itself, and reads again what it knew. What was written before a cell failed stays, as there.
    """

    gradebook: Gradebook

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        with _one_transaction(self.gradebook.db):
            return super().preprocess(nb, resources)


@contextmanager
def _one_transaction(db: Any) -> Iterator[None]:
    db.commit = db.flush
    broken = False
    try:
        yield
    except SQLAlchemyError:
        broken = True
        raise
    finally:
        del db.commit
        if not broken:
            db.commit()


def _file(db_url: str) -> tuple[int, int] | None:
    """Which file it is, if it is one: somebody may put another in its place."""
    try:
        found = os.stat(make_url(db_url).database or "")
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Kernelspec(OverwriteKernelspec):
    """nbgrader's own."""

    preprocess = reusing(OverwriteKernelspec.preprocess)


class Cells(OverwriteCells):
    """nbgrader's own, which does not warn of each test cell in which a release has no hidden tests."""

    preprocess = reusing(OverwriteCells.preprocess)

    def report_change(self, name: str, attr: str, old: Any, new: Any) -> None:
        if attr == "checksum":
            self.log.debug("%s is put back as it is in the gradebook", name)
        else:
            super().report_change(name, attr, old, new)


class Penalties(AssignLatePenalties):
    """nbgrader's own."""

    preprocess = reusing(AssignLatePenalties.preprocess)
