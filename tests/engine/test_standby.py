"""The next submission's process stands ready while one is at work, and nothing of one reaches the other."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.bench.measuring import descendants
from autograder.engine import Session, Zygote, discard, opened
from tests.support.waiting import until

BUSY = """import os, pathlib, sys
pathlib.Path('note.txt').write_text('mine')
pathlib.Path('/tmp/note.txt').write_text('mine')
pathlib.Path(pathlib.Path.home(), 'note.txt').write_text('mine')
os.environ['NOTE'] = sys.note = 'mine'"""
LEFT = """import os, pathlib, sys
found = [str(p) for p in ('note.txt', '/tmp/note.txt', pathlib.Path.home() / 'note.txt') if pathlib.Path(p).exists()]
print(found, os.environ.get('NOTE'), hasattr(sys, 'note'), os.environ.get('WHO'), pathlib.Path.cwd().name, sorted(os.listdir()))"""


@pytest.fixture
def own() -> Iterator[Zygote]:
    with Zygote(walls="both") as zygote:
        yield zygote
        discard()


def begun(zygote: Zygote, who: str) -> Session:
    return opened(zygote.place, {f"{who}.txt": b""}, {"WHO": who}, f"{who}/work", [])


def printed(session: Session, source: str) -> str:
    return "".join(content["text"] for kind, content in session.run(source).messages if kind == "stream")


def processes(zygote: Zygote) -> list[int]:
    """Of the submissions that are open or awaited: those that are first in a world of their own."""
    return [pid for pid in descendants(zygote.pid) if not descendants(pid) and world(pid) != world(parent(pid))]


def world(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return ""  # it has ended


def parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return pid


def test_it_stands_ready_and_is_taken(own: Zygote) -> None:
    with begun(own, "ada"):
        assert until(lambda: len(processes(own)) == 2)
        awaited = set(processes(own))
    assert until(lambda: len(processes(own)) == 1)
    (ready,) = processes(own)
    assert ready in awaited
    with begun(own, "ben"):
        assert ready in processes(own)


def test_what_one_does_while_the_other_stands_ready_stays_its_own(own: Zygote) -> None:
    with begun(own, "ada") as ada:
        assert ada.run(BUSY).end == "finished"
        with begun(own, "ben") as ben:
            assert ada.run(BUSY).end == "finished"
            assert printed(ben, LEFT) == "[] None False ben work ['ben.txt']\n"


def test_one_that_was_killed_while_it_stood_ready_is_nobodys_loss(own: Zygote) -> None:
    with begun(own, "ada"):
        assert until(lambda: len(processes(own)) == 2)
    assert until(lambda: len(processes(own)) == 1)
    os.kill(processes(own)[0], signal.SIGKILL)
    with begun(own, "ben") as ben:
        assert printed(ben, "print(1 + 1)") == "2\n"


def test_it_is_of_the_zygote_that_is_asked(own: Zygote) -> None:
    with begun(own, "ada"), Zygote(["course"], walls="both") as other:
        with begun(other, "ben") as ben:
            assert printed(ben, "import sys; print(1)") == "1\n"
            assert until(lambda: len(processes(own)) == 1)
        discard()


def test_none_is_left_behind(own: Zygote) -> None:
    with begun(own, "ada"):
        assert until(lambda: len(processes(own)) == 2)
        assert until(lambda: len(set(map(parent, processes(own)))) == 1)
        forking = parent(processes(own)[0])
    discard()
    assert until(lambda: descendants(forking) == [])
