"""`python -m autograder.bench students` runs what a student runs, in a real kernel, and tells what that took."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from autograder.bench.students import PARTS, Stopped, first_minute, solved

NOTEBOOK = "00_shapes"


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autograder.bench", "students", *arguments]
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def numbers(printed: str, row: str) -> list[float]:
    (line,) = [line for line in printed.splitlines() if row in line]
    return [float(number) for number in re.findall(r"\d+\.\d+", line)]


def test_it_prints_what_each_part_took_and_all_of_them() -> None:
    done = bench(NOTEBOOK, "--repeats", "2")
    assert done.returncode == 0, done.stdout
    *parts, whole = [numbers(done.stdout, part) for part in PARTS]
    for median, fastest, cpu, least in (*parts, whole):
        assert median >= fastest
        assert cpu >= least
    start, set_up, _ = parts
    assert whole[1] + 0.02 >= start[1] + set_up[1] > 0  # it prints hundredths


def test_it_names_the_slowest_cell_of_a_solved_notebook() -> None:
    done = bench(NOTEBOOK, "--cells")
    assert done.returncode == 0, done.stdout
    (line,) = [line for line in done.stdout.splitlines() if NOTEBOOK in line]
    assert any(cell.id in line for cell in solved(NOTEBOOK)), line
    seconds, _ = numbers(done.stdout, NOTEBOOK)
    assert seconds > 0


def test_a_check_that_does_not_pass_is_no_first_minute() -> None:
    cells = solved(NOTEBOOK)
    next(
        cell for cell in cells if cell.id == "pairwise-dots-solution"
    ).source = "def pairwise_dots(X, Y):\n    return 1"
    with pytest.raises(Stopped, match="pairwise_dots: not yet"):
        first_minute(cells)


def test_a_kernel_that_ends_is_waited_for_no_longer() -> None:
    cells = solved(NOTEBOOK)
    next(cell for cell in cells if cell.id == "setup").source = "import os\nos._exit(1)"
    with pytest.raises(Stopped, match="The kernel has ended"):
        first_minute(cells)


def test_what_is_no_notebook_is_said_with_those_that_there_are() -> None:
    done = bench("12_none")
    assert done.returncode == 2
    assert "there is no 12_none" in done.stdout
    assert NOTEBOOK in done.stdout
