"""Put grades into the gradebook; what the grader failed to judge goes to a person, and is never a zero."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import SaveAutoGrades

from autograder.plugins.bookkeeping import wait_for_a_person
from autograder.plugins.executing import exercise_of
from autograder.plugins.gradebooks import AtOnce, reusing
from autograder.plugins.judges import judge_of
from autograder.verdicts.cells import ANSWER, verdict_in

_save = reusing(SaveAutoGrades.preprocess)


class SaveVerdicts(SaveAutoGrades, AtOnce):
    """nbgrader's `SaveAutoGrades`, which leaves to a person what has no verdict.

    That is a grader's fault, an exercise that nobody judged (--no-execute), and a notebook that was not read, or not run.
    """

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
        super()._add_score(cell, resources)
        verdict = verdict_in(cell)
        exercise = exercise_of(cell, judge_of(self.config), resources["nbgrader"]["notebook"])
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
