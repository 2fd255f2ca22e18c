"""Scores that can get no weight: -inf where keep is False.

Softmax takes e to the score, and only e to the −∞ is 0. A number as low as −1e9 is still a score: beside a kept one
of −2e9 it gets all the weight, and where everything is masked it shares the weight out evenly among tokens nobody may
see. `np.where` chooses between two values; a product of the mask and −∞ has 0 times ∞ in it, which is NaN. It also
broadcasts the mask over the axes in front, makes a new array, and leaves float32 alone, where an index `S[~keep]`
wants a mask of the shape of `S`.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.inputs import causal, normal, random_keep, sizes
from autograder.exercises.model import B, Case, F, case, mistake, probe, right
from autograder.exercises.parts import softmax_of_kept


def mask_scores(S: Float[np.ndarray, "*b n m"], keep: Bool[np.ndarray, "*#b n m"]) -> Float[np.ndarray, "*b n m"]:
    """The scores, with -inf wherever keep is False."""
    wide = np.broadcast_to(keep, S.shape)
    out = np.zeros(S.shape)
    for place in np.ndindex(S.shape):
        out[place] = S[place] if wide[place] else -math.inf
    return out


PUBLIC = (
    case(np.array([[1.0, 3.0], [2.0, -1.0]]), np.array([[True, False], [True, True]])),
    # a kept score of 0, a large one that is masked
    case(
        np.array([[0.5, -2.0, 4.0], [1.0, 10_000.0, 0.0]]),
        np.array([[True, True, False], [False, False, True]]),
    ),
    # a mask that lies the other way: the first row sees least, and it is no triangle
    case(
        np.array([[0.25, -1.5, 3.0], [-2.5, 0.75, 1.25], [1.5, -0.5, -3.5]]),
        np.array([[False, True, False], [True, False, True], [True, True, True]]),
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
    # a mask for each of two heads, and two items that share them
    case(
        np.array([[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]], [[[7.0, 8.0, 9.0]], [[10.0, 11.0, 12.0]]]]),
        np.array([[[True, False, True]], [[False, True, True]]]),
    ),
    # one mask for both items
    case(
        np.array([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]]),
        np.array([[[True, False, True], [False, True, True]]]),
    ),
    # nothing is as large as anything else
    case(
        np.array(
            [
                [[0.13, -1.7, 0.92], [2.4, -0.31, 0.58], [-0.77, 1.9, -2.2], [0.41, 0.66, -1.3]],
                [[-0.85, 0.27, 1.1], [0.36, -2.6, 0.74], [1.6, -0.19, 0.83], [-1.4, 0.52, 2.1]],
            ]
        ),
        np.array([[True, False, True], [False, True, True], [True, True, False], [False, False, True]]),
    ),
    # kept scores that lie far below 0, and a row that sees nothing
    case(
        np.array([[-2e9, 1.0, -7e4], [-1.5, 2.5, 0.5], [3.5, -1e4, -0.5]]),
        np.array([[True, False, True], [False, False, False], [False, True, True]]),
    ),
)


@probe(1.0)
def scores_and_masks(rng: np.random.Generator) -> list[Case]:
    """masked scores become -inf, kept ones stay, a 0 too"""
    b, n, m = sizes(rng, 3, 3)
    with_zeros, keep = normal(rng, n, m, scale=2.0), random_keep(rng, n, m)
    with_zeros[np.arange(n), keep.argmax(axis=1)] = 0.0
    return [
        case(normal(rng, n, m, scale=2.0), random_keep(rng, n, m)),
        case(with_zeros, keep),
        case(normal(rng, m, m, scale=2.0), causal(m, m)),
        case(normal(rng, b, n, m, scale=2.0), random_keep(rng, b, n, m)),
    ]


@probe(1.0)
def one_mask_for_many(rng: np.random.Generator) -> list[Case]:
    """one mask for all tables, one for each table, and masks whose axes in front are missing or of length 1"""
    b, h, n, m = sizes(rng, 4, 2, 6)
    return [
        case(normal(rng, b, n, m, scale=2.0), random_keep(rng, n, m)),
        case(normal(rng, b, n, m, scale=2.0), random_keep(rng, 1, n, m)),
        case(normal(rng, b, h, n, m, scale=2.0), random_keep(rng, b, 1, n, m)),
        case(normal(rng, b, h, n, m, scale=2.0), random_keep(rng, h, n, m)),
        case(normal(rng, n, n, n, scale=2.0), causal(n, n)),  # b = n = m: a mask fits the first two axes as well
        case(normal(rng, n, n, n, n, scale=2.0), random_keep(rng, n, n, n)),  # so does a mask for each head
    ]


@probe(0.5)
def huge_scores(rng: np.random.Generator) -> list[Case]:
    """scores of 10000 in the future, and kept ones of -10000 and of less than -1000000000"""
    n, m = sizes(rng, 2, 3)
    S, keep = normal(rng, n, m, scale=2.0), random_keep(rng, n, m)
    S[~keep] = 1e4
    low = np.where(rng.random((m, m)) < 0.5, -1e4, normal(rng, m, m))
    low[0, 0] = -2e9
    return [case(S, keep), case(low, causal(m, m))]


@probe(0.5)
def masks_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single token, a row that sees nothing, float32, and arrays that lie otherwise in memory, as a transpose does"""
    n, m = sizes(rng, 2)
    return [
        case(normal(rng, 1, 1), np.array([[True]])),
        case(normal(rng, 1, m), np.zeros((1, m), bool)),
        case(normal(rng, n, m, dtype="float32"), random_keep(rng, n, m)),
        case(normal(rng, n, m, order="strided"), np.asfortranarray(random_keep(rng, n, m))),
    ]


