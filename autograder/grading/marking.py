"""Mark one submission: a function of what was handed in and of the assignment, and of nothing else.

It runs in worker processes (see `worker`), which never see the gradebook or the folders of the course.
"""

from __future__ import annotations

import threading
import time
import traceback
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import ExecutePreprocessor
from nbformat import NotebookNode

from autograder.engine import temporary
from autograder.grading.executor import execute, executor
from autograder.grading.logs import collected_warnings
from autograder.grading.result import MarkedNotebook, MarkedSubmission
from autograder.grading.rules import Desk, Rules, Step, rules
from autograder.grading.snapshot import File, OfficialNotebook, Snapshot
from autograder.grading.submission import Submission
from autograder.grading.writing import text_of
from autograder.plugins.bounds import Refused
from autograder.plugins.executing import NOT_FINAL, JudgedExecute
from autograder.plugins.files_beside import GIVEN
from autograder.plugins.papers import PAPER
from autograder.plugins.reading import LEFT_OUT, Unreadable, notebook_in, refused, say_why
from autograder.plugins.repairing import RELEASED
from autograder.plugins.submitted import notebook_of
from autograder.plugins.verdicts import verdicts_in

MOST_LEFT_BEHIND = 64 << 20
"""Bytes that the notebooks of a submission may leave in their folder; what is more is left out, and named."""

_one_at_a_time = threading.Lock()  # environment variables and logging belong to the process; Dask has worker threads


