"""Notebook 03: hiding the future, and testing that it is hidden."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.drawing import causal, normal, random_keep, sizes
from autograder.exercises.model import Case, Exercise, Probe, case
from course.functions import Function, public_function

NOTEBOOK = "03_causal_mask"
F = np.ndarray
B = np.ndarray
Model = Callable[[np.ndarray], np.ndarray]


# --------------------------------------------------------------------------------------------- causal_keep


def causal_keep(n: int) -> Bool[np.ndarray, "n n"]:
    """Entry (i, j) is True where token i may attend to token j: to itself and to what came before."""
    keep = np.zeros((n, n), bool)
    for i in range(n):
        for j in range(n):
            keep[i, j] = j <= i
    return keep


def keeps_the_future(n: int) -> B:
    """your triangle is the upper one, so every token sees itself and what comes after it. Row i is the token that
    looks, column j the one it looks at."""
    return np.triu(np.ones((n, n), bool))


def hides_the_diagonal(n: int) -> B:
    """no token sees itself. A token may attend to itself: what it must not see comes after it. And the first token
    would have nothing to attend to."""
    return np.tril(np.ones((n, n), bool), k=-1)


def one_future_token(n: int) -> B:
    """every token also sees the one that follows it, which is the very word that it is asked to predict."""
    return np.tril(np.ones((n, n), bool), k=1)


def true_means_hidden(n: int) -> B:
    """your True marks what is hidden. In this course True means: may attend."""
    return np.triu(np.ones((n, n), bool), k=1)


def zeros_and_ones(n: int) -> F:
    """the triangle is right, but it is made of numbers. A keep mask holds True and False, so that ~keep and indexing
    mean what they say."""
    return np.tril(np.ones((n, n)))


def integers_for_truth(n: int) -> B:
    """the triangle is right, but it is made of the integers 0 and 1. A keep mask holds True and False: ~1 is -2, and
    indexing with integers picks rows by number."""
    return np.tril(np.ones((n, n), dtype=int))


def additive_mask(n: int) -> F:
    """this is the additive mask, 0 and -inf, that some books add to the scores. Here a mask is boolean, and True
    means: may attend."""
    return np.where(np.tril(np.ones((n, n), bool)), 0.0, -np.inf)


def hides_nothing(n: int) -> B:
    """every token sees every other, so nothing is hidden."""
    return np.ones((n, n), bool)


def keep_by_tril(n: int) -> B:
    return np.tril(np.ones((n, n), dtype=bool))


def keep_by_comparing(n: int) -> B:
    place = np.arange(n)
    return place[None, :] <= place[:, None]


def keep_by_loops(n: int) -> B:
    return np.array([[j <= i for j in range(n)] for i in range(n)])


def keep_by_torch(n: int) -> B:
    import torch

    return torch.ones(n, n, dtype=torch.bool).tril().numpy()


def _lengths(rng: np.random.Generator) -> list[Case]:
    return [case(n) for n in sizes(rng, 3, 3, 12)]


CAUSAL_KEEP = Exercise(
    oracle=causal_keep,
    notebook=NOTEBOOK,
    public=(case(1), case(3), case(5)),
    probes=(
        Probe("each token sees itself and what came before, and nothing else", 1.5, _lengths),
        Probe("sequences of one and of two tokens", 0.5, lambda rng: [case(1), case(2)]),
    ),
    mistakes=(
        keeps_the_future,
        hides_the_diagonal,
        one_future_token,
        true_means_hidden,
        zeros_and_ones,
        integers_for_truth,
        additive_mask,
        hides_nothing,
    ),
    variants=(keep_by_tril, keep_by_comparing, keep_by_loops, keep_by_torch),
)


# --------------------------------------------------------------------------------------------- mask_scores


def mask_scores(S: Float[np.ndarray, "*b n m"], keep: Bool[np.ndarray, "*#b n m"]) -> Float[np.ndarray, "*b n m"]:
    """The scores, with -inf wherever keep is False."""
    wide = np.broadcast_to(keep, S.shape)
    out = np.zeros(S.shape)
    for place in np.ndindex(S.shape):
        out[place] = S[place] if wide[place] else -math.inf
    return out


def fills_zero(S: F, keep: B) -> F:
    """a hidden score became 0. But softmax takes exp of it, and exp(0) = 1: a hidden token would still get its share
    of the weight."""
    return np.where(keep, S, 0)


def infinity_times_mask(S: F, keep: B) -> F:
    """you multiplied -inf by the mask. Where the mask is 0 that is 0 times infinity, which is NaN: the places that
    should stay as they were are lost. Choose between two values instead."""
    return S + (~keep) * -np.inf


def hides_the_kept(S: F, keep: B) -> F:
    """you hid the places where keep is True. True means: may attend."""
    return np.where(keep, -np.inf, S)


def masks_in_place(S: F, keep: B) -> F:
    """you wrote into the caller's scores. They are still needed: to try another mask, or to look at. Make a new array."""
    np.copyto(S, -np.inf, where=~keep)
    return S


def fills_a_small_number(S: F, keep: B) -> F:
    """a hidden score became 0.001. A small score is not a small weight: exp(0.001) is about 1."""
    return np.where(keep, S, 1e-3)


def fills_minus_twenty(S: F, keep: B) -> F:
    """a hidden score became -20. That looks small beside scores near 0, and is large beside scores of -100. Only one
    number is below every score."""
    return np.where(keep, S, -20.0)


def fills_minus_a_billion(S: F, keep: B) -> F:
    """a hidden score became -1e9. That is usually low enough; but in a row where everything is hidden all scores are
    then equal, and softmax shares the weight out evenly among tokens nobody may see."""
    return np.where(keep, S, -1e9)


def mask_widens_float32(S: F, keep: B) -> F:
    """float32 scores came back as float64. Somewhere a float64 array took part: the dtype of the answer is that of S."""
    return np.where(keep, S.astype(np.float64), -np.inf)


def indexes_from_the_left(S: F, keep: B) -> F:
    """you used the mask as an index. NumPy then matches the mask's axes with the first axes of S, so a mask of [n, m]
    does not fit scores of [b, n, m] (or fits the wrong axes in silence). Broadcasting lines axes up from the right."""
    out = S.copy()
    out[~keep] = -np.inf
    return out


def indexes_from_the_right(S: F, keep: B) -> F:
    """your index wants every axis of the mask as long as that of S. An axis of length 1 stands for all: one mask for
    all tables of an item, say. Something that broadcasts serves that too."""
    out = S.copy()
    out[..., ~keep] = -np.inf
    return out


def scores_by_where(S: F, keep: B) -> F:
    return np.where(keep, S, -np.inf)


def scores_by_adding(S: F, keep: B) -> F:
    return S + np.where(keep, 0.0, -np.inf).astype(S.dtype)


def scores_by_copying(S: F, keep: B) -> F:
    out = np.full_like(S, -np.inf)
    np.copyto(out, S, where=keep)
    return out


def scores_by_indexing(S: F, keep: B) -> F:
    out = np.array(S)
    out[~np.broadcast_to(keep, S.shape)] = -np.inf
    return out


def scores_by_torch(S: F, keep: B) -> F:
    import torch

    return torch.from_numpy(S.copy()).masked_fill(~torch.from_numpy(keep.copy()), -torch.inf).numpy()


