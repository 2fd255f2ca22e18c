"""A gradebook that cannot be used is named in a sentence that says what to do, through both doors, and stays as it is."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.folder import Course
from autograder.plugins.bookkeeping import trouble_with
from autograder.settings import CONFIG, ROOT
from tests.support import commands
from tests.support.commands import nbgrader
from tests.support.submissions import NOTEBOOK, RIGHT, filled, hand_in


def garbage(path: Path) -> None:
    path.write_bytes(b"\x1b[31mnot a gradebook" * 1000)


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def middle_gone(path: Path) -> None:
    data = path.read_bytes()
    third = len(data) // 3
    path.write_bytes(data[:third] + os.urandom(third) + data[2 * third :])


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def with_version(version: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE alembic_version SET version_num = ?", (version,))

    return change


def read_only(path: Path) -> None:
    """As a file is that one may read; the superuser may write to any, so the settings say it."""
    config = path.parents[1] / CONFIG
    config.write_text(config.read_text() + f'\nc.CourseDirectory.db_url = "sqlite:///file:{path}?mode=ro&uri=true"\n')


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "garbage": (garbage, "is damaged, or is none"),
    "half": (half, "is damaged"),
    "middle-gone": (middle_gone, "is damaged"),
    "folder": (folder, "could not be used: unable to open database file"),
    "newer": (with_version("fffffffffff0"), "was made by another nbgrader"),
    "older": (with_version("167914646830"), "was made by an older nbgrader"),
    "read-only": (read_only, "could not be used: attempt to write a readonly database"),
}
WHAT_TO_DO = ("Put a backup of it in its place", "Make a copy of it", "Install the nbgrader", "make it writable")


@pytest.fixture(scope="module")
def handed_in(new_course: Callable[[], Course]) -> Course:
    course = new_course()
    hand_in(course, "ada", filled(course, RIGHT))
    return course


def by_nbgrader(course: Course) -> tuple[int, str]:
    done = nbgrader(course, "autograde", NOTEBOOK)
    return done.returncode, done.stdout


def by_nbgrader_feedback(course: Course) -> tuple[int, str]:
    course.folder("submitted", "ada", NOTEBOOK).parents[1].rename(course.class_folder / "autograded")
    done = nbgrader(course, "generate_feedback", NOTEBOOK)
    return done.returncode, done.stdout


def by_nbgrader_release(course: Course) -> tuple[int, str]:
    released = course.root / "release" / NOTEBOOK / f"{NOTEBOOK}.ipynb"
    before = released.read_bytes()
    done = nbgrader(course, "generate_assignment", NOTEBOOK, "--force")
    assert released.read_bytes() == before
    return done.returncode, done.stdout


def by_release(course: Course) -> tuple[int, str]:
    """`python -m autograder release`, as a checkout has it."""
    words = "import sys, autograder.__main__ as main, autograder.authoring.release as release\nfrom autograder.folder import Course\n"
    words += "from pathlib import Path\nrelease.Course = lambda: Course(Path(sys.argv[1]))\nmain.run(['release'])"
    done = subprocess.run(
        [sys.executable, "-c", words, course.root],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout


def by_command(course: Course) -> tuple[int, str]:
    done = commands.grade(course, NOTEBOOK)
    return done.returncode, done.stdout


BY_OTHERS = (by_nbgrader, by_nbgrader_feedback, by_nbgrader_release, by_release)
OFTEN = ("garbage", "newer", "read-only")
EACH = [*((damage, by_command) for damage in OFTEN), *(("garbage", door) for door in BY_OTHERS)]
"""Some damages, and each door."""
MORE = [
    *((damage, by_command) for damage in DAMAGES if damage not in OFTEN),
    *((damage, by_nbgrader) for damage in ("folder", "newer", "read-only")),
    ("older", by_nbgrader_release),
]
"""The other damages, and those that nbgrader meets in other places of its own."""


@pytest.mark.parametrize(("damage", "door"), [*EACH, *(pytest.param(*one, marks=pytest.mark.thorough) for one in MORE)])
def test_a_gradebook_that_cannot_be_used(
    new_course: Callable[[], Course], damage: str, door: Callable[[Course], tuple[int, str]]
) -> None:
    course = new_course()
    hand_in(course, "ada", filled(course, RIGHT))
    path = course.class_folder / "gradebook.db"
    change, sentence = DAMAGES[damage]
    change(path)
    before = path.is_file() and path.read_bytes()
    code, said = door(course)
    told = " ".join(said.split())
    assert code == 1
    assert sentence in told
    assert sum(what in told for what in WHAT_TO_DO) == 1
    assert "Traceback" not in said
    assert "\x1b[31m" not in said
    assert (path.is_file() and path.read_bytes()) == before


def test_a_whole_gradebook_is_no_trouble_and_neither_is_none(handed_in: Course, tmp_path: Path) -> None:
    assert trouble_with(handed_in.database) == ""
    assert trouble_with(f"sqlite:///{tmp_path}/new.db") == ""


def test_a_password_is_not_told() -> None:
    assert "secret" not in trouble_with("postgresql://me:secret@nowhere.invalid/grades")
