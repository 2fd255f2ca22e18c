"""The mean cross-entropy of each guess with the word that follows.

Row i is the guess for word i + 1, so the last row of a text has no answer and its first word is nobody's: cut within
each text, n − 1 pairs remain. Without that shift the model would be paid for repeating what it reads. Softmax and
logarithm are taken together, less the largest logit, so a logit 20000 below the best costs 20000, where the logarithm
of a rounded probability would be −∞. The mean runs over all b·(n − 1) guesses, those of word 0 too, and dividing by n
would count words that nobody guessed.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from jaxtyping import Float, Int

from autograder.exercises.block.parts import drawn_ids
from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, misses_the_idea, mistake, probe, right, right_to_seven_digits
from autograder.exercises.parts import row_softmax
from course.trial.values import with_layout


def next_token_loss(logits: Float[np.ndarray, "b n c"], ids: Int[np.ndarray, "b n"]) -> float:
    """The mean over all places but the last of log sum exp(logits) less the logit of the word that follows."""
    b, n, c = logits.shape
    losses = []
    for item in range(b):
        for i in range(n - 1):
            row = [float(logits[item, i, word]) for word in range(c)]
            top = max(row)
            total = math.fsum(math.exp(score - top) for score in row)
            losses.append(math.log(total) + (top - row[ids[item, i + 1]]))
    return math.fsum(losses) / len(losses)


def _any_guesses(b: int, n: int, c: int, dtype: type = np.int64, scale: float = 2.0) -> Case:
    """Public guesses that look like nothing in particular; the word 0 is among the answers."""
    rng = np.random.default_rng(c)
    ids: F = drawn_ids(rng, b, n, c).astype(dtype)
    ids[0, 2] = 0
    return case(np.round(normal(rng, b, n, c, scale=scale), 2), ids)


PUBLIC = (
    case(np.array([[[0.0, 2.0], [1.0, 1.0]]]), np.array([[0, 1]])),
    case(
        np.array([[[2.0, 0.0, 1.0], [0.0, 1.0, 1.0]]]), np.array([[2, 0]])
    ),  # no two sizes equal, and the answer is word 0
    case(np.array([[[0.0, 2.0], [3.0, 1.0], [1.5, 0.0]]]), np.array([[0, 1, 0]])),
    case(
        np.array([[[0.0, 2.0, -1.0], [1.0, -1.0, 0.5], [2.0, 0.0, -2.0], [1.0, 0.5, 0.0]]]),
        np.array([[2, 1, 0, 0]]),
    ),
    case(
        np.array(
            [
                [[0.0, 1.0, -1.0], [2.0, 0.5, 0.0], [0.0, -1.0, 1.0], [1.0, 0.0, 3.0]],
                [[1.5, 0.0, 0.5], [-0.5, 1.0, 2.0], [1.0, 0.0, 2.0], [0.5, 2.0, 0.0]],
            ]
        ),  # 2 texts, and 3 guesses in each: an axis too many cannot hide
        np.array([[2, 0, 1, 1], [1, 2, 0, 0]]),
    ),
    case(np.array([[[10_000.0, 9_999.0], [-10_000.0, 10_000.0], [3.0, 0.0]]]), np.array([[0, 1, 0]])),
    case(np.array([[[-10_000.0, -9_999.0], [10_000.0, 9_998.0], [0.0, 0.0]]]), np.array([[1, 0, 1]])),
    # far below 0 in every row; and a word that the model had all but ruled out
    case(np.array([[[-400.0, -401.0], [-400.5, -400.0], [-410.0, -402.0]]]), np.array([[1, 0, 1]])),
    case(np.array([[[-9_000.0, -9_001.0], [-9_000.5, -9_000.0], [-9_010.0, -9_002.0]]]), np.array([[1, 0, 1]])),
    case(np.array([[[720.0, 0.0, 719.0], [3.0, 2.0, 1.0]]]), np.array([[0, 1]])),
    case(np.array([[[3_000.0, 2_999.0, 1.0], [3.0, 2.0, 1.0]]]), np.array([[1, 0]])),  # sure, and right
    _any_guesses(3, 6, 4),  # another number of guesses than of words
    _any_guesses(2, 4, 6, np.int32),
    _any_guesses(2, 5, 4, scale=2000.0),
)


def _sizes(rng: np.random.Generator, high: int) -> list[int]:
    """b, n and c. Neither b = n - 1 nor n = b - 1: with one guess for each text an axis too many would not show."""
    while True:
        b, n, c = sizes(rng, 3, 3, high)
        if abs(b - n) > 1:
            return [b, n, c]


def _texts(rng: np.random.Generator, b: int, n: int, c: int) -> F:
    """b texts of n words, with the word 0 among the answers."""
    ids = drawn_ids(rng, b, n, c)
    ids[-1, 1] = 0
    return ids


def _guesses(rng: np.random.Generator, b: int, n: int, c: int, order: str = "C") -> F:
    """Logits that rule no word out. Each has a probability of 1/3000 or more, so that a billionth added to it leaves the loss right to
    seven digits, in every draw: what is wrong with that shows in huge logits."""
    return with_layout(rng.uniform(-3.0, 3.0, (b, n, c)), order)


def _ruled_out(rng: np.random.Generator, b: int, n: int, c: int) -> Case:
    """Logits of 10000 and -10000. One answer at least has a probability that rounds to 0, whether softmax runs over words, places or texts."""
    ids = _texts(rng, b, n, c)
    signs = rng.choice([-1.0, 1.0], (b, n, c))
    word = ids[0, 1]
    signs[0, 0, word - 1] = signs[0, 1, word] = signs[1, 0, word] = 1.0
    signs[0, 0, word] = -1.0
    return case(1e4 * signs + normal(rng, b, n, c), ids)


def _far_below(rng: np.random.Generator, b: int, n: int, c: int) -> Case:
    """Every row far below 0. The word that follows has a little more, which float32 would lose."""
    ids = _texts(rng, b, n, c)
    rounded = (normal(rng, b, n, c) - 8e3).astype(np.float32).astype(np.float64)
    return case(rounded + 1e-4 * np.eye(c)[np.roll(ids, -1, axis=1)], ids)


@probe(1.25)
def guessed_words(rng: np.random.Generator) -> list[Case]:
    """each row against the word that follows, the mean over all that have one"""
    b, n, c = _sizes(rng, 8)
    return [
        case(_guesses(rng, b, n, c), _texts(rng, b, n, c)),
        case(1.0 + _guesses(rng, n, b, c), _texts(rng, n, b, c)),
    ]


@probe(0.5)
def even_and_peaked(rng: np.random.Generator) -> list[Case]:
    """even logits, which cost log c, and logits that favour one word"""
    # Even logits, whose loss is log c; logits that favour the next word; and logits that favour the word shown.
    b, n, c = _sizes(rng, 8)
    while True:
        ids = np.cumsum(rng.integers(1, c, (b, n)), axis=1) % c  # no word is followed by itself
        if (ids[:, 0] != ids[:, -1]).all() and (ids[:, 1:] == 0).any():
            break
    how_much = rng.permutation(np.linspace(2.0, 6.0, b * n)).reshape(b, n, 1)  # another amount for each guess
    following, shown = how_much * np.eye(c)[np.roll(ids, -1, axis=1)], how_much * np.eye(c)[ids]
    return [case(np.full((b, n, c), 7.0), ids), case(following, ids), case(shown, ids)]


@probe(0.75)
def huge_logits(rng: np.random.Generator) -> list[Case]:
    """logits of 10000 and -10000, also where all of a text are negative"""
    b, n, c = _sizes(rng, 6)
    raised = normal(rng, b, n, c, scale=2.0)
    raised[0] += 1e4
    unlikely = normal(rng, b, n, c)
    unlikely[..., 0] += 730.0
    sure = normal(rng, b, n, c)
    sure[..., :2] += 3000.0
    return [
        _ruled_out(rng, b, n, c),
        case(raised, _texts(rng, b, n, c)),
        case(raised - 1e4, _texts(rng, b, n, c)),
        _far_below(rng, b, n, c),
        case(normal(rng, b, n, c) - 400.0, _texts(rng, b, n, c)),
        case(unlikely, rng.integers(1, c, (b, n))),  # between overflow and underflow
        case(sure, np.zeros((b, n), np.int64)),  # of two words, and right
    ]


@probe(0.5, strict=True)
def losses_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """two words, one text, all sizes equal, arrays that are not contiguous"""
    b, n, c = _sizes(rng, 6)
    return [
        case(_guesses(rng, 1, 2, c), _texts(rng, 1, 2, c)),
        case(_guesses(rng, b, 2, c), _texts(rng, b, 2, c)),
        case(_guesses(rng, n, n, n), _texts(rng, n, n, n)),
        case(_guesses(rng, b, n, c, order="strided"), _texts(rng, b, n, c).astype(np.int32)),
    ]


def _logs(logits: F, axis: int = -1) -> F:
    shifted = logits - logits.max(axis=axis, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True)))


def _softmax(logits: F, axis: int = -1) -> F:
    E = np.exp(logits - logits.max(axis=axis, keepdims=True))
    return np.asarray(E / E.sum(axis=axis, keepdims=True))


def _of_the_answers(scores: F, answers: F) -> F:
    return np.take_along_axis(scores, answers[..., None], axis=-1)[..., 0]


@misses_the_idea
def no_shift(logits: F, ids: F) -> float:
    """you compared row i with word i, which is the word that the model was shown there. Row i is the guess for word
    i + 1."""
    return float(-_of_the_answers(_logs(logits), ids).mean())


@mistake
def no_shift_and_one_less(logits: F, ids: F) -> float:
    """you left the last row out, and compared row i with word i all the same, which is the word that the model was shown
    there. Row i is the guess for word i + 1."""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids[:, :-1]).mean())


@mistake
def no_shift_and_no_first(logits: F, ids: F) -> float:
    """you cut both at the front, so row i is still compared with word i, which is the word that the model was shown there.
    Row i is the guess for word i + 1: cut the logits at their end."""
    return float(-_of_the_answers(_logs(logits[:, 1:]), ids[:, 1:]).mean())


@mistake
def ids_not_cut(logits: F, ids: F) -> float:
    """you left the last row of the logits out, and kept all words. There are n - 1 guesses in a text of n words, and so
    there have to be n - 1 answers: which word is nobody's answer?"""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids).mean())


