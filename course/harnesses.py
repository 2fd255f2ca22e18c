"""Harnesses: what is done with a student's function where calling it once on plain values would not show enough.

A harness takes the function and a case's arguments, and returns what is compared. The same harness is run around the
reference and around every known mistake. It holds no answer, and its docstring is the sentence in which `check` says
what was done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Harness = Callable[..., Any]

HARNESSES: dict[str, Harness] = {}
