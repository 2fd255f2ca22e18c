"""A question that is answered in prose: a person marks it, whatever became of its cell, and nobody else does."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell
from nbgrader.api import Gradebook

from autograder.exercises import tasks_in
from autograder.folder import Course
from autograder.grading.command import run
from autograder.grading.marking import Marker
from autograder.grading.preview import Change
from autograder.grading.report.lines import FOR_A_PERSON, GRADED, LOOK_AGAIN, Line
from autograder.grading.run import Graded, grade
from autograder.grading.snapshot import read_snapshot
from autograder.grading.submission import read_submission
from tests.support.commands import nbgrader
from tests.support.submissions import words

NOTEBOOK = "10_capstone"
(TASK,) = tasks_in(NOTEBOOK)
ANSWER = "One sees that the loss is too good."


def question(notebook: NotebookNode) -> NotebookNode:
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == TASK.name)


def untouched(notebook: NotebookNode) -> None:
    pass


def worked_on_elsewhere(notebook: NotebookNode) -> None:
    """Guesses, an experiment and an exercise, in the cells that are there."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and (
            cell.source.startswith("guess") or cell.id in ("meet", "parallel-block-solution")
        ):
            cell.source = cell.source.replace("None", '"a"') + "\n# tried\n1 + 1"


def answered(notebook: NotebookNode) -> None:
    question(notebook).source = ANSWER


def emptied(notebook: NotebookNode) -> None:
    question(notebook).source = ""


def deleted(notebook: NotebookNode) -> None:
    notebook.cells.remove(question(notebook))


def written_anew(notebook: NotebookNode) -> None:
    place = notebook.cells.index(question(notebook))
    notebook.cells[place] = new_markdown_cell(ANSWER)


def without_metadata(notebook: NotebookNode) -> None:
    answered(notebook)
    question(notebook).metadata = {}


def without_metadata_and_ids(notebook: NotebookNode) -> None:
    answered(notebook)
    for number, cell in enumerate(notebook.cells):
        cell.update(id=f"new-{number}", metadata={})


def without_names(notebook: NotebookNode) -> None:
    answered(notebook)
    del question(notebook).metadata.nbgrader["grade_id"]


def in_a_cell_below(notebook: NotebookNode) -> None:
    notebook.cells.insert(notebook.cells.index(question(notebook)) + 1, new_markdown_cell(ANSWER))


def in_a_cell_above(notebook: NotebookNode) -> None:
    notebook.cells.insert(notebook.cells.index(question(notebook)), new_markdown_cell(ANSWER))


def at_the_end(notebook: NotebookNode) -> None:
    notebook.cells.append(new_raw_cell(ANSWER))


def in_a_cell_of_code(notebook: NotebookNode) -> None:
    notebook.cells.insert(notebook.cells.index(question(notebook)) + 1, new_code_cell(f"# {ANSWER}"))


def under_the_question(notebook: NotebookNode) -> None:
    notebook.cells[notebook.cells.index(question(notebook)) - 2].source += f"\n\n{ANSWER}"


def retyped(notebook: NotebookNode) -> None:
    cell = question(notebook)
    notebook.cells[notebook.cells.index(cell)] = new_code_cell(ANSWER, id=cell.id, metadata=cell.metadata)


def copied(notebook: NotebookNode) -> None:
    copy_of_it = copy.deepcopy(question(notebook))
    copy_of_it.update(id="copy", source=ANSWER)
    notebook.cells.insert(notebook.cells.index(question(notebook)) + 1, copy_of_it)


def split(notebook: NotebookNode) -> None:
    copied(notebook)
    question(notebook).source = "The first half."


def points_itself(notebook: NotebookNode) -> None:
    answered(notebook)
    question(notebook).metadata.nbgrader.update(points=100, solution=False, grade=True, locked=True)
    question(notebook).source = "100"


CLASS: dict[str, Callable[[NotebookNode], None]] = {
    made.__name__: made
    for made in (
        untouched,
        worked_on_elsewhere,
        answered,
        emptied,
        deleted,
        written_anew,
        without_metadata,
        without_metadata_and_ids,
        without_names,
        in_a_cell_below,
        in_a_cell_above,
        at_the_end,
        in_a_cell_of_code,
        under_the_question,
        retyped,
        copied,
        split,
        points_itself,
    )
}
UNANSWERED = ("untouched", "worked_on_elsewhere")


def hand_in(course: Course, student: str, change: Callable[[NotebookNode], None]) -> None:
    notebook = nbformat.read(str(course.root / "release" / NOTEBOOK / f"{NOTEBOOK}.ipynb"), as_version=4)
    change(notebook)
    path = course.folder("submitted", student, NOTEBOOK) / f"{NOTEBOOK}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, str(path))


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = Course.copied(tmp_path_factory.mktemp("questions") / "course")
    course.generate_assignment(NOTEBOOK)
    for student, change in CLASS.items():
        hand_in(course, student, change)
    return course.root


