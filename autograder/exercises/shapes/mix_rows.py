"""Mixtures of the rows of a table: a product read from the left.

Row i of `A @ V` is the sum of all rows of `V`, row j taken `A[i, j]` times: with the weights (1, −3) it is the first
row less three times the second. Nothing is turned, since the axis m ends `A` and begins `V`. The weights are what
they are: dividing them by their sum, or taking their softmax, answers another question. A loop does as well, if it
starts from zeros, adds, and asks for the right dtype: plain `np.zeros` makes float64 of float32.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right
from autograder.exercises.shapes.parts import some_numbers


def mix_rows(A: Float[np.ndarray, "n m"], V: Float[np.ndarray, "m v"]) -> Float[np.ndarray, "n v"]:
    """Row i is the sum of the rows of V, row j weighted by A[i, j]."""
    out = np.zeros((len(A), V.shape[1]))
    for i in range(len(A)):
        for j in range(len(V)):
            for x in range(V.shape[1]):
                out[i, x] += A[i, j] * V[j, x]
    return out


PUBLIC = (
    case(np.array([[2.0, 0.0], [1.0, -3.0]]), np.array([[1.0, 10.0], [2.0, 30.0]])),
    case(np.array([[1.0, 2.0, 0.0], [0.0, 0.5, 4.0]]), np.array([[1.0, 0.0], [10.0, 2.0], [100.0, -1.0]])),
    case(
        np.array([[0.0, 1.0, 0.0], [3.0, 0.0, 1.0], [1.0, 1.0, 2.0]]),
        np.array([[1.0, 0.0, 2.0, 1.0], [0.0, 5.0, 1.0, 0.0], [2.0, 2.0, 0.0, -1.0]]),
    ),
    case(
        np.array([[0.0, 1.0, 2.0], [-1.0, 0.5, 0.0]]),
        np.array([[1.0, 0.0, 3.0, 1.0], [2.0, 4.0, 0.0, -2.0], [0.0, 1.0, 1.0, 5.0]]),
    ),
    case(some_numbers(1, 4, 6), some_numbers(2, 6, 5)),
    case(some_numbers(3, 5, 3), some_numbers(4, 3, 2)),
    case(some_numbers(5, 3, 4, dtype="float32"), some_numbers(6, 4, 2, dtype="float32")),
    case(some_numbers(7, 1, 4), some_numbers(8, 4, 5)),
    case(some_numbers(9, 3, 3, dtype="float32"), some_numbers(10, 3, 2, dtype="float32")),
)


@probe(1.0)
def mixes(rng: np.random.Generator) -> list[Case]:
    """each output row is its own weighted sum, weights of any size and sign"""
    n, m, d = sizes(rng, 3)
    return [case(normal(rng, n, m), normal(rng, m, d)), case(normal(rng, d, n), normal(rng, n, m))]


@probe(0.5)
def square_mixes(rng: np.random.Generator) -> list[Case]:
    """the same where A is square and its transpose would run too"""
    n, d = sizes(rng, 2)
    return [case(normal(rng, n, n), normal(rng, n, d)), case(normal(rng, n, n), normal(rng, n, n))]


@probe(0.5)
def mixes_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a single output, a single row in V, float32, and arrays that lie otherwise in memory, as a transpose does"""
    n, m, d = sizes(rng, 3)
    return [
        case(normal(rng, 1, m), normal(rng, m, d)),
        case(normal(rng, n, 1), normal(rng, 1, d)),
        case(normal(rng, n, m, dtype="float32"), normal(rng, m, d, dtype="float32")),
        case(normal(rng, n, m, order="strided"), normal(rng, m, d, order="F")),
    ]


@mistake
def mixes_by_columns(A: F, V: F) -> F:
    """you took the weights of output i from column i of A. They lie in row i."""
    return A.T @ V


@mistake
def plain_average(A: F, V: F) -> F:
    """every output is the plain average of the rows of V; the weights were not used."""
    return np.repeat(V.mean(axis=0, keepdims=True), len(A), axis=0)


@mistake
def normalises_unasked(A: F, V: F) -> F:
    """you divided each row of A by its sum first. The weights are taken as they are: they need not add up to 1."""
    return (A / A.sum(axis=1, keepdims=True)) @ V


