"""From a zip to marks and pages in an LMS's files, on the command line, with a class that is really graded."""

from __future__ import annotations

import csv
import io
import json
import logging
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from zipfile import ZipFile

import pytest
from nbgrader.api import Gradebook

from autograder.__main__ import run as asked
from autograder.folder import Course
from autograder.grading.command import run as grade
from autograder.problems import FAILED, USAGE
from autograder.settings import CONFIG
from tests.support.classes import edit
from tests.support.quick_class import NAME, QuickClass
from tests.support.submissions import NOTEBOOK, RIGHT, filled

Command = Callable[..., tuple[int, str]]
NewCourse = Callable[[], Course]

CANVAS = (
    "Student,ID,SIS Login ID,Section,quick (77)\n    Points Possible,,,,2.00\n"
    '"Byron, Ada",101,x1,1,\n"O\'Brien, Ben",102,x2,1,0.50\n"Stone, Cleo",103,x3,1,\n'
)
MOODLE = (
    "Identifier,Full name,Email address,Grade,Maximum Grade,Grade can be changed,Last modified (grade),Feedback comments\r\n"
    "Participant 11,Ada Byron,ada@uni.example,,2.00,Yes,-,\r\n"
    "Participant 12,Ben O'Brien,ben@uni.example,,2.00,Yes,-,\r\n"
    "Participant 13,Cleo Stone,cleo@uni.example,,2.00,Yes,-,\r\n"
)
NAMES = {"ada": "byronada_101_9001_quick.ipynb", "ben": "obrienben_LATE_102_9002_quick-1.ipynb"}


@pytest.fixture
def course(quick_class: QuickClass, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Course:
    """Ada's and Ben's work came in a zip of Canvas; Ben had a point of extra credit, was late, and lost a quarter of a point."""
    made = quick_class()
    people = (("ada", "Ada", "Byron", "101"), ("ben", "Ben", "O'Brien", "102"), ("cleo", "Cleo", "Stone", "103"))
    with Gradebook(made.database) as gradebook:
        for student, first, last, number in people:
            gradebook.update_or_create_student(
                student, first_name=first, last_name=last, lms_user_id=number, email=f"{student}@uni.example"
            )
        gradebook.update_or_create_assignment(NAME, duedate=datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None))
    path = tmp_path / "submissions.zip"
    with ZipFile(path, "w") as zipped:
        for student, answer in (("ada", "2"), ("ben", "1")):
            notebook = shutil.copy(made.root / "release" / NAME / f"{NAME}.ipynb", tmp_path)
            edit(Path(notebook), 0, answer)
            zipped.write(notebook, NAMES[student])
    with pytest.raises(SystemExit) as ended:
        asked(["collect", NAME, str(path), "--course", str(made.root)])
    assert ended.value.code == 0
    (made.folder("submitted", "ben", NAME) / "timestamp.txt").write_text("2026-01-02 00:00:00 UTC")
    late = "from nbgrader.plugins import LateSubmissionPlugin\nclass Quarter(LateSubmissionPlugin):\n"
    (made.root / "quarter.py").write_text(f"{late}    def late_submission_penalty(self, *_):\n        return 0.25\n")
    with (made.root / CONFIG).open("a") as settings:
        settings.write(
            f"\nimport sys; sys.path.insert(0, {str(made.root)!r})\nc.AssignLatePenalties.plugin_class = 'quarter.Quarter'\n"
        )
    assert grade(made.root, NAME, jobs=1) == 0
    with Gradebook(made.database) as gradebook:
        given = gradebook.find_grade("test", NAME, NAME, "ben")
        given.extra_credit = 0.5
        gradebook.db.commit()
    capsys.readouterr()
    return made


