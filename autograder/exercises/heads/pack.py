"""The weights of all heads side by side, for one product.

All heads read the same token, so they share the rows, and their columns stand side by side: `[h, d, k]` becomes `[d,
h·k]`. One product with `X` then makes what h products made, and head i is found in the columns from i·k on, where
`split_heads` looks for it. One below the other, the weights would want tokens h times as wide. A reshape without an
exchange of axes reads all of head 0 before head 1, so that a row of it holds several rows of one head.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.heads.parts import counted_stacks, stacks_at_the_edge, stacks_of_equal_sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right
from autograder.exercises.parts import counting, merged, pattern

USES = ("merge_heads",)


def pack(Wq: Float[np.ndarray, "h d k"]) -> Float[np.ndarray, "d h*k"]:
    """Column x of head i's weight becomes column i * k + x."""
    h, d, k = Wq.shape
    out = np.zeros((d, h * k))
    for i in range(h):
        for y in range(d):
            for x in range(k):
                out[y, i * k + x] = Wq[i, y, x]
    return out


PUBLIC = (
    case(np.array([[[1.0], [2.0]], [[10.0], [20.0]], [[100.0], [200.0]]])),
    case(counting(3, 4, 2, dtype="float32")),
    case(counting(2, 6, 3)),
    case(counting(2, 2, 3)),
    case(counting(3, 3, 3)),
    case(counting(1, 3, 2)),
    case(counting(2, 1, 3)),
    case(counting(2, 3, 1)),
    case(pattern(3, 4, 2, step=3) + counting(3, 4, 2) / 7),
)


@probe(1.5)
def counted_heads(rng: np.random.Generator) -> list[Case]:
    """every column of a counted weight, traced to its head"""
    return counted_stacks(rng)


