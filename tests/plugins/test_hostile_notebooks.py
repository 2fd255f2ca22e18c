"""Notebooks that are broken, or were taken apart to earn more: one class, graded in one run beside an honest student."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from tests.support.submissions import (
    EXERCISES,
    NOTEBOOK,
    RIGHT,
    WRONG,
    Attempt,
    Graded,
    answer_cell,
    grade_cell,
    grade_class,
    page,
    scores,
    words,
)

pytestmark = pytest.mark.thorough  # a class of attempts, graded through both doors

NOTHING = (0.0, 0.0, 0.0)
ALL = (2.0, 2.0, 3.0)
Made = NotebookNode | str | None


def copy_of(cell: NotebookNode, source: str) -> NotebookNode:
    copied = nbformat.from_dict(json.loads(json.dumps(cell)))
    copied.update(id=f"{cell.id}-again", source=source)
    return copied


def exchange(cells: list[NotebookNode], one: NotebookNode, other: NotebookNode) -> None:
    i, j = cells.index(one), cells.index(other)
    cells[i], cells[j] = other, one


def duplicated_test(notebook: NotebookNode, path: Path) -> Made:
    test = grade_cell(notebook, "pairwise_dots")
    answer_cell(notebook, "pairwise_dots").source = WRONG["pairwise_dots"]
    notebook.cells.insert(notebook.cells.index(test), copy_of(test, "2.0"))
    return notebook


def missing_test(notebook: NotebookNode, path: Path) -> Made:
    answer_cell(notebook, "pairwise_dots").source = WRONG["pairwise_dots"]
    for exercise in ("pairwise_dots", "mix_rows"):
        notebook.cells.remove(grade_cell(notebook, exercise))
    return notebook


def missing_answer(notebook: NotebookNode, path: Path) -> Made:
    notebook.cells.remove(answer_cell(notebook, "pairwise_dots"))
    return notebook


def answer_in_a_cell_of_their_own(notebook: NotebookNode, path: Path) -> Made:
    notebook.cells.remove(answer_cell(notebook, "pairwise_dots"))
    notebook.cells.insert(3, nbformat.v4.new_code_cell(RIGHT["pairwise_dots"]))
    return notebook


def retyped_cells(notebook: NotebookNode, path: Path) -> Made:
    answer_cell(notebook, "pairwise_dots").source = WRONG["pairwise_dots"]
    for cell in (grade_cell(notebook, "pairwise_dots"), answer_cell(notebook, "mix_rows")):
        cell.cell_type = "markdown"
        del cell["outputs"], cell["execution_count"]
    return notebook


def skipped_test(notebook: NotebookNode, path: Path) -> Made:
    answer_cell(notebook, "pairwise_dots").source = "raise NotImplementedError()"
    grade_cell(notebook, "pairwise_dots").metadata["tags"] = ["skip-execution"]
    return notebook


def skipped_answer(notebook: NotebookNode, path: Path) -> Made:
    answer_cell(notebook, "mix_rows").metadata["tags"] = ["skip-execution"]
    return notebook


def schema_of_the_future(notebook: NotebookNode, path: Path) -> Made:
    grade_cell(notebook, "pairwise_dots").metadata["nbgrader"]["schema_version"] = 99
    return notebook


def text_for_metadata(notebook: NotebookNode, path: Path) -> Made:
    answer_cell(notebook, "pairwise_dots").source = WRONG["pairwise_dots"]
    grade_cell(notebook, "pairwise_dots").metadata["nbgrader"] = "2 of 2"
    return notebook


def swapped_names(notebook: NotebookNode, path: Path) -> Made:
    answer_cell(notebook, "pairwise_dots").source = WRONG["pairwise_dots"]
    one, other = grade_cell(notebook, "pairwise_dots"), grade_cell(notebook, "mix_rows")
    one.metadata["nbgrader"]["grade_id"], other.metadata["nbgrader"]["grade_id"] = "mix_rows", "pairwise_dots"
    return notebook


def answer_named_as_its_test(notebook: NotebookNode, path: Path) -> Made:
    test, answer = grade_cell(notebook, "pairwise_dots"), answer_cell(notebook, "pairwise_dots")
    test.metadata["nbgrader"]["grade_id"] = "pairwise_dots_solution"
    answer.metadata["nbgrader"]["grade_id"] = "pairwise_dots"
    answer.source = "2.0"
    return notebook


def answer_after_its_test(notebook: NotebookNode, path: Path) -> Made:
    exchange(notebook.cells, grade_cell(notebook, "pairwise_dots"), answer_cell(notebook, "pairwise_dots"))
    return notebook


def other_points(notebook: NotebookNode, path: Path) -> Made:
    answer_cell(notebook, "pairwise_dots").source = WRONG["pairwise_dots"]
    grade_cell(notebook, "pairwise_dots").metadata["nbgrader"]["points"] = 0
    grade_cell(notebook, "mix_rows").metadata["nbgrader"]["points"] = 200
    return notebook


def no_longer_a_test(notebook: NotebookNode, path: Path) -> Made:
    answer_cell(notebook, "pairwise_dots").source = WRONG["pairwise_dots"]
    grade_cell(notebook, "pairwise_dots").metadata["nbgrader"].update(grade=False, solution=True, locked=False)
    return notebook


def marks_as_last_expression(notebook: NotebookNode, path: Path) -> Made:
    for exercise, source in zip(EXERCISES, ("2.0", "import numpy as np\nnp.float64('nan')", "-1"), strict=True):
        answer_cell(notebook, exercise).source = WRONG[exercise]
        grade_cell(notebook, exercise).source = source
    return notebook


def stored_output(notebook: NotebookNode, path: Path) -> Made:
    answer_cell(notebook, "pairwise_dots").source = "raise NotImplementedError()"
    test = grade_cell(notebook, "pairwise_dots")
    test.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "2.0"}, execution_count=1)]
    return notebook


def broken_json(notebook: NotebookNode, path: Path) -> Made:
    return '{"cells": ['


def empty_file(notebook: NotebookNode, path: Path) -> Made:
    return ""


def bytes_that_are_no_text(notebook: NotebookNode, path: Path) -> Made:
    path.write_bytes(b"\xff\xfe\x00PK")
    return None


def another_json(notebook: NotebookNode, path: Path) -> Made:
    return "[1, 2]"


def nested_json(notebook: NotebookNode, path: Path) -> Made:
    return json.dumps(notebook).replace('"cells": [', '"cells": [' + "[" * 50_000 + "]" * 50_000 + ",", 1)


def another_encoding(notebook: NotebookNode, path: Path) -> Made:
    answer_cell(notebook, "mix_rows").source = "# Mischung der Zeilen, gewichtet: für später\n" + RIGHT["mix_rows"]
    path.write_bytes(json.dumps(notebook, ensure_ascii=False).encode("cp1252", "replace"))
    return None


def cell_that_is_none(notebook: NotebookNode, path: Path) -> Made:
    notebook.cells.insert(0, nbformat.from_dict({"cell_type": "code", "source": ["1", 2], "metadata": []}))
    return notebook


def oversized(notebook: NotebookNode, path: Path) -> Made:
    return json.dumps(notebook) + " " * (20 << 20)


def extra_files(notebook: NotebookNode, path: Path) -> Made:
    for name in ("torch.py", "numpy.py", "course.py"):
        path.with_name(name).write_text("raise RuntimeError('shadowed')")
    return notebook


def missing_picture(notebook: NotebookNode, path: Path) -> Made:
    notebook.cells.insert(1, nbformat.v4.new_markdown_cell("*before* ![x](attachment:gone.png)"))
    return notebook


def colours(notebook: NotebookNode, path: Path) -> Made:
    notebook.cells.insert(1, nbformat.v4.new_code_cell("print('\\x1b[31mx' * 800_000)"))
    return notebook


def hard_text(notebook: NotebookNode, path: Path) -> Made:
    notebook.cells.insert(1, nbformat.v4.new_markdown_cell("[" * 5_000_000))
    return notebook


def long_code(notebook: NotebookNode, path: Path) -> Made:
    notebook.cells.append(nbformat.v4.new_code_cell("%%capture\n" + "x;" * 450_000))
    return notebook


def markers_in_an_answer(notebook: NotebookNode, path: Path) -> Made:
    answer_cell(notebook, "mix_rows").source += "\n### BEGIN HIDDEN TESTS"
    return notebook


UNREADABLE = "This could not be graded automatically. Could not be read: "
FOR_A_PERSON = (None, None, None)
NOT_GRADED = "This could not be graded automatically."
ATTEMPTS = {
    "duplicated-test": Attempt(
        duplicated_test,
        (0.0, 2.0, 3.0),
        log=f"{NOTEBOOK} of duplicated-test: the cell pairwise_dots was there twice",
        page="the cell pairwise_dots was there twice; the first one counts, the other is an ordinary cell",
    ),
    "missing-test": Attempt(
        missing_test,
        (0.0, 2.0, 3.0),
        log=f"{NOTEBOOK} of missing-test: the cell pairwise_dots was missing; it was put back",
        page="the cell mix_rows was missing; it was put back",
    ),
    "missing-answer": Attempt(
        missing_answer,
        (0.0, 2.0, 3.0),
        log=f"{NOTEBOOK} of missing-answer: the cell pairwise_dots_solution was missing",
        page="pairwise_dots: not attempted, 0 of 2 points",
    ),
    "answer-elsewhere": Attempt(
        answer_in_a_cell_of_their_own,
        ALL,
        log="the cell pairwise_dots_solution was missing; it was put back",
        page="the cell pairwise_dots_solution was missing; it was put back",
    ),
    "retyped": Attempt(
        retyped_cells,
        (0.0, 2.0, 3.0),
        log=f"{NOTEBOOK} of retyped: the cell pairwise_dots had become markdown; it is code again",
        page="the cell mix_rows_solution had become markdown; it is code again",
    ),
    "skipped-test": Attempt(
        skipped_test,
        (0.0, 2.0, 3.0),
        log=f"{NOTEBOOK} of skipped-test: the cell pairwise_dots was tagged skip-execution",
        page="the cell pairwise_dots was tagged skip-execution; it was run all the same",
    ),
    "skipped-answer": Attempt(
        skipped_answer,
        ALL,
        log=f"{NOTEBOOK} of skipped-answer: the cell mix_rows_solution was tagged skip-execution",
        page="the cell mix_rows_solution was tagged skip-execution; it was run all the same",
    ),
    "schema": Attempt(
        schema_of_the_future,
        ALL,
        log=f"{NOTEBOOK} of schema: the cell pairwise_dots had other settings (schema_version)",
        page="the cell pairwise_dots had other settings (schema_version); it has its own again",
    ),
    "text-metadata": Attempt(
        text_for_metadata,
        (0.0, 2.0, 3.0),
        log=f"{NOTEBOOK} of text-metadata: the cell pairwise_dots was missing; it was put back",
        page="the cell pairwise_dots was missing; it was put back",
    ),
    "swapped-names": Attempt(
        swapped_names,
        (0.0, 2.0, 3.0),
        log=f"{NOTEBOOK} of swapped-names: the test mix_rows stood before its answer",
        page="the test mix_rows stood before its answer; it was moved after it",
    ),
    "answer-as-test": Attempt(
        answer_named_as_its_test,
        (0.0, 2.0, 3.0),
        log="the cell pairwise_dots had other settings (grade, solution, locked, points)",
        page="the cell pairwise_dots had other settings (grade, solution, locked, points); it has its own again",
    ),
    "test-first": Attempt(
        answer_after_its_test,
        ALL,
        log=f"{NOTEBOOK} of test-first: the test pairwise_dots stood before its answer; it was moved after it",
        page="the test pairwise_dots stood before its answer; it was moved after it",
    ),
    "other-points": Attempt(
        other_points,
        (0.0, 2.0, 3.0),
    ),
    "no-test": Attempt(
        no_longer_a_test,
        (0.0, 2.0, 3.0),
        log="the cell pairwise_dots had other settings (grade, solution, locked); it has its own again",
        page="the cell pairwise_dots had other settings (grade, solution, locked); it has its own again",
    ),
    "own-marks": Attempt(marks_as_last_expression, NOTHING, page="pairwise_dots: not right yet, 0 of 2 points"),
    "stored-output": Attempt(stored_output, (0.0, 2.0, 3.0), page="pairwise_dots: not attempted, 0 of 2 points"),
    "broken-json": Attempt(
        broken_json,
        FOR_A_PERSON,
        log=f"{NOTEBOOK} of broken-json waits for a person: could not be read: the file ends too early",
        page=UNREADABLE,
    ),
    "empty-file": Attempt(
        empty_file,
        FOR_A_PERSON,
        log=f"{NOTEBOOK} of empty-file waits for a person: could not be read: the file is empty",
        page=UNREADABLE,
    ),
    "bytes": Attempt(
        bytes_that_are_no_text,
        FOR_A_PERSON,
        log=f"{NOTEBOOK} of bytes waits for a person: could not be read: it is another kind of file",
        page=UNREADABLE,
    ),
    "another-json": Attempt(
        another_json,
        FOR_A_PERSON,
        log=f"{NOTEBOOK} of another-json waits for a person: could not be read",
        page=UNREADABLE,
    ),
    "nested-json": Attempt(
        nested_json,
        FOR_A_PERSON,
        log=f"{NOTEBOOK} of nested-json waits for a person: the notebook's JSON has too many brackets in one another",
        page=NOT_GRADED,
    ),
    "another-encoding": Attempt(another_encoding, ALL),
    "one-bad-cell": Attempt(cell_that_is_none, ALL),
    "oversized": Attempt(
        oversized,
        FOR_A_PERSON,
        log=f"{NOTEBOOK}.ipynb is larger than 20 MiB; stored outputs count: clear all outputs",
        page=NOT_GRADED,
    ),
    "missing-picture": Attempt(missing_picture, ALL, page="The picture attachment:gone.png is not in this notebook."),
    "colours": Attempt(colours, ALL, page="more characters are not shown here."),
    "hard-text": Attempt(hard_text, ALL, page="4,950,000 more characters are not shown here."),
    "long-code": Attempt(long_code, ALL, page="# … 850,010 more characters are not shown here."),
    "markers": Attempt(markers_in_an_answer, ALL, page="### BEGIN HIDDEN TESTS"),
    "extra-files": Attempt(extra_files, ALL, log="numpy.py: this assignment asks for no such file"),
}


@pytest.fixture(scope="module")
def graded(new_course) -> Graded:
    return grade_class(new_course(), ATTEMPTS)


def test_nbgrader_gets_through_the_whole_class(graded: Graded) -> None:
    assert graded.returncode == 0, graded.log


def test_the_honest_student_among_them_keeps_every_mark_and_reads_of_no_repair(graded: Graded) -> None:
    assert scores(graded.course, "honest") == ALL
    assert "WARNING" not in graded.log_of("honest").replace("SAWarning", "")
    assert "Repaired before grading" not in words(page(graded.course, "honest"))


@pytest.mark.parametrize("student", ATTEMPTS)
def test_an_attempt_earns_what_its_right_answers_earn_and_no_more(graded: Graded, student: str) -> None:
    assert scores(graded.course, student) == ATTEMPTS[student].earns


@pytest.mark.parametrize("student", [name for name, attempt in ATTEMPTS.items() if attempt.log])
def test_the_log_says_what_was_wrong_with_a_submission(graded: Graded, student: str) -> None:
    assert ATTEMPTS[student].log in graded.log_of(student)


@pytest.mark.parametrize("student", [name for name, attempt in ATTEMPTS.items() if attempt.page])
def test_the_feedback_page_says_what_was_wrong_with_a_submission(graded: Graded, student: str) -> None:
    assert ATTEMPTS[student].page in words(page(graded.course, student))


@pytest.mark.parametrize("student", [name for name, attempt in ATTEMPTS.items() if attempt.page == UNREADABLE])
def test_of_what_could_not_be_read_nothing_else_is_said(graded: Graded, student: str) -> None:
    assert "was missing; it was put back" not in graded.log_of(student)
    told = words(page(graded.course, student))
    assert "Repaired before grading" not in told
    assert UNREADABLE in told


def test_what_the_exercises_are_worth_is_what_the_release_said(graded: Graded) -> None:
    with Gradebook(graded.course.database) as gradebook:
        worth = tuple(gradebook.find_grade_cell(exercise, NOTEBOOK, NOTEBOOK).max_score for exercise in EXERCISES)
    assert worth == ALL


def test_nobody_but_those_whose_work_could_not_be_read_is_left_to_be_graded_by_hand(graded: Graded) -> None:
    with Gradebook(graded.course.database) as gradebook:
        waiting = [s.student.id for s in gradebook.assignment_submissions(NOTEBOOK) if s.needs_manual_grade]
    assert sorted(waiting) == ["another-json", "broken-json", "bytes", "empty-file", "nested-json", "oversized"]


@pytest.mark.parametrize(
    ("student", "file"),
    [
        ("extra-files", f"{NOTEBOOK}/numpy.py"),
        ("extra-files", f"{NOTEBOOK}/course.py"),
    ],
)
def test_what_does_not_belong_is_moved_aside_and_kept(graded: Graded, student: str, file: str) -> None:
    kept = graded.course.root / "class" / "quarantine" / student / file
    assert kept.is_symlink() or kept.is_file()
    assert not (graded.course.root / "class" / "autograded" / student / NOTEBOOK / Path(file).name).is_symlink()
    assert sorted(
        path.name for path in (graded.course.root / "class" / "autograded" / student / NOTEBOOK).iterdir()
    ) == [f"{NOTEBOOK}.ipynb"]
