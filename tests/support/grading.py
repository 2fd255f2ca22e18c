"""Grading as an instructor does it, with the class command in a process of its own."""

from __future__ import annotations

import sys

from autograder.folder import Course


def grade_command(course: Course, assignment: str, *options: str) -> list[str]:
    """The command that marks an assignment and makes no pages of feedback."""
    command = [sys.executable, "-m", "autograder", "grade", assignment]
    return [*command, "--course", str(course.root), "--no-feedback", *options]
