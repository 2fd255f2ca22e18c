"""The student's end of a hidden test: where `judge` finds a judge, and how it does what the judge asks."""

from __future__ import annotations

import math
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from itertools import chain, repeat
from typing import Any

import numpy as np
import pytest
import torch

from course import judge
from course.client import SOCKET_VARIABLE, answer
from course.trial.link import SocketLink
from course.trial.values import MAX_FRAME, Callback, Malformed, Opaque, Tensor, Value, pack

Cell = Callable[..., dict[str, Any]]

DONE = {"do": "done", "text": "what the judge says", "html": "<p>what the judge says</p>"}


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.delenv(SOCKET_VARIABLE, raising=False)


class Script:
    """A judge that says what is written, whatever it hears."""

    def __init__(self, *says: Value) -> None:
        self.says: Iterator[Value] = chain(says, repeat(DONE))
        self.heard: list[Any] = []

    def send(self, value: Value) -> None:
        pack(value)
        self.heard.append(value)

    def receive(self) -> Value:
        return next(self.says)


def call(
    *arguments: Value, lines: bool = False, lend: tuple[str, ...] = (), own: tuple[str, ...] = (), exercise: str = ""
) -> Value:
    asked = {"arguments": arguments, "harness": None, "lines": lines, "exercise": exercise}
    return {"do": "call", **asked, "lend": list(lend), "own": list(own)}


def returns(value: Value) -> Value:
    return {"do": "return", "value": value}


# ---------------------------------------------------------------------------------------------- where the judge is

ON_A_STUDENTS_MACHINE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "autograder":
            raise ModuleNotFoundError("No module named 'autograder'", name="autograder")

