"""The points of an exercise are one fact: five places give them, and none may give others than its probes come to."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from typer.testing import CliRunner

import autograder.authoring.release as release
from autograder import this_course
from autograder.__main__ import app
from autograder.exercises import NOTEBOOKS, exercises_in
from autograder.folder import Course, NbgraderFailed
from autograder.grading.run import grade
from autograder.plugins.agreeing import in_gradebook, in_readme, in_source
from autograder.plugins.judges import worth
from autograder.problems import USAGE, Problem
from autograder.settings import ROOT
from autograder.this_course import JUDGE
from tests.support.commands import nbgrader
from tests.support.submissions import NOTEBOOK, RIGHT, filled, hand_in, scores

CELLS = nbformat.read(ROOT / "source" / NOTEBOOK / f"{NOTEBOOK}.ipynb", as_version=4).cells
WITH_A_QUESTION = "10_capstone"
README = (ROOT / "README.md").read_text(encoding="utf-8")
IN_THE_GRADEBOOK = "00_shapes: mix_rows: 2 points in autograder/exercises, 3 in the gradebook."
TO_DO = "Run `nbgrader generate_assignment 00_shapes --force` to release what is there now."

Change = Callable[[list[NotebookNode]], object]


def rewritten(old: str, new: str) -> Change:
    """Every text of a notebook with one thing in it another."""

    def change(cells: list[NotebookNode]) -> None:
        assert any(old in cell.source for cell in cells)
        for cell in cells:
            cell.source = cell.source.replace(old, new)

    return change


def graded_cell(cells: list[NotebookNode]) -> NotebookNode:
    (cell,) = (cell for cell in cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "mix_rows")
    return cell


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_sources_agree_with_the_exercises(notebook: str) -> None:
    cells = nbformat.read(ROOT / "source" / notebook / f"{notebook}.ipynb", as_version=4).cells
    assert list(in_source(JUDGE, notebook, cells)) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (rewritten("7 points, about", "8 points, about"), "00_shapes: all its exercises: 7 points in autograder/exercises, 8 in its title."),
        (rewritten(" points, about", " marks, about"), "00_shapes: all its exercises: 7 points in autograder/exercises, none in its title."),
        (rewritten("10 minutes · 3 points", "10 minutes · 2 points"), "00_shapes: to_columns: 3 points in autograder/exercises, 2 in the text over it."),
        (rewritten("10 minutes · 3 points", "10 minutes"), "00_shapes: to_columns: 3 points in autograder/exercises, none in the text over it."),
        (lambda cells: graded_cell(cells).metadata.nbgrader.update(points=3), "00_shapes: mix_rows: 2 points in autograder/exercises, 3 in the metadata of its cell 'mix_rows'."),
        (lambda cells: cells.remove(graded_cell(cells)), "00_shapes: mix_rows: 2 points in autograder/exercises, none in the metadata of its cell 'mix_rows'."),
        (lambda cells: cells.append(graded_cell(cells)), "00_shapes: mix_rows: 2 points in autograder/exercises, none in the metadata of its cell 'mix_rows'."),
        (rewritten("judge(mix_rows)", "judge(to_columns)"), "00_shapes: the test cell 'mix_rows' calls judge(to_columns); it has to call judge(mix_rows)."),
        (rewritten("judge(mix_rows)", ""), "00_shapes: the test cell 'mix_rows' calls no judge; it has to call judge(mix_rows)."),
    ],
)  # fmt: skip
def test_a_notebook_that_says_something_else_is_told_so(change: Change, said: str) -> None:
    cells = copy.deepcopy(CELLS)
    change(cells)
    assert list(in_source(JUDGE, NOTEBOOK, cells)) == [said]


def test_probes_that_come_to_more_contradict_title_text_and_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    def heavier(notebook: str) -> tuple[object, ...]:
        first, *rest = exercises_in(notebook)
        probes = (replace(first.probes[0], points=first.probes[0].points + 2), *first.probes[1:])
        return (replace(first, probes=probes), *rest)

    monkeypatch.setattr(this_course, "exercises_in", heavier)
    assert [line.rpartition(", ")[2] for line in in_source(JUDGE, NOTEBOOK, CELLS)] == [
        "7 in its title.",
        "2 in the text over it.",
        "2 in the metadata of its cell 'pairwise_dots'.",
    ]


def test_a_question_that_a_person_marks_counts_too() -> None:
    cells = nbformat.read(ROOT / "source" / WITH_A_QUESTION / f"{WITH_A_QUESTION}.ipynb", as_version=4).cells
    assert set(worth(JUDGE, WITH_A_QUESTION)) == {"parallel_block", "museum"}
    rewritten("20 minutes · 3 points", "20 minutes · 4 points")(cells)
    assert list(in_source(JUDGE, WITH_A_QUESTION, cells)) == [
        "10_capstone: museum: 3 points in autograder/exercises, 4 in the text over it."
    ]


def test_the_table_of_the_readme_is_held_to_the_same() -> None:
    assert list(in_readme(JUDGE, README)) == []
    assert list(in_readme(JUDGE, README.replace("| reading a matrix product | 40 | 7 |", "| reading | 40 | 8 |"))) == [
        "00_shapes: 7 points in autograder/exercises, 8 in README.md."
    ]
    assert len(list(in_readme(JUDGE, ""))) == len(NOTEBOOKS)


# ---------------------------------------------------------------------------------------------------- the release


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], list[str]]:
    """A checkout for the release in which nothing is made; spoil what one notebook's text and the README say, and that is its README."""
    shutil.copytree(ROOT / "source", tmp_path / "source")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    for name in ("make_release", "newly_stale"):
        monkeypatch.setattr(release, name, lambda: pytest.fail("something was made"))
    path = tmp_path / "source" / NOTEBOOK / f"{NOTEBOOK}.ipynb"

    def spoil(row: str, told: str) -> list[str]:
        (tmp_path / "README.md").write_text(README.replace("| 40 | 7 |", row), encoding="utf-8")
        path.write_text(path.read_text().replace("10 minutes · 3 points", told))
        return [(tmp_path / "README.md").read_text(encoding="utf-8"), path.read_text()]

    return spoil


