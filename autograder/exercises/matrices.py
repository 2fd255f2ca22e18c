"""Notebook 02: the whole of attention at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from autograder.exercises.drawing import normal, sizes
from autograder.exercises.model import Case, Exercise, Probe, case

NOTEBOOK = "02_matrices"
F = np.ndarray


# ----------------------------------------------------------------------------------------------------- qkv


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


def weights_turned(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you turned the weights (X @ W.T, or W·x for every token x). Here a weight is [d, k] and multiplies a row from
    the right as it stands."""
    return X @ Wq.T, X @ Wk.T, X @ Wv.T


def tokens_turned(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you turned X. Its rows are the tokens already, and each of them should give one row."""
    return X.T @ Wq, X.T @ Wk, X.T @ Wv


def tokens_become_columns(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """your tokens have become columns. The numbers are right and the tables are turned: in this course a token is a
    row."""
    return Wq.T @ X.T, Wk.T @ X.T, Wv.T @ X.T


def keys_first(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you returned the keys before the queries. The order is queries, keys, values."""
    return X @ Wk, X @ Wq, X @ Wv


def values_before_keys(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you returned the values before the keys. The order is queries, keys, values."""
    return X @ Wq, X @ Wv, X @ Wk


def one_weight_for_both(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """your keys were made with the weight of the queries. What a token looks for and what it offers are two
    different things, so there are two weights."""
    return X @ Wq, X @ Wq, X @ Wv


def qkv_by_einsum(X: F, Wq: F, Wk: F, Wv: F) -> tuple[Any, ...]:
    return tuple(np.einsum("nd,de->ne", X, W) for W in (Wq, Wk, Wv))


def qkv_in_one_product(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    k = Wq.shape[1]
    Z = X @ np.concatenate([Wq, Wk, Wv], axis=1)
    return Z[:, :k], Z[:, k : 2 * k], Z[:, 2 * k :]


def qkv_row_by_row(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    return np.stack([x @ Wq for x in X]), np.stack([x @ Wk for x in X]), np.stack([x @ Wv for x in X])


def qkv_by_torch(X: F, Wq: F, Wk: F, Wv: F) -> tuple[Any, ...]:
    import torch

    x = torch.from_numpy(X.copy())
    return tuple((x @ torch.from_numpy(W.copy())).numpy() for W in (Wq, Wk, Wv))


def _weights(
    rng: np.random.Generator, d: int, k: int, v: int, dtype: str = "float64", order: str = "C"
) -> tuple[F, F, F]:
    q, keys, values = ((d, k), (d, k), (d, v))
    return (
        normal(rng, *q, dtype=dtype, order=order),
        normal(rng, *keys, dtype=dtype),
        normal(rng, *values, dtype=dtype, order=order),
    )


def _projections(rng: np.random.Generator) -> list[Case]:
    n, d, k, v = sizes(rng, 4)
    return [case(normal(rng, n, d), *_weights(rng, d, k, v)), case(normal(rng, v, n), *_weights(rng, n, d, k))]


def _square_projections(rng: np.random.Generator) -> list[Case]:
    n, d, k = sizes(rng, 3)
    return [
        case(normal(rng, n, d), *_weights(rng, d, d, d)),  # d = k = v: X @ W.T runs
        case(normal(rng, n, n), *_weights(rng, n, n, n)),  # all equal: everything runs
        case(normal(rng, n, d), *_weights(rng, d, k, k)),  # k = v: an exchange of values and keys keeps every shape
    ]


def _projections_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, d, k, v = sizes(rng, 4)
    return [
        case(normal(rng, 1, d), *_weights(rng, d, k, v)),
        case(normal(rng, n, d, dtype="float32"), *_weights(rng, d, k, v, dtype="float32")),
        case(normal(rng, n, d, order="strided"), *_weights(rng, d, k, v, order="F")),
    ]


QKV = Exercise(
    oracle=qkv,
    notebook=NOTEBOOK,
    public=(
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
    ),
    probes=(
        Probe("queries, keys and values, in this order, all sizes different", 1.0, _projections),
        Probe("the same where weights are square and their transposes would run too", 0.5, _square_projections),
        Probe("a single token, float32, and arrays that are not contiguous", 0.5, _projections_at_the_edge),
    ),
    mistakes=(
        weights_turned,
        tokens_turned,
        tokens_become_columns,
        keys_first,
        values_before_keys,
        one_weight_for_both,
    ),
    variants=(qkv_by_einsum, qkv_in_one_product, qkv_row_by_row, qkv_by_torch),
)


# ------------------------------------------------------------------------------------------- scaled_scores


def scaled_scores(Q: Float[np.ndarray, "n k"], K: Float[np.ndarray, "m k"]) -> Float[np.ndarray, "n m"]:
    """Entry (i, j) is the dot product of query i with key j, divided by the root of their width."""
    k = Q.shape[1]
    out = np.zeros((len(Q), len(K)))
    for i in range(len(Q)):
        for j in range(len(K)):
            out[i, j] = sum(Q[i, x] * K[j, x] for x in range(k)) / math.sqrt(k)
    return out


def no_scale(Q: F, K: F) -> F:
    """these are the dot products themselves. Their spread grows with the width of a query, and softmax would feel
    it: they have to be divided by that growth."""
    return Q @ K.T


def divides_by_k(Q: F, K: F) -> F:
    """you divided by k, or by √k twice. Once by √k is enough: it is the spread of a dot product that has to be
    undone, and that grows like √k."""
    return Q @ K.T / Q.shape[1]


def root_of_n(Q: F, K: F) -> F:
    """you divided by √n, and n counts the queries. How large a dot product gets depends on how many terms it sums,
    which is the width of one query."""
    return Q @ K.T / math.sqrt(Q.shape[0])


def root_of_n_in_float64(Q: F, K: F) -> F:
    """you divided by √n, and n counts the queries; what matters is the width of one query. (And numpy's root of an
    integer is a float64, which makes float64 of a float32 table.)"""
    return Q @ K.T / np.sqrt(Q.shape[0])


def root_of_m(Q: F, K: F) -> F:
    """you divided by √m, and m counts the keys. How large a dot product gets depends on how many terms it sums,
    which is the width of one key."""
    return Q @ K.T / math.sqrt(K.shape[0])


def root_of_m_in_float64(Q: F, K: F) -> F:
    """you divided by √m, and m counts the keys; what matters is the width of one key. (And numpy's root of an
    integer is a float64, which makes float64 of a float32 table.)"""
    return Q @ K.T / np.sqrt(K.shape[0])


def times_root_k(Q: F, K: F) -> F:
    """you multiplied by √k. Dot products of wide vectors are too large already: they have to come down."""
    return Q @ K.T * math.sqrt(Q.shape[1])


def times_root_k_in_float64(Q: F, K: F) -> F:
    """you multiplied by √k. Dot products of wide vectors are too large already: they have to come down. (And
    numpy's root of an integer is a float64, which makes float64 of a float32 table.)"""
    return Q @ K.T * np.sqrt(Q.shape[1])


def root_in_float64(Q: F, K: F) -> F:
    """the numbers are right, but float32 went in and float64 came out: numpy's root of an integer is a float64, and
    it pulls the whole table along. A plain Python number does not."""
    return Q @ K.T / np.sqrt(Q.shape[1])


def keys_not_turned(Q: F, K: F) -> F:
    """you multiplied Q @ K as they are, which pairs rows of Q with columns of K. It runs only where m = k. A key is
    a row of K, and has to be stood up first."""
    return Q @ K / math.sqrt(Q.shape[1])


def root_by_precedence(Q: F, K: F) -> F:
    """you divided by half of k. In Python `**` comes before `/`, so a power of 1 / 2 needs its own brackets."""
    return Q @ K.T / Q.shape[1] ** 1 / 2


def scores_turned(Q: F, K: F) -> F:
    """your table is turned. Row i belongs to query i, column j to key j."""
    return K @ Q.T / math.sqrt(Q.shape[1])


def pairs_features(Q: F, K: F) -> F:
    """you paired columns with columns (Q.T @ K), feature against feature. Queries and keys are rows."""
    return Q.T @ K / math.sqrt(Q.shape[1])


def cosines(Q: F, K: F) -> F:
    """you divided each score by the lengths of its two vectors, which gives cosines. Attention divides all scores
    by one and the same number."""
    return (Q / np.linalg.norm(Q, axis=1, keepdims=True)) @ (K / np.linalg.norm(K, axis=1, keepdims=True)).T


def scores_by_einsum(Q: F, K: F) -> F:
    return np.einsum("nk,mk->nm", Q, K) / math.sqrt(K.shape[-1])


def scores_of_scaled_queries(Q: F, K: F) -> F:
    return (Q / Q.shape[1] ** 0.5) @ K.T


def scores_by_loops(Q: F, K: F) -> F:
    out = np.zeros((Q.shape[0], K.shape[0]), dtype=Q.dtype)
    for i, query in enumerate(Q):
        for j, key in enumerate(K):
            out[i, j] = query @ key / math.sqrt(len(key))
    return out


def scores_by_torch(Q: F, K: F) -> F:
    import torch

    return (torch.from_numpy(Q.copy()) @ torch.from_numpy(K.copy()).T / math.sqrt(Q.shape[1])).numpy()


def _scores(rng: np.random.Generator) -> list[Case]:
    n, m, k = sizes(rng, 3)
    return [
        case(normal(rng, n, k, scale=2.0), normal(rng, m, k)),
        case(normal(rng, k, m, scale=2.0), normal(rng, n, m)),
    ]


def _scores_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    n, k = sizes(rng, 2)
    return [
        case(normal(rng, n, k, scale=2.0), normal(rng, k, k)),  # m = k: Q @ K runs
        case(normal(rng, n, k, scale=2.0), normal(rng, n, k)),  # n = m: Q.T @ K runs, and a turned table fits
        case(normal(rng, k, k, scale=2.0), normal(rng, k, k)),
    ]


def _scores_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, m, k = sizes(rng, 3)
    return [
        case(normal(rng, 1, k, scale=2.0), normal(rng, m, k)),
        case(normal(rng, n, 1, scale=2.0), normal(rng, m, 1)),
        case(normal(rng, n, k, scale=2.0, dtype="float32"), normal(rng, m, k, dtype="float32")),
        case(normal(rng, n, k, scale=2.0, order="strided"), normal(rng, m, k, order="F")),
        case(normal(rng, n, k, scale=1e4), normal(rng, m, k)),
    ]


SCALED_SCORES = Exercise(
    oracle=scaled_scores,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[2.0, 0.0, 0.0, 4.0]]), np.array([[1.0, 5.0, 0.0, 1.0], [0.0, 1.0, 1.0, -3.0]])),
        case(
            np.array([[1.0, 2.0, 0.0], [0.0, 3.0, -1.0]]),
            np.array([[3.0, 0.0, 1.0], [1.0, 1.0, 2.0], [0.0, -2.0, 5.0]]),
        ),
        case(np.array([[3.0, 1.0], [2.0, -2.0]]), np.array([[1.0, 4.0], [0.0, 2.0]])),
        case(
            np.array([[1.0, 0.0, 2.0], [4.0, 1.0, 0.0]], np.float32),
            np.array(
                [[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 1.0, 1.0], [5.0, 0.0, -2.0], [1.0, 0.0, 0.0]], np.float32
            ),
        ),
    ),
    probes=(
        Probe("every query against every key, over the root of their width, all sizes different", 1.5, _scores),
        Probe(
            "the same where sizes coincide (m = k, too) and other products would run", 1.0, _scores_where_sizes_coincide
        ),
        Probe(
            "a single query, width 1, large scores, float32, arrays that are not contiguous", 0.5, _scores_at_the_edge
        ),
    ),
    mistakes=(
        no_scale,
        divides_by_k,
        root_of_n,
        root_of_n_in_float64,
        root_of_m,
        root_of_m_in_float64,
        times_root_k,
        times_root_k_in_float64,
        root_in_float64,
        keys_not_turned,
        root_by_precedence,
        scores_turned,
        pairs_features,
        cosines,
    ),
    variants=(scores_by_einsum, scores_of_scaled_queries, scores_by_loops, scores_by_torch),
)


