"""How close weights are to one winner, with scaled scores and without: entropy.

Evenly shared weights have the largest entropy, log m, so dividing by that gives 1 for them, however many keys there
are. A weight of 0 adds nothing, as p·log p goes to 0 with p, but a computer makes NaN of 0 times −∞. Putting a 1
inside the logarithm at these places is exact, since log 1 is 0; a small number added everywhere moves digits that
count, and dropping rows that turned NaN drops the most saturated ones. Entropy comes first and the mean over queries
after it: weights that are averaged first look more even than they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.matrices.parts import raised, some_numbers
from autograder.exercises.matrices.scaled_scores import scaled_scores
from autograder.exercises.matrices.softmax import softmax
from autograder.exercises.model import Case, F, case, mistake, probe, right
from course.trial.values import with_layout

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
    case(np.array([[1000.0, 0.0], [0.0, 1.0]]), np.array([[2.0, 0.0], [2.0, 0.0], [0.0, 3.0]])),
    case(some_numbers(1, 3, 7), some_numbers(2, 5, 7)),
    case(some_numbers(3, 2, 11), some_numbers(4, 4, 11)),
    case(*raised(some_numbers(5, 3, 5), some_numbers(6, 4, 5), 1000.0)),
    case(*raised(some_numbers(7, 3, 5), some_numbers(8, 4, 5), -1000.0)),
    case(np.zeros((2, 3)), some_numbers(9, 4, 3)),
    case(some_numbers(10, 4, 6), some_numbers(11, 4, 6)),
    case(4 * some_numbers(12, 3, 5), some_numbers(13, 6, 5)),
)


def _moderate(rng: np.random.Generator, n: int, m: int, k: int) -> tuple[F, F]:
    """Queries and keys whose dot products reach 2.5 and no further, so that no weight is small."""
    Q, K = normal(rng, n, k), normal(rng, m, k)
    return 2.5 * Q / np.abs(Q @ K.T).max(), K


@probe(1.0)
def moderate_scores(rng: np.random.Generator) -> list[Case]:
    """the two numbers on moderate scores, all sizes different"""
    n, m = sizes(rng, 2, low=3, high=5)
    return [case(*_moderate(rng, n, m, k)) for k in (7, 11)]


@probe(0.5)
def saturated_rows(rng: np.random.Generator) -> list[Case]:
    """rows so saturated that some weights are tiny, or exactly 0: one key takes it all, or two share it; scores in the thousands, above zero and
    below"""
    n, m = sizes(rng, 2, low=5, high=6)
    k = int(rng.integers(7, 9))  # its root is no whole number, and -25 over it leaves no small weight
    Q, K = _moderate(rng, n, m, k)
    Q[:3] = Q[:, :2] = 0.0
    K[1] = K[0]
    Q[0, 0], Q[1, 0], Q[2, 1] = 1e4, -1e4, 1.0
    K[:2, 0], K[2, 0] = 5.0, -5.0  # query 0 finds keys 0 and 1, and query 1 finds key 2
    K[:, 1] = 0.0
    K[2:5, 1] = -9.0, -14.2, -25.0  # of query 2: what is left out below 1e-6 shows
    first, second = (raised(*_moderate(rng, n, m, k), by) for by in (1e3, -1e3))
    return [case(Q, K), case(*first), case(*second)]


@probe(0.5)
def entropy_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single query, even weights, equal sizes, and arrays that lie otherwise in memory, as a transpose does"""
    n, m, k = sizes(rng, 3, low=5, high=8)
    Q, K = _moderate(rng, n, m, k)
    return [
        case(*_moderate(rng, 1, m, k)),
        case(np.zeros((n, k)), normal(rng, m, k)),  # even weights: 1 and 1
        case(with_layout(Q, "strided"), with_layout(K, "F")),
        case(*_moderate(rng, n, n, n)),
    ]


def _entropies(A: F) -> F:
    logs = np.log(np.where(A > 0, A, 1.0))
    return -(A * logs).sum(axis=1)


def _both(measure: Callable[[F], float], Q: F, K: F) -> tuple[float, float]:
    """What a measure of a table of weights says of both, unscaled first."""
    with np.errstate(all="ignore"):
        return float(measure(softmax(Q @ K.T))), float(measure(softmax(scaled_scores(Q, K))))


def _evenness(A: F) -> float:
    return float(_entropies(A).mean() / np.log(A.shape[1]))


