"""Memory of every kind counts, wherever a submission keeps it: whoever takes more than there is for one is ended."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.engine import Session, Zygote
from autograder.engine.inside.walls import Limits
from tests.support.hoards import HOARDS, HONEST

ROOM = 300 << 20


@pytest.fixture(scope="module")
def small() -> Iterator[Zygote]:
    with Zygote(walls="both", limits=Limits(together=ROOM)) as zygote:
        yield zygote


@pytest.mark.parametrize("what", HOARDS)
def test_what_is_hoarded_counts(small: Zygote, what: str) -> None:
    with Session(small.place) as session:
        assert session.run(HOARDS[what], 60).end == "greedy"


def test_what_honest_work_takes_is_there_and_comes_back(small: Zygote) -> None:
    with Session(small.place) as session:
        assert session.run(HONEST + "import time\ntime.sleep(2)", 60).reply["status"] == "ok"
        again = "for file in files:\n    file.close()\n    os.remove(file.name)\nfor pair in pairs:\n    pair[0].close(), pair[1].close()\n"
        assert (
            session.run(again + "shared.close()\nkept = None\n" + HONEST + "time.sleep(2)", 60).reply["status"] == "ok"
        )


def descriptors(pid: int) -> int:
    """How many descriptors a process and all below it hold; one that ends meanwhile holds none."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        own = len(os.listdir(f"/proc/{pid}/fd"))
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return own + sum(map(descriptors, map(int, children)))


def test_nothing_is_held_of_those_who_have_ended(small: Zygote) -> None:
    """A descriptor of a file system in memory keeps it, and all that is in it."""
    with Session(small.place):
        pass
    end = time.monotonic() + 60
    before = descriptors(small.pid)
    for _ in range(4):
        with Session(small.place) as session:
            assert session.run("open('kept', 'wb').write(bytes(1 << 20))", 60).reply["status"] == "ok"
    while descriptors(small.pid) > before and time.monotonic() < end:
        time.sleep(0.05)
    assert descriptors(small.pid) <= before