# ------------------------------------------------------------------------------------------------- softmax


def softmax(S: Float[np.ndarray, "*s"], axis: int = -1) -> Float[np.ndarray, "*s"]:
    """Along `axis`, entries become positive, keep their order, and add up to 1."""
    lines = np.moveaxis(np.asarray(S, np.float64), axis, -1)
    out = np.empty(lines.shape)
    for where in np.ndindex(lines.shape[:-1]):
        largest = max(lines[where])
        powers = [math.exp(s - largest) for s in lines[where]]
        total = math.fsum(powers)
        out[where] = [power / total for power in powers]
    return np.ascontiguousarray(np.moveaxis(out, -1, axis))


def columns_sum_to_one(S: F, axis: int = -1) -> F:
    """your columns add up to 1, whatever axis is asked for. Unless another axis is asked for it should be the last
    one: in a table of scores, each row."""
    E = np.exp(S - S.max(axis=0, keepdims=True))
    return E / E.sum(axis=0, keepdims=True)


def ignores_axis(S: F, axis: int = -1) -> F:
    """you work along the last axis even where another one is asked for. Hand the argument on."""
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


def over_everything(S: F, axis: int = -1) -> F:
    """your whole table adds up to 1. Each row should do so by itself: every query has its own weights to give away."""
    E = np.exp(S - S.max())
    return E / E.sum()