@mistake
def over_log_k(Q: F, K: F) -> tuple[float, float]:
    """you divided by log k, and k is the width of a key. Entropy is largest when all keys share the weight evenly:
    how many are they?"""
    return _both(lambda A: _entropies(A).mean() / np.log(K.shape[1]), Q, K)


@mistake
def over_log_n(Q: F, K: F) -> tuple[float, float]:
    """you divided by log n, and n counts the queries; for a single one that is log 1 = 0, and the answer inf. Each row spreads its
    weight over the keys: how many are they?"""
    return _both(lambda A: _entropies(A).mean() / np.log(len(A)), Q, K)


@mistake
def over_log_of_all(Q: F, K: F) -> tuple[float, float]:
    """you divided by the logarithm of n·m. Each row spreads its weight over the m keys, by itself."""
    return _both(lambda A: _entropies(A).mean() / np.log(A.size), Q, K)


@mistake
def over_m(Q: F, K: F) -> tuple[float, float]:
    """you divided by m. Divide by the largest entropy that m weights can have: work it out for m weights of 1/m each."""
    return _both(lambda A: _entropies(A).mean() / A.shape[1], Q, K)


@mistake
def not_normalised(Q: F, K: F) -> tuple[float, float]:
    """this is the entropy in nats. Divide by the largest value it can have, so that 1 means even weights, for any
    number of keys."""
    return _both(lambda A: _entropies(A).mean(), Q, K)


@mistake
def not_normalised_in_bits(Q: F, K: F) -> tuple[float, float]:
    """this is the entropy in bits. Divide by the largest value it can have, in bits too, so that 1 means even weights, for any
    number of keys."""
    return _both(lambda A: _entropies(A).mean() / np.log(2), Q, K)


@mistake
def less_the_largest_weight(Q: F, K: F) -> tuple[float, float]:
    """you looked at the largest weight of each row alone. The entropy asks all of them: it is the sum of -p·log p over a row."""
    return _both(lambda A: 1 - A.max(axis=-1).mean(), Q, K)


@mistake
def how_saturated(Q: F, K: F) -> tuple[float, float]:
    """your number is 1 where one key takes it all and 0 where all get the same: one minus what is asked for."""
    return _both(lambda A: 1 - _evenness(A), Q, K)


@mistake
def as_many_keys_as_it_seems(Q: F, K: F) -> tuple[float, float]:
    """you raised e to the entropy, and divided that by m. It is the entropy itself that is divided, by the largest value that it can
    have."""
    return _both(lambda A: np.exp(_entropies(A)).mean() / A.shape[1], Q, K)


@mistake
def largest_weights(Q: F, K: F) -> tuple[float, float]:
    """you returned the mean of the largest weights. That is another measure of evenness; the exercise asks for the entropy."""
    return _both(lambda A: A.max(axis=1).mean(), Q, K)


@mistake
def squares_for_logarithms(Q: F, K: F) -> tuple[float, float]:
    """you added up squares of weights. That is another measure of evenness; the exercise asks for the entropy, with logarithms."""
    return _both(lambda A: 1 - (A**2).sum(axis=1).mean(), Q, K)


@mistake
def zero_times_log_zero(Q: F, K: F) -> tuple[float, float]:
    """where a weight is exactly 0 you get 0 · log 0, and NumPy makes 0 · (-inf) = nan of it. A key without weight
    adds nothing to the entropy."""
    return _both(lambda A: -(A * np.log(A)).sum(axis=1).mean() / np.log(A.shape[1]), Q, K)


@mistake
def nan_made_zero_too_late(Q: F, K: F) -> tuple[float, float]:
    """you put 0 where a sum came out as nan: a row with a weight of exactly 0 then has no entropy at all, though its other weights may be
    even. It is the one term 0 · log 0 that is 0, and not the row."""
    return _both(lambda A: np.nan_to_num(-(A * np.log(A)).sum(axis=1)).mean() / np.log(A.shape[1]), Q, K)


@mistake
def nan_made_zero_at_the_end(Q: F, K: F) -> tuple[float, float]:
    """you put 0 where the answer came out as nan. It is the one term 0 · log 0 that is 0, and not the whole."""
    return _both(lambda A: np.nan_to_num(-(A * np.log(A)).sum(axis=1).mean() / np.log(A.shape[1])), Q, K)


