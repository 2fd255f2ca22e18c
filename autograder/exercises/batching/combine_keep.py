"""One mask of two: padding and future."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from autograder.exercises.batching.parts import T
from autograder.exercises.inputs import sizes
from autograder.exercises.model import Case, case, mistake, probe, right
from course.trial.values import Tensor as TensorValue


def combine_keep(lengths: Int[Tensor, "b"], n: int, causal: bool, left: bool = False) -> Bool[Tensor, "b 1 n n"]:
    """Entry (item, 0, i, j) is True where place j of the item holds a token and, if causal, is not after place i."""
    keep = torch.zeros(len(lengths), 1, n, n, dtype=torch.bool)
    for item, length in enumerate(lengths.tolist()):
        places = range(n - length, n) if left else range(length)
        for i in range(n):
            for j in places:
                keep[item, 0, i, j] = j <= i or not causal
    return keep


def _lengths(*numbers: int) -> TensorValue:
    return TensorValue(np.array(numbers, np.int64))


PUBLIC = (
    case(_lengths(1), 1, True),
    case(_lengths(1, 2), 2, True),
    case(_lengths(1, 2), 3, False),
    case(_lengths(3, 1), 4, True),
    case(_lengths(2, 3), 4, True, True),
    case(_lengths(1, 3), 4, False, True),
    case(_lengths(2), 2, True),
    case(_lengths(2, 1), 3, True, False, 2, harness="stretched"),
)


def _some_lengths(rng: np.random.Generator, b: int, n: int) -> TensorValue:
    """Lengths from 1 to n, not all of them equal, one of them shorter by two or more, so that there is padding."""
    found = rng.integers(1, n + 1, size=b)
    found[:2] = rng.permutation([n, int(rng.integers(1, n - 1))])
    return TensorValue(rng.permutation(found))


@probe(1.5)
def padded_behind(rng: np.random.Generator) -> list[Case]:
    """padding behind the text, with the future hidden and without"""
    b, n = sizes(rng, 2, 3)
    return [case(_some_lengths(rng, b, n), n, True), case(_some_lengths(rng, b, n), n, False)]


@probe(1.0)
def padded_in_front(rng: np.random.Generator) -> list[Case]:
    """padding in front of the text"""
    b, n = sizes(rng, 2, 3)
    return [case(_some_lengths(rng, b, n), n, True, True), case(_some_lengths(rng, b, n), n, False, True)]


@probe(0.5)
def lengths_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """texts of no token, of one, of full length; a batch of one; padding to a single place"""
    n = int(rng.integers(3, 8))
    return [
        case(_lengths(0, n, 1), n, True),
        case(_lengths(0, n, 1), n, False, True),
        case(_lengths(n - 1), n, False),
        case(_lengths(1, 1), 1, True, True),
        case(_lengths(1), 1, True),
    ]


@probe(1.0)
def masks_in_use(rng: np.random.Generator) -> list[Case]:
    """with as many heads as items, every head of an item gets that item's mask"""
    b, n = sizes(rng, 2, 3)
    arguments = (_some_lengths(rng, b, n), n)
    return [
        case(*arguments, causal, left, b, harness="stretched") for causal in (True, False) for left in (True, False)
    ]


def _real(lengths: T, n: int, left: bool) -> T:
    """[b, n], True where there is a token."""
    place = torch.arange(n)
    return place >= n - lengths[:, None] if left else place < lengths[:, None]


def _seen(n: int, causal: bool) -> T:
    return torch.ones(n, n, dtype=torch.bool).tril() if causal else torch.ones(n, n, dtype=torch.bool)


