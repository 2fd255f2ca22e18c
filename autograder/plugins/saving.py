"""Put grades into the gradebook; what the grader failed to judge goes to a person, and is never a zero."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import SaveAutoGrades
from nbgrader.utils import is_solution

from autograder.plugins.bookkeeping import wait_for_a_person
from autograder.plugins.executing import exercise_of
from autograder.plugins.gradebooks import AtOnce, reusing
from autograder.plugins.judges import judge_of
from autograder.plugins.printable import printable
from autograder.verdicts.cells import ANSWER, verdict_in

NO_POINTS = "the test {} ends in {}, which nbgrader takes for no points: everybody gets full points; end it in float(...), or in None"
SILENT = logging.Logger("silent", logging.CRITICAL + 1)
LONGEST_VALUE = 40

_save = reusing(SaveAutoGrades.preprocess)


class SaveVerdicts(SaveAutoGrades, AtOnce):
    """nbgrader's `SaveAutoGrades`, which leaves to a person what has no verdict.

    That is a grader's fault, an exercise that nobody judged (--no-execute), and a notebook that was not read, or not run.
    """

    log: Any

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        nb, resources = _save(self, nb, resources)
        if resources["nbgrader"].get("refused"):
            with Gradebook(self.db_url) as gradebook:
                work = gradebook.find_submission_notebook(self.notebook_id, self.assignment_id, self.student_id)
                wait_for_a_person(gradebook, work.grades)
        return nb, resources

    def _add_comment(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        if not resources["nbgrader"].get("refused"):  # nobody has seen whether there is a response
            super()._add_comment(cell, resources)

    def _add_score(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        exercise = exercise_of(cell, judge_of(self.config), resources["nbgrader"]["notebook"])
        value = "" if exercise else _no_points(cell)
        log = self.log
        try:
            if value:
                whose = f"{self.notebook_id} of {self.student_id}"
                log.warning("%s: %s", whose, NO_POINTS.format(cell.metadata.nbgrader.grade_id, value))
                self.log = SILENT  # nbgrader's own words name neither the cell nor what to do
            super()._add_score(cell, resources)
        finally:
            self.log = log
        verdict = verdict_in(cell)
        if exercise is not None and verdict is not None and verdict.outcome != "not attempted":
            self._respond(f"{exercise}{ANSWER}")
        unjudged = exercise is not None and (verdict is None or verdict.faulty)
        if not (unjudged or resources["nbgrader"].get("refused")):
            return
        grade = self.gradebook.find_grade(
            cell.metadata.nbgrader.grade_id, self.notebook_id, self.assignment_id, self.student_id
        )
        grade.auto_score = None
        grade.needs_manual_grade = True
        self.gradebook.db.commit()

    def _respond(self, answer: str) -> None:
        """Take back that there is no response in an answer's cell, where an answer was judged that stands in another."""
        with suppress(MissingEntry):
            comment = self.gradebook.find_comment(answer, self.notebook_id, self.assignment_id, self.student_id)
            comment.auto_comment = None


def _no_points(cell: NotebookNode) -> str:
    """What a test ends in, where nbgrader gives full points because it is no number of points; "" where it is one, or there is nothing."""
    if cell.cell_type != "code" or is_solution(cell):
        return ""
    for output in cell.outputs:
        if output.output_type == "error" or output.get("name") == "stderr":
            return ""
        if output.output_type == "execute_result":
            value = str(output.data.get("text/plain", ""))
            with suppress(ValueError):
                if float(value) >= 0:
                    return ""
            shown = printable(" ".join(value.split()))
            return shown if len(shown) <= LONGEST_VALUE else f"{shown[:LONGEST_VALUE]}..."
    return ""


def of_tests(notes: Iterable[str]) -> list[str]:
    """Of what was said of students, what is to be mended in tests: each test once, whatever value it ended in."""
    begun = NO_POINTS.partition("{}")[0]
    found: dict[str, str] = {}
    for note in notes:
        if begun in note:
            found.setdefault(note.partition(" ends in ")[0], note)
    return [*found.values()]
