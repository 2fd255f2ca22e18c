"""Several processes that compute together: each calls the same function with its own rank.

They are forked, so that a function of a notebook needs no way to travel, and meet over loopback through
`torch.distributed` (backend gloo). None of them outlives the call that started it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NoReturn

from course.trial.link import SocketLink, send_fitting
from course.trial.observing import OUT_OF_STEP, Account, Observation, account, watch
from course.trial.values import Malformed, Value, map_leaves, native

if TYPE_CHECKING:  # takes seconds to import, and `course.trial.harnesses` is imported by every notebook
    import torch

RankFunction = Callable[..., Any]
Prepare = Callable[..., tuple[RankFunction, tuple[Any, ...]]]
"""From what a rank is told to what it calls, and with what."""
How = Callable[..., tuple[RankFunction, tuple[Any, ...]]]
"""The same, from a function, a rank and p, and what all ranks are told."""

LOOPBACK = "lo" if sys.platform == "linux" else "lo0"
MEETING_SECONDS = 10.0  # to find each other, and to wait in one collective
MOST_RANKS = 8  # at once, where some wait: each has five threads, of the 96 that a submission may have
GRACE_SECONDS = 2.0  # that the others have when one rank is through
MAX_PRINTED = 10_000

WAITED = (
    "waited in a collective that was not completed: another rank had returned, or raised, or was in another collective, "
    "or had brought a tensor of another size"
)
LATE = "was not through in time"
DIED = "ended without a word"
MISMATCH = "broke down in a collective: another rank was in another one, or had brought a tensor of another size or number type"


def held_up(observed: Observation) -> bool:
    """Whether ranks waited for each other until their time was over: that takes as long on an idle machine as on a busy one."""
    raised = observed.raised
    return raised is not None and raised.kind == OUT_OF_STEP and (WAITED in raised.message or LATE in raised.message)


@dataclass(frozen=True)
class Rank:
    """What one rank did.

    Attributes:
        observed: its result, or what it raised; empty where it was lost.
        collectives: how many collectives it took part in.
        sums: how many of them were all-reduces.
        printed: what it printed.
        lost: why there is no result, in words; "" where the function returned or raised by itself.
    """

    observed: Account = field(default_factory=Account)
    collectives: int = 0
    sums: int = 0
    printed: str = ""
    lost: str = ""

    @property
    def trouble(self) -> str:
        """What went wrong, in words, or ""."""
        raised = self.observed.raised
        at = f" at line {raised.line}, `{raised.source}`" if raised and raised.source else ""
        return self.lost or (f"raised {raised.kind}: {raised.message}{at}" if raised else "")

    def to_value(self) -> Value:
        """This rank as a tree that can be packed."""
        return {**vars(self), "observed": self.observed.to_value()}

    @classmethod
    def from_value(cls, tree: Value) -> Rank:
        """The rank in a tree.

        Raises:
            ValueError: the tree is of another form.
        """
        form = {"observed": dict, "collectives": int, "sums": int, "printed": str, "lost": str}
        if not isinstance(tree, dict) or {name: type(part) for name, part in tree.items()} != form:
            raise ValueError("not a rank")
        return cls(**{**tree, "observed": Account.from_value(tree["observed"])})


def run(function: RankFunction, p: int, *arguments: Any, seconds: float = 20.0) -> list[Any]:
    """Call `function(rank, p, *arguments)` in p processes at once.

    Args:
        function: what each process calls; in it, `torch.distributed` has a process group of all p.
        p: how many processes.
        arguments: what each is given, each its own copy.
        seconds: when those that are not through are ended.

    Returns:
        What each returned, in the order of ranks: numbers, texts, arrays, tensors, and lists, tuples and dictionaries of
        them, 2 MiB at most. What they printed is printed.

    Raises:
        RuntimeError: a rank raised, died, waited in vain, or was not through in time. The message says which.
    """
    ranks = trials(function, p, arguments, seconds)
    for rank, one in enumerate(ranks):
        for line in one.printed.splitlines():
            print(f"rank {rank}: {line}")
    troubles = [f"rank {rank} {one.trouble}" for rank, one in enumerate(ranks) if one.trouble]
    if troubles:
        raise RuntimeError("; ".join(troubles))
    return [map_leaves(native, one.observed.result) for one in ranks]


def show(function: RankFunction, p: int, *arguments: Any) -> None:
    """Print what p ranks printed and returned, or what went wrong, as `run` runs them. Does nothing while nbgrader runs."""
    if os.environ.get("NBGRADER_EXECUTION"):
        return
    began = time.monotonic()
    ranks = trials(function, p, arguments)
    for rank, one in enumerate(ranks):
        for line in one.printed.splitlines():
            print(f"rank {rank}: {line}")
    for rank, one in enumerate(ranks):
        print(f"rank {rank}", one.trouble or f"returned {map_leaves(native, one.observed.result)}")
    if any(one.trouble for one in ranks):
        print(f"({time.monotonic() - began:.0f} s)")


def trials(
    function: RankFunction, p: int, arguments: tuple[Any, ...], seconds: float = 20.0, how: How | None = None
) -> list[Rank]:
    """What each of p ranks did, in order. As `run`, and nothing is raised.

    Args:
        how: makes what a rank calls, and the arguments of that, of `function`, the rank, p and `arguments`; None calls `function` as `run` does.

    Raises:
        OSError: the machine cannot fork processes at all.
    """
    how = how or _plainly
    if _in_threads():
        return _simulate(function, p, arguments, how)
    if not hasattr(os, "fork"):
        raise OSError("this machine cannot fork processes; Linux and macOS can, and Windows in its subsystem for Linux")
    import torch.distributed  # noqa: F401  once here, and not again in each process

    waiting: dict[int, _Team] | None = getattr(_here, "teams", None)
    team = waiting.pop(p, None) if waiting else None
    whole = False
    try:
        if team is None or not team.begins(function, how, arguments):
            if team is not None:
                team.dismiss()
            if waiting and sum(waiting) + p > MOST_RANKS:
                _dismiss_all(waiting)
            team = _Team(function, p, arguments, how, list(waiting.values()) if waiting else [])
        found, whole = team.gather(time.monotonic() + seconds)
        return found
    finally:
        if team is not None and whole and waiting is not None:
            waiting[p] = team
        elif team is not None:
            team.dismiss()


@contextlib.contextmanager
def staying() -> Iterator[None]:
    """Within, ranks that are through wait for the next call of the same function by as many: to start them takes longer than toys compute.

    It is only for calls whose arguments are values. The first of them is always made by ranks that have just started.
    """
    if getattr(_here, "teams", None) is not None:
        yield
        return
    _here.teams = {}
    try:
        yield
    finally:
        teams, _here.teams = _here.teams, None
        _dismiss_all(teams)


def _dismiss_all(teams: dict[int, _Team]) -> None:
    while teams:
        teams.popitem()[1].dismiss()


def _plainly(function: RankFunction, rank: int, p: int, *arguments: Any) -> tuple[RankFunction, tuple[Any, ...]]:
    return partial(function, rank, p), arguments


# ------------------------------------------------------------------------------------------------------- processes


class _Team:
    """p processes that have met, and call a function when they are told to.

    Args:
        arguments: of the first call; they come along into the processes, and may be anything.
        others: teams that wait meanwhile.
    """

    def __init__(
        self, function: RankFunction, p: int, arguments: tuple[Any, ...], how: How, others: Sequence[_Team]
    ) -> None:
        self._function, self._how = function, how
        self._folder = tempfile.TemporaryDirectory()
        self._meeting = Path(self._folder.name) / "meeting"
        self._ranks: list[tuple[int, SocketLink]] = []
        try:
            for rank in range(p):
                foreign = [link for team in (*others, self) for _, link in team._ranks]
                prepare = partial(how, function, rank, p)
                self._ranks.append(_start(prepare, rank, p, arguments, self._meeting, foreign))
        except BaseException:
            self.dismiss()
            raise

    def begins(self, function: RankFunction, how: How, arguments: tuple[Any, ...]) -> bool:
        """Have the function called once more, if it is the one that this team calls; whether it is."""
        if function is not self._function or how is not self._how:
            return False
        with contextlib.suppress(OSError, TypeError, ValueError):  # one has ended, or the arguments are no values
            for _, link in self._ranks:
                link.send(arguments)
            return True
        return False

    def gather(self, end: float) -> tuple[list[Rank], bool]:
        """What each rank tells, and whether they are together still, and can call again."""
        told = _gather(self._ranks, end)
        found = [_diagnosed(one, _last_words(self._meeting, rank)) for rank, (one, _) in enumerate(told)]
        stay = all(stays and not one.lost for one, stays in told)
        return found, stay and len({one.collectives for one in found}) == 1

    def dismiss(self) -> None:
        """End all of them, and what they have started."""
        for pid, link in self._ranks:
            link.close()
            for end_all in (os.killpg, os.kill):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    end_all(pid, signal.SIGKILL)
        for pid, _ in self._ranks:
            os.waitpid(pid, 0)
        self._ranks = []
        self._folder.cleanup()


def _start(
    prepare: Prepare, rank: int, p: int, arguments: tuple[Any, ...], meeting: Path, foreign: Sequence[SocketLink]
) -> tuple[int, SocketLink]:
    near, far = socket.socketpair()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of Jupyter's stay behind, and are not needed
        pid = os.fork()
    if pid:
        far.close()
        return pid, SocketLink(near)
    try:
        os.setpgid(0, 0)  # with what it may start itself, so that all of it can be ended
        near.close()
        for other in foreign:
            other.close()
        _here.teams = None
        link = SocketLink(far)
        orders: SimpleQueue[Any] = SimpleQueue()
        orders.put(arguments)
        threading.Thread(target=_heed, args=[link, orders], daemon=True).start()
        _live(prepare, rank, p, orders, meeting, link)
    finally:
        os._exit(0)


def _heed(link: SocketLink, orders: SimpleQueue[Any]) -> NoReturn:
    """Hear what is to be called next; and end this process when its parent ends, however that came about."""
    with contextlib.suppress(OSError, EOFError, Malformed):
        while True:
            orders.put(link.receive())
    os._exit(1)


def _live(prepare: Prepare, rank: int, p: int, orders: SimpleQueue[Any], meeting: Path, link: SocketLink) -> None:
    """The life of a rank: meet the others; then call the function, tell the parent, and wait, over and over."""
    import torch
    from torch import distributed

    torch.set_num_threads(1)  # the threads of the parent's pool were not forked
    os.environ["GLOO_SOCKET_IFNAME"] = LOOPBACK
    faulthandler.disable()  # gloo aborts where it cannot go on, and says why itself
    os.dup2(os.open(_last_words(meeting, rank), os.O_CREAT | os.O_WRONLY), 2)
    try:
        with _caught(io.StringIO()):
            patience = timedelta(seconds=MEETING_SECONDS)
            store = distributed.FileStore(str(meeting), p)  # type: ignore[attr-defined]
            store.set_timeout(patience)
            distributed.init_process_group("gloo", store=store, rank=rank, world_size=p, timeout=patience)
    except Exception as error:
        _tell(link, Rank(lost=f"could not meet the others over {LOOPBACK}: {str(error)[:300]}"), stays=False)
        _heed(link, orders)
    group: Any = distributed.group.WORLD  # kept, since the function may destroy it when it is through
    sums, own, threads = _count_sums(), os.getpid(), threading.active_count()
    while True:
        call, arguments = prepare(*orders.get())
        summed, met, printed = len(sums), collectives(group), io.StringIO()
        with _caught(printed):
            observed = account(call, arguments)
        if os.getpid() != own:
            os._exit(0)  # the function has forked, and this is no rank
        told = Rank(
            observed,
            collectives(group) - met,
            len(sums) - summed,
            printed.getvalue()[:MAX_PRINTED],
            WAITED if _in_vain(observed) else "",
        )
        # A rank that left now could cut off what the others still read; but what it has begun beside that ends with it.
        _tell(link, told, distributed.group.WORLD is group and threading.active_count() == threads and _is_childless())


def _is_childless() -> bool:
    """Whether nothing runs that this process has started."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return False
    return True


