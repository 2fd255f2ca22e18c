"""What a run does and does not do: once each, whatever dies, and nothing is written before somebody said yes."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from autograder.folder import Course
from autograder.grading.crew import Local
from autograder.grading.preview import Change
from autograder.grading.result import MarkedSubmission
from autograder.grading.run import Graded, grade
from autograder.grading.store import Store, only_run
from autograder.problems import OTHER_RUN, USAGE, Problem
from autograder.settings import ROOT
from tests.support.classes import files_in, gradebook_rows
from tests.support.killing import killing_after
from tests.support.quick import calls
from tests.support.quick_class import NAME, QuickClass, hand_in

STRIDE = 3
PHASES = ((1, "Marking"), (2, "Writing"), (3, "Feedback on"))


def scores(graded: Graded) -> dict[str, float | None]:
    return {line.student: line.score for line in graded.lines}


def called(course: Course) -> list[str]:
    return sorted(calls(course.root / "calls"))


def state(course: Course) -> tuple[object, ...]:
    """All that grading leaves, but for the results it keeps and the report."""
    return gradebook_rows(course), files_in(course.root / "class" / "autograded")


# ------------------------------------------------------------------------------------------------------- once each


def test_what_is_unchanged_is_not_run_again_and_not_written_again(quick_class: QuickClass) -> None:
    course = quick_class(ada="2", ben="1")
    assert scores(grade(course, NAME, jobs=2)) == {"ada": 2.0, "ben": 1.0}
    before = course.folder("autograded", "ada", NAME).stat().st_mtime_ns
    again = grade(course, NAME, jobs=2)
    assert called(course) == ["ada", "ben"]
    assert again.marked == {}
    assert course.folder("autograded", "ada", NAME).stat().st_mtime_ns == before


def test_only_what_changed_is_run_again(quick_class: QuickClass) -> None:
    course = quick_class(ada="2", ben="1")
    grade(course, NAME, jobs=1, feedback=False)
    hand_in(course, "ben", "1.5")
    hand_in(course, "cleo", "0.5")
    assert scores(grade(course, NAME, jobs=1, feedback=False)) == {"ada": 2.0, "ben": 1.5, "cleo": 0.5}
    assert called(course) == ["ada", "ben", "ben", "cleo"]


def test_one_student_alone_is_graded_and_what_is_kept_of_others_stays(quick_class: QuickClass) -> None:
    course = quick_class(ada="2", ben="1")
    assert scores(grade(course, NAME, students=["ben"])) == {"ada": None, "ben": 1.0}
    assert called(course) == ["ben"]
    grade(course, NAME)
    grade(course, NAME, students=["ada"], force=True)
    assert called(course) == ["ada", "ada", "ben"]
    assert scores(grade(course, NAME)) == {"ada": 2.0, "ben": 1.0}
    assert called(course) == ["ada", "ada", "ben"]  # ben's result was kept


def test_a_student_who_handed_in_nothing_is_named_with_whom_one_may_mean(quick_class: QuickClass) -> None:
    course = quick_class(adalbert="2", ben="1")
    with pytest.raises(Problem, match=r"adalbret handed in nothing for quick. Did you mean adalbert\?"):
        grade(course, NAME, students=["adalbret"])
    assert called(course) == []


def test_the_phases_of_a_run_are_numbered(quick_class: QuickClass) -> None:
    said = Console(file=StringIO(), width=140)
    grade(quick_class(ada="2"), NAME, console=said)
    printed = said.file.getvalue()  # type: ignore[attr-defined]
    assert [f"{phase} quick ({number} of 3): 1" in printed for number, phase in PHASES] == [True] * 3


def test_force_runs_everybody_again(quick_class: QuickClass) -> None:
    course = quick_class(ada="2", ben="1")
    grade(course, NAME, jobs=1, feedback=False)
    grade(course, NAME, jobs=1, feedback=False, force=True)
    assert called(course) == ["ada", "ada", "ben", "ben"]


def test_a_changed_assignment_is_run_again_and_a_changed_due_date_only_written(quick_class: QuickClass) -> None:
    course = quick_class(ada="2")
    (course.folder("submitted", "ada", NAME) / "timestamp.txt").write_text("2026-03-02 10:00:00 UTC")
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write('c.LateSubmissionPlugin.penalty_method = "zero"\n')
    course = Course(course.root)
    grade(course, NAME, jobs=1, feedback=False)
    with Gradebook(course.database, "quick") as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2026-03-01 12:00:00")
    grade(course, NAME, jobs=1, feedback=False)
    assert called(course) == ["ada"]
    with Gradebook(course.database, "quick") as gradebook:
        assert gradebook.find_submission(NAME, "ada").late_submission_penalty == 2.0
    (course.root / "source" / NAME / "data.csv").write_text("3,4\n")
    grade(course, NAME, jobs=1, feedback=False)
    assert called(course) == ["ada", "ada"]


def test_feedback_is_made_where_the_result_changed_or_was_not_made_yet(quick_class: QuickClass) -> None:
    course = quick_class(ada="2", ben="1")
    page = course.folder("feedback", "ada", NAME) / f"{NAME}.html"
    grade(course, NAME, jobs=1, feedback=False)
    assert not page.exists()
    grade(course, NAME, jobs=1)
    first = page.stat().st_mtime_ns
    hand_in(course, "ben", "1.5")
    grade(course, NAME, jobs=1)
    assert page.stat().st_mtime_ns == first
    assert "1.5" in (course.folder("feedback", "ben", NAME) / f"{NAME}.html").read_text()


def test_nbgraders_hooks_run_before_reading_and_after_writing(quick_class: QuickClass) -> None:
    course = quick_class(ada="2")
    seen: list[tuple[str, list[str]]] = []

    def before(assignment: str, student: str, notebooks: list[str]) -> None:
        hand_in(course, student, "1")
        seen.append(("before", notebooks))

    def after(assignment: str, student: str, notebooks: list[str]) -> None:
        assert course.folder("autograded", student, assignment).is_dir()
        seen.append(("after", notebooks))

    course.config.Autograde.pre_convert_hook, course.config.Autograde.post_convert_hook = before, after
    assert scores(grade(course, NAME, jobs=1, feedback=False)) == {"ada": 1.0}
    notebooks = [str(course.folder("submitted", "ada", NAME) / f"{NAME}.ipynb")]
    assert seen == [("before", notebooks), ("after", notebooks)]


# ------------------------------------------------------------------------------------------------------ what can die


def test_a_worker_that_dies_costs_another_try_of_its_own_submission_and_no_other(quick_class: QuickClass) -> None:
    course = quick_class(ada="wait 2", ben="die once 1", cleo="wait 1", dan="die 2", eve="wait 0.5", fay="wait 2")
    graded = grade(course, NAME, jobs=3, feedback=False)
    assert scores(graded) == {"ada": 2.0, "ben": 1.0, "cleo": 1.0, "dan": None, "eve": 0.5, "fay": 2.0}
    assert called(course) == ["ada", "ben", "ben", "cleo", "dan", "dan", "dan", "eve", "fay"]
    assert list(graded.failed) == ["dan"]


def test_what_the_grader_failed_on_waits_for_a_person_and_is_tried_again_by_the_next_run(
    quick_class: QuickClass,
) -> None:
    course = quick_class(dan="die 2")
    grade(course, NAME, jobs=1)
    with Gradebook(course.database, "quick") as gradebook:
        found = gradebook.find_grade("test", NAME, NAME, "dan")
        assert (found.auto_score, found.needs_manual_grade) == (None, True)
    notebook = course.folder("autograded", "dan", NAME) / f"{NAME}.ipynb"
    assert "could not be graded automatically" in notebook.read_text()
    assert "could not be graded automatically" in (course.folder("feedback", "dan", NAME) / f"{NAME}.html").read_text()
    grade(course, NAME, jobs=1)
    assert called(course) == ["dan"] * 6


def test_one_submission_that_cannot_be_graded_stops_no_other(quick_class: QuickClass) -> None:
    course = quick_class(ada="2", ben="raise 1")
    other = course.folder("submitted", "cleo", NAME)
    other.mkdir(parents=True)
    (other / "homework.ipynb").write_text("{}")
    graded = grade(course, NAME, jobs=1)
    assert scores(graded)["ada"] == 2.0
    assert graded.failed["ben"] == "RuntimeError: no kernel"
    assert graded.failed["cleo"] == "handed in homework.ipynb; what is wanted is quick.ipynb"


def test_a_submission_that_vanishes_meanwhile_stops_no_other(
    quick_class: QuickClass, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = quick_class(ada="2", ben="1")
    submit = Local.submit

    def vanishing(self: Local, *call: Any) -> Any:
        notebook = course.folder("submitted", "ben", NAME) / f"{NAME}.ipynb"
        notebook.unlink(missing_ok=True)
        with suppress(FileExistsError):
            os.mkfifo(notebook.with_name("pipe"))
        return submit(self, *call)

    monkeypatch.setattr(Local, "submit", vanishing)
    graded = grade(course, NAME, jobs=1, feedback=False)
    assert scores(graded)["ada"] == 2.0
    assert "ben" in graded.failed


@pytest.mark.parametrize("name", ["Zoë O'Neil", "bob [1]+%", "*", " x ", "O=1;--", "{student_id}", "-rf"])
def test_students_may_have_odd_names(quick_class: QuickClass, name: str) -> None:
    course = quick_class(**{name: "2", "ada": "1"})
    graded = grade(course, NAME, jobs=1)
    assert graded.failed == {}
    assert scores(graded) == {name: 2.0, "ada": 1.0}
    assert (course.folder("feedback", name, NAME) / f"{NAME}.html").is_file()


RUN = """
import sys
from pathlib import Path
from autograder.folder import Course
from autograder.grading.run import grade
course = Course(Path(sys.argv[1]))
print("ready", flush=True)
grade(course, "quick", jobs=2, feedback=False)
"""


def start(course: Course) -> subprocess.Popen[str]:
    """A run of its own, in a process group of its own, that has imported all it needs."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "QUICK": str(course.root / "calls")}
    command = [sys.executable, "-c", RUN, str(course.root)]
    run = subprocess.Popen(command, env=environment, start_new_session=True, text=True, stdout=subprocess.PIPE)
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n"
    return run


