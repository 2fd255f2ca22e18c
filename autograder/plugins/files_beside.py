"""The files beside a notebook: sent in before it runs, brought back after."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import find_all_files
from traitlets.config import Config

from autograder.plugins.bounds import together
from autograder.plugins.structure import NOBODY, Structure, plainly_named

GIVEN = "given"
"""Among what nbgrader tells of a notebook, the instructor's files by relative path, where a run has listed them."""


def beside(directory: CourseDirectory, assignment: str, config: Config) -> dict[str, Path]:
    """The files that nbgrader copies from an assignment's source folder into every submission, by relative path."""
    folder = Structure.of(directory).folder("source", NOBODY, assignment)
    with plainly_named(folder) as named:
        found = [Path(path).relative_to(named) for path in find_all_files(str(named), [*directory.ignore, "*.ipynb"])]
    relative = {path.as_posix(): folder / path for path in found}
    excluded = config.get("Autograde", {}).get("exclude_overwriting", {}).get(assignment, ())
    return {name: relative[name] for name in sorted(relative.keys() - set(excluded))}


def gather(folder: Path, given: Mapping[str, Path]) -> tuple[dict[str, bytes], list[str]]:
    """What is a submission's own below a folder.

    Args:
        folder: where the notebook is.
        given: the instructor's files by relative path, which need not be sent.

    Returns:
        The plain files that are not the instructor's, by relative path; and which of the instructor's are not there.

    Raises:
        Beyond: they are too much together.
    """
    found: dict[str, Path] = {}
    unseen = set(given)
    for path, name in _files(folder):
        if name in given and _same(path, given[name]):
            unseen.remove(name)
        elif not path.is_symlink():
            found[name] = path
            unseen.discard(name)
    together(path.stat().st_size for path in found.values())
    return {name: path.read_bytes() for name, path in found.items()}, sorted(unseen)


def _files(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path, path.relative_to(folder).as_posix()


def _same(path: Path, given: Path) -> bool:
    return path.samefile(given) or (not path.is_symlink() and filecmp.cmp(path, given, shallow=False))


def settle(folder: Path, changed: Mapping[str, bytes | None]) -> None:
    """Write what a notebook changed; nothing is followed, and notebooks are left alone.

    Args:
        folder: where the notebook is.
        changed: contents by relative path, None for what was removed.
    """
    write(folder, {name: content for name, content in changed.items() if not name.endswith(".ipynb")})


def write(folder: Path, changed: Mapping[str, bytes | None]) -> None:
    """Write files below a folder, or remove those whose content is None; nothing is followed."""
    for name, content in sorted(changed.items(), key=lambda one: one[1] is not None):  # what was removed comes first
        path = folder / name
        if not _inside(path, folder):
            continue
        with suppress(OSError):  # a file and a folder of the same name, or one that is too long for this disk
            if path.is_symlink() or path.is_file():
                path.unlink()
            if content is not None and not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
                with open(descriptor, "wb") as file:
                    file.write(content)


def _inside(path: Path, folder: Path) -> bool:
    """Whether the folders on the way to a file lie below this one, links and all."""
    return path.parent.resolve().is_relative_to(folder.resolve())
