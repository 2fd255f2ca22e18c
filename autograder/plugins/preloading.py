"""What a zygote imports before a notebook comes: the well-known modules that the notebook itself imports."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import course
from autograder.engine import NOTHING, Given, Place, Zygote, best_walls

WELL_KNOWN = {"course", "jaxtyping", "matplotlib", "matplotlib.pyplot", "numpy", "pandas", "scipy", "sklearn", "torch"}
"""What may be imported where nothing of a submission may run; and of the students' library, which is ours, any module."""

LIBRARY = Path(course.__file__).parent
"""The students' library, which submissions can import."""


@contextmanager
def shared_zygote(notebooks: Iterable[Path], given: Given = NOTHING) -> Iterator[Place | None]:
    """A zygote for all the processes that this one starts; None where each submission needs one of its own.

    Args:
        notebooks: what will be graded there, or is like it.
        given: the instructor's files that lie beside each.
    """
    if best_walls() == "outer":
        yield None
        return
    sources: list[str] = []
    for path in notebooks:
        with suppress(OSError, ValueError, KeyError, TypeError):
            cells = json.loads(path.read_bytes())["cells"]
            sources += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    with Zygote(sorted(modules_of(sources)), [LIBRARY], given=given) as zygote:
        yield zygote.place


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
    found |= {name.partition(".")[0] for name in found}
    return {name for name in found if name in WELL_KNOWN or name.startswith("course.")}
