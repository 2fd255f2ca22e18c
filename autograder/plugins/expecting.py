"""What a course's submissions will get on this machine, in lines: who runs them, their limits by the names of the settings, a judge, kernels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbgrader.converters import Autograde
from nbgrader.preprocessors import Execute
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from autograder.engine import best_walls, groups
from autograder.plugins.executing import JudgedExecute
from autograder.plugins.judges import SECTION, judge_of
from autograder.plugins.sandbox import Sandbox
from autograder.plugins.structure import NOBODY, Structure

MOST_NAMED = 6
TWO_LINES = ("`from autograder.plugins.config import plug_in`", "`plug_in(c)`")
IN_KERNELS = "with kernels, without walls and without the limits below"


def expectations(config: Config, structure: Structure) -> Iterator[tuple[str, str]]:
    """What there is to say, and what a line says of it.

    Args:
        config: the course's settings.
        structure: its folders.

    Raises:
        ImportError: its judge cannot be imported.
        TraitError: a setting has a value that it cannot have.
    """
    sandbox, execute = Sandbox(config=config), JudgedExecute(config=config)
    for told in _executors(config):
        yield "who runs submissions", told
    yield "c.Sandbox.memory", f"{sandbox.memory} MiB, {_held(sandbox)}"
    yield "c.Sandbox.processes", str(sandbox.processes)
    yield "c.Sandbox.disk", f"{sandbox.disk} MiB in each folder that can be written"
    yield "c.Sandbox.output", f"{sandbox.output} MiB in a notebook"
    yield (
        "c.Execute.timeout",
        f"{execute.timeout} s for a cell" if execute.timeout else "none: a cell may take what its notebook has",
    )
    yield "c.JudgedExecute.notebook_timeout", f"{execute.notebook_timeout} s for a notebook"
    yield "c.Sandbox.preload", ", ".join(sandbox.preload) or "the well-known modules alone"
    yield "c.Sandbox.network", _reached(sandbox)
    yield "judge", config[SECTION].get("name", "") or "none: nbgrader's own rules"
    yield from _kernels(execute, structure)


def _executors(config: Config) -> Iterator[str]:
    """Who runs a course's notebooks, by its lists of preprocessors, and what comes of it where that is not the engine."""
    autograde = Autograde(config=config)
    named = [*autograde.sanitize_preprocessors, *autograde.autograde_preprocessors]
    kinds = [import_item(one) if isinstance(one, str) else one for one in named]
    running = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, NotebookClient)]
    for kind in running:
        if issubclass(kind, JudgedExecute):
            yield "the engine"
        elif kind is Execute:
            yield f"nbgrader, {IN_KERNELS}: nbgrader_config.py lacks two lines, {' and '.join(TWO_LINES)}"
        else:
            yield f"{kind.__module__}.{kind.__qualname__}, in its own way, {IN_KERNELS}: c.Autograde names it among its preprocessors"
    if not running:
        yield "nobody: none of the preprocessors that c.Autograde names does"


def _held(sandbox: Sandbox) -> str:
    if best_walls() == "none":
        return "and nobody holds a submission to it: there are no walls"
    by_groups = groups.allowing(sandbox.limits.together) is not None
    return "held by control groups" if by_groups else "counted four times a second: no control groups here"


def _reached(sandbox: Sandbox) -> str:
    if best_walls() == "none":
        return "everything: there are no walls"
    return ", ".join(sandbox.network) or "none"


def _kernels(execute: JudgedExecute, structure: Structure) -> Iterator[tuple[str, str]]:
    """How many notebooks run in the warm process, and which do not, and why."""
    why: dict[str, list[str]] = defaultdict(list)
    for assignment in structure.assignments():
        for path in sorted(structure.folder("source", NOBODY, assignment).glob("*.ipynb")):
            why[_why_not_warm(execute, path)].append(f"{assignment}/{path.stem}")
    warm = why.pop("", [])
    yield "warm process", f"{len(warm)} of {len(warm) + sum(map(len, why.values()))} notebooks"
    for reason, names in why.items():
        left = len(names) - MOST_NAMED
        more = f" and {left} more" if left > 0 else ""
        yield "a kernel of its own", f"{', '.join(names[:MOST_NAMED])}{more}: {reason}"


def _why_not_warm(execute: JudgedExecute, path: Path) -> str:
    try:
        notebook: NotebookNode = nbformat.read(str(path), as_version=4)
    except Exception as error:  # a person wrote it
        return f"cannot be read: {type(error).__name__}"
    return "" if judge_of(execute.config).exercises(path.stem) else execute.why_a_kernel(notebook)
