"""PyTorch's fused attention, with masks that keep nothing in a row."""

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
    tensor_value,
    two_or_more_kept,
)
from autograder.exercises.inputs import causal as lower_triangle
from autograder.exercises.inputs import random_keep, sizes
from autograder.exercises.model import Case, case, mistake, probe, right
from course.trial.values import Tensor as TensorValue


def fused(
    q: Float[Tensor, "b h n k"],
    k: Float[Tensor, "b h m k"],
    v: Float[Tensor, "b h m v"],
    keep: Bool[Tensor, "*#bh n m"],
) -> Float[Tensor, "b h n v"]:
    """Attention of every query of every head, one at a time; a query that may attend to nothing gets zeros."""
    b, h, n, _ = q.shape
    m = k.shape[2]
    may = keep.expand(b, h, n, m)
    rows = []
    for item in range(b):
        for head in range(h):
            for i in range(n):
                places = [j for j in range(m) if may[item, head, i, j]]
                rows.append(one_query(q[item, head, i], k[item, head, places], v[item, head, places]))
    return torch.stack(rows).reshape(b, h, n, v.shape[-1])


def _public_heads(seed: int, b: int, h: int, n: int, m: int, k: int, v: int, keep: Any, dtype: str = "float64") -> Any:
    rng = np.random.default_rng(seed)
    shapes = ((b, h, n, k), (b, h, m, k), (b, h, m, v))
    Q, K, V = (TensorValue(np.round(1.5 * rng.standard_normal(shape), 1).astype(dtype)) for shape in shapes)
    return Q, K, V, TensorValue(np.array(keep, bool))


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
    case(*_public_heads(5, 1, 2, 3, 4, 4, 2, [[1, 0, 1, 1], [1, 1, 0, 1], [0, 1, 0, 0]], "float32")),
    case(
        dict(zip(("q", "k", "v", "keep"), _public_heads(6, 1, 2, 2, 3, 2, 1, [[1, 0, 1], [1, 1, 0]]), strict=True)),
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


@probe(1.0)
def all_heads(rng: np.random.Generator) -> list[Case]:
    """every head of every item, for masks of every allowed shape"""
    b, h, n, m, k, v = sizes(rng, 6, 2, 7)
    masks = (
        random_keep(rng, n, m),
        random_keep(rng, b, 1, n, m),
        random_keep(rng, b, h, n, m),
        random_keep(rng, 1, 1, n, m),
    )
    return [case(*_drawn_heads(rng, b, h, n, m, k, v, keep)) for keep in masks]


@probe(0.5)
def heads_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide (b = h, k = v, too)"""
    s, m, k, v = sizes(rng, 4, 2, 6)
    return [
        case(*_drawn_heads(rng, s, s, m, k, v, v, random_keep(rng, s, 1, m, k))),  # b = h, k = v
        case(*_drawn_heads(rng, m, s, s, s, k, v, random_keep(rng, s, s))),  # h = n = m
        case(*_drawn_heads(rng, m, v, s, s, k, k, lower_triangle(s))),
        case(*_drawn_heads(rng, m, v, s, k, k, v, random_keep(rng, s, k))),  # m = k: turned keys fit
    ]


@probe(0.5)
def heads_with_nothing_to_see(rng: np.random.Generator) -> list[Case]:
    """zeros for a query that may attend to nothing"""
    b, h, n, m, k, v = sizes(rng, 6, 2, 7)
    keep = random_keep(rng, b, 1, n, m)
    keep[rng.integers(b), 0, rng.integers(n)] = False
    none = np.zeros((n, m), bool)
    return [
        case(*_drawn_heads(rng, b, h, n, m, k, v, keep)),
        case(*_drawn_heads(rng, b, h, n, m, k, k, keep)),
        case(*_drawn_heads(rng, b, h, n, m, k, v, none)),
    ]


@probe(0.5)
def heads_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single head and query, scores in the thousands, float32, and tensors that are not contiguous"""
    b, h, n, m, k, v = sizes(rng, 6, 2, 7)
    keep = random_keep(rng, n, m)
    return [
        case(*_drawn_heads(rng, 1, 1, 1, m, k, v, random_keep(rng, 1, m))),
        case(*_drawn_heads(rng, b, h, n, m, k, v, keep, dtype="float32")),
        case(*_drawn_heads(rng, b, h, n, m, k, k, keep, dtype="float32")),
        case(*_drawn_heads(rng, b, h, n, m, k, v, keep, size=60.0)),
        case(*_drawn_heads(rng, b, h, n, m, k, v, keep, order="strided")),
    ]


@probe(0.5)
def heads_to_learn_from(rng: np.random.Generator) -> list[Case]:
    """gradients flow through to queries, keys and values"""
    b, h, n, m, k, v = sizes(rng, 6, 3, 8)
    widths = ((k, v), (k, k))
    drawn = (_drawn_heads(rng, b, h, n, m, *each, two_or_more_kept(rng, n, m)) for each in widths)
    return [
        case(dict(zip("qkv", tables, strict=True)) | {"keep": keep}, harness="gradients") for *tables, keep in drawn
    ]


@mistake
def by_hand_with_plain_exponentials(q: T, k: T, v: T, keep: T) -> T:
    """this is attention by hand, and large scores come out as NaN: e to a score of 1000 is more than a computer can hold.
    PyTorch's own function takes care of that."""
    return plain_exponentials(scores_over_root_k(q, k), keep) @ v


_sdpa = torch.nn.functional.scaled_dot_product_attention


@mistake
def inverted_mask(q: T, k: T, v: T, keep: T) -> T:
    """the mask is turned round. Here as in this PyTorch function True means: takes part. (In some of PyTorch's other
    parts, as in many programs, True means: hidden.)"""
    return _sdpa(q, k, v, attn_mask=~keep)


@mistake
def scaled_twice(q: T, k: T, v: T, keep: T) -> T:
    """you divided the queries by √k, and PyTorch's function divides by it again."""
    return _sdpa(q / q.shape[-1] ** 0.5, k, v, attn_mask=keep)


@mistake
def scale_switched_off(q: T, k: T, v: T, keep: T) -> T:
    """the scores are not scaled: you switched it off, with scale=1. Left alone, the function divides by √k itself."""
    return _sdpa(q, k, v, attn_mask=keep, scale=1.0)


@mistake
def scaled_by_hand(q: T, k: T, v: T, keep: T) -> T:
    """you gave √k as the scale. That number is multiplied with, not divided by; left alone, the function does the right
    thing."""
    return _sdpa(q, k, v, attn_mask=keep, scale=q.shape[-1] ** 0.5)


@mistake
def mask_forgotten(q: T, k: T, v: T, keep: T) -> T:
    """every query attends to every key, whatever keep says: you did not hand the mask on."""
    return _sdpa(q, k, v)


@mistake
def causal_for_keep(q: T, k: T, v: T, keep: T) -> T:
    """you asked for is_causal instead of handing keep on. The mask may be any, and a triangle is only one of them."""
    return _sdpa(q, k, v, is_causal=True)


@mistake
def mask_of_numbers(q: T, k: T, v: T, keep: T) -> T:
    """you made numbers of the mask. A mask of numbers is *added* to the scores: 1 where keep is True and 0 where it is
    not, which is a mild preference and hides nothing. Hand over booleans."""
    return _sdpa(q, k, v, attn_mask=keep.to(q.dtype))


@mistake
def even_where_empty(q: T, k: T, v: T, keep: T) -> T:
    """a query that may attend to nothing got the plain mean of the values: you made a mask of large negative numbers to
    be added, and where all scores are equally low softmax shares evenly. Hand over the booleans themselves."""
    return _sdpa(q, k, v, attn_mask=torch.zeros_like(keep, dtype=q.dtype).masked_fill(~keep, -1e9))


@mistake
def nan_where_empty(q: T, k: T, v: T, keep: T) -> T:
    """a query that may attend to nothing came out as NaN. It should get zeros. (PyTorch's own function, given booleans,
    sees to that.)"""
    return (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~keep, -torch.inf).softmax(dim=-1) @ v


@mistake
def mask_squeezed(q: T, k: T, v: T, keep: T) -> T:
    """you took the axis of length 1 out of the mask. From the right, [b, n, m] lines up with [h, n, m]: item 0's mask goes
    to head 0, item 1's to head 1. With b = h that runs in silence. The 1 is there to stand for all heads."""
    return _sdpa(q, k, v, attn_mask=keep.squeeze())


@mistake
def heads_for_tokens(q: T, k: T, v: T, keep: T) -> T:
    """you exchanged the axes of heads and tokens before the call. This function wants [b, h, n, k]: the last two axes are
    tokens and features, and your tensors come that way."""
    return _sdpa(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), attn_mask=keep).transpose(1, 2)


