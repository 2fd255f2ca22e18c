"""One wide table cut into heads: [n, h * k] to [h, n, k].

In a row of `Z` the head changes slowly and the feature fast, so `reshape(n, h, -1)` cuts each row into neighbours and
moves no number. Then head and token change places, `[n, h, k]` to `[h, n, k]`, and every number keeps its owner. A
reshape straight to `[h, n, k]` has the same shape and reads on row by row: of 3 tokens and 2 heads, head 0 gets all
of token 0 and half of token 1. The width is what remains when the columns are dealt to h heads, and a shape wants it
as a whole number, with `//` or −1.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right
from autograder.exercises.parts import counting, pattern


def split_heads(Z: Float[np.ndarray, "n e"], h: int) -> Float[np.ndarray, "h n k"]:
    """Entry (i, t, x) is number x of head i of token t, which stands in column i * k + x of row t."""
    n, k = len(Z), Z.shape[1] // h
    out = np.zeros((h, n, k))
    for i in range(h):
        for t in range(n):
            for x in range(k):
                out[i, t, x] = Z[t, i * k + x]
    return out


PUBLIC = (
    case(np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]), 2),
    case(counting(2, 6, dtype="float32"), 2),
    case(counting(4, 6), 2),
    case(counting(5, 12), 3),
    case(counting(1, 6), 3),
    case(counting(4, 3), 3),
    case(counting(3, 5), 1),
    case(pattern(5, 8, step=3) + counting(5, 8) / 7, 2),
)


def _three(rng: np.random.Generator) -> tuple[int, int, int]:
    """Sizes n, k and h, no two alike, and more than two heads: two is what somebody may have fixed."""
    n, k, h = sizes(rng, 3, 2, 6)
    return (n, k, h) if h > 2 else (h, k, n)


@probe(1.5)
def counted_tables(rng: np.random.Generator) -> list[Case]:
    """every number of a counted table, traced to its head, token and feature"""
    n, k, h = _three(rng)
    return [case(counting(n, h * k), h), case(counting(k, h * n), h)]


@probe(1.0)
def splits(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide, and a wrong order keeps the shape"""
    n, k, h = _three(rng)
    return [
        case(normal(rng, n, h * k), h),
        case(normal(rng, h, h * k), h),  # n = h: [n, h, k] has the right shape
        case(normal(rng, n, h * h), h),  # k = h: the number of heads passes for their width
        case(normal(rng, k, h * k), h),  # n = k: tables may be turned
        case(normal(rng, 2 * h, h * k), h),
        case(normal(rng, h, h * h), h),
    ]


@probe(0.5)
def splits_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, a single head, heads of width 1, float32, and arrays that are not contiguous"""
    n, k, h = _three(rng)
    return [
        case(normal(rng, 1, h * k), h),
        case(normal(rng, n, k), 1),
        case(normal(rng, n, h), h),  # heads of width 1
        case(normal(rng, n, h * k, dtype="float32"), h),
        case(normal(rng, n, h * k, order="F"), h),
        case(normal(rng, n, h * k, order="strided"), h),
    ]


@mistake
def reshaped_at_once(Z: F, h: int) -> F:
    """you reshaped to [h, n, k] in one go. The shape is right, and the numbers are dealt to the wrong owners: reshape
    reads row by row and knows nothing of tokens, so head 0 gets all heads of the first tokens."""
    return Z.reshape(h, len(Z), -1)


@mistake
def every_hth_column(Z: F, h: int) -> F:
    """you gave head 0 every h-th column. The columns of one head lie next to each other: in a row the head changes
    slowly and the feature fast, so the head is the axis to the left."""
    return Z.reshape(len(Z), -1, h).transpose(2, 0, 1)


@mistake
def count_and_width_exchanged(Z: F, h: int) -> F:
    """you have exchanged how many heads there are and how wide a head is: h is the number of heads, and the width is
    what remains when e is divided by it."""
    return Z.reshape(len(Z), -1, h).swapaxes(0, 1)


@mistake
def tokens_still_in_front(Z: F, h: int) -> F:
    """you returned [n, h, k]: for each token its heads. That is half of the way. Attention wants for each head its
    tokens: the head has to come first. (If you did exchange them: swapaxes leaves its array as it is, and returns
    another.)"""
    return Z.reshape(len(Z), h, -1)


@mistake
def tokens_and_features_exchanged(Z: F, h: int) -> F:
    """you exchanged the last two axes, [n, h, k] to [n, k, h]. It is token and head that change places, and these are the
    first two."""
    return Z.reshape(len(Z), h, -1).swapaxes(1, 2)


@mistake
def heads_stand_up(Z: F, h: int) -> F:
    """your tables are turned: for each head [k, n], with tokens as columns. A token stays a row."""
    return Z.reshape(len(Z), h, -1).transpose(1, 2, 0)


@mistake
def all_axes_reversed(Z: F, h: int) -> F:
    """you turned the three axes round with .T, which reverses them all, to [k, h, n]. Only two of them change places."""
    return Z.reshape(len(Z), h, -1).T


@mistake
def turned_then_reshaped(Z: F, h: int) -> F:
    """you turned the table first and reshaped it then. After turning, a row holds one feature of all tokens, and
    reshape cuts it up as if it were one token's features."""
    return Z.T.reshape(h, len(Z), -1)


