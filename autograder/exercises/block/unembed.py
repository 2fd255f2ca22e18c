"""From outputs to scores for every word.

Column w of `U` belongs to word w, and its dot product with an output is the score of that word, so `H @ U` is `[...,
c]` for any axes in front. They stay scores: the loss takes its own softmax, and a second one sees numbers between 0
and 1, which are nearly alike to it. All rows stay, and stay where they are; from the last one a model writes on. That
row i guesses word i + 1 is a matter of what it is compared with, not of where it is put.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.block.parts import minus_mean, row_variance
from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, misses_the_idea, mistake, probe, right, right_to_seven_digits
from autograder.exercises.parts import row_softmax


def unembed(H: Float[np.ndarray, "*b d"], U: Float[np.ndarray, "d c"]) -> Float[np.ndarray, "*b c"]:
    """For each output its dot product with every column of U."""
    d, c = U.shape
    out = np.zeros((*H.shape[:-1], c))
    for place in np.ndindex(H.shape[:-1]):
        for word in range(c):
            out[(*place, word)] = sum(H[place][x] * U[x, word] for x in range(d))
    return out


def _any_outputs(shape: tuple[int, ...], c: int, scale: float) -> Case:
    """Public outputs that look like nothing in particular."""
    rng = np.random.default_rng(c)
    return case(np.round(normal(rng, *shape, scale=scale), 2), np.round(normal(rng, shape[-1], c), 2))


PUBLIC = (
    case(np.array([[1.0, 2.0]]), np.array([[3.0, 0.0, -1.0], [1.0, 1.0, 2.0]])),
    case(
        np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]]),
        np.array([[3.0, 0.0, -1.0, 1.0], [1.0, 1.0, 2.0, 0.0]]),
    ),
    case(np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([[3.0, -1.0], [1.0, 2.0]])),
    case(np.array([[0.5, 1.0]], np.float32), np.array([[1.0, 0.0, -2.0], [1.0, 3.0, 0.5]], np.float32)),
    # one output alone, a batch of texts, large numbers, and a table of no particular numbers
    case(np.array([1.0, -2.0]), np.array([[3.0, 0.0, -1.0], [1.0, 1.0, 2.0]])),
    _any_outputs((2, 3, 4), 5, 1.0),
    _any_outputs((2, 3), 4, 1e4),
    _any_outputs((4, 5), 7, 2.0),
)


@probe(1.0)
def outputs(rng: np.random.Generator) -> list[Case]:
    """a score for every word from every output, all sizes different"""
    b, n, d, c = sizes(rng, 4)
    return [case(normal(rng, n, d), normal(rng, d, c)), case(normal(rng, b, n, d), normal(rng, d, c))]


@probe(0.5)
def outputs_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    """the same where sizes coincide and a turned U would run"""
    n, d = sizes(rng, 2, 3, 7)
    return [
        case(normal(rng, n, d), normal(rng, d, d)),  # c = d: H @ U.T runs
        case(normal(rng, d, d), normal(rng, d, d)),
        case(normal(rng, n, n, d), normal(rng, d, n)),
    ]


@probe(0.5, strict=True)
def outputs_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """one output, large numbers, float32, arrays that are not contiguous"""
    n, d, c = sizes(rng, 3)
    return [
        case(normal(rng, d), normal(rng, d, c)),
        case(normal(rng, 1, d), normal(rng, d, c)),
        case(normal(rng, n, d, dtype="float32"), normal(rng, d, c, dtype="float32")),
        case(normal(rng, n, d, scale=1e4), normal(rng, d, c)),
        case(normal(rng, n, d, order="strided"), normal(rng, d, c, order="F")),
    ]


def _normed(H: F, eps: float) -> F:
    return minus_mean(H) / np.sqrt(row_variance(H) + eps)


def _token_axis(S: F) -> int:
    return -2 if S.ndim > 1 else -1


@misses_the_idea
def moves_rows_down(H: F, U: F) -> F:
    """your row i is made from output i - 1. It is true that output i - 1 guesses word i. But logits stay where their
    output stands, and row i of the result belongs to row i of H; the loss does the pairing."""
    return np.roll(H, 1, axis=_token_axis(H)) @ U


@misses_the_idea
def moves_rows_up(H: F, U: F) -> F:
    """your row i is made from output i + 1. Row i of the result belongs to row i of H: output i has the guess for word
    i + 1 in it already."""
    return np.roll(H, -1, axis=_token_axis(H)) @ U


@mistake
def drops_the_last_row(H: F, U: F) -> F:
    """you left the last output out, because no word follows it in the text. It is the very one from which a model writes
    on. Every output has its logits; the loss leaves out what it cannot use."""
    return H[..., :-1, :] @ U


@misses_the_idea
def only_the_last_row(H: F, U: F) -> F:
    """you kept the last output alone. That is enough for writing on; for learning every output has a guess to make."""
    return H[..., -1, :] @ U


@mistake
def last_of_the_first_axis(H: F, U: F) -> F:
    """you kept H[-1] alone: of a table its last output, of a batch its last text. Every output has a guess to make."""
    return np.asarray(H[-1] @ U)


@mistake
def every_axis_reversed(H: F, U: F) -> F:
    """your result is turned: .T reverses the order of all axes. Its rows are outputs, as those of H are, and its columns words."""
    return np.asarray((H @ U).T)


@mistake
def outputs_on_the_right(H: F, U: F) -> F:
    """you put U to the left. An output is a row of H, and a row has its weights to the right: H @ U."""
    return np.asarray(U.T @ H)


@mistake
def logits_entry_by_entry(H: F, U: F) -> F:
    """you wrote H * U, which multiplies entry by entry. A logit is the dot product of an output with a column of U: H @ U."""
    return np.asarray(H * U)


@mistake
def last_row_with_its_axis(H: F, U: F) -> F:
    """you kept the last output alone, as a table of one row. That is enough for writing on; for learning every output has a
    guess to make."""
    return H[..., -1:, :] @ U


@mistake
def only_the_first_row(H: F, U: F) -> F:
    """you kept the first output alone. Every output has its logits."""
    return H[..., 0, :] @ U


@mistake
def drops_the_first_row(H: F, U: F) -> F:
    """you left the first output out. The first word is nobody's answer, but its output guesses the second. Every output has its
    logits."""
    return H[..., 1:, :] @ U


@mistake
def mean_over_the_tokens(H: F, U: F) -> F:
    """you averaged the outputs of a text first, so there is one guess for all of it. Every output has its own logits."""
    return H.mean(axis=-2) @ U


@mistake
def all_outputs_in_one_table(H: F, U: F) -> F:
    """you made one table of all outputs, and left it so. The result has the axes of H, with c in place of d."""
    return H.reshape(-1, H.shape[-1]) @ U


@mistake
def logits_of_rows_at_least_two(H: F, U: F) -> F:
    """you gave an output alone a second axis. One output [d] gives one row of logits, [c]."""
    return np.atleast_2d(H) @ U


@mistake
def logits_squeezed(H: F, U: F) -> F:
    """you took axes of length 1 out of the result (np.squeeze does). A table of one output, [1, d], gives a table of one row."""
    return np.squeeze(H @ U)


@mistake
def logits_turned(H: F, U: F) -> F:
    """you turned the result: it has a row for each word, and a column for each output. Row i belongs to output i, and the words
    are the last axis."""
    return np.swapaxes(H @ U, -1, -2)


@mistake
def product_turned_twice(H: F, U: F) -> F:
    """you turned both factors and turned the result back. For a table [n, d] that is right; with more axes .T reverses
    all of them, and the wrong axes are multiplied. An output stands in its row already: nothing has to be turned.
    """
    return (U.T @ H.T).T


@mistake
def loop_over_the_outputs(H: F, U: F) -> F:
    """you went through the first axis, and took what lies there for outputs. An output alone, [d], has single numbers there. One
    product does without any loop."""
    return np.array([output @ U for output in H])


@mistake
def letters_for_a_table(H: F, U: F) -> F:
    """your einsum has letters for a table, [n, d]. There may be any number of axes in front, also none: three dots stand for
    them, and so does @."""
    return np.einsum("nd,dc->nc", H, U)


@misses_the_idea
def returns_probabilities(H: F, U: F) -> F:
    """these are probabilities. Logits are asked for, which are scores: of any size and sign, before softmax. (The loss
    takes its own softmax, and a second one on top is one too many.)"""
    return row_softmax(H @ U)


@mistake
def probabilities_overflow(H: F, U: F) -> F:
    """you took softmax, without subtracting the largest score, and large ones come out as NaN. Logits are asked for: the scores
    before any softmax."""
    with np.errstate(over="ignore", invalid="ignore"):
        E = np.exp(H @ U)
        return E / E.sum(axis=-1, keepdims=True)


@mistake
def returns_exponentials(H: F, U: F) -> F:
    """these are e to the logits. Logits are asked for: the plain product."""
    with np.errstate(over="ignore"):
        return np.exp(H @ U)


@mistake
def returns_logistic(H: F, U: F) -> F:
    """you took the logistic of each logit. Logits are asked for: the plain product."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-(H @ U)))


