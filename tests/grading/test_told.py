"""What a run prints of a class: everybody's row where that fits, what it comes to where there are many, and a log of all of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from autograder.grading.command import LARGEST_TABLE, as_tree, run, tell
from autograder.grading.diary import FILE_WIDTH
from autograder.grading.report.gathering import Gathered
from autograder.grading.report.lines import FOR_A_PERSON, GRADED, LOOK_AGAIN, Line
from autograder.grading.report.page import html
from autograder.grading.run import Graded
from autograder.problems import USAGE
from tests.support.quick_class import NAME, QuickClass
from tests.support.submissions import words

MISTAKE = "sums_of_columns_where_rows_are_asked_for"
NOTEBOOK = "00_shapes"
EXERCISES = ("pairwise_dots", "mix_rows", "to_columns")


def a_class(count: int) -> Graded:
    """Students of whom every second made one mistake."""
    found = []
    for number in range(count):
        for exercise in EXERCISES:
            wrong = number % 2 == 1 and exercise == "mix_rows"
            outcome, mistakes = ("wrong", (MISTAKE,)) if wrong else ("passed", ())
            found.append(Line(f"s{number:03}", exercise, 0.0 if wrong else 2.0, outcome, mistakes, 2.0))
    return Graded(lines=found)


def told(graded: Graded, width: int = 200, **options: Any) -> str:
    console = Console(file=StringIO(), width=width)
    tell(console, NOTEBOOK, graded, **options)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_a_small_class_is_told_student_by_student() -> None:
    said = told(a_class(LARGEST_TABLE))
    assert "s000" in said
    assert MISTAKE in said


def test_of_a_large_one_it_is_told_what_it_comes_to_and_how_to_see_all() -> None:
    said = told(a_class(LARGEST_TABLE + 1))
    assert "00_shapes: 20 graded, mean" in said
    assert f"{MISTAKE}, 10" in said
    assert "50%" in said  # 10 of 20
    assert "s000" not in said
    assert "--table" in said
    assert "s000" in told(a_class(LARGEST_TABLE + 1), whole=True)


def test_cells_that_wait_for_a_person_are_counted_and_so_are_their_students() -> None:
    graded = a_class(3)
    graded.lines = [
        replace(line, score=None, outcome=FOR_A_PERSON) if line.student != "s001" else line for line in graded.lines
    ]
    assert "6 cells of 2 students to be graded by hand: formgrader lists them" in told(graded)
    graded.lines[0] = replace(graded.lines[0], outcome=LOOK_AGAIN)
    assert "1 cell of 1 student to be looked at again (run again since somebody marked it)" in told(graded)


def test_who_waits_for_a_person_altogether_is_not_graded_and_counts_nowhere() -> None:
    def waits(graded: Graded) -> Graded:
        graded.lines = [
            replace(line, score=None, outcome=FOR_A_PERSON, mistakes=(), by_hand=True)
            if line.student < "s004"
            else line
            for line in graded.lines
        ]
        return graded

    large = waits(a_class(LARGEST_TABLE + 1))
    assert "00_shapes: 16 graded, 4 wait for a person, mean 5 of 6, median 5" in told(large)
    row = next(line for line in told(waits(a_class(5))).splitlines() if "s003" in line)
    assert row.split("│")[-2].strip() == "?"
    for student in as_tree(NOTEBOOK, large)["students"]:
        has = None if student["student"] < "s004" else 6.0 - 2.0 * (int(student["student"][1:]) % 2)
        assert (student["raw_score"], student["score"]) == (has, has)
    gathered = Gathered(NOTEBOOK, datetime.now(UTC), large.lines, dict.fromkeys(EXERCISES, 2.0))
    page = html(gathered)
    assert "20 submissions, 4 wait for a person; mean 5, median 5, of 6" in words(page)
    assert [*gathered.totals.values()] == [6.0, 4.0] * 8
    assert page.count("<td>?</td></tr>") == 4


def test_where_nothing_was_written_it_is_said_that_the_gradebook_is_as_it_was() -> None:
    graded = a_class(3)
    graded.lines[0] = replace(graded.lines[0], score=None, outcome=FOR_A_PERSON)
    graded.written = False
    assert "In the gradebook as it still is, 1 cell of 1 student to be graded by hand" in told(graded)


def test_who_was_asked_for_is_told_alone() -> None:
    said = told(a_class(60), students=["s007"])
    assert "s007" in said
    assert "s008" not in said


@pytest.mark.parametrize(("width", "names", "points"), [(120, True, True), (80, False, True), (40, False, False)])
def test_what_a_terminal_has_no_room_for_is_left_out_and_said(width: int, names: bool, points: bool) -> None:
    said = told(a_class(2), width)
    assert (MISTAKE in said, "pairwise_dots" in said) == (names, points)
    assert ("Too narrow" in said) is not names
    assert max(map(len, said.splitlines())) <= width


def test_where_nothing_was_written_there_is_no_table() -> None:
    graded = a_class(2)
    graded.written = False
    assert "s000" not in told(graded)


def test_of_many_the_terminal_names_some_and_the_log_all() -> None:
    graded = a_class(60)
    odd = sorted({line.student for line in graded.lines})[:12]
    graded.notes = {student: ["ran out of time"] for student in odd}
    graded.failed = dict.fromkeys(odd, "its disk is full")
    said = told(graded)
    assert said.count("ran out of time") == said.count("its disk is full") == 1
    assert "s009 and 2 more (12 students): ran out of time" in said
    assert "s009 and 2 more (12 students) could not be graded: its disk is full" in said
    logged = told(graded, width=FILE_WIDTH, tracebacks=True)
    assert "s010, s011 (12 students): ran out of time" in logged


def test_every_run_leaves_a_log_with_everything_in_it(quick_class: QuickClass) -> None:
    course = quick_class(ada="2", ben="raise 1")
    run(course.root, NAME, feedback=False)
    run(course.root, "quack")
    first, second = sorted((course.class_folder / "logs").iterdir(), key=lambda path: path.name.startswith("quack"))
    said = first.read_text()
    for part in ("ada", "ben could not be graded: RuntimeError: no kernel", "Traceback ", "exit code 1"):
        assert part in said
    assert f"There is no assignment 'quack' in {course.root}" in second.read_text()


def test_one_student_alone_is_graded_told_and_counted(
    quick_class: QuickClass, capsys: pytest.CaptureFixture[str]
) -> None:
    course = quick_class(ada="2", ben="raise 1")
    assert run(course.root, NAME, feedback=False, students=["ada"]) == 0
    assert "ben" not in capsys.readouterr().out
    assert run(course.root, NAME, feedback=False, students=["adda"]) == USAGE
    assert "Did you mean ada?" in capsys.readouterr().out


def several_notebooks() -> Graded:
    """An assignment of two notebooks with fifteen cells each, in the last of which one of ada's waits for a person."""
    found = []
    for student in ("ada", "ben"):
        for notebook in ("first", "second"):
            for number in range(15):
                waits = (student, notebook, number) == ("ada", "second", 14)
                score, outcome = (None, FOR_A_PERSON) if waits else (0.5, GRADED)
                found.append(Line(student, f"{notebook}/a_cell_of_a_long_name_{number}", score, outcome, (), 1.0))
    return Graded(lines=found)


def test_where_cells_do_not_fit_there_are_the_points_of_each_notebook() -> None:
    ada, ben = (line for line in told(several_notebooks(), 100).splitlines() if line.startswith(("│ ada", "│ ben")))
    assert [part.strip() for part in ada.strip("│").split("│")] == ["ada", "7.5", "? 7, 1 by hand", "14.5"]
    assert [part.strip() for part in ben.strip("│").split("│")] == ["ben", "7.5", "7.5", "15"]
    assert "--wide" in told(several_notebooks(), 100)


def test_a_wide_table_has_every_cell_however_narrow_the_terminal_is() -> None:
    said = told(several_notebooks(), 60, wide=True)
    heading = next(line for line in said.splitlines() if "student" in line or "a_cell" in line)
    assert "second/a_cell_of_a_long_name_14" in said
    assert len(heading) > 60


def test_what_is_to_be_said_of_several_is_said_once() -> None:
    graded = a_class(4)
    graded.notes = {f"s{number:03}": ["Notebook JSON is invalid: too old"] for number in range(4)}
    assert told(graded).count("too old") == 1
    assert "s000, s001, s002, s003 (4 students): Notebook JSON is invalid: too old" in told(graded)
