"""Many heads, one after another in a loop.

A head is attention with weights of its own: queries and keys decide where it looks, values what it brings back. The
heads are put side by side, head 0 first, and `Wo` has v rows for each, which is where what one has found meets what
the others have. Added or averaged, they could not be told apart any more; stacked to `[h, n, v]` and reshaped, a row
would hold numbers of several tokens. Every head divides by the root of the width k of its own queries, and the one
mask holds for all.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.heads.parts import (
    apart,
    clipped,
    down_columns,
    drawn_heads,
    far_from_zero,
    filled,
    filled_and_emptied,
    nan_if_empty,
    nothing_if_one_is_empty,
    public_heads,
    renormalised_after,
    shifted_by_one,
    shifted_from_zero,
    unshifted,
    weights_of,
    zeroed_after,
)
from autograder.exercises.inputs import causal, normal, random_keep, sizes
from autograder.exercises.model import B, Case, F, case, mistake, probe, right
from autograder.exercises.parts import Weigh, softmax_of_kept, with_empty_row


def mha_loop(
    X: Float[np.ndarray, "n d"],
    Wq: Float[np.ndarray, "h d k"],
    Wk: Float[np.ndarray, "h d k"],
    Wv: Float[np.ndarray, "h d v"],
    Wo: Float[np.ndarray, "e d"],
    keep: Bool[np.ndarray, "n n"],
) -> Float[np.ndarray, "n d"]:
    """Attention head by head and token by token; output v of head i meets row i * width + v of Wo."""
    n, width = len(X), Wv.shape[2]
    out = np.zeros((n, Wo.shape[1]))
    for i in range(len(Wq)):
        queries, keys, values = ([_row_times(x, W[i]) for x in X] for W in (Wq, Wk, Wv))
        for t in range(n):
            seen = [j for j in range(n) if keep[t, j]]
            scores = [
                sum(a * b for a, b in zip(queries[t], keys[j], strict=True)) / math.sqrt(Wq.shape[2]) for j in seen
            ]
            powers = [math.exp(s - max(scores)) for s in scores]
            for power, j in zip(powers, seen, strict=True):
                for x in range(width):
                    out[t] += power / math.fsum(powers) * values[j][x] * Wo[i * width + x]
    return out


def _row_times(x: F, W: F) -> list[float]:
    return [sum(float(x[y] * W[y, z]) for y in range(len(x))) for z in range(W.shape[1])]


PUBLIC = (
    # one token, so that nothing has to be weighed: two heads side by side, and Wo
    case(
        np.array([[3.0]]),
        np.zeros((2, 1, 1)),
        np.zeros((2, 1, 1)),
        np.array([[[1.0, 2.0]], [[10.0, 0.0]]]),
        np.array([[1.0], [1.0], [1.0], [5.0]]),
        causal(1),
    ),
    # a single head, with n = k = 2
    case(
        np.array([[1.0], [2.0]]),
        np.array([[[1.0, 0.0]]]),
        np.array([[[0.5, -1.0]]]),
        np.array([[[3.0]]]),
        np.array([[2.0]]),
        causal(2),
    ),
    # the example by hand
    case(
        np.array([[2.0, 0.0], [0.0, 4.0]]),
        np.zeros((2, 2, 1)),
        np.ones((2, 2, 1)),
        np.array([[[1.0], [0.0]], [[0.0], [1.0]]]),
        np.array([[1.0, 0.0], [5.0, 1.0]]),
        causal(2),
    ),
    # scores of a thousand
    case(
        np.array([[40.0, 0.0], [0.0, 40.0]]),
        np.array([[[1.0], [0.5]]]),
        np.array([[[1.0], [0.5]]]),
        np.array([[[1.0], [2.0]]]),
        np.array([[1.0, 2.0]]),
        causal(2),
    ),
    # scores of -1600, of -40000 and below -1000000000
    *(
        case(
            np.array([[size, 0.0], [0.0, size]]),
            np.array([[[1.0], [0.5]]]),
            np.array([[[-1.0], [-0.25]]]),
            np.array([[[1.0], [2.0]]]),
            np.array([[1.0, 2.0]]),
            causal(2),
        )
        for size in (40.0, 200.0, 1e5)
    ),
    # a masked score of a thousand beside a kept one of 1
    case(
        np.array([[1.0], [1000.0]]),
        np.array([[[1.0]]]),
        np.array([[[1.0]]]),
        np.array([[[1.0, 2.0]]]),
        np.array([[1.0], [2.0]]),
        causal(2),
    ),
    public_heads(3, 5, 2, 4, 1, causal(3)),
    public_heads(4, 6, 2, 2, 3, causal(4)),  # h*v = d
    public_heads(4, 3, 2, 1, 3, causal(4), "float32"),  # v = d
    public_heads(3, 4, 2, 1, 3, np.array([[True, False, True], [False, False, False], [True, True, False]])),
    # no two roots alike
    public_heads(
        3, 8, 2, 10, 5, np.array([[True, True, False], [False, True, True], [True, False, True]]), spread=True
    ),
)


@probe(1.5)
def loops(rng: np.random.Generator) -> list[Case]:
    """the output of all heads together, all sizes different, under the causal mask and another one"""
    cases = []
    for which in (causal, lambda n: random_keep(rng, n, n)):
        n, d, h, k, v = apart(rng)
        cases.append(case(normal(rng, n, d), *drawn_heads(rng, d, h, k, v), which(n)))
    return cases


@probe(1.0)
def loops_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide and other products would run too"""
    n, v = sizes(rng, 2, 2, 4)
    k, h = 5, int(rng.choice([2, 3]))
    return [
        case(normal(rng, 7, h * v), *drawn_heads(rng, h * v, h, k, v), causal(7)),  # h*v = d: without Wo, and with Wo.T
        case(normal(rng, n, h * k), *drawn_heads(rng, h * k, h, k, k), causal(n)),  # h*k = h*v = d, as in most models
        case(normal(rng, n, v), *drawn_heads(rng, v, h, k, v), causal(n)),  # v = d: the mean of the heads fits
        case(normal(rng, h, k), *drawn_heads(rng, k, h, k, k), causal(h)),  # n = h, d = k = v
        case(normal(rng, k, 7), *drawn_heads(rng, 7, 1, k, v), causal(k)),  # n = k, and a single head
    ]


