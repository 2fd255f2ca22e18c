"""The loss at each position, of a model in evaluation mode.

The model is shown symbols 0 to n − 1 and asked for symbols 1 to n. Shown the last target too, a model that peeks
would be right at every position, and the one that gives it away would be gone. The mean runs over texts only, since
it is positions that are compared. Softmax and logarithm are taken at once, because a probability that rounds to 0 has
the logarithm −∞, while its loss may be 2000 and no more. Evaluation mode is set for all parts and then put back as
found, and `no_grad` undoes itself.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, log_softmax, nll_loss

from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, case, mistake, probe, right
from course.trial import values
from course.trial.values import with_layout


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


def _evaluating(table: np.ndarray, ids: np.ndarray, training: bool) -> Case:
    return case(values.Tensor(table), values.Tensor(ids), training, harness="evaluating")


LOG_3 = math.log(3.0)  # a logit of log 3 beside one of 0: the probabilities are 3/4 and 1/4


def _texts_of(table: np.ndarray, b: int, n: int, training: bool, order: str = "C") -> Case:
    """Texts that look like nothing in particular, the same on every machine."""
    ids = with_layout((np.arange(b * (n + 1)) ** 2 // 3 % len(table)).reshape(b, n + 1), order)
    return _evaluating(table, ids, training)


def _table(c: int) -> np.ndarray:
    """Logits of c symbols with two decimals, on both sides of 0."""
    return ((np.arange(c * c) * 37 % 61) / 10.0 - 2.97).reshape(c, c).round(2)


PUBLIC = (
    # two symbols, one text, two positions
    _evaluating(np.array([[LOG_3, 0.0], [0.0, 1.0]]), np.array([[0, 0, 1]]), False),
    # the same model in training mode
    _evaluating(np.array([[LOG_3, 0.0], [0.0, 1.0]]), np.array([[0, 0, 1]]), True),
    # four texts, two positions, three symbols
    _evaluating(
        np.array([[0.0, 2.0, 1.0], [3.0, 0.0, -1.0], [0.5, -2.0, 1.0]]),
        np.array([[0, 1, 2], [2, 0, 0], [1, 1, 0], [2, 1, 1]]),
        True,
    ),
    # a surprise of 1000 nats; float32
    _evaluating(np.array([[1000.0, 0.0], [0.0, 1.0]], np.float32), np.array([[0, 1], [1, 1]]), False),
    # logits that are all large, and none of them surprising
    _evaluating(np.array([[1000.0, 999.0], [1001.0, 1000.0]]), np.array([[0, 1, 0]]), False),
    # medium sizes; one position, as many texts as positions, as many positions as symbols; ids that are not contiguous
    _texts_of(_table(5), 6, 4, True),
    _texts_of(_table(4), 5, 1, False),
    _texts_of(_table(5), 3, 3, False),
    _texts_of(_table(4), 2, 4, True, order="strided"),
    _texts_of(_table(4).astype(np.float32), 3, 5, True),
)


def _drawn_texts(
    rng: np.random.Generator, b: int, n: int, c: int, training: bool, dtype: str = "float64", order: str = "C"
) -> Case:
    """A model of c symbols, and texts for it, in which each symbol occurs."""
    ids = with_layout(rng.permutation(np.arange(b * (n + 1)) % c).reshape(b, n + 1), order)
    return _evaluating(normal(rng, c, c, scale=2.0 if dtype == "float64" else 1.0, dtype=dtype), ids, training)


@probe(0.75, part="loss")
def evaluated(rng: np.random.Generator) -> list[Case]:
    """the mean over texts at each position, in nats, guesses lined up with what follows"""
    b, n, c = sizes(rng, 3, 3)
    few, many = (_drawn_texts(rng, *shape, training=False, dtype="float32") for shape in ((b, n, c), (c, b, n)))
    return [few, many]


@probe(0.25, part="loss")
def where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide and another axis would do"""
    n, m = sizes(rng, 2, 3)
    return [
        _drawn_texts(rng, n, n, m, training=False),  # b = n: a mean over the other axis has the right shape
        _drawn_texts(rng, m, n, n, training=False),  # n = c: a softmax over positions
        _drawn_texts(rng, n, n, n, training=False),
    ]


