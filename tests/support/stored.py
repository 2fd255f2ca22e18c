"""What takes long to find out and depends on little of this repository: what stock nbgrader gives, and whether its own tests pass.

It is stored beside the tests with a digest of what it depends on, and found out anew where that has changed. Whoever changed it
commits what is then stored.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from autograder.authoring.proofs import Checkout

PLACE = Path(__file__).parents[1] / "stored"


def stored(name: str, rests_on: Iterable[str], find: Callable[[], Any]) -> Any:
    """What `find` returned when it was last called on the same; it is called where it never was.

    Args:
        name: of the file in which it is stored.
        rests_on: the files and folders of the checkout that it depends on, with what they import. Versions of packages stand in
            `constraints.txt`.
        find: returns what JSON can hold.
    """
    python = "{}.{}".format(*sys.version_info)
    digest = Checkout().digest(["constraints.txt", *rests_on], python)
    path = PLACE / f"{name}.json"
    known = json.loads(path.read_text()) if path.is_file() else {}
    if known.get("rests_on") != digest:
        text = json.dumps({"rests_on": digest, "found": find()}, indent=1, ensure_ascii=False) + "\n"
        known = json.loads(text)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return known["found"]
