"""The sample class, graded as any class is, and the reports on it."""

from __future__ import annotations

import ast
import linecache
import re
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

import autograder.authoring.sample as sample
from autograder.authoring.mutants import as_student
from autograder.authoring.sample import answers_in, as_notebook_code, make_sample
from autograder.exercises import NOTEBOOKS, every_exercise, exercise_named, exercises_in, tasks_in
from autograder.exercises.model import Exercise, Implementation, equivalence, lesson
from autograder.folder import ROOT, Course
from autograder.grading.command import run
from autograder.grading.report import NOTHING, Line, html, lines
from autograder.grading.run import grade
from autograder.judging.reference import given
from course.trial.comparing import same_answers

NOTEBOOK = "00_shapes"
MISTAKES = [(exercise, mistake) for exercise in every_exercise() for mistake in exercise.mistakes]
IMPLEMENTATIONS = MISTAKES + [(exercise, variant) for exercise in every_exercise() for variant in exercise.variants]


# ------------------------------------------------------------------------------------------ mistakes as student code


def notebook_names(exercise: Exercise) -> dict[str, Any]:
    """What a student's notebook has defined before an answer runs: its setup, what is carried over, right neighbours."""
    return set_up(exercise.notebook) | {other.name: other.oracle for other in exercises_in(exercise.notebook)}


@cache
def set_up(notebook: str) -> dict[str, Any]:
    """What the cells define that stand before the first answer."""
    names: dict[str, Any] = {}
    for cell in nbformat.read(str(ROOT / "source" / notebook / f"{notebook}.ipynb"), as_version=4).cells:
        if cell.id in ("setup", "carried-over"):
            exec(cell.source, names)
    return names


@pytest.mark.parametrize(
    ("exercise", "implementation"), IMPLEMENTATIONS, ids=lambda x: getattr(x, "name", None) or x.__name__
)
def test_as_notebook_code_an_implementation_answers_every_public_case_as_it_does_itself(
    exercise: Exercise, implementation: Implementation
) -> None:
    names = notebook_names(exercise)
    code = as_notebook_code(exercise, implementation)
    cell = f"<ipython-input-{exercise.name}-{implementation.__name__}>"  # a harness looks at the line that raised something
    linecache.cache[cell] = len(code), None, code.splitlines(keepends=True), cell
    exec(compile(code, cell, "exec"), names)
    itself = [given(exercise, as_student(exercise, implementation), case, False) for case in exercise.public]
    written = [given(exercise, names[exercise.name], case, False) for case in exercise.public]
    wanted = [given(exercise, exercise.oracle, case, False) for case in exercise.public]
    assert same_answers(wanted, itself, written)


@pytest.mark.parametrize(("exercise", "mistake"), MISTAKES, ids=lambda x: getattr(x, "name", None) or x.__name__)
def test_student_code_does_not_explain_its_own_mistake(exercise: Exercise, mistake: Implementation) -> None:
    code = as_notebook_code(exercise, mistake)
    assert f"def {exercise.name}(" in code
    assert not re.search(rf"\b{mistake.__name__}\b", code)
    assert ") ->" not in code
    assert lesson(mistake) not in " ".join(code.split())


@pytest.mark.parametrize("exercise", list(every_exercise()), ids=lambda exercise: exercise.name)
def test_student_code_defines_no_function_that_another_answer_defines(exercise: Exercise) -> None:
    others = {other.name for other in every_exercise()} - {exercise.name}
    for implementation in (*exercise.mistakes, *exercise.variants):
        code = ast.parse(as_notebook_code(exercise, implementation))
        assert not others & {node.name for node in code.body if isinstance(node, ast.FunctionDef)}, implementation


@pytest.mark.parametrize("exercise", list(every_exercise()), ids=lambda exercise: exercise.name)
def test_every_exercise_has_a_mistake_for_each_of_three_students(exercise: Exercise) -> None:
    assert sum(equivalence(mistake) is None for mistake in exercise.mistakes) >= 3


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_answers_of_a_notebook_are_found_by_exercise(notebook: str) -> None:
    found = answers_in(ROOT / "source" / notebook / f"{notebook}.ipynb")
    exercises, tasks = ([graded.name for graded in some] for some in (exercises_in(notebook), tasks_in(notebook)))
    assert list(found) == exercises + tasks
    assert all(f"def {name}(" in found[name] for name in exercises)


# --------------------------------------------------------------------------------------------------- a graded class


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The sample class for the first notebook, and Hal, whom the gradebook knows and who handed in nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample, "FOLDER", tmp_path_factory.mktemp("sample") / "course")
        patch.setattr(sample, "NOTEBOOKS", (NOTEBOOK,))
        made = make_sample()
    with Gradebook(made.database) as gradebook:
        gradebook.add_student("hal")
    return made


