"""What a feedback page costs: a graded class's pages, made in this process and the confined ones that it starts, as a worker makes them."""

from __future__ import annotations

import os

from autograder.folder import Course
from autograder.grading.feedback import Pages

WARMING = 3


def page_cost(course: Course, notebook: str, students: int) -> float:
    """Milliseconds of processor time for each page, once what all share is converted.

    Args:
        students: of how many of the class, which has three more at least.

    Raises:
        RuntimeError: a page could not be made, or shows marks only.
    """
    pages = Pages(course)
    named = course.submitters(notebook)[: students + WARMING]
    for student in named[:WARMING]:
        _make(pages, notebook, student)
    before = os.times()
    for student in named[WARMING:]:
        _make(pages, notebook, student)
    after = os.times()
    spent = sum(after[:4]) - sum(before[:4])
    return spent / (len(named) - WARMING) * 1000


def _make(pages: Pages, notebook: str, student: str) -> None:
    failed, notes = pages.make(notebook, student)
    if failed or notes:
        raise RuntimeError(f"the page of {student}: {failed or notes}")
