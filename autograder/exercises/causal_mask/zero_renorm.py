"""The other way to hide: zero the weights, and make rows add up to 1 again.

Masked weights become 0, and what is left of a row is divided by its own sum. Then the row adds up to 1, and the kept
weights stand to each other as before. The sums keep their axis, since `[n]` would line up with the columns. Softmax
once more would bring the masked tokens back, as e to the 0 is 1, and where only 10⁻³⁰ is left, any small number added
to the sum decides alone. Without the division the size of a row would still tell how much weight the future had.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.inputs import causal, random_keep, sizes
from autograder.exercises.model import B, Case, F, case, mistake, probe, right
from autograder.exercises.parts import rows_of_weights


def zero_renorm(A: Float[np.ndarray, "n m"], keep: Bool[np.ndarray, "n m"]) -> Float[np.ndarray, "n m"]:
    """The weights with the masked ones set to 0 and each row divided by what is left of it."""
    n, m = A.shape
    out = np.zeros((n, m))
    for i in range(n):
        left = sum(A[i, j] for j in range(m) if keep[i, j])
        for j in range(m):
            if keep[i, j]:
                out[i, j] = A[i, j] / left
    return out


PUBLIC = (
    case(np.array([[0.6, 0.4], [0.3, 0.7]]), np.array([[True, False], [True, True]])),
    # each row hides something
    case(np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]]), np.array([[True, False, True], [False, True, True]])),
    case(
        np.array([[0.2, 0.5, 0.3], [0.1, 0.8, 0.1], [0.25, 0.25, 0.5]]),
        np.array([[True, False, False], [True, True, False], [True, True, True]]),
    ),
    case(
        np.array([[0.5, 0.125, 0.125, 0.25], [0.0, 0.25, 0.5, 0.25]]),
        np.array([[False, True, True, True], [True, True, False, False]]),
    ),
    case(np.array([[0.5, 0.125, 0.375]], np.float32), np.array([[True, True, False]])),
    # next to nothing is kept
    case(np.array([[1e-30, 1.0], [0.2, 0.8], [0.6, 0.4]]), np.array([[True, False], [True, True], [False, True]])),
    # rows that add up to something else than 1, and one of them hides nothing
    case(np.array([[0.5, 1.0, 0.5], [0.25, 0.25, 0.5]]), np.array([[True, True, True], [True, False, True]])),
    # nothing is as large as anything else
    case(
        np.array(
            [[0.13, 0.37, 0.29, 0.21], [0.41, 0.07, 0.19, 0.33], [0.23, 0.31, 0.17, 0.29], [0.11, 0.26, 0.45, 0.18]]
        ),
        np.array(
            [
                [True, False, True, True],
                [True, True, False, True],
                [False, True, True, False],
                [True, True, True, True],
            ]
        ),
    ),
)


def _drawn(rng: np.random.Generator, keep: B, dtype: str = "float64", order: str = "C") -> F:
    """Weights of which each row keeps a quarter, unless it keeps all."""
    A = rows_of_weights(rng, *keep.shape, spread=0.5, dtype=dtype, order=order)
    for weights, kept in zip(A, keep, strict=True):
        if not kept.all():
            weights[kept] *= 0.25 / weights[kept].sum()
            weights[~kept] *= 0.75 / weights[~kept].sum()
    return A


@probe(1.0)
def weights_and_masks(rng: np.random.Generator) -> list[Case]:
    """masked weights are 0, and what is kept adds up to 1 in every row"""
    n, m = sizes(rng, 2, 3)
    masks = random_keep(rng, n, m), random_keep(rng, m, n)
    return [case(_drawn(rng, keep), keep) for keep in masks]


@probe(0.5)
def square_weights(rng: np.random.Generator) -> list[Case]:
    """the same where the mask is square and matrix products would run too"""
    n, m = sizes(rng, 2, 3)
    masks = causal(n, n), random_keep(rng, m, m)
    return [case(_drawn(rng, keep), keep) for keep in masks]


@probe(0.5)
def rows_of_any_sum(rng: np.random.Generator) -> list[Case]:
    """rows whose weights do not add up to 1, also where nothing is masked"""
    n, m = sizes(rng, 2, 3)
    keep = random_keep(rng, n, m)
    keep[0] = True
    less, more = _drawn(rng, keep) * 0.6, _drawn(rng, keep) * 3.0
    return [case(less, keep), case(more, keep), case(np.concatenate([less, more]), np.ones((2 * n, m), bool))]


@probe(0.5)
def tiny_weights(rng: np.random.Generator) -> list[Case]:
    """rows in which next to nothing is kept"""
    # What is kept is small in every second row, because a masked token had nearly all the weight.
    n, m = sizes(rng, 2, 4)
    keep = random_keep(rng, n, m)
    A = _drawn(rng, keep)
    A[1::2] = np.where(keep, A * 10.0 ** -rng.uniform(25, 35, (n, 1)), A)[1::2]
    return [case(A, keep)]


@probe(0.5)
def weights_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, float32, and arrays that lie otherwise in memory, as a transpose does"""
    n, m = sizes(rng, 2, 3)
    one, some, other = random_keep(rng, 1, m), random_keep(rng, n, m), np.asfortranarray(random_keep(rng, n, m))
    return [
        case(np.array([[1.0]]), np.array([[True]])),
        case(_drawn(rng, one), one),
        case(_drawn(rng, some, dtype="float32"), some),
        case(_drawn(rng, other, order="strided"), other),
    ]


