"""What every student does in every notebook, whatever shows it."""

from __future__ import annotations

from playwright.sync_api import expect

from course.answers import names
from tests.browser.attempts import Attempt
from tests.browser.front_end import Opened


def main_path(opened: Opened, attempt: Attempt) -> None:
    """Run all of an unwritten notebook; then a wrong answer, a right one, and `progress()`."""
    exercises = len(names(opened.path.stem))
    assert_mathematics(opened)
    opened.run_all()
    assert opened.trouble() == []
    assert f"0 of {exercises} checks pass" in opened.said("progress")
    opened.replace_last_line(attempt.answer, attempt.wrong)
    opened.run(attempt.answer, attempt.check)
    assert attempt.lesson in " ".join(opened.said(attempt.check).split())
    opened.replace_last_line(attempt.answer, attempt.right)
    opened.run(attempt.answer, attempt.check, "progress")
    assert opened.said(attempt.check).startswith(f"✓ {attempt.exercise}: correct")
    assert f"1 of {exercises} checks pass" in opened.said("progress")
    assert opened.trouble() == []


def assert_mathematics(opened: Opened) -> None:
    """Every displayed formula is set, and no other is left as it was typed."""
    expect(opened.panel.locator('mjx-container[display="true"]')).to_have_count(opened.formulas)
    expect(opened.panel.locator(".jp-RenderedMarkdown", has_text="$")).to_have_count(0)
    expect(opened.panel.locator("mjx-merror")).to_have_count(0)
