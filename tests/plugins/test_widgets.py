"""Widgets: their outputs, what they take of others' outputs, and their state, as from a real kernel."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.folder import Course
from tests.support.stock import PLUGGED, Grade, cell, grades, stock_course, write

NAME = "widgets"
STATE = "application/vnd.jupyter.widget-state+json"
CELLS = (
    "import sys\nimport comm\nimport ipywidgets\nfrom IPython.display import display\nslider = ipywidgets.IntSlider(value=2)\nslider",
    "slider.value = 5",
    "out = ipywidgets.Output()\nwith out:\n    print('taken')\nprint('shown')\nout",
    "@ipywidgets.interact(x=(0, 10))\ndef double(x=3):\n    print(2 * x)",
    "with out:\n    display(3)\n    1 / 0\nprint('after')",
    "len(out.outputs), out.outputs[-1]['output_type']",
    "out.clear_output()",
    "out.outputs",
    "ipywidgets.Image(value=b'\\x89PNG', format='png')",
    "bar = ipywidgets.IntProgress(max=3000)\ndisplay(bar)\nfor k in range(3001):\n    bar.value = k",
    "own = comm.create_comm(target_name='mine', data={'a': 1})\nown.send({'b': 2})",
    "@out.capture(clear_output=True)\ndef twice():\n    print('again')\ntwice()\ntwice()",
)
TESTS = {
    "moved": "assert slider.value == 5",
    "taken": "assert [one['text'] for one in out.outputs] == ['again\\n']",
    "complains_elsewhere": "with out:\n    print('of no concern', file=sys.stderr)",
    "shows": "display(0.5)",
}


def graded(course: Course) -> Course:
    cells = [new_code_cell(source) for source in CELLS]
    cells += [cell(new_code_cell(source), name, 1) for name, source in TESTS.items()]
    write(course.root / "source" / NAME / "problem.ipynb", cells)
    course.generate_assignment(NAME)
    handed_in = course.folder("submitted", "ada", NAME)
    handed_in.mkdir(parents=True)
    (handed_in / "problem.ipynb").write_bytes((course.root / "release" / NAME / "problem.ipynb").read_bytes())
    course.autograde(NAME, "ada")
    return course


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return graded(stock_course(tmp_path_factory.mktemp("ours"), PLUGGED))


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return graded(stock_course(tmp_path_factory.mktemp("stock"), "c.Execute.iopub_timeout = 60\n"))


def stored(course: Course) -> dict[str, Grade]:
    return grades(course.database, NAME, "problem", "ada")


def notebook(course: Course) -> NotebookNode:
    return nbformat.read(str(Path(course.folder("autograded", "ada", NAME)) / "problem.ipynb"), as_version=4)


def named_in_order(tree: Any) -> str:
    """JSON in which widgets, whose ids are drawn at random, are called by the order in which they come."""
    names: dict[str, str] = {}
    text = json.dumps(tree, sort_keys=True, indent=1)
    return re.sub(r"\b[0-9a-f]{32}\b", lambda found: names.setdefault(found[0], f"widget {len(names)}"), text)


def test_the_grades_are_those_of_stock(ours: Course, stock: Course) -> None:
    assert stored(ours) == stored(stock)
    assert {name: grade.score for name, grade in stored(ours).items()} == dict.fromkeys(TESTS, 1.0)


def test_the_outputs_are_those_of_stock(ours: Course, stock: Course) -> None:
    for mine, theirs in zip(notebook(ours).cells, notebook(stock).cells, strict=True):
        assert named_in_order(mine.get("outputs")) == named_in_order(theirs.get("outputs"))


def test_the_state_of_every_widget_is_kept(ours: Course, stock: Course) -> None:
    models = [
        sorted(re.sub(r"[0-9a-f]{32}", "", json.dumps(model, sort_keys=True)) for model in found.values())
        for found in (notebook(course).metadata.widgets[STATE].state for course in (ours, stock))
    ]
    assert models[0] == models[1]
    assert any('"value": 3000' in model for model in models[0])


def test_no_kernel_is_started(ours: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise AssertionError("a kernel")

    monkeypatch.setattr("jupyter_client.manager.AsyncKernelManager.start_kernel", fails)
    ours.autograde(NAME, "ada", force=True)