@probe(0.75, part="loss")
def in_training(rng: np.random.Generator) -> list[Case]:
    """a model that comes in training mode is measured in evaluation mode"""
    b, n, c = sizes(rng, 3, 3)
    few, many = (_drawn_texts(rng, *shape, training=True, dtype="float32") for shape in ((b, n, c), (n, c, b)))
    return [few, many]


def _either_mode(rng: np.random.Generator) -> list[Case]:
    b, n, c = sizes(rng, 3, 3)
    return [_drawn_texts(rng, b, n, c, training) for training in (True, False)]


@probe(0.25, part="in training mode afterwards")
def put_back(rng: np.random.Generator) -> list[Case]:
    """the model is left in the mode in which it came, with all its parts"""
    return _either_mode(rng)


@probe(0.25, part="carries a graph")
def measured(rng: np.random.Generator) -> list[Case]:
    """the result carries no graph"""
    return _either_mode(rng)


@probe(0.25, part="left switched off")
def nothing_switched_off(rng: np.random.Generator) -> list[Case]:
    """gradients are recorded again afterwards, and the model can still be trained"""
    return _either_mode(rng)


@probe(0.5, part="loss")
def loss_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """one position, one text, float64, ids that are not contiguous, large logits, a loss of 2000 nats"""
    b, n, c = sizes(rng, 3, 3)
    surprised = np.array([[2000.0, 0.0], [2000.0, 0.0]])
    return [
        _drawn_texts(rng, b, 1, c, training=False),
        _drawn_texts(rng, 1, n, c, training=False),
        _drawn_texts(rng, b, n, c, training=False, order="strided"),
        _evaluating(surprised, np.array([[0, 1, 0], [1, 1, 1]]), False),
        _evaluating(np.array([[1500.0, 1499.0], [1501.0, 1500.0]]), np.array([[0, 1, 0], [1, 1, 1]]), False),
    ]


def _each(model: nn.Module, ids: Tensor) -> Tensor:
    """Every single loss [b, n], the model as it should be looked at."""
    was = model.training
    model.eval()
    with torch.no_grad():
        logits = model(ids[:, :-1])
    model.train(was)
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")


@mistake
def averages_the_positions_away(model: nn.Module, ids: Tensor) -> Tensor:
    """you averaged over texts and over positions, so that one number is left (PyTorch's cross-entropy does so by
    itself, unless you ask for no reduction). This is the number that hides the culprit. Average over the texts alone.
    """
    return _each(model, ids).mean()


@mistake
def per_text(model: nn.Module, ids: Tensor) -> Tensor:
    """you averaged over the positions, so each entry belongs to one text. It is the other axis that has to go."""
    return _each(model, ids).mean(dim=1)


@mistake
def no_average(model: nn.Module, ids: Tensor) -> Tensor:
    """these are the single losses, a row for each text. They still have to be averaged over the texts."""
    return _each(model, ids)


@mistake
def sums_over_texts(model: nn.Module, ids: Tensor) -> Tensor:
    """you added the texts up. A loss that grows with the number of texts cannot be compared with an entropy: take the
    mean."""
    return _each(model, ids).sum(dim=0)


@mistake
def left_in_training_mode(model: nn.Module, ids: Tensor) -> Tensor:
    """the model was in training mode while you measured. Some of its parts act differently there, so this is not the
    loss of the model that will be used: put it into evaluation mode first."""
    with torch.no_grad():
        logits = model(ids[:, :-1])
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


@mistake
def only_the_outer_flag(model: nn.Module, ids: Tensor) -> Tensor:
    """you changed the mode of the model itself, and the part inside it stayed as it was, in training mode. Each part
    has a mode of its own, and there is one call that sets them all.
    """
    was = model.training
    model.training = False
    with torch.no_grad():
        logits = model(ids[:, :-1])
    model.training = was
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


@mistake
def only_the_outer_flag_put_back(model: nn.Module, ids: Tensor) -> Tensor:
    """you put back the mode of the model itself, and the part inside it was left in evaluation mode. Each part has a
    mode of its own, and there is one call that sets them all.
    """
    was = model.training
    model.eval()
    with torch.no_grad():
        logits = model(ids[:, :-1])
    model.training = was
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


@mistake
def mode_not_put_back(model: nn.Module, ids: Tensor) -> Tensor:
    """you left the model in evaluation mode. Whoever goes on training it afterwards trains another model than they
    think: put it back as you found it."""
    model.eval()
    with torch.no_grad():
        logits = model(ids[:, :-1])
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


