"""An assignment as any nbgrader course may have it, and a class that hands in what classes hand in."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.folder import Course
from tests.support.stock import cell

ASSIGNMENT = "homework"
FIRST, SECOND = "first", "second"
DUE = "2030-01-10 12:00:00 UTC"
ENDLESS = {"while True:\n    pass": 4, "while True": 12, "save()": 12}
"""What stands in cells that may never come to an end, and the seconds they have; what works all the time until then has fewer."""

KERNELSPEC = {"name": "python3", "display_name": "Python 3"}
VALUES = 6
TESTS = {
    "test_double": (2, "assert double(1) == 2\n### BEGIN HIDDEN TESTS\nassert double(3) == 6\n### END HIDDEN TESTS"),
    "test_parts": (3, "sum(double(k) == 2 * k for k in (1, 2, 3))"),
    **{f"value_{k}": (1, f"measure({k})") for k in range(VALUES)},
    "test_total": (1, "assert total() == 6"),
    "test_save": (1, "save()\nassert open('saved.txt').read() == 'done'"),
    "test_last": (1, "assert double(10) == 20"),
}
ANSWERS = {
    "double": "def double(x):\n    return 2 * x",
    "measure": "def measure(k):\n    return 1",
    "total": "def total():\n    with open('data.csv') as file:\n        return sum(int(part) for part in file.read().split(','))",
    "save": "def save():\n    with open('saved.txt', 'w') as file:\n        file.write('done')",
}
ALL = float(sum(points for points, _ in TESTS.values()))

Edit = Callable[[NotebookNode, Path], None]


@dataclass(frozen=True)
class Submission:
    """What a student hands in.

    Attributes:
        edit: given the right answers and the folder they will be in, makes the submission of them.
        earns: the points that stock nbgrader gives without a person, or None where it gives the submission up.
        ends_the_run: whether stock nbgrader stops there, and leaves the rest of the class ungraded.
    """

    edit: Edit
    earns: float | None = ALL
    ends_the_run: bool = False


def write_source(course: Course) -> None:
    """Two notebooks, a data file, and when they are due."""
    folder = course.root / "source" / ASSIGNMENT
    folder.mkdir(parents=True)
    (folder / "data.csv").write_text("1,2,3")
    for name, cells in ((FIRST, first()), (SECOND, second())):
        notebook = new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC})
        notebook.nbformat_minor = 4
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook))


def first() -> list[NotebookNode]:
    answers = [cell(new_code_cell(solved(source)), name, solution=True) for name, source in ANSWERS.items()]
    tests = [cell(new_code_cell(source), name, points) for name, (points, source) in TESTS.items()]
    by_hand = {"solution": True, "locked": False}
    return [
        cell(new_code_cell("import sys\nimport numpy as np"), "imports", locked=True),
        *answers,
        *tests[:-1],
        cell(new_code_cell("# look around"), "explore", 2, **by_hand),
        cell(new_markdown_cell("Why?"), "why", 3, **by_hand),
        cell(new_markdown_cell("Draw it."), "task", 2, grade=False, task=True),
        tests[-1],
    ]


def second() -> list[NotebookNode]:
    return [cell(new_code_cell("assert open('saved.txt').read() == 'done'"), "test_second", 5)]


def solved(source: str) -> str:
    head, body = source.split("\n", 1)
    return f"{head}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"


def hand_in(course: Course, student: str) -> None:
    """Put a student's submission where nbgrader expects it."""
    released = course.root / "release" / ASSIGNMENT
    folder = course.folder("submitted", student, ASSIGNMENT)
    folder.mkdir(parents=True)
    notebook = nbformat.read(str(released / f"{FIRST}.ipynb"), as_version=4)
    for name, source in ANSWERS.items():
        named(notebook, name).source = source
    path = folder / f"{FIRST}.ipynb"
    CLASS[student].edit(notebook, folder)
    if not list(folder.glob("*.ipynb")):
        path.write_text(json.dumps(notebook))


def named(notebook: NotebookNode, name: str) -> NotebookNode:
    return next(one for one in notebook.cells if one.metadata.get("nbgrader", {}).get("grade_id") == name)


def answering(**sources: str) -> Edit:
    """Other answers, by the names of their cells."""

    def edit(notebook: NotebookNode, folder: Path) -> None:
        for name, source in sources.items():
            named(notebook, name).source = source

    return edit


def beginning(*sources: str, **answers: str) -> Edit:
    """Cells of the student's own before the first answer, and other answers."""

    def edit(notebook: NotebookNode, folder: Path) -> None:
        answering(**answers)(notebook, folder)
        notebook.cells[1:1] = [new_code_cell(source) for source in sources]
        for one in notebook.cells[1 : 1 + len(sources)]:
            one.pop("id")

    return edit


