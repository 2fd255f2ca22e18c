"""The gradients of queries, keys and values by hand.

A product is taken back by two products: each factor gets the gradient times the other factor, turned. So `A @ V`
gives `A.T @ dO` for the values and `dO @ V.T` for the weights; then comes one step back through softmax, row by row.
The scores were divided by √k, and both queries and keys stand in them, so both gradients are divided by √k and that
of the values is not. The weights must be those of the forward pass, mask included: where they are 0, nothing flows
back, through masked places and empty rows alike.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from autograder.exercises.batching.parts import (
    T,
    Three,
    drawn_tensor,
    masked_weights,
    plain_exponentials,
    sizes_of_heads,
    tensor_value,
    two_or_more_kept,
)
from autograder.exercises.batching.softmax_backward import softmax_backward
from autograder.exercises.inputs import causal as lower_triangle
from autograder.exercises.inputs import random_keep
from autograder.exercises.model import Case, case, equivalent, misses_the_idea, mistake, probe, right
from course.trial.values import Tensor as TensorValue
from course.trial.values import bare

USES = ("softmax_backward",)


def attention_backward(
    Q: Float[Tensor, "n k"],
    K: Float[Tensor, "m k"],
    V: Float[Tensor, "m v"],
    keep: Bool[Tensor, "n m"],
    dO: Float[Tensor, "n v"],
) -> tuple[Float[Tensor, "n k"], Float[Tensor, "m k"], Float[Tensor, "m v"]]:
    """Summed up path by path: from every output, through every weight, to every score, query and key."""
    n, m, root = len(Q), len(K), math.sqrt(Q.shape[1])
    dQ, dK, dV = torch.zeros_like(Q), torch.zeros_like(K), torch.zeros_like(V)
    for i in range(n):
        places = [j for j in range(m) if keep[i, j]]
        scores = [float((Q[i] * K[j]).sum()) / root for j in places]
        powers = [math.exp(score - max(scores)) for score in scores]
        p = [power / sum(powers) for power in powers]
        dp = [float((dO[i] * V[j]).sum()) for j in places]
        for x, j in enumerate(places):
            dV[j] += p[x] * dO[i]
            ds = sum(dp[y] * p[y] * ((x == y) - p[x]) for y in range(len(places)))
            dQ[i] += ds * K[j] / root
            dK[j] += ds * Q[i] / root
    return dQ, dK, dV


def _far_away(drawn: Case, query: float, key: float) -> Case:
    """The same scores, all of them farther by query times key, over the root: weights stay as they are.

    Queries have most of it, and keys little: what flows back to a query is times that little, adds up to 0, and leaves roundings.
    """
    Q, K, *rest = drawn.arguments
    q, k = (np.hstack([np.full((len(t), 1), far), t]) for t, far in ((bare(Q), query), (bare(K), key)))
    return case(TensorValue(q), TensorValue(k), *rest)


def _far_up(drawn: Case) -> Case:
    """Scores higher by more than a thousand, whose exponentials are infinite."""
    return _far_away(drawn, 800.0, 8.0)


def _far_down(drawn: Case) -> Case:
    """Scores lower by more than ten thousand."""
    return _far_away(drawn, -4500.0, 10.0)


def _small_way_back(seed: int, n: int, m: int, k: int, v: int, keep: Any, dtype: str = "float64") -> Case:
    rng = np.random.default_rng(seed)
    shapes = ((n, k), (m, k), (m, v), (n, v))
    Q, K, V, dO = (TensorValue(np.round(1.5 * rng.standard_normal(shape), 1).astype(dtype)) for shape in shapes)
    return case(Q, K, V, TensorValue(np.array(keep, bool)), dO)


PUBLIC = (
    case(
        tensor_value([[4.0, 0.0, 0.0, 0.0]]),
        tensor_value([[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]),
        tensor_value([[1.0], [3.0]]),
        TensorValue(np.ones((1, 2), bool)),
        tensor_value([[1.0]]),
    ),
    _small_way_back(1, 2, 3, 4, 1, [[True, False, True], [False, True, True]]),
    _small_way_back(2, 3, 3, 2, 2, lower_triangle(3)),
    _small_way_back(3, 3, 2, 4, 5, [[True, True], [False, False], [False, True]]),
    _small_way_back(4, 2, 2, 2, 2, lower_triangle(2), "float32"),
    _small_way_back(5, 2, 4, 3, 4, [[True, True, False, True], [True, False, True, True]]),
    _small_way_back(7, 4, 5, 3, 6, random_keep(np.random.default_rng(1), 4, 5)),
    _small_way_back(8, 1, 3, 1, 2, [[True, True, True]]),
    _small_way_back(
        9, 3, 4, 5, 2, [[True, True, False, True], [False, False, False, False], [True, False, True, True]]
    ),
    _far_down(_small_way_back(10, 2, 3, 5, 2, [[True, False, True], [True, True, False]])),
    _far_up(_small_way_back(6, 2, 3, 1, 1, [[True, False, True], [True, True, True]])),
)


def _way_back(
    rng: np.random.Generator, n: int, m: int, k: int, v: int, keep: np.ndarray | None = None, **how: Any
) -> Case:
    Q, K, V, dO = (drawn_tensor(rng, *shape, scale=1.5, **how) for shape in ((n, k), (m, k), (m, v), (n, v)))
    return case(Q, K, V, TensorValue(two_or_more_kept(rng, n, m) if keep is None else keep), dO)


@probe(2.5)
def ways_back(rng: np.random.Generator) -> list[Case]:
    """all three gradients, all sizes different"""
    n, m, k, v = sizes_of_heads(rng, 4, 3)
    return [_way_back(rng, n, m, k, v), _way_back(rng, v, k, m, n)]


@probe(1.0)
def square_ways_back(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide and other products would run"""
    s, k, v = sizes_of_heads(rng, 3, 3, 7)
    return [
        _way_back(rng, s, s, k, v, lower_triangle(s)),  # n = m: A, dS and their transposes fit alike
        _way_back(rng, k, s, v, s),  # m = v: dO @ V runs
        _way_back(rng, s, s, s, s, lower_triangle(s)),
    ]


