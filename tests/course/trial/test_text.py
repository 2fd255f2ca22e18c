"""The sentences that students read, word for word."""

from __future__ import annotations

import numpy as np
import pytest

from course.trial.comparing import Difference, compare, difference
from course.trial.observing import Observation, Raised
from course.trial.text import explain, show, side_by_side, side_by_side_html
from course.trial.values import Opaque, Tensor, Value

A = np.array([[1.0, 2.0], [3.0, 4.0]])


def told(expected: Value, given: Value, axes: str | list[str] | None = None) -> str:
    found = compare(expected, given)
    assert found is not None
    return explain(found, axes)


@pytest.mark.parametrize(
    ("expected", "given", "axes", "sentence"),
    [
        (A, A[:1], "n m", "The result should have the shape [n, m] = [2, 2]; yours has [1, 2]."),
        (A, A[:1], None, "The result should have the shape [2, 2]; yours has [1, 2]."),
        (A, A[0, 0:1], "", "The result should have the shape [2, 2]; yours has [1]."),
        (
            (A, A),
            (A, A[:1]),
            ["n k", "m v"],
            "The second part of the result should have the shape [m, v] = [2, 2]; yours has [1, 2].",
        ),
        ((A,), (A[0],), [], "The first part of the result should have the shape [2, 2]; yours has [2]."),
        (A, A.astype("f4"), "n m", "The result should be float64; yours is float32."),
        (A, A > 2, "n m", "The result should be float64; yours is bool."),
        (A, A.T, "n m", "The result has the right shape. Entry [0, 1] should be 2; yours is 3."),
        (A, A + 1e-5, "n m", "The result has the right shape. Entry [0, 0] should be 1; yours is 1.00001."),
        (
            A,
            A + 1e-7,
            "n m",
            "The result has the right shape. Entry [0, 0] should be 1; yours is 1.0000001. It has the right value to some seven "
            "digits: float32 has no more, so something on the way may be float32, or a tiny number was added.",
        ),
        (
            A,
            A - [[1e-6, 0.5], [0.9, 2]],
            "n m",
            "The result has the right shape. Entry [0, 1] should be 2; yours is 1.5.",
        ),
        (A, A * np.nan, "n m", "The result has the right shape. Entry [0, 0] should be 1; yours is nan."),
        (np.array(1 / 3), np.array(0.5), "", "The result should be 0.33333; yours is 0.5."),
        (Tensor(A), Tensor(-A), None, "The result has the right shape. Entry [0, 0] should be 1; yours is -1."),
        (A > 2, A > 3, None, "The result has the right shape. Entry [1, 0] should be True; yours is False."),
        (A, None, "n m", "The result should be a numpy array of float64; yours is None. Is there a return?"),
        (A, Tensor(A), "n m", "The result should be a numpy array of float64; yours is a torch tensor of float64."),
        (Tensor(A), A, "n m", "The result should be a torch tensor of float64; yours is a numpy array of float64."),
        (A, [1, 2], "n m", "The result should be a numpy array of float64; yours is a list of 2 parts."),
        (A, Opaque("a set"), "n m", "The result should be a numpy array of float64; yours is a set."),
        (A, 1.0, "n m", "The result should be a numpy array of float64; yours is a float."),
        ((A, A), A, None, "The result should be a tuple of 2 parts; yours is a numpy array of float64."),
        ((A, A), [A, A], None, "The result should be a tuple of 2 parts; yours is a list of 2 parts."),
        ((A, A), (A,), None, "The result should have 2 parts; yours has 1."),
        ({"a": 1}, {"b": 1}, None, "The result should have the keys ['a']; yours has ['b']."),
        ({"a": 1}, {"a": 2}, None, "The result's 'a' should be 1; yours is 2."),
        (3, 3.0, None, "The result should be an int; yours is a float."),
        (1, True, None, "The result should be an int; yours is a bool."),
        (True, 1, None, "The result should be a bool; yours is an int."),
        (0.25, 0.125, None, "The result should be 0.25; yours is 0.125."),
        (True, False, None, "The result has the right form, and the wrong value: True was expected, yours is False."),
        ("a", "b", None, "The result has the right form, and the wrong value: 'a' was expected, yours is 'b'."),
        ((0,) * 6, (0, 0, 0, 0, 0, 1), None, "The sixth part of the result should be 0; yours is 1."),
        ((0,) * 7, (0, 0, 0, 0, 0, 0, 1), None, "Part 7 of the result should be 0; yours is 1."),
    ],
)
def test_a_difference_between_two_results_is_told(
    expected: Value, given: Value, axes: str | list[str] | None, sentence: str
) -> None:
    assert told(expected, given, axes) == sentence


