"""What a student's process says of itself: replaced comparisons earn nothing, and what can be forged is worth little."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import course.trial.cases
import course.trial.observing
import course.trial.tellings
from autograder.authoring.mutants import as_student
from autograder.exercises import exercise_called
from autograder.exercises.model import Exercise
from autograder.judging import Paper, Verdict, judge
from course.client import answer
from course.trial.link import SocketLink, unhurried
from course.trial.observing import Observation
from course.trial.ranks import simulated


def judged_with(before: Callable[[], object], exercise: Exercise, function: Callable[..., Any]) -> Verdict:
    """The verdict on a function in a process of its own, in which something else was done before."""
    near, far = socket.socketpair()
    student = os.fork()
    if not student:
        try:
            near.close()
            before()
            torch.set_num_threads(1)  # the threads of the parent's pool were not forked
            with simulated():
                answer(as_student(exercise, function), SocketLink(far))
        finally:
            os._exit(0)
    far.close()
    with near, simulated():
        verdict = judge(Paper(exercise, 1), SocketLink(near, 60.0), allow=unhurried)
    os.waitpid(student, 0)
    return verdict


def nothing() -> None: ...


def no_comparison_finds_anything() -> None:
    for module in (course.trial.cases, course.trial.observing, course.trial.tellings):
        module.same = lambda was, now: True  # type: ignore[attr-defined]
    course.trial.cases.compared = course.trial.observing.compared = lambda arguments, told: Observation(
        told.result, told.raised
    )
    course.trial.cases.TELLINGS = {}  # type: ignore[misc]
    np.array_equal = torch.equal = torch.allclose = lambda *arguments, **keywords: True  # type: ignore[assignment]


COMPARED = (
    ("softmax_1d", "shifts_in_place"),
    ("masked_softmax", "softmax_in_place"),
    ("influence", "takes_the_nudge_back"),
    ("load_numpy", "shares_memory"),
    ("load_numpy", "dropout_left_on"),
    ("parallel_block", "divides_b2_in_place"),
    ("parallel_block", "keeps_its_shards_in_params"),
    ("parallel_block", "computes_everything_alone"),
)
"""Mistakes that lose points for what two things are found not to be the same: arguments before and after, outputs of two
calls, what ranks did and what they were to do."""


@pytest.mark.parametrize(
    ("name", "mistake"), [*COMPARED[:4], *(pytest.param(*one, marks=pytest.mark.thorough) for one in COMPARED[4:])]
)
def test_a_replaced_comparison_earns_nothing(name: str, mistake: str) -> None:
    exercise = exercise_called(name)
    assert exercise
    function = next(one for one in exercise.mistakes if one.__name__ == mistake)
    honest, forged = (judged_with(before, exercise, function) for before in (nothing, no_comparison_finds_anything))
    assert honest.score < honest.points
    assert forged == honest