@mistake
def no_renormalising(A: F, keep: B) -> F:
    """the masked weights are gone, but the rows no longer add up to 1. And what is left still tells of the future: the
    more weight a masked token had, the smaller the rest."""
    return np.where(keep, A, 0)


@mistake
def shares_out_what_is_lost(A: F, keep: B) -> F:
    """you gave what the masked tokens had to the kept ones in equal shares. Dividing by the sum gives most to those that have most: the
    kept weights stand to each other as before."""
    left = np.where(keep, A, 0)
    lost = A.sum(axis=1, keepdims=True) - left.sum(axis=1, keepdims=True)
    return np.asarray(left + keep * lost / keep.sum(axis=1, keepdims=True), A.dtype)


@mistake
def renormalises_columns(A: F, keep: B) -> F:
    """you divided by the sum of each column. The weights of token i lie in row i, so it is the rows that must add up
    to 1."""
    Z = np.where(keep, A, 0)
    return Z / Z.sum(axis=0, keepdims=True)


@mistake
def renormalises_everything(A: F, keep: B) -> F:
    """you divided by the sum of the whole matrix, so all rows together add up to 1. Each row is a distribution of its
    own."""
    Z = np.where(keep, A, 0)
    return Z / Z.sum()


@mistake
def mask_times_matrix(A: F, keep: B) -> F:
    """you took the matrix product of the mask and the weights. That adds rows of A together; masking is done entry by
    entry."""
    Z = keep @ A
    return Z / Z.sum(axis=1, keepdims=True)


@mistake
def matrix_times_mask(A: F, keep: B) -> F:
    """you took the matrix product of the weights and the mask. That adds columns of A together; masking is done entry
    by entry."""
    Z = A @ keep
    return Z / Z.sum(axis=1, keepdims=True)


@mistake
def softmax_again(A: F, keep: B) -> F:
    """you put the zeroed weights through softmax once more. They are weights already, and exp(0) = 1 brings the masked
    ones back."""
    E = np.exp(np.where(keep, A, 0))
    return E / E.sum(axis=1, keepdims=True)


@mistake
def row_sums_lie_flat(A: F, keep: B) -> F:
    """your row sums have the shape [n], so NumPy lines them up with the columns. Each row must be divided by its own
    sum: keep the axis."""
    Z = np.where(keep, A, 0)
    return Z / Z.sum(axis=1)


