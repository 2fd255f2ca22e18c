"""The other way to hide: zero the weights, and make rows add up to 1 again."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.inputs import causal, random_keep, sizes
from autograder.exercises.model import B, Case, F, case, mistake, probe, right
from autograder.exercises.parts import rows_of_weights


def zero_renorm(P: Float[np.ndarray, "n m"], keep: Bool[np.ndarray, "n m"]) -> Float[np.ndarray, "n m"]:
    """The weights with the hidden ones set to 0 and each row divided by what is left of it."""
    n, m = P.shape
    out = np.zeros((n, m))
    for i in range(n):
        left = sum(P[i, j] for j in range(m) if keep[i, j])
        for j in range(m):
            if keep[i, j]:
                out[i, j] = P[i, j] / left
    return out


PUBLIC = (
    case(np.array([[0.6, 0.4], [0.3, 0.7]]), np.array([[True, False], [True, True]])),
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
)


@probe(1.5)
def weights_and_masks(rng: np.random.Generator) -> list[Case]:
    """hidden weights are 0, and what is kept adds up to 1 in every row"""
    n, m = sizes(rng, 2, 3)
    return [
        case(rows_of_weights(rng, n, m, spread=1.5), random_keep(rng, n, m)),
        case(rows_of_weights(rng, m, n, spread=1.5), random_keep(rng, m, n)),
    ]


@probe(0.5)
def square_weights(rng: np.random.Generator) -> list[Case]:
    """the same where the mask is square and matrix products would run too"""
    n, m = sizes(rng, 2, 3)
    return [
        case(rows_of_weights(rng, n, n, spread=1.5), causal(n, n)),
        case(rows_of_weights(rng, m, m, spread=1.5), random_keep(rng, m, m)),
    ]


@probe(0.5)
def tiny_weights(rng: np.random.Generator) -> list[Case]:
    """rows in which next to nothing is kept"""
    # What is kept is small in some rows, because a hidden token had nearly all the weight.
    n, m = sizes(rng, 2, 4)
    P, keep = rows_of_weights(rng, n, m, spread=1.5), random_keep(rng, n, m)
    small = np.where(keep, 10.0 ** -rng.uniform(6, 12, (n, 1)), 1.0)
    P[1:] = (P * small / (P * small).sum(axis=1, keepdims=True))[1:]
    R, kept = rows_of_weights(rng, m, n, spread=1.5), random_keep(rng, m, n)
    R *= np.where(kept, 10.0 ** -rng.uniform(25, 35, (m, 1)), 1.0)
    return [case(P, keep), case(R, kept)]


@probe(0.5)
def weights_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, float32, and arrays that are not contiguous"""
    n, m = sizes(rng, 2, 3)
    return [
        case(np.array([[1.0]]), np.array([[True]])),
        case(rows_of_weights(rng, 1, m, spread=1.5), random_keep(rng, 1, m)),
        case(rows_of_weights(rng, n, m, spread=1.5, dtype="float32"), random_keep(rng, n, m)),
        case(rows_of_weights(rng, n, m, spread=1.5, order="strided"), np.asfortranarray(random_keep(rng, n, m))),
    ]


@mistake
def no_renormalising(P: F, keep: B) -> F:
    """the hidden weights are gone, but the rows no longer add up to 1. And what is left still tells of the future: the
    more weight a hidden token had, the smaller the rest."""
    return np.where(keep, P, 0)


@mistake
def renormalises_columns(P: F, keep: B) -> F:
    """you divided by the sum of each column. The weights of token i lie in row i, so it is the rows that must add up
    to 1."""
    Z = np.where(keep, P, 0)
    return Z / Z.sum(axis=0, keepdims=True)


@mistake
def renormalises_everything(P: F, keep: B) -> F:
    """you divided by the sum of the whole matrix, so all rows together add up to 1. Each row is a distribution of its
    own."""
    Z = np.where(keep, P, 0)
    return Z / Z.sum()