def no_keepdims(S: F, axis: int = -1) -> F:
    """the largest entries and the sums have lost their axis: [n, m] became [n], which numpy then lines up with the
    columns. Where n = m it says nothing; keep the axis, with size 1."""
    E = np.exp(S - S.max(axis=axis))
    return E / E.sum(axis=axis)


def sum_without_keepdims(S: F, axis: int = -1) -> F:
    """the sums have lost their axis: [n, m] became [n], which numpy then lines up with the columns. Where n = m it
    says nothing; keep the axis, with size 1."""
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis)


def max_without_keepdims(S: F, axis: int = -1) -> F:
    """the largest entries have lost their axis: [n, m] became [n], which numpy then subtracts from the columns.
    Where n = m it says nothing; keep the axis, with size 1."""
    E = np.exp(S - S.max(axis=axis))
    return E / E.sum(axis=axis, keepdims=True)


def global_max(S: F, axis: int = -1) -> F:
    """you subtracted the largest entry of the whole table. A row that lies far below it turns into zeros, and 0/0
    is not a number: each row needs a maximum of its own."""
    E = np.exp(S - S.max())
    return E / E.sum(axis=axis, keepdims=True)


def no_shift(S: F, axis: int = -1) -> F:
    """exp overflows: e to the 1000 is no float64. A constant subtracted from a whole row changes no weight;
    subtract one that makes every exponent at most 0."""
    E = np.exp(S)
    return E / E.sum(axis=axis, keepdims=True)


def neither_shift_nor_keepdims(S: F, axis: int = -1) -> F:
    """two things at once. The sums have lost their axis: [n, m] became [n], which numpy lines up with the columns. And
    exp overflows for scores of 1000: subtract something first that changes no weight."""
    E = np.exp(S)
    return E / E.sum(axis=axis)


def over_everything_unshifted(S: F, axis: int = -1) -> F:
    """two things at once. Your whole table adds up to 1, where each row should do so by itself. And exp overflows for
    scores of 1000: subtract something first that changes no weight."""
    E = np.exp(S)
    return E / E.sum()


def no_exponential(S: F, axis: int = -1) -> F:
    """you divided the scores themselves by their sum. Scores may be negative, and weights may not: first make every
    entry positive."""
    return S / S.sum(axis=axis, keepdims=True)


def shifts_in_place(S: F, axis: int = -1) -> F:
    """the weights are right, but the caller's table was changed on the way: `-=` and `out=` write into the array
    you were given."""
    S -= S.max(axis=axis, keepdims=True)
    E = np.exp(S)
    return E / E.sum(axis=axis, keepdims=True)


def casts_to_float64(S: F, axis: int = -1) -> F:
    """the numbers are right, but float32 went in and float64 came out. Leave the type as it is: a model in float32
    is half as large."""
    S = np.array(S, dtype=np.float64)
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True)


def softmax_by_logs(S: F, axis: int = -1) -> F:
    return np.exp(S - np.logaddexp.reduce(S, axis=axis, keepdims=True))


def softmax_slice_by_slice(S: F, axis: int = -1) -> F:
    def one(s: F) -> F:
        powers = np.exp(s - s.max())
        return powers / powers.sum()

    return np.apply_along_axis(one, axis, S)


def softmax_of_moved_axis(S: F, axis: int = -1) -> F:
    lines = np.moveaxis(S, axis, 0)
    powers = np.exp(lines - lines.max(0))
    return np.moveaxis(powers / powers.sum(0), 0, axis)


def softmax_by_torch(S: F, axis: int = -1) -> F:
    import torch

    return torch.softmax(torch.from_numpy(S.copy()), dim=axis).numpy()


def _tables(rng: np.random.Generator) -> list[Case]:
    n, m, b = sizes(rng, 3)
    return [
        case(normal(rng, n, m, scale=2.0)),
        case(normal(rng, m, scale=2.0)),
        case(normal(rng, b, n, m, scale=2.0)),
    ]


