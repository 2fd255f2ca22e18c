"""What each head adds to the output, through its own rows of Wo.

The columns of one head, side by side with the others, meet v neighbouring rows of `Wo`, and no others. So `reshape(h,
v, -1)` cuts `Wo` into h blocks, moving no number, and one stacked product gives the share of each head. The shares
add up to the output, without a division by h. The columns of `Wo` are features of the output, to which every head
adds, so they are not what is dealt to heads; and every h-th row would mix the rows of different heads.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right
from autograder.exercises.parts import counting, merged, pattern

USES = ("merge_heads",)


def head_outputs(O: Float[np.ndarray, "h n v"], Wo: Float[np.ndarray, "e d"]) -> Float[np.ndarray, "h n d"]:  # noqa: E741
    """Head i's outputs times the rows of Wo that they meet, which are rows i * v to (i + 1) * v - 1."""
    h, n, v = O.shape
    out = np.zeros((h, n, Wo.shape[1]))
    for i in range(h):
        for t in range(n):
            for x in range(v):
                out[i, t] += O[i, t, x] * Wo[i * v + x]
    return out


PUBLIC = (
    # the example by hand
    case(np.array([[[2.0, 1.0]], [[3.0, 0.0]]]), np.array([[1.0, 0.0], [0.0, 1.0], [10.0, 1.0], [0.0, 5.0]])),
    case(pattern(2, 3, 2, step=3), pattern(4, 5, step=4)),
    case(pattern(3, 2, 5, step=5, dtype="float32"), pattern(15, 4, step=3, dtype="float32")),
    case(pattern(3, 4, 2, step=2), pattern(6, 6, step=5)),
    case(pattern(1, 3, 2, step=2), pattern(2, 5, step=5)),
    case(pattern(2, 3, 4, step=4) + counting(2, 3, 4) / 7, pattern(8, 6, step=5) + counting(8, 6) / 9),
)


@probe(1.0)
def shares_of_all_sizes(rng: np.random.Generator) -> list[Case]:
    """each head's share, all sizes different"""
    h, n, v, d = sizes(rng, 4, 2, 7)
    return [case(normal(rng, h, n, v), normal(rng, h * v, d)), case(normal(rng, d, h, n), normal(rng, d * n, v))]


@probe(0.5)
def shares_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    """the same where Wo is square and where sizes coincide"""
    h, n, v, d = sizes(rng, 4, 2, 6)
    return [
        case(normal(rng, h, n, v), normal(rng, h * v, h * v)),  # Wo is square
        case(normal(rng, h, n, v), normal(rng, h * v, v)),  # v = d
        case(normal(rng, h, h, v), normal(rng, h * v, d)),  # n = h
        case(normal(rng, h, n, h), normal(rng, h * h, d)),  # v = h
        case(normal(rng, h, v, v), normal(rng, h * v, d)),  # v = n
        case(normal(rng, 3, n + 1, 2), normal(rng, 6, d)),
    ]


@probe(0.5)
def shares_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """one head, one token, heads of width 1, float32, and arrays that are not contiguous"""
    h, n, v, d = sizes(rng, 4, 2, 6)
    return [
        case(normal(rng, 1, n, v), normal(rng, v, d)),
        case(normal(rng, h, 1, v), normal(rng, h * v, d)),
        case(normal(rng, h, n, 1), normal(rng, h, d)),
        case(normal(rng, h, n, v, dtype="float32"), normal(rng, h * v, d, dtype="float32")),
        case(normal(rng, h, n, v, order="F"), normal(rng, h * v, d, order="strided")),
        case(normal(rng, h, n, v, order="strided"), normal(rng, h * v, d, order="F")),
    ]


@mistake
def every_hth_row(T: F, Wo: F) -> F:
    """you gave head 0 every h-th row of Wo. Side by side, head 0 has the first v columns, and these meet the first v rows
    of Wo: a head's rows lie next to each other."""
    h, _, v = T.shape
    return T @ Wo.reshape(v, h, -1).swapaxes(0, 1)