@probe(1.0)
def merges(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide, and a wrong order keeps the shape"""
    return stacks_of_equal_sizes(rng)


@probe(0.5)
def merges_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """tokens of width 1, a single head, heads of width 1, float32, and arrays that are not contiguous"""
    return stacks_at_the_edge(rng)


@mistake
def packed_by_reshape_alone(W: F) -> F:
    """you reshaped to [d, h*k] and nothing else. The shape is right; but reshape reads on and on, all of head 0's weight
    first, so your first row is made of several rows of one head. Row y should hold row y of every head."""
    h, d, k = W.shape
    return W.reshape(d, h * k)


@mistake
def packed_on_rows(W: F) -> F:
    """you put the weights one below the other. A product with that would want tokens h times as wide. All heads read the
    same token: they share the rows, and their columns stand side by side."""
    h, d, k = W.shape
    return W.reshape(h * d, k)


@mistake
def packed_like_cards(W: F) -> F:
    """you shuffled the columns: column 0 of every head, then column 1 of every head. All columns of head 0 come first,
    then all of head 1, or your split_heads would cut in the wrong places."""
    h, d, k = W.shape
    return W.transpose(1, 2, 0).reshape(d, h * k)


@mistake
def packed_and_turned(W: F) -> F:
    """your weight is turned, [h*k, d]. Some libraries store it so. Here a weight multiplies rows from the right: its
    rows belong to the features of a token, d of them."""
    h, d, k = W.shape
    return W.swapaxes(1, 2).reshape(h * k, d)


@mistake
def packed_and_turned_back(W: F) -> F:
    """you reshaped to [h*k, d] and turned that. The shape is right; but reshape reads row by row, and cuts the rows of a
    weight apart before you turn anything."""
    h, d, k = W.shape
    return W.reshape(h * k, d).T


@mistake
def packed_by_other_names(W: F) -> F:
    """you took the first axis for the features of a token. Wq is [h, d, k], so it is unpacked in this order; your result
    has a row for each head, and should have one for each feature of a token."""
    d, h, k = W.shape
    return W.swapaxes(0, 1).reshape(d, h * k)


@mistake
def packed_by_adding(W: F) -> F:
    """you added the weights of the heads. A product with that gives the sum of their queries, and no head can get its own
    back."""
    return W.sum(axis=0)


@mistake
def packed_in_reverse(W: F) -> F:
    """you put the last head first. Head 0 has the first columns."""
    return merged(W[::-1])


@mistake
def packed_without_joining(W: F) -> F:
    """you returned [d, h, k]: the rows are shared now, which is right. What is missing is to join the last two axes, so
    that X @ W makes one row of h*k numbers for each token."""
    return W.swapaxes(0, 1)


@mistake
def packed_the_wrong_pair(W: F) -> F:
    """you exchanged the last two axes. To have row y of every head lie side by side, it is the head and the row that change
    places."""
    h, d, k = W.shape
    return W.swapaxes(1, 2).reshape(d, h * k)


@mistake
def packed_with_all_axes_reversed(W: F) -> F:
    """you turned the axes round with .T, which reverses all three, and reshaped then. Only the head and the row change
    places."""
    h, d, k = W.shape
    return W.T.reshape(d, h * k)


@mistake
def packed_as_blocks(W: F) -> F:
    """you put the weights along a diagonal, with zeros around them, as if each head read a part of the token of its own.
    Every head reads the whole token, all d numbers of it."""
    h, d, k = W.shape
    out = np.zeros((h * d, h * k), W.dtype)
    for i in range(h):
        out[i * d : (i + 1) * d, i * k : (i + 1) * k] = W[i]
    return out


@mistake
def packed_in_float64(W: F) -> F:
    """the numbers are right, but float32 went in and float64 came out: np.zeros makes float64 unless you tell it the
    type, and astype(float) always does."""
    return merged(W).astype(np.float64)


@mistake
def packed_with_the_feature_in_front(W: F) -> F:
    """you reversed the axes and exchanged the last two, or brought the last one to the front: the shape is
    right, and a row is filled with numbers of the wrong owners. Only the first two change places."""
    h, d, k = W.shape
    return W.transpose(2, 0, 1).reshape(d, h * k)


@mistake
def packed_turned_from_the_exchange(W: F) -> F:
    """you exchanged the right axes, joined the wrong ones and turned the result: the shape is right, and a row
    is filled with numbers of the wrong owners. After the exchange, join the last two axes as they are."""
    h, d, k = W.shape
    return W.swapaxes(0, 1).reshape(h * k, d).T


@mistake
def packed_turned_like_cards(W: F) -> F:
    """you reordered the axes, joined the wrong two and turned the result: the shape is right, and a row is
    filled with numbers of the wrong owners. Rows come first; then the head, then its numbers."""
    h, d, k = W.shape
    return W.transpose(1, 2, 0).reshape(h * k, d).T


@mistake
def packed_in_the_order_of_columns(W: F) -> F:
    """you reshaped in the order of columns (order="F"), which reads all axes backwards: the shape is right, and
    a row is filled with numbers of the wrong owners. Exchange two axes first, and join as usual."""
    h, d, k = W.shape
    return W.reshape(d, h * k, order="F")


@mistake
def packed_in_one_row(W: F) -> F:
    """everything lies in one row. A row belongs to a feature of a token: join the last two axes only."""
    return merged(W).ravel()


@mistake
def packed_with_an_axis_too_many(W: F) -> F:
    """the table is right, and there is an axis too many in front of it, as if there were several tables. Here there are two axes."""
    return merged(W)[None]


@mistake
def packed_squeezed(W: F) -> F:
    """you removed the axes of length 1. A table with a single row or column keeps both axes."""
    return np.squeeze(merged(W))


@mistake
def packed_first_alone(W: F) -> F:
    """this is the weight of head 0 alone. All heads belong side by side."""
    return W[0]


@mistake
def packed_two(W: F) -> F:
    """you put the weights of two heads side by side, however many there are. Wq holds h of them."""
    return np.concatenate([W[0], W[-1]], axis=1)


@mistake
def packed_as_many_times(W: F) -> F:
    """all your blocks are those of head 0: is an index stuck at 0?"""
    return np.concatenate([W[0]] * len(W), axis=1)


@mistake
def packed_first_twice(W: F) -> F:
    """head 0 stands there twice: the table begins with it, and then all heads are added to it, head 0 once more."""
    return np.concatenate([W[0], *W], axis=1)


@mistake
def packed_as_wide_as_a_token(W: F) -> F:
    """you gave the table d columns, as if all heads together were as wide as a token. Most models are built so, and nothing forces them
    to: h heads of k columns make h*k."""
    _, d, _ = W.shape
    return W.swapaxes(0, 1).reshape(d, d)


@mistake
def packed_by_the_largest(W: F) -> F:
    """you took the largest over the heads. Then nobody can tell any more what came from which head. Put them
    side by side."""
    return W.max(axis=0)


@mistake
def packed_in_a_list(W: F) -> list[F]:
    """the rows are right, and they come in a list. Return one array."""
    return list(merged(W))


@mistake
def packed_in_float32(W: F) -> F:
    """float64 went in, and float32 came out: seven digits are left. The dtype stays as it is."""
    return merged(W).astype(np.float32)


@mistake
def packed_with_features_reversed(W: F) -> F:
    """the numbers of each head come from last to first. They stay in their order."""
    return merged(W[:, :, ::-1])


@mistake
def packed_with_rows_reversed(W: F) -> F:
    """the rows come from last to first. They stay in their order."""
    return merged(W[:, ::-1])


@mistake
def packed_into_the_callers_array(W: F) -> F:
    """you gave the caller's own array another shape. It is still needed as it was; and a reshape alone moves no
    number: two axes have to change places first."""
    h, d, k = W.shape
    W.shape = (d, h * k)
    return W


@right
def pack_by_transpose(W: F) -> F:
    return W.transpose(1, 0, 2).reshape(W.shape[1], -1)


@right
def pack_by_concatenating(W: F) -> F:
    return np.concatenate(list(W), axis=1)


@right
def pack_by_hstack(W: F) -> F:
    return np.hstack([W[i] for i in range(len(W))])


@right
def pack_by_torch(W: F) -> F:
    import torch

    return torch.cat(list(torch.from_numpy(W.copy())), dim=1).numpy()


@right
def pack_by_blocks(W: F) -> F:
    return np.block([list(W)])


@right
def pack_by_einsum(W: F) -> F:
    h, d, k = W.shape
    return np.einsum("hnv->nhv", W).reshape(d, h * k)
