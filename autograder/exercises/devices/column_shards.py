"""A weight cut by columns, evenly or not at all.

Shard r keeps all rows and the f/p columns from r·f/p on, so the shards lie side by side without a gap or an overlap.
Columns dealt out like cards, or by a reshape to `[p, d, f/p]`, have the right shape and belong to others. Where p
does not divide f there are no equal shares: rounding down would leave the last columns on no device, and nothing
later would show it. `divmod` gives the width and the rest at once, and the refusal is raised, since an error that is
returned stops nobody.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float

from autograder.exercises.devices.parts import (
    column_slices,
    even_share,
    row_slices,
    too_wide_cases,
    wide_cases,
    wide_cases_at_the_edge,
)
from autograder.exercises.model import Case, F, case, mistake, probe, right
from autograder.exercises.parts import counting


def column_shards(W: Float[np.ndarray, "d f"], p: int) -> list[Float[np.ndarray, "d _"]]:
    """Column j of shard r is column r * f/p + j of W."""
    d, f = W.shape
    if f % p != 0:
        raise ValueError(f"{f} columns")
    width = f // p
    shards = [np.zeros((d, width)) for _ in range(p)]
    for r in range(p):
        for i in range(d):
            for j in range(width):
                shards[r][i, j] = W[i, r * width + j]
    return shards


PUBLIC = (
    case(np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]), 2),  # the example by hand
    case(counting(3, 8), 2),
    case(counting(4, 6, dtype="float32"), 3),
    case(counting(4, 4), 2),
    case(counting(2, 3), 1),
    case(counting(2, 3), 1, harness="accepting"),  # nothing to refuse
    case(counting(2, 7), 3, harness="refusing"),
    case(counting(3, 2), 3, harness="refusing"),
    case(counting(5, 8), 3, harness="refusing"),
    case(counting(5, 14), 4, harness="refusing"),
    case((np.arange(35.0) * 17 % 23 - 11.5).reshape(5, 7)[:, :6], 3),  # not contiguous
    case(np.asfortranarray((np.arange(60.0) * 7 % 41 - 20.25).reshape(5, 12)), 4),
    case((np.arange(15.0) * 4 % 11 - 5.5).reshape(5, 3), 3),  # a column for each device
    case(counting(4, 7), 2, harness="refusing"),
    case(counting(3, 4), 2, harness="accepting"),  # nothing to refuse
)


@probe(0.4)
def wide(rng: np.random.Generator) -> list[Case]:
    """block after block, one for each device, in their order"""
    return wide_cases(rng)


@probe(0.3)
def wide_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a square W, one device, a column for each device, float32, arrays that are not contiguous"""
    return wide_cases_at_the_edge(rng)


@probe(0.3)
def too_wide(rng: np.random.Generator) -> list[Case]:
    """refuses what cannot be dealt evenly"""
    return too_wide_cases(rng)


@mistake
def rows_for_columns(W: F, p: int) -> list[F]:
    """you cut the rows. A column shard keeps all d rows of W, and has some of its columns."""
    even_share(W.shape[0], p)
    return np.split(W, p)


@mistake
def every_pth_column(W: F, p: int) -> list[F]:
    """you dealt the columns like cards, one to each device and round again. A shard is a block: device 0 has the first
    f/p columns, device 1 the next f/p."""
    even_share(W.shape[1], p)
    return [W[:, r::p] for r in range(p)]


@mistake
def columns_as_they_lie_in_memory(W: F, p: int) -> list[F]:
    """you cut the numbers in the order in which they lie in memory. A transpose copies nothing: where W is one, its columns lie one after
    another, and not its rows. Cut W by its axes, and numpy finds the numbers."""
    width = even_share(W.shape[1], p)
    flat = W.ravel(order="K").reshape(W.shape)
    return [flat[:, r * width : (r + 1) * width] for r in range(p)]


@mistake
def last_columns_dropped(W: F, p: int) -> list[F]:
    """where p does not divide the number of columns, you rounded down, and the last columns of W are on no device. The
    result would have the right shape and be wrong. Such a width is to be refused with a ValueError."""
    width = W.shape[1] // p
    return [W[:, r * width : (r + 1) * width] for r in range(p)]


@mistake
def uneven_columns(W: F, p: int) -> list[F]:
    """where p does not divide the number of columns, you gave the first devices a column more than the others. Here
    shards are all equal, and a width that cannot be dealt evenly is refused with a ValueError."""
    return np.array_split(W, p, axis=1)


@mistake
def last_takes_the_rest(W: F, p: int) -> list[F]:
    """where p does not divide the number of columns, you gave the last device what was left over. Here shards are all
    equal, and a width that cannot be dealt evenly is refused with a ValueError."""
    width = W.shape[1] // p
    return [W[:, r * width : (r + 1) * width if r < p - 1 else None] for r in range(p)]