@mistake
def always_trains_afterwards(model: nn.Module, ids: Tensor) -> Tensor:
    """you switched training mode on at the end, whatever it was before. A model that was already in evaluation mode
    should stay there: remember the mode first."""
    model.eval()
    with torch.no_grad():
        logits = model(ids[:, :-1])
    model.train()
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


@mistake
def carries_the_graph(model: nn.Module, ids: Tensor) -> Tensor:
    """your result carries a graph: PyTorch noted every step for a backward pass that will never come, and keeps it in
    memory as long as the loss lives. Tell it not to record."""
    was = model.training
    model.eval()
    logits = model(ids[:, :-1])
    model.train(was)
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


@mistake
def freezes_the_model(model: nn.Module, ids: Tensor) -> Tensor:
    """you switched gradients off in the model's own parameters, and so they stay: this model can never be trained again.
    Tell PyTorch not to record, for as long as you measure."""
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    return carries_the_graph(model, ids)


@mistake
def takes_the_model_as_it_comes(model: nn.Module, ids: Tensor) -> Tensor:
    """two things are missing around the call of the model. It stays in whatever mode it comes in, training mode too, and PyTorch records
    a graph that is never used."""
    logits = model(ids[:, :-1])
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


@mistake
def evaluates_and_no_more(model: nn.Module, ids: Tensor) -> Tensor:
    """evaluation mode is right, and two things are missing: the mode is not put back afterwards, and PyTorch records a graph that is
    never used."""
    model.eval()
    logits = model(ids[:, :-1])
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


@mistake
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


@mistake
def no_shift(model: nn.Module, ids: Tensor) -> Tensor:
    """you compared the guess at position i with symbol i, which the model has just been shown. Its task is symbol
    i + 1."""
    logits = _from_logits(model, ids[:, :-1])
    return cross_entropy(logits.transpose(1, 2), ids[:, :-1], reduction="none").mean(dim=0)


@mistake
def shifts_the_wrong_way(model: nn.Module, ids: Tensor) -> Tensor:
    """your inputs are the later symbols and your targets the earlier ones: the model is asked what came before. Inputs
    leave out the last symbol, targets the first."""
    logits = _from_logits(model, ids[:, 1:])
    return cross_entropy(logits.transpose(1, 2), ids[:, :-1], reduction="none").mean(dim=0)


@mistake
def shows_the_last_target(model: nn.Module, ids: Tensor) -> Tensor:
    """you gave the model all n + 1 symbols and dropped its last guess. So its guess number n - 1 had a future to look at,
    and the one position that would give a cheat away has lost its witness."""
    logits = _from_logits(model, ids)[:, :-1]
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


@mistake
def a_guess_for_every_symbol(model: nn.Module, ids: Tensor) -> Tensor:
    """you gave the model all n + 1 symbols and compared each guess with the symbol at its own place. There are n
    problems, and each asks for the symbol that follows."""
    logits = _from_logits(model, ids)
    return cross_entropy(logits.transpose(1, 2), ids, reduction="none").mean(dim=0)


@mistake
def first_shown_last_asked(model: nn.Module, ids: Tensor) -> Tensor:
    """your inputs are right, and your targets begin at the second symbol and end one too early, so the last guess is
    not scored. Each of the n inputs has a target."""
    logits = _from_logits(model, ids[:, :-1])[:, :-1]
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:-1], reduction="none").mean(dim=0)


@mistake
def one_prefix_at_a_time(model: nn.Module, ids: Tensor) -> Tensor:
    """you ran the model on one beginning of the texts after another, and took its last guess. Then no guess has
    anything to its right, and a model that peeks finds nothing to peek at. (You will want this later on.) Here it is
    one run over all n symbols.
    """
    parts = [_from_logits(model, ids[:, : i + 1])[:, -1] for i in range(ids.shape[1] - 1)]
    logits = torch.stack(parts, dim=1)
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


@mistake
def in_bits(model: nn.Module, ids: Tensor) -> Tensor:
    """these are bits, from a logarithm to the base 2. Nats come from the natural one; a nat is 1.44 bits."""
    return (_each(model, ids) / math.log(2)).mean(dim=0)


