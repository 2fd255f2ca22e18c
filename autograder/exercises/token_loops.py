"""Notebook 01: attention, one token at a time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from autograder.exercises.drawing import normal, sizes
from autograder.exercises.model import Case, Exercise, Probe, case
from course.functions import Function, public_function
from course.values import with_layout

NOTEBOOK = "01_token_loops"
F = np.ndarray
Project = Callable[[np.ndarray, np.ndarray], np.ndarray]


# ---------------------------------------------------------------------------------------------- softmax_1d


def softmax_1d(s: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    """Entry j is exp(s[j]) over the sum of all of them, for scores of any size."""
    s = np.asarray(s)
    top = max(float(score) for score in s)
    powers = [math.exp(float(score) - top) for score in s]
    total = math.fsum(powers)
    return np.array([power / total for power in powers], dtype=s.dtype)


def no_shift(s: F) -> F:
    """you raised e to the scores as they are. A score of 10000 overflows to inf, and one of -10000 leaves 0 divided
    by 0; the weights do not change if you take the same number off every score first."""
    e = np.exp(s)
    return e / e.sum()


def shifts_by_the_first(s: F) -> F:
    """you took the first score off every score. The first one need not be the largest, and a later one can still overflow."""
    powers = np.exp(s - s[0])
    return powers / powers.sum()


def divides_by_the_max(s: F) -> F:
    """you divided the scores by the largest one. Only taking a number away leaves the weights as they were; dividing
    makes all the gaps smaller."""
    e = np.exp(s / s.max())
    return e / e.sum()


def shifts_in_place(s: F) -> F:
    """you took the maximum off the caller's own array. Make a new array: the caller still needs the scores."""
    s -= s.max()
    e = np.exp(s)
    return e / e.sum()


def no_exponential(s: F) -> F:
    """you divided the scores by their sum. Negative scores then give negative weights; the exponential is what makes
    every score positive first."""
    return s / s.sum()


def forced_to_float32(s: F) -> F:
    """you turned the scores into float32, which keeps 7 digits of the caller's 16."""
    e = np.exp((s - s.max()).astype(np.float32))
    return e / e.sum()


def forced_to_float64(s: F) -> F:
    """your answer is float64 where the scores were float32. Something on the way is float64 whatever comes in: a list
    of Python floats made into an array, or np.zeros with no dtype."""
    e = [math.exp(x - s.max()) for x in s]
    return np.array([x / sum(e) for x in e])


def never_divided(s: F) -> F:
    """you did not divide by the sum, so the weights do not add up to 1."""
    return np.exp(s - s.max())


def shifts_by_the_min(s: F) -> F:
    """you took off the smallest score. The rest then lie above zero, and the largest still overflow: they must lie
    below."""
    e = np.exp(s - s.min())
    return e / e.sum()


def shifts_by_the_largest_size(s: F) -> F:
    """you took off the largest absolute value. Where all scores are far below zero this pushes them further down,
    until every power is 0."""
    e = np.exp(s - np.abs(s).max())
    return e / e.sum()


def shifts_by_the_mean(s: F) -> F:
    """you took off the mean. That is allowed, and it does not save you: with far-apart scores the largest still
    overflows."""
    e = np.exp(s - s.mean())
    return e / e.sum()


def clipped(s: F) -> F:
    """you clipped the scores so that nothing overflows. Two different scores beyond the limit then get the same
    weight."""
    e = np.exp(np.clip(s, -700, 700))
    return e / e.sum()


def softmax_by_numpy(s: F) -> F:
    e = np.exp(s - s.max())
    return e / e.sum()


def softmax_by_logs(s: F) -> F:
    top = s.max()
    return np.exp(s - top - np.log(np.exp(s - top).sum()))


def softmax_by_loop(s: F) -> F:
    top, total, out = max(s), 0.0, np.empty_like(s)
    for j, score in enumerate(s):
        out[j] = np.exp(score - top)
        total += out[j]
    for j in range(len(s)):
        out[j] /= total
    return out