def _other_axes(rng: np.random.Generator) -> list[Case]:
    n, m, b = sizes(rng, 3)
    return [
        case(normal(rng, n, m, scale=2.0), 0),
        case(normal(rng, b, n, m, scale=2.0), 1),
        case(normal(rng, b, n, m, scale=2.0), -2),
        case(normal(rng, n, m, scale=2.0), 1),
    ]


def _square_tables(rng: np.random.Generator) -> list[Case]:
    n, b = sizes(rng, 2)
    return [case(normal(rng, n, n, scale=2.0)), case(normal(rng, b, n, n, scale=2.0))]


def _huge_scores(rng: np.random.Generator) -> list[Case]:
    n, m = sizes(rng, 2, low=3)
    S, T = normal(rng, n, m, scale=2.0), normal(rng, n, n, scale=2.0)
    S[0] += 1e4
    T[1] += 1e4
    T[2] -= 1e4
    low = normal(rng, n, m, scale=2.0) - 1e4
    spread = np.array([[1e4, -1e4, 0.0], [-1e4, -1e4, -1e4]])
    return [case(S), case(T), case(low), case(spread)]


def _tables_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, m = sizes(rng, 2)
    return [
        case(normal(rng, 1, m, scale=2.0)),
        case(normal(rng, n, 1, scale=2.0)),
        case(normal(rng, n, m, scale=2.0, dtype="float32")),
        case(normal(rng, n, m, scale=2.0, order="strided")),
        case(normal(rng, n, m, scale=2.0, order="F"), 0),
    ]


SOFTMAX = Exercise(
    oracle=softmax,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[1.0, 2.0], [3.0, 3.0]])),
        case(np.array([[1000.0, 1001.0], [0.0, 1.0]])),
        case(np.array([[0.0, 1.0, 2.0], [-1.0, -1.0, 3.0]])),
        case(np.array([[1.0, 4.0, 0.0], [3.0, 2.0, 0.5]]), 0),
        case(np.array([[1.0, 0.0, 3.0], [2.0, -2.0, 0.0]], np.float32)),
        case(np.array([[[1.0, 0.0], [2.0, 1.0], [0.0, -3.0]], [[0.0, 1.0], [0.0, 2.0], [4.0, 0.0]]]), 1),
    ),
    probes=(
        Probe("along the last axis of arrays with one, two and three axes", 0.5, _tables),
        Probe("along another axis when one is asked for", 0.5, _other_axes),
        Probe("square tables, where a lost axis goes unnoticed", 0.5, _square_tables),
        Probe("scores of ±10 000, in one row or in all", 1.0, _huge_scores),
        Probe("a single row, a single column, float32, and arrays that are not contiguous", 0.5, _tables_at_the_edge),
    ),
    mistakes=(
        columns_sum_to_one,
        ignores_axis,
        over_everything,
        no_keepdims,
        sum_without_keepdims,
        max_without_keepdims,
        global_max,
        no_shift,
        neither_shift_nor_keepdims,
        over_everything_unshifted,
        no_exponential,
        shifts_in_place,
        casts_to_float64,
    ),
    variants=(softmax_by_logs, softmax_slice_by_slice, softmax_of_moved_axis, softmax_by_torch),
)


# ----------------------------------------------------------------------------------------------- attention


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


# The mistakes below stand on these two, not on the oracles, whose loops would be counted as theirs.


def _rows_to_weights(S: F) -> F:
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


def _weights_of(Q: F, K: F) -> F:
    return _rows_to_weights(Q @ K.T / math.sqrt(Q.shape[1]))


def mixes_by_columns(Q: F, K: F, V: F) -> tuple[F, F]:
    """you mixed the values by the columns of the weights (A.T @ V). It runs only where n = m. The weights of query
    i lie in row i."""
    A = _weights_of(Q, K)
    return A.T @ V, A


def scale_after_softmax(Q: F, K: F, V: F) -> tuple[F, F]:
    """you scaled the weights after softmax, so no row adds up to 1 any more. The scale belongs to the scores,
    before softmax."""
    A = _rows_to_weights(Q @ K.T) / math.sqrt(Q.shape[1])
    return A @ V, A


def scale_after_softmax_in_float64(Q: F, K: F, V: F) -> tuple[F, F]:
    """you scaled the weights after softmax, so no row adds up to 1 any more. The scale belongs to the scores,
    before softmax. (And numpy's root of an integer turns float32 into float64.)"""
    A = _rows_to_weights(Q @ K.T) / np.sqrt(Q.shape[1])
    return A @ V, A


def unscaled(Q: F, K: F, V: F) -> tuple[F, F]:
    """your scores went into softmax unscaled. You have written a function that scales them."""
    A = _rows_to_weights(Q @ K.T)
    return A @ V, A


def scaled_twice(Q: F, K: F, V: F) -> tuple[F, F]:
    """you scaled the scores a second time. scaled_scores has divided them already."""
    A = _rows_to_weights(Q @ K.T / Q.shape[1])
    return A @ V, A


def softmax_after_values(Q: F, K: F, V: F) -> tuple[F, F]:
    """you mixed the values with the raw scores and took softmax of the mixture. Scores have to become weights
    before anything is mixed."""
    S = Q @ K.T / math.sqrt(Q.shape[1])
    return _rows_to_weights(S @ V), _rows_to_weights(S)


def softmax_over_queries(Q: F, K: F, V: F) -> tuple[F, F]:
    """your weights add up to 1 down each column, so that queries compete for a key. It is the keys that compete:
    each row adds up to 1."""
    A = _rows_to_weights((Q @ K.T / math.sqrt(Q.shape[1])).T).T
    return A @ V, A


def scores_for_weights(Q: F, K: F, V: F) -> tuple[F, F]:
    """the mixtures are right, but what you return as weights are still the scores, before softmax."""
    S = Q @ K.T / math.sqrt(Q.shape[1])
    return _rows_to_weights(S) @ V, S


def mixes_keys(Q: F, K: F, V: F) -> tuple[F, F]:
    """you mixed the keys. Keys are for finding; what is taken along are the values."""
    A = _weights_of(Q, K)
    return A @ K, A