@mistake
def columns_rounded_up(W: F, p: int) -> list[F]:
    """where p does not divide the number of columns, you rounded the width up, and the last device has fewer columns than the others, or
    none. Here shards are all equal, and such a width is refused with a ValueError."""
    return column_slices(W, p, -(-W.shape[1] // p))


@mistake
def padded_columns(W: F, p: int) -> list[F]:
    """where p does not divide the number of columns, you filled W up with zeros. Some libraries do that, and then have to
    remember it. Here such a width is refused with a ValueError."""
    missing = -W.shape[1] % p
    return np.split(np.pad(W, ((0, 0), (0, missing))), p, axis=1)


@mistake
def columns_in_reverse(W: F, p: int) -> list[F]:
    """your shards come from last to first. Shard r is for rank r, and rank 0 has the first columns."""
    return np.split(W, p, axis=1)[::-1]


@mistake
def shards_of_p_columns(W: F, p: int) -> list[F]:
    """you have exchanged how many shards there are and how wide each is: p is the number of shards, and f/p their
    width.
    """
    return np.split(W, even_share(W.shape[1], p), axis=1)


@mistake
def columns_by_rank(W: F, p: int) -> dict[int, F]:
    """the shards are right, and they come in a dictionary. A list is wanted: it has rank r in place r already."""
    return dict(enumerate(np.split(W, p, axis=1)))


@mistake
def stacked_columns(W: F, p: int) -> F:
    """the shards are right, and they come as one array with three axes. A list is wanted: in reality they lie on
    different devices, and no array holds them all."""
    return np.stack(np.split(W, p, axis=1))


@mistake
def tuple_of_columns(W: F, p: int) -> tuple[F, ...]:
    """the shards are right, and they come in a tuple. A list is wanted."""
    return tuple(np.split(W, p, axis=1))


@mistake
def columns_dealt_by_reshape(W: F, p: int) -> list[F]:
    """you reshaped W to [p, d, f/p]. The shapes are right, and the numbers are dealt wrongly: a reshape reads row by row,
    so shard 0 gets the first rows of W, folded up. A column shard has some numbers of every row."""
    even_share(W.shape[1], p)
    return list(W.reshape(p, W.shape[0], -1))


@mistake
def columns_turned(W: F, p: int) -> list[F]:
    """your shards are turned, [f/p, d]. A shard is a piece of W as it stands, [d, f/p]."""
    return [shard.T for shard in np.split(W, p, axis=1)]


@mistake
def shards_one_column_apart(W: F, p: int) -> list[F]:
    """each of your shards begins one column to the right of the one before. A shard is f/p columns wide, so the next
    one begins f/p columns further on.
    """
    width = even_share(W.shape[1], p)
    return [W[:, r : r + width] for r in range(p)]


@mistake
def one_column_short(W: F, p: int) -> list[F]:
    """your shards are one column short. A slice ends before the column that it names."""
    width = even_share(W.shape[1], p)
    return [W[:, r * width : (r + 1) * width - 1] for r in range(p)]


@mistake
def one_column_too_many(W: F, p: int) -> list[F]:
    """your shards are one column too wide, so that some columns lie on two devices. A slice ends before the column that it
    names."""
    width = even_share(W.shape[1], p)
    return [W[:, r * width : (r + 1) * width + 1] for r in range(p)]


@mistake
def ranks_from_one(W: F, p: int) -> list[F]:
    """you count ranks from 1, and your slices for them begin one shard too far to the right: the last shard is empty. Ranks count
    from 0, and rank 0 has the first columns."""
    width = even_share(W.shape[1], p)
    return [W[:, r * width : (r + 1) * width] for r in range(1, p + 1)]


@mistake
def first_columns_left_out(W: F, p: int) -> list[F]:
    """the first shard is missing: does your loop begin at 1? Ranks count from 0, and rank 0 has the first columns."""
    return np.split(W, p, axis=1)[1:]


@mistake
def p_for_the_width(W: F, p: int) -> list[F]:
    """you have p shards, and each of them is p columns wide. Their width is f/p."""
    even_share(W.shape[1], p)
    return [W[:, r * p : (r + 1) * p] for r in range(p)]


@mistake
def p_columns_and_a_step(W: F, p: int) -> list[F]:
    """your shards begin at columns 0, p, 2p and so on. Shard r begins at column r times its width, and the width is f/p."""
    width = even_share(W.shape[1], p)
    return [W[:, start : start + width] for start in range(0, W.shape[1], p)]


@mistake
def width_from_the_rows(W: F, p: int) -> list[F]:
    """you worked out the width of a shard from the number of rows: len(W) is W.shape[0]. It is the columns that are dealt."""
    even_share(W.shape[1], p)
    return column_slices(W, p, len(W) // p)


@mistake
def width_and_question_from_the_rows(W: F, p: int) -> list[F]:
    """you took the number of rows, len(W) or W.shape[0], for the number of columns, in the question as in the width of a shard.
    It is the columns that are dealt."""
    return column_slices(W, p, even_share(len(W), p))


@mistake
def rows_sliced_like_columns(W: F, p: int) -> list[F]:
    """the width of your shards is worked out from the columns, and then you slice the rows. The first place in the
    brackets is for rows, and the columns come after the comma.
    """
    return row_slices(W, p, even_share(W.shape[1], p))


@mistake
def first_columns_for_all(W: F, p: int) -> list[F]:
    """each of your devices has the first shard. Shard r begins at column r * f/p."""
    return [W[:, : even_share(W.shape[1], p)]] * p


@mistake
def first_shard_alone(W: F, p: int) -> F:
    """you returned one shard, the first. Is the return inside the loop? All p of them are wanted, in a list."""
    return np.split(W, p, axis=1)[0]


@mistake
def asked_the_rows(W: F, p: int) -> list[F]:
    """you asked whether p divides the number of rows (len(W), or W.shape[0]). It is the columns that are dealt."""
    even_share(W.shape[0], p)
    return last_columns_dropped(W, p)


@mistake
def asked_the_rows_too(W: F, p: int) -> list[F]:
    """you refuse where p does not divide the number of rows, besides that of the columns. Columns are dealt, and rows stay whole: there may
    be any number of them."""
    even_share(len(W), p)
    return np.split(W, p, axis=1)


@mistake
def division_upside_down(W: F, p: int) -> list[F]:
    """you ask whether f divides p, and refuse nearly everything. The question is whether p divides f: what remains of f when it is
    divided by p?"""
    even_share(p, W.shape[1])
    return last_columns_dropped(W, p)


@mistake
def refused_where_it_fits(W: F, p: int) -> list[F]:
    """you refuse the other way round: what can be dealt evenly is refused, and what cannot be is not. f % p is 0 where nothing remains."""
    if W.shape[1] % p == 0:
        raise ValueError("nothing remains")
    return last_columns_dropped(W, p)


@mistake
def columns_asserted(W: F, p: int) -> list[F]:
    """you refuse with an assertion. Python leaves these out when it is asked to hurry (`python -O`), and whoever calls
    expects a ValueError: the arguments are wrong, and it is not your function that is broken."""
    assert W.shape[1] % p == 0
    return last_columns_dropped(W, p)


@mistake
def nothing_for_a_refusal(W: F, p: int) -> Any:
    """where the columns cannot be dealt evenly you return something that is no list of shards, such as None, False or an
    empty list. Whoever called goes on with that, and stumbles later, somewhere else. Refuse: raise a ValueError."""
    return np.split(W, p, axis=1) if W.shape[1] % p == 0 else None


@mistake
def empty_list_for_a_refusal(W: F, p: int) -> list[F]:
    """where the columns cannot be dealt evenly you return an empty list, perhaps with a word printed. Whoever called does not read it,
    goes on with no shards, and stumbles later, somewhere else. Refuse: raise a ValueError."""
    return np.split(W, p, axis=1) if W.shape[1] % p == 0 else []


@mistake
def shards_in_float64(W: F, p: int) -> list[F]:
    """the numbers are right, but float32 went in and float64 came out: np.zeros makes float64 unless you tell it
    the type, and astype(float) always does."""
    shards = np.zeros((p, W.shape[0], even_share(W.shape[1], p)))
    shards[:] = np.split(W, p, axis=1)
    return list(shards)


@mistake
def column_error_returned(W: F, p: int) -> Any:
    """where the columns cannot be dealt evenly, you *return* a ValueError. An error stops whoever called only if it is raised."""
    return np.split(W, p, axis=1) if W.shape[1] % p == 0 else ValueError("not evenly")


@mistake
def columns_refused_with_another_error(W: F, p: int) -> list[F]:
    """you refuse with another error than a ValueError. Whoever calls is told which one to expect, and catches that one."""
    if W.shape[1] % p:
        raise Exception("not evenly")
    return np.split(W, p, axis=1)


@mistake
def columns_refused_with_a_runtime_error(W: F, p: int) -> list[F]:
    """you refuse with a RuntimeError. Whoever calls is told to expect a ValueError, and catches that one."""
    if W.shape[1] % p:
        raise RuntimeError("not evenly")
    return np.split(W, p, axis=1)


@mistake
def one_column_late(W: F, p: int) -> list[F]:
    """each of your shards begins one column late. Shard r begins at column r * f/p, and the first at 0."""
    width = even_share(W.shape[1], p)
    return [W[:, r * width + 1 : (r + 1) * width + 1] for r in range(p)]


@mistake
def a_column_lost_at_each_border(W: F, p: int) -> list[F]:
    """each of your shards begins one column late, and ends where it should: a column is lost at each border. Shard r begins at column r * f/p."""
    width = even_share(W.shape[1], p)
    return [W[:, r * width + 1 : (r + 1) * width] for r in range(p)]


@mistake
def two_column_halves(W: F, p: int) -> list[F]:
    """your shards are two halves, whatever p is. There are p of them."""
    even_share(W.shape[1], p)
    half = W.shape[1] // 2
    return [W[:, :half], W[:, half:]]


@mistake
def columns_asked_by_the_entries(W: F, p: int) -> list[F]:
    """you asked whether p divides the number of entries, and it may do so where it does not divide the columns: `size` counts everything. It is the columns
    that are dealt."""
    even_share(W.size, p)
    return column_slices(W, p, W.shape[1] // p)


@mistake
def more_devices_than_columns_let_through(W: F, p: int) -> list[F]:
    """where there are more devices than columns you refuse nothing. Such a weight cannot be dealt evenly either: somebody would get nothing."""
    if W.shape[1] >= p:
        even_share(W.shape[1], p)
    return column_slices(W, p, W.shape[1] // p)


@mistake
def only_more_devices_than_columns_refused(W: F, p: int) -> list[F]:
    """you refuse where there are more devices than columns, and there alone. What is asked is whether p divides the number of columns."""
    if W.shape[1] < p:
        raise ValueError("too few")
    return column_slices(W, p, W.shape[1] // p)


@mistake
def column_borders_rounded_down(W: F, p: int) -> list[F]:
    """where p does not divide the number of columns, you put the borders where they come closest, so that some shards have a column more. Here shards are all
    equal, and what cannot be dealt evenly is refused with a ValueError."""
    return [W[:, r * W.shape[1] // p : (r + 1) * W.shape[1] // p] for r in range(p)]


@mistake
def column_borders_rounded(W: F, p: int) -> list[F]:
    """where p does not divide the number of columns, you put the borders where they come closest, so that some shards have a column more. Here shards are all
    equal, and what cannot be dealt evenly is refused with a ValueError."""
    borders = [round(r * W.shape[1] / p) for r in range(p + 1)]
    return [W[:, a:b] for a, b in pairwise(borders)]


@mistake
def one_device_refused_for_columns(W: F, p: int) -> list[F]:
    """you refuse one device. It gets everything: one shard, the whole weight."""
    if p == 1:
        raise ValueError("one device")
    return np.split(W, p, axis=1)


@mistake
def every_pth_column_and_nothing_refused(W: F, p: int) -> list[F]:
    """two things. You dealt the columns like cards, one to each device and round again: a shard is a block. And what cannot be dealt evenly is not refused
    with a ValueError."""
    return [W[:, r::p] for r in range(p)]


@mistake
def rows_cut_and_nothing_refused(W: F, p: int) -> list[F]:
    """two things. You cut the rows, and it is the columns that are dealt. And what cannot be dealt evenly is not refused with a ValueError."""
    return np.array_split(W, p)


@mistake
def columns_in_reverse_and_nothing_refused(W: F, p: int) -> list[F]:
    """two things. Your shards come from last to first, and rank 0 has the first columns. And what cannot be dealt evenly is not refused with a ValueError."""
    return np.array_split(W, p, axis=1)[::-1]


@mistake
def rows_cut_after_asking_the_columns(W: F, p: int) -> list[F]:
    """you asked whether the columns can be dealt, and cut the rows. A column shard keeps all d rows of W, and has some of its columns."""
    even_share(W.shape[1], p)
    return np.array_split(W, p)


@mistake
def flat_shards(W: F, p: int) -> list[F]:
    """your shards are flat: you laid the weight in one row of numbers before you cut it. A shard is a piece of W as it stands, with two axes."""
    even_share(W.shape[1], p)
    return np.split(W.ravel(), p)


@right
def columns_by_slices(W: F, p: int) -> list[F]:
    if W.shape[1] % p:
        raise ValueError(f"{W.shape[1]} columns, {p} devices")
    width = W.shape[1] // p
    return [W[:, r * width : (r + 1) * width].copy() for r in range(p)]


@right
def columns_by_numpy(W: F, p: int) -> list[F]:
    return np.split(W, p, axis=1)


@right
def columns_by_reshape(W: F, p: int) -> list[F]:
    return list(W.reshape(W.shape[0], p, -1).swapaxes(0, 1))


@right
def columns_by_torch(W: F, p: int) -> list[F]:
    import torch

    if W.shape[1] % p:
        raise ValueError("not evenly")
    return [shard.contiguous().numpy() for shard in torch.from_numpy(W.copy()).tensor_split(p, dim=1)]
