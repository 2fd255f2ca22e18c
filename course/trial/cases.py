"""A case: what a student's function is tried on, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import Parameter, signature
from typing import Any

import numpy as np

from course.trial.functions import Function
from course.trial.harnesses import HARNESSES
from course.trial.observing import Account, Observation, account, compared
from course.trial.tellings import TELLINGS
from course.trial.values import Tensor, Value, bare, map_leaves, with_layout


@dataclass(frozen=True)
class Case:
    """One trial of a function.

    Attributes:
        arguments: values, or `Function`s, in order.
        harness: the name of the harness in `course.trial.harnesses` that is run around the function with these arguments;
            None where the function is simply called with them.
    """

    arguments: tuple[Value | Function, ...]
    harness: str | None = None

    def run(self, function: Callable[..., Any], count_lines: bool = False) -> Observation:
        """What `function` does in this case."""
        return self.read(self.account(function, count_lines))

    def account(self, function: Callable[..., Any], count_lines: bool = False) -> Account:
        """What `function` leaves behind in this case: the half of `run` that is done in the student's process."""
        called = function if self.harness is None else partial(HARNESSES[self.harness], function)
        return account(called, self.arguments, count_lines)

    def read(self, told: Account) -> Observation:
        """What an account of this case comes to: the half of `run` that is done where answers are compared.

        Raises:
            Exception: the account is none of this case.
        """
        telling = TELLINGS.get(self.harness or "")
        return compared(self.arguments, told if telling is None else telling(self.arguments, told))

    def names(self, parameters: Sequence[str]) -> tuple[str, ...]:
        """What to call the arguments: by the names that the harness has for them, else by those of the function.

        Args:
            parameters: the names of the function's parameters.
        """
        if self.harness is None:
            return tuple(parameters)
        own = list(signature(HARNESSES[self.harness]).parameters.values())[1:]
        return tuple(parameters) if own and own[0].kind == Parameter.VAR_POSITIONAL else tuple(p.name for p in own)

    def handed(self, parameters: Sequence[str]) -> dict[str, Any]:
        """The arguments by their names, tensors as the arrays in them."""
        return {name: bare(value) for name, value in zip(self.names(parameters), self.arguments, strict=False)}

    def laid(self, order: str) -> Case:
        """The same case with its arrays in another memory layout: "F" or "strided", as in `with_layout`."""
        laid = partial(_laid, order)
        return replace(
            self, arguments=tuple(a if isinstance(a, Function) else map_leaves(laid, a) for a in self.arguments)
        )


def _laid(order: str, leaf: Value) -> Value:
    if isinstance(leaf, Tensor):
        return Tensor(with_layout(leaf.array, order))
    return with_layout(leaf, order) if isinstance(leaf, np.ndarray) else leaf


def sizes(handed: Mapping[str, Value], axes: Mapping[str, str]) -> dict[str, int]:
    """How large n, k, h and so on are: the axes that have a name, counted from the last, and the integers among the arguments.

    Args:
        handed: the arguments by name.
        axes: by the names of arguments, those of their axes: "*b n m" names the last two.
    """
    found: dict[str, int] = {}
    for name, value in handed.items():
        if type(value) is int:
            found[name] = value
        found |= {axis: size for axis, size in _lengths(value, axes.get(name, "")).items() if axis.isalpha()}
    return found


def sizes_coincide(handed: Mapping[str, Value], axes: Mapping[str, str]) -> bool:
    """Whether two axes of different names have the same size, so that a wrong product may run; the arguments are as for `sizes`.

    Arrays with more axes than names, or fewer, do not count.
    """
    found: dict[str, int] = {}
    for name, value in handed.items():
        if isinstance(value, np.ndarray) and value.ndim == len(axes.get(name, "").split()):
            found |= _lengths(value, axes.get(name, ""))
    return len(set(found.values())) < len(found)


def _lengths(value: Value, axes: str) -> dict[str, int]:
    """How long the axes of an array are, by their names, which are counted from the last; of anything else, nothing."""
    if not isinstance(value, np.ndarray) or not value.ndim:
        return {}
    named = axes.split()[-value.ndim :]
    return dict(zip(named, value.shape[value.ndim - len(named) :], strict=True))


def case(*arguments: Value | Function, harness: str | None = None) -> Case:
    """A case, its arguments written as in a call."""
    return Case(arguments, harness)
