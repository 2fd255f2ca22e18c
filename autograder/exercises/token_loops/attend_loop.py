"""The outputs of all tokens, in a loop that projects each of them once.

A key and a value depend on their own token alone, whoever asks. So they are made once, before the loop, and 3n rows
are projected; the literal loop makes them anew in every turn, 78 rows in place of 18 for six tokens, and gets the
same numbers. A query belongs to one turn and may be made there. All three have to come from the `project` that is
given. It may bend what it returns, and then projecting a mixture of tokens is not mixing projected tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from autograder.exercises.model import Case, F, case, misses_the_idea, mistake, probe, right
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
    raised,
    rows_apart,
    sizes_in_band,
    some_tokens_and_weights,
    tokens_and_weights,
)
from autograder.exercises.token_loops.softmax_1d import softmax_1d
from course.trial.functions import Function, public_function

USES = ("softmax_1d",)
Project = Callable[[np.ndarray, np.ndarray], np.ndarray]
PROJECT = public_function("project")


def _free(*arguments: Any, **keywords: Any) -> int:
    return 0


UNCOUNTED = Function("project", PROJECT.run, _free)


def _clipping(X: F, Wq: F, Wk: F, Wv: F) -> Function:
    """A `project` that leaves queries and keys as they are and clips values: what it gives for a mixture of tokens is no mixture."""
    limit = 1.01 * max(np.abs(X @ Wq).max(), np.abs(X @ Wk).max())

    def project(x: np.ndarray, W: np.ndarray) -> np.ndarray:
        return np.asarray(np.clip(np.asarray(x) @ np.asarray(W), -limit, limit))

    return _counted(project, X)


def _counted(project: Callable[..., Any], X: F) -> Function:
    """A `project` that costs rows as wide as those of X: whoever packs several into a wide one saves none."""

    def rows(x: np.ndarray, W: np.ndarray) -> int:
        return math.ceil(np.size(x) / X.shape[1])

    return Function("project", project, rows)


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
    case(X4, WQ4, WK4, WV4, PROJECT),
    case(X4, WQ4, WK4, WV4, public_function("project", gain=2.0)),
    case(*some_tokens_and_weights(1, 5, 4, 7, 3), PROJECT),
    case(*some_tokens_and_weights(2, 4, 3, 11, 2), public_function("project", gain=1.5)),
    case(X4, WQ4, WK4, WV4, public_function("project", bent=True)),
    case(*raised(*some_tokens_and_weights(3, 4, 3, 5, 2), 2000.0), PROJECT),
    case(*raised(*some_tokens_and_weights(4, 4, 3, 2, 5), -2000.0), PROJECT),
    case(*some_tokens_and_weights(5, 1, 4, 3, 5), PROJECT),
    case(*rows_apart(*some_tokens_and_weights(6, 4, 5, 3, 2)), PROJECT),
)


@probe(1.0)
def loops(rng: np.random.Generator) -> list[Case]:
    """row i is the output of token i, all sizes different"""
    return [case(*tokens_and_weights(rng, *sizes_in_band(rng, band)), UNCOUNTED) for band in range(3)]


@probe(1.5)
def budgets(rng: np.random.Generator) -> list[Case]:
    """at most 3n rows are projected, all of them by `project`, whatever that does with them"""
    n, d, k, v = sizes_in_band(rng, 1, fewest=5)  # of four tokens, different ways to project too often cost the same
    gain = float(rng.uniform(1.5, 2.5))
    plain = tokens_and_weights(rng, n, d, k, v)
    stretched = tokens_and_weights(rng, n, d, k, v)
    X, Wq, Wk, Wv = tokens_and_weights(rng, n, d, k, v)
    wide = tokens_and_weights(rng, 5, 6, 8, 7)  # k + v > 2n: whoever projects weights by tokens pays for it
    return [
        case(*plain, _counted(PROJECT.run, plain[0])),
        case(*stretched, _counted(public_function("project", gain=gain).run, stretched[0])),
        case(X, Wq, Wk, 20 * Wv, _clipping(X, Wq, Wk, Wv)),
        case(*wide, _counted(PROJECT.run, wide[0])),
    ]


@probe(0.5)
def loops_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, n = v, scores in the thousands, of all tokens and of some, float32, and arrays that lie otherwise in memory, as a transpose does"""
    n, d, k, v = sizes_in_band(rng, 1)
    return [
        case(*tokens_and_weights(rng, 1, d, k, v), UNCOUNTED),
        case(*tokens_and_weights(rng, n, d, k, n), UNCOUNTED),  # n = v: outputs in columns have the right shape
        *(case(*raised(*tokens_and_weights(rng, n, d, k, v), level), UNCOUNTED) for level in (3000.0, -3000.0)),
        case(*rows_apart(*tokens_and_weights(rng, n, d, k, v)), UNCOUNTED),
        case(*tokens_and_weights(rng, n, d, k, v, dtype="float32"), UNCOUNTED),
        case(*tokens_and_weights(rng, n, d, k, v, orders=LAYOUTS), UNCOUNTED),
    ]