def _scores_and_masks(rng: np.random.Generator) -> list[Case]:
    b, n, m = sizes(rng, 3)
    return [
        case(normal(rng, n, m, scale=2.0), random_keep(rng, n, m)),
        case(normal(rng, m, m, scale=2.0), causal(m, m)),
        case(normal(rng, b, n, m, scale=2.0), random_keep(rng, b, n, m)),
    ]


def _one_mask_for_many(rng: np.random.Generator) -> list[Case]:
    b, h, n, m = sizes(rng, 4)
    return [
        case(normal(rng, b, n, m, scale=2.0), random_keep(rng, n, m)),
        case(normal(rng, b, n, m, scale=2.0), random_keep(rng, 1, n, m)),
        case(normal(rng, b, h, n, m, scale=2.0), random_keep(rng, b, 1, n, m)),
        case(normal(rng, n, n, n, scale=2.0), causal(n, n)),  # b = n = m: a mask fits the first two axes as well
    ]


def _huge_scores(rng: np.random.Generator) -> list[Case]:
    n, m = sizes(rng, 2, 3)
    S, keep = normal(rng, n, m, scale=2.0), random_keep(rng, n, m)
    S[~keep] = 1e4
    low = np.where(rng.random((m, m)) < 0.5, -1e4, normal(rng, m, m))
    return [case(S, keep), case(low, causal(m, m))]


def _masks_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, m = sizes(rng, 2)
    return [
        case(normal(rng, 1, 1), np.array([[True]])),
        case(normal(rng, 1, m), np.zeros((1, m), bool)),
        case(normal(rng, n, m, dtype="float32"), random_keep(rng, n, m)),
        case(normal(rng, n, m, order="strided"), np.asfortranarray(random_keep(rng, n, m))),
    ]


MASK_SCORES = Exercise(
    oracle=mask_scores,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[1.0, 3.0], [2.0, -1.0]]), np.array([[True, False], [True, True]])),
        case(
            np.array([[0.5, -2.0, 4.0], [1.0, 10_000.0, 0.0]]),
            np.array([[True, True, False], [False, False, True]]),
        ),
        case(
            np.array([[[1.0, 2.0], [3.0, 4.0]], [[-1.0, -2.0], [-3.0, -4.0]]], np.float32),
            np.array([[True, False], [True, True]]),
        ),
        case(
            np.array([[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]),
            np.array([[[True, False, True]], [[False, True, True]]]),
        ),
        case(
            np.array([[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]], [[[7.0, 8.0, 9.0]], [[10.0, 11.0, 12.0]]]]),
            np.array([[[[True, False, True]]], [[[True, True, False]]]]),
        ),
        # the mask's axes fit the first two of S as well as the last two
        case(np.array([[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0]]]]), np.array([[True, False, True]])),
    ),
    probes=(
        Probe("hidden scores become -inf, kept ones stay", 1.0, _scores_and_masks),
        Probe("one mask for a whole batch, and one mask for each item", 1.0, _one_mask_for_many),
        Probe("scores of 10000 in the future, and kept ones of -10000", 0.5, _huge_scores),
        Probe(
            "a single token, a row that sees nothing, float32, and arrays that are not contiguous",
            0.5,
            _masks_at_the_edge,
        ),
    ),
    mistakes=(
        fills_zero,
        infinity_times_mask,
        hides_the_kept,
        masks_in_place,
        fills_a_small_number,
        fills_minus_twenty,
        fills_minus_a_billion,
        mask_widens_float32,
        indexes_from_the_left,
        indexes_from_the_right,
    ),
    variants=(scores_by_where, scores_by_adding, scores_by_copying, scores_by_indexing, scores_by_torch),
)


# --------------------------------------------------------------------------------------------- zero_renorm


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


def no_renormalising(P: F, keep: B) -> F:
    """the hidden weights are gone, but the rows no longer add up to 1. And what is left still tells of the future: the
    more weight a hidden token had, the smaller the rest."""
    return np.where(keep, P, 0)


def renormalises_columns(P: F, keep: B) -> F:
    """you divided by the sum of each column. The weights of token i lie in row i, so it is the rows that must add up
    to 1."""
    Z = np.where(keep, P, 0)
    return Z / Z.sum(axis=0, keepdims=True)


def renormalises_everything(P: F, keep: B) -> F:
    """you divided by the sum of the whole matrix, so all rows together add up to 1. Each row is a distribution of its
    own."""
    Z = np.where(keep, P, 0)
    return Z / Z.sum()


def mask_times_matrix(P: F, keep: B) -> F:
    """you took the matrix product of the mask and the weights. That adds rows of P together; masking is done entry by
    entry."""
    Z = keep @ P
    return Z / Z.sum(axis=1, keepdims=True)


def matrix_times_mask(P: F, keep: B) -> F:
    """you took the matrix product of the weights and the mask. That adds columns of P together; masking is done entry
    by entry."""
    Z = P @ keep
    return Z / Z.sum(axis=1, keepdims=True)


def softmax_again(P: F, keep: B) -> F:
    """you put the zeroed weights through softmax once more. They are weights already, and exp(0) = 1 brings the hidden
    ones back."""
    E = np.exp(np.where(keep, P, 0))
    return E / E.sum(axis=1, keepdims=True)


def row_sums_lie_flat(P: F, keep: B) -> F:
    """your row sums have the shape [n], so NumPy lines them up with the columns. Each row must be divided by its own
    sum: keep the axis."""
    Z = np.where(keep, P, 0)
    return Z / Z.sum(axis=1)


def renormalises_the_hidden(P: F, keep: B) -> F:
    """you kept the places where keep is False. True means: may attend."""
    Z = np.where(keep, 0, P)
    return Z / Z.sum(axis=1, keepdims=True)


def zeroes_in_place(P: F, keep: B) -> F:
    """you wrote into the caller's weights. They are still needed: make a new array."""
    P *= keep
    P /= P.sum(axis=1, keepdims=True)
    return P


def adds_a_little_below(P: F, keep: B) -> F:
    """you added a small number to the sum before dividing. Where what is kept is itself small, that number decides,
    and the rows fall short of 1."""
    Z = np.where(keep, P, 0)
    return Z / (Z.sum(axis=1, keepdims=True) + 1e-8)


def guards_against_small_sums(P: F, keep: B) -> F:
    """a row came out as nearly nothing, because the sum of what it keeps is tiny and you divide by something larger:
    a smallest number that you allow, or a little that you add. However small the sum is, dividing by it is right."""
    Z = np.where(keep, P, 0)
    return Z / np.maximum(Z.sum(axis=1, keepdims=True), 1e-12)


def softmax_of_the_weights(P: F, keep: B) -> F:
    """you hid with -inf and took softmax of the weights. They are weights already: softmax takes exp of them a second
    time, which makes them nearly equal. Here the hidden ones become 0, and each row is divided by its sum."""
    E = np.where(keep, np.exp(P), 0)
    return E / E.sum(axis=1, keepdims=True)


def mask_widens_weights(P: F, keep: B) -> F:
    """float32 weights came back as float64. keep.astype(float) is a float64 array, and so is any array of zeros or
    ones made with the default type. The mask serves as it is."""
    Z = P * keep.astype(float)
    return Z / Z.sum(axis=1, keepdims=True)


def renorm_by_product(P: F, keep: B) -> F:
    Z = P * keep
    return Z / Z.sum(axis=-1, keepdims=True)


