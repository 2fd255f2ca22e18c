"""Notebook 00: reading a matrix product."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.drawing import normal, sizes
from autograder.exercises.model import Case, Exercise, Probe, case

NOTEBOOK = "00_shapes"
F = np.ndarray


# ------------------------------------------------------------------------------------------- pairwise_dots


def pairwise_dots(A: Float[np.ndarray, "n d"], B: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "n m"]:
    """Entry (i, j) is the dot product of row i of A with row j of B."""
    out = np.zeros((len(A), len(B)))
    for i in range(len(A)):
        for j in range(len(B)):
            out[i, j] = sum(A[i, x] * B[j, x] for x in range(A.shape[1]))
    return out


def dots_of_columns(A: F, B: F) -> F:
    """you paired the columns of A with the columns of B (A.T @ B). Entry (i, j) must come from row i of A and row j of B."""
    return A.T @ B


def no_transpose(A: F, B: F) -> F:
    """you multiplied A @ B as they are, which pairs rows of A with columns of B. Here both sets of vectors lie in rows."""
    return A @ B


def dots_turned(A: F, B: F) -> F:
    """your table is turned: rows of the answer belong to A, columns to B."""
    return B @ A.T


def sum_of_everything(A: F, B: F) -> F:
    """you multiplied entry by entry and added everything up. Each pair (i, j) wants a sum of its own, over the features only."""
    return np.sum(A * B)


def entry_by_entry(A: F, B: F) -> F:
    """you multiplied entry by entry, which pairs row i with row i and never adds. Each pair (i, j) wants one number."""
    return A * B


def row_with_same_row(A: F, B: F) -> F:
    """you took the dot product of row i with row i only. Every row of A meets every row of B: the answer is a table."""
    return np.sum(A * B, axis=1)


def dots_by_einsum(A: F, B: F) -> F:
    return np.einsum("nd,md->nm", A, B)


def dots_by_broadcast(A: F, B: F) -> F:
    return (A[:, None, :] * B[None, :, :]).sum(axis=-1)


def dots_by_loops(A: F, B: F) -> F:
    return np.array([[a @ b for b in B] for a in A])


def dots_by_torch(A: F, B: F) -> F:
    import torch

    return (torch.from_numpy(A.copy()) @ torch.from_numpy(B.copy()).T).numpy()


def _pairs(rng: np.random.Generator) -> list[Case]:
    n, m, d = sizes(rng, 3)
    return [case(normal(rng, n, d), normal(rng, m, d)), case(normal(rng, m, d), normal(rng, n, d))]


def _square_pairs(rng: np.random.Generator) -> list[Case]:
    n, m = sizes(rng, 2)
    return [
        case(normal(rng, n, n), normal(rng, n, n)),  # n = m = d: nothing but the values tells the products apart
        case(normal(rng, n, m), normal(rng, m, m)),  # m = d: A @ B runs
        case(normal(rng, n, m), normal(rng, n, m)),  # n = m: A * B runs
    ]


def _pairs_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, m, d = sizes(rng, 3)
    return [
        case(normal(rng, 1, d), normal(rng, m, d)),
        case(normal(rng, n, d, dtype="float32"), normal(rng, m, d, dtype="float32")),
        case(normal(rng, n, d, order="F"), normal(rng, m, d, order="strided")),
    ]


PAIRWISE_DOTS = Exercise(
    oracle=pairwise_dots,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([[3.0, 1.0], [5.0, 4.0]])),
        case(
            np.array([[1.0, 2.0, 0.0], [0.5, -1.0, 4.0]]),
            np.array([[1.0, 0.0, 2.0], [3.0, 1.0, 0.0], [0.0, -2.0, 1.0]]),
        ),
        case(
            np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]]),
            np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 4.0, -1.0], [2.0, 0.0, 0.5]]),
        ),
    ),
    probes=(
        Probe("one dot product for every pair of rows, all sizes different", 1.0, _pairs),
        Probe("the same where sizes coincide and other products would run too", 0.5, _square_pairs),
        Probe("a single row, float32, and arrays that are not contiguous", 0.5, _pairs_at_the_edge),
    ),
    mistakes=(dots_of_columns, no_transpose, dots_turned, sum_of_everything, entry_by_entry, row_with_same_row),
    variants=(dots_by_einsum, dots_by_broadcast, dots_by_loops, dots_by_torch),
)


# ------------------------------------------------------------------------------------------------ mix_rows


def mix_rows(W: Float[np.ndarray, "n m"], V: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "n d"]:
    """Row i is the sum of the rows of V, row j weighted by W[i, j]."""
    out = np.zeros((len(W), V.shape[1]))
    for i in range(len(W)):
        for j in range(len(V)):
            for x in range(V.shape[1]):
                out[i, x] += W[i, j] * V[j, x]
    return out


def mixes_by_columns(W: F, V: F) -> F:
    """you took the weights of output i from column i of W. They lie in row i."""
    return W.T @ V


def plain_average(W: F, V: F) -> F:
    """every output is the plain average of the rows of V; the weights were not used."""
    return np.repeat(V.mean(axis=0, keepdims=True), len(W), axis=0)


def normalises_unasked(W: F, V: F) -> F:
    """you divided each row of W by its sum first. Nobody asked for that: the weights need not add up to 1."""
    return (W / W.sum(axis=1, keepdims=True)) @ V


def mixes_turned_rows(W: F, V: F) -> F:
    """you turned V, so the sums run along its rows. Each output is a sum of whole rows of V."""
    return W @ V.T


def scales_rows(W: F, V: F) -> F:
    """you multiplied entry by entry. Each output row is a sum over all rows of V."""
    return W * V


def mixed_turned(W: F, V: F) -> F:
    """the answer is turned: outputs are rows, one for each row of W."""
    return (W @ V).T


def mix_by_einsum(W: F, V: F) -> F:
    return np.einsum("nm,md->nd", W, V)


def mix_by_loops(W: F, V: F) -> F:
    out = np.zeros((W.shape[0], V.shape[1]), dtype=np.result_type(W, V))
    for i, weights in enumerate(W):
        for weight, row in zip(weights, V, strict=True):
            out[i] += weight * row
    return out


def mix_by_broadcast(W: F, V: F) -> F:
    return (W[:, :, None] * V[None, :, :]).sum(axis=1)


def _mixes(rng: np.random.Generator) -> list[Case]:
    n, m, d = sizes(rng, 3)
    return [case(normal(rng, n, m), normal(rng, m, d)), case(normal(rng, d, n), normal(rng, n, m))]


def _square_mixes(rng: np.random.Generator) -> list[Case]:
    n, d = sizes(rng, 2)
    return [case(normal(rng, n, n), normal(rng, n, d)), case(normal(rng, n, n), normal(rng, n, n))]


def _mixes_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, m, d = sizes(rng, 3)
    return [
        case(normal(rng, 1, m), normal(rng, m, d)),
        case(normal(rng, n, m, dtype="float32"), normal(rng, m, d, dtype="float32")),
        case(normal(rng, n, m, order="strided"), normal(rng, m, d, order="F")),
    ]


MIX_ROWS = Exercise(
    oracle=mix_rows,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[2.0, 0.0], [1.0, -3.0]]), np.array([[1.0, 10.0], [2.0, 30.0]])),
        case(np.array([[1.0, 2.0, 0.0], [0.0, 0.5, 4.0]]), np.array([[1.0, 0.0], [10.0, 2.0], [100.0, -1.0]])),
        case(
            np.array([[0.0, 1.0, 0.0], [3.0, 0.0, 1.0], [1.0, 1.0, 2.0]]),
            np.array([[1.0, 0.0, 2.0, 1.0], [0.0, 5.0, 1.0, 0.0], [2.0, 2.0, 0.0, -1.0]]),
        ),
    ),
    probes=(
        Probe("each output row is its own weighted sum, weights of any size and sign", 1.0, _mixes),
        Probe("the same where W is square and its transpose would run too", 0.5, _square_mixes),
        Probe("a single output, float32, and arrays that are not contiguous", 0.5, _mixes_at_the_edge),
    ),
    mistakes=(mixes_by_columns, plain_average, normalises_unasked, mixes_turned_rows, scales_rows, mixed_turned),
    variants=(mix_by_einsum, mix_by_loops, mix_by_broadcast),
)


# ---------------------------------------------------------------------------------------------- to_columns


def to_columns(
    X: Float[np.ndarray, "n d"], W: Float[np.ndarray, "d k"]
) -> tuple[Float[np.ndarray, "k d"], Float[np.ndarray, "d n"]]:
    """The two factors, in order, whose product is (XW) turned so that tokens are columns."""
    n, d = X.shape
    k = W.shape[1]
    left, right = np.zeros((k, d)), np.zeros((d, n))
    for x in range(d):
        for j in range(k):
            left[j, x] = W[x, j]
        for i in range(n):
            right[x, i] = X[i, x]
    return left, right


def weight_not_turned(X: F, W: F) -> tuple[F, F]:
    """W went in as it is. In the column convention the weight is turned too: its rows make the output's features."""
    return W, X.T


