"""The gradient of scores from that of their softmax.

The weights of a row share a total of 1, so a score that rises takes from all the others. With p for the weights,
raising score j by a little changes weight j by p·(1 − p) times as much, and every other weight by minus its product
with weight j. Added up with `dA`, this leaves `A * (dA - average)`, where the average of the row is weighted by `A`,
as a plain mean is not. `A * dA` alone is half of it: a row of the result has to add up to 0. The sum keeps its axis,
since `[n]` would line up with the columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from autograder.exercises.batching.parts import T, drawn_tensor, tensor_value
from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import (
    Case,
    case,
    equivalent,
    misses_the_idea,
    mistake,
    probe,
    right,
    right_to_seven_digits,
)
from autograder.exercises.parts import rows_of_weights
from course.trial.values import Tensor as TensorValue


def softmax_backward(A: Float[Tensor, "*b n m"], dA: Float[Tensor, "*b n m"]) -> Float[Tensor, "*b n m"]:
    """Row by row: entry j is the sum over l of dA_l times the derivative of weight l by score j."""
    rows = zip(A.reshape(-1, A.shape[-1]).tolist(), dA.reshape(-1, A.shape[-1]).tolist(), strict=True)
    out = [
        [
            sum(g * p * ((other == j) - row[j]) for other, (p, g) in enumerate(zip(row, slopes, strict=True)))
            for j in range(len(row))
        ]
        for row, slopes in rows
    ]
    return torch.tensor(out, dtype=A.dtype).reshape(A.shape)


def _any_weights(dtype: str, *shape: int) -> Case:
    """Public weights and gradients that look like nothing in particular."""
    rng = np.random.default_rng(len(shape))
    scores = np.round(normal(rng, *shape), 2)
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    return case(tensor_value(weights, dtype), tensor_value(np.round(normal(rng, *shape, scale=2.0), 2), dtype))


PUBLIC = (
    case(tensor_value([[0.25, 0.75]]), tensor_value([[4.0, 0.0]])),
    case(tensor_value([[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]]), tensor_value([[1.0, 2.0, 3.0], [-1.0, 0.0, 2.0]])),
    case(tensor_value([[0.5, 0.5], [0.25, 0.75]]), tensor_value([[2.0, -1.0], [1.0, 3.0]])),
    case(
        tensor_value([[[0.5, 0.5, 0.0]], [[0.0, 0.0, 0.0]], [[0.25, 0.5, 0.25]], [[1.0, 0.0, 0.0]]], "float32"),
        tensor_value([[[1.0, 2.0, 4.0]], [[3.0, -1.0, 2.0]], [[1.0, -2.0, 0.0]], [[5.0, 1.0, 2.0]]], "float32"),
    ),
    case(
        tensor_value([[[0.5, 0.5], [0.25, 0.75], [0.75, 0.25]], [[0.125, 0.875], [1.0, 0.0], [0.5, 0.5]]]),
        tensor_value([[[1.0, 3.0], [2.0, 0.0], [-1.0, 1.0]], [[0.0, 2.0], [4.0, 1.0], [1.0, -2.0]]]),
    ),
    _any_weights("float64", 3, 1),
    _any_weights("float64", 4, 6),
    _any_weights("float64", 2, 3, 4, 5),
)


def _weights(rng: np.random.Generator, *shape: int, **how: Any) -> TensorValue:
    return TensorValue(rows_of_weights(rng, *shape, spread=1.2, **how))


@probe(2.0)
def gradients_of_weights(rng: np.random.Generator) -> list[Case]:
    """the gradient of the scores, row by row, for tables and batches of tables"""
    b, h, n, m = sizes(rng, 4)
    return [
        case(_weights(rng, *shape), drawn_tensor(rng, *shape, scale=2.0)) for shape in ((n, m), (b, n, m), (b, h, n, m))
    ]


@probe(0.5)
def square_gradients(rng: np.random.Generator) -> list[Case]:
    """the same where tables are square"""
    n, m = sizes(rng, 2, 4)  # of two or three weights, one may be nearly all: little is left of the difference
    return [case(_weights(rng, *shape), drawn_tensor(rng, *shape, scale=2.0)) for shape in ((n, n), (m, m, m))]


@probe(0.5, strict=True)
def gradients_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """weights of 0 and rows of nothing else, single rows and columns, float32, tensors that are not contiguous"""
    n, m = sizes(rng, 2, 3)
    hidden = _weights(rng, n, m)
    hidden.array[:, m // 2 :] = 0.0
    hidden.array[0] = 0.0
    return [
        case(hidden, drawn_tensor(rng, n, m, scale=2.0)),
        case(_weights(rng, 1, m), drawn_tensor(rng, 1, m, scale=2.0)),
        case(_weights(rng, n, 1), drawn_tensor(rng, n, 1, scale=2.0)),
        case(_weights(rng, n, m, dtype="float32"), drawn_tensor(rng, n, m, scale=2.0, dtype="float32")),
        case(_weights(rng, n, m, order="strided"), drawn_tensor(rng, n, m, scale=2.0, order="F")),
    ]


@misses_the_idea
def no_row_sum(A: T, dA: T) -> T:
    """you multiplied A and dA, and that is half of it. When one score rises, the other weights of its row fall, since
    they share what is left; the row's average accounts for that. Each of your rows should add up to 0."""
    return A * dA


