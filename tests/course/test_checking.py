"""What `check` and `progress` say in every state a student can be in, word for word."""

from __future__ import annotations

import json
import linecache
import re
import runpy
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from course import answers, cells, check, progress
from course.answers import StoredExercise, StoredMistake
from course.checking import (
    LAYOUTS,
    LIKE_BEFORE,
    OTHERWISE_IN_MEMORY,
    REMEMBERS,
    VIEWS,
    CheckFailed,
    Result,
    Stopped,
    examine,
)
from course.standing import NOT_RUN
from course.trial.cases import Case
from course.trial.functions import public_function
from course.trial.harnesses import HARNESSES
from course.trial.looping import where_it_loops
from course.trial.observing import Observation, Raised
from course.trial.situation import MANY_LINES
from course.trial.text import BUT_FOR_FORM, NEARLY, PERHAPS
from course.trial.values import Tensor

Cell = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


def stored(name: str, cases: list[tuple | Case], expected: list[Observation], **rest: Any) -> StoredExercise:
    blank: dict[str, Any] = {
        "notebook": "77_ours",
        "points": 1.0,
        "axes": "n",
        "parameters": (),
        "uses": (),
        "vectorised": False,
        "view": None,
        "turned": (),
        "mistakes": (),
    }
    each = tuple(case if isinstance(case, Case) else Case(case) for case in cases)
    return StoredExercise(**{**blank, "name": name, "cases": each, "expected": tuple(expected), **rest})


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let `check` know these exercises and no others."""

    def put(*exercises: StoredExercise) -> None:
        every = {exercise.name: exercise for exercise in exercises}
        notebooks = tuple(sorted({exercise.notebook for exercise in exercises}))
        monkeypatch.setattr(answers, "find", every.get)
        monkeypatch.setattr(answers, "notebooks", lambda: notebooks)
        monkeypatch.setattr(answers, "names", lambda n: tuple(e.name for e in exercises if e.notebook == n))

    return put


A, B = np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([[3.0, 1.0], [5.0, 4.0]])
LESSON = "you multiplied A @ B as they are."
DOTS = stored(
    "dots",
    [(A, B)],
    [Observation(A @ B.T)],
    axes="n m",
    parameters=(("A", "n d"), ("B", "m d")),
    mistakes=(StoredMistake("no_transpose", LESSON, (Observation(A @ B),), False),),
)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let these cells be what was run, as IPython keeps them."""

    def ran(*sources: str) -> None:
        shell = SimpleNamespace(user_ns={"In": ["", *sources]})
        monkeypatch.setattr(cells, "running_shell", lambda: shell)

    return ran


@pytest.fixture
def dots(shelf: Callable[..., None], cell: Cell) -> Callable[[str], Result]:
    """The check of a function with this body that should give A @ B.T."""
    shelf(DOTS)
    return lambda body: examine(cell(f"def dots(A, B):\n{body}\n", np=np, torch=torch)["dots"])


CASE = """\
With A =
    [[ 1.  2.]
     [ 0. -1.]]
B =
    [[3. 1.]
     [5. 4.]]"""
NOT_YET = f"dots: not yet.\n{CASE}\n"
COLUMNS = "<pre style='white-space:pre; overflow-x:auto'>"
BARE = COLUMNS.replace("white", "background:none; white")
PRE = COLUMNS.replace("white-space", "margin-bottom:1em; white-space")
RIGHT_MARK, WRONG_MARK = "<b aria-hidden='true'>✓</b> ", "<b aria-hidden='true'>✗</b> "
NOT_YET_HTML = f"<div><p>{WRONG_MARK}dots: not yet.</p>{PRE}{CASE}</pre>"

# ---------------------------------------------------------------------------------------------- one exercise


def test_a_right_answer(dots: Callable[[str], Result]) -> None:
    result = dots("    return A @ B.T")
    assert result
    assert repr(result) == "dots: correct on the public case. The hidden tests try more."
    assert result._repr_html_() == f"<p>{RIGHT_MARK}{result}</p>"


def test_where_there_is_nothing_to_hand_over_hidden_tests_are_not_said_to_try_more(
    shelf: Callable[..., None], cell: Cell
) -> None:
    shelf(stored("verdict", [()], [Observation(7)]))
    result = examine(cell("def verdict():\n    return 7\n")["verdict"])
    assert result.text == "verdict: correct on the public case. The hidden test looks at the same, and at nothing else."


def test_a_right_answer_with_a_warning(dots: Callable[[str], Result]) -> None:
    result = dots("    np.ones(1) / 0\n    np.zeros(1) / 0\n    return A @ B.T")
    assert result
    stands, warned = result.text.split("\n")
    assert stands == "dots: correct on the public case. The hidden tests try more."
    assert warned == (
        "On the way Python warned: divide by zero encountered in divide; invalid value encountered in divide. "
        "The answers are right all the same."
    )
    assert result.html == f"<p>{RIGHT_MARK}{stands}</p><p>{warned}</p>"


def test_the_stub_is_not_written_and_that_is_no_failure(dots: Callable[[str], Result]) -> None:
    result = dots("    raise NotImplementedError()")
    assert result.state == "not written"
    assert not result
    assert result.text == (
        "dots: not written yet. Put your code where `raise NotImplementedError()` is, and run both cells again."
    )
    assert "where <code>raise NotImplementedError()</code> is, and run" in result.html


def test_of_a_dictionary_the_entry_that_differs_is_shown(shelf: Callable[..., None], cell: Cell) -> None:
    expected = Observation({"once": np.array([2.0]), "twice": np.array([4.0])})
    shelf(stored("steps", [(np.array([1.0]),)], [expected], parameters=(("x", "n"),)))
    result = examine(cell("def steps(x):\n    return {'once': 2 * x, 'twice': 5 * x}\n")["steps"])
    assert result.text == (
        "steps: not yet.\nWith x = [1.]\nThe result's 'twice' has the right shape. Entry [0] should be 4; yours is 5.\n"
        "    expected    yours\n    [4.]        [5.]"
    )


def test_arguments_in_a_dictionary_are_shown_in_numbers_where_they_are_few(
    shelf: Callable[..., None], cell: Cell
) -> None:
    few, many = {"W": np.eye(2), "b": Tensor(np.ones(2))}, {"W": np.ones((5, 5)), "b": [np.ones(2), (np.ones(3),)]}
    said = []
    for params in (few, many):
        shelf(stored("f", [(params,)], [Observation(1.0)], parameters=(("params", ""),)))
        said.append(examine(cell("def f(params):\n    return 2.0\n")["f"]).text.split("\nThe result")[0])
    assert said[0] == "f: not yet.\nWith params =\n    W: [[1. 0.]\n        [0. 1.]]\n    b: [1. 1.]"
    assert said[1] == "f: not yet.\nWith params = W [5, 5], b [2]; [3]"


def test_a_number_close_to_an_edge_is_shown_with_its_digits(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(stored("f", [(1.75 + 2.0**-20,)], [Observation(1.0)], parameters=(("loss", ""),)))
    assert "With loss = 1.75000095367\n" in examine(cell("def f(loss):\n    return 0.0\n")["f"]).text


def test_a_number_within_a_list_is_told_by_its_place(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(stored("f", [(2.0,)], [Observation({"times": [1.0, 3.0]})], parameters=(("x", ""),)))
    result = examine(cell("def f(x):\n    return {'times': [1.0, 0.25]}\n")["f"])
    assert "\nThe result's 'times', at 1, should be 3; yours is 0.25.\n" in result.text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x @ np.ones((3, 2))", "core dimension 0 (size 3 is different from 1)"),
        ("x[0] @ np.ones((1, 2))", "does not have enough dimensions (has 0, requires 1)"),
    ],
)
def test_an_error_of_a_product_is_told_without_numpys_signature(
    shelf: Callable[..., None], cell: Cell, line: str, said: str
) -> None:
    shelf(stored("f", [(np.ones(1),)], [Observation(np.ones(2))], parameters=(("x", "n"),)))
    assert said in examine(cell(f"def f(x):\n    return {line}\n", np=np)["f"]).text


