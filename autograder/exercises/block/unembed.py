"""From outputs to scores for every word."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from autograder.exercises.block.parts import minus_mean, row_variance
from autograder.exercises.inputs import normal, sizes
from autograder.exercises.model import Case, F, case, mistake, probe, right
from autograder.exercises.parts import row_softmax


def unembed(H: Float[np.ndarray, "*b d"], U: Float[np.ndarray, "d c"]) -> Float[np.ndarray, "*b c"]:
    """For each output its dot product with every column of U."""
    d, c = U.shape
    out = np.zeros((*H.shape[:-1], c))
    for place in np.ndindex(H.shape[:-1]):
        for word in range(c):
            out[(*place, word)] = sum(H[place][x] * U[x, word] for x in range(d))
    return out


PUBLIC = (
    case(np.array([[1.0, 2.0]]), np.array([[3.0, 0.0, -1.0], [1.0, 1.0, 2.0]])),
    case(
        np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]]),
        np.array([[3.0, 0.0, -1.0, 1.0], [1.0, 1.0, 2.0, 0.0]]),
    ),
    case(np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([[3.0, -1.0], [1.0, 2.0]])),
    case(np.array([[0.5, 1.0]], np.float32), np.array([[1.0, 0.0, -2.0], [1.0, 3.0, 0.5]], np.float32)),
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


@probe(0.5)
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


def _token_axis(S: F) -> int:
    return -2 if S.ndim > 1 else -1


@mistake
def moves_rows_down(H: F, U: F) -> F:
    """your row i is made from output i - 1. It is true that output i - 1 guesses word i. But logits stay where their
    output stands, and row i of the result belongs to row i of H; the loss does the pairing."""
    return np.roll(H, 1, axis=_token_axis(H)) @ U


@mistake
def moves_rows_up(H: F, U: F) -> F:
    """your row i is made from output i + 1. Row i of the result belongs to row i of H: output i has the guess for word
    i + 1 in it already."""
    return np.roll(H, -1, axis=_token_axis(H)) @ U


@mistake
def drops_the_last_row(H: F, U: F) -> F:
    """you left the last output out, because no word follows it in the text. It is the very one from which a model writes
    on. Every output has its logits; the loss leaves out what it cannot use."""
    return H[..., :-1, :] @ U if H.ndim > 1 else H @ U


@mistake
def only_the_last_row(H: F, U: F) -> F:
    """you kept the last output alone. That is enough for writing on; for learning every output has a guess to make."""
    return H[..., -1, :] @ U if H.ndim > 1 else H @ U


@mistake
def returns_probabilities(H: F, U: F) -> F:
    """these are probabilities. Logits are asked for, which are scores: of any size and sign, before softmax. (The loss
    takes its own softmax, and a second one on top is one too many.)"""
    return row_softmax(H @ U)


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
def norms_the_outputs(H: F, U: F) -> F:
    """you normalised the outputs first. The stack has done that, with its final LayerNorm; here they are taken as they
    are."""
    return minus_mean(H) / np.sqrt(row_variance(H) + 1e-5) @ U


@mistake
def names_the_winner(H: F, U: F) -> F:
    """you returned the number of the word with the largest logit. All c logits of each output are asked for: by how much
    it wins is what a model learns from."""
    return np.argmax(H @ U, axis=-1)


@mistake
def logits_in_float64(H: F, U: F) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part."""
    return H @ U.astype(np.float64)


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
