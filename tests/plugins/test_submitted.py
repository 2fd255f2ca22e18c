"""What is no submission to an assignment waits for a person, who is told in one sentence what it is, through both doors."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from autograder.folder import Course
from autograder.grading.report.lines import FOR_A_PERSON, lines
from autograder.grading.reporting import report
from autograder.lms.command import run_collect, run_export
from autograder.plugins.handing_in import TIMESTAMP
from autograder.plugins.submitted import ANOTHER, NO_CELL, NO_NOTEBOOK, SEVERAL
from autograder.problems import FAILED
from autograder.settings import ROOT
from tests.support import commands
from tests.support.commands import nbgrader
from tests.support.submissions import (
    EXERCISES,
    NOTEBOOK,
    RIGHT,
    filled,
    hand_in,
    page,
    place,
    scores,
    words,
)

pytestmark = pytest.mark.thorough  # a class of attempts, graded through both doors

OTHER = "01_token_loops"
FILE = f"{NOTEBOOK}.ipynb"
HANDED_IN = f"{NOTEBOOK}-2026-01-02-101010.ipynb"
UNREADABLE = "could not be read"
A_PERSON = (None, None, None)


@dataclass(frozen=True)
class Kind:
    """Something that is no submission.

    Attributes:
        make: given the released notebook, one with answers, and the folder, writes what is handed in.
        state: in a few words.
        sentence: what is said of it.
    """

    make: Callable[[NotebookNode, NotebookNode, Path], Any]
    state: str
    sentence: str


def files(**named: str) -> Callable[[NotebookNode, NotebookNode, Path], None]:
    """Files with these contents, by their names with "__" for a dot."""

    def make(blank: NotebookNode, work: NotebookNode, folder: Path) -> None:
        for name, text in named.items():
            write(folder / name.replace("__", "."), text)

    return make


def write(path: Path, content: NotebookNode | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def other(without_metadata: bool = False) -> NotebookNode:
    """Another notebook of the course, answered."""
    notebook = nbformat.read(str(ROOT / "source" / OTHER / f"{OTHER}.ipynb"), as_version=4)
    for cell in notebook.cells if without_metadata else ():
        cell.metadata = {}
    return notebook


def blank_beside(*others: str) -> Callable[[NotebookNode, NotebookNode, Path], None]:
    def make(blank: NotebookNode, work: NotebookNode, folder: Path) -> None:
        write(folder / FILE, blank)
        for name in others:
            write(folder / name, work)

    return make


def which(*others: str) -> str:
    named, has = (others[0], "has") if len(others) == 1 else (" and ".join(others), "have")
    return f"{FILE} is as it was released, and {named} beside it {has} answers: which one counts?"


def linked(blank: NotebookNode, work: NotebookNode, folder: Path) -> None:
    (folder / FILE).symlink_to(folder.parents[1] / "honest" / NOTEBOOK / FILE)


def linked_folder(blank: NotebookNode, work: NotebookNode, folder: Path) -> None:
    folder.rmdir()
    folder.symlink_to(folder.parents[1] / "honest" / NOTEBOOK)


def answered_in_own_cells(blank: NotebookNode, work: NotebookNode, folder: Path) -> None:
    write(folder / FILE, blank)
    blank.cells[3:3] = [new_code_cell(RIGHT["mix_rows"])]
    write(folder / "Untitled.ipynb", blank)


def in_conflict(work: NotebookNode) -> str:
    """A notebook that git has merged with another state of itself."""
    lines = json.dumps(work, indent=1).splitlines()
    lines[9:9] = ["<<<<<<< HEAD", *lines[5:9], "=======", *lines[4:9], ">>>>>>> theirs"]
    return "\n".join(lines)


KINDS = {
    "truncated": Kind(lambda blank, work, folder: write(folder / FILE, json.dumps(work)[:5000]), UNREADABLE, f"{UNREADABLE}: the file ends too early, it was cut off; open the notebook in JupyterLab, save it, and hand it in again (JSONDecodeError: Unterminated string"),
    "conflict": Kind(lambda blank, work, folder: write(folder / FILE, in_conflict(work)), UNREADABLE, f"{UNREADABLE}: it holds git's conflict marks (<<<<<<<, =======, >>>>>>>), so settle the conflict; open the notebook"),
    "empty": Kind(lambda blank, work, folder: write(folder / FILE, ""), UNREADABLE, f"{UNREADABLE}: the file is empty; open the notebook in JupyterLab"),
    "list": Kind(lambda blank, work, folder: write(folder / FILE, "[1, 2]"), UNREADABLE, f"{UNREADABLE}: it is no notebook, for"),
    "page-as-notebook": Kind(lambda blank, work, folder: write(folder / FILE, "<!DOCTYPE html><p>Hi"), UNREADABLE, f"{UNREADABLE}: it is a web page, and no notebook; open the notebook"),
    "linked": Kind(linked, UNREADABLE, f"{UNREADABLE}: {FILE} is a link, or no plain file"),
    "linked-folder": Kind(linked_folder, UNREADABLE, f"{UNREADABLE}: its folder is a link"),
    "other": Kind(lambda blank, work, folder: write(folder / FILE, other()), ANOTHER, f"this is {OTHER}, handed in for {NOTEBOOK}"),
    "other-nameless": Kind(lambda blank, work, folder: write(folder / FILE, other(True)), ANOTHER, f"this is {OTHER}, handed in for {NOTEBOOK}"),
    "other-by-its-name": Kind(lambda blank, work, folder: write(folder / f"{OTHER}.ipynb", other()), ANOTHER, f"this is {OTHER}, handed in for {NOTEBOOK}"),
    "no-cells": Kind(lambda blank, work, folder: write(folder / FILE, new_notebook()), NO_CELL, f"no cell of {NOTEBOOK} is in it"),
    "scratch": Kind(lambda blank, work, folder: write(folder / FILE, new_notebook(cells=[new_code_cell("1 + 1"), new_markdown_cell("mix_rows")])), NO_CELL, f"no cell of {NOTEBOOK} is in it"),
    "page": Kind(files(report__html="<p>"), NO_NOTEBOOK, "handed in report.html, which is no notebook"),
    "script-and-zip": Kind(files(answers__py="x", work__zip="PK", timestamp__txt="2026-01-01 10:00:00 UTC"), NO_NOTEBOOK, "handed in answers.py and work.zip, which are no notebooks"),
    "nothing": Kind(lambda blank, work, folder: None, NO_NOTEBOOK, "handed in no file"),
    "only-in-a-folder": Kind(lambda blank, work, folder: write(folder / "hand_in" / HANDED_IN, work), NO_NOTEBOOK, f"handed in hand_in/{HANDED_IN}, and no {FILE}"),
    "two-copies": Kind(lambda blank, work, folder: (write(folder / "a.ipynb", work), write(folder / "b.ipynb", work)), SEVERAL, f"handed in a.ipynb and b.ipynb, and no {FILE}: which one counts?"),
    "two-in-folders": Kind(lambda blank, work, folder: (write(folder / "hw" / FILE, work), write(folder / "hw" / "old" / FILE, blank)), SEVERAL, f"handed in hw/{FILE} and hw/old/{FILE}, and no {FILE}: which one counts?"),
    "duplicate": Kind(blank_beside(f"{NOTEBOOK}-Copy1.ipynb"), SEVERAL, which(f"{NOTEBOOK}-Copy1.ipynb")),
    "second-download": Kind(blank_beside(f"{NOTEBOOK} (1).ipynb"), SEVERAL, which(f"{NOTEBOOK} (1).ipynb")),
    "kept-by-hand-in": Kind(blank_beside(f"hand_in/{HANDED_IN}"), SEVERAL, which(f"hand_in/{HANDED_IN}")),
    "both": Kind(blank_beside(HANDED_IN, f"old/{FILE}"), SEVERAL, which(HANDED_IN, f"old/{FILE}")),
    "in-own-cells": Kind(answered_in_own_cells, SEVERAL, which("Untitled.ipynb")),
}  # fmt: skip


NEEDING = {
    "imports": ({"mix_rows": "from helpers import mix_rows"}, "helpers.py"),
    "imports-in-a-function": (
        {"mix_rows": "def mix_rows(A, V):\n    import helpers\n    return helpers.mix_rows(A, V)"},
        "helpers.py",
    ),
    "imports-in-another-cell": (
        {"pairwise_dots": RIGHT["pairwise_dots"] + "\nfrom tools import mix_rows", "mix_rows": "pass"},
        "tools",
    ),
    "imports-a-helper-above": (
        {
            "pairwise_dots": RIGHT["pairwise_dots"] + "\nfrom helpers import mixed",
            "mix_rows": "def mix_rows(A, V):\n    return mixed(A, V)",
        },
        "helpers.py",
    ),
    "imports-everything-below": (
        {"mix_rows": "def mix_rows(A, V):\n    return mixed(A, V)\nfrom helpers import *"},
        "helpers.py",
    ),
    "loads-below": (
        {"mix_rows": "def mix_rows(A, V):\n    return A @ V * table\ntable = np.loadtxt('data.csv')"},
        "data.csv",
    ),
    "opens": ({"mix_rows": "text = open('data.csv').read()\n" + RIGHT["mix_rows"]}, "data.csv"),
}
"""Answers to an exercise that need what lies beside the notebook, and what that is."""


ANNOTATED = {
    "pairwise_dots": 'def pairwise_dots(A: Float[np.ndarray, "n d"], B):\n    return A @ B.T',
    "mix_rows": 'def mix_rows(A: Float[np.ndarray, "n m"], V):\n    return np.asarray(A) @ V',
    "to_columns": RIGHT["to_columns"],
}
"""Right answers that need what the first cell imports."""


def without_ids(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        del cell["id"]


def on_top(line: str) -> Callable[[NotebookNode, NotebookNode], None]:
    def change(notebook: NotebookNode, setup: NotebookNode) -> None:
        setup.source = f"{line}\n{setup.source}"

    return change


SETUP_STOPPED = (
    "the cell setup stopped (ModuleNotFoundError, line 1: No module named '{}'); it was run as it was released"
)
SETUP: dict[str, tuple[Callable[[NotebookNode, NotebookNode], Any], str]] = {
    "mounts-a-drive": (on_top("from google.colab import drive"), SETUP_STOPPED.format("google")),
    "mounts-it-elsewhere": (
        lambda notebook, setup: (on_top("from google.colab import drive")(notebook, setup), without_ids(notebook)),
        SETUP_STOPPED.format("google"),
    ),
    "emptied-it": (
        lambda notebook, setup: setup.update(source="import numpy as np"),
        "the cell setup has no Float, check, figures, hand_in, progress any more; it was run as it was released",
    ),
    "deleted-it": (lambda notebook, setup: notebook.cells.remove(setup), "the cell setup was missing; it was put back"),
    "made-it-text": (
        lambda notebook, setup: setup.update(cell_type="markdown"),
        "the cell setup had become text; it was put back",
    ),
    "imports-more": (on_top("import math"), ""),
}
"""What becomes of the cell that imports what answers need, and what is said of it."""


def by_nbgrader(course: Course) -> str:
    graded = nbgrader(course, "autograde", NOTEBOOK)
    assert graded.returncode == nbgrader(course, "generate_feedback", NOTEBOOK).returncode == 0, graded.stdout
    return graded.stdout


def by_command(course: Course) -> str:
    done = commands.grade(course, NOTEBOOK, "--table", "--jobs", "2", COLUMNS="1000")
    assert done.returncode == FAILED, done.stdout
    return done.stdout


@dataclass(frozen=True)
class Run:
    course: Course
    said: str
    by: str


@pytest.fixture(scope="module", params=[by_nbgrader, by_command])
def run(request: pytest.FixtureRequest, new_course: Callable[[], Course]) -> Run:
    course = new_course()
    hand_in(course, "honest", filled(course, RIGHT))
    hand_in(course, "blank", filled(course, {}))
    elsewhere = filled(course, {})
    elsewhere.cells.insert(1, new_code_cell("\n".join(RIGHT.values())))
    hand_in(course, "elsewhere", elsewhere)
    beside = hand_in(course, "answered-beside", filled(course, {"mix_rows": RIGHT["mix_rows"]}))
    write(beside.with_name("old.ipynb"), filled(course, RIGHT))
    two_blanks = hand_in(course, "two-blanks", filled(course, {}))
    write(two_blanks.with_name("old.ipynb"), filled(course, {}))
    for student, (answers, _) in NEEDING.items():
        path = hand_in(course, student, filled(course, {**RIGHT, **answers}))
        write(path.with_name("helpers.py"), RIGHT["mix_rows"])
        write(path.with_name("data.csv"), "1,2")
        write(path.with_name("tools") / "__init__.py", "")
        write(path.with_name("unused.py"), "")
    for student, (change, _) in SETUP.items():
        notebook = filled(course, ANNOTATED)
        change(notebook, next(cell for cell in notebook.cells if cell.get("id") == "setup"))
        hand_in(course, student, notebook)
    for student, kind in KINDS.items():
        kind.make(filled(course, {}), filled(course, RIGHT), place(course, student).parent)
    with Gradebook(course.database) as gradebook:
        for number, student in enumerate(["honest", "absent", *KINDS]):
            gradebook.update_or_create_student(student, lms_user_id=str(number))
    return Run(course, request.param(course), request.param.__name__)


@pytest.mark.parametrize("student", KINDS)
def test_it_waits_for_a_person_and_is_left_where_it_lies(run: Run, student: str) -> None:
    assert scores(run.course, student) == A_PERSON
    with Gradebook(run.course.database) as gradebook:
        grades = [gradebook.find_grade(exercise, NOTEBOOK, NOTEBOOK, student) for exercise in EXERCISES]
        assert all(grade.needs_manual_grade for grade in grades)
    made = [path for path in run.course.folder("autograded", student, NOTEBOOK).iterdir() if path.name != TIMESTAMP]
    assert [(path.name, path.is_symlink()) for path in made] == [(FILE, False)]
    if KINDS[student].state in (NO_NOTEBOOK, SEVERAL):
        assert not (run.course.class_folder / "quarantine" / student).exists()


@pytest.mark.parametrize("student", KINDS)
def test_one_sentence_says_what_it_is(run: Run, student: str) -> None:
    kind = KINDS[student]
    told = words(page(run.course, student))
    shown = kind.sentence[1:]  # behind a capital
    assert told.index(shown) < told.index("what came of it"), "above the table"
    assert told.count(shown) == 1
    assert "No response" not in told
    for never in ("Repaired before grading", "put back", "not attempted", "is not a cell of this assignment"):
        assert never not in told
    own = [line for line in run.said.splitlines() if student in line.split() or f"{student}:" in line.split()]
    assert any(kind.sentence in line for line in run.said.splitlines())
    assert not any("put back" in line or "not attempted" in line for line in own)
    found = [line for line in lines(run.course, NOTEBOOK) if line.student == student]
    assert {(line.score, line.outcome, line.state, line.by_hand) for line in found} == {
        (None, FOR_A_PERSON, kind.state, True)
    }
    assert all(line.why.startswith(kind.sentence) for line in found)


def test_the_terminal_shows_the_state_of_each(run: Run) -> None:
    if run.by == by_command.__name__:
        rows = {
            cells[1].strip(): cells for cells in (line.split("│") for line in run.said.splitlines()) if len(cells) > 3
        }
        for student, kind in KINDS.items():
            assert rows[student][2].strip() == f"? {kind.state}"


def test_the_report_says_it_once_for_each(run: Run) -> None:
    told = words(report(run.course, NOTEBOOK).read_text())
    for kind in KINDS.values():
        assert kind.sentence in told


def test_of_others_nothing_else_is_said_and_a_blank_beside_a_blank_is_a_blank(run: Run) -> None:
    assert scores(run.course, "honest") == (2.0, 2.0, 3.0)
    assert scores(run.course, "blank") == scores(run.course, "two-blanks") == (0.0, 0.0, 0.0)
    assert scores(run.course, "answered-beside") == (0.0, 2.0, 0.0), "of the right name, and with an answer"


@pytest.mark.parametrize("student", NEEDING)
def test_a_file_that_was_left_out_and_that_an_answer_needed_is_named_beside_it(run: Run, student: str) -> None:
    file = NEEDING[student][1]
    told = words(page(run.course, student))
    assert f"{file} lay beside your notebook and was left out: only the notebook is graded." in told
    assert "unused.py" not in told
    found = next(line for line in lines(run.course, NOTEBOOK) if (line.student, line.exercise) == (student, "mix_rows"))
    assert found.score == 0.0
    assert found.outcome == "raised" or found.outcome.startswith("did not run")


def test_an_answer_that_was_judged_in_another_cell_is_not_said_to_be_missing(run: Run) -> None:
    assert scores(run.course, "elsewhere") == (2.0, 2.0, 3.0)
    assert "No response" not in words(page(run.course, "elsewhere"))
    assert "No response" in words(page(run.course, "blank"))


def test_the_sign_of_an_answer_that_was_not_given_is_its_own(run: Run) -> None:
    assert "mix_rows 0 of 2 · not attempted" in words(page(run.course, "blank"))
    assert "mix_rows 0 of 2 ✗ did not run" in words(page(run.course, "imports"))


@pytest.mark.parametrize("student", SETUP)
def test_what_becomes_of_the_first_cell_costs_no_answer_and_is_told(run: Run, student: str) -> None:
    assert scores(run.course, student) == (2.0, 2.0, 3.0)
    sentence = SETUP[student][1]
    told = words(page(run.course, student))
    assert told.count("Repaired before grading") == told.count(sentence or "the cell setup") == bool(sentence)
    assert sentence in run.said
    assert run.by != by_command.__name__ or sentence in words(report(run.course, NOTEBOOK).read_text())


def test_the_csv_of_everything_says_why_there_is_no_score(run: Run) -> None:
    assert run_export(run.course, NOTEBOOK, "csv", None, None, False, print) == 0
    path = run.course.class_folder / "report" / f"{NOTEBOOK}.csv"
    rows = {row["student_id"]: row for row in csv.DictReader(path.read_text().splitlines())}
    for student, kind in KINDS.items():
        assert rows[student]["status"].startswith(f"waits for a person: {kind.sentence}")
        assert rows[student]["score"] == rows[student]["mix_rows"] == ""
    assert rows["absent"]["status"] == "nothing handed in"


def test_no_zero_goes_to_an_lms_and_the_cell_is_left_and_named(run: Run, tmp_path: Path) -> None:
    template, said = tmp_path / "canvas.csv", []
    people = [
        f"{student},{number},{student},s,{old}"
        for number, (student, old) in enumerate([("honest", ""), ("absent", ""), *((s, "3.5") for s in KINDS)])
    ]
    template.write_text(
        "\n".join(["Student,ID,SIS User ID,Section,00_shapes (1)", "    Points Possible,,,,7", *people, ""])
    )
    assert run_export(run.course, NOTEBOOK, "canvas", template, None, False, said.append) == FAILED
    rows = {row[0]: row[-1] for row in csv.reader((tmp_path / "canvas-filled.csv").read_text().splitlines())}
    assert rows["honest"] == "7.00"
    assert {rows[student] for student in KINDS} == {"3.5"}
    for student, kind in KINDS.items():
        assert f"{student}: waits for a person: {kind.sentence}" in "\n".join(said)


def test_a_run_later_says_the_same(run: Run) -> None:
    said = by_command(run.course) if run.by == by_command.__name__ else by_nbgrader(run.course)
    for student, kind in KINDS.items():
        assert scores(run.course, student) == A_PERSON
        if run.by == by_command.__name__:
            assert kind.sentence in said


def test_who_hands_in_again_is_graded(run: Run, tmp_path: Path) -> None:
    course = Course(shutil.copytree(run.course.root, tmp_path / "course", symlinks=True))
    for student in ("page", "other", "duplicate"):
        hand_in(course, student, filled(course, RIGHT))
    if run.by == by_command.__name__:
        commands.grade(course, NOTEBOOK, "--yes")
    else:
        nbgrader(course, "autograde", NOTEBOOK, "--force")
    for student in ("page", "other", "duplicate"):
        assert scores(course, student) == (2.0, 2.0, 3.0)


def test_who_collects_is_told_at_once(new_course: Callable[[], Course], tmp_path: Path) -> None:
    course, path = new_course(), tmp_path / "submissions.zip"
    work = json.dumps(filled(course, RIGHT))
    handed_in = {
        "right": {f"{NOTEBOOK}.ipynb": work},
        "renamed": {"FINAL.ipynb": work},
        "other": {f"{OTHER}.ipynb": json.dumps(other())},
        "broken": {FILE: work[:2000]},
        "page": {"report.html": "<p>"},
        "two": {"a.py": "x", "b.pdf": "y"},
        "both": {FILE: work, "notes.txt": "z"},
    }
    with Gradebook(course.database) as gradebook, ZipFile(path, "w") as zipped:
        for number, (student, own) in enumerate(handed_in.items()):
            gradebook.update_or_create_student(student, lms_user_id=str(number))
            for name, content in own.items():
                zipped.writestr(f"{student}_{number}_9{number}_{name}", content)
    said: list[str] = []
    assert run_collect(course, NOTEBOOK, path, None, False, (), said.append) == FAILED
    told = next(one for one in said if one.startswith("Waits for a person:")).splitlines()[1:]
    assert [line.strip().partition(": ")[0] for line in told] == ["broken", "other", "page", "two"]
    assert f"  other: this is {OTHER}, handed in for {NOTEBOOK}" in told
    assert "  page: handed in report.html, which is no notebook" in told
    assert "  two: handed in a.py and b.pdf, which are no notebooks" in told
    graded = commands.grade(course, NOTEBOOK, "--no-feedback", COLUMNS="1000")
    assert "page could not be graded: handed in report.html, which is no notebook" in graded.stdout
    assert "nothing handed in" not in graded.stdout
    assert scores(course, "both") == scores(course, "renamed") == (2.0, 2.0, 3.0)
