"""What comes back to a student: marks with reasons, and nothing that belongs to the hidden tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Gradebook

from autograder.exercises import exercise_named
from autograder.exercises.model import Exercise, lesson
from autograder.exercises.shapes.mix_rows import normalises_unasked
from autograder.folder import Course
from autograder.grading.report.lines import lines
from autograder.judging import Paper, hearing
from autograder.judging.paper import paper_of
from autograder.plugins import papers
from tests.support.submissions import EXERCISES, NOTEBOOK, RIGHT, filled, hand_in, page, scores, words

SEED = 7
NOTHING_OF_ONE = "def pairwise_dots(A, B):\n    return np.zeros((1, len(B))) if len(A) == 1 else A @ B.T"
NORMALISES = "def mix_rows(W, V):\n    return (W / W.sum(axis=1, keepdims=True)) @ V"
TELLS_ITS_ARGUMENTS = "def to_columns(X, W):\n    print(X)\n    raise ValueError(repr(X.tolist()))"


@pytest.fixture(scope="module")
def course(new_course) -> Course:
    """Bea has each exercise partly or wholly wrong, and the hidden data she met are known here."""
    made: Course = new_course()
    hand_in(
        made, "bea", filled(made, dict(zip(EXERCISES, (NOTHING_OF_ONE, NORMALISES, TELLS_ITS_ARGUMENTS), strict=True)))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(papers, "new_paper", lambda: SEED)
        made.autograde(NOTEBOOK, "bea")
    made.generate_feedback(NOTEBOOK, "bea")
    return made


def hidden_numbers(exercise: Exercise) -> Iterator[str]:
    """The numbers of the cases that Bea's answers were tried on, in as many digits as anybody prints."""
    for sheet in paper_of(NOTEBOOK, exercise.name, SEED).sheets:
        for case in sheet.cases:
            for argument in case.arguments:
                yield from (f"{abs(x):.10f}"[:9] for x in np.asarray(argument).ravel())


def test_partial_credit_comes_with_the_property_that_failed_and_the_reason(course: Course) -> None:
    told = words(page(course, "bea"))
    assert scores(course, "bea") == (1.5, 0.0, 0.0)
    assert "pairwise_dots: partly right, 1.5 of 2 points" in told
    assert (
        "no 0 of 0.5 a single row in X or in Y, and arrays that lie otherwise in memory, as a transpose does "
        "The result has the right form, and the wrong value." in told
    )


def test_the_page_begins_with_the_exercises_and_what_was_missed(course: Course) -> None:
    table = words(page(course, "bea")).partition("00 · Reading")[0]
    assert "pairwise_dots 1.5 of 2 ◐ partly right " in table
    assert "0 of 0.5: a single row in X or in Y, and arrays" in table
    assert "mix_rows 0 of 2 ✗ not right yet A known mistake gives exactly these answers:" in table
    assert "to_columns 0 of 3 ✗ stopped with an error" in table
    assert "in all 1.5 of 7" in table


def test_a_known_mistake_is_explained(course: Course) -> None:
    assert lesson(normalises_unasked) in words(page(course, "bea"))


def test_the_source_of_the_hidden_tests_is_not_shown(course: Course) -> None:
    told = words(page(course, "bea")).replace(" ", "")
    assert "check(pairwise_dots)" in told
    assert "judge(" not in told
    assert "HIDDENTESTS" not in told
    assert "fromcourseimportjudge" not in told


@pytest.mark.parametrize("name", EXERCISES)
def test_the_hidden_data_are_not_shown_even_to_a_function_that_tells_them(course: Course, name: str) -> None:
    numbers = set(hidden_numbers(exercise_named(NOTEBOOK, name)))
    assert len(numbers) > 20
    shown = set(re.findall(r"\d+\.\d{7}", page(course, "bea")))
    assert not numbers & shown


def test_the_hidden_data_would_have_been_found_there(course: Course) -> None:
    """What the test above looks for is what a function sees while it is judged with this seed."""
    case = paper_of(NOTEBOOK, "to_columns", SEED).sheets[0].cases[0]
    told = repr(case.arguments[0].tolist())
    assert set(re.findall(r"\d+\.\d{7}", told)) & set(hidden_numbers(exercise_named(NOTEBOOK, "to_columns")))


