"""A notebook's text, as nbformat lays it out. Most cells of a class are the same in every submission, and are laid out once."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from nbformat import NotebookNode, current_nbformat, v4
from nbformat.notebooknode import from_dict
from nbformat.v4.nbjson import BytesEncoder

AT_HAND = 1_000
"""Cells that a process keeps."""
LONGEST = 10_000
"""Characters of a cell that is kept."""
BEFORE, AFTER = '{\n "cells": [\n', '\n ],\n "metadata": '
SEPARATOR = ",\n"
NONE = '{\n "cells": [],\n "metadata": '


def text_of(notebook: NotebookNode) -> str:
    """The text of a valid notebook of the current format, with a line's end at its end."""
    assert notebook.nbformat == current_nbformat
    around = v4.writes_json(NotebookNode({**notebook, "cells": []}))
    assert around.startswith(NONE)
    if not notebook.cells:
        return f"{around}\n"
    return f"{BEFORE}{SEPARATOR.join(map(_text, notebook.cells))}{AFTER}{around[len(NONE) :]}\n"


def _text(cell: NotebookNode) -> str:
    compact = json.dumps(cell, cls=BytesEncoder, ensure_ascii=False)
    return _kept(compact) if len(compact) <= LONGEST else _laid_out(cell)


@lru_cache(AT_HAND)
def _kept(compact: str) -> str:
    return _laid_out(from_dict(json.loads(compact)))


def _laid_out(cell: Any) -> str:
    """A cell as it stands in its notebook's text."""
    notebook = NotebookNode(cells=[cell], metadata=NotebookNode(), nbformat=current_nbformat, nbformat_minor=5)
    return v4.writes_json(notebook)[len(BEFORE) :].partition(AFTER)[0]
