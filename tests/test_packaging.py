"""The versions, the commands and the numbers that the repository's own texts promise."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import version
from typing import Any

import nbgrader
import pytest
import yaml
from typer.main import get_command

from autograder.__main__ import app
from autograder.exercises import NOTEBOOKS, every_exercise, exercises_in, tasks_in
from autograder.exercises.model import equivalence
from autograder.settings import ROOT
from course import __version__
from tests.support.checkout import MAKEFILE, targets

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
README = (ROOT / "README.md").read_text()


def canonical(name: str) -> str:
    """A package's name in one form, without the extras that are asked of it."""
    return re.sub(r"[-_.]+", "-", name.partition("[")[0]).lower()


def declared() -> set[str]:
    extras = PROJECT["optional-dependencies"]
    listed = (
        *PROJECT["dependencies"],
        *(name for extra in ("hub", "instructor", "lab", "postgres", "site", "test") for name in extras[extra]),
    )
    return {canonical(name) for name in listed}


def pins(lines: list[str]) -> dict[str, str]:
    return {canonical(name): pin for name, _, pin in (line.partition("==") for line in lines)}


CONSTRAINTS = pins((ROOT / "constraints.txt").read_text().split())


def test_every_constraint_is_one_exact_version() -> None:
    lines = (ROOT / "constraints.txt").read_text().split()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.+]*", line)] == []
    assert len(CONSTRAINTS) == len(lines)


def test_no_command_builds_grammars_before_it_begins() -> None:
    """jsonschema from 4.25 on builds 38 of them wherever Jupyter or nbgrader is imported: a second of every command and every server."""
    assert nbgrader.__name__ in sys.modules
    assert "rfc3987_syntax" not in sys.modules


@pytest.mark.parametrize("name", sorted(declared()))
def test_every_dependency_is_pinned_and_installed_in_that_version(name: str) -> None:
    assert version(name).partition("+")[0] == CONSTRAINTS[name]  # torch adds what it was built for: 2.13.0+cpu


def test_conda_users_get_the_same_versions() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    (pip,) = (entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    assert "--constraint constraints.txt" in pip
    assert "--editable ." in pip
    listed = pins([line for line in pip if not line.startswith("--")])
    assert listed == {name: CONSTRAINTS[name] for name in declared()}


def test_conda_users_get_a_python_that_the_project_accepts() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    (python,) = (e for e in environment["dependencies"] if isinstance(e, str) and e.startswith("python="))
    lowest = tuple(map(int, PROJECT["requires-python"].removeprefix(">=").split(".")))
    assert tuple(map(int, python.removeprefix("python=").split("."))) >= lowest
    assert f"sys.version_info < {lowest}" in MAKEFILE
    assert f"Python {'.'.join(map(str, lowest))} or later" in README


def test_the_version_is_the_same_wherever_it_is_told() -> None:
    """After a change of it, `make setup` tells the environment."""
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]
    assert version(PROJECT["name"]) == released[0] == cited == __version__


def test_the_two_commands_of_the_readme_exist() -> None:
    named = set(re.findall(r"^    make ([a-z]+)", README, re.MULTILINE))
    assert named == {"grade", "test"}
    assert named <= targets()


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml"])
def test_the_ci_to_copy_does_what_there_is(name: str) -> None:
    text = (ROOT / "docs" / "ci" / name).read_text()
    told = yaml.safe_load(text)["jobs" if name == "github.yml" else "exercises"]
    assert set(re.findall(r"(?:run:|-) make ([a-z-]+)", text)) == {"exercises"} <= targets()
    assert set(re.findall(r"(?:python:|python-version: )\"?(\d+\.\d+)", text)) == {"3.11"}
    assert told
    assert "exercises: $(READY)" in MAKEFILE  # it sets up what it needs


def test_every_target_is_declared_phony() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert set(phony.split()) == targets()


def test_every_command_that_the_makefile_names_exists() -> None:
    named = set(re.findall(r"python -m autograder ([a-z]+)", MAKEFILE))
    assert named
    assert named <= set(get_command(app).commands)  # type: ignore[attr-defined]


def test_the_readme_lists_every_notebook_with_its_points() -> None:
    rows = re.findall(r"^\| `(\d\d_\w+)` \|.*\| *([\d.]+) *\|$", README, re.MULTILINE)
    points = {n: sum(graded.points for graded in (*exercises_in(n), *tasks_in(n))) for n in NOTEBOOKS}
    assert {notebook: float(worth) for notebook, worth in rows} == points


def test_the_readme_counts_the_exercises_mistakes_and_right_answers_there_are() -> None:
    (told,) = re.findall(r"(\d+) exercises, (\d+) mistakes .*?, (\d+) equivalent, (\d+) right answers", README)
    exercises = list(every_exercise())
    mistakes = [mistake for exercise in exercises for mistake in exercise.mistakes]
    equivalent = [mistake for mistake in mistakes if equivalence(mistake)]
    variants = [variant for exercise in exercises for variant in exercise.variants]
    assert tuple(map(int, told)) == (
        len(exercises),
        len(mistakes) - len(equivalent),
        len(equivalent),
        len(variants),
    )
