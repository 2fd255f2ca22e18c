"""Mark one submission: a function of what was handed in and of the assignment, and of nothing else.

It runs in worker processes, which never see the gradebook or the folders of the course.
"""

from __future__ import annotations

import socket
import threading
import time
import traceback
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode

from autograder.engine import Place, be_lent, temporary
from autograder.grading.executor import execute
from autograder.grading.logs import collected_warnings
from autograder.grading.result import MarkedNotebook, MarkedSubmission, verdicts_in
from autograder.grading.rules import Desk, Rules, Step, rules
from autograder.grading.snapshot import File, OfficialNotebook, Snapshot
from autograder.grading.store import code_digest
from autograder.grading.submission import Submission
from autograder.plugins.bounds import Beyond
from autograder.plugins.files_beside import GIVEN
from autograder.plugins.reading import NO_FILE, notebook_in, refused, say_why, unreadable
from autograder.problems import Problem

MOST_LEFT_BEHIND = 64 << 20
"""Bytes that the notebooks of a submission may leave in their folder; what is more is left out, and named."""

_one_at_a_time = threading.Lock()  # environment variables and logging belong to the process; Dask has worker threads


_opened: Snapshot


def open_assignment(snapshot: Snapshot, zygote: Place | None) -> None:
    """Have this process mark submissions of an assignment, which then does not travel with each, with a zygote that is lent."""
    global _opened
    _opened = snapshot
    be_lent(zygote)


def mark_opened(submission: Submission) -> MarkedSubmission:
    """Mark a submission of the assignment that was opened."""
    return mark(submission, _opened)


def mark_elsewhere(submission: Submission, snapshot: Snapshot, code: str) -> MarkedSubmission:
    """Mark a submission on another machine.

    Raises:
        Problem: that machine has other code than the one that asks, and its results would pass for this one's.
    """
    if _code_here(snapshot.assignment) != code:
        raise Problem(f"{socket.gethostname()} has another version of the course: bring all workers to the same one.")
    return mark(submission, _unpacked(snapshot))


_code_here = lru_cache(code_digest)


_unpacked_here: dict[str, Snapshot] = {}


def _unpacked(snapshot: Snapshot) -> Snapshot:
    """The assignment with the instructor's files where this process finds them."""
    if snapshot.digest not in _unpacked_here:
        folder = temporary.make()
        given = {}
        for name, data in (snapshot.carried or {}).items():
            File(data, snapshot.given[name].executable).write(folder / name)
            given[name] = snapshot.given[name]._replace(path=folder / name)
        _unpacked_here[snapshot.digest] = replace(snapshot, given=given, carried=None)
    return _unpacked_here[snapshot.digest]


def mark(submission: Submission, snapshot: Snapshot) -> MarkedSubmission:
    """Mark a submission. Nothing is raised: what cannot be marked says why."""
    started = time.monotonic()
    notebooks: dict[str, MarkedNotebook] = {}
    files: dict[str, File] = {}
    removed: tuple[str, ...] = ()
    error, fault = "", False
    with _one_at_a_time, collected_warnings() as log, temporary.folder() as folder:
        try:
            if submission.refused:
                raise Beyond(submission.refused)
            _fill(folder, submission, snapshot)
            for official in snapshot.notebooks:
                if official.name in submission.notebooks:
                    notebooks[official.name] = _mark_notebook(submission, official, snapshot, folder)
            files = _left_behind(folder, submission, snapshot, log)
            brought = sorted({*submission.files, *snapshot.given})
            removed = tuple(name for name in brought if not (folder / name).is_file())
        except Beyond as problem:
            error, fault = str(problem), True
        except Exception as problem:
            error, fault = f"{type(problem).__name__}: {problem}", snapshot.ours
            log.append(traceback.format_exc())
    return MarkedSubmission(notebooks, files, tuple(log), error, fault, time.monotonic() - started, removed)


def for_a_person(submission: Submission, snapshot: Snapshot, reason: str) -> MarkedSubmission:
    """The result of a submission that the grader failed on: not run, every cell waits for a person."""
    notebooks: dict[str, MarkedNotebook] = {}
    with collected_warnings() as log:
        for official in snapshot.notebooks:
            if official.name in submission.notebooks:
                with suppress(Exception):  # without a notebook there are still its grades
                    notebook = _shown(submission, official, snapshot, reason)
                    cells = tuple(cell.name for cell in official.grade_cells)
                    notebooks[official.name] = MarkedNotebook(_text(notebook), dict.fromkeys(cells), cells, {}, {})
    return MarkedSubmission(notebooks, log=tuple(log), error=reason, fault=True)


