"""Several processes that compute together: what they return, what is said when they do not, and that none is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import distributed

from course.trial import ranks

AGES = 300.0  # seconds; only what hangs takes so long, however busy the machine is

POOLS = torch.randn(600, 600) @ torch.randn(600, 600)  # the threads of the pool do not come along into a fork


def add_up(rank: int, p: int, x: np.ndarray) -> tuple[np.ndarray, int]:
    total = torch.from_numpy((rank + 1.0) * x)
    distributed.all_reduce(total)
    return total.numpy(), rank


def uses_threads(rank: int, p: int) -> float:
    big = torch.ones(600, 600)
    return float((big @ big)[0, 0])


def prints(rank: int, p: int) -> None:
    print("here is", rank)


def sizes_up(rank: int, p: int, x: np.ndarray) -> np.ndarray:
    x += rank
    return x


def returns_early(rank: int, p: int) -> None:
    if rank == 0:
        distributed.all_reduce(torch.ones(3))


def raises(rank: int, p: int) -> None:
    if rank == 1:
        raise ValueError("no")
    distributed.all_reduce(torch.ones(3))


def dies(rank: int, p: int) -> None:
    if rank == 0:
        os._exit(3)
    distributed.all_reduce(torch.ones(3))


def brings_more(rank: int, p: int) -> None:
    distributed.all_reduce(torch.ones(20 * (rank + 1)))


def brings_another_type(rank: int, p: int) -> None:
    distributed.all_reduce(torch.ones(2, dtype=torch.float32 if rank else torch.float64))


def too_large(rank: int, p: int) -> np.ndarray:
    return np.zeros(1 << 20)


def nearly_too_large(rank: int, p: int) -> np.ndarray:
    return np.full(250_000, float(rank))


def hangs(rank: int, p: int) -> None:
    while True:
        pass


def children() -> list[str]:
    """Whom this process has started and not yet let go; nobody, where there is no /proc to tell."""
    told = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return told.read_text().split() if told.exists() else []


@pytest.fixture(autouse=True)
def none_is_left() -> Any:
    before = children()
    yield
    assert children() == before


@pytest.mark.parametrize("p", [1, 2, 3])
def test_every_rank_has_the_sum(p: int) -> None:
    found = ranks.run(add_up, p, np.arange(3.0))
    for rank, (total, said) in enumerate(found):
        np.testing.assert_array_equal(total, p * (p + 1) / 2 * np.arange(3.0))
        assert said == rank


def test_a_rank_computes_after_its_parent_has_used_the_threads_of_torch() -> None:
    assert ranks.run(uses_threads, 2) == [600.0, 600.0]


def test_what_ranks_print_is_printed_under_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    ranks.run(prints, 2)
    assert capsys.readouterr().out == "rank 0: here is 0\nrank 1: here is 1\n"


def test_each_rank_has_arguments_of_its_own() -> None:
    x = np.zeros(2)
    assert [list(y) for y in ranks.run(sizes_up, 2, x)] == [[0.0, 0.0], [1.0, 1.0]]
    assert not x.any()
    assert [list(one.observed.arguments[0]) for one in ranks.trials(sizes_up, 2, (x,))] == [[0.0, 0.0], [1.0, 1.0]]


def test_collectives_are_counted() -> None:
    assert [one.collectives for one in ranks.trials(add_up, 2, (np.ones(1),))] == [1, 1]
    assert [one.collectives for one in ranks.trials(uses_threads, 2, ())] == [0, 0]
    assert [(one.collectives, one.sums) for one in ranks.trials(gathers_anywhere, 2, ())] == [(2, 1), (2, 1)]


@pytest.mark.parametrize(
    ("function", "troubles"),
    [
        (returns_early, [ranks.WAITED, ""]),
        (raises, [ranks.WAITED, "raised ValueError: no"]),
        (dies, [ranks.DIED, ranks.WAITED]),
    ],
)
def test_a_rank_that_does_not_come_is_told_of_before_those_that_wait_lose_patience(
    function: Callable[..., Any], troubles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranks, "MEETING_SECONDS", 2.0 * AGES)
    begun = time.monotonic()
    assert [one.trouble for one in ranks.trials(function, 2, (), seconds=2 * AGES)] == troubles
    assert time.monotonic() - begun < AGES


@pytest.mark.parametrize("function", [brings_more, brings_another_type])
def test_where_ranks_bring_different_things_that_is_said(
    function: Callable[..., Any], capfd: pytest.CaptureFixture[str]
) -> None:
    assert ranks.MISMATCH in [one.trouble for one in ranks.trials(function, 2, ())]
    assert capfd.readouterr().err == ""


def test_run_says_which_rank_did_what() -> None:
    with pytest.raises(RuntimeError, match=r"rank 0 waited in a collective .*; rank 1 raised ValueError: no"):
        ranks.run(raises, 2)


def test_a_result_that_is_too_large_to_travel_is_none_and_says_so() -> None:
    assert "too large" in repr(ranks.run(too_large, 1))


def test_large_results_of_many_ranks_arrive_whole() -> None:
    for _ in range(5):
        for rank, result in enumerate(ranks.run(nearly_too_large, 4)):
            assert np.array_equal(result, np.full(250_000, float(rank)))


def test_show_says_what_ranks_returned_or_what_went_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    ranks.show(prints, 2)
    assert (
        capsys.readouterr().out == "rank 0: here is 0\nrank 1: here is 1\nrank 0 returned None\nrank 1 returned None\n"
    )
    ranks.show(returns_early, 2)
    first, second, seconds = capsys.readouterr().out.splitlines()
    assert first == f"rank 0 {ranks.WAITED}"
    assert second == "rank 1 returned None"
    assert seconds.endswith(" s)")


@pytest.mark.parametrize("execution", ["autograde", "validate"])
def test_show_starts_nothing_while_nbgrader_runs(
    execution: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", execution)
    monkeypatch.setattr(os, "fork", None)
    ranks.show(prints, 2)
    assert capsys.readouterr().out == ""


def test_ranks_that_never_end_are_ended() -> None:
    assert {one.trouble for one in ranks.trials(hangs, 2, (), seconds=1.0)} == {ranks.LATE}


def test_a_meeting_that_fails_ends_in_a_clear_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "LOOPBACK", "nowhere0")
    with pytest.raises(RuntimeError, match="rank 0 could not meet the others over nowhere0"):
        ranks.run(add_up, 2, np.ones(1), seconds=AGES)


def test_ranks_meet_in_a_folder_of_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "my 100% früh"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert ranks.run(uses_threads, 2) == [600.0, 600.0]


def test_an_interrupt_leaves_no_rank_behind() -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    try:
        with pytest.raises(KeyboardInterrupt):
            ranks.run(hangs, 2)
    finally:
        signal.signal(signal.SIGALRM, before)


def runs(pid: int) -> bool:
    """Whether a process runs; one that has ended may wait for somebody to ask how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_ranks_end_with_the_process_that_started_them() -> None:
    code = (
        "import os, time\nfrom course import ranks\n"
        "def sleeps(rank, p):\n    os.write(1, f'{os.getpid()}\\n'.encode())\n    time.sleep(60)\n"
        "ranks.run(sleeps, 2)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(parent.stdout.readline()) for _ in range(2)]
        parent.kill()
    until = time.monotonic() + AGES
    while any(map(runs, pids)):
        assert time.monotonic() < until, "a rank is left"
        time.sleep(0.05)


def leaves_the_group(rank: int, p: int, x: np.ndarray) -> tuple[np.ndarray, int]:
    total = add_up(rank, p, x)
    distributed.destroy_process_group()
    return total


def test_a_function_may_destroy_the_group_when_it_is_through() -> None:
    found = ranks.trials(leaves_the_group, 2, (np.ones(1),))
    assert [(one.trouble, one.collectives) for one in found] == [("", 1), ("", 1)]


def test_what_a_rank_starts_ends_with_it(tmp_path: Path) -> None:
    def forks(rank: int, p: int) -> None:
        child = os.fork()
        if child:
            (tmp_path / str(child)).touch()
        while not child and not (tmp_path / str(os.getpid())).exists():  # it is through as soon as its parent knows it
            time.sleep(0.01)

    def starts(rank: int, p: int) -> None:
        (tmp_path / str(subprocess.Popen(["sleep", "60"]).pid)).touch()

    for function in (forks, starts):
        ranks.trials(function, 2, ())
    pids = [int(path.name) for path in tmp_path.iterdir()]
    assert len(pids) == 4
    until = time.monotonic() + AGES
    while any(map(runs, pids)):
        assert time.monotonic() < until, "what a rank has started is left"
        time.sleep(0.05)


# --------------------------------------------------------------------------------------------- ranks that wait


def remembers(rank: int, p: int, x: np.ndarray) -> tuple[int, int, float]:
    print("here is", rank)
    total = torch.from_numpy((rank + 1.0) * x)
    distributed.all_reduce(total)
    x += rank
    return os.getpid(), p, float(total[0])


def fails_where_it_is_told_to(rank: int, p: int, how: str) -> int:
    if how == "raises" and rank == 1:
        raise ValueError("no")
    if how == "dies" and rank == 0:
        os._exit(3)
    if how == "destroys the group":
        distributed.destroy_process_group()
        return os.getpid()
    if how == "starts another process":
        subprocess.Popen(["sleep", "600"])
    if how == "starts a thread":
        threading.Thread(target=time.sleep, args=[600], daemon=True).start()
    if how == "has another process through":
        subprocess.Popen(["true"]).wait()
    if how == "forks" and not os.fork():
        time.sleep(0.1)
    if how in ("raises", "dies", "sums"):
        distributed.all_reduce(torch.ones(3))
    return os.getpid()


def test_ranks_that_wait_are_called_again_as_if_they_had_just_started() -> None:
    x = np.ones(2)
    with ranks.staying():
        called = [ranks.trials(remembers, 2, (x * k,)) for k in (1.0, 2.0)]
        called.insert(1, ranks.trials(remembers, 3, (x,)))
        pids, sizes, sums = zip(*(one.observed.result for found in called for one in found), strict=True)
        assert list(sizes) == [2, 2, 3, 3, 3, 2, 2]
        assert list(sums) == [3.0, 3.0, 6.0, 6.0, 6.0, 6.0, 6.0]
        assert pids[:2] == pids[-2:]
        for first, again in zip(called[0], called[2], strict=True):
            assert (again.collectives, again.sums, again.printed) == (first.collectives, first.sums, first.printed)
        assert list(called[2][1].observed.arguments[0]) == [3.0, 3.0]
        assert [one.observed.result[0] for one in ranks.trials(remembers, 2, (x,))] == list(pids[:2])
    assert list(x) == [1.0, 1.0]


@pytest.mark.parametrize(
    "how", ["raises", "dies", "destroys the group", "forks", "starts another process", "starts a thread"]
)
def test_ranks_that_are_not_as_they_were_make_room_for_others(how: str) -> None:
    with ranks.staying():
        first = ranks.trials(fails_where_it_is_told_to, 2, ("sums",))
        ranks.trials(fails_where_it_is_told_to, 2, (how,))
        again = ranks.trials(fails_where_it_is_told_to, 2, ("sums",))
    assert [one.trouble for one in again] == ["", ""]
    assert not {one.observed.result for one in first} & {one.observed.result for one in again}


def test_ranks_that_have_nothing_running_stay() -> None:
    with ranks.staying():
        told = [
            ranks.trials(fails_where_it_is_told_to, 2, (how,)) for how in ("sums", "has another process through", "")
        ]
    assert len({tuple(one.observed.result for one in found) for found in told}) == 1


def test_another_function_has_ranks_of_its_own() -> None:
    with ranks.staying():
        assert ranks.trials(prints, 2, ())[0].printed
        assert ranks.trials(uses_threads, 2, ())[0].observed.result == 600.0
        ranks.trials(remembers, 2, (np.ones(2),))
        assert ranks.trials(sizes_up, 2, (np.ones(2),))[1].observed.result.tolist() == [2.0, 2.0]


def test_no_more_wait_than_a_submission_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "MOST_RANKS", 4)
    before = len(children())
    with ranks.staying():
        for p in (1, 2, 3):
            assert [one.trouble for one in ranks.trials(sizes_up, p, (np.ones(2),))] == [""] * p
        if Path("/proc/self/task").exists():
            assert len(children()) - before == 3


