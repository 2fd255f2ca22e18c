"""Grading is killed, through both doors: the next run ends as if nothing had been, and nothing is left. The bench kills it more often."""

from __future__ import annotations

import subprocess
import sys

import pytest

from autograder.bench.kills import DOORS, KILLS, STAGES, moments

pytestmark = pytest.mark.thorough  # two classes, graded again after every kill

TIMES = 2


@pytest.mark.parametrize("door", DOORS)
def test_after_a_kill_the_next_run_ends_as_if_nothing_had_been(door: str) -> None:
    command = [sys.executable, "-m", "autograder.bench.kills", "--times", str(TIMES), "--door", door]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("all as undisturbed") > 0, done.stdout


def test_fifty_kills_come_at_every_stage_and_of_every_kind() -> None:
    kills = list(zip(moments(50), [*KILLS] * 10, strict=True))
    assert {(moment.stage, how) for moment, how in kills} == {(stage, how) for stage in STAGES for how in KILLS}
