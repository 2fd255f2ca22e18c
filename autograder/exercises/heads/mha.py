"""All heads at once, from packed weights.

The weights tell the widths: `Wo` has h·v rows, and a head's share of the columns of `Wqkv`, less v, is two widths of
k; d / h is a habit of many models, and no law. Queries end at h·k and keys at 2·h·k, so there the columns are cut,
and not into thirds. With the heads in front, `@` and softmax work on the last two axes of all heads at once, and one
mask serves all. To stand up the keys only these two change places: `.T` reverses all three axes.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.heads.mha_loop import mha_loop
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
from autograder.exercises.model import B, Case, F, case, misses_the_idea, mistake, probe, right
from autograder.exercises.parts import Weigh, merged, softmax_of_kept, widths, with_empty_row

USES = ("split_heads", "merge_heads")


def mha(
    X: Float[np.ndarray, "n d"],
    Wqkv: Float[np.ndarray, "d u"],
    Wo: Float[np.ndarray, "e d"],
    h: int,
    keep: Bool[np.ndarray, "n n"],
) -> Float[np.ndarray, "n d"]:
    """The columns of Wqkv dealt to the heads, and then attention one head after another."""
    v = len(Wo) // h
    k = (Wqkv.shape[1] // h - v) // 2
    columns = [Wqkv[:, j] for j in range(Wqkv.shape[1])]

    def dealt(start: int, width: int) -> F:
        heads = [columns[start + i * width : start + (i + 1) * width] for i in range(h)]
        return np.array([np.stack(head, axis=1) for head in heads])

    return mha_loop(X, dealt(0, k), dealt(h * k, k), dealt(2 * h * k, v), Wo, keep)


def _public_packed(
    n: int, d: int, h: int, k: int, v: int, keep: B, dtype: str = "float64", spread: bool = False
) -> Case:
    X, Wq, Wk, Wv, Wo, _ = (np.asarray(a) for a in public_heads(n, d, h, k, v, keep, dtype, spread).arguments)
    return case(X, np.concatenate([merged(W) for W in (Wq, Wk, Wv)], axis=1), Wo, h, keep)


PUBLIC = (
    # the example by hand
    case(
        np.array([[2.0, 0.0], [0.0, 4.0]]),
        np.array([[0.0, 0.0, 1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]]),
        np.array([[1.0, 0.0], [5.0, 1.0]]),
        2,
        causal(2),
    ),
    # small enough to be followed by hand, and no two sizes equal
    case(
        np.array([[1.0], [2.0]]),
        np.array([[0.0, 1.0, 1.0, -1.0, 1.0, 2.0, 0.0, 3.0]]),
        np.array([[1.0], [10.0], [5.0], [-1.0]]),
        2,
        causal(2),
    ),
    _public_packed(3, 5, 2, 4, 1, causal(3)),  # h*(2k+v) = 18: three equal parts of 6
    _public_packed(3, 4, 2, 2, 5, causal(3), "float32"),  # k = d / h
    _public_packed(4, 6, 2, 2, 3, causal(4)),  # h*v = d
    _public_packed(2, 3, 2, 2, 1, causal(2)),  # n = h = k
    _public_packed(3, 4, 2, 1, 3, np.array([[True, False, True], [False, False, False], [True, True, False]])),
    # scores of a thousand
    case(
        np.array([[40.0, 0.0], [0.0, 40.0]]),
        np.array([[1.0, 1.0, 1.0], [0.5, 0.5, 2.0]]),
        np.array([[1.0, 2.0]]),
        1,
        causal(2),
    ),
    # scores of -1600, of -40000 and below -1000000000
    *(
        case(
            np.array([[size, 0.0], [0.0, size]]),
            np.array([[1.0, -1.0, 1.0], [0.5, -0.25, 2.0]]),
            np.array([[1.0, 2.0]]),
            1,
            causal(2),
        )
        for size in (40.0, 200.0, 1e5)
    ),
    # a masked score of a thousand beside a kept one of 1
    case(np.array([[1.0], [1000.0]]), np.array([[1.0, 1.0, 1.0, 2.0]]), np.array([[1.0], [2.0]]), 1, causal(2)),
    # no two roots alike, and nothing as large as anything else
    _public_packed(
        3, 8, 2, 10, 6, np.array([[True, True, False], [False, True, True], [True, False, True]]), spread=True
    ),
    _public_packed(16, 8, 16, 1, 1, causal(16)),
)


def _packed(
    rng: np.random.Generator, d: int, h: int, k: int, v: int, dtype: str = "float64", order: str = "C"
) -> tuple[F, F, int]:
    """Packed weights; with tokens of size 1 their scores have a standard deviation of about 2."""
    Wq, Wk, Wv, Wo = drawn_heads(rng, d, h, k, v, dtype, order)
    Wqkv = np.concatenate([merged(W) for W in (Wq, Wk, Wv)], axis=1)
    return (np.asfortranarray(Wqkv) if order == "F" else Wqkv), Wo, h


@probe(0.5)
def all_at_once(rng: np.random.Generator) -> list[Case]:
    """the output of all heads together, all sizes different, under the causal mask and another one"""
    cases = []
    for which in (causal, lambda n: random_keep(rng, n, n)):
        n, d, h, k, v = apart(rng)
        cases.append(case(normal(rng, n, d), *_packed(rng, d, h, k, v), which(n)))
    return cases


@probe(0.5)
def at_once_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide and other readings would run too"""
    n, v = sizes(rng, 2, 2, 4)
    k, h = 5, int(rng.choice([2, 3]))
    return [
        case(normal(rng, 7, h * v), *_packed(rng, h * v, h, k, v), causal(7)),  # h*v = d: it runs without Wo
        case(normal(rng, 7, h * k), *_packed(rng, h * k, h, k, k), causal(7)),  # h*k = h*v = d, as in most models
        case(normal(rng, n, n), *_packed(rng, n, h, k, k), causal(n)),  # k = v, which is not d / h
        case(normal(rng, h, v), *_packed(rng, v, h, h, v), causal(h)),  # n = h = k: K.T runs
        case(normal(rng, n, h * k), *_packed(rng, h * k, h, k, v), causal(n)),  # k = d / h, and v is not
        case(normal(rng, n, 7), *_packed(rng, 7, h, 1, 4), causal(n)),  # three equal parts can be cut
    ]


