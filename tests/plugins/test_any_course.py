"""Courses with settings, folders and submissions as other courses have them: graded as stock nbgrader grades them, through both doors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Gradebook

from autograder.folder import Course
from autograder.plugins.structure import TAKEN_FOR_A_PATTERN, Structure
from autograder.settings import CONFIG
from tests.support import commands
from tests.support.shown import looks
from tests.support.stock import PLUGGED, cell, grades, nbgrader, stock_course, write
from tests.support.stored import stored
from tests.support.submissions import words

NAME = "ps"
ANSWERS = {
    "ada": "def double(x):\n    return 2 * x",
    "ben": "def double(x):\n    return x + 1",
    "asks": """import getpass, grp, os, pwd, subprocess, tempfile
from pathlib import Path
me = pwd.getpwuid(os.getuid()).pw_name
Path("own.txt").write_text("1")
assert Path("own.txt").owner() == subprocess.run(["whoami"], capture_output=True, text=True, check=True).stdout.strip() == me
grp.getgrgid(os.getgid())
for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
    os.environ.pop(name, None)
assert getpass.getuser() == me
os.stat("/etc/os-release")
tempfile.mkdtemp(dir="/var/tmp")
def double(x):
    return 2 * x""",
    "has-begun-a-task": """import asyncio, sys
async def speak():
    for _ in range(1000):
        print("mind the gap", file=sys.stderr)
        print("mind the gap")
        await asyncio.sleep(0.001)
task = asyncio.create_task(speak())
def double(x):
    return 2 * x""",
    "sets-precision": """import decimal
decimal.getcontext().prec = 3
def double(x):
    return 2 * x if decimal.Decimal(1) / 3 == decimal.Decimal("0.333") else x""",
}
FEW = ("ada", "ben")
STRUCTURE = "c.CourseDirectory.directory_structure = {!r}\n"
OWN = """
sys.path.insert(0, str(root))
c.Autograde.sanitize_preprocessors.append("own.Colours")
"""
OWN_MODULE = """import isoduration
import webcolors
from nbgrader.preprocessors import NbGraderPreprocessor


class Colours(NbGraderPreprocessor):
    def preprocess(self, nb, resources):
        nb.metadata["colour"] = webcolors.name_to_hex("red")
        return nb, resources
"""
COURSES = {
    "as usual": ("", tuple(ANSWERS)),
    "the assignment above the student": (STRUCTURE.format("{nbgrader_step}/{assignment_id}/{student_id}"), FEW),
    "both in one folder": (STRUCTURE.format("./{nbgrader_step}/{student_id}-{assignment_id}"), FEW),
    "the step below": (STRUCTURE.format("class/{student_id}/{assignment_id}/{nbgrader_step}"), FEW),
    "a preprocessor of its own": (OWN, FEW),
}
STEPS = """
for step in ("submitted", "autograded", "feedback"):
    c.CourseDirectory[f"{step}_directory"] = step
