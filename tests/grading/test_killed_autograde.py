"""`nbgrader autograde`, killed at any moment: the next run grades what was begun, says so, and grades nothing twice."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.folder import Course
from autograder.grading.run import grade
from autograder.plugins import starting
from autograder.settings import CONFIG, ROOT
from tests.support.classes import files_in, gradebook_rows
from tests.support.killing import killing_after
from tests.support.quick import calls
from tests.support.quick_class import NAME, QuickClass, hand_in

PLUGGED = """
from autograder.plugins.config import plug_in
quick = c.Autograde.autograde_preprocessors
plug_in(c)
c.Autograde.autograde_preprocessors = quick
"""


@pytest.fixture
def plugged(quick_class: QuickClass) -> QuickClass:
    """Make a course with the plug-ins, in which notebooks take no time."""

    def make(**answers: str) -> Course:
        course = quick_class(**answers)
        with (course.root / CONFIG).open("a") as config:
            config.write(PLUGGED)
        return Course(course.root)

    return make


def state(course: Course) -> tuple[object, ...]:
    """All that grading leaves, also beside the submissions."""
    folders = ("autograded", "submitted")
    return gradebook_rows(course), *(files_in(course.root / "class" / folder) for folder in folders)


def start(course: Course, *options: str) -> subprocess.Popen[str]:
    """`nbgrader autograde`, as an instructor types it."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "QUICK": str(course.root / "calls")}
    command = [sys.executable, "-m", "nbgrader", "autograde", NAME, *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(command, cwd=course.root, env=environment, text=True, **pipes)  # type: ignore[call-overload,no-any-return]


def killed(course: Course, *options: str, after: str) -> None:
    """Kill a run a moment after it has begun a student's notebook."""
    run = start(course, *options)
    while run.poll() is None and after not in calls(course.root / "calls"):
        time.sleep(0.01)
    time.sleep(random.uniform(0, 0.3))
    run.kill()
    run.communicate()
    assert run.returncode == -signal.SIGKILL


@pytest.mark.parametrize("options", [(), ("--Execute.shutdown_kernel=immediate", "--ExecutePreprocessor.timeout=60")])
def test_who_was_being_graded_is_graded_by_the_next_run_which_says_so(
    plugged: QuickClass, options: tuple[str, ...]
) -> None:
    answers = {"ada": "2", "ben": "long 1", "cleo": "1.5"}
    course, undisturbed = plugged(**answers), plugged(**answers)
    (undisturbed.root / "calls").write_text("ben\n")  # whose answer waits for who runs it first
    killed(course, *options, after="ben")
    again = start(course, *options)
    said, _ = again.communicate()
    assert again.returncode == 0, said
    assert "ben: an earlier run was stopped while it graded this; it is graded again" in said
    assert calls(course.root / "calls") == ["ada", "ben", "ben", "cleo"]
    undisturbed.autograde(NAME, "*")
    assert state(course) == state(undisturbed)
    course.autograde(NAME, "*")
    assert calls(course.root / "calls") == ["ada", "ben", "ben", "cleo"]


def test_a_course_may_have_hooks_of_its_own(plugged: QuickClass) -> None:
    course = plugged(ada="2", ben="long 1")
    with (course.root / CONFIG).open("a") as config:
        config.write("c.Autograde.pre_convert_hook = c.Autograde.post_convert_hook = lambda **_: None\n")
    killed(course, after="ben")
    again = start(course)
    said, _ = again.communicate()
    assert "ben: an earlier run was stopped while it graded this; it is graded again" in said
    folders = [course.folder("submitted", student, NAME) for student in ("ada", "ben")]
    assert [folder.parent for folder in folders if list(folder.parent.glob(".*"))] == []
    assert calls(course.root / "calls") == ["ada", "ben", "ben"]


@pytest.mark.thorough
def test_killed_at_any_step_the_next_run_ends_in_the_same_state(plugged: QuickClass) -> None:
    course = plugged(ada="2", ben="1")
    course.autograde(NAME, "ada")
    copies = course.root.parent
    reference = copied(course, copies / "reference")
    reference.autograde(NAME, "*")
    steps = 0
    while True:
        tried = copied(course, copies / f"copy{steps}")
        if not killing_after(steps, lambda tried=tried: tried.autograde(NAME, "*")):
            break
        tried.autograde(NAME, "*")
        assert state(tried) == state(reference), f"killed after {steps} steps"
        shutil.rmtree(tried.root)
        steps += 1
    assert steps > 10


def copied(course: Course, to: Path) -> Course:
    return Course(shutil.copytree(course.root, to))


def begun(course: Course, student: str) -> None:
    """Leave a student's work as a killed run does."""
    starting.begin(course.folder("submitted", student, NAME), {NAME})
    starting._held.popitem()[1].close()


def test_work_that_a_living_run_has_begun_is_left_alone(plugged: QuickClass) -> None:
    course = plugged(ada="2")
    course.autograde(NAME, "ada")
    folder = course.folder("submitted", "ada", NAME)
    starting.begin(folder, {NAME})
    assert starting.unfinished(folder) == set()
    course.autograde(NAME, "ada")
    assert calls(course.root / "calls") == ["ada"]
    starting._held.popitem()[1].close()
    assert starting.unfinished(folder) == {NAME}
    course.autograde(NAME, "ada")
    assert calls(course.root / "calls") == ["ada", "ada"]
    assert starting.unfinished(folder) == set()


def test_the_class_command_writes_again_what_a_killed_autograde_had_begun(plugged: QuickClass) -> None:
    course = plugged(ada="2")
    grade(course, NAME, jobs=1, feedback=False)
    begun(course, "ada")
    autograded = course.folder("autograded", "ada", NAME) / f"{NAME}.ipynb"
    whole = json.loads(autograded.read_text())["cells"][1]["outputs"]
    autograded.chmod(0o644)
    autograded.write_text("{}")
    grade(course, NAME, jobs=1, feedback=False)
    assert json.loads(autograded.read_text())["cells"][1]["outputs"] == whole
    assert starting.unfinished(course.folder("submitted", "ada", NAME)) == set()
    assert calls(course.root / "calls") == ["ada"]


def test_of_several_notebooks_only_those_asked_for_are_taken_up(tmp_path: Path) -> None:
    folder, autograded = tmp_path / "submitted" / "ps", tmp_path / "autograded" / "ps"
    folder.mkdir(parents=True)
    autograded.mkdir(parents=True)
    names = {"one", "two", "three"}
    for name in names:
        (autograded / f"{name}.ipynb").touch()
    starting._write_mark(folder, names)
    starting._held.popitem()[1].close()
    assert starting._take_up(folder, autograded, {"one"})
    assert {path.stem for path in autograded.iterdir()} == {"two", "three"}
    starting.finish(folder, {"one"})
    assert starting.unfinished(folder) == {"two", "three"}
    assert starting._take_up(folder, autograded, names)
    assert not autograded.exists()


def test_who_is_excluded_keeps_what_there_is(plugged: QuickClass) -> None:
    course = plugged(ada="2", ben="1")
    for student in ("ada", "ben"):
        course.autograde(NAME, student)
        begun(course, student)
    with (course.root / CONFIG).open("a") as config:
        config.write('c.CourseDirectory.student_id_exclude = "ada"\n')
    Course(course.root).autograde(NAME, "*")
    assert course.folder("autograded", "ada", NAME).is_dir()
    assert calls(course.root / "calls") == ["ada", "ben", "ben"]


def test_a_folder_without_a_notebook_is_no_graded_work(plugged: QuickClass) -> None:
    course = plugged(ada="2")
    folder = course.folder("autograded", "ada", NAME)
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").touch()
    course.autograde(NAME, "*")
    assert (folder / f"{NAME}.ipynb").is_file()


def test_what_is_handed_in_again_is_graded_though_a_run_was_killed_before(plugged: QuickClass) -> None:
    course = plugged(ada="2")
    course.autograde(NAME, "ada")
    begun(course, "ada")
    hand_in(course, "ada", "1")
    course.autograde(NAME, "ada")
    assert calls(course.root / "calls") == ["ada", "ada"]
    assert grade(course, NAME, jobs=1, feedback=False).lines[0].score == 1.0