def test_arguments_that_cannot_travel_are_no_hindrance() -> None:
    def calls(rank: int, p: int, function: Callable[[int], int]) -> int:
        return function(rank)

    with ranks.staying():
        for _ in range(2):
            assert [one.observed.result for one in ranks.trials(calls, 2, (abs,))] == [0, 1]


def test_ranks_that_wait_are_not_left_when_what_they_wait_for_is_interrupted() -> None:
    def is_interrupted() -> None:
        with ranks.staying():
            ranks.trials(remembers, 2, (np.ones(2),))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        is_interrupted()


# ------------------------------------------------------------------------------------------- threads in their place


def adds_up_anywhere(rank: int, p: int, x: np.ndarray) -> np.ndarray:
    total = torch.from_numpy((rank + 1.0) * x)
    ranks.all_reduce(total)
    ranks.all_reduce(total)
    return total.numpy()


def gathers_anywhere(rank: int, p: int) -> np.ndarray:
    parts = [torch.zeros(1) for _ in range(p)]
    ranks.all_gather(parts, torch.full((1,), 3.0 + rank))
    ranks.all_reduce(parts[0])
    return torch.cat(parts).numpy()


def leaves_anywhere(rank: int, p: int) -> None:
    if rank == 0:
        ranks.all_reduce(torch.ones(3))


