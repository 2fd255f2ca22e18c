"""Worked copies: what an instructor hands out when a notebook is closed for everybody. They hold every answer."""

from __future__ import annotations

from pathlib import Path

import nbformat

from autograder.authoring.mutants import Unreleased
from autograder.authoring.solutions.copying import worked
from autograder.authoring.solutions.page import as_page
from autograder.problems import FAILED, Problem
from autograder.settings import ROOT

FOLDER = ROOT / "build" / "solutions"
HANDED_OUT = ("release", "source", "course", "docs", "build/kit", "build/notebooks", "build/site")
"""Folders of the checkout from which students, or a site, get what lies in them."""


def make_solutions(notebook: str, folder: Path = FOLDER) -> tuple[Path, Path]:
    """Write the worked copy of a notebook, "03_causal_mask-worked.ipynb", and the same as one page of HTML.

    Raises:
        Problem: the folder cannot be written, or what lies in it is handed out, or `make release` comes first.
    """
    for name in HANDED_OUT:
        if folder.resolve().is_relative_to(ROOT / name):
            raise Problem(
                f"Worked copies hold every answer, and what lies in {name}/ is handed out. Name another folder, such as build/solutions."
            )
    try:
        copy = worked(notebook)
    except Unreleased as error:
        raise Problem(str(error), FAILED) from None
    paths = folder / f"{notebook}-worked.ipynb", folder / f"{notebook}-worked.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, (nbformat.writes(copy) + "\n", as_page(copy)), strict=True):
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Problem(
            f"{folder} cannot be written ({error.strerror}). Name a folder that can be: --folder FOLDER.", FAILED
        ) from None
    return paths