@mistake
def mixes_turned_rows(A: F, V: F) -> F:
    """you turned V, so the sums run along its rows. Each output is a sum of whole rows of V."""
    return A @ V.T


@mistake
def scales_rows(A: F, V: F) -> F:
    """you multiplied entry by entry. Each output row is a sum over all rows of V."""
    return A * V


@mistake
def mixed_turned(A: F, V: F) -> F:
    """your table is turned: its columns are the outputs. Row i of the answer belongs to row i of A."""
    return (A @ V).T


@mistake
def reshaped_values(A: F, V: F) -> F:
    """you turned V, or gave it another shape with `reshape`. The rows of V are what is mixed: they stay as they are."""
    return A @ V.reshape(V.shape[1], V.shape[0])


@mistake
def reshaped_weights(A: F, V: F) -> F:
    """you gave A another shape with `reshape`. Row i of A holds the weights of output i already."""
    return A.reshape(A.shape[1], A.shape[0]) @ V


@mistake
def mixes_in_float64(A: F, V: F) -> F:
    """float32 went in and float64 came out. `np.zeros` is float64 unless it is told otherwise, and so are
    `astype(float)` and an array made of Python's floats; a product keeps the type."""
    out = np.zeros((len(A), V.shape[1]))
    out += A @ V
    return out


@mistake
def mixes_in_float32(A: F, V: F) -> F:
    """float64 numbers went in and float32 came out: they were turned into float32, or put into an array of it. float32 keeps about
    seven of their sixteen digits."""
    return A.astype(np.float32) @ V.astype(np.float32)


@mistake
def last_row_alone(A: F, V: F) -> F:
    """each output is the last row of V times its weight: in a loop, `=` overwrites what stood there, where each row should be
    added to it."""
    return np.outer(A[:, -1], V[-1])


@mistake
def first_row_alone(A: F, V: F) -> F:
    """each output is row 0 of V times its weight. All rows of V take part; does something return, or stop, too early?"""
    return np.outer(A[:, 0], V[0])


@mistake
def heaviest_row_alone(A: F, V: F) -> F:
    """each output is the one row of V with the largest weight. It is to take something of every row."""
    return V[A.argmax(axis=1)]


@mistake
def last_row_left_out(A: F, V: F) -> F:
    """you left out the last row of V. `range(m)` already stops at m - 1, the last index."""
    return A[:, :-1] @ V[:-1]


@mistake
def first_row_left_out(A: F, V: F) -> F:
    """you left out row 0 of V. Rows are counted from zero."""
    return A[:, 1:] @ V[1:]


@mistake
def as_many_rows_as_outputs(A: F, V: F) -> F:
    """you let both i and j run over the n outputs. V has m rows, and m need not be n."""
    out = np.zeros((len(A), V.shape[1]))
    for i in range(len(A)):
        for j in range(len(A)):
            out[i] += A[i, j] * V[j]
    return out


@mistake
def itself_left_out(A: F, V: F) -> F:
    """you left out row i of V in output i. The sum runs over all j, and that includes i."""
    out = A @ V
    for i in range(min(len(A), len(V))):
        out[i] -= A[i, i] * V[i]
    return out


@mistake
def mix_never_started_anew(A: F, V: F) -> F:
    """each output holds those before it as well: the sum was not begun anew for every row of A."""
    return np.cumsum(A @ V, axis=0)


@mistake
def divided_by_rows(A: F, V: F) -> F:
    """you divided by m, as a mean does. The weights alone say how much is taken of each row; the weighted rows are only added up."""
    return A @ V / len(V)


@mistake
def softmax_unasked(A: F, V: F) -> F:
    """you took softmax of the weights first. That comes in a later notebook; here the weights are what they are."""
    E = np.exp(A - A.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True) @ V


@mistake
def normalised_by_all(A: F, V: F) -> F:
    """you divided by the sum of all weights. The weights are taken as they are: they need not add up to 1."""
    return A @ V / A.sum()


@mistake
def normalised_by_sizes(A: F, V: F) -> F:
    """you divided each row of A by the sum of its absolute values. The weights are taken as they are: they need not add up to 1."""
    return A / np.abs(A).sum(axis=1, keepdims=True) @ V


