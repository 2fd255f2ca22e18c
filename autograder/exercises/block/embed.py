"""From words to tokens: the vector of the word plus that of its place.

`E[ids]` looks up a row for each id and has the shape `[b, n, d]`. `Pos[:n]` is `[n, d]`, lines up from the right, and
so gives every text the places 0 to n − 1. A place is where a word stands, and not which word it is: with the id as
its number, a word would get the same position wherever it stands. The two are added and the width stays d; side by
side they would make 2d. `Pos` may reach further than the text, and id 0 is a word like any other.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from autograder.exercises.block.parts import drawn_ids
from autograder.exercises.inputs import normal
from autograder.exercises.model import Case, F, case, misses_the_idea, mistake, probe, right


def embed(
    ids: Int[np.ndarray, "b n"], E: Float[np.ndarray, "c d"], Pos: Float[np.ndarray, "l d"]
) -> Float[np.ndarray, "b n d"]:
    """Token i of a text is row ids[i] of E plus row i of Pos."""
    b, n = ids.shape
    out = np.zeros((b, n, E.shape[1]))
    for item in range(b):
        for i in range(n):
            for x in range(E.shape[1]):
                out[item, i, x] = E[ids[item, i], x] + Pos[i, x]
    return out


def _any_texts(b: int, n: int, c: int, d: int, places: int, dtype: type) -> Case:
    """Public texts that look like nothing in particular."""
    rng = np.random.default_rng(places)
    tables = (np.round(normal(rng, rows, d, scale=2.0), 1) for rows in (c, places))
    return case(drawn_ids(rng, b, n, c).astype(dtype), *tables)


PUBLIC = (
    case(
        np.array([[2, 0]]),
        np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
        np.array([[10.0, 20.0, 30.0], [40.0, 50.0, 60.0], [70.0, 80.0, 90.0]]),
    ),
    # no two sizes equal
    case(
        np.array([[1, 0, 1], [3, 2, 2]]),
        np.array([[1.0], [2.0], [3.0], [4.0]]),
        np.array([[10.0], [20.0], [40.0], [70.0], [110.0], [160.0]]),
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
    # one word; as many texts as words, which fill all places; numbers of another integer type
    _any_texts(1, 1, 3, 2, 4, np.int64),
    _any_texts(3, 3, 4, 2, 3, np.int32),
    _any_texts(3, 5, 6, 4, 17, np.int64),
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
    ids[1] = (np.arange(n) * 2 + 1) % c
    return [case(ids, normal(rng, c, d), normal(rng, b * n + 2, d))]


@probe(0.75, strict=True)
def embeddings_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """one word, texts as long as Pos allows, as many texts as words, float32, arrays that are not contiguous"""
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


@misses_the_idea
def position_of_the_word(ids: F, E: F, Pos: F) -> F:
    """you looked the position up by the word's number. A word's place in the text is where it stands: 0, 1, 2, whatever
    the word. (Yours gives the same word the same vector everywhere, so it says nothing about places.)"""
    return E[ids] + Pos[ids]


@mistake
def concatenates(ids: F, E: F, Pos: F) -> F:
    """you put word and position side by side, which makes tokens of width 2d. They are added; both have width d."""
    b, n = ids.shape
    return np.concatenate([E[ids], np.broadcast_to(Pos[:n], (b, n, Pos.shape[1]))], axis=-1)


@mistake
def positions_from_one(ids: F, E: F, Pos: F) -> F:
    """your positions begin with row 1 of Pos. The first word stands at place 0."""
    return E[ids] + Pos[1 : ids.shape[1] + 1]


@mistake
def positions_from_the_end(ids: F, E: F, Pos: F) -> F:
    """you took the last rows of Pos. A text begins at place 0, also when it is shorter than Pos."""
    return E[ids] + Pos[-ids.shape[1] :]


@mistake
def positions_backwards(ids: F, E: F, Pos: F) -> F:
    """your places count down. The first word stands at place 0."""
    return E[ids] + Pos[: ids.shape[1]][::-1]


@mistake
def all_positions(ids: F, E: F, Pos: F) -> F:
    """you added the whole of Pos. It has a row for every place that a text may have, and this text is shorter."""
    return E[ids] + Pos


@misses_the_idea
def no_positions(ids: F, E: F, Pos: F) -> F:
    """these are the words alone; the positions are missing."""
    return E[ids]


@mistake
def words_and_places_exchanged(ids: F, E: F, Pos: F) -> F:
    """you exchanged the tables: E has a row for each word, and Pos a row for each place."""
    return Pos[ids] + E[: ids.shape[1]]


@mistake
def places_taken_off(ids: F, E: F, Pos: F) -> F:
    """you subtracted the positions. They are added."""
    return E[ids] - Pos[: ids.shape[1]]


@mistake
def number_of_the_place(ids: F, E: F, Pos: F) -> F:
    """you added the number of the place, 0, 1, 2, to every feature. What is added is the row of Pos that this number names."""
    return E[ids] + np.arange(ids.shape[1])[:, None]


@mistake
def waves_for_places(ids: F, E: F, Pos: F) -> F:
    """you made positions of sines and cosines, as the first transformer did. Here they are learned: row i of Pos for place i."""
    n, d = ids.shape[1], E.shape[1]
    angles = np.arange(n)[:, None] / 10_000 ** (np.arange(d) // 2 * 2 / d)
    return E[ids] + np.where(np.arange(d) % 2 == 0, np.sin(angles), np.cos(angles))


@mistake
def positions_without_words(ids: F, E: F, Pos: F) -> F:
    """these are the positions alone; the words are missing."""
    b, n = ids.shape
    return np.broadcast_to(Pos[:n], (b, n, Pos.shape[1])).copy()


@mistake
def one_position_for_all(ids: F, E: F, Pos: F) -> F:
    """you added row 0 of Pos to every word. Each place has a row of its own."""
    return E[ids] + Pos[0]


@mistake
def position_behind_the_text_for_all(ids: F, E: F, Pos: F) -> F:
    """you added one row of Pos to every word, the one behind the text: Pos[n]. Each place has a row of its own, from 0 to n - 1."""
    return E[ids] + Pos[ids.shape[1]]


@mistake
def columns_for_words(ids: F, E: F, Pos: F) -> F:
    """you looked the words up in the columns of E. A word is a row of E."""
    return E[:, ids] + Pos[: ids.shape[1]]


@mistake
def last_position_for_all(ids: F, E: F, Pos: F) -> F:
    """you added the row of the last place to every word. Each place has a row of its own."""
    return E[ids] + Pos[ids.shape[1] - 1]


@mistake
def mean_of_the_positions(ids: F, E: F, Pos: F) -> F:
    """you added the mean of the positions to every word. Each place has a row of its own."""
    return E[ids] + Pos[: ids.shape[1]].mean(axis=0)


@mistake
def sum_of_the_positions(ids: F, E: F, Pos: F) -> F:
    """you added the sum of the positions to every word. Each place has a row of its own."""
    return E[ids] + Pos[: ids.shape[1]].sum(axis=0)


@mistake
def word_zero_is_nothing(ids: F, E: F, Pos: F) -> F:
    """you took word 0 for an empty place, and gave it no vector of its own. Here id 0 is a word like any other."""
    return np.where(ids[..., None] == 0, 0, E[ids]).astype(E.dtype) + Pos[: ids.shape[1]]


@mistake
def token_of_word_zero_is_nothing(ids: F, E: F, Pos: F) -> F:
    """you took word 0 for an empty place, and made its tokens zeros. Here id 0 is a word like any other."""
    return np.where(ids[..., None] == 0, 0, E[ids] + Pos[: ids.shape[1]]).astype(E.dtype)


@mistake
def word_zero_wiped_out(ids: F, E: F, Pos: F) -> F:
    """you took word 0 for an empty place, and wrote zeros into the caller's table. Here id 0 is a word like any other, and E stays as it
    is."""
    E[0] = 0
    return E[ids] + Pos[: ids.shape[1]]


@mistake
def words_from_one(ids: F, E: F, Pos: F) -> F:
    """you counted the words from 1: for id 0 you took the last row of E, for id 1 row 0. The numbers begin with 0."""
    return E[ids - 1] + Pos[: ids.shape[1]]


@mistake
def position_of_the_text(ids: F, E: F, Pos: F) -> F:
    """you gave each text a row of Pos, and each word of a text the same. It is the place within the text that counts: the axis n, not
    b."""
    return E[ids] + Pos[: len(ids), None]


@mistake
def places_in_a_column(ids: F, E: F, Pos: F) -> F:
    """you gave the places an axis of length 1 behind them, [n, 1, d]. Lined up from the right, n then stands against b. A row of
    Pos for each place, [n, d], is lined up with [b, n, d] as it is."""
    return E[ids] + Pos[: ids.shape[1], None]


@mistake
def places_in_front_of_texts(ids: F, E: F, Pos: F) -> F:
    """your result is [n, b, d]: places first, texts second. It has the axes of ids, b and n, and then the features."""
    return (E[ids] + Pos[: ids.shape[1]]).swapaxes(0, 1)


@mistake
def all_words_in_one_table(ids: F, E: F, Pos: F) -> F:
    """you made one long table of the words of all texts. For b texts the result is [b, n, d]."""
    return (E[ids] + Pos[: ids.shape[1]]).reshape(-1, E.shape[1])


@mistake
def words_of_a_text_in_one_row(ids: F, E: F, Pos: F) -> F:
    """you put all tokens of a text side by side in one row. For b texts the result is [b, n, d]."""
    return (E[ids] + Pos[: ids.shape[1]]).reshape(len(ids), -1)


@mistake
def embedding_squeezed(ids: F, E: F, Pos: F) -> F:
    """you took axes of length 1 out of the result (np.squeeze does). One text gives [1, n, d]: it keeps its axis."""
    return np.squeeze(E[ids] + Pos[: ids.shape[1]])


@mistake
def tokens_add_up(ids: F, E: F, Pos: F) -> F:
    """each of your tokens holds the words before it as well. A token is one word and one place; tokens meet in attention."""
    return E[ids].cumsum(axis=1, dtype=E.dtype) + Pos[: ids.shape[1]]


@mistake
def rows_without_ids(ids: F, E: F, Pos: F) -> F:
    """you took the first rows of E in their order. ids says which row each word has."""
    return np.broadcast_to(E[np.arange(ids.shape[1]) % len(E)] + Pos[: ids.shape[1]], (*ids.shape, E.shape[1])).copy()


@mistake
def as_many_places_as_texts(ids: F, E: F, Pos: F) -> F:
    """you took as many rows of Pos as there are texts: the length of ids is b. A text has n words, and n is the other axis of
    ids."""
    return E[ids] + Pos[: len(ids)]


@misses_the_idea
def counts_on_through_the_batch(ids: F, E: F, Pos: F) -> F:
    """your places count on from one text to the next. Every text begins at place 0."""
    return E[ids] + Pos[np.arange(ids.size).reshape(ids.shape)]


@mistake
def multiplies(ids: F, E: F, Pos: F) -> F:
    """you multiplied word and position. They are added."""
    return E[ids] * Pos[: ids.shape[1]]


@mistake
def words_times_root_d(ids: F, E: F, Pos: F) -> F:
    """you multiplied the words by √d before adding the positions. The first transformer did; here they are added as they
    are."""
    return E[ids] * E.shape[1] ** 0.5 + Pos[: ids.shape[1]]


@mistake
def words_over_root_d(ids: F, E: F, Pos: F) -> F:
    """you divided the words by √d. Here they are added as they are."""
    return E[ids] / E.shape[1] ** 0.5 + Pos[: ids.shape[1]]


@mistake
def tokens_times_root_d(ids: F, E: F, Pos: F) -> F:
    """you multiplied the tokens by √d. Here words and positions are added as they are, and nothing follows."""
    return (E[ids] + Pos[: ids.shape[1]]) * E.shape[1] ** 0.5


@mistake
def tokens_normed(ids: F, E: F, Pos: F) -> F:
    """you normed the tokens. That is the block's business, on its branches; here words and positions are added, and nothing
    follows."""
    tokens = E[ids] + Pos[: ids.shape[1]]
    return (tokens - tokens.mean(axis=-1, keepdims=True)) / np.sqrt(tokens.var(axis=-1, keepdims=True) + 1e-5)


@mistake
def averages(ids: F, E: F, Pos: F) -> F:
    """you took the mean of word and position. It is their sum."""
    return (E[ids] + Pos[: ids.shape[1]]) / 2


@mistake
def only_the_first_text(ids: F, E: F, Pos: F) -> F:
    """your answer holds the first text alone. For b texts the result is [b, n, d]."""
    return E[ids[0]] + Pos[: ids.shape[1]]


@mistake
def embeds_in_float64(ids: F, E: F, Pos: F) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part."""
    return E[ids] + Pos[: ids.shape[1]].astype(np.float64)


@right
def embed_by_take(ids: F, E: F, Pos: F) -> F:
    return np.take(E, ids, axis=0) + Pos[np.arange(ids.shape[1])][None]


@right
def embed_by_one_hot(ids: F, E: F, Pos: F) -> F:
    words, places = np.eye(len(E), dtype=E.dtype), np.eye(ids.shape[1], len(Pos), dtype=Pos.dtype)
    return words[ids] @ E + places @ Pos


@right
def embed_by_loops(ids: F, E: F, Pos: F) -> F:
    return np.array([[E[word] + Pos[place] for place, word in enumerate(text)] for text in ids])


@right
def embed_by_torch(ids: F, E: F, Pos: F) -> F:
    import torch

    rows = torch.nn.functional.embedding(torch.from_numpy(ids.astype(np.int64)), torch.from_numpy(E.copy()))
    return (rows + torch.from_numpy(Pos[: ids.shape[1]].copy())).numpy()