RAISED = Raised("ValueError", "shapes (2,3) and (2,3) not aligned", 4, "return A @ B", "dots")


@pytest.mark.parametrize(
    ("found", "open_sentence", "hidden_sentence"),
    [
        (
            Difference("raised", (), None, RAISED),
            "Your code raises ValueError: shapes (2,3) and (2,3) not aligned at line 4 of dots, `return A @ B`.",
            "Your code raises ValueError at line 4 of dots, `return A @ B`.",
        ),
        (
            Difference("raised", (), None, Raised("ValueError", "shapes (2,3) (4,3) ")),  # as NumPy ends it
            "Your code raises ValueError: shapes (2,3) (4,3).",
            "Your code raises ValueError.",
        ),
        (
            Difference("raised", (), None, Raised("TypeError")),
            "Your code raises TypeError.",
            "Your code raises TypeError.",
        ),
        (
            Difference("raised", (), "ValueError", Raised("TypeError", "no")),
            "This call should be refused with a ValueError. Your code raises TypeError: no.",
            "This call should be refused with a ValueError. Your code raises TypeError.",
        ),
        (
            Difference("not raised", (), "ValueError", A),
            "This call should be refused with a ValueError; yours returned a numpy array of float64.",
            "This call should be refused with a ValueError; yours returned a numpy array of float64.",
        ),
        (
            Difference("not raised", (), "ValueError", Opaque("a ValueError")),
            "This call should be refused with a ValueError; yours returned a ValueError, and should raise it: `raise ValueError(...)`.",
            "This call should be refused with a ValueError; yours returned a ValueError, and should raise it: `raise ValueError(...)`.",
        ),
        (
            Difference("raised", (), None, Raised("ValueError", "uneven", 3, "raise ValueError('uneven')", "shards")),
            "Your code raises ValueError: uneven at line 3 of shards, `raise ValueError('uneven')`. This call is not one to refuse.",
            "Your code raises ValueError at line 3 of shards, `raise ValueError('uneven')`. This call is not one to refuse.",
        ),
        (
            Difference("count", ("all_reduce",), 1, 2),
            "It calls all_reduce twice; once is enough.",
            "It calls all_reduce more often than it needs to.",
        ),
        (
            compare(A, A * np.nan),
            "The result has the right shape. Entry [0, 0] should be 1; yours is nan.",
            "The result has the right form, and the wrong value: nan, which is not a number, where there should be one.",
        ),
        (
            compare(A, A * np.inf),
            "The result has the right shape. Entry [0, 0] should be 1; yours is inf.",
            "The result has the right form, and the wrong value: inf, which is infinity, where there should be a number.",
        ),
        (
            compare((1.0,), (1.0, 2.0)),
            "The result should have 1 part; yours has 2.",
            "The result should have 1 part; yours has 2.",
        ),
        (
            Difference("changed", (1,), None, A),
            "The call changed W in place; the caller still needs it as it was.",
            "The call changed W in place; the caller still needs it as it was.",
        ),
        (
            Difference("count", ("project",), 9, 27),
            "It hands 27 rows to project, all calls together; 9 are enough.",
            "It hands more rows to project than it needs to.",
        ),
        (
            compare(A, -A),
            "The result has the right shape. Entry [0, 0] should be 1; yours is -1.",
            "The result has the right form, and the wrong value.",
        ),
        (
            compare((1, "a"), (1, "b")),
            "The second part of the result has the right form, and the wrong value: 'a' was expected, yours is 'b'.",
            "The second part of the result has the right form, and the wrong value.",
        ),
        (compare(1, 2), "The result should be 1; yours is 2.", "The result has the right form, and the wrong value."),
        (
            compare({"H": {"What rank 0 returned": A}}, {"H": {"What rank 0 returned": -A}}),
            "What rank 0 returned has the right shape. Entry [0, 0] should be 1; yours is -1.",
            "What rank 0 returned has the right form, and the wrong value.",
        ),
        (
            compare({"What the ranks sent": "a letter"}, {"What the ranks sent": "nothing"}),
            "What the ranks sent should be a letter; yours is nothing.",
            "What the ranks sent is not what it should be.",
        ),
    ],
    ids=lambda found: found.kind if isinstance(found, Difference) else "",
)
def test_where_a_case_is_hidden_its_numbers_are_not_told(
    found: Difference, open_sentence: str, hidden_sentence: str
) -> None:
    assert explain(found, parameters=("X", "W")) == open_sentence
    assert explain(found, parameters=("X", "W"), values=False) == hidden_sentence


