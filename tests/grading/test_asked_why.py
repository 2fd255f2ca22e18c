"""A student asks about points: the instructor sees the very case, and can run it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from typer.testing import CliRunner

from autograder.__main__ import app
from autograder.folder import Course
from autograder.grading.explaining import explain
from autograder.grading.run import grade
from autograder.problems import Problem
from tests.support.classes import files_in
from tests.support.submissions import NOTEBOOK, RIGHT, filled, hand_in

TURNED = "def pairwise_dots(A, B):\n    return B @ A.T"
OFTEN_RIGHT = "def mix_rows(W, V):\n    if len(W) == 1:\n        raise ValueError('one row')\n    return W @ V"


@pytest.fixture(scope="module")
def course(new_course: Callable[[], Course]) -> Course:
    course = new_course()
    hand_in(course, "ada", filled(course, {"pairwise_dots": TURNED, "mix_rows": OFTEN_RIGHT}))
    hand_in(course, "ben", filled(course, RIGHT))
    grade(course, NOTEBOOK, jobs=1, feedback=False)
    return course


def test_the_smallest_failing_case_of_each_missed_property_is_told_with_both_answers(course: Course) -> None:
    told = explain(course, NOTEBOOK, "ada", "pairwise_dots")
    assert "pairwise_dots: not right yet, 0 of 2 points" in told
    assert told.count("The smallest of these:") == told.count("  NO  ") == 3
    assert "    pairwise_dots(X, Y)" in told
    assert "known mistakes that answer alike: dots_turned in" in told


def test_what_was_earned_is_not_explained_and_the_rest_is(course: Course) -> None:
    told = explain(course, NOTEBOOK, "ada", "mix_rows")
    assert "mix_rows: partly right, 1.5 of 2 points" in told
    assert told.count("The smallest of these:") == 1
    assert "given:\n    ValueError: one row, line 3: raise ValueError('one row')" in told


def test_the_cell_that_is_told_shows_what_was_told(course: Course) -> None:
    told = explain(course, NOTEBOOK, "ada", "mix_rows")
    cell = told[told.index("    import numpy") : told.index("mix_rows(A, V)") + len("mix_rows(A, V)")]
    scope: dict[str, object] = {}
    exec(OFTEN_RIGHT, scope)
    with pytest.raises(ValueError, match="one row"):
        exec("\n".join(line.removeprefix("    ") for line in cell.split("\n")), scope)


@pytest.mark.parametrize(
    ("student", "exercise", "outcome"), [("ada", "to_columns", "not attempted"), ("ben", "mix_rows", "passed")]
)
def test_where_nothing_was_missed_or_tried_the_verdict_is_all(
    course: Course, student: str, exercise: str, outcome: str
) -> None:
    told = explain(course, NOTEBOOK, student, exercise)
    assert f"{exercise}: {outcome}" in told
    assert "smallest" not in told


def test_whoever_has_handed_in_anew_or_was_not_graded_is_told_of(new_course: Callable[[], Course]) -> None:
    course = new_course()
    hand_in(course, "ada", filled(course, {"pairwise_dots": TURNED}))
    assert "paper" in (said := explain(course, NOTEBOOK, "ada", "pairwise_dots"))
    assert "was not graded yet" in said
    (paper,) = grade(course, NOTEBOOK, jobs=1).papers.values()  # feedback is out, so a new submission gets a new paper
    said = explain(course, NOTEBOOK, "ada", "pairwise_dots")
    assert said.startswith(f"ada, {NOTEBOOK}, paper {paper}\npairwise_dots: ")
    hand_in(course, "ada", filled(course, RIGHT))
    said = explain(course, NOTEBOOK, "ada", "pairwise_dots")
    assert said.startswith(f"ada, {NOTEBOOK}, paper {paper}\nThis was handed in since: ")
    assert "pairwise_dots: passed" in said


def test_nothing_is_written(course: Course) -> None:
    before = files_in(course.root / "class")
    explain(course, NOTEBOOK, "ada", "pairwise_dots")
    assert files_in(course.root / "class") == before


def test_a_wrong_name_gets_the_nearest(course: Course) -> None:
    with pytest.raises(Problem, match=r"adda handed in nothing for 00_shapes\. Did you mean ada\?"):
        explain(course, NOTEBOOK, "adda", "mix_rows")
    for wrong, said in (("mix_row", "did you mean mix_rows"), (NOTEBOOK, "name one of its exercises")):
        result = CliRunner().invoke(app, ["explain", "ada", wrong, "--course", str(course.root)])
        assert result.exit_code == 2
        assert said in " ".join(result.output.replace("│", " ").split())


def test_the_command_prints_it(course: Course) -> None:
    result = CliRunner().invoke(app, ["explain", "ada", "pairwise_dots", "--course", str(course.root)])
    assert result.exit_code == 0, result.output
    assert result.output.strip() == explain(course, NOTEBOOK, "ada", "pairwise_dots")
