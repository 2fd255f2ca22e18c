"""The gradient of scores from that of their softmax."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from autograder.exercises.batching.parts import T, drawn_tensor, tensor_value
from autograder.exercises.inputs import sizes
from autograder.exercises.model import Case, case, equivalent, mistake, probe, right
from autograder.exercises.parts import rows_of_weights
from course.trial.values import Tensor as TensorValue


def softmax_backward(P: Float[Tensor, "*b n m"], dP: Float[Tensor, "*b n m"]) -> Float[Tensor, "*b n m"]:
    """Row by row: entry j is the sum over l of dP_l times the derivative of weight l by score j."""
    rows = zip(P.reshape(-1, P.shape[-1]).tolist(), dP.reshape(-1, P.shape[-1]).tolist(), strict=True)
    out = [
        [
            sum(g * p * ((other == j) - row[j]) for other, (p, g) in enumerate(zip(row, slopes, strict=True)))
            for j in range(len(row))
        ]
        for row, slopes in rows
    ]
    return torch.tensor(out, dtype=P.dtype).reshape(P.shape)


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
)


def _weights(rng: np.random.Generator, *shape: int, **how: Any) -> TensorValue:
    return TensorValue(rows_of_weights(rng, *shape, spread=1.2, **how))


@probe(1.5)
def gradients_of_weights(rng: np.random.Generator) -> list[Case]:
    """the gradient of the scores, row by row, for tables and batches of tables"""
    b, h, n, m = sizes(rng, 4)
    return [
        case(_weights(rng, *shape), drawn_tensor(rng, *shape, scale=2.0)) for shape in ((n, m), (b, n, m), (b, h, n, m))
    ]


@probe(0.5)
def square_gradients(rng: np.random.Generator) -> list[Case]:
    """the same where tables are square"""
    n, m = sizes(rng, 2)
    return [case(_weights(rng, *shape), drawn_tensor(rng, *shape, scale=2.0)) for shape in ((n, n), (m, m, m))]


@probe(1.0)
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


@mistake
def no_row_sum(P: T, dP: T) -> T:
    """you multiplied P and dP, and that is half of it. When one score rises, the other weights of its row fall, since
    they share what is left; the row's average accounts for that. Each of your rows should add up to 0."""
    return P * dP


@mistake
def only_its_own_score(P: T, dP: T) -> T:
    """you let each weight depend on its own score only, with the slope p·(1 - p). But the sum under it holds all scores of
    the row: when another score rises, this weight falls, by the product of both."""
    return P * (1 - P) * dP


@mistake
def no_outer_weight(P: T, dP: T) -> T:
    """you took the row's average away and stopped there. Each entry is still to be multiplied by its own weight: a score whose
    weight is 0 changes nothing."""
    return dP - (P * dP).sum(dim=-1, keepdim=True)


@mistake
def sums_down_columns(P: T, dP: T) -> T:
    """you summed down the columns. The scores that compete with each other stand in one row."""
    return P * (dP - (P * dP).sum(dim=-2, keepdim=True))


@mistake
def sums_everything(P: T, dP: T) -> T:
    """you took one sum over the whole table. Each row is a softmax of its own, and has its own average."""
    return P * (dP - (P * dP).sum())


@mistake
def sums_each_table(P: T, dP: T) -> T:
    """you summed over axis 1. In a table that is the last one; in a batch of tables it is not. Count from the end."""
    return P * (dP - (P * dP).sum(dim=1, keepdim=True))


@mistake
def sums_lie_flat(P: T, dP: T) -> T:
    """the rows' averages have lost their axis: [n, m] became [n], which then stands against the columns. Where n = m nothing is
    said. Keep the axis, with length 1."""
    return P * (dP - (P * dP).sum(dim=-1))


@mistake
def mean_for_the_sum(P: T, dP: T) -> T:
    """you took the mean of each row where its sum belongs. The weights P are in it already, and they add up to 1."""
    return P * (dP - (P * dP).mean(dim=-1, keepdim=True))


@mistake
def sum_without_weights(P: T, dP: T) -> T:
    """you summed dP alone. What is to be taken away is the row's average, the mean of dP weighed by P."""
    return P * (dP - dP.sum(dim=-1, keepdim=True))


@mistake
def wrong_sign(P: T, dP: T) -> T:
    """the sign is turned: with these gradients learning would walk uphill."""
    return P * ((P * dP).sum(dim=-1, keepdim=True) - dP)


@mistake
def plain_mean(P: T, dP: T) -> T:
    """you took away the plain mean of each row of dP. What is to be taken away is the row's average: the mean weighed by P,
    in which a key with a large weight counts for much."""
    return P * (dP - dP.mean(dim=-1, keepdim=True))


@mistake
def bracket_forgotten(P: T, dP: T) -> T:
    """you multiplied dP by P and then took the row's average away, whole. P stands in front of the bracket: the average too
    is to be multiplied by each entry's own weight."""
    return P * dP - (P * dP).sum(dim=-1, keepdim=True)


@mistake
def softmax_once_more(P: T, dP: T) -> T:
    """you took softmax of P. The argument is the weights already, as softmax made them; you do not need the scores."""
    A = P.softmax(dim=-1)
    return A * (dP - (A * dP).sum(dim=-1, keepdim=True))


@mistake
def gradient_in_place(P: T, dP: T) -> T:
    """you wrote into the caller's tensors (a name with an underscore at the end does that, and so does -=). They are
    still needed. Make a new tensor."""
    dP -= (P * dP).sum(dim=-1, keepdim=True)
    return P * dP


@equivalent("the matrix of slopes of a softmax is symmetric, so multiplying by its transpose gives the same")
def slopes_turned(P: T, dP: T) -> T:
    """you multiplied by the transposed matrix of slopes."""
    slopes = torch.diag_embed(P) - P[..., :, None] * P[..., None, :]
    return (slopes @ dP[..., None])[..., 0]


@right
def backward_by_rows(P: T, dP: T) -> T:
    return P * (dP - (dP * P).sum(-1, keepdim=True))


@right
def backward_by_slopes(P: T, dP: T) -> T:
    slopes = torch.diag_embed(P) - torch.einsum("...i,...j->...ij", P, P)
    return torch.einsum("...i,...ij->...j", dP, slopes)


@right
def backward_in_two_terms(P: T, dP: T) -> T:
    G = P * dP
    return G - P * G.sum(dim=-1, keepdim=True)


@right
def backward_by_product(P: T, dP: T) -> T:
    dots = (P[..., None, :] @ dP[..., :, None])[..., 0]
    return P * dP - P * dots
