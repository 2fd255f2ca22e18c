"""The judge against honest students, careless ones, and whatever else may sit at the other end."""

from __future__ import annotations

import importlib
import math
import socket
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import Float

from autograder.exercises import every_exercise, exercise_named, exercises_in
from autograder.exercises.model import Case, Exercise, Probe, case, equivalent
from autograder.judging import Paper, Verdict, judge, judge_here
from autograder.judging.reference import OracleFailed
from autograder.judging.showing import html
from course.client import answer
from course.trial.comparing import Difference, difference
from course.trial.functions import Function, public_function
from course.trial.harnesses import HARNESSES
from course.trial.link import SocketLink
from course.trial.observing import Account, Observation, Raised
from course.trial.text import BUT_FOR_FORM, LOOP_LEFT, NEARLY
from course.trial.values import MAX_FRAME, Callback, Malformed, Opaque, Tensor, Value, pack, unpack

interview = importlib.import_module("autograder.judging.interview")

TOO_LARGE = "it hands `double` more than a hidden test answers: arrays and integers that come to more than 5,000"
SECRET = 7919.25  # in every hidden case; twice that is in every answer


def double(x: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    """Twice x."""
    return 2 * x


def tripled(x: np.ndarray) -> np.ndarray:
    """you tripled."""
    return 3 * x


def widened(x: np.ndarray) -> np.ndarray:
    """you computed in float64."""
    return 2 * x.astype(np.float64)


@equivalent("x + x is 2 x")
def added(x: np.ndarray) -> np.ndarray:
    """you added."""
    return x + x


def _vectors(rng: np.random.Generator) -> list[Case]:
    return [case(SECRET + rng.random(n)) for n in (3, 4)]


def _narrow(rng: np.random.Generator) -> list[Case]:
    return [case((SECRET + rng.random(2)).astype(np.float32))]


def _growing(rng: np.random.Generator) -> list[Case]:
    return [case(rng.random(n)) for n in (2, 40)]


DOUBLE = Exercise(
    oracle=double,
    notebook="77_ours",
    public=(),
    probes=(
        Probe("twice every entry", 1.0, _vectors),
        Probe("keeps float32", 0.5, _narrow, strict=True),
        Probe("without a loop", 0.5, _growing, measures="lines"),
    ),
    mistakes=(tripled, widened, added),
    variants=(),
)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exercise], None]:
    ours: dict[str, Exercise] = {}
    monkeypatch.setattr(interview, "exercise_named", lambda notebook, name: ours[name])
    return lambda exercise: ours.update({exercise.name: exercise})


@pytest.fixture
def judged() -> Callable[..., Verdict]:
    """The verdict on a function of ours, over the wire."""

    def judge(function: Callable[..., Any], exercise: Exercise = DOUBLE, seed: int = 1) -> Verdict:
        return judge_here(function, Paper(exercise, seed), answer)

    return judge


# ---------------------------------------------------------------------------------------------- outcomes


def test_a_right_answer_passes(judged: Callable[..., Verdict]) -> None:
    verdict = judged(lambda x: 2 * x)
    assert (verdict.outcome, verdict.score, verdict.mistakes) == ("passed", 2.0, ())
    assert repr(verdict) == (
        "double: passed, 2 of 2 points\n"
        "  ok  1/1  twice every entry\n"
        "  ok  0.5/0.5  keeps float32\n"
        "  ok  0.5/0.5  without a loop"
    )


@pytest.mark.parametrize("exercise", exercises_in("00_shapes"), ids=lambda exercise: exercise.name)
def test_the_verdict_on_a_right_answer_does_not_depend_on_the_seed(exercise: Exercise) -> None:
    verdicts = [judge_here(exercise.variants[0], Paper(exercise, seed), answer) for seed in range(12)]
    assert {verdict.outcome for verdict in verdicts} == {"passed"}
    assert len({repr(verdict) for verdict in verdicts}) == len({html(verdict) for verdict in verdicts}) == 1


def test_partial_credit_comes_with_the_reason_and_the_mistakes_name(judged: Callable[..., Verdict]) -> None:
    verdict = judged(widened)
    assert (verdict.outcome, verdict.score, verdict.mistakes) == ("partly", 1.5, ("widened",))
    assert repr(verdict) == (
        "double: partly right, 1.5 of 2 points\n"
        "  ok  1/1  twice every entry\n"
        "  NO  0/0.5  keeps float32\n"
        "           The result should be float32; yours is float64.\n"
        "  ok  0.5/0.5  without a loop\n"
        "  One mistake that gives answers like these: you computed in float64."
    )


def test_a_mistake_that_goes_wrong_in_more_cases_is_near_if_it_is_right_in_half_of_them(
    judged: Callable[..., Verdict],
) -> None:
    def longer_tripled_too(x: np.ndarray) -> np.ndarray:
        """you tripled, and long ones too."""
        return x * (3 if x.dtype == np.float32 or len(x) == 40 else 2)

    exercise = replace(DOUBLE, mistakes=(tripled, longer_tripled_too))
    verdict = judged(lambda x: (3 if x.dtype == np.float32 else 2) * x, exercise)
    assert (verdict.score, verdict.mistakes) == (1.5, ())
    assert verdict.lessons == (f"{NEARLY}you tripled, and long ones too.",)
    assert verdict.alike


def test_a_known_mistake_is_known_in_another_form(judged: Callable[..., Verdict]) -> None:
    verdict = judged(lambda x: list(3 * x))
    assert (verdict.mistakes, verdict.lessons) == (("tripled",), (BUT_FOR_FORM + "you tripled.",))
    assert judged(lambda x: list(2 * x)).mistakes == ()


def test_where_no_mistake_is_known_it_is_said_in_what_answers_are_like_the_right_ones(
    judged: Callable[..., Verdict],
) -> None:
    assert judged(lambda x: 8 * x).note == "Where it is wrong, the result is the right one times 4."
    assert judged(tripled).note == "", "the lesson says more"


