"""One mask of two: padding and future.

Padding is hidden as what is looked at, so its columns are closed: the real places of each text get axes of length 1
for heads and rows, `[b, 1, 1, n]`. The future is a triangle `[n, n]`, the same for every text, and `&` joins the two
by broadcasting to `[b, 1, n, n]`. With padding in front the last places are real, and the triangle stays as it was.
Closing the rows of padding too would only make more empty rows. Without the axis for heads, b would line up with h,
and where they are equal nothing complains.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from autograder.exercises.batching.parts import T
from autograder.exercises.inputs import sizes
from autograder.exercises.model import Case, case, misses_the_idea, mistake, probe, right
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
    # texts of no token
    case(_lengths(0, 2), 2, True),
    case(_lengths(0, 1), 3, False, True),
    case(_lengths(4, 0, 2, 3), 5, True),
    case(_lengths(1, 4, 3), 5, True, True),
    case(_lengths(2, 1), 3, True, False, 2, harness="stretched"),
)


def _some_lengths(rng: np.random.Generator, b: int, n: int) -> TensorValue:
    """Lengths from 1 to n, not all of them equal, one of them shorter by two or more, so that there is padding."""
    found = rng.integers(1, n + 1, size=b)
    found[:2] = rng.permutation([int(rng.integers(1, n - 1)), n])
    return TensorValue(rng.permutation(found))


def _short_lengths(rng: np.random.Generator, b: int, n: int) -> TensorValue:
    """Lengths from 1 to n - 1, two of them different, so that every text has padding."""
    found = rng.integers(1, n, size=b)
    found[:2] = 1, n - 1
    return TensorValue(rng.permutation(found))


@probe(1.5)
def padded_behind(rng: np.random.Generator) -> list[Case]:
    """padding behind the text, with the future hidden and without"""
    b, n = sizes(rng, 2, 4)
    return [case(_some_lengths(rng, b, n), n, True), case(_short_lengths(rng, b, n), n, False)]


@probe(1.0)
def padded_in_front(rng: np.random.Generator) -> list[Case]:
    """padding in front of the text"""
    b, n = sizes(rng, 2, 4)
    return [case(_some_lengths(rng, b, n), n, True, True), case(_short_lengths(rng, b, n), n, False, True)]


@probe(0.5, strict=True)
def lengths_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """texts of no token, of one, of full length; a batch of one; padding to a single place"""
    n = int(rng.integers(3, 8))
    return [
        case(_lengths(0, n, 1), n, True),
        case(_lengths(0, n, 1), n, False, True),
        case(_lengths(n - 1), n, False),
        case(_lengths(1, 1), 1, True, True),
        case(_lengths(1), 1, True),
        case(_lengths(n - 1), n, True, True),
    ]


@probe(1.0)
def masks_in_use(rng: np.random.Generator) -> list[Case]:
    """with as many heads as items, every head of an item gets that item's mask"""
    b, n = sizes(rng, 2, 4)
    arguments = (_short_lengths(rng, b, n), n)
    return [
        case(*arguments, causal, left, b, harness="stretched") for causal in (True, False) for left in (True, False)
    ]


def _real(lengths: T, n: int, left: bool) -> T:
    """[b, n], True where there is a token."""
    place = torch.arange(n)
    return place >= n - lengths[:, None] if left else place < lengths[:, None]


def _seen(n: int, causal: bool) -> T:
    return torch.ones(n, n, dtype=torch.bool).tril() if causal else torch.ones(n, n, dtype=torch.bool)


