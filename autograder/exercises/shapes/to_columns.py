"""The same product for those who write tokens as columns."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right


def to_columns(
    X: Float[np.ndarray, "n d"], W: Float[np.ndarray, "d k"]
) -> tuple[Float[np.ndarray, "k d"], Float[np.ndarray, "d n"]]:
    """The two factors, in order, whose product is (XW) turned so that tokens are columns."""
    n, d = X.shape
    k = W.shape[1]
    left, right = np.zeros((k, d)), np.zeros((d, n))
    for x in range(d):
        for j in range(k):
            left[j, x] = W[x, j]
        for i in range(n):
            right[x, i] = X[i, x]
    return left, right


PUBLIC = (
    case(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])),
    case(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([[1.0, -1.0, 0.0, 2.0], [0.0, 3.0, 1.0, 1.0]])),
)


@probe(1.5)
def conversions(rng: np.random.Generator) -> list[Case]:
    """the two factors in the column convention, all sizes different"""
    n, d, k = sizes(rng, 3)
    return [case(normal(rng, n, d), normal(rng, d, k)), case(normal(rng, k, n), normal(rng, n, d))]


@probe(1.0)
def square_conversions(rng: np.random.Generator) -> list[Case]:
    """a square W that is not symmetric"""
    n, d = sizes(rng, 2)
    return [case(normal(rng, n, d), normal(rng, d, d)), case(normal(rng, d, d), normal(rng, d, d))]


@probe(0.5)
def conversions_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, float32, and arrays that are not contiguous"""
    n, d, k = sizes(rng, 3)
    return [
        case(normal(rng, 1, d), normal(rng, d, k)),
        case(normal(rng, n, d, dtype="float32"), normal(rng, d, k, dtype="float32")),
        case(normal(rng, n, d, order="strided"), normal(rng, d, k, order="F")),
    ]


@mistake
def weight_not_turned(X: F, W: F) -> tuple[F, F]:
    """W went in as it is. In the column convention the weight is turned too: its rows make the output's features."""
    return W, X.T


@mistake
def tokens_not_turned(X: F, W: F) -> tuple[F, F]:
    """X went in as it is, so its tokens are still rows."""
    return W.T, X


@mistake
def original_order(X: F, W: F) -> tuple[F, F]:
    """both factors are turned, but in their old order. Transposing a product reverses it."""
    return X.T, W.T


@mistake
def nothing_turned(X: F, W: F) -> tuple[F, F]:
    """you handed back X and W as they are. Their product has tokens as rows."""
    return X, W


@right
def turned_by_einsum(X: F, W: F) -> tuple[F, F]:
    return np.einsum("dk->kd", W), np.einsum("nd->dn", X)


@right
def turned_by_swapaxes(X: F, W: F) -> tuple[F, F]:
    return np.swapaxes(W, 0, 1), np.ascontiguousarray(np.swapaxes(X, 0, 1))


@right
def turned_by_stacking(X: F, W: F) -> tuple[F, F]:
    return np.stack(list(W), axis=1), np.stack(list(X), axis=1)
