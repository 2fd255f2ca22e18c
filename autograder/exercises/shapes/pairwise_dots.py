"""One dot product for every pair of rows: X @ Y.T.

A product `A @ B` pairs rows of `A` with columns of `B`, and here both sets of vectors lie in rows, so `Y` is turned
first. The shapes say the same: `[n, d]` and `[d, m]` leave `[n, m]`, and the axis that disappears is that of the
features, over which a dot product adds. `Y @ X.T` has the same numbers with rows and columns exchanged, and `X * Y`
pairs row i with row i and adds nothing. A `reshape` to `[d, m]` gives the shape of a transpose, and columns that are
no rows of `Y`.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right
from autograder.exercises.shapes.parts import some_numbers


def pairwise_dots(X: Float[np.ndarray, "n d"], Y: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "n m"]:
    """Entry (i, j) is the dot product of row i of X with row j of Y."""
    out = np.zeros((len(X), len(Y)))
    for i in range(len(X)):
        for j in range(len(Y)):
            out[i, j] = sum(X[i, x] * Y[j, x] for x in range(X.shape[1]))
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
    case(some_numbers(2, 1, 4), some_numbers(4, 5, 4)),
    case(some_numbers(5, 4, 5), some_numbers(6, 1, 5)),
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
        case(normal(rng, n, m), normal(rng, m, m)),  # m = d: X @ Y runs
        case(normal(rng, n, m), normal(rng, n, m)),  # n = m: X * Y runs
    ]


@probe(0.5)
def pairs_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single row in X or in Y, and arrays that lie otherwise in memory, as a transpose does"""
    n, m, d = sizes(rng, 3)
    return [
        case(normal(rng, 1, d), normal(rng, m, d)),
        case(normal(rng, n, d), normal(rng, 1, d)),
        case(normal(rng, n, d, order="F"), normal(rng, m, d, order="strided")),
    ]


@mistake
def dots_of_columns(X: F, Y: F) -> F:
    """you paired the columns of X with the columns of Y (X.T @ Y). Entry (i, j) must come from row i of X and row j of Y."""
    return X.T @ Y


@mistake
def no_transpose(X: F, Y: F) -> F:
    """you multiplied X @ Y as they are, which pairs rows of X with columns of Y. Here both sets of vectors lie in rows."""
    return X @ Y


@mistake
def dots_turned(X: F, Y: F) -> F:
    """your table is turned: rows of the answer belong to X, columns to Y."""
    return Y @ X.T


@mistake
def sum_of_everything(X: F, Y: F) -> F:
    """you multiplied entry by entry and added everything up. Each pair (i, j) wants a sum of its own, over the features only."""
    return np.sum(X * Y)


@mistake
def entry_by_entry(X: F, Y: F) -> F:
    """you multiplied entry by entry, which pairs row i with row i and never adds. Each pair (i, j) wants one number."""
    return X * Y


@mistake
def row_with_same_row(X: F, Y: F) -> F:
    """you took the dot product of row i with row i only. Every row of X meets every row of Y: the answer is a table."""
    return np.sum(X * Y, axis=1)


@mistake
def reshaped_for_transposed(X: F, Y: F) -> F:
    """you gave Y the shape of its transpose with `reshape`. That deals the numbers out anew, in their old order, so that no column
    is a row of Y any more. A transpose moves entry (j, x) to (x, j)."""
    return X @ Y.reshape(Y.shape[1], Y.shape[0])


@mistake
def left_reshaped_too(X: F, Y: F) -> F:
    """you turned X, whether properly or with `reshape`, and turned the answer back. Rows of X meet rows of Y: X may stay as it is."""
    return (Y @ X.reshape(X.shape[1], X.shape[0])).T


@mistake
def outer_product(X: F, Y: F) -> F:
    """this is what `np.outer` gives: each number of X times each number of Y, and nothing is added up. A dot product of two rows is
    one number, the sum over their features."""
    return np.outer(X, Y)


@mistake
def as_many_columns_as_rows(X: F, Y: F) -> F:
    """you let both i and j run over the n rows of X. Y has m rows, and m need not be n."""
    out = np.zeros((len(X), len(Y)))
    for i in range(len(X)):
        for j in range(len(X)):
            out[i, j] = X[i] @ Y[j]
    return out


@mistake
def square_table(X: F, Y: F) -> F:
    """you made room for an n by n table. One axis counts the rows of X, the other the rows of Y, and there are m of those."""
    out = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        for j in range(len(X)):
            out[i, j] = X[i] @ Y[j]
    return out


@mistake
def last_product_only(X: F, Y: F) -> F:
    """each entry is the last of its products alone: in a loop, `=` overwrites what stood there, where something should be
    added to it."""
    return np.outer(X[:, -1], Y[:, -1])


@mistake
def first_product_only(X: F, Y: F) -> F:
    """each entry is its first product alone: only feature 0 was looked at. A dot product runs over all d features; does
    something return, or stop, too early?"""
    return np.outer(X[:, 0], Y[:, 0])


@mistake
def last_feature_left_out(X: F, Y: F) -> F:
    """you left out the last feature of every row. `range(d)` already stops at d - 1, the last index."""
    return X[:, :-1] @ Y[:, :-1].T


