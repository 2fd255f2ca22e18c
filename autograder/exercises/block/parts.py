"""What exercises on the block share: its stages, parameters to draw, and some by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograder.exercises.inputs import normal
from autograder.exercises.model import B, F
from autograder.exercises.parts import Act, attention_of_heads, leaky_relu, norm1, norm2, softplus
from course.parameters import Params
from course.trial.functions import Function

Stages = dict[str, np.ndarray]


def minus_mean(X: F, axis: Any = -1) -> F:
    """What is left of X when its mean is gone."""
    return np.asarray(X - X.mean(axis=axis, keepdims=True))


def row_variance(X: F, axis: Any = -1) -> F:
    """The variance, its axis kept."""
    return np.asarray(X.var(axis=axis, keepdims=True))


def drawn_gain(rng: np.random.Generator, d: int, dtype: str = "float64") -> F:
    """Gains that differ from 1, from each other and from 0."""
    return np.asarray((rng.uniform(0.5, 2.0, d) * rng.choice([-1.0, 1.0], d)).astype(dtype))


def _sharp_silu(x: F) -> F:
    """x times the logistic of 2x."""
    return np.asarray(x / (1 + np.exp(-x - x)))


def _soft_sign(x: F) -> F:
    """x over one more than its size."""
    return np.asarray(x / (1 + np.abs(x)))


def drawn_activation(rng: np.random.Generator) -> Function:
    """One of four that bend in different ways, none of them what somebody would use unasked; it keeps the dtype."""
    run = (_sharp_silu, leaky_relu, _soft_sign, softplus)[int(rng.integers(4))]
    return Function("act", run, lambda *arguments, **keywords: 0)


def drawn_layers(rng: np.random.Generator, d: int, f: int, dtype: str = "float64", order: str = "C") -> tuple[F, ...]:
    """W1, b1, W2, b2: hidden features around 0 with a spread of about 2, on both sides of a bend."""
    return (
        normal(rng, d, f, scale=1.5 / math.sqrt(d), dtype=dtype, order=order),
        normal(rng, f, dtype=dtype),
        normal(rng, f, d, scale=1.0 / math.sqrt(f), dtype=dtype, order=order),
        normal(rng, d, dtype=dtype),
    )


def feed_forward(X: F, p: Params, act: Act) -> F:
    """A block's FFN."""
    return np.asarray(act(X @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"])


def staged(*stages: F) -> Stages:
    """A block's six stages by name."""
    return dict(zip(("T1", "T2", "T3", "T4", "T5", "H"), stages, strict=True))


def block_at_once(X: F, p: Params, h: int, keep: B, eps: float, act: Act) -> Stages:
    """All six stages, as they should be."""
    T1 = norm1(X, p, eps)
    T2 = attention_of_heads(T1, p["Wqkv"], p["Wo"], h, keep)
    T3 = T2 + X
    T4 = norm2(T3, p, eps)
    T5 = feed_forward(T4, p, act)
    return staged(T1, T2, T3, T4, T5, T5 + T3)


def drawn_parameters(
    rng: np.random.Generator, d: int, h: int, k: int, v: int, f: int, dtype: str = "float64", order: str = "C"
) -> Params:
    """A block's parameters: scores with a spread of about 2, biases that are not 0, and two norms that differ."""
    queries_and_keys = normal(rng, d, 2 * h * k, scale=math.sqrt(2.0) / math.sqrt(d))
    values = normal(rng, d, h * v, scale=1.0 / math.sqrt(d))
    W1, b1, W2, b2 = drawn_layers(rng, d, f, dtype, order)
    packed = np.hstack([queries_and_keys, values]).astype(dtype)
    return {
        "Wqkv": np.asfortranarray(packed) if order == "F" else packed,
        "Wo": normal(rng, h * v, d, scale=1.5 / math.sqrt(h * v), dtype=dtype, order=order),
        "W1": W1,
        "b1": b1,
        "W2": W2,
        "b2": b2,
        "gain1": drawn_gain(rng, d, dtype),
        "bias1": normal(rng, d, dtype=dtype),
        "gain2": drawn_gain(rng, d, dtype),
        "bias2": normal(rng, d, dtype=dtype),
    }


def drawn_sizes(rng: np.random.Generator, h: int = 3) -> tuple[int, ...]:
    """n, d, h, k, v, f: pairwise distinct, and h * k != d != h * v."""
    while True:
        n, d, k, v, f = (int(size) for size in rng.permutation([size for size in range(2, 8) if size != h])[:5])
        if d not in (h * k, h * v) and d > 2:
            return n, d, h, k, v, f


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


def drawn_ids(rng: np.random.Generator, b: int, n: int, c: int) -> F:
    """b texts of n words out of c."""
    return rng.integers(0, c, (b, n))
