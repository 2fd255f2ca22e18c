"""Formgrader in a browser without a network: from the list of assignments to the feedback that is returned."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import Browser, Page, expect

from autograder.folder import Course
from autograder.plugins.handing_in import TIMESTAMP
from autograder.plugins.returning import SECRET
from autograder.settings import CONFIG, ROOT
from tests.browser.formgrader import Formgrader
from tests.browser.server import Server, lab
from tests.browser.visit import Heard
from tests.support.submissions import words

pytestmark = pytest.mark.thorough  # a class, graded and marked by hand in a browser

NOTEBOOK = "10_capstone"
QUESTION = "museum"
ANSWER = r"**Room 6.** The root is $\sqrt{d}$. It should be $$\sqrt{k} = \sqrt{\frac{d}{h}}.$$ Nothing complains: $ is a dollar."
MODEL = "closer to uniform as heads are added"  # what the model answer alone says
PLACES = """question => [document.getElementById(question).closest(".nbgrader_cell"), document.querySelector(".model-answer")]
    .map(one => one.getBoundingClientRect().toJSON())"""
COMMENT = "The test is missing: which sizes?"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course as it is checked out, with two notebooks, one of which somebody has handed in."""
    made = Course.copied(tmp_path_factory.mktemp("marking") / "course")
    exchange = tmp_path_factory.mktemp("exchange")
    exchange.chmod(0o777)
    with (made.root / CONFIG).open("a") as config:
        config.write(f"\nc.Exchange.root = {str(exchange)!r}\n")
    notebook = nbformat.read(ROOT / "release" / NOTEBOOK / f"{NOTEBOOK}.ipynb", as_version=4)
    next(
        cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == QUESTION
    ).source = ANSWER
    folder = made.folder("submitted", "ada", NOTEBOOK)
    folder.mkdir(parents=True)
    (folder / f"{NOTEBOOK}.ipynb").write_text(json.dumps(notebook))
    (folder / TIMESTAMP).write_text("2026-03-02 10:00:00 UTC")
    (folder / SECRET).write_text("known-to-ada")  # as the exchange would have it
    return Course(made.root)


@pytest.fixture(scope="module")
def server(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with lab(course.root, tmp_path_factory.mktemp("home")) as started:
        yield started


@pytest.fixture(scope="module")
def formgrader(browser: Browser, server: Server) -> Iterator[Formgrader]:
    """A browser that reaches nothing but the server; no page may say of an error, or ask for anything else."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    heard = Heard(server.origin)
    heard.listen(page)
    page.goto(server.url("tree"))
    yield Formgrader(page, f"{server.origin}/formgrader")
    page.context.close()
    assert (heard.errors, heard.outside) == ([], [])


@pytest.fixture(scope="module")
def graded(formgrader: Formgrader) -> Formgrader:
    """The assignment was generated, and the submission was graded, by the buttons."""
    formgrader.open("manage_assignments")
    expect(formgrader.row("00_shapes").locator(".status")).to_have_text("draft")
    formgrader.press(NOTEBOOK, "assign")
    formgrader.row(NOTEBOOK).locator(".num-submissions a").click()
    expect(formgrader.row("ada").locator(".status")).to_have_text("needs autograding")
    said = formgrader.press("ada", "autograde")
    assert "Autograding" in said
    expect(formgrader.row("ada").locator(".status")).to_have_text("needs manual grading")
    return formgrader


@pytest.fixture
def submission(graded: Formgrader) -> Page:
    """The page on which the submission is marked by hand."""
    graded.open_submission(NOTEBOOK)
    expect(graded.page.locator(f"#{QUESTION}")).to_be_visible()
    return graded.page


def test_formulas_are_typeset_without_a_network(submission: Page) -> None:
    answer = submission.locator(".nbgrader_cell", has_text="Room 6.").filter(has=submission.locator(f"#{QUESTION}"))
    expect(answer.locator('math[display="block"] mfrac')).to_be_visible()
    expect(answer.locator("math")).to_have_count(2)
    assert "Nothing complains: $ is a dollar." in answer.inner_text()
    assert r"\sqrt" not in submission.locator("#notebook").first.inner_text()


def test_the_model_answer_and_what_earns_points_stand_beside_the_answer(submission: Page) -> None:
    model = submission.locator(".model-answer")
    expect(model).to_have_count(1)
    expect(model).to_contain_text(MODEL)
    expect(model.locator("table")).to_contain_text("a test that would have caught it")
    answer, beside = submission.evaluate(PLACES, QUESTION)  # both at once: the page scrolls by itself
    assert answer["right"] <= beside["left"]
    assert abs(answer["top"] - beside["top"]) < 60
    table = submission.locator("table", has_text="what one sees").first
    assert float(table.locator("td").first.evaluate("cell => parseFloat(getComputedStyle(cell).paddingRight)")) >= 4


def test_the_page_opens_at_the_first_answer_that_a_person_marks_and_stays_where_one_was(submission: Page) -> None:
    box = submission.locator(f"#{QUESTION}")
    expect(box).to_be_focused()
    expect(box).to_be_in_viewport()
    submission.locator(".tabbable").first.focus()
    expect(submission).to_have_url(re.compile(r"index=0$"))
    submission.reload()
    expect(submission.locator(".tabbable").first).to_be_focused()


def test_a_mark_and_a_comment_come_back_with_feedback_and_the_model_answer_does_not(
    submission: Page, graded: Formgrader, course: Course
) -> None:
    graded.mark(QUESTION, 2, COMMENT)
    with Gradebook(course.database, course.directory.course_id) as gradebook:
        grade = gradebook.find_grade(QUESTION, NOTEBOOK, NOTEBOOK, "ada")
        assert (grade.manual_score, grade.needs_manual_grade) == (2.0, False)
    graded.open(f"manage_submissions/{NOTEBOOK}")
    expect(graded.row("ada").locator(".status")).to_have_text("graded")
    graded.press("ada", "generate-feedback")
    page = words((course.folder("feedback", "ada", NOTEBOOK) / f"{NOTEBOOK}.html").read_text())
    assert COMMENT in page
    assert MODEL not in page
    graded.press("ada", "release-feedback")
    (returned,) = Path(course.config.Exchange.root).rglob("feedback/*.html")
    assert COMMENT in words(returned.read_text())
