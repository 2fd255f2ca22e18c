"""`python -m course`: bring one's own copies of the notebooks up to date, and open JupyterLab on them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from course.kit.copies import NoKit, bring
from course.kit.lab import start

HOME = Path.home() / "attention-in-matrices"


def main() -> None:
    parser = argparse.ArgumentParser("python -m course", description=__doc__, epilog="Other options go to JupyterLab.")
    parser.add_argument(
        "--notebooks",
        type=Path,
        default=Path("notebooks"),
        metavar="FOLDER",
        help="the course's; if not given, a kit's here",
    )
    parser.add_argument(
        "--work", type=Path, default=HOME, metavar="FOLDER", help=f"your own copies; if not given, {HOME}"
    )
    parser.add_argument("--no-lab", action="store_true", help="bring the copies up to date and stop there")
    given, options = parser.parse_known_args()
    work = given.work.expanduser().resolve()
    try:
        for said in bring(given.notebooks, work):
            print(said)
    except NoKit as missing:
        sys.exit(str(missing))
    except OSError as trouble:
        sys.exit(
            f"{trouble.filename or work} could not be written: {trouble.strerror}. Name another folder with --work."
        )
    print(f"Your notebooks are in {work}", flush=True)
    if not given.no_lab:
        try:
            start(work, options)
        except ImportError as missing:
            sys.exit(f"JupyterLab cannot be started here ({missing}). Start with `python start.py`, which installs it.")


if __name__ == "__main__":
    main()
