"""From words to tokens: the vector of the word plus that of its place."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from autograder.exercises.block.parts import drawn_ids
from autograder.exercises.inputs import normal
from autograder.exercises.model import Case, F, case, mistake, probe, right


def embed(
    ids: Int[np.ndarray, "b n"], E: Float[np.ndarray, "c d"], P: Float[np.ndarray, "l d"]
) -> Float[np.ndarray, "b n d"]:
    """Token i of a text is row ids[i] of E plus row i of P."""
    b, n = ids.shape
    out = np.zeros((b, n, E.shape[1]))
    for item in range(b):
        for i in range(n):
            for x in range(E.shape[1]):
                out[item, i, x] = E[ids[item, i], x] + P[i, x]
    return out


PUBLIC = (
    case(
        np.array([[2, 0]]),
        np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
        np.array([[10.0, 20.0, 30.0], [40.0, 50.0, 60.0], [70.0, 80.0, 90.0]]),
    ),
    case(
        np.array([[1, 0, 1], [2, 1, 1]]),
        np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        np.array([[10.0, 20.0], [30.0, 40.0], [50.0, 60.0], [70.0, 80.0], [90.0, 15.0], [25.0, 35.0], [45.0, 55.0]]),
    ),
    case(
        np.array([[1, 0]]),
        np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]], np.float32),
        np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 1.0], [0.25, 4.0, -2.0]], np.float32),
    ),
)


@probe(1.5)
def embeddings(rng: np.random.Generator) -> list[Case]:
    """the vector of the word plus the vector of its place, all sizes different"""
    # b * n <= l, and c <= l, so that every wrong way to look up a position runs.
    b, n, c, d = (int(size) for size in rng.permutation([2, 3, 4, 5]))
    return [
        case(drawn_ids(rng, b, n, c), normal(rng, c, d), normal(rng, b * n + 1, d)),
        case(drawn_ids(rng, n, b, c + 6), normal(rng, c + 6, d), normal(rng, b * n + 6, d)),
    ]


@probe(0.75)
def repeated_words(rng: np.random.Generator) -> list[Case]:
    """the same word at several places, and the same places in every text"""
    b, n, c, d = (int(size) for size in rng.permutation([3, 4, 5, 6]))
    ids = np.full((b, n), int(rng.integers(c)))
    ids[0] = np.arange(n) % c
    return [case(ids, normal(rng, c, d), normal(rng, b * n + 2, d))]


@probe(0.75)
def embeddings_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """one word, texts as long as P allows, as many texts as words, float32, arrays that are not contiguous"""
    b, n, c, d = (int(size) for size in rng.permutation([2, 3, 4, 5]))
    return [
        case(drawn_ids(rng, 1, 1, c), normal(rng, c, d), normal(rng, n, d)),
        case(drawn_ids(rng, b, n, c), normal(rng, c, d), normal(rng, n, d)),  # l = n: no place is left over
        case(
            drawn_ids(rng, n, n, c), normal(rng, c, d), normal(rng, n * n + 1, d)
        ),  # b = n: a text may pass for a place
        case(drawn_ids(rng, b, n, c), normal(rng, c, d, dtype="float32"), normal(rng, n + 3, d, dtype="float32")),
        case(
            drawn_ids(rng, b, n, c).astype(np.int32),
            normal(rng, c, d, order="strided"),
            normal(rng, b * n + 1, d, order="F"),
        ),
    ]


@mistake
def position_of_the_word(ids: F, E: F, P: F) -> F:
    """you looked the position up by the word's number. A word's place in the text is where it stands: 0, 1, 2, whatever
    the word. (Yours gives the same word the same vector everywhere, so it says nothing about places.)"""
    return E[ids] + P[ids]


@mistake
def concatenates(ids: F, E: F, P: F) -> F:
    """you put word and position side by side, which makes tokens of width 2d. They are added; both have width d."""
    b, n = ids.shape
    return np.concatenate([E[ids], np.broadcast_to(P[:n], (b, n, P.shape[1]))], axis=-1)


@mistake
def positions_from_one(ids: F, E: F, P: F) -> F:
    """your positions begin with row 1 of P. The first word stands at place 0."""
    return E[ids] + P[1 : ids.shape[1] + 1]


@mistake
def positions_from_the_end(ids: F, E: F, P: F) -> F:
    """you took the last rows of P. A text begins at place 0, also when it is shorter than P."""
    return E[ids] + P[-ids.shape[1] :]


@mistake
def positions_backwards(ids: F, E: F, P: F) -> F:
    """your places count down. The first word stands at place 0."""
    return E[ids] + P[: ids.shape[1]][::-1]


@mistake
def all_positions(ids: F, E: F, P: F) -> F:
    """you added the whole of P. It has a row for every place that a text may have, and this text is shorter."""
    return E[ids] + P


@mistake
def no_positions(ids: F, E: F, P: F) -> F:
    """these are the words alone; the positions are missing."""
    return E[ids]


@mistake
def positions_without_words(ids: F, E: F, P: F) -> F:
    """these are the positions alone; the words are missing."""
    b, n = ids.shape
    return np.broadcast_to(P[:n], (b, n, P.shape[1])).copy()


@mistake
def one_position_for_all(ids: F, E: F, P: F) -> F:
    """you added row 0 of P to every word. Each place has a row of its own."""
    return E[ids] + P[0]


@mistake
def position_of_the_text(ids: F, E: F, P: F) -> F:
    """you gave each text of the batch a row of P, and each word of a text the same. It is the place within the text that
    counts: the axis n, not b."""
    return E[ids] + P[: len(ids), None]


@mistake
def as_many_places_as_texts(ids: F, E: F, P: F) -> F:
    """you took as many rows of P as there are texts: the length of ids is b. A text has n words, and n is the other axis of
    ids."""
    return E[ids] + P[: len(ids)]


@mistake
def counts_on_through_the_batch(ids: F, E: F, P: F) -> F:
    """your places count on from one text to the next. Every text of a batch begins at place 0."""
    return E[ids] + P[np.arange(ids.size).reshape(ids.shape)]


@mistake
def multiplies(ids: F, E: F, P: F) -> F:
    """you multiplied word and position. They are added."""
    return E[ids] * P[: ids.shape[1]]


@mistake
def words_times_root_d(ids: F, E: F, P: F) -> F:
    """you multiplied the words by √d before adding the positions. The first transformer did; here they are added as they
    are."""
    return E[ids] * E.shape[1] ** 0.5 + P[: ids.shape[1]]


@mistake
def averages(ids: F, E: F, P: F) -> F:
    """you took the mean of word and position. It is their sum."""
    return (E[ids] + P[: ids.shape[1]]) / 2


@mistake
def only_the_first_text(ids: F, E: F, P: F) -> F:
    """your answer holds the first text alone. A batch of b texts gives [b, n, d]."""
    return E[ids[0]] + P[: ids.shape[1]]


@mistake
def embeds_in_float64(ids: F, E: F, P: F) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part."""
    return E[ids] + P[: ids.shape[1]].astype(np.float64)


@right
def embed_by_take(ids: F, E: F, P: F) -> F:
    return np.take(E, ids, axis=0) + P[np.arange(ids.shape[1])][None]


@right
def embed_by_one_hot(ids: F, E: F, P: F) -> F:
    words, places = np.eye(len(E), dtype=E.dtype), np.eye(ids.shape[1], len(P), dtype=P.dtype)
    return words[ids] @ E + places @ P


@right
def embed_by_loops(ids: F, E: F, P: F) -> F:
    return np.array([[E[word] + P[place] for place, word in enumerate(text)] for text in ids])


@right
def embed_by_torch(ids: F, E: F, P: F) -> F:
    import torch

    rows = torch.nn.functional.embedding(torch.from_numpy(ids.astype(np.int64)), torch.from_numpy(E.copy()))
    return (rows + torch.from_numpy(P[: ids.shape[1]].copy())).numpy()