@mistake
def first_feature_left_out(X: F, Y: F) -> F:
    """you left out feature 0 of every row. Features are counted from zero."""
    return X[:, 1:] @ Y[:, 1:].T


@mistake
def sum_never_started_anew(X: F, Y: F) -> F:
    """your sum goes on from entry to entry along a row. Each pair begins with a sum of 0."""
    return np.cumsum(X @ Y.T, axis=1)


@mistake
def sum_started_once(X: F, Y: F) -> F:
    """your sum goes on from entry to entry through the whole table. Each pair begins with a sum of 0."""
    return np.cumsum(X @ Y.T).reshape(len(X), len(Y))


@mistake
def cosines_of_pairs(X: F, Y: F) -> F:
    """you divided by the lengths of the two vectors, which gives cosines. The table holds plain dot products."""
    return (X / np.linalg.norm(X, axis=1, keepdims=True)) @ (Y / np.linalg.norm(Y, axis=1, keepdims=True)).T


@mistake
def mean_of_products(X: F, Y: F) -> F:
    """you divided the dot products by d, or took the mean of the products. They are added up, and that is all."""
    return X @ Y.T / X.shape[1]


@mistake
def scaled_already(X: F, Y: F) -> F:
    """you divided by the root of d. That belongs to attention, in a later notebook, and not to a dot product."""
    return X @ Y.T / X.shape[1] ** 0.5


@mistake
def sizes_of_dots(X: F, Y: F) -> F:
    """you dropped the signs of the dot products. Two vectors that point apart have a negative one, and it stays negative."""
    return np.abs(X @ Y.T)


@mistake
def squared_distances(X: F, Y: F) -> F:
    """these are squared distances. The dot product multiplies the two numbers of a feature; it takes no differences."""
    return ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=-1)


@mistake
def products_not_added(X: F, Y: F) -> F:
    """your products of all pairs still stand side by side, one for each feature. Add them up over the features."""
    return X[:, None, :] * Y[None, :, :]


@mistake
def added_over_rows_of_b(X: F, Y: F) -> F:
    """you have all products, and added them up over the wrong axis: over the rows of Y. The axis that is to disappear
    is that of the features."""
    return (X[:, None, :] * Y[None, :, :]).sum(axis=1)


@mistake
def each_pair_once(X: F, Y: F) -> F:
    """you filled the table on one side of its diagonal only. Row i of X with row j of Y, and row j of X with row i of Y, are
    two different pairs."""
    return np.triu(X @ Y.T)


@mistake
def table_mirrored(X: F, Y: F) -> F:
    """you copied one side of the table to the other. Row i of X with row j of Y, and row j of X with row i of Y, are two different
    pairs: only where Y is X do they have the same dot product."""
    out = X @ Y.T
    side = min(out.shape)
    square = out[:side, :side]
    square[:] = np.triu(square) + np.triu(square, k=1).T
    return out


@mistake
def dots_squeezed(X: F, Y: F) -> F:
    """all numbers are right, and an axis of length 1 has been taken away, as `np.squeeze` does. With a single row in X or in Y the
    answer is still a table, with two axes."""
    return np.squeeze(X @ Y.T)


@mistake
def dots_flat(X: F, Y: F) -> F:
    """all numbers are right, and they stand in one long row. Give them the shape of a table."""
    return (X @ Y.T).ravel()


@mistake
def rounded_dots(X: F, Y: F) -> F:
    """you rounded the numbers to two decimals. Return them with all their digits."""
    return np.round(X @ Y.T, 2)


@mistake
def whole_numbers(X: F, Y: F) -> F:
    """your table holds whole numbers, or was made for them: what comes after the point is lost when a number is put into
    an array of integers."""
    return (X @ Y.T).astype(np.int64)


@mistake
def dots_in_float32(X: F, Y: F) -> F:
    """float64 numbers went in and float32 came out: they were turned into float32, or put into an array of it. float32 keeps about
    seven of their sixteen digits."""
    return X.astype(np.float32) @ Y.astype(np.float32).T


@mistake
def lists_of_dots(X: F, Y: F) -> list[list[float]]:
    """all numbers are right, and they stand in a list of lists. An array is asked for: np.array makes one of it."""
    return (X @ Y.T).tolist()


@right
def dots_by_einsum(X: F, Y: F) -> F:
    return np.einsum("nd,md->nm", X, Y)


@right
def dots_by_broadcast(X: F, Y: F) -> F:
    return (X[:, None, :] * Y[None, :, :]).sum(axis=-1)


@right
def dots_by_loops(X: F, Y: F) -> F:
    return np.array([[a @ b for b in Y] for a in X])


@right
def dots_in_room_of_zeros(X: F, Y: F) -> F:
    out = np.zeros((len(X), len(Y)))
    for i in range(len(X)):
        for j in range(len(Y)):
            for x in range(X.shape[1]):
                out[i, j] += X[i, x] * Y[j, x]
    return out


@right
def dots_column_by_column(X: F, Y: F) -> F:
    return np.column_stack([X @ b for b in Y])


@right
def dots_by_torch(X: F, Y: F) -> F:
    import torch

    return (torch.from_numpy(X.copy()) @ torch.from_numpy(Y.copy()).T).numpy()
