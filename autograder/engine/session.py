"""One submission's notebook: a fork of the zygote, which may stand ready before it is needed, and the cells that are run in it."""

from __future__ import annotations

import base64
import json
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from autograder.engine import groups, temporary
from autograder.engine.inside import wire
from autograder.engine.inside.files import MAX_FILES
from autograder.engine.inside.walls import HOME
from autograder.engine.outer import environment
from autograder.engine.zygote import KilledByMachine, Place, ZygoteFailed

SECONDS_TO_START = 120.0
SECONDS_TO_YIELD = 5.0
SECONDS_FOR_FILES = 60.0
SECONDS_TO_TELL = 10.0
SECONDS_TO_END = 2.0
BUSY = 4  # times as long as its limit says something may take where the machine is busy with others
MAX_COMMS = 8 << 20  # bytes that all its widgets may say
MAX_MESSAGES = 4_000
MAX_DEPTH = 50
MAX_ID = 200
MAX_ERROR_TEXT, MAX_ERROR_LINES = 20_000, 200
ERROR_CUT = "... Traceback truncated ..."
CUT = "\n[the rest of the output was cut: it is longer than a notebook can hold]\n"

Message = tuple[str, dict[str, Any]]
End = Literal["finished", "interrupted", "killed", "died", "greedy", "garbled"]


@dataclass(frozen=True)
class CellRun:
    """What running one cell came to.

    Attributes:
        end: it finished; it ran out of time and gave way when it was interrupted, or did not and was killed with the whole
            submission; the process died, or took more memory than there is; or what it said was no answer, so it was killed.
        messages: what a kernel would have sent: a type and a content each, of the right form.
        reply: a kernel's execute reply; empty where the process did not live to give one.
    """

    end: End
    messages: list[Message] = field(default_factory=list)
    reply: dict[str, Any] = field(default_factory=dict)


class Standby:
    """A process behind its walls that waits for a submission, and has nothing of one yet.

    Args:
        place: the zygote's.
        folder: where the instructor's files are to lie, which is settled before the walls close; "" where there are none.

    Raises:
        ZygoteFailed: the zygote is gone.
    """

    def __init__(self, place: Place, folder: str = "") -> None:
        self.place = place
        self.group = groups.take(place.bound)
        self.lease = socket.socket(socket.AF_UNIX)
        self.connection, far = socket.socketpair()
        try:
            with far:
                self.lease.connect(place.address)
                doors = [self.group.door] if self.group else []
                wire.send(self.lease, {"folder": folder or HOME}, far.fileno(), *doors)
        except OSError as error:
            self.close()
            raise _failed(error) from None

    def begin(self, opening: dict[str, Any]) -> None:
        """Become a submission's.

        Raises:
            ZygoteFailed: the process could not be forked, or has ended.
        """
        until = time.monotonic() + SECONDS_TO_START
        try:
            answer = wire.receive(self.lease, until)
            if answer["error"]:
                raise OSError(answer["error"])
            self.connection.settimeout(SECONDS_TO_START)
            wire.send(self.connection, opening)
            wire.receive(self.connection, until)
        except (OSError, EOFError, ValueError) as error:
            self.close()
            raise _failed(error) from None

    def close(self) -> None:
        """End the process, and all that it started."""
        for connection in (self.lease, self.connection):
            with suppress(OSError):
                connection.close()
        if self.group is not None:
            self.group.close()
            self.group = None


def _failed(error: Exception) -> ZygoteFailed:
    return ZygoteFailed(f"no process for a submission: {type(error).__name__}: {error}")


