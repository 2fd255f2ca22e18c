"""LayerNorm: each token normed by itself, then gain and bias.

Each token is measured by itself: mean and variance run over the last axis, which stays with length 1, so that they
line up whatever stands in front. The sum of squares is divided by d, for it describes these d numbers and estimates
nothing. With eps under the root, a variance of 0.000001 and an eps of 0.00001 make a token 0.3 in size; outside the
root it would be 3.3 times as large. The mean goes first and the squares second, since two large squares have lost the
digits of their difference. Gain and bias come last, feature by feature.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.block.parts import drawn_gain, minus_mean, row_variance
from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, misses_the_idea, mistake, probe, right, right_to_seven_digits
from autograder.exercises.parts import normalised_rows, normed_token


def layer_norm(
    X: Float[np.ndarray, "*b d"], gain: Float[np.ndarray, "d"], bias: Float[np.ndarray, "d"], eps: float
) -> Float[np.ndarray, "*b d"]:
    """Each token less its mean, over the root of its variance plus eps, times the gain, plus the bias."""
    out = np.zeros(X.shape)
    for place in np.ndindex(X.shape[:-1]):
        out[place] = normed_token(X[place], gain, bias, eps)
    return out


def _affine(rng: np.random.Generator, d: int, dtype: str = "float64") -> tuple[F, F]:
    return drawn_gain(rng, d, dtype), normal(rng, d, dtype=dtype)


def _any_tokens(seed: int, *shape: int) -> Case:
    """Public tokens that look like nothing in particular."""
    rng = np.random.default_rng(seed)
    X, gain, bias = (np.round(numbers, 2) for numbers in (normal(rng, *shape, scale=2.0), *_affine(rng, shape[-1])))
    return case(X + 1.0, gain, bias, 0.1)


PUBLIC = (
    case(
        np.array([[2.0, 4.0, 4.0, 6.0]]),
        np.array([1.0, 2.0, 3.0, 4.0]),
        np.array([10.0, 20.0, 30.0, 40.0]),
        2.0,
    ),
    case(np.array([[1.0, 2.0, 6.0], [-4.0, 0.0, 1.0]]), np.array([1.0, -2.0, 0.5]), np.array([0.0, 1.0, -3.0]), 0.25),
    case(np.array([[5.0, 5.0, 5.0], [0.0, 0.3, -0.3]]), np.array([1.0, 2.0, 1.5]), np.array([0.5, 1.0, 2.0]), 0.01),
    case(np.array([0.0, 6.0, 0.0]), np.array([1.0, 2.0, 3.0]), np.array([10.0, 0.0, 20.0]), 1.0),  # 8 + 1 = 3 * 3
    case(
        np.array([[1.0, 2.0, 6.0], [0.0, 3.0, -3.0], [4.0, 4.0, 1.0]]),
        np.array([2.0, 1.0, 0.5]),
        np.array([1.0, 0.0, -1.0]),
        1e-5,
    ),
    case(
        np.array([[[1.0, 3.0], [0.0, -4.0], [2.0, 7.0]], [[5.0, 6.0], [1.0, 1.5], [-2.0, 2.0]]]),
        np.array([2.0, 1.0]),
        np.array([1.0, 0.0]),
        0.5,
    ),
    case(
        np.array([[1_000_001.0, 1_000_002.0, 1_000_006.0]]),
        np.array([1.0, 1.0, 2.0]),
        np.array([0.0, 1.0, 0.0]),
        1e-5,
    ),
    # as far below 0 as above: no single number brings both near
    case(
        np.array([[10_000_100.0, 10_000_200.0, 10_000_600.0], [-10_000_400.0, -10_000_000.0, -9_999_900.0]]),
        np.array([1.0, 1.0, 2.0]),
        np.array([0.0, 1.0, 0.0]),
        1e-5,
    ),
    case(
        np.array([[1.0, 2.0, 0.5, 4.0]], np.float32),
        np.array([1.0, 2.0, 1.0, 1.0], np.float32),
        np.array([0.0, 0.0, 1.0, 0.0], np.float32),
        1e-5,
    ),
    _any_tokens(7, 5, 6),
    _any_tokens(9, 2, 1, 2, 3),
    _any_tokens(8, 2, 3, 4),
)


EPS = 1e-5  # nothing beside the variance of large tokens, so that eps is what the second probe alone asks for
LARGE = 1e8


@probe(1.5)
def tokens_to_norm(rng: np.random.Generator) -> list[Case]:
    """each token normed by itself, then gain and bias, all sizes different"""
    b, n, d = sizes(rng, 3, 3, 9)
    return [
        case(LARGE * (1.5 + normal(rng, n, 4)), *_affine(rng, 4), EPS),
        case(LARGE * (normal(rng, n, d) - 0.5), *_affine(rng, d), EPS),
        case(LARGE * (1.0 + normal(rng, b, n, d)), *_affine(rng, d), EPS),
    ]


@probe(1.25)
def variance_near_eps(rng: np.random.Generator) -> list[Case]:
    """a variance about as small as eps, and a token whose features are all equal"""
    n, d = sizes(rng, 2, 3, 9)
    flat = normal(rng, n, d)
    flat[rng.integers(n)] = float(rng.integers(1, 9))
    return [
        case(normal(rng, n, 4, scale=2e-3), *_affine(rng, 4), 1e-5),
        case(1.0 + normal(rng, n, d, scale=0.3), *_affine(rng, d), 0.2),
        case(flat, *_affine(rng, d), 1e-4),
    ]


@probe(0.5)
def norm_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    """as many tokens as features, also with more axes in front"""
    d, b = sizes(rng, 2, 3, 7)
    return [
        case(LARGE * normal(rng, d, d), *_affine(rng, d), EPS),  # means that lie flat line up with the features
        case(LARGE * (1.0 + normal(rng, b, d, d)), *_affine(rng, d), EPS),
        case(LARGE * normal(rng, d, d, d), *_affine(rng, d), EPS),
    ]


@probe(0.25, strict=True)
def far_from_zero(rng: np.random.Generator) -> list[Case]:
    """tokens far above 0 and far below it, whose variance keeps its digits"""
    n, d = sizes(rng, 2, 4, 9)
    far = np.where(np.arange(n) % 2, -1e9, 1e9)[:, None]
    return [case(far + normal(rng, n, d, scale=1e5), *_affine(rng, d), EPS)]


@probe(0.5, strict=True)
def norm_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """one token alone, more axes in front, float32, arrays that are not contiguous"""
    n, d = sizes(rng, 2, 3, 9)
    a, b, c = (int(size) for size in rng.integers(2, 5, 3))
    return [
        case(LARGE * normal(rng, d), *_affine(rng, d), EPS),
        case(LARGE * normal(rng, 1, d), *_affine(rng, d), EPS),
        case(LARGE * normal(rng, a, b, c, d), *_affine(rng, d), EPS),
        case(normal(rng, n, d, scale=LARGE, dtype="float32"), *_affine(rng, d, "float32"), EPS),
        case(normal(rng, n, d, scale=LARGE, order="strided"), *_affine(rng, d), EPS),
    ]


@mistake
def unbiased_variance(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided the sum of squares by d - 1, not by d. That estimates the variance of a crowd from a sample. Here a
    token is not a sample of anything: its features are all there are."""
    return gain * minus_mean(X) / np.sqrt(X.var(axis=-1, keepdims=True, ddof=1) + eps) + bias


