"""Queries, keys and values of all tokens, three products.

A row of `X` times a weight is the row of the same token, and one product does it for all of them: `[n, d] @ [d, k]`
is `[n, k]`. There are three weights because what a token looks for, what it can be found by and what it hands over
are three things. Nothing is turned, since weights multiply rows from the right as they stand; `X @ W.T` runs only
where `W` is square, and is wrong there. One product with the weights side by side is right too, if it is cut after k
and after 2k columns: thirds fit only where v is k.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.matrices.parts import some_numbers
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
    case(some_numbers(1, 3, 4), some_numbers(2, 4, 5), some_numbers(3, 4, 5), some_numbers(4, 4, 2)),
    case(*(some_numbers(5 + i, *shape, dtype="float32") for i, shape in enumerate(((2, 4), (4, 5), (4, 5), (4, 3))))),
    case(some_numbers(9, 1, 4), some_numbers(10, 4, 5), some_numbers(11, 4, 5), some_numbers(12, 4, 3)),
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


def _sizes(rng: np.random.Generator) -> tuple[int, int, int, int]:
    """n, d, k and v, pairwise distinct; v is so much more than k that a third of all columns is neither."""
    k = int(rng.integers(2, 6))
    v = k + 4
    n, d = (int(size) for size in rng.choice([size for size in range(2, 10) if size not in (k, v)], 2, replace=False))
    return n, d, k, v


@probe(1.0)
def projections(rng: np.random.Generator) -> list[Case]:
    """queries, keys and values, in this order, all sizes different"""
    n, d, k, v = _sizes(rng)
    return [
        case(normal(rng, n, d), *_weights(rng, d, k, v)),
        case(normal(rng, v, n), *_weights(rng, n, d, k)),
        case(normal(rng, 11, 10), *_weights(rng, 10, k, k + 3)),  # the columns can be shared out among three
    ]


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
    """a single token, float32, and arrays that lie otherwise in memory, as a transpose does"""
    n, d, k, v = _sizes(rng)
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
def tokens_for_values(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """your values are the tokens themselves. What a token hands over is made from it too, with a weight of its own."""
    return X @ Wq, X @ Wk, X


@mistake
def uneven_thirds(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, ...]:
    """you cut one wide product into three parts that are as equal as they can be. Values may have another width than queries and
    keys: cut after k and after 2k columns."""
    return tuple(np.array_split(X @ np.concatenate([Wq, Wk, Wv], axis=1), 3, axis=1))


@mistake
def one_weight_for_both(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """your keys were made with the weight of the queries. What a token looks for and what it offers are two
    different things, so there are two weights."""
    return X @ Wq, X @ Wq, X @ Wv


@mistake
def weight_of_keys_for_both(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """your queries were made with the weight of the keys. What a token looks for and what it offers are two
    different things, so there are two weights."""
    return X @ Wk, X @ Wk, X @ Wv


@mistake
def weight_of_keys_for_values(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """your values were made with the weight of the keys. They have a weight of their own, and often another width."""
    return X @ Wq, X @ Wk, X @ Wk


@mistake
def weight_of_queries_for_values(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """your values were made with the weight of the queries. They have a weight of their own, and often another width."""
    return X @ Wq, X @ Wk, X @ Wq


@mistake
def weight_of_values_for_keys(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """your keys were made with the weight of the values. They have a weight of their own."""
    return X @ Wq, X @ Wv, X @ Wv


@mistake
def one_weight_for_all(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """all three were made with the weight of the queries. There are three weights, one for each."""
    return X @ Wq, X @ Wq, X @ Wq


@mistake
def values_first(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you returned the values first and the queries last. The order is queries, keys, values."""
    return X @ Wv, X @ Wk, X @ Wq


