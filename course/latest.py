"""Whether a function is what its notebook last tried to define, or what was left over because a newer cell failed."""

from __future__ import annotations

import inspect
import re
from typing import Any

from course.cells import run_from, running_shell, same_ends


def left_over(function: Any) -> bool:
    """Whether a cell that defines this function's name has run since, without coming to define it."""
    shell, own = running_shell(), run_from(function)
    if shell is None or not own:
        return False
    cells = [same_ends(str(ran)).strip() for ran in shell.user_ns.get("In", ())]
    defines = re.compile(rf"^def {re.escape(inspect.unwrap(function).__code__.co_name)}\b", re.MULTILINE)
    defining = [cell for cell in cells if defines.search(cell)]
    return own in defining and defining[-1] != own
