"""Notebook 09: one model on several devices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from autograder.exercises.drawing import causal, normal, random_keep, sizes
from autograder.exercises.model import Case, Exercise, Probe, case, equivalent
from course.functions import Function, in_room, public_function
from course.parameters import Params, shapes
from course.values import with_layout

NOTEBOOK = "09_devices"
F = np.ndarray
B = np.ndarray
Act = Callable[[np.ndarray], np.ndarray]
AllReduce = Callable[..., np.ndarray]


# ------------------------------------------------------------------------------------------- column_shards


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


def _share(size: int, p: int) -> int:
    """What each of p devices gets of something that can be dealt evenly."""
    if size % p:
        raise ValueError("this cannot be dealt evenly")
    return size // p


def rows_for_columns(W: F, p: int) -> list[F]:
    """you cut the rows. A column shard keeps all d rows of W, and has some of its columns."""
    _share(W.shape[0], p)
    return np.split(W, p)


def every_pth_column(W: F, p: int) -> list[F]:
    """you dealt the columns like cards, one to each device and round again. A shard is a block: device 0 has the first
    f/p columns, device 1 the next f/p."""
    _share(W.shape[1], p)
    return [W[:, r::p] for r in range(p)]


def last_columns_dropped(W: F, p: int) -> list[F]:
    """where p does not divide the number of columns, you rounded down, and the last columns of W are on no device. The
    result would have the right shape and be wrong. Such a width is to be refused with a ValueError."""
    width = W.shape[1] // p
    return [W[:, r * width : (r + 1) * width] for r in range(p)]


def uneven_columns(W: F, p: int) -> list[F]:
    """where p does not divide the number of columns, you gave the first devices a column more than the others. Here
    shards are all equal, and a width that cannot be dealt evenly is refused with a ValueError."""
    return np.array_split(W, p, axis=1)


def last_takes_the_rest(W: F, p: int) -> list[F]:
    """where p does not divide the number of columns, you gave the last device what was left over. Here shards are all
    equal, and a width that cannot be dealt evenly is refused with a ValueError."""
    width = W.shape[1] // p
    return [W[:, r * width : (r + 1) * width if r < p - 1 else None] for r in range(p)]


def padded_columns(W: F, p: int) -> list[F]:
    """where p does not divide the number of columns, you filled W up with zeros. Some libraries do that, and then have to
    remember it. Here such a width is refused with a ValueError."""
    missing = -W.shape[1] % p
    return np.split(np.pad(W, ((0, 0), (0, missing))), p, axis=1)


def columns_in_reverse(W: F, p: int) -> list[F]:
    """your shards come from last to first. Shard r is for rank r, and rank 0 has the first columns."""
    return np.split(W, p, axis=1)[::-1]


def shards_of_p_columns(W: F, p: int) -> list[F]:
    """you have exchanged how many shards there are and how wide each is: p is the number of shards. Their width is what
    remains when f is divided by it."""
    return np.split(W, _share(W.shape[1], p), axis=1)


def stacked_columns(W: F, p: int) -> F:
    """the shards are right, and they come as one array with three axes. A list is wanted: in reality they lie on
    different devices, and no array holds them all."""
    return np.stack(np.split(W, p, axis=1))


def tuple_of_columns(W: F, p: int) -> tuple[F, ...]:
    """the shards are right, and they come in a tuple. A list is wanted."""
    return tuple(np.split(W, p, axis=1))


def columns_dealt_by_reshape(W: F, p: int) -> list[F]:
    """you reshaped W to [p, d, f/p]. The shapes are right, and the numbers are dealt wrongly: a reshape reads row by row,
    so shard 0 gets the first rows of W, folded up. A column shard has some numbers of every row."""
    _share(W.shape[1], p)
    return list(W.reshape(p, W.shape[0], -1))


def columns_turned(W: F, p: int) -> list[F]:
    """your shards are turned, [f/p, d]. A shard is a piece of W as it stands, [d, f/p]."""
    return [shard.T for shard in np.split(W, p, axis=1)]


def shards_one_column_apart(W: F, p: int) -> list[F]:
    """each of your shards begins one column to the right of the last one's. A shard is f/p columns wide, so the next one
    begins f/p columns further on."""
    width = _share(W.shape[1], p)
    return [W[:, r : r + width] for r in range(p)]


def one_column_short(W: F, p: int) -> list[F]:
    """your shards are one column short. A slice ends before the column that it names."""
    width = _share(W.shape[1], p)
    return [W[:, r * width : (r + 1) * width - 1] for r in range(p)]


def one_column_too_many(W: F, p: int) -> list[F]:
    """your shards are one column too wide, so that some columns lie on two devices. A slice ends before the column that it
    names."""
    width = _share(W.shape[1], p)
    return [W[:, r * width : (r + 1) * width + 1] for r in range(p)]


def ranks_from_one(W: F, p: int) -> list[F]:
    """you count ranks from 1, and your slices for them begin one shard too far to the right: the last shard is empty. Ranks count
    from 0, and rank 0 has the first columns."""
    width = _share(W.shape[1], p)
    return [W[:, r * width : (r + 1) * width] for r in range(1, p + 1)]


def first_columns_left_out(W: F, p: int) -> list[F]:
    """the first shard is missing: does your loop begin at 1? Ranks count from 0, and rank 0 has the first columns."""
    return np.split(W, p, axis=1)[1:]


def p_for_the_width(W: F, p: int) -> list[F]:
    """there are p shards of yours, and each is p columns wide. The width is what remains when f is divided by p."""
    _share(W.shape[1], p)
    return [W[:, r * p : (r + 1) * p] for r in range(p)]


def p_columns_and_a_step(W: F, p: int) -> list[F]:
    """your shards begin at columns 0, p, 2p and so on. Shard r begins at column r times its width, and the width is f/p."""
    width = _share(W.shape[1], p)
    return [W[:, start : start + width] for start in range(0, W.shape[1], p)]


def width_from_the_rows(W: F, p: int) -> list[F]:
    """you worked out the width of a shard from the number of rows: len(W) is W.shape[0]. It is the columns that are dealt."""
    _share(W.shape[1], p)
    return _column_slices(W, p, len(W) // p)


def width_and_question_from_the_rows(W: F, p: int) -> list[F]:
    """you took the number of rows, len(W) or W.shape[0], for the number of columns, in the question as in the width of a shard.
    It is the columns that are dealt."""
    return _column_slices(W, p, _share(len(W), p))


def rows_sliced_like_columns(W: F, p: int) -> list[F]:
    """the width of your shards is worked out from the columns, and then you slice the rows. The first place in the brackets is for
    rows, and the columns come behind the comma."""
    return _row_slices(W, p, _share(W.shape[1], p))


def division_upside_down(W: F, p: int) -> list[F]:
    """you ask whether f divides p, and refuse nearly everything. The question is whether p divides f: what remains of f when it is
    divided by p?"""
    _share(p, W.shape[1])
    return last_columns_dropped(W, p)


def refused_where_it_fits(W: F, p: int) -> list[F]:
    """you refuse the other way round: what can be dealt evenly is refused, and what cannot be is not. f % p is 0 where nothing remains."""
    if W.shape[1] % p == 0:
        raise ValueError("nothing remains")
    return last_columns_dropped(W, p)


def empty_list_for_a_refusal(W: F, p: int) -> list[F]:
    """where the columns cannot be dealt evenly you return an empty list, perhaps with a word printed. Whoever called does not read it,
    goes on with no shards, and stumbles later, somewhere else. Refuse: raise a ValueError."""
    return np.split(W, p, axis=1) if W.shape[1] % p == 0 else []


def columns_rounded_up(W: F, p: int) -> list[F]:
    """where p does not divide the number of columns, you rounded the width up, and the last device has fewer columns than the others, or
    none. Here shards are all equal, and such a width is refused with a ValueError."""
    return _column_slices(W, p, -(-W.shape[1] // p))


def _column_slices(W: F, p: int, width: int) -> list[F]:
    return [W[:, r * width : (r + 1) * width] for r in range(p)]


def _row_slices(W: F, p: int, height: int) -> list[F]:
    return [W[r * height : (r + 1) * height] for r in range(p)]


def asked_the_rows_too(W: F, p: int) -> list[F]:
    """you refuse where p does not divide the number of rows, besides that of the columns. Columns are dealt, and rows stay whole: there may
    be any number of them."""
    _share(len(W), p)
    return np.split(W, p, axis=1)


def first_columns_for_all(W: F, p: int) -> list[F]:
    """every device of yours has the first shard. Shard r begins at column r * f/p."""
    return [W[:, : _share(W.shape[1], p)]] * p


def first_shard_alone(W: F, p: int) -> F:
    """you returned one shard, the first. Is the return inside the loop? All p of them are wanted, in a list."""
    return np.split(W, p, axis=1)[0]


def asked_the_rows(W: F, p: int) -> list[F]:
    """you asked whether p divides the number of rows (len(W), or W.shape[0]). It is the columns that are dealt."""
    _share(W.shape[0], p)
    return last_columns_dropped(W, p)


def columns_asserted(W: F, p: int) -> list[F]:
    """you refuse with an assertion. Python leaves these out when it is asked to hurry (`python -O`), and whoever calls
    expects a ValueError: the arguments are wrong, and it is not your function that is broken."""
    assert W.shape[1] % p == 0
    return last_columns_dropped(W, p)


def nothing_for_a_refusal(W: F, p: int) -> Any:
    """where the columns cannot be dealt evenly you return something that is no list of shards, such as None, False or an
    empty list. Whoever called goes on with that, and stumbles later, somewhere else. Refuse: raise a ValueError."""
    return np.split(W, p, axis=1) if W.shape[1] % p == 0 else None


def shards_in_float64(W: F, p: int) -> list[F]:
    """the numbers are right, but float32 went in and float64 came out: np.zeros makes float64 unless you tell it the
    type."""
    shards = np.zeros((p, W.shape[0], _share(W.shape[1], p)))
    shards[:] = np.split(W, p, axis=1)
    return list(shards)


def columns_by_slices(W: F, p: int) -> list[F]:
    if W.shape[1] % p:
        raise ValueError(f"{W.shape[1]} columns, {p} devices")
    width = W.shape[1] // p
    return [W[:, r * width : (r + 1) * width].copy() for r in range(p)]


def columns_by_numpy(W: F, p: int) -> list[F]:
    return np.split(W, p, axis=1)


def columns_by_reshape(W: F, p: int) -> list[F]:
    return list(W.reshape(W.shape[0], p, -1).swapaxes(0, 1))


def columns_by_torch(W: F, p: int) -> list[F]:
    import torch

    if W.shape[1] % p:
        raise ValueError("not evenly")
    return [shard.contiguous().numpy() for shard in torch.from_numpy(W.copy()).tensor_split(p, dim=1)]


def _pattern(*shape: int, step: int, dtype: str = "float64") -> F:
    """Small whole numbers, from -3 to 3, that look like nothing in particular."""
    return (np.arange(math.prod(shape)) * step % 7 - 3.0).reshape(shape).astype(dtype)


def _counting(*shape: int, dtype: str = "float64") -> F:
    """Every number another one, so that each place shows what went there."""
    return np.arange(math.prod(shape), dtype=dtype).reshape(shape)


def _devices_and_share(rng: np.random.Generator) -> tuple[int, int]:
    """A number of devices, 2 to 4, and another number of columns or rows for each."""
    p = int(rng.integers(2, 5))
    return p, int(rng.choice([share for share in range(2, 6) if share != p]))


def _wide(rng: np.random.Generator) -> list[Case]:
    cases = []
    for _ in range(2):
        p, share = _devices_and_share(rng)
        d = int(rng.choice([d for d in range(3, 12) if d % p and d not in (share, p)]))
        cases += [case(_counting(d, p * share), p), case(normal(rng, d, p * share), p)]
    return [*cases, case(_counting(d, p * share), p, harness="refusing")]  # nothing to refuse


def _wide_at_the_edge(rng: np.random.Generator) -> list[Case]:
    p, share = _devices_and_share(rng)
    d, size = int(rng.integers(2, 7)), p * share
    return [
        case(normal(rng, size, size), p),  # rows can be cut as well
        case(normal(rng, d, size), 1),
        case(normal(rng, d, size), size),
        case(normal(rng, d, size, dtype="float32"), p),
        case(normal(rng, d, size, order="F"), p),
        case(normal(rng, d, size, order="strided"), p),
    ]


def _too_wide(rng: np.random.Generator) -> list[Case]:
    p, share = _devices_and_share(rng)
    rest = int(rng.integers(1, p))
    return [
        case(normal(rng, 2 * p, p * share + rest), p),
        case(normal(rng, p, p - 1), p),  # more devices than columns
        case(normal(rng, 6, 3 * share + 1), 3),
        case(normal(rng, 2 * p, p * share + rest), p, harness="refusing"),
    ]


COLUMN_SHARDS = Exercise(
    oracle=column_shards,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]), 2),  # the example by hand
        case(_counting(3, 8), 2),
        case(_counting(4, 6, dtype="float32"), 3),
        case(_counting(4, 4), 2),
        case(_counting(2, 3), 1),
        case(_counting(2, 7), 3),
        case(_counting(3, 2), 3),
        case(_counting(4, 7), 2, harness="refusing"),
        case(_counting(3, 4), 2, harness="refusing"),  # nothing to refuse
    ),
    probes=(
        Probe("block after block, one for each device, in their order", 0.4, _wide),
        Probe(
            "a square W, one device, a column for each device, float32, arrays that are not contiguous",
            0.3,
            _wide_at_the_edge,
        ),
        Probe("refuses what cannot be dealt evenly", 0.3, _too_wide),
    ),
    mistakes=(
        rows_for_columns,
        every_pth_column,
        last_columns_dropped,
        uneven_columns,
        last_takes_the_rest,
        columns_rounded_up,
        padded_columns,
        columns_in_reverse,
        shards_of_p_columns,
        stacked_columns,
        tuple_of_columns,
        columns_dealt_by_reshape,
        columns_turned,
        shards_one_column_apart,
        one_column_short,
        one_column_too_many,
        ranks_from_one,
        first_columns_left_out,
        p_for_the_width,
        p_columns_and_a_step,
        width_from_the_rows,
        width_and_question_from_the_rows,
        rows_sliced_like_columns,
        first_columns_for_all,
        first_shard_alone,
        asked_the_rows,
        asked_the_rows_too,
        division_upside_down,
        refused_where_it_fits,
        columns_asserted,
        nothing_for_a_refusal,
        empty_list_for_a_refusal,
        shards_in_float64,
    ),
    variants=(columns_by_slices, columns_by_numpy, columns_by_reshape, columns_by_torch),
)


# ---------------------------------------------------------------------------------------------- row_shards


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


def columns_for_rows(W: F, p: int) -> list[F]:
    """you cut the columns. A row shard keeps all d columns of W, and has some of its rows."""
    _share(W.shape[1], p)
    return np.split(W, p, axis=1)


def every_pth_row(W: F, p: int) -> list[F]:
    """you dealt the rows like cards, one to each device and round again. A shard is a block: device 0 has the first f/p
    rows, device 1 the next f/p."""
    _share(len(W), p)
    return [W[r::p] for r in range(p)]


def last_rows_dropped(W: F, p: int) -> list[F]:
    """where p does not divide the number of rows, you rounded down, and the last rows of W are on no device. The result
    would have the right shape and be wrong. Such a height is to be refused with a ValueError."""
    height = len(W) // p
    return [W[r * height : (r + 1) * height] for r in range(p)]


def uneven_rows(W: F, p: int) -> list[F]:
    """where p does not divide the number of rows, you gave the first devices a row more than the others. Here shards are
    all equal, and what cannot be dealt evenly is refused with a ValueError."""
    return np.array_split(W, p)


def last_takes_the_other_rows(W: F, p: int) -> list[F]:
    """where p does not divide the number of rows, you gave the last device what was left over. Here shards are all equal,
    and what cannot be dealt evenly is refused with a ValueError."""
    height = len(W) // p
    return [W[r * height : (r + 1) * height if r < p - 1 else None] for r in range(p)]


def padded_rows(W: F, p: int) -> list[F]:
    """where p does not divide the number of rows, you filled W up with zeros. Here such a height is refused with a
    ValueError."""
    return np.split(np.pad(W, ((0, -len(W) % p), (0, 0))), p)


def rows_in_reverse(W: F, p: int) -> list[F]:
    """your shards come from last to first. Shard r is for rank r, and rank 0 has the first rows."""
    return np.split(W, p)[::-1]


def shards_of_p_rows(W: F, p: int) -> list[F]:
    """you have exchanged how many shards there are and how high each is: p is the number of shards. Their height is what
    remains when f is divided by it."""
    return np.split(W, _share(len(W), p))


def stacked_rows(W: F, p: int) -> F:
    """the shards are right, and they come as one array with three axes. A list is wanted: in reality they lie on
    different devices, and no array holds them all."""
    return np.stack(np.split(W, p))


def tuple_of_rows(W: F, p: int) -> tuple[F, ...]:
    """the shards are right, and they come in a tuple. A list is wanted."""
    return tuple(np.split(W, p))


def rows_turned(W: F, p: int) -> list[F]:
    """your shards are turned, [d, f/p]. A shard is a piece of W as it stands, [f/p, d]. (If you turned W to use your
    column_shards, the pieces have to be turned back.)"""
    return [shard.T for shard in np.split(W, p)]


def rows_of_the_turned_weight(W: F, p: int) -> list[F]:
    """you turned W with a reshape. That gives the shape of W.T, and other rows: a reshape reads on row by row. Nothing has
    to be turned here at all."""
    _share(len(W), p)
    return [shard.T for shard in np.split(W.reshape(W.shape[1], -1), p, axis=1)]


def shards_one_row_apart(W: F, p: int) -> list[F]:
    """each of your shards begins one row below the last one's. A shard is f/p rows high, so the next one begins f/p rows
    further down."""
    height = _share(len(W), p)
    return [W[r : r + height] for r in range(p)]


def one_row_short(W: F, p: int) -> list[F]:
    """your shards are one row short. A slice ends before the row that it names."""
    height = _share(len(W), p)
    return [W[r * height : (r + 1) * height - 1] for r in range(p)]


def one_row_too_many(W: F, p: int) -> list[F]:
    """your shards are one row too high, so that some rows lie on two devices. A slice ends before the row that it names."""
    height = _share(len(W), p)
    return [W[r * height : (r + 1) * height + 1] for r in range(p)]


def row_ranks_from_one(W: F, p: int) -> list[F]:
    """you count ranks from 1, and your slices for them begin one shard too far down: the last shard is empty. Ranks count from 0, and
    rank 0 has the first rows."""
    height = _share(len(W), p)
    return [W[r * height : (r + 1) * height] for r in range(1, p + 1)]


def first_rows_left_out(W: F, p: int) -> list[F]:
    """the first shard is missing: does your loop begin at 1? Ranks count from 0, and rank 0 has the first rows."""
    return np.split(W, p)[1:]


def p_for_the_height(W: F, p: int) -> list[F]:
    """there are p shards of yours, and each is p rows high. The height is what remains when f is divided by p."""
    _share(len(W), p)
    return _row_slices(W, p, p)


def p_rows_and_a_step(W: F, p: int) -> list[F]:
    """your shards begin at rows 0, p, 2p and so on. Shard r begins at row r times its height, and the height is f/p."""
    height = _share(len(W), p)
    return [W[start : start + height] for start in range(0, len(W), p)]


def height_from_the_columns(W: F, p: int) -> list[F]:
    """you worked out the height of a shard from the number of columns, W.shape[1]. It is the rows that are dealt."""
    _share(len(W), p)
    return _row_slices(W, p, W.shape[1] // p)


def height_and_question_from_the_columns(W: F, p: int) -> list[F]:
    """you took the number of columns, W.shape[1], for the number of rows, in the question as in the height of a shard. It is the rows
    that are dealt."""
    return _row_slices(W, p, _share(W.shape[1], p))


def columns_sliced_like_rows(W: F, p: int) -> list[F]:
    """the height of your shards is worked out from the rows, and then you slice the columns. The first place in the brackets is for
    rows, and the columns come behind the comma."""
    return _column_slices(W, p, _share(len(W), p))


def row_division_upside_down(W: F, p: int) -> list[F]:
    """you ask whether f divides p, and refuse nearly everything. The question is whether p divides f: what remains of f when it is
    divided by p?"""
    _share(p, len(W))
    return last_rows_dropped(W, p)


def refused_where_rows_fit(W: F, p: int) -> list[F]:
    """you refuse the other way round: what can be dealt evenly is refused, and what cannot be is not. f % p is 0 where nothing remains."""
    if len(W) % p == 0:
        raise ValueError("nothing remains")
    return last_rows_dropped(W, p)


def asked_the_columns_too(W: F, p: int) -> list[F]:
    """you refuse where p does not divide the number of columns, besides that of the rows. Rows are dealt, and columns stay whole: there may
    be any number of them."""
    _share(W.shape[1], p)
    return np.split(W, p)


def empty_list_for_rows(W: F, p: int) -> list[F]:
    """where the rows cannot be dealt evenly you return an empty list, perhaps with a word printed. Whoever called does not read it, goes
    on with no shards, and stumbles later, somewhere else. Refuse: raise a ValueError."""
    return np.split(W, p) if len(W) % p == 0 else []


def rows_rounded_up(W: F, p: int) -> list[F]:
    """where p does not divide the number of rows, you rounded the height up, and the last device has fewer rows than the others, or none.
    Here shards are all equal, and such a height is refused with a ValueError."""
    return _row_slices(W, p, -(-len(W) // p))


def first_rows_for_all(W: F, p: int) -> list[F]:
    """every device of yours has the first shard. Shard r begins at row r * f/p."""
    return [W[: _share(len(W), p)]] * p


def first_rows_alone(W: F, p: int) -> F:
    """you returned one shard, the first. Is the return inside the loop? All p of them are wanted, in a list."""
    return np.split(W, p)[0]


def asked_the_columns(W: F, p: int) -> list[F]:
    """you asked whether p divides the number of columns (W.shape[1]). It is the rows that are dealt."""
    _share(W.shape[1], p)
    return last_rows_dropped(W, p)


def rows_asserted(W: F, p: int) -> list[F]:
    """you refuse with an assertion. Python leaves these out when it is asked to hurry (`python -O`), and whoever calls
    expects a ValueError."""
    assert len(W) % p == 0
    return last_rows_dropped(W, p)


def nothing_for_rows(W: F, p: int) -> Any:
    """where the rows cannot be dealt evenly you return something that is no list of shards, such as None, False or an
    empty list. Whoever called goes on with that, and stumbles later, somewhere else. Refuse: raise a ValueError."""
    return np.split(W, p) if len(W) % p == 0 else None


def rows_in_float64(W: F, p: int) -> list[F]:
    """the numbers are right, but float32 went in and float64 came out: np.zeros makes float64 unless you tell it the
    type."""
    shards = np.zeros((p, _share(len(W), p), W.shape[1]))
    shards[:] = np.split(W, p)
    return list(shards)


def rows_by_slices(W: F, p: int) -> list[F]:
    if len(W) % p:
        raise ValueError(f"{len(W)} rows, {p} devices")
    height = len(W) // p
    return [W[r * height : (r + 1) * height].copy() for r in range(p)]


def rows_by_numpy(W: F, p: int) -> list[F]:
    return np.split(W, p)


def rows_by_columns(W: F, p: int) -> list[F]:
    return [shard.T for shard in np.split(W.T, p, axis=1)]


def rows_by_reshape(W: F, p: int) -> list[F]:
    return list(W.reshape(p, -1, W.shape[1]))


def _tall(rng: np.random.Generator) -> list[Case]:
    return [_turned(one) for one in _wide(rng)]


def _tall_at_the_edge(rng: np.random.Generator) -> list[Case]:
    return [_turned(one) for one in _wide_at_the_edge(rng)]


def _too_tall(rng: np.random.Generator) -> list[Case]:
    return [_turned(one) for one in _too_wide(rng)]


def _turned(one: Case) -> Case:
    """The case with its array standing up."""
    W, p = one.arguments
    assert isinstance(W, np.ndarray)
    return Case((W.T, p), one.harness)


ROW_SHARDS = Exercise(
    oracle=row_shards,
    notebook=NOTEBOOK,
    public=(
        case(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]), 2),  # the example by hand
        case(_counting(8, 3), 2),
        case(_counting(6, 4, dtype="float32"), 3),
        case(_counting(4, 4), 2),
        case(_counting(3, 2), 1),
        case(_counting(7, 2), 3),
        case(_counting(2, 3), 3),
        case(_counting(7, 4), 2, harness="refusing"),
        case(_counting(4, 3), 2, harness="refusing"),  # nothing to refuse
    ),
    probes=(
        Probe("block after block, one for each device, in their order", 0.4, _tall),
        Probe(
            "a square W, one device, a row for each device, float32, arrays that are not contiguous",
            0.3,
            _tall_at_the_edge,
        ),
        Probe("refuses what cannot be dealt evenly", 0.3, _too_tall),
    ),
    mistakes=(
        columns_for_rows,
        every_pth_row,
        last_rows_dropped,
        uneven_rows,
        last_takes_the_other_rows,
        rows_rounded_up,
        padded_rows,
        rows_in_reverse,
        shards_of_p_rows,
        stacked_rows,
        tuple_of_rows,
        rows_turned,
        rows_of_the_turned_weight,
        shards_one_row_apart,
        one_row_short,
        one_row_too_many,
        row_ranks_from_one,
        first_rows_left_out,
        p_for_the_height,
        p_rows_and_a_step,
        height_from_the_columns,
        height_and_question_from_the_columns,
        columns_sliced_like_rows,
        first_rows_for_all,
        first_rows_alone,
        asked_the_columns,
        asked_the_columns_too,
        row_division_upside_down,
        refused_where_rows_fit,
        rows_asserted,
        nothing_for_rows,
        empty_list_for_rows,
        rows_in_float64,
    ),
    variants=(rows_by_slices, rows_by_numpy, rows_by_columns, rows_by_reshape),
    uses=("column_shards",),
)


# -------------------------------------------------------------------------------------------------- mlp_tp


def mlp_tp(
    X: Float[np.ndarray, "n d"],
    W1: Float[np.ndarray, "d f"],
    b1: Float[np.ndarray, "f"],
    W2: Float[np.ndarray, "f d"],
    b2: Float[np.ndarray, "d"],
    p: int,
    act: Callable[[np.ndarray], np.ndarray],
    all_reduce: Callable[[list[np.ndarray]], np.ndarray],
) -> Float[np.ndarray, "n d"]:
    """Device r makes hidden features r * f/p to (r + 1) * f/p - 1, and of these its part of the output."""
    (n, d), f = X.shape, len(b1)
    if f % p != 0:
        raise ValueError(f"{f} hidden features")
    width = f // p
    parts = []
    for r in range(p):
        hidden, part = np.zeros((n, width)), np.zeros((n, d))
        for t in range(n):
            for u in range(width):
                hidden[t, u] = sum(X[t, i] * W1[i, r * width + u] for i in range(d)) + b1[r * width + u]
        bent = act(hidden)
        for t in range(n):
            for i in range(d):
                part[t, i] = sum(bent[t, u] * W2[r * width + u, i] for u in range(width))
        parts.append(part)
    total = all_reduce(parts)
    return np.array([[total[t, i] + b2[i] for i in range(d)] for t in range(n)])


Device = tuple[F, F, F]
"""What one device has of W1, b1 and W2."""


def _devices(W1: F, b1: F, W2: F, p: int) -> list[Device]:
    return list(zip(np.split(W1, p, axis=1), np.split(b1, p), np.split(W2, p), strict=True))


def _parts(X: F, W1: F, b1: F, W2: F, p: int, act: Act) -> list[F]:
    """What each device adds to the output, [n, d] each."""
    return [act(X @ w1 + c1) @ w2 for w1, c1, w2 in _devices(W1, b1, W2, p)]


def bias_on_every_device(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """b2 is in your output once for each device: every one adds it to its part, and the sum of the parts has it p times.
    So you are off by exactly (p - 1)·b2. It is to be added once."""
    return all_reduce([part + b2 for part in _parts(X, W1, b1, W2, p, act)])


def no_second_bias(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """b2 is missing."""
    return all_reduce(_parts(X, W1, b1, W2, p, act))


def no_first_bias(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """b1 is missing."""
    return all_reduce(_parts(X, W1, np.zeros_like(b1), W2, p, act)) + b2


def no_bias_at_all(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """both biases are missing."""
    return all_reduce(_parts(X, W1, np.zeros_like(b1), W2, p, act))


def first_bias_on_device_0_only(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """b1 is added on the first device only, and the hidden features of the others are without it. Each hidden feature has
    its own number in b1, so b1 is dealt like the columns of W1."""
    c1 = np.where(np.arange(len(b1)) < len(b1) // p, b1, b1 * 0)
    return all_reduce(_parts(X, W1, c1, W2, p, act)) + b2


def first_bias_whole(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you add all of b1 on every device. A device has f/p hidden features, and each of them has one number in b1: it needs
    its own f/p numbers. Likewise if you have cut b1 into pieces and forgot to take the one that belongs here."""
    return all_reduce([act(X @ w1 + b1) @ w2 for w1, _, w2 in _devices(W1, b1, W2, p)]) + b2


