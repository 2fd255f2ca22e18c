"""The command line: `python -m autograder COMMAND`, or `autograder COMMAND` where the package is installed."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import NoReturn

from autograder.commands.app import app, run

__all__ = ["app", "main", "run"]

for name in ("classes", "making"):  # each hangs its commands in; an installed package has those of classes alone
    if find_spec(f"autograder.commands.{name}"):
        import_module(f"autograder.commands.{name}")


def main() -> NoReturn:
    run(sys.argv[1:])


if __name__ == "__main__":
    main()
