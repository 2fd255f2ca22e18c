"""Notebook 06: one more axis, and the way back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from autograder.exercises.drawing import causal as lower_triangle
from autograder.exercises.drawing import normal, random_keep, sizes
from autograder.exercises.model import Case, Exercise, Probe, case, equivalent
from course.modules import Block
from course.parameters import shapes
from course.values import Tensor as TensorValue
from course.values import bare

NOTEBOOK = "06_batching"
T = Tensor
Params = dict[str, Tensor]
Arrays = dict[str, np.ndarray]
Three = tuple[Tensor, Tensor, Tensor]


def _tensor(rng: np.random.Generator, *shape: int, **how: Any) -> TensorValue:
    return TensorValue(normal(rng, *shape, **how))


def _value(numbers: Any, dtype: str = "float64") -> TensorValue:
    return TensorValue(np.array(numbers, dtype))


def _choices(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    """A random mask that leaves two keys or more to each of n queries, and hides one where there are three or more.

    With a single key to attend to no score matters, and rounding is all that flows back to it.
    """
    keep = np.zeros((n, m), bool)
    for row in keep:
        row[rng.permutation(m)[: max(2, m - int(rng.integers(1, 3)))]] = True
    return keep


# --------------------------------------------------------------------------------------------- mha_batched


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
                parts.append(_attend(X[item, i] @ Wq, X[item, places] @ Wk, X[item, places] @ Wv))
            rows.append(torch.cat(parts) @ Wo)
    return torch.stack(rows).reshape(b, n, d)


def _attend(q: T, K: T, V: T) -> T:
    """One query's mixture of the values it may see; zeros where there are none."""
    if not len(K):
        return V.new_zeros(V.shape[1])
    scores = [(q * key).sum() / math.sqrt(len(q)) for key in K]
    top = max(score.item() for score in scores)
    powers = [torch.exp(score - top) for score in scores]
    total = sum(powers[1:], powers[0])
    return torch.stack([power / total * value for power, value in zip(powers, V, strict=True)]).sum(dim=0)