def kept(course: Course) -> set[str]:
    """The results that are on disk."""
    return {path.stem for path in (course.root / "class" / "graded" / NAME).glob("*.json") if len(path.stem) == 64}


def test_a_run_that_is_killed_goes_on_where_it_was(quick_class: QuickClass) -> None:
    answers = {f"student{n:02}": f"wait {n / 8}" for n in range(16)}
    course, undisturbed = quick_class(**answers), quick_class(**answers)
    for number in (1, 4, 8):
        run = start(course)
        while run.poll() is None and len(kept(course)) < number:
            time.sleep(0.01)
        time.sleep(random.uniform(0, 0.3))
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        assert number <= len(kept(course)) < 16
    finished = kept(course)
    assert start(course).wait() == 0
    assert finished < kept(course)
    assert len(called(course)) <= 16 + 3 * 2  # what three runs had begun on two processes
    grade(undisturbed, NAME, jobs=2, feedback=False)
    assert state(course) == state(undisturbed)


@pytest.mark.thorough
def test_killed_anywhere_while_it_writes_the_next_run_ends_in_the_same_state(quick_class: QuickClass) -> None:
    """Each step of writing is a file or folder made, renamed or removed, or the gradebook opened. Every run tries one in three of them,
    and begins at random."""
    course = quick_class(ada="2", ben="1")
    grade(course, NAME, jobs=1, feedback=False)
    hand_in(course, "ben", "1.5")
    hand_in(course, "cleo", "0.5")
    grade(course, NAME, jobs=1, feedback=False, confirm=lambda _: False)
    copies = course.root.parent
    steps = random.randrange(STRIDE)
    reference = killed_after(course, 10_000, copies / "reference")[1]
    grade(reference, NAME, jobs=1, feedback=False)
    while True:
        died, copied = killed_after(course, steps, copies / f"copy{steps}")
        if not died:
            break
        grade(copied, NAME, jobs=1, feedback=False)
        assert state(copied) == state(reference), f"killed after {steps} steps"
        shutil.rmtree(copied.root)
        steps += STRIDE
    assert steps > 20
    assert called(copied) == called(course)


