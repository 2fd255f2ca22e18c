"""Call a function and write down what it did: the one way in which check, judge and mutants look at an answer."""

from __future__ import annotations

import gc
import linecache
import re
import sys
import traceback
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import astuple, dataclass, field, replace
from types import FrameType
from typing import Any

import numpy as np

from course.trial.functions import Function
from course.trial.silence import silently
from course.trial.values import TOO_LARGE, Opaque, Tensor, Value, layout, map_leaves, native, plain, with_layout


@dataclass(frozen=True)
class Raised:
    """An exception, and the line of the student's own code that it passed through last, counted within its cell.

    Attributes:
        caller_line, caller_source, caller: where another function of the student's, the one that was tried, led there; 0 and ""
            where the line is its own.
        shapes: of the arrays that the line names, where it may be these that do not fit: "Q is [2, 3], K is [4, 3]". It does not travel.
    """

    kind: str
    message: str = ""
    line: int = 0
    source: str = ""
    function: str = ""
    caller_line: int = 0
    caller_source: str = ""
    caller: str = ""
    shapes: str = field(default="", compare=False)

    @property
    def unwritten(self) -> bool:
        """Whether this is a stub's bare NotImplementedError; libraries give theirs a message."""
        return self.kind == "NotImplementedError" and not self.message


OF_SHAPES = ("ValueError", "IndexError", "RuntimeError")
"""What NumPy and PyTorch raise where shapes do not fit."""

OF_RAISED = (str, str, int, str, str, int, str, str)
WITHOUT_CALLER = 5
"""How many of these are written where the function that was tried is the one that raised."""

PATIENCE = 1.0
"""Seconds. After a case that went wrong and took longer, those like it would make a student wait for nothing."""

REFUSAL = "ValueError, raised"
"""What stands for the result where a call is rightly refused."""

LOOKING = plain.__code__.co_filename
"""Whose lines are nobody's."""

OUT_OF_STEP = "out of step"
LEFT_UNUSED = "left unused"
STOPPED = "stopped"
UNRAISED = (OUT_OF_STEP, LEFT_UNUSED, STOPPED)
"""The kinds of what no function raised: several processes that did not meet, an argument that nobody asked, and a call that asked the
judge for more than it answers. The message says how, which, or what."""


class Elsewhere(Exception):
    """What was raised in another process, and written down there: it is what `observe` then tells."""

    def __init__(self, raised: Raised) -> None:
        super().__init__(raised.message)
        self.raised = raised


@dataclass(frozen=True)
class Account:
    """What one call left behind, with nothing compared yet: this is what travels to the judge.

    Attributes:
        result: what it returned.
        raised: what it raised, or None.
        arguments: position -> contents afterwards, for each argument that is not a function, changed or not.
        counts: what was spent: one entry per `Function` argument, and "lines" where lines were counted.
        warned: what Python warned of, each once.
    """

    result: Value = None
    raised: Raised | None = None
    arguments: dict[int, Value] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    warned: tuple[str, ...] = ()

    def to_value(self) -> Value:
        """This account as a tree that can be packed."""
        return _to_value(self, "arguments", self.arguments)

    @classmethod
    def from_value(cls, tree: Value) -> Account:
        """The account in a tree.

        Raises:
            ValueError: the tree is of another form.
        """
        return cls(*_from_value(tree, "arguments"))

    def shorter(self) -> Iterator[Account]:
        """This account, and what there is of it where it is too large to travel: without the result, then without the
        arguments too. It is then a wrong answer, and no more than that."""
        yield self
        cut = replace(self, result=Opaque(TOO_LARGE))
        yield cut
        yield replace(cut, arguments=dict.fromkeys(self.arguments, Opaque(TOO_LARGE)))


@dataclass(frozen=True)
class Observation:
    """What one call did: an account, once the arguments afterwards have been compared with what was given.

    Attributes:
        changed: position -> contents afterwards, for each argument that the call altered.
        result, raised, counts, warned: as in `Account`.
    """

    result: Value = None
    raised: Raised | None = None
    changed: dict[int, Value] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    warned: tuple[str, ...] = ()

    def to_value(self) -> Value:
        """This observation as a tree that can be stored."""
        return _to_value(self, "changed", self.changed)

    @classmethod
    def from_value(cls, tree: Value) -> Observation:
        """The observation in a tree.

        Raises:
            ValueError: the tree is of another form.
        """
        return cls(*_from_value(tree, "changed"))


def _to_value(told: Account | Observation, name: str, contents: dict[int, Value]) -> Value:
    return {
        "result": told.result,
        "raised": told.raised
        and list(astuple(told.raised))[: len(OF_RAISED) if told.raised.caller else WITHOUT_CALLER],
        name: {str(position): value for position, value in contents.items()},
        "counts": dict(told.counts),
        "warned": list(told.warned),
    }