@mistake
def renormalises_the_hidden(A: F, keep: B) -> F:
    """you kept the places where keep is False. True means: may attend. (A row that masks nothing then has nothing left, and 0 / 0
    is NaN.)"""
    Z = np.where(keep, 0, A)
    return Z / Z.sum(axis=1, keepdims=True)


@mistake
def zeroes_in_place(A: F, keep: B) -> F:
    """you wrote into the caller's weights. They are still needed: make a new array."""
    A *= keep
    A /= A.sum(axis=1, keepdims=True)
    return A


@mistake
def guards_against_small_sums(A: F, keep: B) -> F:
    """a row came out as next to nothing, because the sum of what it keeps is tiny: you divide by something larger, or leave such rows
    out. However small the sum is, dividing by it is right."""
    Z = np.where(keep, A, 0)
    return Z / np.maximum(Z.sum(axis=1, keepdims=True), 1e-12)


@mistake
def adds_a_billionth(A: F, keep: B) -> F:
    """you added 1e-9 to the sums before dividing. Where what is kept is itself small, that number decides, and
    the rows fall short of 1: dividing by the sum is right, however small it is."""
    Z = np.where(keep, A, 0)
    return Z / (Z.sum(axis=1, keepdims=True) + 1e-9)


@mistake
def adds_a_hundred_millionth(A: F, keep: B) -> F:
    """you added 1e-8 to the sums before dividing. Where what is kept is itself small, that number decides, and
    the rows fall short of 1: dividing by the sum is right, however small it is."""
    Z = np.where(keep, A, 0)
    return Z / (Z.sum(axis=1, keepdims=True) + 1e-8)


@mistake
def adds_a_millionth(A: F, keep: B) -> F:
    """you added 1e-6 to the sums before dividing. Where what is kept is itself small, that number decides, and
    the rows fall short of 1: dividing by the sum is right, however small it is."""
    Z = np.where(keep, A, 0)
    return Z / (Z.sum(axis=1, keepdims=True) + 1e-6)


@mistake
def adds_a_hundred_thousandth(A: F, keep: B) -> F:
    """you added 1e-5 to the sums before dividing. Where what is kept is itself small, that number decides, and
    the rows fall short of 1: dividing by the sum is right, however small it is."""
    Z = np.where(keep, A, 0)
    return Z / (Z.sum(axis=1, keepdims=True) + 1e-5)


@mistake
def adds_a_ten_thousandth(A: F, keep: B) -> F:
    """you added 1e-4 to the sums before dividing. Where what is kept is itself small, that number decides, and
    the rows fall short of 1: dividing by the sum is right, however small it is."""
    Z = np.where(keep, A, 0)
    return Z / (Z.sum(axis=1, keepdims=True) + 1e-4)


@mistake
def adds_a_thousandth(A: F, keep: B) -> F:
    """you added 1e-3 to the sums before dividing. Where what is kept is itself small, that number decides, and
    the rows fall short of 1: dividing by the sum is right, however small it is."""
    Z = np.where(keep, A, 0)
    return Z / (Z.sum(axis=1, keepdims=True) + 1e-3)


@mistake
def softmax_of_the_weights(A: F, keep: B) -> F:
    """you hid with -inf and took softmax of the weights. They are weights already: softmax takes exp of them a second
    time, which makes them nearly equal. Here the masked ones become 0, and each row is divided by its sum."""
    E = np.where(keep, np.exp(A), 0)
    return E / E.sum(axis=1, keepdims=True)


@mistake
def mask_widens_weights(A: F, keep: B) -> F:
    """float32 weights came back as float64. keep.astype(float) is a float64 array, and so is any array of zeros or
    ones made with the default type. The mask serves as it is."""
    Z = A * keep.astype(float)
    return Z / Z.sum(axis=1, keepdims=True)


@mistake
def divides_only_where_something_is_hidden(A: F, keep: B) -> F:
    """a row that hides nothing came back as it was. Every row is divided by its own sum, whether something was
    masked in it or not: it need not have been 1 before."""
    Z = np.where(keep, A, 0)
    return np.where(keep.all(axis=1, keepdims=True), Z, Z / Z.sum(axis=1, keepdims=True))