def weights_first(Q: F, K: F, V: F) -> tuple[F, F]:
    """you returned the weights first. The order is mixtures, then weights."""
    A = _weights_of(Q, K)
    return A, A @ V


def weights_left_out(Q: F, K: F, V: F) -> F:
    """you returned the mixtures alone. The weights are wanted too, as the second part of a tuple: notebooks to come
    look at them."""
    return _weights_of(Q, K) @ V


def loops_over_tokens(Q: F, K: F, V: F) -> tuple[F, F]:
    """the numbers are right, and you visit one token after another. One product has all queries meet all keys,
    another adds up all values: no loop is left, and none in a comprehension."""
    rows = []
    for query in Q:
        rows.append(_weights_of(query[None, :], K))
    A = np.concatenate(rows)
    return A @ V, A


def attention_by_einsum(Q: F, K: F, V: F) -> tuple[F, F]:
    A = _rows_to_weights(np.einsum("nk,mk->nm", Q, K) / math.sqrt(Q.shape[1]))
    return np.einsum("nm,mv->nv", A, V), A


def attention_normalised_last(Q: F, K: F, V: F) -> tuple[F, F]:
    S = (Q / math.sqrt(Q.shape[1])) @ K.T
    E = np.exp(S - S.max(axis=1, keepdims=True))
    total = E.sum(axis=1, keepdims=True)
    return (E @ V) / total, E / total


def attention_by_broadcast(Q: F, K: F, V: F) -> tuple[F, F]:
    A = _rows_to_weights((Q[:, None, :] * K[None, :, :]).sum(axis=-1) / math.sqrt(Q.shape[1]))
    return (A[:, :, None] * V[None, :, :]).sum(axis=1), A


def attention_by_torch(Q: F, K: F, V: F) -> tuple[F, F]:
    import torch

    q, keys, values = (torch.from_numpy(a.copy()) for a in (Q, K, V))
    A = torch.softmax(q @ keys.T / math.sqrt(q.shape[1]), dim=-1)
    return (A @ values).numpy(), A.numpy()


def _heads(rng: np.random.Generator) -> list[Case]:
    n, m, k, v = sizes(rng, 4)
    return [
        case(normal(rng, n, k, scale=2.0), normal(rng, m, k), normal(rng, m, v)),
        case(normal(rng, v, n, scale=2.0), normal(rng, k, n), normal(rng, k, m)),
    ]


def _heads_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    n, m, k, v = sizes(rng, 4)
    return [
        case(normal(rng, n, k, scale=2.0), normal(rng, n, k), normal(rng, n, v)),  # n = m: A.T @ V runs
        case(normal(rng, n, k, scale=2.0), normal(rng, m, k), normal(rng, m, k)),  # k = v: keys pass for values
        case(normal(rng, n, k, scale=2.0), normal(rng, m, k), normal(rng, m, m)),  # m = v: outputs pass for weights
        case(normal(rng, k, k, scale=2.0), normal(rng, k, k), normal(rng, k, k)),
    ]


def _heads_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, m, k, v = sizes(rng, 4)
    return [
        case(normal(rng, 1, k, scale=2.0), normal(rng, m, k), normal(rng, m, v)),
        case(normal(rng, n, k, scale=2.0), normal(rng, 1, k), normal(rng, 1, v)),
        case(normal(rng, n, k, scale=1e4), normal(rng, m, k), normal(rng, m, v)),
        case(normal(rng, n, k, scale=2.0, dtype="float32"), *(normal(rng, m, w, dtype="float32") for w in (k, v))),
        case(normal(rng, n, k, scale=2.0, order="F"), normal(rng, m, k, order="strided"), normal(rng, m, v, order="F")),
    ]


def _few_and_many_tokens(rng: np.random.Generator) -> list[Case]:
    k, v = sizes(rng, 2)
    sizes_of = ((2, 3), (31, 40))
    return [case(normal(rng, n, k, scale=2.0), normal(rng, m, k), normal(rng, m, v)) for n, m in sizes_of]


def _pattern(rows: int, columns: int, step: int) -> F:
    """A table of small whole numbers, from -3 to 3, that looks like nothing in particular."""
    return (np.arange(rows * columns) * step % 7 - 3.0).reshape(rows, columns)


ATTENTION = Exercise(
    oracle=attention,
    notebook=NOTEBOOK,
    public=(
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
        case(_pattern(26, 3, 5), _pattern(32, 3, 4), _pattern(32, 2, 3)),
    ),
    probes=(
        Probe("the mixtures and their weights, all sizes different", 1.5, _heads),
        Probe("the same where sizes coincide and other products would run too", 1.0, _heads_where_sizes_coincide),
        Probe(
            "one query, one key, scores of ±10 000, float32, and arrays that are not contiguous",
            1.0,
            _heads_at_the_edge,
        ),
        Probe("no more Python lines for many tokens than for few", 0.5, _few_and_many_tokens, "lines"),
    ),
    mistakes=(
        mixes_by_columns,
        scale_after_softmax,
        scale_after_softmax_in_float64,
        unscaled,
        scaled_twice,
        softmax_after_values,
        softmax_over_queries,
        scores_for_weights,
        mixes_keys,
        weights_first,
        weights_left_out,
        loops_over_tokens,
    ),
    variants=(attention_by_einsum, attention_normalised_last, attention_by_broadcast, attention_by_torch),
    uses=("scaled_scores", "softmax"),
)


# ---------------------------------------------------------------------------------------------- saturation


def saturation(Q: Float[np.ndarray, "n k"], K: Float[np.ndarray, "m k"]) -> tuple[float, float]:
    """Mean row entropy of the weights over its largest value, log m: of unscaled scores, then of scaled ones."""
    n, m, k = len(Q), len(K), Q.shape[1]
    found = []
    for scale in (1.0, math.sqrt(k)):
        entropies = []
        for i in range(n):
            scores = [sum(Q[i, x] * K[j, x] for x in range(k)) / scale for j in range(m)]
            powers = [math.exp(s - max(scores)) for s in scores]
            weights = [power / math.fsum(powers) for power in powers]
            entropies.append(-math.fsum(p * math.log(p) for p in weights if p > 0))
        found.append(math.fsum(entropies) / n / math.log(m))
    return found[0], found[1]