class Session:
    """A submission's process, from its first cell to its end.

    Args:
        place: the zygote's.
        files: what lies beside the notebook, contents by relative path.
        variables: what to add to the environment.
        folder: where below the home the notebook runs.
        removed: which of the instructor's files it does not find.
        standby: a process that stands ready; else one is forked.

    Raises:
        ZygoteFailed: the zygote is gone, or could not fork, or the process that stood ready has ended.
    """

    def __init__(
        self,
        place: Place,
        files: Mapping[str, bytes] | None = None,
        variables: Mapping[str, str] | None = None,
        folder: str = "",
        removed: Sequence[str] = (),
        standby: Standby | None = None,
    ) -> None:
        self.alive = True
        self._own_folder = temporary.make() if place.walls == "none" else None
        where = str(Path(self._own_folder or HOME, folder))
        opening = {
            "environment": {**environment(place.walls, place.proxied), **(variables or {})},
            "files": {name: base64.b64encode(content).decode() for name, content in (files or {}).items()},
            "folder": where,
            "removed": list(removed),
        }
        self._sent = set(files or {}) | place.given
        self._room, self._room_for_comms = place.output, MAX_COMMS
        try:
            self._process = standby or Standby(place, where)
            self._process.begin(opening)
        except ZygoteFailed:
            self._leave_folder()
            raise
        self._lease, self._connection = self._process.lease, self._process.connection
        self._unanswered = 0
        self._added = 0.0  # seconds in line that a limit has been lengthened by, since it began

    @property
    def grouped(self) -> bool:
        """Whether the kernel bounds its memory, by a control group."""
        return self._process.group is not None and self._process.group.populated

    def start(
        self,
        source: str,
        lent: socket.socket | None = None,
        variable: str | None = None,
        parent: str = "",
        comms: Sequence[dict[str, Any]] = (),
    ) -> None:
        """Begin to run a cell.

        Args:
            source: the cell.
            parent: an id for it, by which widgets name the cell whose outputs they take.
            comms: what is told to widgets before; a `comm_id` and `data` each.
            lent: a connected socket that the cell may use; this side may close its copy.
            variable: the environment variable that tells the cell the socket's descriptor.
        """
        if self.alive:
            try:
                told = {"parent": parent, "comms": list(comms)}
                request = {"do": "run", "source": source, "socket": variable, **told}
                self._connection.settimeout(SECONDS_TO_YIELD)
                wire.send(self._connection, request, *([lent.fileno()] if lent else []))
            except OSError:
                self._end()

    def allow(self, seconds: float) -> Callable[[], float]:
        """What is left of so many seconds, from now on, whenever that is asked.

        The time that this submission has stood in line for a processor is added where it is needed: that others keep the
        machine busy is not its fault. What was added to an earlier limit is not added again. It is not added without end, for a
        submission can make a crowd itself.
        """
        end, added = time.monotonic() + seconds, self._added

        def left() -> float:
            now = end - time.monotonic()
            if now > 0:
                return now
            self._added = max(self._added, waited := self._waited())
            return now + min(max(0.0, waited - added), (BUSY - 1) * seconds)

        return left

    def _waited(self) -> float:
        """Seconds, since it began."""
        try:
            return float(self._told()["waited"])
        except (OSError, EOFError, ValueError):
            return 0.0

    def _told(self) -> dict[str, Any]:
        """What the zygote says of the process now; answers for which nobody waited any more are passed over.

        Raises:
            TimeoutError, EOFError, ValueError: as `wire.receive`.
        """
        until = time.monotonic() + SECONDS_TO_TELL
        self._lease.sendall(wire.WAITED)
        self._unanswered += 1
        answer: dict[str, Any] = {}
        while self._unanswered:
            answer = wire.receive(self._lease, until)
            self._unanswered -= 1
        return answer

    def finish(self, seconds: float | None) -> CellRun:
        """Wait for the cell that was started, as long as `allow` says; what it did is kept, whatever happens.

        Raises:
            ZygoteFailed: the process ended because the zygote did, which is nobody's fault but the grader's.
            KilledByMachine: neither it nor the grader has killed it.
        """
        if not self.alive:
            return CellRun("died")
        end: End = "finished"
        try:
            if not self._answers(seconds):
                end = "interrupted"
                self._lease.sendall(wire.INTERRUPT)
                if not self._answers(SECONDS_TO_YIELD):
                    raise TimeoutError
            messages, reply = _read(wire.receive(self._connection))
            return CellRun(end, self._bounded(messages), reply)
        except TimeoutError:
            end = "killed"
        except (OSError, EOFError):
            end = self._how_it_died()
        except ValueError:
            end = "garbled"
        self._end()
        return CellRun(end)

    def _answers(self, seconds: float | None) -> bool:
        """Whether the process begins to say something in so many seconds, or ends."""
        if seconds is None:
            return bool(wait([self._connection]))
        left = self.allow(seconds)
        while (time_left := left()) > 0:
            if wait([self._connection], time_left):
                return True
        return bool(wait([self._connection], 0))

    def _how_it_died(self) -> End:
        """What the zygote says of a process that has ended, or the kernel of its group.

        Raises:
            ZygoteFailed: the zygote, which is asked something that it would answer at once, has ended.
            KilledByMachine: neither it nor the grader has killed it.
        """
        try:
            told = self._told()
            until = time.monotonic() + SECONDS_TO_END
            while not told["ended"] and time.monotonic() < until:  # its connection closes a moment before it has ended
                time.sleep(0.01)
                told = self._told()
        except TimeoutError:
            return "died"
        except (OSError, EOFError, ValueError):
            self._end()
            raise ZygoteFailed("the zygote ended while a submission ran") from None
        if told["greedy"] or (self._process.group is not None and self._process.group.overflowed):
            return "greedy"
        if told["shot"]:
            self._end()
            raise KilledByMachine("a submission's process was killed by the machine, or by somebody on it")
        return "died"

    def spend(self, size: int) -> bool:
        """Take so many bytes of the room for outputs; whether there was as much."""
        self._room -= size
        return self._room >= 0

    def _bounded(self, messages: list[Message]) -> list[Message]:
        """As many of these as there is room for in the notebook."""
        messages = [one for one in messages if one[0] not in COMMS or self._is_heard(one[1])]
        for number, (kind, content) in enumerate(messages):
            if (kind not in COMMS and not self.spend(len(json.dumps(content)))) or number >= MAX_MESSAGES:
                last = [one for one in messages[number:] if wire.decides(*one)]
                return [*messages[:number], ("stream", {"name": "stdout", "text": CUT}), *last[-1:]]
        return messages

    def _is_heard(self, content: dict[str, Any]) -> bool:
        """Whether there is room for what a widget says."""
        self._room_for_comms -= len(json.dumps(content))
        return self._room_for_comms >= 0

    def run(self, source: str, seconds: float | None = None) -> CellRun:
        """Run a cell that needs nothing from outside."""
        self.start(source)
        return self.finish(seconds)

    def files(self) -> dict[str, bytes | None]:
        """What the notebook changed beside itself, by relative path, none of which leads elsewhere; None for what it removed."""
        if not self.alive:
            return {}
        try:
            wire.send(self._connection, {"do": "files"})
            answer = wire.receive(self._connection, time.monotonic() + SECONDS_FOR_FILES)
            written, removed = answer["written"], answer["removed"]
            found: dict[str, bytes | None] = {
                name: base64.b64decode(written[name]) for name in list(written)[:MAX_FILES] if _stays(name)
            }
            return found | dict.fromkeys(self._sent & set(removed))
        except (OSError, EOFError, ValueError, TypeError, KeyError, AttributeError):
            self._end()
            return {}

    def close(self) -> None:
        """End the process, and all that it started."""
        self._end()
        self._leave_folder()

    def _end(self) -> None:
        self.alive = False
        self._process.close()

    def _leave_folder(self) -> None:
        if self._own_folder is not None:
            temporary.remove(self._own_folder)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _stays(name: str) -> bool:
    """Whether a relative path can be written below a folder without leaving it."""
    path = PurePosixPath(name)
    return (
        bool(path.parts)
        and not path.is_absolute()
        and len(path.parts) <= 8
        and all(part not in ("", ".", "..") and len(part) <= 200 and "\0" not in part for part in path.parts)
    )


