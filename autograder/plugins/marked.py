"""What the gradebook says of a notebook, written into its cells for its page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import GetGrades
from nbgrader.utils import is_grade, is_solution, is_task

from autograder.plugins.judges import judge_of
from autograder.plugins.stamping import Asked, Told

TOLD = "told"
"""Among what nbgrader tells of a notebook, what the gradebook says of it, where a whole class was asked for at once."""


class Marked(GetGrades):
    """nbgrader's `GetGrades`, which asks the gradebook nothing where all marks of the class are there already.

    It also says in cells whether a person has marked them (`by_hand`), is to look again (`again`), or has yet to (`waits`), and what
    their student asked to have looked at again (`requests`).
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        info = resources["nbgrader"]
        told: Told | None = info.get(TOLD)
        if told is None or not told.grades.keys() >= _marked(nb):
            return super().preprocess(nb, resources)
        for cell in nb.cells:
            stated = cell.metadata.get("nbgrader", {})
            if is_solution(cell) or is_task(cell):
                stated["comment"] = told.comments.get(stated["grade_id"])
            if is_grade(cell) or is_task(cell):
                mark = told.grades[stated["grade_id"]]
                stated |= {
                    "score": mark.score,
                    "points": mark.points,
                    "waits": mark.waits,
                    "by_hand": mark.manual is not None,
                    "again": mark.manual is not None and mark.asked,
                    "requests": told.requests.get(stated["grade_id"], ()),
                }
        info["late_penalty"] = told.penalty or 0
        info["score"] = sum(mark.score for mark in told.grades.values()) - info["late_penalty"]
        info["max_score"] = sum(mark.points for mark in told.grades.values())
        if told.requests and info["notebook"] not in judge_of(self.config).notebooks:  # others' pages have no table
            nb.cells.insert(0, new_markdown_cell("\n\n".join(_answers(told.requests))))
        return nb, resources


def _answers(requests: Mapping[str, Iterable[Asked]]) -> Iterator[str]:
    """What came of regrade requests, as Markdown."""
    for name, own in requests.items():
        for asked in own:
            yield f"**Your regrade request, {escape(name)}**: {escape(asked.says)}"
            yield f"**{asked.decision.capitalize()}**: {escape(asked.reason)}" if asked.decision else "Not decided yet."


def _marked(nb: NotebookNode) -> set[str]:
    """The cells that have a mark."""
    return {cell.metadata.nbgrader.grade_id for cell in nb.cells if is_grade(cell) or is_task(cell)}