def _entropies(A: F) -> F:
    logs = np.log(np.where(A > 0, A, 1.0))
    return -(A * logs).sum(axis=1)


def over_log_k(Q: F, K: F) -> tuple[float, float]:
    """you divided by log k, and k is the width of a key. Entropy is largest when all keys share the weight evenly:
    how many are they?"""
    top = np.log(K.shape[1])
    return _entropies(softmax(Q @ K.T)).mean() / top, _entropies(softmax(scaled_scores(Q, K))).mean() / top


def over_log_n(Q: F, K: F) -> tuple[float, float]:
    """you divided by log n, and n counts the queries. Each row spreads its weight over the keys: how many are they?"""
    top = np.log(Q.shape[0])
    return _entropies(softmax(Q @ K.T)).mean() / top, _entropies(softmax(scaled_scores(Q, K))).mean() / top


def not_normalised(Q: F, K: F) -> tuple[float, float]:
    """this is the entropy in nats. Divide by the largest value it can have, so that 1 means even weights, for any
    number of keys."""
    return _entropies(softmax(Q @ K.T)).mean(), _entropies(softmax(scaled_scores(Q, K))).mean()


def zero_times_log_zero(Q: F, K: F) -> tuple[float, float]:
    """where a weight is exactly 0 you get 0 · log 0, and numpy makes 0 · (-inf) = nan of it. A key without weight
    adds nothing to the entropy."""
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    first, second = (-(P * np.log(P)).sum(axis=1).mean() / np.log(len(K)) for P in (A, B))
    return first, second


def drops_saturated_rows(Q: F, K: F) -> tuple[float, float]:
    """rows with a weight of exactly 0 fell out of your mean, since their entropy came out as nan. They are the
    saturated ones, and their entropy is a number: leave out the zero weight, not the row."""
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    first, second = (np.nanmean(-(P * np.log(P)).sum(axis=1)) / np.log(len(K)) for P in (A, B))
    return first, second


def nudged_logarithm(Q: F, K: F) -> tuple[float, float]:
    """you added 1e-9 inside the logarithm to keep it finite, and that moves the ninth digit. What a weight of 0
    contributes can be said exactly."""
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    first, second = (-(P * np.log(P + 1e-9)).sum(axis=1).mean() / np.log(len(K)) for P in (A, B))
    return first, second


def averages_the_weights_first(Q: F, K: F) -> tuple[float, float]:
    """you averaged the weights over the queries, and took the entropy of the average. Two queries that each stare
    at one key, but not at the same one, are saturated, and their average is not."""
    top = np.log(len(K))
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    first, second = (_entropies(P.mean(axis=0, keepdims=True))[0] / top for P in (A, B))
    return first, second


def mean_over_everything(Q: F, K: F) -> tuple[float, float]:
    """you took the mean over all entries. The entropy of a row is the sum of its terms; the mean comes after, over rows."""
    results = []
    for S in (Q @ K.T, Q @ K.T / Q.shape[1] ** 0.5):
        A = softmax(S)
        results.append(float(-(A * np.log(np.where(A > 0, A, 1.0))).mean() / np.log(len(K))))
    return results[0], results[1]


def adds_up_the_rows(Q: F, K: F) -> tuple[float, float]:
    """you added up the entropies of all rows. The mean of them is wanted, or more queries would look less saturated."""
    top = np.log(len(K))
    return _entropies(softmax(Q @ K.T)).sum() / top, _entropies(softmax(scaled_scores(Q, K))).sum() / top


def scaled_comes_first(Q: F, K: F) -> tuple[float, float]:
    """you returned the scaled one first. The order is unscaled, then scaled."""
    top = np.log(len(K))
    return _entropies(softmax(scaled_scores(Q, K))).mean() / top, _entropies(softmax(Q @ K.T)).mean() / top


def sign_forgotten(Q: F, K: F) -> tuple[float, float]:
    """your entropies are negative. The logarithm of a weight is at most 0, and entropy carries a minus sign to make
    up for it."""
    top = np.log(len(K))
    return -_entropies(softmax(Q @ K.T)).mean() / top, -_entropies(softmax(scaled_scores(Q, K))).mean() / top


def bits_over_nats(Q: F, K: F) -> tuple[float, float]:
    """you took logarithms to base 2 in the entropy and natural ones below, or the other way round. Either will do,
    if both are the same."""
    top = np.log(len(K)) * np.log(2)
    return _entropies(softmax(Q @ K.T)).mean() / top, _entropies(softmax(scaled_scores(Q, K))).mean() / top


def entropy_of_columns(Q: F, K: F) -> tuple[float, float]:
    """you summed over the queries and averaged over the keys. The weights of one query are a row; the entropy is
    that of a row."""
    top = np.log(len(K))
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    return _entropies(A.T).mean() / top, _entropies(B.T).mean() / top


def saturation_by_where(Q: F, K: F) -> tuple[float, float]:
    def evenness(S: F) -> float:
        A = softmax(S)
        terms = np.zeros_like(A)
        np.log(A, out=terms, where=A > 0)
        return float(-(A * terms).sum(axis=-1).mean() / math.log(K.shape[0]))

    return evenness(Q @ K.T), evenness(scaled_scores(Q, K))


def saturation_by_nansum(Q: F, K: F) -> tuple[float, float]:
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    with np.errstate(all="ignore"):
        first, second = (-np.nansum(P * np.log(P), axis=1).mean() / np.log(len(K)) for P in (A, B))
    return first, second


