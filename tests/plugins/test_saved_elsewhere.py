"""Whatever program saved a notebook, and whoever split its cells: it earns what the same answers earn untouched, through both doors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbgrader.validator import Validator

from autograder.folder import Course
from autograder.grading.run import grade
from autograder.plugins.reading import notebook_in
from autograder.settings import ROOT
from course.cells import same_ends
from tests.support.commands import nbgrader
from tests.support.front_ends import FRONT_ENDS, REARRANGED, metadata_lost, worked_on
from tests.support.submissions import NOTEBOOK, RIGHT, Graded, page, place, scores

SAVED = FRONT_ENDS | REARRANGED | {"metadata-lost": metadata_lost}
UNTOUCHED = "jupyterlab"
WRITTEN = {**RIGHT, "mix_rows": "def mix_rows(W, V):\n    return V @ W.T"}
del WRITTEN["to_columns"]  # as it was released


def hand_in_all(course: Course) -> Course:
    """For each program a student who has all right, and one who has one right, one wrong and one not written."""
    released = (course.root / "release" / NOTEBOOK / f"{NOTEBOOK}.ipynb").read_bytes()
    for front_end, save in SAVED.items():
        place(course, f"all-{front_end}").write_bytes(save(worked_on(released, RIGHT)))
        place(course, f"some-{front_end}").write_bytes(save(worked_on(released, WRITTEN)))
    return course


@pytest.fixture(scope="module")
def by_nbgrader(new_course: Callable[[], Course]) -> Graded:
    course = hand_in_all(new_course())
    graded = nbgrader(course, "autograde", NOTEBOOK)
    feedback = nbgrader(course, "generate_feedback", NOTEBOOK)
    return Graded(course, graded.returncode + feedback.returncode, graded.stdout)


@pytest.fixture(scope="module")
def by_class(new_course: Callable[[], Course]) -> Course:
    course = hand_in_all(new_course())
    assert grade(course, NOTEBOOK, feedback=False).failed == {}
    return course


def test_untouched_they_earn_what_they_should(by_nbgrader: Graded) -> None:
    assert by_nbgrader.returncode == 0, by_nbgrader.log
    assert scores(by_nbgrader.course, f"all-{UNTOUCHED}") == (2.0, 2.0, 3.0)
    right, wrong, unwritten = scores(by_nbgrader.course, f"some-{UNTOUCHED}")
    assert (right, unwritten) == (2.0, 0.0)
    assert wrong is not None
    assert wrong < 2.0


@pytest.mark.parametrize("front_end", SAVED)
def test_the_same_answers_earn_the_same(by_nbgrader: Graded, by_class: Course, front_end: str) -> None:
    for who in ("all", "some"):
        expected = scores(by_nbgrader.course, f"{who}-{UNTOUCHED}")
        assert scores(by_nbgrader.course, f"{who}-{front_end}") == expected
        assert scores(by_class, f"{who}-{front_end}") == expected


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_another_courses_notebook_is_read_too(by_nbgrader: Graded, front_end: str) -> None:
    content = place(by_nbgrader.course, f"all-{front_end}").read_bytes()
    notebook = notebook_in(content, ours=False)
    nbformat.validate(notebook)
    untouched = json.loads(place(by_nbgrader.course, f"all-{UNTOUCHED}").read_bytes())
    assert [same_ends(cell.source) for cell in notebook.cells] == [
        "".join(cell["source"]) for cell in untouched["cells"]
    ]


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_nobody_is_told_of_repairs_where_only_the_program_differs(by_nbgrader: Graded, front_end: str) -> None:
    told = by_nbgrader.log_of(f"all-{front_end}")
    assert "WARNING" not in told, told
    stored = page(by_nbgrader.course, f"all-{front_end}")
    assert "Repaired before grading" not in stored
    assert "could not be read" not in stored


def test_the_one_program_that_reads_no_byte_order_mark_is_told_of(tmp_path: Path) -> None:
    notebook = tmp_path / f"{NOTEBOOK}.ipynb"
    notebook.write_bytes(b"\xef\xbb\xbf" + (ROOT / "release" / NOTEBOOK / notebook.name).read_bytes())
    with pytest.raises(nbformat.reader.NotJSONError):  # it opens the file itself, and no setting comes before that
        Validator().validate(str(notebook))
    assert "*Validate* read no such file" in (ROOT / "docs" / "students.md").read_text(encoding="utf-8")
