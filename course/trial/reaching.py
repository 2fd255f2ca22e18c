"""What a function reaches, of what can be seen without running anything: its own code, and functions of the same notebook."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any


def innermost(function: Any) -> Any:
    """What a student wrote of a thing that can be called: without decorators that say what they wrap, without `partial`, and of an object
    its `__call__`. What none of this helps with, as it is."""
    inner = inspect.unwrap(function) if callable(function) else function
    while isinstance(inner, partial):
        inner = inspect.unwrap(inner.func)
    if not isinstance(inner, (FunctionType, MethodType, type)) and isinstance(type(inner).__call__, FunctionType):
        return inspect.unwrap(type(inner).__call__)
    return inner.__func__ if isinstance(inner, MethodType) else inner


def names_reached(function: Any) -> set[str]:
    """What a function looks up in its notebook: in comprehensions and functions within it, too, and in those of the notebook that it calls."""
    return {name for _, codes in reached(function) for code in codes for name in looked_up(code)}


def looked_up(code: CodeType) -> list[str]:
    """The names that code looks up where the notebook's own stand; `softmax` in `torch.softmax` is none."""
    return [step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")]


def reached(function: Any) -> Iterator[tuple[str, list[CodeType]]]:
    """A function and those of the same notebook that it names, and so on: each with all the code in it; itself first."""
    inner = innermost(function)
    if not isinstance(inner, FunctionType):
        return
    waiting, seen = [inner], {inner.__code__}
    while waiting:
        one = waiting.pop(0)
        codes = list(_with_inner(one.__code__))
        yield one.__name__, codes
        for name in (name for code in codes for name in looked_up(code)):
            other = inner.__globals__.get(name)
            if not isinstance(other, FunctionType) or other.__globals__ is not inner.__globals__:
                continue
            if other.__code__ not in seen:
                seen.add(other.__code__)
                waiting.append(other)


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_inner(constant)
