"""`hand_in`: from a notebook to the one file that an instructor wants, with a receipt."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from course import answers
from course.cells import as_run, read, run_from, running_shell
from course.handed_in import last_of, place_of
from course.kit.caveats import will_not_count
from course.standing import defined, named, standing, tell

PATIENCE = 15.0
"""Seconds to wait for a notebook to be saved; in the JupyterLab of the kit it is, every ten."""

DIGITS = 16
"""Of a file's digest, as many as nobody finds another file for by chance, and as somebody can copy."""

EXCHANGE = Path("/usr/local/share/nbgrader/exchange")
CONFIG = "nbgrader_config.py"
COLAB = "google.colab"
"""Imported in every kernel of Colab, which keeps notebooks where no kernel can read them."""


def hand_in(notebook: str) -> None:
    """Check all of a notebook, and write the file to hand in, as it is saved; where nbgrader has an exchange, hand it in there too.

    Args:
        notebook: "03_causal_mask", or "03".
    """
    if os.environ.get("NBGRADER_EXECUTION"):
        return
    name = named(notebook)
    if name is None:
        return
    path = _path_of(name)
    if not path.is_file() and COLAB in sys.modules:
        _tell(name)
        print(
            f"\nTo hand in, choose File, Download, Download .ipynb. The file that you get is the one to hand in: {path.name}"
        )
        return
    if not path.is_file():
        print(
            f"There is no {path.name} in {path.parent}. Run this in the notebook that you hand in, and under its own name."
        )
        return
    content = _saved(path, defined(name).values())
    if content is None:
        print(
            f"What you ran last is not in {path.name} yet. Save it, and run this cell again. If this is another notebook, a copy of it, "
            f"open {path.name}, or rename this one to it. If you have changed, split or merged cells since you ran them, run those first. Nothing was handed in."
        )
        return
    _tell(name)
    with suppress(ValueError, KeyError, TypeError, AttributeError):  # a file that no front end writes
        told = will_not_count(read(content), defined(name), answers.names(name), path.parent)
        print("".join(f"\nThis will not count as it is now: {caveat}" for caveat in told))
    work = path.parent.parent
    last = last_of(name, work)
    if last and last[0].read_bytes() == content:
        kept, when = last
        print(f"\nThis is what you handed in at {when:%H:%M} on {when:%Y-%m-%d}; nothing has changed since:\n{kept}")
    else:
        when = datetime.now()
        kept = _keep(place_of(name, work, when), content)
        which = "your notebook" if path.stem == name else path.name
        print(f"\nThe file to hand in is {which} as it was last saved:\n{kept}")
    print("Give it to your instructor, and keep the next line: the file's SHA-256 begins as it says.")
    now = when.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
    print(f"Receipt: {name}, {now}, {len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()[:DIGITS]}...")
    if _has_exchange(work):
        print(_submit(name, work))


def _saved(path: Path, functions: Iterable[Callable[..., Any]]) -> bytes | None:
    """What is saved of a notebook, as soon as the cells of these functions stand in it as they were run; None if they do not.

    Where none has been run, the cell that runs now has to be in it: so a kernel's own notebook is told from a copy of it.
    """
    wanted = set(map(run_from, functions)) or {_running()}
    until, asked = time.monotonic() + PATIENCE, False
    while True:
        content = path.read_bytes()
        if wanted - {""} <= _cells(content):
            return content
        if not asked:
            print(f"Waiting for {path.name} to be saved: Ctrl+S, on a Mac ⌘S.", flush=True)
            asked = True
        if time.monotonic() > until:
            return None
        time.sleep(0.5)


def _path_of(name: str) -> Path:
    """The notebook whose kernel this is, where the front end says so and it is one of this name or a copy; else the one of this name."""
    usual = Path.cwd() / f"{name}.ipynb"
    said = os.environ.get("JPY_SESSION_NAME") or vars(sys.modules["__main__"]).get("__vsc_ipynb_file__") or ""
    own = Path.cwd() / Path(str(said)).name
    if own == usual or own.suffix != usual.suffix or not own.is_file():
        return usual
    cells = "\n".join(_cells(own.read_bytes()))
    return own if any(f"check({exercise})" in cells for exercise in answers.names(name)) else usual


def _running() -> str:
    """The code of the cell that runs now; "" outside a notebook."""
    shell = running_shell()
    run = shell.user_ns.get("In", ()) if shell is not None else ()
    return str(run[-1]).strip() if run else ""


def _cells(content: bytes) -> set[str]:
    try:
        return {as_run(cell) for cell in read(content)["cells"] if cell["cell_type"] == "code"}
    except (ValueError, KeyError, TypeError):  # a notebook that is being written
        return set()


def _tell(name: str) -> None:
    results = standing(name)
    tell(name, results)
    open_ = len(results) - sum(map(bool, results.values()))
    print("Hidden tests give the points, when your instructor grades. They try more cases of the same things.")
    if open_:
        print(
            f"{'One exercise is' if open_ == 1 else f'{open_} exercises are'} not done yet. You can hand in again, as often as you like."
        )


def _keep(kept: Path, content: bytes) -> Path:
    kept.parent.mkdir(exist_ok=True)
    kept.write_bytes(content)
    return kept


def _has_exchange(folder: Path) -> bool:
    """Whether nbgrader is here, and somebody has set it up, for this machine or for a folder of notebooks."""
    if find_spec("nbgrader") is None:
        return False
    from jupyter_core.paths import jupyter_config_path

    return EXCHANGE.is_dir() or any((place / CONFIG).is_file() for place in (folder, *map(Path, jupyter_config_path())))


def _submit(name: str, folder: Path) -> str:
    """Hand a notebook in through nbgrader's exchange; in a sentence what came of it."""
    command = [sys.executable, "-m", "nbgrader", "submit", name]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return "It was handed in through nbgrader's exchange too."
    last = (run.stderr.strip().splitlines() or ["it gave no reason"])[-1]
    return f"nbgrader's exchange did not take it ({last}). Hand in the file above."