sys.meta_path.insert(0, Hidden())
from course import judge
report = judge(lambda: 1)
print(report)
print(report._repr_html_())
"""


def test_on_a_students_machine_the_hidden_tests_run_later() -> None:
    hidden = "The hidden tests run when your instructor grades; check() above is yours to run as often as you like."
    environment = {
        key: value for key, value in os.environ.items() if key not in ("NBGRADER_EXECUTION", SOCKET_VARIABLE)
    }
    command = [sys.executable, "-c", ON_A_STUDENTS_MACHINE]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.stderr == ""
    assert run.stdout == f"{hidden}\n<p>{hidden}</p>\n"


def test_a_judge_that_is_installed_and_broken_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "autograder.judging", None)
    with pytest.raises(ModuleNotFoundError):
        judge(lambda: 1)


def test_under_autograde_a_missing_judge_is_the_graders_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    with pytest.raises(RuntimeError, match=r"^no judge: run nbgrader where this course's nbgrader_config\.py is$"):
        judge(lambda: 1)


@pytest.mark.parametrize("execution", ["", "autograde"])
def test_a_judge_at_a_descriptor_is_asked_before_any_other(monkeypatch: pytest.MonkeyPatch, execution: str) -> None:
    heard: list[Value] = []

    def sit() -> None:
        link = SocketLink(near, 10)
        link.send(call(2))
        heard.append(link.receive())
        link.send(DONE)

    near, far = socket.socketpair()
    with near, far:
        thread = threading.Thread(target=sit)
        thread.start()
        monkeypatch.setenv(SOCKET_VARIABLE, str(far.fileno()))
        monkeypatch.setenv("NBGRADER_EXECUTION", execution)
        report = judge(lambda x: x + 1)
        thread.join()
    assert heard[0]["result"] == 3
    assert repr(report) == "what the judge says"
    assert report._repr_html_() == "<p>what the judge says</p>"


def test_while_nothing_is_judged_that_is_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SOCKET_VARIABLE, "")
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert repr(judge(lambda: 1)) == "Nothing is being judged now."


def test_a_judge_that_cannot_be_reached_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SOCKET_VARIABLE, "9999")
    with pytest.raises(OSError, match="Bad file descriptor"):
        judge(lambda: 1)


def test_an_instructor_is_judged_on_the_spot(cell: Cell) -> None:
    report = judge(cell("def pairwise_dots(A, B):\n    return A @ B.T\n")["pairwise_dots"])
    assert repr(report).startswith("pairwise_dots: passed, 2 of 2 points\n")


# ---------------------------------------------------------------------------------------------- observing for the judge


def test_every_call_is_answered_with_what_was_observed() -> None:
    script = Script(call(np.arange(3.0)), call("word"))
    report = answer(lambda x: x * 2, script)
    assert report.text == "what the judge says"
    assert [said["say"] for said in script.heard] == ["observed", "observed"]
    assert script.heard[0]["result"].tolist() == [0, 2, 4]
    assert script.heard[1]["result"] == "wordword"
    assert set(script.heard[0]) == {"say", "result", "raised", "arguments", "counts", "warned"}


def test_lines_are_counted_where_the_judge_asks() -> None:
    script = Script(call(2), call(2, lines=True))
    answer(lambda x: x, script)
    assert script.heard[0]["counts"] == {}
    assert set(script.heard[1]["counts"]) == {"lines"}


@pytest.mark.parametrize(
    "too_large", [np.zeros(MAX_FRAME // 8 + 1), ["x" * 20_000] * 60, {"a": [np.zeros(1 << 22)] * 3}]
)
def test_an_answer_too_large_to_send_is_an_answer_still(too_large: Value) -> None:
    script = Script(call(2.5))
    answer(lambda x: too_large, script)
    assert script.heard[0]["result"] == Opaque("a structure too large to look at")
    assert script.heard[0]["arguments"] == {"0": 2.5}


def test_arguments_too_large_to_send_are_sent_as_that() -> None:
    script = Script(call(np.zeros(1), 2.5))
    answer(lambda x, y: x.resize(MAX_FRAME, refcheck=False), script)
    too_large = Opaque("a structure too large to look at")
    assert script.heard[0]["arguments"] == {"0": too_large, "1": too_large}


# ---------------------------------------------------------------------------------------------- functions from afar


def test_a_function_argument_is_evaluated_by_the_judge() -> None:
    script = Script(call(Callback("project"), 3), returns(30), returns(40))
    answer(lambda project, x: project(x) + project(x, gain=np.float32(2)), script)
    first, second, observed = script.heard
    assert first == {"say": "ask", "name": "project", "arguments": (3,), "keywords": {}}
    assert second == {"say": "ask", "name": "project", "arguments": (3,), "keywords": {"gain": 2.0}}
    assert observed["result"] == 70


def test_what_the_judge_returns_is_what_a_function_would_return() -> None:
    script = Script(call(Callback("f")), returns((Tensor(np.ones(2)), [np.ones(2)], {"a": Tensor(np.ones(1)), "b": 1})))
    given: list[Any] = []
    answer(lambda f: given.append(f()), script)
    tensor, (array,), named = given[0]
    assert isinstance(tensor, torch.Tensor)
    assert isinstance(array, np.ndarray)
    assert isinstance(named["a"], torch.Tensor)
    assert named["b"] == 1


def test_what_the_judge_refuses_is_a_value_error_in_the_students_code() -> None:
    script = Script(call(Callback("f")), {"do": "raise", "message": "f: too large a question"})
    answer(lambda f: f(1), script)
    assert script.heard[1]["raised"][:2] == ["ValueError", "f: too large a question"]


def test_a_question_too_large_to_send_is_an_error_of_the_students() -> None:
    script = Script(call(Callback("f")))
    answer(lambda f: f(np.zeros(MAX_FRAME // 8 + 1)), script)
    (observed,) = script.heard
    assert observed["raised"][0] == "ValueError"


def test_a_student_may_catch_what_the_judge_refuses() -> None:
    script = Script(call(Callback("f")), {"do": "raise", "message": "no"})

    def careful(f: Callable[..., object]) -> str:
        try:
            f()
        except ValueError:
            return "careful"
        return "careless"

    answer(careful, script)
    assert script.heard[1]["result"] == "careful"


def test_the_lines_of_a_conversation_are_not_the_students() -> None:
    def asks(f: Callable[..., object], times: int) -> None:
        for _ in range(times):
            f()

    def counted(times: int) -> int:
        script = Script(call(Callback("f"), times, lines=True), *[returns(None)] * (2 * times))  # one call to warm up
        answer(asks, script)
        return script.heard[-1]["counts"]["lines"]

    assert counted(11) - counted(1) <= 10 * 20  # the call, the proxy around it, and no packing


# ---------------------------------------------------------------------------------------------- lent functions

QUADRUPLE = "def double(x):\n    return 3 * x\n\ndef quadruple(x):\n    return double(double(x))\n"


def test_functions_that_this_one_builds_on_are_lent_and_given_back(cell: Cell) -> None:
    scope = cell(QUADRUPLE)
    own = scope["double"]
    script = Script(call(1, lend=("double",)), returns(2), returns(4), call(1))
    answer(scope["quadruple"], script)
    assert script.heard[0] == {"say": "ask", "name": "double", "arguments": (1,), "keywords": {}}
    assert [said["result"] for said in script.heard if said["say"] == "observed"] == [4, 9]
    assert scope["double"] is own


def test_a_decorated_function_is_lent_to_where_it_was_written(cell: Cell) -> None:
    scope = cell(QUADRUPLE)
    decorated = wraps(scope["quadruple"])(lambda x: scope["quadruple"](x))
    script = Script(call(1, lend=("double",)), returns(2), returns(4))
    answer(decorated, script)
    assert script.heard[-1]["result"] == 4


@pytest.mark.parametrize("names", ["f", "fg"])
def test_questions_from_several_threads_are_asked_one_at_a_time(names: str) -> None:
    class Strict(Script):
        """A judge that takes no question while another waits for its answer."""

        waiting = False

        def send(self, value: Value) -> None:
            assert not self.waiting
            self.waiting = value["say"] == "ask"
            super().send(value)

        def receive(self) -> Value:
            time.sleep(0.001)
            self.waiting = False
            return super().receive()

    def asks(*functions: Callable[[int], int]) -> int:
        with ThreadPoolExecutor(4) as pool:
            return sum(pool.map(lambda i: functions[i % len(functions)](i), range(20)))

    script = Strict(call(*map(Callback, names)), *[returns(1)] * 20)
    answer(asks, script)
    assert script.heard[-1]["result"] == 20


def test_a_lent_function_is_given_back_after_an_exception(cell: Cell) -> None:
    scope = cell("def double(x):\n    return 2 * x\n\ndef quadruple(x):\n    return double(x) / 0\n")
    own = scope["double"]
    script = Script(call(1, lend=("double",)), returns(2))
    answer(scope["quadruple"], script)
    assert script.heard[1]["raised"][0] == "ZeroDivisionError"
    assert scope["double"] is own


class Gone(Script):
    """A judge that goes away after what is written."""

    def receive(self) -> Value:
        said = super().receive()
        if said is DONE:
            raise EOFError
        return said


def test_a_lent_function_is_given_back_when_the_judge_goes_away(cell: Cell) -> None:
    scope = cell(QUADRUPLE)
    own = scope["double"]
    answer(scope["quadruple"], Gone(call(1, lend=("double",))))
    assert scope["double"] is own


def test_a_judge_that_goes_away_without_a_word_leaves_no_traceback() -> None:
    report = answer(lambda x: x, Gone(call(1)))
    assert repr(report) == "The judge has ended the conversation; its verdict is on the feedback page."
    assert report._repr_html_() == f"<p>{report}</p>"


@pytest.mark.parametrize("stands", ["", "double = 3\n", "double = [2]\n", "double = None\n"])
def test_what_stands_under_a_lent_name_makes_no_difference_nor_does_nothing(cell: Cell, stands: str) -> None:
    scope = cell(f"{stands}def quadruple(x):\n    return double(double(x))\n")
    before = dict(scope)
    script = Script(call(1, lend=("double",)), returns(2), returns(4))
    answer(scope["quadruple"], script)
    assert (script.heard[-1]["result"], script.heard[-1]["raised"]) == (4, None)
    assert scope == before


AFTERWARDS = {
    "a number": "double = 3",
    "an array": "import numpy\ndouble = numpy.ones(2)",
    "nothing": "del double",
    "another function": "def double(x):\n    return 5 * x",
}


@pytest.mark.parametrize("afterwards", ["", *AFTERWARDS])
def test_what_was_right_is_lent_where_it_no_longer_stands_under_its_name(cell: Cell, afterwards: str) -> None:
    scope = cell("def double(x):\n    return 2 * x\n\ndef quadruple(x):\n    return double(double(x))\n")
    answer(scope["double"], Script(call(1)))
    exec(AFTERWARDS.get(afterwards, ""), scope)
    script = Script(call(1, own=("double",)), *((returns(2), returns(4)) if afterwards else ()))
    answer(scope["quadruple"], script)
    assert [heard["say"] for heard in script.heard] == [*(("ask", "ask") if afterwards else ()), "observed"]
    assert script.heard[-1]["result"] == 4


def test_a_thing_that_does_not_say_what_it_wraps_is_lent_to_in_its_notebook(cell: Cell) -> None:
    scope = cell("def quadruple(x):\n    return double(double(x))\n")
    script = Script(call(1, lend=("double",)), returns(2), returns(4))
    answer(np.vectorize(scope["quadruple"], otypes=[float]), script, scope)
    assert script.heard[-1]["result"].tolist() == 4


@pytest.mark.parametrize(
    ("thing", "now"),
    [
        (np.ones(2), "a numpy array of float64"),
        (None, "None"),
        (3, "an int"),
        (math, "a module"),
        ([1], "a list of 1 part"),
    ],
    ids=repr,
)
def test_what_cannot_be_called_is_no_answer_and_is_said_to_be_none(thing: Any, now: str) -> None:
    script = Script(call(1, exercise="double"))
    answer(thing, script)
    assert script.heard == [{"say": "no function", "now": now, "by": ""}]


# ---------------------------------------------------------------------------------------------- the link


def test_values_cross_a_socket_in_order_and_whole() -> None:
    near, far = socket.socketpair()
    with near, far:
        large = np.arange(MAX_FRAME // 8, dtype=float)
        sender = threading.Thread(target=lambda: [SocketLink(near).send(value) for value in (1, large, "end")])
        sender.start()
        link = SocketLink(far, 10)
        assert link.receive() == 1
        assert np.array_equal(link.receive(), large)
        assert link.receive() == "end"
        sender.join()


@pytest.mark.parametrize("sent", [b"", b"\0\0\0", pack("word")[:-1]])
def test_the_other_side_may_be_gone_at_any_point(sent: bytes) -> None:
    near, far = socket.socketpair()
    with far:
        with near:
            near.sendall(sent)
        with pytest.raises(EOFError):
            SocketLink(far, 10).receive()


@pytest.mark.parametrize("sent", [b"", pack("word")[:-1]])
def test_a_frame_that_does_not_come_in_time_is_not_waited_for(sent: bytes) -> None:
    near, far = socket.socketpair()
    with near, far:
        near.sendall(sent)
        with pytest.raises(TimeoutError):
            SocketLink(far, 0.05).receive()


def test_a_frame_is_waited_for_as_long_as_more_time_is_found_for_it() -> None:
    near, far = socket.socketpair()
    more = iter([0.01, 0.01, 60.0])
    with near, far:

        def allow(seconds: float) -> Callable[[], float]:
            def left() -> float:
                time_left = next(more, 60.0)
                if time_left == 60.0:
                    near.sendall(pack("late"))
                return time_left

            return left

        assert SocketLink(far, 0.01, allow=allow).receive() == "late"


def test_a_frame_that_comes_byte_by_byte_gets_no_more_time_than_any_other() -> None:
    near, far = socket.socketpair()
    stop = threading.Event()

    def drip() -> None:
        for byte in pack("word" * 1000):
            if stop.wait(0.02):
                return
            near.sendall(bytes([byte]))

    with near, far:
        sender = threading.Thread(target=drip)
        sender.start()
        with pytest.raises(TimeoutError):
            SocketLink(far, 0.2).receive()
        stop.set()
        sender.join()


def test_a_length_out_of_bounds_is_refused_before_anything_is_read() -> None:
    near, far = socket.socketpair()
    with near, far:
        near.sendall(b"\xff" * 8)
        with pytest.raises(Malformed):
            SocketLink(far, 10).receive()


def test_a_frame_that_nobody_takes_is_not_waited_for() -> None:
    near, far = socket.socketpair()
    with near, far, pytest.raises(TimeoutError):
        SocketLink(near, 0.05).send(np.zeros(MAX_FRAME // 8))
