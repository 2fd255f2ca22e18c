"""A verdict in the output of a cell: put there by the grader, and read again by whoever reports."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest

from autograder.judging import Finding, Verdict
from autograder.judging.showing import html, shown
from autograder.verdicts.cells import VERDICT_TYPE, verdict_in

FINDINGS = (Finding("every size", 1.0, 1.0), Finding("keeps float32", 0.5, 0.0, "The result should be float32."))
PARTLY = Verdict("mix_rows", "partly", FINDINGS, ("widened",), ("you computed in float64.",))


def shows(data: Any) -> dict[str, Any]:
    return {"outputs": [{"output_type": "execute_result", "data": data}]}


def test_a_verdict_comes_out_of_a_notebook_as_it_went_in() -> None:
    cell = nbformat.v4.new_code_cell("check(mix_rows)")
    cell.outputs = [nbformat.v4.new_output("execute_result", data=shown(PARTLY), execution_count=1)]
    assert verdict_in(cell) == PARTLY
    saved = nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))
    assert verdict_in(nbformat.reads(saved, as_version=4).cells[0]) == PARTLY


def test_a_verdict_of_an_earlier_version_is_read() -> None:
    tree = {name: value for name, value in PARTLY.to_json().items() if name != "alike"}
    assert verdict_in(shows({VERDICT_TYPE: tree})) == PARTLY


def test_nbgrader_reads_the_score_and_a_student_the_reasons() -> None:
    data = shown(PARTLY)
    assert (data["text/plain"], data["text/html"]) == ("1", html(PARTLY))


def test_what_else_a_cell_shows_is_passed_over() -> None:
    others = [{"output_type": "stream", "text": "hello"}, *shows({"text/plain": "2"})["outputs"]]
    assert verdict_in({"outputs": [*others, *shows(shown(PARTLY))["outputs"]]}) == PARTLY


TREE = json.loads(json.dumps(PARTLY.to_json()))
DEEP: list[Any] = []
for _ in range(50_000):
    DEEP = [DEEP]

OTHERS: dict[str, Any] = {
    "a cell of text": {"cell_type": "markdown"},
    "no outputs": {"outputs": []},
    "outputs that are no list": {"outputs": {"data": {VERDICT_TYPE: TREE}}},
    "outputs of nothing": {"outputs": None},
    "an output that is a text": {"outputs": [VERDICT_TYPE]},
    "an output of nothing": shows(None),
    "an output of a text": shows(VERDICT_TYPE),
    "another output": shows({"text/plain": "2"}),
    "a verdict of nothing": shows({VERDICT_TYPE: None}),
    "a verdict in a text": shows({VERDICT_TYPE: json.dumps(TREE)}),
    "a verdict with half of what it takes": shows({VERDICT_TYPE: {"outcome": "passed", "score": 2.0}}),
    "a verdict with a score of its own": shows({VERDICT_TYPE: {**TREE, "score": 1.5}}),
    "a verdict with a note that has no end": shows({VERDICT_TYPE: {**TREE, "note": DEEP}}),
    "a verdict with a number that has no end": shows({VERDICT_TYPE: {**TREE, "points": 10**5000}}),
}


@pytest.mark.parametrize("cell", OTHERS)
def test_in_anything_else_there_is_no_verdict(cell: str) -> None:
    assert verdict_in(OTHERS[cell]) is None