def saturation_by_log_sums(Q: F, K: F) -> tuple[float, float]:
    def evenness(S: F) -> float:
        S = S - S.max(axis=1, keepdims=True)
        totals = np.log(np.exp(S).sum(axis=1))
        return float(np.mean(totals - (softmax(S) * S).sum(axis=1)) / np.log(S.shape[1]))

    return evenness(Q @ K.T), evenness(scaled_scores(Q, K))


def saturation_by_loops(Q: F, K: F) -> tuple[float, float]:
    found = []
    for S in (Q @ K.T, scaled_scores(Q, K)):
        entropies = [sum(-p * math.log(p) for p in row if p > 0) for row in softmax(S)]
        found.append(sum(entropies) / len(entropies) / math.log(len(K)))
    return found[0], found[1]


def saturation_in_bits(Q: F, K: F) -> tuple[float, float]:
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    first, second = (-np.sum(P * np.log2(np.maximum(P, 1e-300)), axis=1).mean() / np.log2(len(K)) for P in (A, B))
    return first, second


def _moderate(rng: np.random.Generator) -> list[Case]:
    n, m, k = sizes(rng, 3, low=3)
    return [case(normal(rng, n, k), normal(rng, m, k)), case(normal(rng, m, n), normal(rng, k, n))]


def _saturated(rng: np.random.Generator) -> list[Case]:
    n, m, k = sizes(rng, 3, low=3)
    few, many = normal(rng, n, k), normal(rng, n, k)
    few[0] *= 1e4  # a saturated row has weights of exactly 0
    many[1:] *= 1e4  # one row stays moderate: where all are saturated, nothing but rounding is left of the entropy
    return [case(few, normal(rng, m, k)), case(many, normal(rng, m, k))]


def _saturation_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, m, k = sizes(rng, 3, low=3)
    return [
        case(normal(rng, 1, k), normal(rng, m, k)),
        case(np.zeros((n, k)), normal(rng, m, k)),  # even weights: 1 and 1
        case(normal(rng, n, k, order="strided"), normal(rng, m, k, order="F")),
        case(normal(rng, n, n), normal(rng, n, n)),
    ]


SATURATION = Exercise(
    oracle=saturation,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[2.0, 0.0, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])),
        case(
            np.array([[3.0, 0.0], [0.0, -2.0], [0.5, 1.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0], [0.0, 0.5]])
        ),
        case(
            np.array([[1000.0, 0.0, 0.0], [0.0, 1.0, 0.5]]),
            np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
        ),
    ),
    probes=(
        Probe("the two numbers on moderate scores, all sizes different", 1.0, _moderate),
        Probe("rows so saturated that some weights are exactly 0", 0.5, _saturated),
        Probe(
            "a single query, even weights, equal sizes, and arrays that are not contiguous",
            0.5,
            _saturation_at_the_edge,
        ),
    ),
    mistakes=(
        over_log_k,
        over_log_n,
        not_normalised,
        zero_times_log_zero,
        drops_saturated_rows,
        nudged_logarithm,
        averages_the_weights_first,
        mean_over_everything,
        adds_up_the_rows,
        scaled_comes_first,
        sign_forgotten,
        bits_over_nats,
        entropy_of_columns,
    ),
    variants=(
        saturation_by_where,
        saturation_by_nansum,
        saturation_by_log_sums,
        saturation_by_loops,
        saturation_in_bits,
    ),
    uses=("scaled_scores", "softmax"),
)


# ------------------------------------------------------------------------------------------- repair_claims

Witness = tuple[Float[np.ndarray, "n k"], Float[np.ndarray, "m k"], Float[np.ndarray, "m v"]]
Verdicts = dict[str, Any]


def repair_claims() -> dict[str, Witness | None]:
    """Each claim: None where it holds, or arrays on which its two sides differ."""
    Q = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 1.0]])
    K = np.array([[1.0, 0.0, 1.0], [2.0, 1.0, 0.0], [0.0, 1.0, 3.0], [1.0, 1.0, 1.0]])
    V = np.array(
        [[1.0, 0.0, 2.0, 0.0, 1.0], [0.0, 3.0, 1.0, 1.0, 0.0], [2.0, 0.0, 0.0, 5.0, 1.0], [1.0, 1.0, 4.0, 0.0, 2.0]]
    )
    square = np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 1.0], [0.0, 1.0, 2.0]])
    return {
        "no_transpose": (Q, square, V[:3]),
        "output_width": (Q, K, V),
        "one_width": (Q, K, V),
        "flops": None,
        "not_itself": (Q, K, V),
        "rows_by_transpose": None,
    }


def _all_different() -> tuple[F, F, F]:
    """Queries [2, 3], keys [4, 3], values [4, 5]: no two sizes are equal, no entry is special."""
    Q = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 1.0]])
    K = np.array([[1.0, 0.0, 1.0], [2.0, 1.0, 0.0], [0.0, 1.0, 3.0], [1.0, 1.0, 2.0]])
    V = np.array(
        [[1.0, 0.0, 2.0, 0.0, 1.0], [0.0, 3.0, 1.0, 1.0, 0.0], [2.0, 0.0, 0.0, 5.0, 1.0], [1.0, 1.0, 4.0, 0.0, 2.0]]
    )
    return Q, K, V


def _all_equal() -> tuple[F, F, F]:
    """All sizes 2."""
    return np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([[1.0, 3.0], [2.0, 1.0]]), np.array([[1.0, 5.0], [3.0, 0.0]])


def _repaired() -> Verdicts:
    w, (Q, _, V) = _all_different(), _all_different()
    square = np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 1.0], [0.0, 1.0, 2.0]])
    return {
        "no_transpose": (Q, square, V[:3]),
        "output_width": w,
        "one_width": w,
        "flops": None,
        "not_itself": w,
        "rows_by_transpose": None,
    }


def coincidence_for_proof() -> Verdicts:
    """you let Q @ K stand. It runs where m = k, and even gives the right shape there, but the numbers are others:
    compare the two sides entry by entry."""
    return {**_repaired(), "no_transpose": None}


