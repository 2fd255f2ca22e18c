"""What stands in the files of the checkout: the targets of the Makefile, and who imports what."""

from __future__ import annotations

import re
from pathlib import Path

from autograder.dependencies import imported
from autograder.settings import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def targets() -> set[str]:
    """What one can `make`."""
    return set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


def imports(path: Path) -> set[str]:
    """Every module or name that a file of the checkout imports, in full: `from a import b` is "a.b"."""
    return set(imported(path.read_bytes(), path.relative_to(ROOT).parts[:-1]))


def within(name: str, packages: set[str]) -> bool:
    """Whether a module or name is one of these packages, or is in one."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)
