"""The released notebooks in JupyterLab 4, as a student meets them."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.attempts import ATTEMPTS
from tests.browser.conftest import Open
from tests.browser.front_end import LAB
from tests.browser.paths import main_path
from tests.support.sampled import sampled

FIRST = ATTEMPTS["00_shapes"]


@pytest.mark.parametrize("notebook", sampled(ATTEMPTS, {"00_shapes"}.__contains__))
def test_a_notebook_is_calm_unwritten_names_a_mistake_and_counts_a_right_answer(student: Open, notebook: str) -> None:
    main_path(student(notebook, LAB), ATTEMPTS[notebook])


def test_a_notebook_that_is_merely_opened_is_not_changed(student: Open) -> None:
    opened = student("00_shapes", LAB)
    expect(opened.panel.get_by_title("Enable Debugger")).to_be_enabled()  # once the kernel has said what it is
    assert not opened.is_marked_as_changed


def test_a_student_sees_validate_and_nothing_of_the_instructors(student: Open) -> None:
    opened = student("00_shapes", LAB)
    expect(opened.panel.get_by_role("toolbar").get_by_text("Validate", exact=True).first).to_be_visible()
    assert opened.page.get_by_role("menuitem").all_inner_texts()
    assert not [text for text in opened.page.get_by_role("menuitem").all_inner_texts() if "nbgrader" in text.lower()]
    expect(opened.page.get_by_text("Create Assignment")).to_have_count(0)
    expect(opened.page.get_by_title("Create Assignment")).to_have_count(0)


def test_a_hint_opens_by_mouse_and_by_keyboard(student: Open) -> None:
    opened = student("00_shapes", LAB)
    first, second = opened.cell("pairwise-dots-hints").locator("details").all()
    expect(first).not_to_have_attribute("open", "")
    first.locator("summary").click()
    expect(first.locator("code").first).to_be_visible()
    opened.page.keyboard.press("Tab")
    expect(second.locator("summary")).to_be_focused()
    opened.page.keyboard.press("Enter")
    expect(second.locator("code").first).to_be_visible()


def test_a_guess_uncovers_its_picture(student: Open) -> None:
    opened = student("00_shapes", LAB)
    opened.run("setup", "guess-products", "picture-products")
    assert "Make your guess first" in opened.said("picture-products")
    opened.replace_last_line("guess-products", "guess = 5")
    opened.run("guess-products", "picture-products")
    expect(opened.output("picture-products").get_by_role("img")).to_be_visible()
    assert opened.said("picture-products") == ""


def test_a_guess_is_made_and_a_picture_seen_by_the_keyboard_alone(student: Open) -> None:
    opened = student("00_shapes", LAB)
    opened.walk_to("setup")
    opened.page.keyboard.press("Control+Enter")
    opened.walk_to("guess-products")
    opened.page.keyboard.press("Enter")
    opened.page.keyboard.press("Control+End")
    opened.page.keyboard.press("Shift+Home")
    opened.page.keyboard.type("guess = 5")
    opened.page.keyboard.press("Control+Enter")
    opened.walk_to("picture-products")
    opened.page.keyboard.press("Control+Enter")
    expect(opened.output("picture-products").get_by_role("img")).to_be_visible()


def test_validate_names_what_fails_and_says_when_nothing_does(student: Open) -> None:
    opened = student("00_shapes", LAB)
    opened.replace_last_line("pairwise-dots-solution", FIRST.wrong)
    opened.replace_last_line("mix-rows-solution", "return A @ V")
    said = " ".join(opened.validate().split())
    assert FIRST.lesson in said
    assert "to_columns: not written yet" in said
    assert "mix_rows" not in said
    opened.replace_last_line("pairwise-dots-solution", FIRST.right)
    opened.replace_last_line("to-columns-solution", "return W.T, X.T")
    assert "Success" in opened.validate()


def test_what_was_written_is_there_again_and_runs_from_the_start(student: Open) -> None:
    opened = student("00_shapes", LAB)
    opened.run("setup")
    opened.replace_last_line(FIRST.answer, FIRST.right)
    opened.run(FIRST.answer, FIRST.check)
    opened.save()
    opened.menu("File", "Close and Shut Down Notebook…")
    opened.accept_dialog()
    expect(opened.panel).to_have_count(0)
    opened.page.locator(".jp-DirListing-item", has_text=opened.path.name).dblclick()
    opened.wait_until_shown()
    assert "correct" in opened.said(FIRST.check)
    opened.restart_and_run_all()
    assert "correct" in opened.said(FIRST.check)
    assert "1 of 3 checks pass" in opened.said("progress")


def test_what_is_brought_along_is_folded_and_unfolds(student: Open) -> None:
    cell = student("05_block", LAB).cell("carried-over")
    expect(cell.locator(".cm-content")).not_to_be_visible()
    cell.get_by_title("show").or_(cell.locator(".jp-InputPlaceholder")).first.click()
    expect(cell.locator(".cm-content")).to_be_visible()


@pytest.mark.thorough
def test_what_is_folded_unfolds_by_the_keyboard_alone(student: Open) -> None:
    """Arrow keys pass over what is folded: the page for students says what to type instead."""
    opened = student("05_block", LAB)
    opened.page.keyboard.press("Control+Shift+c")
    opened.page.locator(".lm-CommandPalette-input").wait_for()
    opened.page.keyboard.type("Expand All Code")
    expect(opened.page.locator(".lm-CommandPalette-item.lm-mod-active")).to_have_text("Expand All Code")
    opened.page.keyboard.press("Enter")
    expect(opened.cell("carried-over").locator(".cm-content")).to_be_visible()


@pytest.mark.thorough
def test_a_double_click_on_a_text_leaves_it_as_it_is(student: Open) -> None:
    opened = student("00_shapes", LAB)
    hints = opened.cell("pairwise-dots-hints")
    hints.locator("summary").first.dblclick()
    opened.run("setup")  # by then the double click has been dealt with
    expect(hints.locator(".jp-MarkdownOutput")).to_be_visible()
    expect(hints.locator(".cm-content")).not_to_be_visible()


@pytest.mark.thorough
def test_an_answer_in_prose_opens_by_a_double_click_and_is_written_there(student: Open) -> None:
    opened = student("10_capstone", LAB)
    answer = opened.cell("museum")
    answer.locator(".jp-MarkdownOutput").dblclick()
    answer.locator(".cm-content").press_sequentially("What I think.")
    opened.page.keyboard.press("Control+Enter")
    expect(answer.locator(".jp-MarkdownOutput")).to_contain_text("What I think.")
