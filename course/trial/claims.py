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

from course.trial.text import what
from course.trial.values import Opaque, Value

SETTLED = "settled"
STANDS = "you let it stand, and there are arrays on which its two sides differ"
AGREE = "not refuted: its two sides agree on your arrays"
NOT_BOTH = "not refuted: one side cannot be computed on your arrays; take sizes for which both can, and compare them"
LARGEST = 16

Side = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]


def _scores(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    return np.einsum("nk,mk->nm", Q, K)


def _own_terms(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """What each token adds to its own output, [min(n, m), v]: all that a sum without j = i leaves out."""
    both, root = min(len(Q), len(K)), math.sqrt(Q.shape[1])
    with np.errstate(over="ignore"):
        share = [1 / sum(np.exp((row - row[i]) / root)) for i, row in enumerate(_scores(Q[:both], K))]
    return np.asarray(share)[:, None] * V[:both]


def _nothing(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    return np.zeros((min(len(Q), len(K)), V.shape[1]))


def _any_weights(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """A table [n, m] of numbers up to 1, for a claim about whatever the weights are."""
    S = _scores(Q, K)
    return np.asarray(S / max(np.max(np.abs(S)), 1e-300))


def _by_rows(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    return np.stack([V.T @ a for a in _any_weights(Q, K)])


def _counted_flops(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> int:
    return len(Q) * len(K) * sum(2 for _ in range(Q.shape[1]))


SIDES: dict[str, tuple[Side, Side]] = {
    "no_transpose": (lambda Q, K, V: _scores(Q, K), lambda Q, K, V: Q @ K),
    "output_width": (lambda Q, K, V: (len(Q), V.shape[1]), lambda Q, K, V: Q.shape),
    "one_width": (lambda Q, K, V: math.sqrt(Q.shape[1]), lambda Q, K, V: math.sqrt(V.shape[1])),
    "flops": (_counted_flops, lambda Q, K, V: 2 * len(Q) * len(K) * Q.shape[1]),
    "not_itself": (_own_terms, _nothing),  # the two sums, less the terms that both have
    "rows_by_transpose": (lambda Q, K, V: _any_weights(Q, K) @ V, _by_rows),
}


def _trial(n: int, m: int, k: int, v: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, k)), rng.standard_normal((m, k)), rng.standard_normal((m, v))


TRIALS = (_trial(3, 4, 2, 5), _trial(3, 4, 4, 2), _trial(3, 3, 3, 3))


def outcomes(answer: Value) -> Value:
    """What each entry of an answer comes to; of anything but a dictionary, what it is."""
    if answer is None:
        return None
    if not isinstance(answer, dict):
        return Opaque(what(answer))
    return {name: _outcome(name, entry) for name, entry in answer.items()}


def _outcome(name: str, entry: Value) -> str:
    if name not in SIDES:
        return "not one of the six claims"
    if entry is None:
        return SETTLED if all(_sides_agree(name, trial) in (True, None) for trial in TRIALS) else STANDS
    if isinstance(entry, bool):
        return "True or False, where None or three arrays (Q, K, V) are wanted"
    if not isinstance(entry, (tuple, list)):
        return "neither None nor three arrays (Q, K, V)"
    if len(entry) != 3:
        return f"no witness: three arrays (Q, K, V) are wanted, and there are {len(entry)}"
    complaint = next(filter(None, map(_complaint, "QKV", entry)), None)
    if complaint:
        return complaint
    Q, K, V = (np.asarray(array, np.float64) for array in entry)
    if Q.shape[1] != K.shape[1]:
        return f"no witness: Q is {Q.shape[1]} wide and K is {K.shape[1]}, and both should have width k"
    if len(K) != len(V):
        return f"no witness: K has {len(K)} rows and V has {len(V)}, and both should have m"
    agree = _sides_agree(name, (Q, K, V))
    return NOT_BOTH if agree is None else AGREE if agree else SETTLED


def _complaint(name: str, array: Value) -> str:
    """Why an entry cannot be part of a witness, or nothing."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fi":
        return f"no witness: {name} is not a numpy array of numbers"
    if array.ndim != 2 or not 0 < min(array.shape) <= max(array.shape) <= LARGEST:
        return f"no witness: {name} should have two axes with sizes from 1 to {LARGEST}, and its shape is {list(array.shape)}"
    if not np.isfinite(array).all() or np.abs(array.astype(np.float64)).max() > 1e6:
        return f"no witness: the numbers in {name} should be finite, and no larger than a million"
    return ""


def _sides_agree(name: str, witness: tuple[np.ndarray, ...]) -> bool | None:
    """Whether the sides of a claim agree on a witness; None where one of them cannot be computed."""
    try:
        left, right = (side(*witness) for side in SIDES[name])
    except ValueError:
        return None
    # what a sum leaves out is computed by itself and not by taking differences: however small it is, it is no rounding
    return bool(np.all(left == right)) if name == "not_itself" else _equal(left, right, *witness)


def _equal(left: Any, right: Any, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> bool:
    """Equal to rounding, which is judged by the largest terms: what is left of large ones may be small."""
    if np.shape(left) != np.shape(right):
        return False
    size = max(np.max(np.abs(left)), np.max(np.abs(V)), np.max(np.abs(Q)) * np.max(np.abs(K)))
    return bool(np.max(np.abs(np.subtract(left, right))) <= 1e-9 * size)