@mistake
def first_rows_for_all(T: F, Wo: F) -> F:
    """every head of yours meets the first rows of Wo, those of head 0. Each head has rows of its own."""
    return T @ Wo[: T.shape[2]]


@mistake
def rows_in_reverse(T: F, Wo: F) -> F:
    """you dealt the blocks of Wo from last to first. Head 0 has the first one."""
    h, _, v = T.shape
    return T @ Wo.reshape(h, v, -1)[::-1]


@mistake
def shares_divided(T: F, Wo: F) -> F:
    """you divided by the number of heads. Their shares are added up, and not averaged: their sum has to be the output
    itself."""
    h, _, v = T.shape
    return T @ Wo.reshape(h, v, -1) / np.float32(h).astype(T.dtype)


@mistake
def already_added_up(T: F, Wo: F) -> F:
    """you returned the sum. The shares are wanted one by one, [h, n, d], so that one can see what each head adds."""
    h, _, v = T.shape
    return (T @ Wo.reshape(h, v, -1)).sum(axis=0)


@mistake
def output_for_all(T: F, Wo: F) -> F:
    """you returned the whole output once for each head. Their sum would be h times too large. A head's share is what its own
    columns make, with all others left out."""
    return np.stack([merged(T) @ Wo] * len(T))


@mistake
def all_rows_for_each_head(T: F, Wo: F) -> F:
    """each head of yours meets all h*v rows of Wo, and has v numbers for them. Head i needs the v rows that are its own.
    (Did you cut Wo by columns? These belong to the features of the output, and every head adds to all of them.)"""
    return T @ Wo


@mistake
def blocks_that_lie(T: F, Wo: F) -> F:
    """you cut Wo into blocks of [d, v]. A block is v of its rows, so it is [v, d]."""
    h, _, v = T.shape
    return T @ Wo.reshape(h, -1, v)


@mistake
def one_row_too_few(T: F, Wo: F) -> F:
    """your blocks are one row short. A slice ends before the row that it names."""
    v = T.shape[2]
    return np.stack([T[i] @ Wo[i * v : (i + 1) * v - 1] for i in range(len(T))])


@mistake
def blocks_one_row_apart(T: F, Wo: F) -> F:
    """each head's block begins only one row below that of the head before. A block is v rows high, so the next begins v rows below."""
    v = T.shape[2]
    return np.stack([T[i] @ Wo[i : i + v] for i in range(len(T))])


@mistake
def blocks_turned(T: F, Wo: F) -> F:
    """each head has its own rows, but you turned them: the block is cut as [d, v]. It runs, and deals the numbers of one
    row of Wo to several outputs. A block of rows is [v, d] as it stands."""
    h, _, v = T.shape
    return T @ Wo.reshape(h, -1, v).swapaxes(1, 2)


@mistake
def tokens_in_front(T: F, Wo: F) -> F:
    """the shares are right, and they come as [n, h, d]. The heads come first: [h, n, d]."""
    h, _, v = T.shape
    return (T @ Wo.reshape(h, v, -1)).swapaxes(0, 1)


@mistake
def list_of_shares(T: F, Wo: F) -> list[F]:
    """the shares are right, and they come in a list. One array [h, n, d] is wanted."""
    return [head @ block for head, block in zip(T, np.split(Wo, len(T)), strict=True)]


@mistake
def shares_in_float64(T: F, Wo: F) -> F:
    """the numbers are right, but float32 went in and float64 came out: np.zeros makes float64 unless you tell it the
    type, and astype(float) always does."""
    h, n, v = T.shape
    out = np.zeros((h, n, Wo.shape[1]))
    out[:] = T @ Wo.reshape(h, v, -1)
    return out


@mistake
def output_without_the_head(T: F, Wo: F) -> F:
    """you left each head out in turn, and returned what the others make. A head's share is what its own columns
    make, with all others left out."""
    whole = merged(T) @ Wo
    return np.stack([whole - T[i] @ Wo.reshape(len(T), T.shape[2], -1)[i] for i in range(len(T))])