@contextlib.contextmanager
def _caught(printed: io.StringIO) -> Iterator[None]:
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        yield


def collectives(group: Any = None) -> int:
    """How many collectives this rank has taken part in, in its first group if no other is given: gloo numbers them."""
    from torch import distributed

    asked: Any = group or distributed.group.WORLD
    return int(asked._get_sequence_number_for_group())


def _count_sums() -> list[None]:
    """A list that grows with every all-reduce of this process, by whatever name it is called."""
    from torch import distributed

    sums: list[None] = []
    plain = distributed.ProcessGroup.allreduce

    def allreduce(*arguments: Any, **keywords: Any) -> Any:
        sums.append(None)
        return plain(*arguments, **keywords)

    distributed.ProcessGroup.allreduce = allreduce  # type: ignore[method-assign]  # in this process, which ends here
    return sums


def _last_words(meeting: Path, rank: int) -> Path:
    """Where gloo writes why it ends a process."""
    return meeting.with_name(f"rank {rank}")


def _diagnosed(one: Rank, words: Path) -> Rank:
    if one.lost != DIED or not words.exists():
        return one
    with words.open(encoding="utf-8", errors="replace") as file:
        return replace(one, lost=MISMATCH) if "gloo::EnforceNotMet" in file.read(MAX_PRINTED) else one