def test_an_activation_is_named(shelf: Callable[..., None], cell: Cell) -> None:
    case = (np.array([-1.0]), public_function("relu"))
    shelf(stored("f", [case], [Observation(np.zeros(1))], parameters=(("x", "n"), ("act", ""))))
    assert "With x = [-1.]\nact = relu\n" in examine(cell("def f(x, act):\n    return x\n")["f"]).text
    assert examine(cell("def f(x, act):\n    return act(x)\n")["f"])


def test_a_harness_says_what_it_does_and_names_its_arguments(
    shelf: Callable[..., None], cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on_both(function: Callable[..., Any], left: float, right: float) -> dict[str, Any]:
        """Called twice,
        once on each number."""
        return {"left": function(left), "right": function(right)}

    monkeypatch.setitem(HARNESSES, "on_both", on_both)
    expected = Observation({"left": 1.0, "right": 4.0})
    shelf(stored("square", [Case((1.0, 2.0), "on_both")], [expected], parameters=(("x", ""),)))
    assert examine(cell("def square(x):\n    return x * x\n")["square"])
    assert examine(cell("def square(x):\n    raise NotImplementedError()\n")["square"]).state == "not written"
    assert examine(cell("def square(x):\n    return 1.0\n")["square"]).text == (
        "square: not yet.\nCalled twice, once on each number.\nWith left = 1\nright = 2\n"
        "The result's 'right' should be 4; yours is 1.\n    expected    yours\n    4           1"
    )


def test_a_wrong_shape_is_told_in_axis_names_with_both_results(dots: Callable[[str], Result]) -> None:
    result = dots("    return (A @ B.T)[:1]")
    assert result.state == "not yet"
    sentence = "The result should have the shape [n, m] = [2, 2]; yours has [1, 2]."
    table = "    expected       yours\n    [[ 5. 13.]     [[ 5. 13.]]\n     [-1. -4.]]"
    alike = "Where it is wrong, the result is the right one without its last row."
    assert result.text == f"{NOT_YET}{sentence}\n{alike}\n{table}"
    assert result.html == (
        f"{NOT_YET_HTML}<p>{sentence}</p><p>{alike}</p>"
        "<div style='overflow-x:auto'><table><tr style='background:none'><th style='text-align:left'>expected</th><th style='text-align:left'>yours</th></tr>"
        f"<tr style='background:none'><td style='vertical-align:top; text-align:left; padding-right:2em'>{BARE}[[ 5. 13.]\n [-1. -4.]]</pre></td>"
        f"<td style='vertical-align:top; text-align:left; padding-right:2em'>{BARE}[[ 5. 13.]]</pre></td></tr></table></div></div>"
    )


def test_a_wrong_dtype(dots: Callable[[str], Result]) -> None:
    result = dots("    return (A @ B.T).astype('float32')")
    sentence = "The result should be float64; yours is float32."
    assert result.text == NOT_YET + sentence
    assert result.html == f"{NOT_YET_HTML}<p>{sentence}</p></div>"


def test_a_wrong_value_is_shown_beside_the_expected_one(dots: Callable[[str], Result]) -> None:
    result = dots("    return A * B")
    sentence = "The result has the right shape. Entry [0, 0] should be 5; yours is 3."
    table = "    expected       yours\n    [[ 5. 13.]     [[ 3.  2.]\n     [-1. -4.]]     [ 0. -4.]]"
    assert result.text == f"{NOT_YET}{sentence}\n{table}"
    assert result.html == (
        f"{NOT_YET_HTML}<p>{sentence}</p>"
        "<div style='overflow-x:auto'><table><tr style='background:none'><th style='text-align:left'>expected</th><th style='text-align:left'>yours</th></tr>"
        "<tr style='background:none'><td style='vertical-align:top; text-align:left; padding-right:2em'>"
        "<table><tr style='background:none'><td>5</td><td>13</td></tr><tr style='background:none'><td>-1</td><td>-4</td></tr></table></td>"
        "<td style='vertical-align:top; text-align:left; padding-right:2em'>"
        "<table><tr style='background:none'><td><b><u>3</u></b></td><td><b><u>2</u></b></td></tr><tr style='background:none'><td><b><u>0</u></b></td><td>-4</td></tr></table>"
        "</td></tr></table></div></div>"
    )


KNOWN = PERHAPS + LESSON


def test_a_known_mistake_is_named(dots: Callable[[str], Result]) -> None:
    result = dots("    return A @ B")
    assert result.text.split("\n")[:2] == ["dots: not yet.", KNOWN]
    assert result.text.split("\n")[8:] == [
        "The result has the right shape. Entry [0, 0] should be 5; yours is 13.",
        "    expected       yours",
        "    [[ 5. 13.]     [[13.  9.]",
        "     [-1. -4.]]     [-5. -4.]]",
    ]
    assert result.html.startswith(f"<div><p>{WRONG_MARK}dots: not yet.</p><p><b>{KNOWN}</b></p>{PRE}With A")


def test_a_tool_reads_what_was_found_in_parts(dots: Callable[[str], Result]) -> None:
    found = dots("    np.ones(1) / 0\n    return A @ B")
    tree = json.loads(json.dumps(found.to_json(), allow_nan=False))
    wrong = "The result has the right shape. Entry [0, 0] should be 5; yours is 13."
    assert tree == {
        "exercise": "dots",
        "state": "not yet",
        "caution": "",
        "sentences": ["dots: not yet."],
        "lessons": [KNOWN],
        "reasons": [CASE, wrong],
        "comparison": {"expected": "[[ 5. 13.]\n [-1. -4.]]", "yours": "[[13.  9.]\n [-5. -4.]]"},
        "notes": ["Python warned: divide by zero encountered in divide"],
    }
    assert dots("    return A @ B.T").to_json()["comparison"] is None


def test_what_was_found_stays_as_it_was(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(DOTS)
    kept = np.ones((2, 2))
    found = examine(cell("def dots(A, B):\n    return kept\n", kept=kept)["dots"])
    said = found.text, found.html, found.to_json()
    kept[:] = 7.0
    assert (found.text, found.html, found.to_json()) == said


def test_a_return_forgotten(dots: Callable[[str], Result]) -> None:
    result = dots("    A @ B.T")
    sentence = "The result should be a numpy array of float64; yours is None. Is there a return?"
    assert result.text == NOT_YET + sentence
    assert result.html == f"{NOT_YET_HTML}<p>{sentence}</p></div>"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            "    C = A.T\n    return C @ B[0, :1]",
            "Your code raises ValueError: matmul: Input operand 1 has a mismatch in its core dimension 0 "
            "(size 1 is different from 2) at line 3 of dots, `return C @ B[0, :1]`. There C is [2, 2], B is [2, 2].",
        ),
            (
                "    return a @ B",
                "Your code raises NameError: name 'a' is not defined at line 2 of dots, `return a @ B`.\n"
                "The argument is called `A`; Python takes `a` for another name.",
            ),
        ("    import sys; sys.exit('<done>')", "Your code raises SystemExit: <done> at line 2 of dots, `import sys; sys.exit('<done>')`."),
    ],
)  # fmt: skip
def test_an_exception_is_told_with_the_students_own_line(
    dots: Callable[[str], Result], body: str, sentence: str
) -> None:
    result = dots(body)
    assert result.text == NOT_YET + sentence
    escaped = sentence.replace("<", "&lt;").replace("->", "-&gt;").replace("done>", "done&gt;").replace("'", "&#x27;")
    escaped = re.sub("`(.*?)`", r"<code>\1</code>", escaped).replace("\n", "</p><p>")
    assert result.html == f"{NOT_YET_HTML}<p>{escaped}</p></div>"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "    W = B[:1]\n    return A @ W.T @ B.T",
            "`return A @ W.T @ B.T`. There A is [2, 2], W is [1, 2], B is [2, 2].",
        ),
        (
            "    import torch\n    T = torch.ones(3)\n    return T @ torch.ones(2)",
            "`return T @ torch.ones(2)`. There T is [3].",
        ),
        ("    return A[:, B.size]", "`return A[:, B.size]`. There A is [2, 2], B is [2, 2]."),
        (
            "    if len(A) < 9:\n        raise ValueError(A.shape)",
            "`raise ValueError(A.shape)`. This call is not one to refuse.",
        ),
        ("    return A.a", "`return A.a`."),
    ],
)
def test_where_shapes_do_not_fit_those_of_the_line_are_told(
    dots: Callable[[str], Result], body: str, said: str
) -> None:
    assert said in dots(body).text


