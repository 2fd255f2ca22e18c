"""The walls between the rooms: who may import whom."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NBGRADER = {"nbgrader", "nbformat", "nbconvert", "nbclient", "jupyter_client", "traitlets"}

# room: what it may import, of this repository and of Jupyter's grading machinery
MAY: dict[str, set[str]] = {
    "course": {"course"},
    "autograder/exercises": {"course", "autograder.exercises"},
    "autograder/judging": {"course", "autograder.exercises", "autograder.judging"},
    "autograder/engine": {"autograder.engine", *NBGRADER},
}
# the one exception: an instructor's machine judges in the same process
HIDING = "autograder/engine/inside/imports.py"  # stands between a notebook and its imports
LOADERS = {"autograder/exercises/__init__.py", "autograder/engine/inside/zygote.py"}
LAZY = {("course/client.py", "autograder.judging.local_judge")}


def modules(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def imports(path: Path, top_level_only: bool = False) -> set[str]:
    """Every module or name that a file imports, in full: `from a import b` is "a.b"."""
    tree = ast.parse(path.read_text())
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    found: set[str] = set()
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            start = ".".join([*base, *([node.module] if node.module else [])])
            found |= {f"{start}.{alias.name}" for alias in node.names}
    return found


def within(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


@pytest.mark.parametrize("room", MAY)
def test_a_room_imports_of_this_repository_and_of_nbgrader_only_what_it_may(room: str) -> None:
    walled = {"course", "autograder", "tests", *NBGRADER}
    for path in modules(room):
        here = path.relative_to(ROOT).as_posix()
        outside = {name for name in imports(path) if within(name, walled) and not within(name, MAY[room])}
        assert {(here, name) for name in outside} <= LAZY


def test_the_rooms_are_there() -> None:
    assert all(modules(room) for room in ("course", "autograder/exercises", "autograder/judging", "autograder/plugins"))


def test_the_one_exception_is_lazy_and_still_needed() -> None:
    for file, name in LAZY:
        assert name in imports(ROOT / file)
        assert name not in imports(ROOT / file, top_level_only=True)


@pytest.mark.parametrize("room", MAY)
def test_nothing_is_imported_by_a_name_made_at_run_time(room: str) -> None:
    for path in modules(room):
        names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        runs_notebooks = {"exec"} if path == ROOT / "course" / "mine.py" else set()
        assert not names & {"__import__", "exec", "eval"} - runs_notebooks, path
        here = path.relative_to(ROOT).as_posix()
        by_notebook = {"importlib.import_module"} if here in LOADERS else set()
        machinery = {"importlib.abc", "importlib.machinery", "importlib.util.resolve_name"} if here == HIDING else set()
        allowed = {"importlib.resources.files"} | by_notebook | machinery
        assert not {name for name in imports(path) if within(name, {"importlib"}) and not within(name, allowed)}, path


def test_the_students_library_needs_nothing_but_what_its_wheel_declares() -> None:
    declared = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"])
    imported = {name.split(".")[0] for path in modules("course") for name in imports(path)}
    third_party = imported - sys.stdlib_module_names - {"course", "autograder"}
    assert {name.lower() for name in third_party} <= declared


def test_the_students_library_imports_torch_and_matplotlib_only_where_they_are_used() -> None:
    code = "import sys, course, course.harnesses; print(*sorted({'torch', 'matplotlib'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == []


JUDGE_ONE = """
import sys
from autograder.exercises import exercise_named
from autograder.judging import judge_here
from course.client import answer
exercise = exercise_named({notebook!r}, {name!r})
print(judge_here(exercise.variants[0], exercise, answer, 1).outcome)
print(*sorted({{"torch", "matplotlib", "IPython", "nbgrader"}} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("notebook", "name", "loaded"),
    [("03_causal_mask", "influence", ""), ("05_block", "block", ""), ("06_batching", "combine_keep", "torch")],
)
def test_judging_loads_what_the_exercise_needs_and_no_more(notebook: str, name: str, loaded: str) -> None:
    code = JUDGE_ONE.format(notebook=notebook, name=name)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == ["passed", loaded]


def test_an_exercise_imports_no_exercise_of_another_notebook() -> None:
    room = "autograder.exercises"
    shared = {f"{room}.{name}" for name in ("model", "inputs", "parts")}
    files = [path for path in modules("autograder/exercises") if path.parent.name != "exercises"]
    assert files
    for path in files:
        found = {name for name in imports(path) if within(name, {room})}
        assert {name for name in found if not within(name, {*shared, f"{room}.{path.parent.name}"})} == set(), path


def test_only_the_plugins_tie_the_engine_and_the_judge_together() -> None:
    for path in modules("autograder"):
        if "plugins" not in path.parts:
            found = imports(path)
            engine, judging = (
                any(within(name, {f"autograder.{room}"}) for name in found) for room in ("engine", "judging")
            )
            assert not (engine and judging), path


def test_what_nbgrader_loads_is_in_the_plugins() -> None:
    texts = [(ROOT / name).read_text() for name in ("nbgrader_config.py", "autograder/plugins/config.py")]
    ours = {
        node.value
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("autograder.")
    }
    assert ours
    assert all(name.startswith("autograder.plugins.") for name in ours)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("import autograder", {"autograder"}),
        ("import autograder.judging as j", {"autograder.judging"}),
        ("from autograder import judging, exercises", {"autograder.judging", "autograder.exercises"}),
        ("def f():\n    if True:\n        from autograder.judging import examine", {"autograder.judging.examine"}),
        ("from . import values", {"course.trial.values"}),
        ("from ..autograder import judging", {"autograder.judging"}),
    ],
)
def test_imports_are_found_in_every_form(
    line: str, found: set[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "some.py").write_text(line)
    assert imports(tmp_path / "course" / "some.py") == found
