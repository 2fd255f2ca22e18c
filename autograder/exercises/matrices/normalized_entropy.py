"""How close weights are to one winner, with scaled scores and without: entropy."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.matrices.scaled_scores import scaled_scores
from autograder.exercises.matrices.softmax import softmax
from autograder.exercises.model import Case, F, case, mistake, probe, right

USES = ("scaled_scores", "softmax")


def normalized_entropy(Q: Float[np.ndarray, "n k"], K: Float[np.ndarray, "m k"]) -> tuple[float, float]:
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


PUBLIC = (
    case(np.array([[2.0, 0.0, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])),
    case(np.array([[3.0, 0.0], [0.0, -2.0], [0.5, 1.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0], [0.0, 0.5]])),
    case(
        np.array([[1000.0, 0.0, 0.0], [0.0, 1.0, 0.5]]),
        np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
    ),
)


@probe(1.0)
def moderate_scores(rng: np.random.Generator) -> list[Case]:
    """the two numbers on moderate scores, all sizes different"""
    n, m, k = sizes(rng, 3, low=3)
    return [case(normal(rng, n, k), normal(rng, m, k)), case(normal(rng, m, n), normal(rng, k, n))]


@probe(0.5)
def saturated_rows(rng: np.random.Generator) -> list[Case]:
    """rows so saturated that some weights are exactly 0"""
    n, m, k = sizes(rng, 3, low=3)
    few, many = normal(rng, n, k), normal(rng, n, k)
    few[0] *= 1e4  # a saturated row has weights of exactly 0
    many[1:] *= 1e4  # one row stays moderate: where all are saturated, nothing but rounding is left of the entropy
    return [case(few, normal(rng, m, k)), case(many, normal(rng, m, k))]


@probe(0.5)
def entropy_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single query, even weights, equal sizes, and arrays that are not contiguous"""
    n, m, k = sizes(rng, 3, low=3)
    return [
        case(normal(rng, 1, k), normal(rng, m, k)),
        case(np.zeros((n, k)), normal(rng, m, k)),  # even weights: 1 and 1
        case(normal(rng, n, k, order="strided"), normal(rng, m, k, order="F")),
        case(normal(rng, n, n), normal(rng, n, n)),
    ]


def _entropies(A: F) -> F:
    logs = np.log(np.where(A > 0, A, 1.0))
    return -(A * logs).sum(axis=1)


@mistake
def over_log_k(Q: F, K: F) -> tuple[float, float]:
    """you divided by log k, and k is the width of a key. Entropy is largest when all keys share the weight evenly:
    how many are they?"""
    top = np.log(K.shape[1])
    return _entropies(softmax(Q @ K.T)).mean() / top, _entropies(softmax(scaled_scores(Q, K))).mean() / top


@mistake
def over_log_n(Q: F, K: F) -> tuple[float, float]:
    """you divided by log n, and n counts the queries. Each row spreads its weight over the keys: how many are they?"""
    top = np.log(Q.shape[0])
    return _entropies(softmax(Q @ K.T)).mean() / top, _entropies(softmax(scaled_scores(Q, K))).mean() / top


@mistake
def not_normalised(Q: F, K: F) -> tuple[float, float]:
    """this is the entropy in nats. Divide by the largest value it can have, so that 1 means even weights, for any
    number of keys."""
    return _entropies(softmax(Q @ K.T)).mean(), _entropies(softmax(scaled_scores(Q, K))).mean()


@mistake
def zero_times_log_zero(Q: F, K: F) -> tuple[float, float]:
    """where a weight is exactly 0 you get 0 · log 0, and numpy makes 0 · (-inf) = nan of it. A key without weight
    adds nothing to the entropy."""
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    first, second = (-(P * np.log(P)).sum(axis=1).mean() / np.log(len(K)) for P in (A, B))
    return first, second


@mistake
def drops_saturated_rows(Q: F, K: F) -> tuple[float, float]:
    """rows with a weight of exactly 0 fell out of your mean, since their entropy came out as nan. They are the
    saturated ones, and their entropy is a number: leave out the zero weight, not the row."""
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    first, second = (np.nanmean(-(P * np.log(P)).sum(axis=1)) / np.log(len(K)) for P in (A, B))
    return first, second


@mistake
def nudged_logarithm(Q: F, K: F) -> tuple[float, float]:
    """you added 1e-9 inside the logarithm to keep it finite, and that moves the ninth digit. What a weight of 0
    contributes can be said exactly."""
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    first, second = (-(P * np.log(P + 1e-9)).sum(axis=1).mean() / np.log(len(K)) for P in (A, B))
    return first, second