@probe(0.5)
def loops_under_masks(rng: np.random.Generator) -> list[Case]:
    """other masks than the causal one, and a token that may look at nothing"""
    n, d, h, k, v = apart(rng)
    weights = drawn_heads(rng, d, h, k, v)
    return [
        case(normal(rng, n, d), *weights, random_keep(rng, n, n)),
        case(normal(rng, n, d), *weights, with_empty_row(rng, n)),
    ]


@probe(0.5)
def loops_far_from_zero(rng: np.random.Generator) -> list[Case]:
    """scores in the thousands, far above 0 and far below it"""
    n, d, h, k, v = apart(rng)
    far = far_from_zero(rng, d, h, k, v)
    return [
        case(normal(rng, n, d, scale=30.0), *drawn_heads(rng, d, h, k, v), causal(n)),
        *(case(*arrays, causal(4)) for arrays in far),
    ]


@probe(0.5)
def loops_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, a single head, float32, and arrays that are not contiguous"""
    n, d, h, k, v = apart(rng)
    return [
        case(normal(rng, 1, d), *drawn_heads(rng, d, h, k, v), np.array([[True]])),
        case(normal(rng, n, d), *drawn_heads(rng, d, 1, k, v), causal(n)),
        case(normal(rng, n, d, dtype="float32"), *drawn_heads(rng, d, h, k, v, dtype="float32"), causal(n)),
        case(
            normal(rng, n, d, order="strided"),
            *drawn_heads(rng, d, h, k, v, order="F"),
            np.asfortranarray(causal(n)),
        ),
    ]


def _scores(Q: F, K: F) -> F:
    return Q @ K.T / math.sqrt(Q.shape[1])


def _heads(X: F, Wq: F, Wk: F, Wv: F, keep: B, weigh: Weigh = softmax_of_kept) -> list[F]:
    """The outputs of the heads, [n, v] each."""
    return [weigh(_scores(X @ q, X @ k), keep) @ (X @ v) for q, k, v in zip(Wq, Wk, Wv, strict=True)]


def _weighed(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B, weigh: Weigh) -> F:
    return np.asarray(np.concatenate(_heads(X, Wq, Wk, Wv, keep, weigh), axis=1) @ Wo)


def _rooted(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B, root: float) -> F:
    """The scores divided by another number; by 0 they are infinite, or no numbers."""
    with np.errstate(divide="ignore", invalid="ignore"):
        width = math.sqrt(Wq.shape[2])
        return _weighed(X, Wq, Wk, Wv, Wo, keep, lambda S, kept: softmax_of_kept(S * width / root, kept))


@mistake
def no_output_weight(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """these are the heads side by side, and Wo has not been applied. Without it nothing that one head found ever meets
    what another found, and a token would not get its width back."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, keep), axis=1)


