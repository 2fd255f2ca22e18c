"""The sources of a course, out of a clone: into a course folder that stock nbgrader can release."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from pathlib import Path, PurePosixPath

from autograder.bench.courses.known import HEADER, Known

LEFT_OUT = (".ipynb_checkpoints", "__pycache__")
SETTINGS = """c = get_config()
c.CourseDirectory.course_id = "course"
c.ExecutePreprocessor.timeout = 120
"""
CONFIG = "nbgrader_config.py"


class NoClone(RuntimeError):
    """There is no clone of a repository with its commit; the message says where it was looked for."""


def clone_of(known: Known, clones: Path) -> Path:
    """The git directory of a clone: OWNER+NAME or NAME, bare or not, or a folder `repo` in it.

    Raises:
        NoClone: there is none that has the commit.
    """
    names = (known.folder, known.repository, known.repository.partition("/")[2])
    tried = [clones / name / inner for name in names for inner in ("repo", ".")]
    for place in tried:
        if place.is_dir() and _git(place, "cat-file", "-e", f"{known.commit}^{{commit}}").returncode == 0:
            return place
    raise NoClone(f"{known.repository}: no clone in {clones} has {known.commit[:7]}")


def take(known: Known, clone: Path, course: Path) -> list[str]:
    """Make a course folder of a repository's notebooks; nothing is released yet.

    Returns:
        The assignments, by name.
    """
    listed = _git(clone, "ls-tree", "-r", "-z", "--name-only", known.commit).stdout.decode().split("\0")
    paths = [PurePosixPath(name) for name in listed if name and not {*PurePosixPath(name).parts} & {*LEFT_OUT}]
    found: dict[PurePosixPath, list[PurePosixPath]] = defaultdict(list)
    for path in paths:
        if any(path.match(pattern) for pattern in known.notebooks) and path.name not in known.without:
            found[path.parent].append(path)
    course.mkdir(parents=True)
    (course / CONFIG).write_text(SETTINGS + known.settings)
    for folder, notebooks in found.items():
        target = course / "source" / (folder.name or "whole")
        for path in notebooks:
            _write(target / path.name, _with_kernel(_read(clone, known, path), known.kernel))
        for path in paths:
            if path.suffix != ".ipynb" and folder.name and path.is_relative_to(folder):
                _write(target / path.relative_to(folder), _read(clone, known, path))
    for there, here in known.beside:
        _write(course / here, _read(clone, known, PurePosixPath(there)))
        if here == HEADER:
            with (course / CONFIG).open("a") as config:
                config.write(f"c.IncludeHeaderFooter.header = {HEADER!r}\n")
    return sorted(path.name for path in (course / "source").iterdir() if path.is_dir())


def _with_kernel(data: bytes, kernel: str) -> bytes:
    """A notebook that names a kernel which is here."""
    notebook = json.loads(data)
    spec = notebook["metadata"].setdefault("kernelspec", {})
    spec.update(name=kernel, display_name=spec.get("display_name", kernel))
    return json.dumps(notebook).encode()


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _read(clone: Path, known: Known, path: PurePosixPath) -> bytes:
    return _git(clone, "cat-file", "blob", f"{known.commit}:{path}").stdout


def _git(clone: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", str(clone), "-c", "safe.directory=*", *arguments], capture_output=True)