@probe(1.0)
def empty_rows_on_the_way_back(rng: np.random.Generator) -> list[Case]:
    """nothing flows back through a query that may attend to nothing"""
    n, m, k, v = sizes_of_heads(rng, 4, 3)
    one_empty = lower_triangle(m)
    one_empty[rng.integers(1, m - 1)] = False
    return [_way_back(rng, m, m, k, v, one_empty), _way_back(rng, n, m, k, v, np.zeros((n, m), bool))]


@probe(0.5, strict=True)
def ways_back_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single query, widths of 1, scores in the thousands above 0 and below, float32, and tensors that are not contiguous"""
    n, m, k, v = sizes_of_heads(rng, 4, 3)
    return [
        _way_back(rng, 1, m, k, v),
        _way_back(rng, n, m, 1, 1),
        _far_up(_way_back(rng, n, m, k, v)),
        _far_down(_way_back(rng, n, m, k, v)),
        _way_back(rng, n, m, k, v, dtype="float32"),
        _way_back(rng, n, m, k, v, order="strided"),
    ]


def _softmax_back(A: T, dA: T) -> T:
    return A * (dA - (A * dA).sum(dim=-1, keepdim=True))


def _back(A: T, dS: T, Q: T, K: T, dO: T) -> Three:
    scale = Q.shape[1] ** 0.5
    return dS @ K / scale, dS.T @ Q / scale, A.T @ dO


@mistake
def exponentials_on_the_way_back(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """large scores come out as NaN: e to a score of 1000 is more than a computer can hold. PyTorch's softmax subtracts the
    largest score of each row first, and the weights are the same."""
    A = plain_exponentials(Q @ K.T / math.sqrt(Q.shape[1]), keep)
    return _back(A, _softmax_back(A, dO @ V.T), Q, K, dO)


def _forward(Q: T, K: T, keep: T) -> T:
    return masked_weights(Q @ K.T / Q.shape[1] ** 0.5, keep)


@misses_the_idea
def no_row_sum_in_between(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """the gradient of the scores lacks the row's average: you multiplied A and dA and left it at that. Weights share what there
    is, so a score that rises takes from the others. softmax_backward has it right."""
    A = _forward(Q, K, keep)
    return _back(A, A * (dO @ V.T), Q, K, dO)


@mistake
def slopes_of_each_weight_alone(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you let each weight depend on its own score only, with the slope p·(1 - p). When one score rises, the other weights of its row
    fall; softmax_backward has it right."""
    A = _forward(Q, K, keep)
    return _back(A, A * (1 - A) * (dO @ V.T), Q, K, dO)