def honest(notebook: NotebookNode, folder: Path) -> None:
    """Everything answered, in time."""
    answering(explore="print(double(21))", why="Because.", task="Drawn.")(notebook, folder)
    (folder / "timestamp.txt").write_text("2030-01-09 12:00:00 UTC")


def blank(notebook: NotebookNode, folder: Path) -> None:
    """Nothing answered, and outputs that pass for marks."""
    for name in ANSWERS:
        named(notebook, name).source = "raise NotImplementedError()"
    for name in TESTS:
        named(notebook, name).outputs = [new_output("execute_result", {"text/plain": "1"}, execution_count=1)]


def skips(notebook: NotebookNode, folder: Path) -> None:
    answering(double=WRONG)(notebook, folder)
    for name in ("test_double", "test_last"):
        named(notebook, name).metadata["tags"] = ["skip-execution"]


def without(*names: str) -> Edit:
    def edit(notebook: NotebookNode, folder: Path) -> None:
        for name in names:
            notebook.cells.remove(named(notebook, name))

    return edit


def twice(notebook: NotebookNode, folder: Path) -> None:
    notebook.cells.append(nbformat.from_dict(named(notebook, "test_double")))


def changes_tests(notebook: NotebookNode, folder: Path) -> None:
    answering(double=WRONG, test_double="assert True", test_last="pass")(notebook, folder)
    named(notebook, "test_parts").metadata.nbgrader["points"] = 30


def retypes(notebook: NotebookNode, folder: Path) -> None:
    place = notebook.cells.index(named(notebook, "test_double"))
    old = notebook.cells[place]
    notebook.cells[place] = new_markdown_cell(old.source, metadata=old.metadata)
    notebook.cells[place].pop("id")


def of_a_newer_format(notebook: NotebookNode, folder: Path) -> None:
    """The same, in a notebook whose cells have ids, with letters of many alphabets."""
    beginning("größe = '√𝔵 🦆'\nprint(größe)", double="def double(ñ):\n    return 2 * ñ")(notebook, folder)
    retypes(notebook, folder)
    notebook.nbformat_minor = 5
    for place, one in enumerate(notebook.cells):
        one["id"] = f"cell-{place}"


def of_another_kernel(notebook: NotebookNode, folder: Path) -> None:
    answering(measure=WHO_RUNS_IT)(notebook, folder)
    notebook.metadata["kernelspec"] = {"name": "julia-1.9", "display_name": "Julia 1.9", "language": "julia"}
    notebook.metadata["language_info"] = {"name": "julia"}


def late(notebook: NotebookNode, folder: Path) -> None:
    (folder / "timestamp.txt").write_text("2030-01-11 12:00:00 UTC")


def misnamed(notebook: NotebookNode, folder: Path) -> None:
    (folder / f"{FIRST} (1).ipynb").write_text(json.dumps(notebook))


def with_files(notebook: NotebookNode, folder: Path) -> None:
    """A module of one's own, data of one's own, files made, and a second notebook that reads what the first one wrote."""
    beginning(MAKES_FILES, double="from helper import twice as double")(notebook, folder)
    (folder / "helper.py").write_text("def twice(x):\n    return 2 * x\n")
    (folder / "random.py").write_text("raise ImportError('the standard library comes first')\n")
    (folder / "data.csv").write_text("7,7,7")
    for name, made in ((FIRST, notebook), (SECOND, new_notebook(cells=second(), metadata={"kernelspec": KERNELSPEC}))):
        made.nbformat_minor = 4
        (folder / f"{name}.ipynb").write_text(json.dumps(made))


WRONG = "def double(x):\n    return x"
MAKES_FILES = """import os
import random
os.makedirs("made/deep")
for name in ("made/deep/note.txt", "gone.txt"):
    with open(name, "w") as file:
        file.write("kept?")
os.remove("gone.txt")"""
WHO_RUNS_IT = """import os
def measure(k):
    return float(os.environ["NBGRADER_EXECUTION"] == "autograde")"""
STUBBORN = """import time
while True:
    try:
        time.sleep(0.1)
    except KeyboardInterrupt:
        pass"""
FAILS_IN_MANY_WAYS = """def double(x):
    if x == 1:
        return int(input())
    raise KeyboardInterrupt
def measure(k):
    return measure(k + 1)
class Unprintable(Exception):
    def __str__(self):
        raise ValueError
    __repr__ = __str__
def total():
    raise Unprintable"""
WARNS = """import warnings
def double(x):
    warnings.warn("mind the gap")
    return 2 * x"""
COMPLAINS = """def measure(k):
    print("mind the gap", file=sys.stdout if k % 2 else sys.stderr)
    return 1"""