def test_parameters_that_do_not_fit_have_no_line(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(DOTS)
    result = examine(cell("def dots(A):\n    return A\n")["dots"])
    assert result.text == (f"{NOT_YET}Your code raises TypeError: dots() takes 1 positional argument but 2 were given.")


def test_an_argument_changed_in_its_last_digits_alone_is_not_shown_as_if_it_were_the_same(
    dots: Callable[[str], Result],
) -> None:
    result = dots("    A += 1e-9\n    return A @ B.T")
    sentence = "The call changed A in place; the caller still needs it as it was."
    assert result.text == f"{NOT_YET}{sentence}\nOnly its last digits are other ones now.\n{VIEWS}"


MISSING = {
    "softly": "`softly` is exercise 1 of this notebook, and its cell was not run since this kernel started: run the cell with "
    "`def softly`, then this one's two cells again.",
    "earlier": "`earlier` is of notebook 76. The cell that carries it over, near the top, was not run since this kernel started: "
    "run that one, then this one's two cells again.",
    "math": "The cell near the top that imports `math` was not run since this kernel started: run that one, then this one's two "
    "cells again.",
    "d": "In the task, d is a size and no variable: read it off a shape.",
    "own": "No cell that was run since this kernel started defines `own`. If one of yours does, run it.",
}


@pytest.mark.parametrize("name", MISSING)
def test_of_a_name_that_is_not_there_it_is_said_which_cell_to_run(
    shelf: Callable[..., None], cell: Cell, name: str
) -> None:
    shelf(stored("softly", [(1.0,)], [Observation(1.0)]), DOTS, stored("earlier", [(1.0,)], [], notebook="76_before"))
    result = examine(cell(f"def dots(A, B):\n    return {name}(A)\n")["dots"])
    assert result.text.endswith(MISSING[name])


def test_of_an_exercise_whose_cell_failed_it_is_not_said_that_it_was_not_run(
    shelf: Callable[..., None], cell: Cell, kernel: Callable[..., None]
) -> None:
    shelf(stored("softly", [(1.0,)], [Observation(1.0)]), replace(DOTS, uses=("softly",)))
    kernel("def softly(s:\n    return s", "check(softly)")
    result = examine(cell("def dots(A, B):\n    return softly(A)\n")["dots"])
    assert result.text.endswith(
        "`softly` is exercise 1 of this notebook, and is not defined now: its cell stopped with an error, or its name was deleted "
        "since. Begin there: look under that cell, run it again, then this one's two cells."
    )


def test_of_an_exercise_that_is_no_function_any_more_it_is_said_what_it_is(
    shelf: Callable[..., None], cell: Cell, kernel: Callable[..., None]
) -> None:
    shelf(stored("softly", [(1.0,)], [Observation(1.0)]), replace(DOTS, uses=("softly",)))
    kernel("def softly(s):\n    return s", "with open('x') as f:\n    softly, y = 3, 4")
    result = examine(cell("softly = 3\ndef dots(A, B):\n    return softly(A)\n")["dots"])
    assert result.text.split("\n")[1] == (
        "It calls softly. softly is no function any more: `softly, y = 3, 4` has bound it to an int. "
        "Give that another name, and run the cell with `def softly` again."
    )


def test_who_hands_a_list_to_a_right_function_is_told_that_it_is_a_list(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(stored("top", [(A,)], [Observation(2.0)]), DOTS)
    names = cell("def top(s):\n    return float(s.max())\ndef dots(A, B):\n    return top([1.0, 2.0])\n")
    assert examine(names["dots"]).text.endswith(
        "A list has no `.max`, and an array has: `np.array(...)` makes one. `top` is right: look at what you hand to it."
    )
    alone = examine(cell("def dots(A, B):\n    return [1.0, 2.0].max()\n")["dots"])
    assert alone.text.endswith("A list has no `.max`, and an array has: `np.array(...)` makes one.")


def test_an_argument_changed_in_place(dots: Callable[[str], Result]) -> None:
    result = dots("    A *= 2\n    return A @ B.T / 2")
    sentence = "The call changed A in place; the caller still needs it as it was."
    assert result.text == f"{NOT_YET}{sentence}\nAfterwards it is\n[[ 2.  4.]\n [ 0. -2.]]\n{VIEWS}"
    assert f"<p>{sentence}</p>{PRE}Afterwards it is\n[[ 2.  4.]\n [ 0. -2.]]</pre><p>A row or a slice" in result.html


def test_warnings_stand_last(dots: Callable[[str], Result]) -> None:
    result = dots("    return (A @ B.T / np.zeros((2, 1)))")
    warning = "Python warned: divide by zero encountered in divide"
    assert result.text.endswith(f"\n     [-1. -4.]]     [-inf -inf]]\n{warning}")
    assert result.html.endswith(f"</table></div><p>{warning}</p></div>")


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        ("np.array(A @ B.T, '>f8')[:, :1]", "The result should have the shape [n, m] = [2, 2]; yours has [2, 1]."),
        ("torch.from_numpy(A @ B.T)", "The result should be a numpy array of float64; yours is a torch tensor of float64."),
        (
            "torch.from_numpy(A @ B.T).bfloat16()",
            "The result should be a numpy array of float64; yours is a tensor of torch.bfloat16 that numpy cannot hold.",
        ),
        ("(row for row in A)", "The result should be a numpy array of float64; yours is a generator."),
        ("np.sum(A)", "The result should be a numpy array of float64; yours is a float."),
        ("np.array([[None, None]] * 2)", "The result should be a numpy array of float64; yours is an array of object."),
        ("1e400", "The result should be a numpy array of float64; yours is a float."),
        ("{A.shape: B}", "The result should be a numpy array of float64; yours is a dict of 1 part."),
    ],
)  # fmt: skip
def test_whatever_is_returned_there_is_a_sentence_and_no_traceback(
    dots: Callable[[str], Result], returned: str, sentence: str
) -> None:
    assert dots(f"    return {returned}").text.split("\n")[7] == sentence


def test_an_answer_in_the_other_byte_order_is_right(dots: Callable[[str], Result]) -> None:
    assert dots("    return np.array(A @ B.T, '>f8')")


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        ("X", "The result should be a tuple of 2 parts; yours is a numpy array of float64."),
        ("[W.T, X.T]", "The result should be a tuple of 2 parts; yours is a list of 2 parts."),
        ("W.T, X.T, X", "The result should have 2 parts; yours has 3."),
        ("W.T, X.T[:1]", "The second part of the result should have the shape [d, n] = [2, 2]; yours has [1, 2]."),
        ("W.T, X", "The second part of the result has the right shape. Entry [0, 1] should be 3; yours is 2."),
    ],
)
def test_a_tuple_is_told_part_by_part(shelf: Callable[..., None], cell: Cell, returned: str, sentence: str) -> None:
    X, W = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])
    parameters = (("X", "n d"), ("W", "d k"))
    shelf(stored("turned", [(X, W)], [Observation((W.T, X.T))], axes=["k d", "d n"], parameters=parameters))
    result = examine(cell(f"def turned(X, W):\n    return {returned}\n")["turned"])
    assert result.text.split("\n")[7] == sentence


@pytest.mark.parametrize(("thing", "name"), [(np.dot, "dot"), (Result, "Result"), (type("<b>", (), {}), "<b>")])
def test_a_name_that_is_no_exercise(thing: object, name: str) -> None:
    result = examine(thing)
    assert result.state == "unknown"
    assert result.text == f"check goes by the function's name, and there is no exercise called {name}."
    escaped = name.replace("<", "&lt;").replace(">", "&gt;")
    assert (
        result.html
        == f"<p><b aria-hidden='true'>?</b> check goes by the function&#x27;s name, and there is no exercise called {escaped}.</p>"
    )


@pytest.mark.parametrize(("thing", "name"), [(lambda: 1, "<lambda>"), (partial(np.dot, A), "partial")])
def test_who_checks_what_has_no_name_is_told_to_give_it_one(thing: object, name: str) -> None:
    assert examine(thing).text == (
        f"check goes by the function's name, and there is no exercise called {name}. "
        "Give it the exercise's name, `its_name = ...`, and then write check(its_name)."
    )