@pytest.mark.parametrize("function", [adds_up_anywhere, gathers_anywhere, leaves_anywhere, raises])
def test_simulated_ranks_do_what_processes_do(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = (np.arange(2.0),) if function is adds_up_anywhere else ()
    real = ranks.trials(function, 2, arguments)
    monkeypatch.setattr(distributed, "all_reduce", ranks.all_reduce)  # for `raises`, which is written for processes
    with ranks.simulated():
        apart = ranks.trials(function, 2, arguments)
    for one, other in zip(real, apart, strict=True):
        assert (one.trouble, one.collectives, one.sums) == (other.trouble, other.collectives, other.sums)
        np.testing.assert_equal(one.observed.result, other.observed.result)


def test_simulated_ranks_run_one_after_another_and_so_the_same_way_every_time() -> None:
    said: list[tuple[int, str]] = []

    def speaks(rank: int, p: int) -> None:
        for word in ("first", "then"):
            said.append((rank, word))
            time.sleep(0.01)
            said.append((rank, word))
            ranks.all_reduce(torch.ones(1))

    with ranks.simulated():
        ranks.trials(speaks, 3, ())
    assert said[::2] == said[1::2]
    assert sorted(said) == sorted((rank, word) for rank in range(3) for word in ("first", "then") for _ in range(2))