@mistake
def average_not_multiplied(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you took the row's average away, and did not multiply by the weights. softmax_backward does both."""
    A, dA = _forward(Q, K, keep), dO @ V.T
    return _back(A, dA - (A * dA).sum(dim=-1, keepdim=True), Q, K, dO)


@mistake
def averages_down_the_columns(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """your row's average runs down the columns. The weights of one query stand in one row."""
    A, dA = _forward(Q, K, keep), dO @ V.T
    return _back(A, A * (dA - (A * dA).sum(dim=0, keepdim=True)), Q, K, dO)


@mistake
def sign_turned(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """the gradients of queries and keys have the wrong sign: a step against them would make the loss larger."""
    A = _forward(Q, K, keep)
    return _back(A, -_softmax_back(A, dO @ V.T), Q, K, dO)


@mistake
def softmax_over_queries(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """your softmax runs over the queries: its columns add up to 1. Each query shares its own weight out among the keys, along the last
    axis."""
    A = masked_weights(Q @ K.T / Q.shape[1] ** 0.5, keep, dim=0)
    return _back(A, _softmax_back(A, dO @ V.T), Q, K, dO)


@misses_the_idea
def softmax_skipped(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you took the gradient of the weights for that of the scores. Softmax lies between them, and the way back goes
    through it too."""
    return _back(_forward(Q, K, keep), dO @ V.T, Q, K, dO)


@mistake
def softmax_skipped_and_hidden(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you took the gradient of the weights for that of the scores, with zeros at the masked places. Softmax lies between
    them, and the way back goes through it too."""
    A = _forward(Q, K, keep)
    return _back(A, (dO @ V.T).masked_fill(~keep, 0), Q, K, dO)


@mistake
def weights_and_their_gradient_exchanged(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you handed softmax_backward the gradient first and the weights second. It wants A, and then dA."""
    A = _forward(Q, K, keep)
    return _back(A, _softmax_back(dO @ V.T, A), Q, K, dO)


@mistake
def scores_for_weights(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you handed softmax_backward the scores, with -inf where they are hidden, and sums with infinities in them end in
    NaN. It wants the weights that softmax made of the scores.
    """
    S = (Q @ K.T / Q.shape[1] ** 0.5).masked_fill(~keep, -torch.inf)
    return _back(_forward(Q, K, keep), _softmax_back(S, dO @ V.T), Q, K, dO)


@mistake
def bare_scores_for_weights(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you handed softmax_backward the scores. It wants the weights that softmax made of them."""
    return _back(_forward(Q, K, keep), _softmax_back(Q @ K.T / Q.shape[1] ** 0.5, dO @ V.T), Q, K, dO)


@mistake
def scores_for_weights_and_hidden(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you handed softmax_backward the scores, and set what came back to zero where keep is False. It wants the weights that softmax made
    of the scores."""
    dS = _softmax_back(Q @ K.T / Q.shape[1] ** 0.5, dO @ V.T).masked_fill(~keep, 0)
    return _back(_forward(Q, K, keep), dS, Q, K, dO)


@mistake
def missing_scale(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """the scale is missing on the way back. The scores were divided by √k, so a change of a query or of a key reaches
    them divided by √k as well."""
    A = _forward(Q, K, keep)
    dS = _softmax_back(A, dO @ V.T)
    return dS @ K, dS.T @ Q, A.T @ dO


@mistake
def scale_on_queries_only(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you divided the gradient of the queries by √k, and not that of the keys. Scores were divided, and both stand in
    them."""
    A = _forward(Q, K, keep)
    dS = _softmax_back(A, dO @ V.T)
    return dS @ K / Q.shape[1] ** 0.5, dS.T @ Q, A.T @ dO


@mistake
def missing_scale_forward(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """your weights A are not those of the forward pass: its scores were divided by √k."""
    A = masked_weights(Q @ K.T, keep)
    return _back(A, _softmax_back(A, dO @ V.T), Q, K, dO)


@mistake
def no_scale_at_all(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """there is no √k anywhere, neither in the scores nor on the way back. This would be right for an attention without a
    scale."""
    A = masked_weights(Q @ K.T, keep)
    dS = _softmax_back(A, dO @ V.T)
    return dS @ K, dS.T @ Q, A.T @ dO


@mistake
def width_for_its_root(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you divided by k, there and back. It is the square root of k that is wanted."""
    A = masked_weights(Q @ K.T / Q.shape[1], keep)
    dS = _softmax_back(A, dO @ V.T)
    return dS @ K / Q.shape[1], dS.T @ Q / Q.shape[1], A.T @ dO


@mistake
def width_for_its_root_on_the_way_back(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """on the way back you divided by k. The scores were divided by its square root, and by that the gradients are divided
    too."""
    A = _forward(Q, K, keep)
    dS = _softmax_back(A, dO @ V.T)
    return dS @ K / Q.shape[1], dS.T @ Q / Q.shape[1], A.T @ dO


@mistake
def scale_on_keys_only(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you divided the gradient of the keys by √k, and not that of the queries. Scores were divided, and both stand in them."""
    A = _forward(Q, K, keep)
    dS = _softmax_back(A, dO @ V.T)
    return dS @ K, dS.T @ Q / Q.shape[1] ** 0.5, A.T @ dO


@mistake
def multiplied_by_the_root(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """on the way back you multiplied by √k. The scores were divided by it, and so are the gradients."""
    A = _forward(Q, K, keep)
    dS = _softmax_back(A, dO @ V.T) * Q.shape[1] ** 0.5
    return dS @ K, dS.T @ Q, A.T @ dO


@mistake
def scale_on_all_three(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you divided the gradient of the values by √k as well. Only the scores were divided, and the values do not stand in them."""
    dQ, dK, dV = _back(A := _forward(Q, K, keep), _softmax_back(A, dO @ V.T), Q, K, dO)
    return dQ, dK, dV / Q.shape[1] ** 0.5


@mistake
def root_of_the_keys_number(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you scaled by the root of the number of keys. It is the width k of queries and keys that counts."""
    scale = len(K) ** 0.5
    A = masked_weights(Q @ K.T / scale, keep)
    dS = _softmax_back(A, dO @ V.T)
    return dS @ K / scale, dS.T @ Q / scale, A.T @ dO


@mistake
def root_cut_off(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you scaled by a whole number: the root of k was cut off, as int and // do. √5 is 2.236."""
    scale = int(Q.shape[1] ** 0.5)
    A = masked_weights(Q @ K.T / scale, keep)
    dS = _softmax_back(A, dO @ V.T)
    return dS @ K / scale, dS.T @ Q / scale, A.T @ dO


@mistake
def neither_average_nor_scale(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """two slips at once: the gradient of the scores lacks the row's average, and the scale is missing on the way back."""
    A = _forward(Q, K, keep)
    dS = A * (dO @ V.T)
    return dS @ K, dS.T @ Q, A.T @ dO


@mistake
def root_in_seven_digits(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """your numbers have seven right digits, and float64 has sixteen: the root that you divided by is a float32 number. A tensor made of a
    Python number is float32; the number itself does not need to become a tensor."""
    scale = torch.sqrt(torch.tensor(Q.shape[1]))
    A = masked_weights(Q @ K.T / scale, keep)
    dS = _softmax_back(A, dO @ V.T)
    return dS @ K / scale, dS.T @ Q / scale, A.T @ dO


@mistake
def root_of_the_values_width(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you scaled by the root of the width of the values. Scores are dot products of queries and keys, and their width k is
    what counts."""
    scale = V.shape[1] ** 0.5
    A = masked_weights(Q @ K.T / scale, keep)
    dS = _softmax_back(A, dO @ V.T)
    return dS @ K / scale, dS.T @ Q / scale, A.T @ dO


@mistake
def last_gradient_first(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you returned the gradients as dV, dK, dQ. The order is that of the arguments: queries, keys, values."""
    dQ, dK, dV = _back(A := _forward(Q, K, keep), _softmax_back(A, dO @ V.T), Q, K, dO)
    return dV, dK, dQ


@mistake
def gradients_as_they_were_made(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you returned the gradients in the order in which you made them, dV, dQ, dK. The order is that of the arguments:
    queries, keys, values."""
    dQ, dK, dV = _back(A := _forward(Q, K, keep), _softmax_back(A, dO @ V.T), Q, K, dO)
    return dV, dQ, dK


@mistake
def keys_before_queries(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you returned the gradient of the keys first. The order is that of the arguments: queries, keys, values."""
    dQ, dK, dV = _back(A := _forward(Q, K, keep), _softmax_back(A, dO @ V.T), Q, K, dO)
    return dK, dQ, dV


@mistake
def queries_and_keys_exchanged(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you multiplied dS by the queries to get the gradient of the queries, and its transpose by the keys. A query's
    gradient is a mixture of keys, and a key's a mixture of queries."""
    A = _forward(Q, K, keep)
    dS = _softmax_back(A, dO @ V.T)
    scale = Q.shape[1] ** 0.5
    return dS @ Q / scale, dS.T @ K / scale, A.T @ dO


@misses_the_idea
def weights_without_the_mask(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you recomputed the weights without the mask. The way back belongs to the forward pass that was run, masked places
    and all."""
    A = (Q @ K.T / Q.shape[1] ** 0.5).softmax(dim=-1)
    return _back(A, _softmax_back(A, dO @ V.T), Q, K, dO)


@mistake
def weights_zeroed_after_softmax(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you set masked weights to zero after softmax, and let softmax see the masked scores. So the weights that are left do not add up
    to 1. Hide before softmax too."""
    A = (Q @ K.T / Q.shape[1] ** 0.5).softmax(dim=-1).masked_fill(~keep, 0)
    return _back(A, _softmax_back(A, dO @ V.T), Q, K, dO)


@mistake
def causal_whatever_the_mask(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you made a causal mask of your own. The caller decides who sees whom: use keep."""
    A = _forward(Q, K, torch.ones_like(keep).tril())
    return _back(A, _softmax_back(A, dO @ V.T), Q, K, dO)


@mistake
def zero_for_a_hidden_score(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you gave masked places the score 0. That is a score like any other, and takes its share out of the sum. What gets no weight has
    the score -inf."""
    A = (Q @ K.T / Q.shape[1] ** 0.5).masked_fill(~keep, 0).softmax(dim=-1).masked_fill(~keep, 0)
    return _back(A, _softmax_back(A, dO @ V.T), Q, K, dO)


@mistake
def ten_thousand_below(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you gave masked places the score -10000. That is a score like any other: where the kept ones lie lower still, the masked ones take
    all the weight. What gets no weight has the score -inf."""
    A = (Q @ K.T / Q.shape[1] ** 0.5).masked_fill(~keep, -1e4).softmax(dim=-1).masked_fill(~keep, 0)
    return _back(A, _softmax_back(A, dO @ V.T), Q, K, dO)


@mistake
def masks_too_late(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you recomputed the weights without the mask, and set the gradient of the masked scores to zero afterwards. By then
    the kept weights have been divided by a sum in which the masked ones take part. Hide before softmax."""
    A = (Q @ K.T / Q.shape[1] ** 0.5).softmax(dim=-1)
    return _back(A, _softmax_back(A, dO @ V.T).masked_fill(~keep, 0), Q, K, dO)


@mistake
def hides_what_is_kept(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you hid the places where keep is True. True means: may attend."""
    A = _forward(Q, K, ~keep)
    return _back(A, _softmax_back(A, dO @ V.T), Q, K, dO)


@mistake
def values_by_rows_of_weights(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """for the values you mixed the gradients with A as it stands. Value j went to each output i in the amount A[i, j], so
    its gradient gathers down column j: the weights have to be turned."""
    dQ, dK, _ = _back(A := _forward(Q, K, keep), _softmax_back(A, dO @ V.T), Q, K, dO)
    return dQ, dK, A @ dO


@mistake
def keys_by_rows_of_scores(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """for the keys you multiplied dS as it stands. Key j stands in column j of the scores, so its gradient gathers down
    that column: dS has to be turned."""
    A = _forward(Q, K, keep)
    dS = _softmax_back(A, dO @ V.T)
    scale = Q.shape[1] ** 0.5
    return dS @ K / scale, dS @ Q / scale, A.T @ dO


@mistake
def values_not_turned(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """for the gradient of the weights you multiplied dO by V as it stands. Entry (i, j) is the dot product of output i's
    gradient with value j: every row against every row."""
    A = _forward(Q, K, keep)
    return _back(A, _softmax_back(A, dO @ V), Q, K, dO)


@mistake
def values_gradient_of_values(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """for dV you mixed the outputs themselves, A V. What flows back is their gradient, dO."""
    dQ, dK, _ = _back(A := _forward(Q, K, keep), _softmax_back(A, dO @ V.T), Q, K, dO)
    return dQ, dK, A.T @ (A @ V)


@mistake
def empty_rows_become_nan(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """a query that may attend to nothing turned into NaN, and on the way back that NaN got into every key and value. Such
    a row has zero weights, so nothing flows back through it."""
    A = (Q @ K.T / Q.shape[1] ** 0.5).masked_fill(~keep, -torch.inf).softmax(dim=-1)
    return _back(A, _softmax_back(A, dO @ V.T), Q, K, dO)


@mistake
def empty_rows_become_even(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """a query that may attend to nothing came out with even weights, since you hid with a large negative number. It has no
    weights, and nothing flows back through it."""
    A = (Q @ K.T / Q.shape[1] ** 0.5).masked_fill(~keep, -1e9).softmax(dim=-1)
    return _back(A, _softmax_back(A, dO @ V.T), Q, K, dO)


@equivalent("where a place is hidden A is exactly 0, and dS = A * (...) is 0 there already: masking it changes nothing")
def masks_the_scores_gradient(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you set the gradient of masked scores to zero once more."""
    A = _forward(Q, K, keep)
    return _back(A, _softmax_back(A, dO @ V.T).masked_fill(~keep, 0), Q, K, dO)


@right
def attention_back_by_steps(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    scale = 1 / math.sqrt(K.shape[-1])
    A = torch.where(keep, (Q * scale) @ K.mT, -torch.inf).softmax(dim=1)
    A = torch.where(keep.any(dim=1, keepdim=True), A, 0.0)
    dA = dO @ V.mT
    dS = scale * A * (dA - (dA * A).sum(dim=1, keepdim=True))
    return dS @ K, dS.mT @ Q, A.mT @ dO


@right
def attention_back_by_einsum(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    A = _forward(Q, K, keep)
    dS = _softmax_back(A, torch.einsum("nv,mv->nm", dO, V)) / math.sqrt(Q.shape[1])
    return torch.einsum("nm,mk->nk", dS, K), torch.einsum("nm,nk->mk", dS, Q), torch.einsum("nm,nv->mv", A, dO)


@right
def attention_back_by_logsumexp(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    root = Q.shape[1] ** 0.5
    M = torch.einsum("nk,mk->nm", Q / root, K).masked_fill(~keep, -torch.inf)
    A = torch.exp(M - M.logsumexp(dim=1, keepdim=True)).masked_fill(~keep, 0)
    dA = dO @ V.T
    dS = A * (dA - (A * dA).sum(1, keepdim=True)) / root
    return dS @ K, dS.T @ Q, A.T @ dO


@right
def attention_back_by_outputs(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """The row sum of A * dA is that of dO * O, which is how fused kernels do it (Dao et al., FlashAttention, 2022)."""
    A = _forward(Q, K, keep)
    dS = A * (dO @ V.T - (dO * (A @ V)).sum(dim=1, keepdim=True))
    return _back(A, dS, Q, K, dO)


@right
def attention_back_by_autograd(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    q, k, v = (Z.detach().clone().requires_grad_() for Z in (Q, K, V))
    return torch.autograd.grad(_forward(q, k, keep) @ v, (q, k, v), dO)  # type: ignore[return-value]


@right
def attention_back_calling_softmax_backward(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    A = _forward(Q, K, keep)
    return _back(A, softmax_backward(A, dO @ V.T), Q, K, dO)