def renorm_by_loops(P: F, keep: B) -> F:
    out = np.zeros_like(P)
    for i, (weights, kept) in enumerate(zip(P, keep, strict=True)):
        out[i, kept] = weights[kept] / weights[kept].sum()
    return out


def renorm_by_einsum(P: F, keep: B) -> F:
    Z = np.where(keep, P, 0)
    return np.einsum("nm,n->nm", Z, 1 / np.einsum("nm->n", Z))


def renorm_by_torch(P: F, keep: B) -> F:
    import torch

    Z = torch.from_numpy(P.copy()).masked_fill(~torch.from_numpy(keep.copy()), 0)
    return (Z / Z.sum(dim=-1, keepdim=True)).numpy()


def renorm_guarded(P: F, keep: B) -> F:
    Z = np.where(keep, P, 0)
    left = Z.sum(axis=1, keepdims=True)
    return np.divide(Z, left, out=np.zeros_like(Z), where=left > 0)


def _weights(rng: np.random.Generator, n: int, m: int, dtype: str = "float64", order: str = "C") -> F:
    E = np.exp(normal(rng, n, m, scale=1.5))
    P = normal(rng, n, m, dtype=dtype, order=order)
    P[...] = E / E.sum(axis=1, keepdims=True)
    return P


def _weights_and_masks(rng: np.random.Generator) -> list[Case]:
    n, m = sizes(rng, 2, 3)
    return [case(_weights(rng, n, m), random_keep(rng, n, m)), case(_weights(rng, m, n), random_keep(rng, m, n))]


def _square_weights(rng: np.random.Generator) -> list[Case]:
    n, m = sizes(rng, 2, 3)
    return [case(_weights(rng, n, n), causal(n, n)), case(_weights(rng, m, m), random_keep(rng, m, m))]


def _tiny_weights(rng: np.random.Generator) -> list[Case]:
    """What is kept is small in some rows, because a hidden token had nearly all the weight."""
    n, m = sizes(rng, 2, 4)
    P, keep = _weights(rng, n, m), random_keep(rng, n, m)
    small = np.where(keep, 10.0 ** -rng.uniform(6, 12, (n, 1)), 1.0)
    P[1:] = (P * small / (P * small).sum(axis=1, keepdims=True))[1:]
    R, kept = _weights(rng, m, n), random_keep(rng, m, n)
    R *= np.where(kept, 10.0 ** -rng.uniform(25, 35, (m, 1)), 1.0)
    return [case(P, keep), case(R, kept)]


def _weights_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, m = sizes(rng, 2, 3)
    return [
        case(np.array([[1.0]]), np.array([[True]])),
        case(_weights(rng, 1, m), random_keep(rng, 1, m)),
        case(_weights(rng, n, m, "float32"), random_keep(rng, n, m)),
        case(_weights(rng, n, m, order="strided"), np.asfortranarray(random_keep(rng, n, m))),
    ]


ZERO_RENORM = Exercise(
    oracle=zero_renorm,
    notebook=NOTEBOOK,
    public=(
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
    ),
    probes=(
        Probe("hidden weights are 0, and what is kept adds up to 1 in every row", 1.5, _weights_and_masks),
        Probe("the same where the mask is square and matrix products would run too", 0.5, _square_weights),
        Probe("rows in which next to nothing is kept", 0.5, _tiny_weights),
        Probe("a single token, float32, and arrays that are not contiguous", 0.5, _weights_at_the_edge),
    ),
    mistakes=(
        no_renormalising,
        renormalises_columns,
        renormalises_everything,
        mask_times_matrix,
        matrix_times_mask,
        softmax_again,
        row_sums_lie_flat,
        renormalises_the_hidden,
        zeroes_in_place,
        adds_a_little_below,
        guards_against_small_sums,
        softmax_of_the_weights,
        mask_widens_weights,
    ),
    variants=(renorm_by_product, renorm_by_loops, renorm_by_einsum, renorm_by_torch, renorm_guarded),
)


# ------------------------------------------------------------------------------------------ masked_softmax


def masked_softmax(S: Float[np.ndarray, "*b n m"], keep: Bool[np.ndarray, "*#b n m"]) -> Float[np.ndarray, "*b n m"]:
    """Softmax of each row over the places that are kept, 0 at the others; a row that keeps nothing is all 0."""
    wide = np.broadcast_to(keep, S.shape)
    out = np.zeros(S.shape)
    for row in np.ndindex(S.shape[:-1]):
        kept = [j for j in range(S.shape[-1]) if wide[row][j]]
        if kept:
            top = np.max(S[row][kept])  # NaN where one of them is
            total = sum(math.exp(S[row][j] - top) for j in kept)
            for j in kept:
                out[row][j] = math.exp(S[row][j] - top) / total
    return out


def nan_in_empty_rows(S: F, keep: B) -> F:
    """in a row that may attend to nothing every score is -inf, and -inf minus -inf is NaN. Such a row should come out
    as zeros."""
    M = np.where(keep, S, -np.inf)
    with np.errstate(invalid="ignore"):
        E = np.exp(M - M.max(axis=-1, keepdims=True))
        return E / E.sum(axis=-1, keepdims=True)