@mistake
def plus_the_average(A: T, dA: T) -> T:
    """you added the row's average. It is taken away."""
    return A * (dA + (A * dA).sum(dim=-1, keepdim=True))


@mistake
def average_of_the_gradients_squared_away(A: T, dA: T) -> T:
    """you multiplied the average alone by A, and dA stands without it. A multiplies the whole bracket, dA less the
    average.
    """
    return dA - A * (A * dA).sum(dim=-1, keepdim=True)


@mistake
def weights_less_their_gradient(A: T, dA: T) -> T:
    """you subtracted one argument from the other. Such a difference comes out where softmax and cross-entropy are taken back in one
    step. Here softmax is alone."""
    return A - dA


@mistake
def slopes_alone(A: T, dA: T) -> T:
    """these are the slopes p·(1 - p), without dA. It says how much the loss changes with each weight, and has to take
    part.
    """
    return A * (1 - A)


@mistake
def weights_twice_in_the_average(A: T, dA: T) -> T:
    """in your average the weights stand twice, A * A * dA. They stand in it once."""
    return A * (dA - (A * A * dA).sum(dim=-1, keepdim=True))


@mistake
def gradient_for_the_weights_in_front(A: T, dA: T) -> T:
    """you exchanged A and dA: dA stands in front of the bracket, and A in it. In the average that changes nothing, outside it does."""
    return dA * (A - (A * dA).sum(dim=-1, keepdim=True))


@misses_the_idea
def only_its_own_score(A: T, dA: T) -> T:
    """you let each weight depend on its own score only, with the slope p·(1 - p). But the sum under it holds all scores of
    the row: when another score rises, this weight falls, by the product of both."""
    return A * (1 - A) * dA


@mistake
def no_outer_weight(A: T, dA: T) -> T:
    """you took the row's average away and stopped there. Each entry is still to be multiplied by its own weight: a score whose
    weight is 0 changes nothing."""
    return dA - (A * dA).sum(dim=-1, keepdim=True)


@mistake
def sums_down_columns(A: T, dA: T) -> T:
    """you summed down the columns. The scores that compete with each other stand in one row."""
    return A * (dA - (A * dA).sum(dim=-2, keepdim=True))


@mistake
def sums_everything(A: T, dA: T) -> T:
    """you took one sum over the whole table. Each row is a softmax of its own, and has its own average."""
    return A * (dA - (A * dA).sum())


@mistake
def sums_each_table(A: T, dA: T) -> T:
    """you summed over axis 1. In a table that is the last one; in a batch of tables it is not. Count from the end."""
    return A * (dA - (A * dA).sum(dim=1, keepdim=True))


@mistake
def sums_over_the_first_axis(A: T, dA: T) -> T:
    """you summed over the first axis. In a table that is down the columns; in a batch it is over the items. The scores that compete
    stand in one row, along the last axis."""
    return A * (dA - (A * dA).sum(dim=0, keepdim=True))