def test_an_answer_that_is_no_known_mistake_is_not_called_one(judged: Callable[..., Verdict]) -> None:
    verdict = judged(lambda x: 3 * x + 1e-3)
    assert (verdict.outcome, verdict.score, verdict.mistakes) == ("wrong", 0.0, ())


def test_a_loop_costs_the_probe_that_counts_lines_and_no_other(judged: Callable[..., Verdict]) -> None:
    verdict = judged(lambda x: np.array([2 * entry for entry in x], x.dtype))
    assert [finding.earned for finding in verdict.findings] == [1.0, 0.5, 0.0]
    assert verdict.findings[2].reason == LOOP_LEFT


def test_the_stub_is_not_attempted(judged: Callable[..., Verdict]) -> None:
    def stub(x: np.ndarray) -> None:
        raise NotImplementedError

    verdict = judged(stub)
    assert (verdict.outcome, verdict.score, verdict.points) == ("not attempted", 0.0, 2.0)
    assert repr(verdict).split("\n")[0] == "double: not attempted, 0 of 2 points"


def test_an_answer_that_always_raises_is_told_so(judged: Callable[..., Verdict]) -> None:
    verdict = judged(lambda x: x / "2")
    assert (verdict.outcome, verdict.score) == ("raised", 0.0)
    assert {finding.reason for finding in verdict.findings} == {"Your code raises TypeError."}


def test_an_answer_that_raises_now_and_then_is_wrong(judged: Callable[..., Verdict]) -> None:
    assert judged(lambda x: x[3]).outcome == "wrong"


def test_a_student_who_leaves_python_is_judged_to_the_end(judged: Callable[..., Verdict]) -> None:
    verdict = judged(lambda x: exit())
    assert (verdict.outcome, verdict.findings[2].reason) == ("raised", "Your code raises SystemExit.")


def test_a_changed_argument_costs_a_quarter_where_the_result_is_right(judged: Callable[..., Verdict]) -> None:
    def in_place(x: np.ndarray) -> np.ndarray:
        x *= 2
        return x

    verdict = judged(in_place)
    assert [finding.earned for finding in verdict.findings] == [0.75, 0.375, 0.375]
    told = "The call changed x in place; the caller still needs it as it was."
    assert {finding.reason for finding in verdict.findings} == {told}


# ---------------------------------------------------------------------------------------------- hidden data


def raises(x: np.ndarray) -> None:
    raise ValueError(f"{x.tolist()} {2 * x}")


def overwrites(x: np.ndarray) -> np.ndarray:
    y = 2 * x
    x[:] = y
    return y


WRONG: dict[str, Callable[[np.ndarray], object]] = {
    "values": lambda x: x,
    "one value": lambda x: np.where(np.arange(len(x)) == 1, x, 2 * x),
    "shape": lambda x: np.outer(x, x),
    "dtype": lambda x: (2 * x).astype("f2"),
    "a list": lambda x: x.tolist(),
    "a tuple": lambda x: (x, 2 * x),
    "a number": lambda x: float(x[0]),
    "a string": str,
    "nothing": lambda x: None,
    "an exception": raises,
    "in place": overwrites,
    "a known mistake": tripled,
}


@pytest.mark.parametrize("wrong", WRONG)
def test_the_reasons_hold_no_number_of_a_hidden_case(judged: Callable[..., Verdict], wrong: str) -> None:
    verdict = judged(WRONG[wrong])
    assert verdict.score < verdict.points
    assert any(finding.reason for finding in verdict.findings)
    for text in (repr(verdict), html(verdict), str(verdict.to_json())):
        assert all(digits not in text for digits in ("7919", "7920", "15838", "15839", "15840", "23757", "23758"))


# ---------------------------------------------------------------------------------------------- functions of the judge


def spend(X: Float[np.ndarray, "n d"], W: Float[np.ndarray, "d k"], project: Any) -> Float[np.ndarray, "n k"]:
    """X @ W, projected once."""
    return project(X, W)


def _projections(rng: np.random.Generator) -> list[Case]:
    return [case(rng.random((3, 2)), rng.random((2, 2)), public_function("project", gain=1.5))]


SPEND = Exercise(spend, "77_ours", (), (Probe("projects once", 1.0, _projections),), (), ())


def test_what_is_spent_is_counted_by_the_judge(judged: Callable[..., Verdict]) -> None:
    assert judged(lambda X, W, project: project(X, W=W), SPEND).outcome == "passed"
    wasteful = judged(lambda X, W, project: [project(X, W), project(x=X, W=W)][0], SPEND)
    assert wasteful.score == 0
    assert wasteful.findings[0].reason == "It hands more rows to project than it needs to."
    assert judged(lambda X, W, project: 1.5 * X @ W, SPEND).outcome == "passed"
    assert judged(lambda X, W, project: X @ W, SPEND).outcome == "wrong"


def elapsed(device: Any) -> list[float]:
    """What two calls take, one after the other."""
    readings = [device("clock")]
    for _ in range(2):
        device("fn")
        device("sync")
        readings.append(device("clock"))
    return [stop - start for start, stop in pairwise(readings)]


def _one_device_twice(rng: np.random.Generator) -> list[Case]:
    device = public_function("device", work=[float(rng.integers(2, 9)), 1.0])
    return [case(device), case(device)]


def test_a_function_that_remembers_its_calls_is_made_anew_for_every_case(judged: Callable[..., Verdict]) -> None:
    probe = Probe("each call by itself", 1.0, _one_device_twice)
    exercise = Exercise(elapsed, "77_ours", (), (probe,), (starts_over,), ())
    assert judged(elapsed, exercise).outcome == "passed"
    wrong = judged(starts_over, exercise)
    assert (wrong.score, wrong.mistakes) == (0, ("starts_over",))


def starts_over(device: Any) -> list[float]:
    """you took the later call for the earlier."""
    return elapsed(device)[::-1]


