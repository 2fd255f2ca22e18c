"""A release has the same bytes whenever and wherever it is made."""

from __future__ import annotations

import pytest

from autograder.exercises import NOTEBOOKS
from autograder.folder import Course
from autograder.settings import ROOT


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return Course.copied(tmp_path_factory.mktemp("release") / "course")


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_release_that_is_made_now_has_the_bytes_of_the_one_that_was_committed(course: Course, notebook: str) -> None:
    course.generate_assignment(notebook)
    path = f"release/{notebook}/{notebook}.ipynb"
    assert (course.root / path).read_bytes() == (ROOT / path).read_bytes(), "`make release` comes before this"
