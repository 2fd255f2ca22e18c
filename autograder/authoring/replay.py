"""Whether the source notebooks still show what is stored in them: nbval runs them and compares."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection, Sequence

import nbformat

from autograder.authoring.proofs import Checkout, keep, recall
from autograder.dependencies import imported, modules
from autograder.exercises import folder_of
from autograder.settings import ROOT

SANITISED = "tests/nbval_sanitize.cfg"


def replay(notebooks: Collection[str], told: bool = True) -> int:
    """Run these notebooks, but for those that were proved here before and rest on nothing that has changed since.

    Args:
        notebooks: their names.
        told: whether what differs is printed.

    Returns:
        The exit code of pytest; 0 where there was nothing to run.
    """
    checkout = Checkout()
    proofs = {f"replay/{notebook}": checkout.digest(rests_on(notebook)) for notebook in notebooks}
    new = [notebook for notebook in notebooks if not recall(f"replay/{notebook}", proofs[f"replay/{notebook}"])]
    if old := len(notebooks) - len(new):
        print(f"{old} of {len(notebooks)} notebooks were run before and rest on nothing that has changed since.")
    if not new:
        return 0
    code = _run([f"source/{notebook}" for notebook in new], told)
    if code == 0:
        for notebook in new:
            keep(f"replay/{notebook}", proofs[f"replay/{notebook}"])
    elif told:
        print("Where a notebook is meant to show something else now, `python -m autograder outputs NAME` stores that.")
    return code


def _run(folders: Sequence[str], told: bool) -> int:
    wide = ["-n", "2", "--dist", "loadfile"] if len(folders) > 1 else []
    command = [sys.executable, "-m", "pytest", "--nbval", *folders, "--nbval-sanitize-with", SANITISED, *wide]
    return subprocess.run(command, cwd=ROOT, check=False, stdout=None if told else subprocess.DEVNULL).returncode


def rests_on(notebook: str) -> list[str]:
    """What the outputs of a source notebook rest on: it, what it imports, and what marks the answers in it."""
    cells = nbformat.read(ROOT / "source" / notebook / f"{notebook}.ipynb", as_version=4).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    names = {name for text in code for name in imported(text.encode(), ())}
    files = {path.relative_to(ROOT).as_posix() for name in names for path in modules(name, ROOT)}
    marking = ["autograder/judging", folder_of(notebook).replace(".", "/"), f"course/answers/{notebook}"]
    return [f"source/{notebook}", SANITISED, *sorted(files), *marking]
