"""Which hidden cases a class is marked on: the same for everybody, until feedback on them is out."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from nbgrader.coursedir import CourseDirectory

from autograder.plugins.papers import Papers, new_paper

NAME = "00_shapes"


class Desk:
    """A course folder in which students hand in and get feedback."""

    def __init__(self, root: Path) -> None:
        self.directory = CourseDirectory(root=str(root))
        self.directory.submitted_directory, self.directory.feedback_directory = "class/submitted", "class/feedback"
        self.kept = root / "class" / "papers" / f"{NAME}.json"

    def hand_in(self, student: str, text: str = "{}") -> None:
        self._write("submitted", student, f"{NAME}.ipynb", text)

    def give_feedback(self, student: str, seconds: float) -> None:
        """Make a page so many seconds from now."""
        page = self._write("feedback", student, f"{NAME}.html", "done")
        os.utime(page, (time.time() + seconds,) * 2)

    def papers(self, *students: str) -> list[int]:
        """The papers of these students, as the next command finds them."""
        papers = Papers(self.directory, NAME)
        found = [papers.of(student) for student in students]
        papers.save()
        return found

    def _write(self, step: str, student: str, name: str, text: str) -> Path:
        path = Path(self.directory.root, "class", step, student, NAME, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    for student in ("ada", "ben"):
        desk.hand_in(student)
    return desk


def test_everybody_has_the_same_paper_and_keeps_it_from_command_to_command(desk: Desk) -> None:
    ada, ben = desk.papers("ada", "ben")
    assert ada == ben
    assert desk.papers("ben", "ada") == [ada, ada]
    desk.hand_in("cleo")
    assert desk.papers("cleo") == [ada]


def test_once_feedback_is_out_whoever_hands_in_has_a_new_paper_and_the_others_keep_theirs(desk: Desk) -> None:
    (first, _) = desk.papers("ada", "ben")
    desk.give_feedback("ada", 1)
    desk.hand_in("ben", "another answer")
    desk.hand_in("cleo")
    kept, new, same = desk.papers("ada", "ben", "cleo")
    assert kept == first
    assert new == same != first
    assert desk.papers("ada", "ben", "cleo") == [first, new, new]


@pytest.mark.parametrize("seconds", [-100.0, 0.0, 100.0])
def test_what_is_older_and_what_is_out_is_told_by_no_clock(desk: Desk, seconds: float) -> None:
    desk.give_feedback("ada", -seconds)
    (first, _) = desk.papers("ada", "ben")
    desk.hand_in("cleo")
    assert desk.papers("cleo") == [first]
    desk.give_feedback("ben", seconds)
    desk.hand_in("dan")
    assert desk.papers("dan") != [first]


def test_a_page_that_is_made_again_is_out(desk: Desk) -> None:
    desk.give_feedback("ada", 0)
    (first, _) = desk.papers("ada", "ben")
    desk.give_feedback("ada", 1)
    desk.hand_in("cleo")
    assert desk.papers("cleo") != [first]


def test_everybody_can_be_put_on_one_paper(desk: Desk) -> None:
    desk.papers("ada", "ben")
    desk.give_feedback("ada", 100)
    papers = Papers(desk.directory, NAME)
    papers.use(17)
    papers.save()
    assert desk.papers("ada", "ben") == [17, 17]


def test_some_can_be_put_on_another_paper_and_the_others_stay_on_theirs(desk: Desk) -> None:
    desk.hand_in("cleo")
    first, _, _ = desk.papers("ada", "ben", "cleo")
    papers = Papers(desk.directory, NAME)
    papers.use(17, ["ada"])
    papers.save()
    assert desk.papers("ada", "ben", "cleo") == [17, first, first]
    desk.give_feedback("ada", 100)
    assert desk.papers("ada", "ben", "cleo") == [17, first, first]


def test_assignments_have_papers_of_their_own(desk: Desk) -> None:
    (first, _) = desk.papers("ada", "ben")
    assert Papers(desk.directory, "01_token_loops").of("ada") != first


@pytest.mark.parametrize("spoiled", ["", "{", "[]", '{"paper": "x", "of": {}}', '{"paper": 1, "of": {"ada": 3}}'])
def test_what_cannot_be_read_is_drawn_anew(desk: Desk, spoiled: str) -> None:
    desk.papers("ada")
    desk.kept.write_text(spoiled)
    ada, ben = desk.papers("ada", "ben")
    assert ada == ben
    assert desk.papers("ada", "ben") == [ada, ada]


def test_no_paper_can_be_guessed() -> None:
    drawn = {new_paper() for _ in range(1000)}
    assert len(drawn) == 1000
    assert max(drawn) > 2**48
    assert max(drawn) < 2**53  # what readers of JSON that know only floats can tell apart
