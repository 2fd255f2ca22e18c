"""Every query against every key, over the root of their width.

Queries and keys both lie in rows, so the keys are turned, and entry (i, j) is query i against key j. Each entry adds
up k products. Of random numbers such a sum has a spread of √k, 8 where k is 64, and dividing by √k makes it 1
whatever the width; n and m say how many sums there are, not how long they are. Dividing by k would make wide queries
nearly indifferent. `Q.shape[1] ** 0.5` is a Python number and leaves float32 alone, where `np.sqrt` of a whole number
makes float64.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal
from autograder.exercises.matrices.parts import sizes_in_band, some_numbers
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
    case(some_numbers(1, 4, 7), some_numbers(2, 5, 7)),
    case(some_numbers(3, 3, 11), some_numbers(4, 2, 11)),
    case(some_numbers(5, 6, 8), some_numbers(6, 3, 8)),
    case(some_numbers(7, 9, 1), some_numbers(8, 10, 1)),
    case(1e4 * some_numbers(9, 1, 5), some_numbers(10, 4, 5)),
)


@probe(1.5)
def scores(rng: np.random.Generator) -> list[Case]:
    """every query against every key, over the root of their width, all sizes different"""
    cases = []
    for band in range(3):
        n, m, k, _ = sizes_in_band(rng, band)
        cases.append(case(normal(rng, n, k, scale=2.0), normal(rng, m, k)))
    return cases


@probe(1.0)
def scores_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide (m = k, too) and other products would run"""
    n, _, k, _ = sizes_in_band(rng, 1)
    return [
        case(normal(rng, n, k, scale=2.0), normal(rng, k, k)),  # m = k: Q @ K runs
        case(normal(rng, n, k, scale=2.0), normal(rng, n, k)),  # n = m: Q.T @ K runs, and a turned table fits
        case(normal(rng, k, k, scale=2.0), normal(rng, k, k)),
    ]


