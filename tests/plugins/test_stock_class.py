"""A class of an assignment that this course does not know: graded as stock nbgrader grades it, cell by cell.

What stock nbgrader gives is stored: it depends on the class, its settings and nbgrader alone.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.folder import Course
from tests.support.stock import DOCUMENTATION, PLUGGED, Grade, grades, nbgrader, stock_course
from tests.support.stock_class import ASSIGNMENT, CLASS, DUE, ENDLESS, FIRST, SECOND, hand_in, write_source
from tests.support.stored import stored

pytestmark = pytest.mark.thorough  # a class of 34

SETTINGS = f"""
c.LateSubmissionPlugin.penalty_method = "zero"
c.Execute.timeout_func = lambda cell: next((s for part, s in {ENDLESS}.items() if part in cell.source), 300)
c.Execute.iopub_timeout = 12
"""


@dataclass(frozen=True)
class Graded:
    """A class that `nbgrader autograde` has been through, and what it printed."""

    course: Course
    log: str


def handed_in(root: Path, settings: str) -> Course:
    """A course in which the class has handed in."""
    course = stock_course(root, SETTINGS + settings)
    with Gradebook(course.database) as gradebook:
        gradebook.add_assignment(ASSIGNMENT, duedate=DUE)
    write_source(course)
    course.generate_assignment(ASSIGNMENT)
    for student in CLASS:
        hand_in(course, student)
    return course


def graded(course: Course) -> Graded:
    alone = [student for student, submission in CLASS.items() if submission.ends_the_run]
    log = autograde(course, f"--CourseDirectory.student_id_exclude={','.join(alone)}")
    log += "".join(autograde(course, f"--student={student}") for student in alone)
    return Graded(course, log)


def autograde(course: Course, *options: str) -> str:
    return nbgrader(course.root, "autograde", ASSIGNMENT, "--Execute.shutdown_kernel=immediate", *options)


@dataclass(frozen=True)
class Result:
    """All that one student has of it.

    Attributes:
        given_up: whether nbgrader gave the submission up.
        cells: the grades, by notebook and cell.
        penalty: the points taken off for being late, by notebook.
        files: what lies in the folder of the graded assignment, without what Python keeps for itself, which nbgrader ignores.
    """

    given_up: bool
    cells: dict[str, dict[str, Grade]]
    penalty: dict[str, float | None]
    files: list[str]

    def stated(self) -> dict[str, Any]:
        """The same as JSON has it."""
        found: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return found


def points(stated: dict[str, Any]) -> float | None:
    cells = [grade for notebook in stated["cells"].values() for grade in notebook.values()]
    return None if stated["given_up"] else sum(grade["score"] or 0.0 for grade in cells)


def result(course: Course, student: str) -> dict[str, Any]:
    folder = course.folder("autograded", student, ASSIGNMENT)
    with Gradebook(course.database) as gradebook:
        notebooks = gradebook.find_submission(ASSIGNMENT, student).notebooks
        penalty = {notebook.name: notebook.late_submission_penalty for notebook in notebooks}
    files = (str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in path.parts)
    return Result(
        given_up=not folder.exists(),
        cells={name: grades(course.database, ASSIGNMENT, name, student) for name in (FIRST, SECOND)},
        penalty=penalty,
        files=sorted(files),
    ).stated()


@dataclass(frozen=True)
class Wrong:
    """Where stock nbgrader is wrong by its own documentation.

    Attributes:
        ours: the points with the plug-ins; None where the submission is given up. What stock gives stands in `CLASS`.
        page: a page of the documentation that comes with nbgrader.
        sentence: what stands there.
    """

    ours: float | None
    page: str
    sentence: str


AUTOGRADING = "user_guide/what_is_nbgrader.rst"
FAQ = "user_guide/faq.rst"
STOPS = "Yes. nbgrader will stop executing a cell after a certain period of time."
WRONG_ON_STOCK = {
    "ignores-interrupts": Wrong(0, FAQ, STOPS),  # it stops grading instead
    "kills-the-kernel": Wrong(11, FAQ, STOPS),  # and so it does where a cell ends the kernel; earlier points are lost
    "skips": Wrong(11, AUTOGRADING, 'effect is no different than the "Restart and run all cells" functionality'),
    "twice": Wrong(None, AUTOGRADING, "This is used to restore these cells when students return them."),
    "retypes": Wrong(None, AUTOGRADING, "This is used to restore these cells when students return them."),
}


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What each student has of stock nbgrader."""

    def find() -> dict[str, Any]:
        done = graded(handed_in(tmp_path_factory.mktemp("stock"), ""))
        assert LOOKS_AFTER not in done.log
        return {student: result(done.course, student) for student in CLASS}

    found: dict[str, Any] = stored("stock_class", RESTS_ON, find)
    return found


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    return graded(handed_in(tmp_path_factory.mktemp("ours"), PLUGGED))


RESTS_ON = ("tests/plugins/test_stock_class.py", "tests/support/stock.py", "tests/support/stock_class.py")
LOOKS_AFTER = "Looking for what does not belong"
"""What nbgrader prints with the plug-ins alone."""


def test_one_of_the_two_has_the_plugins(ours: Graded) -> None:
    assert LOOKS_AFTER in ours.log


@pytest.mark.parametrize("student", CLASS)
def test_stock_nbgrader_gives_what_is_said_here(stock: dict[str, Any], student: str) -> None:
    assert points(stock[student]) == CLASS[student].earns


@pytest.mark.parametrize("student", [student for student in CLASS if student not in WRONG_ON_STOCK])
def test_it_is_graded_as_on_stock(stock: dict[str, Any], ours: Graded, student: str) -> None:
    assert result(ours.course, student) == stock[student], ours.log


@pytest.mark.parametrize("student", WRONG_ON_STOCK)
def test_where_stock_is_wrong_by_its_own_documentation(ours: Graded, student: str) -> None:
    wrong = WRONG_ON_STOCK[student]
    assert wrong.sentence in " ".join((DOCUMENTATION / wrong.page).read_text().split())
    assert points(result(ours.course, student)) == wrong.ours, ours.log