def softmax_by_torch(s: F) -> F:
    import torch

    return torch.softmax(torch.from_numpy(s.copy()), dim=0).numpy()


def _scores(rng: np.random.Generator) -> list[Case]:
    n, m = sizes(rng, 2)
    return [case(normal(rng, n, scale=2.0)), case(normal(rng, m, scale=2.0) - 3.0)]


def _extreme_scores(rng: np.random.Generator) -> list[Case]:
    n, m = sizes(rng, 2, low=3)
    both, low = normal(rng, n), normal(rng, m)
    a, b = rng.choice(n, 2, replace=False)
    both[a] += 1e4
    both[b] -= 1e4
    late = normal(rng, 9)
    late[0] -= 1e3  # far below the others, which are near their mean
    return [case(both), case(low - 1e4), case(normal(rng, n) + 1e4), case(late)]


def _scores_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, m = sizes(rng, 2)
    return [
        case(normal(rng, 1, scale=5.0)),
        case(normal(rng, n, scale=2.0, dtype="float32")),
        case(normal(rng, m, scale=2.0, order="strided")),
    ]


SOFTMAX_1D = Exercise(
    oracle=softmax_1d,
    notebook=NOTEBOOK,
    public=(
        case(np.array([0.0, 1.0])),
        case(np.array([1000.0, 0.0])),
        case(np.array([0.0, 1000.0])),
        case(np.array([-9999.0, -10000.0])),
        case(np.array([2.0, -1.0, 0.5], dtype=np.float32)),
        case(np.array([10000.0, -10000.0, 9999.0])),
    ),
    probes=(
        Probe("weights of ordinary scores, positive and negative", 0.5, _scores),
        Probe("scores of 10000 and of -10000", 1.0, _extreme_scores),
        Probe("a single score, float32, and an array that is not contiguous", 0.5, _scores_at_the_edge),
    ),
    mistakes=(
        no_shift,
        shifts_by_the_first,
        divides_by_the_max,
        shifts_in_place,
        no_exponential,
        forced_to_float32,
        forced_to_float64,
        never_divided,
        shifts_by_the_min,
        shifts_by_the_largest_size,
        shifts_by_the_mean,
        clipped,
    ),
    variants=(softmax_by_numpy, softmax_by_logs, softmax_by_loop, softmax_by_torch),
)


# ---------------------------------------------------------------------------------------------- attend_one


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


def leaves_itself_out(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you left token i out of its own sum. Token i is one of the tokens it may listen to: j runs over all n."""
    others = np.delete(X, i, axis=0)
    return softmax_1d(others @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (others @ Wv)


def drops_itself_from_the_mix(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you left the value of token i out of the mix, though it has a weight. What is left of the weights adds up to
    less than 1: j runs over all n."""
    weights = softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5)
    return np.delete(weights, i) @ (np.delete(X, i, axis=0) @ Wv)


