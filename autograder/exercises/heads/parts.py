"""What exercises on many heads share: sizes, weights, stacks of tables."""

from __future__ import annotations

import math

import numpy as np

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import B, Case, F, case
from autograder.exercises.parts import counting, pattern, softmax_of_kept


def apart(rng: np.random.Generator) -> tuple[int, int, int, int, int]:
    """Sizes n, d, h, k, v, no two alike, nor any of them the width of all queries or of all values; the root of k is no whole
    number, and k and v are not what they would be if d were shared out evenly, or the values of one head alone counted."""
    while True:
        n, d, v = sizes(rng, 3, 3)
        k, h = int(rng.integers(5, 9)), int(rng.integers(2, 5))
        if len({n, d, h, k, v, h * k, h * v, n * h}) == 8 and d // h not in (1, k, v, v - 1) and v * (h - 1) >= 2 * h:
            return n, d, h, k, v


def drawn_heads(
    rng: np.random.Generator, d: int, h: int, k: int, v: int, dtype: str = "float64", order: str = "C"
) -> tuple[F, F, F, F]:
    """Weights of heads; with tokens of size 1 their scores have a standard deviation of about 2."""
    return (
        normal(rng, h, d, k, scale=2 / math.sqrt(d), dtype=dtype),
        normal(rng, h, d, k, scale=1 / math.sqrt(d), dtype=dtype, order=order),
        normal(rng, h, d, v, dtype=dtype),
        normal(rng, h * v, d, dtype=dtype, order=order),
    )


def public_heads(n: int, d: int, h: int, k: int, v: int, keep: B, dtype: str = "float64", spread: bool = False) -> Case:
    """A public case for weights head by head: X, Wq, Wk, Wv, Wo, keep. Whole numbers but for a factor, or `spread` apart."""

    def numbers(*shape: int, step: int) -> F:
        return pattern(*shape, step=step, dtype=dtype) + (np.sin(counting(*shape)) / 8 if spread else 0)

    return case(
        numbers(n, d, step=3) / 4,
        numbers(h, d, k, step=5) / (6 if spread else 2),
        numbers(h, d, k, step=4) / (6 if spread else 2),
        numbers(h, d, v, step=2),
        numbers(h * v, d, step=9),
        keep,
    )


def far_from_zero(rng: np.random.Generator, d: int, h: int, k: int, v: int) -> list[tuple[F, F, F, F, F]]:
    """Tokens and weights that give each token, seen by itself, scores of about -5000, -50000 and less than -1000000000, one in
    which the last token has scores of many thousands from all others, and one with large scores that lie close together."""
    Wq, _, Wv, Wo = drawn_heads(rng, d, h, k, v)
    found = [(size * normal(rng, 4, d), Wq, -Wq, Wv, Wo) for size in (30.0, 100.0, 3e5)]
    X = np.tile(normal(rng, 1, d), (4, 1)) * np.arange(1.0, 5.0)[:, None]
    X[-1] *= 1000.0
    alike = 30.0 * (normal(rng, 1, d) + normal(rng, 4, d, scale=1 / 900))
    return [*found, (X, Wq, Wq, Wv, Wo), (alike, *drawn_heads(rng, d, h, k, v))]


def counted_stacks(rng: np.random.Generator) -> list[Case]:
    """Stacks of tables whose numbers count on, to be traced."""
    h, n, v = sizes(rng, 3, 2, 6)
    return [case(counting(h, n, v)), case(counting(v, h, n))]


def stacks_of_equal_sizes(rng: np.random.Generator) -> list[Case]:
    """Stacks in which sizes coincide, so that a wrong order keeps the shape."""
    h, n, v = sizes(rng, 3, 2, 6)
    return [
        case(normal(rng, n, n, v)),  # h = n: without the exchange the shape is right
        case(normal(rng, h, v, v)),
        case(normal(rng, h, n, h)),
        case(normal(rng, h, h, h)),
        case(normal(rng, h, h * v, v)),  # n = h*v: a turned table has the right shape
    ]


