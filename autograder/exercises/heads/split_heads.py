"""One wide table cut into heads: [n, h * k] to [h, n, k]."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right
from autograder.exercises.parts import counting


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
)


@probe(1.5)
def counted_tables(rng: np.random.Generator) -> list[Case]:
    """every number of a counted table, traced to its head, token and feature"""
    n, k, h = sizes(rng, 3, 2, 6)
    return [case(counting(n, h * k), h), case(counting(k, h * n), h)]


@probe(1.0)
def splits(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide, and a wrong order keeps the shape"""
    n, k, h = sizes(rng, 3, 2, 6)
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
    n, k, h = sizes(rng, 3, 2, 6)
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
    type."""
    out = np.zeros((h, len(Z), Z.shape[1] // h))
    out[:] = Z.reshape(len(Z), h, -1).swapaxes(0, 1)
    return out


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