def mixes_tokens(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you mixed the tokens themselves. What is mixed are their values, so the answer is as wide as a value."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ X


def mixes_keys(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you mixed the keys. Keys only decide the weights; what is handed on are the values."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wk)


def raw_scores_as_weights(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you used the scores as weights. They can be negative and they do not add up to 1: softmax is missing."""
    return X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5 @ (X @ Wv)


def key_against_queries(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you compared the key of token i with everybody's query. Token i is the one that asks: it brings its query, the
    others bring their keys."""
    return softmax_1d(X @ Wq @ (X[i] @ Wk) / len(Wq[0]) ** 0.5) @ (X @ Wv)


def queries_as_keys(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you made the keys with Wq. Keys have a weight matrix of their own."""
    return softmax_1d(X @ Wq @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wv)


def no_scale(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you did not divide the scores by √k before the softmax."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq)) @ (X @ Wv)


def scale_by_k(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided the scores by k. It is its square root."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0])) @ (X @ Wv)


def scale_by_tokens(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided the scores by √n. How long the text is does not matter here; how many products a score adds up
    does."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(X) ** 0.5) @ (X @ Wv)


def scale_by_model_width(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided the scores by √d, the width of a token. A score is a dot product of a query and a key, and those
    are k wide."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(X[0]) ** 0.5) @ (X @ Wv)


def scale_by_value_width(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided the scores by √v, the width of a value. Values have no part in the scores."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wv[0]) ** 0.5) @ (X @ Wv)


def scale_after_softmax(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided by √k after the softmax. The weights then no longer add up to 1; scale the scores, then take the
    softmax."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq)) / len(Wq[0]) ** 0.5 @ (X @ Wv)


def returns_the_weights(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you returned the weights. One step is left: mix the values with them."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5)


def own_value_only(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """your answer is the value of token i alone. The weights say how much of every other value goes in as well."""
    return X[i] @ Wv


def only_the_past(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you let token i listen to itself and the tokens before it only. That is what notebook 03 is about; here every
    token listens to all n."""
    return softmax_1d(X[: i + 1] @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (X[: i + 1] @ Wv)


def counts_from_one(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you answered for the token before. The first token has i = 0."""
    return softmax_1d(X @ Wk @ (X[i - 1] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wv)


def weights_from_the_left(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you put the weight matrices on the left of the token. Tokens are rows here, so the matrix stands on the
    right."""
    keys, values = np.stack([Wk @ x for x in X]), np.stack([Wv @ x for x in X])
    return softmax_1d(keys @ (Wq @ X[i]) / len(Wq[0]) ** 0.5) @ values


def softmax_of_its_own(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you took the exponential of the scores with nothing taken off first. Large scores overflow: softmax_1d knows
    what to do."""
    e = np.exp(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5)
    return e / e.sum() @ (X @ Wv)


def room_as_wide_as_a_token(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you gave the sum the width of a token. It adds up values, so it is as wide as a value."""
    out = np.zeros_like(X[i])
    for weight, x in zip(softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5), X, strict=True):
        out += weight * (x @ Wv)
    return out


def widened_to_float64(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """your answer is float64 where X was float32. Either np.zeros was given no dtype, or you divided by np.sqrt of a
    whole number, which numpy makes a float64; a plain Python float leaves the dtype of an array alone."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / np.sqrt(len(Wq[0]))) @ (X @ Wv)


def one_by_products(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / math.sqrt(Wq.shape[1])) @ (X @ Wv)


def one_by_loops(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    query = X[i] @ Wq
    scores = np.array([query @ (x @ Wk) for x in X]) / math.sqrt(Wq.shape[1])
    out = np.zeros(Wv.shape[1], dtype=X.dtype)
    for weight, x in zip(softmax_1d(scores), X, strict=True):
        out += weight * (x @ Wv)
    return out


def one_by_einsum(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    scores = np.einsum("d,dk,nx,xk->n", X[i], Wq, X, Wk) * Wq.shape[1] ** -0.5
    return np.einsum("n,nd,dv->v", softmax_1d(scores), X, Wv)


def one_mixed_before_projecting(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    return (softmax_1d(X @ (Wk @ (Wq.T @ X[i])) / math.sqrt(Wq.shape[1])) @ X) @ Wv


def one_by_torch(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    import torch

    x, wq, wk, wv = (torch.from_numpy(a.copy()) for a in (X, Wq, Wk, Wv))
    scores = (x @ wk) @ (x[i] @ wq) / wq.shape[1] ** 0.5
    return (torch.softmax(scores, dim=0) @ (x @ wv)).numpy()


def _tokens(
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


LAYOUTS = ("strided", "F", "strided", "F")


def _one_token(rng: np.random.Generator) -> list[Case]:
    n, d, k, v = sizes(rng, 4, low=3)
    middle = int(rng.integers(1, n - 1))
    return [case(i, *_tokens(rng, n, d, k, v)) for i in (0, middle, n - 1)]


def _one_token_same_sizes(rng: np.random.Generator) -> list[Case]:
    n, d, k = sizes(rng, 3)
    i = int(rng.integers(n))
    return [
        case(i, *_tokens(rng, n, d, d, d)),  # weights from the left run
        case(i, *_tokens(rng, n, d, k, d)),  # mixing tokens gives the right shape
        case(i, *_tokens(rng, n, d, k, k)),  # so does mixing keys
        case(i, *_tokens(rng, n, d, k, n)),  # so do the weights
    ]


def _one_token_extreme(rng: np.random.Generator) -> list[Case]:
    n, d, k, v = sizes(rng, 4, low=3)
    i, top = 0, 0.0
    while top < 1000:  # past what the exponential of a float64 can hold
        X, Wq, Wk, Wv = _tokens(rng, n, d, k, v, spread=1e4)
        scores = X @ Wq @ (X @ Wk).T / math.sqrt(k)
        i, top = int(scores.max(axis=1).argmax()), scores.max()
    return [case(0, *_tokens(rng, 1, d, k, v)), case(i, X, Wq, Wk, Wv)]


def _one_token_dtypes(rng: np.random.Generator) -> list[Case]:
    n, d, k, v = sizes(rng, 4)
    i, j = (int(index) for index in rng.integers(n, size=2))
    return [
        case(i, *_tokens(rng, n, d, k, v, dtype="float32")),
        case(j, *_tokens(rng, n, d, k, v, orders=LAYOUTS)),
    ]


# Three tokens, worked through by hand in the notebook: all of k's products are whole numbers and √k is 2.
_X3 = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
_WQ3 = np.array([[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, -1.0, 2.0]])
_WK3 = np.array([[1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, -1.0]])
_WV3 = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 4.0]])
# Two tokens with d = k = v: whatever shapes forbid elsewhere runs here.
_X2 = np.array([[1.0, 2.0], [0.0, 1.0]])
_WQ2 = np.array([[1.0, 1.0], [0.0, -1.0]])
_WK2 = np.array([[2.0, 0.0], [1.0, -1.0]])
_WV2 = np.array([[1.0, 3.0], [2.0, 0.0]])
# Four tokens, all sizes different.
_X4 = np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 1.0], [0.5, 1.0, 0.0], [-1.0, 1.0, 1.0]])
_WQ4 = np.array([[1.0, 0.5], [-1.0, 1.0], [0.5, 1.0]])
_WK4 = np.array([[0.5, -1.0], [1.0, 0.0], [1.0, 0.5]])
_WV4 = np.array([[1.0, 0.0, 2.0, -1.0, 0.5], [0.0, 1.0, 1.0, 3.0, 0.0], [2.0, -1.0, 0.0, 1.0, 1.0]])

ATTEND_ONE = Exercise(
    oracle=attend_one,
    notebook=NOTEBOOK,
    public=(
        case(0, _X2, _WQ2, _WK2, _WV2),
        case(2, _X3, _WQ3, _WK3, _WV3),
        case(1, 50 * _X3, 2 * _WQ3, _WK3, _WV3),
        case(1, _X4, _WQ4, _WK4, _WV4),
        case(0, *(array.astype(np.float32) for array in (_X4, _WQ4, _WK4, _WV4))),
    ),
    probes=(
        Probe("the output of the first, a middle and the last token, all sizes different", 2.0, _one_token),
        Probe("the same where sizes coincide and a wrong turn would give the right shape", 1.0, _one_token_same_sizes),
        Probe("a text of one token, and scores in the thousands", 0.5, _one_token_extreme),
        Probe("float32, and arrays that are not contiguous", 0.5, _one_token_dtypes),
    ),
    mistakes=(
        leaves_itself_out,
        drops_itself_from_the_mix,
        mixes_tokens,
        mixes_keys,
        raw_scores_as_weights,
        key_against_queries,
        queries_as_keys,
        no_scale,
        scale_by_k,
        scale_by_tokens,
        scale_by_model_width,
        scale_by_value_width,
        scale_after_softmax,
        returns_the_weights,
        own_value_only,
        only_the_past,
        counts_from_one,
        weights_from_the_left,
        softmax_of_its_own,
        room_as_wide_as_a_token,
        widened_to_float64,
    ),
    variants=(one_by_products, one_by_loops, one_by_einsum, one_mixed_before_projecting, one_by_torch),
    uses=("softmax_1d",),
)


# --------------------------------------------------------------------------------------------- attend_loop


def attend_loop(
    X: Float[np.ndarray, "n d"],
    Wq: Float[np.ndarray, "d k"],
    Wk: Float[np.ndarray, "d k"],
    Wv: Float[np.ndarray, "d v"],
    project: Project,
) -> Float[np.ndarray, "n v"]:
    """Row i is the output of token i; each token is projected three times and no more."""
    queries = [project(x, Wq) for x in X]
    keys = [project(x, Wk) for x in X]
    values = [project(x, Wv) for x in X]
    n, k, v = len(X), Wq.shape[1], Wv.shape[1]
    out = np.zeros((n, v))
    for i in range(n):
        scores = [sum(queries[i][a] * keys[j][a] for a in range(k)) / math.sqrt(k) for j in range(n)]
        powers = [math.exp(score - max(scores)) for score in scores]
        for j in range(n):
            for a in range(v):
                out[i, a] += powers[j] / sum(powers) * values[j][a]
    return out


def projects_again_for_each_query(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """the values are right, and you project the same rows again for every query. A key and a value depend on their
    own token only, whoever asks."""
    rows = []
    for x in X:
        scores = np.array([project(x, Wq) @ project(y, Wk) for y in X]) / len(Wq[0]) ** 0.5
        rows.append(softmax_1d(scores) @ np.stack([project(y, Wv) for y in X]))
    return np.stack(rows)


def goes_past_project(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """your projections do not go through `project`: nothing is counted, and what it does besides is lost (in one case
    it enlarges its answers). If you call attend_one for each token: in there, all keys and values are computed n
    times over."""
    return np.stack([attend_one(i, X, Wq, Wk, Wv) for i in range(len(X))]).astype(X.dtype)


def query_past_project(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """keys and values go through `project`, the queries do not. They are projections too."""
    keys, values = project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(keys @ (x @ Wq) / len(Wq[0]) ** 0.5) @ values for x in X])


def first_row_for_all(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """every row is the output of token 0. Something that belongs to one query was moved out of the loop with the keys
    and the values."""
    keys, values, query = project(X, Wk), project(X, Wv), project(X[0], Wq)
    return np.stack([softmax_1d(keys @ query / len(Wq[0]) ** 0.5) @ values for x in X])


def last_row_for_all(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """every row is the output of the last token. Each turn of the loop overwrites what the turns before it kept: one
    array, filled again and again."""
    keys, values = project(X, Wk), project(X, Wv)
    rows, row = [], np.zeros(Wv.shape[1], X.dtype)
    for x in X:
        row[:] = softmax_1d(keys @ project(x, Wq) / len(Wq[0]) ** 0.5) @ values
        rows.append(row)
    return np.stack(rows)


def returns_too_early(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """only row 0 was filled: your function returns inside the loop."""
    keys, values = project(X, Wk), project(X, Wv)
    out = np.zeros((len(X), Wv.shape[1]), X.dtype)
    out[0] = softmax_1d(keys @ project(X[0], Wq) / len(Wq[0]) ** 0.5) @ values
    return out


def adds_the_rows_up(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you added the outputs of all tokens. Each token keeps a row of its own."""
    return _right_loop(X, Wq, Wk, Wv, project).sum(axis=0)


def a_list_of_rows(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> list[F]:
    """you returned a list of rows. One array of n rows is asked for: np.stack makes it from the list."""
    return list(_right_loop(X, Wq, Wk, Wv, project))


def room_for_tokens(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you made room for n rows as wide as a token. An output is as wide as a value."""
    out = np.zeros_like(X)
    out[:] = _right_loop(X, Wq, Wk, Wv, project)
    return out


def outputs_as_columns(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """your outputs stand in columns. Tokens are rows, at the end as at the beginning."""
    return _right_loop(X, Wq, Wk, Wv, project).T


def loop_without_scale(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """the scores are not divided by √k here, as they are in attend_one."""
    queries, keys, values = project(X, Wq), project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(keys @ query) @ values for query in queries])


def keys_against_each_query(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """row i compares the key of token i with everybody's query. Token i asks: its query meets everybody's key."""
    queries, keys, values = project(X, Wq), project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(queries @ key / len(Wq[0]) ** 0.5) @ values for key in keys])


def loop_scaled_by_model_width(X: F, Wq: F, Wk: F, Wv: F, project: Callable[[F, F], F]) -> F:
    """you divided by the root of d, the width of a token. The dot product runs over the k numbers of a query and a key."""
    keys, values = project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(keys @ project(x, Wq) / X.shape[1] ** 0.5) @ values for x in X])


def loop_in_float64(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """your answer is float64 where X was float32. Either np.zeros was given no dtype, or you divided by np.sqrt of a
    whole number, which numpy makes a float64."""
    out = np.zeros((len(X), Wv.shape[1]))
    out[:] = _right_loop(X, Wq, Wk, Wv, project)
    return out


def _right_loop(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    keys, values = project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(keys @ project(x, Wq) / len(Wq[0]) ** 0.5) @ values for x in X])


def loop_query_by_query(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    keys, values = project(X, Wk), project(X, Wv)
    out = np.empty((len(X), Wv.shape[1]), X.dtype)
    for i, x in enumerate(X):
        out[i] = softmax_1d(keys @ project(x, Wq) / math.sqrt(Wq.shape[1])) @ values
    return out


def loop_row_by_row(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    keys = [project(x, Wk) for x in X]
    values = [project(x, Wv) for x in X]
    rows = []
    for x in X:
        query = project(x, Wq)
        weights = softmax_1d(np.array([query @ key for key in keys]) / math.sqrt(Wq.shape[1]))
        rows.append(sum(weight * value for weight, value in zip(weights, values, strict=True)))
    return np.array(rows)


def loop_all_queries_first(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    queries, keys, values = (project(X, W) for W in (Wq, Wk, Wv))
    scores = np.einsum("nk,mk->nm", queries, keys) / Wq.shape[1] ** 0.5
    return np.einsum("nm,mv->nv", np.stack([softmax_1d(row) for row in scores]), values)


def loop_side_by_side(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    k = Wq.shape[1]
    everything = project(X, np.concatenate([Wq, Wk, Wv], axis=1))
    queries, keys, values = everything[:, :k], everything[:, k : 2 * k], everything[:, 2 * k :]
    return np.stack([softmax_1d(keys @ query / k**0.5) @ values for query in queries])


def loop_by_torch(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    import torch

    queries, keys, values = (torch.from_numpy(np.array(project(X, W))) for W in (Wq, Wk, Wv))
    rows = [torch.softmax(keys @ query / Wq.shape[1] ** 0.5, dim=0) @ values for query in queries]
    return torch.stack(rows).numpy()


PROJECT = public_function("project")
UNCOUNTED = Function("project", PROJECT.run, lambda *arguments: 0)


def _loops(rng: np.random.Generator) -> list[Case]:
    n, d, k, v = sizes(rng, 4)
    return [case(*_tokens(rng, n, d, k, v), UNCOUNTED), case(*_tokens(rng, v, n, d, k), UNCOUNTED)]


def _budgets(rng: np.random.Generator) -> list[Case]:
    n, d, k, v = sizes(rng, 4, low=3)
    gain = float(rng.uniform(1.5, 2.5))
    return [
        case(*_tokens(rng, n, d, k, v), PROJECT),
        case(*_tokens(rng, n, d, k, v), public_function("project", gain=gain)),
    ]


def _loops_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, d, k, v = sizes(rng, 4)
    return [
        case(*_tokens(rng, 1, d, k, v), UNCOUNTED),
        case(*_tokens(rng, n, d, k, n), UNCOUNTED),  # n = v: outputs in columns have the right shape
        case(*_tokens(rng, n, d, k, v, dtype="float32"), UNCOUNTED),
        case(*_tokens(rng, n, d, k, v, orders=LAYOUTS), UNCOUNTED),
    ]


ATTEND_LOOP = Exercise(
    oracle=attend_loop,
    notebook=NOTEBOOK,
    public=(
        case(_X2, _WQ2, _WK2, _WV2, PROJECT),
        case(_X3, _WQ3, _WK3, _WV3, PROJECT),
        case(*(array.astype(np.float32) for array in (_X3, _WQ3, _WK3, _WV3)), PROJECT),
        case(_X4, _WQ4, _WK4, _WV4, public_function("project", gain=2.0)),
    ),
    probes=(
        Probe("row i is the output of token i, all sizes different", 1.5, _loops),
        Probe("at most 3n rows are projected, all of them by `project`", 1.0, _budgets),
        Probe("a single token, n = v, float32, and arrays that are not contiguous", 0.5, _loops_at_the_edge),
    ),
    mistakes=(
        projects_again_for_each_query,
        goes_past_project,
        query_past_project,
        first_row_for_all,
        last_row_for_all,
        returns_too_early,
        adds_the_rows_up,
        a_list_of_rows,
        room_for_tokens,
        outputs_as_columns,
        loop_without_scale,
        loop_scaled_by_model_width,
        keys_against_each_query,
        loop_in_float64,
    ),
    variants=(loop_query_by_query, loop_row_by_row, loop_all_queries_first, loop_side_by_side, loop_by_torch),
    uses=("softmax_1d",),
)


# ---------------------------------------------------------------------------------------------- loop_flops


def loop_flops(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """Multiplications and additions of attention over n tokens, counted by walking through the loops."""
    vector_times_matrix = {width: sum(2 for _ in range(d) for _ in range(width)) for width in (k, v)}
    flops = 0
    if hoisted:
        for _ in range(n):  # every key and every value, once
            flops += vector_times_matrix[k] + vector_times_matrix[v]
    for _ in range(n):  # every query
        flops += vector_times_matrix[k]
        for _ in range(n):  # every token it looks at
            if not hoisted:
                flops += vector_times_matrix[k] + vector_times_matrix[v]
            flops += 2 * k  # the score
            flops += 2 * v  # its part in the mix
    return flops


def multiply_add_is_one(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted a multiplication and the addition after it as one. They are two FLOPs."""
    return loop_flops(n, d, k, v, hoisted) // 2


def one_addition_fewer(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted k - 1 additions for k products, which is exact. The rule of this course is 2 for each product, as
    if every sum started from zero."""
    keys_and_values = n * (2 * d - 1) * (k + v) * (1 if hoisted else n)
    return keys_and_values + n * (2 * d - 1) * k + n * n * (2 * k - 1) + n * (2 * n - 1) * v


def each_query_meets_one_token(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted n scores and n weighted values in all. Each of the n queries meets all n tokens."""
    projections = 2 * n * d * (2 * k + v) if hoisted else 2 * n * d * k + 2 * n * n * d * (k + v)
    return projections + 2 * n * (k + v)


def never_hoisted(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted keys and values n times in both loops. Hoisted means that they are computed once, before the
    loop."""
    return loop_flops(n, d, k, v, False)


def always_hoisted(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted keys and values once in both loops. The literal loop computes all n of them again for every
    query."""
    return loop_flops(n, d, k, v, True)


def flag_turned_round(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """the two loops are exchanged: hoisted=True is the one that computes keys and values once."""
    return loop_flops(n, d, k, v, not hoisted)


def query_recomputed_too(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted the query n times for each query in the literal loop. It stands outside the inner loop even there:
    one query vector for each turn of the outer one."""
    return loop_flops(n, d, k, v, hoisted) + (0 if hoisted else 2 * n * (n - 1) * d * k)


def values_computed_once(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """in the literal loop you counted the keys again for each query, and the values once. The literal loop computes
    both again."""
    return loop_flops(n, d, k, v, hoisted) - (0 if hoisted else 2 * n * (n - 1) * d * v)


def no_mix(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you left out the mix of the values: n weights times n rows of width v."""
    return loop_flops(n, d, k, v, hoisted) - 2 * n * n * v


def no_scores(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you left out the scores: n queries times n keys of width k."""
    return loop_flops(n, d, k, v, hoisted) - 2 * n * n * k


def no_queries(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you left out the queries. Each token is projected three times: to a query, a key and a value."""
    return loop_flops(n, d, k, v, hoisted) - 2 * n * d * k


def scores_of_width_d(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted d products for a score and for a mixed value. Scores compare vectors of width k and the mix adds
    vectors of width v."""
    return loop_flops(n, d, k, v, hoisted) + 2 * n * n * (2 * d - k - v)


def not_itself(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you let each query meet n - 1 tokens. A token meets itself too."""
    return loop_flops(n, d, k, v, hoisted) - 2 * n * (k + v)


def one_query_only(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    """you counted the work of one query. There are n of them."""
    return loop_flops(n, d, k, v, False) // n if not hoisted else 2 * n * d * (k + v) + 2 * d * k + 2 * n * (k + v)


def flops_as_float(n: int, d: int, k: int, v: int, hoisted: bool) -> float:
    """the number is right, and it is a float. A count is a whole number: no division is needed to get it."""
    return float(loop_flops(n, d, k, v, hoisted))


def flops_by_formula(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    rows = n if hoisted else n * n
    return 2 * n * d * k + 2 * rows * d * (k + v) + 2 * n * n * (k + v)


def flops_by_parts(n: int, d: int, k: int, v: int, hoisted: bool) -> int:
    projection = {"query": 2 * d * k, "key": 2 * d * k, "value": 2 * d * v}
    per_query = projection["query"] + n * 2 * k + n * 2 * v
    tables = n * (projection["key"] + projection["value"])
    return n * per_query + tables if hoisted else n * (per_query + tables)


def flops_as_numpy_integer(n: int, d: int, k: int, v: int, hoisted: bool) -> np.integer:
    return np.int64(2 * n) * (d * k + (n if not hoisted else 1) * d * (k + v) + n * (k + v))


def _hoisted_counts(rng: np.random.Generator) -> list[Case]:
    return [case(*sizes(rng, 4, low=2, high=40), True) for _ in range(2)]


def _literal_counts(rng: np.random.Generator) -> list[Case]:
    return [case(*sizes(rng, 4, low=2, high=40), False) for _ in range(2)]


def _counts_at_the_edge(rng: np.random.Generator) -> list[Case]:
    small, large = sizes(rng, 4), sizes(rng, 4, low=40, high=80)
    return [case(1, *small[1:], hoisted) for hoisted in (True, False)] + [
        case(*large, hoisted) for hoisted in (True, False)
    ]


LOOP_FLOPS = Exercise(
    oracle=loop_flops,
    notebook=NOTEBOOK,
    public=(
        case(2, 3, 4, 5, True),
        case(2, 3, 4, 5, False),
        case(10, 6, 3, 7, True),
        case(10, 6, 3, 7, False),
    ),
    probes=(
        Probe("the hoisted loop, all sizes different", 0.5, _hoisted_counts),
        Probe("the literal loop, all sizes different", 1.0, _literal_counts),
        Probe("a single token, and larger sizes, in both loops", 0.5, _counts_at_the_edge),
    ),
    mistakes=(
        multiply_add_is_one,
        one_addition_fewer,
        each_query_meets_one_token,
        never_hoisted,
        always_hoisted,
        flag_turned_round,
        query_recomputed_too,
        values_computed_once,
        no_mix,
        no_scores,
        no_queries,
        scores_of_width_d,
        not_itself,
        one_query_only,
        flops_as_float,
    ),
    variants=(flops_by_formula, flops_by_parts, flops_as_numpy_integer),
)

EXERCISES = (SOFTMAX_1D, ATTEND_ONE, ATTEND_LOOP, LOOP_FLOPS)