@mistake
def keeps_the_positive(H: F, U: F) -> F:
    """you set negative logits to zero. Logits may be of any size and sign: the plain product."""
    return np.maximum(H @ U, 0)


@mistake
def soft_limit(H: F, U: F) -> F:
    """you bent large logits, with tanh. Some models do. Logits are the plain product here, of any size."""
    return 30 * np.tanh(H @ U / 30)


@mistake
def clipped_logits(H: F, U: F) -> F:
    """you cut large logits off. They may be of any size: the plain product."""
    return np.clip(H @ U, -50, 50)


@mistake
def cosines(H: F, U: F) -> F:
    """you divided by the lengths of the outputs, and of the columns of U. Logits are the plain product."""
    return H / np.linalg.norm(H, axis=-1, keepdims=True) @ (U / np.linalg.norm(U, axis=0))


@mistake
def returns_log_probabilities(H: F, U: F) -> F:
    """these are logarithms of probabilities, after softmax. Logits are asked for: the scores before it."""
    logits = H @ U
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@mistake
def softmax_over_tokens(H: F, U: F) -> F:
    """you took softmax over the tokens, so that each word of the vocabulary shares itself out over the text. Words compete
    for a place, not places for a word. And logits are asked for, which come before any softmax."""
    logits = H @ U
    return row_softmax(logits, _token_axis(logits))


