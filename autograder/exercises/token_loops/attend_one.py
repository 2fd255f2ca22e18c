"""The output of attention for one token."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right
from autograder.exercises.token_loops.parts import (
    LAYOUTS,
    WK2,
    WK3,
    WK4,
    WQ2,
    WQ3,
    WQ4,
    WV2,
    WV3,
    WV4,
    X2,
    X3,
    X4,
    tokens_and_weights,
)
from autograder.exercises.token_loops.softmax_1d import softmax_1d

USES = ("softmax_1d",)


def attend_one(
    i: int,
    X: Float[np.ndarray, "n d"],
    Wq: Float[np.ndarray, "d k"],
    Wk: Float[np.ndarray, "d k"],
    Wv: Float[np.ndarray, "d v"],
) -> Float[np.ndarray, "v"]:
    """The mix of all values, weighted by how well each key fits the query of token i."""
    n, d = X.shape
    k, v = Wq.shape[1], Wv.shape[1]
    query = [sum(X[i, x] * Wq[x, a] for x in range(d)) for a in range(k)]
    scores = []
    for j in range(n):
        key = [sum(X[j, x] * Wk[x, a] for x in range(d)) for a in range(k)]
        scores.append(sum(query[a] * key[a] for a in range(k)) / math.sqrt(k))
    powers = [math.exp(score - max(scores)) for score in scores]
    out = np.zeros(v)
    for j in range(n):
        for a in range(v):
            out[a] += powers[j] / sum(powers) * sum(X[j, x] * Wv[x, a] for x in range(d))
    return out


PUBLIC = (
    case(0, X2, WQ2, WK2, WV2),
    case(2, X3, WQ3, WK3, WV3),
    case(1, 50 * X3, 2 * WQ3, WK3, WV3),
    case(1, X4, WQ4, WK4, WV4),
    case(0, *(array.astype(np.float32) for array in (X4, WQ4, WK4, WV4))),
)


@probe(2.0)
def one_token(rng: np.random.Generator) -> list[Case]:
    """the output of the first, a middle and the last token, all sizes different"""
    n, d, k, v = sizes(rng, 4, low=3)
    middle = int(rng.integers(1, n - 1))
    return [case(i, *tokens_and_weights(rng, n, d, k, v)) for i in (0, middle, n - 1)]


@probe(1.0)
def one_token_same_sizes(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide and a wrong turn would give the right shape"""
    n, d, k = sizes(rng, 3)
    i = int(rng.integers(n))
    return [
        case(i, *tokens_and_weights(rng, n, d, d, d)),  # weights from the left run
        case(i, *tokens_and_weights(rng, n, d, k, d)),  # mixing tokens gives the right shape
        case(i, *tokens_and_weights(rng, n, d, k, k)),  # so does mixing keys
        case(i, *tokens_and_weights(rng, n, d, k, n)),  # so do the weights
    ]


@probe(0.5)
def one_token_extreme(rng: np.random.Generator) -> list[Case]:
    """a text of one token, and scores in the thousands"""
    n, d, k, v = sizes(rng, 4, low=3)
    i, top = 0, 0.0
    while top < 1000:  # past what the exponential of a float64 can hold
        X, Wq, Wk, Wv = tokens_and_weights(rng, n, d, k, v, spread=1e4)
        scores = X @ Wq @ (X @ Wk).T / math.sqrt(k)
        i, top = int(scores.max(axis=1).argmax()), scores.max()
    return [case(0, *tokens_and_weights(rng, 1, d, k, v)), case(i, X, Wq, Wk, Wv)]


@probe(0.5)
def one_token_dtypes(rng: np.random.Generator) -> list[Case]:
    """float32, and arrays that are not contiguous"""
    n, d, k, v = sizes(rng, 4)
    i, j = (int(index) for index in rng.integers(n, size=2))
    return [
        case(i, *tokens_and_weights(rng, n, d, k, v, dtype="float32")),
        case(j, *tokens_and_weights(rng, n, d, k, v, orders=LAYOUTS)),
    ]


@mistake
def leaves_itself_out(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you left token i out of its own sum. Token i is one of the tokens it may listen to: j runs over all n."""
    others = np.delete(X, i, axis=0)
    return softmax_1d(others @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (others @ Wv)


@mistake
def drops_itself_from_the_mix(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you left the value of token i out of the mix, though it has a weight. What is left of the weights adds up to
    less than 1: j runs over all n."""
    weights = softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5)
    return np.delete(weights, i) @ (np.delete(X, i, axis=0) @ Wv)


