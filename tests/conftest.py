"""Course folders of their own, in which notebook 00 is released."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from autograder.course import Course

NewCourse = Callable[[], Course]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Give each file to one worker, so that a class that a whole file looks at is graded once."""
    return LoadFileScheduling(config, log) if config.getvalue("dist") == "load" else None


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder in which 00_shapes has been released. Tests take copies of it."""
    course = Course.copied(tmp_path_factory.mktemp("released") / "course")
    course.generate_assignment("00_shapes")
    return course.root


@pytest.fixture(scope="session")
def new_course(released: Path, tmp_path_factory: pytest.TempPathFactory) -> NewCourse:
    """Make a course folder with 00_shapes released and nobody in it."""
    numbers = count(1)

    def make() -> Course:
        return Course(shutil.copytree(released, tmp_path_factory.mktemp("course") / str(next(numbers))))

    return make
