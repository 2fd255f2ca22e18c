"""Write what was graded into the folders in which nbgrader looks for it."""

from __future__ import annotations

import shutil

from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory

from autograder.folder import Course
from autograder.grading.result import MarkedSubmission
from autograder.grading.snapshot import File, Snapshot
from autograder.grading.submission import Submission
from autograder.plugins import returning, starting
from autograder.plugins.handing_in import restate
from autograder.plugins.reading import quarantine
from autograder.plugins.structure import beside

LARGEST_COPY = 16 << 20
"""Bytes of an instructor's file of which each student's folder gets a copy; of a larger one it gets a link."""


def prepare_folder(course: Course, snapshot: Snapshot, student: str) -> bool:
    """Before a submission is read: what does not belong goes to quarantine, and then comes the course's own pre-convert hook. A
    submission to a notebook of the judge's is cleared when it is written.

    Returns:
        Whether the submission got back a secret that an earlier version had moved away.
    """
    restate(course.folder("submitted", student, snapshot.assignment))
    if not snapshot.ours:
        converter = _converter(course, snapshot, student)
        quarantine(course.directory, snapshot.assignment, converter.notebooks, ())
        converter.run_pre_convert_hook()
    return returning.put_back(course.directory, student, snapshot.assignment)


def write_folder(course: Course, snapshot: Snapshot, submission: Submission, result: MarkedSubmission) -> None:
    """Write a student's autograded folder; whoever looks sees the old one or the new one, never half of it.

    What does not belong into the submission goes to quarantine. A submission that nbgrader's rules could not grade has no
    autograded folder afterwards, as with nbgrader.

    Raises:
        OSError: the folder cannot be written to.
    """
    handed_in = course.folder("submitted", submission.student, snapshot.assignment)
    if snapshot.ours and not submission.refused:
        notebook = str(handed_in / f"{snapshot.assignment}.ipynb")
        quarantine(course.directory, snapshot.assignment, [notebook], [snapshot.assignment])
    target = course.folder("autograded", submission.student, snapshot.assignment)
    draft, old = beside(target, "new"), beside(target, "old")
    for leftover in (draft, old):
        shutil.rmtree(leftover, ignore_errors=True)
    kept = {name: path for name, path in snapshot.paths.items() if name not in result.removed}
    large = {name for name, path in kept.items() if path.stat().st_size > LARGEST_COPY} - result.files.keys()
    if result.notebooks and (result.fault or not result.error):
        draft.mkdir(parents=True)
        given = {name: File.read(path) for name, path in kept.items() if name not in large}
        own = {name: file for name, file in submission.files.items() if name not in result.removed}
        for name, file in {**own, **given, **result.files}.items():
            file.write(draft / name)
        for name, marked in result.notebooks.items():
            (draft / f"{name}.ipynb").write_text(marked.text, encoding="utf-8")
    if target.exists():
        target.rename(old)
    if draft.exists():
        draft.rename(target)
        converter = _converter(course, snapshot, submission.student)
        converter.set_permissions(snapshot.assignment, submission.student)
        for name in large:  # after the permissions, which would be the instructor's own
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).unlink(missing_ok=True)
            (target / name).symlink_to(snapshot.paths[name].absolute())
        converter.run_post_convert_hook()
    starting.finish(handed_in)
    shutil.rmtree(old, ignore_errors=True)


def _converter(course: Course, snapshot: Snapshot, student: str) -> Autograde:
    """nbgrader's own converter, as it stands when it has come to one student."""
    directory = CourseDirectory(config=course.config, assignment_id=snapshot.assignment, student_id=student)
    converter = Autograde(coursedir=directory, config=course.config)
    converter.notebooks = sorted(map(str, course.folder("submitted", student, snapshot.assignment).glob("*.ipynb")))
    return converter
