"""How many threads numpy's matrix products take. Threads that wait for each other on a busy machine spoil every timing."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)
"""What OpenBLAS calls its "set" and "get", as numpy's wheels and others are built."""


@contextmanager
def one_blas_thread() -> Iterator[bool]:
    """Let numpy's products use one thread, and then as many as before; it yields whether that could be had.

    numpy brings OpenBLAS along in its wheels for Linux and Windows. Any other library is left as it is.
    """
    found = _openblas()
    if found is None:
        yield False
        return
    put, get = found
    before = int(get())
    put(1)
    try:
        yield True
    finally:
        put(before)


@cache
def _openblas() -> tuple[Any, Any] | None:
    """The two functions of the OpenBLAS that came with numpy; None where there is none."""
    beside = Path(np.__file__).parent
    for path in sorted([*beside.with_name("numpy.libs").glob("*openblas*"), *beside.glob(".dylibs/*openblas*")]):
        try:
            library = ctypes.CDLL(str(path))
        except OSError:
            continue
        for name in NAMES:
            if hasattr(library, name.format("set")):
                return getattr(library, name.format("set")), getattr(library, name.format("get"))
    return None
