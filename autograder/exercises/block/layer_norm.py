"""LayerNorm: each token normalised by itself, then gain and bias."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.block.parts import drawn_gain, minus_mean, row_variance
from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right
from autograder.exercises.parts import normalised_rows, normed_token


def layer_norm(
    X: Float[np.ndarray, "*b d"], gain: Float[np.ndarray, "d"], bias: Float[np.ndarray, "d"], eps: float
) -> Float[np.ndarray, "*b d"]:
    """Each token less its mean, over the root of its variance plus eps, times the gain, plus the bias."""
    out = np.zeros(X.shape)
    for place in np.ndindex(X.shape[:-1]):
        out[place] = normed_token(X[place], gain, bias, eps)
    return out


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
    case(
        np.array([[1.0, 2.0, 0.5, 4.0]], np.float32),
        np.array([1.0, 2.0, 1.0, 1.0], np.float32),
        np.array([0.0, 0.0, 1.0, 0.0], np.float32),
        1e-5,
    ),
)


def _affine(rng: np.random.Generator, d: int, dtype: str = "float64") -> tuple[F, F]:
    return drawn_gain(rng, d, dtype), normal(rng, d, dtype=dtype)


@probe(1.5)
def tokens_to_norm(rng: np.random.Generator) -> list[Case]:
    """each token normalised by itself, then gain and bias, all sizes different"""
    b, n, d = sizes(rng, 3, 2, 9)
    return [
        case(3.0 + normal(rng, n, 4, scale=2.0), *_affine(rng, 4), 1e-5),
        case(normal(rng, n, d, scale=2.0) - 1.0, *_affine(rng, d), 1e-3),
        case(2.0 + normal(rng, b, n, d, scale=2.0), *_affine(rng, d), 1e-5),
    ]


@probe(1.0)
def variance_near_eps(rng: np.random.Generator) -> list[Case]:
    """a variance about as small as eps, and a token whose features are all equal"""
    n, d = sizes(rng, 2, 3, 9)
    flat = normal(rng, n, d)
    flat[rng.integers(n)] = float(rng.integers(1, 9))
    return [
        case(normal(rng, n, 4, scale=2e-3), *_affine(rng, 4), 1e-5),
        case(1.0 + normal(rng, n, d, scale=0.3), *_affine(rng, d), 0.2),
        case(flat, *_affine(rng, d), 1e-5),
    ]


@probe(0.5)
def norm_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    """as many tokens as features, and batches of them"""
    d, b = sizes(rng, 2, 3, 7)
    return [
        case(normal(rng, d, d, scale=2.0), *_affine(rng, d), 1e-5),  # means that lie flat line up with the features
        case(1.0 + normal(rng, b, d, d, scale=2.0), *_affine(rng, d), 1e-5),
        case(normal(rng, d, d, d), *_affine(rng, d), 1e-2),
    ]


@probe(0.5)
def far_from_zero(rng: np.random.Generator) -> list[Case]:
    """tokens of mean 100000, whose variance keeps its digits"""
    n, d = sizes(rng, 2, 3, 9)
    return [case(1e5 + normal(rng, n, d, scale=2.0), *_affine(rng, d), 1e-5)]


@probe(0.5)
def norm_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """one token alone, more axes in front, float32, arrays that are not contiguous"""
    n, d = sizes(rng, 2, 3, 9)
    a, b, c = (int(size) for size in rng.integers(2, 5, 3))
    return [
        case(normal(rng, d, scale=2.0), *_affine(rng, d), 1e-5),
        case(normal(rng, 1, d, scale=2.0), *_affine(rng, d), 1e-5),
        case(normal(rng, a, b, c, d, scale=2.0), *_affine(rng, d), 1e-5),
        case(normal(rng, n, d, scale=2.0, dtype="float32"), *_affine(rng, d, "float32"), 1e-3),
        case(normal(rng, n, d, scale=2.0, order="strided"), *_affine(rng, d), 1e-5),
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
def eps_as_a_floor(X: F, gain: F, bias: F, eps: float) -> F:
    """you used eps as a smallest variance that you allow. It is added to every variance, small or large."""
    return gain * minus_mean(X) / np.sqrt(np.maximum(row_variance(X), eps)) + bias


@mistake
def eps_under_both_roots(X: F, gain: F, bias: F, eps: float) -> F:
    """you added eps to a deviation, and took the root of the sum. What stands under the root is a variance: the mean of
    the squares, with no root taken of it yet."""
    return gain * minus_mean(X) / np.sqrt(np.sqrt(row_variance(X)) + eps) + bias


@mistake
def normalises_over_tokens(X: F, gain: F, bias: F, eps: float) -> F:
    """your means run over axis 0, feature by feature. Each token is to be normalised by itself, over its own features,
    which lie on the last axis. (Over the tokens it also leaks: future tokens are in the mean.)"""
    return gain * minus_mean(X, 0) / np.sqrt(row_variance(X, 0) + eps) + bias


@mistake
def normalises_over_axis_one(X: F, gain: F, bias: F, eps: float) -> F:
    """your means run over axis 1. For [n, d] that is the last one, as it should be. With axes in front it is another, and
    for one token alone there is none. Which number says "the last axis", however many there are?"""
    return gain * minus_mean(X, 1) / np.sqrt(row_variance(X, 1) + eps) + bias


@mistake
def normalises_over_everything(X: F, gain: F, bias: F, eps: float) -> F:
    """you took one mean and one variance of the whole array. Each token has its own."""
    return gain * (X - X.mean()) / np.sqrt(X.var() + eps) + bias


@mistake
def means_lie_flat(X: F, gain: F, bias: F, eps: float) -> F:
    """your means have lost their axis, so NumPy lines them up with the features, not with the tokens. Keep the axis."""
    return gain * (X - X.mean(axis=-1)) / np.sqrt(X.var(axis=-1) + eps) + bias


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
    """the gain is missing: what each feature is multiplied by, after normalising."""
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
def divides_what_is_not_centred(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided the tokens as they came. The mean has to be subtracted from what is divided, too, and not only inside
    the variance."""
    return gain * X / np.sqrt(row_variance(X) + eps) + bias


@mistake
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
def centres_in_place(X: F, gain: F, bias: F, eps: float) -> F:
    """you wrote into the caller's tokens. A block still needs them: it adds them back later. Make a new array."""
    X -= X.mean(axis=-1, keepdims=True)
    X /= np.sqrt(X.var(axis=-1, keepdims=True) + eps)
    return gain * X + bias


@mistake
def builds_the_matrices(X: F, gain: F, bias: F, eps: float) -> F:
    """you built the matrices of the formula. That formula is for seeing, and it is right for one table [n, d]. But np.diag
    makes nothing useful of the deviations of a token alone, or of a batch, and tables of float64 ones turn float32 into
    float64. A diagonal matrix need not be built: a column of numbers, [..., 1], that NumPy stretches does the same."""
    d = X.shape[-1]
    D, G = np.diag(1 / np.sqrt(X.var(axis=-1) + eps)), np.diag(gain)
    return D @ X @ (np.eye(d) - np.ones((d, d)) / d) @ G + bias


@mistake
def norm_in_float64(X: F, gain: F, bias: F, eps: float) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part."""
    return normalised_rows(X.astype(np.float64), gain, bias, eps)


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
