"""What formgrader's pages show beside what a student handed in, of any course, and what nobody else is shown."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.folder import Course
from autograder.plugins import formgrading
from tests.support.stock import PLUGGED, cell, stock_course

SHOWN = {"assignment_id": "ps1", "notebook_id": "first", "submission_id": "abc", "index": 0, "total": 1, "base_url": ""}
SOLUTION = "### BEGIN SOLUTION\nsecret = 6 * 7\n### END SOLUTION"
SCHEME = "Draw it.\n\n=== BEGIN MARK SCHEME ===\n\nA point for the axes.\n\n=== END MARK SCHEME ==="
QUESTION = "## Two\n\n|what|points|\n|-|-|\n|a reason|1|"
MINE = {"solution": True, "locked": False}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    made = stock_course(tmp_path, PLUGGED)
    cells = [
        cell(new_code_cell(SOLUTION), "free", 5, **MINE),
        cell(new_code_cell("tested = 1"), "tested", **MINE),
        new_markdown_cell(QUESTION),
        cell(new_markdown_cell("Because $x^2$."), "essay", 4, **MINE),
        cell(new_markdown_cell(SCHEME), "drawing", 3, task=True, grade=False),
    ]
    path = tmp_path / "source" / "ps1" / "first.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(nbformat.writes(new_notebook(cells=cells)))
    return made


def handed_in(*more: NotebookNode) -> NotebookNode:
    names = {"free": new_code_cell("mine"), "tested": new_code_cell("mine"), "essay": new_markdown_cell("I think.")}
    own = [cell(made, name, None if name == "tested" else 4, **MINE) for name, made in names.items()]
    return new_notebook(cells=[*own, cell(new_markdown_cell("Draw it."), "drawing", 3, task=True, grade=False), *more])


def page(course: Course, notebook: NotebookNode, resources: dict[str, Any] = SHOWN) -> str:
    """What formgrader shows."""
    course.config.HTMLExporter.template_name = "formgrade"
    shown, _ = HTMLExporter(config=course.config).from_notebook_node(notebook, dict(resources))
    return str(shown)


def test_answers_and_schemes_of_all_kinds_stand_beside_what_a_person_marks_and_nothing_beside_what_is_tested(
    course: Course,
) -> None:
    shown = page(course, handed_in())
    assert shown.count('<div class="model-answer">') == 3
    assert ">secret<" in shown
    assert "<math" in shown
    assert "A point for the axes." in shown
    assert "a reason" in shown
    assert "tested = 1" not in shown
    assert "BEGIN" not in shown


def test_nothing_is_fetched(course: Course) -> None:
    shown = page(course, handed_in())
    assert "MathJax =" in shown
    assert "https://" not in shown


def test_other_pages_have_no_model_answers(course: Course) -> None:
    others = {name: value for name, value in SHOWN.items() if name != "submission_id"}
    assert 'model-answer">' not in page(course, handed_in(), others)


def test_nobody_hands_in_a_model_answer(course: Course) -> None:
    forged = new_markdown_cell("Full marks.", metadata={"model_answer": True})
    assert page(course, handed_in(forged)).count('<div class="model-answer">') == 3


def test_what_was_handed_in_does_not_run(course: Course) -> None:
    assert "alert(" not in page(course, handed_in(new_markdown_cell("<script>alert(1)</script> $x$")))


def test_an_output_in_latex_is_a_formula(course: Course) -> None:
    outputs = [new_output("display_data", {"text/latex": r"$\displaystyle \frac{1}{2}$", "text/plain": "1/2"})]
    assert "<mfrac>" in page(course, handed_in(new_code_cell("half", outputs=outputs)))


def test_a_source_that_is_gone_hides_no_submission(course: Course) -> None:
    (course.root / "source" / "ps1" / "first.ipynb").unlink()
    shown = page(course, handed_in())
    assert "I think." in shown
    assert '<div class="model-answer">' not in shown


@pytest.mark.parametrize("text", ["<div>\n<pre>x" * 8_000, "$" + "\\begin{matrix}" * 4_000 + "$"])
def test_a_text_that_takes_long_is_shown_as_it_was_typed_and_hides_no_others(
    course: Course, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(formgrading, "SECONDS", 2.0)
    began = time.monotonic()
    shown = page(course, handed_in(*(new_markdown_cell(text) for _ in range(4)), new_markdown_cell("The end.")))
    assert "The end." in shown
    assert "shown as it was typed" in shown
    assert time.monotonic() - began < 20


def test_a_long_answer_is_laid_out_as_a_short_one(course: Course) -> None:
    assert "<math" in page(course, handed_in(new_markdown_cell("Because. " * 1_000 + "So $x^3$.")))


def test_no_more_is_shown_than_a_page_can_hold(course: Course) -> None:
    shown = page(course, handed_in(new_code_cell("x = 1\n" * 10_000)))
    assert "more characters are not shown here" in shown
    assert len(shown) < 5_000_000
