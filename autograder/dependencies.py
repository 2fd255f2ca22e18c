"""Which files of a checkout some code is made of."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

STATEMENT = re.compile(
    rb"^[ \t]*+(?:from[ \t]++([\w.]++)[ \t]++import[ \t]*+(?:\(([^()]*+)\)|([^\n(\\;]++)(?![(\\]))|import[ \t]++([^\n\\;]++)(?!\\))",
    re.MULTILINE,
)
WORD = re.compile(rb"\bimport\b")
COMMENT = re.compile(rb"#[^\n]*")
MAGIC = re.compile(rb"^[ \t]*[%!?]", re.MULTILINE)


def with_imports(
    root: Path, names: Iterable[str], known: dict[Path, list[Path]] | None = None, only: str = ""
) -> set[Path]:
    """The Python files of these names under `root`, with everything there that they import, and that those import.

    An import counts wherever it stands; one that is made at run time, from a name in a variable, is not seen.

    Args:
        root: the folder in which packages lie.
        names: files and folders, relative to it; what is not there is left out.
        known: what files import, for whoever asks more than once while nothing changes; it is added to.
        only: the one package whose files are looked for, where other packages lie beside it.
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
                own = [name for name in names_in if not only or name.partition(".")[0] == only]
                known[path] = [file for name in own for file in modules(name, root)]
            waiting += known[path]
    return found


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else list(path.rglob("*.py"))


@lru_cache(maxsize=1000)
def imported(code: bytes, package: tuple[str, ...]) -> tuple[str, ...]:
    """Every module that a file of a package imports, and every name that may be one: `from a import b` is "a.b".

    Code that is no Python, as a cell with magic commands is not, imports nothing.
    """
    found: list[str] = []
    for module, names in _statements(code):
        level = len(module) - len(module.lstrip("."))
        start = [*package[: len(package) - level + 1]] if level else []
        start += [module.lstrip(".")] if module.strip(".") else []
        found += (".".join([*start, name]) for name in names)
    return tuple(found)


def _statements(code: bytes) -> list[tuple[str, list[str]]]:
    """The import statements of a file: `from ..a import b, c` is ("..a", ["b", "c"]), `import a` is ("", ["a"]).

    Where each word "import" begins one that is easily read, or stands in one, nothing is parsed: that takes ten times as long.
    """
    simple = STATEMENT.findall(code)
    if len(simple) == len(WORD.findall(code)) and not MAGIC.search(code):
        return [(module.decode(), _names(b"".join(lists))) for module, *lists in simple]
    try:
        nodes = ast.walk(ast.parse(code))
    except SyntaxError:  # nothing can import that either
        return []
    return [
        (
            "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else "",
            [one.name for one in node.names],
        )
        for node in nodes
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]


def _names(listed: bytes) -> list[str]:
    """The names in `a, b.c as d  # e`."""
    return [one.split()[0].decode() for one in COMMENT.sub(b"", listed).split(b",") if one.strip()]


def modules(name: str, root: Path) -> Iterator[Path]:
    """The files under `root` that importing a name runs: the packages on the way, and the module itself."""
    place = str(root)
    for part in name.split("."):
        place = f"{place}/{part}"
        yield from (Path(path) for path in (f"{place}/__init__.py", f"{place}.py") if os.path.isfile(path))
        if not os.path.isdir(place):
            return
