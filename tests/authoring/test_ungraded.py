"""What is not graded does not run while nbgrader grades: nothing is drawn, trained or timed, and no process is started."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from matplotlib.figure import Figure
from torch.utils.benchmark import Timer

from autograder.exercises import NOTEBOOKS
from course import clock
from course.figures import canvas
from course.trial import ranks
from tests.support.leaks import source_cells

HIDDEN = "### BEGIN HIDDEN TESTS"


def refuse(*arguments: object, **keywords: object) -> None:
    raise AssertionError("this runs while nbgrader grades")


@pytest.fixture
def grading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setattr(Figure, "__init__", refuse)
    monkeypatch.setattr(torch.optim.Optimizer, "__init__", refuse)
    monkeypatch.setattr(Timer, "__init__", refuse)
    monkeypatch.setattr(ranks, "trials", refuse)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_notebook_that_is_graded_draws_trains_times_and_starts_nothing(notebook: str, grading: None) -> None:
    scope: dict[str, Any] = {"__name__": notebook}
    for cell in source_cells(notebook):
        if cell.cell_type == "code":
            exec(compile(cell.source.split(HIDDEN)[0], cell.id, "exec"), scope)


def test_what_is_refused_here_is_what_pictures_use(grading: None) -> None:
    with pytest.raises(AssertionError):
        canvas()
    with pytest.raises(AssertionError):
        torch.optim.Adam([torch.zeros(1)])
    with pytest.raises(AssertionError):
        clock.seconds(lambda: None)
    with pytest.raises(AssertionError):
        ranks.run(lambda rank, p: None, 1)