@mistake
def running_total(T: F, Wo: F) -> F:
    """you add up as you go: head 1's table holds what head 0 and head 1 make together. Each share stands by
    itself."""
    h, _, v = T.shape
    return np.cumsum(T @ Wo.reshape(h, v, -1), axis=0)


@mistake
def differences_of_running_totals(T: F, Wo: F) -> F:
    """the share of head 0 is missing. If you took differences of running sums: they are one fewer than the sums, and before head 0
    there is nothing, so that its share is the first sum itself."""
    h, _, v = T.shape
    return (T @ Wo.reshape(h, v, -1))[1:]


@mistake
def others_set_to_zero_for_good(T: F, Wo: F) -> F:
    """from head 1 on your shares are 0. If you set the other heads to zero in one table, turn after turn, nothing is left of head 1
    in its turn: begin each turn with a copy of the whole table."""
    h, _, v = T.shape
    shares = T @ Wo.reshape(h, v, -1)
    shares[1:] = 0
    return shares


@mistake
def first_head_alone(T: F, Wo: F) -> F:
    """you returned the share of head 0 alone. Each head's is wanted, [h, n, d]."""
    return T[0] @ Wo[: T.shape[2]]


@mistake
def same_head_for_all(T: F, Wo: F) -> F:
    """all your shares are made from the outputs of head 0: is an index stuck at 0?"""
    h, _, v = T.shape
    return T[:1] @ Wo.reshape(h, v, -1)


@mistake
def mean_of_the_shares(T: F, Wo: F) -> F:
    """you returned the mean of the shares. They are wanted one by one, [h, n, d]; and what is added up in the
    output is not averaged."""
    h, _, v = T.shape
    return (T @ Wo.reshape(h, v, -1)).mean(axis=0)


@mistake
def shares_one_below_the_other(T: F, Wo: F) -> F:
    """the shares lie one below the other, in one table. They are a stack, with an axis that counts the heads:
    [h, n, d]."""
    h, _, v = T.shape
    return (T @ Wo.reshape(h, v, -1)).reshape(-1, Wo.shape[1])


@mistake
def shares_side_by_side(T: F, Wo: F) -> F:
    """the shares lie side by side, in one table. They are a stack, with an axis that counts the heads: [h, n,
    d]."""
    h, _, v = T.shape
    return merged(T @ Wo.reshape(h, v, -1))


@mistake
def output_split_again(T: F, Wo: F) -> F:
    """you made the whole output and cut its columns into as many parts as there are heads. A column of the
    output is made by all heads together: it is the rows of Wo that belong to single heads."""
    out = merged(T) @ Wo
    return np.stack(np.array_split(out, len(T), axis=1)) if out.shape[1] % len(T) == 0 else out


@mistake
def blocks_of_two_rows(T: F, Wo: F) -> F:
    """your blocks are two rows high, whatever the width of a head is. A block has as many rows as a head has
    values."""
    return np.stack([T[i] @ Wo[2 * i : 2 * i + 2] for i in range(len(T))])


@mistake
def blocks_as_high_as_there_are_heads(T: F, Wo: F) -> F:
    """your blocks are h rows high, and begin h rows apart. A head has v values, so its block is v rows high."""
    h = len(T)
    return np.stack([T[i] @ Wo[i * h : (i + 1) * h] for i in range(h)])


@mistake
def blocks_as_high_as_there_are_tokens(T: F, Wo: F) -> F:
    """your blocks are n rows high, and begin n rows apart. A head has v values, so its block is v rows high."""
    n = T.shape[1]
    return np.stack([T[i] @ Wo[i * n : (i + 1) * n] for i in range(len(T))])


@mistake
def width_by_a_slash(T: F, Wo: F) -> F:
    """the height that you hand to the reshape is a float: / makes one, also of whole numbers. A shape wants
    whole numbers, and // gives them."""
    h = len(T)
    return T @ Wo.reshape(h, len(Wo) / h, -1)  # type: ignore[call-overload]


