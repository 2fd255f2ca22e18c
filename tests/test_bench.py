"""The class that the bench grades, and the rows that it keeps."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring.measured import HEAD, Row, keep, table
from autograder.bench.breakdown import PARTS
from autograder.bench.classes import make_course
from autograder.bench.measuring import take
from autograder.bench.pages import WARMING, page_cost
from autograder.bench.scale import COLUMNS
from autograder.grading.run import grade

NOTEBOOK = "00_shapes"


def test_a_third_is_right_a_third_known_to_be_wrong_and_a_third_wrong_in_a_way_of_its_own(tmp_path: Path) -> None:
    course = make_course(tmp_path / "course", NOTEBOOK, 3, stock=False)
    lines = {(line.student, line.exercise): line for line in grade(course, NOTEBOOK, feedback=False).lines}
    right, known, unknown = ({k: v for k, v in lines.items() if k[0] == who} for who in ("a0000", "b0000", "a0001"))
    assert len(lines) == 9
    assert all(line.outcome == "passed" for line in right.values())
    assert all(line.mistakes for line in known.values())
    assert all(line.outcome in ("wrong", "partly") and not line.mistakes for line in unknown.values())


@pytest.mark.thorough
def test_a_class_is_graded_in_three_sizes_and_all_is_counted() -> None:
    """In a process of its own: it waits for whatever that process has begun."""
    command = [sys.executable, "-m", "autograder.bench", "scale", NOTEBOOK, "--students", "4"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [re.findall(r"[\d.]+", line) for line in said.splitlines() if line.startswith("│")]
    sizes = [dict(zip(COLUMNS, map(float, row), strict=True)) for row in rows]
    assert [size["students"] for size in sizes] == [1, 2, 4]
    for size in sizes:
        assert all(size[column] > 0 for column in ("grade, s", "again, s", "export, s"))
        assert size["main, MiB"] > 10
    assert 0 < sizes[0]["gradebook, MiB"] <= sizes[-1]["gradebook, MiB"]


def test_a_page_has_its_cost(tmp_path: Path) -> None:
    course = make_course(tmp_path / "course", NOTEBOOK, WARMING + 1, stock=False)
    grade(course, NOTEBOOK, feedback=False)
    assert 1 < page_cost(course, NOTEBOOK, 1) < 5000
    last = course.submitters(NOTEBOOK)[WARMING]
    assert (course.folder("feedback", last, NOTEBOOK) / f"{NOTEBOOK}.html").is_file()


def test_what_a_process_took_counts_whoever_waits_for_it(tmp_path: Path) -> None:
    """As that of a submission, which ends with its namespace."""
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    nobody_waits = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {busy!r}])"
    command = [sys.executable, "-c", nobody_waits]
    assert 0.5 <= take([command], tmp_path).cpu < 60


def measured(notebook: str, engine: float) -> Row:
    return Row(notebook, 24, 6, {"1": 3000.0}, {"1": engine}, 1.5, 1.2, 20.0, 10.0, 60.0, 25.0, 60.0, same=True)


def test_a_row_takes_the_place_of_that_notebooks_last_one(tmp_path: Path) -> None:
    path = tmp_path / "speed.json"
    keep([measured("02_matrices", 200.0), measured("00_shapes", 100.0)], path)
    keep([measured("02_matrices", 150.0)], path)
    assert [name in path.read_text() for name in ("200.0", "150.0", "100.0")] == [False, True, True]


def test_a_table_says_how_many_times_faster() -> None:
    heading, _, row = table([measured("00_shapes", 100.0)]).splitlines()
    cells = dict(zip(heading.strip("| ").split(" | "), row[2:-2].split(" | "), strict=True))
    assert tuple(cells) == HEAD
    assert (cells["notebook"], cells["times stock"], cells["two wide"]) == ("00_shapes", "30.0", "")


def test_every_part_that_a_clock_is_put_around_is_there() -> None:
    for part, (owner, name) in PARTS.items():
        assert callable(getattr(owner, name, None)), part
