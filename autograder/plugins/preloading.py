"""What a zygote imports before a notebook comes: the well-known modules that the notebook itself imports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from autograder.engine import NOTHING, Given, Place, Zygote, best_walls, start_early
from autograder.plugins.kernels_needed import set_for_all, why_a_kernel
from autograder.plugins.sandbox import Sandbox

WELL_KNOWN = {
    "ipywidgets",
    "jaxtyping",
    "matplotlib",
    "matplotlib.pyplot",
    "numpy",
    "pandas",
    "scipy",
    "sklearn",
    "torch",
}
"""What may be imported where nothing of a submission may run; and any module of the course's own library, and what its settings add."""


IMPORTED_LATE = {"numpy": "numpy.random"}
"""What a module imports by itself when somebody first uses it."""


class Warm(NamedTuple):
    """What a zygote imports and does before a notebook comes."""

    modules: tuple[str, ...]
    rehearsal: tuple[str, ...]

    def serves(self, other: Warm) -> bool:
        """Whether who wants the other finds all of it here."""
        return self.rehearsal == other.rehearsal and set(self.modules) >= set(other.modules)


_begun: list[tuple[Zygote, Warm]] = []
"""The zygote that was begun before anybody asked for it, if there is one."""


def begin(source: Path, sandbox: Sandbox, alone: bool) -> None:
    """Start the zygote that `shared_zygote` is going to be asked for, while this process is still busy with imports of its own.

    Where other files lie beside the notebooks, it waits until nbgrader has said which of them submissions find.

    Args:
        source: the assignment's folder.
    """
    if any(path.is_file() and path.suffix != ".ipynb" for path in source.rglob("*")):
        return
    warm = _warm(source.glob("*.ipynb"), sandbox, alone)
    if warm and warm.modules and best_walls() == "both":
        _begun.append((_started(warm, sandbox), warm))


def prepare(source: Path, sandbox: Sandbox, given: Given, alone: bool) -> None:
    """Start the zygote that this process is going to grade with, while it is still busy with its gradebook.

    Args:
        source: the assignment's folder.
        sandbox: what submissions of the course find, and may use.
        given: the instructor's files that lie beside the notebooks.
        alone: whether one submission is graded, and no more.
    """
    warm = _warm(source.glob("*.ipynb"), sandbox, alone)
    if warm and warm.modules:
        start_early({*warm.modules}, sandbox.libraries, sandbox.limits, given)


@contextmanager
def shared_zygote(
    notebooks: Iterable[Path], sandbox: Sandbox, given: Given = NOTHING, alone: bool = False
) -> Iterator[Place | None]:
    """A zygote for all the processes that this one starts; None where each submission needs one of its own, or a kernel.

    Args:
        notebooks: what will be graded there, or is like it.
        sandbox: what submissions of the course find, and may use.
        given: the instructor's files that lie beside each.
        alone: whether one submission is graded, and no more.
    """
    warm = None if best_walls() == "outer" else _warm(notebooks, sandbox, alone)
    if warm is None:
        yield None
        return
    begun, what = _begun.pop() if _begun else (None, warm)
    if begun is not None and (not what.serves(warm) or given.files):
        begun.close()
        begun = None
    with begun or _started(warm, sandbox, given) as zygote:
        yield zygote.place


def _started(warm: Warm, sandbox: Sandbox, given: Given = NOTHING) -> Zygote:
    return Zygote(warm.modules, sandbox.libraries, warm.rehearsal, limits=sandbox.limits, given=given)


def _warm(notebooks: Iterable[Path], sandbox: Sandbox, alone: bool) -> Warm | None:
    """The modules that these notebooks import, as far as they can be read, and what their judge has done beforehand; None where all of
    them get kernels of their own."""
    sources: list[str] = []
    rehearsal: list[str] = []
    in_kernels: list[bool] = []
    set_kernel = set_for_all(sandbox.config)
    for path in notebooks:
        rehearsal.append(sandbox.judge.rehearsal(path.stem))
        in_kernels.append(False)
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            notebook = json.loads(path.read_bytes())
            own = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
            named = set_kernel or notebook.get("metadata", {}).get("kernelspec", {}).get("name", "")
            in_kernels[-1] = bool(why_a_kernel(named, own)) and not sandbox.judge.exercises(path.stem)
            if not in_kernels[-1]:
                sources += own
    if in_kernels and all(in_kernels):
        return None
    return Warm(tuple(sorted(modules_of(sources, sandbox, alone))), tuple(filter(None, rehearsal)))


IMPORT = re.compile(
    r"\b(?:from[ \t]++([\w.]++)[ \t]*+)?import\b(?:[ \t]*+\(([^()]*+)|([^\n;#]*+))"
)  # nothing is tried twice: each source is read once, whatever is in it
INDENTED = re.compile(r"^[^\S\n].*+", re.MULTILINE)
NAME = re.compile(r"[\w.]++")


def modules_of(sources: Iterable[str], sandbox: Sandbox, alone: bool = False) -> set[str]:
    """The well-known modules that these cells seem to import; one too many costs a class little.

    A single submission it may cost seconds, and one too few nothing, since it then imports it for itself: for one alone, what stands in
    functions, which nobody may call, is not looked at.

    Of `from a import b`, both `a` and `a.b` are named: `b` may be a module. Students' code is not parsed here, in the grader's
    process: a mebibyte of it can take seconds and more memory than there is.
    """
    wanted = WELL_KNOWN | {*sandbox.preload} | _modules_in(sandbox.library)
    found: set[str] = set()
    for source in sources:
        if alone:
            source = INDENTED.sub("", source)
        for module, in_brackets, on_the_line in IMPORT.findall(source):
            names = NAME.findall(in_brackets or on_the_line)
            if module:
                names = [module, *(f"{module}.{name}" for name in names if module in wanted)]
            found |= wanted.intersection(part for name in names for part in (name, name.partition(".")[0]))
    return found | {late for name, late in IMPORTED_LATE.items() if name in found}


@cache
def _modules_in(library: Path | None) -> set[str]:
    """The modules of a course's own package, by name."""
    if library is None:
        return set()
    files = (path.relative_to(library.parent).with_suffix("") for path in library.rglob("*.py"))
    return {".".join(path.parts).removesuffix(".__init__") for path in files}