def test_a_fork_of_a_process_that_has_a_fork_server_grades_with_one_of_its_own(quick_class: QuickClass) -> None:
    course = quick_class(ada="die once 2")  # a process that died is replaced by one of the server's
    get_context("forkserver").Process(target=time.sleep, args=[0]).start()
    assert not killing_after(10_000, lambda: grade(course, NAME, jobs=1, feedback=False))
    assert called(course) == ["ada", "ada"]


def test_what_is_no_files_fault_is_said_of_no_file(quick_class: QuickClass, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ChildProcessError(errno.ECHILD, "No child processes")

    monkeypatch.setattr(Local, "submit", fail)
    with pytest.raises(ChildProcessError):
        grade(quick_class(ada="2"), NAME, jobs=1, feedback=False)


def killed_after(course: Course, steps: int, to: Path) -> tuple[bool, Course]:
    """Grade a copy of a course in a process that is killed after so many steps; whether it came to that."""
    shutil.copytree(course.root, to)
    copied = Course(to)
    return killing_after(steps, lambda: grade(copied, NAME, jobs=1, feedback=False)), copied


# ------------------------------------------------------------------------------------------------- scores that change


def test_changed_scores_are_shown_and_nothing_is_written_until_somebody_says_yes(quick_class: QuickClass) -> None:
    course = quick_class(ada="2", ben="1", cleo="0.5")
    grade(course, NAME, jobs=1, feedback=False)
    before = state(course)
    hand_in(course, "ada", "1")
    hand_in(course, "ben", "2")
    hand_in(course, "dan", "2")
    shown: list[Change] = []
    graded = grade(course, NAME, jobs=1, confirm=lambda changes: shown.extend(changes) or False)
    assert shown == [Change("ada", NAME, "test", 2.0, 1.0), Change("ben", NAME, "test", 1.0, 2.0)]
    assert not graded.written
    assert state(course) == before
    assert scores(grade(course, NAME, jobs=1, feedback=False)) == {"ada": 1.0, "ben": 2.0, "cleo": 0.5, "dan": 2.0}
    assert called(course) == ["ada", "ada", "ben", "ben", "cleo", "dan"]


def test_a_persons_score_stays_and_is_no_change(quick_class: QuickClass) -> None:
    course = quick_class(ada="2")
    grade(course, NAME, jobs=1, feedback=False)
    with Gradebook(course.database, "quick") as gradebook:
        gradebook.find_grade("test", NAME, NAME, "ada").manual_score = 1.75
        gradebook.db.commit()
    hand_in(course, "ada", "1")
    graded = grade(course, NAME, jobs=1, feedback=False, confirm=lambda _: False)
    assert graded.written
    assert scores(graded) == {"ada": 1.75}
    with Gradebook(course.database, "quick") as gradebook:
        found = gradebook.find_grade("test", NAME, NAME, "ada")
        assert (found.auto_score, found.manual_score, found.needs_manual_grade) == (1.0, 1.75, True)


# ----------------------------------------------------------------------------------------- when there is nothing to do


def test_two_runs_at_once_are_refused(quick_class: QuickClass) -> None:
    course = quick_class(ada="2")
    with only_run(course.class_folder / "graded"), pytest.raises(Problem, match="another run") as refused:
        grade(course, NAME)
    assert refused.value.code == OTHER_RUN
    grade(course, NAME, jobs=1, feedback=False)


def test_an_assignment_that_does_not_exist_is_named_with_those_that_do(quick_class: QuickClass) -> None:
    with pytest.raises(Problem, match=r"no assignment 'quack'.* there are: quick\. Did you mean quick\?") as refused:
        grade(quick_class(ada="2"), "quack")
    assert refused.value.code == USAGE


def test_an_assignment_that_this_gradebook_lacks_is_entered_and_its_release_left_alone(
    quick_class: QuickClass, capsys: pytest.CaptureFixture[str]
) -> None:
    course = quick_class(ada="2")
    Path(course.database.removeprefix("sqlite:///")).unlink()
    release = course.root / "release" / NAME / f"{NAME}.ipynb"
    before = release.stat().st_mtime_ns, release.read_bytes()
    assert scores(grade(course, NAME, jobs=1, feedback=False, console=Console())) == {"ada": 2.0}
    assert "quick was not in the gradebook yet" in capsys.readouterr().out
    assert (release.stat().st_mtime_ns, release.read_bytes()) == before
    grade(course, NAME, jobs=1, feedback=False, console=Console())
    assert "not in the gradebook" not in capsys.readouterr().out


def test_an_assignment_that_nbgrader_cannot_make_is_a_sentence(quick_class: QuickClass) -> None:
    course = quick_class(ada="2")
    Path(course.database.removeprefix("sqlite:///")).unlink()
    (course.root / "source" / NAME / f"{NAME}.ipynb").write_text("{}")
    with pytest.raises(Problem, match=r"quick cannot be entered into the gradebook\. Mend source/quick") as refused:
        grade(course, NAME)
    assert refused.value.code == USAGE


def test_an_assignment_that_was_not_released_says_what_to_do(quick_class: QuickClass) -> None:
    course = quick_class()
    shutil.copytree(course.root / "source" / NAME, course.root / "source" / "next")
    with pytest.raises(Problem, match="run `nbgrader generate_assignment next` first"):
        grade(course, "next")


def test_nobody_handed_in(quick_class: QuickClass) -> None:
    with pytest.raises(Problem, match=r"Nobody handed in quick: there is no .*/class/submitted/STUDENT/quick"):
        grade(quick_class(), NAME)


def test_a_folder_that_cannot_be_written_to(quick_class: QuickClass) -> None:
    course = quick_class(ada="2")
    (course.root / "class" / "graded").write_text("in the way")
    with pytest.raises(Problem, match=r"cannot be written to: .*\. Make it a folder"):
        grade(course, NAME)


def test_a_result_that_cannot_be_kept(quick_class: QuickClass, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Store, key: str, result: MarkedSubmission) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), f"{key}.json")

    monkeypatch.setattr(Store, "put", full)
    with pytest.raises(Problem, match="No space left on device"):
        grade(quick_class(ada="2"), NAME, jobs=1)


def test_a_gradebook_that_is_in_use_is_named_and_no_work_is_lost(quick_class: QuickClass) -> None:
    course = quick_class(ada="2")
    grade(course, NAME, jobs=1, feedback=False)
    hand_in(course, "ada", "1")
    with Gradebook(course.database, "quick") as gradebook:

        def lock(_: list[Change]) -> bool:
            gradebook.db.connection().exec_driver_sql("BEGIN EXCLUSIVE")
            return True

        with pytest.raises(Problem, match="database is locked"):
            grade(course, NAME, jobs=1, feedback=False, confirm=lock)
    assert scores(grade(course, NAME, jobs=1, feedback=False)) == {"ada": 1.0}
    assert called(course) == ["ada", "ada"]