@mistake
def unembeds_with_rows(H: F, U: F) -> F:
    """you turned U. It has a column for every word, [d, c], and multiplies an output from the right as it stands. (E of
    the embedding has a row for every word.)"""
    return H @ U.T


@mistake
def unembedding_reshaped(H: F, U: F) -> F:
    """you turned U and reshaped it back to [d, c]. A reshape puts its numbers in other places. U is used as it stands."""
    return H @ U.T.reshape(U.shape)


@mistake
def logits_over_root_d(H: F, U: F) -> F:
    """you divided by √d. That is for scores of attention; logits are the plain product."""
    return H @ U / U.shape[0] ** 0.5


@mistake
def logits_less_their_maximum(H: F, U: F) -> F:
    """you subtracted from each row its largest logit. That changes no probability, but it is softmax's own business;
    what is asked for is the plain product."""
    logits = H @ U
    return logits - logits.max(axis=-1, keepdims=True)


@mistake
def logits_less_their_mean(H: F, U: F) -> F:
    """you subtracted from each row its mean. That changes no probability; but what is asked for is the plain product."""
    return minus_mean(H @ U)


@mistake
def logits_over_d(H: F, U: F) -> F:
    """you divided by d. Logits are the plain product."""
    return H @ U / U.shape[0]


@mistake
def logits_over_root_c(H: F, U: F) -> F:
    """you divided by the root of the number of words. Logits are the plain product."""
    return H @ U / U.shape[1] ** 0.5