@mistake
def drops_saturated_rows(Q: F, K: F) -> tuple[float, float]:
    """rows with a weight of exactly 0 fell out of your mean, since their entropy came out as nan. They are the
    saturated ones, and their entropy is a number: leave out the zero weight, not the row."""
    return _both(lambda A: np.nanmean(-(A * np.log(A)).sum(axis=1)) / np.log(A.shape[1]), Q, K)


@mistake
def nudged_logarithm(Q: F, K: F) -> tuple[float, float]:
    """you added 1e-9 inside the logarithm to keep it finite, and that moves digits that count. What a weight of 0
    contributes can be said exactly."""
    return _both(lambda A: -(A * np.log(A + 1e-9)).sum(axis=1).mean() / np.log(A.shape[1]), Q, K)


@mistake
def nudged_by_1e_8(Q: F, K: F) -> tuple[float, float]:
    """you added 1e-8 inside the logarithm to keep it finite, and that moves digits that count. What a weight of 0
    contributes can be said exactly."""
    return _both(lambda A: -(A * np.log(A + 1e-8)).sum(axis=1).mean() / np.log(A.shape[1]), Q, K)


@mistake
def nudged_by_1e_6(Q: F, K: F) -> tuple[float, float]:
    """you added 1e-6 inside the logarithm to keep it finite, and that moves digits that count. What a weight of 0
    contributes can be said exactly."""
    return _both(lambda A: -(A * np.log(A + 1e-6)).sum(axis=1).mean() / np.log(A.shape[1]), Q, K)


@mistake
def nudged_by_1e_5(Q: F, K: F) -> tuple[float, float]:
    """you added 1e-5 inside the logarithm to keep it finite, and that moves digits that count. What a weight of 0
    contributes can be said exactly."""
    return _both(lambda A: -(A * np.log(A + 1e-5)).sum(axis=1).mean() / np.log(A.shape[1]), Q, K)


@mistake
def nudged_by_1e_7(Q: F, K: F) -> tuple[float, float]:
    """you added 1e-7 inside the logarithm to keep it finite, and that moves digits that count. What a weight of 0
    contributes can be said exactly."""
    return _both(lambda A: -(A * np.log(A + 1e-7)).sum(axis=1).mean() / np.log(A.shape[1]), Q, K)


@mistake
def nudged_by_1e_4(Q: F, K: F) -> tuple[float, float]:
    """you added 1e-4 inside the logarithm to keep it finite, and that moves digits that count. What a weight of 0
    contributes can be said exactly."""
    return _both(lambda A: -(A * np.log(A + 1e-4)).sum(axis=1).mean() / np.log(A.shape[1]), Q, K)


@mistake
def nudged_by_1e_3(Q: F, K: F) -> tuple[float, float]:
    """you added 1e-3 inside the logarithm to keep it finite, and that moves digits that count. What a weight of 0
    contributes can be said exactly."""
    return _both(lambda A: -(A * np.log(A + 1e-3)).sum(axis=1).mean() / np.log(A.shape[1]), Q, K)


@mistake
def nudged_by_1e_2(Q: F, K: F) -> tuple[float, float]:
    """you added 1e-2 inside the logarithm to keep it finite, and that moves digits that count. What a weight of 0
    contributes can be said exactly."""
    return _both(lambda A: -(A * np.log(A + 1e-2)).sum(axis=1).mean() / np.log(A.shape[1]), Q, K)


@mistake
def lifted_weights(Q: F, K: F) -> tuple[float, float]:
    """you lifted every weight to 1e-9 at least, and each of them then adds to the entropy. A weight of 0 adds nothing: lift it inside
    the logarithm alone, if at all."""
    return _both(
        lambda A: -(np.maximum(A, 1e-9) * np.log(np.maximum(A, 1e-9))).sum(axis=1).mean() / np.log(A.shape[1]), Q, K
    )


@mistake
def lifted_to_1e_8(Q: F, K: F) -> tuple[float, float]:
    """you lifted every weight to 1e-8 at least, and each of them then adds to the entropy. A weight of 0 adds nothing: lift it inside
    the logarithm alone, if at all."""
    return _both(
        lambda A: -(np.maximum(A, 1e-8) * np.log(np.maximum(A, 1e-8))).sum(axis=1).mean() / np.log(A.shape[1]), Q, K
    )