@mistake
def signs_of_weights_lost(A: F, V: F) -> F:
    """you dropped the signs of the weights. A negative weight takes a row away."""
    return np.abs(A) @ V


@mistake
def negative_weights_dropped(A: F, V: F) -> F:
    """you set negative weights to 0. They may be negative: then a row is taken away."""
    return np.maximum(A, 0) @ V


@mistake
def mean_over_features(A: F, V: F) -> F:
    """each output has the same number in all its places, the mean of its features. Rows are added feature by feature: each feature
    keeps its place."""
    return np.repeat((A @ V).mean(axis=1, keepdims=True), V.shape[1], axis=1)


@mistake
def sum_of_rows(A: F, V: F) -> F:
    """every output is the sum of all rows of V; the weights were not used."""
    return np.repeat(V.sum(axis=0, keepdims=True), len(A), axis=0)


@mistake
def first_row_without_its_weight(A: F, V: F) -> F:
    """your sums begin with row 0 of V as it is. It has a weight like all the others: a sum begins with zeros."""
    rest = A.copy()
    rest[:, 0] = 1
    return rest @ V


@mistake
def first_row_once_more(A: F, V: F) -> F:
    """your sums begin with row 0 of V as it is, and then all rows are added, row 0 as well. A sum begins with zeros."""
    return A @ V + V[0]


@mistake
def room_for_the_weights(A: F, V: F) -> F:
    """you made room for as many numbers as A has, as `np.zeros_like(A)` does. An output is as wide as a row of V."""
    out = np.zeros_like(A)
    for i in range(len(A)):
        out[i] = A[i] @ V
    return out


@mistake
def room_for_rows_of_v(A: F, V: F) -> F:
    """you made room for as many rows as V has, as `np.zeros_like(V)` does. There is one output for each row of A."""
    out = np.zeros_like(V)
    for i in range(len(A)):
        out[i] = A[i] @ V
    return out


@mistake
def weighted_rows_not_added(A: F, V: F) -> F:
    """your weighted rows still stand side by side, m for each output. Add them up."""
    return A[:, :, None] * V[None, :, :]


@mistake
def added_over_features(A: F, V: F) -> F:
    """you have all weighted rows, and added up over the wrong axis: over the features. The axis that is to disappear is that
    of the rows of V."""
    return (A[:, :, None] * V[None, :, :]).sum(axis=2)


@mistake
def added_over_outputs(A: F, V: F) -> F:
    """you have all weighted rows, and added up over the wrong axis: over the outputs. The axis that is to disappear is that
    of the rows of V."""
    return (A[:, :, None] * V[None, :, :]).sum(axis=0)


@mistake
def rounded_mixes(A: F, V: F) -> F:
    """you rounded the numbers to two decimals. Return them with all their digits."""
    return np.round(A @ V, 2)


@mistake
def whole_number_mixes(A: F, V: F) -> F:
    """your table holds whole numbers, or was made for them: what comes after the point is lost when a number is put into
    an array of integers."""
    return (A @ V).astype(np.int64)


@mistake
def list_of_mixes(A: F, V: F) -> list[F]:
    """you returned a list of rows. An array is asked for: np.stack makes one of them."""
    return list(A @ V)


@right
def mix_by_einsum(A: F, V: F) -> F:
    return np.einsum("nm,md->nd", A, V)


@right
def mix_by_loops(A: F, V: F) -> F:
    out = np.zeros((A.shape[0], V.shape[1]), dtype=np.result_type(A, V))
    for i, weights in enumerate(A):
        for weight, row in zip(weights, V, strict=True):
            out[i] += weight * row
    return out


@right
def mix_column_by_column(A: F, V: F) -> F:
    return np.stack([A @ column for column in V.T], axis=1)


@right
def mix_as_a_sum_of_outer_products(A: F, V: F) -> F:
    return np.asarray(sum(np.outer(A[:, j], V[j]) for j in range(len(V))))


@right
def mix_by_broadcast(A: F, V: F) -> F:
    return (A[:, :, None] * V[None, :, :]).sum(axis=1)
