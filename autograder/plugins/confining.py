"""Work on hostile text in a process of its own, which may use so much processor time and memory and no more."""

from __future__ import annotations

import gc
import multiprocessing
import pickle
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from autograder.engine.inside.linux import die_with_parent

PROCESSOR_SECONDS = 60
MEMORY = 1 << 30  # bytes above what the process begins with
WALL_SECONDS = 1800  # for one that waits for something, and uses no processor time

_FORK = multiprocessing.get_context("fork")  # what is warm here is warm there

Value = TypeVar("Value")


class Exceeded(RuntimeError):
    """The work needed more than it may have; the message says of what."""


class OutOfTime(BaseException):
    """A piece of work has used up its processor time. Nothing that catches `Exception` catches it."""


def confined(work: Callable[[], Value], seconds: int = PROCESSOR_SECONDS) -> Value:
    """Do some work in a fork of this process, with limits; give back what it returns, which must be picklable.

    Args:
        seconds: of processor time that it may use.

    Raises:
        Exceeded: it used up its processor time or memory, or its process died.
        Exception: what the work itself raised.
    """
    ours, theirs = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=_work, args=(work, seconds, theirs), daemon=True)
    with ours:
        process.start()
        theirs.close()
        try:
            done, value = _received(ours)
        except (EOFError, OSError):
            process.join()
            raise Exceeded(_why(process.exitcode)) from None
        finally:
            process.kill()
            process.join()
    if not done:
        raise value
    return value


def _received(connection: Connection) -> tuple[bool, Any]:
    if not connection.poll(WALL_SECONDS):
        raise Exceeded(f"it takes more than {WALL_SECONDS // 60} minutes")
    return connection.recv()


def _why(exitcode: int | None) -> str:
    if exitcode == -signal.SIGXCPU:
        return "it takes too much time"
    return f"the process that made it ended ({exitcode})"


def _work(work: Callable[[], Any], seconds: int, theirs: Connection) -> None:
    with suppress(OSError, AttributeError):  # Linux alone knows how
        die_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends this
    gc.disable()  # it ends before that pays, and what is shared with the parent stays shared
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_CPU, seconds)
    with suppress(OSError):  # no /proc, no bound
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        _limit(resource.RLIMIT_AS, pages * resource.getpagesize() + MEMORY)
    try:
        answer = True, work()
    except MemoryError:
        answer = False, Exceeded(f"it takes more than {MEMORY >> 20} MiB of memory")
    except RecursionError:
        answer = False, Exceeded("it is nested too deeply")
    except Exception as error:
        answer = False, _travelling(error)
    theirs.send(answer)


def _limit(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    with suppress(ValueError, OSError):  # a system that has no such limit
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _travelling(error: Exception) -> Exception:
    """An error that arrives, with the lines that it came from."""
    error.add_note(traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever its class does when it is copied
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


@contextmanager
def processor_time(seconds: float) -> Iterator[None]:
    """In a confined process: what is done meanwhile may use so much processor time, or ends with `OutOfTime`.

    Where it does not come to an end soon after that, in a library that cannot be interrupted, its process ends.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    signal.signal(signal.SIGPROF, _out_of_time)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (min(soft, int(time.process_time() + seconds) + 2), hard))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _out_of_time(*_: object) -> None:
    raise OutOfTime