@mistake
def lifted_to_1e_6(Q: F, K: F) -> tuple[float, float]:
    """you lifted every weight to 1e-6 at least, and each of them then adds to the entropy. A weight of 0 adds nothing: lift it inside
    the logarithm alone, if at all."""
    return _both(
        lambda A: -(np.maximum(A, 1e-6) * np.log(np.maximum(A, 1e-6))).sum(axis=1).mean() / np.log(A.shape[1]), Q, K
    )


@mistake
def lifted_to_1e_4(Q: F, K: F) -> tuple[float, float]:
    """you lifted every weight to 1e-4 at least, and each of them then adds to the entropy. A weight of 0 adds nothing: lift it inside
    the logarithm alone, if at all."""
    return _both(
        lambda A: -(np.maximum(A, 1e-4) * np.log(np.maximum(A, 1e-4))).sum(axis=1).mean() / np.log(A.shape[1]), Q, K
    )


@mistake
def lifted_to_1e_3(Q: F, K: F) -> tuple[float, float]:
    """you lifted every weight to 1e-3 at least, and each of them then adds to the entropy. A weight of 0 adds nothing: lift it inside
    the logarithm alone, if at all."""
    return _both(
        lambda A: -(np.maximum(A, 1e-3) * np.log(np.maximum(A, 1e-3))).sum(axis=1).mean() / np.log(A.shape[1]), Q, K
    )


@mistake
def naive_softmax(Q: F, K: F) -> tuple[float, float]:
    """you took the exponential of the scores with nothing taken off first. Large scores overflow to inf, a row far below zero
    leaves 0 / 0, and both end in nan: your `softmax` knows what to do."""
    found = []
    for S in (Q @ K.T, Q @ K.T / math.sqrt(Q.shape[1])):
        with np.errstate(all="ignore"):
            E = np.exp(S)
            found.append(_evenness(E / E.sum(axis=1, keepdims=True)))
    return found[0], found[1]


@mistake
def averages_the_weights_first(Q: F, K: F) -> tuple[float, float]:
    """you averaged the weights over the queries, and took the entropy of the average. Two queries that each stare
    at one key, but not at the same one, are saturated, and their average is not."""
    return _both(lambda A: _evenness(A.mean(axis=0, keepdims=True)), Q, K)


@mistake
def all_weights_in_one(Q: F, K: F) -> tuple[float, float]:
    """you took the entropy of all weights of the table together. Each row is a distribution of its own: take the entropy of each, and the
    mean of them."""
    return _both(lambda A: _entropies(A.reshape(1, -1) / len(A))[0] / np.log(A.shape[1]), Q, K)


@mistake
def all_weights_in_one_over_all(Q: F, K: F) -> tuple[float, float]:
    """you took the entropy of all weights of the table together, over its largest value. Each row is a distribution of its own: take
    the entropy of each, and the mean of them."""
    return _both(lambda A: _evenness(A.reshape(1, -1) / len(A)), Q, K)


@mistake
def mean_over_everything(Q: F, K: F) -> tuple[float, float]:
    """you took the mean over all entries. The entropy of a row is the sum of its terms; the mean comes after, over rows."""
    return _both(lambda A: _evenness(A) / A.shape[1], Q, K)


@mistake
def adds_up_the_rows(Q: F, K: F) -> tuple[float, float]:
    """you added up the entropies of all rows. The mean of them is wanted, or more queries would look less saturated."""
    return _both(lambda A: _evenness(A) * len(A), Q, K)


@mistake
def first_row_only(Q: F, K: F) -> tuple[float, float]:
    """you took the entropy of the first row alone. The mean over all queries is wanted."""
    return _both(lambda A: _evenness(A[:1]), Q, K)


@mistake
def last_row_only(Q: F, K: F) -> tuple[float, float]:
    """you took the entropy of the last row alone: in a loop, `=` overwrites what stood there. The mean over all queries is wanted."""
    return _both(lambda A: _evenness(A[-1:]), Q, K)


@mistake
def median_of_rows(Q: F, K: F) -> tuple[float, float]:
    """you took the median of the rows. Their mean is wanted."""
    return _both(lambda A: np.median(_entropies(A)) / np.log(A.shape[1]), Q, K)


@mistake
def scaled_comes_first(Q: F, K: F) -> tuple[float, float]:
    """you returned the scaled one first. The order is unscaled, then scaled."""
    unscaled, scaled = _both(_evenness, Q, K)
    return scaled, unscaled