def _read(answer: Any) -> tuple[list[Message], dict[str, Any]]:
    """The messages and the reply in what a submission's process sent.

    Raises:
        ValueError: it is not of the form that `inside.serving` sends.
    """
    if not isinstance(answer, dict) or set(answer) != {"messages", "reply"} or not isinstance(answer["messages"], list):
        raise ValueError("no messages and reply")
    messages = []
    for message in answer["messages"]:
        if not isinstance(message, list) or len(message) != 2 or not isinstance(message[0], str):
            raise ValueError("a message without a type")
        kind, content = message
        if kind not in FORMS or not isinstance(content, dict):
            continue  # no notebook holds it
        try:
            messages.append((kind, FORMS[kind](content)))
        except ValueError:
            if "data" not in content:
                raise
            continue  # a display that no notebook can hold is not shown
    return messages, _reply(answer["reply"])


def _stream(content: dict[str, Any]) -> dict[str, Any]:
    name = content.get("name")
    if name not in ("stdout", "stderr"):
        raise ValueError("no such stream")
    return {"name": name, "text": _text(content.get("text"))}


def _display(content: dict[str, Any]) -> dict[str, Any]:
    data, metadata, transient = content.get("data"), content.get("metadata"), content.get("transient")
    if not isinstance(data, dict) or not isinstance(metadata or {}, dict):
        raise ValueError("no data")
    label = transient.get("display_id") if isinstance(transient, dict) else None
    read: dict[str, Any] = {
        "data": {
            _text(kind): _plain(value) if kind.endswith("json") else _lines(value) for kind, value in data.items()
        },
        "metadata": _plain(metadata or {}),
        "transient": {"display_id": label} if isinstance(label, str) else {},
    }
    return read


