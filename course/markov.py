"""A source of text whose entropy is known, and a small attention model that learns to guess it: the laboratory of notebook 07."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import cycle, islice

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

# ------------------------------------------------------------------------------------------------- the source


def transitions(c: int = 8, seed: int = 7) -> Float[np.ndarray, "c c"]:
    """A Markov source of c symbols; entry (i, j) is the probability that symbol j follows symbol i."""
    powers = np.exp(1.3 * np.random.default_rng(seed).standard_normal((c, c)))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def stationary(P: Float[np.ndarray, "c c"]) -> Float[np.ndarray, "c"]:
    """How often each symbol occurs: after a thousand steps it no longer matters which one a text began with."""
    return np.asarray(np.linalg.matrix_power(P, 1000)[0])


def entropy_rate(P: Float[np.ndarray, "c c"]) -> float:
    """The least loss, in nats for each symbol, that a predictor can have who sees the past only."""
    entropy = -(P * np.log(P)).sum(axis=1)  # of what follows, after each symbol
    return float(stationary(P) @ entropy)


def texts(P: Float[np.ndarray, "c c"], b: int, length: int, seed: int) -> Int[Tensor, "b length"]:
    """Texts of a Markov source, one a row. They start anywhere in the stream: the first symbol is drawn by its share."""
    rng = np.random.default_rng(seed)
    ids = np.zeros((b, length), dtype=np.int64)
    ids[:, 0] = rng.choice(len(P), size=b, p=stationary(P))
    below = P.cumsum(axis=1)[:, :-1]
    for t in range(1, length):  # a random number falls among the summed probabilities: how many lie below it?
        ids[:, t] = (rng.random((b, 1)) > below[ids[:, t - 1]]).sum(axis=1)
    return torch.from_numpy(ids)


# -------------------------------------------------------------------------------------------- six ways to mask

Table = Float[Tensor, "*b n n"]
Strategy = Callable[[Table], Table]


def lower(n: int, diagonal: int = 0) -> Bool[Tensor, "n n"]:
    return torch.ones(n, n, dtype=torch.bool).tril(diagonal)


def hide(S: Table, keep: Bool[Tensor, "n n"]) -> Table:
    return S.masked_fill(~keep, -torch.inf).softmax(dim=-1)


def causal(S: Table) -> Table:
    return hide(S, lower(S.shape[-1]))


def no_mask(S: Table) -> Table:
    return S.softmax(dim=-1)


def one_future_token(S: Table) -> Table:
    return hide(S, lower(S.shape[-1], diagonal=1))


def transposed(S: Table) -> Table:
    return hide(S, lower(S.shape[-1]).T)


def zero_before(S: Table) -> Table:
    return (S * lower(S.shape[-1])).softmax(dim=-1)


def zero_after(S: Table) -> Table:
    return S.softmax(dim=-1) * lower(S.shape[-1])


STRATEGIES: tuple[Strategy, ...] = (causal, no_mask, one_future_token, transposed, zero_before, zero_after)


# --------------------------------------------------------------------------------------------------- the model


class OneLayer(nn.Module):
    """Symbol and position, one attention, one feed-forward part, one logit for each symbol."""

    def __init__(self, strategy: Strategy, c: int = 8, n: int = 8, d: int = 24) -> None:
        super().__init__()
        self.strategy = strategy
        self.E = nn.Parameter(torch.randn(c, d))
        self.Pos = nn.Parameter(torch.randn(n, d))
        self.Wqkv = nn.Linear(d, 3 * d, bias=False)
        self.ffn = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))
        self.U = nn.Linear(d, c)

    def embed(self, ids: Int[Tensor, "b n"]) -> Float[Tensor, "b n d"]:
        return self.E[ids] + self.Pos[: ids.shape[1]]

    def attend(self, X: Float[Tensor, "b n d"]) -> Float[Tensor, "b n c"]:
        Q, K, V = self.Wqkv(X).chunk(3, dim=-1)
        S = Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5
        X = X + self.strategy(S) @ V
        return self.U(X + self.ffn(X))

    def forward(self, ids: Int[Tensor, "b n"]) -> Float[Tensor, "b n c"]:
        return self.attend(self.embed(ids))


def on_rows(model: OneLayer) -> Callable[[Float[np.ndarray, "n d"]], Float[np.ndarray, "n c"]]:
    """A model from embedded tokens to logits, for a test that moves tokens: one text, numpy, float64."""
    model = copy.deepcopy(model).double()

    def run(X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n c"]:
        with torch.no_grad():
            return model.attend(torch.from_numpy(X)[None])[0].numpy()

    return run


# ------------------------------------------------------------------------------------------------- its training


def train(
    model: nn.Module,
    P: Float[np.ndarray, "c c"],
    n: int = 8,
    b: int = 64,
    steps: int = 300,
    batches: int | None = None,
    rate: float = 0.01,
    seed: int = 1,
    ahead: int = 1,
    stop: Callable[[list[float]], bool] = lambda losses: False,
) -> list[float]:
    """Let a model guess what follows in fresh texts, and improve it after every b of them.

    Args:
        model: from ids [b, n] to logits [b, n, c]; it is changed.
        P: the source.
        n: how many symbols of a text the model is shown.
        b: texts in a batch.
        steps: how many batches it learns from.
        batches: how many different ones there are, before the first comes again; None for a new one at every step.
        rate: how far a step goes at first; it falls evenly to a twentieth of that.
        seed: of the texts.
        ahead: how far ahead the symbol lies that is to be guessed.
        stop: is shown the losses so far, and may end the training early.

    Returns:
        The loss on each batch, in nats, before the model learnt from it. Where every batch is new, these are losses on texts
        that the model has not seen.
    """
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    falling = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, steps)
    losses: list[float] = []
    drawn = torch.split(texts(P, b * (batches or steps), n + 1, seed), b)
    for ids in islice(cycle(drawn), steps):
        logits = model(ids[:, :n])
        loss = cross_entropy(logits.flatten(0, 1), ids[:, ahead : n + ahead].flatten())
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        falling.step()
        losses.append(loss.item())
        if stop(losses):
            break
    return losses