def test_a_budget_and_a_changed_argument_are_told_of_an_observation() -> None:
    spent = Observation(1, counts={"project": 3})
    assert (
        explain(difference(Observation(1, counts={"project": 2}), spent))
        == "It hands 3 rows to project, all calls together; 2 are enough."
    )
    changed = difference(Observation(1), Observation(1, changed={0: 2}))
    assert explain(changed) == "The call changed its argument number 1 in place; the caller still needs it as it was."


# ---------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (A, "[[1. 2.]\n [3. 4.]]"),
        (Tensor(A), "[[1. 2.]\n [3. 4.]]"),
        (np.array([1 / 3, 1e-9]), "[0.3333 0.    ]"),
        (np.array([True]), "[ True]"),
        (1 / 3, "0.33333"),
        (np.inf, "inf"),
        (True, "True"),
        (None, "None"),
        ("text", "text"),
        (Opaque("a set"), "a set"),
        ((A, 1.5), "([[1. 2.]\n  [3. 4.]],\n 1.5)"),
        ((1.5, {"a": A[0], "b": 2.0}), "(1.5,\n a: [1. 2.]\n b: 2)"),
        (np.zeros((0, 3)), "nothing, [0, 3]"),
        ([1.0, Opaque("a set"), Tensor(A[0])], "[1,\n a set,\n [1. 2.]]"),
        ((1, 0.25, "text"), "(1, 0.25, text)"),
        ([[5.0, 13.0], [-1.0]], "[[5, 13],\n [-1]]"),
        ({"a": A[0], "b": 2.0}, "a: [1. 2.]\nb: 2"),
    ],
)
def test_values_are_shown_as_a_reader_wants_them(value: Value, shown: str) -> None:
    assert show(value) == shown


def test_a_large_array_is_shown_by_its_corners() -> None:
    assert show(np.zeros((20, 20))).count("\n") == 6


def test_two_values_stand_side_by_side_without_trailing_blanks() -> None:
    assert side_by_side((A, A[0]), A).split("\n") == [
        "expected       yours",
        "([[1. 2.]      [[1. 2.]",
        "  [3. 4.]],     [3. 4.]]",
        " [1. 2.])",
    ]
    assert side_by_side(1, A[0]).split("\n") == ["expected    yours", "1           [1. 2.]"]


CELL = "<td style='vertical-align:top; text-align:left; padding-right:2em'>"
HEAD = "<th style='text-align:left'>expected</th><th style='text-align:left'>yours</th>"
ROW = "<tr style='background:none'>"
COLUMNS = "<pre style='background:none; white-space:pre; overflow-x:auto'>"


def test_entries_that_differ_are_marked_in_the_table_without_colour() -> None:
    expected = f"<table>{ROW}<td>1</td><td>2</td></tr>{ROW}<td>3</td><td>4</td></tr></table>"
    given = f"<table>{ROW}<td>1</td><td><b><u>3</u></b></td></tr>{ROW}<td><b><u>2</u></b></td><td>4</td></tr></table>"
    html = f"<div style='overflow-x:auto'><table>{ROW}{HEAD}</tr>{ROW}{CELL}{expected}</td>{CELL}{given}</td></tr></table></div>"
    assert side_by_side_html(A, A.T) == side_by_side_html(Tensor(A), Tensor(A.T)) == html


def test_a_row_of_numbers_is_a_table_of_one_row() -> None:
    assert f"<table>{ROW}<td>1</td><td><b><u>5</u></b></td></tr></table>" in side_by_side_html(
        A[0], np.array([1.0, 5.0])
    )


@pytest.mark.parametrize(
    ("expected", "given", "left", "right"),
    [
        (A, A[0], "[[1. 2.]\n [3. 4.]]", "[1. 2.]"),
        (A[0], A[0].astype("f4"), "[1. 2.]", "[1. 2.]"),
        ((1, 2), "<script>", "(1, 2)", "&lt;script&gt;"),
        (np.zeros(65), np.zeros(65), show(np.zeros(65)), show(np.zeros(65))),
        (np.array(1.0), np.array(2.0), "1.", "2."),
    ],
    ids=["shapes differ", "dtypes differ", "no arrays", "too many entries", "no axes"],
)
def test_what_is_no_table_stands_as_text(expected: Value, given: Value, left: str, right: str) -> None:
    html = (
        f"<div style='overflow-x:auto'><table>{ROW}{HEAD}</tr>"
        f"{ROW}{CELL}{COLUMNS}{left}</pre></td>{CELL}{COLUMNS}{right}</pre></td></tr></table></div>"
    )
    assert side_by_side_html(expected, given) == html