@mistake
def eps_outside_the_root(X: F, gain: F, bias: F, eps: float) -> F:
    """you added eps to the deviation, outside the root. Here it is added to the variance, under the root. Both keep
    you from dividing by 0, but where the variance is about as small as eps they give very different numbers."""
    return gain * minus_mean(X) / (np.sqrt(row_variance(X)) + eps) + bias


@mistake
def unbiased_and_eps_outside(X: F, gain: F, bias: F, eps: float) -> F:
    """two slips at once: you divided the sum of squares by d - 1, not by d, and you added eps outside the root, not
    under it."""
    return gain * minus_mean(X) / (X.std(axis=-1, keepdims=True, ddof=1) + eps) + bias


@mistake
def eps_left_out(X: F, gain: F, bias: F, eps: float) -> F:
    """eps is missing. A token whose features are all equal has variance 0, and 0/0 is not a number."""
    return gain * minus_mean(X) / np.sqrt(row_variance(X)) + bias


@mistake
def norm_with_eps_of_its_own(X: F, gain: F, bias: F, eps: float) -> F:
    """your eps is 0.00001, whatever eps you were given. The caller decides how large it is."""
    return normalised_rows(X, gain, bias, 1e-5)


@mistake
def eps_of_a_millionth(X: F, gain: F, bias: F, eps: float) -> F:
    """your eps is 0.000001, whatever eps you were given. The caller decides how large it is."""
    return normalised_rows(X, gain, bias, 1e-6)


