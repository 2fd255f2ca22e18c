"""Run a submission, and let each grade cell of this course be scored by the judge."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import Execute
from nbgrader.utils import is_grade, setenv

from autograder.exercises import EXERCISES
from autograder.exercises.model import Exercise
from autograder.judging.server import JudgeServer
from autograder.judging.verdict import SENTENCES, Finding, Outcome, Verdict
from course.client import SOCKET_VARIABLE

VERDICT_TYPE = "application/vnd.course.verdict+json"
ALARMING = ("timed out", "crashed", "tampered", "grader fault")


def exercise_of(cell: NotebookNode, resources: dict[str, Any]) -> Exercise | None:
    """The exercise that a grade cell belongs to, or None where the cell is not one of this course's."""
    if cell.cell_type != "code" or not is_grade(cell):
        return None
    exercise = EXERCISES.get(cell.metadata.nbgrader.get("grade_id"))
    return exercise if exercise and exercise.notebook == resources["nbgrader"]["notebook"] else None


class JudgedExecute(Execute):
    """nbgrader's `Execute`, settings and all, with a judge beside the kernel.

    A grade cell runs the two lines below, whatever `check` and `judge` have become in the student's notebook. What the
    kernel prints into it is thrown away; its output is written from the verdict, after the last cell has run, since a
    kernel may update what it displayed before. A kernel that dies or hangs takes no earlier marks with it.
    """

    _server: JudgeServer | None = None
    _dead = False

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any], km: Any = None
    ) -> tuple[NotebookNode, dict[str, Any]]:
        if not any(exercise_of(cell, resources) for cell in nb.cells):
            return super().preprocess(nb, resources, km)
        self._verdicts: dict[int, Verdict] = {}
        with JudgeServer() as self._server, setenv(**{SOCKET_VARIABLE: self._server.address}):
            nb, resources = super().preprocess(nb, resources, km)
        for index, cell in enumerate(nb.cells):
            if index in self._verdicts:
                cell.outputs = [verdict_output(self._verdicts[index], cell.execution_count)]
            elif cell.cell_type == "code":
                cell.outputs = [output for output in cell.outputs if _printable(output)]
        return nb, resources

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        if self._server is None:
            return super().preprocess_cell(cell, resources, index)
        exercise = exercise_of(cell, self.resources)
        if exercise is None:
            self._run(cell, resources, index)
            return cell, resources
        self._server.expect(exercise)
        shown, cell.source = cell.source, f"import course\ncourse.judge({exercise.name})"
        self._run(cell, resources, index)
        cell.source = shown
        try:
            verdict = self._server.conclude() or _without_judgement(exercise, cell, self._dead)
            if verdict.outcome == "crashed" and _timed_out(cell):
                note = "The test cell did not finish in time; what had been earned before is kept."
                verdict = replace(verdict, outcome="timed out", note=note)
        except Exception as error:
            note = f"{type(error).__name__} in the judge; a person will look at it."
            verdict = failed(exercise, "grader fault", note)
        if verdict.outcome in ALARMING:
            self._warn(f"{exercise.name}: {SENTENCES[verdict.outcome]}")
        self._verdicts[index] = verdict
        return cell, resources

    def _run(self, cell: NotebookNode, resources: dict[str, Any], index: int) -> None:
        """Run a cell; nothing that a kernel does, or sends, ends the notebook."""
        if self._dead:
            return
        try:
            super().preprocess_cell(cell, resources, index)
        except Exception as error:  # nbclient raises several kinds, and so do malformed messages
            self._warn(f"the kernel was given up in cell {index}: {type(error).__name__}: {error}")
            self._dead = True
            if cell.cell_type == "code":
                text = f"{type(error).__name__}: {error}"
                cell.outputs = [new_output("error", ename=type(error).__name__, evalue=str(error), traceback=[text])]

    def _warn(self, text: str) -> None:
        info = self.resources["nbgrader"]
        self.log.warning("%s of %s: %s", info["notebook"], info["student"], text)


def _printable(output: NotebookNode) -> bool:
    """Whether an output is one that a notebook may hold, and not one that passes for a verdict."""
    try:
        nbformat.validate(output, ref="output", version=4)
    except nbformat.ValidationError:
        return False
    return VERDICT_TYPE not in output.get("data", {})


def failed(exercise: Exercise, outcome: Outcome, note: str) -> Verdict:
    """A verdict without any points, for an exercise that could not be judged probe by probe."""
    findings = tuple(Finding(probe.shows, probe.points, 0.0) for probe in exercise.probes)
    return Verdict(exercise.name, outcome, findings, note=note)


def _without_judgement(exercise: Exercise, cell: NotebookNode, dead: bool) -> Verdict:
    """The verdict where the student's process never came to be judged."""
    if dead:
        return failed(exercise, "crashed", "The kernel had died, or did not answer, before this could be judged.")
    error = next((output for output in cell.outputs if output.output_type == "error"), None)
    if error is None:
        return failed(exercise, "tampered", "The test cell ran without asking to be judged.")
    if _timed_out(cell):
        return failed(exercise, "timed out", "The test cell did not finish in time.")
    if error.ename == "NameError":
        note = f"{error.evalue}: its cell is empty, missing, or stopped with an error."
        return failed(exercise, "not attempted", note)
    return failed(
        exercise, "raised", f"The test cell stopped before the judge was asked: {error.ename}: {error.evalue}"
    )


def _timed_out(cell: NotebookNode) -> bool:
    return any(output.output_type == "error" and output.ename == "CellTimeoutError" for output in cell.outputs)


def verdict_output(verdict: Verdict, execution_count: int | None) -> NotebookNode:
    """The one output of a grade cell: the score for nbgrader, the reasons for the reader, the facts for the report."""
    data = {
        "text/plain": f"{verdict.score:g}",
        "text/html": verdict._repr_html_(),
        VERDICT_TYPE: verdict.to_json(),
    }
    return new_output("execute_result", data=data, execution_count=execution_count)


def verdict_in(cell: NotebookNode) -> dict[str, Any] | None:
    """The verdict that a grade cell carries, as `Verdict.to_json` wrote it, or None."""
    for output in cell.get("outputs", ()):
        if VERDICT_TYPE in output.get("data", {}):
            return dict(output.data[VERDICT_TYPE])
    return None
