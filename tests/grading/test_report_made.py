"""The report of a class that was really graded: what is found in the gradebook, the folders and the notebooks."""

from __future__ import annotations

import ast
import json
import re
import shutil
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook
from rich.console import Console
from typer.testing import CliRunner

import course as library
from autograder.__main__ import app
from autograder.exercises import exercise_named
from autograder.exercises.model import exercise_in
from autograder.folder import Course
from autograder.grading.harvesting import stub
from autograder.grading.report.gathering import CORRECT, Gathered, gather
from autograder.grading.report.grouping import groups
from autograder.grading.report.page import html
from autograder.grading.report.telling import exercises
from autograder.grading.reporting import report
from autograder.grading.run import Graded, grade
from autograder.grading.table import summary, table
from autograder.judging import Paper, judge_here
from autograder.problems import Problem
from autograder.settings import ROOT
from course.client import answer
from tests.support.classes import KERNEL, STOCK, cell, duplicated, edit, hand_in_stock, release_stock
from tests.support.submissions import NOTEBOOK, RIGHT, filled, grade_cell, hand_in, words

SLIP = "# by una\ndef mix_rows(W, V):\n    return 1.5 * (W @ V)"
SAME_SLIP = "def mix_rows(W, V):\n    W = W * 3\n    half = 0.5\n    return half * (W @ V)"
OTHER = "def mix_rows(W, V):\n    return 1.7 * (W @ V)"
RAISING = "def mix_rows(W, V):\n    raise RuntimeError('no')"
ENDLESS = "def mix_rows(W, V):\n    import os\n    os._exit(1)"


@pytest.fixture(scope="module")
def course(new_course) -> Course:  # type: ignore[no-untyped-def]
    made: Course = new_course()
    answers = {"ada": RIGHT["mix_rows"], "una": SLIP, "uwe": SAME_SLIP, "ulf": OTHER, "ray": RAISING, "end": ENDLESS}
    for student, source in answers.items():
        notebook = filled(made, {**RIGHT, "mix_rows": source})
        if student in ("una", "uwe"):
            said = "mix_rows: correct on all 3 public cases. The hidden tests try more."
            grade_cell(notebook, "mix_rows").outputs = [
                new_output("execute_result", {"text/plain": said}, execution_count=1)
            ]
            guess = next(cell for cell in notebook.cells if cell.source.startswith("guess"))
            guess.source = f"guess = {5 if student == 'una' else '3 '}# mine"
        hand_in(made, student, duplicated(notebook) if student == "ulf" else notebook)
    with Gradebook(made.database, made.directory.course_id) as gradebook:
        gradebook.update_or_create_student("una", first_name="Una", last_name="Stone")
        gradebook.update_or_create_student("hal", first_name="Hal", last_name="Novak")
    return made


@pytest.fixture(scope="module")
def graded(course: Course) -> Graded:
    return grade(course, NOTEBOOK, jobs=2)


@pytest.fixture(scope="module")
def gathered(course: Course, graded: Graded) -> Gathered:
    return gather(course, NOTEBOOK)


def test_the_same_slip_written_in_two_ways_is_one_group(gathered: Gathered) -> None:
    assert [group.students for group in groups(gathered.lines)] == [["una", "uwe"], ["ray"], ["ulf"]]
    una = next(line for line in gathered.lines if line.student == "una" and line.exercise == "mix_rows")
    assert una.code == SLIP
    assert una.missed
    assert una.note.endswith("the right one times 3/2.")


def test_the_table_says_what_was_not_recognised(gathered: Gathered) -> None:
    said = {line.student: line.remarks for line in gathered.lines if line.exercise == "mix_rows"}
    assert said["ada"] == ()
    assert said["una"] == ("not recognised",)
    assert said["ray"] == ("raised, not recognised",)
    assert said["end"] == ("crashed",)
    console = Console(width=140)
    with console.capture() as printed:
        console.print(table(console, NOTEBOOK, gathered.lines))
    assert "raised, not recognised" in printed.get()


def test_no_page_of_a_student_shows_by_what_answers_are_known_to_be_alike(course: Course, gathered: Gathered) -> None:
    known = {line.student: line.alike for line in gathered.lines if line.alike}
    assert set(known) == {"una", "uwe", "ray", "ulf"}
    for student, digest in known.items():
        assert digest not in (course.folder("feedback", student, NOTEBOOK) / f"{NOTEBOOK}.html").read_text()