@mistake
def eps_of_a_hundred_millionth(X: F, gain: F, bias: F, eps: float) -> F:
    """your eps is a tiny number of your own, about 0.00000001, whatever eps you were given. The caller decides how large it
    is."""
    return normalised_rows(X, gain, bias, 1e-8)


@mistake
def eps_next_to_nothing(X: F, gain: F, bias: F, eps: float) -> F:
    """your eps does nothing but keep you from dividing by 0: it is a tiny number of your own, or takes part only where the
    variance is 0. It is the caller's, and is added to every variance; where that is small it counts for much."""
    return normalised_rows(X, gain, bias, 1e-12)


@mistake
def eps_squared(X: F, gain: F, bias: F, eps: float) -> F:
    """you added the square of eps to the variance. eps is added as it is given."""
    return normalised_rows(X, gain, bias, eps**2)


@mistake
def root_of_eps_outside(X: F, gain: F, bias: F, eps: float) -> F:
    """you took the root of the variance and the root of eps, and added the two roots. The sum is made first, and then one
    root is taken of it."""
    return gain * minus_mean(X) / (np.sqrt(row_variance(X)) + eps**0.5) + bias


@mistake
def eps_inside_and_outside(X: F, gain: F, bias: F, eps: float) -> F:
    """you added eps twice: to the variance, under the root, and to the root as well. The first is enough."""
    return gain * minus_mean(X) / (np.sqrt(row_variance(X) + eps) + eps) + bias


