"""Folders that hold what no reader expects: one class, graded through both doors beside honest students."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from autograder.folder import Course
from autograder.plugins.bounds import MOST_CELLS, MOST_NAMES, MOST_VALUES
from autograder.plugins.handing_in import NO_TIME
from autograder.plugins.reading import NOT_ASKED_FOR, ODD_TAGS
from autograder.problems import FAILED
from tests.support import commands
from tests.support.commands import nbgrader
from tests.support.submissions import (
    EXERCISES,
    NOTEBOOK,
    RIGHT,
    answer_cell,
    filled,
    hand_in,
    page,
    place,
    scores,
    words,
)

pytestmark = pytest.mark.thorough  # a class of attempts, graded through both doors

ALL = (2.0, 2.0, 3.0)
NOTHING = (0.0, 0.0, 0.0)
A_PERSON = (None, None, None)


@dataclass(frozen=True)
class Odd:
    """Something handed in.

    Attributes:
        make: given the honest notebook and the folder, in which the notebook is not written yet.
        earns: the points for each exercise.
        said: what a run says of it; "" where there is nothing to say.
        page: what the feedback page says.
    """

    make: Callable[[NotebookNode, Path], Any]
    earns: tuple[float | None, ...] = ALL
    said: str = ""
    page: str = ""


# ------------------------------------------------------------------------------------------------------------ metadata


def with_tags(tags: Any) -> Odd:
    def make(notebook: NotebookNode, folder: Path) -> None:
        for cell in notebook.cells:
            cell.metadata["tags"] = tags

    return Odd(make, said=ODD_TAGS, page=ODD_TAGS)


def of_cells(**metadata: Any) -> Odd:
    def make(notebook: NotebookNode, folder: Path) -> None:
        for cell in notebook.cells:
            cell.metadata.update(metadata)

    return Odd(make)


def of_notebook(**metadata: Any) -> Odd:
    return Odd(lambda notebook, folder: notebook.metadata.update(metadata))


def fields(**values: Any) -> Odd:
    def make(notebook: NotebookNode, folder: Path) -> None:
        for cell in notebook.cells:
            cell.update(values)

    return Odd(make)


def formats(**values: Any) -> Odd:
    return Odd(lambda notebook, folder: notebook.update(values))


def nested(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


def deep_settings(notebook: NotebookNode, folder: Path) -> None:
    answer_cell(notebook, "mix_rows").metadata.nbgrader["more"] = nested(300)


METADATA = {
    "tag-twice": with_tags(["a", "a"]),
    "tag-empty": with_tags([""]),
    "tag-comma": with_tags(["a,b"]),
    "tag-text": with_tags("hide"),
    "tag-many": with_tags([*map(str, range(5000)), 1, None]),
    "cell-names": of_cells(name="", collapsed="yes", scrolled=3, format=[], jupyter="x", execution=1, slideshow=[]),
    "cell-settings": Odd(deep_settings),
    "kernelspec": of_notebook(kernelspec=3, language_info=[], authors="me", title=4, orig_nbformat="x"),
    "ids-twice": fields(id="a"),
    "ids-long": fields(id="a b" * 500, execution_count="x", outputs={"a": 1}, more=nested(200)),
    "attached": fields(attachments={"\x1b": {"image/png": 3}, "b": 2}),
    "format-text": formats(nbformat="4", nbformat_minor="x"),
    "format-none": formats(nbformat=None, nbformat_minor=None),
}


# ----------------------------------------------------------------------------------------------------------- timestamps


def stamped(data: bytes | str, said: str = NO_TIME) -> Odd:
    text = data if isinstance(data, bytes) else data.encode()
    return Odd(lambda notebook, folder: (folder / "timestamp.txt").write_bytes(text), said=said)


def stamp(make: Callable[[Path], Any], said: str = NO_TIME) -> Odd:
    return Odd(lambda notebook, folder: make(folder / "timestamp.txt"), said=said)


TIMESTAMPS = {
    "stamp-good": stamped("2026-03-02 10:00:00.123456 UTC", ""),
    "stamp-naive": stamped("2026-03-02 10:00:00", ""),
    "stamp-offset": stamped("2026-03-02 12:00:00 +0200", "it now says 2026-03-02 10:00:00.000000 UTC"),
    "stamp-in-doubt": stamped("2026-03-02 12:00:00 CST"),
    "stamp-bytes": stamped(b"\xff\xfe2"),
    "stamp-year-0": stamped("0000-01-01 10:00:00 UTC"),
    "stamp-year-99999": stamped("99999-01-01 10:00:00 UTC"),
    "stamp-negative": stamped("-9999-99-01 10:00:00 UTC"),
    "stamp-zone": stamped("2026-03-02 10:00:00 99999999999999"),
    "stamp-escapes": stamped("\x1b[2J\x1b]0;owned\x07 2026-03-02 10:00:00 UTC"),
    "stamp-lines": stamped("2026-03-02 10:00:00 UTC\n[AutogradeApp | INFO] honest has 100 points"),
    "stamp-empty": stamped(""),
    "stamp-10-MB": stamped(b"1" * 10_000_000),
    "stamp-folder": stamp(Path.mkdir),
    "stamp-link": stamp(lambda path: path.symlink_to("/etc/passwd"), "it is a link"),
    "stamp-loop": stamp(lambda path: path.symlink_to(path), "it is a link"),
    "stamp-pipe": stamp(os.mkfifo, "it is not a plain file"),
}


# ------------------------------------------------------------------------------------------------------------ file names


def beside(name: str | bytes, said: str) -> Odd:
    return Odd(lambda notebook, folder: Path(os.fsdecode(bytes(folder) + b"/" + os.fsencode(name))).touch(), said=said)


NAMES = {
    "name-bytes": beside(b"caf\xe9.txt", r"caf\udce9.txt: its name is not UTF-8"),
    "name-escapes": beside("\x1b[2Jx", rf"\x1b[2Jx: {NOT_ASKED_FOR}"),
    "name-lines": beside("a\r\n[AutogradeApp | INFO] b", r"a\r\n[AutogradeApp | INFO] b was moved"),
    "name-turned": beside("txt.\u202efdp", rf"\u202efdp: {NOT_ASKED_FOR}"),
    "name-long": beside("x" * 255, f"x: {NOT_ASKED_FOR}"),
    "name-case": beside(f"{NOTEBOOK}.IPYNB", NOT_ASKED_FOR),
}


# --------------------------------------------------------------------------------------------------------------- bounds


def many_files(notebook: NotebookNode, folder: Path) -> None:
    for n in range(20_000):
        (folder / f"{n}.txt").touch()


def many_notebooks(notebook: NotebookNode, folder: Path) -> None:
    for n in range(3_000):
        (folder / f"{n}.ipynb").touch()


def many_names(notebook: NotebookNode, folder: Path) -> None:
    for n in range(MOST_NAMES + 1):
        (folder / f"{n}").touch()


def deep(notebook: NotebookNode, folder: Path) -> None:
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1_500):
        os.mkdir("deep-folder", dir_fd=here)
        here, above = os.open("deep-folder", os.O_RDONLY, dir_fd=here), here
        os.close(above)
    os.close(here)


def sparse(notebook: NotebookNode, folder: Path) -> None:
    with (folder / "sparse.bin").open("wb") as file:
        file.truncate(1 << 40)


def loops(notebook: NotebookNode, folder: Path) -> None:
    (folder / "here").symlink_to(".")
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    os.mkfifo(folder / "pipe")


def written(text: Callable[[NotebookNode], str]) -> Callable[[NotebookNode, Path], Any]:
    return lambda notebook, folder: (folder / f"{NOTEBOOK}.ipynb").write_text(text(notebook))


def huge(notebook: NotebookNode, folder: Path) -> None:
    with (folder / f"{NOTEBOOK}.ipynb").open("wb") as file:
        file.truncate(500_000_000)


def with_cells(cells: str) -> Callable[[NotebookNode, Path], Any]:
    return written(lambda notebook: json.dumps(notebook).replace('"cells": [', f'"cells": [{cells},', 1))


def a_folder(notebook: NotebookNode, folder: Path) -> None:
    (folder / f"{NOTEBOOK}.ipynb").mkdir()


def hard_link(notebook: NotebookNode, folder: Path) -> None:
    (folder / "kept").write_text(json.dumps(notebook))
    os.link(folder / "kept", folder / f"{NOTEBOOK}.ipynb")


EMPTY_CELL = '{"cell_type": "code", "source": "", "metadata": {}}'
BIG = {"cell_type": "code", "metadata": {}, "source": "x;" * 800_000}
PERSON = "This could not be graded automatically."
BOUNDS = {
    "many-files": Odd(many_files, said="19990 more of"),
    "many-notebooks": Odd(many_notebooks, said="2990 more of"),
    "many-names": Odd(many_names, A_PERSON, f"more than {MOST_NAMES:,} files and folders", PERSON),
    "deep": Odd(deep, said=f"deep-folder: {NOT_ASKED_FOR}"),
    "sparse": Odd(sparse, said=f"sparse.bin: {NOT_ASKED_FOR}"),
    "loops": Odd(loops, said="pipe: it is not a plain file"),
    "huge": Odd(huge, A_PERSON, f"{NOTEBOOK}.ipynb is larger than 20 MiB", PERSON),
    "long-line": Odd(written(lambda notebook: "x" * 50_000_000), A_PERSON, "is larger than 20 MiB", PERSON),
    "brackets": Odd(with_cells("[" * 50_000 + "]" * 50_000), A_PERSON, "too many brackets in one another", PERSON),
    "many-values": Odd(with_cells("0," * MOST_VALUES + "0"), A_PERSON, f"more than {MOST_VALUES:,} values", PERSON),
    "many-cells": Odd(
        with_cells(",".join([EMPTY_CELL] * 100_000)), A_PERSON, f"more than {MOST_CELLS:,} cells", PERSON
    ),
    "much-code": Odd(with_cells(json.dumps(BIG)), A_PERSON, "code is longer than 1 MiB", PERSON),
    "a-folder": Odd(a_folder, A_PERSON, page="is a link, or no plain file"),
    "hard-link": Odd(hard_link, said=f"kept: {NOT_ASKED_FOR}"),
}


# ------------------------------------------------------------------------------------------------------ students' names

STUDENTS = (
    "[a]", "a", "*", "[!a]?", "{student_id}", "!a", " x ", "it's \"q\"", "$(x)", "Zoë 日", "-rf", "%s",
)  # fmt: skip
NOBODYS = (".hidden", "two\nlines", "\x1b[31mred", "\u202eturned", os.fsdecode(b"caf\xe9"))


# ----------------------------------------------------------------------------------------------------------- both doors

ODD = {**METADATA, **TIMESTAMPS, **NAMES, **BOUNDS}


@dataclass(frozen=True)
class Run:
    course: Course
    ended_well: bool
    said: str


def by_nbgrader(course: Course) -> Run:
    graded = nbgrader(course, "autograde", NOTEBOOK)
    feedback = nbgrader(course, "generate_feedback", NOTEBOOK)
    return Run(course, graded.returncode == feedback.returncode == 0, graded.stdout)


def by_command(course: Course) -> Run:
    done = commands.grade(course, NOTEBOOK, "--jobs", "2", COLUMNS="1000")
    return Run(course, done.returncode == FAILED, done.stdout)  # some were not graded, and are named


@pytest.fixture(scope="module", params=[by_nbgrader, by_command])
def run(request: pytest.FixtureRequest, new_course: Callable[[], Course]) -> Iterator[Run]:
    course = new_course()
    for student in (*STUDENTS, *NOBODYS):
        hand_in(course, student, filled(course, RIGHT))
    for student, odd in ODD.items():
        notebook, path = filled(course, RIGHT), place(course, student)
        odd.make(notebook, path.parent)
        if not path.exists():
            path.write_text(json.dumps(notebook))
    yield request.param(course)
    for kept in ("submitted", "quarantine"):  # Python's own way of removing folders does not get to the bottom of it
        subprocess.run(["rm", "-rf", course.class_folder / kept / "deep"], check=True)


def flat(text: str) -> str:
    return " ".join(text.split())


def test_nobody_is_stopped_by_anybody_else(run: Run) -> None:
    assert "Traceback" not in run.said
    assert run.ended_well, run.said


@pytest.mark.parametrize("student", STUDENTS)
def test_a_student_is_graded_whatever_the_name(run: Run, student: str) -> None:
    assert scores(run.course, student) == ALL
    assert "passed, 2 of 2 points" in words(page(run.course, student))
    made = run.course.folder("feedback", student, NOTEBOOK)
    assert [path.name for path in made.iterdir()] == [f"{NOTEBOOK}.html"]


@pytest.mark.parametrize("student", NOBODYS)
def test_a_name_that_nobody_can_have_is_refused_with_what_to_do(run: Run, student: str) -> None:
    shown = student.encode("unicode_escape").decode() if not student.isprintable() else student
    assert f"the folder {shown} in the submissions was not graded" in flat(run.said)
    assert "rename it" in run.said
    assert not run.course.folder("autograded", student, NOTEBOOK).exists()
    with Gradebook(run.course.database) as gradebook:
        assert student not in [known.id for known in gradebook.students]


@pytest.mark.parametrize("student", ODD)
def test_what_is_odd_costs_nothing_and_what_is_too_much_goes_to_a_person(run: Run, student: str) -> None:
    assert scores(run.course, student) == ODD[student].earns
    with Gradebook(run.course.database) as gradebook:
        grades = [gradebook.find_grade(exercise, NOTEBOOK, NOTEBOOK, student) for exercise in EXERCISES]
        assert [grade.needs_manual_grade for grade in grades] == [score is None for score in ODD[student].earns]


@pytest.mark.parametrize("student", [name for name, odd in ODD.items() if odd.said])
def test_it_is_said_in_a_sentence(run: Run, student: str) -> None:
    names = "|".join(map(re.escape, ODD))
    messages = map(flat, re.split(rf"\n(?=\[|(?:{names})(?:: | could not be graded: ))", run.said))
    about = [message for message in messages if re.search(rf"(?<![\w-]){student}(?![\w-])", message)]
    assert sum(ODD[student].said in message for message in about) == 1, about


@pytest.mark.parametrize("student", [name for name, odd in ODD.items() if odd.page])
def test_the_student_reads_it(run: Run, student: str) -> None:
    assert words(page(run.course, student)).count(ODD[student].page) == 1


def test_no_word_of_a_students_reaches_the_terminal_raw(run: Run) -> None:
    assert not [character for character in run.said if not character.isprintable() and character != "\n"]
    assert not [line for line in run.said.splitlines() if re.match(r"\[AutogradeApp \| INFO\] (honest|b)", line)]


def test_nothing_is_lost(run: Run) -> None:
    kept = run.course.class_folder / "quarantine"
    assert len(os.listdir(kept / "many-files" / NOTEBOOK)) == 20_000
    assert len(os.listdir(kept / "deep" / NOTEBOOK)) == 1
    assert (kept / "name-long" / NOTEBOOK / ("x" * 255)).is_file()
    assert os.listdir(bytes(kept / "name-bytes" / NOTEBOOK)) == [b"caf\xe9.txt"]
    assert (kept / "stamp-bytes" / NOTEBOOK / "timestamp.txt").read_bytes() == b"\xff\xfe2"
    assert (run.course.folder("submitted", "huge", NOTEBOOK) / f"{NOTEBOOK}.ipynb").stat().st_size == 500_000_000