@mistake
def padding_on_the_query_axis(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you hid the rows of the padding, and left its columns open. A row is the token that looks, and what padding sees
    harms nobody. A column is the token that is looked at: nobody may look at padding."""
    return _real(lengths, n, left)[:, None, :, None] & _seen(n, causal)


@mistake
def padding_on_both_axes(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you hid the padding's rows as well as its columns. What padding sees harms nobody, since its outputs are thrown
    away, and every row you empty is a softmax over nothing. The rule is about columns: nobody looks at padding."""
    real = _real(lengths, n, left)
    return real[:, None, None, :] & real[:, None, :, None] & _seen(n, causal)


@mistake
def either_is_enough(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you joined the two rules with "or": a place stays open that is real and in the future, or padding and in the past.
    Both conditions have to hold."""
    return _real(lengths, n, left)[:, None, None, :] | (_seen(n, causal) if causal else torch.tensor(False)).expand(
        n, n
    )


@mistake
def or_for_and(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you joined the two tables with |, which is "or": a place stays open if either of them allows it. Both have to."""
    return _real(lengths, n, left)[:, None, None, :] | _seen(n, causal)


@mistake
def the_word_and(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you joined the two tables with the word `and`. It asks whether a whole table is true, which has no answer, and then
    returns one of the two. What joins them entry by entry is &."""
    return _real(lengths, n, left)[:, None, None, :] and _seen(n, causal)


@mistake
def no_axis_for_the_heads(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """your mask is [b, n, n]. Scores are [b, h, n, n], and shapes are lined up from the right: your b would stand against
    h. If they differ that is an error; if they are equal, item 0's mask goes to head 0 in silence. Put an axis of
    length 1 where the heads are."""
    return _real(lengths, n, left)[:, None, :] & _seen(n, causal)


@mistake
def one_row_without_a_triangle(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """without the causal part your mask has a single row for all queries, [b, 1, 1, n]. It would broadcast, but whoever
    asks for [b, 1, n, n] may want to look at row i, or to change one. Give it all its rows."""
    real = _real(lengths, n, left)[:, None, None, :]
    return real & _seen(n, True) if causal else real


@mistake
def always_causal(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you hid the future also where causal is False."""
    return combine_by_rules(lengths, n, True, left)


@mistake
def never_causal(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you hid the padding, and left the future open where causal is True."""
    return combine_by_rules(lengths, n, False, left)


@mistake
def never_left(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """with left=True the padding stands in front: the last `length` places are real, and not the first."""
    return combine_by_rules(lengths, n, causal, False)


@mistake
def left_hides_the_tokens(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """with left=True you keep what lies behind the first `length` places, as if length counted the padding. It counts the
    tokens, and they are the last `length` places."""
    place = torch.arange(n)
    real = place >= lengths[:, None] if left else place < lengths[:, None]
    return real[:, None, None, :] & _seen(n, causal)


@mistake
def flips_the_triangle_too(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """for padding on the left you turned the whole mask round, the causal part too. The padding changes sides; time still
    runs from left to right."""
    keep = combine_by_rules(lengths, n, causal, False)
    return keep.flip(-1) if left else keep


@mistake
def one_padding_token_seen(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """one place of padding is open in each text. `length` tokens are the places 0 to length - 1, and with left=True the
    places n - length to n - 1."""
    return combine_by_rules((lengths + 1).clamp(max=n), n, causal, left)


@mistake
def padding_behind_seen(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """where padding stands behind a text, its first place is open. The first `length` places are the places 0 to
    length - 1."""
    return combine_by_rules(lengths if left else (lengths + 1).clamp(max=n), n, causal, left)


@mistake
def padding_in_front_seen(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """where padding stands in front of a text, its last place is open. The last `length` of n places are the places
    n - length to n - 1."""
    return combine_by_rules((lengths + 1).clamp(max=n) if left else lengths, n, causal, left)


@mistake
def last_token_hidden(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """where padding stands behind a text, the last real token is hidden too. The first `length` places are the places 0 to
    length - 1."""
    return combine_by_rules(lengths if left else (lengths - 1).clamp(min=0), n, causal, left)


@mistake
def first_token_hidden(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """where padding stands in front of a text, the first real token is hidden too. The last `length` of n places are the
    places n - length to n - 1."""
    return combine_by_rules((lengths - 1).clamp(min=0) if left else lengths, n, causal, left)


@mistake
def lengths_lie_flat(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you compared a row of places with a row of lengths, one place with one length. Every place of a text is to be compared
    with the one length of that text: make a column of the lengths."""
    place = torch.arange(n)
    real = place >= n - lengths if left else place < lengths
    return real[:, None, None, :] & _seen(n, causal)


@mistake
def true_means_padding(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """your True marks what is hidden. In this course True means: may attend."""
    return ~combine_by_rules(lengths, n, causal, left)


@mistake
def keeps_the_future(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """your triangle is the upper one: tokens see themselves and what comes after them."""
    return _real(lengths, n, left)[:, None, None, :] & (_seen(n, True).T if causal else _seen(n, False))


@mistake
def hides_the_diagonal(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """with causal=True no token sees itself. It may."""
    seen = torch.ones(n, n, dtype=torch.bool).tril(-1) if causal else _seen(n, False)
    return _real(lengths, n, left)[:, None, None, :] & seen


@mistake
def longest_text_for_all(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """every text has the mask of the longest one. Each has a length of its own."""
    return combine_by_rules(lengths.max().expand(len(lengths)), n, causal, left)


@mistake
def numbers_for_truth(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """the places are right, but your mask is made of numbers. A product of booleans and numbers is a number; a keep mask
    holds True and False, so that ~keep means what it says."""
    return combine_by_rules(lengths, n, causal, left).float()


@mistake
def integers_for_truth(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """the places are right, but your mask is made of the integers 0 and 1. A keep mask holds True and False: ~1 is -2."""
    return combine_by_rules(lengths, n, causal, left).long()


@right
def combine_by_rules(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    return _real(lengths, n, left)[:, None, None, :] & _seen(n, causal)


@right
def combine_by_places(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    i, j = torch.arange(n).view(1, 1, n, 1), torch.arange(n).view(1, 1, 1, n)
    first = (n - lengths if left else torch.zeros_like(lengths)).view(-1, 1, 1, 1)
    keep = (j >= first) & (j < first + lengths.view(-1, 1, 1, 1))
    return (keep & (j <= i)) if causal else keep.repeat(1, 1, n, 1)


@right
def combine_by_loop(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    out = []
    for length in lengths:
        keep = torch.zeros(n, n, dtype=torch.bool)
        if left:
            keep[:, n - length :] = True
        else:
            keep[:, :length] = True
        out.append(keep.tril() if causal else keep)
    return torch.stack(out)[:, None]


@right
def combine_by_flipping(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    real = (torch.arange(n)[None, :] < lengths[:, None]).bool()
    if left:
        real = real.flip(1)
    keep = real.unsqueeze(1).unsqueeze(2).expand(len(lengths), 1, n, n)
    return torch.logical_and(keep, torch.tril(torch.ones(n, n)).bool()) if causal else keep


@right
def combine_by_numpy(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    real = np.arange(n) < lengths.numpy()[:, None]
    real = real[:, ::-1] if left else real
    return torch.from_numpy(real[:, None, None, :] & (np.tri(n, dtype=bool) if causal else np.ones((n, n), bool)))