@probe(0.5)
def at_once_under_masks(rng: np.random.Generator) -> list[Case]:
    """other masks than the causal one, and a token that may look at nothing"""
    n, d, h, k, v = apart(rng)
    packed = _packed(rng, d, h, k, v)
    return [
        case(normal(rng, n, d), *packed, random_keep(rng, n, n)),
        case(normal(rng, n, d), *packed, with_empty_row(rng, n)),
        case(normal(rng, h, d), *packed, causal(h)),  # n = h: the mask's axes fit heads as well
    ]


@probe(0.5)
def at_once_far_from_zero(rng: np.random.Generator) -> list[Case]:
    """scores in the thousands, far above 0 and far below it"""
    n, d, h, k, v = apart(rng)
    far = far_from_zero(rng, d, h, k, v)
    return [
        case(normal(rng, n, d, scale=30.0), *_packed(rng, d, h, k, v), causal(n)),
        *(
            case(X, np.concatenate([merged(W) for W in (Wq, Wk, Wv)], axis=1), Wo, h, causal(4))
            for X, Wq, Wk, Wv, Wo in far
        ),
    ]


@probe(0.5)
def at_once_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """one token, one head, float32, and arrays that are not contiguous"""
    n, d, h, k, v = apart(rng)
    single = _packed(rng, d, h, k, v, dtype="float32")
    strange = _packed(rng, d, h, k, v, order="F")
    return [
        case(normal(rng, 1, d), *_packed(rng, d, h, k, v), np.array([[True]])),
        case(normal(rng, n, d), *_packed(rng, d, 1, k, v), causal(n)),
        case(normal(rng, n, d, dtype="float32"), *single, causal(n)),
        case(normal(rng, n, d, order="strided"), *strange, np.asfortranarray(causal(n))),
    ]


@probe(2.5, measures="lines")
def few_and_many(rng: np.random.Generator) -> list[Case]:
    """no loop: no more Python lines for many tokens and heads than for few, and right there as well"""
    d, k, v = sizes(rng, 3, 5, 8)
    return [case(normal(rng, n, d), *_packed(rng, d, h, k, v), random_keep(rng, n, n)) for n, h in ((3, 2), (31, 15))]


def _split(Z: F, h: int) -> F:
    return Z.reshape(len(Z), h, -1).swapaxes(0, 1)


def _qkv(X: F, Wqkv: F, Wo: F, h: int) -> tuple[F, F, F]:
    """Queries, keys and values, [h, n, k] or [h, n, v] each."""
    k, _ = widths(Wqkv, Wo, h)
    Z = X @ Wqkv
    return _split(Z[:, : h * k], h), _split(Z[:, h * k : 2 * h * k], h), _split(Z[:, 2 * h * k :], h)


def _stood_up(K: F) -> F:
    return K.swapaxes(1, 2)


