"""A Dask cluster marks, also where one of its workers is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import dask
import pytest
from distributed import Client, LocalCluster

from autograder.folder import Course
from autograder.grading.run import grade
from autograder.problems import Problem
from tests.support import submissions
from tests.support.quick import calls
from tests.support.quick_class import NAME, QuickClass

NewCourse = Callable[[], Course]
TURNED = {"pairwise_dots": "def pairwise_dots(A, B):\n    return B @ A.T"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """Two worker processes of their own; what kills a worker is tried three times."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 2}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as started,
    ):
        yield started


def scores(course: Course, address: str) -> dict[str, float | None]:
    graded = grade(course, NAME, scheduler=address, feedback=False)
    return {line.student: line.score for line in graded.lines}


def test_its_workers_mark(quick_class: QuickClass, cluster: LocalCluster) -> None:
    course = quick_class(ada="2", ben="1", cleo="wait 0.5")
    assert scores(course, cluster.scheduler_address) == {"ada": 2.0, "ben": 1.0, "cleo": 0.5}
    assert sorted(calls(course.root / "calls")) == ["ada", "ben", "cleo"]


def test_its_workers_run_this_courses_notebooks(new_course: NewCourse, cluster: LocalCluster) -> None:
    course = new_course()
    submissions.hand_in(course, "dan", submissions.filled(course, {**submissions.RIGHT, **TURNED}))
    graded = grade(course, submissions.NOTEBOOK, scheduler=cluster.scheduler_address, feedback=False)
    assert [line.score for line in graded.lines] == [0.0, 2.0, 3.0]
    assert graded.lines[0].mistakes == ("dots_turned",)


def test_a_worker_that_is_killed_costs_no_result(quick_class: QuickClass, cluster: LocalCluster) -> None:
    course = quick_class(**{f"student{n}": f"wait {n / 4}" for n in range(8)}, slow="wait 2")
    with Client(cluster) as client:
        workers = list(client.run(os.getpid).values())
    killer = threading.Thread(target=kill_at_work, args=(course, workers[0]))
    killer.start()
    found = scores(course, cluster.scheduler_address)
    killer.join()
    assert found == {**{f"student{n}": n / 4 for n in range(8)}, "slow": 2.0}


def kill_at_work(course: Course, worker: int) -> None:
    while len(calls(course.root / "calls")) < 3:
        time.sleep(0.01)
    os.kill(worker, signal.SIGKILL)


def test_what_kills_every_worker_waits_for_a_person(quick_class: QuickClass, cluster: LocalCluster) -> None:
    course = quick_class(ada="2", dan="die 1")
    assert scores(course, cluster.scheduler_address) == {"ada": 2.0, "dan": None}
    assert calls(course.root / "calls").count("dan") == 3


def test_workers_with_other_code_are_refused(
    quick_class: QuickClass, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.grading.run.code_digest", lambda *_: "another")
    with pytest.raises(Problem, match="has another version of this package"):
        scores(quick_class(ada="2"), cluster.scheduler_address)


def test_a_cluster_without_workers_is_named(quick_class: QuickClass, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.grading.crew.SECONDS_TO_CONNECT", 1)
    with (
        LocalCluster(n_workers=0, dashboard_address=None) as empty,
        pytest.raises(Problem, match="has no workers: start some with `dask worker tcp://"),
    ):
        scores(quick_class(ada="2"), empty.scheduler_address)


def test_a_scheduler_that_does_not_answer_is_named(quick_class: QuickClass, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.grading.crew.SECONDS_TO_CONNECT", 1)
    with pytest.raises(
        Problem, match=r"No scheduler answers at tcp://127\.0\.0\.1:1: .*\. Start one with `dask scheduler`"
    ):
        grade(quick_class(ada="2"), NAME, scheduler="tcp://127.0.0.1:1")