def _shown(submission: Submission, official: OfficialNotebook, snapshot: Snapshot, reason: str) -> NotebookNode:
    """What a person looks at: the notebook as it would have been run, or, where it was not read, the reason alone."""
    resources = _resources(submission, official, snapshot, Path())
    try:
        if submission.refused:
            raise Beyond(reason)
        notebook = _prepared(submission, official, snapshot, resources)
    except Exception:
        return _apply(_rules(snapshot).before, refused(reason), resources)
    say_why(notebook, reason)
    return notebook


def _fill(folder: Path, submission: Submission, snapshot: Snapshot) -> None:
    for name, file in submission.files.items():
        file.write(folder / name)
    for name, path in snapshot.paths.items():  # links: the instructor's files are not copied for each student
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(path.absolute())


def _mark_notebook(
    submission: Submission, official: OfficialNotebook, snapshot: Snapshot, folder: Path
) -> MarkedNotebook:
    resources = _resources(submission, official, snapshot, folder)
    path = folder / f"{official.name}.ipynb"
    notebook = _prepared(submission, official, snapshot, resources)
    if not snapshot.ours:  # others may read it while it runs
        path.write_text(_text(notebook), encoding="utf-8")
    notebook = execute(notebook, resources, snapshot)
    notebook = _apply(_rules(snapshot).after, notebook, resources)
    text = _text(notebook)
    path.write_text(text, encoding="utf-8")  # the next notebook may read it
    desk = resources["nbgrader"]["desk"]
    return MarkedNotebook(
        text=text,
        scores={name: grade.auto_score for name, grade in desk.grades.items()},
        by_hand=tuple(name for name, grade in desk.grades.items() if grade.needs_manual_grade),
        comments={name: comment.auto_comment for name, comment in desk.comments.items()},
        verdicts=verdicts_in(notebook.cells) if snapshot.ours else {},
    )


def _resources(submission: Submission, official: OfficialNotebook, snapshot: Snapshot, folder: Path) -> dict[str, Any]:
    info = {
        "student": submission.student,
        "assignment": snapshot.assignment,
        "notebook": official.name,
        "db_url": "",
        "desk": Desk(official),
        GIVEN: snapshot.paths,
    }
    about = ResourcesDict(name=official.name, path=str(folder))
    return ResourcesDict(nbgrader=info, unique_key=official.name, metadata=about)


def _prepared(
    submission: Submission, official: OfficialNotebook, snapshot: Snapshot, resources: dict[str, Any]
) -> NotebookNode:
    """The notebook as it is executed."""
    whose = f"{official.name} of {submission.student}"
    return _apply(_rules(snapshot).before, _read(submission.notebooks[official.name], whose, snapshot.ours), resources)


def _read(data: bytes | None, whose: str, ours: bool) -> NotebookNode:
    """The notebook that was handed in, in the form in which nbconvert hands it to its preprocessors."""
    return unreadable(NO_FILE) if ours and data is None else notebook_in(data or b"", whose, ours)


def _apply(steps: tuple[Step, ...], notebook: NotebookNode, resources: dict[str, Any]) -> NotebookNode:
    for step in steps:
        notebook, resources = step(notebook, resources)
    nbformat.validate(notebook, relax_add_props=True)
    return notebook


def _text(notebook: NotebookNode) -> str:
    text: str = nbformat.writes(notebook, version=nbformat.current_nbformat)
    return text if text.endswith("\n") else f"{text}\n"


_known_rules: dict[str, Rules] = {}


def _rules(snapshot: Snapshot) -> Rules:
    if snapshot.digest not in _known_rules:
        _known_rules[snapshot.digest] = rules(snapshot)
    return _known_rules[snapshot.digest]


def _left_behind(folder: Path, submission: Submission, snapshot: Snapshot, log: list[str]) -> dict[str, File]:
    """The plain files that are new or changed."""
    marked = {f"{official.name}.ipynb" for official in snapshot.notebooks}
    found: dict[str, File] = {}
    room = MOST_LEFT_BEHIND
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
        name = path.relative_to(folder).as_posix()
        if name in marked:
            continue
        size = path.stat().st_size
        if size > room:
            log.append(f"{name}, which a notebook of {submission.student} wrote, was left out: too much was written")
        elif (file := File.read(path)) != submission.files.get(name):
            found[name] = file
            room -= size
    return found