def tokens_not_turned(X: F, W: F) -> tuple[F, F]:
    """X went in as it is, so its tokens are still rows."""
    return W.T, X


def original_order(X: F, W: F) -> tuple[F, F]:
    """both factors are turned, but in their old order. Transposing a product reverses it."""
    return X.T, W.T


def nothing_turned(X: F, W: F) -> tuple[F, F]:
    """you handed back X and W as they are. Their product has tokens as rows."""
    return X, W


def turned_by_einsum(X: F, W: F) -> tuple[F, F]:
    return np.einsum("dk->kd", W), np.einsum("nd->dn", X)


def turned_by_swapaxes(X: F, W: F) -> tuple[F, F]:
    return np.swapaxes(W, 0, 1), np.ascontiguousarray(np.swapaxes(X, 0, 1))


def turned_by_stacking(X: F, W: F) -> tuple[F, F]:
    return np.stack(list(W), axis=1), np.stack(list(X), axis=1)


def _conversions(rng: np.random.Generator) -> list[Case]:
    n, d, k = sizes(rng, 3)
    return [case(normal(rng, n, d), normal(rng, d, k)), case(normal(rng, k, n), normal(rng, n, d))]


def _square_conversions(rng: np.random.Generator) -> list[Case]:
    n, d = sizes(rng, 2)
    return [case(normal(rng, n, d), normal(rng, d, d)), case(normal(rng, d, d), normal(rng, d, d))]


def _conversions_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, d, k = sizes(rng, 3)
    return [
        case(normal(rng, 1, d), normal(rng, d, k)),
        case(normal(rng, n, d, dtype="float32"), normal(rng, d, k, dtype="float32")),
        case(normal(rng, n, d, order="strided"), normal(rng, d, k, order="F")),
    ]


TO_COLUMNS = Exercise(
    oracle=to_columns,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])),
        case(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([[1.0, -1.0, 0.0, 2.0], [0.0, 3.0, 1.0, 1.0]])),
    ),
    probes=(
        Probe("the two factors in the column convention, all sizes different", 1.5, _conversions),
        Probe("a square W that is not symmetric", 1.0, _square_conversions),
        Probe("a single token, float32, and arrays that are not contiguous", 0.5, _conversions_at_the_edge),
    ),
    mistakes=(weight_not_turned, tokens_not_turned, original_order, nothing_turned),
    variants=(turned_by_einsum, turned_by_swapaxes, turned_by_stacking),
)

EXERCISES = (PAIRWISE_DOTS, MIX_ROWS, TO_COLUMNS)
