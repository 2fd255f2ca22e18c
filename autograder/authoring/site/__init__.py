"""The course as a static site: its notebooks as students get them, with the pictures that are stored, and the pages about it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.authoring.site.pages import assemble
from autograder.exercises import NOTEBOOKS
from autograder.problems import FAILED, Problem
from autograder.settings import ROOT

SETTINGS = Path(__file__).parent
MADE = "searchindex.js"
"""What lies in every site: a folder without it is not taken for an earlier one."""


def make_site(last: str, folder: Path, students: bool = False) -> None:
    """Build the site up to a notebook.

    Args:
        last: the last notebook in it, "03_causal_mask". Those before it should be closed: it holds their solutions, where later ones build on them.
        folder: becomes the site, whose first page is index.html; a site that lies there is replaced.
        students: whether the pages on giving the course and on working on it are left out.

    Raises:
        Problem: the folder holds something else, or a page has a fault; nothing is written.
    """
    if folder.exists() and not (folder / MADE).is_file() and any(folder.iterdir()):
        raise Problem(f"{folder} holds something else than a site: name another folder with --to.")
    with TemporaryDirectory() as temporary:
        pages, built = Path(temporary) / "pages", Path(temporary) / "site"
        assemble(pages, NOTEBOOKS[: NOTEBOOKS.index(last) + 1], students)
        _build(pages, built, Path(temporary) / "read")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(built, folder)


def _build(pages: Path, to: Path, read: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "--builder", "html", "--quiet", "--no-color", "--fail-on-warning"]
    command += ["--keep-going", "--conf-dir", str(SETTINGS), "--doctree-dir", str(read), str(pages), str(to)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if built.returncode:
        said = f"{built.stdout}{built.stderr}".replace(f"{pages}/", "")
        raise Problem(f"The site could not be built; mend what is named:\n{said}", FAILED)