@mistake
def fills_zero(S: F, keep: B) -> F:
    """a masked score became 0. But softmax takes exp of it, and exp(0) = 1: a masked token would still get its share
    of the weight."""
    return np.where(keep, S, 0)


@mistake
def infinity_times_mask(S: F, keep: B) -> F:
    """you multiplied -inf by a mask of 0 and 1. Where that is 0, it is 0 times infinity, which is NaN: the places
    that should stay as they were are lost. Choose between two values instead."""
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
    """a masked score became 0.001. A small score is not a small weight: exp(0.001) is about 1."""
    return np.where(keep, S, 1e-3)


@mistake
def fills_minus_twenty(S: F, keep: B) -> F:
    """a masked score became -20. That looks small beside scores near 0, and is large beside scores of -100. Only one
    number is below every score."""
    return np.where(keep, S, -20.0)


@mistake
def fills_minus_a_hundred(S: F, keep: B) -> F:
    """a masked score became -100. That looks small beside scores near 0, and is large beside scores of -10000.
    Only one number is below every score."""
    return np.where(keep, S, -100.0)


@mistake
def fills_minus_a_thousand(S: F, keep: B) -> F:
    """a masked score became -1000. That looks small beside scores near 0, and is large beside scores of -10000.
    Only one number is below every score."""
    return np.where(keep, S, -1000.0)


@mistake
def fills_minus_ten_thousand(S: F, keep: B) -> F:
    """a masked score became -10000. There may be a kept score as low as that, and lower. Only one number is
    below every score."""
    return np.where(keep, S, -1e4)


@mistake
def fills_minus_a_million(S: F, keep: B) -> F:
    """a masked score became -1000000. In a row where everything is masked all scores are then equal, and
    softmax shares the weight out evenly among tokens nobody may see; and a kept score can lie lower still."""
    return np.where(keep, S, -1e6)


@mistake
def fills_minus_a_billion(S: F, keep: B) -> F:
    """a masked score became -1e9. In a row where everything is masked all scores are then equal, and softmax
    shares the weight out evenly among tokens nobody may see; and a kept score can lie lower still."""
    return np.where(keep, S, -1e9)


@mistake
def adds_minus_a_billion(S: F, keep: B) -> F:
    """you added -1e9 to the masked scores. In a row where everything is masked all scores are then equal, and
    softmax shares the weight out evenly among tokens nobody may see; and a kept score can lie lower still."""
    return S + np.where(keep, 0.0, -1e9).astype(S.dtype)


@mistake
def adds_minus_ten_thousand(S: F, keep: B) -> F:
    """you added -10000 to the masked scores. A masked score of 10000 is then about 0, and a kept one of -10000
    is lower. Only one number is below every score."""
    return S + np.where(keep, 0.0, -1e4).astype(S.dtype)


