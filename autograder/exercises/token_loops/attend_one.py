"""The output of attention for one token.

Token i asks with its query. Every token, i itself too, answers with its key and hands over its value, so there are n
scores, n weights, and a mixture that is as wide as a value. A score adds up k products, and the spread of such a sum
grows like √k, so it is divided by √k; n, d and v have no part in it. Softmax takes all n scores in one call: of a
single score it is always 1. Mixing tokens or keys gives the right shape where widths coincide, and is still another
thing.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

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
    raised,
    sizes_in_band,
    some_tokens_and_weights,
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
    case(3, *some_tokens_and_weights(1, 5, 4, 7, 3)),
    case(1, *some_tokens_and_weights(2, 4, 3, 11, 2)),
    case(0, *some_tokens_and_weights(3, 1, 4, 3, 5)),
    case(1, *raised(*some_tokens_and_weights(4, 4, 3, 5, 2), -2000.0)),
)


@probe(2.0)
def one_token(rng: np.random.Generator) -> list[Case]:
    """the output of the first, a middle and the last token, all sizes different"""
    cases = []
    for band in range(3):
        n, d, k, v = sizes_in_band(rng, band)
        i = (0, int(rng.integers(1, n - 1)), n - 1)[band]
        cases.append(case(i, *tokens_and_weights(rng, n, d, k, v)))
    return cases


@probe(1.0)
def one_token_same_sizes(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide and a wrong turn would give the right shape"""
    n, d, k, _ = sizes_in_band(rng, 1)
    i = int(rng.integers(1, n - 1))
    return [
        case(i, *tokens_and_weights(rng, n, k, k, k)),  # weights from the left run
        case(i, *tokens_and_weights(rng, n, d, k, d)),  # mixing tokens gives the right shape
        case(i, *tokens_and_weights(rng, n, d, k, k)),  # so does mixing keys
        case(i, *tokens_and_weights(rng, n, d, k, n)),  # so do the weights
    ]


@probe(0.5)
def one_token_extreme(rng: np.random.Generator) -> list[Case]:
    """a text of one token, and scores in the thousands, above zero and below"""
    n, d, k, v = sizes_in_band(rng, 1)
    i = int(rng.integers(1, n - 1))
    return [
        case(0, *tokens_and_weights(rng, 1, d, k, v)),
        *(case(i, *raised(*tokens_and_weights(rng, n, d, k, v), level)) for level in (3000.0, -3000.0)),
    ]