KINDS = {
    "a lambda": "dots = lambda A, B: {}",
    "an alias": "def mine(A, B):\n    return {}\ndots = mine",
    "partial": "from functools import partial\ndef mine(scale, A, B):\n    return scale * {}\ndots = partial(mine, 1)",
    "an object": "class Mine:\n    def __call__(self, A, B):\n        return {}\ndots = Mine()",
    "a method": "class Mine:\n    def go(self, A, B):\n        return {}\ndots = Mine().go",
    "a decorator that does not say what it wraps": (
        "def twice(f):\n    return lambda *a: (f(*a), f(*a))[1]\n@twice\ndef dots(A, B):\n    return {}"
    ),
    "another exercise's name": "def turned(A, B):\n    return {}\ndots = turned",
}


@pytest.mark.parametrize("kind", KINDS)
def test_check_knows_an_exercise_by_the_name_that_the_notebook_has_for_it(
    shelf: Callable[..., None], cell: Cell, kind: str
) -> None:
    turned = stored("turned", [(A, B)], [Observation(B @ A.T)])
    shelf(DOTS, turned)
    for answered, state in (("A @ B.T", "correct"), ("B @ A.T", "not yet")):
        source = f"{KINDS[kind].format(answered)}\nresult = check(dots)\n"
        result = cell(source, check=check, np=np)["result"]
        assert (result.exercise, result.state) == ("dots", state)


def test_where_two_exercises_are_one_function_it_is_said_which_was_checked(
    shelf: Callable[..., None], cell: Cell
) -> None:
    shelf(DOTS, stored("turned", [(A, B)], [Observation(B @ A.T)]))
    both = "def dots(A, B):\n    return A @ B.T\nturned = dots\nresults = [check(f) for f in (dots, turned)]\n"
    for result in cell(both, check=check)["results"]:
        assert result.text.startswith("This is the check of dots; here turned is the same function.\ndots: correct")


BOUND = {
    "after it": "dots = dots(A, B)",
    "by a loop": "for dots in [A]: pass",
    "never a function": "dots = A",
}


@pytest.mark.parametrize("bound", BOUND)
def test_a_name_that_is_bound_again_is_no_function_any_more(
    shelf: Callable[..., None], cell: Cell, kernel: Callable[..., None], bound: str
) -> None:
    shelf(DOTS)
    right = "def dots(A, B):\n    return A @ B.T\n"
    scope = cell(right, check=check, A=A, B=B)
    kernel(right, "x = 1", BOUND[bound])
    exec(BOUND[bound] + "\nresult = check(dots)", scope)
    assert scope["result"].state == "not yet"
    assert scope["result"].text == (
        f"dots: not yet.\ndots is no function any more: `{BOUND[bound]}` has bound it to a numpy array of float64. "
        "Give that another name, and run the cell with `def dots` again."
    )


@pytest.mark.parametrize(
    ("thing", "sentence"),
    [
        (A, "check takes the function itself, not a numpy array of float64: check(its_name), without calling it."),
        (None, "check takes the function itself, not None: check(its_name), without calling it."),
        ("dots", "check takes the function itself: check(dots), without quotation marks."),
        ("dot", "check takes the function itself: check(its_name), without quotation marks."),
    ],
)
def test_what_is_no_function_is_told_what_to_write(shelf: Callable[..., None], thing: object, sentence: str) -> None:
    shelf(DOTS)
    assert (examine(thing).state, examine(thing).text) == ("unknown", sentence)