@mistake
def fills_minus_ten_billion(S: F, keep: B) -> F:
    """a masked score became -1e10. In a row where everything is masked all scores are then equal, and softmax
    shares the weight out evenly among tokens nobody may see."""
    return np.where(keep, S, -1e10)


@mistake
def fills_the_lowest_number(S: F, keep: B) -> F:
    """a masked score became the lowest number of its type. In a row where everything is masked all scores are
    then equal, and softmax shares the weight out evenly among tokens nobody may see."""
    return np.where(keep, S, np.finfo(S.dtype).min)


@mistake
def fills_the_lowest_float32(S: F, keep: B) -> F:
    """a masked score became the lowest number of float32. In a row where everything is masked all scores are
    then equal, and softmax shares the weight out evenly among tokens nobody may see."""
    return np.where(keep, S, np.finfo(np.float32).min)


@mistake
def fills_minus_1e30(S: F, keep: B) -> F:
    """a masked score became -1e30. In a row where everything is masked all scores are then equal, and softmax
    shares the weight out evenly among tokens nobody may see."""
    return np.where(keep, S, -1e30)


@mistake
def fills_nan(S: F, keep: B) -> F:
    """a masked score became NaN. NaN is no lower than other numbers, and it is catching: softmax of such a row
    is NaN throughout."""
    return np.where(keep, S, np.nan)


@mistake
def fills_plus_infinity(S: F, keep: B) -> F:
    """a masked score became plus infinity. That is above every score, and softmax would give it all the weight."""
    return np.where(keep, S, np.inf)


@mistake
def subtracts_the_mask(S: F, keep: B) -> F:
    """you took infinity off where keep is True. True means: may attend. (And where keep is False, 0 times
    infinity is NaN.)"""
    return S - np.inf * keep


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
    """your index wants every axis of the mask as long as that of S. But an axis of length 1 stands for all: one mask for all tables
    of an item, say. A function that broadcasts serves that too."""
    out = S.copy()
    out[..., ~keep] = -np.inf
    return out


@mistake
def score_times_infinity(S: F, keep: B) -> F:
    """you multiplied masked scores by -inf. A negative score then becomes plus infinity, and a 0 becomes NaN. Every masked score
    becomes -inf, whatever it was."""
    with np.errstate(invalid="ignore"):
        return np.where(keep, S, S * -np.inf)


@mistake
def hides_zeros_too(S: F, keep: B) -> F:
    """you made masked scores 0, and then -inf of every 0. A kept score may be 0 as well; it is a score like any
    other. Let the mask say what is masked."""
    Z = S * keep
    return np.where(Z == 0, -np.inf, Z)


@mistake
def mask_turned(S: F, keep: B) -> F:
    """you transposed the mask, so that columns stand for rows. Row i of the mask belongs to row i of the scores."""
    return np.where(keep.swapaxes(-1, -2), S, -np.inf)


@mistake
def triangle_of_its_own(S: F, keep: B) -> F:
    """you made a causal mask of your own. Which mask it is comes as an argument, keep, and it may be another
    one."""
    return np.where(np.tril(np.ones_like(S, bool)), S, -np.inf)


@mistake
def nothing_hidden(S: F, keep: B) -> F:
    """the scores came back as they were: nothing is masked. Where keep is False there should be -inf."""
    return S.copy()


@mistake
def weights_already(S: F, keep: B) -> F:
    """these are weights. Here the scores are wanted, with what is masked made -inf; softmax comes afterwards."""
    return softmax_of_kept(S, keep)


@mistake
def exponentials_already(S: F, keep: B) -> F:
    """these are exponentials. Here the scores are wanted, with what is masked made -inf; softmax comes
    afterwards."""
    return np.where(keep, np.exp(S), 0)


@mistake
def axis_for_heads_put_in(S: F, keep: B) -> F:
    """you put a new axis into the mask, behind its first one, where it has three axes and the scores have four. Its shape does not say
    which axis is missing. The rule is that of any broadcast: what is missing is missing in front."""
    wide = keep[:, None] if keep.ndim == 3 and S.ndim == 4 else keep
    return np.where(wide, S, -np.inf)


