"""What is written down of a call: its result or its exception, what it changed, what it spent, what Python warned of."""

from __future__ import annotations

import math
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from course.trial.functions import Function, function_from_json, public_function
from course.trial.observing import Observation, Raised, observe
from course.trial.values import LAYOUTS, Callback, Opaque, Tensor, Value, layout, pack, unpack, with_layout

# ---------------------------------------------------------------------------------------------- results


def test_a_result_is_observed_and_nothing_else_happened() -> None:
    observed = observe(lambda a, b: a + b, (1, 2.5))
    assert observed == Observation(result=3.5)


def test_the_function_gets_a_copy_in_the_same_layout() -> None:
    for order in LAYOUTS:
        A = with_layout(np.arange(6.0).reshape(2, 3), order)
        given = []
        observe(given.append, (A,))
        assert given[0] is not A
        assert layout(given[0]) == order
        assert given[0].flags.writeable


def test_a_tensor_reaches_the_function_as_a_torch_tensor_and_comes_back_as_a_value() -> None:
    observed = observe(lambda x: 2 * x, (Tensor(np.array([1.0, 2.0])),))
    assert isinstance(observed.result, Tensor)
    assert observed.result.array.tolist() == [2, 4]


def test_what_cannot_be_compared_is_known_by_what_it_is() -> None:
    def forgets_to_collect() -> Any:
        yield 1

    assert observe(forgets_to_collect, ()).result == Opaque("a generator")


# ---------------------------------------------------------------------------------------------- exceptions

DIVIDES = """\
def helper(x):
    return 1 / x

def share(x):
    total = helper(x)
    return total
"""


def test_an_exception_is_told_with_the_last_line_that_is_the_students_own(cell: Callable[..., dict]) -> None:
    observed = observe(cell(DIVIDES)["share"], (0,))
    assert observed.result is None
    inside = "ZeroDivisionError", "division by zero", 2, "return 1 / x", "helper"
    assert observed.raised == Raised(*inside, 5, "total = helper(x)", "share")
    assert Observation.from_value(observed.to_value()) == observed


def test_an_exception_inside_a_library_is_told_with_the_line_that_called_it(cell: Callable[..., dict]) -> None:
    source = "def stack(A):\n    rows = [A, A[:1]]\n    return np.stack(rows)\n"
    observed = observe(cell(source, np=np)["stack"], (np.eye(2),))
    message = "all input arrays must have the same shape"
    assert observed.raised == Raised("ValueError", message, 3, "return np.stack(rows)", "stack")


def test_ipython_cells_are_recognised_as_the_students_own() -> None:
    shell = InteractiveShell.instance()
    try:
        shell.run_cell("def share(x):\n    half = x / 2\n    return 1 / half\n")
        observed = observe(shell.user_ns["share"], (0,))
    finally:
        InteractiveShell.clear_instance()
    assert observed.raised == Raised("ZeroDivisionError", "float division by zero", 3, "return 1 / half", "share")


def test_an_exception_that_cannot_be_printed_is_an_exception() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def raises() -> None:
        raise Mute

    assert observe(raises, ()).raised == Raised("Mute")


def test_a_wrong_number_of_parameters_has_no_line_of_the_students(cell: Callable[..., dict]) -> None:
    observed = observe(cell("def half(x):\n    return x / 2\n")["half"], (1, 2))
    assert observed.raised == Raised("TypeError", "half() takes 1 positional argument but 2 were given")


@pytest.mark.parametrize("count_lines", [False, True])
@pytest.mark.parametrize("leave", [exit, lambda code: (_ for _ in ()).throw(SystemExit(code)), lambda _: os_exit()])
def test_a_student_who_leaves_python_is_observed(leave: Callable[[int], object], count_lines: bool) -> None:
    observed = observe(leave, (0,), count_lines)
    assert observed.raised is not None
    assert observed.raised.kind == "SystemExit"


def os_exit() -> None:
    raise SystemExit


@pytest.mark.parametrize("count_lines", [False, True])
def test_an_interrupt_is_not_an_answer(count_lines: bool) -> None:
    stops = iter([KeyboardInterrupt()])

    def stopped() -> None:
        raise next(stops)

    with pytest.raises(KeyboardInterrupt):
        observe(stopped, (), count_lines)