def only_where_it_cannot_run() -> Verdicts:
    """on your arrays Q @ K cannot be computed at all. That leaves open whether it is right where it can: take m = k."""
    return {**_repaired(), "no_transpose": _all_different()}


def symmetric_keys() -> Verdicts:
    """your witness against Q @ K has keys that equal their own transpose (the identity, for one), and there the two
    sides agree. Take keys without that symmetry."""
    Q, _, _ = _all_equal()
    return {**_repaired(), "no_transpose": (Q, np.eye(2), np.ones((2, 1)))}


def twelve_is_not_sixteen() -> Verdicts:
    """you refuted the operation count. The claim counts a multiplication together with an addition as two, also where
    nothing is added yet. By that rule, which is the one of notebook 00, both sides agree on all arrays."""
    return {**_repaired(), "flops": _all_equal()}


def output_as_wide_as_a_query() -> Verdicts:
    """you let it stand that an output is as wide as a query. An output row is a mixture of rows of V: whose width
    does it have?"""
    return {**_repaired(), "output_width": None}


def one_width_for_all() -> Verdicts:
    """you let one width do for all. In most models k = v, and that is a choice: nothing in the formula compares a
    value with a key."""
    return {**_repaired(), "one_width": None}


def witnesses_with_equal_widths() -> Verdicts:
    """where the claim is about widths, your witness has k = v, and both sides agree there. What is claimed for all
    sizes must be tried where the sizes differ."""
    return {**_repaired(), "output_width": _all_equal(), "one_width": _all_equal()}


def leaves_itself_out() -> Verdicts:
    """you let j ≠ i stand. A token attends to itself as well, often most of all: what is missing from the sum if it
    does not?"""
    return {**_repaired(), "not_itself": None}


def nothing_to_leave_out() -> Verdicts:
    """your witness against j ≠ i leaves nothing out: the terms with j = i are zero in it, by their values or by their
    weights. A missing zero changes no sum."""
    Q, K, V = _all_different()
    hollow = V.copy()
    hollow[: len(Q)] = 0.0
    return {**_repaired(), "not_itself": (Q, K, hollow)}


def transposed_rows_refused() -> Verdicts:
    """you refused Vᵀaᵢ. It is row i of AV written as a column: transposing a product turns both factors and their
    order."""
    return {**_repaired(), "rows_by_transpose": _all_different()}


def everything_holds() -> Verdicts:
    """you let all six stand. Try each on arrays whose sizes all differ; what is false hardly ever survives that."""
    return dict.fromkeys(_repaired())


def everything_is_false() -> Verdicts:
    """you refuted all six. Two of the claims have equal sides on your arrays, and on all others. A witness has to make the
    sides differ; where no arrays do, the claim holds."""
    return {name: witness or _all_different() for name, witness in _repaired().items()}


def nothing_but_coincidences() -> Verdicts:
    """you let the three claims about shapes stand. Where all sizes are equal each of them runs, and every shape
    fits; let the sizes differ."""
    return {**_repaired(), "no_transpose": None, "output_width": None, "one_width": None}


def yes_and_no() -> Verdicts:
    """you answered with True and False. A claim that holds is answered with None, and one that does not with arrays
    that show it."""
    return {name: entry is None for name, entry in _repaired().items()}


def not_even_witnesses() -> Verdicts:
    """you chose the right four, but what you hand in against them are no witnesses. A witness is three numpy arrays
    with two axes each; queries and keys are equally wide, and there are as many values as keys."""
    return {name: entry and [part.tolist() for part in entry] for name, entry in _repaired().items()}


def repaired_with_one_witness() -> Verdicts:
    return _repaired()


def repaired_at_random() -> Verdicts:
    rng = np.random.default_rng(5)
    n, m, k, v = 3, 5, 2, 4
    w = (rng.standard_normal((n, k)), rng.standard_normal((m, k)), rng.standard_normal((m, v)))
    square = (rng.standard_normal((n, k)), rng.standard_normal((k, k)), rng.standard_normal((k, v)))
    holds = dict.fromkeys(("flops", "rows_by_transpose"))
    return {**dict.fromkeys(_repaired(), w), "no_transpose": square, **holds}


def repaired_with_small_witnesses() -> Verdicts:
    one = np.ones((1, 1))
    Q, K, V = _all_equal()
    wide = (one, one, np.ones((1, 2)))
    return {
        "rows_by_transpose": None,
        "flops": None,
        "no_transpose": (Q, K, V),
        "output_width": wide,
        "one_width": wide,
        "not_itself": (one, one, one),
    }


def repaired_with_whole_numbers() -> Verdicts:
    return {
        name: entry and [np.round(2 * part).astype(np.int64) for part in entry] for name, entry in _repaired().items()
    }


def _one_call(rng: np.random.Generator) -> list[Case]:
    return [case()]


REPAIR_CLAIMS = Exercise(
    oracle=repair_claims,
    notebook=NOTEBOOK,
    public=(case(),),
    probes=tuple(
        Probe(f"{name}: refuted by arrays on which its sides differ, or rightly left", 0.5, _one_call, part=name)
        for name in _repaired()
    ),
    mistakes=(
        coincidence_for_proof,
        only_where_it_cannot_run,
        symmetric_keys,
        twelve_is_not_sixteen,
        output_as_wide_as_a_query,
        one_width_for_all,
        witnesses_with_equal_widths,
        leaves_itself_out,
        nothing_to_leave_out,
        transposed_rows_refused,
        everything_holds,
        everything_is_false,
        nothing_but_coincidences,
        yes_and_no,
        not_even_witnesses,
    ),
    variants=(
        repaired_with_one_witness,
        repaired_at_random,
        repaired_with_small_witnesses,
        repaired_with_whole_numbers,
    ),
    view="claims",
)

EXERCISES = (QKV, SCALED_SCORES, SOFTMAX, ATTENTION, SATURATION, REPAIR_CLAIMS)