def test_what_check_says_of_a_right_answer_is_what_is_looked_for(course: Course, graded: Graded) -> None:
    def mix_rows(W, V):  # type: ignore[no-untyped-def]
        return W @ V

    data = {"text/plain": repr(library.check(mix_rows)).splitlines(keepends=True), "text/html": ""}
    for indent in (None, 1):
        assert CORRECT.findall(json.dumps(data, indent=indent).encode()) == [b"mix_rows"]
        assert CORRECT.findall(json.dumps({"source": json.dumps(data)}, indent=indent).encode()) == []
    wrong = repr(library.check(lambda_named("mix_rows")))
    assert CORRECT.findall(json.dumps({"text/plain": wrong}).encode()) == []


def lambda_named(name: str) -> Callable[..., object]:
    def function(W: Any, V: Any) -> Any:
        return V

    function.__name__ = name
    return function


def test_who_had_passed_check_and_lost_marks_is_known_from_what_was_handed_in(gathered: Gathered) -> None:
    assert {who: passed for who, passed in gathered.checked.items() if passed} == {
        "una": {"mix_rows"},
        "uwe": {"mix_rows"},
    }
    assert "100 % (2 of 2) mix_rows" in words(html(gathered)).replace("_ ", "_")


def test_guesses_are_counted_as_they_were_meant(gathered: Gathered) -> None:
    (guesses,) = gathered.guesses
    assert (guesses.name, dict(guesses.counted)) == ("guess", {"5": 1, "3": 1})
    assert guesses.asked.startswith("how many of the five")
    assert guesses.told.isdecimal()


def test_every_page_of_feedback_is_linked_and_is_there(course: Course, graded: Graded, gathered: Gathered) -> None:
    assert graded.report
    assert set(gathered.pages) == {"ada", "una", "uwe", "ulf", "ray", "end"}
    for student, page in gathered.pages.items():
        assert (graded.report.parent / page).is_file()
        assert f'href="{page}"' in graded.report.read_text(), student


def test_the_exceptions_of_the_run_are_told_by_a_later_report_too(course: Course, graded: Graded) -> None:
    assert graded.report
    before = graded.report.read_text()
    again = report(course, NOTEBOOK)
    assert again == graded.report
    without_time = [re.sub(r"Made on .*?,", "", one) for one in (before, again.read_text())]
    assert without_time[0] == without_time[1]
    said = words(before)
    assert "Crashed: 1 end: mix_rows" in said
    assert "Repaired, renamed, moved away or stopped: 2" in said
    assert "Handed in nothing: 1 Hal Novak" in said
    assert "Not on the roster (the gradebook has no name for them): 5" in said
    assert f"6 students marked on paper {graded.papers['una']} (" in said


def test_a_report_for_a_lecture_lies_beside_the_other_and_names_nobody(course: Course, graded: Graded) -> None:
    page = report(course, NOTEBOOK, anonymous=True)
    assert page.name == f"{NOTEBOOK}-anonymous.html"
    assert not re.search(r"\b(una|uwe|ulf|Una|Stone|hal|Novak)\b", words(page.read_text()))
    assert "return 1.7 * (W @ V)" in page.read_text()


def test_another_courses_assignment_has_a_report_without_mistakes(new_course) -> None:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    release_stock(course)
    hand_in_stock(course)
    done = grade(course, STOCK, feedback=False, jobs=1)
    assert done.report
    page = done.report.read_text()
    assert 'id="alike"' not in page
    assert 'id="e-first-partial"' in page
    assert "Could not be graded: 1 cleo: " in words(page)
    assert "Wait for a person: 1 ada: first/essay, to be graded by hand" in words(page)
    assert "3 submissions, 1 not graded; mean 3.5, median 3.5, of 21" in words(page)
    assert "Not graded yet" not in page


PLOTS = {
    "draw": "def draw(values):\n    raise NotImplementedError()",
    "drawn": "lines = draw([1, 2])\nassert len(lines) == 1, f'{len(lines)} lines'\nassert lines[0] == [1, 2]",
    "sizes": "import numpy as np\nnp.testing.assert_allclose(draw([1.0]), [[1.0]])",
}
DRAWN = {
    "ada": "[values]",
    "ben": "[values, values]",
    "cleo": "[]",
    "dan": "[values[::-1]]",
    "eve": "[vales]",
    "fay": "[[2 * value for value in values]]",
}