@misses_the_idea
def padding_on_the_query_axis(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you hid the rows of the padding, and left its columns open. A row is the token that looks, and what padding sees
    harms nobody. A column is the token that is looked at: nobody may look at padding."""
    return _real(lengths, n, left)[:, None, :, None] & _seen(n, causal)


@mistake
def the_whole_mask_turned_round(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """for padding in front you turned the finished mask round, and the triangle in it with it: there tokens see themselves and what comes
    after them. Only the places of the padding change sides. Time does not."""
    place = torch.arange(n)
    keep = (place < lengths[:, None])[:, None, None, :].expand(len(lengths), 1, n, n)
    if causal:
        keep = keep & (place <= place[:, None])
    return keep.flip(-1, -2) if left else keep


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


@misses_the_idea
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
    """your mask is [b, n, n], and scores are [b, h, n, n]. Shapes are lined up from the right, so your b would stand against h; where
    they are equal, item 0's mask goes to head 0 in silence. The heads need an axis of length 1."""
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


@misses_the_idea
def never_causal(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you hid the padding, and left the future open where causal is True."""
    return combine_by_rules(lengths, n, False, left)


@mistake
def causal_forgets_the_padding(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """with causal=True you hand back the triangle alone, and padding may be looked at again. The two rules do not take turns: a token is
    seen if it is real *and* not in the future."""
    if causal:
        return _seen(n, True).expand(len(lengths), 1, n, n)
    return combine_by_rules(lengths, n, causal, left)


@misses_the_idea
def never_left(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you put the padding behind the text, also with left=True. There it stands in front: the last `length` places are
    real, and not the first.
    """
    return combine_by_rules(lengths, n, causal, False)


@mistake
def left_hides_the_tokens(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """with left=True you keep what lies behind the first `length` places, as if length counted the padding. It counts the
    tokens, and they are the last `length` places."""
    place = torch.arange(n)
    real = place >= lengths[:, None] if left else place < lengths[:, None]
    return real[:, None, None, :] & _seen(n, causal)


@mistake
def left_padding_up_to_the_longest(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """with left=True you count the padding in front up to the longest text, `lengths.max() - lengths`. There are n places, which may be
    more: the padding is n - length."""
    place = torch.arange(n)
    real = place >= lengths.max() - lengths[:, None] if left else place < lengths[:, None]
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
def keeps_the_strict_future(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """your triangle is the upper one, without its diagonal: tokens see what comes after them, and nothing else. That is a triangle of
    what is to be *masked*; True means: may attend."""
    seen = torch.ones(n, n, dtype=torch.bool).triu(1) if causal else _seen(n, False)
    return _real(lengths, n, left)[:, None, None, :] & seen


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
def first_text_for_all(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """every text has the mask of the first. Each has a length of its own."""
    return combine_by_rules(lengths[:1].expand(len(lengths)), n, causal, left)


@mistake
def causal_behind_only(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """with left=True the future stays open in your mask, where it is to be masked. Where the padding stands has nothing to do with time."""
    return combine_by_rules(lengths, n, causal and not left, left)


@mistake
def lengths_changed(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """the caller's lengths are one less afterwards: -= writes into the tensor that it finds. Make a new one."""
    keep = combine_by_rules(lengths, n, causal, left)
    lengths -= 1
    return keep


@mistake
def as_long_as_the_longest(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """your mask is as wide as the longest text. All texts were padded to n places, and n may be more."""
    n = int(lengths.max())
    return combine_by_rules(lengths, n, causal, left)


@mistake
def empty_rows_opened(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you opened rows that would see nothing, or places on the diagonal, so padding looks at padding. Nobody looks at padding, not even
    padding: such a row stays empty, and attention gives it zeros."""
    keep = combine_by_rules(lengths, n, causal, left)
    return keep | ~keep.any(dim=-1, keepdim=True)


@mistake
def diagonal_opened(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you let every place see itself, padding too. Nobody looks at padding, not even padding: such a row stays empty, and attention
    gives it zeros."""
    return combine_by_rules(lengths, n, causal, left) | torch.eye(n, dtype=torch.bool)


@mistake
def one_token_at_least(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """a text of no token has one open place in your mask. Its length may be 0, and then nobody looks at anything."""
    return combine_by_rules(lengths.clamp(min=1), n, causal, left)


@mistake
def no_length_is_full_length(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """a text of no token is wholly open in your mask. Its length may be 0, and then nobody looks at anything. (A slice that begins at
    -0 begins at the start.)"""
    return combine_by_rules(torch.where(lengths == 0, n, lengths), n, causal, left)


@mistake
def last_none_are_all(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """with left=True a text of no token is wholly open in your mask. [-length:] are the last places, but for length 0, where it is all
    of them."""
    return combine_by_rules(torch.where((lengths == 0) & left, n, lengths), n, causal, left)


@mistake
def added_mask(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """your mask holds 0 where a place may be seen, and -inf where it may not: a mask that is added to scores. A mask of
    True and False is asked for, with True where a token may attend.
    """
    keep = combine_by_rules(lengths, n, causal, left)
    return torch.zeros_like(keep, dtype=torch.float32).masked_fill(~keep, -torch.inf)


@mistake
def axis_taken_out(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you took axes of length 1 out of the mask (squeeze does). The axis of the heads stays, and so does that of a batch of one."""
    return combine_by_rules(lengths, n, causal, left).squeeze()


@mistake
def heads_in_front(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """your mask is [1, b, n, n]. The axis for the heads comes second: [b, 1, n, n]."""
    return combine_by_rules(lengths, n, causal, left).transpose(0, 1)


@mistake
def turned_round(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """your rows and columns are exchanged. A row is the token that looks, and a column the token that is looked at."""
    return combine_by_rules(lengths, n, causal, left).transpose(-2, -1)


@mistake
def left_means_right(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """left and right are exchanged: with left=True the padding stands in front, without it behind."""
    return combine_by_rules(lengths, n, causal, not left)


@mistake
def causal_means_open(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """you hid the future where causal is False, and left it open where it is True."""
    return combine_by_rules(lengths, n, not causal, left)


@mistake
def triangle_for_each_text(lengths: T, n: int, causal: bool, left: bool = False) -> T:
    """your triangle begins with the first real token of each text, and its columns were moved with it: a token sees the wrong ones
    before it. Time runs over all n places, padding or not: place j is hidden from place i if j > i."""
    place = torch.arange(n)
    first = (n - lengths if left else torch.zeros_like(lengths))[:, None, None, None]
    seen = (place + first <= place[:, None]) if causal else torch.ones(len(lengths), 1, n, n, dtype=torch.bool)
    return _real(lengths, n, left)[:, None, None, :] & seen


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
