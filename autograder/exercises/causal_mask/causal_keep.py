"""The causal mask: who may attend to whom."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from autograder.exercises.inputs import sizes
from autograder.exercises.model import B, Case, F, case, mistake, probe, right


def causal_keep(n: int) -> Bool[np.ndarray, "n n"]:
    """Entry (i, j) is True where token i may attend to token j: to itself and to what came before."""
    keep = np.zeros((n, n), bool)
    for i in range(n):
        for j in range(n):
            keep[i, j] = j <= i
    return keep


PUBLIC = (case(1), case(3), case(5))


@probe(1.5)
def lengths(rng: np.random.Generator) -> list[Case]:
    """each token sees itself and what came before, and nothing else"""
    return [case(n) for n in sizes(rng, 3, 3, 12)]


@probe(0.5)
def short_texts(rng: np.random.Generator) -> list[Case]:
    """sequences of one and of two tokens"""
    return [case(1), case(2)]


@mistake
def keeps_the_future(n: int) -> B:
    """your triangle is the upper one, so every token sees itself and what comes after it. Row i is the token that
    looks, column j the one it looks at."""
    return np.triu(np.ones((n, n), bool))


@mistake
def hides_the_diagonal(n: int) -> B:
    """no token sees itself. A token may attend to itself: what it must not see comes after it. And the first token
    would have nothing to attend to."""
    return np.tril(np.ones((n, n), bool), k=-1)


@mistake
def one_future_token(n: int) -> B:
    """every token also sees the one that follows it, which is the very word that it is asked to predict."""
    return np.tril(np.ones((n, n), bool), k=1)


@mistake
def true_means_hidden(n: int) -> B:
    """your True marks what is hidden. In this course True means: may attend."""
    return np.triu(np.ones((n, n), bool), k=1)


@mistake
def zeros_and_ones(n: int) -> F:
    """the triangle is right, but it is made of numbers. A keep mask holds True and False, so that ~keep and indexing
    mean what they say."""
    return np.tril(np.ones((n, n)))


@mistake
def integers_for_truth(n: int) -> B:
    """the triangle is right, but it is made of the integers 0 and 1. A keep mask holds True and False: ~1 is -2, and
    indexing with integers picks rows by number."""
    return np.tril(np.ones((n, n), dtype=int))


@mistake
def additive_mask(n: int) -> F:
    """this is the additive mask, 0 and -inf, that some books add to the scores. Here a mask is boolean, and True
    means: may attend."""
    return np.where(np.tril(np.ones((n, n), bool)), 0.0, -np.inf)


@mistake
def hides_nothing(n: int) -> B:
    """every token sees every other, so nothing is hidden."""
    return np.ones((n, n), bool)


@right
def keep_by_tril(n: int) -> B:
    return np.tril(np.ones((n, n), dtype=bool))


@right
def keep_by_comparing(n: int) -> B:
    place = np.arange(n)
    return place[None, :] <= place[:, None]


@right
def keep_by_loops(n: int) -> B:
    return np.array([[j <= i for j in range(n)] for i in range(n)])


@right
def keep_by_torch(n: int) -> B:
    import torch

    return torch.ones(n, n, dtype=torch.bool).tril().numpy()
