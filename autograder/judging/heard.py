"""What was said in answer to the cases of a paper, and what it comes to: of a class, many say the same.

The same bytes are read and compared once. All that is kept here follows from them and from the paper, so that nobody's verdict
depends on who was heard before.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property

from course.trial.comparing import Difference, difference
from course.trial.form import in_form
from course.trial.observing import Observation
from course.trial.values import Value, unpack

LONGEST = 64 << 10
"""Bytes of a frame that is kept."""
ROOM = 4 << 20
"""Bytes of frames that are kept of what was said to one paper; what was not said for longest goes first."""


@dataclass(frozen=True)
class Looked:
    """What came of a case, or the part of it that a probe looks at, beside what was expected; each thing is seen when it is asked for."""

    want: Observation
    got: Observation

    @cached_property
    def found(self) -> Difference | None:
        """In what it differs first."""
        return difference(self.want, self.got)

    @cached_property
    def recast(self) -> Looked:
        """The same in the form that was asked for."""
        return Looked(self.want, in_form(self.want, self.got))

    @property
    def form(self) -> bool:
        """Whether it differs in nothing, or in nothing but its form."""
        return self.found is None or self.recast.found is None


@dataclass(frozen=True)
class Heard:
    """What came of a call.

    Attributes:
        looked: what was seen in it, by the part that was looked at; None is the whole.
    """

    got: Observation
    looked: dict[str | None, Looked] = field(default_factory=dict)


class Said(dict[str, Value]):
    """A reply that others may have given too; nobody may change it.

    Attributes:
        heard: what it comes to, by all else that this depends on.
    """

    def __init__(self, reply: dict[str, Value]) -> None:
        super().__init__(reply)
        self.heard: dict[Hashable, Heard] = {}


def heard(reply: Value, asked: Hashable, listen: Callable[[], Heard]) -> Heard:
    """What a reply comes to.

    Args:
        asked: all that it depends on, besides the reply and the paper.
        listen: finds it out.
    """
    if not isinstance(reply, Said):
        return listen()
    if asked not in reply.heard:
        reply.heard[asked] = listen()
    return reply.heard[asked]


class Replies:
    """The last observations of one paper's cases, by the frames that they came in."""

    def __init__(self) -> None:
        self._said: OrderedDict[bytes, Said] = OrderedDict()
        self._size = 0

    def read(self, frame: bytes) -> Value:
        """The value in a frame.

        Raises:
            Malformed: there is none.
        """
        if len(frame) > LONGEST:
            return unpack(frame)
        if frame in self._said:
            self._said.move_to_end(frame)
            return self._said[frame]
        value = unpack(frame)
        if type(value) is not dict or value.get("say") != "observed":
            return value  # what a function of a case is asked with is its own, and it may write into it
        self._said[frame] = said = Said(value)
        self._size += len(frame)
        while self._size > ROOM:
            gone, _ = self._said.popitem(last=False)
            self._size -= len(gone)
        return said