@probe(0.5)
def one_token_dtypes(rng: np.random.Generator) -> list[Case]:
    """float32, and arrays that lie otherwise in memory, as a transpose does"""
    n, d, k, v = sizes_in_band(rng, 1)
    i = int(rng.integers(1, n - 1))
    return [
        case(i, *tokens_and_weights(rng, n, d, k, v, dtype="float32")),
        case(i, *tokens_and_weights(rng, n, d, k, v, orders=LAYOUTS)),
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
def drops_itself_from_a_sum(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F | int:
    """you left the value of token i out of the sum, though it has a weight. What is left of the weights adds up to less than 1, and in a
    text of one token the sum has no terms at all: j runs over all n."""
    weights = softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5)
    return sum(weights[j] * (X[j] @ Wv) for j in range(len(X)) if j != i)


@mistake
def drops_itself_from_an_array(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you left the weighted value of token i out, though it has a weight. What is left of the weights adds up to less than 1, and in a
    text of one token there is nothing to add up: j runs over all n."""
    weights = softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5)
    return np.stack([weights[j] * (X[j] @ Wv) for j in range(len(X)) if j != i]).sum(axis=0)


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
def dots_as_weights(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you used the dot products as weights, neither scaled nor through softmax. They can be negative and they do not add up
    to 1."""
    return X @ Wk @ (X[i] @ Wq) @ (X @ Wv)


@mistake
def scores_over_their_sum(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided the scores by their sum. They add up to 1 then, and some may be negative: softmax takes powers first."""
    scores = X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5
    return scores / scores.sum() @ (X @ Wv)


@mistake
def powers_not_divided(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you took powers of the scores and did not divide them by their sum: the weights do not add up to 1, and large scores
    overflow."""
    return np.exp(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wv)


@mistake
def smallest_score_wins(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """the key that fits worst has the largest weight: there is a sign too many in the scores."""
    return softmax_1d(-(X @ Wk @ (X[i] @ Wq)) / len(Wq[0]) ** 0.5) @ (X @ Wv)


@mistake
def even_weights(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """your answer is the plain mean of all values. How well each key fits the query should make the difference. (Softmax of one
    score alone is 1, whatever the score: it needs all n of them in one call.)"""
    return (X @ Wv).mean(axis=0)


@mistake
def sum_of_values(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """your answer is the sum of all values, each with weight 1. Softmax of one score alone is 1, whatever the score: it needs all n
    of them in one call."""
    return (X @ Wv).sum(axis=0)


@mistake
def best_value_only(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """your answer is the value of the one token whose key fits best. The others get less weight, but they do get some."""
    return (X @ Wv)[(X @ Wk @ (X[i] @ Wq)).argmax()]


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
def query_as_a_key(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you made the query with Wk. Queries have a weight matrix of their own."""
    return softmax_1d(X @ Wk @ (X[i] @ Wk) / len(Wq[0]) ** 0.5) @ (X @ Wv)


@mistake
def nothing_projected(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you compared the tokens themselves. What meets in a dot product are a query and keys, which Wq and Wk make of them."""
    return softmax_1d(X @ X[i] / len(Wq[0]) ** 0.5) @ (X @ Wv)


@mistake
def mixes_queries(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you mixed queries. What is handed on are the values, which Wv makes."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wq)


@mistake
def no_scale(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you did not divide the scores by √k before the softmax."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq)) @ (X @ Wv)


@mistake
def scale_by_k(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided the scores by k: at once, or by √k twice, in the query and in the key or before and after. Once by √k is
    enough."""
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
def scale_by_whole_root(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided by a whole number: the root of k was cut off after the point, by `int`, `//` or `math.isqrt`."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / int(len(Wq[0]) ** 0.5)) @ (X @ Wv)


@mistake
def scale_by_half_of_k(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided by half of k. In Python `**` comes before `/`: a power of 1 / 2 needs brackets of its own."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / (len(Wq[0]) / 2)) @ (X @ Wv)


@mistake
def scale_by_a_quarter_of_k(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided by k and then by 2. In Python `**` comes before `/`, and `a / b ** 1 / 2` is `(a / b) / 2`: a power of 1 / 2 needs
    brackets of its own."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) / 2) @ (X @ Wv)


@mistake
def scale_by_two(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided the scores by 2, whatever k is. That is √k in the worked example, where k = 4."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / 2) @ (X @ Wv)


@mistake
def scale_by_eight(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided the scores by 8, whatever k is. That is √k where k = 64, as in many a model; here k may be any number."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / 8) @ (X @ Wv)


@mistake
def scale_the_wrong_way(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you multiplied the scores by √k. Dot products of wide vectors are large already: they have to come down."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) * len(Wq[0]) ** 0.5) @ (X @ Wv)


@mistake
def cosines_for_scores(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you divided by the lengths of query and key, which gives cosines. All scores are divided by one and the same number, √k."""
    query, keys = X[i] @ Wq, X @ Wk
    cosines = keys @ query / (np.linalg.norm(keys, axis=1) * np.linalg.norm(query))
    return softmax_1d(cosines) @ (X @ Wv)


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
def only_the_future(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """token i listens to itself and the tokens behind it only. Nothing is hidden here: j runs over all n."""
    behind = X[i:]
    return softmax_1d(behind @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (behind @ Wv)


@mistake
def counts_from_one(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you answered for token i - 1. Tokens are counted from zero: the first one has i = 0."""
    return softmax_1d(X @ Wk @ (X[i - 1] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wv)


@mistake
def always_the_first(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you answered for token 0, whichever was asked for. Which token asks is the argument i."""
    return softmax_1d(X @ Wk @ (X[0] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wv)


@mistake
def always_the_last(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you answered for the last token, whichever was asked for. Does a loop of yours use the letter i as well?"""
    return softmax_1d(X @ Wk @ (X[-1] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wv)


@mistake
def the_next_one(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you answered for token i + 1. Tokens are counted from zero: the first one has i = 0."""
    return softmax_1d(X @ Wk @ (X[(i + 1) % len(X)] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wv)


@mistake
def each_with_itself(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """each of your scores compares the query of token j with the key of token j. It is the query of token i that meets all keys. Does a loop of
    yours use the letter i as well?"""
    scores = ((X @ Wq) * (X @ Wk)).sum(axis=1) / len(Wq[0]) ** 0.5
    return softmax_1d(scores) @ (X @ Wv)


@mistake
def never_the_last(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you left out the last token. `range(n)` already stops at n - 1, the last index."""
    return softmax_1d(X[:-1] @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (X[:-1] @ Wv)


@mistake
def three_tokens(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you look at three tokens, however long the text is. "tea is hot" has three; others have more or fewer."""
    keys, values = np.stack([X[j] @ Wk for j in range(3)]), np.stack([X[j] @ Wv for j in range(3)])
    return softmax_1d(keys @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ values


@mistake
def all_tokens_at_once(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you computed the outputs of all tokens. Return that of token i alone, with one axis."""
    weights = np.stack([softmax_1d(X @ Wk @ (x @ Wq) / len(Wq[0]) ** 0.5) for x in X])
    return weights @ (X @ Wv)


@mistake
def values_not_added(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you returned the weighted values, one below the other. One step is left: add them up."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5)[:, None] * (X @ Wv)


@mistake
def added_up_to_one_number(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you added up everything: your answer is one number. The tokens are what is added up, feature by feature; `np.sum` does that only if
    it is told the axis."""
    return np.sum(softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5)[:, None] * (X @ Wv))


@mistake
def the_others_added_up_to_one_number(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """two things at once. You added up everything, so that your answer is one number: `np.sum` adds up the tokens, feature by feature, only if
    it is told the axis. And you left the value of token i out, though it has a weight: j runs over all n."""
    weights = softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5)
    return np.sum([weights[j] * (X[j] @ Wv) for j in range(len(X)) if j != i])


@mistake
def last_weighted_value(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """your answer is the last weighted value alone: in a loop, `=` overwrites what stood there, where each value should be added
    to it."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5)[-1] * (X[-1] @ Wv)


@mistake
def one_row_for_one_token(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """all numbers are right, and they are a table of one row. One token's output has one axis: `X[i:i + 1]` keeps two, `X[i]` has
    one."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5)[None, :] @ (X @ Wv)


@mistake
def list_for_an_output(i: int, X: F, Wq: F, Wk: F, Wv: F) -> list[float]:
    """all numbers are right, and they stand in a list. An array is asked for, of the type of X."""
    out = softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wv)
    return [float(x) for x in out]


@mistake
def rounded_output(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you rounded the output. The worked example does so only to fit the page; return all digits."""
    return np.round(softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wv), 3)


@mistake
def output_of_two_digits(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you rounded the output. The worked example does so only to fit the page; return all digits."""
    return np.round(softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wv), 2)


@mistake
def all_scores_below_zero(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """where all scores are below zero you take nothing off them before the exponential: the maximum starts at 0. Far below zero
    every power is then 0, and 0 / 0 is nan; `softmax_1d` knows what to do."""
    scores = X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5
    e = np.exp(scores - max(0.0, scores.max()))
    return e / e.sum() @ (X @ Wv)


@mistake
def scores_and_weights(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you multiplied the values by their scores, softmax and all: scores and weights were both used. The weights alone say how much."""
    scores = X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5
    return softmax_1d(scores) * scores @ (X @ Wv)


@mistake
def itself_added(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you added the value of token i once more. It is one of the n that are mixed, with its weight, and that is all."""
    return softmax_1d(X @ Wk @ (X[i] @ Wq) / len(Wq[0]) ** 0.5) @ (X @ Wv) + X[i] @ Wv


@mistake
def weights_from_the_left(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you put the weight matrices on the left of the token. Tokens are rows here, so the matrix stands on the
    right."""
    keys, values = np.stack([Wk @ x for x in X]), np.stack([Wv @ x for x in X])
    return softmax_1d(keys @ (Wq @ X[i]) / len(Wq[0]) ** 0.5) @ values


@mistake
def softmax_of_its_own(i: int, X: F, Wq: F, Wk: F, Wv: F) -> F:
    """you took the exponential of the scores with nothing taken off first. Large scores overflow to inf, and inf / inf is nan:
    `softmax_1d` knows what to do."""
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
    """your answer is float64 where X was float32. Either np.zeros was given no dtype, or there is an astype(float), or
    you divided by np.sqrt of a whole number, which NumPy makes a float64; a plain Python float leaves the dtype of an array alone."""
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