@misses_the_idea
def projects_again_for_each_query(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """the values are right, and all queries, keys and values are projected again for every query. They depend on their own token
    only, whoever asks: once is enough."""
    rows = []
    for x in X:
        scores = np.array([project(x, Wq) @ project(y, Wk) for y in X]) / len(Wq[0]) ** 0.5
        rows.append(softmax_1d(scores) @ np.stack([project(y, Wv) for y in X]))
    return np.stack(rows)


@misses_the_idea
def the_literal_loop(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """this is the literal loop: in the turn of each query it projects all keys and all values again. The outputs are right. A key
    and a value depend on their own token only, whoever asks."""
    rows = []
    for x in X:
        query, keys, values = project(x, Wq), project(X, Wk), project(X, Wv)
        rows.append(softmax_1d(keys @ query / len(Wq[0]) ** 0.5) @ values)
    return np.stack(rows)


@misses_the_idea
def one_of_three_again(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """the outputs are right. Of queries, keys and values, one kind is projected for all tokens again in every turn of the loop; which
    `project(X, ...)` still stands in there?"""
    keys = project(X, Wk)
    return np.stack([softmax_1d(keys @ project(x, Wq) / len(Wq[0]) ** 0.5) @ project(X, Wv) for x in X])


@mistake
def one_of_three_twice(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """the outputs are right, and n rows too many are projected: one of the three kinds, queries, keys or values, is made twice. Keep
    what `project` gave you."""
    project(X, Wq)
    return _right_loop(X, Wq, Wk, Wv, project)


@mistake
def all_of_them_twice(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """the outputs are right, and everything is projected twice. Keep what `project` gave you."""
    for W in (Wq, Wk, Wv):
        project(X, W)
    return _right_loop(X, Wq, Wk, Wv, project)


@mistake
def keys_and_values_twice(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """the outputs are right, and 2n rows too many are projected: two of the three kinds, queries, keys and values, are made twice.
    Keep what `project` gave you."""
    for W in (Wk, Wv):
        project(X, W)
    return _right_loop(X, Wq, Wk, Wv, project)


@mistake
def one_row_too_many(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """the outputs are right, and one row too many is projected, to see its shape, perhaps. A shape can be read off the weights."""
    project(X[0], Wv)
    return _right_loop(X, Wq, Wk, Wv, project)


@misses_the_idea
def goes_past_project(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """your projections do not go through `project`: they are not counted, and whatever else `project` does to a row is lost. Did you call
    attend_one for each token? In there, all keys and values are made again, n times over."""
    return np.stack([attend_one(i, X, Wq, Wk, Wv) for i in range(len(X))]).astype(X.dtype)


@mistake
def values_past_project(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """the values do not go through `project`. They are projections too."""
    queries, keys = project(X, Wq), project(X, Wk)
    return np.stack([softmax_1d(keys @ query / len(Wq[0]) ** 0.5) @ (X @ Wv) for query in queries])


@mistake
def mixes_before_projecting(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you mixed the tokens, and projected the mixture. For `x @ W` that is the same; for a `project` that does more to each row it is
    not. It is values that are mixed: first project every token, then mix."""
    queries, keys = project(X, Wq), project(X, Wk)
    weights = [softmax_1d(keys @ query / len(Wq[0]) ** 0.5) for query in queries]
    return np.asarray(project(np.stack(weights) @ X, Wv))


@mistake
def queries_and_keys_past_project(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """the values go through `project`; queries and keys do not. They are projections too."""
    values = project(X, Wv)
    return np.stack([softmax_1d(X @ Wk @ (x @ Wq) / len(Wq[0]) ** 0.5) @ values for x in X])


@mistake
def values_and_another_past_project(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """the values do not go through `project`, and the queries or the keys do not either. All three are projections."""
    keys = project(X, Wk)
    return np.stack([softmax_1d(keys @ (x @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wv) for x in X])


@mistake
def query_past_project(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """either the queries or the keys do not go through `project`. They are projections too, as the values are."""
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
    """every row is the output of the last token. Either each turn of the loop fills the same array again, or the query in use is
    always the last one."""
    keys, values = project(X, Wk), project(X, Wv)
    rows, row = [], np.zeros(Wv.shape[1], X.dtype)
    for x in X:
        row[:] = softmax_1d(keys @ project(x, Wq) / len(Wq[0]) ** 0.5) @ values
        rows.append(row)
    return np.stack(rows)


@mistake
def returns_too_early(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """only row 0 was filled. Does your function return inside the loop?"""
    keys, values = project(X, Wk), project(X, Wv)
    out = np.zeros((len(X), Wv.shape[1]), X.dtype)
    out[0] = softmax_1d(keys @ project(X[0], Wq) / len(Wq[0]) ** 0.5) @ values
    return out


def _right_loop(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    keys, values = project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(keys @ project(x, Wq) / len(Wq[0]) ** 0.5) @ values for x in X])


@mistake
def rows_added_on(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """each row holds the outputs before it as well. What a turn of the loop adds up has to begin anew in it."""
    return np.cumsum(_right_loop(X, Wq, Wk, Wv, project), axis=0).astype(X.dtype)


@mistake
def rows_end_to_end(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """all numbers are right, and they stand end to end, with one axis. `np.stack` puts rows below one another; `np.concatenate` and
    `np.hstack` put them behind one another."""
    return np.concatenate(list(_right_loop(X, Wq, Wk, Wv, project)))


@mistake
def an_axis_between(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """all numbers are right, and there is an axis of size 1 too many: `X[i:i + 1]` keeps two axes, `X[i]` has one."""
    return _right_loop(X, Wq, Wk, Wv, project)[:, None, :]


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
    """you did not divide the scores by √k before the softmax, as `attend_one` does."""
    queries, keys, values = project(X, Wq), project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(keys @ query) @ values for query in queries])


def _loop_divided_by(root: float, X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    keys, values = project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(keys @ project(x, Wq) / root) @ values for x in X])


@mistake
def loop_scaled_by_model_width(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you divided by the root of d, the width of a token. The dot product runs over the k numbers of a query and a key."""
    return _loop_divided_by(X.shape[1] ** 0.5, X, Wq, Wk, Wv, project)


@mistake
def loop_scaled_by_tokens(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you divided by the root of n, the length of the text (`len` of a table counts its rows). The dot product runs over the k numbers of
    a query and a key."""
    return _loop_divided_by(len(X) ** 0.5, X, Wq, Wk, Wv, project)


@mistake
def loop_scaled_by_value_width(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you divided by the root of v, the width of a value. The dot product runs over the k numbers of a query and a key."""
    return _loop_divided_by(Wv.shape[1] ** 0.5, X, Wq, Wk, Wv, project)


@mistake
def loop_scaled_by_k(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you divided by k: at once, or by √k twice, before the loop and in it. Once by √k is enough."""
    return _loop_divided_by(Wq.shape[1], X, Wq, Wk, Wv, project)


@mistake
def loop_scaled_by_whole_root(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you divided by a whole number: the root of k was cut off after the point, by `int`, `//` or `math.isqrt`."""
    return _loop_divided_by(int(Wq.shape[1] ** 0.5), X, Wq, Wk, Wv, project)


@mistake
def loop_scaled_by_half_of_k(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you divided by half of k. In Python `**` comes before `/`: a power of 1 / 2 needs brackets of its own."""
    return _loop_divided_by(Wq.shape[1] / 2, X, Wq, Wk, Wv, project)


@mistake
def loop_scaled_by_two(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you divided the scores by 2, whatever k is. That is √k in the worked example, where k = 4."""
    return _loop_divided_by(2, X, Wq, Wk, Wv, project)


@mistake
def loop_scaled_the_wrong_way(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you multiplied the scores by √k. Dot products of wide vectors are large already: they have to come down."""
    return _loop_divided_by(Wq.shape[1] ** -0.5, X, Wq, Wk, Wv, project)


@mistake
def loop_scaled_after_softmax(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you divided by √k after the softmax. The weights then no longer add up to 1; scale the scores, then take the softmax."""
    return _loop_divided_by(1, X, Wq, Wk, Wv, project) / Wq.shape[1] ** 0.5


@mistake
def loop_over_the_past(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """each token of yours listens to itself and the tokens before it only. That is what notebook 03 is about; here every token
    listens to all n. (Are keys and values gathered in the loop over the queries? Then the first query finds one of each.)"""
    queries, keys, values = project(X, Wq), project(X, Wk), project(X, Wv)
    rows = [softmax_1d(keys[: i + 1] @ queries[i] / len(Wq[0]) ** 0.5) @ values[: i + 1] for i in range(len(X))]
    return np.stack(rows)


@mistake
def loop_without_itself(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """each token of yours listens to all others and not to itself. j runs over all n, and that includes i."""
    queries, keys, values = project(X, Wq), project(X, Wk), project(X, Wv)
    rows = []
    for i in range(len(X)):
        others = [j for j in range(len(X)) if j != i]
        weights = softmax_1d(keys[others] @ queries[i] / len(Wq[0]) ** 0.5)
        rows.append(weights @ values[others])
    return np.stack(rows)


@mistake
def loop_with_naive_softmax(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you took the exponential of the scores with nothing taken off first. Large scores overflow to inf, scores far below zero
    leave 0 / 0, and both end in nan: `softmax_1d` knows what to do."""
    queries, keys, values = project(X, Wq), project(X, Wk), project(X, Wv)
    powers = [np.exp(keys @ query / len(Wq[0]) ** 0.5) for query in queries]
    return np.stack([e / e.sum() @ values for e in powers])


@mistake
def one_maximum_for_all_pairs(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you took one maximum off all scores of all tokens. Where a token's own scores lie far below it, all its exponentials are 0, and
    0/0 is not a number. Each token has a maximum of its own."""
    Q, K, V = project(X, Wq), project(X, Wk), project(X, Wv)
    S = Q @ K.T / Wq.shape[1] ** 0.5
    E = np.exp(S - S.max())
    with np.errstate(invalid="ignore"):
        return E / E.sum(axis=1, keepdims=True) @ V


@mistake
def weights_projected_by_tokens(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you handed over the weights in the place of the tokens, and the tokens in the place of the weights. The numbers are right once they
    are turned, and `project` counts rows of weights: k and v of them, however few tokens there are."""
    Q, K, V = project(X, Wq), project(Wk.T, X.T).T, project(Wv.T, X.T).T
    return np.array([softmax_1d(K @ q / Wq.shape[1] ** 0.5) @ V for q in Q])


@mistake
def loop_without_softmax(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you used the scores as weights. They can be negative and they do not add up to 1: softmax is missing."""
    queries, keys, values = project(X, Wq), project(X, Wk), project(X, Wv)
    return np.stack([keys @ query / len(Wq[0]) ** 0.5 @ values for query in queries])


@mistake
def loop_over_tokens_for_values(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you mixed the tokens themselves. What is mixed are their values, so an output is as wide as a value."""
    queries, keys = project(X, Wq), project(X, Wk)
    return np.stack([softmax_1d(keys @ query / len(Wq[0]) ** 0.5) @ X for query in queries])


@mistake
def loop_over_keys_for_values(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you mixed the keys. Keys only decide the weights; what is handed on are the values."""
    queries, keys = project(X, Wq), project(X, Wk)
    return np.stack([softmax_1d(keys @ query / len(Wq[0]) ** 0.5) @ keys for query in queries])


@mistake
def weights_of_all_queries(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you returned the weights. One step is left: mix the values with them."""
    queries, keys = project(X, Wq), project(X, Wk)
    return np.stack([softmax_1d(keys @ query / len(Wq[0]) ** 0.5) for query in queries])


@mistake
def even_mixes(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """every output is the plain mean of all values. Softmax of one score alone is 1, whatever the score: it needs all n scores of a query
    in one call."""
    project(X, Wq), project(X, Wk)
    return np.stack([project(X, Wv).mean(axis=0)] * len(X))


@mistake
def softmax_across_queries(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """your weights add up to 1 over the queries, for each key. It is the other way round: each query has weights that add up to 1 over
    the keys."""
    queries, keys, values = project(X, Wq), project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(queries @ key / len(Wq[0]) ** 0.5) for key in keys], axis=1) @ values


@mistake
def keys_by_the_weight_of_queries(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you made the keys with Wq. Keys have a weight matrix of their own."""
    queries, keys, values = project(X, Wq), project(X, Wq), project(X, Wv)
    return np.stack([softmax_1d(keys @ query / len(Wq[0]) ** 0.5) @ values for query in queries])


@mistake
def queries_by_the_weight_of_keys(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you made the queries with Wk. Queries have a weight matrix of their own."""
    queries, keys, values = project(X, Wk), project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(keys @ query / len(Wq[0]) ** 0.5) @ values for query in queries])


@mistake
def powers_as_weights(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you took powers of the scores and did not divide them by their sum: the weights do not add up to 1, and large scores overflow."""
    queries, keys, values = project(X, Wq), project(X, Wk), project(X, Wv)
    return np.stack([np.exp(keys @ query / len(Wq[0]) ** 0.5) @ values for query in queries])


@mistake
def softmax_over_all_pairs(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """all your weights together add up to 1. Those of each query should do so by themselves."""
    queries, keys, values = project(X, Wq), project(X, Wk), project(X, Wv)
    scores = queries @ keys.T / len(Wq[0]) ** 0.5
    return softmax_1d(scores.ravel()).reshape(scores.shape) @ values


@mistake
def best_value_for_each(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """each output is the value of the one token whose key fits best. The others get less weight, but they do get some."""
    queries, keys, values = project(X, Wq), project(X, Wk), project(X, Wv)
    return np.stack([values[(keys @ query).argmax()] for query in queries])


@mistake
def last_row_left_out(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """the last row was not filled. `range(n)` already stops at n - 1, the last index."""
    out = _right_loop(X, Wq, Wk, Wv, project)
    out[-1] = 0
    return out


@mistake
def first_output_alone(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you returned the output of token 0 alone. Does your function return inside the loop?"""
    return _right_loop(X, Wq, Wk, Wv, project)[0]


@mistake
def last_output_alone(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you returned the output of the last token alone. If each turn of the loop overwrites it, collect the outputs instead."""
    return _right_loop(X, Wq, Wk, Wv, project)[-1]


@mistake
def own_value_added(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you added each token's own value once more. It is one of the n that are mixed, with its weight, and that is all."""
    queries, keys, values = project(X, Wq), project(X, Wk), project(X, Wv)
    mixed = [softmax_1d(keys @ query / len(Wq[0]) ** 0.5) @ values for query in queries]
    return np.stack(mixed) + values


@mistake
def lists_of_outputs(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> list[list[float]]:
    """you returned a list of lists. One array of n rows is asked for: np.stack makes it from the rows."""
    return _right_loop(X, Wq, Wk, Wv, project).tolist()


@mistake
def literal_loop_without_scale(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """two things at once. In the turn of each query all keys and all values are projected again. And the scores are not divided by √k."""
    rows = []
    for x in X:
        query, keys, values = project(x, Wq), project(X, Wk), project(X, Wv)
        rows.append(softmax_1d(keys @ query) @ values)
    return np.stack(rows)


@mistake
def outputs_of_three_digits(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you rounded the outputs. The worked example does so only to fit the page; return all digits."""
    return np.round(_right_loop(X, Wq, Wk, Wv, project), 3)


@mistake
def rounded_loop(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """you rounded the outputs. The worked example does so only to fit the page; return all digits."""
    return np.round(_right_loop(X, Wq, Wk, Wv, project), 2)


@mistake
def keys_against_each_query(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """row i compares the key of token i with everybody's query. Token i asks: its query meets everybody's key."""
    queries, keys, values = project(X, Wq), project(X, Wk), project(X, Wv)
    return np.stack([softmax_1d(queries @ key / len(Wq[0]) ** 0.5) @ values for key in keys])


@mistake
def loop_in_float64(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    """your answer is float64 where X was float32. Either np.zeros was given no dtype, or there is an astype(float), or
    you divided by np.sqrt of a whole number, which NumPy makes a float64."""
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
def loop_with_keywords(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    keys, values = project(X, W=Wk), project(x=X, W=Wv)  # type: ignore[call-arg]
    return np.stack([softmax_1d(keys @ project(x, W=Wq) / len(Wq[0]) ** 0.5) @ values for x in X])  # type: ignore[call-arg]


@right
def loop_of_plain_softmaxes(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    queries, keys, values = (project(X, W) for W in (Wq, Wk, Wv))
    out = np.zeros_like(X, shape=(len(X), values.shape[1]))
    for i, query in enumerate(queries):
        scores = [query @ key / math.sqrt(len(key)) for key in keys]
        top = max(scores)
        powers = [math.exp(score - top) for score in scores]
        for power, value in zip(powers, values, strict=True):
            out[i] += power / sum(powers) * value
    return out


@right
def loop_by_torch(X: F, Wq: F, Wk: F, Wv: F, project: Project) -> F:
    import torch

    queries, keys, values = (torch.from_numpy(np.array(project(X, W))) for W in (Wq, Wk, Wv))
    rows = [torch.softmax(keys @ query / Wq.shape[1] ** 0.5, dim=0) @ values for query in queries]
    return torch.stack(rows).numpy()
