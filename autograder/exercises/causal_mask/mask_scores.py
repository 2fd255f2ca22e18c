"""Scores that can get no weight: -inf where keep is False."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.inputs import causal, normal, random_keep, sizes
from autograder.exercises.model import B, Case, F, case, mistake, probe, right


def mask_scores(S: Float[np.ndarray, "*b n m"], keep: Bool[np.ndarray, "*#b n m"]) -> Float[np.ndarray, "*b n m"]:
    """The scores, with -inf wherever keep is False."""
    wide = np.broadcast_to(keep, S.shape)
    out = np.zeros(S.shape)
    for place in np.ndindex(S.shape):
        out[place] = S[place] if wide[place] else -math.inf
    return out


PUBLIC = (
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
)


@probe(1.0)
def scores_and_masks(rng: np.random.Generator) -> list[Case]:
    """hidden scores become -inf, kept ones stay"""
    b, n, m = sizes(rng, 3)
    return [
        case(normal(rng, n, m, scale=2.0), random_keep(rng, n, m)),
        case(normal(rng, m, m, scale=2.0), causal(m, m)),
        case(normal(rng, b, n, m, scale=2.0), random_keep(rng, b, n, m)),
    ]


@probe(1.0)
def one_mask_for_many(rng: np.random.Generator) -> list[Case]:
    """one mask for a whole batch, and one mask for each item"""
    b, h, n, m = sizes(rng, 4)
    return [
        case(normal(rng, b, n, m, scale=2.0), random_keep(rng, n, m)),
        case(normal(rng, b, n, m, scale=2.0), random_keep(rng, 1, n, m)),
        case(normal(rng, b, h, n, m, scale=2.0), random_keep(rng, b, 1, n, m)),
        case(normal(rng, n, n, n, scale=2.0), causal(n, n)),  # b = n = m: a mask fits the first two axes as well
    ]


@probe(0.5)
def huge_scores(rng: np.random.Generator) -> list[Case]:
    """scores of 10000 in the future, and kept ones of -10000"""
    n, m = sizes(rng, 2, 3)
    S, keep = normal(rng, n, m, scale=2.0), random_keep(rng, n, m)
    S[~keep] = 1e4
    low = np.where(rng.random((m, m)) < 0.5, -1e4, normal(rng, m, m))
    return [case(S, keep), case(low, causal(m, m))]


@probe(0.5)
def masks_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, a row that sees nothing, float32, and arrays that are not contiguous"""
    n, m = sizes(rng, 2)
    return [
        case(normal(rng, 1, 1), np.array([[True]])),
        case(normal(rng, 1, m), np.zeros((1, m), bool)),
        case(normal(rng, n, m, dtype="float32"), random_keep(rng, n, m)),
        case(normal(rng, n, m, order="strided"), np.asfortranarray(random_keep(rng, n, m))),
    ]


@mistake
def fills_zero(S: F, keep: B) -> F:
    """a hidden score became 0. But softmax takes exp of it, and exp(0) = 1: a hidden token would still get its share
    of the weight."""
    return np.where(keep, S, 0)


@mistake
def infinity_times_mask(S: F, keep: B) -> F:
    """you multiplied -inf by the mask. Where the mask is 0 that is 0 times infinity, which is NaN: the places that
    should stay as they were are lost. Choose between two values instead."""
    return S + (~keep) * -np.inf


@mistake
def hides_the_kept(S: F, keep: B) -> F:
    """you hid the places where keep is True. True means: may attend."""
    return np.where(keep, -np.inf, S)


@mistake
def masks_in_place(S: F, keep: B) -> F:
    """you wrote into the caller's scores. They are still needed: to try another mask, or to look at. Make a new array."""
    np.copyto(S, -np.inf, where=~keep)
    return S


@mistake
def fills_a_small_number(S: F, keep: B) -> F:
    """a hidden score became 0.001. A small score is not a small weight: exp(0.001) is about 1."""
    return np.where(keep, S, 1e-3)


@mistake
def fills_minus_twenty(S: F, keep: B) -> F:
    """a hidden score became -20. That looks small beside scores near 0, and is large beside scores of -100. Only one
    number is below every score."""
    return np.where(keep, S, -20.0)


@mistake
def fills_minus_a_billion(S: F, keep: B) -> F:
    """a hidden score became -1e9. That is usually low enough; but in a row where everything is hidden all scores are
    then equal, and softmax shares the weight out evenly among tokens nobody may see."""
    return np.where(keep, S, -1e9)


@mistake
def mask_widens_float32(S: F, keep: B) -> F:
    """float32 scores came back as float64. Somewhere a float64 array took part: the dtype of the answer is that of S."""
    return np.where(keep, S.astype(np.float64), -np.inf)


@mistake
def indexes_from_the_left(S: F, keep: B) -> F:
    """you used the mask as an index. NumPy then matches the mask's axes with the first axes of S, so a mask of [n, m]
    does not fit scores of [b, n, m] (or fits the wrong axes in silence). Broadcasting lines axes up from the right."""
    out = S.copy()
    out[~keep] = -np.inf
    return out


@mistake
def indexes_from_the_right(S: F, keep: B) -> F:
    """your index wants every axis of the mask as long as that of S. An axis of length 1 stands for all: one mask for
    all tables of an item, say. Something that broadcasts serves that too."""
    out = S.copy()
    out[..., ~keep] = -np.inf
    return out


@right
def scores_by_where(S: F, keep: B) -> F:
    return np.where(keep, S, -np.inf)


@right
def scores_by_adding(S: F, keep: B) -> F:
    return S + np.where(keep, 0.0, -np.inf).astype(S.dtype)


@right
def scores_by_copying(S: F, keep: B) -> F:
    out = np.full_like(S, -np.inf)
    np.copyto(out, S, where=keep)
    return out


@right
def scores_by_indexing(S: F, keep: B) -> F:
    out = np.array(S)
    out[~np.broadcast_to(keep, S.shape)] = -np.inf
    return out


@right
def scores_by_torch(S: F, keep: B) -> F:
    import torch

    return torch.from_numpy(S.copy()).masked_fill(~torch.from_numpy(keep.copy()), -torch.inf).numpy()
