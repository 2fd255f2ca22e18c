"""What has been proved here before, and need not be proved again as long as nothing that it rests on has changed.

A proof is kept with a digest of all that it rests on: files, what these import, packages, and what decides how numbers are
computed. They lie in `.proofs`, which a fresh clone does not have; whoever doubts them removes that folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from autograder.dependencies import with_imports
from autograder.folder import ROOT

PLACE = ROOT / ".proofs"
NUMERIC = ("OPENBLAS_", "OMP_", "MKL_", "NPY_", "ATEN_")
"""How the environment variables begin that decide how numbers are computed."""


def digest(rests_on: Iterable[str]) -> str:
    """What changes with these files and folders, relative to the checkout, and with whatever Python among them imports."""
    return digest_of(files(rests_on))


def files(rests_on: Iterable[str], known: dict[Path, list[Path]] | None = None) -> set[Path]:
    """These files, those in these folders, and what the Python among them imports; `known` is as for `with_imports`."""
    given = [path for name in rests_on for path in _files(ROOT / name)]
    code = {path.relative_to(ROOT).as_posix() for path in given if path.suffix == ".py"}
    return {*given, *with_imports(ROOT, code, known)}


def digest_of(paths: Iterable[Path]) -> str:
    """What changes with these files, with packages, and with what decides how numbers are computed."""
    found = hashlib.sha256(_surroundings().encode())
    for path in sorted(paths):
        found.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def _files(path: Path) -> list[Path]:
    within = [path] if path.is_file() else path.rglob("*")
    return [one for one in within if one.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & {*one.parts}]


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
