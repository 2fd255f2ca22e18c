"""What a zygote imports before a notebook comes: the well-known modules that the notebook itself imports."""

from __future__ import annotations

import ast
from collections.abc import Iterable

WELL_KNOWN = {"course", "jaxtyping", "matplotlib", "numpy", "pandas", "scipy", "sklearn", "torch"}
"""Packages that may be imported where nothing of a submission may run."""


def modules_of(sources: Iterable[str]) -> set[str]:
    """The well-known modules that these cells import. Cells that are no plain Python are passed over.

    Of `from a import b`, both `a` and `a.b` are named: `b` may be a module.
    """
    found: set[str] = set()
    for source in sources:
        try:
            statements = ast.walk(ast.parse(source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in statements:
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in found if name.partition(".")[0] in WELL_KNOWN}