OBJECTS = """class Half:
    def _repr_html_(self):
        return "<b>1</b>"
    def __repr__(self):
        return "0.5"
class Bundle:
    def _repr_mimebundle_(self, **_):
        return {"text/html": "<b>0</b>"}
class Silent:
    def _ipython_display_(self):
        print("0")
def measure(k):
    return [Half(), Bundle(), Silent(), [0], "0", {0}][k]"""
CLEARS = """from IPython.display import clear_output
def double(x):
    print("mind the gap", file=sys.stderr)
    clear_output()
    return 2 * x
def measure(k):
    print("mind the gap", file=sys.stderr)
    clear_output(wait=True)
    return 0.5"""
UPDATES = """from IPython.display import display
shown = display("0", display_id=True)
def double(x):
    shown.update("mind the gap")
    display("another", display_id=shown.display_id)
    return 2 * x"""
WIDGET = """import ipywidgets
slider = ipywidgets.IntSlider(value=2)
def double(x):
    slider.value = 2
    return slider.value * x
slider"""
AWAITS = """import asyncio
async def later(x):
    await asyncio.sleep(0.01)
    return 2 * x
doubled = {x: await later(x) for x in (1, 2, 3, 10)}
async def numbers():
    for x in doubled:
        yield x
found = [x async for x in numbers()]
def double(x):
    return doubled[x] if len(found) == 4 else 0"""
THREADS = """import threading
def double(x):
    found = []
    thread = threading.Thread(target=lambda: (print("in a thread"), found.append(two * x)))
    thread.start()
    thread.join()
    return found[0]"""
PATCHED = """import IPython.core.interactiveshell
IPython.core.interactiveshell.InteractiveShell.showtraceback = lambda *_, **__: None"""
MAGICS = """%%time
%env COLOUR=red
numbers = !echo 1; echo 2
def double(x):
    get_ipython().run_line_magic("timeit", "-n1 -r1 pass")
    return int(numbers[1]) * x"""
BASH = "%%bash\necho done > from_bash.txt"
PLOTS = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])"
CHATTY = "def double(x):\n    print('x\\n' * 5000)\n    return 2 * x"

CLASS: dict[str, Submission] = {
    "honest": Submission(honest),
    "blank": Submission(blank, 0),
    "partly": Submission(answering(double="def double(x):\n    return 2 * min(x, 2)"), 10),
    "misspelt": Submission(answering(double="def double(x):\n    return 2 *"), 8),
    "numbers": Submission(answering(measure="def measure(k):\n    return [0, 0.25, 1, 1e-1, 0.5, 0.15][k]"), 10),
    "odd-numbers": Submission(
        answering(
            measure="def measure(k):\n    return [np.float64(0.5), float('nan'), -1, None, np.int64(0), False][k]"
        )
    ),
    "objects": Submission(answering(measure=OBJECTS), 13.5),
    "too-much": Submission(answering(measure="def measure(k):\n    return 2"), None),
    "warns": Submission(answering(double=WARNS), 8),
    "complains": Submission(answering(measure=COMPLAINS), 11),
    "prints-a-lot": Submission(answering(double=CHATTY)),
    "loops": Submission(beginning("while True:\n    pass", save="def save():\n    while True:\n        pass"), 13),
    "ignores-interrupts": Submission(beginning(STUBBORN), None),
    "exits": Submission(beginning("sys.exit()", double="def double(x):\n    sys.exit(1)"), 8),
    "kills-the-kernel": Submission(answering(total="import os\ndef total():\n    os._exit(0)"), None),
    "fails-in-many-ways": Submission(beginning(FAILS_IN_MANY_WAYS, double="", measure="", total=""), 1),
    "hides-errors": Submission(beginning(PATCHED, double=WRONG), 8),
    "skips": Submission(skips, 11),
    "without-some-cells": Submission(without("double", "test_parts", "task"), 8),
    "twice": Submission(twice, None, ends_the_run=True),
    "changes-tests": Submission(changes_tests, 8),
    "retypes": Submission(retypes, None),
    "of-a-newer-format": Submission(of_a_newer_format),
    "of-another-kernel": Submission(of_another_kernel),
    "magics": Submission(beginning(BASH, "!echo done >> from_bash.txt", double=MAGICS)),
    "history-and-threads": Submission(beginning("2", "two = _", double=THREADS)),
    "plots": Submission(beginning(PLOTS)),
    "awaits": Submission(answering(double=AWAITS)),
    "updates": Submission(answering(double=UPDATES)),
    "clears": Submission(answering(double=CLEARS, measure=""), 11),
    "widgets": Submission(answering(double=WIDGET)),
    "late": Submission(late),
    "misnamed": Submission(misnamed, None),
    "with-files": Submission(with_files, ALL + 5),
}
