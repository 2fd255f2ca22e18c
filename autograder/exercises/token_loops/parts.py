"""What exercises on one token at a time share: tokens and weights."""

from __future__ import annotations

import numpy as np

from autograder.exercises.inputs import normal
from autograder.exercises.model import F
from course.trial.values import with_layout

KEY_WIDTHS = ((3,), (5, 6, 7, 8), (10, 11, 12))
"""Bands of k in which its root, the whole part of that, and half of k are three different numbers, and differently so."""


def tokens_and_weights(
    rng: np.random.Generator,
    n: int,
    d: int,
    k: int,
    v: int,
    spread: float = 2.5,
    dtype: str = "float64",
    orders: tuple[str, str, str, str] = ("C", "C", "C", "C"),
) -> tuple[F, F, F, F]:
    """X, Wq, Wk, Wv whose scaled scores have about this standard deviation, so that a wrong scale shows."""
    width = (spread / d) ** 0.5
    arrays = normal(rng, n, d), normal(rng, d, k, scale=width), normal(rng, d, k, scale=width), normal(rng, d, v)
    X, Wq, Wk, Wv = (with_layout(a.astype(dtype), order) for a, order in zip(arrays, orders, strict=True))
    return X, Wq, Wk, Wv


def sizes_in_band(rng: np.random.Generator, band: int, fewest: int = 4) -> tuple[int, int, int, int]:
    """n, d, k and v, pairwise distinct, with k from one of `KEY_WIDTHS`; n is at least `fewest`."""
    k = int(rng.choice(KEY_WIDTHS[band]))
    n = int(rng.choice([size for size in range(fewest, 10) if size != k]))
    d, v = (int(size) for size in rng.choice([size for size in range(4, 10) if size not in (k, n)], 2, replace=False))
    return n, d, k, v


def raised(X: F, Wq: F, Wk: F, Wv: F, level: float) -> tuple[F, F, F, F]:
    """The same, except that every scaled score lies higher by `level`: a feature that is 1 in all tokens takes care of it."""
    X, Wq, Wk = X.copy(), Wq.copy(), Wk.copy()
    X[:, 0] = 1.0
    Wq[:, 0], Wq[0, 0] = 0.0, 1.0
    Wk[0, 0] += level * Wk.shape[1] ** 0.5
    return X, Wq, Wk, Wv


def rows_apart(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F, F]:
    """The same, except that every scaled score of token i lies higher by 1000 i: its query says so, and every key listens. Weights stay
    as they would be without that, and values know nothing of it."""
    X, Wq, Wk, Wv = X.copy(), Wq.copy(), Wk.copy(), Wv.copy()
    X[:, 0], X[:, 1] = 1000.0 * np.arange(len(X)), 1.0
    Wq[0] = Wk[0] = Wv[0] = Wq[:, 0] = Wk[:, 0] = 0.0
    Wq[0, 0], Wk[1, 0] = 1.0, Wk.shape[1] ** 0.5
    return X, Wq, Wk, Wv


LAYOUTS = ("strided", "F", "strided", "F")
"""How X, Wq, Wk and Wv may lie in memory without being contiguous."""


def some_tokens_and_weights(seed: int, n: int, d: int, k: int, v: int, dtype: str = "float64") -> tuple[F, F, F, F]:
    """X, Wq, Wk and Wv of numbers with three decimals, the same every time."""
    X, Wq, Wk, Wv = tokens_and_weights(np.random.default_rng(seed), n, d, k, v)
    return tuple(a.round(3).astype(dtype) for a in (X, Wq, Wk, Wv))  # type: ignore[return-value]


# Three tokens, worked through by hand in the notebook: all of k's products are whole numbers and √k is 2.
X3 = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
WQ3 = np.array([[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, -1.0, 2.0]])
WK3 = np.array([[1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, -1.0]])
WV3 = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 4.0]])


# Two tokens with d = k = v: whatever shapes forbid elsewhere runs here.
X2 = np.array([[1.0, 2.0], [0.0, 1.0]])
WQ2 = np.array([[1.0, 1.0], [0.0, -1.0]])
WK2 = np.array([[2.0, 0.0], [1.0, -1.0]])
WV2 = np.array([[1.0, 3.0], [2.0, 0.0]])


# Four tokens, all sizes different.
X4 = np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 1.0], [0.5, 1.0, 0.0], [-1.0, 1.0, 1.0]])
WQ4 = np.array([[1.0, 0.5], [-1.0, 1.0], [0.5, 1.0]])
WK4 = np.array([[0.5, -1.0], [1.0, 0.0], [1.0, 0.5]])
WV4 = np.array([[1.0, 0.0, 2.0, -1.0, 0.5], [0.0, 1.0, 1.0, 3.0, 0.0], [2.0, -1.0, 0.0, 1.0, 1.0]])