def test_harmless_extra_events_of_a_device_cost_nothing(judged: Callable[..., Verdict]) -> None:
    def fussy(device: Any) -> list[float]:
        for event in ("sync", "clock", "sync"):
            device(event)
        return elapsed(device)

    exercise = Exercise(elapsed, "77_ours", (), (Probe("each call by itself", 1.0, _one_device_twice),), (), ())
    assert judged(fussy, exercise).outcome == "passed"


def test_a_fake_clock_is_read_over_the_wire_by_a_helper_of_the_students_own(judged: Callable[..., Verdict]) -> None:
    bench = exercise_named("08_clocks", "bench")

    def with_a_helper(fn: Any, sync: Any, clock: Any, warmup: int, reps: int) -> dict[str, Any]:
        def now() -> float:
            sync()
            return float(clock())

        for _ in range(warmup):
            fn()
        times = []
        for _ in range(reps):
            times.append((now(), fn(), now()))
        taken = [stop - start for start, _, stop in times]
        return {"times": taken, "median": statistics.median(taken), "spread": max(taken) - min(taken)}

    assert judged(with_a_helper, bench).outcome == "passed"

    def in_a_hurry(fn: Any, sync: Any, clock: Any, warmup: int, reps: int) -> dict[str, Any]:
        return with_a_helper(fn, lambda: None, clock, warmup, reps)

    assert judged(in_a_hurry, bench).mistakes == ("waits_for_nothing",)


def forged(**parts: Value) -> dict[str, Value]:
    return {"say": "observed", **Account(counts={"lines": 1}).to_value(), **parts}


def ask(name: Value, *arguments: Value, **keywords: Value) -> dict[str, Value]:
    return {"say": "ask", "name": name, "arguments": arguments, "keywords": keywords}


class Line:
    """A link to something that answers each request as `reply` says, in bytes that `pack` could have written."""

    def __init__(self, reply: Callable[[dict[str, Value]], Value]) -> None:
        self.reply = reply
        self.requests: list[dict[str, Value]] = []

    def send(self, value: Value) -> None:
        self.requests.append(unpack(pack(value)))

    def receive(self) -> Value:
        return unpack(pack(self.whole(self.reply(self.requests[-1]))))

    def whole(self, reply: Value) -> Value:
        """A forged observation says by itself that the arguments are as they were sent."""
        named = reply.get("arguments") if isinstance(reply, dict) else None
        if not isinstance(named, dict) or named:
            return reply
        sent = next(r["arguments"] for r in reversed(self.requests) if r["do"] == "call")
        return {**reply, "arguments": {str(i): a for i, a in enumerate(sent) if not isinstance(a, Callback)}}


def twice(request: dict[str, Value]) -> Value:
    return forged(result=2 * request["arguments"][0], counts={"lines": 1})


def test_lines_that_were_not_counted_are_no_answer() -> None:
    verdict = judge(Paper(DOUBLE, 1), Line(lambda request: {**twice(request), "counts": {}}))
    assert [finding.earned for finding in verdict.findings] == [1.0, 0.5, 0.0]
    assert verdict.note == "What came back was not an answer (its lines were not counted)."


class Slowly(Line):
    """A line that notes in which order things happen, and whose answers to some requests come late."""

    def __init__(self, reply: Callable[[dict[str, Value]], Value], late: Callable[[], bool] = lambda: False) -> None:
        super().__init__(reply)
        self.late = late
        self.events: list[str] = []

    def send(self, value: Value) -> None:
        super().send(value)
        self.events.append(value["do"])

    def receive(self) -> Value:
        self.events.append("heard")
        if self.late():
            time.sleep(0.05)
        return super().receive()


def test_the_next_case_is_on_its_way_while_an_answer_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    link = Slowly(twice)

    def compared(want: Observation, got: Observation) -> Difference | None:
        link.events.append("compared")
        return difference(want, got)

    monkeypatch.setattr("autograder.judging.heard.difference", compared)
    assert judge(Paper(DOUBLE, 1), link).outcome == "passed"
    cases = sum(len((*sheet.cases, *sheet.again)) for sheet in Paper(DOUBLE, 1).sheets)
    while_judging = link.events[: link.events.index("done")]
    assert [event for event in while_judging if event != "compared"] == ["call", "heard"] * cases
    first = link.events.index("heard")
    assert link.events[first : first + 3] == ["heard", "call", "compared"]


