"""What a file imports is found in whatever form it is written."""

from __future__ import annotations

import pytest

from autograder.dependencies import imported


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("import autograder", {"autograder"}),
        ("import autograder.judging as j", {"autograder.judging"}),
        ("from autograder import judging, exercises", {"autograder.judging", "autograder.exercises"}),
        ("def f():\n    if True:\n        from autograder.judging import interview", {"autograder.judging.interview"}),
        ("from . import values", {"course.values"}),
        ("from ..autograder import judging", {"autograder.judging"}),
        ("%matplotlib inline\nimport course", set()),
        ("!pip install x\nimport course; import numpy", set()),
    ],
)
def test_imports_are_found_in_every_form(line: str, found: set[str]) -> None:
    assert set(imported(line.encode(), ("course",))) == found
