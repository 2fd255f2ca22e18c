"""Heads put side by side again: [h, n, v] to [n, h * v].

Merging undoes the split, so its steps are taken back in reverse: first head and token change places, `[h, n, v]` to
`[n, h, v]`, then the last two axes are joined. The h·v numbers of a token now lie side by side, those of head 0
first, as the rows of `Wo` expect them. A reshape alone reads all tokens of head 0 before it comes to head 1, and
fills a row with several tokens. The number of entries is right either way, so nothing complains; a table of counted
numbers shows it.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.heads.parts import counted_stacks, stacks_at_the_edge, stacks_of_equal_sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right
from autograder.exercises.parts import counting, merged, pattern


def merge_heads(O: Float[np.ndarray, "h n v"]) -> Float[np.ndarray, "n h*v"]:  # noqa: E741
    """Number x of head i of token t goes to row t, column i * v + x."""
    h, n, v = O.shape
    out = np.zeros((n, h * v))
    for i in range(h):
        for t in range(n):
            for x in range(v):
                out[t, i * v + x] = O[i, t, x]
    return out


PUBLIC = (
    case(np.array([[[1.0, 2.0], [5.0, 6.0], [9.0, 10.0]], [[3.0, 4.0], [7.0, 8.0], [11.0, 12.0]]])),
    case(counting(3, 2, 4, dtype="float32")),
    case(counting(2, 6, 3)),
    case(counting(2, 2, 3)),
    case(counting(3, 3, 3)),
    case(counting(1, 3, 2)),
    case(counting(2, 1, 3)),
    case(counting(2, 3, 1)),
    case(pattern(3, 4, 2, step=3) + counting(3, 4, 2) / 7),
)


@probe(1.0)
def counted_heads(rng: np.random.Generator) -> list[Case]:
    """every number of counted heads, traced to its row and column"""
    return counted_stacks(rng)


@probe(0.5)
def merges(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide, and a wrong order keeps the shape"""
    return stacks_of_equal_sizes(rng)