@pytest.mark.parametrize(
    ("error", "unwritten"),
    [(NotImplementedError(), True), (NotImplementedError("no such kernel"), False), (ValueError(), False)],
)
def test_a_stub_is_known_by_its_bare_exception(error: Exception, unwritten: bool) -> None:
    def stub() -> None:
        raise error

    raised = observe(stub, ()).raised
    assert raised is not None
    assert raised.unwritten is unwritten


# ---------------------------------------------------------------------------------------------- changed arguments


def in_place(x: Any) -> None:
    x[0] = -1


@pytest.mark.parametrize(
    ("argument", "afterwards"),
    [
        (np.array([1.0, 2.0]), [-1.0, 2.0]),
        (with_layout(np.array([1.0, 2.0]), "strided"), [-1.0, 2.0]),
        (Tensor(np.array([1.0, 2.0])), [-1.0, 2.0]),
        ([1, 2], [-1, 2]),
        ({0: 1}, {"0": -1}),
    ],
    ids=["array", "strided", "tensor", "list", "dict"],
)
def test_an_argument_changed_in_place_is_told_by_its_position(argument: Value, afterwards: Value) -> None:
    observed = observe(lambda first, x: in_place(x), (1, argument))
    assert list(observed.changed) == [1]
    changed = observed.changed[1]
    changed = changed.array if isinstance(changed, Tensor) else changed
    assert (changed.tolist() if isinstance(changed, np.ndarray) else changed) == afterwards


def test_the_callers_own_array_is_never_touched() -> None:
    A = np.array([1.0, 2.0])
    observe(in_place, (A,))
    assert A.tolist() == [1, 2]


def test_an_argument_written_over_with_its_own_entries_is_unchanged() -> None:
    def rewrites(x: np.ndarray) -> None:
        x[:] = x.copy()

    assert observe(rewrites, (np.array([1.0, math.nan, math.inf]),)).changed == {}


def test_a_changed_sign_of_zero_is_a_change() -> None:
    def negates(x: np.ndarray) -> None:
        x *= -1

    assert list(observe(negates, (np.zeros(2),)).changed) == [0]


def test_positions_count_function_arguments_too() -> None:
    observed = observe(lambda f, x: in_place(x), (public_function("project"), np.zeros(2)))
    assert list(observed.changed) == [1]


# ---------------------------------------------------------------------------------------------- what is spent


def test_projected_rows_are_counted() -> None:
    def projects(x: np.ndarray, W: np.ndarray, project: Callable[..., np.ndarray]) -> np.ndarray:
        project(x[0], W)
        return project(x, W=W)

    X, W = np.array([[1.0, 2], [3, 4], [5, 6]]), np.array([[1.0], [10]])
    observed = observe(projects, (X, W, public_function("project", gain=2.0)))
    assert observed.counts == {"project": 4}
    assert observed.result.tolist() == [[42], [86], [130]]


def test_a_function_that_is_never_called_costs_nothing() -> None:
    assert observe(lambda f: 1, (Function("model", abs),)).counts == {"model": 0}


def test_a_function_costs_one_a_call_unless_it_says_otherwise() -> None:
    assert observe(lambda f: [f(-1), f(x=2)], (Function("size", lambda x: abs(x)),)).counts == {"size": 2}


def test_a_call_that_fails_costs_nothing() -> None:
    observed = observe(lambda f: f("word"), (Function("size", abs),))
    assert observed.counts == {"size": 0}
    assert observed.raised is not None
    assert observed.raised.kind == "TypeError"


def test_public_functions_survive_a_file() -> None:
    A = np.array([[0.5, 0.0], [0.25, 0.25]])
    for function in (public_function("project", gain=3.0), public_function("mixer", A=A, centred=True)):
        again = function_from_json(function.to_json())
        arguments = (A, A) if function.name == "project" else (A,)
        assert again.name == function.name
        assert np.array_equal(again.run(*arguments), function.run(*arguments))