def _in_vain(observed: Account) -> bool:
    raised = observed.raised
    return raised is not None and raised.kind == "RuntimeError" and "gloo" in raised.message


def _tell(link: SocketLink, rank: Rank, stays: bool) -> None:
    fitting = (replace(rank, observed=told).to_value() for told in rank.observed.shorter())
    send_fitting(link, ({"rank": one, "stays": stays} for one in fitting))


def _gather(started: list[tuple[int, SocketLink]], end: float) -> list[tuple[Rank, bool]]:
    """What each rank tells, and whether it stays. When the first is through the others have little time left; then it goes, and they notice."""
    from multiprocessing.connection import wait  # a browser's Python has none, and checks in it need none

    found: dict[int, tuple[Rank, bool]] = {}
    waiting: dict[Any, tuple[int, SocketLink]] = {
        link.connection: (rank, link) for rank, (_, link) in enumerate(started)
    }
    patience = end
    while waiting:
        ready = wait(waiting, max(patience - time.monotonic(), 0.0))
        for connection in ready:
            rank, link = waiting.pop(connection)
            link.timeout = max(end - time.monotonic(), GRACE_SECONDS)  # what it has begun to tell is heard to its end
            try:
                found[rank] = _heard(link.receive())
            except TimeoutError:
                found[rank] = Rank(lost=LATE), False
            except (EOFError, OSError, Malformed):
                found[rank] = Rank(lost=DIED), False
            patience = min(patience, time.monotonic() + GRACE_SECONDS)
        if not ready and patience < end:
            for rank in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(started[rank][0], signal.SIGKILL)
            patience = end = min(end, time.monotonic() + GRACE_SECONDS)
        elif not ready:
            found |= dict.fromkeys((rank for rank, _ in waiting.values()), (Rank(lost=LATE), False))
            break
    return [found[rank] for rank in range(len(started))]


