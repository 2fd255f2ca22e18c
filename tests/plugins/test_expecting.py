"""`doctor` says what a course's submissions will get on this machine."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.__main__ import run
from autograder.engine import Limits, groups
from autograder.folder import Course, NbgraderFailed
from autograder.problems import USAGE, Problem
from autograder.settings import CONFIG, ROOT

EXAMPLE = ROOT / "docs" / "example"
SETTINGS = """
c.Sandbox.memory = 2048
c.Sandbox.network = ["data.example.org"]
c.Execute.timeout = 120
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The example, with settings of its own and two notebooks that need a kernel."""
    shutil.copytree(EXAMPLE, tmp_path / "course")
    with (tmp_path / "course" / CONFIG).open("a") as file:
        file.write(SETTINGS)
    for name, kernel, source in (("r", "ir", "1"), ("inner", "python3", "import ipykernel")):
        notebook = new_notebook(
            cells=[new_code_cell(source)], metadata={"kernelspec": {"name": kernel, "display_name": kernel}}
        )
        nbformat.write(notebook, str(tmp_path / "course" / "source" / "words" / f"{name}.ipynb"))
    return tmp_path / "course"


def said(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    with pytest.raises(SystemExit) as ended:
        run(["doctor", *words])
    assert not ended.value.code, ended.value.code
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


def test_the_limits_by_the_names_of_their_settings(
    course: Path, walls: None, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said(capsys, "--course", str(course))
    held = (
        "held by control groups" if groups.allowing(1 << 30) else "counted four times a second: no control groups here"
    )
    assert lines[lines.index(f"course: {course}") + 1 :] == [
        "who runs submissions: the engine",
        f"c.Sandbox.memory: 2048 MiB, {held}",
        f"c.Sandbox.processes: {Limits().processes}",
        f"c.Sandbox.disk: {Limits().disk >> 20} MiB in each folder that can be written",
        f"c.Sandbox.output: {Limits().output >> 20} MiB in a notebook",
        "c.Execute.timeout: 120 s for a cell",
        "c.JudgedExecute.notebook_timeout: 900 s for a notebook",
        "c.Sandbox.preload: the well-known modules alone",
        "c.Sandbox.network: data.example.org",
        "judge: none: nbgrader's own rules",
        "warm process: 2 of 4 notebooks",
        "a kernel of its own: words/inner: it imports ipykernel",
        "a kernel of its own: words/r: it names the kernel ir",
    ]
    assert len(lines) < 40


def test_the_course_that_one_stands_in(
    course: Path, walls: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(course / "source")
    assert f"course: {course}" in said(capsys)


def test_this_course_has_a_judge_and_no_kernels(walls: None, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "--course", str(ROOT))
    assert "judge: autograder.this_course.JUDGE" in lines
    assert not [line for line in lines if line.startswith("a kernel of its own")]


@pytest.mark.parametrize(
    ("setting", "told"),
    [("c.Sandbox.network = ['*.example.org']", "c.Sandbox.network"), ("c.Judge.name = 'no.such'", "no")],
)
def test_a_setting_that_cannot_be_used_is_a_sentence(
    course: Path, walls: None, setting: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with (course / CONFIG).open("a") as file:
        file.write(setting)
    assert re.search("has a setting that cannot be used; mend it: .*" + told, refused(capsys, course))


UNUSABLE = {
    "c.Sandbox.memory = 3": "'memory' .* not be less than 256",
    "c.Sandbox.network = ['*.example.org']": "c.Sandbox.network",
    "c.JudgedExecute.notebook_timeout = 'long'": "'notebook_timeout' .* expected an int",
    "c.Execute.timeout = 'long'": "'timeout' .* expected an int",
    "c.Judge.name = 'no.such'": "No module named 'no'",
}


@pytest.mark.parametrize("setting", UNUSABLE)
def test_it_is_a_sentence_through_either_door_and_nobody_is_graded(
    course: Path, setting: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Course(course).generate_assignment("words")
    shutil.copytree(course / "release" / "words", course / "submitted" / "ada" / "words")
    with (course / CONFIG).open("a") as file:
        file.write(setting)
    with pytest.raises(SystemExit) as ended:
        run(["grade", "words", "--course", str(course), "--yes"])
    assert ended.value.code == USAGE
    (said,) = capsys.readouterr().out.strip().splitlines()
    assert re.search(UNUSABLE[setting], said)
    with pytest.raises((NbgraderFailed, Problem), match=UNUSABLE[setting]) as refused_by_nbgrader:
        Course(course).autograde("words", "ada")
    assert "Traceback" not in str(refused_by_nbgrader.value)
    assert not (course / "autograded").exists()


def test_a_folder_that_is_no_course(tmp_path: Path, walls: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is no course" in refused(capsys, tmp_path)


def refused(capsys: pytest.CaptureFixture[str], course: Path) -> str:
    """The sentence with which `doctor` ends as after any other wrong word."""
    with pytest.raises(SystemExit) as ended:
        run(["doctor", "--course", str(course)])
    assert ended.value.code == USAGE
    return capsys.readouterr().err


def test_a_course_that_lacks_the_two_lines(course: Path, walls: None, capsys: pytest.CaptureFixture[str]) -> None:
    """They are named, with what comes of it, and writing them mends it."""
    settings = (course / CONFIG).read_text()
    (course / CONFIG).write_text(settings.replace("plug_in(c)", ""))
    (told,) = who_runs(capsys, course)
    assert told.startswith("nbgrader, with kernels, without walls and without the limits below: ")
    with (course / CONFIG).open("a") as file:
        file.write("\n".join(re.findall("`(.+?)`", told)))
    assert who_runs(capsys, course) == ["the engine"]


OWN = """
from nbgrader.preprocessors import Execute
class Own(Execute):
    pass
c.Autograde.autograde_preprocessors = [Own]
"""


def test_a_course_with_an_executor_of_its_own(course: Path, walls: None, capsys: pytest.CaptureFixture[str]) -> None:
    with (course / CONFIG).open("a") as file:
        file.write(OWN)
    (told,) = who_runs(capsys, course)
    assert re.match(r"\S*Own, in its own way, with kernels, without walls", told)


def who_runs(capsys: pytest.CaptureFixture[str], course: Path) -> list[str]:
    about = "who runs submissions: "
    return [line.removeprefix(about) for line in said(capsys, "--course", str(course)) if line.startswith(about)]
