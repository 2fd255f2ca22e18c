"""Formgrader's pages, as an instructor uses them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

SOMETHING = re.compile(".")
PATIENCE = 120_000  # ms: a button answers when all that it does is done


@dataclass(frozen=True)
class Formgrader:
    """Formgrader at an address, "http://host:port/formgrader"."""

    page: Page
    address: str

    def open(self, page: str) -> None:
        self.page.goto(f"{self.address}/{page}")

    def row(self, name: str) -> Locator:
        """The line of an assignment, or of a student, on the page that is open."""
        return self.page.locator("#main-table tr", has_text=name)

    def press(self, name: str, button: str) -> str:
        """Press a button of a line, by its column, and wait until it has done its work, which has to succeed; the log that it shows."""
        self.row(name).locator(f".{button} a").click()
        shown = self.page.locator(".modal.in")
        expect(shown).to_be_visible(timeout=PATIENCE)
        said = shown.inner_text()
        assert "Success" in said, said
        shown.get_by_role("button", name="Close").last.click()
        expect(self.page.locator(".modal-backdrop")).to_have_count(0)
        return said

    def open_submission(self, assignment: str, number: int = 1) -> None:
        """Open a submission as one does who marks by hand, from the list that names nobody."""
        self.open(f"gradebook/{assignment}/{assignment}")
        self.page.get_by_role("link", name=f"Submission #{number}", exact=True).click()

    def mark(self, cell: str, points: float, comment: str) -> None:
        """Give points and a comment on the page of a submission, and wait until both are kept."""
        score, box = self.page.locator(f"#{cell}"), self.page.locator(f"#{cell}-comment")
        for field in (self.page.locator(f"#{cell}_extra_credit"), box):
            expect(field).to_have_attribute(
                "placeholder", SOMETHING
            )  # once the page has asked for what is there already
        with self.page.expect_response(lambda answer: "/api/grade/" in answer.url):
            score.fill(str(points))
            score.blur()
        with self.page.expect_response(lambda answer: "/api/comment/" in answer.url):
            box.fill(comment)
            box.blur()
