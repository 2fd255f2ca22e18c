"""A paper: the same cases for everybody, and each answer to them worked out once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autograder.authoring.mutants import as_student
from autograder.exercises import every_exercise, exercise_named
from autograder.exercises.model import Exercise
from autograder.judging import Paper, judge_here
from autograder.judging.again import again
from autograder.judging.paper import paper_of
from course.client import answer
from course.trial import ranks
from course.trial.functions import Function
from course.trial.values import pack
from tests.support.sampled import is_first

DOTS = exercise_named("00_shapes", "pairwise_dots")


def frames(paper: Paper) -> list[bytes]:
    """The values that all cases are made of, as they travel."""
    cases = [case for sheet in paper.sheets for case in (*sheet.cases, *sheet.again)]
    return [pack(tuple(a for a in case.arguments if not isinstance(a, Function))) for case in cases]


def test_a_seed_gives_the_cases_that_the_probes_draw_one_after_another() -> None:
    rng = np.random.default_rng(7)
    drawn = [probe.draw(rng) for probe in DOTS.probes]
    sheets = Paper(DOTS, 7).sheets
    assert [sheet.probe for sheet in sheets] == list(DOTS.probes)
    assert repr([list(sheet.cases) for sheet in sheets]) == repr(drawn)
    assert repr(list(sheets[0].again)) == repr(again(drawn[0]))
    assert not any(sheet.again for sheet in sheets[1:])


def test_papers_differ_by_seed_and_by_exercise_and_those_of_one_run_are_made_once() -> None:
    one, other, later = (
        paper_of("00_shapes", "pairwise_dots", 1),
        paper_of("00_shapes", "mix_rows", 1),
        paper_of("00_shapes", "pairwise_dots", 2),
    )
    assert paper_of("00_shapes", "pairwise_dots", 1) is one
    assert one.seed != other.seed
    assert frames(one) == frames(Paper(DOTS, one.seed))
    assert frames(one) != frames(later)


def test_what_is_right_and_what_a_mistake_says_is_worked_out_once_for_each_case() -> None:
    asked: list[int] = []

    def counted(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        asked.append(len(A))
        return A @ B.T

    paper = Paper(replace(DOTS, oracle=counted), 1)
    first, second = paper.sheets[0].cases[0], paper.sheets[1].cases[0]
    assert paper.expected(first) is paper.expected(first)
    assert len(asked) == 1
    assert paper.given(counted, first, False) is paper.given(counted, first, False)
    assert len(asked) == 2
    paper.given(counted, first, True)  # once more, and once with a look at the lines
    paper.expected(second)
    assert len(asked) == 5


@pytest.mark.parametrize("exercise", list(filter(is_first, every_exercise())), ids=lambda exercise: exercise.name)
def test_whoever_was_tried_before_leaves_the_paper_as_it_was(exercise: Exercise) -> None:
    """A second answer, right or wrong, gets the verdict that it would have got as the first; functions and devices are made anew."""
    shared = Paper(exercise, 3)
    before = frames(shared)
    students = [as_student(exercise, one) for one in (exercise.variants[0], *exercise.mistakes[:2])]
    with ranks.simulated():
        alone = {student: judge_here(student, Paper(exercise, 3), answer) for student in students}
        for student in (*students, students[0]):
            assert judge_here(student, shared, answer) == alone[student]
    assert frames(shared) == before