@mistake
def mixes_tokens(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you mixed the tokens themselves. What is mixed are their values, so the answer is as wide as a value."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ X


@mistake
def mixes_keys(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you mixed the keys. Keys only decide the weights; what is handed on are the values."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wk)


@mistake
def raw_scores_as_weights(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you used the scores as weights. They can be negative and they do not add up to 1: softmax is missing."""
    return X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5 @ (X @ Wv)


@mistake
def key_against_queries(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you compared the key of token i with everybody's query. Token i is the one that asks: it brings its query, the
    others bring their keys."""
    return softmax_1d(X @ Wq @ (X[i] @ Wk) / len(Wq[0]) ** 0.5) @ (X @ Wv)


@mistake
def queries_as_keys(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you made the keys with Wq. Keys have a weight matrix of their own."""
    return softmax_1d(X @ Wq @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wv)


@mistake
def no_scale(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you did not divide the scores by √k before the softmax."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq)) @ (X @ Wv)


@mistake
def scale_by_k(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided the scores by k. It is its square root."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0])) @ (X @ Wv)


@mistake
def scale_by_tokens(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided the scores by √n. How long the text is does not matter here; how many products a score adds up
    does."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(X) ** 0.5) @ (X @ Wv)


@mistake
def scale_by_model_width(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided the scores by √d, the width of a token. A score is a dot product of a query and a key, and those
    are k wide."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(X[0]) ** 0.5) @ (X @ Wv)


@mistake
def scale_by_value_width(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided the scores by √v, the width of a value. Values have no part in the scores."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wv[0]) ** 0.5) @ (X @ Wv)


@mistake
def scale_after_softmax(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided by √k after the softmax. The weights then no longer add up to 1; scale the scores, then take the
    softmax."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq)) / len(Wq[0]) ** 0.5 @ (X @ Wv)


@mistake
def returns_the_weights(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you returned the weights. One step is left: mix the values with them."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5)


@mistake
def own_value_only(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """your answer is the value of token i alone. The weights say how much of every other value goes in as well."""
    return X[i] @ Wv


@mistake
def only_the_past(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you let token i listen to itself and the tokens before it only. That is what notebook 03 is about; here every
    token listens to all n."""
    return softmax_1d(X[: i + 1] @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (X[: i + 1] @ Wv)


@mistake
def counts_from_one(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you answered for the token before. The first token has i = 0."""
    return softmax_1d(X @ Wk @ (X[i - 1] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wv)


@mistake
def weights_from_the_left(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you put the weight matrices on the left of the token. Tokens are rows here, so the matrix stands on the
    right."""
    keys, values = np.stack([Wk @ x for x in X]), np.stack([Wv @ x for x in X])
    return softmax_1d(keys @ (Wq @ X[i]) / len(Wq[0]) ** 0.5) @ values


@mistake
def softmax_of_its_own(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you took the exponential of the scores with nothing taken off first. Large scores overflow: softmax_1d knows
    what to do."""
    e = np.exp(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5)
    return e / e.sum() @ (X @ Wv)


@mistake
def room_as_wide_as_a_token(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you gave the sum the width of a token. It adds up values, so it is as wide as a value."""
    out = np.zeros_like(X[i])
    for weight, x in zip(softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5), X, strict=True):
        out += weight * (x @ Wv)
    return out


@mistake
def widened_to_float64(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """your answer is float64 where X was float32. Either np.zeros was given no dtype, or you divided by np.sqrt of a
    whole number, which numpy makes a float64; a plain Python float leaves the dtype of an array alone."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / np.sqrt(len(Wq[0]))) @ (X @ Wv)


@right
def one_by_products(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / math.sqrt(Wq.shape[1])) @ (X @ Wv)


@right
def one_by_loops(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    query = X[i] @ Wq
    scores = np.array([query @ (x @ Wk) for x in X]) / math.sqrt(Wq.shape[1])
    out = np.zeros(Wv.shape[1], dtype=X.dtype)
    for weight, x in zip(softmax_1d(scores), X, strict=True):
        out += weight * (x @ Wv)
    return out


@right
def one_by_einsum(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    scores = np.einsum("d,dk,nx,xk->n", X[i], Wq, X, Wk) * Wq.shape[1] ** -0.5
    return np.einsum("n,nd,dv->v", softmax_1d(scores), X, Wv)


@right
def one_mixed_before_projecting(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    return (softmax_1d(X @ (Wk @ (Wq.T @ X[i])) / math.sqrt(Wq.shape[1])) @ X) @ Wv


@right
def one_by_torch(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    import torch

    x, wq, wk, wv = (torch.from_numpy(a.copy()) for a in (X, Wq, Wk, Wv))
    scores = (x @ wk) @ (x[i] @ wq) / wq.shape[1] ** 0.5
    return (torch.softmax(scores, dim=0) @ (x @ wv)).numpy()
