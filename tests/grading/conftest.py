"""A class whose notebooks take no time, for everything about grading that does not depend on what notebooks do."""

from __future__ import annotations

import json
import shutil
from itertools import count
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.folder import Course
from autograder.settings import CONFIG
from tests.support import stock
from tests.support.classes import cell
from tests.support.quick import Quick
from tests.support.quick_class import NAME, QuickClass, hand_in

SETTINGS = f"""{stock.SETTINGS}
c.CourseDirectory.course_id = "quick"
c.Quick.log_file = os.environ.get("QUICK", "")  # processes that started earlier do not have it, nor need it
c.Autograde.autograde_preprocessors = [
    "{Quick.__module__}.Quick", "nbgrader.preprocessors.SaveAutoGrades", "nbgrader.preprocessors.AssignLatePenalties",
]
"""


@pytest.fixture(scope="session")
def quick_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("quick") / "course"
    (root / "source" / NAME).mkdir(parents=True)
    (root / CONFIG).write_text(SETTINGS)
    answer = cell(new_code_cell("0"), "answer", solution=True)
    test = cell(new_code_cell("pass"), "test", 2)
    (root / "source" / NAME / f"{NAME}.ipynb").write_text(json.dumps(new_notebook(cells=[answer, test])))
    (root / "source" / NAME / "data.csv").write_text("1,2\n")
    Course(root).generate_assignment(NAME)
    return root


@pytest.fixture
def quick_class(
    quick_course: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> QuickClass:
    """Make a course in which every student named has handed in the answer given."""
    numbers = count(1)

    def make(**answers: str) -> Course:
        root = tmp_path_factory.mktemp("course") / str(next(numbers))
        monkeypatch.setenv("QUICK", str(root / "calls"))
        course = Course(shutil.copytree(quick_course, root))
        for student, answer in answers.items():
            hand_in(course, student, answer)
        return course

    return make
