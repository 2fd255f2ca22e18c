"""PyTorch's fused attention, with masks that keep nothing in a row.

This function divides by the root of the width of the queries, reads True as may attend, broadcasts the mask, and
gives zeros to a query that keeps nothing. So nothing is to be done around it: queries scaled beforehand are scaled
twice, and a mask made of numbers is added to the scores, where 1 and 0 hide nothing. `is_causal` stands for one mask,
and the one that is given may hide padding as well. A home-made mask of large negative numbers would let a query that
keeps nothing look at everything.
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
from autograder.exercises.model import Case, case, misses_the_idea, mistake, probe, right
from course.trial.values import Tensor as TensorValue


def fused(
    Q: Float[Tensor, "b h n k"],
    K: Float[Tensor, "b h m k"],
    V: Float[Tensor, "b h m v"],
    keep: Bool[Tensor, "*#bh n m"],
) -> Float[Tensor, "b h n v"]:
    """Attention of every query of every head, one at a time; a query that may attend to nothing gets zeros."""
    b, h, n, _ = Q.shape
    m = K.shape[2]
    may = keep.expand(b, h, n, m)
    rows = []
    for item in range(b):
        for head in range(h):
            for i in range(n):
                places = [j for j in range(m) if may[item, head, i, j]]
                rows.append(one_query(Q[item, head, i], K[item, head, places], V[item, head, places]))
    return torch.stack(rows).reshape(b, h, n, V.shape[-1])


def _public_heads(seed: int, b: int, h: int, n: int, m: int, k: int, v: int, keep: Any, dtype: str = "float64") -> Any:
    rng = np.random.default_rng(seed)
    shapes = ((b, h, n, k), (b, h, m, k), (b, h, m, v))
    Q, K, V = (TensorValue(np.round(1.5 * rng.standard_normal(shape), 1).astype(dtype)) for shape in shapes)
    return Q, K, V, TensorValue(np.array(keep, bool))


MIXED = np.array(
    [
        [lower_triangle(3), np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]], bool)],
        [np.array([[1, 1, 0], [1, 0, 1], [1, 1, 1]], bool), np.array([[0, 1, 0], [1, 1, 1], [0, 1, 1]], bool)],
    ]
)


PUBLIC = (
    case(*_public_heads(1, 1, 1, 2, 3, 4, 2, [[True, False, True], [True, True, False]])),
    case(*_public_heads(2, 1, 2, 3, 3, 2, 2, lower_triangle(3))),
    case(*_public_heads(3, 2, 2, 2, 3, 1, 1, [[[[1, 0, 1], [1, 1, 0]]], [[[0, 0, 0], [0, 1, 1]]]])),
    case(*_public_heads(4, 1, 2, 2, 2, 3, 1, [[1, 1], [0, 1]])),
    case(
        tensor_value([[[[40.0], [30.0]]]]),
        tensor_value([[[[30.0], [20.0]]]]),
        tensor_value([[[[1.0], [2.0]]]]),
        TensorValue(lower_triangle(2)),
    ),
    # a mask for each head; item 0 and head 0 see as in a triangle, and others do not
    case(*_public_heads(7, 2, 2, 3, 3, 5, 2, MIXED)),
    case(*_public_heads(8, 2, 2, 3, 3, 3, 3, MIXED[:, :1])),
    # nobody sees the future, nor all of the past
    case(*_public_heads(10, 1, 1, 3, 3, 2, 1, [[1, 0, 0], [1, 1, 0], [0, 1, 1]])),
    case(*_public_heads(9, 2, 3, 4, 5, 6, 5, random_keep(np.random.default_rng(3), 4, 5))),
    # scores far below 0, in every row
    case(
        tensor_value([[[[-300.0, 1.0], [-300.0, 2.0]]]]),
        tensor_value([[[[300.0, 0.0], [300.0, 1.0]]]]),
        tensor_value([[[[1.0], [2.0]]]]),
        TensorValue(lower_triangle(2)),
    ),
    case(*_public_heads(5, 1, 2, 3, 4, 4, 2, [[1, 0, 1, 1], [1, 1, 0, 1], [0, 1, 0, 0]], "float32")),
    case(
        dict(zip(("Q", "K", "V", "keep"), _public_heads(6, 1, 2, 2, 3, 2, 1, [[1, 0, 1], [1, 1, 0]]), strict=True)),
        harness="gradients",
    ),
)


def _drawn_heads(
    rng: np.random.Generator,
    b: int,
    h: int,
    n: int,
    m: int,
    k: int,
    v: int,
    keep: np.ndarray,
    size: float = 1.5,
    **how: Any,
) -> tuple[TensorValue, ...]:
    shapes = ((b, h, n, k), (b, h, m, k), (b, h, m, v))
    Q, K, V = (drawn_tensor(rng, *shape, scale=size, **how) for shape in shapes)
    return Q, K, V, TensorValue(keep)


def _masks(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random masks that leave two keys or more to each query, where there are so many: with one alone no score matters."""
    keep = random_keep(rng, *shape)
    for row in keep.reshape(-1, shape[-1]):
        row[rng.permutation(shape[-1])[: max(0, 2 - int(row.sum()))]] = True
        if row.sum() < 2:
            row[np.flatnonzero(~row)[:1]] = True
    return keep


