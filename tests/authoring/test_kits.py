"""What a student gets up to a notebook: it starts, it checks, and it answers nothing that is still to be answered."""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any
from zipfile import ZipFile

import matplotlib.pyplot
import nbformat
import pytest
import yaml

from autograder.authoring.kit import FOLDER, library, make_kit, start_text
from autograder.authoring.mutants import as_student
from autograder.exercises import NOTEBOOKS, every_exercise, exercises_in
from autograder.exercises.model import Exercise
from autograder.settings import ROOT
from course import answers
from course.kit.copies import MADE_FROM
from course.trial import ranks, rules
from course.trial.comparing import difference
from course.trial.values import Opaque
from course.trial.views import seen

MACHINERY = (
    "course.__main__",
    "course.kit",
    "course.checking",
    "course.client",
    "course.mine",
    "course.races",
    "course.ranks",
    "course.recording",
    "course.trial.ranks",
)
"""What opens windows, writes files, asks questions and takes times: nothing of it computes anything, and none of it is called to see."""


def unpacked(last: str, folder: Path) -> Path:
    with ZipFile(make_kit(last, folder)) as archive:
        archive.extractall(folder)
    return folder / FOLDER


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kit up to notebook 03, unpacked, and its wheel unpacked in "site"."""
    folder = unpacked("03_causal_mask", tmp_path_factory.mktemp("kit"))
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel) as opened:
        opened.extractall(folder / "site")
    return folder


# ------------------------------------------------------------------------------------------------- nothing ahead of time


def functions_in(path: Path) -> Iterator[FunctionType]:
    """Every function that stands in a file of a kit: a module of the course, or a released notebook."""
    if path.suffix == ".py":
        module = importlib.import_module(
            ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        )
        for value in [*vars(module).values()]:
            inner = inspect.unwrap(value) if callable(value) and not inspect.isclass(value) else value
            if isinstance(inner, FunctionType) and inner.__module__ == module.__name__:
                yield inner
        return
    scope: dict[str, Any] = {"__name__": path.stem}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            for statement in ast.parse(cell.source).body:
                if isinstance(statement, (ast.Import, ast.ImportFrom, ast.FunctionDef)):
                    exec(ast.unparse(statement), scope)
    yield from (
        value for value in [*scope.values()] if isinstance(value, FunctionType) and value.__module__ == path.stem
    )


def takes(function: FunctionType, exercise: Exercise) -> bool:
    """Whether a function could be called as an exercise's is."""
    try:
        inspect.signature(function).bind(*exercise.signature.parameters)
    except TypeError:
        return False
    return True


LONG = 0.75
"""Seconds of processor time; no answer takes as long for the public cases of every exercise that it could be one of."""
WAITING = 3.0
"""Seconds; what waits for something spends no processor time."""


class TooLong(Exception):
    """A function was called that has better things to do than to answer."""


def stop(*_: object) -> None:
    raise TooLong


class NoAnswer(Exception):
    """A function returned what is no answer to anything, such as a picture."""


def gives_the_answers(function: FunctionType, exercise: Exercise) -> bool:
    """Whether a function gives what is asked for in every public case; it is asked no more after the first where it does not.

    Raises:
        NoAnswer: there is no need to try it as another exercise.
    """
    stored = answers.find(exercise.name)
    assert stored is not None
    copy = as_student(exercise, function)
    for case, expected in zip(stored.cases, stored.expected, strict=True):
        observed = case.run(copy)
        if isinstance(observed.result, Opaque):
            raise NoAnswer
        if difference(expected, seen(stored.view, observed)):
            return False
    return True


