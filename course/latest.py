"""Whether a function is what its notebook last tried to define, or what was left over because a newer cell failed."""

from __future__ import annotations

import inspect
import linecache
import re
import sys
from typing import Any


def left_over(function: Any) -> bool:
    """Whether a cell that defines this function's name has run since, without coming to define it."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    code = getattr(inspect.unwrap(function) if callable(function) else None, "__code__", None)
    if shell is None or code is None:
        return False
    cells = [_bare(text) for text in shell.user_ns.get("In", ())]
    own = _bare("".join(linecache.getlines(code.co_filename)))
    defines = re.compile(rf"^def {re.escape(code.co_name)}\b", re.MULTILINE)
    defining = [text for text in cells if defines.search(text)]
    return own in defining and defining[-1] != own


def _bare(text: Any) -> str:
    return str(text).strip()