def _triangle_first(rng: np.random.Generator, b: int, h: int, n: int) -> np.ndarray:
    """A triangle for item 0 and head 0, and other masks behind it."""
    keep = _masks(rng, b, h, n, n)
    keep[0, 0] = lower_triangle(n)
    return keep


def _part_of_the_past(rng: np.random.Generator, n: int) -> np.ndarray:
    """A mask under which each query sees itself, and not all that came before it; of the future, nothing."""
    keep = lower_triangle(n) & random_keep(rng, n, n) | np.eye(n, dtype=bool)
    keep[-1, rng.integers(n - 1)] = False
    return keep


@probe(1.0)
def all_heads(rng: np.random.Generator) -> list[Case]:
    """every head of every item, for masks of every allowed shape"""
    b, (h, n, m, k, v) = 2, sizes_of_heads(rng, 5, 3)
    masks = (
        _masks(rng, n, m),
        _masks(rng, b, 1, n, m),
        _masks(rng, b, h, n, m),
        _masks(rng, 1, 1, n, m),
    )
    square = (_triangle_first(rng, b, h, n), _part_of_the_past(rng, n))
    return [
        *(case(*_drawn_heads(rng, b, h, n, m, k, v, keep)) for keep in masks),
        *(case(*_drawn_heads(rng, b, h, n, n, k, v, keep)) for keep in square),
    ]


@probe(0.5)
def heads_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide (b = h, k = v, too)"""
    s, m, k, v = sizes_of_heads(rng, 4, 3, 7)
    return [
        case(*_drawn_heads(rng, s, s, m, k, v, v, _masks(rng, s, 1, m, k))),  # b = h, k = v
        case(*_drawn_heads(rng, m, s, s, s, k, v, _masks(rng, s, s))),  # h = n = m
        case(*_drawn_heads(rng, m, v, s, s, k, k, lower_triangle(s))),
        case(*_drawn_heads(rng, m, v, s, k, k, v, _masks(rng, s, k))),  # m = k: turned keys fit
    ]


@probe(0.5)
def heads_with_nothing_to_see(rng: np.random.Generator) -> list[Case]:
    """zeros for a query that may attend to nothing"""
    b, (h, n, m, k, v) = 2, sizes_of_heads(rng, 5, 3)
    keep = _masks(rng, b, 1, n, m)
    keep[rng.integers(b), 0, rng.integers(n)] = False
    none = np.zeros((n, m), bool)
    return [
        case(*_drawn_heads(rng, b, h, n, m, k, v, keep)),
        case(*_drawn_heads(rng, b, h, n, m, k, k, keep)),
        case(*_drawn_heads(rng, b, h, n, m, k, v, none)),
    ]


def _far_below(rng: np.random.Generator, b: int, h: int, n: int, m: int, k: int, v: int, keep: np.ndarray) -> Case:
    """Scores that all lie below -10000, close together."""
    Q, K, V, _ = _drawn_heads(rng, b, h, n, m, k, v, keep)
    Q.array[..., 0], K.array[..., 0] = -400.0, 400.0
    return case(Q, K, V, TensorValue(keep))


@probe(0.5, strict=True)
def heads_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single head and query, scores in the thousands above 0 and below, float32, and tensors that are not contiguous"""
    b, (h, n, m, k, v) = 2, sizes_of_heads(rng, 5, 3)
    keep = _masks(rng, n, m)
    return [
        case(*_drawn_heads(rng, 1, 1, 1, m, k, v, _masks(rng, 1, m))),
        case(*_drawn_heads(rng, b, h, n, m, k, v, keep, dtype="float32")),
        case(*_drawn_heads(rng, b, h, n, m, k, k, keep, dtype="float32")),
        case(*_drawn_heads(rng, b, h, n, m, k, v, keep, size=60.0)),
        _far_below(rng, b, h, n, m, k, v, keep),
        case(*_drawn_heads(rng, b, h, n, m, k, v, keep, order="strided")),
    ]


