"""A feedback page shows where a wrong answer that nobody knows goes wrong in public, and nothing that is hidden can stand in it."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup

from autograder.exercises import exercise_named
from autograder.folder import Course
from autograder.grading.feedback import Pages
from autograder.grading.run import grade
from autograder.plugins import executing
from course.afterwards import ALL_PASS, INTRODUCTION
from tests.support.classes import TURNED
from tests.support.submissions import NOTEBOOK, RIGHT, filled, hand_in, page, scores

SCALED = "def mix_rows(W, V):\n    return 1.5 * (W @ V)"
SHAPES = [case.arguments[0].shape + case.arguments[1].shape for case in exercise_named(NOTEBOOK, "mix_rows").public]
ONLY_HIDDEN = f"def mix_rows(W, V):\n    return W @ V if W.shape + V.shape in {SHAPES} else 1.5 * (W @ V)"
REMEMBERS = """SEEN = []
def mix_rows(W, V):
    SEEN.append(W.copy())
    return np.resize(SEEN[0], (len(W), V.shape[1]))"""
ENDLESS = """def mix_rows(W, V):
    while (W * 100 == (W * 100).round()).all():
        pass
    return 2.0"""
TALKS = """def mix_rows(W, V):
    return "<script>act()</script>\\x1b[31m" + "\\n" * 500 + "x" * 50_000"""
PRINTS = """import sys
def mix_rows(W, V):
    print("step\\n" * 500)
    sys.stderr.write("warned\\n" * 500)
    return 1.5 * (W @ V)"""
RAISES = "def mix_rows(W, V):\n    return (W @ V).no_such_thing"
STUDENTS = {
    "una": {"mix_rows": SCALED},
    "pri": {"mix_rows": PRINTS},
    "hid": {"mix_rows": ONLY_HIDDEN},
    "rem": {"mix_rows": REMEMBERS},
    "tal": {"mix_rows": TALKS},
    "rai": {"mix_rows": RAISES},
    "dan": {"pairwise_dots": TURNED},
    "two": {"mix_rows": SCALED, "to_columns": "def to_columns(X, W):\n    return X.T * 1.5, W.T * 1.5"},
}


@pytest.fixture(scope="module")
def course(new_course) -> Course:
    made: Course = new_course()
    for student, answers in STUDENTS.items():
        hand_in(made, student, filled(made, {**RIGHT, **answers}))
        made.autograde(NOTEBOOK, student)
        made.generate_feedback(NOTEBOOK, student)
    return made


def row(course: Course, student: str, exercise: str = "mix_rows") -> dict[str, Any]:
    soup = BeautifulSoup(page(course, student), "html.parser")
    told = json.loads(str(soup.find("meta", {"name": "course-feedback"})["content"]))
    (found,) = [one for one in told["rows"] if one["name"] == exercise]
    return dict(found)


def test_an_answer_that_nobody_knows_is_shown_in_its_plainest_public_case(course: Course) -> None:
    found = row(course, "una")
    assert found["case"].startswith(f"{INTRODUCTION}\nWith A =")
    assert "expected" in found["case"]
    assert "yours" in found["case"]
    assert not found["advice"]


def test_what_an_answer_prints_stands_in_no_case(course: Course) -> None:
    assert row(course, "pri")["case"] == row(course, "una")["case"]


def test_an_answer_that_does_nothing_but_raise_is_left_to_check(course: Course) -> None:
    found = row(course, "rai")
    assert not found["case"]
    assert found["advice"].startswith("Run check(mix_rows)")


def test_every_such_exercise_has_its_own(course: Course) -> None:
    assert "With A =" in row(course, "two")["case"]
    assert "With X =" in row(course, "two", "to_columns")["case"]


def test_who_passes_all_of_them_reads_that(course: Course) -> None:
    found = row(course, "hid")
    assert (found["case"], found["advice"]) == ("", ALL_PASS)
    assert 0 <= found["score"] < 2.0


def test_a_known_mistake_answers_for_itself(course: Course) -> None:
    assert row(course, "dan", "pairwise_dots")["case"].startswith("What this mistake gives in a public case:")


def test_what_a_function_remembers_of_hidden_cases_is_not_in_it(course: Course) -> None:
    shown = row(course, "rem")["case"]
    assert "2.  0.  1. -3." in shown  # the first public case, the first thing that it was asked
    assert not re.search(r"\.\d\d", shown)  # as numbers of hidden cases have


def test_what_it_says_is_bounded_and_no_more_than_text(course: Course) -> None:
    shown = row(course, "tal")["case"]
    assert len(shown) < executing.MOST_CHARACTERS + 100
    assert shown.count("\n") <= executing.MOST_LINES
    assert "\x1b" not in page(course, "tal")
    assert "<script" not in page(course, "tal")


def test_a_class_that_is_graded_at_once_reads_the_same(course: Course) -> None:
    before = {student: page(course, student) for student in STUDENTS}
    graded = {student: scores(course, student) for student in STUDENTS}
    grade(course, NOTEBOOK, jobs=2, force=True)
    for student in STUDENTS:
        assert Pages(course).make(NOTEBOOK, student) == ("", [])
        assert row(course, student) == row_of(before[student])
        assert scores(course, student) == graded[student]


def row_of(stored: str) -> dict[str, Any]:
    soup = BeautifulSoup(stored, "html.parser")
    told = json.loads(str(soup.find("meta", {"name": "course-feedback"})["content"]))
    return next(one for one in told["rows"] if one["name"] == "mix_rows")


def test_a_loop_that_ends_in_no_public_case_costs_seconds_and_nothing_else(new_course) -> None:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    took = {}
    for answer in (SCALED, ENDLESS):
        hand_in(course, "eve", filled(course, {**RIGHT, "mix_rows": answer}))
        began = time.monotonic()
        course.autograde(NOTEBOOK, "eve", force=True)
        took[answer] = time.monotonic() - began
    course.generate_feedback(NOTEBOOK, "eve")
    assert took[ENDLESS] < took[SCALED] + 4 * executing.SECONDS_IN_PUBLIC
    assert scores(course, "eve") == (2.0, 0.0, 3.0)
    assert row(course, "eve")["advice"].startswith("Run check(mix_rows)")
    nbformat.read(str(course.folder("autograded", "eve", NOTEBOOK) / f"{NOTEBOOK}.ipynb"), as_version=4)
