"""What exercises on batches share: tensors to draw, and attention on them."""

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
    """Normal numbers as a tensor; `how` as in `normal`."""
    return TensorValue(normal(rng, *shape, **how))


def tensor_value(numbers: Any, dtype: str = "float64") -> TensorValue:
    """These numbers as a tensor."""
    return TensorValue(np.array(numbers, dtype))


def sizes_of_heads(rng: np.random.Generator, how_many: int, low: int = 2, high: int = 8) -> list[int]:
    """Sizes that are pairwise distinct; none is 4, the only one whose root has no digits to lose."""
    return [
        int(size) for size in rng.choice([size for size in range(low, high + 1) if size != 4], how_many, replace=False)
    ]


def two_or_more_kept(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
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
    """Softmax over what is kept, zeros elsewhere, also where nothing is kept."""
    return S.masked_fill(~keep, -torch.inf).softmax(dim=dim).masked_fill(~keep, 0)


def scores_over_root_k(Q: T, K: T) -> T:
    """Scores of every query and key, over the root of their width, whatever axes stand in front."""
    return Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5


def plain_exponentials(S: T, keep: T) -> T:
    """Softmax over what is kept, with exponentials of the scores as they are: large ones overflow."""
    E = torch.where(keep, S.exp(), 0)
    total = E.sum(dim=-1, keepdim=True)
    return E / torch.where(total == 0, 1, total)
