"""The processes that mark submissions: those of this machine, or those of a Dask cluster."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.context import BaseContext
from multiprocessing.util import Finalize
from typing import Any, Protocol, TypeVar

from autograder.engine import discard, temporary
from autograder.problems import FAILED, Problem

ATTEMPTS = 3
SECONDS_TO_CONNECT = 15

Task = TypeVar("Task", bound=Hashable)


class Crew(Protocol):
    """Some processes, each of which does one thing at a time."""

    def size(self) -> int:
        """How many calls may be under way."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begin a call; there are never more under way than `size()`."""

    def died(self, error: BaseException) -> bool:
        """Whether an error says that the process died that made the call, and that another try is worth it."""

    def close(self) -> None:
        """Let go of the processes, whatever they are doing."""


def in_parallel(
    crew: Crew,
    tasks: Iterable[Task],
    begin: Callable[[Task], tuple[Any, ...]],
    waiting_for: Callable[[Mapping[Task, float]], None] = lambda _: None,
) -> Iterator[tuple[Task, Any, BaseException | None]]:
    """Do tasks in parallel; yield each with what came of it, or with the error that did, in the order in which they end.

    A task whose process dies is tried again, twice; nothing else is done twice.

    Args:
        crew: who does them.
        tasks: what there is to do.
        begin: makes of a task the function to call and its arguments. It is called just before; its errors are the task's.
        waiting_for: is told each second which tasks are under way, and since when by the monotonic clock.

    Raises:
        Problem: the cluster is gone.
    """
    waiting = list(reversed(list(tasks)))
    deaths: dict[int, int] = {}
    running: dict[Future[Any], Task] = {}
    since: dict[Task, float] = {}
    while waiting or running:
        while waiting and len(running) < max(1, crew.size()):
            task = waiting.pop()
            try:
                function, *arguments = begin(task)
            except OSError as problem:
                yield task, None, problem
                continue
            running[crew.submit(function, *arguments)] = task
            since[task] = time.monotonic()
        waiting_for({task: since[task] for task in running.values()})
        for future in wait(running, timeout=1, return_when=FIRST_COMPLETED).done:
            task = running.pop(future)
            if future.cancelled():
                raise Problem("The cluster is gone. What was finished is kept: run the same command again.", FAILED)
            error = future.exception()
            if error is not None and crew.died(error):
                deaths[id(task)] = deaths.get(id(task), 0) + 1
                if deaths[id(task)] < ATTEMPTS:
                    waiting.append(task)
                    continue
            yield task, None if error else future.result(), error


# ------------------------------------------------------------------------------------------------------ this machine


@dataclass
class _Lane:
    """One process, so that a death is nobody else's."""

    executor: ProcessPoolExecutor
    process: Future[int]
    call: Future[Any] | None = None


class Local:
    """Processes of this machine, which have imported what they need before they begin.

    They are forked from this one where it has a single thread, so that nothing is imported twice; else, and where one has died later,
    from a server that imports for itself.

    Args:
        jobs: how many; as many as this process may use cores, if None.
        preload: modules to import once.
        start: called in each process before anything else, with `arguments`.
    """

    def __init__(self, jobs: int | None, preload: list[str], start: Callable[..., None], *arguments: Any) -> None:
        self._jobs = jobs or cores()
        self._start = (start, *arguments)
        self._lanes: list[_Lane] = []
        _meet_where_nothing_stays()
        self._server = multiprocessing.get_context("forkserver")
        self._server.set_forkserver_preload(preload)
        if sys.platform == "linux" and threading.active_count() == 1:
            for name in preload:
                import_module(name)
            for _ in range(self._jobs):
                self._add(multiprocessing.get_context("fork"))

    def size(self) -> int:
        return self._jobs

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        for _ in range(ATTEMPTS):
            lane = self._idle()
            try:
                lane.call = lane.executor.submit(function, *arguments)
            except BrokenExecutor:  # it died with nothing to do
                self._lanes.remove(lane)
            else:
                return lane.call
        raise Problem("Processes that should mark die as soon as they start: see what they printed above.", FAILED)

    def died(self, error: BaseException) -> bool:
        return isinstance(error, BrokenExecutor)

    def close(self) -> None:
        for lane in self._lanes:
            with suppress(Exception):  # it may be dead already
                if lane.call and not lane.call.done():
                    os.kill(lane.process.result(timeout=30), signal.SIGKILL)
            lane.executor.shutdown(wait=True, cancel_futures=True)
        temporary.reclaim()  # what processes left behind that died

    def _idle(self) -> _Lane:
        for lane in list(self._lanes):
            if lane.call is None or lane.call.done():
                if lane.call is None or not isinstance(lane.call.exception(), BrokenExecutor):
                    return lane
                lane.executor.shutdown(wait=False)
                self._lanes.remove(lane)
        return self._add(self._server)

    def _add(self, context: BaseContext) -> _Lane:
        executor = ProcessPoolExecutor(1, context, _enter, self._start)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # of forks beside threads: those of lanes before it wait for work
            lane = _Lane(executor, executor.submit(os.getpid))
        self._lanes.append(lane)
        return lane


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _meet_where_nothing_stays() -> None:
    """Have multiprocessing keep its sockets in a folder that goes even if this process is killed; its own would stay."""
    settings = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    if "tempdir" not in settings:
        settings["tempdir"] = str(temporary.make())


def _enter(start: Callable[..., None], *arguments: Any) -> None:
    """A process that leaves Ctrl-C to the main one, and does not outlive it."""
    signal.signal(signal.SIGINT, lambda *_: None)  # not SIG_IGN, which kernels would inherit
    Finalize(None, discard, exitpriority=0)  # such a process ends without `atexit`
    gc.freeze()  # what it shares with others is not to be copied
    threading.Thread(target=_follow, daemon=True).start()
    start(*arguments)


def _follow() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        temporary.remove_all()
        os._exit(1)


# ----------------------------------------------------------------------------------------------------- a Dask cluster


class Cluster:
    """The workers of a Dask cluster; `autograder` and `course` must be installed there, in the same version.

    Dask itself tries again what a dead worker was doing, as often as its scheduler's setting
    `distributed.scheduler.allowed-failures` says, and gives up a call that keeps killing workers.

    Args:
        address: the scheduler's, "tcp://10.0.0.1:8786".

    Raises:
        Problem: Dask is not installed, no scheduler answers, or it has no workers.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise Problem("--scheduler needs Dask: pip install 'attention-in-matrices[cluster]'.") from None
        try:
            self._client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            reason = f"{error or type(error).__name__}"
            raise Problem(
                f"No scheduler answers at {address}: {reason}. Start one with `dask scheduler`, and give the address that it prints."
            ) from None
        try:
            self._client.wait_for_workers(1, timeout=SECONDS_TO_CONNECT)
        except TimeoutError:
            self._client.close()
            raise Problem(
                f"The scheduler at {address} has no workers: start some with `dask worker {address}`."
            ) from None
        self._executor: Executor = self._client.get_executor(pure=False)

    def size(self) -> int:
        return len(self._client.scheduler_info(n_workers=-1)["workers"])

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self._executor.submit(function, *arguments)

    def died(self, error: BaseException) -> bool:
        return False

    def close(self) -> None:
        self._executor.shutdown(wait=False)
        self._client.close()