def answered(function: FunctionType, exercises: list[Exercise]) -> list[Exercise]:
    """The exercises whose check a function passes, if it is given their names."""
    found = []
    with contextlib.suppress(NoAnswer, TooLong), contextlib.redirect_stdout(io.StringIO()), limited():
        for exercise in exercises:
            if takes(function, exercise):
                with contextlib.suppress(SystemExit):
                    if gives_the_answers(function, exercise):
                        found.append(exercise)
    return found


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Interrupt what works or waits for long, and again where it goes on."""
    limits = {signal.ITIMER_PROF: (signal.SIGPROF, LONG, 0.25), signal.ITIMER_REAL: (signal.SIGALRM, WAITING, 1.0)}
    before = {number: signal.signal(number, stop) for number, _, _ in limits.values()}
    try:
        for timer, (_, first, again) in limits.items():
            signal.setitimer(timer, first, again)
        yield
    finally:
        for timer in limits:
            signal.setitimer(timer, 0.0)
        for number, handler in before.items():
            signal.signal(number, handler)


def released(notebook: str) -> Path:
    return ROOT / "release" / notebook / f"{notebook}.ipynb"


def test_what_answers_an_exercise_is_found_where_it_stands() -> None:
    (carried,) = [f for f in functions_in(released("03_causal_mask")) if f.__name__ == "softmax"]
    assert [exercise.name for exercise in answered(carried, list(exercises_in("02_matrices")))] == ["softmax"]


def search() -> None:
    """Print, for each file that a kit may hold, the functions in it that answer an exercise, with its name and its notebook."""
    rules.RULES = [*rules.RULES]  # the mark that adds to them is called too
    exercises = list(every_exercise())
    found = {}
    for place in [*library(NOTEBOOKS), *(str(released(n).relative_to(ROOT)) for n in NOTEBOOKS)]:
        module = place.removesuffix(".py").replace("/", ".")
        if place.endswith((".py", ".ipynb")) and not module.startswith(MACHINERY):
            with ranks.simulated(), warnings.catch_warnings(action="ignore"):
                functions = functions_in(ROOT / place)
                found[place] = [(f.__name__, e.name, e.notebook) for f in functions for e in answered(f, exercises)]
            matplotlib.pyplot.close("all")
    print(json.dumps(found))


@pytest.mark.thorough
def test_no_kit_holds_what_answers_an_exercise_of_its_last_notebook_or_a_later_one() -> None:
    """In a process of its own: what is called is interrupted, whatever it is doing, and may have imported half of something."""
    code = "from tests.authoring.test_kits import search; search()"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    assert any(found.values()), "nothing was found, not even what later notebooks carry over"
    for i, last in enumerate(NOTEBOOKS):
        held = [*library(NOTEBOOKS[: i + 1]), *(str(released(n).relative_to(ROOT)) for n in NOTEBOOKS[: i + 1])]
        ahead = [(p, function, name) for p in held for function, name, notebook in found.get(p, []) if notebook >= last]
        assert ahead == []


def test_a_kit_holds_what_its_notebooks_need_and_no_more() -> None:
    third, all_ = set(library(NOTEBOOKS[:4])), set(library(NOTEBOOKS))
    assert {"course/figures/causal.py", "course/answers/03_causal_mask/causal_keep.json"} <= third
    assert not {path for path in third if "racers" in path or "modules" in path or "04_heads" in path}
    assert [("course/trial/claims.py" in library(NOTEBOOKS[:i])) for i in (1, 2, 3)] == [False, False, True]
    python = {path.relative_to(ROOT).as_posix() for path in (ROOT / "course").rglob("*.py")}
    assert all_ >= python


# --------------------------------------------------------------------------------------------------------- it works


@pytest.mark.parametrize("last", ["00_shapes", "05_block", "08_clocks"])
def test_every_check_of_a_kit_works_with_what_is_in_it(last: str, tmp_path: Path) -> None:
    folder = unpacked(last, tmp_path)
    (wheel,) = folder.glob("*.whl")
    script = "import json, sys\nsys.path.insert(0, sys.argv[1])\nimport course\nfrom course import answers\nfrom course.checking import examine\n"
    script += "scope = {}\nfor code in json.load(sys.stdin):\n    exec(code, scope)\n"
    script += "names = [n for b in answers.notebooks() for n in answers.names(b)]\n"
    script += "assert course.__file__.startswith(sys.argv[1])\n"
    script += "print(json.dumps([[n, str(examine(scope[n]).state)] for n in names]))\n"
    cells = []
    for notebook in NOTEBOOKS[: NOTEBOOKS.index(last) + 1]:
        for cell in nbformat.read(ROOT / "source" / notebook / f"{notebook}.ipynb", as_version=4).cells:
            if cell.cell_type == "code" and (cell.id == "setup" or cell.metadata.get("nbgrader", {}).get("solution")):
                cells.append(cell.source)
    run = subprocess.run(
        [sys.executable, "-c", script, str(wheel)],
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stderr
    states = json.loads(run.stdout.splitlines()[-1])
    assert len(states) == sum(len(exercises_in(n)) for n in NOTEBOOKS[: NOTEBOOKS.index(last) + 1])
    assert {state for _, state in states} == {"correct"}


ELSEWHERE = """
import builtins, os, socket, subprocess, sys, tempfile, threading
for name in ("fcntl", "grp", "pwd", "resource", "termios", "torch", "multiprocessing", "nbgrader", "jupyterlab"):
    sys.modules[name] = None