@mistake
def logits_not_cut(logits: F, ids: F) -> float:
    """you left the first word out, and kept all rows of the logits. There are n - 1 answers in a text of n words, and so
    there have to be n - 1 guesses: which row has no answer?"""
    return float(-_of_the_answers(_logs(logits), ids[:, 1:]).mean())


@misses_the_idea
def shifts_the_wrong_way(logits: F, ids: F) -> float:
    """you compared row i + 1 with word i, which lies in the past: the model has read it already. Row i is the guess for
    word i + 1."""
    return float(-_of_the_answers(_logs(logits[:, 1:]), ids[:, :-1]).mean())


@misses_the_idea
def no_shift_in_logarithms_of_softmax(logits: F, ids: F) -> float:
    """you compared row i with word i, which the model was shown there: row i is the guess for word i + 1. And a probability that is
    rounded to 0 has the logarithm -inf: take logarithms before you would divide."""
    with np.errstate(divide="ignore"):
        return float(-np.log(_of_the_answers(_softmax(logits), ids)).mean())


@misses_the_idea
def shifts_the_wrong_way_in_logarithms_of_softmax(logits: F, ids: F) -> float:
    """you compared row i + 1 with word i, which the model has read already: row i is the guess for word i + 1. And a probability that
    is rounded to 0 has the logarithm -inf: take logarithms before you would divide."""
    with np.errstate(divide="ignore"):
        return float(-np.log(_of_the_answers(_softmax(logits[:, 1:]), ids[:, :-1])).mean())


