"""Notebook 07: a leak shows in the loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, log_softmax, nll_loss

from autograder.exercises.drawing import normal, sizes
from autograder.exercises.model import Case, Exercise, Probe, case
from course import values
from course.values import with_layout

NOTEBOOK = "07_caught_cheating"
Verdict = Literal["honest", "underfit", "leak"]


# ---------------------------------------------------------------------------------------- loss_by_position


def loss_by_position(model: nn.Module, ids: Int[Tensor, "b n+1"]) -> Float[Tensor, "n"]:
    """The mean over texts of the cross-entropy at each position, in nats; the model is looked at in evaluation mode."""
    was = model.training
    model.eval()
    with torch.no_grad():
        logits = model(ids[:, :-1])
    model.train(was)
    b, n = ids[:, :-1].shape
    loss = torch.zeros(n, dtype=logits.dtype)
    for i in range(n):
        for text in range(b):
            row = logits[text, i].tolist()
            largest = max(row)
            normaliser = largest + math.log(math.fsum(math.exp(x - largest) for x in row))
            loss[i] += (normaliser - row[int(ids[text, i + 1])]) / b
    return loss


def _each(model: nn.Module, ids: Tensor) -> Tensor:
    """Every single loss [b, n], the model as it should be looked at."""
    was = model.training
    model.eval()
    with torch.no_grad():
        logits = model(ids[:, :-1])
    model.train(was)
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")


def averages_the_positions_away(model: nn.Module, ids: Tensor) -> Tensor:
    """you averaged over texts and over positions, so that one number is left (PyTorch's cross-entropy does so of itself,
    unless you ask for no reduction). This is the number that hides the culprit. Average over the texts alone."""
    return _each(model, ids).mean()


def per_text(model: nn.Module, ids: Tensor) -> Tensor:
    """you averaged over the positions, so each entry belongs to one text. It is the other axis that has to go."""
    return _each(model, ids).mean(dim=1)


def no_average(model: nn.Module, ids: Tensor) -> Tensor:
    """these are the single losses, a row for each text. They still have to be averaged over the texts."""
    return _each(model, ids)


def sums_over_texts(model: nn.Module, ids: Tensor) -> Tensor:
    """you added the texts up. A loss that grows with the number of texts cannot be compared with an entropy: take the
    mean."""
    return _each(model, ids).sum(dim=0)


def left_in_training_mode(model: nn.Module, ids: Tensor) -> Tensor:
    """the model was in training mode while you measured. Some of its parts act differently there, so this is not the
    loss of the model that will be used: put it into evaluation mode first."""
    with torch.no_grad():
        logits = model(ids[:, :-1])
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


def only_the_outer_flag(model: nn.Module, ids: Tensor) -> Tensor:
    """you changed the mode of the model itself, and the part inside it stayed as it was, in training mode. Each part has
    a flag of its own: there is a method that sets them all."""
    was = model.training
    model.training = False
    with torch.no_grad():
        logits = model(ids[:, :-1])
    model.training = was
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


def only_the_outer_flag_put_back(model: nn.Module, ids: Tensor) -> Tensor:
    """you put back the mode of the model itself, and the part inside it was left in evaluation mode. Each part has a flag
    of its own: there is a method that sets them all."""
    was = model.training
    model.eval()
    with torch.no_grad():
        logits = model(ids[:, :-1])
    model.training = was
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


def mode_not_put_back(model: nn.Module, ids: Tensor) -> Tensor:
    """you left the model in evaluation mode. Whoever goes on training it afterwards trains another model than they
    think: put it back as you found it."""
    model.eval()
    with torch.no_grad():
        logits = model(ids[:, :-1])
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


def always_trains_afterwards(model: nn.Module, ids: Tensor) -> Tensor:
    """you switched training mode on at the end, whatever it was before. A model that was already in evaluation mode
    should stay there: remember the mode first."""
    model.eval()
    with torch.no_grad():
        logits = model(ids[:, :-1])
    model.train()
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


def carries_the_graph(model: nn.Module, ids: Tensor) -> Tensor:
    """your result carries a graph: PyTorch noted every step for a backward pass that will never come, and keeps it in
    memory as long as the loss lives. Tell it not to record."""
    was = model.training
    model.eval()
    logits = model(ids[:, :-1])
    model.train(was)
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


def freezes_the_model(model: nn.Module, ids: Tensor) -> Tensor:
    """you switched gradients off in the model's own parameters, and so they stay: this model can never be trained again.
    Tell PyTorch not to record, for as long as you measure."""
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    return carries_the_graph(model, ids)


def takes_the_model_as_it_comes(model: nn.Module, ids: Tensor) -> Tensor:
    """two things are missing around the call of the model. It stays in whatever mode it comes in, training mode too,
    and PyTorch records a graph that nobody asked for."""
    logits = model(ids[:, :-1])
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


def evaluates_and_no_more(model: nn.Module, ids: Tensor) -> Tensor:
    """evaluation mode is right, and two things are missing: the mode is not put back afterwards, and PyTorch records a
    graph that nobody asked for."""
    model.eval()
    logits = model(ids[:, :-1])
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


def recording_switched_off_for_good(model: nn.Module, ids: Tensor) -> Tensor:
    """you switched the recording of gradients off and never on again. From here on nothing in this notebook could be
    trained. A `with` block undoes itself."""
    was = model.training
    model.eval()
    torch.set_grad_enabled(False)
    logits = model(ids[:, :-1])
    model.train(was)
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


def _from_logits(model: nn.Module, inputs: Tensor) -> Tensor:
    was = model.training
    model.eval()
    with torch.no_grad():
        logits: Tensor = model(inputs)
    model.train(was)
    return logits


def no_shift(model: nn.Module, ids: Tensor) -> Tensor:
    """you compared the guess at position i with symbol i, which the model has just been shown. Its task is symbol
    i + 1."""
    logits = _from_logits(model, ids[:, :-1])
    return cross_entropy(logits.transpose(1, 2), ids[:, :-1], reduction="none").mean(dim=0)


def shifts_the_wrong_way(model: nn.Module, ids: Tensor) -> Tensor:
    """your inputs are the later symbols and your targets the earlier ones: the model is asked what came before. Inputs
    leave out the last symbol, targets the first."""
    logits = _from_logits(model, ids[:, 1:])
    return cross_entropy(logits.transpose(1, 2), ids[:, :-1], reduction="none").mean(dim=0)


def shows_the_last_target(model: nn.Module, ids: Tensor) -> Tensor:
    """you gave the model all n + 1 symbols and dropped its last guess. So its guess number n - 1 had a future to look at,
    and the one position that would give a cheat away has lost its witness."""
    logits = _from_logits(model, ids)[:, :-1]
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


def a_guess_for_every_symbol(model: nn.Module, ids: Tensor) -> Tensor:
    """you gave the model all n + 1 symbols and compared each guess with the symbol at its own place. There are n
    problems, and each asks for the symbol that follows."""
    logits = _from_logits(model, ids)
    return cross_entropy(logits.transpose(1, 2), ids, reduction="none").mean(dim=0)


def first_shown_last_asked(model: nn.Module, ids: Tensor) -> Tensor:
    """your inputs are right, and your targets begin at the second symbol and end one too early, so the last guess is
    not scored. Each of the n inputs has a target."""
    logits = _from_logits(model, ids[:, :-1])[:, :-1]
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:-1], reduction="none").mean(dim=0)


def one_prefix_at_a_time(model: nn.Module, ids: Tensor) -> Tensor:
    """you ran the model once for each prefix, and took its last guess. Then no guess has anything to its right, and a
    model that peeks finds nothing to peek at. (You will want this later on.) Here it is one run over all n symbols."""
    parts = [_from_logits(model, ids[:, : i + 1])[:, -1] for i in range(ids.shape[1] - 1)]
    logits = torch.stack(parts, dim=1)
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


def in_bits(model: nn.Module, ids: Tensor) -> Tensor:
    """these are bits, from a logarithm to the base 2. Nats come from the natural one; a nat is 1.44 bits."""
    return (_each(model, ids) / math.log(2)).mean(dim=0)


def softmax_twice(model: nn.Module, ids: Tensor) -> Tensor:
    """you took softmax of the logits and handed the probabilities on as if they were logits: PyTorch's cross-entropy
    takes softmax itself."""
    logits = _from_logits(model, ids[:, :-1])
    return cross_entropy(logits.softmax(dim=-1).transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


def no_softmax(model: nn.Module, ids: Tensor) -> Tensor:
    """you took the logit of the right symbol, with its sign turned, for its loss. A logit is compared with the logits of
    the other symbols first: log-softmax does that."""
    logits = _from_logits(model, ids[:, :-1])
    return -logits.gather(-1, ids[:, 1:, None])[..., 0].mean(dim=0)


def log_of_a_softmax(model: nn.Module, ids: Tensor) -> Tensor:
    """where the right symbol has a very low logit, its probability is rounded to 0 and the logarithm of that is minus
    infinity. Take both at once: log-softmax never forms the tiny number."""
    logits = _from_logits(model, ids[:, :-1])
    return -logits.softmax(dim=-1).gather(-1, ids[:, 1:, None])[..., 0].log().mean(dim=0)


def _log_of_a_softmax(logits: Tensor, ids: Tensor) -> Tensor:
    return -logits.softmax(dim=-1).gather(-1, ids[:, 1:, None])[..., 0].log().mean(dim=0)


def log_of_a_softmax_as_it_comes(model: nn.Module, ids: Tensor) -> Tensor:
    """three things. The model stays in whatever mode it comes in, training mode too; PyTorch records a graph that nobody
    asked for; and where the right symbol has a very low logit, you take the logarithm of a probability that was rounded
    to 0. Begin with what stands around the call of the model."""
    return _log_of_a_softmax(model(ids[:, :-1]), ids)


def log_of_a_softmax_in_training(model: nn.Module, ids: Tensor) -> Tensor:
    """two things. The model stays in whatever mode it comes in, training mode too; and where the right symbol has a very
    low logit, you take the logarithm of a probability that was rounded to 0."""
    with torch.no_grad():
        logits = model(ids[:, :-1])
    return _log_of_a_softmax(logits, ids)


def log_of_a_softmax_mode_not_put_back(model: nn.Module, ids: Tensor) -> Tensor:
    """two things. You left the model in evaluation mode: put it back as you found it. And where the right symbol has a
    very low logit, you take the logarithm of a probability that was rounded to 0."""
    model.eval()
    with torch.no_grad():
        logits = model(ids[:, :-1])
    return _log_of_a_softmax(logits, ids)


def log_of_a_softmax_evaluates_and_no_more(model: nn.Module, ids: Tensor) -> Tensor:
    """evaluation mode is right, and three things are not: the mode is not put back afterwards; PyTorch records a graph
    that nobody asked for; and where the right symbol has a very low logit, you take the logarithm of a probability that
    was rounded to 0."""
    model.eval()
    return _log_of_a_softmax(model(ids[:, :-1]), ids)


def log_of_a_softmax_always_trains_afterwards(model: nn.Module, ids: Tensor) -> Tensor:
    """two things. You switched training mode on at the end, whatever it was before: remember the mode first. And where
    the right symbol has a very low logit, you take the logarithm of a probability that was rounded to 0."""
    model.eval()
    with torch.no_grad():
        logits = model(ids[:, :-1])
    model.train()
    return _log_of_a_softmax(logits, ids)


def log_of_a_softmax_with_a_graph(model: nn.Module, ids: Tensor) -> Tensor:
    """two things. Your result carries a graph that nobody asked for: tell PyTorch not to record. And where the right
    symbol has a very low logit, you take the logarithm of a probability that was rounded to 0."""
    was = model.training
    model.eval()
    logits = model(ids[:, :-1])
    model.train(was)
    return _log_of_a_softmax(logits, ids)


def _with_a_floor(model: nn.Module, ids: Tensor, floor: float) -> Tensor:
    p = _from_logits(model, ids[:, :-1]).softmax(dim=-1).gather(-1, ids[:, 1:, None])[..., 0]
    return -(p + floor).log().mean(dim=0)


def a_floor_of_1e_12(model: nn.Module, ids: Tensor) -> Tensor:
    """you add 1e-12 to each probability before its logarithm. Then no loss can be above 27.6 nats, and a model that is
    sure and wrong gets off lightly. Softmax and logarithm taken at once, as log-softmax does, need no such floor."""
    return _with_a_floor(model, ids, 1e-12)


def a_floor_of_1e_10(model: nn.Module, ids: Tensor) -> Tensor:
    """you add 1e-10 to each probability before its logarithm. Then no loss can be above 23 nats, and a model that is
    sure and wrong gets off lightly. Softmax and logarithm taken at once, as log-softmax does, need no such floor."""
    return _with_a_floor(model, ids, 1e-10)


def a_floor_of_1e_9(model: nn.Module, ids: Tensor) -> Tensor:
    """you add 1e-9 to each probability before its logarithm. Then no loss can be above 20.7 nats, and a model that is
    sure and wrong gets off lightly. Softmax and logarithm taken at once, as log-softmax does, need no such floor."""
    return _with_a_floor(model, ids, 1e-9)


def a_floor_of_1e_8(model: nn.Module, ids: Tensor) -> Tensor:
    """you add 1e-8 to each probability before its logarithm. Then no loss can be above 18.4 nats, and a model that is
    sure and wrong gets off lightly. Softmax and logarithm taken at once, as log-softmax does, need no such floor."""
    return _with_a_floor(model, ids, 1e-8)


def text_numbers_not_upright(model: nn.Module, ids: Tensor) -> Tensor:
    """you pick entries with one list of texts and one of positions. PyTorch lays both along the last axis, so that text k
    goes with position k. To pair every text with every position, the numbers of the texts have to stand upright, [b, 1]."""
    log_p = _from_logits(model, ids[:, :-1]).log_softmax(dim=-1)
    b, n = log_p.shape[:2]
    return -log_p[torch.arange(b), torch.arange(n), ids[:, 1:]].mean(dim=0)


def an_axis_of_length_one_left(model: nn.Module, ids: Tensor) -> Tensor:
    """`gather` gives back as many axes as it was given, and the last one, of length 1, is still there. Take its only
    entry."""
    log_p = _from_logits(model, ids[:, :-1]).log_softmax(dim=-1)
    return -log_p.gather(-1, ids[:, 1:, None]).mean(dim=0)


def squeezes_every_axis(model: nn.Module, ids: Tensor) -> Tensor:
    """`squeeze` without an axis drops every axis of length 1: that of the texts too if there is one text, and that of the
    positions if there is one position. Say which axis you mean."""
    log_p = _from_logits(model, ids[:, :-1]).log_softmax(dim=-1)
    return -log_p.gather(-1, ids[:, 1:, None]).squeeze().mean(dim=0)


def symbols_not_on_axis_one(model: nn.Module, ids: Tensor) -> Tensor:
    """PyTorch's cross-entropy looks for the symbols on axis 1, and in your logits that is the axis of the positions. (If
    there happen to be as many positions as symbols it even runs.) Exchange the two axes first."""
    logits = _from_logits(model, ids[:, :-1])
    return cross_entropy(logits, ids[:, 1:], reduction="none").mean(dim=0)


def folds_where_it_should_turn(model: nn.Module, ids: Tensor) -> Tensor:
    """you got the symbols onto axis 1 by reshaping. Reshaping lays the same numbers in other rows, so that logits of
    different positions compete. To exchange two axes is another thing: transpose."""
    logits = _from_logits(model, ids[:, :-1])
    b, n, c = logits.shape
    return cross_entropy(logits.reshape(b, c, n), ids[:, 1:], reduction="none").mean(dim=0)


def softmax_over_positions(model: nn.Module, ids: Tensor) -> Tensor:
    """your softmax runs over the positions, so that n guesses compete for one symbol. It is the symbols, the last axis,
    whose probabilities add up to 1."""
    logits = _from_logits(model, ids[:, :-1])
    return -logits.log_softmax(dim=1).gather(-1, ids[:, 1:, None])[..., 0].mean(dim=0)


def softmax_over_texts(model: nn.Module, ids: Tensor) -> Tensor:
    """your softmax runs over the texts of the batch, which have nothing to do with each other. It is the symbols, the
    last axis, whose probabilities add up to 1."""
    logits = _from_logits(model, ids[:, :-1])
    return -logits.log_softmax(dim=0).gather(-1, ids[:, 1:, None])[..., 0].mean(dim=0)


def sign_not_turned(model: nn.Module, ids: Tensor) -> Tensor:
    """these are log-probabilities, which are negative. A loss is a surprise: turn the sign."""
    return -_each(model, ids).mean(dim=0)


def probability_of_the_right_one(model: nn.Module, ids: Tensor) -> Tensor:
    """this is the mean probability of the right symbol. The loss is a logarithm of it, with the sign turned, and is
    taken of each guess before the mean."""
    return torch.exp(-_each(model, ids)).mean(dim=0)


def averages_before_the_log(model: nn.Module, ids: Tensor) -> Tensor:
    """you averaged the probabilities and took the logarithm of their mean. That forgives a guess that is badly wrong;
    each guess has a loss of its own, and the losses are averaged."""
    return -torch.exp(-_each(model, ids)).mean(dim=0).log()


def perplexity(model: nn.Module, ids: Tensor) -> Tensor:
    """this is e to the loss, which is called the perplexity. An entropy in nats is compared with the loss itself."""
    return torch.exp(_each(model, ids).mean(dim=0))


def folds_texts_into_positions(model: nn.Module, ids: Tensor) -> Tensor:
    """you laid all losses in one row, text after text, and folded them back with the sizes exchanged. Then a column
    holds losses from different positions. They come back as [b, n], in the order in which they were laid."""
    each = _each(model, ids)
    b, n = each.shape
    return each.flatten().reshape(n, b).mean(dim=1)


def starts_at_the_end(model: nn.Module, ids: Tensor) -> Tensor:
    """your positions run backwards. Entry 0 is the guess made after the first symbol."""
    return _each(model, ids).mean(dim=0).flip(0)


def running_mean(model: nn.Module, ids: Tensor) -> Tensor:
    """entry i is the mean over all positions up to i. Each position should stand for itself."""
    each = _each(model, ids).mean(dim=0)
    return each.cumsum(0) / torch.arange(1, len(each) + 1).to(each)


def a_numpy_array(model: nn.Module, ids: Tensor) -> np.ndarray:
    """the numbers are right, and they are a numpy array. From notebook 06 on results are tensors."""
    return np.asarray(_each(model, ids).mean(dim=0).numpy())


def a_list(model: nn.Module, ids: Tensor) -> list[float]:
    """the numbers are right, and they are in a list. Return a tensor, so that the caller can calculate with it."""
    return list(_each(model, ids).mean(dim=0).tolist())


def loss_by_gather(model: nn.Module, ids: Tensor) -> Tensor:
    was = model.training
    model.eval()
    with torch.no_grad():
        log_p = model(ids[:, :-1]).log_softmax(dim=-1)
    model.train(was)
    return -log_p.gather(-1, ids[:, 1:, None])[..., 0].mean(dim=0)


def loss_by_cross_entropy(model: nn.Module, ids: Tensor) -> Tensor:
    mode = model.training
    try:
        model.eval()
        with torch.inference_mode():
            logits, targets = model(ids[:, :-1]), ids[:, 1:]
            b, n, c = logits.shape
            each = cross_entropy(logits.reshape(b * n, c), targets.reshape(b * n), reduction="none")
            return each.view(b, n).mean(0)
    finally:
        model.train(mode)


@torch.no_grad()
def _decorated(model: nn.Module, ids: Tensor) -> Tensor:
    inputs, targets = ids[:, :-1], ids[:, 1:]
    return torch.stack([cross_entropy(model(inputs)[:, i], targets[:, i]) for i in range(inputs.shape[1])])


def loss_position_by_position(model: nn.Module, ids: Tensor) -> Tensor:
    if not model.training:
        return _decorated(model, ids)
    model.eval()
    result = _decorated(model, ids)
    model.train()
    return result


def loss_detached(model: nn.Module, ids: Tensor) -> Tensor:
    modes = {part: part.training for part in model.modules()}
    model.eval()
    logits = model(ids[:, :-1]).detach()
    for part, mode in modes.items():
        part.training = mode
    return nll_loss(log_softmax(logits, 2).permute(0, 2, 1), ids[:, 1:], reduction="none").mean(0)


def loss_text_by_text(model: nn.Module, ids: Tensor) -> Tensor:
    was = model.training
    model.eval()
    with torch.no_grad():
        rows = [cross_entropy(model(row[None, :-1])[0], row[1:], reduction="none") for row in ids]
    model.train(was)
    return torch.stack(rows).mean(dim=0)


def loss_by_logsumexp(model: nn.Module, ids: Tensor) -> Tensor:
    was = model.training
    with torch.no_grad():
        logits = model.eval()(ids[:, :-1])
    model.train(was)
    b, n = logits.shape[:2]
    right = logits[torch.arange(b)[:, None], torch.arange(n), ids[:, 1:]]
    return (torch.logsumexp(logits, dim=-1) - right).mean(dim=0)


def _evaluating(table: np.ndarray, ids: np.ndarray, training: bool) -> Case:
    return case(values.Tensor(table), values.Tensor(ids), training, harness="evaluating")


def _drawn(
    rng: np.random.Generator, b: int, n: int, c: int, training: bool, dtype: str = "float64", order: str = "C"
) -> Case:
    """A model of c symbols, and texts for it."""
    ids = with_layout(rng.integers(c, size=(b, n + 1)), order)
    return _evaluating(normal(rng, c, c, scale=2.0, dtype=dtype), ids, training)


def _evaluated(rng: np.random.Generator) -> list[Case]:
    b, n, c = sizes(rng, 3, 3)
    return [_drawn(rng, b, n, c, training=False), _drawn(rng, c, b, n, training=False)]


def _where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    n, m = sizes(rng, 2, 3)
    return [
        _drawn(rng, n, n, m, training=False),  # b = n: a mean over the other axis has the right shape
        _drawn(rng, m, n, n, training=False),  # n = c: a softmax over positions
        _drawn(rng, n, n, n, training=False),
    ]


def _in_training(rng: np.random.Generator) -> list[Case]:
    b, n, c = sizes(rng, 3, 3)
    return [_drawn(rng, b, n, c, training=True), _drawn(rng, n, c, b, training=True)]


def _loss_at_the_edge(rng: np.random.Generator) -> list[Case]:
    b, n, c = sizes(rng, 3, 3)
    surprised = np.array([[2000.0, 0.0], [2000.0, 0.0]])
    return [
        _drawn(rng, b, 1, c, training=False),
        _drawn(rng, 1, n, c, training=True),
        _drawn(rng, b, n, c, training=False, dtype="float32"),
        _drawn(rng, b, n, c, training=False, order="strided"),
        _evaluating(surprised, np.array([[0, 1, 0], [1, 1, 1]]), False),
    ]


_THREE = math.log(3.0)  # a logit of log 3 beside one of 0: the probabilities are 3/4 and 1/4

LOSS_BY_POSITION = Exercise(
    oracle=loss_by_position,
    notebook=NOTEBOOK,
    public=(
        # two symbols, one text, two positions
        _evaluating(np.array([[_THREE, 0.0], [0.0, 1.0]]), np.array([[0, 0, 1]]), False),
        # the same model in training mode
        _evaluating(np.array([[_THREE, 0.0], [0.0, 1.0]]), np.array([[0, 0, 1]]), True),
        # four texts, two positions, three symbols
        _evaluating(
            np.array([[0.0, 2.0, 1.0], [3.0, 0.0, -1.0], [0.5, -2.0, 1.0]]),
            np.array([[0, 1, 2], [2, 0, 0], [1, 1, 0], [2, 1, 1]]),
            True,
        ),
        # a surprise of 1000 nats; float32
        _evaluating(np.array([[1000.0, 0.0], [0.0, 1.0]], np.float32), np.array([[0, 1], [1, 1]]), False),
    ),
    probes=(
        Probe("the mean over texts at each position, in nats, guesses lined up with what follows", 1.0, _evaluated),
        Probe("the same where sizes coincide and another axis would do", 0.5, _where_sizes_coincide),
        Probe("a model that comes in training mode is measured in evaluation mode and put back", 1.0, _in_training),
        Probe(
            "one position, one text, float32, ids that are not contiguous, a surprise of 2000 nats",
            0.5,
            _loss_at_the_edge,
        ),
    ),
    mistakes=(
        averages_the_positions_away,
        per_text,
        no_average,
        sums_over_texts,
        left_in_training_mode,
        only_the_outer_flag,
        only_the_outer_flag_put_back,
        mode_not_put_back,
        always_trains_afterwards,
        carries_the_graph,
        freezes_the_model,
        takes_the_model_as_it_comes,
        evaluates_and_no_more,
        recording_switched_off_for_good,
        no_shift,
        shifts_the_wrong_way,
        shows_the_last_target,
        a_guess_for_every_symbol,
        first_shown_last_asked,
        one_prefix_at_a_time,
        in_bits,
        softmax_twice,
        no_softmax,
        log_of_a_softmax,
        log_of_a_softmax_as_it_comes,
        log_of_a_softmax_in_training,
        log_of_a_softmax_mode_not_put_back,
        log_of_a_softmax_evaluates_and_no_more,
        log_of_a_softmax_always_trains_afterwards,
        log_of_a_softmax_with_a_graph,
        a_floor_of_1e_12,
        a_floor_of_1e_10,
        a_floor_of_1e_9,
        a_floor_of_1e_8,
        text_numbers_not_upright,
        an_axis_of_length_one_left,
        squeezes_every_axis,
        symbols_not_on_axis_one,
        folds_where_it_should_turn,
        softmax_over_positions,
        softmax_over_texts,
        sign_not_turned,
        probability_of_the_right_one,
        averages_before_the_log,
        perplexity,
        folds_texts_into_positions,
        starts_at_the_end,
        running_mean,
        a_numpy_array,
        a_list,
    ),
    variants=(
        loss_by_gather,
        loss_by_cross_entropy,
        loss_position_by_position,
        loss_detached,
        loss_text_by_text,
        loss_by_logsumexp,
    ),
)


# ------------------------------------------------------------------------------------------------- verdict


def verdict(loss: float, entropy: float, tol: float) -> Literal["honest", "underfit", "leak"]:
    """Where a loss lies in the line: below the entropy, above it, or, up to tol, on it."""
    if loss != loss:
        raise ValueError("the loss is not a number")
    below, above = entropy - tol, entropy + tol
    if below <= loss <= above:
        return "honest"
    return "leak" if loss < below else "underfit"


def lower_is_better(loss: float, entropy: float, tol: float) -> str:
    """you call every low loss honest. Below the entropy nobody gets by predicting: a loss down there says that the model
    has seen the answers."""
    return "underfit" if loss > entropy + tol else "honest"


def words_exchanged(loss: float, entropy: float, tol: float) -> str:
    """you exchanged the two words. A leak makes the loss too low; a model that has not learnt enough has a loss that is
    too high."""
    return "leak" if loss > entropy + tol else "underfit" if loss < entropy - tol else "honest"


def entropy_in_bits(loss: float, entropy: float, tol: float) -> str:
    """you turned the entropy into bits and left the loss in nats. Both are given in nats; nothing has to be turned."""
    return _judge(loss, entropy / math.log(2), tol)


def loss_in_bits(loss: float, entropy: float, tol: float) -> str:
    """you turned the loss into bits and left the entropy in nats. Both are given in nats; nothing has to be turned."""
    return _judge(loss / math.log(2), entropy, tol)


def both_in_bits(loss: float, entropy: float, tol: float) -> str:
    """you turned loss and entropy into bits and left the tolerance in nats. All three are given in nats; nothing has to
    be turned."""
    return _judge(loss / math.log(2), entropy / math.log(2), tol)


def distance_is_a_leak(loss: float, entropy: float, tol: float) -> str:
    """you call every loss that is far from the entropy a leak, above it too. The side matters: above the entropy it is a
    model that has not learnt enough."""
    return "leak" if abs(loss - entropy) > tol else "honest"


def distance_is_underfit(loss: float, entropy: float, tol: float) -> str:
    """you call every loss that is far from the entropy underfit, below it too. The side matters: below the entropy it is
    a leak."""
    return "underfit" if abs(loss - entropy) > tol else "honest"


def tolerance_is_a_share(loss: float, entropy: float, tol: float) -> str:
    """you took tol for a share of the entropy. It is an amount in nats, which is added and subtracted."""
    return _judge(loss, entropy, tol * entropy)


def no_tolerance(loss: float, entropy: float, tol: float) -> str:
    """you left tol out. The loss is measured on finitely many texts, and by luck alone an honest model lands a little
    below the entropy as often as above it."""
    return _judge(loss, entropy, 0.0)


def tolerance_above_only(loss: float, entropy: float, tol: float) -> str:
    """you allow for luck above the entropy and not below it. A perfect model lands a little below as often as above, and
    you would accuse it."""
    return "leak" if loss < entropy else "underfit" if loss > entropy + tol else "honest"


def tolerance_below_only(loss: float, entropy: float, tol: float) -> str:
    """you allow for luck below the entropy and not above it. Nearly every good model lies a little above."""
    return "leak" if loss < entropy - tol else "underfit" if loss > entropy else "honest"


def half_a_tolerance(loss: float, entropy: float, tol: float) -> str:
    """your band is tol wide from edge to edge. It reaches by tol down and by tol up."""
    return _judge(loss, entropy, tol / 2)


def tolerance_turned(loss: float, entropy: float, tol: float) -> str:
    """you moved each edge to the wrong side, by -tol where +tol is due. Then a loss that lies on the entropy is both too
    high and too low."""
    return "leak" if loss < entropy + tol else "underfit" if loss > entropy - tol else "honest"


def edges_left_out(loss: float, entropy: float, tol: float) -> str:
    """at the edges themselves, tol away from the entropy, you do not say honest. They belong to it."""
    if loss != loss:
        raise ValueError("the loss is not a number")
    return edges_left_out_and_nan_honest(loss, entropy, tol)


def edges_left_out_and_nan_honest(loss: float, entropy: float, tol: float) -> str:
    """two things. At the edges themselves, tol away from the entropy, you do not say honest, and they belong to it. And
    NaN, which passes every comparison by, comes out as honest: refuse it with a ValueError."""
    return "leak" if loss <= entropy - tol else "underfit" if loss >= entropy + tol else "honest"


def lower_edge_left_out(loss: float, entropy: float, tol: float) -> str:
    """at the lower edge, a loss of exactly entropy - tol, you do not say honest. The edges belong to it."""
    return "leak" if loss <= entropy - tol else "underfit" if loss > entropy + tol else "honest"


def upper_edge_left_out(loss: float, entropy: float, tol: float) -> str:
    """at the upper edge, a loss of exactly entropy + tol, you do not say honest. The edges belong to it."""
    return "leak" if loss < entropy - tol else "underfit" if loss >= entropy + tol else "honest"


def edges_left_out_and_nan_underfit(loss: float, entropy: float, tol: float) -> str:
    """two things. At the edges themselves, tol away from the entropy, you do not say honest, and they belong to it. And
    NaN, which passes every comparison by, comes out as underfit: refuse it with a ValueError."""
    if abs(loss - entropy) < tol:
        return "honest"
    return "leak" if loss < entropy else "underfit"


def edges_left_out_and_nan_a_leak(loss: float, entropy: float, tol: float) -> str:
    """two things. At the edges themselves, tol away from the entropy, you do not say honest, and they belong to it. And
    NaN, which passes every comparison by, comes out as a leak: refuse it with a ValueError."""
    if abs(loss - entropy) < tol:
        return "honest"
    return "underfit" if loss > entropy else "leak"


def a_tolerance_of_its_own(loss: float, entropy: float, tol: float) -> str:
    """your function has a tolerance of its own, 0.05, and does not look at the one that it is given. The band is as wide
    as the caller says."""
    return _judge(loss, entropy, 0.05)


def never_honest(loss: float, entropy: float, tol: float) -> str:
    """you know two words and not the third. Between the edges, where a loss is as low as it can honestly be, it is
    honest."""
    return "underfit" if loss > entropy else "leak"


def never_a_leak_and_no_tolerance(loss: float, entropy: float, tol: float) -> str:
    """you ask only whether the loss is above the entropy. By luck an honest model lands a little above, which tol allows
    for; and far below it nobody gets by predicting, so that a loss down there is a leak."""
    return "underfit" if loss > entropy else "honest"


def never_underfit(loss: float, entropy: float, tol: float) -> str:
    """you call every high loss honest. A loss too far above the entropy is that of a model which has not learnt enough:
    underfit."""
    return "leak" if loss < entropy - tol else "honest"


def infinity_refused(loss: float, entropy: float, tol: float) -> str:
    """you refuse a loss of infinity. It is too large, and so it is underfit; only NaN, which is no number, has to be
    refused."""
    if not math.isfinite(loss):
        raise ValueError("the loss is not finite")
    return _judge(loss, entropy, tol)


def returns_the_error(loss: float, entropy: float, tol: float) -> object:
    """for NaN you return a ValueError, as if it were a fourth word. An error stops the caller only if it is raised."""
    return ValueError("the loss is NaN") if math.isnan(loss) else _judge(loss, entropy, tol)


def capitals(loss: float, entropy: float, tol: float) -> str:
    """your words begin with a capital. They are compared letter by letter: lower case."""
    return _judge(loss, entropy, tol).capitalize()


def not_a_number_is_honest(loss: float, entropy: float, tol: float) -> str:
    """you call a loss of NaN honest. NaN is neither below a number nor above one, so it passes every comparison by; nor does
    == find it, since NaN equals nothing, not even itself. `math` has a question for it. Refuse it with a ValueError."""
    return "leak" if loss < entropy - tol else "underfit" if loss > entropy + tol else "honest"


def not_a_number_is_underfit(loss: float, entropy: float, tol: float) -> str:
    """you call a loss of NaN underfit. NaN is neither below a number nor above one, so it passes every comparison by; nor does
    == find it, since NaN equals nothing, not even itself. `math` has a question for it. Refuse it with a ValueError."""
    return "leak" if loss < entropy - tol else "honest" if loss <= entropy + tol else "underfit"


def not_a_number_is_a_leak(loss: float, entropy: float, tol: float) -> str:
    """you call a loss of NaN a leak. NaN is neither below a number nor above one, so it passes every comparison by; nor does
    == find it, since NaN equals nothing, not even itself. `math` has a question for it. Refuse it with a ValueError."""
    return "underfit" if loss > entropy + tol else "honest" if loss >= entropy - tol else "leak"


def says_it_does_not_return_it(loss: float, entropy: float, tol: float) -> None:
    """you return nothing. A verdict that is only printed cannot be used by the code that follows."""
    _judge(loss, entropy, tol)


def compares_perplexities(loss: float, entropy: float, tol: float) -> str:
    """you raised e to the loss and to the entropy before comparing, and tol is an amount in nats. Compare them as they
    are."""
    return _judge(math.exp(min(loss, 700.0)), math.exp(entropy), tol)


def _judge(loss: float, entropy: float, tol: float) -> str:
    """Right for every loss that is a number. Mistakes do without the question for NaN, since few who make one ask it."""
    if loss < entropy - tol:
        return "leak"
    if loss > entropy + tol:
        return "underfit"
    return "honest"


def verdict_by_if(loss: float, entropy: float, tol: float) -> str:
    if math.isnan(loss):
        raise ValueError("the loss is NaN")
    return _judge(loss, entropy, tol)


def verdict_by_numpy(loss: float, entropy: float, tol: float) -> str:
    if np.isnan(loss):
        raise ValueError("NaN")
    side = int(np.sign(loss - entropy)) if np.abs(loss - entropy) > tol else 0
    return {-1: "leak", 0: "honest", 1: "underfit"}[side]


def verdict_by_match(loss: float, entropy: float, tol: float) -> str:
    match (loss >= entropy - tol, loss <= entropy + tol):
        case (True, True):
            return "honest"
        case (True, False):
            return "underfit"
        case (False, True):
            return "leak"
        case _:
            raise ValueError("the loss is not a number")


def verdict_by_elimination(loss: float, entropy: float, tol: float) -> str:
    if loss < entropy - tol:
        return "leak"
    if loss > entropy + tol:
        return "underfit"
    if abs(loss - entropy) <= tol:
        return "honest"
    raise ValueError(f"{loss} is no loss")


def _eighths(rng: np.random.Generator) -> tuple[float, float]:
    """An entropy and a tolerance that floating point adds and subtracts without rounding."""
    return float(rng.integers(8, 20)) / 8, float(rng.integers(1, 4)) / 8


def _three_ways(rng: np.random.Generator) -> list[Case]:
    cases = []
    for narrow, wide in ((0.02, 0.05), (0.05, 0.1), (0.12, 0.2)):
        entropy, tol = float(rng.uniform(1.2, 2.4)), float(rng.uniform(narrow, wide))
        for share in (0.02, 0.45, 0.65, 0.95, 1.1):
            by = float(rng.uniform(0.95, 1.04)) * share * tol
            cases += [case(entropy + by, entropy, tol), case(entropy - by, entropy, tol)]
        cases += [case(0.3 * entropy, entropy, tol), case(3.0 * entropy, entropy, tol)]
    return cases


def _edges(rng: np.random.Generator) -> list[Case]:
    cases = []
    for _ in range(3):
        entropy, tol = _eighths(rng)
        cases += [case(entropy - tol, entropy, tol), case(entropy + tol, entropy, tol), case(entropy, entropy, tol)]
    entropy, tol = _eighths(rng)
    beyond = [tol + 2.0**-20, tol + 2.0**-13]  # by hardly anything, and still exact
    cases += [case(entropy + sign * by, entropy, tol) for by in beyond for sign in (1, -1)]
    return [*cases, case(entropy, entropy, 0.0)]


def _no_number(rng: np.random.Generator) -> list[Case]:
    entropy, tol = _eighths(rng)
    return [case(loss, entropy, tol, harness="refusing") for loss in (math.nan, math.inf, 0.0)]


def _about(loss: float, entropy: float, tol: float, honest: Callable[[float], bool]) -> str:
    if math.isnan(loss):
        raise ValueError("no loss")
    distance = loss - entropy
    return "honest" if honest(distance) else "leak" if distance < 0 else "underfit"


def close_is_honest(loss: float, entropy: float, tol: float) -> str:
    """your comparison has a tolerance of its own, on top of tol: functions that ask whether two numbers are close bring
    one along. Where the band ends has been agreed on beforehand, and it ends there."""
    return _about(loss, entropy, tol, lambda distance: bool(np.isclose(loss, entropy, atol=tol)))


def rounds_the_distance(loss: float, entropy: float, tol: float) -> str:
    """you rounded before you compared, so what lies a little outside the band counts as inside."""
    return _about(loss, entropy, tol, lambda distance: round(abs(distance), 3) <= tol)


VERDICT = Exercise(
    oracle=verdict,
    notebook=NOTEBOOK,
    public=(
        case(1.0, 1.5, 0.25),
        case(1.5, 1.5, 0.25),
        case(2.0, 1.5, 0.25),
        case(0.5, 1.5, 0.25),
        # inside the band, ever closer to an edge
        case(1.47, 1.5, 0.25),
        case(1.5525, 1.5, 0.25),
        case(1.41, 1.5, 0.25),
        case(1.59, 1.5, 0.25),
        case(1.35, 1.5, 0.25),
        case(1.65, 1.5, 0.25),
        case(1.3, 1.5, 0.25),
        case(1.7, 1.5, 0.25),
        # outside it, where a share of the entropy would be inside
        case(1.1875, 1.5, 0.25),
        case(1.8125, 1.5, 0.25),
        # the edges
        case(1.25, 1.5, 0.25),
        case(1.75, 1.5, 0.25),
        case(0.5, 1.0, 0.5),
        case(1.5, 1.0, 0.5),
        # beyond them, by hardly anything
        *(case(1.5 + sign * (0.25 + 2.0**power), 1.5, 0.25) for power in (-20, -13) for sign in (1, -1)),
        case(math.nan, 1.5, 0.25, harness="refusing"),
        case(math.inf, 1.5, 0.25, harness="refusing"),
    ),
    probes=(
        Probe("below the band, in it and above it", 1.0, _three_ways),
        Probe("the edges of the band, and a band of width 0", 0.5, _edges),
        Probe("a loss that is not a number is refused; one of infinity is underfit, one of 0 a leak", 0.5, _no_number),
    ),
    mistakes=(
        lower_is_better,
        close_is_honest,
        rounds_the_distance,
        words_exchanged,
        entropy_in_bits,
        loss_in_bits,
        both_in_bits,
        distance_is_a_leak,
        distance_is_underfit,
        tolerance_is_a_share,
        no_tolerance,
        tolerance_above_only,
        tolerance_below_only,
        half_a_tolerance,
        tolerance_turned,
        edges_left_out,
        lower_edge_left_out,
        upper_edge_left_out,
        edges_left_out_and_nan_honest,
        edges_left_out_and_nan_underfit,
        edges_left_out_and_nan_a_leak,
        a_tolerance_of_its_own,
        never_honest,
        never_a_leak_and_no_tolerance,
        never_underfit,
        infinity_refused,
        returns_the_error,
        capitals,
        not_a_number_is_honest,
        not_a_number_is_underfit,
        not_a_number_is_a_leak,
        says_it_does_not_return_it,
        compares_perplexities,
    ),
    variants=(verdict_by_if, verdict_by_numpy, verdict_by_match, verdict_by_elimination),
)

EXERCISES = (LOSS_BY_POSITION, VERDICT)
