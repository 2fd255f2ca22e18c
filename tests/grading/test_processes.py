"""The block of several processes, graded behind the walls: processes start and meet there, and none is waited for long."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.authoring.sample import answers_in, hand_in
from autograder.folder import Course
from autograder.grading.report.lines import Line
from autograder.grading.run import Graded, grade
from autograder.settings import ROOT

NOTEBOOK = "10_capstone"
RIGHT = answers_in(ROOT / "source" / NOTEBOOK / f"{NOTEBOOK}.ipynb")["parallel_block"]
FIRST_LINE = '    f = len(params["b1"])\n'
INSTEAD = {
    "right": FIRST_LINE,
    "prints": f"    print('x' * 100_000)\n{FIRST_LINE}",
    "leaves": f"    import os\n    rank and os._exit(0)\n{FIRST_LINE}",
    "waits": f"    rank or dist.all_reduce(torch.ones(3))\n{FIRST_LINE}",
    "orphans": f"    import subprocess\n    subprocess.Popen(['sleep', '600'])\n{FIRST_LINE}",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    made = Course.copied(tmp_path_factory.mktemp("processes") / "course")
    made.generate_assignment(NOTEBOOK)
    for student, first in INSTEAD.items():
        assert FIRST_LINE in RIGHT
        hand_in(made, student, NOTEBOOK, {"parallel_block": RIGHT.replace(FIRST_LINE, first)})
    return made


@pytest.fixture(scope="module")
def graded(course: Course) -> Graded:
    return grade(course, NOTEBOOK)


def judged(graded: Graded, student: str) -> Line:
    return next(line for line in graded.lines if (line.student, line.exercise) == (student, "parallel_block"))


@pytest.mark.parametrize("student", ["right", "prints", "orphans"])
def test_processes_meet_behind_the_walls(graded: Graded, student: str) -> None:
    assert (judged(graded, student).score, judged(graded, student).outcome) == (4.0, "passed")


@pytest.mark.parametrize("student", ["leaves", "waits"])
def test_ranks_that_do_not_meet_cost_their_points_and_are_told_of(course: Course, graded: Graded, student: str) -> None:
    assert judged(graded, student).outcome in ("wrong", "partly")
    page = Path(course.folder("feedback", student, NOTEBOOK), f"{NOTEBOOK}.html").read_text()
    said = {"leaves": "rank 1 ended without a word", "waits": "Rank 0 waited in a collective"}
    assert said[student] in page


def test_nobody_waits_for_what_a_rank_left_behind(graded: Graded) -> None:
    assert graded.marked["orphans"] < 300  # its processes sleep for 600