@mistake
def wraps_around(logits: F, ids: F) -> float:
    """you compared the last row with the first word of the text: rolling brings it round. For the last row there is no
    next word, and it has to stay out."""
    return float(-_of_the_answers(_logs(logits), np.roll(ids, -1, axis=1)).mean())


@mistake
def joins_the_texts_first(logits: F, ids: F) -> float:
    """you made one long text of all texts before shifting. So the last row of a text is compared with the first word of the next.
    Shift within each text, and join them afterwards. With one text alone you would not notice."""
    rows, words = logits.reshape(-1, logits.shape[-1]), ids.ravel()
    return float(-_of_the_answers(_logs(rows[:-1]), words[1:]).mean())


@mistake
def rolls_all_texts_at_once(logits: F, ids: F) -> float:
    """you rolled all words of all texts in one row (np.roll does, without an axis), and compared the last row of each text too:
    with the first word of the next. For the last row of a text there is no next word, and it has to stay out."""
    return float(-_of_the_answers(_logs(logits), np.roll(ids, -1)).mean())


@mistake
def word_zero_does_not_count(logits: F, ids: F) -> float:
    """you left out the guesses whose answer is word 0, as if its place were empty. (Where no guess is left, their mean
    is 0/0, which is NaN.) Here id 0 is a word like any other.
    """
    losses = -_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:])
    counted = ids[:, 1:] != 0
    with np.errstate(invalid="ignore"):
        return float(np.float64(losses[counted].sum()) / counted.sum())


@mistake
def word_zero_does_not_count_nor_fail(logits: F, ids: F) -> float:
    """you left out the guesses whose answer is word 0, as if its place were empty, and a text with no others costs 0. Here id 0 is a word
    like any other."""
    losses = -_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:])
    counted = ids[:, 1:] != 0
    return float(losses[counted].sum() / max(counted.sum(), 1))


@mistake
def word_zero_costs_nothing(logits: F, ids: F) -> float:
    """you set the loss to 0 where the answer is word 0, as if its place were empty. Here id 0 is a word like any other."""
    losses = -_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:])
    return float(np.where(ids[:, 1:] == 0, 0, losses).mean())


@mistake
def two_ahead(logits: F, ids: F) -> float:
    """you shifted twice: row i is compared with word i + 2. (In a text of two words nothing is left then, and the mean
    of nothing is NaN.) Row i is the guess for word i + 1.
    """
    return float(-_of_the_answers(_logs(logits[:, :-2]), ids[:, 2:]).mean())


@mistake
def most_likely_for_the_answer(logits: F, ids: F) -> float:
    """you took the probability of the most likely word. The loss asks for the word that did come: ids says which it is."""
    return float(-_logs(logits[:, :-1]).max(axis=-1).mean())


