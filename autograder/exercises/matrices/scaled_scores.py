"""Every query against every key, over the root of their width."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right


def scaled_scores(Q: Float[np.ndarray, "n k"], K: Float[np.ndarray, "m k"]) -> Float[np.ndarray, "n m"]:
    """Entry (i, j) is the dot product of query i with key j, divided by the root of their width."""
    k = Q.shape[1]
    out = np.zeros((len(Q), len(K)))
    for i in range(len(Q)):
        for j in range(len(K)):
            out[i, j] = sum(Q[i, x] * K[j, x] for x in range(k)) / math.sqrt(k)
    return out


PUBLIC = (
    case(np.array([[2.0, 0.0, 0.0, 4.0]]), np.array([[1.0, 5.0, 0.0, 1.0], [0.0, 1.0, 1.0, -3.0]])),
    case(
        np.array([[1.0, 2.0, 0.0], [0.0, 3.0, -1.0]]),
        np.array([[3.0, 0.0, 1.0], [1.0, 1.0, 2.0], [0.0, -2.0, 5.0]]),
    ),
    case(np.array([[3.0, 1.0], [2.0, -2.0]]), np.array([[1.0, 4.0], [0.0, 2.0]])),
    case(
        np.array([[1.0, 0.0, 2.0], [4.0, 1.0, 0.0]], np.float32),
        np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 1.0, 1.0], [5.0, 0.0, -2.0], [1.0, 0.0, 0.0]], np.float32),
    ),
)


@probe(1.5)
def scores(rng: np.random.Generator) -> list[Case]:
    """every query against every key, over the root of their width, all sizes different"""
    n, m, k = sizes(rng, 3)
    return [
        case(normal(rng, n, k, scale=2.0), normal(rng, m, k)),
        case(normal(rng, k, m, scale=2.0), normal(rng, n, m)),
    ]


@probe(1.0)
def scores_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide (m = k, too) and other products would run"""
    n, k = sizes(rng, 2)
    return [
        case(normal(rng, n, k, scale=2.0), normal(rng, k, k)),  # m = k: Q @ K runs
        case(normal(rng, n, k, scale=2.0), normal(rng, n, k)),  # n = m: Q.T @ K runs, and a turned table fits
        case(normal(rng, k, k, scale=2.0), normal(rng, k, k)),
    ]


@probe(0.5)
def scores_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single query, width 1, large scores, float32, arrays that are not contiguous"""
    n, m, k = sizes(rng, 3)
    return [
        case(normal(rng, 1, k, scale=2.0), normal(rng, m, k)),
        case(normal(rng, n, 1, scale=2.0), normal(rng, m, 1)),
        case(normal(rng, n, k, scale=2.0, dtype="float32"), normal(rng, m, k, dtype="float32")),
        case(normal(rng, n, k, scale=2.0, order="strided"), normal(rng, m, k, order="F")),
        case(normal(rng, n, k, scale=1e4), normal(rng, m, k)),
    ]


@mistake
def no_scale(Q: F, K: F) -> F:
    """these are the dot products themselves. Their spread grows with the width of a query, and softmax would feel
    it: they have to be divided by that growth."""
    return Q @ K.T


@mistake
def divides_by_k(Q: F, K: F) -> F:
    """you divided by k, or by √k twice. Once by √k is enough: it is the spread of a dot product that has to be
    undone, and that grows like √k."""
    return Q @ K.T / Q.shape[1]


@mistake
def root_of_n(Q: F, K: F) -> F:
    """you divided by √n, and n counts the queries. How large a dot product gets depends on how many terms it sums,
    which is the width of one query."""
    return Q @ K.T / math.sqrt(Q.shape[0])


@mistake
def root_of_n_in_float64(Q: F, K: F) -> F:
    """you divided by √n, and n counts the queries; what matters is the width of one query. (And numpy's root of an
    integer is a float64, which makes float64 of a float32 table.)"""
    return Q @ K.T / np.sqrt(Q.shape[0])


@mistake
def root_of_m(Q: F, K: F) -> F:
    """you divided by √m, and m counts the keys. How large a dot product gets depends on how many terms it sums,
    which is the width of one key."""
    return Q @ K.T / math.sqrt(K.shape[0])


@mistake
def root_of_m_in_float64(Q: F, K: F) -> F:
    """you divided by √m, and m counts the keys; what matters is the width of one key. (And numpy's root of an
    integer is a float64, which makes float64 of a float32 table.)"""
    return Q @ K.T / np.sqrt(K.shape[0])


@mistake
def times_root_k(Q: F, K: F) -> F:
    """you multiplied by √k. Dot products of wide vectors are too large already: they have to come down."""
    return Q @ K.T * math.sqrt(Q.shape[1])


@mistake
def times_root_k_in_float64(Q: F, K: F) -> F:
    """you multiplied by √k. Dot products of wide vectors are too large already: they have to come down. (And
    numpy's root of an integer is a float64, which makes float64 of a float32 table.)"""
    return Q @ K.T * np.sqrt(Q.shape[1])


@mistake
def root_in_float64(Q: F, K: F) -> F:
    """the numbers are right, but float32 went in and float64 came out: numpy's root of an integer is a float64, and
    it pulls the whole table along. A plain Python number does not."""
    return Q @ K.T / np.sqrt(Q.shape[1])


@mistake
def keys_not_turned(Q: F, K: F) -> F:
    """you multiplied Q @ K as they are, which pairs rows of Q with columns of K. It runs only where m = k. A key is
    a row of K, and has to be stood up first."""
    return Q @ K / math.sqrt(Q.shape[1])


@mistake
def root_by_precedence(Q: F, K: F) -> F:
    """you divided by half of k. In Python `**` comes before `/`, so a power of 1 / 2 needs its own brackets."""
    return Q @ K.T / Q.shape[1] ** 1 / 2


@mistake
def scores_turned(Q: F, K: F) -> F:
    """your table is turned. Row i belongs to query i, column j to key j."""
    return K @ Q.T / math.sqrt(Q.shape[1])


@mistake
def pairs_features(Q: F, K: F) -> F:
    """you paired columns with columns (Q.T @ K), feature against feature. Queries and keys are rows."""
    return Q.T @ K / math.sqrt(Q.shape[1])


@mistake
def cosines(Q: F, K: F) -> F:
    """you divided each score by the lengths of its two vectors, which gives cosines. Attention divides all scores
    by one and the same number."""
    return (Q / np.linalg.norm(Q, axis=1, keepdims=True)) @ (K / np.linalg.norm(K, axis=1, keepdims=True)).T


@right
def scores_by_einsum(Q: F, K: F) -> F:
    return np.einsum("nk,mk->nm", Q, K) / math.sqrt(K.shape[-1])


@right
def scores_of_scaled_queries(Q: F, K: F) -> F:
    return (Q / Q.shape[1] ** 0.5) @ K.T


@right
def scores_by_loops(Q: F, K: F) -> F:
    out = np.zeros((Q.shape[0], K.shape[0]), dtype=Q.dtype)
    for i, query in enumerate(Q):
        for j, key in enumerate(K):
            out[i, j] = query @ key / math.sqrt(len(key))
    return out


@right
def scores_by_torch(Q: F, K: F) -> F:
    import torch

    return (torch.from_numpy(Q.copy()) @ torch.from_numpy(K.copy()).T / math.sqrt(Q.shape[1])).numpy()