@mistake
def eps_after_the_division(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided first and added eps to the quotient: without brackets a division goes before a sum. eps belongs to the
    variance, under the root."""
    return gain * minus_mean(X) / np.sqrt(row_variance(X)) + eps + bias


@mistake
def eps_after_the_division_times_gain(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided first, and added eps to the quotient before the gain: without brackets a division goes before a sum. eps
    belongs to the variance, under the root."""
    return gain * (minus_mean(X) / np.sqrt(row_variance(X)) + eps) + bias


@mistake
def root_of_eps_alone(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided by the variance, and the root of eps was added: without brackets a power goes before a quotient, and that before a sum.
    The root is taken of variance and eps together: (var + eps) ** 0.5."""
    return gain * minus_mean(X) / row_variance(X) + eps**0.5 + bias


@mistake
def gain_before_the_mean(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided the mean alone by the deviation: without brackets a quotient goes before a difference. The mean is taken off
    first: (X - mean) / deviation."""
    return gain * X - (X - minus_mean(X)) / np.sqrt(row_variance(X) + eps) + bias


@mistake
def along_the_axis_before_the_last(X: F, gain: F, bias: F, eps: float) -> F:
    """you took means and variances along axis -2, over the tokens. A token has its own, over its features: axis -1."""
    mean = X.mean(axis=-2, keepdims=True)
    return gain * (X - mean) / np.sqrt(((X - mean) ** 2).mean(axis=-2, keepdims=True) + eps) + bias


@mistake
def eps_as_a_floor(X: F, gain: F, bias: F, eps: float) -> F:
    """you used eps as the smallest variance that you allow. It is added to every variance, small or large."""
    return gain * minus_mean(X) / np.sqrt(np.maximum(row_variance(X), eps)) + bias


@mistake
def eps_under_both_roots(X: F, gain: F, bias: F, eps: float) -> F:
    """you added eps to a deviation, and took the root of the sum. What stands under the root is a variance: the mean of
    the squares, with no root taken of it yet."""
    return gain * minus_mean(X) / np.sqrt(np.sqrt(row_variance(X)) + eps) + bias


@misses_the_idea
def normalises_over_tokens(X: F, gain: F, bias: F, eps: float) -> F:
    """your means run over axis 0, feature by feature. Each token is to be normed by itself, over its own features,
    which lie on the last axis. (Over the tokens it also leaks: future tokens are in the mean.)"""
    return gain * minus_mean(X, 0) / np.sqrt(row_variance(X, 0) + eps) + bias


@mistake
def normalises_over_axis_one(X: F, gain: F, bias: F, eps: float) -> F:
    """your means run over axis 1. For [n, d] that is the last one, as it should be. With axes in front it is another, and
    for one token alone there is none. Which number says "the last axis", however many there are?"""
    return gain * minus_mean(X, 1) / np.sqrt(row_variance(X, 1) + eps) + bias


@mistake
def normalises_whole_texts(X: F, gain: F, bias: F, eps: float) -> F:
    """your means run over all axes but the first. For [n, d] that is the last one, as it should be; for [b, n, d] it makes one mean for
    all tokens of a text, and the future is in it. Only the last axis is averaged over."""
    axes = tuple(range(1, X.ndim))
    return gain * minus_mean(X, axes) / np.sqrt(row_variance(X, axes) + eps) + bias


@mistake
def normalises_what_a_loop_gives(X: F, gain: F, bias: F, eps: float) -> F:
    """your loop goes over the first axis only, and norms whatever it finds there. In [n, d] those are tokens. In [b, n, d] they are whole
    texts, and in one token alone single numbers."""
    out = np.empty_like(X)
    for i in range(len(X)):
        out[i] = gain * (X[i] - X[i].mean()) / np.sqrt(X[i].var() + eps) + bias
    return out


@mistake
def normalises_what_a_comprehension_gives(X: F, gain: F, bias: F, eps: float) -> F:
    """your loop goes over the first axis only, and norms whatever it finds there. In [n, d] those are tokens. In one token alone they are
    single numbers, and in [b, n, d] whole texts."""
    return np.array([gain * (x - x.mean()) / np.sqrt(x.var() + eps) + bias for x in X], dtype=X.dtype)


@mistake
def centred_in_a_comprehension(X: F, gain: F, bias: F, eps: float) -> F:
    """your loop goes over the first axis only, and takes the mean of whatever it finds there. In [n, d] those are tokens. In one token
    alone they are single numbers, each its own mean, and in [b, n, d] whole texts."""
    centred = np.array([x - x.mean() for x in X], dtype=X.dtype)
    return gain * centred / np.sqrt(row_variance(centred) + eps) + bias


@mistake
def centred_then_scaled_over_the_tokens(X: F, gain: F, bias: F, eps: float) -> F:
    """your mean runs over the features, as it should, and the mean of the squares over the tokens. Both belong to one token: its
    features lie on the last axis."""
    centred = minus_mean(X)
    return gain * centred / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps) + bias


@mistake
def divides_by_how_many_tokens(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided sums over the features by `len(X)`, which counts tokens. d is `X.shape[-1]`."""
    centred = X - X.sum(axis=-1, keepdims=True) / len(X)
    return gain * centred / np.sqrt((centred**2).sum(axis=-1, keepdims=True) / len(X) + eps) + bias


@mistake
def mean_over_how_many_tokens(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided the sum of a token's features by `len(X)`, which counts tokens. d is `X.shape[-1]`."""
    centred = X - X.sum(axis=-1, keepdims=True) / len(X)
    return gain * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps) + bias


@mistake
def variance_over_how_many_tokens(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided the sum of a token's squares by `len(X)`, which counts tokens. d is `X.shape[-1]`."""
    centred = minus_mean(X)
    return gain * centred / np.sqrt((centred**2).sum(axis=-1, keepdims=True) / len(X) + eps) + bias


@mistake
def centred_over_the_tokens(X: F, gain: F, bias: F, eps: float) -> F:
    """your mean runs over the tokens, feature by feature, and your variance over the features, as it should. Both belong to
    one token."""
    centred = minus_mean(X, 0)
    return gain * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps) + bias


@mistake
def scaled_over_the_tokens(X: F, gain: F, bias: F, eps: float) -> F:
    """your variance runs over the tokens, feature by feature, and your mean over the features, as it should. Both belong to
    one token."""
    return gain * minus_mean(X) / np.sqrt(row_variance(X, 0) + eps) + bias


@misses_the_idea
def normalises_over_everything(X: F, gain: F, bias: F, eps: float) -> F:
    """you took one mean and one variance of the whole array. Each token has its own."""
    return gain * (X - X.mean()) / np.sqrt(X.var() + eps) + bias


@mistake
def mean_of_everything(X: F, gain: F, bias: F, eps: float) -> F:
    """your mean is one number for the whole array, and each token has its own variance. Each token has its own mean, too."""
    return gain * (X - X.mean()) / np.sqrt(row_variance(X) + eps) + bias


@mistake
def variance_of_everything(X: F, gain: F, bias: F, eps: float) -> F:
    """your variance is one number for the whole array, and each token has its own mean. Each token has its own variance, too."""
    return gain * minus_mean(X) / np.sqrt(X.var() + eps) + bias


@mistake
def variance_of_what_is_centred_as_a_whole(X: F, gain: F, bias: F, eps: float) -> F:
    """your mean is that of each token, and the squares are then averaged over the whole array. Each token has its own variance."""
    centred = minus_mean(X)
    return gain * centred / np.sqrt((centred**2).mean() + eps) + bias


@mistake
def tokens_turned_for_the_means(X: F, gain: F, bias: F, eps: float) -> F:
    """you turned the table, so that the means line up with the tokens, and turned it back. That is right for [n, d] and for one
    token. With more axes .T reverses them all. Keep the axis of the means instead."""
    return gain * ((X.T - X.mean(axis=-1)) / np.sqrt(X.var(axis=-1) + eps)).T + bias


@mistake
def means_lie_flat(X: F, gain: F, bias: F, eps: float) -> F:
    """your means and your variances have lost their axis: there is one for each token, [n], and NumPy lines them up with
    the features, not with the tokens. Where n is not d that does not even run. Keep the axis."""
    return gain * (X - X.mean(axis=-1)) / np.sqrt(X.var(axis=-1) + eps) + bias


@mistake
def means_lie_flat_in_the_squares(X: F, gain: F, bias: F, eps: float) -> F:
    """your means and your variances have lost their axis: there is one for each token, [n], and NumPy lines them up with
    the features, not with the tokens. Where n is not d that does not even run. Keep the axis in both."""
    centred = X - X.mean(axis=-1)
    return gain * centred / np.sqrt((centred**2).mean(axis=-1) + eps) + bias


@mistake
def mean_lies_flat(X: F, gain: F, bias: F, eps: float) -> F:
    """your mean has lost its axis, and your variance has kept it. NumPy lines the means up with the features, not with the
    tokens."""
    return gain * (X - X.mean(axis=-1)) / np.sqrt(row_variance(X) + eps) + bias


@mistake
def mean_lies_flat_in_the_squares(X: F, gain: F, bias: F, eps: float) -> F:
    """your mean has lost its axis: there is one for each token, [n], and NumPy lines them up with the features, not with
    the tokens. The variance is made from what comes of that. Keep the axis."""
    centred = X - X.mean(axis=-1)
    return gain * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps) + bias