@probe(0.5)
def heads_to_learn_from(rng: np.random.Generator) -> list[Case]:
    """gradients flow through to queries, keys and values"""
    b, (h, n, m, k, v) = 2, sizes_of_heads(rng, 5, 3)
    widths = ((k, v), (k, k))
    drawn = (_drawn_heads(rng, b, h, n, m, *each, two_or_more_kept(rng, n, m)) for each in widths)
    return [
        case(dict(zip("QKV", tables, strict=True)) | {"keep": keep}, harness="gradients") for *tables, keep in drawn
    ]


@mistake
def by_hand_with_plain_exponentials(Q: T, K: T, V: T, keep: T) -> T:
    """this is attention by hand, and large scores come out as NaN: e to a score of 1000 is more than a computer can hold.
    PyTorch's own function takes care of that."""
    return plain_exponentials(scores_over_root_k(Q, K), keep) @ V


_sdpa = torch.nn.functional.scaled_dot_product_attention


@misses_the_idea
def inverted_mask(Q: T, K: T, V: T, keep: T) -> T:
    """the mask is turned round. Here as in this PyTorch function True means: takes part. (In some of PyTorch's other
    parts, as in many programs, True means: hidden.)"""
    return _sdpa(Q, K, V, attn_mask=~keep)


@mistake
def scaled_twice(Q: T, K: T, V: T, keep: T) -> T:
    """your scores are divided by k: you divided the queries by √k, and PyTorch's function divides by it again, or you gave it 1/k as the
    scale. Left alone it does the right thing."""
    return _sdpa(Q / Q.shape[-1] ** 0.5, K, V, attn_mask=keep)


@mistake
def scale_switched_off(Q: T, K: T, V: T, keep: T) -> T:
    """the scores are not scaled: you switched it off, with scale=1. Left alone, the function divides by √k itself."""
    return _sdpa(Q, K, V, attn_mask=keep, scale=1.0)


@mistake
def scaled_by_hand(Q: T, K: T, V: T, keep: T) -> T:
    """you gave √k as the scale. That number is multiplied with, not divided by; left alone, the function does the right
    thing."""
    return _sdpa(Q, K, V, attn_mask=keep, scale=Q.shape[-1] ** 0.5)


@mistake
def root_of_the_values_width(Q: T, K: T, V: T, keep: T) -> T:
    """the scale is one over the root of the width of the *values*. Scores are dot products of queries and keys, and their width k is
    what counts. Left alone, the function takes it."""
    return _sdpa(Q, K, V, attn_mask=keep, scale=V.shape[-1] ** -0.5)


@mistake
def root_of_all_heads(Q: T, K: T, V: T, keep: T) -> T:
    """the scale is one over √(h·k), the root of the width of all heads together. A score belongs to one head: its width is k. Left alone,
    the function takes it."""
    return _sdpa(Q, K, V, attn_mask=keep, scale=(Q.shape[1] * Q.shape[-1]) ** -0.5)


@mistake
def root_of_the_keys_number(Q: T, K: T, V: T, keep: T) -> T:
    """the scale is one over the root of the number of keys. It is the width k of queries and keys that counts. Left alone, the function
    takes it."""
    return _sdpa(Q, K, V, attn_mask=keep, scale=K.shape[2] ** -0.5)


@mistake
def times_the_width(Q: T, K: T, V: T, keep: T) -> T:
    """you gave k as the scale. That number is multiplied with, not divided by; left alone, the function does the right thing."""
    return _sdpa(Q, K, V, attn_mask=keep, scale=float(Q.shape[-1]))


@misses_the_idea
def mask_forgotten(Q: T, K: T, V: T, keep: T) -> T:
    """every query attends to every key, whatever keep says: you did not hand the mask on."""
    return _sdpa(Q, K, V)


@misses_the_idea
def causal_for_keep(Q: T, K: T, V: T, keep: T) -> T:
    """you asked for is_causal instead of handing keep on. The mask may be any, and a triangle is only one of them."""
    return _sdpa(Q, K, V, is_causal=True)


@mistake
def causal_if_the_first_is_a_triangle(Q: T, K: T, V: T, keep: T) -> T:
    """you looked at one mask, found a triangle, and asked for is_causal for all of them. Behind it there may be others: each item, and
    each head, may have its own. Hand the mask on."""
    first = keep[(0,) * (keep.ndim - 2)]
    if first.shape[0] == first.shape[1] and torch.equal(first, torch.ones_like(first).tril()):
        return _sdpa(Q, K, V, is_causal=True)
    return _sdpa(Q, K, V, attn_mask=keep)