@mistake
def softmax_twice(model: nn.Module, ids: Tensor) -> Tensor:
    """you took softmax of the logits and handed the probabilities on as if they were logits: PyTorch's cross-entropy
    takes softmax itself."""
    logits = _from_logits(model, ids[:, :-1])
    return cross_entropy(logits.softmax(dim=-1).transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


@mistake
def no_softmax(model: nn.Module, ids: Tensor) -> Tensor:
    """you took the logit of the right symbol, with its sign turned, for its loss. A logit is compared with the logits of
    the other symbols first: log-softmax does that."""
    logits = _from_logits(model, ids[:, :-1])
    return -logits.gather(-1, ids[:, 1:, None])[..., 0].mean(dim=0)


@mistake
def log_of_a_softmax(model: nn.Module, ids: Tensor) -> Tensor:
    """where the right symbol has a very low logit, its probability comes out as 0, and the logarithm of that is minus infinity.
    Take softmax and logarithm at once: log-softmax never forms the tiny number."""
    logits = _from_logits(model, ids[:, :-1])
    return -logits.softmax(dim=-1).gather(-1, ids[:, 1:, None])[..., 0].log().mean(dim=0)


def _log_of_a_softmax(logits: Tensor, ids: Tensor) -> Tensor:
    return -logits.softmax(dim=-1).gather(-1, ids[:, 1:, None])[..., 0].log().mean(dim=0)


@mistake
def log_of_a_softmax_as_it_comes(model: nn.Module, ids: Tensor) -> Tensor:
    """three things. The model stays in whatever mode it comes in; PyTorch records a graph that is never used; and where the right symbol
    has a very low logit, you take the logarithm of a probability that was rounded to 0."""
    return _log_of_a_softmax(model(ids[:, :-1]), ids)


@mistake
def log_of_a_softmax_in_training(model: nn.Module, ids: Tensor) -> Tensor:
    """two things. The model stays in whatever mode it comes in, training mode too; and where the right symbol has a very
    low logit, you take the logarithm of a probability that was rounded to 0."""
    with torch.no_grad():
        logits = model(ids[:, :-1])
    return _log_of_a_softmax(logits, ids)


@mistake
def log_of_a_softmax_mode_not_put_back(model: nn.Module, ids: Tensor) -> Tensor:
    """two things. You left the model in evaluation mode: put it back as you found it. And where the right symbol has a
    very low logit, you take the logarithm of a probability that was rounded to 0."""
    model.eval()
    with torch.no_grad():
        logits = model(ids[:, :-1])
    return _log_of_a_softmax(logits, ids)


@mistake
def log_of_a_softmax_evaluates_and_no_more(model: nn.Module, ids: Tensor) -> Tensor:
    """evaluation mode is right, and three things are not: the mode is not put back afterwards; PyTorch records a graph that is never
    used; and where the right symbol has a very low logit, you take the logarithm of a probability that was rounded to 0."""
    model.eval()
    return _log_of_a_softmax(model(ids[:, :-1]), ids)


@mistake
def log_of_a_softmax_always_trains_afterwards(model: nn.Module, ids: Tensor) -> Tensor:
    """two things. You switched training mode on at the end, whatever it was before: remember the mode first. And where
    the right symbol has a very low logit, you take the logarithm of a probability that was rounded to 0."""
    model.eval()
    with torch.no_grad():
        logits = model(ids[:, :-1])
    model.train()
    return _log_of_a_softmax(logits, ids)


@mistake
def log_of_a_softmax_with_a_graph(model: nn.Module, ids: Tensor) -> Tensor:
    """two things. Your result carries a graph that is never used: tell PyTorch not to record. And where the right symbol has a very low
    logit, you take the logarithm of a probability that was rounded to 0."""
    was = model.training
    model.eval()
    logits = model(ids[:, :-1])
    model.train(was)
    return _log_of_a_softmax(logits, ids)


def _with_a_floor(model: nn.Module, ids: Tensor, floor: float) -> Tensor:
    p = _from_logits(model, ids[:, :-1]).softmax(dim=-1).gather(-1, ids[:, 1:, None])[..., 0]
    return -(p + floor).log().mean(dim=0)


@mistake
def a_floor_of_1e_12(model: nn.Module, ids: Tensor) -> Tensor:
    """you add 1e-12 to each probability before its logarithm, or raise it to that number. Then no loss can be above 27.6 nats, and a model that is
    sure and wrong gets off lightly. Softmax and logarithm taken at once, as log-softmax does, need no such floor."""
    return _with_a_floor(model, ids, 1e-12)


@mistake
def a_floor_of_1e_10(model: nn.Module, ids: Tensor) -> Tensor:
    """you add 1e-10 to each probability before its logarithm. Then no loss can be above 23 nats, and a model that is
    sure and wrong gets off lightly. Softmax and logarithm taken at once, as log-softmax does, need no such floor."""
    return _with_a_floor(model, ids, 1e-10)


@mistake
def a_floor_of_1e_9(model: nn.Module, ids: Tensor) -> Tensor:
    """you add 1e-9 to each probability before its logarithm. Then no loss can be above 20.7 nats, and a model that is
    sure and wrong gets off lightly. Softmax and logarithm taken at once, as log-softmax does, need no such floor."""
    return _with_a_floor(model, ids, 1e-9)


def _cut_off(model: nn.Module, ids: Tensor, floor: float) -> Tensor:
    p = _from_logits(model, ids[:, :-1]).softmax(dim=-1).gather(-1, ids[:, 1:, None])[..., 0]
    return -p.clamp(min=floor).log().mean(dim=0)


@mistake
def a_floor_of_1e_7(model: nn.Module, ids: Tensor) -> Tensor:
    """you add 1e-7 to each probability before its logarithm. Then no loss can be above 16.1 nats, and a model that is
    sure and wrong gets off lightly. Softmax and logarithm taken at once, as log-softmax does, need no such floor."""
    return _with_a_floor(model, ids, 1e-7)


@mistake
def a_floor_of_1e_15(model: nn.Module, ids: Tensor) -> Tensor:
    """you add 1e-15 to each probability before its logarithm, or raise it to that number. Then no loss can be above 34.5 nats, and a model that is
    sure and wrong gets off lightly. Softmax and logarithm taken at once, as log-softmax does, need no such floor."""
    return _with_a_floor(model, ids, 1e-15)


@mistake
def a_floor_of_1e_20(model: nn.Module, ids: Tensor) -> Tensor:
    """you add 1e-20 to each probability before its logarithm, or raise it to that number. Then no loss can be above 46 nats, and a model that is
    sure and wrong gets off lightly. Softmax and logarithm taken at once, as log-softmax does, need no such floor."""
    return _with_a_floor(model, ids, 1e-20)


@mistake
def cut_off_at_1e_10(model: nn.Module, ids: Tensor) -> Tensor:
    """you raise every probability below 1e-10 to that number before its logarithm. Then no loss can be above 23 nats, and a
    model that is sure and wrong gets off lightly. Softmax and logarithm taken at once need no such floor."""
    return _cut_off(model, ids, 1e-10)


@mistake
def cut_off_at_1e_9(model: nn.Module, ids: Tensor) -> Tensor:
    """you raise every probability below 1e-9 to that number before its logarithm. Then no loss can be above 20.7 nats, and a
    model that is sure and wrong gets off lightly. Softmax and logarithm taken at once need no such floor."""
    return _cut_off(model, ids, 1e-9)


@mistake
def cut_off_at_1e_8(model: nn.Module, ids: Tensor) -> Tensor:
    """you raise every probability below 1e-8 to that number before its logarithm. Then no loss can be above 18.4 nats, and a
    model that is sure and wrong gets off lightly. Softmax and logarithm taken at once need no such floor."""
    return _cut_off(model, ids, 1e-8)


@mistake
def cut_off_at_1e_7(model: nn.Module, ids: Tensor) -> Tensor:
    """you raise every probability below 1e-7 to that number before its logarithm. Then no loss can be above 16.1 nats, and a
    model that is sure and wrong gets off lightly. Softmax and logarithm taken at once need no such floor."""
    return _cut_off(model, ids, 1e-7)


@mistake
def cut_off_at_1e_6(model: nn.Module, ids: Tensor) -> Tensor:
    """you raise every probability below 1e-6 to that number before its logarithm. Then no loss can be above 13.8 nats, and a
    model that is sure and wrong gets off lightly. Softmax and logarithm taken at once need no such floor."""
    return _cut_off(model, ids, 1e-6)


@mistake
def exponentials_that_overflow(model: nn.Module, ids: Tensor) -> Tensor:
    """where logits are large, their bare exponentials are infinite, and your loss is infinite or NaN, though the guess is no
    surprise at all. Take the largest logit away first, or leave it to log-softmax, which does."""
    logits = _from_logits(model, ids[:, :-1])
    powers = logits.exp()
    return -(powers / powers.sum(dim=-1, keepdim=True)).gather(-1, ids[:, 1:, None])[..., 0].log().mean(dim=0)


@mistake
def a_sum_that_overflows(model: nn.Module, ids: Tensor) -> Tensor:
    """where logits are large, the sum of their bare exponentials is infinite, and so is your loss, though the guess is no surprise
    at all. Take the largest logit away first, or leave it to logsumexp or log-softmax, which do."""
    logits = _from_logits(model, ids[:, :-1])
    return (logits.exp().sum(dim=-1).log() - logits.gather(-1, ids[:, 1:, None])[..., 0]).mean(dim=0)


@mistake
def one_number_repeated(model: nn.Module, ids: Tensor) -> Tensor:
    """each entry is the mean over everything, the same number n times: the shape is right, and where in the text the loss is low is
    lost. Average over the texts alone."""
    each = _each(model, ids)
    return each.mean().expand(each.shape[1]).clone()


@mistake
def first_text_alone(model: nn.Module, ids: Tensor) -> Tensor:
    """these are the losses of text 0 alone. Every text counts: take the mean over all of them."""
    return _each(model, ids)[0]


@mistake
def last_text_alone(model: nn.Module, ids: Tensor) -> Tensor:
    """these are the losses of the last text alone, perhaps those of a variable that the loop left behind. Take the mean over all
    texts."""
    return _each(model, ids)[-1]


@mistake
def divided_by_positions(model: nn.Module, ids: Tensor) -> Tensor:
    """you added the surprises of all texts up, and divided by the number of positions. The mean at a position is over the b texts."""
    return loss_by_gather(model, ids) * len(ids) / (ids.shape[1] - 1)


@mistake
def median_over_texts(model: nn.Module, ids: Tensor) -> Tensor:
    """you took the median over the texts. An entropy is a mean, and is compared with a mean."""
    return _each(model, ids).median(dim=0).values


@mistake
def symbol_0_taken_for_padding(model: nn.Module, ids: Tensor) -> Tensor:
    """you count a guess of symbol 0 as a loss of 0, as if it were padding. Here it is a symbol like any other."""
    return torch.where(ids[:, 1:] == 0, 0.0, _each(model, ids)).mean(dim=0)


@mistake
def symbol_0_left_out(model: nn.Module, ids: Tensor) -> Tensor:
    """you left guesses of symbol 0 out of your mean, as if it were padding. (Where all are left out, the mean is 0/0,
    which is NaN.) Here it is a symbol like any other.
    """
    counts = ids[:, 1:] != 0
    return (_each(model, ids) * counts).sum(dim=0) / counts.sum(dim=0)


@mistake
def surprise_of_the_likeliest(model: nn.Module, ids: Tensor) -> Tensor:
    """this is the loss of the symbol that the model thinks likeliest. The loss of the symbol that came is wanted."""
    return -_from_logits(model, ids[:, :-1]).log_softmax(dim=-1).max(dim=-1).values.mean(dim=0)


@mistake
def entropy_of_the_guesses(model: nn.Module, ids: Tensor) -> Tensor:
    """this is the entropy of the model's guesses: how undecided it is, whatever came. A loss asks for the probability of the symbol
    that came."""
    log_p = _from_logits(model, ids[:, :-1]).log_softmax(dim=-1)
    return -(log_p.exp() * log_p).sum(dim=-1).mean(dim=0)


@mistake
def share_of_wrong_guesses(model: nn.Module, ids: Tensor) -> Tensor:
    """this is the share of guesses that were wrong. A loss asks how probable the right symbol was, and takes its logarithm."""
    logits = _from_logits(model, ids[:, :-1])
    return (logits.argmax(dim=-1) != ids[:, 1:]).to(logits).mean(dim=0)


@mistake
def single_precision(model: nn.Module, ids: Tensor) -> Tensor:
    """your loss is float32, whatever the logits are: `.float()` makes it so, and so does an empty tensor that is filled. The number
    type of the logits comes out."""
    return _each(model, ids).mean(dim=0).float()


@mistake
def double_precision(model: nn.Module, ids: Tensor) -> Tensor:
    """your loss is float64, whatever the logits are. The number type of the logits comes out."""
    return _each(model, ids).mean(dim=0).double()


@mistake
def targets_overwritten(model: nn.Module, ids: Tensor) -> Tensor:
    """you wrote into the caller's table of ids. A slice of a tensor shares its memory: what is changed in it is changed for everybody.
    Make a copy first, or do without."""
    loss = _each(model, ids).mean(dim=0)
    ids[:, 0] = -100
    return loss


@mistake
def one_target_for_all(model: nn.Module, ids: Tensor) -> Tensor:
    """every guess is compared with the last symbol of its text. Guess i is asked for symbol i + 1."""
    logits = _from_logits(model, ids[:, :-1])
    return cross_entropy(logits.transpose(1, 2), ids[:, -1:].expand(-1, logits.shape[1]), reduction="none").mean(dim=0)


@mistake
def shows_the_last_target_and_trains(model: nn.Module, ids: Tensor) -> Tensor:
    """two things. You gave the model all n + 1 symbols and dropped its last guess, so that guess number n - 1 had a future to look at;
    and you switched training mode on at the end, whatever it was before."""
    model.eval()
    with torch.no_grad():
        logits = model(ids)[:, :-1]
    model.train()
    return cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)


