"""The source of known entropy, and what the leak experiment of notebook 07 rests on."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course import markov
from course.markov import STRATEGIES, OneLayer, Strategy, causal, entropy_rate, stationary, texts, transitions

N, TOLERANCE = 8, 0.05  # symbols shown to a model; nats, as in the notebook


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_the_worked_number_of_the_notebook() -> None:
    weather = np.array([[0.9, 0.1], [0.5, 0.5]])
    np.testing.assert_allclose(stationary(weather), [5 / 6, 1 / 6])
    assert entropy_rate(weather) == pytest.approx(5 / 6 * 0.32508 + 1 / 6 * math.log(2), abs=1e-5)


@given(st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_the_shares_stay_and_to_know_the_symbol_before_never_hurts(c: int, seed: int) -> None:
    P = transitions(c, seed)
    shares = stationary(P)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_allclose(shares @ P, shares, atol=1e-9)
    of_shares = -(shares * np.log(shares)).sum()
    assert entropy_rate(P) <= of_shares + 1e-9
    assert of_shares <= math.log(c) + 1e-9


def test_texts_follow_the_matrix_and_their_seed() -> None:
    P = transitions()
    ids = texts(P, b=4000, length=9, seed=3)
    assert ids.shape == (4000, 9)
    assert ids.dtype == torch.int64
    assert torch.equal(ids, texts(P, b=4000, length=9, seed=3))
    assert not torch.equal(ids, texts(P, b=4000, length=9, seed=4))
    pairs = np.zeros((8, 8))
    np.add.at(pairs, (ids[:, :-1].ravel().numpy(), ids[:, 1:].ravel().numpy()), 1)
    np.testing.assert_allclose(pairs / pairs.sum(axis=1, keepdims=True), P, atol=0.03)
    np.testing.assert_allclose(np.bincount(ids[:, 0].numpy()) / 4000, stationary(P), atol=0.03)


def test_who_knows_the_matrix_has_a_loss_of_the_entropy_rate() -> None:
    P = transitions()
    ids = texts(P, b=2000, length=21, seed=5).numpy()
    losses = -np.log(P[ids[:, :-1], ids[:, 1:]])
    assert abs(losses.mean() - entropy_rate(P)) < 5 * losses.std() / losses.size**0.5


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.__name__)
def test_a_model_run_on_its_embedded_tokens_is_the_model(strategy: Strategy) -> None:
    model, ids = OneLayer(strategy), texts(transitions(), b=1, length=N, seed=0)
    X = model.embed(ids)[0].detach().double().numpy()
    with torch.no_grad():
        np.testing.assert_allclose(markov.on_rows(model)(X), model(ids)[0].numpy(), atol=1e-4)
    assert model.U.weight.dtype == torch.float32


def losses(strategy: Strategy) -> np.ndarray:
    """What a briefly trained model loses at each position of texts that it has not seen, less the entropy."""
    P = transitions()
    torch.manual_seed(0)
    model = OneLayer(strategy)
    markov.train(model, P, n=N, steps=200)
    ids = texts(P, b=3000, length=N + 1, seed=99)
    with torch.no_grad():
        found = torch.nn.functional.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:], reduction="none")
    return found.mean(dim=0).numpy() - entropy_rate(P)


def test_with_a_causal_mask_no_position_gets_below_the_entropy() -> None:
    assert losses(causal).min() > -TOLERANCE


@pytest.mark.parametrize("strategy", STRATEGIES[1:], ids=lambda strategy: strategy.__name__)
def test_every_other_mask_gets_below_the_entropy_except_at_the_last_position(strategy: Strategy) -> None:
    found = losses(strategy)
    assert found.mean() < -TOLERANCE
    assert found[:-1].max() < -TOLERANCE
    assert found[-1] > -TOLERANCE
