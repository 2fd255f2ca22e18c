"""Six claims of real course material about Q [n, k], K [m, k], V [m, v], each with two sides that can be computed.

`repair_claims` answers each with None ("it holds") or with a witness (Q, K, V) on which the two sides differ. This
module looks at such an answer. It says of a witness only whether the sides differ there, which anyone can compute.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from course.values import Value

HOLDS, DIFFER, AGREE, NO_WITNESS = (
    "you say it holds",
    "your witness refutes it",
    "your witness does not refute it: both sides agree there",
    "neither None nor a witness: Q [n, k], K [m, k] and V [m, v], finite, each axis 1 to 16",
)
LARGEST = 16

Side = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]


def _dots(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    return np.einsum("nk,mk->nm", Q, K)


def _exponentials(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    S = _dots(Q, K)
    return np.exp(S - S.max(axis=1, keepdims=True))


def _without_itself(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    A = _exponentials(Q, K)
    np.fill_diagonal(A, 0.0)
    return np.asarray(A @ V)


def _by_rows(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    return np.stack([V.T @ a for a in _exponentials(Q, K)])


def _counted_flops(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> int:
    return len(Q) * len(K) * sum(2 for _ in range(Q.shape[1]))


SIDES: dict[str, tuple[Side, Side]] = {
    "no_transpose": (lambda Q, K, V: _dots(Q, K), lambda Q, K, V: Q @ K),
    "output_width": (lambda Q, K, V: np.shape(_exponentials(Q, K) @ V), lambda Q, K, V: Q.shape),
    "one_width": (lambda Q, K, V: math.sqrt(Q.shape[1]), lambda Q, K, V: math.sqrt(V.shape[1])),
    "flops": (_counted_flops, lambda Q, K, V: 2 * len(Q) * len(K) * Q.shape[1]),
    "not_itself": (lambda Q, K, V: _exponentials(Q, K) @ V, _without_itself),
    "rows_by_transpose": (lambda Q, K, V: _exponentials(Q, K) @ V, _by_rows),
}


def outcomes(answer: Value) -> Value:
    """What each entry of an answer comes to; anything but a dictionary is handed back as it is."""
    if not isinstance(answer, dict):
        return answer
    return {name: _outcome(name, entry) for name, entry in answer.items()}


def _outcome(name: str, entry: Value) -> str:
    if name not in SIDES or entry is None:
        return HOLDS
    if not _is_witness(entry):
        return NO_WITNESS
    left, right = (_value(side, entry) for side in SIDES[name])
    return AGREE if _equal(left, right) else DIFFER


def _is_witness(entry: Value) -> bool:
    if not isinstance(entry, (tuple, list)) or len(entry) != 3:
        return False
    if not all(isinstance(a, np.ndarray) and a.ndim == 2 and 0 < min(a.shape) <= max(a.shape) <= LARGEST for a in entry):
        return False
    if not all(a.dtype.kind in "fi" and np.isfinite(a).all() and np.abs(a).max() <= 1e6 for a in entry):
        return False
    Q, K, V = entry
    return bool(Q.shape[1] == K.shape[1] and len(K) == len(V))


def _value(side: Side, witness: tuple[np.ndarray, ...]) -> Any:
    """What a side comes to on a witness; None where its shapes do not fit."""
    try:
        return side(*(np.asarray(a, np.float64) for a in witness))
    except ValueError:
        return None


def _equal(left: Any, right: Any) -> bool:
    if left is None or right is None or np.shape(left) != np.shape(right):
        return left is None and right is None
    return bool(np.allclose(left, right, rtol=1e-9, atol=1e-12))
