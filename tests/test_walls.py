"""The walls between the rooms, as far as the contracts in pyproject.toml (`make lint`) cannot say them."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from autograder.dependencies import imported
from autograder.settings import ROOT
from tests.support.checkout import imports, within

ROOMS = ("course", "autograder/exercises", "autograder/judging", "autograder/engine")

# room: what it needs of other people's libraries; matplotlib brings PIL, in which it writes pictures, jupyterlab zmq,
# and ipython what it shows errors with
LIBRARIES = {
    "course": {*tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"], "torch", "pil"},
    "course/kit": {"jupyter_core", "jupyterlab", "zmq"},
    "autograder/engine": {"comm", "ipykernel", "ipython", "jupyter_client", "pygments", "stack_data", "traitlets"},
}
KIT = ROOT / "course" / "kit"  # asks what is installed, and starts what a student sees the rest in
HIDING = "autograder/engine/inside/imports.py"  # stands between a notebook and its imports
LOADERS = {"autograder/exercises/__init__.py", "autograder/engine/inside/zygote.py"}
# the one import of `autograder` in `course`: an instructor's machine judges in the same process
LAZY = ("course/client.py", "autograder.judging.local_judge")


def modules(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def test_the_rooms_are_there() -> None:
    assert all(modules(room) for room in ROOMS)


def test_the_one_exception_is_lazy_and_still_needed() -> None:
    file, name = LAZY
    assert name in imports(ROOT / file)
    at_the_top = [node for node in ast.parse((ROOT / file).read_text()).body if not isinstance(node, ast.FunctionDef)]
    assert name not in imported(ast.unparse(ast.Module(at_the_top, [])).encode(), ("course",))


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_is_imported_by_a_name_made_at_run_time(room: str) -> None:
    for path in modules(room):
        names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        runs_notebooks = {"exec"} if path == ROOT / "course" / "mine.py" else set()
        assert not names & {"__import__", "exec", "eval"} - runs_notebooks, path
        here = path.relative_to(ROOT).as_posix()
        by_notebook = {"importlib.import_module"} if here in LOADERS else set()
        machinery = {"importlib.abc", "importlib.machinery", "importlib.util.resolve_name"} if here == HIDING else set()
        asks = {"importlib.util.find_spec"} if path.is_relative_to(KIT) else set()
        allowed = {"importlib.resources.files"} | by_notebook | machinery | asks
        assert not {name for name in imports(path) if within(name, {"importlib"}) and not within(name, allowed)}, path


@pytest.mark.parametrize("room", LIBRARIES)
def test_a_room_needs_no_library_but_its_own(room: str) -> None:
    own = [path for path in modules(room) if path.is_relative_to(KIT) == (ROOT / room == KIT)]
    roots = {name.split(".")[0] for path in own for name in imports(path)}
    third_party = roots - sys.stdlib_module_names - {"course", "autograder"}
    assert {name.lower() for name in third_party} <= LIBRARIES[room]


def test_the_students_library_imports_torch_and_matplotlib_only_where_they_are_used() -> None:
    code = "import sys, course, course.trial.harnesses; print(*sorted({'torch', 'matplotlib'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == []


JUDGE_ONE = """
import sys
from autograder.exercises import exercise_named
from autograder.judging import Paper, judge_here
from course.client import answer
exercise = exercise_named({notebook!r}, {name!r})
print(judge_here(exercise.variants[0], Paper(exercise, 1), answer).outcome)
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


def test_what_nbgrader_loads_is_in_the_plugins() -> None:
    texts = [(ROOT / name).read_text() for name in ("nbgrader_config.py", "autograder/plugins/config.py")]
    ours = {
        node.value
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("autograder.")
    }
    assert ours
    assert all(name.startswith(("autograder.plugins.", "autograder.this_course.")) for name in ours)