@mistake
def variance_lies_flat(X: F, gain: F, bias: F, eps: float) -> F:
    """your mean has kept its axis, and your variance has lost it. NumPy lines the variances up with the features, not with
    the tokens."""
    return gain * minus_mean(X) / np.sqrt(X.var(axis=-1) + eps) + bias


@mistake
def means_over_axis_one_lie_flat(X: F, gain: F, bias: F, eps: float) -> F:
    """your means and variances run over axis 1, and have lost it. In [n, d] it is the last axis, and NumPy lines up what is left, [n],
    with the features. Which number says "the last axis" for every shape, and what keeps it?"""
    return gain * (X - X.mean(axis=1)) / np.sqrt(X.var(axis=1) + eps) + bias


@mistake
def means_over_axis_one_lie_flat_in_the_squares(X: F, gain: F, bias: F, eps: float) -> F:
    """your means and variances run over axis 1, and have lost it. In [n, d] it is the last axis, and NumPy lines up what is left, [n],
    with the features. Which number says "the last axis" for every shape, and what keeps it?"""
    centred = X - X.mean(axis=1)
    return gain * centred / np.sqrt((centred**2).mean(axis=1) + eps) + bias


@mistake
def variance_over_axis_one_lies_flat(X: F, gain: F, bias: F, eps: float) -> F:
    """your means and variances run over axis 1, and your variance has lost it. In [n, d] it is the last axis, and NumPy lines up what is
    left, [n], with the features. Which number says "the last axis" for every shape, and what keeps it?"""
    return gain * minus_mean(X, 1) / np.sqrt(X.var(axis=1) + eps) + bias