@mistake
def divides_by_the_old_sum(A: F, keep: B) -> F:
    """you divided by the sums of the rows as they were before anything was masked. What is left in a row has to
    be divided by its own sum."""
    return np.where(keep, A, 0) / A.sum(axis=1, keepdims=True)


@mistake
def divides_by_the_number_kept(A: F, keep: B) -> F:
    """you divided by how many places are kept. It is the sum of their weights that makes a row add up to 1."""
    return np.where(keep, A, 0) / keep.sum(axis=1, keepdims=True)


@mistake
def multiplies_by_the_sum(A: F, keep: B) -> F:
    """you multiplied by the sum of what is left. To make a row add up to 1 it has to be divided by its sum."""
    Z = np.where(keep, A, 0)
    return Z * Z.sum(axis=1, keepdims=True)


@mistake
def divides_by_the_largest(A: F, keep: B) -> F:
    """you divided each row by its largest weight, so the largest is 1 now. It is the sum of a row that should
    be 1."""
    Z = np.where(keep, A, 0)
    return Z / Z.max(axis=1, keepdims=True)


@mistake
def divides_by_the_length(A: F, keep: B) -> F:
    """you divided each row by its length, the root of its summed squares. Weights add up to 1 as they are:
    divide by their sum."""
    Z = np.where(keep, A, 0)
    return Z / np.sqrt((Z * Z).sum(axis=1, keepdims=True))


@mistake
def shares_the_rest_out_evenly(A: F, keep: B) -> F:
    """you shared out what is missing evenly. The rows add up to 1, but the kept weights no longer stand to each
    other as before: a token with twice the weight of another should still have twice the weight."""
    Z = np.where(keep, A, 0)
    return np.where(keep, Z + (1 - Z.sum(axis=1, keepdims=True)) / keep.sum(axis=1, keepdims=True), 0)


@mistake
def gives_the_rest_to_the_token_itself(A: F, keep: B) -> F:
    """you gave all that is missing to the last kept token. The kept weights should stand to each other as
    before, so all of them grow by the same factor."""
    Z = np.where(keep, A, 0)
    rest = 1 - Z.sum(axis=1)
    Z[np.arange(len(Z)), keep.shape[1] - 1 - keep[:, ::-1].argmax(axis=1)] += rest
    return Z


@mistake
def divides_and_forgets_the_zeros(A: F, keep: B) -> F:
    """you divided by the right sums, and the masked weights are still there. They become 0 first."""
    return A / np.where(keep, A, 0).sum(axis=1, keepdims=True)


@mistake
def hides_weights_with_minus_infinity(A: F, keep: B) -> F:
    """you made masked weights -inf. That is for scores, of which softmax takes exp. A masked token has the weight 0; and -inf over -inf
    is NaN."""
    Z = np.where(keep, A, -np.inf)
    with np.errstate(invalid="ignore"):
        return Z / Z.sum(axis=1, keepdims=True)


@mistake
def own_triangle(A: F, keep: B) -> F:
    """you made a causal mask of your own. Which mask it is comes as an argument, keep, and it may be another
    one."""
    Z = np.where(np.tril(np.ones_like(A, bool)), A, 0)
    return Z / Z.sum(axis=1, keepdims=True)


@mistake
def mask_turned(A: F, keep: B) -> F:
    """you transposed the mask, so that columns stand for rows. Row i of the mask belongs to row i of the weights."""
    Z = np.where(keep.T, A, 0)
    return Z / Z.sum(axis=1, keepdims=True)


@mistake
def ignores_the_mask(A: F, keep: B) -> F:
    """you do not use keep: the masked weights are still there."""
    return A / A.sum(axis=1, keepdims=True)