@mistake
def averages_the_weights_first(Q: F, K: F) -> tuple[float, float]:
    """you averaged the weights over the queries, and took the entropy of the average. Two queries that each stare
    at one key, but not at the same one, are saturated, and their average is not."""
    top = np.log(len(K))
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    first, second = (_entropies(P.mean(axis=0, keepdims=True))[0] / top for P in (A, B))
    return first, second


@mistake
def mean_over_everything(Q: F, K: F) -> tuple[float, float]:
    """you took the mean over all entries. The entropy of a row is the sum of its terms; the mean comes after, over rows."""
    results = []
    for S in (Q @ K.T, Q @ K.T / Q.shape[1] ** 0.5):
        A = softmax(S)
        results.append(float(-(A * np.log(np.where(A > 0, A, 1.0))).mean() / np.log(len(K))))
    return results[0], results[1]


@mistake
def adds_up_the_rows(Q: F, K: F) -> tuple[float, float]:
    """you added up the entropies of all rows. The mean of them is wanted, or more queries would look less saturated."""
    top = np.log(len(K))
    return _entropies(softmax(Q @ K.T)).sum() / top, _entropies(softmax(scaled_scores(Q, K))).sum() / top


@mistake
def scaled_comes_first(Q: F, K: F) -> tuple[float, float]:
    """you returned the scaled one first. The order is unscaled, then scaled."""
    top = np.log(len(K))
    return _entropies(softmax(scaled_scores(Q, K))).mean() / top, _entropies(softmax(Q @ K.T)).mean() / top


@mistake
def sign_forgotten(Q: F, K: F) -> tuple[float, float]:
    """your entropies are negative. The logarithm of a weight is at most 0, and entropy carries a minus sign to make
    up for it."""
    top = np.log(len(K))
    return -_entropies(softmax(Q @ K.T)).mean() / top, -_entropies(softmax(scaled_scores(Q, K))).mean() / top


@mistake
def bits_over_nats(Q: F, K: F) -> tuple[float, float]:
    """you took logarithms to base 2 in the entropy and natural ones below, or the other way round. Either will do,
    if both are the same."""
    top = np.log(len(K)) * np.log(2)
    return _entropies(softmax(Q @ K.T)).mean() / top, _entropies(softmax(scaled_scores(Q, K))).mean() / top


@mistake
def entropy_of_columns(Q: F, K: F) -> tuple[float, float]:
    """you summed over the queries and averaged over the keys. The weights of one query are a row; the entropy is
    that of a row."""
    top = np.log(len(K))
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    return _entropies(A.T).mean() / top, _entropies(B.T).mean() / top


@right
def entropy_by_where(Q: F, K: F) -> tuple[float, float]:
    def evenness(S: F) -> float:
        A = softmax(S)
        terms = np.zeros_like(A)
        np.log(A, out=terms, where=A > 0)
        return float(-(A * terms).sum(axis=-1).mean() / math.log(K.shape[0]))

    return evenness(Q @ K.T), evenness(scaled_scores(Q, K))


@right
def entropy_by_nansum(Q: F, K: F) -> tuple[float, float]:
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    with np.errstate(all="ignore"):
        first, second = (-np.nansum(P * np.log(P), axis=1).mean() / np.log(len(K)) for P in (A, B))
    return first, second


@right
def entropy_by_log_sums(Q: F, K: F) -> tuple[float, float]:
    def evenness(S: F) -> float:
        S = S - S.max(axis=1, keepdims=True)
        totals = np.log(np.exp(S).sum(axis=1))
        return float(np.mean(totals - (softmax(S) * S).sum(axis=1)) / np.log(S.shape[1]))

    return evenness(Q @ K.T), evenness(scaled_scores(Q, K))


@right
def entropy_by_loops(Q: F, K: F) -> tuple[float, float]:
    found = []
    for S in (Q @ K.T, scaled_scores(Q, K)):
        entropies = [sum(-p * math.log(p) for p in row if p > 0) for row in softmax(S)]
        found.append(sum(entropies) / len(entropies) / math.log(len(K)))
    return found[0], found[1]


@right
def entropy_in_bits(Q: F, K: F) -> tuple[float, float]:
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    first, second = (-np.sum(P * np.log2(np.maximum(P, 1e-300)), axis=1).mean() / np.log2(len(K)) for P in (A, B))
    return first, second
