"""What CONTRIBUTING.md tells a contributor to do, and the small check of stored notebooks that the hooks run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from typer.main import get_command

from autograder.__main__ import app
from autograder.authoring.completeness import lacking
from autograder.authoring.mutants import PASSES, SURVIVES, as_student
from autograder.exercises.model import Exercise, exercise_in
from autograder.judging import Paper, judge_here
from autograder.settings import ROOT
from course.client import answer

GUIDE = (ROOT / "CONTRIBUTING.md").read_text()
FORMS = (ROOT / ".github" / "pull_request_template.md").read_text()
DECLARED, ANSWERED = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
"""The exercise of the guide: its module, and its answer cell."""

OUTPUTS = ROOT / ".ci" / "outputs.py"


def test_every_command_that_is_named_exists() -> None:
    named = set(re.findall(r"python -m autograder ([a-z]+)", GUIDE + FORMS))
    assert {"try", "mutants", "outputs"} <= named <= set(get_command(app).commands)  # type: ignore[attr-defined]


def test_every_target_that_is_named_exists() -> None:
    named = set(re.findall(r"(?:`|^    )make ([a-z-]+)", GUIDE + FORMS, re.MULTILINE))
    assert {"setup", "lint", "test"} <= named
    assert named <= set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_every_path_that_is_named_exists_but_that_of_the_example() -> None:
    named = re.findall(r"`([a-z_.]+/[\w./-]*)`", GUIDE)
    assert [path for path in named if not (ROOT / path).exists()] == ["autograder/exercises/shapes/row_sums.py"]


@pytest.mark.parametrize("trouble", [SURVIVES, PASSES])
def test_every_trouble_of_a_mistake_comes_with_advice(trouble: str) -> None:
    assert f"| {trouble.partition(':')[0]} | " in GUIDE


def test_where_cases_are_drawn_from_is_told() -> None:
    for shared in ("autograder/exercises/inputs.py", "autograder/exercises/parts.py"):
        assert f"`{shared}`" in GUIDE


@pytest.mark.parametrize(
    ("name", "folder"), re.findall(r"`(\w+)` in `(\w+)`", GUIDE[GUIDE.index("Models to follow") :])
)
def test_a_model_to_follow_stands_in_the_folder_that_is_named(name: str, folder: str) -> None:
    assert (ROOT / "autograder" / "exercises" / folder / f"{name}.py").is_file()


@pytest.fixture
def example(tmp_path: Path) -> Exercise:
    """The exercise of the guide, as a file of its own."""
    path = tmp_path / "row_sums.py"
    path.write_text(DECLARED)
    spec = spec_from_file_location("row_sums", path)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return exercise_in(module, "00_shapes")


@pytest.mark.parametrize("seed", [1, 20, 300])
def test_the_guides_example_is_an_exercise_whose_mistakes_lose_marks_and_are_named(
    example: Exercise, seed: int
) -> None:
    assert len(example.variants) == 2
    for variant in example.variants:
        assert judge_here(as_student(example, variant), Paper(example, seed), answer).outcome == "passed"
    for mistake in example.mistakes:
        verdict = judge_here(as_student(example, mistake), Paper(example, seed), answer)
        assert verdict.score == 0
        assert verdict.mistakes == (mistake.__name__,)


def test_the_guides_example_lacks_nothing_but_what_a_release_writes(example: Exercise) -> None:
    assert lacking(example) == ["docs/shapes.md, row 00: write `row_sums [n]`, which it returns."]


def checked(folder: Path, *paths: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, str(OUTPUTS), *paths], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A checkout with one notebook that was run and one that was not, in source/ and in release/."""
    for folder in ("source", "release"):
        for name, count in (("ran", 1), ("fresh", None)):
            code = {"cell_type": "code", "source": ["1"], "outputs": [], "execution_count": count}
            text = {"cell_type": "markdown", "source": ["1"]}
            path = tmp_path / folder / name / f"{name}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps({"cells": [text, code]}))
    return tmp_path


def test_notebooks_as_they_are_wanted_pass(stored: Path) -> None:
    assert checked(stored, "source/ran/ran.ipynb", "release/fresh/fresh.ipynb") == (0, "")


@pytest.mark.parametrize(
    ("path", "remedy"),
    [
        ("source/fresh/fresh.ipynb", "python -m autograder outputs fresh"),
        ("release/ran/ran.ipynb", "make release"),
    ],
)
def test_a_notebook_that_is_stored_otherwise_is_named_with_what_to_do(stored: Path, path: str, remedy: str) -> None:
    code, said = checked(stored, "source/ran/ran.ipynb", path)
    assert code == 1
    assert said.startswith(path)
    assert remedy in said


def test_the_notebooks_of_this_checkout_are_stored_as_they_are_wanted() -> None:
    notebooks = [path.relative_to(ROOT) for room in ("source", "release") for path in (ROOT / room).glob("*/*.ipynb")]
    assert len(notebooks) > 2
    assert checked(ROOT, *map(str, notebooks)) == (0, "")