@mistake
def text_numbers_not_upright(model: nn.Module, ids: Tensor) -> Tensor:
    """you pick entries with one list of texts and one of positions. PyTorch lays both along the last axis, so that text k
    goes with position k. To pair every text with every position, the numbers of the texts have to stand upright, [b, 1]."""
    log_p = _from_logits(model, ids[:, :-1]).log_softmax(dim=-1)
    b, n = log_p.shape[:2]
    return -log_p[torch.arange(b), torch.arange(n), ids[:, 1:]].mean(dim=0)


@mistake
def an_axis_of_length_one_left(model: nn.Module, ids: Tensor) -> Tensor:
    """your result has an axis of length 1 too many, as `gather` leaves it: it gives back as many axes as it was given.
    Take its only entry.
    """
    log_p = _from_logits(model, ids[:, :-1]).log_softmax(dim=-1)
    return -log_p.gather(-1, ids[:, 1:, None]).mean(dim=0)


@mistake
def squeezes_every_axis(model: nn.Module, ids: Tensor) -> Tensor:
    """you took out every axis of length 1, as `squeeze` does without an axis: that of the texts too if there is one
    text, and that of the positions if there is one position. Say which axis you mean.
    """
    log_p = _from_logits(model, ids[:, :-1]).log_softmax(dim=-1)
    return -log_p.gather(-1, ids[:, 1:, None]).squeeze().mean(dim=0)


