"""Many heads for many texts at once, with gradients.

Counted from the end nothing changes: tokens and features are the last two axes, and items and heads stand in front.
So the columns are cut into neighbours, head and token change places, and after the mixture they change back before
the heads are joined. A reshape straight to `[b, h, n, k]`, or `.T` on four axes, may run and deals numbers to the
wrong owners. Masking comes before softmax. A row that keeps nothing is NaN after it, and zeros at masked places
repair that row alone, so a NaN at a kept place stays.
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
    one_query,
    plain_exponentials,
    scores_over_root_k,
    sizes_of_heads,
    tensor_value,
    two_or_more_kept,
)
from autograder.exercises.inputs import causal as lower_triangle
from autograder.exercises.inputs import random_keep
from autograder.exercises.model import Case, case, misses_the_idea, mistake, probe, right, right_to_seven_digits
from autograder.exercises.parts import widths
from course.trial.values import Tensor as TensorValue

Params = dict[str, Tensor]


def mha_batched(
    X: Float[Tensor, "b n d"], params: dict[str, Tensor], h: int, keep: Bool[Tensor, "*#bh n n"]
) -> Float[Tensor, "b n d"]:
    """The outputs of all items, one query of one head of one item at a time.

    Multi-head attention as in Vaswani et al., "Attention is all you need", 2017.
    """
    Wqkv, Wo = params["Wqkv"], params["Wo"]
    b, n, d = X.shape
    v = Wo.shape[0] // h
    k = (Wqkv.shape[1] - h * v) // (2 * h)
    may = keep.expand(b, h, n, n)
    rows = []
    for item in range(b):
        for i in range(n):
            parts = []
            for head in range(h):
                Wq, Wk = (Wqkv[:, first + head * k : first + (head + 1) * k] for first in (0, h * k))
                Wv = Wqkv[:, 2 * h * k + head * v : 2 * h * k + (head + 1) * v]
                places = [j for j in range(n) if may[item, head, i, j]]
                parts.append(one_query(X[item, i] @ Wq, X[item, places] @ Wk, X[item, places] @ Wv))
            rows.append(torch.cat(parts) @ Wo)
    return torch.stack(rows).reshape(b, n, d)


def _small(seed: int, b: int, n: int, d: int, h: int, k: int, v: int, dtype: str = "float64") -> tuple[Any, ...]:
    """Small public arguments, in numbers of one digit after the point."""
    rng = np.random.default_rng(seed)
    widths = ((b, n, d), (d, h * (2 * k + v)), (h * v, d))
    X, Wqkv, Wo = (TensorValue(np.round(1.2 * rng.standard_normal(shape), 1).astype(dtype)) for shape in widths)
    return X, {"Wqkv": Wqkv, "Wo": Wo}, h


def _with_more_parameters(arguments: tuple[Any, ...], keep: np.ndarray) -> Case:
    X, params, h = arguments
    b2, gain1 = (tensor_value([number] * X.array.shape[-1], X.array.dtype.name) for number in (0.5, 2.0))
    return case(X, {"b2": b2, **dict(reversed(params.items())), "gain1": gain1}, h, TensorValue(keep))


BROKEN = _small(8, 1, 2, 2, 1, 1, 1)
BROKEN[1]["Wqkv"].array[0, 0] = np.nan


PUBLIC = (
    case(
        tensor_value([[[1.0, 2.0]], [[3.0, 0.0]]]),
        {
            "Wqkv": tensor_value([[0.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 2.0, 1.0]]),
            "Wo": tensor_value([[1.0, 0.0], [0.0, 10.0]]),
        },
        2,
        TensorValue(np.ones((1, 1), bool)),
    ),
    case(*_small(1, 1, 2, 3, 1, 1, 2), TensorValue(lower_triangle(2))),
    case(*_small(2, 3, 1, 2, 2, 1, 2), TensorValue(np.ones((1, 1), bool))),
    case(*_small(3, 2, 3, 1, 2, 1, 2), TensorValue(lower_triangle(3))),
    case(*_small(4, 2, 2, 3, 2, 2, 1), TensorValue(np.array([lower_triangle(2), np.ones((2, 2), bool)])[:, None])),
    # nobody sees anything in the second row of item 0
    case(
        *_small(5, 2, 3, 1, 3, 2, 1, "float32"),
        TensorValue(
            np.array(
                [
                    [[True, False, True], [False, False, False], [True, True, True]],
                    [[True, False, False], [True, True, False], [False, True, True]],
                ]
            )[:, None]
        ),
    ),
    case(*BROKEN, TensorValue(lower_triangle(2))),
    case(
        dict(
            zip(
                ("X", "params", "h", "keep"),
                (*_small(6, 2, 3, 2, 2, 2, 1), TensorValue(lower_triangle(3))),
                strict=True,
            )
        ),
        harness="gradients",
    ),
    # the same with a row that keeps nothing
    case(
        dict(
            zip(
                ("X", "params", "h", "keep"),
                (
                    *_small(9, 1, 3, 2, 2, 1, 1),
                    TensorValue(lower_triangle(3) & np.array([[True], [False], [True]])),
                ),
                strict=True,
            )
        ),
        harness="gradients",
    ),
    # scores of thousands
    case(
        tensor_value([[[40.0, 0.0], [0.0, 40.0]]]),
        {"Wqkv": tensor_value([[1.0, 1.0, 1.0], [0.5, 0.5, 2.0]]), "Wo": tensor_value([[1.0, 2.0]])},
        1,
        TensorValue(lower_triangle(2)),
    ),
    # scores far below 0, in every row
    case(
        tensor_value([[[1.0, 1.0], [1.0, 2.0], [2.0, 1.0]]]),
        {"Wqkv": tensor_value([[100.0, -200.0, 1.0], [100.0, -200.0, 3.0]]), "Wo": tensor_value([[1.0, 2.0]])},
        1,
        TensorValue(lower_triangle(3)),
    ),
    # one mask for each head, and parameters that nobody asks for
    _with_more_parameters(_small(10, 2, 3, 4, 2, 3, 2), random_keep(np.random.default_rng(1), 2, 2, 3, 3)),
    _with_more_parameters(_small(12, 1, 2, 2, 1, 1, 1, "float32"), lower_triangle(2)),
    case(*_small(11, 2, 4, 5, 2, 6, 5), TensorValue(random_keep(np.random.default_rng(2), 4, 4))),
    case(*_small(7, 10, 4, 3, 9, 2, 2), TensorValue(lower_triangle(4))),  # many items and heads, for loops to show
)


def _parameters(
    rng: np.random.Generator, d: int, h: int, k: int, v: int, dtype: str = "float64", order: str = "C"
) -> dict[str, TensorValue]:
    """Those of a block that attention needs, and two that it does not, in another order than the text names them."""
    return {
        "b2": drawn_tensor(rng, d, dtype=dtype),
        "Wo": drawn_tensor(rng, h * v, d, dtype=dtype, order=order),
        "Wqkv": drawn_tensor(rng, d, h * (2 * k + v), scale=1.5 / math.sqrt(d), dtype=dtype, order=order),
        "gain1": drawn_tensor(rng, d, dtype=dtype),
    }


def _items(
    rng: np.random.Generator,
    b: int,
    n: int,
    d: int,
    h: int,
    k: int,
    v: int,
    keep: np.ndarray,
    size: float = 1.5,
    **how: Any,
) -> Case:
    return case(
        drawn_tensor(rng, b, n, d, scale=size, **how), _parameters(rng, d, h, k, v, **how), h, TensorValue(keep)
    )


@probe(1.0)
def batches(rng: np.random.Generator) -> list[Case]:
    """every item through every head, all sizes different"""
    b, n, d, h, k, v = sizes_of_heads(rng, 6)
    other, (few, wide, heads, key, value) = 2, sizes_of_heads(rng, 5, 3)
    return [
        _items(rng, b, n, d, h, k, v, lower_triangle(n)),
        _items(rng, b, n, d, h, k, v, random_keep(rng, n, n)),
        _items(rng, other, few, wide, heads, key, value, random_keep(rng, other, 1, few, few)),
        _items(rng, other, few, wide, heads, key, value, random_keep(rng, other, heads, few, few)),
    ]


@probe(0.5)
def batches_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide (b = h, b = n, k = v, too)"""
    s, d, v = sizes_of_heads(rng, 3, 3, 6)
    return [
        _items(rng, s, s, d, s, s, v, random_keep(rng, s, 1, s, s)),  # b = n = h = k: .T runs
        _items(rng, s, d, s * v, s, d, v, random_keep(rng, s, 1, d, d)),  # b = h: [b, n, n] lines up with the heads
        _items(rng, s, s, d, v, d, v, two_or_more_kept(rng, s, s)),  # b = n: items and tokens can be exchanged
        _items(rng, v, d, d, s, d, d, lower_triangle(d)),  # k = v = d
    ]