@mistake
def causal_if_there_is_no_future(Q: T, K: T, V: T, keep: T) -> T:
    """you took every mask that hides the future for a triangle, and asked for is_causal. It may hide something of the
    past as well, such as padding. Hand the mask on.
    """
    if keep.shape[-2] == keep.shape[-1] and not keep.triu(1).any():
        return _sdpa(Q, K, V, is_causal=True)
    return _sdpa(Q, K, V, attn_mask=keep)


@mistake
def first_items_mask_for_all(Q: T, K: T, V: T, keep: T) -> T:
    """every item was masked by the mask of item 0. A mask of [b, 1, n, m] has one for each."""
    return _sdpa(Q, K, V, attn_mask=keep[:1] if keep.ndim == 4 else keep)


@mistake
def first_heads_mask_for_all(Q: T, K: T, V: T, keep: T) -> T:
    """every head was masked by the mask of head 0. A mask of [b, h, n, m] has one for each."""
    return _sdpa(Q, K, V, attn_mask=keep[:, :1] if keep.ndim == 4 else keep)


@mistake
def first_mask_for_all(Q: T, K: T, V: T, keep: T) -> T:
    """every head of every item was masked by the mask of the first. A mask of four axes may have one for each."""
    return _sdpa(Q, K, V, attn_mask=keep[0, 0] if keep.ndim == 4 else keep)


@mistake
def mask_and_triangle(Q: T, K: T, V: T, keep: T) -> T:
    """you hid the future besides what keep hides. The mask may be any: hand it on as it is, and do not ask for is_causal."""
    return _sdpa(Q, K, V, attn_mask=keep & torch.ones(keep.shape[-2:], dtype=torch.bool).tril())


@mistake
def both_masks_asked_for(Q: T, K: T, V: T, keep: T) -> T:
    """you gave a mask and asked for is_causal. The function takes one of them; the mask may be any, and a triangle is only one."""
    return _sdpa(Q, K, V, attn_mask=keep, is_causal=True)


@mistake
def mask_of_numbers(Q: T, K: T, V: T, keep: T) -> T:
    """you made numbers of the mask. A mask of numbers is *added* to the scores: 1 where keep is True and 0 where it is
    not, which is a mild preference and hides nothing. Hand over booleans."""
    return _sdpa(Q, K, V, attn_mask=keep.to(Q.dtype))


@mistake
def everything_seen_where_nothing_is(Q: T, K: T, V: T, keep: T) -> T:
    """a query that may attend to nothing attended to everything: you made a mask of large negative numbers to be added, and where the same is
    taken from all scores of a row, softmax does not notice. Hand over the booleans themselves."""
    return _sdpa(Q, K, V, attn_mask=torch.zeros_like(keep, dtype=Q.dtype).masked_fill(~keep, -1e9))


@mistake
def even_where_empty(Q: T, K: T, V: T, keep: T) -> T:
    """a query that may attend to nothing got the plain mean of the values: you gave masked places a large negative score, and where all
    scores are equally low softmax shares evenly. Hand over the booleans themselves."""
    return scores_over_root_k(Q, K).masked_fill(~keep, -1e9).softmax(dim=-1) @ V


@mistake
def mask_turned(Q: T, K: T, V: T, keep: T) -> T:
    """you turned the mask. Row i of keep belongs to query i, and its columns to the keys: it fits as it stands."""
    return _sdpa(Q, K, V, attn_mask=keep.transpose(-2, -1))


@mistake
def two_more_axes_in_the_mask(Q: T, K: T, V: T, keep: T) -> T:
    """you put two axes in front of the mask, whatever it was. That is right for [n, m]; a mask of four axes has them already. None needs
    it: the axes that are missing in front are taken as 1."""
    return _sdpa(Q, K, V, attn_mask=keep[None, None])


@mistake
def ten_thousand_below(Q: T, K: T, V: T, keep: T) -> T:
    """you gave masked places the score -10000. That is a score like any other: where the kept ones lie lower still, the hidden
    ones take all the weight. Hand the mask to PyTorch's function."""
    A = scores_over_root_k(Q, K).masked_fill(~keep, -1e4).softmax(dim=-1)
    return A.masked_fill(~keep, 0) @ V


@mistake
def zeroed_after_softmax(Q: T, K: T, V: T, keep: T) -> T:
    """you set masked weights to zero after softmax, and let softmax see the masked scores. So the weights that are left do not add up
    to 1. Hand the mask to PyTorch's function, which hides before."""
    return scores_over_root_k(Q, K).softmax(dim=-1).masked_fill(~keep, 0) @ V