@mistake
def symbols_not_on_axis_one(model: nn.Module, ids: Tensor) -> Tensor:
    """PyTorch's cross-entropy looks for the symbols on axis 1, and in your logits that is the axis of the positions. (If
    there happen to be as many positions as symbols it even runs.) Exchange the two axes first."""
    logits = _from_logits(model, ids[:, :-1])
    return cross_entropy(logits, ids[:, 1:], reduction="none").mean(dim=0)


@mistake
def folds_where_it_should_turn(model: nn.Module, ids: Tensor) -> Tensor:
    """you got the symbols onto axis 1 by reshaping. Reshaping lays the same numbers in other rows, so that logits of
    different positions compete. To exchange two axes is another thing: transpose."""
    logits = _from_logits(model, ids[:, :-1])
    b, n, c = logits.shape
    return cross_entropy(logits.reshape(b, c, n), ids[:, 1:], reduction="none").mean(dim=0)


@mistake
def softmax_over_positions(model: nn.Module, ids: Tensor) -> Tensor:
    """your softmax runs over the positions, so that n guesses compete for one symbol. It is the symbols, the last axis,
    whose probabilities add up to 1."""
    logits = _from_logits(model, ids[:, :-1])
    return -logits.log_softmax(dim=1).gather(-1, ids[:, 1:, None])[..., 0].mean(dim=0)