def _empty_rows_of_batches(rng: np.random.Generator) -> list[Case]:
    b, (n, d, h, k, v) = 2, sizes_of_heads(rng, 5, 3)
    keep = np.stack([two_or_more_kept(rng, n, n) for _ in range(b)])[:, None]
    keep[rng.integers(b), 0, rng.integers(n)] = False
    return [
        _items(rng, b, n, d, h, k, v, keep),
        _items(rng, b, n, d, h, v, k, keep),
        _items(rng, b, n, d, h, k, v, np.zeros((b, 1, n, n), bool)),
    ]


def _broken_batches(rng: np.random.Generator) -> list[Case]:
    """A NaN among the weights of the queries. Every token keeps one at least, so every output has to show it."""
    b, n, d, h, k, v = sizes_of_heads(rng, 6)
    params = _parameters(rng, d, h, k, v)
    params["Wqkv"].array[:, 0] = np.nan
    return [case(drawn_tensor(rng, b, n, d), params, h, TensorValue(random_keep(rng, b, 1, n, n)))]


@probe(0.25)
def empty_and_broken_batches(rng: np.random.Generator) -> list[Case]:
    """zeros from every head for a token with nothing to attend to; and a NaN that came in is not hidden"""
    return _empty_rows_of_batches(rng) + _broken_batches(rng)


def _decided(rng: np.random.Generator, b: int, n: int, d: int, h: int, k: int, v: int) -> Case:
    """Scores in the thousands, of whole numbers: two of them are equal, or so far apart that the larger one takes all. Between scores
    as large that are close, weights depend on digits that float32 has not, and how much on the draw."""
    whole = np.array([-2.0, -1.0, 1.0, 2.0])
    params = _parameters(rng, d, h, k, v)
    params["Wqkv"].array[...] = rng.choice(whole, params["Wqkv"].array.shape)
    return case(TensorValue(10 * rng.choice(whole, (b, n, d))), params, h, TensorValue(two_or_more_kept(rng, n, n)))


def _far_below(rng: np.random.Generator, b: int, n: int, d: int, k: int, v: int) -> Case:
    """One head whose scores all lie far below -10000: every token is much like the others, and queries the opposite of keys."""
    Wk = 300.0 * np.ones((d, k))
    packed = np.hstack([-Wk, Wk, rng.standard_normal((d, v))])
    params = {"Wqkv": TensorValue(packed), "Wo": drawn_tensor(rng, v, d)}
    X = TensorValue(1.0 + 1e-6 * rng.random((b, n, d)))
    return case(X, params, 1, TensorValue(lower_triangle(n)))


