"""A class on one paper: the same answer earns the same, by whatever door and whenever it is marked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autograder.folder import Course
from autograder.grading.run import Graded, grade
from tests.support.submissions import NOTEBOOK, RIGHT, filled, hand_in, scores

HALF_THE_TIME = """def pairwise_dots(A, B):
    return A @ B.T + (int(abs(A).sum() * 1e6) % 2 if A.size else 0)
def mix_rows(W, V):
    return W @ V + (int(abs(V).sum() * 1e6) % 2 if V.size else 0)"""
"""Right or wrong by the last digits of what it is asked: on papers of their own, few of a class would have the same points."""

STUDENTS = [f"student{i}" for i in range(8)]


def answered(course: Course, *students: str) -> None:
    notebook = filled(course, {**RIGHT, "pairwise_dots": HALF_THE_TIME, "mix_rows": ""})
    for student in students:
        hand_in(course, student, notebook)


def points(course: Course, *students: str) -> set[tuple[float, ...]]:
    return {scores(course, student) for student in students}


@pytest.fixture
def graded(new_course: Callable[[], Course]) -> tuple[Course, Graded]:
    course = new_course()
    answered(course, *STUDENTS)
    return course, grade(course, NOTEBOOK, jobs=2, feedback=False)


def test_the_same_answer_earns_the_same(graded: tuple[Course, Graded]) -> None:
    course, run = graded
    assert set(run.papers) == set(STUDENTS)
    assert len(set(run.papers.values())) == 1
    assert len(points(course, *STUDENTS)) == 1


def test_nbgraders_own_command_marks_on_the_paper_of_the_class(graded: tuple[Course, Graded]) -> None:
    course, _ = graded
    answered(course, "late")
    course.autograde(NOTEBOOK, "late")
    course.autograde(NOTEBOOK, STUDENTS[0], force=True)
    assert points(course, "late", STUDENTS[0]) == points(course, *STUDENTS)


def test_marked_again_nobodys_points_change_by_the_draw(graded: tuple[Course, Graded]) -> None:
    course, _ = graded
    held = grade(course, NOTEBOOK, jobs=2, feedback=False).papers
    before = points(course, *STUDENTS)
    again = grade(course, NOTEBOOK, jobs=2, feedback=False, force=True)
    assert set(again.marked) >= set(STUDENTS)
    assert {who: again.papers[who] for who in STUDENTS} == {who: held[who] for who in STUDENTS}
    assert again.changes == []
    assert points(course, *STUDENTS) == before


def test_a_paper_that_is_asked_for_is_everybodys_and_an_old_one_gives_the_old_points(
    graded: tuple[Course, Graded],
) -> None:
    course, first = graded
    (old,) = set(first.papers.values())
    before = points(course, *STUDENTS)
    seen = {next(iter(before))}
    for paper in range(6):  # each exercise has points by the toss of several coins
        run = grade(course, NOTEBOOK, jobs=2, feedback=False, paper=paper)
        assert set(run.papers.values()) == {paper}
        assert len(points(course, *STUDENTS)) == 1
        seen |= points(course, *STUDENTS)
    assert len(seen) > 1
    grade(course, NOTEBOOK, jobs=2, feedback=False, paper=old)
    assert points(course, *STUDENTS) == before


def test_a_paper_that_is_asked_for_counts_once_somebody_has_said_yes(graded: tuple[Course, Graded]) -> None:
    course, _ = graded
    kept = course.class_folder / "papers" / f"{NOTEBOOK}.json"
    for paper in range(20):  # nobody is asked where a paper happens to change nobody's points
        before = kept.read_text(), points(course, *STUDENTS)
        run = grade(course, NOTEBOOK, jobs=2, feedback=False, paper=paper, confirm=lambda _: False)
        if not run.written:
            break
    assert not run.written
    assert (kept.read_text(), points(course, *STUDENTS)) == before


def test_whoever_hands_in_after_feedback_is_marked_on_a_new_paper_and_nobody_else_is_marked_again(
    graded: tuple[Course, Graded],
) -> None:
    course, _ = graded
    run = grade(course, NOTEBOOK, jobs=2)
    answered(course, "afterwards")
    late = grade(course, NOTEBOOK, jobs=2)
    assert list(late.marked) == ["afterwards"]
    assert late.papers["afterwards"] not in set(run.papers.values())
    assert {who: late.papers[who] for who in STUDENTS} == {who: run.papers[who] for who in STUDENTS}