@mistake
def tokens_before_heads(q: T, k: T, v: T, keep: T) -> T:
    """your result is [b, n, h, v]: you brought the tokens in front of the heads. The heads are not to be joined here."""
    return _sdpa(q, k, v, attn_mask=keep).transpose(1, 2)


@mistake
def heads_joined(q: T, k: T, v: T, keep: T) -> T:
    """you joined the heads, [b, n, h*v]. That is the step after this one."""
    return _sdpa(q, k, v, attn_mask=keep).transpose(1, 2).flatten(2)


@mistake
def keys_turned(q: T, k: T, v: T, keep: T) -> T:
    """you turned the keys before the call. The function does that itself: it wants them as [b, h, m, k]."""
    return _sdpa(q, k.transpose(-2, -1), v, attn_mask=keep)


@mistake
def values_and_keys_exchanged(q: T, k: T, v: T, keep: T) -> T:
    """you handed values over as keys and keys as values. The order is query, key, value."""
    return _sdpa(q, v, k, attn_mask=keep)


@mistake
def fused_without_history(q: T, k: T, v: T, keep: T) -> T:
    """the numbers are right, but queries, keys and values were detached (or .data was used), so no gradient reaches what
    they were made of. Hand them over as they are."""
    return _sdpa(q.detach(), k.detach(), v.detach(), attn_mask=keep)


@right
def fused_plainly(q: T, k: T, v: T, keep: T) -> T:
    return _sdpa(q, k, v, attn_mask=keep)


@right
def fused_with_the_scale_said(q: T, k: T, v: T, keep: T) -> T:
    return _sdpa(q, k, v, keep, 0.0, False, scale=1 / math.sqrt(q.size(-1)))


@right
def fused_by_adding(q: T, k: T, v: T, keep: T) -> T:
    return _sdpa(q, k, v, attn_mask=torch.zeros_like(keep, dtype=q.dtype).masked_fill(~keep, -torch.inf))


@right
def fused_by_hand(q: T, k: T, v: T, keep: T) -> T:
    return masked_weights(scores_over_root_k(q, k), keep) @ v


@right
def fused_with_a_guard(q: T, k: T, v: T, keep: T) -> T:
    return _sdpa(q, k, v, attn_mask=keep.expand(*q.shape[:3], k.shape[2])).masked_fill(~keep.any(-1, keepdim=True), 0)