@mistake
def axis_put_in_where_one_is_missing(S: F, keep: B) -> F:
    """where the mask has an axis less than the scores, you put one in behind its first. Axes that are missing in front take care of
    themselves, and each axis of the mask meets its own."""
    return np.where(keep[:, None] if keep.ndim == S.ndim - 1 else keep, S, -np.inf)


@mistake
def item_by_item(S: F, keep: B) -> F:
    """you go through scores and mask side by side, item by item. Where the mask has a single item for all of them, what goes side by
    side ends after the first. Broadcasting does that without a loop."""
    if keep.ndim < S.ndim:
        return np.where(keep, S, -np.inf)
    return np.stack([np.where(kept, scores, -np.inf) for scores, kept in zip(S, keep, strict=False)])


@mistake
def axis_always_put_in(S: F, keep: B) -> F:
    """you put a new axis into the mask, behind its first one. Its last two axes are those of the scores
    already, and axes that are missing in front take care of themselves."""
    return np.where(keep[:, None], S, -np.inf)


@mistake
def axis_put_in_front(S: F, keep: B) -> F:
    """you put a new axis in front of the mask, so the result has one more than the scores. Axes that are
    missing in front take care of themselves."""
    return np.where(keep[None], S, -np.inf)


@mistake
def one_table_for_each_mask(S: F, keep: B) -> F:
    """you go through scores and mask side by side, one table with one mask. A mask that stands for all tables runs out early, or
    hands out its rows in place of tables. A function that broadcasts needs no loop."""
    return np.array([np.where(kept, table, -np.inf) for table, kept in zip(S, keep, strict=False)])


@mistake
def mask_of_the_first_item(S: F, keep: B) -> F:
    """you used the first table of the mask for all. Where the mask has axes in front, each table of scores may have one of its own."""
    return np.where(keep.reshape(-1, *keep.shape[-2:])[0], S, -np.inf)


@mistake
def mask_squeezed(S: F, keep: B) -> F:
    """you removed the axes of length 1 from the mask. Such an axis stands for all tables, or for all rows: without it, what stands in
    front of it meets another axis of the scores."""
    return np.where(np.squeeze(keep), S, -np.inf)


@mistake
def hides_whole_columns(S: F, keep: B) -> F:
    """you hid whole columns: a key is hidden only where no query may see it, and then for all of them. Here each query has a row of
    the mask to itself."""
    return np.where(keep.any(axis=-2, keepdims=True), S, -np.inf)


@mistake
def hides_in_float32(S: F, keep: B) -> F:
    """float64 scores came back as float32, with seven digits. The dtype of the answer is that of S."""
    return np.where(keep, S, -np.inf).astype(np.float32)


@mistake
def indexes_the_callers_scores(S: F, keep: B) -> F:
    """two things at once. You wrote into the caller's scores, which are still needed: make a new array. And a mask as an index has
    to be as large as S, or is matched with its first axes: a function that broadcasts serves every mask."""
    S[~keep] = -np.inf
    return S


@mistake
def list_of_tables(S: F, keep: B) -> list[F]:
    """the scores are right, and they come in a list. Return an array, of the type of S."""
    return np.where(keep, S, -np.inf).tolist()


@mistake
def adds_minus_a_billion_in_float64(S: F, keep: B) -> F:
    """you added -1e9 to the masked scores, and float32 became float64 on the way. In a row where everything is masked, softmax still
    gives weight to tokens that may not be seen; and a kept score can lie lower still."""
    return S + (1 - keep) * -1e9


@mistake
def logarithm_of_the_mask_and_a_little(S: F, keep: B) -> F:
    """you added the logarithm of the mask, to which a little, 1e-9, was added first. log(1e-9) is only -20.7, which is low beside
    some scores and high beside others. Only one number is below every score."""
    return S + np.log(keep + 1e-9).astype(S.dtype)


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


@right
def scores_by_select(S: F, keep: B) -> F:
    return np.select([keep & np.ones(S.shape, bool)], [S], -np.inf).astype(S.dtype)


@right
def scores_by_logarithm(S: F, keep: B) -> F:
    with np.errstate(divide="ignore"):
        return S + np.log(keep, dtype=S.dtype)


@right
def scores_by_putmask(S: F, keep: B) -> F:
    out = S.copy()
    np.putmask(out, np.broadcast_to(~keep, S.shape), -np.inf)
    return out