@mistake
def sums_whole_tables(A: T, dA: T) -> T:
    """you took one sum for each table, over its rows as well. Each row is a softmax of its own, and has its own average."""
    return A * (dA - (A * dA).sum(dim=(-2, -1), keepdim=True))


@mistake
def gradient_squeezed(A: T, dA: T) -> T:
    """you took axes of length 1 out of the result (squeeze does). It has the shape of A."""
    return (A * (dA - (A * dA).sum(dim=-1, keepdim=True))).squeeze()


@right_to_seven_digits
def gradient_in_seven_digits(A: T, dA: T) -> T:
    """your numbers have seven right digits, and float64 has sixteen: somewhere they went through float32."""
    a, da = A.float(), dA.float()
    return (a * (da - (a * da).sum(dim=-1, keepdim=True))).to(A.dtype)


@mistake
def gradient_always_double(A: T, dA: T) -> T:
    """float32 went in and float64 came out. The result has the number type of the arguments."""
    return (A * (dA - (A * dA).sum(dim=-1, keepdim=True))).double()


@mistake
def sums_lie_flat(A: T, dA: T) -> T:
    """the rows' averages have lost their axis: [n, m] became [n], which then stands against the columns. Where n = m nothing is
    said. Keep the axis, with length 1."""
    return A * (dA - (A * dA).sum(dim=-1))


@mistake
def mean_for_the_sum(A: T, dA: T) -> T:
    """you took the mean of each row where its sum belongs. The weights A are in it already, and they add up to 1."""
    return A * (dA - (A * dA).mean(dim=-1, keepdim=True))


@mistake
def sum_without_weights(A: T, dA: T) -> T:
    """you summed dA alone. What is to be taken away is the row's average, the mean of dA weighted by A."""
    return A * (dA - dA.sum(dim=-1, keepdim=True))


@mistake
def wrong_sign(A: T, dA: T) -> T:
    """the sign is turned: a step against this gradient would make the loss larger."""
    return A * ((A * dA).sum(dim=-1, keepdim=True) - dA)


@mistake
def plain_mean(A: T, dA: T) -> T:
    """you took away the plain mean of each row of dA. What is to be taken away is the row's average: the mean weighted by A,
    in which a key with a large weight counts for much."""
    return A * (dA - dA.mean(dim=-1, keepdim=True))


@mistake
def bracket_forgotten(A: T, dA: T) -> T:
    """you multiplied dA by A and then took the row's average away, whole. A stands in front of the bracket: the average too
    is to be multiplied by each entry's own weight."""
    return A * dA - (A * dA).sum(dim=-1, keepdim=True)


@mistake
def softmax_once_more(A: T, dA: T) -> T:
    """you took softmax of A. The argument is the weights already, as softmax made them; you do not need the scores."""
    once_more = A.softmax(dim=-1)
    return once_more * (dA - (once_more * dA).sum(dim=-1, keepdim=True))


@mistake
def gradient_in_place(A: T, dA: T) -> T:
    """you wrote into the caller's tensors (a name with an underscore at the end does that, and so does -=). They are
    still needed. Make a new tensor."""
    dA -= (A * dA).sum(dim=-1, keepdim=True)
    return A * dA


@equivalent("the matrix of slopes of a softmax is symmetric, so multiplying by its transpose gives the same")
def slopes_turned(A: T, dA: T) -> T:
    """you multiplied by the transposed matrix of slopes."""
    slopes = torch.diag_embed(A) - A[..., :, None] * A[..., None, :]
    return (slopes @ dA[..., None])[..., 0]


@right
def backward_by_rows(A: T, dA: T) -> T:
    return A * (dA - (dA * A).sum(-1, keepdim=True))


@right
def backward_by_slopes(A: T, dA: T) -> T:
    slopes = torch.diag_embed(A) - torch.einsum("...i,...j->...ij", A, A)
    return torch.einsum("...i,...ij->...j", dA, slopes)


@right
def backward_in_two_terms(A: T, dA: T) -> T:
    G = A * dA
    return G - A * G.sum(dim=-1, keepdim=True)


@right
def backward_by_product(A: T, dA: T) -> T:
    dots = (A[..., None, :] @ dA[..., :, None])[..., 0]
    return A * dA - A * dots
