"""What an instructor can tell a student who asks: one exercise of one submission, on its very paper, once more."""

from __future__ import annotations

from autograder.folder import Course
from autograder.grading.marking import Marker
from autograder.grading.snapshot import read_snapshot
from autograder.grading.submission import read_submission
from autograder.plugins.papers import Papers
from autograder.problems import FAILED, OF_PEOPLE, Problem, nearest

NOTES = {
    True: "",
    False: "\nThis was handed in since: the points in the gradebook are those of an earlier submission, marked on the same paper.",
    None: "\nThis was not graded yet; that may be done on another paper.",
}
"""What is said of a submission that is the one that was graded, that came after it, or that nobody has graded."""


def explain(course: Course, assignment: str, student: str, exercise: str) -> str:
    """How the verdict on an exercise came about; see `autograder.judging.explaining`.

    What lies there now is run once more, behind the walls, on the paper that the student was last marked on. Nothing is written.

    Args:
        course: where the submissions are.
        assignment: the name of a notebook of this course.
        student: who handed it in.
        exercise: the name of one of its exercises.

    Raises:
        Problem: the student handed nothing in, or the submission cannot be run; the message says what to do.
    """
    handed_in = course.submitters(assignment)
    if student not in handed_in:
        raise Problem(f"{student} handed in nothing for {assignment}.{nearest(student, handed_in, OF_PEOPLE)}")
    snapshot = read_snapshot(course, assignment)
    submission = read_submission(course, student, snapshot)
    papers = Papers(course.directory, assignment)
    paper, is_marked = papers.marked_on(student) or (papers.of(student), None)
    marker = Marker(snapshot)
    result = marker.mark(submission, paper)
    if result.error:
        raise Problem(f"{student}'s {assignment} cannot be run: {result.error}", FAILED)
    verdict = next((marked.verdicts.get(exercise) for marked in result.notebooks.values()), None)
    told = marker.explained(exercise) or repr(verdict)
    return f"{student}, {assignment}, paper {paper}{NOTES[is_marked]}\n{told}"
