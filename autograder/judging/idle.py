"""Answers that do nothing. What earns points with one of them shows nothing by itself."""

from __future__ import annotations

from typing import Any


def returns_nothing(*_: Any, **__: Any) -> None:
    """What is never done leaves nothing behind: no graph, no mode, no exchange."""


def refuses_everything(*_: Any, **__: Any) -> None:
    """What refuses everything refuses what is to be refused."""
    raise ValueError


IDLE = returns_nothing, refuses_everything
