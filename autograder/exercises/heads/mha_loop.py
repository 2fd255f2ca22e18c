"""Many heads, one after another in a loop."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.heads.parts import apart, drawn_heads, public_heads
from autograder.exercises.inputs import causal, normal, random_keep, sizes
from autograder.exercises.model import B, Case, F, case, mistake, probe, right
from autograder.exercises.parts import softmax_of_kept, with_empty_row


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
    public_heads(3, 5, 2, 4, 1, causal(3)),
    public_heads(4, 6, 2, 2, 3, causal(4)),  # h*v = d
    public_heads(4, 2, 3, 1, 2, causal(4), "float32"),  # v = d
    public_heads(3, 4, 2, 1, 3, np.array([[True, False, True], [False, False, False], [True, True, False]])),
)


@probe(1.5)
def loops(rng: np.random.Generator) -> list[Case]:
    """the output of all heads together, all sizes different"""
    cases = []
    for _ in range(2):
        n, d, h, k, v = apart(rng)
        cases.append(case(normal(rng, n, d), *drawn_heads(rng, d, h, k, v), causal(n)))
    return cases


@probe(1.0)
def loops_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide and other products would run too"""
    n, k, v = sizes(rng, 3, 2, 5)
    h = int(rng.choice([2, 3]))
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


@probe(1.0)
def loops_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, a single head, float32, and arrays that are not contiguous"""
    n, d, h, k, v = apart(rng)
    return [
        case(normal(rng, 1, d), *drawn_heads(rng, d, h, k, v), np.array([[True]])),
        case(normal(rng, n, d), *drawn_heads(rng, d, 1, k, v), causal(n)),
        case(normal(rng, n, d, scale=30.0), *drawn_heads(rng, d, h, k, v), causal(n)),
        case(normal(rng, n, d, dtype="float32"), *drawn_heads(rng, d, h, k, v, dtype="float32"), causal(n)),
        case(
            normal(rng, n, d, order="strided"),
            *drawn_heads(rng, d, h, k, v, order="F"),
            np.asfortranarray(causal(n)),
        ),
    ]


def _scores(Q: F, K: F) -> F:
    return Q @ K.T / math.sqrt(Q.shape[1])


def _heads(X: F, Wq: F, Wk: F, Wv: F, keep: B) -> list[F]:
    """The outputs of the heads, [n, v] each."""
    return [softmax_of_kept(_scores(X @ q, X @ k), keep) @ (X @ v) for q, k, v in zip(Wq, Wk, Wv, strict=True)]


@mistake
def no_output_weight(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """these are the heads side by side, and Wo has not been applied. Without it nothing that one head found ever meets
    what another found, and a token would not get its width back."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, keep), axis=1)


@mistake
def heads_not_side_by_side(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """one factor is as wide as one head, and the other as all of them together. If it is the product with Wo that
    stops: Wo has a row for every value of every head, and you gave it one head (inside the loop?), or heads that are
    added up or one below the other. They belong side by side. If it is a product with X: every head reads the whole
    token, so X is not cut up."""
    total: F = sum(_heads(X, Wq, Wk, Wv, keep), np.zeros((1, 1), X.dtype))
    return total @ Wo


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
    """your queries are those of all heads, [h, n, k], in every turn of the loop: X @ Wq makes a stack. In turn i it is
    the turn of Wq[i], and likewise of the others."""
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
def hidden_after_softmax(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you made hidden weights 0 after softmax. The others then no longer add up to 1: what is hidden has to be out
    before softmax divides."""
    heads = []
    for q, k, v in zip(Wq, Wk, Wv, strict=True):
        heads.append(softmax_of_kept(_scores(X @ q, X @ k), np.ones_like(keep)) * keep @ (X @ v))
    return np.concatenate(heads, axis=1) @ Wo


@mistake
def hidden_scores_zero(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you made hidden scores 0. A score of 0 still gets a weight, since e to the 0 is 1. In notebook 03 you hid them so
    that nothing is left."""
    heads = []
    for q, k, v in zip(Wq, Wk, Wv, strict=True):
        heads.append(softmax_of_kept(_scores(X @ q, X @ k) * keep, np.ones_like(keep)) @ (X @ v))
    return np.concatenate(heads, axis=1) @ Wo


@mistake
def exponentials_overflow(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """large scores come out as NaN: e to a score of 1000 is more than a computer can hold, and infinity over infinity is
    not a number. A softmax subtracts the largest score of each row first; the one that has been carried over does."""
    with np.errstate(over="ignore", invalid="ignore"):
        heads = []
        for q, k, v in zip(Wq, Wk, Wv, strict=True):
            E = np.where(keep, np.exp(_scores(X @ q, X @ k)), 0)
            total = E.sum(axis=1, keepdims=True)
            heads.append(E / np.where(total == 0, 1, total) @ (X @ v))
    return np.concatenate(heads, axis=1) @ Wo


@mistake
def nan_where_nothing_is_seen(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """a token that may look at nothing came out as NaN. In notebook 03 you wrote a softmax that gives such a row
    zeros; it has been carried over."""
    with np.errstate(invalid="ignore"):
        heads = []
        for q, k, v in zip(Wq, Wk, Wv, strict=True):
            M = np.where(keep, _scores(X @ q, X @ k), -np.inf)
            E = np.exp(M - M.max(axis=1, keepdims=True))
            heads.append(E / E.sum(axis=1, keepdims=True) @ (X @ v))
    return np.concatenate(heads, axis=1) @ Wo


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
    tell it the type, and so does numpy's root of a whole number. A plain Python number does not."""
    room = np.zeros((len(X), len(Wo)))
    room[:] = np.concatenate(_heads(X, Wq, Wk, Wv, keep), axis=1)
    return room @ Wo


@mistake
def numpys_root_of_the_width_of_a_token(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you divided the scores by √d, the width of a token; the dot product runs over the k numbers of one head's query.
    (And numpy's root of a whole number is a float64, which makes float64 of float32.)"""
    root = np.sqrt(X.shape[1])
    heads = [softmax_of_kept(X @ q @ (X @ k).T / root, keep) @ (X @ v) for q, k, v in zip(Wq, Wk, Wv, strict=True)]
    return np.concatenate(heads, axis=1) @ Wo


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
    hidden = ~torch.from_numpy(keep.copy())
    outputs = []
    for i in range(len(q)):
        scores = (x @ q[i]) @ (x @ k[i]).T / q.shape[2] ** 0.5
        A = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=1)
        outputs.append(A.masked_fill(hidden.all(dim=1, keepdim=True), 0.0) @ (x @ v[i]))
    return (torch.cat(outputs, dim=1) @ o).numpy()
