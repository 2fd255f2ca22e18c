"""What a zygote imports before a notebook comes: the well-known modules that the notebook itself imports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import course
from autograder.engine import NOTHING, Given, Place, Zygote, best_walls

WELL_KNOWN = {"course", "ipywidgets", "jaxtyping", "matplotlib", "matplotlib.pyplot", "numpy", "pandas", "scipy", "sklearn", "torch"}
"""What may be imported where nothing of a submission may run; and of the students' library, which is ours, any module."""

LIBRARY = Path(course.__file__).parent
"""The students' library, which submissions can import."""


@dataclass
class _Begun:
    """The zygote that was begun before anybody asked for it, and what it imports."""

    zygote: Zygote | None = None
    modules: tuple[str, ...] = ()


_begun = _Begun()


def begin(notebooks: Iterable[Path]) -> None:
    """Start the zygote that `shared_zygote` is going to be asked for, while this process is still busy with imports of its own."""
    modules = _preloaded(notebooks)
    if modules and best_walls() == "both":
        _begun.zygote, _begun.modules = Zygote(modules, [LIBRARY]), modules


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
    modules = _preloaded(notebooks)
    fits = _begun.zygote is not None and _begun.modules == modules and not given.files
    begun, _begun.zygote = _begun.zygote, None
    if begun is not None and not fits:
        begun.close()
    with begun if begun is not None and fits else Zygote(modules, [LIBRARY], given=given) as zygote:
        yield zygote.place


def _preloaded(notebooks: Iterable[Path]) -> tuple[str, ...]:
    """The modules that these notebooks import, as far as they can be read."""
    sources: list[str] = []
    for path in notebooks:
        with suppress(OSError, ValueError, KeyError, TypeError):
            cells = json.loads(path.read_bytes())["cells"]
            sources += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return tuple(sorted(modules_of(sources)))


IMPORT = re.compile(
    r"\b(?:from[ \t]++([\w.]++)[ \t]*+)?import\b(?:[ \t]*+\(([^()]*+)|([^\n;#]*+))"
)  # nothing is tried twice: each source is read once, whatever is in it
NAME = re.compile(r"[\w.]++")


def modules_of(sources: Iterable[str]) -> set[str]:
    """The well-known modules that these cells seem to import; one too many costs little.

    Of `from a import b`, both `a` and `a.b` are named: `b` may be a module. Students' code is not parsed here, in the grader's
    process: a mebibyte of it can take seconds and more memory than there is.
    """
    wanted = WELL_KNOWN | _of_the_library()
    found: set[str] = set()
    for source in sources:
        for module, in_brackets, on_the_line in IMPORT.findall(source):
            names = NAME.findall(in_brackets or on_the_line)
            if module:
                names = [module, *(f"{module}.{name}" for name in names if module in wanted)]
            found |= wanted.intersection(part for name in names for part in (name, name.partition(".")[0]))
    return found


@cache
def _of_the_library() -> set[str]:
    """The modules of the students' library, by name."""
    files = (path.relative_to(LIBRARY.parent).with_suffix("") for path in LIBRARY.rglob("*.py"))
    return {".".join(path.parts).removesuffix(".__init__") for path in files}
