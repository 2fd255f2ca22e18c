"""Mixtures of the rows of a table: a product read from the left."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right


def mix_rows(W: Float[np.ndarray, "n m"], V: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "n d"]:
    """Row i is the sum of the rows of V, row j weighted by W[i, j]."""
    out = np.zeros((len(W), V.shape[1]))
    for i in range(len(W)):
        for j in range(len(V)):
            for x in range(V.shape[1]):
                out[i, x] += W[i, j] * V[j, x]
    return out


PUBLIC = (
    case(np.array([[2.0, 0.0], [1.0, -3.0]]), np.array([[1.0, 10.0], [2.0, 30.0]])),
    case(np.array([[1.0, 2.0, 0.0], [0.0, 0.5, 4.0]]), np.array([[1.0, 0.0], [10.0, 2.0], [100.0, -1.0]])),
    case(
        np.array([[0.0, 1.0, 0.0], [3.0, 0.0, 1.0], [1.0, 1.0, 2.0]]),
        np.array([[1.0, 0.0, 2.0, 1.0], [0.0, 5.0, 1.0, 0.0], [2.0, 2.0, 0.0, -1.0]]),
    ),
)


@probe(1.0)
def mixes(rng: np.random.Generator) -> list[Case]:
    """each output row is its own weighted sum, weights of any size and sign"""
    n, m, d = sizes(rng, 3)
    return [case(normal(rng, n, m), normal(rng, m, d)), case(normal(rng, d, n), normal(rng, n, m))]


@probe(0.5)
def square_mixes(rng: np.random.Generator) -> list[Case]:
    """the same where W is square and its transpose would run too"""
    n, d = sizes(rng, 2)
    return [case(normal(rng, n, n), normal(rng, n, d)), case(normal(rng, n, n), normal(rng, n, n))]


@probe(0.5)
def mixes_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single output, float32, and arrays that are not contiguous"""
    n, m, d = sizes(rng, 3)
    return [
        case(normal(rng, 1, m), normal(rng, m, d)),
        case(normal(rng, n, m, dtype="float32"), normal(rng, m, d, dtype="float32")),
        case(normal(rng, n, m, order="strided"), normal(rng, m, d, order="F")),
    ]


@mistake
def mixes_by_columns(W: F, V: F) -> F:
    """you took the weights of output i from column i of W. They lie in row i."""
    return W.T @ V


@mistake
def plain_average(W: F, V: F) -> F:
    """every output is the plain average of the rows of V; the weights were not used."""
    return np.repeat(V.mean(axis=0, keepdims=True), len(W), axis=0)


@mistake
def normalises_unasked(W: F, V: F) -> F:
    """you divided each row of W by its sum first. Nobody asked for that: the weights need not add up to 1."""
    return (W / W.sum(axis=1, keepdims=True)) @ V


@mistake
def mixes_turned_rows(W: F, V: F) -> F:
    """you turned V, so the sums run along its rows. Each output is a sum of whole rows of V."""
    return W @ V.T


@mistake
def scales_rows(W: F, V: F) -> F:
    """you multiplied entry by entry. Each output row is a sum over all rows of V."""
    return W * V


@mistake
def mixed_turned(W: F, V: F) -> F:
    """the answer is turned: outputs are rows, one for each row of W."""
    return (W @ V).T


@right
def mix_by_einsum(W: F, V: F) -> F:
    return np.einsum("nm,md->nd", W, V)


@right
def mix_by_loops(W: F, V: F) -> F:
    out = np.zeros((W.shape[0], V.shape[1]), dtype=np.result_type(W, V))
    for i, weights in enumerate(W):
        for weight, row in zip(weights, V, strict=True):
            out[i] += weight * row
    return out


@right
def mix_by_broadcast(W: F, V: F) -> F:
    return (W[:, :, None] * V[None, :, :]).sum(axis=1)
