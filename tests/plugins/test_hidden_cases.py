"""A hidden case that a page can have shown is not met by whoever hands in after it, through whichever door the work is marked."""

from __future__ import annotations

import re

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.folder import Course
from autograder.grading.run import grade
from autograder.plugins.papers import new_paper
from tests.support.submissions import NOTEBOOK, RIGHT, filled, hand_in, page, scores

REMEMBERS = "SEEN = []\n" + RIGHT["to_columns"].replace("return", "SEEN.append(X.copy())\n    return")


@pytest.fixture(scope="module")
def course(new_course) -> Course:
    made: Course = new_course()
    return made


def told(text: str) -> set[str]:
    """The numbers in a text that are no round ones."""
    return set(re.findall(r"\d+\.\d{12,}", text))


def notebook(course: Course, says: str) -> NotebookNode:
    """A right one, of which a later cell shows what it was asked."""
    made = filled(course, {**RIGHT, "to_columns": REMEMBERS})
    made.cells.append(new_code_cell(f"for X in SEEN:\n    print({says!r}, X.tolist())"))
    return made


def test_what_a_function_was_asked_can_be_shown_and_nobody_who_could_know_is_asked_again(course: Course) -> None:
    graded = course.folder("autograded", "bea", NOTEBOOK) / f"{NOTEBOOK}.ipynb"
    asked: list[set[str]] = []
    for turn in range(6):
        hand_in(course, "bea", notebook(course, f"turn {turn}"))
        if turn < 3:
            course.autograde(NOTEBOOK, "bea", force=True)
            course.generate_feedback(NOTEBOOK, "bea")
        else:
            grade(course, NOTEBOOK, jobs=2)
        asked.append(told(graded.read_text()))
        assert told(page(course, "bea")) == asked[-1]
    assert scores(course, "bea") == (2.0, 2.0, 3.0)
    assert all(len(numbers) > 20 for numbers in asked)
    assert sum(map(len, asked)) == len(set.union(*asked))


def test_who_has_not_changed_anything_is_asked_the_same_by_every_door(course: Course) -> None:
    graded = course.folder("autograded", "bea", NOTEBOOK) / f"{NOTEBOOK}.ipynb"
    hand_in(course, "bea", notebook(course, "the last turn"))
    course.autograde(NOTEBOOK, "bea", force=True)
    before = told(graded.read_text())
    assert before
    course.autograde(NOTEBOOK, "bea", force=True)
    assert told(graded.read_text()) == before
    grade(course, NOTEBOOK, jobs=1, force=True)
    assert told(graded.read_text()) == before
    grade(course, NOTEBOOK, jobs=1, paper=new_paper())
    assert not told(graded.read_text()) & before