def _widths(params: Params, h: int) -> tuple[int, int]:
    v = len(params["Wo"]) // h
    return (params["Wqkv"].shape[1] // h - v) // 2, v


def _projected(X: T, params: Params, h: int) -> Three:
    """Queries, keys and values, each [b, h, n, width]."""
    k, v = _widths(params, h)
    Q, K, V = torch.split(X @ params["Wqkv"], [h * k, h * k, h * v], dim=-1)
    b, n, _ = X.shape
    return tuple(Z.reshape(b, n, h, -1).transpose(1, 2) for Z in (Q, K, V))  # type: ignore[return-value]


def _weights(S: T, keep: T, dim: int = -1) -> T:
    return S.masked_fill(~keep, -torch.inf).softmax(dim=dim).masked_fill(~keep, 0)


def _scores(Q: T, K: T) -> T:
    return Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5


def _joined(outputs: T) -> T:
    return outputs.transpose(1, 2).flatten(2)


def reverses_all_axes(X: T, params: Params, h: int, keep: T) -> T:
    """you turned the keys with .T. On a table that exchanges two axes; on four axes it reverses the order of all of
    them, items and heads too. It runs only where the sizes happen to agree. Exchange the last two axes and no others."""
    Q, K, V = _projected(X, params, h)
    return _joined(_weights(Q @ K.T / Q.shape[-1] ** 0.5, keep) @ V) @ params["Wo"]


def folds_the_batch_into_the_tokens(X: T, params: Params, h: int, keep: T) -> T:
    """you made one long text of all items. For the projections that is harmless, since each token is projected by
    itself; but in the scores tokens of one item then meet those of another. Items must never meet."""
    Q, K, V = _projected(X.reshape(1, -1, X.shape[2]), params, h)
    return (_joined(_weights(_scores(Q, K), keep) @ V) @ params["Wo"]).reshape(X.shape)


def views_for_a_transpose(X: T, params: Params, h: int, keep: T) -> T:
    """you reshaped [b, n, h*k] straight to [b, h, n, k]. A reshape keeps the order of the numbers and only draws new
    borders, so each head gets whole tokens, and not its own columns of every token. First [b, n, h, k], then exchange
    two axes."""
    k, v = _widths(params, h)
    b, n, _ = X.shape
    Q, K, V = torch.split(X @ params["Wqkv"], [h * k, h * k, h * v], dim=-1)
    Q, K, V = (Z.reshape(b, h, n, -1) for Z in (Q, K, V))
    return _joined(_weights(_scores(Q, K), keep) @ V) @ params["Wo"]


def joins_without_a_transpose(X: T, params: Params, h: int, keep: T) -> T:
    """you reshaped the heads' outputs from [b, h, n, v] straight to [b, n, h*v]. That puts tokens of one head side by
    side. Bring n in front of h first, as merge_heads did."""
    Q, K, V = _projected(X, params, h)
    outputs = _weights(_scores(Q, K), keep) @ V
    return outputs.reshape(*X.shape[:2], -1) @ params["Wo"]


def joins_and_splits_without_a_transpose(X: T, params: Params, h: int, keep: T) -> T:
    """you reshaped to [b, h, n, k], and back from [b, h, n, v], without a transpose on either way. The shapes are right,
    and the heads are not: a reshape never moves a number, and here numbers have to move. Each head wants its own
    columns of every token."""
    k, v = _widths(params, h)
    b, n, _ = X.shape
    Q, K, V = torch.split(X @ params["Wqkv"], [h * k, h * k, h * v], dim=-1)
    Q, K, V = (Z.reshape(b, h, n, -1) for Z in (Q, K, V))
    return (_weights(_scores(Q, K), keep) @ V).reshape(b, n, -1) @ params["Wo"]


def interleaves_heads(X: T, params: Params, h: int, keep: T) -> T:
    """you dealt the columns to the heads like cards, every h-th to the same head. The columns of one head lie side by
    side."""
    k, v = _widths(params, h)
    b, n, _ = X.shape
    Q, K, V = torch.split(X @ params["Wqkv"], [h * k, h * k, h * v], dim=-1)
    Q, K, V = (Z.reshape(b, n, -1, h).permute(0, 3, 1, 2) for Z in (Q, K, V))
    return _joined(_weights(_scores(Q, K), keep) @ V) @ params["Wo"]


def head_by_head_columns(X: T, params: Params, h: int, keep: T) -> T:
    """you read the columns of Wqkv as query, key and value of head 0, then of head 1, and so on. Here all queries come
    first, then all keys, then all values."""
    k, v = _widths(params, h)
    b, n, _ = X.shape
    Q, K, V = torch.split((X @ params["Wqkv"]).reshape(b, n, h, -1).transpose(1, 2), [k, k, v], dim=-1)
    return _joined(_weights(_scores(Q, K), keep) @ V) @ params["Wo"]


def cuts_into_thirds(X: T, params: Params, h: int, keep: T) -> T:
    """you cut the columns of Wqkv into three equal parts. That is right only where values are as wide as keys; the
    number of rows of Wo tells how wide all values are together."""
    b, n, _ = X.shape
    Q, K, V = (Z.reshape(b, n, h, -1).transpose(1, 2) for Z in (X @ params["Wqkv"]).chunk(3, dim=-1))
    return _joined(_weights(_scores(Q, K), keep) @ V) @ params["Wo"]


def borders_for_sizes(X: T, params: Params, h: int, keep: T) -> T:
    """you gave split the borders, as numpy's wants them. PyTorch's split wants the sizes of the parts, three of them, and
    they have to add up."""
    k, _ = _widths(params, h)
    Q, K, V = torch.split(X @ params["Wqkv"], [h * k, 2 * h * k], dim=-1)
    return _joined(_weights(_scores(_cut(Q, h), _cut(K, h)), keep) @ _cut(V, h)) @ params["Wo"]


def a_share_of_d_for_a_value(X: T, params: Params, h: int, keep: T) -> T:
    """you took d/h for the width of a value. Values may be narrower or wider than that: the rows of Wo tell, h·v of them."""
    v = X.shape[-1] // h
    k = (params["Wqkv"].shape[1] // h - v) // 2
    Q, K, V = (_cut(Z, h) for Z in torch.split(X @ params["Wqkv"], [h * k, h * k, h * v], dim=-1))
    return _joined(_weights(_scores(Q, K), keep) @ V) @ params["Wo"]


def keys_as_wide_as_values(X: T, params: Params, h: int, keep: T) -> T:
    """you took keys to be as wide as values. The rows of Wo tell how wide the values are, h·v; what is left of the columns of
    Wqkv is shared by queries and keys."""
    _, v = _widths(params, h)
    Q, K, V = (_cut(Z, h) for Z in torch.split(X @ params["Wqkv"], [h * v, h * v, h * v], dim=-1))
    return _joined(_weights(_scores(Q, K), keep) @ V) @ params["Wo"]


def _cut(Z: T, h: int) -> T:
    return torch.unflatten(Z, -1, (h, -1)).transpose(1, 2)


def splits_as_for_one_text(X: T, params: Params, h: int, keep: T) -> T:
    """you split and merged the heads with the functions of notebook 04. They take the first axis for the tokens of one text,
    and now that is the axis of the items. Say it again for [b, n, h*k]: which axis is cut, and which two change places?"""
    k, v = _widths(params, h)
    parts = torch.split(X @ params["Wqkv"], [h * k, h * k, h * v], dim=-1)
    Q, K, V = (Z.reshape(len(Z), h, -1).swapaxes(0, 1) for Z in parts)
    outputs = _weights(Q @ K.transpose(-2, -1) / k**0.5, keep) @ V
    heads, n, width = outputs.shape
    return outputs.swapaxes(0, 1).reshape(n, heads * width) @ params["Wo"]


def no_transpose_at_the_split(X: T, params: Params, h: int, keep: T) -> T:
    """you cut the columns into heads and left the axes as they were, [b, n, h, k]. Then the last two axes are the heads and
    their features, and within each token head attends to head. The tokens have to stand beside the features."""
    Q, K, V = (Z.transpose(1, 2) for Z in _projected(X, params, h))
    outputs = _weights(_scores(Q, K), keep) @ V
    return outputs.transpose(1, 2).reshape(*X.shape[:2], -1) @ params["Wo"]


def no_transpose_at_all(X: T, params: Params, h: int, keep: T) -> T:
    """you cut the columns into heads, [b, n, h, k], and joined them again, and never exchanged two axes. So within each
    token head attends to head, and no token to another. The tokens have to stand beside the features."""
    Q, K, V = (Z.transpose(1, 2) for Z in _projected(X, params, h))
    return (_weights(_scores(Q, K), keep) @ V).reshape(*X.shape[:2], -1) @ params["Wo"]


def keys_with_the_axes_of_one_text(X: T, params: Params, h: int, keep: T) -> T:
    """you exchanged axes 1 and 2 of the keys, as mha did. There they were tokens and features; with the items in front
    they are heads and tokens. Count from the end."""
    Q, K, V = _projected(X, params, h)
    return _joined(_weights(Q @ K.swapaxes(1, 2) / Q.shape[-1] ** 0.5, keep) @ V) @ params["Wo"]


def softmax_over_heads(X: T, params: Params, h: int, keep: T) -> T:
    """your softmax runs over axis 1, which in a single text was the axis of the keys, or of the queries, and now is that
    of the heads. Count from the end: the keys are the last axis, however many stand in front."""
    Q, K, V = _projected(X, params, h)
    return _joined(_weights(_scores(Q, K), keep, dim=1) @ V) @ params["Wo"]


def softmax_over_queries(X: T, params: Params, h: int, keep: T) -> T:
    """your softmax runs over the queries: its columns add up to 1. Each query shares its own weight out among the keys,
    along the last axis."""
    Q, K, V = _projected(X, params, h)
    return _joined(_weights(_scores(Q, K), keep, dim=-2) @ V) @ params["Wo"]


def no_scale(X: T, params: Params, h: int, keep: T) -> T:
    """the scores are not scaled. Batching changes nothing about that: they are divided by the root of the width of a
    key."""
    Q, K, V = _projected(X, params, h)
    return _joined(_weights(Q @ K.transpose(-2, -1), keep) @ V) @ params["Wo"]


def width_without_its_root(X: T, params: Params, h: int, keep: T) -> T:
    """you divided the scores by k. It is the square root of k that is wanted, as it was for one text."""
    Q, K, V = _projected(X, params, h)
    return _joined(_weights(Q @ K.transpose(-2, -1) / Q.shape[-1], keep) @ V) @ params["Wo"]


def root_of_the_model_width(X: T, params: Params, h: int, keep: T) -> T:
    """you divided the scores by √d. They are dot products of queries and keys of one head, so it is the width k of those
    that counts."""
    Q, K, V = _projected(X, params, h)
    return _joined(_weights(Q @ K.transpose(-2, -1) / X.shape[-1] ** 0.5, keep) @ V) @ params["Wo"]


def root_of_all_heads(X: T, params: Params, h: int, keep: T) -> T:
    """you divided the scores by √(h·k), the width of all heads together. A score belongs to one head: its width is k."""
    Q, K, V = _projected(X, params, h)
    S = Q @ K.transpose(-2, -1) / (h * Q.shape[-1]) ** 0.5
    return _joined(_weights(S, keep) @ V) @ params["Wo"]


def hides_the_kept(X: T, params: Params, h: int, keep: T) -> T:
    """you hid the places where keep is True. True means: may attend. And masked_fill fills where its mask is True."""
    Q, K, V = _projected(X, params, h)
    return _joined(_weights(_scores(Q, K), ~keep) @ V) @ params["Wo"]


def ignores_the_mask(X: T, params: Params, h: int, keep: T) -> T:
    """every token attends to every other, whatever keep says."""
    Q, K, V = _projected(X, params, h)
    return _joined(_scores(Q, K).softmax(dim=-1) @ V) @ params["Wo"]


def hides_the_kept_at_first(X: T, params: Params, h: int, keep: T) -> T:
    """before softmax you hid the places where keep is True, and afterwards those where it is False: together that is
    everything. True means: may attend. And masked_fill fills where its mask is True."""
    Q, K, V = _projected(X, params, h)
    A = _scores(Q, K).masked_fill(keep, -torch.inf).softmax(dim=-1).masked_fill(~keep, 0)
    return _joined(A @ V) @ params["Wo"]


def clears_the_kept(X: T, params: Params, h: int, keep: T) -> T:
    """after softmax you set the weights of the *kept* places to zero. Those of the hidden places are meant, and masked_fill
    fills where its mask is True."""
    Q, K, V = _projected(X, params, h)
    A = _scores(Q, K).masked_fill(~keep, -torch.inf).softmax(dim=-1).masked_fill(keep, 0)
    return _joined(A @ V) @ params["Wo"]


def zero_for_a_hidden_score(X: T, params: Params, h: int, keep: T) -> T:
    """you gave hidden places the score 0. That is a score like any other, e to the 0 is 1, and so they take their share out
    of the sum, even if their weights are set to zero afterwards. What gets no weight has the score -inf."""
    Q, K, V = _projected(X, params, h)
    A = _scores(Q, K).masked_fill(~keep, 0).softmax(dim=-1).masked_fill(~keep, 0)
    return _joined(A @ V) @ params["Wo"]


def masks_after_softmax(X: T, params: Params, h: int, keep: T) -> T:
    """you set the hidden weights to zero after softmax, and let softmax see the hidden scores. So the weights that are left
    no longer add up to 1: the hidden tokens have taken their share out of the sum. Hide before softmax too."""
    Q, K, V = _projected(X, params, h)
    return _joined(_scores(Q, K).softmax(dim=-1).masked_fill(~keep, 0) @ V) @ params["Wo"]


def every_nan_to_zero(X: T, params: Params, h: int, keep: T) -> T:
    """you turned every NaN into 0. That empties the rows that keep nothing, and it also hides a NaN that comes from somewhere
    else: a broken model looks healthy. Only hidden places are to be set to 0; a NaN at a kept place has to stay."""
    Q, K, V = _projected(X, params, h)
    A = _scores(Q, K).masked_fill(~keep, -torch.inf).softmax(dim=-1).nan_to_num(0)
    return _joined(A @ V) @ params["Wo"]


def exponentials_overflow(X: T, params: Params, h: int, keep: T) -> T:
    """large scores come out as NaN: e to a score of 1000 is more than a computer can hold, and infinity over infinity is
    not a number. PyTorch's softmax subtracts the largest score of each row first."""
    Q, K, V = _projected(X, params, h)
    return _joined(_plain_exponentials(_scores(Q, K), keep) @ V) @ params["Wo"]


def _plain_exponentials(S: T, keep: T) -> T:
    E = torch.where(keep, S.exp(), 0)
    total = E.sum(dim=-1, keepdim=True)
    return E / torch.where(total == 0, 1, total)


def nan_on_the_way_back(X: T, params: Params, h: int, keep: T) -> T:
    """the outputs are right, and the gradients are NaN where a token may attend to nothing. Its row was NaN on the way,
    and you chose zeros afterwards: on the way back the NaN is multiplied by 0, and stays. Fill the hidden places of the
    weights instead, or keep NaN from arising."""
    Q, K, V = _projected(X, params, h)
    A = (_scores(Q, K) + torch.where(keep, 0.0, -torch.inf).to(X.dtype)).softmax(dim=-1)
    return _joined(torch.where(keep.any(dim=-1, keepdim=True), A, 0.0) @ V) @ params["Wo"]


def nan_in_empty_rows(X: T, params: Params, h: int, keep: T) -> T:
    """a token that may attend to nothing came out as NaN: all its scores are -inf. It should get zeros from every
    head."""
    Q, K, V = _projected(X, params, h)
    return _joined(_scores(Q, K).masked_fill(~keep, -torch.inf).softmax(dim=-1) @ V) @ params["Wo"]


def uniform_in_empty_rows(X: T, params: Params, h: int, keep: T) -> T:
    """a token that may attend to nothing came out as a plain mean of the values. You hid with a large negative number;
    where all scores of a row are that number, softmax shares the weight out evenly. It should get no weight at all."""
    Q, K, V = _projected(X, params, h)
    return _joined(_scores(Q, K).masked_fill(~keep, -1e9).softmax(dim=-1) @ V) @ params["Wo"]


def squeezes_the_mask(X: T, params: Params, h: int, keep: T) -> T:
    """you took the axis of length 1 out of the mask. From the right, [b, n, n] lines up with [h, n, n]: item 0's mask goes
    to head 0, item 1's to head 1. With b = h that runs in silence. The 1 is there to stand for all heads."""
    Q, K, V = _projected(X, params, h)
    return _joined(_weights(_scores(Q, K), keep.squeeze()) @ V) @ params["Wo"]


def one_axis_too_many_in_the_mask(X: T, params: Params, h: int, keep: T) -> T:
    """you gave the mask one more axis, with keep[:, None]. It does not need one: the axes that it lacks in front are
    taken as 1, and with [b, 1, n, n] the axis of the heads is there already. Line the shapes up from the right."""
    Q, K, V = _projected(X, params, h)
    return _joined(_weights(_scores(Q, K), keep[:, None]) @ V) @ params["Wo"]


def mask_taken_for_a_table(X: T, params: Params, h: int, keep: T) -> T:
    """you put two axes in front of the mask, whatever it was. That is right for [n, n]; a mask [b, 1, n, n] has them
    already. None of them needs it: the axes that are missing in front are taken as 1."""
    Q, K, V = _projected(X, params, h)
    outputs = _weights(_scores(Q, K), keep[None, None]) @ V
    return outputs.transpose(1, 2).reshape(*X.shape[:2], -1) @ params["Wo"]


def first_items_mask_for_all(X: T, params: Params, h: int, keep: T) -> T:
    """every item was masked by the mask of item 0. A mask of [b, 1, n, n] has one for each."""
    Q, K, V = _projected(X, params, h)
    return _joined(_weights(_scores(Q, K), keep[0] if keep.ndim == 4 else keep) @ V) @ params["Wo"]


def no_wo(X: T, params: Params, h: int, keep: T) -> T:
    """you left out the last product, with Wo. Without it the heads stand side by side and never mix, and the width need
    not be d."""
    Q, K, V = _projected(X, params, h)
    return _joined(_weights(_scores(Q, K), keep) @ V)


def tokens_first(X: T, params: Params, h: int, keep: T) -> T:
    """you took the first axis for the tokens and the second for the items. So tokens attended to the tokens at the same
    place of other items. X is [b, n, d]."""
    Q, K, V = _projected(X.transpose(0, 1), params, h)
    return (_joined(_weights(_scores(Q, K), keep) @ V) @ params["Wo"]).transpose(0, 1)


def detaches_the_input(X: T, params: Params, h: int, keep: T) -> T:
    """the numbers are right, but X has lost its history: a detached tensor, or a new one made of its numbers, does not
    know where it comes from. No gradient reaches what came before. Work on X itself."""
    return _plainly(X.detach(), params, h, keep)


def detaches_the_parameters(X: T, params: Params, h: int, keep: T) -> T:
    """the numbers are right, but the parameters were detached (.data does that too), so no gradient reaches them, and
    they could never learn. Use them as they are."""
    return _plainly(X, {name: weight.detach() for name, weight in params.items()}, h, keep)


def detaches_the_weights(X: T, params: Params, h: int, keep: T) -> T:
    """the numbers are right, but the attention weights were cut off from the scores they were made of. The gradient
    still goes through the values, and not through queries and keys, which could never learn."""
    Q, K, V = _projected(X, params, h)
    return _joined(_weights(_scores(Q, K), keep).detach() @ V) @ params["Wo"]


def leaves_pytorch(X: T, params: Params, h: int, keep: T) -> T:
    """the numbers are right, but on the way you left PyTorch (through numpy, or under no_grad), and autograd cannot
    follow there: every gradient is zero. Everything that you need has a PyTorch name."""
    with torch.no_grad():
        return _plainly(X, params, h, keep)


def fills_weights_in_place(X: T, params: Params, h: int, keep: T) -> T:
    """you overwrote the weights in place (a name with an underscore at the end, or an assignment to a part of them).
    The backward pass of softmax needs the weights as softmax made them. Make a new tensor instead."""
    Q, K, V = _projected(X, params, h)
    A = _scores(Q, K).masked_fill(~keep, -torch.inf).softmax(dim=-1)
    A.masked_fill_(~keep, 0)
    return _joined(A @ V) @ params["Wo"]


def loops(X: T, params: Params, h: int, keep: T) -> T:
    """the numbers are right, but your code goes through the items, or through the heads, one after another. A product of
    tensors with more axes takes all of them at once."""
    out = []
    for i, x in enumerate(X):
        mask = keep[i : i + 1] if keep.ndim == 4 and len(keep) > 1 else keep
        out.append(_plainly(x[None], params, h, mask)[0])
    return torch.stack(out)


def _plainly(X: T, params: Params, h: int, keep: T) -> T:
    Q, K, V = _projected(X, params, h)
    return _joined(_weights(_scores(Q, K), keep) @ V) @ params["Wo"]


def batched_by_steps(X: T, params: Params, h: int, keep: T) -> T:
    k, v = _widths(params, h)
    Z = X @ params["Wqkv"]
    Q = torch.unflatten(Z[..., : h * k], -1, (h, k)).transpose(1, 2)
    K = torch.unflatten(Z[..., h * k : 2 * h * k], -1, (h, k)).transpose(1, 2)
    V = torch.unflatten(Z[..., 2 * h * k :], -1, (h, v)).transpose(1, 2)
    A = torch.where(keep, Q @ K.mT / math.sqrt(k), -torch.inf).softmax(dim=-1)
    A = torch.where(keep.any(dim=-1, keepdim=True), A, 0.0)
    return (A @ V).permute(0, 2, 1, 3).reshape(X.shape[0], X.shape[1], h * v) @ params["Wo"]


def batched_by_einsum(X: T, params: Params, h: int, keep: T) -> T:
    k, v = _widths(params, h)
    Wq, Wk, Wv = torch.split(params["Wqkv"], [h * k, h * k, h * v], dim=1)
    q = torch.einsum("bnd,dhk->bhnk", X, torch.unflatten(Wq, 1, (h, k)))
    K = torch.einsum("bnd,dhk->bhnk", X, torch.unflatten(Wk, 1, (h, k)))
    V = torch.einsum("bnd,dhv->bhnv", X, torch.unflatten(Wv, 1, (h, v)))
    A = _weights(torch.einsum("bhnk,bhmk->bhnm", q, K) / math.sqrt(k), keep)
    return torch.einsum("bhnm,bhmv,hvd->bnd", A, V, params["Wo"].reshape(h, v, -1))


def batched_as_one_axis(X: T, params: Params, h: int, keep: T) -> T:
    """Items and heads folded into one axis, and one batched product over it."""
    b, n, _ = X.shape
    Q, K, V = (Z.flatten(0, 1) for Z in _projected(X, params, h))
    S = torch.bmm(Q, K.transpose(1, 2)) / math.sqrt(Q.shape[-1])
    A = _weights(S, keep.expand(b, h, n, n).flatten(0, 1))
    return _joined(torch.unflatten(torch.bmm(A, V), 0, (b, h))) @ params["Wo"]


def batched_by_fused(X: T, params: Params, h: int, keep: T) -> T:
    outputs = torch.nn.functional.scaled_dot_product_attention(*_projected(X, params, h), attn_mask=keep)
    return _joined(outputs) @ params["Wo"]


def batched_by_hand(X: T, params: Params, h: int, keep: T) -> T:
    Q, K, V = _projected(X, params, h)
    M = _scores(Q, K).masked_fill(~keep, -torch.inf)
    top = M.amax(dim=-1, keepdim=True).clamp(min=torch.finfo(M.dtype).min)
    E = torch.exp(M - top)
    total = E.sum(dim=-1, keepdim=True)
    return _joined(E / torch.where(total == 0, 1, total) @ V) @ params["Wo"]


def _parameters(
    rng: np.random.Generator, d: int, h: int, k: int, v: int, dtype: str = "float64", order: str = "C"
) -> dict[str, TensorValue]:
    return {
        "Wqkv": _tensor(rng, d, h * (2 * k + v), scale=1.5 / math.sqrt(d), dtype=dtype, order=order),
        "Wo": _tensor(rng, h * v, d, dtype=dtype, order=order),
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
    return case(_tensor(rng, b, n, d, scale=size, **how), _parameters(rng, d, h, k, v, **how), h, TensorValue(keep))


def _batches(rng: np.random.Generator) -> list[Case]:
    b, n, d, h, k, v = sizes(rng, 6, 2, 7)
    other, few, wide, heads, key, value = sizes(rng, 6, 2, 7)
    return [
        _items(rng, b, n, d, h, k, v, lower_triangle(n)),
        _items(rng, b, n, d, h, k, v, random_keep(rng, n, n)),
        _items(rng, other, few, wide, heads, key, value, random_keep(rng, other, 1, few, few)),
        _items(rng, other, few, wide, heads, key, value, random_keep(rng, other, heads, few, few)),
    ]


def _batches_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    s, d, v = sizes(rng, 3, 2, 5)
    return [
        _items(rng, s, s, d, s, s, v, random_keep(rng, s, 1, s, s)),  # b = n = h = k: .T runs
        _items(rng, s, d, s * v, s, d, v, random_keep(rng, s, 1, d, d)),  # b = h: [b, n, n] lines up with the heads
        _items(rng, s, s, d, v, d, v, random_keep(rng, s, s)),  # b = n: items and tokens can be exchanged
        _items(rng, v, d, d, s, d, d, lower_triangle(d)),  # k = v = d
    ]


def _empty_rows_of_batches(rng: np.random.Generator) -> list[Case]:
    b, n, d, h, k, v = sizes(rng, 6, 2, 7)
    keep = random_keep(rng, b, 1, n, n)
    keep[rng.integers(b), 0, rng.integers(n)] = False
    return [
        _items(rng, b, n, d, h, k, v, keep),
        _items(rng, b, n, d, h, k, v, np.zeros((b, 1, n, n), bool)),
    ]


def _broken_batches(rng: np.random.Generator) -> list[Case]:
    """A NaN among the weights of the queries. Every token keeps one at least, so every output has to show it."""
    b, n, d, h, k, v = sizes(rng, 6, 2, 7)
    params = _parameters(rng, d, h, k, v)
    params["Wqkv"].array[:, 0] = np.nan
    return [case(_tensor(rng, b, n, d), params, h, TensorValue(random_keep(rng, b, 1, n, n)))]


def _empty_and_broken_batches(rng: np.random.Generator) -> list[Case]:
    return _empty_rows_of_batches(rng) + _broken_batches(rng)


def _batches_at_the_edge(rng: np.random.Generator) -> list[Case]:
    b, n, d, h, k, v = sizes(rng, 6, 2, 7)
    return [
        _items(rng, 1, n, d, h, k, v, lower_triangle(n)),
        _items(rng, b, 1, d, h, k, v, np.ones((1, 1), bool)),
        _items(rng, b, n, d, 1, k, v, random_keep(rng, n, n)),
        _items(rng, b, n, d, h, k, v, random_keep(rng, n, n), size=40.0),
        _items(rng, b, n, d, h, k, v, lower_triangle(n), dtype="float32"),
        _items(rng, b, n, d, h, k, v, random_keep(rng, 1, 1, n, n), order="strided"),
    ]


def _few_and_many(rng: np.random.Generator) -> list[Case]:
    d, k, v = sizes(rng, 3, 2, 5)
    return [
        _items(rng, 1, 2, d, 1, k, v, lower_triangle(2)),
        _items(rng, 10, 5, d, 9, k, v, random_keep(rng, 10, 1, 5, 5)),
    ]


def _batches_to_learn_from(rng: np.random.Generator) -> list[Case]:
    b, n, d, h, k, v = sizes(rng, 6, 3, 8)
    keep = _choices(rng, n, n)
    one_empty = keep.copy()
    one_empty[rng.integers(n)] = False
    return [_learning(rng, b, n, d, h, k, v, mask) for mask in (keep, one_empty)]


def _learning(rng: np.random.Generator, b: int, n: int, d: int, h: int, k: int, v: int, keep: np.ndarray) -> Case:
    X, params = _tensor(rng, b, n, d, scale=1.5), _parameters(rng, d, h, k, v)
    return case({"X": X, "params": params, "h": h, "keep": TensorValue(keep)}, harness="gradients")


def _small(seed: int, b: int, n: int, d: int, h: int, k: int, v: int, dtype: str = "float64") -> tuple[Any, ...]:
    """Small public arguments, in numbers of one digit after the point."""
    rng = np.random.default_rng(seed)
    widths = ((b, n, d), (d, h * (2 * k + v)), (h * v, d))
    X, Wqkv, Wo = (TensorValue(np.round(1.2 * rng.standard_normal(shape), 1).astype(dtype)) for shape in widths)
    return X, {"Wqkv": Wqkv, "Wo": Wo}, h


_BROKEN = _small(8, 1, 2, 2, 1, 1, 1)
_BROKEN[1]["Wqkv"].array[0, 0] = np.nan

MHA_BATCHED = Exercise(
    oracle=mha_batched,
    notebook=NOTEBOOK,
    public=(
        case(
            _value([[[1.0, 2.0]], [[3.0, 0.0]]]),
            {
                "Wqkv": _value([[0.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 2.0, 1.0]]),
                "Wo": _value([[1.0, 0.0], [0.0, 10.0]]),
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
        case(*_BROKEN, TensorValue(lower_triangle(2))),
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
            _value([[[40.0, 0.0], [0.0, 40.0]]]),
            {"Wqkv": _value([[1.0, 1.0, 1.0], [0.5, 0.5, 2.0]]), "Wo": _value([[1.0, 2.0]])},
            1,
            TensorValue(lower_triangle(2)),
        ),
        case(*_small(7, 10, 4, 3, 9, 2, 2), TensorValue(lower_triangle(4))),  # many items and heads, for loops to show
    ),
    probes=(
        Probe("every item through every head, all sizes different", 1.5, _batches),
        Probe("the same where sizes coincide (b = h, b = n, k = v, too)", 1.0, _batches_where_sizes_coincide),
        Probe(
            "zeros from every head for a token with nothing to attend to; and a NaN that came in is not hidden",
            0.5,
            _empty_and_broken_batches,
        ),
        Probe(
            "a batch of one, texts of one token, a single head, scores in the thousands, float32, and tensors that are not contiguous",
            0.5,
            _batches_at_the_edge,
        ),
        Probe("no loop over items or heads", 0.5, _few_and_many, "lines"),
        Probe("gradients flow through to the tokens and to both weights", 1.0, _batches_to_learn_from),
    ),
    mistakes=(
        reverses_all_axes,
        folds_the_batch_into_the_tokens,
        views_for_a_transpose,
        joins_without_a_transpose,
        joins_and_splits_without_a_transpose,
        interleaves_heads,
        head_by_head_columns,
        cuts_into_thirds,
        borders_for_sizes,
        a_share_of_d_for_a_value,
        keys_as_wide_as_values,
        splits_as_for_one_text,
        no_transpose_at_the_split,
        no_transpose_at_all,
        keys_with_the_axes_of_one_text,
        softmax_over_heads,
        softmax_over_queries,
        no_scale,
        width_without_its_root,
        root_of_the_model_width,
        root_of_all_heads,
        hides_the_kept,
        hides_the_kept_at_first,
        clears_the_kept,
        zero_for_a_hidden_score,
        masks_after_softmax,
        ignores_the_mask,
        every_nan_to_zero,
        exponentials_overflow,
        nan_on_the_way_back,
        nan_in_empty_rows,
        uniform_in_empty_rows,
        squeezes_the_mask,
        one_axis_too_many_in_the_mask,
        mask_taken_for_a_table,
        first_items_mask_for_all,
        no_wo,
        tokens_first,
        detaches_the_input,
        detaches_the_parameters,
        detaches_the_weights,
        leaves_pytorch,
        fills_weights_in_place,
        loops,
    ),
    variants=(batched_by_steps, batched_by_einsum, batched_as_one_axis, batched_by_fused, batched_by_hand),
)


# -------------------------------------------------------------------------------------------- combine_keep


def combine_keep(lengths: Int[Tensor, "b"], n: int, causal: bool, left: bool = False) -> Bool[Tensor, "b 1 n n"]:
    """Entry (item, 0, i, j) is True where place j of the item holds a token and, if causal, is not after place i."""
    keep = torch.zeros(len(lengths), 1, n, n, dtype=torch.bool)
    for item, length in enumerate(lengths.tolist()):
        places = range(n - length, n) if left else range(length)
        for i in range(n):
            for j in places:
                keep[item, 0, i, j] = j <= i or not causal
    return keep


def _real(lengths: T, n: int, left: bool) -> T:
    """[b, n], True where there is a token."""
    place = torch.arange(n)
    return place >= n - lengths[:, None] if left else place < lengths[:, None]


def _seen(n: int, causal: bool) -> T:
    return torch.ones(n, n, dtype=torch.bool).tril() if causal else torch.ones(n, n, dtype=torch.bool)


def padding_on_the_query_axis(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you hid the rows of the padding, and left its columns open. A row is the token that looks, and what padding sees
    harms nobody. A column is the token that is looked at: nobody may look at padding."""
    return _real(lengths, n, left)[:, None, :, None] & _seen(n, causal)


def padding_on_both_axes(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you hid the padding's rows as well as its columns. What padding sees harms nobody, since its outputs are thrown
    away, and every row you empty is a softmax over nothing. The rule is about columns: nobody looks at padding."""
    real = _real(lengths, n, left)
    return real[:, None, None, :] & real[:, None, :, None] & _seen(n, causal)


def either_is_enough(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you joined the two rules with "or": a place stays open that is real and in the future, or padding and in the past.
    Both conditions have to hold."""
    return _real(lengths, n, left)[:, None, None, :] | (_seen(n, causal) if causal else torch.tensor(False)).expand(
        n, n
    )


def or_for_and(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you joined the two tables with |, which is "or": a place stays open if either of them allows it. Both have to."""
    return _real(lengths, n, left)[:, None, None, :] | _seen(n, causal)


def the_word_and(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you joined the two tables with the word `and`. It asks whether a whole table is true, which has no answer, and then
    returns one of the two. What joins them entry by entry is &."""
    return _real(lengths, n, left)[:, None, None, :] and _seen(n, causal)


def no_axis_for_the_heads(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """your mask is [b, n, n]. Scores are [b, h, n, n], and shapes are lined up from the right: your b would stand against
    h. If they differ that is an error; if they are equal, item 0's mask goes to head 0 in silence. Put an axis of
    length 1 where the heads are."""
    return _real(lengths, n, left)[:, None, :] & _seen(n, causal)


def one_row_without_a_triangle(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """without the causal part your mask has a single row for all queries, [b, 1, 1, n]. It would broadcast, but whoever
    asks for [b, 1, n, n] may want to look at row i, or to change one. Give it all its rows."""
    real = _real(lengths, n, left)[:, None, None, :]
    return real & _seen(n, True) if causal else real


def always_causal(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you hid the future also where causal is False."""
    return combine_by_rules(lengths, n, True, left)


def never_causal(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you hid the padding, and left the future open where causal is True."""
    return combine_by_rules(lengths, n, False, left)


def never_left(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """with left=True the padding stands in front: the last `length` places are real, and not the first."""
    return combine_by_rules(lengths, n, causal, False)


def left_hides_the_tokens(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """with left=True you keep what lies behind the first `length` places, as if length counted the padding. It counts the
    tokens, and they are the last `length` places."""
    place = torch.arange(n)
    real = place >= lengths[:, None] if left else place < lengths[:, None]
    return real[:, None, None, :] & _seen(n, causal)


def flips_the_triangle_too(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """for padding on the left you turned the whole mask round, the causal part too. The padding changes sides; time still
    runs from left to right."""
    keep = combine_by_rules(lengths, n, causal, False)
    return keep.flip(-1) if left else keep


def one_padding_token_seen(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """one place of padding is open in each text. `length` tokens are the places 0 to length - 1, and with left=True the
    places n - length to n - 1."""
    return combine_by_rules((lengths + 1).clamp(max=n), n, causal, left)


def padding_behind_seen(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """where padding stands behind a text, its first place is open. The first `length` places are the places 0 to
    length - 1."""
    return combine_by_rules(lengths if left else (lengths + 1).clamp(max=n), n, causal, left)


def padding_in_front_seen(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """where padding stands in front of a text, its last place is open. The last `length` of n places are the places
    n - length to n - 1."""
    return combine_by_rules((lengths + 1).clamp(max=n) if left else lengths, n, causal, left)


def last_token_hidden(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """where padding stands behind a text, the last real token is hidden too. The first `length` places are the places 0 to
    length - 1."""
    return combine_by_rules(lengths if left else (lengths - 1).clamp(min=0), n, causal, left)


def first_token_hidden(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """where padding stands in front of a text, the first real token is hidden too. The last `length` of n places are the
    places n - length to n - 1."""
    return combine_by_rules((lengths - 1).clamp(min=0) if left else lengths, n, causal, left)


def lengths_lie_flat(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you compared a row of places with a row of lengths, one place with one length. Every place of a text is to be compared
    with the one length of that text: make a column of the lengths."""
    place = torch.arange(n)
    real = place >= n - lengths if left else place < lengths
    return real[:, None, None, :] & _seen(n, causal)


def true_means_padding(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """your True marks what is hidden. In this course True means: may attend."""
    return ~combine_by_rules(lengths, n, causal, left)


def keeps_the_future(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """your triangle is the upper one: tokens see themselves and what comes after them."""
    return _real(lengths, n, left)[:, None, None, :] & (_seen(n, True).T if causal else _seen(n, False))


def hides_the_diagonal(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """with causal=True no token sees itself. It may."""
    seen = torch.ones(n, n, dtype=torch.bool).tril(-1) if causal else _seen(n, False)
    return _real(lengths, n, left)[:, None, None, :] & seen


def longest_text_for_all(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """every text has the mask of the longest one. Each has a length of its own."""
    return combine_by_rules(lengths.max().expand(len(lengths)), n, causal, left)


def numbers_for_truth(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """the places are right, but your mask is made of numbers. A product of booleans and numbers is a number; a keep mask
    holds True and False, so that ~keep means what it says."""
    return combine_by_rules(lengths, n, causal, left).float()


def integers_for_truth(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """the places are right, but your mask is made of the integers 0 and 1. A keep mask holds True and False: ~1 is -2."""
    return combine_by_rules(lengths, n, causal, left).long()


def combine_by_rules(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    return _real(lengths, n, left)[:, None, None, :] & _seen(n, causal)


def combine_by_places(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    i, j = torch.arange(n).view(1, 1, n, 1), torch.arange(n).view(1, 1, 1, n)
    first = (n - lengths if left else torch.zeros_like(lengths)).view(-1, 1, 1, 1)
    keep = (j >= first) & (j < first + lengths.view(-1, 1, 1, 1))
    return (keep & (j <= i)) if causal else keep.repeat(1, 1, n, 1)


def combine_by_loop(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    out = []
    for length in lengths:
        keep = torch.zeros(n, n, dtype=torch.bool)
        if left:
            keep[:, n - length :] = True
        else:
            keep[:, :length] = True
        out.append(keep.tril() if causal else keep)
    return torch.stack(out)[:, None]


def combine_by_flipping(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    real = (torch.arange(n)[None, :] < lengths[:, None]).bool()
    if left:
        real = real.flip(1)
    keep = real.unsqueeze(1).unsqueeze(2).expand(len(lengths), 1, n, n)
    return torch.logical_and(keep, torch.tril(torch.ones(n, n)).bool()) if causal else keep


def combine_by_numpy(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    real = np.arange(n) < lengths.numpy()[:, None]
    real = real[:, ::-1] if left else real
    return torch.from_numpy(real[:, None, None, :] & (np.tri(n, dtype=bool) if causal else np.ones((n, n), bool)))


def _lengths(*numbers: int) -> TensorValue:
    return TensorValue(np.array(numbers, np.int64))


def _some_lengths(rng: np.random.Generator, b: int, n: int) -> TensorValue:
    """Lengths from 1 to n, not all of them equal, one of them shorter by two or more, so that there is padding."""
    found = rng.integers(1, n + 1, size=b)
    found[:2] = rng.permutation([n, int(rng.integers(1, n - 1))])
    return TensorValue(rng.permutation(found))


def _padded_behind(rng: np.random.Generator) -> list[Case]:
    b, n = sizes(rng, 2, 3)
    return [case(_some_lengths(rng, b, n), n, True), case(_some_lengths(rng, b, n), n, False)]


def _padded_in_front(rng: np.random.Generator) -> list[Case]:
    b, n = sizes(rng, 2, 3)
    return [case(_some_lengths(rng, b, n), n, True, True), case(_some_lengths(rng, b, n), n, False, True)]


def _lengths_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n = int(rng.integers(3, 8))
    return [
        case(_lengths(0, n, 1), n, True),
        case(_lengths(0, n, 1), n, False, True),
        case(_lengths(n - 1), n, False),
        case(_lengths(1, 1), 1, True, True),
        case(_lengths(1), 1, True),
    ]


def _masks_in_use(rng: np.random.Generator) -> list[Case]:
    b, n = sizes(rng, 2, 3)
    arguments = (_some_lengths(rng, b, n), n)
    return [
        case(*arguments, causal, left, b, harness="stretched") for causal in (True, False) for left in (True, False)
    ]


COMBINE_KEEP = Exercise(
    oracle=combine_keep,
    notebook=NOTEBOOK,
    public=(
        case(_lengths(1), 1, True),
        case(_lengths(1, 2), 2, True),
        case(_lengths(1, 2), 3, False),
        case(_lengths(3, 1), 4, True),
        case(_lengths(2, 3), 4, True, True),
        case(_lengths(1, 3), 4, False, True),
        case(_lengths(2), 2, True),
        case(_lengths(2, 1), 3, True, False, 2, harness="stretched"),
    ),
    probes=(
        Probe("padding behind the text, with the future hidden and without", 1.5, _padded_behind),
        Probe("padding in front of the text", 1.0, _padded_in_front),
        Probe(
            "texts of no token, of one, of full length; a batch of one; padding to a single place",
            0.5,
            _lengths_at_the_edge,
        ),
        Probe("with as many heads as items, every head of an item gets that item's mask", 1.0, _masks_in_use),
    ),
    mistakes=(
        padding_on_the_query_axis,
        padding_on_both_axes,
        either_is_enough,
        or_for_and,
        the_word_and,
        no_axis_for_the_heads,
        one_row_without_a_triangle,
        always_causal,
        never_causal,
        never_left,
        left_hides_the_tokens,
        flips_the_triangle_too,
        one_padding_token_seen,
        padding_behind_seen,
        padding_in_front_seen,
        last_token_hidden,
        first_token_hidden,
        lengths_lie_flat,
        true_means_padding,
        keeps_the_future,
        hides_the_diagonal,
        longest_text_for_all,
        numbers_for_truth,
        integers_for_truth,
    ),
    variants=(combine_by_rules, combine_by_places, combine_by_loop, combine_by_flipping, combine_by_numpy),
)


# ---------------------------------------------------------------------------------------- softmax_backward


def softmax_backward(P: Float[Tensor, "*b n m"], dP: Float[Tensor, "*b n m"]) -> Float[Tensor, "*b n m"]:
    """Row by row: entry j is the sum over l of dP_l times the derivative of weight l by score j."""
    rows = zip(P.reshape(-1, P.shape[-1]).tolist(), dP.reshape(-1, P.shape[-1]).tolist(), strict=True)
    out = [
        [
            sum(g * p * ((other == j) - row[j]) for other, (p, g) in enumerate(zip(row, slopes, strict=True)))
            for j in range(len(row))
        ]
        for row, slopes in rows
    ]
    return torch.tensor(out, dtype=P.dtype).reshape(P.shape)


def no_row_sum(P: T, dP: T) -> T:
    """you multiplied P and dP, and that is half of it. When one score rises, the other weights of its row fall, since
    they share what is left; the row's average accounts for that. Each of your rows should add up to 0."""
    return P * dP


def only_its_own_score(P: T, dP: T) -> T:
    """you let each weight depend on its own score only, with the slope p·(1 - p). But the sum under it holds all scores of
    the row: when another score rises, this weight falls, by the product of both."""
    return P * (1 - P) * dP


def no_outer_weight(P: T, dP: T) -> T:
    """you took the row's average away and stopped there. Each entry is still to be multiplied by its own weight: a score whose
    weight is 0 changes nothing."""
    return dP - (P * dP).sum(dim=-1, keepdim=True)


def sums_down_columns(P: T, dP: T) -> T:
    """you summed down the columns. The scores that compete with each other stand in one row."""
    return P * (dP - (P * dP).sum(dim=-2, keepdim=True))


def sums_everything(P: T, dP: T) -> T:
    """you took one sum over the whole table. Each row is a softmax of its own, and has its own average."""
    return P * (dP - (P * dP).sum())


def sums_each_table(P: T, dP: T) -> T:
    """you summed over axis 1. In a table that is the last one; in a batch of tables it is not. Count from the end."""
    return P * (dP - (P * dP).sum(dim=1, keepdim=True))


def sums_lie_flat(P: T, dP: T) -> T:
    """the rows' averages have lost their axis: [n, m] became [n], which then stands against the columns. Where n = m nothing is
    said. Keep the axis, with length 1."""
    return P * (dP - (P * dP).sum(dim=-1))


def mean_for_the_sum(P: T, dP: T) -> T:
    """you took the mean of each row where its sum belongs. The weights P are in it already, and they add up to 1."""
    return P * (dP - (P * dP).mean(dim=-1, keepdim=True))


def sum_without_weights(P: T, dP: T) -> T:
    """you summed dP alone. What is to be taken away is the row's average, the mean of dP weighed by P."""
    return P * (dP - dP.sum(dim=-1, keepdim=True))


def wrong_sign(P: T, dP: T) -> T:
    """the sign is turned: with these gradients learning would walk uphill."""
    return P * ((P * dP).sum(dim=-1, keepdim=True) - dP)


def plain_mean(P: T, dP: T) -> T:
    """you took away the plain mean of each row of dP. What is to be taken away is the row's average: the mean weighed by P,
    in which a key with a large weight counts for much."""
    return P * (dP - dP.mean(dim=-1, keepdim=True))


def bracket_forgotten(P: T, dP: T) -> T:
    """you multiplied dP by P and then took the row's average away, whole. P stands in front of the bracket: the average too
    is to be multiplied by each entry's own weight."""
    return P * dP - (P * dP).sum(dim=-1, keepdim=True)


def softmax_once_more(P: T, dP: T) -> T:
    """you took softmax of P. The argument is the weights already, as softmax made them; you do not need the scores."""
    A = P.softmax(dim=-1)
    return A * (dP - (A * dP).sum(dim=-1, keepdim=True))


def gradient_in_place(P: T, dP: T) -> T:
    """you wrote into the caller's tensors (a name with an underscore at the end does that, and so does -=). They are
    still needed. Make a new tensor."""
    dP -= (P * dP).sum(dim=-1, keepdim=True)
    return P * dP


@equivalent("the matrix of slopes of a softmax is symmetric, so multiplying by its transpose gives the same")
def slopes_turned(P: T, dP: T) -> T:
    """you multiplied by the transposed matrix of slopes."""
    slopes = torch.diag_embed(P) - P[..., :, None] * P[..., None, :]
    return (slopes @ dP[..., None])[..., 0]


def backward_by_rows(P: T, dP: T) -> T:
    return P * (dP - (dP * P).sum(-1, keepdim=True))


def backward_by_slopes(P: T, dP: T) -> T:
    slopes = torch.diag_embed(P) - torch.einsum("...i,...j->...ij", P, P)
    return torch.einsum("...i,...ij->...j", dP, slopes)


def backward_in_two_terms(P: T, dP: T) -> T:
    G = P * dP
    return G - P * G.sum(dim=-1, keepdim=True)


def backward_by_product(P: T, dP: T) -> T:
    dots = (P[..., None, :] @ dP[..., :, None])[..., 0]
    return P * dP - P * dots


def _rows(rng: np.random.Generator, *shape: int, dtype: str = "float64", order: str = "C") -> TensorValue:
    E = np.exp(normal(rng, *shape, scale=1.2))
    P = normal(rng, *shape, dtype=dtype, order=order)
    P[...] = E / E.sum(axis=-1, keepdims=True)
    return TensorValue(P)


def _gradients_of_weights(rng: np.random.Generator) -> list[Case]:
    b, h, n, m = sizes(rng, 4)
    return [case(_rows(rng, *shape), _tensor(rng, *shape, scale=2.0)) for shape in ((n, m), (b, n, m), (b, h, n, m))]


def _square_gradients(rng: np.random.Generator) -> list[Case]:
    n, m = sizes(rng, 2)
    return [case(_rows(rng, *shape), _tensor(rng, *shape, scale=2.0)) for shape in ((n, n), (m, m, m))]


def _gradients_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, m = sizes(rng, 2, 3)
    hidden = _rows(rng, n, m)
    hidden.array[:, m // 2 :] = 0.0
    hidden.array[0] = 0.0
    return [
        case(hidden, _tensor(rng, n, m, scale=2.0)),
        case(_rows(rng, 1, m), _tensor(rng, 1, m, scale=2.0)),
        case(_rows(rng, n, 1), _tensor(rng, n, 1, scale=2.0)),
        case(_rows(rng, n, m, dtype="float32"), _tensor(rng, n, m, scale=2.0, dtype="float32")),
        case(_rows(rng, n, m, order="strided"), _tensor(rng, n, m, scale=2.0, order="F")),
    ]


SOFTMAX_BACKWARD = Exercise(
    oracle=softmax_backward,
    notebook=NOTEBOOK,
    public=(
        case(_value([[0.25, 0.75]]), _value([[4.0, 0.0]])),
        case(_value([[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]]), _value([[1.0, 2.0, 3.0], [-1.0, 0.0, 2.0]])),
        case(_value([[0.5, 0.5], [0.25, 0.75]]), _value([[2.0, -1.0], [1.0, 3.0]])),
        case(
            _value([[[0.5, 0.5, 0.0]], [[0.0, 0.0, 0.0]], [[0.25, 0.5, 0.25]], [[1.0, 0.0, 0.0]]], "float32"),
            _value([[[1.0, 2.0, 4.0]], [[3.0, -1.0, 2.0]], [[1.0, -2.0, 0.0]], [[5.0, 1.0, 2.0]]], "float32"),
        ),
        case(
            _value([[[0.5, 0.5], [0.25, 0.75], [0.75, 0.25]], [[0.125, 0.875], [1.0, 0.0], [0.5, 0.5]]]),
            _value([[[1.0, 3.0], [2.0, 0.0], [-1.0, 1.0]], [[0.0, 2.0], [4.0, 1.0], [1.0, -2.0]]]),
        ),
    ),
    probes=(
        Probe("the gradient of the scores, row by row, for tables and batches of tables", 1.5, _gradients_of_weights),
        Probe("the same where tables are square", 0.5, _square_gradients),
        Probe(
            "weights of 0 and rows of nothing else, single rows and columns, float32, tensors that are not contiguous",
            1.0,
            _gradients_at_the_edge,
        ),
    ),
    mistakes=(
        no_row_sum,
        only_its_own_score,
        no_outer_weight,
        sums_down_columns,
        sums_everything,
        sums_each_table,
        sums_lie_flat,
        mean_for_the_sum,
        sum_without_weights,
        wrong_sign,
        plain_mean,
        bracket_forgotten,
        softmax_once_more,
        gradient_in_place,
        slopes_turned,
    ),
    variants=(backward_by_rows, backward_by_slopes, backward_in_two_terms, backward_by_product),
)


# -------------------------------------------------------------------------------------- attention_backward


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


def _forward(Q: T, K: T, keep: T) -> T:
    return _weights(Q @ K.T / Q.shape[1] ** 0.5, keep)


def _softmax_back(P: T, dP: T) -> T:
    return P * (dP - (P * dP).sum(dim=-1, keepdim=True))


def _back(P: T, dS: T, Q: T, K: T, dO: T) -> Three:
    scale = Q.shape[1] ** 0.5
    return dS @ K / scale, dS.T @ Q / scale, P.T @ dO


def no_row_sum_in_between(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """the gradient of the scores lacks the row's average: you multiplied P and dP and left it at that. Weights share what there
    is, so a score that rises takes from the others. softmax_backward has it right."""
    P = _forward(Q, K, keep)
    return _back(P, P * (dO @ V.T), Q, K, dO)


def softmax_skipped(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you took the gradient of the weights for that of the scores. Softmax lies between them, and the way back goes
    through it too."""
    return _back(_forward(Q, K, keep), dO @ V.T, Q, K, dO)


def softmax_skipped_and_hidden(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you took the gradient of the weights for that of the scores, with zeros at the hidden places. Softmax lies between
    them, and the way back goes through it too."""
    P = _forward(Q, K, keep)
    return _back(P, (dO @ V.T).masked_fill(~keep, 0), Q, K, dO)


def weights_and_their_gradient_exchanged(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you handed softmax_backward the gradient first and the weights second. It wants P, and then dP."""
    P = _forward(Q, K, keep)
    return _back(P, _softmax_back(dO @ V.T, P), Q, K, dO)


def scores_for_weights(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you handed softmax_backward the scores, with -inf where they are hidden. It wants the weights that softmax made of
    them."""
    S = (Q @ K.T / Q.shape[1] ** 0.5).masked_fill(~keep, -torch.inf)
    return _back(_forward(Q, K, keep), _softmax_back(S, dO @ V.T), Q, K, dO)


def bare_scores_for_weights(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you handed softmax_backward the scores. It wants the weights that softmax made of them."""
    return _back(_forward(Q, K, keep), _softmax_back(Q @ K.T / Q.shape[1] ** 0.5, dO @ V.T), Q, K, dO)


def missing_scale(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """the scale is missing on the way back. The scores were divided by √k, so a change of a query or of a key reaches
    them divided by √k as well."""
    P = _forward(Q, K, keep)
    dS = _softmax_back(P, dO @ V.T)
    return dS @ K, dS.T @ Q, P.T @ dO


def scale_on_queries_only(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you divided the gradient of the queries by √k, and not that of the keys. Scores were divided, and both stand in
    them."""
    P = _forward(Q, K, keep)
    dS = _softmax_back(P, dO @ V.T)
    return dS @ K / Q.shape[1] ** 0.5, dS.T @ Q, P.T @ dO


def missing_scale_forward(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """your weights P are not those of the forward pass: its scores were divided by √k."""
    P = _weights(Q @ K.T, keep)
    return _back(P, _softmax_back(P, dO @ V.T), Q, K, dO)


def no_scale_at_all(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """there is no √k anywhere, neither in the scores nor on the way back. This would be right for an attention without a
    scale."""
    P = _weights(Q @ K.T, keep)
    dS = _softmax_back(P, dO @ V.T)
    return dS @ K, dS.T @ Q, P.T @ dO


def width_for_its_root(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you divided by k, there and back. It is the square root of k that is wanted."""
    P = _weights(Q @ K.T / Q.shape[1], keep)
    dS = _softmax_back(P, dO @ V.T)
    return dS @ K / Q.shape[1], dS.T @ Q / Q.shape[1], P.T @ dO


def width_for_its_root_on_the_way_back(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """on the way back you divided by k. The scores were divided by its square root, and by that the gradients are divided
    too."""
    P = _forward(Q, K, keep)
    dS = _softmax_back(P, dO @ V.T)
    return dS @ K / Q.shape[1], dS.T @ Q / Q.shape[1], P.T @ dO


def root_of_the_values_width(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you scaled by the root of the width of the values. Scores are dot products of queries and keys, and their width k is
    what counts."""
    scale = V.shape[1] ** 0.5
    P = _weights(Q @ K.T / scale, keep)
    dS = _softmax_back(P, dO @ V.T)
    return dS @ K / scale, dS.T @ Q / scale, P.T @ dO


def last_gradient_first(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you returned the gradients as dV, dK, dQ. The order is that of the arguments: queries, keys, values."""
    dQ, dK, dV = _back(P := _forward(Q, K, keep), _softmax_back(P, dO @ V.T), Q, K, dO)
    return dV, dK, dQ


def gradients_as_they_were_made(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you returned the gradients in the order in which you made them, dV, dQ, dK. The order is that of the arguments:
    queries, keys, values."""
    dQ, dK, dV = _back(P := _forward(Q, K, keep), _softmax_back(P, dO @ V.T), Q, K, dO)
    return dV, dQ, dK


def keys_before_queries(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you returned the gradient of the keys first. The order is that of the arguments: queries, keys, values."""
    dQ, dK, dV = _back(P := _forward(Q, K, keep), _softmax_back(P, dO @ V.T), Q, K, dO)
    return dK, dQ, dV


def queries_and_keys_exchanged(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you multiplied dS by the queries to get the gradient of the queries, and its transpose by the keys. A query's
    gradient is a mixture of keys, and a key's a mixture of queries."""
    P = _forward(Q, K, keep)
    dS = _softmax_back(P, dO @ V.T)
    scale = Q.shape[1] ** 0.5
    return dS @ Q / scale, dS.T @ K / scale, P.T @ dO


def weights_without_the_mask(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you recomputed the weights without the mask. The way back belongs to the forward pass that was run, hidden places
    and all."""
    P = (Q @ K.T / Q.shape[1] ** 0.5).softmax(dim=-1)
    return _back(P, _softmax_back(P, dO @ V.T), Q, K, dO)


def masks_too_late(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you recomputed the weights without the mask, and set the gradient of the hidden scores to zero afterwards. By then
    the kept weights have been divided by a sum in which the hidden ones take part. Hide before softmax."""
    P = (Q @ K.T / Q.shape[1] ** 0.5).softmax(dim=-1)
    return _back(P, _softmax_back(P, dO @ V.T).masked_fill(~keep, 0), Q, K, dO)


def hides_what_is_kept(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you hid the places where keep is True. True means: may attend."""
    P = _forward(Q, K, ~keep)
    return _back(P, _softmax_back(P, dO @ V.T), Q, K, dO)


def values_by_rows_of_weights(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """for the values you mixed the gradients with P as it stands. Value j went to each output i in the amount P[i, j], so
    its gradient gathers down column j: the weights have to be turned."""
    dQ, dK, _ = _back(P := _forward(Q, K, keep), _softmax_back(P, dO @ V.T), Q, K, dO)
    return dQ, dK, P @ dO


def keys_by_rows_of_scores(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """for the keys you multiplied dS as it stands. Key j stands in column j of the scores, so its gradient gathers down
    that column: dS has to be turned."""
    P = _forward(Q, K, keep)
    dS = _softmax_back(P, dO @ V.T)
    scale = Q.shape[1] ** 0.5
    return dS @ K / scale, dS @ Q / scale, P.T @ dO


def values_not_turned(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """for the gradient of the weights you multiplied dO by V as it stands. Entry (i, j) is the dot product of output i's
    gradient with value j: every row against every row."""
    P = _forward(Q, K, keep)
    return _back(P, _softmax_back(P, dO @ V), Q, K, dO)


def values_gradient_of_values(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """for the values you mixed the values themselves. What flows back is dO."""
    dQ, dK, _ = _back(P := _forward(Q, K, keep), _softmax_back(P, dO @ V.T), Q, K, dO)
    return dQ, dK, P.T @ (P @ V)


def empty_rows_become_nan(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """a query that may attend to nothing turned into NaN, and on the way back that NaN got into every key and value. Such
    a row has zero weights, so nothing flows back through it."""
    P = (Q @ K.T / Q.shape[1] ** 0.5).masked_fill(~keep, -torch.inf).softmax(dim=-1)
    return _back(P, _softmax_back(P, dO @ V.T), Q, K, dO)


def empty_rows_become_even(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """a query that may attend to nothing came out with even weights, since you hid with a large negative number. It has no
    weights, and nothing flows back through it."""
    P = (Q @ K.T / Q.shape[1] ** 0.5).masked_fill(~keep, -1e9).softmax(dim=-1)
    return _back(P, _softmax_back(P, dO @ V.T), Q, K, dO)


@equivalent("where a place is hidden P is exactly 0, and dS = P * (...) is 0 there already: masking it changes nothing")
def masks_the_scores_gradient(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """you set the gradient of hidden scores to zero once more."""
    P = _forward(Q, K, keep)
    return _back(P, _softmax_back(P, dO @ V.T).masked_fill(~keep, 0), Q, K, dO)


def exponentials_on_the_way_back(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """large scores come out as NaN: e to a score of 1000 is more than a computer can hold. PyTorch's softmax subtracts the
    largest score of each row first, and the weights are the same."""
    P = _plain_exponentials(Q @ K.T / math.sqrt(Q.shape[1]), keep)
    return _back(P, _softmax_back(P, dO @ V.T), Q, K, dO)


def attention_back_by_steps(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    scale = 1 / math.sqrt(K.shape[-1])
    P = torch.where(keep, (Q * scale) @ K.mT, -torch.inf).softmax(dim=1)
    P = torch.where(keep.any(dim=1, keepdim=True), P, 0.0)
    dP = dO @ V.mT
    dS = scale * P * (dP - (dP * P).sum(dim=1, keepdim=True))
    return dS @ K, dS.mT @ Q, P.mT @ dO


def attention_back_by_einsum(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    P = _forward(Q, K, keep)
    dS = _softmax_back(P, torch.einsum("nv,mv->nm", dO, V)) / math.sqrt(Q.shape[1])
    return torch.einsum("nm,mk->nk", dS, K), torch.einsum("nm,nk->mk", dS, Q), torch.einsum("nm,nv->mv", P, dO)


def attention_back_by_outputs(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    """The row sum of P * dP is that of dO * O, which is how fused kernels do it (Dao et al., FlashAttention, 2022)."""
    P = _forward(Q, K, keep)
    dS = P * (dO @ V.T - (dO * (P @ V)).sum(dim=1, keepdim=True))
    return _back(P, dS, Q, K, dO)


def attention_back_by_autograd(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    q, k, v = (Z.detach().clone().requires_grad_() for Z in (Q, K, V))
    return torch.autograd.grad(_forward(q, k, keep) @ v, (q, k, v), dO)  # type: ignore[return-value]


def attention_back_calling_softmax_backward(Q: T, K: T, V: T, keep: T, dO: T) -> Three:
    P = _forward(Q, K, keep)
    return _back(P, softmax_backward(P, dO @ V.T), Q, K, dO)


def _way_back(
    rng: np.random.Generator, n: int, m: int, k: int, v: int, keep: np.ndarray | None = None, **how: Any
) -> Case:
    Q, K, V, dO = (_tensor(rng, *shape, scale=1.5, **how) for shape in ((n, k), (m, k), (m, v), (n, v)))
    return case(Q, K, V, TensorValue(_choices(rng, n, m) if keep is None else keep), dO)


def _ways_back(rng: np.random.Generator) -> list[Case]:
    n, m, k, v = sizes(rng, 4, 3, 7)
    return [_way_back(rng, n, m, k, v), _way_back(rng, v, k, m, n)]


def _square_ways_back(rng: np.random.Generator) -> list[Case]:
    s, k, v = sizes(rng, 3, 3, 6)
    return [
        _way_back(rng, s, s, k, v, lower_triangle(s)),  # n = m: P, dS and their transposes fit alike
        _way_back(rng, k, s, v, s),  # m = v: dO @ V runs
        _way_back(rng, s, s, s, s, lower_triangle(s)),
    ]


def _empty_rows_on_the_way_back(rng: np.random.Generator) -> list[Case]:
    n, m, k, v = sizes(rng, 4, 3, 7)
    one_empty = lower_triangle(m)
    one_empty[rng.integers(1, m - 1)] = False
    return [_way_back(rng, m, m, k, v, one_empty), _way_back(rng, n, m, k, v, np.zeros((n, m), bool))]


def _ways_back_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, m, k, v = sizes(rng, 4, 3, 7)
    return [
        _way_back(rng, 1, m, k, v),
        _way_back(rng, n, m, 1, 1),
        _far_up(_way_back(rng, n, m, k, v)),
        _way_back(rng, n, m, k, v, dtype="float32"),
        _way_back(rng, n, m, k, v, order="strided"),
    ]


def _far_up(drawn: Case) -> Case:
    """The same scores, all of them higher by more than a thousand: weights stay as they are, exponentials do not."""
    Q, K, *rest = drawn.arguments
    q, k = (np.hstack([np.full((len(table), 1), 80.0), table]) for table in map(bare, (Q, K)))
    return case(TensorValue(q), TensorValue(k), *rest)


def _small_way_back(seed: int, n: int, m: int, k: int, v: int, keep: Any, dtype: str = "float64") -> Case:
    rng = np.random.default_rng(seed)
    shapes = ((n, k), (m, k), (m, v), (n, v))
    Q, K, V, dO = (TensorValue(np.round(1.5 * rng.standard_normal(shape), 1).astype(dtype)) for shape in shapes)
    return case(Q, K, V, TensorValue(np.array(keep, bool)), dO)


ATTENTION_BACKWARD = Exercise(
    oracle=attention_backward,
    notebook=NOTEBOOK,
    public=(
        case(
            _value([[4.0, 0.0, 0.0, 0.0]]),
            _value([[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]),
            _value([[1.0], [3.0]]),
            TensorValue(np.ones((1, 2), bool)),
            _value([[1.0]]),
        ),
        _small_way_back(1, 2, 3, 4, 1, [[True, False, True], [False, True, True]]),
        _small_way_back(2, 3, 3, 2, 2, lower_triangle(3)),
        _small_way_back(3, 3, 2, 4, 5, [[True, True], [False, False], [False, True]]),
        _small_way_back(4, 2, 2, 2, 2, lower_triangle(2), "float32"),
        _small_way_back(5, 2, 4, 3, 4, [[True, True, False, True], [True, False, True, True]]),
        _far_up(_small_way_back(6, 2, 3, 1, 1, [[True, False, True], [True, True, True]])),
    ),
    probes=(
        Probe("all three gradients, all sizes different", 2.5, _ways_back),
        Probe("the same where sizes coincide and other products would run", 1.0, _square_ways_back),
        Probe("nothing flows back through a query that may attend to nothing", 1.0, _empty_rows_on_the_way_back),
        Probe(
            "a single query, widths of 1, scores in the thousands, float32, and tensors that are not contiguous",
            0.5,
            _ways_back_at_the_edge,
        ),
    ),
    mistakes=(
        exponentials_on_the_way_back,
        no_row_sum_in_between,
        softmax_skipped,
        softmax_skipped_and_hidden,
        weights_and_their_gradient_exchanged,
        scores_for_weights,
        bare_scores_for_weights,
        missing_scale,
        scale_on_queries_only,
        missing_scale_forward,
        no_scale_at_all,
        width_for_its_root,
        width_for_its_root_on_the_way_back,
        root_of_the_values_width,
        last_gradient_first,
        gradients_as_they_were_made,
        keys_before_queries,
        queries_and_keys_exchanged,
        weights_without_the_mask,
        masks_too_late,
        hides_what_is_kept,
        values_by_rows_of_weights,
        keys_by_rows_of_scores,
        values_not_turned,
        values_gradient_of_values,
        empty_rows_become_nan,
        empty_rows_become_even,
        masks_the_scores_gradient,
    ),
    variants=(
        attention_back_by_steps,
        attention_back_by_einsum,
        attention_back_by_outputs,
        attention_back_by_autograd,
        attention_back_calling_softmax_backward,
    ),
    uses=("softmax_backward",),
)


# --------------------------------------------------------------------------------------------------- fused


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
                rows.append(_attend(q[item, head, i], k[item, head, places], v[item, head, places]))
    return torch.stack(rows).reshape(b, h, n, v.shape[-1])


_sdpa = torch.nn.functional.scaled_dot_product_attention


def inverted_mask(q: T, k: T, v: T, keep: T) -> T:
    """the mask is turned round. Here as in this PyTorch function True means: takes part. (In some of PyTorch's other
    parts, as in many programs, True means: hidden.)"""
    return _sdpa(q, k, v, attn_mask=~keep)


def scaled_twice(q: T, k: T, v: T, keep: T) -> T:
    """you divided the queries by √k, and PyTorch's function divides by it again."""
    return _sdpa(q / q.shape[-1] ** 0.5, k, v, attn_mask=keep)


def scale_switched_off(q: T, k: T, v: T, keep: T) -> T:
    """the scores are not scaled: you switched it off, with scale=1. Left alone, the function divides by √k itself."""
    return _sdpa(q, k, v, attn_mask=keep, scale=1.0)


def scaled_by_hand(q: T, k: T, v: T, keep: T) -> T:
    """you gave √k as the scale. That number is multiplied with, not divided by; left alone, the function does the right
    thing."""
    return _sdpa(q, k, v, attn_mask=keep, scale=q.shape[-1] ** 0.5)


def mask_forgotten(q: T, k: T, v: T, keep: T) -> T:
    """every query attends to every key, whatever keep says: you did not hand the mask on."""
    return _sdpa(q, k, v)


def causal_for_keep(q: T, k: T, v: T, keep: T) -> T:
    """you asked for is_causal instead of handing keep on. The mask may be any, and a triangle is only one of them."""
    return _sdpa(q, k, v, is_causal=True)


def mask_of_numbers(q: T, k: T, v: T, keep: T) -> T:
    """you made numbers of the mask. A mask of numbers is *added* to the scores: 1 where keep is True and 0 where it is
    not, which is a mild preference and hides nothing. Hand over booleans."""
    return _sdpa(q, k, v, attn_mask=keep.to(q.dtype))


def even_where_empty(q: T, k: T, v: T, keep: T) -> T:
    """a query that may attend to nothing got the plain mean of the values: you made a mask of large negative numbers to
    be added, and where all scores are equally low softmax shares evenly. Hand over the booleans themselves."""
    return _sdpa(q, k, v, attn_mask=torch.zeros_like(keep, dtype=q.dtype).masked_fill(~keep, -1e9))


def nan_where_empty(q: T, k: T, v: T, keep: T) -> T:
    """a query that may attend to nothing came out as NaN. It should get zeros. (PyTorch's own function, given booleans,
    sees to that.)"""
    return (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~keep, -torch.inf).softmax(dim=-1) @ v


def mask_squeezed(q: T, k: T, v: T, keep: T) -> T:
    """you took the axis of length 1 out of the mask. From the right, [b, n, m] lines up with [h, n, m]: item 0's mask goes
    to head 0, item 1's to head 1. With b = h that runs in silence. The 1 is there to stand for all heads."""
    return _sdpa(q, k, v, attn_mask=keep.squeeze())


def heads_for_tokens(q: T, k: T, v: T, keep: T) -> T:
    """you exchanged the axes of heads and tokens before the call. This function wants [b, h, n, k]: the last two axes are
    tokens and features, and your tensors come that way."""
    return _sdpa(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), attn_mask=keep).transpose(1, 2)


def tokens_before_heads(q: T, k: T, v: T, keep: T) -> T:
    """your result is [b, n, h, v]: you brought the tokens in front of the heads. The heads are not to be joined here."""
    return _sdpa(q, k, v, attn_mask=keep).transpose(1, 2)


def heads_joined(q: T, k: T, v: T, keep: T) -> T:
    """you joined the heads, [b, n, h*v]. That is the step after this one."""
    return _sdpa(q, k, v, attn_mask=keep).transpose(1, 2).flatten(2)


def keys_turned(q: T, k: T, v: T, keep: T) -> T:
    """you turned the keys before the call. The function does that itself: it wants them as [b, h, m, k]."""
    return _sdpa(q, k.transpose(-2, -1), v, attn_mask=keep)


def values_and_keys_exchanged(q: T, k: T, v: T, keep: T) -> T:
    """you handed values over as keys and keys as values. The order is query, key, value."""
    return _sdpa(q, v, k, attn_mask=keep)


def fused_without_history(q: T, k: T, v: T, keep: T) -> T:
    """the numbers are right, but queries, keys and values were detached (or .data was used), so no gradient reaches what
    they were made of. Hand them over as they are."""
    return _sdpa(q.detach(), k.detach(), v.detach(), attn_mask=keep)


def by_hand_with_plain_exponentials(q: T, k: T, v: T, keep: T) -> T:
    """this is attention by hand, and large scores come out as NaN: e to a score of 1000 is more than a computer can hold.
    PyTorch's own function takes care of that."""
    return _plain_exponentials(_scores(q, k), keep) @ v


def fused_plainly(q: T, k: T, v: T, keep: T) -> T:
    return _sdpa(q, k, v, attn_mask=keep)


def fused_with_the_scale_said(q: T, k: T, v: T, keep: T) -> T:
    return _sdpa(q, k, v, keep, 0.0, False, scale=1 / math.sqrt(q.size(-1)))


def fused_by_adding(q: T, k: T, v: T, keep: T) -> T:
    return _sdpa(q, k, v, attn_mask=torch.zeros_like(keep, dtype=q.dtype).masked_fill(~keep, -torch.inf))


def fused_by_hand(q: T, k: T, v: T, keep: T) -> T:
    return _weights(_scores(q, k), keep) @ v


def fused_with_a_guard(q: T, k: T, v: T, keep: T) -> T:
    return _sdpa(q, k, v, attn_mask=keep.expand(*q.shape[:3], k.shape[2])).masked_fill(~keep.any(-1, keepdim=True), 0)


def _heads(
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
    Q, K, V = (_tensor(rng, *shape, scale=size, **how) for shape in shapes)
    return Q, K, V, TensorValue(keep)


def _all_heads(rng: np.random.Generator) -> list[Case]:
    b, h, n, m, k, v = sizes(rng, 6, 2, 7)
    masks = (
        random_keep(rng, n, m),
        random_keep(rng, b, 1, n, m),
        random_keep(rng, b, h, n, m),
        random_keep(rng, 1, 1, n, m),
    )
    return [case(*_heads(rng, b, h, n, m, k, v, keep)) for keep in masks]


def _heads_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    s, m, k, v = sizes(rng, 4, 2, 6)
    return [
        case(*_heads(rng, s, s, m, k, v, v, random_keep(rng, s, 1, m, k))),  # b = h, k = v
        case(*_heads(rng, m, s, s, s, k, v, random_keep(rng, s, s))),  # h = n = m
        case(*_heads(rng, m, v, s, s, k, k, lower_triangle(s))),
        case(*_heads(rng, m, v, s, k, k, v, random_keep(rng, s, k))),  # m = k: turned keys fit
    ]


def _heads_with_nothing_to_see(rng: np.random.Generator) -> list[Case]:
    b, h, n, m, k, v = sizes(rng, 6, 2, 7)
    keep = random_keep(rng, b, 1, n, m)
    keep[rng.integers(b), 0, rng.integers(n)] = False
    none = np.zeros((n, m), bool)
    return [
        case(*_heads(rng, b, h, n, m, k, v, keep)),
        case(*_heads(rng, b, h, n, m, k, k, keep)),
        case(*_heads(rng, b, h, n, m, k, v, none)),
    ]


def _heads_at_the_edge(rng: np.random.Generator) -> list[Case]:
    b, h, n, m, k, v = sizes(rng, 6, 2, 7)
    keep = random_keep(rng, n, m)
    return [
        case(*_heads(rng, 1, 1, 1, m, k, v, random_keep(rng, 1, m))),
        case(*_heads(rng, b, h, n, m, k, v, keep, dtype="float32")),
        case(*_heads(rng, b, h, n, m, k, k, keep, dtype="float32")),
        case(*_heads(rng, b, h, n, m, k, v, keep, size=60.0)),
        case(*_heads(rng, b, h, n, m, k, v, keep, order="strided")),
    ]


def _heads_to_learn_from(rng: np.random.Generator) -> list[Case]:
    b, h, n, m, k, v = sizes(rng, 6, 3, 8)
    widths = ((k, v), (k, k))
    drawn = (_heads(rng, b, h, n, m, *each, _choices(rng, n, m)) for each in widths)
    return [
        case(dict(zip("qkv", tables, strict=True)) | {"keep": keep}, harness="gradients") for *tables, keep in drawn
    ]


def _few_heads(seed: int, b: int, h: int, n: int, m: int, k: int, v: int, keep: Any, dtype: str = "float64") -> Any:
    rng = np.random.default_rng(seed)
    shapes = ((b, h, n, k), (b, h, m, k), (b, h, m, v))
    Q, K, V = (TensorValue(np.round(1.5 * rng.standard_normal(shape), 1).astype(dtype)) for shape in shapes)
    return Q, K, V, TensorValue(np.array(keep, bool))


FUSED = Exercise(
    oracle=fused,
    notebook=NOTEBOOK,
    public=(
        case(*_few_heads(1, 1, 1, 2, 3, 4, 2, [[True, False, True], [True, True, False]])),
        case(*_few_heads(2, 1, 2, 3, 3, 2, 2, lower_triangle(3))),
        case(*_few_heads(3, 2, 2, 2, 3, 1, 1, [[[[1, 0, 1], [1, 1, 0]]], [[[0, 0, 0], [0, 1, 1]]]])),
        case(*_few_heads(4, 1, 2, 2, 2, 3, 1, [[1, 1], [0, 1]])),
        case(
            _value([[[[40.0], [30.0]]]]),
            _value([[[[30.0], [20.0]]]]),
            _value([[[[1.0], [2.0]]]]),
            TensorValue(lower_triangle(2)),
        ),
        case(*_few_heads(5, 1, 2, 3, 4, 4, 2, [[1, 0, 1, 1], [1, 1, 0, 1], [0, 1, 0, 0]], "float32")),
        case(
            dict(zip(("q", "k", "v", "keep"), _few_heads(6, 1, 2, 2, 3, 2, 1, [[1, 0, 1], [1, 1, 0]]), strict=True)),
            harness="gradients",
        ),
    ),
    probes=(
        Probe("every head of every item, for masks of every allowed shape", 1.0, _all_heads),
        Probe("the same where sizes coincide (b = h, k = v, too)", 0.5, _heads_where_sizes_coincide),
        Probe("zeros for a query that may attend to nothing", 0.5, _heads_with_nothing_to_see),
        Probe(
            "a single head and query, scores in the thousands, float32, and tensors that are not contiguous",
            0.5,
            _heads_at_the_edge,
        ),
        Probe("gradients flow through to queries, keys and values", 0.5, _heads_to_learn_from),
    ),
    mistakes=(
        by_hand_with_plain_exponentials,
        inverted_mask,
        scaled_twice,
        scale_switched_off,
        scaled_by_hand,
        mask_forgotten,
        causal_for_keep,
        mask_of_numbers,
        even_where_empty,
        nan_where_empty,
        mask_squeezed,
        heads_for_tokens,
        tokens_before_heads,
        heads_joined,
        keys_turned,
        values_and_keys_exchanged,
        fused_without_history,
    ),
    variants=(fused_plainly, fused_with_the_scale_said, fused_by_adding, fused_by_hand, fused_with_a_guard),
)


# ---------------------------------------------------------------------------------------------- load_numpy


def load_numpy(module: Block, params: dict[str, np.ndarray]) -> Block:
    """Every weight of the module written number by number."""
    values = len(params["Wo"])
    keys = (params["Wqkv"].shape[1] - values) // 2
    module.double()
    layers = (
        (module.query, params["Wqkv"][:, :keys]),
        (module.key, params["Wqkv"][:, keys : 2 * keys]),
        (module.value, params["Wqkv"][:, 2 * keys :]),
        (module.output, params["Wo"]),
        (module.widen, params["W1"]),
        (module.narrow, params["W2"]),
    )
    vectors = (
        (module.norm_before_attention.weight, params["gain1"]),
        (module.norm_before_attention.bias, params["bias1"]),
        (module.norm_before_ffn.weight, params["gain2"]),
        (module.norm_before_ffn.bias, params["bias2"]),
        (module.widen.bias, params["b1"]),
        (module.narrow.bias, params["b2"]),
    )
    with torch.no_grad():
        for layer, W in layers:
            for i, j in np.ndindex(W.shape):
                layer.weight[j, i] = float(W[i, j])
        for vector, numbers in vectors:
            for i, number in enumerate(numbers):
                vector[i] = float(number)
    module.train(False)
    return module


def _blocks(params: Arrays) -> Arrays:
    """The weights of queries, keys and values, and the others, by name."""
    width = len(params["Wo"])
    Wq, Wk, Wv = np.split(params["Wqkv"], [(params["Wqkv"].shape[1] - width) // 2, -width], axis=1)
    return {"query": Wq, "key": Wk, "value": Wv, "output": params["Wo"], "widen": params["W1"], "narrow": params["W2"]}


def _vectors(params: Arrays) -> Arrays:
    return {
        "norm_before_attention.weight": params["gain1"],
        "norm_before_attention.bias": params["bias1"],
        "norm_before_ffn.weight": params["gain2"],
        "norm_before_ffn.bias": params["bias2"],
        "widen.bias": params["b1"],
        "narrow.bias": params["b2"],
    }


def _state(params: Arrays) -> Arrays:
    return {f"{name}.weight": W.T for name, W in _blocks(params).items()} | _vectors(params)


def _copied(module: Block, state: Arrays) -> Block:
    """The module with these numbers in it, in their dtype; training mode as it was."""
    module.to(torch.from_numpy(state["output.weight"]).dtype)
    with torch.no_grad():
        for name, array in state.items():
            module.get_parameter(name).copy_(torch.tensor(array))
    return module


def weights_not_transposed(module: Block, params: Arrays) -> Block:
    """you copied the weights as they stand. A Linear computes x @ weight.T: its weight is [out, in], and ours is
    [in, out]. It has to be turned; where it is square, nobody warns you."""
    return _copied(module, {f"{name}.weight": W for name, W in _blocks(params).items()} | _vectors(params)).eval()


def reshaped_for_transposed(module: Block, params: Arrays) -> Block:
    """you reshaped the weights to the shape that a Linear wants. That fits always, and puts nearly every number in a
    wrong place: a reshape keeps the order of the numbers, a transpose exchanges rows and columns."""
    turned = {f"{name}.weight": np.ascontiguousarray(W).reshape(W.shape[::-1]) for name, W in _blocks(params).items()}
    return _copied(module, turned | _vectors(params)).eval()


def turned_where_it_must_be(module: Block, params: Arrays) -> Block:
    """you turned a weight only where its shape did not fit. A square weight fits both ways, and only one of them is
    right: every Linear's weight has to be turned."""
    state = {}
    for name, W in _blocks(params).items():
        fits = tuple(module.get_parameter(f"{name}.weight").shape) == W.shape
        state[f"{name}.weight"] = W if fits else W.T
    return _copied(module, state | _vectors(params)).eval()


def w1_and_w2_exchanged(module: Block, params: Arrays) -> Block:
    """you put W2 into widen and W1 into narrow, as they stand. The shapes fit, which is a trap: a Linear's weight is
    [out, in]. W1 belongs into widen, turned."""
    state = _state(params) | {"widen.weight": params["W2"], "narrow.weight": params["W1"]}
    return _copied(module, state).eval()


def returns_it_as_it_came(module: Block, params: Arrays) -> Block:
    """you returned the module as it came, with the numbers that it was made with, in training mode. Assigning to a name, or
    changing a copy, changes no module: write into its parameters."""
    return module


def numpy_type_for_module(module: Block, params: Arrays) -> Block:
    """you handed the module one of numpy's number types. PyTorch has types of its own; the one that fits an array is that
    of a tensor made of it."""
    module.to(params["Wo"].dtype)  # type: ignore[call-overload]
    return _copied(module, _state(params)).eval()


def dropout_left_on(module: Block, params: Arrays) -> Block:
    """the module is still in training mode, in which dropout sets numbers to zero at random: two calls with the same
    tokens give two answers. Where it is to be used, it has to be told so."""
    return _copied(module, _state(params))


def only_the_top_told(module: Block, params: Arrays) -> Block:
    """you set `training` on the module itself, and the modules inside it keep their own. There is a method that tells
    them all."""
    _copied(module, _state(params)).training = False
    return module


def dropout_of_nothing(module: Block, params: Arrays) -> Block:
    """you set dropout's share to 0. That makes the answers steady, and destroys a setting that the next training needs;
    the module is still in training mode. Change the mode instead."""
    _copied(module, _state(params)).dropout.p = 0.0
    return module


def biases_forgotten(module: Block, params: Arrays) -> Block:
    """the biases of the feed-forward network, b1 and b2, are still those that the module was made with."""
    state = {name: array for name, array in _state(params).items() if name not in ("widen.bias", "narrow.bias")}
    return _copied(module, state).eval()


def norms_forgotten(module: Block, params: Arrays) -> Block:
    """the gains and biases of the two LayerNorms are still those that the module was made with."""
    return _copied(module, {name: array for name, array in _state(params).items() if "norm" not in name}).eval()


def only_the_gains(module: Block, params: Arrays) -> Block:
    """the biases of the two LayerNorms are still those that the module was made with. A LayerNorm's gain is its weight,
    and it has a bias too."""
    state = _state(params)
    return _copied(module, {n: a for n, a in state.items() if not ("norm" in n and n.endswith("bias"))}).eval()


def norms_exchanged(module: Block, params: Arrays) -> Block:
    """gain1 and bias1 went to the LayerNorm in front of the feed-forward network. They belong to the one in front of
    attention."""
    one, two = "norm_before_attention", "norm_before_ffn"
    state = _state(params)
    swapped = {f"{a}.{part}": state[f"{b}.{part}"] for a, b in ((one, two), (two, one)) for part in ("weight", "bias")}
    return _copied(module, state | swapped).eval()


def _exchanged(module: Block, params: Arrays, one: str, other: str) -> Block:
    return _copied(module, _state(params | {one: params[other], other: params[one]})).eval()


def gains_exchanged(module: Block, params: Arrays) -> Block:
    """gain1 and gain2 are exchanged. gain1 belongs to the LayerNorm in front of attention."""
    return _exchanged(module, params, "gain1", "gain2")


def biases_exchanged(module: Block, params: Arrays) -> Block:
    """bias1 and bias2 are exchanged. bias1 belongs to the LayerNorm in front of attention."""
    return _exchanged(module, params, "bias1", "bias2")


def first_gain_and_bias_exchanged(module: Block, params: Arrays) -> Block:
    """gain1 and bias1 are exchanged. A LayerNorm multiplies by its weight and adds its bias."""
    return _exchanged(module, params, "gain1", "bias1")


def second_gain_and_bias_exchanged(module: Block, params: Arrays) -> Block:
    """gain2 and bias2 are exchanged. A LayerNorm multiplies by its weight and adds its bias."""
    return _exchanged(module, params, "gain2", "bias2")


def gain_and_bias_exchanged(module: Block, params: Arrays) -> Block:
    """gain and bias of the LayerNorms are exchanged. A LayerNorm multiplies by its weight and adds its bias."""
    state = _state(params)
    swapped: Arrays = {}
    for norm in ("norm_before_attention", "norm_before_ffn"):
        swapped |= {f"{norm}.weight": state[f"{norm}.bias"], f"{norm}.bias": state[f"{norm}.weight"]}
    return _copied(module, state | swapped).eval()


def queries_and_keys_swapped(module: Block, params: Arrays) -> Block:
    """queries and keys are exchanged. In Wqkv all queries come first, then all keys, then all values."""
    state = _state(params)
    swapped = {"query.weight": state["key.weight"], "key.weight": state["query.weight"]}
    return _copied(module, state | swapped).eval()


def values_first(module: Block, params: Arrays) -> Block:
    """you took the first columns of Wqkv for the values. All queries come first, then all keys, then all values."""
    width, W = len(params["Wo"]), params["Wqkv"]
    Wv, Wq, Wk = np.split(W, [width, width + (W.shape[1] - width) // 2], axis=1)
    return _copied(module, _state(params) | {"query.weight": Wq.T, "key.weight": Wk.T, "value.weight": Wv.T}).eval()


def thirds_of_wqkv(module: Block, params: Arrays) -> Block:
    """you cut Wqkv into three equal parts. That fits only where values are as wide as keys. How wide all values are
    together, Wo tells, and so does the module itself."""
    Wq, Wk, Wv = np.array_split(params["Wqkv"], 3, axis=1)
    return _copied(module, _state(params) | {"query.weight": Wq.T, "key.weight": Wk.T, "value.weight": Wv.T}).eval()


def columns_head_by_head(module: Block, params: Arrays) -> Block:
    """you read the columns of Wqkv as query, key and value of head 0, then of head 1, and so on. Here all queries come
    first, then all keys, then all values."""
    width, h = len(params["Wo"]) // module.h, module.h
    heads = np.split(params["Wqkv"], h, axis=1)
    k = (heads[0].shape[1] - width) // 2
    parts = [
        np.concatenate(part, axis=1) for part in zip(*(np.split(W, [k, 2 * k], axis=1) for W in heads), strict=True)
    ]
    names = ("query.weight", "key.weight", "value.weight")
    return _copied(module, _state(params) | {n: W.T for n, W in zip(names, parts, strict=True)}).eval()


def rounded_to_float32(module: Block, params: Arrays) -> Block:
    """the module is float32, and its weights were rounded to seven digits on the way in; copy_ and load_state_dict do not
    say so. Either the module never became the type of the arrays, or you made float32 tensors of them (torch.Tensor does,
    and so does torch.tensor of a list) and took the type from those."""
    with torch.no_grad():
        for name, array in _state(params).items():
            module.get_parameter(name).copy_(torch.tensor(array))
    return module.eval()


def always_float64(module: Block, params: Arrays) -> Block:
    """the module is float64, also where the weights are float32. It should compute in the number type of the weights."""
    return _copied(module.double(), {name: array.astype(np.float64) for name, array in _state(params).items()}).eval()


def widened_too_late(module: Block, params: Arrays) -> Block:
    """the module is float64, but its weights have only seven right digits: on the way they went through float32, and what
    is rounded stays rounded. Was the module widened before the weights were copied? Do your tensors have the type of the
    arrays? (torch.Tensor makes float32, and so does torch.tensor of a list.)"""
    with torch.no_grad():
        for name, array in _state(params).items():
            module.get_parameter(name).copy_(torch.tensor(array))
    return module.to(torch.from_numpy(params["Wo"]).dtype).eval()


def a_module_of_its_own(module: Block, params: Arrays) -> Block:
    """you filled and returned another module. The one that was handed to you, which the caller may hold in other places
    too, is as it was."""
    import copy

    return _copied(copy.deepcopy(module), _state(params)).eval()


def returns_nothing(module: Block, params: Arrays) -> None:
    """the module is filled, and your function returns None. Its caller wants to go on with what it returns."""
    _copied(module, _state(params)).eval()


def returns_what_loading_says(module: Block, params: Arrays) -> object:
    """you returned what load_state_dict returns, a list of names that did not fit. Its caller wants the module."""
    tensors = {name: torch.tensor(array) for name, array in _state(params).items()}
    return module.to(tensors["output.weight"].dtype).eval().load_state_dict(tensors)


def leaves_it_untouched(module: Block, params: Arrays) -> Block:
    """the module still has the numbers that it was made with. Assigning to a name, or changing a copy, changes no module:
    write into its parameters."""
    return module.to(torch.from_numpy(params["Wo"]).dtype).eval()


def freezes_the_weights(module: Block, params: Arrays) -> Block:
    """the numbers are right, but the weights no longer take part in training: requires_grad is off. A module that is
    evaluated today may go on learning tomorrow."""
    return _copied(module, _state(params)).requires_grad_(False).eval()


def takes_dropout_out(module: Block, params: Arrays) -> Block:
    """you took the dropout out, or set its share to something else. It does nothing in evaluation mode, and it must still
    be there when the module goes back to training."""
    _copied(module, _state(params)).dropout = torch.nn.Identity()  # type: ignore[assignment]
    return module.eval()


def shares_memory(module: Block, params: Arrays) -> Block:
    """the module's weights lie in the caller's own memory: from_numpy copies nothing. When the module learns, the
    caller's arrays change with it. Make copies."""
    module.to(torch.from_numpy(params["Wo"]).dtype)
    for name, array in _state(params).items():
        module.get_parameter(name).data = torch.from_numpy(array)
    return module.eval()


def loaded_by_state(module: Block, params: Arrays) -> Block:
    tensors = {name: torch.tensor(array) for name, array in _state(params).items()}
    module.to(tensors["output.weight"].dtype).load_state_dict(tensors)
    return module.eval()


def loaded_by_copying(module: Block, params: Arrays) -> Block:
    return _copied(module, _state(params)).eval()


def loaded_by_data(module: Block, params: Arrays) -> Block:
    keys = module.query.out_features
    module.query.weight.data = torch.tensor(params["Wqkv"][:, :keys].T)
    module.key.weight.data = torch.tensor(params["Wqkv"][:, keys : 2 * keys].T)
    module.value.weight.data = torch.tensor(params["Wqkv"][:, 2 * keys :].T)
    module.output.weight.data = torch.tensor(params["Wo"].T)
    module.widen.weight.data, module.widen.bias.data = torch.tensor(params["W1"].T), torch.tensor(params["b1"])
    module.narrow.weight.data, module.narrow.bias.data = torch.tensor(params["W2"].T), torch.tensor(params["b2"])
    for norm, i in ((module.norm_before_attention, 1), (module.norm_before_ffn, 2)):
        norm.weight.data, norm.bias.data = torch.tensor(params[f"gain{i}"]), torch.tensor(params[f"bias{i}"])
    return module.eval()


def loaded_as_new_parameters(module: Block, params: Arrays) -> Block:
    for name, array in _state(params).items():
        layer, part = name.rsplit(".", 1)
        setattr(module.get_submodule(layer), part, torch.nn.Parameter(torch.tensor(array)))
    module.eval()
    return module


def loaded_by_assigning(module: Block, params: Arrays) -> Block:
    tensors = {name: torch.from_numpy(array.copy()) for name, array in _state(params).items()}
    module.load_state_dict(tensors, assign=True)
    return module.train(False)


def _block(
    rng: np.random.Generator,
    d: int,
    h: int,
    k: int,
    v: int,
    f: int,
    dropout: float = 0.0,
    dtype: str = "float64",
    digits: int = 12,
) -> Case:
    params = {
        name: np.round(normal(rng, *shape), digits).astype(dtype) for name, shape in shapes(d, h, k, v, f).items()
    }
    n = 5
    X = np.round(normal(rng, 3, n, d, scale=2.0), digits).astype(dtype)
    of = {"d": d, "h": h, "k": k, "v": v, "f": f, "eps": 1e-3, "dropout": dropout}
    return case(of, params, TensorValue(X), TensorValue(lower_triangle(n)), harness="loaded")


def _blocks_of_other_sizes(rng: np.random.Generator) -> list[Case]:
    d, h, k, v, f = sizes(rng, 5, 2, 7)
    return [_block(rng, d, h, k, v, f), _block(rng, f, v, h, k, d)]


def _square_blocks(rng: np.random.Generator) -> list[Case]:
    h, k, f = sizes(rng, 3, 2, 4)
    return [
        _block(rng, h * k, h, k, k, f),  # d = h*k = h*v: the projections are square
        _block(rng, h * k, h, k, k, h * k),  # f, too
    ]


def _blocks_in_float32(rng: np.random.Generator) -> list[Case]:
    d, h, k, v, f = sizes(rng, 5, 2, 7)
    return [_block(rng, d, h, k, v, f, dtype="float32")]


def _blocks_with_dropout(rng: np.random.Generator) -> list[Case]:
    d, h, k, v, f = sizes(rng, 5, 2, 7)
    return [_block(rng, d, h, k, v, f, dropout=0.5)]


LOAD_NUMPY = Exercise(
    oracle=load_numpy,
    notebook=NOTEBOOK,
    public=(
        _block(np.random.default_rng(1), 2, 1, 3, 4, 5, dropout=0.5, digits=2),
        _block(np.random.default_rng(2), 4, 2, 2, 2, 4, digits=2),
        _block(np.random.default_rng(3), 3, 2, 2, 1, 4, dtype="float32", digits=2),
        _block(np.random.default_rng(4), 4, 2, 2, 2, 5),
    ),
    probes=(
        Probe(
            "the module computes what a block with these weights does, all sizes different",
            1.0,
            _blocks_of_other_sizes,
            part="output",
        ),
        Probe("the same where weights are square, and fit turned or not", 0.5, _square_blocks, part="output"),
        Probe("the number type of the weights, float32 too", 0.5, _blocks_in_float32, part="output"),
        Probe("no dropout, so the same output at every call", 0.5, _blocks_with_dropout, part="output"),
        Probe(
            "the module that was given comes back, training mode is over in all its parts, its weights are its own",
            0.5,
            _blocks_with_dropout,
            part="afterwards",
        ),
    ),
    mistakes=(
        weights_not_transposed,
        reshaped_for_transposed,
        turned_where_it_must_be,
        w1_and_w2_exchanged,
        returns_it_as_it_came,
        numpy_type_for_module,
        dropout_left_on,
        only_the_top_told,
        dropout_of_nothing,
        biases_forgotten,
        norms_forgotten,
        only_the_gains,
        norms_exchanged,
        gains_exchanged,
        biases_exchanged,
        first_gain_and_bias_exchanged,
        second_gain_and_bias_exchanged,
        gain_and_bias_exchanged,
        queries_and_keys_swapped,
        values_first,
        thirds_of_wqkv,
        columns_head_by_head,
        rounded_to_float32,
        always_float64,
        widened_too_late,
        a_module_of_its_own,
        returns_nothing,
        returns_what_loading_says,
        leaves_it_untouched,
        freezes_the_weights,
        takes_dropout_out,
        shares_memory,
    ),
    variants=(loaded_by_state, loaded_by_copying, loaded_by_data, loaded_as_new_parameters, loaded_by_assigning),
)


EXERCISES = (MHA_BATCHED, COMBINE_KEEP, SOFTMAX_BACKWARD, ATTENTION_BACKWARD, FUSED, LOAD_NUMPY)
