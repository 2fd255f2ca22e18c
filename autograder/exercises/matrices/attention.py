"""Attention as two products with a softmax between them."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right
from autograder.exercises.parts import pattern, row_softmax

USES = ("scaled_scores", "softmax")


def attention(
    Q: Float[np.ndarray, "n k"], K: Float[np.ndarray, "m k"], V: Float[np.ndarray, "m v"]
) -> tuple[Float[np.ndarray, "n v"], Float[np.ndarray, "n m"]]:
    """Each query's mixture of the values, and the weights of the mixture."""
    n, m, k, v = len(Q), len(K), Q.shape[1], V.shape[1]
    out, weights = np.zeros((n, v)), np.zeros((n, m))
    for i in range(n):
        scores = [sum(Q[i, x] * K[j, x] for x in range(k)) / math.sqrt(k) for j in range(m)]
        powers = [math.exp(s - max(scores)) for s in scores]
        for j in range(m):
            weights[i, j] = powers[j] / math.fsum(powers)
            for x in range(v):
                out[i, x] += weights[i, j] * V[j, x]
    return out, weights


PUBLIC = (
    case(
        np.array([[2.0, 0.0, 0.0, 0.0]]),
        np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]),
        np.array([[10.0], [20.0]]),
    ),
    case(
        np.array([[2.0, 0.0], [-1.0, 3.0], [0.0, 1.0]]),
        np.array([[1.0, 1.0], [2.0, 0.0], [0.0, -1.0]]),
        np.array([[1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 1.0, 0.0], [5.0, 0.0, 0.0, -1.0]]),
    ),
    case(
        np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]], np.float32),
        np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0], [2.0, -1.0, 1.0], [0.0, 0.0, 1.0]], np.float32),
        np.array(
            [
                [1.0, 0.0, 2.0, 1.0, 0.0],
                [0.0, 1.0, 0.0, 4.0, 2.0],
                [3.0, 0.0, 1.0, 0.0, 0.0],
                [0.0, -2.0, 1.0, 1.0, 1.0],
            ],
            np.float32,
        ),
    ),
    case(pattern(26, 3, step=5), pattern(32, 3, step=4), pattern(32, 2, step=3)),
)


@probe(1.5)
def heads(rng: np.random.Generator) -> list[Case]:
    """the mixtures and their weights, all sizes different"""
    n, m, k, v = sizes(rng, 4)
    return [
        case(normal(rng, n, k, scale=2.0), normal(rng, m, k), normal(rng, m, v)),
        case(normal(rng, v, n, scale=2.0), normal(rng, k, n), normal(rng, k, m)),
    ]


