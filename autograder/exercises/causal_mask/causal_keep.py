"""The causal mask: who may attend to whom.

Row i is the token that looks, and it sees the columns 0 to i: a lower triangle with its diagonal, n·(n + 1)/2 places.
Without the diagonal token 0 would see nothing at all. With one place more each token would see the very word that it
has to guess. A mask is boolean because `~keep` and indexing rely on it: `~1` is −2, and an array of whole numbers as
an index picks rows. `np.tril` keeps the type that it is given, so the ones are made as booleans.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from autograder.exercises.inputs import sizes
from autograder.exercises.model import B, Case, F, case, equivalent, mistake, probe, right


def causal_keep(n: int) -> Bool[np.ndarray, "n n"]:
    """Entry (i, j) is True where token i may attend to token j: to itself and to what came before."""
    keep = np.zeros((n, n), bool)
    for i in range(n):
        for j in range(n):
            keep[i, j] = j <= i
    return keep


def _long_text(n: int) -> Case:
    """A text that is longer than what a byte counts to and than some models' context; few of its places are looked at, all of them
    where such numbers end."""
    ends = (2**power + by for power in (7, 8, 9, 10, 11) for by in (-1, 0, 1))
    return case(n, [0, 1, *ends, n - 2, n - 1], harness="looked_into")


PUBLIC = (case(1), case(3), case(5), case(8), _long_text(2090))


@probe(1.5)
def lengths(rng: np.random.Generator) -> list[Case]:
    """each token sees itself and what came before, and nothing else"""
    return [case(n) for n in sizes(rng, 3, 3, 12)]


@probe(0.5)
def short_and_long_texts(rng: np.random.Generator) -> list[Case]:
    """sequences of one and of two tokens, of more than sixty-four, and of more than two thousand"""
    return [case(1), case(2), case(int(rng.integers(66, 69))), _long_text(int(rng.integers(2070, 2120)))]


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
    """your True marks what is masked. In this course True means: may attend."""
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
    """every token sees every other, so nothing is masked. Token i may see the tokens 0 to i."""
    return np.ones((n, n), bool)


@mistake
def sees_itself_only(n: int) -> B:
    """every token sees itself and no other. What came before it may be seen as well, all of it."""
    return np.eye(n, dtype=bool)


@mistake
def sees_one_token_back(n: int) -> B:
    """every token sees itself and the one before it. All that came before may be seen, back to the first token."""
    return np.eye(n, dtype=bool) | np.eye(n, k=-1, dtype=bool)


@mistake
def sees_only_the_first(n: int) -> B:
    """every token sees the first one and itself. All that lies between may be seen as well."""
    keep = np.eye(n, dtype=bool)
    keep[:, :1] = True
    return keep


@mistake
def other_diagonal(n: int) -> B:
    """your triangle hangs on the other diagonal, so the first token sees most and the last one least. Token i sees the
    tokens 0 to i: each row is one longer than the row above it."""
    return np.tril(np.ones((n, n), bool))[::-1]


@mistake
def places_from_the_end(n: int) -> B:
    """your triangle is mirrored: row i is True at its end. The tokens that came before token i are the first ones, and so
    they stand at the left."""
    return np.tril(np.ones((n, n), bool))[:, ::-1]


@mistake
def first_row_empty(n: int) -> B:
    """the first row is False throughout, as if counting began at 1. Token 0 sees itself."""
    keep = np.tril(np.ones((n, n), bool))
    keep[0] = False
    return keep


@mistake
def one_place_too_many(n: int) -> B:
    """your mask has n + 1 rows and columns. There are n tokens; each of them looks, the last one too, and each is looked at: n
    rows, n columns."""
    return np.tril(np.ones((n + 1, n + 1), bool))


@mistake
def one_row_for_all(n: int) -> B:
    """you returned one row of n places. Every token has a row of its own, since each may see another part of the text:
    the mask is [n, n]. (Two rows of places compared with each other make a row; a row and a column make a table.)"""
    return np.arange(n) <= np.arange(n)


@mistake
def an_axis_for_the_batch(n: int) -> B:
    """the triangle is right, and it has an axis too many: [1, n, n]. A mask with no axes in front serves any number of texts."""
    return np.tril(np.ones((1, n, n), bool))


@mistake
def axes_for_batch_and_heads(n: int) -> B:
    """the triangle is right, and it has two axes too many: [1, 1, n, n]. A mask with no axes in front serves any number of tables."""
    return np.tril(np.ones((1, 1, n, n), bool))


@mistake
def list_of_rows(n: int) -> list[list[bool]]:
    """the answers are right, and they come in a list of lists. An array is wanted: `~keep` and `keep & other` mean
    nothing to a list."""
    return [[j <= i for j in range(n)] for i in range(n)]


@mistake
def fixed_size(n: int) -> B:
    """your mask has a size of its own, whatever n is, or is cut out of one that has. Make it for this n."""
    return np.tril(np.ones((3, 3), bool))[:n, :n]


@mistake
def fixed_size_of_a_model(n: int) -> B:
    """your mask is cut out of one with a size of its own, 1024. Longer texts find no room in it. Make it for this n."""
    return np.tril(np.ones((1024, 1024), bool))[:n, :n]


@mistake
def fixed_size_of_a_larger_model(n: int) -> B:
    """your mask is cut out of one with a size of its own, 2048. Longer texts find no room in it. Make it for this n."""
    return np.tril(np.ones((2048, 2048), bool))[:n, :n]


@equivalent("no case has so many tokens: the reference counts every place out, and a check is to answer at once")
def fixed_size_of_the_largest_model(n: int) -> B:
    """your mask is cut out of one with a size of its own, 4096. Longer texts find no room in it. Make it for this n."""
    return np.tril(np.ones((4096, 4096), bool))[:n, :n]


@mistake
def places_in_a_byte(n: int) -> B:
    """you number the places in a type that is too small for a long text. A byte (uint8) counts to 255 and then begins at 0 again, so that
    place 256 passes for the first."""
    place = np.arange(n).astype(np.uint8)
    return place[None, :] <= place[:, None]


@mistake
def places_in_a_signed_byte(n: int) -> B:
    """you number the places in a type that is too small for a long text. A signed byte (int8) counts to 127 and goes on at -128, so that
    place 128 passes for one before all others."""
    place = np.arange(n).astype(np.int8)
    return place[None, :] <= place[:, None]


@mistake
def numbers_for_the_hidden(n: int) -> F:
    """your array holds numbers, and 1 stands where a token is masked. Here a mask holds True and False, and True means:
    may attend."""
    return 1 - np.tril(np.ones((n, n)))


@mistake
def upper_triangle_of_numbers(n: int) -> F:
    """your triangle is the upper one, and it is made of numbers. Row i is the token that looks, and it may look back; and
    a mask holds True and False."""
    return np.triu(np.ones((n, n)))


@mistake
def integers_turned_over(n: int) -> B:
    """your array holds integers below 0: ~ turns over the digits of a number, so ~1 is -2. Of a boolean array it makes
    True False. Here True means: may attend, so nothing is to be turned over."""
    return ~np.tril(np.ones((n, n), int))


@mistake
def bytes_for_truth(n: int) -> B:
    """the triangle is right, but it is made of bytes, 0 and 1. A keep mask holds True and False: indexing with bytes
    picks rows by number."""
    return np.tril(np.ones((n, n), np.uint8))


@mistake
def smaller_numbers_for_truth(n: int) -> F:
    """the triangle is right, but it is made of float32 numbers. A keep mask holds True and False, so that ~keep and
    indexing mean what they say."""
    return np.tril(np.ones((n, n), np.float32))


@mistake
def additive_mask_of_the_kept(n: int) -> F:
    """this is an additive mask, and it is turned over as well: -inf stands where a token may look. Here a mask is boolean,
    and True means: may attend."""
    return np.where(np.tril(np.ones((n, n), bool)), -np.inf, 0.0)


@mistake
def infinity_times_triangle(n: int) -> F:
    """you multiplied a triangle of 0 and 1 by infinity. 0 times infinity is NaN, so the kept places are lost. And here a
    mask is boolean: True means may attend."""
    with np.errstate(invalid="ignore"):
        return np.triu(np.ones((n, n)), k=1) * -np.inf


@mistake
def additive_minus_a_billion(n: int) -> F:
    """this is an additive mask, 0 and -1e9, as some code adds to the scores. Here a mask is boolean, and True means: may
    attend."""
    return np.where(np.tril(np.ones((n, n), bool)), 0.0, -1e9)


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


@right
def keep_by_tri(n: int) -> B:
    return np.tri(n, dtype=bool)


@right
def keep_row_by_row(n: int) -> B:
    keep = np.zeros((n, n), dtype=np.bool_)
    for i in range(n):
        keep[i, : i + 1] = True
    return keep


@right
def keep_by_turning_over(n: int) -> B:
    return ~np.triu(np.ones((n, n), bool), 1)


@right
def keep_by_numbers(n: int) -> B:
    return np.tril(np.ones((n, n))).astype(bool)


@right
def keep_in_columns(n: int) -> B:
    return np.asfortranarray(np.less_equal.outer(np.arange(n), np.arange(n)).T)