@mistake
def norms_the_outputs(H: F, U: F) -> F:
    """you put a LayerNorm in front. The stack ends with one, so the outputs are normed already; here they are taken as they
    are."""
    return _normed(H, 1e-5) @ U


@mistake
def norms_the_outputs_without_eps(H: F, U: F) -> F:
    """you put a LayerNorm in front. The stack ends with one, so the outputs are normed already; here they are taken as they
    are."""
    return _normed(H, 0.0) @ U


@mistake
def norms_the_outputs_with_a_millionth(H: F, U: F) -> F:
    """you put a LayerNorm in front. The stack ends with one, so the outputs are normed already; here they are taken as they
    are."""
    return _normed(H, 1e-6) @ U


@mistake
def norms_the_outputs_with_a_hundred_millionth(H: F, U: F) -> F:
    """you put a LayerNorm in front. The stack ends with one, so the outputs are normed already; here they are taken as they
    are."""
    return _normed(H, 1e-8) @ U


@mistake
def sizes_the_outputs(H: F, U: F) -> F:
    """you brought the outputs to one size first. The stack ends with a LayerNorm, so that has been done; here they are taken
    as they are."""
    return H / np.sqrt((H**2).mean(axis=-1, keepdims=True) + 1e-5) @ U


@mistake
def sizes_the_outputs_without_eps(H: F, U: F) -> F:
    """you brought the outputs to one size first. The stack ends with a LayerNorm, so that has been done; here they are taken
    as they are."""
    return H / np.sqrt((H**2).mean(axis=-1, keepdims=True) + 0.0) @ U


@mistake
def sizes_the_outputs_with_a_millionth(H: F, U: F) -> F:
    """you brought the outputs to one size first. The stack ends with a LayerNorm, so that has been done; here they are taken
    as they are."""
    return H / np.sqrt((H**2).mean(axis=-1, keepdims=True) + 1e-6) @ U


@mistake
def outputs_of_length_one(H: F, U: F) -> F:
    """you divided each output by its length. How long it is tells how sure the model is; here outputs are taken as they
    are."""
    return H / np.linalg.norm(H, axis=-1, keepdims=True) @ U


@mistake
def centres_the_outputs(H: F, U: F) -> F:
    """you subtracted the mean of each output. The stack ends with a LayerNorm, so that has been done; here they are taken
    as they are."""
    return minus_mean(H) @ U


@mistake
def names_the_winner(H: F, U: F) -> F:
    """you returned the number of the word with the largest logit. All c logits of each output are asked for: the loss
    compares the right word with all others.
    """
    return np.argmax(H @ U, axis=-1)


@mistake
def logits_in_float64(H: F, U: F) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part."""
    return H @ U.astype(np.float64)


@right_to_seven_digits
def logits_in_float32(H: F, U: F) -> F:
    """your numbers have seven right digits, and float64 has sixteen: somewhere they went through float32."""
    return (H.astype(np.float32) @ U.astype(np.float32)).astype(H.dtype)


@right
def logits_by_einsum(H: F, U: F) -> F:
    return np.einsum("...d,dc->...c", H, U)


@right
def logits_word_by_word(H: F, U: F) -> F:
    return np.stack([(H * column).sum(axis=-1) for column in U.T], axis=-1)


@right
def logits_by_dot(H: F, U: F) -> F:
    return np.dot(H, U)


@right
def logits_by_torch(H: F, U: F) -> F:
    import torch

    return torch.nn.functional.linear(torch.from_numpy(H.copy()), torch.from_numpy(U.T.copy())).numpy()
