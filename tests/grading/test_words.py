"""What the table, the report and `--json` call a submission that failed, and a cell that waits for a person."""

from __future__ import annotations

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from autograder.folder import Course
from autograder.grading.command import as_tree, tell
from autograder.grading.report.lines import FOR_A_PERSON, GRADED, LOOK_AGAIN, NOT_GRADED, NOTHING
from autograder.grading.run import Graded, grade
from tests.support.classes import STOCK, hand_in_stock, release_stock
from tests.support.quick_class import NAME, QuickClass, hand_in


@pytest.fixture(scope="module")
def graded(new_course) -> Graded:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    release_stock(course)
    hand_in_stock(course)
    course.autograde(STOCK, "ada")  # so that somebody is known who has handed in nothing
    course.folder("submitted", "dora", STOCK).mkdir(parents=True)
    return grade(course, STOCK, feedback=False)


def outcomes(graded: Graded, student: str) -> dict[str, str]:
    return {line.exercise: line.outcome for line in graded.lines if line.student == student}


@pytest.mark.parametrize("student", ["cleo", "dora"])
def test_a_submission_that_failed_was_handed_in(graded: Graded, student: str) -> None:
    assert student in graded.failed
    assert set(outcomes(graded, student).values()) == {NOT_GRADED}
    told = next(one for one in as_tree(STOCK, graded)["students"] if one["student"] == student)
    assert told["handed_in"]
    assert graded.report
    assert NOTHING not in graded.report.read_text()


def test_what_waits_for_a_person_is_not_graded_and_is_counted(
    graded: Graded, capsys: pytest.CaptureFixture[str]
) -> None:
    said = outcomes(graded, "ada")
    assert said["first/essay"] == said["second/task"] == FOR_A_PERSON
    assert said["first/partial"] == GRADED
    waiting = [line for line in graded.lines if line.by_hand]
    assert waiting
    assert {line.outcome for line in waiting} == {FOR_A_PERSON}
    tell(Console(width=140), STOCK, graded)
    students = {line.student for line in waiting}
    assert len(waiting) > len(students) == 1
    assert f"{len(waiting)} cells of 1 student to be graded by hand" in capsys.readouterr().out


def test_what_was_run_again_since_it_was_marked_is_to_be_looked_at_again(
    quick_class: QuickClass, capsys: pytest.CaptureFixture[str]
) -> None:
    course = quick_class(ada="2")
    grade(course, NAME, jobs=1, feedback=False)
    with Gradebook(course.database, "quick") as gradebook:
        gradebook.find_grade("test", NAME, NAME, "ada").manual_score = 1.75
        gradebook.db.commit()
    again = grade(course, NAME, jobs=1, feedback=False, force=True)
    assert outcomes(again, "ada")["test"] == LOOK_AGAIN
    tell(Console(width=140), NAME, again)
    said = capsys.readouterr().out
    assert (
        "1 cell of 1 student to be looked at again (run again since somebody marked it): formgrader lists them" in said
    )
    assert "graded by hand" not in said


def test_what_nobody_said_yes_to_is_not_called_nothing(quick_class: QuickClass) -> None:
    course = quick_class(ada="2")
    grade(course, NAME, jobs=1, feedback=False)
    hand_in(course, "ada", "1")
    hand_in(course, "ben", "1")
    declined = grade(course, NAME, jobs=1, feedback=False, confirm=lambda _: False)
    assert {line.student: line.outcome for line in declined.lines} == {"ada": GRADED, "ben": NOT_GRADED}