def test_after_a_slow_answer_nothing_is_asked_before_it_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those like it may not be wanted any more, and nobody waits for what is not wanted."""
    monkeypatch.setattr(interview, "PATIENCE", 0.02)
    right = Slowly(twice, late=lambda: True)
    assert judge(Paper(DOUBLE, 1), right).outcome == "passed"
    wrong = Slowly(lambda request: forged(result=0, counts={"lines": 1}), late=lambda: True)
    judge(Paper(DOUBLE, 1), wrong)
    assert wrong.events == [*["call", "heard"] * len(DOUBLE.probes), "done"]


def test_arguments_are_compared_with_those_that_were_sent_whatever_is_said_of_them() -> None:
    def spoilt(request: dict[str, Value]) -> Value:
        return {**twice(request), "arguments": {"0": -request["arguments"][0]}, "warned": ["nothing was changed"]}

    verdict = judge(Paper(DOUBLE, 1), Line(spoilt))
    assert (verdict.outcome, verdict.score) == ("partly", 1.5)
    assert verdict.findings[0].reason == "The call changed x in place; the caller still needs it as it was."


def test_who_sends_no_arguments_back_has_not_answered() -> None:
    link = SimpleNamespace(send=(asked := []).append)
    link.receive = lambda: {**Account(2 * asked[-1]["arguments"][0]).to_value(), "say": "observed"}
    verdict = judge(Paper(DOUBLE, 1), link)
    assert (verdict.outcome, verdict.score) == ("tampered", 0.0)


def test_an_answer_that_leaves_no_room_for_the_arguments_is_only_wrong(judged: Callable[..., Verdict]) -> None:
    def grows(x: np.ndarray) -> np.ndarray:
        x.resize(MAX_FRAME // 8 + 1, refcheck=False)
        return x

    verdict = judged(grows, DOUBLE)
    assert (verdict.outcome, verdict.score) == ("wrong", 0.0)
    assert verdict.findings[0].reason == "The call changed x in place; the caller still needs it as it was."


NO_FUNCTION = {"say": "no function", "now": "a numpy array of float64", "by": "double = double(x)"}


def test_what_cannot_be_called_did_not_run() -> None:
    verdict = judge(Paper(DOUBLE, 1), Line(lambda request: NO_FUNCTION))
    assert (verdict.outcome, verdict.score) == ("did not run", 0.0)
    assert verdict.note == (
        "double is no function any more: `double = double(x)` has bound it to a numpy array of float64. "
        "Give that another name, and run the cell with `def double` again."
    )


@pytest.mark.parametrize("other", [{"now": 3}, {"by": None}, {"by": "x" * 20_001}, {"more": ""}], ids=repr)
def test_nothing_else_is_said_of_what_cannot_be_called(other: dict[str, Value]) -> None:
    verdict = judge(Paper(DOUBLE, 1), Line(lambda request: {**NO_FUNCTION, **other}))
    assert (verdict.outcome, verdict.score) == ("tampered", 0.0)


def test_what_was_called_is_no_longer_said_to_be_no_function() -> None:
    line = Line(lambda request: NO_FUNCTION if len(line.requests) > 1 else forged(result=2 * request["arguments"][0]))
    assert judge(Paper(DOUBLE, 1), line).outcome == "tampered"


def test_a_forged_count_buys_nothing() -> None:
    X, W, _ = _projections(np.random.default_rng(5))[0].arguments

    def reply(request: dict[str, Value]) -> Value:
        if len(line.requests) < 3:
            return ask("project", X, W)
        return forged(result=request.get("value"), counts={"project": 0})

    line = Line(reply)
    verdict = judge(Paper(SPEND, 5), line)
    assert verdict.findings[0].reason == "It hands more rows to project than it needs to."


def quadruple(x: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    """Twice twice x."""
    return 4 * x


QUADRUPLE = Exercise(quadruple, "77_ours", (), (Probe("four times", 1.0, _vectors),), (), (), uses=("double",))


def test_a_right_function_is_lent_in_place_of_the_students_wrong_one(
    judged: Callable[..., Verdict], known: Callable[[Exercise], None]
) -> None:
    known(DOUBLE)
    scope: dict[str, Any] = {}
    exec("def double(x):\n    return 3 * x\n\ndef quadruple(x):\n    return double(double(x))\n", scope)
    own = scope["double"]
    assert judged(scope["quadruple"], QUADRUPLE).outcome == "passed"
    assert scope["double"] is own
    assert judged(scope["quadruple"], Exercise(quadruple, "77_ours", (), QUADRUPLE.probes, (), ())).outcome == "wrong"


def test_a_lent_function_keeps_float32(known: Callable[[Exercise], None]) -> None:
    known(DOUBLE)
    line = Line(lambda request: ask("double", np.ones(2, "f4")) if len(line.requests) < 2 else None)
    judge(Paper(QUADRUPLE, 1), line)
    assert line.requests[1]["do"] == "return"
    assert line.requests[1]["value"].dtype == np.float32
    assert line.requests[1]["value"].tolist() == [2, 2]


def applied(x: Float[np.ndarray, "n"], act: Callable[..., Any]) -> Float[np.ndarray, "n"]:
    """act of x."""
    return act(x)


def applied_twice(x: Float[np.ndarray, "n"], act: Callable[..., Any]) -> Float[np.ndarray, "n"]:
    """act of act of x."""
    return act(act(x))


def _activated(rng: np.random.Generator) -> list[Case]:
    return [case(rng.random(n), Function("act", np.cosh)) for n in (3, 4)]


@pytest.mark.parametrize("call", ["applied(applied(x, act), act)", "applied(applied(x, act=act), act=act)"])
def test_a_function_of_the_case_may_be_handed_on_to_a_lent_one(
    call: str, judged: Callable[..., Verdict], known: Callable[[Exercise], None]
) -> None:
    known(Exercise(applied, "77_ours", (), (), (), ()))
    scope: dict[str, Any] = {}
    exec(f"def applied(x, act):\n    return 0\n\ndef applied_twice(x, act):\n    return {call}\n", scope)
    twice = (Probe("twice", 1.0, _activated),)
    assert (
        judged(scope["applied_twice"], Exercise(applied_twice, "77_ours", (), twice, (), (), ("applied",))).score == 1
    )


def applied_once(x: Float[np.ndarray, "n"], f: Callable[..., Any]) -> Float[np.ndarray, "n"]:
    """f of x."""
    return f(x)


def calls_without_end(x: np.ndarray, f: Callable[..., Any]) -> Any:
    while True:
        f(x)


def asks_for_too_much(x: np.ndarray, f: Callable[..., Any]) -> Any:
    return f(np.ones(interview.ASKED_ELEMENTS + 1))


def raises_an_error_of_its_own(x: np.ndarray, f: Callable[..., Any]) -> Any:
    with suppress(ValueError):
        asks_for_too_much(x, f)
    raise ValueError("mine")


@pytest.mark.parametrize(
    ("function", "outcome", "reason"),
    [
        (
            calls_without_end,
            "timed out",
            "It calls `f` more than 50 times in one call, as an endless loop does.",
        ),
        (
            asks_for_too_much,
            "timed out",
            "It hands `f` more than a hidden test answers: arrays and integers that come to more than 5,000.",
        ),
        (raises_an_error_of_its_own, "raised", "Your code raises ValueError."),
    ],
)
def test_where_the_judge_stops_answering_no_error_of_the_students_is_told(
    function: Callable[..., Any],
    outcome: str,
    reason: str,
    judged: Callable[..., Verdict],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interview, "ASKS_PER_CALL", 50)
    verdict = judged(function, Exercise(applied_once, "77_ours", (), (Probe("once", 1.0, _activated),), (), ()))
    assert verdict.outcome == outcome
    assert verdict.findings[0].reason == reason


def test_where_a_lent_function_is_handed_one_that_cannot_travel_the_students_own_is_called(
    judged: Callable[..., Verdict], known: Callable[[Exercise], None]
) -> None:
    known(Exercise(applied, "77_ours", (), (), (), ()))
    exercise = Exercise(applied_twice, "77_ours", (), (Probe("twice", 1.0, _activated),), (), (), ("applied",))
    for own, outcome in (("act(x)", "passed"), ("0", "wrong")):
        scope: dict[str, Any] = {}
        twice = "def applied_twice(x, act):\n    return applied(x, lambda y: act(act(y)))\n"
        exec(f"def applied(x, act):\n    return {own}\n\n{twice}", scope)
        assert judged(scope["applied_twice"], exercise).outcome == outcome


def torch_double(x: Float[torch.Tensor, "n"]) -> Float[torch.Tensor, "n"]:
    """Twice x."""
    return torch.from_numpy(np.array([2 * number for number in x.numpy()]))


def torch_quadruple(x: Float[torch.Tensor, "n"]) -> Float[torch.Tensor, "n"]:
    """Four times x."""
    return torch.from_numpy(4 * x.numpy())


def _tensors(rng: np.random.Generator) -> list[Case]:
    return [case(Tensor(rng.random(3))), case(Tensor(rng.random(4).astype(np.float32)))]


def test_tensors_are_judged_and_lent_as_tensors(
    judged: Callable[..., Verdict], known: Callable[[Exercise], None]
) -> None:
    known(Exercise(torch_double, "77_ours", (), (), (), ()))
    scope: dict[str, Any] = {"torch_double": None}
    exec("def torch_quadruple(x):\n    return 2 * torch_double(x)\n", scope)
    four = (Probe("four times", 1.0, _tensors),)
    exercise = Exercise(torch_quadruple, "77_ours", (), four, (), (), ("torch_double",))
    assert judged(scope["torch_quadruple"], exercise).outcome == "passed"
    verdict = judged(lambda x: 4 * x.numpy(), exercise)
    assert (
        verdict.findings[0].reason
        == "The result should be a torch tensor of float64; yours is a numpy array of float64."
    )


def stages(x: Float[np.ndarray, "n"]) -> dict[str, Float[np.ndarray, "n"]]:
    """Two steps."""
    return {"once": 2 * x, "twice": 4 * x}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (lambda x: {"once": x, "twice": x}, "The result's 'once' has the right form, and the wrong value."),
        (lambda x: {"twice": x, "once": 2 * x}, "The result's 'twice' has the right form, and the wrong value."),
        (lambda x: {"once": 2 * x}, "The result should have the keys ['once', 'twice']; yours has ['once']."),
        (
            lambda x: {"once": 2 * x, "twice": x[:1]},
            "The result's 'twice' should have the shape [n] = [3]; yours has [1].",
        ),
        (lambda x: 2 * x, "The result should be a dict of 2 parts; yours is a numpy array of float64."),
    ],
)
def test_of_a_dictionary_the_first_entry_that_differs_is_named(
    wrong: Callable[..., Any], reason: str, judged: Callable[..., Verdict]
) -> None:
    steps = Exercise(stages, "77_ours", (), (Probe("both steps", 1.0, _vectors),), (), ())
    assert judged(wrong, steps).findings[0].reason == reason


def test_a_case_may_be_run_through_a_harness(judged: Callable[..., Verdict], monkeypatch: pytest.MonkeyPatch) -> None:
    def on_both_ends(function: Callable[..., Any], forwards: np.ndarray) -> dict[str, Any]:
        """Called on an array and on its reverse."""
        return {"forwards": function(forwards), "backwards": function(forwards[::-1])}

    monkeypatch.setitem(HARNESSES, "on_both_ends", on_both_ends)
    probe = Probe("both ways", 1.0, lambda rng: [case(SECRET + rng.random(3), harness="on_both_ends")])
    exercise = Exercise(double, "77_ours", (), (probe,), (tripled,), ())
    assert judged(lambda x: 2 * x, exercise).outcome == "passed"
    wrong = judged(lambda x: 3 * x, exercise)
    assert wrong.findings[0].reason == "The result's 'forwards' has the right form, and the wrong value."
    assert wrong.mistakes == ("tripled",)
    writes = judged(lambda x: np.multiply(x, 2, out=x), exercise)
    assert writes.findings[0].reason == "The call changed forwards in place; the caller still needs it as it was."


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (ask("quadruple", 1), "quadruple: there is no 'quadruple'"),
        (ask("pairwise_dots", np.eye(2), np.eye(2)), "pairwise_dots: there is no 'pairwise_dots'"),
        (ask(""), ": there is no ''"),
        (ask("double", np.zeros(interview.ASKED_ELEMENTS + 1)), TOO_LARGE),
        (ask("double", x=Tensor(np.zeros(interview.ASKED_ELEMENTS + 1))), TOO_LARGE),
        (ask("double", [[0] * 2700, [0] * 2700]), TOO_LARGE),
        (ask("double", {"x": [0] * 5500}), TOO_LARGE),
        (ask("double", ["x" * 3000, "x" * 3000]), TOO_LARGE),
        (ask("double", 10**9), TOO_LARGE),
        (ask("double", np.array(10**18)), TOO_LARGE),
        (ask("double", Tensor(np.array([-(2**63)]))), TOO_LARGE),
        (ask("double", x=(-(10**18),)), TOO_LARGE),
        (ask("double", Callback("act")), "double: 'act'"),
        (ask("double"), "double: double() missing 1 required positional argument: 'x'"),
        (ask("double", 1, y=2), "double: double() got an unexpected keyword argument 'y'"),
        (ask("double", None), "double: unsupported operand type(s) for *: 'int' and 'NoneType'"),
        ({"say": "ask", "name": "double", "arguments": [1], "keywords": {}}, "double: arguments"),
        ({"say": "ask", "name": "double", "arguments": (), "keywords": []}, "double: arguments"),
    ],
)  # fmt: skip
def test_a_question_that_cannot_be_answered_is_refused_in_words(
    known: Callable[[Exercise], None], question: Value, message: str
) -> None:
    known(DOUBLE)
    line = Line(lambda request: question if len(line.requests) < 2 else None)
    judge(Paper(QUADRUPLE, 1), line)
    assert line.requests[1] == {"do": "raise", "message": message}


@pytest.mark.parametrize("empty", [(9000, 0), (0, 9000)])
def test_an_empty_axis_does_not_make_a_question_small(
    known: Callable[[Exercise], None], empty: tuple[int, int]
) -> None:
    known(DOUBLE)
    line = Line(lambda request: ask("double", np.zeros(empty)) if len(line.requests) < 2 else None)
    judge(Paper(QUADRUPLE, 1), line)
    assert line.requests[1] == {"do": "raise", "message": TOO_LARGE}


@pytest.mark.parametrize("exercise", [e for e in every_exercise() if e.uses], ids=lambda e: e.name)
def test_a_question_about_a_hidden_case_is_never_too_large(exercise: Exercise) -> None:
    largest = max(
        sum(interview._elements(argument) for argument in case.arguments)
        for seed in range(100)
        for probe in exercise.probes
        for case in probe.draw(np.random.default_rng(seed))
    )
    assert largest <= interview.ASKED_ELEMENTS


def test_the_exercise_itself_is_never_lent() -> None:
    for exercise in every_exercise():
        assert exercise.name not in exercise.uses


def test_an_answer_of_the_judge_that_fits_no_frame_is_refused_in_words() -> None:
    def draw(rng: np.random.Generator) -> list[Case]:
        return [case(Function("grow", lambda: np.zeros(MAX_FRAME // 8 + 1)))]

    exercise = Exercise(lambda grow: None, "77_ours", (), (Probe("grows", 1.0, draw),), (), ())
    line = Line(lambda request: ask("grow") if len(line.requests) < 2 else None)
    verdict = judge(Paper(exercise, 1), line)
    assert line.requests[1]["do"] == "raise"
    assert line.requests[1]["message"].endswith(" bytes is too large to send")
    assert verdict.outcome == "tampered"


# ---------------------------------------------------------------------------------------------- the other end is hostile

UNREADABLE: dict[str, Value] = {
    "nothing": None,
    "a number": 2.0,
    "full marks": {"score": 2.0, "outcome": "passed"},
    "a word": "passed",
    "a list": [],
    "an array": np.ones(3),
    "a tensor": Tensor(np.ones(3)),
    "a stranger": Opaque("a Verdict"),
    "a callback": Callback("double"),
    "an empty dictionary": {},
    "done": {"do": "done", "text": "passed", "html": ""},
    "another word": {**forged(), "say": "passed"},
    "an array for a word": {**forged(), "say": np.ones(3)},
    "an empty array for a word": {**forged(), "say": np.ones(0)},
    "a tensor for a word": {**forged(), "say": Tensor(np.ones(3))},
    "a list for a word": {**forged(), "say": ["observed"]},
    "not a number for a word": {**forged(), "say": math.nan},
    "nothing observed": {"say": "observed"},
    "a score beside the observation": forged(score=2.0),
    "a score of NaN": forged(score=math.nan),
    "an exception of another form": forged(raised={"kind": "ValueError"}),
    "an exception of arrays": forged(raised=[np.ones(2)] * 4),
    "an argument at no place": forged(arguments={"x": 1}),
    "an argument at a place without end": forged(arguments={"9" * 4300: 1}),
    "arguments in an array": forged(arguments=np.ones(2)),
    "an argument that was never given": forged(arguments={"0": np.ones(3), "1": 1}),
    "what has changed in place of all arguments": {**forged(), "changed": {}},
    "counts that are not whole": forged(counts={"lines": 0.5}),
    "counts that are not numbers": forged(counts={"lines": math.nan}),
    "a warning that is none": forged(warned=[None]),
    "a question with a score": {**ask("double", 1), "score": 2.0},
    "a question without a name": {"say": "ask", "arguments": (), "keywords": {}},
    "a question with nothing for a name": ask(None),
    "a question with a list for a name": ask([np.ones(2)] * 100),
}


def harmless(verdict: Verdict, exercise: Exercise) -> None:
    """Every probe accounted for, a score that is a number in bounds, and texts that can be written down."""
    assert [(f.shows, f.points) for f in verdict.findings] == [(p.shows, p.points) for p in exercise.probes]
    assert all(
        finding.earned in (0.0, interview.FORM_KEEPS * finding.points, finding.points) for finding in verdict.findings
    )
    assert (repr(verdict) + html(verdict) + str(verdict.to_json())).encode()


@pytest.mark.parametrize("message", UNREADABLE)
def test_what_is_no_observation_earns_nothing(message: str) -> None:
    line = Line(lambda request: UNREADABLE[message])
    verdict = judge(Paper(DOUBLE, 1), line)
    harmless(verdict, DOUBLE)
    assert (verdict.outcome, verdict.score) == ("tampered", 0.0)
    assert verdict.note.startswith("What came back was not an answer (")


RESULTS: dict[str, Value] = {
    "nothing": None,
    "not a number": math.nan,
    "infinity": math.inf,
    "true": True,
    "a huge array": np.zeros(MAX_FRAME // 8 - 100),
    "an array without entries": np.zeros((0, 5)),
    "all NaN": np.full(3, math.nan),
    "a stranger": Opaque("an array"),
    "a stranger of many words": Opaque("x" * 20_000),
    "half a surrogate": Opaque("\ud800"),
    "markup": Opaque("</td><script>alert(1)</script>"),
    "a callback": Callback("double"),
    "many parts": [[0.0] * 70] * 70,
    "every kind": [np.ones(2), Tensor(np.ones(2)), {"a": (1, "b", None)}],
}


@pytest.mark.parametrize("result", RESULTS)
def test_a_wrong_result_of_any_form_is_wrong(result: str) -> None:
    verdict = judge(Paper(DOUBLE, 1), Line(lambda request: forged(result=RESULTS[result])))
    harmless(verdict, DOUBLE)
    assert (verdict.outcome, verdict.score) == ("wrong", 0.0)
    assert "<script>" not in html(verdict)
    assert max(len(finding.reason) for finding in verdict.findings) <= 600


def test_an_exception_of_any_name_is_an_exception() -> None:
    for kind in ("ValueError", "", "x" * 20_000, "\ud800", "<script>"):
        raised = [kind, "message", 2**62, "line", kind]
        verdict = judge(Paper(DOUBLE, 1), Line(lambda request, raised=raised: forged(raised=raised)))
        harmless(verdict, DOUBLE)
        assert (verdict.outcome, verdict.score) == ("raised", 0.0)
        assert "<script>" not in html(verdict)


def test_an_exception_beside_a_right_result_is_an_exception() -> None:
    raised = Raised("ValueError")
    reply = Line(lambda request: {**twice(request), "raised": [raised.kind, "", 0, "", ""]})
    assert judge(Paper(DOUBLE, 1), reply).outcome == "raised"


LEAVES = (
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.sampled_from(["", "observed", "ask", "double"])
)
ARRAYS = st.sampled_from([np.ones(3), np.zeros((0, 2)), np.ones((3, 3), "f4"), np.array([True]), np.array(1.5)])
VALUES = st.recursive(
    LEAVES | ARRAYS | ARRAYS.map(Tensor) | st.just(Opaque("a thing")) | st.just(Callback("double")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(
            st.sampled_from(["say", "name", "arguments", "keywords", "0", "lines", "x"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)
MESSAGES = (
    VALUES
    | st.dictionaries(st.sampled_from(["result", "raised", "arguments", "counts", "warned", "say"]), VALUES).map(lambda d: forged(**d))
    | st.dictionaries(st.sampled_from(["name", "arguments", "keywords"]), VALUES).map(lambda d: {**ask("double"), **d})
)  # fmt: skip


@given(st.lists(MESSAGES, min_size=1, max_size=4))
@settings(max_examples=400)
def test_no_message_makes_the_judge_stumble_or_give_a_point(messages: list[Value]) -> None:
    patch = pytest.MonkeyPatch()
    patch.setattr(interview, "SECONDS_PER_CALL", 0.01)  # some of them ask without end
    patch.setattr(interview, "exercise_named", lambda notebook, name: DOUBLE)
    try:
        line = Line(lambda request: messages[len(line.requests) % len(messages)])
        verdict = judge(Paper(QUADRUPLE, 1), line)
    finally:
        patch.undo()
    harmless(verdict, QUADRUPLE)
    assert verdict.score == 0
    assert verdict.outcome in ("wrong", "raised", "tampered", "not attempted", "timed out")


def test_no_spoiled_frame_makes_the_judge_stumble() -> None:
    rng = np.random.default_rng(1)
    outcomes = set()

    class Spoiling(Line):
        def receive(self) -> Value:
            frame = bytearray(pack(self.whole(self.reply(self.requests[-1]))))
            for _ in range(max(0, int(rng.integers(-2, 3)))):
                frame[int(rng.integers(len(frame)))] = int(rng.choice(list(b'0129-"{[]},:\x00\xff')))
            return unpack(bytes(frame))

    for seed in range(500):
        verdict = judge(Paper(DOUBLE, seed), Spoiling(twice))
        harmless(verdict, DOUBLE)
        outcomes.add(verdict.outcome)
    assert {"tampered", "partly", "passed"} <= outcomes


def test_of_a_flood_of_questions_only_so_many_are_answered(
    monkeypatch: pytest.MonkeyPatch, known: Callable[[Exercise], None]
) -> None:
    known(DOUBLE)
    monkeypatch.setattr(interview, "ASKS_PER_CALL", 100)
    line = Line(lambda request: ask("double", np.ones(2)) if len(line.requests) < 150 else None)
    judge(Paper(QUADRUPLE, 1), line)
    told = [request["do"] for request in line.requests[1:150]]
    assert told == ["return"] * 100 + ["raise"] * 49
    assert line.requests[101]["message"] == "it calls `double` more than 100 times in one call, as an endless loop does"


def test_the_work_that_questions_make_is_bounded_over_the_whole_conversation(
    monkeypatch: pytest.MonkeyPatch, known: Callable[[Exercise], None]
) -> None:
    def slow(x: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
        began = time.thread_time()
        while time.thread_time() < began + 0.02:
            pass
        return 2 * x

    slow.__name__ = "double"
    known(replace(DOUBLE, oracle=slow))
    monkeypatch.setattr(interview, "LISTENING_SECONDS", 0.1)
    asked = iter(range(1000))
    line = Line(lambda request: ask("double", np.ones(2)) if next(asked) % 3 else forged())
    quadruples = Exercise(
        quadruple, "77_ours", (), (Probe("many times", 1.0, lambda rng: 50 * _vectors(rng)),), (), (), ("double",)
    )
    verdict = judge(Paper(quadruples, 1), line)
    assert (verdict.outcome, verdict.score) == ("timed out", 0.0)
    assert sum(request["do"] == "call" for request in line.requests) < 10


def test_questions_do_not_lengthen_the_time_of_a_call(
    monkeypatch: pytest.MonkeyPatch, known: Callable[[Exercise], None]
) -> None:
    known(DOUBLE)
    monkeypatch.setattr(interview, "SECONDS_PER_CALL", 0.0)
    verdict = judge(Paper(QUADRUPLE, 1), Line(lambda request: ask("double", np.ones(2))))
    assert (verdict.outcome, verdict.score) == ("timed out", 0.0)


# ---------------------------------------------------------------------------------------------- the other end is gone


class Ends(Line):
    """Answers rightly so many times; then receiving raises."""

    def __init__(self, after: int, error: Exception) -> None:
        super().__init__(twice)
        self.left, self.error = after, error

    def receive(self) -> Value:
        if self.left == 0:
            raise self.error
        self.left -= 1
        return super().receive()


ENDS = [
    (TimeoutError(), "timed out", "One call took too long; what had been earned before is kept."),
    (EOFError(), "crashed", "The process that ran your code ended; what had been earned before is kept."),
    (ConnectionResetError(), "crashed", "The process that ran your code ended; what had been earned before is kept."),
    (Malformed("frame length"), "tampered", "What came back was not an answer (frame length)."),
]


@pytest.mark.parametrize(
    ("after", "earned"), [(0, [0, 0, 0]), (3, [0, 0, 0]), (4, [1, 0, 0]), (5, [1, 0.5, 0]), (6, [1, 0.5, 0])]
)
@pytest.mark.parametrize(("error", "outcome", "note"), ENDS, ids=lambda part: type(part).__name__)
def test_what_was_earned_before_the_end_is_kept(
    after: int, earned: list[float], error: Exception, outcome: str, note: str
) -> None:
    verdict = judge(Paper(DOUBLE, 1), Ends(after, error))
    harmless(verdict, DOUBLE)
    assert (verdict.outcome, verdict.note) == (outcome, note)
    assert [finding.earned for finding in verdict.findings] == earned


def test_silence_is_a_timeout() -> None:
    near, far = socket.socketpair()
    with near, far:
        verdict = judge(Paper(DOUBLE, 1), SocketLink(far, 0.05))
    assert (verdict.outcome, verdict.score) == ("timed out", 0.0)


def test_a_hang_up_is_a_crash() -> None:
    near, far = socket.socketpair()
    near.close()
    with far:
        verdict = judge(Paper(DOUBLE, 1), SocketLink(far, 10))
    assert (verdict.outcome, verdict.score) == ("crashed", 0.0)


def test_raw_bytes_are_tampering() -> None:
    near, far = socket.socketpair()
    with near, far:
        near.sendall(b"GET / HTTP/1.1\r\n\r\n" * 100)
        verdict = judge(Paper(DOUBLE, 1), SocketLink(far, 10))
    assert (verdict.outcome, verdict.score) == ("tampered", 0.0)


@pytest.mark.parametrize("ends", [Ends(1, TimeoutError()), Ends(1, Malformed("text")), Ends(9, EOFError())])
def test_the_student_is_told_the_verdict_however_the_conversation_ends(ends: Ends) -> None:
    verdict = judge(Paper(DOUBLE, 1), ends)
    assert ends.requests[-1] == {"do": "done", "text": repr(verdict), "html": html(verdict)}


# ---------------------------------------------------------------------------------------------- in this process


def test_a_client_that_walks_away_has_crashed() -> None:
    assert judge_here(lambda x: x, Paper(DOUBLE, 1), lambda function, link: None).outcome == "crashed"


def test_an_error_of_the_client_comes_out() -> None:
    def fails(function: object, link: object) -> None:
        raise RuntimeError("the client's own")

    with pytest.raises(RuntimeError, match="the client's own"):
        judge_here(lambda x: x, Paper(DOUBLE, 1), fails)


def test_an_error_of_the_judge_comes_out() -> None:
    def draw(rng: np.random.Generator) -> list[Case]:
        raise ZeroDivisionError("in the exercise")

    exercise = Exercise(double, "77_ours", (), (Probe("never", 1.0, draw),), (), ())
    with pytest.raises(ZeroDivisionError, match="in the exercise"):
        judge_here(lambda x: x, Paper(exercise, 1), answer)


def test_an_answer_that_takes_too_long_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.judging.SECONDS_PER_CALL", 0.05)
    told = []

    def sleeps(x: np.ndarray) -> np.ndarray:
        time.sleep(0.2)
        return 2 * x

    verdict = judge_here(sleeps, Paper(DOUBLE, 1), lambda function, link: told.append(answer(function, link)))
    assert verdict.outcome == "timed out"
    assert repr(told[0]) == repr(verdict)


def test_the_judge_calls_torch_in_one_thread_and_leaves_it_as_it_was() -> None:
    threads = []

    def noting(x: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
        threads.append(torch.get_num_threads())
        return 2 * x

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        judge(Paper(replace(DOUBLE, oracle=noting), 1), Line(twice))
        assert set(threads) == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_an_oracle_that_goes_wrong_is_a_fault_and_no_answer() -> None:
    def broken(x: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
        return x[[7]]

    exercise = Exercise(broken, "77_ours", (), (Probe("anything", 1.0, _vectors),), (), ())
    with pytest.raises(OracleFailed, match="broken: IndexError"):
        judge_here(lambda x: x[[7]], Paper(exercise, 1), answer)


def counted(b: int, n: int, d: int, h: int, f: int) -> dict[str, int]:
    tokens = b * n
    whole = {
        "qkv": 6 * tokens * d * d,
        "scores": 2 * tokens * n * d,
        "output": 2 * tokens * d * d,
        "ffn": 4 * tokens * d * f,
    }
    return {**whole, "mix": 0}


def counted_and_one_forgotten(b: int, n: int, d: int, h: int, f: int) -> dict[str, int]:
    return {key: count for key, count in counted(b, n, d, h, f).items() if key != "mix"}


@pytest.mark.parametrize(
    ("implementation", "reason"),
    [
        (counted, "The result's 'mix' has the right form, and the wrong value."),
        (counted_and_one_forgotten, "The result should have the keys"),
    ],
)
def test_a_probe_that_looks_at_one_entry_names_it_or_the_key_that_is_missing(
    implementation: Callable[..., Any], reason: str
) -> None:
    verdict = judge_here(implementation, Paper(exercise_named("08_clocks", "block_flops"), 1), answer)
    (of_mix,) = (finding for finding in verdict.findings if "'mix'" in finding.shows)
    assert of_mix.reason.startswith(reason)
