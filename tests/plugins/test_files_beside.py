"""What lies beside a notebook: its folder, itself, its siblings and the instructor's files, as in stock nbgrader, through both doors."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.engine import given
from autograder.folder import Course
from autograder.grading.run import grade
from autograder.plugins import files_beside
from tests.support.stock import PLUGGED, cell, grades, stock_course

NAME = "ps 1"
STUDENTS = ("ada", "ben ü")
LARGE = 80 << 20
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
FIRST = {
    "folder": f"import os\nassert os.path.basename(os.getcwd()) == {NAME!r}",
    "student": "assert os.path.basename(os.path.dirname(os.getcwd())) in ('ada', 'ben ü')",
    "itself": "import json\nassert len(json.load(open('first.ipynb'))['cells']) == 9",
    "large": f"assert os.path.getsize('data/large.bin') == {LARGE}",
    "reads": "assert open('data.csv').read() == '1,2\\n' and open('data/more.txt').read() == 'more'",
    "own": "assert open('own.txt').read() == 'own'",
    "changes": "assert open('data.csv', 'a').write('3,4\\n') == 4\nos.remove('gone.txt')\nopen('data/made.txt', 'w').write('made')\n'changed'",
    "replaces": "os.remove('data/replaced.bin')\nassert open('data/replaced.bin', 'w').write('small now')",
    "nothing_else": "assert sorted(os.listdir()) == ['data', 'data.csv', 'first.ipynb', 'own.txt']",
}
SECOND = {
    "changed": "import json, os\nassert open('data.csv').read() == '1,2\\n3,4\\n' and open('data/made.txt').read() == 'made'",
    "gone": "assert not os.path.exists('gone.txt')",
    "replaced": "assert open('data/replaced.bin').read() == 'small now'",
    "sibling": "assert any('changed' in str(one['outputs']) for one in json.load(open('first.ipynb'))['cells'])",
    "large_again": f"assert os.path.getsize('data/large.bin') == {LARGE}",
}
NEEDS_A_KERNEL = {
    "kernel": f"import ipykernel, json, os\nassert os.path.basename(os.getcwd()) == {NAME!r}",
    "kernels_files": f"assert os.path.getsize('data/large.bin') == {LARGE} and open('data.csv').read() == '1,2\\n3,4\\n'",
    "kernels_siblings": "assert len(json.load(open('second.ipynb'))['cells']) == 5 and not os.path.exists('gone.txt')",
}
NOTEBOOKS = {"first": FIRST, "second": SECOND, "third": NEEDS_A_KERNEL}


def made(course: Course) -> Course:
    folder = course.root / "source" / NAME
    (folder / "data").mkdir(parents=True)
    for notebook, tests in NOTEBOOKS.items():
        cells = [cell(new_code_cell(source), name, 1) for name, source in tests.items()]
        text = json.dumps({**new_notebook(cells=cells, metadata=KERNEL), "nbformat_minor": 4})
        (folder / f"{notebook}.ipynb").write_text(text)
    for name, content in {"data.csv": "1,2\n", "gone.txt": "here", "data/more.txt": "more"}.items():
        (folder / name).write_text(content)
    for name in ("large", "replaced"):
        with (folder / "data" / f"{name}.bin").open("wb") as file:
            file.truncate(LARGE)
    course.generate_assignment(NAME)
    for student in STUDENTS:
        handed_in = course.folder("submitted", student, NAME)
        handed_in.mkdir(parents=True)
        for notebook in NOTEBOOKS:
            shutil.copy(course.root / "release" / NAME / f"{notebook}.ipynb", handed_in)
        (handed_in / "own.txt").write_text("own")
        (handed_in / "data.csv").write_text("the student's, which nbgrader overwrites")
    return course


def by_nbgrader(course: Course) -> None:
    for student in STUDENTS:
        course.autograde(NAME, student)


def by_this_command(course: Course) -> None:
    graded = grade(course, NAME)
    assert graded.failed == {}, graded


@pytest.fixture(scope="module", params=["stock", "plug-ins", "class"])
def graded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Course:
    settings = "" if request.param == "stock" else PLUGGED
    course = made(stock_course(tmp_path_factory.mktemp("beside"), settings))
    door: Callable[[Course], None] = by_this_command if request.param == "class" else by_nbgrader
    door(course)
    return course


@pytest.mark.parametrize("student", STUDENTS)
def test_a_notebook_finds_what_it_finds_in_stock_nbgrader(graded: Course, student: str) -> None:
    for notebook, tests in NOTEBOOKS.items():
        found = {name: one.score for name, one in grades(graded.database, NAME, notebook, student).items()}
        assert found == dict.fromkeys(tests, 1.0)


@pytest.mark.parametrize("student", STUDENTS)
def test_what_it_leaves_is_what_it_leaves_in_stock_nbgrader(graded: Course, student: str) -> None:
    folder = graded.folder("autograded", student, NAME)
    left = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert sorted(left) == sorted(
        [
            *(f"{notebook}.ipynb" for notebook in NOTEBOOKS),
            "own.txt",
            "data.csv",
            "data/more.txt",
            "data/made.txt",
            *LARGE_ONES,
        ]
    )
    assert left["data.csv"].read_text() == "1,2\n3,4\n"
    assert left["data/replaced.bin"].read_text() == "small now"
    assert left["data/large.bin"].stat().st_size == LARGE


LARGE_ONES = ("data/large.bin", "data/replaced.bin")


def test_the_instructors_files_are_as_they_were(graded: Course) -> None:
    folder = graded.root / "source" / NAME
    assert (folder / "data.csv").read_text() == "1,2\n"
    assert (folder / "gone.txt").read_text() == "here"
    for name in LARGE_ONES:
        assert (folder / name).stat().st_size == LARGE
        assert (folder / name).stat().st_mode & 0o200


def test_what_cannot_be_held_in_memory_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = made(stock_course(tmp_path, PLUGGED))
    monkeypatch.setattr(given, "MOST_LET_IN", 0)
    monkeypatch.setattr(given, "MOST_IN_MEMORY", 1 << 20)
    with pytest.raises(
        Exception, match="cannot be graded: the files beside the notebook that have to be held in memory are 160 MiB"
    ):
        grade(course, NAME)


def test_a_run_looks_for_the_instructors_files_once_and_the_next_one_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = stock_course(tmp_path, PLUGGED)
    folder = course.root / "source" / NAME
    folder.mkdir(parents=True)
    test = cell(new_code_cell("import os\nassert os.path.exists('new.csv')"), "test", 1)
    text = json.dumps({**new_notebook(cells=[test], metadata=KERNEL), "nbformat_minor": 4})
    for notebook in ("one", "two"):
        (folder / f"{notebook}.ipynb").write_text(text)
    course.generate_assignment(NAME)
    for student in STUDENTS:
        shutil.copytree(course.root / "release" / NAME, course.folder("submitted", student, NAME))
    listed: list[str] = []
    find = files_beside.find_all_files
    monkeypatch.setattr(files_beside, "find_all_files", lambda *given: listed.append(given[0]) or find(*given))
    course.autograde(NAME, "*")
    assert listed == [str(folder)]
    assert grades(course.database, NAME, "two", "ada")["test"].score == 0.0
    (folder / "new.csv").touch()
    course.autograde(NAME, "*", force=True)
    assert listed == [str(folder)] * 2
    assert grades(course.database, NAME, "two", "ada")["test"].score == 1.0
