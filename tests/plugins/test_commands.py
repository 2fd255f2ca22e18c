"""nbgrader's own commands, as an instructor or a student types them, in a shell in which nobody activated anything."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.exercises.model import lesson
from autograder.exercises.shapes.pairwise_dots import dots_turned
from autograder.folder import Course
from course.trial.text import KNOWN_MISTAKE
from tests.support.submissions import EXERCISES, NOTEBOOK, RIGHT, filled, hand_in, page, scores, words

Done = CompletedProcess[str]
TURNED = "def pairwise_dots(A, B):\n    return B @ A.T"


def nbgrader(course: Course, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Start nbgrader in the course's root, in an environment in which nobody activated anything."""
    environment = {key: os.environ[key] for key in ("HOME", "PYTHONPATH") if key in os.environ}
    return subprocess.run(
        [Path(sys.executable).parent / "nbgrader", *arguments],
        cwd=course.root,
        env={"PATH": "/usr/bin:/bin", **environment},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


@pytest.fixture(scope="module")
def course(new_course) -> Course:
    made: Course = new_course()
    shutil.rmtree(made.root / "release")
    return made


@pytest.fixture(scope="module")
def generated(course: Course) -> Done:
    return nbgrader(course, "generate_assignment", NOTEBOOK, "--force")


@pytest.fixture(scope="module")
def autograded(course: Course, generated: Done) -> Done:
    hand_in(course, "ada", filled(course, RIGHT))
    hand_in(course, "dan", filled(course, {**RIGHT, "pairwise_dots": TURNED}))
    return nbgrader(course, "autograde", NOTEBOOK)


@pytest.fixture(scope="module")
def fed_back(course: Course, autograded: Done) -> Done:
    return nbgrader(course, "generate_feedback", NOTEBOOK)


def test_generate_assignment_makes_the_release(course: Course, generated: Done, released: Path) -> None:
    assert generated.returncode == 0, generated.stdout
    path = Path("release", NOTEBOOK, f"{NOTEBOOK}.ipynb")
    assert (course.root / path).read_bytes() == (released / path).read_bytes()


def test_autograde_fills_the_gradebook(course: Course, autograded: Done) -> None:
    assert autograded.returncode == 0, autograded.stdout
    assert scores(course, "ada") == (2.0, 2.0, 3.0)
    assert scores(course, "dan") == (0.0, 2.0, 3.0)


def test_generate_feedback_writes_a_page_that_names_the_mistake(course: Course, fed_back: Done) -> None:
    assert fed_back.returncode == 0, fed_back.stdout
    assert lesson(dots_turned) in words(page(course, "dan"))
    assert "pairwise_dots: passed, 2 of 2 points" in words(page(course, "ada"))


def test_export_lists_every_student_with_points(course: Course, autograded: Done) -> None:
    exported = nbgrader(course, "export", "--to", "grades.csv")
    assert exported.returncode == 0, exported.stdout
    with (course.root / "grades.csv").open() as file:
        listed = {row["student_id"]: (row["score"], row["max_score"]) for row in csv.DictReader(file)}
    assert listed == {"ada": ("7.0", "7.0"), "dan": ("5.0", "7.0")}


def test_an_exercise_that_was_not_executed_waits_for_a_person_whatever_outputs_it_came_with(new_course) -> None:
    course: Course = new_course()
    notebook = filled(course, RIGHT)
    forged = {"exercise": "pairwise_dots", "outcome": "passed", "score": 2.0}
    data = {"text/plain": "2", "application/vnd.course.verdict+json": forged}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("execute_result", data, execution_count=1)]
    hand_in(course, "eve", notebook)
    done = nbgrader(course, "autograde", NOTEBOOK, "--student", "eve", "--no-execute")
    assert done.returncode == 0, done.stdout
    assert scores(course, "eve") == (None, None, None)
    with Gradebook(course.database) as gradebook:
        grades = [gradebook.find_grade(exercise, NOTEBOOK, NOTEBOOK, "eve") for exercise in EXERCISES]
        assert all(grade.needs_manual_grade for grade in grades)
        assert gradebook.find_submission(NOTEBOOK, "eve").score == 0.0


def validate(course: Course, folder: Path, answers: dict[str, str]) -> str:
    path = folder / f"{NOTEBOOK}.ipynb"
    path.write_text(json.dumps(filled(course, answers)))
    return nbgrader(course, "validate", str(path)).stdout


def test_validate_says_success_on_right_answers_also_where_one_warns(
    course: Course, generated: Done, tmp_path: Path
) -> None:
    warning = "import warnings\ndef mix_rows(W, V):\n    warnings.warn('mind the gap')\n    return W @ V"
    assert "Success! Your notebook passes all the tests." in validate(course, tmp_path, {**RIGHT, "mix_rows": warning})


def test_validate_fails_with_the_words_of_check(course: Course, generated: Done, tmp_path: Path) -> None:
    turned = "import warnings\ndef pairwise_dots(A, B):\n    warnings.warn('mind the gap')\n    return B @ A.T"
    said = validate(course, tmp_path, {"pairwise_dots": turned, "to_columns": RIGHT["to_columns"]})
    assert "VALIDATION FAILED ON 2 CELL(S)!" in said
    assert "Traceback" not in said
    told = " ".join(said.split())
    assert "pairwise_dots: not yet." in told
    assert KNOWN_MISTAKE + lesson(dots_turned) in told
    assert (
        "mix_rows: not written yet. Put your code where `raise NotImplementedError()` is, and run both cells again."
        in told
    )
