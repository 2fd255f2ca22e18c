"""How witnesses against claims are looked at: with the notebook's own attention, and with a sentence for each kind of no witness."""

from __future__ import annotations

import math

import numpy as np
import pytest

from course.trial.claims import SETTLED, outcomes

Witness = tuple[np.ndarray, np.ndarray, np.ndarray]


def outcome(name: str, entry: object) -> str:
    found = outcomes({name: entry})  # type: ignore[dict-item]
    assert isinstance(found, dict)
    return str(found[name])


def left_out(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> float:
    """The largest number that a sum without j = i leaves out, with weights from the definition."""
    S = Q @ K.T / math.sqrt(Q.shape[1])
    E = np.exp(S - S.max(axis=1, keepdims=True))
    A = E / E.sum(axis=1, keepdims=True)
    return max(float(np.abs(A[i, i] * V[i]).max()) for i in range(min(len(Q), len(K))))


def test_a_sum_without_a_token_falls_to_counting_numbers() -> None:
    witness = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(4, 3), np.arange(20.0).reshape(4, 5)
    assert outcome("not_itself", witness) == SETTLED


@pytest.mark.parametrize("largest", [5, 9])
def test_of_whole_numbers_every_witness_that_leaves_something_out_will_do(largest: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, m, k, v = rng.integers(1, 6, 4)
        Q, K, V = (rng.integers(-largest, largest + 1, shape) for shape in ((n, k), (m, k), (m, v)))
        assert (outcome("not_itself", (Q, K, V)) == SETTLED) == (left_out(Q, K, V) > 0)


def test_what_holds_holds_on_whole_numbers() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        n, m, k, v = rng.integers(1, 6, 4)
        witness = tuple(rng.integers(-9, 10, shape) for shape in ((n, k), (m, k), (m, v)))
        for name in ("flops", "rows_by_transpose"):
            assert "agree" in outcome(name, witness)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (True, "True or False, where None or three arrays (Q, K, V) are wanted"),
        ("false", "neither None nor three arrays (Q, K, V)"),
        ((np.ones((1, 1)), np.ones((1, 1))), "no witness: three arrays (Q, K, V) are wanted, and there are 2"),
        (([[1.0]], [[1.0]], [[1.0]]), "no witness: Q is not a numpy array of numbers"),
    ],
)
def test_each_kind_of_no_witness_has_its_own_sentence(entry: object, said: str) -> None:
    assert outcome("not_itself", entry) == said
