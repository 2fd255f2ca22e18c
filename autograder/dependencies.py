"""Which files of a checkout some code is made of."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path


def with_imports(root: Path, names: Iterable[str], known: dict[Path, list[Path]] | None = None) -> set[Path]:
    """The Python files of these names under `root`, with everything there that they import, and that those import.

    An import counts wherever it stands; one that is made at run time, from a name in a variable, is not seen.

    Args:
        root: the folder in which packages lie.
        names: files and folders, relative to it; what is not there is left out.
        known: what files import, for whoever asks more than once while nothing changes; it is added to.
    """
    known = {} if known is None else known
    waiting = [path for name in names for path in _files(root / name)]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            if path not in known:
                names_in = imported(path.read_bytes(), path.relative_to(root).parts[:-1])
                known[path] = [file for name in names_in for file in modules(name, root)]
            waiting += known[path]
    return found


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else list(path.rglob("*.py"))


@lru_cache(maxsize=1000)
def imported(code: bytes, package: tuple[str, ...]) -> tuple[str, ...]:
    """Every module that a file of a package imports, and every name that may be one: `from a import b` is "a.b".

    Code that is no Python, as a cell with magic commands is not, imports nothing.
    """
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except SyntaxError:  # nothing can import that either
        return ()
    found: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = [*package[: len(package) - node.level + 1]] if node.level else []
            start += node.module.split(".") if node.module else []
            found += (".".join([*start, alias.name]) for alias in node.names)
    return tuple(found)


def modules(name: str, root: Path) -> Iterator[Path]:
    """The files under `root` that importing a name runs: the packages on the way, and the module itself."""
    place = root
    for part in name.split("."):
        place /= part
        candidates = (place / "__init__.py", place.with_name(f"{part}.py"))
        yield from (path for path in candidates if path.is_file())