@mistake
def last_guess_left_out(logits: F, ids: F) -> float:
    """you left the last guess of each text out as well. (In a text of two words nothing is left then, and the mean of
    nothing is NaN.) A text of n words has n - 1 guesses: row n - 2 is held against word n - 1.
    """
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of no losses there is no mean
        return float(-_of_the_answers(_logs(logits[:, :-2]), ids[:, 1:-1]).mean())


@mistake
def sums_the_losses(logits: F, ids: F) -> float:
    """you added the losses up. Their mean is asked for, or else longer texts would look worse."""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).sum())


@mistake
def divides_by_texts(logits: F, ids: F) -> float:
    """you divided by the number of texts, so this is the loss of a whole text. The mean over all words that had to be
    guessed is asked for."""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).sum() / len(ids))


@mistake
def divides_by_guesses_in_a_text(logits: F, ids: F) -> float:
    """you divided by the number of guesses in one text, n - 1, and there are b texts."""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).sum() / (ids.shape[1] - 1))


@mistake
def divides_by_all_words(logits: F, ids: F) -> float:
    """you divided by the number of words. The first word of a text is never guessed: a text of n words has n - 1
    guesses."""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).sum() / ids.size)


@mistake
def averages_over_the_vocabulary(logits: F, ids: F) -> float:
    """you divided by the size of the vocabulary as well: somewhere a mean is taken over all c words of a row. A row is
    one guess, and has one loss.
    """
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).mean() / logits.shape[-1])


@mistake
def divides_by_the_guesses_twice(logits: F, ids: F) -> float:
    """you divided by the n - 1 guesses of a text twice: a mean over them has been divided by their number already."""
    losses = -_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:])
    return float(losses.mean() / losses.shape[1])


@mistake
def multiplies_by_the_guesses(logits: F, ids: F) -> float:
    """you divided by the texts and multiplied by the n - 1 guesses of each: `/ b * (n - 1)` goes from left to right. Both
    belong under the line, in brackets."""
    losses = -_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:])
    return float(losses.sum() / len(losses) * losses.shape[1])


@mistake
def softmax_twice(logits: F, ids: F) -> float:
    """you took softmax twice. The second one sees numbers between 0 and 1, which are all alike to it, and even a model
    that is sure and right gets a loss."""
    return float(-_of_the_answers(_logs(row_softmax(logits[:, :-1])), ids[:, 1:]).mean())


@misses_the_idea
def no_softmax(logits: F, ids: F) -> float:
    """you averaged the logits of the right words as they are. Logits say nothing by themselves, only compared with those
    of the other words: softmax compares them."""
    return float(-_of_the_answers(logits[:, :-1], ids[:, 1:]).mean())


@mistake
def log_of_logits(logits: F, ids: F) -> float:
    """you took the logarithm of the logits, as if they were probabilities. They are scores, and may be negative: softmax
    makes probabilities of them."""
    with np.errstate(all="ignore"):
        return float(-np.log(_of_the_answers(logits[:, :-1], ids[:, 1:])).mean())


@misses_the_idea
def softmax_over_places(logits: F, ids: F) -> float:
    """your softmax runs over the places of the text. The words of the vocabulary compete, and they lie on the last axis."""
    return float(-_of_the_answers(_logs(logits, 1)[:, :-1], ids[:, 1:]).mean())


@mistake
def softmax_over_cut_places(logits: F, ids: F) -> float:
    """your softmax runs over axis 1, the places of the text. The words of the vocabulary compete, and they lie on the last
    axis."""
    return float(-_of_the_answers(_logs(logits[:, :-1], 1), ids[:, 1:]).mean())


@mistake
def logarithm_of_softmax_over_places(logits: F, ids: F) -> float:
    """your softmax runs over axis 1, the places of the text. The words of the vocabulary compete, and they lie on the
    last axis. (And where a probability is rounded to 0, its logarithm is -∞: take the logarithm on paper first.)
    """
    with np.errstate(divide="ignore"):
        return float(-np.log(_of_the_answers(_softmax(logits, 1)[:, :-1], ids[:, 1:])).mean())


@mistake
def logarithm_of_softmax_over_cut_places(logits: F, ids: F) -> float:
    """your softmax runs over axis 1, the places of the text. The words of the vocabulary compete, and they lie on the
    last axis. (And where a probability is rounded to 0, its logarithm is -∞: take the logarithm on paper first.)
    """
    with np.errstate(divide="ignore"):
        return float(-np.log(_of_the_answers(_softmax(logits[:, :-1], 1), ids[:, 1:])).mean())


@mistake
def softmax_over_texts(logits: F, ids: F) -> float:
    """your softmax runs over axis 0, the texts. The words of the vocabulary compete, and they lie on the last axis."""
    return float(-_of_the_answers(_logs(logits[:, :-1], 0), ids[:, 1:]).mean())


