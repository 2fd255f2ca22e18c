"""What has been proved here before, and need not be proved again as long as nothing that it rests on has changed.

A proof is kept with a digest of all that it rests on: files, what these import, packages, and what decides how numbers are
computed. They lie in `.proofs`, which a fresh clone does not have; whoever doubts them removes that folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from fnmatch import fnmatch
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from autograder.dependencies import with_imports
from autograder.settings import ROOT

PLACE = ROOT / ".proofs"
NUMERIC = ("OPENBLAS_", "OMP_", "MKL_", "NPY_", "ATEN_")
"""How the environment variables begin that decide how numbers are computed."""


class Checkout:
    """The files of the checkout, each read once: as they are when it is first asked for."""

    def __init__(self) -> None:
        self._behind: dict[str, frozenset[Path]] = {}
        self._imports: dict[Path, list[Path]] = {}
        self._marks: dict[Path, bytes] = {}

    def reached(self, rests_on: Iterable[str]) -> set[Path]:
        """These files, those in these folders, and what the Python among them imports.

        Args:
            rests_on: names relative to the checkout; a `*` in one stands for anything, as in a shell.
        """
        return {path for name in rests_on for path in self._reached_by(name)}

    def digest(self, rests_on: Iterable[str]) -> str:
        """What changes with all that is reached, with packages, and with what decides how numbers are computed."""
        found = hashlib.sha256(_surroundings().encode())
        for path in sorted(self.reached(rests_on)):
            found.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + self._mark(path))
        return found.hexdigest()

    def rests_on_any(self, rests_on: Iterable[str], differing: Iterable[str]) -> bool:
        """Whether anything that is reached, or was before it was removed, is among these files."""
        names = [*rests_on]
        reached = {path.relative_to(ROOT).as_posix() for path in self.reached(names)}
        return any(
            one in reached or (not (ROOT / one).exists() and any(_held(name, one) for name in names))
            for one in differing
        )

    def _reached_by(self, name: str) -> frozenset[Path]:
        if name not in self._behind:
            named = ROOT.glob(name) if "*" in name else [ROOT / name]
            given = [path for one in named for path in _files(one)]
            code = {path.relative_to(ROOT).as_posix() for path in given if path.suffix == ".py"}
            self._behind[name] = frozenset({*given, *with_imports(ROOT, code, self._imports)})
        return self._behind[name]

    def _mark(self, path: Path) -> bytes:
        if path not in self._marks:
            self._marks[path] = hashlib.sha256(path.read_bytes()).digest()
        return self._marks[path]


def _files(path: Path) -> list[Path]:
    within = [path] if path.is_file() else path.rglob("*")
    return [one for one in within if one.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & {*one.parts}]


def _held(name: str, file: str) -> bool:
    return file.startswith(f"{name}/") or fnmatch(file, name)


def differing() -> frozenset[str] | None:
    """The files in which this checkout differs from the branch that it was cloned from; None where it is no clone of any."""
    try:
        (base,) = _git("merge-base", "HEAD", "origin/HEAD")
        changed = _git("diff", "--name-only", "--no-renames", base)
        return frozenset({*changed, *_git("ls-files", "--others", "--exclude-standard")})
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*words: str) -> list[str]:
    """The lines that git answers with."""
    asked = ["git", "-c", "core.quotePath=false", *words]
    return subprocess.run(asked, cwd=ROOT, capture_output=True, check=True, text=True).stdout.splitlines()


@cache
def _surroundings() -> str:
    """Python, packages and the numeric set-up."""
    packages = sorted(f"{one.name}=={one.version}" for one in distributions())
    numeric = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(NUMERIC))
    return "\n".join([sys.version, *packages, *numeric])


def recall(what: str, rests_on: str) -> Any:
    """What was found when this was proved, if that rested on what has this digest; else None."""
    try:
        kept = json.loads((PLACE / f"{what}.json").read_text(encoding="utf-8"))
        return kept["found"] if kept["rests_on"] == rests_on else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def keep(what: str, rests_on: str, found: Any = True) -> None:
    """Remember that something is proved, by its name, a path without an ending, and what was found."""
    path = PLACE / f"{what}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(json.dumps({"rests_on": rests_on, "found": found}), encoding="utf-8")
    draft.replace(path)