def test_a_name_with_a_slip_is_told_which_one_was_meant(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(DOTS)
    text = examine(cell("def dot(A, B):\n    return A @ B.T\n")["dot"]).text
    assert text == "check goes by the function's name, and there is no exercise called dot. Did you mean dots?"


def test_who_stops_a_check_reads_where_it_was(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(DOTS)
    source = "def dots(A, B):\n    while True:\n        stop()\n"

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(Stopped) as stopped:
        check(cell(source, stop=stop)["dots"])
    (told,) = stopped.value._render_traceback_()
    assert told.startswith("dots: stopped after 0 s, without an answer. It was at line 3 of dots, `stop()`.")
    assert stopped.value.__suppress_context__


def test_a_line_is_told_from_a_cell_of_colab_too(shelf: Callable[..., None]) -> None:
    shelf(DOTS)
    name, source = "/tmp/ipython-input-2938354417.py", "def dots(A, B):\n    return A @ 'B'\n"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, Any] = {}
    exec(compile(source, name, "exec"), scope)
    assert "at line 2 of dots, `return A @ 'B'`" in examine(scope["dots"]).text


# ---------------------------------------------------------------------------------------------- other exercises


def doubles(*sizes: int, name: str = "double", **rest: Any) -> StoredExercise:
    cases = [(np.arange(1.0, n + 1),) for n in sizes]
    return stored(name, cases, [Observation(2 * x) for (x,) in cases], parameters=(("x", "n"),), **rest)


def test_several_public_cases_are_counted(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(doubles(2, 3, 4))
    result = examine(cell("def double(x):\n    return 2 * x\n")["double"])
    assert result.text == "double: correct on all 3 public cases. The hidden tests try more."


def test_the_smallest_case_that_fails_is_shown(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(doubles(1, 3, 2))
    result = examine(cell("def double(x):\n    return 2 * x if len(x) == 1 else x\n")["double"])
    assert result.text == (
        "double: not yet.\nWith x = [1. 2.]\nThe result has the right shape. Entry [0] should be 2; yours is 1.\n"
        "Where it is wrong, the result is x as it was given.\n"
        "    expected    yours\n    [2. 4.]     [1. 2.]"
    )


def test_a_case_whose_sizes_all_differ_is_shown_before_a_smaller_one(shelf: Callable[..., None], cell: Cell) -> None:
    cases = [(np.ones((1, 1)),), (np.ones((1, 3)),), (np.ones((2, 3)),)]
    expected = [Observation(np.zeros(len(A))) for (A,) in cases]
    shelf(stored("zero", cases, expected, parameters=(("A", "n d"),)))
    assert examine(cell("def zero(A):\n    return A\n")["zero"]).text.startswith(
        "zero: not yet.\nWith A = [[1. 1. 1.]]\n"
    )


@pytest.mark.parametrize(
    "special", [np.array([1.0], np.float32), np.array([5e4]), np.array([1e-30]), np.array([np.nan])], ids=str
)
def test_a_case_of_plain_numbers_is_shown_before_a_smaller_one_that_is_there_for_more(
    shelf: Callable[..., None], cell: Cell, special: np.ndarray
) -> None:
    labels = np.array([111.0, 112.0, 113.0])
    expected = [Observation(2 * special), Observation(2 * labels)]
    shelf(stored("double", [(special,), (labels,)], expected, parameters=(("x", "n"),)))
    assert "111" in examine(cell("def double(x):\n    return None\n")["double"]).text


def test_a_function_that_does_what_its_name_says_is_shown_before_one_that_does_more(
    shelf: Callable[..., None], cell: Cell
) -> None:
    X, W = np.eye(3), np.ones((3, 2))
    cases = [(X[:2], W, public_function("project", gain=2.0)), (X, W, public_function("project"))]
    parameters = (("X", "n d"), ("W", "d k"), ("project", ""))
    shelf(stored("rows", cases, [Observation(2 * X[:2] @ W), Observation(X @ W)], parameters=parameters))
    text = examine(cell("def rows(X, W, project):\n    return None\n")["rows"]).text
    assert "a function that gives 2 times x @ W" not in text


@pytest.mark.parametrize("name", ["attend_loop", "attention", "zero_renorm", "mha_tp"])
def test_whoever_is_wrong_everywhere_is_shown_a_plain_case(cell: Cell, name: str) -> None:
    text = examine(cell(f"def {name}(*arguments):\n    return None\n")[name]).text
    assert not re.search("float32|a function that|nan|inf", text)


def test_only_the_warnings_of_the_case_that_is_shown_are_told(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(doubles(1, 2))
    source = "import warnings\n\ndef double(x):\n    warnings.warn(f'{len(x)} tokens')\n    return 0 * x\n"
    text = examine(cell(source)["double"]).text
    assert text.endswith("\nPython warned: 1 tokens")
    assert "2 tokens" not in text


def test_a_dtype_that_is_not_the_usual_one_is_named(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(stored("same", [(np.ones(2, "f4"),)], [Observation(np.ones(2, "f4"))], parameters=(("x", "n"),)))
    result = examine(cell("def same(x):\n    return x.astype(float)\n")["same"])
    assert result.text == "same: not yet.\nWith x (float32) = [1. 1.]\nThe result should be float32; yours is float64."


def test_a_large_argument_is_told_by_its_axes(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(doubles(25))
    text = examine(cell("def double(x):\n    return x[:1]\n")["double"]).text
    assert text.startswith("double: not yet.\nWith x of shape [n] = [25]\nThe result should have the shape [n] = [25]")


LOOP = (
    "The values are right. More Python lines run when the input is larger: "
    "a loop is left, yours or one inside a helper you call. A loop stands in `double`."
)
LOOPS = "def double(x):\n    return np.array([2 * entry for entry in x])\n"


def test_a_loop_that_is_left(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(doubles(2, 30, vectorised=True))
    result = examine(cell(LOOPS, np=np)["double"])
    assert result.state == "not yet"
    assert result.text == f"double: not yet.\n{LOOP}"
    said = LOOP.replace("`double`", "<code>double</code>")
    assert result.html == f"<div><p>{WRONG_MARK}double: not yet.</p><p>{said}</p></div>"
    assert examine(cell("def double(x):\n    return 2 * x\n")["double"])


HELPERS = {
    "return np.array([2 * one for one in x])": "A loop stands in `helper`, which it calls.",
    "return np.apply_along_axis(lambda row: 2 * row, 1, x[:, None])[:, 0]": (
        "`np.apply_along_axis` calls your function once for each row: that is a loop, in `helper`, which it calls."
    ),
    "return np.vectorize(lambda one: 2 * one)(x)": (
        "`np.vectorize` calls your function once for each entry: that is a loop, in `helper`, which it calls."
    ),
}


@pytest.mark.parametrize("body", HELPERS)
def test_a_loop_in_a_helper_is_told_as_what_it_is(shelf: Callable[..., None], cell: Cell, body: str) -> None:
    shelf(doubles(2, 30, vectorised=True))
    names = cell(f"def helper(x):\n    {body}\ndef double(x):\n    return helper(x)\n", np=np)
    assert examine(names["double"]).text.endswith(HELPERS[body])


def test_a_loop_is_right_where_nobody_asks_for_none(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(doubles(2, 30))
    assert examine(cell(LOOPS, np=np)["double"])


def test_known_mistakes_are_told_apart_by_whether_they_loop(shelf: Callable[..., None], cell: Cell) -> None:
    exercise = doubles(2, 30, vectorised=True)
    mistakes = tuple(
        StoredMistake(name, f"{name}.", exercise.expected, name == "you loop") for name in ("you loop", "x")
    )
    shelf(doubles(2, 30, vectorised=True, mistakes=mistakes))
    text = examine(cell(LOOPS, np=np)["double"]).text
    assert text == f"double: not yet.\nA known mistake gives exactly these answers: you loop.\n{LOOP}"


def test_a_mistake_is_known_by_the_cases_it_spoils_where_others_are_right(
    shelf: Callable[..., None], cell: Cell
) -> None:
    wrong = [Observation(np.array([2.0])), Observation(np.array([0.0, 0.0]))]
    shelf(doubles(1, 2, mistakes=(StoredMistake("zeros", "you return zeros.", tuple(wrong), False),)))
    once = f"double: not yet.\n{PERHAPS}you return zeros.\n"
    assert examine(cell("def double(x):\n    return 2 * x if len(x) == 1 else 0 * x\n")["double"]).text.startswith(once)
    assert once not in examine(cell("def double(x):\n    return 0 * x + len(x)\n")["double"]).text


TRIPLES = StoredMistake("triples", "you tripled.", tuple(Observation(3 * np.arange(1.0, n + 1)) for n in (2, 3)), False)


@pytest.mark.parametrize("form", ["list({})", "{}[None]", "({}).astype('float32')"])
def test_a_known_mistake_is_known_in_another_form(shelf: Callable[..., None], cell: Cell, form: str) -> None:
    shelf(doubles(2, 3, mistakes=(TRIPLES,)))
    text = examine(cell(f"def double(x):\n    return {form.format('3 * x')}\n")["double"]).text
    assert text.startswith(f"double: not yet.\n{BUT_FOR_FORM}you tripled.\n")
    right = examine(cell(f"def double(x):\n    return {form.format('2 * x')}\n")["double"]).text
    assert "you tripled." not in right


def test_the_slip_of_form_is_told_beside_the_mistake_wherever_it_shows(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(doubles(2, 3, mistakes=(TRIPLES,)))
    text = examine(cell("def double(x):\n    return list(3 * x) if len(x) > 2 else 3 * x\n")["double"]).text
    assert text.startswith(f"double: not yet.\n{BUT_FOR_FORM}you tripled.\nWith x = [1. 2.]\n")
    assert (
        "\nBesides, in another case: The result should be a numpy array of float64; yours is a list of 3 parts.\n"
        in text
    )


def test_where_no_mistake_is_known_it_is_said_how_and_when_answers_are_wrong(
    shelf: Callable[..., None], cell: Cell
) -> None:
    shelf(doubles(2, 3, 1, 4))
    text = examine(cell("def double(x):\n    return 5 * x if len(x) == 1 else 2 * x\n")["double"]).text
    assert "\nOf the 4 public cases, it is wrong in exactly those where n is 1.\n" in text
    text = examine(cell("def double(x):\n    return 2 * x / len(x)\n")["double"]).text
    assert "\nWhere it is wrong, the result is the right one times 1 / n.\n" in text


ANSWERS = {  # to 1 and 2 numbers and to 3
    "zeros": (0.0, 0.0, 0.0),
    "zeros_but_one": (2.0, 0.0, 0.0),
    "zeros_but_two": (2.0, 4.0, 0.0),
}


def test_of_mistakes_that_fit_what_is_wrong_those_are_named_that_fit_most_of_the_rest(
    shelf: Callable[..., None], cell: Cell
) -> None:
    cases = [(float(x),) for x in (1, 2, 3)]
    mistakes = [
        StoredMistake(name, f"{name}.", tuple(map(Observation, given)), False) for name, given in ANSWERS.items()
    ]
    right = [Observation(2 * x) for (x,) in cases]
    shelf(stored("double", cases, right, parameters=(("x", ""),), mistakes=tuple(mistakes)))

    def named(*given: float) -> list[str]:
        text = examine(
            cell(f"def double(x):\n    return {dict(zip((1.0, 2.0, 3.0), given, strict=True))}[x]\n")["double"]
        ).text
        return [line.split(": ")[1] for line in text.split("\n") if "mistake" in line]

    assert named(2.0, 4.0, 0.0) == ["zeros_but_two."]
    assert named(2.0, 0.0, 0.0) == ["zeros_but_one."]
    shelf(
        stored(
            "double",
            cases[2:],
            right[2:],
            parameters=(("x", ""),),
            mistakes=tuple(StoredMistake(m.name, m.lesson, m.answers[2:], False) for m in mistakes),
        )
    )
    assert len(named(2.0, 4.0, 0.0)) == 3  # these give the very answers: nothing tells them apart


def test_two_mistakes_that_no_case_tells_apart_are_both_named_as_a_guess(
    shelf: Callable[..., None], cell: Cell
) -> None:
    answers_of_both = (Observation(1.0), Observation(0.0))
    mistakes = tuple(StoredMistake(name, f"{name}.", answers_of_both, False) for name in ("one", "other"))
    said = []
    for some in (mistakes[:1], mistakes):
        shelf(stored("double", [(1.0,), (2.0,)], [Observation(2.0), Observation(4.0)], mistakes=some))
        said.append(examine(cell("def double(x):\n    return 2.0 - x\n")["double"]).message.lessons)
    assert said == [("A known mistake gives exactly these answers: one.",), (f"{PERHAPS}one.", f"{PERHAPS}other.")]


NEAR = {  # to 1, 2, 3 and 4, where a student answers 2, 4, 0 and 0
    "one": (5.0, 4.0, 0.0, 0.0),
    "other": (2.0, 5.0, 0.0, 0.0),
    "third": (6.0, 4.0, 0.0, 0.0),
    "far": (5.0, 5.0, 0.0, 0.0),
}


@pytest.mark.parametrize(
    ("known", "named"),
    [(("one",), ["one"]), (("one", "other"), ["one", "other"]), (("one", "other", "third"), []), (("far",), [])],
)
def test_a_mistake_that_also_fails_where_the_answer_is_right_is_called_near(
    shelf: Callable[..., None], cell: Cell, known: tuple[str, ...], named: list[str]
) -> None:
    cases = [(1.0,), (2.0,), (3.0,), (4.0,)]
    right = [Observation(2 * x) for (x,) in cases]
    mistakes = tuple(StoredMistake(name, f"{name}.", tuple(map(Observation, NEAR[name])), False) for name in known)
    shelf(stored("double", cases, right, parameters=(("x", ""),), mistakes=mistakes))
    result = examine(cell("def double(x):\n    return 2 * x if x < 3 else 0.0\n")["double"])
    assert result.message.lessons == tuple(f"{NEARLY}{name}." for name in named)
    assert result.mistakes == ()


def test_a_mistake_in_another_form_comes_before_one_that_is_near(shelf: Callable[..., None], cell: Cell) -> None:
    one = [np.array([x]) for x in (1.0, 2.0, 3.0)]
    right = [Observation(2 * x) for x in one]
    near = StoredMistake("near", "near.", (Observation(5 * one[0]), right[1], Observation([0.0])), False)
    same = StoredMistake("same", "same.", (right[0], right[1], Observation(0 * one[2])), False)
    shelf(stored("double", [(x,) for x in one], right, parameters=(("x", "n"),), mistakes=(near, same)))
    result = examine(cell("def double(x):\n    return 2 * x if x[0] < 3 else [0.0]\n")["double"])
    assert (result.message.lessons, result.mistakes) == ((f"{PERHAPS}same.",), ("same",))


def test_an_exception_points_to_a_known_mistake_only_where_it_names_the_same_sizes(
    shelf: Callable[..., None], cell: Cell
) -> None:
    raised = Observation(raised=Raised("ValueError", "sizes 1 and 2"))
    shelf(doubles(2, mistakes=(StoredMistake("sizes", "you mixed up sizes.", (raised,), False),)))
    lesson = f"{PERHAPS}you mixed up sizes."
    same, other = (f"def double(x):\n    raise ValueError('sizes {sizes}')\n" for sizes in ("1 and 2", "2 and 1"))
    assert examine(cell(same)["double"]).text.startswith(f"double: not yet.\n{lesson}\n")
    assert lesson not in examine(cell(other)["double"]).text


def test_an_exception_points_to_a_known_mistake_where_it_names_the_same_type(
    shelf: Callable[..., None], cell: Cell
) -> None:
    raised = Observation(raised=Raised("AttributeError", "'dict' object has no attribute 'mean'"))
    shelf(doubles(2, mistakes=(StoredMistake("dictionary", "you went on with a dictionary.", (raised,), False),)))
    assert "you went on with a dictionary." in examine(cell("def double(x):\n    return {}.mean()\n")["double"]).text
    assert "dictionary" not in examine(cell("def double(x):\n    return {}.meant()\n")["double"]).text.split("With")[0]


def test_where_some_answers_are_errors_those_are_not_called_answers(shelf: Callable[..., None], cell: Cell) -> None:
    halves = (Observation(np.array([0.5, 1.0])), Observation(raised=Raised("ValueError", "too long")))
    shelf(doubles(2, 3, 4, mistakes=(StoredMistake("halves", "you halved.", (*halves, halves[1]), False),)))
    source = "def double(x):\n    if len(x) > 2:\n        raise ValueError('no room')\n    return x / 2\n"
    assert examine(cell(source)["double"]).text.split("\n")[1] == (
        "A known mistake gives exactly these answers and errors: you halved."
    )


def test_a_function_with_parameters_is_described(shelf: Callable[..., None], cell: Cell) -> None:
    X, W = np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])
    case = (X, W, public_function("project", gain=2.0))
    parameters = (("X", "n d"), ("W", "d k"), ("project", ""))
    shelf(stored("project_all", [case], [Observation(22.0)], parameters=parameters))
    text = examine(cell("def project_all(X, W, project):\n    return 11.0\n")["project_all"]).text
    assert "\nproject = a function that gives 2 times x @ W\n" in text


def test_a_budget_exceeded(shelf: Callable[..., None], cell: Cell) -> None:
    X, W = np.array([[1.0], [2.0]]), np.array([[3.0]])
    expected = [Observation(X @ W, counts={"project": 2})]
    parameters = (("X", "n d"), ("W", "d k"), ("project", ""))
    shelf(stored("project_all", [(X, W, public_function("project"))], expected, parameters=parameters))
    wasteful = "def project_all(X, W, project):\n    project(X, W)\n    return project(X, W)\n"
    assert examine(cell(wasteful)["project_all"]).text == (
        "project_all: not yet.\nWith X =\n    [[1.]\n     [2.]]\nW = [[3.]]\nIt hands 4 rows to project, all calls together; 2 are enough."
    )
    frugal = "def project_all(X, W, project):\n    return project(X, W=W)\n"
    assert examine(cell(frugal)["project_all"])


def test_a_call_that_should_be_refused(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(stored("split", [(5,)], [refused("ValueError")], parameters=(("n", ""),)))
    accepts, refuses = "def split(n):\n    return n\n", "def split(n):\n    raise ValueError('25 heads')\n"
    assert examine(cell(refuses)["split"])
    assert examine(cell(accepts)["split"]).text == (
        "split: not yet.\nWith n = 5\nThis call should be refused with a ValueError; yours returned an int."
    )


def refused(kind: str) -> Observation:
    return Observation(raised=Raised(kind))


def test_tensors_are_shown_like_arrays(shelf: Callable[..., None], cell: Cell) -> None:
    x = Tensor(np.array([1.0, 2.0]))
    shelf(stored("double", [(x,)], [Observation(Tensor(2 * x.array))], parameters=(("x", "n"),)))
    assert examine(cell("def double(x):\n    return x\n")["double"]).text == (
        "double: not yet.\nWith x = [1. 2.]\nThe result has the right shape. Entry [0] should be 2; yours is 1.\n"
        "Where it is wrong, the result is x as it was given.\n"
        "    expected    yours\n    [2. 4.]     [1. 2.]"
    )


LED = "Line 2 of quadruple led there, `return double(double(x))`."
QUADRUPLE = "def quadruple(x):\n    return double(double(x))\n"


@pytest.mark.parametrize(
    ("double", "told"),
    [
        ("return 3 * x", ["The result has the right shape. Entry [0] should be 4; yours is 9."]),
        ("raise NotImplementedError()", [f"Your code raises NotImplementedError at line 2 of double, `raise NotImplementedError()`. {LED}"]),
        ("return 1 / 0", [f"Your code raises ZeroDivisionError: division by zero at line 2 of double, `return 1 / 0`. {LED}"]),
    ],
)  # fmt: skip
def test_where_a_function_that_this_one_calls_is_not_right_the_student_begins_there(
    shelf: Callable[..., None], cell: Cell, double: str, told: list[str]
) -> None:
    shelf(doubles(1), fours())
    scope = cell(f"def double(x):\n    {double}\n")
    result = examine(cell(QUADRUPLE, double=scope["double"])["quadruple"])
    begin = "It calls double, whose own check does not pass yet: begin there."
    assert result.state == "not yet"
    assert result.text.split("\n")[:4] == ["quadruple: not yet.", begin, "With x = [1.]", *told]
    assert result.html.startswith(f"<div><p>{WRONG_MARK}quadruple: not yet.</p><p>{begin}</p>")


@pytest.mark.parametrize(
    "source",
    [
        "def quadruple(x):\n    twice, = (double(double(one)) for one in [x])\n    return twice\n",
        "def quadruple(x):\n    return (lambda y: double(double(y)))(x)\n",
        "def helper(y):\n    return double(y)\ndef quadruple(x):\n    return helper(helper(x))\n",
    ],
    ids=["in a comprehension", "in a function within", "through a helper"],
)
def test_wherever_it_is_called_the_student_begins_there(shelf: Callable[..., None], cell: Cell, source: str) -> None:
    shelf(doubles(1), fours())
    right, wrong = (cell(f"def double(x):\n    return {factor} * x\n")["double"] for factor in (2, 3))
    assert examine(cell(source, double=right)["quadruple"])
    assert "begin there" in examine(cell(source, double=wrong)["quadruple"]).text


@pytest.mark.parametrize("source", ["library.double(x) * 2", "x.double() * 2"])
def test_a_function_of_the_same_name_elsewhere_is_not_blamed(
    shelf: Callable[..., None], cell: Cell, source: str
) -> None:
    shelf(doubles(1), fours())
    wrong = cell("def double(x):\n    for one in x:\n        x = 3 * x\n    return x\n")["double"]
    names = {"library": SimpleNamespace(double=lambda x: 2 * x), "double": wrong}
    said = examine(cell(f"def quadruple(x):\n    return {source} + 1\n", **names)["quadruple"]).text
    assert "begin there" not in said
    assert where_it_loops(cell(f"def quadruple(x):\n    return {source}\n", **names)["quadruple"]) == []


def fours(**rest: Any) -> StoredExercise:
    x = np.array([1.0])
    return stored("quadruple", [(x,)], [Observation(4 * x)], parameters=(("x", "n"),), uses=("double",), **rest)


def test_where_the_fault_lies_elsewhere_no_mistake_is_named(shelf: Callable[..., None], cell: Cell) -> None:
    nines = StoredMistake("nine", "you took nine.", (Observation(np.array([9.0])),), False)
    shelf(doubles(1), fours(mistakes=(nines,)))
    direct = cell("def quadruple(x):\n    return 9 * x\n")["quadruple"]
    indirect = cell(QUADRUPLE, double=cell("def double(x):\n    return 3 * x\n")["double"])["quadruple"]
    assert "you took nine." in examine(direct).text
    assert "you took nine." not in examine(indirect).text


@pytest.mark.parametrize(
    "source", ["def quadruple(x):\n    return x\n", "def quadruple(x):\n    raise NotImplementedError()\n"]
)
def test_a_function_that_is_not_called_is_not_blamed(shelf: Callable[..., None], cell: Cell, source: str) -> None:
    shelf(doubles(1), fours())
    broken = cell("def double(x):\n    return x\n")["double"]
    assert "begin there" not in examine(cell(source, double=broken)["quadruple"]).text


def test_a_result_is_looked_at_as_the_exercise_sees_it(shelf: Callable[..., None], cell: Cell) -> None:
    settled = Observation({"flops": "settled"})
    shelf(stored("repair", [()], [settled], view="claims"))
    assert examine(cell("def repair():\n    return {'flops': None}\n")["repair"])
    result = examine(cell("def repair():\n    return {'flops': 1}\n")["repair"])
    assert result.text == "repair: not yet.\nflops: neither None nor three arrays (Q, K, V)"
    assert result.html == (
        f"<div><p>{WRONG_MARK}repair: not yet.</p><p>flops: neither None nor three arrays (Q, K, V)</p></div>"
    )
    assert examine(cell("def repair():\n    return None\n")["repair"]).text == (
        "repair: not yet.\nThe result should be a dict of 1 part; yours is None. Is there a return?"
    )


# ---------------------------------------------------------------------------------------------- under nbgrader

RIGHT = "def pairwise_dots(A, B):\n    return A @ B.T\n"
WRONG = "def pairwise_dots(A, B):\n    return A * B\n"
STUB = "def pairwise_dots(A, B):\n    raise NotImplementedError()\n"


def test_at_home_check_returns_what_it_found(cell: Cell) -> None:
    for source, state in ((RIGHT, "correct"), (WRONG, "not yet"), (STUB, "not written")):
        result = check(cell(source)["pairwise_dots"])
        assert result is not None
        assert result.state == state


@pytest.mark.parametrize("source", [WRONG, STUB])
def test_under_validate_whatever_is_not_right_fails_with_the_message_for_a_traceback(
    cell: Cell, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    function = cell(source)["pairwise_dots"]
    with pytest.raises(CheckFailed) as failure:
        check(function)
    lines = failure.value._render_traceback_()
    assert " ".join(lines).split() == examine(function).text.split()
    assert max(map(len, lines)) <= 80  # nbgrader validate cuts what is longer
    assert str(failure.value) == examine(function).text


def test_under_validate_a_name_that_is_no_exercise_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    with pytest.raises(
        CheckFailed, match=r"^check goes by the function's name, and there is no exercise called dot\.$"
    ):
        check(np.dot)


def test_under_validate_a_right_answer_passes(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    shown: list[object] = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    assert check(cell(RIGHT)["pairwise_dots"]) is None  # nbgrader takes what a cell returns for a score
    assert [bool(one) for one in shown] == [True]


def test_under_autograde_check_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    called: list[object] = []

    def pairwise_dots(A: np.ndarray, B: np.ndarray) -> None:
        called.append(A)

    assert check(pairwise_dots) is None
    assert check(np.dot) is None
    assert called == []


# ---------------------------------------------------------------------------------------------- progress


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of a notebook: those of the main module."""
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    return vars(main)


def test_progress_before_anything_is_run(notebook: dict, capsys: pytest.CaptureFixture[str]) -> None:
    progress("00_shapes")
    assert capsys.readouterr().out.split("\n") == [
        "00_shapes: 0 of 3 checks pass.",
        "· not run      pairwise_dots",
        "· not run      mix_rows",
        "· not run      to_columns",
        NOT_RUN,
        "",
    ]


def test_progress_shows_the_state_of_every_exercise_of_the_notebook(
    notebook: dict, cell: Cell, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook.update(cell(RIGHT + "\ndef mix_rows(W, V):\n    return W\n"))
    progress("00_shapes")
    assert capsys.readouterr().out.split("\n") == [
        "00_shapes: 1 of 3 checks pass.",
        "✓ correct      pairwise_dots",
        "✗ not yet      mix_rows",
        "· not run      to_columns",
        NOT_RUN,
        "",
    ]


def test_progress_tells_a_stub_from_a_cell_that_was_not_run(
    notebook: dict, cell: Cell, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook.update(cell("def pairwise_dots(A, B):\n    raise NotImplementedError()\n"))
    progress("00_shapes")
    said = capsys.readouterr().out
    assert "· not written  pairwise_dots" in said
    assert "· not run      mix_rows" in said


def test_progress_without_a_name_is_of_the_last_notebook_that_was_begun(
    notebook: dict, cell: Cell, capsys: pytest.CaptureFixture[str]
) -> None:
    progress()
    assert capsys.readouterr().out.startswith("No exercise is defined here yet.")
    notebook.update(cell("def pairwise_dots(A, B):\n    return A\n\ndef attend_one(x, X, Wq, Wk, Wv):\n    return x\n"))
    progress()
    assert capsys.readouterr().out.startswith("01_token_loops: 0 of 4 checks pass.")
    progress("00")
    assert capsys.readouterr().out.startswith("00_shapes: 0 of 3 checks pass.")


def test_progress_is_of_the_notebook_that_is_named(
    shelf: Callable[..., None], notebook: dict, cell: Cell, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf(doubles(1), doubles(1, name="again", notebook="78_ours"))
    notebook.update(cell("def double(x):\n    return 2 * x\n\nagain = 'no function'\n"))
    progress("77_ours")
    progress("78_ours")
    assert capsys.readouterr().out == (
        "77_ours: 1 of 1 checks pass.\n✓ correct      double\n78_ours: 0 of 1 checks pass.\n· not run      again\n"
        f"{NOT_RUN}\n"
    )


def test_progress_of_a_notebook_that_is_not_there(
    shelf: Callable[..., None], notebook: dict, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf(doubles(1), doubles(1, name="again", notebook="78_ours"))
    progress("79_ours")
    assert capsys.readouterr().out == "There is no notebook 79_ours; there are 77_ours, 78_ours.\n"


@pytest.mark.parametrize("execution", ["validate", "autograde"])
def test_progress_is_silent_under_nbgrader(
    notebook: dict, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], execution: str
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", execution)
    progress("00_shapes")
    assert capsys.readouterr().out == ""


def test_time_in_which_others_have_the_machine_does_not_count_as_taking_long(
    shelf: Callable[..., None], cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf(stored("double", [(1,), (2,), (3,)], [Observation(2 * x) for x in (1, 2, 3)]))
    calls: list[int] = []
    source = "import time\ndef double(x):\n    calls.append(x)\n    time.sleep(1.1)\n    return x\n"
    assert examine(cell(source, calls=calls)["double"]).state == "not yet"
    assert calls[:3] == [1, 2, 3]


def test_after_a_wrong_case_that_took_long_the_others_are_not_tried(
    shelf: Callable[..., None], cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake = StoredMistake("same", "you returned it as it was.", tuple(Observation(x) for x in (1, 2, 3)), False)
    shelf(stored("double", [(1,), (2,), (3,)], [Observation(2 * x) for x in (1, 2, 3)], mistakes=(mistake,)))
    called = {"right": "2 * x", "wrong": "2 * x if x == 1 else x", "same": "x"}
    for name, body in called.items():
        calls: list[int] = []
        double = cell(f"def double(x):\n    calls.append(x)\n    return {body}\n", calls=calls)["double"]
        monkeypatch.setattr("course.checking.PATIENCE", 60.0)
        patient = examine(double)
        assert calls[:3] == [1, 2, 3]
        calls.clear()
        monkeypatch.setattr("course.checking.PATIENCE", -1.0)  # every case takes longer than that
        hasty = examine(double)
        assert calls[:3] == {"right": [1, 2, 3], "wrong": [1, 2], "same": [1]}[name]
        assert (hasty.state, "you returned it" in hasty.text) == (patient.state, "you returned it" in patient.text)


def test_what_remembers_an_earlier_call_is_told_so_and_what_does_not_is_not(
    shelf: Callable[..., None], cell: Cell
) -> None:
    shelf(doubles(2, 3))
    kept = "buffers = {}\ndef double(x):\n    b = buffers.setdefault(x.shape, 0 * x)\n    b += 2 * x\n    return b.copy()\n"
    found = examine(cell(kept)["double"])
    assert (found.state, found.message.reasons) == ("not yet", (REMEMBERS,))
    drawn = examine(cell("def double(x):\n    return np.random.default_rng().random(len(x))\n", np=np)["double"])
    assert drawn.message.reasons[-1] == REMEMBERS
    assert REMEMBERS not in examine(cell("def double(x):\n    return 3 * x\n")["double"]).text


def test_an_answer_that_is_kept_for_a_shape_shows_with_other_numbers_in_it(
    shelf: Callable[..., None], cell: Cell
) -> None:
    turned = Case((np.array([2.0, 1.0]),))
    shelf(doubles(2, 3, turned=((turned, turned.run(lambda x: 2 * x)),)))
    kept = "first = {}\ndef double(x):\n    return first.setdefault(x.shape, 2 * x).copy()\n"
    found = examine(cell(kept)["double"])
    assert (found.state, found.message.reasons[0]) == ("not yet", LIKE_BEFORE)
    assert examine(cell("def double(x):\n    return 2 * x\n")["double"])


@pytest.mark.parametrize("answer", ["2 * x", "3 * x"], ids=["right", "wrong"])
def test_what_a_function_prints_is_heard_once_for_each_public_case(
    shelf: Callable[..., None], cell: Cell, capsys: pytest.CaptureFixture[str], answer: str
) -> None:
    shelf(doubles(2, 3, vectorised=True))
    talks = f"import sys\ndef double(x):\n    print(len(x), end=' ')\n    print('!', file=sys.stderr)\n    return {answer}\n"
    examine(cell(talks)["double"])
    assert capsys.readouterr() == ("2 3 ", "!\n!\n")


def test_a_function_that_another_one_calls_is_not_heard_when_it_is_checked_on_the_way(
    shelf: Callable[..., None], cell: Cell, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf(doubles(2), fours())
    double = cell("def double(x):\n    print(len(x))\n    return 3 * x\n")["double"]
    assert "begin there" in examine(cell("def quadruple(x):\n    return double(x)\n", double=double)["quadruple"]).text
    assert capsys.readouterr().out == "1\n"  # 2, where its own check was heard as well


def test_progress_does_not_repeat_what_functions_print(
    shelf: Callable[..., None], notebook: dict, cell: Cell, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf(doubles(2))
    notebook.update(cell("def double(x):\n    print('heard')\n    return 2 * x\n"))
    progress("77_ours")
    assert capsys.readouterr().out.startswith("77_ours: 1 of 1 checks pass.")


@pytest.mark.parametrize(
    ("body", "order"),
    [
        ('x.ravel(order="K").reshape(x.shape)', "F"),
        ("np.lib.stride_tricks.as_strided(x, x.shape, np.zeros(x.shape).strides)", "F"),
        ("x.view(np.complex128).view(np.float64)", "F"),
        ("x if x.flags.forc else -x", "strided"),
    ],
)
def test_what_is_right_only_for_arrays_as_they_are_made_is_told_so(
    shelf: Callable[..., None], cell: Cell, body: str, order: str
) -> None:
    table = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    shelf(stored("same", [(table[:1],), (table,)], [Observation(table[:1]), Observation(table)]))
    assert examine(cell("def same(x):\n    return x.copy()\n")["same"])
    found = examine(cell(f"def same(x):\n    return {body}\n", np=np)["same"])
    assert found.state == "not yet"
    assert found.message.reasons[0] == OTHERWISE_IN_MEMORY.format(LAYOUTS[order])


def test_of_two_wrong_cases_the_one_where_it_can_be_seen_is_shown(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(doubles(1, 3))
    nearly = "def double(x):\n    return 2 * x + (1e-6 if len(x) == 1 else 1)\n"
    assert "With x = [1. 2. 3.]" in examine(cell(nearly)["double"]).text


def test_of_rounded_answers_the_smallest_case_is_shown_whatever_nan_stands_elsewhere(
    shelf: Callable[..., None], cell: Cell
) -> None:
    small, large = np.array([1.0, 2.0, 4.0]), np.array([np.nan, *range(1, 40)])
    cases = [(large,), (small,)]
    shelf(stored("third", cases, [Observation(x / 3) for (x,) in cases], axes="n", parameters=(("x", "n"),)))
    result = examine(cell("def third(x):\n    return (x / 3).round(3)\n")["third"])
    assert "x = [1. 2. 4.]" in result.text
    assert "the result is the right one, rounded to 3 digits behind the point." in result.text


def test_two_tables_that_look_the_same_are_not_shown(shelf: Callable[..., None], cell: Cell) -> None:
    shelf(doubles(3))
    assert "expected" in examine(cell("def double(x):\n    return 2 * x + 1e-3\n")["double"]).text
    assert "expected" not in examine(cell("def double(x):\n    return 2 * x + 1e-6\n")["double"]).text


def test_arguments_of_many_lines_are_folded(shelf: Callable[..., None], cell: Cell) -> None:
    many = tuple(np.arange(24.0).reshape(12, 2) for _ in range(3))
    parameters = tuple((name, "n d") for name in "ABC")
    shelf(stored("total", [many], [Observation(3 * many[0])], axes="n d", parameters=parameters))
    text = examine(cell("def total(A, B, C):\n    return A\n")["total"]).text
    told = text[text.index("With") : text.index("The result")]
    assert len(told.splitlines()) <= MANY_LINES
    assert "more lines" in told


# ---------------------------------------------------------------------------------------------------------- in a script

SCRIPT = """from course import check
def mix_rows(A, V):
    return A @ V
def later():
    {}
later()
"""


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., None]:
    """Run a script that checks an answer in this line."""

    def run(line: str, name: str = "__main__") -> None:
        path = tmp_path / "my.py"
        path.write_text(SCRIPT.format(line))
        runpy.run_path(str(path), run_name=name)

    return run


@pytest.mark.parametrize(
    "line", ["check(mix_rows)", "check(\n        mix_rows\n    ); x = 1", "print(check(mix_rows))"]
)
def test_in_a_script_what_is_checked_is_printed_once(
    line: str, script: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    script(line)
    assert capsys.readouterr().out == "mix_rows: correct on all 9 public cases. The hidden tests try more.\n"


@pytest.mark.parametrize("line", ["result = check(mix_rows)", "assert check(mix_rows)", "return check(mix_rows)"])
def test_a_result_that_a_script_takes_is_not_printed(
    line: str, script: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    script(line)
    assert capsys.readouterr().out == ""


def test_what_a_script_imports_prints_nothing(script: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    script("check(mix_rows)", "mine")
    assert capsys.readouterr().out == ""


def test_in_a_notebook_nothing_is_printed(
    script: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("course.checking.running_shell", object)
    script("check(mix_rows)")
    assert capsys.readouterr().out == ""