class Marker:
    """Marks submissions of one assignment. What its settings name is made when it is first needed, and once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    @cached_property
    def _rules(self) -> Rules:
        return rules(self.snapshot)

    @cached_property
    def _of_ours(self) -> ExecutePreprocessor | None:
        return executor(self.snapshot)

    def _executor(self) -> ExecutePreprocessor | None:
        """What executes a notebook: of this course's the same each time, while one with real kernels remembers the last."""
        return self._of_ours if self.snapshot.ours else executor(self.snapshot)

    def mark(self, submission: Submission, paper: int) -> MarkedSubmission:
        """Mark a submission on a paper. Nothing is raised: what cannot be marked says why."""
        started = time.monotonic()
        notebooks: dict[str, MarkedNotebook] = {}
        files: dict[str, File] = {}
        removed: tuple[str, ...] = ()
        error = ""
        reason: Exception | None = None
        with _one_at_a_time, collected_warnings() as log, temporary.folder() as folder:
            try:
                if submission.refused:
                    raise submission.refused
                self._fill(folder, submission)
                for official in self.snapshot.notebooks:
                    if official.name in submission.notebooks:
                        notebooks[official.name] = self._mark_notebook(submission, official, folder, paper)
                files = self._left_behind(folder, submission, log)
                brought = sorted({*submission.files, *self.snapshot.given})
                removed = tuple(name for name in brought if not (folder / name).is_file())
            except Refused as problem:
                reason = problem
            except Unreadable as problem:
                error = str(problem)
            except Exception as problem:
                error = f"{type(problem).__name__}: {problem}"
                reason = RuntimeError(error) if self.snapshot.ours else None
                log.append(traceback.format_exc())
        seconds = time.monotonic() - started
        if reason is not None:
            return replace(self.for_a_person(submission, reason), log=tuple(log), seconds=seconds)
        return MarkedSubmission(notebooks, files, tuple(log), error, False, seconds, removed)

    def explained(self, exercise: str) -> str:
        """How the verdict on one exercise of the submission that was marked last came about; "" where the judge tried nothing."""
        return self._of_ours.explained(exercise) if isinstance(self._of_ours, JudgedExecute) else ""

    def for_a_person(self, submission: Submission, reason: Exception) -> MarkedSubmission:
        """The result of a submission that was refused, or that the grader failed on: every cell waits for a person."""
        notebooks: dict[str, MarkedNotebook] = {}
        with collected_warnings() as log:
            for official in self.snapshot.notebooks:
                if official.name in submission.notebooks:
                    with suppress(Exception):  # without a notebook there are still its grades
                        notebook = self._shown(submission, official, reason)
                        cells = tuple(cell.name for cell in (*official.grade_cells, *official.task_cells))
                        notebooks[official.name] = MarkedNotebook(
                            text_of(notebook), dict.fromkeys(cells), cells, {}, {}
                        )
        return MarkedSubmission(notebooks, log=tuple(log), error=str(reason), fault=True)

    def _shown(self, submission: Submission, official: OfficialNotebook, reason: Exception) -> NotebookNode:
        """What a person looks at: the notebook as it would have been run, or, where it was not read, the reason alone."""
        resources = self._resources(submission, official, Path())
        try:
            if submission.refused:
                raise submission.refused
            notebook = self._prepared(submission, official, resources)
        except Exception:
            return _apply(self._rules.before, refused(reason), resources)
        say_why(notebook, reason)
        return notebook

    def _mark_notebook(
        self, submission: Submission, official: OfficialNotebook, folder: Path, paper: int
    ) -> MarkedNotebook:
        resources = self._resources(submission, official, folder)
        resources["nbgrader"][PAPER] = paper
        path = folder / f"{official.name}.ipynb"
        notebook = self._prepared(submission, official, resources)
        if not self.snapshot.ours:  # others may read it while it runs
            path.write_text(text_of(notebook), encoding="utf-8")
        notebook = execute(notebook, resources, self._executor())
        if killed := resources["nbgrader"].get(NOT_FINAL):
            raise killed
        notebook = _apply(self._rules.after, notebook, resources)
        text = text_of(notebook)
        path.write_text(text, encoding="utf-8")  # the next notebook may read it
        desk = resources["nbgrader"]["desk"]
        return MarkedNotebook(
            text=text,
            scores={name: grade.auto_score for name, grade in desk.grades.items()},
            by_hand=tuple(name for name, grade in desk.grades.items() if grade.needs_manual_grade),
            comments={name: comment.auto_comment for name, comment in desk.comments.items()},
            verdicts=verdicts_in(notebook.cells) if self.snapshot.ours else {},
        )

    def _prepared(self, submission: Submission, official: OfficialNotebook, resources: dict[str, Any]) -> NotebookNode:
        """The notebook as it is executed."""
        data = submission.notebooks[official.name] or b""
        ours = self.snapshot.ours
        notebook = notebook_of(data, official.name, self.snapshot.judge) if ours else notebook_in(data, False)
        return _apply(self._rules.before, notebook, resources)

    def _resources(self, submission: Submission, official: OfficialNotebook, folder: Path) -> dict[str, Any]:
        info = {
            "student": submission.student,
            "assignment": self.snapshot.assignment,
            "notebook": official.name,
            "db_url": "",
            "desk": Desk(official),
            GIVEN: self.snapshot.paths,
            RELEASED: official.released,
            LEFT_OUT: submission.beside,
        }
        about = ResourcesDict(name=official.name, path=str(folder))
        return ResourcesDict(nbgrader=info, unique_key=official.name, metadata=about)

    def _fill(self, folder: Path, submission: Submission) -> None:
        for name, file in submission.files.items():
            file.write(folder / name)
        for name, path in self.snapshot.paths.items():  # links: the instructor's files are not copied for each student
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(path.absolute())

    def _left_behind(self, folder: Path, submission: Submission, log: list[str]) -> dict[str, File]:
        """The plain files that are new or changed."""
        marked = {f"{official.name}.ipynb" for official in self.snapshot.notebooks}
        found: dict[str, File] = {}
        room = MOST_LEFT_BEHIND
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
            name = path.relative_to(folder).as_posix()
            if name in marked:
                continue
            size = path.stat().st_size
            if size > room:
                log.append(
                    f"{name}, which a notebook of {submission.student} wrote, was left out: too much was written"
                )
            elif (file := File.read(path)) != submission.files.get(name):
                found[name] = file
                room -= size
        return found


def _apply(steps: tuple[Step, ...], notebook: NotebookNode, resources: dict[str, Any]) -> NotebookNode:
    for step in steps:
        notebook, resources = step(notebook, resources)
    nbformat.validate(notebook, relax_add_props=True)
    return notebook