def stacks_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """Stacks of one row, one table or width 1; float32, and layouts that are not contiguous."""
    h, n, v = sizes(rng, 3, 2, 6)
    return [
        case(normal(rng, h, 1, v)),
        case(normal(rng, 1, n, v)),
        case(normal(rng, h, n, 1)),
        case(normal(rng, h, n, v, dtype="float32")),
        case(normal(rng, h, n, v, order="F")),
        case(normal(rng, h, n, v, order="strided")),
    ]


# ------------------------------------------------------------------- wrong ways to make weights, of one table or of a stack


def weights_of(M: F, axis: int | tuple[int, ...] = -1) -> F:
    """Softmax of scores in which what is masked is -inf already; what is masked throughout is zeros."""
    top = M.max(axis=axis, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=axis, keepdims=True)
    return np.asarray(E / np.where(total == 0, 1, total))


def filled(S: F, keep: B, fill: float) -> F:
    """What is masked gets a finite score."""
    return weights_of(np.where(keep, S, fill))


def filled_and_emptied(S: F, keep: B, fill: float) -> F:
    """What is masked gets a finite score, and rows that see nothing get zeros."""
    return filled(S, keep, fill) * keep.any(axis=-1, keepdims=True)


def zeroed_after(S: F, keep: B) -> F:
    """The masked weights become 0 after softmax."""
    return weights_of(S) * keep


def renormalised_after(S: F, keep: B) -> F:
    """The masked weights become 0 after softmax, and what is left is divided by its sum."""
    Z = zeroed_after(S, keep)
    total = Z.sum(axis=-1, keepdims=True)
    return np.asarray(Z / np.where(total == 0, 1, total))


def unshifted(S: F, keep: B) -> F:
    """Exponentials of the scores as they are."""
    with np.errstate(over="ignore", invalid="ignore"):
        E = np.where(keep, np.exp(S), 0)
        total = E.sum(axis=-1, keepdims=True)
        return np.asarray(E / np.where(total == 0, 1, total))


def shifted_from_zero(S: F, keep: B) -> F:
    """The maximum that is subtracted begins at 0."""
    M = np.where(keep, S, -np.inf)
    E = np.exp(M - np.maximum(M.max(axis=-1, keepdims=True), 0))
    total = E.sum(axis=-1, keepdims=True)
    return np.asarray(E / np.where(total == 0, 1, total))


def shifted_by_one(S: F, keep: B) -> F:
    """One maximum for everything."""
    M = np.where(keep, S, -np.inf)
    E = np.exp(M - M[~np.isneginf(M)].max(initial=np.finfo(S.dtype).min))
    total = E.sum(axis=-1, keepdims=True)
    return np.asarray(E / np.where(total == 0, 1, total))


def clipped(S: F, keep: B) -> F:
    """Exponentials of scores that are cut off at a bound."""
    E = np.where(keep, np.exp(np.clip(S, -80, 80)), 0)
    total = E.sum(axis=-1, keepdims=True)
    return np.asarray(E / np.where(total == 0, 1, total))


def nothing_if_one_is_empty(S: F, keep: B) -> F:
    """Zeros for all rows where one of them sees nothing."""
    return softmax_of_kept(S, keep) * keep.any(axis=-1).all()


def nan_if_empty(S: F, keep: B) -> F:
    """Rows that see nothing become NaN."""
    with np.errstate(invalid="ignore"):
        M = np.where(keep, S, -np.inf)
        E = np.exp(M - M.max(axis=-1, keepdims=True))
        return np.asarray(E / E.sum(axis=-1, keepdims=True))


def down_columns(S: F, keep: B) -> F:
    """Softmax over the queries."""
    return weights_of(np.where(keep, S, -np.inf), axis=-2)
