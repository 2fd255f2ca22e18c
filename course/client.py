"""`judge`: the student's end of a hidden test.

It holds nothing worth knowing. The other end (`autograder.judging`) sends arguments, this end calls the student's
function and sends back what was observed; the score is made there and never here. The two talk in values
(`course.trial.values`), so nothing that crosses can be code.

Messages from the judge: {"do": "call", ...}, {"do": "return", ...}, {"do": "raise", ...}, {"do": "done", ...}.
Messages to the judge: {"say": "observed", ...}, {"say": "ask", ...}, {"say": "no function", ...}.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from course.latest import bound_by, exercise_of
from course.trial.cases import Case
from course.trial.functions import Function
from course.trial.link import Link, SocketLink, send_fitting
from course.trial.message import paragraphs
from course.trial.observing import Handed, looked_at
from course.trial.ranks import staying
from course.trial.reaching import innermost
from course.trial.text import what
from course.trial.values import Callback, Value, map_leaves, native, plain

SOCKET_VARIABLE = "COURSE_JUDGE"
ENDED = "The judge has ended the conversation; its verdict is on the feedback page."


Exchange = Callable[[Value], Value]
"""A question to the judge, and its answer."""


class Report:
    """What the judge said, for the cell's output. It carries no score that anybody trusts."""

    def __init__(self, text: str, html: str) -> None:
        self.text = text
        self.html = html

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def judge(function: Callable[..., object]) -> Report:
    """Have `function` judged by the hidden tests of the exercise under whose name the notebook has it.

    While nbgrader grades, a judge in another process is reached over a socket whose descriptor the environment names. On an
    instructor's machine, where `autograder` can be imported, the same judge runs here. On a student's machine this only says
    when hidden tests run.

    Raises:
        RuntimeError: nbgrader is grading and no judge can be reached, which is the grader's fault.
    """
    descriptor = os.environ.get(SOCKET_VARIABLE)
    if descriptor == "":
        return _saying("Nothing is being judged now.")
    asking = sys._getframe(1)
    if descriptor:
        with socket.socket(fileno=os.dup(int(descriptor))) as connection:
            return answer(function, SocketLink(connection), asking.f_globals)
    if os.environ.get("NBGRADER_EXECUTION") == "autograde":
        raise RuntimeError("no judge: run nbgrader where this course's nbgrader_config.py is")
    try:
        from autograder.judging import local_judge
    except ModuleNotFoundError as error:
        if error.name != "autograder":
            raise
        return _saying(
            "The hidden tests run when your instructor grades; check() above is yours to run as often as you like."
        )
    return local_judge(exercise_of(function, asking)[0], function, partial(answer, scope=asking.f_globals))


def _saying(text: str) -> Report:
    return Report(text, paragraphs([text]))


_judged: list[object] = []
"""What was judged in this process."""


def answer(function: Callable[..., object], link: Link, scope: dict[str, Any] | None = None) -> Report:
    """Do what the judge asks for, until it is done.

    Args:
        scope: the names of the notebook; None stands for those that the function sees.
    """
    turn = threading.Lock()

    def exchange(question: Value) -> Value:
        with turn:  # one at a time, whatever threads a student uses
            link.send(question)
            return link.receive()

    if scope is None:
        scope = getattr(innermost(function), "__globals__", {})
    with staying():
        report = _converse(function, link, exchange, scope)
    if callable(function):  # what is none stands for no answer, whatever is the same thing
        _judged.append(function)
    return report


def _converse(function: Callable[..., object], link: Link, exchange: Exchange, scope: dict[str, Any]) -> Report:
    while True:
        try:
            request = link.receive()
        except (EOFError, ConnectionError):
            return _saying(ENDED)
        if request["do"] == "done":
            return Report(request["text"], request["html"])
        if not callable(function):
            link.send({"say": "no function", "now": what(looked_at(function)), "by": bound_by(request["exercise"])})
            continue
        case = Case(tuple(_from_afar(argument, exchange) for argument in request["arguments"]), request["harness"])
        gone = [name for name in request["own"] if not any(scope.get(name) is one for one in _judged)]
        with _lent(scope, [*request["lend"], *gone], exchange, case):
            told = case.account(function, count_lines=request["lines"])
        with suppress(ConnectionError):  # the judge no longer waits; its last word is still to be read
            send_fitting(link, ({"say": "observed", **fitting.to_value()} for fitting in told.shorter()))


def _from_afar(argument: Value, exchange: Exchange) -> Value:
    if isinstance(argument, Callback):
        return Function(argument.name, _asking(argument.name, exchange))
    return argument


def _asking(
    name: str,
    exchange: Exchange,
    handed: frozenset[str] = frozenset(),
    own: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """A function that is evaluated by the judge.

    Args:
        name: what the judge calls it.
        exchange: how to ask.
        handed: the names of functions that may be passed on to it.
        own: the student's own version, which is called where it is passed any other function: that cannot travel.
    """

    def known(argument: object) -> object:
        if isinstance(argument, Handed):
            return argument if argument.ended else Callback(argument.__name__)
        called = getattr(argument, "__name__", None) if callable(argument) else None
        return Callback(called) if called in handed else argument

    def ask(*arguments: object, **keywords: object) -> Any:
        trace = sys.gettrace()
        sys.settrace(None)  # the lines of a conversation are not the student's
        try:
            positional, named = tuple(map(known, arguments)), {key: known(value) for key, value in keywords.items()}
            if own is not None and any(map(callable, (*positional, *named.values()))):
                sys.settrace(trace)
                return own(*arguments, **keywords)
            question = {"say": "ask", "name": name, "arguments": plain(positional), "keywords": plain(named)}
            reply = exchange(question)
        finally:
            sys.settrace(trace)
        if reply["do"] == "raise":
            raise ValueError(reply["message"])
        if reply["do"] == "done":
            raise ConnectionAbortedError("the judge has ended the conversation")
        return map_leaves(native, reply["value"])

    ask.__name__ = name
    return ask


@contextmanager
def _lent(scope: dict[str, Any], names: list[str], exchange: Exchange, case: Case) -> Iterator[None]:
    """Let the functions that the judged one builds on be right ones, so that one mistake costs once: whatever stands under their names,
    and where nothing does."""
    before = {name: scope[name] for name in names if name in scope}
    handed = frozenset(argument.name for argument in case.arguments if isinstance(argument, Function))
    for name in names:
        own = before.get(name)
        scope[name] = _asking(name, exchange, handed, own if callable(own) else None)
    try:
        yield
    finally:
        for name in names:
            scope.pop(name, None)
        scope.update(before)