@pytest.fixture(scope="module")
def course(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Course:
    return Course(shutil.copytree(released, tmp_path_factory.mktemp("graded") / "course"))


@pytest.fixture(scope="module")
def graded(course: Course) -> Graded:
    return grade(course, NOTEBOOK)


def of_the_question(graded: Graded) -> dict[str, Line]:
    return {line.student: line for line in graded.lines if line.exercise == TASK.name}


def stored(course: Course) -> dict[str, tuple[float | None, float | None, bool]]:
    with Gradebook(course.database) as gradebook:
        grades = {who.id: gradebook.find_grade(TASK.name, NOTEBOOK, NOTEBOOK, who.id) for who in gradebook.students}
        return {who: (g.auto_score, g.manual_score, g.needs_manual_grade) for who, g in grades.items()}


def test_the_released_cell_asks_for_an_answer_and_gives_none(released: Path) -> None:
    cell = question(nbformat.read(str(released / "release" / NOTEBOOK / f"{NOTEBOOK}.ipynb"), as_version=4))
    assert cell.source == "YOUR ANSWER HERE"


def test_an_answer_waits_for_a_person_and_what_was_left_as_it_was_earns_nothing(course: Course, graded: Graded) -> None:
    assert graded.failed == {}
    waiting, nothing = (None, None, True), (0.0, None, False)
    assert stored(course) == {who: nothing if who in UNANSWERED else waiting for who in CLASS}


def test_the_report_says_who_waits_and_what_the_question_is_worth(graded: Graded) -> None:
    found = of_the_question(graded)
    assert {line.points for line in found.values()} == {TASK.points}
    for student, line in found.items():
        unanswered = student in UNANSWERED
        assert (line.score, line.outcome) == ((0.0, "not attempted") if unanswered else (None, FOR_A_PERSON))
        assert line.by_hand is not unanswered
    assert graded.report
    assert f"? {FOR_A_PERSON}" in words(graded.report.read_text())


def test_grading_says_how_many_answers_wait(course: Course, graded: Graded, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(course.root, NOTEBOOK) == 0
    waiting = len(CLASS) - len(UNANSWERED)
    assert f"{waiting} cells of {waiting} students to be graded by hand" in capsys.readouterr().out


@pytest.mark.parametrize(
    "student", [who for who in CLASS if who not in (*UNANSWERED, "emptied", "deleted", "points_itself")]
)
def test_an_answer_stands_on_the_page_wherever_it_was_written(course: Course, graded: Graded, student: str) -> None:
    assert ANSWER in words((course.folder("feedback", student, NOTEBOOK) / f"{NOTEBOOK}.html").read_text())


@pytest.mark.parametrize("student", ["deleted", "written_anew", "in_a_cell_below"])
def test_where_the_answer_may_stand_in_another_cell_its_own_says_so(
    course: Course, graded: Graded, student: str
) -> None:
    path = course.folder("autograded", student, NOTEBOOK) / f"{NOTEBOOK}.ipynb"
    assert (
        "A person looks for the answer in the student's own cells"
        in question(nbformat.read(str(path), as_version=4)).source
    )


@pytest.mark.parametrize("student", ["answered", "retyped", "copied"])
def test_the_graded_notebook_holds_the_answer_in_a_cell_of_prose(course: Course, graded: Graded, student: str) -> None:
    path = course.folder("autograded", student, NOTEBOOK) / f"{NOTEBOOK}.ipynb"
    cell = question(nbformat.read(str(path), as_version=4))
    assert (cell.cell_type, cell.source) == ("markdown", ANSWER)


def test_no_half_of_a_split_answer_is_lost(course: Course, graded: Graded) -> None:
    page = words((course.folder("feedback", "split", NOTEBOOK) / f"{NOTEBOOK}.html").read_text())
    assert "The first half." in page
    assert ANSWER in page
    assert "was there twice" in page


@pytest.mark.thorough
def test_nbgraders_own_command_leaves_the_same_grades(
    released: Path, course: Course, graded: Graded, tmp_path: Path
) -> None:
    other = Course(shutil.copytree(released, tmp_path / "course"))
    assert nbgrader(other, "autograde", NOTEBOOK).returncode == 0
    assert stored(other) == stored(course)


def test_what_the_grader_fails_on_waits_with_its_question_too(course: Course) -> None:
    snapshot = read_snapshot(course, NOTEBOOK)
    submission = read_submission(course, "answered", snapshot)
    marked = Marker(snapshot).for_a_person(submission, "a fault").notebooks[NOTEBOOK]
    assert TASK.name in marked.by_hand
    assert set(marked.scores.values()) == {None}


def test_a_persons_mark_is_kept_and_shown_and_looked_at_again_when_the_answer_changes(
    released: Path, tmp_path: Path
) -> None:
    course = Course(shutil.copytree(released, tmp_path / "course"))
    grade(course, NOTEBOOK)
    with Gradebook(course.database) as gradebook:
        mark = gradebook.find_grade(TASK.name, NOTEBOOK, NOTEBOOK, "answered")
        mark.manual_score, mark.needs_manual_grade = 2.0, False
        gradebook.db.commit()
    marked = of_the_question(grade(course, NOTEBOOK))["answered"]
    assert (marked.score, marked.outcome, marked.by_hand) == (2.0, GRADED, False)
    asked: list[list[Change]] = []
    hand_in(course, "answered", lambda notebook: question(notebook).update(source="Another answer."))
    again = of_the_question(grade(course, NOTEBOOK, confirm=lambda changes: bool(asked.append(changes))))["answered"]
    assert asked == []
    assert (again.score, again.outcome, again.by_hand) == (2.0, LOOK_AGAIN, True)
    page = words((course.folder("feedback", "answered", NOTEBOOK) / f"{NOTEBOOK}.html").read_text())
    assert "Another answer." in page
    assert f"{TASK.name}: marked by a person, who will look at it again, 2 of 3 points" in page