@mistake
def nan_where_empty(Q: T, K: T, V: T, keep: T) -> T:
    """a query that may attend to nothing came out as NaN. It should get zeros. (PyTorch's own function, given booleans,
    sees to that.)"""
    return (Q @ K.mT / Q.shape[-1] ** 0.5).masked_fill(~keep, -torch.inf).softmax(dim=-1) @ V


@mistake
def mask_squeezed(Q: T, K: T, V: T, keep: T) -> T:
    """you took the axis of length 1 out of the mask. From the right, [b, n, m] lines up with [h, n, m]: item 0's mask goes to head 0, in
    silence where b = h. The 1 is there to stand for all heads."""
    return _sdpa(Q, K, V, attn_mask=keep.squeeze())


@mistake
def heads_for_tokens(Q: T, K: T, V: T, keep: T) -> T:
    """you exchanged the axes of heads and tokens before the call. This function wants [b, h, n, k]: the last two axes are
    tokens and features, and your tensors come that way."""
    return _sdpa(Q.transpose(1, 2), K.transpose(1, 2), V.transpose(1, 2), attn_mask=keep).transpose(1, 2)


@mistake
def tokens_before_heads(Q: T, K: T, V: T, keep: T) -> T:
    """your result is [b, n, h, v]: you brought the tokens in front of the heads. The heads are not to be joined here."""
    return _sdpa(Q, K, V, attn_mask=keep).transpose(1, 2)


@mistake
def heads_joined(Q: T, K: T, V: T, keep: T) -> T:
    """you joined the heads, [b, n, h*v]. That is the step after this one."""
    return _sdpa(Q, K, V, attn_mask=keep).transpose(1, 2).flatten(2)


@mistake
def keys_turned(Q: T, K: T, V: T, keep: T) -> T:
    """you turned the keys before the call. The function does that itself: it wants them as [b, h, m, k]."""
    return _sdpa(Q, K.transpose(-2, -1), V, attn_mask=keep)


@mistake
def values_and_keys_exchanged(Q: T, K: T, V: T, keep: T) -> T:
    """you handed values over as keys and keys as values. The order is query, key, value."""
    return _sdpa(Q, V, K, attn_mask=keep)


@mistake
def keys_for_queries(Q: T, K: T, V: T, keep: T) -> T:
    """you handed keys over as queries and queries as keys. The order is query, key, value."""
    return _sdpa(K, Q, V, attn_mask=keep)


@mistake
def keys_as_values(Q: T, K: T, V: T, keep: T) -> T:
    """you handed the keys over as values, too. The order is query, key, value."""
    return _sdpa(Q, K, K, attn_mask=keep)


@mistake
def heads_always_float32(Q: T, K: T, V: T, keep: T) -> T:
    """float64 went in, and float32 came out. The function takes float64 as it is."""
    return _sdpa(Q.float(), K.float(), V.float(), attn_mask=keep)


@mistake
def heads_squeezed(Q: T, K: T, V: T, keep: T) -> T:
    """you took axes of length 1 out of the result (squeeze does). A single head of a single item stays [1, 1, n, v]."""
    return _sdpa(Q, K, V, attn_mask=keep).squeeze()


@mistake
def fused_without_history(Q: T, K: T, V: T, keep: T) -> T:
    """the outputs are right, but no gradient reaches what went in: queries, keys and values were detached (.data does
    that too), or the call stands under no_grad, or the way went through numpy. Hand them over as they are.
    """
    return _sdpa(Q.detach(), K.detach(), V.detach(), attn_mask=keep)


@right
def fused_plainly(Q: T, K: T, V: T, keep: T) -> T:
    return _sdpa(Q, K, V, attn_mask=keep)


@right
def fused_with_the_scale_said(Q: T, K: T, V: T, keep: T) -> T:
    return _sdpa(Q, K, V, keep, 0.0, False, scale=1 / math.sqrt(Q.size(-1)))


@right
def fused_by_adding(Q: T, K: T, V: T, keep: T) -> T:
    return _sdpa(Q, K, V, attn_mask=torch.zeros_like(keep, dtype=Q.dtype).masked_fill(~keep, -torch.inf))


@right
def fused_by_hand(Q: T, K: T, V: T, keep: T) -> T:
    return masked_weights(scores_over_root_k(Q, K), keep) @ V


@right
def fused_with_a_guard(Q: T, K: T, V: T, keep: T) -> T:
    return _sdpa(Q, K, V, attn_mask=keep.expand(*Q.shape[:3], K.shape[2])).masked_fill(~keep.any(-1, keepdim=True), 0)
