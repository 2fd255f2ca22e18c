"""Courses that nobody here wrote: taken out of a clone, handed in, graded by stock and by both doors, and compared row by row."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from rich.console import Console

from autograder.authoring import made_up
from autograder.authoring.compared import HEAD, keep, kept, table
from autograder.authoring.made_up import Cost, Seconds
from autograder.bench.courses.command import compare
from autograder.bench.courses.comparing import Place, Row, differences
from autograder.bench.courses.generated import source
from autograder.bench.courses.known import KNOWN, Known
from autograder.bench.courses.taking import NoClone, clone_of, take
from autograder.bench.processor import spend


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def known(tmp_path: Path) -> Known:
    """A course in a clone, `tmp_path/OWNER+NAME`, whose notebooks name a kernel that is not here."""
    clone = tmp_path / "ada+numbers"
    (clone / "source" / "first").mkdir(parents=True)
    notebook = source("light")
    notebook.metadata.kernelspec.name = "xpython"
    nbformat.write(notebook, str(clone / "source" / "first" / "numbers.ipynb"))
    (clone / "source" / "first" / "data.csv").write_text("1,2")
    git(clone, "init", "--quiet")
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", "A course")
    return Known("ada/numbers", git(clone, "rev-parse", "HEAD"), "numbers", ("source/*/*.ipynb",))


def test_a_course_is_taken_out_of_a_clone(known: Known, tmp_path: Path) -> None:
    assert take(known, clone_of(known, tmp_path), tmp_path / "course") == ["first"]
    taken = tmp_path / "course" / "source" / "first"
    assert (taken / "data.csv").read_text() == "1,2"
    assert json.loads((taken / "numbers.ipynb").read_text())["metadata"]["kernelspec"]["name"] == "python3"


def test_a_clone_without_the_commit_is_none(known: Known, tmp_path: Path) -> None:
    with pytest.raises(NoClone, match="ada/numbers"):
        clone_of(replace(known, commit="0" * 40), tmp_path)


def test_a_row_that_differs_is_told() -> None:
    place, row = Place("ps1", "ada", "first", "test"), Row(1.0, None, None, 2.0, False)
    assert differences({place: row}, {place: row}) == []
    assert differences({place: row}, {place: row._replace(auto_score=0.0)}) == [
        "ps1 / ada / first / test: 1.0 of 2; here 0.0 of 2"
    ]
    assert differences({place: row}, {}) == ["ps1 / ada / first / test: 1.0 of 2; here no row"]


@pytest.mark.thorough
def test_a_course_is_graded_through_three_doors(known: Known, tmp_path: Path) -> None:
    found = compare(known, clone_of(known, tmp_path), tmp_path / "work", Console(quiet=True))
    assert (found.notebooks, found.cells, found.rows) == (1, 4, 20)
    assert (found.plugged, found.whole_class) == (0, 0)
    assert all(seconds > 0.1 for seconds in found.cpu)
    keep([found], tmp_path / "courses.json")
    keep([replace(found, rows=5)], tmp_path / "courses.json")
    assert [one.rows for one in kept(tmp_path / "courses.json")] == [5]
    assert table([found]).splitlines()[0] == f"| {' | '.join(HEAD)} |"


def test_the_time_of_a_command_is_that_of_all_that_it_starts(tmp_path: Path) -> None:
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    spent = spend(["sh", "-c", f'python3 -c "{busy}"; echo done; exit 3'], tmp_path)
    assert 0.5 <= spent.cpu < 60
    assert (spent.code, spent.said) == (3, "done\n")


def test_no_course_is_listed_twice() -> None:
    assert len({known.repository for known in KNOWN}) == len(KNOWN)


def test_what_a_made_up_course_took_is_kept_and_told_beside_stock(tmp_path: Path) -> None:
    stock = Cost("light", "stock", Seconds(6.0, 8.0), Seconds(32.0, 40.0), 0)
    ours = Cost("light", "class command", Seconds(3.0, 2.0), Seconds(4.3, 4.0), 0)
    made_up.keep([stock, ours], tmp_path / "kept.json")
    assert made_up.kept(tmp_path / "kept.json") == [stock, ours]
    _, _, first, second = made_up.table([stock, ours]).splitlines()
    assert first == "| light | stock | 6.0 | 8.0 | 32.0 | 40.0 | 2.00 |"
    assert second == "| light | class command | 3.0 (2.0) | 2.0 (4.0) | 4.3 (7.4) | 4.0 (10.0) | 0.10 |"