@probe(1.0)
def heads_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide and other products would run too"""
    n, m, k, v = sizes(rng, 4)
    return [
        case(normal(rng, n, k, scale=2.0), normal(rng, n, k), normal(rng, n, v)),  # n = m: A.T @ V runs
        case(normal(rng, n, k, scale=2.0), normal(rng, m, k), normal(rng, m, k)),  # k = v: keys pass for values
        case(normal(rng, n, k, scale=2.0), normal(rng, m, k), normal(rng, m, m)),  # m = v: outputs pass for weights
        case(normal(rng, k, k, scale=2.0), normal(rng, k, k), normal(rng, k, k)),
    ]


@probe(1.0)
def heads_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """one query, one key, scores of ±10 000, float32, and arrays that are not contiguous"""
    n, m, k, v = sizes(rng, 4)
    return [
        case(normal(rng, 1, k, scale=2.0), normal(rng, m, k), normal(rng, m, v)),
        case(normal(rng, n, k, scale=2.0), normal(rng, 1, k), normal(rng, 1, v)),
        case(normal(rng, n, k, scale=1e4), normal(rng, m, k), normal(rng, m, v)),
        case(normal(rng, n, k, scale=2.0, dtype="float32"), *(normal(rng, m, w, dtype="float32") for w in (k, v))),
        case(normal(rng, n, k, scale=2.0, order="F"), normal(rng, m, k, order="strided"), normal(rng, m, v, order="F")),
    ]


@probe(0.5, measures="lines")
def few_and_many_tokens(rng: np.random.Generator) -> list[Case]:
    """no more Python lines for many tokens than for few"""
    k, v = sizes(rng, 2)
    sizes_of = ((2, 3), (31, 40))
    return [case(normal(rng, n, k, scale=2.0), normal(rng, m, k), normal(rng, m, v)) for n, m in sizes_of]


def _weights_of(Q: F, K: F) -> F:
    return row_softmax(Q @ K.T / math.sqrt(Q.shape[1]))


@mistake
def mixes_by_columns(Q: F, K: F, V: F) -> tuple[F, F]:
    """you mixed the values by the columns of the weights (A.T @ V). It runs only where n = m. The weights of query
    i lie in row i."""
    A = _weights_of(Q, K)
    return A.T @ V, A


@mistake
def scale_after_softmax(Q: F, K: F, V: F) -> tuple[F, F]:
    """you scaled the weights after softmax, so no row adds up to 1 any more. The scale belongs to the scores,
    before softmax."""
    A = row_softmax(Q @ K.T) / math.sqrt(Q.shape[1])
    return A @ V, A


@mistake
def scale_after_softmax_in_float64(Q: F, K: F, V: F) -> tuple[F, F]:
    """you scaled the weights after softmax, so no row adds up to 1 any more. The scale belongs to the scores,
    before softmax. (And numpy's root of an integer turns float32 into float64.)"""
    A = row_softmax(Q @ K.T) / np.sqrt(Q.shape[1])
    return A @ V, A


@mistake
def unscaled(Q: F, K: F, V: F) -> tuple[F, F]:
    """your scores went into softmax unscaled. You have written a function that scales them."""
    A = row_softmax(Q @ K.T)
    return A @ V, A


@mistake
def scaled_twice(Q: F, K: F, V: F) -> tuple[F, F]:
    """you scaled the scores a second time. scaled_scores has divided them already."""
    A = row_softmax(Q @ K.T / Q.shape[1])
    return A @ V, A


@mistake
def softmax_after_values(Q: F, K: F, V: F) -> tuple[F, F]:
    """you mixed the values with the raw scores and took softmax of the mixture. Scores have to become weights
    before anything is mixed."""
    S = Q @ K.T / math.sqrt(Q.shape[1])
    return row_softmax(S @ V), row_softmax(S)


@mistake
def softmax_over_queries(Q: F, K: F, V: F) -> tuple[F, F]:
    """your weights add up to 1 down each column, so that queries compete for a key. It is the keys that compete:
    each row adds up to 1."""
    A = row_softmax((Q @ K.T / math.sqrt(Q.shape[1])).T).T
    return A @ V, A


@mistake
def scores_for_weights(Q: F, K: F, V: F) -> tuple[F, F]:
    """the mixtures are right, but what you return as weights are still the scores, before softmax."""
    S = Q @ K.T / math.sqrt(Q.shape[1])
    return row_softmax(S) @ V, S


@mistake
def mixes_keys(Q: F, K: F, V: F) -> tuple[F, F]:
    """you mixed the keys. Keys are for finding; what is taken along are the values."""
    A = _weights_of(Q, K)
    return A @ K, A


@mistake
def weights_first(Q: F, K: F, V: F) -> tuple[F, F]:
    """you returned the weights first. The order is mixtures, then weights."""
    A = _weights_of(Q, K)
    return A, A @ V


@mistake
def weights_left_out(Q: F, K: F, V: F) -> F:
    """you returned the mixtures alone. The weights are wanted too, as the second part of a tuple: notebooks to come
    look at them."""
    return _weights_of(Q, K) @ V


@mistake
def loops_over_tokens(Q: F, K: F, V: F) -> tuple[F, F]:
    """the numbers are right, and you visit one token after another. One product has all queries meet all keys,
    another adds up all values: no loop is left, and none in a comprehension."""
    rows = []
    for query in Q:
        rows.append(_weights_of(query[None, :], K))
    A = np.concatenate(rows)
    return A @ V, A


@right
def attention_by_einsum(Q: F, K: F, V: F) -> tuple[F, F]:
    A = row_softmax(np.einsum("nk,mk->nm", Q, K) / math.sqrt(Q.shape[1]))
    return np.einsum("nm,mv->nv", A, V), A


@right
def attention_normalised_last(Q: F, K: F, V: F) -> tuple[F, F]:
    S = (Q / math.sqrt(Q.shape[1])) @ K.T
    E = np.exp(S - S.max(axis=1, keepdims=True))
    total = E.sum(axis=1, keepdims=True)
    return (E @ V) / total, E / total


@right
def attention_by_broadcast(Q: F, K: F, V: F) -> tuple[F, F]:
    A = row_softmax((Q[:, None, :] * K[None, :, :]).sum(axis=-1) / math.sqrt(Q.shape[1]))
    return (A[:, :, None] * V[None, :, :]).sum(axis=1), A


@right
def attention_by_torch(Q: F, K: F, V: F) -> tuple[F, F]:
    import torch

    q, keys, values = (torch.from_numpy(a.copy()) for a in (Q, K, V))
    A = torch.softmax(q @ keys.T / math.sqrt(q.shape[1]), dim=-1)
    return (A @ values).numpy(), A.numpy()
