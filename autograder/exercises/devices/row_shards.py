"""A weight cut by rows, evenly or not at all.

Shard r keeps all columns and the f/p rows from r·f/p on. The first place in the brackets counts rows, so `W[a:b]` is
enough, and nothing has to be turned or reshaped. Both cuts are made in the same order because they meet: hidden
feature j is made by column j of the first weight and read by row j of the second, on one device. What is asked is the
number of rows, `len(W)`, and where p does not divide it, a `ValueError` is raised; rounded down, the last rows would
be lost without a word.
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

USES = ("column_shards",)


def row_shards(W: Float[np.ndarray, "f d"], p: int) -> list[Float[np.ndarray, "_ d"]]:
    """Row j of shard r is row r * f/p + j of W."""
    f, d = W.shape
    if f % p != 0:
        raise ValueError(f"{f} rows")
    height = f // p
    shards = [np.zeros((height, d)) for _ in range(p)]
    for r in range(p):
        for j in range(height):
            for i in range(d):
                shards[r][j, i] = W[r * height + j, i]
    return shards


PUBLIC = (
    case(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]), 2),  # the example by hand
    case(counting(8, 3), 2),
    case(counting(6, 4, dtype="float32"), 3),
    case(counting(4, 4), 2),
    case(counting(3, 2), 1),
    case(counting(3, 2), 1, harness="accepting"),  # nothing to refuse
    case(counting(7, 2), 3, harness="refusing"),
    case(counting(2, 3), 3, harness="refusing"),
    case(counting(8, 5), 3, harness="refusing"),
    case(counting(14, 5), 4, harness="refusing"),
    case((np.arange(42.0) * 17 % 23 - 11.5).reshape(6, 7)[:, :5], 3),  # not contiguous
    case(np.asfortranarray((np.arange(60.0) * 7 % 41 - 20.25).reshape(12, 5)), 4),
    case((np.arange(15.0) * 4 % 11 - 5.5).reshape(3, 5), 3),  # a row for each device
    case(counting(7, 4), 2, harness="refusing"),
    case(counting(4, 3), 2, harness="accepting"),  # nothing to refuse
)


def _turned(one: Case) -> Case:
    """The case with its array standing up."""
    W, p = one.arguments
    assert isinstance(W, np.ndarray)
    return Case((W.T, p), one.harness)


@probe(0.4)
def tall(rng: np.random.Generator) -> list[Case]:
    """block after block, one for each device, in their order"""
    return [_turned(one) for one in wide_cases(rng)]


@probe(0.3)
def tall_at_the_edge(rng: np.random.Generator) -> list[Case]:
    """a square W, one device, a row for each device, float32, arrays that are not contiguous"""
    return [_turned(one) for one in wide_cases_at_the_edge(rng)]


@probe(0.3)
def too_tall(rng: np.random.Generator) -> list[Case]:
    """refuses what cannot be dealt evenly"""
    return [_turned(one) for one in too_wide_cases(rng)]


@mistake
def columns_for_rows(W: F, p: int) -> list[F]:
    """you cut the columns. A row shard keeps all d columns of W, and has some of its rows."""
    even_share(W.shape[1], p)
    return np.split(W, p, axis=1)


@mistake
def every_pth_row(W: F, p: int) -> list[F]:
    """you dealt the rows like cards, one to each device and round again. A shard is a block: device 0 has the first f/p
    rows, device 1 the next f/p."""
    even_share(len(W), p)
    return [W[r::p] for r in range(p)]


@mistake
def rows_as_they_lie_in_memory(W: F, p: int) -> list[F]:
    """you cut the numbers in the order in which they lie in memory. A transpose copies nothing: where W is one, its columns lie one after
    another, and not its rows. Cut W by its axes, and numpy finds the numbers."""
    height = even_share(len(W), p)
    return [part.reshape(height, -1) for part in np.split(W.ravel(order="K"), p)]


@mistake
def last_rows_dropped(W: F, p: int) -> list[F]:
    """where p does not divide the number of rows, you rounded down, and the last rows of W are on no device. The result
    would have the right shape and be wrong. Such a height is to be refused with a ValueError."""
    height = len(W) // p
    return [W[r * height : (r + 1) * height] for r in range(p)]


@mistake
def uneven_rows(W: F, p: int) -> list[F]:
    """where p does not divide the number of rows, you gave the first devices a row more than the others. Here shards are
    all equal, and what cannot be dealt evenly is refused with a ValueError."""
    return np.array_split(W, p)


@mistake
def last_takes_the_other_rows(W: F, p: int) -> list[F]:
    """where p does not divide the number of rows, you gave the last device what was left over. Here shards are all equal,
    and what cannot be dealt evenly is refused with a ValueError."""
    height = len(W) // p
    return [W[r * height : (r + 1) * height if r < p - 1 else None] for r in range(p)]


@mistake
def rows_rounded_up(W: F, p: int) -> list[F]:
    """where p does not divide the number of rows, you rounded the height up, and the last device has fewer rows than the others, or none.
    Here shards are all equal, and such a height is refused with a ValueError."""
    return row_slices(W, p, -(-len(W) // p))


@mistake
def padded_rows(W: F, p: int) -> list[F]:
    """where p does not divide the number of rows, you filled W up with zeros. Here such a height is refused with a
    ValueError."""
    return np.split(np.pad(W, ((0, -len(W) % p), (0, 0))), p)


@mistake
def rows_in_reverse(W: F, p: int) -> list[F]:
    """your shards come from last to first. Shard r is for rank r, and rank 0 has the first rows."""
    return np.split(W, p)[::-1]


@mistake
def shards_of_p_rows(W: F, p: int) -> list[F]:
    """you have exchanged how many shards there are and how high each is: p is the number of shards, and f/p their
    height.
    """
    return np.split(W, even_share(len(W), p))


@mistake
def rows_by_rank(W: F, p: int) -> dict[int, F]:
    """the shards are right, and they come in a dictionary. A list is wanted: it has rank r in place r already."""
    return dict(enumerate(np.split(W, p)))


@mistake
def stacked_rows(W: F, p: int) -> F:
    """the shards are right, and they come as one array with three axes. A list is wanted: in reality they lie on
    different devices, and no array holds them all."""
    return np.stack(np.split(W, p))


@mistake
def tuple_of_rows(W: F, p: int) -> tuple[F, ...]:
    """the shards are right, and they come in a tuple. A list is wanted."""
    return tuple(np.split(W, p))


@mistake
def rows_turned(W: F, p: int) -> list[F]:
    """your shards are turned, [d, f/p]. A shard is a piece of W as it stands, [f/p, d]. (If you turned W to use your
    column_shards, the pieces have to be turned back.)"""
    return [shard.T for shard in np.split(W, p)]


@mistake
def rows_of_the_turned_weight(W: F, p: int) -> list[F]:
    """you turned W with a reshape. That gives the shape of W.T, and other rows: a reshape reads on row by row. Nothing has
    to be turned here at all."""
    even_share(len(W), p)
    return [shard.T for shard in np.split(W.reshape(W.shape[1], -1), p, axis=1)]


@mistake
def shards_one_row_apart(W: F, p: int) -> list[F]:
    """each of your shards begins one row below the one before. A shard is f/p rows high, so the next one begins f/p
    rows further down.
    """
    height = even_share(len(W), p)
    return [W[r : r + height] for r in range(p)]


@mistake
def one_row_short(W: F, p: int) -> list[F]:
    """your shards are one row short. A slice ends before the row that it names."""
    height = even_share(len(W), p)
    return [W[r * height : (r + 1) * height - 1] for r in range(p)]


@mistake
def one_row_too_many(W: F, p: int) -> list[F]:
    """your shards are one row too high, so that some rows lie on two devices. A slice ends before the row that it names."""
    height = even_share(len(W), p)
    return [W[r * height : (r + 1) * height + 1] for r in range(p)]


@mistake
def row_ranks_from_one(W: F, p: int) -> list[F]:
    """you count ranks from 1, and your slices for them begin one shard too far down: the last shard is empty. Ranks count from 0, and
    rank 0 has the first rows."""
    height = even_share(len(W), p)
    return [W[r * height : (r + 1) * height] for r in range(1, p + 1)]


@mistake
def first_rows_left_out(W: F, p: int) -> list[F]:
    """the first shard is missing: does your loop begin at 1? Ranks count from 0, and rank 0 has the first rows."""
    return np.split(W, p)[1:]


@mistake
def p_for_the_height(W: F, p: int) -> list[F]:
    """you have p shards, and each of them is p rows high. Their height is f/p."""
    even_share(len(W), p)
    return row_slices(W, p, p)


@mistake
def p_rows_and_a_step(W: F, p: int) -> list[F]:
    """your shards begin at rows 0, p, 2p and so on. Shard r begins at row r times its height, and the height is f/p."""
    height = even_share(len(W), p)
    return [W[start : start + height] for start in range(0, len(W), p)]


@mistake
def height_from_the_columns(W: F, p: int) -> list[F]:
    """you worked out the height of a shard from the number of columns, W.shape[1]. It is the rows that are dealt."""
    even_share(len(W), p)
    return row_slices(W, p, W.shape[1] // p)


@mistake
def height_and_question_from_the_columns(W: F, p: int) -> list[F]:
    """you took the number of columns, W.shape[1], for the number of rows, in the question as in the height of a shard. It is the rows
    that are dealt."""
    return row_slices(W, p, even_share(W.shape[1], p))


@mistake
def columns_sliced_like_rows(W: F, p: int) -> list[F]:
    """the height of your shards is worked out from the rows, and then you slice the columns. The first place in the
    brackets is for rows, and the columns come after the comma.
    """
    return column_slices(W, p, even_share(len(W), p))


@mistake
def first_rows_for_all(W: F, p: int) -> list[F]:
    """each of your devices has the first shard. Shard r begins at row r * f/p."""
    return [W[: even_share(len(W), p)]] * p


@mistake
def first_rows_alone(W: F, p: int) -> F:
    """you returned one shard, the first. Is the return inside the loop? All p of them are wanted, in a list."""
    return np.split(W, p)[0]


@mistake
def asked_the_columns(W: F, p: int) -> list[F]:
    """you asked whether p divides the number of columns (W.shape[1]). It is the rows that are dealt."""
    even_share(W.shape[1], p)
    return last_rows_dropped(W, p)


@mistake
def asked_the_columns_too(W: F, p: int) -> list[F]:
    """you refuse where p does not divide the number of columns, besides that of the rows. Rows are dealt, and columns stay whole: there may
    be any number of them."""
    even_share(W.shape[1], p)
    return np.split(W, p)


@mistake
def row_division_upside_down(W: F, p: int) -> list[F]:
    """you ask whether f divides p, and refuse nearly everything. The question is whether p divides f: what remains of f when it is
    divided by p?"""
    even_share(p, len(W))
    return last_rows_dropped(W, p)


@mistake
def refused_where_rows_fit(W: F, p: int) -> list[F]:
    """you refuse the other way round: what can be dealt evenly is refused, and what cannot be is not. f % p is 0 where nothing remains."""
    if len(W) % p == 0:
        raise ValueError("nothing remains")
    return last_rows_dropped(W, p)


@mistake
def rows_asserted(W: F, p: int) -> list[F]:
    """you refuse with an assertion. Python leaves these out when it is asked to hurry (`python -O`), and whoever calls
    expects a ValueError."""
    assert len(W) % p == 0
    return last_rows_dropped(W, p)


@mistake
def nothing_for_rows(W: F, p: int) -> Any:
    """where the rows cannot be dealt evenly you return something that is no list of shards, such as None, False or an
    empty list. Whoever called goes on with that, and stumbles later, somewhere else. Refuse: raise a ValueError."""
    return np.split(W, p) if len(W) % p == 0 else None


@mistake
def empty_list_for_rows(W: F, p: int) -> list[F]:
    """where the rows cannot be dealt evenly you return an empty list, perhaps with a word printed. Whoever called does not read it, goes
    on with no shards, and stumbles later, somewhere else. Refuse: raise a ValueError."""
    return np.split(W, p) if len(W) % p == 0 else []


@mistake
def rows_in_float64(W: F, p: int) -> list[F]:
    """the numbers are right, but float32 went in and float64 came out: np.zeros makes float64 unless you tell it
    the type, and astype(float) always does."""
    shards = np.zeros((p, even_share(len(W), p), W.shape[1]))
    shards[:] = np.split(W, p)
    return list(shards)


@mistake
def row_error_returned(W: F, p: int) -> Any:
    """where the rows cannot be dealt evenly, you *return* a ValueError. An error stops whoever called only if it is raised."""
    return np.split(W, p) if len(W) % p == 0 else ValueError("not evenly")


@mistake
def rows_refused_with_another_error(W: F, p: int) -> list[F]:
    """you refuse with another error than a ValueError. Whoever calls is told which one to expect, and catches that one."""
    if len(W) % p:
        raise Exception("not evenly")
    return np.split(W, p)


@mistake
def rows_refused_with_a_runtime_error(W: F, p: int) -> list[F]:
    """you refuse with a RuntimeError. Whoever calls is told to expect a ValueError, and catches that one."""
    if len(W) % p:
        raise RuntimeError("not evenly")
    return np.split(W, p)


@mistake
def one_row_late(W: F, p: int) -> list[F]:
    """each of your shards begins one row late. Shard r begins at row r * f/p, and the first at 0."""
    height = even_share(len(W), p)
    return [W[r * height + 1 : (r + 1) * height + 1] for r in range(p)]


@mistake
def a_row_lost_at_each_border(W: F, p: int) -> list[F]:
    """each of your shards begins one row late, and ends where it should: a row is lost at each border. Shard r begins at row r * f/p."""
    height = even_share(len(W), p)
    return [W[r * height + 1 : (r + 1) * height] for r in range(p)]


@mistake
def two_row_halves(W: F, p: int) -> list[F]:
    """your shards are two halves, whatever p is. There are p of them."""
    even_share(len(W), p)
    half = len(W) // 2
    return [W[:half], W[half:]]


@mistake
def rows_asked_by_the_entries(W: F, p: int) -> list[F]:
    """you asked whether p divides the number of entries, and it may do so where it does not divide the rows: `size` counts everything. It is the rows
    that are dealt."""
    even_share(W.size, p)
    return row_slices(W, p, len(W) // p)


@mistake
def more_devices_than_rows_let_through(W: F, p: int) -> list[F]:
    """where there are more devices than rows you refuse nothing. Such a weight cannot be dealt evenly either: somebody would get nothing."""
    if len(W) >= p:
        even_share(len(W), p)
    return row_slices(W, p, len(W) // p)


@mistake
def only_more_devices_than_rows_refused(W: F, p: int) -> list[F]:
    """you refuse where there are more devices than rows, and there alone. What is asked is whether p divides the number of rows."""
    if len(W) < p:
        raise ValueError("too few")
    return row_slices(W, p, len(W) // p)


@mistake
def row_borders_rounded_down(W: F, p: int) -> list[F]:
    """where p does not divide the number of rows, you put the borders where they come closest, so that some shards have a row more. Here shards are all
    equal, and what cannot be dealt evenly is refused with a ValueError."""
    return [W[r * len(W) // p : (r + 1) * len(W) // p] for r in range(p)]


@mistake
def row_borders_rounded(W: F, p: int) -> list[F]:
    """where p does not divide the number of rows, you put the borders where they come closest, so that some shards have a row more. Here shards are all
    equal, and what cannot be dealt evenly is refused with a ValueError."""
    borders = [round(r * len(W) / p) for r in range(p + 1)]
    return [W[a:b] for a, b in pairwise(borders)]


@mistake
def one_device_refused_for_rows(W: F, p: int) -> list[F]:
    """you refuse one device. It gets everything: one shard, the whole weight."""
    if p == 1:
        raise ValueError("one device")
    return np.split(W, p)


@mistake
def every_pth_row_and_nothing_refused(W: F, p: int) -> list[F]:
    """two things. You dealt the rows like cards, one to each device and round again: a shard is a block. And what cannot be dealt evenly is not refused
    with a ValueError."""
    return [W[r::p] for r in range(p)]


@mistake
def columns_cut_and_nothing_refused(W: F, p: int) -> list[F]:
    """two things. You cut the columns, and it is the rows that are dealt. And what cannot be dealt evenly is not refused with a ValueError."""
    return np.array_split(W, p, axis=1)


@mistake
def rows_in_reverse_and_nothing_refused(W: F, p: int) -> list[F]:
    """two things. Your shards come from last to first, and rank 0 has the first rows. And what cannot be dealt evenly is not refused with a ValueError."""
    return np.array_split(W, p)[::-1]


@mistake
def columns_cut_after_asking_the_rows(W: F, p: int) -> list[F]:
    """you asked whether the rows can be dealt, and cut the columns. A row shard keeps all d columns of W, and has some of its rows."""
    even_share(len(W), p)
    return np.array_split(W, p, axis=1)


@mistake
def flat_shards(W: F, p: int) -> list[F]:
    """your shards are flat: you laid the weight in one row of numbers before you cut it. A shard is a piece of W as it stands, with two axes."""
    even_share(len(W), p)
    return np.split(W.ravel(), p)


@right
def rows_by_slices(W: F, p: int) -> list[F]:
    if len(W) % p:
        raise ValueError(f"{len(W)} rows, {p} devices")
    height = len(W) // p
    return [W[r * height : (r + 1) * height].copy() for r in range(p)]


@right
def rows_by_numpy(W: F, p: int) -> list[F]:
    return np.split(W, p)


@right
def rows_by_columns(W: F, p: int) -> list[F]:
    return [shard.T for shard in np.split(W.T, p, axis=1)]


@right
def rows_by_reshape(W: F, p: int) -> list[F]:
    return list(W.reshape(p, -1, W.shape[1]))