@mistake
def weight_turned(T: F, Wo: F) -> F:
    """you turned Wo before you cut it. Its rows are what the heads meet: cut it as it stands."""
    h, _, v = T.shape
    return T @ Wo.T.reshape(h, v, -1)


@mistake
def columns_for_heads(T: F, Wo: F) -> F:
    """you cut Wo by columns, and multiply each part with all heads. These belong to the features of the output,
    and every head adds to all of them: a head has rows of its own."""
    h = len(T)
    return merged(T) @ np.stack(np.split(Wo, h, axis=1)) if Wo.shape[1] % h == 0 else T @ Wo


@mistake
def an_axis_for_the_batch(T: F, Wo: F) -> F:
    """the shares are right, and there is an axis too many in front of them: [h, n, d]."""
    h, _, v = T.shape
    return (T @ Wo.reshape(h, v, -1))[None]


@mistake
def shares_squeezed(T: F, Wo: F) -> F:
    """you removed the axes of length 1. A single head and a single token keep their axis: three axes,
    always."""
    h, _, v = T.shape
    return np.squeeze(T @ Wo.reshape(h, v, -1))


@mistake
def shares_in_float32(T: F, Wo: F) -> F:
    """float64 went in, and float32 came out: seven digits are left. The dtype stays as it is."""
    h, _, v = T.shape
    return (T @ Wo.reshape(h, v, -1)).astype(np.float32)


@mistake
def tables_merged_by_reshape(T: F, Wo: F) -> F:
    """you joined the heads by a reshape alone, which fills one row with several tokens of one head. O holds a
    table for each head already: nothing has to be joined."""
    h, n, v = T.shape
    Z = T.reshape(n, h * v)
    return np.stack([Z[:, i * v : (i + 1) * v] @ Wo[i * v : (i + 1) * v] for i in range(h)])


@mistake
def values_left_as_they_are(T: F, Wo: F) -> F:
    """these are the outputs of the heads, and Wo has not been applied."""
    return T.copy()


@mistake
def shares_as_a_tuple(T: F, Wo: F) -> tuple[F, ...]:
    """the shares are right, and they come in a tuple. One array [h, n, d] is wanted."""
    h, _, v = T.shape
    return tuple(T @ Wo.reshape(h, v, -1))


@mistake
def shares_of_the_norm(T: F, Wo: F) -> F:
    """you returned how large each share is, [h, n]. The shares themselves are wanted, [h, n, d]."""
    h, _, v = T.shape
    return np.linalg.norm(T @ Wo.reshape(h, v, -1), axis=-1)


@right
def shares_by_slices(T: F, Wo: F) -> F:
    v = T.shape[2]
    return np.stack([T[i] @ Wo[i * v : (i + 1) * v] for i in range(len(T))])


@right
def shares_by_split(T: F, Wo: F) -> F:
    return T @ np.array(np.split(Wo, len(T)))


@right
def shares_by_einsum(T: F, Wo: F) -> F:
    h, _, v = T.shape
    return np.einsum("hnv,hvd->hnd", T, Wo.reshape(h, v, -1))


@right
def shares_by_zeros(T: F, Wo: F) -> F:
    shares = []
    for i in range(len(T)):
        alone = np.zeros_like(T)
        alone[i] = T[i]
        shares.append(merged(alone) @ Wo)
    return np.stack(shares)


@right
def shares_by_torch(T: F, Wo: F) -> F:
    import torch

    o, w = torch.from_numpy(T.copy()), torch.from_numpy(Wo.copy())
    return torch.bmm(o, w.view(o.shape[0], o.shape[2], -1)).numpy()


@right
def shares_by_a_wide_weight(T: F, Wo: F) -> F:
    h, n, v = T.shape
    out = np.zeros((h, n, Wo.shape[1]), T.dtype)
    for i in range(h):
        out[i] = T[i] @ Wo[i * v : i * v + v, :]
    return out


@right
def shares_by_tensordot(T: F, Wo: F) -> F:
    return np.stack([np.tensordot(head, block, axes=1) for head, block in zip(T, np.vsplit(Wo, len(T)), strict=True)])