@mistake
def keys_values_queries(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you returned keys, values, queries. The order is queries, keys, values."""
    return X @ Wk, X @ Wv, X @ Wq


@mistake
def values_queries_keys(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you returned values, queries, keys. The order is queries, keys, values."""
    return X @ Wv, X @ Wq, X @ Wk


@mistake
def cut_into_thirds(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you put the three weights side by side and cut what they give into three equal parts. Values may have another width than queries
    and keys: cut where each weight ends."""
    Z = X @ np.concatenate([Wq, Wk, Wv], axis=1)
    third = Z.shape[1] // 3
    return Z[:, :third], Z[:, third : 2 * third], Z[:, 2 * third :]


@mistake
def split_into_thirds(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you put the three weights side by side and split what they give into three equal parts. Values may have another width than queries
    and keys: `np.split` can be told where each weight ends."""
    q, k, v = np.split(X @ np.concatenate([Wq, Wk, Wv], axis=1), 3, axis=1)
    return q, k, v


@mistake
def last_token_left_out(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """the last token's rows are 0, as np.zeros made them: your loop ends one token too early. `range(n)` already stops at n - 1,
    the last index."""
    q, k, v = X @ Wq, X @ Wk, X @ Wv
    q[-1], k[-1], v[-1] = 0, 0, 0
    return q, k, v


@mistake
def all_in_one_table(X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you returned one table in which queries, keys and values stand side by side. Return three tables, in a tuple."""
    return X @ np.concatenate([Wq, Wk, Wv], axis=1)


@mistake
def keys_stood_up_already(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """your keys stand in columns already. That is for the product with the queries, in the next exercise; here a token is a row, in
    all three."""
    return X @ Wq, (X @ Wk).T, X @ Wv


@mistake
def weights_reshaped(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you put the numbers of a weight into another order with `reshape`. A weight is [d, k] already, and multiplies a row from the
    right as it stands."""
    return X @ Wq.T.reshape(Wq.shape), X @ Wk.T.reshape(Wk.shape), X @ Wv.T.reshape(Wv.shape)


@mistake
def scaled_queries(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you divided the queries by √k. The scale belongs to the scores, in the next exercise; a query is a token times a weight, and that is
    all."""
    return X @ Wq / Wq.shape[1] ** 0.5, X @ Wk, X @ Wv


@mistake
def scaled_queries_and_keys(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you divided queries and keys by a root of k. The scale belongs to the scores, in the next exercise; a query is a token times a
    weight, and that is all."""
    root = Wq.shape[1] ** 0.25
    return X @ Wq / root, X @ Wk / root, X @ Wv


@mistake
def first_token_only(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you did it for token 0 alone. Each token has a row in each of the three tables; does something return too early?"""
    return X[0] @ Wq, X[0] @ Wk, X[0] @ Wv


@mistake
def last_token_everywhere(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """every row belongs to the last token. Either each turn of a loop fills the same array again, or the token in use is always the
    last one."""
    n = len(X)
    q, k, v = np.stack([X[-1] @ Wq] * n), np.stack([X[-1] @ Wk] * n), np.stack([X[-1] @ Wv] * n)
    return q, k, v


@mistake
def list_of_three(X: F, Wq: F, Wk: F, Wv: F) -> list[F]:
    """all three are right, and they stand in a list. A tuple is asked for: three values with commas between them."""
    return [X @ W for W in (Wq, Wk, Wv)]


@mistake
def three_by_name(X: F, Wq: F, Wk: F, Wv: F) -> dict[str, F]:
    """you returned a dictionary. A tuple is asked for: queries, keys, values."""
    return {"Q": X @ Wq, "K": X @ Wk, "V": X @ Wv}


@mistake
def three_in_float64(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """float32 went in and float64 came out. `np.zeros` is float64 unless it is told otherwise, and so are `astype(float)` and an array made of Python's floats;
    a product keeps the type."""
    q, k, v = ((X @ W).astype(np.float64) for W in (Wq, Wk, Wv))
    return q, k, v


@mistake
def three_in_float32(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """float64 numbers went in and float32 came out: they were turned into float32, or put into an array of it. float32 keeps about
    seven of their sixteen digits."""
    q, k, v = (X.astype(np.float32) @ W.astype(np.float32) for W in (Wq, Wk, Wv))
    return q, k, v


@mistake
def one_after_another(X: F, Wq: F, Wk: F, Wv: F) -> tuple[F, F, F]:
    """you made the keys from the queries. All three are made from the tokens themselves, each with a weight of its own."""
    Q = X @ Wq
    return Q, Q @ Wk, X @ Wv


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