def _from_value(
    tree: Value, name: str
) -> tuple[Value, Raised | None, dict[int, Value], dict[str, int], tuple[str, ...]]:
    if not isinstance(tree, dict) or set(tree) != {"result", "raised", name, "counts", "warned"}:
        raise ValueError("not an observation")
    raised, contents, counts, warned = tree["raised"], tree[name], tree["counts"], tree["warned"]
    if raised is not None:
        if not isinstance(raised, list) or tuple(map(type, raised)) not in (OF_RAISED, OF_RAISED[:WITHOUT_CALLER]):
            raise ValueError("not an exception")
        raised = Raised(*raised)
    if not isinstance(contents, dict) or not all(key.isdecimal() and len(key) < 3 for key in contents):
        raise ValueError("not a set of arguments")
    if not isinstance(counts, dict) or not all(type(count) is int for count in counts.values()):
        raise ValueError("not counts")
    if not isinstance(warned, list) or not all(isinstance(text, str) for text in warned):
        raise ValueError("not warnings")
    return tree["result"], raised, {int(key): value for key, value in contents.items()}, counts, tuple(warned)


def observe(function: Callable[..., object], arguments: tuple[Value, ...], count_lines: bool = False) -> Observation:
    """Call `function` on copies of `arguments` and say what it did; see `account`."""
    return compared(arguments, account(function, arguments, count_lines))


def compared(arguments: tuple[Value, ...], told: Account) -> Observation:
    """What a call did to the arguments that it was given, by its account of what they are afterwards.

    The judge does this in its own process, with the arguments that it has sent. Whoever would have a destroyed argument
    pass for a whole one must send back what it was, as a function that works on a copy does.

    Raises:
        ValueError: the account is one of other arguments.
    """
    given = {position: argument for position, argument in enumerate(arguments) if not isinstance(argument, Function)}
    if set(told.arguments) != set(given):
        raise ValueError("not the arguments that were given")
    changed = {place: now for place, now in told.arguments.items() if not same(given[place], now)}
    return Observation(told.result, told.raised, changed, told.counts, told.warned)


def account(function: Callable[..., object], arguments: tuple[Value, ...], count_lines: bool = False) -> Account:
    """Call `function` on copies of `arguments` and write down what it leaves behind.

    Args:
        function: anything callable.
        arguments: values, and `Function`s, whose cost is counted.
        count_lines: also count the Python lines that run, wherever they are.
    """
    if count_lines:  # once without counting: what is imported or cached on the way is no line of a loop
        with (
            suppress(Exception, SystemExit, GeneratorExit),
            warnings.catch_warnings(action="ignore"),
            silently(),
            _ordinary(),
        ):
            function(*(_realise(argument, defaultdict(int)) for argument in arguments))
    with warnings.catch_warnings(record=True) as caught, _ordinary():
        warnings.simplefilter("always")
        told = watch(function, arguments, count_lines)
    warned = tuple(dict.fromkeys(str(warning.message)[:500] for warning in caught))
    return replace(told, warned=warned[:5])


def watch(function: Callable[..., object], arguments: tuple[Value, ...], count_lines: bool = False) -> Account:
    """`account` without what it sets up for the whole process, and so fit for one of several threads."""
    spent: dict[str, int] = {argument.name: 0 for argument in arguments if isinstance(argument, Function)}
    given = tuple(_realise(argument, spent) for argument in arguments)
    result: Value = None
    raised: Raised | None = None
    with _line_counter(spent if count_lines else None):
        try:
            result = looked_at(function(*given))  # here: what an object puts off until it is looked at is counted too
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a student's exit() is an answer too, and a wrong one
            raised = own_line(error)
    afterwards = {
        position: looked_at(given[position])
        for position, argument in enumerate(arguments)
        if not isinstance(argument, Function)
    }
    for one in given:
        if isinstance(one, Handed):
            one.end()
    return Account(result, raised, afterwards, spent)


def looked_at(thing: object) -> Value:
    """A thing as a value, whatever it does when it is looked at."""
    try:
        return plain(thing)
    except Exception:  # an object of the student's own that does not bear it
        return Opaque("something that cannot be looked at")


@contextmanager
def _ordinary() -> Iterator[None]:
    """What an earlier cell may have switched is as it was when Python began: it is no part of the answer."""
    torch = sys.modules.get("torch")
    with ExitStack() as stack:
        stack.enter_context(np.errstate(all="warn", under="ignore"))
        if torch is not None:
            stack.enter_context(torch.enable_grad())
            stack.enter_context(torch.autograd.set_detect_anomaly(False))
            stack.callback(torch.set_default_dtype, torch.get_default_dtype())
            torch.set_default_dtype(torch.float32)
        yield


def _realise(argument: Value, spent: dict[str, int]) -> Any:
    """What the student's function is given: its own copy, in the same memory layout."""
    if isinstance(argument, Function):
        return Handed(argument, spent)
    return map_leaves(_own, argument)


