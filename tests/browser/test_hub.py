"""A class on the hub that the instructors' pages offer: three system users, and everything they do, they do in a browser."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from autograder.folder import Course
from autograder.plugins.starting import NO_WALLS
from autograder.settings import ROOT
from tests.browser.formgrader import Formgrader
from tests.browser.front_end import LAB, Opened
from tests.browser.visit import Heard
from tests.support.hub import PASSWORD, Hub, proxy, running
from tests.support.submissions import NOTEBOOK
from tests.support.users import Machine

pytestmark = pytest.mark.thorough  # a hub of system users, for a week

INSTRUCTOR = "teacher"
LINES = {"ada": "return A @ V", "ben": "return 2.0"}
EARNED = {"ada": "mix_rows: passed, 2 of 2 points", "ben": "mix_rows: not right yet, 0 of 2 points"}


@dataclass(frozen=True)
class User:
    """Somebody who has logged in.

    Attributes:
        page: at the user's own server.
        server: the address of that.
        home: where the user's files are.
        heard: what no page may say.
    """

    page: Page
    server: str
    home: Path
    heard: Heard

    @property
    def assignments(self) -> Locator:
        """nbgrader's list of assignments, which is opened, or opened anew."""
        self.page.goto(f"{self.server}/lab?reset")
        self.page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
        self.page.locator(".lm-Menu-itemLabel").get_by_text("Assignment List", exact=True).click()
        return self.page.locator("#fetched_assignments_list").locator("xpath=ancestor::*[3]")

    def press(self, button: str) -> None:
        self.assignments.get_by_role("button", name=button, exact=True).click()


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    proxy()
    with tempfile.TemporaryDirectory(prefix="hub-") as place:
        made = Machine.made(Path(place), INSTRUCTOR, *LINES)
        course = made.home(INSTRUCTOR) / "attention"
        Course.copied(course)
        for room in ("autograder", "course"):
            shutil.copytree(ROOT / room, course / room, ignore=shutil.ignore_patterns("__pycache__"))
        for folder in (course / "source").iterdir():
            if folder.name != NOTEBOOK:
                shutil.rmtree(folder)
        settings = made.home(INSTRUCTOR) / ".jupyter" / "nbgrader_config.py"
        settings.parent.mkdir()
        settings.write_text(f"c = get_config()\nc.CourseDirectory.root = {str(course)!r}\n")
        made.give(INSTRUCTOR, course)
        made.give(INSTRUCTOR, settings.parent)
        yield made


@pytest.fixture(scope="module")
def hub(browser: Browser, machine: Machine) -> Iterator[Hub]:
    folder = machine.place / "hub"
    folder.mkdir()
    with running(machine, folder) as started:
        yield started


@pytest.fixture(scope="module")
def users(browser: Browser, hub: Hub, machine: Machine) -> Iterator[dict[str, User]]:
    """Everybody has logged in, and has a server."""
    found = {}
    for name in (INSTRUCTOR, *LINES):
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        heard = Heard(hub.origin)
        heard.listen(page)
        page.goto(f"{hub.origin}/hub/login")
        page.get_by_label("Username:").fill(name)
        page.get_by_label("Password:").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        found[name] = User(page, hub.server(name), machine.home(name), heard)
    for user in found.values():
        user.page.wait_for_url(f"{user.server}/lab*", wait_until="domcontentloaded", timeout=120_000)
    yield found
    for user in found.values():
        user.page.context.close()
    assert [(user.heard.errors, user.heard.outside) for user in found.values()] == [([], [])] * len(found)


@pytest.fixture(scope="module")
def handed_in(users: dict[str, User]) -> dict[str, str]:
    """The assignment was released, fetched, written, validated and handed in; by student, what Validate said."""
    teacher = formgrader(users)
    teacher.open("manage_assignments")
    teacher.press(NOTEBOOK, "assign")
    teacher.press(NOTEBOOK, "release")
    said = {}
    for student, line in LINES.items():
        user = users[student]
        user.press("Fetch")
        expect(user.page.get_by_role("button", name="Submit", exact=True)).to_be_visible()
        user.page.goto(f"{user.server}/{LAB}/{NOTEBOOK}/{NOTEBOOK}.ipynb?reset")
        opened = Opened(user.page, user.home / NOTEBOOK / f"{NOTEBOOK}.ipynb")
        opened.replace_last_line("mix-rows-solution", line)
        opened.run("setup", "mix-rows-solution", "mix-rows")
        opened.save()
        said[student] = " ".join(opened.validate().split())
        user.press("Submit")
        expect(user.page.locator("#submitted_assignments_list")).to_contain_text(NOTEBOOK)
    return said


def formgrader(users: dict[str, User]) -> Formgrader:
    return Formgrader(users[INSTRUCTOR].page, f"{users[INSTRUCTOR].server}/formgrader")


def test_validate_says_what_is_not_right_yet(handed_in: dict[str, str]) -> None:
    assert "mix_rows" not in handed_in["ada"]
    assert "mix_rows: not yet" in handed_in["ben"]
    assert all("to_columns: not written yet" in said for said in handed_in.values())


def test_grading_by_the_bolt_has_walls_and_feedback_comes_back_to_each_student(
    users: dict[str, User], handed_in: dict[str, str], walls: None
) -> None:
    teacher = formgrader(users)
    teacher.open("manage_assignments")
    teacher.press(NOTEBOOK, "collect")
    teacher.open(f"manage_submissions/{NOTEBOOK}")
    for student in LINES:
        assert NO_WALLS not in teacher.press(student, "autograde")
    teacher.open("manage_assignments")
    teacher.press(NOTEBOOK, "generate-feedback")
    teacher.press(NOTEBOOK, "release-feedback")
    for student in LINES:
        user = users[student]
        user.press("Fetch Feedback")
        expect(user.page.get_by_text("(view feedback)")).to_be_visible()
        (page,) = (user.home / NOTEBOOK / "feedback").rglob("*.html")
        user.page.goto(f"{user.server}/files/{page.relative_to(user.home).as_posix()}")
        expect(user.page.locator("body")).to_contain_text(EARNED[student])


def test_a_student_has_nothing_of_the_instructors_and_reaches_no_other_server(users: dict[str, User]) -> None:
    ada = users["ada"]
    assert ada.assignments.is_visible()
    expect(ada.page.get_by_text("Create Assignment")).to_have_count(0)
    assert ada.page.request.get(f"{ada.server}/formgrader").status == 404
    assert ada.page.request.get(f"{users[INSTRUCTOR].server}/formgrader").status == 403
