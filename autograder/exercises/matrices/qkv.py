"""Queries, keys and values of all tokens, three products."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right


def qkv(
    X: Float[np.ndarray, "n d"],
    Wq: Float[np.ndarray, "d k"],
    Wk: Float[np.ndarray, "d k"],
    Wv: Float[np.ndarray, "d v"],
) -> tuple[Float[np.ndarray, "n k"], Float[np.ndarray, "n k"], Float[np.ndarray, "n v"]]:
    """Queries, keys and values, each token's in its own row."""
    parts = []
    for W in (Wq, Wk, Wv):
        out = np.zeros((len(X), W.shape[1]))
        for i in range(len(X)):
            for j in range(W.shape[1]):
                out[i, j] = sum(X[i, x] * W[x, j] for x in range(len(W)))
        parts.append(out)
    return parts[0], parts[1], parts[2]


PUBLIC = (
    case(
        np.array([[1.0, 2.0], [3.0, 0.0]]),
        np.array([[1.0, 0.0], [1.0, 2.0]]),
        np.array([[0.0, 1.0], [2.0, 1.0]]),
        np.array([[2.0, 5.0], [0.0, 1.0]]),
    ),
    case(
        np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0], [2.0, 0.0, 1.0], [1.0, 1.0, 1.0]]),
        np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]]),
        np.array([[0.0, 1.0], [2.0, 1.0], [1.0, -1.0]]),
        np.array([[1.0, 0.0, 2.0, 0.0, 1.0], [0.0, 1.0, 0.0, 2.0, 0.5], [4.0, 0.0, 1.0, 0.0, -1.0]]),
    ),
)


def _weights(
    rng: np.random.Generator, d: int, k: int, v: int, dtype: str = "float64", order: str = "C"
) -> tuple[F, F, F]:
    q, keys, values = ((d, k), (d, k), (d, v))
    return (
        normal(rng, *q, dtype=dtype, order=order),
        normal(rng, *keys, dtype=dtype),
        normal(rng, *values, dtype=dtype, order=order),
    )


@probe(1.0)
def projections(rng: np.random.Generator) -> list[Case]:
    """queries, keys and values, in this order, all sizes different"""
    n, d, k, v = sizes(rng, 4)
    return [case(normal(rng, n, d), *_weights(rng, d, k, v)), case(normal(rng, v, n), *_weights(rng, n, d, k))]


@probe(0.5)
def square_projections(rng: np.random.Generator) -> list[Case]:
    """the same where weights are square and their transposes would run too"""
    n, d, k = sizes(rng, 3)
    return [
        case(normal(rng, n, d), *_weights(rng, d, d, d)),  # d = k = v: X @ W.T runs
        case(normal(rng, n, n), *_weights(rng, n, n, n)),  # all equal: everything runs
        case(normal(rng, n, d), *_weights(rng, d, k, k)),  # k = v: an exchange of values and keys keeps every shape
    ]


@probe(0.5)
def projections_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, float32, and arrays that are not contiguous"""
    n, d, k, v = sizes(rng, 4)
    return [
        case(normal(rng, 1, d), *_weights(rng, d, k, v)),
        case(normal(rng, n, d, dtype="float32"), *_weights(rng, d, k, v, dtype="float32")),
        case(normal(rng, n, d, order="strided"), *_weights(rng, d, k, v, order="F")),
    ]


@mistake
def weights_turned(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you turned the weights (X @ W.T, or W·x for every token x). Here a weight is [d, k] and multiplies a row from
    the right as it stands."""
    return X @ Wq.T, X @ Wk.T, X @ Wv.T


@mistake
def tokens_turned(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you turned X. Its rows are the tokens already, and each of them should give one row."""
    return X.T @ Wq, X.T @ Wk, X.T @ Wv


@mistake
def tokens_become_columns(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """your tokens have become columns. The numbers are right and the tables are turned: in this course a token is a
    row."""
    return Wq.T @ X.T, Wk.T @ X.T, Wv.T @ X.T


@mistake
def keys_first(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you returned the keys before the queries. The order is queries, keys, values."""
    return X @ Wk, X @ Wq, X @ Wv


@mistake
def values_before_keys(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you returned the values before the keys. The order is queries, keys, values."""
    return X @ Wq, X @ Wv, X @ Wk


@mistake
def one_weight_for_both(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """your keys were made with the weight of the queries. What a token looks for and what it offers are two
    different things, so there are two weights."""
    return X @ Wq, X @ Wq, X @ Wv


@right
def qkv_by_einsum(X: F, Wq: F, Wk: F, Wv: F) -> tuple[Any, ...]:
    return tuple(np.einsum("nd,de->ne", X, W) for W in (Wq, Wk, Wv))


@right
def qkv_in_one_product(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    k = Wq.shape[1]
    Z = X @ np.concatenate([Wq, Wk, Wv], axis=1)
    return Z[:, :k], Z[:, k : 2 * k], Z[:, 2 * k :]


@right
def qkv_row_by_row(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    return np.stack([x @ Wq for x in X]), np.stack([x @ Wk for x in X]), np.stack([x @ Wv for x in X])


@right
def qkv_by_torch(X: F, Wq: F, Wk: F, Wv: F) -> tuple[Any, ...]:
    import torch

    x = torch.from_numpy(X.copy())
    return tuple((x @ torch.from_numpy(W.copy())).numpy() for W in (Wq, Wk, Wv))
