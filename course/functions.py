"""Functions that an exercise hands to the student's function, in the form in which public cases may name them.

A hidden test hands over functions too; those stay with the judge and are called from afar (`course.client`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course.values import Value, from_json, to_json


@dataclass(frozen=True)
class Function:
    """A function given as an argument, and what one call of it adds to the count under its name."""

    name: str
    run: Callable[..., Value]
    cost: Callable[..., int] = lambda *arguments: 1
    public: dict[str, Value] | None = field(default=None, compare=False)

    def to_json(self) -> dict[str, Any]:
        """How a stored public case names this function."""
        if self.public is None:
            raise ValueError(f"{self.name} is not one of the public functions")
        return {"name": self.name, "parameters": {key: to_json(value) for key, value in self.public.items()}}


def public_function(name: str, **parameters: Value) -> Function:
    """The public function called `name`; see the functions below for their parameters."""
    run, cost = _PUBLIC[name]
    return Function(name, run(**parameters), cost, parameters)


def function_from_json(tree: dict[str, Any]) -> Function:
    """The function that `Function.to_json` named."""
    return public_function(tree["name"], **{key: from_json(value) for key, value in tree["parameters"].items()})


def _project(gain: float = 1.0) -> Callable[..., Value]:
    """`project(x, W)` is `gain * (x @ W)`; it costs as many rows as `x` has (a vector is one row).

    A gain other than 1 shows who computes `x @ W` without asking, and so without being counted.
    """

    def project(x: np.ndarray, W: np.ndarray) -> np.ndarray:
        return np.asarray(gain * (np.asarray(x) @ np.asarray(W)))

    return project


def _rows(x: np.ndarray, W: np.ndarray) -> int:
    return int(np.prod(np.shape(x)[:-1]))


def _mixer(A: np.ndarray, centred: bool = False) -> Callable[..., Value]:
    """A model whose wiring can be read: token j reaches output i where `A[i, j]` is not zero.

    The first step squashes every feature on its own; `centred` first subtracts each token's mean, as LayerNorm does.
    """

    def mixer(X: np.ndarray) -> np.ndarray:
        X = np.asarray(X, np.float64)
        if centred:
            X = X - X.mean(axis=-1, keepdims=True)
        return np.asarray(A @ np.tanh(X))

    return mixer


_PUBLIC: dict[str, tuple[Callable[..., Callable[..., Value]], Callable[..., int]]] = {
    "project": (_project, _rows),
    "mixer": (_mixer, lambda X: 1),
}
