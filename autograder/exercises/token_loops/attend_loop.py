"""The outputs of all tokens, in a loop that projects each of them once."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right
from autograder.exercises.token_loops.attend_one import attend_one
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
from course.trial.functions import Function, public_function

USES = ("softmax_1d",)
Project = Callable[[np.ndarray, np.ndarray], np.ndarray]
PROJECT = public_function("project")
UNCOUNTED = Function("project", PROJECT.run, lambda *arguments: 0)


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


PUBLIC = (
    case(X2, WQ2, WK2, WV2, PROJECT),
    case(X3, WQ3, WK3, WV3, PROJECT),
    case(*(array.astype(np.float32) for array in (X3, WQ3, WK3, WV3)), PROJECT),
    case(X4, WQ4, WK4, WV4, public_function("project", gain=2.0)),
)


@probe(1.5)
def loops(rng: np.random.Generator) -> list[Case]:
    """row i is the output of token i, all sizes different"""
    n, d, k, v = sizes(rng, 4)
    return [
        case(*tokens_and_weights(rng, n, d, k, v), UNCOUNTED),
        case(*tokens_and_weights(rng, v, n, d, k), UNCOUNTED),
    ]


@probe(1.0)
def budgets(rng: np.random.Generator) -> list[Case]:
    """at most 3n rows are projected, all of them by `project`"""
    n, d, k, v = sizes(rng, 4, low=3)
    gain = float(rng.uniform(1.5, 2.5))
    return [
        case(*tokens_and_weights(rng, n, d, k, v), PROJECT),
        case(*tokens_and_weights(rng, n, d, k, v), public_function("project", gain=gain)),
    ]


@probe(0.5)
def loops_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, n = v, float32, and arrays that are not contiguous"""
    n, d, k, v = sizes(rng, 4)
    return [
        case(*tokens_and_weights(rng, 1, d, k, v), UNCOUNTED),
        case(*tokens_and_weights(rng, n, d, k, n), UNCOUNTED),  # n = v: outputs in columns have the right shape
        case(*tokens_and_weights(rng, n, d, k, v, dtype="float32"), UNCOUNTED),
        case(*tokens_and_weights(rng, n, d, k, v, orders=LAYOUTS), UNCOUNTED),
    ]