@mistake
def softmax_over_texts(model: nn.Module, ids: Tensor) -> Tensor:
    """your softmax runs over the texts of the batch, which have nothing to do with each other. It is the symbols, the
    last axis, whose probabilities add up to 1."""
    logits = _from_logits(model, ids[:, :-1])
    return -logits.log_softmax(dim=0).gather(-1, ids[:, 1:, None])[..., 0].mean(dim=0)


@mistake
def sign_not_turned(model: nn.Module, ids: Tensor) -> Tensor:
    """your losses are negative: they are logarithms of probabilities, which are below 1. Turn the sign."""
    return -_each(model, ids).mean(dim=0)


@mistake
def probability_of_the_right_one(model: nn.Module, ids: Tensor) -> Tensor:
    """this is the mean probability of the right symbol. The loss is a logarithm of it, with the sign turned, and is
    taken of each guess before the mean."""
    return torch.exp(-_each(model, ids)).mean(dim=0)


@mistake
def averages_before_the_log(model: nn.Module, ids: Tensor) -> Tensor:
    """you averaged the probabilities and took the logarithm of their mean. That forgives a guess that is badly wrong;
    each guess has a loss of its own, and the losses are averaged."""
    return -torch.exp(-_each(model, ids)).mean(dim=0).log()


@mistake
def perplexity(model: nn.Module, ids: Tensor) -> Tensor:
    """this is e to the loss, which is called the perplexity. An entropy in nats is compared with the loss itself."""
    return torch.exp(_each(model, ids).mean(dim=0))