@probe(0.25, strict=True)
def batches_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a batch of one, texts of one token, a single head, scores in the thousands above 0 and below, float32, and tensors that
    are not contiguous"""
    b, (n, d, h, k, v) = 2, sizes_of_heads(rng, 5, 3)
    return [
        _items(rng, 1, n, d, h, k, v, lower_triangle(n)),
        _items(rng, b, 1, d, h, k, v, np.ones((1, 1), bool)),
        _items(rng, b, n, d, 1, k, v, two_or_more_kept(rng, n, n)),
        _decided(rng, b, n, d, h, k, v),
        _far_below(rng, b, n, d, k, v),
        _items(rng, b, n, d, h, k, v, lower_triangle(n), dtype="float32"),
        _items(rng, b, n, d, h, k, v, two_or_more_kept(rng, n, n)[None, None], order="strided"),
    ]


@probe(2.5, measures="lines")
def few_and_many(rng: np.random.Generator) -> list[Case]:
    """no loop over items or heads"""
    d, k, v = sizes_of_heads(rng, 3, 2, 6)
    return [
        _items(rng, 1, 2, d, 1, k, v, lower_triangle(2)),
        # 4 tokens, since no width is 4
        _items(rng, 10, 4, d, 9, k, v, random_keep(rng, 10, 1, 4, 4)),
    ]


def _learning(rng: np.random.Generator, b: int, n: int, d: int, h: int, k: int, v: int, keep: np.ndarray) -> Case:
    """Small tokens: what flows back through the values outweighs what scores add to it, and what float32 loses stays in the last digits."""
    X, params = drawn_tensor(rng, b, n, d, scale=0.5), _parameters(rng, d, h, k, v)
    return case({"X": X, "params": params, "h": h, "keep": TensorValue(keep)}, harness="gradients")


@probe(0.5)
def batches_to_learn_from(rng: np.random.Generator) -> list[Case]:
    """gradients flow through to the tokens and to both weights"""
    b, (n, d, h, k, v) = 2, sizes_of_heads(rng, 5, 3)
    keep = two_or_more_kept(rng, n, n)
    one_empty = keep.copy()
    one_empty[rng.integers(n)] = False
    return [_learning(rng, b, n, d, h, k, v, mask) for mask in (keep, one_empty)]


def _projected(X: T, params: Params, h: int) -> Three:
    """Queries, keys and values, each [b, h, n, width]."""
    k, v = widths(params["Wqkv"], params["Wo"], h)
    Q, K, V = torch.split(X @ params["Wqkv"], [h * k, h * k, h * v], dim=-1)
    b, n, _ = X.shape
    return tuple(Z.reshape(b, n, h, -1).transpose(1, 2) for Z in (Q, K, V))  # type: ignore[return-value]


def _joined(outputs: T) -> T:
    return outputs.transpose(1, 2).flatten(2)


@mistake
def reverses_all_axes(X: T, params: Params, h: int, keep: T) -> T:
    """you turned the keys with .T. On a table that exchanges two axes; on four axes it reverses the order of all of
    them, items and heads too. It runs only where the sizes happen to agree. Exchange the last two axes and no others."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(Q @ K.T / Q.shape[-1] ** 0.5, keep) @ V) @ params["Wo"]


@misses_the_idea
def folds_the_batch_into_the_tokens(X: T, params: Params, h: int, keep: T) -> T:
    """you made one long text of all items. For the projections that is harmless, since each token is projected by
    itself; but in the scores tokens of one item then meet those of another. Items must never meet."""
    Q, K, V = _projected(X.reshape(1, -1, X.shape[2]), params, h)
    return (_joined(masked_weights(scores_over_root_k(Q, K), keep) @ V) @ params["Wo"]).reshape(X.shape)


@mistake
def views_for_a_transpose(X: T, params: Params, h: int, keep: T) -> T:
    """you reshaped [b, n, h*k] straight to [b, h, n, k]. A reshape keeps the order of the numbers and only draws new
    borders, so each head gets whole tokens, and not its own columns of every token. First [b, n, h, k], then exchange
    two axes."""
    k, v = widths(params["Wqkv"], params["Wo"], h)
    b, n, _ = X.shape
    Q, K, V = torch.split(X @ params["Wqkv"], [h * k, h * k, h * v], dim=-1)
    Q, K, V = (Z.reshape(b, h, n, -1) for Z in (Q, K, V))
    return _joined(masked_weights(scores_over_root_k(Q, K), keep) @ V) @ params["Wo"]


@mistake
def joins_without_a_transpose(X: T, params: Params, h: int, keep: T) -> T:
    """you reshaped the heads' outputs from [b, h, n, v] straight to [b, n, h*v]. That puts tokens of one head side by
    side. Bring n in front of h first, as merge_heads did."""
    Q, K, V = _projected(X, params, h)
    outputs = masked_weights(scores_over_root_k(Q, K), keep) @ V
    return outputs.reshape(*X.shape[:2], -1) @ params["Wo"]


@mistake
def joins_and_splits_without_a_transpose(X: T, params: Params, h: int, keep: T) -> T:
    """you reshaped to [b, h, n, k], and back from [b, h, n, v], without a transpose on either way. The shapes are right,
    and the heads are not: a reshape never moves a number, and here numbers have to move. Each head wants its own
    columns of every token."""
    k, v = widths(params["Wqkv"], params["Wo"], h)
    b, n, _ = X.shape
    Q, K, V = torch.split(X @ params["Wqkv"], [h * k, h * k, h * v], dim=-1)
    Q, K, V = (Z.reshape(b, h, n, -1) for Z in (Q, K, V))
    return (masked_weights(scores_over_root_k(Q, K), keep) @ V).reshape(b, n, -1) @ params["Wo"]


@mistake
def interleaves_heads(X: T, params: Params, h: int, keep: T) -> T:
    """you dealt the columns to the heads like cards, every h-th to the same head. The columns of one head lie side by
    side."""
    k, v = widths(params["Wqkv"], params["Wo"], h)
    b, n, _ = X.shape
    Q, K, V = torch.split(X @ params["Wqkv"], [h * k, h * k, h * v], dim=-1)
    Q, K, V = (Z.reshape(b, n, -1, h).permute(0, 3, 1, 2) for Z in (Q, K, V))
    return _joined(masked_weights(scores_over_root_k(Q, K), keep) @ V) @ params["Wo"]


@mistake
def head_by_head_columns(X: T, params: Params, h: int, keep: T) -> T:
    """you read the columns of Wqkv as query, key and value of head 0, then of head 1, and so on. Here all queries come
    first, then all keys, then all values."""
    k, v = widths(params["Wqkv"], params["Wo"], h)
    b, n, _ = X.shape
    Q, K, V = torch.split((X @ params["Wqkv"]).reshape(b, n, h, -1).transpose(1, 2), [k, k, v], dim=-1)
    return _joined(masked_weights(scores_over_root_k(Q, K), keep) @ V) @ params["Wo"]


