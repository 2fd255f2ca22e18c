"""What was said of a submission is found by whoever looks later, and clearing one away is no reason to mark it again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from nbformat import from_dict
from nbgrader.utils import compute_checksum

from autograder.folder import Course
from autograder.grading.command import run
from autograder.grading.noting import Notes
from autograder.grading.run import grade
from tests.support.classes import STOCK, duplicated, release_stock
from tests.support.submissions import NOTEBOOK, RIGHT, filled, hand_in


def test_repairs_and_moved_files_are_told_by_every_later_run(new_course, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    hand_in(course, "ada", filled(course, RIGHT))
    hand_in(course, "bob", duplicated(filled(course, RIGHT))).with_name("scratch.txt").write_text("mine")
    first = grade(course, NOTEBOOK, feedback=False)
    again = grade(course, NOTEBOOK, feedback=False)
    assert again.marked == {}
    assert sorted(again.notes["bob"]) == sorted(first.notes["bob"])
    assert [
        sum(words in note for note in again.notes["bob"]) for words in ("was there twice", "scratch.txt was moved")
    ] == [1, 1]
    assert not again.notes["ada"]
    assert again.report
    assert "was there twice" in again.report.read_text()
    assert run(course.root, NOTEBOOK, as_json=True, feedback=False) == 0
    bob = json.loads(capsys.readouterr().out)["students"][1]
    assert (bob["student"], bob["notes"], bob["seconds"]) == ("bob", again.notes["bob"], None)
    hand_in(course, "bob", filled(course, RIGHT))
    assert not grade(course, NOTEBOOK, feedback=False).notes["bob"]  # it is another submission


def test_notes_are_of_one_submission_and_outlive_a_damaged_file(tmp_path) -> None:  # type: ignore[no-untyped-def]
    notes = Notes(tmp_path)
    notes.add("ada", "1", ["moved"])
    notes.add("ada", "1", ["moved", "renamed"])
    notes.save()
    assert Notes(tmp_path).of("ada", "1") == ["moved", "renamed"]
    assert Notes(tmp_path).of("ada", "2") == Notes(tmp_path).of("ben", "1") == []
    (tmp_path / "notes").write_text("[")
    assert Notes(tmp_path).of("ada", "1") == []


def test_nothing_is_said_of_points_that_a_later_release_changed(new_course) -> None:  # type: ignore[no-untyped-def]
    """Whoever has the notebook of an earlier release has done nothing; so in this course, and in any other."""
    course: Course = new_course()
    release_stock(course)
    theirs = json.loads((course.root / "release" / STOCK / "first.ipynb").read_text())
    ours = filled(course, RIGHT)
    for cell in (*theirs["cells"], *ours.cells):
        if cell["metadata"].get("nbgrader", {}).get("points"):
            cell["metadata"]["nbgrader"]["points"] = 1.5
            cell["metadata"]["nbgrader"]["checksum"] = compute_checksum(
                from_dict({**cell, "source": "".join(cell["source"])})
            )
    hand_in(course, "ada", ours)
    folder = Path(shutil.copytree(course.root / "release" / STOCK, course.folder("submitted", "ada", STOCK)))
    (folder / "first.ipynb").write_text(json.dumps(theirs))
    for assignment in (STOCK, NOTEBOOK):
        graded = grade(course, assignment, feedback=False)
        assert (graded.notes, graded.failed) == ({"ada": []}, {})