@mistake
def mask_times_matrix_alone(A: F, keep: B) -> F:
    """you took the matrix product of the mask and the weights. That adds rows of A together; masking is done
    entry by entry. And the rows have yet to be divided by their sums."""
    return keep @ A


@mistake
def matrix_times_mask_alone(A: F, keep: B) -> F:
    """you took the matrix product of the weights and the mask. That adds columns of A together; masking is done
    entry by entry. And the rows have yet to be divided by their sums."""
    return A @ keep


@mistake
def matrix_times_turned_mask(A: F, keep: B) -> F:
    """you took the matrix product of the weights and the turned mask. That adds weights up in groups; masking
    is done entry by entry."""
    Z = A @ keep.T
    return Z / Z.sum(axis=1, keepdims=True)


@mistake
def zeroes_the_callers_weights(A: F, keep: B) -> F:
    """you wrote zeros into the caller's weights. They are still needed: make a new array."""
    A *= keep
    return A / A.sum(axis=1, keepdims=True)


@mistake
def rounded(A: F, keep: B) -> F:
    """you rounded the weights to three digits. Round what you print, and nothing that is computed with."""
    Z = np.where(keep, A, 0)
    return (Z / Z.sum(axis=1, keepdims=True)).round(3)


@mistake
def narrows_to_float32(A: F, keep: B) -> F:
    """float64 weights came back as float32, with seven digits. The dtype of the answer is that of A."""
    Z = np.where(keep, A, 0)
    return (Z / Z.sum(axis=1, keepdims=True)).astype(np.float32)


@mistake
def list_of_rows(A: F, keep: B) -> list[F]:
    """the weights are right, and they come in a list. Return an array, of the type of A."""
    Z = np.where(keep, A, 0)
    return (Z / Z.sum(axis=1, keepdims=True)).tolist()


@mistake
def returns_the_sums(A: F, keep: B) -> F:
    """these are the sums of what is left. Each row is yet to be divided by its own."""
    return np.where(keep, A, 0).sum(axis=1, keepdims=True)


@mistake
def takes_what_is_hidden_off(A: F, keep: B) -> F:
    """you took the masked weight off the kept ones. It is gone already; what is left has to grow until it adds
    up to 1."""
    return np.where(keep, A - np.where(keep, 0, A).sum(axis=1, keepdims=True), 0)


@right
def renorm_by_product(A: F, keep: B) -> F:
    Z = A * keep
    return Z / Z.sum(axis=-1, keepdims=True)


@right
def renorm_by_loops(A: F, keep: B) -> F:
    out = np.zeros_like(A)
    for i, (weights, kept) in enumerate(zip(A, keep, strict=True)):
        out[i, kept] = weights[kept] / weights[kept].sum()
    return out


@right
def renorm_by_einsum(A: F, keep: B) -> F:
    Z = np.where(keep, A, 0)
    return np.einsum("nm,n->nm", Z, 1 / np.einsum("nm->n", Z))


@right
def renorm_by_torch(A: F, keep: B) -> F:
    import torch

    Z = torch.from_numpy(A.copy()).masked_fill(~torch.from_numpy(keep.copy()), 0)
    return (Z / Z.sum(dim=-1, keepdim=True)).numpy()


@right
def renorm_guarded(A: F, keep: B) -> F:
    Z = np.where(keep, A, 0)
    left = Z.sum(axis=1, keepdims=True)
    return np.divide(Z, left, out=np.zeros_like(Z), where=left > 0)


@right
def renorm_by_the_mean(A: F, keep: B) -> F:
    Z = A * keep
    return Z / (Z.mean(axis=1, keepdims=True) * A.dtype.type(A.shape[1]))


@right
def renorm_transposed(A: F, keep: B) -> F:
    Z = np.where(keep, A, 0).T
    return (Z / Z.sum(axis=0)).T


@right
def renorm_by_logarithms(A: F, keep: B) -> F:
    with np.errstate(divide="ignore"):
        M = np.where(keep, np.log(A), -np.inf)
    E = np.exp(M - M.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)