"""


def made(root: Path, name: str, plugged: str) -> Course:
    """A course in which a class has handed in. Its release is made under a plain name, as nbgrader needs it."""
    settings, students = COURSES[name]
    root.mkdir(parents=True)
    (root / "own.py").write_text(OWN_MODULE)
    course = stock_course(root, STEPS + settings + plugged)
    answer = cell(
        new_code_cell("def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"),
        "double",
        solution=True,
    )
    tests = [cell(new_code_cell(f"assert double({x}) == {2 * x}"), f"test_{x}", 2) for x in (1, 10)]
    write(course.folder("source", ".", NAME) / "nb.ipynb", [answer, *tests])
    course.generate_assignment(NAME)
    for student in students:
        notebook = nbformat.read(course.folder("release", ".", NAME) / "nb.ipynb", as_version=4)
        notebook.cells[0].source = ANSWERS[student]
        write(course.folder("submitted", student, NAME) / "nb.ipynb", notebook.cells)
    return course


def found(course: Course, name: str) -> dict[str, Any]:
    """What each student has: scores, what cells show, and the notebook's metadata, as JSON has it."""
    results = {}
    for student in COURSES[name][1]:
        notebook = nbformat.read(course.folder("autograded", student, NAME) / "nb.ipynb", as_version=4)
        scores = {part: grade.score for part, grade in grades(course.database, NAME, "nb", student).items()}
        results[student] = [scores, [looks(one.outputs) for one in notebook.cells], notebook.metadata.get("colour")]
    read: dict[str, Any] = json.loads(json.dumps(results))
    return read


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What stock nbgrader gives in each of these courses."""

    def find() -> dict[str, Any]:
        results = {}
        for name in COURSES:
            course = made(tmp_path_factory.mktemp("stock") / "course", name, "")
            log = nbgrader(course.root, "autograde", NAME)
            assert "Looking for what does not belong" not in log
            results[name] = found(course, name)
        return results

    read: dict[str, Any] = stored("any_course", RESTS_ON, find)
    return read


RESTS_ON = ("tests/plugins/test_any_course.py", "tests/support/stock.py")


def by_nbgrader(course: Course) -> str:
    return nbgrader(course.root, "autograde", NAME) + nbgrader(course.root, "generate_feedback", NAME)


def by_command(course: Course) -> str:
    return commands.grade(course, NAME, "--yes").stdout


@pytest.mark.parametrize("door", [by_nbgrader, by_command])
@pytest.mark.parametrize("name", COURSES)
def test_it_is_graded_as_on_stock(stock: dict[str, Any], tmp_path: Path, name: str, door: Any) -> None:
    course = made(tmp_path / "course", name, PLUGGED)
    log = door(course)
    assert found(course, name) == stock[name], log
    assert all((course.folder("feedback", student, NAME) / "nb.html").is_file() for student in COURSES[name][1])
    assert "Traceback" not in log


def test_stock_gives_full_marks_for_what_is_right(stock: dict[str, Any]) -> None:
    assert {student: sum(own[0].values()) for student, own in stock["as usual"].items()} == {
        student: 2.0 if student == "ben" else 4.0 for student in ANSWERS
    }


ODD = "names [x] (1) * #2"
"""The name of a folder that is a pattern, which nothing has that is called so."""


@pytest.mark.parametrize("name", ["as usual", "the assignment above the student"])
def test_a_course_whose_path_is_a_pattern_is_graded_by_the_class_command(
    stock: dict[str, Any], tmp_path: Path, name: str
) -> None:
    course = made(tmp_path / ODD / "course", name, PLUGGED)
    source = course.folder("source", ".", NAME)
    (source / "data.csv").write_text("1")
    Path(course.database.removeprefix("sqlite:///")).unlink()  # the release alone is there, as in a clone
    log = by_command(course)
    assert found(course, name) == stock[name], log
    pages = course.folder("feedback", "ada", NAME)
    assert sorted(path.name for path in pages.iterdir()) == ["data.csv", "nb.html"]
    said = by_nbgrader(course)
    assert " ".join(said.split()).count(TAKEN_FOR_A_PATTERN) == 2


def test_where_stock_finds_nothing_it_is_said_what_to_do_and_that_helps(tmp_path: Path) -> None:
    course = made(tmp_path / ODD, "as usual", PLUGGED)
    assert TAKEN_FOR_A_PATTERN in " ".join(nbgrader(course.root, "generate_assignment", NAME, "--force").split())
    link = tmp_path / "link"
    link.symlink_to(course.root)
    with (course.root / CONFIG).open("a") as settings:
        settings.write(f"c.CourseDirectory.root = {str(link)!r}\n")
    for command in ("generate_assignment", "autograde", "generate_feedback"):
        assert TAKEN_FOR_A_PATTERN not in " ".join(nbgrader(course.root, command, NAME, "--force").split())
    assert (course.folder("feedback", "ada", NAME) / "nb.html").is_file()
    assert "for a pattern" not in nbgrader(link, "autograde", "nothing-of-this-name")


@pytest.mark.parametrize("folder", ["course", ODD])
@pytest.mark.parametrize("name", ["the assignment above the student", "the step below"])
def test_a_zip_is_collected_and_marks_and_pages_go_back(tmp_path: Path, name: str, folder: str) -> None:
    course = made(tmp_path / folder, name, PLUGGED)
    release = (course.folder("release", ".", NAME) / "nb.ipynb").read_text()
    with Gradebook(course.database) as gradebook:
        gradebook.update_or_create_student("cleo", first_name="Cleo", last_name="Stone", lms_user_id="103")
    with ZipFile(tmp_path / "submissions.zip", "w") as zipped:
        zipped.writestr("stonecleo_103_9001_nb.ipynb", release)

    def told(*words: str) -> str:
        return commands.run(["autograder", *words, "--course", str(course.root)]).stdout

    told("collect", NAME, str(tmp_path / "submissions.zip"))
    assert (course.folder("submitted", "cleo", NAME) / "nb.ipynb").read_text() == release
    by_command(course)
    assert "the same: 1 student" in told("collect", NAME, str(tmp_path / "submissions.zip"))
    assert Structure.of(course.directory).find("autograded", NAME)[-1].student == "cleo"
    sheet = tmp_path / "marks.csv"
    sheet.write_text(
        f"Student,ID,SIS Login ID,Section,{NAME} (7)\n    Points Possible,,,,4\nStone Cleo,103,cleo,one,\n"
    )
    told("export", NAME, str(sheet), "--to", "canvas", "--feedback")
    pages = next(tmp_path.glob("marks-*.zip"))
    assert ZipFile(pages).namelist() == ["stonecleo_103_9001_nb.html"]
    assert told("report", NAME).strip().endswith(f"{NAME}.html")
    assert "warm process: 1 of 1 notebooks" in told("doctor")


# ------------------------------------------------------------------------- what students do to the cells of a release

TASK = "Draw it.\n\n=== BEGIN MARK SCHEME ===\n3 for a good one\n=== END MARK SCHEME ==="
HIDDEN = "assert double(1) == 2\n### BEGIN HIDDEN TESTS\nassert double(2) == 4\n### END HIDDEN TESTS"
ADD = "c.OverwriteCells.add_missing_cells = True"
RIGHT = ANSWERS["ada"]


def spoilt(root: Path) -> Course:
    """A course in which some have written into locked cells, or deleted cells that are graded."""
    root.mkdir()
    course = stock_course(root, PLUGGED)
    source = [
        cell(
            new_code_cell("def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"),
            "a",
            solution=True,
        ),
        cell(new_code_cell(HIDDEN), "t", 2),
        cell(new_markdown_cell(TASK), "k", task=True, locked=True, points=3),
        cell(new_markdown_cell("Why?"), "w", 3, solution=True, locked=False),
        cell(new_code_cell("import decimal\ndecimal.Decimal(double(1) + 2)"), "d", 5),
    ]
    write(course.folder("source", ".", NAME) / "nb.ipynb", source)
    course.generate_assignment(NAME)
    for student in ("ada", "ben", "cy", "dee"):
        notebook = nbformat.read(course.folder("release", ".", NAME) / "nb.ipynb", as_version=4)
        answer, test, task, why, value = notebook.cells
        answer.source, why.source = RIGHT, "So."
        if student == "ada":
            task.source += "\nMine: ![d](attachment:d.png)"
            task.attachments = {"d.png": {"image/png": "iVBORw0KGgo="}}
        elif student == "ben":
            notebook.cells = [answer, task, value]
        elif student == "cy":
            answer.source = f"# nice \ud83d\n{RIGHT}"
            test.source = "print(double(1))"
        write(course.folder("submitted", student, NAME) / "nb.ipynb", notebook.cells)
    return course


def copy_of(course: Course, student: str) -> nbformat.NotebookNode:
    return nbformat.read(course.folder("autograded", student, NAME) / "nb.ipynb", as_version=4)


@pytest.fixture(scope="module", params=[by_nbgrader, by_command])
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Course, str]:
    """A course of that kind that was graded, and what was printed, each line with single spaces."""
    course = spoilt(tmp_path_factory.mktemp("spoilt") / "course")
    return course, " ".join(request.param(course).split())


def test_what_was_written_into_a_locked_cell_is_kept_and_said(told: tuple[Course, str]) -> None:
    course, log = told
    assert log.count("the locked cell k was changed; it is as it was released again") == 1
    assert log.count("the locked cell t was changed; it is as it was released again") == 1
    _, test, task, written, *_ = copy_of(course, "ada").cells
    assert task.source == TASK
    assert written.source.endswith("Mine: ![d](attachment:d.png)")
    assert written.attachments == {"d.png": {"image/png": "iVBORw0KGgo="}}
    page = (course.folder("feedback", "ada", NAME) / "nb.html").read_text()
    assert "Mine:" in page
    assert "data:image/png;base64,iVBORw0KGgo=" in page
    _, test, written, *_ = copy_of(course, "cy").cells
    assert test.source == HIDDEN
    assert written.source.endswith("print(double(1))")
    assert not written.outputs


def test_of_a_cell_that_is_gone_it_is_said_that_nobody_can_mark_it(told: tuple[Course, str]) -> None:
    _, log = told
    for name in ("t", "w"):
        assert log.count(f"the cell {name} is missing, and nobody can mark it in formgrader: set {ADD} in") == 1
    assert "the cell k is missing" not in log
    if "graded by hand" in log:  # the class command
        assert "7 cells of 4 students to be graded by hand: formgrader lists them" in log
        assert log.count("? its cell is missing") == 2


def test_a_test_that_gives_everybody_full_points_is_named(told: tuple[Course, str]) -> None:
    course, log = told
    assert grades(course.database, NAME, "nb", "ada")["d"].score == 5.0
    by_class = course.class_folder.joinpath("report").is_dir()
    said = "the test d ends in Decimal('4'), which nbgrader takes for no points: everybody gets full points; end it in"
    assert log.count(said) == (1 if by_class else 4)
    assert "cannot be converted" not in log
    if by_class:
        page = words((course.class_folder / "report" / f"{NAME}.html").read_text())
        assert page.count(said) == 1


def test_half_a_character_stops_nothing(told: tuple[Course, str]) -> None:
    course, log = told
    assert copy_of(course, "cy").cells[0].source == f"# nice ?\n{RIGHT}"
    assert grades(course.database, NAME, "nb", "cy")["t"].score == 2.0
    assert "UnicodeEncodeError" not in log


@pytest.mark.parametrize("door", [by_nbgrader, by_command])
def test_a_cell_that_is_gone_comes_back_where_the_settings_say_so(tmp_path: Path, door: Any) -> None:
    course = spoilt(tmp_path / "course")
    course.folder("submitted", "ada", NAME).rename(tmp_path / "ada")
    with (course.root / CONFIG).open("a") as settings:
        settings.write(f"\n{ADD}\n")
    log = door(Course(course.root))
    assert [one.metadata.nbgrader.grade_id for one in copy_of(course, "ben").cells] == ["a", "t", "k", "w", "d"]
    assert grades(course.database, NAME, "nb", "ben")["t"].score == 2.0
    assert "MissingIDFieldWarning" not in log
    assert "could not be graded" not in log
