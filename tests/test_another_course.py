"""The engine as a package for any course of nbgrader's: two lines in its settings, and neither this course nor PyTorch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import NotebookExporter
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import Execute
from traitlets.config import Config

from autograder.plugins.config import IN_PLACE_OF, plug_in
from autograder.plugins.starting import StartingExporter
from autograder.settings import CONFIG, ROOT

EXAMPLE = ROOT / "docs" / "example"
ANSWERS = {
    "ada": {
        "mean": "def mean(values):\n    return sum(values) / len(values) if values else 0",
        "wettest": "def wettest(week):\n    return max(week, key=week.get)",
        "counted": "def counted(text):\n    words = text.lower().split()\n    return {word: words.count(word) for word in words}",
    },
    "ben": {
        "mean": "def mean(values):\n    return sum(values) / len(values)",
        "wettest": "def wettest(week):\n    return sorted(week)[-1]",
        "counted": "def counted(text):\n    return {word: text.split().count(word) for word in text.split()}",
    },
    "cleo": {},
}
SCORES = {"rainfall": {"ada": 5.0, "ben": 2.0, "cleo": 0.0}, "words": {"ada": 2.0, "ben": 0.0, "cleo": 0.0}}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), "autograder"]
    subprocess.run(built, cwd=ROOT, capture_output=True, check=True)
    (found,) = folder.glob("*.whl")
    return found


def test_the_package_holds_what_grades_any_course_and_nothing_of_this_one(wheel: Path) -> None:
    names = [name.partition("/") for name in zipfile.ZipFile(wheel).namelist()]
    assert {top for top, _, _ in names} == {"autograder", wheel.name.removesuffix("-py3-none-any.whl") + ".dist-info"}
    rooms = {rest.partition("/")[0] for top, _, rest in names if top == "autograder"}
    assert {"engine", "plugins", "grading", "lms", "verdicts", "commands"} <= rooms
    assert not {"exercises", "judging", "authoring", "bench", "this_course.py"} & rooms
    assert ("autograder", "/", "commands/making.py") not in names
    assert ("autograder", "/", "grading/report/page/report.html.j2") in names


class Own(Execute):
    pass


class OwnExporter(NotebookExporter):
    pass


def lists(c: Config) -> dict[str, object]:
    return {"preprocessors": c.Autograde.autograde_preprocessors, "hook": c.Autograde.pre_convert_hook}


def test_the_two_lines_may_stand_before_a_course_s_own_settings_or_after_them() -> None:
    def own(c: Config) -> None:
        c.Autograde.pre_convert_hook = "my.hook"
        c.Autograde.autograde_preprocessors = [
            "my.First",
            "nbgrader.preprocessors.Execute",
            Execute,
            "nbgrader.preprocessors.SaveAutoGrades",
        ]
        c.Autograde.exporter_class = OwnExporter

    before, after = Config(), Config()
    plug_in(before)
    own(before)
    own(after)
    plug_in(after)
    assert lists(before) == lists(after)
    assert before.Autograde.autograde_preprocessors == [
        "my.First",
        "autograder.plugins.executing.JudgedExecute",
        "autograder.plugins.executing.JudgedExecute",
        "autograder.plugins.saving.SaveVerdicts",
    ]
    assert before.Autograde.pre_convert_hook == "my.hook"
    for c in (before, after):
        assert issubclass(c.Autograde.exporter_class, StartingExporter)
        assert issubclass(c.Autograde.exporter_class, OwnExporter)


def test_what_a_course_adds_to_a_list_is_added_and_an_executor_of_its_own_stays() -> None:
    c = Config()
    c.Autograde.autograde_preprocessors.append("my.Last")
    plug_in(c)
    assert c.Autograde.autograde_preprocessors[0] == "autograder.plugins.executing.JudgedExecute"
    assert c.Autograde.autograde_preprocessors[-1] == "my.Last"
    c.Autograde.autograde_preprocessors = [Own]
    assert c.Autograde.autograde_preprocessors == [Own]


def test_without_a_judge_releases_are_made_by_nbgrader_s_own_rules() -> None:
    c = Config()
    plug_in(c)
    of_nbgrader = {ours.rpartition(".")[2]: name for name, ours in IN_PLACE_OF.items()}
    names = [str(name).rpartition(".")[2] for name in c.GenerateAssignment.preprocessors]
    own = [preprocessor.__name__ for preprocessor in GenerateAssignment.class_traits()["preprocessors"].default()]
    assert [of_nbgrader.get(name, name) for name in names] == own
    assert not any(str(name).startswith("autograder.plugins.repairing") for name in c.Autograde.sanitize_preprocessors)


def test_the_container_and_the_timer_name_what_there_is() -> None:
    lines = (ROOT / "docs" / "grading" / "Containerfile").read_text().splitlines()
    copied = [line.split()[1] for line in lines if line.startswith("COPY ")]
    assert copied
    assert all((ROOT / path).exists() for path in copied)
    service = (ROOT / "docs" / "grading" / "grade.service").read_text()
    assert "autograder grade hw1 --yes" in service


def hand_in(course: Path, student: str, name: str) -> None:
    notebook = nbformat.read(course / "release" / name / f"{name}.ipynb", as_version=4)
    for cell in notebook.cells:
        own = ANSWERS[student].get(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        cell.source = own or cell.source
    folder = course / "submitted" / student / name
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{name}.ipynb")


@pytest.mark.usefixtures("walls")
@pytest.mark.thorough
def test_a_stranger_grades_a_class_with_the_package_alone(wheel: Path, tmp_path: Path) -> None:
    """In an environment that has the package and what it brings: by its command, by nbgrader's, and in the end by stock nbgrader."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    bin_ = tmp_path / "env" / "bin"
    installed = [
        bin_ / "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-compile",
        "--constraint",
        ROOT / "constraints.txt",
        wheel,
    ]
    subprocess.run([*map(str, installed)], check=True)
    course = tmp_path / "rain"
    shutil.copytree(EXAMPLE, course)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = {"HOME": str(tmp_path), "PATH": f"{bin_}:{os.environ['PATH']}"}

    def run(*words: str, folder: Path = course) -> str:
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    missing = "import importlib.util as u; print(*[n for n in ('course', 'torch', 'numpy') if u.find_spec(n)])"
    assert run("python", "-c", missing).split() == []
    commands = run("autograder", "--help")
    assert "mutants" not in commands
    assert "--install-completion" in commands
    for name in SCORES:
        run("nbgrader", "generate_assignment", name)
        for student in ANSWERS:
            hand_in(course, student, name)
    told = json.loads(run("autograder", "grade", "rainfall", "--course", str(course), "--json", folder=elsewhere))
    assert list(elsewhere.iterdir()) == []
    assert {one["student"]: one["raw_score"] for one in told["students"]} == SCORES["rainfall"]
    assert (course / "feedback" / "ben" / "rainfall" / "rainfall.html").is_file()
    said = [run("nbgrader", "validate", f"submitted/{who}/rainfall/rainfall.ipynb") for who in ("ada", "cleo")]
    assert ["Success" in one for one in said] == [True, False]
    assert "FAILED" in said[1]
    run("nbgrader", "autograde", "words")
    for again in (False, True):
        if again:  # the same once more, by stock nbgrader
            settings = (course / CONFIG).read_text()
            (course / CONFIG).write_text(settings.replace("plug_in(c)", ""))
            for name in SCORES:
                run("nbgrader", "autograde", name, "--force")
        run("nbgrader", "export", "--to", "marks.csv")
        rows = [line.split(",") for line in (course / "marks.csv").read_text().splitlines()]
        heading = rows[0]
        marks = {(row[0], row[heading.index("student_id")]): float(row[heading.index("raw_score")]) for row in rows[1:]}
        assert marks == {(name, who): score for name, own in SCORES.items() for who, score in own.items()}


def test_the_page_says_what_the_example_does() -> None:
    page = (ROOT / "docs" / "another-course.md").read_text()
    assert "    from autograder.plugins.config import plug_in\n    plug_in(c)\n" in page
    assert "plug_in(c)" in (EXAMPLE / CONFIG).read_text()
    assert {path.parent.name for path in EXAMPLE.glob("source/*/*.ipynb")} == set(SCORES)