@pytest.fixture(scope="module")
def plots(new_course) -> Course:  # type: ignore[no-untyped-def]
    """Another course's assignment, with asserts and a question: six have answered, gus has not, and the last question is for a person."""
    course: Course = new_course()
    cells = [
        cell(new_code_cell(PLOTS["draw"]), "draw", solution=True),
        cell(new_code_cell(PLOTS["drawn"]), "drawn", 2),
        cell(new_code_cell(PLOTS["sizes"]), "sizes", 1),
        cell(new_markdown_cell("Why 0?"), "why_0", 4, solution=True, locked=False),
        cell(new_markdown_cell("Why 1?"), "why_1", 3, solution=True, locked=False),
    ]
    (course.root / "source" / "plots").mkdir()
    source = course.root / "source" / "plots" / "plots.ipynb"
    source.write_text(json.dumps(new_notebook(cells=cells, metadata=KERNEL)))
    course.generate_assignment("plots")
    for student, result in {**DRAWN, "gus": ""}.items():
        folder = course.folder("submitted", student, "plots")
        shutil.copytree(course.root / "release" / "plots", folder)
        if result:
            edit(folder / "plots.ipynb", 0, f"def draw(values):\n    return {result}")
            edit(folder / "plots.ipynb", 3, "Because.")
            edit(folder / "plots.ipynb", 4, "So.")
    grade(course, "plots", feedback=False, jobs=2)
    with Gradebook(course.database, course.directory.course_id) as gradebook:
        marked = gradebook.find_grade("why_1", "plots", "plots", "ada")
        marked.manual_score, marked.needs_manual_grade = 1.0, False
        gradebook.db.commit()
    return course


def test_what_went_wrong_where_tests_are_asserts_is_how_these_ended(plots: Course) -> None:
    gathered = gather(plots, "plots")
    drawn, sizes, why_0, why_1 = sorted(exercises(gathered), key=lambda one: list(gathered.columns).index(one.name))
    assert [(one.what, one.students, one.lesson) for one in drawn.errors] == [
        ("AssertionError at `assert len(lines) == 1, f'{len(lines)} lines'`", ("ben", "cleo"), "2 lines"),
        ("AssertionError at `assert lines[0] == [1, 2]`", ("dan", "fay"), ""),
        ("NameError at `lines = draw([1, 2])`", ("eve",), "name 'vales' is not defined"),
    ]
    assert drawn.most == drawn.errors[0]
    assert sizes.most.what == "AssertionError at `np.testing.assert_allclose(draw([1.0]), [[1.0]])`"
    assert drawn.blank.students == sizes.blank.students == why_0.blank.students == ("gus",)
    assert (why_0.is_open, why_1.is_open) == (True, False)
    assert why_0.waiting.students == tuple(DRAWN)
    assert why_1.waiting.students == tuple(DRAWN)[1:]


def test_questions_that_nobody_has_marked_stand_apart(plots: Course) -> None:
    stored = html(gather(plots, "plots"))
    first = stored.split("<tbody>")[1].split("</tbody>")[0]
    assert re.findall(r'href="#e-(\w+)"', first) == ["drawn", "why_1", "sizes"]
    assert 'id="e-why_0"' not in stored
    page = words(stored).replace("_ ", "_")
    assert "Questions that nobody has marked yet" in page
    assert "why_0 (4 points): 6 to be marked, 1 not attempted" in page


def test_a_report_has_no_column_that_is_always_0_and_no_word_that_is_no_mistake(plots: Course) -> None:
    stored = html(gather(plots, "plots"))
    head = words(f"<body{stored.split('<thead>')[1].split('</thead>')[0]}")
    assert head == "exercise solved mean not attempted most frequent mistake, and what its students read"
    page = words(stored)
    assert "graded:" not in page
    assert "graded, " not in page
    assert "AssertionError at assert len(lines) == 1" in page


def test_a_lecture_sees_no_message_that_one_student_alone_brought_about(plots: Course) -> None:
    assert "vales" in html(gather(plots, "plots"))
    assert "vales" not in html(gather(plots, "plots"), anonymous=True)


def test_the_summary_of_a_class_says_how_tests_ended_and_how_many_are_blank(plots: Course) -> None:
    console = Console(width=140)
    with console.capture() as printed:
        console.print(summary("plots", gather(plots, "plots").lines))
    rows = [[part.strip() for part in row.split("│")[1:-1]] for row in printed.get().splitlines() if "│" in row]
    assert rows[0] == [
        "drawn",
        "2",
        "0.286",
        "14%",
        "1",
        "AssertionError at `assert len(lines) == 1, f'{len(lines)} lines'`, 2",
    ]
    assert rows[2][-2:] == ["1", ""]