def _own(leaf: Value) -> Any:
    if isinstance(leaf, Tensor):
        return native(Tensor(_own(leaf.array)))
    return with_layout(leaf, layout(leaf)) if isinstance(leaf, np.ndarray) else leaf


class Handed:
    """A function as the student's own is handed it: each call is counted, and after the student's call it says no more. Python's
    messages call it a function."""

    def __init__(self, function: Function, spent: dict[str, int]) -> None:
        self.__name__ = self._name = function.name
        self._run: Callable[..., Value] | None = function.begin()
        self._cost, self._spent = function.cost, spent

    def __call__(self, *arguments: Any, **keywords: Any) -> Value:
        if self._run is None:
            raise ValueError(f"this {self._name} was given to an earlier call, and is good for that call alone")
        result = self._run(*arguments, **keywords)
        self._spent[self._name] += self._cost(*arguments, **keywords)
        return result

    @property
    def ended(self) -> bool:
        """Whether the call that it was given to is over."""
        return self._run is None

    def end(self) -> None:
        """The call that it was given to is over."""
        self._run = None


Handed.__name__ = "function"


def same(was: object, now: Value) -> bool:
    """Whether an argument is bit for bit what it was (NaN counts as equal to NaN)."""
    return _same(looked_at(was), now)


def _same(was: Value, now: Value) -> bool:
    if isinstance(was, Tensor) and isinstance(now, Tensor):
        was, now = was.array, now.array
    if isinstance(was, np.ndarray) and isinstance(now, np.ndarray):
        return was.dtype == now.dtype and was.shape == now.shape and was.tobytes() == now.tobytes()
    if isinstance(was, (list, tuple)) and isinstance(now, (list, tuple)):
        return len(was) == len(now) and all(map(_same, was, now))
    if isinstance(was, dict) and isinstance(now, dict):
        return list(was) == list(now) and all(_same(was[key], now[key]) for key in was)
    return type(was) is type(now) and (isinstance(was, Opaque) or was == now or was != was)


@contextmanager
def _line_counter(spent: dict[str, int] | None) -> Iterator[None]:
    """Count every line that Python runs, in the student's code and in any Python code it calls, but in the course's own that looks
    at the result.

    The garbage collector waits meanwhile: what it happens to clean up runs lines that are nobody's.
    """
    if spent is None:
        yield
        return
    spent["lines"] = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename == LOOKING:
            return None
        if event == "line":
            spent["lines"] += 1
        return trace

    previous, collecting = sys.gettrace(), gc.isenabled()
    gc.disable()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(previous)
        if collecting:
            gc.enable()


def own_line(error: BaseException) -> Raised:
    """An exception with the last line that lies in a notebook cell; outside a notebook there is none."""
    if isinstance(error, Elsewhere):
        return error.raised
    frames = list(traceback.walk_tb(error.__traceback__))[1:]  # the first is the call in `watch`
    cells = [(frame, line) for frame, line in frames if _is_cell(frame.f_code.co_filename)]
    known = next(cls for cls in type(error).__mro__ if cls.__module__ != "__main__")  # one's own is as its parent is
    kind, message = known.__name__[:200], _text(error)
    if not cells:
        return Raised(kind, message)
    first, last = _at(*cells[0]), _at(*cells[-1])
    shapes = _shapes(cells[-1][0], last[1]) if kind in OF_SHAPES and not last[1].startswith("raise ") else ""
    return replace(Raised(kind, message, *last, *(first if first[2] != last[2] else ())), shapes=shapes)


def _at(frame: FrameType, line: int) -> tuple[int, str, str]:
    """The line that a frame is at, its source, and the function that it is in."""
    source = linecache.getline(frame.f_code.co_filename, line).strip()
    return line, source[:500], frame.f_code.co_name[:200]


def _shapes(frame: FrameType, source: str) -> str:
    """Of which shape the arrays are that a line names, in its order."""
    names = dict.fromkeys(re.findall(r"(?<![\w.])[A-Za-z_]\w*", source))
    values: dict[str, Any] = {name: frame.f_locals.get(name, frame.f_globals.get(name)) for name in names}
    torch = sys.modules.get("torch")
    kinds = (np.ndarray,) if torch is None else (np.ndarray, torch.Tensor)
    arrays = {name: value for name, value in values.items() if type(value) in kinds and value.ndim}
    return ", ".join(f"{name} is {list(array.shape)}" for name, array in arrays.items())


def _text(error: BaseException) -> str:
    try:
        return str(error)[:1000]
    except Exception:  # a student's own exception may not even print
        return ""


def _is_cell(filename: str) -> bool:
    """Cells are compiled under names such as /tmp/ipykernel_123/456.py, /tmp/ipython-input-123.py or <ipython-input-1-...>."""
    return "ipykernel_" in filename or "ipython-input-" in filename