def refused(*_, **__):
    raise OSError("not here")
for place, name in ((subprocess.Popen, "__init__"), (threading.Thread, "start"), (tempfile, "mkdtemp"), (tempfile, "mkstemp")):
    setattr(place, name, refused)
socket.socket = type("socket", (socket.socket,), {"__init__": refused})
for name in ("fork", "kill", "killpg", "setsid", "getuid", "geteuid", "sched_getaffinity"):
    if hasattr(os, name):
        delattr(os, name)
opened = builtins.open
builtins.open = lambda file, *rest, **kinds: refused() if str(file).startswith("/tmp/") and "w" in str(rest) else opened(file, *rest, **kinds)
"""


def test_notebooks_00_to_05_do_without_what_only_one_system_has(tmp_path: Path) -> None:
    """Without processes, sockets, threads, temporary files and PyTorch, as in a browser's own Python."""
    script = (
        ELSEWHERE
        + "import json\nfrom course import answers, hand_in, progress\nfrom course.checking import examine\nimport course.figures.shapes, course.figures.causal\n"
    )
    script += "scope = {}\nfor code in json.load(sys.stdin):\n    exec(code, scope)\n"
    script += "names = [n for b in answers.notebooks() if b < '06' for n in answers.names(b)]\n"
    script += "print(sorted({str(examine(scope[n]).state) for n in names}), examine(lambda x: x))\n"
    cells = []
    for notebook in NOTEBOOKS[:6]:
        for cell in nbformat.read(ROOT / "source" / notebook / f"{notebook}.ipynb", as_version=4).cells:
            if cell.cell_type == "code" and (cell.id == "setup" or cell.metadata.get("nbgrader", {}).get("solution")):
                cells.append(cell.source)
    run = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(cells), capture_output=True, text=True, cwd=ROOT
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("['correct']")


def test_how_to_begin_tells_of_pytorch_only_where_a_notebook_needs_it(kit: Path) -> None:
    assert "PyTorch" not in (kit / "START.md").read_text(encoding="utf-8")
    assert "PyTorch" in start_text("06_batching")


def test_a_kit_is_small_and_exact(kit: Path) -> None:
    assert sum(path.stat().st_size for path in kit.glob("*.whl")) < 3_000_000
    assert all("==" in line for line in (kit / "requirements.txt").read_text().split())
    assert "torch" not in (kit / "requirements.txt").read_text()
    assert {path.name for path in kit.iterdir()} - {"site"} >= {
        "START.md",
        "start.py",
        "kit.json",
        "notebooks",
        "constraints.txt",
    }
    assert {path.name for path in (kit / "notebooks").iterdir()} == {
        *NOTEBOOKS[:4],
        "index.ipynb",
        "reference.ipynb",
        "shapes.ipynb",
    }
    says = json.loads((kit / "kit.json").read_text())
    assert says["version"] in (kit / "site" / "course" / "__init__.py").read_text()