def _result(content: dict[str, Any]) -> dict[str, Any]:
    return {**_display(content), "execution_count": _count(content.get("execution_count"))}


def _error(content: dict[str, Any]) -> dict[str, Any]:
    lines = content.get("traceback")
    if not isinstance(lines, list):
        raise ValueError("no traceback")
    return {
        "ename": _text(content.get("ename"))[:MAX_ERROR_TEXT],
        "evalue": _text(content.get("evalue"))[:MAX_ERROR_TEXT],
        "traceback": [_text(line)[:MAX_ERROR_TEXT] for line in _ends(lines)],
    }


def _ends(lines: list[Any]) -> list[Any]:
    """The first and the last of a traceback: nbgrader keeps even fewer of both, and the last one names the error."""
    half = MAX_ERROR_LINES // 2
    return lines if len(lines) <= MAX_ERROR_LINES else [*lines[:half], ERROR_CUT, *lines[-half:]]


def _clear(content: dict[str, Any]) -> dict[str, Any]:
    return {"wait": bool(content.get("wait"))}


def _comm(content: dict[str, Any]) -> dict[str, Any]:
    data, buffers, target = content.get("data"), content.get("buffers"), content.get("target_name")
    if not isinstance(data, dict) or not isinstance(buffers, list):
        raise ValueError("no data")
    said = {"comm_id": _text(content.get("comm_id"))[:MAX_ID], "data": _plain(data), "buffers": [*map(_text, buffers)]}
    return said if target is None else {**said, "target_name": _text(target)}


COMMS = ("comm_open", "comm_msg", "comm_close")
FORMS = {
    **dict.fromkeys(COMMS, _comm),
    "stream": _stream,
    "display_data": _display,
    "update_display_data": _display,
    "execute_result": _result,
    "error": _error,
    "clear_output": _clear,
}


def _reply(reply: Any) -> dict[str, Any]:
    if not isinstance(reply, dict) or reply.get("status") not in ("ok", "error"):
        raise ValueError("no reply")
    read: dict[str, Any] = {"status": reply["status"], "execution_count": _count(reply.get("execution_count"))}
    return {**read, **_error(reply)} if reply["status"] == "error" else read


def _count(number: Any) -> int | None:
    return number if type(number) is int and 0 <= number < 1 << 31 else None


def _plain(value: Any, depth: int = MAX_DEPTH) -> Any:
    """JSON that can be written to a file, whatever is in it."""
    if depth < 0:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {_text(key): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, depth - 1) for item in value]
    return _text(value) if isinstance(value, str) else value


def _lines(text: Any) -> str:
    """A string, which notebooks may also hold as a list of its lines."""
    return "".join(map(_text, text)) if isinstance(text, list) else _text(text)


def _text(text: Any) -> str:
    """A string that can be written to a file: half characters are replaced."""
    if not isinstance(text, str):
        raise ValueError("no text")
    return text if text.isascii() else text.encode(errors="replace").decode()
