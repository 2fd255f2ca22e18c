"""Which notebooks get a kernel of their own: those of another language, and those that ask for what only a kernel has."""

from __future__ import annotations

import re
from collections.abc import Iterable

from traitlets.config import Config

OWN_KERNELS = ("", "python", "python3")
IMPORTS_IPYKERNEL = re.compile(r"^[^\S\n]*+(?:import|from)[^\S\n]++ipykernel\b", re.MULTILINE)
SECTIONS = ("JudgedExecute", "Execute", "ExecutePreprocessor", "NotebookClient")
"""Where a course may set the kernel of all its notebooks; the first that does counts."""


def set_for_all(config: Config) -> str:
    """The kernel that a course's settings name; "" where each notebook names its own."""
    named = (config[section].get("kernel_name") for section in SECTIONS if section in config)
    return next((str(name) for name in named if name), "")


def why_a_kernel(named: str, sources: Iterable[str]) -> str:
    """Why a notebook needs a kernel of its own; "" where it needs none.

    Args:
        named: the kernel that the course's settings name, or else the notebook.
        sources: of its code cells.
    """
    if named not in OWN_KERNELS:
        return f"it names the kernel {named}"
    return "it imports ipykernel" if any(map(IMPORTS_IPYKERNEL.search, sources)) else ""