@mistake
def logarithm_of_softmax_over_texts(logits: F, ids: F) -> float:
    """your softmax runs over axis 0, the texts. The words of the vocabulary compete, and they lie on the last axis.
    (And where a probability is rounded to 0, its logarithm is -∞: take the logarithm on paper first.)
    """
    with np.errstate(divide="ignore"):
        return float(-np.log(_of_the_answers(_softmax(logits[:, :-1], 0), ids[:, 1:])).mean())


@mistake
def sum_over_the_places(logits: F, ids: F) -> float:
    """your maxima are those of the words, and your sums run over axis 1, the places of the text. The words of the vocabulary
    compete, and they lie on the last axis: both run along it."""
    shifted = logits[:, :-1] - logits[:, :-1].max(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return float(-_of_the_answers(logs, ids[:, 1:]).mean())


@mistake
def sign_left_out(logits: F, ids: F) -> float:
    """your loss is negative. The logarithm of a probability is, and a loss is what you want to get small: turn the sign."""
    return float(_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).mean())


@mistake
def in_bits(logits: F, ids: F) -> float:
    """this is the loss in bits. In nats the logarithm is the natural one, np.log."""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).mean() / math.log(2))


@mistake
def averages_probabilities(logits: F, ids: F) -> float:
    """you averaged the probabilities first and took the logarithm of the mean. Each guess has a loss of its own, and the
    mean is taken of those: a single sure mistake should hurt."""
    with np.errstate(all="ignore"):
        return float(-np.log(_of_the_answers(row_softmax(logits[:, :-1]), ids[:, 1:]).mean()))


@mistake
def no_logarithm(logits: F, ids: F) -> float:
    """you took one less the probability of the right word. The loss is minus its logarithm, which has no upper limit."""
    return float(1 - _of_the_answers(row_softmax(logits[:, :-1]), ids[:, 1:]).mean())


@mistake
def minus_the_probability(logits: F, ids: F) -> float:
    """you took minus the probability of the right word. The loss is minus its *logarithm*, which has no upper limit."""
    return float(-_of_the_answers(row_softmax(logits[:, :-1]), ids[:, 1:]).mean())


@mistake
def in_powers_of_ten(logits: F, ids: F) -> float:
    """you took the logarithm to the base 10. In nats it is the natural one, np.log."""
    return float(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).mean() / math.log(10))


@mistake
def squared_differences(logits: F, ids: F) -> float:
    """you squared differences: the probabilities less 1 for the right word and 0 for all others. The loss is minus the
    logarithm of the right word's probability.
    """
    rows = row_softmax(logits[:, :-1])
    return float(((rows - np.eye(logits.shape[-1])[ids[:, 1:]]) ** 2).sum(axis=-1).mean())


@mistake
def wins_and_losses(logits: F, ids: F) -> float:
    """you counted how often the largest logit is not that of the right word. The loss asks how *probable* the right word was."""
    return float((logits[:, :-1].argmax(axis=-1) != ids[:, 1:]).mean())


@mistake
def entropy_of_the_guesses(logits: F, ids: F) -> float:
    """you weighed each logarithm with its own probability. That is the entropy of a guess, and says how unsure it was; the word that
    did come takes no part in it. Pick the logarithm of that word."""
    logs = _logs(logits[:, :-1])
    return float(-(np.exp(logs) * logs).sum(axis=-1).mean())


@right_to_seven_digits
def loss_in_float32(logits: F, ids: F) -> float:
    """your number has seven right digits, and float64 has sixteen: somewhere it went through float32."""
    logs = _logs(logits[:, :-1].astype(np.float32))
    return float(-_of_the_answers(logs, ids[:, 1:]).mean(dtype=np.float32))


@mistake
def perplexity(logits: F, ids: F) -> float:
    """you raised e to the loss. That is called perplexity: how many words one might as well choose among. The loss itself
    is asked for."""
    with np.errstate(all="ignore"):
        return float(np.exp(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).mean()))


@mistake
def exponentials_overflow(logits: F, ids: F) -> float:
    """you took exponentials of the logits as they are. e to the 10000 is infinite. Only differences count, so subtract
    the largest first, as in softmax."""
    E = np.exp(logits[:, :-1])
    return float(-np.log(_of_the_answers(E / E.sum(axis=-1, keepdims=True), ids[:, 1:])).mean())


@mistake
def sum_overflows(logits: F, ids: F) -> float:
    """you took the logarithm on paper, and then exponentials of the logits as they are. e to the 10000 is infinite, and e
    to the -10000 is 0. Take a row's largest logit off all its logits first: the loss stays what it is."""
    rows, answers = logits[:, :-1], ids[:, 1:]
    return float((np.log(np.exp(rows).sum(axis=-1)) - _of_the_answers(rows, answers)).mean())


