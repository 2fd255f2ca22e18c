"""One dot product for every pair of rows: A @ B.T."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right


def pairwise_dots(A: Float[np.ndarray, "n d"], B: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "n m"]:
    """Entry (i, j) is the dot product of row i of A with row j of B."""
    out = np.zeros((len(A), len(B)))
    for i in range(len(A)):
        for j in range(len(B)):
            out[i, j] = sum(A[i, x] * B[j, x] for x in range(A.shape[1]))
    return out


PUBLIC = (
    case(np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([[3.0, 1.0], [5.0, 4.0]])),
    case(
        np.array([[1.0, 2.0, 0.0], [0.5, -1.0, 4.0]]),
        np.array([[1.0, 0.0, 2.0], [3.0, 1.0, 0.0], [0.0, -2.0, 1.0]]),
    ),
    case(
        np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]]),
        np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 4.0, -1.0], [2.0, 0.0, 0.5]]),
    ),
)


@probe(1.0)
def pairs(rng: np.random.Generator) -> list[Case]:
    """one dot product for every pair of rows, all sizes different"""
    n, m, d = sizes(rng, 3)
    return [case(normal(rng, n, d), normal(rng, m, d)), case(normal(rng, m, d), normal(rng, n, d))]


@probe(0.5)
def square_pairs(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide and other products would run too"""
    n, m = sizes(rng, 2)
    return [
        case(normal(rng, n, n), normal(rng, n, n)),  # n = m = d: nothing but the values tells the products apart
        case(normal(rng, n, m), normal(rng, m, m)),  # m = d: A @ B runs
        case(normal(rng, n, m), normal(rng, n, m)),  # n = m: A * B runs
    ]


@probe(0.5)
def pairs_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single row, float32, and arrays that are not contiguous"""
    n, m, d = sizes(rng, 3)
    return [
        case(normal(rng, 1, d), normal(rng, m, d)),
        case(normal(rng, n, d, dtype="float32"), normal(rng, m, d, dtype="float32")),
        case(normal(rng, n, d, order="F"), normal(rng, m, d, order="strided")),
    ]


@mistake
def dots_of_columns(A: F, B: F) -> F:
    """you paired the columns of A with the columns of B (A.T @ B). Entry (i, j) must come from row i of A and row j of B."""
    return A.T @ B


@mistake
def no_transpose(A: F, B: F) -> F:
    """you multiplied A @ B as they are, which pairs rows of A with columns of B. Here both sets of vectors lie in rows."""
    return A @ B


@mistake
def dots_turned(A: F, B: F) -> F:
    """your table is turned: rows of the answer belong to A, columns to B."""
    return B @ A.T


@mistake
def sum_of_everything(A: F, B: F) -> F:
    """you multiplied entry by entry and added everything up. Each pair (i, j) wants a sum of its own, over the features only."""
    return np.sum(A * B)


@mistake
def entry_by_entry(A: F, B: F) -> F:
    """you multiplied entry by entry, which pairs row i with row i and never adds. Each pair (i, j) wants one number."""
    return A * B


@mistake
def row_with_same_row(A: F, B: F) -> F:
    """you took the dot product of row i with row i only. Every row of A meets every row of B: the answer is a table."""
    return np.sum(A * B, axis=1)


@right
def dots_by_einsum(A: F, B: F) -> F:
    return np.einsum("nd,md->nm", A, B)


@right
def dots_by_broadcast(A: F, B: F) -> F:
    return (A[:, None, :] * B[None, :, :]).sum(axis=-1)


@right
def dots_by_loops(A: F, B: F) -> F:
    return np.array([[a @ b for b in B] for a in A])


@right
def dots_by_torch(A: F, B: F) -> F:
    import torch

    return (torch.from_numpy(A.copy()) @ torch.from_numpy(B.copy()).T).numpy()
