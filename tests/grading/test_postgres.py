"""A gradebook on PostgreSQL: the same marks as in a file, one run at a time from wherever, and nothing lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from nbgrader.api import Gradebook

from autograder.folder import Course
from autograder.grading import database
from autograder.grading.database import only_writer
from autograder.grading.run import grade
from autograder.problems import OTHER_RUN
from autograder.settings import ROOT
from tests.browser.server import TOKEN, lab
from tests.support import stock
from tests.support.classes import files_in, gradebook_rows
from tests.support.commands import MODULE, grade_command
from tests.support.killing import killing_after
from tests.support.postgres import Postgres, kept_in, running
from tests.support.quick import calls
from tests.support.quick_class import NAME, QuickClass, hand_in
from tests.support.waiting import until

pytestmark = pytest.mark.thorough  # a server of its own

ANSWERS = {"ada": "2", "ben": "1.5", "cleo": "0", "zoë": "1"}


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running() as server:
        yield server


@pytest.fixture
def both(quick_class: QuickClass, postgres: Postgres) -> tuple[Course, Course]:
    """The same class twice: with a gradebook on PostgreSQL, which is empty, and with one in a file."""
    served, filed = quick_class(**ANSWERS), quick_class(**ANSWERS)
    for course in (served, filed):
        (course.folder("submitted", "ben", NAME) / "timestamp.txt").write_text("2026-03-02 10:00:00 UTC")
    return kept_in(served, postgres.new_database()), filed


def left(course: Course) -> tuple[object, ...]:
    """All that grading leaves."""
    return gradebook_rows(course), files_in(course.root / "class" / "autograded")


def start(course: Course) -> subprocess.Popen[str]:
    command = [*MODULE, *grade_command(course, NAME, "--no-feedback", "--jobs", "1", "--yes")]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def ended(run: subprocess.Popen[str]) -> tuple[int, str]:
    said, _ = run.communicate(timeout=120)
    return run.returncode, " ".join(said.split())


def elsewhere(course: Course) -> Course:
    """Another checkout of a course, which has collected the same and graded nothing, and whose gradebook is the same."""
    root = course.root.with_name(f"{course.root.name}-elsewhere")
    shutil.copytree(course.root, root)
    for made in ("autograded", "feedback", "graded", "report"):
        shutil.rmtree(root / "class" / made, ignore_errors=True)
    return Course(root)


def test_the_class_command_leaves_what_it_leaves_in_a_file(both: tuple[Course, Course]) -> None:
    served, filed = both
    code, said = ended(start(served))
    assert code == 0, said
    grade(filed, NAME, jobs=1, feedback=False)
    assert left(served) == left(filed)


def test_nbgraders_own_command_leaves_what_it_leaves_in_a_file(both: tuple[Course, Course]) -> None:
    for course in both:
        stock.nbgrader(course.root, "generate_assignment", NAME, "--force")
        stock.nbgrader(course.root, "autograde", NAME)
    served, filed = map(left, both)
    assert served == filed
    assert grades(both[0]) == {"ada": 2.0, "ben": 1.5, "cleo": 0.0, "zoë": 1.0}


def grades(course: Course) -> dict[str, float]:
    with Gradebook(course.database, course.directory.course_id) as gradebook:
        return {one.student.id: one.score for one in gradebook.assignment_submissions(NAME)}


def test_a_run_from_another_checkout_is_told_to_wait_and_nothing_is_written(both: tuple[Course, Course]) -> None:
    course, _ = both
    other = elsewhere(course)
    with only_writer(course):
        code, said = ended(start(other))
    assert code == OTHER_RUN
    assert "This gradebook is being used by another run, from another checkout; wait for it, or stop it." in said
    assert not (other.root / "class" / "autograded").exists()
    assert ended(start(other))[0] == 0


def test_a_lock_that_the_server_lifts_a_moment_late_is_waited_for(
    both: tuple[Course, Course], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "NOTICED_WITHIN", 60.0)
    course, _ = both
    ended_soon = ExitStack()
    ended_soon.enter_context(only_writer(course))
    clock = threading.Timer(0.3, ended_soon.close)
    clock.start()
    with only_writer(course):
        assert clock.finished.is_set()


def test_two_runs_begun_at_once_from_two_checkouts_leave_what_one_leaves(both: tuple[Course, Course]) -> None:
    course, filed = both
    runs = [start(one) for one in (course, elsewhere(course))]
    ends = [ended(run) for run in runs]
    assert {code for code, _ in ends} <= {0, OTHER_RUN}, ends
    assert 0 in {code for code, _ in ends}
    grade(filed, NAME, jobs=1, feedback=False)
    assert gradebook_rows(course) == gradebook_rows(filed)


def test_what_a_killed_run_kept_is_kept_and_its_lock_is_lifted(both: tuple[Course, Course]) -> None:
    course, filed = both
    hand_in(course, "long", "long 2")
    hand_in(filed, "long", "2")
    run = start(course)
    assert until(lambda: "long" in calls(Path(os.environ["QUICK"])))
    run.send_signal(signal.SIGKILL)
    run.wait()
    code, said = ended(start(elsewhere(course)))
    assert code == 0, said
    code, said = ended(start(course))
    assert code == 0, said
    grade(filed, NAME, jobs=1, feedback=False)
    assert gradebook_rows(course) == gradebook_rows(filed)


def test_killed_while_it_writes_the_next_run_ends_in_the_same_state(both: tuple[Course, Course]) -> None:
    course, filed = both
    steps = 4
    while killing_after(steps, lambda: grade(course, NAME, jobs=1, feedback=False)):
        steps += 4
    assert steps > 8
    grade(course, NAME, jobs=1, feedback=False)
    grade(filed, NAME, jobs=1, feedback=False)
    assert left(course) == left(filed)


def test_formgrader_lists_a_class_and_keeps_a_persons_mark(both: tuple[Course, Course], tmp_path: Path) -> None:
    course, _ = both
    grade(course, NAME, jobs=1, feedback=False)
    with lab(course.root, tmp_path) as server:

        def ask(path: str, change: dict[str, Any] | None = None) -> Any:
            request = Request(
                f"{server.origin}/formgrader/{path}",
                json.dumps(change).encode() if change is not None else None,
                {"Authorization": f"token {TOKEN}"},
                method="PUT" if change is not None else "GET",
            )
            with urlopen(request) as answer:
                return answer.read().decode()

        (listed,) = json.loads(ask("api/assignments"))
        assert (listed["name"], listed["num_submissions"]) == (NAME, len(ANSWERS))
        handed_in = {one["student"]: one for one in json.loads(ask(f"api/submissions/{NAME}"))}
        assert {student: one["score"] for student, one in handed_in.items()} == grades(course)
        assert "ada" in json.dumps(json.loads(ask("api/students")))
        (work,) = json.loads(ask(f"api/submitted_notebooks/{NAME}/{NAME}"))[:1]
        assert f"Submission #{work['index'] + 1}" in ask(f"submissions/{work['id']}/")
        (mark,) = json.loads(ask(f"api/grades?submission_id={work['id']}"))
        ask(f"api/grade/{mark['id']}", {"manual_score": 0.25, "extra_credit": None})
    assert grades(course)[work["student"]] == 0.25
    grade(course, NAME, jobs=1, feedback=False, force=True)
    assert grades(course)[work["student"]] == 0.25