def test_a_hidden_function_cannot_be_stored() -> None:
    with pytest.raises(ValueError, match=r"^model is not one of the public functions$"):
        Function("model", abs).to_json()


# ---------------------------------------------------------------------------------------------- counted lines


def lines(function: Callable[..., object], n: int) -> int:
    return observe(function, (np.ones((n, n)),), count_lines=True).counts["lines"]


def for_loop(A: np.ndarray) -> np.ndarray:
    out = np.zeros_like(A)
    for i in range(len(A)):
        out[i] = A[i] @ A
    return out


def loop_on_one_line(A: np.ndarray) -> None:
    for row in A: row @ A  # noqa: E701  # fmt: skip


def while_loop(A: np.ndarray) -> None:
    i = len(A)
    while i:
        i -= 1


def comprehension(A: np.ndarray) -> list:
    return [row @ A for row in A]


def generator(A: np.ndarray) -> float:
    return sum(float(row @ row) for row in A)


def mapped(A: np.ndarray) -> list:
    return list(map(lambda row: row @ A, A))  # noqa: C417


def recursion(A: np.ndarray) -> float:
    return float(A[0, 0]) + recursion(A[1:]) if len(A) else 0.0


def apply_along_axis(A: np.ndarray) -> np.ndarray:
    return np.apply_along_axis(lambda row: row @ row, 1, A)


def vectorize(A: np.ndarray) -> np.ndarray:
    return np.vectorize(lambda x: 2 * x)(A)


LOOPS = (
    for_loop,
    loop_on_one_line,
    while_loop,
    comprehension,
    generator,
    mapped,
    recursion,
    apply_along_axis,
    vectorize,
)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_runs_a_line_more_for_every_token(loop: Callable[..., object]) -> None:
    assert lines(loop, 30) - lines(loop, 10) >= 20


@pytest.mark.parametrize(
    "vectorised",
    [lambda A: A @ A.T, lambda A: np.einsum("ij,kj->ik", A, A), lambda A: (torch.from_numpy(A) @ torch.from_numpy(A)).numpy()],
    ids=["matmul", "einsum", "torch"],
)  # fmt: skip
def test_a_vectorised_call_runs_as_many_lines_for_many_tokens_as_for_few(vectorised: Callable[..., object]) -> None:
    assert lines(vectorised, 30) <= lines(vectorised, 10)


def test_what_is_imported_on_the_way_is_no_line_of_a_loop() -> None:
    remembered: list[int] = []

    def once(A: np.ndarray) -> None:
        if not remembered:
            for i in range(100):
                remembered.append(i)

    assert lines(once, 3) < 50


def test_what_counting_lines_takes_does_not_count_as_spent() -> None:
    observed = observe(lambda f: f(1), (Function("size", abs),), count_lines=True)
    assert observed.counts["size"] == 1


def test_lines_are_counted_only_on_request_and_a_tracer_is_put_back() -> None:
    import sys

    def tracer(*_: object) -> None: ...

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        assert observe(for_loop, (np.eye(2),)).counts == {}
        observe(for_loop, (np.eye(2),), count_lines=True)
        after = sys.gettrace()
    finally:
        sys.settrace(before)
    assert after is tracer


# ---------------------------------------------------------------------------------------------- warnings


def test_each_warning_is_written_down_once_and_five_at_most() -> None:
    def warns(x: np.ndarray) -> np.ndarray:
        for i in (1, 1, 2, 3, 4, 5, 6):
            warnings.warn(f"number {i}", stacklevel=1)
        return x / 0

    observed = observe(warns, (np.ones(1),))
    assert observed.warned == ("number 1", "number 2", "number 3", "number 4", "number 5")


def test_numpy_warns_every_time_it_is_observed() -> None:
    for _ in range(2):
        assert observe(lambda x: x / 0, (np.ones(1),)).warned == ("divide by zero encountered in divide",)


# ---------------------------------------------------------------------------------------------- on the wire


