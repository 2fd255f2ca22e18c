"""What a contributor forgets when an exercise or a notebook comes, goes or moves is told before anything is made, with what to do."""

from __future__ import annotations

import copy
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
from nbformat import NotebookNode
from typer.testing import CliRunner

import autograder.authoring.release as release
from autograder.__main__ import app
from autograder.authoring.declared import in_cells, incomplete, undeclared
from autograder.authoring.release import contradictions, take_away
from autograder.exercises.model import case, mistake, probe
from autograder.settings import ROOT

SHAPES = "autograder/exercises/shapes"
CELLS = nbformat.read(ROOT / "source" / "00_shapes" / "00_shapes.ipynb", as_version=4).cells


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of one notebook, with its exercises."""
    for folder in ("source/00_shapes", SHAPES):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def told(checkout: Path) -> list[str]:
    return undeclared(checkout, ("00_shapes",))


def test_of_what_is_complete_nothing_is_said(checkout: Path) -> None:
    assert told(checkout) == []
    assert undeclared() == []


def test_an_exercise_that_is_not_in_the_list_is_named(checkout: Path) -> None:
    (checkout / SHAPES / "row_sums.py").touch()
    assert told(checkout) == [
        f"{SHAPES}/row_sums.py is not in EXERCISES: put 'row_sums' there, in {SHAPES}/__init__.py, at its place in the notebook."
    ]


def test_an_exercise_of_the_list_without_a_file_is_named(checkout: Path) -> None:
    (checkout / SHAPES / "mix_rows.py").unlink()
    assert told(checkout) == [f"{SHAPES}/mix_rows.py is missing: EXERCISES in {SHAPES}/__init__.py names 'mix_rows'."]


def test_a_notebook_without_a_folder_of_exercises_is_named(checkout: Path) -> None:
    shutil.rmtree(checkout / SHAPES)
    assert told(checkout) == [
        f"{SHAPES}/__init__.py is missing: NOTEBOOKS names 00_shapes, and its exercises are declared there."
    ]


@pytest.mark.parametrize("as_far_as", ["the list", "the folder"])
def test_a_notebook_that_moved_in_the_list_alone_comes_with_the_commands_that_move_it(
    checkout: Path, as_far_as: str
) -> None:
    folder = "07_shapes" if as_far_as == "the list" else "00_shapes"
    (checkout / "source" / "00_shapes").rename(checkout / "source" / folder)
    (checkout / "source" / folder / "00_shapes.ipynb").rename(checkout / "source" / folder / "07_shapes.ipynb")
    first, *commands = told(checkout)
    assert first.startswith(
        "source/00_shapes/00_shapes.ipynb is missing: NOTEBOOKS in autograder/exercises/__init__.py names"
    )
    subprocess.run("git init -q && git add .", shell=True, cwd=checkout, check=True)
    subprocess.run("\n".join(commands), shell=True, cwd=checkout, check=True)
    assert told(checkout) == []


@pytest.mark.parametrize("command", [["release"], ["release", "--check"], ["try", "mix_rows"]])
def test_nothing_is_made_or_proved_of_what_is_incomplete(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("declared", "trying"):
        monkeypatch.setattr(f"autograder.authoring.{module}.undeclared", lambda: ["mix_rows.py is missing."])
    ran = CliRunner().invoke(app, command)
    assert ran.exit_code == 1
    assert ran.output == "mix_rows.py is missing.\n"


def test_cells_that_contradict_the_declaration_stop_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "_source", lambda _: [])
    monkeypatch.setattr(release, "in_cells", lambda notebook, cells: [f"{notebook}: its cells"])
    assert contradictions()[0] == "00_shapes: its cells"


# ------------------------------------------------------------------------------------------------ one file


def declared() -> ModuleType:
    module = ModuleType("autograder.exercises.shapes.row_sums")

    def row_sums(A: object) -> object:
        return A

    @probe(1.0)
    def sums(rng: object) -> list[object]:
        """every row"""
        return []

    @mistake
    def of_columns(A: object) -> object:
        """you added down the columns."""
        return A

    for value in (row_sums, sums, of_columns):
        value.__module__ = module.__name__
        setattr(module, value.__name__, value)
    module.PUBLIC = (case(1.0),)  # type: ignore[attr-defined]
    return module


def without_doc_of_probe(module: ModuleType) -> None:
    module.sums.__doc__ = None
    probe(1.0)(module.sums)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda module: delattr(module, "row_sums"), "there is no function row_sums"),
        (lambda module: delattr(module, "PUBLIC"), "there is no PUBLIC"),
        (lambda module: delattr(module, "sums"), "there is no @probe"),
        (without_doc_of_probe, "the probe sums has no docstring"),
        (lambda module: setattr(module.of_columns, "__doc__", None), "the mistake of_columns has no docstring"),
    ],
)
def test_what_a_file_lacks_is_said(change: Callable[[ModuleType], None], said: str) -> None:
    module = declared()
    assert list(incomplete(module, "00_shapes")) == []
    change(module)
    (line,) = incomplete(module, "00_shapes")
    assert line.startswith(said)


# ---------------------------------------------------------------------------------------------- the cells


def graded(cells: list[NotebookNode], grade_id: str) -> NotebookNode:
    (cell,) = (cell for cell in cells if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id)
    return cell


def exchanged(cells: list[NotebookNode]) -> None:
    graded(cells, "mix_rows").metadata.nbgrader.grade_id = "other"
    graded(cells, "pairwise_dots").metadata.nbgrader.grade_id = "mix_rows"
    graded(cells, "other").metadata.nbgrader.grade_id = "pairwise_dots"


def copied(cells: list[NotebookNode]) -> None:
    graded(cells, "mix_rows_solution").metadata.nbgrader.grade_id = "pairwise_dots_solution"


def left(cells: list[NotebookNode]) -> None:
    cells.append(copy.deepcopy(graded(cells, "mix_rows")))
    cells[-1].metadata.nbgrader.grade_id = "gone"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            exchanged,
            "EXERCISES has the order pairwise_dots, mix_rows, to_columns; the cells come in the order mix_rows,",
        ),
        (copied, "2 cells have the grade_id 'pairwise_dots_solution'; give each its own."),
        (left, "no exercise belongs to the test cell 'gone'"),
    ],
)
def test_graded_cells_that_are_not_those_of_the_exercises_are_told(
    change: Callable[[list[NotebookNode]], None], said: str
) -> None:
    cells = copy.deepcopy(CELLS)
    assert list(in_cells("00_shapes", cells)) == []
    change(cells)
    (line,) = in_cells("00_shapes", cells)
    assert line.startswith(f"00_shapes: {said}")


# ------------------------------------------------------------------------------------- what was made before


def test_what_nothing_gives_any_more_is_removed_and_what_others_released_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, folder in (("ROOT", "."), ("ANSWERS", "course/answers"), ("RELEASE", "release")):
        monkeypatch.setattr(release, name, tmp_path / folder)
    stay = ["course/answers/00_shapes/mix_rows.json", "course/answers/index.json", "release/99_own/99_own.ipynb"]
    stay += ["source/00_shapes/00_shapes.ipynb", "release/00_shapes/00_shapes.ipynb", "source/99_own/99_own.ipynb"]
    go = [
        "course/answers/00_shapes/gone.json",
        "course/answers/07_shapes/mix_rows.json",
        "release/07_shapes/07_shapes.ipynb",
    ]
    for name in (*stay, *go):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    *removed, moved = take_away()
    assert [line.partition(":")[0] for line in removed] == go
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*") if path.is_file()) == sorted(stay)
    assert not (tmp_path / "release" / "07_shapes").exists()
    assert moved.startswith("07_shapes is 00_shapes now: see whether texts mean it where they say 07: git grep")
    assert take_away() == []
