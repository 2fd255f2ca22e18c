"""When two answers are the same: form before numbers, nothing broadcast, tolerance by dtype."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from course.trial.comparing import (
    LINES_OF_SLACK,
    TOLERANCE,
    Difference,
    agrees,
    compare,
    difference,
    lines_grow,
    match,
    same_answers,
    telling,
)
from course.trial.observing import Observation, Raised
from course.trial.values import Opaque, Tensor, Value


def kind(expected: Value, given: Value) -> str | None:
    found = compare(expected, given)
    return found and found.kind


# ---------------------------------------------------------------------------------------------- arrays


@pytest.mark.parametrize(
    ("expected", "given"),
    [((2, 3), (3,)), ((2, 3), (1, 3)), ((2, 1), (2, 3)), ((3,), (3, 1)), ((), (1,)), ((1,), ()), ((0,), (1,)), ((2, 0), (0, 2))],
)  # fmt: skip
def test_no_shape_passes_for_another_even_where_broadcasting_would_agree(
    expected: tuple[int, ...], given: tuple[int, ...]
) -> None:
    assert compare(np.ones(expected), np.ones(given)) == Difference("shape", (), expected, given)


def test_shape_is_told_before_dtype_and_dtype_before_values() -> None:
    expected = np.zeros((2, 3))
    assert kind(expected, np.ones((3, 2), np.float32)) == "shape"
    assert compare(expected, np.ones((2, 3), np.float32)) == Difference("dtype", (), "float64", "float32")
    assert kind(expected, np.ones((2, 3))) == "value"


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "int32", "bool", "uint8"])
def test_a_dtype_is_not_another_even_where_all_values_agree(dtype: str) -> None:
    assert kind(np.zeros(2), np.zeros(2, dtype)) == "dtype"
    assert kind(np.zeros(2, dtype), np.zeros(2)) == "dtype"


def test_the_first_wrong_entry_is_named() -> None:
    expected = np.arange(6.0).reshape(2, 3)
    wrong = expected.copy()
    wrong[1, 0] = wrong[1, 2] = 9
    found = compare(expected, wrong)
    assert found is not None
    assert found.index == (1, 0)
    assert compare(np.array(1.0), np.array(2.0)) == Difference("value", (), np.array(1.0), np.array(2.0))


def test_an_empty_array_agrees_with_an_empty_array() -> None:
    assert compare(np.zeros((0, 3)), np.zeros((0, 3))) is None


@pytest.mark.parametrize("name", TOLERANCE)
def test_values_may_differ_by_the_tolerance_of_their_dtype_and_no_more(name: str) -> None:
    expected = np.array([1.0, -2.0, 4.0], name)
    near = TOLERANCE[name] * 5  # of entry 0: of its own size 1 and of the largest, 4
    for sign in (1, -1):
        assert kind(expected, expected + np.array([0.8 * sign * near, 0, 0], name)) is None
        assert kind(expected, expected + np.array([1.3 * sign * near, 0, 0], name)) == "value"


def test_integers_and_booleans_have_no_tolerance() -> None:
    large = np.array([2**62])
    assert kind(large, large + 1) == "value"
    assert kind(np.array([True]), np.array([False])) == "value"


def test_a_zero_may_be_what_rounding_leaves_beside_large_entries_and_not_beside_small_ones() -> None:
    assert kind(np.array([0.0, 1e6]), np.array([1e-4, 1e6])) is None
    assert kind(np.array([0.0, 1.0]), np.array([1e-4, 1.0])) == "value"
    assert kind(np.zeros(2), np.array([0, 1e-300])) == "value"


@pytest.mark.parametrize(
    ("expected", "given", "right"),
    [
        (math.nan, math.nan, True),
        (math.inf, math.inf, True),
        (-math.inf, -math.inf, True),
        (math.nan, 0.0, False),
        (0.0, math.nan, False),
        (math.inf, -math.inf, False),
        (math.inf, math.nan, False),
        (math.inf, 1e308, False),
        (1e308, math.inf, False),
        (1e308, -1e308, False),
        (-0.0, 0.0, True),
    ],
)
def test_nan_agrees_with_nan_and_an_infinity_with_itself_alone(expected: float, given: float, right: bool) -> None:
    beside = [1.0, 2.0]
    assert agrees(np.array([expected, *beside]), np.array([given, *beside])).tolist() == [right, True, True]
    assert (kind(expected, given) is None) is right


def test_an_infinite_entry_does_not_widen_the_tolerance_of_its_neighbours() -> None:
    assert kind(np.array([math.inf, 1.0]), np.array([math.inf, 2.0])) == "value"
    assert kind(np.array([1.0, 1.0]), np.array([math.inf, 2.0])) == "value"


PAIRS = st.lists(st.tuples(*[st.sampled_from([0.0, -0.0, 1.0, -2.0, 1e-9, 1e308]) | st.floats()] * 2), max_size=4)


@given(PAIRS)
def test_entries_agree_that_lie_within_the_tolerance_of_their_own_size_and_of_the_largest(
    pairs: list[tuple[float, float]],
) -> None:
    """The definition, number by number."""
    largest = max((abs(want) for want, _ in pairs if math.isfinite(want)), default=0.0)
    room = TOLERANCE["float64"]
    right = [
        abs(got - want) <= room * abs(want) + room * largest
        if math.isfinite(want) and math.isfinite(got)
        else want == got or (math.isnan(want) and math.isnan(got))
        for want, got in pairs
    ]
    expected, given = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    assert agrees(expected, given).tolist() == right
    assert (compare(expected, given) is None) is all(right)
    assert (compare(expected.tolist(), given.tolist()) is None) is all(right)


@given(arrays("<f8", array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)) | st.floats())
def test_everything_agrees_with_itself(value: Value) -> None:
    assert compare(value, value) is None


def test_an_array_is_not_a_tensor_nor_a_list() -> None:
    A = np.ones(2)
    assert kind(A, Tensor(A)) == kind(Tensor(A), A) == kind(A, [1.0, 1.0]) == kind([1.0, 1.0], A) == "type"
    assert kind(Tensor(A), Tensor(A + 1)) == "value"
    assert kind(Tensor(A), Tensor(A.astype("f4"))) == "dtype"
    assert kind(np.array(1.0), 1.0) == "type"


# ---------------------------------------------------------------------------------------------- scalars

SCALARS = [True, 1, 1.0, "1", None, (1,), [1], {"1": 1}, Opaque("1")]


@pytest.mark.parametrize("expected", SCALARS, ids=repr)
@pytest.mark.parametrize("given", SCALARS, ids=repr)
def test_a_kind_of_scalar_is_not_another_but_a_whole_number_will_do_for_a_float(expected: Value, given: Value) -> None:
    if isinstance(expected, Opaque) and isinstance(given, Opaque):
        assert kind(expected, given) == "value"
    elif type(expected) is type(given) or (type(expected) is float and type(given) is int):
        assert kind(expected, given) is None
    else:
        assert kind(expected, given) == "type"


@pytest.mark.parametrize(
    ("expected", "given", "found"),
    [
        (0.1, np.array(0.1), None),
        (3, np.array(3), None),
        (True, np.array(True), None),
        (3, np.array(3.0), "type"),
        (0.1, Tensor(np.array(0.1)), None),
        (0.1, np.array([0.1]), "type"),
        (0.5, np.array([[0.5, 0.5]]), "type"),
        (2**62, 2**62 + 1, "value"),
        (0.1, 0.1 + 1e-12, None),
        (0.1, 0.1001, "value"),
        ("a", "b", "value"),
    ],
)
def test_a_number_may_come_as_an_array_without_axes(expected: Value, given: Value, found: str | None) -> None:
    assert kind(expected, given) == found


# ---------------------------------------------------------------------------------------------- structures


def test_parts_are_compared_in_order_and_named_by_their_place() -> None:
    A, B = np.ones(2), np.zeros(2)
    assert compare((A, B), (A, B)) is None
    assert compare((A, B), (A, B, B)) == Difference("length", (), 2, 3)
    assert compare((A, B), [A, B]) == Difference("type", (), (A, B), [A, B])
    assert compare((A, (B, 1)), (A, (B, 2))) == Difference("value", (1, 1), 1, 2)
    assert compare((A, B), (A, np.zeros(3))) == Difference("shape", (1,), (2,), (3,))


def test_keys_are_compared_before_what_they_hold_and_their_order_does_not_matter() -> None:
    assert compare({"a": 1, "b": 2}, {"b": 2, "a": 1}) is None
    assert compare({"a": 1, "b": 2}, {"a": 9}) == Difference("keys", (), ["a", "b"], ["a"])
    assert compare({"a": 1, "b": 2}, {"a": 1, "b": 3}) == Difference("value", ("b",), 2, 3)


# ---------------------------------------------------------------------------------------------- observations


def seen(result: Value = None, **rest: Value) -> Observation:
    return Observation(result, **rest)


def refused(kind: str, message: str = "") -> Observation:
    return Observation(raised=Raised(kind, message))


def test_a_call_that_should_be_refused_is_right_with_any_message_and_no_other_exception() -> None:
    want = refused("ValueError", "25 heads do not divide 4")
    assert difference(want, refused("ValueError", "no")) is None
    assert difference(want, seen(1)) == Difference("not raised", (), "ValueError", 1)
    other = refused("TypeError")
    assert difference(want, other) == Difference("raised", (), "ValueError", other.raised)
    assert difference(seen(1), other) == Difference("raised", (), None, other.raised)


def test_a_changed_argument_is_told_before_the_result_which_it_may_have_spoiled() -> None:
    want = seen(1, counts={"project": 3})
    spoiled = seen(1, changed={0: "contents"}, counts={"project": 4})
    assert difference(want, spoiled) == Difference("changed", (0,), None, "contents")
    assert difference(want, seen(2, changed={0: "contents"})) == Difference("changed", (0,), None, "contents")
    assert difference(seen(1, changed={0: "other"}), seen(1, changed={0: "contents"})) is None


def test_a_budget_may_be_kept_below_but_not_exceeded() -> None:
    want = seen(1, counts={"project": 3})
    for spent in ({}, {"project": 0}, {"project": 3}):
        assert difference(want, seen(1, counts=spent)) is None
    assert difference(want, seen(1, counts={"project": 4})) == Difference("count", ("project",), 3, 4)


def test_lines_are_no_budget_and_warnings_no_difference() -> None:
    assert difference(seen(1, counts={"lines": 3}), seen(1, counts={"lines": 300}, warned=("divide by zero",))) is None


def test_lines_grow_where_the_last_case_runs_more_than_a_branch_more_than_the_first() -> None:
    def runs(*lines: int) -> list[Observation]:
        return [seen(1, counts={"lines": count}) for count in lines]

    assert not lines_grow(runs(10, 90, 10 + LINES_OF_SLACK))
    assert lines_grow(runs(10, 11 + LINES_OF_SLACK))
    assert not lines_grow(runs(90, 10))
    assert not lines_grow([*runs(1), seen(1), *runs(90)])
    assert not lines_grow([*runs(1), Observation(raised=Raised("ValueError"), counts={"lines": 90})])


def test_two_series_of_answers_are_the_same_where_nobody_could_tell_them_apart() -> None:
    want = [seen(1.0, counts={"project": 3})]
    one = [seen(2.0, counts={"project": 4, "lines": 1})]
    assert same_answers(want, one, [seen(2.0, counts={"project": 4, "lines": 99})])
    assert not same_answers(want, one, [seen(2.0, counts={"project": 5})])
    assert not same_answers(want, one, [seen(2.0, counts={"project": 3})])
    thrifty = [seen(2.0, counts={"project": spent}) for spent in (1, 3)]
    assert same_answers(want, thrifty[:1], thrifty[1:])
    assert not same_answers(want, one, [seen(2.5, counts={"project": 4})])
    assert not same_answers(want, one, [seen(2.0, counts={"project": 4}, changed={0: 1})])
    assert not same_answers(want, one, [refused("ValueError")])
    assert same_answers(want, [refused("ValueError", "a")], [refused("ValueError", "b")])
    assert not same_answers(want, [refused("ValueError")], [refused("TypeError")])
    assert not same_answers(want, [seen(1.0, changed={0: 1})], [seen(1.0, changed={0: 2})])


def test_a_float_is_not_the_same_answer_as_a_whole_number_where_one_is_expected() -> None:
    want, floats, half = seen({"a": 4, "b": 6}), seen({"a": 4.0, "b": 6.0}), seen({"b": 6, "a": 4.0})
    assert not same_answers([want], [floats], [want])
    assert not same_answers([want], [floats], [half])
    assert same_answers([want], [half], [seen({"a": 4.0, "b": 6})])
    assert same_answers([seen(4.0)], [seen(5.0)], [seen(5)])


NO_INTEGER = "only integer scalar arrays can be converted to a scalar index"


@pytest.mark.parametrize(
    ("given", "mistaken", "points"),
    [
        (seen(2), seen(2), True),
        (seen(1), seen(1), False),
        (refused("ValueError", "sizes 3 and 4"), refused("ValueError", "sizes 3 and 4"), True),
        (refused("ValueError", "sizes 3 and 4"), refused("ValueError", "sizes 4 and 3"), False),
        (refused("ValueError", "not aligned"), refused("ValueError", "not aligned"), False),
        (refused("TypeError", NO_INTEGER), refused("TypeError", NO_INTEGER), True),
        (refused("ValueError"), refused("ValueError"), False),
    ],
)
def test_a_wrong_result_points_to_a_mistake_and_an_exception_does_where_it_names_the_same_sizes(
    given: Observation, mistaken: Observation, points: bool
) -> None:
    assert telling(seen(1), given, mistaken) is points


@pytest.mark.parametrize(
    ("wrong", "elsewhere"),
    [
        (np.array([4.81323575974, 5.2e-15]), np.array([4.8132352829, 5.8e-9])),
        ([4.81323575974, 5.2e-15], [4.8132352829, 5.8e-9]),
        (4.81323575974, 4.8132352829),
        ({"H": np.array([4.81323575974, 1.0])}, {"H": np.array([4.8132352829, 1.0])}),
    ],
    ids=repr,
)
def test_a_finer_answer_than_the_wanted_one_has_no_more_digits_than_that(wrong: Value, elsewhere: Value) -> None:
    single, double = (seen(np.array([4.8, 1.0], dtype)) for dtype in ("float32", "float64"))
    assert same_answers([single], [seen(wrong)], [seen(elsewhere)])
    assert match([single], [seen(wrong)], [seen(elsewhere)]) == "tellingly"
    assert not same_answers([double], [seen(wrong)], [seen(elsewhere)])
    assert not same_answers([single], [seen(wrong)], [seen(np.array([4.9, 5.2e-15]))])


def test_a_finer_answer_is_still_told_from_the_same_numbers_in_the_wanted_dtype() -> None:
    want = seen(np.array([1.0, 2.0], "float32"))
    assert not same_answers([want], [seen(np.array([1.0, 2.0]))], [want])
    parts = seen([np.array([3.0], "float32"), np.array([3.0], "float32")])
    one, both = (seen([np.array([3.0]), np.array([3.0], dtype)]) for dtype in ("float32", "float64"))
    assert not same_answers([parts], [one], [both])


def test_numbers_in_a_list_have_the_roundings_of_an_array_and_those_in_a_tuple_are_each_their_own() -> None:
    assert kind([1.0, 5.2e-15], [1.0, 5.8e-15]) is None
    assert kind([[1.0, 2.0], [5.2e-15, 0.0]], [[1.0, 2.0], [5.8e-15, 0.0]]) is None
    assert kind([1.0, math.inf, 1e-3], [1.0, math.inf, 2e-3]) == "value"
    assert kind((1.0, 5.2e-15), (1.0, 5.8e-15)) == "value"
    assert kind([5.2e-15], [5.8e-15]) == "value"


def test_loops_tell_right_answers_apart_and_point_to_the_mistake_that_has_them() -> None:
    right = [seen(1), seen(1)]
    assert match(right, right, right) == "yes"
    assert match(right, right, right, loops=(True, False)) == "no"
    assert match(right, right, right, loops=(True, True)) == "tellingly"


def test_a_mistake_is_pointed_to_where_its_answer_is_wrong() -> None:
    right, wrong = [seen(1), seen(1)], [seen(1), seen(2)]
    assert match(right, wrong, wrong) == "tellingly"
    assert match(right, wrong, right) == "no"
