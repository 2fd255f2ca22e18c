"""What several of these exercises share. One more axis, and the way back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.exercises.inputs import normal
from course.trial.values import Tensor as TensorValue

T = Tensor


Three = tuple[Tensor, Tensor, Tensor]


def drawn_tensor(rng: np.random.Generator, *shape: int, **how: Any) -> TensorValue:
    return TensorValue(normal(rng, *shape, **how))


def tensor_value(numbers: Any, dtype: str = "float64") -> TensorValue:
    return TensorValue(np.array(numbers, dtype))


def drawn_keep(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    """A random mask that leaves two keys or more to each of n queries, and hides one where there are three or more.

    With a single key to attend to no score matters, and rounding is all that flows back to it.
    """
    keep = np.zeros((n, m), bool)
    for row in keep:
        row[rng.permutation(m)[: max(2, m - int(rng.integers(1, 3)))]] = True
    return keep


def one_query(q: T, K: T, V: T) -> T:
    """One query's mixture of the values it may see; zeros where there are none."""
    if not len(K):
        return V.new_zeros(V.shape[1])
    scores = [(q * key).sum() / math.sqrt(len(q)) for key in K]
    top = max(score.item() for score in scores)
    powers = [torch.exp(score - top) for score in scores]
    total = sum(powers[1:], powers[0])
    return torch.stack([power / total * value for power, value in zip(powers, V, strict=True)]).sum(dim=0)


def masked_weights(S: T, keep: T, dim: int = -1) -> T:
    return S.masked_fill(~keep, -torch.inf).softmax(dim=dim).masked_fill(~keep, 0)


def scores_over_root_k(Q: T, K: T) -> T:
    return Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5


def plain_exponentials(S: T, keep: T) -> T:
    E = torch.where(keep, S.exp(), 0)
    total = E.sum(dim=-1, keepdim=True)
    return E / torch.where(total == 0, 1, total)