def test_an_observation_crosses_whole(cell: Callable[..., dict]) -> None:
    source = "def spoils(x, f):\n    f(x)\n    x[0] = 5\n    x / 0\n    raise KeyError('gone')\n"
    observed = observe(cell(source)["spoils"], (np.array([1, 2]), Function("f", len)), count_lines=True)
    again = Observation.from_value(unpack(pack(observed.to_value())))
    assert again.raised == observed.raised == Raised("KeyError", "'gone'", 5, "raise KeyError('gone')", "spoils")
    assert again.changed[0].tolist() == [5, 2]
    assert again.counts == observed.counts
    assert again.warned == observed.warned == ("divide by zero encountered in divide",)


GOOD: dict[str, Value] = {"result": 1, "raised": None, "changed": {}, "counts": {}, "warned": []}


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"score": 1}, "not an observation"),
        ({"raised": "ValueError"}, "not an exception"),
        ({"raised": ["ValueError", "", "3", "", ""]}, "not an exception"),
        ({"raised": ["ValueError", "", True, "", ""]}, "not an exception"),
        ({"raised": ["ValueError"]}, "not an exception"),
        ({"changed": []}, "not a set of arguments"),
        ({"changed": {"x": 1}}, "not a set of arguments"),
        ({"changed": {"-1": 1}}, "not a set of arguments"),
        ({"changed": {"9" * 4300: 1}}, "not a set of arguments"),
        ({"counts": {"lines": 1.5}}, "not counts"),
        ({"counts": {"lines": True}}, "not counts"),
        ({"counts": {"lines": math.nan}}, "not counts"),
        ({"counts": [1]}, "not counts"),
        ({"warned": "text"}, "not warnings"),
        ({"warned": [1]}, "not warnings"),
    ],
)
def test_a_tree_of_another_form_is_no_observation(changed: dict[str, Value], complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^{complaint}$"):
        Observation.from_value({**GOOD, **changed})


def test_a_part_missing_makes_no_observation() -> None:
    with pytest.raises(ValueError, match=r"^not an observation$"):
        Observation.from_value({key: GOOD[key] for key in list(GOOD)[1:]})


# ---------------------------------------------------------------------------------------------- what was switched before


def test_what_an_earlier_cell_has_switched_is_no_part_of_the_answer() -> None:
    def tiny_and_traced(x: np.ndarray) -> tuple[object, bool, str]:
        return np.exp(x), torch.ones(1, requires_grad=True).exp().requires_grad, str(torch.ones(1).dtype)

    was = np.seterr(all="raise")
    torch.set_grad_enabled(False)
    torch.set_default_dtype(torch.float64)
    try:
        observed = observe(tiny_and_traced, (np.array([-1e4]),))
        after = torch.is_grad_enabled(), torch.get_default_dtype()
    finally:
        np.seterr(**was)
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
    assert observed.raised is None
    assert observed.warned == ()
    assert observed.result[0].tolist() == [0.0]
    assert observed.result[1:] == (True, "torch.float32")
    assert after == (False, torch.float64)


class Unwilling:
    def __str__(self) -> str:
        raise RuntimeError("no")

    def __hash__(self) -> int:
        return 1


@pytest.mark.parametrize(
    ("result", "what"),
    [
        ({Unwilling(): 1}, "something that cannot be looked at"),
        (Tensor("abc"), "a tensor of nothing"),
        (Tensor(np.array([1j])), "an array of complex128"),
        (Opaque(1), "a Opaque"),
        (Callback(None), "a Callback"),
    ],
    ids=["dict", "tensor", "complex", "opaque", "callback"],
)
def test_an_answer_that_does_not_bear_to_be_looked_at_is_only_wrong(result: object, what: str) -> None:
    observed = observe(lambda: result, ())
    assert observed == Observation(Opaque(what))
    assert unpack(pack(observed.to_value()))["result"] == Opaque(what)


def test_an_exception_of_ones_own_is_what_its_parent_is() -> None:
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec("class Mine(ValueError): pass\n\ndef f():\n    raise Mine('so')\n", scope)
    raised = observe(scope["f"], ()).raised
    assert raised is not None
    assert (raised.kind, raised.message) == ("ValueError", "so")


def test_dictionaries_of_the_standard_library_are_dictionaries() -> None:
    assert observe(lambda: OrderedDict(a=1), ()).result == {"a": 1}