@mistake
def tokens_split_up(Z: F, h: int) -> F:
    """you split the rows, so that each head gets some of the tokens. Each head sees all tokens, and of each token some
    of the columns."""
    return np.array(np.split(Z, h))


@mistake
def list_of_tables(Z: F, h: int) -> list[F]:
    """the tables are right, and they come in a list. One array with three axes is wanted, so that one product can serve
    all heads."""
    return np.split(Z, h, axis=1)


@mistake
def heads_in_reverse(Z: F, h: int) -> F:
    """your heads come in reverse order. Head 0 has the first columns."""
    return Z.reshape(len(Z), h, -1).swapaxes(0, 1)[::-1]


@mistake
def split_in_float64(Z: F, h: int) -> F:
    """the numbers are right, but float32 went in and float64 came out: np.zeros makes float64 unless you tell it the
    type, and astype(float) always does."""
    out = np.zeros((h, len(Z), Z.shape[1] // h))
    out[:] = Z.reshape(len(Z), h, -1).swapaxes(0, 1)
    return out


@mistake
def cut_with_the_head_in_front(Z: F, h: int) -> F:
    """you cut to [h, k, n] first and exchanged then: the shape is right, and the numbers are dealt to the wrong owners. A reshape may
    only cut a row into neighbours, and what stands first in its shape is read slowest: the token."""
    return Z.reshape(h, -1, len(Z)).swapaxes(1, 2)


@mistake
def cut_with_the_feature_in_front(Z: F, h: int) -> F:
    """you cut to [k, n, h] first: the shape is right, and the numbers are dealt to the wrong owners. A reshape
    may only cut a row into neighbours, [n, h*k] to [n, h, k]: the token is read slowest."""
    return Z.reshape(-1, len(Z), h).transpose(2, 1, 0)


@mistake
def cut_with_feature_and_head_in_front(Z: F, h: int) -> F:
    """you cut to [k, h, n] first: the shape is right, and the numbers are dealt to the wrong owners. A reshape
    may only cut a row into neighbours, [n, h*k] to [n, h, k]: the token is read slowest."""
    return Z.reshape(-1, h, len(Z)).transpose(1, 2, 0)


@mistake
def turned_and_cut_with_the_token_between(Z: F, h: int) -> F:
    """you turned the table before you cut it: the shape is right, and the numbers are dealt to the wrong owners. After turning, a
    row holds one feature of all tokens. Cut the rows as they stand in Z, and exchange axes afterwards."""
    return Z.T.reshape(-1, len(Z), h).transpose(2, 1, 0)


@mistake
def turned_and_cut_with_the_token_in_front(Z: F, h: int) -> F:
    """you turned the table and then cut it as if it had not been turned: the shape is right, and the numbers
    are dealt to the wrong owners. Its rows are features then, and no longer tokens."""
    return Z.T.reshape(len(Z), h, -1).swapaxes(0, 1)


@mistake
def joined_again(Z: F, h: int) -> F:
    """your tables lie one below the other, in one table. Attention wants them as a stack, with an axis that
    counts the heads: [h, n, k]."""
    return Z.reshape(len(Z), h, -1).swapaxes(0, 1).reshape(h * len(Z), -1)


@mistake
def rows_of_pieces(Z: F, h: int) -> F:
    """you cut each row into its pieces and left them one below the other. What is missing is an axis that
    counts the heads, in front: [h, n, k]."""
    return Z.reshape(len(Z) * h, -1)


@mistake
def one_wide_row_for_each_head(Z: F, h: int) -> F:
    """each head's table has become one row. Its tokens are rows still: [h, n, k]."""
    return Z.reshape(len(Z), h, -1).swapaxes(0, 1).reshape(h, -1)


@mistake
def an_axis_for_the_batch(Z: F, h: int) -> F:
    """the tables are right, and there is an axis too many in front of them, as if there were several texts. Here there is one: [h, n,
    k]."""
    return Z.reshape(1, len(Z), h, -1).swapaxes(1, 2)


@mistake
def first_head_alone(Z: F, h: int) -> F:
    """you returned head 0 alone. All heads are wanted, as a stack [h, n, k]."""
    return Z[:, : Z.shape[1] // h]


@mistake
def always_two_heads(Z: F, h: int) -> F:
    """you cut into two heads, whatever h is. How many there are is the argument h."""
    return Z.reshape(len(Z), 2, -1).swapaxes(0, 1)


@mistake
def heads_of_width_two(Z: F, h: int) -> F:
    """your heads are two columns wide, whatever h is. The width is what remains when e is divided by h."""
    return Z.reshape(len(Z), -1, 2).swapaxes(0, 1)


@mistake
def squares(Z: F, h: int) -> F:
    """you removed the axes of length 1. A single head, a single token and a width of 1 keep their axis: three
    axes, always."""
    k = Z.shape[1] // h
    return np.squeeze(Z.reshape(len(Z), h, k).swapaxes(0, 1))


@mistake
def width_by_a_slash(Z: F, h: int) -> F:
    """the width that you hand to the reshape is a float: / makes one, also of whole numbers. A shape wants
    whole numbers, and // gives them."""
    return Z.reshape(len(Z), h, Z.shape[1] / h).swapaxes(0, 1)


@mistake
def as_many_heads_as_tokens(Z: F, h: int) -> F:
    """you took h for the number of tokens as well. There are len(Z) of them."""
    n = h
    return Z.reshape(n, h, -1).swapaxes(0, 1)


@mistake
def blocks_one_column_apart(Z: F, h: int) -> F:
    """each head's columns begin only one column after those of the head before. A head is k columns wide, so the next begins k
    columns later."""
    k = Z.shape[1] // h
    return np.stack([Z[:, i : i + k] for i in range(h)])


@mistake
def blocks_as_wide_as_there_are_heads(Z: F, h: int) -> F:
    """your blocks are h columns wide, and begin h columns apart. How many heads there are is h; how wide a head
    is is e divided by h."""
    return np.stack([Z[:, i * h : (i + 1) * h] for i in range(h)])


@mistake
def blocks_one_column_short(Z: F, h: int) -> F:
    """your blocks are one column short. A slice ends before the column that it names."""
    k = Z.shape[1] // h
    return np.stack([Z[:, i * k : (i + 1) * k - 1] for i in range(h)])


@mistake
def put_back_together(Z: F, h: int) -> F:
    """you cut the heads apart and laid them side by side again: this is Z. Lay them behind each other, along a
    new axis in front."""
    k = Z.shape[1] // h
    return np.concatenate([Z[:, i * k : (i + 1) * k] for i in range(h)], axis=1)


@mistake
def rows_reversed_within_heads(Z: F, h: int) -> F:
    """the tokens of each head come from last to first. Row t belongs to token t."""
    return Z.reshape(len(Z), h, -1).swapaxes(0, 1)[:, ::-1]


@mistake
def reshapes_the_callers_table(Z: F, h: int) -> F:
    """you gave the caller's own table another shape. It is still needed as it was: reshape returns another
    array."""
    Z.shape = (len(Z), h, Z.shape[1] // h)
    return Z.swapaxes(0, 1)


@mistake
def list_of_wrong_tables(Z: F, h: int) -> list[F]:
    """you split the rows, so that each head gets some of the tokens, and left the pieces in a list. Each head
    sees all tokens, and of each token some of the columns."""
    return np.split(Z, h)


@mistake
def tuple_of_tables(Z: F, h: int) -> tuple[F, ...]:
    """the tables are right, and they come in a tuple. One array with three axes is wanted, so that one product
    can serve all heads."""
    return tuple(Z.reshape(len(Z), h, -1).swapaxes(0, 1))


@mistake
def split_in_float32(Z: F, h: int) -> F:
    """float64 went in, and float32 came out: seven digits are left. The dtype stays as it is."""
    return Z.reshape(len(Z), h, -1).swapaxes(0, 1).astype(np.float32)


@right
def split_by_transpose(Z: F, h: int) -> F:
    n, e = Z.shape
    return Z.reshape(n, h, e // h).transpose(1, 0, 2)


@right
def split_by_slices(Z: F, h: int) -> F:
    k = Z.shape[1] // h
    return np.stack([Z[:, i * k : (i + 1) * k] for i in range(h)])


@right
def split_by_numpy(Z: F, h: int) -> F:
    return np.array(np.split(Z, h, axis=1))


@right
def split_in_columns(Z: F, h: int) -> F:
    return Z.T.reshape(h, -1, len(Z)).swapaxes(1, 2)


@right
def split_by_torch(Z: F, h: int) -> F:
    import torch

    return torch.from_numpy(Z.copy()).view(Z.shape[0], h, -1).permute(1, 0, 2).numpy()


@right
def split_by_hsplit(Z: F, h: int) -> F:
    return np.stack(np.hsplit(Z, h), axis=0)


@right
def split_by_moving_the_axis(Z: F, h: int) -> F:
    return np.moveaxis(Z.reshape(Z.shape[0], h, Z.shape[1] // h), 1, 0).copy()


@right
def split_by_einsum(Z: F, h: int) -> F:
    return np.einsum("nhk->hnk", Z.reshape(len(Z), h, -1))
