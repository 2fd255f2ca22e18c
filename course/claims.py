"""Six claims of real course material about Q [n, k], K [m, k], V [m, v], each with two sides that can be computed.

`repair_claims` answers each with None ("it holds") or with a witness (Q, K, V) on which the two sides differ. This
module looks at such an answer. It knows no verdicts: it computes both sides, on the witness, or, where a claim is left
to stand, on arrays of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from course.values import Value

SETTLED, STANDS, AGREE, NO_WITNESS = (
    "settled",
    "left to stand, and there are arrays on which its two sides differ",
    "not refuted: its two sides agree on these arrays",
    "neither None nor three numpy arrays Q [n, k], K [m, k], V [m, v] of finite numbers, sizes 1 to 16",
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


def _trial(n: int, m: int, k: int, v: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, k)), rng.standard_normal((m, k)), rng.standard_normal((m, v))


TRIALS = (_trial(3, 4, 2, 5), _trial(3, 4, 4, 2), _trial(3, 3, 3, 3))


def outcomes(answer: Value) -> Value:
    """What each entry of an answer comes to; anything but a dictionary is handed back as it is."""
    if not isinstance(answer, dict):
        return answer
    return {name: _outcome(name, entry) for name, entry in answer.items()}


def _outcome(name: str, entry: Value) -> str:
    if name not in SIDES:
        return NO_WITNESS
    if entry is None:
        return SETTLED if all(_sides_agree(name, trial) for trial in TRIALS) else STANDS
    witness = _witness(entry)
    if witness is None:
        return NO_WITNESS
    return AGREE if _sides_agree(name, witness) else SETTLED


def _witness(entry: Value) -> tuple[np.ndarray, ...] | None:
    """The three arrays of a witness, in float64; None where it is not one."""
    if not isinstance(entry, (tuple, list)) or len(entry) != 3:
        return None
    if not all(
        isinstance(a, np.ndarray) and a.ndim == 2 and 0 < min(a.shape) <= max(a.shape) <= LARGEST for a in entry
    ):
        return None
    if not all(a.dtype.kind in "fi" for a in entry):
        return None
    Q, K, V = (np.asarray(a, np.float64) for a in entry)
    if not all(np.isfinite(a).all() and np.abs(a).max() <= 1e6 for a in (Q, K, V)):
        return None
    return (Q, K, V) if Q.shape[1] == K.shape[1] and len(K) == len(V) else None


def _sides_agree(name: str, witness: tuple[np.ndarray, ...]) -> bool:
    left, right = (_value(side, witness) for side in SIDES[name])
    return _equal(left, right)


def _value(side: Side, witness: tuple[np.ndarray, ...]) -> Any:
    """What a side comes to on a witness; None where its shapes do not fit."""
    try:
        return side(*witness)
    except ValueError:
        return None


def _equal(left: Any, right: Any) -> bool:
    """Equal to rounding, which is judged by the largest entry: small ones may be what is left of large ones."""
    if left is None or right is None or np.shape(left) != np.shape(right):
        return left is None and right is None
    size = max(np.max(np.abs(left)), np.max(np.abs(right)))
    return bool(np.max(np.abs(np.subtract(left, right))) <= 1e-9 * size)