@probe(0.5)
def merges_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, a single head, heads of width 1, float32, and arrays that are not contiguous"""
    return stacks_at_the_edge(rng)


@mistake
def merged_by_reshape_alone(T: F) -> F:
    """you reshaped to [n, h*v] and exchanged no axes first. Reshape reads on and on: all of head 0, then all of head 1.
    So your first row is filled with several tokens of one head, where it should hold one token from all heads."""
    h, n, v = T.shape
    return T.reshape(n, h * v)


@mistake
def merged_in_the_order_of_the_split(T: F) -> F:
    """you did the two steps of the split in their old order, cut and then exchange. To undo steps, begin with the last: exchange
    heads and tokens first, and join them then."""
    h, n, v = T.shape
    return T.reshape(n, h, v).swapaxes(0, 1).reshape(n, h * v)


@mistake
def merged_in_steps_of_h(T: F) -> F:
    """your head i begins at column i * h. In front of it lie i heads, each v numbers wide."""
    h, n, v = T.shape
    out = np.zeros((n, h * v), T.dtype)
    for i in range(h):
        out[:, i * h : i * h + v] = T[i]
    return out


@mistake
def merged_in_steps_of_h_and_round(T: F) -> F:
    """your head i begins at column i * h. In front of it lie i heads, each v numbers wide; then no column is beyond the
    last, and none has to begin at the left again."""
    h, n, v = T.shape
    out = np.zeros((n, h * v), T.dtype)
    for i in range(h):
        out[:, (i * h + np.arange(v)) % (h * v)] = T[i]
    return out


@mistake
def merged_after_squeezing(T: F) -> F:
    """you removed the axes of length 1 before you put the heads side by side. A single head, a single token and a single feature
    keep their axis: without it, others are joined in its place."""
    return np.hstack(list(T.squeeze()))


@mistake
def merged_like_cards(T: F) -> F:
    """you shuffled the heads into each other: number 0 of every head, then number 1 of every head. All numbers of head 0
    come first, then all of head 1: in a row the head changes slowly and the feature fast."""
    h, n, v = T.shape
    return T.transpose(1, 2, 0).reshape(n, h * v)


@mistake
def merged_one_below_the_other(T: F) -> F:
    """you put the heads one below the other. A token would then have h rows; it should have one, with its heads side by
    side."""
    h, n, v = T.shape
    return T.reshape(h * n, v)


@mistake
def merged_without_joining(T: F) -> F:
    """you returned [n, h, v]: tokens are in front now, which is right. What is missing is to join the last two axes,
    so that each token has one row of h*v numbers."""
    return T.swapaxes(0, 1)


@mistake
def merged_the_wrong_pair(T: F) -> F:
    """you exchanged the last two axes. To have the heads of one token lie next to each other, it is head and token that
    change places."""
    h, n, v = T.shape
    return T.swapaxes(1, 2).reshape(n, h * v)


@mistake
def merged_with_all_axes_reversed(T: F) -> F:
    """you turned the axes round with .T, which reverses all three of them, and reshaped then. Only head and token change
    places; the features stay where they are."""
    h, n, v = T.shape
    return T.T.reshape(n, h * v)


@mistake
def merged_and_turned(T: F) -> F:
    """your table is turned, [h*v, n]: tokens have become columns. A token is a row."""
    h, n, v = T.shape
    return T.swapaxes(1, 2).reshape(h * v, n)


@mistake
def merged_and_turned_back(T: F) -> F:
    """you reshaped to [h*v, n] and turned that. The shape is right; but reshape reads row by row, and a token's numbers
    were cut apart before you turned anything. Exchange first, then join."""
    h, n, v = T.shape
    return T.reshape(h * v, n).T


@mistake
def merged_by_other_names(T: F) -> F:
    """you took the first axis for the tokens. O is [h, n, v], so it is unpacked in this order; your result has a row for
    each head, and should have one for each token."""
    n, h, v = T.shape
    return T.swapaxes(0, 1).reshape(n, h * v)


@mistake
def merged_head_by_head(T: F) -> F:
    """your result has a row for each head, with all its tokens in it. A row belongs to a token, with all its heads in
    it. (O is [h, n, v]: are its sizes unpacked in this order?)"""
    h, n, v = T.shape
    return T.reshape(h, n * v)


@mistake
def merged_by_adding(T: F) -> F:
    """you added the heads up. Then nobody can tell any more what came from which head. Put them side by side."""
    return T.sum(axis=0)


@mistake
def merged_by_averaging(T: F) -> F:
    """you averaged the heads. Then nobody can tell any more what came from which head. Put them side by side."""
    return T.mean(axis=0)


@mistake
def merged_from_last_to_first(T: F) -> F:
    """you put the heads side by side from last to first. Head 0 comes first."""
    return merged(T[::-1])


@mistake
def merged_in_float64(T: F) -> F:
    """the numbers are right, but float32 went in and float64 came out: np.zeros makes float64 unless you tell it the
    type, and astype(float) always does."""
    return merged(T).astype(np.float64)


@mistake
def merged_with_the_feature_in_front(T: F) -> F:
    """you reversed the axes and exchanged the last two, or brought the last one to the front: the shape is
    right, and a row is filled with numbers of the wrong owners. Only the first two change places."""
    h, n, v = T.shape
    return T.transpose(2, 0, 1).reshape(n, h * v)


@mistake
def merged_turned_from_the_exchange(T: F) -> F:
    """you exchanged the right axes, joined the wrong ones and turned the result: the shape is right, and a row
    is filled with numbers of the wrong owners. After the exchange, join the last two axes as they are."""
    h, n, v = T.shape
    return T.swapaxes(0, 1).reshape(h * v, n).T


@mistake
def merged_turned_like_cards(T: F) -> F:
    """you reordered the axes, joined the wrong two and turned the result: the shape is right, and a row is
    filled with numbers of the wrong owners. Tokens come first; then the head, then its numbers."""
    h, n, v = T.shape
    return T.transpose(1, 2, 0).reshape(h * v, n).T


@mistake
def merged_in_the_order_of_columns(T: F) -> F:
    """you reshaped in the order of columns (order="F"), which reads all axes backwards: the shape is right, and
    a row is filled with numbers of the wrong owners. Exchange two axes first, and join as usual."""
    h, n, v = T.shape
    return T.reshape(n, h * v, order="F")


@mistake
def merged_in_one_row(T: F) -> F:
    """everything lies in one row. A row belongs to a token: join the last two axes only."""
    return merged(T).ravel()


@mistake
def merged_with_an_axis_too_many(T: F) -> F:
    """the table is right, and there is an axis too many in front of it, as if there were several texts. Here there are two axes."""
    return merged(T)[None]


@mistake
def merged_squeezed(T: F) -> F:
    """you removed the axes of length 1. A table with a single row or column keeps both axes."""
    return np.squeeze(merged(T))


@mistake
def merged_first_alone(T: F) -> F:
    """this is head 0 alone. All heads belong side by side."""
    return T[0]


@mistake
def merged_two(T: F) -> F:
    """you put two heads side by side, however many there are. O holds h of them."""
    return np.concatenate([T[0], T[-1]], axis=1)


@mistake
def merged_as_many_times(T: F) -> F:
    """all your blocks are those of head 0: is an index stuck at 0?"""
    return np.concatenate([T[0]] * len(T), axis=1)


@mistake
def merged_by_the_largest(T: F) -> F:
    """you took the largest over the heads. Then nobody can tell any more what came from which head. Put them
    side by side."""
    return T.max(axis=0)


@mistake
def merged_in_a_list(T: F) -> list[F]:
    """the rows are right, and they come in a list. Return one array."""
    return list(merged(T))


@mistake
def merged_in_float32(T: F) -> F:
    """float64 went in, and float32 came out: seven digits are left. The dtype stays as it is."""
    return merged(T).astype(np.float32)


@mistake
def merged_with_features_reversed(T: F) -> F:
    """the numbers of each head come from last to first. They stay in their order."""
    return merged(T[:, :, ::-1])


@mistake
def merged_with_rows_reversed(T: F) -> F:
    """the rows come from last to first. They stay in their order."""
    return merged(T[:, ::-1])


@mistake
def merged_into_the_callers_array(T: F) -> F:
    """you gave the caller's own array another shape. It is still needed as it was; and a reshape alone moves no
    number: two axes have to change places first."""
    h, n, v = T.shape
    T.shape = (n, h * v)
    return T


@right
def merge_by_transpose(T: F) -> F:
    return T.transpose(1, 0, 2).reshape(T.shape[1], -1)


@right
def merge_by_concatenating(T: F) -> F:
    return np.concatenate(list(T), axis=1)


@right
def merge_by_filling(T: F) -> F:
    h, n, v = T.shape
    out = np.empty((n, h * v), T.dtype)
    for i in range(h):
        out[:, i * v : (i + 1) * v] = T[i]
    return out


@right
def merge_by_torch(T: F) -> F:
    import torch

    return torch.from_numpy(T.copy()).transpose(0, 1).flatten(1).numpy()


@right
def merge_by_blocks(T: F) -> F:
    return np.block([list(T)])


@right
def merge_by_einsum(T: F) -> F:
    h, n, v = T.shape
    return np.einsum("hnv->nhv", T).reshape(n, h * v)
