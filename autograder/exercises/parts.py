"""What exercises of several notebooks stand on: a block's parts, right and by definition, and arrays to try them on.

Mistakes and right answers take the vectorised functions from here rather than an oracle, whose loops would be counted as theirs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from autograder.exercises.inputs import normal, random_keep
from autograder.exercises.model import B, F
from course.trial.functions import public_function

if TYPE_CHECKING:
    from torch import Tensor

Act = Callable[[np.ndarray], np.ndarray]
"""An activation: each number by itself."""

Weigh = Callable[[F, B], F]
"""What makes weights of scores and of a mask."""

RELU, TANH = public_function("relu"), public_function("tanh")


# ------------------------------------------------------------------------------------------------ from the definition


def normed_token(x: F, gain: F, bias: F, eps: float) -> list[float]:
    """One token less its mean, over the root of its variance plus eps, times the gain, plus the bias."""
    mean = math.fsum(x) / len(x)
    spread = math.sqrt(math.fsum((feature - mean) ** 2 for feature in x) / len(x) + eps)
    normed = [(feature - mean) / spread if spread else math.nan for feature in x]
    return [g * feature + b for g, feature, b in zip(gain, normed, bias, strict=True)]


def head_for_token(i: int, a: int, X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """What head a of h adds to the output of attention for token i, key by key."""
    k, v = widths(Wqkv, Wo, h)
    Wq = Wqkv[:, a * k : (a + 1) * k]
    Wk = Wqkv[:, (h + a) * k : (h + a + 1) * k]
    Wv = Wqkv[:, 2 * h * k + a * v : 2 * h * k + (a + 1) * v]
    kept = [j for j in range(len(X)) if keep[i, j]]
    scores = [float((X[i] @ Wq) @ (X[j] @ Wk)) / math.sqrt(k) for j in kept]
    powers = [math.exp(score - max(scores)) for score in scores]
    mixed = np.zeros(v)
    for j, power in zip(kept, powers, strict=True):
        mixed += power / math.fsum(powers) * (X[j] @ Wv)
    return np.asarray(mixed @ Wo[a * v : (a + 1) * v])


# --------------------------------------------------------------------------------------------------- all tokens at once


def row_softmax(S: F, axis: int = -1) -> F:
    """Softmax along the last axis, or another."""
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return np.asarray(E / E.sum(axis=axis, keepdims=True))


def softmax_of_kept(S: F, keep: B) -> F:
    """Softmax of each row over what it may see; a row that sees nothing is all 0."""
    M = np.where(keep, S, -np.inf)
    top = M.max(axis=-1, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=-1, keepdims=True)
    return np.asarray(E / np.where(total == 0, 1, total))


def widths(Wqkv: F | Tensor, Wo: F | Tensor, h: int) -> tuple[int, int]:
    """k and v: how wide a query or key, and a value, is in each of h heads."""
    v = len(Wo) // h
    return (Wqkv.shape[1] // h - v) // 2, v


def queries_keys_values(Wqkv: F, Wo: F, h: int) -> tuple[F, F, F]:
    """The three that Wqkv packs: Wq, Wk and Wv of all heads."""
    k, _ = widths(Wqkv, Wo, h)
    Wq, Wk, Wv = np.split(Wqkv, [h * k, 2 * h * k], axis=1)
    return Wq, Wk, Wv


def merged(T: F) -> F:
    """[h, n, v] to [n, h * v]: a token's heads side by side."""
    return T.swapaxes(0, 1).reshape(T.shape[1], -1)


def outputs_of_heads(
    X: F, Wq: F, Wk: F, Wv: F, h: int, keep: B, root: float | None = None, weigh: Weigh = softmax_of_kept
) -> F:
    """What h heads see, [n, h * v], before Wo; scores are divided by √k, if no other root is given."""
    Q, K, V = ((X @ W).reshape(len(X), h, -1).swapaxes(0, 1) for W in (Wq, Wk, Wv))
    scores = Q @ K.swapaxes(1, 2) / (math.sqrt(Q.shape[2]) if root is None else root)
    return merged(weigh(scores, keep) @ V)


def attention_of_heads(X: F, Wqkv: F, Wo: F, h: int, keep: B, weigh: Weigh = softmax_of_kept) -> F:
    """Attention with h heads as it is carried over: the widths are read off the weights, and who sees nothing gets zeros."""
    Wq, Wk, Wv = queries_keys_values(Wqkv, Wo, h)
    return np.asarray(outputs_of_heads(X, Wq, Wk, Wv, h, keep, weigh=weigh) @ Wo)


def normalised_rows(X: F, gain: F, bias: F, eps: float) -> F:
    """LayerNorm along the last axis."""
    centred = X - X.mean(axis=-1, keepdims=True)
    return np.asarray(gain * centred / np.sqrt(X.var(axis=-1, keepdims=True) + eps) + bias)


def norm1(X: F, params: dict[str, F], eps: float) -> F:
    """A block's LayerNorm before attention."""
    return normalised_rows(X, params["gain1"], params["bias1"], eps)


def norm2(X: F, params: dict[str, F], eps: float) -> F:
    """A block's LayerNorm before the FFN."""
    return normalised_rows(X, params["gain2"], params["bias2"], eps)


# ------------------------------------------------------------- activations that bend in different ways, and keep the dtype


def silu(x: F) -> F:
    """x times its logistic."""
    return np.asarray(x / (1 + np.exp(-x)))


def leaky_relu(x: F) -> F:
    """A tenth of what is negative."""
    return np.asarray(np.where(x > 0, x, x * 0.1))


def softplus(x: F) -> F:
    """log(1 + e to the x)."""
    return np.asarray(np.logaddexp(x, x * 0))


# -------------------------------------------------------------------------------------------------------- arrays to try


def pattern(*shape: int, step: int, dtype: str = "float64") -> F:
    """Small whole numbers, from -3 to 3, that look like nothing in particular."""
    return (np.arange(math.prod(shape)) * step % 7 - 3.0).reshape(shape).astype(dtype)


def counting(*shape: int, dtype: str = "float64") -> F:
    """Every number another one, so that each place shows what went there."""
    return np.arange(math.prod(shape), dtype=dtype).reshape(shape)


def rows_of_weights(
    rng: np.random.Generator, *shape: int, spread: float, dtype: str = "float64", order: str = "C"
) -> F:
    """What softmax makes of scores with this standard deviation."""
    E = np.exp(normal(rng, *shape, scale=spread))
    P = normal(rng, *shape, dtype=dtype, order=order)
    P[...] = E / E.sum(axis=-1, keepdims=True)
    return P


def with_empty_row(rng: np.random.Generator, n: int) -> B:
    """A random mask in which one of n tokens sees nobody."""
    keep = random_keep(rng, n, n)
    keep[rng.integers(n)] = False
    return keep


def who_sees_whom(rng: np.random.Generator, n: int) -> B:
    """A random mask in which somebody sees nobody, and somebody sees a later token."""
    keep = rng.random((n, n)) < 0.6
    keep[0, n - 1] = True
    keep[rng.integers(1, n)] = False
    return keep