@mistake
def cuts_into_thirds(X: T, params: Params, h: int, keep: T) -> T:
    """you cut the columns of Wqkv into three equal parts. That is right only where values are as wide as keys; the
    number of rows of Wo tells how wide all values are together."""
    b, n, _ = X.shape
    Q, K, V = (Z.reshape(b, n, h, -1).transpose(1, 2) for Z in (X @ params["Wqkv"]).chunk(3, dim=-1))
    return _joined(masked_weights(scores_over_root_k(Q, K), keep) @ V) @ params["Wo"]


def _cut(Z: T, h: int) -> T:
    return torch.unflatten(Z, -1, (h, -1)).transpose(1, 2)


@mistake
def borders_for_sizes(X: T, params: Params, h: int, keep: T) -> T:
    """you gave split the borders, as numpy's wants them. PyTorch's split wants the sizes of the parts, three of them, and
    they have to add up."""
    k, _ = widths(params["Wqkv"], params["Wo"], h)
    Q, K, V = torch.split(X @ params["Wqkv"], [h * k, 2 * h * k], dim=-1)
    return _joined(masked_weights(scores_over_root_k(_cut(Q, h), _cut(K, h)), keep) @ _cut(V, h)) @ params["Wo"]


@mistake
def a_share_of_d_for_a_value(X: T, params: Params, h: int, keep: T) -> T:
    """you took d/h for the width of a value. Values may be narrower or wider than that: the rows of Wo tell, h·v of them."""
    v = X.shape[-1] // h
    k = (params["Wqkv"].shape[1] // h - v) // 2
    Q, K, V = (_cut(Z, h) for Z in torch.split(X @ params["Wqkv"], [h * k, h * k, h * v], dim=-1))
    return _joined(masked_weights(scores_over_root_k(Q, K), keep) @ V) @ params["Wo"]


@mistake
def keys_as_wide_as_values(X: T, params: Params, h: int, keep: T) -> T:
    """you took keys to be as wide as values. The rows of Wo tell how wide the values are, h·v; what is left of the columns of
    Wqkv is shared by queries and keys."""
    _, v = widths(params["Wqkv"], params["Wo"], h)
    Q, K, V = (_cut(Z, h) for Z in torch.split(X @ params["Wqkv"], [h * v, h * v, h * v], dim=-1))
    return _joined(masked_weights(scores_over_root_k(Q, K), keep) @ V) @ params["Wo"]


@mistake
def a_share_of_d_for_a_key(X: T, params: Params, h: int, keep: T) -> T:
    """you took d/h for the width of a query and a key. They may be narrower or wider than that: the rows of Wo tell how wide the
    values are, and queries and keys share the other columns of Wqkv."""
    k = X.shape[-1] // h
    Q, K, V = (_cut(Z, h) for Z in torch.tensor_split(X @ params["Wqkv"], [h * k, 2 * h * k], dim=-1))
    return _joined(masked_weights(scores_over_root_k(Q, K), keep) @ V) @ params["Wo"]


@mistake
def values_before_keys(X: T, params: Params, h: int, keep: T) -> T:
    """you took the three parts of Wqkv for values, queries and keys. All queries come first, then all keys, then all values."""
    k, v = widths(params["Wqkv"], params["Wo"], h)
    V, Q, K = (_cut(Z, h) for Z in torch.split(X @ params["Wqkv"], [h * v, h * k, h * k], dim=-1))
    return _joined(masked_weights(scores_over_root_k(Q, K), keep) @ V) @ params["Wo"]


@mistake
def keys_before_queries(X: T, params: Params, h: int, keep: T) -> T:
    """you took keys for queries and queries for keys, so row i of the scores says what others make of token i. All queries come first
    in Wqkv, then all keys, and a row of scores belongs to a query."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(scores_over_root_k(K, Q), keep) @ V) @ params["Wo"]


@mistake
def parameters_by_position(X: T, params: Params, h: int, keep: T) -> T:
    """you unpacked the dictionary as if it held two weights. There may be more in it, in any order: ask for each by its name."""
    Wqkv, Wo = params.values()
    return _plainly(X, {"Wqkv": Wqkv, "Wo": Wo}, h, keep)


@mistake
def splits_as_for_one_text(X: T, params: Params, h: int, keep: T) -> T:
    """you split and merged the heads with the functions of notebook 04. They take the first axis for the tokens of one
    text, and now the items lie there. Say it again for [b, n, h*k]: which axis is cut, and which two change places?"""
    k, v = widths(params["Wqkv"], params["Wo"], h)
    parts = torch.split(X @ params["Wqkv"], [h * k, h * k, h * v], dim=-1)
    Q, K, V = (Z.reshape(len(Z), h, -1).swapaxes(0, 1) for Z in parts)
    outputs = masked_weights(Q @ K.transpose(-2, -1) / k**0.5, keep) @ V
    heads, n, width = outputs.shape
    return outputs.swapaxes(0, 1).reshape(n, heads * width) @ params["Wo"]


@mistake
def no_transpose_at_the_split(X: T, params: Params, h: int, keep: T) -> T:
    """you cut the columns into heads and left the axes as they were, [b, n, h, k]. Then the last two axes are the heads and
    their features, and within each token head attends to head. The tokens have to stand beside the features."""
    Q, K, V = (Z.transpose(1, 2) for Z in _projected(X, params, h))
    outputs = masked_weights(scores_over_root_k(Q, K), keep) @ V
    return outputs.transpose(1, 2).reshape(*X.shape[:2], -1) @ params["Wo"]


@mistake
def no_transpose_at_all(X: T, params: Params, h: int, keep: T) -> T:
    """you cut the columns into heads, [b, n, h, k], and joined them again, and never exchanged two axes. So within each
    token head attends to head, and no token to another. The tokens have to stand beside the features."""
    Q, K, V = (Z.transpose(1, 2) for Z in _projected(X, params, h))
    return (masked_weights(scores_over_root_k(Q, K), keep) @ V).reshape(*X.shape[:2], -1) @ params["Wo"]


@mistake
def keys_with_the_axes_of_one_text(X: T, params: Params, h: int, keep: T) -> T:
    """you exchanged axes 1 and 2 of the keys, as mha did. There they were tokens and features; with the items in front
    they are heads and tokens. Count from the end."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(Q @ K.swapaxes(1, 2) / Q.shape[-1] ** 0.5, keep) @ V) @ params["Wo"]


@mistake
def softmax_over_heads(X: T, params: Params, h: int, keep: T) -> T:
    """your softmax runs over axis 1, which in a single text was the axis of the keys, or of the queries, and now is that
    of the heads. Count from the end: the keys are the last axis, however many stand in front."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(scores_over_root_k(Q, K), keep, dim=1) @ V) @ params["Wo"]


@mistake
def softmax_over_queries(X: T, params: Params, h: int, keep: T) -> T:
    """your softmax runs over the queries: its columns add up to 1. Each query shares its own weight out among the keys,
    along the last axis."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(scores_over_root_k(Q, K), keep, dim=-2) @ V) @ params["Wo"]


@mistake
def no_scale(X: T, params: Params, h: int, keep: T) -> T:
    """the scores are not scaled. Batching changes nothing about that: they are divided by the root of the width of a
    key."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(Q @ K.transpose(-2, -1), keep) @ V) @ params["Wo"]


@mistake
def width_without_its_root(X: T, params: Params, h: int, keep: T) -> T:
    """your scores were divided by k: at once, or by √k twice (PyTorch's own attention divides by it, too). Scores are
    divided by √k, once, as for one text.
    """
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(Q @ K.transpose(-2, -1) / Q.shape[-1], keep) @ V) @ params["Wo"]


@mistake
def root_of_the_model_width(X: T, params: Params, h: int, keep: T) -> T:
    """you divided the scores by √d. They are dot products of queries and keys of one head, so it is the width k of those
    that counts."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(Q @ K.transpose(-2, -1) / X.shape[-1] ** 0.5, keep) @ V) @ params["Wo"]


@mistake
def root_of_the_values_width(X: T, params: Params, h: int, keep: T) -> T:
    """you divided the scores by the root of the width of the *values*. They are dot products of queries and keys, and it is the
    width k of those that counts."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(Q @ K.transpose(-2, -1) / V.shape[-1] ** 0.5, keep) @ V) @ params["Wo"]


@mistake
def root_of_a_share_of_d(X: T, params: Params, h: int, keep: T) -> T:
    """you divided the scores by the root of d/h. Queries and keys may be wider or narrower than that share of a token: their width k
    follows from the shapes of both weights."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(Q @ K.transpose(-2, -1) / (X.shape[-1] / h) ** 0.5, keep) @ V) @ params["Wo"]


@mistake
def root_of_a_whole_share_of_d(X: T, params: Params, h: int, keep: T) -> T:
    """you divided the scores by the root of d // h. Queries and keys may be wider or narrower than that share of a token: their width
    k follows from the shapes of both weights."""
    Q, K, V = _projected(X, params, h)
    share = max(X.shape[-1] // h, 1)
    return _joined(masked_weights(Q @ K.transpose(-2, -1) / share**0.5, keep) @ V) @ params["Wo"]


@mistake
def eight_always(X: T, params: Params, h: int, keep: T) -> T:
    """you divided the scores by 8, which is the root of 64. Heads are 64 wide in many models; here their width k is another."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(Q @ K.transpose(-2, -1) / 8, keep) @ V) @ params["Wo"]


@mistake
def root_of_the_tokens(X: T, params: Params, h: int, keep: T) -> T:
    """you divided the scores by the root of the number of tokens. It is the width k of queries and keys that counts."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(Q @ K.transpose(-2, -1) / X.shape[1] ** 0.5, keep) @ V) @ params["Wo"]


@mistake
def root_cut_off(X: T, params: Params, h: int, keep: T) -> T:
    """you divided the scores by a whole number: the root of k was cut off, as int and // do. √5 is 2.236."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(Q @ K.transpose(-2, -1) / int(Q.shape[-1] ** 0.5), keep) @ V) @ params["Wo"]


@mistake
def half_of_the_width(X: T, params: Params, h: int, keep: T) -> T:
    """you divided the scores by k/2. ** goes before /, so k ** 1 / 2 is half of k; the root is k ** 0.5."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(Q @ K.transpose(-2, -1) / (Q.shape[-1] / 2), keep) @ V) @ params["Wo"]


@mistake
def times_the_root(X: T, params: Params, h: int, keep: T) -> T:
    """you multiplied the scores by √k. They are divided by it."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(Q @ K.transpose(-2, -1) * Q.shape[-1] ** 0.5, keep) @ V) @ params["Wo"]


@mistake
def root_in_seven_digits(X: T, params: Params, h: int, keep: T) -> T:
    """your numbers have seven right digits, and float64 has sixteen: the root that you divided by is a float32 number. A tensor made
    of a Python number is float32; the number itself does not need to become a tensor."""
    Q, K, V = _projected(X, params, h)
    return (
        _joined(masked_weights(Q @ K.transpose(-2, -1) / torch.sqrt(torch.tensor(Q.shape[-1])), keep) @ V)
        @ params["Wo"]
    )


@right_to_seven_digits
def softmax_in_seven_digits(X: T, params: Params, h: int, keep: T) -> T:
    """your numbers have seven right digits, and float64 has sixteen: your weights went through float32. Softmax works in the
    number type that it is given, if it is not asked for another."""
    Q, K, V = _projected(X, params, h)
    hidden = scores_over_root_k(Q, K).masked_fill(~keep, -torch.inf)
    return _joined(hidden.softmax(dim=-1, dtype=torch.float32).to(X.dtype).masked_fill(~keep, 0) @ V) @ params["Wo"]


@mistake
def root_of_all_heads(X: T, params: Params, h: int, keep: T) -> T:
    """you divided the scores by √(h·k), the width of all heads together. A score belongs to one head: its width is k."""
    Q, K, V = _projected(X, params, h)
    S = Q @ K.transpose(-2, -1) / (h * Q.shape[-1]) ** 0.5
    return _joined(masked_weights(S, keep) @ V) @ params["Wo"]


def _cut_off(X: T, params: Params, h: int, keep: T, *which: int) -> T:
    """Attention through which no gradient flows back to queries (0), keys (1) or values (2)."""
    Q, K, V = (Z.detach() if part in which else Z for part, Z in enumerate(_projected(X, params, h)))
    return _joined(masked_weights(scores_over_root_k(Q, K), keep) @ V) @ params["Wo"]


@mistake
def keys_detached(X: T, params: Params, h: int, keep: T) -> T:
    """the outputs are right, and no gradient flows back through the keys: they were taken out of what autograd records, with detach, .data
    or no_grad. Their columns of Wqkv would never learn."""
    return _cut_off(X, params, h, keep, 1)


@mistake
def queries_detached(X: T, params: Params, h: int, keep: T) -> T:
    """the outputs are right, and no gradient flows back through the queries: they were taken out of what autograd records, with detach,
    .data or no_grad. Their columns of Wqkv would never learn."""
    return _cut_off(X, params, h, keep, 0)


@mistake
def values_detached(X: T, params: Params, h: int, keep: T) -> T:
    """the outputs are right, and no gradient flows back through the values: they were taken out of what autograd records, with detach,
    .data or no_grad. Their columns of Wqkv would never learn."""
    return _cut_off(X, params, h, keep, 2)


@mistake
def hides_the_kept(X: T, params: Params, h: int, keep: T) -> T:
    """you hid the places where keep is True. True means: may attend. And masked_fill fills where its mask is True."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(scores_over_root_k(Q, K), ~keep) @ V) @ params["Wo"]


@mistake
def mask_turned(X: T, params: Params, h: int, keep: T) -> T:
    """you turned the mask: your row i says who may see token i. Row i of keep says whom token i may see."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(scores_over_root_k(Q, K), keep.transpose(-2, -1)) @ V) @ params["Wo"]


@mistake
def causal_whatever_the_mask(X: T, params: Params, h: int, keep: T) -> T:
    """you made a causal mask of your own. The caller decides who sees whom: use keep."""
    Q, K, V = _projected(X, params, h)
    triangle = torch.ones(X.shape[1], X.shape[1], dtype=torch.bool).tril()
    return _joined(masked_weights(scores_over_root_k(Q, K), triangle) @ V) @ params["Wo"]


@mistake
def first_heads_mask_for_all(X: T, params: Params, h: int, keep: T) -> T:
    """every head was masked by the mask of head 0. A mask of [b, h, n, n] has one for each."""
    Q, K, V = _projected(X, params, h)
    mask = keep[:, :1] if keep.ndim == 4 else keep
    return _joined(masked_weights(scores_over_root_k(Q, K), mask) @ V) @ params["Wo"]


@mistake
def hides_the_kept_at_first(X: T, params: Params, h: int, keep: T) -> T:
    """you hid the places where keep is True before softmax, and those where it is False afterwards. Together that is
    everything, and where softmax saw nothing it gave NaN. True means: may attend. And masked_fill fills where its mask
    is True.
    """
    Q, K, V = _projected(X, params, h)
    A = scores_over_root_k(Q, K).masked_fill(keep, -torch.inf).softmax(dim=-1).masked_fill(~keep, 0)
    return _joined(A @ V) @ params["Wo"]


@mistake
def clears_the_kept(X: T, params: Params, h: int, keep: T) -> T:
    """after softmax you set the weights of the *kept* places to zero. Those of the masked places are meant, and masked_fill
    fills where its mask is True."""
    Q, K, V = _projected(X, params, h)
    A = scores_over_root_k(Q, K).masked_fill(~keep, -torch.inf).softmax(dim=-1).masked_fill(keep, 0)
    return _joined(A @ V) @ params["Wo"]


@mistake
def zero_for_a_hidden_score(X: T, params: Params, h: int, keep: T) -> T:
    """you gave masked places the score 0. That is a score like any other, e to the 0 is 1, and so they take their share out
    of the sum, even if their weights are set to zero afterwards. What gets no weight has the score -inf."""
    Q, K, V = _projected(X, params, h)
    A = scores_over_root_k(Q, K).masked_fill(~keep, 0).softmax(dim=-1).masked_fill(~keep, 0)
    return _joined(A @ V) @ params["Wo"]


@mistake
def scores_times_the_mask(X: T, params: Params, h: int, keep: T) -> T:
    """you multiplied the scores by the mask, which makes masked ones 0. That is a score like any other: e to the 0 is 1, and the masked
    places take their share. What gets no weight has the score -inf."""
    Q, K, V = _projected(X, params, h)
    return _joined((scores_over_root_k(Q, K) * keep).softmax(dim=-1) @ V) @ params["Wo"]


@mistake
def masks_after_softmax(X: T, params: Params, h: int, keep: T) -> T:
    """you set the masked weights to zero after softmax, and let softmax see the masked scores. So the weights that are left
    no longer add up to 1: the masked tokens have taken their share out of the sum. Hide before softmax too."""
    Q, K, V = _projected(X, params, h)
    return _joined(scores_over_root_k(Q, K).softmax(dim=-1).masked_fill(~keep, 0) @ V) @ params["Wo"]


@mistake
def ignores_the_mask(X: T, params: Params, h: int, keep: T) -> T:
    """every token attends to every other, whatever keep says."""
    Q, K, V = _projected(X, params, h)
    return _joined(scores_over_root_k(Q, K).softmax(dim=-1) @ V) @ params["Wo"]


@mistake
def every_nan_to_zero(X: T, params: Params, h: int, keep: T) -> T:
    """you turned every NaN into 0. That empties the rows that keep nothing, and it also hides a NaN that comes from somewhere
    else: a broken model looks healthy. Only masked places are to be set to 0; a NaN at a kept place has to stay."""
    Q, K, V = _projected(X, params, h)
    A = scores_over_root_k(Q, K).masked_fill(~keep, -torch.inf).softmax(dim=-1).nan_to_num(0)
    return _joined(A @ V) @ params["Wo"]


@mistake
def every_nan_of_the_output_to_zero(X: T, params: Params, h: int, keep: T) -> T:
    """you turned every NaN of the result into 0. That empties the outputs of tokens that see nothing, and it also hides a NaN that comes
    from somewhere else: a broken model looks healthy. Set the masked weights to 0; a NaN at a kept place has to stay."""
    Q, K, V = _projected(X, params, h)
    A = scores_over_root_k(Q, K).masked_fill(~keep, -torch.inf).softmax(dim=-1)
    return (_joined(A @ V) @ params["Wo"]).nan_to_num(0)


@mistake
def exponentials_overflow(X: T, params: Params, h: int, keep: T) -> T:
    """rows of scores far above 0 come out as NaN, and rows far below 0 as zeros: e to the 1000 is more than a computer
    can hold, and e to the -1000 is rounded to 0. PyTorch's softmax subtracts the largest score of each row first.
    """
    Q, K, V = _projected(X, params, h)
    return _joined(plain_exponentials(scores_over_root_k(Q, K), keep) @ V) @ params["Wo"]


@mistake
def scores_of_zero_or_more(X: T, params: Params, h: int, keep: T) -> T:
    """rows whose scores all lie far below 0 come out as zeros: what you subtracted is never below 0, and so all exponentials become
    0. Subtract the largest score of the row, also where it is negative."""
    Q, K, V = _projected(X, params, h)
    M = scores_over_root_k(Q, K).masked_fill(~keep, -torch.inf)
    E = torch.exp(M - M.amax(dim=-1, keepdim=True).clamp(min=0))
    total = E.sum(dim=-1, keepdim=True)
    return _joined(E / torch.where(total == 0, 1, total) @ V) @ params["Wo"]


@mistake
def ten_thousand_below(X: T, params: Params, h: int, keep: T) -> T:
    """you gave masked places the score -10000. That is a score like any other: where the kept ones lie lower still, the masked ones
    take all the weight. What gets no weight has the score -inf."""
    Q, K, V = _projected(X, params, h)
    A = scores_over_root_k(Q, K).masked_fill(~keep, -1e4).softmax(dim=-1).masked_fill(~keep, 0)
    return _joined(A @ V) @ params["Wo"]


@mistake
def nan_on_the_way_back(X: T, params: Params, h: int, keep: T) -> T:
    """the outputs are right, and the gradients are NaN where a token may attend to nothing. Its row was NaN before you chose zeros: on
    the way back that NaN is multiplied by 0, and stays. Fill the masked places of the weights instead."""
    Q, K, V = _projected(X, params, h)
    A = (scores_over_root_k(Q, K) + torch.where(keep, 0.0, -torch.inf).to(X.dtype)).softmax(dim=-1)
    return _joined(torch.where(keep.any(dim=-1, keepdim=True), A, 0.0) @ V) @ params["Wo"]


@mistake
def nan_in_empty_rows(X: T, params: Params, h: int, keep: T) -> T:
    """a token that may attend to nothing came out as NaN: all its scores are -inf. It should get zeros from every
    head."""
    Q, K, V = _projected(X, params, h)
    return _joined(scores_over_root_k(Q, K).masked_fill(~keep, -torch.inf).softmax(dim=-1) @ V) @ params["Wo"]


@mistake
def uniform_in_empty_rows(X: T, params: Params, h: int, keep: T) -> T:
    """a token that may attend to nothing came out as a plain mean of the values. You hid with a large negative number;
    where all scores of a row are that number, softmax shares the weight out evenly. It should get no weight at all."""
    Q, K, V = _projected(X, params, h)
    return _joined(scores_over_root_k(Q, K).masked_fill(~keep, -1e9).softmax(dim=-1) @ V) @ params["Wo"]


@mistake
def squeezes_the_mask(X: T, params: Params, h: int, keep: T) -> T:
    """you took the axis of length 1 out of the mask. From the right, [b, n, n] lines up with [h, n, n]: item 0's mask goes to head 0, in
    silence where b = h. The 1 is there to stand for all heads."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(scores_over_root_k(Q, K), keep.squeeze()) @ V) @ params["Wo"]


@mistake
def one_axis_too_many_in_the_mask(X: T, params: Params, h: int, keep: T) -> T:
    """you gave the mask one more axis, with keep[:, None]. It does not need one: the axes that it lacks in front are
    taken as 1, and with [b, 1, n, n] the axis of the heads is there already. Line the shapes up from the right."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(scores_over_root_k(Q, K), keep[:, None]) @ V) @ params["Wo"]


@mistake
def mask_taken_for_a_table(X: T, params: Params, h: int, keep: T) -> T:
    """you put two axes in front of the mask, whatever it was. That is right for [n, n]; a mask [b, 1, n, n] has them
    already. None of them needs it: the axes that are missing in front are taken as 1."""
    Q, K, V = _projected(X, params, h)
    outputs = masked_weights(scores_over_root_k(Q, K), keep[None, None]) @ V
    return outputs.transpose(1, 2).reshape(*X.shape[:2], -1) @ params["Wo"]


@mistake
def first_items_mask_for_all(X: T, params: Params, h: int, keep: T) -> T:
    """every item was masked by the mask of item 0. A mask of [b, 1, n, n] has one for each."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(scores_over_root_k(Q, K), keep[0] if keep.ndim == 4 else keep) @ V) @ params["Wo"]


@mistake
def no_wo(X: T, params: Params, h: int, keep: T) -> T:
    """you left out the last product, with Wo. Without it the heads stand side by side and never mix, and the width need
    not be d."""
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(scores_over_root_k(Q, K), keep) @ V)


@mistake
def adds_the_tokens(X: T, params: Params, h: int, keep: T) -> T:
    """you added the tokens to the result. That is the residual connection, and it is the block that adds it."""
    return X + _plainly(X, params, h, keep)


@mistake
def batch_squeezed(X: T, params: Params, h: int, keep: T) -> T:
    """you took axes of length 1 out of the result (squeeze does). A batch of one is a batch: [1, n, d]."""
    return _plainly(X, params, h, keep).squeeze()


@mistake
def tokens_first(X: T, params: Params, h: int, keep: T) -> T:
    """you took the first axis for the tokens and the second for the items. So tokens attended to the tokens at the same
    place of other items. X is [b, n, d]."""
    Q, K, V = _projected(X.transpose(0, 1), params, h)
    return (_joined(masked_weights(scores_over_root_k(Q, K), keep) @ V) @ params["Wo"]).transpose(0, 1)


def _plainly(X: T, params: Params, h: int, keep: T) -> T:
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(scores_over_root_k(Q, K), keep) @ V) @ params["Wo"]


@mistake
def detaches_the_input(X: T, params: Params, h: int, keep: T) -> T:
    """the outputs are right, but no gradient reaches X: it was detached, or a new tensor was made of its numbers, which
    does not know where they come from. Work on X itself.
    """
    return _plainly(X.detach(), params, h, keep)


@mistake
def detaches_the_parameters(X: T, params: Params, h: int, keep: T) -> T:
    """the outputs are right, but the parameters were detached (.data does that too), so no gradient reaches them, and
    they could never learn. Use them as they are.
    """
    return _plainly(X, {name: weight.detach() for name, weight in params.items()}, h, keep)


@mistake
def detaches_the_weights(X: T, params: Params, h: int, keep: T) -> T:
    """the outputs are right, but the attention weights were cut off from the scores they were made of. The gradient
    still goes through the values, and not through queries and keys, which could never learn.
    """
    Q, K, V = _projected(X, params, h)
    return _joined(masked_weights(scores_over_root_k(Q, K), keep).detach() @ V) @ params["Wo"]


@mistake
def leaves_pytorch(X: T, params: Params, h: int, keep: T) -> T:
    """the outputs are right, but on the way you left PyTorch (through numpy, or under no_grad), and autograd cannot
    follow there: every gradient is zero. Everything that you need has a PyTorch name.
    """
    with torch.no_grad():
        return _plainly(X, params, h, keep)


@mistake
def fills_weights_in_place(X: T, params: Params, h: int, keep: T) -> T:
    """you overwrote the weights in place (a name with an underscore at the end, or an assignment to a part of them).
    The backward pass of softmax needs the weights as softmax made them. Make a new tensor instead."""
    Q, K, V = _projected(X, params, h)
    A = scores_over_root_k(Q, K).masked_fill(~keep, -torch.inf).softmax(dim=-1)
    A.masked_fill_(~keep, 0)
    return _joined(A @ V) @ params["Wo"]


@misses_the_idea
def loops(X: T, params: Params, h: int, keep: T) -> T:
    """the numbers are right, but your code goes through the items, or through the heads, one after another. A product of
    tensors with more axes takes all of them at once."""
    out = []
    for i, x in enumerate(X):
        mask = keep[i : i + 1] if keep.ndim == 4 and len(keep) > 1 else keep
        out.append(_plainly(x[None], params, h, mask)[0])
    return torch.stack(out)


@right
def batched_by_steps(X: T, params: Params, h: int, keep: T) -> T:
    k, v = widths(params["Wqkv"], params["Wo"], h)
    Z = X @ params["Wqkv"]
    Q = torch.unflatten(Z[..., : h * k], -1, (h, k)).transpose(1, 2)
    K = torch.unflatten(Z[..., h * k : 2 * h * k], -1, (h, k)).transpose(1, 2)
    V = torch.unflatten(Z[..., 2 * h * k :], -1, (h, v)).transpose(1, 2)
    A = torch.where(keep, Q @ K.mT / math.sqrt(k), -torch.inf).softmax(dim=-1)
    A = torch.where(keep.any(dim=-1, keepdim=True), A, 0.0)
    return (A @ V).permute(0, 2, 1, 3).reshape(X.shape[0], X.shape[1], h * v) @ params["Wo"]


@right
def batched_by_einsum(X: T, params: Params, h: int, keep: T) -> T:
    k, v = widths(params["Wqkv"], params["Wo"], h)
    Wq, Wk, Wv = torch.split(params["Wqkv"], [h * k, h * k, h * v], dim=1)
    q = torch.einsum("bnd,dhk->bhnk", X, torch.unflatten(Wq, 1, (h, k)))
    K = torch.einsum("bnd,dhk->bhnk", X, torch.unflatten(Wk, 1, (h, k)))
    V = torch.einsum("bnd,dhv->bhnv", X, torch.unflatten(Wv, 1, (h, v)))
    A = masked_weights(torch.einsum("bhnk,bhmk->bhnm", q, K) / math.sqrt(k), keep)
    return torch.einsum("bhnm,bhmv,hvd->bnd", A, V, params["Wo"].reshape(h, v, -1))


@right
def batched_as_one_axis(X: T, params: Params, h: int, keep: T) -> T:
    """Items and heads folded into one axis, and one batched product over it."""
    b, n, _ = X.shape
    Q, K, V = (Z.flatten(0, 1) for Z in _projected(X, params, h))
    S = torch.bmm(Q, K.transpose(1, 2)) / math.sqrt(Q.shape[-1])
    A = masked_weights(S, keep.expand(b, h, n, n).flatten(0, 1))
    return _joined(torch.unflatten(torch.bmm(A, V), 0, (b, h))) @ params["Wo"]


@right
def batched_by_fused(X: T, params: Params, h: int, keep: T) -> T:
    outputs = torch.nn.functional.scaled_dot_product_attention(*_projected(X, params, h), attn_mask=keep)
    return _joined(outputs) @ params["Wo"]


@right
def batched_by_hand(X: T, params: Params, h: int, keep: T) -> T:
    Q, K, V = _projected(X, params, h)
    M = scores_over_root_k(Q, K).masked_fill(~keep, -torch.inf)
    top = M.amax(dim=-1, keepdim=True).clamp(min=torch.finfo(M.dtype).min)
    E = torch.exp(M - top)
    total = E.sum(dim=-1, keepdim=True)
    return _joined(E / torch.where(total == 0, 1, total) @ V) @ params["Wo"]