def _heard(told: Value) -> tuple[Rank, bool]:
    try:
        return Rank.from_value(told["rank"]), told["stays"] is True
    except (ValueError, TypeError, KeyError):
        return Rank(lost=DIED), False


# --------------------------------------------------------------------------------------------- threads in their place


class _Meeting:
    """Where the threads of a simulated run lay down what they have.

    One of them runs at a time, and the next when it waits or leaves: threads that want the interpreter at once hinder each other.
    """

    def __init__(self, p: int) -> None:
        self.p = p
        self.parts: dict[int, torch.Tensor] = {}
        self.met: list[torch.Tensor] = []
        self.rounds = 0
        self.left = False
        self._here = [*range(p)]
        self._turns = [threading.Lock() for _ in range(p)]
        for turn in self._turns[1:]:
            turn.acquire()

    def enter(self, rank: int) -> None:
        """Wait for one's first turn."""
        self._turns[rank].acquire()

    def exchange(self, rank: int, part: torch.Tensor) -> list[torch.Tensor]:
        """What every rank has brought, in the order of ranks."""
        mine = self.rounds
        self.parts[rank] = part.clone()
        if len(self.parts) == self.p:
            self.met, self.parts = [self.parts[other] for other in range(self.p)], {}
            self.rounds += 1
        while self.rounds == mine:
            if self.left:
                raise _InVain
            self._hand_on(rank)
            self._turns[rank].acquire()
        return self.met

    def leave(self, rank: int) -> None:
        self.left = True
        self._here.remove(rank)
        if self._here:
            self._hand_on(rank)

    def _hand_on(self, rank: int) -> None:
        following = min(self._here, key=lambda other: (other - rank - 1) % self.p)
        self._turns[following].release()


