"""Functions that an exercise hands to the student's function, in the form in which public cases may name them.

A hidden test hands over functions too; those stay with the judge and are called from afar (`course.client`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from course.trial.values import Value, from_json, to_json


def _once(*arguments: Value, **keywords: Value) -> int:
    return 1


@dataclass(frozen=True)
class Function:
    """A function given as an argument, and what one call of it adds to the count under its name.

    Attributes:
        make: makes it anew, where it remembers its calls; None where it does not. (It is no good where lines are counted:
            a function is called twice then.)
    """

    name: str
    run: Callable[..., Value]
    cost: Callable[..., int] = _once
    public: dict[str, Value] | None = field(default=None, compare=False)
    make: Callable[[], Callable[..., Value]] | None = field(default=None, compare=False)

    def begin(self) -> Callable[..., Value]:
        """The function for one trial: it remembers nothing of another."""
        return self.run if self.make is None else self.make()

    def to_json(self) -> dict[str, Any]:
        """How a stored public case names this function."""
        if self.public is None:
            raise ValueError(f"{self.name} is not one of the public functions")
        return {"name": self.name, "parameters": {key: to_json(value) for key, value in self.public.items()}}

    def __str__(self) -> str:
        """What a reader needs to know of a public function that is not the plain one."""
        return (_PUBLIC[self.name].told(**self.public) if self.public else "") or self.name


def public_function(name: str, **parameters: Value) -> Function:
    """The public function called `name`; see the functions below for their parameters."""
    public = _PUBLIC[name]

    def make() -> Callable[..., Value]:
        run = public.made(**parameters)
        run.__qualname__ = name  # Python names it so where it is called with the wrong arguments
        return run

    return Function(name, make(), public.cost, parameters, make)


def function_from_json(tree: dict[str, Any]) -> Function:
    """The function that `Function.to_json` named."""
    return public_function(tree["name"], **{key: from_json(value) for key, value in tree["parameters"].items()})


def _project(gain: float = 1.0, bent: bool = False) -> Callable[..., Value]:
    """`project(x, W)` is `gain * (x @ W)`, or where it is bent the tanh of that; it costs as many rows as `x` has (a vector is one row).

    A gain other than 1 shows who computes `x @ W` without asking, and so without being counted. A bent one shows who projects a mixture
    of rows where a mixture of projected rows is meant.
    """

    def project(x: np.ndarray, W: np.ndarray) -> np.ndarray:
        straight = np.asarray(gain * (np.asarray(x) @ np.asarray(W)))
        return np.asarray(np.tanh(straight)) if bent else straight

    return project


def _projecting(gain: float = 1.0, bent: bool = False) -> str:
    product = "x @ W" if gain == 1 else f"{gain:g} times x @ W"
    return f"a function that gives the tanh of {product}" if bent else f"a function that gives {product}"


def _rows(x: np.ndarray, W: np.ndarray) -> int:
    return int(np.prod(np.shape(x)[:-1]))


def _mixer(
    A: np.ndarray,
    centred: bool = False,
    normed: bool = False,
    reads: np.ndarray | None = None,
    rounding: float = 0.0,
) -> Callable[..., Value]:
    """A model whose wiring can be read: token j reaches output i where `A[i, j]` is not zero.

    What a token hands on is made from its features: `centred` subtracts their mean; `normed` also divides by their
    deviation, as LayerNorm does; `reads` [d, v] weighs them; every number is then squashed. `rounding` is the size of
    a wobble in the outputs that is another one for every X, as rounding errors are.
    """

    def mixer(X: np.ndarray) -> np.ndarray:
        X = T = np.asarray(X, np.float64)
        if X.ndim != 2 or len(X) != len(A):
            raise ValueError(f"this model takes all {len(A)} tokens at once, [n, d]; it was given {list(X.shape)}")
        if centred or normed:
            T = T - T.mean(axis=-1, keepdims=True)
        if normed:
            T = T / np.maximum(T.std(axis=-1, keepdims=True), 1e-12)
        if reads is not None:
            T = T @ reads
        outputs = np.asarray(A @ np.tanh(T))
        if rounding:
            phase = 1e6 * (X.ravel() @ np.sqrt(np.arange(2, X.size + 2)))
            outputs = outputs + rounding * np.sin(phase + np.arange(outputs.size)).reshape(outputs.shape)
        return outputs

    return mixer


def _by_parameters(name: str, **parameters: Value) -> str:
    plain = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in parameters.items()}
    return f"{name}({', '.join(f'{key}={value}' for key, value in plain.items())})"


def _relu(room: int | None = None) -> Callable[..., Value]:
    """The activation that keeps what is positive, entry by entry; `room` as in `in_room`."""

    def relu(x: np.ndarray) -> np.ndarray:
        return np.maximum(x, 0)

    return relu if room is None else in_room(relu, room)


def in_room(act: Callable[..., Value], room: int) -> Callable[..., Value]:
    """An activation on a device that holds so many hidden features of a token, and no more."""

    def act_in_room(x: np.ndarray) -> Value:
        width = np.shape(x)[-1]
        if width > room:
            raise ValueError(f"act was given {width} hidden features, and a device has room for {room} here")
        return act(x)

    return act_in_room


def _with_room(name: str, room: int) -> str:
    return f"{name}, on devices with room for {room} hidden features each"


def _all_reduce(p: int, mark: float = 0.0, distinct: bool = False) -> Callable[..., Value]:
    """`all_reduce(parts)` is the sum of p arrays of one shape, one from each of p devices; it costs one collective.

    A mark other than 0 is added to the sum, and shows who sums without asking, and so without being counted. Where parts
    are to be `distinct`, two that are the same are refused: two devices have done the same work.
    """

    def all_reduce(parts: list[np.ndarray], *more: np.ndarray) -> np.ndarray:
        if more:
            raise ValueError(f"all_reduce takes one list of parts, and was given {1 + len(more)} arguments")
        if not hasattr(parts, "__len__"):
            raise ValueError(
                f"all_reduce takes a list of parts, and was given a {type(parts).__name__}, which is none yet: list(...) makes one"
            )
        if isinstance(parts, np.ndarray) and parts.ndim != 3:
            raise ValueError(f"all_reduce takes a list of parts, and was given one array of shape {list(parts.shape)}")
        if len(parts) != p:
            raise ValueError(f"all_reduce takes one part from each of {p} devices, and was given {len(parts)}")
        shapes = [list(np.shape(part)) for part in parts]
        if shapes.count(shapes[0]) < p:
            raise ValueError(f"all_reduce takes parts of one shape, and was given the shapes {shapes}")
        if distinct and len(np.unique(np.asarray(parts), axis=0)) < p:
            raise ValueError(f"all_reduce was given {p} parts, and some are the same: these devices did the same work")
        return np.asarray(np.sum(np.asarray(parts), axis=0) + mark)

    return all_reduce


def _summing(p: int, mark: float = 0.0, distinct: bool = False) -> str:
    """What an all_reduce does besides adding up, in words; "" where that is nothing."""
    said = "a function that gives the sum of the parts"
    marked = f"{said}, plus {mark:g}" if mark else ""
    return f"{marked or said}; it refuses parts that are the same" if distinct else marked


def _tanh(room: int | None = None) -> Callable[..., Value]:
    """An activation that squashes every entry into the range from -1 to 1; `room` as in `in_room`."""

    def tanh(x: np.ndarray) -> np.ndarray:
        return np.asarray(np.tanh(x))

    return tanh if room is None else in_room(tanh, room)


def _device(
    work: list[float], launch: float = 0.0, queued: float = 0.0, room: int = 1000
) -> Callable[..., float | None]:
    """A make-believe GPU: it is told "fn", "sync" or "clock", in seconds of its own.

    "fn" takes the host `launch` to hand over. In call number i it takes the GPU `work[i]`, from the moment of the call or,
    if it comes later, from when it is done with all that came before; the last entry stands for all further calls. Where
    `room` pieces of work are not done yet, the host waits until one is. `queued` is the work that is there at the start. "sync" waits until everything is done, and "clock"
    tells the host's time.
    """
    now = 64.0  # what a clock begins at means nothing
    done = [now + queued]

    def device(event: str) -> float | None:
        nonlocal now
        if event == "fn":
            if len(done) >= room:
                now = max(now, done[-room])
            done.append(max(now, done[-1]) + work[min(len(done), len(work)) - 1])
            now += launch
        elif event == "sync":
            now = max(now, done[-1])
        elif event != "clock":
            raise ValueError(f"this device knows nothing of {event!r}")
        return now if event == "clock" else None

    return device


def _gpu(work: list[float], launch: float = 0.0, queued: float = 0.0, room: int = 1000) -> str:
    """The device in words; what is as usual is left out."""
    each = " s, ".join(f"{seconds:.12g}" for seconds in work)
    parts = [
        f"a GPU that works {each} s for each call of fn"
        if len(work) == 1
        else f"a GPU whose work per call is {each} s",
        *([f"handing a call over takes the host {launch:g} s"] if launch else []),
        *([f"work for {queued:g} s is in its queue at the start"] if queued else []),
        *([f"its queue has room for {room} calls"] if room < 1000 else []),
    ]
    return "; ".join(parts)


def _free(*arguments: Value, **keywords: Value) -> int:
    return 0


class _Public(NamedTuple):
    """How a public function is made of its parameters, what a call of it costs, and what its parameters make of it, in words;
    "" where that is nothing."""

    made: Callable[..., Callable[..., Value]]
    cost: Callable[..., int]
    told: Callable[..., str]


_PUBLIC: dict[str, _Public] = {
    "project": _Public(_project, _rows, _projecting),
    "device": _Public(_device, _free, _gpu),
    "mixer": _Public(_mixer, _free, partial(_by_parameters, "mixer")),
    "relu": _Public(_relu, _free, partial(_with_room, "relu")),
    "tanh": _Public(_tanh, _free, partial(_with_room, "tanh")),
    "all_reduce": _Public(_all_reduce, _once, _summing),
}

COUNTED_IN_ROWS = frozenset(name for name, public in _PUBLIC.items() if public.cost is _rows)
"""The functions of which not calls are counted, but rows that they are handed."""