@mistake
def axis_put_back_for_a_table(X: F, gain: F, bias: F, eps: float) -> F:
    """you put the axis of the means back as the second one, with [:, None]. That is right for [n, d] and for nothing else.
    Keep the axis where it was, with keepdims, or count from the end."""
    mean, variance = X.mean(axis=-1)[:, None], X.var(axis=-1)[:, None]
    return gain * (X - mean) / np.sqrt(variance + eps) + bias


@mistake
def norm_of_rows_at_least_two(X: F, gain: F, bias: F, eps: float) -> F:
    """you gave a token alone a second axis, or asked for two axes in any case. A token [d] comes out as [d]."""
    return normalised_rows(np.atleast_2d(X), gain, bias, eps)


@mistake
def norm_squeezed(X: F, gain: F, bias: F, eps: float) -> F:
    """you took axes of length 1 out of the result (np.squeeze does). A single token in a table, [1, d], stays in its
    table."""
    return np.squeeze(normalised_rows(X, gain, bias, eps))


@mistake
def variance_for_deviation(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided by the variance. Twice as large a token has four times the variance, so it would come out half as
    large. It is to come out the same: a root is missing."""
    return gain * minus_mean(X) / (row_variance(X) + eps) + bias


@mistake
def length_for_deviation(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided by the length of the centred token, the root of the sum of its squares. A deviation is the root of
    their mean. Yours comes out √d times too small."""
    return gain * minus_mean(X) / np.sqrt(row_variance(X) * X.shape[-1] + eps) + bias


@mistake
def length_of_what_is_not_centred(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided each token by its length, and never subtracted its mean. LayerNorm takes the mean off first, and divides by the
    root of the mean of the squares that are left."""
    return gain * X / np.sqrt((X**2).sum(axis=-1, keepdims=True) + eps) + bias


@mistake
def sum_for_the_mean(X: F, gain: F, bias: F, eps: float) -> F:
    """you subtracted the sum of the features. It is their mean that is subtracted: the sum over d."""
    centred = X - X.sum(axis=-1, keepdims=True)
    return gain * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps) + bias


@mistake
def length_and_eps_outside(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided by the length of the centred token, the root of the *sum* of its squares, and added eps to that. A
    deviation is the root of their mean, and eps is added before the root is taken."""
    centred = minus_mean(X)
    return gain * centred / (np.linalg.norm(centred, axis=-1, keepdims=True) + eps) + bias


@mistake
def multiplied_by_the_deviation(X: F, gain: F, bias: F, eps: float) -> F:
    """you multiplied by the deviation. A token that is twice as large is to come out the same: divide."""
    return gain * minus_mean(X) * np.sqrt(row_variance(X) + eps) + bias


@mistake
def largest_for_deviation(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided by the largest of the centred features. The deviation is the root of the mean of their squares."""
    centred = minus_mean(X)
    return gain * centred / (np.abs(centred).max(axis=-1, keepdims=True) + eps) + bias


@mistake
def from_smallest_to_largest(X: F, gain: F, bias: F, eps: float) -> F:
    """you brought each token between its smallest and its largest feature, from 0 to 1. LayerNorm goes by mean and
    deviation."""
    low, high = X.min(axis=-1, keepdims=True), X.max(axis=-1, keepdims=True)
    return gain * (X - low) / (high - low + eps) + bias


@mistake
def median_for_the_mean(X: F, gain: F, bias: F, eps: float) -> F:
    """you subtracted the median. It is the mean that is subtracted, the sum of the features over d."""
    centred = X - np.median(X, axis=-1, keepdims=True)
    return gain * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps) + bias


@mistake
def absolute_deviation(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided by the mean of the absolute values. The deviation is made from squares: their mean, and then the
    root."""
    return gain * minus_mean(X) / (np.abs(minus_mean(X)).mean(axis=-1, keepdims=True) + eps) + bias


@mistake
def leaves_gain_and_bias_out(X: F, gain: F, bias: F, eps: float) -> F:
    """gain and bias are missing. Without them every token would be forced to mean 0 and one size for good; with them
    the model decides, feature by feature."""
    return minus_mean(X) / np.sqrt(row_variance(X) + eps)


@mistake
def leaves_the_gain_out(X: F, gain: F, bias: F, eps: float) -> F:
    """the gain is missing: what each feature is multiplied by, after norming."""
    return minus_mean(X) / np.sqrt(row_variance(X) + eps) + bias


@mistake
def leaves_the_bias_out(X: F, gain: F, bias: F, eps: float) -> F:
    """the bias is missing: what is added to each feature, at the very end."""
    return gain * minus_mean(X) / np.sqrt(row_variance(X) + eps)


@mistake
def bias_before_gain(X: F, gain: F, bias: F, eps: float) -> F:
    """you added the bias first and multiplied by the gain afterwards, so the bias was multiplied as well."""
    return gain * (minus_mean(X) / np.sqrt(row_variance(X) + eps) + bias)


@mistake
def gain_and_bias_first(X: F, gain: F, bias: F, eps: float) -> F:
    """you applied gain and bias to the tokens before norming, which takes most of both away again. They come last."""
    return normalised_rows(gain * X + bias, np.ones_like(gain), np.zeros_like(bias), eps)


@mistake
def bias_divided_too(X: F, gain: F, bias: F, eps: float) -> F:
    """you added the bias before dividing by the deviation, so the bias was divided as well. It is added at the very end."""
    return (gain * minus_mean(X) + bias) / np.sqrt(row_variance(X) + eps)


@mistake
def gain_and_bias_exchanged(X: F, gain: F, bias: F, eps: float) -> F:
    """gain and bias are exchanged: the gain multiplies, and the bias is added."""
    return normalised_rows(X, bias, gain, eps)


@mistake
def one_more_than_the_gain(X: F, gain: F, bias: F, eps: float) -> F:
    """you multiplied by 1 + gain. Some models keep their gains like that, less 1. Here the gain is the factor itself."""
    return normalised_rows(X, 1 + gain, bias, eps)


@mistake
def bias_taken_off(X: F, gain: F, bias: F, eps: float) -> F:
    """you subtracted the bias. It is added."""
    return normalised_rows(X, gain, -bias, eps)


@mistake
def divides_what_is_not_centred(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided the tokens as they came. The mean has to be subtracted from what is divided, too, and not only inside
    the variance."""
    return gain * X / np.sqrt(row_variance(X) + eps) + bias


@misses_the_idea
def no_centring_at_all(X: F, gain: F, bias: F, eps: float) -> F:
    """you never subtracted the mean: this divides by the root of the mean square. It is called RMSNorm, many newer models
    use it, and it is not LayerNorm."""
    return gain * X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + eps) + bias


@mistake
def centred_over_the_mean_square(X: F, gain: F, bias: F, eps: float) -> F:
    """you centred the tokens, and then took the mean square of the tokens that were not centred. A variance is the mean
    square of what is left when the mean is gone."""
    return gain * minus_mean(X) / np.sqrt((X**2).mean(axis=-1, keepdims=True) + eps) + bias


@mistake
def difference_of_large_squares(X: F, gain: F, bias: F, eps: float) -> F:
    """you computed the variance as the mean of the squares less the square of the mean. On paper that is the same. In
    floating point two large numbers are subtracted that agree in nearly all their digits, and few digits are left.
    Centre first, square then."""
    variance = (X**2).mean(axis=-1, keepdims=True) - X.mean(axis=-1, keepdims=True) ** 2
    return gain * minus_mean(X) / np.sqrt(variance + eps) + bias


@mistake
def one_shift_before_large_squares(X: F, gain: F, bias: F, eps: float) -> F:
    """you took one number off the whole array, and made the variance out of the mean of the squares. For tokens that still lie far from 0
    that is a small difference of huge numbers, and its digits are lost. Centre each token by its own mean first."""
    Y = X - X.mean()
    variance = (Y**2).mean(axis=-1, keepdims=True) - Y.mean(axis=-1, keepdims=True) ** 2
    return gain * minus_mean(Y) / np.sqrt(variance + eps) + bias


@mistake
def centres_in_place(X: F, gain: F, bias: F, eps: float) -> F:
    """you wrote into the caller's tokens. A block still needs them: it adds them back later. Make a new array."""
    X -= X.mean(axis=-1, keepdims=True)
    X /= np.sqrt(X.var(axis=-1, keepdims=True) + eps)
    return gain * X + bias


@mistake
def subtracts_in_place(X: F, gain: F, bias: F, eps: float) -> F:
    """you took the means off the caller's tokens: -= writes into the array that it finds. A block still needs them as they
    were. Make a new array."""
    X -= X.mean(axis=-1, keepdims=True)
    return gain * X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + eps) + bias


@mistake
def builds_the_matrices(X: F, gain: F, bias: F, eps: float) -> F:
    """you built the matrices of the formula. They fit one table [n, d], but not a token alone, nor several texts, and they can turn
    float32 into float64. No diagonal matrix has to be built: NumPy can stretch a column of numbers."""
    d = X.shape[-1]
    D, G = np.diag(1 / np.sqrt(X.var(axis=-1) + eps)), np.diag(gain)
    return D @ X @ (np.eye(d) - np.ones((d, d)) / d) @ G + bias


@mistake
def norm_in_float64(X: F, gain: F, bias: F, eps: float) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part."""
    return normalised_rows(X.astype(np.float64), gain, bias, eps)


@right_to_seven_digits
def norm_in_float32(X: F, gain: F, bias: F, eps: float) -> F:
    """your numbers have seven right digits, and float64 has sixteen: somewhere they went through float32."""
    return normalised_rows(X.astype(np.float32), gain, bias, eps).astype(X.dtype)


@right
def norm_in_steps(X: F, gain: F, bias: F, eps: float) -> F:
    centred = X - X.mean(axis=-1, keepdims=True)
    variance = np.square(centred).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + eps) * gain + bias


@right
def norm_by_a_matrix(X: F, gain: F, bias: F, eps: float) -> F:
    d = X.shape[-1]
    centring = np.eye(d, dtype=X.dtype) - np.full((d, d), 1 / d, X.dtype)
    centred = X @ centring
    centred = centred @ centring  # once more, for the rounding that a large mean leaves behind
    return centred * ((centred**2).sum(axis=-1, keepdims=True) / d + eps) ** -0.5 * gain + bias


@right
def norm_token_by_token(X: F, gain: F, bias: F, eps: float) -> F:
    rows = [(x - x.mean()) / (x.var() + eps) ** 0.5 for x in X.reshape(-1, X.shape[-1])]
    return np.stack(rows).reshape(X.shape) * gain + bias


@right
def norm_by_einsum(X: F, gain: F, bias: F, eps: float) -> F:
    centred = X - np.mean(X, axis=-1)[..., None]
    variance = np.einsum("...d,...d->...", centred, centred) / X.shape[-1]
    return np.einsum("d,...d,...->...d", gain, centred, 1 / np.sqrt(variance + eps)) + bias


@right
def norm_by_torch(X: F, gain: F, bias: F, eps: float) -> F:
    import torch

    x, g, b = (torch.from_numpy(a.copy()) for a in (X, gain, bias))
    return torch.nn.functional.layer_norm(x, (X.shape[-1],), g, b, eps).numpy()