class _InVain(RuntimeError):
    """A rank waits for one that has left."""


_here = threading.local()


@contextlib.contextmanager
def simulated() -> Iterator[None]:
    """Within, `trials` of this thread uses threads in place of processes, and what they call is `all_reduce` below."""
    before, _here.threads = _in_threads(), True
    try:
        yield
    finally:
        _here.threads = before


def _in_threads() -> bool:
    return getattr(_here, "threads", False)


def all_reduce(part: torch.Tensor) -> None:
    """`torch.distributed.all_reduce`, also in a simulated rank: add up over the ranks, in place."""
    place: _Place | None = getattr(_here, "place", None)
    if place is None:
        from torch import distributed

        distributed.all_reduce(part)
        return
    place.sums += 1
    first, *others = place.exchange(part)
    part.copy_(sum(others, first))


def all_gather(parts: list[torch.Tensor], part: torch.Tensor) -> None:
    """`torch.distributed.all_gather`, also in a simulated rank: every rank's part, into a list of tensors like it."""
    place: _Place | None = getattr(_here, "place", None)
    if place is None:
        from torch import distributed

        distributed.all_gather(parts, part)
        return
    for mine, brought in zip(parts, place.exchange(part), strict=True):
        mine.copy_(brought)


@dataclass
class _Place:
    """A rank's place at a meeting, and what it has done there."""

    meeting: _Meeting
    rank: int
    collectives: int = 0
    sums: int = 0

    def exchange(self, part: torch.Tensor) -> list[torch.Tensor]:
        self.collectives += 1
        return self.meeting.exchange(self.rank, part)


def _simulate(function: RankFunction, p: int, arguments: tuple[Any, ...], how: How) -> list[Rank]:
    meeting = _Meeting(p)
    found: dict[int, Rank] = {}

    def live(rank: int) -> None:
        place = _here.place = _Place(meeting, rank)
        meeting.enter(rank)
        try:
            observed = watch(*how(function, rank, p, *arguments))
        finally:
            meeting.leave(rank)
        in_vain = observed.raised is not None and observed.raised.kind == _InVain.__name__
        found[rank] = Rank(observed, place.collectives, place.sums, lost=WAITED if in_vain else "")

    threads = [threading.Thread(target=live, args=[rank], daemon=True) for rank in range(p)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[rank] for rank in range(p)]