@mistake
def relative_to_the_answer(logits: F, ids: F) -> float:
    """you subtracted the logit of the right word inside the exponentials. On paper that is right. Where another word is more likely
    by 710 or more, e to the difference is infinite. Subtract the largest logit, and what is raised is never above 0."""
    rows, answers = logits[:, :-1], ids[:, 1:]
    with np.errstate(over="ignore"):
        relative = np.exp(rows - _of_the_answers(rows, answers)[..., None])
        return float(np.log(relative.sum(axis=-1)).mean())


@mistake
def maximum_of_zero_or_more(logits: F, ids: F) -> float:
    """your largest logit is never below 0: somewhere a maximum starts from 0. Where all logits of a row lie far below,
    all their exponentials become 0, and the logarithm of 0 is -∞. Subtract the largest logit, also where it is
    negative.
    """
    shifted = logits[:, :-1] - logits[:, :-1].max(axis=-1, keepdims=True, initial=0)
    with np.errstate(divide="ignore"):
        logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return float(-_of_the_answers(logs, ids[:, 1:]).mean())


@mistake
def largest_magnitude(logits: F, ids: F) -> float:
    """you subtracted the largest absolute value of each row. If it belongs to a negative logit, it brings all of them
    further down, until their exponentials are 0, whose logarithm is -∞. Subtract the largest logit itself.
    """
    shifted = logits[:, :-1] - np.abs(logits[:, :-1]).max(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return float(-_of_the_answers(logs, ids[:, 1:]).mean())


@mistake
def mean_as_the_shift(logits: F, ids: F) -> float:
    """you subtracted the mean of each row before taking exponentials. A logit may lie more than 710 above that mean, and then
    e to it is infinite. Subtract the largest logit."""
    shifted = logits[:, :-1] - logits[:, :-1].mean(axis=-1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return float(-_of_the_answers(logs, ids[:, 1:]).mean())


@mistake
def smallest_as_the_shift(logits: F, ids: F) -> float:
    """you subtracted the *smallest* logit of each row. All that is left is 0 or more, and e to it is soon infinite.
    Subtract the largest.
    """
    shifted = logits[:, :-1] - logits[:, :-1].min(axis=-1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return float(-_of_the_answers(logs, ids[:, 1:]).mean())


@mistake
def clipped_logits(logits: F, ids: F) -> float:
    """you cut large logits off before taking exponentials. It keeps the loss finite, and wrong: a mistake may cost only so much,
    however sure the model was. Subtract the largest logit of the row instead, and none has to be cut off."""
    return float(-_of_the_answers(_logs(np.clip(logits[:, :-1], -700, 700)), ids[:, 1:]).mean())


@mistake
def logits_within_fifty(logits: F, ids: F) -> float:
    """you cut logits off at 50 or so before taking exponentials. It keeps the loss finite, and wrong. Subtract the largest logit of
    the row instead, and none has to be cut off."""
    return float(-_of_the_answers(_logs(np.clip(logits[:, :-1], -50, 50)), ids[:, 1:]).mean())


@mistake
def maximum_not_given_back(logits: F, ids: F) -> float:
    """you subtracted the largest logit m inside the sum, and not from the logit of the right word. Taking m off the one
    alone changes the loss by m."""
    rows, answers = logits[:, :-1], ids[:, 1:]
    sums = np.exp(rows - rows.max(axis=-1, keepdims=True)).sum(axis=-1)
    return float((np.log(sums) - _of_the_answers(rows, answers)).mean())


@mistake
def maximum_with_the_wrong_sign(logits: F, ids: F) -> float:
    """you subtracted the largest logit m inside the sum, and once more outside. Outside it has to be given back: log of the
    sum of e to the s - m is m too small."""
    rows, answers = logits[:, :-1], ids[:, 1:]
    top = rows.max(axis=-1, keepdims=True)
    sums = np.log(np.exp(rows - top).sum(axis=-1)) - top[..., 0]
    return float((sums - _of_the_answers(rows, answers)).mean())


@mistake
def logarithm_of_zero(logits: F, ids: F) -> float:
    """you made probabilities first and took their logarithm. One that is too small for a computer became 0 on the way,
    and its loss is infinite. Take the logarithm on paper first: then the right word's logit is never put into an
    exponential.
    """
    with np.errstate(divide="ignore"):
        return float(-np.log(_of_the_answers(row_softmax(logits[:, :-1]), ids[:, 1:])).mean())


@mistake
def a_little_added(logits: F, ids: F) -> float:
    """you added a small number to the probabilities before the logarithm. It keeps the loss finite, and wrong: whatever
    is below that number counts as that number. Take the logarithm on paper first instead."""
    return float(-np.log(_of_the_answers(row_softmax(logits[:, :-1]), ids[:, 1:]) + 1e-9).mean())


@mistake
def clipped_probabilities(logits: F, ids: F) -> float:
    """you kept the probabilities from falling below a tiny number, or added one to them. It keeps the loss finite, and wrong: a
    mistake may cost only so much, however sure the model was. Take the logarithm on paper first instead."""
    return float(-np.log(np.maximum(_of_the_answers(row_softmax(logits[:, :-1]), ids[:, 1:]), 1e-12)).mean())


@mistake
def probabilities_above_the_smallest(logits: F, ids: F) -> float:
    """you kept the probabilities a tiny bit above 0. It keeps the loss finite, and wrong: a mistake may cost only so much,
    however sure the model was. Take the logarithm on paper first instead."""
    return float(-np.log(np.maximum(_of_the_answers(row_softmax(logits[:, :-1]), ids[:, 1:]), 1e-300)).mean())


@mistake
def probabilities_above_ten_to_the_minus_15(logits: F, ids: F) -> float:
    """you kept the probabilities from falling below a tiny number, about 1e-15, or added one to them. It keeps the loss finite, and
    wrong: a mistake may cost only so much. Take the logarithm on paper first instead."""
    return float(-np.log(np.maximum(_of_the_answers(row_softmax(logits[:, :-1]), ids[:, 1:]), 1e-15)).mean())


@mistake
def probabilities_above_ten_to_the_minus_10(logits: F, ids: F) -> float:
    """you kept the probabilities from falling below a tiny number, about 1e-10, or added one to them. It keeps the loss finite, and
    wrong: a mistake may cost only so much. Take the logarithm on paper first instead."""
    return float(-np.log(np.maximum(_of_the_answers(row_softmax(logits[:, :-1]), ids[:, 1:]), 1e-10)).mean())


@mistake
def probabilities_above_ten_to_the_minus_9(logits: F, ids: F) -> float:
    """you kept the probabilities from falling below a small number, 1e-9. It keeps the loss finite, and wrong: a mistake may cost only
    so much. Take the logarithm on paper first instead."""
    return float(-np.log(np.maximum(_of_the_answers(row_softmax(logits[:, :-1]), ids[:, 1:]), 1e-9)).mean())


@mistake
def probabilities_above_ten_to_the_minus_8(logits: F, ids: F) -> float:
    """you kept the probabilities from falling below a small number, 1e-8. It keeps the loss finite, and wrong: a mistake may cost only
    so much. Take the logarithm on paper first instead."""
    return float(-np.log(np.maximum(_of_the_answers(row_softmax(logits[:, :-1]), ids[:, 1:]), 1e-8)).mean())


@mistake
def probabilities_above_ten_to_the_minus_7(logits: F, ids: F) -> float:
    """you kept the probabilities from falling below a small number, 1e-7. It keeps the loss finite, and wrong: a mistake may cost only
    so much. Take the logarithm on paper first instead."""
    return float(-np.log(np.maximum(_of_the_answers(row_softmax(logits[:, :-1]), ids[:, 1:]), 1e-7)).mean())


@mistake
def ten_to_the_minus_6_added(logits: F, ids: F) -> float:
    """you added a small number, 1e-6, to the probabilities before the logarithm. It keeps the loss finite, and wrong. Take the
    logarithm on paper first instead."""
    return float(-np.log(_of_the_answers(row_softmax(logits[:, :-1]), ids[:, 1:]) + 1e-6).mean())


@mistake
def global_maximum(logits: F, ids: F) -> float:
    """you subtracted the largest logit of the whole array. In a row that lies far below it all exponentials become 0,
    and the logarithm of 0 is -∞. Each row has its own maximum.
    """
    shifted = logits[:, :-1] - logits.max()
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return float(-_of_the_answers(logs, ids[:, 1:]).mean())


@mistake
def crosses_the_batch(logits: F, ids: F) -> float:
    """your index crosses the texts: every text's rows are compared with every text's words. With one text alone you would
    not notice. An index for the places alone leaves the axis of the texts as a slice; give all three axes an index."""
    n = ids.shape[1]
    return float(-_logs(logits[:, :-1])[:, np.arange(n - 1), ids[:, 1:]].mean())


@mistake
def every_row_with_every_answer(logits: F, ids: F) -> float:
    """your index takes from every row the entries of all answers, of all places and all texts. A row has one answer, its
    own: with the answers, the number of the text and the number of the place have to go along."""
    return float(-_logs(logits[:, :-1])[..., ids[:, 1:]].mean())


@mistake
def answers_for_texts(logits: F, ids: F) -> float:
    """your answers stand in front in the square brackets, where the number of the text belongs. They are words, and words
    lie on the last axis."""
    return float(-_logs(logits[:, :-1])[ids[:, 1:]].mean())


@mistake
def answers_for_places(logits: F, ids: F) -> float:
    """your answers stand second in the square brackets, where the number of the place belongs. They are words, and words
    lie on the last axis."""
    return float(-_logs(logits[:, :-1])[:, ids[:, 1:]].mean())


@mistake
def indices_lie_flat(logits: F, ids: F) -> float:
    """you indexed with [b] numbers of texts beside [n - 1] numbers of places. Indices side by side are lined up from the right, like the
    terms of a sum. Every text is to meet every place: which axis do the numbers of the texts lack?"""
    b, n = ids.shape
    return float(-_logs(logits[:, :-1])[np.arange(b), np.arange(n - 1), ids[:, 1:]].mean())


@mistake
def picked_keeps_an_axis(logits: F, ids: F) -> float:
    """in your last subtraction one array is [b, n - 1] and the other [b, n - 1, 1], as take_along_axis and keepdims leave it. NumPy then
    lines up texts with places; one text alone does not show it. Keep that axis in both, or in neither."""
    rows, answers = logits[:, :-1], ids[:, 1:]
    top = rows.max(axis=-1)
    sums = top + np.log(np.exp(rows - top[..., None]).sum(axis=-1))
    return float((sums - np.take_along_axis(rows, answers[..., None], axis=-1)).mean())


@mistake
def sum_keeps_an_axis(logits: F, ids: F) -> float:
    """in your last subtraction one array is [b, n - 1, 1], as keepdims and take_along_axis leave it, and the other [b, n - 1]. NumPy then
    lines up places with texts; one text alone does not show it. Keep that axis in both, or in neither."""
    rows, answers = logits[:, :-1], ids[:, 1:]
    top = rows.max(axis=-1, keepdims=True)
    sums = top + np.log(np.exp(rows - top).sum(axis=-1, keepdims=True))
    return float((sums - _of_the_answers(rows, answers)).mean())


@mistake
def maxima_lie_flat(logits: F, ids: F) -> float:
    """your maxima and your sums have lost their last axis, so NumPy lines up places with words. Each belongs to a whole
    row of c logits: keep the axis."""
    rows = logits[:, :-1]
    shifted = rows - rows.max(axis=-1)
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1))
    return float(-_of_the_answers(logs, ids[:, 1:]).mean())


@mistake
def sums_lie_flat(logits: F, ids: F) -> float:
    """your sums have lost their last axis, so NumPy lines up places with words. Each belongs to a whole row of c logits:
    keep the axis."""
    rows = logits[:, :-1]
    shifted = rows - rows.max(axis=-1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1))
    return float(-_of_the_answers(logs, ids[:, 1:]).mean())