@mistake
def folds_texts_into_positions(model: nn.Module, ids: Tensor) -> Tensor:
    """you laid all losses in one row, text after text, and folded them back with the sizes exchanged. Then a column
    holds losses from different positions. They come back as [b, n], in the order in which they were laid."""
    each = _each(model, ids)
    b, n = each.shape
    return each.flatten().reshape(n, b).mean(dim=1)


@mistake
def starts_at_the_end(model: nn.Module, ids: Tensor) -> Tensor:
    """your positions run backwards. Entry 0 is the guess made after the first symbol."""
    return _each(model, ids).mean(dim=0).flip(0)


@mistake
def running_mean(model: nn.Module, ids: Tensor) -> Tensor:
    """entry i is the mean over all positions up to i. Each position should stand for itself."""
    each = _each(model, ids).mean(dim=0)
    return each.cumsum(0) / torch.arange(1, len(each) + 1).to(each)


@mistake
def a_numpy_array(model: nn.Module, ids: Tensor) -> np.ndarray:
    """the numbers are right, and they are a numpy array. From notebook 06 on results are tensors."""
    return np.asarray(_each(model, ids).mean(dim=0).numpy())


@mistake
def a_list(model: nn.Module, ids: Tensor) -> list[float]:
    """the numbers are right, and they are in a list. Return a tensor, so that the caller can calculate with it."""
    return list(_each(model, ids).mean(dim=0).tolist())


@right
def loss_by_gather(model: nn.Module, ids: Tensor) -> Tensor:
    was = model.training
    model.eval()
    with torch.no_grad():
        log_p = model(ids[:, :-1]).log_softmax(dim=-1)
    model.train(was)
    return -log_p.gather(-1, ids[:, 1:, None])[..., 0].mean(dim=0)


@right
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


@right
def loss_position_by_position(model: nn.Module, ids: Tensor) -> Tensor:
    if not model.training:
        return _decorated(model, ids)
    model.eval()
    result = _decorated(model, ids)
    model.train()
    return result


@right
def loss_detached(model: nn.Module, ids: Tensor) -> Tensor:
    modes = {part: part.training for part in model.modules()}
    model.eval()
    logits = model(ids[:, :-1]).detach()
    for part, mode in modes.items():
        part.training = mode
    return nll_loss(log_softmax(logits, 2).permute(0, 2, 1), ids[:, 1:], reduction="none").mean(0)


@right
def loss_text_by_text(model: nn.Module, ids: Tensor) -> Tensor:
    was = model.training
    model.eval()
    with torch.no_grad():
        rows = [cross_entropy(model(row[None, :-1])[0], row[1:], reduction="none") for row in ids]
    model.train(was)
    return torch.stack(rows).mean(dim=0)


@right
def loss_by_logsumexp(model: nn.Module, ids: Tensor) -> Tensor:
    was = model.training
    with torch.no_grad():
        logits = model.eval()(ids[:, :-1])
    model.train(was)
    b, n = logits.shape[:2]
    right = logits[torch.arange(b)[:, None], torch.arange(n), ids[:, 1:]]
    return (torch.logsumexp(logits, dim=-1) - right).mean(dim=0)