@probe(0.5)
def scores_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single query, width 1, large scores, float32, arrays that lie otherwise in memory, as a transpose does"""
    n, m, k, _ = sizes_in_band(rng, 1)
    return [
        case(normal(rng, 1, k, scale=2.0), normal(rng, m, k)),
        case(normal(rng, n, 1, scale=2.0), normal(rng, m, 1)),
        case(normal(rng, n, k, scale=2.0, dtype="float32"), normal(rng, m, k, dtype="float32")),
        case(normal(rng, n, k, scale=2.0, order="strided"), normal(rng, m, k, order="F")),
        case(normal(rng, n, k, scale=1e4), normal(rng, m, k)),
    ]


@mistake
def no_scale(Q: F, K: F) -> F:
    """you did not divide by √k: these are the dot products themselves. The wider the queries, the larger these get, like √k, and
    the division takes that out again."""
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
def root_of_m(Q: F, K: F) -> F:
    """you divided by √m, and m counts the keys. How large a dot product gets depends on how many terms it sums,
    which is the width of one key."""
    return Q @ K.T / math.sqrt(K.shape[0])


@mistake
def times_root_k(Q: F, K: F) -> F:
    """you multiplied by √k. Dot products of wide vectors are too large already: they have to come down."""
    return Q @ K.T * math.sqrt(Q.shape[1])


@mistake
def root_in_float64(Q: F, K: F) -> F:
    """the numbers are right, but float32 went in and float64 came out. Either you divided by NumPy's root of an integer, which is a float64
    and pulls the whole table along, or the table was made by np.zeros with no dtype, or by astype(float)."""
    return Q @ K.T / np.sqrt(Q.shape[1])


@mistake
def times_k(Q: F, K: F) -> F:
    """you multiplied by k. Dot products of wide vectors are too large already: they have to come down, by √k."""
    return Q @ K.T * Q.shape[1]


@mistake
def keys_not_turned(Q: F, K: F) -> F:
    """you multiplied Q @ K as they are, which pairs rows of Q with columns of K. It runs only where m = k. A key is
    a row of K, and has to be stood up first."""
    return Q @ K / math.sqrt(Q.shape[1])


@mistake
def root_by_precedence(Q: F, K: F) -> F:
    """you divided by half of k. In Python `**` comes before `/`, so a power of 1 / 2 needs its own brackets."""
    return Q @ K.T / (Q.shape[1] / 2)


@mistake
def precedence_the_other_way(Q: F, K: F) -> F:
    """you divided by k, and then by 2. In Python `**` comes before `/`, and divisions go from left to right: a power of 1 / 2 needs its own
    brackets."""
    return Q @ K.T / Q.shape[1] / 2


@mistake
def whole_root(Q: F, K: F) -> F:
    """you divided by a whole number: the root of k was cut off after the point, by `int`, `//` or `math.isqrt`."""
    return Q @ K.T / int(Q.shape[1] ** 0.5)


@mistake
def rounded_root(Q: F, K: F) -> F:
    """you divided by a whole number: the root of k was rounded. It may have digits after the point."""
    return Q @ K.T / round(Q.shape[1] ** 0.5)


@mistake
def whole_scores(Q: F, K: F) -> F:
    """your scores are whole numbers: `//` cuts off what comes after the point."""
    return Q @ K.T // Q.shape[1] ** 0.5


@mistake
def always_two(Q: F, K: F) -> F:
    """you divided by 2, whatever k is. That is √k in the worked example, where k = 4."""
    return Q @ K.T / 2


@mistake
def always_eight(Q: F, K: F) -> F:
    """you divided by 8, whatever k is. That is √k where k = 64, as in many a model; here k may be any number."""
    return Q @ K.T / 8


@mistake
def root_three_times(Q: F, K: F) -> F:
    """you divided by √k three times: queries, keys and scores, perhaps. Once is enough."""
    return Q @ K.T / Q.shape[1] ** 1.5


@mistake
def fourth_root(Q: F, K: F) -> F:
    """you divided by the fourth root of k in all. √k once is right: in the scores, or in the queries, or a fourth root in the
    queries and another one in the keys."""
    return Q @ K.T / Q.shape[1] ** 0.25


@mistake
def root_of_the_whole(Q: F, K: F) -> F:
    """you took the root of the number of entries, n·k. It is the width alone that counts, the terms in one sum."""
    return Q @ K.T / Q.size**0.5


@mistake
def root_of_the_scores(Q: F, K: F) -> F:
    """you took the root of the scores; where one is below zero, NumPy gives nan. Take the root of the width k instead, and divide
    the scores by it."""
    with np.errstate(invalid="ignore"):
        return np.sqrt(Q @ K.T)


@mistake
def standardised_scores(Q: F, K: F) -> F:
    """you divided by the standard deviation of the scores that came out. √k is the spread to be expected of them: it depends on the width
    alone, and not on the numbers."""
    S = Q @ K.T
    return S / S.std()


@mistake
def keys_reshaped(Q: F, K: F) -> F:
    """you gave K the shape of its transpose with `reshape`. That deals the numbers out anew, in their old order, so that no column
    is a key. A transpose moves entry (j, x) to (x, j)."""
    return Q @ K.reshape(K.shape[1], K.shape[0]) / math.sqrt(Q.shape[1])


@mistake
def keys_reshaped_unscaled(Q: F, K: F) -> F:
    """two things at once. You gave K the shape of its transpose with `reshape`, which deals the numbers out anew, in their old order. And the
    scores are not divided by √k."""
    return Q @ K.reshape(K.shape[1], K.shape[0])


@mistake
def turned_and_unscaled(Q: F, K: F) -> F:
    """two things at once. Your table is turned: row i belongs to query i, column j to key j. And the scores are not divided by √k."""
    return K @ Q.T


@mistake
def not_turned_and_unscaled(Q: F, K: F) -> F:
    """two things at once. You multiplied Q @ K as they are, which pairs rows of Q with columns of K. And the scores are not divided by √k."""
    return Q @ K


@mistake
def each_with_its_own_key(Q: F, K: F) -> F:
    """you compared query i with key i alone. Every query meets every key: the answer is a table."""
    return (Q * K).sum(axis=1) / math.sqrt(Q.shape[1])


@mistake
def as_many_keys_as_queries(Q: F, K: F) -> F:
    """you let both loops run over the n queries. There are m keys, and m need not be n."""
    out = np.zeros((len(Q), len(K)), Q.dtype)
    for i in range(len(Q)):
        for j in range(len(Q)):
            out[i, j] = Q[i] @ K[j] / math.sqrt(Q.shape[1])
    return out


@mistake
def weights_already(Q: F, K: F) -> F:
    """you took softmax: these are weights already. Return the scores; softmax is the next exercise."""
    S = Q @ K.T / math.sqrt(Q.shape[1])
    E = np.exp(S - S.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


@mistake
def future_masked(Q: F, K: F) -> F:
    """you hid the later keys from each query. That is what notebook 03 is about; here every query meets every key."""
    S = Q @ K.T / math.sqrt(Q.shape[1])
    return np.where(np.tri(*S.shape) > 0, S, -np.inf).astype(S.dtype)


@mistake
def distances_for_dots(Q: F, K: F) -> F:
    """these are squared distances over the root. The dot product multiplies the two numbers of a feature; it takes no differences."""
    return ((Q[:, None] - K[None]) ** 2).sum(axis=-1) / math.sqrt(Q.shape[1])


@mistake
def rounded_scores(Q: F, K: F) -> F:
    """you rounded the scores to three decimals. Return them with all their digits."""
    return np.round(Q @ K.T / math.sqrt(Q.shape[1]), 3)


@mistake
def scores_in_float32(Q: F, K: F) -> F:
    """somewhere on the way is float32, which keeps about seven digits of the sixteen of float64."""
    return Q.astype(np.float32) @ K.astype(np.float32).T / np.float32(math.sqrt(Q.shape[1]))


@mistake
def lists_of_scores(Q: F, K: F) -> list[list[float]]:
    """all numbers are right, and they stand in a list of lists. An array is asked for, of the type of Q."""
    return (Q @ K.T / math.sqrt(Q.shape[1])).tolist()


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
