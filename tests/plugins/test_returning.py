"""What the exchange needs to return feedback stays with a submission, or comes back to it."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from autograder.folder import Course
from autograder.grading.command import run
from autograder.plugins.reading import quarantine
from autograder.plugins.returning import SECRET, TIMESTAMP, complete, is_secret
from tests.support.commands import nbgrader
from tests.support.submissions import NOTEBOOK, RIGHT, filled, hand_in, page, scores, words

WORD = secrets.token_hex(64)


def submitted(course: Course, student: str, secret: bytes | None = WORD.encode()) -> Path:
    """Hand in as the exchange does; gives the folder."""
    folder = hand_in(course, student, filled(course, RIGHT)).parent
    (folder / TIMESTAMP).write_text("2026-03-02 10:00:00.123456 UTC")
    if secret is not None:
        (folder / SECRET).write_bytes(secret)
    return folder


def moved_away(course: Course, student: str) -> Path:
    """Work as an earlier version left it: its secret in quarantine, beside one that was moved before it."""
    folder = submitted(course, student, None)
    kept = course.class_folder / "quarantine" / student / NOTEBOOK
    kept.mkdir(parents=True)
    (kept / SECRET).write_text("an-older-one")
    (kept / f"{SECRET}~").write_text(WORD)
    for step in ("autograded", "feedback"):
        course.folder(step, student, NOTEBOOK).mkdir(parents=True)
        (course.folder(step, student, NOTEBOOK) / f"{NOTEBOOK}.ipynb").touch()
    return folder


def has_secret(course: Course, student: str) -> list[bool]:
    steps = ("submitted", "autograded", "feedback")
    found = [course.folder(step, student, NOTEBOOK) / SECRET for step in steps]
    return [path.is_file() and path.read_text() == WORD for path in found]


def test_autograde_puts_secrets_back_wherever_they_belong_and_says_so_once(new_course) -> None:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    for student in ("ada", "ben"):
        moved_away(course, student)
    said = nbgrader(course, "autograde", NOTEBOOK).stdout
    assert said.count("has been put back") == 1
    assert f"ada, ben: {SECRET}, which nbgrader's release_feedback needs" in said
    assert has_secret(course, "ada") == has_secret(course, "ben") == [True, True, True]
    assert "has been put back" not in nbgrader(course, "autograde", NOTEBOOK).stdout


def test_the_class_command_does_so_too(new_course, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    moved_away(course, "ada")
    submitted(course, "ben")
    assert run(course.root, NOTEBOOK, jobs=1) == 0
    assert capsys.readouterr().out.count("has been put back") == 1
    assert has_secret(course, "ada") == has_secret(course, "ben") == [True, True, True]
    assert run(course.root, NOTEBOOK, jobs=1) == 0
    assert "has been put back" not in capsys.readouterr().out


@pytest.mark.parametrize("secret", [b"\xff\xfe", b"", b"two words", b"x" * 5000])
def test_what_would_stop_release_feedback_for_everybody_goes_to_quarantine(new_course, secret: bytes) -> None:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    folder = submitted(course, "ada", secret)
    quarantine(course.directory, NOTEBOOK, [str(folder / f"{NOTEBOOK}.ipynb")], [NOTEBOOK])
    assert not (folder / SECRET).exists()
    assert (course.class_folder / "quarantine" / "ada" / NOTEBOOK / SECRET).read_bytes() == secret


def test_a_folder_of_that_name_is_no_secret(tmp_path: Path) -> None:
    assert not is_secret(tmp_path)


def test_who_did_not_come_through_the_exchange_stops_nobody(new_course) -> None:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    for student in ("ada", "ben"):
        course.folder("autograded", student, NOTEBOOK).mkdir(parents=True)
    ada, ben = (course.folder("autograded", student, NOTEBOOK) for student in ("ada", "ben"))
    complete(course.directory, NOTEBOOK)
    assert list(ben.iterdir()) == []  # nobody did
    (ada / SECRET).write_text(WORD)
    complete(course.directory, NOTEBOOK)
    assert is_secret(ben / SECRET)
    assert (ben / SECRET).read_text() != WORD
    assert (ben / TIMESTAMP).is_file()


def test_whose_page_was_made_before_anybody_came_through_the_exchange_stops_nobody(new_course) -> None:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    ada, ben = (course.folder("autograded", student, NOTEBOOK) for student in ("ada", "ben"))
    for folder in (ada, ben):
        folder.mkdir(parents=True)
    (ada / SECRET).write_text(WORD)
    complete(course.directory, NOTEBOOK)  # ben's page is there already
    assert is_secret(ben / SECRET)
    assert (ben / TIMESTAMP).is_file()
    assert (ada / SECRET).read_text() == WORD


OTHER_NAMES = {"ada": f"{NOTEBOOK} (1)", "ben": "shapes FINAL [2]", "zoe": "Übung"}


@pytest.mark.parametrize("by_nbgrader", [True, False])
def test_the_only_notebook_is_graded_under_whatever_name_and_keeps_it(new_course, by_nbgrader: bool) -> None:  # type: ignore[no-untyped-def]
    course: Course = new_course()
    for student, name in OTHER_NAMES.items():
        folder = submitted(course, student)
        (folder / f"{NOTEBOOK}.ipynb").rename(folder / f"{name}.ipynb")
    mark = folder.with_name(f".{NOTEBOOK}.begun")
    for begun in (False, True):
        if begun:  # by a run that was killed
            mark.write_text(f'["{NOTEBOOK}"]')
        if by_nbgrader:
            said = nbgrader(course, "autograde", NOTEBOOK).stdout
            assert ("an earlier run was stopped" in said) is begun
            nbgrader(course, "generate_feedback", NOTEBOOK)
        else:
            assert run(course.root, NOTEBOOK, jobs=1) == 0
        assert not mark.exists()
        for student, name in OTHER_NAMES.items():
            handed_in = {path.name for path in course.folder("submitted", student, NOTEBOOK).iterdir()}
            assert handed_in == {f"{name}.ipynb", TIMESTAMP, SECRET}
            assert scores(course, student) == (2, 2, 3)
            assert "mix_rows: passed, 2 of 2 points" in words(page(course, student))
            asked_for = course.folder("feedback", student, NOTEBOOK) / f"{name}.html"
            assert asked_for.read_text() == page(course, student)
            assert [one.stem for one in course.pages(student, NOTEBOOK)] == [NOTEBOOK]
    assert not (course.class_folder / "quarantine").exists()