@mistake
def scaled_both_times(Q: F, K: F) -> tuple[float, float]:
    """both of your numbers are of scaled scores. The first one is to be without the scale."""
    _, scaled = _both(_evenness, Q, K)
    return scaled, scaled


@mistake
def unscaled_both_times(Q: F, K: F) -> tuple[float, float]:
    """both of your numbers are of unscaled scores. The second one is to be with the scale."""
    unscaled, _ = _both(_evenness, Q, K)
    return unscaled, unscaled


@mistake
def divided_by_k(Q: F, K: F) -> tuple[float, float]:
    """the first number is right. For the second one you divided by k, or scaled what scaled_scores has scaled already; once by √k is enough."""
    unscaled, _ = _both(_evenness, Q, K)
    return unscaled, _evenness(softmax(Q @ K.T / Q.shape[1]))


@mistake
def scaled_too_often(Q: F, K: F) -> tuple[float, float]:
    """both of your numbers have a scale too many: scaled_scores divides by √k, so the first is to do without it, and the second needs no
    other."""
    _, scaled = _both(_evenness, Q, K)
    return scaled, _evenness(softmax(Q @ K.T / Q.shape[1]))


@mistake
def whole_root(Q: F, K: F) -> tuple[float, float]:
    """the first number is right. For the second one the root of k was cut off after the point, by `int`, `//` or `math.isqrt`."""
    unscaled, _ = _both(_evenness, Q, K)
    return unscaled, _evenness(softmax(Q @ K.T / int(Q.shape[1] ** 0.5)))


@mistake
def sign_forgotten(Q: F, K: F) -> tuple[float, float]:
    """your entropies are negative. The logarithm of a weight is at most 0, and entropy carries a minus sign to make
    up for it."""
    return _both(lambda A: -_evenness(A), Q, K)


@mistake
def bits_over_nats(Q: F, K: F) -> tuple[float, float]:
    """you took logarithms to base 2 in the entropy and natural ones in what you divide by. Either will do, if both are the same."""
    return _both(lambda A: _evenness(A) / np.log(2), Q, K)


@mistake
def nats_over_bits(Q: F, K: F) -> tuple[float, float]:
    """you took natural logarithms in the entropy and one to base 2 in what you divide by. Either will do, if both are the same."""
    return _both(lambda A: _evenness(A) * np.log(2), Q, K)


@mistake
def over_log_10(Q: F, K: F) -> tuple[float, float]:
    """you divided by a logarithm to base 10, and took natural ones in the entropy. Either will do, if both are the same."""
    return _both(lambda A: _evenness(A) * np.log(10), Q, K)


@mistake
def logarithms_alone(Q: F, K: F) -> tuple[float, float]:
    """you took the mean of the logarithms. Each of them counts as much as its weight: multiply by it before you add up."""
    return _both(lambda A: -np.log(A).sum(axis=1).mean() / np.log(A.shape[1]), Q, K)


@mistake
def entropy_of_columns(Q: F, K: F) -> tuple[float, float]:
    """you summed over the queries and averaged over the keys. The weights of one query are a row; the entropy is
    that of a row."""
    return _both(lambda A: _entropies(A.T).mean() / np.log(A.shape[1]), Q, K)


@mistake
def softmax_over_queries(Q: F, K: F) -> tuple[float, float]:
    """your weights add up to 1 down each column, so that queries compete for a key. It is the keys that compete: each row adds up to 1."""
    first, second = (softmax(S, 0) for S in (Q @ K.T, scaled_scores(Q, K)))
    return _evenness(first), _evenness(second)


@mistake
def softmax_over_queries_and_their_entropy(Q: F, K: F) -> tuple[float, float]:
    """your weights add up to 1 down each column, and their entropy is taken down each column; or queries and keys have changed places. It is
    the n queries that give weights to the m keys: each row adds up to 1."""
    first, second = (softmax(S, 0).T for S in (Q @ K.T, scaled_scores(Q, K)))
    return _evenness(first), _evenness(second)


@mistake
def most_even_row(Q: F, K: F) -> tuple[float, float]:
    """you took the largest of the rows' entropies. Their mean is wanted."""
    return _both(lambda A: _entropies(A).max() / np.log(A.shape[1]), Q, K)


