"""The sample class, graded as any class is, and the reports on it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

import autograder.authoring.sample as sample
from autograder.authoring.crowd import ODD, make_crowd
from autograder.authoring.sample import make_sample
from autograder.exercises import exercises_in
from autograder.folder import Course
from autograder.grading.command import run
from autograder.grading.report.gathering import gather
from autograder.grading.report.lines import FOR_A_PERSON, NOTHING, Line, lines
from autograder.grading.report.telling import passed_and_lost
from autograder.grading.run import grade
from autograder.problems import FAILED
from course.afterwards import ALL_PASS
from tests.support.submissions import words

NOTEBOOK = "00_shapes"


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
    assert set(done.failed) == {"gus"}
    assert done.failed["gus"].startswith("could not be read: ")
    assert done.notes["gus"] == []
    assert done.report
    return done.report


@pytest.fixture
def report(course: Course, graded: Path) -> list[Line]:
    return lines(course, NOTEBOOK)


def row(report: list[Line], student: str) -> list[tuple[float | None, str]]:
    return [(line.score, line.outcome) for line in report if line.student == student]


def test_eight_students_hand_in_something(course: Course) -> None:
    assert course.submitters(NOTEBOOK) == ["ada", "ben", "cleo", "dan", "eve", "fay", "gus", "ivy"]


def test_each_student_of_the_sample_earns_what_their_story_says(report: list[Line]) -> None:
    assert row(report, "ada") == [(2.0, "passed"), (2.0, "passed"), (3.0, "passed")]
    assert row(report, "ben") == [(0.0, "not attempted")] * 3
    assert row(report, "cleo") == [(2.0, "passed"), (0.0, "not attempted"), (0.0, "not attempted")]
    assert row(report, "gus") == [(None, FOR_A_PERSON)] * 3


@pytest.mark.parametrize(("student", "place"), [("dan", 0), ("eve", 1), ("fay", 2)])
def test_a_known_mistake_loses_marks_and_is_named(report: list[Line], student: str, place: int) -> None:
    exercises = exercises_in(NOTEBOOK)
    expected = [e.mistakes[place].__name__ for e in exercises]
    own = [line for line in report if line.student == student]
    assert [line.mistakes for line in own] == [(name,) for name in expected]
    assert all((line.score or 0.0) < exercise.points for line, exercise in zip(own, exercises, strict=True))


def test_who_is_right_in_public_only_is_told_of_as_such(course: Course, report: list[Line]) -> None:
    first = exercises_in(NOTEBOOK)[0]
    (lost, *rest) = row(report, "ivy")
    assert lost[0] != first.points
    assert rest == [(2.0, "passed"), (3.0, "passed")]
    (share,) = passed_and_lost(gather(course, NOTEBOOK))
    assert (share.what, share.students) == (first.name, ("ivy",))
    page = (course.folder("feedback", "ivy", NOTEBOOK) / f"{NOTEBOOK}.html").read_text()
    assert ALL_PASS in words(page)


def test_a_student_who_handed_in_nothing_is_in_the_report_and_has_no_zero(report: list[Line]) -> None:
    assert row(report, "hal") == [(None, NOTHING)] * 3


def test_the_page_has_a_row_for_every_student_with_points_and_total(graded: Path) -> None:
    page = graded.read_text()
    assert graded.name == f"{NOTEBOOK}.html"
    rows = {cells[0]: cells[1:] for cells in cells_of_students(page)}
    assert list(rows) == ["ada", "ben", "cleo", "dan", "eve", "fay", "gus", "hal", "ivy"]
    assert rows["ada"] == ["2", "2", "3", "7"]
    assert rows["cleo"] == ["2", "0 not attempted", "0 not attempted", "2"]
    assert rows["hal"] == [NOTHING, "", "", ""]


def cells_of_students(page: str) -> list[list[str]]:
    rows = re.findall(r'<tr id="s\d+">(.*?)</tr>', page)
    return [[words(f"<body>{cell}") for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]


def test_grading_prints_the_table_and_says_who_handed_in_nothing(
    course: Course, graded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    assert run(course.root, NOTEBOOK) == FAILED
    printed = capsys.readouterr().out
    told = {cells[0].strip(): [c.strip() for c in cells[1:]] for cells in table_rows(printed)}
    assert told["ada"] == ["2", "2", "3", "7"]
    assert told["hal"] == [NOTHING, NOTHING, NOTHING, "0"]
    assert told["gus"] == ["? could not be read"] * 3 + ["?"]
    assert printed.count("could not be graded") == printed.count("gus could not be graded: could not be read: ") == 1


def table_rows(printed: str) -> list[list[str]]:
    return [line.split("│")[1:-1] for line in printed.splitlines() if line.startswith("│")]


def test_an_unreadable_submission_gets_a_page_that_says_so(course: Course, graded: Path) -> None:
    page = (course.folder("feedback", "gus", NOTEBOOK) / f"{NOTEBOOK}.html").read_text()
    assert "This could not be graded automatically. Could not be read: it is another kind of file" in words(page)


# ------------------------------------------------------------------------------------------------------- a large class


def test_a_large_class_has_the_odd_ones_of_every_large_class(tmp_path: Path) -> None:
    course = make_crowd(tmp_path / "crowd", NOTEBOOK, max(ODD) + 1)
    odd = {story: f"s{number:04}" for number, story in ODD.items()}
    submitters = course.submitters(NOTEBOOK)
    with Gradebook(course.database, course.directory.course_id) as gradebook:
        roster = {student.id for student in gradebook.students}
    assert set(submitters) ^ roster == {odd["hands in nothing"], odd["is not on the roster"]}
    graded = grade(
        course, NOTEBOOK, feedback=False, students=[odd["no notebook"], odd["another name"], odd["a copied cell"]]
    )
    told = {student: " ".join(notes) for student, notes in graded.notes.items()}
    assert "could not be read" in graded.failed[odd["no notebook"]]
    assert " (1).ipynb is read as " in told[odd["another name"]]
    assert "was there twice" in told[odd["a copied cell"]]
    named = ("ends its process", "a syntax error", "late", "is right in public only")
    graded = grade(course, NOTEBOOK, feedback=False, students=[odd[name] for name in named])
    last = exercises_in(NOTEBOOK)[-1].name
    outcomes = {(line.student, line.exercise): line.outcome for line in graded.lines}
    assert outcomes[odd["ends its process"], last] == "crashed"
    assert outcomes[odd["a syntax error"], last] not in ("passed", "partly")
    lost = [student for share in passed_and_lost(gather(course, NOTEBOOK)) for student in share.students]
    assert lost == [odd["is right in public only"]]
    assert [late.seconds > 0 for student, late in graded.late.items() if student == odd["late"]] == [True]


def test_the_same_large_class_is_made_each_time(tmp_path: Path) -> None:
    first, second = (make_crowd(tmp_path / name, NOTEBOOK, 6) for name in ("one", "two"))

    def answers(course: Course) -> list[str]:
        return [
            (course.folder("submitted", who, NOTEBOOK) / f"{NOTEBOOK}.ipynb").read_text()
            for who in course.submitters(NOTEBOOK)
        ]

    assert answers(first) == answers(second)
