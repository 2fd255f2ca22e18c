"""nbgrader's exchange, walked from end to end by an instructor and two students, who are three system users."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.folder import Course
from autograder.plugins.returning import SECRET
from autograder.settings import CONFIG, ROOT
from tests.support.submissions import NOTEBOOK, RIGHT, filled, hand_in, words
from tests.support.users import Machine, needs_users, printed

pytestmark = needs_users
STUDENTS = ("ada", "ben")
INSTRUCTOR = "teacher"
ANSWERS = {"ada": RIGHT, "ben": {**RIGHT, "mix_rows": "def mix_rows(W, V):\n    return 2.0"}}
EARNED = {"ada": "mix_rows: passed, 2 of 2 points", "ben": "mix_rows: not right yet, 0 of 2 points"}


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with tempfile.TemporaryDirectory(prefix="exchange-") as place:
        yield Machine.made(Path(place), INSTRUCTOR, *STUDENTS)


@pytest.fixture(scope="module")
def course(machine: Machine, released: Path) -> Course:
    """The instructor's, with the assignment released, and the work of one student who handed in by other means."""
    root = machine.home(INSTRUCTOR) / "course"
    shutil.copytree(released, root)
    made = Course(root)
    hand_in(made, "carla", filled(made, RIGHT))
    machine.give(INSTRUCTOR, root)
    machine.run(INSTRUCTOR, root, "-m", "nbgrader", "release_assignment", NOTEBOOK)
    for student in STUDENTS:
        shutil.copy(ROOT / "docs" / "hub" / "students" / CONFIG, machine.home(student))
    each(machine, "fetch_assignment", NOTEBOOK)
    return made


def each(machine: Machine, *command: str) -> dict[str, str]:
    """What both students' nbgrader says; they type at the same time."""
    running = {
        student: machine.start(student, machine.home(student), "-m", "nbgrader", *command) for student in STUDENTS
    }
    return {student: printed(one) for student, one in running.items()}


@pytest.fixture(scope="module")
def collected(machine: Machine, course: Course) -> Course:
    """Both students have handed in, one by the notebook's last cell and one by nbgrader's command, and the instructor has collected.

    Ben's file has the name that a browser gives to a second download.
    """
    for student in STUDENTS:
        work = machine.home(student) / NOTEBOOK / f"{NOTEBOOK}.ipynb"
        work.write_text(json.dumps(filled(course, ANSWERS[student])))
    work.rename(work.with_stem(f"{NOTEBOOK} (1)"))
    by_last_cell = machine.start(
        "ada", machine.home("ada") / NOTEBOOK, "-c", f"import course; course.hand_in({NOTEBOOK!r})"
    )
    machine.run("ben", machine.home("ben"), "-m", "nbgrader", "submit", NOTEBOOK)
    assert "It was handed in through nbgrader's exchange too." in printed(by_last_cell)
    teach(machine, course, "-m", "nbgrader", "collect", NOTEBOOK)
    assert all((course.folder("submitted", student, NOTEBOOK) / SECRET).is_file() for student in STUDENTS)
    return course


def teach(machine: Machine, course: Course, *command: str) -> str:
    """What the instructor's command says."""
    return machine.run(INSTRUCTOR, course.root, *command)


def fetched(machine: Machine) -> dict[str, str]:
    """By student, the words of the one feedback page that there is to fetch."""
    each(machine, "fetch_feedback", NOTEBOOK)
    found = {}
    for student in STUDENTS:
        (page,) = (machine.home(student) / NOTEBOOK / "feedback").rglob("*.html")
        found[student] = words(page.read_text())
    return found


def test_the_class_commands_feedback_comes_back_to_who_handed_in(machine: Machine, collected: Course) -> None:
    teach(machine, collected, "-m", "autograder", "grade", NOTEBOOK, "--course", str(collected.root))
    teach(machine, collected, "-m", "nbgrader", "release_feedback", NOTEBOOK)
    pages = fetched(machine)
    assert [student for student in STUDENTS if EARNED[student] in pages[student]] == list(STUDENTS)
    for listed in each(machine, "list", "--cached", NOTEBOOK).values():
        assert "(feedback already fetched)" in listed


@pytest.mark.thorough
def test_feedback_by_nbgraders_own_commands_comes_back_too(machine: Machine, collected: Course) -> None:
    for old in (machine.exchange / "feedback", *map(machine.home, STUDENTS)):
        for page in old.rglob("*.html"):
            page.unlink()
    teach(machine, collected, "-m", "nbgrader", "autograde", NOTEBOOK, "--force")
    teach(machine, collected, "-m", "nbgrader", "generate_feedback", NOTEBOOK, "--force")
    teach(machine, collected, "-m", "nbgrader", "release_feedback", NOTEBOOK)
    pages = fetched(machine)
    assert [student for student in STUDENTS if EARNED[student] in pages[student]] == list(STUDENTS)
