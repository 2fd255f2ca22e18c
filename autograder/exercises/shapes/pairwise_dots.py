"""One dot product for every pair of rows: A @ B.T."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right
from autograder.exercises.shapes.parts import some_numbers


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
    case(some_numbers(1, 4, 5), some_numbers(1, 6, 5)),
    case(some_numbers(3, 6, 2), some_numbers(3, 4, 2)),
    case(some_numbers(2, 1, 3), some_numbers(2, 4, 3)),
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
    """a single row in A or in B, and arrays that lie otherwise in memory, as a transpose does"""
    n, m, d = sizes(rng, 3)
    return [
        case(normal(rng, 1, d), normal(rng, m, d)),
        case(normal(rng, n, d), normal(rng, 1, d)),
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


@mistake
def reshaped_for_transposed(A: F, B: F) -> F:
    """you gave B the shape of its transpose with `reshape`. That deals the numbers out anew, in their old order, so that
    no column is a row of B any more. Turning an array is another thing."""
    return A @ B.reshape(B.shape[1], B.shape[0])


@mistake
def left_reshaped_too(A: F, B: F) -> F:
    """you turned A, with `reshape` or for good, and turned the answer back. Rows of A meet rows of B: A may stay as it is."""
    return (B @ A.reshape(A.shape[1], A.shape[0])).T


@mistake
def outer_product(A: F, B: F) -> F:
    """this is `np.outer`: each number of A times each number of B, and nothing is added up. A dot product of two rows is
    one number, the sum over their features."""
    return np.outer(A, B)


@mistake
def as_many_columns_as_rows(A: F, B: F) -> F:
    """you let both i and j run over the n rows of A. B has m rows, and m need not be n."""
    out = np.zeros((len(A), len(B)))
    for i in range(len(A)):
        for j in range(len(A)):
            out[i, j] = A[i] @ B[j]
    return out


@mistake
def square_table(A: F, B: F) -> F:
    """you made room for an n by n table. One axis counts the rows of A, the other the rows of B, and there are m of those."""
    out = np.zeros((len(A), len(A)))
    for i in range(len(A)):
        for j in range(len(A)):
            out[i, j] = A[i] @ B[j]
    return out


@mistake
def last_product_only(A: F, B: F) -> F:
    """each entry is the last of its products alone: in a loop, `=` overwrites what stood there, where something should be
    added to it."""
    return np.outer(A[:, -1], B[:, -1])


@mistake
def first_product_only(A: F, B: F) -> F:
    """each entry is its first product alone: only feature 0 was looked at. A dot product runs over all d features; does
    something return, or stop, too early?"""
    return np.outer(A[:, 0], B[:, 0])


@mistake
def last_feature_left_out(A: F, B: F) -> F:
    """you left out the last feature of every row. `range(d)` ends at d - 1 by itself."""
    return A[:, :-1] @ B[:, :-1].T


@mistake
def first_feature_left_out(A: F, B: F) -> F:
    """you left out feature 0 of every row. Features are counted from zero."""
    return A[:, 1:] @ B[:, 1:].T


@mistake
def sum_never_started_anew(A: F, B: F) -> F:
    """your sum goes on from entry to entry along a row. Each pair begins with a sum of 0."""
    return np.cumsum(A @ B.T, axis=1)


@mistake
def sum_started_once(A: F, B: F) -> F:
    """your sum goes on from entry to entry through the whole table. Each pair begins with a sum of 0."""
    return np.cumsum(A @ B.T).reshape(len(A), len(B))


@mistake
def cosines_of_pairs(A: F, B: F) -> F:
    """you divided by the lengths of the two vectors, which gives cosines. Asked for is the dot product as it is."""
    return (A / np.linalg.norm(A, axis=1, keepdims=True)) @ (B / np.linalg.norm(B, axis=1, keepdims=True)).T


@mistake
def mean_of_products(A: F, B: F) -> F:
    """you divided the dot products by d, or took the mean of the products. They are added up, and that is all."""
    return A @ B.T / A.shape[1]


@mistake
def scaled_already(A: F, B: F) -> F:
    """you divided by the root of d. That belongs to attention, in a later notebook, and not to a dot product."""
    return A @ B.T / A.shape[1] ** 0.5


@mistake
def sizes_of_dots(A: F, B: F) -> F:
    """you dropped the signs of the dot products. Vectors that point apart have a negative one."""
    return np.abs(A @ B.T)


@mistake
def squared_distances(A: F, B: F) -> F:
    """these are squared distances. The dot product multiplies the two numbers of a feature; it takes no differences."""
    return ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=-1)


@mistake
def products_not_added(A: F, B: F) -> F:
    """your products of all pairs still stand side by side, one for each feature. Add them up over the features."""
    return A[:, None, :] * B[None, :, :]


@mistake
def added_over_rows_of_b(A: F, B: F) -> F:
    """you have all products, and added them up over the wrong axis: over the rows of B. The axis that is to disappear
    is that of the features."""
    return (A[:, None, :] * B[None, :, :]).sum(axis=1)


@mistake
def each_pair_once(A: F, B: F) -> F:
    """you filled the table on one side of its diagonal only. Row i of A with row j of B, and row j of A with row i of B, are
    two different pairs."""
    return np.triu(A @ B.T)


@mistake
def dots_flat(A: F, B: F) -> F:
    """all numbers are right, and they stand in one long row. Give them the shape of a table."""
    return (A @ B.T).ravel()


@mistake
def rounded_dots(A: F, B: F) -> F:
    """you rounded. What was worked out by hand was kept short for the page; hand back all digits."""
    return np.round(A @ B.T, 2)


@mistake
def whole_numbers(A: F, B: F) -> F:
    """your table holds whole numbers, or was made for them: what comes after the point is lost when a number is put into
    an array of integers."""
    return (A @ B.T).astype(np.int64)


@mistake
def dots_in_float32(A: F, B: F) -> F:
    """you turned float64 numbers into float32, which keeps about seven digits of their sixteen."""
    return A.astype(np.float32) @ B.astype(np.float32).T


@mistake
def lists_of_dots(A: F, B: F) -> list[list[float]]:
    """all numbers are right, and they stand in a list of lists. An array is asked for: np.array makes one of it."""
    return (A @ B.T).tolist()


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
def dots_in_room_of_zeros(A: F, B: F) -> F:
    out = np.zeros((len(A), len(B)))
    for i in range(len(A)):
        for j in range(len(B)):
            for x in range(A.shape[1]):
                out[i, j] += A[i, x] * B[j, x]
    return out


@right
def dots_column_by_column(A: F, B: F) -> F:
    return np.column_stack([A @ b for b in B])


@right
def dots_by_torch(A: F, B: F) -> F:
    import torch

    return (torch.from_numpy(A.copy()) @ torch.from_numpy(B.copy()).T).numpy()