def released(*options: str) -> tuple[int, list[str]]:
    done = CliRunner().invoke(app, ["release", *options])
    return done.exit_code, done.output.splitlines()


def test_a_check_of_the_release_names_each_contradiction_in_a_sentence(
    checkout: Callable[[str, str], list[str]],
) -> None:
    checkout("| 40 | 8 |", "10 minutes · 2 points")
    assert released("--check") == (
        1,
        [
            "00_shapes: to_columns: 3 points in autograder/exercises, 2 in the text over it.",
            "00_shapes: 7 points in autograder/exercises, 8 in README.md.",
        ],
    )


@pytest.mark.parametrize("options", [(), ("--check",)])
def test_where_points_are_missing_the_release_says_so_and_makes_nothing(
    options: tuple[str, ...], checkout: Callable[[str, str], list[str]]
) -> None:
    checkout("| 40 | some |", "10 minutes")
    assert released(*options) == (
        1,
        [
            "00_shapes: to_columns: 3 points in autograder/exercises, none in the text over it.",
            "00_shapes: 7 points in autograder/exercises, none in README.md.",
        ],
    )


def test_other_points_are_written_as_the_exercises_declare_them(
    checkout: Callable[[str, str], list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    right = checkout("| 40 | 7 |", "10 minutes · 3 points")
    checkout("| 40 | 8 |", "10 minutes · 2 points")
    monkeypatch.setattr(release, "make_release", lambda: None)
    code, said = released()
    assert (code, said[-1]) == (0, "release: made")
    path = tmp_path / "source" / NOTEBOOK / f"{NOTEBOOK}.ipynb"
    assert [(tmp_path / "README.md").read_text(encoding="utf-8"), path.read_text()] == right


def test_nbgraders_own_command_refuses_too(new_course: Callable[[], Course]) -> None:
    course = new_course()
    path = course.root / "source" / NOTEBOOK / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    graded_cell(notebook.cells).metadata.nbgrader.points = 5
    nbformat.write(notebook, path)
    with pytest.raises(NbgraderFailed, match="mix_rows: 2 points in autograder/exercises, 5 in the metadata"):
        course.generate_assignment(NOTEBOOK)


# ------------------------------------------------------------------------------------------------------- grading


@pytest.fixture
def drifted(new_course: Callable[[], Course]) -> Course:
    """A course with two students, whose gradebook has other points than the exercises by now."""
    course = new_course()
    for student in ("ada", "ben"):
        hand_in(course, student, filled(course, RIGHT))
    with Gradebook(course.database) as gradebook:
        gradebook.find_grade_cell("mix_rows", NOTEBOOK, NOTEBOOK).max_score = 3
        gradebook.db.commit()
    return course


def test_grading_a_class_ends_in_one_sentence_before_anything_is_run(drifted: Course) -> None:
    with pytest.raises(Problem) as raised:
        grade(drifted, NOTEBOOK, jobs=1)
    assert str(raised.value) == f"{IN_THE_GRADEBOOK} {TO_DO}"
    assert raised.value.code == USAGE
    assert not drifted.folder("autograded", "ada", NOTEBOOK).exists()


def test_nbgrader_autograde_ends_in_the_same_sentence_and_touches_nobody(drifted: Course) -> None:
    done = nbgrader(drifted, "autograde", NOTEBOOK)
    assert done.returncode == 1
    assert done.stdout.count(f"{IN_THE_GRADEBOOK} {TO_DO}") == 1
    assert "Traceback" not in done.stdout
    assert not drifted.folder("autograded", "ada", NOTEBOOK).exists()
    with Gradebook(drifted.database) as gradebook:
        assert gradebook.assignment_submissions(NOTEBOOK) == []


def test_what_the_sentence_says_mends_it(drifted: Course) -> None:
    assert nbgrader(drifted, "generate_assignment", NOTEBOOK, "--force").returncode == 0
    assert nbgrader(drifted, "autograde", NOTEBOOK).returncode == 0
    assert scores(drifted, "ada") == scores(drifted, "ben") == (2.0, 2.0, 3.0)


def test_an_exercise_that_the_gradebook_does_not_know_is_named(drifted: Course) -> None:
    with Gradebook(drifted.database) as gradebook:
        notebook = gradebook.find_notebook(NOTEBOOK, NOTEBOOK)
        assert list(in_gradebook(JUDGE, [notebook])) == [IN_THE_GRADEBOOK]
        gradebook.find_grade_cell("mix_rows", NOTEBOOK, NOTEBOOK).name = "mixed_rows"
        gradebook.db.commit()
        assert list(in_gradebook(JUDGE, [notebook])) == [
            "00_shapes: mix_rows: 2 points in autograder/exercises, none in the gradebook."
        ]
