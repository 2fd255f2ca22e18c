"""Notebook 05: the whole transformer block, and what stands before and after a stack of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from autograder.exercises.drawing import causal, normal, sizes
from autograder.exercises.model import Case, Exercise, Probe, case
from course.functions import Function, public_function

NOTEBOOK = "05_block"
F = np.ndarray
B = np.ndarray
Act = Callable[[np.ndarray], np.ndarray]
Params = dict[str, Float[np.ndarray, "..."]]
Stages = dict[str, np.ndarray]


# ---------------------------------------------------------------------------------------------- layer_norm


def layer_norm(
    X: Float[np.ndarray, "*b d"], gain: Float[np.ndarray, "d"], bias: Float[np.ndarray, "d"], eps: float
) -> Float[np.ndarray, "*b d"]:
    """Each token less its mean, over the root of its variance plus eps, times the gain, plus the bias."""
    d = X.shape[-1]
    out = np.zeros(X.shape)
    for place in np.ndindex(X.shape[:-1]):
        mean = math.fsum(X[place]) / d
        variance = math.fsum((x - mean) ** 2 for x in X[place]) / d
        for i in range(d):
            spread = math.sqrt(variance + eps)
            normed = (X[place][i] - mean) / spread if spread else math.nan
            out[(*place, i)] = gain[i] * normed + bias[i]
    return out


def _centred(X: F, axis: Any = -1) -> F:
    return np.asarray(X - X.mean(axis=axis, keepdims=True))


def _variance(X: F, axis: Any = -1) -> F:
    return np.asarray(X.var(axis=axis, keepdims=True))


def _norm(X: F, gain: F, bias: F, eps: float) -> F:
    return np.asarray(gain * _centred(X) / np.sqrt(_variance(X) + eps) + bias)


def unbiased_variance(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided the sum of squares by d - 1, not by d. That estimates the variance of a crowd from a sample. Here a
    token is not a sample of anything: its features are all there are."""
    return gain * _centred(X) / np.sqrt(X.var(axis=-1, keepdims=True, ddof=1) + eps) + bias


def eps_outside_the_root(X: F, gain: F, bias: F, eps: float) -> F:
    """you added eps to the deviation, outside the root. Here it is added to the variance, under the root. Both keep
    you from dividing by 0, but where the variance is about as small as eps they give very different numbers."""
    return gain * _centred(X) / (np.sqrt(_variance(X)) + eps) + bias


def unbiased_and_eps_outside(X: F, gain: F, bias: F, eps: float) -> F:
    """two slips at once: you divided the sum of squares by d - 1, not by d, and you added eps outside the root, not
    under it."""
    return gain * _centred(X) / (X.std(axis=-1, keepdims=True, ddof=1) + eps) + bias


def eps_left_out(X: F, gain: F, bias: F, eps: float) -> F:
    """eps is missing. A token whose features are all equal has variance 0, and 0/0 is not a number."""
    return gain * _centred(X) / np.sqrt(_variance(X)) + bias


def norm_with_eps_of_its_own(X: F, gain: F, bias: F, eps: float) -> F:
    """your eps is 0.00001, whatever eps you were given. The caller decides how large it is."""
    return _norm(X, gain, bias, 1e-5)


def eps_as_a_floor(X: F, gain: F, bias: F, eps: float) -> F:
    """you used eps as a smallest variance that you allow. It is added to every variance, small or large."""
    return gain * _centred(X) / np.sqrt(np.maximum(_variance(X), eps)) + bias


def eps_under_both_roots(X: F, gain: F, bias: F, eps: float) -> F:
    """you added eps to a deviation, and took the root of the sum. What stands under the root is a variance: the mean of
    the squares, with no root taken of it yet."""
    return gain * _centred(X) / np.sqrt(np.sqrt(_variance(X)) + eps) + bias


def normalises_over_tokens(X: F, gain: F, bias: F, eps: float) -> F:
    """your means run over axis 0, feature by feature. Each token is to be normalised by itself, over its own features,
    which lie on the last axis. (Over the tokens it also leaks: future tokens are in the mean.)"""
    return gain * _centred(X, 0) / np.sqrt(_variance(X, 0) + eps) + bias


def normalises_over_axis_one(X: F, gain: F, bias: F, eps: float) -> F:
    """your means run over axis 1. For [n, d] that is the last one, as it should be. With axes in front it is another, and
    for one token alone there is none. Which number says "the last axis", however many there are?"""
    return gain * _centred(X, 1) / np.sqrt(_variance(X, 1) + eps) + bias


def normalises_over_everything(X: F, gain: F, bias: F, eps: float) -> F:
    """you took one mean and one variance of the whole array. Each token has its own."""
    return gain * (X - X.mean()) / np.sqrt(X.var() + eps) + bias


def means_lie_flat(X: F, gain: F, bias: F, eps: float) -> F:
    """your means have lost their axis, so NumPy lines them up with the features, not with the tokens. Keep the axis."""
    return gain * (X - X.mean(axis=-1)) / np.sqrt(X.var(axis=-1) + eps) + bias