@mistake
def projects_again_for_each_query(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """the values are right, and you project the same rows again for every query. A key and a value depend on their
    own token only, whoever asks."""
    rows = []
    for x in X:
        scores = np.array([project(x, Wq) @ project(y, Wk) for y in X]) / len(Wq[0]) ** 0.5
        rows.append(softmax_1d(scores) @ np.stack([project(y, Wv) for y in X]))
    return np.stack(rows)


@mistake
def goes_past_project(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """your projections do not go through `project`: nothing is counted, and what it does besides is lost (in one case
    it enlarges its answers). If you call attend_one for each token: in there, all keys and values are computed n
    times over."""
    return np.stack([attend_one(i, X, Wq, Wk, Wv) for i in range(len(X))]).astype(X.dtype)


@mistake
def query_past_project(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """keys and values go through `project`, the queries do not. They are projections too."""
    keys, values = project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(keys @ (x @ Wq) / len(Wq[0]) ** 0.5) @ values for x in X])


@mistake
def first_row_for_all(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """every row is the output of token 0. Something that belongs to one query was moved out of the loop with the keys
    and the values."""
    keys, values, query = project(X, Wk), project(X, Wv), project(X[0], Wq)
    return np.stack([softmax_1d(keys @ query / len(Wq[0]) ** 0.5) @ values for x in X])


@mistake
def last_row_for_all(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """every row is the output of the last token. Each turn of the loop overwrites what the turns before it kept: one
    array, filled again and again."""
    keys, values = project(X, Wk), project(X, Wv)
    rows, row = [], np.zeros(Wv.shape[1], X.dtype)
    for x in X:
        row[:] = softmax_1d(keys @ project(x, Wq) / len(Wq[0]) ** 0.5) @ values
        rows.append(row)
    return np.stack(rows)


@mistake
def returns_too_early(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """only row 0 was filled: your function returns inside the loop."""
    keys, values = project(X, Wk), project(X, Wv)
    out = np.zeros((len(X), Wv.shape[1]), X.dtype)
    out[0] = softmax_1d(keys @ project(X[0], Wq) / len(Wq[0]) ** 0.5) @ values
    return out


def _right_loop(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    keys, values = project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(keys @ project(x, Wq) / len(Wq[0]) ** 0.5) @ values for x in X])


@mistake
def adds_the_rows_up(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you added the outputs of all tokens. Each token keeps a row of its own."""
    return _right_loop(X, Wq, Wk, Wv, project).sum(axis=0)


@mistake
def a_list_of_rows(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> list[F]:
    """you returned a list of rows. One array of n rows is asked for: np.stack makes it from the list."""
    return list(_right_loop(X, Wq, Wk, Wv, project))


@mistake
def room_for_tokens(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you made room for n rows as wide as a token. An output is as wide as a value."""
    out = np.zeros_like(X)
    out[:] = _right_loop(X, Wq, Wk, Wv, project)
    return out


@mistake
def outputs_as_columns(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """your outputs stand in columns. Tokens are rows, at the end as at the beginning."""
    return _right_loop(X, Wq, Wk, Wv, project).T


@mistake
def loop_without_scale(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """the scores are not divided by √k here, as they are in attend_one."""
    queries, keys, values = project(X, Wq), project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(keys @ query) @ values for query in queries])


@mistake
def loop_scaled_by_model_width(X: F, Wq: F, Wk: F, Wv: F, project: Callable[[F, F], F]) -> F:
    """you divided by the root of d, the width of a token. The dot product runs over the k numbers of a query and a key."""
    keys, values = project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(keys @ project(x, Wq) / X.shape[1] ** 0.5) @ values for x in X])


@mistake
def keys_against_each_query(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """row i compares the key of token i with everybody's query. Token i asks: its query meets everybody's key."""
    queries, keys, values = project(X, Wq), project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(queries @ key / len(Wq[0]) ** 0.5) @ values for key in keys])


@mistake
def loop_in_float64(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """your answer is float64 where X was float32. Either np.zeros was given no dtype, or you divided by np.sqrt of a
    whole number, which numpy makes a float64."""
    out = np.zeros((len(X), Wv.shape[1]))
    out[:] = _right_loop(X, Wq, Wk, Wv, project)
    return out


@right
def loop_query_by_query(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    keys, values = project(X, Wk), project(X, Wv)
    out = np.empty((len(X), Wv.shape[1]), X.dtype)
    for i, x in enumerate(X):
        out[i] = softmax_1d(keys @ project(x, Wq) / math.sqrt(Wq.shape[1])) @ values
    return out


@right
def loop_row_by_row(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    keys = [project(x, Wk) for x in X]
    values = [project(x, Wv) for x in X]
    rows = []
    for x in X:
        query = project(x, Wq)
        weights = softmax_1d(np.array([query @ key for key in keys]) / math.sqrt(Wq.shape[1]))
        rows.append(sum(weight * value for weight, value in zip(weights, values, strict=True)))
    return np.array(rows)


@right
def loop_all_queries_first(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    queries, keys, values = (project(X, W) for W in (Wq, Wk, Wv))
    scores = np.einsum("nk,mk->nm", queries, keys) / Wq.shape[1] ** 0.5
    return np.einsum("nm,mv->nv", np.stack([softmax_1d(row) for row in scores]), values)


@right
def loop_side_by_side(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    k = Wq.shape[1]
    everything = project(X, np.concatenate([Wq, Wk, Wv], axis=1))
    queries, keys, values = everything[:, :k], everything[:, k : 2 * k], everything[:, 2 * k :]
    return np.stack([softmax_1d(keys @ query / k**0.5) @ values for query in queries])


@right
def loop_by_torch(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    import torch

    queries, keys, values = (torch.from_numpy(np.array(project(X, W))) for W in (Wq, Wk, Wv))
    rows = [torch.softmax(keys @ query / Wq.shape[1] ** 0.5, dim=0) @ values for query in queries]
    return torch.stack(rows).numpy()