def _weighed(X: F, Wqkv: F, Wo: F, h: int, keep: B, weigh: Weigh) -> F:
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return np.asarray(merged(weigh(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo)


def _rooted(X: F, Wqkv: F, Wo: F, h: int, keep: B, root: float) -> F:
    """The scores divided by another number; by 0 they are infinite, or no numbers."""
    with np.errstate(divide="ignore", invalid="ignore"):
        width = math.sqrt(widths(Wqkv, Wo, h)[0])
        return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: softmax_of_kept(S * width / root, kept))


@mistake
def scaled_by_root_d(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by √d, and d is the width of a token. A dot product runs over the k numbers of one head's
    query, and it is their number that counts."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(X.shape[1]), keep) @ V) @ Wo


@mistake
def not_scaled(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your scores are not scaled: they should be divided by the root of the width of one head's query."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return merged(softmax_of_kept(Q @ _stood_up(K), keep) @ V) @ Wo


@mistake
def scaled_in_float64(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """the numbers are right, but float32 went in and float64 came out. NumPy's root of a whole number is a float64, and it
    pulls the scores along, as astype(float) does. A plain Python number does not."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return merged(softmax_of_kept(Q @ _stood_up(K) / np.sqrt(Q.shape[2]), keep) @ V) @ Wo


@mistake
def scaled_by_numpys_root_of_d(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by √d, the width of a token; a dot product runs over the k numbers of one head's query.
    (And NumPy's root of a whole number is a float64, which makes float64 of float32.)"""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return merged(softmax_of_kept(Q @ _stood_up(K) / np.sqrt(X.shape[1]), keep) @ V) @ Wo


@mistake
def softmax_over_heads(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your weights add up to 1 across the heads, so that heads compete with each other. Within every head it is the keys
    that compete: softmax runs along the last axis."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    M = np.where(keep, Q @ _stood_up(K) / math.sqrt(Q.shape[2]), -np.inf)
    E = np.exp(M - np.where(np.isneginf(M.max(axis=0, keepdims=True)), 0, M.max(axis=0, keepdims=True)))
    total = E.sum(axis=0, keepdims=True)
    return merged(E / np.where(total == 0, 1, total) @ V) @ Wo


@mistake
def head_by_head_packing(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you read the columns head by head: query, key and value of head 0, then those of head 1. Some models are packed like
    that. Here all queries come first, then all keys, then all values."""
    k, _ = widths(Wqkv, Wo, h)
    Z = _split(X @ Wqkv, h)
    Q, K, V = Z[..., :k], Z[..., k : 2 * k], Z[..., 2 * k :]
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


@mistake
def keys_come_first(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you took the first columns for keys and the next for queries. The order is queries, keys, values. (With both
    exchanged every table of scores is turned.)"""
    K, Q, V = _qkv(X, Wqkv, Wo, h)
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


@mistake
def values_before_keys(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you took the columns after the queries for values, and the last ones for keys. The order is queries, keys,
    values."""
    k, v = widths(Wqkv, Wo, h)
    Z = X @ Wqkv
    Q, V, K = _split(Z[:, : h * k], h), _split(Z[:, h * k : h * (k + v)], h), _split(Z[:, h * (k + v) :], h)
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


@mistake
def keys_cut_at_the_width_of_values(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your keys are as wide as values, and your queries are not. After the h*k columns of the queries come h*k columns
    of keys, and only then h*v columns of values: does each cut lie in its place, and are the three in order?"""
    k, v = widths(Wqkv, Wo, h)
    Z = X @ Wqkv
    Q, K, V = _split(Z[:, : h * k], h), _split(Z[:, h * k : h * (k + v)], h), _split(Z[:, h * (k + v) :], h)
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


@mistake
def keys_as_wide_as_values(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your queries and keys are as wide as values. The rows of Wo tell you v, and only v. Of a head's 2k + v columns of
    Wqkv, query and key share what remains without v."""
    k = len(Wo) // h
    Z = X @ Wqkv
    Q, K, V = _split(Z[:, : h * k], h), _split(Z[:, h * k : 2 * h * k], h), _split(Z[:, 2 * h * k :], h)
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


@mistake
def mask_on_head_0_only(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your mask reaches head 0 only; the other heads see everything. One leaking head is enough, since Wo mixes it into
    every output. The mask holds for all heads alike."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    wide = np.broadcast_to(keep, (h, *keep.shape)).copy()
    wide[1:] = True
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), wide) @ V) @ Wo


@mistake
def output_weight_left_out(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """these are the heads side by side, and Wo has not been applied."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V)


@mistake
def output_weight_on_its_side(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you turned Wo (Wo.T). It runs only where h*v = d. Like every weight here it multiplies rows from the right, as
    it stands."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo.T


@mistake
def three_equal_parts(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you cut X @ Wqkv into three equal parts. That fits only where a value is as wide as a key. How wide a value is can be
    read off Wo; what remains of a head's columns is shared by query and key."""
    Q, K, V = (_split(Z, h) for Z in np.split(X @ Wqkv, 3, axis=1))
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


@mistake
def widths_from_the_token(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you took the width of a head to be d / h. Most models are built so, and nothing forces them to. The widths are in the
    weights: Wo has h*v rows, Wqkv has h*(2k+v) columns."""
    k = X.shape[1] // h
    Z = X @ Wqkv
    Q, K, V = _split(Z[:, : h * k], h), _split(Z[:, h * k : 2 * h * k], h), _split(Z[:, 2 * h * k :], h)
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


@mistake
def keys_with_all_axes_reversed(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you stood the keys up with .T. With three axes that reverses all of them, and [h, n, k] becomes [k, n, h]. Only the
    last two change places, in every head."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return merged(softmax_of_kept(Q @ K.T / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


@mistake
def keys_lying_down(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you multiplied Q by K as it is. In a product the rows on the left meet columns on the right, so in every head the
    keys have to be stood up, [h, n, k] to [h, k, n]."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return merged(softmax_of_kept(Q @ K / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


@mistake
def keys_stood_up_by_reshape(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you stood the keys up by a reshape to [h, k, n]. The shape is right, and the numbers are dealt to the wrong keys: a
    reshape reads on row by row, and does not turn a table. Two axes have to change places."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return merged(softmax_of_kept(Q @ K.reshape(h, -1, len(X)) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


@mistake
def keys_with_heads_and_tokens_exchanged(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you exchanged axes 0 and 1 of the keys, which undoes the split: [h, n, k] becomes [n, h, k]. To stand them up in
    every head, it is the last two that change places."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return merged(softmax_of_kept(Q @ K.swapaxes(0, 1) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


@mistake
def one_wide_head(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you made no heads: all queries together met all keys together, and there is one table of weights. Each head has a table and a
    softmax of its own. Where h is 1 it is the same."""
    k, _ = widths(Wqkv, Wo, h)
    Q, K, V = np.split(X @ Wqkv, [h * k, 2 * h * k], axis=1)
    return np.asarray(softmax_of_kept(Q @ K.T / math.sqrt(h * k), keep) @ V @ Wo)


@mistake
def one_table_for_all(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you never split the heads: one product of all queries with all keys adds up the scores of all heads, and makes one
    wide head of them. Each head needs a table of scores, and a softmax, of its own."""
    k, _ = widths(Wqkv, Wo, h)
    Z = X @ Wqkv
    S = Z[:, : h * k] @ Z[:, h * k : 2 * h * k].T / math.sqrt(k)
    return softmax_of_kept(S, keep) @ Z[:, 2 * h * k :] @ Wo


@mistake
def values_not_split(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """what reaches Wo is too wide. Either your values are not split, and every head mixes those of all heads; or they
    begin before the columns of the keys have come to an end."""
    Q, K, _ = _qkv(X, Wqkv, Wo, h)
    V = (X @ Wqkv)[:, 2 * h * Q.shape[2] :]
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


@mistake
def split_by_reshape_alone(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you split the heads by reshape alone, which deals one token's features to another. Your split_heads of exercise 2 knows
    how to do it."""
    k, _ = widths(Wqkv, Wo, h)
    Q, K, V = (Z.reshape(h, len(X), -1) for Z in np.split(X @ Wqkv, [h * k, 2 * h * k], axis=1))
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


@mistake
def merged_without_exchange(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you merged the heads by reshape alone, which fills one row with several tokens of one head. Your merge_heads of
    exercise 3 knows how to do it."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return (softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V).reshape(len(X), -1) @ Wo


@mistake
def reshaped_both_ways(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you split and merged by reshape alone. The two undo each other, and the shapes are right. But in between each head had a part of
    the text, not a part of each token. Your split_heads and merge_heads know how to do it."""
    k, _ = widths(Wqkv, Wo, h)
    Q, K, V = (Z.reshape(h, len(X), -1) for Z in np.split(X @ Wqkv, [h * k, 2 * h * k], axis=1))
    return (softmax_of_kept(Q @ _stood_up(K) / math.sqrt(k), keep) @ V).reshape(len(X), -1) @ Wo


@mistake
def heads_not_merged(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """what you multiply by Wo is only as wide as one head: the outputs are a stack still, [h, n, v], or have been added
    up. Wo wants each token's outputs from all heads side by side, in one row."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V @ Wo


@mistake
def mask_left_out(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you do not use keep: every token sees every other, also where it may not."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: weights_of(S))


@mistake
def mask_inverted(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your heads attend where keep is False. True means: may attend."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: softmax_of_kept(S, ~kept))


@mistake
def own_triangle(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you made a causal mask of your own. Which mask it is comes as an argument, keep, and it may be another
    one."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: softmax_of_kept(S, np.tril(np.ones_like(kept))))


@mistake
def mask_turned(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you transposed the mask, so that columns stand for rows. Row i of keep is what token i may look at."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: softmax_of_kept(S, kept.T))


@mistake
def masked_after_softmax(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you made masked weights 0 after softmax. The others then no longer add up to 1: what is masked has to be
    out before softmax divides."""
    return _weighed(X, Wqkv, Wo, h, keep, zeroed_after)


@mistake
def masked_after_and_renormalised(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you made masked weights 0 after softmax and divided the rest by its sum. That is equal on paper only: far
    below a masked score the kept weights have been rounded to 0. The softmax that has been carried over hides
    first."""
    return _weighed(X, Wqkv, Wo, h, keep, renormalised_after)


@mistake
def hidden_scores_zero(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you made masked scores 0. A score of 0 still gets a weight, since e to the 0 is 1. In notebook 03 you hid
    them so that nothing is left."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: weights_of(S * kept))


@mistake
def exponentials_of_large_scores(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you took exp of the scores as they are. Large scores overflow to inf and come out as NaN, and where all lie far below 0
    nothing is left. The softmax that has been carried over subtracts the largest score of each row first."""
    return _weighed(X, Wqkv, Wo, h, keep, unshifted)


@mistake
def scores_clipped(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you cut the scores off at a bound, against overflow, and took nothing off. All that lies beyond the bound becomes the same,
    and shares the weight evenly, though one may be far larger. The softmax that has been carried over takes the largest score off."""
    return _weighed(X, Wqkv, Wo, h, keep, clipped)


@mistake
def nothing_for_all_where_one_sees_nothing(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """where a single token may look at nothing, you return zeros for all of them. The others look at what they may
    see, as ever."""
    return _weighed(X, Wqkv, Wo, h, keep, nothing_if_one_is_empty)


@mistake
def maximum_begins_at_0(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """where all scores of a row are far below 0, its exponentials are 0: the maximum that you subtract begins
    at 0. A largest score may be negative. The softmax that has been carried over copes with that."""
    return _weighed(X, Wqkv, Wo, h, keep, shifted_from_zero)


@mistake
def one_maximum_for_all(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you subtracted the largest score of all. A row whose own scores are far below it is rounded to nothing:
    each row needs its own maximum. The softmax that has been carried over has it."""
    return _weighed(X, Wqkv, Wo, h, keep, shifted_by_one)


@mistake
def nan_for_empty_rows(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """a token that may look at nothing came out as NaN. In notebook 03 you wrote a softmax that gives such a
    row zeros; it has been carried over, and it takes any number of axes."""
    return _weighed(X, Wqkv, Wo, h, keep, nan_if_empty)


@mistake
def empty_rows_look_everywhere(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """a token that may look at nothing looks at everything: all its scores are the same finite number, and
    softmax shares the weight out evenly. The softmax that has been carried over gives such a row zeros."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: filled(S, kept, float(np.finfo(S.dtype).min)))


@mistake
def hides_by_minus_a_billion(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you hid with a score of -1e9. A token that may look at nothing then looks at everything, evenly; and kept
    scores that are lower still lose all their weight. The softmax that has been carried over hides with the one
    number below every score."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: filled(S, kept, -1e9))


@mistake
def hides_by_minus_a_billion_with_a_guard(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you hid with a score of -1e9. Kept scores that are lower still lose all their weight to the masked ones.
    The softmax that has been carried over hides with the one number below every score."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: filled_and_emptied(S, kept, -1e9))


@mistake
def hides_by_minus_ten_thousand(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you hid with a score of -10000. A token that may look at nothing then looks at everything, evenly; and
    kept scores that are lower still lose all their weight. The softmax that has been carried over hides with
    the one number below every score."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: filled(S, kept, -1e4))


@mistake
def hides_by_minus_ten_thousand_with_a_guard(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you hid with a score of -10000. Kept scores that are lower still lose all their weight to the masked
    ones. The softmax that has been carried over hides with the one number below every score."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: filled_and_emptied(S, kept, -1e4))


@mistake
def softmax_over_queries(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your weights add up to 1 along axis 1. In [h, n, n] those are the queries. The keys are the last axis,
    however many axes stand in front."""
    return _weighed(X, Wqkv, Wo, h, keep, down_columns)


@mistake
def softmax_over_all_keys_of_all_queries(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """the weights of a whole head add up to 1. Each query shares out a weight of its own: softmax runs along
    the last axis alone."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: weights_of(np.where(kept, S, -np.inf), axis=(-2, -1)))


@mistake
def softmax_twice(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you took softmax of weights. They are weights already; a second time makes them nearly equal."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: softmax_of_kept(softmax_of_kept(S, kept), kept))


@mistake
def weights_turned(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you turned the weights before you mixed values with them. Row i of a head's weights mixes output i."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: _stood_up(softmax_of_kept(S, kept)))


@mistake
def scores_for_weights(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you mixed values with the scores. Softmax makes weights of them first."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: np.where(kept, S, 0))


@mistake
def one_attention_for_all_heads(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """all your heads use one table of weights, made from the mean of their scores. Each head has a softmax, and
    opinions, of its own."""
    return _weighed(
        X, Wqkv, Wo, h, keep, lambda S, kept: np.broadcast_to(softmax_of_kept(S.mean(axis=0), kept), S.shape)
    )


@mistake
def weights_of_head_0(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """all your heads look where head 0 looks. Each has a table of weights of its own."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: np.broadcast_to(softmax_of_kept(S[0], kept), S.shape))


@mistake
def keys_from_queries(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your keys are the queries once more. They have columns of their own, after those of the queries."""
    Q, _, V = _qkv(X, Wqkv, Wo, h)
    return merged(softmax_of_kept(Q @ _stood_up(Q) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


@mistake
def values_from_keys(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your values are the keys once more. They have columns of their own, after those of the keys."""
    Q, K, _ = _qkv(X, Wqkv, Wo, h)
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ K) @ Wo


@mistake
def width_of_values_from_the_token(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you took the width of a value to be d / h, and that of a query from what remains. Most models are built
    so, and nothing forces them to: Wo has h*v rows."""
    v = X.shape[1] // h
    k = (Wqkv.shape[1] // h - v) // 2
    Z = X @ Wqkv
    Q, K, V = _split(Z[:, : h * k], h), _split(Z[:, h * k : 2 * h * k], h), _split(Z[:, 2 * h * k :], h)
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


@mistake
def width_of_keys_from_the_token(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you took d // h for the width of a query, which is 0 where d < h, hence NaN. Nothing forces a model to be built
    so: of a head's 2k + v columns of Wqkv, query and key share what remains without v."""
    k = X.shape[1] // h
    Z = X @ Wqkv
    Q, K, V = (
        _split(Z[:, : h * k], h),
        _split(Z[:, h * k : 2 * h * k], h),
        _split(Z[:, 2 * h * k : 2 * h * k + len(Wo)], h),
    )
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


@mistake
def heads_cut_like_cards(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you gave head 0 every h-th column. The columns of one head lie next to each other. Your split_heads of
    exercise 2 knows how to do it."""
    k, _ = widths(Wqkv, Wo, h)
    Q, K, V = (Z.reshape(len(X), -1, h).transpose(2, 0, 1) for Z in np.split(X @ Wqkv, [h * k, 2 * h * k], axis=1))
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


@mistake
def merged_like_cards(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you shuffled the heads into each other: number 0 of every head, then number 1 of every head. Your
    merge_heads of exercise 3 knows how to do it."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return (softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V).transpose(1, 2, 0).reshape(
        len(X), -1
    ) @ Wo


@mistake
def heads_merged_in_reverse(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you put the heads side by side from last to first. Head 0 comes first, or each meets rows of Wo that were
    made for another."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return merged((softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V)[::-1]) @ Wo


@mistake
def output_divided_by_heads(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your output is that of all heads divided by their number. What the heads add is summed, not averaged."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return (
        merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo / np.float32(h).astype(X.dtype)
    )


@mistake
def shares_not_added_up(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you returned what each head adds to the output, [h, n, d]. The output is their sum, [n, d]."""
    _, v = widths(Wqkv, Wo, h)
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V @ Wo.reshape(h, v, -1)


@mistake
def scaled_by_value(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by √v, the width of a value. A dot product runs over the k numbers of one head's
    query, and it is their number that counts."""
    return _rooted(X, Wqkv, Wo, h, keep, math.sqrt(widths(Wqkv, Wo, h)[1]))


@mistake
def scaled_by_all_heads(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by √(h*k), the width of all heads' queries together. A dot product runs over the k
    numbers of one head."""
    return _rooted(X, Wqkv, Wo, h, keep, math.sqrt(h * widths(Wqkv, Wo, h)[0]))


@mistake
def scaled_by_number_of_tokens(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by √n. The queries have three axes now, [h, n, k], and the width of a query is the
    last of them, no longer shape[1]."""
    return _rooted(X, Wqkv, Wo, h, keep, math.sqrt(len(X)))


@mistake
def scaled_by_number_of_heads(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by √h, the number of heads. A dot product runs over the k numbers of one head's
    query."""
    return _rooted(X, Wqkv, Wo, h, keep, math.sqrt(h))


@mistake
def scaled_by_share_of_the_token(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by the root of d // h, which is 0 where d < h, and gives NaN. Most models are built so that this is k,
    and nothing forces them to: read the widths off the weights."""
    return _rooted(X, Wqkv, Wo, h, keep, math.sqrt(X.shape[1] // h))


@mistake
def scaled_by_broken_share_of_the_token(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by the root of d / h, a token's width shared out among the heads. Most models are built so that this
    is k, and nothing forces them to: read the widths off the weights."""
    return _rooted(X, Wqkv, Wo, h, keep, math.sqrt(X.shape[1] / h))


@mistake
def scaled_by_k_itself(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by k, or by √k twice (scaled_scores divides already). It is √k, once, that is
    wanted."""
    return _rooted(X, Wqkv, Wo, h, keep, float(widths(Wqkv, Wo, h)[0]))


@mistake
def scaled_by_whole_root(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you cut the root of k down to a whole number. Leave it a float: / divides by any number."""
    return _rooted(X, Wqkv, Wo, h, keep, int(math.sqrt(widths(Wqkv, Wo, h)[0])))


@mistake
def scaled_by_half_of_k(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by k / 2: k ** 1 / 2 means (k ** 1) / 2. A root is k ** 0.5."""
    return _rooted(X, Wqkv, Wo, h, keep, widths(Wqkv, Wo, h)[0] / 2)


@mistake
def scores_multiplied(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you multiplied the scores by √k. They are divided by it."""
    return _rooted(X, Wqkv, Wo, h, keep, 1 / math.sqrt(widths(Wqkv, Wo, h)[0]))


@mistake
def scaled_by_the_packed_width(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by the root of all columns that a head has in Wqkv, 2k + v. A dot product runs
    over the k numbers of one query."""
    return _rooted(X, Wqkv, Wo, h, keep, math.sqrt(Wqkv.shape[1] // h))


@mistake
def token_added(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you added the tokens to the output. A block does that, in notebook 05; this is attention alone."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return X + merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


@mistake
def output_turned(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your output is turned: tokens have become columns. A token is a row."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return (merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo).T


@mistake
def returned_with_weights(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> tuple[F, F]:
    """you returned the output and the weights. Here the output alone is wanted."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo, softmax_of_kept(
        Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep
    )


@mistake
def output_in_float32(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """the numbers are right to seven digits: float64 went in and float32 came out."""
    return _weighed(X, Wqkv, Wo, h, keep, softmax_of_kept).astype(np.float32)


@mistake
def adds_minus_a_billion(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you masked by adding -1e9. A token that may look at nothing then looks at everything, since softmax
    ignores a shift; and kept scores that are lower still lose all their weight. The softmax that has been
    carried over masks with the one number below every score."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: weights_of(S + np.where(kept, 0.0, -1e9).astype(S.dtype)))


@mistake
def adds_minus_a_billion_in_float64(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you masked by adding -1e9. A token that may look at nothing then looks at everything, since softmax
    ignores a shift; and kept scores that are lower still lose all their weight. (And (1 - keep) * -1e9 is a
    float64 array, which makes float64 of float32.)"""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: weights_of(S + (1 - kept) * -1e9))


@mistake
def axis_put_into_the_mask(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you put an axis into the middle of the mask. [n, n] lines up with the last two axes of [h, n, n] by
    itself, and serves all heads."""
    return _weighed(X, Wqkv, Wo, h, keep, lambda S, kept: softmax_of_kept(S, kept[:, None]))


@mistake
def values_come_first(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you took the first columns for values, then came queries and keys. The order is queries, keys, values."""
    k, v = widths(Wqkv, Wo, h)
    parts = np.split(X @ Wqkv, [h * v, h * (k + v)], axis=1)
    V, Q, K = (_split(Z, h) for Z in parts)
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


@mistake
def values_then_keys_then_queries(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you read the three from back to front. The order is queries, keys, values."""
    k, v = widths(Wqkv, Wo, h)
    parts = np.split(X @ Wqkv, [h * v, h * (k + v)], axis=1)
    V, K, Q = (_split(Z, h) for Z in parts)
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


@mistake
def keys_then_values_then_queries(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you took the first columns for keys, then came values and queries. The order is queries, keys, values."""
    k, v = widths(Wqkv, Wo, h)
    parts = np.split(X @ Wqkv, [h * k, h * (k + v)], axis=1)
    K, V, Q = (_split(Z, h) for Z in parts)
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


@mistake
def one_value_width_taken_off(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you took the width of one head's values off the columns of all heads. Divide by h first: of one head's 2k + v
    columns, query and key share what remains without v."""
    v = len(Wo) // h
    k = (Wqkv.shape[1] - v) // (2 * h)
    Z = X @ Wqkv
    Q, K, V = _split(Z[:, : h * k], h), _split(Z[:, h * k : 2 * h * k], h), _split(Z[:, 2 * h * k :], h)
    return merged(softmax_of_kept(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


@mistake
def last_head_left_out(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """the last head counts for nothing in your output. Heads are counted from 0 to h - 1."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    outputs = softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V
    outputs[-1] = 0
    return merged(outputs) @ Wo


@mistake
def first_head_alone(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """only head 0 counts in your output. Is an index stuck at 0, or a return inside a loop?"""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    outputs = softmax_of_kept(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V
    return outputs[0] @ Wo[: V.shape[2]]


@misses_the_idea
def loops_over_heads(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """the numbers are right, and a loop is left, over the heads or over the tokens. It can sit in a helper, and np.stack, np.hstack and
    np.split loop too. `@` multiplies whole stacks of matrices: all heads can go at once."""
    heads = []
    for queries, keys, values in zip(*_qkv(X, Wqkv, Wo, h), strict=True):
        weights = softmax_of_kept(queries @ keys.T / math.sqrt(queries.shape[1]), keep)
        heads.append(weights @ values)
    return np.concatenate(heads, axis=1) @ Wo


@right
def mha_with_concatenation(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    A = softmax_of_kept(Q @ K.transpose(0, 2, 1) / Q.shape[-1] ** 0.5, keep)
    return np.concatenate(list(A @ V), axis=1) @ Wo


@right
def mha_by_einsum(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    k, v = widths(Wqkv, Wo, h)
    Z = np.einsum("nd,de->ne", X, Wqkv)
    Q, K = Z[:, : 2 * h * k].reshape(-1, 2, h, k).transpose(1, 2, 0, 3)
    V = Z[:, 2 * h * k :].reshape(-1, h, v)
    A = softmax_of_kept(np.einsum("hnk,hmk->hnm", Q, K) / math.sqrt(k), keep)
    return np.einsum("hnm,mhv,hvd->nd", A, V, Wo.reshape(h, v, -1))


@right
def mha_summed_over_heads(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    k, v = widths(Wqkv, Wo, h)
    Wq, Wk, Wv = (_split(W, h) for W in np.split(Wqkv, [h * k, 2 * h * k], axis=1))
    A = softmax_of_kept((X @ Wq / k**0.5) @ _stood_up(X @ Wk), keep)
    return (A @ (X @ Wv) @ Wo.reshape(h, v, -1)).sum(axis=0)


@right
def mha_with_a_mask_for_each_head(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    A = softmax_of_kept(np.matmul(Q, np.moveaxis(K, 1, 2)) / math.sqrt(Q.shape[2]), np.repeat(keep[None], h, axis=0))
    return merged(A @ V) @ Wo


@right
def mha_by_torch(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    import torch

    x, qkv, o = (torch.from_numpy(a.copy()) for a in (X, Wqkv, Wo))
    k, v = widths(Wqkv, Wo, h)
    parts = torch.split(x @ qkv, [h * k, h * k, h * v], dim=1)
    q, keys, values = (part.reshape(len(x), h, -1).transpose(0, 1) for part in parts)
    masked = ~torch.from_numpy(keep.copy())
    A = torch.softmax((q @ keys.mT / k**0.5).masked_fill(masked, -torch.inf), dim=-1)
    A = A.masked_fill(masked.all(dim=1, keepdim=True), 0.0)
    return ((A @ values).transpose(0, 1).flatten(1) @ o).numpy()


@right
def mha_by_the_lowest_number(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    def weigh(S: F, kept: B) -> F:
        M = np.where(kept, S, np.finfo(S.dtype).min)
        E = np.exp(M - M.max(axis=-1, keepdims=True)) * kept
        return E / np.maximum(E.sum(axis=-1, keepdims=True), np.finfo(S.dtype).tiny)

    return _weighed(X, Wqkv, Wo, h, keep, weigh)


@right
def mha_with_queries_scaled(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    k, _ = widths(Wqkv, Wo, h)
    Q, K, V = _qkv(X, np.concatenate([Wqkv[:, : h * k] / k**0.5, Wqkv[:, h * k :]], axis=1), Wo, h)
    return merged(softmax_of_kept(np.einsum("hnk,hmk->hnm", Q, K), keep) @ V) @ Wo