ACTING = "<b>seen</b><script>act()</script><img src='x' onerror='act()'><a href='javascript:act()'>x</a><iframe srcdoc='x'></iframe>"
DISPLAYS = f"""from IPython.display import display
display({{"text/html": {ACTING!r}}}, raw=True)
display({{"text/markdown": {ACTING!r}}}, raw=True)
display({{"application/javascript": "act()"}}, raw=True)
display({{"image/svg+xml": "<svg><script>act()</script></svg>"}}, raw=True)
display({{"image/png": "AAAA"}}, raw=True, metadata={{"image/png": {{"width": "1 onerror=act()"}}}})"""


@pytest.fixture(scope="module")
def acting(new_course) -> BeautifulSoup:
    """The page of somebody whose notebook would act on it."""
    made: Course = new_course()
    notebook = filled(made, RIGHT)
    notebook.cells += [new_markdown_cell(f"$a<b$ {ACTING}"), new_code_cell(DISPLAYS)]
    hand_in(made, "eve", notebook)
    made.autograde(NOTEBOOK, "eve")
    made.generate_feedback(NOTEBOOK, "eve")
    return BeautifulSoup(page(made, "eve"), "html.parser").body


def test_nothing_in_a_notebook_acts_on_its_page(acting: BeautifulSoup) -> None:
    assert acting.find_all(["script", "iframe"]) == []
    attributes = [(name, str(value)) for element in acting.find_all(True) for name, value in element.attrs.items()]
    assert not [name for name, _ in attributes if name.startswith("on")]
    assert not [value for _, value in attributes if "act()" in value]


def test_what_does_not_act_is_there(acting: BeautifulSoup) -> None:
    assert [element.text for element in acting.find_all("b")].count("seen") == 3
    assert [element.text for element in acting.find_all("math")][-1] == "a<b"
    assert len(acting.select("img[src^='data:image/svg+xml;base64,']")) == 1
    assert len(acting.select("img[src^='data:image/png;base64,AAAA']")) == 1


@pytest.fixture(scope="module")
def faulty(new_course) -> Course:
    """A judge that fails on one exercise, whatever the answer is."""
    made: Course = new_course()
    hand_in(made, "ada", filled(made, RIGHT))
    examine = hearing.examine

    def fail(paper: Paper, *others: Any) -> Any:
        if paper.exercise.name == "mix_rows":
            raise ZeroDivisionError("a bug in the judge")
        return examine(paper, *others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hearing, "examine", fail)
        made.autograde(NOTEBOOK, "ada")
    made.generate_feedback(NOTEBOOK, "ada")
    return made


def test_a_judge_that_fails_sends_the_exercise_to_a_person_and_gives_no_zero(faulty: Course) -> None:
    assert scores(faulty, "ada") == (2.0, None, 3.0)
    with Gradebook(faulty.database) as gradebook:
        grades = {name: gradebook.find_grade(name, NOTEBOOK, NOTEBOOK, "ada") for name in EXERCISES}
        assert [grade.needs_manual_grade for grade in grades.values()] == [False, True, False]


def test_the_student_reads_that_a_person_will_look_at_it(faulty: Course) -> None:
    told = words(page(faulty, "ada"))
    assert "mix_rows: the grader failed, a person will look at it" in told
    assert "ZeroDivisionError in the judge; a person will look at it." in told
    assert "a bug in the judge" not in told


def test_the_report_does_not_count_it_as_zero_until_a_person_has_decided(faulty: Course) -> None:
    assert [(line.score, line.outcome) for line in lines(faulty, NOTEBOOK)] == [
        (2.0, "passed"),
        (None, "grader fault"),
        (3.0, "passed"),
    ]
    with Gradebook(faulty.database) as gradebook:
        gradebook.find_grade("mix_rows", NOTEBOOK, NOTEBOOK, "ada").manual_score = 1.5
        gradebook.db.commit()
    assert [line.score for line in lines(faulty, NOTEBOOK)] == [2.0, 1.5, 3.0]