def test_the_term_has_every_graded_assignment_and_everybodys_points(course: Course, graded: Graded) -> None:
    stored = report(course, None).read_text()
    assert re.findall(r'href="(.*?)"', stored) == [f"{NOTEBOOK}.html"]
    page = words(stored)
    una = sum(line.score or 0.0 for line in graded.lines if line.student == "una")
    assert f"{NOTEBOOK} 6 7 " in page
    assert f"Una Stone una {una:g} " in page
    assert "Stone" not in report(course, None, anonymous=True).read_text()


def test_what_is_not_graded_has_no_report(new_course) -> None:  # type: ignore[no-untyped-def]
    fresh: Course = new_course()
    with pytest.raises(Problem, match="Nothing is graded yet"):
        report(fresh, None)
    with pytest.raises(Problem, match="Nobody handed in 00_shapes"):
        report(fresh, NOTEBOOK)
    hand_in(fresh, "ada", filled(fresh, RIGHT))
    with pytest.raises(Problem, match="run `python -m autograder grade 00_shapes` first"):
        report(fresh, NOTEBOOK)
    with pytest.raises(Problem, match="no assignment 'nowhere'"):
        report(fresh, "nowhere")


# ------------------------------------------------------------------------------------------------------------- harvest


def harvested(course: Course, name: str) -> str:
    done = CliRunner().invoke(app, ["harvest", name, "--course", str(course.root)])
    assert done.exit_code == 0, done.output
    return done.output


def test_harvest_gives_each_group_one_stub_with_where_it_belongs(course: Course, graded: Graded) -> None:
    told = harvested(course, "mix_rows")
    assert told == harvested(course, "00")
    assert told.count("@mistake\ndef unnamed_") == 3
    first = told.split("\n\n\n")[0]
    assert first.startswith("# autograder/exercises/shapes/mix_rows.py: 2 students, 0 of 2 points\n# missed: ")
    assert "def unnamed_1(W: F, V: F) -> F:" in first
    assert "TODO" in first
    assert "una" not in told


def test_a_stub_is_a_mistake_that_the_judge_then_names(course: Course, graded: Graded) -> None:
    declared = ROOT / "autograder" / "exercises" / "shapes" / "mix_rows.py"
    module = ModuleType("mix_rows")
    text = f"{declared.read_text()}\n\n{harvested(course, 'mix_rows')}"
    exec(compile(text, "mix_rows", "exec"), vars(module))
    exercise = exercise_in(module, NOTEBOOK)
    assert len(exercise.mistakes) == len(exercise_named(NOTEBOOK, "mix_rows").mistakes) + 3

    def mix_rows(W, V):  # type: ignore[no-untyped-def]
        return (W @ V) * 3 / 2

    assert judge_here(mix_rows, Paper(exercise, 7), answer).mistakes == ("unnamed_1",)


AROUND = """
import math
'said'
def helper(x):
    return f(x - 1)
def f(x):
    'doc'
    return f(0) if x else helper(x)
f(1)
"""


def test_what_stands_around_an_answer_comes_with_it() -> None:
    made = stub(AROUND, "f", "unnamed_1", {"x": "int", "return": "int"})
    assert "def helper(x):\n    return unnamed_1(x - 1)" in made
    assert "def unnamed_1(x: int) -> int:" in made
    assert "# after it: f(1)" in made
    assert "'doc'" not in made
    ast.parse(made)


NONE = ["def f(:\n  # ada", "g = 1  # ada", "(" * 10_000 + "# ada", "%matplotlib inline  # ada\ndef f(x): pass"]


@pytest.mark.parametrize("code", NONE)
def test_what_cannot_be_made_a_function_comes_as_comments_without_those_of_its_own(code: str) -> None:
    made = stub(code, "f", "unnamed_1", {})
    assert all(line.startswith("#") for line in made.splitlines())
    assert "ada" not in made


def test_where_there_is_nothing_to_harvest_it_says_so(course: Course, graded: Graded) -> None:
    for name, code, said in (
        ("nowhere", 2, "neither a notebook"),
        ("to_columns", 1, "wrong in a way that was not recognised"),
    ):
        done = CliRunner().invoke(app, ["harvest", name, "--course", str(course.root)])
        assert done.exit_code == code
        assert said in " ".join(done.output.replace("│", " ").split())