@pytest.fixture(scope="module")
def graded(course: Course) -> Path:
    """The report on the class."""
    done = grade(course, NOTEBOOK)
    assert done.failed == {}
    (said,) = done.notes["gus"]
    assert said.startswith(f"{NOTEBOOK} could not be read: ")
    assert done.report
    return done.report


@pytest.fixture
def report(course: Course, graded: Path) -> list[Line]:
    return lines(course, NOTEBOOK)


def row(report: list[Line], student: str) -> list[tuple[float | None, str]]:
    return [(line.score, line.outcome) for line in report if line.student == student]


def test_seven_students_hand_in_something(course: Course) -> None:
    assert course.submitters(NOTEBOOK) == ["ada", "ben", "cleo", "dan", "eve", "fay", "gus"]


def test_each_student_of_the_sample_earns_what_their_story_says(report: list[Line]) -> None:
    assert row(report, "ada") == [(2.0, "passed"), (2.0, "passed"), (3.0, "passed")]
    assert row(report, "ben") == [(0.0, "not attempted")] * 3
    assert row(report, "cleo") == [(2.0, "passed"), (0.0, "not attempted"), (0.0, "not attempted")]
    assert row(report, "gus") == [(0.0, "not attempted")] * 3


@pytest.mark.parametrize(("student", "place"), [("dan", 0), ("eve", 1), ("fay", 2)])
def test_a_known_mistake_loses_marks_and_is_named(report: list[Line], student: str, place: int) -> None:
    exercises = exercises_in(NOTEBOOK)
    expected = [e.mistakes[place].__name__ for e in exercises]
    own = [line for line in report if line.student == student]
    assert [line.mistakes for line in own] == [(name,) for name in expected]
    assert all((line.score or 0.0) < exercise.points for line, exercise in zip(own, exercises, strict=True))


def test_a_student_who_handed_in_nothing_is_in_the_report_and_has_no_zero(report: list[Line]) -> None:
    assert row(report, "hal") == [(None, NOTHING)] * 3


def test_the_page_has_a_row_for_every_student_with_points_and_total(graded: Path) -> None:
    page = graded.read_text()
    assert graded.name == f"{NOTEBOOK}.html"
    rows = dict(re.findall(r"<tr><th>(\w+)</th>(<td>.*?)</tr>", page))
    assert list(rows) == ["ada", "ben", "cleo", "dan", "eve", "fay", "gus", "hal"]
    assert rows["ada"] == "<td>2</td><td>2</td><td>3</td><td>7</td>"
    assert rows["cleo"] == "<td>2</td><td>0<br>not attempted</td><td>0<br>not attempted</td><td>2</td>"
    assert rows["hal"] == f"<td>{NOTHING}</td>" * 3 + "<td>0</td>"


def test_the_page_lists_mistakes_by_how_many_made_them_and_in_the_words_students_read(
    course: Course, report: list[Line]
) -> None:
    mistake = exercise_named("00_shapes", "mix_rows").mistakes[0]
    twice = [*report, Line("ivy", "mix_rows", 0.0, "wrong", (mistake.__name__,))]
    listed = re.findall(r"<tr><td>(\d+)</td><td>(\w+)</td><td>(\w+)</td><td>(.*?)</td></tr>", html(NOTEBOOK, twice))
    assert listed[0][:3] == ("2", "mix_rows", mistake.__name__)
    assert [count for count, *_ in listed] == ["2"] + ["1"] * 8


def test_names_of_students_cannot_become_markup() -> None:
    page = html(NOTEBOOK, [Line("<script>x</script>", "mix_rows", 1.0, "passed", ())])
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "No known mistake was recognised." in page


def test_grading_prints_the_table_and_says_who_handed_in_nothing(
    course: Course, graded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    assert run(course.root, NOTEBOOK) == 0
    printed = capsys.readouterr().out
    told = {cells[0].strip(): [c.strip() for c in cells[1:]] for cells in table_rows(printed)}
    assert told["ada"] == ["2", "2", "3", "7"]
    assert told["hal"] == [NOTHING, NOTHING, NOTHING, "0"]
    assert "could not be graded" not in printed


def table_rows(printed: str) -> list[list[str]]:
    return [line.split("│")[1:-1] for line in printed.splitlines() if line.startswith("│")]


def test_an_unreadable_submission_gets_a_page_that_says_so(course: Course, graded: Path) -> None:
    page = (course.folder("feedback", "gus", NOTEBOOK) / f"{NOTEBOOK}.html").read_text()
    assert "This submission could not be read" in page