def test_who_has_conda_gets_what_start_installs(kit: Path) -> None:
    environment = yaml.safe_load((kit / "environment.yml").read_text())
    python, pip, by_pip = environment["dependencies"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (python, pip) == (f"python{project['requires-python']}", "pip")
    *options, wheel = by_pip["pip"]
    assert options == ["--constraint constraints.txt", "--requirement requirements.txt"]
    assert (kit / wheel).is_file()
    assert (kit / "constraints.txt").read_text() == (ROOT / "constraints.txt").read_text()


def test_start_refuses_an_old_python_in_a_sentence(kit: Path) -> None:
    script = f"import sys, runpy\nsys.version_info = (3, 9, 1)\nsys.version = '3.9.1 (old)'\nrunpy.run_path({str(kit / 'start.py')!r}, run_name='__main__')"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (run.returncode, run.stderr.strip()) == (
        1,
        "This is Python 3.9.1. The course needs Python 3.11 or later: install one, and start with that.",
    )


@pytest.mark.thorough
def test_from_a_zip_to_a_first_check_and_to_a_newer_kit(tmp_path: Path) -> None:
    """On a machine with nothing but Python: start.py, a wrong and a right answer; then the next kit, which keeps both.

    Both kits are unpacked in the home folder, one over the other, and are thrown away in the end: what is the student's lies elsewhere.
    """
    home = tmp_path / "home"
    first = unpacked("00_shapes", home)
    older = shutil.copytree(first, tmp_path / "older")
    pips = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    plain = {"HOME": str(home), "PATH": os.defpath, **pips, "PIP_NO_COMPILE": "1"}  # little of what is installed is run

    def start(kit: Path) -> str:
        python = getattr(sys, "_base_executable", sys.executable)
        run = subprocess.run([python, "start.py", "--no-lab"], cwd=kit, env=plain, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout

    began = start(first)
    assert "00_shapes: new." in began
    assert "Installing" in began
    work = home / "attention-in-matrices"
    notebook = work / "00_shapes" / "00_shapes.ipynb"
    written = notebook.read_text().replace("raise NotImplementedError()", "return X @ Y.T", 1)
    notebook.write_text(written)
    script = "from course import check\ndef pairwise_dots(X, Y):\n    return {}\nprint(check(pairwise_dots))\n"
    python = work / ".venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

    def checked(answer: str) -> str:
        run = subprocess.run([python, "-c", script.format(answer)], cwd=work, capture_output=True, text=True)
        return run.stdout + run.stderr

    assert "your table is turned" in checked("Y @ X.T")
    assert checked("X @ Y.T").startswith("pairwise_dots: correct")
    again = start(first)
    assert "Installing" not in again
    second = unpacked("01_token_loops", home)
    says = json.loads((second / "kit.json").read_text())  # both may have been made in one second
    (second / "kit.json").write_text(json.dumps({**says, "made": says["made"].replace("20", "30", 1)}))
    said = start(second)
    assert "01_token_loops: new." in said
    assert "Bringing what is installed up to the newer kit" in said
    assert "120 MB" not in said
    foot = "next: [01 · One token at a time](../01_token_loops/01_token_loops.ipynb)"
    written = written.replace("next: notebook 01, which a newer kit brings", foot)
    assert foot in written
    made_from = re.compile(rf'"{MADE_FROM}": "\w+"')
    assert made_from.sub("", notebook.read_text()) == made_from.sub("", written)
    assert "A newer kit was here before" in start(older)
    shutil.rmtree(second)
    assert made_from.sub("", notebook.read_text()) == made_from.sub("", written)
    assert checked("X @ Y.T").startswith("pairwise_dots: correct")
