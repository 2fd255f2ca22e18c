"""A hidden case that a page can have shown is not met again, through whichever door the work is marked again."""

from __future__ import annotations

import re

import pytest
from nbformat.v4 import new_code_cell

from autograder.folder import Course
from autograder.grading.run import grade
from tests.support.submissions import NOTEBOOK, RIGHT, filled, hand_in, page, scores

REMEMBERS = "SEEN = []\n" + RIGHT["to_columns"].replace("return", "SEEN.append(X.copy())\n    return")


@pytest.fixture(scope="module")
def course(new_course) -> Course:
    """Bea is right, and a later cell of hers shows what she was asked."""
    made: Course = new_course()
    notebook = filled(made, {**RIGHT, "to_columns": REMEMBERS})
    notebook.cells.append(new_code_cell("for X in SEEN:\n    print(X.tolist())"))
    hand_in(made, "bea", notebook)
    return made


def told(text: str) -> set[str]:
    """The numbers in a text that are no round ones."""
    return set(re.findall(r"\d+\.\d{12,}", text))


def test_what_a_function_was_asked_can_be_shown_and_is_not_asked_again(course: Course) -> None:
    graded = course.folder("autograded", "bea", NOTEBOOK) / f"{NOTEBOOK}.ipynb"
    runs: list[set[str]] = []
    for force in (False, True, True):
        course.autograde(NOTEBOOK, "bea", force=force)
        runs.append(told(graded.read_text()))
        course.generate_feedback(NOTEBOOK, "bea")
        assert told(page(course, "bea")) == runs[-1]
    for jobs in (1, 2, 2):
        grade(course, NOTEBOOK, jobs=jobs, force=True)
        runs.append(told(graded.read_text()))
    assert scores(course, "bea") == (2.0, 2.0, 3.0)
    assert all(len(numbers) > 20 for numbers in runs)
    assert sum(map(len, runs)) == len(set.union(*runs))
    grade(course, NOTEBOOK, jobs=1)
    assert told(graded.read_text()) == runs[-1]  # what is unchanged is asked nothing more
