"""What takes long to find out and depends on little of this repository: what stock nbgrader gives, and whether its own tests pass.

It is stored beside the tests with a digest of what it depends on, and found out anew where that has changed. Whoever changed it
commits what is then stored.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

from autograder.settings import ROOT

PLACE = ROOT / "tests" / "stored"
VERSIONS = "constraints.txt"


def stored(name: str, rests_on: Iterable[str], find: Callable[[], Any]) -> Any:
    """What `find` returned when it was last called on the same; it is called where it never was.

    Args:
        name: of the file in which it is stored.
        rests_on: the files and folders of the checkout that it depends on, besides the versions of packages.
        find: returns what JSON can hold.
    """
    digest = _digest([VERSIONS, *rests_on])
    path = PLACE / f"{name}.json"
    known = json.loads(path.read_text()) if path.is_file() else {}
    if known.get("rests_on") != digest:
        text = json.dumps({"rests_on": digest, "found": find()}, indent=1, ensure_ascii=False) + "\n"
        known = json.loads(text)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return known["found"]


def _digest(names: Iterable[str]) -> str:
    """What changes with these files, with the files in these folders, and with Python."""
    found = hashlib.sha256("{}.{}".format(*sys.version_info).encode())
    for name in names:
        files = [ROOT / name] if (ROOT / name).is_file() else sorted((ROOT / name).rglob("*"))
        for path in files:
            if path.is_file() and "__pycache__" not in path.parts:
                found.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()