@mistake
def mask_times_matrix(P: F, keep: B) -> F:
    """you took the matrix product of the mask and the weights. That adds rows of P together; masking is done entry by
    entry."""
    Z = keep @ P
    return Z / Z.sum(axis=1, keepdims=True)


@mistake
def matrix_times_mask(P: F, keep: B) -> F:
    """you took the matrix product of the weights and the mask. That adds columns of P together; masking is done entry
    by entry."""
    Z = P @ keep
    return Z / Z.sum(axis=1, keepdims=True)


@mistake
def softmax_again(P: F, keep: B) -> F:
    """you put the zeroed weights through softmax once more. They are weights already, and exp(0) = 1 brings the hidden
    ones back."""
    E = np.exp(np.where(keep, P, 0))
    return E / E.sum(axis=1, keepdims=True)


@mistake
def row_sums_lie_flat(P: F, keep: B) -> F:
    """your row sums have the shape [n], so NumPy lines them up with the columns. Each row must be divided by its own
    sum: keep the axis."""
    Z = np.where(keep, P, 0)
    return Z / Z.sum(axis=1)


@mistake
def renormalises_the_hidden(P: F, keep: B) -> F:
    """you kept the places where keep is False. True means: may attend."""
    Z = np.where(keep, 0, P)
    return Z / Z.sum(axis=1, keepdims=True)


@mistake
def zeroes_in_place(P: F, keep: B) -> F:
    """you wrote into the caller's weights. They are still needed: make a new array."""
    P *= keep
    P /= P.sum(axis=1, keepdims=True)
    return P


@mistake
def adds_a_little_below(P: F, keep: B) -> F:
    """you added a small number to the sum before dividing. Where what is kept is itself small, that number decides,
    and the rows fall short of 1."""
    Z = np.where(keep, P, 0)
    return Z / (Z.sum(axis=1, keepdims=True) + 1e-8)


@mistake
def guards_against_small_sums(P: F, keep: B) -> F:
    """a row came out as nearly nothing, because the sum of what it keeps is tiny and you divide by something larger:
    a smallest number that you allow, or a little that you add. However small the sum is, dividing by it is right."""
    Z = np.where(keep, P, 0)
    return Z / np.maximum(Z.sum(axis=1, keepdims=True), 1e-12)


@mistake
def softmax_of_the_weights(P: F, keep: B) -> F:
    """you hid with -inf and took softmax of the weights. They are weights already: softmax takes exp of them a second
    time, which makes them nearly equal. Here the hidden ones become 0, and each row is divided by its sum."""
    E = np.where(keep, np.exp(P), 0)
    return E / E.sum(axis=1, keepdims=True)


@mistake
def mask_widens_weights(P: F, keep: B) -> F:
    """float32 weights came back as float64. keep.astype(float) is a float64 array, and so is any array of zeros or
    ones made with the default type. The mask serves as it is."""
    Z = P * keep.astype(float)
    return Z / Z.sum(axis=1, keepdims=True)


@right
def renorm_by_product(P: F, keep: B) -> F:
    Z = P * keep
    return Z / Z.sum(axis=-1, keepdims=True)


@right
def renorm_by_loops(P: F, keep: B) -> F:
    out = np.zeros_like(P)
    for i, (weights, kept) in enumerate(zip(P, keep, strict=True)):
        out[i, kept] = weights[kept] / weights[kept].sum()
    return out


@right
def renorm_by_einsum(P: F, keep: B) -> F:
    Z = np.where(keep, P, 0)
    return np.einsum("nm,n->nm", Z, 1 / np.einsum("nm->n", Z))


@right
def renorm_by_torch(P: F, keep: B) -> F:
    import torch

    Z = torch.from_numpy(P.copy()).masked_fill(~torch.from_numpy(keep.copy()), 0)
    return (Z / Z.sum(dim=-1, keepdim=True)).numpy()


@right
def renorm_guarded(P: F, keep: B) -> F:
    Z = np.where(keep, P, 0)
    left = Z.sum(axis=1, keepdims=True)
    return np.divide(Z, left, out=np.zeros_like(Z), where=left > 0)