@mistake
def heads_not_side_by_side(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """a product of yours gets the width of one head where it wants that of all. Wo multiplies all heads side by side: not their sum, and
    not one at a time. And X is not cut: every head reads whole tokens."""
    total: F = sum(_heads(X, Wq, Wk, Wv, keep), np.zeros((1, 1), X.dtype))
    return total @ Wo


@mistake
def sum_of_heads(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you added the heads up, and Wo has not been applied. They have looked at different things, and in a sum nobody can
    tell any more which of them said what. They are put side by side, and Wo brings them together."""
    return np.sum(_heads(X, Wq, Wk, Wv, keep), axis=0)


@mistake
def first_head_without_wo(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """this is head 0 alone, and Wo has not been applied. All heads side by side, times Wo, is what is wanted. (Is the return
    inside the loop?)"""
    return _heads(X, Wq, Wk, Wv, keep)[0]


@mistake
def last_head_without_wo(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """this is the last head alone, and Wo has not been applied. All heads side by side, times Wo, is what is wanted: where does
    each turn of the loop keep what it found?"""
    return _heads(X, Wq, Wk, Wv, keep)[-1]


@mistake
def divided_by_the_root_of_heads(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your output is divided by the root of the number of heads. What the heads add is summed as it is: how much each of them
    counts is for Wo to say."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, keep), axis=1) @ Wo / math.sqrt(len(Wq))


@mistake
def rows_of_wo_by_the_width_of_keys(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you cut Wo into blocks of k rows, the width of a query. What meets Wo are outputs, which are mixtures of values: a
    head has as many rows of Wo as its values are wide."""
    k = Wq.shape[2]
    return np.sum([head @ Wo[i * k : (i + 1) * k] for i, head in enumerate(_heads(X, Wq, Wk, Wv, keep))], axis=0)


@mistake
def rows_of_wo_by_the_share_of_the_token(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you cut Wo into blocks of d / h rows. Most models are built so that this is the width of a value, and nothing forces
    them to: a head has as many rows of Wo as its values are wide."""
    width = X.shape[1] // len(Wq)
    heads = _heads(X, Wq, Wk, Wv, keep)
    return np.sum([head @ Wo[i * width : (i + 1) * width] for i, head in enumerate(heads)], axis=0)


@mistake
def same_rows_of_wo_for_all(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """every head of yours meets the first rows of Wo, those of head 0. Side by side, head 1 would stand in the next
    columns, and these meet the next rows."""
    heads = _heads(X, Wq, Wk, Wv, keep)
    return np.sum([head @ Wo[: head.shape[1]] for head in heads], axis=0)


@mistake
def mean_of_heads(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you averaged the heads. They have looked at different things, and in a mean nobody can tell any more which of
    them said what. They are put side by side, and Wo brings them together."""
    return np.mean(_heads(X, Wq, Wk, Wv, keep), axis=0)


@mistake
def divided_by_heads(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your output is that of all heads divided by their number. What the heads add is summed, not averaged: how much
    each of them counts is for Wo to say."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, keep), axis=1) @ Wo / np.float32(len(Wq)).astype(X.dtype)


@mistake
def heads_reversed(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you put the heads side by side from last to first. Then every head meets rows of Wo that were made for
    another: head 0 comes first."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, keep)[::-1], axis=1) @ Wo


@mistake
def features_interleaved(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you shuffled the heads into each other like two halves of a pack of cards: number 0 of every head, then number 1
    of every head. The whole of head 0 comes first, then the whole of head 1, and so it is with the rows of Wo."""
    return np.stack(_heads(X, Wq, Wk, Wv, keep), axis=-1).reshape(len(X), -1) @ Wo


@mistake
def stacked_then_reshaped(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you stacked the heads to [h, n, v] and reshaped that to [n, h*v]. The shape is right; but reshape reads on and
    on, all tokens of head 0 first, so one row is filled with several tokens of one head."""
    return np.stack(_heads(X, Wq, Wk, Wv, keep)).reshape(len(X), -1) @ Wo


@mistake
def attention_of_head_0_for_all(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """every head of yours looks where head 0 looks: their values differ, their weights do not. Each head has queries
    and keys of its own, and with them its own table of weights."""
    A = softmax_of_kept(_scores(X @ Wq[0], X @ Wk[0]), keep)
    return np.concatenate([A @ (X @ v) for v in Wv], axis=1) @ Wo


@mistake
def head_0_for_all(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """all your heads are head 0. Each head has its own three weights: is the index left out of some of them, or stuck
    at 0?"""
    return np.concatenate([_heads(X, Wq, Wk, Wv, keep)[0]] * len(Wq), axis=1) @ Wo


@mistake
def values_of_head_0(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your heads look at places of their own, but all hand over the values of head 0: is the index of Wv stuck at 0?"""
    return np.concatenate(_heads(X, Wq, Wk, np.stack([Wv[0]] * len(Wv)), keep), axis=1) @ Wo


@mistake
def weights_of_all_heads(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your queries are those of all heads, [h, n, k], in every turn of the loop: X @ Wq makes a stack. Turn i needs Wq[i] alone,
    and likewise the keys and values of head i."""
    heads = [softmax_of_kept((X @ Wq) @ (X @ Wk).T / math.sqrt(Wq.shape[2]), keep) @ (X @ Wv) for _ in Wq]
    return np.concatenate(heads, axis=1) @ Wo


@mistake
def weights_on_the_left(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your weights stand to the left of X. A token is a row, and a row has its weight to the right."""
    heads = [softmax_of_kept(_scores(q @ X, k @ X), keep) @ (v @ X) for q, k, v in zip(Wq, Wk, Wv, strict=True)]
    return np.concatenate(heads, axis=1) @ Wo


@mistake
def queries_for_keys(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your queries and keys are exchanged, so every table of scores is turned: the row of token t should hold what *its*
    query thinks of each key."""
    return np.concatenate(_heads(X, Wk, Wq, Wv, keep), axis=1) @ Wo


@mistake
def keys_from_wq(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your keys are the queries once more: they are made with Wq, and Wk is not used."""
    return np.concatenate(_heads(X, Wq, Wq, Wv, keep), axis=1) @ Wo


@mistake
def concatenated_before_attention(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you joined the queries, and the keys, of all heads before comparing them. That makes one table of scores, the sum
    of all heads' tables, and so a single wide head. Each head needs a softmax of its own."""
    Q, K, V = (np.concatenate([X @ one for one in W], axis=1) for W in (Wq, Wk, Wv))
    return softmax_of_kept(_scores(Q, K), keep) @ V @ Wo


@mistake
def output_weight_turned(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you turned Wo (Wo.T). It runs only where h*v = d. Like every weight here it multiplies rows from the right, as
    it stands."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, keep), axis=1) @ Wo.T


@mistake
def ignores_the_mask(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you do not use keep: every token sees every other, also where it may not."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, np.ones_like(keep)), axis=1) @ Wo


@mistake
def attends_where_hidden(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your heads attend where keep is False. True means: may attend."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, ~keep), axis=1) @ Wo


@mistake
def always_the_triangle(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you made a causal mask of your own. Which mask it is comes as an argument, keep, and it may be another one."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, np.tril(np.ones_like(keep))), axis=1) @ Wo


@mistake
def unscaled_heads(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your scores are not divided by the root of the width of a query. In every head they should be, as in notebook
    02."""
    heads = [softmax_of_kept(X @ q @ (X @ k).T, keep) @ (X @ v) for q, k, v in zip(Wq, Wk, Wv, strict=True)]
    return np.concatenate(heads, axis=1) @ Wo


@mistake
def scaled_by_the_width_of_a_token(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you divided the scores by √d, and d is the width of a token. The dot product runs over the k numbers of one
    head's query. (Some books write d for both.)"""
    root = math.sqrt(X.shape[1])
    heads = [softmax_of_kept(X @ q @ (X @ k).T / root, keep) @ (X @ v) for q, k, v in zip(Wq, Wk, Wv, strict=True)]
    return np.concatenate(heads, axis=1) @ Wo


@mistake
def heads_in_float64(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 took part: np.zeros makes one, unless you
    tell it the type, and so do astype(float) and NumPy's root of a whole number. A plain Python number does not."""
    room = np.zeros((len(X), len(Wo)))
    room[:] = np.concatenate(_heads(X, Wq, Wk, Wv, keep), axis=1)
    return room @ Wo


@mistake
def numpys_root_of_the_width_of_a_token(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you divided the scores by √d, the width of a token; the dot product runs over the k numbers of one head's query.
    (And NumPy's root of a whole number is a float64, which makes float64 of float32.)"""
    root = np.sqrt(X.shape[1])
    heads = [softmax_of_kept(X @ q @ (X @ k).T / root, keep) @ (X @ v) for q, k, v in zip(Wq, Wk, Wv, strict=True)]
    return np.concatenate(heads, axis=1) @ Wo


@mistake
def hidden_after_softmax(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you made masked weights 0 after softmax. The others then no longer add up to 1: what is masked has to be
    out before softmax divides."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, zeroed_after)


@mistake
def hidden_scores_zero(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you made masked scores 0. A score of 0 still gets a weight, since e to the 0 is 1. In notebook 03 you hid
    them so that nothing is left."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, lambda S, kept: softmax_of_kept(S * kept, np.ones_like(kept)))


@mistake
def hidden_after_and_renormalised(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you made masked weights 0 after softmax and divided the rest by its sum. That is equal on paper only: far
    below a masked score the kept weights have been rounded to 0. The softmax that has been carried over hides
    first."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, renormalised_after)


@mistake
def exponentials_overflow(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you took exp of the scores as they are. Large scores overflow to inf and come out as NaN, and where all lie far below 0
    nothing is left. The softmax that has been carried over subtracts the largest score of each row first."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, unshifted)


@mistake
def scores_clipped(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you cut the scores off at a bound, against overflow, and took nothing off. All that lies beyond the bound becomes the same,
    and shares the weight evenly, though one may be far larger. The softmax that has been carried over takes the largest score off."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, clipped)


@mistake
def nothing_for_all_where_one_sees_nothing(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """where a single token may look at nothing, you return zeros for all of them. The others look at what they may
    see, as ever."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, nothing_if_one_is_empty)


@mistake
def maximum_begins_at_0(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """where all scores of a row are far below 0, its exponentials are 0: the maximum that you subtract begins
    at 0. A largest score may be negative. The softmax that has been carried over copes with that."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, shifted_from_zero)


@mistake
def one_maximum_for_all(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you subtracted the largest score of the whole table. A row whose own scores are far below it is rounded
    to nothing: each row needs its own maximum. The softmax that has been carried over has it."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, shifted_by_one)


@mistake
def nan_where_nothing_is_seen(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """a token that may look at nothing came out as NaN. In notebook 03 you wrote a softmax that gives such a
    row zeros; it has been carried over."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, nan_if_empty)


@mistake
def empty_rows_look_everywhere(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """a token that may look at nothing looks at everything: all its scores are the same finite number, and
    softmax shares the weight out evenly. The softmax that has been carried over gives such a row zeros."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, lambda S, kept: filled(S, kept, float(np.finfo(S.dtype).min)))


@mistake
def hides_by_minus_a_billion(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you hid with a score of -1e9. A token that may look at nothing then looks at everything, evenly; and kept
    scores that are lower still lose all their weight. The softmax that has been carried over hides with the one
    number below every score."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, lambda S, kept: filled(S, kept, -1e9))


@mistake
def hides_by_minus_a_billion_with_a_guard(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you hid with a score of -1e9. Kept scores that are lower still lose all their weight to the masked ones.
    The softmax that has been carried over hides with the one number below every score."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, lambda S, kept: filled_and_emptied(S, kept, -1e9))


@mistake
def hides_by_minus_ten_thousand(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you hid with a score of -10000. A token that may look at nothing then looks at everything, evenly; and
    kept scores that are lower still lose all their weight. The softmax that has been carried over hides with
    the one number below every score."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, lambda S, kept: filled(S, kept, -1e4))


@mistake
def hides_by_minus_ten_thousand_with_a_guard(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you hid with a score of -10000. Kept scores that are lower still lose all their weight to the masked
    ones. The softmax that has been carried over hides with the one number below every score."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, lambda S, kept: filled_and_emptied(S, kept, -1e4))


@mistake
def softmax_over_queries(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your columns of weights add up to 1. A token shares its weight out among the keys: softmax runs along the
    last axis."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, down_columns)


@mistake
def weights_not_normalised(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you mixed values with the exponentials of the scores. They become weights when they are divided by the
    sum of their row."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, lambda S, kept: np.where(kept, np.exp(np.minimum(S, 700)), 0))


@mistake
def scores_for_weights(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you mixed values with the scores. Softmax makes weights of them first."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, lambda S, kept: np.where(kept, S, 0))


@mistake
def softmax_twice(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you took softmax of weights. They are weights already; a second time makes them nearly equal."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, lambda S, kept: softmax_of_kept(softmax_of_kept(S, kept), kept))


@mistake
def mask_turned(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you transposed the mask, so that columns stand for rows. Row i of keep is what token i may look at."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, lambda S, kept: softmax_of_kept(S, kept.T))


@mistake
def weights_turned(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you turned the weights before you mixed values with them. Row i of the weights mixes output i."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, lambda S, kept: softmax_of_kept(S, kept).T)


@mistake
def mask_on_head_0_only(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your mask reaches head 0 only; the other heads see everything. One leaking head is enough, since Wo mixes
    it into every output. The mask holds for all heads alike."""
    heads = _heads(X, Wq, Wk, Wv, np.ones_like(keep))
    heads[0] = _heads(X, Wq, Wk, Wv, keep)[0]
    return np.concatenate(heads, axis=1) @ Wo


@mistake
def keys_of_head_0(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """all your heads share the keys of head 0: is the index of Wk stuck at 0?"""
    return np.concatenate(_heads(X, Wq, np.stack([Wk[0]] * len(Wk)), Wv, keep), axis=1) @ Wo


@mistake
def queries_of_head_0(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """all your heads ask the question of head 0: is the index of Wq stuck at 0?"""
    return np.concatenate(_heads(X, np.stack([Wq[0]] * len(Wq)), Wk, Wv, keep), axis=1) @ Wo


@mistake
def values_for_keys_and_keys_for_values(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your keys and values are exchanged: keys are made with Wk, and compared with queries; values are made
    with Wv, and mixed."""
    return np.concatenate(_heads(X, Wq, Wv, Wk, keep), axis=1) @ Wo


@mistake
def values_from_wk(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your values are the keys once more: they are made with Wk, and Wv is not used."""
    return np.concatenate(_heads(X, Wq, Wk, Wk, keep), axis=1) @ Wo


@mistake
def tokens_for_values(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your heads mix the tokens as they are, and Wv is not used. What a token hands over is its value, X @
    Wv[i]."""
    heads = [softmax_of_kept(_scores(X @ q, X @ k), keep) @ X for q, k in zip(Wq, Wk, strict=True)]
    return np.concatenate(heads, axis=1) @ Wo


@mistake
def last_head_alone(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """only the last head counts in your output: what the others found was overwritten, or never put in its
    place."""
    heads = _heads(X, Wq, Wk, Wv, keep)
    return np.concatenate([np.zeros_like(head) for head in heads[:-1]] + heads[-1:], axis=1) @ Wo


@mistake
def first_head_alone(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """only head 0 counts in your output. Is the return inside the loop?"""
    heads = _heads(X, Wq, Wk, Wv, keep)
    return heads[0] @ Wo[: heads[0].shape[1]]


@mistake
def scaled_by_value(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you divided the scores by √v, the width of a value. A dot product runs over the k numbers of one head's
    query, and it is their number that counts."""
    return _rooted(X, Wq, Wk, Wv, Wo, keep, math.sqrt(Wv.shape[2]))


@mistake
def scaled_by_all_heads(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you divided the scores by √(h*k), the width of all heads' queries together. A dot product runs over the k
    numbers of one head."""
    return _rooted(X, Wq, Wk, Wv, Wo, keep, math.sqrt(len(Wq) * Wq.shape[2]))


@mistake
def scaled_by_number_of_tokens(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you divided the scores by √n, the number of tokens. A dot product runs over the k numbers of one head's
    query: of its axes, the width is the last."""
    return _rooted(X, Wq, Wk, Wv, Wo, keep, math.sqrt(len(X)))


@mistake
def scaled_by_number_of_heads(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you divided the scores by √h, the number of heads. A dot product runs over the k numbers of one head's
    query."""
    return _rooted(X, Wq, Wk, Wv, Wo, keep, math.sqrt(len(Wq)))


@mistake
def scaled_by_share_of_the_token(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you divided the scores by the root of d // h, a token's width shared out among the heads. Most models are built so that this
    is k, and nothing forces them to: read the width of a query off its weight."""
    return _rooted(X, Wq, Wk, Wv, Wo, keep, math.sqrt(X.shape[1] // len(Wq)))


@mistake
def scaled_by_broken_share_of_the_token(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you divided the scores by the root of d / h, a token's width shared out among the heads. Most models are built so that this
    is k, and nothing forces them to: read the width of a query off its weight."""
    return _rooted(X, Wq, Wk, Wv, Wo, keep, math.sqrt(X.shape[1] / len(Wq)))


@mistake
def scaled_by_k_itself(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you divided the scores by k, or by √k twice (scaled_scores divides already). It is √k, once, that is
    wanted."""
    return _rooted(X, Wq, Wk, Wv, Wo, keep, float(Wq.shape[2]))


@mistake
def scaled_by_whole_root(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you cut the root of k down to a whole number. Leave it a float: / divides by any number."""
    return _rooted(X, Wq, Wk, Wv, Wo, keep, int(math.sqrt(Wq.shape[2])))


@mistake
def scaled_by_half_of_k(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you divided the scores by k / 2: k ** 1 / 2 means (k ** 1) / 2. A root is k ** 0.5."""
    return _rooted(X, Wq, Wk, Wv, Wo, keep, Wq.shape[2] / 2)


@mistake
def scores_multiplied(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you multiplied the scores by √k. They are divided by it."""
    return _rooted(X, Wq, Wk, Wv, Wo, keep, 1 / math.sqrt(Wq.shape[2]))


@mistake
def token_added(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you added the tokens to the output. A block does that, in notebook 05; this is attention alone."""
    return X + np.concatenate(_heads(X, Wq, Wk, Wv, keep), axis=1) @ Wo


@mistake
def output_turned(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your output is turned: tokens have become columns. A token is a row."""
    return (np.concatenate(_heads(X, Wq, Wk, Wv, keep), axis=1) @ Wo).T


@mistake
def output_for_each_head(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you returned what each head adds to the output, [h, n, d]. The output is their sum, [n, d]."""
    v = Wv.shape[2]
    return np.stack([head @ Wo[i * v : (i + 1) * v] for i, head in enumerate(_heads(X, Wq, Wk, Wv, keep))])


@mistake
def returned_with_weights(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> tuple[F, F]:
    """you returned the output and the weights. Here the output alone is wanted."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, keep), axis=1) @ Wo, np.stack(
        [softmax_of_kept(_scores(X @ q, X @ k), keep) for q, k in zip(Wq, Wk, strict=True)]
    )


@mistake
def output_in_float32(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """the numbers are right to seven digits: float64 went in and float32 came out."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, softmax_of_kept).astype(np.float32)


@mistake
def adds_minus_a_billion(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you masked by adding -1e9. A token that may look at nothing then looks at everything, since softmax
    ignores a shift; and kept scores that are lower still lose all their weight. The softmax that has been
    carried over masks with the one number below every score."""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, lambda S, kept: weights_of(S + np.where(kept, 0.0, -1e9).astype(S.dtype)))


@mistake
def adds_minus_a_billion_in_float64(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you masked by adding -1e9. A token that may look at nothing then looks at everything, since softmax
    ignores a shift; and kept scores that are lower still lose all their weight. (And (1 - keep) * -1e9 is a
    float64 array, which makes float64 of float32.)"""
    return _weighed(X, Wq, Wk, Wv, Wo, keep, lambda S, kept: weights_of(S + (1 - kept) * -1e9))


@mistake
def last_head_left_out(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """the last head counts for nothing in your output. Heads are counted from 0 to h - 1."""
    heads = _heads(X, Wq, Wk, Wv, keep)
    return np.concatenate([*heads[:-1], np.zeros_like(heads[-1])], axis=1) @ Wo


@right
def heads_by_appending(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    out = []
    for i in range(len(Wq)):
        Q, K, V = X @ Wq[i], X @ Wk[i], X @ Wv[i]
        out.append(softmax_of_kept(Q @ K.T / Wq.shape[2] ** 0.5, keep) @ V)
    return np.hstack(out) @ Wo


@right
def heads_by_filling(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    v = Wv.shape[2]
    out = np.zeros((len(X), len(Wo)), X.dtype)
    for i, head in enumerate(_heads(X, Wq, Wk, Wv, keep)):
        out[:, i * v : (i + 1) * v] = head
    return out @ Wo


@right
def heads_added_up(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    total = np.zeros_like(X)
    for head, block in zip(_heads(X, Wq, Wk, Wv, keep), np.split(Wo, len(Wq)), strict=True):
        total += head @ block
    return total


@right
def heads_by_einsum(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    Q, K, V = (np.einsum("nd,hdk->hnk", X, W) for W in (Wq, Wk, Wv))
    A = softmax_of_kept(np.einsum("hnk,hmk->hnm", Q, K) / math.sqrt(Q.shape[-1]), keep)
    return np.einsum("hnm,hmv,hvd->nd", A, V, Wo.reshape(len(Wq), -1, Wo.shape[1]))


@right
def heads_by_torch(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    import torch

    x, q, k, v, o = (torch.from_numpy(a.copy()) for a in (X, Wq, Wk, Wv, Wo))
    masked = ~torch.from_numpy(keep.copy())
    outputs = []
    for i in range(len(q)):
        scores = (x @ q[i]) @ (x @ k[i]).T / q.shape[2] ** 0.5
        A = torch.softmax(scores.masked_fill(masked, -torch.inf), dim=1)
        outputs.append(A.masked_fill(masked.all(dim=1, keepdim=True), 0.0) @ (x @ v[i]))
    return (torch.cat(outputs, dim=1) @ o).numpy()


@right
def heads_by_the_lowest_number(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    def weigh(S: F, kept: B) -> F:
        M = np.where(kept, S, np.finfo(S.dtype).min)
        E = np.exp(M - M.max(axis=1, keepdims=True)) * kept
        return E / np.maximum(E.sum(axis=1, keepdims=True), np.finfo(S.dtype).tiny)

    return _weighed(X, Wq, Wk, Wv, Wo, keep, weigh)


@right
def heads_with_queries_scaled(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    heads = []
    for q, k, v in zip(Wq, Wk, Wv, strict=True):
        S = (X @ (q / q.shape[1] ** 0.5)) @ (X @ k).T
        heads.append(softmax_of_kept(S, keep) @ (X @ v))
    return np.hstack(heads) @ Wo