def first_numbers_of_the_bias(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """every device of yours adds the first f/p numbers of b1. They belong to the hidden features of device 0."""
    return all_reduce([act(X @ w1 + b1[: len(b1) // p]) @ w2 for w1, _, w2 in _devices(W1, b1, W2, p)]) + b2


def bias_behind_the_activation(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you added b1 after the activation. It has to be there when the activation bends."""
    return all_reduce([(act(X @ w1) + c1) @ w2 for w1, c1, w2 in _devices(W1, b1, W2, p)]) + b2


def never_activated(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """there is no activation. Each device applies it to its own hidden features, between its two products."""
    return all_reduce([(X @ w1 + c1) @ w2 for w1, c1, w2 in _devices(W1, b1, W2, p)]) + b2


def parts_activated(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you applied the activation to the parts, after the second product. It belongs between the two. And a part is not a
    feature: it is one of p terms of a sum, and what bends terms does not bend their sum."""
    return all_reduce([act((X @ w1 + c1) @ w2) for w1, c1, w2 in _devices(W1, b1, W2, p)]) + b2


def parts_activated_too(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you applied the activation twice: between the products, where it belongs, and to the parts as well."""
    return all_reduce([act(part) for part in _parts(X, W1, b1, W2, p, act)]) + b2


def output_activated(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you applied the activation to the result. It belongs between the two products, and nowhere else."""
    return act(all_reduce([(X @ w1 + c1) @ w2 for w1, c1, w2 in _devices(W1, b1, W2, p)]) + b2)


def always_relu(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you used relu, whatever activation you were given. The caller decides which: call act."""
    return all_reduce(_parts(X, W1, b1, W2, p, lambda x: np.maximum(x, 0))) + b2


def partial_sums_activated(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you cut W1 by rows, and X by columns to go with it. Then what a device has is not a hidden feature but one of p terms
    of each, and you applied the activation to the terms. act(a) + act(b) is not act(a + b): relu makes 2 of 2 and −3, and
    of their sum 0. Which cut of W1 gives each device whole hidden features?"""
    _share(len(b1), p)
    parts = []
    for x, w1 in zip(np.split(X, p, axis=1), np.split(W1, p), strict=True):
        parts.append(act(x @ w1 + b1) @ W2)
    return all_reduce(parts) + b2


def partial_sums_activated_with_one_bias(
    X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce
) -> F:
    """you cut W1 by rows, and X by columns to go with it, with b1 on the first device. What a device has then is not a
    hidden feature but one of p terms of each, and you applied the activation to the terms. act(a) + act(b) is not
    act(a + b). Which cut of W1 gives each device whole hidden features?"""
    _share(len(b1), p)
    parts = []
    for r, (x, w1) in enumerate(zip(np.split(X, p, axis=1), np.split(W1, p), strict=True)):
        parts.append(act(x @ w1 + (b1 if r == 0 else 0)) @ W2)
    return all_reduce(parts) + b2


def _terms(X: F, W1: F, p: int) -> list[F]:
    """With W1 cut by rows, what each device has of every hidden feature: one term of a sum."""
    return [x @ w1 for x, w1 in zip(np.split(X, p, axis=1), np.split(W1, p), strict=True)]


def terms_activated_any_width(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you cut W1 by rows, and X by columns to go with it. Then what a device has is not a hidden feature but one of p terms of each,
    and you applied the activation to the terms. act(a) + act(b) is not act(a + b): relu makes 2 of 2 and −3, and of their sum 0. Which cut
    of W1 gives each device whole hidden features?"""
    return all_reduce([act(term + b1) @ W2 for term in _terms(X, W1, p)]) + b2


def terms_activated_with_a_share_of_the_bias(
    X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce
) -> F:
    """you cut W1 by rows, and X by columns to go with it, and gave each device a p-th of b1. Then what a device has is not a hidden feature but one of p terms of each,
    and you applied the activation to the terms. act(a) + act(b) is not act(a + b): relu makes 2 of 2 and −3, and of their sum 0. Which cut
    of W1 gives each device whole hidden features?"""
    return all_reduce([act(term + b1 / p) @ W2 for term in _terms(X, W1, p)]) + b2


def terms_activated_and_cut(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you cut W1 by rows, and X by columns to go with it. Then what a device has is not a hidden feature but one of p terms of each,
    and you applied the activation to the terms. act(a) + act(b) is not act(a + b): relu makes 2 of 2 and −3, and of their sum 0. Which cut
    of W1 gives each device whole hidden features?
    (And the second shard of these terms, taken on device 1 alone, leaves out what device 0 had of it.)"""
    shards = zip(_terms(X, W1, p), np.split(W2, p), strict=True)
    return all_reduce([np.split(act(term + b1), p, axis=1)[r] @ w2 for r, (term, w2) in enumerate(shards)]) + b2


def terms_with_a_share_of_the_bias_activated_and_cut(
    X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce
) -> F:
    """you cut W1 by rows, and X by columns to go with it, with a p-th of b1 for each device. Then what a device has is not a hidden feature but one of p terms of each,
    and you applied the activation to the terms. act(a) + act(b) is not act(a + b): relu makes 2 of 2 and −3, and of their sum 0. Which cut
    of W1 gives each device whole hidden features?
    (And the second shard of these terms, taken on device 1 alone, leaves out what device 0 had of it.)"""
    shards = zip(_terms(X, W1, p), np.split(W2, p), strict=True)
    return all_reduce([np.split(act(term + b1 / p), p, axis=1)[r] @ w2 for r, (term, w2) in enumerate(shards)]) + b2


def rows_first_and_back_to_columns(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """the sum is right where it runs, and it takes two collectives. With W1 cut by rows, nobody has a whole hidden feature until the terms have
    been added up, and that first exchange is f wide. It is the one to save: cut W1 the other way, and there is nothing to add before the
    activation. (d need not be a multiple of p then, either.)"""
    hidden = act(all_reduce(_terms(X, W1, p)) + b1)
    return all_reduce([own @ w2 for own, w2 in zip(np.split(hidden, p, axis=1), np.split(W2, p), strict=True)]) + b2


def reduced_before_the_activation(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you cut W1 by rows, and spend the one exchange before the activation, on what is f wide. From there on every device needs all of W2, and
    has all hidden features. Cut W1 the other way: then there is nothing to add before the activation, and the exchange comes at the end."""
    return np.asarray(act(all_reduce(_terms(X, W1, p)) + b1) @ W2 + b2)


def rows_first_in_two_exchanges(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """the numbers are right, and it takes two collectives: with W1 cut by rows, nobody has a whole hidden feature until the
    terms have been added up, and that first exchange is f wide. It is the one to save: cut W1 the other way, and there is nothing
    to add before the activation."""
    summed = all_reduce([x @ w1 for x, w1 in zip(np.array_split(X, p, axis=1), np.array_split(W1, p), strict=True)])
    hidden = act(summed + b1)
    return all_reduce([own @ w2 for own, w2 in zip(np.split(hidden, p, axis=1), np.split(W2, p), strict=True)]) + b2


def summed_by_hand(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """the number is right, and all_reduce was not asked. Either you added the parts up yourself; or you laid the bent hidden features
    side by side and multiplied by the whole of W2. Both bring together what lies on different devices, and nobody can do that without
    an exchange. Let each device send its features through its own rows of W2, and have all_reduce add."""
    return np.asarray(sum(_parts(X, W1, b1, W2, p, act)) + b2)


def gathered_by_hand(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """the number is right, all_reduce was not asked, and act was given more hidden features than one device has room for. Either you laid the
    features of all devices side by side before the activation: that is an exchange, and nobody needs it, since act works on each number by
    itself. Or the weights have not been cut at all, and it is the tokens perhaps that you dealt. Let each device bend what its own shard of W1
    makes, and send it through its own rows of W2."""
    hidden = np.concatenate([X @ w1 + c1 for w1, c1, _ in _devices(W1, b1, W2, p)], axis=1)
    return np.asarray(act(hidden) @ W2 + b2)


def tokens_activated(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you applied the activation to the tokens, before the first product. It belongs between the two."""
    return all_reduce([(act(X) @ w1 + c1) @ w2 for w1, c1, w2 in _devices(W1, b1, W2, p)]) + b2


def tokens_cut_as_well(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you cut W1 by columns, and X by columns as well. It is a row cut of the weight that has the tokens cut to go with it. Behind a column
    cut a device needs whole tokens."""
    tokens = np.split(X, p, axis=1)
    devices = _devices(W1, b1, W2, p)
    return all_reduce([act(x @ w1 + c1) @ w2 for x, (w1, c1, w2) in zip(tokens, devices, strict=True)]) + b2


def part_of_device_0(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you returned what device 0 has, one part of the sum. Nothing was exchanged."""
    return _parts(X, W1, b1, W2, p, act)[0] + b2


def part_of_the_last_device(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you returned what the last device has, one part of the sum: what the loop left behind. Collect the parts, and have
    them added up."""
    return _parts(X, W1, b1, W2, p, act)[-1] + b2


def reduced_twice(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you reduced twice. After the first all-reduce every device has the sum; the second one adds these p equal sums, and
    the result is p times too large."""
    total = all_reduce(_parts(X, W1, b1, W2, p, act))
    return all_reduce([total] * p) + b2


def mean_of_parts(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you took the mean of the parts. Each part is what some of the hidden features add to the output: their sum is
    wanted. (A mean is for gradients, where devices have seen different texts.)"""
    return all_reduce(_parts(X, W1, b1, W2, p, act)) / p + b2


def parts_side_by_side(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you laid the parts side by side, [n, p·d]. Behind a column cut pieces lie side by side; behind a row cut each device
    has a part of *every* number, and they are added up."""
    return np.concatenate(_parts(X, W1, b1, W2, p, act), axis=1) + np.tile(b2, p)


def parts_beside_each_other_then_bias(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """b2 does not fit what you add it to. If that is p·d wide: you laid the parts side by side, as one does behind a column
    cut. Behind a row cut each device has a part of *every* number, and they are added up."""
    return np.concatenate(_parts(X, W1, b1, W2, p, act), axis=1) + b2


def parts_below_each_other(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you put the parts one below the other. Each device has a part of every token's output, and these are added up."""
    return np.concatenate(_parts(X, W1, b1, W2, p, act)) + b2


def a_copy_for_each_device(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> list[F]:
    """you returned the output once for each device. They all have the same after the all-reduce; return it once."""
    return [all_reduce(_parts(X, W1, b1, W2, p, act)) + b2] * p


def reduced_part_by_part(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """all_reduce takes one list, of all parts, and you gave it something else. Either one part at a time: all devices take part in one and the
    same call. (In a real process each rank does call with its own part. This function plays all of them.) Or the parts as so many
    arguments. Or what you had added up before: adding up is what it is for."""
    total = np.zeros_like(X)
    for part in _parts(X, W1, b1, W2, p, act):
        total = total + all_reduce(part)
    return total + b2


def reduced_while_collecting(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """all_reduce takes p parts, one from each device, all at once, and yours gets fewer. Either it is one part that holds everything
    already; or you call it before all parts are there, inside the loop over devices perhaps."""
    parts: list[F] = []
    total = np.zeros_like(X)
    for part in _parts(X, W1, b1, W2, p, act):
        parts.append(part)
        total = all_reduce(parts)
    return total + b2


def hidden_reduced_too(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you added up the hidden features of the devices. They are different features, and device 0's first has nothing to do
    with device 1's first. After a column cut nothing has to be exchanged: each device goes on with what it has."""
    summed = all_reduce([act(X @ w1 + c1) for w1, c1, _ in _devices(W1, b1, W2, p)])
    return all_reduce([summed @ w2 for w2 in np.split(W2, p)]) + b2


def rows_of_the_first_weight(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you multiply whole tokens by a row shard of W1. It has d/p rows, and a token has d numbers. Which cut of W1 leaves
    every device with something that a whole token can meet?"""
    pairs = zip(np.split(W1, p), np.split(W2, p, axis=1), strict=True)
    return all_reduce([act(X @ w1 + b1) @ w2 for w1, w2 in pairs]) + b2


def second_weight_whole(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """what you multiply by has f rows, and a device has f/p hidden features to meet them. Either W2 is whole, or you cut it by columns,
    as W1. Which rows of W2 do the hidden features of a device meet?"""
    return all_reduce([act(X @ w1 + c1) @ W2 for w1, c1, _ in _devices(W1, b1, W2, p)]) + b2


def first_weight_whole(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """W1 is not cut: every device makes all f hidden features, and then they do not fit its f/p rows of W2. Each makes its
    own f/p of them."""
    return all_reduce([act(X @ W1 + b1) @ w2 for w2 in np.split(W2, p)]) + b2


def second_bias_cut(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you cut b2 into pieces. b1 goes with the columns of W1, one number for each hidden feature. b2 has one number for each
    of the d features of the output, and the output is not cut: every part is d wide."""
    parts = [part + c2 for part, c2 in zip(_parts(X, W1, b1, W2, p, act), np.split(b2, p), strict=True)]
    return all_reduce(parts)


def device_0_for_all(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """all your devices do the work of device 0. Is the shard's number left out, or stuck at 0?"""
    return all_reduce([_parts(X, W1, b1, W2, p, act)[0]] * p) + b2


def first_columns_everywhere(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """all your devices make the hidden features of device 0, and send them through rows of W2 that belong to others."""
    devices = _devices(W1, b1, W2, p)
    w1, c1, _ = devices[0]
    return all_reduce([act(X @ w1 + c1) @ w2 for _, _, w2 in devices]) + b2


def first_rows_everywhere(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """all your devices use the first rows of W2, those of device 0. Device r's hidden features meet rows of their own."""
    devices = _devices(W1, b1, W2, p)
    w2 = devices[0][2]
    return all_reduce([act(X @ w1 + c1) @ w2 for w1, c1, _ in devices]) + b2


def first_weight_of_device_0(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """all your devices multiply by the first shard of W1. The biases and the rows of W2 are their own, so it looks nearly
    right: each device has columns of its own."""
    devices = _devices(W1, b1, W2, p)
    w1 = devices[0][0]
    return all_reduce([act(X @ w1 + c1) @ w2 for _, c1, w2 in devices]) + b2


def rows_from_last_to_first(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """the shards of W1 and of W2 do not belong together: the order of one of them is reversed. Hidden feature j meets row j
    of W2, so shard r of both lies on device r."""
    flipped = np.concatenate(np.split(W2, p)[::-1])
    return all_reduce(_parts(X, W1, b1, flipped, p, act)) + b2


def columns_dealt_like_cards(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you dealt the columns of W1 (and b1) like cards, and cut W2 into blocks. Either will do, but both in the same way:
    hidden feature j meets row j of W2."""
    _share(len(b1), p)
    parts = [act(X @ W1[:, r::p] + b1[r::p]) @ w2 for r, w2 in enumerate(np.split(W2, p))]
    return all_reduce(parts) + b2


def rows_dealt_like_cards(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you dealt the rows of W2 like cards, and cut W1 into blocks. Either will do, but both in the same way: hidden feature j
    meets row j of W2."""
    _share(len(b1), p)
    parts = [act(X @ w1 + c1) @ W2[r::p] for r, (w1, c1, _) in enumerate(_devices(W1, b1, W2, p))]
    return all_reduce(parts) + b2


def bias_dealt_in_blocks(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you dealt the columns of W1 and the rows of W2 like cards, which goes together, and cut b1 into blocks, which does
    not: it has to be dealt as the columns are."""
    _share(len(b1), p)
    parts = [act(X @ W1[:, r::p] + c1) @ W2[r::p] for r, c1 in enumerate(np.split(b1, p))]
    return all_reduce(parts) + b2


def hidden_remainder_dropped(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """where p does not divide f, you rounded down, and the last hidden features are on no device. Such a width is to be
    refused with a ValueError."""
    f = len(b1) // p * p
    return all_reduce(_parts(X, W1[:, :f], b1[:f], W2[:f], p, act)) + b2


def uneven_shares(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """where p does not divide f, you gave some devices more than others. That would compute, and the others would wait for
    the slowest. Here such a width is refused with a ValueError."""
    devices = zip(np.array_split(W1, p, axis=1), np.array_split(b1, p), np.array_split(W2, p), strict=True)
    return all_reduce([act(X @ w1 + c1) @ w2 for w1, c1, w2 in devices]) + b2


def asked_the_width_of_a_token(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you asked whether p divides d, the width of a token. d is not cut at all: it is the hidden width f that is dealt."""
    _share(X.shape[1], p)
    return hidden_remainder_dropped(X, W1, b1, W2, b2, p, act, all_reduce)


def asked_the_number_of_tokens(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you asked whether p divides the number of tokens. Tokens are not dealt: every device sees all of them. It is the hidden
    width f that is dealt."""
    _share(len(X), p)
    return hidden_remainder_dropped(X, W1, b1, W2, b2, p, act, all_reduce)


def tokens_dealt(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you dealt the tokens to the devices, and each has both weights whole. That is another way of sharing the work: it needs
    no exchange here, and it saves no memory for weights, which is what this is about."""
    return np.concatenate([act(x @ W1 + b1) @ W2 + b2 for x in np.split(X, p)])


def hidden_layer_whole(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """the sum is right, but act was given more hidden features than one device holds. Either you made the whole hidden layer
    first and cut it afterwards: then every device needs all of W1. Or you put the pieces together before the activation:
    that is an exchange, and nobody needs it, since act works on each number by itself."""
    hidden = act(X @ W1 + b1)
    return all_reduce([own @ w2 for own, w2 in zip(np.split(hidden, p, axis=1), np.split(W2, p), strict=True)]) + b2


def everybody_does_everything(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """every device of yours computes the whole output, and then they are added up: p times too much, and nothing was
    shared. Each is to have a shard of the weights, and to make one part of the sum."""
    _share(len(b1), p)
    return all_reduce([act(X @ W1 + b1) @ W2] * p) + b2


def everybody_does_everything_and_the_mean(
    X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce
) -> F:
    """every device of yours computes the whole output, and their mean is taken. The number is right, and nothing was shared:
    each device needs all the weights. Each is to have a shard of them, and to make one part of the sum."""
    _share(len(b1), p)
    return all_reduce([act(X @ W1 + b1) @ W2] * p) / p + b2


def a_share_of_the_whole_output(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """every device of yours computes the whole output, and hands in a p-th of it. The number is right, and nothing was shared: each device
    needs all the weights. Each is to have a shard of them, and to make one part of the sum."""
    _share(len(b1), p)
    return all_reduce([(act(X @ W1 + b1) @ W2 + b2) / p] * p)


def a_share_of_the_whole_output_any_width(
    X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce
) -> F:
    """every device of yours computes the whole output, and hands in a p-th of it; a width that cannot be dealt evenly is not refused either. The
    number is right, and nothing was shared: each device needs all the weights. Each is to have a shard of them, and to make one part of the
    sum."""
    return all_reduce([(act(X @ W1 + b1) @ W2 + b2) / p] * p)


def everybody_does_everything_any_width(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """every device of yours computes the whole output, and then they are added up: p times too much, and nothing was shared. Each is to have a
    shard of the weights, and to make one part of the sum. Then there are widths that cannot be dealt evenly, and they are refused."""
    return all_reduce([act(X @ W1 + b1) @ W2] * p) + b2


def one_device_by_itself(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """where there is one device only, you do not ask all_reduce. The number is the same, and the code now has two ways, of which the second is
    seldom tried. One device takes part in an all-reduce as well: it is the sum of one part."""
    parts = _parts(X, W1, b1, W2, p, act)
    return (parts[0] if p == 1 else all_reduce(parts)) + b2


def tokens_added_together(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you added up once more what all_reduce had added up. It returns one array, the sum of the parts, and Python's sum over that runs along its
    first axis: it adds the tokens together."""
    return np.asarray(sum(all_reduce(_parts(X, W1, b1, W2, p, act))) + b2)


def hidden_in_one_part(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you brought the hidden features of the devices together before the second product, and went on with all of W2. Laid side by side in one
    part, they have been exchanged already, and all_reduce takes one part from each device. Added up, they are mixed: they are different features,
    and meet different rows of W2. Let each device send its own through its own rows; what comes out can be added."""
    hidden = np.concatenate([act(X @ w1 + c1) for w1, c1, _ in _devices(W1, b1, W2, p)], axis=1)
    return np.asarray(all_reduce([hidden]) @ W2 + b2)


def tokens_dealt_unevenly(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you dealt the tokens to the devices, as evenly as they go, and each has both weights whole. That is another way of sharing the work: it
    needs no exchange here, and it saves no memory for weights, which is what this is about."""
    return np.concatenate([act(x @ W1 + b1) @ W2 + b2 for x in np.array_split(X, p)])


def tokens_added(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """you added the tokens to the result. That is the residual, and it is the block that adds it, once, later on."""
    return X + all_reduce(_parts(X, W1, b1, W2, p, act)) + b2


def sum_in_float64(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part: np.zeros makes
    one, unless you tell it the type."""
    room = np.zeros((p, *X.shape))
    room[:] = _parts(X, W1, b1, W2, p, act)
    return all_reduce(list(room)) + b2


def bias_in_place(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    """the output is right, and b2 is another one now: you divided it, or added to it, in place. The next call would find it
    changed."""
    b2 /= p
    return all_reduce([part + b2 for part in _parts(X, W1, b1, W2, p, act)])


def mlp_by_slices(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    if W1.shape[1] % p:
        raise ValueError("the hidden features cannot be dealt evenly")
    width = W1.shape[1] // p
    parts = []
    for r in range(p):
        own = slice(r * width, (r + 1) * width)
        parts.append(act(X @ W1[:, own] + b1[own]) @ W2[own])
    return all_reduce(parts) + b2


def mlp_by_shards(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    biases = np.split(b1, p)
    hidden = [act(X @ w1 + c1) for w1, c1 in zip(np.split(W1, p, axis=1), biases, strict=True)]
    return all_reduce([own @ w2 for own, w2 in zip(hidden, np.split(W2, p), strict=True)]) + b2


def mlp_with_the_bias_on_device_0(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    first, *others = _parts(X, W1, b1, W2, p, act)
    return all_reduce([first + b2, *others])


def mlp_with_a_share_of_the_bias(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    return all_reduce([part + b2 / p for part in _parts(X, W1, b1, W2, p, act)])


def mlp_dealt_like_cards(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    if len(b1) % p:
        raise ValueError("the hidden features cannot be dealt evenly")
    return all_reduce([act(X @ W1[:, r::p] + b1[r::p]) @ W2[r::p] for r in range(p)]) + b2


def mlp_in_one_stack(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    d = X.shape[1]
    first = W1.reshape(d, p, -1).swapaxes(0, 1)
    return all_reduce(act(X @ first + b1.reshape(p, 1, -1)) @ W2.reshape(p, -1, d)) + b2


def mlp_by_torch(X: F, W1: F, b1: F, W2: F, b2: F, p: int, act: Act, all_reduce: AllReduce) -> F:
    import torch

    if len(b1) % p:
        raise ValueError("the hidden features cannot be dealt evenly")
    x, w1, c1, w2, c2 = (torch.from_numpy(a.copy()) for a in (X, W1, b1, W2, b2))
    parts = []
    for u, a, v in zip(w1.chunk(p, dim=1), c1.chunk(p), w2.chunk(p), strict=True):
        parts.append((torch.from_numpy(np.asarray(act((x @ u + a).numpy()))) @ v).numpy())
    return (torch.from_numpy(np.asarray(all_reduce(parts))) + c2).numpy()


def _silu(x: F) -> F:
    return np.asarray(x / (1 + np.exp(-x)))


def _leaky(x: F) -> F:
    return np.asarray(np.where(x > 0, x, x * 0.1))


def _softplus(x: F) -> F:
    return np.asarray(np.logaddexp(x, x * 0))


def _activation(rng: np.random.Generator, room: int | None = None) -> Function:
    """One of three that bend in different ways, none of them relu; it keeps the dtype."""
    act = (_silu, _leaky, _softplus)[int(rng.integers(3))]
    return Function("act", act if room is None else in_room(act, room), lambda *arguments, **keywords: 0)


def _exchange(p: int, mark: float = 0.0, distinct: bool = False) -> Function:
    return public_function("all_reduce", p=p, mark=mark, distinct=distinct)


def _layers(rng: np.random.Generator, d: int, f: int, dtype: str = "float64", order: str = "C") -> tuple[F, ...]:
    """W1, b1, W2, b2: hidden features around 0 with a spread of about 2, on both sides of a bend."""
    return (
        normal(rng, d, f, scale=1.5 / math.sqrt(d), dtype=dtype, order=order),
        normal(rng, f, dtype=dtype),
        normal(rng, f, d, dtype=dtype, order=order),
        normal(rng, d, dtype=dtype),
    )


def _network(
    rng: np.random.Generator,
    n: int,
    d: int,
    share: int,
    p: int,
    mark: float = 0.0,
    room: int | None = None,
    distinct: bool = False,
) -> Case:
    layers = _layers(rng, d, p * share)
    return case(normal(rng, n, d), *layers, p, _activation(rng, room), _exchange(p, mark, distinct))


def _unlike(rng: np.random.Generator, p: int) -> tuple[int, int, int]:
    """Sizes n, d and f/p, so that with p and f no two are alike, and that p divides none of them."""
    while True:
        n, d, share = sizes(rng, 3, 2, 7)
        if len({n, d, share, p, p * share}) == 5 and all(size % p for size in (n, d, share)):
            return n, d, share


def _networks(rng: np.random.Generator) -> list[Case]:
    return [_network(rng, *_unlike(rng, p), p) for p in (2, 3)]


def _networks_without_an_output_bias(rng: np.random.Generator) -> list[Case]:
    cases = []
    for one in _networks(rng):
        X, W1, b1, W2, b2, *rest = one.arguments
        cases.append(case(X, W1, b1, W2, np.zeros_like(b2), *rest))
    return cases


def _networks_where_more_can_be_cut(rng: np.random.Generator) -> list[Case]:
    p, n, share = 2, int(rng.choice([3, 5])), int(rng.choice([3, 5]))
    d = int(rng.choice([4, 8]))
    return [
        _network(rng, n, d, share, p),  # p divides d: W1 can be cut by rows, W2 by columns, b2 into pieces
        _network(rng, 2 * n, d, share, p),  # and the tokens can be dealt
        _network(rng, n, share, share, p),  # f/p = d
    ]


def _networks_marked(rng: np.random.Generator) -> list[Case]:
    marks = rng.uniform(10, 20, size=3).tolist()
    return [
        _network(rng, *_unlike(rng, 2), 2, mark=marks[0]),
        _network(rng, *_unlike(rng, 3), 3, mark=marks[1]),
        _network(rng, 4, 8, 3, 2, mark=marks[2], distinct=True),
    ]


def _networks_in_small_rooms(rng: np.random.Generator) -> list[Case]:
    cases = []
    for p in (2, 3):
        n, d, share = _unlike(rng, p)
        cases.append(_network(rng, n, d, share, p, room=share))
    return cases


def _networks_refused(rng: np.random.Generator) -> list[Case]:
    cases = []
    for p in (2, 3):
        n, d, share = _unlike(rng, p)
        f = p * share + 1
        act, exchange = _activation(rng), _exchange(p)
        cases += [
            case(normal(rng, n * p, d * p), *_layers(rng, d * p, f), p, act, exchange),
            case(normal(rng, n, d * p), *_layers(rng, d * p, f), p, act, exchange),
            case(normal(rng, n * p, d), *_layers(rng, d, f), p, act, exchange),
        ]
    return cases


def _networks_at_the_edge(rng: np.random.Generator) -> list[Case]:
    p = 2
    n, d, share = _unlike(rng, p)
    single = _layers(rng, d, p * share, dtype="float32")
    act, exchange = _activation(rng), _exchange(p)
    return [
        case(normal(rng, 1, d), *_layers(rng, d, p * share), p, act, exchange),
        case(normal(rng, n, d), *_layers(rng, d, share), 1, act, _exchange(1, float(rng.uniform(10, 20)))),
        case(normal(rng, n, d, dtype="float32"), *single, p, act, exchange),
        case(normal(rng, n, d, order="strided"), *_layers(rng, d, p * share, order="F"), p, act, exchange),
    ]


RELU, TANH = public_function("relu"), public_function("tanh")


def _public_network(
    n: int, d: int, f: int, p: int, act: Function, mark: float = 0.0, dtype: str = "float64", distinct: bool = False
) -> Case:
    return case(
        _pattern(n, d, step=3, dtype=dtype) / 2,
        _pattern(d, f, step=5, dtype=dtype) / 4,
        _pattern(f, step=4, dtype=dtype) / 2 + 0.25,
        _pattern(f, d, step=2, dtype=dtype) / 2,
        _pattern(d, step=3, dtype=dtype) + 0.5,
        p,
        act,
        _exchange(p, mark, distinct),
    )


MLP_TP = Exercise(
    oracle=mlp_tp,
    notebook=NOTEBOOK,
    public=(
        # the example by hand
        case(
            np.array([[1.0, 2.0]]),
            np.array([[1.0, 0.0, 2.0, -1.0], [0.0, 1.0, -1.0, 1.0]]),
            np.array([1.0, -4.0, 3.0, 1.0]),
            np.array([[1.0, 2.0], [3.0, 4.0], [1.0, -1.0], [2.0, 0.0]]),
            np.array([10.0, -20.0]),
            2,
            RELU,
            _exchange(2),
        ),
        _public_network(3, 5, 6, 2, TANH),
        _public_network(2, 4, 6, 3, TANH, mark=100.0),
        _public_network(3, 2, 6, 2, TANH, mark=100.0),
        _public_network(2, 6, 4, 2, TANH, distinct=True),
        _public_network(4, 8, 6, 2, TANH, dtype="float32"),
        _public_network(3, 4, 6, 2, public_function("tanh", room=3)),
        _public_network(3, 3, 6, 2, TANH),
        _public_network(2, 4, 5, 2, TANH),  # p divides n and d, and not f
        _public_network(3, 4, 5, 2, TANH),
        _public_network(2, 3, 5, 2, TANH),
        _public_network(2, 3, 4, 1, TANH, mark=100.0),
    ),
    probes=(
        Probe(
            "what the devices add up to where b2 is zero, all sizes different", 1.0, _networks_without_an_output_bias
        ),
        Probe("the whole output on two and on three devices, all sizes different", 1.0, _networks),
        Probe("the same where other axes can be cut too", 0.5, _networks_where_more_can_be_cut),
        Probe("everything that is added up across devices goes through all_reduce, once", 1.0, _networks_marked),
        Probe("no device works on more hidden features than its share", 0.5, _networks_in_small_rooms),
        Probe("refuses a hidden width that cannot be dealt evenly", 0.5, _networks_refused),
        Probe(
            "one token, one device, float32, arrays that are not contiguous",
            0.5,
            _networks_at_the_edge,
        ),
    ),
    mistakes=(
        bias_on_every_device,
        no_second_bias,
        no_first_bias,
        no_bias_at_all,
        first_bias_on_device_0_only,
        first_bias_whole,
        first_numbers_of_the_bias,
        bias_behind_the_activation,
        never_activated,
        parts_activated,
        parts_activated_too,
        output_activated,
        always_relu,
        partial_sums_activated,
        partial_sums_activated_with_one_bias,
        terms_activated_any_width,
        terms_activated_with_a_share_of_the_bias,
        terms_activated_and_cut,
        terms_with_a_share_of_the_bias_activated_and_cut,
        rows_first_in_two_exchanges,
        rows_first_and_back_to_columns,
        reduced_before_the_activation,
        summed_by_hand,
        gathered_by_hand,
        tokens_cut_as_well,
        tokens_activated,
        part_of_device_0,
        part_of_the_last_device,
        reduced_twice,
        mean_of_parts,
        parts_side_by_side,
        parts_beside_each_other_then_bias,
        parts_below_each_other,
        a_copy_for_each_device,
        reduced_part_by_part,
        reduced_while_collecting,
        hidden_in_one_part,
        tokens_added_together,
        one_device_by_itself,
        hidden_reduced_too,
        rows_of_the_first_weight,
        second_weight_whole,
        first_weight_whole,
        second_bias_cut,
        device_0_for_all,
        first_columns_everywhere,
        first_rows_everywhere,
        first_weight_of_device_0,
        rows_from_last_to_first,
        columns_dealt_like_cards,
        rows_dealt_like_cards,
        bias_dealt_in_blocks,
        hidden_remainder_dropped,
        uneven_shares,
        asked_the_width_of_a_token,
        asked_the_number_of_tokens,
        tokens_dealt,
        tokens_dealt_unevenly,
        hidden_layer_whole,
        everybody_does_everything,
        everybody_does_everything_any_width,
        a_share_of_the_whole_output,
        a_share_of_the_whole_output_any_width,
        everybody_does_everything_and_the_mean,
        tokens_added,
        sum_in_float64,
        bias_in_place,
    ),
    variants=(
        mlp_by_slices,
        mlp_by_shards,
        mlp_with_the_bias_on_device_0,
        mlp_with_a_share_of_the_bias,
        mlp_dealt_like_cards,
        mlp_in_one_stack,
        mlp_by_torch,
    ),
    uses=("column_shards", "row_shards"),
)


# -------------------------------------------------------------------------------------------------- mha_tp


def mha_tp(
    X: Float[np.ndarray, "n d"],
    params: dict[str, Float[np.ndarray, "..."]],
    h: int,
    keep: Bool[np.ndarray, "n n"],
    p: int,
    all_reduce: Callable[[list[np.ndarray]], np.ndarray],
) -> Float[np.ndarray, "n d"]:
    """Device r has heads r * h/p to (r + 1) * h/p - 1, and its part of the output is what these heads add to it."""
    if h % p != 0:
        raise ValueError(f"{h} heads")
    parts = []
    for r in range(p):
        part = np.zeros(X.shape)
        for i in range(r * (h // p), (r + 1) * (h // p)):
            part += _one_head(X, params["Wqkv"], params["Wo"], h, i, keep)
        parts.append(part)
    return all_reduce(parts)


def _one_head(X: F, Wqkv: F, Wo: F, h: int, i: int, keep: B) -> F:
    """What head i adds to the output of attention: token by token, from the definition."""
    v = len(Wo) // h
    k = (Wqkv.shape[1] // h - v) // 2
    out = np.zeros(X.shape)
    for t in range(len(X)):
        kept = [j for j in range(len(X)) if keep[t, j]]
        query = [sum(X[t] * Wqkv[:, i * k + x]) for x in range(k)]
        scores = []
        for j in kept:
            key = [sum(X[j] * Wqkv[:, h * k + i * k + x]) for x in range(k)]
            scores.append(sum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(k))
        powers = [math.exp(score - max(scores)) for score in scores]
        for j, power in zip(kept, powers, strict=True):
            for x in range(v):
                value = sum(X[j] * Wqkv[:, 2 * h * k + i * v + x])
                out[t] += power / math.fsum(powers) * value * Wo[i * v + x]
    return out


Heads = tuple[F, F, F, F]
"""What one device has of Wq, Wk, Wv and Wo."""


def _widths(params: Params, h: int) -> tuple[int, int]:
    """k and v."""
    v = len(params["Wo"]) // h
    return (params["Wqkv"].shape[1] // h - v) // 2, v


def _packed(params: Params, h: int) -> list[F]:
    """Wq, Wk and Wv of all heads."""
    k, _ = _widths(params, h)
    return np.split(params["Wqkv"], [h * k, 2 * h * k], axis=1)


def _dealt(params: Params, h: int, p: int) -> list[Heads]:
    _share(h, p)
    columns = [np.split(W, p, axis=1) for W in _packed(params, h)]
    return list(zip(*columns, np.split(params["Wo"], p), strict=True))


def _weigh(S: F, keep: B) -> F:
    """Softmax of each row over what it may see; a row that sees nothing is all 0."""
    M = np.where(keep, S, -np.inf)
    top = M.max(axis=-1, keepdims=True)
    E = np.exp(M - np.where(np.isneginf(top), 0, top))
    total = E.sum(axis=-1, keepdims=True)
    return E / np.where(total == 0, 1, total)


def _outputs(X: F, Wq: F, Wk: F, Wv: F, heads: int, keep: B, root: float | None = None) -> F:
    """The outputs of some heads side by side, [n, heads * v]."""
    Q, K, V = ((X @ W).reshape(len(X), heads, -1).swapaxes(0, 1) for W in (Wq, Wk, Wv))
    A = _weigh(Q @ K.swapaxes(1, 2) / (math.sqrt(Q.shape[2]) if root is None else root), keep)
    return (A @ V).swapaxes(0, 1).reshape(len(X), -1)


def _found(X: F, own: Heads, heads: int, keep: B) -> F:
    """The outputs of one device's heads side by side."""
    Wq, Wk, Wv, _ = own
    return _outputs(X, Wq, Wk, Wv, heads, keep)


def _added(X: F, own: Heads, heads: int, keep: B, root: float | None = None) -> F:
    """What one device adds to the output."""
    Wq, Wk, Wv, Wo = own
    return np.asarray(_outputs(X, Wq, Wk, Wv, heads, keep, root) @ Wo)


def _attention_parts(X: F, params: Params, h: int, keep: B, p: int, root: float | None = None) -> list[F]:
    return [_added(X, own, h // p, keep, root) for own in _dealt(params, h, p)]


def _attention(X: F, Wqkv: F, Wo: F, h: int, keep: B) -> F:
    """The carried-over function, as a student has it."""
    v = len(Wo) // h
    k = (Wqkv.shape[1] // h - v) // 2
    Wq, Wk, Wv = np.split(Wqkv, [h * k, 2 * h * k], axis=1)
    return np.asarray(_outputs(X, Wq, Wk, Wv, h, keep) @ Wo)


def packed_weight_in_blocks(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you cut Wqkv into p equal blocks of columns. It holds all queries, then all keys, then all values, so the first block is
    mostly queries and has no values at all. It has the right width, so everything runs. Each device needs the columns of its
    heads out of each of the three."""
    _share(h, p)
    shards = zip(np.split(params["Wqkv"], p, axis=1), np.split(params["Wo"], p), strict=True)
    return all_reduce([_attention(X, Wqkv, Wo, h // p, keep) for Wqkv, Wo in shards])


def heads_not_counted_anew(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """every head of yours has been cut: its columns make p narrow heads, each with a softmax of its own. Either you told each device
    that it has all h heads, and it has h/p of them; or you gave every device some columns of each head. A score needs all k columns
    of its head, so a head stays whole."""
    own = [(np.concatenate(columns, axis=1), Wo) for *columns, Wo in _dealt(params, h, p)]
    return all_reduce([_attention(X, Wqkv, Wo, h, keep) for Wqkv, Wo in own])


def heads_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you asked whether the columns can be dealt evenly, or did not ask at all, and h*k may be a multiple of p where h is not:
    25 heads of 64 make 1600 columns, 400 for each of 4 devices, and that is 6 heads and a quarter. It is whole heads that are
    dealt. Where they cannot be dealt evenly, refuse with a ValueError."""
    return _not_asked(X, params, h, keep, p, all_reduce)


def last_heads_dropped(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """where p does not divide the number of heads, you rounded down, and the last heads are on no device. Refuse with a
    ValueError."""
    k, v = _widths(params, h)
    dealt = h // p * p
    columns = [W[:, : dealt * width] for W, width in zip(_packed(params, h), (k, k, v), strict=True)]
    params = {"Wqkv": np.concatenate(columns, axis=1), "Wo": params["Wo"][: dealt * v]}
    return all_reduce(_attention_parts(X, params, dealt, keep, p))


def uneven_heads(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """where p does not divide the number of heads, you gave some devices one more than others. That would compute, and the
    others would wait for the slowest. Here it is refused with a ValueError."""
    k, v = _widths(params, h)
    parts = []
    for own in np.array_split(np.arange(h), p):
        wide, deep = slice(own[0] * k, (own[-1] + 1) * k), slice(own[0] * v, (own[-1] + 1) * v)
        Wq, Wk, Wv = _packed(params, h)
        parts.append(_added(X, (Wq[:, wide], Wk[:, wide], Wv[:, deep], params["Wo"][deep]), len(own), keep))
    return all_reduce(parts)


def asked_the_width_d(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you asked whether p divides d, the width of a token. d is not cut: every device sees whole tokens, and adds to whole tokens.
    Heads are dealt, so it is h that counts."""
    _share(X.shape[1], p)
    return last_heads_dropped(X, params, h, keep, p, all_reduce)


def asked_how_many_tokens(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you asked whether p divides the number of tokens. Tokens are not dealt: heads are."""
    _share(len(X), p)
    return last_heads_dropped(X, params, h, keep, p, all_reduce)


def asked_the_width_of_a_head(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you asked whether p divides the width of a head. A head stays whole, so its width does not matter: heads are dealt, and it is
    h that counts."""
    _share(_widths(params, h)[0], p)
    return last_heads_dropped(X, params, h, keep, p, all_reduce)


def output_weight_whole(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """what you multiply by has rows for the values of all heads, and a device has the values of its own. Either Wo is whole, or you cut
    it by columns. A device needs the rows that its own values meet."""
    return all_reduce([_found(X, own, h // p, keep) @ params["Wo"] for own in _dealt(params, h, p)])


def whole_output_weight_for_mha(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you gave each device all of Wo. What it computes for itself from the rows of Wo, the width of a value, comes out p times too large
    then, and its columns are cut in the wrong places. A device needs the rows that its own values meet."""
    own = [np.concatenate(columns, axis=1) for *columns, _ in _dealt(params, h, p)]
    return all_reduce([_attention(X, Wqkv, params["Wo"], h // p, keep) for Wqkv in own])


def columns_of_wo_for_mha(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you gave each device columns of Wo. What it computes for itself from the rows of Wo, the width of a value, comes out p times too
    large then. A device needs the rows that its own values meet."""
    own = [np.concatenate(columns, axis=1) for *columns, _ in _dealt(params, h, p)]
    shards = zip(own, np.split(params["Wo"], p, axis=1), strict=True)
    return all_reduce([_attention(X, Wqkv, Wo, h // p, keep) for Wqkv, Wo in shards])


def packed_below_each_other(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you put the queries, keys and values of a device below each other. A packed weight has them side by side: np.concatenate joins along
    axis 0 unless you tell it the axis."""
    own = [(np.concatenate(columns), Wo) for *columns, Wo in _dealt(params, h, p)]
    return all_reduce([_attention(X, Wqkv, Wo, h // p, keep) for Wqkv, Wo in own])


def _not_asked(
    X: F,
    params: Params,
    h: int,
    keep: B,
    p: int,
    all_reduce: AllReduce,
    three: list[F] | None = None,
    outputs: list[F] | None = None,
    heads: int = 0,
) -> F:
    """Attention as most will write it, without a look at h: from what they take to be the weights of queries, keys and values, the shards of
    Wo, and how many heads each device has."""
    columns = [np.split(W, p, axis=1) for W in three or _packed(params, h)]
    own = zip(*columns, outputs or np.split(params["Wo"], p), strict=True)
    return all_reduce([_attention(X, np.concatenate(W, axis=1), Wo, heads or h // p, keep) for *W, Wo in own])


def _from_three(X: F, three: list[F], params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """The same, where h has been looked at."""
    _share(h, p)
    return _not_asked(X, params, h, keep, p, all_reduce, three)


def sizes_for_borders(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you told np.split how wide the pieces of Wqkv are. It wants the borders between them: after the queries, and after the keys. As it is,
    your keys are empty, and your values begin where keys should."""
    k, _ = _widths(params, h)
    return _from_three(X, np.split(params["Wqkv"], [h * k, h * k], axis=1), params, h, keep, p, all_reduce)


def rows_split_for_columns(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you split Wqkv along axis 0, which is what np.split does unless you tell it the axis. Its rows are the features of a token; queries, keys
    and values stand side by side."""
    k, _ = _widths(params, h)
    return _from_three(X, np.split(params["Wqkv"], [h * k, 2 * h * k]), params, h, keep, p, all_reduce)


def cut_into_thirds(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you cut Wqkv into three equal parts. That fits only where a value is as wide as a key. How wide a value is can be read off
    Wo; what remains of a head's columns is shared by query and key."""
    return _from_three(X, np.split(params["Wqkv"], 3, axis=1), params, h, keep, p, all_reduce)


def width_of_a_head_from_the_token(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you took the width of a head to be d/h. Most models are built so, and nothing forces them to. The widths are in the
    weights: Wo has h*v rows, Wqkv has h*(2k + v) columns."""
    k = X.shape[1] // h
    return _from_three(X, np.split(params["Wqkv"], [h * k, 2 * h * k], axis=1), params, h, keep, p, all_reduce)


def keys_as_wide_as_values(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """your queries and keys are as wide as values. The rows of Wo tell you v, and only v. Of a head's 2k + v columns of Wqkv,
    query and key share what remains when v is taken away."""
    k = len(params["Wo"]) // h
    return _from_three(X, np.split(params["Wqkv"], [h * k, 2 * h * k], axis=1), params, h, keep, p, all_reduce)


def value_width_from_the_token(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you took the width of a value to be d/h, and gave query and key what remains. Most models are built so, and nothing forces them to. How wide
    a value is can be read off Wo, which has h*v rows."""
    v = X.shape[1] // h
    k = (params["Wqkv"].shape[1] // h - v) // 2
    return _from_three(X, np.split(params["Wqkv"], [h * k, 2 * h * k], axis=1), params, h, keep, p, all_reduce)


def a_third_of_a_head_each(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you gave query, key and value a third each of a head's columns. That fits only where a value is as wide as a key. How wide a value is can be
    read off Wo; what remains of a head's columns is shared by query and key."""
    k = params["Wqkv"].shape[1] // (3 * h)
    return _from_three(X, np.split(params["Wqkv"], [h * k, 2 * h * k], axis=1), params, h, keep, p, all_reduce)


def borders_of_one_head(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you set the borders in Wqkv for one head, k and 2k. It holds the queries of all h heads before the first key: where do the keys begin, and
    where the values?"""
    k, _ = _widths(params, h)
    return _from_three(X, np.split(params["Wqkv"], [k, 2 * k], axis=1), params, h, keep, p, all_reduce)


def three_sizes_for_borders(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you told np.split how wide the three pieces of Wqkv are. It wants the borders between them, of which three pieces have two: after the queries,
    and after the keys. Three borders make four pieces."""
    _share(h, p)
    k, v = _widths(params, h)
    Wq, Wk, Wv = np.split(params["Wqkv"], [h * k, h * k, h * v], axis=1)
    return _from_three(X, [Wq, Wk, Wv], params, h, keep, p, all_reduce)


def as_many_heads_as_devices(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you told each device that it has p heads. There are p devices, and each of them has h/p heads."""
    own = [(np.concatenate(columns, axis=1), Wo) for *columns, Wo in _dealt(params, h, p)]
    return all_reduce([_attention(X, Wqkv, Wo, p, keep) for Wqkv, Wo in own])


def packed_weight_in_blocks_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you cut Wqkv into p equal blocks of columns, and nobody asked whether the heads can be dealt evenly. It holds all queries, then all keys, then
    all values, so the first block is mostly queries and has no values at all. Each device needs the columns of its heads out of each of the
    three; and it is h that p has to divide."""
    shards = zip(np.split(params["Wqkv"], p, axis=1), np.split(params["Wo"], p), strict=True)
    return all_reduce([_attention(X, Wqkv, Wo, h // p, keep) for Wqkv, Wo in shards])


def packed_weight_in_blocks_for_all_heads(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you cut Wqkv into p equal blocks of columns, and told each device that it has all h heads. Wqkv holds all queries, then all keys, then all
    values, so the first block is mostly queries and has no values at all. Each device needs the columns of its heads out of each of the three,
    and has h/p heads."""
    _share(h, p)
    shards = zip(np.split(params["Wqkv"], p, axis=1), np.split(params["Wo"], p), strict=True)
    return all_reduce([_attention(X, Wqkv, Wo, h, keep) for Wqkv, Wo in shards])


def packed_weight_in_blocks_for_all_heads_not_asked(
    X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce
) -> F:
    """you cut Wqkv into p equal blocks of columns, told each device that it has all h heads, and did not ask whether these can be dealt evenly. Wqkv
    holds all queries, then all keys, then all values, so the first block is mostly queries and has no values at all. Each device needs the
    columns of its heads out of each of the three, and has h/p heads."""
    shards = zip(np.split(params["Wqkv"], p, axis=1), np.split(params["Wo"], p), strict=True)
    return all_reduce([_attention(X, Wqkv, Wo, h, keep) for Wqkv, Wo in shards])


def values_before_keys(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you took the columns after the queries for values, and the last ones for keys. The order is queries, keys, values."""
    k, v = _widths(params, h)
    Wq, Wv, Wk = np.split(params["Wqkv"], [h * k, h * (k + v)], axis=1)
    return _from_three(X, [Wq, Wk, Wv], params, h, keep, p, all_reduce)


def outputs_added_up(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you added up what the heads found, before Wo. Head 0 of one device and head 0 of another have found different things,
    and Wo has other rows for each. Each device first sends its own through its own rows of Wo; what comes out can be
    added."""
    devices = _dealt(params, h, p)
    summed = all_reduce([_found(X, own, h // p, keep) for own in devices])
    return all_reduce([summed @ own[3] for own in devices])


def no_output_weight(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """these are the heads side by side, and Wo has not been applied. Each device has rows of it."""
    return np.concatenate([_found(X, own, h // p, keep) for own in _dealt(params, h, p)], axis=1)


def first_rows_of_wo(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """all your devices use the first rows of Wo, those of device 0's heads. Each has rows of its own."""
    devices = _dealt(params, h, p)
    return all_reduce([_added(X, (*own[:3], devices[0][3]), h // p, keep) for own in devices])


def shards_of_wo_reversed(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """the heads and the rows of Wo do not belong together: the order of the devices is reversed in one of them."""
    devices = _dealt(params, h, p)
    return all_reduce([_added(X, (*a[:3], b[3]), h // p, keep) for a, b in zip(devices, devices[::-1], strict=True)])


def rows_of_wo_like_cards(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you dealt single rows of Wo like cards, one to each device and round again. The values of a head lie next to each other,
    and so do the rows that they meet."""
    devices = _dealt(params, h, p)
    return all_reduce([_added(X, (*own[:3], params["Wo"][r::p]), h // p, keep) for r, own in enumerate(devices)])


def _like_cards(params: Params, h: int, p: int) -> list[Heads]:
    """Device r has heads r, r + p, r + 2p, ..., whole ones."""
    _share(h, p)
    d = len(params["Wqkv"])
    by_head = [W.reshape(d, h, -1) for W in _packed(params, h)]
    rows = params["Wo"].reshape(h, -1, d)
    columns = [[W[:, r::p].reshape(d, -1) for r in range(p)] for W in by_head]
    return list(zip(*columns, [rows[r::p].reshape(-1, d) for r in range(p)], strict=True))


def heads_dealt_like_cards(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you dealt the heads like cards, device 0 the heads 0, p, 2p and so on, and cut Wo into blocks. Either will do, but both
    in the same way: a head meets rows of its own."""
    dealt = zip(_like_cards(params, h, p), np.split(params["Wo"], p), strict=True)
    return all_reduce([_added(X, (*own[:3], Wo), h // p, keep) for own, Wo in dealt])


def columns_like_cards(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you dealt single columns like cards, one to each device and round again. The columns of one head lie next to each other:
    dealt like this, every head is torn apart."""
    _share(h, p)
    columns = [[W[:, r::p] for r in range(p)] for W in _packed(params, h)]
    return all_reduce([_added(X, own, h // p, keep) for own in zip(*columns, np.split(params["Wo"], p), strict=True)])


def head_after_head(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you read the columns of Wqkv head by head: query, key and value of head 0, then those of head 1. Some models are packed
    like that, so that a plain cut gives each device whole heads. Here all queries come first, then all keys, then all
    values."""
    k, _ = _widths(params, h)
    d = len(params["Wqkv"])
    by_head = params["Wqkv"].reshape(d, h, -1)
    parts = (by_head[..., :k], by_head[..., k : 2 * k], by_head[..., 2 * k :])
    Wqkv = np.concatenate([part.reshape(d, -1) for part in parts], axis=1)
    return all_reduce(_attention_parts(X, {"Wqkv": Wqkv, "Wo": params["Wo"]}, h, keep, p))


def queries_and_keys_exchanged(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """your queries and keys are exchanged, so every table of scores is turned. The order in Wqkv is queries, keys, values."""
    return all_reduce([_added(X, (k, q, v, o), h // p, keep) for q, k, v, o in _dealt(params, h, p)])


def keys_of_device_0(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """all your devices use the keys of device 0. Queries, keys and values, each device has its own of all three."""
    devices = _dealt(params, h, p)
    return all_reduce([_added(X, (q, devices[0][1], v, o), h // p, keep) for q, _, v, o in devices])


def values_of_device_0(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """all your devices hand over the values of device 0. Queries, keys and values, each device has its own of all three."""
    devices = _dealt(params, h, p)
    return all_reduce([_added(X, (q, k, devices[0][2], o), h // p, keep) for q, k, _, o in devices])


def heads_of_device_0_for_all(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """all your devices do the work of device 0. Is the shard's number left out, or stuck at 0?"""
    return all_reduce([_attention_parts(X, params, h, keep, p)[0]] * p)


def heads_of_device_0_alone(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you returned what device 0 has: what its heads add. Nothing was exchanged."""
    return _attention_parts(X, params, h, keep, p)[0]


def heads_of_the_last_device_alone(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you returned what the last device has: what the loop left behind. Collect the parts, and have them added up."""
    return _attention_parts(X, params, h, keep, p)[-1]


def added_up_by_hand(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """the number is right, and all_reduce was not asked. Either you added the parts up yourself; or you laid the outputs of
    all heads side by side and multiplied by the whole of Wo. Both bring together what lies on different devices, and nobody
    can do that without an exchange. Let each device send its heads through its own rows of Wo, and have all_reduce add."""
    return np.asarray(sum(_attention_parts(X, params, h, keep, p)))


def attention_reduced_twice(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you reduced twice. After the first all-reduce every device has the sum; the second one adds these p equal sums, and the
    result is p times too large."""
    return all_reduce([all_reduce(_attention_parts(X, params, h, keep, p))] * p)


def reduced_head_by_head(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """the number is right, and you exchange once for each head that a device has. A device can add up what its own heads make
    before anybody is asked: one exchange is enough."""
    by_device = [_single_heads(own, h // p) for own in _dealt(params, h, p)]
    total: F = np.zeros_like(X)
    for heads in zip(*by_device, strict=True):
        total = total + all_reduce([_added(X, own, 1, keep) for own in heads])
    return total


def _single_heads(own: Heads, heads: int) -> list[Heads]:
    *columns, Wo = own
    return list(zip(*(np.split(W, heads, axis=1) for W in columns), np.split(Wo, heads), strict=True))


def a_part_for_each_head(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you gave all_reduce one part for each head. It wants one from each device: a device adds up what its own heads make
    before anybody is asked."""
    heads = [one for own in _dealt(params, h, p) for one in _single_heads(own, h // p)]
    return all_reduce([_added(X, own, 1, keep) for own in heads])


def attention_reduced_part_by_part(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """all_reduce takes one list, of all parts, and you gave it something else. Either one part at a time: all devices take part in one and the
    same call. (In a real process each rank does call with its own part. This function plays all of them.) Or the parts as so many
    arguments. Or what you had added up before: adding up is what it is for."""
    total: F = np.zeros_like(X)
    for part in _attention_parts(X, params, h, keep, p):
        total = total + all_reduce(part)
    return total


def attention_reduced_while_collecting(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """all_reduce takes p parts, one from each device, all at once, and yours gets fewer. Either it is one part that holds everything
    already; or you call it before all parts are there, inside the loop over devices perhaps."""
    parts: list[F] = []
    total: F = np.zeros_like(X)
    for part in _attention_parts(X, params, h, keep, p):
        parts.append(part)
        total = all_reduce(parts)
    return total


def mean_over_devices(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you took the mean over the devices. Each part is what some heads add to the output: their sum is wanted."""
    return all_reduce(_attention_parts(X, params, h, keep, p)) / p


def attention_parts_side_by_side(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you laid the parts side by side, [n, p·d]. Behind Wo, each device has a part of *every* number of the output, and parts
    are added up. (The outputs of heads lie side by side, before Wo.)"""
    return np.concatenate(_attention_parts(X, params, h, keep, p), axis=1)


def attention_copy_for_each_device(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> list[F]:
    """you returned the output once for each device. They all have the same after the all-reduce; return it once."""
    return [all_reduce(_attention_parts(X, params, h, keep, p))] * p


def mask_forgotten(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you do not use keep: every token sees every other, also where it may not."""
    return all_reduce(_attention_parts(X, params, h, np.ones_like(keep), p))


def mask_on_the_first_device(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """only device 0 uses the mask. The heads of all others see everything, and the sum lets it into every output. A mask lies
    whole on every device."""
    first, *others = _dealt(params, h, p)
    everything = np.ones_like(keep)
    return all_reduce([_added(X, first, h // p, keep), *(_added(X, own, h // p, everything) for own in others)])


def mask_upside_down(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """your heads attend where keep is False. True means: may attend."""
    return all_reduce(_attention_parts(X, params, h, ~keep, p))


def triangle_of_its_own(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you made a causal mask of your own. Which mask it is comes as an argument, keep, and it may be another one."""
    return all_reduce(_attention_parts(X, params, h, np.tril(np.ones_like(keep)), p))


def hidden_after_softmax(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you made hidden weights 0 after softmax. The others then no longer add up to 1: what is hidden has to be out before softmax
    divides. The masked_softmax that was carried over does that."""
    parts = []
    for q, k, v, o in _dealt(params, h, p):
        Q, K, V = ((X @ W).reshape(len(X), h // p, -1).swapaxes(0, 1) for W in (q, k, v))
        A = _weigh(Q @ K.swapaxes(1, 2) / math.sqrt(Q.shape[2]), np.ones_like(keep)) * keep
        parts.append((A @ V).swapaxes(0, 1).reshape(len(X), -1) @ o)
    return all_reduce(parts)


def nan_where_nothing_is_seen(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """a token that may look at nothing came out as NaN, and one NaN on one device is NaN on all of them after the sum. The
    masked_softmax that was carried over gives such a row zeros."""
    out = all_reduce(_attention_parts(X, params, h, keep, p))
    return np.where(keep.any(axis=1, keepdims=True), out, np.asarray(np.nan, X.dtype))


def scaled_by_root_d(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you divided the scores by √d, the width of a token. A dot product runs over the k numbers of one head's query."""
    return all_reduce(_attention_parts(X, params, h, keep, p, root=math.sqrt(X.shape[1])))


def scaled_by_the_share(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you divided the scores by the root of all the columns of queries that a device has. A dot product runs over the k
    numbers of *one* head's query, however many heads lie beside it."""
    k, _ = _widths(params, h)
    return all_reduce(_attention_parts(X, params, h, keep, p, root=math.sqrt(h // p * k)))


def not_scaled(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """your scores are not divided by the root of the width of one head's query."""
    return all_reduce(_attention_parts(X, params, h, keep, p, root=1.0))


def one_wide_head_each(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """each device of yours works as one wide head: it makes one table of scores from all its columns. It has h/p heads, and
    each of them needs a table, and a softmax, of its own."""
    return all_reduce([_added(X, own, 1, keep) for own in _dealt(params, h, p)])


def tokens_in_pieces(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you dealt the tokens to the devices. No token then sees one on another device, and every device needs all weights. Deal
    the heads: each device sees all tokens."""
    _share(h, p)
    pieces = np.split(np.arange(len(X)), p)
    parts = [_attention(X[own], params["Wqkv"], params["Wo"], h, keep[np.ix_(own, own)]) for own in pieces]
    return np.concatenate(parts)


def all_heads_everywhere(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """every device of yours works through all the heads, and then they are added up: p times too much, and nothing was shared.
    Each is to have some of the heads."""
    _share(h, p)
    return all_reduce([_attention(X, params["Wqkv"], params["Wo"], h, keep)] * p)


def all_heads_everywhere_and_the_mean(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """every device of yours works through all the heads, and their mean is taken. The number is right, and nothing was shared:
    each device needs all the weights. Each is to have some of the heads."""
    _share(h, p)
    return all_reduce([_attention(X, params["Wqkv"], params["Wo"], h, keep)] * p) / p


def a_share_of_all_heads(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """every device of yours works through all the heads, and hands in a p-th of the result. The number is right, and nothing was shared: each device
    needs all the weights. Each is to have some of the heads, and what it hands in is what they add."""
    _share(h, p)
    return all_reduce([_attention(X, params["Wqkv"], params["Wo"], h, keep) / p] * p)


def a_share_of_all_heads_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """every device of yours works through all the heads, and hands in a p-th of the result; heads that cannot be dealt evenly are not refused either.
    The number is right, and nothing was shared. Each device is to have some of the heads, and what it hands in is what they add."""
    return all_reduce([_attention(X, params["Wqkv"], params["Wo"], h, keep) / p] * p)


def heads_in_one_part(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you brought the outputs of the heads together before Wo, and went on with all of Wo. Laid side by side in one part, they have been
    exchanged already, and all_reduce takes one part from each device. Added up, they are mixed: head 0 of one device and head 0 of another have
    found different things, and meet different rows of Wo. Let each device send its own through its own rows; what comes out can be added."""
    found = [_found(X, own, h // p, keep) for own in _dealt(params, h, p)]
    return np.asarray(all_reduce([np.concatenate(found, axis=1)]) @ params["Wo"])


def attention_of_one_device_by_itself(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """where there is one device only, you do not ask all_reduce. The number is the same, and the code now has two ways, of which the second is
    seldom tried. One device takes part in an all-reduce as well: it is the sum of one part."""
    parts = _attention_parts(X, params, h, keep, p)
    return parts[0] if p == 1 else all_reduce(parts)


def outputs_of_tokens_added_together(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you added up once more what all_reduce had added up. It returns one array, the sum of the parts, and Python's sum over that runs along its
    first axis: it adds the tokens together."""
    return np.asarray(sum(all_reduce(_attention_parts(X, params, h, keep, p))))


def packed_weight_in_thirds_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you cut Wqkv into three equal parts. That fits only where a value is as wide as a key: how wide a value is can be read off Wo.
    And nobody asked whether p divides h: where it does not, refuse with a ValueError."""
    return _not_asked(X, params, h, keep, p, all_reduce, np.split(params["Wqkv"], 3, axis=1))


def keys_as_wide_as_values_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """your queries and keys are as wide as values. Of a head's 2k + v columns of Wqkv, query and key share what remains when v is taken away.
    And nobody asked whether p divides h: where it does not, refuse with a ValueError."""
    k = len(params["Wo"]) // h
    three = np.split(params["Wqkv"], [h * k, 2 * h * k], axis=1)
    return _not_asked(X, params, h, keep, p, all_reduce, three)


def value_width_from_the_token_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you took the width of a value to be d/h. How wide a value is can be read off Wo, which has h*v rows.
    And nobody asked whether p divides h: where it does not, refuse with a ValueError."""
    v = X.shape[1] // h
    k = (params["Wqkv"].shape[1] // h - v) // 2
    three = np.split(params["Wqkv"], [h * k, 2 * h * k], axis=1)
    return _not_asked(X, params, h, keep, p, all_reduce, three)


def a_third_of_a_head_each_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you gave query, key and value a third each of a head's columns. That fits only where a value is as wide as a key: how wide a value is can be read
    off Wo.
    And nobody asked whether p divides h: where it does not, refuse with a ValueError."""
    k = params["Wqkv"].shape[1] // (3 * h)
    three = np.split(params["Wqkv"], [h * k, 2 * h * k], axis=1)
    return _not_asked(X, params, h, keep, p, all_reduce, three)


def sizes_for_borders_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you told np.split how wide the pieces of Wqkv are. It wants the borders between them: after the queries, and after the keys.
    And nobody asked whether p divides h: where it does not, refuse with a ValueError."""
    k, _ = _widths(params, h)
    three = np.split(params["Wqkv"], [h * k, h * k], axis=1)
    return _not_asked(X, params, h, keep, p, all_reduce, three)


def borders_of_one_head_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you set the borders in Wqkv for one head, k and 2k. It holds the queries of all h heads before the first key.
    And nobody asked whether p divides h: where it does not, refuse with a ValueError."""
    k, _ = _widths(params, h)
    three = np.split(params["Wqkv"], [k, 2 * k], axis=1)
    return _not_asked(X, params, h, keep, p, all_reduce, three)


def whole_output_weight_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you gave each device all of Wo. It needs the rows that its own values meet.
    And nobody asked whether p divides h: where it does not, refuse with a ValueError."""
    return _not_asked(X, params, h, keep, p, all_reduce, outputs=[params["Wo"]] * p)


def one_wide_head_each_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """each device of yours works as one wide head. It has h/p heads, and each of them needs a table, and a softmax, of its own.
    And nobody asked whether p divides h: where it does not, refuse with a ValueError."""
    return _not_asked(X, params, h, keep, p, all_reduce, heads=1)


def heads_not_counted_anew_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """every head of yours has been cut: you told each device that it has all h heads, and it has h/p of them.
    And nobody asked whether p divides h: where it does not, refuse with a ValueError."""
    return _not_asked(X, params, h, keep, p, all_reduce, heads=h)


def all_heads_at_once_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """every device of yours works out all the heads, and then what they found is dealt out, as columns: where p does not divide h, a head is cut
    through, and that is to be refused with a ValueError. A device is to have the weights of its own heads only."""
    Wq, Wk, Wv = _packed(params, h)
    found = _outputs(X, Wq, Wk, Wv, h, keep)
    shards = zip(np.split(found, p, axis=1), np.split(params["Wo"], p), strict=True)
    return all_reduce([own @ Wo for own, Wo in shards])


def columns_like_cards_not_asked(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you dealt single columns like cards, one to each device and round again. The columns of one head lie next to each other: dealt like this,
    every head is torn apart. And nobody asked whether p divides h: where it does not, refuse with a ValueError."""
    columns = [[W[:, r::p] for r in range(p)] for W in _packed(params, h)]
    own = zip(*columns, np.split(params["Wo"], p), strict=True)
    return all_reduce([_attention(X, np.concatenate(W, axis=1), Wo, h // p, keep) for *W, Wo in own])


def biased_attention(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you added b2. It belongs to the FFN; attention has no bias here, and needs nothing of params but Wqkv and Wo."""
    return all_reduce(_attention_parts(X, params, h, keep, p)) + params["b2"]


def normed_attention(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you normed the tokens first. The block does that before it calls; here X is attended to as it comes, and nothing of
    params is needed but Wqkv and Wo."""
    centred = X - X.mean(axis=1, keepdims=True)
    T1 = params["gain1"] * centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) + params["bias1"]
    return all_reduce(_attention_parts(T1.astype(X.dtype), params, h, keep, p))


def residual_added(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """you added the tokens to the result. That is the residual, and it is the block that adds it, once, later on."""
    return X + all_reduce(_attention_parts(X, params, h, keep, p))


def attention_in_float64(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """the numbers are right, but float32 went in and float64 came out. Somewhere a float64 array took part: np.zeros makes one,
    and so does numpy's root of a whole number."""
    room = np.zeros((p, *X.shape))
    room[:] = _attention_parts(X, params, h, keep, p)
    return all_reduce(list(room))


def shards_put_into_params(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """the output is right, and params is not what it was: you put shards into it. The caller still needs the whole weights.
    Give the shards names of their own, or put them into a new dictionary."""
    own = [(np.concatenate(columns, axis=1), Wo) for *columns, Wo in _dealt(params, h, p)]
    parts = []
    for params["Wqkv"], params["Wo"] in own:
        parts.append(_attention(X, params["Wqkv"], params["Wo"], h // p, keep))
    return all_reduce(parts)


@equivalent(
    "only parts and their sum cross between devices, and these parts are the same: who worked out which heads cannot be seen"
)
def heads_worked_out_by_everybody(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    """every device of yours works out all the heads, and takes what it needs of them. It is to have the weights of its own
    heads only."""
    _share(h, p)
    Wq, Wk, Wv = _packed(params, h)
    found = _outputs(X, Wq, Wk, Wv, h, keep)
    shards = zip(np.split(found, p, axis=1), np.split(params["Wo"], p), strict=True)
    return all_reduce([own @ Wo for own, Wo in shards])


def mha_tp_with_mha(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    own = [(np.hstack(columns), Wo) for *columns, Wo in _dealt(params, h, p)]
    return all_reduce([_attention(X, Wqkv, Wo, h // p, keep) for Wqkv, Wo in own])


def mha_tp_by_slices(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    if h % p:
        raise ValueError("heads cannot be dealt evenly")
    Wqkv, Wo = params["Wqkv"], params["Wo"]
    k, v = _widths(params, h)
    few = h // p
    parts = []
    for r in range(p):
        queries = Wqkv[:, r * few * k : (r + 1) * few * k]
        keys = Wqkv[:, h * k + r * few * k : h * k + (r + 1) * few * k]
        values = Wqkv[:, 2 * h * k + r * few * v : 2 * h * k + (r + 1) * few * v]
        parts.append(_added(X, (queries, keys, values, Wo[r * few * v : (r + 1) * few * v]), few, keep))
    return all_reduce(parts)


def mha_tp_head_by_head(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    parts = []
    for own in _dealt(params, h, p):
        part = np.zeros_like(X)
        for q, k, v, o in _single_heads(own, h // p):
            part += _weigh(X @ q @ (X @ k).T / q.shape[1] ** 0.5, keep) @ (X @ v) @ o
        parts.append(part)
    return all_reduce(parts)


def mha_tp_dealt_like_cards(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    return all_reduce([_added(X, own, h // p, keep) for own in _like_cards(params, h, p)])


def mha_tp_by_einsum(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    if h % p:
        raise ValueError("heads cannot be dealt evenly")
    d = X.shape[1]
    Q, K, V = (np.einsum("nd,dpix->pinx", X, W.reshape(d, p, h // p, -1)) for W in _packed(params, h))
    A = _weigh(np.einsum("pinx,pimx->pinm", Q, K) / math.sqrt(Q.shape[-1]), keep)
    parts = np.einsum("pinm,pimx,pixd->pnd", A, V, params["Wo"].reshape(p, h // p, -1, d))
    return all_reduce(list(parts))


def mha_tp_by_torch(X: F, params: Params, h: int, keep: B, p: int, all_reduce: AllReduce) -> F:
    import torch

    x, hidden = torch.from_numpy(X.copy()), ~torch.from_numpy(keep.copy())
    parts = []
    for own in _dealt(params, h, p):
        q, k, v, o = (torch.from_numpy(W.copy()) for W in own)
        queries, keys, values = ((x @ W).reshape(len(X), h // p, -1).transpose(0, 1) for W in (q, k, v))
        A = torch.softmax((queries @ keys.mT / queries.shape[2] ** 0.5).masked_fill(hidden, -torch.inf), dim=-1)
        A = A.masked_fill(hidden.all(dim=1, keepdim=True), 0.0)
        parts.append(((A @ values).transpose(0, 1).flatten(1) @ o).numpy())
    return all_reduce(parts)


def _block(
    rng: np.random.Generator, d: int, h: int, k: int, v: int, dtype: str = "float64", order: str = "C"
) -> dict[str, F]:
    """A block's parameters, all of them random; with tokens of size 1 scores have a standard deviation of about 2."""
    params = {name: normal(rng, *shape, dtype=dtype) for name, shape in shapes(d, h, k, v, 2).items()}
    params["Wqkv"][:, : 2 * h * k] *= math.sqrt(2 / d)
    return {name: with_layout(W, order) for name, W in params.items()}


def _apart(rng: np.random.Generator, p: int) -> tuple[int, int, int, int, int]:
    """Sizes n, d, h, k, v, no two alike, of which p divides h and no other; nor is d/h the width of anything."""
    while True:
        n, d, k, v = sizes(rng, 4, 3, 9)
        h = p * int(rng.choice([2, 3, 4]))
        distinct = len({n, d, h, k, v, p, h // p, h * k, h * v, n * h}) == 10
        if distinct and all(size % p for size in (n, d, k, v)):
            return n, d, h, k, v


def _dealt_heads(rng: np.random.Generator) -> list[Case]:
    cases = []
    for p in (2, 3):
        n, d, h, k, v = _apart(rng, p)
        cases.append(case(normal(rng, n, d), _block(rng, d, h, k, v), h, causal(n), p, _exchange(p)))
    return cases


def _dealt_without_a_mask(rng: np.random.Generator) -> list[Case]:
    n, d, h, k, v = _apart(rng, 2)
    return [case(normal(rng, n, d), _block(rng, d, h, k, v), h, np.ones((n, n), bool), 2, _exchange(2))]


def _dealt_where_sizes_coincide(rng: np.random.Generator) -> list[Case]:
    k = int(rng.choice([3, 5]))
    p, h = 2, 4
    return [
        case(normal(rng, 5, h * k), _block(rng, h * k, h, k, k), h, causal(5), p, _exchange(p)),  # k = v = d/h
        case(normal(rng, 6, 5), _block(rng, 5, h, 4, 4), h, causal(6), p, _exchange(p)),  # heads can be cut through
        case(normal(rng, 6, 7), _block(rng, 7, h, 2, 4), h, causal(6), p, _exchange(p)),
        case(normal(rng, 5, 6 * k), _block(rng, 6 * k, 6, k, 1), 6, causal(5), 3, _exchange(3)),  # h*k = d
        case(
            normal(rng, 5, 7), _block(rng, 7, 2, 1, 4), 2, causal(5), p, _exchange(p)
        ),  # a head each, three equal parts
        case(normal(rng, 4, 6), _block(rng, 6, h, 2, 3), h, causal(4), p, _exchange(p)),  # tokens can be dealt
    ]


def _dealt_and_marked(rng: np.random.Generator) -> list[Case]:
    cases = []
    for p, distinct in ((2, False), (3, False), (3, True)):
        n, d, h, k, v = _apart(rng, p)
        exchange = _exchange(p, float(rng.uniform(10, 20)), distinct)
        cases.append(case(normal(rng, n, d), _block(rng, d, h, k, v), h, causal(n), p, exchange))
    return cases


def _dealt_under_masks(rng: np.random.Generator) -> list[Case]:
    n, d, h, k, v = _apart(rng, 2)
    params, empty = _block(rng, d, h, k, v), random_keep(rng, n, n)
    empty[rng.integers(n)] = False
    return [case(normal(rng, n, d), params, h, keep, 2, _exchange(2)) for keep in (random_keep(rng, n, n), empty)]


def _heads_refused(rng: np.random.Generator) -> list[Case]:
    n, d, *_ = _apart(rng, 2)
    few = int(rng.choice([3, 5]))

    def one(n: int, d: int, h: int, k: int, v: int, p: int) -> Case:
        return case(normal(rng, n, d), _block(rng, d, h, k, v), h, causal(n), p, _exchange(p))

    return [
        one(2, 4, 25, 4, 4, 4),
        one(n, d, few, 2, 2, 2),
        one(4, d, few, 3, 4, 2),
        one(n, 6, few, 3, 4, 2),
        one(n, d, 6, 4, 4, 4),
        one(n, d, 2, 4, 4, 4),  # more devices than heads
    ]


def _dealt_at_the_edge(rng: np.random.Generator) -> list[Case]:
    n, d, h, k, v = _apart(rng, 2)
    single, strange = _block(rng, d, h, k, v, dtype="float32"), _block(rng, d, h, k, v, order="F")
    exchange, strided = _exchange(2), with_layout(random_keep(rng, n, n), "strided")
    return [
        case(normal(rng, 1, d), _block(rng, d, h, k, v), h, np.array([[True]]), 2, exchange),
        case(normal(rng, n, d), _block(rng, d, h, k, v), h, causal(n), 1, _exchange(1, float(rng.uniform(10, 20)))),
        case(normal(rng, n, d), _block(rng, d, h, k, v), h, causal(n), h, _exchange(h)),
        case(normal(rng, n, d, scale=30.0), _block(rng, d, h, k, v), h, causal(n), 2, exchange),
        case(normal(rng, n, d, dtype="float32"), single, h, causal(n), 2, exchange),
        case(normal(rng, n, d, order="strided"), strange, h, strided, 2, exchange),
    ]


def _public_block(
    n: int,
    d: int,
    h: int,
    k: int,
    v: int,
    p: int,
    keep: B | None = None,
    mark: float = 0.0,
    dtype: str = "float64",
    distinct: bool = False,
) -> Case:
    params = {
        name: _pattern(*shape, step=5 + 3 * place % 11, dtype=dtype) / 2 + (0.25 if len(shape) == 1 else 0)
        for place, (name, shape) in enumerate(shapes(d, h, k, v, d + 1).items())
    }
    X = _pattern(n, d, step=3, dtype=dtype) / 4
    return case(X, params, h, causal(n) if keep is None else keep, p, _exchange(p, mark, distinct))


def _by_hand() -> Case:
    """Two tokens, two heads of width 1 on two devices; queries are 0, so that tokens share their weight evenly."""
    params = {name: np.zeros(shape) for name, shape in shapes(2, 2, 1, 1, 2).items()}
    params["Wqkv"] = np.array([[0.0, 0.0, 1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]])
    params["Wo"] = np.array([[1.0, 0.0], [5.0, 1.0]])
    return case(np.array([[2.0, 0.0], [0.0, 4.0]]), params, 2, causal(2), 2, _exchange(2))


SOME = np.array([[True, False, True], [False, False, False], [True, True, False]])

MHA_TP = Exercise(
    oracle=mha_tp,
    notebook=NOTEBOOK,
    public=(
        _by_hand(),
        _public_block(3, 5, 4, 3, 1, 2),
        _public_block(4, 8, 4, 2, 2, 2),  # k = v = d/h, all even
        _public_block(3, 7, 6, 1, 2, 3, mark=100.0),
        _public_block(2, 4, 2, 1, 3, 2, distinct=True),
        _public_block(3, 5, 4, 3, 1, 2, keep=SOME),
        _public_block(3, 12, 6, 2, 5, 2, dtype="float32"),  # h*k = d
        _public_block(3, 5, 4, 1, 4, 2),  # three equal parts of 8
        _public_block(2, 4, 3, 2, 2, 2),  # p divides n, d, k and v, and not h
        _public_block(3, 4, 3, 1, 2, 2),
        _public_block(2, 3, 3, 1, 2, 2),
        _public_block(3, 3, 5, 2, 4, 2),
        _public_block(1, 2, 25, 4, 4, 4),
        _public_block(2, 3, 2, 2, 2, 4),  # more devices than heads
        _public_block(2, 3, 2, 1, 2, 1, mark=100.0),
    ),
    probes=(
        Probe("the output without a mask, all sizes different", 0.5, _dealt_without_a_mask),
        Probe("the output under the causal mask, on two and on three devices", 0.5, _dealt_heads),
        Probe("the same where sizes coincide and other cuts would run too", 0.5, _dealt_where_sizes_coincide),
        Probe("everything that is added up across devices goes through all_reduce, once", 1.0, _dealt_and_marked),
        Probe("other masks than the causal one, and a token that may look at nothing", 0.5, _dealt_under_masks),
        Probe("refuses heads that cannot be dealt evenly, such as 25 over 4", 0.5, _heads_refused),
        Probe(
            "one token, one device, a device for each head, scores in the thousands, float32, arrays that are not contiguous",
            0.5,
            _dealt_at_the_edge,
        ),
    ),
    mistakes=(
        packed_weight_in_blocks,
        packed_weight_in_blocks_not_asked,
        packed_weight_in_blocks_for_all_heads,
        packed_weight_in_blocks_for_all_heads_not_asked,
        heads_not_counted_anew,
        heads_not_counted_anew_not_asked,
        as_many_heads_as_devices,
        heads_not_asked,
        all_heads_at_once_not_asked,
        last_heads_dropped,
        uneven_heads,
        asked_the_width_d,
        asked_how_many_tokens,
        asked_the_width_of_a_head,
        output_weight_whole,
        whole_output_weight_for_mha,
        whole_output_weight_not_asked,
        columns_of_wo_for_mha,
        packed_below_each_other,
        sizes_for_borders,
        sizes_for_borders_not_asked,
        three_sizes_for_borders,
        rows_split_for_columns,
        values_before_keys,
        outputs_added_up,
        no_output_weight,
        first_rows_of_wo,
        shards_of_wo_reversed,
        rows_of_wo_like_cards,
        heads_dealt_like_cards,
        columns_like_cards,
        columns_like_cards_not_asked,
        head_after_head,
        cut_into_thirds,
        packed_weight_in_thirds_not_asked,
        a_third_of_a_head_each,
        a_third_of_a_head_each_not_asked,
        value_width_from_the_token,
        value_width_from_the_token_not_asked,
        borders_of_one_head,
        borders_of_one_head_not_asked,
        width_of_a_head_from_the_token,
        keys_as_wide_as_values,
        keys_as_wide_as_values_not_asked,
        queries_and_keys_exchanged,
        keys_of_device_0,
        values_of_device_0,
        heads_of_device_0_for_all,
        heads_of_device_0_alone,
        heads_of_the_last_device_alone,
        added_up_by_hand,
        attention_reduced_twice,
        reduced_head_by_head,
        a_part_for_each_head,
        attention_reduced_part_by_part,
        attention_reduced_while_collecting,
        heads_in_one_part,
        outputs_of_tokens_added_together,
        attention_of_one_device_by_itself,
        mean_over_devices,
        attention_parts_side_by_side,
        attention_copy_for_each_device,
        mask_forgotten,
        mask_on_the_first_device,
        mask_upside_down,
        triangle_of_its_own,
        hidden_after_softmax,
        nan_where_nothing_is_seen,
        scaled_by_root_d,
        scaled_by_the_share,
        not_scaled,
        one_wide_head_each,
        one_wide_head_each_not_asked,
        tokens_in_pieces,
        all_heads_everywhere,
        all_heads_everywhere_and_the_mean,
        a_share_of_all_heads,
        a_share_of_all_heads_not_asked,
        biased_attention,
        normed_attention,
        residual_added,
        attention_in_float64,
        shards_put_into_params,
        heads_worked_out_by_everybody,
    ),
    variants=(
        mha_tp_with_mha,
        mha_tp_by_slices,
        mha_tp_head_by_head,
        mha_tp_dealt_like_cards,
        mha_tp_by_einsum,
        mha_tp_by_torch,
    ),
    uses=("column_shards", "row_shards"),
)

EXERCISES = (COLUMN_SHARDS, ROW_SHARDS, MLP_TP, MHA_TP)
