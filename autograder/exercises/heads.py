"""Notebook 04: many heads, side by side."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.drawing import causal, normal, random_keep, sizes
from autograder.exercises.model import Case, Exercise, Probe, case

NOTEBOOK = "04_heads"
F = np.ndarray
B = np.ndarray


# ------------------------------------------------------------------------------------------------ mha_loop


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


# The mistakes and variants below stand on these, not on the oracles, whose loops would be counted as theirs.


def _weigh(S: F, keep: B) -> F:
    """Softmax of each row over what it may see; a row that sees nothing is all 0."""
    M = np.where(keep, S, -np.inf)
    top = M.max(axis=-1, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


def _scores(Q: F, K: F) -> F:
    return Q @ K.T / math.sqrt(Q.shape[1])


def _heads(X: F, Wq: F, Wk: F, Wv: F, keep: B) -> list[F]:
    """The outputs of the heads, [n, v] each."""
    return [_weigh(_scores(X @ q, X @ k), keep) @ (X @ v) for q, k, v in zip(Wq, Wk, Wv, strict=True)]


def no_output_weight(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """these are the heads side by side, and Wo has not been applied. Without it nothing that one head found ever meets
    what another found, and a token would not get its width back."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, keep), axis=1)


def heads_not_side_by_side(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """one factor is as wide as one head, and the other as all of them together. If it is the product with Wo that
    stops: Wo has a row for every value of every head, and you gave it one head (inside the loop?), or heads that are
    added up or one below the other. They belong side by side. If it is a product with X: every head reads the whole
    token, so X is not cut up."""
    total: F = sum(_heads(X, Wq, Wk, Wv, keep), np.zeros((1, 1), X.dtype))
    return total @ Wo


def mean_of_heads(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you averaged the heads. They have looked at different things, and in a mean nobody can tell any more which of
    them said what. They are put side by side, and Wo brings them together."""
    return np.mean(_heads(X, Wq, Wk, Wv, keep), axis=0)


def divided_by_heads(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your output is that of all heads divided by their number. What the heads add is summed, not averaged: how much
    each of them counts is for Wo to say."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, keep), axis=1) @ Wo / np.float32(len(Wq)).astype(X.dtype)


def heads_reversed(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you put the heads side by side from last to first. Then every head meets rows of Wo that were made for
    another: head 0 comes first."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, keep)[::-1], axis=1) @ Wo


def features_interleaved(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you shuffled the heads into each other like two halves of a pack of cards: number 0 of every head, then number 1
    of every head. The whole of head 0 comes first, then the whole of head 1, and so it is with the rows of Wo."""
    return np.stack(_heads(X, Wq, Wk, Wv, keep), axis=-1).reshape(len(X), -1) @ Wo


def stacked_then_reshaped(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you stacked the heads to [h, n, v] and reshaped that to [n, h*v]. The shape is right; but reshape reads on and
    on, all tokens of head 0 first, so one row is filled with several tokens of one head."""
    return np.stack(_heads(X, Wq, Wk, Wv, keep)).reshape(len(X), -1) @ Wo


def attention_of_head_0_for_all(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """every head of yours looks where head 0 looks: their values differ, their weights do not. Each head has queries
    and keys of its own, and with them its own table of weights."""
    A = _weigh(_scores(X @ Wq[0], X @ Wk[0]), keep)
    return np.concatenate([A @ (X @ v) for v in Wv], axis=1) @ Wo


def head_0_for_all(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """all your heads are head 0. Each head has its own three weights: is the index left out of some of them, or stuck
    at 0?"""
    return np.concatenate([_heads(X, Wq, Wk, Wv, keep)[0]] * len(Wq), axis=1) @ Wo


def concatenated_before_attention(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you joined the queries, and the keys, of all heads before comparing them. That makes one table of scores, the sum
    of all heads' tables, and so a single wide head. Each head needs a softmax of its own."""
    Q, K, V = (np.concatenate([X @ one for one in W], axis=1) for W in (Wq, Wk, Wv))
    return _weigh(_scores(Q, K), keep) @ V @ Wo


def output_weight_turned(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you turned Wo (Wo.T). It runs only where h*v = d. Like every weight here it multiplies rows from the right, as
    it stands."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, keep), axis=1) @ Wo.T


def ignores_the_mask(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you do not use keep: every token sees every other, also where it may not."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, np.ones_like(keep)), axis=1) @ Wo


def attends_where_hidden(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your heads attend where keep is False. True means: may attend."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, ~keep), axis=1) @ Wo


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


def unscaled_heads(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your scores are not divided by the root of the width of a query. In every head they should be, as in notebook
    02."""
    heads = [_weigh(X @ q @ (X @ k).T, keep) @ (X @ v) for q, k, v in zip(Wq, Wk, Wv, strict=True)]
    return np.concatenate(heads, axis=1) @ Wo


def scaled_by_the_width_of_a_token(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you divided the scores by √d, and d is the width of a token. The dot product runs over the k numbers of one
    head's query. (Some books write d for both.)"""
    root = math.sqrt(X.shape[1])
    heads = [_weigh(X @ q @ (X @ k).T / root, keep) @ (X @ v) for q, k, v in zip(Wq, Wk, Wv, strict=True)]
    return np.concatenate(heads, axis=1) @ Wo


def heads_in_float64(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 took part: np.zeros makes one, unless you
    tell it the type, and so does numpy's root of a whole number. A plain Python number does not."""
    room = np.zeros((len(X), len(Wo)))
    room[:] = np.concatenate(_heads(X, Wq, Wk, Wv, keep), axis=1)
    return room @ Wo


def weights_on_the_left(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your weights stand to the left of X. A token is a row, and a row has its weight to the right."""
    heads = [_weigh(_scores(q @ X, k @ X), keep) @ (v @ X) for q, k, v in zip(Wq, Wk, Wv, strict=True)]
    return np.concatenate(heads, axis=1) @ Wo


def weights_of_all_heads(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your queries are those of all heads, [h, n, k], in every turn of the loop: X @ Wq makes a stack. In turn i it is
    the turn of Wq[i], and likewise of the others."""
    heads = [_weigh((X @ Wq) @ (X @ Wk).T / math.sqrt(Wq.shape[2]), keep) @ (X @ Wv) for _ in Wq]
    return np.concatenate(heads, axis=1) @ Wo


def always_the_triangle(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you made a causal mask of your own. Which mask it is comes as an argument, keep, and it may be another one."""
    return np.concatenate(_heads(X, Wq, Wk, Wv, np.tril(np.ones_like(keep))), axis=1) @ Wo


def queries_for_keys(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your queries and keys are exchanged, so every table of scores is turned: the row of token t should hold what *its*
    query thinks of each key."""
    return np.concatenate(_heads(X, Wk, Wq, Wv, keep), axis=1) @ Wo


def keys_from_wq(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your keys are the queries once more: they are made with Wq, and Wk is not used."""
    return np.concatenate(_heads(X, Wq, Wq, Wv, keep), axis=1) @ Wo


def values_of_head_0(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """your heads look at places of their own, but all hand over the values of head 0: is the index of Wv stuck at 0?"""
    return np.concatenate(_heads(X, Wq, Wk, np.stack([Wv[0]] * len(Wv)), keep), axis=1) @ Wo


def hidden_after_softmax(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you made hidden weights 0 after softmax. The others then no longer add up to 1: what is hidden has to be out
    before softmax divides."""
    heads = []
    for q, k, v in zip(Wq, Wk, Wv, strict=True):
        heads.append(_weigh(_scores(X @ q, X @ k), np.ones_like(keep)) * keep @ (X @ v))
    return np.concatenate(heads, axis=1) @ Wo


def hidden_scores_zero(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you made hidden scores 0. A score of 0 still gets a weight, since e to the 0 is 1. In notebook 03 you hid them so
    that nothing is left."""
    heads = []
    for q, k, v in zip(Wq, Wk, Wv, strict=True):
        heads.append(_weigh(_scores(X @ q, X @ k) * keep, np.ones_like(keep)) @ (X @ v))
    return np.concatenate(heads, axis=1) @ Wo


def numpys_root_of_the_width_of_a_token(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    """you divided the scores by √d, the width of a token; the dot product runs over the k numbers of one head's query.
    (And numpy's root of a whole number is a float64, which makes float64 of float32.)"""
    root = np.sqrt(X.shape[1])
    heads = [_weigh(X @ q @ (X @ k).T / root, keep) @ (X @ v) for q, k, v in zip(Wq, Wk, Wv, strict=True)]
    return np.concatenate(heads, axis=1) @ Wo


def heads_by_appending(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    out = []
    for i in range(len(Wq)):
        Q, K, V = X @ Wq[i], X @ Wk[i], X @ Wv[i]
        out.append(_weigh(Q @ K.T / Wq.shape[2] ** 0.5, keep) @ V)
    return np.hstack(out) @ Wo


def heads_by_filling(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    v = Wv.shape[2]
    out = np.zeros((len(X), len(Wo)), X.dtype)
    for i, head in enumerate(_heads(X, Wq, Wk, Wv, keep)):
        out[:, i * v : (i + 1) * v] = head
    return out @ Wo


def heads_added_up(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    total = np.zeros_like(X)
    for head, block in zip(_heads(X, Wq, Wk, Wv, keep), np.split(Wo, len(Wq)), strict=True):
        total += head @ block
    return total


def heads_by_einsum(X: F, Wq: F, Wk: F, Wv: F, Wo: F, keep: B) -> F:
    Q, K, V = (np.einsum("nd,hdk->hnk", X, W) for W in (Wq, Wk, Wv))
    A = _weigh(np.einsum("hnk,hmk->hnm", Q, K) / math.sqrt(Q.shape[-1]), keep)
    return np.einsum("hnm,hmv,hvd->nd", A, V, Wo.reshape(len(Wq), -1, Wo.shape[1]))


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


def _apart(rng: np.random.Generator) -> tuple[int, int, int, int, int]:
    """Sizes n, d, h, k, v, no two alike, nor any of them the width of all queries or of all values."""
    while True:
        n, d, k, v = sizes(rng, 4)
        h = int(rng.integers(2, 5))
        if len({n, d, h, k, v, h * k, h * v, n * h}) == 8:
            return n, d, h, k, v


def _weights(
    rng: np.random.Generator, d: int, h: int, k: int, v: int, dtype: str = "float64", order: str = "C"
) -> tuple[F, F, F, F]:
    """Weights of heads; with tokens of size 1 their scores have a standard deviation of about 2."""
    return (
        normal(rng, h, d, k, scale=2 / math.sqrt(d), dtype=dtype),
        normal(rng, h, d, k, scale=1 / math.sqrt(d), dtype=dtype, order=order),
        normal(rng, h, d, v, dtype=dtype),
        normal(rng, h * v, d, dtype=dtype, order=order),
    )


def _with_empty_row(rng: np.random.Generator, n: int) -> B:
    keep = random_keep(rng, n, n)
    keep[rng.integers(n)] = False
    return keep


def _loops(rng: np.random.Generator) -> list[Case]:
    cases = []
    for _ in range(2):
        n, d, h, k, v = _apart(rng)
        cases.append(case(normal(rng, n, d), *_weights(rng, d, h, k, v), causal(n)))
    return cases


def _loops_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    n, k, v = sizes(rng, 3, 2, 5)
    h = int(rng.choice([2, 3]))
    return [
        case(normal(rng, 7, h * v), *_weights(rng, h * v, h, k, v), causal(7)),  # h*v = d: without Wo, and with Wo.T
        case(normal(rng, n, h * k), *_weights(rng, h * k, h, k, k), causal(n)),  # h*k = h*v = d, as in most models
        case(normal(rng, n, v), *_weights(rng, v, h, k, v), causal(n)),  # v = d: the mean of the heads fits
        case(normal(rng, h, k), *_weights(rng, k, h, k, k), causal(h)),  # n = h, d = k = v
        case(normal(rng, k, 7), *_weights(rng, 7, 1, k, v), causal(k)),  # n = k, and a single head
    ]


def _loops_under_masks(rng: np.random.Generator) -> list[Case]:
    n, d, h, k, v = _apart(rng)
    weights = _weights(rng, d, h, k, v)
    return [
        case(normal(rng, n, d), *weights, random_keep(rng, n, n)),
        case(normal(rng, n, d), *weights, _with_empty_row(rng, n)),
    ]


def _loops_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, d, h, k, v = _apart(rng)
    return [
        case(normal(rng, 1, d), *_weights(rng, d, h, k, v), np.array([[True]])),
        case(normal(rng, n, d), *_weights(rng, d, 1, k, v), causal(n)),
        case(normal(rng, n, d, scale=30.0), *_weights(rng, d, h, k, v), causal(n)),
        case(normal(rng, n, d, dtype="float32"), *_weights(rng, d, h, k, v, dtype="float32"), causal(n)),
        case(normal(rng, n, d, order="strided"), *_weights(rng, d, h, k, v, order="F"), np.asfortranarray(causal(n))),
    ]


def _pattern(*shape: int, step: int, dtype: str = "float64") -> F:
    """Small whole numbers, from -3 to 3, that look like nothing in particular."""
    return (np.arange(math.prod(shape)) * step % 7 - 3.0).reshape(shape).astype(dtype)


def _public_heads(n: int, d: int, h: int, k: int, v: int, keep: B, dtype: str = "float64") -> Case:
    return case(
        _pattern(n, d, step=3, dtype=dtype) / 4,
        _pattern(h, d, k, step=5, dtype=dtype) / 2,
        _pattern(h, d, k, step=4, dtype=dtype) / 2,
        _pattern(h, d, v, step=2, dtype=dtype),
        _pattern(h * v, d, step=9, dtype=dtype),
        keep,
    )


MHA_LOOP = Exercise(
    oracle=mha_loop,
    notebook=NOTEBOOK,
    public=(
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
        _public_heads(3, 5, 2, 4, 1, causal(3)),
        _public_heads(4, 6, 2, 2, 3, causal(4)),  # h*v = d
        _public_heads(4, 2, 3, 1, 2, causal(4), "float32"),  # v = d
        _public_heads(3, 4, 2, 1, 3, np.array([[True, False, True], [False, False, False], [True, True, False]])),
    ),
    probes=(
        Probe("the output of all heads together, all sizes different", 1.5, _loops),
        Probe("the same where sizes coincide and other products would run too", 1.0, _loops_where_sizes_coincide),
        Probe("other masks than the causal one, and a token that may look at nothing", 0.5, _loops_under_masks),
        Probe("a single token, a single head, float32, and arrays that are not contiguous", 1.0, _loops_at_the_edge),
    ),
    mistakes=(
        no_output_weight,
        heads_not_side_by_side,
        mean_of_heads,
        divided_by_heads,
        heads_reversed,
        features_interleaved,
        stacked_then_reshaped,
        attention_of_head_0_for_all,
        head_0_for_all,
        values_of_head_0,
        weights_of_all_heads,
        weights_on_the_left,
        queries_for_keys,
        keys_from_wq,
        concatenated_before_attention,
        output_weight_turned,
        ignores_the_mask,
        attends_where_hidden,
        always_the_triangle,
        hidden_after_softmax,
        hidden_scores_zero,
        exponentials_overflow,
        nan_where_nothing_is_seen,
        unscaled_heads,
        scaled_by_the_width_of_a_token,
        heads_in_float64,
        numpys_root_of_the_width_of_a_token,
    ),
    variants=(heads_by_appending, heads_by_filling, heads_added_up, heads_by_einsum, heads_by_torch),
)


# --------------------------------------------------------------------------------------------- split_heads


def split_heads(Z: Float[np.ndarray, "n e"], h: int) -> Float[np.ndarray, "h n k"]:
    """Entry (i, t, x) is number x of head i of token t, which stands in column i * k + x of row t."""
    n, k = len(Z), Z.shape[1] // h
    out = np.zeros((h, n, k))
    for i in range(h):
        for t in range(n):
            for x in range(k):
                out[i, t, x] = Z[t, i * k + x]
    return out


def reshaped_at_once(Z: F, h: int) -> F:
    """you reshaped to [h, n, k] in one go. The shape is right, and the numbers are dealt to the wrong owners: reshape
    reads row by row and knows nothing of tokens, so head 0 gets all heads of the first tokens."""
    return Z.reshape(h, len(Z), -1)


def every_hth_column(Z: F, h: int) -> F:
    """you gave head 0 every h-th column. The columns of one head lie next to each other: in a row the head changes
    slowly and the feature fast, so the head is the axis to the left."""
    return Z.reshape(len(Z), -1, h).transpose(2, 0, 1)


def count_and_width_exchanged(Z: F, h: int) -> F:
    """you have exchanged how many heads there are and how wide a head is: h is the number of heads, and the width is
    what remains when e is divided by it."""
    return Z.reshape(len(Z), -1, h).swapaxes(0, 1)


def tokens_still_in_front(Z: F, h: int) -> F:
    """you returned [n, h, k]: for each token its heads. That is half of the way. Attention wants for each head its
    tokens: the head has to come first. (If you did exchange them: swapaxes leaves its array as it is, and returns
    another.)"""
    return Z.reshape(len(Z), h, -1)


def heads_stand_up(Z: F, h: int) -> F:
    """your tables are turned: for each head [k, n], with tokens as columns. A token stays a row."""
    return Z.reshape(len(Z), h, -1).transpose(1, 2, 0)


def all_axes_reversed(Z: F, h: int) -> F:
    """you turned the three axes round with .T, which reverses them all, to [k, h, n]. Only two of them change places."""
    return Z.reshape(len(Z), h, -1).T


def turned_then_reshaped(Z: F, h: int) -> F:
    """you turned the table first and reshaped it then. After turning, a row holds one feature of all tokens, and
    reshape cuts it up as if it were one token's features."""
    return Z.T.reshape(h, len(Z), -1)


def tokens_split_up(Z: F, h: int) -> F:
    """you split the rows, so that each head gets some of the tokens. Each head sees all tokens, and of each token some
    of the columns."""
    return np.array(np.split(Z, h))


def list_of_tables(Z: F, h: int) -> list[F]:
    """the tables are right, and they come in a list. One array with three axes is wanted, so that one product can serve
    all heads."""
    return np.split(Z, h, axis=1)


def heads_in_reverse(Z: F, h: int) -> F:
    """your heads come in reverse order. Head 0 has the first columns."""
    return Z.reshape(len(Z), h, -1).swapaxes(0, 1)[::-1]


def tokens_and_features_exchanged(Z: F, h: int) -> F:
    """you exchanged the last two axes, [n, h, k] to [n, k, h]. It is token and head that change places, and these are the
    first two."""
    return Z.reshape(len(Z), h, -1).swapaxes(1, 2)


def split_in_float64(Z: F, h: int) -> F:
    """the numbers are right, but float32 went in and float64 came out: np.zeros makes float64 unless you tell it the
    type."""
    out = np.zeros((h, len(Z), Z.shape[1] // h))
    out[:] = Z.reshape(len(Z), h, -1).swapaxes(0, 1)
    return out


def split_by_transpose(Z: F, h: int) -> F:
    n, e = Z.shape
    return Z.reshape(n, h, e // h).transpose(1, 0, 2)


def split_by_slices(Z: F, h: int) -> F:
    k = Z.shape[1] // h
    return np.stack([Z[:, i * k : (i + 1) * k] for i in range(h)])


def split_by_numpy(Z: F, h: int) -> F:
    return np.array(np.split(Z, h, axis=1))


def split_in_columns(Z: F, h: int) -> F:
    return Z.T.reshape(h, -1, len(Z)).swapaxes(1, 2)


def split_by_torch(Z: F, h: int) -> F:
    import torch

    return torch.from_numpy(Z.copy()).view(Z.shape[0], h, -1).permute(1, 0, 2).numpy()


def _payload(*shape: int, dtype: str = "float64") -> F:
    """Every number another one, so that each can be told where it came from."""
    return np.arange(math.prod(shape), dtype=dtype).reshape(shape)


def _counting(rng: np.random.Generator) -> list[Case]:
    n, k, h = sizes(rng, 3, 2, 6)
    return [case(_payload(n, h * k), h), case(_payload(k, h * n), h)]


def _splits(rng: np.random.Generator) -> list[Case]:
    n, k, h = sizes(rng, 3, 2, 6)
    return [
        case(normal(rng, n, h * k), h),
        case(normal(rng, h, h * k), h),  # n = h: [n, h, k] has the right shape
        case(normal(rng, n, h * h), h),  # k = h: the number of heads passes for their width
        case(normal(rng, k, h * k), h),  # n = k: tables may be turned
        case(normal(rng, 2 * h, h * k), h),
        case(normal(rng, h, h * h), h),
    ]


def _splits_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, k, h = sizes(rng, 3, 2, 6)
    return [
        case(normal(rng, 1, h * k), h),
        case(normal(rng, n, k), 1),
        case(normal(rng, n, h), h),  # heads of width 1
        case(normal(rng, n, h * k, dtype="float32"), h),
        case(normal(rng, n, h * k, order="F"), h),
        case(normal(rng, n, h * k, order="strided"), h),
    ]


SPLIT_HEADS = Exercise(
    oracle=split_heads,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]), 2),
        case(_payload(2, 6, dtype="float32"), 2),
        case(_payload(4, 6), 2),
        case(_payload(5, 12), 3),
        case(_payload(1, 6), 3),
    ),
    probes=(
        Probe("every number of a counted table, traced to its head, token and feature", 1.5, _counting),
        Probe("the same where sizes coincide, and a wrong order keeps the shape", 1.0, _splits),
        Probe(
            "a single token, a single head, heads of width 1, float32, and arrays that are not contiguous",
            0.5,
            _splits_at_the_edge,
        ),
    ),
    mistakes=(
        reshaped_at_once,
        every_hth_column,
        count_and_width_exchanged,
        tokens_still_in_front,
        tokens_and_features_exchanged,
        heads_stand_up,
        all_axes_reversed,
        turned_then_reshaped,
        tokens_split_up,
        list_of_tables,
        heads_in_reverse,
        split_in_float64,
    ),
    variants=(split_by_transpose, split_by_slices, split_by_numpy, split_in_columns, split_by_torch),
)


# --------------------------------------------------------------------------------------------- merge_heads


def merge_heads(O: Float[np.ndarray, "h n v"]) -> Float[np.ndarray, "n h*v"]:  # noqa: E741
    """Number x of head i of token t goes to row t, column i * v + x."""
    h, n, v = O.shape
    out = np.zeros((n, h * v))
    for i in range(h):
        for t in range(n):
            for x in range(v):
                out[t, i * v + x] = O[i, t, x]
    return out


def merged_by_reshape_alone(T: F) -> F:
    """you reshaped to [n, h*v] and exchanged no axes first. Reshape reads on and on: all of head 0, then all of head 1.
    So your first row is filled with several tokens of one head, where it should hold one token from all heads."""
    h, n, v = T.shape
    return T.reshape(n, h * v)


def merged_like_cards(T: F) -> F:
    """you shuffled the heads into each other: number 0 of every head, then number 1 of every head. All numbers of head 0
    come first, then all of head 1: in a row the head changes slowly and the feature fast."""
    h, n, v = T.shape
    return T.transpose(1, 2, 0).reshape(n, h * v)


def merged_one_below_the_other(T: F) -> F:
    """you put the heads one below the other. A token would then have h rows; it should have one, with its heads side by
    side."""
    h, n, v = T.shape
    return T.reshape(h * n, v)


def merged_without_joining(T: F) -> F:
    """you returned [n, h, v]: tokens are in front now, which is right. What is missing is to join the last two axes,
    so that each token has one row of h*v numbers."""
    return T.swapaxes(0, 1)


def merged_the_wrong_pair(T: F) -> F:
    """you exchanged the last two axes. To have the heads of one token lie next to each other, it is head and token that
    change places."""
    h, n, v = T.shape
    return T.swapaxes(1, 2).reshape(n, h * v)


def merged_with_all_axes_reversed(T: F) -> F:
    """you turned the axes round with .T, which reverses all three of them, and reshaped then. Only head and token change
    places; the features stay where they are."""
    h, n, v = T.shape
    return T.T.reshape(n, h * v)


def merged_and_turned(T: F) -> F:
    """your table is turned, [h*v, n]: tokens have become columns. A token is a row."""
    h, n, v = T.shape
    return T.swapaxes(1, 2).reshape(h * v, n)


def merged_by_adding(T: F) -> F:
    """you added the heads up. Then nobody can tell any more what came from which head. Put them side by side."""
    return T.sum(axis=0)


def merged_by_averaging(T: F) -> F:
    """you averaged the heads. Then nobody can tell any more what came from which head. Put them side by side."""
    return T.mean(axis=0)


def merged_from_last_to_first(T: F) -> F:
    """you put the heads side by side from last to first. Head 0 comes first."""
    h, n, v = T.shape
    return T[::-1].swapaxes(0, 1).reshape(n, h * v)


def merged_by_other_names(T: F) -> F:
    """you took the first axis for the tokens. O is [h, n, v], so it is unpacked in this order; your result has a row for
    each head, and should have one for each token."""
    n, h, v = T.shape
    return T.swapaxes(0, 1).reshape(n, h * v)


def merged_head_by_head(T: F) -> F:
    """your result has a row for each head, with all its tokens in it. A row belongs to a token, with all its heads in
    it. (O is [h, n, v]: are its sizes unpacked in this order?)"""
    h, n, v = T.shape
    return T.reshape(h, n * v)


def merged_and_turned_back(T: F) -> F:
    """you reshaped to [h*v, n] and turned that. The shape is right; but reshape reads row by row, and a token's numbers
    were cut apart before you turned anything. Exchange first, then join."""
    h, n, v = T.shape
    return T.reshape(h * v, n).T


def merged_in_float64(T: F) -> F:
    """the numbers are right, but float32 went in and float64 came out: np.zeros makes float64 unless you tell it the
    type."""
    h, n, v = T.shape
    out = np.zeros((n, h * v))
    out[:] = T.swapaxes(0, 1).reshape(n, h * v)
    return out


def merge_by_transpose(T: F) -> F:
    return T.transpose(1, 0, 2).reshape(T.shape[1], -1)


def merge_by_concatenating(T: F) -> F:
    return np.concatenate(list(T), axis=1)


def merge_by_filling(T: F) -> F:
    h, n, v = T.shape
    out = np.empty((n, h * v), T.dtype)
    for i in range(h):
        out[:, i * v : (i + 1) * v] = T[i]
    return out


def merge_by_torch(T: F) -> F:
    import torch

    return torch.from_numpy(T.copy()).transpose(0, 1).flatten(1).numpy()


def _counted_heads(rng: np.random.Generator) -> list[Case]:
    h, n, v = sizes(rng, 3, 2, 6)
    return [case(_payload(h, n, v)), case(_payload(v, h, n))]


def _merges(rng: np.random.Generator) -> list[Case]:
    h, n, v = sizes(rng, 3, 2, 6)
    return [
        case(normal(rng, n, n, v)),  # h = n: without the exchange the shape is right
        case(normal(rng, h, v, v)),
        case(normal(rng, h, n, h)),
        case(normal(rng, h, h, h)),
        case(normal(rng, h, h * v, v)),  # n = h*v: a turned table has the right shape
    ]


def _merges_at_the_edge(rng: np.random.Generator) -> list[Case]:
    h, n, v = sizes(rng, 3, 2, 6)
    return [
        case(normal(rng, h, 1, v)),
        case(normal(rng, 1, n, v)),
        case(normal(rng, h, n, 1)),
        case(normal(rng, h, n, v, dtype="float32")),
        case(normal(rng, h, n, v, order="F")),
        case(normal(rng, h, n, v, order="strided")),
    ]


MERGE_HEADS = Exercise(
    oracle=merge_heads,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[[1.0, 2.0], [5.0, 6.0], [9.0, 10.0]], [[3.0, 4.0], [7.0, 8.0], [11.0, 12.0]]])),
        case(_payload(3, 2, 4, dtype="float32")),
        case(_payload(2, 6, 3)),
        case(_payload(2, 2, 3)),
    ),
    probes=(
        Probe("every number of counted heads, traced to its row and column", 1.0, _counted_heads),
        Probe("the same where sizes coincide, and a wrong order keeps the shape", 0.5, _merges),
        Probe(
            "a single token, a single head, heads of width 1, float32, and arrays that are not contiguous",
            0.5,
            _merges_at_the_edge,
        ),
    ),
    mistakes=(
        merged_by_reshape_alone,
        merged_like_cards,
        merged_one_below_the_other,
        merged_without_joining,
        merged_the_wrong_pair,
        merged_with_all_axes_reversed,
        merged_and_turned,
        merged_and_turned_back,
        merged_by_other_names,
        merged_head_by_head,
        merged_by_adding,
        merged_by_averaging,
        merged_from_last_to_first,
        merged_in_float64,
    ),
    variants=(merge_by_transpose, merge_by_concatenating, merge_by_filling, merge_by_torch),
)


# ---------------------------------------------------------------------------------------------------- pack


def pack(Wq: Float[np.ndarray, "h d k"]) -> Float[np.ndarray, "d h*k"]:
    """Column x of head i's weight becomes column i * k + x."""
    h, d, k = Wq.shape
    out = np.zeros((d, h * k))
    for i in range(h):
        for y in range(d):
            for x in range(k):
                out[y, i * k + x] = Wq[i, y, x]
    return out


def packed_by_reshape_alone(W: F) -> F:
    """you reshaped to [d, h*k] and nothing else. The shape is right; but reshape reads on and on, all of head 0's weight
    first, so your first row is made of several rows of one head. Row y should hold row y of every head."""
    h, d, k = W.shape
    return W.reshape(d, h * k)


def packed_on_rows(W: F) -> F:
    """you put the weights one below the other. A product with that would want tokens h times as wide. All heads read the
    same token: they share the rows, and their columns stand side by side."""
    h, d, k = W.shape
    return W.reshape(h * d, k)


def packed_like_cards(W: F) -> F:
    """you shuffled the columns: column 0 of every head, then column 1 of every head. All columns of head 0 come first,
    then all of head 1, or your split_heads would cut in the wrong places."""
    h, d, k = W.shape
    return W.transpose(1, 2, 0).reshape(d, h * k)


def packed_and_turned(W: F) -> F:
    """your weight is turned, [h*k, d]. Some libraries store it so. Here a weight multiplies rows from the right: its
    rows belong to the features of a token, d of them."""
    h, d, k = W.shape
    return W.swapaxes(1, 2).reshape(h * k, d)


def packed_by_adding(W: F) -> F:
    """you added the weights of the heads. A product with that gives the sum of their queries, and no head can get its own
    back."""
    return W.sum(axis=0)


def packed_in_reverse(W: F) -> F:
    """you put the last head first. Head 0 has the first columns."""
    h, d, k = W.shape
    return W[::-1].swapaxes(0, 1).reshape(d, h * k)


def packed_without_joining(W: F) -> F:
    """you returned [d, h, k]: the rows are shared now, which is right. What is missing is to join the last two axes, so
    that X @ W makes one row of h*k numbers for each token."""
    return W.swapaxes(0, 1)


def packed_the_wrong_pair(W: F) -> F:
    """you exchanged the last two axes. To have row y of every head lie side by side, it is the head and the row that change
    places."""
    h, d, k = W.shape
    return W.swapaxes(1, 2).reshape(d, h * k)


def packed_with_all_axes_reversed(W: F) -> F:
    """you turned the axes round with .T, which reverses all three, and reshaped then. Only the head and the row change
    places."""
    h, d, k = W.shape
    return W.T.reshape(d, h * k)


def packed_and_turned_back(W: F) -> F:
    """you reshaped to [h*k, d] and turned that. The shape is right; but reshape reads row by row, and cuts the rows of a
    weight apart before you turn anything."""
    h, d, k = W.shape
    return W.reshape(h * k, d).T


def packed_by_other_names(W: F) -> F:
    """you took the first axis for the features of a token. Wq is [h, d, k], so it is unpacked in this order; your result
    has a row for each head, and should have one for each feature of a token."""
    d, h, k = W.shape
    return W.swapaxes(0, 1).reshape(d, h * k)


def packed_as_blocks(W: F) -> F:
    """you put the weights along a diagonal, with zeros around them, as if each head read a part of the token of its own.
    Every head reads the whole token, all d numbers of it."""
    h, d, k = W.shape
    out = np.zeros((h * d, h * k), W.dtype)
    for i in range(h):
        out[i * d : (i + 1) * d, i * k : (i + 1) * k] = W[i]
    return out


def packed_in_float64(W: F) -> F:
    """the numbers are right, but float32 went in and float64 came out: np.zeros makes float64 unless you tell it the
    type."""
    h, d, k = W.shape
    out = np.zeros((d, h * k))
    out[:] = W.swapaxes(0, 1).reshape(d, h * k)
    return out


def pack_by_transpose(W: F) -> F:
    return W.transpose(1, 0, 2).reshape(W.shape[1], -1)


def pack_by_concatenating(W: F) -> F:
    return np.concatenate(list(W), axis=1)


def pack_by_hstack(W: F) -> F:
    return np.hstack([W[i] for i in range(len(W))])


def pack_by_torch(W: F) -> F:
    import torch

    return torch.cat(list(torch.from_numpy(W.copy())), dim=1).numpy()


PACK = Exercise(
    oracle=pack,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[[1.0], [2.0]], [[10.0], [20.0]], [[100.0], [200.0]]])),
        case(_payload(3, 4, 2, dtype="float32")),
        case(_payload(2, 6, 3)),
        case(_payload(2, 2, 3)),
    ),
    probes=(
        Probe("every column of a counted weight, traced to its head", 1.5, _counted_heads),
        Probe("the same where sizes coincide, and a wrong order keeps the shape", 1.0, _merges),
        Probe(
            "tokens of width 1, a single head, heads of width 1, float32, and arrays that are not contiguous",
            0.5,
            _merges_at_the_edge,
        ),
    ),
    mistakes=(
        packed_by_reshape_alone,
        packed_on_rows,
        packed_like_cards,
        packed_and_turned,
        packed_and_turned_back,
        packed_by_other_names,
        packed_by_adding,
        packed_in_reverse,
        packed_without_joining,
        packed_the_wrong_pair,
        packed_with_all_axes_reversed,
        packed_as_blocks,
        packed_in_float64,
    ),
    variants=(pack_by_transpose, pack_by_concatenating, pack_by_hstack, pack_by_torch),
    uses=("merge_heads",),
)


# ----------------------------------------------------------------------------------------------------- mha


def mha(
    X: Float[np.ndarray, "n d"],
    Wqkv: Float[np.ndarray, "d e"],
    Wo: Float[np.ndarray, "u d"],
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


def _split(Z: F, h: int) -> F:
    return Z.reshape(len(Z), h, -1).swapaxes(0, 1)


def _merge(T: F) -> F:
    return T.swapaxes(0, 1).reshape(T.shape[1], -1)


def _widths(Wqkv: F, Wo: F, h: int) -> tuple[int, int]:
    v = len(Wo) // h
    return (Wqkv.shape[1] // h - v) // 2, v


def _qkv(X: F, Wqkv: F, Wo: F, h: int) -> tuple[F, F, F]:
    """Queries, keys and values, [h, n, k] or [h, n, v] each."""
    k, _ = _widths(Wqkv, Wo, h)
    Z = X @ Wqkv
    return _split(Z[:, : h * k], h), _split(Z[:, h * k : 2 * h * k], h), _split(Z[:, 2 * h * k :], h)


def _stood_up(K: F) -> F:
    return K.swapaxes(1, 2)


def scaled_by_root_d(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by √d, and d is the width of a token. A dot product runs over the k numbers of one head's
    query, and it is their number that counts."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(X.shape[1]), keep) @ V) @ Wo


def scaled_by_all_heads(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by √(h*k), the width of all heads' queries together. A dot product runs over the k numbers of
    one head."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(h * Q.shape[2]), keep) @ V) @ Wo


def scaled_by_number_of_tokens(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by √n. The queries have three axes now, [h, n, k], and the width of a query is the last of
    them, no longer shape[1]."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(Q.shape[1]), keep) @ V) @ Wo


def not_scaled(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your scores are not scaled: they should be divided by the root of the width of one head's query."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ _stood_up(K), keep) @ V) @ Wo


def scaled_in_float64(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """the numbers are right, but float32 went in and float64 came out. numpy's root of a whole number is a float64, and it
    pulls the scores along. A plain Python number does not."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ _stood_up(K) / np.sqrt(Q.shape[2]), keep) @ V) @ Wo


def scaled_by_numpys_root_of_d(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by √d, the width of a token; a dot product runs over the k numbers of one head's query.
    (And numpy's root of a whole number is a float64, which makes float64 of float32.)"""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ _stood_up(K) / np.sqrt(X.shape[1]), keep) @ V) @ Wo


def scaled_without_a_root(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you divided the scores by k, and not by its root."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ _stood_up(K) / Q.shape[2], keep) @ V) @ Wo


def softmax_over_heads(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your weights add up to 1 across the heads, so that heads compete with each other. Within every head it is the keys
    that compete: softmax runs along the last axis."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    M = np.where(keep, Q @ _stood_up(K) / math.sqrt(Q.shape[2]), -np.inf)
    E = np.exp(M - np.where(np.isneginf(M.max(axis=0, keepdims=True)), 0, M.max(axis=0, keepdims=True)))
    total = E.sum(axis=0, keepdims=True)
    return _merge(E / np.where(total == 0, 1, total) @ V) @ Wo


def softmax_over_queries(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your weights add up to 1 along axis 1. In [h, n, n] those are the queries. The keys are the last axis, however many
    axes stand in front."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    S = Q @ _stood_up(K) / math.sqrt(Q.shape[2])
    return _merge(_stood_up(_weigh(_stood_up(S), keep.T)) @ V) @ Wo


def head_by_head_packing(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you read the columns head by head: query, key and value of head 0, then those of head 1. Some models are packed like
    that. Here all queries come first, then all keys, then all values."""
    k, _ = _widths(Wqkv, Wo, h)
    Z = _split(X @ Wqkv, h)
    Q, K, V = Z[..., :k], Z[..., k : 2 * k], Z[..., 2 * k :]
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


def keys_come_first(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you took the first columns for keys and the next for queries. The order is queries, keys, values. (With both
    exchanged every table of scores is turned.)"""
    K, Q, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


def mask_on_head_0_only(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your mask reaches head 0 only; the other heads see everything. One leaking head is enough, since Wo mixes it into
    every output. The mask holds for all heads alike."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    wide = np.broadcast_to(keep, (h, *keep.shape)).copy()
    wide[1:] = True
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), wide) @ V) @ Wo


def mask_left_out(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you do not use keep: every token sees every other, also where it may not."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), np.ones_like(keep)) @ V) @ Wo


def mask_inverted(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your heads attend where keep is False. True means: may attend."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), ~keep) @ V) @ Wo


def own_triangle(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you made a causal mask of your own. Which mask it is comes as an argument, keep, and it may be another one."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), np.tril(np.ones_like(keep))) @ V) @ Wo


def masked_after_softmax(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you made hidden weights 0 after softmax. The others then no longer add up to 1: what is hidden has to be out
    before softmax divides."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), np.ones_like(keep)) * keep @ V) @ Wo


def exponentials_of_large_scores(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """large scores come out as NaN: e to a score of 1000 is more than a computer can hold, and infinity over infinity is
    not a number. A softmax subtracts the largest score of each row first; the one that has been carried over does."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    with np.errstate(over="ignore", invalid="ignore"):
        E = np.where(keep, np.exp(Q @ _stood_up(K) / math.sqrt(Q.shape[2])), 0)
        total = E.sum(axis=-1, keepdims=True)
        return _merge(E / np.where(total == 0, 1, total) @ V) @ Wo


def nan_for_empty_rows(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """a token that may look at nothing came out as NaN. In notebook 03 you wrote a softmax that gives such a row
    zeros; it has been carried over, and it takes any number of axes."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    with np.errstate(invalid="ignore"):
        M = np.where(keep, Q @ _stood_up(K) / math.sqrt(Q.shape[2]), -np.inf)
        E = np.exp(M - M.max(axis=-1, keepdims=True))
        return _merge(E / E.sum(axis=-1, keepdims=True) @ V) @ Wo


def output_weight_left_out(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """these are the heads side by side, and Wo has not been applied."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V)


def three_equal_parts(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you cut X @ Wqkv into three equal parts. That fits only where a value is as wide as a key. How wide a value is can be
    read off Wo; what remains of a head's columns is shared by query and key."""
    Q, K, V = (_split(Z, h) for Z in np.split(X @ Wqkv, 3, axis=1))
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


def widths_from_the_token(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you took the width of a head to be d / h. Most models are built so, and nothing forces them to. The widths are in the
    weights: Wo has h*v rows, Wqkv has h*(2k+v) columns."""
    k = X.shape[1] // h
    Z = X @ Wqkv
    Q, K, V = _split(Z[:, : h * k], h), _split(Z[:, h * k : 2 * h * k], h), _split(Z[:, 2 * h * k :], h)
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


def keys_as_wide_as_values(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your queries and keys are as wide as values. The rows of Wo tell you v, and only v. Of a head's 2k + v columns of
    Wqkv, query and key share what remains when v is taken away."""
    k = len(Wo) // h
    Z = X @ Wqkv
    Q, K, V = _split(Z[:, : h * k], h), _split(Z[:, h * k : 2 * h * k], h), _split(Z[:, 2 * h * k :], h)
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


def values_before_keys(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you took the columns after the queries for values, and the last ones for keys. The order is queries, keys,
    values."""
    k, v = _widths(Wqkv, Wo, h)
    Z = X @ Wqkv
    Q, V, K = _split(Z[:, : h * k], h), _split(Z[:, h * k : h * (k + v)], h), _split(Z[:, h * (k + v) :], h)
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


def keys_cut_at_the_width_of_values(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """your keys are as wide as values, and your queries are not. After the h*k columns of the queries come h*k columns
    of keys, and only then h*v columns of values: does each cut lie in its place, and are the three in order?"""
    k, v = _widths(Wqkv, Wo, h)
    Z = X @ Wqkv
    Q, K, V = _split(Z[:, : h * k], h), _split(Z[:, h * k : h * (k + v)], h), _split(Z[:, h * (k + v) :], h)
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


def keys_lying_down(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you multiplied Q by K as it is. In a product the rows on the left meet columns on the right, so in every head the
    keys have to be stood up, [h, n, k] to [h, k, n]."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ K / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


def keys_stood_up_by_reshape(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you stood the keys up by a reshape to [h, k, n]. The shape is right, and the numbers are dealt to the wrong keys: a
    reshape reads on row by row, and does not turn a table. Two axes have to change places."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ K.reshape(h, -1, len(X)) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


def keys_with_heads_and_tokens_exchanged(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you exchanged axes 0 and 1 of the keys, which undoes the split: [h, n, k] becomes [n, h, k]. To stand them up in
    every head, it is the last two that change places."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ K.swapaxes(0, 1) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


def keys_with_all_axes_reversed(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you stood the keys up with .T. With three axes that reverses all of them, and [h, n, k] becomes [k, n, h]. Only the
    last two change places, in every head."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ K.T / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


def one_table_for_all(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you never split the heads: one product of all queries with all keys adds up the scores of all heads, and makes one
    wide head of them. Each head needs a table of scores, and a softmax, of its own."""
    k, _ = _widths(Wqkv, Wo, h)
    Z = X @ Wqkv
    S = Z[:, : h * k] @ Z[:, h * k : 2 * h * k].T / math.sqrt(k)
    return _weigh(S, keep) @ Z[:, 2 * h * k :] @ Wo


def split_by_reshape_alone(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you split the heads by reshape alone, which deals one token's features to another. Your split_heads of exercise 2 knows
    how to do it."""
    k, _ = _widths(Wqkv, Wo, h)
    Q, K, V = (Z.reshape(h, len(X), -1) for Z in np.split(X @ Wqkv, [h * k, 2 * h * k], axis=1))
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(k), keep) @ V) @ Wo


def merged_without_exchange(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you merged the heads by reshape alone, which fills one row with several tokens of one head. Your merge_heads of
    exercise 3 knows how to do it."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return (_weigh(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V).reshape(len(X), -1) @ Wo


def reshaped_both_ways(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you split and merged by reshape alone. The two undo each other, so a round trip looks right, and the shapes are
    right too. In between, though, each head had a part of the text instead of a part of each token, and nobody could look
    across. Your split_heads and merge_heads know how to do it."""
    k, _ = _widths(Wqkv, Wo, h)
    Q, K, V = (Z.reshape(h, len(X), -1) for Z in np.split(X @ Wqkv, [h * k, 2 * h * k], axis=1))
    return (_weigh(Q @ _stood_up(K) / math.sqrt(k), keep) @ V).reshape(len(X), -1) @ Wo


def heads_not_merged(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """what you multiply by Wo is only as wide as one head: the outputs are a stack still, [h, n, v], or have been added
    up. Wo wants each token's outputs from all heads side by side, in one row."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _weigh(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V @ Wo


def values_not_split(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """what reaches Wo is too wide. Either your values are not split, and every head mixes those of all heads; or they
    begin before the columns of the keys have come to an end."""
    Q, K, _ = _qkv(X, Wqkv, Wo, h)
    V = (X @ Wqkv)[:, 2 * h * Q.shape[2] :]
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo


def output_weight_on_its_side(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """you turned Wo (Wo.T). It runs only where h*v = d. Like every weight here it multiplies rows from the right, as
    it stands."""
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    return _merge(_weigh(Q @ _stood_up(K) / math.sqrt(Q.shape[2]), keep) @ V) @ Wo.T


def loops_over_heads(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """the numbers are right, and a loop is left, over the heads or over the tokens. `@` multiplies whole stacks of
    matrices, [h, n, k] with [h, k, n], and your softmax runs along the last axis of any stack: all heads go at once. (A
    loop inside a helper counts as well. Beware of np.stack, np.hstack and np.split: they visit one table after another.)"""
    heads = []
    for queries, keys, values in zip(*_qkv(X, Wqkv, Wo, h), strict=True):
        weights = _weigh(queries @ keys.T / math.sqrt(queries.shape[1]), keep)
        heads.append(weights @ values)
    return np.concatenate(heads, axis=1) @ Wo


def mha_with_concatenation(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    A = _weigh(Q @ K.transpose(0, 2, 1) / Q.shape[-1] ** 0.5, keep)
    return np.concatenate(list(A @ V), axis=1) @ Wo


def mha_by_einsum(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    k, v = _widths(Wqkv, Wo, h)
    Z = np.einsum("nd,de->ne", X, Wqkv)
    Q, K = Z[:, : 2 * h * k].reshape(-1, 2, h, k).transpose(1, 2, 0, 3)
    V = Z[:, 2 * h * k :].reshape(-1, h, v)
    A = _weigh(np.einsum("hnk,hmk->hnm", Q, K) / math.sqrt(k), keep)
    return np.einsum("hnm,mhv,hvd->nd", A, V, Wo.reshape(h, v, -1))


def mha_summed_over_heads(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    k, v = _widths(Wqkv, Wo, h)
    Wq, Wk, Wv = (_split(W, h) for W in np.split(Wqkv, [h * k, 2 * h * k], axis=1))
    A = _weigh((X @ Wq / k**0.5) @ _stood_up(X @ Wk), keep)
    return (A @ (X @ Wv) @ Wo.reshape(h, v, -1)).sum(axis=0)


def mha_with_a_mask_for_each_head(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    Q, K, V = _qkv(X, Wqkv, Wo, h)
    A = _weigh(np.matmul(Q, np.moveaxis(K, 1, 2)) / math.sqrt(Q.shape[2]), np.repeat(keep[None], h, axis=0))
    return _merge(A @ V) @ Wo


def mha_by_torch(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    import torch

    x, qkv, o = (torch.from_numpy(a.copy()) for a in (X, Wqkv, Wo))
    k, v = _widths(Wqkv, Wo, h)
    parts = torch.split(x @ qkv, [h * k, h * k, h * v], dim=1)
    q, keys, values = (part.reshape(len(x), h, -1).transpose(0, 1) for part in parts)
    hidden = ~torch.from_numpy(keep.copy())
    A = torch.softmax((q @ keys.mT / k**0.5).masked_fill(hidden, -torch.inf), dim=-1)
    A = A.masked_fill(hidden.all(dim=1, keepdim=True), 0.0)
    return ((A @ values).transpose(0, 1).flatten(1) @ o).numpy()


def _packed(
    rng: np.random.Generator, d: int, h: int, k: int, v: int, dtype: str = "float64", order: str = "C"
) -> tuple[F, F, int]:
    """Packed weights; with tokens of size 1 their scores have a standard deviation of about 2."""
    Wq, Wk, Wv, Wo = _weights(rng, d, h, k, v, dtype, order)
    Wqkv = np.concatenate([_merge(W) for W in (Wq, Wk, Wv)], axis=1)
    return (np.asfortranarray(Wqkv) if order == "F" else Wqkv), Wo, h


def _all_at_once(rng: np.random.Generator) -> list[Case]:
    cases = []
    for _ in range(2):
        n, d, h, k, v = _apart(rng)
        cases.append(case(normal(rng, n, d), *_packed(rng, d, h, k, v), causal(n)))
    return cases


def _at_once_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    n, k, v = sizes(rng, 3, 2, 5)
    h = int(rng.choice([2, 3]))
    return [
        case(normal(rng, 7, h * v), *_packed(rng, h * v, h, k, v), causal(7)),  # h*v = d: it runs without Wo
        case(normal(rng, 7, h * k), *_packed(rng, h * k, h, k, k), causal(7)),  # h*k = h*v = d, as in most models
        case(normal(rng, n, n), *_packed(rng, n, h, k, k), causal(n)),  # k = v, which is not d / h
        case(normal(rng, h, v), *_packed(rng, v, h, h, v), causal(h)),  # n = h = k: K.T runs
        case(normal(rng, n, h * k), *_packed(rng, h * k, h, k, v), causal(n)),  # k = d / h, and v is not
        case(normal(rng, n, 7), *_packed(rng, 7, h, 1, 4), causal(n)),  # three equal parts can be cut
    ]


def _at_once_under_masks(rng: np.random.Generator) -> list[Case]:
    n, d, h, k, v = _apart(rng)
    packed = _packed(rng, d, h, k, v)
    return [
        case(normal(rng, n, d), *packed, random_keep(rng, n, n)),
        case(normal(rng, n, d), *packed, _with_empty_row(rng, n)),
        case(normal(rng, h, d), *packed, causal(h)),  # n = h: the mask's axes fit heads as well
    ]


def _at_once_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, d, h, k, v = _apart(rng)
    single = _packed(rng, d, h, k, v, dtype="float32")
    strange = _packed(rng, d, h, k, v, order="F")
    return [
        case(normal(rng, 1, d), *_packed(rng, d, h, k, v), np.array([[True]])),
        case(normal(rng, n, d), *_packed(rng, d, 1, k, v), causal(n)),
        case(normal(rng, n, d, scale=30.0), *_packed(rng, d, h, k, v), causal(n)),
        case(normal(rng, n, d, dtype="float32"), *single, causal(n)),
        case(normal(rng, n, d, order="strided"), *strange, np.asfortranarray(random_keep(rng, n, n))),
    ]


def _few_and_many(rng: np.random.Generator) -> list[Case]:
    d, k, v = sizes(rng, 3, 2, 6)
    return [case(normal(rng, n, d), *_packed(rng, d, h, k, v), causal(n)) for n, h in ((2, 2), (31, 15))]


def _public_packed(n: int, d: int, h: int, k: int, v: int, keep: B, dtype: str = "float64") -> Case:
    X, Wq, Wk, Wv, Wo, _ = (np.asarray(a) for a in _public_heads(n, d, h, k, v, keep, dtype).arguments)
    return case(X, np.concatenate([_merge(W) for W in (Wq, Wk, Wv)], axis=1), Wo, h, keep)


MHA = Exercise(
    oracle=mha,
    notebook=NOTEBOOK,
    public=(
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
        _public_packed(16, 8, 16, 1, 1, causal(16)),
    ),
    probes=(
        Probe("the output of all heads together, all sizes different", 1.5, _all_at_once),
        Probe("the same where sizes coincide and other readings would run too", 1.0, _at_once_where_sizes_coincide),
        Probe("other masks than the causal one, and a token that may look at nothing", 1.0, _at_once_under_masks),
        Probe(
            "one token, one head, scores in the thousands, float32, and arrays that are not contiguous",
            1.0,
            _at_once_at_the_edge,
        ),
        Probe("no more Python lines for many tokens and heads than for few", 0.5, _few_and_many, "lines"),
    ),
    mistakes=(
        scaled_by_root_d,
        scaled_by_all_heads,
        scaled_by_number_of_tokens,
        not_scaled,
        scaled_in_float64,
        scaled_by_numpys_root_of_d,
        scaled_without_a_root,
        softmax_over_heads,
        softmax_over_queries,
        head_by_head_packing,
        keys_come_first,
        values_before_keys,
        keys_cut_at_the_width_of_values,
        keys_as_wide_as_values,
        mask_on_head_0_only,
        mask_left_out,
        mask_inverted,
        own_triangle,
        masked_after_softmax,
        nan_for_empty_rows,
        exponentials_of_large_scores,
        output_weight_left_out,
        output_weight_on_its_side,
        three_equal_parts,
        widths_from_the_token,
        keys_with_all_axes_reversed,
        keys_lying_down,
        keys_stood_up_by_reshape,
        keys_with_heads_and_tokens_exchanged,
        one_table_for_all,
        values_not_split,
        split_by_reshape_alone,
        merged_without_exchange,
        reshaped_both_ways,
        heads_not_merged,
        loops_over_heads,
    ),
    variants=(
        mha_with_concatenation,
        mha_by_einsum,
        mha_summed_over_heads,
        mha_with_a_mask_for_each_head,
        mha_by_torch,
    ),
    uses=("split_heads", "merge_heads"),
)


# -------------------------------------------------------------------------------------------------- wo_sum


def wo_sum(O: Float[np.ndarray, "h n v"], Wo: Float[np.ndarray, "e d"]) -> Float[np.ndarray, "h n d"]:  # noqa: E741
    """Head i's outputs times the rows of Wo that they meet, which are rows i * v to (i + 1) * v - 1."""
    h, n, v = O.shape
    out = np.zeros((h, n, Wo.shape[1]))
    for i in range(h):
        for t in range(n):
            for x in range(v):
                out[i, t] += O[i, t, x] * Wo[i * v + x]
    return out


def every_hth_row(T: F, Wo: F) -> F:
    """you gave head 0 every h-th row of Wo. Side by side, head 0 has the first v columns, and these meet the first v rows
    of Wo: a head's rows lie next to each other."""
    h, _, v = T.shape
    return T @ Wo.reshape(v, h, -1).swapaxes(0, 1)


def first_rows_for_all(T: F, Wo: F) -> F:
    """every head of yours meets the first rows of Wo, those of head 0. Each head has rows of its own."""
    return T @ Wo[: T.shape[2]]


def rows_in_reverse(T: F, Wo: F) -> F:
    """you dealt the blocks of Wo from last to first. Head 0 has the first one."""
    h, _, v = T.shape
    return T @ Wo.reshape(h, v, -1)[::-1]


def shares_divided(T: F, Wo: F) -> F:
    """you divided by the number of heads. Their shares are added up, and not averaged: their sum has to be the output
    itself."""
    h, _, v = T.shape
    return T @ Wo.reshape(h, v, -1) / np.float32(h).astype(T.dtype)


def already_added_up(T: F, Wo: F) -> F:
    """you returned the sum. The shares are wanted one by one, [h, n, d], so that one can see what each head adds."""
    h, _, v = T.shape
    return (T @ Wo.reshape(h, v, -1)).sum(axis=0)


def output_for_all(T: F, Wo: F) -> F:
    """you returned the whole output once for each head. Their sum would be h times too large. A head's share is what its own
    columns make, with all others left out."""
    return np.stack([_merge(T) @ Wo] * len(T))


def all_rows_for_each_head(T: F, Wo: F) -> F:
    """each head of yours meets all h*v rows of Wo, and has v numbers for them. Head i needs the v rows that are its own.
    (Did you cut Wo by columns? These belong to the features of the output, and every head adds to all of them.)"""
    return T @ Wo


def blocks_that_lie(T: F, Wo: F) -> F:
    """you cut Wo into blocks of [d, v]. A block is v of its rows, so it is [v, d]."""
    h, _, v = T.shape
    return T @ Wo.reshape(h, -1, v)


def one_row_too_few(T: F, Wo: F) -> F:
    """your blocks are one row short. A slice ends before the row that it names."""
    v = T.shape[2]
    return np.stack([T[i] @ Wo[i * v : (i + 1) * v - 1] for i in range(len(T))])


def blocks_one_row_apart(T: F, Wo: F) -> F:
    """each head's block begins one row below the last one's. A block is v rows high, so the next begins v rows below."""
    v = T.shape[2]
    return np.stack([T[i] @ Wo[i : i + v] for i in range(len(T))])


def blocks_turned(T: F, Wo: F) -> F:
    """each head has its own rows, but you turned them: the block is cut as [d, v]. It runs, and deals the numbers of one
    row of Wo to several outputs. A block of rows is [v, d] as it stands."""
    h, _, v = T.shape
    return T @ Wo.reshape(h, -1, v).swapaxes(1, 2)


def tokens_in_front(T: F, Wo: F) -> F:
    """the shares are right, and they come as [n, h, d]. The heads come first: [h, n, d]."""
    h, _, v = T.shape
    return (T @ Wo.reshape(h, v, -1)).swapaxes(0, 1)


def list_of_shares(T: F, Wo: F) -> list[F]:
    """the shares are right, and they come in a list. One array [h, n, d] is wanted."""
    return [head @ block for head, block in zip(T, np.split(Wo, len(T)), strict=True)]


def shares_in_float64(T: F, Wo: F) -> F:
    """the numbers are right, but float32 went in and float64 came out: np.zeros makes float64 unless you tell it the
    type."""
    h, n, v = T.shape
    out = np.zeros((h, n, Wo.shape[1]))
    out[:] = T @ Wo.reshape(h, v, -1)
    return out


def shares_by_slices(T: F, Wo: F) -> F:
    v = T.shape[2]
    return np.stack([T[i] @ Wo[i * v : (i + 1) * v] for i in range(len(T))])


def shares_by_split(T: F, Wo: F) -> F:
    return T @ np.array(np.split(Wo, len(T)))


def shares_by_einsum(T: F, Wo: F) -> F:
    h, _, v = T.shape
    return np.einsum("hnv,hvd->hnd", T, Wo.reshape(h, v, -1))


def shares_by_zeros(T: F, Wo: F) -> F:
    shares = []
    for i in range(len(T)):
        alone = np.zeros_like(T)
        alone[i] = T[i]
        shares.append(_merge(alone) @ Wo)
    return np.stack(shares)


def shares_by_torch(T: F, Wo: F) -> F:
    import torch

    o, w = torch.from_numpy(T.copy()), torch.from_numpy(Wo.copy())
    return torch.bmm(o, w.view(o.shape[0], o.shape[2], -1)).numpy()


def _shares(rng: np.random.Generator) -> list[Case]:
    h, n, v, d = sizes(rng, 4, 2, 7)
    return [case(normal(rng, h, n, v), normal(rng, h * v, d)), case(normal(rng, d, h, n), normal(rng, d * n, v))]


def _shares_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    h, n, v, d = sizes(rng, 4, 2, 6)
    return [
        case(normal(rng, h, n, v), normal(rng, h * v, h * v)),  # Wo is square
        case(normal(rng, h, n, v), normal(rng, h * v, v)),  # v = d
        case(normal(rng, h, h, v), normal(rng, h * v, d)),  # n = h
        case(normal(rng, h, n, h), normal(rng, h * h, d)),  # v = h
    ]


def _shares_at_the_edge(rng: np.random.Generator) -> list[Case]:
    h, n, v, d = sizes(rng, 4, 2, 6)
    return [
        case(normal(rng, 1, n, v), normal(rng, v, d)),
        case(normal(rng, h, 1, v), normal(rng, h * v, d)),
        case(normal(rng, h, n, 1), normal(rng, h, d)),
        case(normal(rng, h, n, v, dtype="float32"), normal(rng, h * v, d, dtype="float32")),
        case(normal(rng, h, n, v, order="F"), normal(rng, h * v, d, order="strided")),
        case(normal(rng, h, n, v, order="strided"), normal(rng, h * v, d, order="F")),
    ]


WO_SUM = Exercise(
    oracle=wo_sum,
    notebook=NOTEBOOK,
    public=(
        # the example by hand
        case(np.array([[[2.0, 1.0]], [[3.0, 0.0]]]), np.array([[1.0, 0.0], [0.0, 1.0], [10.0, 1.0], [0.0, 5.0]])),
        case(_pattern(2, 3, 2, step=3), _pattern(4, 5, step=4)),
        case(_pattern(3, 2, 5, step=5, dtype="float32"), _pattern(15, 4, step=3, dtype="float32")),
        case(_pattern(3, 4, 2, step=2), _pattern(6, 6, step=5)),
    ),
    probes=(
        Probe("each head's share, all sizes different", 1.0, _shares),
        Probe("the same where Wo is square and where sizes coincide", 0.5, _shares_where_sizes_coincide),
        Probe(
            "one head, one token, heads of width 1, float32, and arrays that are not contiguous",
            0.5,
            _shares_at_the_edge,
        ),
    ),
    mistakes=(
        every_hth_row,
        first_rows_for_all,
        rows_in_reverse,
        shares_divided,
        already_added_up,
        output_for_all,
        all_rows_for_each_head,
        blocks_that_lie,
        one_row_too_few,
        blocks_one_row_apart,
        blocks_turned,
        tokens_in_front,
        list_of_shares,
        shares_in_float64,
    ),
    variants=(shares_by_slices, shares_by_split, shares_by_einsum, shares_by_zeros, shares_by_torch),
    uses=("merge_heads",),
)

EXERCISES = (MHA_LOOP, SPLIT_HEADS, MERGE_HEADS, PACK, MHA, WO_SUM)