def uniform_in_empty_rows(S: F, keep: B) -> F:
    """a row that may attend to nothing came out uniform: all its scores were the same finite number, be it a large
    negative one that hides, or a 0 put there against the NaN. None is lower than the others then, and softmax shares
    the weight out evenly. It should get no weight at all."""
    M = np.where(keep, S, -1e9)
    E = np.exp(M - M.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


def adds_minus_a_billion(S: F, keep: B) -> F:
    """a row that may attend to nothing still has weights. You added one large number to all of its scores, and softmax
    ignores a shift."""
    M = S + np.where(keep, 0.0, -1e9).astype(S.dtype)
    E = np.exp(M - M.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


def fills_twenty_below(S: F, keep: B) -> F:
    """you hid with a score of -20. Beside kept scores that are lower still, the hidden ones get all the weight."""
    M = np.where(keep, S, -20.0)
    E = np.exp(M - M.max(axis=-1, keepdims=True)) * keep.any(axis=-1, keepdims=True)
    return E / np.where(E.sum(axis=-1, keepdims=True) == 0, 1, E.sum(axis=-1, keepdims=True))


def hides_nan(S: F, keep: B) -> F:
    """a NaN among the kept scores came out as a harmless number. What you do about empty rows has caught that row too:
    nan_to_num mends every NaN, and a question like total > 0 is answered no by a NaN. But this one would have told of
    a bug elsewhere. Treat the rows that keep nothing, and only those."""
    M = np.where(keep, S, -np.inf)
    with np.errstate(invalid="ignore"):
        E = np.exp(M - M.max(axis=-1, keepdims=True))
        return np.nan_to_num(E / E.sum(axis=-1, keepdims=True))


def zeros_before_softmax(S: F, keep: B) -> F:
    """you set hidden scores to 0 before softmax. exp(0) = 1, so hidden tokens still get weight, in rows of low scores
    even most of it."""
    M = np.where(keep, S, 0)
    E = np.exp(M - M.max(axis=-1, keepdims=True)) * keep.any(axis=-1, keepdims=True)
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


def zeroes_after_softmax(S: F, keep: B) -> F:
    """you took softmax over all scores and zeroed afterwards. That is equal on paper; but where a hidden score is far
    above the kept ones, their weights have already been rounded to 0. Hide first."""
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    Z = E / E.sum(axis=-1, keepdims=True) * keep
    with np.errstate(invalid="ignore"):
        return Z / Z.sum(axis=-1, keepdims=True)


def zeroes_after_with_a_guard(S: F, keep: B) -> F:
    """you took softmax over all scores and zeroed afterwards. Where a hidden score is far above the kept ones, their
    weights have been rounded to 0 by then, and the guard you put in for empty rows hides that. Hide first."""
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    Z = E / E.sum(axis=-1, keepdims=True) * keep
    total = Z.sum(axis=-1, keepdims=True)
    return Z / np.where(total == 0, 1, total)


def zeroes_and_leaves_it(S: F, keep: B) -> F:
    """you took softmax over all scores and set the hidden weights to 0. The rows no longer add up to 1, and each
    weight that is left has been divided by a sum in which the future takes part. Hide before softmax."""
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True) * keep


def renormalises_by_zero_renorm(S: F, keep: B) -> F:
    """you took softmax over all scores and handed it to zero_renorm. That is equal on paper only: far below a hidden
    score the kept weights are rounded to 0, and an empty row becomes 0/0. And zero_renorm knows tables of two axes,
    not batches. Hide first."""
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    Z = np.where(keep, E / E.sum(axis=-1, keepdims=True), 0)
    with np.errstate(invalid="ignore"):
        return Z / Z.sum(axis=1, keepdims=True)


def axis_one_for_the_last(S: F, keep: B) -> F:
    """you take the maximum and the sum along axis 1. In a table that is the last axis, and in a batch of tables it is
    not. Count from the end: the last axis is -1, however many there are."""
    M = np.where(keep, S, -np.inf)
    top = M.max(axis=1, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=1, keepdims=True)
    return E / np.where(total == 0, 1, total)


def empty_rows_lie_flat(S: F, keep: B) -> F:
    """keep.any(axis=-1) has one answer for each row, in the shape [n], and NumPy lines that up with the columns. Each
    answer belongs to a whole row: keep the axis."""
    M = np.where(keep, S, -np.inf)
    with np.errstate(invalid="ignore"):
        E = np.exp(M - M.max(axis=-1, keepdims=True))
        W = E / E.sum(axis=-1, keepdims=True)
    return np.where(keep.any(axis=-1), W, 0)


def empties_by_index(S: F, keep: B) -> F:
    """you pick the empty rows by an index, and NumPy matches it with the first axes. One mask for a whole batch says
    nothing of the first axis. Choose between two values instead, with something that broadcasts."""
    M = np.where(keep, S, -np.inf)
    with np.errstate(invalid="ignore"):
        E = np.exp(M - M.max(axis=-1, keepdims=True))
        W = E / E.sum(axis=-1, keepdims=True)
    W[~keep.any(axis=-1)] = 0
    return W


def loops_over_one_table(S: F, keep: B) -> F:
    """your loop goes over the first axis, as if it were always the rows. Of a batch [b, n, m] the first axis are its
    tables. Work along the last axis without a loop, and every shape is served."""
    out = np.zeros_like(S)
    for i in range(len(S)):
        if keep[i].any():
            kept = S[i][keep[i]]
            E = np.exp(kept - kept.max())
            out[i][keep[i]] = E / E.sum()
    return out


def softmax_without_shift(S: F, keep: B) -> F:
    """you took exp of the scores as they are. exp(10000) is infinite: subtract the largest score of the row first, the
    largest among the kept."""
    with np.errstate(over="ignore", invalid="ignore"):
        E = np.where(keep, np.exp(S), 0)
        total = E.sum(axis=-1, keepdims=True)
        return E / np.where(total == 0, 1, total)


def shifts_by_one_maximum(S: F, keep: B) -> F:
    """you subtracted the largest score of the whole array. A row whose own scores are far below it is rounded to
    nothing: each row needs its own maximum."""
    M = np.where(keep, S, -np.inf)
    E = np.exp(M - M[np.isfinite(M)].max(initial=-1e300))
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


def softmax_down_columns(S: F, keep: B) -> F:
    """your columns add up to 1. The weights of token i lie in row i: softmax runs over the last axis."""
    M = np.where(keep, S, -np.inf)
    top = M.max(axis=-2, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=-2, keepdims=True)
    return E / np.where(total == 0, 1, total)


def attends_to_the_hidden(S: F, keep: B) -> F:
    """the weights lie on the hidden places. True means: may attend."""
    M = np.where(keep, -np.inf, S)
    top = M.max(axis=-1, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


def adds_to_a_nan(S: F, keep: B) -> F:
    """a NaN at a hidden place got into the answer. You add -inf to what stands there, and NaN plus -inf is NaN.
    Replace what is hidden: then it cannot matter what it was."""
    with np.errstate(invalid="ignore"):
        M = S + np.where(keep, 0.0, -np.inf).astype(S.dtype)
    top = M.max(axis=-1, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


def softmax_in_place(S: F, keep: B) -> F:
    """you wrote into the caller's scores. They are still needed: make a new array."""
    np.copyto(S, -np.inf, where=~keep)
    top = S.max(axis=-1, keepdims=True)
    E = np.exp(S - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


def softmax_by_hiding(S: F, keep: B) -> F:
    M = np.where(keep, S, -np.inf)
    top = M.max(axis=-1, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


def softmax_emptied_afterwards(S: F, keep: B) -> F:
    M = np.where(keep, S, -np.inf)
    with np.errstate(invalid="ignore"):
        E = np.exp(M - M.max(axis=-1, keepdims=True))
        W = E / E.sum(axis=-1, keepdims=True)
    return np.where(keep.any(axis=-1, keepdims=True), W, 0)


def softmax_by_loops(S: F, keep: B) -> F:
    keep = np.broadcast_to(keep, S.shape)
    out = np.zeros_like(S)
    for row in np.ndindex(S.shape[:-1]):
        kept = S[row][keep[row]]
        if len(kept):
            E = np.exp(kept - kept.max())
            out[row][keep[row]] = E / E.sum()
    return out


def softmax_by_torch(S: F, keep: B) -> F:
    import torch

    kept = torch.from_numpy(np.array(keep))
    W = torch.from_numpy(S.copy()).masked_fill(~kept, -torch.inf).softmax(dim=-1)
    return torch.where(kept.any(dim=-1, keepdim=True), W, 0).numpy()


def softmax_by_where_twice(S: F, keep: B) -> F:
    top = np.max(S, axis=-1, keepdims=True, initial=-np.finfo(S.dtype).max, where=keep)
    E = np.where(keep, np.exp(np.where(keep, S - top, 0)), 0)
    return E / np.where(keep.any(axis=-1, keepdims=True), E.sum(axis=-1, keepdims=True), 1)


def _scores_to_weigh(rng: np.random.Generator) -> list[Case]:
    b, n, m = sizes(rng, 3, 3)
    return [
        case(normal(rng, n, m, scale=2.0), random_keep(rng, n, m)),
        case(normal(rng, m, m, scale=2.0), causal(m, m)),
        case(normal(rng, b, n, m, scale=2.0), random_keep(rng, b, n, m)),
    ]


def _one_mask_to_weigh(rng: np.random.Generator) -> list[Case]:
    b, h, n, m = sizes(rng, 4)
    return [
        case(normal(rng, b, n, m, scale=2.0), random_keep(rng, n, m)),
        case(normal(rng, b, h, n, m, scale=2.0), random_keep(rng, b, 1, n, m)),
        case(normal(rng, n, n, n, scale=2.0), causal(n, n)),
    ]


def _empty_rows(rng: np.random.Generator) -> list[Case]:
    b, n, m = sizes(rng, 3, 3)
    some, batch = random_keep(rng, n, m), random_keep(rng, b, n, m)
    some[rng.integers(n)] = False
    batch[rng.integers(b), rng.integers(n)] = False
    return [
        case(normal(rng, n, m, scale=2.0), some),
        case(normal(rng, b, n, m, scale=2.0), batch),
        case(normal(rng, n, m, scale=2.0), np.zeros((n, m), bool)),
    ]


def _far_apart(rng: np.random.Generator) -> list[Case]:
    """Hidden scores far above the kept ones, kept ones far below the others', and large ones that are kept."""
    n, m = sizes(rng, 2, 4)
    above, keep = normal(rng, n, m, scale=2.0), random_keep(rng, n, m)
    above[~keep] += 1e4
    below = normal(rng, n, m, scale=2.0)
    below[0] -= 1e4
    large = normal(rng, m, m, scale=2.0)
    large[1, 0], large[2, 1] = 1e4, -1e4
    return [case(above, keep), case(below, random_keep(rng, n, m)), case(large, causal(m, m))]


def _not_numbers(rng: np.random.Generator) -> list[Case]:
    """NaN at a hidden place of one row, and in another row, which hides nothing, at a kept one."""
    n, m = sizes(rng, 2, 4)
    S, keep = normal(rng, n, m, scale=2.0), random_keep(rng, n, m)
    keep[0] = True
    S[0, rng.integers(m)] = np.nan
    S[1, np.argmin(keep[1])] = np.nan
    other = normal(rng, m, m, scale=2.0)
    other[0, m - 1] = np.nan
    return [case(S, keep), case(other, causal(m, m))]


def _weighed_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, m = sizes(rng, 2, 3)
    return [
        case(normal(rng, 1, 1), np.array([[True]])),
        case(normal(rng, 1, m), random_keep(rng, 1, m)),
        case(normal(rng, n, m, scale=2.0, dtype="float32"), random_keep(rng, n, m)),
        case(normal(rng, n, m, scale=2.0, order="strided"), np.asfortranarray(random_keep(rng, n, m))),
    ]


MASKED_SOFTMAX = Exercise(
    oracle=masked_softmax,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[1.0, 3.0], [2.0, 2.0]]), np.array([[True, False], [True, True]])),
        case(
            np.array([[0.0, 1.0, -1.0], [2.0, 0.0, 1.0]]),
            np.array([[True, True, False], [False, False, False]]),
        ),
        case(
            np.array([[-100.0, 10_000.0, -101.0], [10_000.0, 9_999.0, 0.0]]),
            np.array([[True, False, True], [True, True, False]]),
        ),
        case(
            np.array([[1.0, np.nan, 0.0], [2.0, 1.0, np.nan]]),
            np.array([[True, False, True], [True, True, True]]),
        ),
        case(
            np.array([[[0.0, 1.0], [2.0, 0.0]], [[1.0, 1.0], [0.0, 3.0]], [[-1.0, 5.0], [1.0, -1.0]]], np.float32),
            np.array([[True, False], [True, True]]),
        ),
    ),
    probes=(
        Probe("each row shares its weight out among what it may see", 1.0, _scores_to_weigh),
        Probe("one mask for a whole batch", 0.5, _one_mask_to_weigh),
        Probe("a row with nothing to attend to is all zeros", 1.0, _empty_rows),
        Probe("hidden scores far above the kept ones, and scores of 10000 and -10000", 0.5, _far_apart),
        Probe("a NaN that is kept stays visible, one that is hidden does not show", 0.5, _not_numbers),
        Probe("a single token, float32, and arrays that are not contiguous", 0.5, _weighed_at_the_edge),
    ),
    mistakes=(
        nan_in_empty_rows,
        uniform_in_empty_rows,
        adds_minus_a_billion,
        fills_twenty_below,
        hides_nan,
        zeros_before_softmax,
        zeroes_after_softmax,
        zeroes_after_with_a_guard,
        zeroes_and_leaves_it,
        renormalises_by_zero_renorm,
        axis_one_for_the_last,
        empty_rows_lie_flat,
        empties_by_index,
        loops_over_one_table,
        softmax_without_shift,
        shifts_by_one_maximum,
        softmax_down_columns,
        attends_to_the_hidden,
        adds_to_a_nan,
        softmax_in_place,
    ),
    variants=(
        softmax_by_hiding,
        softmax_emptied_afterwards,
        softmax_by_loops,
        softmax_by_torch,
        softmax_by_where_twice,
    ),
    uses=("mask_scores",),
)


# ----------------------------------------------------------------------------------------------- influence


def influence(
    f: Callable[[Float[np.ndarray, "n d"]], Float[np.ndarray, "n v"]], X: Float[np.ndarray, "n d"]
) -> Bool[np.ndarray, "n n"]:
    """Entry (i, j) is True where output i of f moves when token j of X moves."""
    n, d = X.shape
    uneven = np.array([0.9 + 0.7 * math.sin(2.0 * x + 1.0) for x in range(d)])
    nudges = [1.0 * uneven, -0.5 * uneven, *(0.7 * row for row in np.eye(d)), -1.3 * uneven[::-1]]
    at_rest = np.array(f(X.copy()), np.float64)
    moves = np.zeros((n, n), bool)
    for j in range(n):
        for nudge in nudges:
            moved = X.copy()
            for x in range(d):
                moved[j, x] += nudge[x]
            outputs = np.array(f(moved), np.float64)
            for i in range(n):
                if max(abs(outputs[i] - at_rest[i])) > MOVES:
                    moves[i, j] = True
    return moves


# A planted leak moves an output by 1e-6 or more, rounding moves it by 1e-12 or less.
MOVES = 1e-9


def moves_only_the_last_token(f: Model, X: F) -> B:
    """only the last column of your map is filled: you moved the last token and no other. Every token takes its turn."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    Y = X.copy()
    Y[-1] += 0.5 + np.arange(X.shape[1])
    moved[:, -1] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


def same_nudge_for_every_feature(f: Model, X: F) -> B:
    """your nudge adds the same number to every feature of a token. A model that first subtracts the token's mean, as
    many do, does not notice that. Move the features by different amounts."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 1.0
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


def nudge_too_small(f: Model, X: F) -> B:
    """nothing seems to move, not even an output by its own token. Your nudge is so small that what it does lies below
    your threshold. A nudge need not be small: this is no derivative."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 1e-11 * (0.5 + np.arange(X.shape[1]))
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


def exact_comparison(f: Model, X: F) -> B:
    """you accuse an honest model. Two runs of it may differ by rounding, around 1e-13, and you take any difference for
    influence. Ask for more than that."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 0.5 + np.arange(X.shape[1])
        moved[:, j] = (f(Y) != before).any(axis=1)
    return moved


def even_nudge_exactly_compared(f: Model, X: F) -> B:
    """two things at once. Your nudge adds the same number to every feature, which a model that subtracts each token's
    mean does not notice; and you take any difference for influence, also one of rounding."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 1.0
        moved[:, j] = (f(Y) != before).any(axis=1)
    return moved


def map_is_turned(f: Model, X: F) -> B:
    """your map is turned. Row i belongs to the output that is watched, column j to the token that is moved."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 0.5 + np.arange(X.shape[1])
        moved[j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


def default_tolerance(f: Model, X: F) -> B:
    """you miss a faint leak: your threshold is too large for it, or your nudge too small. (np.isclose and np.allclose
    bring a threshold of their own, 1e-5 of the value.) Move by about 1, and choose a threshold between what rounding
    does and what the faintest leak does."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 0.5 + np.arange(X.shape[1])
        moved[:, j] = ~np.isclose(f(Y), before).all(axis=1)
    return moved


def counts_only_increases(f: Model, X: F) -> B:
    """you see an output move up, and not when it moves down. The size of the difference matters, not its sign."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 0.5 + np.arange(X.shape[1])
        moved[:, j] = (f(Y) - before > 1e-9).any(axis=1)
    return moved


def counts_increases_by_an_even_nudge(f: Model, X: F) -> B:
    """two things at once. You see an output move up, and not when it moves down: the size of the difference matters. And
    your nudge adds the same number to every feature, which a model that subtracts each token's mean does not notice."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 1.0
        moved[:, j] = (f(Y) - before > 1e-9).any(axis=1)
    return moved


def counts_only_decreases(f: Model, X: F) -> B:
    """you see an output move one way, and not when it moves the other way. The size of the difference matters, not its
    sign."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 0.5 + np.arange(X.shape[1])
        moved[:, j] = (before - f(Y) > 1e-9).any(axis=1)
    return moved


def adds_the_features_up(f: Model, X: F) -> B:
    """you add up the features of an output before you compare. One may rise by as much as another falls, and the sum
    stays. Look at each feature."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 0.5 + np.arange(X.shape[1])
        moved[:, j] = np.abs((f(Y) - before).sum(axis=1)) > 1e-9
    return moved


def watches_one_feature(f: Model, X: F) -> B:
    """you watch one feature of each output, or ask that all of them move. The output has moved if any of its features
    has."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 0.5 + np.arange(X.shape[1])
        moved[:, j] = np.abs(f(Y) - before)[:, 0] > 1e-9
    return moved


def nudges_one_feature(f: Model, X: F) -> B:
    """you move one feature of a token. A model may not read that feature at all, and copy another. Move all of them."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j, 0] += 1.0
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


def nudge_begins_at_zero(f: Model, X: F) -> B:
    """your nudge leaves the first feature where it is, as np.arange(d) begins at 0; and where a token has one feature
    only, nothing moves at all. Every feature has to move."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += np.arange(X.shape[1])
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


def nudge_adds_up_to_nothing(f: Model, X: F) -> B:
    """your nudge moves some features up and others down, so that in sum they stay. A model that passes on the sum of a
    token's features does not notice. Different amounts, and not a sum of zero."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += np.linspace(-1, 1, X.shape[1])
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


def sets_the_token_to_zero(f: Model, X: F) -> B:
    """you set the token to zero. Where it was zero already, nothing has moved. Add something to it."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] = 0.0
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


def scales_the_token(f: Model, X: F) -> B:
    """you multiply the token. A token of zeros stays where it is, and a model that divides each token by its size, as
    LayerNorm does, does not notice either. Add something, a different amount to each feature."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] *= 2.0
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


def never_puts_it_back(f: Model, X: F) -> B:
    """a late column of your map also shows what earlier tokens did: they are moved along, or were never put back. Begin
    each turn with a fresh copy, and move one token."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    Y = X.copy()
    for j in range(len(X)):
        Y[j] += 0.5 + np.arange(X.shape[1])
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


def moves_later_tokens_along(f: Model, X: F) -> B:
    """you move token j and all that come after it, as a slice like Y[j:] does. A column of the map is about one token:
    move that one and no other."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j:] += 0.5 + np.arange(X.shape[1])
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


def moves_the_callers_tokens(f: Model, X: F) -> B:
    """you move the tokens in the caller's own X, one after another. Take a fresh copy for each turn: Y = X is a second
    name, not a copy."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X
        Y[j] += 1.0 + np.arange(X.shape[1])
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


def moves_the_callers_tokens_evenly(f: Model, X: F) -> B:
    """two things at once. You move the tokens in the caller's own X (Y = X is a second name, not a copy); and your nudge
    adds the same number to every feature, which a model that subtracts each token's mean does not notice."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X
        Y[j] += 1.0
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


def takes_the_nudge_back(f: Model, X: F) -> B:
    """you add the nudge to the caller's own X and subtract it afterwards. In floating point that does not always lead
    back: 0.1 + 1 - 1 is 0.10000000000000009. Move a copy."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        nudge = 1.0 + np.arange(X.shape[1])
        X[j] += nudge
        moved[:, j] = (np.abs(f(X) - before) > 1e-9).any(axis=1)
        X[j] -= nudge
    return moved


def returns_what_should_be(f: Model, X: F) -> B:
    """your map is the causal mask, whatever the model does. The mask says what a model should see. Ask the model what it
    does see."""
    return np.tril(np.ones((len(X), len(X)), bool))


def compares_with_itself(f: Model, X: F) -> B:
    """nothing ever differs, because both runs get the moved tokens: Y = X is a second name for the caller's array, not
    a copy."""
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X
        Y[j] += 0.5 + np.arange(X.shape[1])
        moved[:, j] = (np.abs(f(Y) - f(X)) > 1e-9).any(axis=1)
    return moved


def moves_features_for_tokens(f: Model, X: F) -> B:
    """you move column j of X, which is one feature of all tokens. Token j is row j."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[:, j] += 0.5 + np.arange(len(X))
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


def asks_the_features_not_the_outputs(f: Model, X: F) -> B:
    """you ask of each feature whether it moved in any output. It is the other way round: of each output, whether it
    moved in any feature."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 0.5 + np.arange(X.shape[1])
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=0)
    return moved


def reports_only_the_future(f: Model, X: F) -> B:
    """your map shows only what comes from the future. It should show all influence, also the permitted one; comparing
    with the mask comes later."""
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j in range(len(X)):
        Y = X.copy()
        Y[j] += 0.5 + np.arange(X.shape[1])
        moved[:j, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)[:j]
    return moved


def influence_by_uneven_nudges(f: Model, X: F) -> B:
    n, d = X.shape
    before = f(X)
    moved = np.zeros((n, n), bool)
    for j in range(n):
        Y = X.copy()
        Y[j] += 1 + np.arange(d) / d
        moved[:, j] = (np.abs(f(Y) - before) > 1e-9).any(axis=1)
    return moved


def influence_by_random_tokens(f: Model, X: F) -> B:
    rng = np.random.default_rng(0)
    n, d = X.shape
    before = f(X)
    columns = []
    for j in range(n):
        differences = []
        for _ in range(3):
            Y = X.copy()
            Y[j] = rng.standard_normal(d)
            differences.append(np.abs(f(Y) - before).max(axis=1))
        columns.append(np.max(differences, axis=0) > 1e-8)
    return np.stack(columns, axis=1)


def influence_feature_by_feature(f: Model, X: F) -> B:
    before = f(X)
    moved = np.zeros((len(X), len(X)), bool)
    for j, x in np.ndindex(X.shape):
        Y = X.copy()
        Y[j, x] += 0.8
        moved[:, j] |= np.abs(f(Y) - before).max(axis=1) > 1e-10
    return moved


def influence_by_large_nudges(f: Model, X: F) -> B:
    n, d = X.shape
    before = f(X)
    nudges = np.zeros((n, n, d))
    nudges[np.arange(n), np.arange(n)] = 3.0 * np.sin(np.arange(1, d + 1))
    return np.array([~np.isclose(f(X + nudge), before, rtol=0, atol=1e-9).all(axis=1) for nudge in nudges]).T


def influence_by_restoring(f: Model, X: F) -> B:
    Y = np.array(X, dtype=np.float64)
    before = f(Y)
    moved = np.zeros((len(Y), len(Y)), bool)
    for j in range(len(Y)):
        kept = Y[j].copy()
        for sign in (1, -1):
            Y[j] = kept + sign * np.sqrt(1 + np.arange(len(kept)))
            moved[:, j] |= np.linalg.norm(f(Y) - before, axis=1) > 1e-9
        Y[j] = kept
    return moved


def _watched(X: F, run: Model) -> Function:
    """A model as a case hands it over: it stays with the judge, and calling it costs nothing."""

    def model(Y: F) -> F:
        Y = np.asarray(Y, np.float64)
        if Y.shape != X.shape:
            raise ValueError(f"the model takes tokens of shape [n, d] = {list(X.shape)}, not {list(Y.shape)}")
        return run(Y)

    return Function("model", model, lambda *arguments, **keywords: 0)


def _case_of(X: F, run: Model) -> Case:
    return case(_watched(X, run), X)


def _layer_norm(X: F, eps: float = 1e-5) -> F:
    spread = X.var(axis=1, keepdims=True)
    return (X - X.mean(axis=1, keepdims=True)) / np.sqrt(np.where(spread + eps == 0, 1, spread + eps))


def _attend(X: F, W: list[F], keep: B) -> F:
    """Attention of one head; a token that keeps nothing gets zeros. W holds query, key and value weights."""
    Q, K, V = (X @ w for w in W)
    out = np.zeros((len(X), V.shape[1]))
    for i, kept in enumerate(keep):
        if kept.any():
            scores = K[kept] @ Q[i] / math.sqrt(Q.shape[1])
            E = np.exp(scores - scores.max())
            out[i] = E @ V[kept] / E.sum()
    return out


def _head(rng: np.random.Generator, d: int, v: int) -> list[F]:
    """Weights that give scores of moderate size: saturated weights would hide true influence."""
    k = int(rng.integers(2, 5))
    return [normal(rng, d, width, scale=0.8 / math.sqrt(d)) for width in (k, k)] + [
        normal(rng, d, v, scale=1 / math.sqrt(d))
    ]


def _tokens(rng: np.random.Generator) -> tuple[F, int]:
    """Moderate tokens [n, d], and a width for the outputs; all three sizes differ."""
    n, d, v = sizes(rng, 3, 3, 7)
    return normal(rng, n, d), v


def _attending(rng: np.random.Generator, X: F, v: int, keep: B) -> Case:
    W = _head(rng, X.shape[1], v)
    return _case_of(X, lambda Y: _attend(Y, W, keep))


def _honest(rng: np.random.Generator) -> list[Case]:
    X, v = _tokens(rng)
    n, d = X.shape
    W, bias = normal(rng, d, v), normal(rng, n, v)
    return [
        _attending(rng, X, v, causal(n, n)),
        _attending(rng, X, v, np.ones((n, n), bool)),
        _attending(rng, X, v, causal(n, n).T),
        _case_of(X, lambda Y: np.tanh(Y @ W)),
        _case_of(X, lambda Y: bias.copy()),
    ]


def _one_too_many(rng: np.random.Generator) -> list[Case]:
    """A causal model that also sees the next token, or in which one token sees one later token."""
    cases: list[Case] = []
    for _ in range(3):
        X, v = _tokens(rng)
        n = len(X)
        keep = causal(n, n)
        leaky = [np.tril(np.ones((n, n), bool), k=1), keep.copy(), keep.copy()][len(cases)]
        if len(cases) == 1:
            leaky[0, n - 1] = True
        if len(cases) == 2:
            i = int(rng.integers(n - 1))
            leaky[i, rng.integers(i + 1, n)] = True
        cases.append(_attending(rng, X, v, leaky))
    return cases


def _leaky_pair(rng: np.random.Generator, n: int) -> tuple[int, int]:
    """An output, and a later token that leaks into it."""
    i = int(rng.integers(n - 1))
    return i, int(rng.integers(i + 1, n))


def _one_head(rng: np.random.Generator) -> list[Case]:
    """Three heads side by side, of which the first is never the one that leaks."""
    X, v = _tokens(rng)
    n, d = X.shape
    heads = [_head(rng, d, v) for _ in range(3)]
    masks = [causal(n, n) for _ in heads]
    masks[int(rng.integers(1, 3))][_leaky_pair(rng, n)] = True
    honest = [causal(n, n) for _ in heads]
    Wo = normal(rng, 3 * v, d)

    def side_by_side(Y: F, keeps: list[B]) -> F:
        return np.hstack([_attend(Y, W, keep) for W, keep in zip(heads, keeps, strict=True)])

    return [
        _case_of(X, lambda Y: side_by_side(Y, masks)),
        _case_of(X, lambda Y: Y + side_by_side(Y, masks) @ Wo),
        _case_of(X, lambda Y: Y + side_by_side(Y, honest) @ Wo),
    ]


def _behind_a_norm(rng: np.random.Generator) -> list[Case]:
    """LayerNorm before attention, and after it; its mean, and without eps its size, cannot be moved."""
    n, v = (int(size) for size in rng.choice([3, 5, 6, 7], 2, replace=False))
    X = normal(rng, n, 4)
    quarters = np.round(4 * X) / 4  # moved evenly, their mean is subtracted without any rounding
    W = _head(rng, 4, v)
    leaky = causal(n, n)
    leaky[_leaky_pair(rng, n)] = True
    return [
        _case_of(quarters, lambda Y: _attend(_layer_norm(Y), W, leaky)),
        _case_of(X, lambda Y: _attend(_layer_norm(Y, eps=0.0), W, causal(n, n))),
        _case_of(X, lambda Y: _layer_norm(_attend(Y, W, leaky))),
    ]


def _narrow(rng: np.random.Generator) -> list[Case]:
    """Leaks through the last feature alone, through the sum of all, and into the last feature of the output."""
    X, v = _tokens(rng)
    n, d = X.shape
    W = _head(rng, d, v)
    keep, (i, j) = causal(n, n), _leaky_pair(rng, n)

    def leaking(Y: F, what: F, into: slice) -> F:
        out = _attend(Y, W, keep)
        out[i, into] += what
        return out

    everywhere, last = slice(None), slice(v - 1, v)
    even = normal(rng, n, 4)  # an even number of features, so that alternating ups and downs add up to nothing
    return [
        _case_of(even, lambda Y: np.tril(np.ones((n, n))) @ np.tanh(0.2 * Y.sum(axis=1, keepdims=True))),
        _case_of(even, lambda Y: np.tril(np.ones((n, n))) @ np.tanh(0.5 * Y[:, :1])),
        _case_of(X, lambda Y: leaking(Y, 0.3 * Y[j, -1:], everywhere)),
        _case_of(X, lambda Y: leaking(Y, 0.3 * Y[j].sum(keepdims=True), everywhere)),
        _case_of(X, lambda Y: leaking(Y, np.tanh(0.2 * Y[j] @ (1.0 + np.arange(d)))[None], last)),
        _case_of(X, lambda Y: np.tanh(0.2 * Y.sum(axis=1, keepdims=True)) * np.ones(v)),
    ]


def _faint(rng: np.random.Generator) -> list[Case]:
    """Leaks of a few millionths into outputs that are themselves around 60."""
    cases: list[Case] = []
    for _ in range(2):
        X, v = _tokens(rng)
        n, d = X.shape
        W, leak = _head(rng, d, v), 6e-6 * (1.0 + rng.random((d, v)))
        keep, (i, j) = causal(n, n), _leaky_pair(rng, n)

        def model(Y: F, W: list[F] = W, keep: B = keep, leak: F = leak, i: int = i, j: int = j) -> F:
            out = 60.0 + _attend(Y, W, keep)
            out[i] += Y[j] @ leak
            return out

        cases.append(_case_of(X, model))
    return cases


def _rounding(rng: np.random.Generator) -> list[Case]:
    """Honest models whose outputs wobble by less than 1e-12, differently for every input."""
    X, v = _tokens(rng)
    n, d = X.shape
    W, V = _head(rng, d, v), normal(rng, d, v)
    tuning = 1e5 * normal(rng, n * v, X.size)

    def wobble(Y: F) -> F:
        return 4e-13 * np.sin(tuning @ Y.ravel()).reshape(n, v)

    return [
        _case_of(X, lambda Y: _attend(Y, W, causal(n, n)) + wobble(Y)),
        _case_of(X, lambda Y: np.tanh(Y @ V) + wobble(Y)),
    ]


def _influence_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n = int(rng.integers(3, 6))
    alone, square, single = (
        normal(rng, 1, 4),
        normal(rng, n, n),
        normal(rng, n, n + 2, dtype="float32", order="strided"),
    )
    still = normal(rng, n, n + 1)
    still[rng.integers(n)] = 0.0
    return [
        _attending(rng, alone, 3, np.array([[True]])),
        _case_of(alone, lambda Y: np.ones((1, 3))),
        _attending(rng, square, n, causal(n, n)),  # n = d = v: a feature may pass for a token
        _attending(rng, single, 2, causal(n, n)),
        _case_of(still, lambda Y: -np.cumsum(np.tanh(Y), axis=0)),  # what rises makes outputs fall
    ]


def _mixer(A: list[list[float]], X: list[list[float]], **parameters: object) -> Case:
    return case(public_function("mixer", A=np.array(A), **parameters), np.array(X))


INFLUENCE = Exercise(
    oracle=influence,
    notebook=NOTEBOOK,
    public=(
        # the example by hand: tokens of one feature
        _mixer([[1.0, 0.0], [1.0, 1.0]], [[1.0], [2.0]]),
        # whichever way a token goes, one output rises and one falls
        _mixer([[1.0, -1.0], [-2.0, 1.0]], [[0.1], [0.7]]),
        # an honest model; one of its outputs falls when a token rises
        _mixer([[1.0, 0.0], [-2.0, 1.0]], [[0.6, -0.7, 0.1], [0.9, 0.3, -0.9]]),
        # the sum of a token's features is all that is read; one token is zero
        _mixer(
            [[1.0, 0.0], [1.0, 1.0]],
            [[0.6, -0.3, 0.1, 0.2], [0.0, 0.0, 0.0, 0.0]],
            reads=np.array([[0.5], [0.5], [0.5], [0.5]]),
        ),
        # a faint leak
        _mixer([[20.0, 1e-5], [20.0, 20.0]], [[0.6, 0.1], [0.7, 0.9]]),
        # the first feature is not read, and nothing is written to the first output feature
        _mixer([[1.0, 0.0], [1.0, 1.0]], [[0.6, 0.9], [-0.7, 0.1]], reads=np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.5]])),
        # nothing but the first feature is read
        _mixer([[1.0, 0.0], [1.0, 1.0]], [[0.6, 0.9, 0.1], [-0.7, 0.1, 0.3]], reads=np.array([[1.0], [0.0], [0.0]])),
        # output features cancel, and the first stays 0
        _mixer(
            [[1.0, 0.0], [1.0, 1.0]], [[0.6, 0.9], [-0.7, 0.1]], reads=np.array([[0.0, 1.0, -1.0], [0.0, 0.5, -0.5]])
        ),
        # as many features as tokens; no token counts for itself
        _mixer(
            [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
            [[0.6, 0.1, -0.7], [0.3, 0.9, 0.0], [-0.9, 0.0, 0.7]],
        ),
        # LayerNorm first, and a leak
        _mixer(
            [[1.0, 0.0, 0.5], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0]],
            [[0.5, 0.0, -1.0, 0.25], [1.0, 0.5, -0.25, 0.5], [0.0, 0.25, 1.0, -1.0]],
            normed=True,
        ),
        # an honest model with rounding
        _mixer(
            [[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.0, 0.5, 1.0]],
            [[0.6, 0.1], [0.9, 0.7], [-0.7, 0.3]],
            rounding=2e-13,
        ),
    ),
    probes=(
        Probe(
            "the wiring of models that do what they say: causal, full, backwards, token by token, none", 1.0, _honest
        ),
        Probe("one connection too many: to the next token, or from one token to one other", 1.0, _one_too_many),
        Probe("a leak in one of three attentions side by side", 0.5, _one_head),
        Probe("a leak behind a LayerNorm", 0.5, _behind_a_norm),
        Probe("leaks through one feature, through the sum of all, and into one feature", 0.5, _narrow),
        Probe("faint leaks of a few millionths", 0.5, _faint),
        Probe("honest models that round are not accused", 0.5, _rounding),
        Probe("a single token, a token of zeros, as many features as tokens, float32", 0.5, _influence_at_the_edge),
    ),
    mistakes=(
        moves_only_the_last_token,
        same_nudge_for_every_feature,
        nudge_too_small,
        exact_comparison,
        even_nudge_exactly_compared,
        map_is_turned,
        default_tolerance,
        counts_only_increases,
        counts_increases_by_an_even_nudge,
        counts_only_decreases,
        adds_the_features_up,
        watches_one_feature,
        nudges_one_feature,
        nudge_begins_at_zero,
        nudge_adds_up_to_nothing,
        sets_the_token_to_zero,
        scales_the_token,
        never_puts_it_back,
        moves_later_tokens_along,
        moves_the_callers_tokens,
        moves_the_callers_tokens_evenly,
        takes_the_nudge_back,
        returns_what_should_be,
        compares_with_itself,
        moves_features_for_tokens,
        asks_the_features_not_the_outputs,
        reports_only_the_future,
    ),
    variants=(
        influence_by_uneven_nudges,
        influence_by_random_tokens,
        influence_feature_by_feature,
        influence_by_large_nudges,
        influence_by_restoring,
    ),
)

EXERCISES = (CAUSAL_KEEP, MASK_SCORES, ZERO_RENORM, MASKED_SOFTMAX, INFLUENCE)