def variance_for_deviation(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided by the variance. Twice as large a token has four times the variance, so it would come out half as
    large. It is to come out the same: a root is missing."""
    return gain * _centred(X) / (_variance(X) + eps) + bias


def length_for_deviation(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided by the length of the centred token, the root of the sum of its squares. A deviation is the root of
    their mean. Yours comes out √d times too small."""
    return gain * _centred(X) / np.sqrt(_variance(X) * X.shape[-1] + eps) + bias


def absolute_deviation(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided by the mean of the absolute values. The deviation is made from squares: their mean, and then the
    root."""
    return gain * _centred(X) / (np.abs(_centred(X)).mean(axis=-1, keepdims=True) + eps) + bias


def leaves_gain_and_bias_out(X: F, gain: F, bias: F, eps: float) -> F:
    """gain and bias are missing. Without them every token would be forced to mean 0 and one size for good; with them
    the model decides, feature by feature."""
    return _centred(X) / np.sqrt(_variance(X) + eps)


def leaves_the_gain_out(X: F, gain: F, bias: F, eps: float) -> F:
    """the gain is missing: what each feature is multiplied by, after normalising."""
    return _centred(X) / np.sqrt(_variance(X) + eps) + bias


def leaves_the_bias_out(X: F, gain: F, bias: F, eps: float) -> F:
    """the bias is missing: what is added to each feature, at the very end."""
    return gain * _centred(X) / np.sqrt(_variance(X) + eps)


def bias_before_gain(X: F, gain: F, bias: F, eps: float) -> F:
    """you added the bias first and multiplied by the gain afterwards, so the bias was multiplied as well."""
    return gain * (_centred(X) / np.sqrt(_variance(X) + eps) + bias)


def divides_what_is_not_centred(X: F, gain: F, bias: F, eps: float) -> F:
    """you divided the tokens as they came. The mean has to be subtracted from what is divided, too, and not only inside
    the variance."""
    return gain * X / np.sqrt(_variance(X) + eps) + bias


def no_centring_at_all(X: F, gain: F, bias: F, eps: float) -> F:
    """you never subtracted the mean: this divides by the root of the mean square. It is called RMSNorm, many newer models
    use it, and it is not LayerNorm."""
    return gain * X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + eps) + bias


def centred_over_the_mean_square(X: F, gain: F, bias: F, eps: float) -> F:
    """you centred the tokens, and then took the mean square of the tokens that were not centred. A variance is the mean
    square of what is left when the mean is gone."""
    return gain * _centred(X) / np.sqrt((X**2).mean(axis=-1, keepdims=True) + eps) + bias


def difference_of_large_squares(X: F, gain: F, bias: F, eps: float) -> F:
    """you computed the variance as the mean of the squares less the square of the mean. On paper that is the same. In
    floating point two large numbers are subtracted that agree in nearly all their digits, and few digits are left.
    Centre first, square then."""
    variance = (X**2).mean(axis=-1, keepdims=True) - X.mean(axis=-1, keepdims=True) ** 2
    return gain * _centred(X) / np.sqrt(variance + eps) + bias


def centres_in_place(X: F, gain: F, bias: F, eps: float) -> F:
    """you wrote into the caller's tokens. A block still needs them: it adds them back later. Make a new array."""
    X -= X.mean(axis=-1, keepdims=True)
    X /= np.sqrt(X.var(axis=-1, keepdims=True) + eps)
    return gain * X + bias


def builds_the_matrices(X: F, gain: F, bias: F, eps: float) -> F:
    """you built the matrices of the formula. That formula is for seeing, and it is right for one table [n, d]. But np.diag
    makes nothing useful of the deviations of a token alone, or of a batch, and tables of float64 ones turn float32 into
    float64. A diagonal matrix need not be built: a column of numbers, [..., 1], that NumPy stretches does the same."""
    d = X.shape[-1]
    D, G = np.diag(1 / np.sqrt(X.var(axis=-1) + eps)), np.diag(gain)
    return D @ X @ (np.eye(d) - np.ones((d, d)) / d) @ G + bias


def norm_in_float64(X: F, gain: F, bias: F, eps: float) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part."""
    return _norm(X.astype(np.float64), gain, bias, eps)


def norm_in_steps(X: F, gain: F, bias: F, eps: float) -> F:
    centred = X - X.mean(axis=-1, keepdims=True)
    variance = np.square(centred).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + eps) * gain + bias


def norm_by_a_matrix(X: F, gain: F, bias: F, eps: float) -> F:
    d = X.shape[-1]
    centring = np.eye(d, dtype=X.dtype) - np.full((d, d), 1 / d, X.dtype)
    centred = X @ centring
    centred = centred @ centring  # once more, for the rounding that a large mean leaves behind
    return centred * ((centred**2).sum(axis=-1, keepdims=True) / d + eps) ** -0.5 * gain + bias


def norm_token_by_token(X: F, gain: F, bias: F, eps: float) -> F:
    rows = [(x - x.mean()) / (x.var() + eps) ** 0.5 for x in X.reshape(-1, X.shape[-1])]
    return np.stack(rows).reshape(X.shape) * gain + bias


def norm_by_einsum(X: F, gain: F, bias: F, eps: float) -> F:
    centred = X - np.mean(X, axis=-1)[..., None]
    variance = np.einsum("...d,...d->...", centred, centred) / X.shape[-1]
    return np.einsum("d,...d,...->...d", gain, centred, 1 / np.sqrt(variance + eps)) + bias


def norm_by_torch(X: F, gain: F, bias: F, eps: float) -> F:
    import torch

    x, g, b = (torch.from_numpy(a.copy()) for a in (X, gain, bias))
    return torch.nn.functional.layer_norm(x, (X.shape[-1],), g, b, eps).numpy()


def _gain(rng: np.random.Generator, d: int, dtype: str = "float64") -> F:
    """Gains that differ from 1, from each other and from 0."""
    return np.asarray((rng.uniform(0.5, 2.0, d) * rng.choice([-1.0, 1.0], d)).astype(dtype))


def _affine(rng: np.random.Generator, d: int, dtype: str = "float64") -> tuple[F, F]:
    return _gain(rng, d, dtype), normal(rng, d, dtype=dtype)


def _tokens_to_norm(rng: np.random.Generator) -> list[Case]:
    b, n, d = sizes(rng, 3, 2, 9)
    return [
        case(3.0 + normal(rng, n, 4, scale=2.0), *_affine(rng, 4), 1e-5),
        case(normal(rng, n, d, scale=2.0) - 1.0, *_affine(rng, d), 1e-3),
        case(2.0 + normal(rng, b, n, d, scale=2.0), *_affine(rng, d), 1e-5),
    ]


def _variance_near_eps(rng: np.random.Generator) -> list[Case]:
    n, d = sizes(rng, 2, 3, 9)
    flat = normal(rng, n, d)
    flat[rng.integers(n)] = float(rng.integers(1, 9))
    return [
        case(normal(rng, n, 4, scale=2e-3), *_affine(rng, 4), 1e-5),
        case(1.0 + normal(rng, n, d, scale=0.3), *_affine(rng, d), 0.2),
        case(flat, *_affine(rng, d), 1e-5),
    ]


def _norm_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    d, b = sizes(rng, 2, 3, 7)
    return [
        case(normal(rng, d, d, scale=2.0), *_affine(rng, d), 1e-5),  # means that lie flat line up with the features
        case(1.0 + normal(rng, b, d, d, scale=2.0), *_affine(rng, d), 1e-5),
        case(normal(rng, d, d, d), *_affine(rng, d), 1e-2),
    ]


def _norm_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, d = sizes(rng, 2, 3, 9)
    a, b, c = (int(size) for size in rng.integers(2, 5, 3))
    return [
        case(normal(rng, d, scale=2.0), *_affine(rng, d), 1e-5),
        case(normal(rng, 1, d, scale=2.0), *_affine(rng, d), 1e-5),
        case(normal(rng, a, b, c, d, scale=2.0), *_affine(rng, d), 1e-5),
        case(normal(rng, n, d, scale=2.0, dtype="float32"), *_affine(rng, d, "float32"), 1e-3),
        case(normal(rng, n, d, scale=2.0, order="strided"), *_affine(rng, d), 1e-5),
    ]


def _far_from_zero(rng: np.random.Generator) -> list[Case]:
    n, d = sizes(rng, 2, 3, 9)
    return [case(1e5 + normal(rng, n, d, scale=2.0), *_affine(rng, d), 1e-5)]


LAYER_NORM = Exercise(
    oracle=layer_norm,
    notebook=NOTEBOOK,
    public=(
        case(
            np.array([[2.0, 4.0, 4.0, 6.0]]),
            np.array([1.0, 2.0, 3.0, 4.0]),
            np.array([10.0, 20.0, 30.0, 40.0]),
            2.0,
        ),
        case(
            np.array([[1.0, 2.0, 6.0], [-4.0, 0.0, 1.0]]), np.array([1.0, -2.0, 0.5]), np.array([0.0, 1.0, -3.0]), 0.25
        ),
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
    ),
    probes=(
        Probe("each token normalised by itself, then gain and bias, all sizes different", 1.5, _tokens_to_norm),
        Probe("a variance about as small as eps, and a token whose features are all equal", 1.0, _variance_near_eps),
        Probe("as many tokens as features, and batches of them", 0.5, _norm_where_sizes_coincide),
        Probe("tokens of mean 100000, whose variance keeps its digits", 0.5, _far_from_zero),
        Probe("one token alone, more axes in front, float32, arrays that are not contiguous", 0.5, _norm_at_the_edge),
    ),
    mistakes=(
        unbiased_variance,
        eps_outside_the_root,
        unbiased_and_eps_outside,
        eps_left_out,
        norm_with_eps_of_its_own,
        eps_as_a_floor,
        eps_under_both_roots,
        normalises_over_tokens,
        normalises_over_axis_one,
        normalises_over_everything,
        means_lie_flat,
        variance_for_deviation,
        length_for_deviation,
        absolute_deviation,
        leaves_gain_and_bias_out,
        leaves_the_gain_out,
        leaves_the_bias_out,
        bias_before_gain,
        divides_what_is_not_centred,
        no_centring_at_all,
        centred_over_the_mean_square,
        difference_of_large_squares,
        centres_in_place,
        builds_the_matrices,
        norm_in_float64,
    ),
    variants=(norm_in_steps, norm_by_a_matrix, norm_token_by_token, norm_by_einsum, norm_by_torch),
)


# ----------------------------------------------------------------------------------------------------- ffn


def ffn(
    X: Float[np.ndarray, "*b d"],
    W1: Float[np.ndarray, "d f"],
    b1: Float[np.ndarray, "f"],
    W2: Float[np.ndarray, "f d"],
    b2: Float[np.ndarray, "d"],
    act: Act,
) -> Float[np.ndarray, "*b d"]:
    """For each token by itself: to width f, activation, back to width d."""
    out = np.zeros(X.shape)
    f, d = W2.shape
    for place in np.ndindex(X.shape[:-1]):
        hidden = np.array([sum(X[place][i] * W1[i, u] for i in range(d)) + b1[u] for u in range(f)])
        bent = act(hidden)
        for i in range(d):
            out[(*place, i)] = sum(bent[u] * W2[u, i] for u in range(f)) + b2[i]
    return out


def activation_last(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you applied the activation after the second layer. Between the layers there is nothing then, and two products in a
    row are one product: it is the bend in the middle that makes a network of them."""
    return act((X @ W1 + b1) @ W2 + b2)


def no_activation(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """there is no activation. Without it both layers together are a single matrix product, W1 @ W2, and the width in
    between is for nothing."""
    return (X @ W1 + b1) @ W2 + b2


def activation_twice(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you applied the activation after both layers. The second layer's result is added to the tokens as it is: with relu
    there it could only ever add, and never take away."""
    return act(act(X @ W1 + b1) @ W2 + b2)


def activation_first(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you applied the activation to the tokens before the first layer. It belongs between the two layers."""
    return (act(X) @ W1 + b1) @ W2 + b2


def activation_before_the_bias(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you added b1 after the activation. It belongs to the first layer: it decides where the bend of each hidden feature
    lies, and for that it has to be there when it is bent."""
    return (act(X @ W1) + b1) @ W2 + b2


def an_activation_of_its_own(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you used relu, whatever activation you were given. The caller decides which: call act."""
    return np.maximum(X @ W1 + b1, 0) @ W2 + b2


def no_first_bias(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """b1 is missing."""
    return act(X @ W1) @ W2 + b2


def no_second_bias(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """b2 is missing."""
    return act(X @ W1 + b1) @ W2


def no_biases(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """both biases are missing."""
    return act(X @ W1) @ W2


def adds_the_tokens(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you added the tokens to the result. That is the residual, and it is the block that adds it, once, later on."""
    return X + act(X @ W1 + b1) @ W2 + b2


def mixes_tokens(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you turned the table of tokens, so that features of different tokens were added up. An FFN works on each token by
    itself; a weight multiplies a row from the right as it stands."""
    return act(X.T @ W1 + b1) @ W2 + b2


def layers_turned(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you turned the weights. Here a weight is [in, out] and multiplies a row from the right as it stands. (PyTorch's own
    layers keep theirs the other way round.)"""
    return act(X @ W1.T + b1) @ W2.T + b2


def layers_exchanged(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """you used W2 first and W1 second. W1 makes a token wider, from d to f, and W2 brings it back."""
    return act(X @ W2 + b1) @ W1 + b2


def ffn_in_float64(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part."""
    return act(X @ W1 + b1) @ W2 + b2.astype(np.float64)


def ffn_in_two_lines(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    hidden = act(X @ W1 + b1)
    return hidden @ W2 + b2


def ffn_by_einsum(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    return np.einsum("...f,fd->...d", act(np.einsum("...d,df->...f", X, W1) + b1), W2) + b2


def ffn_token_by_token(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    rows = [act(x @ W1 + b1) @ W2 + b2 for x in X.reshape(-1, X.shape[-1])]
    return np.stack(rows).reshape(X.shape)


def ffn_with_a_column_of_ones(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    def layer(Z: F, W: F, b: F) -> F:
        ones = np.ones((*Z.shape[:-1], 1), Z.dtype)
        return np.asarray(np.concatenate([Z, ones], axis=-1) @ np.vstack([W, b]))

    return layer(act(layer(X, W1, b1)), W2, b2)


def ffn_by_torch(X: F, W1: F, b1: F, W2: F, b2: F, act: Act) -> F:
    import torch

    x, w1, c1, w2, c2 = (torch.from_numpy(a.copy()) for a in (X, W1, b1, W2, b2))
    return (torch.from_numpy(np.asarray(act((x @ w1 + c1).numpy()))) @ w2 + c2).numpy()


def _silu(x: F) -> F:
    return np.asarray(x / (1 + np.exp(-x)))


def _leaky(x: F) -> F:
    return np.asarray(np.where(x > 0, x, x * 0.1))


def _gelu(x: F) -> F:
    return np.asarray(0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x))))


def _softplus(x: F) -> F:
    return np.asarray(np.logaddexp(x, x * 0))


def _activation(rng: np.random.Generator) -> Function:
    """One of four that bend in different ways, none of them relu; it keeps the dtype."""
    run = (_silu, _leaky, _gelu, _softplus)[int(rng.integers(4))]
    return Function("act", run, lambda *arguments, **keywords: 0)


def _layers(rng: np.random.Generator, d: int, f: int, dtype: str = "float64", order: str = "C") -> tuple[F, ...]:
    """W1, b1, W2, b2: hidden features around 0 with a spread of about 2, on both sides of a bend."""
    return (
        normal(rng, d, f, scale=1.5 / math.sqrt(d), dtype=dtype, order=order),
        normal(rng, f, dtype=dtype),
        normal(rng, f, d, scale=1.0 / math.sqrt(f), dtype=dtype, order=order),
        normal(rng, d, dtype=dtype),
    )


def _networks(rng: np.random.Generator) -> list[Case]:
    b, n, d, f = sizes(rng, 4, 2, 7)
    return [
        case(normal(rng, n, d), *_layers(rng, d, f), _activation(rng)),
        case(normal(rng, b, n, d), *_layers(rng, d, f), _activation(rng)),
    ]


def _square_networks(rng: np.random.Generator) -> list[Case]:
    n, d, f = sizes(rng, 3, 3, 7)
    return [
        case(normal(rng, n, d), *_layers(rng, d, d), _activation(rng)),  # f = d: turned or exchanged weights run
        case(normal(rng, d, d), *_layers(rng, d, f), _activation(rng)),  # n = d: a turned table runs
        case(normal(rng, n, n), *_layers(rng, n, n), _activation(rng)),
    ]


def _networks_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, d, f = sizes(rng, 3, 2, 7)
    return [
        case(normal(rng, d), *_layers(rng, d, f), _activation(rng)),
        case(normal(rng, 1, d), *_layers(rng, d, f), _activation(rng)),
        case(normal(rng, n, d, dtype="float32"), *_layers(rng, d, f, dtype="float32"), _activation(rng)),
        case(normal(rng, n, d, order="strided"), *_layers(rng, d, f, order="F"), _activation(rng)),
    ]


RELU, TANH = public_function("relu"), public_function("tanh")

FFN = Exercise(
    oracle=ffn,
    notebook=NOTEBOOK,
    public=(
        case(
            np.array([[1.0, 2.0]]),
            np.array([[1.0, 0.0, -1.0], [0.0, 1.0, -1.0]]),
            np.array([1.0, -4.0, 2.0]),
            np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
            np.array([10.0, -20.0]),
            RELU,
        ),
        case(
            np.array([[1.0, -0.5], [0.5, 2.0], [-1.0, 0.0]]),
            np.array([[1.0, 0.5, -1.0, 2.0], [0.5, -1.0, 1.0, 0.0]]),
            np.array([0.5, 0.0, -0.5, 1.0]),
            np.array([[1.0, 2.0], [-1.0, 0.5], [0.5, 1.0], [1.0, -2.0]]),
            np.array([0.5, -0.25]),
            TANH,
        ),
        case(
            np.array([[1.0, -0.5], [0.5, 2.0]]),
            np.array([[1.0, 0.5], [-1.0, 2.0]]),
            np.array([0.5, -0.5]),
            np.array([[1.0, -2.0], [0.5, 1.5]]),
            np.array([0.25, -0.75]),
            TANH,
        ),
        case(
            np.array([[0.5, -1.0, 2.0]], np.float32),
            np.array([[1.0, 0.5], [-1.0, 2.0], [0.5, 1.0]], np.float32),
            np.array([0.5, -0.5], np.float32),
            np.array([[1.0, -2.0, 0.5], [0.5, 1.5, -1.0]], np.float32),
            np.array([0.25, -0.75, 0.5], np.float32),
            TANH,
        ),
    ),
    probes=(
        Probe("two layers with the activation between them, all sizes different", 1.0, _networks),
        Probe("the same where sizes coincide, and turned or exchanged arrays would run", 0.5, _square_networks),
        Probe("one token alone, float32, arrays that are not contiguous", 0.5, _networks_at_the_edge),
    ),
    mistakes=(
        activation_last,
        no_activation,
        activation_twice,
        activation_first,
        activation_before_the_bias,
        an_activation_of_its_own,
        no_first_bias,
        no_second_bias,
        no_biases,
        adds_the_tokens,
        mixes_tokens,
        layers_turned,
        layers_exchanged,
        ffn_in_float64,
    ),
    variants=(ffn_in_two_lines, ffn_by_einsum, ffn_token_by_token, ffn_with_a_column_of_ones, ffn_by_torch),
)


# --------------------------------------------------------------------------------------------------- block


def block(
    X: Float[np.ndarray, "n d"],
    params: Params,
    h: int,
    keep: Bool[np.ndarray, "n n"],
    eps: float,
    act: Act,
) -> dict[str, Float[np.ndarray, "n d"]]:
    """T1 = LN(X), T2 = MHA(T1), T3 = T2 + X, T4 = LN(T3), T5 = FFN(T4), H = T5 + T3."""
    stages = {name: np.zeros(X.shape) for name in ("T1", "T2", "T3", "T4", "T5", "H")}
    stages["T1"][:] = layer_norm(X, params["gain1"], params["bias1"], eps)
    for i in range(len(X)):
        stages["T2"][i] = _attended(i, stages["T1"], params["Wqkv"], params["Wo"], h, keep)
        stages["T3"][i] = [update + x for update, x in zip(stages["T2"][i], X[i], strict=True)]
    stages["T4"][:] = layer_norm(stages["T3"], params["gain2"], params["bias2"], eps)
    stages["T5"][:] = ffn(stages["T4"], params["W1"], params["b1"], params["W2"], params["b2"], act)
    for i in range(len(X)):
        stages["H"][i] = [update + x for update, x in zip(stages["T5"][i], stages["T3"][i], strict=True)]
    return stages


def _attended(i: int, X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """The output of attention with h heads for token i: head by head, key by key, from the definition."""
    v = len(Wo) // h
    k = (Wqkv.shape[1] // h - v) // 2
    out = np.zeros(X.shape[1])
    kept = [j for j in range(len(X)) if keep[i, j]]
    for a in range(h):
        Wq = Wqkv[:, a * k : (a + 1) * k]
        Wk = Wqkv[:, h * k + a * k : h * k + (a + 1) * k]
        Wv = Wqkv[:, 2 * h * k + a * v : 2 * h * k + (a + 1) * v]
        scores = [float((X[i] @ Wq) @ (X[j] @ Wk)) / math.sqrt(k) for j in kept]
        powers = [math.exp(score - max(scores)) for score in scores]
        for j, power in zip(kept, powers, strict=True):
            out += power / math.fsum(powers) * (X[j] @ Wv) @ Wo[a * v : (a + 1) * v]
    return out


def _mha(X: F, p: Params, h: int, keep: B, shifted: bool = True) -> F:
    """Attention with h heads, all tokens at once; a token that keeps nothing gets zeros."""
    Wqkv, Wo = p["Wqkv"], p["Wo"]
    v = len(Wo) // h
    k = (Wqkv.shape[1] // h - v) // 2
    Q, K, V = np.split(X @ Wqkv, [h * k, 2 * h * k], axis=1)
    heads = []
    for a in range(h):
        at, of = slice(a * k, (a + 1) * k), slice(a * v, (a + 1) * v)
        S = np.where(keep, Q[:, at] @ K[:, at].T / math.sqrt(k), -np.inf)
        E = np.exp(S - np.where(keep.any(axis=1) & shifted, S.max(axis=1), 0)[:, None])
        heads.append((E / np.where(keep.any(axis=1), E.sum(axis=1), 1)[:, None]) @ V[:, of])
    return np.asarray(np.hstack(heads) @ Wo)


def _norm1(X: F, p: Params, eps: float) -> F:
    return _norm(X, p["gain1"], p["bias1"], eps)


def _norm2(X: F, p: Params, eps: float) -> F:
    return _norm(X, p["gain2"], p["bias2"], eps)


def _feed(X: F, p: Params, act: Act) -> F:
    return np.asarray(act(X @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"])


def _staged(*stages: F) -> Stages:
    return dict(zip(("T1", "T2", "T3", "T4", "T5", "H"), stages, strict=True))


def _plain_block(X: F, p: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    T1 = _norm1(X, p, eps)
    T2 = _mha(T1, p, h, keep)
    T3 = T2 + X
    T4 = _norm2(T3, p, eps)
    T5 = _feed(T4, p, act)
    return _staged(T1, T2, T3, T4, T5, T5 + T3)


def attention_overflows(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """T2 is NaN where scores are large: e to a score of 1000 is more than a computer can hold, and infinity over infinity
    is not a number. mha, which has been carried over, subtracts the largest score first."""
    T1 = _norm1(X, params, eps)
    with np.errstate(over="ignore", invalid="ignore"):
        T2 = _mha(T1, params, h, keep, shifted=False)
        T3 = T2 + X
        T4 = _norm2(T3, params, eps)
        T5 = _feed(T4, params, act)
        return _staged(T1, T2, T3, T4, T5, T5 + T3)


def post_norm(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """this is the post-norm block of the first transformer, which normalises after each addition. Here each half
    normalises what goes into it, and what it adds to stays as it is."""
    T1 = _mha(X, params, h, keep)
    T2 = T1 + X
    T3 = _norm1(T2, params, eps)
    T4 = _feed(T3, params, act)
    T5 = T4 + T3
    return _staged(T1, T2, T3, T4, T5, _norm2(T5, params, eps))


def post_norm_under_these_names(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """this is the post-norm block of the first transformer: your LayerNorms stand after the additions, and attention and
    FFN read what is on the line. Here each of them reads a normed copy, T1 and T4, and no norm touches T3 or H."""
    T2 = _mha(X, params, h, keep)
    T3 = _norm1(T2 + X, params, eps)
    T5 = _feed(T3, params, act)
    return _staged(X, T2, T3, T3, T5, _norm2(T5 + T3, params, eps))


def residual_from_the_norm(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you added T2 to T1. It is the tokens themselves, X, that go past attention unchanged, not their normalised
    copy."""
    T1 = _norm1(X, params, eps)
    T2 = _mha(T1, params, h, keep)
    T3 = T2 + T1
    T4 = _norm2(T3, params, eps)
    T5 = _feed(T4, params, act)
    return _staged(T1, T2, T3, T4, T5, T5 + T3)


def second_residual_from_the_norm(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you added T5 to T4. What goes past the FFN unchanged is T3, not its normalised copy."""
    T1 = _norm1(X, params, eps)
    T2 = _mha(T1, params, h, keep)
    T3 = T2 + X
    T4 = _norm2(T3, params, eps)
    T5 = _feed(T4, params, act)
    return _staged(T1, T2, T3, T4, T5, T5 + T4)


def ffn_of_what_is_not_normed(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you computed T4 and gave the FFN T3 instead. (A well-known textbook has the same slip in a sentence; its equations
    are right.)"""
    T1 = _norm1(X, params, eps)
    T2 = _mha(T1, params, h, keep)
    T3 = T2 + X
    T4 = _norm2(T3, params, eps)
    T5 = _feed(T3, params, act)
    return _staged(T1, T2, T3, T4, T5, T5 + T3)


def attention_of_what_is_not_normed(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you computed T1 and gave attention X instead."""
    T1 = _norm1(X, params, eps)
    T2 = _mha(X, params, h, keep)
    T3 = T2 + X
    T4 = _norm2(T3, params, eps)
    T5 = _feed(T4, params, act)
    return _staged(T1, T2, T3, T4, T5, T5 + T3)


def loses_attention(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you added T5 to X. What attention has found, T2, is lost on that path: the FFN's update goes on top of T3, which
    holds both."""
    stages = _plain_block(X, params, h, keep, eps, act)
    return {**stages, "H": stages["T5"] + X}


def adds_the_input_again(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you added X a second time at the end. T3 holds it already."""
    stages = _plain_block(X, params, h, keep, eps, act)
    return {**stages, "H": stages["T5"] + stages["T3"] + X}


def no_first_residual(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """the first addition is missing: your T3 is T2 alone. Attention makes an update, and without the addition it replaces
    what it was to update."""
    T1 = _norm1(X, params, eps)
    T2 = _mha(T1, params, h, keep)
    T4 = _norm2(T2, params, eps)
    T5 = _feed(T4, params, act)
    return _staged(T1, T2, T2, T4, T5, T5 + T2)


def no_second_residual(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """the second addition is missing: your H is T5 alone, so the FFN replaces what it was to update."""
    stages = _plain_block(X, params, h, keep, eps, act)
    return {**stages, "H": stages["T5"]}


def no_residuals(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """both additions are missing. Attention and FFN make updates, and each of them replaces what it was to update."""
    T1 = _norm1(X, params, eps)
    T2 = _mha(T1, params, h, keep)
    T4 = _norm2(T2, params, eps)
    T5 = _feed(T4, params, act)
    return _staged(T1, T2, T2, T4, T5, T5)


def norms_the_update(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your second LayerNorm looks at T2, the update alone. It normalises what the FFN is to read, which is the sum T3."""
    T1 = _norm1(X, params, eps)
    T2 = _mha(T1, params, h, keep)
    T3 = T2 + X
    T4 = _norm2(T2, params, eps)
    T5 = _feed(T4, params, act)
    return _staged(T1, T2, T3, T4, T5, T5 + T3)


def halves_side_by_side(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your second LayerNorm looks at X, so the FFN does not see what attention found. Some models do run the two halves
    side by side like that. Here the FFN comes after attention, and T4 is made from T3."""
    T1 = _norm1(X, params, eps)
    T2 = _mha(T1, params, h, keep)
    T3 = T2 + X
    T4 = _norm2(X, params, eps)
    T5 = _feed(T4, params, act)
    return _staged(T1, T2, T3, T4, T5, T5 + T3)


def first_norm_shared(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """both LayerNorms use gain1 and bias1. Each has parameters of its own."""
    return _plain_block(X, {**params, "gain2": params["gain1"], "bias2": params["bias1"]}, h, keep, eps, act)


def second_norm_shared(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """both LayerNorms use gain2 and bias2. Each has parameters of its own."""
    return _plain_block(X, {**params, "gain1": params["gain2"], "bias1": params["bias2"]}, h, keep, eps, act)


def norms_exchanged(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you exchanged the two LayerNorms: number 1 stands before attention, number 2 before the FFN."""
    gains = {"gain1": params["gain2"], "gain2": params["gain1"]}
    biases = {"bias1": params["bias2"], "bias2": params["bias1"]}
    return _plain_block(X, {**params, **gains, **biases}, h, keep, eps, act)


def eps_of_its_own(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your LayerNorms use an eps of 0.00001, whatever eps they were given."""
    return _plain_block(X, params, h, keep, 1e-5, act)


def second_eps_of_its_own(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """your second LayerNorm uses an eps of 0.00001. Both use the eps that the block was given."""
    T1 = _norm1(X, params, eps)
    T2 = _mha(T1, params, h, keep)
    T3 = T2 + X
    T4 = _norm2(T3, params, 1e-5)
    T5 = _feed(T4, params, act)
    return _staged(T1, T2, T3, T4, T5, T5 + T3)


def causal_whatever_the_mask(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you made a causal mask of your own. The caller decides who sees whom: hand on keep."""
    return _plain_block(X, params, h, np.tril(np.ones((len(X), len(X)), bool)), eps, act)


def no_mask(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """every token sees every other: keep does not reach attention."""
    return _plain_block(X, params, h, np.ones((len(X), len(X)), bool), eps, act)


def one_head(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """attention runs with a single head, whatever h is."""
    return _plain_block(X, params, 1, keep, eps, act)


def relu_whatever_act_is(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you used relu in the FFN, whatever activation you were given. Hand on act."""
    return _plain_block(X, params, h, keep, eps, lambda x: np.maximum(x, 0))


def adds_into_the_tokens(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """you added attention's update into the caller's tokens. += changes an array for everybody who holds it. Make a new
    one."""
    T1 = _norm1(X, params, eps)
    T2 = _mha(T1, params, h, keep)
    T3 = X
    T3 += T2
    T4 = _norm2(T3, params, eps)
    T5 = _feed(T4, params, act)
    return _staged(T1, T2, T3, T4, T5, T5 + T3)


def adds_into_T2(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """T3 and T2 are one and the same array in your dictionary: += has changed the one through the other. Make a new
    array."""
    T1 = _norm1(X, params, eps)
    T3 = T2 = _mha(T1, params, h, keep)
    T3 += X
    T4 = _norm2(T3, params, eps)
    T5 = _feed(T4, params, act)
    return _staged(T1, T2, T3, T4, T5, T5 + T3)


def adds_into_T3(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """H and T3 are one and the same array in your dictionary: += has changed the one through the other. Make a new
    array."""
    stages = _plain_block(X, params, h, keep, eps, act)
    H = stages["T3"]
    H += stages["T5"]
    return {**stages, "H": H}


def adds_into_T5(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """H and T5 are one and the same array in your dictionary: += has changed the one through the other. Make a new
    array."""
    stages = _plain_block(X, params, h, keep, eps, act)
    H = stages["T5"]
    H += stages["T3"]
    return {**stages, "H": H}


def only_the_end(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> F:
    """you returned H alone. Asked for are all six stages, by name, so that one can see where a block goes wrong."""
    return _plain_block(X, params, h, keep, eps, act)["H"]


def stages_without_names(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> tuple[F, ...]:
    """you returned the six stages one after the other, without their names. Return a dictionary."""
    return tuple(_plain_block(X, params, h, keep, eps, act).values())


def block_by_parts(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    T1 = layer_norm(X, params["gain1"], params["bias1"], eps)
    T2 = _mha(T1, params, h, keep)
    T3 = X + T2
    T4 = layer_norm(T3, params["gain2"], params["bias2"], eps)
    T5 = ffn(T4, params["W1"], params["b1"], params["W2"], params["b2"], act)
    return {"T1": T1, "T2": T2, "T3": T3, "T4": T4, "T5": T5, "H": T3 + T5}


def block_without_helpers(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    out: Stages = {}
    out["H"] = X
    for norm, names in (("1", ("T1", "T2", "T3")), ("2", ("T4", "T5", "H"))):
        Z = out["H"] if norm == "1" else out["T3"]
        centred = Z - Z.mean(axis=1, keepdims=True)
        normed = centred / (centred.var(axis=1, keepdims=True) + eps) ** 0.5
        out[names[0]] = normed * params[f"gain{norm}"] + params[f"bias{norm}"]
        if norm == "1":
            out[names[1]] = _mha(out[names[0]], params, h, keep)
        else:
            hidden = act(out[names[0]] @ params["W1"] + params["b1"])
            out[names[1]] = hidden @ params["W2"] + params["b2"]
        out[names[2]] = Z + out[names[1]]
    return out


def block_by_unpacking(X: F, params: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    W1, b1, W2, b2 = (params[name] for name in ("W1", "b1", "W2", "b2"))
    T1 = _norm(X, params["gain1"], params["bias1"], eps)
    T3 = X + (T2 := _mha(T1, params, h, keep))
    T4 = _norm(T3, params["gain2"], params["bias2"], eps)
    H = T3 + (T5 := act(T4 @ W1 + b1) @ W2 + b2)
    return {"H": H, "T5": T5, "T4": T4, "T3": T3, "T2": T2, "T1": T1}


def _parameters(
    rng: np.random.Generator, d: int, h: int, k: int, v: int, f: int, dtype: str = "float64", order: str = "C"
) -> Params:
    """A block's parameters: scores with a spread of about 2, biases that are not 0, and two norms that differ."""
    queries_and_keys = normal(rng, d, 2 * h * k, scale=math.sqrt(2.0) / math.sqrt(d))
    values = normal(rng, d, h * v, scale=1.0 / math.sqrt(d))
    W1, b1, W2, b2 = _layers(rng, d, f, dtype, order)
    packed = np.hstack([queries_and_keys, values]).astype(dtype)
    return {
        "Wqkv": np.asfortranarray(packed) if order == "F" else packed,
        "Wo": normal(rng, h * v, d, scale=1.5 / math.sqrt(h * v), dtype=dtype, order=order),
        "W1": W1,
        "b1": b1,
        "W2": W2,
        "b2": b2,
        "gain1": _gain(rng, d, dtype),
        "bias1": normal(rng, d, dtype=dtype),
        "gain2": _gain(rng, d, dtype),
        "bias2": normal(rng, d, dtype=dtype),
    }


def _who_sees_whom(rng: np.random.Generator, n: int) -> B:
    """A random mask in which somebody sees nobody, and somebody sees a later token."""
    keep = rng.random((n, n)) < 0.6
    keep[0, n - 1] = True
    keep[rng.integers(1, n)] = False
    return keep


def _drawn(rng: np.random.Generator) -> tuple[int, ...]:
    """n, d, h, k, v, f: pairwise distinct, and h * k != d != h * v."""
    while True:
        n, d, h, k, v, f = (int(size) for size in rng.permutation(np.arange(2, 8)))
        if h <= 3 and d not in (h * k, h * v) and d > 2:
            return n, d, h, k, v, f


def _blocks(rng: np.random.Generator) -> list[Case]:
    cases = []
    for keep_for in (causal, lambda n: np.ones((n, n), bool)):
        n, d, h, k, v, f = _drawn(rng)
        X, params = normal(rng, n, d, scale=2.0), _parameters(rng, d, h, k, v, f)
        cases.append(case(X, params, h, keep_for(n), 0.1, _activation(rng)))
    return cases


def _zeroed_sublayers(rng: np.random.Generator) -> list[Case]:
    """Attention and FFN that add nothing; then each of them alone."""
    cases = []
    for zeros in (("Wo", "W2", "b2"), ("Wo",), ("W2", "b2")):
        n, d, h, k, v, f = _drawn(rng)
        params = _parameters(rng, d, h, k, v, f)
        params |= {name: np.zeros_like(params[name]) for name in zeros}
        cases.append(case(normal(rng, n, d, scale=2.0), params, h, causal(n), 1e-5, _activation(rng)))
    return cases


def _masked_blocks(rng: np.random.Generator) -> list[Case]:
    cases = []
    for _ in range(2):
        n, d, h, k, v, f = _drawn(rng)
        keep = _who_sees_whom(rng, n)
        params = _parameters(rng, d, h, k, v, f)
        cases.append(case(normal(rng, n, d, scale=2.0), params, h, keep, 1e-5, _activation(rng)))
    return cases


def _small_tokens(rng: np.random.Generator) -> list[Case]:
    n, d, h, k, v, f = _drawn(rng)
    params = _parameters(rng, d, h, k, v, f)
    return [case(normal(rng, n, d, scale=0.1), params, h, causal(n), 0.02, _activation(rng))]


def _with_large_scores(X: F, params: Params, h: int, act: Function) -> Case:
    """Gains so large that scores are in the thousands."""
    return case(X, params | {"gain1": 400.0 * params["gain1"]}, h, causal(len(X)), 0.1, act)


def _blocks_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, d, h, k, v, f = _drawn(rng)
    even = 2 * int(rng.integers(2, 4))
    return [
        case(normal(rng, 1, d, scale=2.0), _parameters(rng, d, h, k, v, f), h, causal(1), 1e-5, _activation(rng)),
        _with_large_scores(normal(rng, n, d, scale=2.0), _parameters(rng, d, h, k, v, f), h, _activation(rng)),
        case(
            normal(rng, even, even, scale=2.0),
            _parameters(rng, even, 2, even // 2, even // 2, even),  # n = d = f = h * k = h * v
            2,
            causal(even),
            1e-5,
            _activation(rng),
        ),
        case(
            normal(rng, n, d, scale=2.0, dtype="float32"),
            _parameters(rng, d, h, k, v, f, "float32"),
            h,
            causal(n),
            1e-2,
            _activation(rng),
        ),
        case(
            normal(rng, n, d, scale=2.0, order="strided"),
            _parameters(rng, d, h, k, v, f, order="F"),
            h,
            np.asfortranarray(causal(n)),
            1e-5,
            _activation(rng),
        ),
    ]


BY_HAND: Params = {
    "Wqkv": np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    "Wo": np.array([[2.0, 4.0]]),
    "W1": np.array([[1.0], [2.0]]),
    "b1": np.array([0.0]),
    "W2": np.array([[10.0, 20.0]]),
    "b2": np.array([0.0, 0.0]),
    "gain1": np.array([1.0, 1.0]),
    "bias1": np.array([0.0, 0.0]),
    "gain2": np.array([1.0, 1.0]),
    "bias2": np.array([0.0, 0.0]),
}

SMALL: Params = {
    "Wqkv": np.array([[1.0, 0.5, -1.0], [0.5, -1.0, 2.0]]),
    "Wo": np.array([[1.0, -0.5]]),
    "W1": np.array([[1.0], [-2.0]]),
    "b1": np.array([0.5]),
    "W2": np.array([[1.5, 0.5]]),
    "b2": np.array([0.25, -1.0]),
    "gain1": np.array([1.0, 2.0]),
    "bias1": np.array([0.5, 0.0]),
    "gain2": np.array([1.5, -1.0]),
    "bias2": np.array([0.0, 0.75]),
}

TWO_HEADS: Params = {
    "Wqkv": np.array(
        [
            [1.0, 0.0, 0.5, -1.0, 1.0, 0.0, 2.0, 0.5],
            [0.0, 1.0, 1.0, 0.5, 0.0, 1.0, -1.0, 1.0],
            [0.5, -1.0, 0.0, 1.0, -0.5, 2.0, 0.0, -1.0],
        ]
    ),
    "Wo": np.array([[1.0, 0.0, 0.5], [0.0, 1.0, -1.0], [0.5, -0.5, 1.0], [1.0, 1.0, 0.0]]),
    "W1": np.array([[1.0, -1.0], [0.5, 1.0], [-1.0, 0.5]]),
    "b1": np.array([0.5, -0.25]),
    "W2": np.array([[1.0, 0.5, -1.0], [-0.5, 1.0, 2.0]]),
    "b2": np.array([0.1, 0.2, -0.3]),
    "gain1": np.array([1.0, 1.5, 0.5]),
    "bias1": np.array([0.0, 0.5, -0.5]),
    "gain2": np.array([2.0, 0.5, 1.0]),
    "bias2": np.array([0.25, 0.0, 1.0]),
}

OTHER: Params = {
    "Wqkv": np.array([[0.5, 1.0, 1.0], [-1.0, 0.5, 0.5]]),
    "Wo": np.array([[-1.0, 1.5]]),
    "W1": np.array([[-1.0], [1.0]]),
    "b1": np.array([-0.5]),
    "W2": np.array([[0.5, -2.0]]),
    "b2": np.array([-0.5, 0.5]),
    "gain1": np.array([2.0, 0.5]),
    "bias1": np.array([0.0, -0.5]),
    "gain2": np.array([1.0, 1.25]),
    "bias2": np.array([0.5, 0.0]),
}

THREE_TOKENS = np.array([[1.0, 0.0], [-0.5, 1.5], [2.0, -1.0]])

BLOCK = Exercise(
    oracle=block,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[1.0, 3.0]]), BY_HAND, 1, causal(1), 0.0, RELU),
        case(THREE_TOKENS, SMALL, 1, causal(3), 0.5, TANH),
        _with_large_scores(THREE_TOKENS, OTHER, 1, TANH),
        case(
            np.array([[1.0, 0.0, -1.0], [0.5, 2.0, 0.0], [-1.0, 1.0, 1.5], [0.0, 0.5, -2.0]]),
            TWO_HEADS,
            2,
            np.array(
                [
                    [True, False, False, True],
                    [True, True, False, False],
                    [False, False, False, False],
                    [False, True, True, True],
                ]
            ),
            0.25,
            TANH,
        ),
    ),
    probes=(
        Probe("all six stages, all sizes different", 2.5, _blocks),
        Probe("where attention and FFN add nothing, H is X", 1.0, _zeroed_sublayers),
        Probe("masks that are not causal, and a token that may see nothing", 1.0, _masked_blocks),
        Probe("tokens so small that eps counts", 0.5, _small_tokens),
        Probe("a single token, all sizes equal, float32, arrays that are not contiguous", 1.0, _blocks_at_the_edge),
    ),
    mistakes=(
        attention_overflows,
        post_norm,
        post_norm_under_these_names,
        residual_from_the_norm,
        second_residual_from_the_norm,
        ffn_of_what_is_not_normed,
        attention_of_what_is_not_normed,
        loses_attention,
        adds_the_input_again,
        no_first_residual,
        no_second_residual,
        no_residuals,
        norms_the_update,
        halves_side_by_side,
        first_norm_shared,
        second_norm_shared,
        norms_exchanged,
        eps_of_its_own,
        second_eps_of_its_own,
        causal_whatever_the_mask,
        no_mask,
        one_head,
        relu_whatever_act_is,
        adds_into_the_tokens,
        adds_into_T2,
        adds_into_T3,
        adds_into_T5,
        only_the_end,
        stages_without_names,
    ),
    variants=(block_by_parts, block_without_helpers, block_by_unpacking),
    uses=("layer_norm", "ffn"),
)


# --------------------------------------------------------------------------------------------------- stack

Layers = list[dict[str, Float[np.ndarray, "..."]]]
Norm = tuple[np.ndarray, np.ndarray]


def stack(
    X: Float[np.ndarray, "n d"],
    layers: Layers,
    final_norm: tuple[Float[np.ndarray, "d"], Float[np.ndarray, "d"]],
    h: int,
    keep: Bool[np.ndarray, "n n"],
    eps: float,
    act: Act,
) -> Float[np.ndarray, "n d"]:
    """The blocks one after the other, each on the H of the one before, and a LayerNorm at the end."""
    H = X
    for i in range(len(layers)):
        H = block(H, layers[i], h, keep, eps, act)["H"]
    return layer_norm(H, final_norm[0], final_norm[1], eps)


def _through(X: F, layers: Layers, h: int, keep: B, eps: float, act: Act) -> F:
    for params in layers:
        X = _plain_block(X, params, h, keep, eps, act)["H"]
    return X


def feeds_the_input_again(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you gave X to every block, so all of them but the last worked for nothing. Each block goes on with the H of the one
    before it."""
    return _norm(_through(X, layers[-1:], h, keep, eps, act), *final_norm, eps)


def adds_up_the_blocks(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you added the input of each block to its H. A block has done that itself: its H is its input and two updates."""
    for params in layers:
        X = X + _plain_block(X, params, h, keep, eps, act)["H"]
    return _norm(X, *final_norm, eps)


def no_final_norm(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """the LayerNorm at the end is missing. In a pre-norm block nobody normalises H; the next block does it, and after the
    last one there is no next."""
    return _through(X, layers, h, keep, eps, act)


def one_block_for_all(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """every block ran with the parameters of the first. Each has its own."""
    return _norm(_through(X, layers[:1] * len(layers), h, keep, eps, act), *final_norm, eps)


def last_block_for_all(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """every block ran with the parameters of the last. Each has its own."""
    return _norm(_through(X, layers[-1:] * len(layers), h, keep, eps, act), *final_norm, eps)


def blocks_backwards(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """the last block ran first. They run in the order of the list."""
    return _norm(_through(X, layers[::-1], h, keep, eps, act), *final_norm, eps)


def stops_early(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """the last block did not run."""
    return _norm(_through(X, layers[:-1], h, keep, eps, act), *final_norm, eps)


def starts_late(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """the first block did not run."""
    return _norm(_through(X, layers[1:], h, keep, eps, act), *final_norm, eps)


def returns_from_the_loop(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F | None:
    """your return stands inside the loop: it is indented too far. So only the first block runs, and where there are no
    blocks nothing is returned at all."""
    return _norm(_through(X, layers[:1], h, keep, eps, act), *final_norm, eps) if layers else None


def norm_after_every_block(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """your final LayerNorm stands inside the loop, so it runs after every block, and not at all where there are none. It
    stands once, at the end; in between the tokens go on as they are."""
    for params in layers:
        X = _norm(_plain_block(X, params, h, keep, eps, act)["H"], *final_norm, eps)
    return X


def norm_after_every_block_and_at_the_end(
    X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act
) -> F:
    """you ran the final LayerNorm after every block, and once more at the end. In between the tokens go on as they are."""
    for params in layers:
        X = _norm(_plain_block(X, params, h, keep, eps, act)["H"], *final_norm, eps)
    return _norm(X, *final_norm, eps)


def hands_on_the_dictionary(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """block returns all six of its stages in a dictionary, and you went on with the whole of it. Only one of them goes
    round."""

    def begin(tokens: F) -> F:
        return tokens - tokens.mean(axis=-1, keepdims=True)  # as nearly every LayerNorm begins

    tokens: Any = X
    for params in layers:
        begin(tokens)
        tokens = _plain_block(tokens, params, h, keep, eps, act)
    begin(tokens)
    return _norm(tokens, *final_norm, eps)


def norms_the_input(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """this is the LayerNorm of X as it came in: what the blocks made has been kept under another name, or not at all. Norm
    what came out of the last block."""
    return _norm(X, *final_norm, eps)


def final_norm_with_eps_of_its_own(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """your final LayerNorm uses an eps of 0.00001. It uses the one that the blocks use, eps."""
    return _norm(_through(X, layers, h, keep, eps, act), *final_norm, 1e-5)


def stack_with_eps_of_its_own(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """every LayerNorm, in the blocks and at the end, uses an eps of 0.00001, whatever eps you were given."""
    return _norm(_through(X, layers, h, keep, 1e-5, act), *final_norm, 1e-5)


def stack_with_a_mask_of_its_own(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you made a causal mask of your own. The caller decides who sees whom: hand on keep."""
    return _norm(_through(X, layers, h, np.tril(np.ones((len(X), len(X)), bool)), eps, act), *final_norm, eps)


def norm_at_the_start(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you ran the final LayerNorm first, and the blocks after it."""
    return _through(_norm(X, *final_norm, eps), layers, h, keep, eps, act)


def norm_exchanges_gain_and_bias(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you took the bias of the final LayerNorm for its gain, and the gain for its bias. The pair is (gain, bias)."""
    return _norm(_through(X, layers, h, keep, eps, act), final_norm[1], final_norm[0], eps)


def norm_without_parameters(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """your final LayerNorm ran without its gain and its bias."""
    return _norm(_through(X, layers, h, keep, eps, act), np.ones_like(final_norm[0]), 0 * final_norm[1], eps)


def hands_on_the_update(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you handed on T5, the FFN's update alone. What a block passes to the next is H."""
    for params in layers:
        X = _plain_block(X, params, h, keep, eps, act)["T5"]
    return _norm(X, *final_norm, eps)


def hands_on_half_a_block(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """you handed on T3, the tokens after attention, so no FFN took part. What a block passes to the next is H."""
    for params in layers:
        X = _plain_block(X, params, h, keep, eps, act)["T3"]
    return _norm(X, *final_norm, eps)


def uses_up_the_list(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    """the caller's list of layers is empty afterwards: popping takes its entries away. Go through it with a for."""
    while layers:
        X = _plain_block(X, layers.pop(0), h, keep, eps, act)["H"]
    return _norm(X, *final_norm, eps)


def stack_by_blocks(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    for params in layers:
        X = block(X, params, h, keep, eps, act)["H"]
    return layer_norm(X, *final_norm, eps)


def stack_by_recursion(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    def through(X: F, layers: Layers) -> F:
        if not layers:
            return X
        return through(_plain_block(X, layers[0], h, keep, eps, act)["H"], layers[1:])

    return _norm(through(X, layers), *final_norm, eps)


def stack_without_helpers(X: F, layers: Layers, final_norm: Norm, h: int, keep: B, eps: float, act: Act) -> F:
    H = X.copy()
    for p in layers:
        H += _mha(_norm1(H, p, eps), p, h, keep)
        H += _feed(_norm2(H, p, eps), p, act)
    gain, bias = final_norm
    return gain * (H - H.mean(axis=1, keepdims=True)) / np.sqrt(H.var(axis=1, keepdims=True) + eps) + bias


def _stacked(
    rng: np.random.Generator, depth: int, n: int, d: int, h: int, k: int, v: int, f: int, dtype: str = "float64"
) -> tuple[Any, ...]:
    """X, layers, final_norm."""
    layers = [_parameters(rng, d, h, k, v, f, dtype) for _ in range(depth)]
    return normal(rng, n, d, scale=2.0, dtype=dtype), layers, (_gain(rng, d, dtype), normal(rng, d, dtype=dtype))


def _stacks(rng: np.random.Generator) -> list[Case]:
    cases = []
    for depth in (2, 3):
        n, d, h, k, v, f = _drawn(rng)
        cases.append(case(*_stacked(rng, depth, n, d, h, k, v, f), h, causal(n), 1e-2, _activation(rng)))
    return cases


def _few_blocks(rng: np.random.Generator) -> list[Case]:
    """One block, none, and three of which the one in the middle adds nothing."""
    cases = []
    for depth in (1, 0, 3):
        n, d, h, k, v, f = _drawn(rng)
        X, layers, norm = _stacked(rng, depth, n, d, h, k, v, f)
        if depth == 3:
            layers[1] |= {name: np.zeros_like(layers[1][name]) for name in ("Wo", "W2", "b2")}
        cases.append(case(X, layers, norm, h, causal(n), 1e-5, _activation(rng)))
    return cases


def _stacks_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, d, h, k, v, f = _drawn(rng)
    return [
        case(*_stacked(rng, 2, 1, d, h, k, v, f), h, causal(1), 1e-5, _activation(rng)),
        case(*_stacked(rng, 2, n, d, h, k, v, f), h, _who_sees_whom(rng, n), 0.3, _activation(rng)),
        case(*_stacked(rng, 2, n, d, h, k, v, f, "float32"), h, causal(n), 1e-2, _activation(rng)),
    ]


STACK = Exercise(
    oracle=stack,
    notebook=NOTEBOOK,
    public=(
        case(THREE_TOKENS, [], (np.array([1.0, 2.0]), np.array([0.5, -1.0])), 1, causal(3), 0.5, TANH),
        case(
            np.array([[1.0, 3.0]]), [BY_HAND], (np.array([1.0, 2.0]), np.array([10.0, 20.0])), 1, causal(1), 0.0, RELU
        ),
        case(THREE_TOKENS, [SMALL, OTHER], (np.array([1.0, 2.0]), np.array([0.5, -1.0])), 1, causal(3), 0.5, TANH),
        case(
            THREE_TOKENS,
            [OTHER, SMALL, BY_HAND],
            (np.array([1.5, 0.5]), np.array([0.0, 1.0])),
            1,
            np.ones((3, 3), bool),
            0.5,
            TANH,
        ),
    ),
    probes=(
        Probe("block after block, each with its own parameters, and the LayerNorm at the end", 1.5, _stacks),
        Probe("one block, none at all, and one that adds nothing", 0.75, _few_blocks),
        Probe("a single token, a mask that is not causal, float32", 0.75, _stacks_at_the_edge),
    ),
    mistakes=(
        feeds_the_input_again,
        adds_up_the_blocks,
        no_final_norm,
        one_block_for_all,
        last_block_for_all,
        blocks_backwards,
        stops_early,
        starts_late,
        returns_from_the_loop,
        norm_after_every_block,
        norm_after_every_block_and_at_the_end,
        norms_the_input,
        norm_at_the_start,
        norm_exchanges_gain_and_bias,
        norm_without_parameters,
        final_norm_with_eps_of_its_own,
        stack_with_eps_of_its_own,
        stack_with_a_mask_of_its_own,
        hands_on_the_update,
        hands_on_the_dictionary,
        hands_on_half_a_block,
        uses_up_the_list,
    ),
    variants=(stack_by_blocks, stack_by_recursion, stack_without_helpers),
    uses=("block", "layer_norm"),
)


# --------------------------------------------------------------------------------------------------- embed


def embed(
    ids: Int[np.ndarray, "b n"], E: Float[np.ndarray, "c d"], P: Float[np.ndarray, "l d"]
) -> Float[np.ndarray, "b n d"]:
    """Token i of a text is row ids[i] of E plus row i of P."""
    b, n = ids.shape
    out = np.zeros((b, n, E.shape[1]))
    for item in range(b):
        for i in range(n):
            for x in range(E.shape[1]):
                out[item, i, x] = E[ids[item, i], x] + P[i, x]
    return out


def position_of_the_word(ids: F, E: F, P: F) -> F:
    """you looked the position up by the word's number. A word's place in the text is where it stands: 0, 1, 2, whatever
    the word. (Yours gives the same word the same vector everywhere, so it says nothing about places.)"""
    return E[ids] + P[ids]


def concatenates(ids: F, E: F, P: F) -> F:
    """you put word and position side by side, which makes tokens of width 2d. They are added; both have width d."""
    b, n = ids.shape
    return np.concatenate([E[ids], np.broadcast_to(P[:n], (b, n, P.shape[1]))], axis=-1)


def positions_from_one(ids: F, E: F, P: F) -> F:
    """your positions begin with row 1 of P. The first word stands at place 0."""
    return E[ids] + P[1 : ids.shape[1] + 1]


def positions_from_the_end(ids: F, E: F, P: F) -> F:
    """you took the last rows of P. A text begins at place 0, also when it is shorter than P."""
    return E[ids] + P[-ids.shape[1] :]


def positions_backwards(ids: F, E: F, P: F) -> F:
    """your places count down. The first word stands at place 0."""
    return E[ids] + P[: ids.shape[1]][::-1]


def all_positions(ids: F, E: F, P: F) -> F:
    """you added the whole of P. It has a row for every place that a text may have, and this text is shorter."""
    return E[ids] + P


def no_positions(ids: F, E: F, P: F) -> F:
    """these are the words alone; the positions are missing."""
    return E[ids]


def positions_without_words(ids: F, E: F, P: F) -> F:
    """these are the positions alone; the words are missing."""
    b, n = ids.shape
    return np.broadcast_to(P[:n], (b, n, P.shape[1])).copy()


def one_position_for_all(ids: F, E: F, P: F) -> F:
    """you added row 0 of P to every word. Each place has a row of its own."""
    return E[ids] + P[0]


def position_of_the_text(ids: F, E: F, P: F) -> F:
    """you gave each text of the batch a row of P, and each word of a text the same. It is the place within the text that
    counts: the axis n, not b."""
    return E[ids] + P[: len(ids), None]


def as_many_places_as_texts(ids: F, E: F, P: F) -> F:
    """you took as many rows of P as there are texts: the length of ids is b. A text has n words, and n is the other axis of
    ids."""
    return E[ids] + P[: len(ids)]


def counts_on_through_the_batch(ids: F, E: F, P: F) -> F:
    """your places count on from one text to the next. Every text of a batch begins at place 0."""
    return E[ids] + P[np.arange(ids.size).reshape(ids.shape)]


def multiplies(ids: F, E: F, P: F) -> F:
    """you multiplied word and position. They are added."""
    return E[ids] * P[: ids.shape[1]]


def words_times_root_d(ids: F, E: F, P: F) -> F:
    """you multiplied the words by √d before adding the positions. The first transformer did; here they are added as they
    are."""
    return E[ids] * E.shape[1] ** 0.5 + P[: ids.shape[1]]


def averages(ids: F, E: F, P: F) -> F:
    """you took the mean of word and position. It is their sum."""
    return (E[ids] + P[: ids.shape[1]]) / 2


def only_the_first_text(ids: F, E: F, P: F) -> F:
    """your answer holds the first text alone. A batch of b texts gives [b, n, d]."""
    return E[ids[0]] + P[: ids.shape[1]]


def embeds_in_float64(ids: F, E: F, P: F) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part."""
    return E[ids] + P[: ids.shape[1]].astype(np.float64)


def embed_by_take(ids: F, E: F, P: F) -> F:
    return np.take(E, ids, axis=0) + P[np.arange(ids.shape[1])][None]


def embed_by_one_hot(ids: F, E: F, P: F) -> F:
    words, places = np.eye(len(E), dtype=E.dtype), np.eye(ids.shape[1], len(P), dtype=P.dtype)
    return words[ids] @ E + places @ P


def embed_by_loops(ids: F, E: F, P: F) -> F:
    return np.array([[E[word] + P[place] for place, word in enumerate(text)] for text in ids])


def embed_by_torch(ids: F, E: F, P: F) -> F:
    import torch

    rows = torch.nn.functional.embedding(torch.from_numpy(ids.astype(np.int64)), torch.from_numpy(E.copy()))
    return (rows + torch.from_numpy(P[: ids.shape[1]].copy())).numpy()


def _texts(rng: np.random.Generator, b: int, n: int, c: int) -> F:
    return rng.integers(0, c, (b, n))


def _embeddings(rng: np.random.Generator) -> list[Case]:
    """b * n <= l, and c <= l, so that every wrong way to look up a position runs."""
    b, n, c, d = (int(size) for size in rng.permutation([2, 3, 4, 5]))
    return [
        case(_texts(rng, b, n, c), normal(rng, c, d), normal(rng, b * n + 1, d)),
        case(_texts(rng, n, b, c + 6), normal(rng, c + 6, d), normal(rng, b * n + 6, d)),
    ]


def _repeated_words(rng: np.random.Generator) -> list[Case]:
    b, n, c, d = (int(size) for size in rng.permutation([3, 4, 5, 6]))
    ids = np.full((b, n), int(rng.integers(c)))
    ids[0] = np.arange(n) % c
    return [case(ids, normal(rng, c, d), normal(rng, b * n + 2, d))]


def _embeddings_at_the_edge(rng: np.random.Generator) -> list[Case]:
    b, n, c, d = (int(size) for size in rng.permutation([2, 3, 4, 5]))
    return [
        case(_texts(rng, 1, 1, c), normal(rng, c, d), normal(rng, n, d)),
        case(_texts(rng, b, n, c), normal(rng, c, d), normal(rng, n, d)),  # l = n: no place is left over
        case(_texts(rng, n, n, c), normal(rng, c, d), normal(rng, n * n + 1, d)),  # b = n: a text may pass for a place
        case(_texts(rng, b, n, c), normal(rng, c, d, dtype="float32"), normal(rng, n + 3, d, dtype="float32")),
        case(
            _texts(rng, b, n, c).astype(np.int32),
            normal(rng, c, d, order="strided"),
            normal(rng, b * n + 1, d, order="F"),
        ),
    ]


EMBED = Exercise(
    oracle=embed,
    notebook=NOTEBOOK,
    public=(
        case(
            np.array([[2, 0]]),
            np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
            np.array([[10.0, 20.0, 30.0], [40.0, 50.0, 60.0], [70.0, 80.0, 90.0]]),
        ),
        case(
            np.array([[1, 0, 1], [2, 1, 1]]),
            np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
            np.array(
                [[10.0, 20.0], [30.0, 40.0], [50.0, 60.0], [70.0, 80.0], [90.0, 15.0], [25.0, 35.0], [45.0, 55.0]]
            ),
        ),
        case(
            np.array([[1, 0]]),
            np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]], np.float32),
            np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 1.0], [0.25, 4.0, -2.0]], np.float32),
        ),
    ),
    probes=(
        Probe("the vector of the word plus the vector of its place, all sizes different", 1.5, _embeddings),
        Probe("the same word at several places, and the same places in every text", 0.75, _repeated_words),
        Probe(
            "one word, texts as long as P allows, as many texts as words, float32, arrays that are not contiguous",
            0.75,
            _embeddings_at_the_edge,
        ),
    ),
    mistakes=(
        position_of_the_word,
        concatenates,
        positions_from_one,
        positions_from_the_end,
        positions_backwards,
        all_positions,
        no_positions,
        positions_without_words,
        one_position_for_all,
        position_of_the_text,
        as_many_places_as_texts,
        counts_on_through_the_batch,
        multiplies,
        words_times_root_d,
        averages,
        only_the_first_text,
        embeds_in_float64,
    ),
    variants=(embed_by_take, embed_by_one_hot, embed_by_loops, embed_by_torch),
)


# ------------------------------------------------------------------------------------------------- unembed


def unembed(H: Float[np.ndarray, "*b d"], U: Float[np.ndarray, "d c"]) -> Float[np.ndarray, "*b c"]:
    """For each output its dot product with every column of U."""
    d, c = U.shape
    out = np.zeros((*H.shape[:-1], c))
    for place in np.ndindex(H.shape[:-1]):
        for word in range(c):
            out[(*place, word)] = sum(H[place][x] * U[x, word] for x in range(d))
    return out


def _softmax(S: F, axis: int = -1) -> F:
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return np.asarray(E / E.sum(axis=axis, keepdims=True))


def _token_axis(S: F) -> int:
    return -2 if S.ndim > 1 else -1


def moves_rows_down(H: F, U: F) -> F:
    """your row i is made from output i - 1. It is true that output i - 1 guesses word i. But logits stay where their
    output stands, and row i of the result belongs to row i of H; the loss does the pairing."""
    return np.roll(H, 1, axis=_token_axis(H)) @ U


def moves_rows_up(H: F, U: F) -> F:
    """your row i is made from output i + 1. Row i of the result belongs to row i of H: output i has the guess for word
    i + 1 in it already."""
    return np.roll(H, -1, axis=_token_axis(H)) @ U


def drops_the_last_row(H: F, U: F) -> F:
    """you left the last output out, because no word follows it in the text. It is the very one from which a model writes
    on. Every output has its logits; the loss leaves out what it cannot use."""
    return H[..., :-1, :] @ U if H.ndim > 1 else H @ U


def only_the_last_row(H: F, U: F) -> F:
    """you kept the last output alone. That is enough for writing on; for learning every output has a guess to make."""
    return H[..., -1, :] @ U if H.ndim > 1 else H @ U


def returns_probabilities(H: F, U: F) -> F:
    """these are probabilities. Logits are asked for, which are scores: of any size and sign, before softmax. (The loss
    takes its own softmax, and a second one on top is one too many.)"""
    return _softmax(H @ U)


def returns_log_probabilities(H: F, U: F) -> F:
    """these are logarithms of probabilities, after softmax. Logits are asked for: the scores before it."""
    logits = H @ U
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def softmax_over_tokens(H: F, U: F) -> F:
    """you took softmax over the tokens, so that each word of the vocabulary shares itself out over the text. Words compete
    for a place, not places for a word. And logits are asked for, which come before any softmax."""
    logits = H @ U
    return _softmax(logits, _token_axis(logits))


def unembeds_with_rows(H: F, U: F) -> F:
    """you turned U. It has a column for every word, [d, c], and multiplies an output from the right as it stands. (E of
    the embedding has a row for every word.)"""
    return H @ U.T


def logits_over_root_d(H: F, U: F) -> F:
    """you divided by √d. That is for scores of attention; logits are the plain product."""
    return H @ U / U.shape[0] ** 0.5


def logits_less_their_maximum(H: F, U: F) -> F:
    """you subtracted from each row its largest logit. That changes no probability, but it is softmax's own business;
    what is asked for is the plain product."""
    logits = H @ U
    return logits - logits.max(axis=-1, keepdims=True)


def norms_the_outputs(H: F, U: F) -> F:
    """you normalised the outputs first. The stack has done that, with its final LayerNorm; here they are taken as they
    are."""
    return _centred(H) / np.sqrt(_variance(H) + 1e-5) @ U


def names_the_winner(H: F, U: F) -> F:
    """you returned the number of the word with the largest logit. All c logits of each output are asked for: by how much
    it wins is what a model learns from."""
    return np.argmax(H @ U, axis=-1)


def logits_in_float64(H: F, U: F) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part."""
    return H @ U.astype(np.float64)


def logits_by_einsum(H: F, U: F) -> F:
    return np.einsum("...d,dc->...c", H, U)


def logits_word_by_word(H: F, U: F) -> F:
    return np.stack([(H * column).sum(axis=-1) for column in U.T], axis=-1)


def logits_by_dot(H: F, U: F) -> F:
    return np.dot(H, U)


def logits_by_torch(H: F, U: F) -> F:
    import torch

    return torch.nn.functional.linear(torch.from_numpy(H.copy()), torch.from_numpy(U.T.copy())).numpy()


def _outputs(rng: np.random.Generator) -> list[Case]:
    b, n, d, c = sizes(rng, 4)
    return [case(normal(rng, n, d), normal(rng, d, c)), case(normal(rng, b, n, d), normal(rng, d, c))]


def _outputs_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    n, d = sizes(rng, 2, 3, 7)
    return [
        case(normal(rng, n, d), normal(rng, d, d)),  # c = d: H @ U.T runs
        case(normal(rng, d, d), normal(rng, d, d)),
        case(normal(rng, n, n, d), normal(rng, d, n)),
    ]


def _outputs_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, d, c = sizes(rng, 3)
    return [
        case(normal(rng, d), normal(rng, d, c)),
        case(normal(rng, 1, d), normal(rng, d, c)),
        case(normal(rng, n, d, dtype="float32"), normal(rng, d, c, dtype="float32")),
        case(normal(rng, n, d, scale=1e4), normal(rng, d, c)),
        case(normal(rng, n, d, order="strided"), normal(rng, d, c, order="F")),
    ]


UNEMBED = Exercise(
    oracle=unembed,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[1.0, 2.0]]), np.array([[3.0, 0.0, -1.0], [1.0, 1.0, 2.0]])),
        case(
            np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]]),
            np.array([[3.0, 0.0, -1.0, 1.0], [1.0, 1.0, 2.0, 0.0]]),
        ),
        case(np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([[3.0, -1.0], [1.0, 2.0]])),
        case(np.array([[0.5, 1.0]], np.float32), np.array([[1.0, 0.0, -2.0], [1.0, 3.0, 0.5]], np.float32)),
    ),
    probes=(
        Probe("a score for every word from every output, all sizes different", 1.0, _outputs),
        Probe("the same where sizes coincide and a turned U would run", 0.5, _outputs_where_sizes_coincide),
        Probe("one output, large numbers, float32, arrays that are not contiguous", 0.5, _outputs_at_the_edge),
    ),
    mistakes=(
        moves_rows_down,
        moves_rows_up,
        drops_the_last_row,
        only_the_last_row,
        returns_probabilities,
        returns_log_probabilities,
        softmax_over_tokens,
        unembeds_with_rows,
        logits_over_root_d,
        logits_less_their_maximum,
        norms_the_outputs,
        names_the_winner,
        logits_in_float64,
    ),
    variants=(logits_by_einsum, logits_word_by_word, logits_by_dot, logits_by_torch),
)


# ----------------------------------------------------------------------------------------- next_token_loss


def next_token_loss(logits: Float[np.ndarray, "b n c"], ids: Int[np.ndarray, "b n"]) -> float:
    """The mean over all places but the last of log sum exp(logits) less the logit of the word that follows."""
    b, n, c = logits.shape
    losses = []
    for item in range(b):
        for i in range(n - 1):
            row = [float(logits[item, i, word]) for word in range(c)]
            top = max(row)
            total = math.fsum(math.exp(score - top) for score in row)
            losses.append(math.log(total) + (top - row[ids[item, i + 1]]))
    return math.fsum(losses) / len(losses)


def _logs(logits: F, axis: int = -1) -> F:
    shifted = logits - logits.max(axis=axis, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True)))


def _of_the_answers(scores: F, answers: F) -> F:
    return np.take_along_axis(scores, answers[..., None], axis=-1)[..., 0]


def no_shift(logits: F, ids: F) -> float:
    """you compared row i with word i, which is the word that the model was shown there. Row i is the guess for word
    i + 1."""
    return float(-_of_the_answers(_logs(logits), ids).mean())


def no_shift_and_one_less(logits: F, ids: F) -> float:
    """you left the last row out, and compared row i with word i all the same, which is the word that the model was shown
    there. Row i is the guess for word i + 1."""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids[:, :-1]).mean())


def no_shift_and_no_first(logits: F, ids: F) -> float:
    """you cut both at the front, so row i is still compared with word i, which is the word that the model was shown there.
    Row i is the guess for word i + 1: cut the logits at their end."""
    return float(-_of_the_answers(_logs(logits[:, 1:]), ids[:, 1:]).mean())


def ids_not_cut(logits: F, ids: F) -> float:
    """you left the last row of the logits out, and kept all words. There are n - 1 guesses in a text of n words, and so
    there have to be n - 1 answers: which word is nobody's answer?"""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids).mean())


def logits_not_cut(logits: F, ids: F) -> float:
    """you left the first word out, and kept all rows of the logits. There are n - 1 answers in a text of n words, and so
    there have to be n - 1 guesses: which row has no answer?"""
    return float(-_of_the_answers(_logs(logits), ids[:, 1:]).mean())


def shifts_the_wrong_way(logits: F, ids: F) -> float:
    """you compared row i + 1 with word i, which lies in the past: the model has read it already. Row i is the guess for
    word i + 1."""
    return float(-_of_the_answers(_logs(logits[:, 1:]), ids[:, :-1]).mean())


def wraps_around(logits: F, ids: F) -> float:
    """you compared the last row with the first word of the text: rolling brings it round. For the last row there is no
    next word, and it has to stay out."""
    return float(-_of_the_answers(_logs(logits), np.roll(ids, -1, axis=1)).mean())


def two_ahead(logits: F, ids: F) -> float:
    """you shifted twice: row i is compared with word i + 2. Row i is the guess for word i + 1."""
    return float(-_of_the_answers(_logs(logits[:, :-2]), ids[:, 2:]).mean())


def sums_the_losses(logits: F, ids: F) -> float:
    """you added the losses up. Their mean is asked for, or else longer texts would look worse."""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).sum())


def divides_by_texts(logits: F, ids: F) -> float:
    """you divided by the number of texts, so this is the loss of a whole text. The mean over all words that had to be
    guessed is asked for."""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).sum() / len(ids))


def divides_by_guesses_in_a_text(logits: F, ids: F) -> float:
    """you divided by the number of guesses in one text, n - 1, and there are b texts."""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).sum() / (ids.shape[1] - 1))


def divides_by_all_words(logits: F, ids: F) -> float:
    """you divided by the number of words. The first word of a text is never guessed: a text of n words has n - 1
    guesses."""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).sum() / ids.size)


def averages_over_the_vocabulary(logits: F, ids: F) -> float:
    """you divided by the size of the vocabulary as well. A one-hot table has a single 1 in each row; its zeros are no
    guesses."""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).mean() / logits.shape[-1])


def softmax_twice(logits: F, ids: F) -> float:
    """you took softmax twice. The second one sees numbers between 0 and 1, which are all alike to it, and even a model
    that is sure and right gets a loss."""
    return float(-_of_the_answers(_logs(_softmax(logits[:, :-1])), ids[:, 1:]).mean())


def no_softmax(logits: F, ids: F) -> float:
    """you averaged the logits of the right words as they are. Logits say nothing by themselves, only compared with those
    of the other words: softmax compares them."""
    return float(-_of_the_answers(logits[:, :-1], ids[:, 1:]).mean())


def log_of_logits(logits: F, ids: F) -> float:
    """you took the logarithm of the logits, as if they were probabilities. They are scores, and may be negative: softmax
    makes probabilities of them."""
    with np.errstate(all="ignore"):
        return float(-np.log(_of_the_answers(logits[:, :-1], ids[:, 1:])).mean())


def softmax_over_places(logits: F, ids: F) -> float:
    """your softmax runs over the places of the text. The words of the vocabulary compete, and they lie on the last axis."""
    return float(-_of_the_answers(_logs(logits, 1)[:, :-1], ids[:, 1:]).mean())


def softmax_over_cut_places(logits: F, ids: F) -> float:
    """your softmax runs over axis 1, the places of the text. The words of the vocabulary compete, and they lie on the last
    axis."""
    return float(-_of_the_answers(_logs(logits[:, :-1], 1), ids[:, 1:]).mean())


def sign_left_out(logits: F, ids: F) -> float:
    """your loss is negative. The logarithm of a probability is, and a loss is what you want to get small: turn the sign."""
    return float(_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).mean())


def in_bits(logits: F, ids: F) -> float:
    """this is the loss in bits. In nats the logarithm is the natural one, np.log."""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).mean() / math.log(2))


def averages_probabilities(logits: F, ids: F) -> float:
    """you averaged the probabilities first and took the logarithm of the mean. Each guess has a loss of its own, and the
    mean is taken of those: a single sure mistake should hurt."""
    with np.errstate(all="ignore"):
        return float(-np.log(_of_the_answers(_softmax(logits[:, :-1]), ids[:, 1:]).mean()))


def no_logarithm(logits: F, ids: F) -> float:
    """you took one less the probability of the right word. The loss is minus its logarithm, which has no upper limit."""
    return float(1 - _of_the_answers(_softmax(logits[:, :-1]), ids[:, 1:]).mean())


def perplexity(logits: F, ids: F) -> float:
    """you raised e to the loss. That is called perplexity: how many words one might as well choose among. The loss itself
    is asked for."""
    with np.errstate(all="ignore"):
        return float(np.exp(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).mean()))


def exponentials_overflow(logits: F, ids: F) -> float:
    """you took exponentials of the logits as they are. e to the 10000 is infinite. Only differences count, so subtract
    the largest first, as in softmax."""
    E = np.exp(logits[:, :-1])
    return float(-np.log(_of_the_answers(E / E.sum(axis=-1, keepdims=True), ids[:, 1:])).mean())


def sum_overflows(logits: F, ids: F) -> float:
    """you took the logarithm on paper, and then exponentials of the logits as they are. e to the 10000 is infinite, and e
    to the -10000 is 0. Take a row's largest logit off all its logits first: the loss stays what it is."""
    rows, answers = logits[:, :-1], ids[:, 1:]
    return float((np.log(np.exp(rows).sum(axis=-1)) - _of_the_answers(rows, answers)).mean())


def maximum_not_given_back(logits: F, ids: F) -> float:
    """you subtracted the largest logit m inside the sum, and not from the logit of the right word. Taking m off the one
    alone changes the loss by m."""
    rows, answers = logits[:, :-1], ids[:, 1:]
    sums = np.exp(rows - rows.max(axis=-1, keepdims=True)).sum(axis=-1)
    return float((np.log(sums) - _of_the_answers(rows, answers)).mean())


def maximum_with_the_wrong_sign(logits: F, ids: F) -> float:
    """you subtracted the largest logit m inside the sum, and once more outside. Outside it has to be given back: log of the
    sum of e to the s - m is m too small."""
    rows, answers = logits[:, :-1], ids[:, 1:]
    top = rows.max(axis=-1, keepdims=True)
    sums = np.log(np.exp(rows - top).sum(axis=-1)) - top[..., 0]
    return float((sums - _of_the_answers(rows, answers)).mean())


def logarithm_of_zero(logits: F, ids: F) -> float:
    """you made probabilities first and took their logarithm. One that is smaller than the smallest number became 0 on the
    way, and its loss is infinite. Take the logarithm on paper first: of an exponential nothing is left but what stood
    above the e."""
    return float(-np.log(_of_the_answers(_softmax(logits[:, :-1]), ids[:, 1:])).mean())


def a_little_added(logits: F, ids: F) -> float:
    """you added a small number to the probabilities before the logarithm. It keeps the loss finite, and wrong: whatever
    is below that number counts as that number. Take the logarithm on paper first instead."""
    return float(-np.log(_of_the_answers(_softmax(logits[:, :-1]), ids[:, 1:]) + 1e-9).mean())


def clipped_probabilities(logits: F, ids: F) -> float:
    """you kept the probabilities from falling below a smallest one. It keeps the loss finite, and wrong: a mistake may cost
    only so much, however sure the model was. Take the logarithm on paper first instead."""
    return float(-np.log(np.maximum(_of_the_answers(_softmax(logits[:, :-1]), ids[:, 1:]), 1e-12)).mean())


def probabilities_above_the_smallest(logits: F, ids: F) -> float:
    """you kept the probabilities a tiny bit above 0. It keeps the loss finite, and wrong: a mistake may cost only so much,
    however sure the model was. Take the logarithm on paper first instead."""
    return float(-np.log(np.maximum(_of_the_answers(_softmax(logits[:, :-1]), ids[:, 1:]), 1e-300)).mean())


def global_maximum(logits: F, ids: F) -> float:
    """you subtracted the largest logit of the whole array. In a row that lies far below it all exponentials become 0, and
    the logarithm of 0 is no loss. Each row has its own maximum."""
    shifted = logits[:, :-1] - logits.max()
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return float(-_of_the_answers(logs, ids[:, 1:]).mean())


def crosses_the_batch(logits: F, ids: F) -> float:
    """your index crosses the texts: every text's rows are compared with every text's words. With one text alone you would
    not notice. An index for the places alone leaves the axis of the texts as a slice; give all three axes an index."""
    n = ids.shape[1]
    return float(-_logs(logits[:, :-1])[:, np.arange(n - 1), ids[:, 1:]].mean())


def indices_lie_flat(logits: F, ids: F) -> float:
    """you indexed with [b] numbers of texts beside [n - 1] numbers of places. Indices that stand side by side go together
    like the terms of a sum: they are lined up from the right. With one text alone you would not notice. Every text with
    every place: give the numbers of the texts a second axis, of length 1."""
    b, n = ids.shape
    return float(-_logs(logits[:, :-1])[np.arange(b), np.arange(n - 1), ids[:, 1:]].mean())


def picked_keeps_an_axis(logits: F, ids: F) -> float:
    """in your last subtraction one array is [b, n - 1] and the other [b, n - 1, 1]. take_along_axis keeps the axis that it
    picks from, with length 1, and so does keepdims. NumPy then lines up texts with places; with one text alone you
    would not notice. Keep that axis in both arrays, or in neither."""
    rows, answers = logits[:, :-1], ids[:, 1:]
    top = rows.max(axis=-1)
    sums = top + np.log(np.exp(rows - top[..., None]).sum(axis=-1))
    return float((sums - np.take_along_axis(rows, answers[..., None], axis=-1)).mean())


def sum_keeps_an_axis(logits: F, ids: F) -> float:
    """in your last subtraction one array is [b, n - 1, 1] and the other [b, n - 1]. keepdims keeps an axis of length 1, and
    so does take_along_axis. NumPy then lines up places with texts; with one text alone you would not notice. Keep that
    axis in both arrays, or in neither."""
    rows, answers = logits[:, :-1], ids[:, 1:]
    top = rows.max(axis=-1, keepdims=True)
    sums = top + np.log(np.exp(rows - top).sum(axis=-1, keepdims=True))
    return float((sums - _of_the_answers(rows, answers)).mean())


def maxima_lie_flat(logits: F, ids: F) -> float:
    """your maxima and your sums have lost their last axis, so NumPy lines up places with words. Each belongs to a whole
    row of c logits: keep the axis."""
    rows = logits[:, :-1]
    shifted = rows - rows.max(axis=-1)
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1))
    return float(-_of_the_answers(logs, ids[:, 1:]).mean())


def sums_lie_flat(logits: F, ids: F) -> float:
    """your sums have lost their last axis, so NumPy lines up places with words. Each belongs to a whole row of c logits:
    keep the axis."""
    rows = logits[:, :-1]
    shifted = rows - rows.max(axis=-1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1))
    return float(-_of_the_answers(logs, ids[:, 1:]).mean())


def first_text_only(logits: F, ids: F) -> float:
    """this is the loss of the first text alone."""
    return float(-_of_the_answers(_logs(logits[:1, :-1]), ids[:1, 1:]).mean())


def only_the_last_guess(logits: F, ids: F) -> float:
    """this is the loss of the last guess of each text alone. Every place but the last of a text has a next word, and all
    of them count."""
    return float(-_of_the_answers(_logs(logits[:, -2:-1]), ids[:, -1:]).mean())


def one_loss_for_each_guess(logits: F, ids: F) -> F:
    """you returned the losses of all guesses. One number is asked for, their mean."""
    return np.asarray(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]))


def one_loss_for_each_text(logits: F, ids: F) -> F:
    """you returned a loss for each text. One number is asked for, the mean over the guesses of all texts."""
    return np.asarray(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).mean(axis=1))


def loss_by_indices(logits: F, ids: F) -> float:
    b, n, _ = logits.shape
    top = logits.max(axis=-1)
    partition = top + np.log(np.exp(logits - top[..., None]).sum(axis=-1))
    item, place = np.arange(b)[:, None], np.arange(n - 1)[None, :]
    return float((partition[:, :-1] - logits[item, place, ids[:, 1:]]).mean())


def loss_by_logaddexp(logits: F, ids: F) -> float:
    rows, answers = logits[:, :-1].reshape(-1, logits.shape[-1]), ids[:, 1:].ravel()
    return float(np.mean(np.logaddexp.reduce(rows, axis=1) - rows[np.arange(len(rows)), answers]))


def loss_by_one_hot(logits: F, ids: F) -> float:
    b, n, c = logits.shape
    chosen = np.eye(c)[ids[:, 1:]] * _logs(logits[:, :-1])
    return float(-chosen.sum() / (b * (n - 1)))


def loss_by_loops(logits: F, ids: F) -> float:
    losses = []
    for rows, text in zip(logits, ids, strict=True):
        for row, answer in zip(rows[:-1], text[1:], strict=True):
            losses.append(row.max() + np.log(np.exp(row - row.max()).sum()) - row[answer])
    return float(np.mean(losses))


def loss_by_torch(logits: F, ids: F) -> float:
    import torch

    rows = torch.from_numpy(logits[:, :-1].copy()).flatten(0, 1)
    answers = torch.from_numpy(ids[:, 1:].astype(np.int64)).flatten()
    return float(torch.nn.functional.cross_entropy(rows, answers))


def _guesses(rng: np.random.Generator) -> list[Case]:
    b, n, c = (int(size) for size in rng.choice(np.arange(3, 9), 3, replace=False))
    return [
        case(normal(rng, b, n, c, scale=2.0), _texts(rng, b, n, c)),
        case(1.0 + normal(rng, n, b, c, scale=3.0), _texts(rng, n, b, c)),
    ]


def _even_and_peaked(rng: np.random.Generator) -> list[Case]:
    """Even logits, whose loss is log c; logits that favour the next word; and logits that favour the word shown."""
    b, n, c = (int(size) for size in rng.choice(np.arange(3, 9), 3, replace=False))
    ids = _texts(rng, b, n, c)
    ids[:, 1:] = np.where(ids[:, 1:] == ids[:, :-1], (ids[:, 1:] + 1) % c, ids[:, 1:])
    following, shown = 5.0 * np.eye(c)[np.roll(ids, -1, axis=1)], 5.0 * np.eye(c)[ids]
    return [case(np.full((b, n, c), 7.0), ids), case(following, ids), case(shown, ids)]


def _huge_logits(rng: np.random.Generator) -> list[Case]:
    b, n, c = (int(size) for size in rng.choice(np.arange(3, 7), 3, replace=False))
    signs = rng.choice([-1.0, 1.0], (b, n, c))
    raised = normal(rng, b, n, c, scale=2.0)
    raised[0] += 1e4
    return [
        case(1e4 * signs + normal(rng, b, n, c), _texts(rng, b, n, c)),
        case(raised, _texts(rng, b, n, c)),
        case(raised - 1e4, _texts(rng, b, n, c)),
    ]


def _losses_at_the_edge(rng: np.random.Generator) -> list[Case]:
    b, n, c = (int(size) for size in rng.choice(np.arange(3, 7), 3, replace=False))
    return [
        case(normal(rng, 1, 2, c, scale=2.0), _texts(rng, 1, 2, c)),
        case(normal(rng, b, 2, c, scale=2.0), _texts(rng, b, 2, c)),
        case(normal(rng, n, n, n, scale=2.0), _texts(rng, n, n, n)),
        case(normal(rng, b, n, c, scale=2.0, order="strided"), _texts(rng, b, n, c).astype(np.int32)),
    ]


NEXT_TOKEN_LOSS = Exercise(
    oracle=next_token_loss,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[[0.0, 2.0], [1.0, 1.0]]]), np.array([[0, 1]])),
        case(np.array([[[0.0, 2.0], [3.0, 1.0], [1.5, 0.0]]]), np.array([[0, 1, 1]])),
        case(
            np.array([[[0.0, 2.0, -1.0], [1.0, -1.0, 0.5], [2.0, 0.0, -2.0], [1.0, 0.5, 0.0]]]),
            np.array([[2, 1, 0, 0]]),
        ),
        case(
            np.array(
                [
                    [[0.0, 1.0, -1.0], [2.0, 0.5, 0.0], [0.0, -1.0, 1.0], [1.0, 0.0, 3.0]],
                    [[1.5, 0.0, 0.5], [-0.5, 1.0, 2.0], [1.0, 0.0, 2.0], [0.5, 2.0, 0.0]],
                ]
            ),  # 2 texts, and 3 guesses in each: an axis too many cannot hide
            np.array([[2, 0, 1, 1], [1, 2, 0, 0]]),
        ),
        case(np.array([[[10_000.0, 9_999.0], [-10_000.0, 10_000.0], [3.0, 0.0]]]), np.array([[0, 1, 0]])),
        case(np.array([[[-10_000.0, -9_999.0], [10_000.0, 9_998.0], [0.0, 0.0]]]), np.array([[1, 0, 1]])),
    ),
    probes=(
        Probe("each row against the word that follows, the mean over all that have one", 1.25, _guesses),
        Probe("even logits, which cost log c, and logits that favour one word", 0.5, _even_and_peaked),
        Probe("logits of 10000 and -10000", 0.75, _huge_logits),
        Probe("two words, one text, all sizes equal, arrays that are not contiguous", 0.5, _losses_at_the_edge),
    ),
    mistakes=(
        no_shift,
        no_shift_and_one_less,
        no_shift_and_no_first,
        ids_not_cut,
        logits_not_cut,
        shifts_the_wrong_way,
        wraps_around,
        two_ahead,
        sums_the_losses,
        divides_by_texts,
        divides_by_guesses_in_a_text,
        divides_by_all_words,
        averages_over_the_vocabulary,
        softmax_twice,
        no_softmax,
        log_of_logits,
        softmax_over_places,
        softmax_over_cut_places,
        sign_left_out,
        in_bits,
        averages_probabilities,
        no_logarithm,
        perplexity,
        exponentials_overflow,
        sum_overflows,
        maximum_not_given_back,
        maximum_with_the_wrong_sign,
        logarithm_of_zero,
        a_little_added,
        clipped_probabilities,
        probabilities_above_the_smallest,
        global_maximum,
        crosses_the_batch,
        indices_lie_flat,
        picked_keeps_an_axis,
        sum_keeps_an_axis,
        maxima_lie_flat,
        sums_lie_flat,
        first_text_only,
        only_the_last_guess,
        one_loss_for_each_guess,
        one_loss_for_each_text,
    ),
    variants=(loss_by_indices, loss_by_logaddexp, loss_by_one_hot, loss_by_loops, loss_by_torch),
)

EXERCISES = (LAYER_NORM, FFN, BLOCK, STACK, EMBED, UNEMBED, NEXT_TOKEN_LOSS)