@mistake
def times_log_m(Q: F, K: F) -> tuple[float, float]:
    """you multiplied by log m. Divide by it, so that 1 means even weights."""
    return _both(lambda A: _entropies(A).mean() * np.log(A.shape[1]), Q, K)


@mistake
def over_log_of_one_more(Q: F, K: F) -> tuple[float, float]:
    """you divided by log (m + 1). There are m keys."""
    return _both(lambda A: _entropies(A).mean() / np.log(A.shape[1] + 1), Q, K)


@mistake
def scale_on_the_answer(Q: F, K: F) -> tuple[float, float]:
    """the first number is right. For the second one you divided it by √k: it is the scores that are scaled, before softmax."""
    unscaled, _ = _both(_evenness, Q, K)
    return unscaled, unscaled / math.sqrt(Q.shape[1])


@mistake
def scale_on_the_weights(Q: F, K: F) -> tuple[float, float]:
    """the first number is right. For the second one you divided the weights by √k: it is the scores that are scaled, before softmax."""
    unscaled, _ = _both(_evenness, Q, K)
    A = softmax(Q @ K.T) / math.sqrt(Q.shape[1])
    return unscaled, _evenness(A)


@mistake
def softmax_of_weights(Q: F, K: F) -> tuple[float, float]:
    """the first number is right. For the second one you scaled the weights and took softmax of them once more: it is the scores that are
    scaled."""
    unscaled, _ = _both(_evenness, Q, K)
    return unscaled, _evenness(softmax(softmax(Q @ K.T) / math.sqrt(Q.shape[1])))


@mistake
def small_weights_left_out(Q: F, K: F) -> tuple[float, float]:
    """you left out weights that are small, and not 0. Only a weight of exactly 0 adds nothing."""
    return _both(lambda A: _evenness(np.where(A > 1e-3, A, 0)), Q, K)


@mistake
def numbers_by_name(Q: F, K: F) -> dict[str, float]:
    """you returned a dictionary. A tuple is asked for: first the number without the scale, then the one with it."""
    unscaled, scaled = _both(_evenness, Q, K)
    return {"unscaled": unscaled, "scaled": scaled}


@mistake
def numbers_of_two_digits(Q: F, K: F) -> tuple[float, float]:
    """you rounded both numbers to two decimals. Return them with all their digits."""
    unscaled, scaled = _both(_evenness, Q, K)
    return round(unscaled, 2), round(scaled, 2)


@mistake
def numbers_of_four_digits(Q: F, K: F) -> tuple[float, float]:
    """you rounded both numbers to four decimals. Return them with all their digits."""
    unscaled, scaled = _both(_evenness, Q, K)
    return round(unscaled, 4), round(scaled, 4)


@mistake
def rounded_numbers(Q: F, K: F) -> tuple[float, float]:
    """you rounded both numbers to three decimals. Return them with all their digits."""
    unscaled, scaled = _both(_evenness, Q, K)
    return round(unscaled, 3), round(scaled, 3)


@mistake
def list_of_numbers(Q: F, K: F) -> list[float]:
    """both numbers are right, and they stand in a list. A tuple is asked for: two values with a comma between them."""
    return list(_both(_evenness, Q, K))


@mistake
def array_of_numbers(Q: F, K: F) -> F:
    """both numbers are right, and they stand in an array. A tuple is asked for: two values with a comma between them."""
    return np.array(_both(_evenness, Q, K))


@mistake
def number_for_each_query(Q: F, K: F) -> tuple[F, F]:
    """you returned a number for each query. Their mean is wanted: one number without the scale, and one with it."""
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    return _entropies(A) / np.log(len(K)), _entropies(B) / np.log(len(K))


@mistake
def scaled_one_alone(Q: F, K: F) -> float:
    """you returned one number. Two are asked for: without the scale, and with it."""
    return _both(_evenness, Q, K)[1]


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
def entropy_with_next_to_nothing(Q: F, K: F) -> tuple[float, float]:
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    first, second = (-(P * np.log(P + 1e-12)).sum(axis=1).mean() / np.log(len(K)) for P in (A, B))
    return first, second


@right
def entropy_in_bits(Q: F, K: F) -> tuple[float, float]:
    A, B = softmax(Q @ K.T), softmax(scaled_scores(Q, K))
    first, second = (-np.sum(P * np.log2(np.maximum(P, 1e-300)), axis=1).mean() / np.log2(len(K)) for P in (A, B))
    return first, second