@mistake
def first_text_only(logits: F, ids: F) -> float:
    """this is the loss of the first text alone."""
    return float(-_of_the_answers(_logs(logits[:1, :-1]), ids[:1, 1:]).mean())


@mistake
def only_the_last_guess(logits: F, ids: F) -> float:
    """this is the loss of the last guess of each text alone. Every place but the last of a text has a next word, and all
    of them count."""
    return float(-_of_the_answers(_logs(logits[:, -2:-1]), ids[:, -1:]).mean())


@mistake
def one_loss_for_each_guess(logits: F, ids: F) -> F:
    """you returned the losses of all guesses. One number is asked for, their mean."""
    return np.asarray(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]))


@mistake
def one_loss_for_each_text(logits: F, ids: F) -> F:
    """you returned a loss for each text. One number is asked for, the mean over the guesses of all texts."""
    return np.asarray(-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).mean(axis=1))


@mistake
def loss_in_a_list(logits: F, ids: F) -> F:
    """your loss is an array of one number. Return the number itself."""
    return np.asarray([-_of_the_answers(_logs(logits[:, :-1]), ids[:, 1:]).mean()])


@right
def loss_by_indices(logits: F, ids: F) -> float:
    b, n, _ = logits.shape
    top = logits.max(axis=-1)
    partition = top + np.log(np.exp(logits - top[..., None]).sum(axis=-1))
    item, place = np.arange(b)[:, None], np.arange(n - 1)[None, :]
    return float((partition[:, :-1] - logits[item, place, ids[:, 1:]]).mean())


@right
def loss_by_logaddexp(logits: F, ids: F) -> float:
    rows, answers = logits[:, :-1].reshape(-1, logits.shape[-1]), ids[:, 1:].ravel()
    return float(np.mean(np.logaddexp.reduce(rows, axis=1) - rows[np.arange(len(rows)), answers]))


@right
def loss_by_one_hot(logits: F, ids: F) -> float:
    b, n, c = logits.shape
    chosen = np.eye(c)[ids[:, 1:]] * _logs(logits[:, :-1])
    return float(-chosen.sum() / (b * (n - 1)))


@right
def loss_by_loops(logits: F, ids: F) -> float:
    losses = []
    for rows, text in zip(logits, ids, strict=True):
        for row, answer in zip(rows[:-1], text[1:], strict=True):
            losses.append(row.max() + np.log(np.exp(row - row.max()).sum()) - row[answer])
    return float(np.mean(losses))


@right
def loss_by_torch(logits: F, ids: F) -> float:
    import torch

    rows = torch.from_numpy(logits[:, :-1].copy()).flatten(0, 1)
    answers = torch.from_numpy(ids[:, 1:].astype(np.int64)).flatten()
    return float(torch.nn.functional.cross_entropy(rows, answers))
