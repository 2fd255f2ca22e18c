"""Notebooks taken apart, and what is handed in beside them, so that tests do not run, or run on something else."""

from __future__ import annotations

import json
import os
from pathlib import Path

from attack import WRONG, Attack, Make, Succeeded, Verdicts, earned, ended_the_run, loot, more, says, ungraded
from forging import COLUMNS
from nbformat import NotebookNode
from nbformat.v4 import new_output

from tests.support.submissions import WRONG as WRONG_ANSWERS
from tests.support.submissions import answer_cell, grade_cell

FIRST_WRONG: Verdicts = ("wrong", "passed", "passed")


def taken_apart(name: str, tries: str, make: Make, succeeded: Succeeded) -> Attack:
    answers = {"pairwise_dots": WRONG_ANSWERS["pairwise_dots"]}
    return Attack(name, tries, "stock", succeeded, answers, make=make, ends=FIRST_WRONG)


def skipped_test(notebook: NotebookNode, path: Path, secret: Path) -> None:
    grade_cell(notebook, "pairwise_dots").metadata["tags"] = ["skip-execution"]


def stored_output(notebook: NotebookNode, path: Path, secret: Path) -> None:
    test = grade_cell(notebook, "pairwise_dots")
    test.outputs = [new_output("execute_result", {"text/plain": "2.0"}, execution_count=1)]
    test.metadata["tags"] = ["skip-execution"]


def left_out_test(notebook: NotebookNode, path: Path, secret: Path) -> None:
    notebook.cells.remove(grade_cell(notebook, "pairwise_dots"))


def twofold_test(notebook: NotebookNode, path: Path, secret: Path) -> None:
    test = grade_cell(notebook, "pairwise_dots")
    again = NotebookNode(json.loads(json.dumps(test)), id="again", source="2.0")
    again.metadata = NotebookNode(again.metadata)
    notebook.cells.insert(notebook.cells.index(test), again)


def no_longer_a_test(notebook: NotebookNode, path: Path, secret: Path) -> None:
    grade_cell(notebook, "pairwise_dots").metadata["nbgrader"].update(grade=False, solution=True, locked=False)


def pointed_answer(notebook: NotebookNode, path: Path, secret: Path) -> None:
    answer_cell(notebook, "pairwise_dots").metadata["nbgrader"].update(grade=True, points=200)


def answer_as_test(notebook: NotebookNode, path: Path, secret: Path) -> None:
    test, answer = grade_cell(notebook, "pairwise_dots"), answer_cell(notebook, "pairwise_dots")
    test.metadata["nbgrader"]["grade_id"] = "pairwise_dots_solution"
    answer.metadata["nbgrader"]["grade_id"] = "pairwise_dots"


def future_schema(notebook: NotebookNode, path: Path, secret: Path) -> None:
    grade_cell(notebook, "pairwise_dots").metadata["nbgrader"]["schema_version"] = 99


def beside(name: str, source: str) -> Make:
    """A file handed in beside the notebook."""

    def make(notebook: NotebookNode, path: Path, secret: Path) -> None:
        file = path.parent / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(source)

    return make


def linked(notebook: NotebookNode, path: Path, secret: Path) -> None:
    path.with_name("data.txt").symlink_to(secret)


def hard_linked(notebook: NotebookNode, path: Path, secret: Path) -> None:
    os.link(secret, path.with_name("data.txt"))


def pipe(notebook: NotebookNode, path: Path, secret: Path) -> None:
    os.mkfifo(path.with_name("data.txt"))


READS_DATA = "from pathlib import Path\nprint(Path('data.txt').read_text() if Path('data.txt').exists() else 'nothing')"
OWN_NUMPY = """import importlib.machinery, importlib.util, sys
found = importlib.machinery.PathFinder.find_spec("numpy", [place for place in sys.path if "packages" in place])
real = sys.modules["numpy"] = importlib.util.module_from_spec(found)
found.loader.exec_module(real)
real.allclose = lambda *arguments, **keywords: True"""
OWN_TORCH = "whose = 'my own torch'"
ASKS_TORCH = "import torch\nprint(getattr(torch, 'whose', 'the real one'))"
OWN_JAXTYPING = """import course
class Float:
    def __class_getitem__(cls, item): return cls
class Passed:
    def __repr__(self): return "to_columns: passed, 3 of 3 points"
course.judge = lambda function: Passed()"""


CELLS = [
    taken_apart("skipped-test", "A tag keeps the test from running.", skipped_test, more),
    taken_apart(
        "stored-output", "Full marks are stored as the test's output, and a tag keeps it.", stored_output, more
    ),
    taken_apart("left-out-test", "The test is not there.", left_out_test, ungraded),
    Attack(
        "twofold-test",
        "The test is there twice, first as the mark.",
        "stock",
        ended_the_run,
        {"pairwise_dots": WRONG_ANSWERS["pairwise_dots"]},
        make=twofold_test,
        ends=FIRST_WRONG,
        alone=True,
    ),
    taken_apart("no-longer-a-test", "The test's metadata call it an answer.", no_longer_a_test, ungraded),
    taken_apart("pointed-answer", "The answer claims points of its own.", pointed_answer, ungraded),
    Attack(
        "answer-as-test",
        "The answer's cell is named as its test.",
        "stock",
        ungraded,
        {"pairwise_dots": WRONG_ANSWERS["pairwise_dots"]},
        make=answer_as_test,
        ends=("did not run", "passed", "passed"),
    ),
    Attack(
        "future-schema",
        "The test's metadata come from the future.",
        "stock",
        ended_the_run,
        {"pairwise_dots": WRONG_ANSWERS["pairwise_dots"]},
        make=future_schema,
        ends=FIRST_WRONG,
        alone=True,
    ),
    taken_apart("pipe", "A named pipe is handed in, which nobody writes to.", pipe, ungraded),
    Attack(
        "own-numpy",
        "A file numpy.py is handed in.",
        "stock",
        earned,
        WRONG_ANSWERS,
        make=beside("numpy.py", OWN_NUMPY),
        ends=WRONG,
    ),
    Attack(
        "own-folder",
        "A folder is handed in that is named as a package.",
        "stock",
        earned,
        WRONG_ANSWERS | {"to_columns": COLUMNS},
        make=beside("jaxtyping/__init__.py", OWN_JAXTYPING),
        ends=WRONG,
    ),
    Attack(
        "own-torch",
        "A file torch.py is handed in.",
        "stock",
        says("my own torch"),
        first=ASKS_TORCH,
        make=beside("torch.py", OWN_TORCH),
    ),
    Attack("link", "A link to a secret is handed in.", "stock", loot, first=READS_DATA, make=linked),
    Attack("hard-link", "A hard link to a secret is handed in.", "stock", loot, first=READS_DATA, make=hard_linked),
]