@pytest.fixture
def export(course: Course, capsys: pytest.CaptureFixture[str]) -> Command:
    def command(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            asked(["export", NAME, *words, "--course", str(course.root)])
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, printed.out + printed.err

    return command


def test_canvas_gets_what_the_gradebook_has_and_pages_under_its_names(export: Command, tmp_path: Path) -> None:
    template = tmp_path / "grades.csv"
    template.write_text(CANVAS)
    code, said = export(str(template), "--to", "canvas", "--feedback")
    assert code == 0, said
    assert template.read_text() == CANVAS
    expected = CANVAS.replace("x1,1,", "x1,1,2.00").replace("0.50", "1.25")
    assert (tmp_path / "grades-filled.csv").read_text() == expected
    assert "ben (Ben O'Brien): 0.50 becomes 1.25" in said
    assert "cleo (Cleo Stone): nothing handed in" in said
    assert str(tmp_path / "grades-filled.csv") in said
    with ZipFile(tmp_path / "grades-feedback.zip") as zipped:
        assert zipped.namelist() == ["byronada_101_9001_quick.html", "obrienben_LATE_102_9002_quick-1.html"]
        assert b"<html" in zipped.read("byronada_101_9001_quick.html")


def test_moodle_gets_them_too_with_what_being_late_cost(export: Command, tmp_path: Path) -> None:
    template = tmp_path / "Grades.csv"
    template.write_text(MOODLE, newline="")
    code, said = export(str(template), "--to", "moodle", "--feedback")
    assert code == 0, said
    rows = list(csv.DictReader(io.StringIO((tmp_path / "Grades-filled.csv").read_text())))
    assert [(row["Grade"], row["Feedback comments"]) for row in rows] == [
        ("2.00", ""),
        ("1.25", "handed in 1 d late, -0.25"),
        ("", ""),
    ]
    with ZipFile(tmp_path / "Grades-feedback.zip") as zipped:
        assert zipped.namelist() == [
            "Ada Byron_11_assignsubmission_file_/quick.html",
            "Ben O'Brien_12_assignsubmission_file_/quick.html",
        ]


def test_a_plain_file_has_everything(export: Command, course: Course) -> None:
    assert export()[0] == 0
    rows = list(csv.DictReader((course.root / "class" / "report" / f"{NAME}.csv").open()))
    assert rows[1] == {
        "student_id": "ben",
        "last_name": "O'Brien",
        "first_name": "Ben",
        "email": "ben@uni.example",
        "lms_user_id": "102",
        "status": "graded",
        "timestamp": "2026-01-02T00:00:00",
        "seconds_late": "86400",
        "late_in_lms": "yes",
        "test": "1.5",
        "extra_credit": "0.5",
        "raw_score": "1.5",
        "late_penalty": "0.25",
        "score": "1.25",
        "max_score": "2",
        "comment": "handed in 1 d late, -0.25",
    }
    assert (rows[2]["status"], rows[2]["score"]) == ("nothing handed in", "")


def test_a_second_export_overwrites_nothing(export: Command, tmp_path: Path) -> None:
    template = tmp_path / "grades.csv"
    template.write_text(CANVAS)
    export(str(template), "--to", "canvas")
    first = tmp_path / "grades-filled.csv"
    first.write_text("mine")
    assert str(tmp_path / "grades-filled-2.csv") in export(str(template), "--to", "canvas")[1]
    assert first.read_text() == "mine"


def test_who_has_no_row_is_named_and_the_exit_code_says_so(export: Command, tmp_path: Path) -> None:
    template = tmp_path / "grades.csv"
    template.write_text("".join(CANVAS.splitlines(keepends=True)[:3]))
    code, said = export(str(template), "--to", "canvas")
    assert code == FAILED
    assert "without a row in Canvas's file:\n  ben (Ben O'Brien)\n" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--to", "canvas"], "Name the file that canvas exported"),
        (["missing.csv", "--to", "moodle"], "missing.csv cannot be read"),
        (["grades.csv"], "leave template"),
        (["--to", "blackboard"], "there are canvas, moodle, brightspace, csv"),
        (["x.csv", "--to", "brightspace", "--feedback"], "leave --feedback away"),
    ],
)
def test_wrong_use_is_said_in_a_sentence(export: Command, words: list[str], sentence: str) -> None:
    code, said = export(*words)
    assert code == USAGE
    assert sentence in " ".join(said.replace("│", " ").split())


def test_whatever_was_handed_in_is_nothing_new_afterwards_and_gets_its_page(
    new_course: NewCourse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = new_course()
    right = json.dumps(filled(course, RIGHT))
    inner = tmp_path / "homework.zip"
    with ZipFile(inner, "w") as zipped:
        zipped.writestr("homework/mine.ipynb", right)
    graded = ("Untitled.ipynb", "matrix shapes FINAL.ipynb", f"{NOTEBOOK} (1).ipynb", "homework.zip")
    others = (f"{NOTEBOOK}.ipynb.txt", "homework.docx")
    files = {f"s{at}": f"s{at}_{at}_{900 + at}_{name}" for at, name in enumerate((*graded, *others), 1)}
    contents = {name: inner.read_bytes() if name.endswith(".zip") else right for name in files.values()}
    texts = {"s7": "s7_7_text.html", "s8": "s8_8_link.html"}
    several = {
        f"s9_9_{number}_{name}.ipynb": json.dumps(filled(course, {})) for number, name in ((909, "a"), (910, "b"))
    }
    path = tmp_path / "submissions.zip"
    with ZipFile(path, "w") as zipped, Gradebook(course.database) as gradebook:
        for at in range(1, 10):
            gradebook.update_or_create_student(f"s{at}", lms_user_id=str(at))
        for name, content in {**contents, **dict.fromkeys(texts.values(), "<p>"), **several}.items():
            zipped.writestr(name, content)
    where = ("--course", str(course.root))
    assert ended(["collect", NOTEBOOK, str(path), *where]) == FAILED
    waiting = capsys.readouterr().out.partition("Waits for a person:\n")[2].partition("Collected")[0]
    assert [line.split(":")[0].strip() for line in waiting.splitlines()] == ["s5", "s6", "s7", "s8", "s9"]
    assert logging.getLogger("autograder").propagate, "what is told later is still heard"
    assert grade(course.root, NOTEBOOK, jobs=2) == FAILED
    capsys.readouterr()
    assert ended(["collect", NOTEBOOK, str(path), *where]) == FAILED
    again = capsys.readouterr().out.partition("Waits for a person:\n")[2]
    assert again == f"{waiting}There already, the same: 9 students\nCollected for {NOTEBOOK}: 0 students\n"
    template = tmp_path / "grades.csv"
    rows = "".join(f"s{at},{at},1,\n" for at in range(1, 10))
    template.write_text(f"Student,ID,Section,{NOTEBOOK} (77)\n{rows}")
    assert ended(["export", NOTEBOOK, str(template), "--to", "canvas", "--feedback", *where]) == FAILED
    said = capsys.readouterr().out
    assert (tmp_path / "grades-filled.csv").read_text().count(",7.00\n") == len(graded)
    assert "nothing handed in" not in said
    assert "  s7: waits for a person: handed in text typed into the page.html, which is no notebook\n" in said
    assert "did not take their submission" not in said
    assert "Canvas takes pages for files alone, and none was handed in:\n  s7\n  s8\n" in said
    with ZipFile(tmp_path / "grades-feedback.zip") as zipped:
        pages = [str(Path(name).with_suffix(".html")) for name in (*files.values(), next(iter(several)))]
        assert zipped.namelist() == pages


def ended(words: list[str]) -> object:
    with pytest.raises(SystemExit) as found:
        asked(words)
    return found.value.code
